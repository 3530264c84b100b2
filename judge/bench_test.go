package judge_test

import (
	"testing"

	"lastdrop/judge"
)

func BenchmarkJudge(b *testing.B) {
	for name, text := range map[string]string{
		"complete": `{"kind":"list","request":{"limit":100,"offset":0},"response":{"status":200,"parse_ok":true,"items":12,"total":12,"has_more":false}}`,
		"link":     `{"kind":"http","request":{"limit":100,"page":1},"response":{"status":200,"parse_ok":true,"items":100,"headers":{"Link":"<https://api.example/c?page=2>; rel=\"next\", <https://api.example/c?page=9>; rel=\"last\""}}}`,
		"half":     `{"kind":"http","response":{"status":200,"parse_ok":false,"bytes_read":49311,"bytes_expected":65536,"error":"IncompleteRead(49311 bytes read, 16225 more expected)"}}`,
	} {
		s := decode(b, text)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				judge.Judge(s)
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	data := []byte(full)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := judge.Decode(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseLinks(b *testing.B) {
	values := []string{`<https://api.example/c?page=2>; rel="next", <https://api.example/c?page=9>; rel="last"`}
	b.ReportAllocs()
	for b.Loop() {
		judge.ParseLinks(values)
	}
}
