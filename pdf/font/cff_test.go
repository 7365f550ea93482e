package font_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/font/sfnt"

	quire "example.com/quire/pdf/font"
	"example.com/quire/pdf/internal/diag"
)

// testFile reads a font of testdata: SampleText.otf has CFF outlines keyed by name, SampleCJK.ttc
// two faces with CFF outlines keyed by CIDs, of eight Font DICTs.
func testFile(tb testing.TB, name string) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func cjk(tb testing.TB, index int) *quire.Face {
	tb.Helper()
	f, err := quire.ParseFace(testFile(tb, "SampleCJK.ttc"), index, diag.Limits{})
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// wrapped makes an OpenType file of a CFF program with n glyphs, for the oracle.
func wrapped(f *quire.Face, program []byte, n int) []byte {
	count := uint16(n) //nolint:gosec // G115: glyphs of a font
	all := map[string][]byte{"CFF ": program, "hmtx": make([]byte, 4*n)}
	for _, tag := range []string{"head", "hhea", "name", "OS/2", "post", "maxp"} {
		all[tag] = slices.Clone(f.Table(tag))
	}
	binary.BigEndian.PutUint16(all["maxp"][4:], count)
	binary.BigEndian.PutUint16(all["hhea"][34:], count)
	all["cmap"] = cmapTable(3, 1, words(4, 32, 0, 4, 4, 1, 0, 'C', 0xFFFF, 0, 'A', 0xFFFF, (36-'A')&0xFFFF, 1, 0, 0))
	out := build(all)
	copy(out, "OTTO")
	return out
}

// TestCFFSubsetOutlines: a subset of CFF outlines has the glyphs in use alone, as the oracle draws
// them in the font, whether its glyphs are keyed by names or by CIDs.
func TestCFFSubsetOutlines(t *testing.T) {
	text := testFile(t, "SampleText.otf")
	collection, err := sfnt.ParseCollection(testFile(t, "SampleCJK.ttc"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		face   *quire.Face
		before func() *outlines
		drawn  string
	}{
		"name-keyed": {parse(t, text), func() *outlines { return outlinesOf(t, text) }, "Zürich: Å fi 12,34 € “quoted” – façade"},
		"CID-keyed": {cjk(t, 1), func() *outlines {
			f, err := collection.Font(1)
			if err != nil {
				t.Fatal(err)
			}
			return &outlines{font: f}
		}, "中文排版也是如此：“引号”与标点（）。骨直令ABC123 っ"},
	} {
		t.Run(name, func(t *testing.T) {
			runes := map[quire.GID]bool{0: true}
			u := quire.NewUse(c.face)
			for _, r := range c.drawn {
				if g := c.face.GlyphIndex(r); g != 0 {
					u.AddRune(g, r)
					runes[g] = true
				}
			}
			ids := make([]quire.GID, 0, len(runes))
			for g := range runes {
				ids = append(ids, g)
			}
			slices.Sort(ids)
			if len(ids) < 15 {
				t.Fatalf("%d glyphs", len(ids))
			}
			s := subset(t, u, true)
			program := inflate(t, s.Program)
			if !s.CFF || s.Length1 != len(program) || !strings.Contains(s.Name, "+Sample") {
				t.Errorf("CFF %v, %d bytes of %d, %s", s.CFF, s.Length1, len(program), s.Name)
			}
			before, after := c.before(), outlinesOf(t, wrapped(c.face, program, len(ids)))
			drawn := 0
			for i, g := range ids {
				want := slices.Clone(before.glyph(t, g))
				if !slices.Equal(want, after.glyph(t, quire.GID(i))) {
					t.Errorf("glyph %d: the outline changed", g)
				}
				drawn += len(want)
			}
			if drawn < 100 {
				t.Errorf("%d segments in all: nothing was compared", drawn)
			}
			if _, err := after.font.LoadGlyph(&after.buf, sfnt.GlyphIndex(len(ids)), 0, nil); err == nil { //nolint:gosec // G115: as above
				t.Error("there are more glyphs than are used")
			}
			// The same set gives the same bytes, for both are keys of the cache.
			if again := subset(t, u, true); !bytes.Equal(again.Program, s.Program) || again.Name != s.Name {
				t.Error("a second subset differs")
			}
			for g, w := range widthsOf(t, s) {
				if want := float64(c.face.Advance(quire.GID(g))) * 1000 / float64(c.face.UnitsPerEm()); w-want > 0.01 || want-w > 0.01 { //nolint:gosec // G115: a glyph id
					t.Errorf("glyph %d: width %.2f, want %.2f", g, w, want)
				}
			}
		})
	}
}

// cffSeeds are small fonts with CFF outlines for the fuzzer.
func cffSeeds(tb testing.TB) [][]byte {
	tb.Helper()
	text, han := parse(tb, testFile(tb, "SampleText.otf")), cjk(tb, 0)
	return [][]byte{
		wrapped(text, inflate(tb, subset(tb, draw(tb, text, "ABCé"), true).Program), 5),
		wrapped(han, inflate(tb, subset(tb, draw(tb, han, "日A"), true).Program), 3),
	}
}

// TestCFFThatMayNotBeCut: a font that forbids subsets has all its glyphs.
func TestCFFThatMayNotBeCut(t *testing.T) {
	data := slices.Clone(testFile(t, "SampleText.otf"))
	whole := editOTF(t, data, "OS/2", func(b []byte) []byte {
		binary.BigEndian.PutUint16(b[8:], 0x0100)
		return b
	})
	f := parse(t, whole)
	s := subset(t, draw(t, f, "A"), true)
	if s.Name != "SampleText-Regular" {
		t.Errorf("name %s", s.Name)
	}
	before, after := outlinesOf(t, data), outlinesOf(t, wrapped(f, inflate(t, s.Program), f.NumGlyphs()))
	for g := range f.NumGlyphs() {
		id := quire.GID(g)
		if !slices.Equal(slices.Clone(before.glyph(t, id)), after.glyph(t, id)) {
			t.Errorf("glyph %d: the outline changed", g)
		}
	}
}

func editOTF(tb testing.TB, data []byte, tag string, f func([]byte) []byte) []byte {
	tb.Helper()
	out := edit(tb, data, tag, f)
	copy(out, "OTTO")
	return out
}

// TestBrokenCFF: what is wrong in the table is a typed error that names it, at the latest when the
// glyphs are used.
func TestBrokenCFF(t *testing.T) {
	data := testFile(t, "SampleText.otf")
	for name, f := range map[string]func([]byte) []byte{
		"cut off":         func(b []byte) []byte { return b[:40] },
		"version 2":       func(b []byte) []byte { b[0] = 2; return b },
		"header outside":  func(b []byte) []byte { b[2] = 255; return b[:100] },
		"size of offsets": func(b []byte) []byte { b[b[2]+2] = 5; return b },
		"without data":    func(b []byte) []byte { return b[:len(b)/3] },
		"one byte":        func(b []byte) []byte { return b[:1] },
	} {
		t.Run(name, func(t *testing.T) {
			face, err := quire.Parse(editOTF(t, data, "CFF ", f), diag.Limits{})
			if err == nil {
				_, err = draw(t, face, "AZé").Subset(false, plain)
			}
			if fe := (*quire.FormatError)(nil); !errors.As(err, &fe) || fe.Table != "CFF " {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestCollections: a face of a collection is found by its index and by its PostScript name, and two
// faces of one file are apart.
func TestCollections(t *testing.T) {
	data := testFile(t, "SampleCJK.ttc")
	first, second := cjk(t, 0), cjk(t, 1)
	if first.PostScriptName() != "SampleCJKjp-Bold" || second.PostScriptName() != "SampleCJKsc-Bold" || second.Index() != 1 {
		t.Errorf("%s, %s", first.PostScriptName(), second.PostScriptName())
	}
	if first.Hash() == second.Hash() {
		t.Error("both faces have one hash")
	}
	named, err := quire.ParseNamed(data, "SampleCJKsc-Bold", diag.Limits{})
	if err != nil || named.Hash() != second.Hash() {
		t.Errorf("by name: %v", err)
	}
	var ce *quire.CollectionError
	if _, err := quire.ParseNamed(data, "Nobody", diag.Limits{}); !errors.As(err, &ce) || !errors.Is(err, diag.ErrFont) ||
		!strings.Contains(err.Error(), "SampleCJKjp-Bold, SampleCJKsc-Bold") {
		t.Errorf("unknown name: %v", err)
	}
	for _, index := range []int{-1, 2} {
		if _, err := quire.ParseFace(data, index, diag.Limits{}); !errors.As(err, &ce) || !strings.Contains(err.Error(), "has 2") {
			t.Errorf("face %d: %v", index, err)
		}
	}
	if _, err := quire.ParseFace(embedded[0].data, 1, diag.Limits{}); !errors.As(err, &ce) {
		t.Errorf("face 1 of a single font: %v", err)
	}
	for _, n := range []int{0, 1 << 20} {
		broken := binary.BigEndian.AppendUint32(slices.Clone(data[:8]), uint32(n)) //nolint:gosec // G115: small
		if _, err := quire.Parse(append(broken, data[12:40]...), diag.Limits{}); !errors.Is(err, diag.ErrFont) {
			t.Errorf("%d faces: %v", n, err)
		}
	}

	lib, err := quire.NewLibrary(quire.Options{Families: []quire.Family{
		{Name: "Han", Faces: []quire.Source{{Data: data, Name: "SampleCJKsc-Bold"}, {Data: data, Index: 0, Style: quire.Style{Weight: 700}}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for weight, want := range map[int]string{400: "SampleCJKsc-Bold", 700: "SampleCJKjp-Bold"} {
		if m, err := lib.Match("Han", quire.Style{Weight: weight}); err != nil || m.Face.PostScriptName() != want {
			t.Errorf("weight %d: %v, %v", weight, m.Face, err)
		}
	}
}

// TestTrueTypeOfCollections: a face of a collection that may not be cut is a font of its own in the
// document, not the whole file.
func TestTrueTypeOfCollections(t *testing.T) {
	whole := edit(t, embedded[0].data, "OS/2", func(b []byte) []byte {
		binary.BigEndian.PutUint16(b[8:], 0x0100)
		return b
	})
	const head = 20
	file := append([]byte("ttcf"), 0, 1, 0, 0, 0, 0, 0, 2)
	file = binary.BigEndian.AppendUint32(file, head)
	file = binary.BigEndian.AppendUint32(file, head)
	moved := slices.Clone(whole)
	for i := range int(binary.BigEndian.Uint16(whole[4:])) { // offsets count from the start of the file
		at := moved[12+16*i+8:]
		binary.BigEndian.PutUint32(at, binary.BigEndian.Uint32(at)+head)
	}
	file = append(file, moved...)
	f, err := quire.ParseFace(file, 1, diag.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	s := subset(t, draw(t, f, "A"), true)
	if program := inflate(t, s.Program); string(program[:4]) == "ttcf" || parse(t, program).NumGlyphs() != f.NumGlyphs() {
		t.Error("the program is not the face alone")
	}
}
