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
	"time"

	"example.com/quire/internal/record"
)

var (
	nameForm      = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	parameterForm = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_]*)\}`)
	tokenForm     = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$") // RFC 9110, 5.6.2
)

// checker collects faults.
type checker struct {
	src    *source
	faults []record.Problem
}

// fail notes that the value of a key is not what is wanted.
func (k *checker) fail(key, want, got string) { k.suggest(key, want, got, "") }

// suggest is fail with what to do.
func (k *checker) suggest(key, want, got, suggestion string) {
	k.faults = append(k.faults, k.src.fault(key, want, got, suggestion))
}

const (
	wantName  = "a name of a-z, 0-9, dot, dash and underscore"
	addTokens = "add tokens: [{space: " + LocalSpace + ", sha256: ...}] (`quire serve --help` shows how to make one)"
)

func (c *Config) check(lookup func(string) (string, bool)) []record.Problem {
	k := &checker{src: c.src}
	_, port, listenErr := net.SplitHostPort(c.Listen)
	if listenErr != nil {
		k.fail("listen", "host:port, an IPv6 address in brackets", strconv.Quote(c.Listen))
	} else if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		k.fail("listen", "a port from 0 to 65535", strconv.Quote(port))
	}
	if u, err := url.Parse(c.PublicURL); listenErr == nil && (err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.RawQuery != "") {
		k.fail("public-url", "http(s)://host[/path]", strconv.Quote(c.PublicURL))
	}
	if (c.TLS.Cert == "") != (c.TLS.Key == "") {
		k.fail("tls", "both cert and key", "one of them")
	}
	if c.TLS.Cert != "" && c.TLS.Proxy {
		k.fail("tls.proxy", "cert and key if the server uses TLS, or proxy if a proxy does", "both")
	}
	if listenErr == nil && c.Loopback() && c.TLS.Proxy && len(c.Tokens) == 0 {
		// Many proxies send the loopback name that they were given as Host, which is all that
		// tells a caller of this machine from others.
		k.suggest("tls.proxy", "tokens, because behind a proxy every request comes from this machine", "none", addTokens)
	}
	if listenErr == nil && !c.Loopback() {
		// Off loopback anyone may knock: without a token nobody could be told apart, and
		// without TLS the token would travel in the clear.
		if len(c.Tokens) == 0 {
			k.suggest("listen", "tokens, because "+c.Listen+" is not a loopback address", "none", addTokens)
		}
		if c.TLS.Cert == "" && !c.TLS.Proxy {
			k.suggest("listen", "TLS, because "+c.Listen+" is not a loopback address", "none", "set tls: {cert, key}, or tls: {proxy: true} if a proxy uses TLS")
		}
	}
	c.checkTokens(k)
	for _, name := range slices.Sorted(maps.Keys(c.Sources)) {
		c.checkSource(k, name, lookup)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Signers)) {
		s, at := c.Signers[name], "signers."+name
		checkNames(k, at, name, s.Space)
		if s.Key == "" {
			k.fail(at+".key", "a file with a key and its certificates", "nothing")
		}
		checkSecret(k, at+".password", s.Password, lookup)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Reports)) {
		c.checkReport(k, name)
	}
	c.checkConvert(k)
	c.checkOCR(k)
	if c.Limits.Body < leastBody || c.Limits.Body > mostBody {
		k.fail("limits.body", Size(leastBody).String()+" to "+Size(mostBody).String(), c.Limits.Body.String())
	}
	if c.Log.Format != "text" && c.Log.Format != "json" {
		k.fail("log.format", "text or json", strconv.Quote(c.Log.Format))
	}
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, c.Log.Level) {
		k.fail("log.level", "debug, info, warn or error", strconv.Quote(c.Log.Level))
	}
	return k.faults
}

func (c *Config) checkTokens(k *checker) {
	seen := map[string]bool{}
	for i, t := range c.Tokens {
		at := fmt.Sprintf("tokens[%d]", i)
		if !nameForm.MatchString(t.Space) {
			k.fail(at+".space", wantName, strconv.Quote(t.Space))
		}
		sum := strings.ToLower(t.SHA256)
		if b, err := hex.DecodeString(sum); err != nil || len(b) != 32 {
			k.fail(at+".sha256", "the 64 hex digits of SHA-256(token)", "other text")
		} else if seen[sum] {
			k.fail(at+".sha256", "a different token in each entry", "the same token twice")
		}
		seen[sum] = true
	}
}

func (c *Config) checkSource(k *checker, name string, lookup func(string) (string, bool)) {
	s, at := c.Sources[name], "sources."+name
	checkNames(k, at, name, s.Space)
	u, err := url.Parse(parameterForm.ReplaceAllString(s.URL, "x"))
	switch {
	case s.URL == "":
		k.fail(at+".url", "http(s)://host/path", "nothing")
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		k.fail(at+".url", "http(s)://host/path", strconv.Quote(s.URL))
	case u.User != nil:
		k.suggest(at+".url", "no credentials", "credentials in the address", "use headers: {Authorization: {env: NAME}}")
	case parameterForm.MatchString(hostPart(s.URL)):
		k.fail(at+".url", "parameters in path and query only", "one in the host, which is fixed")
	}
	used := map[string]bool{}
	for _, m := range parameterForm.FindAllStringSubmatch(s.URL, -1) {
		used[m[1]] = true
		if _, ok := s.Parameters[m[1]]; !ok {
			k.fail(at+".url", "a parameter that is declared", "{"+m[1]+"}")
		}
	}
	for _, p := range slices.Sorted(maps.Keys(s.Parameters)) {
		if kind := s.Parameters[p]; kind != "string" && kind != "integer" {
			k.fail(at+".parameters."+p, "string or integer", strconv.Quote(kind))
		}
		if !used[p] {
			k.fail(at+".parameters."+p, "{"+p+"} in the url", "a url without it")
		}
	}
	for _, h := range slices.Sorted(maps.Keys(s.Headers)) {
		v := s.Headers[h]
		if !tokenForm.MatchString(h) {
			k.fail(at+".headers."+h, "the name of a header field", strconv.Quote(h))
		}
		checkSecret(k, at+".headers."+h, v, lookup)
	}
	checkPrefixes(k, at+".allow", s.Allow)
	if s.Timeout < 0 {
		k.fail(at+".timeout", "a positive duration such as 20s", s.Timeout.String())
	}
	if s.Attempts < 1 || s.Attempts > 10 {
		k.fail(at+".attempts", "1 to 10", strconv.Itoa(s.Attempts))
	}
}

// The most that a server converts at once, lets wait and reads, and the longest that one page may
// take. The bodies have room for the largest request.
const (
	mostParallel   = 16
	mostWaiting    = 256
	leastBodies    = 16 << 20
	mostBodies     = 1 << 30
	longestConvert = Duration(5 * time.Minute)
)

func (c *Config) checkConvert(k *checker) {
	v := c.Convert
	if v.Browser == "" {
		if v.NoSandbox || len(v.Hosts) > 0 || len(v.Allow) > 0 || v.Parallel != 0 || v.Waiting != 0 || v.Bodies != 0 || v.Timeout != 0 {
			k.fail("convert.browser", "a Chromium, which the other keys of convert need", "nothing")
		}
		return
	}
	checkPrefixes(k, "convert.allow", v.Allow)
	if len(v.Allow) > 0 && len(v.Hosts) == 0 {
		k.suggest("convert.allow", "hosts too, because pages read only from those", "none", "add hosts: [...]")
	}
	if v.Parallel < 1 || v.Parallel > mostParallel {
		k.fail("convert.parallel", fmt.Sprintf("1 to %d", mostParallel), strconv.Itoa(v.Parallel))
	}
	if v.Waiting < 1 || v.Waiting > mostWaiting {
		k.fail("convert.waiting", fmt.Sprintf("1 to %d", mostWaiting), strconv.Itoa(v.Waiting))
	}
	if v.Bodies < leastBodies || v.Bodies > mostBodies {
		k.fail("convert.bodies", Size(leastBodies).String()+" to "+Size(mostBodies).String(), v.Bodies.String())
	}
	if v.Timeout < Duration(time.Second) || v.Timeout > longestConvert {
		k.fail("convert.timeout", fmt.Sprintf("1s to %v", longestConvert), v.Timeout.String())
	}
}

// longestOCR is the longest that one redaction by OCR may take.
const longestOCR = Duration(15 * time.Minute)

func (c *Config) checkOCR(k *checker) {
	v := c.OCR
	switch {
	case v.Program == "" && v.Timeout != 0:
		k.fail("ocr.program", "tesseract, which the other keys of ocr need", "nothing")
	case v.Program != "" && (v.Timeout < Duration(time.Second) || v.Timeout > longestOCR):
		k.fail("ocr.timeout", fmt.Sprintf("1s to %v", longestOCR), v.Timeout.String())
	}
}

func checkPrefixes(k *checker, at string, prefixes []string) {
	for i, p := range prefixes {
		if _, err := netip.ParsePrefix(p); err != nil {
			k.fail(fmt.Sprintf("%s[%d]", at, i), "an address prefix such as 10.1.0.0/16", strconv.Quote(p))
		}
	}
}

// checkNames judges the name of what stands at a key, and that of its space.
func checkNames(k *checker, at, name, space string) {
	if !nameForm.MatchString(name) {
		k.fail(at, wantName, strconv.Quote(name))
	}
	if !nameForm.MatchString(space) {
		k.fail(at+".space", wantName, strconv.Quote(space))
	}
}

func checkSecret(k *checker, at string, s Secret, lookup func(string) (string, bool)) {
	if s.Env != "" && s.Value != "" {
		k.fail(at, "value or env", "both")
	}
	if text, _ := lookup(s.Env); s.Env != "" && text == "" {
		k.fail(at, "a value in the environment variable "+s.Env, "none")
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
	checkNames(k, at, name, r.Space)
	if r.Template == "" {
		k.fail(at+".template", "the name of a template", "nothing")
	}
	for _, key := range slices.Sorted(maps.Keys(r.Sources)) {
		use, at := r.Sources[key], at+".sources."+key
		s, ok := c.Sources[use.Source]
		if !ok {
			k.suggest(at+".source", "a source of sources", strconv.Quote(use.Source), didYouMean(use.Source, slices.Collect(maps.Keys(c.Sources))))
			continue
		}
		if s.Space != r.Space {
			k.fail(at+".source", "a source of the report's space "+r.Space, use.Source+", which is of space "+s.Space)
		}
		for _, p := range slices.Sorted(maps.Keys(s.Parameters)) {
			if _, ok := use.With[p]; !ok {
				k.suggest(at+".with", "the parameter "+p+" of source "+use.Source, "none", "add with: {"+p+": ...}")
			}
		}
		for _, p := range slices.Sorted(maps.Keys(use.With)) {
			v := use.With[p]
			kind, ok := s.Parameters[p]
			if !ok {
				k.suggest(at+".with."+p, "a parameter of source "+use.Source, strconv.Quote(p), didYouMean(p, slices.Collect(maps.Keys(s.Parameters))))
				continue
			}
			if _, err := strconv.ParseInt(v, 10, 64); kind == "integer" && err != nil {
				k.fail(at+".with."+p, "integer", strconv.Quote(v))
			}
		}
	}
}
