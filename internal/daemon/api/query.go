package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lastdrop/internal/daemon/api/problem"
)

// A param is a parameter of the path or of the query.
type param struct {
	name  string
	about string
	// One of these: a number between least and most, a word of words, the whole id of a run,
	// or any text.
	number      bool
	least, most int64
	words       []string
	run         bool
}

// runID is what the whole id of a run looks like.
var runID = regexp.MustCompile(`^[0-9a-z]{13}$`)

// A query is a request whose parameters were checked against its route.
type query struct {
	*http.Request
	route route
	said  url.Values
	body  []byte
	path  string // in the place of the request's, where a list goes on
}

// read checks parameters and body.
func (q *query) read(w http.ResponseWriter) error {
	said, err := url.ParseQuery(q.URL.RawQuery)
	if err != nil {
		return problem.BadParameter.With("the query cannot be read: escape its parts by percent signs")
	}
	q.said = said
	for _, name := range slices.Sorted(maps.Keys(said)) {
		i := slices.IndexFunc(q.route.params, func(p param) bool { return p.name == name })
		if i < 0 {
			return unknownParam(name, q.route.params)
		}
		if len(said[name]) > 1 {
			return problem.BadParameter.With(fmt.Sprintf("%s: stands more than once; say it once", name))
		}
		if err := q.route.params[i].check(said[name][0]); err != nil {
			return err
		}
	}
	if q.route.method != http.MethodPost {
		return nil
	}
	q.body, err = readBody(w, q.Request, q.route.body == nil || q.route.optional)
	if err == nil && q.route.body == nil && len(q.body) > 0 {
		return problem.BadBody.With("this path takes no body: send none")
	}
	return err
}

func unknownParam(name string, known []param) error {
	var names []string
	for _, p := range known {
		names = append(names, p.name)
	}
	cure := "this path takes none"
	if len(names) > 0 {
		cure = "this path takes " + strings.Join(names, ", ")
	}
	return problem.BadParameter.With(fmt.Sprintf("%s: unknown parameter; %s", named(name, "a parameter"), cure))
}

var plain = regexp.MustCompile(`^[a-z0-9_.\[\]]{1,60}$`)

// named is a name that a client said, to be said back. What does not look like a name
// may be a secret in the wrong place.
func named(said, otherwise string) string {
	if plain.MatchString(said) {
		return said
	}
	return otherwise
}

func (p param) check(value string) error {
	switch {
	case p.number:
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < p.least || p.most > 0 && n > p.most {
			if p.most > 0 {
				return problem.BadParameter.With(fmt.Sprintf("%s: must be a whole number from %d to %d", p.name, p.least, p.most))
			}
			return problem.BadParameter.With(fmt.Sprintf("%s: must be a whole number of %d or more", p.name, p.least))
		}
	case len(p.words) > 0 && !slices.Contains(p.words, value):
		return problem.BadParameter.With(fmt.Sprintf("%s: must be one of %s", p.name, strings.Join(p.words, ", ")))
	case p.run && !runID.MatchString(value):
		return problem.BadParameter.With(fmt.Sprintf("%s: must be the whole id of a run, as next says it", p.name))
	case value == "":
		return problem.BadParameter.With(fmt.Sprintf("%s: is empty; leave it out instead", p.name))
	}
	return nil
}

// text is a parameter as it was said, "" where it was not.
func (q *query) text(name string) string { return q.said.Get(name) }

// number is a parameter that was checked to be one, 0 where it was not said.
func (q *query) number(name string) int64 {
	n, _ := strconv.ParseInt(q.said.Get(name), 10, 64) // checked before
	return n
}

const (
	defaultLimit = 100
	maxLimit     = 1000
)

func (q *query) limit() int {
	if q.said.Has("limit") {
		return int(q.number("limit"))
	}
	return defaultLimit
}

// id is a number in the path.
func (q *query) id() (int64, error) {
	n, err := strconv.ParseInt(q.PathValue("id"), 10, 64)
	if err != nil || n < 1 {
		return 0, problem.BadParameter.With("id: must be the number of a job")
	}
	return n, nil
}

// decode reads the body into v: nothing unknown, nothing behind it.
func (q *query) decode(v any) error {
	if len(q.body) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(q.body))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return problem.BadBody.With(bodyText(err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return problem.BadBody.With("the body must be one JSON value, and something stands behind it")
	}
	return nil
}

// bodyText says what is wrong with a body without saying its values back.
func bodyText(err error) string {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &kind):
		return fmt.Sprintf("%s: must be %s, not %s", kind.Field, kind.Type, strings.Fields(kind.Value + " ")[0])
	case errors.As(err, &syntax):
		return fmt.Sprintf("not JSON: byte %d", syntax.Offset)
	case strings.HasPrefix(err.Error(), "json: unknown field "):
		name, _ := strconv.Unquote(strings.TrimPrefix(err.Error(), "json: unknown field "))
		return named(name, "a field") + ": unknown field"
	}
	return "not JSON: it ends too early"
}
