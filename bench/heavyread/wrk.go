package heavyread

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// script has wrk send requests that were formatted before, in turn, and tell what it saw as JSON.
const script = `local targets = {%s}
local requests, i = {}, 0
init = function() for k, t in ipairs(targets) do requests[k] = wrk.format("GET", t) end end
request = function() i = i %% #requests + 1; return requests[i] end
done = function(s, l)
  local e = s.errors
  io.write(string.format('RESULT {"P50":%%f,"P90":%%f,"P99":%%f,"Mean":%%f,"Max":%%f,"Stdev":%%f,"Requests":%%d,"Bytes":%%d,"Errors":%%d,"Seconds":%%f}\n',
    l:percentile(50), l:percentile(90), l:percentile(99), l.mean, l.max, l.stdev, s.requests, s.bytes,
    e.connect + e.read + e.write + e.status + e.timeout, s.duration / 1e6))
end
`

// wrk asks for the targets in turn. An error of any kind, and no answer at all, is an error.
func wrk(ctx context.Context, t tools, dir, addr string, targets []string, threads, connections int, d time.Duration) (Latency, error) {
	quoted := make([]string, len(targets))
	for i, s := range targets {
		quoted[i] = strconv.Quote(s)
	}
	file := filepath.Join(dir, "requests.lua")
	if err := os.WriteFile(file, fmt.Appendf(nil, script, strings.Join(quoted, ",")), 0o600); err != nil {
		return Latency{}, err
	}
	var out bytes.Buffer
	seconds := fmt.Sprint(max(1, int(d.Seconds())), "s")
	cmd := exec.CommandContext(ctx, t["wrk"], "-t", strconv.Itoa(threads), "-c", strconv.Itoa(connections), "-d", seconds, "--timeout", "10s", "-s", file, "http://"+addr) //nolint:gosec // a tool of ours
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := pinned(cmd, other); err != nil {
		return Latency{}, err
	}
	if err := cmd.Wait(); err != nil {
		return Latency{}, fmt.Errorf("wrk: %w: %s", err, out.Bytes())
	}
	_, result, ok := strings.Cut(out.String(), "RESULT ")
	if !ok {
		return Latency{}, fmt.Errorf("wrk told nothing: %s", out.Bytes())
	}
	var l Latency
	if err := json.NewDecoder(strings.NewReader(result)).Decode(&l); err != nil {
		return Latency{}, fmt.Errorf("wrk: %w", err)
	}
	if l.Errors > 0 {
		return l, fmt.Errorf("%d of %d requests failed", l.Errors, l.Requests)
	}
	if l.Requests == 0 {
		return l, errors.New("no request was answered")
	}
	return l, nil
}
