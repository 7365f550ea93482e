package svg

import (
	"slices"
	"strconv"
	"strings"

	"example.com/quire/pdf/internal/diag"
)

// paintKind says what a fill or a stroke is painted with.
type paintKind uint8

const (
	paintNone paintKind = iota
	paintColor
	paintCurrent // the colour of the property color
	paintRef     // a gradient, and if there is none the fallback
)

type paint struct {
	kind     paintKind
	color    color
	ref      string
	fallback *paint
}

// style is the computed style of an element.
type style struct {
	// inherited
	color                      color
	fill, stroke               paint
	fillOpacity, strokeOpacity float64
	evenOdd, clipEvenOdd       bool
	width                      length
	cap, join                  int // as operators J and j take them
	miter                      float64
	dash                       []length
	dashOffset                 length
	hidden                     bool
	strokeFirst                bool // paint-order
	family                     string
	size                       float64 // in user units
	weight                     int
	italic                     bool
	anchor                     string
	baseline                   string // dominant-baseline
	preserve                   bool   // xml:space

	// not inherited
	none        bool // display
	opacity     float64
	clip, mask  string
	blend       string
	isolate     bool
	overflow    bool // visible
	nonScaling  bool // vector-effect
	alphaMask   bool // mask-type
	decoration  string
	shift       string // baseline-shift
	stopColor   paint
	stopOpacity float64
	unseen      []string // properties that change what is seen and are not drawn
}

func rootStyle() *style {
	s := &style{
		color: black, fill: paint{kind: paintColor, color: black}, fillOpacity: 1, strokeOpacity: 1,
		width: length{v: 1}, miter: 4, size: 16, weight: 400, anchor: "start",
	}
	s.reset()
	return s
}

// reset sets what is not inherited.
func (s *style) reset() {
	s.none, s.opacity, s.clip, s.mask, s.blend, s.isolate, s.overflow = false, 1, "", "", "", false, false
	s.nonScaling, s.alphaMask, s.decoration, s.shift, s.unseen = false, false, "", "", nil
	s.stopColor, s.stopOpacity = paint{kind: paintColor, color: black}, 1
}

// declared returns what an element says of its style, what wins last: attributes, rules, the
// attribute style, and again those that are important (SVG 1.1, 6.4).
func (d *drawer) declared(n *node) []declaration {
	if out, ok := d.decls[n]; ok {
		return out
	}
	var out, late []declaration
	for _, a := range n.attrs {
		if _, ok := properties[a.name]; ok {
			out = append(out, declaration{name: a.name, value: strings.TrimSpace(a.value)})
		}
	}
	take := func(list []declaration) {
		for _, decl := range list {
			if decl.important {
				late = append(late, decl)
			} else {
				out = append(out, decl)
			}
		}
	}
	for _, i := range d.f.candidates(n) {
		if d.matches(d.f.rules[i].parts, n) {
			take(d.f.rules[i].decls)
		}
	}
	take(declarations(n.get("style")))
	out = append(out, late...)
	d.decls[n] = out
	return out
}

// cascade returns the style of n below an element of style parent.
func (d *drawer) cascade(parent *style, n *node) *style {
	s := *parent
	s.reset()
	if v := n.get("xml:space"); v != "" {
		s.preserve = v == "preserve"
	}
	list := d.declared(n)
	// Lengths and colours of the others are reckoned from these two.
	for _, first := range []string{"font", "font-size", "color"} {
		for _, decl := range list {
			if decl.name == first {
				d.apply(&s, parent, n, decl)
			}
		}
	}
	for _, decl := range list {
		if decl.name != "font" && decl.name != "font-size" && decl.name != "color" {
			d.apply(&s, parent, n, decl)
		}
	}
	return &s
}

// property sets a property from its value; false: the value is not understood.
type property func(d *drawer, s *style, v string) bool

// apply sets what a declaration says.
func (d *drawer) apply(s, parent *style, n *node, decl declaration) {
	set, known := properties[decl.name]
	switch {
	case !known:
		if !strings.HasPrefix(decl.name, "-") && !slices.Contains(harmless, decl.name) {
			d.told(n, "the property %s is not known here", diag.Quote(decl.name))
		}
	case decl.value == "inherit":
		copyProperty(s, parent, decl.name)
	case !set(d, s, decl.value):
		d.told(n, "%s: %s is not understood", decl.name, diag.Quote(decl.value))
	}
}

// copyProperty takes over a property that is not inherited by itself.
func copyProperty(s, parent *style, name string) {
	switch name {
	case "opacity":
		s.opacity = parent.opacity
	case "clip-path":
		s.clip = parent.clip
	case "mask":
		s.mask = parent.mask
	case "stop-color":
		s.stopColor = parent.stopColor
	case "stop-opacity":
		s.stopOpacity = parent.stopOpacity
	}
}

// harmless are properties that change nothing on paper, or only for elements that are told by name.
var harmless = []string{
	"cursor", "pointer-events", "shape-rendering", "text-rendering", "image-rendering", "color-rendering", "transition",
	"will-change", "enable-background", "user-select", "line-height", "animation", "touch-action", "solid-color", "solid-opacity",
	"color-profile", "backface-visibility", "margin", "padding", "text-align", "background", "background-color", "outline", "border",
}

func choose[T any](to *T, v string, values map[string]T) bool {
	x, ok := values[v]
	if ok {
		*to = x
	}
	return ok
}

func opacityOf(to *float64, v string) bool {
	sc := &scanner{s: v}
	x, ok := sc.number()
	switch sc.word() {
	case "":
	case "%":
		x /= 100
	default:
		return false
	}
	if ok {
		*to = unit(x)
	}
	return ok
}

// funcRef reads url(#id), or none.
func funcRef(to *string, v string) bool {
	if v == "none" {
		*to = ""
		return true
	}
	ref, rest, ok := refOf(v)
	if !ok || rest != "" {
		return false
	}
	*to = ref
	return true
}

// refOf cuts url(#id) from the front of a value.
func refOf(v string) (id, rest string, ok bool) {
	before, after, found := cutURL(v)
	if !found || strings.TrimSpace(before) != "" {
		return "", v, false
	}
	id, rest, ok = strings.Cut(after, ")")
	id, hash := strings.CutPrefix(strings.Trim(id, " \t\r\n\"'"), "#")
	return id, strings.TrimSpace(rest), ok && hash
}

func paintOf(to *paint, v string) bool {
	switch {
	case v == "none":
		*to = paint{}
		return true
	case strings.EqualFold(v, "currentColor"):
		*to = paint{kind: paintCurrent}
		return true
	}
	if id, rest, ok := refOf(v); ok {
		p := paint{kind: paintRef, ref: id}
		if rest != "" {
			p.fallback = &paint{}
			if !paintOf(p.fallback, rest) || p.fallback.kind == paintRef {
				return false
			}
		}
		*to = p
		return true
	}
	c, ok := parseColor(v)
	if ok {
		*to = paint{kind: paintColor, color: c}
	}
	return ok
}

func lengthOf(to *length, v string) bool {
	l, ok := parseLength(v)
	if ok {
		*to = l
	}
	return ok
}

// word returns a property whose values are words.
func word[T any](in func(*style) *T, values map[string]T) property {
	return func(_ *drawer, s *style, v string) bool { return choose(in(s), v, values) }
}

// not returns a property of which only values that change nothing are drawn.
func not(name string, values ...string) property {
	return func(_ *drawer, s *style, v string) bool {
		if !slices.Contains(values, v) {
			s.unseen = append(s.unseen, name+": "+v)
		}
		return true
	}
}

// properties are those of SVG 1.1, table of section 6.1, that a drawing can have.
var properties = map[string]property{
	"color": func(_ *drawer, s *style, v string) bool {
		c, ok := parseColor(v)
		if ok {
			s.color = c
		}
		return ok || strings.EqualFold(v, "currentColor")
	},
	"fill":            func(_ *drawer, s *style, v string) bool { return paintOf(&s.fill, v) },
	"stroke":          func(_ *drawer, s *style, v string) bool { return paintOf(&s.stroke, v) },
	"fill-opacity":    func(_ *drawer, s *style, v string) bool { return opacityOf(&s.fillOpacity, v) },
	"stroke-opacity":  func(_ *drawer, s *style, v string) bool { return opacityOf(&s.strokeOpacity, v) },
	"opacity":         func(_ *drawer, s *style, v string) bool { return opacityOf(&s.opacity, v) },
	"fill-rule":       word(func(s *style) *bool { return &s.evenOdd }, map[string]bool{"nonzero": false, "evenodd": true}),
	"clip-rule":       word(func(s *style) *bool { return &s.clipEvenOdd }, map[string]bool{"nonzero": false, "evenodd": true}),
	"stroke-width":    func(_ *drawer, s *style, v string) bool { return lengthOf(&s.width, v) },
	"stroke-linecap":  word(func(s *style) *int { return &s.cap }, map[string]int{"butt": 0, "round": 1, "square": 2}),
	"stroke-linejoin": word(func(s *style) *int { return &s.join }, map[string]int{"miter": 0, "round": 1, "bevel": 2}),
	"stroke-miterlimit": func(_ *drawer, s *style, v string) bool {
		m, err := strconv.ParseFloat(v, 64)
		if err != nil || !(m >= 1) { // not a number too
			return false
		}
		s.miter = min(m, 1e4)
		return true
	},
	"stroke-dasharray": func(_ *drawer, s *style, v string) bool {
		if v == "none" {
			s.dash = nil
			return true
		}
		list, ok := parseLengths(v)
		if ok {
			s.dash = list
		}
		return ok
	},
	"stroke-dashoffset": func(_ *drawer, s *style, v string) bool { return lengthOf(&s.dashOffset, v) },
	"visibility":        word(func(s *style) *bool { return &s.hidden }, map[string]bool{"visible": false, "hidden": true, "collapse": true}),
	"display": func(_ *drawer, s *style, v string) bool {
		s.none = v == "none"
		return true
	},
	"clip-path":      func(_ *drawer, s *style, v string) bool { return funcRef(&s.clip, v) },
	"mask":           func(_ *drawer, s *style, v string) bool { return funcRef(&s.mask, v) },
	"mask-type":      word(func(s *style) *bool { return &s.alphaMask }, map[string]bool{"luminance": false, "alpha": true}),
	"overflow":       word(func(s *style) *bool { return &s.overflow }, map[string]bool{"visible": true, "auto": true, "hidden": false, "scroll": false}),
	"mix-blend-mode": word(func(s *style) *string { return &s.blend }, blendModes),
	"isolation":      word(func(s *style) *bool { return &s.isolate }, map[string]bool{"auto": false, "isolate": true}),
	"vector-effect":  word(func(s *style) *bool { return &s.nonScaling }, map[string]bool{"none": false, "non-scaling-stroke": true}),
	"paint-order": func(_ *drawer, s *style, v string) bool {
		words := strings.Fields(v)
		s.strokeFirst = slices.Contains(words, "stroke") && (words[0] == "stroke" || words[0] == "markers" && words[1] == "stroke")
		return true
	},
	"stop-color": func(_ *drawer, s *style, v string) bool {
		return paintOf(&s.stopColor, v) && s.stopColor.kind != paintRef
	},
	"stop-opacity": func(_ *drawer, s *style, v string) bool { return opacityOf(&s.stopOpacity, v) },

	"font-family":        func(_ *drawer, s *style, v string) bool { s.family = v; return true },
	"font-size":          setFontSize,
	"font-weight":        setFontWeight,
	"font-style":         word(func(s *style) *bool { return &s.italic }, map[string]bool{"normal": false, "italic": true, "oblique": true}),
	"font":               setFont,
	"text-anchor":        word(func(s *style) *string { return &s.anchor }, map[string]string{"start": "start", "middle": "middle", "end": "end"}),
	"dominant-baseline":  func(_ *drawer, s *style, v string) bool { s.baseline = v; return slices.Contains(baselines, v) },
	"alignment-baseline": func(_ *drawer, s *style, v string) bool { s.baseline = v; return slices.Contains(baselines, v) },
	"baseline-shift":     func(_ *drawer, s *style, v string) bool { s.shift = v; return true },
	"text-decoration":    func(_ *drawer, s *style, v string) bool { s.decoration = v; return true },
	"white-space":        word(func(s *style) *bool { return &s.preserve }, map[string]bool{"normal": false, "nowrap": false, "pre": true, "pre-wrap": true}),

	"filter":              not("filter", "none"),
	"letter-spacing":      not("letter-spacing", "normal", "0", "0px"),
	"word-spacing":        not("word-spacing", "normal", "0", "0px"),
	"writing-mode":        not("writing-mode", "lr-tb", "lr", "horizontal-tb"),
	"direction":           not("direction", "ltr"),
	"unicode-bidi":        not("unicode-bidi", "normal", "embed"),
	"font-variant":        not("font-variant", "normal"),
	"font-stretch":        not("font-stretch", "normal", "100%"),
	"font-kerning":        not("font-kerning", "auto", "normal"),
	"text-transform":      not("text-transform", "none"),
	"text-overflow":       not("text-overflow", "clip"),
	"color-interpolation": not("color-interpolation", "sRGB", "auto"),
	"marker":              not("marker", "none"),
	"marker-start":        not("marker-start", "none"),
	"marker-mid":          not("marker-mid", "none"),
	"marker-end":          not("marker-end", "none"),
	"transform-origin":    not("transform-origin", "0 0", "0px 0px"),
	"transform-box":       not("transform-box", "view-box"),
	"clip":                not("clip", "auto"),

	"color-interpolation-filters": func(*drawer, *style, string) bool { return true },
	"flood-color":                 func(*drawer, *style, string) bool { return true },
	"flood-opacity":               func(*drawer, *style, string) bool { return true },
	"lighting-color":              func(*drawer, *style, string) bool { return true },
}

var baselines = []string{"auto", "baseline", "alphabetic", "middle", "central", "hanging", "text-before-edge", "before-edge", "text-after-edge", "after-edge", "ideographic", "mathematical"}

// blendModes are those of CSS in the words of ISO 32000-2, 11.3.5.
var blendModes = map[string]string{
	"normal": "", "multiply": "Multiply", "screen": "Screen", "overlay": "Overlay", "darken": "Darken",
	"lighten": "Lighten", "color-dodge": "ColorDodge", "color-burn": "ColorBurn", "hard-light": "HardLight",
	"soft-light": "SoftLight", "difference": "Difference", "exclusion": "Exclusion", "hue": "Hue",
	"saturation": "Saturation", "color": "Color", "luminosity": "Luminosity",
}

// fontSizes are the keywords of font-size, in pixels.
var fontSizes = map[string]float64{
	"xx-small": 9, "x-small": 10, "small": 13, "medium": 16, "large": 18, "x-large": 24, "xx-large": 32,
}

func setFontSize(_ *drawer, s *style, v string) bool {
	if px, ok := fontSizes[v]; ok {
		s.size = px
		return true
	}
	switch v {
	case "smaller":
		s.size /= 1.2
		return true
	case "larger":
		s.size *= 1.2
		return true
	}
	l, ok := parseLength(v)
	if !ok || l.v < 0 {
		return false
	}
	if s.size = l.in(s.size, s.size); l.unit == "rem" {
		s.size = l.v * 16
	}
	return true
}

func setFontWeight(_ *drawer, s *style, v string) bool {
	switch v {
	case "normal":
		s.weight = 400
	case "bold":
		s.weight = 700
	case "bolder":
		s.weight = min(s.weight+300, 900)
	case "lighter":
		s.weight = max(s.weight-300, 100)
	default:
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > 1000 {
			return false
		}
		s.weight = n
	}
	return true
}

// setFont reads the shorthand: [style weight ...] size[/leading] family.
func setFont(d *drawer, s *style, v string) bool {
	s.weight, s.italic = 400, false
	for {
		word, rest, _ := strings.Cut(strings.TrimSpace(v), " ")
		if rest == "" {
			return false
		}
		size, _, _ := strings.Cut(word, "/")
		switch {
		case word == "italic" || word == "oblique":
			s.italic = true
		case word == "normal" || word == "small-caps":
		case strings.ContainsAny(size, "%abcdefghijklmnopqrstuvwxyz") && setFontSize(d, s, size):
			s.family = strings.TrimSpace(rest)
			return true
		case !setFontWeight(d, s, word):
			return false
		}
		v = rest
	}
}
