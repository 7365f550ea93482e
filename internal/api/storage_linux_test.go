package api_test

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/quire/internal/disktest"
)

// A real disk that is full, whichever part of the state fills it. Where mounting is not allowed,
// TestStorageFails has the same errors from a layer that makes them.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	disk := disktest.Small(t, 2<<20)
	dir := filepath.Join(disk, "data")
	h := openAt(t, dir)
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 512<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	var kept []made
	refused := 0
	for number := 0; refused < 5; number++ {
		if number > 2000 {
			t.Fatal("the disk does not fill up")
		}
		r := h.Post("/v1/documents", "application/json", note(fmt.Sprint("full-", number)))
		if r.Status == http.StatusCreated {
			kept = append(kept, made{r.Header.Get("Quire-Document"), trimTag(r), r.Body})
			continue
		}
		wantProblem(t, r, http.StatusInsufficientStorage, "storage-full")
		refused++
	}
	if len(kept) == 0 {
		t.Fatal("nothing was made before the disk was full")
	}
	whole(t, h.Client, dir, kept)
	h.Post("/v1/render", "application/json", note("full")).Want(http.StatusOK)
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	for number := range 3 {
		kept = append(kept, makeNew(t, h.Client, note(fmt.Sprint("space again ", number))))
	}
	whole(t, h.Client, dir, kept)
}

// A data directory that may no longer be written to: requests fail, nothing stays, and the same
// process works again when it may.
func TestUnwritableDirectory(t *testing.T) {
	t.Parallel()
	h := open(t)
	kept := []made{makeNew(t, h.Client, note("before"))}
	blobs := filepath.Join(h.dir, "blobs")
	chmod := func(mode fs.FileMode) {
		t.Helper()
		for _, dir := range []string{".", "tmp", kept[0].content[:2]} {
			if err := os.Chmod(filepath.Join(blobs, dir), mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	chmod(0o555)
	disktest.AsNobody(t, func() {
		for number := range 3 {
			r := h.Post("/v1/documents", "application/json", note(fmt.Sprint("new-", number)))
			if r.Status != http.StatusServiceUnavailable || r.Header.Get("Retry-After") == "" || !strings.Contains(string(r.Body), "urn:quire:problem:storage\"") {
				t.Errorf("status %d, %v\n%s", r.Status, r.Header, r.Body)
			}
		}
	})
	chmod(0o700)
	whole(t, h.Client, h.dir, kept)
	kept = append(kept, makeNew(t, h.Client, note("after")))
	whole(t, h.Client, h.dir, kept)
}
