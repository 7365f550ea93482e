package cache_test

import (
	"errors"
	"fmt"
	"testing"

	"example.com/quire/cache"
	"example.com/quire/cache/cachetest"
)

func TestHubIsARemote(t *testing.T) {
	cachetest.RunRemote(t, func(*testing.T) cachetest.Shared { return cache.NewHub() })
}

// TestCachesShareAHub is what cacheredis.TestCachesShareAServer asks of servers.
func TestCachesShareAHub(t *testing.T) {
	for _, mode := range []cache.SyncMode{cache.Invalidate, cache.Push, cache.Tracked} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			h := cache.NewHub()
			cachetest.RunCaches(t, "", mode, func(*testing.T) cachetest.Shared { return h })
		})
	}
}

func TestHubThatIsDownCutsItsLinks(t *testing.T) {
	h := cache.NewHub()
	link := cachetest.Link(t, h, "n")
	h.SetDown(true)
	link.WaitDown(t)
	if _, err := h.Fetch(t.Context(), "n", []string{"k"}, false); !errors.Is(err, cache.ErrUnavailable) {
		t.Errorf("fetch: %v", err)
	}
	h.SetDown(false)
	epoch := link.WaitUp(t)
	h.Reset()
	h.SetDown(true)
	link.WaitDown(t)
	h.SetDown(false)
	if link.WaitUp(t) == epoch {
		t.Error("the epoch outlived the loss of the memory")
	}
}
