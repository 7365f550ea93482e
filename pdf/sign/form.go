package sign

import (
	"bytes"
	"crypto/x509"
	"encoding/asn1"
	"math/big"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

// Form is the structure of CMS signed data (RFC 5652, 5.1). Nothing in it is verified.
type Form struct {
	Signers      int // how many have signed
	Certificates int // how many came along
	// Certified says that the certificate of each signer is among them.
	Certified bool
}

// FormOf reads the structure of a signature, also of one that Parse refuses because of its signers
// or their certificates. Data that is not DER of signed data gives ErrMalformed.
func FormOf(der []byte) (Form, error) {
	certs, signers, err := new(Signed).parts(der)
	if err != nil {
		return Form{}, err
	}
	f := Form{Certified: true}
	names, keys := map[string]bool{}, map[string]bool{}
	for !certs.Empty() {
		var raw cryptobyte.String
		var tag cbasn1.Tag
		if !certs.ReadAnyASN1Element(&raw, &tag) {
			return Form{}, malformed("certificates")
		}
		f.Certificates++
		if id, ok := issuerAndSerialOf(raw); ok {
			names[id] = true
		}
		if c, err := x509.ParseCertificate(raw); err == nil && len(c.SubjectKeyId) > 0 {
			keys[string(c.SubjectKeyId)] = true
		}
	}
	for !signers.Empty() {
		var signer, id cryptobyte.String
		var version int
		var tag cbasn1.Tag
		if !signers.ReadASN1(&signer, cbasn1.SEQUENCE) || !signer.ReadASN1Integer(&version) || !signer.ReadAnyASN1(&id, &tag) {
			return Form{}, malformed("signer infos")
		}
		f.Signers++
		if tag == cbasn1.SEQUENCE {
			f.Certified = f.Certified && names[string(id)]
		} else {
			f.Certified = f.Certified && keys[string(id)]
		}
	}
	f.Certified = f.Certified && f.Signers > 0
	return f, nil
}

// issuerAndSerialOf returns what names a certificate to its signer: the contents of
// IssuerAndSerialNumber (RFC 5652, 10.2.4). Certificates are not parsed further, since some are in
// use that crypto/x509 refuses.
func issuerAndSerialOf(raw cryptobyte.String) (string, bool) {
	var cert, tbs, alg, issuer cryptobyte.String
	serial := new(big.Int)
	if !raw.ReadASN1(&cert, cbasn1.SEQUENCE) || !cert.ReadASN1(&tbs, cbasn1.SEQUENCE) || !tbs.SkipOptionalASN1(explicit(0)) ||
		!tbs.ReadASN1Integer(serial) || !tbs.ReadASN1(&alg, cbasn1.SEQUENCE) || !tbs.ReadASN1Element(&issuer, cbasn1.SEQUENCE) {
		return "", false
	}
	der, err := asn1.Marshal(serial)
	if err != nil {
		return "", false
	}
	return string(bytes.Join([][]byte{issuer, der}, nil)), true
}
