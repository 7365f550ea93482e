package cache

import (
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"
)

// Sessions. While the link is up, every write of another node arrives as a frame, so what is held
// needs no check. Between two such times writes may have gone unseen. The link therefore counts
// sessions, odd ones with the link up and even ones without, and the generation of the cache has
// that number in its lower half, the number of Clears in its upper: a record of another session is
// no plain hit any more, at the cost of the one comparison that Clear needs anyway. It is suspect:
// it exists still, and is compared with the remote by version before it is served.
//
// The proof of a session is the time up to which all writes are known to have arrived (see Sink).
// It bounds how old an answer can be:
//
//	write of k on another node   P                    read of k here
//	          |------------------|---------------------|
//	                             frame has arrived      bound = now - P
//
// A frame that has not arrived belongs to a write after P. If no proof comes for MaxStale, say
// because the process was stopped, the session ends, and the next proof begins one.

const clearing = 1 << 32 // what a Clear adds to a generation

func sameClear(a, b uint64) bool { return a/clearing == b/clearing }

func linked(gen uint64) bool { return gen%2 == 1 }

const (
	maxCounters   = 1 << 16
	recheckTags   = 6 * time.Hour // a quarter of how long a remote keeps a counter at least
	keptSessions  = 64
	unprovedBound = time.Duration(math.MaxInt64)
)

// link is what a cache knows through its Bus. Times count from start.
type link struct {
	start  time.Time
	detach func()
	first  chan struct{} // closed when the link comes up for the first time

	mu       sync.Mutex
	up       bool // between Up and Down; a session may have lapsed all the same
	epoch    uint64
	proof    time.Duration // of the session that runs; below 0 for none
	ended    []session
	counters map[string]tagCounter
	lapse    *time.Timer
}

// session is one that has ended.
type session struct {
	number uint32
	proof  time.Duration
}

// tagCounter is what is known of a tag in the remote.
type tagCounter struct {
	counter uint64
	since   time.Duration // when it was read, or its frame came
	// applied is the last counter by which what is held was put out of use. One that was read may
	// be greater.
	applied uint64
}

func (l *link) now() time.Duration { return time.Since(l.start) }

// connect attaches the cache to its bus and waits for the first session, LinkTimeout at most.
func (c *Cache[K, V]) connect() error {
	l := &link{start: time.Now(), proof: -1, first: make(chan struct{}), counters: make(map[string]tagCounter)}
	c.link = l
	l.lapse = time.AfterFunc(c.p.MaxStale, c.lapsed)
	in := newInbox(receiver[K, V]{c})
	detach, err := c.o.Bus.Attach(c.o.Name, LinkOptions{Heartbeat: c.p.Heartbeat, Timeout: c.p.LinkTimeout, Tracked: c.p.Mode == Tracked}, in)
	if err != nil {
		in.close()
		l.lapse.Stop()
		return err
	}
	l.detach = func() {
		detach()
		in.close()
		l.lapse.Stop()
	}
	late := time.NewTimer(c.p.LinkTimeout)
	defer late.Stop()
	select {
	case <-l.first:
	case <-late.C:
		c.log.Warn("no link to the remote yet", slog.Duration("waited", c.p.LinkTimeout))
	}
	return nil
}

// advance replaces the generation unless the cache is closed.
func (c *Cache[K, V]) advance(next func(gen uint64) uint64) bool {
	for {
		gen := c.gen.Load()
		if gen == genClosed {
			return false
		}
		if c.gen.CompareAndSwap(gen, next(gen)) {
			return true
		}
	}
}

// turn ends the session and begins one with the link up or down. The caller holds mu.
func (c *Cache[K, V]) turn(up bool) {
	l := c.link
	gen := c.gen.Load()
	if gen != genClosed && linked(gen) && l.proof >= 0 {
		l.ended = append(l.ended, session{number: uint32(gen % clearing), proof: l.proof})
		l.ended = l.ended[max(len(l.ended)-keptSessions, 0):]
	}
	l.proof = -1
	clear(l.counters)
	c.advance(func(gen uint64) uint64 {
		gen++
		if linked(gen) != up {
			gen++
		}
		return gen
	})
	if !up {
		c.n.breaks.Add(1)
	}
}

// lapsed ends a session that has had no proof for MaxStale.
func (c *Cache[K, V]) lapsed() {
	l := c.link
	l.mu.Lock()
	defer l.mu.Unlock()
	if linked(c.gen.Load()) && l.now()-l.proof >= c.p.MaxStale {
		c.turn(false)
	}
}

// receiver is the Sink of a cache.
type receiver[K comparable, V any] struct{ c *Cache[K, V] }

// Up implements Sink.
func (r receiver[K, V]) Up(epoch uint64) {
	l := r.c.link
	l.mu.Lock()
	l.up, l.epoch = true, epoch
	r.c.turn(true)
	r.c.breaker.close()
	l.lapse.Reset(r.c.p.MaxStale)
	select {
	case <-l.first:
	default:
		close(l.first)
	}
	l.mu.Unlock()
	r.c.observe(Event[K]{Kind: EventLinkUp})
}

// Down implements Sink.
func (r receiver[K, V]) Down(err error) {
	l := r.c.link
	l.mu.Lock()
	was := l.up
	l.up = false
	if was {
		r.c.turn(false)
	}
	l.mu.Unlock()
	if was {
		r.c.log.Warn("link to the remote is down", slog.Any("error", err))
		r.c.observe(Event[K]{Kind: EventLinkDown, Err: err})
	}
}

// Proof implements Sink.
func (r receiver[K, V]) Proof(sent time.Time) {
	l := r.c.link
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.up {
		return
	}
	if !linked(r.c.gen.Load()) {
		r.c.turn(true)
	}
	l.proof = max(l.proof, sent.Sub(l.start))
	l.lapse.Reset(max(r.c.p.MaxStale-time.Since(sent), 0))
}

// doubt lets everything that is held be compared, with the link up. The caller holds mu.
func (c *Cache[K, V]) doubt() {
	c.turn(false)
	c.turn(true)
}

// lost implements listener.
func (r receiver[K, V]) lost() {
	r.c.link.mu.Lock()
	r.c.doubt()
	r.c.link.mu.Unlock()
	r.c.log.Warn("notices of the remote come faster than they are applied: what is held is compared")
}

// Frame implements Sink.
func (r receiver[K, V]) Frame(f Frame) {
	l := r.c.link
	l.mu.Lock()
	if f.Kind != FrameTouched && f.Version.Epoch != l.epoch {
		// Not to be ordered with what is held, nor with what will come.
		r.c.doubt()
		f.Record = nil
	}
	l.mu.Unlock()
	if f.Kind == FrameTag {
		r.c.bump(f.Key, f.Version.Counter)
		return
	}
	k, err := r.c.parse(f.Key)
	if err != nil {
		r.c.n.malformed.Add(1)
		return
	}
	switch f.Kind {
	case FrameLease:
		r.c.wake(k)
	case FrameTouched:
		r.c.touched(k)
	default:
		r.c.applyWrite(k, &f)
	}
}

// parse makes a key of a text from elsewhere. A panic of the codec is an error.
func (c *Cache[K, V]) parse(text string) (k K, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicError{value: p, who: "codec of keys"}
		}
	}()
	if k, err = c.o.Keys.Parse(text); err == nil && c.odd(k) {
		err = errOddKey
	}
	return k, err
}

// bump puts what has the tag out of use, the tag "" everything, unless that was done for this
// counter. Counter 0 is one that is not known.
func (c *Cache[K, V]) bump(name string, counter uint64) {
	l := c.link
	l.mu.Lock()
	known, ok := l.counters[name]
	again := ok && known.applied >= counter && counter > 0
	switch {
	case counter == 0:
		delete(l.counters, name)
	case !again && linked(c.gen.Load()):
		l.counters[name] = tagCounter{counter: max(counter, known.counter), since: l.now(), applied: counter}
	}
	l.mu.Unlock()
	switch {
	case again:
	case name == "":
		c.drop()
		c.observe(Event[K]{Kind: EventClear})
	default:
		c.tags.bump([]string{name})
		c.observe(Event[K]{Kind: EventInvalidate, Tags: []string{name}})
	}
}

// newer says whether a version that the remote gave out later than b takes its place.
func (v Version) newer(b Version) bool { return v.Epoch != b.Epoch || v.Counter > b.Counter }

// covers says whether v is known to be of the write of b or of a later one.
func (v Version) covers(b Version) bool { return v.Epoch == b.Epoch && v.Counter >= b.Counter }

// behind says whether r is not known to be of the write of v or of a later one.
func (r *record[V]) behind(v Version) bool {
	return r != nil && v.Epoch != 0 && (r.shared == nil || !r.shared.version.covers(v))
}

// applyWrite applies the frame of a write: a record that is older goes, or is replaced by the one
// pushed, and a load that began before is not kept. A frame that comes twice, late, or for a write
// of this cache finds nothing older.
func (c *Cache[K, V]) applyWrite(k K, f *Frame) {
	pushed, err := c.pushed(k, f.Record)
	if c.named(f.Version) && !c.own(f.Version) {
		c.clash.Do(func() { c.log.Warn("another cache of this namespace has the id of this one") })
	}
	s := c.shard(k)
	s.mu.Lock()
	late := s.saw(f.Version)
	if fl := s.flights[k]; fl != nil && !fl.woken(true) && fl.writeID != f.Version.WriteID {
		s.detach(k)
	}
	held, ok := c.store.Look(k)
	older := ok && (held.shared == nil || f.Version.newer(held.shared.version))
	if older && late && pushed != nil {
		pushed = nil // the later one may have been of this key
	}
	switch {
	case pushed != nil && (older || !ok && !late && c.p.PushAll) && c.gen.Load() != genClosed:
		c.store.Put(k, pushed)
		c.n.pushed.Add(1)
	case older && err != nil && held.shared != nil:
		// What cannot be read does not end what can: if the remote has nothing better and the
		// origin fails, the old value serves on.
		c.store.Put(k, held.suspected())
	case older:
		c.store.Remove(k)
	}
	s.mu.Unlock()
	c.store.Trim()
	if !c.own(f.Version) && !f.Written.IsZero() {
		c.n.propagation.observe(time.Since(f.Written))
	}
	if !c.own(f.Version) {
		c.observe(Event[K]{Kind: EventRemoteWrite, Key: k, Version: f.Version})
	}
}

// touched lets what is held of k be compared at its next read. A load that may have asked the
// remote before is not kept; what it is just storing is, to be compared as well: it may be what was
// seen.
func (c *Cache[K, V]) touched(k K) {
	s := c.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.touches++
	f := s.flights[k]
	switch {
	case f == nil || f.woken(true):
	case f.writeID != 0:
		f.touched = true
	default:
		s.detach(k)
	}
	if held, ok := c.store.Look(k); ok && held.shared != nil && c.gen.Load() != genClosed {
		c.store.Put(k, held.suspected())
	}
}

// pushed makes the record of a frame; nil if it has none or it is not wanted, as that of a write of
// this cache, which was decoded already; an error if it cannot be read.
func (c *Cache[K, V]) pushed(k K, rec *Record) (*record[V], error) {
	if rec == nil || rec.State != RecordValue || c.own(rec.Version) {
		return nil, nil
	}
	gen, bumps := c.gen.Load(), c.tags.bumps.Load()
	if _, held := c.store.Look(k); !held && !c.p.PushAll {
		return nil, nil
	}
	l := c.link
	l.mu.Lock()
	proof := max(l.proof, 0) // the frame of a later write, or of its tags, may be on its way
	valid := currentTags(rec.Tags, func(name string) (uint64, bool) {
		t, ok := l.counters[name]
		return t.counter, ok
	})
	l.mu.Unlock()
	if !valid {
		return nil, nil
	}
	r, fits, err := c.take(k, rec, gen, bumps, proof)
	if !fits {
		return nil, err
	}
	return r, err
}

// currentTags says whether tags are those of a record that no Clear and no invalidation has
// overtaken.
func currentTags(tags []RecordTag, counter func(name string) (uint64, bool)) bool {
	return slices.ContainsFunc(tags, func(t RecordTag) bool { return t.Name == "" }) && matchTags(tags, counter)
}

// matchTags says whether all of tags have their counters.
func matchTags(tags []RecordTag, counter func(name string) (uint64, bool)) bool {
	return !slices.ContainsFunc(tags, func(t RecordTag) bool {
		n, ok := counter(t.Name)
		return !ok || n != t.Counter
	})
}

// wake lets a flight that waits for the lease of k try again.
func (c *Cache[K, V]) wake(k K) {
	s := c.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.flights[k]; f != nil {
		f.woken(false)
	}
}

// Staleness is the bound of what reads return now: nothing they serve was replaced in the remote
// longer ago. It is math.MaxInt64 while the link is down, when each entry is compared with the
// remote before it is served, and 0 without Options.Remote. Safe for concurrent use.
func (c *Cache[K, V]) Staleness() time.Duration {
	if c.link == nil {
		return 0
	}
	l := c.link
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.proof < 0 || !linked(c.gen.Load()) {
		return unprovedBound
	}
	return l.now() - l.proof
}

// bound is how long ago r may have been replaced in the remote. See asOf.
func (c *Cache[K, V]) bound(r *record[V]) time.Duration {
	if r.shared == nil {
		return 0
	}
	return c.link.now() - c.asOf(r)
}

// asOf is the time, of the link's clock, up to which the remote is known to have had r, which has a
// remote. That is so if r is in the store after the call, or the caller holds the lock of the key's
// shard and no notice of the key has overtaken r: notices are applied under that lock and before
// the proof that follows them.
func (c *Cache[K, V]) asOf(r *record[V]) time.Duration {
	l := c.link
	l.mu.Lock()
	defer l.mu.Unlock()
	proof := r.shared.checked
	number := uint32(r.gen % clearing)
	if linked(r.gen) && number == uint32(c.gen.Load()%clearing) {
		proof = max(proof, l.proof)
	} else if i := slices.IndexFunc(l.ended, func(s session) bool { return s.number == number }); i >= 0 {
		proof = max(proof, l.ended[i].proof)
	}
	return proof
}
