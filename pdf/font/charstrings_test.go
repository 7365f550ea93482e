//go:build !race

package font_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	quire "example.com/quire/pdf/font"
	"example.com/quire/pdf/internal/diag"
)

// charstrings is a font of one Private DICT whose three glyphs and subroutines are given.
func charstrings(tb testing.TB, glyphs, locals, globals [][]byte) *quire.Face {
	tb.Helper()
	index := func(objects ...[]byte) []byte {
		out := words(len(objects))
		if len(objects) == 0 {
			return out
		}
		out = append(out, 2)
		at := 1
		out = append(out, words(at)...)
		for _, o := range objects {
			at += len(o)
			out = append(out, words(at)...)
		}
		return append(out, bytes.Join(objects, nil)...)
	}
	number := func(v int) []byte { return append([]byte{28}, words(v)...) }
	const topSize = 3 + 1 + 3 + 3 + 1
	head := slices.Concat([]byte{1, 0, 4, 2}, index([]byte("X")))
	behind := slices.Concat(index(), index(globals...))
	at := len(head) + 2 + 1 + 4 + topSize + len(behind)
	private := append(number(4), 19)
	chars := at + len(private) + len(index(locals...))
	top := slices.Concat(number(chars), []byte{17}, number(len(private)), number(at), []byte{18})
	table := slices.Concat(head, index(top), behind, private, index(locals...), index(glyphs...))

	all := tables(tb, testFile(tb, "SampleText.otf"))
	all["CFF "] = table
	all["maxp"] = words(0, 0x5000, len(glyphs))
	all["hmtx"] = make([]byte, 4*len(glyphs))
	all["hhea"] = slices.Clone(all["hhea"])
	binary.BigEndian.PutUint16(all["hhea"][34:], uint16(len(glyphs))) //nolint:gosec // G115: three
	all["cmap"] = cmapTable(3, 1, words(4, 32, 0, 4, 4, 1, 0, 'B', 0xFFFF, 0, 'A', 0xFFFF, (1-'A')&0xFFFF, 1, 0, 0))
	out := build(all)
	copy(out, "OTTO")
	return parse(tb, out)
}

// TestCharstrings: what a charstring may not do is an error of type, and none runs for long.
func TestCharstrings(t *testing.T) {
	const first = 139 - 107 // the number of subroutine 0, less the bias
	call := func(n byte) []byte { return []byte{first + n, 10} }
	end := []byte{14}
	var bomb [][]byte // each calls the next one a hundred times
	for i := range byte(9) {
		bomb = append(bomb, bytes.Repeat(call(i+1), 100))
	}
	bomb = append(bomb, []byte{11})
	for name, c := range map[string]struct {
		glyph   []byte
		locals  [][]byte
		globals [][]byte
		want    string
	}{
		"nothing":                {end, nil, nil, ""},
		"hint mask":              {[]byte{139, 139, 139, 139, 18, 19, 14, 14}, nil, nil, ""}, // the first 14 is the mask
		"flex":                   {[]byte{139, 139, 139, 139, 139, 139, 139, 12, 34, 14}, nil, nil, ""},
		"global subroutine":      {[]byte{first, 29, 14}, nil, [][]byte{{11}}, ""},
		"end in a subroutine":    {call(0), [][]byte{{14}}, nil, ""},
		"no subroutine":          {call(3), [][]byte{{11}}, nil, "not there"},
		"no number":              {[]byte{10}, [][]byte{{11}}, nil, "no number"},
		"endless":                {call(0), [][]byte{call(0)}, nil, "too deeply"},
		"bomb":                   {call(0), bomb, nil, "too long"},
		"too many operands":      {bytes.Repeat([]byte{139}, 49), nil, nil, "too many operands"},
		"operand cut off":        {[]byte{28, 1}, nil, nil, "cut off"},
		"operator cut off":       {[]byte{12}, nil, nil, "cut off"},
		"reckoning":              {[]byte{139, 140, 12, 10, 14}, nil, nil, "reckon"},
		"accented letter of two": {[]byte{139, 139, 139, 139, 14}, nil, nil, "accented"},
	} {
		t.Run(name, func(t *testing.T) {
			f := charstrings(t, [][]byte{end, c.glyph, end}, c.locals, c.globals)
			_, err := draw(t, f, "A").Subset(true, plain)
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !errors.Is(err, diag.ErrFont) || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
