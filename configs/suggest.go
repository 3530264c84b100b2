package configs

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// unknown notes a key that its mapping does not have: with the key that was
// meant, with the place where it belongs, or with all that is known there.
func (r *reading) unknown(n *node, f field, known []string) {
	p, cure := n.at.child(f.key), ""
	near, isNear := nearest(f.key, known)
	places := elsewhere(f.key)
	switch {
	case isNear:
		cure = fmt.Sprintf("did you mean %q?", near)
		r.excused[n.at.child(near)] = true
	case len(places) > 0:
		cure = "it belongs under " + strings.Join(places, " or ")
	case synonyms[plainName(f.key)] != "":
		cure = "that is " + synonyms[plainName(f.key)] + " here"
	default:
		cure = "known here: " + strings.Join(known, ", ")
		if far := likeElsewhere(f.key); far != "" {
			cure = "did you mean " + far + "?"
		}
	}
	if n.at.inAuth() && !isNear || r.secrets.Has(f.key) { // perhaps a secret in the wrong place
		p = n.at
	}
	r.note(p, f.value.keyLine, f.value.keyColumn, "unknown key", cure)
}

// synonyms are words that other tools have for our keys.
var synonyms = map[string]string{
	"endpoint": "source.url", "baseurl": "source.url", "uri": "source.url", "query": "source.params", "queryparams": "source.params",
	"token": "source.auth.bearer", "apikey": "source.auth.query or source.auth.header", "authorization": "source.auth",
	"pagination": "pages", "paging": "pages", "pagesize": "pages.size.start", "perpage": "pages.size.start", "limit": "pages.size.start",
	"primarykey": "items.id", "key": "items.id", "records": "items.path", "count": "total.path",
	"ratelimit": "limits.rate", "destination": "output.to",
}

// plainName is a name without case and separators.
func plainName(s string) string {
	return strings.Map(func(c rune) rune {
		if c == '_' || c == '-' || c == '.' {
			return -1
		}
		return c
	}, strings.ToLower(s))
}

// elsewhere lists up to three mappings that have the key.
func elsewhere(key string) []string {
	var places []string
	walkKeys(reflect.TypeFor[Config](), root, func(p pointer, _ reflect.StructField) {
		if p.last() == key && p.parent() != root && len(places) < 3 {
			places = append(places, p.parent().String())
		}
	})
	return places
}

// likeElsewhere returns the path of a key of another mapping that was most
// likely meant. Short words are like too many others.
func likeElsewhere(key string) string {
	const long = 6
	byName := map[string]string{}
	var names []string
	walkKeys(reflect.TypeFor[Config](), root, func(p pointer, _ reflect.StructField) {
		if name := p.last(); byName[name] == "" && len(name) >= long {
			byName[name] = p.String()
			names = append(names, name)
		}
	})
	if len(key) < long {
		return ""
	}
	near, _ := nearest(key, names)
	return byName[near]
}

// walkKeys calls visit for each key below a struct type, in order.
func walkKeys(t reflect.Type, in pointer, visit func(pointer, reflect.StructField)) {
	known := fieldsOf(t)
	for _, name := range known.names {
		f := known.byName[name]
		visit(in.child(name), f)
		sub := f.Type
		if sub.Kind() == reflect.Pointer {
			sub = sub.Elem()
		}
		if sub.Kind() == reflect.Struct {
			walkKeys(sub, in.child(name), visit)
		}
	}
}

// nearest returns the word that was most likely meant.
func nearest(got string, words []string) (string, bool) {
	best, least := "", 1+min(2, len(got)/3)
	for _, w := range words {
		d := distance(plainName(got), plainName(w))
		if d < least || d == 0 {
			best, least = w, d
		}
	}
	return best, best != ""
}

// distance is the number of letters to insert, delete, replace or swap with a
// neighbour that lead from a to b.
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	rows := make([][]int, len(from)+1)
	for i := range rows {
		rows[i] = make([]int, len(to)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(from); i++ {
		for j := 1; j <= len(to); j++ {
			cost := 1
			if from[i-1] == to[j-1] {
				cost = 0
			}
			rows[i][j] = slices.Min([]int{rows[i-1][j] + 1, rows[i][j-1] + 1, rows[i-1][j-1] + cost})
			if i > 1 && j > 1 && from[i-1] == to[j-2] && from[i-2] == to[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(from)][len(to)]
}

// enumOf returns the words that a key of a struct takes.
func enumOf[T any](key string) []string {
	return strings.Fields(fieldsOf(reflect.TypeFor[T]()).byName[key].Tag.Get("enum"))
}
