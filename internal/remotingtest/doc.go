// Package remotingtest has the real peers for tests of PowerShell remoting, and the scenarios that
// are run with them: the client pypsrp, and the server psrpcore in a child process and behind
// OpenSSH on loopback. tools/install-judges installs them; see CONTRIBUTING.md, "Judges".
package remotingtest

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// ErrNoJudge is a judge that is not installed.
var ErrNoJudge = errors.New("missing judge")

//go:embed psrpcore_server.py
var serverScript []byte

//go:embed psrpcore_codec.py
var codecScript []byte

// tools is the directory of what tools/install-judges installs.
func tools() string {
	_, file, _, _ := runtime.Caller(0)
	if !filepath.IsAbs(file) { // built with -trimpath: tests run in their package's directory
		dir, _ := os.Getwd()
		for dir != filepath.Dir(dir) {
			if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
				return filepath.Join(dir, ".tools")
			}
			dir = filepath.Dir(dir)
		}
	}
	return filepath.Join(filepath.Dir(file), "..", "..", ".tools")
}

// findPython returns the interpreter with psrpcore, pypsrp and pyspnego: that of PSRP_PYTHON, or
// the one that tools/install-judges makes.
func findPython() (string, error) {
	python := cmp.Or(os.Getenv("PSRP_PYTHON"), filepath.Join(tools(), "psrp", "bin", "python"))
	if _, err := os.Stat(python); err != nil { //nolint:gosec // G703: the tester names it
		return "", fmt.Errorf("%w: psrpcore 0.3.1: ./tools/install-judges", ErrNoJudge)
	}
	return python, nil
}

// Python is findPython for a test, which is skipped without.
func Python(tb testing.TB) string {
	tb.Helper()
	python, err := findPython()
	Need(tb, err)
	return python
}

// Need skips a test whose judge is missing, or fails it when all judges are required.
func Need(tb testing.TB, err error) {
	tb.Helper()
	switch {
	case err == nil:
	case errors.Is(err, ErrNoJudge) && os.Getenv("REQUIRE_JUDGES") != "1":
		tb.Skip(err)
	default:
		tb.Fatal(err)
	}
}

// ServerScript writes the psrpcore server for a test and returns its path.
func ServerScript(tb testing.TB) string {
	tb.Helper()
	return scriptFile(tb, serverScript)
}

// CodecScript writes the psrpcore codec for a test and returns its path.
func CodecScript(tb testing.TB) string {
	tb.Helper()
	return scriptFile(tb, codecScript)
}

func scriptFile(tb testing.TB, script []byte) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "script.py")
	if err := os.WriteFile(path, script, 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}
