//go:build !race

package main

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScript runs all scripts, one per command. They start the program some two hundred times, for
// one thing each, and the packages behind it have their own tests under the race detector; for the
// server see TestServerScript.
func TestScript(t *testing.T) {
	runScripts(t, testscript.Params{Dir: filepath.Join("testdata", "script")})
}
