package text

import "unicode"

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

// simple lists the scripts that the Latin shaper draws right: letters side by
// side, left to right, no form that depends on the neighbours.
var simple = []*unicode.RangeTable{
	unicode.Latin, unicode.Common, unicode.Greek, unicode.Cyrillic, unicode.Han,
	unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo,
	unicode.Armenian, unicode.Georgian, unicode.Inherited, unicode.Cherokee,
	unicode.Braille, unicode.Runic, unicode.Ogham, unicode.Glagolitic, unicode.Coptic,
	unicode.Gothic, unicode.Old_Italic, unicode.Yi, unicode.Lisu, unicode.Vai,
}

// needsShaping reports whether r belongs to a script that the Latin shaper
// would draw wrong, or asks for right-to-left order.
func needsShaping(r rune) bool {
	switch {
	case r < 0x590:
		return false
	case r == 0x200F, r == 0x061C, r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069:
		return true // bidirectional controls ask for an order we would not give
	case r >= 0x1100 && r <= 0x11FF, r >= 0xA960 && r <= 0xA97F, r >= 0xD7B0 && r <= 0xD7FF:
		return true // conjoining jamo
	case r >= 0xE000 && r <= 0xF8FF, r >= 0xF0000:
		return false // private use and tags: no script
	}
	return !unicode.In(r, simple...) && (unicode.Is(unicode.L, r) || unicode.Is(unicode.M, r))
}

// scriptName returns the Unicode name of the script of r.
func scriptName(r rune) string {
	name := ""
	for n, t := range unicode.Scripts {
		if unicode.Is(t, r) && (name == "" || n < name) {
			name = n
		}
	}
	if name == "" || name == "Common" || name == "Inherited" {
		return "right-to-left or conjoining"
	}
	return name
}
