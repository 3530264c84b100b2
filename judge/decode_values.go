package judge

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// decodeInto reads a value that is valid JSON and not null into one of the
// types of a snapshot.
func decodeInto(raw json.RawMessage, path string, into any) *FieldError {
	switch into := into.(type) {
	case *Count:
		return decodeCount(raw, path, into)
	case itemCount:
		return decodeItems(raw, path, into.Count)
	case *Claim:
		return decodeClaim(raw, path, into)
	case *Text:
		into.OK = true
		return decodeString(raw, path, &into.S)
	case *string:
		return decodeString(raw, path, into)
	case *TotalKind:
		return decodeTotalKind(raw, path, into)
	case *map[string][]string:
		return decodeHeaders(raw, path, into)
	default:
		return &FieldError{path, fmt.Sprintf("cannot be read into %T", into)}
	}
}

// null reports whether raw is the JSON null.
func null(raw json.RawMessage) bool { return string(raw) == "null" }

// typeOf names the type of a JSON value, with its article.
func typeOf(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	default:
		return "a number"
	}
}

// wrong says that raw has the wrong type.
func wrong(path, want string, raw json.RawMessage) *FieldError {
	return &FieldError{path, "must be " + want + ", not " + typeOf(raw)}
}

func decodeString(raw json.RawMessage, path string, into *string) *FieldError {
	if typeOf(raw) != "a string" || json.Unmarshal(raw, into) != nil {
		return wrong(path, "a string", raw)
	}
	return nil
}

func decodeClaim(raw json.RawMessage, path string, into *Claim) *FieldError {
	var b bool
	if typeOf(raw) != "a boolean" || json.Unmarshal(raw, &b) != nil {
		return wrong(path, "true or false", raw)
	}
	*into = Said(b)
	return nil
}

func decodeKind(raw json.RawMessage, path string, into *Kind) *FieldError {
	if null(raw) {
		return nil
	}
	var k string
	if problem := decodeString(raw, path, &k); problem != nil {
		return problem
	}
	switch Kind(k) {
	case KindList, KindHTTP, KindFile, KindTool:
		*into = Kind(k)
		return nil
	}
	return &FieldError{path, "must be list, http, file or tool, not " + quote(k)}
}

func decodeTotalKind(raw json.RawMessage, path string, into *TotalKind) *FieldError {
	var k string
	if problem := decodeString(raw, path, &k); problem != nil {
		return problem
	}
	switch TotalKind(k) {
	case Exact, Estimate, LowerBound:
		*into = TotalKind(k)
		return nil
	}
	return &FieldError{path, "must be exact, estimate or lower_bound, not " + quote(k)}
}

func decodeItems(raw json.RawMessage, path string, into *Count) *FieldError {
	switch typeOf(raw) {
	case "a number":
		return decodeCount(raw, path, into)
	case "an array":
		var elements []json.RawMessage
		if json.Unmarshal(raw, &elements) == nil {
			*into = N(int64(len(elements)))
			return nil
		}
	}
	return wrong(path, "an integer or an array", raw)
}

func decodeHeaders(raw json.RawMessage, path string, into *map[string][]string) *FieldError {
	members, problem := object(raw, path)
	if problem != nil {
		return problem
	}
	headers := make(map[string][]string, len(members))
	for _, m := range members {
		if null(m.raw) {
			continue
		}
		values, problem := decodeHeader(m.raw, join(path, m.name))
		if problem != nil {
			return problem
		}
		headers[m.name] = values
	}
	*into = headers
	return nil
}

func decodeHeader(raw json.RawMessage, path string) ([]string, *FieldError) {
	elements, at := []json.RawMessage{raw}, func(int) string { return path }
	switch typeOf(raw) {
	case "a string":
	case "an array":
		if err := json.Unmarshal(raw, &elements); err != nil {
			return nil, &FieldError{path, err.Error()}
		}
		at = func(i int) string { return index(path, i) }
	default:
		return nil, wrong(path, "a string or an array of strings", raw)
	}
	values := make([]string, len(elements))
	for i, e := range elements {
		if problem := decodeString(e, at(i), &values[i]); problem != nil {
			return nil, problem
		}
	}
	return values, nil
}

func decodeCount(raw json.RawMessage, path string, into *Count) *FieldError {
	if typeOf(raw) != "a number" {
		return wrong(path, "an integer", raw)
	}
	n, problem := integer(string(raw))
	if problem != "" {
		return &FieldError{path, problem}
	}
	*into = N(n)
	return nil
}

// integer reads a JSON number whose value is an integer that is not negative
// and fits into 64 bits. It is exact for every way to write one.
func integer(number string) (n int64, problem string) {
	digits, negative := strings.CutPrefix(number, "-")
	digits, exponent := splitExponent(digits)
	whole, fraction, _ := strings.Cut(digits, ".")
	digits = strings.TrimLeft(whole+fraction, "0")
	trimmed := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(trimmed) - len(fraction)
	switch {
	case trimmed == "":
		return 0, ""
	case exponent < 0:
		return 0, "must be an integer, not " + brief(number)
	case negative:
		return 0, "must not be negative, as " + brief(number) + " is"
	case len(trimmed)+exponent <= len("9223372036854775807"):
		if n, err := strconv.ParseInt(trimmed+strings.Repeat("0", exponent), 10, 64); err == nil {
			return n, ""
		}
	}
	return 0, "does not fit into 64 bits: " + brief(number)
}

// brief keeps a number of absurd length out of a message.
func brief(number string) string {
	if len(number) <= 40 {
		return number
	}
	return number[:40] + "…"
}

// splitExponent cuts the exponent off a number. One that is beyond all sense
// stays so far out that the result cannot fit, or cannot be an integer.
func splitExponent(number string) (mantissa string, exponent int) {
	at := strings.IndexAny(number, "eE")
	if at < 0 {
		return number, 0
	}
	exponent, err := strconv.Atoi(number[at+1:])
	if err != nil || exponent > math.MaxInt32 || exponent < math.MinInt32 {
		exponent = math.MaxInt32
		if number[at+1] == '-' {
			exponent = math.MinInt32
		}
	}
	return number[:at], exponent
}

// unknown says that a name is none, and which one may have been meant.
func unknown(path, name string, names []string) *FieldError {
	problem := "unknown field"
	best, distance := "", 3 // farther than two changes is another word
	for _, n := range names {
		if fold(n) == fold(name) {
			best = n
			break
		}
		if d := edits(fold(name), fold(n)); d < distance && d < len(n)/2+1 {
			best, distance = n, d
		}
	}
	if best != "" {
		problem += "; did you mean " + best + "?"
	}
	return &FieldError{path, problem}
}

// fold makes hasMore, has-more and HAS_MORE one.
func fold(name string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
}

// edits is the Levenshtein distance of two short names, giving up beyond 40
// characters.
func edits(a, b string) int {
	if len(a) > 40 || len(b) > 40 {
		return 40
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
