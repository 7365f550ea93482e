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

// Purges are numbered. A tag has the number of the last Purge that named it, and a record that of
// the last Purge before its value was set or its load began: a record with a tag that was purged
// since does not exist. So a Purge touches no record, and a load that it overtakes brings a record
// that is out of date on arrival.
//
// Tags live as long as a record has them. A load may bring a tag that no record had when it was
// purged, so the last purged ones are held on to; where even that has ended, floor is the number of
// the last Purge forgotten, and a tag that is new to the table counts as purged by it.

const (
	maxTags      = 16
	maxTagBytes  = 128
	recentPurges = 1 << 12
	// tagOverhead is what a tag of a record takes beside its text, in bytes.
	tagOverhead = 64
)

type tag struct {
	name   string
	purged atomic.Uint64
}

// tagSet has the tags of a record. It never changes.
type tagSet struct {
	purges uint64 // the last Purge before the value was set or its load began
	names  []string
	tags   []*tag
}

// overtaken returns the number of a Purge that put s out of date, or 0.
func (s *tagSet) overtaken() uint64 {
	if s != nil {
		for _, t := range s.tags {
			if n := t.purged.Load(); n > s.purges {
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

// purge is one tag of one Purge.
type purge struct {
	tag *tag
	n   uint64
}

type tagTable struct {
	purges atomic.Uint64 // Purges so far, written under mu

	mu     sync.Mutex
	known  map[string]weak.Pointer[tag]
	recent []purge // a ring
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
	made.purged.Store(t.floor)
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

// purge puts all records with these tags out of date.
func (t *tagTable) purge(names []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.purges.Add(1)
	for _, name := range names {
		p := purge{tag: t.find(name), n: n}
		p.tag.purged.Store(n)
		if len(t.recent) < recentPurges {
			t.recent = append(t.recent, p)
			continue
		}
		t.floor = max(t.floor, t.recent[t.next].n)
		t.recent[t.next] = p
		t.next = (t.next + 1) % recentPurges
	}
}

// set returns the tags of a record whose value is from after that many purges; nil for none.
func (t *tagTable) set(names []string, purges uint64) *tagSet {
	if len(names) == 0 {
		return nil
	}
	s := &tagSet{purges: purges, names: slices.Clone(names), tags: make([]*tag, len(names))}
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

// Purge drops all entries that have one of the tags (WriteOptions.Tags, Loaded.Tags), at a cost that
// does not depend on their number: they cease to exist at once; their memory is freed when they are
// replaced, evicted or at the end of their life. A load that began before and brings one of the tags
// is not kept, and a read that begins after Purge does not get its result. A tag of 0 or more than
// 128 bytes is a *ConfigError; other errors as for Set. Safe for concurrent use.
func (c *Cache[K, V]) Purge(ctx context.Context, tags ...string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.gen.Load() == genClosed {
		return ErrClosed
	}
	var check checker
	check.tagNames("Purge.tags", tags)
	if err := check.err(); err != nil || len(tags) == 0 {
		return err
	}
	c.tags.purge(tags)
	return nil
}
