//go:build judges

package pdf_test

import (
	"bytes"
	"crypto/elliptic"
	"fmt"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
)

// TestSignedFilesKeepAllClaims: each set of standards that files can claim together.
func TestSignedFilesKeepAllClaims(t *testing.T) { signedKeepClaims(t, claimable...) }

// TestFlips flips a bit of 500 bytes that a signature covers: we, poppler and openssl each find every
// one.
func TestFlips(t *testing.T) {
	pdftest.Need(t, "pdfsig")
	pdftest.Need(t, "openssl")
	e, a := newEngine(t, pdf.Config{}), newAuthority(t)
	ca := a.pemFile(t)
	body, _ := render(t, e, pdf.RenderOptions{}, func(b *doc.Builder) error { b.Text("signed"); return nil })
	file := signed(t, e, body, pdf.SignRequest{Identity: a.identity(t, "Ada", ecKey(t, elliptic.P256()))})
	if _, ok := opensslAccepts(t, file, file, ca); !ok || !popplerAccepts(t, file) || !a.verdicts(t, e, file)[0].Valid {
		t.Fatal("the file is not valid as it is")
	}
	const flipped = 500
	var ours, theirs, openssl int
	for _, at := range flips(t, file, flipped) {
		b := bytes.Clone(file)
		b[at] ^= 1 << (at % 8)
		if a.accepts(t, e, b) == "" {
			ours++
		}
		if !popplerAccepts(t, b) {
			theirs++
		}
		if _, ok := opensslAccepts(t, b, file, ca); !ok {
			openssl++
		}
	}
	line := fmt.Sprintf("%d random byte flips inside the ByteRange: quire, pdfsig and openssl each report %d invalid", flipped, min(ours, theirs, openssl))
	fmt.Println(line)
	if ours != flipped || theirs != flipped || openssl != flipped {
		t.Errorf("quire %d, pdfsig %d, openssl %d", ours, theirs, openssl)
	}
}

func popplerAccepts(t *testing.T, file []byte) bool {
	t.Helper()
	out, _ := pdftest.Run(t, "pdfsig", pdftest.Write(t, "s.pdf", file))
	return strings.Contains(out, "Signature is Valid.")
}
