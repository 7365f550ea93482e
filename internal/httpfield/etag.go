package httpfield

import "strings"

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

// MatchETag reports whether lines, the list of an If-Match or If-None-Match field or
// *, match tag, by weak or strong comparison (RFC 9110, section 8.8.3.2). A
// malformed list ends at its first error.
func MatchETag(lines []string, tag string, weak bool) bool {
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
