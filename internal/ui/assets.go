package ui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"
)

// versionOf hashes the names and contents of all files. It stands in their addresses, so that a
// file at an address never changes and clients keep it without asking again. One version for all:
// the modules import each other by their relative names.
func versionOf(files fs.FS) (string, error) {
	sum := sha256.New()
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		of := sha256.Sum256(content)
		_, _ = io.WriteString(sum, name+"\x00") // a hash takes everything
		_, _ = sum.Write(of[:])
		return nil
	})
	return hex.EncodeToString(sum.Sum(nil)[:8]), err
}

// compressed gives the files that shrink by it a sibling NAME.gz, which web's Static sends to
// clients that take gzip. It is made when it is first wanted and kept, about a third of the size
// of the file: compressing all at the start would delay it. It is safe for concurrent use.
type compressed struct {
	fs.FS
	mu   sync.Mutex
	made map[string][]byte
}

func (c *compressed) Open(name string) (fs.File, error) {
	of, ok := strings.CutSuffix(name, ".gz")
	if !ok {
		return c.FS.Open(name)
	}
	switch path.Ext(of) {
	case ".css", ".js", ".mjs", ".svg":
	default: // fonts are compressed already
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	b, err := c.gzip(of)
	if err != nil {
		return nil, err
	}
	return &file{Reader: bytes.NewReader(b), name: path.Base(name)}, nil
}

func (c *compressed) gzip(name string) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b := c.made[name]; b != nil {
		return b, nil
	}
	content, err := fs.ReadFile(c.FS, name)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	c.made[name] = b.Bytes()
	return b.Bytes(), nil
}

// file is an fs.File over bytes, and its own fs.FileInfo.
type file struct {
	*bytes.Reader
	name string
}

func (f *file) Stat() (fs.FileInfo, error) { return f, nil }
func (f *file) Close() error               { return nil }
func (f *file) Name() string               { return f.name }
func (f *file) Mode() fs.FileMode          { return 0o444 }
func (f *file) ModTime() time.Time         { return time.Time{} }
func (f *file) IsDir() bool                { return false }
func (f *file) Sys() any                   { return nil }
