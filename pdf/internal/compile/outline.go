package compile

import (
	"strings"

	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/compile/exprlang"
)

// outlineItem is an entry of an outline that a template gives.
type outlineItem struct {
	cond   *programAt
	loop   *loop // nil: one entry
	out    doc.OutlineItem
	title  *plainText
	anchor *plainText
	items  []outlineItem
}

// outline reads `outline:`: how deep the headings are that it is made of, or its entries.
func (c *compiler) outline(n *strictyaml.Node) {
	const path = "outline"
	switch {
	case n == nil:
	case n.Kind == strictyaml.Mapping:
		o, _ := c.object(n, path, "an outline")
		mustHave(o, "headings", &c.plan.outlineLevels, c.integerIn(1, 9))
		o.done()
	default:
		if c.filled(n, path, "entries") {
			c.plan.outline = c.outlineItems(n, path, 1)
		}
	}
}

// mostOutlineLevels bounds how deep entries are nested; their number is bounded by the template's.
const mostOutlineLevels = 9

func (c *compiler) outlineItems(n *strictyaml.Node, path string, level int) []outlineItem {
	if !c.filled(n, path, "entries") {
		return nil
	}
	if level > mostOutlineLevels {
		c.bad(n, path, codeWrong, "", "an outline has at most %d levels", mostOutlineLevels)
		return nil
	}
	out := make([]outlineItem, 0, len(n.Items))
	for i, v := range n.Items {
		if it, ok := c.outlineItem(v, index(path, i), level); ok {
			out = append(out, it)
		}
	}
	return out
}

func (c *compiler) outlineItem(n *strictyaml.Node, path string, level int) (it outlineItem, ok bool) {
	o, ok := c.object(n, path, "an entry")
	if !ok {
		return it, false
	}
	it.out.Src = c.source(n, path)
	if v := o.get("for"); v != nil {
		it.loop = c.loop(v, o.at("for"))
		defer c.endLoop(it.loop)
	}
	if v := o.get("if"); v != nil {
		it.cond = c.condition(v, o.at("if"))
		defer c.given(it.cond.holds())()
	}
	mustHave(o, "title", &it.title, c.plain)
	if v := o.need("to"); v != nil {
		it.anchor = c.link(v, o.at("to"))
		if s, known := it.anchor.known(); known && s != "" && s[0] != '#' {
			c.bad(v, o.at("to"), codeWrong, "write #anchor", "an entry leads to a place of the document")
		}
	}
	mayHave(o, "closed", &it.out.Closed, c.flag)
	if v := o.get("items"); v != nil {
		it.items = c.outlineItems(v, o.at("items"), level+1)
	} else if it.out.Closed {
		c.bad(o.n.Key("closed"), o.at("closed"), codeWrong, "", "there are no items to collapse")
	}
	o.done()
	return it, true
}

// outline makes the entries of a document; nil when none are given.
func (r *render) outline(from []outlineItem) ([]doc.OutlineItem, error) {
	var out []doc.OutlineItem
	for i := range from {
		it := &from[i]
		one := func() error {
			if it.cond != nil {
				if v, err := r.eval(it.cond); err != nil || !v.True() {
					return err
				}
			}
			made := it.out
			var err error
			if made.Title, err = r.plain(it.title); err != nil {
				return err
			}
			target, err := r.link(it.anchor)
			if err != nil {
				return err
			}
			made.Anchor = strings.TrimPrefix(target, "#")
			made.From = doc.Origin{Frame: r.at, Link: it.anchor.id}
			if made.Items, err = r.outline(it.items); err != nil {
				return err
			}
			if r.held += nodeSize; r.held > r.most {
				return r.limit(made.Src, exprlang.CodeMemory, "the outline takes too much memory")
			}
			out = append(out, made)
			return nil
		}
		var err error
		if it.loop != nil {
			_, err = r.each(it.loop, one)
		} else {
			err = one()
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
