//go:build !race

package pdf_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/edit"
	"example.com/quire/pdf/standard"
)

func openPDF(t *testing.T, e *pdf.Engine, b []byte, password string) *pdf.Document {
	t.Helper()
	d, err := e.Open(t.Context(), bytes.NewReader(b), int64(len(b)), pdf.OpenOptions{Password: password})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestCheckFindsWhatASpoiltFileBreaks: a sound file with one thing changed, each found by its rule
// and clause. The change is made to the objects as they are read.
func TestCheckFindsWhatASpoiltFileBreaks(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	body, _ := render(t, e, pdf.RenderOptions{Standards: []standard.ID{standard.PDFA2b, standard.PDFUA1}, Time: frozen}, samples(t)["note"])
	sound, err := edit.Open(bytes.NewReader(body), int64(len(body)), edit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		spoil func(ref cos.Ref, d cos.Dict) cos.Dict
		rule  string
	}{
		"language":       {replace("Catalog", "Lang", cos.Text("")), "S002 ISO 14289-1, 7.2"},
		"not marked":     {replace("Catalog", "MarkInfo", nil), "S043 ISO 14289-1, 6.2"},
		"no title shown": {replace("Catalog", "ViewerPreferences", nil), "S001 ISO 14289-1, 7.1"},
		"no metadata":    {replace("Catalog", "Metadata", nil), "S043 ISO 19005-2, 6.6.2.1"},
		"no intent":      {replace("Catalog", "OutputIntents", nil), "S047 ISO 19005-2, 6.2.4.3"},
		"script":         {replace("Catalog", "OpenAction", cos.Dict{cos.E("S", cos.Name("JavaScript")), cos.E("JS", cos.String("x"))}), "S045 ISO 19005-2, 6.5.1"},
		"XFA":            {replace("Catalog", "AcroForm", cos.Dict{cos.E("XFA", cos.String("x"))}), "S045 ISO 19005-2, 6.4.2"},
		"font":           {replace("FontDescriptor", "FontFile2", nil), "S046 ISO 19005-2, 6.2.11.4.1"},
		"additional":     {replace("Page", "AA", cos.Dict{cos.E("O", cos.Dict{})}), "S045 ISO 19005-2, 6.5.2"},
	} {
		var out bytes.Buffer
		copyFile(t, sound, &out, c.spoil)
		d, err := edit.Open(bytes.NewReader(out.Bytes()), int64(out.Len()), edit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		found, err := d.Check(t.Context(), []standard.ID{standard.PDFA2b, standard.PDFUA1})
		var all []string
		for _, f := range found {
			all = append(all, f.Rule+" "+f.Clause)
		}
		if err != nil || !strings.Contains(strings.Join(all, "; "), c.rule) {
			t.Errorf("%s: %q, %v", name, all, err)
		}
	}
}

// TestCheckReadsColoursAndMetadata of files of other makers: colours of a device behind other
// colour spaces, TrueType fonts by how they find their glyphs, and what XMP has to be.
func TestCheckReadsColoursAndMetadata(t *testing.T) {
	t.Parallel()
	const rdf = `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/" xmlns:o="urn:own"><pdfaid:part>2</pdfaid:part><pdfaid:conformance>B</pdfaid:conformance>%s</rdf:Description></rdf:RDF></x:xmpmeta>`
	file := func(packet, resources, content string) []byte {
		stream := func(dict, data string) string {
			return fmt.Sprintf("<<%s/Length %d>>stream\n%s\nendstream", dict, len(data), data)
		}
		s := "%PDF-1.7\n"
		for i, o := range []string{
			"<</Type/Catalog/Pages 2 0 R/Metadata 5 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
			"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Resources<<" + resources + ">>>>",
			stream("", content), stream("/Type/Metadata/Subtype/XML", packet),
		} {
			s += fmt.Sprintf("%d 0 obj %s endobj\n", i+1, o)
		}
		return []byte(s + "trailer<</Root 1 0 R>>")
	}
	sound := fmt.Sprintf(rdf, "")
	const colour, font = "S047 ISO 19005-2, 6.2.4.3", "S051 ISO 19005-2, 6.2.11.6"
	for name, x := range map[string]struct {
		body       []byte
		want, none string
	}{
		"nothing":          {file(sound, "", "0 0 m"), "", colour},
		"indexed":          {file(sound, "/ColorSpace<</C[/Indexed/DeviceRGB 0<000000>]>>", "/C cs 0 scn"), colour, ""},
		"ink":              {file(sound, "/ColorSpace<</C[/Separation/Spot/DeviceCMYK<<>>]>>", "/C cs 1 scn"), colour, ""},
		"pattern":          {file(sound, "/Pattern<</P<</PatternType 2/Shading<</ColorSpace/DeviceRGB>>>>>>", "/Pattern cs /P scn"), colour, ""},
		"shading":          {file(sound, "/Shading<</S<</ColorSpace/DeviceGray>>>>", "/S sh"), colour, ""},
		"inline":           {file(sound, "", "BI/W 1/H 1/BPC 8/CS/G ID x EI"), colour, ""},
		"calibrated":       {file(sound, "/ColorSpace<</C[/CalRGB<</WhitePoint[1 1 1]>>]>>", "/C cs 0 0 0 scn"), "", colour},
		"default":          {file(sound, "/ColorSpace<</DefaultRGB[/CalRGB<</WhitePoint[1 1 1]>>]>>", "0 0 0 rg"), "", colour},
		"transfer":         {file(sound, "/ExtGState<</G<</Type/ExtGState/TR/Identity>>>>", ""), "S045 ISO 19005-2, 6.2.5", ""},
		"symbolic":         {file(sound, "/Font<</F<</Type/Font/Subtype/TrueType/FirstChar 0/LastChar 0/Widths[0]/Encoding/WinAnsiEncoding/FontDescriptor<</Flags 4>>>>>>", ""), font, ""},
		"encoding":         {file(sound, "/Font<</F<</Type/Font/Subtype/TrueType/FirstChar 0/LastChar 0/Widths[0]/FontDescriptor<</Flags 32>>>>>>", ""), font, ""},
		"widths":           {file(sound, "/Font<</F<</Type/Font/Subtype/Type1/FirstChar 0/LastChar 3/Widths[0]/FontDescriptor<</Flags 32>>>>>>", ""), "S051 ISO 19005-2, 6.2.11.2", font},
		"font":             {file(sound, "/Font<</F<</Type/Font/Subtype/Type7>>>>", ""), "S051 ISO 19005-2, 6.2.11.2", ""},
		"no XML":           {file(sound+"<", "", ""), "S052 ISO 19005-2, 6.6.2.1", ""},
		"not UTF-8":        {file(strings.Replace(sound, "<x:", "\xff<x:", 1), "", ""), "S052 ISO 19005-2, 6.6.2.1", ""},
		"encoding of it":   {file(`<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d" encoding="UTF-8"?>`+sound, "", ""), "S052 ISO 19005-2, 6.6.2.1", ""},
		"own property":     {file(fmt.Sprintf(rdf, "<o:p>x</o:p>"), "", ""), "S052 ISO 19005-2, 6.6.2.3.1", ""},
		"own attribute":    {file(strings.Replace(sound, `rdf:about=""`, `rdf:about="" o:p="x"`, 1), "", ""), "S052 ISO 19005-2, 6.6.2.3.1", ""},
		"described itself": {file(fmt.Sprintf(rdf, `<e:schemas xmlns:e="http://www.aiim.org/pdfa/ns/extension/"><rdf:Bag><rdf:li><s:namespaceURI xmlns:s="http://www.aiim.org/pdfa/ns/schema#">urn:own</s:namespaceURI></rdf:li></rdf:Bag></e:schemas><o:p>x</o:p>`), "", ""), "", "S052 ISO 19005-2, 6.6.2.3.1"},
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
		if err != nil || x.want != "" && !slices.Contains(all, x.want) || x.none != "" && slices.Contains(all, x.none) {
			t.Errorf("%s: want %q and not %q: %q, %v", name, x.want, x.none, all, err)
		}
	}
}

// replace puts a value under a key of every dictionary of a type.
func replace(kind, key cos.Name, v cos.Object) func(cos.Ref, cos.Dict) cos.Dict {
	return func(_ cos.Ref, d cos.Dict) cos.Dict {
		if d.Get("Type") != cos.Object(kind) {
			return d
		}
		out := cos.Dict{}
		for _, x := range d {
			if x.Key != key {
				out = append(out, x)
			}
		}
		return append(out, cos.E(key, v))
	}
}

// copyFile writes the objects of a file under their numbers, each changed.
func copyFile(t *testing.T, d *edit.Document, out *bytes.Buffer, change func(cos.Ref, cos.Dict) cos.Dict) {
	t.Helper()
	last := uint32(0)
	for ref := range d.Refs() {
		last = ref.Num
	}
	w := cos.NewWriter(out, cos.Options{Version: cos.V17})
	w.ReserveN(int(last))
	seen := map[uint32]bool{}
	for ref := range d.Refs() {
		o, err := d.Object(ref)
		if err != nil {
			t.Fatal(err)
		}
		seen[ref.Num] = true
		switch v := o.(type) {
		case *cos.Stream:
			var data []byte
			if data, err = d.Raw(v); err == nil {
				dict := cos.Dict{}
				for _, x := range change(ref, v.Dict) {
					if x.Key != "Length" {
						dict = append(dict, x)
					}
				}
				if kind := dict.Get("Type"); kind == cos.Object(cos.Name("XRef")) || kind == cos.Object(cos.Name("ObjStm")) {
					dict = nil
				}
				err = w.CopyStream(cos.Ref{Num: ref.Num}, dict, data)
			}
		case cos.Dict:
			err = w.Put(cos.Ref{Num: ref.Num}, change(ref, v))
		default:
			err = w.Put(cos.Ref{Num: ref.Num}, o)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for n := uint32(1); n <= last; n++ {
		if !seen[n] {
			if err := w.Put(cos.Ref{Num: n}, cos.Null{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	root, _ := d.Trailer().Get("Root").(cos.Ref)
	if _, err := w.Close(cos.Trailer{Root: root}); err != nil {
		t.Fatal(err)
	}
}
