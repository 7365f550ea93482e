package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
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
		if !slices.Contains([]string{lockFile, addressFile, controlFile, blobDir}, e.Name()) && !strings.HasPrefix(e.Name(), stateFile) {
			return fmt.Errorf("%s contains %s, which is not part of a data directory: %w", dir, e.Name(), ErrForeign)
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

// Announce notes where this server is reached, for other commands on this machine, and opens the
// socket by which they control it. Close takes both back. Without a socket the server runs on, and
// says so.
func (a *App) Announce(url string) error {
	file := filepath.Join(a.cfg.Data, addressFile)
	if err := os.WriteFile(file, []byte(url+"\n"), 0o600); err != nil {
		return err
	}
	a.onClose(func(context.Context) error { return os.Remove(file) })
	if err := a.openControl(); err != nil {
		a.log.Warn("no control socket: `quire cache` cannot reach this server", slog.Any("error", err))
	}
	return nil
}

// Running returns the address of a server that uses a data directory, "" if none responds there. A
// server that was killed leaves its address file behind.
func Running(ctx context.Context, dir string) string {
	note, err := os.ReadFile(filepath.Join(dir, addressFile))
	if err != nil {
		return ""
	}
	url := strings.TrimSpace(string(note))
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/livez", http.NoBody)
	if err != nil {
		return ""
	}
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return ""
	}
	if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusOK {
		return ""
	}
	return url
}

// ErrForeign says that a directory has files that are not Quire's.
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
