package cache

import (
	"sync/atomic"
	"time"
	"unsafe"
)

// Stats is a snapshot of a cache. Counters run since New. Each is read
// atomically, but not all at one instant: sums over them are exact only while
// nothing runs.
type Stats struct {
	// Name is Options.Name.
	Name string
	// Entries and Bytes are what is held now, "does not exist" entries
	// included, and cleared, invalidated or expired ones until their memory is freed.
	// Without a Weigh (possible with MaxEntries alone) Bytes has keys and
	// overhead only.
	Entries, Bytes int64
	// Hits are reads answered from the process without waiting for a load;
	// Misses are all others. Together they are the reads, one each, except
	// those refused at once because their context had ended or the cache was
	// closed. A key remembered as absent or failing is a hit for Get and
	// GetOrLoad and a miss for Peek.
	Hits, Misses uint64
	// StaleHits and NegativeHits are the hits that returned a stale value or
	// an error: a remembered ErrNotFound or *LoadError.
	StaleHits, NegativeHits uint64
	// Loads are the loads begun, one for each key, Refreshes those of them begun in the
	// background by a hit. LoadFailures ended with another error than
	// ErrNotFound. Overtaken are loads whose result was not kept because the
	// key was written, deleted or cleared meanwhile.
	Loads, Refreshes, LoadFailures, Overtaken uint64
	// Loading is the number of loaders that run now within their LoadTimeout; it is at most
	// Options.MaxLoads. Abandoned is the number of those that run now after it: a loader that
	// ignores its context. They hold no place among MaxLoads.
	Loading, Abandoned int64
	// Sets, Deletes, Clears and Invalidations (InvalidateTags) are the writes that succeeded.
	Sets, Deletes, Clears, Invalidations uint64
	// Refused are the values, set or loaded, that were too large to be held.
	Refused uint64
	// RemoteHits are the keys, each asked for once for all who read it, for which the remote had a
	// record in use, RemoteMisses the others. RemoteFailures are calls of the remote that failed.
	RemoteHits, RemoteMisses, RemoteFailures uint64
	// Revalidated are the entries found to be those of the remote still, after the link was down.
	// Pushed are the values that came with the frames of other nodes and were held. Malformed are
	// those, pushed or fetched, that could not be read. LinkBreaks is how often the link went down.
	Revalidated, Pushed, Malformed, LinkBreaks uint64
	// Compared are the hits that were compared with the remote afterwards (Policy.SelfCheck),
	// Outdated those of them whose value had been replaced there before the hit. WorstStaleness is
	// how long before, at most, of the worst.
	Compared, Outdated uint64
	WorstStaleness     time.Duration
	// Propagation has the times between the writes of other nodes, as the remote stored them, and
	// their notices here.
	Propagation Histogram
	// Evictions were dropped for lack of room, Expirations at hard life.
	Evictions, Expirations uint64
}

// Histogram counts durations.
type Histogram struct {
	// Buckets has, at i, the number of those above Upper(i-1) and up to Upper(i); the last one has
	// all that are greater.
	Buckets [16]uint64
	Sum     time.Duration
}

// Upper is the upper end of bucket i: 100 µs for the first, twice as much for each further one.
func (Histogram) Upper(i int) time.Duration { return 100 * time.Microsecond << i }

// Count is the number of durations.
func (h Histogram) Count() (n uint64) {
	for _, b := range h.Buckets {
		n += b
	}
	return n
}

// histogram is a Histogram that counts.
type histogram struct {
	buckets [len(Histogram{}.Buckets)]atomic.Uint64
	sum     atomic.Int64
}

func (h *histogram) observe(d time.Duration) {
	d = max(d, 0)
	i := 0
	for i < len(h.buckets)-1 && d > (Histogram{}).Upper(i) {
		i++
	}
	h.buckets[i].Add(1)
	h.sum.Add(int64(d))
}

func (h *histogram) snapshot() (s Histogram) {
	for i := range h.buckets {
		s.Buckets[i] = h.buckets[i].Load()
	}
	s.Sum = time.Duration(h.sum.Load())
	return s
}

// stripes spread the counters of the hit path, so that two cores that read do
// not fight for one line of memory. A power of two.
const stripes = 32

// stripe has the counters of the read path; the padding keeps the next one off
// its cache lines (64 bytes, fetched in pairs).
type stripe struct {
	hits, misses, stale, negative atomic.Uint64
	_                             [96]byte
}

type counters struct {
	stripes [stripes]stripe

	loads, refreshes, failures, overtaken atomic.Uint64
	sets, deletes, clears, refused        atomic.Uint64
	invalidations                         atomic.Uint64
	remoteHits, remoteMisses              atomic.Uint64
	remoteFailures, revalidated, pushed   atomic.Uint64
	malformed, breaks                     atomic.Uint64
	compared, outdated                    atomic.Uint64
	loading, abandoned, worst             atomic.Int64
	propagation                           histogram
}

// mine picks a stripe by the address of the caller's stack: goroutines have
// different ones, and it costs no shared state and no random number.
func (c *counters) mine() *stripe {
	var here byte
	a := uintptr(unsafe.Pointer(&here)) //nolint:gosec // G103: only the number is used
	return &c.stripes[(a>>11*0x9E3779B1>>16)%stripes]
}

// Stats returns the counters. It may be called at any time, also after Close.
func (c *Cache[K, V]) Stats() Stats {
	n := &c.n
	s := Stats{
		Name:          c.o.Name,
		Loads:         n.loads.Load(),
		Refreshes:     n.refreshes.Load(),
		LoadFailures:  n.failures.Load(),
		Overtaken:     n.overtaken.Load(),
		Loading:       n.loading.Load(),
		Abandoned:     n.abandoned.Load(),
		Sets:          n.sets.Load(),
		Deletes:       n.deletes.Load(),
		Clears:        n.clears.Load(),
		Invalidations: n.invalidations.Load(),
		Refused:       n.refused.Load(),
		RemoteHits:    n.remoteHits.Load(), RemoteMisses: n.remoteMisses.Load(), RemoteFailures: n.remoteFailures.Load(),
		Revalidated: n.revalidated.Load(), Pushed: n.pushed.Load(), Malformed: n.malformed.Load(), LinkBreaks: n.breaks.Load(),
		Compared: n.compared.Load(), Outdated: n.outdated.Load(), WorstStaleness: time.Duration(n.worst.Load()),
		Propagation: n.propagation.snapshot(),
		Evictions:   c.store.Evictions(),
		Expirations: c.store.Expirations(),
	}
	s.Entries, s.Bytes = c.store.Held()
	for i := range n.stripes {
		p := &n.stripes[i]
		s.Hits += p.hits.Load()
		s.Misses += p.misses.Load()
		s.StaleHits += p.stale.Load()
		s.NegativeHits += p.negative.Load()
	}
	return s
}
