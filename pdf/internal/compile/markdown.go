package compile

import (
	"cmp"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/compile/exprlang"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/markdown"
)

// markdownNode is a text of Markdown: its nodes when no data is in it, else the text.
type markdownNode struct {
	common
	nodes []doc.Node
	text  *plainText
	id    int32 // of the text's parts in Plan.spans
	opt   markdown.Options
}

func (c *compiler) markdownBlock(b *blockSource) block {
	o := b.common
	n := &markdownNode{text: c.plain(b.value, b.path)}
	n.opt = markdown.Options{Src: b.block.Src, Lang: b.block.Lang, Level: 1, Link: MayLead}
	if v := o.get("level"); v != nil {
		n.opt.Level = c.integer(v, o.at("level"), 1, 9)
	}
	n.opt.Text = cmp.Or(c.around, c.base)
	var headings [10]*doc.Style
	for i := n.opt.Level; i < len(headings); i++ {
		headings[i] = c.headingStyle(i)
	}
	n.opt.Headings = func(level int) *doc.Style { return headings[level] }
	for i := range n.text.parts {
		if p := n.text.parts[i].prog; p != nil && p.Type.Kind == exprlang.ImageKind {
			c.bad(b.value, b.path, exprlang.CodeType, "", "want a text, got %s", p.Type)
		}
	}
	n.id = c.spanID(n.text.parts)
	if s, ok := n.text.known(); ok {
		var err error
		if n.nodes, err = markdown.Nodes(s, n.opt); err != nil {
			c.bad(b.value, b.path, codeWrong, "", "%s", err)
		} else if len(n.nodes) == 0 {
			c.bad(b.value, b.path, codeWrong, "", "the text is empty")
		}
	}
	n.common = b.done()
	n.isolate(n.nodes)
	return n
}

func (n *markdownNode) emit(r *render, out sink) error {
	b, err := n.fill(r)
	if err != nil {
		return err
	}
	nodes := n.nodes
	if nodes == nil && r.static != withData {
		return nil
	}
	if nodes == nil {
		text, err := r.markdown(n.text)
		if err != nil {
			return err
		}
		opt := n.opt
		opt.From = doc.Origin{Frame: r.at, Part: n.id, Link: n.id}
		if nodes, err = markdown.Nodes(text, opt); err != nil {
			d := diag.Diagnostic{Code: exprlang.CodeValue, File: b.Src.File, Line: b.Src.Line, Col: b.Src.Col, Path: b.Src.Path, Message: err.Error()}
			d.DataPath = r.at.DataPath(n.id, text, text)
			return diag.Fail(d)
		}
		n.isolate(nodes)
	}
	for i, node := range nodes {
		if i == 0 && (b.BreakBefore != doc.BreakNone || b.Anchor != "" || b.Bookmark != "" || b.ID != "") {
			node = leading(node, b)
		}
		if err := out(node); err != nil {
			return err
		}
	}
	return nil
}

// isolate makes nodes of its own artifacts, if the block is one.
func (n *markdownNode) isolate(nodes []doc.Node) {
	for _, node := range nodes {
		node.Common().Artifact = n.block.Artifact
	}
}

// leading returns a copy of the first node with what the block asks for at its place.
func leading(n doc.Node, b doc.Block) doc.Node {
	switch v := n.(type) {
	case *doc.Heading:
		c := *v
		n = &c
	case *doc.Text:
		c := *v
		n = &c
	case *doc.List:
		c := *v
		n = &c
	case *doc.Table:
		c := *v
		n = &c
	case *doc.Box:
		c := *v
		n = &c
	case *doc.Rule:
		c := *v
		n = &c
	}
	own := n.Common()
	own.BreakBefore, own.Anchor, own.Bookmark = b.BreakBefore, b.Anchor, b.Bookmark
	own.ID, own.IDFrom = b.ID, b.IDFrom
	return n
}

// markdown returns the text. A value that is the whole of it is Markdown; within a text of the
// template a value stands for itself, whatever characters it has.
func (r *render) markdown(t *plainText) (string, error) {
	if len(t.parts) == 1 {
		return r.plain(t)
	}
	var out []byte
	for i := range t.parts {
		if t.parts[i].prog == nil {
			out = append(out, t.parts[i].lit...)
			continue
		}
		s, err := r.plain(&plainText{parts: t.parts[i : i+1]})
		if err != nil {
			return "", err
		}
		out = markdown.Escape(out, []byte(s))
	}
	return string(out), nil
}
