package compile

import (
	"cmp"

	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/doc"
)

func (c *compiler) tableBlock(b *blockSource) block {
	o := b.fields
	t := &tableNode{base: cmp.Or(c.around, c.base)}
	around := c.ids
	c.ids = cellIDs{}
	mayHave(o, "caption", &t.caption, c.rich)
	if v := o.need("columns"); v != nil {
		c.columns(t, v, o.at("columns"))
	}
	if v := o.get("head-row"); v != nil {
		c.headRow(t, v, o.at("head-row"))
	}
	if v := o.get("head"); v != nil {
		t.head = c.rows(t, v, o.at("head"), partHead)
	}
	if v := o.need("rows"); v != nil {
		c.bodyRows(t, v, o.at("rows"))
	}
	if v := o.get("foot"); v != nil {
		t.foot = c.rows(t, v, o.at("foot"), partFoot)
	}
	if v := o.get("width"); v != nil {
		t.out.Width = c.partWidth(v, o.at("width"), "a table")
	}
	mayHave(o, "align", &t.out.Align, c.placeInWidth)
	if v := o.get("header-repeat"); v != nil {
		t.out.HeadOnce = !c.flag(v, o.at("header-repeat"))
	}
	mayHave(o, "border", &t.out.Border, c.grid)
	if v := o.get("padding"); v != nil {
		e := c.edges(v, o.at("padding"))
		t.out.Padding = &e
	}
	if t.out.Padding == nil && t.painted {
		p := doc.CellPadding() // no text ends where its background does
		t.out.Padding = &p
	}
	c.judgeHeaders()
	c.ids = around
	t.common = b.done()
	return t
}

// maxColumns bounds the columns of a table, written or made of data.
const maxColumns = 1000

const tooManyColumns = "a table has more than 1000 columns"

func (c *compiler) columns(t *tableNode, n *strictyaml.Node, path string) {
	if !c.filled(n, path, "columns") {
		return
	}
	if len(n.Items) > maxColumns {
		c.bad(n, path, codeColumns, "", tooManyColumns)
		return
	}
	for i, v := range n.Items {
		at := index(path, i)
		o, ok := c.object(v, at, "a column")
		if !ok {
			continue
		}
		col := column{out: doc.Column{Src: c.source(v, at)}}
		mayHave(o, "for", &col.loop, c.loop)
		if v := o.get("if"); v != nil {
			col.cond = c.condition(v, o.at("if"))
			if col.loop != nil {
				c.bad(o.n.Key("if"), o.path, codeKey, "write for: x in filter(list, ...)", "a column has for or if, not both")
			}
		}
		end := c.given(col.cond.holds())
		mayHave(o, "head", &col.head, c.rich)
		mayHave(o, "width", &col.out.Width, c.width)
		if v := o.get("scope"); v != nil {
			if _, ok := c.choice(v, o.at("scope"), "row"); ok {
				col.out.RowHeader = true
			}
		}
		mayHave(o, "head-style", &col.out.HeadStyle, c.styleRef)
		if v := o.get("id"); v != nil {
			if col.id = c.cellID(v, o.at("id")); col.head == nil {
				c.bad(o.n.Key("id"), o.path, codeWrong, "give the column a head, too", "the id of a column is that of its head")
			}
			if s, known := col.id.known(); known {
				col.out.ID, col.id = s, nil
			}
		}
		over := c.overlay(o, false)
		mayHave(o, "style", &col.out.Style, c.styleRef)
		col.out.Style = over.on(col.out.Style, t.base)
		mayHave(o, "background", &col.back, c.paint)
		end()
		if col.loop != nil {
			c.endLoop(col.loop)
		}
		t.varies = t.varies || col.varies()
		o.done()
		t.columns = append(t.columns, col)
	}
}
