package compile

import (
	"slices"
	"strconv"
	"strings"
	"sync"
)

// grammar is the language: for each mapping, by the words that messages call it, its keys and what
// they hold. The compiler reads no key that is not here, and refuses those marked as later; the
// JSON Schema for editors is made of it. A key is followed by `!` where it is needed, or by `-`
// where it is of a later version. Its value is one of several forms, apart by `|`:
//
//	text word expr cond length edges width color paint flag   scalars, as docs/templates.md has them
//	int=1..9 num=-360..360                                    numbers within bounds
//	'a'                                                       this word
//	[X]                                                       a list of X
//	['a' 'b']                                                 a list of these words
//	{X}                                                       a mapping of names to X
//	<X>                                                       the mapping called X
//	any                                                       not told here
//
// A mapping may take in the keys of another one that stands above it, but for those that it says
// before: `+ X`.
const grammar = `
a template
 quire! int=1..1
 name! word
 lang! word
 locale word
 title! text
 filename text
 standard word | [word]
 rounding 'half-even' | 'half-up' | 'half-down' | 'up' | 'down'
 meta <meta>
 page <page>
 types {any}
 data any
 vars {expr}
 theme word
 fonts <fonts>
 styles {<a style>}
 import [word]
 components {<a component>}
 header <a header>
 footer <a footer>
 background <a background>
 watermark <a watermark>
 footnotes <footnotes>
 viewer <viewer>
 attach [<an attached file>]
 outline <an outline> | [<an entry>]
 number-headings int=1..9
 body! [<a block>]
 sign <a signing>
 protect <protection>
a theme
 quire! int=1..1
 theme 'default' | 'none'
 styles {<a style>}
 components {<a component>}
an imported file
 quire! int=1..1
 import [word]
 components {<a component>}
meta
 author text
 subject text
 keywords [text]
page
 size word | [length]
 orientation 'portrait' | 'landscape'
 margin edges
 border <a border> | 'hairline' | 'none'
 background color
 valign 'top' | 'middle' | 'bottom'
 columns int=1..20 | <columns of pages>
 first <pages of a kind>
 odd <pages of a kind>
 even <pages of a kind>
pages of a kind
 margin edges
 border <a border> | 'hairline' | 'none'
 background color
columns of pages
 count! int=2..20
 gap length
 balance flag
fonts
 families {<a family of fonts>}
 fallback [word]
 synthetic 'refuse' | 'allow'
 missing 'error' | 'box'
 subset 'blocks' | 'exact'
a family of fonts
 regular! word
 bold word
 italic word
 bold-italic word
style keys
 font word
 size length
 leading length
 weight 'normal' | 'bold' | int=1..1000
 italic flag
 color paint
 align 'start' | 'right' | 'center' | 'justify' | 'left' | 'decimal'
 space-before length
 space-after length
 figures 'proportional' | 'tabular'
 keep-figures flag
 widows int=1..20
 orphans int=1..20
 breaking 'greedy' | 'total'
 hyphenate flag
 underline flag | <a line of text>
 strike flag | <a line of text>
 letter-spacing length
 caps 'normal' | 'small'
 position 'base' | 'super' | 'sub'
 features [word]
 indent length
 margin-left length
 margin-right length
a style
 extends word
 + style keys
a line of text
 thickness length
 color color
 dash [length]
a line of a border
 width length
 color color
 dash [length]
a border
 all <a line of a border> | 'hairline' | 'none'
 top <a line of a border> | 'hairline' | 'none'
 right <a line of a border> | 'hairline' | 'none'
 bottom <a line of a border> | 'hairline' | 'none'
 left <a line of a border> | 'hairline' | 'none'
 + a line of a border
a border of a table
 rows <a line of a border> | 'hairline' | 'none'
 columns <a line of a border> | 'hairline' | 'none'
 + a border
a header
 first [<a block>]
 odd [<a block>]
 even [<a block>]
 other [<a block>]
 all [<a block>]
a footer
 + a header
a background
 + a header
a watermark
 text text
 image word
 width length
 height length
 layer 'under' | 'over'
 angle num=-360..360
 opacity num=0..1
 if cond
 style word
 + style keys
footnotes
 restart 'never' | 'section' | 'page'
 number-format 'decimal' | 'roman' | 'upper-roman' | 'alpha' | 'upper-alpha'
 style word
viewer
 page-layout 'single-page' | 'one-column' | 'two-column-left' | 'two-column-right' | 'two-page-left' | 'two-page-right'
 page-mode 'none' | 'outline' | 'thumbnails' | 'full-screen' | 'attachments'
 direction 'l2r' | 'r2l'
 print-scaling 'default' | 'none'
 duplex 'simplex' | 'short-edge' | 'long-edge'
 copies int=2..5
 hide-toolbar flag
 hide-menubar flag
 hide-window-ui flag
 fit-window flag
 center-window flag
a signing
 signer! word
 field word
 name text
 reason text
 location text
 contact text
 level 'B-B' | 'B-T'
 certify 'none' | 'fill' | 'annotate'
protection
 owner! text
 user text
 permissions ['print' 'modify' 'copy' 'annotate' 'fill' 'assemble' 'print-high']
 metadata 'clear' | 'encrypted'
an attached file
 file word
 text text
 name text
 type word
 relationship 'unspecified' | 'source' | 'data' | 'alternative' | 'supplement'
 description text
 if cond
an outline
 headings! int=1..9
an entry
 title! text
 to! text
 items [<an entry>]
 closed flag
 for word
 if cond
a component
 params {any}
 slots [word]
 do! [<a block>]
a block with for
 for! word
 if cond
 do! [<a block>]
 empty [<a block>]
a block with if
 if! cond
 do! [<a block>]
 else [<a block>]
keys of every block
 if cond
 style word
 lang word
 keep-together flag
 keep-with-next flag
 break-before 'page' | 'odd' | 'column'
 break-after 'page' | 'odd' | 'column'
 anchor text
 link text
 bookmark text
 id text
 artifact flag
text
 markup 'on' | 'none'
 tabs [<a tab stop>]
 max-lines int=1..1000
 overflow 'error' | 'ellipsis'
heading
 level int=1..9
 bookmark flag | text
 number flag | int=1..1000000 | 'decimal' | 'roman' | 'upper-roman' | 'alpha' | 'upper-alpha'
 + text
a tab stop
 at! length | width
 align 'left' | 'right' | 'center' | 'decimal'
 leader 'none' | 'dots' | 'line'
list
 marker 'disc' | 'decimal' | 'alpha' | 'upper-alpha' | 'roman' | 'upper-roman' | 'legal' | 'text'
 label text
 start int=0..1000000
 items [<content>]
 for word
 item <content>
row
 widths [width]
 gap length
 valign 'top' | 'middle' | 'bottom'
 stretch flag
 cells! [<content>]
box
 padding edges
 border <a border> | 'hairline' | 'none'
 background paint
 radius length
 width length
 height length
 valign 'top' | 'middle' | 'bottom'
 rotate int=90..90 | int=270..270
 do! [<a block>]
columns
 count int=2..20
 gap length
 balance flag
 do! [<a block>]
section
 page <page>
 valign 'top' | 'middle' | 'bottom'
 columns int=1..20 | <columns of pages>
 header <a header>
 footer <a footer>
 background <a background>
 watermark <a watermark>
 part flag
 number-from int=1..1000000
 number-format 'decimal' | 'roman' | 'upper-roman' | 'alpha' | 'upper-alpha'
 do! [<a block>]
toc
 levels int=1..9
 leader 'dots' | 'none'
 title text
 reserve int=1..100
place
 x! length
 y! length
 width! length
 height length
 layer 'under' | 'over'
 rotate int=90..90 | int=270..270
 do! [<a block>]
rule
 thickness length
 color color
 dash [length]
 width width
 align 'left' | 'right' | 'center'
shape
 line [length]
 rect [length]
 ellipse [length]
 path word
 width length
 height length
 radius length
 fill paint
 thickness length
 color paint
 dash [length]
 alt text
 decorative flag
markdown
 level int=1..9
image
 alt text
 decorative flag
 width length
 height length
 fit 'contain' | 'stretch' | 'cover'
 dpi-max int=18..2400
svg
 + image
barcode
 value! text | {any}
 alt text
 decorative flag
 module length
 size length
 height length
 ecc 'L' | 'M' | 'Q' | 'H'
 hri 'on' | 'off'
field
 name! text
 label! text
 caption 'auto' | 'none'
 value text | [text]
 options [<an option>]
 required flag
 read-only flag
 multiline flag
 password flag
 comb flag
 fit flag
 editable flag
 multiple flag
 max int=1..10000
 round flag
 action text
 border <a line of a border> | 'hairline' | 'none'
 background color
 width length
 height length
signature
 alt! text
 show ['name' 'time' 'reason' 'location']
 picture text
 border <a line of a border> | 'hairline' | 'none'
 background color
 width length
 height length
an option
 value! text
 text text
spacer
page-break
use
 with {any}
 slots {<content>}
switch
 cases! [<a case>]
 else [<a block>]
a case
 is! any
 do! [<a block>]
slot
 empty [<a block>]
table
 caption text
 columns! [<a column>]
 head-row <head-row>
 head [<cells>]
 rows! [<cells>] | <rows>
 foot [<cells>]
 width width
 align 'left' | 'right' | 'center'
 header-repeat flag
 border <a border of a table> | 'hairline' | 'none'
 padding edges
head-row
 background color
 border <a border> | 'hairline' | 'none'
 style word
 + style keys
a column
 head text
 width width
 scope 'row'
 head-style word
 id text
 style word
 background paint
 if cond
 for word
 + style keys
a row
 cells [<a cell>]
 rows [<cells>]
 for word
 if cond
 else [<cells>]
 group <group>
 carry <carry>
 empty <a cell>
 height length
 background paint
 border <a border> | 'hairline' | 'none'
 keep-with-next flag
 anchor text
 style word
 + style keys
rows
 stripe [color]
 split flag
 + a row
group
 by! expr
 head [<cells>]
 foot [<cells>]
carry
 sum! expr
 out <cells>
 in <cells>
a cell
 text text
 do [<a block>]
 for word
 colspan int=1..1000 | 'all'
 rowspan int=1..1000
 background paint
 border <a border> | 'hairline' | 'none'
 valign 'top' | 'middle' | 'bottom'
 header flag
 link text
 rotate int=90..90 | int=270..270
 style word
 id text
 headers text | [text]
 padding edges
 + style keys
`

// key is a key of a mapping.
type key struct {
	name   string
	needed bool
	later  bool
	forms  []string
}

// mapping is what a mapping of the language may hold.
type mapping struct {
	keys   []key
	byName map[string]int
}

func (m *mapping) names() []string {
	out := make([]string, len(m.keys))
	for i, k := range m.keys {
		out[i] = k.name
	}
	return out
}

func (m *mapping) add(k key) {
	if _, have := m.byName[k.name]; !have {
		m.byName[k.name] = len(m.keys)
		m.keys = append(m.keys, k)
	}
}

// get returns a key; nil when the mapping has none of that name.
func (m *mapping) get(name string) *key {
	if i, ok := m.byName[name]; ok {
		return &m.keys[i]
	}
	return nil
}

// language is the grammar, read.
var language = sync.OnceValue(func() map[string]*mapping {
	out := map[string]*mapping{}
	var m *mapping
	for line := range strings.SplitSeq(strings.Trim(grammar, "\n"), "\n") {
		rest, inside := strings.CutPrefix(line, " ")
		switch {
		case !inside:
			m = &mapping{byName: map[string]int{}}
			out[line] = m
		case strings.HasPrefix(rest, "+ "):
			for _, k := range out[rest[2:]].keys { // which stands above, whole
				m.add(k)
			}
		default:
			name, forms, _ := strings.Cut(rest, " ")
			k := key{forms: strings.Split(forms, " | ")}
			k.name = strings.TrimRight(name, "!-")
			k.needed, k.later = strings.HasSuffix(name, "!"), strings.HasSuffix(name, "-")
			m.add(k)
		}
	}
	return out
})

// blockMappings are the keys that stand beside the kind of a block, for the kinds whose value is a
// mapping with the fields (true) and for those whose fields stand beside them.
var blockMappings = sync.OnceValue(func() map[bool]map[string]*mapping {
	out := map[bool]map[string]*mapping{true: {}, false: {}}
	for name := range language() {
		out[true][name], out[false][name] = makeBlockMapping(name, true), makeBlockMapping(name, false)
	}
	return out
})

// blockMapping is that of the keys that stand beside the kind of a block.
func blockMapping(k kind) *mapping { return blockMappings()[k.holds][k.name] }

func makeBlockMapping(kind string, holds bool) *mapping {
	m := &mapping{byName: map[string]int{}}
	m.add(key{name: kind, needed: true})
	all := language()
	if !holds {
		for _, own := range all[kind].keys {
			m.add(own)
		}
	}
	if standsForOthers(kind) {
		m.add(*all["keys of every block"].get("if"))
		return m
	}
	out := inert(kind)
	for _, from := range []string{"keys of every block", "style keys"} {
		for _, c := range all[from].keys {
			if !slices.Contains(out, c.name) {
				m.add(c)
			}
		}
	}
	return m
}

// standsForOthers reports the kinds in whose place other blocks stand, with keys of their own.
func standsForOthers(kind string) bool { return kind == "use" || kind == "switch" || kind == "slot" }

// wordsOf returns the words of a form such as 'a' or ['a' 'b']; nil: it has none.
func wordsOf(form string) []string {
	words := strings.Fields(strings.Trim(form, "[]"))
	if !strings.HasPrefix(words[0], "'") {
		return nil
	}
	for i, w := range words {
		words[i] = strings.Trim(w, "'")
	}
	return words
}

// number reads the bounds of a form such as int=1..9.
func bounds(form string) (least, most float64) {
	_, span, _ := strings.Cut(form, "=")
	from, to, _ := strings.Cut(span, "..")
	least, _ = strconv.ParseFloat(from, 64)
	most, _ = strconv.ParseFloat(to, 64)
	return least, most
}
