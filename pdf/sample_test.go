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
	"example.com/quire/pdf/font"
	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/layout"
	"example.com/quire/pdf/standard"
)

// compliant is what most samples claim.
var compliant = []standard.ID{standard.PDFA4, standard.PDFUA2}

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
func render(tb testing.TB, e *pdf.Engine, o pdf.RenderOptions, f func(*layout.Builder) error) ([]byte, *pdf.Result) {
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
	baseStyle  = &layout.Style{Size: 9 * layout.Pt, Leading: 12 * layout.Pt}
	numStyle   = &layout.Style{Size: 9 * layout.Pt, Leading: 12 * layout.Pt, Align: layout.AlignRight, TabularFigures: true}
	smallStyle = &layout.Style{Size: layout.Points(7.5), Color: layout.RGB(0x55, 0x55, 0x55)}
	smallRight = &layout.Style{Size: layout.Points(7.5), Color: layout.RGB(0x55, 0x55, 0x55), Align: layout.AlignRight}
)

func txt(s string) []layout.Span { return []layout.Span{{Text: s}} }

func para(s string) *layout.Text { return &layout.Text{Spans: txt(s)} }

func styled(style *layout.Style, spans ...layout.Span) *layout.Text {
	return &layout.Text{Block: layout.Block{Style: style}, Spans: spans}
}

// pageOf is a footer with a link and "Page x of y".
func pageOf() layout.Running {
	return layout.Running{All: []layout.Node{&layout.Beside{
		Widths: []layout.Width{layout.Fr(1), layout.Auto()},
		Cells: [][]layout.Node{
			{styled(smallStyle, layout.Span{Text: "Terms", Link: "https://example.com/terms"})},
			{styled(smallRight, layout.Span{Text: "Page "}, layout.Span{Kind: layout.SpanPage}, layout.Span{Text: " of "}, layout.Span{Kind: layout.SpanPages})},
		},
	}}}
}

// note is a contract note for a client with n trades.
func note(client string, n int) func(*layout.Builder) error {
	return func(b *layout.Builder) error {
		b.Title("Contract note for " + client).Lang("en-IN").Style(baseStyle)
		b.Meta(layout.Meta{Author: "Example Securities", Subject: "Trades", Keywords: []string{"note", "trades"}})
		b.Header(layout.Running{Other: []layout.Node{styled(smallStyle, layout.Span{Text: "Contract note, continued"})}})
		b.Footer(pageOf())
		b.Heading(1, "Contract note", layout.Bookmark("Contract note"), layout.Anchor("top"))
		b.Spans([]layout.Span{
			{Text: "For "},
			{Text: client, Bold: true},
			{Text: ", settled in ₹ and € → see "},
			{Text: "the exchange", Link: "https://example.com/x?y=1&z=ü"},
			{Text: " or "},
			{Text: "the trades", Link: "#trades"},
			{Text: "."},
		})
		b.Heading(2, "Trades", layout.Bookmark("Trades"), layout.Anchor("trades"))
		b.Table([]layout.Column{
			{Head: txt("Order"), Width: layout.Fixed(layout.MM(24)), RowHeader: true},
			{Head: txt("Security")},
			{Head: txt("Side"), Width: layout.Fixed(layout.MM(14))},
			{Head: txt("Quantity"), Width: layout.Fixed(layout.MM(20)), Style: numStyle},
			{Head: txt("Price"), Width: layout.Auto(), Style: numStyle},
		}, func(t *layout.Table) {
			t.Caption = txt("Trades of the day")
			t.Rows = trades(n)
			t.Foot = []layout.Row{{Cells: []layout.Cell{
				{Spans: txt("Net payable"), Colspan: 4, Style: numStyle},
				{Spans: []layout.Span{{Text: "₹ 12,345.00", Bold: true}}, Style: numStyle},
			}}}
		})
		return nil
	}
}

// trades yields n rows without holding them.
func trades(n int) iter.Seq2[layout.Row, error] {
	return func(yield func(layout.Row, error) bool) {
		for i := range n {
			s := strconv.Itoa(i)
			row := layout.Row{Keep: true, Cells: []layout.Cell{
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
func everything(tb testing.TB) func(*layout.Builder) error {
	tb.Helper()
	logo, red, jpg := picture(tb, true), picture(tb, false), photo(tb)
	return func(b *layout.Builder) error {
		b.Title("Everything <&> one").Lang("en").Style(baseStyle)
		b.Page(layout.Master{
			Width: layout.MM(210), Height: layout.MM(297), Margins: layout.Same(layout.MM(20)),
			Border: &layout.Border{Width: layout.Pt / 2, Color: layout.RGB(0x99, 0x99, 0x99)},
		})
		b.Watermark(layout.Watermark{Text: "DRAFT", Angle: 45, Opacity: 0.08})
		b.Header(layout.Running{
			First: []layout.Node{&layout.Image{Name: "logo.png", Data: logo, Decorative: true, Width: layout.MM(28)}},
			Other: []layout.Node{styled(smallStyle, layout.Span{Text: "Everything"})},
		})
		b.Footer(pageOf())
		b.Heading(1, "Everything", layout.Bookmark("Everything"), layout.Anchor("top"))
		b.Spans([]layout.Span{
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
			layout.In(&layout.Style{Size: 9 * layout.Pt, Align: layout.AlignJustify, SpaceBefore: 6 * layout.Pt}))
		b.List(layout.MarkerDecimal, "first", "second", "third").List(layout.MarkerDisc, "a bullet", "another")
		b.Add(&layout.List{Items: []layout.ListItem{{Nodes: []layout.Node{
			para("outer"), &layout.List{Marker: layout.MarkerDecimal, Start: 9, Items: []layout.ListItem{
				{Nodes: []layout.Node{para("nine")}}, {Nodes: []layout.Node{para("ten")}},
			}},
		}}}})
		b.Heading(2, "Images")
		b.Image(layout.Image{Name: "red.png", Data: red, Alt: "A red pattern", Width: layout.MM(30)})
		b.Image(layout.Image{Name: "photo.jpg", Data: jpg, Alt: "A grey photo", Height: layout.MM(12), Link: "https://example.com/photo"})
		b.Image(layout.Image{Name: "logo.png", Data: logo, Alt: "The logo", Width: layout.MM(20), Height: layout.MM(20)})
		b.Rule().Space(6 * layout.Pt)
		b.Add(&layout.Box{
			Padding: layout.Same(6 * layout.Pt), Border: &layout.Border{Width: layout.Pt / 2, Color: layout.RGB(150, 150, 150)},
			Background: layout.RGB(245, 247, 250), Nodes: []layout.Node{
				&layout.Text{Spans: []layout.Span{{Text: "A box with a link "}, {Text: "back to the top", Link: "#top"}}},
			},
		})
		b.Add(&layout.Beside{Gap: 12 * layout.Pt, Widths: []layout.Width{layout.Fixed(layout.MM(30)), layout.Percent(30), layout.Fr(1)}, Cells: [][]layout.Node{
			{para("left")}, {para("middle")}, {para("right")},
		}})
		b.Heading(2, "Spans of cells")
		b.Table([]layout.Column{{}, {}, {}}, func(tb *layout.Table) {
			tb.Border = &layout.Border{Width: layout.Pt / 2}
			tb.Stripe = []layout.Color{layout.RGB(255, 255, 255), layout.RGB(245, 247, 250)}
			tb.Head = []layout.Row{
				{Cells: []layout.Cell{{Spans: txt("Group"), Colspan: 2}, {Spans: txt("Rest"), Rowspan: 2, VAlign: layout.VAlignMiddle}}},
				{Cells: []layout.Cell{{Spans: txt("One")}, {Spans: txt("Two")}}},
			}
			tb.Rows = layout.Rows(
				layout.Row{Cells: []layout.Cell{{Spans: txt("tall"), Rowspan: 2, VAlign: layout.VAlignBottom}, {Spans: txt("a")}, {Spans: txt("b"), Background: layout.RGB(255, 240, 200)}}},
				layout.Row{Cells: []layout.Cell{{Spans: txt("c")}, {Nodes: []layout.Node{para("nested"), para("blocks")}}}},
				layout.Row{Cells: []layout.Cell{{}, {Spans: txt("empty before")}, {}}},
			)
		})
		return nil
	}
}

// nesting puts blocks into blocks and markup into markup, over page ends.
func nesting(tb testing.TB) func(*layout.Builder) error {
	tb.Helper()
	red := picture(tb, false)
	inner := func() []layout.Node {
		return []layout.Node{
			&layout.Heading{Level: 2, Spans: txt("Inner")},
			&layout.Image{Name: "red.png", Data: red, Alt: "A pattern", Width: layout.MM(10), Link: "https://example.com/"},
			&layout.Image{Name: "red.png", Data: red, Alt: "A pattern", Width: layout.MM(10)},
			&layout.List{Items: []layout.ListItem{{Nodes: []layout.Node{
				para("item"), &layout.Image{Name: "red.png", Data: red, Alt: "A pattern", Width: layout.MM(10)},
				&layout.Table{Columns: []layout.Column{{Head: txt("Head")}}, Rows: layout.Rows(layout.Row{Cells: []layout.Cell{{Spans: txt("deep")}}})},
			}}}},
			&layout.Box{Nodes: []layout.Node{&layout.Rule{}, para("boxed")}},
			&layout.Beside{Cells: [][]layout.Node{{para("left")}, {&layout.Spacer{Height: layout.Pt}, para("right")}}},
			&layout.Table{Caption: txt("Inner table"), Columns: []layout.Column{{Head: txt("A")}, {Head: txt("B"), RowHeader: true}}, Rows: layout.Rows(
				layout.Row{Cells: []layout.Cell{{Spans: txt("one")}, {Spans: []layout.Span{{Text: "two", Link: "https://example.com/two", Bold: true, Italic: true, Code: true, Lang: "fr"}}}}},
			)},
		}
	}
	return func(b *layout.Builder) error {
		b.Title("Nesting").Lang("en").Style(baseStyle).Heading(1, "Nesting")
		b.Page(layout.Master{Width: layout.MM(120), Height: layout.MM(90), Margins: layout.Same(layout.MM(12))})
		b.Table([]layout.Column{{}, {}}, func(t *layout.Table) {
			t.Rows = layout.Rows(layout.Row{Cells: []layout.Cell{{Nodes: inner()}, {Nodes: inner()}}})
		})
		b.Add(&layout.List{Marker: layout.MarkerDecimal, Items: []layout.ListItem{{Nodes: inner()}, {Nodes: []layout.Node{}}}})
		b.Add(&layout.Box{Padding: layout.Same(4 * layout.Pt), Border: &layout.Border{Width: layout.Pt}, Nodes: inner()})
		b.Add(&layout.Beside{Cells: [][]layout.Node{inner(), inner()}})
		b.Spans([]layout.Span{
			{Text: "plain", Link: "#there"}, {Text: "bold", Link: "#there", Bold: true}, {Text: " "}, {Text: "to a word", Link: "https://example.com/" + "long"},
		})
		b.Text("", layout.Anchor("there")).Text("end")
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
