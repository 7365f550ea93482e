package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/quire/internal/app"
	"example.com/quire/internal/config"
)

// TestConvertersAreJudgedBeforeTheServerStarts: a browser that is not there and a host that is none
// are faults of the configuration.
func TestConvertersAreJudgedBeforeTheServerStarts(t *testing.T) {
	program := filepath.Join(t.TempDir(), "browser")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700); err != nil { //nolint:gosec // G306: a program
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		convert config.Convert
		want    string
	}{
		"sound":            {config.Convert{Browser: program, Hosts: []string{"assets.example", "files.example:8443", "[2001:db8::1]:80"}}, ""},
		"no browser":       {config.Convert{Browser: "/nowhere/chromium"}, `convert.browser: want a Chromium that can be started, got "/nowhere/chromium"; install chromium`},
		"address":          {config.Convert{Browser: program, Hosts: []string{"https://assets.example/"}}, `got "https://assets.example/"; write assets.example`},
		"IPv6 alone":       {config.Convert{Browser: program, Hosts: []string{"2001:db8::1"}}, `got "2001:db8::1"; write [2001:db8::1]`},
		"other letters":    {config.Convert{Browser: program, Hosts: []string{"bücher.example"}}, `convert.hosts[0]: want a host`},
		"leading zero":     {config.Convert{Browser: program, Hosts: []string{"assets.example:080"}}, `write assets.example:80`},
		"port":             {config.Convert{Browser: program, Hosts: []string{"assets.example", "assets.example:0"}}, `convert.hosts[1]: want a host`},
		"any host":         {config.Convert{Browser: program, Hosts: []string{"*.example"}}, `convert.hosts[0]: want a host`},
		"name with a user": {config.Convert{Browser: program, Hosts: []string{"me@assets.example"}}, `convert.hosts[0]: want a host`},
	} {
		cfg := &config.Config{Data: t.TempDir(), Templates: t.TempDir(), Convert: c.convert}
		if err := cfg.Complete(os.LookupEnv); err != nil {
			t.Fatal(err)
		}
		err := app.Check(t.Context(), app.Options{Config: cfg}, nil)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestOCRIsLookedForBeforeTheServerStarts: a program that is not there is a fault of the
// configuration.
func TestOCRIsLookedForBeforeTheServerStarts(t *testing.T) {
	program := filepath.Join(t.TempDir(), "tesseract")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho deu\n"), 0o700); err != nil { //nolint:gosec // G306: a program
		t.Fatal(err)
	}
	for name, want := range map[string]string{program: "", "/nowhere/tesseract": `ocr.program: want a tesseract that can be started, got "/nowhere/tesseract"; install tesseract-ocr`} {
		cfg := &config.Config{Data: t.TempDir(), Templates: t.TempDir(), OCR: config.OCR{Program: name}}
		if err := cfg.Complete(os.LookupEnv); err != nil {
			t.Fatal(err)
		}
		err := app.Check(t.Context(), app.Options{Config: cfg}, nil)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}
