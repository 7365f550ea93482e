package harness

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"example.com/quire/bench/internal/load"
	"example.com/quire/bench/internal/machine"
)

// child is the harness's end of a contestant's process.
type child struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	lines  chan []byte // replies; closed when the process has ended
	stderr *tail
	dir    string

	pids   []int  // whose processor time counts as ours
	addr   string // server rows
	target string
	plan   *load.Plan
	n      int // operations per sample
	next   int // input of the next sample
}

// timing is one sample, per operation in nanoseconds.
type timing struct {
	cpu, wall, p50, p99 float64
}

// startChild starts this very program again as a contestant.
func startChild(ctx context.Context, exe string, spec workerSpec, core, procs int) (*child, error) {
	dir, err := os.MkdirTemp("", "quire-bench-")
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Contestant, err)
	}
	spec.Env.Dir = dir
	arg, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Contestant, err)
	}
	// The context does not kill the worker: closing its input ends it, and it
	// then ends whatever it started itself.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), exe, WorkerCommand, string(arg)) //nolint:gosec // the program runs itself
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(procs))
	c := &child{cmd: cmd, stderr: &tail{}, dir: dir, lines: make(chan []byte, 8)}
	cmd.Stderr = c.stderr
	cmd.WaitDelay = 5 * time.Second
	if c.in, err = cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Contestant, err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Contestant, err)
	}
	if procs == 1 {
		err = machine.StartPinned(cmd, core)
	} else {
		err = machine.StartOnAll(cmd)
	}
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, fmt.Errorf("start %s: %w", spec.Contestant, err)
	}
	c.pids = []int{cmd.Process.Pid}
	go func() {
		defer close(c.lines)
		for r := bufio.NewReader(out); ; {
			b, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			c.lines <- b
		}
	}()
	return c, nil
}

// replyTimeout is how long one order may take. Most take milliseconds, a document of 100,000 pages
// a minute; the limit only keeps a hung contestant from hanging the run.
const replyTimeout = 5 * time.Minute

func (c *child) order(ctx context.Context, o order) (reply, error) {
	if err := json.NewEncoder(c.in).Encode(o); err != nil {
		return reply{}, fmt.Errorf("%s: the process is gone: %w%s", o.Do, err, c.stderr.quote())
	}
	timer := time.NewTimer(replyTimeout)
	defer timer.Stop()
	select {
	case b, ok := <-c.lines:
		if !ok {
			return reply{}, fmt.Errorf("%s: the process ended%s", o.Do, c.stderr.quote())
		}
		var r reply
		if err := json.Unmarshal(b, &r); err != nil {
			return reply{}, fmt.Errorf("%s: %w", o.Do, err)
		}
		if r.Error != "" {
			return r, errors.New(r.Error)
		}
		return r, nil
	case <-ctx.Done():
		return reply{}, fmt.Errorf("%s: %w", o.Do, context.Cause(ctx))
	case <-timer.C:
		return reply{}, fmt.Errorf("%s: no answer within %v", o.Do, replyTimeout)
	}
}

// open makes the contestant ready and has its output checked.
func (c *child) open(ctx context.Context, plan *load.Plan) (Facts, error) {
	r, err := c.order(ctx, order{Do: "open"})
	if err != nil {
		return Facts{}, err
	}
	if plan == nil {
		return c.check(ctx)
	}
	c.plan, c.addr, c.target = plan, r.Addr, r.Target
	for _, pid := range r.PIDs {
		if pid != c.cmd.Process.Pid {
			c.pids = append(c.pids, pid)
		}
	}
	if _, err := c.check(ctx); err != nil {
		return Facts{}, err
	}
	return r.Facts, nil
}

// checkedRequests is how many answers of a server are judged in full.
const checkedRequests = 4

func (c *child) check(ctx context.Context) (Facts, error) {
	if c.plan != nil {
		return Facts{}, load.Probe(ctx, c.addr, c.target, c.plan, 0, checkedRequests)
	}
	r, err := c.order(ctx, order{Do: "check"})
	return r.Facts, err
}

// calibrate settles how many operations make a sample and warms up.
func (c *child) calibrate(ctx context.Context, row Row, target time.Duration) error {
	if c.plan == nil {
		r, err := c.order(ctx, order{Do: "calibrate", Target: target})
		c.n, c.next = r.N, r.N
		return err
	}
	target *= loadSlices
	for n := 4 * max(1, c.plan.Conns); ; n *= 4 {
		r, err := load.Run(ctx, c.addr, c.target, c.plan, c.next, n)
		if err != nil {
			return err
		}
		c.next += n
		if row.Batch > 0 || r.Wall >= target/4 {
			c.n = max(c.plan.Conns, int(float64(n)*float64(target)/float64(r.Wall)))
			break
		}
	}
	if row.Batch > 0 {
		c.n = row.Batch
	}
	return nil
}

// sample measures the contestant once; every sample takes inputs of its own.
func (c *child) sample(ctx context.Context, collect bool) (timing, error) {
	first := c.next
	c.next += c.n
	n := float64(c.n)
	if c.plan == nil {
		r, err := c.order(ctx, order{Do: "sample", First: first, N: c.n, GC: collect})
		if err != nil {
			return timing{}, err
		}
		return timing{cpu: float64(r.CPU) / n, wall: float64(r.Wall) / n}, nil
	}
	before, err := c.serverCPU()
	if err != nil {
		return timing{}, err
	}
	r, err := load.Run(ctx, c.addr, c.target, c.plan, first, c.n)
	if err != nil {
		return timing{}, err
	}
	after, err := c.serverCPU()
	if err != nil {
		return timing{}, err
	}
	return timing{cpu: float64(after-before) / n, wall: float64(r.Wall) / n, p50: float64(r.P50), p99: float64(r.P99)}, nil
}

// serverCPU is the processor time of the server's processes. Where it is not to
// be had (outside Linux) a server row has no CPU figure.
func (c *child) serverCPU() (time.Duration, error) {
	pids := c.pids
	if len(pids) > 1 {
		pids = pids[1:] // the worker itself only watches over the real server
	}
	var sum time.Duration
	for _, pid := range pids {
		d, err := machine.CPUOf(pid)
		if errors.Is(err, errors.ErrUnsupported) {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		sum += d
	}
	return sum, nil
}

// cpu is the processor time of everything that belongs to this contestant.
func (c *child) cpu() time.Duration {
	var sum time.Duration
	for _, pid := range c.pids {
		if d, err := machine.CPUOf(pid); err == nil {
			sum += d
		}
	}
	return sum
}

// close ends the process and returns the peak memory of the contestant.
func (c *child) close(ctx context.Context) (rss int64) {
	if len(c.pids) > 1 {
		for _, pid := range c.pids[1:] {
			if n, err := machine.PeakRSS(pid); err == nil {
				rss += n
			}
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
	defer cancel()
	if r, err := c.order(ctx, order{Do: "close"}); err == nil && rss == 0 {
		rss = r.RSS
	}
	_ = c.in.Close()
	ended := make(chan struct{})
	go func() {
		_ = c.cmd.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		_ = c.cmd.Process.Kill()
		<-ended
	}
	_ = os.RemoveAll(c.dir)
	return rss
}

// tail keeps the last of what a process wrote to standard error.
type tail struct {
	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	const keep = 4 << 10
	t.b = append(t.b, p...)
	if len(t.b) > keep {
		t.b = append([]byte(nil), t.b[len(t.b)-keep:]...)
	}
	return len(p), nil
}

func (t *tail) quote() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := strings.TrimSpace(string(t.b)); s != "" {
		return "; it said: " + s
	}
	return ""
}
