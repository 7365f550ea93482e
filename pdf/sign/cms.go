package sign

import (
	"bytes"
	"crypto"
	"crypto/sha256"
	_ "crypto/sha512" // SHA-384 and SHA-512, which crypto.Hash knows when they are linked
	"crypto/x509"
	"encoding/asn1"
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
}{{oidSHA256, crypto.SHA256}, {oidSHA384, crypto.SHA384}, {oidSHA512, crypto.SHA512}, {oidSHA1, crypto.SHA1}}

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

// algorithm is an AlgorithmIdentifier.
type algorithm struct {
	oid    asn1.ObjectIdentifier
	null   bool   // its parameters are NULL
	params []byte // DER of others
}

func (a algorithm) add(b *cryptobyte.Builder) {
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(a.oid)
		if a.null {
			b.AddASN1NULL()
		}
		b.AddBytes(a.params)
	})
}

// pss is RSASSA-PSS with one hash function for all and a salt as long as its digest (RFC 4055,
// 3.1).
func pss(hash crypto.Hash) algorithm {
	inner := algorithm{oid: oidOf(hash)}
	params := der(func(b *cryptobyte.Builder) {
		b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddASN1(explicit(0), inner.add)
			b.AddASN1(explicit(1), algorithm{oid: oidMGF1, params: der(inner.add)}.add)
			b.AddASN1(explicit(2), func(b *cryptobyte.Builder) { b.AddASN1Int64(int64(hash.Size())) })
		})
	})
	return algorithm{oid: oidPSS, params: params}
}

// explicit is a constructed tag of the context.
func explicit(n uint8) cbasn1.Tag { return cbasn1.Tag(n).ContextSpecific().Constructed() }

// der returns what f writes.
func der(f func(*cryptobyte.Builder)) []byte { return derIn(nil, f) }

// derIn is der in memory that is given, as long as it is enough.
func derIn(memory []byte, f func(*cryptobyte.Builder)) []byte {
	b := cryptobyte.NewBuilder(memory[:0])
	f(b)
	return b.BytesOrPanic() // only what is written here, which has no lengths that cannot be
}

// setOf writes a SET OF: in DER its members stand in the order of their bytes (X.690, 11.6).
func setOf(b *cryptobyte.Builder, tag cbasn1.Tag, members ...[]byte) {
	slices.SortFunc(members, bytes.Compare)
	b.AddASN1(tag, func(b *cryptobyte.Builder) {
		for _, m := range members {
			b.AddBytes(m)
		}
	})
}

// attribute is an Attribute with one value.
func attribute(oid asn1.ObjectIdentifier, value func(*cryptobyte.Builder)) []byte {
	return der(func(b *cryptobyte.Builder) {
		b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddASN1ObjectIdentifier(oid)
			b.AddASN1(cbasn1.SET, value)
		})
	})
}

// issuerAndSerial names a certificate (RFC 5652, 10.2.4).
func issuerAndSerial(b *cryptobyte.Builder, c *x509.Certificate) {
	b.AddBytes(c.RawIssuer)
	b.AddASN1BigInt(c.SerialNumber)
}

// signedAttributes returns the SET OF attributes of a PAdES signature (ETSI EN 319 142-1, 6.3): the
// type of the content, its digest, and which certificate signs. There is no signing time: it stands
// in the file, or in a timestamp.
func signedAttributes(cert *x509.Certificate, digest []byte) []byte {
	sum := sha256.Sum256(cert.Raw)
	return derIn(make([]byte, 0, 256+len(cert.RawIssuer)), func(b *cryptobyte.Builder) {
		setOf(
			b, cbasn1.SET,
			attribute(oidContentType, func(b *cryptobyte.Builder) { b.AddASN1ObjectIdentifier(oidData) }),
			attribute(oidMessageDigest, func(b *cryptobyte.Builder) { b.AddASN1OctetString(digest) }),
			// RFC 5035, 3: SigningCertificateV2, certs, ESSCertIDv2, whose default hash is SHA-256.
			attribute(oidSigningCertV2, func(b *cryptobyte.Builder) {
				b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
					b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
						b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
							b.AddASN1OctetString(sum[:])
							b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
								b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) { // GeneralNames
									b.AddASN1(explicit(4), func(b *cryptobyte.Builder) {
										b.AddBytes(cert.RawIssuer)
									})
								})
								b.AddASN1BigInt(cert.SerialNumber)
							})
						})
					})
				})
			}),
		)
	})
}

// encode writes the ContentInfo with the SignedData (RFC 5652, 3 and 5.1). token may be nil.
func (d *Draft) encode(signature, token []byte) []byte {
	digestAlg := algorithm{oid: oidOf(d.scheme.hash)}
	leaf := d.identity.Chain[0]
	certs := make([][]byte, len(d.identity.Chain))
	room := len(d.attrs) + len(signature) + len(token) + len(leaf.RawIssuer) + 512
	for i, c := range d.identity.Chain {
		certs[i] = c.Raw
		room += len(c.Raw)
	}
	// Within SignerInfo the SET of the attributes has another tag (5.4).
	var attrs cryptobyte.String
	outer := cryptobyte.String(d.attrs)
	outer.ReadASN1(&attrs, cbasn1.SET)
	return derIn(make([]byte, 0, room), func(b *cryptobyte.Builder) {
		b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddASN1ObjectIdentifier(oidSignedData)
			b.AddASN1(explicit(0), func(b *cryptobyte.Builder) {
				b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
					b.AddASN1Int64(1)
					b.AddASN1(cbasn1.SET, digestAlg.add)
					b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) { b.AddASN1ObjectIdentifier(oidData) })
					setOf(b, explicit(0), certs...)
					b.AddASN1(cbasn1.SET, func(b *cryptobyte.Builder) {
						b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
							b.AddASN1Int64(1)
							b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) { issuerAndSerial(b, leaf) })
							digestAlg.add(b)
							b.AddASN1(explicit(0), func(b *cryptobyte.Builder) { b.AddBytes(attrs) })
							d.scheme.alg.add(b)
							b.AddASN1OctetString(signature)
							if token != nil {
								setOf(b, explicit(1), attribute(oidTimestamp, func(b *cryptobyte.Builder) { b.AddBytes(token) }))
							}
						})
					})
				})
			})
		})
	})
}
