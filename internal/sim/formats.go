package sim

import (
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

// xml writes a feed with an item element a row.
func (x *exchange) xml() []byte {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n<feed>")
	if x.page.total.show && x.api.Total.Path != "" {
		b.WriteString("<total>" + string(rawInt(x.page.total.value)) + "</total>")
	}
	for _, r := range x.page.rows {
		if r.raw != nil {
			b.Write(r.raw)
			continue
		}
		b.WriteString("<item><id>" + string(r.item.ID.appendText(nil)) + "</id><" + x.api.SortField + ">")
		b.Write(x.sim.appendSort(nil, r.item))
		b.WriteString("</" + x.api.SortField + "><title>")
		title := strings.ReplaceAll(string(x.sim.appendTitle(nil, r.item)), `\u00e9`, `"é"`)
		_ = xml.EscapeText(&b, []byte(title)) // a strings.Builder never fails
		b.WriteString("</title></item>")
	}
	b.WriteString("</feed>\n")
	return []byte(b.String())
}
