package adapters_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lastdrop/adapters"
	"lastdrop/judge"
)

var update = flag.Bool("update", false, "rewrite the expected requests and pages in testdata; review them as code")

// required are the cases that every style has.
var required = []string{"first", "middle", "last", "silent_cap", "false_end", "error_object", "repeated_page"}

// A case is a txtar file: a spec, a position, what is asked there, a raw HTTP
// answer, and the request and page that must come of them.
type testCase struct {
	spec   adapters.Spec
	at     adapters.Position
	ask    struct{ Size, Overlap int }
	answer []byte
}

// TestCases finds every case under testdata by itself.
func TestCases(t *testing.T) {
	for _, style := range adapters.StyleNames() {
		files, err := filepath.Glob(filepath.Join("testdata", style, "*.txtar"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range required {
			if !slices.Contains(files, filepath.Join("testdata", style, name+".txtar")) {
				t.Errorf("style %s has no case %s", style, name)
			}
		}
		for _, file := range files {
			t.Run(style+"/"+strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { runCase(t, style, file) })
		}
	}
}

func runCase(t *testing.T, style, file string) {
	a, err := readArchive(file)
	if err != nil {
		t.Fatal(err)
	}
	tc := decodeCase(t, a)
	if tc.spec.Pages.Style != style {
		t.Fatalf("the spec's style is %q", tc.spec.Pages.Style)
	}
	r, err := adapters.NewReader(tc.spec)
	if err != nil {
		t.Fatal(err)
	}
	req, err := r.Style().Request(tc.at, tc.ask.Size, tc.ask.Overlap)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, file, a, "request.txt", describeRequest(req))
	resp := response(t, tc.answer)
	resp.URL = req.URL
	page, err := readWhole(r, tc.at, req, resp)
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(factsOf(page, err)); err != nil {
		t.Fatal(err)
	}
	golden(t, file, a, "page.json", b.String())
}

// readWhole reads an answer as the fetcher does: its JSON first.
func readWhole(r *adapters.Reader, at adapters.Position, req adapters.Request, resp adapters.Response) (adapters.Page, error) {
	body, bad := r.JSON(resp.Body)
	if bad != nil {
		return adapters.Page{}, bad
	}
	resp.Body = body
	return r.Read(at, req, resp)
}

func decodeCase(t *testing.T, a *archive) testCase {
	t.Helper()
	var tc testCase
	into := map[string]any{"spec.json": &tc.spec, "at.json": &tc.at, "ask.json": &tc.ask}
	for _, f := range a.files {
		switch dst, ok := into[f.name]; {
		case f.name == "answer.http":
			tc.answer = f.data
		case ok:
			dec := json.NewDecoder(bytes.NewReader(f.data))
			dec.DisallowUnknownFields()
			dec.UseNumber()
			if err := dec.Decode(dst); err != nil {
				t.Fatalf("%s: %v", f.name, err)
			}
		}
	}
	return tc
}

// response reads a raw HTTP answer.
func response(t *testing.T, raw []byte) adapters.Response {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(raw)), nil)
	if err != nil {
		t.Fatalf("answer.http: %v", err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("answer.http: %v", err)
	}
	return adapters.Response{Status: resp.StatusCode, Header: resp.Header, Body: body}
}

func describeRequest(req adapters.Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", req.Method, req.URL)
	fmt.Fprintf(&b, "size %d, start %v, page %v\n", req.Size, req.Start, req.Number)
	if len(req.Body) > 0 {
		fmt.Fprintf(&b, "%s\n", req.Body)
	}
	return b.String()
}

// facts are what a case expects of a page; what is not said is left out.
type facts struct {
	Trouble  string           `json:"trouble,omitempty"`
	Error    string           `json:"error,omitempty"`
	Items    []string         `json:"items,omitempty"`
	IDs      []string         `json:"ids,omitempty"`
	Received int              `json:"received"`
	Nulls    int              `json:"nulls,omitempty"`
	Rejected int              `json:"rejected,omitempty"`
	NoID     int              `json:"no_id,omitempty"`
	Notices  []string         `json:"notices,omitempty"`
	Totals   []adapters.Total `json:"totals,omitempty"`
	More     string           `json:"more,omitempty"`
	Pages    *int64           `json:"last_pages,omitempty"`
	Echo     *int64           `json:"echo_page,omitempty"`
	Next     nextFacts        `json:"next"`
	Offered  bool             `json:"offered,omitempty"`
	Partial  []string         `json:"partial,omitempty"`
	Wording  []string         `json:"wording,omitempty"`
	Pin      string           `json:"pin,omitempty"`
	Batch    string           `json:"batch,omitempty"`
}

type nextFacts struct {
	State  adapters.State     `json:"state"`
	Word   string             `json:"word,omitempty"`
	At     *adapters.Position `json:"at,omitempty"`
	Note   string             `json:"note,omitempty"`
	Reason string             `json:"reason,omitempty"`
}

func factsOf(p adapters.Page, err error) any {
	var trouble *adapters.Trouble
	switch {
	case errors.As(err, &trouble):
		return map[string]string{"trouble": trouble.Kind.String(), "message": trouble.Msg}
	case err != nil:
		return map[string]string{"error": err.Error()}
	}
	f := facts{Received: p.Received, Nulls: p.Nulls, Rejected: p.Rejected, NoID: p.NoID, Notices: p.Notices, Totals: p.Totals,
		Offered: p.Offered, Partial: p.Partial, Wording: p.Wording, Pin: p.Pin, Pages: countOf(p.LastPages), Echo: countOf(p.EchoPage)}
	if p.Batch != judge.NotSaid {
		f.Batch = p.Batch.String()
	}
	for _, item := range p.Items {
		if len(item.ID) > 0 {
			f.IDs = append(f.IDs, string(item.ID))
		} else {
			f.Items = append(f.Items, string(item.Raw))
		}
	}
	if p.More != judge.NotSaid {
		f.More = p.More.String()
	}
	f.Next = nextFacts{State: p.Next.State, Word: p.Next.Word, Note: p.Next.Note, Reason: p.Next.Reason}
	if p.Next.State == adapters.Follow || p.Next.HasAt {
		f.Next.At = &p.Next.At
	}
	return f
}

func countOf(c judge.Count) *int64 {
	if !c.OK {
		return nil
	}
	return &c.N
}

// golden compares a text with a file of the archive, or rewrites it.
func golden(t *testing.T, file string, a *archive, name, got string) {
	t.Helper()
	i := slices.IndexFunc(a.files, func(f archived) bool { return f.name == name })
	if !*update {
		want := "(not there)"
		if i >= 0 {
			want = string(a.files[i].data)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		return
	}
	if i < 0 {
		a.files = append(a.files, archived{name: name})
		i = len(a.files) - 1
	}
	a.files[i].data = []byte(got)
	if err := a.write(file); err != nil {
		t.Fatal(err)
	}
}
