package sign_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"errors"
	"math/big"
	"testing"
	"time"

	"example.com/quire/pdf/sign"
)

// TestSignaturesAreWrittenAlike: DER has one form for what a signature says, so with keys and
// certificates that are the same each time the bytes are, too.
func TestSignaturesAreWrittenAlike(t *testing.T) {
	t.Parallel()
	key := func(c elliptic.Curve) *ecdsa.PrivateKey {
		k, err := ecdsa.ParseRawPrivateKey(c, bytes.Repeat([]byte{1}, (c.Params().BitSize+7)/8))
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	issue := func(serial *big.Int, name string, public crypto.PublicKey, by *x509.Certificate, from crypto.Signer) *x509.Certificate {
		c := &x509.Certificate{
			SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: at.AddDate(-1, 0, 0), NotAfter: at.AddDate(1, 0, 0),
			IsCA: by == nil, BasicConstraintsValid: true, SubjectKeyId: []byte(name), KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		}
		if by == nil {
			by = c
		}
		raw, err := x509.CreateCertificate(nil, c, by, public, from)
		if err != nil {
			t.Fatal(err)
		}
		if c, err = x509.ParseCertificate(raw); err != nil {
			t.Fatal(err)
		}
		return c
	}
	root := key(elliptic.P256())
	ca := issue(big.NewInt(1), "Root", root.Public(), nil, root)
	for name, x := range map[string]struct {
		key    crypto.Signer
		serial *big.Int
		want   string
	}{
		"P-256":   {key(elliptic.P256()), big.NewInt(128), "baceabb2a478fe89"},
		"P-384":   {key(elliptic.P384()), new(big.Int).Lsh(big.NewInt(1), 126), "347520a311a495d1"},
		"Ed25519": {ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), big.NewInt(7), "34fe63d7f8fa0593"},
	} {
		id := &sign.Identity{Key: x.key, Chain: []*x509.Certificate{issue(x.serial, "Signer "+name, x.key.Public(), ca, root), ca}}
		d, err := id.Begin(make([]byte, id.Hash().Size()))
		if err != nil {
			t.Fatal(err)
		}
		s, err := d.Sign()
		if err != nil {
			t.Fatal(err)
		}
		der, err := d.Finish(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(der); hex.EncodeToString(sum[:8]) != x.want {
			t.Errorf("%s: %d bytes with SHA-256 %x, want %s", name, len(der), sum[:8], x.want)
		}
	}
}

// TestCertificatesThatWereNotParsedAreRefused: a signature names its certificate by its bytes.
func TestCertificatesThatWereNotParsedAreRefused(t *testing.T) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	id := &sign.Identity{Key: key, Chain: []*x509.Certificate{{PublicKey: key.Public()}}}
	_, err := id.Begin(make([]byte, crypto.SHA512.Size()))
	if wrong, ok := errors.AsType[*sign.IdentityError](err); !ok || wrong.Got != "a certificate that was not parsed" {
		t.Errorf("begin: %v", err)
	}
	if err := id.Check(time.Now()); err == nil {
		t.Error("it passes the check")
	}
}
