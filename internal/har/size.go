package har

import (
	"bytes"
	"encoding/json"
	"mime"
	"slices"
	"strconv"
	"strings"

	"lastdrop/judge"
)

// measure compares the declared length with what was recorded.
//
// Content-Length counts the body as it went over the wire. Without a content
// coding, content.size and the body itself measure the same, and with one only
// bodySize does. Recorders get these sizes wrong in known ways, so:
//
//   - a size of -1, and a size of 0 beside no body, were not recorded;
//   - where any size meets the declared length, the body is whole;
//   - where every size is below it, the largest counts, and is short;
//   - where a size is above it, or sizes stand on both sides, they measure
//     something else (headers, chunk frames, a coding that was removed), and
//     nothing is said;
//   - a coded body that parses as JSON was decoded to its end, so that it is
//     not short, whatever bodySize says.
func (r *response) measure(method string, body []byte, into *judge.Response) {
	want, ok := r.declared(method)
	if !ok {
		return
	}
	got, ok := settle(r.sizes(body), want)
	if !ok {
		return
	}
	if got < want && r.coded() && json.Valid(body) {
		return
	}
	into.BytesRead, into.BytesExpected = judge.N(got), judge.N(want)
}

// declared gives the length that the answer declares for its body, where it
// has one to compare.
func (r *response) declared(method string) (int64, bool) {
	st := r.Status.N
	bodiless := strings.EqualFold(method, "HEAD") || st < 200 || st == 204 || st == 304
	if bodiless || len(r.values("Transfer-Encoding")) > 0 {
		return 0, false
	}
	lengths := r.values("Content-Length")
	slices.Sort(lengths)
	if lengths = slices.Compact(lengths); len(lengths) != 1 {
		return 0, false
	}
	n, err := strconv.ParseInt(lengths[0], 10, 64)
	return n, err == nil && n >= 0
}

// values gives the comma-separated parts of all headers of a name.
func (r *response) values(name string) (parts []string) {
	for _, h := range r.Headers {
		if !strings.EqualFold(h.Name, name) {
			continue
		}
		for _, part := range strings.FieldsFunc(h.Value, func(c rune) bool { return c == ',' || c == '\n' }) {
			if part = strings.TrimSpace(part); part != "" {
				parts = append(parts, part)
			}
		}
	}
	return parts
}

// coded reports whether the body went over the wire in a content coding.
func (r *response) coded() bool {
	return slices.ContainsFunc(r.values("Content-Encoding"), func(coding string) bool {
		return !strings.EqualFold(coding, "identity")
	})
}

// sizes gives every recorded size that measures the body as the declared
// length does.
func (r *response) sizes(body []byte) (sizes []int64) {
	add := func(n judge.Count) {
		if n.OK && n.N > 0 {
			sizes = append(sizes, n.N)
		}
	}
	add(r.BodySize.Count)
	if r.coded() {
		return sizes
	}
	add(r.Content.Size.Count)
	if r.asSent(body) {
		add(judge.N(int64(len(body))))
	}
	return sizes
}

// asSent reports whether the recorded body has as many bytes as were sent:
// text is recorded as UTF-8, whatever it was sent as.
func (r *response) asSent(body []byte) bool {
	if r.Content.Encoding != "" {
		return true
	}
	switch charset := charsetOf(r.Content.MimeType); {
	case charset == "" || charset == "utf-8" || charset == "utf8":
		return true
	case strings.HasPrefix(charset, "utf"):
		return false
	default: // a single-byte charset, mostly: plain ASCII is the same in it
		return !bytes.ContainsFunc(body, func(c rune) bool { return c > 127 })
	}
}

func charsetOf(mimeType string) string {
	_, params, err := mime.ParseMediaType(mimeType)
	if err != nil {
		return "" // no media type, and so no charset
	}
	return strings.ToLower(params["charset"])
}

// settle finds the size that counts against the declared one.
func settle(sizes []int64, want int64) (got int64, ok bool) {
	switch {
	case len(sizes) == 0:
		return 0, false
	case slices.Contains(sizes, want):
		return want, true
	default:
		got = slices.Max(sizes)
		return got, got < want
	}
}
