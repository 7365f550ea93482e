package image

import (
	"container/list"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"sync"

	"example.com/quire/pdf/internal/diag"
)

// Options configures a Store.
type Options struct {
	// Deflate returns a writer that appends what it takes to dst in zlib format (RFC 1950)
	// until it is closed. The output depends on the bytes and their cutting alone.
	Deflate func(dst io.Writer) (io.WriteCloser, error)
	// CacheBytes bounds the finished streams that are kept; 0 or less: none.
	CacheBytes int64
	// DecodeBudget bounds the samples that are held decoded at one time.
	DecodeBudget int64
}

// Store makes images and keeps the finished ones: a file that many documents show is worked on
// once. It keeps no document's output, only pure values of a file's bytes. It is safe for
// concurrent use.
type Store struct {
	deflate func(io.Writer) (io.WriteCloser, error)
	budget  *budget
	rows    sync.Pool // of *[]byte: the collector empties it when memory is short

	mu     sync.Mutex
	most   int64
	bytes  int64
	byHash map[key]*entry
	recent *list.List // of *entry, the last used first
}

// key is the SHA-256 of an image file, and what is asked of the image.
type key struct {
	sum [sha256.Size]byte
	ask Ask
}

// hash names the image.
func (k key) hash() [sha256.Size]byte {
	if k.ask.none() {
		return k.sum
	}
	return sha256.Sum256(fmt.Appendf(k.sum[:], " as %d by %d", k.ask.Width, k.ask.Height))
}

// entry is an image that is made or being made.
type entry struct {
	key   key
	done  chan struct{}
	image *Image // nil after done: it could not be made
	at    *list.Element
}

// NewStore returns an empty Store.
func NewStore(o Options) *Store {
	return &Store{
		deflate: o.Deflate, budget: newBudget(max(o.DecodeBudget, 0)), most: o.CacheBytes,
		byHash: map[key]*entry{}, recent: list.New(),
	}
}

// Session opens the images of one document within its limits. It is not safe for concurrent use.
type Session struct {
	store   *Store
	limits  diag.Limits
	decoded int64 // bytes so far, of Limits.DecodedBytes
}

// Session returns a session for one document.
func (s *Store) Session(l diag.Limits) *Session {
	return &Session{store: s, limits: l.WithDefaults()}
}

// Size returns the pixels of an image as seen: EXIF orientation applied. Only its header is read.
func (s *Session) Size(data []byte) (width, height int, err error) {
	if err := diag.Check("ImageBytes", int64(len(data)), s.limits.ImageBytes, ""); err != nil {
		return 0, 0, err
	}
	f, err := parse(data, s.limits)
	if err != nil {
		return 0, 0, err
	}
	width, height, orient := f.size()
	if orient >= turned {
		width, height = height, width
	}
	return width, height, nil
}

// turned is the first of the EXIF orientations in which rows are columns.
const turned = 5

// OpenWithin is Open for an image that is to have at most so many pixels as seen, with its
// proportions: one that has more is made smaller.
func (s *Session) OpenWithin(ctx context.Context, data []byte, width, height int) (*Image, error) {
	w, h, err := s.Size(data)
	if err != nil || w <= width && h <= height {
		if err != nil {
			return nil, err
		}
		return s.Open(ctx, data)
	}
	f, err := parse(data, s.limits)
	if err != nil {
		return nil, err
	}
	if _, _, orient := f.size(); orient >= turned {
		width, height = height, width
		w, h = h, w
	}
	return s.open(ctx, data, Ask{Width: max(1, min(w, width)), Height: max(1, min(h, height))})
}

// Open checks image data and makes its streams, or finds those that another document had made.
// Its size and the size it states are judged before anything is decoded. What must be held
// decoded as a whole counts against the document's DecodedBytes, and waits until ctx ends for
// its share of the store's DecodeBudget. The data must not change while the document is made.
func (s *Session) Open(ctx context.Context, data []byte) (*Image, error) {
	return s.open(ctx, data, Ask{})
}

func (s *Session) open(ctx context.Context, data []byte, to Ask) (*Image, error) {
	if err := diag.Check("ImageBytes", int64(len(data)), s.limits.ImageBytes, ""); err != nil {
		return nil, err
	}
	for k := (key{sha256.Sum256(data), to}); ; {
		e, mine := s.store.claim(k)
		if mine {
			return s.make(ctx, e, data)
		}
		select {
		case <-e.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if img := e.image; img != nil {
			if to.none() { // else the header was read just now
				if err := checkPixels(img.width, img.height, s.limits); err != nil {
					return nil, err
				}
			}
			return img, s.hold(img.held)
		}
	}
}

// hold counts what an image holds decoded against the document's share, whether it was made for
// this document or for another: the cache never decides whether a document is made.
func (s *Session) hold(n int64) error {
	if err := diag.Check("DecodedBytes", s.decoded+n, s.limits.DecodedBytes, ""); err != nil {
		return err
	}
	s.decoded += n
	return nil
}

// claim returns the entry of a file; mine: the caller is to make its image.
func (s *Store) claim(k key) (e *entry, mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e = s.byHash[k]; e != nil {
		if e.at != nil {
			s.recent.MoveToFront(e.at)
		}
		return e, false
	}
	e = &entry{key: k, done: make(chan struct{})}
	s.byHash[k] = e
	return e, true
}

// make makes the image of an entry. An error is the caller's alone: it may be of its limits or
// its context.
func (s *Session) make(ctx context.Context, e *entry, data []byte) (*Image, error) {
	var img *Image
	defer func() { s.store.settle(e, img) }() // also when a decoder panics: others wait for it
	f, err := parse(data, s.limits)
	if err != nil {
		return nil, err
	}
	held := f.held(e.key.ask)
	if err := s.hold(held); err != nil {
		return nil, err
	}
	if err := s.store.budget.take(ctx, held); err != nil {
		return nil, err
	}
	defer s.store.budget.give(held)
	made, err := f.image(ctx, s.store, e.key.ask)
	if err != nil {
		return nil, err
	}
	made.hash, made.held = e.key.hash(), held
	if made.x.bytes() <= s.store.most {
		made.x.own()
	}
	img = made
	return img, nil
}

// settle keeps what was made, within the bound, and lets those go on who wait for it.
func (s *Store) settle(e *entry, img *Image) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.image = img
	close(e.done)
	if img == nil || img.x.bytes() > s.most {
		delete(s.byHash, e.key)
		return
	}
	e.at = s.recent.PushFront(e)
	s.bytes += img.x.bytes()
	for s.bytes > s.most {
		last := s.recent.Remove(s.recent.Back()).(*entry) //nolint:forcetypeassert // the list holds nothing else
		s.bytes -= last.image.x.bytes()
		delete(s.byHash, last.key)
	}
}

// row returns a buffer of n bytes, whose content is not defined.
func (s *Store) row(n int) *[]byte {
	p, ok := s.rows.Get().(*[]byte)
	if !ok || cap(*p) < n {
		b := make([]byte, n)
		return &b
	}
	*p = (*p)[:n]
	return p
}
