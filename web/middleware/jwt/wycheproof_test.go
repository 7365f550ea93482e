package jwt_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"

	"example.com/quire/internal/judgetest"
	"example.com/quire/web/middleware/jwt"
)

// wycheproofOtherwise are vectors that we judge otherwise, by their numbers.
var wycheproofOtherwise = map[int]bool{
	346: false, 350: false, // the header names PS384, the key is for PS256
	367: true, 370: true, // named after a padding that is not there: the token is whole
	372: false, 373: false, // a character that base64url does not have is no white space to skip
}

// TestWycheproof: the vectors of Project Wycheproof for signatures of JSON (RFC 7515). Their
// payloads are no claims, so that a Verifier refuses them all, whatever was made of them; whether a
// signature is good is told by the methods that it calls, over keys that it takes.
func TestWycheproof(t *testing.T) {
	text, err := os.ReadFile(judgetest.Tool(t, "wycheproof", "wycheproof/json_web_signature_test.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Comment         string
			Public, Private jwk
			Tests           []struct {
				ID          int `json:"tcId"`
				Comment     string
				JWS, Result string
				Flags       []string
			}
		} `json:"testGroups"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	run, good, failed := 0, 0, 0
	for _, g := range file.Groups {
		j := g.Public
		if j.Kty == "" {
			j = g.Private
		}
		// A Verifier is given keys, not JWKs, so what a JWK says of its use is the program's to
		// heed.
		if j.Use == "enc" || strings.Contains(strings.Join(j.Ops, " "), "encrypt") {
			continue
		}
		v, err := jwt.NewVerifier(jwt.Options{Algorithms: []string{j.Alg}, Keys: []jwt.Key{{Algorithm: j.Alg, Key: j.key(t)}}})
		if err != nil {
			t.Logf("%s of %s: not taken: %v", j.Alg, g.Comment, err)
			continue
		}
		for _, c := range g.Tests {
			run++
			want := c.Result == "valid"
			if other, ok := wycheproofOtherwise[c.ID]; ok {
				want = other
			}
			if _, err := v.Verify(t.Context(), c.JWS); !errors.Is(err, jwt.ErrInvalid) {
				t.Errorf("%d %s: %v", c.ID, c.Comment, err)
			}
			got := signed(c.JWS, j.Alg, j.key(t))
			if (got == nil) != want {
				failed++
				t.Errorf("%d %s is %s (%s): %v", c.ID, c.Comment, c.Result, c.Flags, got)
			}
			if want {
				good++
			}
		}
	}
	_, _ = fmt.Fprintf(os.Stdout, "wycheproof %d run, %d failed\n", run, failed) // at the beginning of a line, for `make judges-web`
	if run < 300 || good < 30 {
		t.Errorf("%d vectors, %d of them valid", run, good)
	}
}

// signed judges the signature of a token in compact form: an error tells why it is not of the
// algorithm and key.
func signed(token, alg string, key any) error {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return fmt.Errorf("%d parts", len(parts))
	}
	strict := base64.RawURLEncoding.Strict()
	head, err := strict.DecodeString(parts[0])
	if err != nil {
		return err
	}
	var header map[string]any
	if err := json.Unmarshal(head, &header); err != nil {
		return err
	}
	if header["alg"] != alg || header["crit"] != nil {
		return fmt.Errorf("header %s", head)
	}
	if _, err := strict.DecodeString(parts[1]); err != nil {
		return err
	}
	sig, err := strict.DecodeString(parts[2])
	if err != nil {
		return err
	}
	return jwt.Method(alg).Verify(parts[0]+"."+parts[1], sig, key)
}

// jwk is a key as JSON (RFC 7517).
type jwk struct {
	Kty, Alg, Use, Crv string
	Ops                []string `json:"key_ops"`
	K, N, E, X, Y      string
}

func (j jwk) key(t *testing.T) any {
	t.Helper()
	raw := func(s string) []byte {
		b, err := base64.RawURLEncoding.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	number := func(s string) *big.Int { return new(big.Int).SetBytes(raw(s)) }
	switch j.Kty {
	case "oct":
		return raw(j.K)
	case "RSA":
		return &rsa.PublicKey{N: number(j.N), E: int(number(j.E).Int64())}
	case "EC":
		curve := map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521()}[j.Crv]
		size := (curve.Params().BitSize + 7) / 8
		point := append([]byte{4}, number(j.X).FillBytes(make([]byte, size))...)
		k, err := ecdsa.ParseUncompressedPublicKey(curve, append(point, number(j.Y).FillBytes(make([]byte, size))...))
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	t.Fatalf("a key of the kind %q", j.Kty)
	return nil
}
