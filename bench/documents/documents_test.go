package documents

import (
	"testing"

	"example.com/quire/bench/harness"
	"example.com/quire/bench/internal/harnesstest"
)

// TestEveryContestantMakesTheDocuments opens each contestant as the harness does and has its
// documents judged; of the long ones, shorter ones.
func TestEveryContestantMakesTheDocuments(t *testing.T) {
	if err := harness.Validate([]harness.Suite{Suite()}); err != nil {
		t.Fatal(err)
	}
	rows := append(small(), breaking()...)
	rows = append(rows, harness.Row{Name: "long", Contestants: []harness.Contestant{
		{Name: "pages", Needs: []harness.Tool{pdfinfo}, Open: openPages(1000, nil)},
		{Name: "pages, compliant", Needs: []harness.Tool{pdfinfo}, Open: openPages(1000, archival())},
		{Name: "rows", Needs: []harness.Tool{pdfinfo}, Open: openRows(2, 10_000)},
	}})
	for _, r := range rows {
		for _, c := range r.Contestants {
			t.Run(r.Name+"/"+c.Name, func(t *testing.T) {
				harnesstest.Need(t, c.Needs)
				s, err := c.Open(t.Context(), harness.Env{Dir: t.TempDir()})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.Check(t.Context()); err != nil {
					t.Error(err)
				}
				for _, do := range []func() error{func() error { return s.Prepare(100, 1) }, s.Run, s.Glance, s.Close} {
					if err := do(); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
}
