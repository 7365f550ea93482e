package layout

import (
	"fmt"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/tag"
)

// identified is what has an ID.
type identified struct {
	src   *doc.Source
	table int // whose header cell it is; 0: it is none
}

// headers are the header cells that the cells of a table name.
type headers struct {
	table int // the number of the table; 0: nothing of it has an ID or names one
	asked []asked
	seen  map[string]bool // those asked for
}

// asked is a header cell that was named before it was known.
type asked struct {
	doc.CellRef
	src *doc.Source
}

// identify gives the element of a block its ID.
func (m *maker) identify(c *doc.Block, el *tag.Elem) error {
	if c.ID == "" {
		return nil
	}
	if el == nil && m.tagged() {
		return failed(at(c.Src, "L323", "what has the id %q is no element of the structure", c.ID))
	}
	return m.name(c.ID, c.IDFrom, identified{src: c.Src}, el)
}

// name gives an element its ID, which the document has once.
func (m *maker) name(id string, from doc.Origin, of identified, el *tag.Elem) error {
	if m.inArtifact() {
		return neverArtifact("what has an id", of.src)
	}
	if m.art != ArtifactNone {
		return nil // it is in the structure once
	}
	first, twice := m.ids[id]
	if twice || tag.IsNoteID(id) {
		why := fmt.Sprintf("the id %q is given twice", id)
		switch {
		case !twice:
			why = fmt.Sprintf("the id %q is that of a footnote", id)
		case first.src != nil:
			why += ", first at " + position(first.src)
		}
		return failed(fromData(at(of.src, "L323", "%s", why), from, id))
	}
	m.ids[id] = of
	if el != nil {
		named(el).ID = id
	}
	return nil
}

// named returns the names of an element, to be filled.
func named(el *tag.Elem) *tag.Names {
	if el.Names == nil {
		el.Names = &tag.Names{}
	}
	return el.Names
}

// fromData says which data the text of a problem is made of.
func fromData(d diag.Diagnostic, from doc.Origin, text string) diag.Diagnostic {
	if from.Frame != nil {
		d.DataPath = from.Frame.DataPath(from.Part, text, text)
	}
	return d
}

// name gives the element of a cell, which may be nil, its ID and its headers.
func (t *table) name(c *doc.Cell, col, cols int, sec section, el *tag.Elem, src *doc.Source) error {
	n := c.Names
	if n == nil {
		return nil
	}
	h := &t.headers
	if h.table == 0 {
		t.m.tables++
		h.table = t.m.tables
	}
	if n.ID != "" {
		of := identified{src: src}
		if kind, _ := t.role(c, col, cols, sec); kind == tag.TH {
			of.table = h.table
		}
		if err := t.m.name(n.ID, n.IDFrom, of, el); err != nil {
			return err
		}
	}
	if t.m.art != ArtifactNone {
		return nil
	}
	for _, ref := range n.Headers {
		switch {
		case ref.ID == n.ID:
			return failed(fromData(at(src, "L324", "the cell %q is no header of its own", ref.ID), ref.From, ref.ID))
		case t.m.ids[ref.ID].table != h.table && !h.seen[ref.ID]:
			if h.seen == nil {
				h.seen = map[string]bool{}
			}
			h.seen[ref.ID] = true
			h.asked = append(h.asked, asked{ref, src})
		}
		if el != nil {
			names := named(el)
			names.Headers = append(names.Headers, ref.ID)
		}
	}
	return nil
}

// judgeHeaders judges, when all cells are known, whether those that were named are header cells.
func (t *table) judgeHeaders() error {
	for _, a := range t.headers.asked {
		of, known := t.m.ids[a.ID]
		if of.table == t.headers.table {
			continue
		}
		d := at(a.src, "L324", "no header cell of the table has the id %q", a.ID)
		switch {
		case known && of.table == 0:
			d.Suggestion = "the cell with this id is no header; write header: true in it"
		case known:
			d.Suggestion = "the cell with this id is in another table"
		}
		if err := t.m.survive(failed(fromData(d, a.From, a.ID))); err != nil {
			return err
		}
	}
	return nil
}
