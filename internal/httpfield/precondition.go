package httpfield

import (
	"net/http"
	"strings"
	"time"
)

// Outcome is the result of a request's preconditions.
type Outcome int

// The outcomes. RangeIgnored means Proceed, and that If-Range did not match.
const (
	Proceed Outcome = iota
	NotModified
	Failed
)

// Evaluate applies the preconditions in the order of RFC 9110, section 13.2.2. etag is "" and mod
// is zero if the representation has none; exists is false if there is no current representation.
// etag may be weak.
func Evaluate(method string, h http.Header, etag string, mod time.Time, exists bool) Outcome {
	current := etag
	if current == "" && exists {
		current = "*" // matches If-Match: * only
	}
	if im := h["If-Match"]; len(im) > 0 {
		if !exists || !MatchETag(im, current, false) {
			return Failed
		}
	} else if ius, ok := date(h, "If-Unmodified-Since"); ok && !mod.IsZero() {
		if mod.Truncate(time.Second).After(ius) {
			return Failed
		}
	}
	read := method == http.MethodGet || method == http.MethodHead
	if inm := h["If-None-Match"]; len(inm) > 0 {
		if exists && MatchETag(inm, current, true) {
			if read {
				return NotModified
			}
			return Failed
		}
	} else if ims, ok := date(h, "If-Modified-Since"); ok && read && !mod.IsZero() {
		if !mod.Truncate(time.Second).After(ims) {
			return NotModified
		}
	}
	return Proceed
}

// RangeApplies evaluates If-Range (RFC 9110, section 13.1.5): a strong tag that
// equals etag, or a date that equals mod exactly.
func RangeApplies(h http.Header, etag string, mod time.Time) bool {
	lines := h["If-Range"]
	if len(lines) == 0 {
		return true
	}
	value := strings.TrimSpace(lines[0])
	if got, rest, ok := ParseETag(value); ok {
		want, _, have := ParseETag(etag)
		return have && rest == "" && !got.Weak && !want.Weak && got.Opaque == want.Opaque
	}
	t, ok := ParseDate(value, time.Now())
	return ok && !mod.IsZero() && t.Equal(mod.Truncate(time.Second))
}

// date reads a date field. A field that is repeated or no date is as absent.
func date(h http.Header, name string) (time.Time, bool) {
	lines := h[name]
	if len(lines) != 1 {
		return time.Time{}, false
	}
	return ParseDate(lines[0], time.Now())
}
