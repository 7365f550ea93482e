package operation_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/font"
	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/standard"
)

// embedded is a font of a file with its program.
type embedded struct {
	program   *font.Embedded
	size      int
	toUnicode string
	dict      string // of the font and its CIDFont
}

// fontsOf reads the embedded fonts of a file, in the order of their objects.
func fontsOf(t *testing.T, b []byte) (all []embedded) {
	t.Helper()
	r, err := cos.NewReader(bytes.NewReader(b), int64(len(b)), cos.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	decode := func(o cos.Object) []byte {
		v, err := r.Resolve(o)
		if err != nil {
			t.Fatal(err)
		}
		s, ok := v.(*cos.Stream)
		if !ok {
			return nil
		}
		data, _, err := r.Decode(s)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	dict := func(o cos.Object) cos.Dict {
		d, err := r.Dict(o)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for ref := range r.Refs() {
		o, err := r.Object(ref)
		if err != nil {
			t.Fatal(err)
		}
		d, ok := o.(cos.Dict)
		if kind, _ := d.Get("Subtype").(cos.Name); !ok || kind != "Type0" && kind != "TrueType" && kind != "Type1" {
			continue
		}
		own := d
		if v, err := r.Resolve(d.Get("DescendantFonts")); err == nil {
			if list, ok := v.(cos.Array); ok {
				own = dict(list[0])
			}
		}
		f := embedded{toUnicode: string(decode(d.Get("ToUnicode"))), dict: string(d.AppendPDF(nil)) + string(own.AppendPDF(nil))}
		if enc := dict(d.Get("Encoding")); enc != nil {
			f.dict += string(enc.AppendPDF(nil))
		}
		descriptor := dict(own.Get("FontDescriptor"))
		for _, key := range [...]cos.Name{"FontFile2", "FontFile3"} {
			if data := decode(descriptor.Get(key)); data != nil {
				if f.program, err = font.ParseEmbedded(data, diag.Limits{}); err != nil {
					t.Fatal(err)
				}
				f.size = len(data)
			}
		}
		all = append(all, f)
	}
	return all
}

// TestGlyphsThatNothingShowsAreGone: the outlines, widths, names and meanings of letters that occurred
// in redacted text only, of TrueType and of CFF, in composite and in simple fonts; what stays looks as
// it did.
func TestGlyphsThatNothingShowsAreGone(t *testing.T) {
	otf, err := os.ReadFile(filepath.Join("..", "font", "testdata", "SampleText.otf"))
	if err != nil {
		t.Fatal(err)
	}
	sample, err := font.Parse(otf, diag.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	chain, err := liberation.New().Chain(liberation.Sans, font.Style{Weight: 400})
	if err != nil {
		t.Fatal(err)
	}
	sans, err := chain.Pick("Q")
	if err != nil {
		t.Fatal(err)
	}
	lib, err := liberation.New().With(font.Options{Families: []font.Family{{Name: "Sample Text", Faces: []font.Source{{Data: otf}}}}})
	if err != nil {
		t.Fatal(err)
	}
	built := func(family string) []byte {
		e, err := pdf.New(pdf.Config{Fonts: lib})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		_, err = e.Build(t.Context(), &out, pdf.RenderOptions{Standards: []standard.ID{standard.PDFA4, standard.PDFUA2}}, func(b *doc.Builder) error {
			b.Title("Letters").Lang("en")
			b.Text("the word Quartz is gone, letters stay", doc.In(&doc.Style{Family: family}))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	simple := func(subtype, key string, dict string, program []byte) []byte {
		widths := "/FirstChar 32/LastChar 126/Widths[" + strings.Repeat("500 ", 95) + "]"
		content := "BT /F 12 Tf 20 150 Td (the word Quartz is gone, letters stay) Tj ET"
		return raw(`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 300 200]/Resources<</Font<</F 5 0 R>>>>>>`,
			`<</Type/Page/Parent 2 0 R/Contents 4 0 R>>`,
			fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(content), content),
			`<</Type/Font/Subtype/`+subtype+`/BaseFont/Sample`+widths+`/Encoding<</Type/Encoding/BaseEncoding/WinAnsiEncoding/Differences[81/Q 113/q/r]>>/FontDescriptor 6 0 R>>`,
			`<</Type/FontDescriptor/FontName/Sample/Flags 32/CharSet(/Q/q)/`+key+` 7 0 R>>`,
			fmt.Sprintf("<<%s/Length %d>>stream\n%s\nendstream", dict, len(program), program))
	}
	cff := sample.Table("CFF ")
	for name, x := range map[string]struct {
		file   []byte
		face   *font.Face
		glyphs bool // ids are those of the face
	}{
		"composite TrueType": {built(liberation.Sans), sans, true},
		"composite CFF":      {built("Sample Text"), sample, false},
		"simple TrueType":    {simple("TrueType", "FontFile2", fmt.Sprintf("/Length1 %d", len(sans.Data())), sans.Data()), sans, true},
		"simple CFF":         {simple("Type1", "FontFile3", "/Subtype/Type1C", cff), sample, false},
	} {
		t.Run(name, func(t *testing.T) {
			e := engine(t)
			done, out, err := run(t, e, "redact", map[string]string{"text": "Quartz", "unmarked": "true"}, x.file)
			if err != nil {
				t.Fatal(err)
			}
			before, after := fontsOf(t, x.file), fontsOf(t, out[0])
			if len(before) != 1 || len(after) != 1 || before[0].program == nil || after[0].program == nil {
				t.Fatalf("fonts before %+v, after %+v", before, after)
			}
			from, to := before[0], after[0]
			find := func(p *font.Embedded, r rune) (font.GID, bool) {
				if strings.HasPrefix(name, "composite") {
					return p.ByCID(uint32(x.face.GlyphIndex(r)))
				}
				ids := p.ByCodes([]font.Code{{Value: byte(r), Name: string(r), Text: string(r), Mac: int(r)}}, nil) //nolint:gosec // G115: ASCII
				return ids[len(ids)-1], len(ids) > 1
			}
			for _, r := range "Qzu" {
				g, ok := find(from.program, r)
				if !ok || from.program.Blank(g) {
					t.Errorf("before: no outline of %q", r)
				}
				if g, ok := find(to.program, r); ok && !to.program.Blank(g) {
					t.Errorf("the outline of %q is there", r)
				}
				if x.glyphs { // by the id, whatever maps say
					if g := x.face.GlyphIndex(r); !to.program.Blank(g) {
						t.Errorf("glyph %d, of %q, is there", g, r)
					} else if w, ok := to.program.Width(g); ok && w != 0 {
						t.Errorf("the width of %q is there: %g", r, w)
					}
				}
			}
			for _, r := range "thewordisglnay" {
				g, ok := find(to.program, r)
				was, _ := find(from.program, r)
				if !ok || to.program.Blank(g) {
					t.Errorf("the outline of %q is gone", r)
				}
				w, _ := to.program.Width(g)
				if ww, ok := from.program.Width(was); !ok || w != ww {
					t.Errorf("%q was %g wide, is %g", r, ww, w)
				}
			}
			if strings.HasPrefix(name, "composite") {
				q := fmt.Sprintf("><%04X>", 'Q')
				if from.toUnicode == "" || strings.Contains(to.toUnicode, q) || strings.Contains(to.toUnicode, "bfrange") {
					t.Errorf("ToUnicode before:\n%s\nafter:\n%s", from.toUnicode, to.toUnicode)
				}
			} else if strings.Contains(to.dict, "/Q") || strings.Contains(to.dict, "CharSet") || !strings.Contains(to.dict, "/r") {
				t.Errorf("the encoding: %s", to.dict)
			}
			if !strings.Contains(done.Text, "glyphs of fonts") || strings.Contains(done.Text, " 0 glyphs of fonts") || strings.Contains(done.Text, "stay whole") {
				t.Error(done.Text)
			}
			// What is left reads and looks as it did.
			in, redacted := pdftest.Write(t, "in.pdf", x.file), pdftest.Write(t, "out.pdf", out[0])
			if err := pdftest.QPDF(t, redacted); err != nil {
				t.Error(err)
			}
			words := pdftest.Words(t, redacted)
			if want := []string{"the", "word", "is", "gone,", "letters", "stay"}; !slices.Equal(words, want) {
				t.Errorf("words %q", words)
			}
			a, b := pdftest.RasterFirst(t, in), pdftest.RasterFirst(t, redacted)
			first := pdftest.Boxes(t, in)[1] // what stands before the redacted word
			differ := 0
			for y := a.Bounds().Min.Y; y < a.Bounds().Max.Y; y++ {
				for px := a.Bounds().Min.X; px < int(first.XMax); px++ {
					if a.At(px, y) != b.At(px, y) {
						differ++
					}
				}
			}
			if differ > 0 {
				t.Errorf("%d pixels before the redacted word differ", differ)
			}
		})
	}
}

// TestTextWithoutAFontIsRedacted: content that shows text before it has set a font.
func TestTextWithoutAFontIsRedacted(t *testing.T) {
	b := raw(`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 300 200]>>`,
		`<</Type/Page/Parent 2 0 R/Contents 4 0 R>>`, "<</Length 40>>stream\nBT 20 150 Td (Quartz) Tj ET              \nendstream")
	if _, _, err := run(t, engine(t), "redact", map[string]string{"box": "0,100,300,200"}, b); err != nil {
		t.Error(err)
	}
}

// TestFontsOfFieldsStayWhole: one who fills a field in needs every letter, and the report says so.
func TestFontsOfFieldsStayWhole(t *testing.T) {
	chain, err := liberation.New().Chain(liberation.Sans, font.Style{Weight: 400})
	if err != nil {
		t.Fatal(err)
	}
	sans, err := chain.Pick("Q")
	if err != nil {
		t.Fatal(err)
	}
	content := "BT /F 12 Tf 20 150 Td (Quartz stays) Tj ET"
	b := raw(`<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[8 0 R]/DR<</Font<</F 5 0 R>>>>>>>>`,
		`<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 300 200]/Resources<</Font<</F 5 0 R>>>>>>`,
		`<</Type/Page/Parent 2 0 R/Contents 4 0 R/Annots[8 0 R]>>`,
		fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(content), content),
		`<</Type/Font/Subtype/TrueType/BaseFont/Sample/Encoding/WinAnsiEncoding/FontDescriptor 6 0 R>>`,
		`<</Type/FontDescriptor/FontName/Sample/Flags 32/FontFile2 7 0 R>>`,
		fmt.Sprintf("<</Length1 %d/Length %[1]d>>stream\n%s\nendstream", len(sans.Data()), sans.Data()),
		`<</Type/Annot/Subtype/Widget/FT/Tx/T(field)/DA(/F 10 Tf)/Rect[200 10 280 30]>>`)
	done, out, err := run(t, engine(t), "redact", map[string]string{"text": "Quartz"}, b)
	if err != nil {
		t.Fatal(err)
	}
	fonts := fontsOf(t, out[0])
	if len(fonts) != 1 || fonts[0].program.Blank(sans.GlyphIndex('Q')) || !strings.Contains(done.Text, "1 embedded fonts stay whole") {
		t.Errorf("%+v\n%s", fonts, done.Text)
	}
}
