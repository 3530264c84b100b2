package adapters

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"lastdrop/internal/jsonscan"
)

const (
	// xmlDepth is how many elements may be open at once, so that their JSON,
	// an object and an array for each, nests no deeper than JSON bodies may.
	xmlDepth = 4999
	// xmlText is the key of the text of an element that has more than text. No
	// element can be called so.
	xmlText = "$"
)

// JSON gives a whole body in the form that all paths are read in, or says how
// it fails to be whole: a JSON body as it stands, an XML body turned into JSON.
// A body of lines, whose rows are checked as they are read, comes back as it is.
//
// Of XML, an element is known by its local name, an attribute by an @ before
// it; namespaces, comments, processing instructions and the order among
// elements of different names are not kept. Elements of one name side by side
// become an array, and so does the last name of items.path however often it
// stands there: an element on the way to it, below the root, that holds nothing
// is an empty list. An element with nothing but text is that text, an empty one
// "". The text of any other is its member "$": of one with attributes always,
// of one with elements where it is not blank.
//
// XML is read strictly, without a document type: a body that declares one, and
// an HTML page, are not XML here, so that no entity but the five of XML itself
// is known.
func (r *Reader) JSON(body []byte) ([]byte, *jsonscan.Error) {
	switch r.spec.Items.Format {
	case formatJSON:
		return body, jsonscan.Validate(body)
	case formatXML:
		return xmlToJSON(body, r.names)
	}
	return body, nil
}

// XMLNames reads an items path as the names of the elements of XML that lead
// from the root to an item; nil where it is no such path.
func XMLNames(path string) []string {
	var names []string
	for rest := path; rest != ""; {
		var name string
		name, rest = splitPath(rest)
		names = append(names, name)
	}
	if len(names) < 2 || slices.Contains(names, "") || strings.ContainsAny(path, `|*?#@!:[]{}()"`) {
		return nil
	}
	return names
}

// otherRoot is the trouble of an XML answer whose root is not that of
// items.path: an error document in the place of the list.
func (r *Reader) otherRoot(a *Answer) *Trouble {
	if r.root == 0 || a.value(r.root).Exists() {
		return nil
	}
	name, rest, _ := bytes.Cut(bytes.TrimPrefix(a.Body, []byte(`{"`)), []byte(`":`))
	v := jsonscan.ValueOf(bytes.TrimSuffix(rest, []byte("}")))
	return &Trouble{Kind: troubleKind(string(v.Raw), codesOf(v, a.Body)),
		Msg: fmt.Sprintf("the root is %q, where items.path begins with %q: %s", name, r.names[0], serverWords(v))}
}

// An element is an XML element under construction.
type element struct {
	members []member       // attributes, then elements, in the order in which they first came
	at      map[string]int // of a key, among many members; nil where they are few
	text    []byte
	holds   bool // an element
	way     int  // how many names of items.path lead here; 0 off the way
}

// A member is all that an element holds under one key.
type member struct {
	key  string
	list bool
	each []*element
}

// few is up to how many members are looked through one by one.
const few = 16

// add puts a value under a key.
func (e *element) add(key string, v *element) *member {
	m := e.find(key)
	m.each = append(m.each, v)
	return m
}

// find gives the member of a key, a new one where there is none.
func (e *element) find(key string) *member {
	i, ok := e.at[key]
	if len(e.members) <= few {
		i = slices.IndexFunc(e.members, func(m member) bool { return m.key == key })
		ok = i >= 0
	}
	if ok {
		return &e.members[i]
	}
	e.members = append(e.members, member{key: key})
	switch n := len(e.members); {
	case n == few+1:
		e.at = make(map[string]int, 2*few)
		for i, m := range e.members {
			e.at[m.key] = i
		}
	case n > few:
		e.at[key] = n - 1
	}
	return &e.members[len(e.members)-1]
}

// xmlReader builds the tree of one body.
type xmlReader struct {
	body  []byte
	names []string
	dec   *xml.Decoder
	root  element    // what stands around the root element
	open  []*element // the root's surroundings first
	from  int        // where the token in hand begins
	html  bool
}

// xmlToJSON turns one whole XML document into JSON. names lead to the items.
func xmlToJSON(body []byte, names []string) ([]byte, *jsonscan.Error) {
	begin := len(body) - len(bytes.TrimLeft(body, " \t\r\n"))
	switch {
	case begin == len(body):
		return nil, &jsonscan.Error{Kind: jsonscan.Empty, Offset: begin, Msg: "no document"}
	case body[begin] != '<':
		return nil, &jsonscan.Error{Kind: jsonscan.NotJSON, Offset: begin, Msg: "no XML begins like this"}
	}
	x := &xmlReader{body: body, names: names, dec: xml.NewDecoder(bytes.NewReader(body[begin:]))}
	x.dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // decoded already
	x.open = []*element{&x.root}
	bad := x.read(begin)
	if x.html {
		return nil, &jsonscan.Error{Kind: jsonscan.NotJSON, Offset: begin, Msg: "a document type, or an HTML page"}
	}
	if bad != nil {
		return nil, bad
	}
	return x.root.appendJSON(nil, names), nil
}

// read takes every token up to the end of the body. begin is where the document
// begins in it.
func (x *xmlReader) read(begin int) *jsonscan.Error {
	for {
		x.from = begin + int(x.dec.InputOffset())
		t, err := x.dec.Token()
		switch {
		case errors.Is(err, io.EOF) && len(x.root.members) == 0:
			return x.fail(jsonscan.Short, "ended before the root element")
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return x.broken(err)
		}
		if bad := x.take(t); bad != nil {
			return bad
		}
	}
}

// broken says what the decoder could not read.
func (x *xmlReader) broken(err error) *jsonscan.Error {
	var at *xml.SyntaxError
	switch {
	case x.past():
		return x.fail(jsonscan.Trailing, "text after the root element")
	case errors.As(err, &at) && at.Msg == "unexpected EOF":
		return x.fail(jsonscan.Short, "ended inside the root element")
	case errors.As(err, &at):
		return x.fail(jsonscan.Broken, at.Msg)
	}
	return x.fail(jsonscan.NotJSON, err.Error()) // another version of XML
}

func (x *xmlReader) fail(kind jsonscan.Kind, msg string) *jsonscan.Error {
	at := min(x.from, len(x.body))
	if kind == jsonscan.Short {
		at = len(x.body)
	}
	return &jsonscan.Error{Kind: kind, Offset: at, Msg: msg}
}

// past reports whether the root element is over.
func (x *xmlReader) past() bool { return len(x.open) == 1 && len(x.root.members) > 0 }

// take adds one token to the tree.
func (x *xmlReader) take(t xml.Token) *jsonscan.Error {
	top := x.open[len(x.open)-1]
	switch t := t.(type) {
	case xml.StartElement:
		return x.start(top, t)
	case xml.EndElement:
		x.open = x.open[:len(x.open)-1]
	case xml.CharData:
		if len(x.open) > 1 {
			top.text = append(top.text, t...)
		} else if len(bytes.TrimSpace(t)) > 0 {
			return x.outside("text")
		}
	case xml.Directive:
		x.html = x.html || len(x.root.members) == 0
		return x.outside("a document type")
	}
	return nil
}

// outside is the fault of what may not stand around the root element, or in it.
func (x *xmlReader) outside(what string) *jsonscan.Error {
	if x.past() {
		return x.fail(jsonscan.Trailing, what+" after the root element")
	}
	return x.fail(jsonscan.Broken, what+" where none may stand")
}

// start opens an element inside another.
func (x *xmlReader) start(in *element, t xml.StartElement) *jsonscan.Error {
	switch {
	case x.past():
		return x.outside("an element")
	case len(x.open) > xmlDepth:
		return x.fail(jsonscan.Broken, fmt.Sprintf("nested more than %d deep", xmlDepth))
	}
	name := t.Name.Local
	x.html = x.html || len(x.open) == 1 && strings.EqualFold(name, "html")
	e := &element{}
	if depth := len(x.open); depth <= len(x.names) && in.way == depth-1 && x.names[in.way] == name {
		e.way = depth
	}
	m := in.add(name, e)
	m.list = m.list || e.way == len(x.names)
	in.holds = true
	for i, a := range t.Attr {
		if slices.ContainsFunc(t.Attr[:i], func(b xml.Attr) bool { return a.Name == b.Name }) {
			return x.fail(jsonscan.Broken, fmt.Sprintf("the attribute %q stands twice", a.Name.Local))
		}
		if a.Name.Space == "xmlns" || a.Name.Space == "" && a.Name.Local == "xmlns" {
			continue
		}
		e.add("@"+a.Name.Local, &element{text: []byte(a.Value)})
	}
	x.open = append(x.open, e)
	return nil
}

// appendJSON writes an element as JSON; names lead to the items.
func (e *element) appendJSON(dst []byte, names []string) []byte {
	blank := len(bytes.TrimSpace(e.text)) == 0
	empty := e.way > 1 && e.way == len(names)-1 && !e.holds && blank // an empty list
	if len(e.members) == 0 && !empty {
		return appendText(dst, string(e.text))
	}
	open := byte('{')
	for _, m := range e.members {
		dst = append(appendText(append(dst, open), m.key), ':')
		dst, open = m.appendJSON(dst, names), ','
	}
	switch {
	case empty:
		dst = append(appendText(append(dst, open), names[e.way]), ":[]"...)
	case !e.holds || !blank:
		dst = append(appendText(append(dst, open), xmlText), ':')
		dst = appendText(dst, string(e.text))
	}
	return append(dst, '}')
}

func (m *member) appendJSON(dst []byte, names []string) []byte {
	if !m.list && len(m.each) == 1 {
		return m.each[0].appendJSON(dst, names)
	}
	open := byte('[')
	for _, e := range m.each {
		dst, open = e.appendJSON(append(dst, open), names), ','
	}
	return append(dst, ']')
}
