//go:build !race

package pdf_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf/font"
	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/internal/edit"
	"example.com/quire/pdf/standard"
)

// sansFace is a face with an A.
func sansFace(t *testing.T) *font.Face {
	t.Helper()
	chain, err := liberation.New().Chain(liberation.Sans, font.Style{Weight: 400})
	if err != nil {
		t.Fatal(err)
	}
	face, err := chain.Pick("A")
	if err != nil {
		t.Fatal(err)
	}
	return face
}

// TestCheckReadsFontsProfilesAndTransparency of files of other makers: programs of fonts, headers
// of ICC profiles, blend modes and groups, and the types of metadata properties.
func TestCheckReadsFontsProfilesAndTransparency(t *testing.T) {
	t.Parallel()
	sans := sansFace(t)
	width := sans.Advance(sans.GlyphIndex('A')) * 1000 / sans.UnitsPerEm()
	stream := func(dict string, data []byte) string {
		return fmt.Sprintf("<<%s/Length %d>>stream\n%s\nendstream", dict, len(data), data)
	}
	// file has one page, and what follows as objects from 6 on.
	file := func(properties, catalog, page, resources, content string, objects ...string) []byte {
		packet := `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"><pdfaid:part>2</pdfaid:part><pdfaid:conformance>B</pdfaid:conformance>` +
			properties + `</rdf:Description></rdf:RDF></x:xmpmeta>`
		s := "%PDF-1.7\n"
		for i, o := range append([]string{
			"<</Type/Catalog/Pages 2 0 R/Metadata 5 0 R" + catalog + ">>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
			"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Resources<<" + resources + ">>" + page + ">>",
			stream("", []byte(content)), stream("/Type/Metadata/Subtype/XML", []byte(packet)),
		}, objects...) {
			s += fmt.Sprintf("%d 0 obj %s endobj\n", i+1, o)
		}
		return []byte(s + "trailer<</Root 1 0 R>>")
	}
	simple := func(widths, show string) []byte {
		return file("", "", "", "/Font<</F 6 0 R>>", "BT /F 9 Tf "+show+" Tj ET",
			"<</Type/Font/Subtype/TrueType/BaseFont/Sans/FirstChar 65/LastChar 65/Widths["+widths+"]/Encoding/WinAnsiEncoding/FontDescriptor 7 0 R>>",
			"<</Type/FontDescriptor/FontName/Sans/Flags 32/FontFile2 8 0 R>>", stream("", sans.Data()))
	}
	composite := func(show string, program []byte) []byte {
		return file("", "", "", "/Font<</F 6 0 R>>", "BT /F 9 Tf "+show+" Tj ET",
			"<</Type/Font/Subtype/Type0/BaseFont/Sans/Encoding/Identity-H/DescendantFonts[9 0 R]>>",
			"<</Type/FontDescriptor/FontName/Sans/Flags 4/FontFile2 8 0 R>>", stream("", program),
			fmt.Sprintf("<</Type/Font/Subtype/CIDFontType2/BaseFont/Sans/CIDToGIDMap/Identity/DW %d/FontDescriptor 7 0 R>>", width))
	}
	profile := func(version byte, class, space string) []byte {
		b := make([]byte, 132)
		binary.BigEndian.PutUint32(b, 132)
		b[8] = version
		copy(b[12:], class+space)
		copy(b[36:], "acsp")
		return b
	}
	intent := func(n int, p []byte) []byte {
		return file("", "/OutputIntents[<</Type/OutputIntent/S/GTS_PDFA1/OutputConditionIdentifier(x)/DestOutputProfile 6 0 R>>]", "", "", "", stream(fmt.Sprintf("/N %d", n), p))
	}
	space := func(n int, p []byte) []byte {
		return file("", "", "", "/ColorSpace<</C[/ICCBased 6 0 R]>>", "/C cs 0 scn", stream(fmt.Sprintf("/N %d", n), p))
	}
	see := "/ExtGState<</G<</Type/ExtGState/ca 0.5>>>>"
	const (
		metrics, missing, notdef = "S053 ISO 19005-2, 6.2.11.5", "S053 ISO 19005-2, 6.2.11.4.1", "S053 ISO 19005-2, 6.2.11.8"
		output, based            = "S054 ISO 19005-2, 6.2.3", "S054 ISO 19005-2, 6.2.4.2"
		blending, types          = "S055 ISO 19005-2, 6.2.10", "S052 ISO 19005-2, 6.6.2.3.1"
	)
	a := fmt.Sprintf("<%04X>", sans.GlyphIndex('A'))
	for name, x := range map[string]struct {
		body       []byte
		want, none string
	}{
		"text without a font":      {file("", "", "", "", "BT (text) Tj ET"), "", "S053"},
		"sound widths":             {simple(fmt.Sprint(width), "(A)"), "", "S053"},
		"widths":                   {simple(fmt.Sprint(width+5), "(A)"), metrics, ""},
		"widths nobody sees":       {simple(fmt.Sprint(width+5), "3 Tr (A)"), "", "S053"},
		"composite":                {composite(a, sans.Data()), "", "S053"},
		"widths by default":        {composite(fmt.Sprintf("<%04X>", sans.GlyphIndex('i')), sans.Data()), metrics, ""},
		"no such glyph":            {composite("<FFF0>", sans.Data()), missing, metrics},
		"the glyph of what misses": {composite("<0000>", sans.Data()), notdef, metrics},
		"no program":               {composite(a, sans.Data()[:400]), missing, ""},
		"sound intent":             {intent(3, profile(2, "mntr", "RGB ")), "", "S054"},
		"version of ICC":           {intent(3, profile(5, "mntr", "RGB ")), output, ""},
		"class of an intent":       {intent(3, profile(4, "scnr", "RGB ")), output, ""},
		"components of an intent":  {intent(4, profile(4, "prtr", "RGB ")), output, ""},
		"Lab of an intent":         {intent(3, profile(4, "prtr", "Lab ")), output, ""},
		"no profile":               {intent(3, []byte("no profile")), output, ""},
		"sound space":              {space(3, profile(4, "scnr", "Lab ")), "", "S054"},
		"class of a space":         {space(3, profile(4, "link", "RGB ")), based, ""},
		"components of a space":    {space(1, profile(4, "mntr", "CMYK")), based, output},
		"opaque":                   {file("", "", "", "/ExtGState<</G<</Type/ExtGState/ca 1/SMask/None/BM/Normal>>>>", "/G gs"), "", "S055"},
		"transparent":              {file("", "", "", see, "/G gs"), blending, ""},
		"transparent, not set":     {file("", "", "", see, ""), "", "S055"},
		"in its own colours":       {file("", "", "/Group<</S/Transparency/CS[/CalRGB<</WhitePoint[1 1 1]>>]>>", see, "/G gs"), "", "S055"},
		"under an intent":          {file("", "/OutputIntents[<</Type/OutputIntent/S/GTS_PDFA1/DestOutputProfile 6 0 R>>]", "", see, "/G gs", stream("/N 3", profile(4, "mntr", "RGB "))), "", "S055"},
		"soft mask":                {file("", "", "", "/XObject<</I 6 0 R>>", "/I Do", stream("/Subtype/Image/SMask 7 0 R", nil), stream("/Subtype/Image", nil)), blending, ""},
		"blend mode":               {file("", "", "", "/ExtGState<</G<</Type/ExtGState/BM/Dissolve>>>>", ""), blending, ""},
		"blend modes":              {file("", "", "", "/ExtGState<</G<</Type/ExtGState/BM[/Multiply/Luminosity]>>>>", ""), "", "S055"},
		"title":                    {file(`<dc:title><rdf:Alt><rdf:li xml:lang="x-default">T</rdf:li></rdf:Alt></dc:title>`, "", "", "", ""), "", types},
		"title that is a text":     {file(`<dc:title>T</dc:title>`, "", "", "", ""), types, ""},
		"creators without order":   {file(`<dc:creator><rdf:Bag><rdf:li>A</rdf:li></rdf:Bag></dc:creator>`, "", "", "", ""), types, ""},
		"date":                     {file(`<xmp:CreateDate>2026-01-31T18:30:00+01:00</xmp:CreateDate>`, "", "", "", ""), "", types},
		"no date":                  {file(`<xmp:CreateDate>last Friday</xmp:CreateDate>`, "", "", "", ""), types, ""},
		"number":                   {file(`<xmp:Rating>five</xmp:Rating>`, "", "", "", ""), types, ""},
		"with a qualifier":         {file(`<xmp:Rating rdf:parseType="Resource"><rdf:value>5</rdf:value></xmp:Rating>`, "", "", "", ""), "", types},
	} {
		d, err := edit.Open(bytes.NewReader(x.body), int64(len(x.body)), edit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		found, err := d.Check(t.Context(), []standard.ID{standard.PDFA2b})
		var all []string
		for _, f := range found {
			all = append(all, f.Rule+" "+f.Clause)
		}
		unwanted := slices.ContainsFunc(all, func(s string) bool { return strings.HasPrefix(s, x.none) })
		if err != nil || x.want != "" && !slices.Contains(all, x.want) || x.none != "" && unwanted {
			t.Errorf("%s: want %q and not %q: %q, %v\n%v", name, x.want, x.none, all, err, found)
		}
	}
}
