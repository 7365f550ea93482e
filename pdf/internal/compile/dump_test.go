package compile_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/quire/pdf/doc"
)

// dump writes a document as text, one line per node, for golden files.
func dump(t *testing.T, d *doc.Document) (string, error) {
	t.Helper()
	w := &dumper{t: t}
	w.line("title %q lang %s author %q subject %q keywords %q", d.Title, d.Lang, d.Meta.Author, d.Meta.Subject, d.Meta.Keywords)
	w.line("page %dx%d %v", d.Page.Width, d.Page.Height, d.Page.Margins)
	if d.Page.Border != nil {
		w.line("border %v", *d.Page.Border)
	}
	if d.BaseStyle != nil {
		w.line("base%s", styleText(d.BaseStyle))
	}
	if d.Theme != nil {
		for i, h := range d.Theme.Headings {
			w.line("theme h%d%s", i+1, styleText(h))
		}
		head, foot := d.Theme.TableHead(*d.BaseStyle), d.Theme.TableFoot(*d.BaseStyle)
		w.line("theme caption%s head%s foot%s", styleText(d.Theme.Caption), styleText(&head), styleText(&foot))
		w.line("theme rules %v gap %d link %06x", *d.Theme.Rules, d.Theme.ParagraphGap, uint32(d.Theme.Link))
	}
	if d.Watermark != nil {
		w.line("watermark %q angle %g opacity %g%s", d.Watermark.Text, d.Watermark.Angle, d.Watermark.Opacity, styleText(d.Watermark.Style))
	}
	w.running("header", &d.Header)
	w.running("footer", &d.Footer)
	w.running("background", &d.Background)
	for n, err := range d.Body {
		if err != nil {
			return w.b.String(), err
		}
		w.node(n)
	}
	return w.b.String(), w.err
}

// running writes the headers or the footers; nil are those around.
func (w *dumper) running(name string, r *doc.Running) {
	if r == nil {
		return
	}
	for _, e := range []struct {
		name  string
		nodes []doc.Node
	}{{"first", r.First}, {"odd", r.Odd}, {"even", r.Even}, {"other", r.Other}, {"all", r.All}} {
		if e.nodes != nil {
			w.line("%s %s", name, e.name)
			w.nodes(e.nodes)
		}
	}
}

type dumper struct {
	t     *testing.T
	b     strings.Builder
	depth int
	err   error
}

func (w *dumper) line(format string, args ...any) {
	w.b.WriteString(strings.Repeat("  ", w.depth))
	fmt.Fprintf(&w.b, format, args...)
	w.b.WriteByte('\n')
}

func styleText(s *doc.Style) string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf(" {%s %.1f/%.1f w%d i%v #%06x a%d t%v sp%.1f,%.1f wo%d,%d%s}", s.Family, float64(s.Size)/1024, float64(s.Leading)/1024,
		s.Weight, s.Italic, uint32(s.Color), s.Align, s.TabularFigures, float64(s.SpaceBefore)/1024, float64(s.SpaceAfter)/1024, s.Widows, s.Orphans, indents(s))
}

func indents(s *doc.Style) string {
	if s.Indent == 0 && s.MarginLeft == 0 && s.MarginRight == 0 {
		return ""
	}
	return fmt.Sprintf(" in%.1f,%.1f,%.1f", float64(s.Indent)/1024, float64(s.MarginLeft)/1024, float64(s.MarginRight)/1024)
}

func spans(list []doc.Span) string {
	var b strings.Builder
	for _, s := range list {
		flags := ""
		if s.Figure {
			flags += "#"
		}
		if s.Bold {
			flags += "b"
		}
		if s.Italic {
			flags += "i"
		}
		if s.Code {
			flags += "c"
		}
		switch s.Kind {
		case doc.SpanPage:
			flags += "P"
		case doc.SpanPages:
			flags += "N"
		case doc.SpanReference:
			flags += "R"
		case doc.SpanNumber:
			flags += "H"
		case doc.SpanTitle:
			flags += fmt.Sprintf("T%d", s.Level)
		}
		fmt.Fprintf(&b, " %s%q", flags, s.Text)
		if s.Image != nil {
			fmt.Fprintf(&b, "image %s %d bytes alt %q", s.Image.Name, len(s.Image.Data), s.Image.Alt)
		}
		if s.Style != nil {
			fmt.Fprintf(&b, "{%s }", styleText(s.Style))
		}
		if s.Link != "" {
			fmt.Fprintf(&b, "->%s", s.Link)
		}
	}
	return b.String()
}

func (w *dumper) nodes(list []doc.Node) {
	w.depth++
	for _, n := range list {
		w.node(n)
	}
	w.depth--
}

func (w *dumper) node(n doc.Node) {
	c := n.Common()
	if c.Src == nil {
		w.t.Errorf("%T without a source", n)
		return
	}
	common := fmt.Sprintf(" @%d:%d %s%s", c.Src.Line, c.Src.Col, c.Src.Path, styleText(c.Style))
	if c.Anchor+c.Lang+c.Bookmark != "" {
		common += fmt.Sprintf(" anchor %q lang %q bookmark %q", c.Anchor, c.Lang, c.Bookmark)
	}
	if c.KeepTogether || c.KeepWithNext || c.BreakBefore != doc.BreakNone {
		common += fmt.Sprintf(" keep %v %v break %v", c.KeepTogether, c.KeepWithNext, c.BreakBefore)
	}
	switch n := n.(type) {
	case *doc.Text:
		for _, tab := range n.Tabs {
			common += fmt.Sprintf(" tab %d:%d align %d leader %d", tab.At.Kind, tab.At.Value, tab.Align, tab.Leader)
		}
		if n.Most.Lines > 0 {
			common += fmt.Sprintf(" most %v", n.Most)
		}
		w.line("text%s%s", spans(n.Spans), common)
	case *doc.Heading:
		if n.InOutline {
			common += " in outline"
		}
		if n.Numbered != doc.NumberedAuto {
			common += fmt.Sprintf(" numbered %d from %d format %d", n.Numbered, n.NumberFrom, n.Numbering)
		}
		w.line("heading %d%s%s", n.Level, spans(n.Spans), common)
	case *doc.List:
		w.line("list %d %d%s", n.Marker, n.Start, common)
		for _, it := range n.Items {
			w.line("- %s@%d:%d %s", it.Label, it.Src.Line, it.Src.Col, it.Src.Path)
			w.nodes(it.Nodes)
		}
	case *doc.Table:
		w.table(n, common)
	case *doc.Beside:
		w.line("row %v gap %d valign %d%s", n.Widths, n.Gap, n.VAlign, common)
		for _, c := range n.Cells {
			w.nodes(c)
		}
	case *doc.Box:
		if n.Turn != 0 {
			common += fmt.Sprintf(" turn %d", n.Turn)
		}
		w.line("box %v %v %08x%s", n.Padding, n.Border, uint32(n.Background), common)
		w.nodes(n.Nodes)
	case *doc.Image:
		w.line("image %s %d bytes alt %q decorative %v %dx%d fit %d link %q%s", n.Name, len(n.Data), n.Alt, n.Decorative, n.Width, n.Height, n.Fit, n.Link, common)
	case *doc.Rule:
		w.line("rule %d %08x dash %d width %v align %d%s", n.Thickness, uint32(n.Color), n.Dash, n.Width, n.Align, common)
	case *doc.Spacer:
		w.line("spacer %d%s", n.Height, common)
	case *doc.PageBreak:
		if n.To != doc.BreakNone {
			common += fmt.Sprintf(" to %d", n.To)
		}
		w.line("page-break%s", common)
	case *doc.Columns:
		if n.Uneven {
			common += " uneven"
		}
		w.line("columns %d gap %d%s", n.Count, n.Gap, common)
		w.nodes(n.Nodes)
	case *doc.Place:
		if n.Turn != 0 || n.Layer != 0 {
			common += fmt.Sprintf(" turn %d layer %d", n.Turn, n.Layer)
		}
		w.line("place %d,%d %dx%d%s", n.X, n.Y, n.Width, n.Height, common)
		w.nodes(n.Nodes)
	case *doc.Toc:
		if n.Title != "" || n.Reserve > 0 {
			common += fmt.Sprintf(" title %q reserve %d", n.Title, n.Reserve)
		}
		w.line("toc %d leader %d%s", n.Levels, n.Leader, common)
	case *doc.Section:
		w.line("section from %d format %d%s", n.NumberFrom, n.Numbering, common)
		w.depth++
		defer func() { w.depth-- }()
		if p := n.Page; p != nil {
			w.line("page %dx%d %v background %08x valign %d", p.Width, p.Height, p.Margins, uint32(p.Background), p.VAlign)
		}
		if m := n.Watermark; m != nil {
			w.line("watermark %q image %v over %v", m.Text, m.Image != nil, m.Over)
		}
		w.running("header", n.Header)
		w.running("footer", n.Footer)
		w.running("background", n.Background)
		for n, err := range n.Body {
			if err != nil {
				w.err = err
				return
			}
			w.node(n)
		}
	default:
		w.t.Errorf("unknown node %T", n)
	}
}

func (w *dumper) table(n *doc.Table, common string) {
	w.line("table caption%s once %v stripe %x border %v padding %v%s", spans(n.Caption), n.HeadOnce, n.Stripe, n.Border, n.Padding, common)
	w.depth++
	defer func() { w.depth-- }()
	for _, c := range n.Columns {
		w.line("column %v rowheader %v%s%s", c.Width, c.RowHeader, spans(c.Head), styleText(c.Style))
	}
	for _, r := range n.Head {
		w.row("head", r)
	}
	for r, err := range n.Rows {
		if err != nil {
			w.err = err
			return
		}
		w.row("row", r)
	}
	for _, r := range n.Foot {
		w.row("foot", r)
	}
}

func (w *dumper) row(kind string, r doc.Row) {
	w.line("%s @%d:%d %s keep %v", kind, r.Src.Line, r.Src.Col, r.Src.Path, r.Keep)
	w.depth++
	for _, c := range r.Cells {
		turn := ""
		if c.Turn != 0 {
			turn = fmt.Sprintf(" turn %d", c.Turn)
		}
		w.line("cell%s %dx%d valign %d header %v bg %08x link %q%s%s", turn, c.Colspan, c.Rowspan, c.VAlign, c.Header, uint32(c.Background), c.Link, spans(c.Spans), styleText(c.Style))
		w.nodes(c.Nodes)
	}
	w.depth--
}
