//go:build !linux

package machine

import (
	"errors"
	"os/exec"
	"runtime"
	"time"
)

var start = time.Now()

// OwnCPU stands in for processor time by wall time.
func OwnCPU() time.Duration { return time.Since(start) }

// WorkClock stands in for processor time by wall time.
type WorkClock struct{}

// NewWorkClock returns the clock.
func NewWorkClock() WorkClock { return WorkClock{} }

// Now returns the time since the start.
func (WorkClock) Now() time.Duration { return OwnCPU() }

// Exact reports false: there is no processor clock here.
func (WorkClock) Exact() bool { return false }

// CPUOf is not to be had on this system.
func CPUOf(int) (time.Duration, error) { return 0, errors.ErrUnsupported }

// PeakRSS is not to be had on this system.
func PeakRSS(int) (int64, error) { return 0, errors.ErrUnsupported }

// ForgetPeak is not to be had on this system.
func ForgetPeak() error { return errors.ErrUnsupported }

// RSS is not to be had on this system.
func RSS(int) (int64, error) { return 0, errors.ErrUnsupported }

// Read knows nothing here but the time: no sample is ever marked dirty.
func Read() Reading { return Reading{At: time.Now()} }

// PinSelf does nothing here.
func PinSelf(int) error { return nil }

// StartPinned starts the command; it is not bound to a core here.
func StartPinned(cmd *exec.Cmd, _ int) error { return cmd.Start() }

// StartOnAll starts the command.
func StartOnAll(cmd *exec.Cmd) error { return cmd.Start() }

// Cores returns the number of cores.
func Cores() int { return runtime.NumCPU() }

func describe(i *Info) {
	i.Limits = append(i.Limits,
		"CPU per operation is wall time here: the system's processor clocks are not read",
		"nothing is pinned to a core, peak memory and the load of others are unknown")
}
