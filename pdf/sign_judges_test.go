package pdf_test

import (
	"bytes"
	"crypto"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/binary"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/sign"
	"example.com/quire/pdf/standard"
)

// pemFile writes the certificate of an authority.
func (a *authority) pemFile(tb testing.TB) string {
	tb.Helper()
	return pdftest.Write(tb, "ca.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw}))
}

// cmsOf writes the data of the last signature of a file, and what it covers.
//
// places is the file whose byte range counts: that of file may be changed.
func cmsOf(tb testing.TB, file, places []byte) (cms, content string) {
	tb.Helper()
	all := regexp.MustCompile(`/ByteRange \[0 (\d+) (\d+) (\d+)`).FindAllSubmatch(places, -1)
	var n [3]int
	for i := range n {
		n[i], _ = strconv.Atoi(string(all[len(all)-1][i+1]))
	}
	der, err := hex.DecodeString(string(file[n[0]+1 : n[1]-1]))
	if err != nil {
		tb.Fatal(err)
	}
	signed := append(bytes.Clone(file[:n[0]]), file[n[1]:n[1]+n[2]]...)
	return pdftest.Write(tb, "sig.der", der), pdftest.Write(tb, "signed.bin", signed)
}

// opensslAccepts reports whether openssl verifies the last signature of a file.
func opensslAccepts(tb testing.TB, file, places []byte, ca string) (string, bool) {
	tb.Helper()
	cms, content := cmsOf(tb, file, places)
	out, code := pdftest.Run(tb, "openssl", "cms", "-verify", "-inform", "DER", "-in", cms, "-content", content, "-binary", "-CAfile", ca, "-purpose", "any", "-out", os.DevNull)
	return out, code == 0
}

// TestSignaturesHoldForOtherPrograms: openssl, poppler, pyHanko and qpdf agree with us on
// signatures of each kind of key, twice signed and visible. openssl 3.0 and poppler know no Ed25519
// in CMS.
func TestSignaturesHoldForOtherPrograms(t *testing.T) {
	t.Parallel()
	for _, judge := range []string{"openssl", "pdfsig", "pyhanko", "qpdf"} {
		pdftest.Need(t, judge)
	}
	e, a := newEngine(t, pdf.Config{}), newAuthority(t)
	ca := a.pemFile(t)
	body, _ := render(t, e, pdf.RenderOptions{Standards: compliant, Time: testTime}, note("Judged", 2))
	for name, id := range a.identities(t) {
		once := signed(t, e, body, pdf.SignRequest{Identity: id, Reason: "Read: (approved) \\ ₹", Rect: [4]float64{300, 40, 500, 100}})
		file := signed(t, e, once, pdf.SignRequest{Identity: id})
		path := pdftest.Write(t, "signed.pdf", file)
		if err := pdftest.QPDF(t, path); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if name == "P-256" || name == "Ed25519" { // each takes a second
			out, code := pdftest.Run(t, "pyhanko", "sign", "validate", "--pretty-print", "--no-revocation-check", "--trust", ca, "--trust-replace", path)
			if code != 0 || strings.Count(out, "judged VALID") != 2 {
				t.Errorf("%s: pyHanko: %d\n%s", name, code, out)
			}
		}
		if name == "Ed25519" {
			continue
		}
		if out, _ := pdftest.Run(t, "pdfsig", path); strings.Count(out, "Signature is Valid.") != 2 || !strings.Contains(out, "Total document signed") {
			t.Errorf("%s: pdfsig:\n%s", name, out)
		}
		if out, ok := opensslAccepts(t, file, file, ca); !ok {
			t.Errorf("%s: openssl:\n%s", name, out)
		}
	}
}

// TestSignedFilesKeepTheirClaims: veraPDF passes files that claim PDF/A and PDF/UA and were signed,
// certified and visible; and so does the Judge.
func TestSignedFilesKeepTheirClaims(t *testing.T) {
	t.Parallel()
	signedKeepClaims(t, compliant)
}

func signedKeepClaims(t *testing.T, claims ...[]standard.ID) {
	t.Helper()
	e, a := newEngine(t, pdf.Config{}), newAuthority(t)
	id := a.identity(t, "Ada", ecKey(t, elliptic.P256()))
	files := veraFolders{}
	for i, claims := range claims {
		body, _ := render(t, e, pdf.RenderOptions{Standards: claims, Time: testTime}, note("Claimed", 2))
		file := signed(t, e, body, pdf.SignRequest{Identity: id, Reason: "r", Certify: pdf.CertifyAnnotations, Rect: [4]float64{300, 40, 500, 100}})
		file = signed(t, e, file, pdf.SignRequest{Identity: id})
		if found, err := e.Check(t.Context(), opened(t, e, file)); err != nil || len(found) > 0 {
			t.Errorf("%v: %v %v", claims, err, found)
		}
		for _, id := range claims {
			flavour := strings.NewReplacer("pdf/a-", "", "pdf/", "", "-", "").Replace(id.String())
			files.put(t, flavour, fmt.Sprintf("%d.pdf", i), file)
		}
	}
	for flavour, verdicts := range files.verdicts(t) {
		for name, v := range verdicts {
			if !v.Compliant {
				t.Errorf("%s %s: %v", flavour, name, v)
			}
		}
	}
}

// stampAuthority serves timestamps that openssl makes, with a key for tests.
func (a *authority) stampAuthority(t *testing.T) *httptest.Server {
	t.Helper()
	pdftest.Need(t, "openssl")
	dir := t.TempDir()
	write := func(name, kind string, b []byte) string {
		path := filepath.Join(dir, name)
		if kind != "" {
			b = pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b})
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	key := ecKey(t, elliptic.P256())
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cert := a.issue(t, "TEST ONLY timestamps", key.Public(), a.cert, func(c *x509.Certificate) {
		c.KeyUsage = x509.KeyUsageDigitalSignature
		c.ExtraExtensions = append(c.ExtraExtensions, criticalStamping())
	})
	write("key.pem", "PRIVATE KEY", private)
	write("cert.pem", "CERTIFICATE", cert.Raw)
	write("serial", "", []byte("01\n"))
	config := write("tsa.cnf", "", fmt.Appendf(nil, "[tsa]\ndefault_tsa = t\n[t]\nserial = %s\nsigner_digest = sha256\ndefault_policy = 1.2.3.4\ndigests = sha256\ness_cert_id_alg = sha256\n", filepath.Join(dir, "serial")))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		query := filepath.Join(dir, "q.tsq")
		if err == nil {
			err = os.WriteFile(query, b, 0o600)
		}
		reply := filepath.Join(dir, "r.tsr")
		out, code := pdftest.Run(t, "openssl", "ts", "-reply", "-config", config, "-queryfile", query, "-signer", filepath.Join(dir, "cert.pem"), "-inkey", filepath.Join(dir, "key.pem"), "-out", reply)
		if err != nil || code != 0 {
			http.Error(w, out, http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/timestamp-reply")
		http.ServeFile(w, r, reply)
	}))
	t.Cleanup(s.Close)
	return s
}

// TestTimestampsMakeSignaturesBT: the authority is openssl; its token is in the signature, and
// outlives the certificate of the signer.
func TestTimestampsMakeSignaturesBT(t *testing.T) {
	t.Parallel()
	e, a := newEngine(t, pdf.Config{}), newAuthority(t)
	server := a.stampAuthority(t)
	id := a.identity(t, "Ada", ecKey(t, elliptic.P256()))
	id.TSA = &sign.TSA{URL: server.URL, HTTP: server.Client()}
	body, _ := render(t, e, pdf.RenderOptions{}, func(b *doc.Builder) error { b.Text("signed"); return nil })
	file := signed(t, e, body, pdf.SignRequest{Identity: id})
	for _, at := range []int{0, 40} { // years: the certificates are long expired
		v, err := e.Verify(t.Context(), opened(t, e, file), pdf.VerifyOptions{Roots: []*x509.Certificate{a.cert}, At: testTime.AddDate(at, 0, 0)})
		if err != nil || len(v) != 1 || !v[0].Valid || v[0].Level != "B-T" || v[0].Stamped == nil || !strings.Contains(v[0].Stamper.Name, "TEST ONLY timestamps") {
			t.Errorf("after %d years: %v %+v", at, err, v)
		}
	}
	id.TSA = &sign.TSA{URL: server.URL + "/", HTTP: server.Client(), Most: 500}
	var out bytes.Buffer
	if _, err := e.Sign(t.Context(), &out, opened(t, e, body), pdf.SignRequest{Identity: id, Time: testTime}); err == nil || out.Len() > 0 {
		t.Errorf("a token that is too long: %v, %d bytes", err, out.Len())
	}
	if out, code := pdftest.Run(t, "pyhanko", "sign", "adesverify", "--no-revocation-check", "--trust", a.pemFile(t), "--trust-replace", pdftest.Write(t, "t.pdf", file)); code != 0 || !strings.Contains(out, "INTACT") {
		t.Errorf("pyHanko: %d\n%s", code, out)
	}
}

// TestTimestampsOfOthersAreRefused: a token for something else, a status that refuses, no token.
func TestTimestampsOfOthersAreRefused(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	honest := a.stampAuthority(t)
	digest := make([]byte, 32)
	good, err := (&sign.TSA{URL: honest.URL, HTTP: honest.Client()}).Timestamp(t.Context(), crypto.SHA256, digest)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sign.ParseToken(good, crypto.SHA256, append(make([]byte, 31), 1)); err == nil {
		t.Error("a token for something else")
	}
	good[len(good)-1] ^= 1
	if _, err := sign.ParseToken(good, crypto.SHA256, digest); err == nil {
		t.Error("a token that was changed")
	}
	for name, answer := range map[string]func(http.ResponseWriter){
		"refused":    func(w http.ResponseWriter) { _, _ = w.Write([]byte{0x30, 5, 0x30, 3, 2, 1, 2}) },
		"no token":   func(w http.ResponseWriter) { _, _ = w.Write([]byte{0x30, 5, 0x30, 3, 2, 1, 0}) },
		"not DER":    func(w http.ResponseWriter) { _, _ = w.Write([]byte("no")) },
		"other type": func(w http.ResponseWriter) { w.Header().Set("Content-Type", "text/html") },
		"status":     func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) },
		"old token": func(w http.ResponseWriter) {
			reply := binary.BigEndian.AppendUint16([]byte{0x30, 0x82}, uint16(len(good)+5)) //nolint:gosec // G115: some kilobytes
			_, _ = w.Write(append(append(reply, 0x30, 3, 2, 1, 0), good...))
		},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/timestamp-reply")
			answer(w)
		}))
		if _, err := (&sign.TSA{URL: s.URL, HTTP: s.Client()}).Timestamp(t.Context(), crypto.SHA256, digest); err == nil {
			t.Errorf("%s is taken", name)
		}
		s.Close()
	}
}
