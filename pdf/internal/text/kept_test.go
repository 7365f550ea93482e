package text_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/internal/text"
	"example.com/quire/pdf/internal/text/gotext"
)

// TestSetterLetsGoOfLongParagraphsAndOfTexts: what a setter hands on to the next one is small,
// whatever was set, and has no text, also after an error in the midst of a paragraph.
func TestSetterLetsGoOfLongParagraphsAndOfTexts(t *testing.T) {
	ts := text.NewTypesetter(liberation.New(), &gotext.Shaper{}, &gotext.Segmenter{}, 1<<20)
	long := strings.Repeat("Bahnhof - 12 Uhr \u00e9! ", 4_000)
	for _, total := range []bool{false, true} {
		for name, s := range map[string]string{
			"many words": long, "one word": strings.Repeat("x", 50_000), "wrong": long + "\u4E00", "right to left": strings.Repeat("\u05D0\u05D1 12 ", 4_000),
		} {
			set := text.NewSetter(t.Context(), ts)
			o := text.Options{Total: total, Align: doc.AlignJustify}
			if name == "many words" && !total {
				o.Tabs, o.Decimal = []text.TabStop{{At: doc.Pt}}, "."
			}
			_, err := set.SetParagraph([]text.Piece{{Text: s, Chain: chain(t, ts, text.Query{}), Size: 10 * doc.Pt}, {Text: "end", Chain: chain(t, ts, text.Query{}), Size: 10 * doc.Pt}}, 300*doc.Pt, o)
			if (err != nil) != (name == "wrong") {
				t.Fatalf("%s: %v", name, err)
			}
			set.Close()
			if room, texts := set.Kept(); room > 20*4096 || texts {
				t.Errorf("%s, total %t: room for %d values is kept, texts %t", name, total, room, texts)
			}
		}
	}
}

// TestFeaturesDoNotFillMemory: styles may ask for lists of features without end; few are kept.
func TestFeaturesDoNotFillMemory(t *testing.T) {
	ts := text.NewTypesetter(liberation.New(), &gotext.Shaper{}, &gotext.Segmenter{}, 0)
	const most = 1024
	for i := range most + 100 {
		q := text.Query{Features: fmt.Sprintf("-cv%02d,-ss%02d", i%99, i/99)}
		if c := chain(t, ts, q); c.Face() == nil {
			t.Fatal("no face")
		}
	}
	if n := ts.Chains(); n > most {
		t.Errorf("%d chains are kept", n)
	}
}
