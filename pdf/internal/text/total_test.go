package text_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/text"
)

const prose = "In olden times when wishing still helped one, there lived a king whose daughters were all beautiful; " +
	"and the youngest was so beautiful that the sun itself, which has seen so much, was astonished whenever it shone " +
	"in her face. Close by the king's castle lay a great dark forest, and under an old lime-tree in the forest was a " +
	"well, and when the day was very warm, the king's child went out into the forest and sat down by the side of the " +
	"cool fountain; and when she was bored she took a golden ball, and threw it up on high and caught it; and this " +
	"ball was her favorite plaything."

func paragraph(tb testing.TB, ts *text.Typesetter, s, lang string, width doc.Length, o text.Options) []text.Line {
	tb.Helper()
	p := piece(tb, ts, s)
	p[0].Lang = lang
	lines, err := text.NewSetter(tb.Context(), ts).SetParagraph(p, width, o)
	if err != nil {
		tb.Fatal(err)
	}
	return lines
}

// looseness is the sum of the squared shares by which the spaces of all lines but the last differ
// from their own width.
func looseness(lines []text.Line) (sum, worst float64) {
	for i := range lines[:len(lines)-1] {
		l := &lines[i]
		n := len(l.Items)
		for n > 0 && l.Items[n-1].Space {
			n--
		}
		for k := range l.Items[:n] {
			it := &l.Items[k]
			if !it.Space {
				continue
			}
			own := float64(it.Part.Width(10 * doc.Pt))
			r := (float64(it.W) - own) / own
			sum += r * r
			worst = max(worst, r)
		}
	}
	return sum, worst
}

func TestTotalFitSetsBetterLinesThanGreedyBreaking(t *testing.T) {
	ts := typesetter(t, 1<<20)
	var total, greedy float64
	for w := 150 * doc.Pt; w < 400*doc.Pt; w += 7 * doc.Pt {
		a, _ := looseness(paragraph(t, ts, prose, "en", w, text.Options{Align: doc.AlignJustify, Total: true}))
		b, _ := looseness(paragraph(t, ts, prose, "en", w, text.Options{Align: doc.AlignJustify}))
		total, greedy = total+a, greedy+b
	}
	if total > greedy*6/10 {
		t.Errorf("the spaces of total fit differ by %.1f, of greedy breaking by %.1f", total, greedy)
	}
}

// TestTotalFitTakesTheBestOfAllWays holds the chosen lines against every way to break short texts.
func TestTotalFitTakesTheBestOfAllWays(t *testing.T) {
	ts := typesetter(t, 1<<20)
	rng := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // G404: texts for a test
	all := strings.Fields(strings.ReplaceAll(prose, "-", ""))
	for range 30 {
		from := rng.IntN(len(all) - 14)
		words := all[from : from+14]
		const width = 130 * doc.Pt
		lines := paragraph(t, ts, strings.Join(words, " "), "", width, text.Options{Align: doc.AlignJustify, Total: true})
		got := demerits(t, ts, texts(lines), width)
		best := int64(-1)
		var try func(done []string, rest []string)
		try = func(done, rest []string) {
			if len(rest) == 0 {
				if d := demerits(t, ts, done, width); d >= 0 && (best < 0 || d < best) {
					best = d
				}
				return
			}
			for n := 1; n <= len(rest); n++ {
				line := strings.Join(rest[:n], " ")
				if widthOf(t, ts, line) > width*5/4 {
					break
				}
				if n >= 3 || n == len(rest) { // shorter lines are far too loose
					try(append(slices.Clone(done), line), rest[n:])
				}
			}
		}
		if len(lines) <= 4 {
			try(nil, words)
			if got != best {
				t.Errorf("%q: demerits %d, the best way has %d", texts(lines), got, best)
			}
		}
	}
}

// demerits reckons the demerits of lines anew; -1 when one is too wide.
func demerits(t *testing.T, ts *text.Typesetter, lines []string, width doc.Length) int64 {
	t.Helper()
	sum, before := int64(0), int64(1)
	for i, l := range lines {
		last := i == len(lines)-1
		natural := widthOf(t, ts, l)
		gaps := strings.Count(l, " ")
		space := doc.Length(gaps) * widthOf(t, ts, " ")
		free := width - natural
		var r int64
		switch {
		case free < 0:
			if gaps == 0 || -free > space/3 {
				return -1
			}
			r = int64(free) * 1000 / int64(space/3)
		case last || free == 0:
		case gaps == 0:
			r = 50_000
		default:
			r = min(int64(free)*1000/int64(space/2), 50_000)
		}
		b := r * r / 10_000
		sum += (10 + b) * (10 + b)
		class := int64(3)
		switch {
		case r < -500:
			class = 0
		case r <= 500:
			class = 1
		case r <= 1000:
			class = 2
		}
		if i > 0 && (class-before > 1 || before-class > 1) {
			sum += 1000
		}
		before = class
		if i == len(lines)-1 && i > 0 && gaps == 0 && free > width*2/3 {
			sum += 1000
		}
	}
	return sum
}

func widthOf(t *testing.T, ts *text.Typesetter, s string) doc.Length {
	t.Helper()
	if s == " " {
		return widthOf(t, ts, "a b") - widthOf(t, ts, "a") - widthOf(t, ts, "b")
	}
	lines := paragraph(t, ts, s, "", text.Unlimited, text.Options{})
	return lines[0].Width
}

func TestJustifiedLinesEndAtTheMargin(t *testing.T) {
	ts := typesetter(t, 1<<20)
	for _, hyphenate := range []bool{false, true} {
		for w := 90 * doc.Pt; w < 300*doc.Pt; w += 11 * doc.Pt {
			lines := paragraph(t, ts, prose, "en", w, text.Options{Align: doc.AlignJustify, Total: true, Hyphenate: hyphenate})
			for i := range lines {
				items := lines[i].Items
				n := len(items)
				for n > 0 && items[n-1].Space {
					n--
				}
				end := items[n-1].X + items[n-1].W
				if i == len(lines)-1 {
					if end > w {
						t.Errorf("width %d: the last line ends at %d", w, end)
					}
				} else if end != w {
					t.Errorf("width %d: line %d ends at %d", w, i, end)
				}
				for k := range items[:n] {
					if own := items[k].Part.Width(10 * doc.Pt); items[k].Space && items[k].W < own*2/3-1 {
						t.Errorf("width %d: line %d has a space of %d of %d", w, i, items[k].W, own)
					}
				}
			}
		}
	}
}

func TestWordsAreHyphenated(t *testing.T) {
	ts := typesetter(t, 1<<20)
	const german = "Die Donaudampfschifffahrtsgesellschaft beförderte Reisende und Güter zwischen Regensburg und dem Schwarzen Meer."
	for _, c := range []struct {
		name, in, lang string
		o              text.Options
		want           string
	}{
		{"greedy", german, "de", text.Options{Hyphenate: true}, "Die Donaudampf-|schifffahrtsgesell-|schaft beförderte|Reisende und Gü-|ter zwischen Re-|gensburg und dem|Schwarzen Meer."},
		{"off", german, "de", text.Options{}, "Die|Donaudampfschifff|ahrtsgesellschaft|beförderte|Reisende und|Güter zwischen|Regensburg und|dem Schwarzen|Meer."},
		{"no patterns", german, "xx", text.Options{Hyphenate: true}, "Die|Donaudampfschifff|ahrtsgesellschaft|beförderte|Reisende und|Güter zwischen|Regensburg und|dem Schwarzen|Meer."},
		{"total", german, "de", text.Options{Align: doc.AlignJustify, Total: true, Hyphenate: true}, "Die Donaudampf-|schifffahrtsgesell-|schaft beförderte|Reisende und Gü-|ter zwischen Re-|gensburg und dem|Schwarzen Meer."},
		{"another language", "the hyphenation of representations", "en-US", text.Options{Hyphenate: true}, "the hyphenation of|representations"},
		{"an address", "see https://example.com/representation/of", "en", text.Options{Hyphenate: true}, "see https://|example.com/|representation/of"},
		{"a name in camel case", "call the representationOf", "en", text.Options{Hyphenate: true}, "call the|representationOf"},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines := paragraph(t, ts, c.in, c.lang, 88*doc.Pt, c.o)
			got := strings.ReplaceAll(strings.Join(texts(lines), "|"), "\u00AD", "-")
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestNoMoreThanTwoHyphensInARow(t *testing.T) {
	ts := typesetter(t, 1<<20)
	in := strings.Repeat("Donaudampfschifffahrtsgesellschaftskapitän ", 20)
	for _, total := range []bool{false, true} {
		for w := 60 * doc.Pt; w < 240*doc.Pt; w += 9 * doc.Pt {
			row := 0
			for _, l := range texts(paragraph(t, ts, in, "de", w, text.Options{Align: doc.AlignJustify, Total: total, Hyphenate: true})) {
				if row++; !strings.HasSuffix(l, "\u00AD") {
					row = 0
				}
				if row > 2 {
					t.Fatalf("total %v, width %d: three hyphens in a row", total, w)
				}
			}
		}
	}
}

// TestTotalFitLosesNoText sets random texts at random widths: without the hyphens that were put
// in, the lines are the text.
func TestTotalFitLosesNoText(t *testing.T) {
	ts := typesetter(t, 1<<20)
	words := append(strings.Fields(prose), "Donaudampfschifffahrt", "a\u00ADb", "well-known", "12,345.67", "\n", "x\u00A0y", "(e.g.)")
	rapid.Check(t, func(rt *rapid.T) {
		in := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 60).Draw(rt, "words"), " ")
		o := text.Options{
			Align: rapid.SampledFrom([]doc.Align{doc.AlignJustify, doc.AlignLeft, doc.AlignRight}).Draw(rt, "align"),
			Total: rapid.Bool().Draw(rt, "total"), Hyphenate: rapid.Bool().Draw(rt, "hyphenate"),
		}
		width := doc.Length(rapid.IntRange(40, 400).Draw(rt, "width")) * doc.Pt
		p := piece(t, ts, in)
		p[0].Lang = rapid.SampledFrom([]string{"en", "de", "xx"}).Draw(rt, "lang")
		lines, err := text.NewSetter(t.Context(), ts).SetParagraph(p, width, o)
		if err != nil {
			rt.Fatal(err)
		}
		plain := func(s string) string {
			return strings.Map(func(r rune) rune {
				if r == ' ' || r == '\n' || r == '\u00AD' {
					return -1
				}
				return r
			}, s)
		}
		if got, want := plain(strings.Join(texts(lines), "")), plain(in); got != want {
			rt.Fatalf("got %q, want %q", got, want)
		}
		for i := range lines {
			for k := range lines[i].Items {
				if it := &lines[i].Items[k]; !it.Space && it.X+it.W > width+1 && utf8.RuneCountInString(it.Part.Text) > 1 {
					rt.Fatalf("line %d: %q ends at %d of %d", i, it.Part.Text, it.X+it.W, width)
				}
			}
		}
	})
}

// TestTotalFitIsThatOfTheDefinition sets random paragraphs of random words, of several pieces, in
// random widths, with and without hyphens, from either side, and holds the lines against those that
// the reference finds. The words come again in other languages, so their hyphens in the cache are
// those of the right one.
func TestTotalFitIsThatOfTheDefinition(t *testing.T) {
	paragraphs := 1000
	if testing.Short() {
		paragraphs = 200
	}
	ts := typesetter(t, 1<<20)
	ts.Boxes = true                    // the font has no ideographs
	rng := rand.New(rand.NewPCG(5, 6)) //nolint:gosec // G404: texts for a test
	sets, failed := 0, 0
	for range paragraphs {
		p, width, o := randomParagraph(t, ts, rng)
		got, err := text.NewSetter(t.Context(), ts).SetParagraph(p, width, o)
		want, done, wantErr := text.NewSetter(t.Context(), ts).SetByReference(p, width, o)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || !text.Alike(got, want) {
			t.Fatalf("%+v in %d, %+v:\n got %q, %v\nwant %q, %v", p, width, o, texts(got), err, texts(want), wantErr)
		}
		if sets++; !done {
			failed++
		}
	}
	if failed > sets/4 {
		t.Errorf("%d of %d paragraphs have no way", failed, sets)
	}
}

// randomParagraph makes one for total fit.
func randomParagraph(tb testing.TB, ts *text.Typesetter, rng *rand.Rand) ([]text.Piece, doc.Length, text.Options) {
	tb.Helper()
	words := [][]string{
		strings.Fields(prose),
		strings.Fields("Die Donaudampfschifffahrtsgesellschaft beförderte Reisende und Güter a\u00ADb Sil\u00ADben well-known 12,345.67 x\u00A0y (e.g.) – ff/ii 20\u00A0%"),
		{"a", "bb", "ccc", "dddd", "eeeee", "hyphenation"}, // many ways are as good as each other
		{"representation", "beautiful"},
		{"\n", "\t", "", "one", "two\u00A0three", "daughters", "king's"},
		{"中文排版的段落", "を日本語で", "page", "、", "一"},
		{"שלום", "עולם", "beautiful", "12", "(ספר)", "ארוכה"},
	}[rng.IntN(7)]
	lang := []string{"en", "de", "xx", "he", ""}[rng.IntN(5)]
	var pieces []text.Piece
	for range 1 + rng.IntN(3)*rng.IntN(2) {
		in := make([]string, 1+rng.IntN([]int{8, 60, 250}[rng.IntN(3)]))
		for i := range in {
			in[i] = words[rng.IntN(len(words))]
		}
		p := piece(tb, ts, strings.Join(in, " "))[0]
		p.Lang = lang
		if rng.IntN(4) == 0 {
			p.Size = doc.Length(6+rng.IntN(10)) * doc.Pt
		}
		if rng.IntN(8) == 0 {
			p.Spacing = doc.Length(rng.IntN(2000) - 500)
		}
		p.SmallCaps, p.Figure = rng.IntN(8) == 0, rng.IntN(8) == 0
		pieces = append(pieces, p)
	}
	o := text.Options{Total: true, Hyphenate: rng.IntN(4) > 0, Align: doc.AlignJustify}
	if rng.IntN(4) == 0 {
		o.Align = []doc.Align{doc.AlignLeft, doc.AlignRight, doc.AlignStart, doc.AlignCenter}[rng.IntN(4)]
	}
	if rng.IntN(4) == 0 {
		o.Indent = doc.Length(rng.IntN(200)-100) * doc.Pt
	}
	return pieces, doc.Length(rng.IntN([]int{150, 300, 600}[rng.IntN(3)])+70)*doc.Pt + doc.Length(rng.IntN(1024)), o
}

func BenchmarkParagraph(b *testing.B) {
	ts := typesetter(b, 1<<22)
	words := strings.Fields(prose)
	rng := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // G404: texts for a benchmark
	all := make([]string, 256)
	for i := range all {
		rng.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		all[i] = strings.Join(words, " ")
	}
	for _, c := range []struct {
		name string
		o    text.Options
	}{
		{"greedy", text.Options{Align: doc.AlignJustify, Hyphenate: true}},
		{"total", text.Options{Align: doc.AlignJustify, Total: true, Hyphenate: true}},
	} {
		b.Run(c.name, func(b *testing.B) {
			p := piece(b, ts, "")
			p[0].Lang = "en"
			for i := 0; b.Loop(); i++ {
				s := text.NewSetter(b.Context(), ts)
				p[0].Text = all[i%len(all)]
				if _, err := s.SetParagraph(p, 300*doc.Pt, c.o); err != nil {
					b.Fatal(err)
				}
				s.Close()
			}
		})
	}
}
