package edit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/content"
	"example.com/quire/pdf/internal/subsequence"
)

// pagePrint is what is compared of a page that is drawn.
type pagePrint struct {
	words      []TextWord
	marks      []drawing
	text       string              // all that is drawn, as text
	styled     string              // the same with what it looks like
	fonts      map[string][]string // digests of them, by their names without the tags of subsets
	unreadable bool
}

// drawing is a path, an image or a shading on a page.
type drawing struct {
	key  string // equal for those that look the same
	what string
	box  content.Rect
}

// note is an annotation.
type note struct {
	kind, text, hash string
	box              [4]float64
}

// digest is equal for pages that show the same.
func (p *pagePrint) digest() string {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%v\n%q\n%v\n%t\n", p.words, p.styled, p.fonts, p.unreadable)
	for _, m := range p.marks {
		_, _ = fmt.Fprintf(h, "%s\n", m.key)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// look reads a page, from 0.
func (s *side) look(ctx context.Context, n int) (*pagePrint, error) {
	p := &pagePrint{fonts: map[string][]string{}}
	broken := s.reader.src.broken
	t, err := s.reader.page(ctx, n, false)
	if err != nil {
		return nil, err
	}
	for _, l := range t.Lines {
		for _, w := range l.Words {
			p.words = append(p.words, TextWord{Text: w.Text, Box: rounded(w.Quad.Bounds()), Font: w.Font, Size: hundredth(w.Size)})
		}
	}
	for _, part := range s.reader.src.drawn(s.e.pages[n]) {
		l := looker{s: s, p: p, style: map[string]string{}}
		if err := s.reader.in.Run(ctx, part, content.Place(n+1), l.event); err != nil {
			return nil, err
		}
		l.flush()
	}
	p.unreadable = s.reader.src.broken > broken || s.reader.in.Skipped
	s.reader.in.Skipped = false
	s.fonts(s.e.pages[n].Dict.Get("Resources"), p.fonts, map[cos.Ref]bool{}, 0)
	return p, s.e.err
}

// notes reads the annotations of a page, from 0.
func (s *side) notes(n int) (out []note) {
	for _, o := range s.e.array(s.e.pages[n].Dict.Get("Annots")) {
		d := s.e.dict(o)
		a := note{kind: string(s.e.name(d.Get("Subtype"))), text: s.e.text(d.Get("Contents")), box: rounded(s.e.box(d.Get("Rect"), [4]float64{}))}
		if a.kind == "Widget" { // what it shows is text, and its value is that of a field
			d = cos.Dict{cos.E("Rect", d.Get("Rect")), cos.E("F", d.Get("F")), cos.E("A", d.Get("A")), cos.E("AA", d.Get("AA"))}
		}
		a.hash = s.hash(with(with(d, "M", nil), "NM", nil))
		out = append(out, a)
	}
	return out
}

// fonts notes the fonts of resources, and of the forms among them.
func (s *side) fonts(resources cos.Object, to map[string][]string, seen map[cos.Ref]bool, depth int) {
	d := s.e.dict(resources)
	if d == nil || depth > 8 {
		return
	}
	for _, f := range s.e.dict(d.Get("Font")) {
		font := s.e.dict(f.Value)
		name := string(s.e.name(font.Get("BaseFont")))
		if len(name) > 7 && name[6] == '+' { // the tag of a subset
			name = name[7:]
		}
		name = strings.ToValidUTF8(name, "?")
		to[name] = append(to[name], s.hash(f.Value)[:16])
		slices.Sort(to[name])
		to[name] = slices.Compact(to[name])
	}
	for _, x := range s.e.dict(d.Get("XObject")) {
		form := s.e.dict(x.Value)
		if r := refOf(x.Value); s.e.name(form.Get("Subtype")) == "Form" && !seen[r] {
			seen[r] = true
			s.fonts(form.Get("Resources"), to, seen, depth+1)
		}
	}
}

// looker notes what is drawn, and what it looks like.
type looker struct {
	s         *side
	p         *pagePrint
	style     map[string]string
	saved     []map[string]string
	path      strings.Builder // operators of the path that is made
	clip      bool
	last      string
	all, full strings.Builder
}

// styles are the operators that say what is drawn looks like, and which of them take each other's
// place.
var styles = map[string]string{
	"g": "fill", "rg": "fill", "k": "fill", "sc": "fill", "scn": "fill", "G": "line", "RG": "line", "K": "line", "SC": "line", "SCN": "line",
	"cs": "fill", "CS": "line", "w": "w", "J": "J", "j": "j", "M": "M", "d": "d", "i": "i", "ri": "ri", "gs": "gs",
}

func (l *looker) event(e *content.Event) error {
	switch e.Kind {
	case content.Operator:
		l.operator(e)
	case content.Show:
		l.show(e)
	case content.Paint:
		if l.clip {
			l.style["clip"] = l.digest(l.style["clip"], "clip", l.path.String(), e.Points)
			l.clip = false
		}
		if e.Op != "n" && len(e.Points) > 0 {
			keys := []string{"clip", "gs", "form"}
			if strings.ContainsAny(e.Op, "fFbB") {
				keys = append(keys, "fill")
			}
			if strings.ContainsAny(e.Op, "sSbB") {
				keys = append(keys, "line", "w", "J", "j", "M", "d")
			}
			l.mark("path", l.digest(e.Op, l.path.String(), e.Points, l.look(keys...)), e.Points)
		}
		l.path.Reset()
	case content.DrawImage:
		q := e.State.CTM.Quad(content.Rect{0, 0, 1, 1})
		what := l.s.hash(e.Image) + hex.EncodeToString(e.Inline)
		if e.Object != nil {
			what = l.s.hash(e.Object)
		}
		l.mark("image", l.digest(what, q[:], l.look("clip", "gs", "form", "fill")), q[:])
	case content.FormBegin:
		l.saved = append(l.saved, l.copied())
		l.style["form"] = l.digest(l.style["form"], l.s.hash(e.Form.Get("Group")), l.s.hash(e.Form.Get("OC")), l.s.hash(e.Form.Get("BBox")), l.s.hash(e.Form.Get("Matrix")), e.State.CTM)
	case content.FormEnd:
		l.restore()
	}
	return nil
}

func (l *looker) operator(e *content.Event) {
	switch e.Op {
	case "q":
		l.saved = append(l.saved, l.copied())
	case "Q":
		l.restore()
	case "m", "l", "c", "v", "y", "h", "re":
		l.path.WriteString(e.Op + " ")
	case "W", "W*":
		l.clip = true
		l.path.WriteString(e.Op + " ")
	case "sh":
		l.mark("shading", l.digest(l.resource(e, "Shading"), e.State.CTM, l.look("clip", "gs", "form")), nil)
	}
	to := styles[e.Op]
	if to == "" {
		return
	}
	v := e.Op + " " + string(cos.Array(e.Args).AppendPDF(nil))
	switch e.Op {
	case "gs":
		v = l.digest(l.style["gs"], l.resource(e, "ExtGState"))
	case "cs", "CS":
		v = e.Op + l.resource(e, "ColorSpace")
	case "sc", "scn", "SC", "SCN":
		space, _, _ := strings.Cut(l.style[to], " ")
		v = space + " " + v
		if n := len(e.Args); n > 0 {
			if _, ok := e.Args[n-1].(cos.Name); ok {
				v = space + " " + l.digest(string(cos.Array(e.Args[:n-1]).AppendPDF(nil)), l.resource(e, "Pattern"))
			}
		}
	}
	l.style[to] = v
}

// resource is what the last argument names.
func (l *looker) resource(e *content.Event, kind cos.Name) string {
	if len(e.Args) == 0 {
		return ""
	}
	n, _ := e.Args[len(e.Args)-1].(cos.Name)
	if o := l.s.e.dict(e.Resources.Get(kind)).Get(n); o != nil {
		return l.s.hash(o)
	}
	return string(n)
}

func (l *looker) copied() map[string]string {
	out := make(map[string]string, len(l.style))
	maps.Copy(out, l.style)
	return out
}

func (l *looker) restore() {
	if n := len(l.saved); n > 0 {
		l.style, l.saved = l.saved[n-1], l.saved[:n-1]
	}
}

// look is the state that matters.
func (l *looker) look(keys ...string) string {
	var b strings.Builder
	for _, k := range keys {
		b.WriteString(k + " " + l.style[k] + "\n")
	}
	return b.String()
}

// digest of values; places count to a hundredth of a point.
func (*looker) digest(values ...any) string {
	h := sha256.New()
	for _, v := range values {
		switch v := v.(type) {
		case []content.Point:
			for _, p := range v {
				_, _ = fmt.Fprintf(h, "%.2f %.2f ", p.X+0, p.Y+0)
			}
		case content.Matrix:
			for _, x := range v {
				_, _ = fmt.Fprintf(h, "%.3f ", x+0)
			}
		default:
			_, _ = fmt.Fprintf(h, "%v\n", v)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (l *looker) mark(what, key string, points []content.Point) {
	d := drawing{key: key, what: what}
	for i, p := range points {
		b := content.Rect{p.X, p.Y, p.X, p.Y}
		if i == 0 {
			d.box = b
		}
		d.box = d.box.Union(b)
	}
	l.p.marks = append(l.p.marks, d)
}

// show notes the look of text: colour, mode of rendering, clip.
func (l *looker) show(e *content.Event) {
	style := l.look("fill", "gs", "clip", "form") + strconv.FormatInt(e.State.Mode, 10)
	if e.State.Mode%4 == 1 || e.State.Mode%4 == 2 {
		style += l.look("line", "w")
	}
	if style != l.last {
		l.last = style
		l.full.WriteString("\x00" + style + "\x00")
	}
	for _, g := range e.Glyphs {
		s := strings.TrimSpace(g.Text)
		if !g.Known {
			s = fmt.Sprintf("\x01%x", g.Code)
		}
		l.all.WriteString(s)
		l.full.WriteString(s)
	}
}

func (l *looker) flush() {
	l.p.text += l.all.String()
	l.p.styled += l.full.String() + "\x02"
}

// each is what is compared of each of a list.
func each[T any](list []T, of func(T) string) []string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = of(x)
	}
	return out
}

// words compares text: what is another, and what stands elsewhere or in another font.
func (c *comparing) words(a, b []TextWord) {
	said := func(w TextWord) string { return w.Text }
	c.runs(subsequence.Common(each(a, said), each(b, said)), len(a), len(b), func(i, j [2]int) {
		was, is := phrase(a[i[0]:i[1]]), phrase(b[j[0]:j[1]])
		c.tell(Difference{Part: "text", Kind: kindOf(was.text, is.text), Before: was.text, After: is.text, Box: was.box, OtherBox: is.box})
	}, func(pairs [][2]int) {
		for len(pairs) > 0 {
			x, y := a[pairs[0][0]], b[pairs[0][1]]
			far, other := shift(x.Box, y.Box), x.Font != y.Font || x.Size != y.Size
			n := 1
			for ; n < len(pairs); n++ {
				v, w := a[pairs[n][0]], b[pairs[n][1]]
				if v.Font != x.Font || w.Font != y.Font || v.Size != x.Size || w.Size != y.Size || !other && !near(far, shift(v.Box, w.Box)) {
					break
				}
			}
			was, is := phrase(a[pairs[0][0]:pairs[n-1][0]+1]), phrase(b[pairs[0][1]:pairs[n-1][1]+1])
			if other {
				c.tell(Difference{Part: "text", Kind: "changed", Name: was.text, Before: fmt.Sprintf("%s %g", x.Font, x.Size), After: fmt.Sprintf("%s %g", y.Font, y.Size), Box: was.box, OtherBox: is.box})
			} else if !near(far, [4]float64{}) {
				c.tell(Difference{Part: "text", Kind: "moved", Name: was.text, Box: was.box, OtherBox: is.box})
			}
			pairs = pairs[n:]
		}
	})
}

func shift(a, b [4]float64) (d [4]float64) {
	for i := range d {
		d[i] = b[i] - a[i]
	}
	return d
}

// near says that two shifts are the same to readers.
func near(a, b [4]float64) bool {
	for i := range a {
		if math.Abs(a[i]-b[i]) > 0.05 {
			return false
		}
	}
	return true
}

// placed is text with its place.
type placed struct {
	text string
	box  *[4]float64
}

func phrase(words []TextWord) (p placed) {
	var list []string
	for i, w := range words {
		list = append(list, w.Text)
		if i == 0 {
			p.box = new(w.Box)
		}
		*p.box = content.Rect(*p.box).Union(w.Box)
	}
	p.text = strings.Join(list, " ")
	return p
}

// drawings compares paths, images and shadings, in the order in which they are drawn.
func (c *comparing) drawings(a, b []drawing) {
	key := func(d drawing) string { return d.key }
	c.runs(subsequence.Common(each(a, key), each(b, key)), len(a), len(b), func(i, j [2]int) {
		was, is := drawn(a[i[0]:i[1]]), drawn(b[j[0]:j[1]])
		c.tell(Difference{Part: "drawing", Kind: kindOf(was.text, is.text), Before: was.text, After: is.text, Box: was.box, OtherBox: is.box})
	}, nil)
}

// drawn counts what is drawn.
func drawn(list []drawing) (p placed) {
	count := map[string]int{}
	for i, d := range list {
		count[d.what]++
		if i == 0 {
			p.box = new([4]float64(d.box))
		}
		*p.box = rounded(content.Rect(*p.box).Union(d.box))
	}
	var parts []string
	for _, what := range [...]string{"path", "image", "shading"} {
		switch n := count[what]; n {
		case 0:
		case 1:
			parts = append(parts, "1 "+what)
		default:
			parts = append(parts, strconv.Itoa(n)+" "+what+"s")
		}
	}
	p.text = strings.Join(parts, ", ")
	return p
}

// fonts compares those of a page. What one is on many pages is told once.
func (c *comparing) fonts(a, b map[string][]string) {
	var sets [2]map[string]string
	for i, m := range [2]map[string][]string{a, b} {
		sets[i] = map[string]string{}
		for name, list := range m {
			sets[i]["font "+name] = "sha256:" + strings.Join(list, ", sha256:")
		}
	}
	for name, was := range sets[0] {
		if is, ok := sets[1][name]; ok && was != is {
			if key := name + was + is; c.told[key] {
				sets[1][name] = was
			} else {
				c.told[key] = true
			}
		}
	}
	c.mapped("resources", sets[0], sets[1])
}

// notes compares annotations.
func (c *comparing) notes(a, b []note) {
	hash := func(n note) string { return n.hash }
	one := func(kind string, was, is *note) {
		d := Difference{Part: "annotations", Kind: kind}
		if was != nil {
			d.Name, d.Before, d.Box = was.kind, was.text, &was.box
		}
		if is != nil {
			d.Name, d.After, d.OtherBox = is.kind, is.text, &is.box
		}
		c.tell(d)
	}
	c.runs(subsequence.Common(each(a, hash), each(b, hash)), len(a), len(b), func(i, j [2]int) {
		was, is := slices.Clone(a[i[0]:i[1]]), slices.Clone(b[j[0]:j[1]])
		for k := range was {
			at := slices.IndexFunc(is, func(n note) bool { return n.kind == was[k].kind })
			if at < 0 {
				one("removed", &was[k], nil)
				continue
			}
			one("changed", &was[k], new(is[at]))
			is = slices.Delete(is, at, at+1)
		}
		for k := range is {
			one("added", nil, &is[k])
		}
	}, nil)
}
