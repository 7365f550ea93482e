package blob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	"example.com/quire/internal/record"
)

// Collection removes unreferenced blobs while others make documents. A document in progress refers
// to its blobs only at its end, when it is saved, and may reuse a blob that nothing referred to
// before. Therefore there are three steps: Collect, after which the store records the blobs that
// Has and Commit are called with; then a pause, in which everything in progress is saved or
// abandoned; then the references are read, and Sweep removes the blobs that are neither referenced
// nor recorded.
type Collection struct{ s *Store }

// ErrCollecting is returned by Collect while another Collection is open.
var ErrCollecting = errors.New("blob: a collection is under way")

// Collect begins a Collection, which has to be closed.
func (s *Store) Collect() (*Collection, error) {
	if s.readOnly {
		return nil, ErrReadOnly
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wanted != nil {
		return nil, ErrCollecting
	}
	s.wanted = map[record.Hash]struct{}{}
	return &Collection{s}, nil
}

// Close ends the Collection.
func (c *Collection) Close() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.wanted = nil
}

// want notes that somebody counts on h from now on.
func (s *Store) want(h record.Hash) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wanted != nil {
		s.wanted[h] = struct{}{}
	}
}

// Sweep removes the blobs that are not in named and that were written before a time, and returns
// their number. Files whose name is not a hash are kept.
func (c *Collection) Sweep(ctx context.Context, named map[record.Hash]struct{}, before time.Time) (removed int, err error) {
	s := c.s
	dirs, err := s.layer.List(".")
	if err != nil {
		return 0, fmt.Errorf("blob collect: %w", err)
	}
	for _, dir := range dirs {
		if len(dir) != 2 { // tmp/ and what is not ours
			continue
		}
		names, err := s.layer.List(dir)
		if err != nil {
			return removed, fmt.Errorf("blob collect %s: %w", dir, err)
		}
		for _, name := range names {
			if err := ctx.Err(); err != nil {
				return removed, err
			}
			h, err := record.ParseHash(name)
			if _, ok := named[h]; ok || err != nil || name[:2] != dir {
				continue
			}
			gone, err := s.removeUnwanted(h, path.Join(dir, name), before)
			if err != nil {
				return removed, fmt.Errorf("blob collect %s: %w", h, err)
			}
			if gone {
				removed++
			}
		}
	}
	return removed, nil
}

// removeUnwanted removes a blob unless somebody wants it. Whoever asks for it in the same moment
// waits and then does not find it.
func (s *Store) removeUnwanted(h record.Hash, file string, before time.Time) (gone bool, err error) {
	at, err := s.layer.ModTime(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !at.Before(before) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.wanted[h]; ok || s.wanted == nil {
		return false, nil
	}
	delete(s.durable, h)
	return true, s.layer.Remove(file)
}
