package font_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"

	quire "example.com/quire/pdf/font"
	"example.com/quire/pdf/internal/diag"
)

// draw makes a Use of every character of text.
func draw(tb testing.TB, f *quire.Face, text string) *quire.Use {
	tb.Helper()
	u := quire.NewUse(f)
	for _, r := range text {
		g := f.GlyphIndex(r)
		if g == 0 {
			tb.Fatalf("%s has no U+%04X", f.PostScriptName(), r)
		}
		u.AddRune(g, r)
	}
	return u
}

// plain is a Deflate that leaves streams as they are, for tests whose subject is
// what goes into the compressor.
func plain(dst, src []byte) ([]byte, error) { return append(dst, src...), nil }

func subset(tb testing.TB, u *quire.Use, exact bool) *quire.Subset {
	tb.Helper()
	s, err := u.Subset(exact, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func inflate(tb testing.TB, b []byte) []byte {
	tb.Helper()
	zr, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		tb.Fatal(err)
	}
	out, err := io.ReadAll(zr)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// outlines are the glyphs of a font as the oracle reads them.
type outlines struct {
	font *sfnt.Font
	buf  sfnt.Buffer
}

func outlinesOf(tb testing.TB, data []byte) *outlines {
	tb.Helper()
	f, err := sfnt.Parse(data)
	if err != nil {
		tb.Fatal(err)
	}
	return &outlines{font: f}
}

// glyph returns the outline of g, good until the next call.
func (o *outlines) glyph(tb testing.TB, g quire.GID) sfnt.Segments {
	tb.Helper()
	s, err := o.font.LoadGlyph(&o.buf, sfnt.GlyphIndex(g), fixed.I(int(o.font.UnitsPerEm())), nil)
	if err != nil {
		tb.Fatalf("glyph %d: %v", g, err)
	}
	return s
}

// completed gives a font program the tables that the oracle insists on and a
// CIDFont does not need.
func completed(tb testing.TB, program, source []byte) []byte {
	tb.Helper()
	all, from := tables(tb, program), tables(tb, source)
	for _, tag := range []string{"cmap", "name", "OS/2", "post"} {
		all[tag] = from[tag]
	}
	return build(all)
}

const sample = "Zürich: Å é fi 12,34,567.00 € “quoted” – naïve façade → ½"

// TestSubsetOutlines: every face, exact and rounded. The subset parses by our
// code and by the oracle, used glyphs have the same outline and advance, unused
// ones none, and the tables end behind the highest id.
func TestSubsetOutlines(t *testing.T) {
	for _, e := range embedded {
		for _, exact := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/exact=%v", e.name, exact), func(t *testing.T) {
				t.Parallel()
				f := parse(t, e.data)
				s := subset(t, draw(t, f, sample), exact)
				program := inflate(t, s.Program)
				if s.Length1 != len(program) {
					t.Errorf("Length1 is %d of %d", s.Length1, len(program))
				}
				sub := parse(t, program)
				before, after := outlinesOf(t, e.data), outlinesOf(t, completed(t, program, e.data))
				highest := quire.GID(0)
				for r := range map[rune]bool{'Å': true, 'é': true} {
					highest = max(highest, f.GlyphIndex(r))
				}
				for _, r := range sample {
					g := f.GlyphIndex(r)
					highest = max(highest, g)
					if !slices.Equal(before.glyph(t, g), after.glyph(t, g)) {
						t.Errorf("%c: the outline changed", r)
					}
					if sub.Advance(g) != f.Advance(g) {
						t.Errorf("%c: advance %d, was %d", r, sub.Advance(g), f.Advance(g))
					}
				}
				if exact && !strings.HasPrefix(e.name, "Liberation") && sub.NumGlyphs() != int(highest)+1 {
					t.Errorf("%d glyphs, the highest in use is %d", sub.NumGlyphs(), highest)
				}
				if exact && len(after.glyph(t, f.GlyphIndex('Q'))) != 0 {
					t.Error("an unused glyph has an outline")
				}
				if !exact && !slices.Equal(after.glyph(t, f.GlyphIndex('Q')), before.glyph(t, f.GlyphIndex('Q'))) {
					t.Error("the set was not rounded up to the block")
				}
				if len(s.Program) >= len(e.data)/3 {
					t.Errorf("%d bytes of %d remain", len(s.Program), len(e.data))
				}
			})
		}
	}
}

// TestSubsetBytesEqual compares the outlines themselves: all of a glyph but its
// instructions is kept byte for byte.
func TestSubsetBytesEqual(t *testing.T) {
	for _, e := range embedded {
		f := parse(t, e.data)
		program := inflate(t, subset(t, draw(t, f, sample), true).Program)
		for _, r := range sample {
			g := int(f.GlyphIndex(r))
			want, got := rawGlyph(t, e.data, g), rawGlyph(t, program, g)
			if len(want) == 0 {
				if len(got) != 0 {
					t.Errorf("%s %c: blank glyph has an outline", e.name, r)
				}
				continue
			}
			if int16(binary.BigEndian.Uint16(want)) < 0 { //nolint:gosec // G115: a signed field
				if !bytes.Equal(want[:10], got[:10]) || !bytes.Equal(want[12:16], got[12:16]) {
					t.Errorf("%s %c: composite changed", e.name, r)
				}
				continue
			}
			head := 10 + 2*int(binary.BigEndian.Uint16(want))
			ins := int(binary.BigEndian.Uint16(want[head:]))
			body := want[head+2+ins:]
			if !bytes.Equal(want[:head], got[:head]) || got[head] != 0 || got[head+1] != 0 {
				t.Errorf("%s %c: head changed or instructions remain", e.name, r)
			}
			if n := len(got) - head - 2; n > len(body)+1 || !bytes.Equal(got[head+2:head+2+min(n, len(body))], body[:min(n, len(body))]) {
				t.Errorf("%s %c: points changed", e.name, r)
			}
		}
	}
}

func rawGlyph(tb testing.TB, data []byte, g int) []byte {
	tb.Helper()
	all := tables(tb, data)
	if all["head"][51] == 1 {
		return all["glyf"][binary.BigEndian.Uint32(all["loca"][4*g:]):binary.BigEndian.Uint32(all["loca"][4*g+4:])]
	}
	return all["glyf"][2*int(binary.BigEndian.Uint16(all["loca"][2*g:])) : 2*int(binary.BigEndian.Uint16(all["loca"][2*g+2:]))]
}

// TestCompositesComplete: a subset of é alone has the base letter and the
// accent too.
func TestCompositesComplete(t *testing.T) {
	f := parse(t, embedded[0].data)
	for _, r := range "éÅ" {
		g := f.GlyphIndex(r)
		raw := rawGlyph(t, embedded[0].data, int(g))
		if raw[0]&0x80 == 0 {
			t.Fatalf("%c is not a composite", r)
		}
		program := inflate(t, subset(t, draw(t, f, string(r)), true).Program)
		part := int(binary.BigEndian.Uint16(raw[12:]))
		if len(rawGlyph(t, program, part)) == 0 {
			t.Errorf("%c: component %d is blank", r, part)
		}
	}
}

// TestProgramChecksums follows OpenType, "Calculating Checksums", and shows
// that no instructions are left.
func TestProgramChecksums(t *testing.T) {
	f := parse(t, embedded[0].data)
	program := inflate(t, subset(t, draw(t, f, sample), false).Program)
	sum := func(b []byte) (s uint32) {
		for i := 0; i < len(b); i += 4 {
			s += binary.BigEndian.Uint32(b[i:])
		}
		return s
	}
	if got := sum(program); got != 0xB1B0AFBA {
		t.Errorf("the file sums up to %08X", got)
	}
	n := int(binary.BigEndian.Uint16(program[4:]))
	var tags []string
	for i := range n {
		r := program[12+16*i:]
		at, size := binary.BigEndian.Uint32(r[8:]), binary.BigEndian.Uint32(r[12:])
		b := slices.Clone(program[at : at+(size+3)&^3])
		if string(r[:4]) == "head" {
			clear(b[8:12])
		}
		if got, want := sum(b), binary.BigEndian.Uint32(r[4:]); string(r[:4]) != "head" && got != want {
			t.Errorf("%s sums up to %08X, directory says %08X", r[:4], got, want)
		}
		tags = append(tags, string(r[:4]))
	}
	if got := strings.Join(tags, " "); got != "glyf head hhea hmtx loca maxp" {
		t.Errorf("tables are %s", got)
	}
}

// TestSubsetName: the tag follows from content alone and is unlike for unlike
// content.
func TestSubsetName(t *testing.T) {
	regular, bold := parse(t, embedded[0].data), parse(t, embedded[1].data)
	a, b := subset(t, draw(t, regular, "abc"), false), subset(t, draw(t, parse(t, embedded[0].data), "xyz"), false)
	if !regexp.MustCompile(`^[A-Z]{6}\+LiberationSans$`).MatchString(a.Name) {
		t.Errorf("name is %s", a.Name)
	}
	if a.Name != b.Name || !bytes.Equal(a.Program, b.Program) || !bytes.Equal(a.W, b.W) || !bytes.Equal(a.PackedW, b.PackedW) || !bytes.Equal(a.Unicode, b.Unicode) {
		t.Error("two texts of one block need different subsets")
	}
	if c := subset(t, draw(t, regular, "abc"), true); c.Name == a.Name {
		t.Error("exact and rounded subsets have one tag")
	}
	if d := subset(t, draw(t, bold, "abc"), false); d.Name[:6] == a.Name[:6] || bytes.Equal(d.Program, a.Program) {
		t.Error("regular and bold make one subset")
	}
	e := subset(t, draw(t, regular, "abcé"), false)
	if e.Name == a.Name {
		t.Error("a second block does not change the tag")
	}
}

// widthsOf reads a W array back.
func widthsOf(tb testing.TB, s *quire.Subset) map[int]float64 {
	tb.Helper()
	out := map[int]float64{}
	if long := s.PackedW != nil; long != (len(s.W) >= 256) {
		tb.Errorf("widths of %d bytes, compressed %d", len(s.W), len(s.PackedW))
	}
	toks := regexp.MustCompile(`[\[\]]|[0-9.]+`).FindAllString(string(s.W), -1)
	toks = toks[1 : len(toks)-1]
	num := func(v string) float64 {
		n, err := strconv.ParseFloat(v, 64)
		if err != nil {
			tb.Fatalf("W holds %q", v)
		}
		return n
	}
	for i := 0; i < len(toks); {
		first := int(num(toks[i]))
		if toks[i+1] != "[" {
			for g := first; g <= int(num(toks[i+1])); g++ {
				out[g] = num(toks[i+2])
			}
			i += 3
			continue
		}
		for i += 2; toks[i] != "]"; i++ {
			out[first] = num(toks[i])
			first++
		}
		i++
	}
	return out
}

func TestWidths(t *testing.T) {
	for _, e := range embedded {
		f := parse(t, e.data)
		s, err := draw(t, f, sample).Subset(false, plain)
		if err != nil {
			t.Fatal(err)
		}
		w := widthsOf(t, s)
		if s.PackedW != nil && !bytes.Equal(s.PackedW, s.W) {
			t.Errorf("%q is kept for the widths %q", s.PackedW, s.W)
		}
		for _, r := range sample {
			g := f.GlyphIndex(r)
			got, ok := w[int(g)]
			if !ok {
				got = float64(s.DW)
			}
			if want := float64(f.Advance(g)) * 1000 / float64(f.UnitsPerEm()); got < want-0.0051 || got > want+0.0051 {
				t.Errorf("%s %c: width %v, want %v", e.name, r, got, want)
			}
		}
		if _, ok := w[0]; !ok && s.DW == 1000 {
			t.Errorf("%s: no width for .notdef", e.name)
		}
	}
	mono := parse(t, embedded[8].data)
	if s := subset(t, draw(t, mono, "abcdefé"), true); s.DW == 1000 && bytes.Count(s.W, []byte(" ")) > 8 {
		t.Errorf("equal widths are written one by one: %s", s.W)
	}
}

// unicodeOf reads a ToUnicode CMap back.
func unicodeOf(tb testing.TB, s *quire.Subset) map[int]string {
	tb.Helper()
	out := map[int]string{}
	text := string(inflate(tb, s.Unicode))
	code := func(hex string) int {
		n, err := strconv.ParseUint(hex, 16, 16)
		if err != nil {
			tb.Fatal(err)
		}
		return int(n)
	}
	str := func(hex string, plus int) string {
		var u []uint16
		for ; hex != ""; hex = hex[4:] {
			u = append(u, uint16(code(hex[:4]))) //nolint:gosec // G115: parsed as 16 bits
		}
		u[len(u)-1] += uint16(plus) //nolint:gosec // G115: within a row
		return string(utf16.Decode(u))
	}
	for _, sec := range regexp.MustCompile(`(?s)(\d+) beginbf(char|range)\n(.*?)endbf`).FindAllStringSubmatch(text, -1) {
		lines := strings.Split(strings.TrimSpace(sec[3]), "\n")
		if n, err := strconv.Atoi(sec[1]); err != nil || n != len(lines) || n > 100 {
			tb.Errorf("section says %s, has %d lines", sec[1], len(lines))
		}
		for _, l := range lines {
			p := strings.FieldsFunc(l, func(r rune) bool { return r == '<' || r == '>' })
			if sec[2] == "char" {
				out[code(p[0])] = str(p[1], 0)
				continue
			}
			if p[0][:2] != p[1][:2] {
				tb.Errorf("range %s crosses a row", l)
			}
			for g := code(p[0]); g <= code(p[1]); g++ {
				out[g] = str(p[2], g-code(p[0]))
			}
		}
	}
	return out
}

// TestToUnicode: what is drawn extracts as typed, ligatures and characters
// beyond the basic plane included.
func TestToUnicode(t *testing.T) {
	for _, e := range embedded {
		f := parse(t, e.data)
		m := unicodeOf(t, subset(t, draw(t, f, sample), false))
		for _, r := range sample {
			if got := m[int(f.GlyphIndex(r))]; got != string(r) {
				t.Errorf("%s: %q extracts as %q", e.name, r, got)
			}
		}
		if _, ok := m[0]; ok {
			t.Errorf("%s: .notdef has a text", e.name)
		}
		if m[int(f.GlyphIndex('Q'))] != "Q" {
			t.Errorf("%s: a glyph of a rounded block has no text", e.name)
		}
	}
	dejavu := parse(t, embedded[12].data)
	u := quire.NewUse(dejavu)
	smile := dejavu.GlyphIndex(0x1F600)
	if !u.AddRune(smile, 0x1F600) {
		t.Error("a glyph of the character map does not stand for its character")
	}
	lig := dejavu.GlyphIndex(0xFB01)
	first := u.Add(lig, "fi")
	if again := u.Add(lig, "fi"); !first || !again || u.Add(lig, "\uFB01") || u.AddRune(lig, 0xFB01) {
		t.Error("the ligature does not keep the text it was first drawn for")
	}
	m := unicodeOf(t, subset(t, u, false))
	if m[int(smile)] != "\U0001F600" || m[int(lig)] != "fi" {
		t.Errorf("got %q and %q", m[int(smile)], m[int(lig)])
	}
}

// TestUseText: where two characters share a glyph the caller is told which one
// does not come back.
func TestUseText(t *testing.T) {
	// Space and no-break space, A and Alpha share a glyph here.
	f := parse(t, withCmap(t, 3, 10, format12([3]uint32{' ', '~', 3}, [3]uint32{0xA0, 0xA0, 3}, [3]uint32{0x391, 0x391, 36})))
	u := quire.NewUse(f)
	if !u.Empty() || u.Face() != f {
		t.Error("a new Use is not empty")
	}
	for _, tt := range []struct {
		r    rune
		want bool
	}{{' ', true}, {0xA0, false}, {' ', true}, {0x391, false}, {'A', true}, {'B', true}} {
		if got := u.AddRune(f.GlyphIndex(tt.r), tt.r); got != tt.want {
			t.Errorf("U+%04X: AddRune says %v", tt.r, got)
		}
	}
	if u.Empty() {
		t.Error("a Use with glyphs is empty")
	}
	space := f.GlyphIndex(' ')
	if u.Add(space, "x") || !u.Add(space, " ") || !u.Add(space, "") {
		t.Error("the space stands for something else")
	}
	if u.AddRune(0, 'x') || u.Add(0, "x") {
		t.Error(".notdef stands for a character")
	}
	if out := quire.GID(f.NumGlyphs()); u.AddRune(out, 'x') || u.Add(out, "x") { //nolint:gosec // G115: below 65,536
		t.Error("a glyph outside the font is accepted")
	}
	if _, ok := f.Rune(quire.GID(f.NumGlyphs())); ok { //nolint:gosec // G115: as above
		t.Error("a glyph outside the font has a character")
	}
}

// TestToUnicodeHasTextOnly: a font maps controls and the byte order mark to
// glyphs, but no glyph may stand for them (ISO 19005-2, 6.2.11.7.2).
func TestToUnicodeHasTextOnly(t *testing.T) {
	f := parse(t, withCmap(t, 3, 10, format12(
		[3]uint32{0, 0, 1}, [3]uint32{'\r', '\r', 2}, [3]uint32{'A', 'B', 36}, [3]uint32{0x9F, 0x9F, 40},
		[3]uint32{0xFE70, 0xFE70, 50}, [3]uint32{0xFEFF, 0xFEFF, 51}, [3]uint32{0xFFFE, 0xFFFF, 52})))
	u := quire.NewUse(f)
	for r, want := range map[rune]bool{0: false, '\r': false, 'A': true, 0x9F: false, 0xFE70: true, 0xFEFF: false, 0xFFFE: false} {
		if got := u.AddRune(f.GlyphIndex(r), r); got != want {
			t.Errorf("U+%04X: AddRune says %v", r, got)
		}
	}
	m := unicodeOf(t, subset(t, u, false))
	if want := map[int]string{36: "A", 37: "B", 50: "\uFE70"}; !maps.Equal(m, want) {
		t.Errorf("ToUnicode is %v, want %v", m, want)
	}
}

// TestEmbeddingPermission covers OS/2 fsType (OpenType, OS/2).
func TestEmbeddingPermission(t *testing.T) {
	tests := []struct {
		fsType  uint16
		allowed bool
		whole   bool
	}{
		{0x0000, true, false},
		{0x0002, false, false}, // restricted
		{0x0004, true, false},  // preview and print
		{0x0006, true, false},  // the more liberal bit counts
		{0x0008, true, false},  // editable
		{0x0100, true, true},   // no subsetting
		{0x0200, false, false}, // bitmaps only
		{0x0108, true, true},
	}
	for _, tt := range tests {
		data := edit(t, embedded[0].data, "OS/2", func(b []byte) []byte {
			binary.BigEndian.PutUint16(b[8:], tt.fsType)
			return b
		})
		f := parse(t, data)
		s, err := draw(t, f, "abc").Subset(false, plain)
		var ee *quire.EmbeddingError
		if tt.allowed != (err == nil) || !tt.allowed && (!errors.As(err, &ee) || !errors.Is(err, diag.ErrFont)) {
			t.Errorf("fsType %04X: %v", tt.fsType, err)
		}
		if err != nil {
			if !strings.Contains(err.Error(), fmt.Sprintf("0x%04X", tt.fsType)) {
				t.Errorf("error reads %v", err)
			}
			continue
		}
		if whole := bytes.Equal(s.Program, data); whole != tt.whole || strings.Contains(s.Name, "+") == whole {
			t.Errorf("fsType %04X: whole font is %v, name %s", tt.fsType, whole, s.Name)
		}
	}
}

func TestDescriptor(t *testing.T) {
	const fixedPitch, serif, symbolic, italic = 1, 2, 4, 64
	flags := map[string]int{
		"LiberationSans": symbolic, "LiberationSans-BoldItalic": symbolic | italic,
		"LiberationSerif": symbolic | serif, "LiberationMono-Italic": symbolic | fixedPitch | italic,
		"DejaVuSans-Bold": symbolic,
	}
	for _, e := range embedded {
		d := parse(t, e.data).Descriptor()
		if want, ok := flags[e.name]; ok && d.Flags != want {
			t.Errorf("%s: flags %d, want %d", e.name, d.Flags, want)
		}
		if d.Ascent < 600 || d.Ascent > 1000 || d.Descent > -150 || d.CapHeight < 500 || d.CapHeight > 800 ||
			d.BBox[0] >= 0 || d.BBox[2] < 600 || d.StemV < 50 || d.StemV > 200 {
			t.Errorf("%s: %+v", e.name, d)
		}
	}
	regular, bold := parse(t, embedded[0].data).Descriptor(), parse(t, embedded[1].data).Descriptor()
	if regular.StemV >= bold.StemV {
		t.Error("bold has no thicker stems")
	}
}

// TestDeflateErrors: what the compressor says comes through.
func TestDeflateErrors(t *testing.T) {
	cause := errors.New("no memory")
	for fail := range 2 {
		calls := 0
		u := draw(t, parse(t, embedded[0].data), "a")
		_, err := u.Subset(true, func(dst, src []byte) ([]byte, error) {
			calls++
			if calls > fail {
				return nil, cause
			}
			return append(dst, src...), nil
		})
		if !errors.Is(err, cause) {
			t.Errorf("failure %d: %v", fail, err)
		}
	}
}

// TestLongLoca: a glyph table over 128 KiB needs the long form.
func TestLongLoca(t *testing.T) {
	f := parse(t, embedded[12].data)
	u := quire.NewUse(f)
	for g := range f.NumGlyphs() {
		u.Add(quire.GID(g), "")
	}
	s, err := u.Subset(true, plain)
	if err != nil {
		t.Fatal(err)
	}
	program := s.Program
	if tables(t, program)["head"][51] != 1 {
		t.Fatal("the form of loca is short")
	}
	before, after := outlinesOf(t, embedded[12].data), outlinesOf(t, completed(t, program, embedded[12].data))
	for g := range f.NumGlyphs() {
		if !slices.Equal(before.glyph(t, quire.GID(g)), after.glyph(t, quire.GID(g))) {
			t.Fatalf("glyph %d changed", g)
		}
	}
	if len(slices.Collect(maps.Keys(tables(t, program)))) != 6 {
		t.Error("tables are missing")
	}
}
