package text

import (
	"maps"
	"slices"
	"unicode"
	"unicode/utf8"
)

// ignorable reports whether r draws nothing (Default_Ignorable_Code_Point, as
// far as text in use has it): joiners, soft hyphen, direction marks, variation
// selectors, the byte order mark.
func ignorable(r rune) bool {
	switch {
	case r < 0xAD:
		return false
	case r == 0xAD, r == 0x34F, r == 0x61C, r == 0x180E,
		r >= 0x200B && r <= 0x200F, r >= 0x202A && r <= 0x202E,
		r >= 0x2060 && r <= 0x206F, r == 0xFEFF,
		r >= 0xFE00 && r <= 0xFE0F, r >= 0xE0000 && r <= 0xE0FFF:
		return true
	}
	return false
}

// isMark reports whether r combines with the character before it.
func isMark(r rune) bool {
	if r < 0x300 {
		return false
	}
	return unicode.Is(unicode.M, r) || r == 0x200D || (r >= 0xFE00 && r <= 0xFE0F)
}

// simple lists the scripts whose letters stand side by side, left to right, in forms that do not
// depend on their neighbours.
var simple = []*unicode.RangeTable{
	unicode.Latin, unicode.Common, unicode.Greek, unicode.Cyrillic, unicode.Han,
	unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo,
	unicode.Armenian, unicode.Georgian, unicode.Inherited, unicode.Cherokee,
	unicode.Braille, unicode.Runic, unicode.Ogham, unicode.Glagolitic, unicode.Coptic,
	unicode.Gothic, unicode.Old_Italic, unicode.Yi, unicode.Lisu, unicode.Vai,
}

// complexRune reports whether r is of a script that joins, reorders or stacks its letters or runs
// from right to left, or is a control of their order.
func complexRune(r rune) bool {
	switch {
	case r < 0x590, r >= 0x3000 && r < 0xA500, r >= 0xAC00 && r < 0xD7A4:
		return false
	case r >= 0x1E00 && r < 0x2C00:
		return r == 0x200F || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069
	case r == 0x061C:
		return true
	case r >= 0x1100 && r <= 0x11FF, r >= 0xA960 && r <= 0xA97F, r >= 0xD7B0 && r <= 0xD7FF:
		return true // conjoining jamo
	case r >= 0xE000 && r <= 0xF8FF, r >= 0xF0000:
		return false // private use and tags: no script
	}
	return !unicode.In(r, simple...) && unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P)
}

// isComplex reports whether s has a character of complexRune.
func isComplex(s string) bool {
	for i := 0; i < len(s); {
		if s[i] < foreignByte {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if complexRune(r) {
			return true
		}
		i += n
	}
	return false
}

// scriptName returns the Unicode name of the script of r.
func scriptName(r rune) string {
	name := ""
	for n, t := range unicode.Scripts {
		if unicode.Is(t, r) && (name == "" || n < name) {
			name = n
		}
	}
	return name
}

// RightToLeft reports whether lang, a BCP 47 tag, is written from right to left. A script in the
// tag decides before the language.
func RightToLeft(lang string) bool {
	primary, rest := subtag(lang)
	for rest != "" {
		var part string
		part, rest = subtag(rest)
		if len(part) == 4 && part[0] >= 'A' {
			return writtenLeftwards(part)
		}
		if len(part) < 3 {
			break // a region or a private part: no script comes behind it
		}
	}
	return writtenLeftwards(primary)
}

// subtag returns the first subtag of a BCP 47 tag and what comes behind it.
func subtag(tag string) (first, rest string) {
	for i := range len(tag) {
		if tag[i] == '-' {
			return tag[:i], tag[i+1:]
		}
	}
	return tag, ""
}

// writtenLeftwards lists the languages, and the scripts of ISO 15924, that are written from right
// to left. The letters of name may be of either case. It is asked for every paragraph.
func writtenLeftwards(name string) bool {
	var lower [4]byte
	if len(name) > len(lower) {
		return false
	}
	for i := range len(name) {
		lower[i] = name[i] | 0x20
	}
	switch string(lower[:len(name)]) {
	case "ar", "arc", "arz", "azb", "bgn", "ckb", "dv", "fa", "glk", "he", "iw", "ks", "lrc", "mzn",
		"nqo", "ota", "pnb", "prs", "ps", "sam", "sd", "syr", "ug", "ur", "yi",
		"adlm", "arab", "armi", "hebr", "mand", "nbat", "nkoo", "phnx", "prti", "rohg", "samr", "syrc", "thaa":
		return true
	}
	return false
}

// scriptOf returns the script of a complex character; nil for controls and what scripts share.
func scriptOf(r rune) *unicode.RangeTable {
	for _, t := range complexScripts {
		if unicode.Is(t, r) {
			return t
		}
	}
	return nil
}

// complexScripts are all scripts but the simple ones.
var complexScripts = func() []*unicode.RangeTable {
	var out []*unicode.RangeTable
	for _, name := range slices.Sorted(maps.Keys(unicode.Scripts)) {
		if t := unicode.Scripts[name]; !slices.Contains(simple, t) {
			out = append(out, t)
		}
	}
	return out
}()
