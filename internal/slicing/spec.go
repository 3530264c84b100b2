package slicing

// A Spec says how a source that hands out less than it has is cut.
type Spec struct {
	// Keys cut it, the first one first; Wholes are the ranges asked for.
	Keys   []*Key
	Wholes []Range
	// ToNow: the first range ends at the start of the run, and what lies beyond
	// it came later.
	ToNow bool
	// Without asks for the items that lack the first key.
	Without []Set
	// Reach is the most items that one slice hands out; 0: to be found out.
	Reach int64
	// Recalled says, in words, where Reach comes from if an earlier run met it: it
	// then only cuts early what declares more. "": it is sure.
	Recalled string
	// RangeOnly: only the range is asked for, not all that the source has.
	RangeOnly bool
}
