package compile

import "example.com/quire/pdf/doc"

type columnsNode struct {
	common
	count int
	gap   doc.Length
	even  bool
	body  []block
}

func (c *compiler) columnsBlock(b *blockSource) block {
	o := b.fields
	n := &columnsNode{count: 2, gap: columnGap(), even: true}
	mayHave(o, "count", &n.count, c.integerIn(2, 20))
	mayHave(o, "gap", &n.gap, c.lengthFrom(0))
	mayHave(o, "balance", &n.even, c.flag)
	mustHave(o, "do", &n.body, c.blocks)
	n.common = b.done()
	return n
}

func (n *columnsNode) emit(r *render, out sink) error {
	b, err := n.fill(r)
	if err != nil {
		return err
	}
	nodes, err := r.collect(n.body, b.Style)
	if err != nil {
		return err
	}
	return out(&doc.Columns{Block: b, Count: n.count, Gap: n.gap, Uneven: !n.even, Nodes: nodes})
}

type placeNode struct {
	common
	out  doc.Place
	body []block
}

func (c *compiler) placeBlock(b *blockSource) block {
	o := b.fields
	n := &placeNode{}
	mustHave(o, "x", &n.out.X, c.lengthFrom(0))
	mustHave(o, "y", &n.out.Y, c.lengthFrom(0))
	mustHave(o, "width", &n.out.Width, c.lengthFrom(1))
	mayHave(o, "height", &n.out.Height, c.lengthFrom(1))
	if v := o.get("layer"); v != nil {
		i, _ := c.choice(v, o.at("layer"), "under", "over")
		n.out.Layer = [...]doc.Layer{doc.LayerUnder, doc.LayerOver}[max(i, 0)]
	}
	mayHave(o, "rotate", &n.out.Turn, c.turn)
	mustHave(o, "do", &n.body, c.blocks)
	n.common = b.done()
	return n
}

func (n *placeNode) emit(r *render, out sink) error {
	p := n.out
	var err error
	if p.Block, err = n.fill(r); err != nil {
		return err
	}
	if p.Nodes, err = r.collect(n.body, p.Style); err != nil {
		return err
	}
	return out(&p)
}
