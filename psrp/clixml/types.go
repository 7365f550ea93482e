package clixml

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// GUID is a 128-bit identifier in the order of its text. On the wire of MS-PSRP its first three
// groups are byte-swapped: see AppendWire and GUIDFromWire.
type GUID [16]byte

// Value returns a G.
func (g GUID) Value() Value { return pointerValue(KindGUID, &g) }

// String returns the lower-case 8-4-4-4-12 form.
func (g GUID) String() string { return string(g.AppendText(nil)) }

// AppendText appends the lower-case 8-4-4-4-12 form.
func (g GUID) AppendText(dst []byte) []byte {
	dst = hex.AppendEncode(dst, g[:4])
	for _, group := range [...][]byte{g[4:6], g[6:8], g[8:10], g[10:]} {
		dst = append(dst, '-')
		dst = hex.AppendEncode(dst, group)
	}
	return dst
}

// IsZero reports whether every byte is zero, which on the wire names the session.
func (g GUID) IsZero() bool { return g == GUID{} }

// AppendWire appends the 16 bytes in .NET order (MS-DTYP 2.3.4.2).
func (g GUID) AppendWire(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, binary.BigEndian.Uint32(g[0:]))
	dst = binary.LittleEndian.AppendUint16(dst, binary.BigEndian.Uint16(g[4:]))
	dst = binary.LittleEndian.AppendUint16(dst, binary.BigEndian.Uint16(g[6:]))
	return append(dst, g[8:]...)
}

// GUIDFromWire reads 16 bytes in .NET order.
func GUIDFromWire(b [16]byte) (g GUID) {
	x := binary.LittleEndian.Uint64(b[:])
	binary.BigEndian.PutUint64(g[:], x<<32|x>>16&0xFFFF0000|x>>48)
	copy(g[8:], b[8:])
	return g
}

// ParseGUID reads the .NET forms D (8-4-4-4-12), N (32 digits), B (in braces) and P (in
// parentheses).
func ParseGUID(s string) (g GUID, err error) {
	t := s
	if n := len(t); n == 38 && (t[0] == '{' && t[n-1] == '}' || t[0] == '(' && t[n-1] == ')') {
		t = t[1 : n-1]
	}
	switch {
	case len(t) == 36 && t[8] == '-' && t[13] == '-' && t[18] == '-' && t[23] == '-':
		var b [32]byte
		copy(b[0:], t[0:8])
		copy(b[8:], t[9:13])
		copy(b[12:], t[14:18])
		copy(b[16:], t[19:23])
		copy(b[20:], t[24:36])
		_, err = hex.Decode(g[:], b[:])
	case len(t) == 32 && len(s) == 32:
		_, err = hex.Decode(g[:], []byte(t))
	default:
		err = strconv.ErrSyntax
	}
	if err != nil {
		return GUID{}, fmt.Errorf("clixml: parse GUID %q: not 32 hexadecimal digits in groups of 8-4-4-4-12", clip(s))
	}
	return g, nil
}

// Char is one UTF-16 code unit, which may be half of a surrogate pair.
type Char uint16

// Value returns a C.
func (c Char) Value() Value { return Value{kind: KindChar, num: uint64(c)} }

// Version has 2 to 4 parts; those that are missing are -1.
type Version [4]int32

// NewVersion returns the version of two parts.
func NewVersion(major, minor int32) Version { return Version{major, minor, -1, -1} }

// Value returns a Version.
func (v Version) Value() Value { return pointerValue(KindVersion, &v) }

// String returns "a.b", "a.b.c" or "a.b.c.d".
func (v Version) String() string { return string(v.appendText(nil)) }

func (v Version) appendText(dst []byte) []byte {
	for i, n := range v {
		if i >= 2 && n < 0 {
			break
		}
		if i > 0 {
			dst = append(dst, '.')
		}
		dst = strconv.AppendInt(dst, int64(max(n, 0)), 10)
	}
	return dst
}

// Compare returns -1, 0 or 1; a missing part is less than any other.
func (v Version) Compare(w Version) int { return slices.Compare(v[:], w[:]) }

// ParseVersion reads 2 to 4 numbers with dots between them.
func ParseVersion(s string) (Version, error) {
	v := Version{-1, -1, -1, -1}
	rest, n := s, 0
	for {
		part, after, more := strings.Cut(rest, ".")
		part = trimSpace(part)
		if len(part) > 1 && part[0] == '+' {
			part = part[1:]
		}
		x, ok := parseDigits(part, 1<<31-1)
		if !ok || n == 4 {
			return Version{}, fmt.Errorf("clixml: parse version %q: not 2 to 4 numbers with dots", clip(s))
		}
		v[n] = int32(x) //nolint:gosec // G115: parseDigits bounds it
		n++
		if !more {
			break
		}
		rest = after
	}
	if n < 2 {
		return Version{}, fmt.Errorf("clixml: parse version %q: not 2 to 4 numbers with dots", clip(s))
	}
	return v, nil
}

// XMLText is the text of an XmlDocument. It is kept as text and never parsed.
type XMLText string

// Value returns an XD.
func (x XMLText) Value() Value { return textValue(KindXML, string(x)) }

// ScriptBlock is the text of a script block. This module never runs it.
type ScriptBlock string

// Value returns an SBK.
func (s ScriptBlock) Value() Value { return textValue(KindScriptBlock, string(s)) }

// URI is the text of a System.Uri, which is not validated.
type URI string

// Value returns a URI.
func (u URI) Value() Value { return textValue(KindURI, string(u)) }

// Progress is the PR element, a progress record of a text process (-OutputFormat xml). Remoting
// uses a message instead.
type Progress struct {
	Activity          string
	ActivityID        int32
	CurrentOperation  string
	NilOperation      bool   // CurrentOperation is Nil
	ParentActivityID  int32  // -1 = none
	PercentComplete   int32  // -1 = unknown
	Type              string // "Processing" or "Completed"
	SecondsRemaining  int32  // -1 = unknown
	StatusDescription string
}

// Value returns a PR.
func (p *Progress) Value() Value { return pointerValue(KindProgress, p) }

// clip shortens text for an error message.
func clip(s string) string {
	if len(s) > 64 {
		return s[:64] + "..."
	}
	return s
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// trimSpace removes XML white space on both sides.
func trimSpace(s string) string {
	for s != "" && isSpace(s[0]) {
		s = s[1:]
	}
	for s != "" && isSpace(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

// parseDigits reads decimal digits and nothing else, up to limit.
func parseDigits(s string, limit uint64) (n uint64, ok bool) {
	if s == "" {
		return 0, false
	}
	for i := range len(s) {
		d := uint64(s[i]) - '0'
		if d > 9 {
			return 0, false
		}
		if n > (limit-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	return n, true
}
