package pdf_test

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
)

// tabbed is a page of paragraphs with tab stops and indents.
func tabbed(tb testing.TB) (src, data string) {
	tb.Helper()
	read := func(name string) string {
		body, err := os.ReadFile("internal/compile/testdata/samples/" + name)
		if err != nil {
			tb.Fatal(err)
		}
		return string(body)
	}
	return read("tabs.yaml"), read("tabs.json")
}

// TestTabsAndDecimalsOnPaper: in the file, the decimal signs of tab stops and of columns stand
// below each other, and what is aligned at the right ends at the margin.
func TestTabsAndDecimalsOnPaper(t *testing.T) {
	src, data := tabbed(t)
	body := fromTemplate(t, newEngine(t, pdf.Config{}), src, data, pdf.RenderOptions{Time: frozen})
	file := pdftest.Write(t, "tabs.pdf", body)
	if err := pdftest.QPDF(t, file); err != nil {
		t.Error(err)
	}
	words := pdftest.Boxes(t, file)
	left := func(text string, n int) float64 {
		t.Helper()
		for _, w := range words {
			if w.Text == text {
				if n--; n < 0 {
					return w.XMin
				}
			}
		}
		t.Fatalf("no %q in %v", text, words)
		return 0
	}
	find := func(text string) (w pdftest.Word) {
		t.Helper()
		for _, w = range words {
			if w.Text == text {
				return w
			}
		}
		t.Fatalf("no %q in %v", text, words)
		return w
	}
	// The widths of digits, points and commas of Liberation Sans, in thousandths.
	wide := func(s string) (w float64) {
		for _, r := range s {
			switch r {
			case '.', ',':
				w += 278
			case '-':
				w += 333
			default:
				w += 556
			}
		}
		return w * 11 / 1000
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 0.3 {
			t.Errorf("%s stands at %.2f, want %.2f", what, got, want)
		}
	}
	stop := 72/25.4*20 + 72/25.4*120
	near("1.234,50", left("1.234,50", 0)+wide("1.234"), stop)
	near("7,5", left("7,5", 0)+wide("7"), stop)
	near("12", left("12", 0)+wide("12"), stop)
	right := 72 / 25.4 * 190
	near("rechts", find("rechts").XMax, right)
	m := find("mitte")
	near("mitte", (m.XMin+m.XMax)/2, 72/25.4*(20+85))
	near("vierzig", find("vierzig").XMin, 72/25.4*(20+40))
	for column := range 2 {
		sign := left("1,5", column) + wide("1")
		for _, number := range []string{"1.234,567", "0,25", "100.000"} {
			whole, _, _ := strings.Cut(number, ",")
			near(number, left(number, column)+wide(whole), sign)
		}
		near("-12", left("-12", column)+wide("-12"), sign)
	}
	near("the end of a line of the paragraph with margins", maxRight(words, "eingerückter", "steht."), right-72/25.4*20)
	near("its first line", find("Ein").XMin, 72/25.4*(20+10+8))
}

// maxRight is where the words from one to another end at the right.
func maxRight(words []pdftest.Word, from, to string) (x float64) {
	within := false
	for _, w := range words {
		if within = within || w.Text == from; within {
			x = max(x, w.XMax)
		}
		if within && w.Text == to {
			break
		}
	}
	return x
}

// TestTabsOfTemplatesAndGoAreTheSame: the keys of a template and the fields of nodes make the same
// file.
func TestTabsOfTemplatesAndGoAreTheSame(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	of := fromTemplate(t, e, `quire: 1
name: tabs
lang: de
title: Tabs
styles: {base: {font: Liberation Sans, size: 12pt}}
body: [{text: "a\t1,5", tabs: [{at: 20mm}, {at: 50%, align: decimal, leader: dots}], indent: 3mm, margin-left: 4mm}]
`, "{}", pdf.RenderOptions{})
	built, _ := render(t, e, pdf.RenderOptions{}, func(b *doc.Builder) error {
		b.Title("Tabs").Lang("de").DecimalSign(",").Style(&doc.Style{Family: "Liberation Sans", Size: 12 * doc.Pt})
		b.Text("a\t1,5", doc.In(&doc.Style{Family: "Liberation Sans", Size: 12 * doc.Pt, Indent: doc.MM(3), MarginLeft: doc.MM(4)}),
			doc.Tabs(doc.Tab{At: doc.Fixed(doc.MM(20))}, doc.Tab{At: doc.Percent(50), Align: doc.TabDecimal, Leader: doc.TabLeaderDots}))
		return nil
	})
	if !bytes.Equal(of, built) {
		t.Error("the files differ")
	}
}

// TestTabsThatCannotBe: a stop beyond the text and margins that leave none are told.
func TestTabsThatCannotBe(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	for name, add := range map[string]func(b *doc.Builder){
		"beyond":  func(b *doc.Builder) { b.Text("a\tb", doc.Tabs(doc.Tab{At: doc.Fixed(doc.MM(500))})) },
		"share":   func(b *doc.Builder) { b.Text("a\tb", doc.Tabs(doc.Tab{At: doc.Fr(1)})) },
		"margins": func(b *doc.Builder) { b.Text("a", doc.In(&doc.Style{MarginLeft: doc.MM(500)})) },
	} {
		_, err := e.Build(t.Context(), &bytes.Buffer{}, pdf.RenderOptions{}, func(b *doc.Builder) error { add(b.Title("T").Lang("en")); return nil })
		t.Run(name, func(t *testing.T) { wantCode(t, err, "L306") })
	}
}
