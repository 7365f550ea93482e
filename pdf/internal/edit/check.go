package edit

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/standard"
)

// mostOperators bounds the operators of content that one check or one extraction reads, those of a
// form each time that it is drawn.
const mostOperators = 20_000_000

// Content, and data that many fonts may share, count as operators by their length: they may be
// nothing but white space.
const bytesOfOperator = 32

// Check judges a file against standards that standard.Set returned: it walks what the trailer leads
// to, the content of each page as it is drawn, and the structure tree, and shows them to the Judge.
func (d *Document) Check(ctx context.Context, ids []standard.ID) ([]standard.Finding, error) {
	left := mostOperators
	return d.check(ctx, ids, 0, &left)
}

// check is Check for a file that stands within so many others, which read the operators left.
func (d *Document) check(ctx context.Context, ids []standard.ID, depth int, left *int) ([]standard.Finding, error) {
	e := NewDraft(d)
	version := cos.V17
	// The header counts for archives; else the catalog may say more (ISO 32000-2, 7.5.2).
	later := !standard.Archival(ids) && standard.Version(ids) == cos.V20 && e.name(e.catalog().Get("Version")) >= "2"
	if d.Version() >= "2" || later {
		version = cos.V20
	}
	j := standard.NewJudge(ids, version)
	c := checker{
		ctx: ctx, e: e, j: j, depth: depth, left: *left, filesMustBe: standard.WhatFilesMustBe(ids),
		annots: map[uint32]bool{}, pages: make(map[cos.Ref]bool, len(e.pages)), profiles: map[uint32]bool{}, used: map[uint32]bool{}, invisible: map[uint32]bool{}, visible: map[uint32]bool{},
		inks: map[cos.Name]string{}, associated: map[uint32]bool{}, looks: map[uint32]bool{}, forms: map[uint32]bool{}, pictured: map[uint32]bool{}, outside: map[uint32]bool{}, masks: map[uint32]bool{},
	}
	defer func() { *left = c.left }()
	root := e.catalog()
	form := e.dict(root.Get("AcroForm"))
	names := e.dict(root.Get("Names"))
	f := standard.File{
		Metadata: e.data(root.Get("Metadata")), XFA: form.Get("XFA") != nil, Dynamic: e.dynamic(form.Get("XFA")), Files: e.resolve(names.Get("EmbeddedFiles")) != nil,
		Scripts: len(e.names(names.Get("JavaScript"))) > 0, Unshown: e.resolve(form.Get("NeedAppearances")) == cos.Bool(true),
	}
	c.tags = newWithin(e, "S", e.parentTree())
	if f.Lang = root.Get("Lang") != nil; !f.Lang {
		c.spoken = newWithin(e, "Lang", c.tags.parents)
		f.Outline = e.dict(e.dict(root.Get("Outlines")).Get("First")) != nil
	}
	id := e.array(d.Trailer().Get("ID"))
	f.ID = len(id) == 2
	if meta, ok := e.resolve(root.Get("Metadata")).(*stream); ok {
		f.Packed = meta.dict.Get("Filter") != nil
	}
	f.Streams = d.Streams()
	for _, key := range [...]cos.Name{"Title", "Author", "Subject", "Keywords", "Creator", "Producer", "CreationDate", "ModDate"} {
		if v := e.dict(e.info).Get(key); v != nil {
			if f.Info == nil {
				f.Info = map[string]string{}
			}
			f.Info[string(key)] = e.text(v)
		}
	}
	if err := d.Misspellings(func(m cos.Misspelling) {
		if !slices.ContainsFunc(f.Spelling, func(o cos.Misspelling) bool { return o.Part == m.Part }) { // others are as a rule alike
			f.Spelling = append(f.Spelling, m)
		}
	}); err != nil {
		return nil, err
	}
	j.File(f)
	for _, p := range e.pages {
		if err := c.page(p); err != nil {
			return nil, err
		}
	}
	if err := c.glyphs(); err != nil {
		return nil, err
	}
	c.structure()
	if err := c.objects(); err != nil {
		return nil, err
	}
	if err := c.attached(); err != nil {
		return nil, err
	}
	if err := c.richFields(); err != nil {
		return nil, err
	}
	if err := c.signatures(); err != nil {
		return nil, err
	}
	if e.err != nil {
		return nil, e.err
	}
	if w := d.Warnings(); len(w) > 0 { // also of what was read until now
		j.Damaged(w[0].String())
	}
	t := cos.Trailer{Root: e.root, Info: e.info}
	if enc := d.Trailer().Get("Encrypt"); enc != nil {
		t.More = cos.Dict{cos.E("Encrypt", e.resolve(enc))}
	}
	return j.Finish(t), nil
}

type checker struct {
	ctx    context.Context //nolint:containedctx // of one call
	e      *Draft
	j      *standard.Judge
	depth  int // of files within each other
	annots map[uint32]bool
	pages  map[cos.Ref]bool // those of the page tree
	left   int
	// transparent says that the page that is followed has transparent content.
	transparent bool
	apart       bool                // what is followed is no content of a page
	looks       map[uint32]bool     // appearances that were followed
	profiles    map[uint32]bool     // ICC profiles that were shown
	used        map[uint32]bool     // fonts, CIDFonts and descriptors of text
	unfollowed  []cos.Object        // resources of content that is not followed for its text
	invisible   map[uint32]bool     // descriptors of fonts, and fonts without one, of text that nobody sees
	visible     map[uint32]bool     // descriptors of fonts of text that is seen
	inks        map[cos.Name]string // what colorants look like, by fingerprints
	// filesMustBe are the standards of which an embedded file must keep one; none: it need not.
	filesMustBe []standard.ID
	specs       []specification
	associated  map[uint32]bool // file specifications that AF names
	masks       map[uint32]bool // images that nothing but SMask leads to
	via         cos.Name        // the key under which the object was found that is walked
	tags        *within         // elements of marked content
	spoken      *within         // elements with a language; nil: the catalog has one, which is that of all
	actual, alt *within         // those with other texts for what they hold; nil: it was not asked yet
	structured  structured
	annotated   *annotated      // nil: no annotation was shown yet
	outside     map[uint32]bool // annotations outside the crop boxes of their pages
	forms       map[uint32]bool // forms with content of the structure tree that were drawn
	pictured    map[uint32]bool // appearances with a picture that has no other text
	picture     bool            // what is followed has one
}

// objects shows every object that the catalog leads to but the elements of the structure tree.
func (c *checker) objects() error {
	c.intents()
	c.optional()
	// found is an object with the key under which it was found first.
	type found struct {
		ref cos.Ref
		key cos.Name
	}
	seen, acted := map[uint32]bool{c.e.root.Num: true}, map[uint32]bool{}
	queue := []found{{ref: c.e.root}}
	if !c.e.info.IsZero() {
		queue, seen[c.e.info.Num] = append(queue, found{ref: c.e.info}), true
	}
	var walk func(r cos.Ref, o cos.Object, key cos.Name)
	walk = func(r cos.Ref, o cos.Object, key cos.Name) {
		switch v := o.(type) {
		case cos.Ref:
			mask, act := c.masks[v.Num], startsAction(key) && !acted[v.Num]
			if !seen[v.Num] || mask && key != "SMask" || act {
				c.masks[v.Num] = (!seen[v.Num] || mask) && key == "SMask"
				seen[v.Num], acted[v.Num] = true, acted[v.Num] || act
				queue = append(queue, found{v, key})
			}
		case cos.Array:
			c.colours(r, v)
			c.j.Value(r, v)
			for _, x := range v {
				walk(r, x, key)
			}
		case cos.Dict:
			states := key == "ExtGState" || key == "" && c.via == "ExtGState"
			if key != "Annots" { // those of pages were shown with them
				c.show(r, v, key, false)
			}
			c.mediaClip(r, v)
			c.files(r, v, key)
			c.hidden(v)
			c.j.Value(r, v)
			for _, x := range v {
				c.j.Value(r, x.Key)
				switch key := x.Key; {
				case states:
					walk(r, x.Value, stateOf)
				case key != "A" || !c.isElem(v):
					walk(r, x.Value, key)
				default:
					walk(r, x.Value, "")
				}
			}
		default:
			c.j.Value(r, v)
		}
	}
	for i := 0; i < len(queue); i++ {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		if c.left < 0 {
			return c.tooMuch(queue[i].ref)
		}
		r := queue[i].ref
		o := c.e.object(r)
		if s, ok := o.(*stream); ok {
			c.jpeg2000(r, s)
			o = s.dict
		}
		c.via = queue[i].key
		walk(r, o, "")
	}
	return c.fontsOfUnfollowed()
}

// stateOf stands for all names that resources give graphics states.
const stateOf cos.Name = "ExtGState of resources"

// startsAction reports whether the value of a key is an action, or a destination.
func startsAction(key cos.Name) bool { return key == "A" || key == "OpenAction" || key == "Next" }

// isElem reports whether a dictionary is a structure element, whose A are attributes (14.7.6).
func (c *checker) isElem(d cos.Dict) bool {
	return c.e.name(d.Get("Type")) == "StructElem" || d.Get("Type") == nil && d.Get("S") != nil && d.Get("P") != nil && d.Get("Subtype") == nil
}

// flat returns a dictionary whose values are no references.
func (c *checker) flat(o cos.Object) cos.Object {
	d, ok := o.(cos.Dict)
	if !ok {
		return o
	}
	c.left -= len(d)
	out := make(cos.Dict, 0, len(d))
	for _, x := range d {
		if v := c.e.resolve(x.Value); v != nil {
			out = append(out, cos.E(x.Key, v))
		}
	}
	return out
}

// show shows one dictionary to the judge, with what it looks into resolved and its type named. An
// annotation that is no object of its own may be outside its page.
func (c *checker) show(r cos.Ref, d cos.Dict, key cos.Name, outside bool) {
	kind := c.e.name(d.Get("Type"))
	switch {
	case kind == "StructElem" || kind == "StructTreeRoot" || kind == "ObjStm" || kind == "XRef":
		return
	case r == c.e.root && key == "":
		kind = "Catalog"
	case c.annots[r.Num] && key == "":
		kind = "Annot"
	case kind == "Annot" && key != "Annots":
		kind = "" // it is on no page
	case kind == "Page" && !r.IsZero() && key == "" && !c.pages[r]:
		kind = "" // it is none of the page tree
	case startsAction(key) || d.Get("JS") != nil, key == "" && startsAction(c.via):
		if d.Get("S") != nil {
			kind = "Action"
		}
	case key == "OutputIntents" && kind == "":
		kind = "OutputIntent"
	case key == "" && (kind == "FontDescriptor" || kind == "Font") && (!c.used[r.Num] || c.invisible[r.Num] && !c.visible[r.Num]):
		kind = "" // it need not be embedded
	case key == stateOf || key == "" && c.via == stateOf:
		kind = "ExtGState" // Type is optional (8.4.5)
	}
	if ht := d.Get("HT"); ht != nil && kind == "ExtGState" {
		c.halftone(r, ht, "")
	}
	switch to := d.Get("Dest"); {
	case kind == "Catalog":
		switch to := c.e.resolve(d.Get("OpenAction")).(type) {
		case cos.Array, cos.Name:
			c.j.Destination(r, c.structured.is(c.e, to))
		default:
			if c.e.isText(to) {
				c.j.Destination(r, c.structured.is(c.e, to))
			}
		}
	case to != nil && (kind == "Annot" || d.Get("Title") != nil && d.Get("Parent") != nil):
		c.j.Destination(r, c.structured.is(c.e, to))
	case kind == "Action":
		d = c.goTo(d)
	}
	out := make(cos.Dict, 0, len(d)+1)
	for _, x := range d {
		switch x.Key {
		case "BM", "Lang", "A", "Contents", "Title", "Filter", "Interpolate", "F", "Subtype", "S", "Marked", "DisplayDocTitle", "N", "Tabs",
			"RI", "Intent", "ImageMask", "NeedsRendering", "Version", "Names", "MediaBox", "CropBox", "BleedBox", "TrimBox", "ArtBox", "Subtype2",
			"Rect", "CA", "BaseFont", "BitsPerComponent", "FirstChar", "LastChar", "Widths", "Encoding", "TR", "TR2", "HTP", "HTO", "Name":
			if v := c.e.resolve(x.Value); v != nil {
				switch a := v.(type) {
				case cos.Array: // which many may share
					c.left -= len(a)
				case cos.Dict:
					if x.Key == "A" {
						v = c.goTo(a)
					}
				}
				out = append(out, cos.E(x.Key, v))
			}
		case "MarkInfo", "ViewerPreferences", "Group", "Perms":
			if v := c.e.resolve(x.Value); v != nil {
				out = append(out, cos.E(x.Key, c.flat(v)))
			}
		case "CIDToGIDMap": // what is neither is none (9.7.4)
			switch v := c.e.resolve(x.Value).(type) {
			case cos.Name, *stream:
				out = append(out, cos.E(x.Key, v))
			}
		case "ColorSpace":
			v := c.e.resolve(x.Value)
			if _, array := v.(cos.Array); array {
				if n := c.device(v, 0); n > 0 {
					v = [...]cos.Name{1: "DeviceGray", 3: "DeviceRGB", 4: "DeviceCMYK"}[n]
				}
			}
			if v != nil && !c.masks[r.Num] { // the colours of a mask are none that are shown (11.6.5.2)
				out = append(out, cos.E("ColorSpace", v))
			}
		case "AP":
			if ap := c.e.dict(x.Value); ap != nil {
				out = append(out, cos.E("AP", c.appearances(ap)))
			}
		case "Metadata":
			s, ok := c.e.resolve(x.Value).(*stream)
			if ok && c.e.name(s.dict.Get("Type")) == "Metadata" && c.e.name(s.dict.Get("Subtype")) == "XML" {
				out = append(out, x)
			}
		case "StructTreeRoot":
			if tree := c.e.dict(x.Value); c.e.name(tree.Get("Type")) == "StructTreeRoot" {
				out = append(out, x)
			}
		case "DestOutputProfile", "FontDescriptor":
			if v := c.e.dict(x.Value); v != nil {
				out = append(out, cos.E(x.Key, v))
			}
		case "Type", "AA":
		default:
			out = append(out, x)
		}
	}
	if kind == "Annot" {
		c.rich(r, d)
	}
	if c.spoken != nil && (kind == "Annot" && d.Get("Contents") != nil || d.Get("TU") != nil) {
		if !c.spoken.elem(c.spoken.parents[c.e.integer(d.Get("StructParent"), -1)]) {
			c.j.Unspoken(r, "the description of an annotation or a form field")
		}
	}
	if aa := c.e.dict(d.Get("AA")); aa != nil && (kind == "Catalog" || kind == "Page" || kind == "Annot" || d.Get("FT") != nil) {
		out = append(out, cos.E("AA", aa))
	}
	if kind == "Annot" && d.Get("FT") == nil && c.e.name(d.Get("Subtype")) == "Widget" {
		out = append(out, cos.E("FT", c.e.inherited(d, "FT")))
	}
	if kind != "" {
		out = append(out, cos.E("Type", kind))
	}
	if kind == "Annot" {
		if key == "" {
			outside = c.outside[r.Num]
		}
		c.annotation(r, d, out, outside)
		return
	}
	c.j.Object(r, out, nil)
}

// appearances returns those of an annotation, a dictionary of states resolved.
func (c *checker) appearances(ap cos.Dict) (out cos.Dict) {
	for _, x := range ap {
		switch v := c.e.resolve(x.Value).(type) {
		case *stream:
			out = append(out, x)
		case cos.Dict:
			out = append(out, cos.E(x.Key, v))
		}
	}
	return out
}

// page shows the annotations and the content of a page.
func (c *checker) page(p Page) error {
	c.pages[p.Ref] = true
	for _, a := range c.e.array(p.Dict.Get("Annots")) {
		if r := refOf(a); !r.IsZero() {
			if _, ok := c.e.resolve(a).(cos.Dict); !ok {
				continue
			}
			c.annots[r.Num] = true
			c.outside[r.Num] = c.beyond(c.e.dict(r), p)
		} else if d := c.e.dict(a); d != nil {
			c.show(p.Ref, with(d, "Type", cos.Name("Annot")), "Annots", c.beyond(d, p))
		}
	}
	c.transparent = false
	from := surface{
		page: p.Ref, resources: c.e.dict(p.Dict.Get("Resources")), inherited: !p.Ref.IsZero() && c.e.dict(p.Ref).Get("Resources") == nil,
		elems: c.tags.content(p.Dict),
	}
	data := c.e.content(p.Dict)
	if from.resources == nil && len(bytes.TrimSpace(data)) > 0 {
		c.j.NoResources(p.Ref)
	}
	err := c.content(from, data, nil, 0, &painting{})
	if err == nil {
		err = c.appearancesOf(p)
	}
	if c.transparent {
		c.j.SeeThrough(p.Ref)
	}
	if c.transparent && c.space(c.e.dict(p.Dict.Get("Group")).Get("CS")) == nil {
		c.j.Transparency(p.Ref)
	}
	return err
}

// appearancesOf shows the content of the appearances of annotations, each once. They are no content
// of the page that would have to be tagged.
func (c *checker) appearancesOf(p Page) error {
	artifact := []cos.Object{cos.Name("Artifact")}
	look := func(o cos.Object) error {
		r := refOf(o)
		s, ok := c.e.resolve(o).(*stream)
		if !ok {
			return nil
		}
		if c.drawn(o, s.dict); c.looks[r.Num] {
			return nil
		}
		c.looks[r.Num], c.picture = true, false
		c.j.Content(p.Ref, []byte("BMC"), artifact)
		c.apart = true
		c.transparent = c.transparent || c.e.name(c.e.dict(s.dict.Get("Group")).Get("S")) == "Transparency"
		c.unfollowed = append(c.unfollowed, s.dict.Get("Resources"))
		err := c.content(surface{page: p.Ref, resources: c.e.dict(s.dict.Get("Resources"))}, c.e.data(o), nil, 0, &painting{})
		c.apart, c.pictured[r.Num] = false, c.picture
		c.j.Content(p.Ref, []byte("EMC"), nil)
		return err
	}
	for _, a := range c.e.array(p.Dict.Get("Annots")) {
		pictured := false
		for _, x := range c.e.dict(c.e.dict(a).Get("AP")) {
			states, several := c.e.resolve(x.Value).(cos.Dict)
			if !several {
				states = cos.Dict{x}
			}
			for _, state := range states {
				if err := look(state.Value); err != nil {
					return err
				}
				pictured = pictured || x.Key == "N" && c.pictured[refOf(state.Value).Num]
			}
		}
		if pictured {
			c.signaturePicture(cmp.Or(refOf(a), p.Ref), c.e.dict(a))
		}
	}
	return nil
}

// content returns the content of a page: its streams with a line end between them (7.8.2).
func (e *Draft) content(page cos.Dict) []byte {
	o := page.Get("Contents")
	if _, one := e.resolve(o).(*stream); one {
		return e.data(o)
	}
	return e.joined(e.array(o), e.data)
}

// joined returns streams of content with a line end behind each. One that comes again is not
// decoded again, but what it adds counts.
func (e *Draft) joined(parts cos.Array, data func(cos.Object) []byte) (out []byte) {
	known := map[cos.Ref][2]int{} // where they stand in out
	for _, part := range parts {
		r := refOf(part)
		at, again := known[r]
		if !again {
			from := len(out)
			out = append(append(out, data(part)...), '\n')
			if !r.IsZero() {
				known[r] = [2]int{from, len(out)}
			}
			continue
		}
		if s, ok := e.resolve(r).(*stream); ok && s.from != nil {
			if err := s.from.Repeated(int64(at[1] - at[0])); err != nil {
				e.err = cmp.Or(e.err, err)
				return nil
			}
		}
		out = append(out, out[at[0]:at[1]]...)
	}
	return out
}

// mostForms is how deep forms are followed that draw others.
const mostForms = 12

// tooMuch is the error of more operators, or of what counts as them, than one check reads.
func (c *checker) tooMuch(at cos.Ref) error {
	return &diag.LimitError{Name: "Operators", Value: mostOperators + 1, Limit: mostOperators, Place: fmt.Sprintf("object %d", at.Num)}
}

// spacesOfNames are the colour spaces that are no resources (8.6.3).
var spacesOfNames = map[cos.Name]bool{"DeviceGray": true, "DeviceRGB": true, "DeviceCMYK": true, "Pattern": true}

// surface is where content is drawn.
type surface struct {
	page      cos.Ref
	resources cos.Dict
	inherited bool // the resources are those of something else
	// elems are the structure elements of its marked content.
	elems cos.Array
}

// content shows operators; marks says of each open sequence whether the judge knows it.
func (c *checker) content(in surface, data []byte, marks []mark, depth int, paint *painting) error {
	page, resources := in.page, in.resources
	if err := c.ctx.Err(); err != nil {
		return err
	}
	spaces := c.e.dict(resources.Get("ColorSpace"))
	// device shows the judge a colour of a device, unless the resources say what it is.
	device := func(device int) {
		if device > 0 && c.space(spaces.Get([...]cos.Name{1: "DefaultGray", 3: "DefaultRGB", 4: "DefaultCMYK"}[device])) == nil {
			c.j.Content(page, [...][]byte{1: []byte("g"), 3: []byte("rg"), 4: []byte("k")}[device], nil)
		}
	}
	named := func(key cos.Name, args []cos.Object) cos.Object {
		if len(args) == 0 {
			return nil
		}
		n, _ := args[len(args)-1].(cos.Name)
		found := c.e.dict(resources.Get(key)).Get(n)
		if key == "ColorSpace" && c.space(found) == nil || key != "ColorSpace" && c.e.dict(found) == nil {
			found = nil // it is none
		}
		switch {
		case found == nil && (key != "ColorSpace" || !spacesOfNames[n]):
			c.j.Undefined(page, n)
		case found != nil && in.inherited:
			c.j.Borrowed(page, n)
		}
		return found
	}
	open := len(marks)
	c.left -= len(data) / bytesOfOperator
	return cos.Operators(data, func(op []byte, args []cos.Object) error {
		if c.left--; c.left < 0 {
			return c.tooMuch(page)
		}
		for _, a := range args {
			c.j.Value(page, a)
		}
		switch string(op) {
		case "BMC", "BDC":
			shown := c.open(in, marks, args)
			if marks = append(marks, shown); len(marks) > 1<<10 {
				return &diag.LimitError{Name: "Depth", Value: int64(len(marks)), Limit: 1 << 10, Place: fmt.Sprintf("object %d", page.Num)}
			}
			if !shown.shown {
				return nil
			}
		case "EMC":
			if len(marks) == open {
				return nil // it closes nothing here
			}
			shown := marks[len(marks)-1].shown
			if marks = marks[:len(marks)-1]; !shown {
				return nil
			}
		case "g", "G":
			device(1)
			paint.colour(op, false)
			return nil
		case "rg", "RG":
			device(3)
			paint.colour(op, false)
			return nil
		case "k", "K":
			device(4)
			paint.colour(op, false)
			return nil
		case "cs", "CS":
			if len(args) == 1 {
				space := named("ColorSpace", args)
				device(max(c.device(args[0], 0), c.device(space, 0)))
				if n, _ := args[0].(cos.Name); c.space(space) != nil || spacesOfNames[n] {
					paint.colour(op, c.cmyk(space))
				} else { // none is set, and what DefaultGray says is of those that are
					c.j.Content(page, []byte("g"), nil)
				}
			}
			return nil
		case "scn", "SCN":
			if n := len(args); n > 0 {
				if _, pattern := args[n-1].(cos.Name); pattern {
					device(c.device(c.e.dict(c.e.dict(named("Pattern", args)).Get("Shading")).Get("ColorSpace"), 0))
				}
			}
			return nil
		case "sh":
			device(c.device(c.e.dict(named("Shading", args)).Get("ColorSpace"), 0))
		case "EI":
			if len(args) == 1 {
				if i, ok := args[0].(cos.InlineImage); ok {
					c.picture = c.picture || !told(marks)
					cs := i.Dict.Get("CS")
					if cs == nil {
						cs = i.Dict.Get("ColorSpace")
					}
					n, _ := cs.(cos.Name)
					device(max(c.device(cs, 0), c.device(spaces.Get(n), 0)))
					c.j.InlineImage(page, i.Dict)
				}
			}
		case "gs":
			state := c.e.dict(named("ExtGState", args))
			c.transparent = c.transparent || c.blends(state)
			paint.state(c, state)
		case "Do":
			if len(args) == 1 && depth < mostForms {
				form := named("XObject", args)
				d := c.e.dict(form)
				c.transparent = c.transparent || c.e.resolve(d.Get("SMask")) != nil || c.e.name(c.e.dict(d.Get("Group")).Get("S")) == "Transparency"
				switch c.e.name(d.Get("Subtype")) {
				case "Form":
					c.drawn(form, d)
					inner := surface{page, c.e.dict(d.Get("Resources")), false, c.tags.content(d)}
					if inner.resources == nil {
						inner.resources, inner.inherited = resources, true
					}
					state := *paint // which the form leaves as it is
					state.saved = nil
					return c.content(inner, c.e.data(form), marks, depth+1, &state)
				case "Image":
					c.picture = c.picture || !told(marks)
				case "PS":
				default:
					if n, _ := args[0].(cos.Name); d != nil { // it is nothing that can be drawn
						c.j.Undefined(page, n)
					}
				}
				paint.image(c.cmyk(d.Get("ColorSpace")))
			}
		case "ri":
			if len(args) == 1 {
				c.j.Intent(page, args[0])
			}
		case "Tf":
			if len(args) == 2 {
				named("Font", args[:1])
			}
		default:
			if !defined()[string(op)] {
				c.j.Operator(page, op)
				return nil
			}
		}
		switch string(op) {
		case "Tj", "TJ", "'", "\"":
			if c.spoken != nil && !c.apart && (len(marks) == 0 || !marks[len(marks)-1].spoken) {
				c.j.Unspoken(page, "text")
			}
		}
		if paint.operator(op, args) {
			c.j.Overprinted(page)
		}
		if paint.black(op) {
			device(1)
		}
		c.j.Content(page, op, args)
		return nil
	})
}

// space returns a colour space (8.6.3), nil for what is none.
func (c *checker) space(o cos.Object) cos.Object {
	switch v := c.e.resolve(o).(type) {
	case cos.Name:
		return v
	case cos.Array:
		if len(v) > 0 {
			return v
		}
	}
	return nil
}

// device returns how many components the device colours have that a colour space ends in, 0 for
// none: as itself, as the base of indexed colours and patterns, or as what stands for colours of
// inks (8.6).
func (c *checker) device(o cos.Object, depth int) int {
	switch v := c.e.resolve(o).(type) {
	case cos.Name:
		switch v {
		case "DeviceGray", "G":
			return 1
		case "DeviceRGB", "RGB":
			return 3
		case "DeviceCMYK", "CMYK":
			return 4
		}
	case cos.Array:
		base := map[cos.Name]int{"Indexed": 1, "I": 1, "Pattern": 1, "Separation": 2, "DeviceN": 2}
		if len(v) == 0 || depth > 4 {
			return 0
		}
		kind := c.e.name(v[0])
		if at := base[kind]; at > 0 && at < len(v) {
			return c.device(v[at], depth+1)
		} else if len(v) == 1 {
			return c.device(kind, depth+1)
		}
	}
	return 0
}
