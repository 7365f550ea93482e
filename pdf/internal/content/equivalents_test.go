package content

import (
	"regexp"
	"testing"
)

// TestEquivalentsMatchMarksInEveryOrder: letters with marks are found however files have them.
func TestEquivalentsMatchMarksInEveryOrder(t *testing.T) {
	for s, others := range map[string][]string{
		"\u1EC7":             {"\u1EC7", "e\u0323\u0302", "e\u0302\u0323", "\u1EB9\u0302", "\u00EA\u0323"},
		"\u05E9\u05B6\u05C1": {"\u05E9\u05C1\u05B6", "\u05E9\u05B6\u05C1"},
		"a.(b)":              {"a.(b)"},
		"\u212B":             {"\u212B", "\u00C5", "A\u030A"},
		"\uAC00b":            {"\uAC00b", "\u1100\u1161b"},
		"\u0301":             {"\u0301"},
		"7-8":                {"7-8", "7\u20118", "7\u20138", "7\u22128", "7\u00AD8"},
		"O\u2019B":           {"O'B", "O\u2019B", "O\u02BCB"},
		"\"a\u201D":          {"\"a\"", "\u201Ea\u201C"},
	} {
		re := regexp.MustCompile("^" + Equivalents(s) + "$")
		for _, o := range others {
			if !re.MatchString(o) {
				t.Errorf("%+q does not match %+q", re, o)
			}
		}
		if re.MatchString("axb") || re.MatchString("e") {
			t.Errorf("%+q matches too much", re)
		}
	}
}
