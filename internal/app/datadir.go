package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Empty removes the documents, state and blobs of a data directory that no process has; what
// else lies there makes it refuse. The lock stays.
func Empty(dir string) (err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != lockFile && e.Name() != blobDir && !strings.HasPrefix(e.Name(), stateFile) {
			return fmt.Errorf("%s holds %s, which is no part of a data directory: %w", dir, e.Name(), ErrForeign)
		}
	}
	unlock, err := lock(filepath.Join(dir, lockFile))
	if err != nil {
		return fmt.Errorf("data directory %s: %w", dir, err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	for _, e := range entries {
		if e.Name() == lockFile {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// ErrForeign says that a directory holds what is not Quire's.
var ErrForeign = errors.New("remove it yourself, or name another directory by --data-dir")

// makeDir makes dir with the parents that it lacks, and makes their names durable: what was
// acknowledged in a directory that is new has to be found after a loss of power.
func makeDir(dir string) error {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return os.MkdirAll(dir, 0o700) // which says so when dir is a file
	}
	parent := filepath.Dir(dir)
	if err := makeDir(parent); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if runtime.GOOS == "windows" {
		return nil // a directory cannot be synced there; see package blob
	}
	d, err := os.Open(parent)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
