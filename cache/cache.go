package cache

import (
	"cmp"
	"context"
	"hash/maphash"
	"log/slog"
	"math"
	"math/rand/v2"
	"reflect"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"example.com/quire/cache/internal/store"
)

// Cache holds values of one type by key. Make one with New and end it with
// Close. All methods may be called concurrently.
//
// A key that is not equal to itself, as a floating-point NaN or a struct with one in it, names
// nothing: it is not held, nothing is loaded for it, and reads and writes of it fail.
type Cache[K comparable, V any] struct {
	o     Options[K, V]
	p     Policy
	lives lives
	// origin is Load or LoadEntry of o.
	origin source[K, V]
	log    *slog.Logger
	store  *store.Store[K, record[V]]
	clock  *store.Clock
	ours   bool // clock was made here
	seed   maphash.Seed
	epoch  uint64
	id     uint64 // see writeID
	// random is uniform in [0,1); tests put a known sequence here.
	random     func() float64
	keyBytes   func(K) int
	stringKeys bool
	oddKeys    bool // see odd
	overhead   int
	maxWeight  int64

	loads     limits // the parts of loads that ask the remote
	calls     limits // calls of the remote
	inquiries chan *inquiry[K, V]
	idle      atomic.Int64 // goroutines that wait for an inquiry

	closing context.Context // ends with all loads
	cut     func()
	slots   chan struct{}
	busy    busy
	sweeps  atomic.Int64

	_ [64]byte
	// gen counts the Clears and the sessions of the link (see link). It is read by
	// every hit and hardly ever written, so it has a line of memory for itself.
	gen atomic.Uint64
	_   [64]byte

	shards [shards]shard[K, V]
	tags   tagTable
	n      counters
	hot    hotKeys[K]

	// The second level; nil without one.
	remote  Remote
	link    *link
	breaker breaker
	// checkEvery is the least time between two comparisons of a hit with the remote, in
	// nanoseconds; 0 for none. checked is when the last began, by the clock of the link.
	checkEvery int64
	checked    atomic.Int64
	first      uint64        // see writeID
	writes     atomic.Uint64 // so far
	clash      sync.Once     // reports one
}

// genClosed is the generation of a closed cache: no record bears it, so the
// hit path needs no check of its own.
const genClosed = math.MaxUint64

// New makes a cache. Its error joins a *ConfigError for everything that is wrong with o.
func New[K comparable, V any](o Options[K, V]) (*Cache[K, V], error) {
	o, err := o.check()
	if err != nil {
		return nil, err
	}
	c := &Cache[K, V]{
		o:          o,
		p:          o.Policy,
		origin:     source[K, V]{load: o.Load, entry: o.LoadEntry},
		log:        o.Logger,
		clock:      o.clock,
		seed:       maphash.MakeSeed(),
		epoch:      randomID(),
		id:         cmp.Or(uint64(o.NodeID)<<ownBits, randomID()&^ownMask),
		first:      randomID(),
		random:     uniform,
		keyBytes:   keyWeigh[K](),
		stringKeys: reflect.TypeFor[K]().Kind() == reflect.String,
		oddKeys:    mayBeOdd(reflect.TypeFor[K]()),
		overhead:   entryOverhead + int(unsafe.Sizeof(record[V]{})),
		maxWeight:  math.MaxUint32,
		slots:      make(chan struct{}, o.MaxLoads),
	}
	c.lives = lives{ttl: c.p.TTL, swr: c.p.StaleWhileRevalidate, sie: c.p.StaleIfError}
	if o.MaxBytes > 0 {
		c.maxWeight = min(c.maxWeight, o.MaxBytes/4)
	}
	if c.clock == nil {
		c.clock, c.ours = store.NewCoarse(clockTick), true
	}
	c.store, err = store.New(store.Config[K, record[V]]{
		MaxWeight:  o.MaxBytes,
		MaxEntries: o.MaxEntries,
		Slot:       func(r *record[V]) *store.Slot[record[V]] { return &r.slot },
		Weight:     func(r *record[V]) uint32 { return r.weight },
		Hard:       func(r *record[V]) int64 { return r.hard },
		Clock:      c.clock,
	})
	if err != nil {
		if c.ours {
			c.clock.Stop()
		}
		return nil, err
	}
	for i := range c.shards {
		c.shards[i].flights, c.shards[i].runs = make(map[K]*flight[K, V]), make(map[K]*runs)
	}
	c.loads.last, c.calls.last = c.p.LoadTimeout, c.p.RemoteTimeout
	c.inquiries = make(chan *inquiry[K, V])
	closing, end := context.WithCancel(context.Background())
	c.closing, c.cut = closing, func() {
		end()
		c.loads.close(ErrClosed)
	}
	c.busy.idle = make(chan struct{})
	c.busy.last = func() {
		if c.link != nil {
			c.link.detach()
		}
		c.store.Close()
		if c.ours {
			c.clock.Stop()
		}
		c.cut()
	}
	if o.Remote != nil {
		c.remote = o.Remote
		if c.p.SelfCheck > 0 {
			c.checkEvery = int64(time.Second) / int64(c.p.SelfCheck)
		}
		if err := c.connect(); err != nil {
			c.link = nil // never attached
			c.busy.close()
			return nil, err
		}
	}
	return c, nil
}

// Close ends the cache: from now on every method returns ErrClosed, and Peek
// finds nothing. It waits for running loads, whose readers still get their
// results, until ctx ends; then it ends their contexts, releases their readers
// with an error that wraps ErrClosed, and returns the error of ctx. Once all
// loaders have returned no goroutine is left. Close is idempotent: a further
// call waits in the same way.
func (c *Cache[K, V]) Close(ctx context.Context) error {
	c.gen.Store(genClosed)
	c.busy.close()
	select {
	case <-c.busy.idle:
		return nil
	default:
	}
	select {
	case <-c.busy.idle:
		return nil
	case <-ctx.Done():
		c.cut()
		return ctx.Err()
	}
}

// busy counts what runs in the background, and knows when the last of it has
// ended after the cache was closed.
type busy struct {
	mu     sync.Mutex
	n      int
	closed bool
	last   func()        // runs once, closed and with nothing running
	idle   chan struct{} // closed after last
}

// begin counts one more, unless the cache is closed.
func (b *busy) begin() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.n++
	return true
}

// end counts n less.
func (b *busy) end(n int) {
	b.mu.Lock()
	b.n -= n
	finish := b.closed && b.n == 0
	b.mu.Unlock()
	if finish {
		b.last()
		close(b.idle)
	}
}

// close refuses all further begins.
func (b *busy) close() {
	b.mu.Lock()
	again := b.closed
	b.closed = true
	finish := !again && b.n == 0
	b.mu.Unlock()
	if finish {
		b.last()
		close(b.idle)
	}
}

// randomID is a number that names a cache or a write.
func randomID() uint64 {
	return rand.Uint64() //nolint:gosec // G404: a name, not a secret
}
