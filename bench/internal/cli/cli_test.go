package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/quire/bench/harness"
	"example.com/quire/bench/internal/cli"
	"example.com/quire/bench/internal/saved"
)

// TestMain lets the test program serve as a contestant's process.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == harness.WorkerCommand {
		if err := harness.Worker(context.Background(), []harness.Suite{suite()}, os.Args[2], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func sum(n int) func(context.Context, harness.Env) (harness.Subject, error) {
	return func(context.Context, harness.Env) (harness.Subject, error) {
		type input struct{ from, to int }
		return &harness.Ops[input]{
			Size: 64,
			Fill: func(i int, in *input) error { in.from, in.to = i, 0; return nil },
			Do: func(in *input) error {
				for k := range n {
					in.to ^= (in.from + k) * 7919
				}
				return nil
			},
			Verify: func(int, *input) (harness.Facts, error) {
				if n == 13 {
					return harness.Facts{}, errors.New("unlucky")
				}
				return harness.Facts{}, nil
			},
		}, nil
	}
}

func suite() harness.Suite {
	row := func(name string, goal float64, c ...harness.Contestant) harness.Row {
		return harness.Row{
			Name: name, Title: name, Contestants: c, Goals: []harness.Goal{{Against: harness.Fastest, AtMost: goal}},
			Workload: harness.Workload{Name: name, Version: 1, Seed: 1, Text: "numbers are summed."},
		}
	}
	return harness.Suite{
		Name: "sums", Title: "Sums", About: "Numbers are summed.", NotShown: []string{"Products."},
		Rows: []harness.Row{
			row("good", 0.9, harness.Contestant{Name: "few", Open: sum(1000)}, harness.Contestant{Name: "many", Open: sum(10_000)}),
			row("bad", 0.1, harness.Contestant{Name: "few", Open: sum(1000)}, harness.Contestant{Name: "many", Open: sum(2000)}),
			row("failing", 0.9, harness.Contestant{Name: "few", Open: sum(1000)}, harness.Contestant{Name: "unlucky", Open: sum(13)}),
			row("absent", 2, harness.Contestant{Name: "few", Open: sum(1000)}, harness.Contestant{
				Name: "tool", Open: sum(1000), Needs: []harness.Tool{{Name: "no-such-tool-here", Install: "apt-get install no-such-tool"}},
			}),
		},
	}
}

// repository makes a folder that looks like the project's root.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/quire\n\ngo 1.26.0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func bench(t *testing.T, dir string, args ...string) (code int, out, msg string) {
	t.Helper()
	var o, e bytes.Buffer
	a := &cli.App{Suites: []harness.Suite{suite()}, Self: harness.Suite{Name: "self", Title: "s", About: "a", NotShown: []string{"x"}}, Out: &o, Err: &e, Dir: dir}
	code = a.Main(t.Context(), args)
	return code, o.String(), e.String()
}

// calm runs until a short run is what it is on a machine that is not shared with others: where
// the control says that nothing can be told, another run may tell.
func calm(t *testing.T, dir string, ok func(code int, out, msg string) bool, args ...string) {
	t.Helper()
	var code int
	var out, msg string
	for range 5 {
		if code, out, msg = bench(t, dir, append(args, "-fresh")...); ok(code, out, msg) {
			return
		}
	}
	t.Fatalf("run: exit %d\n%s\n%s", code, out, msg)
}

func TestRunSaveCompareReport(t *testing.T) {
	dir := repository(t)
	calm(t, dir, func(code int, out, _ string) bool {
		return code == 0 && strings.Contains(out, "sums/good") && strings.Contains(out, "faster") && strings.Contains(out, "A/A control")
	}, "run", "-short", "-run", "good")
	store := saved.Store{Dir: filepath.Join(dir, "bench", "results")}
	last, err := store.Load("last")
	if err != nil || last.Finished.IsZero() || len(last.Rows) != 1 || last.Machine.Cores < 1 || last.Binaries["bench"] == "" {
		t.Fatalf("last run: %+v, %v", last, err)
	}

	for _, name := range []string{"before", "after"} {
		last.Name = name
		if err := store.Save(last); err != nil {
			t.Fatal(err)
		}
	}
	code, out, _ := bench(t, dir, "compare", "before", "after")
	if code != 0 || !strings.Contains(out, "no difference") || !strings.Contains(out, "+0.0 %") {
		t.Errorf("compare: exit %d\n%s", code, out)
	}
	code, out, _ = bench(t, dir, "compare", "-json", "before", "after")
	var c saved.Comparing
	if err := json.Unmarshal([]byte(out), &c); code != 0 || err != nil || len(c.Changes) != 2 {
		t.Errorf("compare -json: exit %d, %v\n%s", code, err, out)
	}

	code, out, msg := bench(t, dir, "report", "after")
	if code != 0 {
		t.Fatalf("report: exit %d\n%s\n%s", code, out, msg)
	}
	page, err := os.ReadFile(filepath.Join(dir, "docs", "benchmarks", "sums.md"))
	if err != nil || !strings.Contains(string(page), "## sums/good") || !strings.Contains(string(page), "- Products.") || strings.Contains(string(page), dir) {
		t.Errorf("page: %v\n%s", err, page)
	}
	if _, err := os.Stat(filepath.Join(dir, "bench", "kept", "sums.json")); err != nil {
		t.Error(err)
	}
	if code, out, _ := bench(t, dir, "report"); code != 0 || strings.Contains(out, "wrote") {
		t.Errorf("a second report wrote again: exit %d\n%s", code, out)
	}

	// A run of other rows keeps those that it did not measure and the suite still has.
	next := *last
	next.Name, next.Commit, next.Rows = "next", "fedcba9", []saved.Row{last.Rows[0]}
	next.Rows[0].Name = "absent"
	gone := *last
	gone.Name, gone.Rows = "sums", []saved.Row{last.Rows[0], last.Rows[0]}
	gone.Rows[1].Name = "removed"
	for _, r := range []struct {
		dir string
		run *saved.Run
	}{{"results", &next}, {"kept", &gone}} {
		if err := (saved.Store{Dir: filepath.Join(dir, "bench", r.dir)}).Save(r.run); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if code, out, msg := bench(t, dir, "report", "next"); code != 0 {
			t.Fatalf("report: exit %d\n%s\n%s", code, out, msg)
		}
	}
	kept, err := saved.Store{Dir: filepath.Join(dir, "bench", "kept")}.Load("sums")
	if err != nil || len(kept.Rows) != 2 || kept.Rows[0].Name != "good" || kept.Rows[1].Name != "absent" || kept.Rows[1].Earlier != nil {
		t.Fatalf("kept: %+v, %v", kept, err)
	}
	if e := kept.Rows[0].Earlier; e == nil || e.Commit != last.Commit || !e.Started.Equal(last.Started) {
		t.Errorf("the earlier row is from %+v", e)
	}
	page, err = os.ReadFile(filepath.Join(dir, "docs", "benchmarks", "sums.md"))
	if err != nil || strings.Count(string(page), "From an earlier run: commit "+last.Commit) != 1 || !strings.Contains(string(page), "| commit | fedcba9") {
		t.Errorf("page: %v\n%s", err, page)
	}
	code, out, _ = bench(t, dir, "list")
	if code != 0 || !strings.Contains(out, "sums/absent") || !strings.Contains(out, "apt-get install no-such-tool") || !strings.Contains(out, "saved: before") {
		t.Errorf("list: exit %d\n%s", code, out)
	}
}

func TestAMissedGoalFailsTheRun(t *testing.T) {
	calm(t, repository(t), func(code int, out, msg string) bool {
		return code == 1 && strings.Contains(out, "missed: ") && strings.Contains(msg, "1 goals missed")
	}, "run", "-short", "-run", "bad")
}

func TestAFailingContestantFailsTheRun(t *testing.T) {
	code, out, msg := bench(t, repository(t), "run", "-short", "-run", "failing")
	if code != 1 || !strings.Contains(out, "failing: output of operation 0: unlucky") || !strings.Contains(msg, "1 contestants failing") {
		t.Errorf("exit %d\n%s\n%s", code, out, msg)
	}
}

func TestAnAbsentToolIsNamedAndRequiredOnDemand(t *testing.T) {
	t.Setenv("REQUIRE_JUDGES", "")
	code, out, msg := bench(t, repository(t), "run", "-short", "-run", "absent")
	if code != 0 || !strings.Contains(out, "absent: no-such-tool-here is not installed (apt-get install no-such-tool)") || !strings.Contains(msg, "1 absent") {
		t.Errorf("exit %d\n%s\n%s", code, out, msg)
	}
	t.Setenv("REQUIRE_JUDGES", "1")
	if code, _, msg := bench(t, repository(t), "run", "-short", "-run", "absent"); code != 1 || !strings.Contains(msg, "REQUIRE_JUDGES=1") {
		t.Errorf("required: exit %d\n%s", code, msg)
	}
}

func TestAnInterruptedRunGoesOn(t *testing.T) {
	t.Setenv("REQUIRE_JUDGES", "") // one contestant is absent on purpose
	dir := repository(t)
	if code, out, msg := bench(t, dir, "run", "-short", "-run", "good|absent"); code != 0 {
		t.Fatalf("exit %d\n%s\n%s", code, out, msg)
	}
	store := saved.Store{Dir: filepath.Join(dir, "bench", "results")}
	run, err := store.Load("last")
	if err != nil || len(run.Rows) != 2 {
		t.Fatalf("%+v, %v", run, err)
	}
	// As if it had been interrupted after the first row.
	run.Finished = saved.Run{}.Finished
	run.Rows = run.Rows[:1]
	run.Rows[0].Title = "the row of the interrupted run"
	if err := store.Save(run); err != nil {
		t.Fatal(err)
	}
	code, out, msg := bench(t, dir, "run", "-short", "-run", "good|absent", "-json")
	var went saved.Run
	if err := json.Unmarshal([]byte(out), &went); err != nil || code != 0 {
		t.Fatalf("exit %d, %v\n%s\n%s", code, err, out, msg)
	}
	if !strings.Contains(msg, "sums/good: kept from the interrupted run") || len(went.Rows) != 2 || went.Rows[0].Title != "the row of the interrupted run" || went.Finished.IsZero() {
		t.Errorf("%+v\n%s", went.Rows, msg)
	}
	// Another selection is another run.
	if code, out, _ := bench(t, dir, "run", "-short", "-run", "absent"); code != 0 || strings.Contains(out, "interrupted") {
		t.Errorf("exit %d\n%s", code, out)
	}
}

func TestSaveRefusesToReplaceAFinishedRun(t *testing.T) {
	dir := repository(t)
	store := saved.Store{Dir: filepath.Join(dir, "bench", "results")}
	done := &saved.Run{Name: "mine"}
	done.Finished = done.Finished.AddDate(2025, 0, 0)
	if err := store.Save(done); err != nil {
		t.Fatal(err)
	}
	if code, _, msg := bench(t, dir, "save", "-name", "mine", "-run", "absent"); code != 2 || !strings.Contains(msg, "exists") {
		t.Errorf("exit %d\n%s", code, msg)
	}
	if code, _, msg := bench(t, dir, "save", "-name", "no/name"); code != 2 || !strings.Contains(msg, `holds '/'`) {
		t.Errorf("exit %d\n%s", code, msg)
	}
}

func TestUnknownNamesListTheNearOnes(t *testing.T) {
	dir := repository(t)
	store := saved.Store{Dir: filepath.Join(dir, "bench", "results")}
	if err := store.Save(&saved.Run{Name: "before"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "-run", "sms/good"}, "no suite or row matches \"sms/good\"; near: sums/good"},
		{[]string{"run", "-run", "("}, "no regular expression"},
		{[]string{"compare", "befor", "before"}, "near: before"},
		{[]string{"compare", "before"}, "name a saved run"},
		{[]string{"compare", "a", "b", "c"}, "takes no argument"},
		{[]string{"report", "after"}, `load run "after"`},
		{[]string{"report", "before"}, "was interrupted"},
		{[]string{"comparee"}, "near: compare"},
		{[]string{"run", "-nonsense"}, "nonsense"},
	} {
		if code, out, msg := bench(t, dir, c.args...); code != 2 || !strings.Contains(msg, c.want) {
			t.Errorf("%v: exit %d, %q, want %q\n%s", c.args, code, msg, c.want, out)
		}
	}
	if code, out, _ := bench(t, dir); code != 0 || !strings.Contains(out, "bench selfcheck") {
		t.Errorf("help: exit %d\n%s", code, out)
	}
	if code, _, msg := bench(t, t.TempDir(), "list"); code != 2 || !strings.Contains(msg, "find the repository") {
		t.Errorf("outside of the repository: exit %d\n%s", code, msg)
	}
}
