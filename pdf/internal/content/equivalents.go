package content

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// mostPermuted bounds the marks of a letter whose orders are all looked for.
const mostPermuted = 3

// Ignorable reports whether a character is one that nobody sees, such as a soft hyphen or a space
// without width (Unicode Standard, 5.21).
func Ignorable(r rune) bool {
	return r >= '\u00AD' && unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// Visible returns a text without the characters that nobody sees.
func Visible(s string) string {
	return strings.Map(func(r rune) rune {
		if Ignorable(r) {
			return -1
		}
		return r
	}, s)
}

// alike are characters that look so much alike that one is written for another: hyphens with the
// minus and the dash of ranges, apostrophes and quotation marks.
var alike = [...]string{"-\u00AD\u2010\u2011\u2012\u2013\u2212\uFE63\uFF0D", "'\u2018\u2019\u02BC\u2032\uFF07", "\"\u201C\u201D\u201E\u2033\uFF02"}

// Equivalents is a regular expression for a text as files may have it: letters with their marks are
// one character or several, and the marks in any order; hyphens, apostrophes and quotation marks
// are any of those that look alike.
func Equivalents(s string) string {
	var b strings.Builder
	var letters norm.Iter
	for letters.InitString(norm.NFD, s); !letters.Done(); {
		letter := string(letters.Next())
		r := []rune(letter)
		var others []string
		add := func(o string) {
			if o = regexp.QuoteMeta(o); !slices.Contains(others, o) {
				others = append(others, o)
			}
		}
		add(norm.NFC.String(letter))
		add(letter)
		for _, class := range alike {
			if strings.ContainsRune(class, r[0]) && len(r) == 1 {
				for _, o := range class {
					add(string(o))
				}
			}
		}
		if marks := r[1:]; len(marks) <= mostPermuted {
			permuted(marks, 0, func() {
				for n := range r {
					add(norm.NFC.String(string(r[:n+1])) + string(marks[n:]))
				}
			})
		}
		if len(others) == 1 {
			b.WriteString(others[0])
		} else {
			b.WriteString("(?:" + strings.Join(others, "|") + ")")
		}
	}
	if o := regexp.QuoteMeta(s); norm.NFC.String(s) != s {
		return "(?:" + o + "|" + b.String() + ")"
	}
	return b.String()
}

// permuted calls f with each order of what is behind the first n of a list.
func permuted(list []rune, n int, f func()) {
	if n == len(list) {
		f()
		return
	}
	for i := n; i < len(list); i++ {
		list[n], list[i] = list[i], list[n]
		permuted(list, n+1, f)
		list[n], list[i] = list[i], list[n]
	}
}
