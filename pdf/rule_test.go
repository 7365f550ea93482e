package pdf_test

import (
	"bytes"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/standard"
)

// lineRules is a page with a rule of each kind, from a template.
func lineRules(t *testing.T, e *pdf.Engine, o pdf.RenderOptions) []byte {
	t.Helper()
	return fromTemplate(t, e, `quire: 1
name: rules
lang: en
title: Rules
theme: none
styles: {base: {font: Liberation Sans, size: 12pt}}
body:
  - {text: above}
  - {rule: {thickness: 1pt, color: "#a01020", dash: [4pt, 2pt]}}
  - {rule: {width: 40mm}}
  - {rule: {thickness: 2pt, width: 50%, align: center}}
  - {rule: {dash: [1pt, 1pt], width: 25%, align: right}}
  - {text: below}
`, "{}", o)
}

// TestRulesOfTemplatesAndGoAreTheSame: a template and a Builder make the same file, which holds to
// what it claims.
func TestRulesOfTemplatesAndGoAreTheSame(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	for _, ids := range [][]standard.ID{nil, {standard.PDFA4, standard.PDFUA2}, {standard.PDFA2b, standard.PDFUA1}} {
		o := pdf.RenderOptions{Standards: ids, Time: frozen, DocumentID: "id-1"}
		of := lineRules(t, e, o)
		built, _ := render(t, e, o, func(b *doc.Builder) error {
			b.Title("Rules").Lang("en").Style(&doc.Style{Family: "Liberation Sans", Size: 12 * doc.Pt})
			b.Text("above").Add(
				&doc.Rule{Thickness: doc.Pt, Color: doc.RGB(0xA0, 0x10, 0x20), Dash: [2]doc.Length{4 * doc.Pt, 2 * doc.Pt}},
				&doc.Rule{Width: doc.Fixed(doc.MM(40))},
				&doc.Rule{Thickness: 2 * doc.Pt, Width: doc.Percent(50), Align: doc.AlignCenter},
				&doc.Rule{Dash: [2]doc.Length{doc.Pt, doc.Pt}, Width: doc.Percent(25), Align: doc.AlignRight},
			).Text("below")
			return nil
		})
		if !bytes.Equal(of, built) {
			t.Errorf("%v: the files differ", ids)
		}
		if ids == nil {
			continue
		}
		d, err := e.Open(t.Context(), bytes.NewReader(of), int64(len(of)), pdf.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if found, err := e.Check(t.Context(), d, ids...); err != nil || len(found) > 0 {
			t.Errorf("%v: %v, %v", ids, found, err)
		}
	}
}
