package jwt

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/golang-jwt/jwt/v5"

	"example.com/quire/web"
)

// Options configure a Verifier.
type Options struct {
	// Algorithms that are taken, all others are refused. There is no default.
	Algorithms []string
	// Keys that are known from the start.
	Keys []Key
	// Lookup finds a key by its id, when Keys has none: from a document of keys that another
	// server publishes. It is called for every token that names an unknown key, so it has to keep
	// what it found, and what it did not. ErrInvalid refuses the token; any other error is the
	// server's fault, 500. Default: none.
	Lookup func(ctx context.Context, kid string) (Key, error)
	// Issuer that tokens must have. Default: any. Danger: a key that another issuer has too then
	// makes its tokens good here.
	Issuer string
	// Audience, of which tokens must have one. Default: any. Danger: as with Issuer, for tokens
	// meant for another service.
	Audience []string
	// Required claims, beside exp, which always is.
	Required []string
	// Cookie is the name of a cookie that may carry the token where there is no Authorization.
	// Default: none. Cookies go with every request of the browser: see Options.CrossOrigin of web.
	Cookie string
	// Query is the name of a query key that may carry the token. Default: none. Danger: addresses
	// stand in logs, histories and Referer fields.
	Query string
	// Realm of the challenge. Default: "api".
	Realm string
	// Leeway for clocks that differ. Default: 30 s. Negative: none.
	Leeway time.Duration
	// Now is the clock. Default: time.Now.
	Now func() time.Time
}

// maxToken is the most bytes a token has.
const maxToken = 8 << 10

// Verifier checks tokens. It is safe for concurrent use.
type Verifier struct {
	o        Options
	keys     map[string]Key
	methods  map[string]jwt.SigningMethod
	segments *base64.Encoding
	last     atomic.Pointer[head]
}

// head is what a header says: the key that has signed, by which method.
type head struct {
	text   string // the header, as it was sent
	key    Key
	method jwt.SigningMethod
}

// NewVerifier makes a Verifier, or tells of every option that cannot be.
func NewVerifier(o Options) (*Verifier, error) {
	var bad []error
	if len(o.Algorithms) == 0 {
		bad = append(bad, &web.ConfigError{Field: "Options.Algorithms", Got: "none", Want: "those that are taken, by name"})
	}
	for _, a := range o.Algorithms {
		if _, _, ok := keyNeeds(a); !ok {
			bad = append(bad, &web.ConfigError{Field: "Options.Algorithms", Got: a, Want: "HS, RS, PS or ES with 256, 384 or 512, or EdDSA"})
		}
	}
	v := &Verifier{o: o, keys: map[string]Key{}, methods: map[string]jwt.SigningMethod{}, segments: base64.RawURLEncoding.Strict()}
	for i, k := range o.Keys {
		field := "Options.Keys[" + strconv.Itoa(i) + "]"
		if err := v.usable(field, k); err != nil {
			bad = append(bad, err)
		}
		if _, twice := v.keys[k.ID]; twice {
			bad = append(bad, &web.ConfigError{Field: field + ".ID", Got: k.ID, Want: "an id of its own"})
		}
		v.keys[k.ID] = k
	}
	if len(o.Keys) == 0 && o.Lookup == nil {
		bad = append(bad, &web.ConfigError{Field: "Options.Keys", Got: "none", Want: "a key, or Lookup"})
	}
	v.o.Realm = cmp.Or(v.o.Realm, "api")
	if strings.ContainsAny(v.o.Realm, "\"\\\r\n") {
		bad = append(bad, &web.ConfigError{Field: "Options.Realm", Got: v.o.Realm, Want: "text without quotes and line breaks"})
	}
	switch {
	case o.Leeway == 0:
		v.o.Leeway = 30 * time.Second
	case o.Leeway < 0:
		v.o.Leeway = 0
	}
	if v.o.Now == nil {
		v.o.Now = time.Now
	}
	if len(bad) > 0 {
		return nil, errors.Join(bad...)
	}
	for _, a := range o.Algorithms {
		v.methods[a] = strict(jwt.GetSigningMethod(a))
	}
	return v, nil
}

func (v *Verifier) usable(field string, k Key) error {
	if err := checkKey(field, k.Algorithm, k.Key); err != nil {
		return err
	}
	if !slices.Contains(v.o.Algorithms, k.Algorithm) {
		return &web.ConfigError{Field: field + ".Algorithm", Got: k.Algorithm, Want: "one of Options.Algorithms"}
	}
	return nil
}

// Verify checks a token and returns what it says. Its errors are ErrInvalid, ErrExpired and that
// of Options.Lookup.
func (v *Verifier) Verify(ctx context.Context, token string) (Claims, error) {
	if len(token) > maxToken {
		return Claims{}, fmt.Errorf("%w: over %d bytes", ErrInvalid, maxToken)
	}
	raw, err := v.payload(ctx, token)
	if err != nil {
		return Claims{}, err
	}
	c, err := claimsOf(raw)
	if err == nil {
		err = v.valid(c, raw)
	}
	if err != nil {
		return Claims{}, err
	}
	return c, nil
}

// payload checks the signature of a token in compact form (RFC 7515, section 3.1) and returns what
// is signed. Nothing else of the payload has been judged then.
func (v *Verifier) payload(ctx context.Context, token string) (raw map[string]any, err error) {
	first, rest, _ := strings.Cut(token, ".")
	body, sent, ok := strings.Cut(rest, ".")
	if !ok || strings.Contains(sent, ".") {
		return nil, fmt.Errorf("%w: not of three parts", ErrInvalid)
	}
	last := v.last.Load() // an issuer's headers are mostly all the same
	h := last
	if h == nil || h.text != first {
		if h, err = v.head(ctx, first); err != nil {
			return nil, err
		}
	}
	signature, err := v.segments.DecodeString(sent)
	if err == nil {
		err = h.method.Verify(token[:len(first)+1+len(body)], signature, h.key.Key)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: signature: %w", ErrInvalid, err)
	}
	if h != last && v.o.Lookup == nil { // else the next token may find another key by this id
		v.last.Store(h)
	}
	if err := v.object(body, &raw); err != nil {
		return nil, fmt.Errorf("%w: payload: %w", ErrInvalid, err)
	}
	return raw, nil
}

// head reads the header of a token and finds its key.
func (v *Verifier) head(ctx context.Context, text string) (*head, error) {
	var header map[string]any
	if err := v.object(text, &header); err != nil {
		return nil, fmt.Errorf("%w: header: %w", ErrInvalid, err)
	}
	algorithm, _ := header["alg"].(string)
	method := v.methods[algorithm]
	if method == nil {
		return nil, fmt.Errorf("%w: the algorithm %q is none of those taken", ErrInvalid, algorithm)
	}
	if _, there := header["crit"]; there {
		return nil, fmt.Errorf("%w: crit names extensions, and none is understood", ErrInvalid) // RFC 7515, section 4.1.11
	}
	k, err := v.key(ctx, header["kid"])
	switch {
	case errors.Is(err, ErrInvalid):
		return nil, err
	case err != nil: // a fault of the server
		return nil, fmt.Errorf("jwt: look up key: %w", err)
	case k.Algorithm != algorithm:
		return nil, fmt.Errorf("%w: the key is for %s, not for %s", ErrInvalid, k.Algorithm, algorithm)
	}
	return &head{strings.Clone(text), k, method}, nil
}

var errNotJSON = errors.New("not one JSON value in UTF-8")

// object reads a segment that is a JSON object and nothing more (RFC 7519, section 7.2). Its
// numbers keep their digits.
func (v *Verifier) object(segment string, to *map[string]any) error {
	text, err := v.segments.DecodeString(segment)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) || !utf8.Valid(text) {
		return errNotJSON
	}
	return nil
}

// key finds the key that a token names.
func (v *Verifier) key(ctx context.Context, header any) (Key, error) {
	kid, ok := header.(string)
	if header != nil && !ok {
		return Key{}, fmt.Errorf("%w: kid is not a string", ErrInvalid)
	}
	if k, ok := v.keys[kid]; ok {
		return k, nil
	}
	if header == nil && len(v.keys) == 1 && v.o.Lookup == nil {
		for _, k := range v.keys {
			return k, nil
		}
	}
	if v.o.Lookup == nil || header == nil {
		return Key{}, fmt.Errorf("%w: no key of id %q", ErrInvalid, kid)
	}
	k, err := v.o.Lookup(ctx, kid)
	if err != nil {
		return Key{}, err
	}
	return k, v.usable("Options.Lookup", k)
}

// valid judges the claims.
func (v *Verifier) valid(c Claims, raw map[string]any) error {
	now := v.o.Now()
	switch {
	case c.Expires.IsZero():
		return fmt.Errorf("%w: no exp", ErrInvalid)
	case !now.Before(c.Expires.Add(v.o.Leeway)): // "on or after", RFC 7519, section 4.1.4
		return ErrExpired
	case !c.NotBefore.IsZero() && now.Add(v.o.Leeway).Before(c.NotBefore):
		return fmt.Errorf("%w: not valid before %s", ErrInvalid, c.NotBefore.UTC())
	case !c.IssuedAt.IsZero() && now.Add(v.o.Leeway).Before(c.IssuedAt):
		return fmt.Errorf("%w: issued in the future", ErrInvalid)
	case v.o.Issuer != "" && c.Issuer != v.o.Issuer:
		return fmt.Errorf("%w: issuer %q", ErrInvalid, c.Issuer)
	}
	if len(v.o.Audience) > 0 && !slices.ContainsFunc(c.Audience, func(a string) bool { return slices.Contains(v.o.Audience, a) }) {
		return fmt.Errorf("%w: audience %q", ErrInvalid, c.Audience)
	}
	for _, name := range v.o.Required {
		if _, ok := raw[name]; !ok {
			return fmt.Errorf("%w: no %s", ErrInvalid, name)
		}
	}
	return nil
}

// claimsOf sorts what the payload has. A claim of the wrong type is refused, not left out.
func claimsOf(raw map[string]any) (c Claims, err error) {
	for name, value := range raw {
		ok := true
		switch name {
		case "iss":
			c.Issuer, ok = value.(string)
		case "sub":
			c.Subject, ok = value.(string)
		case "jti":
			c.ID, ok = value.(string)
		case "aud":
			c.Audience, ok = texts(value)
		case "roles":
			c.Roles, ok = texts(value)
		case "exp":
			c.Expires, ok = date(value)
		case "nbf":
			c.NotBefore, ok = date(value)
		case "iat":
			c.IssuedAt, ok = date(value)
		default:
			if c.Extra == nil {
				c.Extra = map[string]any{}
			}
			c.Extra[name] = value
		}
		if !ok {
			return Claims{}, fmt.Errorf("%w: claim %s has the wrong type", ErrInvalid, name)
		}
	}
	return c, nil
}

// texts reads a string or a list of strings.
func texts(v any) ([]string, bool) {
	switch v := v.(type) {
	case string:
		return []string{v}, true
	case []any:
		out := make([]string, len(v))
		for i, e := range v {
			s, ok := e.(string)
			if !ok {
				return nil, false
			}
			out[i] = s
		}
		return out, true
	}
	return nil, false
}

// date reads a NumericDate: seconds since 1970, which may have a fraction.
func date(v any) (time.Time, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return time.Time{}, false
	}
	f, err := n.Float64()
	if err != nil || f < 1 || f > 253402300799 { // the year 9999
		return time.Time{}, false
	}
	return time.Unix(int64(math.Floor(f)), 0), true
}

// keyOfClaims is where the middleware puts what a token says.
var keyOfClaims = web.NewKey[Claims]("jwt claims")

// ClaimsOf returns what the token of the request says; false outside of the middleware.
func ClaimsOf(c *web.Context) (Claims, bool) { return keyOfClaims.Get(c) }

// Middleware refuses requests without a valid token by 401 and a challenge (RFC 6750, section 3).
// Of others the claims are kept for ClaimsOf, and the subject is the Context's User.
func (v *Verifier) Middleware() web.Middleware {
	return func(next web.Handler) web.Handler {
		return func(c *web.Context) error {
			token, err := v.token(c)
			var claims Claims
			if err == nil {
				claims, err = v.Verify(c.Context(), token)
			}
			if err != nil {
				return v.refuse(err)
			}
			keyOfClaims.Set(c, claims)
			c.SetUser(claims.Subject)
			return next(c)
		}
	}
}

// token finds the token of a request.
func (v *Verifier) token(c *web.Context) (string, error) {
	switch lines := c.Request().Header["Authorization"]; {
	case len(lines) > 1:
		return "", fmt.Errorf("%w: Authorization is repeated", ErrInvalid)
	case len(lines) == 1:
		if scheme, token, ok := strings.Cut(lines[0], " "); ok && strings.EqualFold(scheme, "Bearer") {
			return strings.TrimSpace(token), nil
		}
	}
	if v.o.Cookie != "" {
		if token := c.Cookie(v.o.Cookie); token != "" {
			return token, nil
		}
	}
	if v.o.Query != "" {
		if token := c.Query(v.o.Query); token != "" {
			return token, nil
		}
	}
	return "", ErrNoToken
}

// refuse is the answer to a token that is not taken. It tells nothing of the reason, save that a
// token was there.
func (v *Verifier) refuse(err error) error {
	if !errors.Is(err, web.ErrUnauthorized) {
		return err
	}
	challenge := `Bearer realm="` + v.o.Realm + `"`
	if !errors.Is(err, ErrNoToken) {
		challenge += `, error="invalid_token"`
	}
	p := web.NewProblem(http.StatusUnauthorized, "", err)
	p.Header = http.Header{"Www-Authenticate": {challenge}}
	return p
}

// RequireRole lets only tokens pass that have all of the roles; others are 403. It stands behind
// Middleware.
func RequireRole(roles ...string) web.Middleware {
	return require(func(c Claims) bool {
		return !slices.ContainsFunc(roles, func(r string) bool { return !c.HasRole(r) })
	})
}

// RequireAnyRole lets only tokens pass that have one of the roles.
func RequireAnyRole(roles ...string) web.Middleware {
	return require(func(c Claims) bool { return slices.ContainsFunc(roles, c.HasRole) })
}

// RequireClaim lets only tokens pass whose claim, one of Claims.Extra, is the text.
func RequireClaim(name, value string) web.Middleware {
	return require(func(c Claims) bool {
		got, ok := c.Extra[name].(string)
		return ok && got == value
	})
}

func require(allowed func(Claims) bool) web.Middleware {
	return func(next web.Handler) web.Handler {
		return func(c *web.Context) error {
			claims, ok := ClaimsOf(c)
			if !ok {
				return ErrNoToken // no verifier before it: nobody passes
			}
			if !allowed(claims) {
				return web.ErrForbidden
			}
			return next(c)
		}
	}
}
