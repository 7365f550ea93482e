package web

import (
	"fmt"
	"strings"

	"example.com/quire/internal/route"
)

// PatternError is a pattern, prefix or host that cannot be registered.
type PatternError struct {
	Method  string
	Pattern string
	Source  string // file:line of the registration
	Reason  string
}

func (e *PatternError) Error() string {
	return fmt.Sprintf("web: pattern %q at %s: %s", strings.TrimSpace(e.Method+" "+e.Pattern), e.Source, e.Reason)
}

// ConflictError is a route that repeats another, or one between which and
// another the choice would be open.
type ConflictError struct {
	Method, Host, Pattern, Source                     string // the refused route
	OtherMethod, OtherHost, OtherPattern, OtherSource string // the one already there
	Example                                           string // a path that both match
	Reason                                            string
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("web: route %q at %s conflicts with %q at %s: %s, for example %s",
		strings.TrimSpace(e.Method+" "+e.Host+e.Pattern), e.Source,
		strings.TrimSpace(e.OtherMethod+" "+e.OtherHost+e.OtherPattern), e.OtherSource, e.Reason, e.Example)
}

// conflict checks a new route against those registered. Callers hold mu.
//
// Two patterns of different shape are ordered by their first differing segment,
// so only one thing leaves the choice open: there, two constraints that overlap
// while neither contains the other. Routes without constraint need no search.
func (a *App) conflict(r *Route) error {
	if other := a.shapes[r.shape()]; other != nil {
		return conflictError(r, other, route.Example(r.pattern, other.pattern), "both match the same requests")
	}
	if !r.pattern.Constrained() {
		return nil
	}
	for _, o := range a.routes {
		if o.host == r.host && o.pattern.Constrained() && route.Shared(r.bit, o.bit) && route.Ambiguous(r.pattern, o.pattern) {
			return conflictError(r, o, route.Example(r.pattern, o.pattern), "neither constraint is narrower than the other")
		}
	}
	return nil
}

func conflictError(r, o *Route, example, reason string) error {
	return &ConflictError{
		r.method, r.host, r.pattern.Text, r.source,
		o.method, o.host, o.pattern.Text, o.source,
		o.host + example, reason,
	}
}
