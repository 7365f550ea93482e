package pdf_test

import (
	"regexp"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
)

// TestBackgroundLiesBeneathThePage: a background is the first that a page draws, an artifact with
// the sheet as its box; each page has that of its kind, and a section its own or none.
func TestBackgroundLiesBeneathThePage(t *testing.T) {
	t.Parallel()
	e := newEngine(t, pdf.Config{})
	only := func(s string) []doc.Node { return []doc.Node{para(s)} }
	body, _ := render(t, e, pdf.RenderOptions{Standards: compliant, Time: frozen}, func(b *doc.Builder) error {
		b.Title("T").Lang("en").Background(doc.Running{First: only("letter"), Other: only("next")})
		b.Text("one").PageBreak().Text("two")
		b.Section(doc.Section{Background: &doc.Running{}}, func(b *doc.Builder) { b.Text("three") })
		b.Section(doc.Section{Background: &doc.Running{All: only("own")}}, func(b *doc.Builder) { b.Text("four") })
		return nil
	})
	page := regexp.MustCompile(`^<</Length \d+>>BT\n(/Artifact<</Type/Background/BBox\[0 0 595\.28 841\.89\]>>BDC\n)?`)
	var has []bool
	for object := range strings.SplitSeq(unpack(t, body), " 0 obj\n") {
		if m := page.FindStringSubmatch(object); m != nil {
			has = append(has, m[1] != "")
		}
	}
	if len(has) != 4 || !has[0] || !has[1] || has[2] || !has[3] {
		t.Errorf("pages that begin with a background: %v", has)
	}
}

// TestBackgroundShowsTheSection: that of the document, and that of a section, though no header
// does.
func TestBackgroundShowsTheSection(t *testing.T) {
	t.Parallel()
	shows := doc.Running{All: []doc.Node{&doc.Text{Spans: []doc.Span{{Text: "in "}, {Kind: doc.SpanTitle}}}}}
	for name, build := range map[string]func(*doc.Builder){
		"document": func(b *doc.Builder) { b.Background(shows).Heading(1, "Fees") },
		"section": func(b *doc.Builder) {
			b.Heading(1, "Fees")
			b.Section(doc.Section{Background: &shows}, func(b *doc.Builder) { b.Text("x") })
		},
	} {
		body, _ := render(t, newEngine(t, pdf.Config{}), pdf.RenderOptions{}, func(b *doc.Builder) error {
			build(b.Title("T").Lang("en"))
			return nil
		})
		if got := pdftest.Text(t, pdftest.Write(t, "t.pdf", body)); !strings.Contains(got, "in Fees") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestBackgroundThatCannotBe names the place of what is wrong, once.
func TestBackgroundThatCannotBe(t *testing.T) {
	t.Parallel()
	e := newEngine(t, pdf.Config{})
	for name, tt := range map[string]struct{ block, want string }{
		"too high":        {"{spacer: 300mm}", "the background is 300.0 mm high, the sheet 297.0 mm"},
		"number of pages": {`{text: "${pages()}"}`, "the number of pages"},
		"table":           {"{table: {columns: [{}], rows: [[a]]}}", "has a table"},
		"note":            {`{text: "a^[b]"}`, "a footnote is allowed in the body"},
	} {
		_, err := renderText(t, e, "quire: 1\nname: x\nlang: en\ntitle: T\nbackground:\n  all: ["+tt.block+"]\nbody: [{text: a}, {page-break: true}, {text: b}]\n", "{}")
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Count(err.Error(), "background.all[0]") != 1 || !strings.Contains(err.Error(), "t.yaml:6:") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestArtifactsGoOnBehindABackground: what is an artifact and breaks over pages stays one on pages
// that have a background.
func TestArtifactsGoOnBehindABackground(t *testing.T) {
	t.Parallel()
	e := newEngine(t, pdf.Config{})
	body, res := render(t, e, pdf.RenderOptions{Standards: compliant, Time: frozen}, func(b *doc.Builder) error {
		b.Title("T").Lang("en").Background(doc.Running{All: []doc.Node{para("letter")}}).Text("one")
		var rows []doc.Row
		for range 200 {
			rows = append(rows, doc.Row{Cells: []doc.Cell{{Spans: txt("a")}, {Spans: txt("b c")}}})
		}
		b.Add(&doc.Table{Block: doc.Block{Artifact: true}, Columns: []doc.Column{{Head: txt("A")}, {Head: txt("B")}}, Rows: doc.Rows(rows...)})
		return nil
	})
	if s := unpack(t, body); res.Pages < 3 || strings.Contains(s, "/S/TD") || strings.Contains(s, "/TD<</MCID") || strings.Contains(s, "/S/Table") {
		t.Errorf("%d pages; the table is a structure element on some of them", res.Pages)
	}
}
