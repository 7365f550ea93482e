// Package blob stores bytes in files, named by their SHA-256.
//
// A blob is written to tmp/ and gets its name when it is complete: the file is synced, renamed to
// ab/abcdef... (a directory per first byte of the hash, in the same file system), and that
// directory is synced. If the directory is new, the root is synced too. A blob that
// [record.BlobWriter.Commit] has acknowledged survives a power failure. One that was not
// acknowledged leaves at most a file in tmp/, which the next Open removes.
//
// Bytes are checked before they are returned. A blob of up to 1 MiB is read and hashed completely
// on Open and then served from memory. A larger one is hashed on Open too, and the same pass
// computes a checksum of each 64 KiB. Each later read, at any offset, checks the blocks that it
// touches. A file that is damaged, even between Open and Read, therefore gives record.ErrDamaged
// and never a wrong byte. The cost is one pass over the file before the first byte.
package blob

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"path"
	"sync"

	"example.com/quire/internal/record"
)

const tmpDir = "tmp"

// Config says where blobs are kept.
type Config struct {
	// Dir is the directory, made when it is not there (0700; files are 0600). One
	// process at a time may write to it: opening it empties tmp/.
	Dir string
	// ReadOnly opens an existing directory for reading, while another process may write. Nothing is
	// created or removed, and Create is refused.
	ReadOnly bool
	// Layer replaces the file system, for tests of crashes and faults. Dir is
	// then not looked at.
	Layer Layer
}

// Store keeps blobs in files. It is safe for concurrent use. It fills
// record.Blobs.
type Store struct {
	layer    Layer
	readOnly bool
	seed     maphash.Seed

	mu      sync.Mutex
	dirs    map[string]bool          // fan-out directories whose own entry is durable
	durable map[record.Hash]struct{} // blobs whose entry is durable, at most maxDurable of them
	wanted  map[record.Hash]struct{} // asked for or written since a Collection began; nil without one
}

// maxDurable bounds what Has remembers; beyond it Has syncs a directory again.
const maxDurable = 4096

// ErrReadOnly is returned by Create when the store was opened to read only.
var ErrReadOnly = errors.New("blob: opened read-only")

// Open opens the directory and removes files that a crash left in tmp/.
func Open(c Config) (*Store, error) {
	layer := c.Layer
	if layer == nil {
		var err error
		if layer, err = openDir(c.Dir, c.ReadOnly); err != nil {
			return nil, fmt.Errorf("blob open %s: %w", c.Dir, err)
		}
	}
	s := &Store{
		layer: layer, readOnly: c.ReadOnly, seed: maphash.MakeSeed(),
		dirs: make(map[string]bool), durable: make(map[record.Hash]struct{}),
	}
	if !c.ReadOnly {
		if err := s.sweep(); err != nil {
			return nil, errors.Join(fmt.Errorf("blob open %s: sweep: %w", c.Dir, err), layer.Close())
		}
	}
	return s, nil
}

// Close releases the directory. Blobs that are open stay readable.
func (s *Store) Close() error { return s.layer.Close() }

// sweep makes tmp/ and empties it. Its own entry need not be durable: nothing
// in it is.
func (s *Store) sweep() error {
	if err := s.layer.Mkdir(tmpDir); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	left, err := s.layer.List(tmpDir)
	if err != nil {
		return err
	}
	for _, name := range left {
		if err := s.layer.Remove(path.Join(tmpDir, name)); err != nil {
			return err
		}
	}
	return nil
}

// fanOut returns the directory and the path of a blob.
func fanOut(h record.Hash) (dir, file string) {
	name := h.String()
	return name[:2], path.Join(name[:2], name)
}

// Create begins a blob.
func (s *Store) Create(ctx context.Context) (record.BlobWriter, error) {
	if s.readOnly {
		return nil, ErrReadOnly
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	name := path.Join(tmpDir, rand.Text())
	f, err := s.layer.Create(name)
	if errors.Is(err, fs.ErrNotExist) && s.renew() == nil {
		f, err = s.layer.Create(name)
	}
	if err != nil {
		return nil, fmt.Errorf("blob create: %w", failed(err))
	}
	return &writer{store: s, name: name, file: f}, nil
}

// renew forgets what was known of a directory that has lost its tmp/: it may be another one. It
// makes tmp/, but not the directory itself, which may be a place where a disk is mounted.
func (s *Store) renew() error {
	s.mu.Lock()
	clear(s.dirs)
	clear(s.durable)
	s.mu.Unlock()
	if err := s.layer.Mkdir(tmpDir); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// checkSize is what Check writes: more than a file system keeps in the entry of a file.
const checkSize = 64 << 10

// Check writes a file and drops it again: nil says that a blob can be kept now.
func (s *Store) Check(ctx context.Context) error {
	w, err := s.Create(ctx)
	if err != nil {
		return err
	}
	_, err = w.Write(make([]byte, checkSize))
	return errors.Join(err, w.Abort())
}

// writer is a blob that is being written.
type writer struct {
	store *Store
	name  string
	file  File
	size  int64
	err   error // the first failure; from then on nothing is taken
	done  bool
}

var errDone = errors.New("blob: committed or aborted already")

func (w *writer) Write(p []byte) (int, error) {
	if w.done {
		return 0, errDone
	}
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.file.Write(p)
	if err != nil {
		w.err = fmt.Errorf("blob write: %w", failed(err))
	}
	w.size += int64(n)
	return n, w.err
}

// Commit implements record.BlobWriter. Whatever fails, the temporary file is
// removed; a sync that failed is never tried again, because the kernel may have
// dropped the pages that it could not write.
func (w *writer) Commit(h record.Hash) (int64, error) {
	if w.done {
		return 0, errDone
	}
	if w.err != nil {
		return 0, errors.Join(w.err, w.Abort())
	}
	if err := w.file.Sync(); err != nil {
		return 0, errors.Join(fmt.Errorf("blob commit: sync: %w", failed(err)), w.Abort())
	}
	if err := w.file.Close(); err != nil {
		w.done = true
		return 0, errors.Join(fmt.Errorf("blob commit: close: %w", failed(err)), w.store.layer.Remove(w.name))
	}
	w.done = true
	if err := w.store.publish(w.name, h); err != nil {
		return 0, fmt.Errorf("blob commit: %w", failed(err))
	}
	return w.size, nil
}

// Abort implements record.BlobWriter.
func (w *writer) Abort() error {
	if w.done {
		return nil
	}
	w.done = true
	if err := errors.Join(w.file.Close(), w.store.layer.Remove(w.name)); err != nil {
		return fmt.Errorf("blob abort: %w", err)
	}
	return nil
}

// publish gives the synced file tmp its name and makes the name durable. A blob
// that is there already is replaced by its equal, which also mends a damaged one.
func (s *Store) publish(tmp string, h record.Hash) error {
	s.want(h)
	dir, file := fanOut(h)
	err := s.makeFanOut(dir)
	if err == nil {
		err = s.layer.Rename(tmp, file)
	}
	if errors.Is(err, fs.ErrNotExist) { // the directory for the hash's first byte is gone
		if err = s.renew(); err == nil {
			err = s.makeFanOut(dir)
		}
		if err == nil {
			err = s.layer.Rename(tmp, file)
		}
	}
	if err != nil {
		// Windows does not replace a file that somebody reads; its equal will do.
		gone := s.layer.Remove(tmp)
		if kept, openErr := s.open(h); openErr == nil {
			err = errors.Join(kept.Close(), gone)
		} else {
			err = errors.Join(err, gone)
		}
		if err != nil {
			return err
		}
	}
	return s.syncEntry(dir, h)
}

// makeFanOut makes a fan-out directory and makes its entry durable, once.
func (s *Store) makeFanOut(dir string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dirs[dir] {
		return nil
	}
	if err := s.layer.Mkdir(dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// Also when it was there: the process that made it may have died before this.
	if err := s.layer.SyncDir("."); err != nil {
		return err
	}
	s.dirs[dir] = true
	return nil
}

// syncEntry makes the name of h durable and remembers that it is.
func (s *Store) syncEntry(dir string, h record.Hash) error {
	if err := s.layer.SyncDir(dir); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.durable) >= maxDurable {
		clear(s.durable)
	}
	s.durable[h] = struct{}{}
	return nil
}

// Has implements record.Blobs. A name that another writer has just made may not
// be durable yet, so unless this store knows better it syncs the directory first.
func (s *Store) Has(ctx context.Context, h record.Hash) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	s.want(h)
	dir, file := fanOut(h)
	f, err := s.layer.Open(file)
	if missing(err) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("blob %s: %w", h, failed(err))
	}
	if err := f.Close(); err != nil {
		return false, fmt.Errorf("blob %s: %w", h, failed(err))
	}
	s.mu.Lock()
	_, known := s.durable[h]
	s.mu.Unlock()
	if known || s.readOnly {
		return true, nil
	}
	if err := s.makeFanOut(dir); err != nil {
		return false, fmt.Errorf("blob %s: %w", h, failed(err))
	}
	if err := s.syncEntry(dir, h); err != nil {
		return false, fmt.Errorf("blob %s: %w", h, failed(err))
	}
	return true, nil
}
