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
	n := &columnsNode{count: 2, gap: doc.MM(6), even: true}
	if v := o.get("count"); v != nil {
		n.count = c.integer(v, o.at("count"), 2, 20)
	}
	if v := o.get("gap"); v != nil {
		n.gap = c.length(v, o.at("gap"), 0)
	}
	if v := o.get("balance"); v != nil {
		n.even = c.flag(v, o.at("balance"))
	}
	if v := o.need("do"); v != nil {
		n.body = c.blocks(v, o.at("do"))
	}
	n.common = b.done()
	return n
}

func (n *columnsNode) emit(r *render, out sink) error {
	b, err := n.fill(r)
	if err != nil {
		return err
	}
	nodes, err := r.collect(n.body)
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
	if v := o.need("x"); v != nil {
		n.out.X = c.length(v, o.at("x"), 0)
	}
	if v := o.need("y"); v != nil {
		n.out.Y = c.length(v, o.at("y"), 0)
	}
	if v := o.need("width"); v != nil {
		n.out.Width = c.length(v, o.at("width"), 1)
	}
	if v := o.get("height"); v != nil {
		n.out.Height = c.length(v, o.at("height"), 1)
	}
	if v := o.get("layer"); v != nil {
		i, _ := c.choice(v, o.at("layer"), "under", "over")
		n.out.Layer = [...]doc.Layer{doc.LayerUnder, doc.LayerOver}[max(i, 0)]
	}
	if v := o.get("rotate"); v != nil {
		n.out.Turn = c.turn(v, o.at("rotate"))
	}
	if v := o.need("do"); v != nil {
		n.body = c.blocks(v, o.at("do"))
	}
	n.common = b.done()
	return n
}

func (n *placeNode) emit(r *render, out sink) error {
	p := n.out
	var err error
	if p.Block, err = n.fill(r); err != nil {
		return err
	}
	if p.Nodes, err = r.collect(n.body); err != nil {
		return err
	}
	return out(&p)
}
