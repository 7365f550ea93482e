package operation_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"strings"
	"testing"
	"time"

	"example.com/quire/pdf/operation"
	"example.com/quire/pdf/sign"
)

// TestVerdictsSayTimesAsPeopleReadThem: that of the signature, too, which is a date of PDF.
func TestVerdictsSayTimesAsPeopleReadThem(t *testing.T) {
	e := engine(t)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 31, 18, 30, 0, 0, time.UTC)
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "TEST ONLY"}, NotBefore: at.Add(-time.Hour), NotAfter: at.Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	o, err := operation.Find("sign")
	if err != nil {
		t.Fatal(err)
	}
	p := &parts{}
	_, err = o.Run(t.Context(), e, operation.Input{
		Files: []operation.File{file("in.pdf", sample(t, e, "Sample"))}, Values: map[string]string{"key": "k"}, Time: at, Create: p.create,
		Identity: func(string, string) (*sign.Identity, error) {
			return &sign.Identity{Key: key, Chain: []*x509.Certificate{c}}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	done, _, err := run(t, e, "verify", nil, p.files[0].Bytes())
	if err != nil || !strings.Contains(done.Text, "claimed    2026-01-31T18:30:00Z\n") {
		t.Errorf("%v\n%s", err, done.Text)
	}
}
