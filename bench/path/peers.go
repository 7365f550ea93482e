package path

import (
	"context"
	"fmt"

	"codeberg.org/go-pdf/fpdf"
	"github.com/go-fonts/liberation/liberationsansbold"
	"github.com/go-fonts/liberation/liberationsansregular"
	"github.com/johnfercher/maroto/v2"
	"github.com/johnfercher/maroto/v2/pkg/components/col"
	"github.com/johnfercher/maroto/v2/pkg/components/row"
	"github.com/johnfercher/maroto/v2/pkg/components/text"
	"github.com/johnfercher/maroto/v2/pkg/config"
	"github.com/johnfercher/maroto/v2/pkg/consts/align"
	"github.com/johnfercher/maroto/v2/pkg/consts/fontstyle"
	"github.com/johnfercher/maroto/v2/pkg/consts/pagesize"
	"github.com/johnfercher/maroto/v2/pkg/core"
	"github.com/johnfercher/maroto/v2/pkg/props"

	"example.com/quire/bench/harness"
	"example.com/quire/bench/workload"
)

const (
	fpdfModule   = "codeberg.org/go-pdf/fpdf"
	marotoModule = "github.com/johnfercher/maroto/v2"
)

// drawn wraps a peer's maker.
func drawn(produce maker) func(context.Context, harness.Env) (harness.Subject, error) {
	return func(ctx context.Context, _ harness.Env) (harness.Subject, error) {
		return documents(ctx, produce, nil), nil
	}
}

const leading = 12 / 72.0 * 25.4 // 12 pt in mm

// newFpdf draws the page with fpdf, by the core font Helvetica or by embedded
// Liberation Sans.
func newFpdf(embedded bool) maker {
	return func(_ context.Context, in *input) error {
		v, s, err := decode(in.data)
		if err != nil {
			return err
		}
		f := fpdf.New("P", "mm", "A4", "")
		f.SetMargins(18, 15, 18)
		f.SetAutoPageBreak(true, 20)
		f.SetCreationDate(workload.Time)
		f.SetModificationDate(workload.Time)
		f.SetTitle("Invoice "+v.Invoice.Number, true)
		face := "Helvetica"
		if embedded {
			face = "Liberation"
			f.AddUTF8FontFromBytes(face, "", liberationsansregular.TTF)
			f.AddUTF8FontFromBytes(face, "B", liberationsansbold.TTF)
		}
		f.AliasNbPages("{n}")
		f.SetFooterFunc(func() {
			f.SetY(-20)
			f.SetFont(face, "", 9)
			f.CellFormat(120, leading, seller, "", 0, "L", false, 0, "")
			f.CellFormat(54, leading, fmt.Sprintf("Page %d of {n}", f.PageNo()), "", 0, "R", false, 0, "")
		})
		f.AddPage()
		put := func(style, t string) {
			f.SetFont(face, style, 9)
			f.CellFormat(174, leading, t, "", 1, "L", false, 0, "")
		}
		f.SetFont(face, "B", 18)
		f.CellFormat(174, 8, "Invoice "+v.Invoice.Number, "", 1, "L", false, 0, "")
		put("", "Date: "+s.date)
		put("", "Due: "+s.due)
		f.Ln(3)
		put("B", v.Customer.Name)
		for _, a := range v.Customer.Address {
			put("", a)
		}
		f.Ln(6)
		widths := [4]float64{92, 24, 28, 30}
		cells := func(style string, r [4]string) {
			f.SetFont(face, style, 9)
			for k, t := range r {
				a := "R"
				if k == 0 {
					a = "L"
				}
				f.CellFormat(widths[k], leading, t, "", 0, a, false, 0, "")
			}
			f.Ln(leading)
		}
		cells("B", [4]string{"Description", "Quantity", "Unit price", "Amount"})
		for _, r := range s.rows {
			cells("", r)
		}
		f.Ln(4)
		for _, t := range [][3]string{{"", "Net", s.net}, {"", "VAT 20 %", s.vat}, {"B", "Total due", s.total}} {
			f.SetFont(face, t[0], 9)
			f.SetX(18 + 94)
			f.CellFormat(50, leading, t[1], "", 0, "L", false, 0, "")
			f.CellFormat(30, leading, t[2], "", 1, "R", false, 0, "")
		}
		f.Ln(4)
		f.SetFont(face, "", 9)
		f.MultiCell(174, leading, "Please pay by "+s.due+" "+account+v.Invoice.Number+".", "", "L", false)
		return f.Output(&in.out)
	}
}

// newMaroto builds the page with maroto's grid.
func newMaroto() maker {
	cfg := config.NewBuilder().WithPageSize(pagesize.A4).WithLeftMargin(18).WithTopMargin(15).WithRightMargin(18).
		WithCreationDate(workload.Time).
		WithPageNumber(props.PageNumber{Pattern: "Page {current} of {total}", Place: props.RightBottom, Size: 9}).
		WithDefaultFont(&props.Font{Size: 9}).
		WithSequentialMode().WithDisableAutoPageBreak(true).Build()
	bold := props.Text{Style: fontstyle.Bold, Size: 9}
	right := props.Text{Align: align.Right, Size: 9}
	boldRight := props.Text{Align: align.Right, Style: fontstyle.Bold, Size: 9}
	return func(_ context.Context, in *input) error {
		v, s, err := decode(in.data)
		if err != nil {
			return err
		}
		m := maroto.New(cfg)
		if err := m.RegisterFooter(text.NewRow(leading, seller, props.Text{Size: 9})); err != nil {
			return fmt.Errorf("footer: %w", err)
		}
		m.AddRows(
			text.NewRow(8, "Invoice "+v.Invoice.Number, props.Text{Style: fontstyle.Bold, Size: 18}),
			text.NewRow(leading, "Date: "+s.date), text.NewRow(leading, "Due: "+s.due), row.New(3),
			text.NewRow(leading, v.Customer.Name, bold),
		)
		for _, a := range v.Customer.Address {
			m.AddRows(text.NewRow(leading, a))
		}
		m.AddRows(row.New(6))
		cells := func(first, other props.Text, r [4]string) core.Row {
			return row.New(leading).Add(text.NewCol(6, r[0], first), text.NewCol(2, r[1], other), text.NewCol(2, r[2], other), text.NewCol(2, r[3], other))
		}
		m.AddRows(cells(bold, boldRight, [4]string{"Description", "Quantity", "Unit price", "Amount"}))
		for _, r := range s.rows {
			m.AddRows(cells(props.Text{Size: 9}, right, r))
		}
		m.AddRows(row.New(4))
		for _, t := range [][2]string{{"Net", s.net}, {"VAT 20 %", s.vat}} {
			m.AddRows(row.New(leading).Add(col.New(6), text.NewCol(4, t[0]), text.NewCol(2, t[1], right)))
		}
		m.AddRows(
			row.New(leading).Add(col.New(6), text.NewCol(4, "Total due", bold), text.NewCol(2, s.total, boldRight)), row.New(4),
			text.NewRow(2*leading, "Please pay by "+s.due+" "+account+v.Invoice.Number+"."),
		)
		doc, err := m.Generate()
		if err != nil {
			return fmt.Errorf("generate: %w", err)
		}
		_, err = in.out.Write(doc.GetBytes())
		return err
	}
}
