package cos

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

const hexDigits = "0123456789ABCDEF"

// Character classes of ISO 32000-2, 7.2.3.
const (
	classRegular byte = iota
	classDelimiter
	classSpace
)

var charClass = func() (t [256]byte) {
	for _, c := range []byte("()<>[]{}/%") {
		t[c] = classDelimiter
	}
	for _, c := range []byte("\x00\t\n\f\r ") {
		t[c] = classSpace
	}
	return t
}()

// AppendName appends n, the name without its solidus, as a name object
// (7.3.5): bytes outside '!'..'~', delimiters and the number sign become #xx.
// A NUL has no legal form; [Writer.Put] refuses it.
func AppendName(dst []byte, n string) []byte {
	dst = append(dst, '/')
	for i := range len(n) {
		c := n[i]
		if c < '!' || c > '~' || c == '#' || charClass[c] == classDelimiter {
			dst = append(dst, '#', hexDigits[c>>4], hexDigits[c&15])
			continue
		}
		dst = append(dst, c)
	}
	return dst
}

// AppendString appends s as a string object (7.3.4). The form follows from
// the bytes: printable ASCII with tabs and line ends is written as a literal
// string, anything else in hexadecimal. For glyph strings of content streams,
// where size counts, use [AppendLiteral].
func AppendString[T ~string | ~[]byte](dst []byte, s T) []byte {
	for i := range len(s) {
		if c := s[i]; (c < ' ' && c != '\t' && c != '\n' && c != '\r') || c > '~' {
			return AppendHex(dst, s)
		}
	}
	return AppendLiteral(dst, s)
}

// AppendLiteral appends s between parentheses (7.3.4.2). Parentheses, the backslash and line ends
// are escaped; all other bytes, including binary ones, are written unchanged.
func AppendLiteral[T ~string | ~[]byte](dst []byte, s T) []byte {
	dst = append(dst, '(')
	from := 0 // what is not yet appended
	for i := range len(s) {
		if escapes[s[i]] == 0 {
			continue
		}
		dst = append(dst, s[from:i]...)
		dst = append(dst, '\\', escapes[s[i]])
		from = i + 1
	}
	dst = append(dst, s[from:]...)
	return append(dst, ')')
}

// escapes has what stands behind the backslash for the bytes that a literal string escapes. A bare
// carriage return would be taken for a line feed.
var escapes = [256]byte{'(': '(', ')': ')', '\\': '\\', '\r': 'r', '\n': 'n'}

// AppendHex appends s in hexadecimal (7.3.4.3), always with an even number of digits, as ISO
// 19005-4, 6.1.6 requires.
func AppendHex[T ~string | ~[]byte](dst []byte, s T) []byte {
	dst = append(dst, '<')
	for i := range len(s) {
		dst = append(dst, hexDigits[s[i]>>4], hexDigits[s[i]&15])
	}
	return append(dst, '>')
}

// PutHex writes the digits of src, small letters, to the beginning of dst, which must have room for
// two of each byte. It is encoding/hex.Encode with four bytes at a time.
func PutHex(dst, src []byte) {
	for len(src) >= 8 {
		to, from := (*[16]byte)(dst), (*[8]byte)(src)
		binary.BigEndian.PutUint64(to[:8], digitsOf(binary.BigEndian.Uint32(from[:4])))
		binary.BigEndian.PutUint64(to[8:], digitsOf(binary.BigEndian.Uint32(from[4:])))
		dst, src = dst[16:], src[8:]
	}
	hex.Encode(dst, src)
}

// digitsOf returns the digits of four bytes.
func digitsOf(four uint32) uint64 {
	x := uint64(four)
	x = (x<<16 | x) & 0x0000FFFF0000FFFF
	x = (x<<8 | x) & 0x00FF00FF00FF00FF
	x = (x<<4 | x) & 0x0F0F0F0F0F0F0F0F                           // a digit in each byte
	letters := (x + 0x0606060606060606) >> 4 & 0x0101010101010101 // 1 for those from 10
	return x + 0x3030303030303030 + letters*('a'-'0'-10)
}

// AppendText appends s, UTF-8, as a text string object (7.9.2.2): in PDFDocEncoding if every
// character is ASCII or a Latin-1 character with the same code in that encoding, otherwise as
// UTF-16BE with byte order mark; also if its first characters would look like such a mark, as those
// of "þÿ" do. Invalid UTF-8 becomes U+FFFD.
func AppendText(dst []byte, s string) []byte {
	ascii, doc := true, true
	for _, r := range s {
		if isDocASCII(r) {
			continue
		}
		ascii = false
		if !isDocLatin(r) {
			doc = false
			break
		}
	}
	if ascii {
		return AppendLiteral(dst, s)
	}
	dst = append(dst, '<')
	put := func(c byte) { dst = append(dst, hexDigits[c>>4], hexDigits[c&15]) }
	if doc && !looksMarked(s) {
		for _, r := range s {
			put(byte(r)) //nolint:gosec // G115: isDocLatin holds, so r <= 0xFF
		}
		return append(dst, '>')
	}
	put(0xFE)
	put(0xFF)
	unit := func(u rune) { put(byte(u >> 8)); put(byte(u)) } //nolint:gosec // G115: the two bytes of a UTF-16 unit
	for _, r := range s {
		if r1, r2 := utf16.EncodeRune(r); r1 != utf8.RuneError {
			unit(r1)
			unit(r2)
			continue
		}
		unit(r)
	}
	return append(dst, '>')
}

// TextKey returns the bytes of a text string, as a key that a name tree is ordered by (7.9.6).
func TextKey(s string) String {
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' {
			b := []byte{0xFE, 0xFF}
			for _, u := range utf16.Encode([]rune(s)) {
				b = append(b, byte(u>>8), byte(u)) //nolint:gosec // G115: the two bytes of a UTF-16 unit
			}
			return String(b)
		}
	}
	return String(s)
}

// looksMarked reports whether s begins, in PDFDocEncoding, with the bytes of a byte
// order mark: UTF-16BE or UTF-8, or UTF-16LE, which the standard does not have and
// readers understand.
func looksMarked(s string) bool {
	return strings.HasPrefix(s, "\u00FE\u00FF") || strings.HasPrefix(s, "\u00FF\u00FE") || strings.HasPrefix(s, "\u00EF\u00BB\u00BF")
}

// isDocASCII reports whether PDFDocEncoding (Annex D.3) has r at its ASCII
// place. Control characters other than tab and line ends are undefined there.
func isDocASCII(r rune) bool {
	return r >= ' ' && r <= '~' || r == '\t' || r == '\n' || r == '\r'
}

// isDocLatin reports the same for U+00A1 to U+00FF; 0xAD is undefined and
// 0xA0 is the euro sign.
func isDocLatin(r rune) bool {
	return isDocASCII(r) || r >= 0xA1 && r <= 0xFF && r != 0xAD
}

// AppendDate appends t as a date string object (7.9.4) to the second, with
// the offset of t's own location.
func AppendDate(dst []byte, t time.Time) []byte {
	dst = append(dst, "(D:"...)
	dst = t.AppendFormat(dst, "20060102150405")
	_, offset := t.Zone()
	if offset == 0 {
		return append(dst, "Z)"...)
	}
	sign := byte('+')
	if offset < 0 {
		sign, offset = '-', -offset
	}
	h, m := offset/3600, offset/60%60
	dst = append(dst, sign, byte('0'+h/10), byte('0'+h%10), '\'', byte('0'+m/10), byte('0'+m%10)) //nolint:gosec // G115: digits
	return append(dst, ')')
}

// docHigh are the characters of PDFDocEncoding at 0x18 to 0x1F and 0x80 to 0xA0 (Annex D.3), at
// which it differs from Latin-1.
const docLow, docHigh = "\u02D8\u02C7\u02C6\u02D9\u02DD\u02DB\u02DA\u02DC", "\u2022\u2020\u2021\u2026\u2014\u2013\u0192\u2044\u2039\u203A\u2212\u2030\u201E\u201C\u201D\u2018" +
	"\u2019\u201A\u2122\uFB01\uFB02\u0141\u0152\u0160\u0178\u017D\u0131\u0142\u0153\u0161\u017E\uFFFD\u20AC"

// TextOf returns the text of a text string object (7.9.2.2) in UTF-8, whether it was read or is
// to be written; ok is false for other objects.
func TextOf(o Object) (text string, ok bool) {
	if t, isText := As[Text](o); isText {
		return string(t), true
	}
	b, ok := Bytes(o)
	switch s := string(b); {
	case !ok:
		return "", false
	case strings.HasPrefix(s, "\xFE\xFF"):
		return fromUTF16(b[2:], binary.BigEndian), true
	case strings.HasPrefix(s, "\xFF\xFE"): // not of the standard, but found
		return fromUTF16(b[2:], binary.LittleEndian), true
	case strings.HasPrefix(s, "\xEF\xBB\xBF"):
		return strings.ToValidUTF8(s[3:], "\uFFFD"), true
	}
	low, high := []rune(docLow), []rune(docHigh)
	out := make([]rune, 0, len(b))
	for _, c := range b {
		r := rune(c)
		switch {
		case c >= 0x18 && c <= 0x1F:
			r = low[c-0x18]
		case c >= 0x80 && c <= 0xA0:
			r = high[c-0x80]
		}
		out = append(out, r)
	}
	return string(out), true
}

func fromUTF16(b []byte, order binary.ByteOrder) string {
	units := make([]uint16, 0, len(b)/2)
	for ; len(b) > 1; b = b[2:] {
		units = append(units, order.Uint16(b))
	}
	return string(utf16.Decode(units))
}
