package web_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestStatus holds docs/web-status.md against the tests: each capability of the first stage (W1 to
// W38; W39 to W41 are not built) and each rule of behaviour (5.1.1 to 5.7.46) names tests that are
// there. That they pass is what `make status` proves.
func TestStatus(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "web-status.md"))
	if err != nil {
		t.Fatal(err)
	}
	const rows, later, rules = 38, 3, 46
	named := regexp.MustCompile("`((?:internal|cmd|web)[/a-z]*)\\.((?:Test|Fuzz|Example)\\w*)`")
	capability, rule, without := 0, 0, 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 4 {
			continue
		}
		id, state, tests := strings.TrimPrefix(cells[0], "| "), cells[2], named.FindAllStringSubmatch(cells[3], -1)
		switch {
		case regexp.MustCompile(`^W\d+$`).MatchString(id):
			capability++
			if id != fmt.Sprint("W", capability) {
				t.Errorf("row %s stands in the place of W%d", id, capability)
			}
		case regexp.MustCompile(`^5\.\d\.\d+$`).MatchString(id):
			rule++
			if !strings.HasSuffix(id, fmt.Sprint(".", rule)) {
				t.Errorf("rule %s stands in the place of the %dth", id, rule)
			}
		default:
			continue
		}
		if capability > rows && rule == 0 {
			if state != "open" {
				t.Errorf("%s is %s: count it with the rows of the first stage", id, state)
			}
			continue
		}
		if state != "done" || len(tests) == 0 {
			t.Errorf("%s is %s, with %d tests", id, state, len(tests))
			without++
			continue
		}
		for _, m := range tests {
			if !strings.Contains(testsOf(t, m[1]), "\nfunc "+m[2]+"(") {
				t.Errorf("%s names %s.%s, which is not there", id, m[1], m[2])
				without++
				break
			}
		}
	}
	if capability != rows+later || rule != rules {
		t.Errorf("%d capabilities and %d rules, want %d and %d", capability, rule, rows+later, rules)
	}
	_, _ = fmt.Fprintf(os.Stdout, "%d rows, %d rules, %d without a test\n", capability-later, rule, without)
}

// testsOf is the text of a package's test files.
func testsOf(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(dir), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(text)
	}
	return strings.ReplaceAll(b.String(), "\r\n", "\n")
}
