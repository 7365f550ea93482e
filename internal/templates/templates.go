// Package templates finds the templates of each space in a directory.
//
// Those of the space local stand in the directory itself, those of any other space in the
// directory of its name, and no space sees another's. A template NAME is either the file NAME.yaml (or NAME.json), or template.yaml (or
// template.json) in the folder NAME. What it names, such as images, is read from the folder
// that its file is in, and belongs to its version; what else lies there does not.
//
// Files are read afresh on each call: an edited template is a new version at the next request,
// and a document's own version is kept with the document. Every file is opened through the
// fs.FS given; that of an os.Root refuses symbolic links that lead out of it.
package templates

import (
	"context"
	"crypto/sha256"
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
	named map[key]named
}

type key struct {
	space record.Space
	name  string
}

// named is what the main file of a template names. It depends on the file's text alone, so it
// is known without compiling while that stays the same.
type named struct {
	main  string
	text  [sha256.Size]byte
	files []string
}

// New returns the templates of fsys: those of local, and those of the spaces given, each in the
// directory of its name. What does not exist has no templates.
func New(fsys fs.FS, load Loader, spaces ...record.Space) *Folder {
	own := slices.DeleteFunc(slices.Clone(spaces), func(s record.Space) bool { return s == record.Local })
	return &Folder{fsys: fsys, load: load, spaces: own, named: map[key]named{}}
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

// Open opens what is of no hidden space.
func (w without) Open(name string) (fs.File, error) {
	top, _, _ := strings.Cut(name, "/")
	if w.fsys == nil || slices.Contains(w.spaces, record.Space(top)) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return w.fsys.Open(name)
}

// Template reads the current version that a space has. Errors are record.ErrNotFound,
// *record.RequestError for what is no name, *record.LimitError, and those of the Loader.
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
	src, err := read(fsys, main, MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("template %s: %w", name, err)
	}
	at, text := key{space, name}, sha256.Sum256(src)
	f.mu.Lock()
	known := f.named[at]
	f.mu.Unlock()
	if known.main == main && known.text == text {
		if t, err := gather(fsys, name, known, src); !errors.Is(err, fs.ErrNotExist) {
			return t, err
		}
		// A file is gone: compiling says where it was named.
	}
	t, err := f.load(ctx, fsys, name, main)
	if err != nil {
		return nil, err
	}
	known = named{main: main, text: sha256.Sum256(t.Files[main])}
	for file := range t.Files {
		if file != main {
			known.files = append(known.files, file)
		}
	}
	f.mu.Lock()
	f.named[at] = known
	f.mu.Unlock()
	return t, nil
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

// gather reads the files that a template is known to name.
func gather(fsys fs.FS, name string, known named, src []byte) (*record.Template, error) {
	files := map[string][]byte{known.main: src}
	left := int64(MaxBytes - len(src))
	for _, file := range known.files {
		b, err := read(fsys, file, left)
		if err != nil {
			return nil, fmt.Errorf("template %s: %w", name, err)
		}
		left -= int64(len(b))
		files[file] = b
	}
	return record.NewTemplate(name, known.main, files)
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
