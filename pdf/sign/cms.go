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

	derContentType   = element(cbasn1.SEQUENCE, derOf(oidContentType), element(cbasn1.SET, derData))
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
	return appendElement(make([]byte, 0, 1+1+8+n), tag, contents...)
}

// appendElement appends a DER element as element returns it.
func appendElement(dst []byte, tag cbasn1.Tag, contents ...[]byte) []byte {
	return wrap(dst, tag, func(dst []byte) []byte {
		for _, c := range contents {
			dst = append(dst, c...)
		}
		return dst
	})
}

// wrap appends a DER element whose contents are what f appends.
func wrap(dst []byte, tag cbasn1.Tag, f func(dst []byte) []byte) []byte {
	from := len(dst) + 2
	dst = f(append(dst, byte(tag), 0))
	n := len(dst) - from
	if n < 0x80 {
		dst[from-1] = byte(n) //nolint:gosec // G115: less than 0x80
		return dst
	}
	// The length of the length, and it (X.690, 8.1.3.5), for which the contents make room.
	size := (bits.Len(uint(n)) + 7) / 8
	dst[from-1] = 0x80 | byte(size) //nolint:gosec // G115: at most 8
	dst = append(dst, make([]byte, size)...)
	copy(dst[from+size:], dst[from:])
	for i := range size {
		dst[from+i] = byte(n >> (8 * (size - 1 - i))) //nolint:gosec // G115: one byte of the length
	}
	return dst
}

// appendSetOf appends a SET OF: in DER its members stand in the order of their bytes (X.690, 11.6).
func appendSetOf(dst []byte, tag cbasn1.Tag, members ...[]byte) []byte {
	slices.SortFunc(members, bytes.Compare)
	return appendElement(dst, tag, members...)
}

// appendAttribute appends an Attribute with one value, which is what f appends; oid is DER.
func appendAttribute(dst, oid []byte, f func(dst []byte) []byte) []byte {
	return wrap(dst, cbasn1.SEQUENCE, func(dst []byte) []byte { return wrap(append(dst, oid...), cbasn1.SET, f) })
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
	sum, serial := sha256.Sum256(cert.Raw), serialOf(cert)
	most := len(derContentType) + len(digest) + len(cert.RawIssuer) + len(serial) + 160
	b := make([]byte, 0, 2*most)
	b = appendAttribute(b, derMessageDigest, func(dst []byte) []byte { return appendElement(dst, cbasn1.OCTET_STRING, digest) })
	n := len(b)
	// RFC 5035, 3: SigningCertificateV2, certs, ESSCertIDv2, whose default hash is SHA-256.
	id := func(dst []byte) []byte {
		dst = appendElement(dst, cbasn1.OCTET_STRING, sum[:])
		return wrap(dst, cbasn1.SEQUENCE, func(dst []byte) []byte {
			dst = wrap(dst, cbasn1.SEQUENCE, func(dst []byte) []byte { return appendElement(dst, explicit(4), cert.RawIssuer) }) // GeneralNames
			return append(dst, serial...)
		})
	}
	b = appendAttribute(b, derSigningCertV2, func(dst []byte) []byte {
		return wrap(dst, cbasn1.SEQUENCE, func(dst []byte) []byte {
			return wrap(dst, cbasn1.SEQUENCE, func(dst []byte) []byte { return wrap(dst, cbasn1.SEQUENCE, id) })
		})
	})
	end := len(b)
	return appendSetOf(b, cbasn1.SET, derContentType, b[:n], b[n:end])[end:]
}

// encode writes the ContentInfo with the SignedData (RFC 5652, 3 and 5.1). token may be nil.
func (d *Draft) encode(signature, token []byte) []byte {
	leaf, digest := d.identity.Chain[0], digestAlgorithm(d.scheme.hash)
	certs, most := make([][]byte, len(d.identity.Chain)), len(d.attrs)+len(leaf.RawIssuer)+len(signature)+len(token)+320
	for i, c := range d.identity.Chain {
		certs[i] = c.Raw
		most += len(c.Raw)
	}
	signer := func(dst []byte) []byte {
		dst = append(dst, derVersion1...)
		dst = appendElement(dst, cbasn1.SEQUENCE, leaf.RawIssuer, serialOf(leaf))
		dst = append(dst, digest...)
		at := len(dst)
		dst = append(dst, d.attrs...)
		dst[at] = byte(explicit(0)) // within SignerInfo the SET of the attributes has another tag (5.4)
		dst = appendElement(append(dst, d.scheme.alg.der...), cbasn1.OCTET_STRING, signature)
		if token == nil {
			return dst
		}
		return wrap(dst, explicit(1), func(dst []byte) []byte {
			return appendAttribute(dst, derTimestamp, func(dst []byte) []byte { return append(dst, token...) })
		})
	}
	signed := func(dst []byte) []byte {
		dst = appendElement(append(dst, derVersion1...), cbasn1.SET, digest)
		dst = appendElement(dst, cbasn1.SEQUENCE, derData)
		dst = appendSetOf(dst, explicit(0), certs...)
		return wrap(dst, cbasn1.SET, func(dst []byte) []byte { return wrap(dst, cbasn1.SEQUENCE, signer) })
	}
	return wrap(make([]byte, 0, most), cbasn1.SEQUENCE, func(dst []byte) []byte {
		return wrap(append(dst, derSignedData...), explicit(0), func(dst []byte) []byte { return wrap(dst, cbasn1.SEQUENCE, signed) })
	})
}
