package gotext_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/font"
	"example.com/quire/pdf/internal/text"
	"example.com/quire/pdf/internal/text/gotext"
)

// TestLinesOfChineseAndJapanese: lines end between any two characters, but none begins with a
// closing mark, a stop or a small kana, none ends with an opening mark, and none is left half empty
// (UAX #14, "kinsoku" of JIS X 4051).
func TestLinesOfChineseAndJapanese(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "font", "testdata", "SampleCJK.ttc"))
	if err != nil {
		t.Fatal(err)
	}
	lib, err := font.NewLibrary(font.Options{Families: []font.Family{
		{Name: "ja", Faces: []font.Source{{Data: data, Name: "SampleCJKjp-Bold"}}},
		{Name: "zh", Faces: []font.Source{{Data: data, Name: "SampleCJKsc-Bold"}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	ts := text.NewTypesetter(lib, &gotext.Shaper{}, &gotext.Segmenter{}, 1<<20)
	const size = 10 * doc.Pt
	for lang, s := range map[string]string{
		"ja": "日本語の組版では、行頭に「句読点」や小書きの仮名っを置かない。",
		"zh": "中文排版也是如此：“引号”与标点（）。骨直令",
	} {
		c, err := ts.Chain(text.Query{Family: lang})
		if err != nil {
			t.Fatal(err)
		}
		long := strings.Repeat(s, 3)
		for full := doc.Length(4); full <= 20; full++ { // characters of a line
			set := text.NewSetter(t.Context(), ts)
			lines, err := set.Set([]text.Piece{{Text: long, Chain: c, Size: size, Lang: lang}}, full*size, doc.AlignLeft)
			if err != nil {
				t.Fatal(err)
			}
			var all strings.Builder
			for i := range lines {
				var b strings.Builder
				for _, it := range lines[i].Items {
					b.WriteString(it.Part.Text)
				}
				line := b.String()
				first, _ := utf8.DecodeRuneInString(line)
				last, _ := utf8.DecodeLastRuneInString(line)
				if strings.ContainsRune("、。」っ：）”", first) {
					t.Errorf("%s, %d: line %q begins with %c", lang, full, line, first)
				}
				if i < len(lines)-1 && strings.ContainsRune("「（“", last) {
					t.Errorf("%s, %d: line %q ends with %c", lang, full, line, last)
				}
				// Three characters at most stay together, a mark on either side of one.
				if w := lines[i].Width; w > full*size || i < len(lines)-1 && w < (full-3)*size {
					t.Errorf("%s, %d: line %q is %d wide", lang, full, line, w/doc.Pt)
				}
				all.WriteString(line)
			}
			if all.String() != long {
				t.Errorf("%s, %d: %q", lang, full, all.String())
			}
			set.Close()
		}
	}
}
