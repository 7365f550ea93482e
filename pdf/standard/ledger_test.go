package standard_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/quire/pdf/pdftest"
)

// TestLedgers: every line of a ledger says how its clause is met and names tests
// that there are.
func TestLedgers(t *testing.T) {
	root, err := pdftest.Root()
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(pdf[a-z/0-9]*)\\.(Test[A-Za-z0-9]+)`")
	for _, name := range []string{"LEDGER-A1.md", "LEDGER-A2.md", "LEDGER-A4.md", "LEDGER-UA1.md", "LEDGER-UA2.md"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for line := range strings.Lines(string(b)) {
			cells := strings.Split(line, "|")
			if len(cells) != 5 || strings.Contains(line, "---") || strings.Contains(line, "| clause |") {
				continue
			}
			rows++
			tests := named.FindAllStringSubmatch(cells[3], -1)
			if len(tests) == 0 || strings.TrimSpace(cells[2]) == "" {
				t.Errorf("%s: %s: no test or no how", name, cells[1])
			}
			for _, m := range tests {
				if !hasTest(t, filepath.Join(root, filepath.FromSlash(m[1])), m[2]) {
					t.Errorf("%s: %s: no test %s.%s", name, cells[1], m[1], m[2])
				}
			}
		}
		if rows < 20 {
			t.Errorf("%s: only %d lines", name, rows)
		}
	}
}

func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), "func "+name+"(") {
			return true
		}
	}
	return false
}
