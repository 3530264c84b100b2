// Package configs reads the YAML file that describes one pull: strictly, once,
// at the edge. What it returns is checked and has its defaults; what is wrong
// comes back as a list of errors with line, column, key and cure. Secrets are
// taken from the environment, gathered in a secret.Set, and never stand in an
// error, a hash or a stored copy.
package configs

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"lastdrop/internal/secret"
)

// Load reads the config in a file, and the one that for_each.pull names. env
// looks a variable of the environment up, as os.LookupEnv does. The error is an
// Errors where the config is bad, else one that says why the file could not be
// read.
func Load(path string, env func(string) (string, bool)) (*Config, error) {
	c, r, err := load(path, env)
	if err != nil {
		return nil, err
	}
	if c.ForEach != nil && c.ForEach.Pull != "" {
		if err := r.loadParent(c, env); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func load(path string, env func(string) (string, bool)) (*Config, *reading, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("config: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1)) // read refuses one beyond the limit
	if err != nil {
		return nil, nil, fmt.Errorf("config: %w", err)
	}
	c, r, err := read(path, data, env)
	if c != nil {
		c.folder = filepath.Dir(path)
	}
	return c, r, err
}

// Parse reads a config. name stands for the file in errors. With a nil env no
// variable is set. The error is always an Errors. Files that a config names are
// not looked at.
func Parse(name string, data []byte, env func(string) (string, bool)) (*Config, error) {
	c, _, err := read(name, data, env)
	return c, err
}

func read(name string, data []byte, env func(string) (string, bool)) (*Config, *reading, error) {
	r := newReading(name, env)
	n := r.tree(data)
	if n == nil || !r.underlay(n) {
		return nil, r, r.errs.sorted()
	}
	c := &Config{}
	r.structure(n, c)
	r.refuseLater()
	c.setDefaults(r.said)
	r.check(c)
	if len(r.errs) > 0 {
		return nil, r, r.errs.sorted()
	}
	c.marks = marks{}
	n.collect(root, c.marks)
	c.Secrets = c.marks.set(c.Source.Auth)
	return c, r, nil
}

// A reading is one config on its way from text to Config.
type reading struct {
	file    string
	env     func(string) (string, bool)
	secrets *secret.Set // found so far: hidden in what errors quote
	nodes   map[pointer]*node
	errs    Errors
	faulty  map[pointer]bool // places that have an error already
	excused map[pointer]bool // missing keys that a misspelt one was meant to be
}

// newReading begins to read a config; name stands for the file in errors.
func newReading(name string, env func(string) (string, bool)) *reading {
	if env == nil {
		env = func(string) (string, bool) { return "", false }
	}
	return &reading{file: name, env: env, secrets: secret.NewSet(), nodes: map[pointer]*node{}, faulty: map[pointer]bool{}, excused: map[pointer]bool{}}
}

// said reports whether the file, or the preset under it, gives a key, by its path.
func (r *reading) said(path string) bool { return r.nodes[at(path)] != nil }

// note notes an error. A second one at the same place is not noted: it would
// most likely follow from the first.
func (r *reading) note(p pointer, line, column int, msg, cure string) {
	if p != root && r.faulty[p] {
		return
	}
	r.faulty[p] = true
	key := ""
	if p != root {
		key = p.String()
	}
	r.errs = append(r.errs, &Error{File: r.file, Line: line, Column: column, Key: key, Msg: msg, Cure: cure})
}

// fail notes that a value is wrong.
func (r *reading) fail(n *node, msg, cure string) { r.note(n.at, n.line, n.column, msg, cure) }

// failKey notes that a key is wrong.
func (r *reading) failKey(n *node, msg, cure string) { r.note(n.at, n.keyLine, n.keyColumn, msg, cure) }

// bad notes what is wrong with the value at a path; with a path that the file
// does not give, it notes it at the nearest key around.
func (r *reading) bad(path, msg, cure string) {
	p := at(path)
	if n := r.nodes[p]; n != nil {
		r.fail(n, msg, cure)
		return
	}
	r.missing(p, msg, cure)
}

// lacks notes that a key is missing.
func (r *reading) lacks(path, cure string) { r.missing(at(path), "missing", cure) }

func (r *reading) missing(p pointer, msg, cure string) {
	if r.excused[p] {
		return
	}
	around := p.parent()
	for r.nodes[around] == nil && around != root {
		around = around.parent()
	}
	if r.faulty[around] && around != root {
		return
	}
	line, column := 1, 1
	if n := r.nodes[around]; n != nil {
		line, column = n.keyLine, n.keyColumn
	}
	r.note(p, line, column, msg, cure)
}

// quote renders a text of the file for a message, without secrets.
func (r *reading) quote(s string) string { return quote(r.secrets.Hide(s)) }
