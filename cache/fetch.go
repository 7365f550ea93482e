package cache

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// maxFetch is how many keys one call of Remote.Fetch asks for.
const maxFetch = 512

// shared is what a record has to do with the remote. It never changes.
type shared struct {
	version Version // zero: nothing was there
	tags    []RecordTag
	// checked is the last time, of the link's clock, at which the remote was known to hold version.
	checked time.Duration
	// until is when the record is to be compared with the remote; never, as long as the session
	// lasts and the link is up.
	until int64
}

// newShared makes a record and what it has to do with the remote in one piece of memory.
func newShared[V any](s shared) *record[V] {
	both := &struct {
		record record[V]
		shared shared
	}{shared: s}
	both.record.shared = &both.shared
	return &both.record
}

// exists says whether no Clear and no invalidation has put r out of use as of gen. It may be
// suspect.
func (r *record[V]) exists(gen uint64) bool {
	return sameClear(r.gen, gen) && (r.tags == nil || r.tags.overtaken() == 0)
}

// suspect says whether r is to be compared with the remote before it is served.
func (r *record[V]) suspect(gen uint64, now int64) bool {
	return r.shared != nil && (r.gen != gen || now >= r.shared.until)
}

// suspected is r, to be compared at its next read. What is known of it is what it says of itself.
func (r *record[V]) suspected() *record[V] {
	s := *r
	sh := *r.shared
	sh.until = math.MinInt64
	s.shared, s.early, s.gen = &sh, math.MinInt64, r.gen/clearing*clearing
	return &s
}

// until is when a record of gen that was checked just now is to be checked again.
func (c *Cache[K, V]) until(gen uint64) int64 {
	if linked(gen) {
		return math.MaxInt64
	}
	return c.clock.Now() + int64(c.p.SuspectTTL)
}

// unshared marks a record that is not in the remote: it equals nothing that is there.
func (c *Cache[K, V]) unshared(until int64) *shared {
	return &shared{version: Version{WriteID: randomID() | 1}, checked: c.link.now(), until: until}
}

// take makes the record of one that the remote has. fits is false for a value that is too large to
// be held here.
func (c *Cache[K, V]) take(k K, rec *Record, gen, bumps uint64, checked time.Duration) (r *record[V], fits bool, err error) {
	r = newShared[V](shared{version: rec.Version, tags: rec.Tags, checked: checked, until: c.until(gen)})
	r.gen, r.delta = gen, rec.LoadTime
	r.written = c.clock.Now() - int64(rec.Age)
	r.soft = r.written + int64(min(rec.Fresh, maxLife))
	r.hard = r.written + int64(min(rec.Remove, maxLife))
	r.stale = min(r.soft+int64(c.p.StaleWhileRevalidate), r.hard)
	if rec.State == RecordAbsent {
		r.state, r.early, r.weight = stateAbsent, math.MinInt64, c.bareWeight(k)
		return r, true, nil
	}
	if rec.State == RecordFailed {
		r.state, r.early, r.weight = stateFailed, math.MinInt64, failureWeight(c.bareWeight(k), errElsewhere)
		r.failure = &failure{retryAt: r.soft, times: 1, err: errElsewhere}
		if len(rec.Payload) > 0 {
			r.failure.times = min(uint32(rec.Payload[0]), maxFailures)
		}
		return r, true, nil
	}
	r.early = min(c.earlyFrom(r), r.shared.until)
	r.tags = c.tags.set(tagNames(rec.Tags), bumps)
	if fits, err = c.decode(k, rec, r); err != nil {
		err = &DecodeError{Key: showKey(k), Codec: rec.Codec, Err: err}
		c.n.malformed.Add(1)
		c.observe(Event[K]{Kind: EventRefuse, Key: k, Err: err})
		return nil, false, err
	}
	return r, fits, nil
}

// tagNames are the tags without "", which stands for all entries.
func tagNames(tags []RecordTag) []string {
	var names []string
	for _, t := range tags {
		if t.Name != "" {
			names = append(names, t.Name)
		}
	}
	return names
}

// decode gives r the value of rec and its weight. A panic of the codec, or of the Weigh of Options,
// is an error: the bytes come from elsewhere.
func (c *Cache[K, V]) decode(k K, rec *Record, r *record[V]) (fits bool, err error) {
	if rec.Codec != c.o.Codec.ID() {
		return false, errOtherCodec
	}
	defer func() {
		if p := recover(); p != nil {
			err = &panicError{value: p, who: "codec or Weigh"}
		}
	}()
	v, size, err := c.o.Codec.Decode(rec.Payload)
	if err != nil {
		return false, readable(err, "codec")
	}
	r.value = v
	r.weight, fits = c.weigh(k, v, size, r.tags)
	return fits, nil
}

// fetch asks the remote for records.
func (c *Cache[K, V]) fetch(ctx context.Context, keys []string, headersOnly bool) (all []Record, err error) {
	for len(keys) > 0 {
		some := keys[:min(len(keys), maxFetch)]
		keys = keys[len(some):]
		got, err := c.fetchSome(ctx, nil, some, headersOnly)
		if err != nil {
			return nil, err
		}
		if all == nil && len(keys) == 0 {
			return got, nil
		}
		all = append(all, got...)
	}
	return all, nil
}

// fetchSome is one call of the remote. here is as for beginCall.
func (c *Cache[K, V]) fetchSome(ctx context.Context, here *limit, keys []string, headersOnly bool) ([]Record, error) {
	call, err := c.beginCall(ctx, here)
	if err != nil {
		return nil, asUnavailable(err)
	}
	got, err := c.remote.Fetch(call.here, c.o.Name, keys, headersOnly)
	if err == nil && len(got) != len(keys) {
		err = fmt.Errorf("%d records for %d keys", len(got), len(keys))
	}
	if err := c.endCall(call, err); err != nil {
		return nil, asUnavailable(err)
	}
	return got, nil
}

// known compares the tags of a record with the counters that are known in this session. It does
// what counters does if none is missing; sure is false if it cannot. asOf is the time, of the
// link's clock, up to which the answer is known to be right if it was asked for at that time.
func (c *Cache[K, V]) known(tags []RecordTag, at time.Duration) (valid, sure bool, asOf time.Duration) {
	if len(tags) == 0 {
		return false, true, at
	}
	l := c.link
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.counters) > maxCounters {
		return false, false, at
	}
	now, valid, all := l.now(), true, false
	for _, tag := range tags {
		t, ok := l.counters[tag.Name]
		if !ok || now-t.since >= recheckTags || tag.Counter > t.counter {
			return false, false, at
		}
		valid, all = valid && tag.Counter == t.counter, all || tag.Name == ""
	}
	return valid && all, true, min(at, l.proof)
}

// counters returns the counters of tags: those known in this session, unless they are to be fresh,
// the others from the remote. asOf is the time, of the link's clock, up to which they are known to
// be right.
func (c *Cache[K, V]) counters(ctx context.Context, names map[string]struct{}, life time.Duration, fresh bool) (all map[string]tagCounter, asOf time.Duration, err error) {
	l := c.link
	all = make(map[string]tagCounter, len(names))
	var missing []string
	l.mu.Lock()
	gen, asked := c.gen.Load(), l.now()
	asOf = asked
	if len(l.counters) > maxCounters {
		clear(l.counters)
	}
	for name := range names {
		if t, ok := l.counters[name]; ok && !fresh && asked-t.since < recheckTags {
			all[name], asOf = t, min(asked, l.proof)
		} else {
			missing = append(missing, name)
		}
	}
	l.mu.Unlock()
	if len(missing) == 0 {
		return all, asOf, nil
	}
	var got []uint64
	err = c.ask(ctx, func(ctx context.Context) (err error) {
		got, err = c.remote.Tags(ctx, c.o.Name, missing, life, false)
		if err == nil && len(got) != len(missing) {
			err = fmt.Errorf("%d counters for %d tags", len(got), len(missing))
		}
		return err
	})
	if err != nil {
		return nil, 0, asUnavailable(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	keep := linked(gen) && gen%clearing == c.gen.Load()%clearing
	for i, name := range missing {
		t := tagCounter{counter: got[i], since: l.now()}
		if keep {
			// A frame that came meanwhile may be of a later bump.
			known := l.counters[name]
			if t.applied = known.applied; known.counter > t.counter {
				t = known
			}
			l.counters[name] = t
		}
		all[name] = t
	}
	return all, asOf, nil
}

// consult asks the remote for the keys of fs before anything is loaded, settles what it answers and
// returns the rest. A value that is held and suspect is compared by its header first; one that is
// only due for a refresh is not asked for: the lease tells if another node was faster.
func (c *Cache[K, V]) consult(ctx context.Context, fs []*flight[K, V]) (rest []*flight[K, V]) {
	var compare, whole []*flight[K, V]
	now := c.clock.Now()
	for _, f := range fs {
		first := !f.asked
		if first && !c.formats(f) {
			continue
		}
		held := first && f.old != nil && f.old.shared != nil
		switch {
		case f.alone || len(f.text) > maxKeyBytes || !c.holds(f.key):
			f.alone = true
			rest = append(rest, f)
		case held && (f.verify || f.old.suspect(f.gen, now)):
			compare = append(compare, f)
		case held:
			f.known = f.old.shared.version
			rest = append(rest, f)
		default:
			whole = append(whole, f)
		}
	}
	if recs, counters, at, err := c.records(ctx, compare, true); err != nil {
		rest = append(rest, c.unreachable(compare, err)...)
	} else {
		for i, f := range compare {
			old := f.old
			if recs[i].Version != old.shared.version || !current(old.shared.tags, counters) {
				whole = append(whole, f)
				continue
			}
			c.n.revalidated.Add(1)
			f.known = old.shared.version
			same := *old
			same.gen = f.gen
			same.shared = &shared{version: f.known, tags: old.shared.tags, checked: at, until: c.until(f.gen)}
			same.early = min(c.earlyFrom(&same), same.shared.until)
			if c.answered(f, &same, true) {
				rest = append(rest, f)
			}
		}
	}
	recs, counters, at, err := c.records(ctx, whole, false)
	if err != nil {
		return append(rest, c.unreachable(whole, err)...)
	}
	for i, f := range whole {
		if c.fetched(f, &recs[i], current(recs[i].Tags, counters), at) {
			rest = append(rest, f)
		}
	}
	return rest
}

// formats makes the text of the key of f. A codec of keys that panics fails the load: the goroutine
// is ours, as where a loader does.
func (c *Cache[K, V]) formats(f *flight[K, V]) (ok bool) {
	defer func() {
		if p := recover(); p != nil {
			c.settle(f, outcome[V]{err: &panicError{value: p, who: "codec of keys"}})
		}
	}()
	f.asked, f.text = true, c.o.Keys.Format(f.key)
	return true
}

// consultOnce is consult for the flight of a load, which has not asked yet. It says whether the
// load goes on.
func (c *Cache[K, V]) consultOnce(q *inquiry[K, V]) bool {
	f := q.flights[0]
	if f.old != nil && f.old.shared != nil {
		return len(c.consult(&q.limit, q.flights[:])) > 0
	}
	if !c.formats(f) {
		return false
	}
	if len(f.text) > maxKeyBytes || !c.holds(f.key) {
		f.alone = true
		return true
	}
	at := c.link.now()
	q.keys[0] = f.text
	recs, err := c.fetchSome(&q.limit, &q.call, q.keys[:], false)
	if err != nil {
		return len(c.unreachable(q.flights[:], err)) > 0
	}
	valid, sure, asOf := c.known(recs[0].Tags, at)
	if f.verify || !sure {
		var counters map[string]tagCounter
		if counters, asOf, err = c.countersOf(&q.limit, q.flights[:], recs, false, at); err != nil {
			return len(c.unreachable(q.flights[:], err)) > 0
		}
		valid = current(recs[0].Tags, counters)
	}
	return c.fetched(f, &recs[0], valid, asOf)
}

// fetched settles f with the record that the remote has, if that may be served at once, or says
// that f goes on. valid says that no invalidation has overtaken the record as of that time.
func (c *Cache[K, V]) fetched(f *flight[K, V], rec *Record, valid bool, at time.Duration) (goesOn bool) {
	f.known = rec.Version
	f.bare = rec.State == RecordNone || rec.State >= RecordTombstone
	var r *record[V]
	var fits bool
	var err error
	switch {
	case rec.State == RecordNone || rec.State == RecordTombstone:
	case valid:
		r, fits, err = c.take(f.key, rec, f.gen, f.bumps, at)
	default:
		c.invalidated(f.key, rec.Version)
	}
	if err == nil && f.old != nil && f.old.shared != nil {
		c.fallBackOn(f, nil) // the remote has it no more; one that cannot be read does not end what can
	}
	if r == nil {
		c.n.remoteMisses.Add(1)
		return true
	}
	c.n.remoteHits.Add(1)
	return c.answered(f, r, fits)
}

// invalidated drops what is held of k unless it is newer than v, the version of a record that an
// invalidation has put out of use in the remote. The notice of that may not have come yet.
func (c *Cache[K, V]) invalidated(k K, v Version) {
	s := c.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	if held, ok := c.store.Look(k); ok && (held.shared == nil || held.shared.version == v || !held.shared.version.covers(v)) {
		c.store.Remove(k)
	}
}

func current(tags []RecordTag, counters map[string]tagCounter) bool {
	return currentTags(tags, func(name string) (uint64, bool) {
		t, ok := counters[name]
		return t.counter, ok
	})
}

// fallBackOn replaces what f falls back on if its load fails. Others see it once f is settled.
func (c *Cache[K, V]) fallBackOn(f *flight[K, V], old *record[V]) {
	s := c.shard(f.key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !f.settled {
		f.old = old
	}
}

// records fetches the records of fs and the counters of all tags concerned. at is the time, of the
// link's clock, as of which they are right.
func (c *Cache[K, V]) records(ctx context.Context, fs []*flight[K, V], headersOnly bool) (recs []Record, counters map[string]tagCounter, at time.Duration, err error) {
	at = c.link.now()
	if len(fs) == 0 {
		return nil, nil, at, nil
	}
	keys := make([]string, len(fs))
	for i, f := range fs {
		keys[i] = f.text
	}
	recs, err = c.fetch(ctx, keys, headersOnly)
	if err != nil {
		return nil, nil, at, err
	}
	counters, at, err = c.countersOf(ctx, fs, recs, headersOnly, at)
	return recs, counters, at, err
}

// countersOf returns the counters of all tags that the records of fs have, which were asked for at
// that time. asOf is the time as of which both are right.
func (c *Cache[K, V]) countersOf(ctx context.Context, fs []*flight[K, V], recs []Record, headersOnly bool, at time.Duration) (all map[string]tagCounter, asOf time.Duration, err error) {
	names, life, fresh := map[string]struct{}{}, tagLife(c.lives.hard()), false // an Update writes them again
	for i := range recs {
		fresh = fresh || fs[i].verify
		tags := recs[i].Tags
		if headersOnly {
			tags = fs[i].old.shared.tags
		}
		for _, t := range tags {
			names[t.Name] = struct{}{}
		}
		life = max(life, tagLife(recs[i].Remove))
	}
	all, asOf, err = c.counters(ctx, names, life, fresh)
	if err == nil && !fresh && slices.ContainsFunc(recs, func(r Record) bool { return ahead(r.Tags, all) }) {
		all, asOf, err = c.counters(ctx, names, life, true)
	}
	return all, min(at, asOf), err
}

// ahead says whether a tag was invalidated before the record was stored, and this node has not
// heard of it.
func ahead(tags []RecordTag, counters map[string]tagCounter) bool {
	return slices.ContainsFunc(tags, func(t RecordTag) bool { return t.Counter > counters[t.Name].counter })
}

// tagLife is how long the counters of the tags of a record are kept at least.
func tagLife(remove time.Duration) time.Duration { return 2 * min(max(remove, time.Second), maxLife) }

// answered settles f with what the remote has if that may be served at once: fresh, or stale within
// its window, when the next read refreshes it. Otherwise f goes on, with the value to fall back on.
func (c *Cache[K, V]) answered(f *flight[K, V], r *record[V], fits bool) (goesOn bool) {
	now := c.clock.Now()
	switch {
	case r.state == stateAbsent && now < r.soft:
		c.settle(f, outcome[V]{rec: r, fits: true, err: ErrNotFound})
	case r.state == stateValue && (now < r.soft || now < r.stale && f.loads):
		c.settle(f, outcome[V]{rec: r, fits: fits, value: r.value, tags: r.tags})
	case r.state == stateFailed && now < r.retryAt():
		c.settle(f, outcome[V]{rec: r, fits: true, err: r.failure.err, passing: true})
	default:
		f.failures = r.failures()
		if r.state == stateValue && fits && now < r.hard {
			c.fallBackOn(f, r)
		}
		return true
	}
	return false
}

// unreachable settles flights that the remote cannot answer: while the link is down with the value
// that is held, for MaxStale after it was last known to be right, or, without a loader, with an
// error. The rest is loaded and kept here alone. With the link up what could not be compared is not
// served: Staleness would not be true.
func (c *Cache[K, V]) unreachable(fs []*flight[K, V], err error) (rest []*flight[K, V]) {
	now := c.clock.Now()
	for _, f := range fs {
		f.cut = err
		switch old := f.old; {
		case !linked(f.gen) && old != nil && old.shared != nil && now < old.soft && c.bound(old) <= c.p.MaxStale:
			same := *old
			sh := *old.shared
			bound := c.bound(old)
			sh.checked, sh.until = c.link.now()-bound, now+int64(min(c.p.SuspectTTL, c.p.MaxStale-bound))
			same.gen, same.shared = f.gen, &sh
			same.early = min(c.earlyFrom(&same), sh.until)
			c.settle(f, outcome[V]{rec: &same, fits: true, value: same.value, tags: same.tags, lost: err})
		case !f.loads:
			c.settle(f, outcome[V]{err: err, passing: true, lost: err})
		default:
			f.alone = true
			rest = append(rest, f)
		}
	}
	return rest
}

// asUnavailable makes err match ErrUnavailable: nothing was changed by a call that only reads.
func asUnavailable(err error) error {
	if errors.Is(err, ErrUnavailable) {
		return err
	}
	return unavailable(err)
}
