package font

import (
	"bytes"
	"math"
	"strconv"

	"example.com/quire/pdf/internal/diag"
)

// type1 is a font program of Type 1 (Adobe Type 1 Font Format, version 1.1): its charstrings by
// glyphs, of which .notdef is the first, and its subroutines, encrypted as they stand in it.
type type1 struct {
	glyphs, subrs [][]byte
	skip          int     // bytes of each charstring that say nothing (lenIV); below 0: it is not encrypted
	scale         float64 // how many em one unit is
}

// The keys of the encrypted portion and of charstrings (7.1), and the numbers of the cipher.
const (
	keyOfProgram    = 55665
	keyOfCharstring = 4330
	cipherFactor    = 52845
	cipherAdded     = 22719
)

// decrypted returns b in the clear, without its first bytes, which are random.
func decrypted(b []byte, key uint16, skip int) []byte {
	out := make([]byte, len(b))
	for i, c := range b {
		out[i] = c ^ byte(key>>8)
		key = (uint16(c)+key)*cipherFactor + cipherAdded
	}
	return out[min(skip, len(out)):]
}

// type1Error is a fault of a program of Type 1.
func type1Error(reason string) error { return &FormatError{Table: "Type 1", Reason: reason} }

// parseType1 reads a program of Type 1. One whose dictionary has two sets of charstrings or of
// subroutines is not read: which of them counts is for the PostScript in it to say.
func parseType1(data []byte, l diag.Limits) (*Embedded, error) {
	if data[0] == 0x80 {
		data = unsegmented(data)
	}
	open, private, ok := bytes.Cut(data, []byte("eexec"))
	if !ok {
		return nil, type1Error("without an encrypted portion")
	}
	for len(private) > 0 && space(private[0]) {
		private = private[1:]
	}
	if hexadecimal(private) {
		private = unhex(private)
	}
	t := &type1{skip: 4, scale: 0.001}
	if _, m, ok := bytes.Cut(open, []byte("/FontMatrix")); ok {
		if v, err := strconv.ParseFloat(string(postScript{m, 0}.first()), 64); err == nil && v > 0 && v <= 1 {
			t.scale = v
		}
	}
	p := &Embedded{type1: t, names: map[string]GID{}}
	t.glyphs = append(t.glyphs, nil)
	return p, p.readPrivate(decrypted(private, keyOfProgram, 4), l)
}

// readPrivate reads the charstrings and subroutines of the portion that was encrypted (2.3 and
// 2.4).
func (p *Embedded) readPrivate(b []byte, l diag.Limits) error {
	t, s := p.type1, &postScript{b, 0}
	notdef, in := false, ""
	for w := s.next(); w != nil; w = s.next() {
		switch string(w) {
		case "/lenIV":
			if n, err := strconv.Atoi(string(s.next())); err == nil {
				t.skip = n
			}
		case "/Subrs", "/CharStrings":
			if in != "" && (in != "/Subrs" || string(w) == in) {
				return &UnsupportedError{Kind: "Type 1 with two sets of charstrings"}
			}
			in = string(w)
		case "end":
			if in == "/CharStrings" && len(t.glyphs) > 1 {
				in = "closed"
			}
		case "dup":
			if in != "/Subrs" {
				continue
			}
			i, err := strconv.Atoi(string(s.next()))
			code, ok := s.binary()
			if err != nil || !ok || i < 0 || i >= mostSubrs {
				return type1Error("a subroutine is cut off")
			}
			for len(t.subrs) <= i {
				t.subrs = append(t.subrs, nil)
			}
			t.subrs[i] = code
		default:
			if in != "/CharStrings" || w[0] != '/' {
				continue
			}
			code, ok := s.binary()
			switch {
			case !ok:
				return type1Error("a charstring is cut off")
			case string(w) == "/.notdef":
				t.glyphs[0], notdef = code, true
			case int64(len(t.glyphs)) >= min(l.FontGlyphs, math.MaxUint16):
				return type1Error("more glyphs than a font may have")
			case len(w) <= mostNameBytes+1: // the last of a name counts
				p.names[string(w[1:])] = GID(len(t.glyphs)) //nolint:gosec // G115: bounded above
				t.glyphs = append(t.glyphs, code)
			}
		}
	}
	if in != "closed" && in != "/CharStrings" || !notdef && len(t.glyphs) == 1 {
		return type1Error("without charstrings")
	}
	p.names[".notdef"] = 0
	return nil
}

// mostSubrs is how many subroutines a program may have, of which real ones have some thousand.
const mostSubrs = 1 << 16

// postScript is the text of a program, read as words: names with their slash, numbers, operators
// and single brackets. Strings and comments are passed over.
type postScript struct {
	b  []byte
	at int
}

func space(c byte) bool {
	return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == 0
}

// next returns the next word, nil at the end.
func (s *postScript) next() []byte {
	for s.at < len(s.b) {
		switch c := s.b[s.at]; {
		case space(c):
			s.at++
		case c == '%':
			for s.at < len(s.b) && s.b[s.at] != '\n' && s.b[s.at] != '\r' {
				s.at++
			}
		case c == '(':
			s.text()
		default:
			start := s.at
			for s.at++; s.at < len(s.b) && !space(s.b[s.at]) && !bytes.ContainsRune([]byte("()<>[]{}/%"), rune(s.b[s.at])); s.at++ {
			}
			if bytes.ContainsRune([]byte("<>[]{}"), rune(c)) {
				s.at = start + 1
			}
			return s.b[start:min(s.at, len(s.b))]
		}
	}
	return nil
}

// text passes a string over.
func (s *postScript) text() {
	depth := 0
	for ; s.at < len(s.b); s.at++ {
		switch s.b[s.at] {
		case '\\':
			s.at++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				s.at++
				return
			}
		}
	}
}

// first returns the first word that is no bracket.
func (s postScript) first() []byte {
	w := s.next()
	for len(w) == 1 && bytes.ContainsRune([]byte("[{"), rune(w[0])) {
		w = s.next()
	}
	return w
}

// binary returns bytes that follow their number, an operator such as RD or -|, and one space.
func (s *postScript) binary() (b []byte, ok bool) {
	n, err := strconv.Atoi(string(s.next()))
	if err != nil || n < 0 || s.next() == nil || n > len(s.b)-s.at-1 {
		return nil, false
	}
	b = s.b[s.at+1 : s.at+1+n]
	s.at += 1 + n
	return b, true
}

// unsegmented returns a program without the heads of segments that files of it have outside PDF.
func unsegmented(data []byte) (out []byte) {
	for len(data) >= 6 && data[0] == 0x80 && (data[1] == 1 || data[1] == 2) {
		n := uint64(data[2]) | uint64(data[3])<<8 | uint64(data[4])<<16 | uint64(data[5])<<24
		n = min(n, uint64(len(data)-6)) //nolint:gosec // G115: a length
		out = append(out, data[6:6+n]...)
		data = data[6+n:]
	}
	return out
}

// hexadecimal reports whether an encrypted portion is written in digits: four are, which no
// encryption gives (7.2).
func hexadecimal(b []byte) bool {
	for _, c := range b[:min(4, len(b))] {
		if _, ok := digit(c); !ok {
			return false
		}
	}
	return len(b) >= 4
}

func digit(c byte) (v byte, ok bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

func unhex(b []byte) []byte {
	out := make([]byte, 0, len(b)/2)
	half, odd := byte(0), false
	for _, c := range b {
		v, ok := digit(c)
		switch {
		case !ok:
			continue
		case odd:
			out = append(out, half<<4|v)
		default:
			half = v
		}
		odd = !odd
	}
	return out
}

// width returns the advance of a glyph, which hsbw or sbw says at the start of its charstring
// (6.4); ok is false where it is not read, such as of fonts with several masters, which reckon it.
func (t *type1) width(g GID) (w float64, ok bool) {
	w, ok = (&type1Width{t: t}).run(t.glyphs[g], 0)
	return w * t.scale * 1000, ok && !math.IsInf(w, 0) && !math.IsNaN(w)
}

// type1Width is the state of a charstring before its width.
type type1Width struct {
	t     *type1
	stack [24]float64
	n     int
	steps int
}

// mostSteps bounds the numbers and operators before a width, of which real glyphs have three.
const mostSteps = 1000

func (s *type1Width) run(b []byte, depth int) (w float64, ok bool) {
	if b == nil || depth > maxSubrDepth {
		return 0, false
	}
	if s.t.skip >= 0 {
		b = decrypted(b[:min(len(b), mostSteps)], keyOfCharstring, s.t.skip)
	}
	for len(b) > 0 {
		if s.steps++; s.steps > mostSteps {
			return 0, false
		}
		c := b[0]
		if c >= 32 {
			v, size := number1(b)
			if size == 0 || s.n == len(s.stack) {
				return 0, false
			}
			s.stack[s.n], b = v, b[size:]
			s.n++
			continue
		}
		switch {
		case c == 13 && s.n >= 2: // hsbw
			return s.stack[1], true
		case c == 10 && s.n >= 1: // callsubr
			s.n--
			i := s.stack[s.n]
			if i < 0 || i >= float64(len(s.t.subrs)) {
				return 0, false
			}
			if w, ok := s.run(s.t.subrs[int(i)], depth+1); ok {
				return w, true
			}
			b = b[1:]
		case c == 11: // return
			return 0, false
		case c == 12 && len(b) > 1 && b[1] == 7 && s.n >= 4: // sbw
			return s.stack[2], true
		case c == 12 && len(b) > 1 && b[1] == 12 && s.n >= 2 && s.stack[s.n-1] != 0: // div
			s.n--
			s.stack[s.n-1] /= s.stack[s.n]
			b = b[2:]
		default:
			return 0, false
		}
	}
	return 0, false
}

// number1 decodes the number at the start of a charstring of Type 1 (6.2); size 0: it is cut off.
func number1(b []byte) (v float64, size int) {
	switch c := b[0]; {
	case c == 255 && len(b) >= 5:
		return float64(int32(u32(b, 1))), 5 //nolint:gosec // G115: the field is signed
	case c <= 246:
		return float64(c) - 139, 1
	case len(b) < 2 || c == 255:
		return 0, 0
	case c <= 250:
		return float64(c-247)*256 + float64(b[1]) + 108, 2
	default:
		return -float64(c-251)*256 - float64(b[1]) - 108, 2
	}
}
