package api_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.com/quire/internal/config"
)

// visitor reads over the network.
type visitor struct {
	t      *testing.T
	url    string
	client *http.Client
}

// answer is what a visitor read. The routes' answers have a request id, those of the lane have
// none.
type answer struct {
	status int
	header http.Header
	body   []byte
	frozen bool
}

func (v *visitor) read(target string) answer {
	v.t.Helper()
	return v.readWith(target, "Accept", "application/pdf")
}

func (v *visitor) readWith(target, name, value string) answer {
	v.t.Helper()
	q, err := http.NewRequestWithContext(v.t.Context(), http.MethodGet, v.url+target, http.NoBody)
	if err != nil {
		v.t.Fatal(err)
	}
	if q.Header.Set(name, value); name == "Host" {
		q.Host = value
	}
	a, err := ask(v.client, q)
	if err != nil {
		v.t.Fatal(err)
	}
	return a
}

func ask(c *http.Client, q *http.Request) (answer, error) {
	r, err := c.Do(q)
	if err != nil {
		return answer{}, err
	}
	body, err := io.ReadAll(r.Body)
	return answer{r.StatusCode, r.Header, body, r.Header.Get("X-Request-Id") == ""}, errors.Join(err, r.Body.Close())
}

func TestPublicDocumentsAreAnsweredByTheLane(t *testing.T) {
	t.Parallel()
	h := open(t, spaces)
	v := &visitor{t, h.serve(t), client(t)}
	public := makeNew(t, h.as(alpha), note("A-1", `"report": "open"`))
	private := makeNew(t, h.as(alpha), note("A-2", `"report": "alpha"`))
	for _, target := range []string{"/d/" + public.content + ".pdf", "/r/open/latest.pdf"} {
		routed := v.read(target)
		if routed.frozen || routed.status != http.StatusOK {
			t.Errorf("%s: %d, answered by the lane before anybody asked: %v", target, routed.status, routed.frozen)
		}
		laned := v.read(target)
		if !laned.frozen || laned.status != http.StatusOK || !bytes.Equal(routed.body, public.file) || !bytes.Equal(laned.body, public.file) {
			t.Errorf("%s: %d, by the lane: %v, %d bytes", target, laned.status, laned.frozen, len(laned.body))
		}
		for name := range routed.header {
			if got := laned.header[name]; !slices.Contains([]string{"X-Request-Id", "Date", "Accept-Ranges"}, name) && !slices.Equal(got, routed.header[name]) {
				t.Errorf("%s: %s is %q in the lane, %q of the route", target, name, got, routed.header[name])
			}
		}
		if same := v.readWith(target, "If-None-Match", laned.header.Get("Etag")); same.status != http.StatusNotModified || !same.frozen {
			t.Errorf("%s: %d by its tag, by the lane: %v", target, same.status, same.frozen)
		}
		// Whoever says who he is has his answers from the routes, and so has who wants a part.
		for _, tt := range []struct {
			header, value string
			status        int
		}{
			{"Authorization", "Bearer " + beta, http.StatusOK},
			{"Authorization", "Bearer wrong", http.StatusUnauthorized},
			{"Range", "bytes=0-3", http.StatusPartialContent},
		} {
			if r := v.readWith(target, tt.header, tt.value); r.frozen || r.status != tt.status {
				t.Errorf("%s: %s %s: %d, by the lane: %v", target, tt.header, tt.value, r.status, r.frozen)
			}
		}
	}
	for _, route := range []string{"route=/d/{content}.pdf", "route=/r/{report}/latest.pdf"} {
		if n := strings.Count(h.log.String(), route+" status=200"); n != 3 {
			t.Errorf("%d lines of the access log for %s, want 3", n, route)
		}
	}
	// What its space read stays its space's.
	for _, target := range []string{"/d/" + private.content + ".pdf", "/r/alpha/latest.pdf"} {
		for range 2 {
			if r := v.readWith(target, "Authorization", "Bearer "+alpha); r.frozen || !bytes.Equal(r.body, private.file) {
				t.Errorf("%s: %d, by the lane: %v", target, r.status, r.frozen)
			}
			if r := v.read(target); r.status != http.StatusNotFound {
				t.Errorf("%s without a token: %d", target, r.status)
			}
		}
	}
}

// TestLatestOfTheLaneIsTheLatest: once a document is acknowledged as a report's latest nobody is
// answered with the one before, while others ask all the time and fill the lane.
func TestLatestOfTheLaneIsTheLatest(t *testing.T) {
	t.Parallel()
	h := open(t, spaces)
	url := h.serve(t)
	v := &visitor{t, url, client(t)}
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		c := client(t)
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/r/open/latest.pdf", http.NoBody)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := ask(c, q); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	lane := 0
	for _, number := range []string{"1", "2", "3", "4", "5", "6", "7", "8"} {
		d := makeNew(t, h.as(alpha), note(number, `"report": "open"`))
		for range 3 {
			r := v.read("/r/open/latest.pdf")
			if !bytes.Equal(r.body, d.file) {
				t.Errorf("document %s was made, and another is the latest (by the lane: %v)", number, r.frozen)
			}
			if r.frozen {
				lane++
			}
		}
	}
	close(stop)
	readers.Wait()
	if r := v.read("/r/open/latest.pdf"); !r.frozen || lane == 0 {
		t.Errorf("the lane answered %d times, at last: %v", lane, r.frozen)
	}
}

// TestReportThatIsNoLongerPublicIsServedToItsSpaceAlone: nothing of the lane outlives the
// configuration that made it public.
func TestReportThatIsNoLongerPublicIsServedToItsSpaceAlone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	var d made
	targets := func() []string { return []string{"/d/" + d.content + ".pdf", "/r/open/latest.pdf"} }
	t.Run("public", func(t *testing.T) {
		h := openAt(t, dir, spaces)
		d = makeNew(t, h.as(alpha), note("A-1", `"report": "open"`))
		v := &visitor{t, h.serve(t), client(t)}
		for _, target := range targets() {
			v.read(target)
			if !v.read(target).frozen {
				t.Errorf("%s: not by the lane", target)
			}
		}
	})
	t.Run("private", func(t *testing.T) {
		h := openAt(t, dir, spaces, func(c *config.Config) { c.Reports["open"] = config.Report{Space: "alpha", Template: "note"} })
		v := &visitor{t, h.serve(t), client(t)}
		for _, target := range targets() {
			v.readWith(target, "Authorization", "Bearer "+alpha)
			if r := v.read(target); r.status != http.StatusNotFound {
				t.Errorf("%s: %d without a token", target, r.status)
			}
		}
	})
}

// TestLaneWithoutTokensAnswersNoForeigner: there every request is judged by its Host and by the
// site that it comes from, by the lane as by the routes.
func TestLaneWithoutTokensAnswersNoForeigner(t *testing.T) {
	t.Parallel()
	h := open(t)
	v := &visitor{t, h.serve(t), client(t)}
	content := "/d/" + makeNew(t, h.Client, note("A-1", `"report": "open"`)).content + ".pdf"
	for _, target := range []string{content, "/r/open/latest.pdf"} {
		v.read(target)
		for _, tt := range []struct {
			header, value string
			status        int
			lane          bool
		}{
			{"Accept", "*/*", http.StatusOK, true},
			{"Host", "localhost", http.StatusOK, true},
			{"Host", "LOCALHOST.:8080", http.StatusOK, true},
			{"Host", "[::1]:8080", http.StatusOK, true},
			{"Host", "rebound.example", http.StatusMisdirectedRequest, false},
			{"Host", "localhost.rebound.example:8080", http.StatusMisdirectedRequest, false},
			{"Sec-Fetch-Site", "none", http.StatusOK, true},
			{"Sec-Fetch-Site", "same-origin", http.StatusOK, true},
			{"Sec-Fetch-Site", "same-site", http.StatusForbidden, false},
			{"Sec-Fetch-Site", "cross-site", http.StatusForbidden, false},
			{"Origin", "https://rebound.example", http.StatusForbidden, false},
			{"Origin", v.url, http.StatusOK, false},
		} {
			if r := v.readWith(target, tt.header, tt.value); r.status != tt.status || r.frozen != tt.lane {
				t.Errorf("%s: %s %s: %d, by the lane: %v, want %d, %v", target, tt.header, tt.value, r.status, r.frozen, tt.status, tt.lane)
			}
		}
	}
}

// TestLaneWithoutTokensKnowsOwnReports: a report of another space is found where there is none of
// one's own, and never in place of it.
func TestLaneWithoutTokensKnowsOwnReports(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	var theirs made
	t.Run("with tokens", func(t *testing.T) {
		theirs = makeNew(t, openAt(t, dir, spaces).as(alpha), note("A-1", `"report": "open"`))
	})
	var own made
	t.Run("own", func(t *testing.T) {
		own = makeNew(t, openAt(t, dir).Client, note("A-2", `"report": "open"`))
	})
	t.Run("others' alone is public", func(t *testing.T) {
		h := openAt(t, dir, func(c *config.Config) {
			c.Reports = map[string]config.Report{"open": {Space: "alpha", Template: "note", Public: true}}
		})
		v := &visitor{t, h.serve(t), client(t)}
		for range 2 {
			if r := v.read("/r/open/latest.pdf"); r.frozen || !bytes.Equal(r.body, own.file) {
				t.Errorf("the latest is not one's own: %d, by the lane: %v", r.status, r.frozen)
			}
			if r := v.read("/d/" + theirs.content + ".pdf"); !bytes.Equal(r.body, theirs.file) {
				t.Errorf("what is public is not found: %d", r.status)
			}
		}
	})
}
