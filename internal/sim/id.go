package sim

import "strconv"

// IDKind is how an item's id is written on the wire.
type IDKind uint8

// The id kinds. Ids of different kinds with the same number are different
// items: 1 and "1" differ.
const (
	// IntID is a JSON integer: 17.
	IntID IDKind = iota
	// TextID is the same digits as a JSON string: "17".
	TextID
	// SlugID is a padded name that sorts as its number does: "item-0000000017".
	SlugID
	// BigID is an integer just above 2^53, where neighbours collapse in a
	// float64.
	BigID
	// HugeID is an integer that fits no 64-bit type.
	HugeID
	// NullID is a null at the id path; the content is the identity.
	NullID
	// NoID leaves the id out; the content is the identity.
	NoID
)

// bigBase is 2^53: above it not every integer is a float64.
const bigBase = int64(1) << 53

// ID is an item's typed identity. The zero ID is the integer 0.
type ID struct {
	Kind IDKind
	N    int64
}

// named reports whether the id itself tells items apart.
func (id ID) named() bool { return id.Kind != NullID && id.Kind != NoID }

// String is the id as its JSON text; "" for an item without one.
func (id ID) String() string {
	if id.Kind == NoID {
		return ""
	}
	return string(id.appendJSON(nil))
}

// appendJSON writes the id as JSON; nothing for NoID.
func (id ID) appendJSON(b []byte) []byte {
	switch id.Kind {
	case IntID:
		return strconv.AppendInt(b, id.N, 10)
	case TextID:
		return append(strconv.AppendInt(append(b, '"'), id.N, 10), '"')
	case SlugID:
		return append(id.appendText(append(b, '"')), '"')
	case BigID:
		return strconv.AppendInt(b, bigBase+id.N, 10)
	case HugeID:
		return appendPadded(append(b, "18446744073709"...), id.N, 12)
	case NullID:
		return append(b, "null"...)
	default:
		return b
	}
}

// appendText writes the id as it stands in a URL parameter.
func (id ID) appendText(b []byte) []byte {
	switch id.Kind {
	case SlugID:
		return appendPadded(append(b, "item-"...), id.N, 10)
	case TextID:
		return strconv.AppendInt(b, id.N, 10)
	default:
		return id.appendJSON(b)
	}
}

// appendPadded writes n in decimal with at least width digits.
func appendPadded(b []byte, n int64, width int) []byte {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits); i < width; i++ {
		b = append(b, '0')
	}
	return append(b, digits...)
}
