package cache

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"weak"
)

// Invalidations are numbered. A tag has the number of the last one that named it, and a record that
// of the last one before its value was set or its load began: a record with a tag that was bumped
// since does not exist. So an invalidation touches no record, and a load that it overtakes brings a
// record that is out of date on arrival.
//
// Tags live as long as a record has them. A load may bring a tag that no record had when it was
// bumped, so the last bumped ones are held on to; where even that has ended, floor is the number of
// the last one forgotten, and a tag that is new to the table counts as bumped by it.

const (
	maxTags     = 16
	maxTagBytes = 128
	recentBumps = 1 << 12
	// tagOverhead is what a tag of a record takes beside its text, in bytes.
	tagOverhead = 64
)

type tag struct {
	name   string
	bumped atomic.Uint64
}

// tagSet has the tags of a record. It never changes.
type tagSet struct {
	bumps uint64 // the last one before the value was set or its load began
	names []string
	tags  []*tag
}

// overtaken returns the number of an invalidation that put s out of date, or 0.
func (s *tagSet) overtaken() uint64 {
	if s != nil {
		for _, t := range s.tags {
			if n := t.bumped.Load(); n > s.bumps {
				return n
			}
		}
	}
	return 0
}

// weight is what s takes in a record, in bytes.
func (s *tagSet) weight() int64 {
	n := int64(0)
	if s != nil {
		for _, name := range s.names {
			n += int64(len(name)) + tagOverhead
		}
	}
	return n
}

// bump is one tag of one invalidation.
type bump struct {
	tag *tag
	n   uint64
}

type tagTable struct {
	bumps atomic.Uint64 // invalidations so far, written under mu

	mu     sync.Mutex
	known  map[string]weak.Pointer[tag]
	recent []bump // a ring
	next   int
	floor  uint64
}

// find returns the tag of a name. The caller holds mu.
func (t *tagTable) find(name string) *tag {
	if known := t.known[name].Value(); known != nil {
		return known
	}
	if t.known == nil {
		t.known = make(map[string]weak.Pointer[tag])
	}
	made := &tag{name: name}
	made.bumped.Store(t.floor)
	t.known[name] = weak.Make(made)
	runtime.AddCleanup(made, t.forget, name)
	return made
}

// forget drops a name nobody has any more.
func (t *tagTable) forget(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known[name].Value() == nil {
		delete(t.known, name)
	}
}

// bump puts all records with these tags out of date.
func (t *tagTable) bump(names []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.bumps.Add(1)
	for _, name := range names {
		p := bump{tag: t.find(name), n: n}
		p.tag.bumped.Store(n)
		if len(t.recent) < recentBumps {
			t.recent = append(t.recent, p)
			continue
		}
		t.floor = max(t.floor, t.recent[t.next].n)
		t.recent[t.next] = p
		t.next = (t.next + 1) % recentBumps
	}
}

// set returns the tags of a record whose value is from after that many bumps; nil for none.
func (t *tagTable) set(names []string, bumps uint64) *tagSet {
	if len(names) == 0 {
		return nil
	}
	s := &tagSet{bumps: bumps, names: slices.Clone(names), tags: make([]*tag, len(names))}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, name := range names {
		s.tags[i] = t.find(name)
	}
	return s
}

// tags checks the tags of a record.
func (c *checker) tags(field string, names []string) {
	c.require(len(names) <= maxTags, field, len(names), fmt.Sprintf("at most %d tags", maxTags))
	c.tagNames(field, names)
}

func (c *checker) tagNames(field string, names []string) {
	for _, name := range names {
		c.require(name != "" && len(name) <= maxTagBytes, field, len(name), fmt.Sprintf("tags of 1 to %d bytes", maxTagBytes))
	}
}

// InvalidateTags drops all entries that have one of the tags (WriteOptions.Tags, Loaded.Tags), at a
// cost that does not depend on their number: they cease to exist at once; their memory is freed
// when they are replaced, evicted or at the end of their life. A load that began before and brings
// one of the tags is not kept, and a read that begins after InvalidateTags does not get its result.
// A tag of 0 or more than 128 bytes is a *ConfigError; other errors as for Set. Safe for concurrent
// use.
func (c *Cache[K, V]) InvalidateTags(ctx context.Context, tags ...string) error {
	if err := c.writable(ctx); err != nil {
		return err
	}
	var check checker
	check.tagNames("InvalidateTags.tags", tags)
	if err := check.err(); err != nil || len(tags) == 0 {
		return err
	}
	if c.remote != nil {
		if err := c.bumpShared(ctx, tags); err != nil {
			return err
		}
	} else {
		c.tags.bump(tags)
		c.observe(Event[K]{Kind: EventInvalidate, Tags: tags})
	}
	c.n.invalidations.Add(1)
	return nil
}
