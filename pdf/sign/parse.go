package sign

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // G505: RFC 2634 names certificates by it
	"crypto/subtle"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

// mostCertificates bounds the certificates that one signature brings.
const mostCertificates = 64

// Signed is a signature that was read: CMS signed data with one signer (RFC 5652, 5). Nothing of it
// is verified before Verify.
type Signed struct {
	Signer       *x509.Certificate
	Certificates []*x509.Certificate // all that came along, the signer's too
	Hash         crypto.Hash         // of the content; 0: an algorithm that is not known
	SigningTime  time.Time           // the attribute, which the signer claims; zero: none
	Token        []byte              // the DER of a time-stamp token; nil: none
	// Bound says that a signed attribute names the certificate (RFC 5035), as PAdES demands.
	Bound bool
	// Content is the content inside the signature; nil: the signature is detached.
	Content []byte

	contentType asn1.ObjectIdentifier
	digest      []byte // the attribute message-digest
	typeAttr    asn1.ObjectIdentifier
	attrs       []byte // as the SET OF that is signed; nil: none
	alg         algorithm
	digestAlg   asn1.ObjectIdentifier
	signature   []byte
}

func malformed(what string) error { return fmt.Errorf("sign: %s: %w", what, ErrMalformed) }

// parts reads the parts of CMS signed data (RFC 5652, 3 and 5.1) into s and returns its
// certificates and signers. What follows the DER must be zeros: a file keeps more room for a
// signature than it takes.
func (s *Signed) parts(der []byte) (certs, signers cryptobyte.String, err error) {
	in := cryptobyte.String(der)
	var info, content, data cryptobyte.String
	var kind asn1.ObjectIdentifier
	if !in.ReadASN1(&info, cbasn1.SEQUENCE) || len(bytes.Trim(in, "\x00")) > 0 {
		return nil, nil, malformed("content info")
	}
	if !info.ReadASN1ObjectIdentifier(&kind) || !kind.Equal(oidSignedData) || !info.ReadASN1(&content, explicit(0)) || !content.ReadASN1(&data, cbasn1.SEQUENCE) || !content.Empty() || !info.Empty() {
		return nil, nil, malformed("content info, want signed data")
	}
	var version int
	var digests, encap cryptobyte.String
	var hasCerts bool
	if !data.ReadASN1Integer(&version) || !data.ReadASN1(&digests, cbasn1.SET) || !data.ReadASN1(&encap, cbasn1.SEQUENCE) || !encap.ReadASN1ObjectIdentifier(&s.contentType) {
		return nil, nil, malformed("signed data")
	}
	if !encap.Empty() {
		var inner, octets cryptobyte.String
		if !encap.ReadASN1(&inner, explicit(0)) || !inner.ReadASN1(&octets, cbasn1.OCTET_STRING) || !inner.Empty() || !encap.Empty() {
			return nil, nil, malformed("encapsulated content")
		}
		s.Content = append([]byte{}, octets...)
	}
	if !data.ReadOptionalASN1(&certs, &hasCerts, explicit(0)) || !data.SkipOptionalASN1(explicit(1)) || !data.ReadASN1(&signers, cbasn1.SET) || !data.Empty() {
		return nil, nil, malformed("signed data")
	}
	return certs, signers, nil
}

// Parse reads a signature. Data that is not DER of a signature gives ErrMalformed. Only zeros may
// follow the DER.
func Parse(der []byte) (*Signed, error) {
	s := &Signed{}
	certs, signers, err := s.parts(der)
	if err != nil {
		return nil, err
	}
	for !certs.Empty() {
		var raw cryptobyte.String
		var tag cbasn1.Tag
		if !certs.ReadAnyASN1Element(&raw, &tag) {
			return nil, malformed("certificates")
		}
		if len(s.Certificates) == mostCertificates {
			return nil, malformed("more than 64 certificates")
		}
		if c, err := x509.ParseCertificate(raw); err == nil && tag == cbasn1.SEQUENCE { // others cannot be the signer's
			s.Certificates = append(s.Certificates, c)
		}
	}
	var signer cryptobyte.String
	if !signers.ReadASN1(&signer, cbasn1.SEQUENCE) || !signers.Empty() {
		return nil, malformed("signer infos, want one")
	}
	if err := s.signer(signer); err != nil {
		return nil, err
	}
	if s.Signer == nil {
		return nil, malformed("the certificate of the signer is not there")
	}
	return s, nil
}

// signer reads the SignerInfo (RFC 5652, 5.3).
func (s *Signed) signer(in cryptobyte.String) error {
	var version int
	if !in.ReadASN1Integer(&version) {
		return malformed("signer info")
	}
	if in.PeekASN1Tag(cbasn1.SEQUENCE) {
		var id cryptobyte.String
		if !in.ReadASN1(&id, cbasn1.SEQUENCE) {
			return malformed("issuer and serial number")
		}
		for _, c := range s.Certificates {
			if bytes.Equal(id, slices.Concat(c.RawIssuer, serialOf(c))) {
				s.Signer = c
			}
		}
	} else {
		var id cryptobyte.String
		if !in.ReadASN1(&id, cbasn1.Tag(0).ContextSpecific()) {
			return malformed("subject key identifier")
		}
		for _, c := range s.Certificates {
			if len(id) > 0 && bytes.Equal(id, c.SubjectKeyId) {
				s.Signer = c
			}
		}
	}
	var digest, attrs, alg, signature, unsigned cryptobyte.String
	var has, hasUnsigned bool
	if !in.ReadASN1(&digest, cbasn1.SEQUENCE) || !digest.ReadASN1ObjectIdentifier(&s.digestAlg) ||
		!in.ReadOptionalASN1(&attrs, &has, explicit(0)) ||
		!in.ReadASN1(&alg, cbasn1.SEQUENCE) || !alg.ReadASN1ObjectIdentifier(&s.alg.oid) ||
		!in.ReadASN1(&signature, cbasn1.OCTET_STRING) ||
		!in.ReadOptionalASN1(&unsigned, &hasUnsigned, explicit(1)) || !in.Empty() {
		return malformed("signer info")
	}
	s.Hash = hashOf(s.digestAlg)
	s.alg.params = append([]byte{}, alg...)
	s.signature = append([]byte{}, signature...)
	if has {
		s.attrs = element(cbasn1.SET, attrs)
		if err := eachAttribute(attrs, s.signedAttribute); err != nil {
			return err
		}
	}
	return eachAttribute(unsigned, func(oid asn1.ObjectIdentifier, value cryptobyte.String) error {
		if oid.Equal(oidTimestamp) {
			s.Token = append([]byte{}, value...)
		}
		return nil
	})
}

// eachAttribute calls f with the first value of each attribute; one that comes twice is malformed.
func eachAttribute(in cryptobyte.String, f func(asn1.ObjectIdentifier, cryptobyte.String) error) error {
	seen := map[string]bool{}
	for !in.Empty() {
		var a, values cryptobyte.String
		var oid asn1.ObjectIdentifier
		if !in.ReadASN1(&a, cbasn1.SEQUENCE) || !a.ReadASN1ObjectIdentifier(&oid) || !a.ReadASN1(&values, cbasn1.SET) || !a.Empty() || seen[oid.String()] {
			return malformed("attributes")
		}
		seen[oid.String()] = true
		if err := f(oid, values); err != nil {
			return err
		}
	}
	return nil
}

func (s *Signed) signedAttribute(oid asn1.ObjectIdentifier, value cryptobyte.String) error {
	switch {
	case oid.Equal(oidContentType):
		if !value.ReadASN1ObjectIdentifier(&s.typeAttr) || !value.Empty() {
			return malformed("content type")
		}
	case oid.Equal(oidMessageDigest):
		var d cryptobyte.String
		if !value.ReadASN1(&d, cbasn1.OCTET_STRING) || !value.Empty() {
			return malformed("message digest")
		}
		s.digest = append([]byte{}, d...)
	case oid.Equal(oidSigningTime):
		if t, ok := readTime(&value); ok {
			s.SigningTime = t
		}
	case oid.Equal(oidSigningCertV2), oid.Equal(oidSigningCert):
		var list, certs, first, hash cryptobyte.String
		if !value.ReadASN1(&list, cbasn1.SEQUENCE) || !list.ReadASN1(&certs, cbasn1.SEQUENCE) || !certs.ReadASN1(&first, cbasn1.SEQUENCE) {
			return malformed("signing certificate")
		}
		h := crypto.SHA1
		if oid.Equal(oidSigningCertV2) {
			h = crypto.SHA256
			if first.PeekASN1Tag(cbasn1.SEQUENCE) {
				var alg cryptobyte.String
				var id asn1.ObjectIdentifier
				if !first.ReadASN1(&alg, cbasn1.SEQUENCE) || !alg.ReadASN1ObjectIdentifier(&id) {
					return malformed("signing certificate")
				}
				h = hashOf(id)
			}
		}
		if !first.ReadASN1(&hash, cbasn1.OCTET_STRING) {
			return malformed("signing certificate")
		}
		if s.Signer == nil || h == 0 || !bytes.Equal(sumOf(h, s.Signer.Raw), hash) {
			return malformed("the certificate is not the one that the signed attributes name")
		}
		s.Bound = true
	}
	return nil
}

// sumOf returns a digest.
func sumOf(h crypto.Hash, b []byte) []byte {
	if h == crypto.SHA1 {
		sum := sha1.Sum(b) //nolint:gosec // G401: what old signatures have
		return sum[:]
	}
	f := h.New()
	f.Write(b)
	return f.Sum(nil)
}

// readTime reads a UTCTime or GeneralizedTime.
func readTime(in *cryptobyte.String) (t time.Time, ok bool) {
	if in.PeekASN1Tag(cbasn1.UTCTime) {
		ok = in.ReadASN1UTCTime(&t)
		return t, ok
	}
	ok = in.ReadASN1GeneralizedTime(&t)
	return t, ok
}

// ErrDigest is the error for content that differs from the signed content.
var ErrDigest = errors.New("sign: the content is not what was signed")

// ErrAlgorithm is the error of algorithms that are not known here.
var ErrAlgorithm = errors.New("sign: an algorithm that is not known")

// Verify verifies the signature over content with the given digest, by Hash. Errors are ErrDigest
// for changed content, ErrAlgorithm, or the error of the signature itself. The certificate is not
// verified.
func (s *Signed) Verify(digest []byte) error {
	if s.Hash == 0 {
		return ErrAlgorithm
	}
	if s.attrs == nil {
		// Without attributes the content itself is signed, which is for data only (RFC 5652, 5.3).
		if !s.OfData() {
			return malformed("no signed attributes")
		}
		return verifyDigest(s.Signer.PublicKey, s.alg, s.Hash, digest, s.signature)
	}
	if s.digest == nil || !s.typeAttr.Equal(s.contentType) {
		return malformed("signed attributes without message digest or content type")
	}
	if subtle.ConstantTimeCompare(s.digest, digest) != 1 {
		return ErrDigest
	}
	return verifySignature(s.Signer.PublicKey, s.alg, s.Hash, s.attrs, s.signature)
}

// SignatureDigest returns the digest of the signature itself, which a timestamp is of.
func (s *Signed) SignatureDigest(h crypto.Hash) ([]byte, error) {
	if h == 0 {
		return nil, ErrAlgorithm
	}
	return sumOf(h, s.signature), nil
}

// OfData reports whether the content is plain data (id-data), as the content of a file is.
func (s *Signed) OfData() bool { return s.contentType.Equal(oidData) }

// Algorithm names how the signature was made, as in "ECDSA P-256, SHA-256".
func (s *Signed) Algorithm() string {
	name := fmt.Sprintf("%T", s.Signer.PublicKey)
	switch k := s.Signer.PublicKey.(type) {
	case *rsa.PublicKey:
		name = fmt.Sprintf("RSA %d", k.N.BitLen())
		if s.alg.oid.Equal(oidPSS) {
			name = fmt.Sprintf("RSA-PSS %d", k.N.BitLen())
		}
	case *ecdsa.PublicKey:
		name = "ECDSA " + k.Params().Name
	case ed25519.PublicKey:
		name = "Ed25519"
	}
	if s.Hash == 0 {
		return name + ", " + s.digestAlg.String()
	}
	return name + ", " + s.Hash.String()
}

// Identity returns the signer with the certificates of its chain that came along, without its key.
func (s *Signed) Identity() *Identity {
	return &Identity{Chain: chainOf(s.Signer, s.Certificates), PSS: s.alg.oid.Equal(oidPSS)}
}

// Weak says why the algorithms are too weak to prove anything, empty when they are not.
func (s *Signed) Weak() string {
	inner := s.Hash
	if s.alg.oid.Equal(oidPSS) {
		inner, _, _ = readPSS(s.alg.params) // 0 where they are none, with which nothing verifies
	}
	if s.Hash == crypto.SHA1 || inner == crypto.SHA1 || s.alg.oid.Equal(oidSHA1RSA) || s.alg.oid.Equal(oidECDSA1) {
		return "SHA-1"
	}
	if k, ok := s.Signer.PublicKey.(*rsa.PublicKey); ok && k.N.BitLen() < leastRSA {
		return fmt.Sprintf("an RSA key of %d bits", k.N.BitLen())
	}
	return ""
}

// verifySignature verifies a signature over a message.
func verifySignature(public crypto.PublicKey, alg algorithm, hash crypto.Hash, message, signature []byte) error {
	if k, ok := public.(ed25519.PublicKey); ok && alg.oid.Equal(oidEd25519) {
		if !ed25519.Verify(k, message, signature) {
			return errSignature
		}
		return nil
	}
	for _, h := range []struct {
		oid  asn1.ObjectIdentifier
		hash crypto.Hash
	}{
		{oidSHA256RSA, crypto.SHA256},
		{oidSHA384RSA, crypto.SHA384},
		{oidSHA512RSA, crypto.SHA512},
		{oidSHA1RSA, crypto.SHA1},
		{oidECDSA256, crypto.SHA256},
		{oidECDSA384, crypto.SHA384},
		{oidECDSA512, crypto.SHA512},
		{oidECDSA1, crypto.SHA1},
	} {
		if alg.oid.Equal(h.oid) {
			hash = h.hash
		}
	}
	if alg.oid.Equal(oidPSS) {
		var err error
		if hash, _, err = readPSS(alg.params); err != nil {
			return err
		}
	}
	if hash == 0 {
		return ErrAlgorithm
	}
	return verifyDigest(public, alg, hash, sumOf(hash, message), signature)
}

var errSignature = errors.New("sign: the signature is not one of the key of the certificate")

// verifyDigest verifies a signature over a digest.
func verifyDigest(public crypto.PublicKey, alg algorithm, hash crypto.Hash, digest, signature []byte) error {
	is := func(oids ...asn1.ObjectIdentifier) bool {
		return slices.ContainsFunc(oids, alg.oid.Equal)
	}
	switch k := public.(type) {
	case *rsa.PublicKey:
		if is(oidPSS) {
			h, salt, err := readPSS(alg.params)
			if err != nil {
				return err
			}
			if h != hash || rsa.VerifyPSS(k, h, digest, signature, &rsa.PSSOptions{SaltLength: salt}) != nil {
				return errSignature
			}
			return nil
		}
		if is(oidRSA, oidSHA1RSA, oidSHA256RSA, oidSHA384RSA, oidSHA512RSA) {
			if rsa.VerifyPKCS1v15(k, hash, digest, signature) != nil {
				return errSignature
			}
			return nil
		}
	case *ecdsa.PublicKey:
		if is(oidECDSA1, oidECDSA256, oidECDSA384, oidECDSA512) {
			if !ecdsa.VerifyASN1(k, digest, signature) {
				return errSignature
			}
			return nil
		}
	}
	return ErrAlgorithm
}

// readPSS reads RSASSA-PSS-params (RFC 4055, 3.1) whose two hash functions are one.
func readPSS(params []byte) (hash crypto.Hash, salt int, err error) {
	in := cryptobyte.String(params)
	var seq cryptobyte.String
	if !in.ReadASN1(&seq, cbasn1.SEQUENCE) || !in.Empty() {
		return 0, 0, malformed("PSS parameters")
	}
	hash, salt = crypto.SHA1, 20
	mask := crypto.SHA1
	readHash := func(s cryptobyte.String) (crypto.Hash, bool) {
		var alg cryptobyte.String
		var oid asn1.ObjectIdentifier
		ok := s.ReadASN1(&alg, cbasn1.SEQUENCE) && alg.ReadASN1ObjectIdentifier(&oid) && s.Empty()
		return hashOf(oid), ok
	}
	var v cryptobyte.String
	var has bool
	ok := seq.ReadOptionalASN1(&v, &has, explicit(0))
	if ok && has {
		hash, ok = readHash(v)
	}
	if ok = ok && seq.ReadOptionalASN1(&v, &has, explicit(1)); ok && has {
		var alg cryptobyte.String
		var oid asn1.ObjectIdentifier
		if ok = v.ReadASN1(&alg, cbasn1.SEQUENCE) && v.Empty() && alg.ReadASN1ObjectIdentifier(&oid) && oid.Equal(oidMGF1); ok {
			mask, ok = readHash(alg)
		}
	}
	if ok = ok && seq.ReadOptionalASN1(&v, &has, explicit(2)); ok && has {
		ok = v.ReadASN1Integer(&salt) && v.Empty()
	}
	trailer := 1
	if ok = ok && seq.ReadOptionalASN1(&v, &has, explicit(3)); ok && has {
		ok = v.ReadASN1Integer(&trailer) && v.Empty()
	}
	if !ok || !seq.Empty() || trailer != 1 {
		return 0, 0, malformed("PSS parameters")
	}
	if hash == 0 || hash != mask || salt < 0 || salt > 512 {
		return 0, 0, ErrAlgorithm
	}
	return hash, salt, nil
}
