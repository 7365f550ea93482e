// Package meter counts the requests of a client per origin: with one short lock at the end of a
// call, and without an allocation once an origin, a method and a status have occurred.
package meter

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"example.com/quire/fetch/internal/call"
	"example.com/quire/fetch/internal/hist"
	"example.com/quire/fetch/internal/origin"
)

// Limits of what is remembered.
const (
	maxOrigins = 4096
	idle       = 10 * time.Minute
	maxLabels  = 64 // different statuses by methods, reasons and the like, per origin
	maxNotes   = 50
)

// Meter is safe for concurrent use.
type Meter struct {
	origins  *origin.Registry[origin.Key, counts]
	inFlight atomic.Int64

	mu    sync.Mutex
	notes [maxNotes]Note
	next  int
}

// New returns one that has counted nothing.
func New() *Meter {
	return &Meter{origins: origin.NewRegistry(maxOrigins, idle, func(c *counts, k origin.Key) { c.name = k.String() })}
}

// Answer is what a request was answered with: a status, or 0 for an error.
type Answer struct {
	Method string
	Code   int
}

// counts are those of an origin. The maps are made with their first member: most origins never have
// some of them.
type counts struct {
	name     string
	inFlight atomic.Int64
	mu       sync.Mutex
	requests map[Answer]*int64
	latest   Answer // which is what the next one is most often too
	number   *int64 // of the latest; nil before the first
	errors   map[string]int64
	retries  map[string]int64 // by the reason of the attempt before
	hedges   map[string]int64 // won, lost
	attempts int64
	shared   int64
	spent    int64
	sum      time.Duration
	took     hist.Hist
}

// Call is a request that has begun.
type Call struct {
	m     *Meter
	e     *origin.Entry[origin.Key, counts]
	start time.Time
}

// Begin counts a request that begins.
func (m *Meter) Begin(o origin.Key, now time.Time) Call {
	e := m.origins.Acquire(o, now)
	e.Value.inFlight.Add(1)
	m.inFlight.Add(1)
	return Call{m, e, now}
}

// Origin returns the text of the request's origin.
func (c Call) Origin() string { return c.e.Value.name }

// Outcome is how a request ended.
type Outcome struct {
	Method string
	Status int         // 0 with an error
	Error  string      // its type; "" without
	Log    *call.State // whose attempts from From on are the request's
	From   int
	Shared bool // answered by another's request
	Spent  bool // not tried again because the budget was spent
}

// End counts how it ended, and returns how many attempts it took. Exactly one End follows each
// Begin.
func (c Call) End(o Outcome, now time.Time) int {
	v := &c.e.Value
	took := now.Sub(c.start)
	v.inFlight.Add(-1)
	v.mu.Lock()
	v.answered(Answer{o.Method, o.Status})
	if o.Error != "" {
		bump(&v.errors, o.Error, "other")
	}
	if o.Shared {
		v.shared++
	}
	if o.Spent {
		v.spent++
	}
	v.sum += took
	last := ""
	tried := o.Log.EachAttempt(o.From, func(a *call.Attempt) {
		v.attempts++
		switch {
		case a.Hedge:
			bump(&v.hedges, a.Reason, "other")
			return
		case a.N > 1:
			bump(&v.retries, last, "other")
		}
		last = a.Reason
	})
	v.mu.Unlock()
	v.took.Add(took, now)
	c.m.inFlight.Add(-1)
	c.m.origins.Release(c.e)
	return tried
}

// answered counts an answer. With the lock held.
func (c *counts) answered(a Answer) {
	if c.number == nil || c.latest != a {
		if c.requests == nil {
			c.requests = make(map[Answer]*int64, 1)
		}
		c.latest, c.number = a, c.requests[a]
		if c.number == nil && len(c.requests) >= maxLabels {
			a = Answer{"other", 0}
			c.number = c.requests[a]
		}
		if c.number == nil {
			c.number = new(int64)
			c.requests[a] = c.number
		}
	}
	*c.number++
}

func bump[K comparable](m *map[K]int64, k, other K) {
	if *m == nil {
		*m = make(map[K]int64, 1)
	}
	if len(*m) >= maxLabels {
		if _, ok := (*m)[k]; !ok {
			k = other
		}
	}
	(*m)[k]++
}

// InFlight returns how many requests are under way.
func (m *Meter) InFlight() int64 { return m.inFlight.Load() }

// Note is something that a person who looks at the client would want to know.
type Note struct {
	Time   time.Time
	Method string
	URL    string // redacted
	What   string
}

// Add keeps a note, in the place of the oldest.
func (m *Meter) Add(n Note) {
	m.mu.Lock()
	m.notes[m.next%maxNotes] = n
	m.next++
	m.mu.Unlock()
}

// Notes returns the notes, the latest first.
func (m *Meter) Notes() []Note {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []Note
	for i := m.next - 1; i >= 0 && i >= m.next-maxNotes; i-- {
		list = append(list, m.notes[i%maxNotes])
	}
	return list
}

// Origin is what was counted for one.
type Origin struct {
	Origin        string
	InFlight      int
	Requests      map[Answer]int64
	Errors        map[string]int64
	Retries       map[string]int64
	Hedges        map[string]int64
	Attempts      int64
	Collapsed     int64
	BudgetSpent   int64
	Sum           time.Duration
	P50, P95, P99 time.Duration
	Samples       int
}

// Origins returns what was counted, by name.
func (m *Meter) Origins() []Origin {
	var list []Origin
	now := time.Now()
	m.origins.Each(func(_ origin.Key, v *counts) {
		o := Origin{Origin: v.name}
		v.mu.Lock()
		o.InFlight, o.Attempts, o.Collapsed, o.BudgetSpent, o.Sum = int(v.inFlight.Load()), v.attempts, v.shared, v.spent, v.sum
		o.Requests = make(map[Answer]int64, len(v.requests))
		for a, n := range v.requests {
			o.Requests[a] = *n
		}
		o.Errors, o.Retries, o.Hedges = maps.Clone(v.errors), maps.Clone(v.retries), maps.Clone(v.hedges)
		v.mu.Unlock()
		o.P50, o.Samples = v.took.Quantile(0.5, now)
		o.P95, _ = v.took.Quantile(0.95, now)
		o.P99, _ = v.took.Quantile(0.99, now)
		list = append(list, o)
	})
	slices.SortFunc(list, func(a, b Origin) int { return cmp.Compare(a.Origin, b.Origin) })
	return list
}
