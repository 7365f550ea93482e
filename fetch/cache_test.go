package fetch

import (
	"testing"
	"testing/synctest"
	"time"

	"example.com/quire/fetch/fetchtest"
	"example.com/quire/fetch/httpcache"
)

func TestCacheOfAClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tr := over(t, Config{Cache: &httpcache.Config{}, Retry: noWait()},
			fetchtest.Step{}.Header("Cache-Control", "max-age=60").Header("Content-Encoding", "gzip").Body(gz(t, "hello")),
			fetchtest.Step{}.Status(503), fetchtest.Step{}.Body("after"))
		for _, step := range []struct {
			override Overrides
			after    time.Duration
			result   string
			body     string
			attempts int
		}{
			{Overrides{}, 0, httpcache.ResultMiss, "hello", 1},
			{Overrides{}, time.Second, httpcache.ResultHit, "hello", 0}, // no attempt, and decoded anew
			{Overrides{Off: OffCache}, 0, "", "after", 2},
			{Overrides{Cache: httpcache.RequestOptions{Bypass: true}}, 0, httpcache.ResultBypass, "after", 1},
			{Overrides{Cache: httpcache.RequestOptions{OnlyIfCached: true}}, 0, httpcache.ResultHit, "hello", 0},
		} {
			<-time.After(step.after)
			resp, err := c.Get(With(t.Context(), step.override), "http://a.example/")
			if err != nil {
				t.Fatal(err)
			}
			info := InfoOf(resp)
			if got := read(t, resp); got != step.body || info.Cache.Result != step.result || len(info.Attempts) != step.attempts {
				t.Errorf("%q, %+v; want %+v", got, info, step)
			}
		}
		tr.AssertClosed(t)
	})
}
