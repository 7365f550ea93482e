package path_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/quire/bench/harness"
	"example.com/quire/bench/internal/harnesstest"
	"example.com/quire/bench/internal/load"
	"example.com/quire/bench/path"
)

func TestSuiteIsValid(t *testing.T) {
	if err := harness.Validate([]harness.Suite{path.Suite()}); err != nil {
		t.Fatal(err)
	}
}

func TestInvoicesAreUniqueAndRepeatable(t *testing.T) {
	seen := map[string]int{}
	for i := range 2000 {
		data := path.Data(i)
		if old, twice := seen[data]; twice {
			t.Fatalf("invoices %d and %d are equal", old, i)
		}
		seen[data] = i
		if i%100 == 0 && path.Data(i) != data {
			t.Fatalf("invoice %d is not repeatable", i)
		}
	}
}

func TestFormats(t *testing.T) {
	for n, want := range map[int]string{0: "0.00", 5: "0.05", 123456: "1,234.56", 100000000: "1,000,000.00"} {
		if got := path.Money(n); got != want {
			t.Errorf("%d pence: %q, want %q", n, got, want)
		}
	}
	if _, err := path.ParsePence("1.5"); err == nil {
		t.Error("a price with one decimal was read")
	}
}

// TestEveryContestantMakesThePage starts each contestant as the harness does and
// judges what it makes.
func TestEveryContestantMakesThePage(t *testing.T) {
	quire := filepath.Join(t.TempDir(), "quire")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", quire, "./cmd/quire") //nolint:gosec // fixed arguments
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the program: %v\n%s", err, out)
	}
	for _, row := range path.Suite().Rows {
		for _, c := range row.Contestants {
			t.Run(row.Name+"/"+c.Name, func(t *testing.T) {
				harnesstest.Need(t, c.Needs, "nginx")
				env := harness.Env{Dir: t.TempDir(), Quire: quire}
				if row.Load != nil {
					served, err := c.Serve(t.Context(), env)
					if err != nil {
						t.Fatal(err)
					}
					if err := load.Probe(t.Context(), served.Addr, served.Target, row.Load, 0, 20); err != nil {
						t.Error(err)
					}
					if err := served.Close(); err != nil {
						t.Error(err)
					}
					return
				}
				s, err := c.Open(t.Context(), env)
				if err != nil {
					t.Fatal(err)
				}
				facts, err := s.Check(t.Context())
				if err != nil || facts.OutputBytes < 1000 {
					t.Errorf("%+v, %v", facts, err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestTheCheckSeesAMissingAmount(t *testing.T) {
	pdf, err := path.Render(t.Context(), 7)
	if err != nil {
		t.Fatal(err)
	}
	if err := path.CheckPage(7, pdf); err != nil {
		if strings.Contains(err.Error(), "executable file not found") {
			t.Skip("pdftotext is missing: apt-get install poppler-utils")
		}
		t.Fatal(err)
	}
	if err := path.CheckPage(8, pdf); err == nil || !strings.Contains(err.Error(), "does not show") {
		t.Errorf("document 7 passed for document 8: %v", err)
	}
}
