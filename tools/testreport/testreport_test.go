package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const events = `{"Action":"start","Package":"example.com/quire/web"}
{"Action":"pass","Package":"example.com/quire/web","Test":"TestRouter","Elapsed":0.1}
{"Action":"output","Package":"example.com/quire/web","Test":"TestBroken","Output":"    a_test.go:3: 1 != 2\n"}
{"Action":"fail","Package":"example.com/quire/web","Test":"TestBroken"}
{"Action":"output","Package":"example.com/quire/web","Test":"TestJudge","Output":"    j_test.go:9: missing judge: qpdf: apt-get install qpdf\n"}
{"Action":"skip","Package":"example.com/quire/web","Test":"TestJudge"}
{"Action":"output","Package":"example.com/quire/web","Test":"TestOther","Output":"    o_test.go:9: only on Unix\n"}
{"Action":"skip","Package":"example.com/quire/web","Test":"TestOther"}
{"Action":"fail","Package":"example.com/quire/web","Elapsed":1}
`

func TestReadEvents(t *testing.T) {
	var out bytes.Buffer
	sum := tally{missing: map[string]string{}}
	if err := readEvents(strings.NewReader(events), &out, &sum); err != nil {
		t.Fatal(err)
	}
	if sum.passed != 1 || sum.failed != 1 || sum.skipped != 2 {
		t.Errorf("%d passed, %d failed, %d skipped; want 1, 1, 2", sum.passed, sum.failed, sum.skipped)
	}
	if got := sum.missing["qpdf"]; got != "apt-get install qpdf" {
		t.Errorf("qpdf's install line %q", got)
	}
	if len(sum.skips) != 1 || !strings.Contains(sum.skips[0], "only on Unix") {
		t.Errorf("skips %q, want the one with its reason", sum.skips)
	}
	if !strings.Contains(out.String(), "a_test.go:3: 1 != 2") {
		t.Errorf("the failure's output is not shown:\n%s", out.String())
	}
	var closing bytes.Buffer
	if err := sum.report(&closing, 0, false); err == nil {
		t.Error("a run with a failed test reports success")
	}
	if !strings.HasSuffix(closing.String(), "1 passed, 1 failed, 2 skipped\n") {
		t.Errorf("closing line of\n%s", closing.String())
	}
}

// TestWhatEndsWithItsPackageIsShown: go test says no end of a test that was running when time was
// up, and gives it the stacks of all goroutines as its output.
func TestWhatEndsWithItsPackageIsShown(t *testing.T) {
	var out bytes.Buffer
	sum := tally{missing: map[string]string{}}
	err := readEvents(strings.NewReader(`{"Action":"output","Package":"example.com/quire/web","Test":"TestHangs","Output":"panic: test timed out\n"}
{"Action":"output","Package":"example.com/quire/fetch","Test":"TestRuns","Output":"something\n"}
{"Action":"fail","Package":"example.com/quire/web","Elapsed":600}
{"Action":"pass","Package":"example.com/quire/fetch","Elapsed":1}
`), &out, &sum)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "--- UNFINISHED web.TestHangs\npanic: test timed out\n") || strings.Contains(out.String(), "something") {
		t.Errorf("shown:\n%s", out.String())
	}
}

func TestReportRequiresEveryJudge(t *testing.T) {
	sum := tally{passed: 3, skipped: 1, missing: map[string]string{"qpdf": "apt-get install qpdf"}}
	var out bytes.Buffer
	if err := sum.report(&out, 0, false); err != nil {
		t.Errorf("without REQUIRE_JUDGES: %v", err)
	}
	if err := sum.report(&out, 0, true); err == nil {
		t.Error("with REQUIRE_JUDGES a skipped judge passes")
	}
	if err := (&tally{}).report(&out, 0, false); err == nil {
		t.Error("a run of no tests passes")
	}
}

const page = "# web: status\nCoverage threshold: 85 %\n\n| row | capability | state | tests |\n|---|---|---|---|\n" +
	"| W1 | Router, `a|b` | done | `web.TestRouter` |\n" +
	"| W2 | Groups | part: Mount is open | `web.TestJudge` |\n" +
	"| W3 | Explain | open | |\n" +
	"| W4 | Swap | done | |\n" +
	"| W5 | Std | done | `web.TestNowhere` |\n" +
	"| W1 | Router again | nearly | `web.TestRouter` |\n"

func TestStatusFindsEveryUnprovedClaim(t *testing.T) {
	dir, docs := t.TempDir(), t.TempDir()
	write(t, eventsFile(dir), events)
	write(t, filepath.Join(docs, "web-status.md"), page)
	var out bytes.Buffer
	if err := reportStatus(&out, dir, docs); err == nil {
		t.Fatal("a page with unproved claims passes")
	}
	for _, want := range []string{
		"row W2: test web.TestJudge: skip",
		"row W4 is done and names no test",
		"row W5: test web.TestNowhere did not run",
		`row W1: state "nearly"`,
		"row W1 stands already at line 6",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("report lacks %q:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "W3") {
		t.Errorf("an open row is accused:\n%s", out.String())
	}
}

func TestCoverageBelowThresholdFails(t *testing.T) {
	dir, docs := t.TempDir(), t.TempDir()
	// Two test binaries saw the same block: it counts once, as covered.
	write(t, coverFile(dir, "web"), "mode: atomic\n"+
		"example.com/quire/web/a.go:1.1,2.2 3 0\nexample.com/quire/web/a.go:1.1,2.2 3 7\nexample.com/quire/web/b.go:1.1,2.2 1 0\n")
	write(t, filepath.Join(docs, "web-status.md"), page)
	var out bytes.Buffer
	err := reportCoverage(&out, dir, docs)
	if err == nil || !strings.Contains(err.Error(), "web") {
		t.Errorf("75 %% of at least 85 %%: error %v", err)
	}
	if !strings.Contains(out.String(), "75.0 %") {
		t.Errorf("coverage not shown:\n%s", out.String())
	}
	write(t, coverFile(dir, "web"), "mode: atomic\nexample.com/quire/web/a.go:1.1,2.2 3 7\n")
	if err := reportCoverage(&out, dir, docs); err != nil {
		t.Errorf("100 %% of at least 85 %%: %v", err)
	}
}

func TestTestsIn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a_test.go")
	write(t, file, "package a\nfunc TestA(t *testing.T) {}\nfunc TestMain(m *testing.M) {}\nfunc (x) TestB() {}\nfunc help() {}\n")
	if got, err := testsIn(file); err != nil || !slices.Equal(got, []string{"TestA"}) {
		t.Errorf("tests %q, %v; want TestA", got, err)
	}
}

// Without a C compiler `go list -race` fails, and files are still chosen as with it.
func TestFilesAreChosenForTheRaceDetectorWithoutACompiler(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module example.com/m\n\ngo 1.26\n")
	write(t, filepath.Join(dir, "a_test.go"), "package m\n")
	write(t, filepath.Join(dir, "count_test.go"), "//go:build !race\n\npackage m\n")
	write(t, filepath.Join(dir, "race_test.go"), "//go:build race\n\npackage m\n")
	t.Chdir(dir)
	t.Setenv("CGO_ENABLED", "0")
	for _, tt := range []struct{ flags, want []string }{
		{[]string{withRace}, []string{"a_test.go", "race_test.go"}},
		{nil, []string{"a_test.go", "count_test.go"}},
	} {
		files, err := testFiles(t.Context(), tt.flags...)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range files["example.com/m"] {
			got = append(got, filepath.Base(f))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("flags %q choose %q, want %q", tt.flags, got, tt.want)
		}
	}
}

func TestGroups(t *testing.T) {
	for path, want := range map[string]string{
		module + "/web/middleware":  "web",
		module + "/internal/record": "program",
		module + "/cmd/quire":       "program",
		module + "/webby":           "program",
	} {
		if got := groupOf(path); got != want {
			t.Errorf("groupOf(%s) = %s, want %s", path, got, want)
		}
	}
	all := append([]string{"program"}, libraries...)
	if got := slices.Sorted(slices.Values(order)); !slices.Equal(got, slices.Sorted(slices.Values(all))) {
		t.Errorf("order %q, want all of %q", got, all)
	}
	started := []string{module + "/web", module + "/internal/app", module + "/pdf/cos", module + "/pdf"}
	if slices.SortFunc(started, inOrder); started[0] != module+"/pdf" || started[3] != module+"/web" {
		t.Errorf("started in the order %q", started)
	}
}

func TestFlagsAreAddedToGOFLAGSAsWholes(t *testing.T) {
	flags := []string{withRace, "-gcflags=all=-race=false -l"}
	if got, want := withFlags("-trimpath", flags), "-trimpath '-tags=race' '-gcflags=all=-race=false -l'"; got != want {
		t.Errorf("GOFLAGS %q, want %q", got, want)
	}
	t.Setenv("GOFLAGS", withFlags("", flags))
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{context.BuildTags}}", "fmt").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "race") {
		t.Errorf("go list says %q, %v", out, err)
	}
}

func TestRaceEnv(t *testing.T) {
	const short = "atexit_sleep_ms=20"
	for _, tt := range []struct{ env, want []string }{
		{[]string{"A=b"}, []string{"A=b", "GORACE=" + short}},
		{[]string{"GORACE=halt_on_error=1", "A=b"}, []string{"GORACE=halt_on_error=1 " + short, "A=b"}},
		{[]string{"GORACE=atexit_sleep_ms=5"}, []string{"GORACE=atexit_sleep_ms=5"}},
	} {
		if got := raceEnv(slices.Clone(tt.env)); !slices.Equal(got, tt.want) {
			t.Errorf("raceEnv(%q) = %q, want %q", tt.env, got, tt.want)
		}
	}
}

func write(t *testing.T, name, s string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(s), 0o600); err != nil {
		t.Fatal(err)
	}
}
