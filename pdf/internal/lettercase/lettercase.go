// Package lettercase writes texts in upper, lower and title case as their language does (Unicode,
// 3.13 and SpecialCasing.txt): STRASSE, İstanbul, IJsland.
package lettercase

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// Upper returns s in upper case. lang is a BCP 47 tag.
func Upper(lang, s string) string {
	if simple(lang, s) {
		return strings.ToUpper(s)
	}
	return cases.Upper(language.Make(lang)).String(s)
}

// Lower returns s in lower case.
func Lower(lang, s string) string {
	if simple(lang, s) {
		return strings.ToLower(s)
	}
	return cases.Lower(language.Make(lang)).String(s)
}

// Title returns s with a capital at the beginning of each word that begins with a letter. The other
// letters stay as they are.
func Title(lang, s string) string {
	var out strings.Builder
	title := cases.Title(language.Make(lang), cases.NoLower)
	for rest := s; rest != ""; {
		n := strings.IndexFunc(rest, inWord)
		if n < 0 {
			n = len(rest)
		}
		out.WriteString(rest[:n])
		rest = rest[n:]
		end := strings.IndexFunc(rest, func(r rune) bool { return !inWord(r) })
		if end < 0 {
			end = len(rest)
		}
		word := rest[:end]
		if first, _ := utf8.DecodeRuneInString(word); unicode.IsLetter(first) {
			word = title.String(word)
		}
		out.WriteString(word)
		rest = rest[end:]
	}
	return out.String()
}

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) || r == '\'' || r == '’'
}

// simple reports whether s is ASCII in a language that has no i of its own.
func simple(lang, s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	primary, _, _ := strings.Cut(lang, "-")
	switch strings.ToLower(primary) {
	case "az", "lt", "tr":
		return false
	}
	return true
}
