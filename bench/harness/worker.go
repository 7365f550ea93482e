package harness

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"time"

	"example.com/quire/bench/internal/machine"
)

// WorkerCommand is the first argument with which a program that runs suites
// starts itself again as a contestant's process; the main function hands over to
// Worker then.
const WorkerCommand = "worker"

// order and reply are the lines between the harness and a contestant's process.
type order struct {
	Do     string        `json:"do"` // open check calibrate sample count close
	First  int           `json:"first,omitempty"`
	N      int           `json:"n,omitempty"`
	Target time.Duration `json:"target,omitempty"`
	GC     bool          `json:"gc,omitempty"` // collect before the sample
}

type reply struct {
	Error  string        `json:"error,omitempty"`
	Facts  Facts         `json:"facts"`
	N      int           `json:"n,omitempty"`
	CPU    time.Duration `json:"cpu,omitempty"`
	Wall   time.Duration `json:"wall,omitempty"`
	Allocs float64       `json:"allocs,omitempty"`
	Bytes  float64       `json:"bytes,omitempty"`
	RSS    int64         `json:"rss,omitempty"`
	Addr   string        `json:"addr,omitempty"`
	Target string        `json:"target,omitempty"`
	PIDs   []int         `json:"pids,omitempty"`
}

// workerSpec names the contestant to become.
type workerSpec struct {
	Row        string `json:"row"` // full name
	Contestant string `json:"contestant"`
	Env        Env    `json:"env"`
}

// Worker is the life of a contestant's process: it obeys the orders on in, one
// JSON object a line, until in ends. arg is the argument after WorkerCommand.
// Whatever the contestant's libraries print goes to standard error.
func Worker(ctx context.Context, suites []Suite, arg string, in io.Reader, out io.Writer) error {
	// Ctrl-C reaches the whole process group; the harness ends its workers by
	// closing their input, so that servers and files are put away in order.
	signal.Ignore(os.Interrupt)
	os.Stdout = os.Stderr

	var spec workerSpec
	if err := json.Unmarshal([]byte(arg), &spec); err != nil {
		return fmt.Errorf("worker: read specification: %w", err)
	}
	row, _, ok := lookup(append([]Suite{controlSuite()}, suites...), spec.Row)
	if !ok {
		return fmt.Errorf("worker: no row %q", spec.Row)
	}
	c, ok := row.find(spec.Contestant)
	if !ok {
		return fmt.Errorf("worker: row %q has no contestant %q", spec.Row, spec.Contestant)
	}
	w := &worker{row: row, contestant: c, env: spec.Env, clock: machine.NewWorkClock()}
	defer func() { _ = w.close() }() // for when the harness is gone; its own order to close comes before
	enc := json.NewEncoder(out)
	sc := bufio.NewScanner(in)
	for sc.Scan() {
		var o order
		if err := json.Unmarshal(sc.Bytes(), &o); err != nil {
			return fmt.Errorf("worker: read order: %w", err)
		}
		if err := enc.Encode(w.obey(ctx, o)); err != nil {
			return fmt.Errorf("worker: answer: %w", err)
		}
	}
	return sc.Err()
}

func lookup(suites []Suite, full string) (Row, Suite, bool) {
	for _, s := range suites {
		for _, r := range s.Rows {
			if FullName(s, r) == full {
				return r, s, true
			}
		}
	}
	return Row{}, Suite{}, false
}

type worker struct {
	row        Row
	contestant Contestant
	env        Env
	subject    Subject
	served     Served
	clock      machine.WorkClock
	before     int64 // resident size before the operation of a row that is done once
}

// obey does one order; a panic of the contestant is its failure, not the end of
// the run.
func (w *worker) obey(ctx context.Context, o order) (r reply) {
	defer func() {
		if p := recover(); p != nil {
			r = reply{Error: fmt.Sprintf("%s: panic: %v\n%s", o.Do, p, debug.Stack())}
		}
	}()
	var err error
	switch o.Do {
	case "open":
		r, err = w.open(ctx)
	case "check":
		r.Facts, err = w.subject.Check(ctx)
	case "calibrate":
		r.N, err = w.calibrate(o.Target)
	case "sample":
		r, err = w.sample(o.First, o.N, o.GC)
	case "count":
		r, err = w.count(o.First, o.N)
	case "close":
		err = w.close()
		if rss, e := machine.PeakRSS(os.Getpid()); e == nil {
			r.RSS = rss - w.before
		}
	default:
		err = fmt.Errorf("unknown order %q", o.Do)
	}
	if err != nil {
		r.Error = err.Error()
	}
	return r
}

func (w *worker) open(ctx context.Context) (reply, error) {
	if w.row.Load != nil {
		var err error
		if w.served, err = w.contestant.Serve(ctx, w.env); err != nil {
			return reply{}, fmt.Errorf("start server: %w", err)
		}
		pids := w.served.PIDs
		if len(pids) == 0 {
			pids = []int{os.Getpid()}
		}
		return reply{Addr: w.served.Addr, Target: w.served.Target, PIDs: pids, Facts: w.served.Facts}, nil
	}
	s, err := w.contestant.Open(ctx, w.env)
	if err != nil {
		return reply{}, fmt.Errorf("open: %w", err)
	}
	w.subject = s
	return reply{}, nil
}

func (w *worker) close() error {
	s, served := w.subject, w.served
	w.subject, w.served = nil, Served{}
	var errs []error
	if s != nil {
		errs = append(errs, s.Close())
	}
	if served.Close != nil {
		errs = append(errs, served.Close())
	}
	return errors.Join(errs...)
}

// calibrate finds how many operations fill the target, warming up on the way.
// What disturbs a timing only ever lengthens it, so the shortest of several
// counts: contestants whose turns differ in length differ in how cold they begin
// and in how often the collector runs.
func (w *worker) calibrate(target time.Duration) (int, error) {
	if w.row.Batch > 0 {
		_, err := w.sample(0, w.row.Batch, true)
		return w.row.Batch, err
	}
	const most = 1 << 30
	n := 1
	for {
		took, err := w.took(n)
		if err != nil {
			return 0, err
		}
		if took >= target/4 || n >= most {
			break
		}
		// Aim short of the target: the first operations are the slow ones.
		grow := min(10, 0.4*float64(target)/float64(took))
		n = min(most, max(n+1, int(float64(n)*grow)))
	}
	least := time.Duration(math.MaxInt64)
	for range 6 {
		took, err := w.took(n)
		if err != nil {
			return 0, err
		}
		least = min(least, took)
	}
	return max(1, int(math.Round(float64(n)*float64(target)/float64(least)))), nil
}

// took is the length of a sample: processor time where there is one, because wall
// time on a busy machine is mostly waiting.
func (w *worker) took(n int) (time.Duration, error) {
	s, err := w.sample(0, n, false)
	if err != nil {
		return 0, err
	}
	if w.row.procs() > 1 || !w.clock.Exact() {
		return max(s.Wall, time.Nanosecond), nil
	}
	return max(s.CPU, time.Nanosecond), nil
}

// sample times n operations. The collector runs before the first sample of a
// round, so that every round begins with the same heap and pays for its own
// garbage only.
func (w *worker) sample(first, n int, collect bool) (reply, error) {
	r := reply{N: n}
	chunk := min(n, w.subject.Chunk())
	// Others have just had the core: a few operations that do not count bring
	// code and data back into the caches.
	if warm := min(n/5, chunk); warm > 0 {
		if err := w.subject.Prepare(first, warm); err != nil {
			return reply{}, err
		}
		if err := w.subject.Run(); err != nil {
			return reply{}, err
		}
	}
	for done := 0; done < n; {
		k := min(chunk, n-done)
		if err := w.subject.Prepare(first+done, k); err != nil {
			return reply{}, err
		}
		if done == 0 && collect {
			runtime.GC()
		}
		if w.row.Once {
			w.before = ownMemory()
		}
		cpu, wall := w.clock.Now(), time.Now()
		err := w.subject.Run()
		r.Wall += time.Since(wall)
		r.CPU += w.clock.Now() - cpu
		if err != nil {
			return reply{}, err
		}
		if err := w.subject.Glance(); err != nil {
			return reply{}, err
		}
		done += k
	}
	return r, nil
}

// ownMemory returns the resident size of this process after what it does not need was given back,
// and has its peak counted from here; 0 where the system cannot.
func ownMemory() int64 {
	giveBack()
	if err := machine.ForgetPeak(); err != nil {
		return 0
	}
	n, err := machine.RSS(os.Getpid())
	if err != nil {
		return 0
	}
	return n
}

// giveBack returns to the system what the heap does not need. Now and then the runtime passes over
// free pages, some MiB of them, and would do so at each further call; where it did, a block of that
// length is taken from among them and freed, for what was freed since is looked at again.
func giveBack() {
	debug.FreeOSMemory()
	for range 8 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		idle := m.HeapIdle - m.HeapReleased
		if idle == 0 {
			return
		}
		runtime.KeepAlive(make([]byte, idle))
		debug.FreeOSMemory()
	}
}

// count measures allocations per operation: the least of three passes, in hundredths as they are
// shown, because the runtime allocates now and then on its own account.
func (w *worker) count(first, n int) (reply, error) {
	n = min(n, w.subject.Chunk())
	best := reply{Allocs: math.Inf(1), Bytes: math.Inf(1)}
	for range 3 {
		if err := w.subject.Prepare(first, n); err != nil {
			return reply{}, err
		}
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := w.subject.Run()
		runtime.ReadMemStats(&after)
		if err != nil {
			return reply{}, err
		}
		best.Allocs = min(best.Allocs, math.Round(100*float64(after.Mallocs-before.Mallocs)/float64(n))/100)
		best.Bytes = min(best.Bytes, float64(after.TotalAlloc-before.TotalAlloc)/float64(n))
	}
	return best, nil
}
