package font_test

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"slices"
	"strings"
	"testing"

	quire "example.com/quire/pdf/font"
	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/internal/diag"
)

// trueType is a font of n blank glyphs, each 10 units wider than the one before, with the tables
// cmap and post that are given; nil: without.
func trueType(n int, cmap, post []byte) []byte {
	all := map[string][]byte{
		"head": make([]byte, 54), "maxp": make([]byte, 32), "hhea": make([]byte, 36), "loca": make([]byte, 2*(n+1)), "glyf": make([]byte, 4),
	}
	binary.BigEndian.PutUint32(all["head"][12:], 0x5F0F3CF5)
	copy(all["head"][18:], words(1000))
	copy(all["maxp"][4:], words(n))
	copy(all["hhea"][34:], words(n))
	for g := range n {
		all["hmtx"] = append(all["hmtx"], words(10*g, 0)...)
	}
	if cmap != nil {
		all["cmap"] = cmap
	}
	if post != nil {
		all["post"] = post
	}
	return build(all)
}

// post is a table of a version; names are those that are its own, by glyphs.
func post(version int, indexes []int, names ...string) []byte {
	b := append(words(version>>16, version&0xFFFF), make([]byte, 28)...)
	if version == 0x20000 {
		b = append(append(b, words(len(indexes))...), words(indexes...)...)
		for _, n := range names {
			b = append(append(b, byte(len(n))), n...) //nolint:gosec // G115: below 256
		}
	}
	return b
}

// namedCFF is a font whose glyphs behind .notdef have names by their SIDs, with the strings from
// 391 on.
func namedCFF(names []string, sids ...int) []byte {
	index := func(objects ...[]byte) []byte {
		if len(objects) == 0 {
			return words(0)
		}
		at, out := 1, append(words(len(objects)), 3, 0, 0, 1)
		for _, o := range objects {
			at += len(o)
			out = append(out, byte(at>>16), byte(at>>8), byte(at)) //nolint:gosec // G115: three bytes of it
		}
		return append(out, bytes.Join(objects, nil)...)
	}
	number := func(v int) []byte { return binary.BigEndian.AppendUint32([]byte{29}, uint32(v)) } //nolint:gosec // G115: small
	own := make([][]byte, len(names))
	for i, n := range names {
		own[i] = []byte(n)
	}
	glyphs := make([][]byte, len(sids)+1)
	for i := range glyphs {
		glyphs[i] = []byte{14}
	}
	head := slices.Concat([]byte{1, 0, 4, 3}, index([]byte("X")))
	behind := slices.Concat(index(own...), index())
	charset := len(head) + len(index(make([]byte, 12))) + len(behind)
	top := slices.Concat(number(charset), []byte{15}, number(charset+1+2*len(sids)), []byte{17})
	return slices.Concat(head, index(top), behind, []byte{0}, words(sids...), index(glyphs...))
}

// programs are small font programs of every kind that is read.
func programs(tb testing.TB) map[string][]byte {
	tb.Helper()
	sub := func(text string, f *quire.Face) []byte {
		u := quire.NewUse(f)
		for _, r := range text {
			u.AddRune(f.GlyphIndex(r), r)
		}
		return inflate(tb, subset(tb, u, true).Program)
	}
	codes := append(words(0, 262, 0), make([]byte, 256)...)
	codes[6+'A'] = 1
	return map[string][]byte{
		"TrueType": trueType(260, cmapTable(1, 0, codes, 1, 0, words(6, 14, 0, 'A', 2, 1, 2),
			3, 1, words(4, 32, 0, 4, 4, 1, 0, 'C', 0xFFFF, 0, 'A', 0xFFFF, (1-'A')&0xFFFF, 1, 0, 0), 3, 10, format12([3]uint32{'A', 'C', 1})),
			post(0x20000, []int{0, 36, 258}, "own")),
		"old names":         trueType(260, nil, post(0x10000, nil)),
		"CFF":               namedCFF([]string{"own"}, 34, 391),
		"CFF keyed by CIDs": sub("中文", cjk(tb, 1)),
	}
}

func letter(r byte) quire.Code {
	return quire.Code{Value: r, Name: string(rune(r)), Text: string(rune(r)), Mac: int(r)}
}

func itself(name string) string { return name }

// TestGlyphsOfCodes are found by the names of a program, those of the Macintosh among them, by its
// character maps and by its own encoding.
func TestGlyphsOfCodes(t *testing.T) {
	chain, err := liberation.New().Chain(liberation.Serif, quire.Style{Weight: 400})
	if err != nil {
		t.Fatal(err)
	}
	serif, err := chain.Pick("A")
	if err != nil {
		t.Fatal(err)
	}
	named := func(n string) quire.Code { return quire.Code{Value: 200, Name: n, Mac: -1} }
	text := testFile(t, "SampleText.otf")
	otf := parse(t, text)
	empty := cmapTable(3, 1, words(6, 10, 0, 0, 0))
	for _, x := range []struct {
		name string
		data []byte
		code quire.Code
		want []quire.GID
	}{
		{"a font as it is", serif.Data(), letter('A'), []quire.GID{serif.GlyphIndex('A')}},
		{"OpenType", text, letter('A'), []quire.GID{otf.GlyphIndex('A')}},
		{"CFF by itself", otf.Table("CFF "), letter('A'), []quire.GID{otf.GlyphIndex('A')}},
		{"a name of the Macintosh", trueType(260, empty, post(0x10000, nil)), named("dcroat"), []quire.GID{257}},
		{"another one", trueType(260, empty, post(0x10000, nil)), named("Adieresis"), []quire.GID{98}},
		{"one by its number", trueType(9, empty, post(0x20000, []int{0, 257, 210, 258}, "own")), named("apple"), []quire.GID{2}},
		{"one of its own", trueType(9, empty, post(0x20000, []int{0, 257, 210, 258}, "own")), named("own"), []quire.GID{3}},
		{"the first of two", trueType(9, empty, post(0x20000, []int{0, 258, 258}, "own")), named("own"), []quire.GID{1}},
		{"no such name", trueType(9, empty, post(0x20000, []int{0, 258, 258}, "own")), named("other"), nil},
		{"names without a map", trueType(9, nil, post(0x30000, nil)), named("own"), nil},
		{"codes that are glyphs", trueType(9, nil, nil), quire.Code{Value: 7, Mac: -1}, []quire.GID{7}},
		{"form 0", trueType(9, cmapTable(1, 0, append(words(0, 262, 0), bytes.Repeat([]byte{3}, 256)...)), nil), letter('A'), []quire.GID{3}},
		{"form 6", trueType(9, cmapTable(1, 0, words(6, 14, 0, 'A', 2, 4, 5)), nil), letter('B'), []quire.GID{5}},
		{"form 12", trueType(9, cmapTable(3, 10, format12([3]uint32{'A', 'C', 6})), nil), letter('B'), []quire.GID{7}},
		{"symbols", trueType(9, cmapTable(3, 0, format12([3]uint32{0xF041, 0xF042, 6})), nil), letter('B'), []quire.GID{7}},
		{"beside variation sequences", trueType(9, cmapTable(0, 5, words(14, 0, 10, 0, 0), 3, 1, words(6, 12, 0, 'A', 1, 4)), nil), letter('A'), []quire.GID{4}},
	} {
		p, err := quire.ParseEmbedded(x.data, diag.Limits{})
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		got, known := p.ByCode(x.code, itself)
		if !known || !slices.Equal(got, x.want) {
			t.Errorf("%s: glyphs %v, known %t; want %v", x.name, got, known, x.want)
		}
	}
	p, err := quire.ParseEmbedded(trueType(9, cmapTable(1, 0, words(6, 12, 0, 'A', 1, 4)), nil), diag.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if w, ok := p.Width(4); !ok || w != 40 {
		t.Errorf("width %g, %t", w, ok)
	}
}

// TestWhatIsNotReadOfAProgramIsNotKnown: what a code shows, where maps or names have forms that are
// not read; a simple font with glyphs by CIDs has no codes for them.
func TestWhatIsNotReadOfAProgramIsNotKnown(t *testing.T) {
	sound := words(6, 12, 0, 'A', 1, 4)
	many := []any{}
	for range 65 {
		many = append(many, 1, 0, sound)
	}
	for name, data := range map[string][]byte{
		"form 2":               trueType(9, cmapTable(3, 3, words(2, 6, 0), 1, 0, sound), nil),
		"form 8":               trueType(9, cmapTable(3, 10, words(8, 0, 0, 16, 0, 0, 0, 0), 1, 0, sound), nil),
		"form 10":              trueType(9, cmapTable(3, 10, words(10, 0, 0, 20, 0, 0, 0, 'A', 0, 0), 1, 0, sound), nil),
		"form 13":              trueType(9, cmapTable(3, 10, words(13, 0, 0, 16, 0, 0, 0, 0), 1, 0, sound), nil),
		"form 4 that is cut":   trueType(9, cmapTable(3, 1, words(4, 32, 0, 4, 4, 1, 0)), nil),
		"a map that is not in": trueType(9, append(words(0, 1, 3, 1), words(0, 9999)...), nil),
		"more maps than real":  trueType(9, cmapTable(many...), nil),
		"names by offsets":     trueType(9, cmapTable(1, 0, sound), post(0x28000, nil)),
		"names of composites":  trueType(9, cmapTable(1, 0, sound), post(0x40000, nil)),
		"glyphs by CIDs":       programs(t)["CFF keyed by CIDs"],
	} {
		p, err := quire.ParseEmbedded(data, diag.Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, known := p.ByCode(letter('A'), itself); known || got != nil {
			t.Errorf("%s: glyphs %v, known %t", name, got, known)
		}
	}
}

// TestProgramsTakeNoMoreMemoryThanTheirBytes: glyphs that have one long name, names that no PDF can
// say, and maps that have the same characters again and again.
func TestProgramsTakeNoMoreMemoryThanTheirBytes(t *testing.T) {
	long := strings.Repeat("n", 30_000)
	same := slices.Repeat([]int{391}, 20_000)
	table := cmapTable(3, 10, format12([3]uint32{0, 0x10FFFF, 1}))
	shared := slices.Concat(words(0, 64), bytes.Repeat(slices.Concat(words(3, 10), words(0, 4+8*64)), 64), table[12:])
	for name, data := range map[string][]byte{
		"one long name":         namedCFF([]string{long}, same...),
		"one name":              namedCFF([]string{long[:127]}, same...),
		"one name of post":      trueType(20_000, nil, post(0x20000, slices.Repeat([]int{258}, 20_000), long[:200])),
		"the same map 64 times": trueType(9, shared, nil),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p, err := quire.ParseEmbedded(data, diag.Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for c := range 256 {
			p.ByCode(letter(byte(c)), itself)
		}
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20+4*uint64(len(data)) {
			t.Errorf("%s: %d bytes for a program of %d", name, took, len(data))
		}
	}
	p, err := quire.ParseEmbedded(namedCFF([]string{long[:128], long[:127]}, 391, 392), diag.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]int{127: 1, 128: 0} {
		if got, _ := p.ByCode(quire.Code{Value: 200, Name: long[:n], Mac: -1}, itself); len(got) != want {
			t.Errorf("by a name of %d bytes: %v", n, got)
		}
	}
}

// FuzzEmbedded reads what is no font program.
func FuzzEmbedded(f *testing.F) {
	for _, data := range programs(f) {
		f.Add(data, byte('A'))
	}
	f.Add(sample1(""), byte('A'))
	f.Fuzz(func(t *testing.T, data []byte, code byte) {
		p, err := quire.ParseEmbedded(data, diag.Limits{})
		if err != nil {
			return
		}
		ids, _ := p.ByCode(letter(code), itself)
		if g, ok := p.ByCID(uint32(code)); ok {
			ids = append(ids, g)
		}
		for _, g := range ids {
			if int(g) >= p.NumGlyphs() && !p.CFF() {
				t.Errorf("glyph %d of %d", g, p.NumGlyphs())
			}
			p.Width(g)
		}
	})
}
