package har_test

import (
	"fmt"
	"strings"
	"testing"

	"lastdrop/judge"
)

// sized is an answer with its sizes.
type sized struct {
	headers    string // name: value, a line each
	body, size int64  // bodySize and content.size
	text       string // as JSON, without quotes
	encoding   string
	mime       string
	method     string
	status     int
}

func (z sized) entry() string {
	var pairs []string
	for line := range strings.Lines(z.headers) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		pairs = append(pairs, fmt.Sprintf(`{"name":%q,"value":%q}`, name, value))
	}
	if z.mime == "" {
		z.mime = "application/json"
	}
	if z.status == 0 {
		z.status = 200
	}
	return fmt.Sprintf(`{"request":{"method":%q},"response":{"status":%d,"headers":[%s],"bodySize":%d,"content":{"size":%d,"mimeType":%q,"encoding":%q,"text":"%s"}}}`,
		z.method, z.status, strings.Join(pairs, ","), z.body, z.size, z.mime, z.encoding, z.text)
}

func TestSizes(t *testing.T) {
	const length = "Content-Length: 100"
	const gzip = length + "\nContent-Encoding: gzip"
	cut := `[` + strings.Repeat("1,", 20) // 41 bytes that do not parse
	tests := []struct {
		name string
		in   sized
		want string // "read/expected", or "" for nothing said
	}{
		{"all agree", sized{headers: length, body: 100, size: 100}, "100/100"},
		{"content.size agrees", sized{headers: length, body: -1, size: 100}, "100/100"},
		{"bodySize agrees", sized{headers: length, body: 100, size: -1}, "100/100"},
		{"one of two agrees", sized{headers: length, body: 60, size: 100}, "100/100"},
		{"both short", sized{headers: length, body: 60, size: 60}, "60/100"},
		{"the larger counts", sized{headers: length, body: 60, size: 70}, "70/100"},
		{"content.size short", sized{headers: length, body: -1, size: 60}, "60/100"},
		{"bodySize short", sized{headers: length, body: 60, size: -1}, "60/100"},
		{"the text alone is short", sized{headers: length, body: -1, size: -1, text: cut}, "41/100"},
		{"no size recorded", sized{headers: length, body: -1, size: -1}, ""},
		{"zero sizes of no body", sized{headers: length, body: 0, size: 0}, ""},
		{"from the cache", sized{headers: length, body: 0, size: 100}, "100/100"},
		{"sizes on both sides", sized{headers: length, body: 130, size: 60}, ""},
		{"frames are counted in", sized{headers: length, body: 130, size: -1}, ""},
		{"a coding was removed", sized{headers: length, body: -1, size: 900}, ""},
		{"no declared length", sized{body: 60, size: 60}, ""},
		{"length in lower case", sized{headers: "content-length: 100", body: 60, size: 60}, "60/100"},
		{"the same length twice", sized{headers: length + "\n" + length, body: 60, size: 60}, "60/100"},
		{"the same length in a list", sized{headers: "Content-Length: 100, 100", body: 60, size: 60}, "60/100"},
		{"two lengths", sized{headers: length + "\nContent-Length: 90", body: 60, size: 60}, ""},
		{"a length that is none", sized{headers: "Content-Length: many", body: 60, size: 60}, ""},
		{"a negative length", sized{headers: "Content-Length: -5", body: 60, size: 60}, ""},
		{"a length of 0", sized{headers: "Content-Length: 0", body: 0, size: 0}, ""},
		{"chunked", sized{headers: length + "\nTransfer-Encoding: chunked", body: 60, size: 60}, ""},
		{"HEAD", sized{headers: length, body: 60, size: 60, method: "HEAD"}, ""},
		{"204", sized{headers: length, body: 60, size: 60, status: 204}, ""},
		{"304", sized{headers: length, body: 60, size: 60, status: 304}, ""},
		{"404", sized{headers: length, body: 60, size: 60, status: 404}, "60/100"},

		{"gzip, whole", sized{headers: gzip, body: 100, size: 900}, "100/100"},
		{"gzip, short", sized{headers: gzip, body: 60, size: 500}, "60/100"},
		{"gzip, short and cut", sized{headers: gzip, body: 60, size: 41, text: cut}, "60/100"},
		{"gzip, short but it parses", sized{headers: gzip, body: 60, size: 3, text: "[1]"}, ""},
		{"gzip, no bodySize", sized{headers: gzip, body: -1, size: 900}, ""},
		{"gzip makes small bodies larger", sized{headers: gzip, body: -1, size: 60}, ""},
		{"gzip, the text is no wire size", sized{headers: gzip, body: -1, size: -1, text: cut}, ""},
		{"gzip, frames are counted in", sized{headers: gzip, body: 130, size: 900}, ""},
		{"identity is no coding", sized{headers: length + "\nContent-Encoding: identity", body: -1, size: 60}, "60/100"},
		{"several codings", sized{headers: length + "\nContent-Encoding: identity, br", body: -1, size: 60}, ""},

		{"UTF-8 counted in characters", sized{headers: "Content-Length: 6", body: -1, size: 4, text: `\"ää\"`}, "6/6"},
		{"UTF-8 named", sized{headers: "Content-Length: 6", body: -1, size: 4, text: `\"ää\"`, mime: "application/json; charset=UTF-8"}, "6/6"},
		{"Latin-1 recorded as UTF-8", sized{headers: "Content-Length: 4", body: -1, size: -1, text: `\"ää\"`, mime: "text/plain; charset=iso-8859-1"}, ""},
		{"Latin-1 in ASCII", sized{headers: "Content-Length: 4", body: -1, size: -1, text: `\"ab\"`, mime: "text/plain; charset=iso-8859-1"}, "4/4"},
		{"UTF-16 recorded as UTF-8", sized{headers: "Content-Length: 8", body: -1, size: -1, text: `\"ab\"`, mime: "text/plain; charset=utf-16"}, ""},
		{"base64 in any charset", sized{headers: "Content-Length: 8", body: -1, size: -1, text: "AAECAwQFBgc=", encoding: "base64", mime: "text/plain; charset=utf-16"}, "8/8"},
		{"base64, short", sized{headers: "Content-Length: 9", body: -1, size: -1, text: "AAECAwQFBgc=", encoding: "BASE64", mime: "image/png"}, "8/9"},
		{"a media type that is none", sized{headers: "Content-Length: 9", body: -1, size: -1, text: "12345678", mime: ";;"}, "8/9"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := one(t, tt.in.entry()).Response
			got := ""
			if r.BytesRead.OK || r.BytesExpected.OK {
				got = fmt.Sprintf("%v/%v", r.BytesRead, r.BytesExpected)
			}
			if got != tt.want {
				t.Errorf("got %q, want %q\n%s", got, tt.want, tt.in.entry())
			}
		})
	}
}

// Compression never looks like loss.
func TestCompressionIsNoLoss(t *testing.T) {
	body := `{\"total\":2,\"items\":[1,2]}`
	for _, size := range []int64{-1, 0, 5, 25, 26, 27, 80, 5000} {
		for _, wire := range []int64{-1, 0, 5, 25, 26, 27, 80, 5000} {
			z := sized{headers: "Content-Length: 80\nContent-Encoding: gzip", body: wire, size: size, text: body}
			if got := judge.Judge(one(t, z.entry())); got.Verdict != judge.Complete {
				t.Errorf("bodySize %d, content.size %d: %v %v, want COMPLETE", wire, size, got.Verdict, got.Rules)
			}
		}
	}
}
