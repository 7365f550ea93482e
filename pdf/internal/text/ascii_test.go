//go:build !race

package text_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/internal/text"
	"example.com/quire/pdf/internal/text/gotext"
)

// TestTableOfASCIIEqualsTheShaper: words of all characters from U+0001 to U+00FF, most of them
// printable ASCII, have the same parts by the table as by the shaper, in each embedded face, with
// and without tabular figures and synthetic styles.
func TestTableOfASCIIEqualsTheShaper(t *testing.T) {
	words := 1_000
	if testing.Short() {
		words = 300
	}
	lib := liberation.New()
	tables := 0
	for _, synthetic := range []bool{false, true} {
		ts := text.NewTypesetter(lib, &gotext.Shaper{Proven: liberation.Embedded}, &gotext.Segmenter{}, 0)
		ts.Synthetic = synthetic
		for _, q := range []text.Query{{}, {Weight: 700}, {Italic: true}, {Weight: 700, Italic: true}} {
			for _, q.Family = range lib.Families() {
				for _, q.TabularFigures = range []bool{false, true} {
					c := chain(t, ts, q)
					r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // G404: test data
					for range words {
						letters := make([]rune, 1+r.IntN(12))
						for i := range letters {
							if letters[i] = ' ' + r.Int32N('~'-' '+1); r.IntN(200) == 0 {
								letters[i] = 1 + r.Int32N(0xFF)
							}
						}
						word := string(letters)
						want, wantErr := ts.ShapeByShaper(c, word)
						got, table, err := ts.ShapeByTable(c, word)
						if (err == nil) != (wantErr == nil) || err == nil && !reflect.DeepEqual(got, want) {
							t.Fatalf("%+v: %q:\n got %+v, %v\nwant %+v, %v", q, word, got, err, want, wantErr)
						}
						if table {
							tables++
						}
					}
				}
			}
		}
	}
	if tables < words {
		t.Errorf("only %d words by tables", tables)
	}
}

// TestFeaturesAreNotLeftToTheTable: the table knows of none.
func TestFeaturesAreNotLeftToTheTable(t *testing.T) {
	ts := text.NewTypesetter(liberation.New(), &gotext.Shaper{Proven: liberation.Embedded}, &gotext.Segmenter{}, 0)
	for features, want := range map[string]bool{"": true, "-kern": false} {
		if _, table, err := ts.ShapeByTable(chain(t, ts, text.Query{Features: features}), "AV"); err != nil || table != want {
			t.Errorf("features %q: by the table: %v, %v", features, table, err)
		}
	}
}

// TestOneWordIsSetAsAnyParagraph: what is set the short way has the lines of the long one, in any
// width, direction and alignment.
func TestOneWordIsSetAsAnyParagraph(t *testing.T) {
	words := 20_000
	if testing.Short() {
		words = 2_000
	}
	ts := typesetter(t, 1<<16)
	short, long := text.NewSetter(t.Context(), ts), text.NewSetter(t.Context(), ts)
	r := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // G404: test data
	const common = "ABCxyz0123456789.,:;"
	const rare = " -\t\u00AD\u00A0é/()'\n\r"
	seldom := []rune(rare)
	for range words {
		letters := make([]rune, r.IntN(10))
		for i := range letters {
			if letters[i] = rune(common[r.IntN(len(common))]); r.IntN(25) == 0 {
				letters[i] = seldom[r.IntN(len(seldom))]
			}
		}
		p := piece(t, ts, string(letters))
		p[0].Figure, p[0].Lang = r.IntN(2) == 0, []string{"en", "he", ""}[r.IntN(3)]
		p[0].Spacing = doc.Length(r.IntN(2) * 300)
		width := doc.Length(1+r.IntN(60)) * doc.Pt
		align := []doc.Align{doc.AlignLeft, doc.AlignStart, doc.AlignRight, doc.AlignCenter, doc.AlignJustify, doc.AlignDecimal}[r.IntN(6)]
		want, wantErr := long.SetByBreaks(p, width, align)
		got, err := short.Set(p, width, align)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || err == nil && !text.Alike(got, want) {
			t.Fatalf("%q in %d, %v:\n got %+v, %v\nwant %+v, %v", p[0].Text, width, align, got, err, want, wantErr)
		}
	}
}

// TestTextsOfAnyNumberOfCharactersOutsideOfWordsAreNone: however many characters there are that
// stand in no word, so that no sum of theirs comes out as that of a word.
func TestTextsOfAnyNumberOfCharactersOutsideOfWordsAreNone(t *testing.T) {
	ts := text.NewTypesetter(liberation.New(), &gotext.Shaper{Proven: liberation.Embedded}, &gotext.Segmenter{}, 0)
	c := chain(t, ts, text.Query{})
	if _, _, ok := c.WordWidth("word", 10*doc.Pt); !ok {
		t.Fatal("a word is none")
	}
	for n := 1; n <= 1024; n++ {
		for _, outside := range []string{" ", "\u00E9", "\u4E00"} {
			for _, s := range []string{strings.Repeat(outside, n), "a" + strings.Repeat(outside, n) + "b", strings.Repeat("ab"+outside, n)} {
				if w, _, ok := c.WordWidth(s, 10*doc.Pt); ok {
					t.Fatalf("%d times %q: a word %v wide", n, outside, w)
				}
			}
		}
	}
}
