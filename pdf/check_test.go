package pdf_test

import (
	"bytes"
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
		"no metadata":    {replace("Catalog", "Metadata", nil), "S043 ISO 19005-2, 6.6.4"},
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
