//go:build !race

package compile_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"image"
	"image/png"
	"math/big"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"example.com/quire/pdf"
	"example.com/quire/pdf/internal/compile"
	"example.com/quire/pdf/sign"
	"example.com/quire/pdf/standard"
	"example.com/quire/pdf/template"
)

// prose is a text in which every key of a style shows: it kerns, has a ligature, figures, words to
// hyphenate, capitals, and more digits than a line holds.
const (
	prose  = "AVA office 1117 the uncharacteristically incomprehensible representatives acknowledged considerable responsibilities" + digits
	digits = " 12345678901234567890123456789012345678901234567890"
)

// effects tells whether a key changes what comes of a template: outcomes are files, or what is
// wrong.
type effects struct {
	t   *testing.T
	eng *pdf.Engine
	key keyring
	had map[string]string // outcomes by their source
}

func newEffects(t *testing.T) *effects {
	t.Helper()
	var wide bytes.Buffer
	img := image.NewGray(image.Rect(0, 0, 600, 200))
	for i := range img.Pix {
		img.Pix[i] = byte(i)
	}
	if err := png.Encode(&wide, img); err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{
		"wide.png":   {Data: wide.Bytes()},
		"parts.yaml": {Data: []byte("quire: 1\ncomponents: {part: {do: [{text: imported}]}}\n")},
		"brand.yaml": {Data: []byte("quire: 1\nstyles: {base: {color: \"#123456\"}}\n")},
	}
	eng, err := pdf.New(pdf.Config{Files: files})
	if err != nil {
		t.Fatal(err)
	}
	return &effects{t: t, eng: eng, key: newKeyring(t), had: map[string]string{}}
}

// documentTime is that of all outcomes.
var documentTime = time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)

// keyring signs with one key, whatever it is called, which gives equal signatures of equal files.
type keyring struct{ id *sign.Identity }

// Identity implements pdf.Signers.
func (k keyring) Identity(context.Context, string) (*sign.Identity, error) { return k.id, nil }

func newKeyring(t *testing.T) keyring {
	t.Helper()
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "TEST ONLY"}, KeyUsage: x509.KeyUsageDigitalSignature,
		NotBefore: documentTime.AddDate(-1, 0, 0), NotAfter: documentTime.AddDate(1, 0, 0),
	}
	raw, err := x509.CreateCertificate(nil, c, c, public, key)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = x509.ParseCertificate(raw); err != nil {
		t.Fatal(err)
	}
	return keyring{&sign.Identity{Key: key, Chain: []*x509.Certificate{c}}}
}

const effectData = `{"list": [{"name": "Ada", "sum": 1.25, "group": "x"}, {"name": "Bob", "sum": 2.125, "group": "y"}, {"name": "Cy", "sum": 2.5, "group": "y"}], "yes": true, "n": 1234.125}`

// outcome is the file that a template makes, with its name, or the problems that it has.
func (e *effects) outcome(src string) (out string, problems error) {
	if had, ok := e.had[src]; ok {
		return had, nil
	}
	plan, err := e.eng.Compile(e.t.Context(), pdf.Source{File: "x.yaml", Text: []byte(src)})
	if err != nil {
		return err.Error(), err
	}
	data := "{}"
	if strings.Contains(src, "\ndata:") {
		data = effectData
	}
	var buf bytes.Buffer
	res, err := e.eng.Render(e.t.Context(), &buf, plan, template.JSON([]byte(data)), pdf.RenderOptions{
		Standards: []standard.ID{standard.PDFUA2}, Time: documentTime, Signers: e.key,
	})
	out = fmt.Sprint(err)
	if err == nil {
		out = res.FileName + buf.String()
	}
	e.had[src] = out
	return out, nil
}

// refusal reports whether an error says that a key changes nothing where it stands.
func refusal(err error, key string) bool {
	return err != nil && (strings.Contains(err.Error(), fmt.Sprintf("%q changes nothing", key)) || strings.Contains(err.Error(), "has no link") || strings.Contains(err.Error(), "is never an artifact"))
}

// judge wants a key with a value to change something of one of the templates, in which @ stands for
// the key.
func (e *effects) judge(what, key, value string, templates ...string) {
	e.t.Helper()
	values := strings.Split(value, " | ")
	for i := range len(templates) * len(values) {
		src, value := templates[i/len(values)], values[i%len(values)]
		with := strings.ReplaceAll(src, "@", key+": "+value)
		without := strings.ReplaceAll(strings.ReplaceAll(src, ", @", ""), "@", "")
		a, err := e.outcome(with)
		if refusal(err, key) {
			return
		}
		b, none := e.outcome(without)
		if err != nil && none == nil {
			e.t.Errorf("%s: %s: %s is refused: %v", what, key, value, err)
			return
		}
		if a != b {
			return
		}
	}
	e.t.Errorf("%s: %s: %s changes nothing", what, key, value)
}

// page is a template on small pages: head, and blocks behind some lines.
func page(head string, lines int, blocks ...string) string {
	return "quire: 1\nname: x\nlang: en\ntitle: T\n" + head + `
data: {list: [{name: string, sum: decimal, group: string}], yes: boolean, n: decimal}
page: {size: [110mm, 80mm], margin: 8mm}
styles: {loud: {color: "#a01020", space-before: 7mm}, base: {size: 10pt, leading: 13pt}}
components: {c: {params: {p: string?}, slots: [s], do: [{text: "c ${p | default('')}"}, {slot: s, empty: [{text: empty}]}]}}
body:
  - {heading: H, level: 1}
` + strings.Repeat("  - {text: filler}\n", lines) + "  - " + strings.Join(blocks, "\n  - ") + "\n  - {text: behind it}\n"
}

// kindSamples are a block of each kind, with @ where a key may stand beside the kind.
var kindSamples = map[string]string{
	"text":       `{text: "` + prose + `", @}`,
	"heading":    `{heading: "` + prose + `", level: 2, @}`,
	"list":       `{list: {items: ["` + prose + `", two, three]}, @}`,
	"table":      `{table: {columns: [{head: AVA 1117, width: 1fr}, {width: auto}], rows: [["` + prose + `", a], [c, d], [e, f], [g, h], [i, j]]}, @}`,
	"row":        `{row: {cells: ["` + prose + `", b]}, @}`,
	"box":        `{box: {border: hairline, width: 60mm, do: [{text: "` + prose + `"}, {text: c}]}, @}`,
	"columns":    `{columns: {do: [{text: "` + prose + `"}, {text: b}, {text: c}]}, @}`,
	"section":    `{section: {do: [{text: "a\nb\nc\nd\ne\nf\ng"}, {text: "` + prose + `"}, {text: "` + prose + `"}]}, @}`,
	"toc":        `{toc: {}, @}` + "\n  - {heading: AVA office 1117 uncharacteristically, level: 1}",
	"place":      `{place: {x: 10mm, y: 10mm, width: 40mm, do: [{text: "` + prose + `"}, {text: b}]}, @}`,
	"rule":       `{rule: {thickness: 1pt}, @}`,
	"markdown":   `{markdown: "` + prose + `\n\nA second paragraph.\n\nA third.", @}`,
	"image":      `{image: wide.png, alt: a, width: 40mm, @}`,
	"svg":        `{svg: wide.png, alt: a, width: 40mm, @}`,
	"field":      `{field: text, name: f, label: AVA117, value: AVA117, @}`,
	"shape":      `{shape: {rect: [40mm, 10mm], alt: a}, @}`,
	"signature":  `{signature: f, alt: a, width: 60mm, height: 20mm, @}`,
	"barcode":    `{barcode: code128, value: AVA117, alt: a, @}`,
	"spacer":     `{spacer: 9mm, @}`,
	"page-break": `{page-break: true, @}`,
	"use":        `{use: c, @}`,
	"switch":     `{switch: yes, cases: [{is: true, do: [{text: one}]}], @}`,
	"slot":       `{use: d}`,
}

// keyValues are values of the keys that many mappings have.
var keyValues = map[string]string{
	"if": "n < 0", "style": "loud", "lang": "de", "keep-together": "true", "keep-with-next": "true", "break-before": "page", "break-after": "page",
	"anchor": "here", "link": `"https://example.com/"`, "bookmark": "Mark", "font": "Liberation Serif", "size": "13pt", "leading": "21pt", "weight": "bold",
	"italic": "true", "color": `"#a01020"`, "align": "right", "space-before": "11mm", "space-after": "11mm", "figures": "tabular", "keep-figures": "true",
	"widows": "5", "orphans": "5", "breaking": "total | greedy", "hyphenate": "true | false", "underline": "true", "strike": "true", "letter-spacing": "1pt",
	"caps": "small", "position": "super", "features": "[-kern]", "indent": "7mm", "margin-left": "7mm", "margin-right": "7mm",
	"markup": "none", "tabs": "[{at: 20mm}]", "max-lines": "1", "overflow": "ellipsis", "background": `"#eef1f7"`, "border": "hairline", "padding": "3mm",
	"radius": "2mm", "width": "30mm", "height": "25mm", "valign": "middle", "rotate": "90", "gap": "9mm", "widths": "[1fr, 3fr]", "stretch": "true",
	"count": "3", "balance": "false", "levels": "1", "leader": "none", "title": "Contents", "reserve": "2", "layer": "over", "level": "3", "number": "true", "artifact": "true", "id": "named", "picture": "wide.png", "action": "reset",
}

// TestNoKeyOfABlockIsWithoutEffect: each key that may stand beside a kind changes what is printed
// or what the file says, or the compiler says that it changes nothing.
func TestNoKeyOfABlockIsWithoutEffect(t *testing.T) {
	t.Parallel()
	e := newEffects(t)
	own := map[string]string{ // where the usual value shows nothing, or another text is needed
		"text tabs": "", "heading tabs": "", "text markup": "", "heading markup": "", "text overflow": "", "heading overflow": "", "heading level": "",
		"signature alt": "", "signature show": "[time]", "signature width": "", "signature height": "",
		"field name": "", "field label": "", "field value": "", "field options": "", "field editable": "", "field multiple": "", "field round": "", "field max": "", "field comb": "",
		"field password": "", "field caption": "none", "field required": "true", "field read-only": "true", "field multiline": "true", "field fit": "true",
		"barcode value": "", "barcode alt": "", "image alt": "", "svg alt": "", "image decorative": "", "svg decorative": "", "barcode decorative": "",
		"signature picture": "", "field action": "", "image artifact": "", "shape artifact": "", "svg artifact": "", "barcode artifact": "", "image fit": "", "svg fit": "", "image dpi-max": "", "svg dpi-max": "", "barcode size": "20mm", "barcode module": "1mm", "barcode ecc": "",
		"barcode hri": "off", "use with": "{p: given}", "use slots": "{s: given}", "switch cases": "", "switch else": "", "slot empty": "",
		"slot if": "", "heading bookmark": "true", "image width": "", "svg width": "", "heading size": "15pt", "heading weight": "400",
		"image height": "5mm", "svg height": "5mm", "markdown level": "", "toc levels": "",
	}
	for _, kind := range compile.Kinds() {
		sample, ok := kindSamples[kind]
		if !ok {
			t.Errorf("no sample of %s", kind)
			continue
		}
		for _, key := range compile.BlockKeys(kind) {
			value, special := own[kind+" "+key]
			if special && value == "" {
				continue // in effectCases
			}
			if !special {
				value, ok = keyValues[key]
			}
			if !ok && !special {
				t.Errorf("%s: no value of %s", kind, key)
				continue
			}
			var all []string
			head := ""
			if kind == "signature" {
				head = "sign: {signer: broker, field: f, reason: AVA office 1117 uncharacteristically}"
			}
			for _, lines := range []int{1, 10, 12, 9, 11, 13, 8, 7, 6, 5} {
				all = append(all, page(head, lines, sample))
			}
			if key == "hyphenate" || key == "breaking" || key == "widows" || key == "orphans" {
				for _, lines := range []int{1, 9, 11} {
					words := strings.ReplaceAll(page("", lines, sample), digits, strings.Repeat(" and the comprehensive documentation of extraordinary considerations", 2))
					words = strings.ReplaceAll(words, "base: {", "base: {align: justify, ")
					if kind == "heading" {
						words = strings.ReplaceAll(words, "@", "align: justify, @")
					}
					all = append(all, words)
				}
			}
			if kind == "toc" && (key == "keep-figures" || key == "hyphenate") {
				all = []string{page("", 1, strings.Replace(sample, "uncharacteristically,", prose+",", 1))}
			}
			if key == "anchor" {
				all = []string{page("", 1, sample, `{text: "[there](#here)"}`)}
			}
			e.judge(kind, key, value, all...)
		}
	}
}

// TestNoKeyOfAMappingIsWithoutEffect: the same of the keys of the template, of styles, pages,
// borders, tables and all other mappings. Each is judged, or named with what makes it fall away.
func TestNoKeyOfAMappingIsWithoutEffect(t *testing.T) {
	t.Parallel()
	e := newEffects(t)
	judged := map[string]bool{}
	for _, c := range effectCases() {
		judged[c.mapping+" "+c.key] = true
		e.judge(c.mapping, c.key, c.value, strings.Split(c.template, other)...)
	}
	needed := []string{ // without which a template is refused, which other tests hold
		"a signing signer", "a signing level", // signers and levels are judged in pdf.TestTemplatesAskForTheirSignature
		"protection owner", "protection user", "protection permissions", "protection metadata", // in pdf.TestTemplatesAskForTheirProtection
		"a template quire", "a template name", "a template lang", "a template title", "a template body", "a theme quire", "an imported file quire",
		"a block with for for", "a block with for do", "a block with if if", "a block with if do", "a component do", "a family of fonts regular",
		"a tab stop at", "row cells", "box do", "columns do", "section do", "place x", "place y", "place width", "place do", "barcode value", "field name", "field label", "signature alt", "an option value", "switch cases",
		"a case is", "a case do", "table columns", "table rows", "group by", "carry sum", "an entry title", "an entry to", "an outline headings", "list items", "columns of pages count",
		"a theme theme", "a theme styles", "a theme components", "an imported file import", "an imported file components",
		"a family of fonts bold", "a family of fonts italic", "a family of fonts bold-italic", "fonts families", "fonts fallback", "a style extends",
	}
	shared := map[string]string{ // mappings that take in the keys of another one, which is judged
		"svg": "image", "heading": "text", "a footer": "a header", "a background": "a header", "a border of a table": "a border", "rows": "a row",
	}
	kinds := compile.Kinds()
	for _, m := range compile.Mappings() {
		if m == "style keys" || m == "keys of every block" {
			continue // of blocks
		}
		for _, key := range compile.GrammarKeys(m) {
			block := slices.Contains(kinds, m) && slices.Contains(compile.BlockKeys(m), key)
			style := slices.Contains(compile.GrammarKeys("style keys"), key)
			from, in := shared[m]
			if judged[m+" "+key] || block || style || slices.Contains(needed, m+" "+key) || in && slices.Contains(compile.GrammarKeys(from), key) {
				continue
			}
			t.Errorf("nobody judges %s of %s", key, m)
		}
	}
}

type effectCase struct{ mapping, key, value, template string }

// other parts templates of one case: one of them shows the effect.
const other = "\n---\n"

// effectCases are keys with what they change.
func effectCases() (all []effectCase) {
	add := func(mapping, template string, pairs ...string) {
		for i := 0; i < len(pairs); i += 2 {
			all = append(all, effectCase{mapping, pairs[i], pairs[i+1], template})
		}
	}
	head := func(text string) string { return page("@", 1, text) }
	add("a template", head(`{text: "${n | number(2)} ${12.25 | number(1)} [l](https://example.com/) x^[note]"}`),
		"locale", "de", "filename", `"f-${n}.pdf"`, "standard", "pdf/a-4", "rounding", "up", "meta", "{author: A}", "header", "{all: [{text: head}]}",
		"footer", "{all: [{text: foot}]}", "background", "{all: [{text: sheet}]}", "sign", "{signer: broker}", "protect", "{owner: o}", "watermark", "{text: W}", "footnotes", "{number-format: alpha}", "viewer", "{fit-window: true}",
		"attach", "[{name: a.txt, text: b, type: text/plain}]", "outline", "{headings: 1}", "number-headings", "1", "theme", "default", "fonts", "{subset: exact}")
	bare := "quire: 1\nname: x\nlang: en\ntitle: T\n@\nbody: [{text: \"%s\"}]\n"
	add("a template", fmt.Sprintf(bare, "x"), "page", "{size: A5}", "styles", "{base: {size: 20pt}}")
	add("a template", fmt.Sprintf(bare, "${n}"), "data", "{list: [{name: string, sum: decimal, group: string}], yes: boolean, n: decimal}")
	add("a template", fmt.Sprintf(bare, "${v}"), "vars", "{v: 1 + 1}")
	add("a template", "quire: 1\nname: x\nlang: en\ntitle: T\n@\ndata: {n: amount, list: any, yes: boolean}\nbody: [{text: x}]\n", "types", "{amount: decimal}")
	add("a template", "quire: 1\nname: x\nlang: en\ntitle: T\n@\nbody: [{use: part}]\n", "import", "[parts.yaml]", "components", "{part: {do: [{text: x}]}}")
	add("meta", page("meta: {@}", 1, "{text: x}"), "author", "A", "subject", "S", "keywords", "[k]")
	add("page", "quire: 1\nname: x\nlang: en\ntitle: T\npage: {@}\nbody: [{text: x}]\n",
		"size", "A5", "orientation", "landscape", "margin", "9mm", "border", "hairline", "background", `"#eef1f7"`, "valign", "bottom")
	lined := `{text: "a\nb\nc\nd"}`
	add("page", "quire: 1\nname: x\nlang: en\ntitle: T\npage: {@}\nbody: ["+lined+"]\n", "columns", "2")
	add("page", "quire: 1\nname: x\nlang: en\ntitle: T\npage: {size: A6, @}\nbody: [{text: x}, {page-break: true}, {text: y}]\n",
		"first", "{border: hairline}", "odd", "{border: hairline}", "even", "{border: hairline}")
	add("pages of a kind", "quire: 1\nname: x\nlang: en\ntitle: T\npage: {odd: {@}}\nbody: [{text: x}]\n",
		"margin", "[30mm, 25mm]", "border", "hairline", "background", `"#eef1f7"`)
	add("section", page("", 1, "{section: {do: ["+lined+"], @}}"), "columns", "2")
	add("columns of pages", page("", 1, "{section: {do: ["+lined+"], columns: {count: 2, @}}}"), "gap", "20mm", "balance", "false")
	add("fonts", page("fonts: {@}", 1, `{text: "plain *slanted*", font: DejaVu Sans}`), "synthetic", "allow")
	add("fonts", page("fonts: {@}", 1, "{text: plain}"), "subset", "exact")
	add("fonts", strings.Replace(page("fonts: {@}", 1, `{text: "\u0E01"}`), "title: T", "title: T", 1), "missing", "box")
	add("a line of text", page("", 1, "{text: x, underline: {@}}"), "thickness", "2pt", "color", `"#a01020"`, "dash", "[2pt, 1pt]")
	add("a line of a border", page("", 1, "{box: {border: {all: {width: 1pt, @}}, do: [{text: x}]}}"), "color", `"#a01020"`, "dash", "[2pt, 1pt]")
	add("a line of a border", page("", 1, "{box: {border: {all: {@}}, do: [{text: x}]}}"), "width", "3pt")
	add("a border", page("", 1, "{box: {border: {@}, do: [{text: x}]}}"), "all", "hairline", "top", "{width: 1pt}", "right", "{width: 1pt}",
		"bottom", "{width: 1pt}", "left", "{width: 1pt}", "width", "3pt")
	add("a border", page("", 1, "{box: {border: {width: 1pt, @}, do: [{text: x}]}}"), "color", `"#a01020"`, "dash", "[2pt, 1pt]")
	add("a border of a table", page("", 1, "{table: {border: {@}, columns: [{}, {}], rows: [[a, b], [c, d]]}}"), "rows", "{width: 1pt}", "columns", "{width: 1pt}")
	two := page("header: {@}", 14, "{text: x, break-before: page}", "{text: y, break-before: page}")
	add("a header", two, "first", "[{text: h}]", "odd", "[{text: h}]", "even", "[{text: h}]", "other", "[{text: h}]", "all", "[{text: h}]")
	add("a watermark", page("watermark: {text: W, @}", 1, "{text: x}"), "layer", "over", "angle", "10", "opacity", "0.5", "if", "n < 0", "style", "loud")
	add("a watermark", page("watermark: {@}", 1, "{text: x}"), "text", "W", "image", "wide.png")
	add("a watermark", page("watermark: {image: wide.png, @}", 1, "{text: x}"), "width", "30mm", "height", "20mm")
	noted := page("footnotes: {@}", 1, `{text: "a^[one]"}`, `{text: "b^[two]", break-before: page}`, `{section: {do: [{text: "c^[three]"}]}}`)
	add("footnotes", noted, "restart", "section", "number-format", "roman", "style", "loud")
	add("viewer", page("viewer: {@}", 1, "{text: x}"), "page-layout", "two-page-left", "page-mode", "thumbnails", "direction", "r2l", "print-scaling", "none",
		"duplex", "simplex", "copies", "2", "hide-toolbar", "true", "hide-menubar", "true", "hide-window-ui", "true", "fit-window", "true", "center-window", "true")
	add("a signing", page("sign: {signer: broker, @}", 1, "{field: signature, name: f, label: l}"), "field", "f", "name", "N", "reason", "R", "location", "L",
		"contact", "C", "certify", "fill")
	add("an attached file", page("attach: [{text: t, name: a.csv, @}]", 1, "{text: x}"), "type", "text/plain", "relationship", "data", "description", "D", "if", "n < 0")
	add("an attached file", page("attach: [{name: a.txt, @}]", 1, "{text: x}"), "text", "t", "file", "wide.png")
	add("an attached file", page("attach: [{file: wide.png, @}]", 1, "{text: x}"), "name", "other.png")
	add("an entry", page("outline: [{title: t, to: \"#a\", items: [{title: u, to: \"#a\"}], @}]", 1, "{text: x, anchor: a}"), "closed", "true", "for", "x in list", "if", "n < 0")
	add("an entry", page("outline: [{title: t, to: \"#a\", @}]", 1, "{text: x, anchor: a}"), "items", "[{title: u, to: \"#a\"}]")
	add("a component", "quire: 1\nname: x\nlang: en\ntitle: T\ncomponents: {c: {@, do: [{text: x}]}}\nbody: [{use: c, with: {p: a}}]\n", "params", "{p: string}")
	add("a component", "quire: 1\nname: x\nlang: en\ntitle: T\ncomponents: {c: {@, do: [{text: x}]}}\nbody: [{use: c, slots: {s: a}}]\n", "slots", "[s]")
	add("a block with for", page("", 1, "{for: x in list, do: [{text: \"${x.name}\"}], @}"), "if", "n < 0")
	add("a block with for", page("", 1, "{for: \"x in filter(list, .sum > 9)\", do: [{text: \"${x.name}\"}], @}"), "empty", "[{text: none}]")
	add("a block with if", page("", 1, "{if: n < 0, do: [{text: x}], @}"), "else", "[{text: y}]")
	add("text", page("", 1, `{text: "a\tb", @}`), "tabs", "[{at: 50mm}]")
	add("text", page("", 1, `{text: "**a**", @}`), "markup", "none")
	add("text", page("", 1, `{text: "`+prose+`", max-lines: 2, @}`), "overflow", "ellipsis")
	add("heading", page("", 1, `{heading: a, @}`), "level", "2")
	add("a tab stop", page("", 1, `{text: "a\tb1.5", tabs: [{at: 50mm, @}]}`), "align", "right", "leader", "dots")
	add("list", page("", 1, "{list: {items: [a, b], @}}"), "marker", "decimal")
	add("list", page("", 1, "{list: {marker: decimal, items: [a, b], @}}"), "start", "7")
	add("list", page("", 1, "{list: {marker: text, items: [a, b], @}}"), "label", "x")
	add("list", page("", 1, `{list: {@, item: "a"}}`), "for", "x in list")
	add("list", page("", 1, `{list: {for: x in list, @}}`), "item", "a")
	add("row", page("", 1, "{row: {cells: [{box: {border: hairline, do: [{text: a}]}}, \"a\\nb\\nc\"], @}}"), "widths", "[1fr, 3fr]", "gap", "5mm", "valign", "bottom", "stretch", "true")
	add("box", page("", 1, "{box: {border: hairline, background: \"#dddddd\", height: 20mm, do: [{text: a}], @}}"), "padding", "2mm", "radius", "2mm", "width", "30mm",
		"valign", "bottom", "rotate", "90")
	add("box", page("", 1, "{box: {do: [{text: a}], @}}"), "border", "hairline", "background", `"#eef1f7"`, "height", "30mm")
	add("columns", page("", 1, "{columns: {do: [{text: a}, {text: b}, {text: c}, {text: d}], @}}"), "count", "3", "gap", "20mm", "balance", "false")
	add("section", page("header: {all: [{text: h}]}\nfooter: {all: [{text: \"${page()}\"}]}", 1, "{section: {do: [{text: a}], @}}"), "page", "{size: A5}", "valign", "bottom",
		"header", "{all: [{text: i}]}", "footer", "{all: [{text: i}]}", "background", "{all: [{text: i}]}", "watermark", "{text: W}", "part", "true", "number-from", "9", "number-format", "roman")
	add("toc", page("", 1, "{toc: {@}}", "{heading: A, level: 1}", "{heading: B, level: 2}"), "levels", "1", "leader", "none", "title", "Contents", "reserve", "2")
	add("place", page("", 1, "{place: {x: 10mm, y: 10mm, width: 60mm, do: [{box: {background: \"#dddddd\", do: [{text: a}]}}], @}}"), "height", "1mm", "layer", "over", "rotate", "90")
	add("rule", page("", 1, "{rule: {@}}"), "thickness", "2pt", "color", `"#a01020"`, "dash", "[2pt, 1pt]", "width", "40mm")
	add("rule", page("", 1, "{rule: {width: 50%, @}}"), "align", "right")
	shape := page("", 1, "{shape: {rect: [40mm, 20mm], decorative: true, @}}")
	add("shape", shape, "radius", "3mm", "fill", `"#eef1f7"`, "thickness", "3pt", "color", `"#a01020"`, "dash", "[2pt, 1pt]")
	add("shape", page("", 1, "{shape: {decorative: true, @}}"), "line", "[20mm, 0mm]", "rect", "[20mm, 9mm]", "ellipse", "[20mm, 9mm]")
	add("shape", page("", 1, "{shape: {width: 20mm, height: 9mm, decorative: true, @}}"), "path", "M0 0 L9 9")
	add("shape", page("", 1, "{shape: {path: M0 0 L9 9, height: 9mm, decorative: true, @}}"), "width", "20mm")
	add("shape", page("", 1, "{shape: {path: M0 0 L9 9, width: 9mm, decorative: true, @}}"), "height", "20mm")
	add("shape", page("", 1, "{shape: {rect: [20mm, 9mm], @}}"), "alt", "a", "decorative", "true")
	add("shape", page("", 1, "{shape: {rect: [20mm, 9mm]}, @}"), "artifact", "true")
	add("markdown", page("", 1, `{markdown: "# a\n\nb", @}`), "level", "2")
	add("image", page("", 1, "{image: wide.png, @}"), "alt", "a", "decorative", "true", "artifact", "true")
	add("image", page("", 1, "{image: wide.png, alt: a, @}"), "width", "30mm", "height", "20mm", "dpi-max", "20")
	add("image", page("", 1, "{image: wide.png, alt: a, width: 20mm, height: 20mm, @}"), "fit", "stretch")
	add("field", page("", 1, "{field: text, name: f, label: a, value: b, @}"), "caption", "none", "max", "9")
	add("field", page("", 1, "{field: text, name: f, label: a, max: 9, @}"), "comb", "true", "password", "true")
	add("field", page("", 1, "{field: choice, name: f, label: a, options: [x], @}"), "editable", "true")
	add("field", page("", 1, "{field: list, name: f, label: a, options: [x], @}"), "multiple", "true")
	add("field", page("", 1, "{field: checkbox, name: f, label: a, @}"), "round", "true", "options", "[x]", "value", "Yes")
	add("signature", page("", 1, "{signature: f, alt: l, @}"), "width", "30mm", "height", "30mm")
	add("signature", page("sign: {signer: broker, field: f}", 1, "{signature: f, alt: l, @}"), "picture", "wide.png")
	add("field", page("", 1, "{field: button, name: f, label: a, @}"), "action", "reset")
	add("an option", page("", 1, "{field: choice, name: f, label: a, options: [{value: x, @}]}"), "text", "Shown")
	add("barcode", page("", 1, "{barcode: code128, value: A1, @}"), "alt", "a", "decorative", "true", "artifact", "true")
	add("barcode", page("", 1, "{barcode: qr, value: A1, alt: a, @}"), "module", "2mm", "size", "30mm", "ecc", "H")
	add("barcode", page("", 1, "{barcode: code128, value: A1, alt: a, @}"), "height", "20mm", "hri", "off")
	add("use", page("", 1, "{use: c, @}"), "with", "{p: given}", "slots", "{s: given}")
	add("switch", page("", 1, "{switch: n, cases: [{is: 1, do: [{text: x}]}], @}"), "else", "[{text: y}]")
	add("slot", "quire: 1\nname: x\nlang: en\ntitle: T\ncomponents: {c: {slots: [s], do: [{slot: s, @}]}}\nbody: [{text: x}, {use: c}]\n", "empty", "[{text: e}]")
	add("slot", "quire: 1\nname: x\nlang: en\ntitle: T\ncomponents: {c: {slots: [s], do: [{slot: s, @}]}}\nbody: [{text: x}, {use: c, slots: {s: y}}]\n", "if", "1 > 2")
	table := func(keys string) string {
		return page("", 1, `{table: {columns: [{head: A, width: 40mm, scope: row}, {head: B, width: 30mm}], `+keys+`}}`)
	}
	rows := `rows: [[a, b], [c, d], [e, f], [g, h], [i, j], [k, l], [m, n], [o, p], [q, r], [s, t]]`
	add("table", table(rows+", @"), "caption", "C", "head-row", "{background: \"#dddddd\"}", "head", "[[x, y]]", "foot", "[[x, y]]",
		"header-repeat", "false", "border", "hairline", "padding", "3mm")
	add("table", table(rows+", width: 80mm, @"), "align", "center")
	add("table", page("", 1, "{table: {columns: [{}, {}], rows: [[a, b]], @}}"), "width", "60mm")
	add("head-row", table(rows+", head-row: {@}"), "background", `"#dddddd"`, "border", "hairline", "style", "loud")
	column := func(keys string) string {
		return page("", 1, `{table: {columns: [{`+keys+`}, {width: 30mm, head: B}], rows: [[a, b]]}}`)
	}
	add("a column", column("@"), "head", "H", "width", "20mm", "scope", "row", "style", "loud", "background", `"#dddddd"`, "if", "n < 0")
	add("a column", column("head: H, @"), "head-style", "loud", "id", "named")
	add("a column", page("", 1, `{table: {columns: [{@, head: A}, {width: 30mm, head: B}], rows: [[{text: a, for: x in list}, b]]}}`), "for", "x in list")
	row := func(keys string) string {
		var all []string
		for lines := range 9 {
			all = append(all, page("", 1+lines, `{table: {columns: [{head: A}, {head: B}], rows: [[x, y], [x, y], {cells: [a, b], `+keys+`}, ["c", d], [e, f], [g, h]]}, widows: 1, orphans: 1}`))
		}
		return strings.Join(all, other)
	}
	add("a row", row("@"), "height", "20mm", "background", `"#dddddd"`, "border", "{top: {width: 2pt}}", "keep-with-next", "true", "anchor", "r", "style", "loud", "for", "x in list",
		"if", "n < 0")
	add("a row", page("", 1, `{table: {columns: [{}, {}], rows: [{for: "x in filter(list, .sum > 9)", cells: [a, b], @}]}}`), "empty", "none")
	add("a row", page("", 1, `{table: {columns: [{}, {}], rows: [{if: n < 0, cells: [a, b], @}]}}`), "else", "[[c, d]]")
	add("a row", page("", 1, `{table: {columns: [{}, {}], rows: [{for: x in list, @}]}}`), "cells", "[a, b]", "rows", "[[a, b], [c, d]]")
	add("a row", page("", 1, `{table: {columns: [{}, {}], rows: [{for: x in list, cells: [a, b], @}]}}`), "group", "{by: x.group, head: [[g, h]]}")
	carried := page("", 1, `{table: {columns: [{}, {}], rows: {for: "i in 1..30", cells: [a, b], carry: {sum: i, @}}}}`)
	add("a row", page("", 1, `{table: {columns: [{}, {}], rows: {for: "i in 1..30", cells: [a, b], @}}}`), "carry", `{sum: i, out: [o, "${carry}"]}`)
	add("carry", strings.Replace(carried, "@", "in: [i, j], @", 1), "out", `[o, "${carry}"]`)
	add("carry", strings.Replace(carried, "@", "out: [i, j], @", 1), "in", `[o, "${carry}"]`)
	grouped := func(keys string) string {
		return page("", 1, `{table: {columns: [{}, {}], rows: [{for: x in list, cells: [a, b], group: {by: x.group, `+keys+`}}]}}`)
	}
	add("group", grouped("foot: [[f, g]], @"), "head", "[[h, i]]")
	add("group", grouped("head: [[f, g]], @"), "foot", "[[h, i]]")
	add("rows", page("", 9, `{table: {columns: [{}, {}], rows: {for: x in list, cells: ["a\nb\nc\nd\ne\nf\ng\nh", b], @}}}`), "stripe", `["#dddddd", "#eeeeee"]`, "split", "false")
	cell := func(keys string) string {
		return page("", 1, `{table: {columns: [{width: 30mm}, {width: 30mm}], rows: [[{`+keys+`}, "b\nc\nd"], [e, f]]}}`)
	}
	add("a cell", cell("text: a, @"), "background", `"#dddddd"`, "border", "hairline", "valign", "bottom", "header", "true", "link", `"https://example.com/"`,
		"rotate", "90", "style", "loud")
	add("a cell", page("", 1, `{table: {columns: [{}, {}], rows: [[{text: a, @}]]}}`), "colspan", "2")
	add("a cell", page("", 1, `{table: {columns: [{}, {}], rows: [[{text: a, @}, b], [c]]}}`), "rowspan", "2")
	add("a cell", cell("text: a, @"), "id", "named", "padding", "3mm")
	add("a cell", page("", 1, `{table: {columns: [{head: A, id: h}, {head: B}], rows: [[a, {text: b, @}]]}}`), "headers", "h")
	add("a cell", cell("@"), "text", "x", "do", "[{text: x}]")
	add("a cell", page("", 1, `{table: {columns: [{for: x in list}, {}], rows: [[{text: a, @}, b]]}}`), "for", "x in list")
	return all
}
