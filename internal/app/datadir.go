package app

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

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
