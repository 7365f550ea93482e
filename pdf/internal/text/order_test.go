package text_test

import (
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/internal/text"
	"example.com/quire/pdf/internal/text/gotext"
)

// seen returns what stands on a line from left to right, the letters of words from right to left
// turned around, as one sees them.
func seen(l *text.Line) string {
	items := slices.Clone(l.Items)
	slices.SortStableFunc(items, func(a, b text.Item) int { return int(a.X - b.X) })
	var out strings.Builder
	for _, it := range items {
		r := []rune(it.Part.Text)
		if it.Part.RTL {
			slices.Reverse(r)
		}
		out.WriteString(string(r))
	}
	return strings.TrimSpace(out.String())
}

func mixed(tb testing.TB) *text.Typesetter {
	tb.Helper()
	return text.NewTypesetter(liberation.New(), &gotext.Shaper{Proven: liberation.Embedded}, &gotext.Segmenter{}, 1<<20)
}

// TestLinesStandInVisualOrder: words and numbers of both directions stand as UAX #9 has them, in
// the direction of the language unless all letters run the other way.
func TestLinesStandInVisualOrder(t *testing.T) {
	ts := mixed(t)
	for _, c := range []struct{ name, lang, in, want string }{
		{"latin in Hebrew", "he", "אבג ACME Ltd. דהו", "והד .ACME Ltd גבא"},
		{"number in Hebrew", "he", "אבג 1,250.50 דהו", "והד 1,250.50 גבא"},
		{"date in Arabic", "ar", "ابت 12/03/2026 ثج", "جث 12/03/2026 تبا"},
		{"number beside a word", "he", "אב12 abc", "abc 12בא"},
		{"brackets", "he", "אבג (דהו) 5", "5 )והד( גבא"},
		{"Hebrew in English", "en", "say אבג דהו now", "say והד גבא now"},
		{"Hebrew opens an English sentence", "en", "אבג is a word.", "גבא is a word."},
		{"Latin opens a Hebrew sentence", "he", "PDF אבג.", ".גבא PDF"},
		{"a Latin name of its own", "he", "ACME Ltd.", "ACME Ltd."},
		{"a Hebrew name of its own", "en", "אבג.", ".גבא"},
		{"figures of their own", "he", "12.50", "12.50"},
		{"a label", "he", "1.", ".1"},
		{"the script decides", "ar-Latn", "1.", "1."},
		{"override", "en", "ab\u202Ecd\u202C.", "ab\u202Edc\u202C."},
	} {
		p := piece(t, ts, c.in)
		p[0].Lang = c.lang
		lines, err := text.NewSetter(t.Context(), ts).Set(p, 500*doc.Pt, doc.AlignStart)
		if err != nil {
			t.Fatal(err)
		}
		strip := strings.NewReplacer("\u202E", "", "\u202C", "")
		if got := strip.Replace(seen(&lines[0])); got != strip.Replace(c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if got := strings.TrimRight(lineText(&lines[0]), " "); got != c.in {
			t.Errorf("%s: the items say %q", c.name, got)
		}
	}
}

// TestRightToLeftLinesEndAtTheirMargin: in Hebrew the start is at the right, justified lines fill
// the width, the last one but at its start, and nothing overlaps.
func TestRightToLeftLinesEndAtTheirMargin(t *testing.T) {
	ts := mixed(t)
	in := strings.Repeat("אבג דהוזח טיכלמ abc def 123 נסע ", 8)
	const width = 150 * doc.Pt
	for _, align := range []doc.Align{doc.AlignStart, doc.AlignLeft, doc.AlignRight, doc.AlignCenter, doc.AlignJustify} {
		for _, total := range []bool{false, true} {
			p := piece(t, ts, in)
			p[0].Lang = "he"
			lines, err := text.NewSetter(t.Context(), ts).SetParagraph(p, width, text.Options{Align: align, Total: total})
			if err != nil {
				t.Fatal(err)
			}
			for i := range lines {
				items := slices.Clone(lines[i].Items)
				for len(items) > 0 && items[len(items)-1].Space {
					items = items[:len(items)-1]
				}
				slices.SortFunc(items, func(a, b text.Item) int { return int(a.X - b.X) })
				for k := 1; k < len(items); k++ {
					if d := items[k].X - items[k-1].X - items[k-1].W; d < -doc.Pt || d > doc.Pt {
						t.Fatalf("align %d, line %d: %v between %q and %q", align, i, d, items[k-1].Part.Text, items[k].Part.Text)
					}
				}
				left, right := items[0].X, items[len(items)-1].X+items[len(items)-1].W
				last := i == len(lines)-1
				if wantLeft := align == doc.AlignLeft || align == doc.AlignJustify && !last; wantLeft && left != 0 {
					t.Errorf("align %d, line %d begins at %v", align, i, left)
				}
				if wantRight := align != doc.AlignLeft && align != doc.AlignCenter; wantRight && (right < width-len16 || right > width+len16) {
					t.Errorf("align %d, line %d ends at %v of %v", align, i, right, width)
				}
			}
		}
	}
}

// len16 is what rounding may take.
const len16 = 16

func TestRightToLeftLanguages(t *testing.T) {
	for tag, want := range map[string]bool{
		"ar": true, "ar-EG": true, "he": true, "iw-IL": true, "fa": true, "ur-PK": true, "yi": true, "ku-Arab": true, "uz-Arab-AF": true, "dv": true,
		"en": false, "de-CH": false, "ar-Latn": false, "": false, "a": false, "tr": false, "ru-Cyrl": false, "pa": false, "pa-Arab-PK": true, "zh-Hant-TW": false,
	} {
		if got := text.RightToLeft(tag); got != want {
			t.Errorf("%q: %v", tag, got)
		}
	}
}

// TestAnEmptyParagraphLeavesTheDirectionOfTheNext: the direction of a language outlasts a paragraph
// without text, an empty cell of its table, in the same document and in the next.
func TestAnEmptyParagraphLeavesTheDirectionOfTheNext(t *testing.T) {
	ts := typesetter(t, 0)
	p := piece(t, ts, "12")
	p[0].Lang = "he"
	s := text.NewSetter(t.Context(), ts)
	for range 2 {
		lines, err := s.Set(p, 100*doc.Pt, doc.AlignStart)
		if err != nil {
			t.Fatal(err)
		}
		if x := lines[0].Items[0].X; x < 50*doc.Pt {
			t.Errorf("the line begins at %d", x)
		}
		if _, err := s.Set(nil, 100*doc.Pt, doc.AlignStart); err != nil {
			t.Fatal(err)
		}
	}
}
