//go:build !race

package edit_test

import (
	"bytes"
	"crypto/md5" //nolint:gosec // G501: as revision 3 of the security handler has it
	"crypto/rc4" //nolint:gosec // G503: the same
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf/standard"
)

// permitting is a tagged file that is encrypted with permissions p, by RC4 of revision 3. Anyone
// may open it (ISO 32000-1, 7.6.3).
func permitting(t *testing.T, part int, p int32) []byte {
	t.Helper()
	const padding = "\x28\xBF\x4E\x5E\x4E\x75\x8A\x41\x64\x00\x4E\x56\xFF\xFA\x01\x08\x2E\x2E\x00\xB6\xD0\x68\x3E\x80\x2F\x0C\xA9\xFE\x64\x53\x69\x7A"
	id := "\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xAA\xBB\xCC\xDD\xEE\xFF"
	owner := strings.Repeat("o", 32)
	digest := func(b []byte) []byte {
		sum := md5.Sum(b) //nolint:gosec // G401: as the revision has it
		return sum[:]
	}
	cipher := func(key, data []byte) []byte {
		c, err := rc4.NewCipher(key) //nolint:gosec // G405: as the revision has it
		if err != nil {
			t.Fatal(err)
		}
		out := make([]byte, len(data))
		c.XORKeyStream(out, data)
		return out
	}
	key := digest([]byte(string(binary.LittleEndian.AppendUint32([]byte(padding+owner), uint32(p))) + id)) //nolint:gosec // G115: the bits are meant
	for range 50 {
		key = digest(key)
	}
	user := digest([]byte(padding + id))
	for i := range byte(20) {
		k := slices.Clone(key)
		for at := range k {
			k[at] ^= i
		}
		user = cipher(k, user)
	}
	a := tagged(part, "", el("Div"))
	a.trailer = fmt.Sprintf("/Encrypt<</Filter/Standard/V 2/R 3/Length 128/P %d/O<%x>/U<%x>>>", p, owner, string(user)+strings.Repeat("\x00", 16))
	a.sealed = func(n int, object string) string {
		of := digest(append(slices.Clone(key), byte(n), 0, 0, 0, 0)) //nolint:gosec // G115: there are not so many
		seal := func(s string) string { return string(cipher(of, []byte(s))) }
		dict, data, isStream := strings.Cut(object, "\nstream\n")
		dict = regexp.MustCompile(`\([^()]*\)`).ReplaceAllStringFunc(dict, func(s string) string {
			return fmt.Sprintf("<%x>", seal(s[1:len(s)-1]))
		})
		if !isStream {
			return dict
		}
		const end = "\nendstream"
		return dict + "\nstream\n" + seal(strings.TrimSuffix(data, end)) + end
	}
	return a.bytes(t)
}

// accessRules are files that break one rule of ISO 14289 about encryption, media, forms, fields,
// links and what annotations belong to, and sound ones beside them.
func accessRules(t *testing.T) map[string]judged {
	t.Helper()
	// access is a tagged file; next is the number of the first of more objects.
	access := func(part int, spoil func(a *archive, next int), beside ...elem) []byte {
		a := tagged(part, "", beside...)
		spoil(&a, 10+len(a.objects))
		return a.bytes(t)
	}
	// annotated has annotations, the objects from next on, that belong to elements, in order; the
	// element of each is given by its place among those beside the text.
	annotated := func(part int, of []int, annots []string, beside ...elem) []byte {
		return access(part, func(a *archive, next int) {
			var refs, nums strings.Builder
			kids := map[int]string{}
			for i, dict := range annots {
				fmt.Fprintf(&refs, "%d 0 R ", next+i)
				fmt.Fprintf(&nums, "%d %d 0 R ", i+1, firstElem+of[i])
				kids[of[i]] += fmt.Sprintf("<</Type/OBJR/Obj %d 0 R/Pg 3 0 R>>", next+i)
				a.objects = append(a.objects, fmt.Sprintf("<</Type/Annot/Rect[0 0 9 9]/F 4/StructParent %d%s>>", i+1, dict))
			}
			for at, list := range kids {
				o := &a.objects[firstElem-10+at]
				*o = strings.Replace(*o, "/K[", "/K["+list, 1)
			}
			a.page += "/Annots[" + refs.String() + "]"
			a.objects[0] = strings.Replace(a.objects[0], "[0[13 0 R]]", "[0[13 0 R]"+nums.String()+"]", 1)
		}, beside...)
	}
	link := func(to string) string { return "/Subtype/Link/Contents(a)" + to }
	uri := func(to string) string { return link("/A<</S/URI/URI(" + to + ")>>") }
	dest := func(n int) string { return link(fmt.Sprintf("/Dest[%d 0 R/Fit]", n)) }
	media := func(clip string) []byte {
		return access(1, func(a *archive, _ int) {
			a.catalog += "/OpenAction<</S/Rendition/OP 0/R<</Type/Rendition/S/MR/C<</Type/MediaClip/S/MCD" + clip + ">>>>>>"
		})
	}
	form := func(dict, draw string) []byte {
		return access(1, func(a *archive, next int) {
			a.content += " " + draw
			a.resources = fmt.Sprintf("/XObject<</F %d 0 R>>", next)
			a.objects = append(a.objects, stream("/Type/XObject/Subtype/Form/BBox[0 0 9 9]"+dict, []byte("0 0 9 9 re f")))
		})
	}
	field := func(more string) []byte {
		return access(2, func(a *archive, next int) {
			a.catalog += fmt.Sprintf("/AcroForm<</Fields[%d 0 R]>>", next)
			a.objects = append(a.objects, "<</FT/Tx/T(a)"+more+">>")
		})
	}
	button := func(more string) []byte {
		return annotated(2, []int{0}, []string{"/Subtype/Widget/FT/Btn/T(a)" + more}, el("Form", el("Lbl", el("Span"))))
	}
	all := map[string]judged{}
	for name, x := range map[string]struct {
		clause string
		b      []byte
	}{
		"encrypted for all":                {"", permitting(t, 1, -1)},
		"encrypted without bit 10":         {"7.16", permitting(t, 1, -1&^(1<<9))},
		"media clip":                       {"", media("/CT(audio/x)/Alt[(en)(a)]")},
		"media clip without its type":      {"7.18.6.2", media("/Alt[(en)(a)]")},
		"media clip without a text":        {"7.18.6.2", media("/CT(audio/x)")},
		"media clip with an empty text":    {"7.18.6.2", media("/CT(audio/x)/Alt[(en)()]")},
		"media clip with a language alone": {"7.18.6.2", media("/CT(audio/x)/Alt[(en)]")},
		"tagged form":                      {"", form("/StructParents 5", "/Artifact BMC /F Do EMC")},
		"tagged form that is drawn twice":  {"7.20", form("/StructParents 5", "/Artifact BMC /F Do /F Do EMC")},
		"form that is drawn twice":         {"", form("", "/Artifact BMC /F Do /F Do EMC")},
		"annotation of an element":         {"", annotated(1, []int{0}, []string{uri("urn:a")}, el("Link"))},
		"annotation of a fraction":         {"7.18.5", referenced(bytes.Replace(annotated(1, []int{0}, []string{uri("urn:a")}, el("Link")), []byte("/StructParent 1"), []byte("/StructParent 1.5"), 1))},
		"annotation of another element":    {"7.18.5", annotated(1, []int{0}, []string{uri("urn:a")}, el("Span"))},
		"annotation of no element": {"7.18.5", access(1, func(a *archive, _ int) {
			a.page += "/Annots[<</Type/Annot/Rect[0 0 9 9]/F 4/StructParent 9" + uri("urn:a") + ">>]"
		})},
		"annotation outside the page": {"", access(1, func(a *archive, _ int) {
			a.page += "/Annots[<</Type/Annot/Rect[200 0 209 9]/F 4" + uri("urn:a") + ">>]"
		})},
		"annotation outside a crop box that is none": {"7.18.5", access(1, func(a *archive, _ int) {
			a.page += "/CropBox[]/Annots[<</Type/Annot/Rect[60 0 69 9]/F 4" + uri("urn:a") + ">>]"
		})},
		"annotation outside the crop box alone": {"", access(1, func(a *archive, _ int) {
			a.page += "/CropBox[0 0 50 50]/Annots[<</Type/Annot/Rect[60 0 69 9]/F 4" + uri("urn:a") + ">>]"
		})},
	} {
		all[name] = judged{standard.PDFUA1, x.clause, x.b}
	}
	for name, x := range map[string]struct {
		clause string
		b      []byte
	}{
		"links to one element":              {"", annotated(2, []int{0, 0}, []string{dest(13), dest(13)}, el("Link"))},
		"links to two elements":             {"8.2.5.20", annotated(2, []int{0, 0}, []string{dest(13), dest(12)}, el("Link"))},
		"links to two elements by actions":  {"8.2.5.20", annotated(2, []int{0, 0}, []string{link("/A<</S/GoTo/SD[13 0 R/Fit]/D[3 0 R/Fit]>>"), link("/A<</S/GoTo/SD[12 0 R/Fit]/D[3 0 R/Fit]>>")}, el("Link"))},
		"links to two elements by two":      {"", annotated(2, []int{0, 1}, []string{dest(13), dest(12)}, el("Link"), el("Link"))},
		"links to one place outside":        {"", annotated(2, []int{0, 0}, []string{uri("urn:a"), uri("urn:a")}, el("Link"))},
		"links to two places outside":       {"8.2.5.20", annotated(2, []int{0, 0}, []string{uri("urn:a"), uri("urn:b")}, el("Link"))},
		"button":                            {"", button("")},
		"button that acts":                  {"", button("/Contents(a)/AA<</D<</S/URI/URI(urn:a)>>>>")},
		"button that acts, without a text":  {"8.10.2.3", button("/AA<</D<</S/URI/URI(urn:a)>>>>")},
		"rich value":                        {"", field("/V(a b)/RV(<p>a b</p>)")},
		"rich value alone":                  {"8.10.3.3", field("/RV(<p>a b</p>)")},
		"rich value that differs":           {"8.10.3.3", field("/V(a c)/RV(<p>a b</p>)")},
		"rich value that is no XML":         {"8.10.3.3", field("/V(a b)/RV(a b)")},
		"link of an artifact":               {"", annotated(2, []int{0}, []string{"/Subtype/Square"}, el("Artifact"))},
		"description that is not the other": {"8.9.4.2", annotated(2, []int{0}, []string{uri("urn:a")}, el("Link").with("/Alt()"))},
	} {
		all[name] = judged{standard.PDFUA2, x.clause, x.b}
	}
	xfa := func(part int, config string) []byte {
		return access(part, func(a *archive, next int) {
			a.catalog += fmt.Sprintf("/AcroForm<</Fields[]/XFA[(config)%d 0 R]>>", next)
			a.objects = append(a.objects, stream("", []byte("<config><acrobat><acrobat7>"+config+"</acrobat7></acrobat></config>")))
		})
	}
	composite := tagged(2, "")
	composite.font, composite.content = 16, fmt.Sprintf("/P<</MCID 0>>BDC BT /Sans 9 Tf <%04x> Tj ET EMC", sansOf(t).GlyphIndex('A'))
	composite.objects = append(composite.objects,
		"<</Type/Font/Subtype/Type0/BaseFont/Sans/Encoding/Identity-H/DescendantFonts[17 0 R]/ToUnicode 18 0 R>>",
		"<</Type/Font/Subtype/CIDFontType2/BaseFont/Sans/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/CIDToGIDMap/Own/FontDescriptor 8 0 R/DW 667>>",
		stream("", fmt.Appendf(nil, "1 begincodespacerange <0000><FFFF> endcodespacerange 1 beginbfchar <%04x> <0041> endbfchar", sansOf(t).GlyphIndex('A'))))
	mapped := composite.bytes(t)
	for name, x := range map[string]struct {
		id     standard.ID
		clause string
		b      []byte
	}{
		"content of no element":       {standard.PDFUA1, "7.1", access(1, func(a *archive, _ int) { a.objects[0] = strings.Replace(a.objects[0], "[13 0 R]", "[null]", 1) })},
		"content of no element again": {standard.PDFUA2, "8.2.2", access(2, func(a *archive, _ int) { a.objects[0] = strings.Replace(a.objects[0], "[13 0 R]", "[null]", 1) })},
		"element of another type":     {standard.PDFUA1, "", access(1, func(a *archive, _ int) { a.objects[6] = strings.Replace(a.objects[6], "/StructElem", "/Other", 1) }, el("TR"))},
		"metadata that are no XML":    {standard.PDFUA1, "7.1", access(1, func(a *archive, _ int) { a.packet += "<x>" })},
		"form of XFA":                 {standard.PDFUA1, "", xfa(1, "")},
		"dynamic form of XFA":         {standard.PDFUA1, "7.15", xfa(1, "<dynamicRender>required</dynamicRender>")},
		"form of XFA in part 2":       {standard.PDFUA2, "8.10.1", xfa(2, "")},
		"preferences by reference": {standard.PDFUA1, "", access(1, func(a *archive, next int) {
			a.catalog = strings.NewReplacer("/DisplayDocTitle true", fmt.Sprintf("/DisplayDocTitle %d 0 R", next), "/Marked true", fmt.Sprintf("/Marked %d 0 R", next)).Replace(a.catalog)
			a.objects = append(a.objects, "true")
		})},
		"attribute with S": {standard.PDFUA1, "", access(1, func(a *archive, next int) {
			a.objects[6] = strings.Replace(a.objects[6], "/K[", fmt.Sprintf("/A %d 0 R/K[", next), 1)
			a.objects = append(a.objects, "<</O/Link/S/R>>")
		}, el("Div"))},
		"unknown annotation in an element": {standard.PDFUA2, "", annotated(2, []int{0}, []string{"/Subtype/Own"}, el("Link"))},
		"map of another name":              {standard.PDFUA2, "8.4.5.3.2", mapped},
		"width beyond the last":            {standard.PDFUA1, "7.21.5", bytes.Replace(access(1, func(*archive, int) {}), []byte("/LastChar 65"), []byte("/LastChar 53"), 1)},
	} {
		all[name] = judged{x.id, x.clause, x.b}
	}
	signature := func(more, elem, content string) []byte {
		return access(2, func(a *archive, next int) {
			a.catalog += fmt.Sprintf("/AcroForm<</Fields[%d 0 R]>>", next)
			a.page += fmt.Sprintf("/Annots[%d 0 R]", next)
			a.objects[firstElem-10] = strings.Replace(a.objects[firstElem-10], "/K[", fmt.Sprintf("/K[<</Type/OBJR/Obj %d 0 R/Pg 3 0 R>>", next), 1)
			a.objects[0] = strings.Replace(a.objects[0], "[0[13 0 R]]", fmt.Sprintf("[0[13 0 R]1 %d 0 R]", firstElem), 1)
			a.objects = append(a.objects, fmt.Sprintf("<</Type/Annot/Subtype/Widget/FT/Sig/T(a)/Rect[0 0 9 9]/F 4/StructParent 1/AP<</N %d 0 R>>%s>>", next+1, more),
				stream("/Type/XObject/Subtype/Form/BBox[0 0 9 9]", []byte(content)))
		}, el("Form", el("Lbl", el("Span"))).with(elem))
	}
	const picture = "BI /W 1/H 1/BPC 8/CS/G ID x EI"
	for name, x := range map[string]struct {
		clause string
		b      []byte
	}{
		"signature with a picture":                  {"8.10.3.5", signature("", "", picture)},
		"signature with a picture that is told":     {"", signature("", "/Alt(a)", picture)},
		"signature with a description":              {"", signature("/Contents(a)", "", picture)},
		"signature with a sequence that is told":    {"", signature("", "", "/Span<</Alt(a)>>BDC "+picture+" EMC")},
		"signature with a picture that is artifact": {"", signature("", "", "/Artifact BMC "+picture+" EMC")},
		"signature without a picture":               {"", signature("", "", "0 0 9 9 re f")},
	} {
		all[name] = judged{standard.PDFUA2, x.clause, x.b}
	}
	return all
}

// TestCheckFindsEachRuleOfAccessThatIsBroken: of files with one wrong permission, media clip, form,
// field, link or annotation Check names the clause; of sound ones none.
func TestCheckFindsEachRuleOfAccessThatIsBroken(t *testing.T) { checkRules(t, accessRules(t)) }
