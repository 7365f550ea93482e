package web

import (
	"fmt"
	"strings"
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
		return conflictError(r, other, examplePath(r.pattern, other.pattern), "both match the same requests")
	}
	if !r.pattern.constrained() {
		return nil
	}
	for _, o := range a.routes {
		if o.host == r.host && o.pattern.constrained() && sharedMethod(r, o) && ambiguous(r.pattern, o.pattern) {
			return conflictError(r, o, examplePath(r.pattern, o.pattern), "neither constraint is narrower than the other")
		}
	}
	return nil
}

func conflictError(r, o *Route, example, reason string) error {
	return &ConflictError{
		r.method, r.host, r.pattern.text, r.source,
		o.method, o.host, o.pattern.text, o.source,
		o.host + example, reason,
	}
}

// sharedMethod reports whether some method reaches both routes. GET answers HEAD.
func sharedMethod(x, y *Route) bool {
	head := func(a, b *Route) bool { return a.bit == mGet && b.bit == mHead }
	return x.bit == y.bit || x.bit == 0 || y.bit == 0 || head(x, y) || head(y, x)
}

// ambiguous reports whether a path matches both patterns and the first segment
// in which they differ does not say which is the narrower.
func ambiguous(x, y *pattern) bool {
	for i := range min(len(x.segs), len(y.segs)) {
		s, t := x.segs[i], y.segs[i]
		if s.sameShape(t) {
			continue
		}
		return s.kind == segParam && t.kind == segParam && s.text == t.text &&
			relate(s.constr, t.constr) == relOverlap && tailsMeet(x.segs[i+1:], y.segs[i+1:])
	}
	return false
}

// tailsMeet reports whether some path matches both lists of segments. Where it
// cannot tell it says yes.
func tailsMeet(x, y []segment) bool {
	for i := 0; ; i++ {
		switch {
		case i == len(x) || i == len(y):
			return len(x) == len(y)
		case x[i].kind == segRest || y[i].kind == segRest:
			return true
		case !meet(x[i], y[i]):
			return false
		}
	}
}

func meet(s, t segment) bool {
	switch {
	case s.kind == segLiteral:
		return t.matches(s.text) && (s.text != "" || t.kind == segLiteral)
	case t.kind == segLiteral:
		return meet(t, s)
	case !strings.HasSuffix(s.text, t.text) && !strings.HasSuffix(t.text, s.text):
		return false
	}
	return s.text != t.text || relate(s.constr, t.constr) != relDisjoint
}

// examplePath returns a path that both patterns match.
func examplePath(x, y *pattern) string {
	var b strings.Builder
	for i := range max(len(x.segs), len(y.segs)) {
		s, t := x.segs[min(i, len(x.segs)-1)], y.segs[min(i, len(y.segs)-1)]
		b.WriteByte('/')
		switch {
		case s.kind == segRest && t.kind == segRest:
			return b.String()
		case s.kind == segLiteral || t.kind == segRest:
			b.WriteString(exampleText(s))
		case t.kind == segLiteral || s.kind == segRest:
			b.WriteString(exampleText(t))
		default:
			b.WriteString(exampleParam(s, t))
		}
	}
	return b.String()
}

func exampleText(s segment) string {
	if s.kind == segLiteral {
		return s.text
	}
	return exampleParam(s, s)
}

func exampleParam(s, t segment) string {
	suffix := s.text
	if len(t.text) > len(suffix) {
		suffix = t.text
	}
	if text, ok := sampleBoth(s.constr, t.constr); ok {
		return text + suffix
	}
	return "{" + s.name + "}" + suffix
}
