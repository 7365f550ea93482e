package app_test

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/quire/internal/app"
)

// readiness waits until /readyz answers with a status: what the checks said is held for a second.
func readiness(t *testing.T, url string, want int) {
	t.Helper()
	for range 40 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/readyz", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		tr := &http.Transport{DisableKeepAlives: true}
		res, err := (&http.Client{Transport: tr}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if err := res.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if res.StatusCode == want {
			return
		}
		pause(t, 250*time.Millisecond)
	}
	t.Errorf("/readyz does not answer %d", want)
}

func running(t *testing.T) (a *app.App, s *server, data string) {
	t.Helper()
	c := configure(t, nil)
	a = open(t, c)
	s = serve(t, a, c)
	stop := s.stop
	s.stop = sync.OnceFunc(func() {
		stop()
		if err := <-s.done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(s.stop)
	readiness(t, s.url, http.StatusOK)
	return a, s, c.Data
}

func TestNotReadyWithoutBlobsAndReadyWhenTheyAreBack(t *testing.T) {
	t.Parallel()
	a, s, data := running(t)
	c := client(t, a)
	c.Post("/v1/documents", "application/json", hello).Want(http.StatusCreated)
	blobs := filepath.Join(data, "blobs")
	if err := os.Rename(blobs, blobs+"-away"); err != nil {
		t.Skipf("an open directory cannot be moved here: %v", err)
	}
	readiness(t, s.url, http.StatusServiceUnavailable)
	r := c.Post("/v1/documents", "application/json", strings.Replace(hello, "world", "nobody", 1)).Want(http.StatusServiceUnavailable)
	if r.Header.Get("Retry-After") == "" || !strings.Contains(string(r.Body), "urn:quire:problem:storage\"") {
		t.Errorf("%v\n%s", r.Header, r.Body)
	}
	if _, err := os.Stat(blobs); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory was made: %v", err)
	}
	if err := os.Rename(blobs+"-away", blobs); err != nil {
		t.Fatal(err)
	}
	c.Post("/v1/documents", "application/json", strings.Replace(hello, "world", "again", 1)).Want(http.StatusCreated)
	readiness(t, s.url, http.StatusOK)
}

// A database that another process holds is told as 503, and what was written for the document
// that could not be saved is collected.
func TestLockedDatabase(t *testing.T) {
	t.Parallel()
	a, s, data := running(t)
	c := client(t, a)
	c.Post("/v1/documents", "application/json", hello).Want(http.StatusCreated)
	kept := blobsOf(t, data)
	db, err := sql.Open("sqlite", filepath.Join(data, "state.db")) // the driver that package store links
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // it was only read
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(hello, "world", "other", 1)
	r := c.Post("/v1/documents", "application/json", other).Want(http.StatusServiceUnavailable)
	if r.Header.Get("Retry-After") == "" || !strings.Contains(string(r.Body), "urn:quire:problem:storage-busy") {
		t.Errorf("%v\n%s", r.Header, r.Body)
	}
	readiness(t, s.url, http.StatusServiceUnavailable)
	orphans := len(blobsOf(t, data)) - len(kept)
	if orphans == 0 {
		t.Error("nothing was written before the save: the test shows nothing")
	}
	if _, err := conn.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	readiness(t, s.url, http.StatusOK)
	s.stop() // and with it the collection that waits for its time
	if n, err := a.CollectOrphans(t.Context(), 0, time.Now().Add(-time.Hour)); n != 0 || err != nil {
		t.Errorf("young ones: %d removed, %v", n, err)
	}
	if n, err := a.CollectOrphans(t.Context(), 0, time.Now().Add(time.Hour)); n != orphans || err != nil {
		t.Errorf("%d removed, %v; want %d", n, err, orphans)
	}
	if left := blobsOf(t, data); len(left) != len(kept) {
		t.Errorf("left %q, want %q", left, kept)
	}
	c.Post("/v1/documents", "application/json", hello).Want(http.StatusOK)
	c.Post("/v1/documents", "application/json", other).Want(http.StatusCreated)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.CollectOrphans(ctx, time.Hour, time.Now()); !errors.Is(err, context.Canceled) {
		t.Errorf("collection with an ended context: %v", err)
	}
}

func blobsOf(t *testing.T, data string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(data, "blobs", "??", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}
