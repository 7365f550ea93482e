package compile

import "example.com/quire/pdf/doc"

type tocNode struct {
	common
	out   doc.Toc
	title *plainText // nil: out.Title
}

func (c *compiler) tocBlock(b *blockSource) block {
	o := b.fields
	n := &tocNode{}
	c.plan.references = true
	if v := o.get("levels"); v != nil {
		n.out.Levels = c.integer(v, o.at("levels"), 1, 9)
	}
	if v := o.get("leader"); v != nil {
		i, _ := c.choice(v, o.at("leader"), "dots", "none")
		n.out.Leader = doc.Leader(i) //nolint:gosec // one of two
	}
	if v := o.get("title"); v != nil {
		n.title = c.plain(v, o.at("title"))
	}
	if v := o.get("reserve"); v != nil {
		n.out.Reserve = c.integer(v, o.at("reserve"), 1, 100)
	}
	n.common = b.done()
	return n
}

func (n *tocNode) emit(r *render, out sink) error {
	t := n.out
	var err error
	if t.Block, err = n.fill(r); err != nil {
		return err
	}
	if n.title != nil {
		if t.Title, err = r.plain(n.title); err != nil {
			return err
		}
	}
	return out(&t)
}
