package secret

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf16"
)

// formsOf returns the forms that a value takes in texts. The order is fixed:
// a sealed text names a form by its place.
func formsOf(v string) []string {
	query := url.QueryEscape(v)
	spaced := strings.ReplaceAll(query, "+", "%20")
	path := url.PathEscape(v)
	plain := jsonEscape(v, false)
	return []string{
		v, query, spaced, path, lowerHex(query), lowerHex(spaced), lowerHex(path),
		(&url.URL{Path: v}).EscapedPath(), plain, jsonEscape(v, true),
		strings.ReplaceAll(plain, "/", `\/`), ascii(plain), ascii(strings.ReplaceAll(plain, "/", `\/`)),
	}
}

// basicForms returns what a basic pair looks like in a header, with and
// without padding, and escaped.
func basicForms(pair string) []string {
	std := base64.StdEncoding.EncodeToString([]byte(pair))
	return []string{
		std, strings.TrimRight(std, "="), url.QueryEscape(std), lowerHex(url.QueryEscape(std)),
		base64.URLEncoding.EncodeToString([]byte(pair)), base64.RawURLEncoding.EncodeToString([]byte(pair)),
	}
}

var hexEscape = regexp.MustCompile(`%[0-9A-F]{2}`)

// lowerHex writes percent escapes in lower case, as some servers do.
func lowerHex(s string) string { return hexEscape.ReplaceAllStringFunc(s, strings.ToLower) }

// jsonEscape returns v as it stands inside a JSON string.
func jsonEscape(v string, html bool) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(html)
	if err := enc.Encode(v); err != nil {
		return ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(b.String(), `"`), "\"\n")
}

// ascii writes what is not ASCII as \u escapes.
func ascii(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r > 0xFFFF:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
