package machine

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const tick = 10 * time.Millisecond // USER_HZ is 100 in every Linux ABI that Go supports

// OwnCPU returns the user and system time that this process has used.
func OwnCPU() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// WorkClock reads the processor time of this process without what the Go
// runtime's monitor thread uses. Each time a process wakes from idleness that
// thread polls every 20 µs for a while: up to a tenth of a short sample, at
// random, and nothing that the measured code asked for.
type WorkClock struct{ monitor int32 }

// NewWorkClock finds the monitor thread: the first thread that the runtime
// makes, provided that it is seen asleep in nanosleep, where only the monitor
// sleeps. If it is not to be found nothing is deducted.
func NewWorkClock() WorkClock {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return WorkClock{}
	}
	first := 0
	for _, t := range tasks {
		if tid, err := strconv.Atoi(t.Name()); err == nil && tid > os.Getpid() && (first == 0 || tid < first) {
			first = tid
		}
	}
	nanosleep := strconv.Itoa(unix.SYS_NANOSLEEP) + " "
	for range 200 {
		b, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/syscall", first))
		if err != nil {
			break
		}
		if strings.HasPrefix(string(b), nanosleep) {
			return WorkClock{monitor: int32(^first<<3 | 4 | 2)} //nolint:gosec // CPUCLOCK_PERTHREAD | CPUCLOCK_SCHED; thread ids fit 22 bits
		}
	}
	return WorkClock{}
}

// Now returns the time used so far.
func (w WorkClock) Now() time.Duration {
	if w.monitor == 0 {
		return OwnCPU()
	}
	// The two clocks cannot be read at once. A reading during which the monitor
	// ran is taken again.
	before := w.read()
	for range 10 {
		own := OwnCPU()
		after := w.read()
		if before == after {
			return own - after
		}
		before = after
	}
	return OwnCPU() - before
}

func (w WorkClock) read() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(w.monitor, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// Exact reports whether the monitor thread was found.
func (w WorkClock) Exact() bool { return w.monitor != 0 }

// CPUOf returns the user and system time of another process, to the nanosecond:
// the processor clock that clock_getcpuclockid(3) would name.
func CPUOf(pid int) (time.Duration, error) {
	const schedClock = 2 // CPUCLOCK_SCHED, of the whole thread group
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|schedClock), &ts); err != nil { //nolint:gosec // process ids fit 22 bits
		return 0, fmt.Errorf("processor clock of process %d: %w", pid, err)
	}
	return time.Duration(ts.Nano()), nil
}

// PeakRSS returns the largest resident size that a process has had, in bytes.
func PeakRSS(pid int) (int64, error) { return memory(pid, "VmHWM:") }

// ForgetPeak makes the peak of this process's resident size the size that it has now
// (proc_pid_clear_refs(5)).
func ForgetPeak() error {
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		return fmt.Errorf("peak memory: %w", err)
	}
	return nil
}

// RSS returns the resident size that a process has, in bytes.
func RSS(pid int) (int64, error) { return memory(pid, "VmRSS:") }

func memory(pid int, field string) (int64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("memory of process %d: %w", pid, err)
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, field); ok {
			kb, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			if err != nil {
				return 0, fmt.Errorf("memory of process %d: %w", pid, err)
			}
			return kb << 10, nil
		}
	}
	return 0, fmt.Errorf("memory of process %d: no %s line", pid, field)
}

// Read looks at the counters now.
func Read() Reading {
	r := Reading{At: time.Now()}
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return r
	}
	line, _, _ := bytes.Cut(stat, []byte("\n"))
	f := strings.Fields(string(line))
	if len(f) < 9 || f[0] != "cpu" {
		return r
	}
	var v [8]int64 // user nice system idle iowait irq softirq steal
	for i := range v {
		if v[i], err = strconv.ParseInt(f[i+1], 10, 64); err != nil {
			return r
		}
	}
	r.Busy = time.Duration(v[0]+v[1]+v[2]+v[5]+v[6]) * tick
	r.Steal = time.Duration(v[7]) * tick
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return r
	}
	first, _, _ := strings.Cut(string(load), " ")
	if r.Load, err = strconv.ParseFloat(first, 64); err != nil {
		return r
	}
	r.Known = true
	return r
}

// PinSelf binds every thread of this process to one core.
func PinSelf(core int) error {
	set, err := oneCore(core)
	if err != nil {
		return err
	}
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return fmt.Errorf("pin to core %d: %w", core, err)
	}
	for _, t := range tasks {
		tid, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		if err := unix.SchedSetaffinity(tid, set); err != nil && err != unix.ESRCH {
			return fmt.Errorf("pin to core %d: %w", core, err)
		}
	}
	return nil
}

// StartPinned starts the command bound to one core. The child inherits the
// binding of the thread that forks it, so no tool such as taskset is needed.
func StartPinned(cmd *exec.Cmd, core int) error {
	set, err := oneCore(core)
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return fmt.Errorf("start %s: read affinity: %w", cmd.Path, err)
	}
	if err := unix.SchedSetaffinity(0, set); err != nil {
		return fmt.Errorf("start %s on core %d: %w", cmd.Path, core, err)
	}
	startErr := cmd.Start()
	if err := unix.SchedSetaffinity(0, &before); err != nil && startErr == nil {
		return fmt.Errorf("start %s: restore affinity: %w", cmd.Path, err)
	}
	if startErr != nil {
		return fmt.Errorf("start %s: %w", cmd.Path, startErr)
	}
	return nil
}

// StartOnAll starts the command free to use every core of the machine, even
// when this process is pinned.
func StartOnAll(cmd *exec.Cmd) error {
	var all unix.CPUSet
	for c := range Cores() {
		all.Set(c)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return fmt.Errorf("start %s: read affinity: %w", cmd.Path, err)
	}
	if err := unix.SchedSetaffinity(0, &all); err != nil {
		return fmt.Errorf("start %s on all cores: %w", cmd.Path, err)
	}
	startErr := cmd.Start()
	if err := unix.SchedSetaffinity(0, &before); err != nil && startErr == nil {
		return fmt.Errorf("start %s: restore affinity: %w", cmd.Path, err)
	}
	if startErr != nil {
		return fmt.Errorf("start %s: %w", cmd.Path, startErr)
	}
	return nil
}

func oneCore(core int) (*unix.CPUSet, error) {
	if n := Cores(); core < 0 || core >= n {
		return nil, fmt.Errorf("pin to core %d: the machine has %d", core, n)
	}
	var set unix.CPUSet
	set.Set(core)
	return &set, nil
}

// Cores returns the number of cores of the machine, not of this process, whose
// own count shrinks once it is pinned.
func Cores() int {
	b, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return runtime.NumCPU()
	}
	n := 0
	for part := range strings.SplitSeq(strings.TrimSpace(string(b)), ",") {
		first, last, isRange := strings.Cut(part, "-")
		a, errA := strconv.Atoi(first)
		z := a
		var errZ error
		if isRange {
			z, errZ = strconv.Atoi(last)
		}
		if errA != nil || errZ != nil || z < a {
			return runtime.NumCPU()
		}
		n += z - a + 1
	}
	return n
}

func describe(i *Info) {
	i.Cores = Cores()
	var u unix.Utsname
	if err := unix.Uname(&u); err == nil {
		i.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	var si unix.Sysinfo_t
	if err := unix.Sysinfo(&si); err == nil {
		i.MemoryMB = int64(uint64(si.Totalram) * uint64(si.Unit) >> 20)
	}
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		key, value, _ := strings.Cut(sc.Text(), ":")
		switch strings.TrimSpace(key) {
		case "model name":
			i.CPU = strings.TrimSpace(value)
		case "flags":
			i.Virtual = strings.Contains(value+" ", " hypervisor ")
		}
	}
}
