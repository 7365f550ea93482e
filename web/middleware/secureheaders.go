package middleware

import (
	"cmp"
	"crypto/rand"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/quire/web"
)

// CSP is a Content Security Policy: directives and their sources. A source is
// written as in the header, keywords with their quotes.
type CSP map[string][]string

// StrictCSP is a policy for pages whose scripts, styles, images and fonts all
// come from the server itself, as files.
func StrictCSP() CSP {
	return CSP{
		"default-src":     {"'none'"},
		"script-src":      {"'self'"},
		"style-src":       {"'self'"},
		"img-src":         {"'self'", "data:"},
		"font-src":        {"'self'"},
		"connect-src":     {"'self'"},
		"base-uri":        {"'none'"},
		"form-action":     {"'self'"},
		"frame-ancestors": {"'none'"},
	}
}

// String writes the header value, default-src first, then by name.
func (p CSP) String() string {
	names := make([]string, 0, len(p))
	for n := range p {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int {
		switch {
		case a == b:
			return 0
		case a == "default-src" || (b != "default-src" && a < b):
			return -1
		}
		return 1
	})
	parts := make([]string, len(names))
	for i, n := range names {
		parts[i] = strings.TrimSpace(n + " " + strings.Join(p[n], " "))
	}
	return strings.Join(parts, "; ")
}

func (p CSP) check() error {
	for name, sources := range p {
		if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz-") != "" {
			return &web.ConfigError{Field: "SecureHeadersOptions.CSP", Got: name, Want: "the name of a directive"}
		}
		for _, s := range sources {
			if s == "" || strings.ContainsAny(s, ";, \t\r\n\x00") {
				return &web.ConfigError{Field: "SecureHeadersOptions.CSP." + name, Got: s, Want: "one source"}
			}
		}
	}
	return nil
}

// SecureHeadersOptions configure SecureHeaders.
type SecureHeadersOptions struct {
	// CSP is the Content-Security-Policy. Default: StrictCSP. Danger:
	// 'unsafe-inline' and 'unsafe-eval' in script-src give up its protection.
	CSP CSP
	// Nonce adds a fresh nonce to script-src and style-src for every answer; the
	// page gets it by CSPNonce. Default: off.
	Nonce bool
	// HSTS is the max-age of Strict-Transport-Security, sent over TLS only.
	// Default: 180 days. Negative: not sent. Danger: clients refuse plain HTTP for
	// so long.
	HSTS time.Duration
	// ReferrerPolicy. Default: no-referrer.
	ReferrerPolicy string
	// OpenerPolicy is Cross-Origin-Opener-Policy. Default: same-origin.
	OpenerPolicy string
	// ResourcePolicy is Cross-Origin-Resource-Policy. Default: same-origin.
	ResourcePolicy string
	// PermissionsPolicy. Default: camera, microphone, geolocation and payment off.
	PermissionsPolicy string
}

var nonceKey = web.NewKey[string]("csp nonce")

// CSPNonce returns the nonce of this answer, "" without SecureHeadersOptions.Nonce.
func CSPNonce(c *web.Context) string {
	n, _ := nonceKey.Get(c)
	return n
}

// SecureHeaders sets the headers that make browsers defend a page.
func SecureHeaders(o SecureHeadersOptions) (web.Middleware, error) {
	if o.CSP == nil {
		o.CSP = StrictCSP()
	}
	if err := o.CSP.check(); err != nil {
		return nil, err
	}
	o.ReferrerPolicy = cmp.Or(o.ReferrerPolicy, "no-referrer")
	o.OpenerPolicy = cmp.Or(o.OpenerPolicy, "same-origin")
	o.ResourcePolicy = cmp.Or(o.ResourcePolicy, "same-origin")
	o.PermissionsPolicy = cmp.Or(o.PermissionsPolicy, "camera=(), geolocation=(), microphone=(), payment=()")
	o.HSTS = cmp.Or(o.HSTS, 180*24*time.Hour)
	fixed := map[string]string{
		"Referrer-Policy":              o.ReferrerPolicy,
		"Cross-Origin-Opener-Policy":   o.OpenerPolicy,
		"Cross-Origin-Resource-Policy": o.ResourcePolicy,
		"Permissions-Policy":           o.PermissionsPolicy,
		"X-Content-Type-Options":       "nosniff",
		"X-Frame-Options":              "DENY", // for browsers that do not know frame-ancestors
		"Content-Security-Policy":      o.CSP.String(),
	}
	if anc := o.CSP["frame-ancestors"]; !slices.Equal(anc, []string{"'none'"}) {
		delete(fixed, "X-Frame-Options") // it cannot say what the policy says
	}
	for name, v := range fixed {
		if strings.ContainsAny(v, "\r\n\x00") {
			return nil, &web.ConfigError{Field: "SecureHeadersOptions", Got: v, Want: "a value for " + name + " without control characters"}
		}
	}
	hsts := "max-age=" + strconv.FormatInt(int64(o.HSTS/time.Second), 10)
	return func(next web.Handler) web.Handler {
		return func(c *web.Context) error {
			h := c.Writer().Header()
			for name, v := range fixed {
				h.Set(name, v)
			}
			if o.Nonce {
				nonce := rand.Text()
				nonceKey.Set(c, nonce)
				h.Set("Content-Security-Policy", o.CSP.withNonce(nonce).String())
			}
			if o.HSTS > 0 && c.Request().TLS != nil {
				h.Set("Strict-Transport-Security", hsts)
			}
			return next(c)
		}
	}, nil
}

func (p CSP) withNonce(nonce string) CSP {
	out := make(CSP, len(p))
	for name, sources := range p {
		if name == "script-src" || name == "style-src" {
			sources = append(slices.Clone(sources), "'nonce-"+nonce+"'")
		}
		out[name] = sources
	}
	return out
}
