package sign

import (
	"bytes"
	"crypto"
	"crypto/sha256"
	_ "crypto/sha512" // SHA-384 and SHA-512, which crypto.Hash knows when they are linked
	"crypto/x509"
	"encoding/asn1"
	"math/bits"
	"slices"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

// The object identifiers that signatures consist of.
var (
	oidData          = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 1}
	oidSignedData    = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 2}
	oidContentType   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 3}
	oidMessageDigest = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 4}
	oidSigningTime   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 5}
	oidSigningCert   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 12} // RFC 2634
	oidSigningCertV2 = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 47} // RFC 5035
	oidTimestamp     = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 14} // RFC 3161, appendix A
	oidTSTInfo       = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 1, 4}
	oidSHA1          = asn1.ObjectIdentifier{1, 3, 14, 3, 2, 26}
	oidSHA256        = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 1}
	oidSHA384        = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 2}
	oidSHA512        = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 3}
	oidRSA           = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 1}
	oidSHA1RSA       = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 5}
	oidPSS           = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 10}
	oidMGF1          = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 8}
	oidSHA256RSA     = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 11}
	oidSHA384RSA     = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 12}
	oidSHA512RSA     = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 13}
	oidECDSA1        = asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 1}
	oidECDSA256      = asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 2}
	oidECDSA384      = asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 3}
	oidECDSA512      = asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 4}
	oidEd25519       = asn1.ObjectIdentifier{1, 3, 101, 112}
)

// hashes are the functions that digests may be of.
var hashes = []struct {
	oid  asn1.ObjectIdentifier
	hash crypto.Hash
	der  []byte // AlgorithmIdentifier
}{
	{oidSHA256, crypto.SHA256, newAlgorithm(oidSHA256).der},
	{oidSHA384, crypto.SHA384, newAlgorithm(oidSHA384).der},
	{oidSHA512, crypto.SHA512, newAlgorithm(oidSHA512).der},
	{oidSHA1, crypto.SHA1, newAlgorithm(oidSHA1).der},
}

func hashOf(oid asn1.ObjectIdentifier) crypto.Hash {
	for _, h := range hashes {
		if h.oid.Equal(oid) {
			return h.hash
		}
	}
	return 0
}

func oidOf(hash crypto.Hash) asn1.ObjectIdentifier {
	for _, h := range hashes {
		if h.hash == hash {
			return h.oid
		}
	}
	return nil
}

// digestAlgorithm returns the DER of the AlgorithmIdentifier of a hash.
func digestAlgorithm(hash crypto.Hash) []byte {
	for _, h := range hashes {
		if h.hash == hash {
			return h.der
		}
	}
	return nil
}

// algorithm is an AlgorithmIdentifier.
type algorithm struct {
	oid    asn1.ObjectIdentifier
	params []byte // DER; empty: none
	der    []byte // of the whole, for those that are written
}

func newAlgorithm(oid asn1.ObjectIdentifier, params ...byte) algorithm {
	return algorithm{oid, params, element(cbasn1.SEQUENCE, derOf(oid), params)}
}

// The algorithms that keys of an identity sign with.
var (
	signRSA      = newAlgorithm(oidSHA256RSA, derNull...)
	signPSS      = pss(crypto.SHA256)
	signECDSA256 = newAlgorithm(oidECDSA256)
	signECDSA384 = newAlgorithm(oidECDSA384)
	signECDSA512 = newAlgorithm(oidECDSA512)
	signEd25519  = newAlgorithm(oidEd25519)
)

// pss is RSASSA-PSS with one hash function for all and a salt as long as its digest (RFC 4055,
// 3.1).
func pss(hash crypto.Hash) algorithm {
	inner := newAlgorithm(oidOf(hash)).der
	return newAlgorithm(oidPSS, element(
		cbasn1.SEQUENCE,
		element(explicit(0), inner),
		element(explicit(1), newAlgorithm(oidMGF1, inner...).der),
		element(explicit(2), derOf(hash.Size())),
	)...)
}

// DER that is the same in all signatures.
var (
	derNull       = []byte{byte(asn1.TagNull), 0}
	derTrue       = derOf(true)
	derVersion1   = derOf(1)
	derData       = derOf(oidData)
	derSignedData = derOf(oidSignedData)

	derContentType   = attribute(derOf(oidContentType), derData)
	derMessageDigest = derOf(oidMessageDigest)
	derSigningCertV2 = derOf(oidSigningCertV2)
	derTimestamp     = derOf(oidTimestamp)
)

// explicit is a constructed tag of the context.
func explicit(n uint8) cbasn1.Tag { return cbasn1.Tag(n).ContextSpecific().Constructed() }

// derOf returns the DER of an object identifier, an integer or a boolean.
func derOf(v any) []byte {
	b, err := asn1.Marshal(v)
	if err != nil {
		panic(err) // only those come here, and none that cannot be
	}
	return b
}

// element returns a DER element: its tag, and its contents one behind the other.
func element(tag cbasn1.Tag, contents ...[]byte) []byte {
	n := 0
	for _, c := range contents {
		n += len(c)
	}
	out := append(make([]byte, 0, 1+1+8+n), byte(tag))
	if n < 0x80 {
		out = append(out, byte(n))
	} else { // the length of the length, and it (X.690, 8.1.3.5)
		size := (bits.Len(uint(n)) + 7) / 8
		out = append(out, 0x80|byte(size)) //nolint:gosec // G115: at most 8
		for i := size - 1; i >= 0; i-- {
			out = append(out, byte(n>>(8*i))) //nolint:gosec // G115: one byte of the length
		}
	}
	for _, c := range contents {
		out = append(out, c...)
	}
	return out
}

// setOf returns a SET OF: in DER its members stand in the order of their bytes (X.690, 11.6).
func setOf(tag cbasn1.Tag, members ...[]byte) []byte {
	slices.SortFunc(members, bytes.Compare)
	return element(tag, members...)
}

// attribute is an Attribute with one value; oid is DER.
func attribute(oid, value []byte) []byte {
	return element(cbasn1.SEQUENCE, oid, element(cbasn1.SET, value))
}

// serialOf returns the DER of the serial number of a certificate, which was parsed.
func serialOf(c *x509.Certificate) []byte {
	var tbs, serial cryptobyte.String
	in := cryptobyte.String(c.RawTBSCertificate)
	_ = in.ReadASN1(&tbs, cbasn1.SEQUENCE) && tbs.SkipOptionalASN1(explicit(0)) && tbs.ReadASN1Element(&serial, cbasn1.INTEGER)
	return serial
}

// signedAttributes returns the SET OF attributes of a PAdES signature (ETSI EN 319 142-1, 6.3): the
// type of the content, its digest, and which certificate signs. There is no signing time: it stands
// in the file, or in a timestamp.
func signedAttributes(cert *x509.Certificate, digest []byte) []byte {
	sum := sha256.Sum256(cert.Raw)
	issuer := element(cbasn1.SEQUENCE, element(explicit(4), cert.RawIssuer)) // GeneralNames
	// RFC 5035, 3: SigningCertificateV2, certs, ESSCertIDv2, whose default hash is SHA-256.
	id := element(cbasn1.SEQUENCE, element(cbasn1.OCTET_STRING, sum[:]), element(cbasn1.SEQUENCE, issuer, serialOf(cert)))
	return setOf(
		cbasn1.SET, derContentType,
		attribute(derMessageDigest, element(cbasn1.OCTET_STRING, digest)),
		attribute(derSigningCertV2, element(cbasn1.SEQUENCE, element(cbasn1.SEQUENCE, id))),
	)
}

// encode writes the ContentInfo with the SignedData (RFC 5652, 3 and 5.1). token may be nil.
func (d *Draft) encode(signature, token []byte) []byte {
	leaf, digest := d.identity.Chain[0], digestAlgorithm(d.scheme.hash)
	certs := make([][]byte, len(d.identity.Chain))
	for i, c := range d.identity.Chain {
		certs[i] = c.Raw
	}
	attrs := bytes.Clone(d.attrs)
	attrs[0] = byte(explicit(0)) // within SignerInfo the SET of the attributes has another tag (5.4)
	var unsigned []byte
	if token != nil {
		unsigned = element(explicit(1), attribute(derTimestamp, token))
	}
	signer := element(
		cbasn1.SEQUENCE, derVersion1, element(cbasn1.SEQUENCE, leaf.RawIssuer, serialOf(leaf)), digest, attrs,
		d.scheme.alg.der, element(cbasn1.OCTET_STRING, signature), unsigned,
	)
	return element(cbasn1.SEQUENCE, derSignedData, element(explicit(0), element(
		cbasn1.SEQUENCE, derVersion1, element(cbasn1.SET, digest), element(cbasn1.SEQUENCE, derData),
		setOf(explicit(0), certs...), element(cbasn1.SET, signer),
	)))
}
