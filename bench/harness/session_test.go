package harness_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/quire/bench/harness"
	"example.com/quire/bench/internal/load"
	"example.com/quire/bench/internal/saved"
	"example.com/quire/bench/internal/stat"
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

type input struct{ seed, sum uint64 }

// spin is a contestant that mixes a number n times; wrong makes its output so.
func spin(n int, wrong bool) func(context.Context, harness.Env) (harness.Subject, error) {
	return func(context.Context, harness.Env) (harness.Subject, error) {
		mix := func(v uint64) uint64 {
			for range n {
				v ^= v << 13
				v ^= v >> 7
				v ^= v << 17
			}
			return v
		}
		return &harness.Ops[input]{
			Size: 32,
			Fill: func(i int, in *input) error {
				in.seed = uint64(i) + 1 //nolint:gosec // an index is not negative
				return nil
			},
			Do: func(in *input) error {
				in.sum = mix(in.seed)
				return nil
			},
			Verify: func(int, *input) (harness.Facts, error) {
				if wrong {
					return harness.Facts{}, errors.New("the sum is wrong")
				}
				return harness.Facts{OutputBytes: 8, Note: "a note"}, nil
			},
		}, nil
	}
}

func opens(f func() error) func(context.Context, harness.Env) (harness.Subject, error) {
	return func(context.Context, harness.Env) (harness.Subject, error) { return nil, f() }
}

// leaky passes its check and fails under the timer.
func leaky(context.Context, harness.Env) (harness.Subject, error) {
	n := 0
	return &harness.Ops[input]{
		Size:   1,
		Fill:   func(int, *input) error { return nil },
		Do:     func(*input) error { n++; return nil },
		Verify: func(int, *input) (harness.Facts, error) { return harness.Facts{}, nil },
		Cheap: func(int, *input) error {
			if n > 3 {
				return errors.New("the result went bad")
			}
			return nil
		},
	}, nil
}

// secondTime opens well in a quiet moment and fails when a round starts it anew:
// it leaves a mark beside the test program's temporary files.
func secondTime(ctx context.Context, env harness.Env) (harness.Subject, error) {
	mark := filepath.Join(os.Getenv("BENCH_TEST_MARKS"), "mark")
	f, err := os.OpenFile(mark, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) //nolint:gosec // the test names the folder
	if err != nil {
		return nil, fmt.Errorf("mark: %w", err)
	}
	_, err = f.WriteString("x")
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(mark) //nolint:gosec // the test names the folder
	if err != nil {
		return nil, fmt.Errorf("mark: %w", err)
	}
	if len(b) > 3 {
		return nil, errors.New("opened too often")
	}
	return spin(500, false)(ctx, env)
}

func serve(body string) func(context.Context, harness.Env) (harness.Served, error) {
	return func(ctx context.Context, _ harness.Env) (harness.Served, error) {
		var lc net.ListenConfig
		ln, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return harness.Served{}, fmt.Errorf("listen: %w", err)
		}
		srv := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, body)
		})}
		go func() { _ = srv.Serve(ln) }()
		return harness.Served{Addr: ln.Addr().String(), Facts: harness.Facts{OutputBytes: int64(len(body))}, Close: srv.Close}, nil
	}
}

// holds makes an input of so many bytes, which it leaves, and then as many as the operation needs.
func holds(input, needs int) func(context.Context, harness.Env) (harness.Subject, error) {
	return func(context.Context, harness.Env) (harness.Subject, error) {
		fill := func(n int) []byte { return bytes.Repeat([]byte{1}, n) }
		return &harness.Ops[[]byte]{
			Fill: func(_ int, in *[]byte) error {
				*in = fill(input)[:1:1]
				*in = bytes.Clone(*in)
				return nil
			},
			Do:     func(in *[]byte) error { *in = fill(needs); return nil },
			Verify: func(int, *[]byte) (harness.Facts, error) { return harness.Facts{}, nil },
		}, nil
	}
}

func row(name string, goals []harness.Goal, contestants ...harness.Contestant) harness.Row {
	return harness.Row{
		Name: name, Title: name, Contestants: contestants, Goals: goals,
		Workload: harness.Workload{Name: name, Version: 1, Seed: 1, Text: "numbers are mixed."},
	}
}

func suite() harness.Suite {
	served := row("served", nil,
		harness.Contestant{Name: "short", Serve: serve("hello")},
		harness.Contestant{Name: "wrong", Serve: serve("hallo")})
	served.Load = &load.Plan{
		Text: "GET / over 2 connections", Conns: 2,
		Request: func(dst []byte, _ string, _ int) []byte { return append(dst, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"...) },
		Check: func(_ int, a load.Answer) error {
			if string(a.Body) != "hello" {
				return fmt.Errorf("the body is %q", a.Body)
			}
			return nil
		},
	}
	once := row("once", []harness.Goal{{Against: "long", AtMost: 0.5}},
		harness.Contestant{Name: "short", Open: spin(1_000_000, false)},
		harness.Contestant{Name: "long", Open: spin(100_000_000, false)},
		harness.Contestant{Name: "refuses", Open: opens(func() error { return errors.New("not today") })})
	once.Once, once.Times = true, 3
	memory := row("memory", []harness.Goal{{Of: harness.RSS, Against: "large", AtMost: 0.5}, {Of: harness.RSS, AtMost: 1}},
		harness.Contestant{Name: "small", Open: holds(96<<20, 8<<20)},
		harness.Contestant{Name: "large", Open: holds(1<<20, 32<<20)})
	memory.Once = true
	return harness.Suite{
		Name: "test", Title: "Test", About: "About.", NotShown: []string{"Anything."},
		Rows: []harness.Row{
			row("twice", []harness.Goal{{Against: harness.Fastest, AtMost: 0.7}, {Of: harness.Allocs, AtMost: 0}, {Against: "slow", AtMost: 0.1}, {Of: harness.P99, Against: "slow", AtMost: 1}},
				harness.Contestant{Name: "quick", Open: spin(500, false)},
				harness.Contestant{Name: "slow", Open: spin(1000, false)},
				harness.Contestant{Name: "wrong", Open: spin(500, true)},
				harness.Contestant{Name: "panics", Open: opens(func() error { panic("no such thing") })},
				harness.Contestant{Name: "refuses", Open: opens(func() error { return errors.New("not today") })},
				harness.Contestant{Name: "bad later", Open: leaky},
				harness.Contestant{Name: "needs a tool", Open: spin(1, false), Needs: []harness.Tool{{Name: "no-such-tool-here", Install: "apt-get install it"}}}),
			row("subject fails", []harness.Goal{{Against: "slow", AtMost: 1}},
				harness.Contestant{Name: "wrong", Open: spin(500, true)},
				harness.Contestant{Name: "slow", Open: spin(1000, false)}),
			served,
			row("turns bad", []harness.Goal{{Against: "quick", AtMost: 1}},
				harness.Contestant{Name: "steady", Open: spin(500, false)},
				harness.Contestant{Name: "quick", Open: spin(400, false)},
				harness.Contestant{Name: "bad after a second start", Open: secondTime}),
			row("subject turns bad", []harness.Goal{{Against: "quick", AtMost: 1}},
				harness.Contestant{Name: "bad after a second start", Open: secondTime},
				harness.Contestant{Name: "quick", Open: spin(400, false)}),
			once,
			memory,
			row("scaled", []harness.Goal{{Against: "slow", Scale: [2]string{"slow", "slow"}, AtMost: 1}, {Against: "slow", Scale: [2]string{"quick", "slow"}, AtMost: 0.9}},
				harness.Contestant{Name: "quick", Open: spin(500, false)},
				harness.Contestant{Name: "slow", Open: spin(2000, false)}),
		},
	}
}

func measure(t *testing.T, name string) saved.Row {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	stages := map[string]bool{}
	s := &harness.Session{
		Exe:      exe,
		Options:  harness.Options{Slice: 500 * time.Microsecond, Laps: 3, MinRounds: 8, MaxRounds: 8, Budget: 10 * time.Second},
		Progress: func(p harness.Progress) { stages[p.Stage] = true },
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	su := suite()
	for _, r := range su.Rows {
		if r.Name == name {
			out, err := s.Measure(t.Context(), su, r)
			if err != nil {
				t.Fatal(err)
			}
			if !stages["checking"] {
				t.Errorf("progress told of %v", stages)
			}
			return out
		}
	}
	t.Fatalf("no row %q", name)
	return saved.Row{}
}

func TestMeasure(t *testing.T) {
	r := measure(t, "twice")
	quick, _ := r.Find("quick")
	if quick.State != saved.Timed || len(quick.CPU) < 8 || quick.Output != 8 || quick.Note != "a note" || !quick.Counted || quick.Allocs > 0.1 || quick.RSS < 1<<20 {
		t.Errorf("quick: %+v", quick)
	}
	if len(r.Kernel) != len(quick.CPU) {
		t.Errorf("%d kernel values for %d rounds", len(r.Kernel), len(quick.CPU))
	}
	if len(r.Comparisons) != 1 || r.Comparisons[0].With != "slow" {
		t.Fatalf("comparisons %+v", r.Comparisons)
	}
	c := r.Comparisons[0]
	if c.Ratio.Median < 0.25 || c.Ratio.Median > 0.8 || c.Verdict == stat.Slower {
		t.Errorf("half the work: %+v", c)
	}
	if r.AA == nil || r.AA.Rounds < 8 {
		t.Errorf("A/A control %+v", r.AA)
	}
	if len(r.Goals) != 4 || r.Goals[0].Peer != "slow" || r.Goals[1].State != saved.Met || r.Goals[2].State != saved.Missed || r.Goals[3].State != saved.Open {
		t.Errorf("goals %+v", r.Goals)
	}

	// One that fails is reported, not timed.
	for name, want := range map[string]string{
		"wrong": "the sum is wrong", "panics": "no such thing", "refuses": "not today", "bad later": "the result went bad",
	} {
		c, _ := r.Find(name)
		if c.State != saved.Failing || !strings.Contains(c.Error, want) || len(c.CPU) != 0 {
			t.Errorf("%s: state %s, error %q, %d timings", name, c.State, c.Error, len(c.CPU))
		}
	}
	tool, _ := r.Find("needs a tool")
	if tool.State != saved.Absent || tool.Install != "apt-get install it" || !strings.Contains(tool.Error, "no-such-tool-here") || len(tool.CPU) != 0 {
		t.Errorf("absent contestant: %+v", tool)
	}
}

func TestAContestantThatTurnsBadIsDropped(t *testing.T) {
	t.Setenv("BENCH_TEST_MARKS", t.TempDir())
	r := measure(t, "turns bad")
	bad, _ := r.Find("bad after a second start")
	if bad.State != saved.Failing || !strings.Contains(bad.Error, "opened too often") || len(bad.CPU) != 0 {
		t.Errorf("bad: %+v", bad)
	}
	steady, _ := r.Find("steady")
	if len(r.Comparisons) != 1 || len(steady.CPU) < 4 {
		t.Errorf("the others were not measured on: %+v, %d rounds", r.Comparisons, len(steady.CPU))
	}
}

func TestASubjectThatTurnsBadEndsTheRow(t *testing.T) {
	t.Setenv("BENCH_TEST_MARKS", t.TempDir())
	r := measure(t, "subject turns bad")
	if r.Contestants[0].State != saved.Failing || len(r.Contestants[0].CPU) != 0 || len(r.Comparisons) != 0 || r.Goals[0].State != saved.Open || r.AA != nil {
		t.Errorf("row: %+v", r)
	}
}

func TestAFailingSubjectLeavesGoalsOpen(t *testing.T) {
	r := measure(t, "subject fails")
	if c, _ := r.Find("wrong"); c.State != saved.Failing {
		t.Errorf("subject: %+v", c)
	}
	if len(r.Comparisons) != 0 || len(r.Goals) != 1 || r.Goals[0].State != saved.Open || r.AA != nil {
		t.Errorf("comparisons %+v, goals %+v, control %+v", r.Comparisons, r.Goals, r.AA)
	}
}

// TestMemoryOfOnceIsThatOfTheOperation: what making the input took does not count, nor does the
// program itself.
func TestMemoryOfOnceIsThatOfTheOperation(t *testing.T) {
	r := measure(t, "memory")
	for i, mib := range []int64{8, 32} {
		if got := r.Contestants[i].RSS; got < mib<<20 || got > (mib+4)<<20 {
			t.Errorf("%s: %d bytes, want about %d MiB", r.Contestants[i].Name, got, mib)
		}
	}
	if len(r.Goals) != 2 || r.Goals[0].State != saved.Met || r.Goals[1].State != saved.Missed {
		t.Errorf("goals %+v", r.Goals)
	}
}

// TestOnceMakesASingleOperation: without rounds and control.
func TestOnceMakesASingleOperation(t *testing.T) {
	r := measure(t, "once")
	for i, want := range []saved.State{saved.Timed, saved.Timed, saved.Failing} {
		c := r.Contestants[i]
		if c.State != want || want == saved.Timed && (len(c.CPU) != 1 || len(c.Time) != 1) {
			t.Errorf("%+v", c)
		}
	}
	if r.AA != nil || r.Quality.Rounds != 0 || len(r.Comparisons) != 1 || r.Comparisons[0].Verdict != stat.Faster {
		t.Errorf("row: %+v", r)
	}
	if len(r.Goals) != 1 || r.Goals[0].State != saved.Met {
		t.Errorf("goals %+v", r.Goals)
	}
}

// TestGoalsAreScaledByARatio: a ratio divided by that of others, of which one is itself here.
func TestGoalsAreScaledByARatio(t *testing.T) {
	r := measure(t, "scaled")
	if len(r.Goals) != 2 || r.Goals[0].State != saved.Met || r.Goals[1].State != saved.Missed || r.Goals[1].Ratio.Median < 0.999 || r.Goals[1].Ratio.Median > 1.001 {
		t.Errorf("goals %+v", r.Goals)
	}
	if len(r.Goals[0].Scale) != 2 {
		t.Errorf("scale %v", r.Goals[0].Scale)
	}
}

func TestServerRowMeasuresTheServersProcess(t *testing.T) {
	r := measure(t, "served")
	short, _ := r.Find("short")
	if short.State != saved.Timed || len(short.CPU) < 8 || len(short.P50) < 8 || short.Output != 5 || short.Counted {
		t.Errorf("server: %+v", short)
	}
	if r.Server != "GET / over 2 connections" {
		t.Errorf("load: %q", r.Server)
	}
	wrong, _ := r.Find("wrong")
	if wrong.State != saved.Failing || !strings.Contains(wrong.Error, "hallo") {
		t.Errorf("a server with a wrong answer: %+v", wrong)
	}
}

func TestValidateNamesWhatIsWrong(t *testing.T) {
	if err := harness.Validate([]harness.Suite{suite()}); err != nil {
		t.Error(err)
	}
	bad := suite()
	bad.About = ""
	bad.Rows = append(bad.Rows, bad.Rows[0])
	bad.Rows[1].Goals = []harness.Goal{{Against: "nobody"}, {Against: "slow", AtMost: 1, Scale: [2]string{"slow", "somebody"}}}
	bad.Rows[1].Contestants = append(bad.Rows[1].Contestants, harness.Contestant{Name: "slow", Serve: serve("")})
	bad.Rows[2].Workload.Version = 0
	err := harness.Validate([]harness.Suite{bad})
	for _, want := range []string{"description", "test/twice exists twice", `unknown contestant "nobody"`, `scaled by the unknown contestant "somebody"`, "without a figure", `"slow" is unnamed or there twice`, "must Open", "test/served: the workload"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
}

func TestWorkerRefusesWhatItDoesNotKnow(t *testing.T) {
	for arg, want := range map[string]string{
		`{`:                    "read specification",
		`{"row":"test/none"}`:  "no row",
		`{"row":"test/twice"}`: "no contestant",
	} {
		err := harness.Worker(t.Context(), []harness.Suite{suite()}, arg, strings.NewReader(""), io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", arg, err, want)
		}
	}
}
