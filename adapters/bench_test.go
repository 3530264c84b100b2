package adapters_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"lastdrop/adapters"
)

// BenchmarkRead reads a page of 1,000 items, some 640 kB.
func BenchmarkRead(b *testing.B) {
	var body bytes.Buffer
	body.WriteString(`{"rows":[`)
	for i := range 1000 {
		if i > 0 {
			body.WriteByte(',')
		}
		fmt.Fprintf(&body, `{"id":%d,"name":"row %d","text":%q,"tags":["a","b"],"more":{"x":1.5,"y":null}}`, i, i, bytes.Repeat([]byte("text "), 110))
	}
	body.WriteString(`],"total":100000,"next":"abc"}`)
	r, err := adapters.NewReader(plain(func(s *adapters.Spec) {
		s.Pages = adapters.Pages{Style: "cursor", CursorParam: "after", CursorPath: "next"}
		s.Total.Path = "total"
	}))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(body.Len()))
	b.ReportAllocs()
	for b.Loop() {
		page, err := r.Read(adapters.Position{}, adapters.Request{}, adapters.Response{Status: 200, Body: body.Bytes()})
		if err != nil || len(page.Items) != 1000 {
			b.Fatalf("%d items, %v", len(page.Items), err)
		}
	}
}

// BenchmarkXML turns a page of 1 MB into JSON.
func BenchmarkXML(b *testing.B) {
	r := xmlReader(b)
	body := []byte("<feed><list>" + strings.Repeat("<item id='17'><key>a/b/c.txt</key><size>434234</size><owner><id>abc</id><name>x</name></owner></item>", 10000) + "</list></feed>")
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, bad := r.JSON(body); bad != nil {
			b.Fatal(bad)
		}
	}
}
