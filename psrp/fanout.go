package psrp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// Target is a host of a fan-out.
type Target struct {
	Name    string
	Dial    func(ctx context.Context) (Transport, error)
	Options Options
}

// FanOutOptions are for FanOut; the zero value works.
type FanOutOptions struct {
	// Throttle is how many targets are worked on at once; 0 is 32.
	Throttle int
	// DialRetries is how often dialling and opening are tried again, after a pause of random length
	// that doubles; 0 is 2, less than 0 never. Nothing is tried again once the job has begun.
	DialRetries int
	// Timeout bounds one target, its retries included; 0 is none but ctx.
	Timeout time.Duration
	// Progress is told of each step of each target, by one goroutine at a time.
	Progress func(TargetEvent)
	// StopOnError cancels the targets that are left once one has failed.
	StopOnError bool
	// Allow may refuse a target before it is dialled, as a circuit breaker does.
	Allow func(target string) error
}

// Phase is how far a target came.
type Phase string

// The phases, in their order.
const (
	PhaseWaiting Phase = "waiting" // not begun
	PhaseDialing Phase = "dialing" // dialled and opened
	PhaseRunning Phase = "running" // the job runs
	PhaseDone    Phase = "done"
)

// TargetEvent is a step of a target.
type TargetEvent struct {
	Target  string
	Phase   Phase
	Attempt int   // of dialling, from 1
	Err     error // why the step failed, or nil
}

// TargetResult is what became of a target.
type TargetResult[T any] struct {
	Target   string
	Value    T
	Err      error
	Phase    Phase // where it ended: PhaseDone when the job returned without an error
	Attempts int   // of dialling
	Elapsed  time.Duration
}

// ErrCancelled is a target that was not worked on any more: its context had ended, or another
// target had failed.
var ErrCancelled = errors.New("psrp: the target was cancelled")

// PanicError is a job that panicked.
type PanicError struct{ Value any }

func (e *PanicError) Error() string { return fmt.Sprintf("psrp: the job panicked: %v", e.Value) }

// FanOut runs job on every target, each in a session of its own that is closed afterwards, and
// returns one result per target in the order of targets. A target that fails, or whose job panics,
// leaves the others alone. When ctx ends, or a target's time does, what runs there is stopped, and
// a server that has not done so after a second loses its transport: FanOut returns then, if its
// jobs do nothing but use their sessions.
func FanOut[T any](ctx context.Context, targets []Target, o FanOutOptions, job func(ctx context.Context, s *Session) (T, error)) []TargetResult[T] {
	if o.Throttle <= 0 {
		o.Throttle = 32
	}
	o.DialRetries = cmp.Or(o.DialRetries, 2)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	results := make([]TargetResult[T], len(targets))
	var progress sync.Mutex
	tell := func(e TargetEvent) {
		if o.Progress != nil {
			progress.Lock()
			defer progress.Unlock()
			o.Progress(e)
		}
	}
	slots := make(chan struct{}, o.Throttle)
	var wg sync.WaitGroup
	for i := range targets {
		results[i] = TargetResult[T]{Target: targets[i].Name, Phase: PhaseWaiting, Err: ErrCancelled}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			continue
		}
		if ctx.Err() != nil {
			<-slots
			continue
		}
		wg.Go(func() {
			defer func() { <-slots }()
			start := time.Now()
			r := &results[i]
			r.Err = nil
			fanOutOne(ctx, &targets[i], &o, tell, r, job)
			r.Elapsed = time.Since(start)
			if r.Err != nil && o.StopOnError {
				stop()
			}
		})
	}
	wg.Wait()
	return results
}

// stopGrace is what a server of a target that is cancelled is given to stop what runs.
const stopGrace = time.Second

// abandon loses the session after a moment, in which it may end by itself.
func (s *Session) abandon(after time.Duration, cause error) {
	timer := time.NewTimer(after)
	defer timer.Stop()
	select {
	case <-s.done:
		return
	case <-timer.C:
	}
	s.mu.Lock()
	s.machine.Lost(&TransportError{Phase: "stop", ExitCode: -1, Err: cause})
	s.dispatch()
	s.mu.Unlock()
	_ = s.transport.Close()
}

// fanOutOne works on one target.
func fanOutOne[T any](ctx context.Context, t *Target, o *FanOutOptions, tell func(TargetEvent), r *TargetResult[T], job func(ctx context.Context, s *Session) (T, error)) {
	if o.Timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, o.Timeout)
		defer stop()
	}
	step := func(p Phase, err error) {
		r.Phase, r.Err = p, err
		tell(TargetEvent{Target: t.Name, Phase: p, Attempt: r.Attempts, Err: err})
	}
	if o.Allow != nil {
		if err := o.Allow(t.Name); err != nil {
			step(PhaseWaiting, err)
			return
		}
	}
	s := dialTarget(ctx, t, o, r, step)
	if s == nil {
		return
	}
	defer func() {
		// A job that has ended has its result; what closing says is of no further use.
		grace := 10 * time.Second
		if ctx.Err() != nil {
			grace = stopGrace
		}
		closing, stop := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer stop()
		_ = s.Close(closing)
	}()
	release := context.AfterFunc(ctx, func() { s.abandon(stopGrace, context.Cause(ctx)) })
	defer release()
	step(PhaseRunning, nil)
	v, err := guarded(ctx, s, job)
	if err != nil {
		step(PhaseRunning, err)
		return
	}
	r.Value = v
	step(PhaseDone, nil)
}

// guarded makes a panic of the job an error of its target.
func guarded[T any](ctx context.Context, s *Session, job func(ctx context.Context, s *Session) (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{p}
		}
	}()
	return job(ctx, s)
}

func dialTarget[T any](ctx context.Context, t *Target, o *FanOutOptions, r *TargetResult[T], step func(Phase, error)) *Session {
	pause := 200 * time.Millisecond
	for {
		r.Attempts++
		step(PhaseDialing, nil)
		s, err := openTarget(ctx, t)
		if err == nil {
			return s
		}
		step(PhaseDialing, err)
		if r.Attempts > o.DialRetries || ctx.Err() != nil {
			return nil
		}
		timer := time.NewTimer(rand.N(pause)) //nolint:gosec // G404: spreads retries
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
		pause *= 2
	}
}

func openTarget(ctx context.Context, t *Target) (*Session, error) {
	conn, err := t.Dial(ctx)
	if err != nil {
		if _, ok := errors.AsType[*TransportError](err); !ok {
			err = &TransportError{Phase: "dial", Host: t.Name, ExitCode: -1, Err: err}
		}
		return nil, err
	}
	return Open(ctx, conn, t.Options)
}
