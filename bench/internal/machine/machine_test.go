package machine_test

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"example.com/quire/bench/internal/machine"
)

func spin(d time.Duration) {
	for from := machine.OwnCPU(); machine.OwnCPU()-from < d; {
		runtime.Gosched()
	}
}

func TestOwnCPUAdvancesWithWork(t *testing.T) {
	before := machine.OwnCPU()
	spin(5 * time.Millisecond)
	if got := machine.OwnCPU() - before; got < 5*time.Millisecond {
		t.Errorf("the processor clock advanced by %v", got)
	}
}

func TestCPUOfAndPeakOfAnotherProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processor clocks of others are read on Linux")
	}
	if _, err := machine.CPUOf(os.Getpid()); err != nil {
		t.Fatal(err)
	}
	own, err := machine.PeakRSS(os.Getpid())
	if err != nil || own < 1<<20 {
		t.Errorf("PeakRSS of this process = %d, %v", own, err)
	}
	if _, err := machine.CPUOf(1 << 21); err == nil {
		t.Error("the clock of a process that cannot exist was read")
	}
	if _, err := machine.PeakRSS(1 << 21); err == nil {
		t.Error("the peak of a process that cannot exist was read")
	}
}

func TestStartPinned(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("pinning works on Linux")
	}
	for core := range machine.Cores() {
		cmd := exec.CommandContext(t.Context(), "grep", "Cpus_allowed_list", "/proc/self/status")
		var out strings.Builder
		cmd.Stdout = &out
		if err := machine.StartPinned(cmd, core); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		if f := strings.Fields(out.String()); len(f) != 2 || f[1] != string(rune('0'+core)) {
			t.Errorf("a child pinned to core %d may use %q", core, out.String())
		}
	}
	if err := machine.StartPinned(exec.CommandContext(t.Context(), "true"), 9999); err == nil {
		t.Error("a core that does not exist was accepted")
	}
}

func TestDirty(t *testing.T) {
	ms := time.Millisecond
	for _, c := range []struct {
		name string
		w    machine.Window
		want string
	}{
		{"quiet", machine.Window{Length: 200 * ms, Foreign: 10 * ms, Load: 1, Known: true}, ""},
		{"a build beside it", machine.Window{Length: 200 * ms, Foreign: 150 * ms, Load: 1, Known: true}, "other processes"},
		{"a tick or two", machine.Window{Length: 20 * ms, Foreign: 20 * ms, Load: 1, Known: true}, ""},
		{"steal", machine.Window{Length: 200 * ms, Steal: 30 * ms, Load: 1, Known: true}, "stole"},
		{"load", machine.Window{Length: 200 * ms, Load: 2.5, Known: true}, "load average"},
		{"nothing known", machine.Window{Length: 200 * ms, Foreign: 200 * ms}, ""},
	} {
		got := c.w.Dirty(1)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestBetween(t *testing.T) {
	at := time.Now()
	from := machine.Reading{At: at, Busy: 10 * time.Second, Steal: time.Second, Known: true}
	to := machine.Reading{At: at.Add(time.Second), Busy: 12 * time.Second, Steal: 3 * time.Second, Load: 4, Known: true}
	w := machine.Between(from, to, 1500*time.Millisecond)
	if w.Length != time.Second || w.Foreign != 500*time.Millisecond || w.Steal != 2*time.Second || w.Load != 4 || !w.Known {
		t.Errorf("got %+v", w)
	}
	if w := machine.Between(from, to, 5*time.Second); w.Foreign != 0 {
		t.Errorf("foreign time %v below zero", w.Foreign)
	}
}

func TestDescribe(t *testing.T) {
	i := machine.Describe()
	if i.Cores < 1 || i.Go != runtime.Version() || i.OS != runtime.GOOS {
		t.Errorf("got %+v", i)
	}
	if runtime.GOOS == "linux" && (i.CPU == "" || i.Kernel == "" || i.MemoryMB == 0) {
		t.Errorf("the description lacks fields: %+v", i)
	}
}

func TestWorkClock(t *testing.T) {
	w := machine.NewWorkClock()
	if runtime.GOOS == "linux" && !w.Exact() {
		t.Error("the runtime's monitor thread was not found")
	}
	before, all := w.Now(), machine.OwnCPU()
	spin(20 * time.Millisecond)
	took, whole := w.Now()-before, machine.OwnCPU()-all
	if took <= whole/2 || took > whole+time.Millisecond {
		t.Errorf("%v of work on a clock that advanced by %v", took, whole)
	}
}
