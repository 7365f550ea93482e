package compile

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxFileName bounds a file name in bytes: file systems take 255, and others add to it.
const maxFileName = 200

// fileName makes a name that every file system takes of what a template's filename printed: no
// separators, control characters or those that Windows refuses, which become dashes, no blanks or
// full stops at its ends, none of the names that Windows keeps for devices, and the ending .pdf.
// What is left of nothing is empty.
func fileName(s string) string {
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
	s = strings.Join(strings.Fields(s), " ")
	const ending = ".pdf"
	if n := len(s) - len(ending); n >= 0 && strings.EqualFold(s[n:], ending) {
		s = s[:n]
	}
	s = strings.Trim(s, " .")
	if len(s) > maxFileName-len(ending) {
		cut := maxFileName - len(ending)
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = strings.TrimRight(s[:cut], " .")
	}
	if s == "" {
		return ""
	}
	if isDevice(s) {
		s = "_" + s
	}
	return s + ending
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
