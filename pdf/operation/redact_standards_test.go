//go:build !race

package operation_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/standard"
)

// TestNamesOfTheStandardAreNoText: words that are names of every tagged file too, such as Page and
// THead, are redacted as others are.
func TestNamesOfTheStandardAreNoText(t *testing.T) {
	e := engine(t)
	for _, text := range []string{"the", "page", "table", "font", "figure", "column", "document", "title", "parent", "length", "contents"} {
		file := sampleOf(t, e, "Zanzibar "+text)
		if _, _, err := run(t, e, "redact", map[string]string{"text": text}, file); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestRedactedWordsOfStandardsLeaveClaims: words that metadata, fonts and colours have because
// standards say so are no text, though the document has the same words; what its maker said in the
// metadata goes by itself.
func TestRedactedWordsOfStandardsLeaveClaims(t *testing.T) {
	e := engine(t)
	for _, claims := range [][]standard.ID{{standard.PDFA2b, standard.PDFUA1}, {standard.PDFA4, standard.PDFUA2}, {standard.PDFA1b}} {
		var made bytes.Buffer
		const words = "Adobe part identification internal Integer Identity 2024 2020 ISO 14289 en based Zanzibar"
		if _, err := e.Build(t.Context(), &made, pdf.RenderOptions{Standards: claims, Time: time.Date(2024, 5, 6, 0, 0, 0, 0, time.UTC)}, func(b *doc.Builder) error {
			b.Title("Kept Adobe 2024 Zanzibar part").Lang("en").Heading(1, "Heading").Text(words)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for _, re := range append(strings.Fields(words), `\d{4}`, `\d`, "Quire") {
			done, out, err := run(t, e, "redact", map[string]string{"regexp": re}, made.Bytes())
			if err != nil {
				t.Errorf("%v, %s: %v", claims, re, err)
				continue
			}
			s, ok := done.Report.(*pdf.RedactSummary)
			if !ok || len(s.Claims) != len(claims) || len(s.Warnings) > 0 && re != "Quire" {
				t.Errorf("%v, %s: %s", claims, re, done.Text)
			}
			i := open(t, e, out[0], "").Info()
			if !strings.HasPrefix(i.Title, "Kept") || regexp.MustCompile("(?i)"+re).MatchString(i.Title) {
				t.Errorf("%v, %s: the title is %q", claims, re, i.Title)
			}
			if n := finders(t, out[0], "Zanzibar"); re == "Zanzibar" && len(n) > 0 {
				t.Errorf("%v: still found by %q", claims, n)
			}
		}
	}
}

// TestCodesAreNoText: what stands in strings and is no text stays as it is, though it has the
// digits that are redacted: colours, default appearances, languages. A date goes as a whole.
func TestCodesAreNoText(t *testing.T) {
	e := engine(t)
	b := raw(`<</Type/Catalog/Pages 2 0 R/Lang(de-419)/AcroForm<</Fields[8 0 R]/DA(/Helv 12 Tf 0 g)/DR<</Font<</Helv 5 0 R>>>>>>>>`,
		`<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 300 200]>>`,
		`<</Type/Page/Parent 2 0 R/Contents 4 0 R/Annots[8 0 R]/Resources<</Font<</F 5 0 R>>/ColorSpace<</C[/Indexed/DeviceGray 1(12)]/D[/Indexed/DeviceGray 1 6 0 R]>>>>>>`,
		stream("", "BT /F 12 Tf 20 150 Td (Call 1234) Tj ET /C cs 0 sc 0 0 9 9 re f"), `<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>`, `(34)`, `<</CreationDate(D:20240102)/Title(No. 12)>>`,
		`<</Type/Annot/Subtype/Widget/FT/Tx/T(field)/DA(/Helv 12 Tf .12 g)/Rect[200 100 280 120]/MaxLen 3>>`)
	b = append(b, "trailer<</Root 1 0 R/Info 7 0 R>>"...)
	_, out, err := run(t, e, "redact", map[string]string{"regexp": `\d+`}, b)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := pdftest.Run(t, "qpdf", "--qdf", "--object-streams=disable", pdftest.Write(t, "out.pdf", out[0]), "-")
	for _, stays := range []string{"(de-419)", "(/Helv 12 Tf 0 g)", "(/Helv 12 Tf .12 g)", "(12)", "(34)", "/Title (No. )"} {
		if !strings.Contains(text, stays) {
			t.Errorf("%s is gone", stays)
		}
	}
	for _, gone := range []string{"1234", "/CreationDate"} {
		if strings.Contains(text, gone) {
			t.Errorf("%s stays", gone)
		}
	}
}

// TestRedactedTextIsInNoMetadata, those of the document or of a part of it, however XML can say it.
// Pictures of pages go from them always.
func TestRedactedTextIsInNoMetadata(t *testing.T) {
	e := engine(t)
	const word = "Zanzibar"
	packet := func(attributes, elements string) string {
		return `<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">` +
			`<rdf:Description rdf:about="" xmlns:pdf="http://ns.adobe.com/pdf/1.3/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"` + attributes + `>` + elements + `<xmp:Nickname>other</xmp:Nickname></rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>`
	}
	big := packet("", "<pdf:Trapped>"+word+"</pdf:Trapped>")
	little := append([]byte("\xff\xfe"), utf16be(big)...)
	for i := 3; i < len(little); i += 2 {
		little[i-1], little[i] = little[i], little[i-1]
	}
	for name, xmp := range map[string]string{
		"an attribute": packet(` xmp:Label="`+word+`"`, ""), "an element": big, "a comment": packet("", "<!-- about "+word+" -->"), "numbers": packet("", "<xmp:Label>&#90;an&#x7A;ibar</xmp:Label>"),
		"UTF-16, the higher byte first": "\xfe\xff" + string(utf16be(big)), "UTF-16, the lower byte first": string(little), "UTF-16 without a mark": string(utf16be(big)),
		"pictures": packet("", "<xmp:Thumbnails><rdf:Alt><rdf:li>Z&#xA;anzibar</rdf:li></rdf:Alt></xmp:Thumbnails>"),
	} {
		b := raw(
			`<</Type/Catalog/Pages 2 0 R/Metadata 4 0 R>>`,
			`<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 300 200]/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>/Properties<</M 6 0 R>>>>>>`,
			`<</Type/Page/Parent 2 0 R/Contents 7 0 R>>`,
			stream("/Type/Metadata/Subtype/XML", xmp), stream("/Type/Metadata/Subtype/XML", xmp), `<</Metadata 5 0 R>>`,
			stream("", "/Span/M BDC BT /F 12 Tf 20 150 Td (From "+word+") Tj ET EMC"),
		)
		_, out, err := run(t, e, "redact", map[string]string{"text": word}, b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text, _ := pdftest.Run(t, "qpdf", "--qdf", "--object-streams=disable", pdftest.Write(t, "out.pdf", out[0]), "-")
		for _, left := range []string{word, "&#x7A;ibar", "anzibar"} {
			if strings.Contains(strings.ReplaceAll(text, "\x00", ""), left) {
				t.Errorf("%s: %q is left", name, left)
			}
		}
		if !strings.Contains(strings.ReplaceAll(text, "\x00", ""), "<xmp:Nickname>other") {
			t.Errorf("%s: other properties are not kept", name)
		}
	}
}
