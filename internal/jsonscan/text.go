package jsonscan

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape decodes the escape whose backslash is at raw[i] and returns its code point and the index after it. A surrogate
// without its partner comes back as itself. An escape that is none is a backslash.
func unescape(raw []byte, i int) (rune, int) {
	if i+1 >= len(raw) {
		return '\\', i + 1
	}
	switch c := raw[i+1]; c {
	case 'b':
		return '\b', i + 2
	case 'f':
		return '\f', i + 2
	case 'n':
		return '\n', i + 2
	case 'r':
		return '\r', i + 2
	case 't':
		return '\t', i + 2
	case 'u':
		return unescapeHex(raw, i)
	case '"', '\\', '/':
		return rune(c), i + 2
	default:
		return '\\', i + 1
	}
}

// unescapeHex decodes a \u escape at raw[i], or two that are a surrogate pair.
func unescapeHex(raw []byte, i int) (rune, int) {
	hi, ok := codeUnit(raw, i)
	if !ok {
		return '\\', i + 1
	}
	if utf16.IsSurrogate(hi) {
		if lo, ok := codeUnit(raw, i+6); ok {
			if r := utf16.DecodeRune(hi, lo); r != utf8.RuneError {
				return r, i + 12
			}
		}
	}
	return hi, i + 6
}

// codeUnit returns the value of the escape \uXXXX at raw[i], if there is one.
func codeUnit(raw []byte, i int) (rune, bool) {
	if i+6 > len(raw) || raw[i] != '\\' || raw[i+1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range raw[i+2 : i+6] {
		switch {
		case isDigit(c):
			r = r<<4 | rune(c-'0')
		case isHex(c):
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// appendRune appends r as UTF-8, and a lone surrogate by the same scheme (WTF-8), so that no two runes look alike.
func appendRune(dst []byte, r rune) []byte {
	if utf16.IsSurrogate(r) {
		return append(dst, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
	}
	return utf8.AppendRune(dst, r)
}

// appendText appends what the inside of a JSON string means. Bytes that are no escape are kept as they are.
func appendText(dst, raw []byte) []byte {
	for {
		n := bytes.IndexByte(raw, '\\')
		if n < 0 {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:n]...)
		r, end := unescape(raw, n)
		dst, raw = appendRune(dst, r), raw[end:]
	}
}

// means reports whether raw, the inside of a JSON string, decodes to want. It allocates nothing.
func means(raw []byte, want string) bool {
	var enc [utf8.UTFMax]byte
	for i := 0; i < len(raw); {
		one := raw[i : i+1]
		if raw[i] == '\\' {
			var r rune
			r, i = unescape(raw, i)
			one = appendRune(enc[:0], r)
		} else {
			i++
		}
		if len(want) < len(one) || want[:len(one)] != string(one) {
			return false
		}
		want = want[len(one):]
	}
	return want == ""
}

// matches reports whether a raw key, with escapes in it if esc is set, is want.
func matches(raw []byte, esc bool, want string) bool {
	if !esc {
		return string(raw) == want
	}
	return means(raw, want)
}
