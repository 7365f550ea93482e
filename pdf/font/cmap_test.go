package font_test

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	quire "example.com/quire/pdf/font"
	"example.com/quire/pdf/internal/diag"
)

func words(v ...int) (b []byte) {
	for _, w := range v {
		b = binary.BigEndian.AppendUint16(b, uint16(w)) //nolint:gosec // G115: written as 16-bit fields
	}
	return b
}

// format12 makes a subtable of groups {first, last, glyph}.
func format12(groups ...[3]uint32) []byte {
	b := words(12, 0)
	for _, v := range []int{16 + 12*len(groups), 0, len(groups)} {
		b = binary.BigEndian.AppendUint32(b, uint32(v)) //nolint:gosec // G115: small
	}
	for _, g := range groups {
		for _, v := range g {
			b = binary.BigEndian.AppendUint32(b, v)
		}
	}
	return b
}

// cmapTable makes a table of subtables, given as platform, encoding, bytes.
func cmapTable(subs ...any) []byte {
	n := len(subs) / 3
	b := words(0, n)
	at := 4 + 8*n
	for i := range n {
		sub := subs[3*i+2].([]byte)
		b = append(b, words(subs[3*i].(int), subs[3*i+1].(int), 0, at)...)
		at += len(sub)
	}
	for i := range n {
		b = append(b, subs[3*i+2].([]byte)...)
	}
	return b
}

func withCmap(tb testing.TB, subs ...any) []byte {
	tb.Helper()
	return edit(tb, embedded[0].data, "cmap", func([]byte) []byte { return cmapTable(subs...) })
}

// TestCmapFormats builds the subtables of OpenType, cmap, by hand.
func TestCmapFormats(t *testing.T) {
	// Two segments and the closing one: A to C by delta, a to b by an array.
	format4 := words(4, 44, 0, 6, 4, 1, 2,
		'C', 'b', 0xFFFF, 0,
		'A', 'a', 0xFFFF,
		100-'A', 1, 1,
		0, 4, 0,
		200, 0)
	symbols := words(4, 32, 0, 4, 4, 1, 0,
		0xF0FF, 0xFFFF, 0,
		0xF020, 0xFFFF,
		(7-0xF020)&0xFFFF, 1,
		0, 0)
	tests := []struct {
		name string
		data []byte
		want map[rune]quire.GID
	}{
		{"format 4", withCmap(t, 3, 1, format4), map[rune]quire.GID{
			'A': 100, 'C': 102, 'D': 0, 'a': 201, 'b': 0, '@': 0, 0xFFFE: 0, 0xFFFF: 0, 0x10041: 0, -1: 0,
		}},
		{"format 12", withCmap(t, 0, 4, format12([3]uint32{'A', 'B', 5}, [3]uint32{0x1F600, 0x1F601, 70})), map[rune]quire.GID{
			'A': 5, 'B': 6, 'C': 0, 0x1F601: 71, 0x1F602: 0, 0x10FFFF: 0, 300: 0,
		}},
		{"the widest repertoire wins", withCmap(t, 0, 3, format4, 3, 1, format4, 3, 10, format12([3]uint32{'A', 'A', 9})), map[rune]quire.GID{'A': 9, 'C': 0}},
		{"an unknown format is passed over", withCmap(t, 3, 1, format4, 3, 10, words(14, 0, 0, 0)), map[rune]quire.GID{'A': 100}},
		{"symbols", withCmap(t, 3, 0, symbols), map[rune]quire.GID{' ': 7, 'A': 7 + 'A' - ' ', 0xF041: 7 + 'A' - ' ', 0x141: 0}},
		{"a glyph outside the font", withCmap(t, 3, 10, format12([3]uint32{'A', 'A', 60000}, [3]uint32{'B', 'B', 70000}, [3]uint32{'C', 'C', 3})), map[rune]quire.GID{'A': 0, 'B': 0, 'C': 3}},
		{"range offset outside the table", withCmap(t, 3, 1, words(4, 32, 0, 4, 4, 1, 0, 'B', 0xFFFF, 0, 'A', 0xFFFF, 0, 1, 30000, 0)), map[rune]quire.GID{'A': 0}},
		{"no table", edit(t, embedded[0].data, "cmap", func([]byte) []byte { return nil }), map[rune]quire.GID{'A': 0, 0x1F600: 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := parse(t, tt.data)
			for r, want := range tt.want {
				if got := f.GlyphIndex(r); got != want {
					t.Errorf("U+%04X: glyph %d, want %d", r, got, want)
				}
				if want == 0 || r < 0 {
					continue
				}
				if first, ok := f.Rune(want); !ok || first > r && !strings.HasPrefix(tt.name, "symbols") {
					t.Errorf("glyph %d stands for U+%04X, %v", want, first, ok)
				}
			}
		})
	}
}

// TestCmapRunsBackwards: overlapping, reversed and endless groups neither loop
// nor yield what a look-up does not find.
func TestCmapRunsBackwards(t *testing.T) {
	f := parse(t, withCmap(t, 3, 10, format12(
		[3]uint32{'z', 'a', 1}, [3]uint32{0, 0xFFFFFFFF, 3}, [3]uint32{'A', 'Z', 9}, [3]uint32{0xD800, 0xDFFF, 4})))
	u := quire.NewUse(f)
	if g := f.GlyphIndex('A'); g != 0 {
		u.AddRune(g, 'A')
	}
	if _, err := u.Subset(false, nil); err != nil {
		t.Fatal(err)
	}
}

func TestBrokenFonts(t *testing.T) {
	base := embedded[0].data
	cut := func(tag string, n int) []byte {
		return edit(t, base, tag, func(b []byte) []byte { return b[:n] })
	}
	without := func(tag string) []byte { return edit(t, base, tag, func([]byte) []byte { return nil }) }
	set := func(tag string, at int, v ...int) []byte {
		return edit(t, base, tag, func(b []byte) []byte { copy(b[at:], words(v...)); return b })
	}
	raw := func(at int, v ...int) []byte { b := slices.Clone(base); copy(b[at:], words(v...)); return b }
	tests := []struct {
		name  string
		data  []byte
		table string
	}{
		{"empty", nil, ""},
		{"short", base[:11], ""},
		{"unknown kind", raw(0, 0x1234, 0), ""},
		{"no tables", raw(4, 0), ""},
		{"too many tables", raw(4, 300), ""},
		{"directory cut off", base[:40], ""},
		{"file cut off", base[:len(base)/2], "*"},
		{"table twice", func() []byte { b := slices.Clone(base); copy(b[12+16:12+20], b[12:16]); return b }(), "*"},
		{"no head", without("head"), "head"},
		{"head cut off", cut("head", 53), "head"},
		{"head magic", set("head", 12, 0), "head"},
		{"units per em", set("head", 18, 8), "head"},
		{"units per em, high", set("head", 18, 16385), "head"},
		{"loca form", set("head", 50, 2), "head"},
		{"no maxp", without("maxp"), "maxp"},
		{"no glyphs", set("maxp", 4, 0), "maxp"},
		{"more glyphs than metrics", set("maxp", 4, 65000), "hmtx"},
		{"no hhea", without("hhea"), "hhea"},
		{"no metrics", set("hhea", 34, 0), "hhea"},
		{"too many metrics", set("hhea", 34, 60000), "hhea"},
		{"hmtx cut off", cut("hmtx", 100), "hmtx"},
		{"OS/2 cut off", cut("OS/2", 60), "OS/2"},
		{"post cut off", cut("post", 31), "post"},
		{"no loca", without("loca"), "loca"},
		{"loca cut off", cut("loca", 100), "loca"},
		{"no glyf", without("glyf"), "glyf"},
		{"name cut off", cut("name", 5), "name"},
		{"name records outside", set("name", 2, 60000), "name"},
		{"name strings outside", set("name", 0, 0, 1, 18, 3, 1, 0x409, 6, 60000, 0), "name"},
		{"cmap cut off", cut("cmap", 3), "cmap"},
		{"cmap records outside", set("cmap", 2, 9999), "cmap"},
		{"cmap subtable outside", set("cmap", 4+4, 0x7FFF), "cmap"},
		{"format 4 cut off", withCmap(t, 3, 1, words(4, 0, 0)), "cmap"},
		{"format 4 without segments", withCmap(t, 3, 1, words(4, 0, 0, 0, 0, 0, 0, 0)), "cmap"},
		{"format 4 segments outside", withCmap(t, 3, 1, words(4, 0, 0, 80, 0, 0, 0, 0)), "cmap"},
		{"format 12 cut off", withCmap(t, 3, 10, words(12, 0, 0)), "cmap"},
		{"format 12 groups outside", withCmap(t, 3, 10, words(12, 0, 0, 0, 0, 0, 0xFFFF, 0xFFFF)), "cmap"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := quire.Parse(tt.data, diag.Limits{})
			var fe *quire.FormatError
			if !errors.As(err, &fe) || !errors.Is(err, diag.ErrFont) || tt.table != "*" && fe.Table != tt.table {
				t.Fatalf("error is %v, want a FormatError of %q", err, tt.table)
			}
			if !strings.HasPrefix(err.Error(), "font: read ") {
				t.Errorf("error reads %v", err)
			}
		})
	}
}

func TestUnsupportedKinds(t *testing.T) {
	for kind, word := range map[string]string{"wOFF": "WOFF", "wOF2": "WOFF"} {
		_, err := quire.Parse(append([]byte(kind), make([]byte, 100)...), diag.Limits{})
		if !errors.Is(err, diag.ErrFont) || !errors.Is(err, diag.ErrUnsupported) || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if _, err := quire.Parse(append([]byte("true"), embedded[0].data[4:]...), diag.Limits{}); err != nil {
		t.Errorf("Apple's kind of TrueType: %v", err)
	}
}

func TestFontLimits(t *testing.T) {
	for name, l := range map[string]diag.Limits{"FontBytes": {FontBytes: 1000}, "FontGlyphs": {FontGlyphs: 100}} {
		_, err := quire.Parse(embedded[0].data, l)
		var le *diag.LimitError
		if !errors.As(err, &le) || le.Name != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSparseFont: tables a font program inside a PDF may lack have defaults.
func TestSparseFont(t *testing.T) {
	all := tables(t, embedded[0].data)
	for _, tag := range []string{"OS/2", "post", "name", "cmap", "kern", "GPOS"} {
		delete(all, tag)
	}
	hhea := slices.Clone(all["hhea"])
	clear(hhea[4:10])
	all["hhea"] = hhea
	f := parse(t, build(all))
	m := f.Metrics()
	if f.PostScriptName() != "Font" || f.Family() != "" || f.Style() != (quire.Style{Weight: 400}) {
		t.Errorf("named %s, %s, %+v", f.PostScriptName(), f.Family(), f.Style())
	}
	if m.Ascent <= 0 || m.Descent >= 0 || m.CapHeight <= 0 || m.XHeight <= 0 || m.UnderlineThickness <= 0 ||
		m.UnderlinePosition >= 0 || m.StrikeThickness <= 0 || m.StrikePosition <= 0 {
		t.Errorf("metrics are %+v", m)
	}
	if f.Kern(36, 57) != 0 || f.Table("kern") != nil || len(f.Data()) == 0 {
		t.Error("kerning from nowhere")
	}
	if f.Advance(quire.GID(f.NumGlyphs())) != 0 { //nolint:gosec // G115: below 65,536
		t.Error("a glyph outside the font has an advance")
	}
}

// TestMetricsOfOS2: typographic values count where the font says so, and a
// positive descent is taken for what it means.
func TestMetricsOfOS2(t *testing.T) {
	f := parse(t, edit(t, embedded[0].data, "OS/2", func(b []byte) []byte {
		copy(b[62:], words(1<<7|1<<9))
		copy(b[68:], words(1500, 500, 33))
		return b
	}))
	if m := f.Metrics(); m.Ascent != 1500 || m.Descent != -500 || m.LineGap != 33 || !f.Style().Italic {
		t.Errorf("metrics are %+v", m)
	}
	short := parse(t, edit(t, embedded[0].data, "OS/2", func(b []byte) []byte { return b[:68] }))
	if m := short.Metrics(); m.CapHeight < 1300 || m.CapHeight > 1500 {
		t.Errorf("cap height measured as %d", m.CapHeight)
	}
}

// TestPostScriptNames: what reaches a PDF name is harmless.
func TestPostScriptNames(t *testing.T) {
	record := func(platform, encoding, language, id int, s []byte) []byte {
		return append(words(0, 1, 18, platform, encoding, language, id, len(s), 0), s...)
	}
	utf16 := func(s string) (b []byte) {
		for _, r := range s {
			b = append(b, words(int(r))...)
		}
		return b
	}
	tests := []struct {
		name  string
		table []byte
		want  string
	}{
		{"Windows", record(3, 1, 0x409, 6, utf16("My Font/(Bold)#1é")), "MyFontBold1"},
		{"Unicode", record(0, 3, 0, 6, utf16("Plain")), "Plain"},
		{"Macintosh", record(1, 0, 0, 6, []byte("Mac-Bold")), "Mac-Bold"},
		{"Macintosh, not ASCII", record(1, 0, 0, 6, []byte("Mac\xC5")), "Font"},
		{"another language", record(3, 1, 0x407, 6, utf16("Schrift")), "Font"},
		{"family alone", record(3, 1, 0x409, 1, utf16("My Family")), "MyFamily"},
		{"long", record(1, 0, 0, 6, []byte(strings.Repeat("x", 100))), strings.Repeat("x", 63)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := parse(t, edit(t, embedded[0].data, "name", func([]byte) []byte { return tt.table }))
			if f.PostScriptName() != tt.want {
				t.Errorf("name is %q, want %q", f.PostScriptName(), tt.want)
			}
		})
	}
}

// TestBrokenOutlines: damage in glyf shows when the glyph is used, as an error.
func TestBrokenOutlines(t *testing.T) {
	f := parse(t, embedded[0].data)
	gid := func(r rune) int { return int(f.GlyphIndex(r)) }
	offset := func(g int) int {
		loca := tables(t, embedded[0].data)["loca"]
		if len(loca) > 4*f.NumGlyphs() {
			return int(binary.BigEndian.Uint32(loca[4*g:]))
		}
		return 2 * int(binary.BigEndian.Uint16(loca[2*g:]))
	}
	glyf := func(at int, v ...int) []byte {
		return edit(t, embedded[0].data, "glyf", func(b []byte) []byte { copy(b[at:], words(v...)); return b })
	}
	// shrink makes the glyph n bytes long by moving the start of the next.
	shrink := func(r rune, n int) []byte {
		return edit(t, embedded[0].data, "loca", func(b []byte) []byte {
			g := gid(r) + 1
			if len(b) > 4*f.NumGlyphs() {
				binary.BigEndian.PutUint32(b[4*g:], uint32(offset(gid(r))+n)) //nolint:gosec // G115: small
			} else {
				binary.BigEndian.PutUint16(b[2*g:], uint16((offset(gid(r))+n)/2)) //nolint:gosec // G115: small
			}
			return b
		})
	}
	tests := []struct {
		name string
		data []byte
		r    rune
		want string
	}{
		{"component outside the font", glyf(offset(gid('é'))+12, 0xFFFF), 'é', "not a glyph of the font"},
		{"component cut off", shrink('é', 12), 'é', "component cut off"},
		{"component arguments cut off", shrink('é', 14), 'é', "component cut off"},
		{"outline cut off", shrink('A', 8), 'A', "outline cut off"},
		{"contours cut off", shrink('A', 12), 'A', "outline cut off"},
		{"instructions too long", glyf(offset(gid('I'))+12, 60000), 'I', "cut off"},
		{"coordinates cut off", shrink('O', 60), 'O', "cut off"},
		{"outline outside glyf", edit(t, embedded[0].data, "glyf", func(b []byte) []byte { return b[:20] }), 'A', "outside glyf"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			broken := parse(t, tt.data)
			_, err := draw(t, broken, string(tt.r)).Subset(true, nil)
			if !errors.Is(err, diag.ErrFont) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want %q", err, tt.want)
			}
			if _, err := quire.NewCache(1<<20, nil).Subset(draw(t, broken, string(tt.r)), true); err == nil {
				t.Error("the cache hides the error")
			}
		})
	}
	// A composite of itself ends.
	self := parse(t, glyf(offset(gid('é'))+12, gid('é')))
	if _, err := draw(t, self, "é").Subset(true, nil); err != nil {
		t.Errorf("a composite of itself: %v", err)
	}
}

// TestKernTables: other kinds of table, and damage, mean no kerning.
func TestKernTables(t *testing.T) {
	pair := words(36, 57, -150&0xFFFF)
	tests := []struct {
		name  string
		table []byte
		want  int
	}{
		{"one pair", append(words(0, 1, 0, 20, 1, 1, 6, 0, 0), pair...), -150},
		{"vertical first", append(append(words(0, 2, 0, 14, 0, 0, 0, 0, 0), words(0, 20, 1, 1, 6, 0, 0)...), pair...), -150},
		{"Apple's form", append(words(1, 0, 0, 1), pair...), 0},
		{"pairs cut off", append(words(0, 1, 0, 20, 1, 9, 6, 0, 0), pair...), 0},
		{"cut off", words(0, 1, 0), 0},
		{"subtable too short", append(words(0, 2, 0, 2, 0, 0, 0, 0, 0), pair...), 0},
		{"none in it", words(0, 0), 0},
		{"before and behind", append(words(0, 1, 0, 32, 1, 3, 6, 0, 0), append(words(36, 56, 1), append(pair, words(37, 1, 2)...)...)...), -150},
		{"not sorted", append(words(0, 1, 0, 26, 1, 2, 6, 0, 0), append(words(37, 57, 9), pair...)...), 0},
		{"a glyph that is not there", append(words(0, 1, 0, 26, 1, 2, 6, 0, 0), append(pair, words(0xFFFF, 57, 9)...)...), -150},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := parse(t, edit(t, embedded[0].data, "kern", func([]byte) []byte { return tt.table }))
			if got := f.Kern(36, 57); got != tt.want {
				t.Errorf("kern is %d, want %d", got, tt.want)
			}
		})
	}
}

// FuzzParse: no font makes the package panic or run away, whether it is parsed
// or subset. Seeds are small fonts, so that mutations hit the tables.
func FuzzParse(f *testing.F) {
	full := parse(f, embedded[0].data)
	u := draw(f, full, "Aé1")
	program := inflate(f, subset(f, u, true).Program)
	f.Add(program)
	small := tables(f, program)
	from := tables(f, embedded[0].data)
	small["OS/2"], small["post"] = from["OS/2"], from["post"][:32]
	small["name"] = append(words(0, 1, 18, 1, 0, 0, 6, 4, 0), "Tiny"...)
	small["cmap"] = cmapTable(3, 1, words(4, 32, 0, 4, 4, 1, 0, 'C', 0xFFFF, 0, 'A', 0xFFFF, (36-'A')&0xFFFF, 1, 0, 0))
	small["kern"] = append(words(0, 1, 0, 20, 1, 1, 6, 0, 0), words(36, 57, 9)...)
	f.Add(build(small))
	small["cmap"] = cmapTable(3, 10, format12([3]uint32{'A', 'C', 36}))
	f.Add(build(small))
	for _, seed := range cffSeeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		face, err := quire.Parse(data, diag.Limits{FontBytes: 1 << 20})
		if err != nil {
			if !errors.Is(err, diag.ErrFont) && !errors.Is(err, diag.ErrLimit) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		use := quire.NewUse(face)
		for _, r := range "ABCé₹\U0001F600、日" {
			g := face.GlyphIndex(r)
			if int(g) >= face.NumGlyphs() {
				t.Fatalf("glyph %d of %d", g, face.NumGlyphs())
			}
			face.Advance(g)
			face.Kern(g, g)
			use.AddRune(g, r)
		}
		plain := func(dst, src []byte) ([]byte, error) { return append(dst, src...), nil }
		s, err := use.Subset(false, plain)
		if err != nil {
			if !errors.Is(err, diag.ErrFont) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		if s.CFF || !strings.Contains(s.Name, "+") { // no file of its own, or embedded whole
			return
		}
		if _, err := quire.Parse(s.Program, diag.Limits{}); err != nil {
			t.Fatalf("the subset does not parse: %v", err)
		}
	})
}
