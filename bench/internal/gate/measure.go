package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"example.com/quire/bench/internal/stat"
)

// Measurer measures what the gate compares.
type Measurer struct {
	Root   string // the repository
	Kernel string // the program of bench/cmd/kernel
	// Program builds the program itself and returns its path; nil leaves its
	// size out.
	Program func(context.Context) (string, error)
	// Runs is how often instructions are counted: once to compare, several times
	// to record, because the spread is part of the baseline.
	Runs int
	// Only, when set, restricts the kernels.
	Only *regexp.Regexp
	// Instructions are counted when set, and valgrind is there.
	Instructions bool
	// Say, when set, is told what is being measured.
	Say func(string)
}

// Kernel is what the kernel program says of one of its kernels.
type Kernel struct {
	Name string `json:"name"`
	N    int    `json:"n"` // operations of the shorter of two runs under valgrind
}

// Measure measures everything.
func (m *Measurer) Measure(ctx context.Context) (Measured, error) {
	out := Measured{Toolchain: runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH, Kernels: map[string]Counts{}, Outputs: map[string]Output{}}
	var kernels []Kernel
	if err := m.ask(ctx, &kernels, "list"); err != nil {
		return out, err
	}
	if m.Only != nil {
		kernels = slices.DeleteFunc(kernels, func(k Kernel) bool { return !m.Only.MatchString(k.Name) })
	}
	for _, k := range kernels {
		m.say("allocations: " + k.Name)
		c, err := m.count(ctx, k.Name)
		if err != nil {
			return out, err
		}
		out.Kernels[k.Name] = c
	}
	if m.Instructions {
		if _, err := exec.LookPath("valgrind"); err != nil {
			out.Absent = append(out.Absent, Absence{"instruction counts", "valgrind is not installed (apt-get install valgrind)"})
		} else if err := m.instructions(ctx, kernels, out.Kernels); err != nil {
			return out, err
		}
	}
	m.say("outputs of the samples")
	if err := m.ask(ctx, &out.Outputs, "outputs", m.Root); err != nil {
		return out, err
	}
	if m.Program != nil {
		m.say("program size")
		path, err := m.Program(ctx)
		if err != nil {
			return out, err
		}
		info, err := os.Stat(path)
		if err != nil {
			return out, fmt.Errorf("program size: %w", err)
		}
		out.Program = info.Size()
	}
	return out, nil
}

// processes is how many processes count a kernel's allocations. Maps hash by a seed of the
// process, and now and then one grows a little more; the least of several is exact.
const processes = 3

// count counts a kernel's allocations.
func (m *Measurer) count(ctx context.Context, name string) (Counts, error) {
	var least Counts
	for i := range processes {
		var c Counts
		if err := m.ask(ctx, &c, "count", name); err != nil {
			return Counts{}, err
		}
		if i == 0 {
			least = c
			continue
		}
		least.Allocs, least.Bytes = min(least.Allocs, c.Allocs), min(least.Bytes, c.Bytes)
	}
	return least, nil
}

func (m *Measurer) say(text string) {
	if m.Say != nil {
		m.Say(text)
	}
}

// kernelEnv is the environment in which counts are exact: one processor, no
// collection, no preemption by signals.
func kernelEnv() []string {
	return append(os.Environ(), "GOMAXPROCS=1", "GOGC=off", "GODEBUG=asyncpreemptoff=1")
}

// ask runs the kernel program and decodes the JSON it prints.
func (m *Measurer) ask(ctx context.Context, into any, args ...string) error {
	cmd := exec.CommandContext(ctx, m.Kernel, args...) //nolint:gosec // our own program
	cmd.Env = kernelEnv()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	b, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("kernel %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("kernel %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// instructions counts each kernel's instructions, two kernels at a time.
func (m *Measurer) instructions(ctx context.Context, kernels []Kernel, into map[string]Counts) error {
	var mu sync.Mutex
	var wg sync.WaitGroup
	var errs []error
	next := make(chan Kernel)
	for range min(2, runtime.NumCPU()) {
		wg.Go(func() {
			for k := range next {
				m.say("instructions: " + k.Name)
				var seen []float64
				var err error
				for range max(1, m.Runs) {
					var n float64
					if n, err = m.instructionsOnce(ctx, k); err != nil {
						break
					}
					seen = append(seen, n)
				}
				mu.Lock()
				if err != nil {
					errs = append(errs, err)
				} else {
					c := into[k.Name]
					c.Instructions = stat.Median(seen)
					if len(seen) > 1 {
						c.Spread = (slices.Max(seen) - slices.Min(seen)) / c.Instructions
					}
					into[k.Name] = c
				}
				mu.Unlock()
			}
		})
	}
	for _, k := range kernels {
		next <- k
	}
	close(next)
	wg.Wait()
	return errors.Join(errs...)
}

// Recount counts the instructions of one kernel again, several times, and
// returns the median: what a single count outside the allowed range is judged
// by.
func (m *Measurer) Recount(ctx context.Context, name string, times int) (float64, error) {
	var kernels []Kernel
	if err := m.ask(ctx, &kernels, "list"); err != nil {
		return 0, err
	}
	i := slices.IndexFunc(kernels, func(k Kernel) bool { return k.Name == name })
	if i < 0 {
		return 0, fmt.Errorf("recount: no kernel %q", name)
	}
	var seen []float64
	for range times {
		n, err := m.instructionsOnce(ctx, kernels[i])
		if err != nil {
			return 0, err
		}
		seen = append(seen, n)
	}
	return stat.Median(seen), nil
}

// instructionsOnce is the count of 2N operations less that of N, per operation:
// what starting up and ending cost falls out.
func (m *Measurer) instructionsOnce(ctx context.Context, k Kernel) (float64, error) {
	single, err := m.cachegrind(ctx, k.Name, k.N)
	if err != nil {
		return 0, err
	}
	double, err := m.cachegrind(ctx, k.Name, 2*k.N)
	if err != nil {
		return 0, err
	}
	return float64(double-single) / float64(k.N), nil
}

var (
	summaryLine  = regexp.MustCompile(`(?m)^summary: (\d+)`)
	functionLine = regexp.MustCompile(`^fn=(.*)$`)
)

// chance are functions of the Go runtime that run more or less often from process to process: those
// of the monitor thread, which polls by the wall clock, so that a busy machine would make a program
// look longer, and those by which a type assertion is looked up until its cache is filled, which
// happens at random, at one of 1,024 misses.
var chance = map[string]bool{
	"runtime.sysmon": true, "runtime.usleep.abi0": true, "runtime.usleep": true, "runtime.retake": true, "runtime.notetsleep": true,
	"runtime.futexsleep": true, "runtime.nanotime1.abi0": true, "runtime.nanotime1": true,
	"runtime.typeAssert": true, "runtime.getitab": true, "runtime.(*itabTableType).find": true,
}

// cachegrind runs the kernel n times under valgrind and returns the instructions
// executed, without those of chance.
func (m *Measurer) cachegrind(ctx context.Context, name string, n int) (int64, error) {
	dir, err := os.MkdirTemp("", "quire-gate-")
	if err != nil {
		return 0, fmt.Errorf("cachegrind %s: %w", name, err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "out")
	cmd := exec.CommandContext(ctx, "valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file="+file, //nolint:gosec // our own program
		m.Kernel, "run", name, strconv.Itoa(n))
	cmd.Env = kernelEnv()
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("cachegrind %s: %w: %s", name, err, out)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, fmt.Errorf("cachegrind %s: %w", name, err)
	}
	return countInstructions(name, string(b))
}

// countInstructions reads cachegrind's file: the lines after "fn=" give, per
// source line, the instructions executed in that function.
func countInstructions(name, text string) (int64, error) {
	s := summaryLine.FindStringSubmatch(text)
	if s == nil {
		return 0, fmt.Errorf("cachegrind %s: no summary", name)
	}
	total, err := strconv.ParseInt(s[1], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("cachegrind %s: %w", name, err)
	}
	skip := false
	for line := range strings.Lines(text) {
		if f := functionLine.FindStringSubmatch(strings.TrimRight(line, "\n")); f != nil {
			skip = chance[f[1]]
			continue
		}
		if !skip {
			continue
		}
		_, count, two := strings.Cut(strings.TrimSpace(line), " ")
		if !two {
			continue
		}
		if n, err := strconv.ParseInt(count, 10, 64); err == nil {
			total -= n
		}
	}
	return total, nil
}
