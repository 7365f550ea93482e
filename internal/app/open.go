package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"example.com/quire/internal/blob"
	"example.com/quire/internal/config"
	"example.com/quire/internal/record"
	"example.com/quire/internal/render"
	"example.com/quire/internal/store"
)

// ErrInUse says that another process has the data directory.
var ErrInUse = errors.New("in use by another process; stop it, or name another directory by --data-dir")

// ErrAddressInUse says that another program listens where this one should.
var ErrAddressInUse = errors.New("another program listens there; stop it, or name another address by --listen")

// Desk renders and keeps nothing: what commands without state work at.
type Desk struct {
	Maker  *record.Maker
	Engine string // names what decides the bytes besides template and data

	renderer *render.Renderer
}

// NewDesk returns a Desk.
func NewDesk(now func() time.Time) (*Desk, error) {
	renderer, err := render.New(render.Config{})
	if err != nil {
		return nil, err
	}
	m, err := record.NewMaker(record.Parts{Renderer: renderer, Now: now})
	if err != nil {
		return nil, err
	}
	return &Desk{Maker: m, Engine: renderer.Engine(), renderer: renderer}, nil
}

// Load reads a template that lies at a path of the operating system's: the file itself, or
// template.yaml of a folder. What it names is read from the same folder and from nowhere else.
func (d *Desk) Load(ctx context.Context, file string) (*record.Template, error) {
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		file = filepath.Join(file, "template.yaml")
	}
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	main := filepath.Base(file)
	name := strings.TrimSuffix(main, filepath.Ext(main))
	if name == "template" {
		if abs, err := filepath.Abs(file); err == nil {
			name = filepath.Base(filepath.Dir(abs))
		}
	}
	return d.renderer.Load(ctx, root.FS(), templateName(name), main)
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

// Archive reads the state beside a server that may be running.
type Archive struct {
	Maker   *record.Maker
	Library *store.Store

	blobs *blob.Store
}

// ErrNoData says that the data directory holds no state.
var ErrNoData = errors.New("holds no documents; name the server's directory by --data-dir")

// OpenArchive opens the state below dir to read from it.
func OpenArchive(ctx context.Context, dir string, now func() time.Time) (*Archive, error) {
	state := filepath.Join(dir, stateFile)
	if _, err := os.Stat(state); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("data directory %s: %w", dir, ErrNoData)
	}
	library, err := store.Open(ctx, store.Config{File: state, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	blobs, err := blob.Open(blob.Config{Dir: filepath.Join(dir, blobDir), ReadOnly: true})
	if err != nil {
		return nil, errors.Join(err, library.Close())
	}
	renderer, err := render.New(render.Config{})
	if err != nil {
		return nil, errors.Join(err, blobs.Close(), library.Close())
	}
	m, err := record.NewMaker(record.Parts{Renderer: renderer, Blobs: blobs, Documents: library, Now: now})
	if err != nil {
		return nil, errors.Join(err, blobs.Close(), library.Close())
	}
	return &Archive{Maker: m, Library: library, blobs: blobs}, nil
}

// Close gives back what OpenArchive opened.
func (a *Archive) Close() error { return errors.Join(a.blobs.Close(), a.Library.Close()) }

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
