package documents

import (
	"bytes"
	"context"
	"fmt"

	"codeberg.org/go-pdf/fpdf"
	"github.com/go-fonts/liberation/liberationsansbold"
	"github.com/go-fonts/liberation/liberationsansregular"
	"github.com/johnfercher/maroto/v2"
	"github.com/johnfercher/maroto/v2/pkg/components/image"
	"github.com/johnfercher/maroto/v2/pkg/components/page"
	"github.com/johnfercher/maroto/v2/pkg/components/row"
	"github.com/johnfercher/maroto/v2/pkg/components/text"
	"github.com/johnfercher/maroto/v2/pkg/config"
	"github.com/johnfercher/maroto/v2/pkg/consts/extension"
	"github.com/johnfercher/maroto/v2/pkg/consts/fontstyle"
	"github.com/johnfercher/maroto/v2/pkg/consts/pagesize"
	"github.com/johnfercher/maroto/v2/pkg/core"
	"github.com/johnfercher/maroto/v2/pkg/props"
	"github.com/signintech/gopdf"

	"example.com/quire/bench/workload"
	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
)

const (
	fpdfModule   = "codeberg.org/go-pdf/fpdf"
	gopdfModule  = "github.com/signintech/gopdf"
	marotoModule = "github.com/johnfercher/maroto/v2"
)

// Measures of the pages, in mm, and how large letters are, in points.
const (
	margin   = 20.0
	width    = 170.0
	leading  = 12 / 72.0 * 25.4
	small9   = 9.0
	large    = 16.0
	picWidth = 60.0
	picHigh  = 40.0
	after    = 4.0 // mm behind a heading and an image
)

// newQuire builds with this project's engine.
func newQuire() (drawer, error) {
	eng, err := pdf.New(pdf.Config{})
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	base := &doc.Style{Size: doc.Points(small9), Leading: 12 * doc.Pt}
	head := &doc.Style{Size: doc.Points(large), Leading: 20 * doc.Pt, Weight: 700}
	return func(ctx context.Context, in *input) error {
		_, err := eng.Build(ctx, &in.out, pdf.RenderOptions{Time: workload.Time}, func(b *doc.Builder) error {
			b.Title("Document").Lang("en").Style(base)
			for _, k := range in.blocks {
				switch {
				case k.heading != "":
					b.Heading(1, k.heading, doc.In(head))
				case k.text != "":
					b.Text(k.text)
				case k.image != nil:
					b.Image(doc.Image{Data: k.image, Decorative: true, Width: doc.MM(picWidth)})
				case k.page:
					b.PageBreak()
				default:
					cols := make([]doc.Column, len(k.table[0]))
					for i, h := range k.table[0] {
						cols[i] = doc.Column{Head: []doc.Span{{Text: h}}, Width: doc.Fr(1)}
					}
					b.Table(cols, func(t *doc.Table) {
						t.Rows = func(yield func(doc.Row, error) bool) {
							for _, r := range k.table[1:] {
								cells := make([]doc.Cell, len(r))
								for i, s := range r {
									cells[i].Spans = []doc.Span{{Text: s}}
								}
								if !yield(doc.Row{Cells: cells}, nil) {
									return
								}
							}
						}
					})
				}
			}
			return nil
		})
		return err
	}, nil
}

func newFpdf() (drawer, error) {
	return func(_ context.Context, in *input) error {
		f := fpdf.New("P", "mm", "A4", "")
		f.SetMargins(margin, margin, margin)
		f.SetCreationDate(workload.Time)
		f.SetModificationDate(workload.Time)
		f.AddPage()
		for i, k := range in.blocks {
			switch {
			case k.heading != "":
				f.SetFont("Helvetica", "B", large)
				f.CellFormat(width, 7, k.heading, "", 1, "L", false, 0, "")
				f.Ln(after)
			case k.text != "":
				f.SetFont("Helvetica", "", small9)
				f.MultiCell(width, leading, k.text, "", "L", false)
			case k.image != nil:
				name := fmt.Sprint("picture", i)
				o := fpdf.ImageOptions{ImageType: "PNG"}
				f.RegisterImageOptionsReader(name, o, bytes.NewReader(k.image))
				f.ImageOptions(name, margin, f.GetY(), picWidth, picHigh, true, o, 0, "")
				f.Ln(after)
			case k.page:
				f.AddPage()
			default:
				for n, r := range k.table {
					style := ""
					if n == 0 {
						style = "B"
					}
					f.SetFont("Helvetica", style, small9)
					for _, s := range r {
						f.CellFormat(width/float64(len(r)), leading, s, "B", 0, "L", false, 0, "")
					}
					f.Ln(leading)
				}
			}
		}
		return f.Output(&in.out)
	}, nil
}

func newGopdf() (drawer, error) {
	const mm = 72 / 25.4
	return func(_ context.Context, in *input) error {
		g := &gopdf.GoPdf{}
		g.Start(gopdf.Config{PageSize: *gopdf.PageSizeA4})
		if err := g.AddTTFFontData("text", liberationsansregular.TTF); err != nil {
			return err
		}
		if err := g.AddTTFFontData("bold", liberationsansbold.TTF); err != nil {
			return err
		}
		g.AddPage()
		y := margin
		line := func(face string, size, x, w float64, s string) error {
			if err := g.SetFont(face, "", size); err != nil {
				return err
			}
			g.SetXY(x*mm, y*mm)
			return g.CellWithOption(&gopdf.Rect{W: w * mm, H: leading * mm}, s, gopdf.CellOption{Align: gopdf.Left})
		}
		for _, k := range in.blocks {
			var err error
			switch {
			case k.heading != "":
				err = line("bold", large, margin, width, k.heading)
				y += 7 + after
			case k.text != "":
				if err = g.SetFont("text", "", small9); err != nil {
					return err
				}
				lines, wrapErr := g.SplitTextWithWordWrap(k.text, width*mm)
				if err = wrapErr; err != nil {
					return err
				}
				for _, s := range lines {
					if err = line("text", small9, margin, width, s); err != nil {
						return err
					}
					y += leading
				}
			case k.image != nil:
				holder, imageErr := gopdf.ImageHolderByBytes(k.image)
				if err = imageErr; err == nil {
					err = g.ImageByHolder(holder, margin*mm, y*mm, &gopdf.Rect{W: picWidth * mm, H: picHigh * mm})
				}
				y += picHigh + after
			case k.page:
				g.AddPage()
				y = margin
			default:
				for n, r := range k.table {
					face := "text"
					if n == 0 {
						face = "bold"
					}
					w := width / float64(len(r))
					for i, s := range r {
						if err = line(face, small9, margin+float64(i)*w, w, s); err != nil {
							return err
						}
					}
					y += leading
					g.Line(margin*mm, y*mm, (margin+width)*mm, y*mm)
				}
			}
			if err != nil {
				return err
			}
		}
		_, err := g.WriteTo(&in.out)
		return err
	}, nil
}

func newMaroto() (drawer, error) {
	cfg := config.NewBuilder().WithPageSize(pagesize.A4).WithLeftMargin(margin).WithTopMargin(margin).WithRightMargin(margin).
		WithCreationDate(workload.Time).WithDefaultFont(&props.Font{Size: small9}).WithSequentialMode().Build()
	return func(_ context.Context, in *input) error {
		m := maroto.New(cfg)
		var rows []core.Row // of the page
		for _, k := range in.blocks {
			switch {
			case k.heading != "":
				rows = append(rows, text.NewRow(7+after, k.heading, props.Text{Style: fontstyle.Bold, Size: large}))
			case k.text != "":
				rows = append(rows, text.NewAutoRow(k.text))
			case k.image != nil:
				rows = append(rows, image.NewFromBytesRow(picHigh+after, k.image, extension.Png))
			case k.page:
				m.AddPages(page.New().Add(rows...))
				rows = nil
			default:
				for n, r := range k.table {
					p := props.Text{Size: small9}
					if n == 0 {
						p.Style = fontstyle.Bold
					}
					out := row.New(leading)
					for _, s := range r {
						out.Add(text.NewCol(12/len(r), s, p))
					}
					rows = append(rows, out)
				}
			}
		}
		m.AddPages(page.New().Add(rows...))
		made, err := m.Generate()
		if err != nil {
			return fmt.Errorf("generate: %w", err)
		}
		_, err = in.out.Write(made.GetBytes())
		return err
	}, nil
}
