package notes

import (
	"context"
	"fmt"

	"codeberg.org/go-pdf/fpdf"
	"github.com/go-fonts/liberation/liberationsansbold"
	"github.com/go-fonts/liberation/liberationsansregular"
	"github.com/johnfercher/maroto/v2"
	"github.com/johnfercher/maroto/v2/pkg/components/page"
	"github.com/johnfercher/maroto/v2/pkg/components/row"
	"github.com/johnfercher/maroto/v2/pkg/components/text"
	"github.com/johnfercher/maroto/v2/pkg/config"
	consts "github.com/johnfercher/maroto/v2/pkg/consts/align"
	"github.com/johnfercher/maroto/v2/pkg/consts/fontstyle"
	"github.com/johnfercher/maroto/v2/pkg/consts/pagesize"
	"github.com/johnfercher/maroto/v2/pkg/core"
	"github.com/johnfercher/maroto/v2/pkg/props"
	"github.com/signintech/gopdf"

	"example.com/quire/bench/harness"
	"example.com/quire/bench/workload"
)

const (
	fpdfModule   = "codeberg.org/go-pdf/fpdf"
	gopdfModule  = "github.com/signintech/gopdf"
	marotoModule = "github.com/johnfercher/maroto/v2"
)

// drawn wraps a peer's maker.
func drawn(k workload.NoteKind, produce maker) opener {
	return func(ctx context.Context, _ harness.Env) (harness.Subject, error) {
		return documents(ctx, k, produce), nil
	}
}

const (
	leading = 12 / 72.0 * 25.4 // 12 pt in mm
	left    = 15.0
	margin  = 18.0
	width   = 180.0
	foot    = "Registered broker, member of the exchange"
)

// spread is how peers spread the trades: how many stand on the first page, on one after it, and how
// high each is, in mm.
func spread(k workload.NoteKind) (first, later int, high float64) {
	const row = 17 / 72.0 * 25.4
	switch k {
	case workload.Retail:
		return 2, 2, row
	case workload.Active:
		return 30, 36, row
	default:
		return 25, 27, 9
	}
}

// align is "L" or "R" for a column.
func align(k workload.NoteKind, column int) string {
	if column < len(columns[k].heads)-figures {
		return "L"
	}
	return "R"
}

// newFpdf draws the pages with fpdf, by the core font Helvetica or by embedded Liberation Sans.
func newFpdf(embedded bool) maker {
	return func(_ context.Context, in *input) error {
		v, err := read(in.kind, in.data)
		if err != nil {
			return err
		}
		f := fpdf.New("P", "mm", "A4", "")
		f.SetMargins(left, margin, left)
		f.SetAutoPageBreak(false, margin)
		f.SetCreationDate(workload.Time)
		f.SetModificationDate(workload.Time)
		f.SetTitle("Contract note "+v.Number, true)
		face := "Helvetica"
		if embedded {
			face = "Liberation"
			f.AddUTF8FontFromBytes(face, "", liberationsansregular.TTF)
			f.AddUTF8FontFromBytes(face, "B", liberationsansbold.TTF)
		}
		f.AliasNbPages("{n}")
		f.SetFooterFunc(func() {
			f.SetY(-margin)
			f.SetFont(face, "", 7.5)
			f.CellFormat(width-40, leading, foot, "", 0, "L", false, 0, "")
			f.CellFormat(40, leading, fmt.Sprintf("Page %d of {n}", f.PageNo()), "", 0, "R", false, 0, "")
		})
		k := in.kind
		shape := columns[k]
		first, later, high := spread(k)
		cells := func(style string, r []string) {
			f.SetFont(face, style, 9)
			for i, t := range r {
				f.CellFormat(shape.widths[i], high, t, "B", 0, align(k, i), false, 0, "")
			}
			f.Ln(high)
		}
		page := func() {
			f.AddPage()
			if k == workload.Active {
				f.SetAlpha(0.06, "Normal")
				f.TransformBegin()
				f.TransformRotate(45, 105, 148)
				f.SetFont(face, "B", 90)
				f.Text(30, 160, "ORIGINAL")
				f.TransformEnd()
				f.SetAlpha(1, "Normal")
			}
		}
		page()
		f.Bookmark("Contract note", 0, -1)
		for i, line := range v.head() {
			f.SetFont(face, "", 9)
			if i == 0 {
				f.SetFont(face, "B", 16)
			}
			f.CellFormat(width, leading+float64(3*(1-min(i, 1))), line, "", 1, "L", false, 0, "")
		}
		if k == workload.Retail {
			f.SetFont(face, "", 7.5)
			for _, l := range []string{"terms", "charges", "complaints"} {
				f.CellFormat(30, leading, l, "", 0, "L", false, 0, "https://broker.example/"+l)
			}
			trades := f.AddLink()
			f.CellFormat(30, leading, "trades", "", 1, "L", false, trades, "")
			f.SetLink(trades, -1, -1)
			f.Bookmark("Client", 1, -1)
			f.Bookmark("Trades", 1, -1)
		}
		f.Ln(4)
		cells("B", shape.heads)
		for i, r := range v.rows {
			if i >= first && (i-first)%later == 0 {
				page()
				cells("B", shape.heads)
			}
			cells("", r)
		}
		for _, s := range v.sums() {
			f.SetFont(face, "B", 9)
			f.CellFormat(width-40, leading, s[0], "", 0, "L", false, 0, "")
			f.CellFormat(40, leading, s[1], "", 1, "R", false, 0, "")
		}
		in.pages = f.PageNo()
		return f.Output(&in.out)
	}
}

// newGopdf draws the pages with gopdf, by embedded Liberation Sans.
func newGopdf(_ context.Context, in *input) error {
	v, err := read(in.kind, in.data)
	if err != nil {
		return err
	}
	const mm = 72 / 25.4
	g := &gopdf.GoPdf{}
	g.Start(gopdf.Config{PageSize: *gopdf.PageSizeA4})
	if err := g.AddTTFFontData("text", liberationsansregular.TTF); err != nil {
		return err
	}
	if err := g.AddTTFFontData("bold", liberationsansbold.TTF); err != nil {
		return err
	}
	g.SetInfo(gopdf.PdfInfo{Title: "Contract note " + v.Number, CreationDate: workload.Time})
	k := in.kind
	shape := columns[k]
	first, later, high := spread(k)
	pages := 1 + max(0, (len(v.rows)-first+later-1)/later)
	put := func(face string, size, x, y, w float64, right bool, s string) {
		if err == nil {
			err = g.SetFont(face, "", size)
		}
		if err == nil {
			g.SetXY(x*mm, y*mm)
			at := gopdf.CellOption{Align: gopdf.Left}
			if right {
				at.Align = gopdf.Right
			}
			err = g.CellWithOption(&gopdf.Rect{W: w * mm, H: leading * mm}, s, at)
		}
	}
	y := margin
	cells := func(face string, r []string) {
		x := left
		for i, t := range r {
			put(face, 9, x, y, shape.widths[i], align(k, i) == "R", t)
			x += shape.widths[i]
		}
		y += high
		g.Line(left*mm, y*mm, (left+width)*mm, y*mm)
	}
	number := 0
	page := func() {
		g.AddPage()
		number++
		y = margin
		put("text", 7.5, left, 280, width-40, false, foot)
		put("text", 7.5, left+width-40, 280, 40, true, fmt.Sprintf("Page %d of %d", number, pages))
		if k == workload.Active && err == nil {
			g.Rotate(45, 105*mm, 148*mm)
			g.SetTextColor(240, 240, 240)
			put("bold", 90, 30, 140, 150, false, "ORIGINAL")
			g.SetTextColor(0, 0, 0)
			g.RotateReset()
		}
	}
	page()
	g.AddOutline("Contract note")
	for i, line := range v.head() {
		size, face := 9.0, "text"
		if i == 0 {
			size, face = 16, "bold"
		}
		put(face, size, left, y, width, false, line)
		y += leading + float64(3*(1-min(i, 1)))
	}
	if k == workload.Retail {
		for i, l := range []string{"terms", "charges", "complaints", "trades"} {
			x := left + float64(30*i)
			put("text", 7.5, x, y, 30, false, l)
			g.AddExternalLink("https://broker.example/"+l, x*mm, y*mm, 30*mm, leading*mm)
		}
		y += leading
		g.AddOutline("Client")
		g.AddOutline("Trades")
	}
	y += 4
	cells("bold", shape.heads)
	for i, r := range v.rows {
		if i >= first && (i-first)%later == 0 {
			page()
			cells("bold", shape.heads)
		}
		cells("text", r)
	}
	for _, s := range v.sums() {
		put("bold", 9, left, y, width-40, false, s[0])
		put("bold", 9, left+width-40, y, 40, true, s[1])
		y += leading
	}
	if err != nil {
		return err
	}
	in.pages = number
	_, err = g.WriteTo(&in.out)
	return err
}

// newMaroto builds the pages with maroto's grid. It has no watermark of text and no bookmarks.
func newMaroto() maker {
	cfg := config.NewBuilder().WithPageSize(pagesize.A4).WithLeftMargin(left).WithTopMargin(margin).WithRightMargin(left).
		WithCreationDate(workload.Time).
		WithPageNumber(props.PageNumber{Pattern: "Page {current} of {total}", Place: props.RightBottom, Size: 7.5}).
		WithDefaultFont(&props.Font{Size: 9}).WithMaxGridSize(int(width)).
		WithSequentialMode().Build()
	return func(_ context.Context, in *input) error {
		v, err := read(in.kind, in.data)
		if err != nil {
			return err
		}
		m := maroto.New(cfg)
		if err := m.RegisterFooter(text.NewRow(leading, foot, props.Text{Size: 7.5})); err != nil {
			return fmt.Errorf("footer: %w", err)
		}
		k := in.kind
		shape := columns[k]
		first, later, high := spread(k)
		cells := func(style fontstyle.Type, r []string) core.Row {
			out := row.New(high)
			for i, t := range r {
				p := props.Text{Size: 9, Style: style}
				if align(k, i) == "R" {
					p.Align = consts.Right
				}
				out.Add(text.NewCol(int(shape.widths[i]), t, p))
			}
			return out
		}
		var rows []core.Row // of the page
		for i, line := range v.head() {
			if i == 0 {
				rows = append(rows, text.NewRow(leading+3, line, props.Text{Style: fontstyle.Bold, Size: 16}))
				continue
			}
			rows = append(rows, text.NewRow(leading, line))
		}
		rows = append(rows, row.New(4), cells(fontstyle.Bold, shape.heads))
		for i, r := range v.rows {
			if i >= first && (i-first)%later == 0 {
				m.AddPages(page.New().Add(rows...))
				rows = []core.Row{cells(fontstyle.Bold, shape.heads)}
			}
			rows = append(rows, cells(fontstyle.Normal, r))
		}
		for _, s := range v.sums() {
			rows = append(rows, row.New(leading).Add(text.NewCol(120, s[0]), text.NewCol(60, s[1], props.Text{Align: consts.Right, Style: fontstyle.Bold, Size: 9})))
		}
		m.AddPages(page.New().Add(rows...))
		doc, err := m.Generate()
		if err != nil {
			return fmt.Errorf("generate: %w", err)
		}
		_, err = in.out.Write(doc.GetBytes())
		return err
	}
}
