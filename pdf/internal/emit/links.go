package emit

import (
	"fmt"
	"strings"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/layout"
)

// The codes of this package:
//
//	L308 a link to an anchor that is not in the document
//	L310 a link that is no http, https, mailto or tel URL
//	L317 two attached files of one name, or one without

// dest is a place in the document.
type dest struct {
	page cos.Ref
	y    doc.Length // from the bottom
	elem cos.Ref    // the structure element; zero when there is none
}

// internalLink is a link annotation that waits for its destination.
type internalLink struct {
	ref  cos.Ref
	link *layout.Link
	dict cos.Dict
}

// outlineItem is a bookmark in reading order.
type outlineItem struct {
	title  string
	level  int
	closed bool
	to     dest
}

// places notes anchors and bookmarks.
func (e *Emitter) places(p *layout.Page, pi *pageInfo) error {
	for i := range p.Marks {
		m := &p.Marks[i]
		d := dest{page: pi.ref, y: p.Height - m.Y}
		if e.tree != nil {
			d.elem = e.tree.Document().Ref()
			if m.Elem != nil {
				if err := e.add(m.Elem); err != nil {
					return err
				}
				d.elem = m.Elem.Ref()
			}
		}
		if m.Anchor != "" {
			e.anchors[m.Anchor] = d
		}
		if m.Bookmark != "" {
			if err := e.check.Bookmark(m.Bookmark, m.Src).Err(); err != nil && !e.o.Force {
				return err
			}
			e.outline = append(e.outline, outlineItem{title: m.Bookmark, level: max(m.Level, 1), to: d})
		}
	}
	return nil
}

// links writes the link annotations of a page: one per link, over all its lines.
func (e *Emitter) links(p *layout.Page, pi *pageInfo) error {
	for i := range p.Links {
		l := p.Links[i].Link
		first := true
		for k := range p.Links[:i] {
			first = first && p.Links[k].Link != l
		}
		if !first {
			continue
		}
		if err := e.link(p, pi, l); err != nil {
			return err
		}
	}
	return nil
}

func (e *Emitter) link(p *layout.Page, pi *pageInfo, l *layout.Link) error {
	e.from = l.Src
	defer func() { e.from = nil }()
	ref := e.w.Reserve()
	pi.annots = append(pi.annots, ref)
	a := e.w.Arena()
	d := append(a.Entries(9), cos.E("Type", cos.Name("Annot")), cos.E("Subtype", cos.Name("Link")))
	d = appendPlace(d, a, p, l)
	// F: printed, as PDF/A asks for (ISO 19005-4, 6.3.2).
	d = append(d, cos.E("F", cos.Int(4)), cos.E("Border", a.List(cos.Int(0), cos.Int(0), cos.Int(0))))
	if s := strings.TrimSpace(l.Text); s != "" {
		d = append(d, cos.E("Contents", a.Text(s)))
	} else {
		d = append(d, cos.E("Contents", a.Text(l.Target)))
	}
	if e.tree != nil && l.Elem != nil {
		if err := e.add(l.Elem); err != nil {
			return err
		}
		l.Elem.AddAnnotation(pi.ref, ref)
		d = append(d, cos.E("StructParent", a.Int(e.tree.AnnotationKey(l.Elem))))
	}
	if strings.HasPrefix(l.Target, "#") {
		e.internal = append(e.internal, internalLink{ref: ref, link: l, dict: d})
		return nil
	}
	uri, err := toURI(l.Target)
	if err != nil {
		return diag.Fail(l.Src.Place(diag.Diagnostic{Code: "L310", Message: err.Error(), Page: p.Number, DataPath: l.DataPath()}))
	}
	action := append(a.Entries(2), cos.E("S", cos.Name("URI")), cos.E("URI", a.String(uri)))
	return e.w.Put(ref, a.Dict(append(d, cos.E("A", a.Dict(action)))))
}

// appendPlace adds Rect and, for more than one line, QuadPoints.
func appendPlace(d cos.Dict, mem *cos.Arena, p *layout.Page, l *layout.Link) cos.Dict {
	var left, bottom, right, top doc.Length
	n := 0
	for i := range p.Links {
		a := &p.Links[i]
		if a.Link != l {
			continue
		}
		x0, y0, x1, y1 := a.X, p.Height-a.Y-a.H, a.X+a.W, p.Height-a.Y
		if n == 0 {
			left, bottom, right, top = x0, y0, x1, y1
		}
		left, bottom, right, top = min(left, x0), min(bottom, y0), max(right, x1), max(top, y1)
		n++
	}
	d = append(d, cos.E("Rect", mem.List(mem.Fixed(int64(left)), mem.Fixed(int64(bottom)), mem.Fixed(int64(right)), mem.Fixed(int64(top)))))
	if n < 2 {
		return d
	}
	quads := mem.Items(8 * n)
	for i := range p.Links {
		a := &p.Links[i]
		if a.Link != l {
			continue
		}
		x0, y0, x1, y1 := a.X, p.Height-a.Y-a.H, a.X+a.W, p.Height-a.Y
		// Viewers read the corners in the order top left, top right, bottom left,
		// bottom right.
		for _, v := range [8]doc.Length{x0, y1, x1, y1, x0, y0, x1, y0} {
			quads = append(quads, mem.Fixed(int64(v)))
		}
	}
	return append(d, cos.E("QuadPoints", mem.Array(quads)))
}

// internalLinks writes the links whose destinations are known only now.
func (e *Emitter) internalLinks() error {
	var missing diag.List
	for _, l := range e.internal {
		to, ok := e.anchors[l.link.Target[1:]]
		if !ok {
			missing.Add(l.link.Src.Place(diag.Diagnostic{
				Code: "L308", Message: fmt.Sprintf("no anchor %q in the document", l.link.Target[1:]),
				DataPath: l.link.DataPath(),
			}))
			continue
		}
		if len(missing) > 0 {
			continue
		}
		if item := l.link.Item; item != nil && !to.elem.IsZero() {
			item.Refer(to.elem)
		}
		e.from = l.link.Src
		if err := e.w.Put(l.ref, e.w.Arena().Dict(append(l.dict, e.goTo(to)))); err != nil {
			return err
		}
		e.from = nil
	}
	return missing.Err()
}

// goTo returns the action that leads to a place. In a tagged document of PDF 2.0 it is a
// structure destination (ISO 14289-2, 8.8; ISO 32000-2, 12.3.2.3), with the page for
// viewers that know none.
func (e *Emitter) goTo(to dest) cos.Entry {
	a := e.w.Arena()
	at := func(target cos.Ref) cos.Object {
		return a.List(a.Ref(target), cos.Name("XYZ"), cos.Null{}, a.Fixed(int64(to.y)), cos.Null{})
	}
	action := append(a.Entries(3), cos.E("S", cos.Name("GoTo")), cos.E("D", at(to.page)))
	if !to.elem.IsZero() && e.w.Version() == cos.V20 {
		action = append(action, cos.E("SD", at(to.elem)))
	}
	return cos.E("A", a.Dict(action))
}

// toURI returns target as a URI of ASCII characters (RFC 3986). Only schemes that
// lead a reader somewhere are let through: no script is ever written.
func toURI(target string) (string, error) {
	scheme, _, ok := strings.Cut(target, ":")
	switch s := strings.ToLower(scheme); {
	case ok && (s == "http" || s == "https" || s == "mailto" || s == "tel"):
	default:
		return "", fmt.Errorf("link %q: want an http, https, mailto or tel URL", target)
	}
	if !strings.ContainsFunc(target, escaped) {
		return target, nil
	}
	var b strings.Builder
	for _, c := range []byte(target) {
		if escaped(rune(c)) {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String(), nil
}

// escaped reports whether a byte has no place in a URI as it is.
func escaped(c rune) bool { return c <= ' ' || c >= 0x7F || strings.ContainsRune("\"<>\\^`{|}", c) }

// outlineNode is an outline item in its tree.
type outlineNode struct {
	item *outlineItem
	ref  cos.Ref
	kids []*outlineNode
}

// writeOutline writes the outline (12.3.3), zero when there are no bookmarks. An
// item belongs to the nearest one before it of a lower level.
func (e *Emitter) writeOutline() (cos.Ref, error) {
	if e.doc.Outline != nil {
		var missing diag.List
		e.outline = e.given(nil, e.doc.Outline, 1, &missing)
		if err := missing.Err(); err != nil {
			return cos.Ref{}, err
		}
	}
	if len(e.outline) == 0 {
		return cos.Ref{}, nil
	}
	root := e.outlined.One()
	root.ref = e.w.Reserve()
	path := append(e.kids.Take(8)[:0], root)
	for i := range e.outline {
		it := &e.outline[i]
		for len(path) > 1 && path[len(path)-1].item.level >= it.level {
			path = path[:len(path)-1]
		}
		n := e.outlined.One()
		n.item, n.ref = it, e.w.Reserve()
		up := path[len(path)-1]
		up.kids = e.kids.Add(up.kids, n)
		path = append(path, n)
	}
	if err := e.outlineKids(root); err != nil {
		return root.ref, err
	}
	a := e.w.Arena()
	return root.ref, e.w.Put(root.ref, a.Dict(append(
		a.Entries(4),
		cos.E("Type", cos.Name("Outlines")),
		cos.E("First", a.Ref(root.kids[0].ref)), cos.E("Last", a.Ref(root.kids[len(root.kids)-1].ref)),
		cos.E("Count", a.Int(root.open())),
	)))
}

// given turns an outline that was given into items in reading order.
func (e *Emitter) given(to []outlineItem, from []doc.OutlineItem, level int, missing *diag.List) []outlineItem {
	for i := range from {
		it := &from[i]
		at, ok := e.anchors[it.Anchor]
		if !ok {
			d := diag.Diagnostic{Code: "L308", Message: fmt.Sprintf("no anchor %q in the document", it.Anchor)}
			if it.From.Frame != nil {
				d.DataPath = it.From.Frame.DataPath(it.From.Link, "#"+it.Anchor, "#"+it.Anchor)
			}
			missing.Add(it.Src.Place(d))
		}
		if !e.o.Force {
			*missing = append(*missing, e.check.Bookmark(it.Title, it.Src)...)
		}
		to = append(to, outlineItem{title: it.Title, level: level, closed: it.Closed, to: at})
		to = e.given(to, it.Items, level+1, missing)
	}
	return to
}

// open counts the items beneath n that are shown when n itself is open.
func (n *outlineNode) open() int {
	c := len(n.kids)
	for _, k := range n.kids {
		if !k.item.closed {
			c += k.open()
		}
	}
	return c
}

// count is what the entry Count says: below 0 the items are folded away (12.3.3, table 151).
func (n *outlineNode) count() int {
	if n.item.closed {
		return -n.open()
	}
	return n.open()
}

func (e *Emitter) outlineKids(n *outlineNode) error {
	a := e.w.Arena()
	for i, k := range n.kids {
		d := append(a.Entries(8), cos.E("Title", a.Text(k.item.title)), cos.E("Parent", a.Ref(n.ref)))
		if i > 0 {
			d = append(d, cos.E("Prev", a.Ref(n.kids[i-1].ref)))
		}
		if i+1 < len(n.kids) {
			d = append(d, cos.E("Next", a.Ref(n.kids[i+1].ref)))
		}
		if len(k.kids) > 0 {
			d = append(d, cos.E("First", a.Ref(k.kids[0].ref)), cos.E("Last", a.Ref(k.kids[len(k.kids)-1].ref)), cos.E("Count", a.Int(k.count())))
		}
		if err := e.w.Put(k.ref, a.Dict(append(d, e.goTo(k.item.to)))); err != nil {
			return err
		}
		if err := e.outlineKids(k); err != nil {
			return err
		}
	}
	return nil
}
