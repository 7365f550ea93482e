package report_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/quire/bench/internal/machine"
	"example.com/quire/bench/internal/report"
	"example.com/quire/bench/internal/saved"
	"example.com/quire/bench/internal/stat"
)

func run() *saved.Run {
	return &saved.Run{
		Name: "x", Commit: "abc", Started: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC), Command: "make bench-save RUN='s/(r|t)'",
		Machine: machine.Info{CPU: "Some CPU", Cores: 2, OS: "linux", Arch: "amd64", Go: "go1.26", GOGC: "100", GOMEM: "off", Virtual: true},
		Tools:   map[string]string{"nginx": "nginx 1.22"},
		Suites:  []saved.Suite{{Name: "s", Title: "Suite", About: "About it.", NotShown: []string{"The rest."}}, {Name: "empty"}},
		Rows: []saved.Row{{
			Suite: "s", Name: "r", Title: "a row", Primary: "cpu", Workload: saved.Workload{Name: "w", Version: 3, Seed: 7, Text: "Things are done."},
			Contestants: []saved.Contestant{
				{Name: "ours", State: saved.Timed, CPU: []float64{1200, 1200, 1260}, Time: []float64{1300}, Counted: true, Allocs: 0.04, Bytes: 44, Output: 20_480, RSS: 30 << 20, Note: "tagged"},
				{Name: "theirs", Version: "v1", State: saved.Timed, CPU: []float64{600, 600, 600}, Counted: true},
				{Name: "broken", State: saved.Failing, Error: "wrong | sum\nstack"},
			},
			Comparisons: []saved.Comparison{{With: "theirs", Ratio: stat.Ratio{Median: 2, Lo: 1.9, Hi: 2.1, Rounds: 20, Enough: true}, Verdict: stat.Slower}},
			Goals: []saved.Goal{
				{Against: "the fastest peer", Peer: "theirs", Of: "cpu", AtMost: 0.9, Ratio: stat.Ratio{Median: 2, Lo: 1.9, Hi: 2.1}, Obstacle: "They do less.", State: saved.Missed},
				{Of: "allocs", AtMost: 60, Ratio: stat.Ratio{Median: 0.04, Lo: 0.04, Hi: 0.04}, State: saved.Met},
			},
			AA:      &stat.Ratio{Median: 1.001, Lo: 0.99, Hi: 1.012, Enough: true},
			Quality: saved.Quality{Rounds: 20, Repeated: 2, Dirty: 1, Why: "the load average is high", Load: 1.2, Steal: 0.01, Seconds: 4},
		}},
	}
}

func TestPagesSayWhatTheRunHolds(t *testing.T) {
	pages := report.Pages([]*saved.Run{run()})
	if len(pages) != 2 {
		t.Fatalf("%d pages", len(pages))
	}
	for _, want := range []string{
		"# Suite\n\nAbout it.", "| commit | abc |", "Some CPU, 2 cores", "a virtual machine", "| nginx | nginx 1.22 |", "`make bench-save RUN='s/(r\\|t)'`",
		"## s/r\n\nA row: Things are done. Workload w v3, seed 7.",
		"| ours | 1.20 µs |", "| 0.04 | 44 B | 20.0 KiB | 30 MiB |", "| theirs v1 | 600 ns |", "| 2.000 | 1.900 .. 2.100 | slower |",
		"| broken | failing: wrong / sum |",
		"Goal cpu <= 0.9x the fastest peer (theirs): missed: 2.000 [1.900 .. 2.100]", "Goal allocs <= 60: met: 0.04", "- ours: tagged",
		"noise floor 1.2 %; 20 rounds in 4 s; 2 repeated", "DIRTY: 1 rounds",
		"## Where we lose\n\n- s/r: 2.000 of theirs's cpu\n- s/r: goal cpu", ": missed: 2.000 [1.900 .. 2.100]. They do less.\n\n## What this does not show\n\n- The rest.",
	} {
		if !strings.Contains(pages["s.md"], want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, want := range []string{"| [s](s.md): Suite | 1 | 1 | 1 | 0 | 0 | 2026-01-02 | abc |", "## Method", "A/A control"} {
		if !strings.Contains(pages["README.md"], want) {
			t.Errorf("the index lacks %q", want)
		}
	}
	if t.Failed() {
		t.Log(pages["s.md"])
	}
}

func TestPagesOfNoRun(t *testing.T) {
	pages := report.Pages(nil)
	if len(pages) != 1 || !strings.Contains(pages["README.md"], "No run has been kept yet.") {
		t.Errorf("got %v", pages)
	}
}

// TestDocsAreGenerated holds docs/benchmarks/ to the kept runs.
func TestDocsAreGenerated(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	store := saved.Store{Dir: filepath.Join(root, "bench", "kept")}
	names, err := store.Names()
	if err != nil {
		t.Fatal(err)
	}
	var runs []*saved.Run
	for _, n := range names {
		r, err := store.Load(n)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	pages := report.Pages(runs)
	entries, err := os.ReadDir(filepath.Join(root, "docs", "benchmarks"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	made := 0
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(root, "docs", "benchmarks", e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if report.Generated(b) {
			made++
		}
	}
	if made != len(pages) {
		t.Errorf("docs/benchmarks/ holds %d pages of the harness, the kept runs make %d", made, len(pages))
	}
	for name, want := range pages {
		got, err := os.ReadFile(filepath.Join(root, "docs", "benchmarks", name))
		if err != nil || string(got) != want {
			t.Errorf("docs/benchmarks/%s is not what `make bench-report` writes (%v)", name, err)
		}
	}
}

func TestAmounts(t *testing.T) {
	for _, c := range []struct {
		measure string
		v       float64
		want    string
	}{
		{"cpu", 812.4, "812 ns"},
		{"cpu", 0.0301e9, "30.1 ms"},
		{"time", 2.5e9, "2.50 s"},
		{"bytes", 512, "512 B"},
		{"output", 24_000, "23.4 KiB"},
		{"rss", 100 << 20, "100 MiB"},
		{"allocs", 0.001, "0"},
		{"allocs", 31, "31"},
		{"allocs", 2.5, "2.50"},
	} {
		if got := report.Amount(c.measure, c.v); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.measure, c.v, got, c.want)
		}
	}
	for v, want := range map[float64]string{0.0213: "0.0213", 0.5: "0.500", 3e38: "against 0"} {
		if got := report.Ratio(v); got != want {
			t.Errorf("ratio %v: %q, want %q", v, got, want)
		}
	}
}
