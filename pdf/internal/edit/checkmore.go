package edit

import (
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"example.com/quire/pdf/cos"
)

// defined are the operators of content (ISO 32000-2, annex A); EI stands for a whole inline image.
var defined = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for op := range strings.FieldsSeq("b B b* B* BDC BI BMC BT BX c cm CS cs d d0 d1 Do DP EI EMC ET EX f F f* G g gs h i ID j J K k l m M MP n q Q re RG rg ri s S sc SC scn SCN sh T* Tc Td TD Tf Tj TJ TL Tm Tr Ts Tw Tz v w W W* y ' \"") {
		m[op] = true
	}
	return m
})

// painting is the part of the graphics state that tells whether colours of a CMYK profile are
// overprinted by components (8.6.7).
type painting struct {
	fill, stroke bool // the colour is one of ICCBased with four components
	set, setS    bool // it was set, and is not the black of DeviceGray that content begins with (8.4.1)
	over, overS  bool // op and OP
	mode         bool // OPM is 1
	text         int64
	saved        []painting
	wrong        bool // an image just drawn is overprinted
}

// colour notes the colour space that an operator sets.
func (p *painting) colour(op []byte, cmyk bool) {
	if op[0] >= 'A' && op[0] <= 'Z' {
		p.stroke, p.setS = cmyk, true
	} else {
		p.fill, p.set = cmyk, true
	}
}

// black reports whether an operator paints with the colour that content begins with.
func (p *painting) black(op []byte) bool {
	fill, stroke := false, false
	switch string(op) {
	case "Tj", "TJ", "'", "\"":
		mode := p.text & 3
		fill, stroke = mode == 0 || mode == 2, mode == 1 || mode == 2
	case "f", "F", "f*":
		fill = true
	case "S", "s":
		stroke = true
	case "B", "B*", "b", "b*":
		fill, stroke = true, true
	}
	return fill && !p.set || stroke && !p.setS
}

// state notes what a graphics state parameter dictionary says; OP counts for both where op is
// absent (table 57).
func (p *painting) state(c *checker, d cos.Dict) {
	if v, ok := c.e.resolve(d.Get("OP")).(cos.Bool); ok {
		p.overS, p.over = bool(v), bool(v)
	}
	if v, ok := c.e.resolve(d.Get("op")).(cos.Bool); ok {
		p.over = bool(v)
	}
	if v, ok := c.e.resolve(d.Get("OPM")).(cos.Int); ok {
		p.mode = v == 1
	}
}

// image notes an image that is drawn.
func (p *painting) image(cmyk bool) { p.wrong = cmyk && p.over && p.mode }

// operator reports whether an operator paints with colours that are overprinted so.
func (p *painting) operator(op []byte, args []cos.Object) bool {
	fill, stroke := p.fill && p.over && p.mode, p.stroke && p.overS && p.mode
	switch string(op) {
	case "q":
		if len(p.saved) < 1<<10 {
			was := *p
			was.saved = nil
			p.saved = append(p.saved, was)
		}
	case "Q":
		if n := len(p.saved); n > 0 {
			saved := p.saved[:n-1]
			*p = p.saved[n-1]
			p.saved = saved
		}
	case "Tr":
		if len(args) == 1 {
			if n, ok := args[0].(cos.Int); ok {
				p.text = int64(n)
			}
		}
	case "Tj", "TJ", "'", "\"":
		return fill && (p.text&3 == 0 || p.text&3 == 2) || stroke && (p.text&3 == 1 || p.text&3 == 2)
	case "f", "F", "f*":
		return fill
	case "S", "s":
		return stroke
	case "B", "B*", "b", "b*":
		return fill || stroke
	case "Do":
		was := p.wrong
		p.wrong = false
		return was
	}
	return false
}

// cmyk reports whether a colour space is one of an ICC profile of four components.
func (c *checker) cmyk(o cos.Object) bool {
	a := c.e.array(o)
	if len(a) != 2 || c.e.name(a[0]) != "ICCBased" {
		return false
	}
	s, ok := c.e.resolve(a[1]).(*stream)
	return ok && c.e.integer(s.dict.Get("N"), 0) == 4
}

// intents shows the profile of the output intent, and what several of them may not say.
func (c *checker) intents() {
	var profile cos.Ref
	differ := false
	for _, intent := range c.e.array(c.e.catalog().Get("OutputIntents")) {
		d := c.e.dict(intent)
		kind, r := c.e.name(d.Get("S")), refOf(d.Get("DestOutputProfile"))
		if kind == "GTS_PDFA1" {
			c.profile(r, true)
		}
		if d.Get("DestOutputProfile") != nil {
			differ = differ || !profile.IsZero() && profile != r
			profile = r
		}
		if d.Get("DestOutputProfileRef") != nil {
			c.j.ProfileElsewhere(c.e.root, kind == "GTS_PDFX")
		}
	}
	if differ {
		c.j.ProfilesDiffer(c.e.root)
	}
}

// optional shows the configurations of optional content (8.11.4.3).
func (c *checker) optional() {
	oc := c.e.dict(c.e.catalog().Get("OCProperties"))
	if oc == nil {
		return
	}
	var configs []cos.Dict
	groups, unordered := map[uint32]bool{}, false
	for _, g := range c.e.array(oc.Get("OCGs")) {
		groups[refOf(g).Num] = true
	}
	for _, o := range append(cos.Array{oc.Get("D")}, c.e.array(oc.Get("Configs"))...) {
		d := c.e.dict(o)
		if d == nil {
			continue
		}
		shown := cos.Dict{}
		for _, key := range [...]cos.Name{"Name", "AS"} {
			if v := c.e.resolve(d.Get(key)); v != nil {
				shown = append(shown, cos.E(key, v))
			}
		}
		configs = append(configs, shown)
		order := c.e.resolve(d.Get("Order"))
		if order == nil {
			continue
		}
		listed := map[uint32]bool{}
		var walk func(o cos.Object, depth int)
		walk = func(o cos.Object, depth int) {
			if r := refOf(o); groups[r.Num] {
				listed[r.Num] = true
				return
			}
			if depth > 32 {
				return
			}
			a := c.e.array(o)
			c.left -= len(a)
			for _, x := range a {
				if c.left < 0 {
					return
				}
				walk(x, depth+1)
			}
		}
		walk(order, 0)
		unordered = unordered || len(listed) < len(groups)
	}
	c.j.Optional(c.e.root, configs, unordered)
}

// halftone shows a halftone and those of its colorants.
func (c *checker) halftone(r cos.Ref, o cos.Object, colorant cos.Name) {
	d := c.e.dict(o)
	if d == nil {
		return // by its name
	}
	shown := cos.Dict{}
	for _, key := range [...]cos.Name{"HalftoneType", "HalftoneName", "TransferFunction"} {
		if v := c.e.resolve(d.Get(key)); v != nil {
			shown = append(shown, cos.E(key, v))
		}
	}
	c.j.Halftone(r, shown, colorant)
	if colorant != "" || shown.Get("HalftoneType") != cos.Object(cos.Int(5)) {
		return
	}
	for _, x := range d {
		if c.left--; c.left > 0 && x.Key != "Type" && c.e.dict(x.Value) != nil {
			c.halftone(r, x.Value, x.Key)
		}
	}
}

// colours shows what an array says that is a colour space: its profile, and its inks.
func (c *checker) colours(r cos.Ref, a cos.Array) {
	if len(a) < 2 {
		return
	}
	switch kind, _ := a[0].(cos.Name); kind {
	case "ICCBased":
		if len(a) == 2 {
			c.profile(refOf(a[1]), false)
		}
	case "Separation":
		n := c.e.name(a[1])
		if len(a) != 4 || n == "" {
			return
		}
		c.j.UTF8(r, n)
		left := 1 << 16
		h := sha256.New()
		c.fingerprint(h, cos.Array{a[2], a[3]}, 0, &left)
		c.left -= (1<<16 - left) / bytesOfOperator
		is := string(h.Sum(nil))
		if was, seen := c.inks[n]; seen && was != is {
			c.j.Ink(r, n)
		}
		c.inks[n] = is
	case "DeviceN":
		names := c.e.array(a[1])
		if len(a) < 4 || names == nil {
			return
		}
		var attributes cos.Dict
		if len(a) > 4 {
			attributes = c.e.dict(a[4])
		}
		told := c.e.dict(attributes.Get("Colorants"))
		components := c.e.array(c.e.dict(attributes.Get("Process")).Get("Components"))
		untold := cos.Name("")
		for _, o := range names[:min(len(names), 64)] {
			n := c.e.name(o)
			c.j.UTF8(r, n)
			switch n {
			case "Cyan", "Magenta", "Yellow", "Black", "None":
				continue
			}
			known := c.e.resolve(told.Get(n)) != nil
			for _, p := range components[:min(len(components), 64)] {
				known = known || c.e.name(p) == n
			}
			if !known && untold == "" {
				untold = n
			}
		}
		c.j.Inks(r, len(names), untold)
	}
}

// fingerprint writes an object with all that it refers to, streams by their data, so that two are
// the same when they say the same.
func (c *checker) fingerprint(w io.Writer, o cos.Object, depth int, left *int) {
	if *left--; *left < 0 || depth > 16 {
		return
	}
	switch v := c.e.resolve(o).(type) {
	case cos.Array:
		_, _ = fmt.Fprintf(w, "[%d ", len(v))
		for _, x := range v {
			c.fingerprint(w, x, depth+1, left)
		}
	case cos.Dict:
		c.fingerprintDict(w, v, depth, left)
	case *stream:
		c.fingerprintDict(w, v.dict, depth, left)
		data := c.e.data(o)
		*left -= len(data) / bytesOfOperator
		sum := sha256.Sum256(data)
		_, _ = w.Write(sum[:])
	case nil:
		_, _ = w.Write([]byte("null "))
	default:
		_, _ = w.Write(append(v.AppendPDF(nil), ' '))
	}
}

func (c *checker) fingerprintDict(w io.Writer, d cos.Dict, depth int, left *int) {
	inOrder := slices.SortedFunc(slices.Values(d), func(a, b cos.Entry) int { return strings.Compare(string(a.Key), string(b.Key)) })
	for _, x := range inOrder {
		switch x.Key {
		case "Length", "Filter", "DecodeParms":
			continue // how it is written
		}
		_, _ = w.Write(append(x.Key.AppendPDF(nil), ' '))
		c.fingerprint(w, x.Value, depth+1, left)
	}
	_, _ = w.Write([]byte(">>"))
}
