package clixml

import (
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// load reads 8 bytes of s as one little-endian word; the compiler makes it one load.
func load(s string, i int) uint64 {
	_ = s[i+7]
	return uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
		uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
}

// zeros sets the high bit of each byte of x that is zero; above the lowest such byte it may set
// more, which callers that only look for the first do not mind.
func zeros(x uint64) uint64 { return (x - ones) & ^x & highs }

// plainEnd returns how many bytes from i on are written as they are, 8 at a time and then one by
// one: printable ASCII but for & < > _ and, in an attribute, the double quote. That quote differs
// from & by the bit 0x04, and < from > by 0x02, which saves a test each.
func plainEnd(s string, i int, attr bool) int {
	var quote uint64
	if attr {
		quote = 0x04 * ones
	}
	for i+8 <= len(s) {
		x := load(s, i)
		m := x&highs | (x-0x20*ones) & ^x & highs | zeros(x^0x7F*ones) | zeros(x^'_'*ones) |
			zeros((x|quote)^'&'*ones) | zeros((x|0x02*ones)^'>'*ones)
		if m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
		i += 8
	}
	for i < len(s) && plain(s[i], attr) {
		i++
	}
	return i
}

func plain(c byte, attr bool) bool {
	switch c {
	case '&', '<', '>', '_':
		return false
	case '"':
		return !attr
	}
	return c >= 0x20 && c < 0x7F
}

// appendEscaped appends s as CLIXML text (MS-PSRP 2.2.5.3.2): control characters and surrogates as
// _xHHHH_, each underscore that could begin such a sequence as _x005F_, markup as entities. It
// reports false for bytes that are no text.
func appendEscaped(dst []byte, s string, attr bool) ([]byte, bool) {
	for i := 0; ; {
		j := plainEnd(s, i, attr)
		dst = append(dst, s[i:j]...)
		if j == len(s) {
			return dst, true
		}
		i = j
		switch c := s[i]; {
		case c == '_':
			if i+1 < len(s) && s[i+1]|0x20 == 'x' {
				dst = append(dst, "_x005F_"...)
			} else {
				dst = append(dst, '_')
			}
			i++
		case c == '&':
			dst = append(dst, "&amp;"...)
			i++
		case c == '<':
			dst = append(dst, "&lt;"...)
			i++
		case c == '>':
			dst = append(dst, "&gt;"...)
			i++
		case c == '"':
			dst = append(dst, "&quot;"...)
			i++
		case c < utf8.RuneSelf:
			dst = appendUnit(dst, rune(c))
			i++
		default:
			r, n := decodeWTF8(s[i:])
			switch {
			case r == utf8.RuneError && n == 1:
				return dst, false
			case r < 0xA0 || r&^0x7FF == 0xD800:
				dst = appendUnit(dst, r)
			case r >= 0x10000:
				hi, lo := utf16.EncodeRune(r)
				dst = appendUnit(appendUnit(dst, hi), lo)
			case r >= 0xFFFE:
				// No XML parser need accept these, even so (XML 1.0 section 2.2); PowerShell writes
				// them.
				dst = append(dst, "&#xFFF"...)
				dst = append(dst, "0123456789ABCDEF"[r&15], ';')
			default:
				dst = append(dst, s[i:i+n]...)
			}
			i += n
		}
	}
}

// appendUnit appends a UTF-16 code unit as _xHHHH_.
func appendUnit(dst []byte, u rune) []byte {
	const hexDigits = "0123456789ABCDEF"
	return append(dst, '_', 'x', hexDigits[u>>12&15], hexDigits[u>>8&15], hexDigits[u>>4&15], hexDigits[u&15], '_')
}

// unitAt reads an escape at the start of s: _xHHHH_ is a code unit, _xHHHHHHHH_ a code point. It
// returns the escape's length, 0 when there is none.
func unitAt[T string | []byte](s T) (r rune, n int) {
	if len(s) < 7 || s[1]|0x20 != 'x' {
		return 0, 0
	}
	r, ok := hexRune(s[2:6])
	if !ok {
		return 0, 0
	}
	if s[6] == '_' {
		return r, 7
	}
	if len(s) < 11 || s[10] != '_' {
		return 0, 0
	}
	low, ok := hexRune(s[6:10])
	if r = r<<16 | low; !ok || r > utf8.MaxRune || r < 0 {
		return 0, 0
	}
	return r, 11
}

func hexRune[T string | []byte](s T) (r rune, ok bool) {
	for i := range len(s) {
		d, ok := hexDigit(s[i])
		if !ok {
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c-'0' <= 9:
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}
