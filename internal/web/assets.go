package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"io/fs"
	"net/http"
	"reflect"
	"time"
)

//go:embed assets
var assetFiles embed.FS

//go:embed templates
var templateFiles embed.FS

// assetRoot is where the assets are served. It has their hash in it, so that a browser keeps them as long as they are the
// same.
var assetRoot = "/assets/" + assetHash() + "/"

func assetHash() string {
	sum := sha256.New()
	err := fs.WalkDir(assetFiles, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := assetFiles.ReadFile(path)
		sum.Write([]byte(path))
		sum.Write(data)
		return err
	})
	if err != nil {
		panic(err) // the files are in the binary
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

func assets() http.Handler {
	files, err := fs.Sub(assetFiles, "assets")
	if err != nil {
		panic(err) // the folder is in the binary
	}
	serve := http.StripPrefix(assetRoot, http.FileServerFS(files))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == assetRoot || r.URL.Path[len(r.URL.Path)-1] == '/' {
			http.NotFound(w, r) // no lists of files
			return
		}
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		serve.ServeHTTP(w, r)
	})
}

// pages are the templates, each with the base around it.
var pages = parsePages()

func parsePages() map[string]*template.Template {
	funcs := template.FuncMap{
		"asset":    func(name string) string { return assetRoot + name },
		"num":      thousands,
		"plural":   plural,
		"size":     sizeText,
		"took":     tookText,
		"share":    share,
		"rel":      func(t time.Time) string { return relative(t, time.Now()) },
		"exact":    func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") + " UTC" },
		"short":    func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") },
		"clock":    func(t time.Time) string { return t.UTC().Format("15:04:05") },
		"iso":      func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"unix":     func(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 },
		"pullPath": pullPath,
		"runPath":  runPath,
		"rulePath": rulePath,
		"runChip":  runChip,
		"why":      whyText,
		"deref":    func(n *int64) int64 { return *n },
		"int64":    func(n int) int64 { return int64(n) },
		"len64":    func(list any) int64 { return int64(reflect.ValueOf(list).Len()) },
		"add":      func(a, b int64) int64 { return a + b },
		"dict": func(pairs ...any) map[string]any {
			m := map[string]any{}
			for i := 0; i+1 < len(pairs); i += 2 {
				m[pairs[i].(string)] = pairs[i+1]
			}
			return m
		},
	}
	common := template.Must(template.New("").Funcs(funcs).ParseFS(templateFiles, "templates/base.html", "templates/parts.html"))
	all := map[string]*template.Template{}
	for _, name := range []string{"pulls", "pull", "run", "attempt", "judge", "queue", "rules", "error", "login"} {
		t := template.Must(common.Clone())
		all[name] = template.Must(t.ParseFS(templateFiles, "templates/"+name+".html"))
	}
	return all
}
