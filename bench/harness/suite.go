// Package harness is the project's one way to measure speed. A suite is a small
// Go file: a named workload with seeded, unique inputs, the contestants behind
// one interface, an output check that each must pass before it is timed, and
// goals as ratios.
//
// Every contestant runs in a process of its own, pinned to one core with
// GOMAXPROCS=1, while the harness sits on another. Rounds are interleaved in a
// random order, a contestant's second instance runs as an A/A control, and a
// ratio is the median of the rounds' own ratios with its sign-test interval.
package harness

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"example.com/quire/bench/internal/load"
)

// Suite is a set of rows that share a subject and a page of the report.
type Suite struct {
	Name     string // "router": the first half of a row's full name
	Title    string
	About    string   // what is measured, for the report: plain paragraphs
	NotShown []string // what the figures do not show, one sentence each
	Rows     []Row
}

// Row is one workload with the contestants that run it. The first contestant is
// the subject: ratios are its cost divided by each other's.
type Row struct {
	Name     string
	Title    string
	Workload Workload
	// Primary is the measure that ratios and verdicts are made of; "" is CPU.
	Primary Measure
	// Procs is GOMAXPROCS of the contestants; 0 is 1. With more than one
	// nothing is pinned.
	Procs int
	// Batch fixes the number of operations in a sample, for workloads whose
	// inputs differ so much that contestants must do the very same ones; 0 lets
	// each contestant fill the sample time.
	Batch int
	// Rounds bounds the rounds, for contestants that take seconds; 0: as the options say. Fewer
	// than 8 are too few for a verdict.
	Rounds int
	// Once has each contestant do a single operation in a process of its own, for what takes a
	// minute: there are no rounds, no control and no intervals, and its peak memory is what the
	// operation adds to what the process held before. Prepare makes the input, Glance is the check.
	Once bool
	// Times is in how many processes each contestant of a row with Once does it, one after the
	// other; that of the median time counts, and the most memory. 0: one.
	Times       int
	Contestants []Contestant
	Goals       []Goal
	// Load makes this a server row: contestants Serve, and the harness sends
	// these requests from the other core.
	Load *load.Plan
}

// Workload names what is done. A change of inputs, seed or checks raises the
// version, and runs of different versions are not compared.
type Workload struct {
	Name    string
	Version int
	Seed    uint64
	Text    string // one sentence for the report
}

// Contestant is one implementation of a row's workload.
type Contestant struct {
	Name   string // short, unique in the row
	Module string // module path whose version the report gives; "" for the standard library and this project
	Note   string // what it does not do, or does otherwise; printed beside its figures
	Own    bool   // this project's code: in comparisons of runs the others are the scale
	Needs  []Tool // external programs without which it is absent
	// Quire asks for the program itself, built by the harness: Env.Quire.
	Quire bool
	Open  func(context.Context, Env) (Subject, error) // rows without Load
	Serve func(context.Context, Env) (Served, error)  // rows with Load
}

// Tool is an external program.
type Tool struct {
	Name    string   // looked up in PATH
	Install string   // how to get it
	Version []string // arguments that make it print its version
}

// Missing reports whether the tool is not to be found.
func (t Tool) Missing() bool {
	_, err := exec.LookPath(t.Name)
	return err != nil
}

// Env is what a contestant gets of the world.
type Env struct {
	Root  string // the repository
	Dir   string // an empty directory of its own, removed afterwards
	Quire string // path of the built program, for contestants that ask for it
}

// Facts are what the output check learned.
type Facts struct {
	OutputBytes int64  `json:"output_bytes,omitempty"` // size of one output, where that means something
	Note        string `json:"note,omitempty"`
}

// Subject is a contestant made ready. One goroutine uses it. Operation i always
// works on input i of the workload, so that contestants can be held to the very
// same work.
type Subject interface {
	// Check does operations outside the timer and verifies what comes out in
	// full. A contestant that fails is reported, not timed.
	Check(ctx context.Context) (Facts, error)
	// Chunk is the largest n that Prepare takes. A subject whose Chunk is less
	// than a sample must not allocate in Prepare.
	Chunk() int
	// Prepare makes the inputs first ... first+n-1, outside the timer.
	Prepare(first, n int) error
	// Run does the prepared operations. Nothing else is timed.
	Run() error
	// Glance verifies cheaply, outside the timer, what Run left behind.
	Glance() error
	Close() error
}

// Served is a running server.
type Served struct {
	Addr string // host:port
	// Target is passed to the plan's Request and Check: what only the server
	// knows, such as the addresses of its documents.
	Target string
	// PIDs are the server's processes; none means this one.
	PIDs  []int
	Facts Facts
	Close func() error
}

// Measure names a cost; less is better for all of them.
type Measure string

// The measures of a row.
const (
	CPU    Measure = "cpu"    // user and system time per operation
	Time   Measure = "time"   // wall time per operation
	P50    Measure = "p50"    // median latency of a request, server rows
	P99    Measure = "p99"    // 99th percentile of latency, server rows
	Allocs Measure = "allocs" // allocations per operation
	Bytes  Measure = "bytes"  // bytes allocated per operation
	Output Measure = "output" // size of one output
	RSS    Measure = "rss"    // peak resident size of the contestant's process
)

// Fastest stands in Goal.Against for the peer with the least cost in this run.
const Fastest = "the fastest peer"

// Goal is a ratio that the subject should stay under, or for Against "" an
// absolute count (allocations, bytes of output).
type Goal struct {
	Against string
	Of      Measure // "" is the row's Primary
	// Scale names two contestants by whose own ratio the ratio is divided, first by second: what a
	// processor more is worth to others, say. Both empty: nothing is.
	Scale  [2]string
	AtMost float64
	// Obstacle says, in whole sentences, what stands in the way of a goal that
	// is missed; the report prints it beside the miss.
	Obstacle string
}

// FullName is the name that RUN selects by.
func FullName(s Suite, r Row) string { return s.Name + "/" + r.Name }

func (r Row) primary() Measure {
	if r.Primary == "" {
		return CPU
	}
	return r.Primary
}

func (r Row) procs() int { return max(1, r.Procs) }

func (r Row) find(contestant string) (Contestant, bool) {
	for _, c := range r.Contestants {
		if c.Name == contestant {
			return c, true
		}
	}
	return Contestant{}, false
}

// Validate reports what is wrong with a set of suites: a mistake in a suite
// should not surface after an hour of measuring.
func Validate(suites []Suite) error {
	var errs []error
	bad := func(format string, a ...any) { errs = append(errs, fmt.Errorf("suites: "+format, a...)) }
	seen := map[string]bool{}
	for _, s := range suites {
		if s.Title == "" || s.About == "" || len(s.NotShown) == 0 {
			bad("%s lacks a title, a description or what it does not show", s.Name)
		}
		for _, r := range s.Rows {
			full := FullName(s, r)
			if seen[full] {
				bad("%s exists twice", full)
			}
			seen[full] = true
			if r.Title == "" || r.Workload.Name == "" || r.Workload.Version < 1 || r.Workload.Text == "" {
				bad("%s: the workload needs a title, a name, a version and a sentence", full)
			}
			if len(r.Contestants) == 0 {
				bad("%s has no contestant", full)
			}
			names := map[string]bool{}
			for _, c := range r.Contestants {
				if c.Name == "" || names[c.Name] {
					bad("%s: contestant %q is unnamed or there twice", full, c.Name)
				}
				names[c.Name] = true
				if (c.Serve != nil) != (r.Load != nil) || (c.Open != nil) == (r.Load != nil) {
					bad("%s: contestant %s must Open in a row without Load and Serve in one with it", full, c.Name)
				}
			}
			for _, g := range r.Goals {
				if g.Against != "" && g.Against != Fastest && !names[g.Against] {
					bad("%s: a goal names the unknown contestant %q", full, g.Against)
				}
				for _, name := range g.Scale {
					if name != "" && (!names[name] || g.Against == "") {
						bad("%s: a goal is scaled by the unknown contestant %q, or is no ratio", full, name)
					}
				}
				if g.AtMost < 0 || g.AtMost == 0 && g.Against != "" {
					bad("%s: a goal without a figure", full)
				}
			}
		}
	}
	return errors.Join(errs...)
}

// Options say how long to measure.
//
// A round starts every contestant in a new process, warms it up, and lets the
// contestants take short turns in random order; the sum of a contestant's turns
// is its one value of the round. The new processes make the rounds independent
// of one another: where code and data come to lie in memory moves a figure by
// some percent and stays as it is for as long as a process lives. The short turns
// make whatever disturbs the machine meet all contestants alike.
type Options struct {
	Slice     time.Duration // aimed length of one turn
	Laps      int           // turns of each contestant in a round; a server has a single longer one
	MinRounds int
	MaxRounds int
	Budget    time.Duration // per row; rounds end earlier once everything is settled
	Wait      time.Duration // how long to wait for a quiet machine before a row
}

// loadSlices is how many slices long a server's one turn is: it also holds the
// connecting and the waiting of the load's side.
const loadSlices = 50

// Quick is what make bench uses.
func Quick() Options {
	return Options{
		Slice: 2 * time.Millisecond, Laps: 12, MinRounds: 12, MaxRounds: 60,
		Budget: 15 * time.Second, Wait: 20 * time.Second,
	}
}

// Thorough is for figures that are kept.
func Thorough() Options {
	return Options{
		Slice: 2 * time.Millisecond, Laps: 20, MinRounds: 25, MaxRounds: 150,
		Budget: time.Minute, Wait: 3 * time.Minute,
	}
}
