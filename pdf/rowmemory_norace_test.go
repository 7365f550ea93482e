//go:build !race

package pdf_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"example.com/quire/pdf"
	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/standard"
	"example.com/quire/pdf/template"
)

// Rows of long tables are made in the memory of those that are drawn. The tests of this file make
// documents at random, of tables with all that a row may hold and that may refer to one, and hold
// each against the same document in which no memory of a row serves twice: what is given back has
// marks in it there. The two are the same to the byte, and so are their errors. All is done in one
// goroutine, which the race detector would only make eight times as long.

type (
	object = map[string]any
	array  = []any
)

// rowDocs makes templates and data. Every text of the data has a token of its own.
type rowDocs struct {
	*rand.Rand
	tokens   int
	list     string                     // of the loop being made
	used     map[string]map[string]bool // the fields of each list that are printed
	anchored bool                       // the rows of the first loop have anchors
	loops    int
	fields   int // of forms
	plain    bool
	long     bool
	single   bool  // loops give one row after the other
	bad      bool  // some texts are refused
	kinds    []int // of cells, beside plain ones; nil: all
}

func (g *rowDocs) chance(n int) bool { return g.IntN(n) == 0 }

func pickOf[T any](g *rowDocs, all ...T) T { return all[g.IntN(len(all))] }

// text is one of any kind and length, with a token of its own.
func (g *rowDocs) text() string {
	g.tokens++
	token := fmt.Sprintf("Z%dQ", g.tokens)
	words := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(pickOf(g, " to", " settlement", " \u00fcber", " 12.50", " a", " na\u00efve", " (sic)", " A\u0301v\u0323e"))
		}
		return b.String()
	}
	switch k := g.IntN(60); {
	case k < 4:
		return ""
	case k < 7:
		return pickOf(g, "a", "-", "7", "\u00e9", "%", "\\", "(", "\u0301")
	case k < 30:
		return token
	case k < 38:
		return token + words(1+g.IntN(4))
	case k < 42:
		return token + words(10+g.IntN(60))
	case k < 43:
		return token + words(10+g.IntN(400))
	case k < 46:
		return token + strings.Repeat("\u00e9", 1+g.IntN(300))
	case k < 48:
		return token + strings.Repeat("\u03b1\u0436", 1+g.IntN(80))
	case k < 50:
		return token + " \u0627\u0644\u0633\u0644\u0627\u0645 " + strings.Repeat("\u0628", g.IntN(9))
	case k < 52:
		return "\u05d0\u05d1 12 " + token
	case k < 54:
		return token + strings.Repeat(pickOf(g, "x", "1", "AV", "-", "/"), 1+g.IntN(90))
	case k < 56:
		return token + " a\u0301\u0323e\u0308o\u0303 \u00ad" + words(2)
	case k < 57:
		return token + "\n" + token[:1] + "\u00a0\u2009x"
	case k < 58 && g.bad && g.chance(4):
		return token + pickOf(g, "\u4e00", "\x07", "\uFFFE", "\ue000") // which is refused
	default:
		return token
	}
}

func (g *rowDocs) row(i int) object {
	tags := array{}
	for range g.IntN(3) {
		tags = append(tags, g.text())
	}
	return object{
		"id": fmt.Sprintf("r%d", i), "a": g.text(), "b": g.text(), "n": json.Number(fmt.Sprintf("%d.%02d", g.IntN(20_000)-9_000, g.IntN(100))),
		"g": pickOf(g, "north", "south", "east"), "flag": g.chance(3), "tags": tags,
	}
}

// use prints a field of the row.
func (g *rowDocs) use(f string) string {
	if g.used[g.list] == nil {
		g.used[g.list] = map[string]bool{}
	}
	g.used[g.list][f] = true
	return "${r." + f + "}"
}

// cell is a cell of a row of a loop.
func (g *rowDocs) cell() any {
	use := g.use
	f := pickOf(g, "a", "b")
	if g.plain || g.chance(2) {
		switch g.IntN(4) {
		case 0:
			return "${r.n | number(2)}"
		case 1:
			return "${r.id}"
		default:
			return use(f)
		}
	}
	kind := g.IntN(30)
	if g.kinds != nil {
		kind = pickOf(g, g.kinds...)
	}
	switch kind {
	case 0:
		return "of " + use(f) + "."
	case 1:
		return "**" + use(f) + "** and *" + use(f) + "*"
	case 2:
		return "[" + use(f) + "!](https://example.com/${r.id})"
	case 3:
		if !g.anchored {
			return "none"
		}
		return "[to " + use(f) + "](#row-${r.id})"
	case 4:
		return use(f) + "^[note " + use("a") + "]"
	case 5:
		if !g.anchored {
			return "none"
		}
		return "${pageOf('row-' + r.id)}"
	case 6:
		return object{"do": array{
			object{"text": use(f)},
			object{"table": object{"columns": array{object{"head": "in", "width": "1fr"}, object{"width": "auto"}}, "rows": object{"for": "t in r.tags", "cells": array{"${t}", "${r.id}"}}}},
		}}
	case 7:
		return object{"do": array{object{"barcode": "qr", "value": "${r.id}", "alt": "code of ${r.id}", "size": "12mm"}}}
	case 8:
		return object{"do": array{object{"image": "${photo}", "alt": "of ${r.id}", "width": "8mm"}, object{"text": use(f)}}}
	case 9:
		g.fields++
		return object{"do": array{object{"field": pickOf(g, "text", "checkbox"), "name": fmt.Sprintf("f%d.${r.id}", g.fields), "label": "${r.id}"}}}
	case 10:
		return object{"text": use(f), "rotate": pickOf(g, 90, 270)}
	case 11:
		return object{"text": use(f), "style": "${r.flag ? 's1' : 's2'}"}
	case 12:
		return object{"text": use(f), "background": "${r.flag ? '#ffeeee' : 'none'}"}
	case 13:
		return object{"text": use(f), "color": "${r.flag ? '#a00000' : '#00a000'}"}
	case 14:
		return nil
	case 15:
		return "fixed"
	case 16:
		return "${page()} of ${pages()}"
	case 17:
		return object{"do": array{object{"list": object{"for": "t in r.tags", "item": "${t} of ${r.id}"}}}}
	case 18:
		return object{"do": array{object{"heading": "H${r.id}", "level": 3, "bookmark": true}, object{"text": use(f)}}}
	case 19:
		return object{"do": array{object{"row": object{"cells": array{array{object{"text": use(f)}}, array{object{"text": "${r.id}"}}}}}}}
	case 20:
		return object{"do": array{object{"box": object{"border": "hairline", "padding": "2pt", "do": array{object{"text": use(f), "lang": pickOf(g, "de", "en")}}}}}}
	case 21:
		return object{"text": use(f), "valign": pickOf(g, "middle", "bottom"), "border": object{"bottom": "hairline"}}
	case 22:
		return object{"do": array{object{"if": "r.flag", "do": array{object{"text": use(f)}}, "else": array{object{"text": use(f)}}}}}
	case 23:
		return object{"do": array{object{"text": use(f), "bookmark": "B${r.id}"}, object{"for": "t in r.tags", "do": array{object{"text": "${t}"}}}}}
	case 24:
		return object{"text": use(f), "link": "https://example.com/${r.id}"}
	case 25:
		return object{"text": use(f), "size": "12pt", "header": g.chance(2)}
	case 26:
		return "[" + use(f) + "]{s1}"
	default:
		return use(f)
	}
}

func (g *rowDocs) cells(n int, cell func() any) array {
	out := array{}
	for range n {
		out = append(out, cell())
	}
	return out
}

// look lays over a row how it looks.
func (g *rowDocs) look(row object) object {
	if g.plain {
		return row
	}
	if g.chance(6) {
		row["background"] = pickOf(g, "#f0f0f0", "${r.flag ? '#eef' : 'none'}")
	}
	if g.chance(8) {
		row["height"] = "9mm"
	}
	if g.chance(8) {
		row["keep-with-next"] = true
	}
	if g.chance(8) {
		row["border"] = object{"bottom": object{"width": "1pt", "dash": array{"2pt", "1pt"}}}
	}
	if g.chance(8) {
		row["weight"] = "bold"
	}
	return row
}

// rows are entries that are made for each item: one row, several, or spanned ones.
func (g *rowDocs) rows(n int, anchored bool) array {
	first := g.look(object{"cells": g.cells(n, g.cell)})
	if anchored {
		first["anchor"] = "row-${r.id}"
	}
	all := array{first}
	switch {
	case g.plain || g.single:
	case g.chance(4):
		all = append(all, g.look(object{"cells": g.cells(n, g.cell)}))
	case n > 1 && g.chance(5):
		tall := 2 + g.IntN(2)
		top := g.cells(n, g.cell)
		top[0] = object{"text": g.use("a"), "rowspan": tall}
		all = append(all, object{"cells": top})
		for range tall - 1 {
			all = append(all, object{"cells": g.cells(n-1, g.cell)})
		}
	case n > 1 && g.chance(5):
		all = append(all, object{"cells": array{object{"text": g.use("b"), "colspan": "all"}}, "weight": "bold"})
	}
	if !g.plain && !g.single && g.chance(5) {
		all = append(all, object{"if": "r.flag", "rows": array{g.cells(n, func() any { return "if ${r.id}" })}, "else": array{g.cells(n, func() any { return "else ${r.id}" })}})
	}
	return all
}

// loop is an entry with the rows of a list.
func (g *rowDocs) loop(n int, list string) object {
	anchored := g.loops == 0 && g.anchored
	g.list = list
	g.loops++
	l := object{"for": "r in " + list}
	if rows := g.rows(n, anchored); len(rows) == 1 {
		maps.Copy(l, rows[0].(object))
	} else {
		l["rows"] = rows
	}
	one := func(s string) array { return g.cells(n, func() any { return s }) }
	if !g.single && g.chance(3) {
		l["group"] = object{"by": "r.g", "head": array{one("${group.key}")}, "foot": array{object{"cells": one("${len(group.rows)}"), "weight": "bold"}}}
	}
	if g.chance(3) {
		c := object{"sum": "r.n", "out": object{"cells": one("${carry | number(2)}"), "italic": true}}
		if g.chance(2) {
			c["in"] = one("${name} ${carry | number(2)}")
		}
		l["carry"] = c
	}
	if g.chance(4) {
		l["empty"] = "none of ${name}"
	}
	return l
}

func (g *rowDocs) table(list string) object {
	n := 1 + g.IntN(4)
	cols := array{}
	for i := range n {
		c := object{"width": pickOf(g, "1fr", "1fr", "30mm", "auto")}
		if g.plain || n > 2 || g.long {
			c["width"] = "1fr"
		}
		if g.chance(2) {
			c["head"] = pickOf(g, "Head", "${name}", "[h](https://example.com/h)")
		}
		switch g.IntN(6) {
		case 0:
			c["align"] = "decimal"
		case 1:
			c["align"], c["figures"] = "right", "tabular"
		case 2:
			c["style"] = "s2"
		case 3:
			c["background"] = "#f8f8ff"
		}
		if i == 0 && g.chance(2) {
			c["scope"] = "row"
		}
		cols = append(cols, c)
	}
	t := object{"columns": cols}
	l := g.loop(n, list)
	switch {
	case g.chance(3):
		if g.chance(2) {
			l["stripe"] = array{"#ffffff", "#f4f4f4"}
		}
		if g.chance(3) {
			l["split"] = false
		}
		t["rows"] = l
	default:
		all := array{g.cells(n, func() any { return "first ${name}" })}
		if n > 1 {
			two := g.cells(n, func() any { return object{"text": "span", "rowspan": 2} })
			two[n-1] = "beside"
			all = append(all, two, array{"below"})
		}
		all = append(all, l, g.cells(n, func() any { return "last" }))
		t["rows"] = all
	}
	if g.chance(3) {
		t["head"] = array{g.cells(n, func() any { return pickOf(g, "${name}", "again", "") })}
	}
	if g.chance(3) {
		t["foot"] = array{g.cells(n, func() any { return "foot ${name}" })}
	}
	if g.chance(3) {
		t["caption"] = "Of ${name}"
	}
	if g.chance(5) {
		t["header-repeat"] = false
	}
	if g.chance(4) {
		t["border"] = pickOf[any](g, "hairline", object{"rows": "hairline", "columns": "hairline"})
	}
	if g.chance(6) {
		t["padding"] = pickOf(g, "0pt", "6pt")
	}
	block := object{"table": t}
	switch g.IntN(8) {
	case 0:
		block["style"] = "loose"
	case 1:
		block["anchor"], block["bookmark"] = "table"+strconv.Itoa(g.loops), "T${name}"
	case 2:
		if !g.long && g.chance(3) {
			return object{"box": object{"do": array{block}}}
		}
	case 3:
		block["lang"] = pickOf(g, "de", "he")
	}
	return block
}

// make makes a template and its data.
func (g *rowDocs) make() (source, data []byte) {
	g.used = map[string]map[string]bool{}
	rows, other := g.IntN(40), g.IntN(20)
	if g.chance(10) {
		g.plain, g.long = g.chance(2), true
		rows = 520 + g.IntN(1200)
	}
	g.bad = g.chance(6)
	switch g.single = g.chance(2); {
	case g.single: // rows that follow each other are one row of the template, with one thing besides texts
		g.kinds = []int{pickOf(g, 0, 1, 2, 4, 11, 12, 13, 16, 24, 26)}
	case g.long || g.chance(2):
		for range 1 + g.IntN(3) {
			g.kinds = append(g.kinds, pickOf(g, 0, 1, 2, 4, 10, 11, 12, 13, 14, 15, 16, 20, 21, 22, 24, 25, 26, 27))
		}
	}
	g.anchored = !g.plain && g.chance(3)
	body := array{}
	if g.chance(2) {
		body = append(body, object{"heading": "On ${name}", "level": 1, "anchor": "top"})
	}
	if g.chance(8) {
		body = append(body, object{"toc": object{"levels": 3}})
	}
	body = append(body, g.table("rows"))
	if g.chance(3) {
		body = append(body, object{"text": "between ${name}^[of ${name}]"})
	}
	if g.anchored && g.chance(2) && rows > 0 {
		body = append(body, object{"text": "See [it](#row-r0) on page ${pageOf('row-r" + strconv.Itoa(rows-1) + "')}"})
	}
	if g.chance(3) {
		body = append(body, object{"section": object{"number-from": 1, "do": array{object{"heading": "Part", "level": 2}, g.table("other")}}})
	} else if g.chance(2) {
		body = append(body, g.table("other"))
	}
	t := object{
		"quire": 1, "name": "t", "lang": "en", "locale": "en", "title": "T", "theme": pickOf[any](g, "default", "none"),
		"page":   object{"size": pickOf(g, "A6", "A5"), "margin": "9mm"},
		"data":   object{"name": "string", "photo": "image", "rows": array{rowContract}, "other": array{rowContract}},
		"styles": object{"s1": object{"weight": "bold", "size": "8pt"}, "s2": object{"italic": true}, "loose": object{"orphans": 1, "widows": 1}},
		"body":   body,
	}
	if t["theme"] == "default" {
		delete(t, "theme")
	}
	if g.chance(3) {
		t["header"] = object{"all": array{object{"text": "${section()} ${name}"}}}
	}
	if g.chance(3) {
		t["footer"] = object{"all": array{object{"text": "${page()}" + pickOf(g, "", " of ${pages()}")}}}
	}
	if g.chance(4) {
		t["footnotes"] = object{"restart": pickOf(g, "never", "section", "page")}
	}
	d := object{"name": "N" + g.text(), "photo": interlacedPNG(8, 7), "rows": array{}, "other": array{}}
	for i := range rows {
		d["rows"] = append(d["rows"].(array), g.row(i))
	}
	for i := range other {
		d["other"] = append(d["other"].(array), g.row(i))
	}
	return jsonOf(t), jsonOf(d)
}

var rowContract = object{"id": "string", "a": "string", "b": "string", "n": "decimal", "g": "string", "flag": "boolean", "tags": array{"string"}}

// rowFault is what goes wrong with a document while it is made.
type rowFault struct {
	after  int // bytes; below 0: nothing goes wrong
	cancel bool
}

func (f rowFault) made(ctx context.Context, e *pdf.Engine, src, data []byte, o pdf.RenderOptions) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := &faultyWriter{fault: faultWriter, left: 1 << 30, cancel: cancel}
	if f.after >= 0 {
		if w.left = f.after; f.cancel {
			w.fault = faultCancel
		}
	}
	plan, err := e.Compile(ctx, pdf.Source{File: "t.json", Text: src})
	if err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	_, err = e.Render(ctx, w, plan, template.JSON(data), o)
	return w.Bytes(), err
}

var rowStandards = [][]standard.ID{
	nil, nil, nil, compliant, compliant,
	{standard.PDFUA1},
	{standard.PDFUA2},
	{standard.PDFA1b},
	{standard.PDFA1a},
	{standard.PDFA2b},
	{standard.PDFA2u},
	{standard.PDFA2a},
	{standard.PDFA3a, standard.PDFUA1},
	{standard.PDFA3b},
	{standard.PDFA3u},
	{standard.PDFA4e},
	{standard.PDFA4},
}

// checkRows makes the document of a seed by both engines, and returns what ended it.
func checkRows(t *testing.T, seed uint64, reused, poisoned *pdf.Engine, judge bool) error {
	t.Helper()
	g := &rowDocs{Rand: rand.New(rand.NewPCG(seed, 1))} //nolint:gosec // G404: test data
	src, data := g.make()
	o := pdf.RenderOptions{Time: frozen, SourceMap: g.chance(4)}
	o.Standards = pickOf(g, rowStandards...)
	f := rowFault{after: -1}
	if g.chance(8) {
		f = rowFault{after: g.IntN(30_000), cancel: g.chance(2)}
	}
	told := func(err error) string {
		if err == nil {
			return ""
		}
		return tellError(err)
	}
	got, gotErr := f.made(t.Context(), reused, src, data, o)
	want, wantErr := f.made(t.Context(), poisoned, src, data, o)
	if told(gotErr) != told(wantErr) {
		t.Fatalf("seed %d: got %v\nwant %v\n%s\n%s", seed, gotErr, wantErr, src, data)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("seed %d: %d bytes, not the %d without use of memory twice\n%s\n%s", seed, len(got), len(want), src, data)
	}
	if gotErr != nil || !judge {
		return gotErr
	}
	file := pdftest.Write(t, "rows.pdf", got)
	if err := pdftest.QPDF(t, file); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	shown := map[string]bool{}
	for _, token := range reToken.FindAllString(bare(pdftest.Text(t, file)), -1) {
		if shown[token] = true; !bytes.Contains(data, []byte(token)) {
			t.Errorf("seed %d: %s is not of the data", seed, token)
		}
	}
	for _, token := range g.printed(t, data) {
		if !shown[token] {
			t.Errorf("seed %d: %s is not in the document\n%s\n%s", seed, token, src, data)
		}
	}
	return nil
}

var reToken = regexp.MustCompile(`Z\d+Q`)

// printed returns the tokens of the texts that the document shows.
func (g *rowDocs) printed(tb testing.TB, data []byte) (all []string) {
	tb.Helper()
	var lists map[string]json.RawMessage
	if err := json.Unmarshal(data, &lists); err != nil {
		tb.Fatal(err)
	}
	for list, fields := range g.used {
		var rows []map[string]any
		if err := json.Unmarshal(lists[list], &rows); err != nil {
			tb.Fatal(err)
		}
		for _, row := range rows {
			for f := range fields {
				all = append(all, reToken.FindAllString(row[f].(string), 1)...)
			}
		}
	}
	return all
}

// bare is a text without what lines are broken at.
func bare(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '\u00ad' || r == '-' {
			return -1
		}
		return r
	}, s)
}

// TestRowsAreThoseOfMemoryOfTheirOwn: whatever a document has, and whatever ends it. With
// QUIRE_ROW_SEEDS=1000+5000 it makes 5,000 documents from seed 1000 on.
func TestRowsAreThoseOfMemoryOfTheirOwn(t *testing.T) {
	t.Parallel()
	first, seeds := 0, 80
	if testing.Short() {
		seeds = 30
	}
	if s := os.Getenv("QUIRE_ROW_SEEDS"); s != "" {
		if _, err := fmt.Sscanf(s, "%d+%d", &first, &seeds); err != nil {
			t.Fatalf("QUIRE_ROW_SEEDS: %q: %v", s, err)
		}
	}
	own := pdf.Config{Fonts: liberation.New()}
	reused, poisoned := newEngine(t, own), newEngine(t, own)
	poisoned.PoisonRows()
	kinds := map[string]int{}
	for i := range seeds {
		err := checkRows(t, uint64(first+i), reused, poisoned, i%8 == 0)
		kind := "made"
		if de, ok := errors.AsType[*pdf.DiagnosticError](err); ok {
			kind = de.Diagnostics[0].Code
		} else if err != nil {
			kind = "ended"
		}
		kinds[kind]++
	}
	t.Log(kinds)
	for code := range kinds {
		if strings.HasPrefix(code, "T") {
			t.Errorf("a template that does not compile: %s", code)
		}
	}
	if kinds["made"] < seeds/2 {
		t.Errorf("%d documents of %d were made", kinds["made"], seeds)
	}
}

// FuzzRows is TestRowsAreThoseOfMemoryOfTheirOwn for any seed.
func FuzzRows(f *testing.F) {
	own := pdf.Config{Fonts: liberation.New()}
	reused, poisoned := newEngine(f, own), newEngine(f, own)
	poisoned.PoisonRows()
	f.Add(uint64(7))
	f.Fuzz(func(t *testing.T, seed uint64) { _ = checkRows(t, seed, reused, poisoned, false) })
}
