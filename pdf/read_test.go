//go:build !race

package pdf_test

import (
	"bytes"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/crypt"
	"example.com/quire/pdf/internal/edit"
	"example.com/quire/pdf/standard"
)

// TestSamplesReadBack: our samples, plain and encrypted, read back with their pages, every object
// and every stream, and nothing is found wrong.
func TestSamplesReadBack(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	for name, f := range samples(t) {
		for _, o := range []pdf.RenderOptions{
			{Standards: compliant, Time: frozen},
			{Standards: []standard.ID{standard.PDFA2b}, Time: frozen},
			{Time: frozen, Protect: &crypt.Options{Owner: "owner", User: "user", PlainMetadata: true}},
		} {
			body, res := render(t, e, o, f)
			d, err := edit.Open(bytes.NewReader(body), int64(len(body)), edit.Options{Password: "owner", Strict: true})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			n := 0
			for ref := range d.Refs() {
				o, err := d.Object(ref)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if s, ok := o.(*cos.Stream); ok {
					if _, _, err := d.Decode(s); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
				n++
			}
			if len(d.Pages) != res.Pages || n == 0 || d.Encrypted() != (o.Protect != nil) || len(d.Warnings()) > 0 {
				t.Errorf("%s: %d pages, want %d; encrypted %t; %d objects; %v", name, len(d.Pages), res.Pages, d.Encrypted(), n, d.Warnings())
			}
		}
	}
}
