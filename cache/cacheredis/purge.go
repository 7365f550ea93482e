package cacheredis

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"example.com/quire/cache"
)

// purgeBatch is at most how many keys the server looks at in one call, in which others wait.
const purgeBatch = 256

// Purge implements cache.Remote: SCAN, and a script that judges and removes a batch in one step.
func (c *Client) Purge(ctx context.Context, ns string, perSecond int) (removed int, err error) {
	if perSecond < 1 {
		return 0, &cache.ConfigError{Field: "perSecond", Got: perSecond, Want: "at least 1"}
	}
	batch := min(purgeBatch, perSecond)
	pause := time.NewTicker(max(time.Second*time.Duration(batch)/time.Duration(perSecond), time.Microsecond))
	defer pause.Stop()
	pattern := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dataKey(ns, "")) + "*"
	h := c.home(ns)
	for cursor, first := uint64(0), true; first || cursor != 0; first = false {
		if !first {
			select {
			case <-pause.C:
			case <-ctx.Done():
				return removed, ctx.Err()
			}
		}
		var page rueidis.ScanEntry
		err := h.do(func(conn rueidis.Client) (err error) {
			page, err = conn.Do(ctx, conn.B().Scan().Cursor(cursor).Match(pattern).Count(int64(batch)).Build()).AsScanEntry()
			return err
		})
		if err != nil {
			return removed, failure(ctx, "purge", err)
		}
		cursor = page.Cursor
		for some := range slices.Chunk(page.Elements, purgeBatch) {
			var n int64
			err := h.do(func(conn rueidis.Client) (err error) {
				n, err = c.run.purge.Exec(ctx, conn, some, []string{tagKey(ns, "")}).AsInt64()
				return err
			})
			if err != nil {
				return removed, failure(ctx, "purge", err)
			}
			removed += int(n)
		}
	}
	return removed, nil
}
