package middleware

import (
	"errors"
	"net/http"

	"example.com/quire/web"
)

// CSRFOptions configure CSRF and CSRFHandler.
type CSRFOptions struct {
	// TrustedOrigins may change state in the user's name: exact origins such as
	// https://app.example. Default: none. Danger: a page of theirs, or of who breaks
	// into it, acts as the user.
	TrustedOrigins []string
	// RequireOrigin also refuses state changes that name neither Sec-Fetch-Site nor
	// Origin. Every browser since 2020 sends one of them; programs do not, so
	// this is for groups that only pages use. Default: off.
	RequireOrigin bool
}

var errNoOrigin = errors.New("web: neither Sec-Fetch-Site nor Origin")

// check builds the judgement: nil lets a request pass.
func (o CSRFOptions) check() (func(*http.Request) error, error) {
	cross := http.NewCrossOriginProtection()
	for _, origin := range o.TrustedOrigins {
		if err := cross.AddTrustedOrigin(origin); err != nil {
			return nil, &web.ConfigError{Field: "CSRFOptions.TrustedOrigins", Got: origin, Want: "an origin such as https://app.example"}
		}
	}
	return func(r *http.Request) error {
		switch r.Method {
		case http.MethodGet, http.MethodHead, http.MethodOptions: // what Check holds for safe
		default:
			if o.RequireOrigin && r.Header.Get("Sec-Fetch-Site") == "" && r.Header.Get("Origin") == "" {
				return errNoOrigin
			}
		}
		return cross.Check(r)
	}, nil
}

// CSRF answers 403 to state changes from other origins (cross-site request
// forgery), as http.CrossOriginProtection sees them: by Sec-Fetch-Site, else by
// Origin against Host. The App does so for every route, with the origins of
// Options.CrossOrigin; this middleware makes a group stricter than that, by fewer
// trusted origins or by RequireOrigin. It never loosens the App's check. GET, HEAD
// and OPTIONS pass: their handlers must not change state.
func CSRF(o CSRFOptions) (web.Middleware, error) {
	check, err := o.check()
	if err != nil {
		return nil, err
	}
	return func(next web.Handler) web.Handler {
		return func(c *web.Context) error {
			if err := check(c.Request()); err != nil {
				return web.NewProblem(http.StatusForbidden, "a state change from another origin is refused", err)
			}
			return next(c)
		}
	}, nil
}

// CSRFHandler is CSRF for handlers of net/http, such as a http.ServeMux that no App
// stands before. What it refuses is answered 403 in plain text.
func CSRFHandler(o CSRFOptions) (func(http.Handler) http.Handler, error) {
	check, err := o.check()
	if err != nil {
		return nil, err
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if check(r) != nil {
				w.Header().Set("Cache-Control", "no-store")
				http.Error(w, "a state change from another origin is refused", http.StatusForbidden)
				return
			}
			next.ServeHTTP(w, r)
		})
	}, nil
}
