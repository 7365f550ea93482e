// Package jwt verifies and issues JSON Web Tokens (RFC 7519, used as RFC 8725 advises) and
// rotates refresh tokens.
//
//	verifier, err := jwt.NewVerifier(jwt.Options{
//		Algorithms: []string{"EdDSA"},
//		Keys:       []jwt.Key{{ID: "2026", Algorithm: "EdDSA", Key: public}},
//		Issuer:     "https://shop.example",
//	})
//	api := app.Group("/api", verifier.Middleware())
//	api.DELETE("/users/{id}", remove, ...) // behind jwt.RequireRole("admin")
//
// An access token lives for minutes and is checked without asking anybody, so it cannot be taken
// back. A refresh token is opaque, lives for days and is good for one use: Refresher.Rotate gives
// a new pair for it. One that comes twice was stolen, or stolen from: the whole family, which is
// all that followed from one sign-in, ends then.
//
// A key has one algorithm, and the algorithm of a token only ever has to equal it: a token cannot
// have a public key be taken for the secret of an HMAC.
package jwt

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"example.com/quire/web"
)

// Errors of tokens. To errors.Is they are web.ErrUnauthorized: a handler may return them. What is
// wrong with a token is for the log, never for the client.
var (
	ErrNoToken        = fmt.Errorf("jwt: no token: %w", web.ErrUnauthorized)
	ErrInvalid        = fmt.Errorf("jwt: invalid token: %w", web.ErrUnauthorized)
	ErrExpired        = fmt.Errorf("jwt: token has expired: %w", web.ErrUnauthorized)
	ErrRefreshInvalid = fmt.Errorf("jwt: invalid refresh token: %w", web.ErrUnauthorized)
	ErrRefreshExpired = fmt.Errorf("jwt: refresh token has expired: %w", web.ErrUnauthorized)
	// ErrRefreshReused tells that a refresh token came a second time. Its family has been revoked.
	ErrRefreshReused = fmt.Errorf("jwt: refresh token was used before, its family is revoked: %w", web.ErrUnauthorized)
	// ErrSubjectGone is for RefreshOptions.Claims: the subject may not go on, and the family is
	// revoked.
	ErrSubjectGone = fmt.Errorf("jwt: the subject may not go on: %w", web.ErrUnauthorized)
	// ErrNoFamily is what a FamilyStore returns for a family that it does not have.
	ErrNoFamily = errors.New("jwt: no such family")
)

// Claims are what a token says (RFC 7519, section 4.1). Times are to the second.
type Claims struct {
	Issuer    string
	Subject   string
	Audience  []string
	Expires   time.Time
	NotBefore time.Time
	IssuedAt  time.Time
	ID        string
	Roles     []string       // the claim "roles"
	Extra     map[string]any // all others; numbers are json.Number when they were read
}

// HasRole reports whether the claims have the role.
func (c Claims) HasRole(role string) bool {
	return slices.Contains(c.Roles, role)
}
