package pdf_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"io"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/sign"
	"example.com/quire/pdf/standard"
)

// testTime is when the certificates of tests are valid.
var testTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// authority is a root for tests, which issues certificates.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(tb testing.TB) *authority {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	a := &authority{key: key}
	a.cert = a.issue(tb, "TEST ONLY root", key.Public(), nil, func(c *x509.Certificate) {
		c.IsCA, c.BasicConstraintsValid, c.KeyUsage = true, true, x509.KeyUsageCertSign
	})
	return a
}

// issue makes a certificate; parent nil: of itself.
func (a *authority) issue(tb testing.TB, name string, key crypto.PublicKey, parent *x509.Certificate, change func(*x509.Certificate)) *x509.Certificate {
	tb.Helper()
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<60))
	if err != nil {
		tb.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name, Organization: []string{"Quire tests"}},
		NotBefore: testTime.AddDate(-1, 0, 0), NotAfter: testTime.AddDate(30, 0, 0), KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageContentCommitment,
	}
	if change != nil {
		change(c)
	}
	if parent == nil {
		parent = c
	}
	raw, err := x509.CreateCertificate(rand.Reader, c, parent, key, a.key)
	if err != nil {
		tb.Fatal(err)
	}
	c, err = x509.ParseCertificate(raw)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// identity is a key with a certificate of the authority.
func (a *authority) identity(tb testing.TB, name string, key crypto.Signer) *sign.Identity {
	tb.Helper()
	return &sign.Identity{Key: key, Chain: []*x509.Certificate{a.issue(tb, name, key.Public(), a.cert, nil), a.cert}}
}

func ecKey(tb testing.TB, c elliptic.Curve) crypto.Signer {
	tb.Helper()
	k, err := ecdsa.GenerateKey(c, rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return k
}

// identities are one of each kind of key.
func (a *authority) identities(tb testing.TB) map[string]*sign.Identity {
	tb.Helper()
	r, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		tb.Fatal(err)
	}
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	all := map[string]*sign.Identity{
		"P-256": a.identity(tb, "Ada P-256", ecKey(tb, elliptic.P256())), "P-384": a.identity(tb, "Ada P-384", ecKey(tb, elliptic.P384())), "P-521": a.identity(tb, "Ada P-521", ecKey(tb, elliptic.P521())),
		"RSA": a.identity(tb, "Ada RSA", r), "RSA-PSS": a.identity(tb, "Ada PSS", r), "Ed25519": a.identity(tb, "Ada Ed25519", ed),
	}
	all["RSA-PSS"].PSS = true
	return all
}

func opened(tb testing.TB, e *pdf.Engine, b []byte) *pdf.Document {
	tb.Helper()
	d, err := e.Open(tb.Context(), bytes.NewReader(b), int64(len(b)), pdf.OpenOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// signed signs a file.
func signed(tb testing.TB, e *pdf.Engine, b []byte, r pdf.SignRequest) []byte {
	tb.Helper()
	var out bytes.Buffer
	if r.Time.IsZero() {
		r.Time = testTime
	}
	if _, err := e.Sign(tb.Context(), &out, opened(tb, e, b), r); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// verdicts judges a file.
func (a *authority) verdicts(tb testing.TB, e *pdf.Engine, b []byte) []pdf.Verdict {
	tb.Helper()
	v, err := e.Verify(tb.Context(), opened(tb, e, b), pdf.VerifyOptions{Roots: []*x509.Certificate{a.cert}, At: testTime})
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

// TestSignaturesOfAllKeysAreValid: each kind of key, invisible, over a file that claims PDF/A-4 and
// PDF/UA-2; the bytes that were there stay.
func TestSignaturesOfAllKeysAreValid(t *testing.T) {
	t.Parallel()
	e, a := newEngine(t, pdf.Config{}), newAuthority(t)
	body, _ := render(t, e, pdf.RenderOptions{Standards: compliant, Time: testTime}, note("Signed", 3))
	for name, id := range a.identities(t) {
		out := signed(t, e, body, pdf.SignRequest{Identity: id, Reason: "test"})
		if !bytes.HasPrefix(out, body) {
			t.Errorf("%s: the bytes of the file changed", name)
		}
		v := a.verdicts(t, e, out)
		if len(v) != 1 || !v[0].Valid || !v[0].CoversFile || v[0].Later != "none" || v[0].Level != "B-B" {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// criticalStamping is the extension that makes a certificate one for timestamps alone (RFC 3161,
// 2.3).
func criticalStamping() pkix.Extension {
	return pkix.Extension{Id: asn1.ObjectIdentifier{2, 5, 29, 37}, Critical: true, Value: []byte{0x30, 10, 6, 8, 0x2B, 6, 1, 5, 5, 7, 3, 8}}
}

// TestOptionsOfASignatureBelongToOneDocument: two files signed with one identity have their own
// reason, name and place, and what is asked for one is not in the other.
func TestOptionsOfASignatureBelongToOneDocument(t *testing.T) {
	t.Parallel()
	e, a := newEngine(t, pdf.Config{}), newAuthority(t)
	id := a.identity(t, "Ada", ecKey(t, elliptic.P256()))
	body, _ := render(t, e, pdf.RenderOptions{}, note("One", 1))
	box := [4]float64{300, 40, 500, 100}
	one := signed(t, e, body, pdf.SignRequest{Identity: id, Field: "First", Reason: "reason one", Name: "name one", Location: "place one", Rect: box, Certify: pdf.CertifyAnnotations})
	two := signed(t, e, body, pdf.SignRequest{Identity: id, Field: "Second", Reason: "reason two", Time: testTime.AddDate(0, 1, 0)})
	again := signed(t, e, body, pdf.SignRequest{Identity: id, Field: "First", Reason: "reason one", Name: "name one", Location: "place one", Rect: box, Certify: pdf.CertifyAnnotations})
	if !bytes.Equal(one, again) {
		t.Error("the same request gives other bytes")
	}
	v, w := a.verdicts(t, e, one), a.verdicts(t, e, two)
	if !v[0].Valid || v[0].Field != "First" || v[0].Reason != "reason one" || v[0].Location != "place one" || v[0].Certifies != 3 || v[0].Claimed != "D:20260301120000Z" {
		t.Errorf("%+v", v)
	}
	if !w[0].Valid || w[0].Field != "Second" || w[0].Reason != "reason two" || w[0].Location != "" || w[0].Certifies != 0 || w[0].Claimed != "D:20260401120000Z" {
		t.Errorf("%+v", w)
	}
	for _, s := range []string{"name one", "place one", "reason one"} {
		if bytes.Contains(two, []byte(s)) {
			t.Errorf("%q is in the other file", s)
		}
	}
}

// TestRenderedFilesAreSignedOrNothing: between rendering and signing nothing can be lost: a key, a
// certificate or a field that is wrong is an error, and what was asked to be signed is not written.
func TestRenderedFilesAreSignedOrNothing(t *testing.T) {
	t.Parallel()
	e, a := newEngine(t, pdf.Config{}), newAuthority(t)
	key := ecKey(t, elliptic.P256())
	good := a.identity(t, "Ada", key)
	body, _ := render(t, e, pdf.RenderOptions{Standards: compliant, Time: testTime}, note("Signed", 1))
	for name, r := range map[string]pdf.SignRequest{
		"no key":           {Identity: &sign.Identity{Chain: good.Chain}, Time: testTime},
		"no certificate":   {Identity: &sign.Identity{Key: key}, Time: testTime},
		"other key":        {Identity: &sign.Identity{Key: ecKey(t, elliptic.P256()), Chain: good.Chain}, Time: testTime},
		"expired":          {Identity: good, Time: testTime.AddDate(60, 0, 0)},
		"key that fails":   {Identity: &sign.Identity{Key: failingKey{key}, Chain: good.Chain}, Time: testTime},
		"key of the wrong": {Identity: &sign.Identity{Key: wrongKey{key}, Chain: good.Chain}, Time: testTime},
	} {
		var out bytes.Buffer
		if s, err := e.Sign(t.Context(), &out, opened(t, e, body), r); err == nil || s != nil || out.Len() > 0 {
			t.Errorf("%s: %v, %d bytes", name, err, out.Len())
		}
	}
}

// failingKey is a token that is gone, and wrongKey one that signs something else.
type (
	failingKey struct{ crypto.Signer }
	wrongKey   struct{ crypto.Signer }
)

func (failingKey) Sign(io.Reader, []byte, crypto.SignerOpts) ([]byte, error) {
	return nil, errors.New("the token is gone")
}

func (k wrongKey) Sign(r io.Reader, digest []byte, o crypto.SignerOpts) ([]byte, error) {
	return k.Signer.Sign(r, make([]byte, len(digest)), o)
}

// TestLettersOfSignaturesAreAsLargeAsThereIsRoom: from 12 points down to 3 by halves, with lines
// that are broken or not, and no smaller.
func TestLettersOfSignaturesAreAsLargeAsThereIsRoom(t *testing.T) {
	t.Parallel()
	e, a := newEngine(t, pdf.Config{}), newAuthority(t)
	id := a.identity(t, "Ada", ecKey(t, elliptic.P256()))
	body, _ := render(t, e, pdf.RenderOptions{Time: testTime}, func(b *doc.Builder) error {
		b.Title("Page").Text("page")
		return nil
	})
	for _, c := range []struct {
		width, height float64
		want          [4]float64 // 0: nothing fits
	}{
		{120, 50, [4]float64{12, 11, 9.5, 7.5}},
		{12, 40, [4]float64{0, 0, 0, 0}},
		{200, 18.4, [4]float64{0, 0, 0, 0}},
		{210, 50, [4]float64{12, 12, 12, 9.5}},
		{300, 100, [4]float64{12, 12, 12, 12}},
		{300, 15, [4]float64{0, 0, 0, 0}},
		{40, 26, [4]float64{6, 4.5, 3.5, 3}},
		{80, 33, [4]float64{8, 7, 6, 4.5}},
		{90, 60, [4]float64{12, 11.5, 9, 8}},
	} {
		for i, reason := range []string{"", "agreed", "Donaudampfschifffahrtsgesellschaft", "Issued by the broker on behalf of the exchange and of all its members"} {
			var out bytes.Buffer
			_, err := e.Sign(t.Context(), &out, opened(t, e, body), pdf.SignRequest{Identity: id, Time: testTime, Reason: reason, Rect: [4]float64{100, 100, 100 + c.width, 100 + c.height}})
			if err != nil {
				if o, ok := errors.AsType[*pdf.OptionError](err); !ok || o.Field != "box" || c.want[i] != 0 {
					t.Errorf("%g x %g, %q: %v", c.width, c.height, reason, err)
				}
				continue
			}
			words := pdftest.Boxes(t, pdftest.Write(t, "signed.pdf", out.Bytes()))
			at := slices.IndexFunc(words, func(w pdftest.Word) bool { return w.Text == "Ada" })
			const high = 1.117 // a line of the font, by its size
			if got := (words[at].YMax - words[at].YMin) / high; math.Abs(got-c.want[i]) > 0.1 {
				t.Errorf("%g x %g, %q: %.1f points, want %g", c.width, c.height, reason, got, c.want[i])
			}
		}
	}
}

// TestVisibleSignaturesAreSetInGivenFonts: a name in a script that the engine's fonts lack is an
// error that says so, and is shown where a font has it.
func TestVisibleSignaturesAreSetInGivenFonts(t *testing.T) {
	t.Parallel()
	e, a := newEngine(t, pdf.Config{}), newAuthority(t)
	const name = "สวัสดี"
	id := a.identity(t, name, ecKey(t, elliptic.P256()))
	body, _ := render(t, e, pdf.RenderOptions{Standards: []standard.ID{standard.PDFA4, standard.PDFUA2}}, note("One", 1))
	r := pdf.SignRequest{Identity: id, Time: testTime, Rect: [4]float64{100, 100, 300, 160}}
	var option *pdf.OptionError
	if _, err := e.Sign(t.Context(), io.Discard, opened(t, e, body), r); !errors.As(err, &option) || option.Field != "box" || !strings.HasSuffix(option.Want, "font-file") {
		t.Errorf("without the font: %v", err)
	}
	font, err := os.ReadFile(filepath.FromSlash("internal/text/gotext/testdata/NotoSansThai.ttf"))
	if err != nil {
		t.Fatal(err)
	}
	r.Fonts = doc.NewFonts(doc.FontOptions{Families: []doc.FontFamily{{Name: "Thai", Regular: font}}, Fallback: []string{"Thai"}})
	out := signed(t, e, body, r)
	if text, _ := pdftest.Run(t, "pdftotext", pdftest.Write(t, "signed.pdf", out), "-"); !strings.Contains(text, name) {
		t.Errorf("poppler reads %q", text)
	}
	for _, v := range a.verdicts(t, e, out) {
		if !v.Valid {
			t.Errorf("%+v", v)
		}
	}
}
