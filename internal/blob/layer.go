package blob

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"example.com/quire/internal/record"
)

// Layer is what the store does with the file system: few enough calls that a
// test can record them, replay every prefix of them as a crash would leave it,
// and make each of them fail. Names are slash-separated and relative to the
// store's directory, "." being that directory itself.
type Layer interface {
	Create(name string) (File, error) // a new file; fs.ErrExist when it is there
	Open(name string) (File, error)   // to read
	Rename(from, to string) error     // replaces to
	Remove(name string) error
	Mkdir(name string) error // one level; fs.ErrExist when it is there
	SyncDir(name string) error
	List(name string) ([]string, error)
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
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return rootLayer{root}, nil
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

type rootLayer struct{ root *os.Root }

func (l rootLayer) Create(name string) (File, error) {
	f, err := l.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return rootFile{f}, nil
}

func (l rootLayer) Open(name string) (File, error) {
	f, err := l.root.Open(name)
	if err != nil {
		return nil, err
	}
	return rootFile{f}, nil
}

func (l rootLayer) Rename(from, to string) error { return l.root.Rename(from, to) }
func (l rootLayer) Remove(name string) error     { return l.root.Remove(name) }
func (l rootLayer) Mkdir(name string) error      { return l.root.Mkdir(name, 0o700) }
func (l rootLayer) Close() error                 { return l.root.Close() }

func (l rootLayer) SyncDir(name string) error {
	d, err := l.root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(syncDir(d), d.Close())
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

func (l rootLayer) List(name string) ([]string, error) {
	d, err := l.root.Open(name)
	if err != nil {
		return nil, err
	}
	names, err := d.Readdirnames(-1)
	return names, errors.Join(err, d.Close())
}

type rootFile struct{ *os.File }

func (f rootFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// full makes an error of a full disk or quota one that is record.ErrNoSpace too.
func full(err error) error {
	if err != nil && isFull(err) {
		return fmt.Errorf("%w: %w", record.ErrNoSpace, err)
	}
	return err
}
