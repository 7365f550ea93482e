package edit

import (
	"context"
	"crypto/sha256"
	"strings"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/content"
)

// Optimise makes what is written from the draft smaller without loss: streams, fonts and graphics
// states that are equal become one, those that are not compressed are, and fonts, images and others
// that pages name but do not use go from their resources.
func (e *Draft) Optimise(ctx context.Context) error {
	e.separate()
	for i := range e.pages {
		if err := e.prune(ctx, i); err != nil {
			return err
		}
	}
	e.pageTree()
	e.compress = true
	data := map[uint32][sha256.Size]byte{} // hashes of the data of streams
	for range mostRounds {                 // what refers to equal objects may be equal then
		before := len(e.same)
		if err := e.unite(ctx, data); err != nil {
			return err
		}
		if len(e.same) == before {
			break
		}
	}
	return e.err
}

// mostRounds bounds how often equal objects are looked for: fonts refer to nothing deeper.
const mostRounds = 8

// prunable are the kinds of resources that operators name, and by which.
var prunable = map[string]cos.Name{
	"Tf": "Font", "Do": "XObject", "gs": "ExtGState", "sh": "Shading", "scn": "Pattern", "SCN": "Pattern",
	"cs": "ColorSpace", "CS": "ColorSpace", "BDC": "Properties", "DP": "Properties",
}

// prune takes the resources away that a page names but does not use. A page that cannot be read
// wholly keeps all.
func (e *Draft) prune(ctx context.Context, i int) error {
	p := e.pages[i]
	resources := e.dict(p.Dict.Get("Resources"))
	if resources == nil {
		return nil
	}
	src := &source{e: e}
	in := content.New(src)
	used := map[cos.Name]map[cos.Name]bool{}
	for _, kind := range prunable {
		used[kind] = map[cos.Name]bool{}
	}
	c := content.Content{Data: src.pageData(p.Dict), Resources: resources, Matrix: content.Identity}
	if err := in.Run(ctx, c, content.Place(i+1), func(ev *content.Event) error {
		// Names in forms with resources of their own are taken for those of the page, which keeps
		// too much rather than too little.
		kind := prunable[ev.Op]
		for _, a := range ev.Args {
			switch v := a.(type) {
			case cos.Name:
				if kind != "" {
					used[kind][v] = true
				}
			case cos.InlineImage: // which names a colour space (8.9.7)
				for _, x := range v.Dict {
					if n, isName := x.Value.(cos.Name); isName {
						used["ColorSpace"][n] = true
					}
				}
			}
		}
		return nil
	}); err != nil {
		return err
	}
	if src.broken > 0 || in.Skipped || e.lends(resources) {
		return nil
	}
	out, changed := make(cos.Dict, 0, len(resources)), false
	for _, kind := range resources {
		old := e.dict(kind.Value)
		if used[kind.Key] == nil || old == nil {
			out = append(out, kind)
			continue
		}
		var left cos.Dict
		for _, x := range old {
			// What colours of devices stand for is not named by operators (8.6.5.6).
			if used[kind.Key][x.Key] || kind.Key == "ColorSpace" && strings.HasPrefix(string(x.Key), "Default") {
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
		e.pages[i].Dict = with(p.Dict, "Resources", out)
	}
	return nil
}

// lends reports whether what resources hold may use them itself: fonts whose glyphs are content, without
// resources of their own (9.6.4).
func (e *Draft) lends(resources cos.Dict) bool {
	for _, x := range e.dict(resources.Get("Font")) {
		if f := e.dict(x.Value); e.name(f.Get("Subtype")) == "Type3" && f.Get("Resources") == nil {
			return true
		}
	}
	return false
}

// unite notes the objects that are equal to one before them. What streams hold is hashed once.
func (e *Draft) unite(ctx context.Context, data map[uint32][sha256.Size]byte) error {
	first := map[[sha256.Size]byte]uint32{}
	var fault error
	e.reach(func(r cos.Ref, o cos.Object) {
		if _, gone := e.same[r.Num]; gone || fault != nil {
			return
		}
		if fault = ctx.Err(); fault != nil {
			return
		}
		var key []byte
		switch v := o.(type) {
		case cos.Dict:
			switch e.name(v.Get("Type")) {
			case "Font", "FontDescriptor", "ExtGState", "Encoding":
				key = e.united(v).AppendPDF([]byte("d"))
			default:
				return // pages, annotations and elements are themselves
			}
		case *stream:
			if v.dict.Get("StructParent") != nil || v.dict.Get("StructParents") != nil {
				return
			}
			sum, known := data[r.Num]
			if !known {
				raw := v.data
				if v.in != nil {
					if raw, fault = v.from.Raw(v.in); fault != nil {
						return
					}
				}
				sum = sha256.Sum256(raw)
				data[r.Num] = sum
			}
			key = append(e.united(with(v.dict, "Length", nil)).AppendPDF([]byte("s")), sum[:]...)
		default:
			return
		}
		sum := sha256.Sum256(key)
		if as, ok := first[sum]; ok {
			e.same[r.Num] = as
			return
		}
		first[sum] = r.Num
	})
	return fault
}

// united is an object with references to the first of equal ones.
func (e *Draft) united(o cos.Object) cos.Object {
	switch v := o.(type) {
	case cos.Ref:
		if as, ok := e.same[v.Num]; ok {
			return cos.Ref{Num: as}
		}
	case cos.Array:
		out := make(cos.Array, len(v))
		for i := range v {
			out[i] = e.united(v[i])
		}
		return out
	case cos.Dict:
		out := make(cos.Dict, len(v))
		for i := range v {
			out[i] = cos.E(v[i].Key, e.united(v[i].Value))
		}
		return out
	}
	return o
}
