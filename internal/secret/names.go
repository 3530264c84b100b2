package secret

import (
	"slices"
	"strings"
	"unicode"
)

// The last words of names that hold secrets.
var secretWords = wordSet(`access_token token key apikey secret password passwd pwd pass passphrase sig signature
	auth oauth authorization credential credentials session sas cookie jwt bearer hmac pat sid`)

// Words that hold secrets also where others are written before them without a border.
var secretEnds = strings.Fields(`token apikey accesskey secretkey authkey secret password passwd passphrase signature
	credential credentials authorization sessionid cookie`)

// Words before "token" that make it a position, and no credential.
var pagingWords = wordSet(`page next prev previous continuation continue pagination paging skip sync delta change
	resumption resume scroll cursor start starting after before last list marker iterator stream`)

// Words before "key" that make it a name of a field or a position.
var fieldWords = wordSet(`sort order orderby by page group partition primary foreign row start end last first next prev
	previous evaluated public issue project object item range cursor after before`)

// Sensitive reports whether a header or parameter of this name holds a secret:
// token, api_key, X-Amz-Signature, sessionId and the like, in any case, also
// behind other words. Names of positions (page_token, nextToken, $skiptoken,
// cursor, sort_key) do not.
func Sensitive(name string) bool {
	words := split(name)
	if len(words) == 0 {
		return false
	}
	last, before := words[len(words)-1], ""
	if len(words) > 1 {
		before = words[len(words)-2]
	}
	switch {
	case last == "token":
		return !pagingWords[before]
	case last == "key":
		return !fieldWords[before]
	case last == "id":
		return before == "session" || before == "key" && len(words) > 2 && words[len(words)-3] == "access"
	case secretWords[last]:
		return true
	}
	return slices.ContainsFunc(secretEnds, func(end string) bool {
		rest, ok := strings.CutSuffix(last, end)
		return ok && (end != "token" || !endsInPaging(rest))
	})
}

// endsInPaging reports whether a word written together ends like nextpage.
func endsInPaging(rest string) bool {
	for w := range pagingWords {
		if strings.HasSuffix(rest, w) {
			return true
		}
	}
	return false
}

// SensitiveVariable reports whether an environment variable of this name holds
// a secret. It says yes more easily than Sensitive: GITHUB_TOKEN_RO is one.
func SensitiveVariable(name string) bool {
	return Sensitive(name) || slices.ContainsFunc(split(name), func(w string) bool {
		switch w {
		case "token", "secret", "password", "passwd", "pwd", "apikey", "credential", "credentials", "bearer", "passphrase", "pat",
			"pass", "passcode", "pw", "pin", "tok", "jwt":
			return true
		}
		return false
	})
}

// split returns the words of a name in lower case. They end at what is no
// letter or digit, and where camel case begins another.
func split(name string) []string {
	var words []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
			word = word[:0]
		}
	}
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			continue
		case i > 0 && unicode.IsUpper(r) && startsWord(runes, i):
			flush()
		}
		word = append(word, r)
	}
	flush()
	return words
}

// startsWord reports whether the capital at i begins a word: it follows a
// small letter or digit, or is the last of a row of capitals before a small
// letter.
func startsWord(runes []rune, i int) bool {
	if !unicode.IsUpper(runes[i-1]) {
		return true
	}
	return i+1 < len(runes) && unicode.IsLower(runes[i+1])
}

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}
