package sign

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"slices"

	"software.sslmate.com/src/go-pkcs12"
)

// MostKeyBytes bounds a file of a key and its certificates.
const MostKeyBytes = 1 << 20

// ParseIdentity reads a key with its certificates from PEM or PKCS #12. In the identity, the
// certificate of the key comes first. password is the password of a PKCS #12 file; PEM is not
// encrypted.
//
// Errors are *IdentityError and never contain content of the file or the password.
func ParseIdentity(file, password []byte) (*Identity, error) {
	if len(file) > MostKeyBytes {
		return nil, &IdentityError{"a file of more than 1 MiB", "a key with its certificates"}
	}
	if !bytes.Contains(file, []byte("-----BEGIN ")) {
		return parsePKCS12(file, password)
	}
	i := &Identity{}
	for rest := file; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		switch block.Type {
		case "CERTIFICATE":
			c, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				return nil, &IdentityError{"a certificate that cannot be read", "X.509 as PEM"}
			}
			i.Chain = append(i.Chain, c)
		case "PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY":
			if i.Key != nil {
				return nil, &IdentityError{"two keys", "one"}
			}
			var err error
			if i.Key, err = parseKey(block); err != nil {
				return nil, err
			}
		case "ENCRYPTED PRIVATE KEY":
			return nil, &IdentityError{"an encrypted key as PEM", "a plain one, or PKCS #12 with its password"}
		}
	}
	if i.Key == nil {
		return nil, &IdentityError{"no key", "PEM with a private key, or PKCS #12"}
	}
	return i.ordered(), nil
}

// ParseCertificates reads certificates as PEM, one at least.
func ParseCertificates(file []byte) ([]*x509.Certificate, error) {
	var out []*x509.Certificate
	for len(out) <= mostCertificates {
		var block *pem.Block
		if block, file = pem.Decode(file); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, &IdentityError{"a certificate that cannot be read", "X.509 as PEM"}
		}
		out = append(out, c)
	}
	if len(out) == 0 || len(out) > mostCertificates {
		return nil, &IdentityError{"no certificates, or more than 64", "certificates as PEM"}
	}
	return out, nil
}

func parseKey(block *pem.Block) (crypto.Signer, error) {
	var key any
	var err error
	switch block.Type {
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	default:
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	}
	s, ok := key.(crypto.Signer)
	if err != nil || !ok {
		return nil, &IdentityError{"a private key that cannot be read", "RSA, ECDSA or Ed25519"}
	}
	return s, nil
}

func parsePKCS12(file, password []byte) (*Identity, error) {
	key, leaf, more, err := pkcs12.DecodeChain(file, string(password))
	if errors.Is(err, pkcs12.ErrIncorrectPassword) {
		return nil, &IdentityError{"a password that does not open the key", "that of the PKCS #12 file"}
	}
	if err != nil {
		return nil, &IdentityError{"neither PEM nor PKCS #12 that can be read", "a key with its certificate"}
	}
	s, ok := key.(crypto.Signer)
	if !ok {
		return nil, &IdentityError{"a private key that cannot be read", "RSA, ECDSA or Ed25519"}
	}
	return (&Identity{Key: s, Chain: append([]*x509.Certificate{leaf}, more...)}).ordered(), nil
}

// Add adds certificates to the chain, those that it lacks.
func (i *Identity) Add(certs ...*x509.Certificate) {
	i.Chain = append(i.Chain, certs...)
	i.ordered()
}

// ordered puts the certificate of the key first, and behind each the one that issued it; others go.
func (i *Identity) ordered() *Identity {
	from := i.Chain
	for _, c := range from {
		if i.Key != nil && isOf(i.Key.Public(), c) {
			i.Chain = chainOf(c, from)
			break
		}
	}
	return i // without one, Check says what is wrong
}

// chainOf returns a certificate, and behind each the one that issued it, of those that there are.
func chainOf(leaf *x509.Certificate, from []*x509.Certificate) []*x509.Certificate {
	chain := []*x509.Certificate{leaf}
	for len(chain) <= len(from) {
		last := chain[len(chain)-1]
		if bytes.Equal(last.RawIssuer, last.RawSubject) {
			break
		}
		at := slices.IndexFunc(from, func(c *x509.Certificate) bool {
			return bytes.Equal(c.RawSubject, last.RawIssuer) && last.CheckSignatureFrom(c) == nil
		})
		if at < 0 {
			break
		}
		chain = append(chain, from[at])
	}
	return chain
}
