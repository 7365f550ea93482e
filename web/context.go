package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"example.com/quire/internal/httpfield"
	"example.com/quire/internal/route"
)

// ErrContextReturned is in the panic of a call on a Context whose handler has
// returned.
var ErrContextReturned = errors.New("web: Context used after its handler returned")

// Context is one request and its answer. It is valid until the handler returns
// and belongs to the goroutine of the handler: it is not safe for concurrent
// use and is used again for other requests. What outlives the handler takes
// Context.Context() and the values it needs. It is deliberately no
// context.Context, so that it cannot be passed on by mistake.
type Context struct {
	app     *App
	req     *http.Request
	w       http.ResponseWriter // what Writer returns: &res or a middleware's wrapper
	res     response
	route   *Route
	matched bool

	path    string // canonical
	escaped bool   // values of path need decodeValue

	refusal  error // of autoRefused
	auto     autoKind
	answers  *answers
	location string

	id       string
	ids      []string // in store; kept over the Context's lives
	user     string
	values   []keyed
	body     *body
	form     *form // a multipart body that was read whole
	answered bool  // an error was answered
	abort    bool  // the connection is to be cut
	timer    *deadline
	stream   *EventStream // of SSE; ended with the request
	flight   flight
	shard    uint32      // where flights lists it, from 1; kept over its lives
	returned atomic.Bool // never reset: the Context is not used again

	m route.Match[Route] // last: its array is long
}

type keyed struct{ key, value any }

func (c *Context) init(a *App, w http.ResponseWriter, r *http.Request) {
	c.app, c.req = a, r
	c.res.reset(w, r)
	c.w = &c.res
}

// clear forgets all that belongs to the request, so that a Context at rest in
// the pool keeps nothing alive.
func (c *Context) clear() {
	c.app, c.req, c.w, c.route, c.matched = nil, nil, nil, nil, false
	c.res.clear()
	c.path, c.escaped = "", false
	c.m.Reset(0)
	c.auto, c.refusal, c.answers, c.location = autoNone, nil, nil, ""
	c.id, c.user = "", ""
	clear(c.values)
	c.values = c.values[:0]
	c.body, c.form, c.answered, c.abort, c.timer, c.stream = nil, nil, false, false, nil, nil
	c.flight = flight{}
}

// live panics when the handler has returned: at rest in the pool a Context has no
// request, and one that is never reused says so.
func (c *Context) live() {
	if c.req == nil || c.returned.Load() {
		c.dead()
	}
}

func (c *Context) dead() {
	where := "a request without route"
	if c.route != nil {
		where = "route " + c.route.label() + " of " + c.route.source
	}
	panic(fmt.Errorf("%w: %s", ErrContextReturned, where))
}

// Request returns the request.
func (c *Context) Request() *http.Request {
	c.live()
	return c.req
}

// Writer returns the writer of the answer. It supports http.ResponseController.
func (c *Context) Writer() http.ResponseWriter {
	c.live()
	return c.w
}

// Context returns the request's context: it ends with the client, the time
// budget, the drain's cut or the handler's return. It stays safe afterwards.
func (c *Context) Context() context.Context {
	c.live()
	return c.req.Context()
}

// Route returns the matched route, nil in automatic answers.
func (c *Context) Route() *Route {
	c.live()
	return c.route
}

// App returns the App that serves the request.
func (c *Context) App() *App {
	c.live()
	return c.app
}

// SetRequest puts another request in place, usually one with another context.
func (c *Context) SetRequest(r *http.Request) {
	c.live()
	c.req = r
}

// SetWriter puts another writer in place, usually one around Writer().
func (c *Context) SetWriter(w http.ResponseWriter) {
	c.live()
	c.w = w
}

// Status returns the status sent, or 200 before anything is.
func (c *Context) Status() int {
	c.live()
	return cmp.Or(c.res.code(), http.StatusOK)
}

// Answered reports whether an answer has begun: its status is sent or certain.
func (c *Context) Answered() bool {
	c.live()
	return c.res.code() != 0 || c.res.hijacked
}

// Written returns the bytes of the body sent so far.
func (c *Context) Written() int64 {
	c.live()
	return c.res.bytes.Load()
}

// Param returns the decoded value of a parameter of the route, "" when there is
// none of that name.
func (c *Context) Param(name string) string {
	v, _ := c.param(name)
	return v
}

func (c *Context) param(name string) (string, bool) {
	c.live()
	if c.matched {
		i := c.route.param(name)
		if i < 0 || i >= c.m.N {
			return "", false
		}
		return c.paramAt(i), true
	}
	if c.answers != nil { // an answer of the App's own: of its path the group's prefix is known
		return route.PrefixValue(c.answers.segs, c.path, name)
	}
	v := c.req.PathValue(name)
	return v, v != ""
}

func (c *Context) paramAt(i int) string {
	v := c.m.Value(c.path, i)
	if c.escaped {
		v = route.DecodeValue(v)
	}
	return v
}

// setPathValues gives the parameters to a request that leaves for plain
// net/http code.
func (c *Context) setPathValues(r *http.Request) {
	c.live()
	if !c.matched {
		return
	}
	r.Pattern = c.route.host + c.route.pattern.Text
	if c.route.method != "" {
		r.Pattern = c.route.method + " " + r.Pattern
	}
	for i, n := range c.route.names {
		if n != "" {
			r.SetPathValue(n, c.paramAt(i))
		}
	}
}

// ParamInt returns a parameter as a number. The error is a *BindError (400).
func (c *Context) ParamInt(name string) (int, error) { return Param[int](c, name) }

// Query returns the first value of a query key, "" when the key is absent or
// its escapes are wrong.
func (c *Context) Query(key string) string {
	c.live()
	v, _, _ := queryValue(c.req.URL.RawQuery, key)
	return v
}

// QueryAll returns all values of a query key in order.
func (c *Context) QueryAll(key string) []string {
	c.live()
	var all []string
	for rest := c.req.URL.RawQuery; rest != ""; {
		var pair string
		pair, rest, _ = strings.Cut(rest, "&")
		if v, ok, err := queryPair(pair, key); ok && err == nil {
			all = append(all, v)
		}
	}
	return all
}

// QueryInt returns a query key as a number, def when the key is absent. The
// error is a *BindError (400).
func (c *Context) QueryInt(key string, def int) (int, error) {
	n, err := Query[int](c, key)
	if e, ok := errors.AsType[*BindError](err); ok && e.Kind == BindMissing {
		return def, nil
	}
	return n, err
}

// queryValue finds the first value of key in a raw query, without a map. A
// semicolon is an ordinary character, as in the URL standard of today.
func queryValue(raw, key string) (value string, ok bool, err error) {
	for raw != "" {
		var pair string
		pair, raw, _ = strings.Cut(raw, "&")
		if value, ok, err = queryPair(pair, key); ok {
			return value, err == nil, err
		}
	}
	return "", false, nil
}

func queryPair(pair, key string) (value string, ok bool, err error) {
	k, v, _ := strings.Cut(pair, "=")
	if k != key {
		if !strings.ContainsAny(k, "%+") {
			return "", false, nil
		}
		if !decodesTo(k, key) {
			return "", false, nil
		}
	}
	if k == "" && pair == "" {
		return "", false, nil
	}
	if strings.ContainsAny(v, "%+") {
		v, err = url.QueryUnescape(v)
	}
	return v, true, err
}

// decodesTo reports whether a raw query key is key. One with bad escapes is none.
func decodesTo(raw, key string) bool {
	decoded, err := url.QueryUnescape(raw)
	return err == nil && decoded == key
}

// Header returns the first value of a request header.
func (c *Context) Header(key string) string {
	c.live()
	return c.req.Header.Get(key)
}

// SetHeader sets a field of the answer. It refuses a name that is no token and a
// value with control characters, line breaks above all, which could add fields of
// somebody else's choice.
func (c *Context) SetHeader(name, value string) error {
	c.live()
	if !httpfield.IsToken(name) || !validHeaderValue(value) {
		return fmt.Errorf("web: header %q: no field name, or control characters in the value", name)
	}
	c.w.Header().Set(name, value)
	return nil
}

// Cookie returns the value of a request cookie, "" when absent. Only the first
// Limits.Cookies are looked at.
func (c *Context) Cookie(name string) string {
	v, _ := c.cookie(name)
	return v
}

func (c *Context) cookie(name string) (string, bool) {
	c.live()
	left := c.app.limits.Cookies
	for _, line := range c.req.Header["Cookie"] {
		for line != "" {
			if left--; left == -1 {
				return "", false
			}
			var part string
			part, line, _ = strings.Cut(line, ";")
			if k, v, ok := strings.Cut(strings.TrimSpace(part), "="); ok && k == name {
				if len(v) > 1 && v[0] == '"' && v[len(v)-1] == '"' {
					v = v[1 : len(v)-1]
				}
				return v, true
			}
		}
	}
	return "", false
}

// SetCookie adds a cookie to the answer, always HttpOnly and Secure, SameSite
// Lax unless it is Strict. A cookie with an invalid name or value is not set but
// logged. For another shape use http.SetCookie(c.Writer(), ck) and know why.
func (c *Context) SetCookie(ck *http.Cookie) {
	c.live()
	safe := *ck
	safe.HttpOnly, safe.Secure = true, true
	if safe.SameSite != http.SameSiteStrictMode {
		safe.SameSite = http.SameSiteLaxMode
	}
	if err := safe.Valid(); err != nil {
		c.logError("invalid cookie not set", err)
		return
	}
	http.SetCookie(c.w, &safe)
}

// User returns what SetUser set: who the request acts for.
func (c *Context) User() string {
	c.live()
	return c.user
}

// SetUser notes who the request acts for, after authentication.
func (c *Context) SetUser(name string) {
	c.live()
	c.user = name
}

// ClientIP returns the client's address by the App's policy; it is invalid when
// the peer has none, as on a Unix socket.
func (c *Context) ClientIP() netip.Addr {
	c.live()
	return c.app.opts.ClientIP.client(c.req)
}

// FromProxy reports whether the peer is a trusted proxy of the policy.
func (c *Context) FromProxy() bool {
	c.live()
	p := &c.app.opts.ClientIP
	return len(p.trusted) > 0 && p.trusts(peerAddr(c.req))
}

// Key is a place for a value in a Context, made by NewKey.
type Key[T any] struct{ k *keyName }

type keyName struct{ name string }

// NewKey makes a key of its own, equal to no other. The name is for people.
func NewKey[T any](name string) Key[T] { return Key[T]{&keyName{name}} }

// String returns the key's name.
func (k Key[T]) String() string { return k.k.name }

// Set stores a value for the rest of the request.
func (k Key[T]) Set(c *Context, v T) {
	c.live()
	for i := range c.values {
		if c.values[i].key == k.k {
			c.values[i].value = v
			return
		}
	}
	c.values = append(c.values, keyed{k.k, v})
}

// Get returns the value and whether one was set.
func (k Key[T]) Get(c *Context) (T, bool) {
	c.live()
	for i := range c.values {
		if c.values[i].key == k.k {
			v, ok := c.values[i].value.(T)
			return v, ok
		}
	}
	var zero T
	return zero, false
}

// chunkTime gives the next chunk of a long answer its time to be written,
// where the server has a write timeout for whole answers.
func (c *Context) chunkTime() {
	// A writer without deadlines (a recorder) has nothing to extend.
	_ = http.NewResponseController(c.w).SetWriteDeadline(time.Now().Add(slowAnswer))
}
