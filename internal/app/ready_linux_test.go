package app_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"example.com/quire/internal/config"
	"example.com/quire/internal/disktest"
)

func TestNotReadyWhileTheDiskIsFull(t *testing.T) {
	c := configure(t, func(c *config.Config) { c.Data = disktest.Small(t, 4<<20) })
	a := open(t, c)
	s := serve(t, a, c)
	readiness(t, s.url, http.StatusOK)
	ballast := filepath.Join(c.Data, "ballast")
	_ = os.WriteFile(ballast, make([]byte, 4<<20), 0o600) // it fails when the disk is full
	readiness(t, s.url, http.StatusServiceUnavailable)
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	readiness(t, s.url, http.StatusOK)
	s.stop()
	if err := <-s.done; err != nil {
		t.Error(err)
	}
}
