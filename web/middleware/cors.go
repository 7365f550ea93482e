package middleware

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/quire/web"
)

// CORSOptions configure CORS. Fields are named by the Fetch standard's terms.
type CORSOptions struct {
	// Origins may read answers: exact origins such as https://app.example, and
	// https://*.app.example for every name below. "*" is everyone and cannot go
	// with Credentials. Default: none.
	Origins []string
	// AllowOrigin decides beyond Origins. Default: nothing more. Danger: one that
	// always says yes, with Credentials, lets every site act as the user.
	AllowOrigin func(origin string) bool
	// Methods of other requests than GET, HEAD and POST. Default: those that the
	// path takes.
	Methods []string
	// Headers that a request may have beyond the safelisted ones. Default: none.
	Headers []string
	// Expose are fields of the answer that scripts may read. Default: none.
	Expose []string
	// Credentials lets requests carry cookies. Default: off. Danger: the listed
	// origins then act as the user.
	Credentials bool
	// PrivateNetwork answers preflights of Private Network Access. Default: off.
	PrivateNetwork bool
	// MaxAge is how long a client keeps the answer to a preflight. Default: 10
	// minutes. Negative: not sent.
	MaxAge time.Duration
}

// CORS lets scripts of other origins read the answers of a group. A refused origin
// gets no field of CORS at all. A preflight is answered for paths that exist. An
// origin that may write must also be trusted by Options.CrossOrigin of the App.
func CORS(o CORSOptions) (web.Middleware, error) {
	c := &cors{o: o}
	for _, origin := range o.Origins {
		if origin == "*" {
			if o.Credentials {
				return nil, &web.ConfigError{Field: "CORSOptions.Origins", Got: "*", Want: "named origins, because of Credentials"}
			}
			c.everyone = true
			continue
		}
		u, err := url.Parse(origin)
		if err != nil || u.Scheme == "" || u.Host == "" || u.Path != "" || u.RawQuery != "" || u.User != nil || strings.Count(origin, "*") > 1 ||
			strings.Contains(origin, "*") && !strings.HasPrefix(u.Host, "*.") {
			return nil, &web.ConfigError{Field: "CORSOptions.Origins", Got: origin, Want: "an origin such as https://app.example or https://*.app.example"}
		}
		c.origins = append(c.origins, strings.ToLower(origin))
	}
	for _, list := range [][]string{o.Methods, o.Headers, o.Expose} {
		for _, name := range list {
			if name == "" || strings.ContainsAny(name, " ,;:\t\r\n\x00") || name == "*" && o.Credentials {
				return nil, &web.ConfigError{Field: "CORSOptions", Got: name, Want: "names of methods and fields"}
			}
		}
	}
	if len(o.Expose) > 0 {
		c.expose = []string{strings.Join(o.Expose, ", ")}
	}
	if o.MaxAge == 0 {
		c.o.MaxAge = 10 * time.Minute
	}
	return c.wrap, nil
}

type cors struct {
	o        CORSOptions
	everyone bool
	origins  []string
	expose   []string // the value of the field; nil for none
}

// Values that never change. Length equals capacity, so that appending to one in a header copies it.
var (
	varyOrigin = []string{"Origin"}
	anyOrigin  = []string{"*"}
	granted    = []string{"true"}
)

func (c *cors) wrap(next web.Handler) web.Handler {
	return func(ctx *web.Context) error {
		h, r := ctx.Writer().Header(), ctx.Request()
		if vary := h["Vary"]; vary == nil {
			h["Vary"] = varyOrigin
		} else {
			h["Vary"] = append(vary, "Origin")
		}
		sent := r.Header["Origin"]
		if len(sent) != 1 || sent[0] == "" {
			return next(ctx)
		}
		origin, method := sent[0], ""
		if r.Method == http.MethodOptions {
			method = r.Header.Get("Access-Control-Request-Method")
		}
		preflight := method != ""
		if preflight {
			h.Add("Vary", "Access-Control-Request-Method")
			h.Add("Vary", "Access-Control-Request-Headers")
		}
		if !c.allowed(origin) {
			return next(ctx)
		}
		if allow := h.Get("Allow"); preflight && (ctx.Route() != nil || allow != "") {
			if c.preflight(ctx, h, method, allow) {
				c.grant(h, origin)
			}
			h.Del("Allow")
			return ctx.NoContent(http.StatusNoContent)
		}
		c.grant(h, origin)
		if c.expose != nil {
			h["Access-Control-Expose-Headers"] = c.expose
		}
		return next(ctx)
	}
}

// allowed compares origins as serialised: scheme, host and port.
func (c *cors) allowed(origin string) bool {
	if c.everyone {
		return true
	}
	lower := strings.ToLower(origin)
	for _, known := range c.origins {
		if known == lower {
			return true
		}
		if before, after, ok := strings.Cut(known, "*"); ok {
			name, cut := strings.CutPrefix(lower, before)
			if name, ends := strings.CutSuffix(name, after); cut && ends && name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-.") == "" {
				return true
			}
		}
	}
	return c.o.AllowOrigin != nil && c.o.AllowOrigin(origin)
}

func (c *cors) grant(h http.Header, origin string) {
	if c.everyone {
		h["Access-Control-Allow-Origin"] = anyOrigin
	} else {
		h["Access-Control-Allow-Origin"] = []string{origin}
	}
	if c.o.Credentials {
		h["Access-Control-Allow-Credentials"] = granted
	}
}

// takes reports whether a request by the method may follow a preflight.
func (c *cors) takes(ctx *web.Context, method, allow string) bool {
	switch {
	case method == http.MethodGet || method == http.MethodHead || method == http.MethodPost:
		return true
	case len(c.o.Methods) > 0:
		return slices.Contains(c.o.Methods, method)
	case allow != "":
		return slices.Contains(strings.Split(allow, ", "), method)
	case ctx.Route().Info().Method == "":
		return true // it answers every method, OPTIONS among them
	}
	// A route of its own answers OPTIONS: what else the path takes is to be looked up.
	r := ctx.Request()
	u := url.URL{Host: r.Host, Path: r.URL.Path, RawPath: r.URL.RawPath}
	return ctx.App().Explain(method, u.String()).Route != nil
}

// preflight writes what may be asked for; false when the question is refused.
func (c *cors) preflight(ctx *web.Context, h http.Header, method, allow string) bool {
	if !c.takes(ctx, method, allow) {
		return false
	}
	r := ctx.Request()
	for _, line := range r.Header["Access-Control-Request-Headers"] {
		for name := range strings.SplitSeq(line, ",") {
			name = strings.TrimSpace(name)
			if name != "" && !slices.ContainsFunc(c.o.Headers, func(known string) bool { return strings.EqualFold(known, name) || known == "*" }) {
				return false
			}
		}
	}
	h.Set("Access-Control-Allow-Methods", method)
	if asked := r.Header.Get("Access-Control-Request-Headers"); asked != "" {
		h.Set("Access-Control-Allow-Headers", strings.Join(c.o.Headers, ", "))
	}
	if c.o.MaxAge > 0 {
		h.Set("Access-Control-Max-Age", strconv.FormatInt(int64(c.o.MaxAge/time.Second), 10))
	}
	if c.o.PrivateNetwork && r.Header.Get("Access-Control-Request-Private-Network") == "true" {
		h.Set("Access-Control-Allow-Private-Network", "true")
	}
	return true
}
