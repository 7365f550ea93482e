package fetch

import (
	"fmt"
	"net/http"
	"net/textproto"
	"net/url"
	"time"

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

// follow lets net/http's client follow redirects and keep cookies; what it does with methods, bodies and cookie jars is
// right. first is the answer to req when it is there already: most calls see no redirect and go without that client.
func (c *Client) follow(req *http.Request, first *http.Response) (*http.Response, error) {
	h := http.Client{Transport: &primed{next: c.stack, first: first}, CheckRedirect: c.checkRedirect, Jar: c.cfg.Jar}
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
}

func (p *primed) RoundTrip(req *http.Request) (*http.Response, error) {
	if resp := p.first; resp != nil {
		p.first = nil
		return resp, nil
	}
	return p.next.RoundTrip(req)
}

// checkRedirect is the policy, before each hop.
func (c *Client) checkRedirect(req *http.Request, via []*http.Request) error {
	if c.cfg.MaxRedirects < 0 {
		return http.ErrUseLastResponse
	}
	st := call.From(via[0].Context())
	last := via[len(via)-1]
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

// crossed tells whether the chain has ever left the first origin: also its return there was ordered by another.
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

// keepHarmless drops every field that may be a credential, which is every field not known to be none: names like
// X-Api-Key are anybody's to choose.
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
