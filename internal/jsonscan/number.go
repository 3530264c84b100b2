package jsonscan

import (
	"bytes"
	"strconv"
)

// decimal is a number taken apart without loss: head and tail are its significant digits, one after the other, with no
// zero at either end, and the last of them counts 10^(shift+exp). Zero has no digits.
type decimal struct {
	neg        bool
	head, tail []byte
	shift      int64
	expNeg     bool
	exp        []byte // the written exponent's digits, without leading zeros
}

// takeApart returns the parts of raw, a valid number.
func takeApart(raw []byte) (d decimal) {
	if d.neg = raw[0] == '-'; d.neg {
		raw = raw[1:]
	}
	e := bytes.IndexByte(raw, 'e')
	if e < 0 {
		e = bytes.IndexByte(raw, 'E')
	}
	if e >= 0 {
		d.exp, raw = raw[e+1:], raw[:e]
		d.expNeg = d.exp[0] == '-'
		d.exp = trimZeros(bytes.TrimLeft(d.exp, "+-"))
	}
	d.head = raw
	if dot := bytes.IndexByte(raw, '.'); dot >= 0 {
		d.head, d.tail = raw[:dot], cutZeros(raw[dot+1:])
		d.shift = -int64(len(d.tail))
	}
	d.head = trimZeros(d.head)
	if len(d.head) == 0 {
		d.tail = trimZeros(d.tail)
	}
	if len(d.tail) == 0 {
		n := len(d.head)
		d.head = cutZeros(d.head)
		d.shift = int64(n - len(d.head))
	}
	return d
}

// parseInt64 returns the integer that raw is, if it is one JSON number and nothing else.
func parseInt64(raw []byte) (n int64, ok bool) {
	if len(raw) == 0 || raw[0] != '-' && !isDigit(raw[0]) {
		return 0, false
	}
	s := scanner{b: raw}
	if s.number(0) != len(raw) {
		return 0, false
	}
	d := takeApart(raw)
	return d.int64()
}

// trimZeros returns b without its leading zeros.
func trimZeros(b []byte) []byte {
	for len(b) > 0 && b[0] == '0' {
		b = b[1:]
	}
	return b
}

// cutZeros returns b without its trailing zeros.
func cutZeros(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == '0' {
		b = b[:len(b)-1]
	}
	return b
}

// smallExp is how many digits of a written exponent are computed with as an int64; no text is long enough for its shift
// to matter beside that.
const smallExp = 18

// scale returns shift+exp; ok is false where the written exponent is too long for it.
func (d *decimal) scale() (n int64, ok bool) {
	if len(d.exp) > smallExp {
		return 0, false
	}
	for _, c := range d.exp {
		n = n*10 + int64(c-'0')
	}
	if d.expNeg {
		n = -n
	}
	return n + d.shift, true
}

// int64 returns the number, if it is an integer in range.
func (d *decimal) int64() (int64, bool) {
	digits := len(d.head) + len(d.tail)
	if digits == 0 {
		return 0, true
	}
	scale, ok := d.scale()
	if !ok || scale < 0 || int64(digits)+scale > 19 {
		return 0, false
	}
	var u uint64 // 19 digits fit
	for _, part := range [2][]byte{d.head, d.tail} {
		for _, c := range part {
			u = u*10 + uint64(c-'0')
		}
	}
	for ; scale > 0; scale-- {
		u *= 10
	}
	switch {
	case u < 1<<63 && d.neg:
		return -int64(u), true
	case u < 1<<63:
		return int64(u), true
	default:
		return -1 << 63, d.neg && u == 1<<63
	}
}

// appendNumber appends a valid JSON number in normal form: the significant digits, then e and the power of ten of the last one
// unless that is 0. Every zero is 0. Work and memory follow the length of the text, not the exponent's value.
func appendNumber(dst, raw []byte) []byte {
	d := takeApart(raw)
	if len(d.head)+len(d.tail) == 0 {
		return append(dst, '0')
	}
	if d.neg {
		dst = append(dst, '-')
	}
	dst = append(append(dst, d.head...), d.tail...)
	scale, ok := d.scale()
	switch {
	case !ok:
		return d.appendLongScale(append(dst, 'e'))
	case scale != 0:
		return strconv.AppendInt(append(dst, 'e'), scale, 10)
	default:
		return dst
	}
}

// appendLongScale appends shift+exp for an exponent of more than smallExp digits, which alone decides the sign.
func (d *decimal) appendLongScale(dst []byte) []byte {
	if d.expNeg {
		dst = append(dst, '-')
	}
	from := len(dst)
	dst = append(append(dst, '0'), d.exp...) // the 0 takes a carry
	carry := d.shift
	if d.expNeg {
		carry = -carry
	}
	for i := len(dst) - 1; carry != 0; i-- {
		n := carry + int64(dst[i]-'0')
		carry = n / 10
		if n %= 10; n < 0 {
			n, carry = n+10, carry-1
		}
		dst[i] = '0' + byte(n)
	}
	digits := trimZeros(dst[from:])
	return dst[:from+copy(dst[from:], digits)]
}
