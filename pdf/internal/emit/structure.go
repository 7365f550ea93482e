package emit

import (
	"strconv"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/layout"
	"example.com/quire/pdf/internal/tag"
)

var roles = [...]tag.Type{
	layout.RoleP: tag.P, layout.RoleL: tag.L, layout.RoleLI: tag.LI, layout.RoleLbl: tag.Lbl,
	layout.RoleLBody: tag.LBody, layout.RoleTable: tag.Table, layout.RoleCaption: tag.Caption,
	layout.RoleTHead: tag.THead, layout.RoleTBody: tag.TBody, layout.RoleTFoot: tag.TFoot,
	layout.RoleTR: tag.TR, layout.RoleTH: tag.TH, layout.RoleTD: tag.TD, layout.RoleFigure: tag.Figure,
	layout.RoleDiv: tag.Div, layout.RoleLink: tag.Link, layout.RoleEm: tag.Em, layout.RoleStrong: tag.Strong,
	layout.RoleCode: tag.Code, layout.RoleSpan: tag.Span, layout.RoleAside: tag.Aside,
}

// begin makes the elements that start on the page, in reading order.
func (e *Emitter) begin(p *layout.Page) error {
	if e.tree == nil {
		return nil
	}
	for _, el := range p.Begun {
		if _, err := e.elem(el); err != nil {
			return err
		}
	}
	return nil
}

// done writes the elements that are complete.
func (e *Emitter) done(p *layout.Page) error {
	if e.tree == nil {
		return nil
	}
	for _, el := range p.Done {
		t, err := e.elem(el)
		if err != nil {
			return err
		}
		if err := e.tree.Finish(t); err != nil {
			return err
		}
	}
	return nil
}

// elem returns the structure element of el and makes it, and those above it,
// where there is none yet.
func (e *Emitter) elem(el *layout.Elem) (*tag.Elem, error) {
	if t, ok := el.Tag.(*tag.Elem); ok {
		return t, nil
	}
	parent := e.tree.Document()
	if el.Parent != nil {
		var err error
		if parent, err = e.elem(el.Parent); err != nil {
			return nil, err
		}
	}
	if !e.o.Force {
		if err := e.check.Elem(el).Err(); err != nil {
			return nil, err
		}
	}
	typ := roles[el.Role]
	if el.Role == layout.RoleH {
		typ = tag.Heading(el.Level)
	}
	t := e.tree.New(parent, typ)
	el.Tag = t
	t.Lang, t.Alt = el.Lang, el.Alt
	return t, e.attributes(t, el)
}

// attributes adds what the type of an element asks for (14.8.5).
func (e *Emitter) attributes(t *tag.Elem, el *layout.Elem) error {
	body := ""
	switch el.Role {
	case layout.RoleL:
		// ISO 14289-2, 8.2.5.25: a list with labels says how it is numbered.
		body = "/O/List/ListNumbering/Disc"
		if el.Marker == doc.MarkerDecimal {
			body = "/O/List/ListNumbering/Decimal"
		}
	case layout.RoleTH, layout.RoleTD:
		body = tableAttributes(el)
	}
	if body == "" {
		return nil
	}
	ref, err := e.tree.Attr(body)
	t.Attr = append(t.Attr, ref)
	return err
}

func tableAttributes(el *layout.Elem) string {
	body := ""
	switch el.Scope {
	case layout.ScopeRow:
		body = "/Scope/Row"
	case layout.ScopeColumn:
		body = "/Scope/Column"
	}
	if el.Colspan > 1 {
		body += "/ColSpan " + strconv.Itoa(el.Colspan)
	}
	if el.Rowspan > 1 {
		body += "/RowSpan " + strconv.Itoa(el.Rowspan)
	}
	if body == "" {
		return ""
	}
	return "/O/Table" + body
}

// figureBox states the place of a figure on its page (14.8.5.4.3).
func (e *Emitter) figureBox(t *tag.Elem, it *layout.ImageItem, height doc.Length) error {
	b := []byte("/O/Layout/Placement/Block/BBox[")
	b = cos.AppendFixed(b, int64(it.X), 2)
	b = append(b, ' ')
	b = cos.AppendFixed(b, int64(height-it.Y-it.H), 2)
	b = append(b, ' ')
	b = cos.AppendFixed(b, int64(it.X+it.W), 2)
	b = append(b, ' ')
	b = cos.AppendFixed(b, int64(height-it.Y), 2)
	ref, err := e.tree.Attr(string(append(b, ']')))
	t.Attr = append(t.Attr, ref)
	return err
}
