package image

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"sync"

	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/filecache"
)

// Options configures a Store.
type Options struct {
	// Deflate returns a writer that appends what it takes to dst in zlib format (RFC 1950)
	// until it is closed. The output depends on the bytes and their cutting alone.
	Deflate func(dst io.Writer) (io.WriteCloser, error)
	// Best appends src in the same format, as short as it can be, to dst: small images are kept
	// that way. Nil: they are compressed by Deflate, too.
	Best func(dst, src []byte) ([]byte, error)
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
	best    func(dst, src []byte) ([]byte, error)
	budget  *budget
	rows    sync.Pool // of *[]byte: the collector empties it when memory is short
	kept    *filecache.Cache[Ask, *Image]
}

// hash names the image that is made of a file.
func (a Ask) hash(data []byte) [sha256.Size]byte {
	sum := sha256.Sum256(data)
	if a.none() {
		return sum
	}
	return sha256.Sum256(fmt.Appendf(sum[:], " as %d by %d", a.Width, a.Height))
}

// NewStore returns an empty Store.
func NewStore(o Options) *Store {
	return &Store{
		deflate: o.Deflate, best: o.Best, budget: newBudget(max(o.DecodeBudget, 0)),
		kept: filecache.New[Ask, *Image](o.CacheBytes),
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
	mine := false
	img, err := s.store.kept.Get(ctx, data, to, func(data []byte) (*Image, int64, error) {
		mine = true
		return s.make(ctx, data, to)
	})
	if err != nil || mine {
		return img, err
	}
	if to.none() { // else the header was read just now
		if err := checkPixels(img.width, img.height, s.limits); err != nil {
			return nil, err
		}
	}
	return img, s.hold(img.held)
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

// make makes an image and says how many bytes it takes up.
func (s *Session) make(ctx context.Context, data []byte, to Ask) (*Image, int64, error) {
	f, err := parse(data, s.limits)
	if err != nil {
		return nil, 0, err
	}
	held := f.held(to)
	if err := s.hold(held); err != nil {
		return nil, 0, err
	}
	if err := s.store.budget.take(ctx, held); err != nil {
		return nil, 0, err
	}
	defer s.store.budget.give(held)
	img, err := f.image(ctx, s.store, to)
	if err != nil {
		return nil, 0, err
	}
	img.hash, img.held = to.hash(data), held
	return img, img.x.bytes(), nil
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
