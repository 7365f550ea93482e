// Package httpfield reads and writes the field syntax of HTTP: lists, quoted strings and tokens
// (RFC 9110, section 5.6), dates (5.6.7), weights and content negotiation (12.4.2, 12.5), entity
// tags and the order of preconditions (8.8.3, 13.2.2), ranges (14.1) and Cache-Control (RFC 9111,
// section 5.2). Where structured fields (RFC 9651) are needed, github.com/dunglas/httpsfv reads
// them.
//
// A field may have several lines. Functions that take lines treat them as one list. The caller,
// which reads the head of a message, limits the size of the input; the work here is linear in it.
package httpfield

import (
	"iter"
	"strings"
)

// Members yields the members of a list (RFC 9110, section 5.6.1) without white
// space around them. Empty members are left out; a comma within a quoted string
// does not part.
func Members(lines []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, line := range lines {
			for line != "" {
				var member string
				member, line = CutUnquoted(line, ',')
				if member = trim(member); member != "" && !yield(member) {
					return
				}
			}
		}
	}
}

// trim takes spaces and tabs away from both ends (OWS, RFC 9110, section 5.6.3).
func trim(s string) string {
	for s != "" && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	for s != "" && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') {
		s = s[:len(s)-1]
	}
	return s
}

// HasToken reports whether a list has the token, in any case.
func HasToken(lines []string, token string) bool {
	for m := range Members(lines) {
		if strings.EqualFold(m, token) {
			return true
		}
	}
	return false
}

// CutUnquoted cuts at the first sep outside a quoted string.
func CutUnquoted(s string, sep byte) (before, after string) {
	first := strings.IndexByte(s, sep)
	if first < 0 {
		return s, ""
	}
	if strings.IndexByte(s[:first], '"') < 0 {
		return s[:first], s[first+1:]
	}
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case quoted && s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == sep && !quoted:
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

// Unquote returns the content of a quoted string (RFC 9110, section 5.6.4), and a value that is not
// quoted unchanged. ok is false for a quoted string that does not end, or continues after its end.
func Unquote(s string) (text string, ok bool) {
	if s == "" || s[0] != '"' {
		return s, true
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), i == len(s)-1
		case '\\':
			if i++; i == len(s) {
				return "", false
			}
		}
		b.WriteByte(s[i])
	}
	return "", false
}

// IsToken reports whether s is a token (RFC 9110, section 5.6.2).
func IsToken(s string) bool {
	for i := range len(s) {
		if !tchar(s[i]) {
			return false
		}
	}
	return s != ""
}

// tchar reports whether c may stand in a token.
func tchar(c byte) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		return true
	}
	return strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}
