package cache

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// localOnly is how long something is kept that could not be stored in the remote.
const localOnly = 5 * time.Second

// SyncMode is how the caches that share a remote learn of a write.
type SyncMode uint8

// The sync modes. The zero value is that of the policy, where it is Invalidate.
const (
	// Invalidate sends key and version: the others drop what they hold and fetch it when it is
	// read.
	Invalidate SyncMode = iota + 1
	// Push also sends values up to Policy.PushMaxBytes: the others replace what they hold.
	Push
	// Tracked is Invalidate for a node that also sees what clients without this package do to the
	// records in the remote, and records that the remote drops: it compares what it holds at the
	// next read. Each write of another node costs such a comparison too. It is a mode of the policy
	// alone.
	Tracked
)

// writable says why a write cannot be, if so.
func (c *Cache[K, V]) writable(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case c.gen.Load() == genClosed:
		return ErrClosed
	case c.o.ReadOnly:
		return ErrReadOnly
	}
	return nil
}

// encode encodes v, and decodes it again into r: a value that was written here is what others read.
func (c *Cache[K, V]) encode(k K, v V, r *record[V]) (payload []byte, fits bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicError{value: p, who: "codec"}
		}
	}()
	if payload, err = c.o.Codec.Append(nil, v); err != nil {
		return nil, false, readable(err, "codec")
	}
	fits, err = c.decode(k, &Record{Codec: c.o.Codec.ID(), Payload: payload}, r)
	return payload, fits, err
}

func (c *Cache[K, V]) pushes(mode SyncMode, payload []byte) bool {
	return mode == Push && len(payload) <= c.p.PushMaxBytes
}

// writeID names a write. Its upper part is the id of the cache; its lower part goes on from a
// random number. So a cache knows its own frames from those of another that has its id.
func (c *Cache[K, V]) writeID() uint64 { return c.id | (c.first+c.writes.Add(1))&ownMask }

const (
	ownBits   = 40
	ownMask   = 1<<ownBits - 1
	maxNodeID = math.MaxUint64 >> ownBits
)

// own says whether v is that of a write of this cache.
func (c *Cache[K, V]) own(v Version) bool {
	return c.named(v) && (v.WriteID-c.first-1)&ownMask < c.writes.Load()
}

// named says whether v is that of a write of this cache, or of one with its id.
func (c *Cache[K, V]) named(v Version) bool { return v.WriteID&^ownMask == c.id }

// put stores the record of w, with its condition, and returns its version; ErrConflict if the
// condition does not hold, errOutdated if its tags are out of date. A call that failed halfway may
// have been done, or be done yet: the id of the write tells. If it is not there the key is suspect
// from now on, and the frame of the write, should it come, ends what is held.
func (c *Cache[K, V]) put(ctx context.Context, k K, w StoreRequest) (Version, error) {
	w.Record.Version.WriteID = c.writeID()
	got, err := c.storeOnce(ctx, w)
	switch {
	case err == nil && got.Outdated:
		return Version{}, errOutdated
	case err == nil && !got.Stored:
		return Version{}, ErrConflict
	case err == nil || errors.Is(err, ErrUnavailable):
		return got.Version, err
	}
	there, unread := c.fetch(context.WithoutCancel(ctx), []string{w.Key}, true)
	if unread == nil && there[0].Version.WriteID == w.Record.Version.WriteID {
		return there[0].Version, nil
	}
	s := c.shard(k)
	s.mu.Lock()
	s.detach(k)
	if r, ok := c.store.Look(k); ok && r.shared != nil {
		c.store.Put(k, r.suspected())
	}
	s.mu.Unlock()
	return Version{}, fmt.Errorf("%w: %w", ErrUncertain, err)
}

// storeOnce is one call of the remote.
func (c *Cache[K, V]) storeOnce(ctx context.Context, w StoreRequest) (StoreResult, error) {
	call, err := c.beginCall(ctx, nil)
	if err != nil {
		return StoreResult{}, err
	}
	got, err := c.remote.Store(call.here, c.o.Name, w)
	return got, c.endCall(call, err)
}

// writeShared stores v with the condition of w, of which the rest is filled in here.
func (c *Cache[K, V]) writeShared(ctx context.Context, k K, v V, l lives, o WriteOptions, w StoreRequest) (Version, error) {
	if err := c.writable(ctx); err != nil {
		return Version{}, err
	}
	if c.odd(k) {
		return Version{}, fmt.Errorf("cache set %q: %w", showKey(k), errOddKey)
	}
	// What is known before the write is what the record may claim.
	gen, bumps, at := c.gen.Load(), c.tags.bumps.Load(), c.link.now()
	r := newShared[V](shared{checked: at})
	r.gen, r.tags = gen, c.tags.set(o.Tags, bumps)
	payload, fits, err := c.encode(k, v, r)
	if err != nil {
		return Version{}, fmt.Errorf("cache set %q: %w", showKey(k), err)
	}
	if w.Key = c.o.Keys.Format(k); len(w.Key) > maxKeyBytes || !c.holds(k) {
		c.n.refused.Add(1)
		c.refuse(k, "set")
		return Version{}, ErrTooLarge
	}
	l = c.jittered(l)
	mode := o.Mode
	if mode == 0 {
		mode = c.p.Mode
	}
	touches := c.touches(k)
	known := w.Record.Tags // those of an Update
	w.Record = Record{State: RecordValue, Codec: c.o.Codec.ID(), Payload: payload, Tags: known, Fresh: l.ttl, Remove: l.hard()}
	w.Push = c.pushes(mode, payload)
	var version Version
	// A record whose counters are not right any more would be out of use at once, and end what was
	// written since. So the remote checks them; if they are not right it is asked for them, and the
	// write begins again.
	w.Current = true
	for try := range maxTries {
		if known == nil {
			if w.Record.Tags, err = c.recordCounters(ctx, o.Tags, tagLife(l.hard()), len(o.Tags) > 0 || try > 0); err != nil {
				break
			}
		}
		if version, err = c.put(ctx, k, w); known != nil || !errors.Is(err, errOutdated) {
			break
		}
	}
	if errors.Is(err, errOutdated) {
		err = ErrConflict
	}
	if err != nil {
		return Version{}, fmt.Errorf("cache set %q: %w", showKey(k), err)
	}
	r.shared.version, r.shared.tags, r.shared.until = version, w.Record.Tags, c.until(gen)
	c.live(r, c.clock.Now(), l)
	c.n.sets.Add(1)
	c.written(k, r, fits, touches)
	c.observe(Event[K]{Kind: EventSet, Key: k, Version: version})
	return version, nil
}

// errOutdated is that of a write whose tags do not have the counters that it knows.
var errOutdated = errors.New("a tag was invalidated")

// recordCounters returns the tag of all entries and those of more with their counters, which the
// remote is asked for if they are to be fresh.
func (c *Cache[K, V]) recordCounters(ctx context.Context, more []string, life time.Duration, fresh bool) (tags []RecordTag, err error) {
	if len(more) == 0 && !fresh {
		if n, ok := c.counterOfAll(); ok {
			return []RecordTag{{Counter: n}}, nil
		}
	}
	names := map[string]struct{}{"": {}}
	for _, name := range more {
		names[name] = struct{}{}
	}
	counters, _, err := c.counters(ctx, names, life, fresh)
	for name := range names {
		tags = append(tags, RecordTag{Name: name, Counter: counters[name].counter})
	}
	return tags, err
}

// counterOfAll is the counter of the tag of all entries, if it is known in this session.
func (c *Cache[K, V]) counterOfAll() (n uint64, ok bool) {
	l := c.link
	l.mu.Lock()
	defer l.mu.Unlock()
	t, ok := l.counters[""]
	return t.counter, ok && l.now()-t.since < recheckTags && len(l.counters) <= maxCounters
}

// touches is how often keys of the shard of k were touched.
func (c *Cache[K, V]) touches(k K) uint64 {
	s := c.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.touches
}

// written holds what was just written here, unless the frame of a later write has come already.
func (c *Cache[K, V]) written(k K, r *record[V], fits bool, touches uint64) {
	version := r.shared.version
	s := c.shard(k)
	s.mu.Lock()
	s.detach(k)
	if s.saw(version) || s.touches != touches {
		// It may have been of this key.
		r = r.suspected()
	}
	held, ok := c.store.Look(k)
	switch {
	case ok && held.shared != nil && held.shared.version.Epoch == version.Epoch && held.shared.version.Counter > version.Counter:
	case !fits || c.gen.Load() == genClosed:
		c.store.Remove(k)
	default:
		c.store.Put(k, r)
	}
	s.mu.Unlock()
	c.store.Trim()
	if !fits {
		c.n.refused.Add(1)
		c.refuse(k, "set")
	}
}

// deleteShared removes k with the condition of w, of which the rest is filled in here.
func (c *Cache[K, V]) deleteShared(ctx context.Context, k K, w StoreRequest) (Version, error) {
	if w.Key = c.o.Keys.Format(k); len(w.Key) > maxKeyBytes {
		return Version{}, c.remove(k, nil) // the remote cannot have it
	}
	w.Record = Record{State: RecordTombstone, Fresh: c.p.TombstoneTTL, Remove: c.p.TombstoneTTL}
	version, err := c.put(ctx, k, w)
	if err != nil {
		return Version{}, fmt.Errorf("cache delete %q: %w", showKey(k), err)
	}
	s := c.shard(k)
	s.mu.Lock()
	s.detach(k)
	s.saw(version)
	if held, ok := c.store.Look(k); ok && (held.shared == nil || version.newer(held.shared.version)) {
		c.store.Remove(k)
	}
	s.mu.Unlock()
	c.n.deletes.Add(1)
	c.observe(Event[K]{Kind: EventDelete, Key: k, Version: version})
	return version, nil
}

// bumpShared invalidates tags for all nodes.
func (c *Cache[K, V]) bumpShared(ctx context.Context, names []string) error {
	var got []uint64
	err := c.ask(ctx, func(ctx context.Context) (err error) {
		got, err = c.remote.Tags(ctx, c.o.Name, names, tagLife(c.lives.hard()), true)
		if err == nil && len(got) != len(names) {
			err = fmt.Errorf("%d counters for %d tags", len(got), len(names))
		}
		return err
	})
	if err != nil && !errors.Is(err, ErrUnavailable) {
		// It may have been done. To invalidate once too often does no harm.
		for _, name := range names {
			c.bump(name, 0)
		}
		err = fmt.Errorf("%w: %w", ErrUncertain, err)
	}
	if err != nil {
		return fmt.Errorf("cache invalidate: %w", err)
	}
	for i, name := range names {
		c.bump(name, got[i])
	}
	return nil
}
