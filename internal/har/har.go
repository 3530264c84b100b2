// Package har reads HTTP archives (HAR 1.2), as browsers and proxies save
// them, into snapshots for the judge: one for each entry, in the archive's
// order, of kind http.
//
// An archive knows little about paging, so this package reads clear names only
// and leaves everything else unsaid:
//
//   - request.limit from the query parameters limit, per_page, page_size,
//     pagesize, size, hitsPerPage, $limit and $top; request.offset from offset,
//     skip, $skip and start; request.page from page. Names are matched to the
//     letter. A value that is no count, or two that differ, is not read.
//     request.first_page is 0 where page is 0 or the limit came from
//     hitsPerPage, which counts pages from 0, and unsaid (so 1) elsewhere.
//   - response.items from a JSON body that is an array, or from the array one
//     level down that has the best known name (items, data, results, hits,
//     records, rows, value, entries, list, in that order), or else from the
//     only array there, unless its name says that it is something else (errors,
//     warnings, messages, links, facets, included).
//   - totals, has-more flags and continuations from well-known names at the
//     top of the body; see the tables in body.go. A name that stands twice is
//     not read.
//   - response.parse_ok where there is a body that claims to be JSON.
//   - response.bytes_read and bytes_expected where the declared length and a
//     recorded size measure the same thing; see size.go. A shortfall is never
//     made up out of compression or of sizes that were not recorded.
//
// What cannot be read is not taken for nothing: beside a position in the URL or
// the request's body that is not understood, an unread continuation, an error
// or a part in the envelope, a method that lists nothing or a range of more,
// whatever speaks for completeness stays unsaid; see doubt.go. A status that is
// no integer, and a name that stands twice in the archive, are errors.
//
// An entry without an answer (status 0) has no status, and the recorder's
// error as its error text.
package har

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"lastdrop/judge"
)

// The part of an archive that is read. Everything else is ignored: recorders
// add fields of their own.
type archive struct {
	Log *struct {
		Entries *[]entry `json:"entries"`
	} `json:"log"`
}

type entry struct {
	Request  request   `json:"request"`
	Response *response `json:"response"`
}

type request struct {
	Method string `json:"method"`
	URL    string `json:"url"`
	Query  []pair `json:"queryString"`
	Post   post   `json:"postData"`
}

type post struct {
	Text   string `json:"text"`
	Params []pair `json:"params"`
}

type response struct {
	Status   status  `json:"status"`
	Headers  []pair  `json:"headers"`
	Content  content `json:"content"`
	BodySize number  `json:"bodySize"`
	Error    string  `json:"_error"`
}

type content struct {
	Size     number `json:"size"`
	MimeType string `json:"mimeType"`
	Text     string `json:"text"`
	Encoding string `json:"encoding"`
}

type pair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// number is a count in an archive: -1, null and anything that is no count mean
// that it was not recorded.
type number struct{ judge.Count }

// UnmarshalJSON never fails: what is no count is not stated.
func (n *number) UnmarshalJSON(data []byte) error {
	n.Count = count(data)
	return nil
}

// status is a number that has to be one, or null.
type status struct {
	judge.Count
	odd bool // something else stands there
}

// UnmarshalJSON never fails: the entry's own reading names the path.
func (s *status) UnmarshalJSON(data []byte) error {
	s.Count = count(data)
	_, err := strconv.Atoi(string(data))
	s.odd = err != nil && !s.OK && string(data) != "null"
	return nil
}

// Read reads an archive and gives one snapshot for each entry, so that the
// index of a snapshot is that of its entry. An archive without entries is an
// empty slice. The error of a bad archive is one line.
func Read(data []byte) ([]judge.Snapshot, error) {
	var a archive
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, fmt.Errorf("not an HTTP archive: %w", plainer(err))
	}
	if a.Log == nil || a.Log.Entries == nil {
		return nil, errors.New("not an HTTP archive: log.entries is missing")
	}
	if at := repeated(data, ""); at != "" {
		return nil, fmt.Errorf("not an HTTP archive: %s stands there twice", at)
	}
	all := make([]judge.Snapshot, 0, len(*a.Log.Entries))
	for i, e := range *a.Log.Entries {
		s, err := e.snapshot()
		if err != nil {
			return nil, fmt.Errorf("log.entries[%d].%w", i, err)
		}
		all = append(all, s)
	}
	return all, nil
}

// plainer turns a type error into one that speaks of the archive, not of Go.
func plainer(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	where := wrong.Field
	if where == "" {
		where = "it"
	}
	return fmt.Errorf("%s is of the wrong type: %s", where, wrong.Value)
}

// snapshot reads one entry. Its error begins with the path inside the entry.
func (e entry) snapshot() (judge.Snapshot, error) {
	s := judge.Snapshot{Kind: judge.KindHTTP, Request: e.Request.paging()}
	if e.Response == nil {
		return s, errors.New("response: is missing")
	}
	r := e.Response
	if r.Status.odd {
		return s, errors.New("response.status: is not an integer")
	}
	body, err := r.Content.body()
	if err != nil {
		return s, fmt.Errorf("response.content.text: %w", err)
	}
	s.Response.Headers = headers(r.Headers)
	r.answer(&s.Response)
	readBody(body, r.Content.MimeType, &s.Response)
	r.measure(e.Request.Method, body, &s.Response)
	switch {
	case e.Request.unplaced(s.Request): // a total above the items proves nothing there
		s.Response.Total, s.Response.TotalKind = judge.Count{}, ""
		doubt(&s.Response)
	case !e.aboutSet() || r.partOfSet():
		doubt(&s.Response)
	}
	return s, nil
}

// answer reads the status, or why there is none.
func (r *response) answer(into *judge.Response) {
	into.Error = r.Error
	if r.Status.OK && r.Status.N > 0 {
		into.Status = r.Status.Count
	} else if into.Error == "" {
		into.Error = "no answer was recorded"
	}
	if cutShort[r.Error] {
		into.TruncatedBy = r.Error
	}
}

// cutShort are the recorder's words for a body that ended too early.
var cutShort = map[string]bool{
	"net::ERR_CONTENT_LENGTH_MISMATCH":     true,
	"net::ERR_INCOMPLETE_CHUNKED_ENCODING": true,
	"NS_ERROR_NET_PARTIAL_TRANSFER":        true,
}

// body gives the recorded body, decoded from base64 where it has to be; nil
// where none was recorded.
func (c content) body() ([]byte, error) {
	switch {
	case c.Text == "":
		return nil, nil
	case c.Encoding == "":
		return []byte(c.Text), nil
	case strings.EqualFold(c.Encoding, "base64"):
		body, err := base64.StdEncoding.DecodeString(c.Text)
		if err != nil {
			return nil, errors.New("is not the base64 that it claims to be")
		}
		return body, nil
	default:
		return nil, fmt.Errorf("has an encoding that is not known: %q", c.Encoding)
	}
}

// headers collects the values of each header. Recorders join the values of a
// header that came several times by a line end.
func headers(pairs []pair) map[string][]string {
	h := map[string][]string{}
	for _, p := range pairs {
		h[p.Name] = append(h[p.Name], strings.Split(p.Value, "\n")...)
	}
	return h
}
