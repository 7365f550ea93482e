package svg

import (
	"math"
	"strings"
)

// color is an sRGB colour with its alpha, all from 0 to 1.
type color struct{ r, g, b, a float64 }

var black = color{a: 1}

// gray is what a colour counts in a mask (CSS Masking 1, 6.10.1; the coefficients of sRGB).
func (c color) gray() color {
	l := 0.2125*c.r + 0.7154*c.g + 0.0721*c.b
	return color{l, l, l, c.a}
}

// parseColor reads a colour (CSS Color 4, 6), but for currentColor.
func parseColor(v string) (color, bool) {
	v = strings.ToLower(strings.TrimSpace(v))
	switch {
	case v == "transparent":
		return color{}, true
	case strings.HasPrefix(v, "#"):
		return hexColor(v[1:])
	}
	if name, args, ok := strings.Cut(v, "("); ok {
		args, ok = strings.CutSuffix(strings.TrimSpace(args), ")")
		if !ok {
			return color{}, false
		}
		switch strings.TrimSpace(name) {
		case "rgb", "rgba":
			return rgbColor(args)
		case "hsl", "hsla":
			return hslColor(args)
		}
		return color{}, false
	}
	_, value, ok := strings.Cut(colorNames, " "+v+"=")
	if !ok {
		return color{}, false
	}
	return hexColor(value[:6])
}

func hexColor(s string) (color, bool) {
	var n [8]uint32
	if len(s) > 8 {
		return color{}, false
	}
	for i := range len(s) {
		d := strings.IndexByte("0123456789abcdef", s[i])
		if d < 0 {
			return color{}, false
		}
		n[i] = uint32(d) //nolint:gosec // G115: below 16
	}
	c := func(a, b uint32) float64 { return float64(n[a]*16+n[b]) / 255 }
	switch len(s) {
	case 3:
		return color{c(0, 0), c(1, 1), c(2, 2), 1}, true
	case 4:
		return color{c(0, 0), c(1, 1), c(2, 2), c(3, 3)}, true
	case 6:
		return color{c(0, 1), c(2, 3), c(4, 5), 1}, true
	case 8:
		return color{c(0, 1), c(2, 3), c(4, 5), c(6, 7)}, true
	}
	return color{}, false
}

// colorArguments reads those of a colour function: numbers and percentages between commas, spaces
// or a slash.
func colorArguments(s string) (v [4]float64, percent [4]bool, ok bool) {
	sc := &scanner{s: s}
	n := 0
	for sc.space(); !sc.end(); n++ {
		if n == 4 {
			return v, percent, false
		}
		x, ok := sc.number()
		if !ok {
			return v, percent, false
		}
		switch sc.word() {
		case "", "deg":
		case "%":
			percent[n] = true
		default:
			return v, percent, false
		}
		v[n] = x
		sc.comma()
		if n == 2 && !sc.end() && sc.s[sc.i] == '/' {
			sc.i++
		}
	}
	if n == 3 {
		v[3], n = 1, 4
	}
	if percent[3] {
		v[3] /= 100
	}
	v[3] = unit(v[3])
	return v, percent, n == 4
}

func unit(v float64) float64 { return min(max(v, 0), 1) }

func rgbColor(s string) (color, bool) {
	v, percent, ok := colorArguments(s)
	for i := range 3 {
		if percent[i] {
			v[i] = unit(v[i] / 100)
		} else {
			v[i] = unit(v[i] / 255)
		}
	}
	return color{v[0], v[1], v[2], v[3]}, ok
}

// hslColor is CSS Color 4, 7.1.
func hslColor(s string) (color, bool) {
	v, percent, ok := colorArguments(s)
	ok = ok && percent[1] && percent[2]
	h := math.Mod(math.Mod(v[0], 360)+360, 360) / 30
	sat, light := unit(v[1]/100), unit(v[2]/100)
	part := func(n float64) float64 {
		k := math.Mod(n+h, 12)
		return light - sat*min(light, 1-light)*max(-1, min(k-3, 9-k, 1))
	}
	return color{part(0), part(8), part(4), v[3]}, ok
}

// colorNames are the named colours (CSS Color 4, 6.1), each behind a space.
const colorNames = " aliceblue=f0f8ff antiquewhite=faebd7 aqua=00ffff aquamarine=7fffd4 azure=f0ffff beige=f5f5dc " +
	"bisque=ffe4c4 black=000000 blanchedalmond=ffebcd blue=0000ff blueviolet=8a2be2 brown=a52a2a " +
	"burlywood=deb887 cadetblue=5f9ea0 chartreuse=7fff00 chocolate=d2691e coral=ff7f50 " +
	"cornflowerblue=6495ed cornsilk=fff8dc crimson=dc143c cyan=00ffff darkblue=00008b " +
	"darkcyan=008b8b darkgoldenrod=b8860b darkgray=a9a9a9 darkgreen=006400 darkgrey=a9a9a9 " +
	"darkkhaki=bdb76b darkmagenta=8b008b darkolivegreen=556b2f darkorange=ff8c00 " +
	"darkorchid=9932cc darkred=8b0000 darksalmon=e9967a darkseagreen=8fbc8f darkslateblue=483d8b " +
	"darkslategray=2f4f4f darkslategrey=2f4f4f darkturquoise=00ced1 darkviolet=9400d3 " +
	"deeppink=ff1493 deepskyblue=00bfff dimgray=696969 dimgrey=696969 dodgerblue=1e90ff " +
	"firebrick=b22222 floralwhite=fffaf0 forestgreen=228b22 fuchsia=ff00ff gainsboro=dcdcdc " +
	"ghostwhite=f8f8ff gold=ffd700 goldenrod=daa520 gray=808080 green=008000 greenyellow=adff2f " +
	"grey=808080 honeydew=f0fff0 hotpink=ff69b4 indianred=cd5c5c indigo=4b0082 ivory=fffff0 " +
	"khaki=f0e68c lavender=e6e6fa lavenderblush=fff0f5 lawngreen=7cfc00 lemonchiffon=fffacd " +
	"lightblue=add8e6 lightcoral=f08080 lightcyan=e0ffff lightgoldenrodyellow=fafad2 " +
	"lightgray=d3d3d3 lightgreen=90ee90 lightgrey=d3d3d3 lightpink=ffb6c1 lightsalmon=ffa07a " +
	"lightseagreen=20b2aa lightskyblue=87cefa lightslategray=778899 lightslategrey=778899 " +
	"lightsteelblue=b0c4de lightyellow=ffffe0 lime=00ff00 limegreen=32cd32 linen=faf0e6 " +
	"magenta=ff00ff maroon=800000 mediumaquamarine=66cdaa mediumblue=0000cd mediumorchid=ba55d3 " +
	"mediumpurple=9370db mediumseagreen=3cb371 mediumslateblue=7b68ee mediumspringgreen=00fa9a " +
	"mediumturquoise=48d1cc mediumvioletred=c71585 midnightblue=191970 mintcream=f5fffa " +
	"mistyrose=ffe4e1 moccasin=ffe4b5 navajowhite=ffdead navy=000080 oldlace=fdf5e6 olive=808000 " +
	"olivedrab=6b8e23 orange=ffa500 orangered=ff4500 orchid=da70d6 palegoldenrod=eee8aa " +
	"palegreen=98fb98 paleturquoise=afeeee palevioletred=db7093 papayawhip=ffefd5 " +
	"peachpuff=ffdab9 peru=cd853f pink=ffc0cb plum=dda0dd powderblue=b0e0e6 purple=800080 " +
	"rebeccapurple=663399 red=ff0000 rosybrown=bc8f8f royalblue=4169e1 saddlebrown=8b4513 " +
	"salmon=fa8072 sandybrown=f4a460 seagreen=2e8b57 seashell=fff5ee sienna=a0522d silver=c0c0c0 " +
	"skyblue=87ceeb slateblue=6a5acd slategray=708090 slategrey=708090 snow=fffafa " +
	"springgreen=00ff7f steelblue=4682b4 tan=d2b48c teal=008080 thistle=d8bfd8 tomato=ff6347 " +
	"turquoise=40e0d0 violet=ee82ee wheat=f5deb3 white=ffffff whitesmoke=f5f5f5 yellow=ffff00 " +
	"yellowgreen=9acd32 "
