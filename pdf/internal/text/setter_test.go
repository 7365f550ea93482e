package text_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/internal/text"
	"example.com/quire/pdf/internal/text/gotext"
)

func typesetter(tb testing.TB, cache int64) *text.Typesetter {
	tb.Helper()
	return text.NewTypesetter(liberation.New(), text.Latin{}, &gotext.Segmenter{}, cache)
}

func chain(tb testing.TB, ts *text.Typesetter, q text.Query) *text.Chain {
	tb.Helper()
	c, err := ts.Chain(q)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func piece(tb testing.TB, ts *text.Typesetter, s string) []text.Piece {
	tb.Helper()
	return []text.Piece{{Text: s, Chain: chain(tb, ts, text.Query{}), Size: 10 * doc.Pt}}
}

// lineText joins the texts of a line's items.
func lineText(l *text.Line) string {
	var b strings.Builder
	for i := range l.Items {
		b.WriteString(l.Items[i].Part.Text)
	}
	return b.String()
}

func texts(lines []text.Line) []string {
	out := make([]string, len(lines))
	for i := range lines {
		out[i] = strings.TrimRight(lineText(&lines[i]), " ")
	}
	return out
}

func TestSetBreaksLines(t *testing.T) {
	ts := typesetter(t, 1<<20)
	for _, c := range []struct {
		name, in string
		width    doc.Length
		want     []string
	}{
		{"fits", "one two", 100 * doc.Pt, []string{"one two"}},
		{"greedy", "one two three four", 40 * doc.Pt, []string{"one two", "three", "four"}},
		{"line feed", "a\nb\n\nc", 100 * doc.Pt, []string{"a", "b", "", "c"}},
		{"carriage return and line feed", "a\r\nb", 100 * doc.Pt, []string{"a", "b"}},
		{"trailing line feed", "a\n", 100 * doc.Pt, []string{"a"}},
		{"empty", "", 100 * doc.Pt, []string{}},
		{"hyphen of a compound", "well-known fact", 40 * doc.Pt, []string{"well-", "known", "fact"}},
		{"no-break space", "10\u00A0kg of it", 30 * doc.Pt, []string{"10\u00A0kg", "of it"}},
		{"zero width space", "aaaa\u200Bbbbb", 30 * doc.Pt, []string{"aaaa\u200B", "bbbb"}},
		{"soft hyphen unused", "auto\u00ADmatic", 100 * doc.Pt, []string{"auto\u00ADmatic"}},
		{"soft hyphen used", "auto\u00ADmatic", 30 * doc.Pt, []string{"auto\u00AD\u00AD", "matic"}},
		{"long word", "Donaudampfschiff", 40 * doc.Pt, []string{"Donaud", "ampfsch", "iff"}},
		{"long word after a short one", "an Donaudampfschiff", 40 * doc.Pt, []string{"an", "Donaud", "ampfsch", "iff"}},
		{"ideographs", "\u4E00\u4E8C", 100 * doc.Pt, nil},
		{"tab is a space", "a\tb", 100 * doc.Pt, []string{"a b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines, err := text.NewSetter(t.Context(), ts).Set(piece(t, ts, c.in), c.width, doc.AlignLeft)
			if c.want == nil {
				if _, ok := errors.AsType[*text.MissingGlyphError](err); !ok {
					t.Fatalf("want a missing glyph, got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := texts(lines)
			if strings.Join(got, "|") != strings.Join(c.want, "|") || len(got) != len(c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestSetAlignment checks the places of the first and last items.
func TestSetAlignment(t *testing.T) {
	ts := typesetter(t, 1<<20)
	const width = 60 * doc.Pt
	in := "one two three four five"
	for _, a := range []doc.Align{doc.AlignLeft, doc.AlignRight, doc.AlignCenter, doc.AlignJustify} {
		lines, err := text.NewSetter(t.Context(), ts).Set(piece(t, ts, in), width, a)
		if err != nil {
			t.Fatal(err)
		}
		for i := range lines {
			items := lines[i].Items
			n := len(items)
			for items[n-1].Space {
				n--
			}
			left, right := items[0].X, items[n-1].X+items[n-1].W
			last := i == len(lines)-1
			switch {
			case a == doc.AlignLeft && left != 0,
				a == doc.AlignRight && right != width,
				a == doc.AlignCenter && (left < (width-right)-1 || left > (width-right)+1),
				a == doc.AlignJustify && !last && (left != 0 || right != width),
				a == doc.AlignJustify && last && right == width:
				t.Errorf("alignment %d line %d: from %d to %d of %d", a, i, left, right, width)
			}
		}
	}
}

func TestSetSpansPieces(t *testing.T) {
	ts := typesetter(t, 1<<20)
	bold := chain(t, ts, text.Query{Weight: 700})
	pieces := []text.Piece{
		{Text: "semi", Chain: chain(t, ts, text.Query{}), Size: 10 * doc.Pt},
		{Text: "bold word", Chain: bold, Size: 10 * doc.Pt},
	}
	lines, err := text.NewSetter(t.Context(), ts).Set(pieces, 45*doc.Pt, doc.AlignLeft)
	if err != nil {
		t.Fatal(err)
	}
	if got := texts(lines); got[0] != "semibold" || got[1] != "word" {
		t.Errorf("no break stands between pieces of one word: %q", got)
	}
	if f := lines[0].Items[1].Part.Face; f != bold.Face() || lines[0].Items[1].Piece != 1 {
		t.Error("the second piece is set in bold")
	}
}

// TestFallbackByCluster: Liberation has no rupee sign, so DejaVu Sans draws it,
// in the weight of the text.
func TestFallbackByCluster(t *testing.T) {
	ts := typesetter(t, 1<<20)
	lines, err := text.NewSetter(t.Context(), ts).Set([]text.Piece{{
		Text: "₹99", Chain: chain(t, ts, text.Query{Weight: 700}), Size: 10 * doc.Pt,
	}}, 100*doc.Pt, doc.AlignLeft)
	if err != nil {
		t.Fatal(err)
	}
	items := lines[0].Items
	if len(items) != 2 {
		t.Fatalf("got %d parts, want 2", len(items))
	}
	if a, b := items[0].Part.Face.PostScriptName(), items[1].Part.Face.PostScriptName(); a != "DejaVuSans-Bold" || b != "LiberationSans-Bold" {
		t.Errorf("faces %s and %s", a, b)
	}
	if items[1].X != items[0].W {
		t.Errorf("the second part begins at %d, the first ends at %d", items[1].X, items[0].W)
	}
}

// TestComposedMarks: a letter with a combining mark is drawn by the composed
// glyph, and its text stays as typed.
func TestComposedMarks(t *testing.T) {
	ts := typesetter(t, 0)
	lines, err := text.NewSetter(t.Context(), ts).Set(piece(t, ts, "e\u0301"), 100*doc.Pt, doc.AlignLeft)
	if err != nil {
		t.Fatal(err)
	}
	p := lines[0].Items[0].Part
	if len(p.Glyphs) != 1 || p.Glyphs[0].ID != p.Face.GlyphIndex('é') || p.Text != "e\u0301" {
		t.Errorf("got %d glyphs for %q", len(p.Glyphs), p.Text)
	}
}

func TestTabularFiguresAreNotKerned(t *testing.T) {
	ts := typesetter(t, 1<<20)
	width := func(tabular bool, s string) doc.Length {
		t.Helper()
		_, w, err := text.NewSetter(t.Context(), ts).Measure([]text.Piece{{
			Text: s, Chain: chain(t, ts, text.Query{TabularFigures: tabular}), Size: 10 * doc.Pt,
		}})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	if width(true, "1111") != width(true, "8888") {
		t.Error("tabular figures differ in width")
	}
	if width(false, "AVAV") >= width(false, "A")+width(false, "V")+width(false, "A")+width(false, "V") {
		t.Error("AV is not kerned")
	}
}

func TestTextErrors(t *testing.T) {
	ts := typesetter(t, 1<<20)
	set := func(s string, w doc.Length) error {
		_, err := text.NewSetter(t.Context(), ts).Set(piece(t, ts, s), w, doc.AlignLeft)
		return err
	}
	t.Run("missing glyph", func(t *testing.T) {
		var e *text.MissingGlyphError
		if err := set("price \u4E00", 100*doc.Pt); !errors.As(err, &e) {
			t.Fatal(err)
		}
		if e.Rune != 0x4E00 || len(e.Fonts) != 2 || !strings.Contains(e.Error(), "U+4E00") || e.Unwrap() == nil {
			t.Errorf("%v", e)
		}
	})
	for _, s := range []string{"שלום", "سلام"} {
		t.Run("script "+s, func(t *testing.T) {
			var e *text.ScriptError
			if err := set(s, 100*doc.Pt); !errors.As(err, &e) {
				t.Fatal(err)
			}
			if e.Text != s || e.Script == "" || e.Error() == "" {
				t.Errorf("%+v", e)
			}
		})
	}
	t.Run("narrow", func(t *testing.T) {
		var e *text.NarrowError
		if err := set("MM", 3*doc.Pt); !errors.As(err, &e) {
			t.Fatal(err)
		}
		if e.Text != "M" || e.Width != 3*doc.Pt || e.Error() == "" {
			t.Errorf("%+v", e)
		}
		one := []text.Piece{{Text: "MM", Chain: chain(t, ts, text.Query{}), Size: 10 * doc.Pt}}
		_, err := text.NewSetter(t.Context(), ts).SetParagraph(one, 10*doc.Pt, text.Options{Indent: -11*doc.Pt - doc.Pt/2})
		if err == nil || err.Error() != `"M" is 8.33 pt wide and the line -1.50 pt` {
			t.Errorf("beside an indent: %v", err)
		}
	})
	t.Run("family in any case", func(t *testing.T) {
		a, b := chain(t, ts, text.Query{Family: "Liberation Serif"}), chain(t, ts, text.Query{Family: "LIBERATION serif"})
		if a != b {
			t.Error("two spellings are two chains")
		}
	})
	t.Run("family", func(t *testing.T) {
		if _, err := ts.Chain(text.Query{Family: "Nope"}); err == nil {
			t.Error("an unknown family gives a chain")
		}
	})
}

func TestMeasure(t *testing.T) {
	ts := typesetter(t, 1<<20)
	s := text.NewSetter(t.Context(), ts)
	least, most, err := s.Measure(piece(t, ts, "a longest b\nshort"))
	if err != nil {
		t.Fatal(err)
	}
	_, word, err := s.Measure(piece(t, ts, "longest"))
	if err != nil {
		t.Fatal(err)
	}
	_, line, err := s.Measure(piece(t, ts, "a longest b"))
	if err != nil {
		t.Fatal(err)
	}
	if least != word || most != line {
		t.Errorf("least %d, want %d; most %d, want %d", least, word, most, line)
	}
	if _, _, err := s.Measure(piece(t, ts, "\u4E00")); err == nil {
		t.Error("a missing glyph is measured")
	}
}

// TestNoTextIsLost breaks random texts at random widths: what comes out is what
// went in, but for the spaces at line ends, and no line is too wide.
func TestNoTextIsLost(t *testing.T) {
	ts := typesetter(t, 64<<10)
	s := text.NewSetter(t.Context(), ts)
	rapid.Check(t, func(rt *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[A-Za-z0-9éß€₹.,\-/()]{1,24}`), 1, 12).Draw(rt, "words")
		width := doc.Length(rapid.IntRange(12, 200).Draw(rt, "width")) * doc.Pt
		align := doc.Align(rapid.Uint8Range(0, 3).Draw(rt, "align"))
		in := strings.Join(words, " ")
		lines, err := s.Set(piece(t, ts, in), width, align)
		for wide, ok := errors.AsType[*text.FigureError](err); ok; wide, ok = errors.AsType[*text.FigureError](err) {
			if wide.Need <= width {
				rt.Fatal(err)
			}
			width = wide.Need
			lines, err = s.Set(piece(t, ts, in), width, align)
		}
		if err != nil {
			rt.Fatal(err)
		}
		var got strings.Builder
		for i := range lines {
			got.WriteString(lineText(&lines[i]))
			if lines[i].Width > width {
				rt.Fatalf("line %d is %d wide, the paragraph %d", i, lines[i].Width, width)
			}
		}
		bare := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if bare(got.String()) != bare(in) {
			rt.Fatalf("in %q, out %q", in, got.String())
		}
	})
}

// TestPlainBreaksAreTheTables: the short cut for plain text finds what the
// tables of UAX #14 say.
func TestPlainBreaksAreTheTables(t *testing.T) {
	seg := &gotext.Segmenter{}
	rapid.Check(t, func(rt *rapid.T) {
		in := rapid.StringMatching(`([a-zA-ZÀ-ž]{0,3}[-.,:; ×\n]?[0-9]{0,3}[-.,:;]? ?){0,12}`).Draw(rt, "text")
		want := seg.Breaks(nil, in)
		got, ok := text.PlainBreaks(nil, in)
		if !ok {
			return
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("%q: got %v, want %v", in, got, want)
		}
	})
}

// TestPlainPairs: the short cut agrees with the tables on every character it
// knows, beside one of every class.
func TestPlainPairs(t *testing.T) {
	seg := &gotext.Segmenter{}
	var known []rune
	for r := range rune(0x300) {
		if _, ok := text.PlainBreaks(nil, "a"+string(r)+"a"); ok {
			known = append(known, r)
		}
	}
	if len(known) < 60 {
		t.Fatalf("only %q are known", string(known))
	}
	for _, a := range known {
		for _, b := range "aZé09 .,:;-\n" {
			for _, in := range []string{
				"x" + string(a) + string(b) + "x", "7" + string(b) + string(a) + "7",
				string(a) + string(b), "x " + string(b) + string(a) + " x",
			} {
				if got, ok := text.PlainBreaks(nil, in); ok && !slices.Equal(got, seg.Breaks(nil, in)) {
					t.Errorf("%q: got %v, want %v", in, got, seg.Breaks(nil, in))
				}
			}
		}
	}
}

// TestCacheIsPure: with and without a cache, of any size, lines are equal.
func TestCacheIsPure(t *testing.T) {
	with, small, without := typesetter(t, 1<<20), typesetter(t, 2*512), typesetter(t, 0)
	for range 3 {
		for w := range strings.FieldsSeq("Mahogany mahogany AVATAR 12.50 ₹12.50 Zoë " + strings.Repeat("x", 80)) {
			var ref []text.Glyph
			for i, ts := range []*text.Typesetter{without, small, with} {
				lines, err := text.NewSetter(t.Context(), ts).Set(piece(t, ts, w), text.Unlimited, doc.AlignLeft)
				if err != nil {
					t.Fatal(err)
				}
				var all []text.Glyph
				for _, it := range lines[0].Items {
					all = append(all, it.Part.Glyphs...)
				}
				if i == 0 {
					ref = all
					continue
				}
				if len(all) != len(ref) {
					t.Fatalf("%q: %v, want %v", w, all, ref)
				}
				for k := range all {
					if all[k] != ref[k] {
						t.Fatalf("%q: %v, want %v", w, all, ref)
					}
				}
			}
		}
	}
}

func TestClean(t *testing.T) {
	if s := text.Clean("a\xFFb"); s != "a\uFFFDb" || !utf8.ValidString(s) {
		t.Errorf("%q", s)
	}
	if s := text.Clean("ok"); s != "ok" {
		t.Errorf("%q", s)
	}
}

func FuzzSet(f *testing.F) {
	f.Add("Hello, world", 30)
	f.Add("a\u0301\u0302 \u200D\u00AD\n\r\v", 5)
	f.Add("\xFF\xFE ₹", 100)
	ts := typesetter(f, 64<<10)
	f.Fuzz(func(t *testing.T, in string, width int) {
		in = text.Clean(in)
		lines, err := text.NewSetter(t.Context(), ts).Set(piece(t, ts, in), doc.Length(width%400)*doc.Pt, doc.AlignJustify)
		if err != nil {
			return
		}
		for i := range lines {
			for k := 1; k < len(lines[i].Items); k++ {
				if lines[i].Items[k].Part == nil {
					t.Fatal("an item without glyphs")
				}
			}
		}
	})
}
