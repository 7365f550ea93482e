package compile

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxFileName bounds a file name in bytes: file systems take 255, and others add to it.
const maxFileName = 200

// fileName makes a name that every file system takes of what a template's filename printed, with the
// ending .pdf. What is left of nothing is empty.
func fileName(s string) string {
	const ending = ".pdf"
	s = cleanName(s)
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
	s = cleanName(s)
	if i := strings.LastIndexByte(s, '.'); i > 0 && len(s)-i < maxFileName/2 {
		if stem := bound(s[:i], maxFileName-(len(s)-i)); stem != "" {
			return stem + strings.TrimRight(s[i:], " .")
		}
	}
	return bound(s, maxFileName)
}

// cleanName takes from a name what some system does not take: separators, control characters and
// those that Windows refuses, which become dashes.
func cleanName(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(`/\:*?"<>|`, r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
			return '-'
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1 // among them those that turn the direction, which hide an ending
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// bound cuts a name to so many bytes, without blanks or full stops at its ends, and makes none of it
// that Windows keeps for devices.
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
	s, _, _ = strings.Cut(strings.ToUpper(s), ".")
	s = strings.TrimRight(s, " ")
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
