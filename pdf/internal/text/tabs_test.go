package text_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/text"
)

// behindTab returns where the text behind the last tab of a line begins and ends.
func behindTab(l *text.Line) (from, to doc.Length) {
	for i := range l.Items {
		it := &l.Items[i]
		switch {
		case it.Tab:
			from, to = it.X+it.W, it.X+it.W
		case !it.Space:
			to = it.X + it.W
		}
	}
	return from, to
}

// TestTabsLeadToTheirStops: what stands behind a tab begins, ends, or has its middle or its decimal
// sign at the stop.
func TestTabsLeadToTheirStops(t *testing.T) {
	ts := typesetter(t, 1<<20)
	set := text.NewSetter(t.Context(), ts)
	defer set.Close()
	width := func(s string) doc.Length {
		t.Helper()
		_, w, err := set.Measure(piece(t, ts, s))
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	const at = 100 * doc.Pt
	for _, c := range []struct {
		align  doc.TabAlign
		text   string
		before string // what stands before the stop
	}{
		{doc.TabLeft, "field", ""},
		{doc.TabRight, "field", "field"},
		{doc.TabRight, "two words", "two words"},
		{doc.TabDecimal, "1234,50 EUR", "1234"},
		{doc.TabDecimal, "EUR -7,5", "EUR -7"},
		{doc.TabDecimal, "12 pieces", "12"},
		{doc.TabDecimal, "none", "none"},
	} {
		lines, err := set.SetParagraph(piece(t, ts, "x\t"+c.text), 200*doc.Pt, text.Options{
			Tabs: []text.TabStop{{At: at, Align: c.align}}, Decimal: ",",
		})
		if err != nil {
			t.Fatal(err)
		}
		from, to := behindTab(&lines[0])
		if got, want := at-from, width(c.before); len(lines) != 1 || got-want > 2 || want-got > 2 {
			t.Errorf("%d, %q: %d lines, %d before the stop, want %d", c.align, c.text, len(lines), got, want)
		}
		if got, want := to-from, width(c.text); got-want > 2 || want-got > 2 {
			t.Errorf("%d, %q: is %d wide, want %d", c.align, c.text, got, want)
		}
	}
	lines, err := set.SetParagraph(piece(t, ts, "\tmiddle"), 200*doc.Pt, text.Options{Tabs: []text.TabStop{{At: at, Align: doc.TabCenter}}})
	if from, to := behindTab(&lines[0]); err != nil || from+to-2*at > 2 || 2*at-from-to > 2 {
		t.Errorf("the middle of %d to %d is not %d: %v", from, to, at, err)
	}
}

// TestDecimalSignsOfRightToLeftLines: they stand at their place, or at the stop, on whatever side
// of the number the currency is drawn.
func TestDecimalSignsOfRightToLeftLines(t *testing.T) {
	ts := mixed(t)
	set := text.NewSetter(t.Context(), ts)
	defer set.Close()
	hebrew := func(s string) []text.Piece {
		p := piece(t, ts, s)
		p[0].Lang = "he"
		return p
	}
	width := func(s string) doc.Length {
		_, w, err := set.Measure(piece(t, ts, s))
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	// sign is where that of the only number of a line stands.
	sign := func(l *text.Line, number string) doc.Length {
		before, _, _ := strings.Cut(number, ".")
		for i := range l.Items {
			if it := &l.Items[i]; it.Part.Text == number {
				return it.X + width(before)
			}
		}
		t.Fatalf("no %q in its line", number)
		return 0
	}
	const all, at = 300 * doc.Pt, 120 * doc.Pt
	for _, c := range []struct{ text, number string }{
		{"1,250.50", "1,250.50"}, {"12 שח", "12"}, {"1,664.25 שח", "1,664.25"}, {"עד 7.5 שח", "7.5"}, {"סכום: 1.125", "1.125"},
	} {
		lines, err := set.SetParagraph(hebrew(c.text), all, text.Options{Align: doc.AlignDecimal, Decimal: ".", Sign: at})
		if err != nil {
			t.Fatal(err)
		}
		if got := sign(&lines[0], c.number); got-at > 2 || at-got > 2 {
			t.Errorf("%q: the decimal sign stands at %d, want %d", c.text, got, at)
		}
		before, behind, err := set.AroundSign(hebrew(c.text), ".")
		if all := width(c.text); err != nil || before+behind-all > 4 || all-before-behind > 4 || before < width(c.number[:1]) {
			t.Errorf("%q: %d before the sign and %d behind it, of %d: %v", c.text, before, behind, all, err)
		}
		lines, err = set.SetParagraph(hebrew("ס\t"+c.number+" שח"), all, text.Options{
			Tabs: []text.TabStop{{At: at, Align: doc.TabDecimal}}, Decimal: ".",
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := all - sign(&lines[0], c.number); got-at > 2 || at-got > 2 {
			t.Errorf("%q behind a tab: the decimal sign stands %d from the right, want %d", c.number, got, at)
		}
	}
}

// TestTabsRunInTheDirectionOfTheLanguage: the text before a tab stands at the side where lines of
// the language begin, in whatever script it is, and what follows at the stop.
func TestTabsRunInTheDirectionOfTheLanguage(t *testing.T) {
	ts := mixed(t)
	set := text.NewSetter(t.Context(), ts)
	defer set.Close()
	const all, at = 200 * doc.Pt, 120 * doc.Pt
	for _, lang := range []string{"en", "he"} {
		for _, s := range []string{"one\ttwo", "שם\tסוף", "one\tסוף", "שם\ttwo", "12\t34", "שם\t34"} {
			p := piece(t, ts, s)
			p[0].Lang = lang
			lines, err := set.SetParagraph(p, all, text.Options{Tabs: []text.TabStop{{At: at}}})
			if err != nil || len(lines) != 1 {
				t.Fatalf("%s, %q: %d lines, %v", lang, s, len(lines), err)
			}
			items := lines[0].Items // the text, the tab and what follows it
			first, behind := items[0], items[len(items)-1]
			begins, stop := first.X, behind.X
			if lang == "he" {
				begins, stop = all-first.X-first.W, all-behind.X-behind.W
			}
			if begins != 0 || stop-at > 2 || at-stop > 2 {
				t.Errorf("%s, %q: begins %d from its side, and goes on %d from there, want %d", lang, s, begins, stop, at)
			}
		}
	}
}

// TestTabsBeyondTheLineLoseNothing: a field without room goes to the next line, a tab behind the
// last stop is a space, a word wider than the line is broken, and no text goes lost.
func TestTabsBeyondTheLineLoseNothing(t *testing.T) {
	ts := typesetter(t, 1<<20)
	rapid.Check(t, func(t *rapid.T) {
		set := text.NewSetter(t.Context(), ts)
		defer set.Close()
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "wonderful", "1,5", "\t", " ", "\n", "W" + strings.Repeat("iM", 9)}), 1, 12).Draw(t, "words")
		width := doc.Length(rapid.IntRange(30, 300).Draw(t, "width")) * doc.Pt
		var stops []text.TabStop
		for at := doc.Length(0); len(stops) < rapid.IntRange(1, 4).Draw(t, "stops"); {
			at += width / 5
			stops = append(stops, text.TabStop{
				At: at, Align: doc.TabAlign(rapid.IntRange(0, 3).Draw(t, "align")), Leader: doc.TabLeader(rapid.IntRange(0, 2).Draw(t, "leader")), //nolint:gosec // few
			})
		}
		s := strings.Join(words, "")
		c, err := ts.Chain(text.Query{})
		if err != nil {
			t.Fatal(err)
		}
		lines, err := set.SetParagraph([]text.Piece{{Text: s, Chain: c, Size: 10 * doc.Pt}}, width, text.Options{
			Tabs: stops, Decimal: ",", Indent: doc.Length(rapid.IntRange(-10, 10).Draw(t, "indent")) * doc.Pt,
		})
		if err != nil {
			t.Fatal(err)
		}
		bare := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if got := bare(strings.Join(texts(lines), "")); got != bare(s) {
			t.Fatalf("%q became %q", s, got)
		}
		for i := range lines {
			x := doc.Length(-1 << 30)
			for _, it := range lines[i].Items {
				if it.X < x {
					t.Fatalf("line %d of %q: an item stands at %d, the one before ends at %d", i, s, it.X, x)
				}
				if x = it.X; it.X+it.W > width && !it.Space {
					t.Fatalf("line %d of %q ends at %d of %d", i, s, it.X+it.W, width)
				}
			}
		}
	})
}

// TestIndentsMoveTheFirstLineOrTheOthers: a first line begins further in, or all others do, and
// each ends within the width, set greedily or as a whole.
func TestIndentsMoveTheFirstLineOrTheOthers(t *testing.T) {
	ts := typesetter(t, 1<<20)
	set := text.NewSetter(t.Context(), ts)
	defer set.Close()
	const width, in = 120 * doc.Pt, 15 * doc.Pt
	const prose = "The quick brown fox jumps over the lazy dog and the other animals of the forest, whoever they may be."
	for _, o := range []text.Options{{}, {Align: doc.AlignJustify}, {Align: doc.AlignJustify, Total: true}, {Align: doc.AlignJustify, Total: true, Hyphenate: true}} {
		for _, indent := range []doc.Length{in, -in} {
			o.Indent = indent
			lines, err := set.SetParagraph(piece(t, ts, prose), width, o)
			if err != nil || len(lines) < 3 {
				t.Fatal(len(lines), err)
			}
			for i := range lines {
				want := max(-indent, 0)
				if i == 0 {
					want = max(indent, 0)
				}
				items := lines[i].Items
				last := items[len(items)-1]
				if last.Space {
					last = items[len(items)-2]
				}
				if items[0].X != want {
					t.Errorf("%+v: line %d begins at %d, want %d", o, i, items[0].X, want)
				}
				switch end := last.X + last.W; {
				case end > width+doc.Length(len(items)):
					t.Errorf("%+v: line %d ends at %d", o, i, end)
				case o.Align == doc.AlignJustify && i+1 < len(lines) && end < width-doc.Pt:
					t.Errorf("%+v: line %d ends at %d, short of the margin", o, i, end)
				}
			}
		}
	}
}

// TestDecimalsStandOnTheirSign: lines of any width have their decimal signs at one place, as far as
// the width of the paragraph lets them.
func TestDecimalsStandOnTheirSign(t *testing.T) {
	ts := typesetter(t, 1<<20)
	set := text.NewSetter(t.Context(), ts)
	defer set.Close()
	const width, sign = 100 * doc.Pt, 60 * doc.Pt
	for _, s := range []string{"1.5", "12,345.678", "7", "-0.25 %", "n/a"} {
		before, behind, err := set.AroundSign(piece(t, ts, s), ".")
		if err != nil {
			t.Fatal(err)
		}
		lines, err := set.SetParagraph(piece(t, ts, s), width, text.Options{Align: doc.AlignDecimal, Decimal: ".", Sign: sign})
		if err != nil {
			t.Fatal(err)
		}
		if x := lines[0].Items[0].X; x+before != sign {
			t.Errorf("%q: the sign stands at %d", s, x+before)
		}
		if before+behind != lines[0].Width {
			t.Errorf("%q: %d before and %d behind the sign of %d", s, before, behind, lines[0].Width)
		}
	}
	lines, err := set.SetParagraph(piece(t, ts, "1.23456789012345"), width, text.Options{Align: doc.AlignDecimal, Decimal: ".", Sign: sign})
	if err != nil {
		t.Fatal(err)
	}
	if end := lines[0].Items[0].X + lines[0].Width; end > width {
		t.Errorf("a long number ends at %d", end)
	}
}

// TestFieldBehindABrokenWordKeepsToTheWidth: what follows the tab behind a word that was broken,
// because it is wider than the line, counts with the space before it.
func TestFieldBehindABrokenWordKeepsToTheWidth(t *testing.T) {
	ts := typesetter(t, 1<<20)
	set := text.NewSetter(t.Context(), ts)
	defer set.Close()
	const width = 31 * doc.Pt
	lines, err := set.SetParagraph(piece(t, ts, "wonderful\t 1,5"), width, text.Options{Tabs: []text.TabStop{{At: width / 5}}})
	if err != nil || len(lines) < 3 {
		t.Fatal(len(lines), err)
	}
	for i := range lines {
		if lines[i].Width > width {
			t.Errorf("line %d is %d wide, of %d", i, lines[i].Width, width)
		}
	}
}
