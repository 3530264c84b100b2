package secret

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// sealable is the length from which a secret can be sealed. A shorter one may
// stand in a text by chance, and its check would give too much of it away.
const sealable = 8

// opening and closing enclose a placeholder: ⟦S3.0.beef⟧ is the secret in place
// 3 in its form 0, with its check. They may stand inside a JSON string, and
// never stand in a URL.
const opening, closing = "⟦", "⟧"

// tagOf is a check of 16 bits: enough to notice that another secret stands in
// the place, far too little to find a secret by.
func tagOf(place int, value string) string {
	mac := hmac.New(sha256.New, []byte("lastdrop seal "+strconv.Itoa(place)))
	mac.Write([]byte(value))
	return hex.EncodeToString(mac.Sum(nil)[:2])
}

// Seal returns text with each secret replaced by a placeholder that a Set with
// the same secrets in the same order turns back with Unseal, byte by byte. A
// text without secrets stays as it is. It returns false where that cannot be:
// text holds a secret shorter than 8 bytes, or secrets that overlap, or the
// brackets of placeholders. The text returned with false is Hide's: it is safe
// to store too, but is no position to go on from. Valid JSON stays valid.
func (s *Set) Seal(text string) (string, bool) {
	if strings.ContainsAny(text, opening+closing) {
		return s.Hide(text), false
	}
	forms := s.known()
	spans := find(forms, text)
	var b strings.Builder
	done := 0
	for _, sp := range spans {
		if sp.to <= done {
			continue // inside the one before
		}
		f := forms[sp.form]
		tag, ok := s.tag(f.slot)
		if !ok || sp.from < done {
			return s.Hide(text), false
		}
		b.WriteString(text[done:sp.from])
		b.WriteString(opening + "S" + strconv.Itoa(f.slot) + "." + strconv.Itoa(f.kind) + "." + tag + closing)
		done = sp.to
	}
	b.WriteString(text[done:])
	if s.Has(b.String()) {
		return s.Hide(text), false
	}
	return b.String(), true
}

// tag returns the check of a place, and whether its secret may be sealed.
func (s *Set) tag(place int) (string, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.slots[place].tag, s.slots[place].long
}

// Unseal undoes Seal. It returns false, and no text, where a placeholder names
// a secret that this set does not hold in that place.
func (s *Set) Unseal(text string) (string, bool) {
	var b strings.Builder
	for {
		plain, rest, found := strings.Cut(text, opening)
		b.WriteString(plain)
		if strings.Contains(plain, closing) {
			return "", false
		}
		if !found {
			return b.String(), true
		}
		placeholder, after, closed := strings.Cut(rest, closing)
		secret, ok := s.unseal(placeholder)
		if !closed || !ok {
			return "", false
		}
		b.WriteString(secret)
		text = after
	}
}

// SealedValue reports whether a parameter's value is a placeholder of Seal,
// which is no secret any more.
func SealedValue(value string) bool {
	return strings.HasPrefix(value, opening) && strings.HasSuffix(value, closing) && strings.Count(value, opening) == 1
}

// unseal reads one placeholder without its brackets.
func (s *Set) unseal(placeholder string) (string, bool) {
	fields := strings.Split(strings.TrimPrefix(placeholder, "S"), ".")
	if s == nil || !strings.HasPrefix(placeholder, "S") || len(fields) != 3 {
		return "", false
	}
	place, err1 := strconv.Atoi(fields[0])
	kind, err2 := strconv.Atoi(fields[1])
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err1 != nil || err2 != nil || place < 0 || place >= len(s.slots) {
		return "", false
	}
	sl := s.slots[place]
	if kind < 0 || kind >= len(sl.forms) || sl.tag != fields[2] {
		return "", false
	}
	return sl.forms[kind], true
}
