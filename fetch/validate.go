package fetch

import (
	"net/http"
	"net/textproto"
	"net/url"
	"reflect"
	"strings"

	"example.com/quire/fetch/internal/call"
)

// validate returns every ConfigError of c, joined.
func (c *Config) validate() error {
	var k call.Check
	c.members(&k)
	if c.Base != nil && !reflect.ValueOf(c.Transport).IsZero() && c.Transport.Guard == nil {
		k.Fail("Transport", "a value", "unset with Base, which it does not describe")
	}
	c.Transport.validate(&k, c.Base != nil)
	k.Duration("Total", c.Total)
	k.Duration("Attempt", c.Attempt)
	k.Duration("BodyIdle", c.BodyIdle)
	if c.Total > 0 && c.Attempt > c.Total {
		k.Fail("Attempt", c.Attempt, "at most Total, which is "+c.Total.String())
	}
	if c.MaxBody < -1 {
		k.Fail("MaxBody", c.MaxBody, "-1 for no bound, 0 for the default, or a positive number")
	}
	if c.MaxRedirects < -1 {
		k.Fail("MaxRedirects", c.MaxRedirects, "-1 for none, 0 for the default, or a positive number")
	}
	k.Count("Drain.MaxBytes", c.Drain.MaxBytes)
	k.Duration("Drain.Wait", c.Drain.Wait)
	k.Join("Retry.", c.Retry.Validate())
	k.Join("Budget.", c.Budget.Validate())
	k.Join("Breaker.", c.Breaker.Validate())
	c.optional(&k)
	c.names(&k)
	c.base(&k)
	return k.Err()
}

// optional checks the layers that are there only when asked for.
func (c *Config) optional(k *call.Check) {
	if c.Cache != nil {
		k.Join("Cache.", c.Cache.Validate())
	}
	if c.Collapse != nil {
		k.Join("Collapse.", c.Collapse.Validate())
	}
	total := c.withDefaults().Total
	if l := c.Limit; l != nil {
		k.Join("Limit.", l.Validate())
		if l.MaxWait > total {
			k.Fail("Limit.MaxWait", l.MaxWait, "at most Total, which is "+total.String())
		}
	}
	if b := c.Bulkhead; b != nil {
		k.Join("Bulkhead.", b.Validate())
		if b.MaxWait > total {
			k.Fail("Bulkhead.MaxWait", b.MaxWait, "at most Total, which is "+total.String())
		}
	}
	if a := c.Adaptive; a != nil {
		k.Join("Adaptive.", a.Validate())
		if a.MaxWait > total {
			k.Fail("Adaptive.MaxWait", a.MaxWait, "at most Total, which is "+total.String())
		}
		if c.Bulkhead != nil {
			k.Fail("Adaptive", "a value", "unset with Bulkhead: one limit is enough")
		}
	}
	if c.Hedge != nil {
		k.Join("Hedge.", c.Hedge.Validate())
	}
}

// members refuses the nil values inside of what is set, typed ones too: they would panic in the
// middle of a call.
func (c *Config) members(k *call.Check) {
	for _, m := range []struct {
		field string
		value any
	}{{"Base", c.Base}, {"Jar", c.Jar}} {
		if v := reflect.ValueOf(m.value); v.IsValid() && v.Kind() == reflect.Pointer && v.IsNil() {
			k.Fail(m.field, "a nil "+v.Type().String(), "nothing, or a value that can be called")
		}
	}
	for _, l := range []struct {
		field  string
		layers []Layer
	}{{"Middleware", c.Middleware}, {"PerAttempt", c.PerAttempt}} {
		for _, layer := range l.layers {
			if layer == nil {
				k.Fail(l.field, "a nil Layer", "layers that can be called")
			}
		}
	}
	for _, o := range c.Observers {
		if o == nil {
			k.Fail("Observers", "a nil Func", "functions that can be called")
		}
	}
	for name, d := range c.Decoders {
		if d == nil {
			k.Fail("Decoders", "a nil Decoder for "+name, "decoders that can be called")
		}
		if !token(name) {
			k.Fail("Decoders", name, "names of content-codings")
		}
	}
}

// names checks what becomes a header field.
func (c *Config) names(k *call.Check) {
	for name, values := range c.Header {
		if !token(name) {
			k.Fail("Header", name, "field names that are tokens (RFC 9110, section 5.1)")
		}
		for _, v := range values {
			if !fieldValue(v) {
				k.Fail("Header", "a value of "+name+" with control characters", "visible characters, space and tab")
			}
		}
	}
	if !fieldValue(c.UserAgent) {
		k.Fail("UserAgent", "control characters", "visible characters, space and tab")
	}
	for _, h := range []struct{ field, name string }{
		{"DeadlineHeader", c.DeadlineHeader}, {"IdempotencyHeader", c.IdempotencyHeader}, {"RequestID.Header", c.RequestID.Header},
	} {
		switch {
		case h.name == "":
		case !token(h.name):
			k.Fail(h.field, h.name, "a field name that is a token (RFC 9110, section 5.1)")
		case standardField(h.name):
			k.Fail(h.field, h.name, "a field that has no other meaning in HTTP")
		}
	}
}

func (c *Config) base(k *call.Check) {
	if c.BaseURL == "" {
		return
	}
	const want = "an absolute http or https URL without query, fragment and credentials"
	u, err := url.Parse(c.BaseURL)
	switch {
	case err != nil:
		k.Fail("BaseURL", "what net/url does not parse", want)
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "", u.RawQuery != "", u.ForceQuery, u.Fragment != "", u.User != nil, u.Opaque != "":
		k.Fail("BaseURL", call.Redact(u), want)
	}
}

// token tells whether s is one (RFC 9110, section 5.6.2).
func token(s string) bool {
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0:
		default:
			return false
		}
	}
	return s != ""
}

func fieldValue(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// standardField tells whether HTTP itself gives the field a meaning that a value of ours would
// spoil.
func standardField(name string) bool {
	switch name = textproto.CanonicalMIMEHeaderKey(name); name {
	case "Accept", "Age", "Allow", "Authorization", "Connection", "Cookie", "Date", "Etag", "Expect", "Expires", "Forwarded",
		"From", "Host", "Keep-Alive", "Last-Modified", "Link", "Location", "Max-Forwards", "Origin", "Pragma", "Range", "Referer",
		"Retry-After", "Server", "Set-Cookie", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent", "Vary", "Via",
		"Warning", "Www-Authenticate", "Cache-Control", "Cdn-Cache-Control", "Cache-Status", "Priority", "Traceparent", "Tracestate",
		"Alt-Svc", "Strict-Transport-Security", "Http2-Settings":
		return true
	}
	for _, family := range []string{"Accept-", "Access-Control-", "Content-", "If-", "Proxy-", "Sec-"} {
		if strings.HasPrefix(name, family) {
			return true
		}
	}
	return false
}

// defaultsFor returns the default fields for a request to u.
func (c *Client) defaultsFor(u *url.URL) http.Header {
	if c.base != nil && !sameOrigin(c.base, u) {
		return nil
	}
	return c.cfg.Header
}
