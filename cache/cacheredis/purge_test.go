//go:build unix

package cacheredis_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"example.com/quire/cache"
	"example.com/quire/cache/cacheredis"
	"example.com/quire/cache/cachetest"
)

// TestPurgeTouchesItsNamespaceAlone: what is in use, what belongs to others and what is no record
// stays.
func TestPurgeTouchesItsNamespaceAlone(t *testing.T) {
	for _, kind := range cachetest.RedisKinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			server := cachetest.StartRedis(t, kind)
			client := open(t, cacheredis.Config{Addr: server.Addr})
			for _, ns := range []string{"n", "n2"} {
				put := func(key string, names ...string) {
					t.Helper()
					counters, err := client.Tags(t.Context(), ns, names, 0, false)
					do(t, err)
					r := cachetest.Value("v", 1)
					for i, name := range names {
						r.Tags = append(r.Tags, cache.RecordTag{Name: name, Counter: counters[i]})
					}
					_, err = client.Store(t.Context(), ns, cache.StoreRequest{Key: key, Record: r})
					do(t, err)
				}
				for i := range 1000 {
					put(fmt.Sprint("cleared", i), "", "other")
				}
				_, err := client.Tags(t.Context(), ns, []string{""}, 0, true)
				do(t, err)
				put("tagged", "", "tag")
				_, err = client.Tags(t.Context(), ns, []string{"tag"}, 0, true)
				do(t, err)
				put("kept", "", "tag", "other")
				_, err = client.Store(t.Context(), ns, cache.StoreRequest{Key: "deleted", Record: cache.Record{State: cache.RecordTombstone, Fresh: 1e9, Remove: 60e9}})
				do(t, err)
			}
			command(t, server.Addr, "SET", "q1:d:{n/00}:foreign", "no record")
			command(t, server.Addr, "SET", "foreign", "no record")
			for _, want := range []int{1001, 0} {
				if n, err := client.Purge(t.Context(), "n", 1_000_000); n != want || err != nil {
					t.Errorf("%d removed, %v; want %d", n, err, want)
				}
			}
			got, err := client.Fetch(t.Context(), "n", []string{"kept", "deleted", "tagged"}, false)
			if err != nil || got[0].State != cache.RecordValue || got[1].State != cache.RecordTombstone || got[2].State != cache.RecordNone {
				t.Errorf("%+v, %v", got, err)
			}
			got, err = client.Fetch(t.Context(), "n2", []string{"cleared7", "tagged"}, false)
			if err != nil || got[0].State != cache.RecordValue || got[1].State != cache.RecordValue {
				t.Errorf("the other namespace: %+v, %v", got, err)
			}
			for _, key := range []string{"foreign", "q1:d:{n/00}:foreign"} {
				command(t, server.Addr, "RENAMENX", key, key+".still") // fails without the key
			}
		})
	}
}

// TestPurgeKeepsItsRateAndEndsWithItsContext.
func TestPurgeKeepsItsRateAndEndsWithItsContext(t *testing.T) {
	server := cachetest.StartRedis(t, "redis")
	client := open(t, cacheredis.Config{Addr: server.Addr})
	for i := range 40 {
		_, err := client.Store(t.Context(), "n", cache.StoreRequest{Key: fmt.Sprint(i), Record: cachetest.Value("v", 1)})
		do(t, err)
	}
	// One key in a second: that all were gone would take most of a minute.
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if n, err := client.Purge(ctx, "n", 1); n > 39 || !errors.Is(err, context.Canceled) {
			t.Errorf("%d removed, %v", n, err)
		}
	}()
	cancel()
	<-done
	if _, err := client.Purge(t.Context(), "n", 0); err == nil {
		t.Error("no rate is a rate")
	}
}
