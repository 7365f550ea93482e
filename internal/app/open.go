package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"example.com/quire/internal/blob"
	"example.com/quire/internal/config"
	"example.com/quire/internal/record"
	"example.com/quire/internal/render"
	"example.com/quire/internal/store"
	"example.com/quire/pdf/sign"
)

// ErrInUse says that another process has the data directory.
var ErrInUse = errors.New("in use by another process; stop it, or name another directory by --data-dir")

// ErrAddressInUse says that another program listens where this one should.
var ErrAddressInUse = errors.New("another program listens on this address; stop it, or name another address by --listen")

// Preview renders and keeps nothing, for commands without state.
type Preview struct {
	*record.Renderer
	Engine string // names what decides the bytes besides template and data

	engine *render.Renderer
}

// NewPreview returns a Preview. c returns the configuration whose signers may sign, those of the
// space local; it is called for templates that ask for a signature. nil: there are none.
func NewPreview(c func() (*config.Config, error)) (*Preview, error) {
	var of func(record.Space) (map[string]*sign.Identity, error)
	if c != nil {
		of = func(space record.Space) (map[string]*sign.Identity, error) {
			cfg, err := c()
			if err != nil {
				return nil, err
			}
			all, err := signersOf(cfg, nil)
			return all[space], err
		}
	}
	engine, err := render.New(render.Config{Signers: of})
	if err != nil {
		return nil, err
	}
	return &Preview{Renderer: record.NewRenderer(engine), Engine: engine.Version(), engine: engine}, nil
}

// Check finds the problems of a template that do not depend on data: *record.TemplateError lists
// all of them. Without problems it returns warnings.
func (p *Preview) Check(ctx context.Context, t *record.Template) ([]record.Problem, error) {
	return p.engine.Check(ctx, t)
}

// Load reads a template that lies at a path of the operating system's: the file itself, or
// template.yaml of a folder. What it names is read from FolderOf and from nowhere else.
func (p *Preview) Load(ctx context.Context, file string) (*record.Template, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err // which names the path; an error of the engine has the name in the folder alone
	}
	root, err := os.OpenRoot(cmp.Or(FolderOf(file), "."))
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	if info.IsDir() {
		file = filepath.Join(file, "template.yaml")
	}
	main := filepath.Base(file)
	name := strings.TrimSuffix(main, filepath.Ext(main))
	if name == "template" {
		if abs, err := filepath.Abs(file); err == nil {
			name = filepath.Base(filepath.Dir(abs))
		}
	}
	return p.engine.Load(ctx, named{root.FS(), main, file}, templateName(name), main)
}

// FolderOf returns the folder with the files that a template names: the template itself where it is
// a folder, that of the file, and for a pipe the current one, "".
func FolderOf(template string) string {
	info, err := os.Stat(template)
	switch {
	case err == nil && info.IsDir():
		return template
	case err == nil && !info.Mode().IsRegular(), strings.HasPrefix(template, "/dev/"):
		return ""
	}
	return filepath.Dir(template)
}

// named is a folder with a file that the user named: it may be a link or a pipe, others may not
// lead out of the folder.
type named struct {
	fs.FS
	main, path string
}

// Open implements fs.FS.
func (n named) Open(name string) (fs.File, error) {
	if name == n.main {
		return os.Open(n.path)
	}
	return n.FS.Open(name)
}

// CheckTemplates checks every template of a configuration's spaces as the server would read it, and
// returns their number. The error has all problems, each with its template.
func (p *Preview) CheckTemplates(ctx context.Context, c *config.Config) (n int, wrong error) {
	folder, done, err := folderOf(Options{Config: c}, p.engine.Load)
	if err != nil {
		return 0, err
	}
	spaces := append(spacesOf(c), record.Local)
	slices.Sort(spaces)
	for _, space := range slices.Compact(spaces) {
		names, err := folder.Names(ctx, space)
		wrong = errors.Join(wrong, err)
		for _, name := range names {
			t, err := folder.Template(ctx, space, name)
			if err == nil {
				_, err = p.Check(ctx, t)
			}
			if err != nil {
				wrong = errors.Join(wrong, fmt.Errorf("%s: %w", filepath.Join(templatesOf(c, string(space)), name), err))
			}
		}
		n += len(names)
	}
	return n, errors.Join(wrong, done())
}

// templateName makes a file's name one that a template can have.
func templateName(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		default:
			return '-'
		}
	}, s)
	s = strings.TrimLeft(s, "._-")
	if s == "" {
		return "template"
	}
	return s[:min(len(s), 64)]
}

// Archive opens the documents of a data directory, next to a server that may be running.
type Archive struct {
	*record.Archive
	Library *store.Store

	close []func() error // in reverse order
}

// ErrNoData says that the data directory has no state.
var ErrNoData = errors.New("has no documents; name the server's directory by --data-dir")

// OpenArchive opens the state below dir to read from it. To restore damaged files it takes the lock
// of a server, so no other process may have the directory then: ErrInUse.
func OpenArchive(ctx context.Context, dir string, restore bool) (*Archive, error) {
	state := filepath.Join(dir, stateFile)
	if _, err := os.Stat(state); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("data directory %s: %w", dir, ErrNoData)
	}
	a := &Archive{}
	if err := a.open(ctx, dir, restore); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

func (a *Archive) open(ctx context.Context, dir string, restore bool) error {
	if restore {
		unlock, err := lock(filepath.Join(dir, lockFile))
		if err != nil {
			return fmt.Errorf("data directory %s: %w", dir, err)
		}
		a.close = append(a.close, unlock)
	}
	var err error
	if a.Library, err = store.Open(ctx, store.Config{File: filepath.Join(dir, stateFile), ReadOnly: !restore}); err != nil {
		return err
	}
	a.close = append(a.close, a.Library.Close)
	blobs, err := blob.Open(blob.Config{Dir: filepath.Join(dir, blobDir), ReadOnly: !restore})
	if err != nil {
		return err
	}
	a.close = append(a.close, blobs.Close)
	engine, err := render.New(render.Config{})
	if err != nil {
		return err
	}
	a.Archive = record.NewArchive(engine, blobs, a.Library)
	return nil
}

// Close gives back what OpenArchive opened.
func (a *Archive) Close() error {
	var errs []error
	for _, f := range slices.Backward(a.close) {
		errs = append(errs, f())
	}
	a.close = nil
	return errors.Join(errs...)
}

// Listen opens the address of the configuration. With next, a port that is taken makes way for
// the one after it, up to 20 times.
func Listen(ctx context.Context, c *config.Config, next bool) (net.Listener, error) {
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return nil, err
	}
	first, err := strconv.Atoi(port)
	if err != nil {
		return nil, err
	}
	tries := 1
	if next && first != 0 {
		tries = 20
	}
	var lc net.ListenConfig
	for i := range min(tries, 1<<16-first) {
		ln, lerr := lc.Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(first+i)))
		if lerr == nil {
			return ln, nil
		}
		err = lerr
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("listen on %s: %w", c.Listen, ErrAddressInUse)
	}
	return nil, err
}
