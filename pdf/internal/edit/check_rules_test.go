//go:build !race

package edit_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf/font"
	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/internal/edit"
	"example.com/quire/pdf/standard"
)

// archive is a small file that conforms to PDF/A-2b until a part of it is spoilt. Its objects are
// the catalog, the page tree, the page, its content, the metadata, the profile of the output
// intent, a font of TrueType, its descriptor and its program, and from 10 on those that are given.
type archive struct {
	header, tail                      string // before and behind all else
	catalog, page, resources, content string // what comes to the dictionaries, and the content
	claim                             string // the part and the level of PDF/A in the metadata; empty: "2B"
	packet                            string // what comes to the metadata
	prefixes                          string // of the metadata
	intents                           string // the value of OutputIntents; empty: one of sRGB
	profile                           []byte // of the output intent; nil: sRGB
	components                        int    // of the profile; 0: 3
	font                              int    // the object that is the font Sans of the page; 0: 7
	objects                           []string
	trailer                           string
	sealed                            func(n int, object string) string // encrypts an object
}

func stream(dict string, data []byte) string {
	return fmt.Sprintf("<<%s/Length %d>>\nstream\n%s\nendstream", dict, len(data), data)
}

// iccOf is the header of a profile, which is all that is judged of it.
func iccOf(class, space string) []byte {
	b := make([]byte, 132)
	binary.BigEndian.PutUint32(b, 132)
	b[8] = 2
	copy(b[12:], class+space)
	copy(b[36:], "acsp")
	return b
}

func sansOf(t *testing.T) *font.Face {
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

func (a *archive) bytes(t *testing.T) []byte {
	t.Helper()
	sans := sansOf(t)
	if a.header == "" {
		a.header = "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"
	}
	if a.intents == "" {
		a.intents = "[<</Type/OutputIntent/S/GTS_PDFA1/OutputConditionIdentifier(x)/DestOutputProfile 6 0 R>>]"
	}
	if a.profile == nil {
		a.profile = standard.SRGBProfile()
	}
	if a.claim == "" {
		a.claim = "2B"
	}
	claim := "<pdfaid:part>" + a.claim[:1] + "</pdfaid:part>"
	if level := a.claim[1:]; level != "" {
		claim += "<pdfaid:conformance>" + level + "</pdfaid:conformance>"
	}
	if a.claim[:1] == "4" {
		claim += "<pdfaid:rev>2020</pdfaid:rev>"
	}
	if a.components == 0 {
		a.components = 3
	}
	if a.font == 0 {
		a.font = 7
	}
	width := sans.Advance(sans.GlyphIndex('A')) * 1000 / sans.UnitsPerEm()
	packet := `<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"` +
		a.prefixes + `>` + claim + a.packet + `</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>`
	own := ""
	if len(a.objects) > 0 {
		own = "/Own 10 0 R"
	}
	var out bytes.Buffer
	out.WriteString(a.header)
	var at []int
	for i, o := range append([]string{
		"<</Type/Catalog/Pages 2 0 R/Metadata 5 0 R/OutputIntents " + a.intents + a.catalog + ">>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Resources<</Font<</Sans " + fmt.Sprint(a.font) + " 0 R" + own + ">>" + a.resources + ">>" + a.page + ">>",
		stream("", []byte(a.content)), stream("/Type/Metadata/Subtype/XML", []byte(packet)), stream(fmt.Sprintf("/N %d", a.components), a.profile),
		fmt.Sprintf("<</Type/Font/Subtype/TrueType/BaseFont/Sans/FirstChar 65/LastChar 65/Widths[%d]/Encoding/WinAnsiEncoding/FontDescriptor 8 0 R>>", width),
		"<</Type/FontDescriptor/FontName/Sans/Flags 32/FontFile2 9 0 R/ItalicAngle 0/Ascent 900/Descent -200/CapHeight 700/StemV 80/FontBBox[0 0 1000 1000]>>", stream("", sans.Data()),
	}, a.objects...) {
		if at = append(at, out.Len()); a.sealed != nil {
			o = a.sealed(i+1, o)
		}
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, n := range at {
		fmt.Fprintf(&out, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&out, "trailer\n<</Size %d/Root 1 0 R/ID[<00112233445566778899AABBCCDDEEFF><00112233445566778899AABBCCDDEEFF>]%s>>\nstartxref\n%d\n%%%%EOF\n%s", len(at)+1, a.trailer, start, a.tail)
	return out.Bytes()
}

var objectText = regexp.MustCompile(`(?s)(\d+) 0 obj\n(.*?)\nendobj\n`)

// referenced returns a file with its cross-reference table made again.
func referenced(file []byte) []byte {
	start := bytes.LastIndex(file, []byte("\nxref\n")) + 1
	trailer := bytes.LastIndex(file, []byte("trailer\n"))
	end := bytes.LastIndex(file, []byte("startxref\n"))
	all := objectText.FindAllSubmatchIndex(file[:start], -1)
	out := bytes.NewBuffer(bytes.Clone(file[:start]))
	fmt.Fprintf(out, "xref\n0 %d\n0000000000 65535 f \n", len(all)+1)
	for _, m := range all {
		fmt.Fprintf(out, "%010d 00000 n \n", m[0])
	}
	out.Write(file[trailer:end])
	fmt.Fprintf(out, "startxref\n%d\n%%%%EOF\n", start)
	return out.Bytes()
}

// rules are files that break one rule of ISO 19005-2, whose clause is given, and sound ones beside
// them, without one.
func rules(t *testing.T) map[string]struct {
	clause string
	is     archive
} {
	t.Helper()
	type rule = struct {
		clause string
		is     archive
	}
	return map[string]rule{
		"sound":                         {"", archive{content: "BT /Sans 9 Tf (A) Tj ET 1 0 0 rg 0 0 9 9 re f"}},
		"header":                        {"6.1.2", archive{header: "%PDF-1.8\n%\xe2\xe3\xcf\xd3\n"}},
		"no binary comment":             {"6.1.2", archive{header: "%PDF-1.7\n"}},
		"data behind the end":           {"6.1.3", archive{tail: "more"}},
		"odd hexadecimal string":        {"6.1.6", archive{catalog: "/X<123>"}},
		"no hexadecimal":                {"6.1", archive{catalog: "/X<12g3>"}},
		"stream in a file":              {"6.1.7.1", archive{objects: []string{"<</Length 0/F(x)>>\nstream\n\nendstream"}, catalog: "/X 10 0 R"}},
		"LZW":                           {"6.1.7.2", archive{objects: []string{"<</Length 3/Filter/LZWDecode>>\nstream\n\x80\x0b\x01\nendstream"}, catalog: "/X 10 0 R"}},
		"unknown filter":                {"6.1.7.2", archive{objects: []string{"<</Length 0/Filter/Own>>\nstream\n\nendstream"}, catalog: "/X 10 0 R"}},
		"inline LZW":                    {"6.1.10", archive{content: "BI/W 1/H 1/BPC 8/CS/G/F/LZW ID \x80\x0b\x01 EI"}},
		"perms":                         {"6.1.12", archive{catalog: "/Perms<</X<<>>>>"}},
		"large integer":                 {"6.1.13", archive{catalog: "/X 2147483648"}},
		"long string":                   {"6.1.13", archive{catalog: "/X(" + strings.Repeat("a", 32768) + ")"}},
		"long name":                     {"6.1.13", archive{catalog: "/X/" + strings.Repeat("a", 128)}},
		"large real":                    {"6.1", archive{catalog: "/X 1" + strings.Repeat("0", 39) + ".0"}},
		"deep q":                        {"6.1.13", archive{content: strings.Repeat("q ", 29) + strings.Repeat("Q ", 29)}},
		"many inks":                     {"6.1.13", archive{resources: "/ColorSpace<</C[/DeviceN[" + inks(33) + "]/DeviceRGB 10 0 R<</Colorants<<>>>>]>>", content: "/C cs", objects: []string{stream("/FunctionType 4/Domain["+strings.Repeat("0 1 ", 33)+"]/Range[0 1 0 1 0 1]", []byte("{"+strings.Repeat("pop ", 30)+"}"))}}},
		"small page":                    {"6.1.13", archive{page: "/CropBox[0 0 2 9]"}},
		"unknown operator":              {"6.2.2", archive{content: "1 xyz"}},
		"within BX":                     {"6.2.2", archive{content: "BX 1 xyz EX"}},
		"class of the intent":           {"6.2.3", archive{profile: iccOf("scnr", "RGB ")}},
		"two intents":                   {"6.2.3", archive{intents: "[<</Type/OutputIntent/S/GTS_PDFA1/OutputConditionIdentifier(x)/DestOutputProfile 6 0 R>><</Type/OutputIntent/S/GTS_PDFX/OutputConditionIdentifier(x)/DestOutputProfile 10 0 R>>]", objects: []string{stream("/N 3", standard.SRGBProfile())}}},
		"two intents of one profile":    {"", archive{intents: "[<</Type/OutputIntent/S/GTS_PDFA1/OutputConditionIdentifier(x)/DestOutputProfile 6 0 R>><</Type/OutputIntent/S/GTS_PDFX/OutputConditionIdentifier(x)/DestOutputProfile 6 0 R>>]"}},
		"profile elsewhere":             {"6.2.3", archive{intents: "[<</Type/OutputIntent/S/GTS_PDFA1/OutputConditionIdentifier(x)/DestOutputProfile 6 0 R>><</Type/OutputIntent/S/GTS_PDFX/OutputConditionIdentifier(x)/DestOutputProfileRef<<>>>>]"}},
		"DeviceCMYK":                    {"6.2.4.3", archive{content: "0 0 0 1 k 0 0 9 9 re f"}},
		"inks not told":                 {"6.2.4.4", archive{resources: "/ColorSpace<</C[/DeviceN[/Spot]/DeviceRGB 10 0 R]>>", content: "/C cs 1 scn 0 0 9 9 re f", objects: []string{stream("/FunctionType 4/Domain[0 1]/Range[0 1 0 1 0 1]", []byte("{dup dup}"))}}},
		"inks told":                     {"", archive{resources: "/ColorSpace<</C[/DeviceN[/Spot]/DeviceRGB 10 0 R<</Colorants<</Spot[/Separation/Spot/DeviceRGB 10 0 R]>>>>]>>", content: "/C cs 1 scn 0 0 9 9 re f", objects: []string{stream("/FunctionType 4/Domain[0 1]/Range[0 1 0 1 0 1]", []byte("{dup dup}"))}}},
		"inks that differ":              {"6.2.4.4", archive{resources: "/ColorSpace<</C[/Separation/Spot/DeviceRGB 10 0 R]/D[/Separation/Spot/DeviceRGB 11 0 R]>>", content: "/C cs 1 scn 0 0 9 9 re f /D cs 1 scn 0 0 9 9 re f", objects: []string{stream("/FunctionType 4/Domain[0 1]/Range[0 1 0 1 0 1]", []byte("{dup dup}")), stream("/FunctionType 4/Domain[0 1]/Range[0 1 0 1 0 1]", []byte("{dup dup dup pop}"))}}},
		"transfer":                      {"6.2.5", archive{resources: "/ExtGState<</G<</Type/ExtGState/TR/Identity>>>>", content: "/G gs"}},
		"halftone type":                 {"6.2.5", archive{resources: "/ExtGState<</G<</Type/ExtGState/HT<</Type/Halftone/HalftoneType 6>>>>>>", content: "/G gs"}},
		"halftone name":                 {"6.2.5", archive{resources: "/ExtGState<</G<</Type/ExtGState/HT<</Type/Halftone/HalftoneType 1/HalftoneName(x)/Frequency 60/Angle 0/SpotFunction/Round>>>>>>", content: "/G gs"}},
		"intent of a state":             {"6.2.6", archive{resources: "/ExtGState<</G<</Type/ExtGState/RI/Own>>>>", content: "/G gs"}},
		"intent of content":             {"6.2.6", archive{content: "/Own ri"}},
		"intent of an image":            {"6.2.6", archive{resources: "/XObject<</I 10 0 R>>", content: "/I Do", objects: []string{stream("/Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray/Intent/Own", []byte("x"))}}},
		"Interpolate":                   {"6.2.8", archive{resources: "/XObject<</I 10 0 R>>", content: "/I Do", objects: []string{stream("/Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray/Interpolate true", []byte("x"))}}},
		"inline interpolate":            {"6.2.8", archive{content: "BI/W 1/H 1/BPC 8/CS/G/I true ID x EI"}},
		"bits":                          {"6.2.8", archive{resources: "/XObject<</I 10 0 R>>", content: "/I Do", objects: []string{stream("/Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 7/ColorSpace/DeviceGray", []byte("x"))}}},
		"JPEG 2000":                     {"", jpx("", ihdr(3, 7)+colours(1, 0, 16))},
		"JPEG 2000 of gray":             {"", jpx("", ihdr(1, 7)+colours(1, 0, 17))},
		"JPEG 2000 of two channels":     {"6.2.8.3", jpx("", ihdr(2, 7)+colours(1, 0, 17))},
		"JPEG 2000 of 39 bits":          {"6.2.8.3", jpx("", ihdr(3, 38)+colours(1, 0, 16))},
		"JPEG 2000 of 38 bits":          {"", jpx("", ihdr(3, 37)+colours(1, 0, 16))},
		"JPEG 2000 of several depths":   {"6.2.8.3", jpx("", ihdr(3, 255)+jp2Box("bpcc", "\x07\x07\x03")+colours(1, 0, 16))},
		"JPEG 2000 in CIEJab":           {"6.2.8.3", jpx("", ihdr(3, 7)+colours(1, 0, 19))},
		"JPEG 2000 in CIEJab, told":     {"", jpx("/ColorSpace/DeviceRGB", ihdr(3, 7)+colours(1, 0, 19))},
		"JPEG 2000 by method 4":         {"6.2.8.3", jpx("", ihdr(3, 7)+colours(4, 0, 16))},
		"JPEG 2000 in two spaces":       {"6.2.8.3", jpx("", ihdr(3, 7)+colours(1, 0, 16)+colours(1, 0, 18))},
		"JPEG 2000 in two exact spaces": {"6.2.8.3", jpx("", ihdr(3, 7)+colours(1, 1, 16)+colours(1, 1, 18))},
		"JPEG 2000, one space exact":    {"", jpx("", ihdr(3, 7)+colours(1, 0, 19)+colours(1, 1, 16))},
		"JPEG 2000 without colours":     {"6.2.8.3", jpx("", ihdr(3, 7))},
		"form of PostScript":            {"6.2.9", archive{resources: "/XObject<</I 10 0 R>>", content: "/I Do", objects: []string{stream("/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Subtype2/PS", nil)}}},
		"form with OPI":                 {"6.2.9", archive{resources: "/XObject<</I 10 0 R>>", content: "/I Do", objects: []string{stream("/Type/XObject/Subtype/Form/BBox[0 0 9 9]/OPI<<>>", nil)}}},
		"reference":                     {"6.2.9", archive{resources: "/XObject<</I 10 0 R>>", content: "/I Do", objects: []string{stream("/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Ref<<>>", nil)}}},
		"PostScript":                    {"6.2.9", archive{resources: "/XObject<</I 10 0 R>>", content: "/I Do", objects: []string{stream("/Type/XObject/Subtype/PS", nil)}}},
		"optional content":              {"6.9", archive{catalog: "/OCProperties<</OCGs[]/D<</Order[]>>>>"}},
		"optional content named":        {"", archive{catalog: "/OCProperties<</OCGs[]/D<</Name(x)/Order[]>>>>"}},
		"optional content twice":        {"6.9", archive{catalog: "/OCProperties<</OCGs[]/D<</Name(x)/Order[]>>/Configs[<</Name(x)>>]>>"}},
		"optional content out of order": {"6.9", archive{catalog: "/OCProperties<</OCGs[10 0 R]/D<</Name(x)/Order[]>>>>", objects: []string{"<</Type/OCG/Name(x)>>"}}},
		"optional content by itself":    {"6.9", archive{catalog: "/OCProperties<</OCGs[]/D<</Name(x)/AS[]>>>>"}},
		"alternate presentations":       {"6.10", archive{catalog: "/Names<</AlternatePresentations<<>>>>"}},
		"steps":                         {"6.10", archive{page: "/PresSteps<<>>"}},
		"requirements":                  {"6.11", archive{catalog: "/Requirements[]"}},
		"rendering by programs":         {"6.4.2", archive{catalog: "/NeedsRendering true"}},
		"ToggleNoView":                  {"6.3.2", archive{page: "/Annots[<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/F 260>>]"}},
		"unknown annotation":            {"6.3.1", archive{page: "/Annots[<</Type/Annot/Subtype/Own/Rect[0 0 9 9]/F 4/AP<</N 10 0 R>>>>]", objects: []string{stream("/Type/XObject/Subtype/Form/BBox[0 0 9 9]", nil)}}},
		"overprinted":                   {"6.2.4.2", archive{resources: "/ColorSpace<</C[/ICCBased 10 0 R]>>/ExtGState<</G<</Type/ExtGState/OP true/OPM 1>>>>", content: "/G gs /C cs 0 0 0 1 scn 0 0 9 9 re f", objects: []string{stream("/N 4", iccOf("prtr", "CMYK"))}}},
		"overprinted strokes":           {"6.2.4.2", archive{resources: "/ColorSpace<</C[/ICCBased 10 0 R]>>/ExtGState<</G<</Type/ExtGState/OP true/op false/OPM 1>>>>", content: "/G gs /C CS 0 0 0 1 SCN 0 0 9 9 re S", objects: []string{stream("/N 4", iccOf("prtr", "CMYK"))}}},
		"overprinted in mode 0":         {"", archive{resources: "/ColorSpace<</C[/ICCBased 10 0 R]>>/ExtGState<</G<</Type/ExtGState/OP true/OPM 0>>>>", content: "/G gs /C cs 0 0 0 1 scn 0 0 9 9 re f", objects: []string{stream("/N 4", iccOf("prtr", "CMYK"))}}},
		"not overprinted":               {"", archive{resources: "/ColorSpace<</C[/ICCBased 10 0 R]>>/ExtGState<</G<</Type/ExtGState/OP true/op false/OPM 1>>>>", content: "/G gs /C cs 0 0 0 1 scn 0 0 9 9 re f", objects: []string{stream("/N 4", iccOf("prtr", "CMYK"))}}},
		"overprinted before":            {"", archive{resources: "/ColorSpace<</C[/ICCBased 10 0 R]>>/ExtGState<</G<</Type/ExtGState/OP true/OPM 1>>>>", content: "q /G gs Q /C cs 0 0 0 1 scn 0 0 9 9 re f", objects: []string{stream("/N 4", iccOf("prtr", "CMYK"))}}},
		"overprinted RGB":               {"", archive{resources: "/ExtGState<</G<</Type/ExtGState/OP true/OPM 1>>>>", content: "/G gs 1 0 0 rg 0 0 9 9 re f"}},
		"overprinted in a form":         {"6.2.4.2", archive{resources: "/XObject<</X 11 0 R>>/ExtGState<</G<</Type/ExtGState/OP true/OPM 1>>>>", content: "/G gs /X Do", objects: []string{stream("/N 4", iccOf("prtr", "CMYK")), stream("/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</ColorSpace<</C[/ICCBased 10 0 R]>>>>", []byte("/C cs 0 0 0 1 scn 0 0 9 9 re f"))}}},
		"borrowed of the page":          {"6.2.2", archive{resources: "/XObject<</X 10 0 R>>/ExtGState<</G<</Type/ExtGState/OPM 1>>>>", content: "/X Do", objects: []string{stream("/Type/XObject/Subtype/Form/BBox[0 0 9 9]", []byte("/G gs"))}}},

		"Type 1":                     {"", one1("", sound1, "(AB)", "500 620", "")},
		"Type 1 width":               {"6.2.11.5", one1("", sound1, "(AB)", "500 600", "")},
		"Type 1 width within one":    {"", one1("", sound1, "(AB)", "500 619", "")},
		"Type 1 glyph":               {"6.2.11.4.1", one1("", sound1, "(C)", "500 620 400", "")},
		"Type 1 unseen":              {"", one1("", sound1, "3 Tr (C)", "500 620 400", "")},
		"Type 1 notdef":              {"6.2.11.8", one1("", sound1, "(D)", "500 620 400 250", "/Encoding<</Differences[68/.notdef]>>")},
		"Type 1 renamed":             {"", one1("", sound1, "(D)", "500 620 400 620", "/Encoding<</Differences[68/B]>>")},
		"Type 1 renamed width":       {"6.2.11.5", one1("", sound1, "(D)", "500 620 400 500", "/Encoding<</Differences[68/B]>>")},
		"Type 1 own encoding":        {"", one1("/Encoding 256 array\n0 1 255 {1 index exch /.notdef put} for\ndup 65 /B put\nreadonly def\n", sound1, "(A)", "620", "")},
		"Type 1 own encoding width":  {"6.2.11.5", one1("/Encoding 256 array\n0 1 255 {1 index exch /.notdef put} for\ndup 65 /B put\nreadonly def\n", sound1, "(A)", "500", "")},
		"Type 1 matrix":              {"", one1("/FontMatrix [0.002 0 0 0.002 0 0] readonly def\n", sound1, "(A)", "1000", "")},
		"Type 1 no program":          {"6.2.11.4.1", one1("", []byte("nothing at all"), "(A)", "500", "")},
		"Type 1 CharSet":             {"", subset1("(/A/B)")},
		"Type 1 CharSet with notdef": {"", subset1("(/.notdef/A/B)")},
		"Type 1 CharSet short":       {"6.2.11.4.2", subset1("(/A)")},
		"Type 1 CharSet of more":     {"6.2.11.4.2", subset1("(/A/B/C)")},

		"CMap of Japan":              {"", mapped(t, "/90ms-RKSJ-H", "Japan1", 2)},
		"CMap of a later supplement": {"6.2.11.3.1", mapped(t, "/90ms-RKSJ-H", "Japan1", 3)},
		"CMap of Korea for Japan":    {"6.2.11.3.1", mapped(t, "/KSC-EUC-H", "Japan1", 0)},
		"CMap nobody knows":          {"6.2.11.3.3", mapped(t, "/Own-H", "Japan1", 0)},
		"CMap of UTF-32":             {"6.2.11.3.3", mapped(t, "/UniJIS-UTF32-H", "Japan1", 0)},
		"CMap embedded":              {"", mapped(t, "13 0 R", "Own", 0, cmapOf("Own", 0, 0, ""))},
		"CMap embedded of another":   {"6.2.11.3.1", mapped(t, "13 0 R", "Own", 0, cmapOf("Other", 0, 0, ""))},
		"CMap in another mode":       {"6.2.11.3.3", mapped(t, "13 0 R", "Own", 0, cmapOf("Own", 1, 0, ""))},
		"CMap on one that is known":  {"", mapped(t, "13 0 R", "Own", 0, cmapOf("Own", 0, 0, "/UseCMap/H"))},
		"CMap of large CIDs":         {"6.1.13", mapped(t, "13 0 R", "Own", 0, cmapOf("Own", 0, 0, "LARGE"))},

		"font without type":         {"6.2.11.2", archive{resources: "", content: "BT /Own 9 Tf (A) Tj ET", objects: []string{"<</Subtype/TrueType/BaseFont/Sans/FirstChar 65/LastChar 65/Widths[667]/Encoding/WinAnsiEncoding/FontDescriptor 8 0 R>>"}}},
		"font without a name":       {"6.2.11.2", archive{content: "BT /Own 9 Tf (A) Tj ET", objects: []string{"<</Type/Font/Subtype/TrueType/FirstChar 65/LastChar 65/Widths[667]/Encoding/WinAnsiEncoding/FontDescriptor 8 0 R>>"}}},
		"font named in bytes":       {"6.1.8", archive{content: "BT /Own 9 Tf (A) Tj ET", objects: []string{"<</Type/Font/Subtype/TrueType/BaseFont/S#ffans/FirstChar 65/LastChar 65/Widths[667]/Encoding/WinAnsiEncoding/FontDescriptor 8 0 R>>"}}},
		"font of unlisted names":    {"6.2.11.6", archive{content: "BT /Own 9 Tf (A) Tj ET", objects: []string{"<</Type/Font/Subtype/TrueType/BaseFont/Sans/FirstChar 65/LastChar 65/Widths[667]/Encoding<</BaseEncoding/WinAnsiEncoding/Differences[66/unlisted]>>/FontDescriptor 8 0 R>>"}}},
		"font of listed names":      {"", archive{content: "BT /Own 9 Tf (A) Tj ET", objects: []string{"<</Type/Font/Subtype/TrueType/BaseFont/Sans/FirstChar 65/LastChar 65/Widths[667]/Encoding<</BaseEncoding/WinAnsiEncoding/Differences[66/eacute]>>/FontDescriptor 8 0 R>>"}}},
		"font of symbols":           {"6.2.11.6", archive{content: "BT /Own 9 Tf (A) Tj ET", objects: []string{"<</Type/Font/Subtype/TrueType/BaseFont/Sans/FirstChar 65/LastChar 65/Widths[667]/FontDescriptor 11 0 R>>", "<</Type/FontDescriptor/FontName/Sans/Flags 4/FontFile2 9 0 R/ItalicAngle 0/Ascent 900/Descent -200/CapHeight 700/StemV 80/FontBBox[0 0 1000 1000]>>"}}},
		"font not embedded, unseen": {"", archive{content: "BT /Own 9 Tf 3 Tr (A) Tj ET", objects: []string{"<</Type/Font/Subtype/TrueType/BaseFont/Sans/FirstChar 65/LastChar 65/Widths[667]/Encoding/WinAnsiEncoding/FontDescriptor 11 0 R>>", "<</Type/FontDescriptor/FontName/Sans/Flags 32/ItalicAngle 0/Ascent 900/Descent -200/CapHeight 700/StemV 80/FontBBox[0 0 1000 1000]>>"}}},
		"font not embedded":         {"6.2.11.4.1", archive{content: "BT /Own 9 Tf (A) Tj ET", objects: []string{"<</Type/Font/Subtype/TrueType/BaseFont/Sans/FirstChar 65/LastChar 65/Widths[667]/Encoding/WinAnsiEncoding/FontDescriptor 11 0 R>>", "<</Type/FontDescriptor/FontName/Sans/Flags 32/ItalicAngle 0/Ascent 900/Descent -200/CapHeight 700/StemV 80/FontBBox[0 0 1000 1000]>>"}}},

		"XMP history":                      {"", archive{prefixes: xmpMM, packet: `<xmpMM:History><rdf:Seq><rdf:li rdf:parseType="Resource"><stEvt:action>saved</stEvt:action><stEvt:when>2026-11-26T10:00:00Z</stEvt:when></rdf:li></rdf:Seq></xmpMM:History>`}},
		"XMP history by attributes":        {"", archive{prefixes: xmpMM, packet: `<xmpMM:History><rdf:Seq><rdf:li stEvt:action="saved" stEvt:when="2026-11-26T10:00:00Z"/></rdf:Seq></xmpMM:History>`}},
		"XMP history described":            {"", archive{prefixes: xmpMM, packet: `<xmpMM:History><rdf:Seq><rdf:li><rdf:Description stEvt:action="saved"/></rdf:li></rdf:Seq></xmpMM:History>`}},
		"XMP history without order":        {"6.6.2.3.1", archive{prefixes: xmpMM, packet: `<xmpMM:History><rdf:Bag><rdf:li stEvt:action="saved"/></rdf:Bag></xmpMM:History>`}},
		"XMP history of texts":             {"6.6.2.3.1", archive{prefixes: xmpMM, packet: `<xmpMM:History><rdf:Seq><rdf:li>saved</rdf:li></rdf:Seq></xmpMM:History>`}},
		"XMP history at no time":           {"6.6.2.3.1", archive{prefixes: xmpMM, packet: `<xmpMM:History><rdf:Seq><rdf:li stEvt:action="saved" stEvt:when="today"/></rdf:Seq></xmpMM:History>`}},
		"XMP history of more":              {"6.6.2.3.1", archive{prefixes: xmpMM, packet: `<xmpMM:History><rdf:Seq><rdf:li stEvt:action="saved" stEvt:other="x"/></rdf:Seq></xmpMM:History>`}},
		"XMP history, changed":             {"6.6.2.3.1", archive{prefixes: xmpMM, packet: `<xmpMM:History><rdf:Seq><rdf:li stEvt:action="saved" stEvt:changed="/"/></rdf:Seq></xmpMM:History>`}},
		"XMP derived":                      {"", archive{prefixes: xmpMM, packet: `<xmpMM:DerivedFrom stRef:instanceID="a" stRef:documentID="b"/>`}},
		"XMP derived from a text":          {"6.6.2.3.1", archive{prefixes: xmpMM, packet: `<xmpMM:DerivedFrom>a</xmpMM:DerivedFrom>`}},
		"XMP derived of another":           {"6.6.2.3.1", archive{prefixes: xmpMM, packet: `<xmpMM:DerivedFrom stEvt:action="a"/>`}},
		"XMP original":                     {"6.6.2.3.1", archive{prefixes: xmpMM, packet: `<xmpMM:OriginalDocumentID>a</xmpMM:OriginalDocumentID>`}},
		"XMP thumbnail":                    {"", archive{prefixes: ` xmlns:g="http://ns.adobe.com/xap/1.0/g/img/"`, packet: `<xmp:Thumbnails><rdf:Alt><rdf:li rdf:parseType="Resource"><g:format>JPEG</g:format><g:width>9</g:width><g:height>9</g:height><g:image>AAAA</g:image></rdf:li></rdf:Alt></xmp:Thumbnails>`}},
		"XMP thumbnail without a width":    {"6.6.2.3.1", archive{prefixes: ` xmlns:g="http://ns.adobe.com/xap/1.0/g/img/"`, packet: `<xmp:Thumbnails><rdf:Alt><rdf:li rdf:parseType="Resource"><g:format>JPEG</g:format><g:width>wide</g:width></rdf:li></rdf:Alt></xmp:Thumbnails>`}},
		"XMP page size":                    {"", archive{prefixes: ` xmlns:p="http://ns.adobe.com/xap/1.0/t/pg/" xmlns:d="http://ns.adobe.com/xap/1.0/sType/Dimensions#"`, packet: `<p:MaxPageSize rdf:parseType="Resource"><d:w>21.0</d:w><d:h>29</d:h><d:unit>cm</d:unit></p:MaxPageSize><p:NPages>1</p:NPages>`}},
		"XMP page size of words":           {"6.6.2.3.1", archive{prefixes: ` xmlns:p="http://ns.adobe.com/xap/1.0/t/pg/" xmlns:d="http://ns.adobe.com/xap/1.0/sType/Dimensions#"`, packet: `<p:MaxPageSize rdf:parseType="Resource"><d:w>wide</d:w></p:MaxPageSize>`}},
		"XMP pages":                        {"6.6.2.3.1", archive{prefixes: ` xmlns:p="http://ns.adobe.com/xap/1.0/t/pg/"`, packet: `<p:NPages>one</p:NPages>`}},
		"XMP of Photoshop":                 {"", archive{prefixes: ` xmlns:p="http://ns.adobe.com/photoshop/1.0/"`, packet: `<p:City>Bern</p:City><p:Urgency>1</p:Urgency>`}},
		"XMP of Photoshop, urgent":         {"6.6.2.3.1", archive{prefixes: ` xmlns:p="http://ns.adobe.com/photoshop/1.0/"`, packet: `<p:Urgency>very</p:Urgency>`}},
		"XMP colour mode":                  {"6.6.2.3.1", archive{prefixes: ` xmlns:p="http://ns.adobe.com/photoshop/1.0/"`, packet: `<p:ColorMode>3</p:ColorMode>`}},
		"XMP trapped":                      {"6.6.2.3.1", archive{prefixes: ` xmlns:p="http://ns.adobe.com/pdf/1.3/"`, packet: `<p:Trapped>False</p:Trapped>`}},
		"XMP of TIFF":                      {"", archive{prefixes: ` xmlns:p="http://ns.adobe.com/tiff/1.0/"`, packet: `<p:XResolution>72/1</p:XResolution><p:Orientation>1</p:Orientation>`}},
		"XMP flash":                        {"", archive{prefixes: ` xmlns:p="http://ns.adobe.com/exif/1.0/"`, packet: `<p:Flash rdf:parseType="Resource"><p:Fired>True</p:Fired><p:Mode>1</p:Mode></p:Flash>`}},
		"XMP flash perhaps":                {"6.6.2.3.1", archive{prefixes: ` xmlns:p="http://ns.adobe.com/exif/1.0/"`, packet: `<p:Flash rdf:parseType="Resource"><p:Fired>perhaps</p:Fired></p:Flash>`}},
		"XMP nobody knows":                 {"6.6.2.3.1", archive{packet: `<xmp:Own>x</xmp:Own>`}},
		"XMP in a namespace of its own":    {"6.6.2.3.1", archive{prefixes: ` xmlns:o="urn:own#"`, packet: `<o:p>x</o:p>`}},
		"XMP extension":                    {"", extension("Text", "external", "x", "")},
		"XMP extension of a number":        {"6.6.2.3.1", extension("Integer", "external", "x", "")},
		"XMP extension without a category": {"6.6.2.3.3", extension("Text", "elsewhere", "x", "")},
		"XMP extension of no type":         {"6.6.2.3.3", extension("Nonsense", "external", "x", "")},
		"XMP extension with more":          {"6.6.2.3", extension("Text", "external", "x", "<pdfaSchema:more>x</pdfaSchema:more>")},
		"unknown action":                   {"6.5.1", archive{catalog: "/OpenAction<</S/NOP>>"}},
		"named action":                     {"6.5.1", archive{catalog: "/OpenAction<</S/Named/N/Print>>"}},
	}
}

const xmpMM = ` xmlns:xmpMM="http://ns.adobe.com/xap/1.0/mm/" xmlns:stEvt="http://ns.adobe.com/xap/1.0/sType/ResourceEvent#" xmlns:stRef="http://ns.adobe.com/xap/1.0/sType/ResourceRef#"`

// extension has a property of its own with its description.
func extension(kind, category, value, more string) archive {
	return archive{
		prefixes: ` xmlns:o="urn:own#" xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/" xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#"`,
		packet: `<pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource"><pdfaSchema:schema>Own</pdfaSchema:schema><pdfaSchema:namespaceURI>urn:own#</pdfaSchema:namespaceURI><pdfaSchema:prefix>o</pdfaSchema:prefix>` + more +
			`<pdfaSchema:property><rdf:Seq><rdf:li rdf:parseType="Resource"><pdfaProperty:name>p</pdfaProperty:name><pdfaProperty:valueType>` + kind + `</pdfaProperty:valueType><pdfaProperty:category>` + category +
			`</pdfaProperty:category><pdfaProperty:description>d</pdfaProperty:description></rdf:li></rdf:Seq></pdfaSchema:property></rdf:li></rdf:Bag></pdfaExtension:schemas><o:p>` + value + `</o:p>`,
	}
}

// sound1 are the private parts of a program of Type 1 with the glyphs A, 500 units wide, and B,
// 620.
var sound1 = func() []byte {
	cipher := func(b []byte, key uint16) []byte {
		b = append([]byte("xxxx"), b...)
		for i, c := range b {
			b[i] = c ^ byte(key>>8)
			key = (uint16(b[i])+key)*52845 + 22719
		}
		return b
	}
	p := "dup /Private 8 dict dup begin\n/RD {string currentfile exch readstring pop} executeonly def\n/ND {noaccess def} executeonly def\n/NP {noaccess put} executeonly def\n/BlueValues [] def\n/password 5839 def\n/Subrs 0 array\nND\n2 index /CharStrings 3 dict dup begin\n"
	for name, width := range map[string]int{".notdef": 250, "A": 500, "B": 620} {
		g := cipher([]byte{139, 255, 0, 0, byte(width >> 8), byte(width), 13, 14}, 4330)
		p += fmt.Sprintf("/%s %d RD %s ND\n", name, len(g), g)
	}
	return cipher([]byte(p+"end\nend\nreadonly put\nnoaccess put\ndup/FontName get exch definefont pop\nmark currentfile closefile\n"), 55665)
}()

// one1 shows something in a font of Type 1 whose codes begin with that of A.
func one1(head string, private []byte, show, widths, encoding string) archive {
	return type1("Sample", head, private, show, widths, encoding, "")
}

// subset1 is a subset with a CharSet.
func subset1(set string) archive {
	return type1("AAAAAA+Sample", "", sound1, "(AB)", "500 620", "", "/CharSet"+set)
}

func type1(name, head string, private []byte, show, widths, encoding, descriptor string) archive {
	if !strings.Contains(head, "/Encoding") {
		head += "/Encoding StandardEncoding def\n"
	}
	if !strings.Contains(head, "/FontMatrix") {
		head += "/FontMatrix [0.001 0 0 0.001 0 0] readonly def\n"
	}
	open := "%!PS-AdobeFont-1.0: Sample 1.0\n11 dict begin\n/FontInfo 1 dict dup begin\n/version (1.0) readonly def\nend readonly def\n/FontName /Sample def\n/PaintType 0 def\n/FontType 1 def\n" + head + "/FontBBox {0 0 1000 1000} readonly def\ncurrentdict end\ncurrentfile eexec\n"
	program := append([]byte(open), private...)
	zeros := strings.Repeat(strings.Repeat("0", 64)+"\n", 8) + "cleartomark\n"
	program = append(program, zeros...)
	n := len(strings.Fields(widths))
	return archive{content: "BT /Own 9 Tf " + show + " Tj ET", objects: []string{
		fmt.Sprintf("<</Type/Font/Subtype/Type1/BaseFont/%s/FirstChar 65/LastChar %d/Widths[%s]%s/FontDescriptor 11 0 R>>", name, 64+n, widths, encoding),
		"<</Type/FontDescriptor/FontName/" + name + "/Flags 32/FontFile 12 0 R/ItalicAngle 0/Ascent 900/Descent -200/CapHeight 700/StemV 80/FontBBox[0 0 1000 1000]" + descriptor + ">>",
		stream(fmt.Sprintf("/Length1 %d/Length2 %d/Length3 %d", len(open), len(private), len(zeros)), program),
	}}
}

// mapped has a composite font with a CMap and the character collection of its CIDFont.
func mapped(t *testing.T, cmap, ordering string, supplement int, more ...string) archive {
	t.Helper()
	sans, widths := sansOf(t), ""
	for g := range font.GID(400) {
		widths += fmt.Sprintf(" %d", sans.Advance(g)*1000/sans.UnitsPerEm())
	}
	show := "(A)"
	if strings.HasSuffix(cmap, " R") || cmap == "/UniJIS-UTF32-H" || cmap == "/Own-H" || cmap == "/KSC-EUC-H" {
		show = "<0041>"
	}
	return archive{content: "BT /Own 9 Tf " + show + " Tj ET", objects: append([]string{
		"<</Type/Font/Subtype/Type0/BaseFont/Sans/Encoding " + cmap + "/DescendantFonts[11 0 R]>>",
		fmt.Sprintf("<</Type/Font/Subtype/CIDFontType2/BaseFont/Sans/CIDToGIDMap/Identity/CIDSystemInfo<</Registry(Adobe)/Ordering(%s)/Supplement %d>>/W[0[%s]]/FontDescriptor 12 0 R>>", ordering, supplement, widths),
		"<</Type/FontDescriptor/FontName/Sans/Flags 4/FontFile2 9 0 R/ItalicAngle 0/Ascent 900/Descent -200/CapHeight 700/StemV 80/FontBBox[0 0 1000 1000]>>",
	}, more...)}
}

// cmapOf is a CMap of an ordering, its writing mode by its file and by its dictionary.
func cmapOf(ordering string, mode, stated int, more string) string {
	cids := "1 begincidrange\n<0000> <00FF> 1\nendcidrange\n"
	if more == "LARGE" {
		cids, more = "1 begincidrange\n<0000> <00FF> 65530\nendcidrange\n", ""
	}
	return stream(fmt.Sprintf("/Type/CMap/CMapName/Own-H/WMode %d/CIDSystemInfo<</Registry(Adobe)/Ordering(%s)/Supplement 0>>%s", stated, ordering, more), []byte(fmt.Sprintf(
		"%%!PS-Adobe-3.0 Resource-CMap\n/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CIDSystemInfo 3 dict dup begin\n/Registry (Adobe) def\n/Ordering (%s) def\n/Supplement 0 def\nend def\n/CMapName /Own-H def\n/CMapType 1 def\n/WMode %d def\n1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n%sendcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n", ordering, mode, cids)))
}

// jp2Box is a box of a JP2 file (ISO/IEC 15444-1, annex I.4).
func jp2Box(kind, body string) string {
	return string(binary.BigEndian.AppendUint32(nil, uint32(8+len(body)))) + kind + body //nolint:gosec // G115: a few bytes
}

// ihdr is an image header of so many channels, whose depth is one more than depth.
func ihdr(channels, depth byte) string {
	return jp2Box("ihdr", string([]byte{0, 0, 0, 1, 0, 0, 0, 1, 0, channels, depth, 7, 0, 0}))
}

// colours is a colour specification.
func colours(method, approx, space byte) string {
	return jp2Box("colr", string([]byte{method, 0, approx, 0, 0, 0, space}))
}

// jpx draws an image in JPEG 2000 with a header of these boxes.
func jpx(dict, header string) archive {
	data := jp2Box("jP  ", "\r\n\x87\n") + jp2Box("ftyp", "jpx \x00\x00\x00\x00jpx ") + jp2Box("jp2h", header)
	return archive{resources: "/XObject<</I 10 0 R>>", content: "/I Do", objects: []string{stream("/Type/XObject/Subtype/Image/Width 1/Height 1/Filter/JPXDecode"+dict, []byte(data))}}
}

func inks(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "/I%d", i)
	}
	return s.String()
}

// checked returns the clauses that Check finds broken in files, by their names.
func checked(t *testing.T, files map[string][]byte) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for name, b := range files {
		d, err := edit.Open(bytes.NewReader(b), int64(len(b)), edit.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		list, err := d.Check(t.Context(), []standard.ID{standard.PDFA2b})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, f := range list {
			found[name] = append(found[name], strings.TrimPrefix(f.Clause, "ISO 19005-2, "))
		}
	}
	return found
}

// names reports whether clauses are those of a file that breaks one, or none of a sound one.
func names(clauses []string, want string) bool {
	if want == "" {
		return len(clauses) == 0
	}
	return slices.ContainsFunc(clauses, func(c string) bool { return strings.HasPrefix(c, want) })
}

// TestCheckFindsEachRuleThatIsBroken: of small files, each with one thing that ISO 19005-2 does not
// take, Check names the clause; of those beside them that are sound it names none.
func TestCheckFindsEachRuleThatIsBroken(t *testing.T) {
	all, files := rules(t), map[string][]byte{}
	for name, x := range all {
		files[name] = x.is.bytes(t)
	}
	found := checked(t, files)
	for name, x := range all {
		if !names(found[name], x.clause) {
			t.Errorf("%s: %q, want %q", name, found[name], x.clause)
		}
	}
}
