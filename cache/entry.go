package cache

import (
	"math"
	"math/rand/v2"
	"time"
	"unsafe"

	"example.com/quire/cache/internal/store"
)

// state says what a record knows of its key.
type state uint8

const (
	stateValue   state = iota // the key has a value
	stateAbsent               // the loader said that the key does not exist
	stateUnasked              // the remote had nothing, and the read no loader
	stateFailed               // the loader failed and there is nothing to fall back on
)

// record is what the store holds for a key. It never changes once it is in the
// store: a new value of a key is a new record. Times are nanoseconds of the clock.
type record[V any] struct {
	slot store.Slot[record[V]] // the store's own
	// gen is the generation of the cache at the write (for a load: at its
	// beginning). A record of another generation does not exist.
	gen uint64
	// early is where the plain hit ends: until then a read returns value and
	// looks at nothing else. It is the distant past for states without value.
	early int64
	tags  *tagSet // nil for none
	// What a plain hit reads ends here, in one line of memory for values of up to four words.
	value  V
	weight uint32
	state  state
	// written is when the value was set or loaded, or last found unmodified.
	written int64
	soft    int64 // fresh until
	stale   int64 // soft + stale-while-revalidate
	hard    int64 // the record exists until
	// delta is how long the value took to load, 0 for one that was set.
	delta   time.Duration
	failure *failure // nil if the last load of the key did not fail
	shared  *shared  // nil for what has nothing to do with a remote
}

// failure is of a key whose last load failed.
type failure struct {
	retryAt int64  // the origin is left alone until then
	times   uint32 // in a row
	err     error  // what the load returned; nil where a value is held, which is then served
}

// retryAt is until when the origin is left alone.
func (r *record[V]) retryAt() int64 {
	if r.failure == nil {
		return 0
	}
	return r.failure.retryAt
}

// failures is how often the key failed in a row.
func (r *record[V]) failures() uint32 {
	if r.failure == nil {
		return 0
	}
	return r.failure.times
}

// of says whether r exists in generation gen: no Clear and no InvalidateTags has put it out of use.
func (r *record[V]) of(gen uint64) bool {
	return r.gen == gen && (r.tags == nil || r.tags.overtaken() == 0)
}

// entryOverhead is what an entry costs beside its record and the bytes of key and value, measured
// on full caches: the store's node with its queue links (80 bytes), its part of the table and of
// the sketch (up to 46, by how full they are), the slot of a key that was written again (8), and
// what the runtime adds to texts to fill their place in memory (about 11).
const entryOverhead = 136

// lives are the TTLs of one write.
type lives struct{ ttl, swr, sie time.Duration }

// hard is the hard life.
func (l lives) hard() time.Duration { return l.ttl + max(l.swr, l.sie) }

// jittered shortens the soft life by chance.
func (c *Cache[K, V]) jittered(l lives) lives {
	if c.p.Jitter > 0 {
		l.ttl = max(l.ttl-time.Duration(c.p.Jitter*c.random()*float64(l.ttl)), 1)
	}
	return l
}

// live stamps r with its life from now on.
func (c *Cache[K, V]) live(r *record[V], now int64, l lives) {
	r.written = now
	r.soft = now + int64(l.ttl)
	r.stale = r.soft + int64(l.swr)
	r.hard = r.soft + int64(max(l.swr, l.sie))
	r.early = c.earlyFrom(r)
	if r.shared != nil {
		r.early = min(r.early, r.shared.until)
	}
}

// absent makes the record of a key that does not exist.
func (c *Cache[K, V]) absent(k K, gen uint64, now int64) *record[V] {
	r := &record[V]{gen: gen, state: stateAbsent, weight: c.bareWeight(k)}
	c.live(r, now, c.jittered(lives{ttl: c.p.NegativeTTL}))
	r.early = math.MinInt64
	return r
}

// failed makes the record of a failed load. old is the record it follows: a
// value that is still alive stays, marked with the time of the next try.
func (c *Cache[K, V]) failed(k K, old *record[V], gen uint64, now int64, out *outcome[V]) *record[V] {
	r := &record[V]{gen: gen, state: stateFailed, early: math.MinInt64, weight: c.bareWeight(k), shared: out.shared}
	failures := out.failures
	if old != nil && old.exists(gen) && now < old.hard {
		failures = max(failures, old.failures())
		if old.state == stateValue {
			keep := *old
			r = &keep
		}
	}
	failures = min(failures+1, maxFailures)
	back := c.backoff(failures)
	r.failure = &failure{retryAt: now + int64(back), times: failures}
	if r.state == stateFailed {
		r.failure.err = out.err
		r.weight = failureWeight(r.weight, out.err)
		// Outlives its back-off, so that a failure right after it still
		// finds the count and doubles on.
		r.hard = r.retryAt() + int64(back)
	}
	return r
}

// failureWeight is the weight of a record of that weight with the failure of a load. What err holds
// beside its text is not known.
func failureWeight(bare uint32, err error) uint32 {
	return uint32(min(uint64(bare)+uint64(unsafe.Sizeof(failure{}))+uint64(len(err.Error())), math.MaxUint32))
}

// maxFailures is as far as failures in a row are counted.
const maxFailures = 64

// backoff is the pause after the nth failure in a row.
func (c *Cache[K, V]) backoff(n uint32) time.Duration {
	d := c.p.ErrorBackoffMin
	for ; n > 1 && d < c.p.ErrorBackoffMax; n-- {
		d *= 2
	}
	return min(d, c.p.ErrorBackoffMax)
}

// loadError is the error a read gets for a failed record.
func (r *record[V]) loadError(key string) *LoadError {
	e := &LoadError{Key: key, Err: r.failure.err}
	if r.failure.retryAt > 0 {
		e.RetryAt = time.Unix(0, r.failure.retryAt)
	}
	return e
}

func (c *Cache[K, V]) bareWeight(k K) uint32 {
	return uint32(c.overhead + c.keyBytes(k)) //nolint:gosec // G115: keys that are held are at most 1 KiB
}

// uniform is the source of jitter and of early refresh: [0,1).
func uniform() float64 {
	return rand.Float64() //nolint:gosec // G404: spreads load, guards nothing
}
