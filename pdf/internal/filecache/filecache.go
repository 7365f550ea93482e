// Package filecache caches what is computed from files that many documents show: the streams of an
// image, the operators of a drawing. A value is a function of the bytes of a file and the options.
// A file is identified by all of its bytes, so no document gets a value from another file.
package filecache

import (
	"bytes"
	"container/list"
	"context"
	"encoding/binary"
	"hash/maphash"
	"sync"
)

// Cache keeps values of type V, made of files for an ask of type A. Those not used for long go
// first. It is safe for concurrent use; values are shared, so they must not change.
type Cache[A comparable, V any] struct {
	seed maphash.Seed
	most int64

	mu     sync.Mutex
	bytes  int64
	byKey  map[key[A]]*entry[A, V]
	recent *list.List // of *entry, the last used first
}

// key finds an entry, whose bytes are compared then.
type key[A comparable] struct {
	sum   uint64
	whole bool // it is the hash of all bytes, not of some
	ask   A
}

// entry is a value that is made or being made.
type entry[A comparable, V any] struct {
	key   key[A]
	data  []byte
	done  chan struct{}
	value V
	made  bool // after done; else it could not be made
	bytes int64
	at    *list.Element
}

// New returns an empty cache that keeps at most so many bytes, those of the files included; 0 or
// less: none.
func New[A comparable, V any](most int64) *Cache[A, V] {
	return &Cache[A, V]{seed: maphash.MakeSeed(), most: most, byKey: map[key[A]]*entry[A, V]{}, recent: list.New()}
}

// Get returns what is kept for data and ask, or what create makes of data: one caller makes it,
// and others who want the same wait until their ctx ends. The value may hold on to the bytes that
// create is given. size is what the value takes up beside them. An error is that of its own caller
// alone, and nothing is kept of it: it may be of its limits or its context. A file that is longer
// than all that is kept is made by each caller.
func (c *Cache[A, V]) Get(
	ctx context.Context, data []byte, ask A, create func(data []byte) (value V, size int64, err error),
) (V, error) {
	if int64(len(data)) > c.most {
		v, _, err := create(data)
		return v, err
	}
	for k := (key[A]{c.some(data), false, ask}); ; {
		e, mine := c.claim(k, data)
		if mine {
			return c.create(e, create)
		}
		switch {
		case bytes.Equal(e.data, data):
		case !k.whole: // two files that differ elsewhere
			k.sum, k.whole = maphash.Bytes(c.seed, data), true
			continue
		default: // two files of one hash
			v, _, err := create(data)
			return v, err
		}
		select {
		case <-e.done:
		case <-ctx.Done():
			var none V
			return none, context.Cause(ctx)
		}
		if e.made {
			return e.value, nil
		}
	}
}

// some returns a hash of some of the bytes of a file, which tells most files from each other.
func (c *Cache[A, V]) some(data []byte) uint64 {
	const pieces, piece = 8, 64
	if len(data) <= pieces*piece {
		return maphash.Bytes(c.seed, data)
	}
	var b [pieces*piece + 8]byte
	for i := range pieces { // from the beginning to the end
		copy(b[i*piece:], data[(len(data)-piece)/(pieces-1)*i:][:piece])
	}
	copy(b[(pieces-1)*piece:], data[len(data)-piece:])
	binary.LittleEndian.PutUint64(b[pieces*piece:], uint64(len(data)))
	return maphash.Bytes(c.seed, b[:])
}

// claim returns the entry of a file; mine: the caller is to make its value.
func (c *Cache[A, V]) claim(k key[A], data []byte) (e *entry[A, V], mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e = c.byKey[k]; e != nil {
		if e.at != nil {
			c.recent.MoveToFront(e.at)
		}
		return e, false
	}
	// The caller's bytes may change once its document is made.
	e = &entry[A, V]{key: k, data: bytes.Clone(data), done: make(chan struct{})}
	c.byKey[k] = e
	return e, true
}

func (c *Cache[A, V]) create(e *entry[A, V], create func([]byte) (V, int64, error)) (V, error) {
	defer c.settle(e) // also when a decoder panics: others wait for it
	v, size, err := create(e.data)
	if err == nil {
		e.value, e.made, e.bytes = v, true, size+int64(len(e.data))
	}
	return v, err
}

// settle keeps what was made, within the bound, and lets those go on who wait for it.
func (c *Cache[A, V]) settle(e *entry[A, V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(e.done)
	if !e.made || e.bytes > c.most {
		delete(c.byKey, e.key)
		return
	}
	e.at = c.recent.PushFront(e)
	for c.bytes += e.bytes; c.bytes > c.most; {
		last := c.recent.Remove(c.recent.Back()).(*entry[A, V]) //nolint:forcetypeassert // the list holds nothing else
		c.bytes -= last.bytes
		delete(c.byKey, last.key)
	}
}
