// Package judgetest finds the judges of tests: external programs that check an output. If a judge
// is not installed, its test is skipped with the command that installs it. Under REQUIRE_JUDGES=1,
// as in `make check`, the test fails instead.
package judgetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Install puts judges into the directory .tools at the root of the repository.
const Install = "./tools/install-judges"

// Missing skips or fails a test whose judge is missing; how is the line that installs it.
func Missing(tb testing.TB, name, how string) {
	tb.Helper()
	if os.Getenv("REQUIRE_JUDGES") == "1" {
		tb.Fatalf("missing judge: %s: %s", name, how)
	}
	tb.Skipf("missing judge: %s: %s", name, how)
}

// Program returns the path of a judge that is installed system-wide.
func Program(tb testing.TB, name, how string) string {
	tb.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(tb, name, how)
	}
	return path
}

// Chromium returns the path of the browser, whatever the system calls it.
func Chromium(tb testing.TB) string {
	tb.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	Missing(tb, "chromium", "apt-get install chromium")
	return ""
}

// Tool returns the path of what Install has put into the folder .tools, named with strokes.
func Tool(tb testing.TB, name, path string) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	path = filepath.Join(dir, ".tools", filepath.FromSlash(path))
	if _, err := os.Stat(path); err != nil {
		Missing(tb, name, Install)
	}
	return path
}
