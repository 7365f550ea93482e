package cacheredis

import (
	"context"
	"strings"
	"time"

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
	for _, server := range c.calls.Nodes() {
		for cursor, first := uint64(0), true; first || cursor != 0; first = false {
			page, err := server.Do(ctx, server.B().Scan().Cursor(cursor).Match(pattern).Count(int64(batch)).Build()).AsScanEntry()
			if err != nil {
				return removed, failure(ctx, "purge", err)
			}
			cursor = page.Cursor
			for keys := page.Elements; len(keys) > 0; {
				some := keys[:min(len(keys), purgeBatch)]
				keys = keys[len(some):]
				n, err := c.run.purge.Exec(ctx, c.calls, some, []string{tagKey(ns, "")}).AsInt64()
				if err != nil {
					return removed, failure(ctx, "purge", err)
				}
				removed += int(n)
			}
			if cursor == 0 {
				continue
			}
			select {
			case <-pause.C:
			case <-ctx.Done():
				return removed, ctx.Err()
			}
		}
	}
	return removed, nil
}
