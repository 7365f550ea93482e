//go:build !race

package edit_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"example.com/quire/pdf/internal/edit"
	"example.com/quire/pdf/standard"
)

// elem is a structure element of a small file, with the entries that come to its dictionary.
type elem struct {
	kind, more string
	kids       []elem
}

func el(kind string, kids ...elem) elem { return elem{kind: kind, kids: kids} }

func (e elem) with(more string) elem {
	e.more += more
	return e
}

func span(kind string, columns, rows int) elem {
	return el(kind).with(fmt.Sprintf("/A<</O/Table/Scope/Column/ColSpan %d/RowSpan %d>>", columns, rows))
}

func headed(id string) elem { return el("TD").with("/A<</O/Table/Headers[(" + id + ")]>>") }

func header() elem { return el("TH").with("/A<</O/Table/Scope/Column>>") }

// The objects of a tagged file are the structure tree, the namespace of PDF 2.0, the document, the
// element of the text, a namespace that maps the type Own, that of MathML, and from firstElem on
// the elements that are given, in the order in which they are read.
const firstElem = 16

// tagged is a small file that conforms to PDF/UA in this part, with elements beside the one of its
// text.
func tagged(part int, more string, beside ...elem) archive {
	var objects []string
	var add func(e elem, parent int) int
	add = func(e elem, parent int) int {
		at := len(objects)
		n := firstElem + at
		objects = append(objects, "")
		var kids strings.Builder
		for _, k := range e.kids {
			fmt.Fprintf(&kids, "%d 0 R ", add(k, n))
		}
		objects[at] = fmt.Sprintf("<</Type/StructElem/S/%s/P %d 0 R/K[%s]%s>>", e.kind, parent, kids.String(), e.more)
		return n
	}
	var kids strings.Builder
	for _, e := range beside {
		fmt.Fprintf(&kids, "%d 0 R ", add(e, 12))
	}
	ns := ""
	if part == 2 {
		ns = "/NS 11 0 R"
		for i := range objects {
			if !strings.Contains(objects[i], "/NS") {
				objects[i] = strings.Replace(objects[i], "/K[", ns+"/K[", 1)
			}
		}
	}
	a := archive{
		content: "/P<</MCID 0>>BDC BT /Sans 9 Tf (A) Tj ET EMC", page: "/StructParents 0/Tabs/S",
		catalog:  "/Lang(en)/MarkInfo<</Marked true>>/StructTreeRoot 10 0 R/ViewerPreferences<</DisplayDocTitle true>>",
		prefixes: ` xmlns:pdfuaid="http://www.aiim.org/pdfua/ns/id/"`,
		packet:   fmt.Sprintf(`<pdfuaid:part>%d</pdfuaid:part><dc:title><rdf:Alt><rdf:li xml:lang="x-default">T</rdf:li></rdf:Alt></dc:title>`, part),
		objects: append([]string{
			"<</Type/StructTreeRoot/K 12 0 R/ParentTree<</Nums[0[13 0 R]]>>/Namespaces[11 0 R 14 0 R 15 0 R]" + more + ">>", "<</Type/Namespace/NS(http://iso.org/pdf2/ssn)>>",
			"<</Type/StructElem/S/Document/P 10 0 R" + ns + "/K[13 0 R " + kids.String() + "]>>", "<</Type/StructElem/S/P/P 12 0 R" + ns + "/Pg 3 0 R/K 0>>",
			"<</Type/Namespace/NS(urn:own)/RoleMapNS<</Own[/P 11 0 R]>>>>", "<</Type/Namespace/NS(http://www.w3.org/1998/Math/MathML)>>",
		}, objects...),
	}
	if part == 2 {
		a.header = "%PDF-2.0\n%\xe2\xe3\xcf\xd3\n"
		a.packet += "<pdfuaid:rev>2024</pdfuaid:rev>"
	} else {
		a.objects[0] = strings.Replace(a.objects[0], "/Namespaces[11 0 R 14 0 R 15 0 R]", "", 1)
	}
	return a
}

type tagRule struct {
	clause string // empty: the file is sound
	is     archive
}

// tagRules are files that break one rule of ISO 14289 about structure elements, whose clause is
// given, and sound ones beside them.
func tagRules(part int) map[string]tagRule {
	of := func(clause string, beside ...elem) tagRule { return tagRule{clause, tagged(part, "", beside...)} }
	mapped := func(clause, roles string, beside ...elem) tagRule {
		return tagRule{clause, tagged(part, "/RoleMap<<"+roles+">>", beside...)}
	}
	table := func(clause string, rows ...elem) tagRule { return of(clause, el("Table", rows...)) }
	row := func(cells ...elem) elem { return el("TR", cells...) }
	two := row(header(), header())
	role, grid := "7.1", "7.2"
	if part == 2 {
		role, grid = "8.2.4", "8.2.5.26"
	}
	none := "/NS null" // PDF 1.7's namespace
	all := map[string]tagRule{
		"sound":                       of("", el("Div", el("P"))),
		"type that is not mapped":     of(role, el("Own").with(none)),
		"type that is mapped":         mapped("", "/Own/P", el("Own").with(none)),
		"type that is mapped twice":   mapped("", "/Own/Other/Other/P", el("Own").with(none)),
		"types in a circle":           mapped(role, "/Own/Other/Other/Own", el("Own").with(none)),
		"type mapped to nothing":      mapped(role, "/Own/Other", el("Own").with(none)),
		"sound table":                 table("", two, two),
		"table in parts":              table("", el("Caption", el("P")), el("THead", two), el("TBody", two, two)),
		"cells over columns and rows": table("", row(span("TH", 2, 1), header()), row(span("TH", 1, 2), header(), header()), row(span("TH", 2, 1))),
		"short row":                   table(grid, two, row(header())),
		"long row":                    table(grid, row(header()), two),
		"row with a span too many":    table(grid, two, row(span("TH", 2, 1), header())),
		"cells that overlap":          table(grid, row(header(), span("TH", 1, 2), header()), row(span("TH", 2, 1), header())),
		"rows beyond the last":        table(grid, row(header(), span("TH", 1, 2))),
		"formula with Alt":            of("", el("P", el("Formula").with("/Alt(a)"))),
	}
	if part == 1 {
		all["standard type that is mapped"] = mapped(role, "/P/H1")
		all["formula without Alt"] = of("7.7", el("P", el("Formula")))
		all["formula with ActualText"] = of("", el("P", el("Formula").with("/ActualText(a)")))
		all["notes with ID"] = of("", el("P", el("Note").with("/ID(a)"), el("Note").with("/ID(b)")))
		all["note without ID"] = of("7.9", el("P", el("Note")))
		all["notes of one ID"] = of("7.9", el("P", el("Note").with("/ID(a)"), el("Note").with("/ID(a)")))
		all["two heads"] = table(grid, el("THead", two), el("THead", two), el("TBody", two))
		all["two feet"] = table(grid, el("TBody", two), el("TFoot", two), el("TFoot", two))
		all["head without body"] = table(grid, el("THead", two))
		all["caption amid a table"] = table(grid, two, el("Caption"), two)
		all["caption behind an item"] = of(grid, el("L", el("LI", el("LBody")), el("Caption")))
		all["caption before an item"] = of("", el("L", el("Caption"), el("LI", el("LBody"))))
		all["text in a list item"] = of(grid, el("L", el("LI", el("P"))))
		all["text in a Div of a list item"] = of(grid, el("L", el("LI", el("Div", el("P")))))
		all["item in no list"] = of(grid, el("LI", el("LBody")))
		all["rows in a Div"] = table("", el("Div", two, two))
		all["header cells without Scope"] = table("7.5", row(el("TH"), el("TH")), row(el("TD"), el("TD")))
		all["header cells alone"] = table("", row(el("TH"), el("TH")))
		all["cells that name their headers"] = table("", row(el("TH").with("/ID(a)"), el("TH").with("/ID(b)")), row(headed("a"), headed("b")))
		all["cell that names what there is not"] = table("7.5", row(el("TH").with("/ID(a)"), el("TH").with("/ID(b)")), row(headed("a"), headed("c")))
		all["header of the column"] = table("", two, row(el("TD"), el("TD")), row(el("TD"), el("TH")))
		all["language of an element of lines"] = of("7.2", el("P", el("Quote").with("/Lang(e_n)")))
		all["language that is empty"] = of("7.2", el("P").with("/Lang()"))
		all["two captions"] = table(grid, el("Caption"), two, el("Caption"))
		return all
	}
	ref := func(n int) string { return fmt.Sprintf("/Ref[%d 0 R]", n) }
	all["note"] = of("8.2.5.14", el("P", el("Note").with(none)))
	all["citation"] = of("", el("P", el("Lbl").with(ref(firstElem+2)), el("FENote").with(ref(firstElem+1))))
	all["citation that is not known to its note"] = of("8.2.5.14", el("P", el("Lbl").with(ref(firstElem+2)), el("FENote")))
	for name, x := range map[string]struct {
		clause string
		is     elem
	}{
		"ruby":                                    {"", el("P", el("Ruby", el("RB"), el("RT")))},
		"ruby with brackets":                      {"", el("P", el("Ruby", el("RB"), el("RP"), el("RT"), el("RP")))},
		"ruby without its text":                   {"8.2.5.23", el("P", el("Ruby", el("RB")))},
		"ruby in another order":                   {"8.2.5.23", el("P", el("Ruby", el("RT"), el("RB")))},
		"warichu":                                 {"", el("P", el("Warichu", el("WP"), el("WT"), el("WP")))},
		"warichu without brackets":                {"8.2.5.24", el("P", el("Warichu", el("WT")))},
		"caption amid a section":                  {"8.2.5.27", el("Sect", el("P"), el("Caption"), el("P"))},
		"caption behind a section":                {"", el("Sect", el("P"), el("Caption"))},
		"caption amid a Div":                      {"8.2.5.27", el("Sect", el("Div", el("P"), el("Caption"), el("P")))},
		"math in no formula":                      {"8.2.5.29", el("P", el("math").with("/NS 15 0 R"))},
		"math within math":                        {"", el("Formula", el("math", el("mi").with("/NS 15 0 R")).with("/NS 15 0 R")).with("/Alt(a)")},
		"labels of a list without numbers":        {"8.2.5.25", el("L", el("LI", el("Lbl"), el("LBody")))},
		"labels of a list with numbers":           {"", el("L", el("LI", el("Lbl"), el("LBody"))).with("/A<</O/List/ListNumbering/Decimal>>")},
		"labels of a list within one":             {"", el("L", el("LI", el("Lbl"), el("LBody", el("L", el("LI", el("Lbl"), el("LBody")))))).with("/A<</O/List/ListNumbering/Decimal>>")},
		"text in a Div of a list item":            {"ISO/TS 32005, 6.2", el("L", el("LI", el("Div", el("P"))))},
		"span in a section":                       {"ISO/TS 32005, 6.2", el("Sect", el("Span"))},
		"paragraphs of a reference":               {"", el("P", el("Reference", el("P")).with(none))},
		"paragraphs of a reference beside a span": {"ISO/TS 32005, 6.2", el("P", el("Reference", el("P"), el("Span")).with(none))},
		"two captions of a figure":                {"ISO/TS 32005, 6.2", el("Figure", el("Caption"), el("Caption")).with("/Alt(a)")},
		"sub in a sub":                            {"ISO/TS 32005, 6.2", el("P", el("Sub", el("Sub")))},
		"language of an element of lines":         {"8.4.4", el("P", el("Sub").with("/Lang(e_n)"))},
		"header cells by their place":             {"", el("Table", row(el("TH"), el("TH")), row(el("TD"), el("TD")))},
		"cells without header cells":              {"", el("Table", row(el("TD"), el("TD")), row(el("TD"), el("TD")))},
		"header cell in the corner by its Scope":  {grid, el("Table", row(el("TD"), el("TD")), row(el("TD"), el("TH")))},
		"cell beyond its row group":               {grid, el("Table", el("TBody", row(span("TH", 1, 2), header())), el("TBody", row(header())))},
		"private use text":                        {"8.4.3", el("P", el("Sub").with("/ActualText<FEFFE000>"))},
	} {
		all[name] = of(x.clause, x.is)
	}
	all["note that is not cited"] = of("8.2.5.14", el("P", el("Lbl"), el("FENote").with(ref(firstElem+1))))
	all["note of its own type"] = of("8.2.5.14", el("P", el("FENote").with("/A<</O/FENote/NoteType/Own>>")))
	all["type of its own namespace"] = of("", el("Own").with("/NS 14 0 R"))
	all["type that its namespace does not map"] = of(role, el("Other").with("/NS 14 0 R"))
	all["type of MathML"] = of("", el("Formula", el("math").with("/NS 15 0 R")).with("/Alt(a)"))
	return all
}

// checkedTags returns the clauses that Check names of each file.
func checkedTags(t *testing.T, part int, files map[string][]byte) map[string][]string {
	t.Helper()
	claim := standard.PDFUA1
	if part == 2 {
		claim = standard.PDFUA2
	}
	found := map[string][]string{}
	for name, b := range files {
		d, err := edit.Open(bytes.NewReader(b), int64(len(b)), edit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		list, err := d.Check(t.Context(), []standard.ID{claim})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, f := range list {
			found[name] = append(found[name], strings.TrimPrefix(f.Clause, fmt.Sprintf("ISO 14289-%d, ", part)))
		}
	}
	return found
}

// TestCheckFindsEachRuleOfTagsThatIsBroken: of small tagged files, each with one thing that ISO
// 14289 does not take, Check names the clause; of those beside them that are sound it names none.
func TestCheckFindsEachRuleOfTagsThatIsBroken(t *testing.T) {
	for part := 1; part <= 2; part++ {
		all, files := tagRules(part), map[string][]byte{}
		for name, x := range all {
			files[name] = x.is.bytes(t)
		}
		found := checkedTags(t, part, files)
		for name, x := range all {
			if !names(found[name], x.clause) {
				t.Errorf("part %d, %s: %q, want %q", part, name, found[name], x.clause)
			}
		}
	}
}

// TestTablesTakeLinearWork: tables whose cells claim columns and rows without number, or whose rows
// are one object again and again, are looked at as far as a file may take.
func TestTablesTakeLinearWork(t *testing.T) {
	cells := strings.Repeat("18 0 R ", 20_000)
	for name, more := range map[string][]string{
		"columns": {"<</S/Table/K[17 0 R 17 0 R]>>", "<</S/TR/K[18 0 R 18 0 R]>>", "<</S/TH/A<</O/Table/Scope/Column/ColSpan 2147483647/RowSpan 2147483647>>>>"},
		"rows":    {"<</S/Table/K[" + strings.Repeat("17 0 R ", 20_000) + "]>>", "<</S/TR/K[" + cells + "]>>", "<</S/TH/A<</O/Table/Scope/Column>>>>"},
	} {
		a := tagged(1, "", el("Div"))
		a.objects[2] = "<</Type/StructElem/S/Document/P 10 0 R/K[13 0 R 16 0 R]>>"
		a.objects = append(a.objects[:firstElem-10], more...)
		b := a.bytes(t)
		d, err := edit.Open(bytes.NewReader(b), int64(len(b)), edit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Check(t.Context(), []standard.ID{standard.PDFUA1}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
