package config

import (
	"encoding/hex"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	nameForm      = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	parameterForm = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_]*)\}`)
	tokenForm     = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$") // RFC 9110, 5.6.2
)

// checker collects faults; at is the path of the value that is wrong.
type checker struct {
	src    *source
	faults []Fault
}

func (k *checker) fail(at string, format string, a ...any) {
	f := Fault{Message: fmt.Sprintf(format, a...)}
	if k.src.file != "" && !k.src.outside[at] {
		f.File = k.src.file
		f.Line, f.Col = k.src.place(at)
	}
	if at != "" {
		f.Message = at + ": " + f.Message
	}
	k.faults = append(k.faults, f)
}

func (c *Config) check(src *source, lookup func(string) (string, bool)) []Fault {
	k := &checker{src: src}
	_, port, listenErr := net.SplitHostPort(c.Listen)
	if listenErr != nil {
		k.fail("listen", "want host:port, got %q", c.Listen)
	} else if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		k.fail("listen", "port %q is not a number from 0 to 65535", port)
	}
	if u, err := url.Parse(c.PublicURL); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.RawQuery != "" {
		k.fail("public-url", "want http(s)://host[/path], got %q", c.PublicURL)
	}
	if (c.TLS.Cert == "") != (c.TLS.Key == "") {
		k.fail("tls", "cert and key go together")
	}
	if c.TLS.Cert != "" && c.TLS.Proxy {
		k.fail("tls.proxy", "either the server speaks TLS (cert, key) or a proxy does, not both")
	}
	if listenErr == nil && c.Loopback() && c.TLS.Proxy && len(c.Tokens) == 0 {
		// Many proxies send the loopback name that they were given as Host, which is all that
		// tells a caller of this machine from others.
		k.fail("tls.proxy", "behind a proxy everybody comes from this machine, and no token is configured; add tokens: [{space: %s, sha256: ...}] (`quire serve --help` shows how to make one)", LocalSpace)
	}
	if listenErr == nil && !c.Loopback() {
		// Off loopback anyone may knock: without a token nobody could be told apart, and
		// without TLS the token would travel in the clear.
		if len(c.Tokens) == 0 {
			k.fail("listen", "%s is not a loopback address and no token is configured; add tokens: [{space: %s, sha256: ...}] (`quire serve --help` shows how to make one)", c.Listen, LocalSpace)
		}
		if c.TLS.Cert == "" && !c.TLS.Proxy {
			k.fail("listen", "%s is not a loopback address; set tls: {cert, key}, or tls: {proxy: true} when a proxy speaks TLS", c.Listen)
		}
	}
	c.checkTokens(k)
	for _, name := range slices.Sorted(maps.Keys(c.Sources)) {
		c.checkSource(k, name, lookup)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Reports)) {
		c.checkReport(k, name)
	}
	if c.Limits.Body < leastBody || c.Limits.Body > mostBody {
		k.fail("limits.body", "want %s to %s, got %s", Size(leastBody), Size(mostBody), c.Limits.Body)
	}
	if c.Log.Format != "text" && c.Log.Format != "json" {
		k.fail("log.format", "want text or json, got %q", c.Log.Format)
	}
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, c.Log.Level) {
		k.fail("log.level", "want debug, info, warn or error, got %q", c.Log.Level)
	}
	return k.faults
}

func (c *Config) checkTokens(k *checker) {
	seen := map[string]bool{}
	for i, t := range c.Tokens {
		at := fmt.Sprintf("tokens[%d]", i)
		if !nameForm.MatchString(t.Space) {
			k.fail(at+".space", "want a name of a-z, 0-9, dot, dash and underscore, got %q", t.Space)
		}
		sum := strings.ToLower(t.SHA256)
		if b, err := hex.DecodeString(sum); err != nil || len(b) != 32 {
			k.fail(at+".sha256", "want the 64 hex digits of SHA-256(token)")
		} else if seen[sum] {
			k.fail(at+".sha256", "the same token stands twice")
		}
		seen[sum] = true
	}
}

func (c *Config) checkSource(k *checker, name string, lookup func(string) (string, bool)) {
	s, at := c.Sources[name], "sources."+name
	if !nameForm.MatchString(name) {
		k.fail(at, "a source's name has a-z, 0-9, dot, dash and underscore")
	}
	if !nameForm.MatchString(s.Space) {
		k.fail(at+".space", "want a name of a-z, 0-9, dot, dash and underscore, got %q", s.Space)
	}
	u, err := url.Parse(parameterForm.ReplaceAllString(s.URL, "x"))
	switch {
	case s.URL == "":
		k.fail(at, "no url")
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		k.fail(at+".url", "want http(s)://host/path, got %q", s.URL)
	case u.User != nil:
		k.fail(at+".url", "no credentials in URLs; use headers: {Authorization: {env: NAME}}")
	case parameterForm.MatchString(hostPart(s.URL)):
		k.fail(at+".url", "the host is fixed: parameters stand in the path and query only")
	}
	used := map[string]bool{}
	for _, m := range parameterForm.FindAllStringSubmatch(s.URL, -1) {
		used[m[1]] = true
		if _, ok := s.Parameters[m[1]]; !ok {
			k.fail(at+".url", "{%s} is not among parameters", m[1])
		}
	}
	for _, p := range slices.Sorted(maps.Keys(s.Parameters)) {
		if kind := s.Parameters[p]; kind != "string" && kind != "integer" {
			k.fail(at+".parameters."+p, "want string or integer, got %q", kind)
		}
		if !used[p] {
			k.fail(at+".parameters."+p, "the url does not use {%s}", p)
		}
	}
	for _, h := range slices.Sorted(maps.Keys(s.Headers)) {
		v := s.Headers[h]
		if !tokenForm.MatchString(h) {
			k.fail(at+".headers."+h, "%q is not a header name", h)
		}
		if v.Env != "" && v.Value != "" {
			k.fail(at+".headers."+h, "either value or env, not both")
		}
		if text, _ := lookup(v.Env); v.Env != "" && text == "" {
			k.fail(at+".headers."+h, "environment variable %s is not set, or empty", v.Env)
		}
	}
	for i, p := range s.Allow {
		if _, err := netip.ParsePrefix(p); err != nil {
			k.fail(fmt.Sprintf("%s.allow[%d]", at, i), "want an address prefix such as 10.1.0.0/16, got %q", p)
		}
	}
	if s.Timeout < 0 {
		k.fail(at+".timeout", "want a positive duration such as 20s")
	}
	if s.Attempts < 1 || s.Attempts > 10 {
		k.fail(at+".attempts", "want 1 to 10, got %d", s.Attempts)
	}
}

// hostPart is the authority of a URL template, before any parameter is filled in.
func hostPart(s string) string {
	_, rest, ok := strings.Cut(s, "://")
	if !ok {
		return ""
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	return rest
}

func (c *Config) checkReport(k *checker, name string) {
	r, at := c.Reports[name], "reports."+name
	if !nameForm.MatchString(name) {
		k.fail(at, "a report's name has a-z, 0-9, dot, dash and underscore")
	}
	if !nameForm.MatchString(r.Space) {
		k.fail(at+".space", "want a name of a-z, 0-9, dot, dash and underscore, got %q", r.Space)
	}
	if r.Template == "" {
		k.fail(at, "no template")
	}
	for _, key := range slices.Sorted(maps.Keys(r.Sources)) {
		use, at := r.Sources[key], at+".sources."+key
		s, ok := c.Sources[use.Source]
		if !ok {
			k.fail(at+".source", "no source %q%s", use.Source, didYouMean(use.Source, slices.Collect(maps.Keys(c.Sources))))
			continue
		}
		if s.Space != r.Space {
			k.fail(at+".source", "source %s belongs to space %s, the report to %s", use.Source, s.Space, r.Space)
		}
		for _, p := range slices.Sorted(maps.Keys(s.Parameters)) {
			if _, ok := use.With[p]; !ok {
				k.fail(at, "source %s needs the parameter %s: add with: {%s: ...}", use.Source, p, p)
			}
		}
		for _, p := range slices.Sorted(maps.Keys(use.With)) {
			v := use.With[p]
			kind, ok := s.Parameters[p]
			if !ok {
				k.fail(at+".with."+p, "source %s has no parameter %q%s", use.Source, p, didYouMean(p, slices.Collect(maps.Keys(s.Parameters))))
				continue
			}
			if _, err := strconv.ParseInt(v, 10, 64); kind == "integer" && err != nil {
				k.fail(at+".with."+p, "want integer, got %q", v)
			}
		}
	}
}
