// Package templates finds templates in folders.
//
// A template NAME is either the file NAME.yaml (or NAME.json), alone, or the folder NAME with
// template.yaml (or template.json) and the assets beside it. Names never leave the folder:
// every file is opened through the os.Root or fs.FS given, so a symbolic link that points out
// of an os.Root is refused by the operating system's own rules.
//
// Files are read afresh on each call: an edited template is a new version at the next request,
// and a document's own version is kept with the document.
package templates

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"example.com/quire/internal/record"
)

// Limits of one template with its assets.
const (
	MaxFiles = 256
	MaxBytes = 32 << 20
)

// Folder is the templates of one folder. It is safe for concurrent use.
type Folder struct{ fsys fs.FS }

// New returns the templates of fsys. A folder that does not exist has none.
func New(fsys fs.FS) *Folder { return &Folder{fsys: fsys} }

var mainNames = []string{"template.yaml", "template.json"}

// Template reads the current version, or returns record.ErrNotFound. All spaces see the same
// templates.
func (f *Folder) Template(ctx context.Context, _ record.Space, name string) (*record.Template, error) {
	if err := record.CheckName("template", name); err != nil {
		return nil, err
	}
	for _, ext := range []string{".yaml", ".json"} {
		file := name + ext
		b, err := f.read(file, MaxBytes)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("template %s: %w", name, err)
		}
		return record.NewTemplate(name, file, map[string][]byte{file: b})
	}
	files, err := f.folder(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("template %s: %w", name, record.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("template %s: %w", name, err)
	}
	for _, main := range mainNames {
		if _, ok := files[main]; ok {
			return record.NewTemplate(name, main, files)
		}
	}
	return nil, fmt.Errorf("template %s: no %s in its folder: %w", name, mainNames[0], record.ErrNotFound)
}

// Names lists the templates there are, sorted.
func (f *Folder) Names(ctx context.Context) ([]string, error) {
	entries, err := fs.ReadDir(f.fsys, ".")
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
		name := e.Name()
		if e.IsDir() {
			if !slices.ContainsFunc(mainNames, func(m string) bool {
				_, err := fs.Stat(f.fsys, path.Join(name, m))
				return err == nil
			}) {
				continue
			}
		} else if ext := path.Ext(name); ext == ".yaml" || ext == ".json" {
			name = strings.TrimSuffix(name, ext)
		} else {
			continue
		}
		if record.CheckName("template", name) == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// folder reads every regular file below dir that is not hidden.
func (f *Folder) folder(ctx context.Context, dir string) (map[string][]byte, error) {
	files := map[string][]byte{}
	total := int64(0)
	err := fs.WalkDir(f.fsys, dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if p != dir && strings.HasPrefix(e.Name(), ".") {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !e.Type().IsRegular() {
			return nil
		}
		if len(files) == MaxFiles {
			return &record.LimitError{Name: "template files", Limit: MaxFiles}
		}
		b, err := f.read(p, MaxBytes-total)
		if err != nil {
			return err
		}
		total += int64(len(b))
		if dir != "." {
			p = strings.TrimPrefix(p, dir+"/")
		}
		files[p] = b
		return nil
	})
	return files, err
}

func (f *Folder) read(name string, limit int64) ([]byte, error) {
	file, err := f.fsys.Open(name)
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
