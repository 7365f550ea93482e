package jwt

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"fmt"

	"github.com/golang-jwt/jwt/v5"

	"example.com/quire/web"
)

// Key verifies tokens of one algorithm.
type Key struct {
	// ID is the key id (kid) by which tokens name it. It may be "" when it is the only key.
	ID string
	// Algorithm is one of HS256, HS384, HS512, RS256, RS384, RS512, PS256, PS384, PS512, ES256,
	// ES384, ES512 and EdDSA.
	Algorithm string
	// Key is a []byte of at least the hash's size for HS, an *rsa.PublicKey of at least 2048 bits
	// for RS and PS, an *ecdsa.PublicKey on the algorithm's curve for ES, an ed25519.PublicKey for
	// EdDSA.
	Key any
}

// SigningKey signs tokens. Its Key is a []byte, an *rsa.PrivateKey, an *ecdsa.PrivateKey or an
// ed25519.PrivateKey.
type SigningKey struct {
	ID        string
	Algorithm string
	Key       any
}

// keyNeeds tells the kind of an algorithm's keys and their size: the bytes of a secret, the least
// bits of an RSA key, the bits of a curve.
func keyNeeds(algorithm string) (kind string, size int, ok bool) {
	switch algorithm {
	case "HS256":
		return "HS", 32, true
	case "HS384":
		return "HS", 48, true
	case "HS512":
		return "HS", 64, true
	case "RS256", "RS384", "RS512", "PS256", "PS384", "PS512":
		return "RSA", 2048, true
	case "ES256":
		return "EC", 256, true
	case "ES384":
		return "EC", 384, true
	case "ES512":
		return "EC", 521, true
	case "EdDSA":
		return "Ed", 0, true
	}
	return "", 0, false
}

// checkKey judges a key of either kind: public ones and secrets as they are, private ones by their
// public half.
func checkKey(field, algorithm string, key any) error {
	kind, size, ok := keyNeeds(algorithm)
	if !ok {
		return &web.ConfigError{Field: field + ".Algorithm", Got: algorithm, Want: "HS, RS, PS or ES with 256, 384 or 512, or EdDSA"}
	}
	bad := func(want string) error {
		return &web.ConfigError{Field: field + ".Key", Got: describe(key), Want: want}
	}
	switch kind {
	case "HS":
		if b, ok := key.([]byte); !ok || len(b) < size {
			return bad(fmt.Sprintf("a []byte of at least %d bytes for %s", size, algorithm))
		}
	case "RSA":
		if k, ok := key.(*rsa.PublicKey); !ok || k == nil || k.N == nil || k.N.BitLen() < size {
			return bad(fmt.Sprintf("an RSA key of at least %d bits for %s", size, algorithm))
		}
	case "EC":
		if k, ok := key.(*ecdsa.PublicKey); !ok || k == nil || k.Curve == nil || k.Curve.Params().BitSize != size {
			return bad(fmt.Sprintf("an ECDSA key on the curve of %d bits for %s", size, algorithm))
		}
	default:
		if k, ok := key.(ed25519.PublicKey); !ok || len(k) != ed25519.PublicKeySize {
			return bad("an Ed25519 key for " + algorithm)
		}
	}
	return nil
}

// describe says what kind of key it is, never the key itself.
func describe(key any) string {
	switch k := key.(type) {
	case nil:
		return "nothing"
	case []byte:
		return fmt.Sprintf("a []byte of %d bytes", len(k))
	case *rsa.PublicKey:
		return "an RSA key"
	case *ecdsa.PublicKey:
		return "an ECDSA key"
	case ed25519.PublicKey:
		return "an Ed25519 key"
	case crypto.Signer:
		return "a private key"
	}
	return "a key of another kind"
}

// strict is the method as its standard has it: the salt of PS is as long as the hash (RFC 7518,
// section 3.5), where the library takes any.
func strict(m jwt.SigningMethod) jwt.SigningMethod {
	ps, ok := m.(*jwt.SigningMethodRSAPSS)
	if !ok {
		return m
	}
	return &jwt.SigningMethodRSAPSS{SigningMethodRSA: ps.SigningMethodRSA, Options: ps.Options, VerifyOptions: ps.Options}
}

// public returns the public half of a signing key, and a secret as it is.
func public(key any) any {
	switch k := key.(type) {
	case *rsa.PrivateKey:
		if k == nil {
			return nil
		}
		return &k.PublicKey
	case *ecdsa.PrivateKey:
		if k == nil {
			return nil
		}
		return &k.PublicKey
	case ed25519.PrivateKey:
		if len(k) != ed25519.PrivateKeySize {
			return nil
		}
		return k.Public()
	case []byte:
		return k
	}
	return nil
}
