//go:build !race

package compress_test

import (
	"net/http/httptest"
	"runtime"
	"testing"

	"example.com/quire/web/middleware/compress"
)

// TestEncodersArePooled: a request costs far fewer bytes than an encoder, which
// takes hundreds of KiB. Under the race detector pools drop what they hold.
func TestEncodersArePooled(t *testing.T) {
	app := newApp(t, compress.Options{})
	for _, coding := range []string{"gzip", "zstd"} {
		serve := func() {
			r := httptest.NewRequestWithContext(t.Context(), "GET", "/a?type=text/plain", nil)
			r.Header.Set("Accept-Encoding", coding)
			w := httptest.NewRecorder()
			if app.ServeHTTP(w, r); w.Header().Get("Content-Encoding") != coding {
				t.Fatalf("%v", w.Header())
			}
		}
		serve()
		const turns = 200
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range turns {
			serve()
		}
		runtime.ReadMemStats(&after)
		if per := (after.TotalAlloc - before.TotalAlloc) / turns; per > 64<<10 {
			t.Errorf("%s: %d bytes a request", coding, per)
		}
	}
}
