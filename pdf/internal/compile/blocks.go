package compile

import (
	"slices"

	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/compile/exprlang"
)

// block is a compiled block: it gives its nodes to the sink.
type block interface {
	emit(r *render, out sink) error
}

// kinds are the kinds of blocks. Those with a nil function are in the language
// and not in this version.
func kinds() []kind {
	return []kind{
		{"text", (*compiler).textBlock, false},
		{"heading", (*compiler).headingBlock, false},
		{"list", (*compiler).listBlock, true},
		{"table", (*compiler).tableBlock, true},
		{"row", (*compiler).rowBlock, true},
		{"box", (*compiler).boxBlock, true},
		{"markdown", (*compiler).markdownBlock, false},
		{"image", (*compiler).imageBlock, false},
		{"barcode", (*compiler).barcodeBlock, false},
		{"rule", (*compiler).ruleBlock, true},
		{"spacer", (*compiler).spacerBlock, false},
		{"page-break", (*compiler).pageBreakBlock, false},
		{"use", (*compiler).useBlock, false},
		{"switch", (*compiler).switchBlock, false},
		{"slot", (*compiler).slotBlock, false},
		{"columns", (*compiler).columnsBlock, true},
		{"section", (*compiler).sectionBlock, true},
		{"toc", (*compiler).tocBlock, true},
		{"place", (*compiler).placeBlock, true},
		{"shape", (*compiler).shapeBlock, true},
		{"chart", nil, true},
		{"svg", (*compiler).imageBlock, false},
		{"field", (*compiler).fieldBlock, false},
		{"signature", (*compiler).signatureBlock, false},
		{"math", nil, false},
	}
}

// kind is a kind of block. The function gets the mapping that holds the fields
// of the kind and the one that holds the common keys; they are one unless the
// kind holds a mapping.
type kind struct {
	name    string
	compile func(c *compiler, b *blockSource) block
	holds   bool // the value is a mapping with the fields
}

// blockSource is a block while it is compiled.
type blockSource struct {
	kind   string
	value  *strictyaml.Node // of the kind key
	common *object          // the block's mapping: the common keys are read from it
	fields *object          // where the fields of the kind are
	path   string           // node path: body[5].table
	block  doc.Block        // the common keys
	look   look
	around *doc.Style // of what it is in, as far as it is known without data; nil: the base
	within *doc.Style // of what is in it, likewise
	level  int        // of a heading
	cond   *programAt
	link   *plainText
	mark   *plainText // bookmark that needs data
	anchor *plainText
	id     *plainText
	after  doc.Break // behind the block
}

// beginDash is how a list is written.
const beginDash = "begin each with a dash"

// blocks compiles a list of blocks.
func (c *compiler) blocks(n *strictyaml.Node, path string) []block {
	if n.Kind != strictyaml.Sequence {
		c.bad(n, path, codeWrong, beginDash, "want a list of blocks, got %s", n.Kind)
		return nil
	}
	out := make([]block, 0, len(n.Items))
	for i, v := range n.Items {
		if b := c.block(v, index(path, i)); b != nil {
			out = append(out, b)
		}
	}
	return out
}

// content compiles what cells and items hold: a text, a block, or a list of
// blocks.
func (c *compiler) content(n *strictyaml.Node, path string) []block {
	switch n.Kind {
	case strictyaml.Sequence:
		return c.blocks(n, path)
	case strictyaml.Mapping:
		if b := c.block(n, path); b != nil {
			return []block{b}
		}
		return nil
	}
	return []block{&textNode{common: common{block: doc.Block{Src: c.source(n, path)}}, text: c.rich(n, path)}}
}

func (c *compiler) source(n *strictyaml.Node, path string) *doc.Source {
	return &doc.Source{File: c.file, Line: n.Line, Col: n.Col, Path: path}
}

// block compiles one block; nil when it has problems.
func (c *compiler) block(n *strictyaml.Node, path string) block {
	o, ok := c.object(n, path, "a block")
	if !ok {
		return nil
	}
	if o.n.Get("do") != nil && o.n.Get("for") != nil {
		o.of = language()["a block with for"]
		return c.forBlock(o)
	}
	if o.n.Get("do") != nil && o.n.Get("if") != nil {
		o.of = language()["a block with if"]
		return c.ifBlock(o)
	}
	k, ok := c.kindOf(o)
	if !ok {
		return nil
	}
	if k.compile != nil {
		o.of = blockMapping(k)
	}
	b := &blockSource{kind: k.name, value: o.get(k.name), common: o, fields: o, path: o.at(k.name)}
	b.block.Src = c.source(o.n.Key(k.name), b.path)
	if k.compile == nil {
		c.bad(o.n.Key(k.name), path, codeLater, "", "block %q is not in this version", k.name)
		return nil
	}
	if k.holds && (k.name != "rule" || b.value.Kind != strictyaml.Null) {
		if b.fields, ok = c.object(b.value, b.path, "the value of "+k.name); !ok {
			return nil
		}
		o.kind, o.value = k.name, b.fields
		b.fields.kind, b.fields.block = k.name, o
	}
	defer c.given(nil)() // ends what the block's own `if` proves
	if standsForOthers(k.name) {
		// They stand for other blocks, which have their own common keys.
		if v := o.get("if"); v != nil {
			b.cond = c.condition(v, o.at("if"))
			c.given(b.cond.holds())
		}
	} else {
		c.commonKeys(b)
	}
	b.around, b.within = c.around, b.look.within(c.around, c.base)
	artifact := c.artifact
	c.around, c.artifact = b.within, artifact || b.block.Artifact
	out := k.compile(c, b)
	c.around, c.artifact = b.around, artifact
	if b.fields != o {
		b.fields.done()
	}
	o.done()
	if out == nil {
		return nil
	}
	if b.after != doc.BreakNone {
		out = sequence{out, &breakNode{doc.PageBreak{Block: doc.Block{Src: b.block.Src}, To: b.after}}}
	}
	if b.cond != nil {
		out = &ifNode{cond: b.cond, then: []block{out}}
	}
	return out
}

// otherKinds are names that other languages have for kinds of blocks, and how these are written.
var otherKinds = map[string]string{
	"p": "text: TEXT", "paragraph": "text: TEXT", "title": "heading: TEXT",
	"h1": "heading: TEXT and level: 1", "h2": "heading: TEXT and level: 2", "h3": "heading: TEXT and level: 3",
	"img": "image: FILE", "picture": "image: FILE",
	"ul": "list: {items: [TEXT]}", "ol": "list: {marker: decimal, items: [TEXT]}",
	"hr": "rule: {thickness: 0.5pt}", "line": "rule: {thickness: 0.5pt}", "space": "spacer: 5mm", "br": "spacer: 5mm",
	"pagebreak": "page-break: true", "qr": "barcode: qr", "qrcode": "barcode: qr",
}

// kindOf finds the one kind key of a block.
func (c *compiler) kindOf(o *object) (kind, bool) {
	all := kinds()
	var found []kind
	names := make([]string, len(all))
	for i, k := range all {
		names[i] = k.name
		if o.n.Get(k.name) != nil {
			found = append(found, k)
		}
	}
	switch len(found) {
	case 1:
		return found[0], true
	case 0:
		names = append(names, "for", "if")
		for _, k := range o.n.Keys {
			if slices.Contains(commonNames, k.Text) || slices.Contains(styleKeys, k.Text) {
				continue
			}
			hint := exprlang.Nearest(k.Text, names)
			if other := otherKinds[k.Text]; other != "" {
				hint = "write " + other
			}
			if hint == "" && len(o.n.Keys) == 1 {
				hint = "kinds are text, heading, list, table, row, box, image and others"
			}
			if hint != "" {
				c.bad(k, o.path, codeKind, hint, "unknown kind of block %q", k.Text)
				return kind{}, false
			}
		}
		c.bad(o.n, o.path, codeKind, "", "the block has no kind such as text, table or for")
	default:
		// `text` beside `image` and the like: the first decides the message.
		c.bad(o.n.Key(found[1].name), o.path, codeKind, "make two blocks of it", "a block has one kind; this has %q and %q", found[0].name, found[1].name)
	}
	return kind{}, false
}

// commonNames are the keys that every block may carry.
var commonNames = []string{
	"id", "if", "style", "lang", "keep-together", "keep-with-next", "break-before", "break-after", "anchor", "link", "bookmark", "artifact",
}

// withoutText are the style keys that change text alone.
var withoutText = []string{
	"font", "size", "leading", "weight", "italic", "color", "figures", "keep-figures", "widows", "orphans",
	"features", "indent", "margin-left", "margin-right", "breaking", "hyphenate", "underline", "strike",
	"letter-spacing", "caps", "position",
}

// inert returns the keys that would change nothing of a block of a kind.
func inert(kind string) []string {
	switch kind {
	case "page-break":
		return slices.Concat(styleKeys, []string{
			"style", "lang", "keep-together", "keep-with-next", "break-before", "break-after", "anchor", "bookmark", "artifact", "id",
		})
	case "rule", "spacer":
		return append([]string{"align", "lang", "keep-together", "artifact", "id"}, withoutText...)
	case "image", "svg", "shape":
		return append([]string{"keep-together"}, withoutText...)
	case "list":
		return []string{"indent", "margin-left", "margin-right"}
	case "markdown":
		return []string{"keep-together", "keep-with-next"}
	case "heading": // it is whole, and stays with what follows, by itself
		return []string{"keep-together", "keep-with-next", "widows", "orphans"}
	case "section":
		return []string{"keep-together", "keep-with-next", "space-before", "space-after"}
	case "place":
		return []string{
			"keep-together", "keep-with-next", "break-before", "break-after", "space-before", "space-after", "widows", "orphans",
		}
	case "toc":
		return []string{"keep-together", "bookmark", "align", "widows", "orphans", "breaking", "indent", "margin-left", "margin-right"}
	case "field", "signature":
		return []string{"keep-together", "link", "bookmark", "widows", "orphans", "keep-figures", "indent", "margin-left", "margin-right", "breaking", "hyphenate", "caps"}
	case "barcode": // its readable text has a font
		return []string{"keep-together", "widows", "orphans", "keep-figures", "indent", "margin-left", "margin-right", "breaking", "hyphenate", "caps"}
	}
	return nil
}

func (c *compiler) commonKeys(b *blockSource) {
	o := b.common
	for _, key := range inert(b.kind) {
		if o.n.Get(key) == nil {
			continue
		}
		hint := ""
		if b.kind == "rule" && language()["rule"].get(key) != nil {
			hint = "write rule: {" + key + ": ...}"
		}
		c.bad(o.n.Key(key), o.path, codeWrong, hint, "%q changes nothing of %s", key, b.kind)
		o.told = append(o.told, key)
	}
	if v := o.get("if"); v != nil {
		b.cond = c.condition(v, o.at("if"))
		c.given(b.cond.holds()) // until the end of the block
	}
	var parent *doc.Style
	if b.kind == "heading" {
		b.level = 1
		mayHave(o, "level", &b.level, c.integerIn(1, 9))
		parent = c.headingStyle(b.level)
	}
	if b.kind == "barcode" {
		o.kindKeys = []string{"size"} // of the symbol, not of the text below it
	}
	b.look = c.ownLook(o, parent)
	if v := o.get("lang"); v != nil {
		b.block.Lang, _ = c.tag(v, o.at("lang"))
	}
	mayHave(o, "keep-together", &b.block.KeepTogether, c.flag)
	mayHave(o, "keep-with-next", &b.block.KeepWithNext, c.flag)
	mayHave(o, "break-before", &b.block.BreakBefore, c.breakTo)
	mayHave(o, "break-after", &b.after, c.breakTo)
	for _, side := range [...]struct {
		key string
		to  doc.Break
	}{{"break-before", b.block.BreakBefore}, {"break-after", b.after}} {
		if b.kind == "section" && side.to != doc.BreakNone && side.to != doc.BreakOdd {
			c.bad(o.n.Key(side.key), o.path, codeWrong, "", "%q changes nothing of section, which has pages of its own; it may be odd", side.key)
		}
	}
	c.artifactKey(b)
	mayHave(o, "anchor", &b.anchor, c.anchor)
	if v := o.get("id"); v != nil {
		artifact := c.artifact
		c.artifact = artifact || b.block.Artifact
		b.id = c.id(v, o.at("id"))
		c.artifact = artifact
	}
	if v := o.get("link"); v != nil {
		switch b.kind {
		case "text", "heading", "image":
			b.link = c.link(v, o.at("link"))
		default:
			c.bad(v, o.at("link"), codeWrong, "", "%s has no link; its texts may have one", b.kind)
		}
	}
	if v := o.get("bookmark"); v != nil && b.kind != "heading" {
		b.mark = c.plain(v, o.at("bookmark"))
	}
}

// artifactKey reads whether a block is an artifact.
func (c *compiler) artifactKey(b *blockSource) {
	o := b.common
	v := o.get("artifact")
	switch {
	case v == nil:
	case b.kind == "section" || b.kind == "toc" || b.kind == "field":
		c.bad(v, o.at("artifact"), codeWrong, "", "%s is never an artifact", b.kind)
	case c.inArtifact():
		c.bad(v, o.at("artifact"), codeWrong, "", "%q changes nothing of what is in an artifact", "artifact")
	default:
		b.block.Artifact = c.flag(v, o.at("artifact"))
	}
}

// inArtifact reports whether what is being compiled is part of an artifact.
func (c *compiler) inArtifact() bool { return c.artifact || c.running && c.inside == nil }

// anchor reads the name of a place; nil when it is wrong.
func (c *compiler) anchor(n *strictyaml.Node, path string) *plainText {
	t := c.plain(n, path)
	s, known := t.known()
	switch {
	case !known:
		t.id = c.spanID(t.parts)
		c.madeAnchors = true
		if c.log != nil {
			c.log.madeAnchors = true
		}
		return t
	case s == "":
		c.bad(n, path, codeWrong, "", "the anchor is empty")
		return nil
	case c.loops > 0:
		c.bad(n, path, codeWrong, `make it of the item, as in "line-${l.id}"`, "an anchor in a loop or a component would be there many times")
	}
	c.anchors = append(c.anchors, s)
	return t
}

// filled wants a list with something in it.
func (c *compiler) filled(n *strictyaml.Node, path, what string) bool {
	switch {
	case n.Kind != strictyaml.Sequence:
		c.bad(n, path, codeWrong, beginDash, "want a list of %s, got %s", what, n.Kind)
	case len(n.Items) == 0:
		c.bad(n, path, codeWrong, "", "there are no %s", what)
	default:
		return true
	}
	return false
}

// breakTo reads the value of break-before and break-after.
func (c *compiler) breakTo(n *strictyaml.Node, path string) doc.Break {
	i, ok := c.choice(n, path, "page", "odd", "column")
	if !ok {
		return doc.BreakNone
	}
	return [...]doc.Break{doc.BreakPage, doc.BreakOdd, doc.BreakColumn}[i]
}

// done moves the common keys into the node.
func (b *blockSource) done() common {
	m := common{block: b.block, mark: b.mark, anchor: b.anchor, id: b.id}
	if l := &b.look; l.name != nil || l.color != nil {
		m.look = l
	} else {
		m.block.Style = l.fixed
		if l.bare && len(l.over.set) > 0 {
			m.keys = keys{&l.over, b.around, b.within}
			m.block.DefaultSpace = !l.over.spaced
		}
	}
	if s, ok := b.mark.known(); ok {
		m.block.Bookmark, m.mark = s, nil
	}
	if s, ok := b.anchor.known(); ok {
		m.block.Anchor, m.anchor = s, nil
	}
	if s, ok := b.id.known(); ok {
		m.block.ID, m.id = s, nil
	}
	return m
}

// textFields reads what texts and headings have.
func (b *blockSource) textFields(c *compiler) (t *richText, tabs []doc.Tab, most doc.Most) {
	o := b.common
	markup := true
	if v := o.get("markup"); v != nil {
		i, _ := c.choice(v, o.at("markup"), "on", "none")
		markup = i == 0
	}
	mayHave(o, "tabs", &tabs, c.tabs)
	mayHave(o, "max-lines", &most.Lines, c.integerIn(1, 1000))
	if v := o.get("overflow"); v != nil {
		i, _ := c.choice(v, o.at("overflow"), "error", "ellipsis")
		if most.Ellipsis = i == 1; o.n.Get("max-lines") == nil {
			c.bad(o.n.Key("overflow"), o.path, codeWrong, "give the text max-lines, too", "\"overflow\" changes nothing of a text of any length")
		}
	}
	t = c.richWith(b.value, b.path, markup)
	if b.link != nil {
		t.linkTo(b.link)
	}
	return t, tabs, most
}

func (c *compiler) textBlock(b *blockSource) block {
	text, tabs, most := b.textFields(c)
	return &textNode{common: b.done(), text: text, tabs: tabs, most: most}
}

// tabs reads the tab stops of a text.
func (c *compiler) tabs(n *strictyaml.Node, path string) []doc.Tab {
	if !c.filled(n, path, "tab stops") {
		return nil
	}
	out := make([]doc.Tab, len(n.Items))
	for i, v := range n.Items {
		o, ok := c.object(v, index(path, i), "a tab stop")
		if !ok {
			continue
		}
		t := &out[i]
		if at := o.need("at"); at != nil {
			t.At = c.width(at, o.at("at"))
			if t.At.Kind != doc.WidthFixed && t.At.Kind != doc.WidthPercent {
				c.bad(at, o.at("at"), codeWrong, "as in 40mm or 100%", "the position of a tab stop is a length or a percentage")
			}
			if i > 0 && t.At.Kind == out[i-1].At.Kind && t.At.Value <= out[i-1].At.Value {
				c.bad(at, o.at("at"), codeWrong, "", "the tab stop is before the previous one")
			}
		}
		mayHave(o, "align", &t.Align, oneOf[doc.TabAlign](c, "left", "right", "center", "decimal"))
		mayHave(o, "leader", &t.Leader, oneOf[doc.TabLeader](c, "none", "dots", "line"))
		o.done()
	}
	return out
}

func (c *compiler) headingBlock(b *blockSource) block {
	o := b.common
	h := &headingNode{out: doc.Heading{Level: b.level}}
	h.text, h.out.Tabs, h.out.Most = b.textFields(c)
	if v := o.get("bookmark"); v != nil {
		if v.Kind == strictyaml.Bool {
			h.out.InOutline = c.flag(v, o.at("bookmark"))
		} else {
			b.mark = c.plain(v, o.at("bookmark"))
		}
	}
	if v := o.get("number"); v != nil {
		if c.headingNumber(v, o.at("number"), &h.out); c.running && c.inside == nil {
			c.bad(o.n.Key("number"), o.path, codeWrong, "", "\"number\" changes nothing of a heading in a header or footer")
		}
	}
	h.common = b.done()
	return h
}

// headingNumber reads whether a heading is numbered, how its number is written, or which it is.
func (c *compiler) headingNumber(n *strictyaml.Node, path string, h *doc.Heading) {
	h.Numbered = doc.NumberedOn
	switch n.Kind {
	case strictyaml.Bool:
		if !c.flag(n, path) {
			h.Numbered = doc.NumberedOff
		}
	case strictyaml.Int:
		h.NumberFrom = c.integer(n, path, 1, 1_000_000)
	default:
		h.Numbering = c.numbering(n, path)
	}
}

func (c *compiler) rowBlock(b *blockSource) block {
	o := b.fields
	n := &besideNode{}
	if v := o.get("widths"); v != nil {
		if v.Kind != strictyaml.Sequence {
			c.bad(v, o.at("widths"), codeWrong, "", "want a list of widths, got %s", v.Kind)
		}
		for i, w := range v.Items {
			n.widths = append(n.widths, c.width(w, index(o.at("widths"), i)))
		}
	}
	mayHave(o, "gap", &n.gap, c.lengthFrom(0))
	mayHave(o, "valign", &n.valign, c.valign)
	mayHave(o, "stretch", &n.stretch, c.flag)
	if v := o.need("cells"); v != nil {
		c.filled(v, o.at("cells"), "cells")
		for i, cell := range v.Items {
			n.cells = append(n.cells, c.content(cell, index(o.at("cells"), i)))
		}
		if n.widths != nil && len(n.widths) != len(n.cells) {
			c.bad(o.n.Get("widths"), o.at("widths"), codeWrong, "give each cell one, or none", "%d widths for %d cells", len(n.widths), len(n.cells))
		}
	}
	n.common = b.done()
	return n
}

func (c *compiler) valign(n *strictyaml.Node, path string) doc.VAlign {
	i, _ := c.choice(n, path, "top", "middle", "bottom")
	return doc.VAlign(i) //nolint:gosec // one of three
}

func (c *compiler) boxBlock(b *blockSource) block {
	o := b.fields
	n := &boxNode{}
	mayHave(o, "padding", &n.padding, c.edges)
	mayHave(o, "border", &n.border, c.border)
	mayHave(o, "background", &n.background, c.paint)
	if v := o.get("radius"); v != nil {
		n.radius = c.length(v, o.at("radius"), 0)
		if l := n.border; l != nil && (*l != *doc.Around(l.Top) || l.Top.Dash[0] > 0) {
			c.bad(v, o.at("radius"), codeWrong, "", "a box with round corners has one solid line on all sides")
		}
	}
	mayHave(o, "width", &n.width, c.lengthFrom(1))
	mayHave(o, "height", &n.height, c.lengthFrom(1))
	mayHave(o, "valign", &n.valign, c.valign)
	mayHave(o, "rotate", &n.turn, c.turn)
	mustHave(o, "do", &n.body, c.blocks)
	n.common = b.done()
	return n
}

// partWidth reads a width that is all or a part of what there is.
func (c *compiler) partWidth(n *strictyaml.Node, path, what string) doc.Width {
	w := c.width(n, path)
	if w.Kind == doc.WidthFraction && n.IsScalar() && w.Value > 0 {
		c.bad(n, path, codeWrong, "write 100%", "%s shares its width with nothing", what)
	}
	return w
}

// placeInWidth reads where something stands that is narrower than its place.
func (c *compiler) placeInWidth(n *strictyaml.Node, path string) doc.Align {
	i, _ := c.choice(n, path, "left", "right", "center")
	return [...]doc.Align{doc.AlignLeft, doc.AlignRight, doc.AlignCenter}[i]
}

// turn reads how content is turned.
func (c *compiler) turn(n *strictyaml.Node, path string) doc.Turn {
	t := doc.Turn(c.integer(n, path, int(doc.TurnLeft), int(doc.TurnRight)))
	if t != doc.TurnLeft && t != doc.TurnRight {
		c.bad(n, path, codeWrong, "", "content is turned by 90 or 270 degrees")
	}
	return t
}

func (c *compiler) ruleBlock(b *blockSource) block {
	n := &ruleNode{}
	if b.value.Kind != strictyaml.Null {
		o := b.fields
		mayHave(o, "thickness", &n.out.Thickness, c.lengthFrom(1))
		mayHave(o, "color", &n.out.Color, c.color)
		mayHave(o, "dash", &n.out.Dash, c.dash)
		if v := o.get("width"); v != nil {
			n.out.Width = c.partWidth(v, o.at("width"), "a rule")
			if n.out.Width.Kind == doc.WidthAuto {
				c.bad(v, o.at("width"), codeWrong, "as in 40mm or 50%", "a rule has no content that gives it a width")
			}
		}
		mayHave(o, "align", &n.out.Align, c.placeInWidth)
	}
	n.common = b.done()
	return n
}

func (c *compiler) spacerBlock(b *blockSource) block {
	n := &spacerNode{rest: b.value.Text == "fill"}
	if !n.rest {
		n.height = c.length(b.value, b.path, 0)
	}
	n.common = b.done()
	return n
}

func (c *compiler) pageBreakBlock(b *blockSource) block {
	out := doc.PageBreak{Block: b.block}
	switch v := b.value; {
	case v.IsScalar() && v.Text == "odd":
		out.To = doc.BreakOdd
	case v.Kind != strictyaml.Null && (v.Kind != strictyaml.Bool || !c.flag(v, b.path)):
		c.bad(v, b.path, codeWrong, "write page-break: true, or odd", "a page break has no value but odd")
	}
	return &breakNode{out}
}

func (c *compiler) listBlock(b *blockSource) block {
	o := b.fields
	n := &listNode{}
	mayHave(o, "marker", &n.marker, oneOf[doc.Marker](c, "disc", "decimal", "alpha", "upper-alpha", "roman", "upper-roman", "legal", "text"))
	if v := o.get("start"); v != nil {
		n.start = c.integer(v, o.at("start"), 0, 1_000_000)
		if n.marker == doc.MarkerDisc || n.marker == doc.MarkerText {
			c.bad(v, o.at("start"), codeWrong, "", "only a numbered list has a start")
		}
	}
	items, loop := o.get("items"), o.get("for")
	label := func() { // which may be made of the item
		switch v := o.get("label"); {
		case v != nil:
			if n.label = c.plain(v, o.at("label")); n.marker != doc.MarkerText {
				c.bad(o.n.Key("label"), o.path, codeWrong, "also write marker: text", "\"label\" changes nothing of a list with a marker of its own")
			}
		case n.marker == doc.MarkerText:
			c.bad(o.n.Key("marker"), o.path, codeNoKey, "", "a list with the marker text has a label")
		}
	}
	if loop == nil {
		label()
	}
	switch {
	case items != nil && loop != nil:
		c.bad(o.n.Key("for"), o.path, codeKey, "", "a list has items or for, not both")
	case items != nil:
		if items.Kind != strictyaml.Sequence {
			c.bad(items, o.at("items"), codeWrong, "", "want a list of items, got %s", items.Kind)
		}
		for i, v := range items.Items {
			path := index(o.at("items"), i)
			n.items = append(n.items, listItem{src: c.source(v, path), body: c.content(v, path)})
		}
	case loop != nil:
		n.loop = c.loop(loop, o.at("for"))
		label()
		if v := o.need("item"); v != nil {
			n.items = []listItem{{src: c.source(v, o.at("item")), body: c.content(v, o.at("item"))}}
		}
		c.endLoop(n.loop)
	default:
		c.bad(o.n, o.path, codeNoKey, "", "a list has items, or for and item")
	}
	if loop == nil {
		o.get("item")
		if v := o.n.Get("item"); v != nil {
			c.bad(o.n.Key("item"), o.path, codeKey, "write items:", "item without for")
		}
	}
	n.common = b.done()
	return n
}
