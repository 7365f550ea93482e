// Package saved is the record of a benchmark run: what it measured, on what, and
// how the rows came out. Runs are kept as JSON, grow row by row so that an
// interrupted run can go on, and are compared with one another.
package saved

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/quire/bench/internal/machine"
	"example.com/quire/bench/internal/stat"
)

// Format is the version of the file's shape.
const Format = 1

// Run is one run of the harness.
type Run struct {
	Format   int               `json:"format"`
	Name     string            `json:"name"`
	Commit   string            `json:"commit"`
	Changed  bool              `json:"uncommitted_changes,omitempty"`
	Binaries map[string]string `json:"binaries"` // sha256 of what was run: the identity by which a run is resumed
	Started  time.Time         `json:"started"`
	Finished time.Time         `json:"finished,omitzero"`
	Command  string            `json:"command"`
	Selected string            `json:"selected"` // the RUN expression
	Machine  machine.Info      `json:"machine"`
	Method   Method            `json:"method"`
	Tools    map[string]string `json:"tools,omitempty"`
	Suites   []Suite           `json:"suites"`
	Rows     []Row             `json:"rows"`
}

// Method is how long and how often was measured.
type Method struct {
	SliceMS   float64 `json:"slice_ms"`
	Laps      int     `json:"laps"`
	MinRounds int     `json:"min_rounds"`
	MaxRounds int     `json:"max_rounds"`
	BudgetS   float64 `json:"budget_s"`
}

// Suite is the text of a suite at the time of the run.
type Suite struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	About    string   `json:"about"`
	NotShown []string `json:"not_shown"`
}

// Row is the outcome of one row.
type Row struct {
	Suite       string       `json:"suite"`
	Name        string       `json:"name"`
	Title       string       `json:"title"`
	Workload    Workload     `json:"workload"`
	Primary     string       `json:"primary"`
	Procs       int          `json:"procs"`
	Server      string       `json:"server,omitempty"` // how the load is made, in a server row
	Contestants []Contestant `json:"contestants"`
	Comparisons []Comparison `json:"comparisons"`
	Goals       []Goal       `json:"goals,omitempty"`
	AA          *stat.Ratio  `json:"aa,omitempty"` // the subject beside its own second instance
	// Kernel is the time per operation, in ns, of the fixed control kernel in
	// each round: the scale by which runs of different days are compared.
	Kernel  []float64 `json:"kernel_ns"`
	Quality Quality   `json:"quality"`
	// Earlier is set in a kept run for a row that its latest run did not measure.
	Earlier *Earlier `json:"earlier,omitempty"`
}

// Earlier is the run that a row is from.
type Earlier struct {
	Commit  string    `json:"commit"`
	Changed bool      `json:"uncommitted_changes,omitempty"`
	Started time.Time `json:"started"`
	CPU     string    `json:"cpu"`
	Go      string    `json:"go"`
}

// Adopt takes over the rows of an older run of the same suite that r did not measure and the suite
// still has, in the order of that run.
func (r *Run) Adopt(old *Run, has func(row string) bool) {
	var rows []Row
	for _, row := range old.Rows {
		if i := slices.IndexFunc(r.Rows, func(n Row) bool { return n.Name == row.Name }); i >= 0 {
			rows = append(rows, r.Rows[i])
			r.Rows = slices.Delete(slices.Clone(r.Rows), i, i+1)
			continue
		}
		if !has(row.Name) {
			continue
		}
		if row.Earlier == nil {
			row.Earlier = &Earlier{Commit: old.Commit, Changed: old.Changed, Started: old.Started, CPU: old.Machine.CPU, Go: old.Machine.Go}
		}
		rows = append(rows, row)
	}
	r.Rows = append(rows, r.Rows...)
}

// Workload identifies what was done.
type Workload struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
	Seed    uint64 `json:"seed"`
	Text    string `json:"text"`
}

// Quality says how quiet the machine was.
type Quality struct {
	Rounds   int     `json:"rounds"`
	Repeated int     `json:"repeated"` // rounds thrown away as dirty and measured again
	Dirty    int     `json:"dirty"`    // dirty rounds that had to be kept
	Why      string  `json:"why,omitempty"`
	Load     float64 `json:"load"`  // highest load average seen
	Steal    float64 `json:"steal"` // share of the row's time that the hypervisor took
	Seconds  float64 `json:"seconds"`
}

// State of a contestant.
type State string

// A contestant is timed, or failed its output check, or its tool is missing.
const (
	Timed   State = "timed"
	Failing State = "failing"
	Absent  State = "absent"
)

// Contestant is one implementation's figures; the series have one value a round.
type Contestant struct {
	Name    string    `json:"name"`
	Version string    `json:"version,omitempty"`
	Note    string    `json:"note,omitempty"`
	Own     bool      `json:"own,omitempty"` // this project's code
	State   State     `json:"state"`
	Error   string    `json:"error,omitempty"`   // why it is failing or absent
	Install string    `json:"install,omitempty"` // how to get the missing tool
	CPU     []float64 `json:"cpu_ns,omitempty"`
	Time    []float64 `json:"time_ns,omitempty"`
	P50     []float64 `json:"p50_ns,omitempty"`
	P99     []float64 `json:"p99_ns,omitempty"`
	Allocs  float64   `json:"allocs"`
	Bytes   float64   `json:"bytes"`
	Counted bool      `json:"counted,omitempty"` // Allocs and Bytes were measured
	Output  int64     `json:"output_bytes,omitempty"`
	RSS     int64     `json:"peak_rss_bytes,omitempty"`
}

// Series returns the per-round values of a measure that has them.
func (c Contestant) Series(measure string) []float64 {
	switch measure {
	case "cpu":
		return c.CPU
	case "time":
		return c.Time
	case "p50":
		return c.P50
	case "p99":
		return c.P99
	default:
		return nil
	}
}

// Value returns the contestant's figure for a measure, and whether it has one.
func (c Contestant) Value(measure string) (float64, bool) {
	switch measure {
	case "allocs":
		return c.Allocs, c.Counted
	case "bytes":
		return c.Bytes, c.Counted
	case "output":
		return float64(c.Output), c.Output > 0
	case "rss":
		return float64(c.RSS), c.RSS > 0
	default:
		xs := c.Series(measure)
		return stat.Median(xs), len(xs) > 0
	}
}

// ControlFailed stands in place of a verdict in a row whose A/A control found a
// difference where there is none.
const ControlFailed stat.Verdict = "control failed"

// Comparison is the subject beside one other contestant, by the row's primary
// measure.
type Comparison struct {
	With    string       `json:"with"`
	Ratio   stat.Ratio   `json:"ratio"`
	Verdict stat.Verdict `json:"verdict"`
}

// GoalState is how a goal came out.
type GoalState string

// A goal is met or missed when its whole interval lies on one side of it, near
// when the interval holds it, and open when a contestant it needs has no figure.
const (
	Met    GoalState = "met"
	Missed GoalState = "missed"
	Near   GoalState = "near"
	Open   GoalState = "open"
)

// Goal is one goal and its outcome.
type Goal struct {
	Against string     `json:"against,omitempty"` // "" is an absolute count
	Peer    string     `json:"peer,omitempty"`    // who the fastest peer was
	Of      string     `json:"of"`
	Scale   []string   `json:"scale,omitempty"` // the two contestants by whose ratio the ratio was divided
	AtMost  float64    `json:"at_most"`
	Ratio   stat.Ratio `json:"ratio"`
	// Obstacle is what stands in the way of it, in sentences; "" when nothing is known.
	Obstacle string    `json:"obstacle,omitempty"`
	State    GoalState `json:"state"`
}

// FullName is suite/row.
func (r Row) FullName() string { return r.Suite + "/" + r.Name }

// Find returns the contestant of that name.
func (r Row) Find(name string) (Contestant, bool) {
	for _, c := range r.Contestants {
		if c.Name == name {
			return c, true
		}
	}
	return Contestant{}, false
}

// Sound reports whether the A/A control found no difference; without that no
// verdict of the row counts.
func (r Row) Sound() bool { return r.AA == nil || r.AA.Verdict() == stat.NoDifference }

// Row returns the row of that full name.
func (r *Run) Row(full string) (Row, bool) {
	for _, row := range r.Rows {
		if row.FullName() == full {
			return row, true
		}
	}
	return Row{}, false
}

// Put adds a row, or replaces the one of the same name.
func (r *Run) Put(row Row) {
	for i := range r.Rows {
		if r.Rows[i].FullName() == row.FullName() {
			r.Rows[i] = row
			return
		}
	}
	r.Rows = append(r.Rows, row)
}

// Round shortens every series to five digits, more than a timing ever deserves,
// so that kept files stay small.
func (r *Run) Round() {
	short := func(xs []float64) {
		for i, x := range xs {
			if v, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 5, 64), 64); err == nil {
				xs[i] = v
			}
		}
	}
	for i := range r.Rows {
		short(r.Rows[i].Kernel)
		for j := range r.Rows[i].Contestants {
			c := &r.Rows[i].Contestants[j]
			for _, xs := range [][]float64{c.CPU, c.Time, c.P50, c.P99} {
				short(xs)
			}
		}
	}
}

// ErrNotFound is returned for a run that is not there.
var ErrNotFound = errors.New("no such saved run")

// Store is a folder of runs.
type Store struct{ Dir string }

// Names lists the saved runs in alphabetical order.
func (s Store) Names() ([]string, error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list saved runs: %w", err)
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".json"); ok && !e.IsDir() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Load reads the run of that name; ErrNotFound when there is none.
func (s Store) Load(name string) (*Run, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(filepath.Join(s.Dir, name+".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("load run %q: %w", name, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("load run %q: %w", name, err)
	}
	var r Run
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("load run %q: %w", name, err)
	}
	if r.Format != Format {
		return nil, fmt.Errorf("load run %q: its format is %d, this harness reads %d", name, r.Format, Format)
	}
	return &r, nil
}

// Save writes the run under its name. The file is replaced in one step: an
// interrupted run leaves the rows it had.
func (s Store) Save(r *Run) error {
	if err := CheckName(r.Name); err != nil {
		return err
	}
	if err := os.MkdirAll(s.Dir, 0o750); err != nil {
		return fmt.Errorf("save run %q: %w", r.Name, err)
	}
	r.Format = Format
	r.Round()
	b, err := Encode(r)
	if err != nil {
		return fmt.Errorf("save run %q: %w", r.Name, err)
	}
	path := filepath.Join(s.Dir, r.Name+".json")
	if err := os.WriteFile(path+".new", b, 0o600); err != nil {
		return fmt.Errorf("save run %q: %w", r.Name, err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("save run %q: %w", r.Name, err)
	}
	return nil
}

// Encode writes a run as JSON with each series on one line: indented enough to
// be read and small enough to be kept.
func Encode(r *Run) ([]byte, error) {
	for i := range r.Rows {
		clean(r.Rows[i].AA)
		for j := range r.Rows[i].Comparisons {
			clean(&r.Rows[i].Comparisons[j].Ratio)
		}
		for j := range r.Rows[i].Goals {
			clean(&r.Rows[i].Goals[j].Ratio)
		}
	}
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return nil, fmt.Errorf("encode run: %w", err)
	}
	var out []byte
	inSeries := false
	for line := range strings.Lines(string(b)) {
		trimmed := strings.TrimSpace(line)
		switch {
		case inSeries && strings.HasPrefix(trimmed, "]"):
			out = append(out, trimmed...)
			out = append(out, '\n')
			inSeries = false
		case inSeries:
			out = append(out, trimmed...)
		case strings.HasSuffix(trimmed, `_ns": [`):
			out = append(out, strings.TrimRight(line, "\n")...)
			inSeries = true
		default:
			out = append(out, line...)
		}
	}
	return append(out, '\n'), nil
}

// clean replaces what JSON cannot say: a ratio without rounds is NaN.
func clean(r *stat.Ratio) {
	if r == nil {
		return
	}
	for _, v := range []*float64{&r.Median, &r.Lo, &r.Hi} {
		if math.IsNaN(*v) || math.IsInf(*v, 0) {
			*v = 0
		}
	}
}

// CheckName refuses names that would not make a plain file name.
func CheckName(name string) error {
	if name == "" || strings.HasPrefix(name, ".") {
		return fmt.Errorf("saved run: the name %q is empty or hidden", name)
	}
	for _, r := range name {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-", r) {
			return fmt.Errorf("saved run: the name %q holds %q; letters, digits and . _ + - are allowed", name, r)
		}
	}
	return nil
}
