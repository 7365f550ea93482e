package selfcheck_test

import (
	"testing"

	"example.com/quire/bench/harness"
	"example.com/quire/bench/selfcheck"
)

func TestKernelsPassTheirCheck(t *testing.T) {
	s := selfcheck.Suite()
	if err := harness.Validate([]harness.Suite{s}); err != nil {
		t.Fatal(err)
	}
	if len(s.Rows) != selfcheck.AARuns+1 {
		t.Errorf("%d rows", len(s.Rows))
	}
	for _, row := range s.Rows[:3] {
		for _, c := range row.Contestants {
			subject, err := c.Open(t.Context(), harness.Env{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := subject.Check(t.Context()); err != nil {
				t.Errorf("%s/%s: %v", row.Name, c.Name, err)
			}
			if err := subject.Prepare(0, 8); err != nil {
				t.Error(err)
			}
			if err := subject.Run(); err != nil {
				t.Error(err)
			}
			if err := subject.Glance(); err != nil {
				t.Errorf("%s/%s: %v", row.Name, c.Name, err)
			}
		}
	}
}
