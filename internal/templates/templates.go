// Package templates finds the templates of each space in a directory.
//
// Templates of the space local are in the directory itself. Templates of any other space are in
// the subdirectory with its name. No space sees those of another. A template NAME is either the
// file NAME.yaml (or NAME.json), or template.yaml (or template.json) in the directory NAME. Files
// that it refers to, such as images, are read from the directory of its file and are part of its
// version. Other files there are not.
//
// Files are read on each call: an edited template is a new version at the next request. The
// version of a document is stored with the document. The files are compared with the version seen
// last, so that only changes are hashed and compiled. Every file is opened through the given
// fs.FS; the fs.FS of an os.Root refuses symbolic links that lead out of it.
package templates

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"example.com/quire/internal/record"
)

// Loader compiles the template main of fsys and reads the files that it names.
type Loader func(ctx context.Context, fsys fs.FS, name, main string) (*record.Template, error)

// MaxBytes bounds a template with its files.
const MaxBytes = 32 << 20

// Folder is the templates of all spaces. It is safe for concurrent use.
type Folder struct {
	fsys   fs.FS
	load   Loader
	spaces []record.Space // those with a directory of their own

	mu    sync.Mutex
	last  map[key]*record.Template // the version of each that was read last, as far as maxKept goes
	bytes int64                    // of their files
}

// maxKept bounds the files of the templates that are kept, in bytes.
const maxKept = 64 << 20

type key struct {
	space record.Space
	name  string
}

// New returns the templates of fsys: those of local, and those of the given spaces, each in the
// directory of its name. A directory that does not exist has no templates.
func New(fsys fs.FS, load Loader, spaces ...record.Space) *Folder {
	own := slices.DeleteFunc(slices.Clone(spaces), func(s record.Space) bool { return s == record.Local })
	return &Folder{fsys: fsys, load: load, spaces: own, last: map[key]*record.Template{}}
}

// of returns the files of a space; a space that New was not told of has none.
func (f *Folder) of(space record.Space) (fs.FS, error) {
	switch {
	case space == record.Local:
		return without{f.fsys, f.spaces}, nil
	case slices.Contains(f.spaces, space):
		return fs.Sub(f.fsys, string(space))
	}
	return without{}, nil
}

// without is a file system in which the directories of some spaces do not exist.
type without struct {
	fsys   fs.FS // nil: nothing exists
	spaces []record.Space
}

// Open opens a file unless it belongs to a hidden space.
func (w without) Open(name string) (fs.File, error) {
	top, _, _ := strings.Cut(name, "/")
	if w.fsys == nil || slices.Contains(w.spaces, record.Space(top)) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return w.fsys.Open(name)
}

// Template reads the current version of a template in a space. Errors are record.ErrNotFound,
// *record.RequestError for an invalid name, *record.LimitError, and those of the Loader.
func (f *Folder) Template(ctx context.Context, space record.Space, name string) (*record.Template, error) {
	if err := record.CheckName("template", name); err != nil {
		return nil, err
	}
	files, err := f.of(space)
	if err != nil {
		return nil, fmt.Errorf("template %s: %w", name, err)
	}
	dir, main, err := find(ctx, files, name)
	if err != nil {
		return nil, err
	}
	fsys, err := fs.Sub(files, dir)
	if err != nil {
		return nil, fmt.Errorf("template %s: %w", name, err)
	}
	f.mu.Lock()
	last := f.last[key{space, name}]
	f.mu.Unlock()
	t, err := again(fsys, main, last)
	if t == nil && err == nil {
		if info, err := fs.Stat(fsys, main); err == nil && info.Size() > MaxBytes {
			return nil, &record.LimitError{Name: "template bytes", Limit: MaxBytes, Got: info.Size()}
		}
		t, err = f.load(ctx, fsys, name, main)
	}
	if err != nil {
		return nil, err
	}
	if t != last {
		f.keep(key{space, name}, t)
	}
	return t, nil
}

// again reads the files of the version that was read last: if all are as they were, it is that
// version. What a template names depends on the text of its main file alone, so that another one is
// made without compiling while that stays the same. Without a version to compare with, or when a
// file is gone, it returns nil: compiling says where the file was named.
func again(fsys fs.FS, main string, last *record.Template) (*record.Template, error) {
	if last == nil || last.Main != main {
		return nil, nil //nolint:nilnil // not known, as documented
	}
	files, left, changed := make(map[string][]byte, len(last.Files)), int64(MaxBytes), false
	for file, was := range last.Files {
		b, err := read(fsys, file, left)
		if errors.Is(err, fs.ErrNotExist) || file == main && err == nil && !bytes.Equal(b, was) {
			return nil, nil //nolint:nilnil // as above
		}
		if err != nil {
			return nil, fmt.Errorf("template %s: %w", last.Name, err)
		}
		left -= int64(len(b))
		files[file], changed = b, changed || !bytes.Equal(b, was)
	}
	if !changed {
		return last, nil
	}
	return record.NewTemplate(last.Name, main, files)
}

// keep takes a version to compare with; others may have to go.
func (f *Folder) keep(at key, t *record.Template) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drop(at)
	f.last[at] = t
	f.bytes += size(t)
	for other := range f.last {
		if f.bytes <= maxKept {
			break
		}
		f.drop(other)
	}
}

func (f *Folder) drop(at key) {
	if t := f.last[at]; t != nil {
		f.bytes -= size(t)
		delete(f.last, at)
	}
}

// size counts the bytes of a template's files.
func size(t *record.Template) (n int64) {
	for _, b := range t.Files {
		n += int64(len(b))
	}
	return n
}

// find returns the directory and file of a template among the files of its space.
func find(ctx context.Context, fsys fs.FS, name string) (dir, main string, err error) {
	dir, main, err = lookUp(fsys, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		names, _ := list(ctx, fsys) // without them there is nothing to suggest
		return "", "", record.Missing("template", name, names)
	case err != nil:
		return "", "", fmt.Errorf("template %s: %w", name, err)
	}
	return dir, main, nil
}

// lookUp is find with the bare error, fs.ErrNotExist when there is no such template.
func lookUp(fsys fs.FS, name string) (dir, main string, err error) {
	for _, at := range []string{name + ".yaml", name + ".json", name + "/template.yaml", name + "/template.json"} {
		switch info, err := fs.Stat(fsys, at); {
		case err == nil && info.Mode().IsRegular():
			return path.Dir(at), path.Base(at), nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return "", "", err
		}
	}
	return "", "", fs.ErrNotExist
}

// Names lists the templates of a space, sorted.
func (f *Folder) Names(ctx context.Context, space record.Space) ([]string, error) {
	fsys, err := f.of(space)
	if err != nil {
		return nil, fmt.Errorf("templates: %w", err)
	}
	return list(ctx, fsys)
}

func list(ctx context.Context, fsys fs.FS) ([]string, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("templates: %w", err)
	}
	var names []string
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(strings.TrimSuffix(e.Name(), ".yaml"), ".json")
		if record.CheckName("template", name) != nil {
			continue
		}
		if _, _, err := lookUp(fsys, name); err == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func read(fsys fs.FS, name string, limit int64) ([]byte, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	b, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > limit {
		return nil, &record.LimitError{Name: "template bytes", Limit: MaxBytes}
	}
	return b, nil
}
