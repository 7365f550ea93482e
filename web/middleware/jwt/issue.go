package jwt

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"example.com/quire/web"
)

// IssuerOptions configure an Issuer.
type IssuerOptions struct {
	Key      SigningKey
	Issuer   string        // the claim iss; "" for none
	Audience []string      // the claim aud, unless the Claims have one
	Life     time.Duration // of a token. Default: 15 min. Danger: so long nobody can take it back
	Now      func() time.Time
}

// Issuer signs tokens. It is safe for concurrent use.
type Issuer struct {
	o      IssuerOptions
	method jwt.SigningMethod
}

// NewIssuer makes an Issuer, or tells what is wrong with the key.
func NewIssuer(o IssuerOptions) (*Issuer, error) {
	half := public(o.Key.Key)
	if err := checkKey("IssuerOptions.Key", o.Key.Algorithm, half); err != nil {
		return nil, err
	}
	if o.Life <= 0 {
		o.Life = 15 * time.Minute
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Issuer{o, jwt.GetSigningMethod(o.Key.Algorithm)}, nil
}

// Issue signs a token of the claims. Issuer, Audience, IssuedAt, Expires and ID are filled in
// where they are empty. An Extra may not be a claim that Claims has a field for.
func (i *Issuer) Issue(c Claims) (string, error) {
	now := i.o.Now()
	raw := jwt.MapClaims{}
	for name, value := range c.Extra {
		switch name {
		case "iss", "sub", "aud", "exp", "nbf", "iat", "jti", "roles":
			return "", fmt.Errorf("jwt: issue: Extra has %q, which has a field of its own", name)
		}
		raw[name] = value
	}
	text := func(name, value string) {
		if value != "" {
			raw[name] = value
		}
	}
	at := func(name string, t, otherwise time.Time) {
		if t.IsZero() {
			t = otherwise
		}
		if !t.IsZero() {
			raw[name] = t.Unix()
		}
	}
	c.Issuer = cmp.Or(c.Issuer, i.o.Issuer)
	if len(c.Audience) == 0 {
		c.Audience = i.o.Audience
	}
	if c.ID == "" {
		c.ID = rand.Text()
	}
	text("iss", c.Issuer)
	text("sub", c.Subject)
	text("jti", c.ID)
	if len(c.Audience) > 0 {
		raw["aud"] = c.Audience
	}
	if len(c.Roles) > 0 {
		raw["roles"] = c.Roles
	}
	at("iat", c.IssuedAt, now)
	at("exp", c.Expires, now.Add(i.o.Life))
	at("nbf", c.NotBefore, time.Time{})
	t := jwt.NewWithClaims(i.method, raw)
	if i.o.Key.ID != "" {
		t.Header["kid"] = i.o.Key.ID
	}
	s, err := t.SignedString(i.o.Key.Key)
	if err != nil {
		return "", fmt.Errorf("jwt: issue: %w", err)
	}
	if len(s) > maxToken {
		return "", fmt.Errorf("jwt: issue: the token has %d bytes, and no verifier takes more than %d", len(s), maxToken)
	}
	return s, nil
}

// Family is what followed from one sign-in. Of its refresh tokens one is good: that of the hash.
type Family struct {
	ID      string
	Subject string
	Hash    [32]byte
	Expires time.Time // no token of the family lives longer, however often it is rotated
}

// FamilyStore keeps families. A store that forgets them signs everybody out; one that is read
// from an older copy takes tokens that were used. Its methods are called concurrently.
type FamilyStore interface {
	Create(ctx context.Context, f Family) error
	// Rotate puts next in place of old, in one step, and returns the family. When its hash is not
	// old, nothing is changed and swapped is false. A family that is not there is ErrNoFamily.
	Rotate(ctx context.Context, id string, old, next [32]byte) (f Family, swapped bool, err error)
	// Revoke removes the family; one that is not there is no error.
	Revoke(ctx context.Context, id string) error
}

// RefreshOptions configure a Refresher.
type RefreshOptions struct {
	Issuer *Issuer
	// Claims are read afresh for each access token, so that roles taken away are gone with the
	// next one. ErrSubjectGone revokes the family; after another error the refresh token is good
	// again.
	Claims func(ctx context.Context, subject string) (Claims, error)
	// Life of a family. Default: 30 days.
	Life time.Duration
	// OnReuse is told of each family that was revoked because a token came twice. Default: the
	// error of Rotate is all.
	OnReuse func(ctx context.Context, f Family)
}

// Pair is what a client gets.
type Pair struct {
	Access         string    `json:"access_token"`
	Refresh        string    `json:"refresh_token"`
	RefreshExpires time.Time `json:"refresh_expires"`
}

// Refresher starts families and rotates their tokens. It is safe for concurrent use.
type Refresher struct {
	store FamilyStore
	o     RefreshOptions
}

// NewRefresher makes a Refresher.
func NewRefresher(store FamilyStore, o RefreshOptions) (*Refresher, error) {
	var bad []error
	for name, missing := range map[string]bool{"store": store == nil, "RefreshOptions.Issuer": o.Issuer == nil, "RefreshOptions.Claims": o.Claims == nil} {
		if missing {
			bad = append(bad, &web.ConfigError{Field: name, Got: nil, Want: "one: it has no default"})
		}
	}
	if len(bad) > 0 {
		return nil, errors.Join(bad...)
	}
	if o.Life <= 0 {
		o.Life = 30 * 24 * time.Hour
	}
	return &Refresher{store, o}, nil
}

// Start begins a family, after a sign-in.
func (r *Refresher) Start(ctx context.Context, subject string) (Pair, error) {
	f := Family{ID: rand.Text(), Subject: subject, Expires: r.o.Issuer.o.Now().Add(r.o.Life)}
	var token string
	token, f.Hash = newToken(f.ID)
	access, err := r.access(ctx, subject)
	if err != nil {
		return Pair{}, err
	}
	if err := r.store.Create(ctx, f); err != nil {
		return Pair{}, fmt.Errorf("jwt: keep family: %w", err)
	}
	return Pair{access, token, f.Expires}, nil
}

// Rotate takes a refresh token and gives a new pair. A token is good once: when it comes again,
// or two requests have it at once, the family is revoked and the error is ErrRefreshReused. A
// client that lost an answer has to sign in again.
func (r *Refresher) Rotate(ctx context.Context, opaque string) (Pair, error) {
	id, _, ok := strings.Cut(opaque, ".")
	if !ok || len(opaque) > maxRefresh {
		return Pair{}, ErrRefreshInvalid
	}
	old := sha256.Sum256([]byte(opaque))
	token, next := newToken(id)
	f, swapped, err := r.store.Rotate(ctx, id, old, next)
	switch {
	case errors.Is(err, ErrNoFamily):
		return Pair{}, ErrRefreshInvalid
	case err != nil:
		return Pair{}, fmt.Errorf("jwt: rotate: %w", err)
	case !r.o.Issuer.o.Now().Before(f.Expires):
		return Pair{}, errors.Join(ErrRefreshExpired, r.store.Revoke(ctx, id))
	case !swapped:
		// Whoever has it, thief or owner, goes on by no other token either.
		err := r.store.Revoke(context.WithoutCancel(ctx), id)
		if r.o.OnReuse != nil {
			r.o.OnReuse(ctx, f)
		}
		return Pair{}, errors.Join(ErrRefreshReused, err)
	}
	access, err := r.access(ctx, f.Subject)
	switch {
	case errors.Is(err, ErrSubjectGone):
		return Pair{}, errors.Join(err, r.store.Revoke(ctx, id))
	case err != nil:
		// Nobody has the new token: the old one is made good again, so that the client can retry.
		_, _, back := r.store.Rotate(context.WithoutCancel(ctx), id, next, old)
		return Pair{}, errors.Join(err, back)
	}
	return Pair{access, token, f.Expires}, nil
}

// Revoke ends the family of a refresh token, at sign-out. A token that is not good is no error.
func (r *Refresher) Revoke(ctx context.Context, opaque string) error {
	id, _, ok := strings.Cut(opaque, ".")
	if !ok || len(opaque) > maxRefresh {
		return nil
	}
	old := sha256.Sum256([]byte(opaque))
	_, swapped, err := r.store.Rotate(ctx, id, old, old)
	if errors.Is(err, ErrNoFamily) || err == nil && !swapped {
		return nil
	}
	if err == nil {
		err = r.store.Revoke(ctx, id)
	}
	if err != nil {
		return fmt.Errorf("jwt: revoke: %w", err)
	}
	return nil
}

func (r *Refresher) access(ctx context.Context, subject string) (string, error) {
	c, err := r.o.Claims(ctx, subject)
	if err != nil {
		return "", fmt.Errorf("jwt: claims of the subject: %w", err)
	}
	c.Subject = cmp.Or(c.Subject, subject)
	return r.o.Issuer.Issue(c)
}

// maxRefresh is longer than any refresh token.
const maxRefresh = 256

// newToken makes a refresh token of a family and its hash. It is random, so a plain hash is as
// good as a slow one.
func newToken(id string) (token string, hash [32]byte) {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // it never fails
	token = id + "." + base64.RawURLEncoding.EncodeToString(secret[:])
	return token, sha256.Sum256([]byte(token))
}

// MemoryFamilies is a FamilyStore of one process: what it holds ends with it. It is safe for
// concurrent use.
type MemoryFamilies struct {
	mu    sync.Mutex
	max   int
	all   map[string]Family
	order []string // ids as they were created; some may be gone
}

// NewMemoryFamilies makes a store of at most n families, of which the oldest make room; n <= 0
// means 65,536.
func NewMemoryFamilies(n int) *MemoryFamilies {
	if n <= 0 {
		n = 65_536
	}
	return &MemoryFamilies{max: n, all: map[string]Family{}}
}

// Create implements FamilyStore.
func (m *MemoryFamilies) Create(_ context.Context, f Family) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.all) >= m.max && len(m.order) > 0 {
		delete(m.all, m.order[0])
		m.order = m.order[1:]
	}
	if len(m.order) >= 2*m.max { // mostly ids that are gone
		kept := make([]string, 0, len(m.all)+1)
		for _, id := range m.order {
			if _, ok := m.all[id]; ok {
				kept = append(kept, id)
			}
		}
		m.order = kept
	}
	m.all[f.ID] = f
	m.order = append(m.order, f.ID)
	return nil
}

// Rotate implements FamilyStore.
func (m *MemoryFamilies) Rotate(_ context.Context, id string, old, next [32]byte) (Family, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, ok := m.all[id]
	if !ok {
		return Family{}, false, ErrNoFamily
	}
	if f.Hash != old {
		return f, false, nil
	}
	f.Hash = next
	m.all[id] = f
	return f, true, nil
}

// Revoke implements FamilyStore.
func (m *MemoryFamilies) Revoke(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, id)
	return nil
}
