package edit

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"

	"example.com/quire/pdf/cos"
)

// Optimise makes what is written from the draft smaller without loss: streams, fonts and graphics
// states that are equal become one, those that are not compressed are, and fonts, images and others
// that pages name but do not use go from their resources.
func (e *Draft) Optimise(ctx context.Context) error {
	e.separate()
	pruner := e.newPruner()
	for i := range e.pages {
		if err := pruner.prune(ctx, i); err != nil {
			return err
		}
	}
	e.pageTree()
	e.compress = true
	if err := e.unite(ctx); err != nil {
		return err
	}
	return e.err
}

// mostRounds bounds how often equal objects are looked for: fonts refer to nothing deeper.
const mostRounds = 8

// prunable are the kinds of resources that operators name, and by which.
var prunable = map[string]cos.Name{
	"Tf": "Font", "Do": "XObject", "gs": "ExtGState", "sh": "Shading", "scn": "Pattern", "SCN": "Pattern",
	"cs": "ColorSpace", "CS": "ColorSpace", "BDC": "Properties", "DP": "Properties", "EI": "ColorSpace", // of an inline image (8.9.7)
}

// mostUses bounds the names of resources that are looked up for all pages together: beyond, pages
// keep what they have.
const mostUses = 20_000_000

// use is a resource that content names.
type use struct{ kind, name cos.Name }

// pruner takes resources away that pages do not use.
type pruner struct {
	e     *Draft
	src   *source
	forms map[cos.Ref][]use // what forms name, each read once
	kinds map[cos.Name]bool
	left  int
}

func (e *Draft) newPruner() *pruner {
	p := &pruner{e: e, src: &source{e: e}, forms: map[cos.Ref][]use{}, kinds: map[cos.Name]bool{}, left: mostUses}
	for _, kind := range prunable {
		p.kinds[kind] = true
	}
	return p
}

// uses returns what content names, each once.
func uses(data []byte) (list []use, err error) {
	seen := map[use]bool{}
	err = cos.OperatorNames(data, func(op []byte, names []cos.Name) error {
		kind, ok := prunable[string(op)]
		for _, n := range names {
			if u := (use{kind, n}); ok && !seen[u] {
				seen[u] = true
				list = append(list, u)
			}
		}
		return nil
	})
	return list, err
}

// followed is content that is followed, with the resources that its names are looked up in.
type followed struct {
	uses      []use
	resources cos.Dict
}

// of returns what the content of a page names, and the forms, patterns and appearances that are
// drawn on it. Names in forms with resources of their own are taken for those of the page, too, as
// some readers do: that keeps too much rather than too little. all says that everything is to stay.
func (p *pruner) of(ctx context.Context, page, resources cos.Dict) (used map[use]bool, all bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	p.src.broken = 0
	list, err := uses(p.src.pageData(page))
	if err != nil {
		return nil, false, err
	}
	queue, drawn := []followed{{list, resources}}, map[cos.Ref]bool{}
	follow := func(o cos.Object, in cos.Dict) error {
		r := refOf(o)
		form, ok := p.e.resolve(o).(*stream)
		if !ok || drawn[r] || p.e.name(form.dict.Get("Subtype")) == "Image" {
			return nil
		}
		drawn[r] = true
		list, known := p.forms[r]
		if !known {
			broken := p.src.broken
			var err error
			if list, err = uses(p.src.Data(o)); err != nil {
				return err
			}
			if p.src.broken == broken {
				p.forms[r] = list
			}
		}
		if own := p.e.dict(form.dict.Get("Resources")); own != nil {
			in = own
		}
		queue = append(queue, followed{list, in})
		return nil
	}
	for _, a := range p.e.array(page.Get("Annots")) {
		for _, look := range p.e.dict(p.e.dict(a).Get("AP")) {
			states := cos.Dict{look}
			if several, isDict := p.e.resolve(look.Value).(cos.Dict); isDict {
				states = several
			}
			for _, x := range states {
				if err := follow(x.Value, resources); err != nil {
					return nil, false, err
				}
			}
		}
	}
	used = map[use]bool{}
	for i := 0; i < len(queue); i++ {
		for _, u := range queue[i].uses {
			if p.left--; p.left < 0 {
				return nil, true, nil
			}
			used[u] = true
			o := p.e.dict(queue[i].resources.Get(u.kind)).Get(u.name)
			switch u.kind {
			case "ExtGState":
				o = p.e.dict(p.e.dict(o).Get("SMask")).Get("G")
			case "XObject", "Pattern":
			default:
				continue
			}
			if err := follow(o, queue[i].resources); err != nil {
				return nil, false, err
			}
		}
	}
	return used, p.src.broken > 0, nil
}

// prune takes the resources away that a page names but does not use. A page that cannot be read
// wholly keeps all.
func (p *pruner) prune(ctx context.Context, i int) error {
	e, page := p.e, p.e.pages[i]
	resources := e.dict(page.Dict.Get("Resources"))
	if resources == nil || e.lends(resources) {
		return nil
	}
	used, all, err := p.of(ctx, page.Dict, resources)
	if err != nil || all {
		return err
	}
	out, changed := make(cos.Dict, 0, len(resources)), false
	for _, kind := range resources {
		old := e.dict(kind.Value)
		if !p.kinds[kind.Key] || old == nil {
			out = append(out, kind)
			continue
		}
		var left cos.Dict
		for _, x := range old {
			// What colours of devices stand for is not named by operators (8.6.5.6).
			if used[use{kind.Key, x.Key}] || kind.Key == "ColorSpace" && strings.HasPrefix(string(x.Key), "Default") {
				left = append(left, x)
			}
		}
		if len(left) == len(old) {
			out = append(out, kind)
			continue
		}
		changed = true
		if left != nil {
			out = append(out, cos.E(kind.Key, left))
		}
	}
	if changed {
		e.pages[i].Dict = with(page.Dict, "Resources", out)
	}
	return nil
}

// lends reports whether what resources hold may use them itself: fonts whose glyphs are content,
// without resources of their own (9.6.4).
func (e *Draft) lends(resources cos.Dict) bool {
	for _, x := range e.dict(resources.Get("Font")) {
		if f := e.dict(x.Value); e.name(f.Get("Subtype")) == "Type3" && f.Get("Resources") == nil {
			return true
		}
	}
	return false
}

// uniter finds objects that are equal to one before them. The hashes of streams are made once: of
// how they begin and how long they are, and of all where that is the same as that of another.
type uniter struct {
	e             *Draft
	starts, whole map[uint32][sha256.Size]byte
	first         map[[sha256.Size]byte]uint32
	begin         map[[sha256.Size]byte]*alike
	referring     []referring
}

// alike are streams that begin alike: the first one, which is hashed when there is a second.
type alike struct {
	num    uint32
	hashed bool
}

// referring is an object that may be equal to another once those that it refers to are.
type referring struct {
	ref cos.Ref
	to  []uint32
}

// startBytes is what is read of a stream that is like no other.
const startBytes = 512

func (u *uniter) start(num uint32, v *stream) (sum [sha256.Size]byte, err error) {
	sum, known := u.starts[num]
	if known {
		return sum, nil
	}
	b, size := v.data, int64(len(v.data))
	if v.in != nil {
		if b, err = v.from.RawStart(v.in, startBytes); err != nil {
			return sum, err
		}
		size = v.in.Size()
	}
	sum = sha256.Sum256(binary.AppendVarint(slices.Clip(b[:min(len(b), startBytes)]), size))
	u.starts[num] = sum
	return sum, nil
}

func (u *uniter) all(num uint32, v *stream) (sum [sha256.Size]byte, err error) {
	sum, known := u.whole[num]
	if known {
		return sum, nil
	}
	b := v.data
	if v.in != nil {
		if b, err = v.from.Raw(v.in); err != nil {
			return sum, err
		}
	}
	sum = sha256.Sum256(b)
	u.whole[num] = sum
	return sum, nil
}

// unite notes the objects that are equal to one before them. All are looked at once, and those
// again that refer to one in whose place another is written.
func (e *Draft) unite(ctx context.Context) error {
	sums := func() map[uint32][sha256.Size]byte { return map[uint32][sha256.Size]byte{} }
	u := uniter{e: e, starts: sums(), whole: sums(), first: map[[sha256.Size]byte]uint32{}, begin: map[[sha256.Size]byte]*alike{}}
	var fault error
	e.reach(func(r cos.Ref, _ cos.Name, o cos.Object) {
		if fault == nil {
			fault = cmp.Or(ctx.Err(), u.look(r, o))
		}
	})
	for n := 1; n < mostRounds && fault == nil; n++ {
		before := len(e.same)
		list := u.referring
		u.referring = nil
		for _, x := range list {
			if _, gone := e.same[x.ref.Num]; gone {
				continue
			}
			if !slices.ContainsFunc(x.to, func(n uint32) bool { _, gone := e.same[n]; return gone }) {
				u.referring = append(u.referring, x)
				continue
			}
			if fault = cmp.Or(ctx.Err(), u.look(x.ref, e.object(x.ref))); fault != nil {
				break
			}
		}
		if len(e.same) == before {
			break
		}
	}
	return fault
}

// look notes an object as equal to another, or as the first of its kind.
func (u *uniter) look(r cos.Ref, o cos.Object) error {
	var key []byte
	x := referring{ref: r}
	switch v := o.(type) {
	case cos.Dict:
		switch u.e.name(v.Get("Type")) {
		case "Font", "FontDescriptor", "ExtGState", "Encoding":
			key = u.united(&x, v).AppendPDF([]byte("d"))
		default:
			return nil // pages, annotations and elements are themselves
		}
	case *stream:
		if v.dict.Get("StructParent") != nil || v.dict.Get("StructParents") != nil {
			return nil
		}
		sum, err := u.start(r.Num, v)
		if err != nil {
			return err
		}
		short := sha256.Sum256(append(u.united(&x, with(v.dict, "Length", nil)).AppendPDF([]byte("s")), sum[:]...))
		other := u.begin[short]
		if other == nil {
			u.begin[short] = &alike{num: r.Num}
			u.note(x)
			return nil
		}
		if !other.hashed {
			before, _ := u.e.object(cos.Ref{Num: other.num}).(*stream)
			if sum, err = u.all(other.num, before); err != nil {
				return err
			}
			other.hashed = true
			u.first[sha256.Sum256(append(short[:], sum[:]...))] = other.num
		}
		if sum, err = u.all(r.Num, v); err != nil {
			return err
		}
		key = append(short[:], sum[:]...)
	default:
		return nil
	}
	sum := sha256.Sum256(key)
	if as, ok := u.first[sum]; ok {
		u.e.equate(r.Num, as)
		return nil
	}
	u.first[sum] = r.Num
	u.note(x)
	return nil
}

func (u *uniter) note(x referring) {
	if len(x.to) > 0 {
		u.referring = append(u.referring, x)
	}
}

// united is an object with references to the first of equal ones, which are noted.
func (u *uniter) united(x *referring, o cos.Object) cos.Object {
	switch v := o.(type) {
	case cos.Ref:
		if as, ok := u.e.same[v.Num]; ok {
			for ; ok; as, ok = u.e.same[v.Num] {
				v = cos.Ref{Num: as}
			}
			o = v
		}
		x.to = append(x.to, v.Num)
	case cos.Array:
		out := make(cos.Array, len(v))
		for i := range v {
			out[i] = u.united(x, v[i])
		}
		return out
	case cos.Dict:
		out := make(cos.Dict, len(v))
		for i := range v {
			out[i] = cos.E(v[i].Key, u.united(x, v[i].Value))
		}
		return out
	}
	return o
}
