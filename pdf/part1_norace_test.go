//go:build !race

package pdf_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/standard"
)

// TestVeraPDFOfPart1: files that claim part 1 of PDF/A are what they claim, those that operations
// make of them too; what is refused or found by check is failed by the validator.
func TestVeraPDFOfPart1(t *testing.T) {
	t.Parallel()
	e := newEngine(t, pdf.Config{})
	flavour := map[standard.ID]string{standard.PDFA1b: "1b", standard.PDFA1a: "1a", standard.PDFUA1: "ua1"}
	files := veraFolders{}
	claimed := 0
	put := func(name string, ids []standard.ID, body []byte) {
		t.Helper()
		for _, id := range ids {
			files.put(t, flavour[id], fmt.Sprintf("good %s%v", name, ids), body)
			claimed++
		}
	}
	for name, f := range opaque(t) {
		for _, ids := range archive1 {
			body, _ := render(t, e, pdf.RenderOptions{Standards: ids, Time: frozen, DocumentID: "id-1"}, f)
			put(name, ids, body)
		}
	}
	for _, ids := range archive1 {
		body, _ := openType(t, pdf.RenderOptions{Standards: ids, Time: frozen})
		put("opentype", ids, body)
		for name, body := range edited1(t, e, ids) {
			put(name, ids, body)
		}
	}
	broken := 0
	for name, n := range refused1(t) {
		b := doc.NewBuilder()
		n.doc(b)
		var forced bytes.Buffer
		if err := e.BuildForced(t.Context(), &forced, n.claims, b.Document()); err != nil {
			t.Fatalf("%s, forced: %v", name, err)
		}
		files.put(t, n.flavour, "bad "+name, forced.Bytes())
		broken++
	}
	for name, change := range spoilt1 {
		files.put(t, change[0], "bad "+name, spoil(t, e, change))
		broken++
	}
	for fl, of := range files.verdicts(t) {
		for name, v := range of {
			switch {
			case strings.HasPrefix(name, "good "):
				if claimed--; !v.Compliant {
					t.Errorf("%s is not %s: %v %s", name, fl, v.Clauses, strings.Join(v.Messages, "\n\t"))
				}
			case v.Compliant || len(v.Clauses) == 0:
				t.Errorf("%s: veraPDF %s finds nothing: %+v", name, fl, v)
				fallthrough
			default:
				broken--
			}
		}
	}
	if claimed != 0 || broken != 0 {
		t.Errorf("%d files that claim and %d that are broken were not judged", claimed, broken)
	}
}

// TestArchivesOfPDF14: files that claim part 1 of PDF/A are of PDF 1.4, with a table of cross
// references and no object streams, list what their subsets hold, and pass our own Judge as they
// are read.
func TestArchivesOfPDF14(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	for name, f := range opaque(t) {
		for _, ids := range archive1 {
			body, res := render(t, e, pdf.RenderOptions{Standards: ids, Time: frozen}, f)
			if !slices.Equal(res.Standards, ids) || !bytes.HasPrefix(body, []byte("%PDF-1.4\n%\xE2\xE3\xCF\xD3\n")) {
				t.Errorf("%s %v: %v, %.9s", name, ids, res.Standards, body)
			}
			for want, found := range map[string]bool{
				"\nxref\n": true, "/CIDSet ": len(res.Fonts) > 0, "<pdfaid:part>1<": true, "/ObjStm": false, "/XRef": false, "/SMask": false,
				"/Transparency": false, "/LZWDecode": false, "/EmbeddedFile": false, "/NonStruct": slices.Contains(ids, standard.PDFA1a),
			} {
				if bytes.Contains(body, []byte(want)) != found {
					t.Errorf("%s %v: %q is in the file: %v", name, ids, want, !found)
				}
			}
			if err := pdftest.QPDF(t, pdftest.Write(t, "f.pdf", body)); err != nil {
				t.Errorf("%s %v: %v", name, ids, err)
			}
			if found, err := e.Check(t.Context(), opened(t, e, body)); err != nil || len(found) > 0 {
				t.Errorf("%s %v: %v, %v", name, ids, found, err)
			}
		}
	}
}
