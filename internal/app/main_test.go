package app_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// builder builds the program once, for all tests that run it as a process of its own.
type builder struct {
	once sync.Once
	dir  string
	name string
	err  error
}

var quire builder

// program returns the file of the program.
func program(t *testing.T) string {
	t.Helper()
	quire.once.Do(func() {
		if quire.dir, quire.err = os.MkdirTemp("", "quire-app-test-"); quire.err != nil { //nolint:usetesting // it outlives the test that asks first
			return
		}
		quire.name = filepath.Join(quire.dir, "quire")
		if runtime.GOOS == "windows" {
			quire.name += ".exe"
		}
		out, err := exec.CommandContext(t.Context(), "go", "build", "-o", quire.name, "example.com/quire/cmd/quire").CombinedOutput() //nolint:gosec // the path is the test's own
		if err != nil {
			quire.err = fmt.Errorf("go build: %w\n%s", err, out)
		}
	})
	if quire.err != nil {
		t.Fatal(quire.err)
	}
	return quire.name
}

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if quire.dir != "" {
			_ = os.RemoveAll(quire.dir) // what stays is the system's to clean
		}
		os.Exit(code)
	}))
}
