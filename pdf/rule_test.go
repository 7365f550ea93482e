package pdf_test

import (
	"bytes"
	"strings"
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

// TestShapesOfTemplatesAndGoAreTheSame: each kind of shape, with the colours of the data, is what
// a Builder makes of it, and conforms where a figure has its text.
func TestShapesOfTemplatesAndGoAreTheSame(t *testing.T) {
	t.Parallel()
	e := newEngine(t, pdf.Config{})
	for name, ids := range map[string][]standard.ID{"plain": nil, "compliant": compliant, "older": {standard.PDFA2b, standard.PDFUA1}} {
		list := "[]"
		if ids != nil {
			list = "[" + ids[0].String() + ", " + ids[1].String() + "]"
		}
		written, err := renderText(t, e, `quire: 1
name: x
lang: en
title: Shapes
standard: `+list+`
theme: none
data: {late: boolean}
body:
  - {shape: {rect: [40mm, 12mm], radius: 2mm, fill: "#eef1f7", thickness: 1pt, color: "#333344", decorative: true}}
  - {shape: {ellipse: [20mm, 12mm], fill: "${late ? '#b00020' : '#20a040'}", alt: "${late ? 'late' : 'in time'}"}}
  - {shape: {line: [60mm, 0mm], dash: [2pt, 2pt], decorative: true}}
  - {shape: {line: [30mm, 10mm], thickness: 2pt, decorative: true}}
  - {shape: {path: "M0 30 L20 0 L40 30 Z", width: 42pt, height: 42pt, alt: A triangle}}
`, `{"late": true}`)
		if err != nil {
			t.Fatal(err)
		}
		built, res := render(t, e, pdf.RenderOptions{Standards: ids, Time: frozen}, func(b *doc.Builder) error {
			b.Title("Shapes").Lang("en")
			b.Shape(doc.Shape{
				Kind: doc.ShapeRect, Width: doc.MM(40), Height: doc.MM(12), Radius: doc.MM(2), Fill: doc.RGB(0xEE, 0xF1, 0xF7),
				Line: doc.Line{Width: doc.Pt, Color: doc.RGB(0x33, 0x33, 0x44)},
			}, "")
			b.Shape(doc.Shape{Kind: doc.ShapeEllipse, Width: doc.MM(20), Height: doc.MM(12), Fill: doc.RGB(0xB0, 0, 0x20)}, "late")
			b.Shape(doc.Shape{Width: doc.MM(60), Line: doc.Line{Width: doc.Pt / 2, Dash: [2]doc.Length{2 * doc.Pt, 2 * doc.Pt}}}, "")
			b.Shape(doc.Shape{Width: doc.MM(30), Height: doc.MM(10), Line: doc.Line{Width: 2 * doc.Pt}}, "")
			b.Shape(doc.Shape{Kind: doc.ShapePath, Path: "M0 30 L20 0 L40 30 Z", Width: 42 * doc.Pt, Height: 42 * doc.Pt, Line: doc.Line{Width: doc.Pt / 2}}, "A triangle")
			return nil
		})
		if !bytes.Equal(written, built) || len(res.Warnings) > 0 {
			t.Errorf("%s: %d bytes written, %d built, warnings %v", name, len(written), len(built), res.Warnings)
		}
		if ids == nil {
			continue
		}
		if found, err := e.Check(t.Context(), opened(t, e, built)); err != nil || len(found) > 0 {
			t.Errorf("%s: %v %v", name, err, found)
		}
		if s := unpack(t, built); strings.Count(s, "/S/Figure") != 2 || !strings.Contains(s, "/Alt(late)") {
			t.Errorf("%s: not two figures", name)
		}
	}
}
