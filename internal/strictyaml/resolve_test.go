package strictyaml

import (
	"regexp"
	"testing"
)

// TestNumbers holds resolve against the expressions of the core schema (YAML
// 1.2.2, 10.3.2), over every short text that numbers are made of.
func TestNumbers(t *testing.T) {
	t.Parallel()
	whole := regexp.MustCompile(`^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$`)
	float := regexp.MustCompile(`^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)
	check := func(text string) {
		t.Helper()
		want := String
		switch {
		case whole.MatchString(text):
			want = Int
		case float.MatchString(text):
			want = Float
		}
		if got := resolve(text); got != want {
			t.Errorf("%q is a %s, want %s", text, got, want)
		}
	}
	var all func(text string, more int)
	all = func(text string, more int) {
		if text != "" {
			check(text)
		}
		if more == 0 {
			return
		}
		for _, c := range "+-.08eEox" {
			all(text+string(c), more-1)
		}
	}
	all("", 4)
	for _, text := range []string{
		".inf", "+.Inf", "-.INF", ".iNF", "+-.inf", "..inf", ".inf1", ".nan", ".NaN", ".NAN", ".Nan", "+.nan", "inf", "nan",
		"0o17", "0o18", "-0o7", "0O7", "0xAf09", "0xg", "-0x1", "0x", "0o", "1.5e-10", "1.5e-", "1.5e+1.", "12.e3", ".e3",
		"1_000", "1,5", "12:30", "1 ", " 1", "\u0661", "1e5e5", "--1", "1-", "é",
	} {
		check(text)
	}
}
