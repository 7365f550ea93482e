package sign_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"software.sslmate.com/src/go-pkcs12"

	"example.com/quire/pdf/sign"
)

var at = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// identity is a key for tests with a certificate by itself.
func identity(tb testing.TB) *sign.Identity {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(7), Subject: pkix.Name{CommonName: "TEST ONLY"}, NotBefore: at.AddDate(-1, 0, 0), NotAfter: at.AddDate(1, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature,
	}
	raw, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		tb.Fatal(err)
	}
	if c, err = x509.ParseCertificate(raw); err != nil {
		tb.Fatal(err)
	}
	return &sign.Identity{Key: key, Chain: []*x509.Certificate{c}}
}

// signature signs a content.
func signature(tb testing.TB, id *sign.Identity, content string) []byte {
	tb.Helper()
	sum := sha256.Sum256([]byte(content))
	d, err := id.Begin(sum[:])
	if err != nil {
		tb.Fatal(err)
	}
	s, err := d.Sign()
	if err != nil {
		tb.Fatal(err)
	}
	der, err := d.Finish(tb.Context(), s)
	if err != nil {
		tb.Fatal(err)
	}
	return der
}

// TestSignedAttributesAreSortedDER: the SET OF that is signed has three attributes, in the order of
// their bytes, and none is a signing time (ETSI EN 319 142-1, 6.3).
func TestSignedAttributesAreSortedDER(t *testing.T) {
	t.Parallel()
	id := identity(t)
	sum := sha256.Sum256([]byte("x"))
	d, err := id.Begin(sum[:])
	if err != nil {
		t.Fatal(err)
	}
	var set asn1.RawValue
	if rest, err := asn1.Unmarshal(d.Message(), &set); err != nil || len(rest) > 0 || set.Tag != asn1.TagSet || set.Class != asn1.ClassUniversal {
		t.Fatalf("%+v %v", set, err)
	}
	var before []byte
	var oids []string
	for rest := set.Bytes; len(rest) > 0; {
		var a struct {
			Type   asn1.ObjectIdentifier
			Values asn1.RawValue `asn1:"set"`
		}
		var raw asn1.RawValue
		next, err := asn1.Unmarshal(rest, &raw)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := asn1.Unmarshal(raw.FullBytes, &a); err != nil {
			t.Fatal(err)
		}
		if bytes.Compare(before, raw.FullBytes) >= 0 {
			t.Error("the attributes are not in their order")
		}
		before, rest = raw.FullBytes, next
		oids = append(oids, a.Type.String())
	}
	if got := strings.Join(oids, " "); got != "1.2.840.113549.1.9.3 1.2.840.113549.1.9.4 1.2.840.113549.1.9.16.2.47" {
		t.Error(got)
	}
}

// TestSignaturesAreParsedAndVerified: what was signed verifies, what was not does not.
func TestSignaturesAreParsedAndVerified(t *testing.T) {
	t.Parallel()
	id := identity(t)
	der := signature(t, id, "content")
	if most, err := id.MostBytes(); err != nil || len(der) > most || len(der) < most-24 {
		t.Errorf("%d bytes, room for %d, %v", len(der), most, err)
	}
	s, err := sign.Parse(append(bytes.Clone(der), 0, 0, 0))
	if err != nil || !s.Bound || !s.SigningTime.IsZero() || s.Content != nil || !s.Signer.Equal(id.Chain[0]) || s.Algorithm() != "ECDSA P-256, SHA-256" || s.Weak() != "" {
		t.Fatalf("%+v %v", s, err)
	}
	sum, other := sha256.Sum256([]byte("content")), sha256.Sum256([]byte("other"))
	if err := s.Verify(sum[:]); err != nil {
		t.Error(err)
	}
	if err := s.Verify(other[:]); !errors.Is(err, sign.ErrDigest) {
		t.Error(err)
	}
	for name, b := range map[string][]byte{
		"nothing": nil, "data behind it": append(bytes.Clone(der), 0, 1), "cut": der[:len(der)-1], "text": []byte("signature"),
	} {
		if _, err := sign.Parse(b); !errors.Is(err, sign.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for i := len(der) - 64; i < len(der); i++ { // within the signature itself
		b := bytes.Clone(der)
		b[i] ^= 0x10
		s, err := sign.Parse(b)
		if err == nil {
			err = s.Verify(sum[:])
		}
		if err == nil {
			t.Errorf("byte %d of %d may be another", i, len(der))
		}
	}
}

// TestTheSameContentGivesTheSameSignature: ECDSA has no chance in it (RFC 6979).
func TestTheSameContentGivesTheSameSignature(t *testing.T) {
	t.Parallel()
	id := identity(t)
	if !bytes.Equal(signature(t, id, "content"), signature(t, id, "content")) {
		t.Error("two signatures of one content differ")
	}
}

// TestKeysAreReadFromPEMAndPKCS12: in any order, with a wrong password, and without what is needed.
func TestKeysAreReadFromPEMAndPKCS12(t *testing.T) {
	t.Parallel()
	id := identity(t)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(id.Key)
	if err != nil {
		t.Fatal(err)
	}
	ec, err := x509.MarshalECPrivateKey(id.Key.(*ecdsa.PrivateKey))
	if err != nil {
		t.Fatal(err)
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: id.Chain[0].Raw})
	block := func(kind string, b []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}) }
	p12, err := pkcs12.Modern.Encode(id.Key, id.Chain[0], nil, "pass word")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		file     []byte
		password string
	}{
		"PKCS #8":  {append(block("PRIVATE KEY", pkcs8), cert...), ""},
		"SEC 1":    {append(bytes.Clone(cert), block("EC PRIVATE KEY", ec)...), ""},
		"PKCS #12": {p12, "pass word"},
	} {
		got, err := sign.ParseIdentity(c.file, []byte(c.password))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := got.Check(at); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, c := range map[string]struct {
		file     []byte
		password string
		want     string
	}{
		"wrong password": {p12, "other", "password that does not open"},
		"no key":         {cert, "", "no key"},
		"two keys":       {append(block("PRIVATE KEY", pkcs8), block("EC PRIVATE KEY", ec)...), "", "two keys"},
		"encrypted":      {block("ENCRYPTED PRIVATE KEY", pkcs8), "", "encrypted key as PEM"},
		"broken":         {block("PRIVATE KEY", []byte("x")), "", "cannot be read"},
		"neither":        {[]byte("secret"), "hunter2", "neither PEM nor PKCS #12"},
		"too long":       {make([]byte, sign.MostKeyBytes+1), "", "more than 1 MiB"},
	} {
		_, err := sign.ParseIdentity(c.file, []byte(c.password))
		var bad *sign.IdentityError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := sign.ParseCertificates([]byte("none")); err == nil {
		t.Error("no certificates")
	}
}

// TestFormOfSignatures: how many have signed and whether their certificates came along, of what
// Parse reads and of what it refuses.
func TestFormOfSignatures(t *testing.T) {
	id := identity(t)
	whole := signature(t, id, "content")
	for name, c := range map[string]struct {
		der  []byte
		want sign.Form
	}{
		"whole":                 {whole, sign.Form{Signers: 1, Certificates: 1, Certified: true}},
		"with zeros behind":     {append(bytes.Clone(whole), 0, 0), sign.Form{Signers: 1, Certificates: 1, Certified: true}},
		"another's certificate": {bytes.ReplaceAll(whole, id.Chain[0].Raw, renumbered(t, id.Chain[0].Raw)), sign.Form{Signers: 1, Certificates: 1}},
	} {
		if got, err := sign.FormOf(c.der); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, c.want)
		}
	}
	for name, der := range map[string][]byte{"nothing": nil, "half": whole[:len(whole)/2], "text": []byte("signed"), "indefinite length": {0x30, 0x80, 0, 0}} {
		if _, err := sign.FormOf(der); !errors.Is(err, sign.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// renumbered is a certificate with the serial number 8 instead of 7.
func renumbered(t *testing.T, raw []byte) []byte {
	t.Helper()
	out := bytes.Replace(raw, []byte{2, 1, 7}, []byte{2, 1, 8}, 1)
	if bytes.Equal(out, raw) {
		t.Fatal("no serial number")
	}
	return out
}

// FuzzFormOf: what Parse reads has the form of a signature, and whatever else stands in its place
// is read or refused.
func FuzzFormOf(f *testing.F) {
	f.Add(signature(f, identity(f), "content"))
	f.Add([]byte{0x30, 0x80, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		form, err := sign.FormOf(b)
		if _, parsed := sign.Parse(b); parsed == nil && (err != nil || form.Signers != 1 || form.Certificates == 0) {
			t.Errorf("%+v, %v", form, err)
		}
	})
}

// FuzzParse: whatever stands in the place of a signature is read or refused.
func FuzzParse(f *testing.F) {
	f.Add(signature(f, identity(f), "content"))
	f.Add([]byte{0x30, 0x80, 0, 0})
	sum := sha256.Sum256([]byte("content"))
	f.Fuzz(func(_ *testing.T, b []byte) {
		s, err := sign.Parse(b)
		if err != nil {
			return
		}
		_ = s.Verify(sum[:])
		_ = s.Algorithm()
		_ = s.Weak()
	})
}

// FuzzParseToken: the same for timestamps.
func FuzzParseToken(f *testing.F) {
	f.Add(signature(f, identity(f), "content"))
	sum := sha256.Sum256([]byte("content"))
	f.Fuzz(func(t *testing.T, b []byte) {
		h := sign.TokenHash(b)
		if token, err := sign.ParseToken(b, h, sum[:]); err == nil && token.Time.IsZero() {
			t.Error("a token without a time")
		}
	})
}

// FuzzParseIdentity: the same for keys.
func FuzzParseIdentity(f *testing.F) {
	f.Add([]byte("-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n"), []byte("p"))
	f.Add([]byte{0x30, 0}, []byte(""))
	f.Fuzz(func(t *testing.T, file, password []byte) {
		if len(file) > 4<<10 {
			return
		}
		if id, err := sign.ParseIdentity(file, password); err == nil && id.Key == nil {
			t.Error("an identity without a key")
		}
	})
}
