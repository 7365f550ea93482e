//go:build !race

package compile_test

import (
	"strings"
	"testing"
)

// TestKeysChangeTheStyleOfWhatIsAround: the keys of a block or a cell that names no style change
// the style of the box, row, list, table or section that it is in, wherever the block is written.
func TestKeysChangeTheStyleOfWhatIsAround(t *testing.T) {
	t.Parallel()
	const head = "quire: 1\nname: x\nlang: en\ntitle: X\ntheme: none\ndata: {yes: boolean}\n" +
		"styles:\n  base: {size: 11pt, leading: 15pt}\n  small: {size: 7pt, leading: 9pt, color: \"#b00020\", align: right}\n" +
		"  changed: {extends: small, weight: bold}\n  other: {extends: small, color: \"#0000ff\"}\n" +
		"components:\n  part: {slots: [s], do: [{slot: s}, TEXT]}\n  plain: {do: [{text: A}, TEXT]}\nbody:\n"
	e := newEffects(t)
	for name, body := range map[string]string{
		"box":           "  - {box: {do: [{text: A}, TEXT]}, style: small}\n",
		"boxes":         "  - {box: {do: [{box: {do: [{text: A}, TEXT]}, italic: true}]}, style: small, italic: true}\n",
		"row":           "  - {row: {cells: [A, TEXT]}, style: small}\n",
		"list":          "  - {list: {items: [A, TEXT, [{list: {items: [TEXT]}}]]}, style: small}\n",
		"list of data":  "  - {list: {for: \"i in 1..3\", item: TEXT}, style: small}\n",
		"columns":       "  - {columns: {do: [{text: A}, TEXT]}, style: small}\n",
		"place":         "  - {place: {x: 10mm, y: 20mm, width: 60mm, do: [{text: A}, TEXT]}, style: small}\n  - {text: B}\n",
		"section":       "  - {section: {do: [{text: A}, TEXT]}, style: small}\n",
		"loop":          "  - {box: {do: [{for: \"i in 1..3\", do: [TEXT], empty: [TEXT]}, {if: \"yes\", do: [TEXT]}]}, style: small}\n",
		"data":          "  - {box: {do: [{text: A}, TEXT]}, style: \"${yes ? 'small' : 'base'}\"}\n",
		"component":     "  - {box: {do: [{use: plain}]}, style: small}\n",
		"slot":          "  - {box: {do: [{use: part, slots: {s: [{text: A}, TEXT]}}]}, style: small}\n",
		"cell":          "  - {table: {columns: [{head: H}], rows: [[{do: [{text: A}, TEXT]}]]}, style: small}\n",
		"column":        "  - {table: {columns: [{head: H, style: small}], rows: [[{do: [{text: A}, TEXT]}]]}}\n",
		"styled cell":   "  - {table: {columns: [{head: H}], rows: [[{do: [{text: A}, TEXT], style: small}]]}}\n",
		"cell of data":  "  - {table: {columns: [{head: H}], rows: [[{do: [{text: A}, TEXT], style: \"${yes ? 'small' : 'base'}\"}]]}}\n",
		"text cell":     "  - {table: {columns: [{head: H, head-style: small}], rows: [[A], [TEXT]]}, style: small}\n",
		"table in box":  "  - {box: {do: [{table: {columns: [{head: H, head-style: small}], rows: [[A], [TEXT], [{do: [TEXT]}]]}}]}, style: small}\n",
		"table in cell": "  - {table: {columns: [{head: H}], rows: [[{do: [{table: {columns: [{head: H, head-style: small}], rows: [[TEXT]]}}], style: small}]]}}\n",
		"outer columns": "  - {row: {widths: [1fr, auto], cells: [A, TEXT]}, style: small}\n",
	} {
		around := ""
		if name == "boxes" {
			around = ", italic: true"
		}
		src := head + body
		keys := strings.ReplaceAll(src, "TEXT", "{text: B, weight: bold}")
		named := strings.ReplaceAll(src, "TEXT", "{text: B, style: changed"+around+"}")
		if e.want(keys) != e.want(named) {
			t.Errorf("%s: a key takes away the style of what is around", name)
		}
		if name == "table in cell" || name == "text cell" || name == "table in box" {
			continue // the colour of such a cell lies over that of its column
		}
		tinted := strings.ReplaceAll(src, "TEXT", "{text: B, color: \"${yes ? '#0000ff' : '#000000'}\"}")
		named = strings.ReplaceAll(src, "TEXT", "{text: B, style: other"+around+"}")
		if e.want(tinted) != e.want(named) {
			t.Errorf("%s: a colour that data decide takes away the style of what is around", name)
		}
	}
}

// TestRunningContentIsInNoSection: a header has the base style, whatever that of its section, and
// of the section around that.
func TestRunningContentIsInNoSection(t *testing.T) {
	t.Parallel()
	const src = "quire: 1\nname: x\nlang: en\ntitle: X\ntheme: none\n" +
		"styles:\n  base: {size: 11pt, leading: 15pt}\n  small: {size: 7pt, leading: 9pt, color: \"#b00020\"}\n  changed: {weight: bold}\nbody:\n" +
		"  - section:\n      do:\n        - section:\n            header: {all: [{text: B, KEY}, {row: {cells: [A, {text: B, KEY}]}}, {table: {columns: [{head: H}], rows: [[{text: B, KEY}]]}}]}\n" +
		"            do: [{text: A}]\n          style: small\n    style: small\n"
	e := newEffects(t)
	if e.want(strings.ReplaceAll(src, "KEY", "weight: bold")) != e.want(strings.ReplaceAll(src, "KEY", "style: changed")) {
		t.Error("a key of a header changes the style of its section")
	}
}

// TestKeysOfAColumnChangeTheStyleOfItsTable: also those of a table in something of a style.
func TestKeysOfAColumnChangeTheStyleOfItsTable(t *testing.T) {
	t.Parallel()
	const head = "quire: 1\nname: x\nlang: en\ntitle: X\ntheme: none\n" +
		"styles:\n  base: {size: 11pt, leading: 15pt}\n  small: {size: 7pt, leading: 9pt, color: \"#b00020\"}\n  changed: {extends: small, weight: bold}\nbody:\n"
	e := newEffects(t)
	for name, body := range map[string]string{
		"table": "  - {table: {columns: [{head: H, COLUMN}, {head: H}], rows: [[A, B]]}, style: small}\n",
		"box":   "  - {box: {do: [{table: {columns: [{head: H, COLUMN}, {head: H}], rows: [[A, B]]}}]}, style: small}\n",
	} {
		keys, named := strings.ReplaceAll(head+body, "COLUMN", "weight: bold"), strings.ReplaceAll(head+body, "COLUMN", "style: changed")
		if e.want(keys) != e.want(named) {
			t.Errorf("%s: a key of the column takes away the style of the table", name)
		}
	}
}

// TestKeysKeepTheSpacesOfABlock: a key that is no space changes none.
func TestKeysKeepTheSpacesOfABlock(t *testing.T) {
	t.Parallel()
	e := newEffects(t)
	for _, block := range []string{
		"text: A", "list: {items: [A]}", "box: {do: [{text: A}]}", "columns: {do: [{text: A}]}",
		"barcode: code128, value: ABC, alt: Code", "field: text, name: a, label: A",
		"table: {columns: [{head: H}], rows: [[A]]}", "row: {cells: [A, B]}", "markdown: A",
	} {
		src := func(key string) string {
			return "quire: 1\nname: x\nlang: en\ntitle: X\nbody:\n  - {text: B}\n  - {" + block + key + "}\n  - {text: B}\n  - {box: {do: [{" + block + key + "}, {text: B}]}}\n"
		}
		if e.want(src("")) != e.want(src(", weight: normal")) {
			t.Errorf("%s: a weight changes its spaces", block)
		}
	}
}

// want is the file that a template makes.
func (e *effects) want(src string) string {
	e.t.Helper()
	out, err := e.outcome(src)
	if err != nil {
		e.t.Fatalf("%v\n%s", err, src)
	}
	return out
}
