package field

import (
	"net/http"
	"strings"
	"time"
)

// ETag is an entity tag (RFC 9110, section 8.8.3).
type ETag struct {
	Weak   bool
	Opaque string // with its quotes
}

// ParseETag reads one entity tag at the start of s and returns what follows.
func ParseETag(s string) (tag ETag, rest string, ok bool) {
	if r, weak := strings.CutPrefix(s, "W/"); weak {
		tag.Weak, s = true, r
	}
	if s == "" || s[0] != '"' {
		return ETag{}, "", false
	}
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			tag.Opaque = s[:i+1]
			return tag, s[i+1:], true
		case c < 0x21 || c == 0x7f: // etagc excludes controls, space and DEL
			return ETag{}, "", false
		}
	}
	return ETag{}, "", false
}

// ValidETag reports whether s is one whole entity tag.
func ValidETag(s string) bool {
	_, rest, ok := ParseETag(s)
	return ok && rest == ""
}

// matchList reports whether a list of entity tags, or *, matches tag. A
// malformed list ends at its first error.
func matchList(lines []string, tag string, weak bool) bool {
	want, _, have := ParseETag(tag)
	for _, s := range lines {
		for {
			s = strings.TrimLeft(s, " \t,")
			if s == "" {
				break
			}
			if s[0] == '*' {
				return have || tag == "*"
			}
			got, rest, ok := ParseETag(s)
			if !ok {
				break
			}
			if have && got.Opaque == want.Opaque && (weak || (!got.Weak && !want.Weak)) {
				return true
			}
			s = rest
		}
	}
	return false
}

// Outcome is what the preconditions of a request say.
type Outcome int

// The outcomes. RangeIgnored holds with Proceed: If-Range did not match.
const (
	Proceed Outcome = iota
	NotModified
	Failed
)

// Evaluate applies the preconditions in the order of RFC 9110, section 13.2.2.
// etag is "" and mod is zero where the representation has none; exists is false
// where there is no current representation. etag may be weak.
func Evaluate(method string, h http.Header, etag string, mod time.Time, exists bool) Outcome {
	current := etag
	if current == "" && exists {
		current = "*" // matches If-Match: * only
	}
	if im := h["If-Match"]; len(im) > 0 {
		if !exists || !matchList(im, current, false) {
			return Failed
		}
	} else if ius, ok := date(h, "If-Unmodified-Since"); ok && !mod.IsZero() {
		if mod.Truncate(time.Second).After(ius) {
			return Failed
		}
	}
	read := method == http.MethodGet || method == http.MethodHead
	if inm := h["If-None-Match"]; len(inm) > 0 {
		if exists && matchList(inm, current, true) {
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
	t, err := http.ParseTime(value)
	return err == nil && !mod.IsZero() && t.Equal(mod.Truncate(time.Second))
}

// date reads a date field. A field that is repeated or no date is as absent.
func date(h http.Header, name string) (time.Time, bool) {
	lines := h[name]
	if len(lines) != 1 {
		return time.Time{}, false
	}
	t, err := http.ParseTime(lines[0])
	return t, err == nil
}
