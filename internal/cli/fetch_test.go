package cli_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync/atomic"
	"testing"
)

// TestFetchTellsRedirectsFromRetries asks for an address that leads to another, which is busy at
// first.
func TestFetchTellsRedirectsFromRetries(t *testing.T) {
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/old":
			http.Redirect(w, r, "/new", http.StatusFound)
		case asked.Add(1) == 1:
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	defer s.Close()
	got := call{}.run(t.Context(), "fetch", s.URL+"/old")
	if got.code != 0 {
		t.Fatalf("status %d: %s", got.code, got.err)
	}
	if want := regexp.MustCompile(`(?m)^retry     attempt 1: ok; redirected, attempt 2: status 503, waited \S+, ok$`); !want.MatchString(got.out) {
		t.Errorf("got\n%s", got.out)
	}
}
