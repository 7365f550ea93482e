package compile

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxFileName bounds a file name in bytes: file systems take 255, and others add to it.
const maxFileName = 200

// fileName makes a name that every file system takes of what a template's filename printed, with
// the ending .pdf. What is left of nothing is empty.
func fileName(s string) string {
	const ending = ".pdf"
	s = cleanName(s, 2*maxFileName) // what is beyond is cut off below, an ending there too
	if n := len(s) - len(ending); n >= 0 && strings.EqualFold(s[n:], ending) {
		s = s[:n]
	}
	if s = bound(s, maxFileName-len(ending)); s == "" {
		return ""
	}
	return s + ending
}

// safeName is fileName for files of any ending.
func safeName(s string) string {
	s = cleanName(s, len(s))
	if i := strings.LastIndexByte(s, '.'); i > 0 && len(s)-i < maxFileName/2 {
		if stem := bound(s[:i], maxFileName-(len(s)-i)); stem != "" {
			return stem + strings.TrimRight(s[i:], " .")
		}
	}
	return bound(s, maxFileName)
}

// cleanName takes from a name what some system does not take: separators, control characters and
// those that Windows refuses, which become dashes. Blanks become one, and none at the ends. It may
// end when it has enough bytes, not counting the blanks and full stops that the name begins with.
func cleanName(s string, enough int) string {
	var b []byte
	blank, begun := false, 0 // begun: bytes from the first that bound keeps
	for _, r := range s {
		if r = cleaned(r); r == ' ' {
			blank = len(b) > 0
			continue
		}
		if r < 0 {
			continue
		}
		if begun >= enough {
			break
		}
		if b == nil {
			b = make([]byte, 0, min(len(s), enough+2*utf8.UTFMax))
		}
		before := len(b)
		if blank {
			b, blank = append(b, ' '), false
		}
		b = utf8.AppendRune(b, r)
		if begun > 0 || r != '.' {
			begun += len(b) - before
		}
	}
	return string(b)
}

// cleaned is what stands for a character in a name: itself, a dash, a blank, or -1 for nothing.
func cleaned(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z': // most are
	case r >= '\t' && r <= '\r':
		return ' '
	case r < ' ' || r == 0x7f:
		return -1
	case r < utf8.RuneSelf:
		if strings.IndexByte(`/\:*?"<>|`, byte(r)) >= 0 {
			return '-'
		}
	case r == '\u2028' || r == '\u2029': // which end lines and paragraphs
		return '-'
	case unicode.IsSpace(r):
		return ' '
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
		return -1 // among them those that turn the direction, which hide an ending
	}
	return r
}

// bound cuts a name to so many bytes, without blanks or full stops at its ends, and makes none of
// it that Windows keeps for devices.
func bound(s string, most int) string {
	s = strings.Trim(s, " .")
	if len(s) > most {
		for most > 0 && !utf8.RuneStart(s[most]) {
			most--
		}
		s = strings.TrimRight(s[:most], " .")
	}
	if isDevice(s) {
		s = "_" + s
	}
	return s
}

// isDevice reports whether Windows takes a name, up to its first full stop, for a device.
func isDevice(s string) bool {
	s, _, _ = strings.Cut(s, ".")
	if s = strings.TrimRight(s, " "); len(s) > 16 {
		return false // no device has so long a name, in whatever letters
	}
	s = strings.ToUpper(s)
	switch s {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	port, ok := strings.CutPrefix(s, "COM")
	if !ok {
		port, ok = strings.CutPrefix(s, "LPT")
	}
	return ok && utf8.RuneCountInString(port) == 1 && strings.Contains("0123456789¹²³", port)
}
