package edit

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"example.com/quire/internal/nearest"
	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/content"
)

// Piece is what is drawn on pages: a page as a form XObject (ISO 32000-2, 8.10), upright as a
// reader sees it.
type Piece struct {
	form   cos.Ref
	m      content.Matrix // from the page's coordinates to points from the lower left corner of what is seen
	box    content.Rect   // in the page's coordinates
	Width  float64        // in points
	Height float64
	annots bool // the page has annotations
}

// lostIn returns what pages cannot keep that are drawn as pieces.
func (e *Draft) lostIn(pieces iter.Seq[Piece]) (lost []string) {
	for p := range pieces {
		if !p.annots {
			continue
		}
		lost = append(lost, "links, notes and form fields, which are drawn only")
		if len(e.Unshown()) > 0 {
			lost = append(lost, "fields without an appearance, which are not drawn: flatten the file first")
		}
		return lost
	}
	return nil
}

// Import is a document whose pages are drawn on those of a draft.
type Import struct {
	to, from *Draft
	by       uint32
	pieces   map[int]Piece
}

// Import makes the pages of a document known to a draft. Layers of it come along.
func (e *Draft) Import(d *Document) (*Import, error) {
	if len(e.more) >= MostInputs {
		return nil, &OptionError{Field: "with", Got: "more than " + strconv.Itoa(MostInputs) + " files", Want: "fewer"}
	}
	x := &Import{to: e, from: NewDraft(d), pieces: map[int]Piece{}}
	x.by = e.join(x.from)
	m := merger{e: e, by: x.by}
	m.root, _ = moved(x.from.catalog(), x.by).(cos.Dict)
	m.layers()
	return x, x.from.err
}

// Pages is how many pages there are.
func (x *Import) Pages() int { return len(x.from.pages) }

// Lost returns what the pages that were asked for cannot keep.
func (x *Import) Lost() []string { return x.from.lostIn(maps.Values(x.pieces)) }

// Claims are the standards that the document claims.
func (x *Import) Claims() []string { return x.from.Claims() }

// Page returns a page, from 0, with what its annotations look like.
func (x *Import) Page(i int) (Piece, error) {
	if p, made := x.pieces[i]; made {
		return p, nil
	}
	s, p, err := x.from.asForm(i)
	if err != nil {
		return p, err
	}
	p.form = x.to.add(moved(s, x.by))
	x.pieces[i] = p
	return p, nil
}

// Part returns the left upper part of a page, of a width and a height in points. It is for pages
// that are asked for once.
func (x *Import) Part(i int, width, height float64) (Piece, error) {
	p, err := x.Page(i)
	if err != nil {
		return p, err
	}
	inverse, _ := p.m.Inverse()
	p.box = inverse.Quad(content.Rect{0, p.Height - height, width, p.Height}).Bounds()
	p.m[5] -= p.Height - height
	p.Width, p.Height = width, height
	if s, ok := x.to.object(p.form).(*stream); ok {
		s.dict = with(s.dict, "BBox", rectangle(p.box))
	}
	return p, nil
}

// asForm returns a page as a form that stands outside the structure tree.
func (e *Draft) asForm(i int) (*stream, Piece, error) {
	page := e.pages[i].Dict
	p := Piece{box: content.Rect(e.shown(i))}
	p.m, p.Width, p.Height = e.seen(i)
	p.m, _ = p.m.Inverse()
	src := &source{e: e}
	u := untagger{src: src, done: map[cos.Ref]cos.Object{}, tagged: e.catalog().Get("StructTreeRoot") != nil}
	resources, _ := u.resources(page.Get("Resources"), 0)
	data := u.content(src.pageData(page), resources)
	if src.broken > 0 {
		return nil, p, &OptionError{Field: "file", Got: fmt.Sprintf("page %d, whose content cannot be decoded", i+1), Want: "a page that can be read"}
	}
	data = balanced(data)
	const unseen = 1<<1 | 1<<5 // hidden, no view (12.5.3)
	objects := e.dict(resources.Get("XObject"))
	annots := e.array(page.Get("Annots"))
	p.annots = len(annots) > 0
	for _, a := range annots {
		d := e.dict(a)
		if e.integer(d.Get("F"), 0)&unseen != 0 || e.name(d.Get("Subtype")) == "Popup" {
			continue
		}
		look, _, fit, ok := e.look(d)
		if !ok {
			continue
		}
		name := free(objects, "Annot")
		objects = append(slices.Clone(objects), cos.E(name, u.xobject(look, 0)))
		var begin, end []byte
		resources, begin, end = e.layer(resources, d)
		data = append(appendMatrix(append(append(data, begin...), "q "...), fit), " cm "...)
		data = append(append(name.AppendPDF(data), " Do Q\n"...), end...)
	}
	if len(objects) > 0 {
		resources = with(resources, "XObject", objects)
	}
	dict := cos.Dict{
		cos.E("Type", cos.Name("XObject")), cos.E("Subtype", cos.Name("Form")), cos.E("BBox", rectangle(p.box)),
		cos.E("Resources", append(cos.Dict{}, resources...)),
	}
	if g := page.Get("Group"); g != nil {
		dict = append(dict, cos.E("Group", g))
	}
	return &stream{dict: dict, data: data}, p, e.err
}

// layer returns what stands before and behind the appearance of an annotation so that it is shown
// when the annotation is (8.11.3.2), and resources with the name of its layer.
func (e *Draft) layer(resources, annot cos.Dict) (_ cos.Dict, begin, end []byte) {
	oc := annot.Get("OC")
	if e.dict(oc) == nil {
		return resources, nil, nil
	}
	properties := e.dict(resources.Get("Properties"))
	name := free(properties, "Layer")
	resources = with(resources, "Properties", append(slices.Clone(properties), cos.E(name, oc)))
	return resources, append(name.AppendPDF([]byte("/OC ")), " BDC\n"...), []byte("EMC\n")
}

// seen returns how a page is seen: its width and height in points, and the matrix from points from
// the lower left corner, as the reader sees it, to the page's coordinates (7.7.3.3).
func (e *Draft) seen(i int) (m content.Matrix, width, height float64) {
	page, b := e.pages[i].Dict, e.shown(i)
	width, height = b[2]-b[0], b[3]-b[1]
	unit := number(e.resolve(page.Get("UserUnit")), 1)
	if !(unit > 0 && unit <= 1e4) {
		unit = 1
	}
	switch e.rotation(page) {
	case 90:
		m = content.Matrix{0, 1, -1, 0, b[2], b[1]}
		width, height = height, width
	case 180:
		m = content.Matrix{-1, 0, 0, -1, b[2], b[3]}
	case 270:
		m = content.Matrix{0, -1, 1, 0, b[0], b[3]}
		width, height = height, width
	default:
		m = content.Matrix{1, 0, 0, 1, b[0], b[1]}
	}
	return content.Matrix{1 / unit, 0, 0, 1 / unit, 0, 0}.Mul(m), width * unit, height * unit
}

// Place says where and how a piece is drawn on a page.
type Place struct {
	Position string  // one of Positions; empty: center
	Margin   float64 // between the piece and the edges of the page that it stands at, in points
	Scale    float64 // 0: 1
	Fit      float64 // in the place of Scale: as large as fits into this share of the page
	Angle    float64 // degrees, against the clock
	Opacity  float64 // above 0, up to 1; 0: 1
	Under    bool    // below the content, not above it
	Artifact string  // the subtype of the artifact; empty: none
}

// Positions are the places on a page.
func Positions() []string {
	return []string{"top-left", "top", "top-right", "left", "center", "right", "bottom-left", "bottom", "bottom-right"}
}

// Check returns the error of a place that cannot be.
func (p *Place) Check() error {
	if p.Position != "" && !slices.Contains(Positions(), p.Position) {
		return &OptionError{Field: "position", Got: strconv.Quote(p.Position), Want: strings.Join(Positions(), ", "), Nearest: nearest.Name(p.Position, Positions())}
	}
	for _, x := range []struct {
		field       string
		value       float64
		least, most float64
	}{{"margin", p.Margin, 0, 14400}, {"scale", p.Scale, 0, 1000}, {"angle", p.Angle, -360, 360}, {"opacity", p.Opacity, 0, 1}} {
		if !(x.value >= x.least && x.value <= x.most) { // NaN is none either
			return &OptionError{Field: x.field, Got: fmt.Sprint(x.value), Want: fmt.Sprintf("%g to %g", x.least, x.most)}
		}
	}
	return nil
}

// matrix places a piece on a page of a width and a height.
func (p *Place) matrix(of Piece, width, height float64) content.Matrix {
	sin, cosine := math.Sincos(p.Angle * math.Pi / 180)
	w, h := math.Abs(of.Width*cosine)+math.Abs(of.Height*sin), math.Abs(of.Width*sin)+math.Abs(of.Height*cosine)
	scale := p.Scale
	if p.Fit > 0 {
		scale = min(p.Fit*width/w, p.Fit*height/h)
	}
	if scale == 0 {
		scale = 1
	}
	x, y := width/2, height/2
	if strings.HasSuffix(p.Position, "left") {
		x = p.Margin + w*scale/2
	}
	if strings.HasSuffix(p.Position, "right") {
		x = width - p.Margin - w*scale/2
	}
	if strings.HasPrefix(p.Position, "top") {
		y = height - p.Margin - h*scale/2
	}
	if strings.HasPrefix(p.Position, "bottom") {
		y = p.Margin + h*scale/2
	}
	turn := content.Matrix{cosine * scale, sin * scale, -sin * scale, cosine * scale, x, y}
	return content.Matrix{1, 0, 0, 1, -of.Width / 2, -of.Height / 2}.Mul(turn)
}

// Draw draws a piece on a page, from 0, as an artifact (14.8.2.2): who reads by the structure tree
// passes over it.
func (e *Draft) Draw(i int, p Piece, at Place) error {
	if err := at.Check(); err != nil {
		return err
	}
	e.separate()
	page := e.pages[i].Dict
	m, width, height := e.seen(i)
	m = p.m.Mul(at.matrix(p, width, height)).Mul(m)
	for _, v := range m {
		if !(math.Abs(v) < 1e7) {
			return &OptionError{Field: "page", Got: strconv.Itoa(i+1) + ", whose size is not valid", Want: "a page of an ordinary size"}
		}
	}
	resources := e.dict(page.Get("Resources"))
	objects := e.dict(resources.Get("XObject"))
	name := free(objects, "Drawn")
	resources = with(resources, "XObject", append(slices.Clone(objects), cos.E(name, p.form)))
	out := []byte("/Artifact<</Type/Pagination")
	if at.Artifact != "" {
		out = append(append(out, "/Subtype/"...), at.Artifact...)
	}
	out = append(out, ">>BDC q 0 g 0 G "...)
	if at.Opacity > 0 && at.Opacity < 1 {
		states := e.dict(resources.Get("ExtGState"))
		state := free(states, "Drawn")
		alpha := thousandths(at.Opacity)
		resources = with(resources, "ExtGState", append(slices.Clone(states), cos.E(state, cos.Dict{
			cos.E("Type", cos.Name("ExtGState")), cos.E("ca", alpha), cos.E("CA", alpha),
		})))
		out = append(state.AppendPDF(out), " gs "...)
		if form, ok := e.object(p.form).(*stream); ok && form.dict.Get("Group") == nil { // it is seen through as a whole (11.4)
			s := *form
			s.dict = with(s.dict, "Group", cos.Dict{cos.E("S", cos.Name("Transparency"))})
			e.set(p.form, &s)
		}
	}
	out = append(appendMatrix(out, m), " cm "...)
	out = append(name.AppendPDF(out), " Do Q EMC\n"...)
	contents := e.parts(page)
	drawn := e.add(&stream{data: out})
	if at.Under {
		contents = append(cos.Array{drawn}, contents...)
	} else {
		contents = append(e.enclosed(i, contents), drawn)
	}
	e.setPage(i, "Contents", contents)
	e.setPage(i, "Resources", resources)
	return nil
}

// parts returns the streams of a page's content.
func (e *Draft) parts(page cos.Dict) cos.Array {
	o := page.Get("Contents")
	if list := e.array(o); list != nil {
		return slices.Clone(list)
	}
	if r := refOf(o); !r.IsZero() {
		return cos.Array{r}
	}
	return nil
}

// enclosed returns the content of a page between what saves the graphics state and what restores
// it, so that what is drawn behind finds it as at the beginning.
func (e *Draft) enclosed(i int, contents cos.Array) cos.Array {
	ref := e.pages[i].Ref
	if e.closed[ref.Num] || len(contents) == 0 {
		return contents
	}
	if e.closed == nil {
		e.closed = map[uint32]bool{}
	}
	e.closed[ref.Num] = true
	before, after := brackets((&source{e: e}).pageData(e.pages[i].Dict))
	out := append(cos.Array{e.add(&stream{data: before})}, contents...)
	return append(out, e.add(&stream{data: after}))
}

// brackets returns what stands before and behind content so that all that it begins ends, and
// nothing ends that it did not begin.
func brackets(data []byte) (before, after []byte) {
	depth, below, marks, text := 0, 0, 0, false
	// Errors are those of nesting, behind which nothing is read.
	_ = cos.Operators(data, func(op []byte, _ []cos.Object) error {
		switch string(op) {
		case "q":
			depth++
		case "Q":
			if depth > 0 {
				depth--
			} else {
				below++
			}
		case "BT":
			text = true
		case "ET":
			text = false
		case "BMC", "BDC":
			marks++
		case "EMC":
			marks = max(marks-1, 0)
		}
		return nil
	})
	before = bytes.Repeat([]byte("q "), below+1)
	before[len(before)-1] = '\n'
	after = []byte("\n")
	if text {
		after = append(after, "ET "...)
	}
	after = append(after, bytes.Repeat([]byte("EMC "), marks)...)
	return before, append(append(after, bytes.Repeat([]byte("Q "), depth+1)...), '\n')
}

// balanced returns content between its brackets.
func balanced(data []byte) []byte {
	before, after := brackets(data)
	return append(append(before, data...), after...)
}

// free returns a name that a dictionary of resources has not.
func free(taken cos.Dict, like string) cos.Name {
	for n := len(taken); ; n++ {
		if name := cos.Name(like + strconv.Itoa(n)); taken.Get(name) == nil {
			return name
		}
	}
}

// appendMatrix appends a matrix as the operands of cm.
func appendMatrix(dst []byte, m content.Matrix) []byte {
	for i, v := range m {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = cos.AppendDecimal(dst, int64(math.Round(v*1e6)), 6)
	}
	return dst
}

func rectangle(b [4]float64) (a cos.Array) {
	for _, v := range b {
		a = append(a, thousandths(v))
	}
	return a
}

// untagger takes content out of the structure tree: what is drawn as an artifact, or on another
// page, has no place there (14.8.2.2.1).
type untagger struct {
	src    *source
	done   map[cos.Ref]cos.Object
	tagged bool // the document has a structure tree
}

// resources returns resources with XObjects outside the tree, and whether that changed them.
func (u *untagger) resources(o cos.Object, depth int) (cos.Dict, bool) {
	d := u.src.e.dict(o)
	if !u.tagged {
		return d, false
	}
	changed := false
	var out cos.Dict
	for _, x := range u.src.e.dict(d.Get("XObject")) {
		v := u.xobject(x.Value, depth)
		changed = changed || refOf(v) != refOf(x.Value)
		out = append(out, cos.E(x.Key, v))
	}
	if !changed {
		return d, false
	}
	return with(d, "XObject", out), true
}

// xobject returns a form or an image outside the tree: itself, where it has nothing to do with it.
func (u *untagger) xobject(o cos.Object, depth int) cos.Object {
	r := refOf(o)
	if as, seen := u.done[r]; seen {
		return as
	}
	s, ok := u.src.e.resolve(o).(*stream)
	if !ok || !u.tagged || r.IsZero() || depth > mostForms {
		return o
	}
	u.done[r] = o // one that draws itself stays
	out := *s
	out.dict = with(with(s.dict, "StructParent", nil), "StructParents", nil)
	changed := len(out.dict) < len(s.dict)
	if u.src.e.name(s.dict.Get("Subtype")) == "Form" {
		resources, other := u.resources(s.dict.Get("Resources"), depth+1)
		if other {
			out.dict, changed = with(out.dict, "Resources", resources), true
		}
		if s.dict.Get("StructParents") != nil {
			out.data, out.in = u.content(u.src.Data(o), resources), nil
			for _, key := range [...]cos.Name{"Filter", "DecodeParms", "Length"} {
				out.dict = with(out.dict, key, nil)
			}
		}
	}
	if changed {
		u.done[r] = u.src.e.add(&out)
	}
	return u.done[r]
}

// content returns content without its marks, but for those of layers and of text that stands for
// what is drawn.
func (u *untagger) content(data []byte, resources cos.Dict) []byte {
	if !u.tagged {
		return data
	}
	e := u.src.e
	var l level
	var open []bool // those that stay
	// Errors are those of nesting, behind which nothing is read.
	_ = cos.Operators(data, func(op []byte, args []cos.Object) error {
		switch string(op) {
		case "BMC", "BDC":
			open = append(open, false)
			if len(args) < 2 {
				return nil
			}
			props := e.dict(args[1])
			if n, named := args[1].(cos.Name); named {
				props = e.dict(e.dict(resources.Get("Properties")).Get(n))
			}
			said := e.resolve(props.Get("ActualText"))
			if args[0] != cos.Object(cos.Name("OC")) {
				if said == nil {
					return nil
				}
				args = []cos.Object{cos.Name("Span"), cos.Dict{cos.E("ActualText", said)}}
			}
			open[len(open)-1] = true
		case "EMC":
			if len(open) == 0 {
				return nil
			}
			stays := open[len(open)-1]
			if open = open[:len(open)-1]; !stays {
				return nil
			}
		case "MP", "DP":
			return nil
		}
		l.emit(string(op), args)
		return nil
	})
	return l.out
}

// Prune takes the resources of pages away that they name but do not use, where they share them with
// pages of the document that the draft has no more: those of all would come along with each part.
func (e *Draft) Prune(ctx context.Context) error {
	shares := func(p Page) (keys []any) {
		key := func(o cos.Object) {
			switch v := o.(type) {
			case cos.Ref:
				keys = append(keys, v)
			case cos.Dict:
				if len(v) > 0 {
					keys = append(keys, &v[0]) // that of an ancestor is the same one for all below
				}
			}
		}
		key(p.Dict.Get("Resources"))
		for _, x := range e.dict(p.Dict.Get("Resources")) {
			if r := refOf(x.Value); !r.IsZero() {
				keys = append(keys, r)
			}
		}
		return keys
	}
	users := map[any]int{}
	for _, p := range e.base.Pages {
		for _, k := range shares(p) {
			users[k]++
		}
	}
	for _, p := range e.pages {
		for _, k := range shares(p) {
			users[k]--
		}
	}
	some, pruner := false, e.newPruner()
	for i, p := range e.pages {
		if !slices.ContainsFunc(shares(p), func(k any) bool { return users[k] > 0 }) {
			continue
		}
		if err := pruner.prune(ctx, i); err != nil {
			return err
		}
		some = true
	}
	if some {
		e.pageTree()
	}
	return e.err
}
