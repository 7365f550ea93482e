//go:build race

package main

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestServerScript runs those scripts of TestScript that are about the server under the race
// detector too. Many requests at the same time are the subject of
// TestRestartUnderLoadLosesNoRequest.
func TestServerScript(t *testing.T) {
	var files []string
	for _, name := range []string{"cache", "serve", "serve-access"} {
		files = append(files, filepath.Join("testdata", "script", name+".txtar"))
	}
	runScripts(t, testscript.Params{Files: files})
}
