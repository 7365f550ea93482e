package pdf_test

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"iter"
	"strconv"
	"testing"
	"time"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/font"
	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/standard"
)

// compliant is what most samples claim.
var compliant = []standard.ID{standard.PDFA4, standard.PDFUA2}

// claimable are the sets of standards that one file can claim, but for the empty one.
var claimable = [][]standard.ID{
	compliant,
	{standard.PDFA2b, standard.PDFUA1},
	{standard.PDFA3b, standard.PDFUA1},
	{standard.PDFA2b},
	{standard.PDFA3b},
	{standard.PDFA4},
	{standard.PDFUA1},
	{standard.PDFUA2},
}

// flavours are the names that veraPDF has for standards.
var flavours = map[standard.ID]string{
	standard.PDFA2b: "2b", standard.PDFA3b: "3b", standard.PDFA4: "4", standard.PDFUA1: "ua1", standard.PDFUA2: "ua2", standard.PDFA4f: "4f",
	standard.PDFA2u: "2u", standard.PDFA2a: "2a", standard.PDFA3u: "3u", standard.PDFA3a: "3a", standard.PDFA4e: "4e",
}

// frozen is the moment that samples state.
var frozen = time.Date(2026, 1, 31, 18, 30, 0, 0, time.FixedZone("", 5*3600+1800))

func newEngine(tb testing.TB, c pdf.Config) *pdf.Engine {
	tb.Helper()
	e, err := pdf.New(c)
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

// render builds a document and fails the test when that fails.
func render(tb testing.TB, e *pdf.Engine, o pdf.RenderOptions, f func(*doc.Builder) error) ([]byte, *pdf.Result) {
	tb.Helper()
	var buf bytes.Buffer
	res, err := e.Build(tb.Context(), &buf, o, f)
	if err != nil {
		tb.Fatal(err)
	}
	if res.Size != int64(buf.Len()) {
		tb.Fatalf("result says %d bytes, written are %d", res.Size, buf.Len())
	}
	return buf.Bytes(), res
}

// The styles of the samples.
var (
	baseStyle  = &doc.Style{Size: 9 * doc.Pt, Leading: 12 * doc.Pt}
	numStyle   = &doc.Style{Size: 9 * doc.Pt, Leading: 12 * doc.Pt, Align: doc.AlignRight, TabularFigures: true}
	smallStyle = &doc.Style{Size: doc.Points(7.5), Color: doc.RGB(0x55, 0x55, 0x55)}
	smallRight = &doc.Style{Size: doc.Points(7.5), Color: doc.RGB(0x55, 0x55, 0x55), Align: doc.AlignRight}
)

func txt(s string) []doc.Span { return []doc.Span{{Text: s}} }

func para(s string) *doc.Text { return &doc.Text{Spans: txt(s)} }

func styled(style *doc.Style, spans ...doc.Span) *doc.Text {
	return &doc.Text{Block: doc.Block{Style: style}, Spans: spans}
}

// pageOf is a footer with a link and "Page x of y".
func pageOf() doc.Running {
	return doc.Running{All: []doc.Node{&doc.Beside{
		Widths: []doc.Width{doc.Fr(1), doc.Auto()},
		Cells: [][]doc.Node{
			{styled(smallStyle, doc.Span{Text: "Terms", Link: "https://example.com/terms"})},
			{styled(smallRight, doc.Span{Text: "Page "}, doc.Span{Kind: doc.SpanPage}, doc.Span{Text: " of "}, doc.Span{Kind: doc.SpanPages})},
		},
	}}}
}

// note is a contract note for a client with n trades.
func note(client string, n int) func(*doc.Builder) error {
	return func(b *doc.Builder) error {
		b.Title("Contract note for " + client).Lang("en-IN").Style(baseStyle)
		b.Meta(doc.Meta{Author: "Example Securities", Subject: "Trades", Keywords: []string{"note", "trades"}})
		b.Header(doc.Running{Other: []doc.Node{styled(smallStyle, doc.Span{Text: "Contract note, continued"})}})
		b.Footer(pageOf())
		b.Heading(1, "Contract note", doc.Bookmark("Contract note"), doc.Anchor("top"))
		b.Spans([]doc.Span{
			{Text: "For "},
			{Text: client, Bold: true},
			{Text: ", settled in ₹ and € → see "},
			{Text: "the exchange", Link: "https://example.com/x?y=1&z=ü"},
			{Text: " or "},
			{Text: "the trades", Link: "#trades"},
			{Text: "."},
		})
		b.Heading(2, "Trades", doc.Bookmark("Trades"), doc.Anchor("trades"))
		b.Table([]doc.Column{
			{Head: txt("Order"), Width: doc.Fixed(doc.MM(24)), RowHeader: true},
			{Head: txt("Security")},
			{Head: txt("Side"), Width: doc.Fixed(doc.MM(14))},
			{Head: txt("Quantity"), Width: doc.Fixed(doc.MM(20)), Style: numStyle},
			{Head: txt("Price"), Width: doc.Auto(), Style: numStyle},
		}, func(t *doc.Table) {
			t.Caption = txt("Trades of the day")
			t.Rows = trades(n)
			t.Foot = []doc.Row{{Cells: []doc.Cell{
				{Spans: txt("Net payable"), Colspan: 4, Style: numStyle},
				{Spans: []doc.Span{{Text: "₹ 12,345.00", Bold: true}}, Style: numStyle},
			}}}
		})
		return nil
	}
}

// trades yields n rows without holding them.
func trades(n int) iter.Seq2[doc.Row, error] {
	return func(yield func(doc.Row, error) bool) {
		for i := range n {
			s := strconv.Itoa(i)
			row := doc.Row{Keep: true, Cells: []doc.Cell{
				{Spans: txt("ORD" + s)},
				{Spans: txt("Société " + s), Link: "https://example.com/s/" + s},
				{Spans: txt([]string{"BUY", "SELL"}[i%2])},
				{Spans: txt(strconv.Itoa(i * 7919 % 10000))},
				{Spans: txt("₹ " + strconv.Itoa(i*104729%100000) + ".00")},
			}}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// picture returns a PNG with alpha, or an opaque one.
func picture(tb testing.TB, alpha bool) []byte {
	tb.Helper()
	var img image.Image
	if alpha {
		m := image.NewNRGBA(image.Rect(0, 0, 40, 20))
		for i := range m.Pix {
			m.Pix[i] = byte(i * 7)
		}
		img = m
	} else {
		m := image.NewPaletted(image.Rect(0, 0, 40, 20), color.Palette{color.Black, color.White, color.NRGBA{200, 30, 30, 255}})
		for i := range m.Pix {
			m.Pix[i] = byte(i % 3)
		}
		img = m
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func photo(tb testing.TB) []byte {
	tb.Helper()
	m := image.NewRGBA(image.Rect(0, 0, 64, 48))
	for i := range m.Pix {
		m.Pix[i] = byte(i / 3)
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// everything uses every node there is.
func everything(tb testing.TB) func(*doc.Builder) error {
	tb.Helper()
	logo, red, jpg := picture(tb, true), picture(tb, false), photo(tb)
	return func(b *doc.Builder) error {
		b.Title("Everything <&> one").Lang("en").Style(baseStyle)
		b.Page(doc.Master{
			Width: doc.MM(210), Height: doc.MM(297), Margins: doc.Same(doc.MM(20)),
			Border: doc.Around(doc.Line{Width: doc.Pt / 2, Color: doc.RGB(0x99, 0x99, 0x99)}),
		})
		b.Watermark(doc.Watermark{Text: "DRAFT", Angle: 45, Opacity: 0.08})
		b.Header(doc.Running{
			First: []doc.Node{&doc.Image{Name: "logo.png", Data: logo, Decorative: true, Width: doc.MM(28)}},
			Other: []doc.Node{styled(smallStyle, doc.Span{Text: "Everything"})},
		})
		b.Footer(pageOf())
		b.Heading(1, "Everything", doc.Bookmark("Everything"), doc.Anchor("top"))
		b.Spans([]doc.Span{
			{Text: "plain "},
			{Text: "bold ", Bold: true},
			{Text: "italic ", Italic: true},
			{Text: "both ", Bold: true, Italic: true},
			{Text: "code()", Code: true},
			{Text: " French: "},
			{Text: "déjà vu", Lang: "fr"},
			{Text: ", no\u00A0break, cafe\u0301."},
		})
		b.Text("A justified paragraph of some length, so that it takes more than one line and its spaces have to stretch for the lines to end flush at the right margin of the page.",
			doc.In(&doc.Style{Size: 9 * doc.Pt, Align: doc.AlignJustify, SpaceBefore: 6 * doc.Pt}))
		b.List(doc.MarkerDecimal, "first", "second", "third").List(doc.MarkerDisc, "a bullet", "another")
		b.Add(&doc.List{Items: []doc.ListItem{{Nodes: []doc.Node{
			para("outer"), &doc.List{Marker: doc.MarkerDecimal, Start: 9, Items: []doc.ListItem{
				{Nodes: []doc.Node{para("nine")}}, {Nodes: []doc.Node{para("ten")}},
			}},
		}}}})
		b.Heading(2, "Images")
		b.Image(doc.Image{Name: "red.png", Data: red, Alt: "A red pattern", Width: doc.MM(30)})
		b.Image(doc.Image{Name: "photo.jpg", Data: jpg, Alt: "A grey photo", Height: doc.MM(12), Link: "https://example.com/photo"})
		b.Image(doc.Image{Name: "logo.png", Data: logo, Alt: "The logo", Width: doc.MM(20), Height: doc.MM(20)})
		b.Rule().Space(6 * doc.Pt)
		b.Add(&doc.Box{
			Padding: doc.Same(6 * doc.Pt), Border: doc.Around(doc.Line{Width: doc.Pt / 2, Color: doc.RGB(150, 150, 150)}),
			Background: doc.RGB(245, 247, 250), Nodes: []doc.Node{
				&doc.Text{Spans: []doc.Span{{Text: "A box with a link "}, {Text: "back to the top", Link: "#top"}}},
			},
		})
		b.Add(&doc.Beside{Gap: 12 * doc.Pt, Widths: []doc.Width{doc.Fixed(doc.MM(30)), doc.Percent(30), doc.Fr(1)}, Cells: [][]doc.Node{
			{para("left")}, {para("middle")}, {para("right")},
		}})
		b.Heading(2, "Spans of cells")
		b.Table([]doc.Column{{}, {}, {}}, func(tb *doc.Table) {
			tb.Border = doc.Lattice(doc.Line{Width: doc.Pt / 2})
			tb.Stripe = []doc.Color{doc.RGB(255, 255, 255), doc.RGB(245, 247, 250)}
			tb.Head = []doc.Row{
				{Cells: []doc.Cell{{Spans: txt("Group"), Colspan: 2}, {Spans: txt("Rest"), Rowspan: 2, VAlign: doc.VAlignMiddle}}},
				{Cells: []doc.Cell{{Spans: txt("One")}, {Spans: txt("Two")}}},
			}
			tb.Rows = doc.Rows(
				doc.Row{Cells: []doc.Cell{{Spans: txt("tall"), Rowspan: 2, VAlign: doc.VAlignBottom}, {Spans: txt("a")}, {Spans: txt("b"), Background: doc.RGB(255, 240, 200)}}},
				doc.Row{Cells: []doc.Cell{{Spans: txt("c")}, {Nodes: []doc.Node{para("nested"), para("blocks")}}}},
				doc.Row{Cells: []doc.Cell{{}, {Spans: txt("empty before")}, {}}},
			)
		})
		return nil
	}
}

// nesting puts blocks into blocks and markup into markup, over page ends.
func nesting(tb testing.TB) func(*doc.Builder) error {
	tb.Helper()
	red := picture(tb, false)
	inner := func() []doc.Node {
		return []doc.Node{
			&doc.Heading{Level: 2, Spans: txt("Inner")},
			&doc.Image{Name: "red.png", Data: red, Alt: "A pattern", Width: doc.MM(10), Link: "https://example.com/"},
			&doc.Image{Name: "red.png", Data: red, Alt: "A pattern", Width: doc.MM(10)},
			&doc.List{Items: []doc.ListItem{{Nodes: []doc.Node{
				para("item"), &doc.Image{Name: "red.png", Data: red, Alt: "A pattern", Width: doc.MM(10)},
				&doc.Table{Columns: []doc.Column{{Head: txt("Head")}}, Rows: doc.Rows(doc.Row{Cells: []doc.Cell{{Spans: txt("deep")}}})},
			}}}},
			&doc.Box{Nodes: []doc.Node{&doc.Rule{}, para("boxed")}},
			&doc.Beside{Cells: [][]doc.Node{{para("left")}, {&doc.Spacer{Height: doc.Pt}, para("right")}}},
			&doc.Table{Caption: txt("Inner table"), Columns: []doc.Column{{Head: txt("A")}, {Head: txt("B"), RowHeader: true}}, Rows: doc.Rows(
				doc.Row{Cells: []doc.Cell{{Spans: txt("one")}, {Spans: []doc.Span{{Text: "two", Link: "https://example.com/two", Bold: true, Italic: true, Code: true, Lang: "fr"}}}}},
			)},
		}
	}
	return func(b *doc.Builder) error {
		b.Title("Nesting").Lang("en").Style(baseStyle).Heading(1, "Nesting")
		b.Page(doc.Master{Width: doc.MM(120), Height: doc.MM(90), Margins: doc.Same(doc.MM(12))})
		b.Table([]doc.Column{{}, {}}, func(t *doc.Table) {
			t.Rows = doc.Rows(doc.Row{Cells: []doc.Cell{{Nodes: inner()}, {Nodes: inner()}}})
		})
		b.Add(&doc.List{Marker: doc.MarkerDecimal, Items: []doc.ListItem{{Nodes: inner()}, {Nodes: []doc.Node{}}}})
		b.Add(&doc.Box{Padding: doc.Same(4 * doc.Pt), Border: doc.Around(doc.Line{Width: doc.Pt}), Nodes: inner()})
		b.Add(&doc.Beside{Cells: [][]doc.Node{inner(), inner()}})
		b.Spans([]doc.Span{
			{Text: "plain", Link: "#there"}, {Text: "bold", Link: "#there", Bold: true}, {Text: " "}, {Text: "to a word", Link: "https://example.com/" + "long"},
		})
		b.Text("", doc.Anchor("there")).Text("end")
		return nil
	}
}

// liberationRegular returns a font file.
func liberationRegular() ([]byte, error) {
	m, err := liberation.New().Match(liberation.Sans, font.Style{})
	if err != nil {
		return nil, err
	}
	return m.Face.Data(), nil
}
