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
	c.refers()
	mayHave(o, "levels", &n.out.Levels, c.integerIn(1, 9))
	mayHave(o, "leader", &n.out.Leader, oneOf[doc.Leader](c, "dots", "none"))
	mayHave(o, "title", &n.title, c.plain)
	mayHave(o, "reserve", &n.out.Reserve, c.integerIn(1, 100))
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
