package operation_test

import (
	"bytes"
	"fmt"
	"image"
	"strings"
	"testing"

	"example.com/quire/pdf"
)

func samePixels(a, b image.Image) bool {
	if a.Bounds() != b.Bounds() {
		return false
	}
	for y := a.Bounds().Min.Y; y < a.Bounds().Max.Y; y++ {
		for x := a.Bounds().Min.X; x < a.Bounds().Max.X; x++ {
			if a.At(x, y) != b.At(x, y) {
				return false
			}
		}
	}
	return true
}

// TestResourcesThatPagesDoNotUseGo: fonts and images that a page names only; those that its forms
// use stay.
func TestResourcesThatPagesDoNotUseGo(t *testing.T) {
	e := engine(t)
	filler := strings.Repeat("0 0 m 9 9 l S\n", 400)
	stream := func(dict, data string) string {
		return fmt.Sprintf("<<%s/Length %d>>stream\n%s\nendstream", dict, len(data), data)
	}
	b := raw(`<</Type/Catalog/Pages 2 0 R>>`,
		`<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 300 200]/Resources<</Font<</F 7 0 R/G 8 0 R/H 9 0 R>>/XObject<</X 5 0 R/Unused 6 0 R>>/ExtGState<</S<</CA 1>>>>>>>>`,
		`<</Type/Page/Parent 2 0 R/Contents 4 0 R>>`, stream("", "BT /F 12 Tf 20 150 Td (shown) Tj ET /X Do "+filler),
		stream("/Subtype/Form/BBox[0 0 300 200]", "BT /G 12 Tf 20 50 Td (in a form) Tj ET"), stream("/Subtype/Form/BBox[0 0 9 9]", filler+" "),
		`<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>`, `<</Type/Font/Subtype/Type1/BaseFont/Courier>>`, `<</Type/Font/Subtype/Type1/BaseFont/Times-Roman>>`)
	_, out, err := run(t, e, "optimise", nil, b)
	if err != nil {
		t.Fatal(err)
	}
	if 4*len(out[0]) > len(b) {
		t.Errorf("%d bytes of %d", len(out[0]), len(b))
	}
	i := open(t, e, out[0], "").Info()
	if got := strings.Join(i.Pages[0].Fonts, " "); got != "Courier Helvetica" {
		t.Errorf("fonts %s", got)
	}
	text, err := open(t, e, out[0], "").Text(t.Context(), pdf.TextOptions{})
	if err != nil || len(text[0].Lines) != 2 {
		t.Errorf("%+v, %v", text, err)
	}
}

// TestResourcesThatAreLentStay: forms, appearances, soft masks and patterns without resources of
// their own take those of the page, as readers do; a form drawn on every page is read once.
func TestResourcesThatAreLentStay(t *testing.T) {
	e := engine(t)
	stream := func(dict, data string) string {
		return fmt.Sprintf("<<%s/Length %d>>stream\n%s\nendstream", dict, len(data), data)
	}
	filler := strings.Repeat("0 0 m 9 9 l S\n", 400)
	font := func(name string) string { return "<</Type/Font/Subtype/Type1/BaseFont/" + name + ">>" }
	b := raw(`<</Type/Catalog/Pages 2 0 R>>`,
		`<</Type/Pages/Kids[3 0 R 14 0 R]/Count 2/MediaBox[0 0 300 200]/Resources<</Font<</A 8 0 R/B 9 0 R/C 10 0 R/D 11 0 R/E 12 0 R>>/XObject<</X 13 0 R>>/Pattern<</P 6 0 R>>/ExtGState<</S<</SMask<</S/Luminosity/G 7 0 R>>>>>>>>>>`,
		`<</Type/Page/Parent 2 0 R/Contents 4 0 R/Annots[<</Type/Annot/Subtype/Stamp/Rect[0 0 9 9]/AP<</N<</On 5 0 R>>>>>>]>>`,
		stream("", "/X Do /Pattern cs /P scn /S gs "+filler),
		stream("/Subtype/Form/BBox[0 0 9 9]", "/A 1 Tf"),
		stream("/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 9 9]/XStep 9/YStep 9", "/B 1 Tf"),
		stream("/Subtype/Form/BBox[0 0 9 9]", "/C 1 Tf"),
		font("Helvetica"), font("Courier"), font("Times-Roman"), font("Symbol"), font("ZapfDingbats"),
		stream("/Subtype/Form/BBox[0 0 9 9]", "/X Do /D 1 Tf"),
		`<</Type/Page/Parent 2 0 R/Contents 15 0 R>>`, stream("", "/X Do "+filler))
	_, out, err := run(t, e, "optimise", nil, b)
	if err != nil {
		t.Fatal(err)
	}
	pages := open(t, e, out[0], "").Info().Pages
	for i, want := range []string{"Courier Helvetica Symbol Times-Roman", "Symbol"} {
		if got := strings.Join(pages[i].Fonts, " "); got != want {
			t.Errorf("page %d has the fonts %s, want %s", i+1, got, want)
		}
	}
}

// TestWhatGainsNothingStaysAsItIs, to the byte; but a damaged file is written anew, larger if need
// be.
func TestWhatGainsNothingStaysAsItIs(t *testing.T) {
	e := engine(t)
	damaged := raw(`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1>>`, `<</Type/Page>>`)
	_, out, err := run(t, e, "optimise", nil, damaged)
	if err != nil {
		t.Fatal(err)
	}
	b := out[0]
	if _, err := e.Open(t.Context(), bytes.NewReader(b), int64(len(b)), pdf.OpenOptions{Strict: true}); err != nil {
		t.Errorf("a damaged file, %d bytes of %d: %v", len(b), len(damaged), err)
	}
	done, out, err := run(t, e, "optimise", nil, b)
	if err != nil || !bytes.Equal(out[0], b) || !strings.Contains(done.Text, "nothing was gained") {
		t.Errorf("%v, %d bytes of %d: %+v", err, len(out[0]), len(b), done)
	}
}
