//go:build !race

package edit_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/edit"
	"example.com/quire/pdf/standard"
)

// documentRules are files that break one rule of languages, destinations, what a page and the
// catalog have, and how streams are written, and sound ones beside them.
func documentRules(t *testing.T) map[string]judged {
	t.Helper()
	of := func(claim string, spoil func(*archive)) []byte {
		a := archiveOf(claim)
		spoil(&a)
		return a.bytes(t)
	}
	// access is a tagged file; next is the number of the first of more objects.
	access := func(part int, spoil func(a *archive, next int), beside ...elem) []byte {
		a := tagged(part, "", beside...)
		spoil(&a, 10+len(a.objects))
		return a.bytes(t)
	}
	const text = 3 // the element of the text, among the objects
	// silent is one of part 1 whose catalog has no language; the element of its text has one.
	silent := func(spoil func(a *archive, next int), beside ...elem) []byte {
		return access(1, func(a *archive, next int) {
			a.catalog = strings.Replace(a.catalog, "/Lang(en)", "", 1)
			a.packet = strings.Replace(a.packet, "x-default", "en", 1)
			a.objects[text] = strings.Replace(a.objects[text], "/K 0", "/K 0/Lang(en)", 1)
			spoil(a, next)
		}, beside...)
	}
	keep := func(*archive, int) {}
	unnamed := func(a *archive) { a.objects[text] = strings.Replace(a.objects[text], "/Lang(en)", "", 1) }
	outline := func(item string) func(a *archive, next int) {
		return func(a *archive, next int) {
			a.catalog += fmt.Sprintf("/Outlines %d 0 R", next)
			a.objects = append(a.objects, fmt.Sprintf("<</Type/Outlines/First %d 0 R/Last %[1]d 0 R/Count 1>>", next+1), fmt.Sprintf("<</Title(x)/Parent %d 0 R%s>>", next, item))
		}
	}
	hidden := func(more string) func(a *archive, next int) {
		return func(a *archive, next int) {
			a.page += fmt.Sprintf("/Annots[%d 0 R]", next)
			a.objects = append(a.objects, "<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/F 2"+more+">>")
		}
	}
	field := func(more string) func(a *archive, next int) {
		return func(a *archive, next int) {
			a.catalog += fmt.Sprintf("/AcroForm<</Fields[%d 0 R]>>", next)
			a.objects = append(a.objects, "<</FT/Tx/T(a)/TU(a)"+more+">>")
		}
	}
	catalog := func(more string) func(a *archive, next int) {
		return func(a *archive, _ int) { a.catalog += more }
	}
	all := map[string]judged{}
	for name, b := range map[string][]byte{
		"language of the element": silent(keep),
		"language of the element above": silent(func(a *archive, _ int) {
			unnamed(a)
			a.objects[2] = strings.Replace(a.objects[2], "/K[", "/Lang(en)/K[", 1)
		}),
		"language of the sequence": silent(func(a *archive, _ int) {
			unnamed(a)
			a.content = strings.Replace(a.content, "/MCID 0", "/MCID 0/Lang(en)", 1)
		}),
		"language of an alternative text": silent(keep, el("Figure").with("/Alt(a)/Lang(en)")),
		"language of a description": silent(func(a *archive, next int) {
			hidden("/Contents(a)/StructParent 1")(a, next)
			a.objects[0] = strings.Replace(a.objects[0], "0[13 0 R]", "0[13 0 R]1 13 0 R", 1)
		}),
		"no language where there is no text": silent(func(a *archive, _ int) { unnamed(a); a.content = "/P<</MCID 0>>BDC EMC" }),
	} {
		all[name] = judged{standard.PDFUA1, "", b}
	}
	for name, b := range map[string][]byte{
		"text without a language":                  silent(func(a *archive, _ int) { unnamed(a) }),
		"sequence without a language":              silent(func(a *archive, _ int) { a.content += " /Span<</ActualText(a)/MCID 5>>BDC EMC" }),
		"metadata without a language":              silent(func(a *archive, _ int) { a.packet = strings.Replace(a.packet, `"en"`, `"x-default"`, 1) }),
		"alternative text without a language":      silent(keep, el("Figure").with("/Alt(a)")),
		"replacement without a language":           silent(keep, el("Span").with("/ActualText(a)")),
		"abbreviation without a language":          silent(keep, el("Span").with("/E(a)")),
		"bookmarks without a language":             silent(outline("/Dest[3 0 R/Fit]")),
		"description without a language":           silent(hidden("/Contents(a)")),
		"what a field is for without a language":   silent(field("")),
		"catalog whose language is not a language": silent(catalog("/Lang(e_n)")),
	} {
		all[name] = judged{standard.PDFUA1, "7.2", b}
	}
	structured := "/Dest[13 0 R/Fit]"
	for name, b := range map[string][]byte{
		"bookmark to an element": access(2, outline(structured)),
		"bookmark to a named element": access(2, func(a *archive, next int) {
			outline("/Dest(n)")(a, next)
			a.catalog += "/Names<</Dests<</Names[(n)<</SD[13 0 R/Fit]/D[3 0 R/Fit]>>]>>>>"
		}),
		"opened at an element": access(2, catalog("/OpenAction[13 0 R/Fit]")),
		"action to an element": access(2, outline("/A<</S/GoTo/SD[13 0 R/Fit]/D[3 0 R/Fit]>>")),
		"action to the name of an element": access(2, func(a *archive, next int) {
			outline("/A<</S/GoTo/D(n)>>")(a, next)
			a.catalog += "/Names<</Dests<</Names[(n)<</SD[13 0 R/Fit]/D[3 0 R/Fit]>>]>>>>"
		}),
		"annotations in rows": access(2, func(a *archive, _ int) {
			a.page = strings.Replace(a.page, "/Tabs/S", "/Tabs/W/Annots[<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/F 4>>]", 1)
		}),
	} {
		all[name] = judged{standard.PDFUA2, "", b}
	}
	for name, x := range map[string]struct {
		clause string
		b      []byte
	}{
		"bookmark to a page": {"8.8", access(2, outline("/Dest[3 0 R/Fit]"))},
		"bookmark to a named page": {"8.8", access(2, func(a *archive, next int) {
			outline("/Dest(n)")(a, next)
			a.catalog += "/Names<</Dests<</Names[(n)[3 0 R/Fit]]>>>>"
		})},
		"opened at a page":    {"8.8", access(2, catalog("/OpenAction[3 0 R/Fit]"))},
		"link to a page":      {"8.8", access(2, hidden("/Dest[3 0 R/Fit]"))},
		"action to a page":    {"8.8", access(2, outline("/A<</S/GoTo/D[3 0 R/Fit]>>"))},
		"document of PDF 1.7": {"8.2.5.2", access(2, func(a *archive, _ int) { a.objects[2] = strings.Replace(a.objects[2], "/NS 11 0 R", "", 1) })},
		"two elements at the root": {"8.2.5.2", access(2, func(a *archive, _ int) {
			a.objects[0] = strings.Replace(a.objects[0], "/K 12 0 R", "/K[12 0 R 12 0 R]", 1)
		})},
		"annotations in no order": {"8.9.3.3", access(2, func(a *archive, _ int) {
			a.page = strings.Replace(a.page, "/Tabs/S", "/Annots[<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/F 4>>]", 1)
		})},
	} {
		all[name] = judged{standard.PDFUA2, x.clause, x.b}
	}
	// annotated has one annotation, which is hidden unless more has other flags.
	annotated := func(part int, more string, spoil func(a *archive, next int)) []byte {
		return access(part, func(a *archive, next int) {
			if hidden(more)(a, next); spoil != nil {
				spoil(a, next)
			}
			at := &a.objects[len(a.objects)-1]
			if *at = strings.Replace(*at, "/Subtype/Link", "", 1); strings.Count(*at, "/F ") > 1 {
				*at = strings.Replace(*at, "/F 2", "", 1)
			}
		})
	}
	const old = "/NS null" // the namespace of PDF 1.7
	tree := func(a *archive, _ int) {
		a.objects[0] = strings.Replace(a.objects[0], "0[13 0 R]", "0[13 0 R]1 13 0 R", 1)
	}
	for name, x := range map[string]struct {
		clause string
		b      []byte
	}{
		"rich text that differs":       {"8.9.2.3", annotated(2, "/Subtype/FreeText/Contents(a b)/RC(<p>a c</p>)", nil)},
		"rich text that is no XML":     {"8.9.2.3", annotated(2, "/Subtype/FreeText/Contents(a b)/RC(a b)", nil)},
		"rich text":                    {"", annotated(2, "/Subtype/FreeText/Contents(a b)/RC(<p>a b</p>)", nil)},
		"invisible in the tree":        {"8.9.2.2", annotated(2, "/Subtype/Link/F 1/StructParent 1", tree)},
		"not viewed in the tree":       {"8.9.2.2", annotated(2, "/Subtype/Link/F 32/StructParent 1", tree)},
		"stamp without a name":         {"8.9.2.4.7", annotated(2, "/Subtype/Stamp", nil)},
		"stamp with a name":            {"", annotated(2, "/Subtype/Stamp/Name/Draft", nil)},
		"ink without a description":    {"8.9.2.4.8", annotated(2, "/Subtype/Ink", nil)},
		"screen without a description": {"8.9.2.4.12", annotated(2, "/Subtype/Screen", nil)},
		"3D without a description":     {"8.9.2.4.19", annotated(2, "/Subtype/3D", nil)},
		"3D with a description":        {"", annotated(2, "/Subtype/3D/Contents(a)", nil)},
		"sound":                        {"8.9.2.4.11", annotated(2, "/Subtype/Sound", nil)},
		"trap network":                 {"8.9.2.4.15", annotated(2, "/Subtype/TrapNet", nil)},
		"contents that refer":          {"", access(2, keep, el("TOC", el("TOCI", el("P").with("/Ref[13 0 R]")).with(old)).with(old))},
		"contents that refer nowhere":  {"8.2.5.8", access(2, keep, el("TOC", el("TOCI", el("P")).with(old)).with(old))},
		"element without its parent":   {"8.2.1", access(2, func(a *archive, _ int) { a.objects[6] = strings.Replace(a.objects[6], "/P 12 0 R", "", 1) }, el("Div"))},
		"type that is mapped to itself": {"8.2.4", access(2, func(a *archive, _ int) {
			a.objects[0] = strings.Replace(a.objects[0], "/K 12 0 R", "/K 12 0 R/RoleMap<</Div/Div>>", 1)
		}, el("Div").with("/NS null"))},
		"content of a section": {"6.2", access(2, func(a *archive, _ int) {
			a.objects[2] = strings.Replace(a.objects[2], "/K[", "/K[16 0 R ", 1)
			a.objects[6] = "<</Type/StructElem/S/Sect/NS 11 0 R/P 12 0 R/Pg 3 0 R/K 1>>"
			a.objects[0] = strings.Replace(a.objects[0], "[13 0 R]", "[13 0 R 16 0 R]", 1)
			a.content += "/Sect<</MCID 1>>BDC 0 0 9 9 re f EMC"
		}, el("Sect"))},
		"two elements at the root, by the table": {"6.2", access(2, func(a *archive, _ int) {
			a.objects[0] = strings.Replace(a.objects[0], "/K 12 0 R", "/K[12 0 R 12 0 R]", 1)
		})},
		"version of the catalog":     {"", access(2, func(a *archive, _ int) { a.header, a.catalog = "", a.catalog+"/Version/2.0" })},
		"figure whose text is empty": {"", access(2, keep, el("Figure").with("/Alt()"))},
	} {
		all[name] = judged{standard.PDFUA2, x.clause, x.b}
	}
	for name, x := range map[string]struct {
		clause string
		b      []byte
	}{
		"trap network of part 1":               {"7.18.2", annotated(1, "/Subtype/TrapNet/F 4/Contents(a)", nil)},
		"hidden trap network":                  {"", annotated(1, "/Subtype/TrapNet/Contents(a)", nil)},
		"element of part 1 without its parent": {"7.1", access(1, func(a *archive, _ int) { a.objects[6] = strings.Replace(a.objects[6], "/P 12 0 R", "", 1) }, el("Div"))},
		"suspects": {"7.1", access(1, func(a *archive, _ int) {
			a.catalog = strings.Replace(a.catalog, "/Marked true", "/Marked true/Suspects true", 1)
		})},
		"two headings H":         {"7.4.4", access(1, keep, el("Sect", el("H"), el("H")))},
		"headings H in sections": {"", access(1, keep, el("Sect", el("H")), el("Sect", el("H")))},
		"type of part 1 mapped to itself": {"7.1", access(1, func(a *archive, _ int) {
			a.objects[0] = strings.Replace(a.objects[0], "/K 12 0 R", "/K 12 0 R/RoleMap<</Div/Div>>", 1)
		}, el("Div"))},
		"figure of part 1 whose text is empty": {"7.3", access(1, keep, el("Figure").with("/Alt()"))},
		"figure with an empty replacement":     {"", access(1, keep, el("Figure").with("/ActualText()"))},
	} {
		all[name] = judged{standard.PDFUA1, x.clause, x.b}
	}
	all["annotations in rows in part 1"] = judged{standard.PDFUA1, "7.18.3", access(1, func(a *archive, _ int) {
		a.page = strings.Replace(a.page, "/Tabs/S", "/Tabs/W/Annots[<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/F 2>>]", 1)
	})}

	all["annotations of what is no page of the tree"] = judged{standard.PDFUA1, "", access(1, func(a *archive, next int) {
		a.catalog += fmt.Sprintf("/X %d 0 R", next)
		a.objects = append(a.objects, "<</Type/Page/MediaBox[0 0 99 99]/Resources<<>>/Annots[<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/F 2>>]>>")
	})}
	all["version 2.0"] = judged{standard.PDFA4, "", of("4", func(a *archive) { a.catalog = "/Version/2.0" })}
	all["version 1.7"] = judged{standard.PDFA4, "6.1.12", of("4", func(a *archive) { a.catalog = "/Version/1.7" })}
	all["page without resources"] = judged{standard.PDFA4, "6.2.2", bytes.Replace(of("4", func(a *archive) { a.content = "0 0 9 9 re f" }), []byte("/Resources<<"), []byte("/Resourced<<"), 1)}
	all["archive of part 1 of PDF 2.0"] = judged{standard.PDFA1b, "", of("1B", func(a *archive) { a.header = header2 })}
	popup := "/Annots[<</Type/Annot/Subtype/Popup/Rect[0 0 9 9]>>]"
	all["popup without flags"] = judged{standard.PDFA2b, "", of("2B", func(a *archive) { a.page = popup })}
	all["popup without flags in part 1"] = judged{standard.PDFA1b, "6.5.3", of("1B", func(a *archive) { a.page = popup })}
	mask := stream("/Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray", []byte("x"))
	masked := func() []byte {
		return of("2B", func(a *archive) {
			a.intents = "[]"
			a.page, a.resources = "/Group<</S/Transparency/CS[/ICCBased 6 0 R]>>", "/XObject<</I 10 0 R>>"
			a.content = "/I Do"
			a.objects = []string{stream("/Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace[/ICCBased 6 0 R]/SMask 11 0 R", []byte("xxx")), mask}
		})
	}
	all["mask in gray"] = judged{standard.PDFA2b, "", masked()}
	all["action of its own object"] = judged{standard.PDFA2b, "6.5.1", of("2B", func(a *archive) {
		a.catalog, a.objects = "/OpenAction 10 0 R", []string{"<</S/Launch/F(x)>>"}
	})}
	all["action after an action"] = judged{standard.PDFA2b, "6.5.1", of("2B", func(a *archive) {
		a.catalog, a.objects = "/OpenAction<</S/URI/URI(x)/Next 10 0 R>>", []string{"<</S/Launch/F(x)>>"}
	})}
	all["action that something else leads to"] = judged{standard.PDFA2b, "6.5.1", of("2B", func(a *archive) {
		a.catalog, a.objects = "/X 10 0 R/OpenAction 10 0 R", []string{"<</S/Launch/F(x)>>"}
	})}
	all["colours of a space that there is not"] = judged{standard.PDFA2b, "6.2.4.3", of("2B", func(a *archive) { a.intents, a.content = "[]", "/C cs 0 0 9 9 re f" })}
	all["font without its descriptor"] = judged{standard.PDFA2b, "6.2.11.4.1", bytes.Replace(of("2B", func(*archive) {}), []byte("/FontDescriptor 8 0 R"), []byte("/FontDescriptor 2 0 R"), 1)}
	all["object of another generation"] = judged{standard.PDFA2b, "6.1", bytes.Replace(of("2B", func(*archive) {}), []byte("\n5 0 obj"), []byte("\n5 1 obj"), 1)}
	all["stream without its length"] = judged{standard.PDFA2b, "6.1.7.1", of("2B", func(a *archive) { a.catalog, a.objects = "/X 10 0 R", []string{"<<>>\nstream\nabc\nendstream"} })}
	all["field on no page"] = judged{standard.PDFA2b, "", of("2B", func(a *archive) {
		a.catalog, a.objects = "/AcroForm<</Fields[10 0 R]>>", []string{"<</Type/Annot/Subtype/Widget/FT/Tx/T(a)/Rect[0 0 9 9]>>"}
	})}
	all["stream among annotations"] = judged{standard.PDFA2b, "", of("2B", func(a *archive) { a.page = "/Annots[4 0 R]" })}
	all["object that cannot be drawn"] = judged{standard.PDFA4, "6.2.2", of("4", func(a *archive) {
		a.resources, a.content, a.objects = "/XObject<</F 10 0 R>>", "/F Do", []string{stream("/Subtype/Own/BBox[0 0 9 9]", nil)}
	})}
	all["triggers"] = judged{standard.PDFA4, "", of("4", func(a *archive) { a.page = "/AA<</E<</S/URI/URI(x)>>>>" })}
	all["trigger that there is not"] = judged{standard.PDFA4, "6.6.3", of("4", func(a *archive) { a.page = "/AA<</O<</S/URI/URI(x)>>>>" })}
	untyped := func(claim string) []byte {
		return bytes.Replace(of(claim, func(*archive) {}), []byte("/Type/Metadata"), []byte("/Typo/Metadata"), 1)
	}
	for claim, x := range map[string]struct {
		id               standard.ID
		stream, metadata string
	}{
		"1B": {standard.PDFA1b, "6.1.7", "6.7.2"}, "2B": {standard.PDFA2b, "6.1.7.1", "6.6.2.1"}, "3B": {standard.PDFA3b, "6.1.7.1", "6.6.2.1"}, "4": {standard.PDFA4, "6.1.6.1", "6.7.2.1"},
	} {
		all["length with the line end in "+claim] = judged{x.id, x.stream, of(claim, func(a *archive) {
			a.catalog, a.objects = "/X 10 0 R", []string{"<</Length 4>>\nstream\nabc\nendstream"}
		})}
		all["metadata of another type in "+claim] = judged{x.id, x.metadata, untyped(claim)}
	}
	// Text of which ToUnicode says that it is U+E000.
	sans := sansOf(t)
	font := fmt.Sprintf("<</Type/Font/Subtype/TrueType/BaseFont/Sans/FirstChar 65/LastChar 65/Widths[%d]/Encoding/WinAnsiEncoding/FontDescriptor 8 0 R", sans.Advance(sans.GlyphIndex('A'))*1000/sans.UnitsPerEm())
	const private = "BT /Sans 9 Tf (A) Tj ET EMC"
	const means = "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CMapName /X def\n/CMapType 2 def\n" +
		"1 begincodespacerange\n<00> <FF>\nendcodespacerange\n1 beginbfchar\n<41> <E000>\nendbfchar\nendcmap\nend\nend\n"
	for name, x := range map[string]struct {
		levelA, access string // the clauses
		spoil          func(a *archive)
	}{
		"private use character":                    {"6.2.11.7.3", "8.4.3", func(*archive) {}},
		"private use character with another text":  {"", "", func(a *archive) { a.objects[text] = strings.Replace(a.objects[text], "/K 0", "/K 0/ActualText(A)", 1) }},
		"private use character with a description": {"6.2.11.7.3", "", func(a *archive) { a.objects[text] = strings.Replace(a.objects[text], "/K 0", "/K 0/Alt(A)", 1) }},
		"private use character in a sequence":      {"", "", func(a *archive) { a.content = "/P<</MCID 0>>BDC /Span<</ActualText(A)>>BDC " + private + " EMC" }},
		"private use character of an artifact":     {"6.2.11.7.3", "", func(a *archive) { a.content = "/Artifact BMC " + private }},
	} {
		for part, id := range map[int]standard.ID{2: standard.PDFUA2, 1: standard.PDFA2a} {
			a, clause, what := tagged(part, ""), x.access, name
			if part == 1 {
				a.prefixes, a.packet, a.claim = "", "", "2A"
				clause, what = x.levelA, name+", level A"
			}
			a.font = 10 + len(a.objects)
			a.content = "/P<</MCID 0>>BDC " + private
			a.objects = append(a.objects, font+fmt.Sprintf("/ToUnicode %d 0 R>>", a.font+1), stream("", []byte(means)))
			x.spoil(&a)
			all[what] = judged{id, clause, a.bytes(t)}
		}
	}
	// counted is text whose meaning a map alone tells, of one character.
	counted := func(id standard.ID, claim, clause, list string) judged {
		return judged{id, clause, of(claim, func(a *archive) {
			a.content = "BT /Own 9 Tf <0041> Tj ET"
			a.objects = []string{
				"<</Type/Font/Subtype/Type0/BaseFont/Sans/Encoding/Identity-H/DescendantFonts[11 0 R]/ToUnicode 12 0 R>>",
				fmt.Sprintf("<</Type/Font/Subtype/CIDFontType2/BaseFont/Sans/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/CIDToGIDMap/Identity/FontDescriptor 8 0 R/W[65[%d]]>>", sans.Advance(65)*1000/sans.UnitsPerEm()),
				stream("", []byte("/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CMapName /X def\n/CMapType 2 def\n1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n"+list+"endcmap\nend\nend\n")),
			}
		})}
	}
	for name, list := range map[string]string{
		"map of characters":       "1 beginbfchar\n<0041> <0041>\nendbfchar\n",
		"map of ranges":           "1 beginbfrange\n<0041> <0042> <0041>\nendbfrange\n",
		"map with an empty list":  "1 beginbfchar\n<0041> <0041>\nendbfchar\n0 beginbfchar\nendbfchar\n",
		"map of a range of texts": "1 beginbfrange\n<0041> <0042> [<0041> <0042>]\nendbfrange\n",
	} {
		all[name] = counted(standard.PDFA2u, "2U", "", list)
	}
	for name, list := range map[string]string{
		"map of less than it says":        "2 beginbfchar\n<0041> <0041>\nendbfchar\n",
		"map of more than it says":        "1 beginbfchar\n<0042> <0042>\n<0041> <0041>\nendbfchar\n",
		"map that does not say how many":  "beginbfchar\n<0041> <0041>\nendbfchar\n",
		"map with a list that is not one": "1 beginbfchar\n<0041> <0041>\nendbfchar\n1 beginbfchar\nendbfchar\n",
		"map of less ranges than it says": "2 beginbfrange\n<0041> <0042> <0041>\nendbfrange\n",
	} {
		all[name] = counted(standard.PDFA2u, "2U", "6.2.11.7.2", list)
	}
	all["map that is miscounted in an archive of part 4"] = counted(standard.PDFA4, "4", "", "2 beginbfchar\n<0041> <FEFF>\nendbfchar\n")
	for name, value := range map[string]string{"null": "null", "no name": "true", "a string": "(Draft)"} {
		all["stamp whose name is "+name] = judged{standard.PDFUA2, "8.9.2.4.7", annotated(2, "/Subtype/Stamp/Name "+value, nil)}
	}
	maps.Copy(all, map[string]judged{
		"3D whose description is no text":     {standard.PDFUA2, "8.9.2.4.19", annotated(2, "/Subtype/3D/Contents true", nil)},
		"rich text that is null":              {standard.PDFUA2, "", annotated(2, "/Subtype/FreeText/Contents(a b)/RC null", nil)},
		"destination that is null":            {standard.PDFUA2, "", access(2, outline("/Dest null"))},
		"structure destination that is null":  {standard.PDFUA2, "8.8", access(2, outline("/A<</S/GoTo/SD null/D[3 0 R/Fit]>>"))},
		"opened at nothing that is a place":   {standard.PDFUA2, "", access(2, catalog("/OpenAction true"))},
		"contents whose reference is null":    {standard.PDFUA2, "8.2.5.8", access(2, keep, el("TOC", el("TOCI", el("P").with("/Ref null")).with(old)).with(old))},
		"figure whose alternative is no text": {standard.PDFUA2, "8.2.5.28.2", access(2, keep, el("Figure").with("/Alt true"))},
		"kid of a document that is none":      {standard.PDFUA2, "", access(2, func(a *archive, _ int) { a.objects[2] = strings.Replace(a.objects[2], "/K[", "/K[true ", 1) })},
		"element whose parent is none":        {standard.PDFUA2, "8.2", access(2, func(a *archive, _ int) { a.objects[6] = strings.Replace(a.objects[6], "/P 12 0 R", "/P 99 0 R", 1) }, el("Div"))},
	})
	for name, font := range map[string]string{"null": "null", "nothing": "99 0 R", "no font": "true"} {
		all["text in a font that is "+name] = judged{standard.PDFA4, "6.2.2", of("4", func(a *archive) {
			a.content = strings.Replace(a.content, "/Sans", "/Other", 1)
			a.resources = "/Font<</Other " + font + ">>"
		})}
	}
	for part, id := range map[int]standard.ID{1: standard.PDFUA1, 2: standard.PDFUA2} {
		all[fmt.Sprintf("an element in two places of part %d", part)] = judged{id, map[int]string{1: "7.1", 2: "8.2.1"}[part], access(part, func(a *archive, _ int) {
			a.objects[6] = strings.Replace(a.objects[6], "/K[", "/K[13 0 R ", 1)
		}, el("Div"))}
	}
	for claim, x := range map[string]struct {
		id                    standard.ID
		device, fonts, states string // the clauses
	}{
		"1B": {standard.PDFA1b, "6.2.3.3", "6.3.2", "6.2.8"}, "2B": {standard.PDFA2b, "6.2.4.3", "6.2.11.2", "6.2.5"},
		"3B": {standard.PDFA3b, "6.2.4.3", "6.2.11.2", "6.2.5"}, "4": {standard.PDFA4, "6.2.4.3", "6.2.10.2", "6.2.5"},
	} {
		all["output intent of another type in "+claim] = judged{x.id, x.device, of(claim, func(a *archive) {
			a.content += " 1 0 0 rg 0 0 9 9 re f"
			a.intents = "[<</Type/Other/S/GTS_PDFA1/OutputConditionIdentifier(x)/DestOutputProfile 6 0 R>>]"
		})}
		all["font of another type in "+claim] = judged{x.id, x.fonts, bytes.Replace(of(claim, func(*archive) {}), []byte("/Type/Font/"), []byte("/Type/Fond/"), 1)}
		all["font of a subtype that there is not in "+claim] = judged{x.id, x.fonts, bytes.Replace(of(claim, func(*archive) {}), []byte("/Subtype/TrueType"), []byte("/Subtype/TrueTypo"), 1)}
		all["transfer function that nothing is drawn with in "+claim] = judged{x.id, x.states, of(claim, func(a *archive) { a.resources = "/ExtGState<</G<</TR/Identity>>>>" })}
		for name, state := range map[string]string{"in the resources": "<</TR/Identity>>", "of its own object": "11 0 R"} {
			all["transfer function of a state without a type "+name+" in "+claim] = judged{x.id, x.states, of(claim, func(a *archive) {
				a.content, a.resources, a.objects = "/G gs", "/ExtGState<</G "+state+">>", []string{"<<>>", "<</TR/Identity>>"}
			})}
		}
	}
	for claim, id := range map[string]standard.ID{"2B": standard.PDFA2b, "3B": standard.PDFA3b, "4": standard.PDFA4} {
		all["font without a Supplement in "+claim] = judged{id, map[string]string{"2B": "6.2.11.3.1", "3B": "6.2.11.3.1", "4": "6.2.10.3.1"}[claim], of(claim, func(a *archive) {
			a.content = "BT /Own 9 Tf <41> Tj ET"
			a.objects = []string{
				"<</Type/Font/Subtype/Type0/BaseFont/Sans/Encoding/GBK2K-H/DescendantFonts[11 0 R]>>",
				fmt.Sprintf("<</Type/Font/Subtype/CIDFontType2/BaseFont/Sans/CIDSystemInfo<</Registry(Adobe)/Ordering(GB1)>>/CIDToGIDMap/Identity/FontDescriptor 8 0 R/W[34[%d]]>>", sans.Advance(34)*1000/sans.UnitsPerEm()),
			}
		})}
		all["font whose encoding is a string in "+claim] = judged{id, map[string]string{"2B": "6.2.11.6", "3B": "6.2.11.6", "4": "6.2.10.6"}[claim], referenced(bytes.Replace(of(claim, func(*archive) {}), []byte("/Encoding/WinAnsiEncoding"), []byte("/Encoding<</BaseEncoding(WinAnsiEncoding)>>"), 1))}
		all["inks that nothing is drawn in in "+claim] = judged{id, "6.2.4.4", of(claim, func(a *archive) {
			a.resources = "/ColorSpace<</C[/DeviceN[/Spot]/DeviceGray<</FunctionType 2/N 1/Domain[0 1]>>]>>"
		})}
	}
	all["text without widths"] = judged{standard.PDFUA2, "8.4.5.6", bytes.Replace(access(2, keep), []byte("/Widths["), []byte("/Wodths["), 1)}
	// What has the key but no value that can be.
	gray := func(space string) []byte {
		return of("2B", func(a *archive) {
			a.intents, a.content, a.resources = "[]", "/C cs 0 0 9 9 re f 0 g 0 0 9 9 re f", "/ColorSpace<<"+space+">>"
		})
	}
	const calibrated = "[/CalGray<</WhitePoint[1 1 1]>>]"
	for name, x := range map[string]struct{ clause, space string }{
		"a space of gray and a default":     {"", "/C" + calibrated + "/DefaultGray" + calibrated},
		"default of gray that is null":      {"6.2.4.3", "/C" + calibrated + "/DefaultGray null"},
		"default of gray that there is not": {"6.2.4.3", "/C" + calibrated + "/DefaultGray 99 0 R"},
		"default of gray that is empty":     {"6.2.4.3", "/C" + calibrated + "/DefaultGray[]"},
		"default of gray that is no space":  {"6.2.4.3", "/C" + calibrated + "/DefaultGray true"},
	} {
		all[name] = judged{standard.PDFA2b, x.clause, gray(x.space)}
	}
	all["a space that is there after one that is not"] = judged{standard.PDFA2b, "6.2.4.3", of("2B", func(a *archive) {
		a.intents, a.content, a.resources = "[]", "/None cs /C cs 0 0 9 9 re f", "/ColorSpace<</C"+calibrated+"/DefaultGray"+calibrated+">>"
	})}
	for name, space := range map[string]string{"null": "null", "nothing": "99 0 R", "empty": "[]", "no space": "true"} {
		all["colours of a space that is "+name] = judged{standard.PDFA2b, "6.2.4.3", of("2B", func(a *archive) {
			a.intents, a.content, a.resources = "[]", "/C cs 0 0 9 9 re f", "/ColorSpace<</C "+space+">>"
		})}
		all["colours of a space that is "+name+" beside a default"] = judged{standard.PDFA2b, "6.2.4.3", gray("/C " + space + "/DefaultGray" + calibrated)}
		all["lines of a space that is "+name+" after others"] = judged{standard.PDFA2b, "6.2.4.3", of("2B", func(a *archive) {
			a.intents, a.content = "[]", "/D CS 0 0 9 9 re s /C CS 0 0 9 9 re s"
			a.resources = "/ColorSpace<</C " + space + "/D" + calibrated + "/DefaultGray" + calibrated + ">>"
		})}
	}
	for name, space := range map[string]string{"empty": "[]", "no space": "true"} {
		all["group whose colours are "+name] = judged{standard.PDFA2b, "6.2.10", referenced(bytes.Replace(masked(), []byte("/CS[/ICCBased 6 0 R]"), []byte("/CS "+space), 1))}
	}
	all["page whose box is empty"] = judged{standard.PDFA2b, "6.1.13", of("2B", func(a *archive) { a.page = "/TrimBox[]" })}
	all["inks told of null"] = judged{standard.PDFA2b, "6.2.4.4", of("2B", func(a *archive) {
		a.resources, a.content = "/ColorSpace<</C[/DeviceN[/Spot]/DeviceRGB 10 0 R<</Colorants<</Spot null>>>>]>>", "/C cs 1 scn 0 0 9 9 re f"
		a.objects = []string{stream("/FunctionType 4/Domain[0 1]/Range[0 1 0 1 0 1]", []byte("{dup dup}"))}
	})}
	all["annotation whose appearance is none"] = judged{standard.PDFA2b, "6.3.3", of("2B", func(a *archive) {
		a.page = "/Annots[<</Type/Annot/Subtype/Square/Rect[0 0 9 9]/F 4/AP<</N true>>>>]"
	})}
	// invisible text need not be embedded.
	unembedded := func(encoding string) []byte {
		return of("2U", func(a *archive) {
			a.content = "BT 3 Tr /Own 9 Tf (A) Tj ET"
			a.objects = []string{
				"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/FirstChar 65/LastChar 65/Widths[667]/FontDescriptor 11 0 R" + encoding + ">>",
				"<</Type/FontDescriptor/FontName/Helvetica/Flags 32/ItalicAngle 0/Ascent 900/Descent -200/CapHeight 700/StemV 80/FontBBox[0 0 1000 1000]>>",
			}
		})
	}
	all["characters of an encoding"] = judged{standard.PDFA2u, "", unembedded("/Encoding/WinAnsiEncoding")}
	all["character that an encoding does not have"] = judged{standard.PDFA2u, "6.2.11.8", bytes.Replace(unembedded("/Encoding/WinAnsiEncoding"), []byte("(A)"), []byte("(\t)"), 1)}
	gid := sans.GlyphIndex('A')
	twice := func(w string) []byte {
		return of("2B", func(a *archive) {
			a.content = fmt.Sprintf("BT /Own 9 Tf <%04x> Tj ET", gid)
			a.objects = []string{
				"<</Type/Font/Subtype/Type0/BaseFont/Sans/Encoding/Identity-H/DescendantFonts[11 0 R]>>",
				fmt.Sprintf("<</Type/Font/Subtype/CIDFontType2/BaseFont/Sans/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/CIDToGIDMap/Identity/FontDescriptor 8 0 R/W[%s]>>", w),
			}
		})
	}
	width := sans.Advance(gid) * 1000 / sans.UnitsPerEm()
	for name, value := range map[string]string{"a string": "(Identity)", "no map": "true", "null": "null"} {
		all["map of glyphs that is "+name] = judged{standard.PDFA2b, "6.2.11.3.2", referenced(bytes.Replace(twice(fmt.Sprintf("%d[%d]", gid, width)), []byte("/CIDToGIDMap/Identity"), []byte("/CIDToGIDMap "+value), 1))}
	}
	all["glyphs of a font that is not embedded"] = judged{standard.PDFA2b, "", of("2B", func(a *archive) {
		a.content = "BT /Own 9 Tf 3 Tr <0041> Tj ET"
		a.objects = []string{
			"<</Type/Font/Subtype/Type0/BaseFont/Sans/Encoding/Identity-H/DescendantFonts[11 0 R]>>",
			"<</Type/Font/Subtype/CIDFontType2/BaseFont/Sans/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/FontDescriptor 12 0 R>>",
			"<</Type/FontDescriptor/FontName/Sans/Flags 32/ItalicAngle 0/Ascent 900/Descent -200/CapHeight 700/StemV 80/FontBBox[0 0 1000 1000]>>",
		}
	})}
	all["a width"] = judged{standard.PDFA2b, "", twice(fmt.Sprintf("%d[%d]", gid, width))}
	all["a width after another"] = judged{standard.PDFA2b, "6.2.11.5", twice(fmt.Sprintf("%d[9]%[1]d[%d]", gid, width))}
	all["characters of no encoding"] = judged{standard.PDFA2u, "6.2.11.7.2", unembedded("")}
	return all
}

// TestCheckFindsEachRuleOfDocumentsThatIsBroken: of files with one wrong language, destination,
// version or the like Check names the clause; of sound ones none.
func TestCheckFindsEachRuleOfDocumentsThatIsBroken(t *testing.T) {
	checkRules(t, documentRules(t))
}

// TestDocumentsTakeLinearWork: 20,000 references to one thing, and circles, are looked at once.
func TestDocumentsTakeLinearWork(t *testing.T) {
	const n = 20_000
	several := func(s string) string { return strings.Repeat(s, n) }
	for part, id := range map[int]standard.ID{1: standard.PDFUA1, 2: standard.PDFUA2} {
		a := tagged(part, "", el("TOC", el("TOCI")))
		next := 10 + len(a.objects)
		a.catalog = strings.Replace(a.catalog, "/Lang(en)", "", 1) + fmt.Sprintf("/OpenAction(n)/Dests<</n %d 0 R>>", next)
		a.content = several("/P<</MCID 0>>BDC ") + several("EMC ")
		if part == 1 { // as deep as sequences may be
			a.content = several("/P<</MCID 0>>BDC (A) Tj EMC ")
		}
		a.page += "/Annots[" + several(fmt.Sprintf("<</Type/Annot/Subtype/Link/F 2/Contents(a)/StructParent 1/Dest(n)/A %d 0 R>>", next+2)) + "]"
		a.objects[0] = strings.Replace(a.objects[0], "0[13 0 R]", "0[13 0 R]1 13 0 R", 1)
		a.objects[3] = strings.Replace(a.objects[3], "/P 12 0 R", fmt.Sprintf("/P %d 0 R", next+1), 1)
		a.objects[7] = "<</Type/StructElem/S/TOCI/K[" + several("17 0 R 16 0 R ") + "]>>"
		a.objects = append(a.objects, "[3 0 R/Fit]", fmt.Sprintf("<</Type/StructElem/S/P/P %d 0 R>>", next+1), fmt.Sprintf("<</S/GoTo/D(n)/Next %d 0 R>>", next+2))
		b := a.bytes(t)
		d, err := edit.Open(bytes.NewReader(b), int64(len(b)), edit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		found, err := d.Check(t.Context(), []standard.ID{id})
		if limit := new(diag.LimitError); part == 2 && (!errors.As(err, &limit) || limit.Name != "Depth") || part == 1 && err != nil {
			t.Errorf("part %d: %v, %v", part, found, err)
		}
	}
}
