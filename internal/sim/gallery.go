package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Gallery serves named worlds, each under /NAME/, and a list of them at the
// root: as text, or as JSON for who accepts it or asks for ?format=json. Beside
// the API of a world stand
//
//	GET  /NAME/_config  a config file for this client
//	GET  /NAME/_truth   what a complete run must hold
//	GET  /NAME/_log     what was asked and what went wrong
//	POST /NAME/_reset   the world's start
//
// Worlds are made when they are first asked for.
type Gallery struct {
	worlds []NamedWorld
	seed   uint64

	mu   sync.Mutex
	sims map[string]*Sim
}

// NewGallery serves the given worlds; every Sim gets the seed.
func NewGallery(seed uint64, worlds ...NamedWorld) *Gallery {
	return &Gallery{worlds: worlds, seed: seed, sims: make(map[string]*Sim)}
}

// galleryLog is how many requests a world of a gallery remembers.
const galleryLog = 20_000

// ServeHTTP implements [http.Handler].
func (g *Gallery) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if name == "" {
		g.list(w, r)
		return
	}
	i := slices.IndexFunc(g.worlds, func(n NamedWorld) bool { return n.Name == name })
	if i < 0 {
		http.Error(w, fmt.Sprintf("no world %q; / lists them", name), http.StatusNotFound)
		return
	}
	g.serve(w, r, g.worlds[i], rest)
}

// serve answers below a world's prefix.
func (g *Gallery) serve(w http.ResponseWriter, r *http.Request, world NamedWorld, rest string) {
	s := g.sim(world)
	switch {
	case rest == "_config":
		plainText(w, world.Config(address(r)+"/"+world.Name))
	case rest == "_truth":
		plainText(w, s.Truth().text())
	case rest == "_log":
		plainText(w, logText(s.Log()))
	case rest == "_reset" && r.Method == http.MethodPost:
		s.Reset()
		w.WriteHeader(http.StatusNoContent)
	case rest == "_reset":
		http.Error(w, "reset with POST", http.StatusMethodNotAllowed)
	default:
		s.ServeHTTP(w, r)
	}
}

// sim is the running Sim of a world.
func (g *Gallery) sim(world NamedWorld) *Sim {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.sims[world.Name]
	if s == nil {
		s = world.New(g.seed)
		s.LogLimit = galleryLog
		g.sims[world.Name] = s
	}
	return s
}

// listedWorld is a world in the list.
type listedWorld struct {
	Name   string `json:"name"`
	About  string `json:"about"`
	URL    string `json:"url"`
	Config string `json:"config"`
}

// List describes the worlds for a server at an address such as
// http://127.0.0.1:8080, as JSON or as text.
func (g *Gallery) List(base string, asJSON bool) string {
	var out strings.Builder
	list := make([]listedWorld, 0, len(g.worlds))
	for _, n := range g.worlds {
		prefix := base + "/" + n.Name
		list = append(list, listedWorld{n.Name, n.About, prefix + n.path(), n.Config(prefix)})
	}
	if asJSON {
		e := json.NewEncoder(&out)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		_ = e.Encode(list) // texts always encode
		return out.String()
	}
	for _, n := range list {
		fmt.Fprintf(&out, "%-14s %s\n%-14s %s\n", n.Name, n.About, "", n.URL)
	}
	return out.String()
}

// path is the path of the world's collection.
func (w NamedWorld) path() string { return w.hints().Path }

// list answers the root.
func (g *Gallery) list(w http.ResponseWriter, r *http.Request) {
	base := address(r)
	if r.URL.Query().Get("format") == "json" || strings.Contains(r.Header.Get("Accept"), "application/json") {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(g.List(base, true))) // the client may be gone
		return
	}
	plainText(w, g.List(base, false)+"\nconfigs: "+base+"/NAME/_config\n")
}

// address is the address that the client used.
func address(r *http.Request) string {
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	return scheme + r.Host
}

func plainText(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(text)) // the client may be gone
}

// text lists the identities, a line each, with a star before those that a
// complete run must hold.
func (t Truth) text() string {
	var out strings.Builder
	always := make(map[string]bool, len(t.Always))
	for _, k := range t.Always {
		always[k] = true
		out.WriteString("* " + k + "\n")
	}
	var rest []string
	for k := range t.Ever {
		if !always[k] {
			rest = append(rest, "  "+k)
		}
	}
	slices.Sort(rest)
	return out.String() + strings.Join(append(rest, ""), "\n")
}

// logText is a line a request.
func logText(log []Entry) string {
	var out strings.Builder
	for _, e := range log {
		fmt.Fprintf(&out, "%d %s %s -> %d, %d items", e.N, e.Method, e.URL, e.Status, e.Items)
		if len(e.Faults) > 0 {
			out.WriteString(" [" + strings.Join(e.Faults, " ") + "]")
		}
		out.WriteByte('\n')
	}
	return out.String()
}
