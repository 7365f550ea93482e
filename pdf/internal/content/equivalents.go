package content

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// mostPermuted bounds the marks of a letter whose orders are all looked for.
const mostPermuted = 3

// Equivalents is a regular expression for a text as files may have it: letters with their marks are
// one character or several, and the marks in any order.
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
