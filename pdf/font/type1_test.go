package font_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	quire "example.com/quire/pdf/font"
	"example.com/quire/pdf/internal/diag"
)

// encrypted is b as programs of Type 1 have it (Adobe Type 1 Font Format, 7.1), behind n bytes.
func encrypted(b []byte, key uint16, n int) []byte {
	b = append(bytes.Repeat([]byte{'x'}, n), b...)
	out := make([]byte, len(b))
	for i, c := range b {
		out[i] = c ^ byte(key>>8)
		key = (uint16(out[i])+key)*52845 + 22719
	}
	return out
}

// charstring1 is a glyph of Type 1: numbers below 256 in their long form, operators by their bytes.
func charstring1(parts ...any) (b []byte) {
	for _, p := range parts {
		switch v := p.(type) {
		case int:
			b = append(b, 255, byte(v>>24), byte(v>>16), byte(v>>8), byte(v)) //nolint:gosec // G115: four bytes of it
		case string:
			b = append(b, v...)
		}
	}
	return b
}

const (
	hsbw, sbw, div, callsubr, endchar = "\x0d", "\x0c\x07", "\x0c\x0c", "\x0a", "\x0e"
)

// type1 is a program with glyphs by their names.
func type1(head string, subrs [][]byte, names []string, glyphs ...[]byte) []byte {
	var p strings.Builder
	fmt.Fprintf(&p, "dup /Private 8 dict dup begin /RD {string currentfile exch readstring pop} executeonly def /password 5839 def %% (a comment\n/Note (a \\) /CharStrings (b)) def /lenIV 4 def\n/Subrs %d array\n", len(subrs))
	for i, s := range subrs {
		fmt.Fprintf(&p, "dup %d %d RD %s NP\n", i, len(s)+4, encrypted(s, 4330, 4))
	}
	fmt.Fprintf(&p, "ND\n2 index /CharStrings %d dict dup begin\n", len(glyphs))
	for i, g := range glyphs {
		fmt.Fprintf(&p, "/%s %d RD %s ND\n", names[i], len(g)+4, encrypted(g, 4330, 4))
	}
	p.WriteString("end end readonly put mark currentfile closefile\n")
	return append([]byte("%!PS-AdobeFont-1.0: Sample\n"+head+"currentfile eexec\n"), encrypted([]byte(p.String()), 55665, 4)...)
}

// sample1 has the glyphs A, 500 units wide, B, whose width a subroutine says, C, by sbw, and D,
// which divides.
func sample1(head string) []byte {
	return type1(head, [][]byte{nil, charstring1(0, 620, hsbw)}, []string{"A", ".notdef", "B", "C", "D", "E"},
		charstring1(0, 500, hsbw, endchar), charstring1(0, 250, hsbw, endchar), charstring1(1, callsubr, endchar),
		charstring1(0, 0, 333, 0, sbw, endchar), charstring1(0, 3001, 4, div, hsbw, endchar), charstring1(0, callsubr))
}

// TestProgramsOfType1AreRead: their glyphs are found by their names and have the widths that their
// charstrings say, in whichever way the encrypted portion is written.
func TestProgramsOfType1AreRead(t *testing.T) {
	text := func(string) string { return "" }
	plain := sample1("/FontMatrix [0.002 0 0 0.002 0 0] readonly def\n")
	open, private, _ := bytes.Cut(plain, []byte("eexec\n"))
	open = append(open, "eexec\n"...)
	segment := func(kind byte, b []byte) []byte {
		return append([]byte{0x80, kind, byte(len(b)), byte(len(b) >> 8), 0, 0}, b...) //nolint:gosec // G115: a small one
	}
	for name, data := range map[string][]byte{
		"binary":      plain,
		"hexadecimal": append(slices.Clone(open), hex.EncodeToString(private)...),
		"segments":    slices.Concat(segment(1, open), segment(2, private), []byte{0x80, 3}),
	} {
		p, err := quire.ParseEmbedded(data, diag.Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if names, ok := p.Names(); !ok || !slices.Equal(names, []string{"A", "B", "C", "D", "E"}) || !p.Type1() || p.NumGlyphs() != 6 {
			t.Errorf("%s: %q, %d glyphs", name, names, p.NumGlyphs())
		}
		for glyph, want := range map[string]float64{"A": 1000, "B": 1240, "C": 666, "D": 1500.5, "E": -1} {
			ids, known := p.ByCode(quire.Code{Value: 'x', Name: glyph, Mac: -1}, text)
			if !known || len(ids) != 1 {
				t.Errorf("%s, %s: %v, %t", name, glyph, ids, known)
				continue
			}
			if w, ok := p.Width(ids[0]); ok != (want >= 0) || ok && (w < want-0.01 || w > want+0.01) {
				t.Errorf("%s, %s: %g, %t, want %g", name, glyph, w, ok, want)
			}
		}
		if w, ok := p.Width(0); !ok || w != 500 {
			t.Errorf("%s: .notdef is %g wide, %t", name, w, ok)
		}
		if ids, known := p.ByCode(quire.Code{Value: 'x', Name: "F", Text: "A", Mac: -1}, func(n string) string { return n }); !known || len(ids) != 0 {
			t.Errorf("%s: a glyph of another name: %v, %t", name, ids, known)
		}
	}
}

// TestDamagedProgramsOfType1: what is no program is an error, and what PostScript would have to
// tell is not read.
func TestDamagedProgramsOfType1(t *testing.T) {
	sound := sample1("")
	for name, data := range map[string][]byte{
		"no portion":   []byte("%!PS-AdobeFont-1.0"),
		"empty":        []byte("%!PS currentfile eexec "),
		"cut off":      sound[:len(sound)-120],
		"no glyphs":    type1("", nil, nil),
		"other bytes":  append([]byte("%!PS currentfile eexec\n"), bytes.Repeat([]byte{0xAA, 3, 77}, 500)...),
		"only its key": append([]byte("%!PS currentfile eexec\n"), encrypted([]byte("/CharStrings"), 55665, 4)...),
	} {
		if _, err := quire.ParseEmbedded(data, diag.Limits{}); !errors.Is(err, diag.ErrFont) {
			t.Errorf("%s: %v", name, err)
		}
	}
	twice := append([]byte("%!PS currentfile eexec\n"), encrypted([]byte("/CharStrings 1 dict dup begin /A 4 RD xxxx ND end /CharStrings 1 dict"), 55665, 4)...)
	if _, err := quire.ParseEmbedded(twice, diag.Limits{}); !errors.Is(err, diag.ErrUnsupported) {
		t.Errorf("two sets: %v", err)
	}
}
