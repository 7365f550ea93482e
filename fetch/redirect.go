package fetch

import (
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"time"

	"example.com/quire/fetch/internal/body"
	"example.com/quire/fetch/internal/call"
	"example.com/quire/fetch/internal/origin"
)

// redirectError is the refusal to follow.
type redirectError struct{ why string }

func (e *redirectError) Error() string        { return ErrRedirectDenied.Error() + ": " + e.why }
func (e *redirectError) Is(target error) bool { return target == ErrRedirectDenied }
func (e *redirectError) Retryable() bool      { return false }

func sameOrigin(a, b *url.URL) bool { return origin.Of(a) == origin.Of(b) }

// isRedirect tells whether net/http's client would follow resp.
func isRedirect(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return resp.Header.Get("Location") != ""
	}
	return false
}

// follow lets net/http's client follow redirects and keep cookies; what it does with methods,
// bodies and cookie jars is right, but for QUERY: see keepMethod. first is the answer to req when
// it is there already: most calls see no redirect and go without that client.
func (c *Client) follow(req *http.Request, first *http.Response) (*http.Response, error) {
	h := http.Client{Transport: &primed{next: c.stack, first: first, check: c.cfg.MaxRedirects >= 0}, CheckRedirect: c.checkRedirect(call.From(req.Context())), Jar: c.cfg.Jar}
	resp, err := h.Do(req)
	if err != nil {
		// Its *url.Error has the address with everything in it; ours has it redacted.
		if ue, ok := err.(*url.Error); ok { //nolint:errorlint // only the outermost, which the client adds
			err = ue.Err
		}
		return nil, err
	}
	return resp, nil
}

// primed answers the first request by the response in hand.
type primed struct {
	next  http.RoundTripper
	first *http.Response
	check bool
}

func (p *primed) RoundTrip(req *http.Request) (*http.Response, error) {
	resp := p.first
	if p.first = nil; resp == nil {
		var err error
		if resp, err = p.next.RoundTrip(req); err != nil {
			return nil, err
		}
	}
	if p.check {
		if err := readable(resp); err != nil {
			return nil, err
		}
		keepMethod(req, resp)
	}
	return resp, nil
}

// keepMethod lets net/http's client repeat a QUERY where 301 and 302 say so: it takes them for 308
// and 307. To that client every method but GET and HEAD becomes GET then, which of POST is a custom
// that RFC 9110 permits (sections 15.4.2 and 15.4.3), while a QUERY without its body asks for
// something else, and may well be answered. checkRedirect gives the response its status back.
func keepMethod(req *http.Request, resp *http.Response) {
	code := resp.StatusCode
	if req.Method != "QUERY" || code != http.StatusMovedPermanently && code != http.StatusFound || resp.Header.Get("Location") == "" {
		return
	}
	if req.Body != nil && req.Body != http.NoBody && req.GetBody == nil {
		return
	}
	resp.Status = fmt.Sprintf("%d %s", code, http.StatusText(code)) // by which it is known again
	resp.StatusCode = http.StatusTemporaryRedirect
	if code == http.StatusMovedPermanently {
		resp.StatusCode = http.StatusPermanentRedirect
	}
}

// restore undoes keepMethod.
func restore(resp *http.Response) {
	for _, code := range []int{http.StatusMovedPermanently, http.StatusFound} {
		if strings.HasPrefix(resp.Status, strconv.Itoa(code)) {
			resp.StatusCode = code
		}
	}
}

// readable refuses a redirect whose Location cannot be read, and closes its body. net/http's client
// would quote it in full, with the credentials and tokens it may hold; what does not parse cannot
// be redacted, so its length is all that is told.
func readable(resp *http.Response) error {
	if !isRedirect(resp) {
		return nil
	}
	location := resp.Header.Get("Location")
	if _, err := url.Parse(location); err == nil {
		return nil
	}
	if resp.Body != nil {
		body.Discard(resp.Body)
	}
	return &redirectError{fmt.Sprintf("a Location of %d bytes that does not parse", len(location))}
}

// strict is the transport of HTTP: its client follows redirects, and Transport's callers may not.
type strict struct{ *entry }

// RoundTrip implements http.RoundTripper.
func (s strict) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := s.entry.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if s.c.cfg.MaxRedirects >= 0 {
		if err := readable(resp); err != nil {
			return nil, s.c.fail(req, call.From(resp.Request.Context()), err)
		}
		keepMethod(req, resp)
	}
	return resp, nil
}

// checkRedirect returns the policy, to be asked before each hop of a call. Its state is nil where
// each hop is a call of its own: what the context of its first request has is that of a call around
// it, in whose attempt it is made.
func (c *Client) checkRedirect(st *call.State) func(req *http.Request, via []*http.Request) error {
	return func(req *http.Request, via []*http.Request) error {
		resp := req.Response
		if resp != nil {
			restore(resp)
		}
		err := c.mayFollow(st, req, via)
		if resp != nil && resp.Body != nil && !errors.Is(err, http.ErrUseLastResponse) {
			body.Discard(resp.Body) // that client waits for 2 KiB of it, which a server may send for as long as it likes
			resp.Body = http.NoBody
		}
		return err
	}
}

func (c *Client) mayFollow(st *call.State, req *http.Request, via []*http.Request) error {
	if c.cfg.MaxRedirects < 0 {
		return http.ErrUseLastResponse
	}
	last := via[len(via)-1]
	if last.Method == "QUERY" && req.Method != last.Method && req.Response != nil && req.Response.StatusCode != http.StatusSeeOther {
		return http.ErrUseLastResponse // its body cannot be sent again: see keepMethod
	}
	// Credentials in a Location would be sent on as an Authorization field.
	req.URL.User = nil
	if st != nil {
		st.AddHop(req.URL)
	}
	switch {
	case len(via) > c.cfg.MaxRedirects:
		return &redirectError{fmt.Sprintf("more than %d", c.cfg.MaxRedirects)}
	case req.URL.Scheme != "http" && req.URL.Scheme != "https":
		return &redirectError{"not to HTTP"}
	case req.URL.Host == "":
		return &redirectError{"no host"}
	case last.URL.Scheme == "https" && req.URL.Scheme == "http":
		return &redirectError{"from https to http"}
	}
	if crossed(req, via) {
		keepHarmless(req.Header)
		req.Host = "" // the caller's own, which net/http keeps for a Location without scheme: "//other.example/" has none either
		if st != nil {
			st.Cross()
		}
		if req.Body != nil && req.Body != http.NoBody && !c.cfg.CrossOriginBody {
			return &redirectError{"a body to another origin"}
		}
	}
	if st != nil && st.Observed() {
		e := &call.Event{Kind: call.KindRedirect, Time: time.Now()}
		if req.Response != nil {
			e.Status, e.ResponseHeader = req.Response.StatusCode, req.Response.Header
		}
		st.Emit(req, e)
	}
	return nil
}

// crossed tells whether the chain has ever left the first origin: also its return there was ordered
// by another.
func crossed(req *http.Request, via []*http.Request) bool {
	first := via[0].URL
	if !sameOrigin(first, req.URL) {
		return true
	}
	for _, v := range via[1:] {
		if !sameOrigin(first, v.URL) {
			return true
		}
	}
	return false
}

// continues tells what net/http's client says about a request that follows a redirect: the requests
// before it, the latest first. known is false when the chain cannot be seen whole.
func continues(req *http.Request) (before []*http.Request, known bool) {
	for r := req; r.Response != nil; r = r.Response.Request {
		if r.Response.Request == nil || len(before) > 100 {
			return before, false
		}
		before = append(before, r.Response.Request)
	}
	return before, true
}

// keepHarmless drops every field that may be a credential, which is every field not known to be
// none: names like X-Api-Key are anybody's to choose.
func keepHarmless(h http.Header) {
	for name := range h {
		switch textproto.CanonicalMIMEHeaderKey(name) {
		case "Accept", "Accept-Charset", "Accept-Encoding", "Accept-Language", "Cache-Control", "Content-Encoding", "Content-Language",
			"Content-Type", "If-Match", "If-Modified-Since", "If-None-Match", "If-Range", "If-Unmodified-Since", "Pragma", "Range",
			"User-Agent", "Traceparent", "Tracestate":
		default:
			delete(h, name)
		}
	}
}

func redacted(hops []*url.URL) []string {
	if len(hops) == 0 {
		return nil
	}
	list := make([]string, len(hops))
	for i, u := range hops {
		list[i] = origin.Redact(u)
	}
	return list
}
