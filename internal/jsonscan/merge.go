package jsonscan

import "bytes"

// Merge appends to dst the value that two valid values are parts of, and counts
// where they contradict each other; there a stands. Objects are merged member by
// member, those of a first; the elements of two arrays follow each other; a null
// gives way to anything; and equal values are one. What is taken over stays as it
// is written.
func Merge(dst, a, b []byte) (merged []byte, clashes int) {
	a, b = bytes.TrimSpace(a), bytes.TrimSpace(b)
	va, vb := ValueOf(a), ValueOf(b)
	switch {
	case va.IsObject() && vb.IsObject():
		return mergeObjects(dst, a, b)
	case va.IsArray() && vb.IsArray():
		return mergeArrays(dst, a, b), 0
	case va.IsNull():
		return append(dst, b...), 0
	case vb.IsNull() || bytes.Equal(AppendCanonical(nil, a), AppendCanonical(nil, b)):
		return append(dst, a...), 0
	}
	return append(dst, a...), 1
}

// A member is one of an object's, or an element of an array.
type member struct{ key, value []byte }

func membersOf(b []byte) []member {
	var all []member
	s := scanner{b: b}
	for c := s.cursor(0, 0); c.next(); {
		all = append(all, member{c.key, c.val.In(b)})
	}
	return all
}

func mergeArrays(dst, a, b []byte) []byte {
	dst = append(dst, '[')
	for i, m := range append(membersOf(a), membersOf(b)...) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, m.value...)
	}
	return append(dst, ']')
}

func mergeObjects(dst, a, b []byte) (merged []byte, clashes int) {
	all := membersOf(a)
	at := make(map[string]int, len(all))
	for i, m := range all {
		at[string(appendText(nil, m.key))] = i
	}
	for _, m := range membersOf(b) {
		key := string(appendText(nil, m.key))
		i, had := at[key]
		if !had {
			at[key] = len(all)
			all = append(all, m)
			continue
		}
		value, n := Merge(nil, all[i].value, m.value)
		all[i].value = value
		clashes += n
	}
	dst = append(dst, '{')
	for i, m := range all {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), m.key...), `":`...)
		dst = append(dst, m.value...)
	}
	return append(dst, '}'), clashes
}
