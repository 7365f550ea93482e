package blob

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"example.com/quire/internal/record"
)

// Layer has the file system calls of the store: few enough that a test can record them, replay
// every prefix of them as a crash would leave it, and make each of them fail. Names are
// slash-separated and relative to the store's directory, "." being that directory.
type Layer interface {
	Create(name string) (File, error) // a new file; fs.ErrExist when it is there
	Open(name string) (File, error)   // to read
	Rename(from, to string) error     // replaces to
	Remove(name string) error
	Mkdir(name string) error // one level; fs.ErrExist when it is there
	SyncDir(name string) error
	List(name string) ([]string, error)
	ModTime(name string) (time.Time, error)
	Close() error
}

// File is an open file of a [Layer].
type File interface {
	io.Writer
	io.ReaderAt
	io.Closer
	Sync() error
	Size() (int64, error)
}

// openDir returns the layer of a real directory, which an os.Root holds: no
// name can lead out of it, whatever links stand inside.
func openDir(dir string, readOnly bool) (Layer, error) {
	if dir == "" {
		return nil, errors.New("no directory given")
	}
	if !readOnly {
		if err := makeDir(dir); err != nil {
			return nil, err
		}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	l := &rootLayer{dir: dir}
	if _, err := l.current(); err != nil {
		return nil, err
	}
	return l, nil
}

// makeDir makes dir and the parents that it lacks, and makes their entries
// durable.
func makeDir(dir string) error {
	if info, err := os.Stat(dir); err == nil {
		if !info.IsDir() {
			return fmt.Errorf("%s: not a directory", dir)
		}
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := makeDir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	d, err := os.Open(parent)
	if err != nil {
		return err
	}
	return errors.Join(syncDir(d), d.Close())
}

// rootLayer is the directory that stands at dir: an os.Root stays with the one that it opened,
// also when that was deleted or a file system was mounted over it.
type rootLayer struct {
	dir string // absolute

	mu   sync.RWMutex
	root *os.Root
	info os.FileInfo // of root
}

// do calls f, and again when the directory turns out to be another one now. Without a directory
// the error is record.ErrUnavailable: nothing is known of what it had.
func (l *rootLayer) do(f func(*os.Root) error) error {
	l.mu.RLock()
	root := l.root
	l.mu.RUnlock()
	err := f(root)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, os.ErrClosed) {
		now, gone := l.current()
		switch {
		case gone != nil:
			return failed(gone)
		case now != root:
			return f(now)
		}
	}
	return err
}

// current returns the directory that stands at dir now.
func (l *rootLayer) current() (*os.Root, error) {
	there, err := os.Stat(l.dir)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.root != nil && os.SameFile(there, l.info) {
		return l.root, nil
	}
	root, err := os.OpenRoot(l.dir)
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(".")
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	if l.root != nil {
		_ = l.root.Close() // of a directory that is gone
	}
	l.root, l.info = root, info
	return root, nil
}

func (l *rootLayer) file(open func(*os.Root) (*os.File, error)) (File, error) {
	var f *os.File
	err := l.do(func(r *os.Root) (err error) { f, err = open(r); return err })
	if err != nil {
		return nil, err
	}
	return rootFile{f}, nil
}

// Create creates a file in the directory that is at dir now: a file written to a directory that was
// moved away would not be found again.
func (l *rootLayer) Create(name string) (File, error) {
	if _, err := l.current(); err != nil {
		return nil, err
	}
	return l.file(func(r *os.Root) (*os.File, error) { return r.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) })
}

func (l *rootLayer) Open(name string) (File, error) {
	return l.file(func(r *os.Root) (*os.File, error) { return r.Open(name) })
}

func (l *rootLayer) Rename(from, to string) error {
	return l.do(func(r *os.Root) error { return r.Rename(from, to) })
}

func (l *rootLayer) Remove(name string) error {
	return l.do(func(r *os.Root) error { return r.Remove(name) })
}

func (l *rootLayer) Mkdir(name string) error {
	return l.do(func(r *os.Root) error { return r.Mkdir(name, 0o700) })
}

func (l *rootLayer) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.root.Close()
}

func (l *rootLayer) SyncDir(name string) error {
	return l.do(func(r *os.Root) error {
		d, err := r.Open(name)
		if err != nil {
			return err
		}
		return errors.Join(syncDir(d), d.Close())
	})
}

func (l *rootLayer) List(name string) (names []string, err error) {
	err = l.do(func(r *os.Root) error {
		d, err := r.Open(name)
		if err != nil {
			return err
		}
		names, err = d.Readdirnames(-1)
		return errors.Join(err, d.Close())
	})
	return names, err
}

func (l *rootLayer) ModTime(name string) (at time.Time, err error) {
	err = l.do(func(r *os.Root) error {
		info, err := r.Stat(name)
		if err == nil {
			at = info.ModTime()
		}
		return err
	})
	return at, err
}

// syncDir makes the entries of an open directory durable. Windows cannot sync a
// directory that is open to read; there NTFS writes a rename to its journal
// itself, and what a loss of power can take is the newest names, not the files.
func syncDir(d *os.File) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	return d.Sync()
}

type rootFile struct{ *os.File }

func (f rootFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// failed makes an error of the file system one that is record.ErrNoSpace too, where a disk or a
// quota is full, or else record.ErrUnavailable.
func failed(err error) error {
	switch {
	case err == nil || errors.Is(err, record.ErrDamaged) || errors.Is(err, record.ErrUnavailable):
		return err
	case isFull(err):
		return fmt.Errorf("%w: %w", record.ErrNoSpace, err)
	}
	return fmt.Errorf("%w: %w", record.ErrUnavailable, err)
}

// missing reports whether a name is not in the directory, which itself is there.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) && !errors.Is(err, record.ErrUnavailable)
}
