package conformance

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"strings"
	"testing"

	"example.com/quire/web/middleware/jwt"
)

// pair is a key that signs and the one that verifies, as our package takes them.
type pair struct {
	alg             string
	private, public any
}

func pairs(t *testing.T) []pair {
	t.Helper()
	secret := make([]byte, 64)
	_, _ = rand.Read(secret) // it never fails
	r, err := rsa.GenerateKey(rand.Reader, 2048)
	check(t, err)
	e, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	pub, ed, err := ed25519.GenerateKey(rand.Reader)
	check(t, err)
	return []pair{
		{"HS256", secret, secret},
		{"HS512", secret, secret},
		{"RS256", r, &r.PublicKey},
		{"PS256", r, &r.PublicKey},
		{"ES256", e, &e.PublicKey},
		{"EdDSA", ed, pub},
	}
}

// told is a token with its keys, as the scripts take them.
type told struct {
	Alg     string `json:"alg"`
	Token   string `json:"token"`
	Public  string `json:"public"`
	Private string `json:"private"`
}

// TestTokensBothWays: PyJWT and jose verify what we sign, and we verify what they sign; a token
// with another signature is refused by each.
func TestTokensBothWays(t *testing.T) {
	keys := pairs(t)
	var all []told
	for _, k := range keys {
		issuer, err := jwt.NewIssuer(jwt.IssuerOptions{Key: jwt.SigningKey{Algorithm: k.alg, Key: k.private}, Issuer: "quire", Audience: []string{"peers"}})
		check(t, err)
		token, err := issuer.Issue(jwt.Claims{Subject: "ada", Roles: []string{"till"}})
		check(t, err)
		all = append(all, told{k.alg, token, encoded(t, k.public), encoded(t, k.private)})
	}
	in := mustJSON(t, all)
	last := all[0].Token
	forged := strings.Replace(in, last, last[:len(last)-4]+"AAAA", 1)
	for _, script := range []string{"jwt_peer.py", "jwt_peer.mjs"} {
		t.Run(script, func(t *testing.T) {
			if _, err := ask(t, script, []byte(forged)); err == nil {
				t.Error("it takes a forged token")
			}
			out, err := ask(t, script, []byte(in))
			if err != nil {
				t.Fatal(err)
			}
			var theirs []told
			check(t, json.Unmarshal([]byte(out), &theirs))
			if len(theirs) != len(keys) {
				t.Fatalf("%d tokens, want %d", len(theirs), len(keys))
			}
			for i, k := range keys {
				v, err := jwt.NewVerifier(jwt.Options{Algorithms: []string{k.alg}, Keys: []jwt.Key{{Algorithm: k.alg, Key: k.public}}, Issuer: "peer", Audience: []string{"quire"}})
				check(t, err)
				c, err := v.Verify(t.Context(), theirs[i].Token)
				if err != nil || c.Subject != "grace" || len(c.Roles) != 1 || c.Roles[0] != "desk" {
					t.Errorf("%s: %+v, %v", k.alg, c, err)
				}
			}
		})
	}
}

// encoded is a key in PEM, a secret in base64.
func encoded(t *testing.T, key any) string {
	t.Helper()
	kind := "PUBLIC KEY"
	der, err := x509.MarshalPKIXPublicKey(key)
	switch key := key.(type) {
	case []byte:
		return base64.StdEncoding.EncodeToString(key)
	case *rsa.PrivateKey, *ecdsa.PrivateKey, ed25519.PrivateKey:
		kind = "PRIVATE KEY"
		der, err = x509.MarshalPKCS8PrivateKey(key)
	}
	check(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
