package cache

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Leases: Nishtala and others, "Scaling Memcache at Facebook", NSDI 2013. One node of all may load
// a key at a time. The lease has the random token of its holder; any write of the key ends it, so
// that a load that was overtaken cannot be stored. The holder renews it while it loads; if the
// holder dies, another takes over when it has run out.

// lead waits until f may load its key, or until another node's load has answered it (false).
func (c *Cache[K, V]) lead(ctx context.Context, f *flight[K, V]) bool {
	for !f.alone {
		wake := c.listen(f)
		var got LeaseResult
		err := c.ask(ctx, func(ctx context.Context) (err error) {
			got, err = c.remote.Lease(ctx, c.o.Name, LeaseRequest{Key: f.text, Verb: LeaseAcquire, Token: f.token, TTL: c.p.LeaseTTL, Known: f.known})
			return err
		})
		switch {
		case ctx.Err() != nil:
			return false // the watch of the load has settled it
		case err != nil:
			f.alone = true
			continue
		case got.Granted:
			c.unlisten(f)
			return true
		case !got.Newer:
			poll := time.NewTimer(time.Duration(float64(c.p.LeaseTTL) / 8 * (0.75 + 0.5*c.random())))
			select {
			case <-wake:
			case <-poll.C:
			case <-ctx.Done():
				poll.Stop()
				return false
			}
			poll.Stop()
		}
		c.unlisten(f) // a write that comes while the remote is asked overtakes the answer
		if len(c.consult(ctx, []*flight[K, V]{f})) == 0 {
			return false
		}
	}
	c.unlisten(f)
	return true
}

// listen makes f wait for notices of its key instead of being overtaken by them: it has asked
// for nothing yet that they could make wrong.
func (c *Cache[K, V]) listen(f *flight[K, V]) <-chan struct{} {
	s := c.shard(f.key)
	s.mu.Lock()
	defer s.mu.Unlock()
	f.wake = make(chan struct{})
	f.waits = true
	return f.wake
}

// unlisten ends that. What was written meanwhile is nothing to fall back on any more.
func (c *Cache[K, V]) unlisten(f *flight[K, V]) {
	s := c.shard(f.key)
	s.mu.Lock()
	defer s.mu.Unlock()
	f.waits = false
	if f.replaced && !f.settled {
		f.old = nil
	}
	f.replaced = false
}

// woken says whether f waits for a notice, and wakes it; replaced if it is that of a write. The
// caller holds the shard's lock.
func (f *flight[K, V]) woken(replaced bool) bool {
	if f.waits {
		f.replaced = f.replaced || replaced
		select {
		case <-f.wake:
		default:
			close(f.wake)
		}
	}
	return f.waits
}

// hold renews the lease of f until ctx ends or the returned function is called, and then releases
// it.
func (c *Cache[K, V]) hold(ctx context.Context, f *flight[K, V]) (end func()) {
	if f.alone {
		return func() {}
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	lease := func(ctx context.Context, verb LeaseVerb) {
		// A lease that is lost shows when the load is stored.
		_ = c.ask(ctx, func(ctx context.Context) error {
			_, err := c.remote.Lease(ctx, c.o.Name, LeaseRequest{Key: f.text, Verb: verb, Token: f.token, TTL: c.p.LeaseTTL})
			return err
		})
	}
	wg.Go(func() {
		t := time.NewTicker(c.p.LeaseTTL / 3)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				lease(ctx, LeaseRenew)
				continue
			case <-stop:
			case <-ctx.Done():
			}
			break
		}
		if !f.stored.Load() {
			lease(context.WithoutCancel(ctx), LeaseRelease)
		}
	})
	return func() {
		close(stop)
		wg.Wait()
	}
}

// prepare notes, before the loader runs, the counters of the tags that its result may have.
func (c *Cache[K, V]) prepare(ctx context.Context, fs []*flight[K, V]) {
	names := map[string]struct{}{"": {}}
	for _, f := range fs {
		if f.old != nil && f.old.shared != nil {
			for _, t := range f.old.shared.tags {
				names[t.Name] = struct{}{}
			}
		}
	}
	counters, _, err := c.counters(ctx, names, tagLife(c.lives.hard()), false)
	began := c.link.now()
	for _, f := range fs {
		f.counters, f.began = counters, began
		f.alone = f.alone || err != nil
	}
}

// maxStores is how many results of one bulk load are stored at a time.
const maxStores = 64

// shareAll stores what was loaded for fs in the remote.
func (c *Cache[K, V]) shareAll(ctx context.Context, fs []*flight[K, V], outs []outcome[V]) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, maxStores)
	for i, f := range fs[1:] {
		slots <- struct{}{}
		wg.Go(func() {
			c.share(ctx, f, &outs[i+1])
			<-slots
		})
	}
	c.share(ctx, fs[0], &outs[0])
	wg.Wait()
}

// share stores what was loaded for f, with the condition that nobody has written the key since f
// looked, and notes in out what is there now. What cannot be stored is kept here for a short while.
func (c *Cache[K, V]) share(ctx context.Context, f *flight[K, V], out *outcome[V]) {
	rec := Record{LoadTime: out.took}
	l := c.lives
	if out.lives != nil {
		l = *out.lives
	}
	switch {
	case errors.Is(out.err, ErrNotFound) && c.p.NegativeTTL > 0:
		rec.State, rec.Fresh, rec.Remove = RecordAbsent, c.p.NegativeTTL, c.p.NegativeTTL
	case out.err != nil:
		c.shareFailure(ctx, f, out)
		return
	case out.noStore && f.known == (Version{}):
		return
	case out.noStore:
		rec.State, rec.Fresh, rec.Remove = RecordTombstone, c.p.TombstoneTTL, c.p.TombstoneTTL
	default:
		l = c.jittered(l)
		rec.State, rec.Codec, rec.Fresh, rec.Remove = RecordValue, c.o.Codec.ID(), l.ttl, l.hard()
		r := &record[V]{tags: out.tags}
		var fits bool
		if rec.Payload, fits, out.err = c.encode(f.key, out.value, r); out.err != nil {
			return
		}
		if out.kept == nil {
			out.value, out.weight, out.fits = r.value, r.weight, fits
		}
	}
	known := c.recordTags(f, out, &rec)
	switch {
	case f.alone:
		l.ttl = min(l.ttl, localOnly)
		out.lives, out.shared, out.lost = &l, c.unshared(0), f.cut
		return
	case !known:
		names := map[string]struct{}{}
		for _, t := range rec.Tags {
			names[t.Name] = struct{}{}
		}
		_, _, _ = c.counters(ctx, names, tagLife(rec.Remove), false) // an error leaves them unknown
		out.lives, out.shared = &l, c.unshared(c.until(f.gen))
		return
	}
	out.lives = &l
	if err := c.storeLoad(ctx, f, out, rec); err != nil {
		l.ttl = min(l.ttl, localOnly)
		out.shared = c.unshared(0)
	}
}

// storeLoad stores what came of the load of f unless the key was written since f looked. Then f is
// settled with what is there now.
func (c *Cache[K, V]) storeLoad(ctx context.Context, f *flight[K, V], out *outcome[V], rec Record) error {
	rec.Version.WriteID = c.writeID()
	s := c.shard(f.key)
	s.mu.Lock()
	f.writeID = rec.Version.WriteID
	s.mu.Unlock()
	r := StoreRequest{Key: f.text, Record: rec, If: StoreIfLease, Token: f.token, Push: c.pushes(c.p.Mode, rec.Payload)}
	if f.bulk {
		r.If, r.IfVersion = StoreIfVersion, f.known
	}
	at := c.link.now()
	got, err := c.storeOnce(ctx, r)
	switch {
	case err != nil:
		return err
	case got.Stored:
		f.stored.Store(true)
		out.shared = &shared{version: got.Version, tags: rec.Tags, checked: at, until: c.until(f.gen)}
	case len(c.consult(ctx, []*flight[K, V]{f})) > 0:
		// Overtaken, and what overtook it is gone again: it serves those who wait.
		s.mu.Lock()
		f.detached.Store(true)
		s.mu.Unlock()
	}
	return nil
}

// shareFailure tells all nodes to leave the origin alone for the pause after a failed load, if the
// remote has nothing else for the key. A value there stays, and each node that serves it when it is
// stale makes its own pauses, as it does where several keys were loaded at once.
func (c *Cache[K, V]) shareFailure(ctx context.Context, f *flight[K, V], out *outcome[V]) {
	if f.alone || f.bulk || c.p.ErrorBackoffMin <= 0 || ctx.Err() != nil || errors.Is(out.err, ErrNotFound) ||
		f.known != (Version{}) && f.failures == 0 {
		return
	}
	out.failures = f.failures
	if held, ok := c.store.Look(f.key); ok && held.state == stateFailed && c.clock.Now() < held.hard {
		out.failures = max(out.failures, held.failures())
	}
	n := min(out.failures+1, maxFailures)
	back := c.backoff(n)
	rec := Record{State: RecordFailed, Payload: []byte{byte(n)}, LoadTime: out.took, Fresh: back, Remove: 2 * back}
	if c.recordTags(f, out, &rec) {
		_ = c.storeLoad(ctx, f, out, rec) // on an error the pause is this node's alone
	}
}

// recordTags gives rec the tags of out, with the counters they had before the load began, and says
// whether they are known. Those of a tag that is new to this node are not: they are asked for now,
// for the next time.
func (c *Cache[K, V]) recordTags(f *flight[K, V], out *outcome[V], rec *Record) bool {
	if f.alone {
		return false
	}
	names := []string{""}
	if out.tags != nil {
		names = append(names, out.tags.names...)
	}
	rec.Tags = make([]RecordTag, len(names))
	known := true
	l := c.link
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, name := range names {
		t, ok := f.counters[name]
		if !ok {
			t, ok = l.counters[name]
			ok = ok && t.since < f.began && f.gen == c.gen.Load()
		}
		rec.Tags[i] = RecordTag{Name: name, Counter: t.counter}
		known = known && ok
	}
	return known
}
