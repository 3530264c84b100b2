package adapters

import "math"

// The arithmetic of page numbers. A server cuts the set into pages of one size;
// when the size changes, the cuts move, and a number that is kept skips rows
// or repeats them. All of it is pure and saturates instead of overflowing.

// numberAt returns the number, from 0, of the page of a size that a request
// for the position must ask for: the position's own where the size is its own
// (or there is none), else that of the page in which the first row lies that
// is not held.
func numberAt(at Position, size int) int64 {
	if size <= 0 || size == at.Size {
		return max(at.Number, 0)
	}
	return max(at.Offset, 0) / int64(size)
}

// startAt returns how many rows stand at least before page number of a size.
// Where the server clamped the size, its pages begin earlier than number*size,
// and the position's offset says how early.
func startAt(at Position, number int64, size int) int64 {
	if size <= 0 {
		return max(at.Offset, 0)
	}
	return min(mulSat(number, int64(size)), max(at.Offset, 0))
}

// afterPage returns the position behind page number of a size, of which
// received rows came and which begins at row start. Where fewer came than
// were asked for, the server may have clamped the size, and with it its whole
// grid: then only so many rows stand before the next page as pages of what
// came would hold. Where more came, what is too much may have been put into
// every page. Rows that stood before at stay held.
func afterPage(at Position, number int64, size int, start, received int64) Position {
	next := addSat(start, min(received, int64(size)))
	if received < int64(size) {
		next = min(next, mulSat(addSat(number, 1), received))
	}
	return Position{Number: addSat(number, 1), Size: size, Offset: max(next, at.Offset)}
}

// overlapPage chooses the page that begins at least overlap rows before offset
// and reaches furthest past it: its size lies between half of size (and least)
// and size. ok is false where no such page gets past offset.
func overlapPage(offset int64, overlap, size, least int) (s int, number int64, ok bool) {
	var best int64
	from := max(offset-int64(overlap), 0)
	for try := size; try >= max(least, size/2, 1); try-- {
		n := from / int64(try)
		if gain := (n+1)*int64(try) - offset; gain > best {
			s, number, best = try, n, gain
		}
	}
	return s, number, best > 0
}

// addSat adds two numbers that are not negative, stopping at the largest.
func addSat(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// mulSat multiplies two numbers that are not negative, stopping at the largest.
func mulSat(a, b int64) int64 {
	if a != 0 && b > math.MaxInt64/a {
		return math.MaxInt64
	}
	return a * b
}
