package fetch

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"example.com/quire/fetch/breaker"
	"example.com/quire/fetch/httpcache"
	"example.com/quire/fetch/internal/call"
	"example.com/quire/fetch/internal/meter"
	"example.com/quire/fetch/internal/origin"
	"example.com/quire/fetch/internal/timers"
	"example.com/quire/fetch/limit"
	"example.com/quire/fetch/retry"
)

// Client makes calls. It is safe for concurrent use; make one and keep it.
type Client struct {
	cfg      Config
	base     *url.URL
	stack    http.RoundTripper
	own      *http.Transport
	breakers *breaker.Set
	spender  retry.Spender
	meter    *meter.Meter
	timers   *timers.Queue // of the attempts; apart, since the runtime's timer may outlive the client

	// The layers with a state to show; nil = none.
	cache     *httpcache.Cache
	limits    *limit.Keyed
	bulkheads []*limit.Bulkhead
	closed    atomic.Bool
}

// New returns a client. Its error joins a *ConfigError for everything that is wrong with c.
func New(c Config) (*Client, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	cl := &Client{cfg: c.withDefaults(), meter: meter.New(), timers: new(timers.Queue)}
	if c.BaseURL != "" {
		u, err := url.Parse(c.BaseURL)
		if err != nil {
			return nil, err
		}
		cl.base = u
	}
	if err := cl.assemble(); err != nil {
		return nil, err
	}
	return cl, nil
}

// Do sends req and returns its response, redirects followed. The response is an ordinary one: its
// body must be read or closed. A response of any status is a nil error. The request is not
// modified; its body is closed, also on errors. Every error is an *Error.
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	r, st, err := c.begin(req)
	if err != nil {
		return nil, c.fail(req, st, err)
	}
	var resp *http.Response
	header := r.Header
	if c.cfg.Jar != nil {
		r.Header = r.Header.Clone() // net/http's client puts the cookies into the map that it finds
		resp, err = c.follow(r, nil)
	} else if resp, err = c.stack.RoundTrip(r); err == nil && c.cfg.MaxRedirects >= 0 && isRedirect(resp) {
		first := *r
		first.Header = header // without what decode has put into it
		resp, err = c.follow(&first, resp)
	}
	if err != nil {
		return nil, c.fail(r, st, err)
	}
	return resp, nil
}

// begin makes a request of the client's own out of the caller's: with the call's state as its
// context, an absolute address and the default fields.
func (c *Client) begin(req *http.Request) (*http.Request, *call.State, error) {
	if req == nil || req.URL == nil {
		return nil, nil, errNoRequest
	}
	if c.closed.Load() {
		closeBody(req)
		return nil, nil, ErrClosed
	}
	now := time.Now()
	f := newFrame(c.cache != nil)
	st := &f.state
	st.Init(req.Context(), now, f.log())
	st.Client, st.Observers = f, c.cfg.Observers
	if c.cfg.Off&OffDeadlines == 0 && !st.Off(OffDeadlines) {
		total := c.cfg.Total
		if o := st.Options.Total; o > 0 {
			total = o
		}
		st.End = now.Add(total)
	}
	r := &f.own
	*r = *req.WithContext(st)
	if err := c.address(r); err != nil {
		closeBody(req)
		return nil, st, err
	}
	if r.Method == "" {
		r.Method = http.MethodGet
	}
	st.Method, st.Origin = r.Method, origin.Of(r.URL)
	c.chain(r, st)
	c.fill(r, st)
	st.URL = r.URL
	return r, st, nil
}

// chain takes over what r, when it follows a redirect of a plain client, owes to the requests
// before it.
func (c *Client) chain(r *http.Request, st *call.State) {
	if r.Response == nil {
		return
	}
	before, known := continues(r)
	if !known {
		st.Cross()
	}
	for _, b := range before {
		if !sameOrigin(b.URL, r.URL) {
			st.Cross()
		}
	}
	if len(before) == 0 {
		return
	}
	if prev := call.From(before[0].Context()); prev != nil && prev.Method == st.Method && !st.Crossed() {
		st.ShareKey(prev)
	}
}

var (
	errNoRequest = call.Final("no request")
	errNoBase    = call.Final("relative address without Config.BaseURL")
	errScheme    = call.Final("not an http or https address")
	errNoHost    = call.Final("address without host")
	errOutside   = call.Final("relative address leads out of Config.BaseURL")
)

// address makes r's URL absolute.
func (c *Client) address(r *http.Request) error {
	u := r.URL
	if u.Scheme == "" && u.Host == "" {
		if c.base == nil {
			return errNoBase
		}
		joined, err := c.join(u)
		if err != nil {
			return err
		}
		r.URL, r.Host = joined, ""
		return nil
	}
	if u.Scheme != "http" && u.Scheme != "https" && !strings.EqualFold(u.Scheme, "http") && !strings.EqualFold(u.Scheme, "https") {
		return errScheme
	}
	if u.Host == "" || (u.Host[0] == ':' || u.Host[0] == '[') && u.Hostname() == "" {
		return errNoHost
	}
	return nil
}

// join appends a relative address to the base.
func (c *Client) join(ref *url.URL) (*url.URL, error) {
	if ref.Opaque != "" || ref.User != nil {
		return nil, errScheme
	}
	u := *c.base
	if ref.Path != "" {
		below, err := resolved(ref.EscapedPath())
		if err != nil {
			return nil, err
		}
		p := strings.TrimSuffix(u.EscapedPath(), "/") + "/" + below
		plain, err := url.PathUnescape(p)
		if err != nil {
			return nil, errScheme
		}
		u.Path, u.RawPath = plain, p
	}
	u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = ref.RawQuery, ref.ForceQuery, "", ""
	return &u, nil
}

// resolved removes the dot segments of a relative path (RFC 3986, section 5.2.4), so that none can
// lead out of the base's path at the server. Many a server decodes before it resolves: %2e%2e is a
// dot segment, and one that hides behind an encoded slash or a backslash is refused.
func resolved(escaped string) (string, error) {
	segments := strings.Split(strings.TrimPrefix(escaped, "/"), "/")
	kept := make([]string, 0, len(segments))
	for i, s := range segments {
		plain, err := url.PathUnescape(s)
		if err != nil {
			return "", errScheme
		}
		slash := func(r rune) bool { return r == '/' || r == '\\' }
		switch {
		case plain == ".":
		case plain == "..":
			if len(kept) == 0 {
				return "", errOutside
			}
			kept = kept[:len(kept)-1]
		case slices.Contains(strings.FieldsFunc(plain, slash), ".."):
			return "", errOutside
		default:
			kept = append(kept, s)
			continue
		}
		if i == len(segments)-1 { // of a directory, which ends in a slash
			kept = append(kept, "")
		}
	}
	return strings.Join(kept, "/"), nil
}

// fill sets the default fields, and turns credentials in the address into the field that they stand
// for.
func (c *Client) fill(r *http.Request, st *call.State) {
	user := r.URL.User
	var defaults http.Header
	if !st.Crossed() {
		defaults = c.defaultsFor(r.URL)
	}
	if user == nil && len(defaults) == 0 && c.cfg.UserAgent == "" && r.Header != nil {
		return
	}
	h := r.Header.Clone()
	if h == nil {
		h = make(http.Header, len(defaults)+2)
	}
	r.Header = h
	if user != nil {
		u := *r.URL
		u.User = nil
		r.URL = &u
		if h.Get("Authorization") == "" {
			password, _ := user.Password()
			r.SetBasicAuth(user.Username(), password)
		}
	}
	for name, values := range defaults {
		name = http.CanonicalHeaderKey(name)
		if _, ok := h[name]; !ok {
			h[name] = append([]string(nil), values...)
		}
	}
	if _, ok := h["User-Agent"]; !ok && c.cfg.UserAgent != "" {
		h.Set("User-Agent", c.cfg.UserAgent)
	}
}

// fail makes the *Error of a call.
func (c *Client) fail(req *http.Request, st *call.State, err error) error {
	var own *Error
	if errors.As(err, &own) && st == nil {
		return err
	}
	e := &Error{Err: err}
	if req != nil && req.URL != nil {
		e.Op, e.urls = req.Method, []*url.URL{req.URL}
		e.Op = cmp.Or(e.Op, http.MethodGet)
		e.URL, e.Origin = origin.Redact(req.URL), originOf(req)
	}
	if st != nil {
		e.RequestID, e.Attempts = st.RequestID(), st.Attempts()
		if hops := st.Hops(); len(hops) > 0 {
			last := hops[len(hops)-1]
			e.URL, e.Origin = origin.Redact(last), origin.Of(last).String()
			e.Err = &chainError{redacted(hops), err}
			e.urls = append(e.urls, hops...)
		}
	}
	return e
}

// Get sends a GET request. Like the others it takes an absolute address, or one relative to
// Config.BaseURL.
func (c *Client) Get(ctx context.Context, url string) (*http.Response, error) {
	return c.send(ctx, http.MethodGet, url, "", nil)
}

// Head sends a HEAD request.
func (c *Client) Head(ctx context.Context, url string) (*http.Response, error) {
	return c.send(ctx, http.MethodHead, url, "", nil)
}

// Delete sends a DELETE request.
func (c *Client) Delete(ctx context.Context, url string) (*http.Response, error) {
	return c.send(ctx, http.MethodDelete, url, "", nil)
}

// Post sends a POST request. A *bytes.Reader, *bytes.Buffer or *strings.Reader as body can be sent
// again.
func (c *Client) Post(ctx context.Context, url, contentType string, body io.Reader) (*http.Response, error) {
	return c.send(ctx, http.MethodPost, url, contentType, body)
}

// Put sends a PUT request.
func (c *Client) Put(ctx context.Context, url, contentType string, body io.Reader) (*http.Response, error) {
	return c.send(ctx, http.MethodPut, url, contentType, body)
}

// Patch sends a PATCH request.
func (c *Client) Patch(ctx context.Context, url, contentType string, body io.Reader) (*http.Response, error) {
	return c.send(ctx, http.MethodPatch, url, contentType, body)
}

func (c *Client) send(ctx context.Context, method, address, contentType string, body io.Reader) (*http.Response, error) {
	req, err := newRequest(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	return c.Do(req)
}

// newRequest is http.NewRequestWithContext with an error that does not quote the address.
func newRequest(ctx context.Context, method, address string, body io.Reader) (*http.Request, error) {
	if ctx == nil {
		return nil, &Error{Op: method, Err: call.Final("no context")}
	}
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		if _, ok := errors.AsType[*url.Error](err); ok {
			err = call.Final("address does not parse")
		}
		return nil, &Error{Op: method, Err: err}
	}
	return req, nil
}

// Transport returns the stack without redirects, for SDKs, plain clients and httputil.ReverseProxy.
// Each request is a call.
func (c *Client) Transport() http.RoundTripper { return &entry{c} }

// HTTP returns a plain client over Transport with the redirect policy and the jar of c. To it each
// hop is a call of its own, with a total deadline of its own.
func (c *Client) HTTP() *http.Client {
	return &http.Client{Transport: strict{&entry{c}}, CheckRedirect: c.checkRedirect(nil), Jar: c.cfg.Jar}
}

// Close refuses further calls with ErrClosed, ends background work and waits for it until ctx ends,
// and closes the idle connections that the client owns. Calls under way go on, within their own
// deadlines.
func (c *Client) Close(ctx context.Context) error {
	c.closed.Store(true)
	c.timers.Close()
	var err error
	if c.cache != nil {
		err = c.cache.Close(ctx)
	}
	if c.own != nil {
		c.own.CloseIdleConnections()
	}
	if err != nil {
		return err
	}
	return ctx.Err()
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}
