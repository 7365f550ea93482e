//go:build !race

package operation_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/operation"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/standard"
)

// structure is the structure tree with its text, without numbers of objects.
func structure(t *testing.T, b []byte) string {
	t.Helper()
	return regexp.MustCompile(`Object \d+ 0`).ReplaceAllString(pdftest.StructText(t, pdftest.Write(t, "in.pdf", b)), "Object")
}

// TestDrawnPagesKeepTheirClaims: what is drawn is an artifact in an embedded face, so that a file
// of PDF/A-4 and PDF/UA-2 stays one and its structure says what it said; nup alone gives the tags
// up.
func TestDrawnPagesKeepTheirClaims(t *testing.T) {
	e := engine(t)
	b, other := sample(t, e, "First"), sample(t, e, "Second")
	said := structure(t, b)
	for name, x := range map[string]struct {
		operation string
		values    map[string]string
		with      []byte
		want      []string // words on each page; nil: none is new
	}{
		"numbers":    {"number", map[string]string{"format": "p{page}of{pages}"}, nil, []string{"p1of4", "p2of4", "p3of4", "p4of4"}},
		"start":      {"number", map[string]string{"format": "n{page}", "pages": "3-4", "start": "7", "numbers": "upper-alpha", "position": "top-left"}, nil, []string{"", "", "nG", "nH"}},
		"text":       {"stamp", map[string]string{"text": "Żółć\nline", "position": "top-right", "bold": "true", "color": "#b00", "angle": "10"}, nil, []string{"Żółć", "Żółć", "Żółć", "Żółć"}},
		"watermark":  {"watermark", map[string]string{"text": "DRAFT", "under": "true", "pages": "1"}, nil, []string{"DRAFT", "", "", ""}},
		"page":       {"stamp", map[string]string{"page": "2", "scale": "0.3", "position": "bottom-left", "opacity": "0.5"}, other, []string{"Second", "Second", "Second", "Second"}},
		"overlay":    {"overlay", map[string]string{"from": "2-3"}, other, []string{"Second", "Second", "", ""}},
		"letterhead": {"overlay", map[string]string{"from": "1", "repeat": "true", "under": "true"}, other, []string{"Second", "Second", "Second", "Second"}},
	} {
		values := x.values
		var done *operation.Outcome
		var out []byte
		var err error
		if x.with != nil {
			done, out, err = with(t, e, x.operation, "with", x.with, values, b)
		} else {
			var all [][]byte
			if done, all, err = run(t, e, x.operation, values, b); err == nil {
				out = all[0]
			}
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		f := pdftest.Write(t, "out.pdf", out)
		if err := pdftest.QPDF(t, f); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if s, _ := done.Report.(*pdf.Summary); s == nil || strings.Join(s.Claims, ", ") != "pdf/a-4, pdf/ua-2" {
			t.Errorf("%s: %s", name, done.Text)
		}
		if got := structure(t, out); got != said {
			t.Errorf("%s: the structure says\n%s\nand said\n%s", name, got, said)
		}
		for _, font := range pdftest.Fonts(t, f) {
			if !font.Embedded || !font.ToUnicode {
				t.Errorf("%s: font %+v", name, font)
			}
		}
		pages := strings.Split(pdftest.Text(t, f), "\f")
		for i, want := range x.want {
			joined := strings.Join(strings.Fields(pages[i]), "") // of what is turned each letter is a word
			for _, word := range x.want {
				if word != "" && strings.Contains(joined, word) != (word == want) {
					t.Errorf("%s, page %d: want %q in %q", name, i+1, want, pages[i])
				}
			}
		}
	}
}

// pictures are the pages as poppler shows them: cropped and turned.
func pictures(t *testing.T, b []byte) (out []image.Image) {
	t.Helper()
	dir := t.TempDir()
	if said, code := pdftest.Run(t, "pdftoppm", "-cropbox", "-r", "72", "-png", pdftest.Write(t, "in.pdf", b), filepath.Join(dir, "p")); code != 0 {
		t.Fatal(said)
	}
	names, err := filepath.Glob(filepath.Join(dir, "p*.png"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(f)
		_ = f.Close()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, img)
	}
	return out
}

// ink is the smallest rectangle around what is not white.
func ink(img image.Image) (r image.Rectangle) {
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
			if g, _ := color.GrayModel.Convert(img.At(x, y)).(color.Gray); g.Y < 200 {
				r = r.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return r
}

// TestStampsStandUprightWhereTheyAreSeen, whatever turns, crops or shifts a page, and whatever its
// content leaves behind.
func TestStampsStandUprightWhereTheyAreSeen(t *testing.T) {
	e := engine(t)
	for position, near := range map[string]func(page, ink image.Rectangle) bool{
		"top-right":   func(p, i image.Rectangle) bool { return p.Max.X-i.Max.X < 16 && i.Min.Y < 20 },
		"bottom-left": func(p, i image.Rectangle) bool { return i.Min.X < 16 && p.Max.Y-i.Max.Y < 20 },
	} {
		_, out, err := run(t, e, "stamp", map[string]string{"text": "MMMMM", "position": position, "margin": "10", "size": "16"}, odd())
		if err != nil {
			t.Fatal(err)
		}
		if err := pdftest.QPDF(t, pdftest.Write(t, "out.pdf", out[0])); err != nil {
			t.Error(err)
		}
		pages := pictures(t, out[0])
		if len(pages) != 24 {
			t.Fatalf("%d pages", len(pages))
		}
		for i, img := range pages {
			in, page := ink(img), img.Bounds()
			if i < 20 && i%4 == 3 { // poppler shows no units of pages
				in, page = image.Rectangle{in.Min.Mul(2), in.Max.Mul(2)}, image.Rectangle{Max: page.Max.Mul(2)}
			}
			if !near(page, in) || in.Dx() < 40 || in.Dx() > 90 || in.Dy() > 20 || in.Dy() < 8 {
				t.Errorf("%s, page %d: ink %v on %v", position, i+1, in, page)
			}
		}
	}
}

// TestOverlaidPagesLookAsTheyDid: a page that is turned lies over another as a reader sees it.
func TestOverlaidPagesLookAsTheyDid(t *testing.T) {
	e := engine(t)
	blank := raw(`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Count 1/Kids[3 0 R]>>`, `<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]>>`)
	marked := raw(`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Count 1/Kids[3 0 R]>>`,
		`<</Type/Page/Parent 2 0 R/MediaBox[0 0 500 500]/CropBox[100 100 300 400]/Rotate 90/Contents 4 0 R/Annots[5 0 R]>>`,
		stream("", "100 100 40 20 re f 0 0 50 50 re f"), `<</Subtype/Square/Rect[200 300 220 340]/AP<</N 6 0 R>>>>`, stream("/Subtype/Form/BBox[0 0 10 10]", "0 0 10 10 re f"))
	_, out, err := with(t, e, "overlay", "with", marked, nil, blank)
	if err != nil {
		t.Fatal(err)
	}
	want, got := pictures(t, marked), pictures(t, out)
	if d, err := pdftest.Difference(want[0], got[0]); err != nil || len(got) != 1 || d > 0.01 {
		t.Errorf("%d pages; difference %v, %v", len(got), d, err)
	}
}

// TestLinksAndFieldsOfDrawnPagesAreTold: a page that is drawn on another or on a sheet loses its
// links, notes and form fields, which is a warning; one without any is none.
func TestLinksAndFieldsOfDrawnPagesAreTold(t *testing.T) {
	e := engine(t)
	const lost = "not kept: links, notes and form fields, which are drawn only"
	page := func(annots string) []byte {
		return raw(`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Count 2/Kids[3 0 R 4 0 R]/MediaBox[0 0 300 200]>>`,
			`<</Type/Page/Parent 2 0 R>>`, `<</Type/Page/Parent 2 0 R`+annots+`>>`)
	}
	const annots = `/Annots[<</Subtype/Link/Rect[0 0 9 9]/A<</S/URI/URI(http://a)>>>>]`
	for _, c := range []struct {
		operation, annots, page string
		want                    int
	}{
		{"overlay", annots, "", 1}, {"overlay", "", "", 0}, {"stamp", annots, "2", 1}, {"stamp", annots, "1", 0}, {"watermark", annots, "2", 1},
	} {
		values := map[string]string{}
		if c.page != "" {
			values["page"] = c.page
		}
		done, _, err := with(t, e, c.operation, "with", page(c.annots), values, page(annots))
		if err != nil || strings.Count(done.Text, "the document that is laid over: "+lost) != c.want {
			t.Errorf("%s of page %q with %q: %v, %s", c.operation, c.page, c.annots, err, done.Text)
		}
	}
	// What a field has that no program has drawn yet is not drawn here either.
	unshown := func(annots string) []byte {
		return []byte(strings.Replace(string(page("/Annots[5 0 R]")), "/Catalog/Pages", "/Catalog/AcroForm<</Fields[5 0 R]>>/Pages", 1) +
			"5 0 obj\n<</Subtype/Widget/FT/Tx/T(name)" + annots + "/Rect[20 20 180 40]>>\nendobj\n")
	}
	const remedy = "not kept: fields without an appearance, which are not drawn: flatten the file first"
	for value, want := range map[string]int{"/V(a)": 1, "/MK<</BG[1 0 0]>>": 1, "": 0} {
		done, _, err := run(t, e, "nup", nil, unshown(value))
		if err != nil || strings.Count(done.Text, remedy) != want {
			t.Errorf("nup with %q: %v, %s", value, err, done.Text)
		}
		done, _, err = with(t, e, "overlay", "with", unshown(value), nil, page(""))
		if err != nil || strings.Count(done.Text, "the document that is laid over: "+remedy) != want {
			t.Errorf("overlay with %q: %v, %s", value, err, done.Text)
		}
	}
	for _, annots := range []string{annots, ""} {
		done, _, err := run(t, e, "nup", nil, page(annots))
		if err != nil || strings.Contains(done.Text, lost) != (annots != "") {
			t.Errorf("nup of %q: %v, %s", annots, err, done.Text)
		}
	}
}

// TestClaimsNeedBothFiles: a file laid over that claims nothing takes the claims away, with a
// warning.
func TestClaimsNeedBothFiles(t *testing.T) {
	e := engine(t)
	done, out, err := with(t, e, "overlay", "with", rich("One"), nil, sample(t, e, "First"))
	if err != nil || !strings.Contains(done.Text, "the claim of pdf/a-4 was dropped: the document that is laid over makes none like it") || len(open(t, e, out, "").Info().Claims) > 0 {
		t.Errorf("%v: %+v", err, done)
	}
}

// TestEachClaimStandsByItself: a change that breaks one standard leaves the other, and veraPDF
// finds that it holds.
func TestEachClaimStandsByItself(t *testing.T) {
	e := engine(t)
	folders := map[string]string{} // of files, by the flavours of veraPDF
	for name, x := range map[string]struct {
		operation string
		values    map[string]string
		upload    []byte
		claims    []standard.ID
		stays     string // the one that does
		why       string // the other one goes
	}{
		"pages on sheets":     {"nup", map[string]string{"per-sheet": "2"}, nil, []standard.ID{standard.PDFA4, standard.PDFUA2}, "pdf/a-4", "the claim of pdf/ua-2 was dropped: "},
		"pages on sheets 1.7": {"nup", map[string]string{"per-sheet": "2", "border": "true"}, nil, []standard.ID{standard.PDFA2b, standard.PDFUA1}, "pdf/a-2b", "the claim of pdf/ua-1 was dropped: "},
		"attached":            {"attach", map[string]string{"name": "a.csv"}, []byte("a,b\n"), []standard.ID{standard.PDFA4, standard.PDFUA2}, "pdf/ua-2", "the claim of pdf/a-4 was dropped: an attached file"},
		"attached 1.7":        {"attach", map[string]string{"name": "a.csv"}, []byte("a,b\n"), []standard.ID{standard.PDFA2b, standard.PDFUA1}, "pdf/ua-1", "the claim of pdf/a-2b was dropped: an attached file"},
		"encrypted":           {"encrypt", map[string]string{"owner": "secret"}, nil, []standard.ID{standard.PDFA4, standard.PDFUA2}, "pdf/ua-2", "the claim of pdf/a-4 was dropped: the file is encrypted"},
	} {
		var made bytes.Buffer
		if _, err := e.Build(t.Context(), &made, pdf.RenderOptions{Standards: x.claims}, func(b *doc.Builder) error {
			b.Title("Title").Lang("en").Heading(1, "Heading").Text("one").PageBreak().Text("two")
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		var done *operation.Outcome
		var out []byte
		var err error
		if x.upload != nil {
			done, out, err = with(t, e, x.operation, "attachment", x.upload, x.values, made.Bytes())
		} else {
			var all [][]byte
			if done, all, err = run(t, e, x.operation, x.values, made.Bytes()); err == nil {
				out = all[0]
			}
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		s, _ := done.Report.(*pdf.Summary)
		if s == nil || !slices.Equal(s.Claims, []string{x.stays}) || !strings.Contains(done.Text, x.why) || strings.Contains(done.Text, "the claim of "+x.stays) {
			t.Errorf("%s: %s", name, done.Text)
		}
		if claims := open(t, e, out, "").Info().Claims; !slices.Equal(claims, []string{x.stays}) {
			t.Errorf("%s: the file claims %v", name, claims)
		}
		if x.operation == "encrypt" {
			continue // veraPDF is not given passwords
		}
		flavour := strings.NewReplacer("pdf/a-", "", "pdf/ua-", "ua").Replace(x.stays)
		if folders[flavour] == "" {
			folders[flavour] = t.TempDir()
		}
		if err := os.WriteFile(filepath.Join(folders[flavour], strings.ReplaceAll(name, " ", "-")+".pdf"), out, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for flavour, verdicts := range pdftest.VeraPDF(t, folders) {
		for file, v := range verdicts {
			if !v.Compliant {
				t.Errorf("%s %s: %v", flavour, file, v)
			}
		}
	}
}

// TestPagesOnSheets: four on one and a booklet have all texts in their places; bookmarks lead to
// the sheets, and what fields look like stays.
func TestPagesOnSheets(t *testing.T) {
	e := engine(t)
	done, out, err := run(t, e, "nup", map[string]string{"per-sheet": "4", "border": "true", "gap": "10"}, sample(t, e, "Sample"))
	if err != nil {
		t.Fatal(err)
	}
	f := pdftest.Write(t, "out.pdf", out[0])
	if err := pdftest.QPDF(t, f); err != nil {
		t.Error(err)
	}
	i := open(t, e, out[0], "").Info()
	if len(i.Pages) != 1 || i.Bookmarks != 4 || i.Tagged || !strings.Contains(done.Text, "not kept: tags") || !strings.Contains(done.Text, "the claim of pdf/ua-2 was dropped") || !slices.Equal(i.Claims, []string{"pdf/a-4"}) {
		t.Errorf("%d pages, %d bookmarks, %s", len(i.Pages), i.Bookmarks, done.Text)
	}
	at := map[string]pdftest.Word{}
	for _, w := range pdftest.Boxes(t, f) {
		at[w.Text] = w
	}
	if one, two, three, four := at["One"], at["Two"], at["Three"], at["Four"]; one.XMin >= two.XMin || one.YMin >= three.YMin || three.XMin >= four.XMin || two.YMin >= four.YMin || four.Page != 1 {
		t.Errorf("%+v", at)
	}
	_, parts, err := run(t, e, "split", map[string]string{"bookmark": "true"}, out[0])
	if err != nil || len(parts) != 1 {
		t.Errorf("%d parts by bookmarks, %v", len(parts), err)
	}

	five := raw(`<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[9 0 R]>>>>`, `<</Type/Pages/Kids[3 0 R 4 0 R 5 0 R 6 0 R 7 0 R]/MediaBox[0 0 200 300]/Resources<</Font<</F 8 0 R>>>>>>`,
		`<</Type/Page/Parent 2 0 R/Contents 11 0 R/Annots[9 0 R]>>`, `<</Type/Page/Parent 2 0 R/Contents 12 0 R/Rotate 90>>`, `<</Type/Page/Parent 2 0 R/Contents 13 0 R>>`,
		`<</Type/Page/Parent 2 0 R/Contents 14 0 R>>`, `<</Type/Page/Parent 2 0 R/Contents 15 0 R>>`, `<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>`,
		`<</T(f)/FT/Tx/Subtype/Widget/Rect[20 20 120 40]/V(x)/AP<</N 10 0 R>>>>`, stream("/Subtype/Form/BBox[0 0 100 20]/Resources<</Font<</F 8 0 R>>>>", "BT /F 12 Tf 2 5 Td (field) Tj ET"),
		stream("", "BT /F 20 Tf 20 150 Td (p1) Tj ET"), stream("", "BT /F 20 Tf 20 150 Td (p2) Tj ET"), stream("", "BT /F 20 Tf 20 150 Td (p3) Tj ET"),
		stream("", "BT /F 20 Tf 20 150 Td (p4) Tj ET"), stream("", "BT /F 20 Tf 20 150 Td (p5) Tj ET"))
	_, out, err = run(t, e, "nup", map[string]string{"booklet": "true", "sheet": "a4"}, five)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for p := range strings.SplitSeq(strings.TrimSuffix(pdftest.Text(t, pdftest.Write(t, "out.pdf", out[0])), "\f"), "\f") {
		words := strings.Fields(p)
		slices.Sort(words)
		got = append(got, strings.Join(words, " "))
	}
	if want := []string{"field p1", "p2", "p3", "p4 p5"}; !slices.Equal(got, want) {
		t.Errorf("sides %q, want %q", got, want)
	}
	first := open(t, e, out[0], "").Info()
	if b := first.Pages[0].MediaBox; b[2] < 800 || b[3] > 600 || len(first.Fields) > 0 {
		t.Errorf("sheets of %v, fields %v", b, first.Fields)
	}
}

// TestPartsHaveTheResourcesOfTheirPages: of those that all pages of a file share each part has its
// own.
func TestPartsHaveTheResourcesOfTheirPages(t *testing.T) {
	e := engine(t)
	filler := strings.Repeat("0 0 m 9 9 l S\n", 3000)
	b := raw(`<</Type/Catalog/Pages 2 0 R>>`,
		`<</Type/Pages/Count 2/Kids[3 0 R 4 0 R]/MediaBox[0 0 300 200]/Resources<</Font<</F 7 0 R/G 8 0 R>>/XObject<</X 5 0 R/Y 6 0 R>>/ColorSpace<</DefaultRGB 10 0 R/C/DeviceGray/D/DeviceRGB>>/Pattern<</P 9 0 R/Q 9 0 R>>>>>>`,
		`<</Type/Page/Parent 2 0 R/Contents[11 0 R]>>`, `<</Type/Page/Parent 2 0 R/Contents 12 0 R>>`,
		stream("/Subtype/Form/BBox[0 0 9 9]", filler), stream("/Subtype/Form/BBox[0 0 9 9]", filler+" "),
		`<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>`, `<</Type/Font/Subtype/Type1/BaseFont/Courier>>`,
		stream("/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 9 9]/XStep 9/YStep 9/Resources<<>>", "0 0 4 4 re f"), `[/CalRGB<</WhitePoint[0.95 1 1.09]>>]`,
		stream("", "BT /F 12 Tf (first) Tj ET /X Do /Pattern cs /P scn 0 0 99 99 re f BI /W 1/H 1/BPC 8/CS/C ID x EI"), stream("", "BT /G 12 Tf (second) Tj ET /Y Do"))
	before := pictures(t, b)
	_, out, err := run(t, e, "split", map[string]string{"every": "1"}, b)
	if err != nil || len(out) != 2 {
		t.Fatal(len(out), err)
	}
	for i, part := range out {
		f := pdftest.Write(t, "out.pdf", part)
		if err := pdftest.QPDF(t, f); err != nil {
			t.Error(err)
		}
		info := open(t, e, part, "").Info()
		if got, want := strings.Join(info.Pages[0].Fonts, " "), []string{"Helvetica", "Courier"}[i]; got != want {
			t.Errorf("part %d: fonts %s, want %s", i+1, got, want)
		}
		if !samePixels(pictures(t, part)[0], before[i]) {
			t.Errorf("part %d looks different", i+1)
		}
		said, _ := pdftest.Run(t, "qpdf", "--qdf", "--object-streams=disable", f, "-")
		if n := strings.Count(said, "/BBox"); n != []int{2, 1}[i] || strings.Contains(said, "/Q ") || !strings.Contains(said, "/DefaultRGB") || strings.Contains(said, "/C /DeviceGray") != (i == 0) {
			t.Errorf("part %d has %d forms and patterns\n%s", i+1, n, said)
		}
	}
}

// TestXFAFormsGoWithPages: they have all pages of the file, those that are gone as well, and stay
// where none is.
func TestXFAFormsGoWithPages(t *testing.T) {
	e := engine(t)
	field := func(name string) string {
		return `<</FT/Tx/T(` + name + `)/Type/Annot/Subtype/Widget/Rect[0 0 9 9]>>`
	}
	b := raw(`<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[5 0 R 6 0 R]/XFA[(template)7 0 R]>>>>`, `<</Type/Pages/Count 2/Kids[3 0 R 4 0 R]/MediaBox[0 0 99 99]>>`,
		`<</Type/Page/Parent 2 0 R/Annots[5 0 R]>>`, `<</Type/Page/Parent 2 0 R/Annots[6 0 R]>>`, field("first"), field("second"), stream("", "<template/>"))
	for name, x := range map[string]struct {
		op     string
		values map[string]string
		files  [][]byte
		fields []int // of each file written
		told   int
		stays  bool
	}{
		"each page":         {"split", map[string]string{"every": "1"}, [][]byte{b}, []int{1, 1}, 1, false},
		"one page":          {"delete", map[string]string{"pages": "1"}, [][]byte{b}, []int{1}, 1, false},
		"a page of another": {"merge", map[string]string{"pages": "1;2"}, [][]byte{b, b}, []int{2}, 2, false},
		"none":              {"reorder", map[string]string{"pages": "2,1"}, [][]byte{b}, []int{2}, 0, true},
	} {
		done, out, err := run(t, e, x.op, x.values, x.files...)
		if err != nil || len(out) != len(x.fields) {
			t.Errorf("%s: %d files, %v", name, len(out), err)
			continue
		}
		if n := strings.Count(done.Text, "the XFA form was removed"); n != x.told {
			t.Errorf("%s: told %d times, want %d: %s", name, n, x.told, done.Text)
		}
		for i, part := range out {
			info := open(t, e, part, "").Info()
			if len(info.Fields) != x.fields[i] || slices.Contains(info.Active, "XFA") != x.stays {
				t.Errorf("%s: file %d: %d fields, active %v", name, i+1, len(info.Fields), info.Active)
			}
		}
	}
}

// TestWhatCannotBeDrawnIsRefused: each with its field.
func TestWhatCannotBeDrawnIsRefused(t *testing.T) {
	e := engine(t)
	b := sample(t, e, "Sample")
	_, locked, err := run(t, e, "encrypt", map[string]string{"owner": "o", "user": "u"}, b)
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		operation string
		values    map[string]string
		with      []byte
		want      string
	}{
		"no text":       {"stamp", nil, nil, "text: "},
		"both":          {"stamp", map[string]string{"text": "x"}, b, "text: "},
		"position":      {"stamp", map[string]string{"text": "x", "position": "topright"}, nil, `did you mean "top-right"`},
		"colour":        {"stamp", map[string]string{"text": "x", "color": "red"}, nil, "#rrggbb"},
		"opacity":       {"stamp", map[string]string{"text": "x", "opacity": "0"}, nil, "opacity: "},
		"size":          {"stamp", map[string]string{"text": "x", "size": "-4"}, nil, "size: "},
		"family":        {"stamp", map[string]string{"text": "x", "font": "Comic"}, nil, "Liberation Sans"},
		"no glyph":      {"stamp", map[string]string{"text": "한"}, nil, "text: "},
		"too long":      {"stamp", map[string]string{"text": strings.Repeat("word ", 900), "size": "60"}, nil, "text: "},
		"many lines":    {"stamp", map[string]string{"text": strings.Repeat("x\n", 4000)}, nil, "lines"},
		"no such page":  {"stamp", map[string]string{"page": "9"}, b, "1 to 4"},
		"no pages":      {"number", map[string]string{"pages": "9"}, nil, "that has 4"},
		"format":        {"number", map[string]string{"format": " "}, nil, "format: "},
		"start":         {"number", map[string]string{"start": "-1"}, nil, "start: "},
		"numbers":       {"number", map[string]string{"numbers": "romn"}, nil, `did you mean "roman"`},
		"no file":       {"overlay", nil, nil, "with: "},
		"from":          {"overlay", map[string]string{"from": "7"}, b, "from: "},
		"encrypted":     {"overlay", map[string]string{"with-password": "o"}, locked[0], "with: "},
		"user":          {"overlay", map[string]string{"with-password": "u"}, locked[0], "more/with.pdf: the file was opened with the password of its user"},
		"sheet":         {"nup", map[string]string{"sheet": "a9"}, nil, "letter"},
		"sheet numbers": {"nup", map[string]string{"sheet": "NaNx4"}, nil, "sheet: "},
		"sheet sides":   {"nup", map[string]string{"sheet": "1e9x4"}, nil, "14400"},
		"per sheet":     {"nup", map[string]string{"per-sheet": "1"}, nil, "2 to 100"},
		"no room":       {"nup", map[string]string{"margin": "400"}, nil, "smaller margin"},
	} {
		var err error
		if x.with != nil {
			_, _, err = with(t, e, x.operation, "with", x.with, x.values, b)
		} else {
			_, _, err = run(t, e, x.operation, x.values, b)
		}
		var option *pdf.OptionError
		if !errors.As(err, &option) && !errors.Is(err, pdf.ErrPassword) || !strings.Contains(fmt.Sprint(err), x.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, x := range map[string][]byte{"user": locked[0]} {
		_, _, err := run(t, e, "number", map[string]string{"password": "u"}, x)
		if !errors.Is(err, pdf.ErrPassword) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestHostilePagesAreDrawnOn: forms that draw themselves, content that is no stream, resources of
// the wrong kind, sizes beyond reason. There is an outcome or a typed error, and no file that qpdf
// refuses.
func TestHostilePagesAreDrawnOn(t *testing.T) {
	e := engine(t)
	for name, page := range map[string]string{
		"nothing":    `<</Type/Page/Parent 2 0 R>>`,
		"itself":     `<</Type/Page/Parent 2 0 R/StructParents 0/Contents 4 0 R/Resources<</XObject<</A 5 0 R>>>>>>`,
		"no stream":  `<</Type/Page/Parent 2 0 R/Contents[3 0 R 9 0 R 7]/Resources 4 0 R>>`,
		"wrong kind": `<</Type/Page/Parent 2 0 R/Contents(text)/Resources[1 2]/Annots 6 0 R/Group 7>>`,
		"huge":       `<</Type/Page/Parent 2 0 R/MediaBox[-1e30 0 1e30 9]/UserUnit 1e9/Contents 4 0 R>>`,
		"flat":       `<</Type/Page/Parent 2 0 R/MediaBox[0 0 0 0]/CropBox[9 9 9 9]/Rotate 45>>`,
		"outside":    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/CropBox[90 90 99 99]/UserUnit -1>>`,
	} {
		b := raw(`<</Type/Catalog/Pages 2 0 R/StructTreeRoot<</Type/StructTreeRoot/K[]>>>>`, `<</Type/Pages/Count 1/Kids[3 0 R]>>`, page, stream("", "/A Do EMC EMC Q Q [[[[ ("),
			stream("/Subtype/Form/StructParents 1/BBox[0 0 9 9]/Resources<</XObject<</A 5 0 R/B 5 0 R>>>>", "/A Do /B Do /X BDC"), `[6 0 R <</Subtype/Square/AP<</N 5 0 R>>/Rect[0 0 1e30 1]>>]`)
		for _, x := range []struct {
			operation string
			values    map[string]string
		}{{"stamp", map[string]string{"text": "x"}}, {"nup", nil}, {"overlay", nil}, {"watermark", map[string]string{"text": "x", "under": "true"}}, {"split", map[string]string{"every": "1"}}} {
			var out []byte
			var err error
			if x.operation == "overlay" {
				_, out, err = with(t, e, x.operation, "with", b, x.values, b)
			} else {
				var all [][]byte
				if _, all, err = run(t, e, x.operation, x.values, b); err == nil {
					out = all[0]
				}
			}
			if err != nil {
				var option *pdf.OptionError
				if !errors.As(err, &option) && !errors.Is(err, pdf.ErrDamaged) && !errors.Is(err, pdf.ErrLimit) {
					t.Errorf("%s %s: %v", x.operation, name, err)
				}
				continue
			}
			if _, err := e.Open(t.Context(), bytes.NewReader(out), int64(len(out)), pdf.OpenOptions{Strict: true}); err != nil {
				t.Errorf("%s %s: %v", x.operation, name, err)
			}
		}
	}
}
