package operation_test

import (
	"strings"
	"testing"

	"example.com/quire/pdf/pdftest"
)

// layered is a page with two layers, whose texts are the name with 1 and 2.
func layered(name, config string) []byte {
	return raw(
		`<</Type/Catalog/Pages 2 0 R/OCProperties<</OCGs[5 0 R 6 0 R]/D<<`+config+`>>>>>>`,
		`<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 200 200]>>`,
		`<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>/Properties<</A 5 0 R/B 6 0 R>>>>>>`,
		stream("", "BT /F 12 Tf /OC/A BDC 9 99 Td ("+name+"1) Tj EMC /OC/B BDC 0 -40 Td ("+name+"2) Tj EMC ET"),
		`<</Type/OCG/Name(`+name+`1)>>`, `<</Type/OCG/Name(`+name+`2)>>`,
	)
}

// TestLayersAreShownAsInTheirFiles: layers of merged files, and of a page that is laid over
// another, are on and off as before, whatever the files say of layers that they do not list.
func TestLayersAreShownAsInTheirFiles(t *testing.T) {
	e := engine(t)
	on, off := layered("on", "/OFF[6 0 R]"), layered("off", "/BaseState/OFF/ON[5 0 R]")
	plain := layered("all", "/BaseState/Unchanged")
	shown := func(b []byte) string {
		return strings.Join(strings.Fields(pdftest.Text(t, pdftest.Write(t, "layers.pdf", b))), " ")
	}
	for _, x := range []struct {
		want  string
		files [][]byte
	}{
		{"on1 off1", [][]byte{on, off}},
		{"off1 on1", [][]byte{off, on}},
		{"off1 all1 all2", [][]byte{off, plain}},
		{"off1 on1 off1 all1 all2", [][]byte{off, on, off, plain}},
	} {
		_, out, err := run(t, e, "merge", nil, x.files...)
		if err != nil {
			t.Fatal(err)
		}
		if got := shown(out[0]); got != x.want {
			t.Errorf("the merged file shows %q, want %q", got, x.want)
		}
	}
	for _, x := range []struct {
		want       string
		below, top []byte
	}{{"on1 off1", on, off}, {"off1 on1", off, on}} {
		_, out, err := with(t, e, "stamp", "with", x.top, map[string]string{"position": "bottom-left"}, x.below)
		if err != nil {
			t.Fatal(err)
		}
		for word := range strings.FieldsSeq(x.want) {
			if got := shown(out); strings.Count(got, word[:len(word)-1]) != 1 || !strings.Contains(got, word) {
				t.Errorf("the stamped file shows %q, want %q", got, x.want)
			}
		}
	}
}

// TestAnnotationsOfHiddenLayersStayHidden: what becomes a part of a page is in the layer that it
// was in, whether the layer is one group or the membership in several.
func TestAnnotationsOfHiddenLayersStayHidden(t *testing.T) {
	e := engine(t)
	look := func(s string) string {
		return stream("/Subtype/Form/BBox[0 0 50 20]/Resources<</Font<</F 12 0 R>>>>", "BT /F 12 Tf 2 5 Td ("+s+") Tj ET")
	}
	b := raw(
		`<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[4 0 R 5 0 R 6 0 R]>>/OCProperties<</OCGs[10 0 R 11 0 R]/D<</OFF[10 0 R]>>>>>>`,
		`<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 200 200]>>`,
		`<</Type/Page/Parent 2 0 R/Annots[4 0 R 5 0 R 6 0 R]>>`,
		`<</Subtype/Widget/FT/Tx/T(a)/V(shown)/Rect[10 10 60 30]/OC 11 0 R/AP<</N 7 0 R>>>>`,
		`<</Subtype/Widget/FT/Tx/T(b)/V(hidden)/Rect[10 50 60 70]/OC 10 0 R/AP<</N 8 0 R>>>>`,
		`<</Subtype/Widget/FT/Tx/T(c)/V(member)/Rect[10 90 60 110]/OC<</Type/OCMD/OCGs 10 0 R>>/AP<</N 9 0 R>>>>`,
		look("shown"), look("hidden"), look("member"),
		`<</Type/OCG/Name(off)>>`, `<</Type/OCG/Name(on)>>`, `<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>`,
	)
	blank := raw(`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 200 200]>>`, `<</Type/Page/Parent 2 0 R>>`)
	results := map[string][]byte{}
	for _, name := range []string{"flatten", "nup"} {
		_, out, err := run(t, e, name, nil, b)
		if err != nil {
			t.Fatal(err)
		}
		results[name] = out[0]
	}
	for _, name := range []string{"overlay", "stamp"} {
		_, out, err := with(t, e, name, "with", b, nil, blank)
		if err != nil {
			t.Fatal(err)
		}
		results[name] = out
	}
	for name, out := range results {
		file := pdftest.Write(t, "layers.pdf", out)
		for reader, text := range map[string]string{"poppler": pdftest.Text(t, file), "mupdf": pdftest.MuPDFText(t, file)} {
			if got := strings.Join(strings.Fields(text), " "); got != "shown" {
				t.Errorf("%s: %s shows %q, want what is in a layer that is on", name, reader, got)
			}
		}
	}
}
