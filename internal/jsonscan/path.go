package jsonscan

import (
	"errors"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// Path is a compiled GJSON path. Keys, array indexes and @this, with a dot or a pipe between them, are walked by this
// package, which refuses duplicate keys on the way. From the first component on that needs more than that (wildcards, #,
// queries, other modifiers, multipaths) gjson reads on. The zero Path leads nowhere: it finds nothing in any text.
type Path struct {
	src   string
	steps []step
	// tail is what gjson reads from the value that the steps lead to, if odd is set.
	tail string
	odd  bool
	// scalar is set where the tail can start from a string, a number or a literal too.
	scalar bool
}

// step leads from an object to its member key, and from an array to its element index (-1: to none).
type step struct {
	key   string
	index int
}

// String returns the path as it was given to Compile.
func (p Path) String() string { return p.src }

// Plain reports whether this package walks the whole path itself. Only plain paths can go into a [Want], and only they
// are checked for duplicate keys at every level.
func (p Path) Plain() bool { return p.src != "" && !p.odd }

// Compile reads a GJSON path. As in GJSON, a component that begins with @ and is no known modifier is a key, and a
// backslash makes the next byte part of the key. An empty path and a backslash at the end are errors. gjson has no
// notion of a malformed path: what this package does not walk itself is not checked here.
func Compile(path string) (Path, error) {
	if path == "" {
		return Path{}, errors.New(`empty JSON path: "@this" is the whole value`)
	}
	p := Path{src: path}
	// What follows is fresh where it is a path of its own: only there does gjson see a literal or a line selector.
	for rest, fresh := path, true; ; rest = rest[1:] {
		name, known := modifier(rest)
		switch {
		case known && name == "@this":
			rest, fresh = rest[len(name):], true
		case known || special(rest, fresh):
			return p.oddFrom(rest, fresh), nil
		default:
			st, n, err := component(rest)
			if err != nil {
				return Path{}, err
			}
			if n < 0 {
				return p.oddFrom(rest, fresh), nil
			}
			p.steps = append(p.steps, st)
			rest, fresh = rest[n:], false
		}
		if rest == "" {
			return p, nil
		}
		fresh = fresh || rest[0] == '|'
	}
}

// oddFrom returns p with gjson reading tail. Where tail stood behind a dot and would mean something else at the start of
// a path, gjson reads the whole path.
func (p Path) oddFrom(tail string, fresh bool) Path {
	p.odd, p.tail = true, tail
	if !fresh && special(tail, true) && !special(tail, false) {
		p.steps, p.tail = nil, p.src
	}
	_, p.scalar = modifier(p.tail)
	p.scalar = p.scalar || p.tail[0] == '!'
	return p
}

// modifier returns the modifier that path begins with, without arguments: one that has any is not @this.
func modifier(path string) (name string, ok bool) {
	if len(path) < 2 || path[0] != '@' {
		return "", false
	}
	end := strings.IndexAny(path, ".|:")
	if end < 0 {
		end = len(path)
	}
	name = path[:end]
	if !gjson.ModifierExists(name[1:], nil) {
		return "", false
	}
	if end < len(path) && path[end] == ':' {
		name = path[:end+1]
	}
	return name, true
}

// special reports whether path begins with a multipath or, where it is a path of its own, a literal or a line selector.
func special(path string, fresh bool) bool {
	if path == "" {
		return false
	}
	return path[0] == '[' || path[0] == '{' || fresh && (path[0] == '!' || strings.HasPrefix(path, ".."))
}

// component reads the first component of path, which is n bytes long and ends before a dot, a pipe or the end; n is -1 for
// one with wildcards or #.
func component(path string) (st step, n int, err error) {
	key := make([]byte, 0, len(path))
	for n < len(path) && path[n] != '.' && path[n] != '|' {
		switch path[n] {
		case '*', '?', '#':
			return step{}, -1, nil
		case '\\':
			if n++; n == len(path) {
				return step{}, 0, errors.New("JSON path ends in a backslash: " + path)
			}
		}
		key = append(key, path[n])
		n++
	}
	return step{key: string(key), index: index(path[:n])}, n, nil
}

// index returns the array index that a component means, or -1.
func index(part string) int {
	if part == "" || strings.Trim(part, "0123456789") != "" {
		return -1
	}
	n, err := strconv.Atoi(part)
	if err != nil {
		return -1
	}
	return n
}
