package jsonscan

import (
	"bytes"
	"testing"
)

func TestMerge(t *testing.T) {
	for _, tc := range []struct {
		a, b, want string
		clashes    int
	}{
		{`{"id":1}`, `{"id":1}`, `{"id":1}`, 0},
		{`{"id":1, "a":[1]}`, ` {"b":2,"id":1e0 ,"a":[2, {"c":3}]}`, `{"id":1,"a":[1,2,{"c":3}],"b":2}`, 0},
		{`{"o":{"a":1,"b":{"c":[]}}}`, `{"o":{"b":{"c":[1],"d":null},"e":2}}`, `{"o":{"a":1,"b":{"c":[1],"d":null},"e":2}}`, 0},
		{`{"a":null,"b":1}`, `{"a":[1],"b":null}`, `{"a":[1],"b":1}`, 0},
		{`{"a":1,"b":"x","c":true}`, `{"a":2,"b":"x","c":false}`, `{"a":1,"b":"x","c":true}`, 2},
		{`{"a":[1]}`, `{"a":{"0":1}}`, `{"a":[1]}`, 1},
		{`{"a":{}}`, `{"a":1}`, `{"a":{}}`, 1},
		{`{"a":1}`, `{"\u0061":1.0}`, `{"a":1}`, 0},
		{`{"a\"b":[1]}`, `{"a\u0022b":[2]}`, `{"a\"b":[1,2]}`, 0},
		{`{}`, `{"a":1}`, `{"a":1}`, 0},
		{`{"a":1}`, `{}`, `{"a":1}`, 0},
		{`{"a":[]}`, `{"a":[]}`, `{"a":[]}`, 0},
		{`{"n":9007199254740993}`, `{"n":9007199254740992}`, `{"n":9007199254740993}`, 1},
		{`{}`, `{"a":1,"a":2}`, `{"a":1}`, 1},
		{`1`, `1.0`, `1`, 0},
		{`1`, `"1"`, `1`, 1},
		{`null`, `"1"`, `"1"`, 0},
		{`[1]`, `[[2]]`, `[1,[2]]`, 0},
	} {
		got, clashes := Merge([]byte("x"), []byte(tc.a), []byte(tc.b))
		if string(got) != "x"+tc.want || clashes != tc.clashes {
			t.Errorf("Merge(%s, %s) = %s, %d; want %s, %d", tc.a, tc.b, got[1:], clashes, tc.want, tc.clashes)
		}
	}
}

// FuzzMerge: two valid values make a valid one, a value merged with what adds
// nothing stays what it was, and neither part is changed.
func FuzzMerge(f *testing.F) {
	for _, seed := range []string{`{"a":[1],"b":{"c":null}}`, `{"a":[2],"b":{"c":1,"d":"\u0061"}}`, `[1,2]`, `null`, `{"a":1,"a":2}`} {
		f.Add([]byte(seed), []byte(`{"a":[{"x":1}],"b":3}`))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if Validate(a) != nil || Validate(b) != nil {
			return
		}
		wasA, wasB := bytes.Clone(a), bytes.Clone(b)
		got, clashes := Merge(nil, a, b)
		if bad := Validate(got); bad != nil || clashes < 0 {
			t.Fatalf("Merge(%s, %s) = %s: %v", a, b, got, bad)
		}
		if !bytes.Equal(a, wasA) || !bytes.Equal(b, wasB) {
			t.Fatalf("Merge changed its parts: %s, %s", a, b)
		}
		if same, n := Merge(nil, a, []byte("null")); n != 0 || !bytes.Equal(AppendCanonical(nil, same), AppendCanonical(nil, a)) {
			t.Fatalf("%s merged with null is %s, %d", a, same, n)
		}
	})
}
