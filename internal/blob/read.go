package blob

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"sync"

	"example.com/quire/internal/record"
)

const (
	wholeSize = 1 << 20  // up to this a blob is checked and kept in memory
	blockSize = 64 << 10 // beyond it, what one checksum covers
)

// Open implements record.Blobs. The whole file is read and hashed before Open
// returns.
func (s *Store) Open(ctx context.Context, h record.Hash) (record.Blob, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b, err := s.open(h)
	if err != nil {
		return nil, err
	}
	return b, nil
}

func (s *Store) open(h record.Hash) (*reader, error) {
	_, file := fanOut(h)
	f, err := s.layer.Open(file)
	if missing(err) {
		return nil, fmt.Errorf("blob %s: %w", h, record.ErrNotFound)
	} else if err != nil {
		return nil, fmt.Errorf("blob %s: %w", h, failed(err))
	}
	b, err := s.check(f, h)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("blob %s: %w", h, failed(err)), f.Close())
	}
	return b, nil
}

// check hashes the whole of f and returns a reader of what it has seen.
func (s *Store) check(f File, h record.Hash) (*reader, error) {
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	all := io.NewSectionReader(f, 0, size)
	if size <= wholeSize {
		b := make([]byte, size)
		if _, err := io.ReadFull(all, b); err != nil {
			return nil, damaged(err)
		}
		if record.Sum(b) != h {
			return nil, record.ErrDamaged
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
		return newReader(bytes.NewReader(b), nil, size), nil
	}
	checked := &blocks{file: f, size: size, seed: s.seed, hash: h, buf: make([]byte, blockSize), at: -1}
	sum := sha256.New()
	for range (size + blockSize - 1) / blockSize {
		n, err := io.ReadFull(all, checked.buf)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, damaged(err)
		}
		sum.Write(checked.buf[:n])
		checked.sums = append(checked.sums, maphash.Bytes(s.seed, checked.buf[:n]))
	}
	if record.Hash(sum.Sum(nil)) != h {
		return nil, record.ErrDamaged
	}
	return newReader(checked, f, size), nil
}

// damaged says of a file that ended before its size that it is damaged; other
// errors are the file system's own.
func damaged(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return record.ErrDamaged
	}
	return err
}

// reader is an open blob over bytes that are checked.
type reader struct {
	*io.SectionReader
	file io.Closer // nil: nothing to close
}

func newReader(r io.ReaderAt, file io.Closer, size int64) *reader {
	return &reader{SectionReader: io.NewSectionReader(r, 0, size), file: file}
}

// Close implements record.Blob.
func (r *reader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// blocks reads a file block by block and compares each with the checksum that
// was taken while the whole was hashed. It is safe for concurrent use.
type blocks struct {
	file File
	size int64
	seed maphash.Seed
	sums []uint64
	hash record.Hash

	mu  sync.Mutex
	buf []byte
	at  int64 // which block buf holds, -1: none
}

// ReadAt implements io.ReaderAt.
func (b *blocks) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("blob %s: negative offset", b.hash)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for n < len(p) {
		if off >= b.size {
			return n, io.EOF
		}
		if err := b.load(off / blockSize); err != nil {
			return n, err
		}
		k := copy(p[n:], b.buf[off%blockSize:])
		n += k
		off += int64(k)
	}
	return n, nil
}

// load fills buf with block i.
func (b *blocks) load(i int64) error {
	if b.at == i {
		return nil
	}
	b.at = -1
	start := i * blockSize
	b.buf = b.buf[:min(blockSize, b.size-start)]
	if _, err := io.ReadFull(io.NewSectionReader(b.file, start, int64(len(b.buf))), b.buf); err != nil {
		return fmt.Errorf("blob %s: %w", b.hash, damaged(err))
	}
	if maphash.Bytes(b.seed, b.buf) != b.sums[i] {
		return fmt.Errorf("blob %s: block at %d: %w", b.hash, start, record.ErrDamaged)
	}
	b.at = i
	return nil
}
