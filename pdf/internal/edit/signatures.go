package edit

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/diag"
)

// signed is a signature field with its value, and what of the file it covers.
type signed struct {
	field
	value    cos.Dict
	contents []byte // with the zeros behind it
	// The contents stand from from to to in the file, and end is the end of what is signed.
	from, to, end int64
	fault         string // why the signature is none; empty: it may be one
}

// mostSignatures bounds what is verified of one file.
const mostSignatures = 64

// signed reports whether a file has a signature.
func (e *Draft) signed() bool {
	return slices.ContainsFunc(e.fields(), func(f field) bool { return f.kind == "Sig" && e.dict(f.dict.Get("V")) != nil })
}

// signatures returns the signatures of a file, in the order of what they cover.
func (e *Draft) signatures() (out []signed) {
	for _, f := range e.fields() {
		v := e.dict(f.dict.Get("V"))
		if f.kind != "Sig" || v == nil {
			continue
		}
		if len(out) == mostSignatures {
			e.err = &diag.LimitError{Name: "Signatures", Value: mostSignatures + 1, Limit: mostSignatures}
			break
		}
		s := signed{field: f, value: v}
		s.fault = e.extent(&s)
		out = append(out, s)
	}
	slices.SortStableFunc(out, func(a, b signed) int { return cmp.Compare(a.end, b.end) })
	return out
}

// extent finds what a signature covers and says what is wrong with it. The byte range is that of
// PAdES and of ISO 32000-2, 12.8.1: everything from the first byte on, but for the hexadecimal
// string of this very signature with its brackets. What deviates is how signatures are wrapped or
// forged.
func (e *Draft) extent(s *signed) string {
	contents, ok := cos.Bytes(e.resolve(s.value.Get("Contents")))
	if !ok || len(contents) == 0 {
		return "it has no contents"
	}
	s.contents = contents
	list := e.array(s.value.Get("ByteRange"))
	var r [4]int64
	for i := range r {
		n, ok := cos.Object(nil), false
		if len(list) == len(r) {
			n = e.resolve(list[i])
		}
		var v cos.Int
		if v, ok = n.(cos.Int); !ok || v < 0 || int64(v) > e.base.Size {
			return "its byte range is not valid"
		}
		r[i] = int64(v)
	}
	s.from, s.to, s.end = r[1], r[2], r[2]+r[3]
	switch {
	case r[0] != 0:
		return "its byte range does not begin with the file"
	case s.from >= s.to || s.end > e.base.Size || s.to-s.from < 2 || s.to-s.from > 4<<20:
		return "its byte range is not valid"
	case s.to-s.from != int64(hex.EncodedLen(len(contents)))+2: // what is left out is not read for nothing
		return "the gap in its byte range is not exactly its contents"
	}
	gap := make([]byte, s.to-s.from)
	if _, err := io.ReadFull(io.NewSectionReader(e.base.File, s.from, s.to-s.from), gap); err != nil {
		return "its byte range cannot be read"
	}
	inner := bytes.TrimSuffix(bytes.TrimPrefix(gap, []byte("<")), []byte(">"))
	got := make([]byte, hex.DecodedLen(len(inner)))
	if _, err := hex.Decode(got, inner); err != nil || len(inner) != len(gap)-2 || !bytes.Equal(got, contents) {
		return "the gap in its byte range is not exactly its contents"
	}
	return ""
}

// revision opens the file as it was when a signature was put into it, and reports whether that
// signature stood in it. A file that had to be repaired is none.
func (e *Draft) revision(s *signed, o Options) (*Draft, error) {
	o.Strict = false
	d, err := Open(e.base.File, s.end, o)
	if err != nil {
		return nil, err
	}
	if d.Repaired() {
		return nil, fmt.Errorf("pdf: the signed revision is damaged")
	}
	old := NewDraft(d)
	for _, f := range old.signatures() { // of the same field: a copy of it in a later one could say more
		if f.ref == s.ref && !f.ref.IsZero() && f.name == s.name && f.fault == "" && f.from == s.from && f.to == s.to && f.end == s.end {
			return old, nil
		}
	}
	return nil, fmt.Errorf("pdf: the signature is not in the revision that it covers")
}

// Change is what a later revision did to a file that was signed before.
type Change struct {
	Revision int    `json:"revision"` // of the file, from 1
	Object   uint32 `json:"object,omitempty"`
	What     string `json:"what"`
	Allowed  bool   `json:"allowed"`
}

// mostChanges bounds the changes that are told of one signature.
const mostChanges = 100

// differ compares a file with an earlier revision of it.
type differ struct {
	old, now *Draft
	level    int  // what may be changed: 1 nothing, 2 filling and signing, 3 notes too
	author   bool // certified it: what covers its pages may not come later
	locked   func(name string) bool
	changes  []Change
	pages    map[uint32]int   // of the old file, by object
	fields   map[uint32]field // alike: fields and widgets
	tree     map[uint32]bool  // nodes of its parent tree
	// within are objects of their own that hold a part of a page or of the form.
	within map[uint32]func()
	// used is what old objects refer to, and how often; shown is what pages and annotations draw.
	used  map[uint32]int
	shown map[uint32]bool
	store map[uint32]bool // the document security store, of nothing else
	twice string          // an entry of the parent tree that is not there once; empty: none
	// covers says that a change that is allowed may cover what pages show.
	covers bool
}

// compare returns what changed since a revision, by the objects that the file has now in the place
// of those that it had: a change is allowed when it is one of those that filling, signing and notes
// make (12.8.2.2.2), each within what the signature allows; all others are not.
func (d *differ) compare() []Change {
	old, e := d.old, d.now
	d.pages, d.fields, d.tree, d.within = map[uint32]int{}, map[uint32]field{}, map[uint32]bool{}, map[uint32]func(){}
	d.uses()
	d.isDSS()
	d.unique()
	for i, p := range old.pages {
		d.pages[p.Ref.Num] = i + 1
		d.part(func() { d.page(p.Ref.Num, old.dict(p.Ref), e.dict(p.Ref)) }, p.Dict.Get("Annots"))
	}
	form := old.dict(old.catalog().Get("AcroForm"))
	resources := old.dict(form.Get("DR"))
	d.part(func() { d.form(old.root.Num, form, e.dict(e.catalog().Get("AcroForm"))) }, form.Get("Fields"), form.Get("DR"), resources.Get("Font"))
	for _, f := range old.fields() {
		d.fields[f.ref.Num] = f
		for _, w := range f.widgets {
			d.fields[w.Num] = f
		}
	}
	d.parents(old.dict(old.catalog().Get("StructTreeRoot")).Get("ParentTree"), 0)
	if old.root != e.root {
		d.add(e.root.Num, "another catalog", false)
	}
	if e.base.Trailer().Get("Encrypt") != nil {
		d.add(0, "encryption", false)
	}
	before := map[uint32]bool{}
	for r := range old.base.Refs() {
		before[r.Num] = true
		if old.base.Repaired() || !d.same(r.Num) {
			d.object(r)
		}
	}
	added := 0
	for r := range e.base.Refs() {
		switch {
		case before[r.Num]:
		case d.used[r.Num] > 0:
			d.add(r.Num, "an object that was missing", false)
		default:
			added++
		}
	}
	if added > 0 && len(d.changes) == 0 {
		d.changes = append(d.changes, Change{Revision: e.base.Revisions(), What: fmt.Sprintf("%d objects that nothing refers to", added), Allowed: true})
	}
	return d.changes
}

// uses notes how the objects of the old file are used. One object may have several roles: what is
// drawn may not change because it is metadata, a field or a part of the form as well.
func (d *differ) uses() {
	d.used, d.shown = map[uint32]int{}, map[uint32]bool{}
	for r := range d.old.base.Refs() {
		o := d.old.object(r)
		if x, ok := o.(*stream); ok && d.old.name(x.dict.Get("Type")) == "XRef" { // it is a trailer
			o = with(with(x.dict, "Root", nil), "Info", nil)
		}
		references(o, func(to cos.Ref) { d.used[to.Num]++ })
	}
	var queue []cos.Ref
	draw := func(o cos.Object) {
		references(o, func(r cos.Ref) {
			if !d.shown[r.Num] {
				d.shown[r.Num] = true
				queue = append(queue, r)
			}
		})
	}
	draw(d.old.catalog().Get("OCProperties"))
	for _, p := range d.old.pages {
		for _, x := range p.Dict {
			switch x.Key {
			case "Annots", "Parent", "AA", "B", "Dur", "Metadata", "PieceInfo", "AF", "SeparationInfo":
			default:
				draw(x.Value)
			}
		}
		for _, a := range d.old.array(p.Dict.Get("Annots")) {
			for _, key := range [...]cos.Name{"AP", "OC", "Rect", "F"} {
				draw(d.old.dict(a).Get(key))
			}
		}
	}
	for i := 0; i < len(queue); i++ {
		draw(d.old.object(queue[i]))
	}
}

// references calls f with each reference in an object.
func references(o cos.Object, f func(cos.Ref)) {
	switch v := o.(type) {
	case cos.Ref:
		f(v)
	case cos.Array:
		for _, x := range v {
			references(x, f)
		}
	case cos.Dict:
		for _, x := range v {
			references(x.Value, f)
		}
	case *stream:
		references(v.dict, f)
	}
}

// part says how objects are judged that are a part of something.
func (d *differ) part(judge func(), parts ...cos.Object) {
	for _, o := range parts {
		if r := refOf(o); !r.IsZero() {
			d.within[r.Num] = judge
		}
	}
}

func (d *differ) parents(o cos.Object, depth int) {
	r := refOf(o)
	if depth > mostDepth || !r.IsZero() && d.tree[r.Num] {
		return
	}
	d.tree[r.Num] = true
	for _, kid := range d.old.array(d.old.dict(o).Get("Kids")) {
		d.parents(kid, depth+1)
	}
}

func (d *differ) add(num uint32, what string, allowed bool) {
	if len(d.changes) >= mostChanges {
		if allowed {
			return
		}
		d.changes = d.changes[:mostChanges-1]
	}
	revision := d.now.base.Revisions()
	if at, _, ok := d.now.base.Place(num); ok {
		revision = d.now.base.RevisionAt(at)
	}
	d.changes = append(d.changes, Change{Revision: revision, Object: num, What: what, Allowed: allowed})
}

// same reports whether an object is the very bytes that it was.
func (d *differ) same(num uint32) bool {
	a, i, ok := d.old.base.Place(num)
	b, k, still := d.now.base.Place(num)
	return ok && still && a == b && i == k
}

// equal reports whether two values print alike; streams are equal when their data is too.
func (d *differ) equal(a, b cos.Object) bool {
	s, ok := a.(*stream)
	t, is := b.(*stream)
	if ok != is {
		return false
	}
	if ok {
		if s.in == nil || t.in == nil || !d.equal(s.dict, t.dict) {
			return false
		}
		x, err := s.from.Raw(s.in)
		y, fault := t.from.Raw(t.in)
		return err == nil && fault == nil && bytes.Equal(x, y)
	}
	return bytes.Equal(printed(a), printed(b))
}

func printed(o cos.Object) []byte {
	if o == nil {
		return nil
	}
	if d, ok := o.(cos.Dict); ok { // the order of keys means nothing
		var lines []string
		for _, x := range d {
			lines = append(lines, string(cos.AppendName(nil, string(x.Key)))+" "+string(printed(x.Value)))
		}
		slices.Sort(lines)
		return []byte(strings.Join(lines, "\n"))
	}
	return o.AppendPDF(nil)
}

// but compares two dictionaries but for some keys, and returns those of the others that differ.
func (d *differ) but(a, b cos.Dict, keys ...cos.Name) (other []string) {
	seen := map[cos.Name]bool{}
	for _, k := range keys {
		seen[k] = true
	}
	for _, list := range []cos.Dict{a, b} {
		for _, x := range list {
			if !seen[x.Key] && !d.equal(a.Get(x.Key), b.Get(x.Key)) {
				other = append(other, string(x.Key))
			}
			seen[x.Key] = true
		}
	}
	return other
}

// object judges an object that is another one now.
func (d *differ) object(r cos.Ref) {
	a, b := d.old.object(r), d.now.object(r)
	if d.equal(a, b) {
		return // written again as it was
	}
	x, isDict := a.(cos.Dict)
	y, still := b.(cos.Dict)
	catalog := d.old.catalog()
	switch f, isField := d.fields[r.Num]; {
	case d.shown[r.Num]:
		d.add(r.Num, "an object that is drawn", false)
	case r == d.old.root && isDict && still:
		d.catalog(r, x, y)
	case r == refOf(catalog.Get("Metadata")) && d.used[r.Num] == 1:
		d.add(r.Num, "the metadata", true)
	case r == d.old.info && d.used[r.Num] == 0:
		d.add(r.Num, "the information dictionary", true)
	case r == refOf(catalog.Get("AcroForm")) && isDict && still:
		d.form(r.Num, x, y)
	case d.store[r.Num]:
		d.add(r.Num, "data for validation", true)
	case isField && isDict && still:
		d.field(r.Num, f, x, y)
	case d.pages[r.Num] > 0 && isDict && still:
		d.page(r.Num, x, y)
	case d.within[r.Num] != nil:
		d.within[r.Num]()
	case r == refOf(catalog.Get("StructTreeRoot")) && isDict && still:
		d.told(r.Num, "the structure tree", 2, d.but(x, y, "ParentTree", "ParentTreeNextKey"))
		if !d.tree[refOf(x.Get("ParentTree")).Num] || refOf(x.Get("ParentTree")).IsZero() {
			d.node(r.Num, d.old.dict(x.Get("ParentTree")), d.now.dict(y.Get("ParentTree")))
		} else if refOf(x.Get("ParentTree")) != refOf(y.Get("ParentTree")) {
			d.add(r.Num, "another parent tree", false)
		}
	case d.tree[r.Num] && isDict && still:
		d.node(r.Num, x, y)
	case isDict && still && x.Get("S") != nil && x.Get("P") != nil && x.Get("K") != nil:
		other := d.but(x, y, "K")
		if !d.begins(d.list(d.now, y.Get("K")), d.list(d.old, x.Get("K"))) {
			other = append(other, "K")
		}
		d.told(r.Num, "an element of the structure tree", 2, other)
	case a == nil || a == cos.Object(cos.Null{}):
		d.add(r.Num, "an object that was free", false)
	default:
		what := "an object"
		if name := d.old.name(d.old.dict(a).Get("Type")); name != "" {
			what = "an object of the type " + strings.ToValidUTF8(string(name), "?")
		} else if _, ok := a.(*stream); ok {
			what = "a stream"
		}
		if _, null := b.(cos.Null); null {
			what += ", which was removed"
		}
		d.add(r.Num, what, false)
	}
}

// isDSS notes the objects of the document security store (12.8.4.3) that are of nothing else.
func (d *differ) isDSS() {
	d.store = map[uint32]bool{}
	dss := refOf(d.old.catalog().Get("DSS"))
	if dss.IsZero() || d.used[dss.Num] != 1 {
		return
	}
	within, queue := map[uint32]int{dss.Num: 1}, []cos.Ref{dss}
	for i := 0; i < len(queue); i++ {
		references(d.old.object(queue[i]), func(to cos.Ref) {
			if within[to.Num]++; within[to.Num] == 1 {
				queue = append(queue, to)
			}
		})
	}
	for num, n := range within {
		d.store[num] = n == d.used[num]
	}
}

// list returns the values of what may be an array or one value.
func (*differ) list(e *Draft, o cos.Object) cos.Array {
	if a := e.array(o); a != nil {
		return a
	}
	if o == nil {
		return nil
	}
	return cos.Array{o}
}

// begins reports whether a list begins with the values of another one.
func (d *differ) begins(list, with cos.Array) bool {
	if len(list) < len(with) {
		return false
	}
	for i := range with {
		if !d.equal(list[i], with[i]) {
			return false
		}
	}
	return true
}

// told notes a change that is allowed from a level on, unless other keys changed too.
func (d *differ) told(num uint32, what string, level int, other []string) {
	if len(other) > 0 {
		d.add(num, what+": "+strings.ToValidUTF8(strings.Join(other, ", "), "?"), false)
		return
	}
	d.add(num, what, d.level >= level)
}

func (d *differ) catalog(r cos.Ref, x, y cos.Dict) {
	other := d.but(x, y, "AcroForm", "DSS", "Extensions", "Version", "Metadata", "Perms")
	if d.old.dict(x.Get("Perms")) != nil && !d.equal(d.old.resolve(x.Get("Perms")), d.now.resolve(y.Get("Perms"))) {
		other = append(other, "Perms")
	}
	switch a, b := x.Get("AcroForm"), y.Get("AcroForm"); {
	case d.equal(a, b):
	case refOf(a).IsZero() || refOf(b).IsZero() || refOf(a) != refOf(b):
		d.form(r.Num, d.old.dict(a), d.now.dict(b))
	}
	if len(other) > 0 {
		d.add(r.Num, "the catalog: "+strings.ToValidUTF8(strings.Join(other, ", "), "?"), false)
		return
	}
	if !d.equal(x.Get("DSS"), y.Get("DSS")) {
		d.add(r.Num, "data for validation", true)
	}
}

// form judges the dictionary of the form: what is added are fields of signatures and fonts.
func (d *differ) form(num uint32, x, y cos.Dict) {
	other := d.but(x, y, "Fields", "SigFlags", "DR", "NeedAppearances", "DA")
	if x.Get("DA") != nil && !d.equal(x.Get("DA"), y.Get("DA")) { // how fields look that have none of their own
		other = append(other, "DA")
	}
	if !d.equal(x.Get("NeedAppearances"), y.Get("NeedAppearances")) {
		d.add(num, "the form: NeedAppearances", d.level >= 2)
	}
	old, now := d.old.array(x.Get("Fields")), d.now.array(y.Get("Fields"))
	if !d.begins(now, old) {
		d.add(num, "fields of the form: some were removed or replaced", false)
		return
	}
	for _, o := range now[len(old):] {
		f := d.now.dict(o)
		if d.now.name(f.Get("FT")) != "Sig" || d.now.array(f.Get("Kids")) != nil {
			d.add(refOf(o).Num, "a new field that is not a signature field", false)
			continue
		}
		// Only documents' timestamps may come to one that allows nothing.
		v := d.now.dict(f.Get("V"))
		d.add(refOf(o).Num, "a new signature field "+d.now.text(f.Get("T")), d.level >= 2 || d.now.name(v.Get("SubFilter")) == "ETSI.RFC3161")
	}
	a, b := d.old.dict(x.Get("DR")), d.now.dict(y.Get("DR"))
	for _, group := range a {
		was, is := d.old.dict(group.Value), d.now.dict(b.Get(group.Key))
		for _, v := range was {
			if !d.equal(v.Value, is.Get(v.Key)) {
				other = append(other, "DR")
			}
		}
	}
	if len(other) > 0 {
		d.add(num, "the form: "+strings.ToValidUTF8(strings.Join(other, ", "), "?"), false)
	}
}

// field judges a field or a widget: it was filled or signed.
func (d *differ) field(num uint32, f field, x, y cos.Dict) {
	if f.kind == "Sig" && d.old.dict(f.dict.Get("V")) != nil {
		d.add(num, "the signature field "+f.name+", which was signed", false)
		return
	}
	what := "the field " + f.name
	if d.locked(f.name) {
		d.add(num, what+", which the signature locks", false)
		return
	}
	d.told(num, what, 2, d.but(x, y, "V", "AS", "AP", "M", "RV", "I", "StructParent"))
}

// page judges a page: annotations that were added, and that those that were there are the same.
func (d *differ) page(num uint32, x, y cos.Dict) {
	what := fmt.Sprintf("page %d", d.pages[num])
	if other := d.but(x, y, "Annots", "Tabs"); len(other) > 0 {
		d.add(num, what+": "+strings.ToValidUTF8(strings.Join(other, ", "), "?"), false)
		return
	}
	old, now := d.old.array(x.Get("Annots")), d.now.array(y.Get("Annots"))
	if !d.begins(now, old) {
		d.add(num, what+": annotations were removed or replaced", d.level >= 3)
	}
	was, is := map[string]bool{}, map[string]bool{}
	for _, o := range now {
		is[string(printed(o))] = true
	}
	for _, o := range old {
		s := string(printed(o))
		if !is[s] && d.old.name(d.old.dict(o).Get("Subtype")) == "Widget" {
			d.add(refOf(o).Num, what+": a field was removed", false)
		}
		was[s] = true
	}
	for _, o := range now {
		if !was[string(printed(o))] {
			d.annotation(what, o)
		}
	}
}

// annotation judges one that was added to a page.
func (d *differ) annotation(page string, o cos.Object) {
	a := d.now.dict(o)
	num, kind := refOf(o).Num, d.now.name(a.Get("Subtype"))
	b := d.now.box(a.Get("Rect"), [4]float64{})
	seen := b != [4]float64{} && d.now.integer(a.Get("F"), 0)&2 == 0
	switch {
	case a.Get("A") != nil || a.Get("AA") != nil:
		d.add(num, page+": an annotation with an action", false)
	case kind == "Widget" && d.isSignature(a):
		stamp := d.now.name(d.now.dict(a.Get("V")).Get("SubFilter")) == "ETSI.RFC3161" && !seen
		if seen && d.author {
			d.add(num, page+": a new visible signature, which may cover what the author certified", false)
			return
		}
		d.covers = d.covers || seen
		d.add(num, page+": a signature field", d.level >= 2 || stamp)
	case kind == "Widget":
		d.add(num, page+": a new field", false)
	default:
		d.covers = true
		d.add(num, page+": an annotation "+strings.ToValidUTF8(string(kind), "?"), d.level >= 3 && kind != "Link")
	}
}

// isSignature reports whether a widget is one of a signature field.
func (d *differ) isSignature(a cos.Dict) bool {
	for range 8 {
		if kind := d.now.name(a.Get("FT")); kind != "" {
			return kind == "Sig"
		}
		a = d.now.dict(a.Get("Parent"))
	}
	return false
}

// node judges a node of the parent tree: entries behind those that were there.
func (d *differ) node(num uint32, x, y cos.Dict) {
	other := d.but(x, y, "Nums", "Kids")
	if d.twice != "" {
		other = append(other, d.twice)
	}
	for _, key := range []cos.Name{"Nums", "Kids"} {
		if !d.begins(d.now.array(y.Get(key)), d.old.array(x.Get(key))) {
			other = append(other, string(key))
		}
	}
	d.told(num, "the parent tree", 2, other)
}

// unique notes an entry of the old parent tree that the new one has more than once or no more: what
// is added may not come in the place of what was there.
func (d *differ) unique() {
	times := map[int64]int{}
	for _, n := range d.now.numbers(d.now.dict(d.now.catalog().Get("StructTreeRoot")).Get("ParentTree")) {
		times[n.key]++
	}
	for _, n := range d.old.numbers(d.old.dict(d.old.catalog().Get("StructTreeRoot")).Get("ParentTree")) {
		if times[n.key] != 1 {
			d.twice = fmt.Sprintf("entry %d", n.key)
			return
		}
	}
}
