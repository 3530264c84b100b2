package jsonscan

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestValueTypes(t *testing.T) {
	for raw, want := range map[string]Type{
		``: TypeAbsent, `x`: TypeAbsent, `null`: TypeNull, `true`: TypeBool, `false`: TypeBool, `0`: TypeNumber, `-1`: TypeNumber,
		`""`: TypeString, `[]`: TypeArray, `{}`: TypeObject,
	} {
		v := ValueOf([]byte(raw))
		got := map[Type]bool{
			TypeAbsent: !v.Exists(), TypeNull: v.IsNull(), TypeBool: v.IsBool(), TypeNumber: v.IsNumber(),
			TypeString: v.IsString(), TypeArray: v.IsArray(), TypeObject: v.IsObject(),
		}
		for typ, is := range got {
			if is != (typ == want) {
				t.Errorf("ValueOf(%s) has type %v; is %v: %v", raw, v.Type, typ, is)
			}
		}
		if v.Bool() != (raw == "true") {
			t.Errorf("ValueOf(%s).Bool() = %v", raw, v.Bool())
		}
	}
}

func TestStr(t *testing.T) {
	for raw, want := range map[string]string{
		`"plain"`:              "plain",
		`""`:                   "",
		`"\"\\\/\b\f\n\r\t"`:   "\"\\/\b\f\n\r\t",
		`"\u00e9\uD83D\uDE00"`: "é😀",
		`"\ud800"`:             "\xed\xa0\x80",
		`"\udc00\ud800"`:       "\xed\xb0\x80\xed\xa0\x80",
		`"\ud800\ud83d\ude00"`: "\xed\xa0\x80😀",
		`"\ud800\u0041"`:       "\xed\xa0\x80A",
		`"\ufffd"`:             "\ufffd",
		"\"\xff\xc3\"":         "\xff\xc3",
		`12`:                   "",
		`null`:                 "",
		``:                     "",
		// Not valid, so nothing is promised, but nothing breaks.
		`"`:        "",
		`"\"`:      `\`,
		`"\u12"`:   `\u12`,
		`"\u12xy"`: `\u12xy`,
		`"\x"`:     `\x`,
	} {
		if got := ValueOf([]byte(raw)).Str(); got != want {
			t.Errorf("Str of %s = %q, want %q", raw, got, want)
		}
	}
}

func TestValueItems(t *testing.T) {
	for raw, want := range map[string]State{
		`[]`: Array, `[1 , {"a":[2]}]`: Array, `{}`: NotArray, `"[]"`: NotArray, `null`: Null, ``: Missing,
		`[1,`: Missing, `[1,]`: Missing, `[`: Missing, // not valid
	} {
		got, state := ValueOf([]byte(raw)).Items(make([]Span, 3))
		if state != want || state != Array && len(got) != 0 {
			t.Errorf("Items of %s = %v, %v, want %v", raw, got, state, want)
		}
	}
	got, _ := ValueOf([]byte(`[1 , {"a":[2]}]`)).Items(nil)
	if len(got) != 2 || got[0] != (Span{1, 2}) || got[1] != (Span{5, 14}) {
		t.Errorf("Items = %v", got)
	}
}

// Str is what encoding/json makes of a string, for every string that encoding/json doesn't replace parts of.
func TestStrAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.String().Draw(t, "text")
		var raw strings.Builder
		for _, r := range want {
			raw.WriteString(renderRune(t, r))
		}
		quoted := `"` + raw.String() + `"`
		var std string
		if err := json.Unmarshal([]byte(quoted), &std); err != nil || std != want {
			t.Fatalf("encoding/json reads %s as %q, %v", quoted, std, err)
		}
		if got := ValueOf([]byte(quoted)).Str(); got != want {
			t.Fatalf("Str of %s = %q, want %q", quoted, got, want)
		}
		if !means([]byte(raw.String()), want) || means([]byte(raw.String()), want+"x") || want != "" && means([]byte(raw.String()), want[1:]) {
			t.Fatalf("means disagrees about %s", quoted)
		}
	})
}

func TestInt64(t *testing.T) {
	nines := strings.Repeat("9", 30)
	tests := []struct {
		raw  string
		want int64
		ok   bool
	}{
		{`0`, 0, true}, {`-0`, 0, true}, {`0.000`, 0, true}, {`0e99999999999999999999999`, 0, true}, {`-0.0E-5`, 0, true},
		{`12`, 12, true}, {`12.0`, 12, true}, {`1.2e1`, 12, true}, {`1.2E+01`, 12, true}, {`120e-1`, 12, true}, {`-12.000`, -12, true},
		{`0.0012e4`, 12, true}, {`1000`, 1000, true}, {`1e18`, 1e18, true}, {`10000000000000000000e-1`, 1e18, true},
		{`9223372036854775807`, math.MaxInt64, true}, {`-9223372036854775808`, math.MinInt64, true},
		{`922337203685477580700e-2`, math.MaxInt64, true}, {`9223372036854775808`, 0, false}, {`-9223372036854775809`, 0, false},
		{`9007199254740993`, 9007199254740993, true}, {`1e19`, 0, false}, {`-1e19`, 0, false}, {nines, 0, false},
		{`0.5`, 0, false}, {`1.2`, 0, false}, {`12e-1`, 0, false}, {`1e-1`, 0, false}, {`1e999999999`, 0, false},
		{`1e-` + nines, 0, false}, {`1e` + nines, 0, false}, {`0e` + nines, 0, true}, {`1e000` + `1`, 10, true},
		{`"12"`, 0, false}, {`true`, 0, false}, {`null`, 0, false}, {``, 0, false}, {`1x`, 0, false}, {`-`, 0, false},
	}
	for _, test := range tests {
		got, ok := ValueOf([]byte(test.raw)).Int64()
		if ok != test.ok || ok && got != test.want {
			t.Errorf("Int64 of %s = %d, %v, want %d, %v", test.raw, got, ok, test.want, test.ok)
		}
		if test.raw == "" || test.raw[0] == '"' {
			continue
		}
		got, ok = ValueOf([]byte(`"` + test.raw + `"`)).IntText()
		if ok != test.ok || ok && got != test.want {
			t.Errorf("IntText of %q = %d, %v, want %d, %v", test.raw, got, ok, test.want, test.ok)
		}
	}
	for raw, want := range map[string]bool{`"\u0031\u0032"`: true, `12`: false, `""`: false, `" 12"`: false, `"12 "`: false,
		`"+12"`: false, `"012"`: false, `"1,200"`: false, `"0x1f"`: false, `["12"]`: false, `"10000+"`: false} {
		if got, ok := ValueOf([]byte(raw)).IntText(); ok != want || ok && got != 12 {
			t.Errorf("IntText of %s = %d, %v, want ok %v", raw, got, ok, want)
		}
	}
}

// Int64 and the canonical form are right for every spelling of a number: big.Rat is the judge.
func TestNumbersAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.StringMatching(`-?(0|[1-9][0-9]{0,22})(\.[0-9]{1,22})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "number")
		want, ok := new(big.Rat).SetString(raw)
		if !ok {
			t.Fatalf("big.Rat refuses %s", raw)
		}
		exact := want.IsInt() && want.Num().IsInt64()
		n, ok := ValueOf([]byte(raw)).Int64()
		if ok != exact || ok && n != want.Num().Int64() {
			t.Fatalf("Int64 of %s = %d, %v, want %v", raw, n, ok, want)
		}
		canon := string(AppendCanonical(nil, []byte(raw)))
		if back, ok := new(big.Rat).SetString(canon); !ok || back.Cmp(want) != 0 {
			t.Fatalf("the canonical form of %s is %s", raw, canon)
		}
	})
}

func TestMembers(t *testing.T) {
	for raw, want := range map[string]string{
		`{}`:                                  "|true",
		`{"a":1,"\u0062" : [2, 3] ,"a":null}`: `"a"=1 "\u0062"=[2, 3] "a"=null |true`,
		`{"":{"x":"}"}}`:                      `""={"x":"}"} |true`,
		`[1]`:                                 "|false",
		`7`:                                   "|false",
		`{"a":1`:                              `"a"=1 |false`,
		`{"a":1} x`:                           `"a"=1 |false`,
		`{"a" 1}`:                             "|false",
	} {
		var got strings.Builder
		ok := ValueOf([]byte(raw)).Members(func(key, value Value) {
			if key.Type != TypeString || value.Type != ValueOf(value.Raw).Type {
				t.Errorf("%s: types %v and %v", raw, key.Type, value.Type)
			}
			got.WriteString(string(key.Raw) + "=" + string(value.Raw) + " ")
		})
		if text := fmt.Sprintf("%s|%v", got.String(), ok); text != want {
			t.Errorf("%s: %s, want %s", raw, text, want)
		}
	}
}
