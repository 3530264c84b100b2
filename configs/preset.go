package configs

import (
	"embed"
	"maps"
	"path"
	"slices"
	"strings"
)

//go:embed presets/*.yaml
var presetFiles embed.FS

// A Preset is what is known of one API: a fragment of a config that
// `preset: NAME` lays under a file.
type Preset struct {
	Name    string
	Summary string // one line
	Text    string // the fragment: YAML with comments
}

// Presets lists all presets by their names.
func Presets() []Preset {
	files, err := presetFiles.ReadDir("presets")
	if err != nil {
		panic(err) // embedded: it is there
	}
	var all []Preset
	for _, f := range files {
		text, err := presetFiles.ReadFile(path.Join("presets", f.Name()))
		if err != nil {
			panic(err)
		}
		p := Preset{Name: strings.TrimSuffix(f.Name(), ".yaml"), Text: string(text)}
		first, _, _ := strings.Cut(p.Text, "\n")
		p.Summary = strings.TrimSpace(strings.TrimPrefix(first, "#"))
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b Preset) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// FindPreset returns the preset of a name. Where there is none, cure says
// which one was meant, or where they are listed.
func FindPreset(name string) (p Preset, cure string, ok bool) {
	var names []string
	for _, p := range Presets() {
		if p.Name == name {
			return p, "", true
		}
		names = append(names, p.Name)
	}
	if near, is := nearest(name, names); is {
		return Preset{}, "did you mean " + quote(near) + "?", false
	}
	return Preset{}, "lastdrop presets lists them all", false
}

// underlay lays the preset that a file names under the file's own keys. It
// reports false where no such preset can be had, so that what the file leaves
// to it cannot be told.
func (r *reading) underlay(n *node) bool {
	named := r.nodes["/preset"]
	if named == nil || named.kind != text {
		return true // what is wrong with it the decoder says
	}
	p, cure, ok := FindPreset(named.text)
	if !ok {
		r.fail(named, r.quote(named.text)+" is no preset", cure)
		return false
	}
	under := newReading("preset "+p.Name, nil)
	base := under.tree([]byte(p.Text))
	if base == nil || len(under.errs) > 0 {
		r.errs = append(r.errs, under.errs...)
		return false
	}
	m := merger{r: r, own: maps.Clone(r.nodes), line: named.line, column: named.column}
	m.join(n, base)
	return true
}

// A merger lays one preset under one file.
type merger struct {
	r            *reading
	own          map[pointer]*node // the file's own nodes
	line, column int               // where the file names the preset
}

// join gives a mapping of the file the keys of the preset that it lacks, and
// goes on inside those that both have as mappings.
func (m merger) join(n, base *node) {
	for _, f := range base.fields {
		own := m.own[f.value.at]
		switch {
		case own == nil && !m.groundless(f.value.at):
			m.adopt(f.value)
			n.fields = append(n.fields, f)
		case own != nil && own.kind == mapping && f.value.kind == mapping:
			m.join(own, f.value)
		}
	}
}

// adopt makes a preset's node one of the file, at the place that names the
// preset, and takes out of it what the file has taken the ground from.
func (m merger) adopt(n *node) {
	n.line, n.column, n.keyLine, n.keyColumn = m.line, m.column, m.line, m.column
	m.r.nodes[n.at] = n
	n.fields = slices.DeleteFunc(n.fields, func(f field) bool { return m.groundless(f.value.at) })
	for _, f := range n.fields {
		m.adopt(f.value)
	}
	for _, item := range n.items {
		m.adopt(item)
	}
}

// groundOf lists keys of presets that speak of another key: where the file
// gives that one itself, what the preset says of its own counts no more.
var groundOf = map[pointer][]string{
	"/pages/size/start":    {"pages.size.max"},
	"/pages/cursor/path":   {"pages.cursor.header"},
	"/pages/cursor/header": {"pages.cursor.path"},
	"/pages/more/path":     {"pages.more.header"},
	"/pages/more/header":   {"pages.more.path"},
	"/pages/more/end_when": {"pages.more.path", "pages.more.header"},
	"/pages/more/absent":   {"pages.more.path", "pages.more.header"},
	"/pages/last/path":     {"pages.last.header"},
	"/pages/last/header":   {"pages.last.path"},
	"/pages/sort/unique":   {"pages.sort.param", "pages.sort.value", "pages.keyset.path"},
	"/pages/end":           {"pages.style", "pages.cursor.path", "pages.cursor.header", "pages.next.path"},
	"/total/path":          {"total.header", "total.url"},
	"/total/header":        {"total.path", "total.url"},
	"/total/match":         {"total.path", "total.header", "total.url"},
	"/total/counts":        {"total.path", "total.header", "total.url"},
}

// groundless reports whether the file has taken the ground from a preset's
// key. A body goes with the POST that carries it.
func (m merger) groundless(p pointer) bool {
	if method := m.own["/source/method"]; p == "/source/body" && method != nil && method.text == "GET" {
		return true
	}
	return slices.ContainsFunc(groundOf[p], func(key string) bool { return m.own[at(key)] != nil })
}
