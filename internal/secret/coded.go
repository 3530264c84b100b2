package secret

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// codings is how often a secret may be escaped on top of itself: an address within
// an address within a page.
const codings = 3

// coded finds values that stand in text in percent escapes, character references or
// JSON's escapes, of any mixture and several times over, as they do where a server puts
// the address that it was asked into another one.
func coded(forms []form, text string) []span {
	if len(forms) == 0 || !strings.ContainsAny(text, `%&\`) {
		return nil
	}
	plain, at := text, positions(len(text))
	var spans []span
	for range codings {
		next, from := decode(plain)
		if next == plain {
			break
		}
		for i := range from {
			from[i] = at[from[i]]
		}
		plain, at = next, from
		for _, s := range find(forms, plain) {
			spans = append(spans, span{at[s.from], at[s.to], s.form})
		}
	}
	return sorted(spans)
}

func positions(n int) []int {
	at := make([]int, n+1)
	for i := range at {
		at[i] = i
	}
	return at
}

// decode undoes each escape of a text once; what is none stays. at tells for each
// byte, and for the end, where it stood.
func decode(text string) (plain string, at []int) {
	var b strings.Builder
	put := func(s string, from int) {
		b.WriteString(s)
		for range len(s) {
			at = append(at, from)
		}
	}
	for i := 0; i < len(text); {
		switch n := 0; text[i] {
		case '\\':
			c, n := unbackslash(text[i:])
			put(c, i)
			i += n
		case '%':
			if i+2 < len(text) {
				if c, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
					put(string([]byte{byte(c)}), i)
					i += 3
					continue
				}
			}
			put("%", i)
			i++
		case '&':
			if n = strings.IndexByte(text[i:min(len(text), i+12)], ';'); n > 1 {
				if c := html.UnescapeString(text[i : i+n+1]); c != text[i:i+n+1] {
					put(c, i)
					i += n + 1
					continue
				}
			}
			put("&", i)
			i++
		default:
			put(text[i:i+1], i)
			i++
		}
	}
	return b.String(), append(at, len(text))
}

// unbackslash undoes the escape of JSON that text begins with, and gives how long it is. A
// backslash that begins none stays.
func unbackslash(text string) (plain string, n int) {
	if len(text) < 2 {
		return text, len(text)
	}
	if i := strings.IndexByte(`"\/bfnrt`, text[1]); i >= 0 {
		return "\"\\/\b\f\n\r\t"[i : i+1], 2
	}
	r, ok := unit(text)
	if !ok {
		return text[:1], 1
	}
	if low, ok := unit(text[6:]); ok && utf16.IsSurrogate(r) {
		if whole := utf16.DecodeRune(r, low); whole != utf8.RuneError {
			return string(whole), 12
		}
	}
	return string(r), 6
}

// unit reads a \uXXXX.
func unit(text string) (r rune, ok bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' && text[1] != 'U' {
		return 0, false
	}
	n, err := strconv.ParseUint(text[2:6], 16, 16)
	return rune(n), err == nil
}
