package meter

import (
	"fmt"
	"testing"
	"time"

	"example.com/quire/fetch/internal/call"
	"example.com/quire/fetch/internal/origin"
)

// TestAnswersAreCountedEachUnderItsOwn takes turns between answers, and passes the bound of those
// that are told apart.
func TestAnswersAreCountedEachUnderItsOwn(t *testing.T) {
	m, now := New(), time.Now()
	end := func(method string, code int) {
		m.Begin(origin.Key{Host: "a.example"}, now).End(Outcome{Method: method, Status: code, Log: call.New(t.Context(), now)}, now)
	}
	for range 3 {
		end("GET", 200)
		end("GET", 200)
		end("POST", 200)
		end("GET", 503)
	}
	for i := range 2 * maxLabels {
		end(fmt.Sprint("M", i), 200)
		end("GET", 200)
	}
	got := m.Origins()[0].Requests
	for a, want := range map[Answer]int64{{"GET", 200}: 6 + 2*maxLabels, {"POST", 200}: 3, {"GET", 503}: 3, {"M0", 200}: 1, {"other", 0}: maxLabels + 3} {
		if got[a] != want {
			t.Errorf("%v: %d, want %d", a, got[a], want)
		}
	}
	if len(got) != maxLabels+1 {
		t.Errorf("%d labels", len(got))
	}
}
