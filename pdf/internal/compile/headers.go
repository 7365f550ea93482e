package compile

import (
	"cmp"
	"slices"

	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/compile/exprlang"
)

// cellIDs are the ids of the cells of a table, and the cells that name them, while it is compiled.
type cellIDs struct {
	known []string
	made  bool   // some are made of data
	asked []jump // by literal names
}

// cellNames are the id of a cell and those of its header cells.
type cellNames struct {
	id      *plainText // nil: it has none
	headers []*plainText
}

// id reads what names an element; nil when it is wrong.
func (c *compiler) id(n *strictyaml.Node, path string) *plainText {
	t := c.plain(n, path)
	s, known := t.known()
	switch {
	case c.inArtifact():
		c.bad(n, path, codeWrong, "", "an artifact has no id")
	case !known:
		t.id = c.spanID(t.parts)
		return t
	case s == "":
		if n.IsScalar() {
			c.bad(n, path, codeWrong, "", "the id is empty")
		}
		return nil
	case c.loops > 0:
		c.bad(n, path, codeWrong, `make it of the item, as in "line-${l.id}"`, "an id in a loop or a component would be there many times")
	}
	return t
}

// cellID is id for a cell.
func (c *compiler) cellID(n *strictyaml.Node, path string) *plainText {
	t := c.id(n, path)
	if s, known := t.known(); known {
		c.ids.known = append(c.ids.known, s)
	} else {
		c.ids.made = true
	}
	return t
}

// names reads the id of a cell and the header cells that it belongs to.
func (p *rowsReader) names(o *object, t *cellTemplate) {
	c := p.c
	id, headers := o.get("id"), o.get("headers")
	for i, v := range [...]*strictyaml.Node{id, headers} {
		if key := [...]string{"id", "headers"}[i]; v != nil && (p.carried || c.inArtifact()) {
			c.bad(o.n.Key(key), o.path, codeWrong, "", "%q changes nothing of a cell that is an artifact", key)
			return
		}
	}
	names, made := &cellNames{}, false
	if id != nil {
		names.id = c.cellID(id, o.at("id"))
		_, known := names.id.known()
		made = !known
	}
	if headers != nil {
		names.headers = c.plains(headers, o.at("headers"))
	}
	for i, h := range names.headers {
		n, path := headers, o.at("headers")
		if headers.Kind == strictyaml.Sequence {
			n, path = headers.Items[i], index(path, i)
		}
		switch s, known := h.known(); {
		case !known:
			h.id, made = c.spanID(h.parts), true
		case s != "":
			c.ids.asked = append(c.ids.asked, jump{s, n.Line, n.Col, path})
		case n.IsScalar():
			c.bad(n, path, codeWrong, "", "the id is empty")
		}
	}
	switch {
	case made:
		t.names = names
	case id != nil || headers != nil:
		t.out.Names = names.literal()
	}
}

// literal returns names that need no data.
func (n *cellNames) literal() *doc.CellNames {
	out := &doc.CellNames{}
	out.ID, _ = n.id.known()
	for _, h := range n.headers {
		id, _ := h.known()
		out.Headers = append(out.Headers, doc.CellRef{ID: id})
	}
	return out
}

// judgeHeaders checks that the header cells which are named have their ids.
func (c *compiler) judgeHeaders() {
	for _, j := range c.ids.asked {
		if !c.ids.made && !slices.Contains(c.ids.known, j.anchor) {
			hint := cmp.Or(exprlang.Nearest(j.anchor, c.ids.known), "write id: "+j.anchor+" in the header cell")
			c.at(j.line, j.col, j.path, codeName, hint, "no cell of the table has the id %q", j.anchor)
		}
	}
}

// id returns an id that may be made of data; none without them.
func (r *render) id(t *plainText) (string, doc.Origin, error) {
	if t == nil || r.static != withData {
		return "", doc.Origin{}, nil
	}
	s, err := r.plain(t)
	return s, doc.Origin{Frame: r.at, Part: t.id}, err
}

// names returns the names of a cell, without headers that are empty.
func (r *render) names(n *cellNames) (*doc.CellNames, error) {
	out := &doc.CellNames{}
	var err error
	if out.ID, out.IDFrom, err = r.id(n.id); err != nil {
		return nil, err
	}
	for _, t := range n.headers {
		id, from, err := r.id(t)
		if err != nil {
			return nil, err
		}
		if id != "" {
			out.Headers = append(out.Headers, doc.CellRef{ID: id, From: from})
		}
	}
	return out, nil
}
