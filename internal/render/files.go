package render

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// files is a file system of what a template brings, and of nothing else.
type files map[string][]byte

// Open implements fs.FS.
func (f files) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	b, ok := f[name]
	if !ok {
		entries, err := f.ReadDir(name)
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return &dir{info: info{name: path.Base(name), dir: true}, rest: entries}, nil
	}
	return &file{Reader: bytes.NewReader(b), info: info{name: path.Base(name), size: int64(len(b))}}, nil
}

// ReadDir implements fs.ReadDirFS: the engine names near files when one is missing.
func (f files) ReadDir(name string) ([]fs.DirEntry, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrInvalid}
	}
	found := map[string]info{}
	for file, b := range f {
		rest := file
		if name != "." {
			var ok bool
			if rest, ok = strings.CutPrefix(file, name+"/"); !ok {
				continue
			}
		}
		first, _, deeper := strings.Cut(rest, "/")
		if deeper {
			found[first] = info{name: first, dir: true}
		} else {
			found[first] = info{name: first, size: int64(len(b))}
		}
	}
	if len(found) == 0 && name != "." {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	entries := make([]fs.DirEntry, 0, len(found))
	for _, i := range found {
		entries = append(entries, fs.FileInfoToDirEntry(i))
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// dir is an open directory.
type dir struct {
	info info
	rest []fs.DirEntry
}

// Stat implements fs.File.
func (d *dir) Stat() (fs.FileInfo, error) { return d.info, nil }

// Read implements fs.File.
func (d *dir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.info.name, Err: fs.ErrInvalid}
}

// Close implements fs.File.
func (d *dir) Close() error { return nil }

// ReadDir implements fs.ReadDirFile.
func (d *dir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 || n > len(d.rest) {
		if n > 0 && len(d.rest) == 0 {
			return nil, io.EOF
		}
		n = len(d.rest)
	}
	out := d.rest[:n]
	d.rest = d.rest[n:]
	return out, nil
}

type file struct {
	*bytes.Reader
	info info
}

// Stat implements fs.File.
func (f *file) Stat() (fs.FileInfo, error) { return f.info, nil }

// Close implements fs.File.
func (f *file) Close() error { return nil }

type info struct {
	name string
	size int64
	dir  bool
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) IsDir() bool        { return i.dir }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) Sys() any           { return nil }
func (i info) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o500
	}
	return 0o400
}
