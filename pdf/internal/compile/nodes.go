package compile

import (
	"slices"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/compile/exprlang"
)

// The compiled blocks. Each has a template of its layout node; what needs no
// data is shared by all documents.

// common holds the keys that all blocks share.
type common struct {
	block  doc.Block
	keys   keys       // that change the style of what is around
	look   *look      // nil: the block's style
	mark   *plainText // bookmark that needs data
	anchor *plainText // that needs data
	id     *plainText // likewise
}

// fill returns the common keys with what needs data.
func (n *common) fill(r *render) (doc.Block, error) {
	b := n.block
	if n.keys.over != nil && r.around != nil {
		b.Style = r.changed(&n.keys)
	}
	if n.look != nil {
		var err error
		if b.Style, err = r.look(n.look); err != nil {
			return b, err
		}
	}
	if n.anchor != nil {
		if err := r.anchor(&b, n.anchor); err != nil {
			return b, err
		}
	}
	if n.id != nil {
		var err error
		if b.ID, b.IDFrom, err = r.id(n.id); err != nil {
			return b, err
		}
	}
	if n.mark != nil {
		var err error
		if b.Bookmark, err = r.plain(n.mark); err != nil {
			return b, err
		}
	}
	return b, nil
}

// anchor gives a block an anchor that is made of data.
func (r *render) anchor(b *doc.Block, t *plainText) (err error) {
	b.Anchor, err = r.plain(t)
	b.AnchorFrom = doc.Origin{Frame: r.at, Part: t.id}
	return err
}

// sequence is several blocks in the place of one.
type sequence []block

func (n sequence) emit(r *render, out sink) error { return r.emit(n, out) }

type textNode struct {
	common
	text *richText
	tabs []doc.Tab
	most doc.Most
}

func (n *textNode) emit(r *render, out sink) error {
	b, err := n.fill(r)
	if err != nil {
		return err
	}
	spans, err := r.rich(n.text)
	if err != nil {
		return err
	}
	t := r.mem.texts.One()
	*t = doc.Text{Block: b, Spans: spans, Tabs: n.tabs, Most: n.most}
	return out(t)
}

type headingNode struct {
	common
	out  doc.Heading // what needs no data
	text *richText
}

func (n *headingNode) emit(r *render, out sink) error {
	b, err := n.fill(r)
	if err != nil {
		return err
	}
	spans, err := r.rich(n.text)
	if err != nil {
		return err
	}
	h := r.mem.headings.One()
	*h = n.out
	h.Block, h.Spans = b, spans
	return out(h)
}

type besideNode struct {
	common
	widths  []doc.Width
	gap     doc.Length
	valign  doc.VAlign
	cells   [][]block
	stretch bool
}

func (n *besideNode) emit(r *render, out sink) error {
	b, err := n.fill(r)
	if err != nil {
		return err
	}
	cells := r.mem.lists.Take(len(n.cells))
	for i, c := range n.cells {
		if cells[i], err = r.collect(c, b.Style); err != nil {
			return err
		}
	}
	s := r.mem.besides.One()
	*s = doc.Beside{Block: b, Widths: n.widths, Gap: n.gap, VAlign: n.valign, Stretch: n.stretch, Cells: cells}
	return out(s)
}

type boxNode struct {
	common
	padding    doc.Edges
	border     *doc.Border
	radius     doc.Length
	background paint
	width      doc.Length
	height     doc.Length
	valign     doc.VAlign
	turn       doc.Turn
	body       []block
}

func (n *boxNode) emit(r *render, out sink) error {
	b, err := n.fill(r)
	if err != nil {
		return err
	}
	back, err := r.paint(n.background)
	if err != nil {
		return err
	}
	nodes, err := r.collect(n.body, b.Style)
	if err != nil {
		return err
	}
	return out(&doc.Box{Block: b, Padding: n.padding, Border: n.border, Radius: n.radius, Background: back, Width: n.width, Height: n.height, VAlign: n.valign, Turn: n.turn, Nodes: nodes})
}

type ruleNode struct {
	common
	out doc.Rule
}

func (n *ruleNode) emit(r *render, out sink) error {
	b, err := n.fill(r)
	if err != nil {
		return err
	}
	made := n.out
	made.Block = b
	return out(&made)
}

type spacerNode struct {
	common
	height doc.Length
	rest   bool // all that the page has left
}

func (n *spacerNode) emit(r *render, out sink) error {
	b, err := n.fill(r)
	if err != nil {
		return err
	}
	return out(&doc.Spacer{Block: b, Height: n.height, Fill: n.rest})
}

type breakNode struct{ out doc.PageBreak }

func (n *breakNode) emit(_ *render, out sink) error { return out(&n.out) }

type imageNode struct {
	common
	out   doc.Image
	value *programAt // the image itself, when it comes from the data
	alt   *plainText // nil: out.Alt
	link  *plainText
}

// image returns the image itself; nil: it comes from data that have none.
func (n *imageNode) image(r *render) (*doc.Image, error) {
	img := r.mem.images.One()
	*img = n.out
	if n.value != nil {
		v, err := r.eval(n.value)
		if err != nil || v.IsNull() {
			return nil, err
		}
		img.Data = []byte(v.Str())
	}
	return img, nil
}

func (n *imageNode) emit(r *render, out sink) error {
	img, err := n.image(r)
	if err != nil || img == nil {
		return err
	}
	if img.Block, err = n.fill(r); err != nil {
		return err
	}
	if n.alt != nil {
		if img.Alt, err = r.plain(n.alt); err != nil {
			return err
		}
	}
	if n.link != nil {
		if img.Link, err = r.link(n.link); err != nil {
			return err
		}
		img.From = doc.Origin{Frame: r.at, Link: n.link.id}
	}
	return out(img)
}

type listItem struct {
	src  *doc.Source
	body []block
}

type listNode struct {
	common
	marker doc.Marker
	label  *plainText // of each item; nil: the marker's own
	start  int
	items  []listItem
	loop   *loop // nil: items as they are; else items[0] for each
}

func (n *listNode) emit(r *render, out sink) error {
	b, err := n.fill(r)
	if err != nil {
		return err
	}
	l := &doc.List{Block: b, Marker: n.marker, Start: n.start}
	add := func(it listItem) error {
		made := doc.ListItem{Src: it.src}
		if n.label != nil {
			if made.Label, err = r.plain(n.label); err != nil {
				return err
			}
		}
		made.Nodes, err = r.collect(it.body, b.Style)
		l.Items = append(l.Items, made)
		return err
	}
	if n.loop == nil {
		for _, it := range n.items {
			if err := add(it); err != nil {
				return err
			}
		}
		return out(l)
	}
	if _, err := r.each(n.loop, func() error { return add(n.items[0]) }); err != nil {
		return err
	}
	if len(l.Items) == 0 {
		return nil // a list without items is not there
	}
	return out(l)
}

type forNode struct {
	loop        *loop
	body, empty []block
}

func (n *forNode) emit(r *render, out sink) error {
	count, err := r.each(n.loop, func() error { return r.emit(n.body, out) })
	if err == nil && (count == 0 && r.static == withData || r.static == reachable) {
		err = r.emit(n.empty, out)
	}
	return err
}

type ifNode struct {
	cond        *programAt
	then, other []block
}

func (n *ifNode) emit(r *render, out sink) error {
	then, other, err := r.branches(n.cond)
	if err == nil && then {
		err = r.emit(n.then, out)
	}
	if err == nil && other {
		err = r.emit(n.other, out)
	}
	return err
}

type switchCase struct {
	is []exprlang.Value
	do []block
}

type switchNode struct {
	value *programAt
	cases []switchCase
	other []block
}

func (n *switchNode) emit(r *render, out sink) error {
	v, err := r.eval(n.value)
	if err != nil {
		return err
	}
	for i := range n.cases {
		if taken(n.cases[i:i+1], v) || r.static == reachable {
			if err := r.emit(n.cases[i].do, out); err != nil || r.static == withData {
				return err
			}
		}
	}
	if r.static == always {
		return nil
	}
	return r.emit(n.other, out)
}

// argument is the value of a parameter: an expression, a text, or fixed.
type argument struct {
	slot  int
	prog  *programAt
	text  *plainText
	value exprlang.Value
}

// reads are the paths that the value is made of.
func (a *argument) reads() (all []*exprlang.Path) {
	if a.prog != nil {
		all = a.prog.prog.Reads
	}
	if a.text != nil {
		for _, p := range a.text.parts {
			if p.prog != nil {
				all = append(all, p.prog.Reads...)
			}
		}
	}
	return slices.Clip(all)
}

type useNode struct {
	component *component
	args      []argument
	slots     map[string][]block
	at        *place
}

func (n *useNode) emit(r *render, out sink) error {
	if err := r.step(n.at); err != nil {
		return err
	}
	// An argument may be made of the parameters of the component around, which is
	// never this one: its slots are others.
	for _, a := range n.args {
		v := a.value
		var err error
		switch {
		case a.prog != nil:
			v, err = r.eval(a.prog)
		case a.text != nil:
			var s string
			s, err = r.plain(a.text)
			v = exprlang.Text(s)
		}
		if err != nil {
			return err
		}
		r.m.Slots[a.slot] = v
	}
	around, filled := r.at, r.filling
	defer func() { r.at, r.filling = around, filled }()
	for i := range n.args {
		r.push(r.at, n.args[i].slot, 0, &n.args[i])
	}
	if len(n.component.slots) > 0 {
		r.filling = &filling{slots: n.slots, at: around, around: filled}
	}
	return r.emit(n.component.body, out)
}
