package sim

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"strings"
)

// ndjson writes a row a line.
func (x *exchange) ndjson() []byte {
	var b []byte
	for _, r := range x.page.rows {
		if r.raw != nil {
			b = append(b, r.raw...)
		} else {
			b = x.sim.appendItem(b, r.item)
		}
		b = append(b, '\n')
	}
	return b
}

// csv writes a header line and a line a row.
func (x *exchange) csv() []byte {
	b := []byte("id," + x.api.SortField + ",title\r\n")
	for _, r := range x.page.rows {
		if r.raw != nil {
			b = append(append(b, r.raw...), "\r\n"...)
			continue
		}
		b = r.item.ID.appendText(b)
		b = x.sim.appendSort(append(b, ','), r.item)
		b = append(b, `,"`...)
		title := string(x.sim.appendTitle(nil, r.item))
		b = append(b, strings.ReplaceAll(title, `\u00e9`, `""é""`)...)
		b = append(b, "\"\r\n"...)
	}
	return b
}

// xmlRoot is the root element of an XML answer; a bare list's items are called
// xmlItem in it.
const (
	xmlRoot = "feed"
	xmlItem = "item"
)

// xml writes the JSON answer as XML: a member is an element of its name, a list
// an element for each of its items, and a null is left out.
func (x *exchange) xml() []byte {
	var b bytes.Buffer
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")
	if x.api.Items == "" && x.page.list == listWhole {
		b.WriteString("<" + xmlRoot + ">")
		xmlElement(&b, xmlItem, jsonTokens(x.array()))
		b.WriteString("</" + xmlRoot + ">")
	} else {
		xmlElement(&b, xmlRoot, jsonTokens(x.envelope()))
	}
	return append(b.Bytes(), '\n')
}

func jsonTokens(text []byte) *json.Decoder {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d
}

// xmlElement writes the next value of d under a name.
func xmlElement(b *bytes.Buffer, name string, d *json.Decoder) {
	t, _ := d.Token() // the text is the Sim's own, and whole
	switch t := t.(type) {
	case nil:
		return
	case json.Delim:
		if t == '[' {
			for d.More() {
				xmlElement(b, name, d)
			}
			_, _ = d.Token()
			return
		}
		b.WriteString("<" + name + ">")
		for d.More() {
			key, _ := d.Token()
			xmlElement(b, xmlName(key.(string)), d)
		}
		_, _ = d.Token()
	case string:
		b.WriteString("<" + name + ">")
		_ = xml.EscapeText(b, []byte(t)) // a bytes.Buffer never fails
	case json.Number:
		b.WriteString("<" + name + ">" + t.String())
	case bool:
		b.WriteString("<" + name + ">" + string(rawBool(t)))
	}
	b.WriteString("</" + name + ">")
}

// xmlName takes from a name, or from a path, what no element may be called.
func xmlName(name string) string { return strings.ReplaceAll(name, "@", "") }

// inXML turns the hints of a JSON API into those of the same API in XML.
func (h *ClientHints) inXML() {
	if h.Items == "@this" {
		h.Items = xmlItem
	}
	paths := []*string{&h.Items, &h.Cursor.Path, &h.Next.Path, &h.More.Path, &h.Last.Path, &h.Pin.Path,
		&h.Total.Path, &h.Total.KindPath, &h.EchoPage, &h.EchoOffset, &h.EchoSize}
	for i := range h.Partial {
		paths = append(paths, &h.Partial[i].Path, &h.Partial[i].Below)
	}
	for i := range h.Errors {
		paths = append(paths, &h.Errors[i])
	}
	for _, p := range paths {
		if *p != "" {
			*p = xmlRoot + "." + xmlName(*p)
		}
	}
}

// ToXML makes a JSON Sim answer in XML, which knows no null and no kinds of
// values. False, and nothing is changed, where its answers need one of them.
func (s *Sim) ToXML() bool {
	if s.API.Edges || s.API.Style == GraphQL || s.API.Key.Quote {
		return false
	}
	ever := s.World.Ever(64)
	for _, it := range ever {
		if !it.ID.named() || it.ID.Kind != ever[0].ID.Kind {
			return false
		}
	}
	s.API.Format = XML
	s.Reset()
	return true
}
