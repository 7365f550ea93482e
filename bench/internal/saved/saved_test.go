package saved_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/quire/bench/internal/saved"
	"example.com/quire/bench/internal/stat"
)

func series(mid float64) []float64 {
	xs := make([]float64, 20)
	for i := range xs {
		xs[i] = mid * (1 + 0.001*float64(i%5))
	}
	return xs
}

func run(name string, cpu, kernel, allocs float64) *saved.Run {
	return &saved.Run{
		Name: name,
		Rows: []saved.Row{{
			Suite: "s", Name: "r", Primary: "cpu", Workload: saved.Workload{Name: "w", Version: 1, Seed: 1}, Kernel: series(kernel),
			Contestants: []saved.Contestant{
				{Name: "ours", State: saved.Timed, CPU: series(cpu), Allocs: allocs, Counted: true},
				{Name: "theirs", State: saved.Failing},
			},
		}},
	}
}

func TestStoreKeepsRuns(t *testing.T) {
	store := saved.Store{Dir: filepath.Join(t.TempDir(), "results")}
	if names, err := store.Names(); err != nil || len(names) != 0 {
		t.Errorf("an empty store: %v, %v", names, err)
	}
	want := run("before", 123.456789, 50, 3)
	want.Rows[0].Comparisons = []saved.Comparison{{With: "x", Ratio: stat.Paired(nil, nil)}} // NaN, which JSON has no word for
	if err := store.Save(want); err != nil {
		t.Fatal(err)
	}
	got, err := store.Load("before")
	if err != nil {
		t.Fatal(err)
	}
	if got.Rows[0].Contestants[0].CPU[0] != 123.46 || got.Rows[0].FullName() != "s/r" {
		t.Errorf("got %+v", got.Rows[0])
	}
	if names, err := store.Names(); err != nil || !slices.Equal(names, []string{"before"}) {
		t.Errorf("names %v, %v", names, err)
	}
	if _, err := store.Load("after"); !errors.Is(err, saved.ErrNotFound) {
		t.Errorf("a run that is not there: %v", err)
	}
	b, err := os.ReadFile(filepath.Join(store.Dir, "before.json"))
	if err != nil || strings.Count(string(b), "\n") > 100 {
		t.Errorf("%d lines, %v: a series belongs on one line", strings.Count(string(b), "\n"), err)
	}
}

func TestStoreRefusesNamesThatAreNoFileNames(t *testing.T) {
	store := saved.Store{Dir: t.TempDir()}
	for _, name := range []string{"", "../x", "a b", ".hidden", "a/b"} {
		if err := store.Save(&saved.Run{Name: name}); err == nil {
			t.Errorf("saved as %q", name)
		}
		if _, err := store.Load(name); err == nil || errors.Is(err, saved.ErrNotFound) {
			t.Errorf("load %q: %v", name, err)
		}
	}
}

func TestLoadRefusesOtherFormats(t *testing.T) {
	store := saved.Store{Dir: t.TempDir()}
	for name, text := range map[string]string{"old": `{"format":0}`, "torn": `{"format":`} {
		if err := os.WriteFile(filepath.Join(store.Dir, name+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Load(name); err == nil {
			t.Errorf("%s was loaded", name)
		}
	}
}

func TestPutReplacesARow(t *testing.T) {
	r := run("x", 1, 1, 1)
	r.Put(saved.Row{Suite: "s", Name: "r", Title: "new"})
	r.Put(saved.Row{Suite: "s", Name: "q"})
	if row, ok := r.Row("s/r"); len(r.Rows) != 2 || !ok || row.Title != "new" {
		t.Errorf("rows %+v", r.Rows)
	}
}

func TestCompareTakesTheMachineOut(t *testing.T) {
	// The machine was a third slower as a whole on the second day.
	c := saved.Compare(run("a", 100, 50, 3), run("b", 133, 66.5, 3))
	if len(c.Changes) != 1 || c.Changes[0].Verdict != stat.NoDifference {
		t.Errorf("got %+v", c.Changes)
	}
	// The code was.
	c = saved.Compare(run("a", 100, 50, 3), run("b", 133, 50, 4))
	if len(c.Changes) != 2 || c.Changes[0].Verdict != stat.Slower || c.Changes[0].Old != 100.2 || c.Changes[1].Measure != "allocs" || c.Changes[1].Verdict != "more" {
		t.Errorf("got %+v", c.Changes)
	}
}

// TestCompareMeasuresByUnchangedPeers has a second day on which everything that
// resembles the subject's work was slower than the control kernel shows.
func TestCompareMeasuresByUnchangedPeers(t *testing.T) {
	day := func(name string, ours, peer, kernel float64, version string) *saved.Run {
		r := run(name, ours, kernel, 3)
		r.Rows[0].Contestants[0].Own = true
		r.Rows[0].Contestants = append(r.Rows[0].Contestants, saved.Contestant{Name: "peer", Version: version, State: saved.Timed, CPU: series(peer)})
		return r
	}
	c := saved.Compare(day("a", 100, 200, 50, "v1"), day("b", 120, 240, 50, "v1"))
	if len(c.Changes) != 2 || c.Changes[0].Verdict != stat.NoDifference || c.Changes[1].Verdict != stat.Slower {
		t.Errorf("got %+v", c.Changes)
	}
	c = saved.Compare(day("a", 100, 200, 50, "v1"), day("b", 100, 100, 50, "v2"))
	if c.Changes[0].Verdict != stat.NoDifference || c.Changes[1].Note != "version v1, then v2" {
		t.Errorf("a peer of another version was taken for the scale: %+v", c.Changes)
	}
}

func TestCompareWarns(t *testing.T) {
	a, b := run("a", 100, 50, 3), run("b", 100, 50, 3)
	b.Machine.CPU, b.Machine.Go = "other", "go9"
	b.Rows[0].Workload.Version = 2
	b.Rows = append(b.Rows, saved.Row{Suite: "s", Name: "new"})
	a.Rows = append(a.Rows, saved.Row{Suite: "s", Name: "old", Quality: saved.Quality{Dirty: 1}})
	c := saved.Compare(a, b)
	text := strings.Join(c.Warnings, "\n")
	for _, want := range []string{"different machines", "different Go versions", "workload changed"} {
		if !strings.Contains(text, want) {
			t.Errorf("warnings %q lack %q", text, want)
		}
	}
	if len(c.Changes) != 0 || !slices.Equal(c.OnlyA, []string{"s/old"}) || !slices.Equal(c.OnlyB, []string{"s/new"}) {
		t.Errorf("got %+v", c)
	}
	a, b = run("a", 100, 50, 3), run("b", 100, 50, 3)
	b.Rows[0].Quality.Dirty = 2
	if c := saved.Compare(a, b); len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "busy machine") {
		t.Errorf("warnings %q", c.Warnings)
	}
}
