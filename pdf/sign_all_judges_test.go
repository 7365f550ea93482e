//go:build judges && !race

package pdf_test

import (
	"bytes"
	"crypto/elliptic"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
)

// TestSignedFilesKeepAllClaims: each set of standards that files can claim together.
func TestSignedFilesKeepAllClaims(t *testing.T) { signedKeepClaims(t, claimable...) }

// TestFlips flips a bit of 500 bytes that a signature covers: we, poppler and openssl each find
// every one.
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

// pyHankoVerdicts prints, for each of the files that follow the root, what pyHanko makes of each of
// its signatures: whether it is valid with all changes since, or the error.
const pyHankoVerdicts = `
import json, sys
from datetime import datetime, timezone
from pyhanko.keys import load_cert_from_pemder
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.validation import validate_pdf_signature
from pyhanko_certvalidator import ValidationContext
import logging
logging.disable(logging.CRITICAL)
root = load_cert_from_pemder(sys.argv[1])
out = {}
for name in sys.argv[2:]:
    try:
        with open(name, "rb") as f:
            found = []
            for s in PdfFileReader(f).embedded_signatures:
                vc = ValidationContext(trust_roots=[root], moment=datetime(2026, 3, 1, 12, 0, tzinfo=timezone.utc))
                found.append(bool(validate_pdf_signature(s, signer_validation_context=vc).bottom_line))
            out[name] = found
    except Exception as e:
        out[name] = str(e)
json.dump(out, sys.stdout)
`

// TestPyHankoAgreesOnWhatChanged: of files that were changed after they were signed pyHanko finds
// none valid that we do not, and we none that it does not but for those named.
func TestPyHankoAgreesOnWhatChanged(t *testing.T) {
	python := filepath.Join(filepath.Dir(pdftest.Need(t, "pyhanko")), "python")
	e, a := newEngine(t, pdf.Config{}), newAuthority(t)
	id := a.identity(t, "Ada", ecKey(t, elliptic.P256()))
	body, _ := render(t, e, pdf.RenderOptions{Standards: compliant, Time: testTime}, note("Shadow", 2))
	files := map[string][]byte{}
	for name, c := range shadows(t) {
		b := body
		if c.before != nil {
			b = revise(t, b, c.before)
		}
		files[name] = revise(t, signed(t, e, b, pdf.SignRequest{Identity: id}), c.after)
	}
	once := signed(t, e, body, pdf.SignRequest{Identity: id})
	files["nothing"] = once
	box := [4]float64{100, 100, 300, 170}
	plain, _ := render(t, e, pdf.RenderOptions{}, note("Plain", 1))
	files["signed again"] = signed(t, e, signed(t, e, plain, pdf.SignRequest{Identity: id}), pdf.SignRequest{Identity: id, Rect: box})
	files["signed again, tagged"] = signed(t, e, once, pdf.SignRequest{Identity: id, Rect: box})
	files["certified, signed again"] = signed(t, e, signed(t, e, body, pdf.SignRequest{Identity: id, Certify: pdf.CertifyFormFilling}), pdf.SignRequest{Identity: id})
	files["data for validation"] = revise(t, once, func(v *revision) {
		cert := v.u.Reserve()
		v.stream(cert, string(a.cert.Raw))
		v.put(v.root(), "DSS", v.add(cos.Dict{cos.E("Certs", cos.Array{cert})}))
	})
	files["a larger page"] = revise(t, once, func(v *revision) {
		v.put(v.page(), "MediaBox", cos.Array{cos.Int(0), cos.Int(0), cos.Int(9), cos.Int(9)})
	})
	args, names := []string{"-c", pyHankoVerdicts, a.pemFile(t)}, map[string]string{}
	for name, b := range files {
		path := pdftest.Write(t, "f.pdf", b)
		args, names[path] = append(args, path), name
	}
	out, err := exec.CommandContext(t.Context(), python, args...).Output() //nolint:gosec // G204: a judge, over files of the test
	found := map[string]any{}
	if err == nil {
		err = json.Unmarshal(out, &found)
	}
	if err != nil || len(found) != len(files) {
		t.Fatalf("pyHanko: %v: %d files", err, len(found))
	}
	// pyHanko lets the default look of fields change, and knows no growing structure tree (ISO
	// 14289-2 wants an element for each signature that is seen).
	known := map[string]string{"how all fields look": "we [false], pyHanko [true]", "signed again, tagged": "we [true true], pyHanko [false true]"}
	agreed := 0
	for path, theirs := range found {
		name := names[path]
		ours := fmt.Sprint(theirs)
		if _, list := theirs.([]any); list {
			var v []bool
			for _, x := range a.verdicts(t, e, files[name]) {
				v = append(v, x.Valid)
			}
			ours = fmt.Sprint(v)
		} else if v := a.verdicts(t, e, files[name]); v[0].Valid { // it cannot read what we call valid
			ours = "valid"
		}
		if ours != fmt.Sprint(theirs) {
			if told := fmt.Sprintf("we %s, pyHanko %v", ours, theirs); told != known[name] {
				t.Errorf("%s: %s", name, told)
			}
			continue
		}
		agreed++
	}
	fmt.Printf("pyHanko and quire agree on %d of %d files that were changed after they were signed\n", agreed, len(files))
}
