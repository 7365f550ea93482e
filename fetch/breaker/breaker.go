// Package breaker stops sending requests to an origin that fails, and finds out with a few probes
// when it has recovered.
//
// A breaker is Closed while all is well. It opens when ConsecutiveFailures calls in a row failed,
// or when at least MinCalls of the last Window ended and FailureRatio of them failed (or SlowRatio
// of them took SlowCall or more). Open, it refuses every call with an [*OpenError] for OpenFor,
// which doubles with each opening that follows a failed probe, up to MaxOpenFor, give or take 10 %
// so that many clients do not come back as one. Then it is HalfOpen: it admits Probes calls at
// once. CloseAfter successes close it, one failure opens it again. A probe reports when its body
// has ended or was closed; one that is forgotten keeps its slot until MaxOpenFor has passed, then
// another takes its place.
//
// Each change of state begins a new generation. A call carries the generation that admitted it in
// its [Ticket], and an outcome that arrives in a later generation is dropped: what an origin
// answered before it broke says nothing about now.
//
// Do: keep one breaker per origin ([NewSet]); one host's trouble is no other's. Put it inside the
// retries, so that it sees every attempt. Do not: count a client's own mistakes (4xx) or a 429 as
// failures; they say that the origin is alive. Not for: a single call a minute; the window then
// never holds MinCalls, and only ConsecutiveFailures remains.
package breaker

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"example.com/quire/fetch/internal/call"
)

// Config describes a breaker or, with NewSet, each breaker of a set. The zero value is the
// documented default.
type Config struct {
	// FailureRatio of the window's calls that opens: 0 = 0.5.
	FailureRatio float64
	// MinCalls in the window before a ratio counts: 0 = 20.
	MinCalls int
	// ConsecutiveFailures that open: 0 = 5.
	ConsecutiveFailures int
	// Window over which calls are counted: 0 = 10 s. Buckets it is made of: 0 = 10.
	Window  time.Duration
	Buckets int
	// SlowCall is the duration from which a success counts as slow: 0 = none is. SlowRatio that
	// opens: 0 = 0.5.
	SlowCall  time.Duration
	SlowRatio float64
	// OpenFor is how long it stays open at first: 0 = 5 s, or MaxOpenFor if that is less.
	// MaxOpenFor bounds the doubling: 0 = 60 s.
	OpenFor, MaxOpenFor time.Duration
	// Probes admitted at once while half open: 0 = 1. CloseAfter successes close: 0 = 2.
	Probes, CloseAfter int
	// Classify judges an attempt: nil = Default. A caller's own cancellation is Ignored before
	// Classify is asked.
	Classify func(*http.Response, error) Outcome
	// Key of the request's breaker in a set: nil = its origin.
	Key func(*http.Request) string
	// MaxKeys of a set: 0 = 4 096. IdleAfter: 0 = 10 minutes (and never less than a breaker may
	// stay open).
	MaxKeys   int
	IdleAfter time.Duration
	// OnChange is called after each change of state, in the order of the changes. It must not
	// block, and must not call the breaker.
	OnChange func(key string, from, to State)
}

// State of a breaker.
type State uint8

// The states. Isolated and Disabled are set by hand and left by hand.
const (
	Closed   State = iota
	HalfOpen       // probing
	Open           // refusing until a time
	Isolated       // refusing until Reset
	Disabled       // admitting everything until Reset
)

func (s State) String() string {
	switch s {
	case Closed:
		return "closed"
	case HalfOpen:
		return "half-open"
	case Open:
		return "open"
	case Isolated:
		return "isolated"
	case Disabled:
		return "disabled"
	}
	return "unknown"
}

// Outcome of a call.
type Outcome uint8

// The outcomes. Ignored counts as neither and gives a probe's slot back.
const (
	Success Outcome = iota
	Failure
	Ignored
)

// ErrOpen is what every OpenError is.
var ErrOpen = errors.New("circuit open")

// OpenError is the refusal of a call. Until is when the breaker will probe; zero when that is not
// known (Isolated, or all probes under way).
type OpenError struct {
	Key   string
	Until time.Time
}

func (e *OpenError) Error() string {
	if e.Until.IsZero() {
		return ErrOpen.Error()
	}
	return ErrOpen.Error() + " until " + e.Until.Format("15:04:05")
}

// Is makes it an ErrOpen.
func (e *OpenError) Is(target error) bool { return target == ErrOpen }

// Retryable tells the retry layer not to wait for it.
func (e *OpenError) Retryable() bool { return false }

// Reason names it in the log of attempts.
func (e *OpenError) Reason() string { return ErrOpen.Error() }

// RetryIn returns the time from now until it may be worth another call; zero when that is not
// known.
func (e *OpenError) RetryIn(now time.Time) time.Duration {
	if e.Until.IsZero() {
		return 0
	}
	return max(e.Until.Sub(now), 0)
}

// ConfigError tells one thing that is wrong with a Config.
type ConfigError = call.ConfigError

// Breaker is one breaker. It is safe for concurrent use. While closed a call costs one atomic load
// to admit and one atomic addition to judge; the lock is for changes of state.
type Breaker struct {
	cfg    Config
	key    string
	word   atomic.Uint64 // generation<<8 | state: read together, so that a ticket's generation is that of the state that admitted it
	streak atomic.Int64  // failures in a row while closed
	win    *window

	mu        sync.Mutex
	until     time.Time // open: when to probe
	openFor   time.Duration
	probes    int       // half open: slots taken
	successes int       // half open
	lastProbe time.Time // half open: when the last slot was taken
}

// New returns a closed breaker.
func New(c Config) (*Breaker, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	b := new(Breaker)
	b.init(c.withDefaults(), "")
	return b, nil
}

// init makes the zero Breaker a closed one.
func (b *Breaker) init(c Config, key string) {
	b.cfg, b.key, b.openFor = c, key, c.OpenFor
	b.win = newWindow(time.Now(), c.Window, c.Buckets)
}

// Ticket is the admission of one call. Exactly one Done must follow each.
type Ticket struct {
	b    *Breaker
	word uint64
}

// State returns the state. An Open breaker whose time is over is still Open until the next Allow.
func (b *Breaker) State() State { return stateOf(b.word.Load()) }

// Until returns when an Open breaker probes; zero in the other states.
func (b *Breaker) Until() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.State() != Open {
		return time.Time{}
	}
	return b.until
}

func stateOf(word uint64) State { return State(word & 0xff) } // the low byte is a State by construction

// Allow admits a call at now, or refuses it with an *OpenError.
func (b *Breaker) Allow(now time.Time) (Ticket, error) {
	w := b.word.Load()
	switch stateOf(w) {
	case Closed, Disabled:
		return Ticket{b, w}, nil
	case Isolated:
		return Ticket{}, &OpenError{Key: b.key}
	}
	return b.allowSlow(now)
}

func (b *Breaker) allowSlow(now time.Time) (Ticket, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.word.Load()
	switch stateOf(w) {
	case Closed, Disabled:
		return Ticket{b, w}, nil
	case Isolated:
		return Ticket{}, &OpenError{Key: b.key}
	case Open:
		if now.Before(b.until) {
			return Ticket{}, &OpenError{Key: b.key, Until: b.until}
		}
		w = b.become(HalfOpen)
	case HalfOpen:
		if b.probes >= b.cfg.Probes {
			// A body that nobody reads or closes never reports. After the longest open time its
			// slot is taken away: a new generation begins, in which a late report changes nothing.
			if now.Sub(b.lastProbe) < b.cfg.MaxOpenFor {
				return Ticket{}, &OpenError{Key: b.key}
			}
			w = b.become(HalfOpen)
		}
	}
	b.probes++
	b.lastProbe = now
	return Ticket{b, w}, nil
}

// Done reports how the ticket's call ended at now, after took.
func (t Ticket) Done(o Outcome, took time.Duration, now time.Time) {
	b := t.b
	if b == nil {
		return
	}
	if w := b.word.Load(); w != t.word {
		return // another generation
	}
	switch stateOf(t.word) {
	case Closed:
		b.doneClosed(t, o, took, now)
	case HalfOpen:
		b.doneProbe(t, o, now)
	}
}

func (b *Breaker) doneClosed(t Ticket, o Outcome, took time.Duration, now time.Time) {
	if o == Ignored {
		return
	}
	slow := o == Success && b.cfg.SlowCall > 0 && took >= b.cfg.SlowCall
	b.win.add(now, o == Failure, slow)
	if o == Success {
		if b.streak.Load() != 0 {
			b.streak.Store(0)
		}
		if !slow {
			return
		}
	}
	trip := o == Failure && b.streak.Add(1) >= int64(b.cfg.ConsecutiveFailures)
	if !trip {
		calls, failures, slowCalls := b.win.sum(now)
		trip = calls >= b.cfg.MinCalls && (float64(failures) >= b.cfg.FailureRatio*float64(calls) && failures > 0 ||
			b.cfg.SlowCall > 0 && float64(slowCalls) >= b.cfg.SlowRatio*float64(calls) && slowCalls > 0)
	}
	if !trip {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.word.Load() == t.word {
		b.open(now)
	}
}

func (b *Breaker) doneProbe(t Ticket, o Outcome, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.word.Load() != t.word {
		return
	}
	b.probes--
	switch o {
	case Success:
		if b.successes++; b.successes >= b.cfg.CloseAfter {
			b.openFor = b.cfg.OpenFor
			b.become(Closed)
		}
	case Failure:
		b.openFor = min(2*b.openFor, b.cfg.MaxOpenFor)
		b.open(now)
	}
}

// open goes to Open at now. With the lock held.
func (b *Breaker) open(now time.Time) {
	spread := time.Duration((0.2*rand.Float64() - 0.1) * float64(b.openFor)) //nolint:gosec // jitter needs no secrecy
	b.until = now.Add(b.openFor + spread)
	b.become(Open)
}

// become starts a generation in state s and returns its word. With the lock held.
func (b *Breaker) become(s State) uint64 {
	old := b.word.Load()
	w := (old>>8+1)<<8 | uint64(s)
	b.probes, b.successes = 0, 0
	b.streak.Store(0)
	if s == Closed {
		b.win.clear()
	}
	b.word.Store(w)
	if from := stateOf(old); b.cfg.OnChange != nil && from != s {
		b.cfg.OnChange(b.key, from, s)
	}
	return w
}

// Isolate refuses every call until Reset or ForceClose.
func (b *Breaker) Isolate() { b.set(Isolated) }

// ForceClose admits every call until Reset or Isolate, whatever the outcomes.
func (b *Breaker) ForceClose() { b.set(Disabled) }

// Reset goes back to Closed with nothing counted.
func (b *Breaker) Reset() { b.set(Closed) }

func (b *Breaker) set(s State) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.openFor = b.cfg.OpenFor
	b.become(s)
}
