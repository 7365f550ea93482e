// Package machine reads what the harness must know of the computer it runs on:
// processor time and peak memory of a process, the load of the others, the time
// the hypervisor stole, and what belongs into a report.
//
// Processor clocks, pinning and the load are read on Linux. Elsewhere CPU time
// falls back to wall time, nothing is pinned and no sample is ever marked dirty;
// Info.Limits says so and the report repeats it.
package machine

import (
	"os"
	"runtime"
	"strings"
	"time"
)

// Info describes the machine for a report. It names no host, user or path.
type Info struct {
	OS       string   `json:"os"`
	Arch     string   `json:"arch"`
	Kernel   string   `json:"kernel,omitempty"`
	CPU      string   `json:"cpu,omitempty"`
	Cores    int      `json:"cores"`
	MemoryMB int64    `json:"memory_mb,omitempty"`
	Virtual  bool     `json:"virtual,omitempty"` // the processor says that a hypervisor runs it
	Go       string   `json:"go"`
	GOGC     string   `json:"gogc"`
	GOMEM    string   `json:"gomemlimit"`
	Limits   []string `json:"limits,omitempty"` // what could not be measured or held still here
}

// Describe fills an Info.
func Describe() Info {
	i := Info{
		OS: runtime.GOOS, Arch: runtime.GOARCH, Cores: runtime.NumCPU(), Go: runtime.Version(),
		GOGC: orDefault(os.Getenv("GOGC"), "100"), GOMEM: orDefault(os.Getenv("GOMEMLIMIT"), "off"),
	}
	describe(&i)
	return i
}

func orDefault(s, def string) string {
	if strings.TrimSpace(s) == "" {
		return def
	}
	return s
}

// Reading is one look at the machine's counters.
type Reading struct {
	At    time.Time
	Busy  time.Duration // processor time spent on anything, all cores, since boot
	Steal time.Duration // time that the hypervisor gave to others, all cores
	Load  float64       // load average of the last minute
	Known bool          // false where the system does not tell
}

// Window is what happened between two readings.
type Window struct {
	Length  time.Duration
	Foreign time.Duration // processor time of processes other than ours
	Steal   time.Duration
	Load    float64
	Known   bool
}

// Between makes the window from two readings and the processor time that our
// own processes used between them.
func Between(from, to Reading, own time.Duration) Window {
	return Window{
		Length:  to.At.Sub(from.At),
		Foreign: max(0, to.Busy-from.Busy-own),
		Steal:   max(0, to.Steal-from.Steal),
		Load:    to.Load,
		Known:   from.Known && to.Known,
	}
}

// The counters advance by ticks of 10 ms, so that a short window proves little:
// below this much foreign time nothing is called busy.
const tickSlack = 40 * time.Millisecond

// Dirty says why a sample taken in the window must not be trusted, or "". own
// is the number of cores that the measurement itself keeps busy.
func (w Window) Dirty(own int) string {
	switch {
	case !w.Known:
		return ""
	case w.Foreign > tickSlack && w.Foreign > w.Length/5:
		return "other processes used the processor"
	case w.Steal > tickSlack/2 && w.Steal > w.Length/50:
		return "the hypervisor stole time"
	case w.Load > float64(own)+1:
		return "the load average is high"
	default:
		return ""
	}
}
