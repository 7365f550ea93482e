package pdf_test

import (
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
)

// wordsOf are words of a language, without ligatures of several letters, which pdftotext turns
// around.
var wordsOf = map[string][]string{
	"ar": {"فاتورة", "شركة", "كبير", "تمت", "جديد"},
	"he": {"חשבונית", "חברה", "גדול", "נגמר", "חדש"},
}

// rightToLeft has every kind of block in a language that is written from right to left.
func rightToLeft(lang string) func(*doc.Builder) error {
	return func(b *doc.Builder) error {
		w := wordsOf[lang]
		b.Title(w[0]).Lang(lang)
		b.Heading(1, w[0]+" 1024", doc.Bookmark(w[0]))
		b.Text(strings.Repeat(w[1]+" ACME Ltd. "+w[2]+" 12/03/2026, ("+w[3]+" 1,250.50) ", 6), doc.In(&doc.Style{Align: doc.AlignJustify}))
		b.Spans([]doc.Span{{Text: w[4] + " "}, {Text: w[3], Link: "https://example.com/"}, {Text: " " + w[2]}})
		b.Add(&doc.List{Marker: doc.MarkerDecimal, Items: []doc.ListItem{{Nodes: []doc.Node{para(w[1])}}, {Nodes: []doc.Node{para(w[2])}}}})
		b.Add(&doc.Table{
			Columns: []doc.Column{{Head: txt(w[0])}, {Head: txt(w[1])}, {Head: txt(w[2])}},
			Rows: doc.Rows(
				doc.Row{Cells: []doc.Cell{{Spans: txt(w[3]), Colspan: 2}, {Spans: txt("12")}}},
				doc.Row{Cells: []doc.Cell{{Spans: txt("Alpha")}, {Spans: txt("Beta")}, {Spans: txt(w[4])}}},
			),
		})
		b.Add(&doc.Beside{Cells: [][]doc.Node{{para("First")}, {para("Second")}}})
		return nil
	}
}

// TestRightToLeftTextExtracts: what is written from right to left extracts word for word, in order.
func TestRightToLeftTextExtracts(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	controls := strings.NewReplacer("\u202A", "", "\u202B", "", "\u202C", "", "\u200E", "", "\u200F", "")
	for lang, words := range wordsOf {
		body, _ := render(t, e, pdf.RenderOptions{Standards: compliant, Time: frozen}, func(b *doc.Builder) error {
			b.Title("T").Lang(lang).Text(strings.Join(words, " ") + " (" + words[0] + ") ACME 1,250.50")
			return nil
		})
		got := controls.Replace(pdftest.Text(t, pdftest.Write(t, "f.pdf", body)))
		if want := strings.Join(words, " ") + " (" + words[0] + ") ACME 1,250.50"; !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", lang, got, want)
		}
	}
}

// TestRightToLeftPagesAreMirrored: the first column, the first cell of a row and the labels of a
// list stand at the right, and lines begin there.
func TestRightToLeftPagesAreMirrored(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	for _, lang := range []string{"ar", "he"} {
		body, _ := render(t, e, pdf.RenderOptions{Standards: compliant, Time: frozen}, rightToLeft(lang))
		boxes := pdftest.Boxes(t, pdftest.Write(t, "f.pdf", body))
		find := func(s string) pdftest.Word {
			t.Helper()
			i := slices.IndexFunc(boxes, func(w pdftest.Word) bool { return w.Text == s })
			if i < 0 {
				t.Fatalf("%s: no %q in %v", lang, s, boxes)
			}
			return boxes[i]
		}
		right := 0.0
		for _, w := range boxes {
			right = max(right, w.XMax)
		}
		for _, pair := range [][2]string{{"Alpha", "Beta"}, {"First", "Second"}} {
			if a, b := find(pair[0]), find(pair[1]); a.XMin <= b.XMax {
				t.Errorf("%s: %s at %.1f stands left of %s at %.1f", lang, pair[0], a.XMin, pair[1], b.XMin)
			}
		}
		if a := find("Alpha"); a.XMax < right-1 {
			t.Errorf("%s: the first column ends at %.1f of %.1f", lang, a.XMax, right)
		}
		if n := find("1024"); n.XMax > right-20 {
			t.Errorf("%s: the number stands before the word of its heading, at %.1f of %.1f", lang, n.XMax, right)
		}
	}
}

// TestRightToLeftTextOfMergedCells: a cell over several columns takes the room of all of them, and
// its text begins at its right edge; a cell over several rows stands right of those beside it.
func TestRightToLeftTextOfMergedCells(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	for lang, words := range wordsOf {
		// Together wider than one column and narrower than two.
		long := strings.Join(slices.Concat(words, words), " ")
		body, _ := render(t, e, pdf.RenderOptions{Standards: compliant, Time: frozen}, func(b *doc.Builder) error {
			b.Title("T").Lang(lang)
			b.Add(&doc.Table{
				Columns: []doc.Column{{Head: txt("One")}, {Head: txt("Two")}, {Head: txt("Three")}},
				Rows: doc.Rows(
					doc.Row{Cells: []doc.Cell{{Spans: txt("77 " + long), Colspan: 2}, {Spans: txt("Right")}}},
					doc.Row{Cells: []doc.Cell{{Spans: txt("Left")}, {Spans: txt("88 " + words[0]), Colspan: 2}}},
					doc.Row{Cells: []doc.Cell{{Spans: txt("99 " + words[1]), Rowspan: 2}, {Spans: txt("A")}, {Spans: txt("B")}}},
					doc.Row{Cells: []doc.Cell{{Spans: txt("C")}, {Spans: txt("D")}}},
				),
			})
			return nil
		})
		boxes, place := pdftest.Boxes(t, pdftest.Write(t, "f.pdf", body)), map[string]pdftest.Word{}
		for _, w := range boxes {
			place[w.Text] = w
		}
		at := func(s string) pdftest.Word {
			t.Helper()
			w, ok := place[s]
			if !ok {
				t.Fatalf("%s: no %q in %v", lang, s, place)
			}
			return w
		}
		// In each column the first characters stand at the right edge.
		for _, same := range [][]string{{"One", "77", "Left", "99"}, {"Two", "88", "A", "C"}, {"Three", "Right", "B", "D"}} {
			for _, s := range same[1:] {
				if a, b := at(same[0]), at(s); b.XMax < a.XMax-1 || b.XMax > a.XMax+1 {
					t.Errorf("%s: %s ends at %.1f, the column at %.1f", lang, s, b.XMax, a.XMax)
				}
			}
		}
		if a, b := at("A"), at("C"); b.YMin <= a.YMax || at("99").YMin > a.YMax {
			t.Errorf("%s: rows of the merged cell at %v and %v", lang, a, b)
		}
		// The text of the wide cell stands on one line that crosses into the second column: between
		// it and the next row there is nothing.
		first, left := at("77"), at("77").XMin
		for _, w := range boxes {
			if w.YMin < first.YMax && w.YMax > first.YMin && w.Text != "Right" {
				left = min(left, w.XMin)
			} else if w.YMin > first.YMax && w.YMax < at("Left").YMin {
				t.Errorf("%s: %v stands on a line of its own", lang, w)
			}
		}
		if left > at("Two").XMax || left < at("Three").XMax {
			t.Errorf("%s: the text of two columns ends at %.1f", lang, left)
		}
	}
}
