package configs

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// StartHolder in output.to stands for the start of the run.
const StartHolder = "{start}"

// maxValue bounds a value of for_each, in bytes: it stands in names.
const maxValue = 1024

// Holder is the placeholder that stands for a value.
func (f *ForEach) Holder() string { return "{" + f.As + "}" }

// List gives the values that the config itself or its file names, in order and
// with repeats; of a config with for_each.pull it is nil. The error names the
// file and line of a value that cannot be one.
func (c *Config) List() ([]string, error) {
	f := c.ForEach
	if f.Lines == "" {
		return f.Values, nil
	}
	path := c.beside(f.Lines)
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: for_each.lines: %w", c.Name, err)
	}
	defer file.Close()
	var list []string
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		v := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if v == "" {
			continue
		}
		if err := c.CheckValue(v); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		list = append(list, v)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no line holds a value: a list that is empty by mistake would look complete", path)
	}
	return list, nil
}

// beside gives the path of a file that this config names.
func (c *Config) beside(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(c.folder, name)
}

// CheckValue says why a text cannot be a value of for_each: nil where it can.
// The error does not quote it.
func (c *Config) CheckValue(v string) error {
	switch {
	case v == "":
		return errors.New("the value is empty")
	case len(v) > maxValue:
		return fmt.Errorf("the value has %d bytes, and may have %d", len(v), maxValue)
	case !utf8.ValidString(v) || strings.ContainsFunc(v, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }):
		return errors.New("the value holds what is no printable character")
	case slices.ContainsFunc(taken, func(name string) bool { return strings.Contains(v, "{"+name+"}") }):
		return errors.New("the value holds a placeholder that means something else, such as {page}")
	case c.Secrets.Has(v):
		return errors.New("the value holds a secret, and would stand in the names of runs and files")
	case c.valueInPath() && slices.ContainsFunc(strings.Split(v, "/"), func(s string) bool { return s == "" || s == "." || s == ".." }):
		return errors.New(`the value holds an empty segment, "." or "..", and stands in the path of an address`)
	}
	return nil
}

// valueInPath reports whether values become part of a URL's path.
func (c *Config) valueInPath() bool {
	urls := []string{c.Source.URL, c.Total.URL}
	if s := c.Complete.Sentinel; s != nil {
		urls = append(urls, s.URL)
	}
	if s := c.Complete.Still; s != nil {
		urls = append(urls, s.URL)
	}
	return slices.ContainsFunc(urls, func(raw string) bool {
		path, _, _ := strings.Cut(raw, "?")
		return strings.Contains(path, c.ForEach.Holder())
	})
}

// Child gives the config of one value, which must pass CheckValue: its name is
// NAME/VALUE, the value stands in the place of the placeholder, and
// StartHolder is left in output.to. Its hash is that of this config with this
// value alone, whatever else is in the list.
func (c *Config) Child(value string) *Config {
	f := *c.ForEach
	one, child := *c, *c
	one.ForEach = &ForEach{As: f.As, Values: Words{value}}
	child.template, child.ForEach, child.Parent = &one, nil, nil
	child.Name = c.Name + "/" + value
	put := func(s string) string { return strings.ReplaceAll(s, f.Holder(), value) }
	child.Source.URL, child.Total.URL = f.inURL(c.Source.URL, value), f.inURL(c.Total.URL, value)
	child.Source.Body, child.Total.Body = Tree{inTree(c.Source.Body.V, put)}, Tree{inTree(c.Total.Body.V, put)}
	child.Source.Params = c.Source.Params.with(put)
	child.Source.Headers = maps.Clone(c.Source.Headers)
	for name, v := range child.Source.Headers {
		child.Source.Headers[name] = put(v)
	}
	if c.Complete.Sentinel != nil {
		s := *c.Complete.Sentinel
		s.URL, s.Params = f.inURL(s.URL, value), s.Params.with(put)
		child.Complete.Sentinel = &s
	}
	if c.Complete.Still != nil {
		s := *c.Complete.Still
		s.URL = f.inURL(s.URL, value)
		child.Complete.Still = &s
	}
	child.Slice = c.Slice.with(put)
	if c.Items.Check != nil {
		check := *c.Items.Check
		check.Equals = Scalar(put(string(check.Equals)))
		child.Items.Check = &check
	}
	child.Output.To = c.FileOf(c.Output.To, value)
	return &child
}

// with copies parameters with their values changed by put; names stay.
func (p Params) with(put func(string) string) Params {
	out := maps.Clone(p)
	for name, values := range out {
		values = slices.Clone(values)
		for i := range values {
			values[i] = put(values[i])
		}
		out[name] = values
	}
	return out
}

// with copies a slice with the values of its parameters changed by put.
func (s *Slice) with(put func(string) string) *Slice {
	if s == nil {
		return nil
	}
	key := func(k SliceKey) SliceKey {
		k.Params, k.FromParams, k.ToParams = k.Params.with(put), k.FromParams.with(put), k.ToParams.with(put)
		return k
	}
	out := *s
	out.SliceKey = key(s.SliceKey)
	if s.Then != nil {
		then := key(*s.Then)
		out.Then = &then
	}
	if s.Without != nil {
		out.Without = &Reverse{Params: s.Without.Params.with(put)}
	}
	return &out
}

// FileOf gives a file's name with a value in the place of the placeholder.
func (c *Config) FileOf(name, value string) string {
	return strings.ReplaceAll(name, c.ForEach.Holder(), fileName(value))
}

// inURL puts a value into an address: its segments escaped in the path, the
// whole of it in the query.
func (f *ForEach) inURL(raw, value string) string {
	segments := strings.Split(value, "/")
	for i := range segments {
		segments[i] = url.PathEscape(segments[i])
	}
	path, query, has := strings.Cut(raw, "?")
	path = strings.ReplaceAll(path, f.Holder(), strings.Join(segments, "/"))
	if !has {
		return path
	}
	return path + "?" + strings.ReplaceAll(query, f.Holder(), url.QueryEscape(value))
}

// inTree copies a JSON tree with its texts changed by put; keys stay.
func inTree(tree any, put func(string) string) any {
	switch v := tree.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for key, sub := range v {
			m[key] = inTree(sub, put)
		}
		return m
	case []any:
		l := make([]any, len(v))
		for i, sub := range v {
			l[i] = inTree(sub, put)
		}
		return l
	case string:
		return put(v)
	}
	return tree
}

var (
	// plainFile is a value that can be a file's name as it is: on every system,
	// and unlike any other such value even where capitals do not count.
	plainFile = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*(\.[a-z0-9_-]+)*$`)
	// reserved are names that no file can have on Windows.
	reserved = regexp.MustCompile(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)`)
	unsafe   = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)
)

// longestFile bounds the readable part of a file's name.
const longestFile = 64

// fileName turns a value into a part of a file's name. A value that cannot be
// one as it is gets a readable form and a hash behind "~", which stands in no
// plain one.
func fileName(value string) string {
	if plainFile.MatchString(value) && !reserved.MatchString(value) && len(value) <= longestFile {
		return value
	}
	sum := sha256.Sum256([]byte(value))
	name := unsafe.ReplaceAllString(value, "_")
	name = strings.ReplaceAll(name[:min(len(name), longestFile)], "..", "_")
	return strings.TrimLeft(name, ".-") + "~" + hex.EncodeToString(sum[:8])
}

var asPattern = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// taken are names that mean something else in braces.
var taken = []string{"size", "offset", "page", "cursor", "from", "to", "value", "start"}

func (r *reading) checkForEach(c *Config) {
	f := c.ForEach
	if n := r.nodes["/for_each"]; f == nil || n == nil || n.kind != mapping {
		return
	}
	if r.said("for_each.as") && (!asPattern.MatchString(f.As) || slices.Contains(taken, f.As)) {
		r.bad("for_each.as", r.quote(f.As)+" is no name for a placeholder", "use small letters, digits and underscores, and none of "+strings.Join(taken, ", "))
		return
	}
	r.checkListKind(f)
	if f.As != "" {
		r.checkHolders(c)
		r.checkValues(c)
	}
}

// checkListKind sees to it that the list comes from one place.
func (r *reading) checkListKind(f *ForEach) {
	var kinds []string
	for _, key := range []string{"values", "lines", "pull"} {
		if r.said("for_each." + key) {
			kinds = append(kinds, key)
		}
	}
	switch {
	case len(kinds) == 0:
		r.fail(r.nodes["/for_each"], "names no values", "give values: [...], lines: FILE, or pull: CONFIG with path:")
	case len(kinds) > 1:
		r.fail(r.nodes["/for_each"], "has more than one list: "+strings.Join(kinds, ", "), "keep one")
	case kinds[0] == "pull" && !r.said("for_each.path"):
		r.lacks("for_each.path", "say where an item of that pull holds its value, e.g. path: full_name")
	case kinds[0] != "pull" && r.said("for_each.path"):
		r.bad("for_each.path", "stands without a pull", "a path belongs to the items of another pull")
	case kinds[0] == "values" && len(f.Values) == 0:
		r.bad("for_each.values", "names no value", "")
	case kinds[0] == "lines" && f.Lines == "", kinds[0] == "pull" && f.Pull == "":
		r.bad("for_each."+kinds[0], "names no file", "")
	}
}

// The places where the placeholder is replaced: what is asked, and what goes
// with it.
var (
	asking = []pointer{"/source/url", "/source/params", "/source/body", "/source/headers"}
	beside = []pointer{
		"/total/url", "/total/body", "/items/check/equals", "/output/to", "/complete/sentinel/url", "/complete/sentinel/params", "/complete/still/url",
		"/slice/params", "/slice/from_params", "/slice/to_params", "/slice/then/params", "/slice/then/from_params", "/slice/then/to_params", "/slice/without/params",
	}
)

// among reports whether p is one of some places, or lies in one.
func (p pointer) among(places []pointer) bool {
	return slices.ContainsFunc(places, func(place pointer) bool { return p == place || p.within(place) })
}

// checkHolders looks where the placeholder stands.
func (r *reading) checkHolders(c *Config) {
	hold := c.ForEach.Holder()
	for _, key := range []string{"source.url", "total.url", "complete.sentinel.url", "complete.still.url"} {
		if n := r.nodes[at(key)]; n != nil && strings.Contains(origin(n.text), hold) {
			r.fail(n, hold+" stands in the host", "a list must not choose who gets the requests: write one config for each host")
		}
	}
	used := false
	for p, n := range r.nodes {
		if n.kind != text || !strings.Contains(n.text, hold) || p.within("/for_each") {
			continue
		}
		secret := n.mark != nil && slices.ContainsFunc(n.mark.secrets, func(s string) bool { return strings.Contains(s, hold) })
		switch {
		case secret:
			r.fail(n, hold+" stands in a secret, where it is not replaced", "")
		case !p.among(asking) && !p.among(beside):
			r.fail(n, hold+" is not replaced here", "")
		}
		used = used || p.among(asking) || p.within("/slice/params")
	}
	if !used {
		r.bad("for_each.as", hold+" stands nowhere in source: every child would ask for the same", "write it into source.url, params, body or headers")
	}
	if c.Total.URL != "" && !strings.Contains(c.Total.URL, hold) && !strings.Contains(string(mustEncode(c.Total.Body)), hold) {
		r.bad("total.url", hold+" stands nowhere in the count request: it would count the same for every child", "")
	}
	if !strings.Contains(filepath.Base(c.Output.To), hold) {
		r.bad("output.to", hold+" must stand in the file's name", "each child writes a file of its own, e.g. to: out/"+hold+".jsonl")
	}
	r.notInFolder(c.Output.To, hold)
}

// notInFolder refuses a placeholder in the folder of output.to: folders are
// not made.
func (r *reading) notInFolder(to, hold string) {
	if strings.Contains(filepath.Dir(to), hold) {
		r.bad("output.to", hold+" stands in the folder", "move it into the file's name, for folders are not made")
	}
}

// origin is the part of an address before its path.
func origin(raw string) string {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return ""
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	return scheme + rest
}

// checkValues looks at each value that the config names.
func (r *reading) checkValues(c *Config) {
	n := r.nodes["/for_each/values"]
	if n == nil {
		return
	}
	items := n.items
	if n.kind != list {
		items = []*node{n}
	}
	known := Config{ForEach: c.ForEach, Source: c.Source, Total: c.Total, Complete: c.Complete, Secrets: r.secrets}
	for _, item := range items {
		if err := known.CheckValue(item.text); err != nil && item.kind != mapping && item.kind != list {
			r.fail(item, err.Error(), "")
		}
	}
}

// loadParent reads the config that for_each.pull names.
func (r *reading) loadParent(c *Config, env func(string) (string, bool)) error {
	p, _, err := load(c.beside(c.ForEach.Pull), env)
	if bad, ok := errors.AsType[Errors](err); ok {
		return bad
	}
	const key = "for_each.pull"
	switch {
	case err != nil:
		r.bad(key, strings.TrimPrefix(err.Error(), "config: "), "name the config file of another pull, relative to this one")
	case p.ForEach != nil:
		r.bad(key, "that config has a for_each itself", "in this version a parent is a plain pull")
	case p.Incremental != nil:
		r.bad(key, "that config is incremental: it would name only what is new", "take incremental out of it, or name another")
	case p.Name == c.Name:
		r.bad(key, "that config has the same name", "give each pull its own name")
	case p.Output.To == "":
		r.bad(key, "that config has no output.to", "its items are read from there")
	case !slices.Contains(lineFormats, FormatOf(p.Output.To)):
		r.bad(key, "the output.to of that config is no file of lines", "its items are read from there: end it with one of "+strings.Join(lineFormats, ", "))
	}
	if len(r.errs) > 0 {
		return r.errs
	}
	c.Parent = p
	return nil
}
