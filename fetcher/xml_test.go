package fetcher

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"lastdrop/adapters"
	"lastdrop/judge"
)

// xmlSpec is rowsSpec for an API that answers in XML.
func xmlSpec(base string) adapters.Spec {
	s := rowsSpec(base)
	s.Items = adapters.Items{Format: "xml", Path: "feed.rows.row", IDs: []string{"id"}}
	s.Total.Path = "feed.total"
	return s
}

const wholeXML = `<?xml version="1.0"?><feed><total>2</total><rows><row><id>1</id></row><row><id>2</id>é</row></rows></feed>`

// An answer in XML is sorted as one in JSON is.
func TestClassifyXML(t *testing.T) {
	for _, c := range []struct {
		name string
		raw  raw
		want kind
	}{
		{"whole", raw{body: []byte(wholeXML + "\n")}, kindPage},
		{"an empty list", raw{body: []byte(`<feed><total>0</total><rows/></feed>`)}, kindPage},
		{"an empty body", raw{}, kindNothing},
		{"an empty body that was to be longer", raw{short: true, expected: judge.N(5)}, kindHalf},
		{"HTML", raw{body: []byte("<!doctype html><title>Log in</title>")}, kindOther},
		{"JSON", raw{body: []byte(`{"rows":[]}`)}, kindOther},
		{"a document type", raw{body: []byte(`<!DOCTYPE feed SYSTEM "http://other.test/x.dtd">` + wholeXML)}, kindOther},
		{"whole, and bytes are missing", raw{body: []byte(wholeXML), short: true, expected: judge.N(999)}, kindHalf},
		{"two documents", raw{body: []byte(wholeXML + "<feed/>")}, kindHalf},
		{"no UTF-8", raw{body: []byte(strings.Replace(wholeXML, "é", "\xe9", 1))}, kindHalf},
		{"an error text behind it", raw{body: []byte(wholeXML + "\nFatal error: out of memory")}, kindDeadline},
		{"an error document", raw{body: []byte(`<Error><Code>AccessDenied</Code></Error>`)}, kindTrouble},
		{"a token that is no longer good", raw{body: []byte(`<Error><Code>ExpiredToken</Code><Message>The continuation token has expired.</Message></Error>`)}, kindExpired},
		{"no list", raw{body: []byte(`<feed><total>2</total></feed>`)}, kindTrouble},
		{"an error beside the list", raw{body: []byte(`<feed><error>boom</error><rows/></feed>`)}, kindTrouble},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := walk(t, xmlSpec("http://127.0.0.1"), quick())
			c.raw.status, c.raw.header, c.raw.url, c.raw.wire = 200, header(), d.spec.URL, int64(len(c.raw.body))
			if a := sorted(t, d, c.raw); a.kind != c.want || a.kind != kindPage && a.text == "" {
				t.Errorf("sorted as %s, want %s: %s", kinds[a.kind], kinds[c.want], a.text)
			}
		})
	}
}

// No strict prefix of an XML body passes as a page, even where nothing but the
// body itself can tell.
func TestPrefixOfXMLIsNoPage(t *testing.T) {
	d := walk(t, xmlSpec("http://127.0.0.1"), quick())
	for n := range len(wholeXML) {
		a := sorted(t, d, raw{status: 200, url: d.spec.URL, body: []byte(wholeXML[:n]), wire: int64(n)})
		if n > 0 && a.kind != kindHalf || len(a.page.Items) > 0 {
			t.Errorf("%q is sorted as %s with %d items, want half a body: %s", wholeXML[:n], kinds[a.kind], len(a.page.Items), a.text)
		}
	}
	a := sorted(t, d, raw{status: 200, url: d.spec.URL, body: []byte(wholeXML), wire: int64(len(wholeXML))})
	if a.kind != kindPage || len(a.page.Items) != 2 || string(a.page.Items[1].Raw) != `{"id":"2","$":"é"}` {
		t.Fatalf("the whole body: %s, %q, %s", kinds[a.kind], a.page.Items, a.text)
	}
}

// A documented end may be an XML document too.
func TestDocumentedEndInXML(t *testing.T) {
	spec := xmlSpec("http://127.0.0.1")
	spec.Pages.EndStatus = []adapters.EndStatus{{Status: 404, Path: "Error.Code", Is: "NoMore"}}
	for body, want := range map[string]kind{
		`<Error><Code>NoMore</Code></Error>`:   kindEnd,
		`<Error><Code>NoBucket</Code></Error>`: kindRefused,
		`<Error><Code>NoMore</Code>`:           kindRefused,
		`{"Error":{"Code":"NoMore"}}`:          kindRefused,
	} {
		d := walk(t, spec, quick())
		d.state.Page = 1
		if a := sorted(t, d, raw{status: 404, url: spec.URL, body: []byte(body)}); a.kind != want {
			t.Errorf("%s: %s, want %s", body, kinds[a.kind], kinds[want])
		}
	}
}

// What is asked beside the pages of an XML source answers in XML too.
func TestCountInXML(t *testing.T) {
	for body, want := range map[string]int64{
		`<count at="now"><n>2</n></count>`: 2,
		`<count><n>3</n></count>`:          3,
		`<count><n>2</n>`:                  0,
		`{"count":{"n":2}}`:                0,
	} {
		srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
			text := "<feed><rows/></feed>"
			switch {
			case r.URL.Path == "/count":
				text = body
			case r.FormValue("offset") == "" || r.FormValue("offset") == "0":
				text = wholeXML
			}
			_, _ = w.Write([]byte(text))
		})
		spec := xmlSpec(srv.URL)
		spec.Total = adapters.TotalSpec{URL: srv.URL + "/count", Path: "count.n", Kind: judge.Exact}
		client := quick()
		client.Retries = -1
		o, _ := options(t, spec, client)
		f, err := Drain(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		if f.Totals.Last != want || (ruled(f) == judge.Complete) != (want == 2) {
			t.Errorf("a count of %s: %v by a total of %d, want %d", body, ruled(f), f.Totals.Last, want)
		}
	}
}

// A whole run in XML asks for XML, lowers the size where a body is cut, and
// gives the items as JSON.
func TestDrainXML(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Accept"); got != "application/xml" {
			t.Errorf("asked for %q", got)
		}
		var offset, limit int
		_, _ = fmt.Sscan(r.FormValue("offset"), &offset)
		_, _ = fmt.Sscan(r.FormValue("limit"), &limit)
		var b strings.Builder
		fmt.Fprint(&b, "<feed><total>73</total><rows>")
		for i := offset; i < min(73, offset+limit); i++ {
			fmt.Fprintf(&b, "<row n='%d'><id>%d</id></row>", i, i)
		}
		fmt.Fprint(&b, "</rows></feed>")
		body := b.String()
		if limit > 30 {
			body = body[:len(body)/2]
		}
		_, _ = w.Write([]byte(body))
	})
	o, s := options(t, xmlSpec(srv.URL), quick())
	f, err := Drain(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if got := ruled(f); got != judge.Complete || len(s.lines) != 73 || s.lines[72] != `{"@n":"72","id":"72"}` {
		t.Errorf("%v with %d lines, the last %q", got, len(s.lines), s.lines[len(s.lines)-1])
	}
	if f.PageSize.Min > 30 {
		t.Errorf("the least size is %d, and bodies above 30 rows are cut", f.PageSize.Min)
	}
}
