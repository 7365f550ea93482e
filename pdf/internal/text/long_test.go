//go:build !race

package text_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/font"
	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/internal/text"
	"example.com/quire/pdf/internal/text/gotext"
)

// counter counts the bytes that are shaped and segmented.
type counter struct {
	text.Latin
	gotext.Segmenter
	work int
}

func (c *counter) Shape(dst []text.Glyph, f *font.Face, run text.Run) ([]text.Glyph, error) {
	c.work += len(run.Text)
	return c.Latin.Shape(dst, f, run)
}

func (c *counter) Graphemes(dst []int, s string) []int {
	c.work += len(s)
	return c.Segmenter.Graphemes(dst, s)
}

// TestLongWordsCostTheirLength: a word without break opportunities, as encoded data
// is, must not cost the square of its length.
func TestLongWordsCostTheirLength(t *testing.T) {
	const size = 100_000
	for name, unit := range map[string]string{
		"one letter":       "a",
		"wide and narrow":  "iiiiiiiiiiiiiiiiiiiiiiiiiWWWWWWWWWWWWWWWWWWWW",
		"marks":            "e\u0301",
		"encoded":          "QmFzZTY0IGRhdGE",
		"numbers":          "(1.25)",
		"signs and digits": "-1",
		"currencies":       "€5a",
		"after letters":    "abcdefghijklmnopqrstuvwxyz1",
	} {
		t.Run(name, func(t *testing.T) {
			c := &counter{}
			ts := text.NewTypesetter(liberation.New(), c, c, 0)
			in := strings.Repeat(unit, size/len(unit))
			lines, err := text.NewSetter(t.Context(), ts).Set(piece(t, ts, in), 150*doc.Pt, doc.AlignLeft)
			if err != nil {
				t.Fatalf("%.200v", err)
			}
			if got := strings.Join(texts(lines), ""); got != in {
				t.Errorf("%d bytes on %d lines are not the %d of the word", len(got), len(lines), len(in))
			}
			if c.work > 16*size {
				t.Errorf("%d bytes of work for a word of %d", c.work, size)
			}
			t.Logf("%.1f bytes of work a byte", float64(c.work)/float64(len(in)))
		})
	}
}

func TestSetEndsWithItsContext(t *testing.T) {
	ts := typesetter(t, 0)
	for _, in := range []string{strings.Repeat("a", 1000), strings.Repeat("word ", 200)} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(fmt.Errorf("enough"))
		if _, err := text.NewSetter(ctx, ts).Set(piece(t, ts, in), 50*doc.Pt, doc.AlignLeft); !errors.Is(err, context.Canceled) {
			t.Errorf("%.10s…: error %v", in, err)
		}
	}
}

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
