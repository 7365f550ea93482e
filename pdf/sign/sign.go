// Package sign creates and reads the signatures of PDF files: CMS signed data (RFC 5652) with the
// attributes of PAdES baseline signatures (ETSI EN 319 142-1), and timestamps (RFC 3161). It does
// not depend on PDF: package pdf inserts the signatures into files and finds them there.
//
// A signature without a timestamp has level B-B, one with a timestamp B-T. Keys may be RSA from
// 2,048 bits (PKCS #1 v1.5, or PSS), ECDSA on P-256, P-384 and P-521, and Ed25519.
package sign

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Identity is a signer. It is safe for concurrent use if its Key is.
type Identity struct {
	// Key signs. It may be an external key, in a token or a service. nil: the signature is made in
	// two steps, by the holder of the key.
	Key crypto.Signer
	// Chain has the certificate of the key first, then those that issued it; the root may be left
	// out.
	Chain []*x509.Certificate
	// PSS signs by RSASSA-PSS; false: by PKCS #1 v1.5. It is for RSA keys.
	PSS bool
	// TSA adds a timestamp to each signature, which makes it level B-T; nil: B-B.
	TSA Timestamper
}

// Timestamper gives timestamps. It is safe for concurrent use.
type Timestamper interface {
	// Timestamp returns the DER of a time-stamp token (RFC 3161) for a digest.
	Timestamp(ctx context.Context, hash crypto.Hash, digest []byte) ([]byte, error)
	// MostBytes is how long a token may be: a signature keeps room for it.
	MostBytes() int
}

// IdentityError says why an identity cannot sign.
type IdentityError struct{ Got, Want string }

// Error implements error.
func (e *IdentityError) Error() string { return "sign: identity: got " + e.Got + ", want " + e.Want }

// Check returns an *IdentityError if the identity cannot sign at a time: its key does not match its
// certificate or is too weak, the certificate has another purpose, or a certificate of the chain is
// not valid then.
func (i *Identity) Check(at time.Time) error {
	if err := i.CheckKey(at); err != nil {
		return err
	}
	return i.CheckChain()
}

// CheckKey is Check without CheckChain.
func (i *Identity) CheckKey(at time.Time) error {
	if len(i.Chain) == 0 {
		return &IdentityError{"no certificate", "the certificate of the key"}
	}
	leaf := i.Chain[0]
	if _, err := i.usable(); err != nil {
		return err
	}
	if i.Key != nil && !isOf(i.Key.Public(), leaf) {
		return &IdentityError{"a key that is not that of the certificate of " + subject(leaf), "the key and its certificate"}
	}
	if !MaySign(leaf) {
		return &IdentityError{"a certificate of " + subject(leaf) + " whose key usage does not allow signatures", "one for digitalSignature or contentCommitment"}
	}
	for _, c := range i.Chain {
		if at.Before(c.NotBefore) || at.After(c.NotAfter) {
			return &IdentityError{
				fmt.Sprintf("a certificate of %s that is valid from %s to %s", subject(c), c.NotBefore.Format(time.DateOnly), c.NotAfter.Format(time.DateOnly)),
				"one that is valid on " + at.UTC().Format(time.DateOnly),
			}
		}
	}
	return nil
}

// isOf reports whether a public key is that of a certificate.
func isOf(public crypto.PublicKey, c *x509.Certificate) bool {
	a, isECDSA := public.(*ecdsa.PublicKey)
	b, both := c.PublicKey.(*ecdsa.PublicKey)
	if isECDSA && both { // Equal copies each coordinate
		return a.Curve == b.Curve && a.X.Cmp(b.X) == 0 && a.Y.Cmp(b.Y) == 0 //nolint:staticcheck // SA1019: they are not changed, and no secret
	}
	own, ok := public.(interface{ Equal(crypto.PublicKey) bool })
	return ok && own.Equal(c.PublicKey)
}

// CheckChain returns an *IdentityError when a certificate of the chain did not issue the one before
// it. That depends on the bytes of the certificates alone, and takes longer than signing does.
func (i *Identity) CheckChain() error {
	for k := 1; k < len(i.Chain); k++ {
		if err := i.Chain[k-1].CheckSignatureFrom(i.Chain[k]); err != nil {
			return &IdentityError{"a chain where " + subject(i.Chain[k]) + " did not issue the certificate before", "each certificate behind the one that it issued"}
		}
	}
	return nil
}

// Deterministic reports whether the identity signs the same bytes alike each time: RSASSA-PSS has a
// random salt, timestamps are new each time, and of ECDSA only keys of the standard library are
// known to need no randomness (RFC 6979).
func (i *Identity) Deterministic() bool {
	if i.PSS || i.TSA != nil || len(i.Chain) == 0 {
		return false
	}
	if _, ok := i.Chain[0].PublicKey.(*ecdsa.PublicKey); ok {
		_, own := i.Key.(*ecdsa.PrivateKey)
		return own
	}
	return true
}

// subject names the subject of a certificate.
func subject(c *x509.Certificate) string {
	if c.Subject.CommonName != "" {
		return c.Subject.CommonName
	}
	return c.Subject.String()
}

// MaySign reports whether the key usage of a certificate allows signatures on documents; one
// without that extension is for everything (RFC 5280, 4.2.1.3).
func MaySign(c *x509.Certificate) bool {
	return c.KeyUsage == 0 || c.KeyUsage&(x509.KeyUsageDigitalSignature|x509.KeyUsageContentCommitment) != 0
}

// scheme is how a key signs.
type scheme struct {
	hash crypto.Hash // of the content, and of the attributes unless pure
	alg  algorithm
	opts crypto.SignerOpts
	pure bool // the attributes themselves are signed (RFC 8419)
	most int  // longest signature
}

// leastRSA is how long an RSA key must be.
const leastRSA = 2048

// usable is scheme for a chain that a signature can name, which it does by the bytes of
// certificates.
func (i *Identity) usable() (scheme, error) {
	s, err := i.scheme()
	if err == nil && slices.ContainsFunc(i.Chain, func(c *x509.Certificate) bool { return len(c.Raw) == 0 }) {
		err = &IdentityError{"a certificate that was not parsed", "those of x509.ParseCertificate"}
	}
	return s, err
}

func (i *Identity) scheme() (scheme, error) {
	switch k := i.Chain[0].PublicKey.(type) {
	case *rsa.PublicKey:
		if k.N.BitLen() < leastRSA {
			return scheme{}, &IdentityError{fmt.Sprintf("an RSA key of %d bits", k.N.BitLen()), "2048 bits or more"}
		}
		if i.PSS {
			return scheme{
				hash: crypto.SHA256, alg: signPSS, most: k.Size(),
				opts: &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: crypto.SHA256},
			}, nil
		}
		return scheme{hash: crypto.SHA256, alg: signRSA, opts: crypto.SHA256, most: k.Size()}, nil
	case *ecdsa.PublicKey:
		// A signature is a sequence of two integers, each with a byte before it where the highest
		// bit is set.
		switch k.Curve {
		case elliptic.P256():
			return scheme{hash: crypto.SHA256, alg: signECDSA256, opts: crypto.SHA256, most: 72}, nil
		case elliptic.P384():
			return scheme{hash: crypto.SHA384, alg: signECDSA384, opts: crypto.SHA384, most: 104}, nil
		case elliptic.P521():
			return scheme{hash: crypto.SHA512, alg: signECDSA512, opts: crypto.SHA512, most: 139}, nil
		}
	case ed25519.PublicKey:
		return scheme{hash: crypto.SHA512, alg: signEd25519, opts: crypto.Hash(0), pure: true, most: ed25519.SignatureSize}, nil
	}
	return scheme{}, &IdentityError{fmt.Sprintf("a key of the type %T", i.Chain[0].PublicKey), "RSA, ECDSA on P-256, P-384 or P-521, or Ed25519"}
}

// Hash returns the function that the signed content is hashed with. Check must have found nothing.
func (i *Identity) Hash() crypto.Hash {
	s, _ := i.scheme() // Check has asked it
	return s.hash
}

// Draft is an unsigned signature: only the signature by the key is missing.
type Draft struct {
	identity *Identity
	scheme   scheme
	attrs    []byte // the signed attributes, as DER of a SET OF
	own      []byte // what a key of the standard library made of them; nil: it is not known
}

// Begin makes the signed attributes for content with the given digest, by Identity.Hash.
func (i *Identity) Begin(digest []byte) (*Draft, error) {
	s, err := i.usable()
	if err != nil {
		return nil, err
	}
	if len(digest) != s.hash.Size() {
		return nil, fmt.Errorf("sign: a digest of %d bytes, want %d", len(digest), s.hash.Size())
	}
	return &Draft{identity: i, scheme: s, attrs: signedAttributes(i.Chain[0], digest)}, nil
}

// Message returns the bytes that the key signs: the signed attributes, as DER. They are hashed with
// Identity.Hash first, but for Ed25519.
func (d *Draft) Message() []byte { return bytes.Clone(d.attrs) }

// Digest returns the hash of Message, nil for Ed25519.
func (d *Draft) Digest() []byte {
	if d.scheme.pure {
		return nil
	}
	if d.scheme.hash == crypto.SHA256 {
		sum := sha256.Sum256(d.attrs)
		return sum[:]
	}
	h := d.scheme.hash.New()
	h.Write(d.attrs)
	return h.Sum(nil)
}

// Sign signs with the key of the identity. ECDSA is deterministic (RFC 6979) for keys of the
// standard library.
func (d *Draft) Sign() ([]byte, error) {
	if d.identity.Key == nil {
		return nil, &IdentityError{"no key", "a key, or the two steps of Begin and Finish"}
	}
	message := d.Digest()
	if d.scheme.pure {
		message = d.attrs
	}
	random := rand.Reader
	if k, ok := d.identity.Key.(*ecdsa.PrivateKey); ok && k != nil {
		random = nil // which asks for the nonce of RFC 6979
	}
	b, err := d.identity.Key.Sign(random, message, d.scheme.opts)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	switch k := d.identity.Key.(type) {
	case *ecdsa.PrivateKey, *rsa.PrivateKey, ed25519.PrivateKey:
		if isOf(k.Public(), d.identity.Chain[0]) {
			d.own = b
		}
	}
	return b, nil
}

// Finish returns the DER of the signature, from the result of signing Message with the key. A
// signature that does not verify with the certificate is an error, and so is a timestamp that
// cannot be obtained. A signature that Sign made with a key of the standard library, which is the
// certificate's key, is not verified, because that takes longer than signing.
func (d *Draft) Finish(ctx context.Context, signature []byte) ([]byte, error) {
	if d.own != nil && bytes.Equal(d.own, signature) {
		return d.finish(ctx, signature)
	}
	if err := verifySignature(d.identity.Chain[0].PublicKey, d.scheme.alg, d.scheme.hash, d.attrs, signature); err != nil {
		return nil, fmt.Errorf("sign: the signature is not one of the key of the certificate: %w", err)
	}
	return d.finish(ctx, signature)
}

func (d *Draft) finish(ctx context.Context, signature []byte) ([]byte, error) {
	var token []byte
	if tsa := d.identity.TSA; tsa != nil {
		h := crypto.SHA256.New()
		h.Write(signature)
		digest := h.Sum(nil)
		var err error
		if token, err = tsa.Timestamp(ctx, crypto.SHA256, digest); err != nil {
			return nil, fmt.Errorf("sign: timestamp: %w", err)
		}
		if _, err := ParseToken(token, crypto.SHA256, digest); err != nil {
			return nil, fmt.Errorf("sign: timestamp: %w", err)
		}
	}
	return d.encode(signature, token), nil
}

// MostBytes returns how long the DER of a signature may be.
func (i *Identity) MostBytes() (int, error) {
	s, err := i.scheme()
	if err != nil {
		return 0, err
	}
	d := &Draft{identity: i, scheme: s, attrs: signedAttributes(i.Chain[0], make([]byte, s.hash.Size()))}
	n := len(d.encode(make([]byte, s.most), nil))
	if i.TSA != nil {
		n += i.TSA.MostBytes() + 64 // the attribute around it, and longer lengths
	}
	return n, nil
}

// ErrMalformed is the error, for errors.Is, for data that is not a CMS signature or a timestamp.
var ErrMalformed = errors.New("malformed")
