package jsonscan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// benchPage returns a page of items of at least size bytes, as an API would fill them.
func benchPage(items, size int) []byte {
	words := strings.Fields(`drain page cursor empty verified complete silent limit window total retry half body verdict
		\"quoted\" naïve line\nfeed caf\u00e9 ledger offset keyset evidence unknown tolerance`)
	var b bytes.Buffer
	b.WriteString(`{"page":7,"hits":[`)
	for n := range items {
		if n > 0 {
			b.WriteByte(',')
		}
		id := uint32(n) * 2654435761
		from := b.Len()
		fmt.Fprintf(&b, `{"id":"%d","title":"%s","url":"https://example.test/articles/%x/index.html","author":"user_%d",`,
			id, strings.Join(words[n%16:n%16+8], " "), id, id%99991)
		fmt.Fprintf(&b, `"points":%d,"num_comments":%d,"score":%.3f,"created_at":"2024-05-17T10:20:30Z","created_at_i":%d,`,
			id%2000, id%500, float64(id%100000)/1000, 1715941230+n)
		fmt.Fprintf(&b, `"story_text":null,"deleted":false,"_tags":["story","author_%d","front_page"],`, id%99991)
		fmt.Fprintf(&b, `"user":{"login":"user_%d","id":%d,"type":"User","site_admin":false},"body":"`, id%99991, id%99991)
		for k := n; b.Len()-from < size-14; k++ {
			b.WriteString(words[k%len(words)] + " ")
		}
		b.WriteString(strings.Repeat(".", max(0, size-2-(b.Len()-from))) + `"}`)
	}
	b.WriteString(`],"nbHits":533692,"nbPages":5337,"has_more":true,"next":"https://example.test/items?page=8"}`)
	return b.Bytes()
}

func benchWant(tb testing.TB) *Want {
	return mustWant(tb, "hits", []string{"id"}, []string{"nbHits", "has_more", "next"})
}

func BenchmarkPage(b *testing.B) {
	body, want := benchPage(100, 638), benchWant(b)
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, body, "", "  "); err != nil {
		b.Fatal(err)
	}
	for name, body := range map[string][]byte{"compact": body, "pretty": pretty.Bytes()} {
		b.Run(name, func(b *testing.B) {
			var got Got
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if err := Page(body, want, &got); err != nil || len(got.Items) != 100 {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkValid(b *testing.B) {
	body := benchPage(100, 638)
	for name, valid := range map[string]func([]byte) bool{
		"jsonscan": func(b []byte) bool { return Validate(b) == nil },
		"gjson":    gjson.ValidBytes,
		"std":      json.Valid,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if !valid(body) {
					b.Fatal("not valid")
				}
			}
		})
	}
}

// BenchmarkGJSONWalk is what Page replaces: gjson's validity, then one walk over its root.
func BenchmarkGJSONWalk(b *testing.B) {
	body := benchPage(100, 638)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		items := 0
		if !gjson.ValidBytes(body) {
			b.Fatal("not valid")
		}
		gjson.ParseBytes(body).ForEach(func(key, v gjson.Result) bool {
			if key.Str == "hits" {
				v.ForEach(func(_, item gjson.Result) bool {
					if item.Get("id").Exists() {
						items++
					}
					return true
				})
			}
			return true
		})
		if items != 100 {
			b.Fatal(items)
		}
	}
}

func BenchmarkFind(b *testing.B) {
	body := benchPage(100, 638)
	p := mustPath(b, "nbHits")
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if v, err := p.Find(body); err != nil || !v.IsNumber() {
			b.Fatal(err)
		}
	}
}

func BenchmarkCanonical(b *testing.B) {
	item := []byte(gjson.GetBytes(benchPage(100, 638), "hits.3").Raw)
	for name, v := range map[string][]byte{"item": item, "text": []byte(`"objectID-1234567"`), "number": []byte(`9007199254740993`)} {
		b.Run(name, func(b *testing.B) {
			var dst []byte
			b.SetBytes(int64(len(v)))
			b.ReportAllocs()
			for b.Loop() {
				dst = AppendCanonical(dst[:0], v)
			}
		})
	}
}
