package pdf_test

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/template"
)

// alike makes a file of a template and one by a builder, and wants the same bytes of both.
func alike(t *testing.T, src, data string, f func(*doc.Builder)) []byte {
	t.Helper()
	e := newEngine(t, pdf.Config{})
	plan, err := e.Compile(t.Context(), pdf.Source{File: "t.yaml", Text: []byte(src)})
	if err != nil {
		t.Fatal(err)
	}
	var a, b bytes.Buffer
	if _, err := e.Render(t.Context(), &a, plan, template.JSON([]byte(data)), pdf.RenderOptions{Standards: compliant}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Build(t.Context(), &b, pdf.RenderOptions{Standards: compliant}, func(b *doc.Builder) error { f(b); return nil }); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Errorf("%d bytes by the template, %d by Go", a.Len(), b.Len())
	}
	return a.Bytes()
}

// TestNumbersOfHeadingsAreTextEverywhere: on the page, in the table of contents, the outline,
// headers and references, by a template and by Go.
func TestNumbersOfHeadingsAreTextEverywhere(t *testing.T) {
	t.Parallel()
	body := alike(t, `quire: 1
name: t
lang: en
title: Report
theme: none
number-headings: 2
data: {parts: [string]}
components: {part: {params: {of: string}, do: [{heading: "${of}", level: 2}]}}
header: {all: [{text: "${section()}"}]}
body:
  - {toc: {}}
  - {heading: Preface, number: false, bookmark: true}
  - {heading: Goods, anchor: goods, bookmark: true}
  - {for: p in parts, do: [{use: part, with: {of: "${p}"}}]}
  - {text: "For goods see ${numberOf('goods')}."}
  - {heading: Rates, number: upper-alpha}
  - {heading: Annex, number: 7}
`, `{"parts": ["Apples", "Pears"]}`, func(b *doc.Builder) {
		b.Title("Report").Lang("en").NumberHeadings(2).References()
		b.Header(doc.Running{All: []doc.Node{&doc.Text{Spans: []doc.Span{{Kind: doc.SpanTitle, Level: 1}}}}})
		heading := func(h doc.Heading, level int, s string) {
			h.Level, h.Spans = level, []doc.Span{{Text: s}}
			h.Style = &doc.Style{Size: doc.Points(16), Weight: 700, SpaceBefore: doc.Points(16), SpaceAfter: doc.Points(8)}
			if level == 2 {
				h.Style = &doc.Style{Size: doc.Points(13), Weight: 700, SpaceBefore: doc.Points(13), SpaceAfter: doc.Points(6.5)}
			}
			b.Add(&h)
		}
		b.Contents(3)
		heading(doc.Heading{Numbered: doc.NumberedOff, InOutline: true}, 1, "Preface")
		heading(doc.Heading{Block: doc.Block{Anchor: "goods"}, InOutline: true}, 1, "Goods")
		heading(doc.Heading{}, 2, "Apples")
		heading(doc.Heading{}, 2, "Pears")
		b.Spans([]doc.Span{{Text: "For goods see "}, {Kind: doc.SpanNumber, Text: "goods"}, {Text: "."}})
		heading(doc.Heading{Numbered: doc.NumberedOn, Numbering: doc.NumberingUpperAlpha}, 1, "Rates")
		heading(doc.Heading{Numbered: doc.NumberedOn, NumberFrom: 7}, 1, "Annex")
	})
	text := pdftest.Text(t, pdftest.Write(t, "numbers.pdf", body))
	for _, want := range []string{"1 Goods", "1.1 Apples", "1.2 Pears", "A Rates", "7 Annex"} {
		if n := strings.Count(text, want); n != 2 { // in the table and in its place
			t.Errorf("%q %d times in %s", want, n, text)
		}
	}
	if !strings.HasPrefix(text, "Preface\n") || !strings.Contains(text, "For goods see 1.") || !strings.Contains(unpack(t, body), "/Title(1 Goods)") {
		t.Error(text)
	}
}

// TestBreaksOfTemplatesAndGoAreTheSame to the byte: to columns and to odd pages.
func TestBreaksOfTemplatesAndGoAreTheSame(t *testing.T) {
	t.Parallel()
	body := alike(t, `quire: 1
name: t
lang: en
title: Breaks
theme: none
body:
  - columns:
      do:
        - {text: one, break-after: column}
        - {text: two}
        - {text: three, break-before: column}
  - {text: four, break-before: odd}
  - {page-break: odd}
  - {text: five}
  - {section: {do: [{text: six}]}, break-before: odd, break-after: odd}
  - {text: seven, break-before: column}
`, "{}", func(b *doc.Builder) {
		b.Title("Breaks").Lang("en")
		before := func(to doc.Break, s string) doc.Node {
			return &doc.Text{Block: doc.Block{BreakBefore: to}, Spans: []doc.Span{{Text: s}}}
		}
		b.Add(&doc.Columns{Count: 2, Gap: doc.MM(6), Nodes: []doc.Node{
			para("one"), &doc.PageBreak{To: doc.BreakColumn}, para("two"), before(doc.BreakColumn, "three"),
		}})
		b.Add(before(doc.BreakOdd, "four"), &doc.PageBreak{To: doc.BreakOdd}, para("five"))
		b.Section(doc.Section{Block: doc.Block{BreakBefore: doc.BreakOdd}}, func(b *doc.Builder) { b.Text("six") })
		b.Add(&doc.PageBreak{To: doc.BreakOdd}, before(doc.BreakColumn, "seven"))
	})
	pages := strings.Split(pdftest.Text(t, pdftest.Write(t, "breaks.pdf", body)), "\f")
	for i, want := range []string{"one two", "three", "four", "", "five", "", "six", "", "seven"} {
		if got := strings.Join(strings.Fields(pages[i]), " "); got != want {
			t.Errorf("page %d: %q, want %q", i+1, got, want)
		}
	}
}

// TestColumnsOfPagesOfTemplatesAndGoAreTheSame to the byte, in the body and in sections.
func TestColumnsOfPagesOfTemplatesAndGoAreTheSame(t *testing.T) {
	t.Parallel()
	body := alike(t, `quire: 1
name: t
lang: en
title: Columns
theme: none
page: {size: A6, columns: 2}
data: {lines: [string]}
body:
  - {for: l in lines, do: [{text: "line ${l}"}]}
  - section: {columns: {count: 3, gap: 3mm, balance: false}, do: [{text: one}, {text: two, break-before: column}]}
  - section: {columns: 1, do: [{text: three}, {text: four}]}
`, `{"lines": [`+strings.Repeat(`"x",`, 120)+`"y"]}`, func(b *doc.Builder) {
		b.Title("Columns").Lang("en")
		page := doc.A4()
		page.Width, page.Height = doc.MM(105), doc.MM(148)
		first, second := page, page
		page.Columns = doc.PageColumns{Count: 2, Gap: doc.MM(6)}
		first.Columns = doc.PageColumns{Count: 3, Gap: doc.MM(3), Uneven: true}
		b.Page(page)
		for range 120 {
			b.Text("line x")
		}
		b.Text("line y")
		b.Section(doc.Section{Page: &first}, func(b *doc.Builder) {
			b.Text("one").Add(&doc.Text{Block: doc.Block{BreakBefore: doc.BreakColumn}, Spans: []doc.Span{{Text: "two"}}})
		})
		b.Section(doc.Section{Page: &second}, func(b *doc.Builder) { b.Text("three").Text("four") })
	})
	pages := strings.Split(pdftest.Text(t, pdftest.Write(t, "columns.pdf", body)), "\f")
	if n := strings.Count(strings.Join(pages, ""), "line "); n != 121 || len(pages) != 6 || !strings.Contains(pages[2], "line y") {
		t.Errorf("%d lines on %d pages: %q", n, len(pages), pages)
	}
}

// TestArtifactsAreOutOfTheStructure and are printed all the same: texts, tables over several pages,
// boxes, images, places. A template and Go make the same bytes.
func TestArtifactsAreOutOfTheStructure(t *testing.T) {
	t.Parallel()
	body := alike(t, `quire: 1
name: t
lang: en
title: Artifacts
theme: none
page: {size: A6}
footer: {all: [{text: "page ${page()} of ${pages()}"}]}
body:
  - {text: read first}
  - {text: unread text, artifact: true}
  - {heading: Unread heading, artifact: true}
  - {box: {border: hairline, do: [{text: unread box}, {list: {items: [unread item]}}]}, artifact: true}
  - {table: {columns: [{head: unread head}], rows: [{for: i in 1..60, cells: ["unread row ${i}"]}]}, artifact: true}
  - {table: {columns: [{head: unread top}], rows: [[unread cell]]}, keep-together: true, artifact: true}
  - {row: {cells: [unread left, unread right]}, artifact: true}
  - {place: {x: 2mm, y: 2mm, width: 40mm, do: [{text: unread place}]}, artifact: true}
  - {columns: {do: [{text: unread column}]}, artifact: true}
  - {text: read last}
`, "{}", func(b *doc.Builder) {
		page := doc.A4()
		page.Width, page.Height = doc.MM(105), doc.MM(148)
		b.Title("Artifacts").Lang("en").Page(page)
		b.Footer(doc.Running{All: []doc.Node{&doc.Text{Spans: []doc.Span{{Text: "page "}, {Kind: doc.SpanPage}, {Text: " of "}, {Kind: doc.SpanPages}}}}})
		art := doc.Block{Artifact: true}
		text := func(s string) *doc.Text { return &doc.Text{Block: art, Spans: []doc.Span{{Text: s}}} }
		b.Text("read first").Add(text("unread text"))
		b.Add(&doc.Heading{Block: doc.Block{Artifact: true, Style: &doc.Style{
			Size: doc.Points(16), Weight: 700, SpaceBefore: doc.Points(16), SpaceAfter: doc.Points(8),
		}}, Level: 1, Spans: []doc.Span{{Text: "Unread heading"}}})
		b.Add(&doc.Box{Block: art, Border: doc.Around(doc.Line{Width: doc.Pt * 3 / 10, Color: doc.RGB(0xC4, 0xC8, 0xCE)}), Nodes: []doc.Node{
			para("unread box"), &doc.List{Items: []doc.ListItem{{Nodes: []doc.Node{para("unread item")}}}},
		}})
		cell := func(s string) doc.Row { return doc.Row{Cells: []doc.Cell{{Spans: []doc.Span{{Text: s}}}}} }
		var rows []doc.Row
		for i := range 60 {
			rows = append(rows, cell("unread row "+strconv.Itoa(i+1)))
		}
		b.Add(&doc.Table{Block: art, Columns: []doc.Column{{Head: []doc.Span{{Text: "unread head"}}}}, Rows: doc.Rows(rows...)})
		b.Add(&doc.Table{Block: doc.Block{Artifact: true, KeepTogether: true}, Columns: []doc.Column{{Head: []doc.Span{{Text: "unread top"}}}}, Rows: doc.Rows(cell("unread cell"))})
		b.Add(&doc.Beside{Block: art, Cells: [][]doc.Node{{para("unread left")}, {para("unread right")}}})
		b.Add(&doc.Place{Block: art, X: doc.MM(2), Y: doc.MM(2), Width: doc.MM(40), Nodes: []doc.Node{para("unread place")}})
		b.Add(&doc.Columns{Block: art, Count: 2, Gap: doc.MM(6), Nodes: []doc.Node{para("unread column")}})
		b.Text("read last")
	})
	file := pdftest.Write(t, "artifacts.pdf", body)
	structure, _ := tool(t, "pdfinfo", "-struct-text", file)
	if strings.Contains(strings.ToLower(structure), "unread") || !strings.Contains(structure, "read first") || !strings.Contains(structure, "read last") || strings.Contains(structure, "Table") {
		t.Errorf("the structure has %s", structure)
	}
	shown := pdftest.Text(t, file)
	for _, want := range []string{"unread text", "Unread heading", "unread box", "unread item", "unread row 60", "unread cell", "unread left", "unread place", "unread column", "page 3 of"} {
		if strings.Count(shown, want) != 1 {
			t.Errorf("%q %d times in %s", want, strings.Count(shown, want), shown)
		}
	}
}

// TestMirroredMarginsOfTemplatesAndGoAreTheSame to the byte, in sections too: what one gives for
// all of its pages replaces what is around it.
func TestMirroredMarginsOfTemplatesAndGoAreTheSame(t *testing.T) {
	t.Parallel()
	alike(t, `quire: 1
name: t
lang: en
title: Mirrored
theme: none
page:
  size: A6
  margin: [10mm, 10mm, 15mm, 20mm]
  first: {background: "#eef1f7"}
  even: {margin: [10mm, 20mm, 15mm, 10mm], border: {width: 1pt}}
footer: {all: [{text: "${page()}"}]}
body:
  - {text: one}
  - {text: two, break-before: page}
  - {section: {page: {border: none}, do: [{text: three}, {text: four, break-before: page}]}}
  - {section: {page: {margin: 10mm, odd: {background: "#dddddd"}}, do: [{text: five}, {text: six, break-before: page}, {text: seven, break-before: page}]}}
`, "{}", func(b *doc.Builder) {
		edges := func(right, left float64) doc.Edges {
			return doc.Edges{Top: doc.MM(10), Right: doc.MM(right), Bottom: doc.MM(15), Left: doc.MM(left)}
		}
		page := doc.Master{Width: doc.MM(105), Height: doc.MM(148), Margins: edges(10, 20)}
		first, even := doc.PageLook{Margins: page.Margins, Background: doc.RGB(0xEE, 0xF1, 0xF7)}, doc.PageLook{Margins: edges(20, 10), Border: doc.Around(doc.Line{Width: doc.Pt})}
		page.First, page.Even = &first, &even
		b.Title("Mirrored").Lang("en").Page(page)
		b.Footer(doc.Running{All: []doc.Node{&doc.Text{Spans: []doc.Span{{Kind: doc.SpanPage}}}}})
		next := func(s string) doc.Node {
			return &doc.Text{Block: doc.Block{BreakBefore: doc.BreakPage}, Spans: []doc.Span{{Text: s}}}
		}
		b.Text("one").Add(next("two"))
		bare, bareFirst, bareEven := page, first, even
		bare.Border, bareFirst.Border, bareEven.Border = &doc.Border{}, &doc.Border{}, &doc.Border{}
		bare.First, bare.Even = &bareFirst, &bareEven
		b.Section(doc.Section{Page: &bare}, func(b *doc.Builder) { b.Text("three").Add(next("four")) })
		same := page
		same.Margins = doc.Same(doc.MM(10))
		sameFirst, sameEven := first, even
		sameFirst.Margins, sameEven.Margins = same.Margins, same.Margins
		same.First, same.Even, same.Odd = &sameFirst, &sameEven, &doc.PageLook{Margins: same.Margins, Background: doc.RGB(0xDD, 0xDD, 0xDD)}
		b.Section(doc.Section{Page: &same}, func(b *doc.Builder) { b.Text("five").Add(next("six"), next("seven")) })
	})
}

// flowing has artifacts, numbered headings, breaks of columns and to odd pages, and pages with
// columns and mirrored margins.
func flowing(b *doc.Builder) error {
	b.Title("Flow").Lang("en").NumberHeadings(2).References().OutlineLevels(2)
	b.Contents(2)
	b.Heading(1, "Goods", doc.Anchor("goods")).Heading(2, "Apples").Text("They are red.")
	b.Spans([]doc.Span{{Text: "See section "}, {Kind: doc.SpanNumber, Text: "goods", Link: "#goods"}, {Text: "."}})
	b.Add(&doc.Heading{Level: 1, Numbered: doc.NumberedOn, Numbering: doc.NumberingUpperAlpha, Spans: []doc.Span{{Text: "Rates"}}})
	b.Add(&doc.Columns{Count: 2, Gap: doc.MM(6), Nodes: []doc.Node{para("left"), &doc.PageBreak{To: doc.BreakColumn}, para("right")}})
	b.Add(&doc.PageBreak{To: doc.BreakOdd}, para("on page 3"))
	b.Add(&doc.Box{Block: doc.Block{Artifact: true}, Nodes: []doc.Node{
		&doc.Heading{Level: 5, Spans: []doc.Span{{Text: "Not read"}}},
		&doc.Table{Columns: []doc.Column{{Head: []doc.Span{{Text: "Nor"}}}}, Rows: doc.Rows(doc.Row{Cells: []doc.Cell{{Spans: []doc.Span{{Text: "this"}}}}})},
		&doc.Barcode{Symbology: doc.Code128, Value: "A1"},
	}})
	two := doc.A4()
	two.Margins.Left, two.Border = doc.MM(30), doc.Around(doc.Line{Width: doc.Pt})
	two.Even = &doc.PageLook{Margins: doc.Edges{Top: doc.MM(25), Right: doc.MM(30), Bottom: doc.MM(20), Left: doc.MM(20)}, Background: doc.RGB(0xEE, 0xF1, 0xF7)}
	two.Columns = doc.PageColumns{Count: 2, Gap: doc.MM(8)}
	b.Section(doc.Section{Page: &two}, func(b *doc.Builder) {
		b.Heading(1, "In columns")
		for i := range 60 {
			b.Spans([]doc.Span{{Text: "Some text"}, {Kind: doc.SpanNote, Note: &doc.Note{Spans: []doc.Span{{Text: strconv.Itoa(i)}}}}})
		}
		b.Table([]doc.Column{{Head: []doc.Span{{Text: "A"}}}}, func(t *doc.Table) { t.Rows = doc.Rows(doc.Row{Cells: []doc.Cell{{Spans: []doc.Span{{Text: "a"}}}}}) })
		b.Add(&doc.Place{X: doc.MM(150), Y: doc.MM(5), Width: doc.MM(40), Nodes: []doc.Node{para("at the top")}})
	})
	return nil
}

// TestPaddingOfCellsOfTemplatesAndGoIsTheSame: also of cells of blocks, of several columns, and
// below each other.
func TestPaddingOfCellsOfTemplatesAndGoIsTheSame(t *testing.T) {
	t.Parallel()
	alike(t, `quire: 1
name: t
lang: en
title: Padding
theme: none
body:
  - table:
      padding: 2mm
      columns: [{head: A, width: 40mm}, {head: B, width: 40mm}]
      rows:
        - [{text: a, padding: 0mm}, b]
        - [{do: [{text: c}], padding: [1mm, 4mm]}, {text: d, padding: [1mm, 2mm, 3mm, 5mm], valign: bottom}]
        - [{text: e, padding: 8mm, colspan: all}]
      foot: [[f, {text: g, padding: [0mm, 9mm]}]]
`, "{}", func(b *doc.Builder) {
		b.Title("Padding").Lang("en")
		cell := func(s string, p *doc.Edges) doc.Cell { return doc.Cell{Spans: []doc.Span{{Text: s}}, Padding: p} }
		edges := func(top, right, bottom, left float64) *doc.Edges {
			return &doc.Edges{Top: doc.MM(top), Right: doc.MM(right), Bottom: doc.MM(bottom), Left: doc.MM(left)}
		}
		column := func(s string) doc.Column {
			return doc.Column{Head: []doc.Span{{Text: s}}, Width: doc.Fixed(doc.MM(40))}
		}
		b.Table([]doc.Column{column("A"), column("B")}, func(t *doc.Table) {
			t.Padding = edges(2, 2, 2, 2)
			blocks := doc.Cell{Nodes: []doc.Node{para("c")}, Padding: edges(1, 4, 1, 4)}
			low := cell("d", edges(1, 2, 3, 5))
			low.VAlign = doc.VAlignBottom
			both := cell("e", edges(8, 8, 8, 8))
			both.Colspan = 2
			t.Rows = doc.Rows(
				doc.Row{Cells: []doc.Cell{cell("a", &doc.Edges{}), cell("b", nil)}},
				doc.Row{Cells: []doc.Cell{blocks, low}},
				doc.Row{Cells: []doc.Cell{both}},
			)
			t.Foot = []doc.Row{{Cells: []doc.Cell{cell("f", nil), cell("g", edges(0, 9, 0, 9))}}}
		})
	})
}

// TestPlacesInBoxesOfTemplatesAndGoAreTheSame: they are read where they stand among the blocks.
func TestPlacesInBoxesOfTemplatesAndGoAreTheSame(t *testing.T) {
	t.Parallel()
	body := alike(t, `quire: 1
name: t
lang: en
title: Places
theme: none
components: {stamp: {params: {of: string}, do: [{place: {x: 20mm, y: 5mm, width: 30mm, do: [{text: "${of}"}]}}]}}
body:
  - box:
      height: 40mm
      border: {width: 1pt}
      do:
        - {text: first}
        - {use: stamp, with: {of: second}}
        - {place: {x: 60mm, y: 10mm, width: 10mm, height: 20mm, rotate: 90, do: [{text: third}]}, artifact: true}
        - {place: {x: 0mm, y: 30mm, width: 30mm, do: [{text: fourth}]}, lang: de, anchor: there}
        - {text: "[last](#there)"}
`, "{}", func(b *doc.Builder) {
		b.Title("Places").Lang("en")
		place := func(x, y, w float64, s string) *doc.Place {
			return &doc.Place{X: doc.MM(x), Y: doc.MM(y), Width: doc.MM(w), Nodes: []doc.Node{para(s)}}
		}
		third, fourth := place(60, 10, 10, "third"), place(0, 30, 30, "fourth")
		third.Height, third.Turn, third.Artifact = doc.MM(20), doc.TurnLeft, true
		fourth.Lang, fourth.Anchor = "de", "there"
		b.Add(&doc.Box{Height: doc.MM(40), Border: doc.Around(doc.Line{Width: doc.Pt}), Nodes: []doc.Node{
			para("first"), place(20, 5, 30, "second"), third, fourth, &doc.Text{Spans: []doc.Span{{Text: "last", Link: "#there"}}},
		}})
	})
	structure, _ := tool(t, "pdfinfo", "-struct-text", pdftest.Write(t, "places.pdf", body))
	if got := strings.Join(regexp.MustCompile(`"\w+"`).FindAllString(structure, -1), " "); got != `"first" "second" "fourth" "last"` {
		t.Errorf("%s in %s", got, structure)
	}
}
