package adapters_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"lastdrop/adapters"
	"lastdrop/internal/jsonscan"
)

// xmlReader reads the items of feed.list.item.
func xmlReader(t testing.TB) *adapters.Reader {
	t.Helper()
	r, err := adapters.NewReader(adapters.Spec{
		URL: "https://api.example.test/feed", Pages: adapters.Pages{Style: "single"},
		Items: adapters.Items{Format: "xml", Path: "feed.list.item"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestXMLToJSON states the one form that each XML has as JSON.
func TestXMLToJSON(t *testing.T) {
	r := xmlReader(t)
	for _, tc := range []struct{ name, xml, want string }{
		{"texts", `<feed><a>1</a><b> x </b><c/><d></d></feed>`, `{"feed":{"a":"1","b":" x ","c":"","d":""}}`},
		{"an empty root", `<feed/>`, `{"feed":""}`},
		{"repeated, with others between", `<feed><a>1</a><b/><a>2</a></feed>`, `{"feed":{"a":["1","2"],"b":""}}`},
		{"a list of two", `<feed><list><item>1</item><item>2</item></list></feed>`, `{"feed":{"list":{"item":["1","2"]}}}`},
		{"a list of one", `<feed><list><item>1</item></list></feed>`, `{"feed":{"list":{"item":["1"]}}}`},
		{"a list of an empty one", `<feed><list><item/></list></feed>`, `{"feed":{"list":{"item":[""]}}}`},
		{"a list of none", `<feed><list/></feed>`, `{"feed":{"list":{"item":[]}}}`},
		{"a list of none, with spaces", "<feed><list n=\"0\">\n</list></feed>", `{"feed":{"list":{"@n":"0","item":[]}}}`},
		{"no list", `<feed><more>true</more></feed>`, `{"feed":{"more":"true"}}`},
		{"something else in the list", `<feed><list><error>x</error></list></feed>`, `{"feed":{"list":{"error":"x"}}}`},
		{"words in the list", `<feed><list>none</list></feed>`, `{"feed":{"list":"none"}}`},
		{"two lists", `<feed><list><item>1</item></list><list/></feed>`, `{"feed":{"list":[{"item":["1"]},{"item":[]}]}}`},
		{"the list's names elsewhere", `<feed><x><list><item>1</item></list></x><item>2</item></feed>`, `{"feed":{"x":{"list":{"item":"1"}},"item":"2"}}`},
		{"an item inside an item", `<feed><list><item><item>1</item></item></list></feed>`, `{"feed":{"list":{"item":[{"item":"1"}]}}}`},
		{"attributes", `<feed><a n="1" m='x"y'>t</a><b n="1"/></feed>`, `{"feed":{"a":{"@n":"1","@m":"x\"y","$":"t"},"b":{"@n":"1","$":""}}}`},
		{"attributes and elements", `<feed><a n="1"> <b/> </a></feed>`, `{"feed":{"a":{"@n":"1","b":""}}}`},
		{"mixed", `<feed><p>one <b>two</b> three</p></feed>`, `{"feed":{"p":{"b":"two","$":"one  three"}}}`},
		{"namespaces", `<n:feed xmlns:n="urn:a" xmlns="urn:b"><n:a n:k="1">1</n:a><a>2</a></n:feed>`, `{"feed":{"a":[{"@k":"1","$":"1"},"2"]}}`},
		{"two attributes of one local name", `<feed xmlns:p="urn:p"><a p:k="1" k="2"/></feed>`, `{"feed":{"a":{"@k":["1","2"],"$":""}}}`},
		{"entities", `<feed><a>&lt;&amp;&gt;&quot;&apos;&#65;&#x42;</a></feed>`, `{"feed":{"a":"<&>\"'AB"}}`},
		{"CDATA", `<feed><a><![CDATA[<b>&amp;]]>x</a></feed>`, `{"feed":{"a":"<b>&amp;x"}}`},
		{"comments", "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><!-- a --><feed><a>1<!-- b -->2</a><?p q?></feed><!-- c -->\n", `{"feed":{"a":"12"}}`},
		{"controls and letters", "<feed><a>\t1\r\n2é\\</a></feed>", `{"feed":{"a":"\u00091\u000a2é\\"}}`},
		{"space before it", "\n <feed/>", `{"feed":""}`},
	} {
		got, bad := r.JSON([]byte(tc.xml))
		if bad != nil || string(got) != tc.want {
			t.Errorf("%s: %s: got %s (%v), want %s", tc.name, tc.xml, got, bad, tc.want)
		}
	}
}

// TestXMLOfManyMembers: an element of many names keeps them all, in order and
// each once.
func TestXMLOfManyMembers(t *testing.T) {
	var in, want strings.Builder
	for i := range 40 {
		fmt.Fprintf(&in, "<a%d>1</a%[1]d>", i)
		fmt.Fprintf(&want, `,"a%d":["1","2"]`, i)
	}
	body := "<feed>" + in.String() + strings.ReplaceAll(in.String(), "1<", "2<") + "</feed>"
	got, bad := xmlReader(t).JSON([]byte(body))
	if bad != nil || string(got) != `{"feed":{`+want.String()[1:]+`}}` {
		t.Errorf("%s becomes %s (%v)", body, got, bad)
	}
}

// TestXMLThatIsNone states how a body fails to be one XML document.
func TestXMLThatIsNone(t *testing.T) {
	r := xmlReader(t)
	for _, tc := range []struct {
		name, body string
		want       jsonscan.Kind
		offset     int
	}{
		{"nothing", "", jsonscan.Empty, 0},
		{"spaces", " \n", jsonscan.Empty, 2},
		{"JSON", `{"error":"x"}`, jsonscan.NotJSON, 0},
		{"words", "upstream error", jsonscan.NotJSON, 0},
		{"an HTML page", "<!DOCTYPE html><html><meta><p>Please sign in</html>", jsonscan.NotJSON, 0},
		{"HTML without a type", "<HTML><br></HTML>", jsonscan.NotJSON, 0},
		{"HTML that is XML", "<html><body/></html>", jsonscan.NotJSON, 0},
		{"a document type", `<!DOCTYPE feed [<!ENTITY a "aa">]><feed>&a;</feed>`, jsonscan.NotJSON, 0},
		{"a version that is not known", `<?xml version="9.9"?><feed/>`, jsonscan.NotJSON, 0},
		{"a prolog only", `<?xml version="1.0"?>`, jsonscan.Short, 21},
		{"no end of the root", "<feed><a>1</a>", jsonscan.Short, 14},
		{"cut in a tag", "<feed><a", jsonscan.Short, 8},
		{"cut in a text", "<feed><a>12", jsonscan.Short, 11},
		{"cut in an entity", "<feed>&am", jsonscan.Short, 9},
		{"a second root", "<feed/><feed/>", jsonscan.Trailing, 7},
		{"words behind it", "<feed/>\nerror", jsonscan.Trailing, 7},
		{"broken markup behind it", "<feed/></feed>", jsonscan.Trailing, 7},
		{"another end tag", "<feed><a></b></feed>", jsonscan.Broken, 9},
		{"an entity of HTML", "<feed>&nbsp;</feed>", jsonscan.Broken, 6},
		{"an attribute twice", `<feed><a k="1" k="2"/></feed>`, jsonscan.Broken, 6},
		{"an attribute without quotes", `<feed><a k=1/></feed>`, jsonscan.Broken, 6},
		{"no UTF-8", "<feed>\xff</feed>", jsonscan.Broken, 6},
		{"a control", "<feed>\x01</feed>", jsonscan.Broken, 6},
		{"a declaration inside", "<feed><!ENTITY a 'b'></feed>", jsonscan.Broken, 6},
	} {
		got, bad := r.JSON([]byte(tc.body))
		if bad == nil {
			t.Errorf("%s: %q is read as %s", tc.name, tc.body, got)
			continue
		}
		if bad.Kind != tc.want || bad.Offset != tc.offset || bad.Msg == "" {
			t.Errorf("%s: %q is %v, want %s at byte %d", tc.name, tc.body, bad, tc.want, tc.offset)
		}
	}
}

// TestXMLPrefix: no strict prefix of a document is one, wherever it is cut.
func TestXMLPrefix(t *testing.T) {
	r := xmlReader(t)
	const whole = `<?xml version="1.0" encoding="UTF-8"?><!-- a - b --><n:feed xmlns:n="urn:n" total='3'><list><item k="é">a &amp; b</item>` +
		`<item><![CDATA[ ]] > ]]></item><item/></list><?p i?><x/></n:feed>`
	for n := range len(whole) {
		if got, bad := r.JSON([]byte(whole[:n])); bad == nil {
			t.Errorf("%q is read as %s", whole[:n], got)
		}
	}
	if _, bad := r.JSON([]byte(whole)); bad != nil {
		t.Errorf("the whole document: %v", bad)
	}
}

// TestXMLDepth: what is as deep as may be is still JSON that can be read, and
// one deeper is refused.
func TestXMLDepth(t *testing.T) {
	r := xmlReader(t)
	deep := func(n int) []byte { // every element is one of two, so that each takes an array too
		return []byte(strings.Repeat("<a><a/>", n-1) + "<a><b/></a>" + strings.Repeat("</a>", n-1))
	}
	got, bad := r.JSON(deep(4998))
	if bad != nil {
		t.Fatal(bad)
	}
	if bad := jsonscan.Validate(got); bad != nil {
		t.Errorf("the JSON of a deep document: %v", bad)
	}
	if _, bad := r.JSON(deep(4999)); bad == nil || bad.Kind != jsonscan.Broken {
		t.Errorf("5,000 elements in each other: %v, want broken", bad)
	}
}

// FuzzXML: whatever comes, it is refused, or turned into valid JSON on one line
// whose one member is the root.
func FuzzXML(f *testing.F) {
	for _, seed := range []string{
		`<feed total="2"><list><item>1</item><item a="b">2<c/></item></list></feed>`, `<?xml version="1.0"?><feed xmlns="u">&lt;<![CDATA[x]]></feed>`,
		`<Error><Code>SlowDown</Code></Error>`, "<feed>\r\n\xff</feed>", `<!DOCTYPE html><html>`, "<a:b:c/>", "<feed><list/></feed>",
	} {
		f.Add([]byte(seed))
	}
	r := xmlReader(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		got, bad := r.JSON(body)
		if bad != nil {
			if bad.Offset < 0 || bad.Offset > len(body) || bad.Kind == 0 {
				t.Fatalf("%q: %+v", body, bad)
			}
			return
		}
		var tree map[string]any
		if err := json.Unmarshal(got, &tree); err != nil || len(tree) != 1 || bytes.ContainsAny(got, "\r\n") {
			t.Fatalf("%q becomes %q: %v", body, got, err)
		}
		again, bad := r.JSON(body)
		if bad != nil || !bytes.Equal(got, again) {
			t.Fatalf("%q becomes %q, then %q", body, got, again)
		}
		resp := adapters.Response{Status: 200, Body: got}
		if page, err := r.Read(adapters.Position{}, adapters.Request{}, resp); err == nil && len(page.Items)+page.Nulls != page.Received {
			t.Fatalf("%q: %d items of %d", body, len(page.Items), page.Received)
		}
	})
}
