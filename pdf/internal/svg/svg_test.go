package svg_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/svg"
	"example.com/quire/pdf/internal/text"
	"example.com/quire/pdf/internal/text/gotext"
)

func typesetter() *text.Typesetter {
	return text.NewTypesetter(liberation.New(), &gotext.Shaper{Proven: liberation.Embedded}, &gotext.Segmenter{}, 1<<20)
}

// draw reads and draws a file. The setter stays open until the test ends.
func draw(tb testing.TB, data string, l diag.Limits) (*svg.Drawing, error) {
	tb.Helper()
	f, err := svg.Read([]byte(data), l)
	if err != nil {
		return nil, err
	}
	set := typesetter()
	s := text.NewSetter(tb.Context(), set)
	tb.Cleanup(s.Close)
	return f.Draw(svg.Fonts{Typesetter: set, Setter: s})
}

// wrap makes a file of 100 by 100 pixels of its content: 10 units of a form are one pixel.
func wrap(content string) string {
	return `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="100" height="100">` + content + `</svg>`
}

// code is the operators of a form and of those in it.
func code(f *svg.Form) string {
	var b strings.Builder
	for _, op := range f.Ops {
		b.Write(op.Code)
		if op.Text != nil {
			for _, it := range op.Text.Items {
				b.WriteString("(" + it.Part.Text + ")")
			}
		}
	}
	for _, in := range f.Forms {
		b.WriteString("{" + code(in) + "}")
	}
	for _, s := range f.States {
		if s.Mask != nil {
			b.WriteString("[" + code(s.Mask) + "]")
		}
	}
	return b.String()
}

func TestOperators(t *testing.T) {
	for _, c := range []struct{ name, content, want string }{
		{"a filled rectangle", `<rect x="10" y="20" width="30" height="40"/>`, "0 0 0 rg\n100 800 m\n400 800 l\n400 400 l\n100 400 l\nh\nf\n"},
		{"a stroke", `<path d="M0 0H10" stroke="red" stroke-width="2" fill="none"/>`, "1 0 0 RG\n20 w 0 J 0 j 4 M [] 0 d\n0 1000 m\n100 1000 l\nS\n"},
		{"what is set already is not set again", `<g fill="blue"><path d="M0 0H9"/><path d="M0 9H9"/></g>`, "0 0 1 rg\n0 1000 m\n90 1000 l\nf\n0 910 m\n90 910 l\nf\n"},
		{
			"a pen that is not as wide as high", `<g transform="scale(2 1)"><path d="M0 0H10" stroke="red" fill="none"/></g>`,
			"1 0 0 RG\nq\n20 0 0 -10 0 1000 cm\n1 w 0 J 0 j 4 M [] 0 d\n0 0 m\n10 0 l\nS\nQ\n",
		},
		{
			"a stroke that does not scale", `<g transform="scale(2 1)"><path d="M0 0H10" stroke="red" fill="none" vector-effect="non-scaling-stroke"/></g>`,
			"1 0 0 RG\n10 w 0 J 0 j 4 M [] 0 d\n0 1000 m\n200 1000 l\nS\n",
		},
		{"text stays text", `<text x="10" y="20" font-size="10">Hi &amp; you</text>`, "q\n0 0 0 rg\n1 0 0 1 100 800 cm\n(Hi)( )(&)( )(you)Q\n"},
		{"a clip path", `<clipPath id="c"><path d="M0 0H9V9z"/></clipPath><rect width="9" height="9" clip-path="url(#c)"/>`, "q\n0 1000 m\n90 1000 l\n90 910 l\nh\nW n\n0 0 0 rg\n0 1000 m\n90 1000 l\n90 910 l\n0 910 l\nh\nf\nQ\n"},
		{"opacity of a single paint needs no group", `<path d="M0 0H9V9z" opacity=".5"/>`, "q\n/S0 gs\n0 0 0 rg\n0 1000 m\n90 1000 l\n90 910 l\nh\nf\nQ\n"},
		{"what is not seen", `<rect width="9" height="9" fill="none"/><g display="none"><circle r="9"/></g><g opacity="0"><circle r="9"/></g>`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := draw(t, wrap(c.content), diag.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if got := code(d.Form); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if len(d.Warnings) > 0 {
				t.Errorf("warnings %v", d.Warnings)
			}
		})
	}
}

func TestSizes(t *testing.T) {
	for attrs, want := range map[string][2]float64{
		`width="30" height="20"`:                               {30, 20},
		`width="1in" height="72pt"`:                            {96, 96},
		`width="25.4mm" height="2.54cm" viewBox="0 0 9 9"`:     {96, 96},
		`viewBox="1 2 30 40"`:                                  {30, 40},
		`width="100%" height="100%" viewBox="1 2 30 40"`:       {30, 40},
		`width="60" viewBox="0 0 30 40"`:                       {60, 80},
		`height="20" viewBox="0 0 30 40"`:                      {15, 20},
		``:                                                     {300, 150},
		`width="10" height="20" viewBox="0 0 0 0"`:             {10, 20},
		`width="1e300" height="1" preserveAspectRatio="xMidZ"`: {1e6, 1},
	} {
		d, err := draw(t, `<svg xmlns="http://www.w3.org/2000/svg" `+attrs+`/>`, diag.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(d.Width-want[0]) > 1e-9 || math.Abs(d.Height-want[1]) > 1e-9 {
			t.Errorf("%s: %v by %v, want %v", attrs, d.Width, d.Height, want)
		}
	}
}

// TestWhatIsNotDrawnIsTold names the element or property, and its place.
func TestWhatIsNotDrawnIsTold(t *testing.T) {
	for content, want := range map[string]string{
		`<image href="data:image/png;base64,AAAA"/>`:                                   "the element image is not drawn",
		`<foreignObject><p xmlns="http://www.w3.org/1999/xhtml">x</p></foreignObject>`: "the element foreignObject is not drawn",
		`<rect width="9" height="9"><animate attributeName="x"/></rect>`:               "",
		`<animate attributeName="x"/>`:                                                 "the element animate is not drawn",
		`<pattern id="p"/><rect width="9" height="9" fill="url(#p)"/>`:                 "the element pattern is not painted with",
		`<filter id="f"/><rect width="9" height="9" filter="url(#f)"/>`:                "filter: url(#f) on rect is not drawn",
		`<marker id="m"/><path d="M0 0H9" stroke="red" marker-end="url(#m)"/>`:         "marker-end: url(#m) on path is not drawn",
		`<text>a<textPath>b</textPath></text>`:                                         "the element textPath is not drawn",
		`<text letter-spacing="2">ab</text>`:                                           "letter-spacing: 2 on text is not drawn",
		`<text rotate="20">ab</text>`:                                                  "rotate of text is not drawn",
		`<rect width="9" height="9" style="geometry:none"/>`:                           `the property "geometry" is not known here`,
		`<rect width="nine" height="9"/>`:                                              `width: "nine" is not understood`,
		`<rect width="9" height="9" fill="greenish"/>`:                                 `fill: "greenish" is not understood`,
		`<path d="M0 0L9 9 Q"/>`:                                                       "the data of a path are not understood to their end",
		`<polygon points="1 2 3"/>`:                                                    "points of polygon are not understood to their end",
		`<g transform="turn(3)"/>`:                                                     `transform: "turn(3)" is not understood`,
		`<use href="#nowhere"/>`:                                                       `use refers to "#nowhere", which is not in the file`,
		`<g id="a"><use href="#a"/></g>`:                                               `use of "#a" leads back to itself`,
		`<rect width="9" height="9" clip-path="url(#x)"/>`:                             `clip-path of rect: there is no clipPath "x"`,
		`<clipPath id="x" clip-path="url(#x)"><rect width="9" height="9"/></clipPath><rect width="9" height="9" clip-path="url(#x)"/>`: `clipPath "x" leads back to itself`,
		`<mask id="x" mask="url(#x)"><rect width="9" height="9"/></mask><rect width="9" height="9" mask="url(#x)"/>`:                   `mask "x" leads back to itself`,
		`<clipPath id="x"><text>a</text></clipPath><rect width="9" height="9" clip-path="url(#x)"/>`:                                   "the element text in a clipPath does not clip",
		`<mask id="x"><text>a</text></mask><rect width="9" height="9" mask="url(#x)"/>`:                                                "text in a mask does not count",
		`<linearGradient id="a" href="#b"/><linearGradient id="b" href="#a"/><rect width="9" height="9" fill="url(#a)"/>`:              "linearGradient leads back to itself",
		`<style>rect:hover{fill:red}</style>`:          `the style selector "rect:hover" is not read`,
		`<style>@media screen{rect{fill:red}}</style>`: `the style rule "@media screen" is not read`,
		`<text font-family="Nowhere">a</text>`:         `there is no font family "Nowhere"; the first family of the library is used`,
	} {
		d, err := draw(t, wrap("\n  "+content), diag.Limits{})
		if err != nil {
			t.Errorf("%s: %v", content, err)
			continue
		}
		if want == "" {
			if len(d.Warnings) > 0 {
				t.Errorf("%s: %v", content, d.Warnings)
			}
			continue
		}
		if len(d.Warnings) != 1 || d.Warnings[0].Message != want || d.Warnings[0].Line != 2 || d.Warnings[0].Col < 3 {
			t.Errorf("%s\ntold %+v\nwant %s", content, d.Warnings, want)
		}
	}
}

// hostile are files that are refused, with what is said.
var hostile = map[string]string{
	wrap("\n<script>alert(1)</script>"):                                                      "2:1: a script",
	wrap(`<rect onclick="alert(1)"/>`):                                                       "1:109: the script in onclick of rect",
	wrap(`<a href=" JavaScript:alert(1)"><rect/></a>`):                                       "1:109: the script in href of a",
	wrap(`<image href="https://example.com/a.png"/>`):                                        `1:109: image refers to "https://example.com/a.png" outside of the file`,
	wrap(`<image xlink:href="file:///etc/passwd"/>`):                                         `1:109: image refers to "file:///etc/passwd" outside of the file`,
	wrap(`<use href="other.svg#a"/>`):                                                        `1:109: use refers to "other.svg#a" outside of the file`,
	wrap(`<defs><feImage href="//example.com/a"/></defs>`):                                   `1:115: feImage refers to "//example.com/a" outside of the file`,
	wrap(`<rect fill="url(https://example.com/#g)"/>`):                                       `1:109: fill of rect refers to "https://example.com/#g" outside of the file`,
	wrap(`<rect style="fill: URL( 'x.svg#g' )"/>`):                                           `1:109: style of rect refers to "x.svg#g" outside of the file`,
	wrap(`<style>@import "https://example.com/a.css";</style>`):                              `1:109: the style sheet refers to "https://example.com/a.css" outside of the file`,
	wrap(`<style>@font-face{src:url(a.ttf)}</style>`):                                        `1:109: the style sheet refers to "a.ttf" outside of the file`,
	wrap(`<g xml:base="https://example.com/"/>`):                                             "1:109: xml:base on g",
	`<!DOCTYPE svg [<!ENTITY a "aaaa">]>` + wrap(`<text>&a;</text>`):                         "1:1: a document type definition (<!DOCTYPE)",
	`<!DOCTYPE svg SYSTEM "http://example.com/x.dtd">` + wrap(``):                            "1:1: a document type definition (<!DOCTYPE)",
	`<?xml-stylesheet href="a.css"?>` + wrap(``):                                             `1:1: the processing instruction "xml-stylesheet"`,
	wrap(`<text>&lol;</text>`):                                                               "1:120: invalid character entity &lol;",
	`<?xml version="1.0"?><!-- x --><svg xmlns="http://www.w3.org/2000/svg"><script/></svg>`: "1:72: a script",
}

func TestWhatReachesOutIsRefused(t *testing.T) {
	for data, want := range hostile {
		_, err := svg.Read([]byte(data), diag.Limits{})
		fault, ok := errors.AsType[*svg.Error](err)
		if !ok || !fault.Refused || fault.Error() != want {
			t.Errorf("%s\ngot  %v\nwant %s", data, err, want)
		}
	}
}

func TestBrokenFiles(t *testing.T) {
	for data, want := range map[string]string{
		``:                         "1:1: no svg element",
		`<svg`:                     "1:5: unexpected EOF",
		`<svg/>`:                   "1:1: the svg element is not in its namespace",
		`<html/>`:                  `1:1: the root element is "html", not svg`,
		wrap(`<g>`):                "1:118: element <g> closed by </svg>",
		wrap(``) + `<svg/>`:        "1:115: a second root element",
		wrap(``) + `x`:             "1:115: text outside of the svg element",
		wrap(`<g id="a" id="b"/>`): `1:109: g has the attribute "id" twice`,
		"<?xml version=\"1.0\" encoding=\"latin1\"?>" + wrap(``): `1:40: xml: encoding "latin1" declared but Decoder.CharsetReader is nil`,
		"<svg xmlns=\"http://www.w3.org/2000/svg\">\xFF</svg>":   "1:42: invalid UTF-8",
	} {
		_, err := svg.Read([]byte(data), diag.Limits{})
		fault, ok := errors.AsType[*svg.Error](err)
		if !ok || fault.Refused || fault.Error() != want {
			t.Errorf("%q\ngot  %v\nwant %s", data, err, want)
		}
	}
}

// bombs are small files that ask for too much.
func bombs() map[string]string {
	nested := func(open, shut string, n int) string { return strings.Repeat(open, n) + strings.Repeat(shut, n) }
	double := `<rect id="u0" width="1" height="1"/>`
	for i := range 30 {
		double += fmt.Sprintf(`<g id="u%d"><use href="#u%d"/><use href="#u%d"/></g>`, i+1, i, i)
	}
	clips := `<clipPath id="c0"><rect width="9" height="9"/></clipPath>`
	for i := range 40 {
		clips += fmt.Sprintf(`<clipPath id="c%d"><rect width="9" height="9" clip-path="url(#c%d)"/><rect width="9" height="9" clip-path="url(#c%d)"/></clipPath>`, i+1, i, i)
	}
	masks := `<mask id="m0"><rect width="9" height="9"/></mask>`
	for i := range 40 {
		masks += fmt.Sprintf(`<mask id="m%d"><g mask="url(#m%d)"><rect width="9" height="9"/></g><g mask="url(#m%d)"><rect width="9" height="9"/></g></mask>`, i+1, i, i)
	}
	return map[string]string{
		"SVGBytes":             wrap(strings.Repeat(" ", 1<<20)),
		"SVGElements":          wrap(strings.Repeat("<g/>", 20_000)),
		"SVGElements of rules": wrap("<style>" + strings.Repeat("a{}", 20_000) + "</style>"),
		"SVGDepth":             wrap(nested("<g>", "</g>", 64)),
		"SVGUses":              wrap(double + `<use href="#u30"/>`),
		"SVGSteps of clips":    wrap(clips + `<rect width="9" height="9" clip-path="url(#c40)"/>`),
		"SVGSteps of masks":    wrap(masks + `<rect width="9" height="9" mask="url(#m40)"/>`),
		"SVGSteps of rules":    wrap("<style>" + strings.Repeat("g g g *{}", 9000) + "</style>" + strings.Repeat(nested("<g>", "</g>", 50), 100)),
		"SVGSteps of segments": wrap(`<path id="p" d="` + strings.Repeat("M0 0", 100_000) + `"/>` + strings.Repeat(`<use href="#p"/>`, 100)),
	}
}

func TestLimits(t *testing.T) {
	for name, data := range bombs() {
		t.Run(name, func(t *testing.T) {
			want, _, _ := strings.Cut(name, " ")
			_, err := draw(t, data, diag.Limits{SVGSteps: 200_000})
			limit, ok := errors.AsType[*diag.LimitError](err)
			if !ok || limit.Name != want {
				t.Errorf("got %v, want the limit %s", err, want)
			}
		})
	}
}

func FuzzDraw(f *testing.F) {
	for data := range hostile {
		f.Add(data)
	}
	cases, err := os.ReadFile(filepath.FromSlash("../../testdata/drawings.txt"))
	if err != nil {
		f.Fatal(err)
	}
	for part := range strings.SplitSeq(string(cases), "\n-- ") {
		if _, body, ok := strings.Cut(part, " --\n"); ok {
			if !strings.HasPrefix(body, "<svg xmlns") {
				body = wrap(body)
			}
			f.Add(body)
		}
	}
	set := typesetter()
	limits := diag.Limits{SVGBytes: 1 << 16, SVGSteps: 20_000, SVGUses: 500}
	f.Fuzz(func(t *testing.T, data string) {
		file, err := svg.Read([]byte(data), limits)
		if err != nil {
			checkError(t, err)
			return
		}
		s := text.NewSetter(t.Context(), set)
		defer s.Close()
		d, err := file.Draw(svg.Fonts{Typesetter: set, Setter: s})
		if err != nil {
			return // a limit, or a text that cannot be set
		}
		if strings.Contains(code(d.Form), "NaN") || strings.Contains(code(d.Form), "Inf") {
			t.Errorf("a number that is none: %s", code(d.Form))
		}
	})
}

func checkError(t *testing.T, err error) {
	t.Helper()
	if _, ok := errors.AsType[*diag.LimitError](err); ok {
		return
	}
	fault, ok := errors.AsType[*svg.Error](err)
	if !ok || fault.Line < 1 || fault.Col < 1 || fault.Message == "" {
		t.Errorf("error without a place: %v", err)
	}
}
