package jwt_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/quire/web"
	"example.com/quire/web/middleware/jwt"
	"example.com/quire/web/webtest"
)

var (
	now    = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	secret = []byte(strings.Repeat("0123456789abcdef", 4))
)

func clock() time.Time { return now }

func verifier(t *testing.T, o jwt.Options) *jwt.Verifier {
	t.Helper()
	if o.Algorithms == nil {
		o.Algorithms = []string{"HS256"}
	}
	if o.Keys == nil && o.Lookup == nil {
		o.Keys = []jwt.Key{{ID: "k", Algorithm: "HS256", Key: secret}}
	}
	if o.Now == nil {
		o.Now = clock
	}
	v, err := jwt.NewVerifier(o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func issuer(t *testing.T, o jwt.IssuerOptions) *jwt.Issuer {
	t.Helper()
	if o.Key.Key == nil {
		o.Key = jwt.SigningKey{ID: "k", Algorithm: "HS256", Key: secret}
	}
	if o.Now == nil {
		o.Now = clock
	}
	i, err := jwt.NewIssuer(o)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// sign makes a token of any header and payload, by an HMAC of the key.
func sign(header, payload string, key []byte) string {
	body := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString([]byte(payload))
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(body))
	return body + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// keys are one of each kind, made once: RSA keys take long.
var keys = sync.OnceValue(func() map[string]any {
	rsaKey, err1 := rsa.GenerateKey(rand.Reader, 2048)
	p256, err2 := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	p384, err3 := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	p521, err4 := ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	_, ed, err5 := ed25519.GenerateKey(rand.Reader)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		panic(err)
	}
	return map[string]any{
		"HS256": secret, "HS384": secret, "HS512": secret, "RS256": rsaKey, "RS384": rsaKey, "RS512": rsaKey, "PS256": rsaKey, "PS384": rsaKey, "PS512": rsaKey,
		"ES256": p256, "ES384": p384, "ES512": p521, "EdDSA": ed,
	}
})

func publicOf(key any) any {
	if k, ok := key.(interface{ Public() crypto.PublicKey }); ok {
		return k.Public()
	}
	return key
}

// TestEveryAlgorithmBothWays issues a token by each algorithm, which its key takes and no other.
func TestEveryAlgorithmBothWays(t *testing.T) {
	for algorithm, key := range keys() {
		i := issuer(t, jwt.IssuerOptions{Key: jwt.SigningKey{ID: algorithm, Algorithm: algorithm, Key: key}, Issuer: "shop", Audience: []string{"till"}})
		token, err := i.Issue(jwt.Claims{Subject: "ada", Roles: []string{"clerk"}, Extra: map[string]any{"till": 7, "shop": "Ulm"}})
		if err != nil {
			t.Fatal(err)
		}
		v := verifier(t, jwt.Options{Algorithms: []string{algorithm}, Keys: []jwt.Key{{ID: algorithm, Algorithm: algorithm, Key: publicOf(key)}}, Issuer: "shop", Audience: []string{"till"}})
		c, err := v.Verify(t.Context(), token)
		if err != nil || c.Subject != "ada" || !c.HasRole("clerk") || c.HasRole("admin") || c.Issuer != "shop" || c.Extra["till"] != json.Number("7") || c.Extra["shop"] != "Ulm" ||
			!c.Expires.Equal(now.Add(15*time.Minute)) || !c.IssuedAt.Equal(now) || c.ID == "" {
			t.Errorf("%s: %+v %v", algorithm, c, err)
		}
		for i := range token { // each changed character
			if token[i] == '.' {
				continue
			}
			b := []byte(token)
			b[i] = 'A' + (b[i]-'A'+1)%26
			if string(b) == token || i%7 != 0 && i < len(token)-10 {
				continue
			}
			if _, err := v.Verify(t.Context(), string(b)); !errors.Is(err, jwt.ErrInvalid) && !errors.Is(err, jwt.ErrExpired) {
				t.Fatalf("%s changed at %d: %v", algorithm, i, err)
			}
		}
		other := verifier(t, jwt.Options{Algorithms: []string{algorithm, "HS256"}, Keys: []jwt.Key{{ID: algorithm, Algorithm: "HS256", Key: []byte(strings.Repeat("x", 32))}}})
		if _, err := other.Verify(t.Context(), token); !errors.Is(err, jwt.ErrInvalid) {
			t.Errorf("%s by another's key: %v", algorithm, err)
		}
	}
}

// TestRFC8725_Attacks are tokens made to be taken for what they are not.
func TestRFC8725_Attacks(t *testing.T) {
	rsaKey := keys()["RS256"].(*rsa.PrivateKey) //nolint:forcetypeassert // as made above
	der, err := x509.MarshalPKIXPublicKey(&rsaKey.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	v := verifier(t, jwt.Options{Algorithms: []string{"RS256", "HS256"}, Keys: []jwt.Key{{ID: "r", Algorithm: "RS256", Key: &rsaKey.PublicKey}, {ID: "k", Algorithm: "HS256", Key: secret}}})
	exp := fmt.Sprintf(`"exp":%d`, now.Add(time.Minute).Unix())
	good := `{"sub":"ada",` + exp + `}`
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + base64.RawURLEncoding.EncodeToString([]byte(good)) + "."
	if _, err := v.Verify(t.Context(), sign(`{"alg":"HS256","kid":"k"}`, good, secret)); err != nil {
		t.Fatalf("a good token: %v", err)
	}
	for name, token := range map[string]string{
		"alg none":                       none,
		"alg none with another case":     strings.Replace(none, base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)), base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"nOnE"}`)), 1),
		"HMAC with the public key":       sign(`{"alg":"HS256","kid":"r"}`, good, der),
		"no kid where there are several": sign(`{"alg":"HS256"}`, good, secret),
		"unknown kid":                    sign(`{"alg":"HS256","kid":"x"}`, good, secret),
		"kid that is no string":          sign(`{"alg":"HS256","kid":["k"]}`, good, secret),
		"an algorithm that is not taken": sign(`{"alg":"HS512","kid":"k"}`, good, secret),
		"crit":                           sign(`{"alg":"HS256","kid":"k","crit":["x"],"x":1}`, good, secret),
		"crit of b64":                    sign(`{"alg":"HS256","kid":"k","crit":["b64"],"b64":false}`, good, secret),
		"empty crit":                     sign(`{"alg":"HS256","kid":"k","crit":[]}`, good, secret),
		"no exp":                         sign(`{"alg":"HS256","kid":"k"}`, `{"sub":"ada"}`, secret),
		"exp null":                       sign(`{"alg":"HS256","kid":"k"}`, `{"exp":null}`, secret),
		"exp as text":                    sign(`{"alg":"HS256","kid":"k"}`, `{"exp":"9999999999"}`, secret),
		"exp beyond all years":           sign(`{"alg":"HS256","kid":"k"}`, `{"exp":1e300}`, secret),
		"exp zero":                       sign(`{"alg":"HS256","kid":"k"}`, `{"exp":0}`, secret),
		"nbf in the future":              sign(`{"alg":"HS256","kid":"k"}`, fmt.Sprintf(`{%s,"nbf":%d}`, exp, now.Add(31*time.Second).Unix()), secret),
		"nbf as text":                    sign(`{"alg":"HS256","kid":"k"}`, `{`+exp+`,"nbf":"1"}`, secret),
		"iat in the future":              sign(`{"alg":"HS256","kid":"k"}`, fmt.Sprintf(`{%s,"iat":%d}`, exp, now.Add(time.Hour).Unix()), secret),
		"sub as a number":                sign(`{"alg":"HS256","kid":"k"}`, `{`+exp+`,"sub":1}`, secret),
		"roles as an object":             sign(`{"alg":"HS256","kid":"k"}`, `{`+exp+`,"roles":{"admin":true}}`, secret),
		"roles with a number":            sign(`{"alg":"HS256","kid":"k"}`, `{`+exp+`,"roles":[1]}`, secret),
		"payload that is no object":      sign(`{"alg":"HS256","kid":"k"}`, `[1]`, secret),
		"payload that goes on":           sign(`{"alg":"HS256","kid":"k"}`, good+`{"sub":"eve"}`, secret),
		"payload that is cut":            sign(`{"alg":"HS256","kid":"k"}`, good[:len(good)-1], secret),
		"payload that is not UTF-8":      sign(`{"alg":"HS256","kid":"k"}`, `{"sub":"`+"\xff"+`",`+exp+`}`, secret),
		"header that goes on":            sign(`{"alg":"HS256","kid":"k"}]`, good, secret),
		"header that is not UTF-8":       sign(`{"alg":"HS256","kid":"k","x":"`+"\xff"+`"}`, good, secret),
		"padding":                        sign(`{"alg":"HS256","kid":"k"}`, good, secret) + "=",
		"a fourth part":                  sign(`{"alg":"HS256","kid":"k"}`, good, secret) + ".x",
		"two parts":                      "a.b",
		"nothing":                        "",
		"too long":                       sign(`{"alg":"HS256","kid":"k"}`, `{`+exp+`,"x":"`+strings.Repeat("x", 8<<10)+`"}`, secret),
	} {
		if c, err := v.Verify(t.Context(), token); !errors.Is(err, jwt.ErrInvalid) || !errors.Is(err, web.ErrUnauthorized) {
			t.Errorf("%s: %+v %v", name, c, err)
		}
	}
}

// TestExpiredTokenIsRefusedToTheSecond, with the leeway and without, and in another service.
func TestExpiredTokenIsRefusedToTheSecond(t *testing.T) {
	token, err := issuer(t, jwt.IssuerOptions{Issuer: "shop", Audience: []string{"till"}}).Issue(jwt.Claims{Subject: "ada", Expires: now.Add(time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		o    jwt.Options
		at   time.Duration
		want error
	}{
		{jwt.Options{}, 0, nil},
		{jwt.Options{}, 90*time.Second - 1, nil},
		{jwt.Options{}, 90 * time.Second, jwt.ErrExpired},
		{jwt.Options{Leeway: -1}, time.Minute - 1, nil},
		{jwt.Options{Leeway: -1}, time.Minute, jwt.ErrExpired},
		{jwt.Options{}, -30 * time.Second, nil},
		{jwt.Options{}, -31 * time.Second, jwt.ErrInvalid}, // issued in the future
		{jwt.Options{Issuer: "shop", Audience: []string{"web", "till"}, Required: []string{"sub", "jti"}}, 0, nil},
		{jwt.Options{Issuer: "other"}, 0, jwt.ErrInvalid},
		{jwt.Options{Audience: []string{"web"}}, 0, jwt.ErrInvalid},
		{jwt.Options{Required: []string{"email"}}, 0, jwt.ErrInvalid},
	} {
		tc.o.Now = func() time.Time { return now.Add(tc.at) }
		if _, err := verifier(t, tc.o).Verify(t.Context(), token); !errors.Is(err, tc.want) {
			t.Errorf("%+v after %v: %v, want %v", tc.o, tc.at, err, tc.want)
		}
	}
}

// TestWeakKeysAreRefusedByTheConstructor, and keys of another kind than the algorithm's.
func TestWeakKeysAreRefusedByTheConstructor(t *testing.T) {
	weak, err := rsa.GenerateKey(rand.Reader, 1024) //nolint:gosec // the key that is to be refused
	if err != nil {
		t.Fatal(err)
	}
	k := keys()
	for _, tc := range []struct {
		algorithm string
		key       any
	}{
		{"HS256", secret[:31]},
		{"HS384", secret[:47]},
		{"HS512", secret[:63]},
		{"HS256", "text"},
		{"HS256", nil},
		{"RS256", weak},
		{"PS512", weak},
		{"RS256", k["ES256"]},
		{"ES256", k["ES384"]},
		{"ES512", k["ES256"]},
		{"EdDSA", k["ES256"]},
		{"EdDSA", secret},
		{"HS256", k["RS256"]},
		{"none", nil},
		{"", secret},
		{"ES256K", k["ES256"]},
		{"RS256", (*rsa.PrivateKey)(nil)},
		{"ES256", (*ecdsa.PrivateKey)(nil)},
		{"EdDSA", ed25519.PrivateKey{}},
	} {
		if _, err := jwt.NewIssuer(jwt.IssuerOptions{Key: jwt.SigningKey{Algorithm: tc.algorithm, Key: tc.key}}); err == nil {
			t.Errorf("an issuer took %T for %s", tc.key, tc.algorithm)
		} else if strings.Contains(err.Error(), "0123456789") {
			t.Errorf("the error tells the key: %v", err)
		}
		public := tc.key
		if p, ok := tc.key.(*rsa.PrivateKey); ok && p != nil {
			public = &p.PublicKey
		}
		if _, err := jwt.NewVerifier(jwt.Options{Algorithms: []string{tc.algorithm}, Keys: []jwt.Key{{Algorithm: tc.algorithm, Key: public}}}); err == nil {
			t.Errorf("a verifier took %T for %s", public, tc.algorithm)
		}
	}
	for name, o := range map[string]jwt.Options{
		"no algorithm":     {Keys: []jwt.Key{{Algorithm: "HS256", Key: secret}}},
		"no key":           {Algorithms: []string{"HS256"}},
		"key not listed":   {Algorithms: []string{"HS256"}, Keys: []jwt.Key{{Algorithm: "HS512", Key: secret}}},
		"an id that is 2":  {Algorithms: []string{"HS256"}, Keys: []jwt.Key{{Algorithm: "HS256", Key: secret}, {Algorithm: "HS256", Key: secret}}},
		"realm with quote": {Algorithms: []string{"HS256"}, Keys: []jwt.Key{{Algorithm: "HS256", Key: secret}}, Realm: `a"b`},
	} {
		if _, err := jwt.NewVerifier(o); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if _, err := jwt.NewRefresher(nil, jwt.RefreshOptions{}); err == nil {
		t.Error("a refresher without anything")
	}
	i := issuer(t, jwt.IssuerOptions{})
	for name, c := range map[string]jwt.Claims{"exp in Extra": {Extra: map[string]any{"exp": 1}}, "too long": {Subject: strings.Repeat("x", 9<<10)}, "no JSON": {Extra: map[string]any{"f": func() {}}}} {
		if _, err := i.Issue(c); err == nil {
			t.Errorf("%s: issued", name)
		}
	}
}

func TestLookupOfKeys(t *testing.T) {
	down := errors.New("the key server is down")
	current := secret
	v := verifier(t, jwt.Options{Algorithms: []string{"HS256", "HS512"}, Lookup: func(_ context.Context, kid string) (jwt.Key, error) {
		switch kid {
		case "k":
			return jwt.Key{ID: kid, Algorithm: "HS256", Key: current}, nil
		case "weak":
			return jwt.Key{ID: kid, Algorithm: "HS256", Key: []byte("short")}, nil
		case "down":
			return jwt.Key{}, down
		}
		return jwt.Key{}, jwt.ErrInvalid
	}})
	good := fmt.Sprintf(`{"exp":%d}`, now.Add(time.Minute).Unix())
	for kid, want := range map[string]error{"k": nil, "down": down, "other": jwt.ErrInvalid} {
		if _, err := v.Verify(t.Context(), sign(`{"alg":"HS256","kid":"`+kid+`"}`, good, secret)); !errors.Is(err, want) {
			t.Errorf("%s: %v", kid, err)
		}
	}
	if _, err := v.Verify(t.Context(), sign(`{"alg":"HS256","kid":"weak"}`, good, []byte("short"))); err == nil || errors.Is(err, jwt.ErrInvalid) {
		t.Errorf("a weak key that was looked up is a fault of the server: %v", err)
	}
	if _, err := v.Verify(t.Context(), sign(`{"alg":"HS256"}`, good, secret)); !errors.Is(err, jwt.ErrInvalid) {
		t.Errorf("no kid: %v", err)
	}
	token := sign(`{"alg":"HS256","kid":"k"}`, good, secret)
	if _, err := v.Verify(t.Context(), token); err != nil {
		t.Error(err)
	}
	current = []byte(strings.Repeat("x", 64))
	if _, err := v.Verify(t.Context(), token); !errors.Is(err, jwt.ErrInvalid) {
		t.Errorf("the key of this id is another now: %v", err)
	}
}

// TestMiddleware is who passes, and what others are told: nothing of the reason.
func TestMiddleware(t *testing.T) {
	app, err := web.New(web.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	v := verifier(t, jwt.Options{Cookie: "token", Query: "token"})
	who := func(c *web.Context) error {
		claims, ok := jwt.ClaimsOf(c)
		return c.String(200, fmt.Sprint(claims.Subject, " ", c.User(), " ", ok))
	}
	g := app.Group("", v.Middleware())
	g.GET("/any", who)
	g.Group("/all", jwt.RequireRole("clerk", "admin")).GET("/x", who)
	g.Group("/one", jwt.RequireAnyRole("clerk", "admin")).GET("/x", who)
	g.Group("/claim", jwt.RequireClaim("shop", "Ulm")).GET("/x", who)
	app.Group("/bare", jwt.RequireRole("clerk")).GET("/x", who)
	i := issuer(t, jwt.IssuerOptions{})
	token := func(c jwt.Claims) string {
		s, err := i.Issue(c)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	clerk := token(jwt.Claims{Subject: "ada", Roles: []string{"clerk"}, Extra: map[string]any{"shop": "Ulm"}})
	both := token(jwt.Claims{Subject: "bob", Roles: []string{"clerk", "admin"}, Extra: map[string]any{"shop": 1}})
	old := token(jwt.Claims{Subject: "old", Expires: now.Add(-time.Hour)})
	client := webtest.New(t, app)
	for _, tc := range []struct {
		target, name, value string
		status              int
		challenge           string
	}{
		{"/any", "Authorization", "Bearer " + clerk, 200, ""},
		{"/any", "Authorization", "bearer  " + clerk, 200, ""},
		{"/any", "Cookie", "token=" + clerk, 200, ""},
		{"/any?token=" + clerk, "X-None", "", 200, ""},
		{"/any", "X-None", "", 401, `Bearer realm="api"`},
		{"/any", "Authorization", "Basic YTpi", 401, `Bearer realm="api"`},
		{"/any", "Authorization", "Bearer " + old, 401, `Bearer realm="api", error="invalid_token"`},
		{"/any", "Authorization", "Bearer x", 401, `Bearer realm="api", error="invalid_token"`},
		{"/any", "Authorization", "Bearer", 401, `Bearer realm="api"`},
		{"/all/x", "Authorization", "Bearer " + clerk, 403, ""},
		{"/all/x", "Authorization", "Bearer " + both, 200, ""},
		{"/all/x", "X-None", "", 401, `Bearer realm="api"`},
		{"/one/x", "Authorization", "Bearer " + clerk, 200, ""},
		{"/one/x", "Authorization", "Bearer " + token(jwt.Claims{Subject: "eve"}), 403, ""},
		{"/claim/x", "Authorization", "Bearer " + clerk, 200, ""},
		{"/claim/x", "Authorization", "Bearer " + both, 403, ""},
		{"/bare/x", "Authorization", "Bearer " + clerk, 401, ""},
	} {
		r := client.With(tc.name, tc.value).Get(tc.target)
		if r.Status != tc.status || r.Header.Get("WWW-Authenticate") != tc.challenge {
			t.Errorf("%s %s %.20s: %d %q, want %d %q", tc.target, tc.name, tc.value, r.Status, r.Header.Get("WWW-Authenticate"), tc.status, tc.challenge)
		}
		if tc.status == 401 && (strings.Contains(r.Text(), "expired") || strings.Contains(r.Text(), "jwt")) {
			t.Errorf("the client is told %s", r.Text())
		}
	}
	if r := client.With("Authorization", "Bearer "+clerk).With("Authorization", "Bearer "+both).Get("/any"); r.Status != 401 {
		t.Errorf("two tokens: %d", r.Status)
	}
	if r := client.With("Authorization", "Bearer "+clerk).Get("/any"); r.Text() != "ada ada true" {
		t.Errorf("%s", r.Text())
	}
}

// TestRefreshTokensRotate: each is good once, one that comes again ends the family, and others
// go on.
func TestRefreshTokensRotate(t *testing.T) {
	at := now
	var reused atomic.Pointer[jwt.Family]
	roles := []string{"clerk"}
	var fault error
	r, err := jwt.NewRefresher(jwt.NewMemoryFamilies(0), jwt.RefreshOptions{
		Issuer:  issuer(t, jwt.IssuerOptions{Now: func() time.Time { return at }}),
		Claims:  func(context.Context, string) (jwt.Claims, error) { return jwt.Claims{Roles: roles}, fault },
		OnReuse: func(_ context.Context, f jwt.Family) { reused.Store(&f) },
	})
	if err != nil {
		t.Fatal(err)
	}
	start := func() jwt.Pair {
		p, err := r.Start(t.Context(), "ada")
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first, other := start(), start()
	second, err := r.Rotate(t.Context(), first.Refresh)
	if err != nil || second.Refresh == first.Refresh || !second.RefreshExpires.Equal(first.RefreshExpires) {
		t.Fatalf("%+v %v", second, err)
	}
	roles = nil // taken away: the next access token has none
	third, err := r.Rotate(t.Context(), second.Refresh)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := verifier(t, jwt.Options{}).Verify(t.Context(), third.Access); err != nil || c.Subject != "ada" || len(c.Roles) != 0 {
		t.Errorf("%+v %v", c, err)
	}
	if _, err := r.Rotate(t.Context(), first.Refresh); !errors.Is(err, jwt.ErrRefreshReused) || !errors.Is(err, web.ErrUnauthorized) {
		t.Errorf("reuse: %v", err)
	}
	if f := reused.Load(); f == nil || f.Subject != "ada" {
		t.Errorf("OnReuse was told %+v", f)
	}
	if _, err := r.Rotate(t.Context(), third.Refresh); !errors.Is(err, jwt.ErrRefreshInvalid) {
		t.Errorf("the newest token of a revoked family: %v", err)
	}

	fault = errors.New("the database is down")
	if _, err := r.Rotate(t.Context(), other.Refresh); !errors.Is(err, fault) {
		t.Errorf("claims that cannot be read: %v", err)
	}
	fault = nil
	next, err := r.Rotate(t.Context(), other.Refresh)
	if err != nil {
		t.Fatalf("the same token, once they can: %v", err)
	}
	fault = jwt.ErrSubjectGone
	if _, err := r.Rotate(t.Context(), next.Refresh); !errors.Is(err, jwt.ErrSubjectGone) {
		t.Errorf("a subject that is gone: %v", err)
	}
	fault = nil
	if _, err := r.Rotate(t.Context(), next.Refresh); !errors.Is(err, jwt.ErrRefreshInvalid) {
		t.Errorf("its family: %v", err)
	}

	out := start()
	for _, token := range []string{out.Refresh, out.Refresh, "", "x", "x.y", strings.Repeat("x", 1000) + ".y"} {
		if err := r.Revoke(t.Context(), token); err != nil {
			t.Errorf("sign-out with %.20q: %v", token, err)
		}
		if _, err := r.Rotate(t.Context(), token); !errors.Is(err, jwt.ErrRefreshInvalid) {
			t.Errorf("%.20q after sign-out: %v", token, err)
		}
	}

	last := start()
	at = now.Add(30*24*time.Hour - time.Second)
	last, err = r.Rotate(t.Context(), last.Refresh)
	if err != nil {
		t.Fatal(err)
	}
	at = at.Add(time.Second)
	if _, err := r.Rotate(t.Context(), last.Refresh); !errors.Is(err, jwt.ErrRefreshExpired) {
		t.Errorf("after its life: %v", err)
	}
	at = now
	if _, err := r.Rotate(t.Context(), last.Refresh); !errors.Is(err, jwt.ErrRefreshInvalid) {
		t.Errorf("an expired token was renewed: %v", err)
	}
}

// TestOneOfTwoRotationsWins: a token in two requests at once is good in one of them.
func TestOneOfTwoRotationsWins(t *testing.T) {
	r, err := jwt.NewRefresher(jwt.NewMemoryFamilies(0), jwt.RefreshOptions{
		Issuer: issuer(t, jwt.IssuerOptions{}),
		Claims: func(context.Context, string) (jwt.Claims, error) { return jwt.Claims{}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		p, err := r.Start(t.Context(), "ada")
		if err != nil {
			t.Fatal(err)
		}
		var won, lost atomic.Int32
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				switch _, err := r.Rotate(t.Context(), p.Refresh); {
				case err == nil:
					won.Add(1)
				case errors.Is(err, jwt.ErrRefreshReused), errors.Is(err, jwt.ErrRefreshInvalid):
					lost.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 || lost.Load() != 3 {
			t.Fatalf("%d won, %d lost", won.Load(), lost.Load())
		}
	}
}

// TestMemoryFamiliesAreBounded: the oldest make room.
func TestMemoryFamiliesAreBounded(t *testing.T) {
	m := jwt.NewMemoryFamilies(10)
	for i := range 1000 {
		if err := m.Create(t.Context(), jwt.Family{ID: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			if err := m.Revoke(t.Context(), fmt.Sprint(i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	there := 0
	for i := range 1000 {
		_, _, err := m.Rotate(t.Context(), fmt.Sprint(i), [32]byte{}, [32]byte{})
		if err == nil {
			there++
		}
		if recent := i >= 980 && i%2 == 1; (err == nil) != recent {
			t.Errorf("family %d: %v", i, err)
		}
	}
	if there != 10 {
		t.Errorf("%d families", there)
	}
}

// FuzzVerify: no text is taken that was not signed, and none panics.
func FuzzVerify(f *testing.F) {
	good := fmt.Sprintf(`{"sub":"ada","exp":%d}`, now.Add(time.Minute).Unix())
	f.Add(sign(`{"alg":"HS256","kid":"k"}`, good, []byte("another key, which is as long as it has to be")))
	f.Add("a.b.c")
	f.Add(sign(`{"alg":"none"}`, good, nil))
	v, err := jwt.NewVerifier(jwt.Options{Algorithms: []string{"HS256"}, Keys: []jwt.Key{{ID: "k", Algorithm: "HS256", Key: secret}}, Now: clock})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, token string) {
		if c, err := v.Verify(t.Context(), token); err == nil {
			t.Fatalf("taken: %+v", c)
		}
		// Whatever is signed, its claims are read without panic, and never without exp.
		if c, err := v.Verify(t.Context(), sign(`{"alg":"HS256","kid":"k"}`, token, secret)); err == nil && c.Expires.IsZero() {
			t.Fatalf("without exp: %+v", c)
		}
	})
}

// TestSaltOfPSIsAsLongAsItsHash: RFC 7518, section 3.5.
func TestSaltOfPSIsAsLongAsItsHash(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jwt.NewVerifier(jwt.Options{Algorithms: []string{"PS256"}, Keys: []jwt.Key{{Algorithm: "PS256", Key: &key.PublicKey}}})
	if err != nil {
		t.Fatal(err)
	}
	part := base64.RawURLEncoding.EncodeToString
	text := part([]byte(`{"alg":"PS256"}`)) + "." + part(fmt.Appendf(nil, `{"exp":%d}`, time.Now().Add(time.Hour).Unix()))
	sum := sha256.Sum256([]byte(text))
	for salt, good := range map[int]bool{sha256.Size: true, 20: false, rsa.PSSSaltLengthAuto: false} { // at signing the longest that fits
		sig, err := rsa.SignPSS(rand.Reader, key, crypto.SHA256, sum[:], &rsa.PSSOptions{SaltLength: salt})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.Verify(t.Context(), text+"."+part(sig)); good != (err == nil) || !good && !errors.Is(err, jwt.ErrInvalid) {
			t.Errorf("salt of %d bytes: %v", salt, err)
		}
	}
}
