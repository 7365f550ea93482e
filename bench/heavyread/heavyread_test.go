package heavyread_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestItRuns measures everything once, for as short as wrk goes: what it finds is not looked at,
// but every answer is judged, and the report has a line for everything.
func TestItRuns(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"wrk/bin/wrk", "proxies/root/usr/sbin/nginx", "redis/bin/redis-server"} {
		if _, err := os.Stat(filepath.Join(root, ".tools", tool)); err != nil && os.Getenv("REQUIRE_JUDGES") != "1" {
			t.Skipf("missing judge: %s: ./tools/install-judges", tool)
		}
	}
	dir := t.TempDir()
	bin := filepath.Join(dir, "bench-heavyread")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "../cmd/heavyread").CombinedOutput(); err != nil { //nolint:gosec // into a directory of the test
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), bin, "-root", root, "-out", dir, "-threads", "1", "-connections", "8", "-duration", "1s", "-passes", "1").CombinedOutput() //nolint:gosec // what was built here
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b, err := os.ReadFile(filepath.Join(dir, "heavyread.md"))
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]int{"| /post-redis |": 5, "| /post-marshal |": 5, "| /post-plain |": 5, "| /post |": 5, "| net/http, a map |": 1, "| fasthttp, a map |": 1, "| net/http, go-redis GET |": 1, "| nginx, from memory |": 1, "| nginx, from files |": 1} {
		if n := strings.Count(string(b), line); n != want {
			t.Errorf("%q stands %d times, want %d, in\n%s", line, n, want, b)
		}
	}
}
