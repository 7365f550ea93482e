package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write THIRD-PARTY-LICENSES.txt anew")

const licenceTexts = "THIRD-PARTY-LICENSES.txt"

// linked returns the modules that the program is built from, on any of the systems it is built
// for, with the folders of their sources.
func linked(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, system := range []string{"linux", "windows", "darwin"} {
		cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=Module", ".")
		// The flags of the run may be those of the race detector, which needs cgo.
		cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0", "GOFLAGS=")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for d := json.NewDecoder(bytes.NewReader(out)); ; {
			var p struct {
				Module *struct {
					Path, Dir string
					Main      bool
				}
			}
			if err := d.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if p.Module != nil && !p.Module.Main {
				all[p.Module.Path] = p.Module.Dir
			}
		}
	}
	if len(all) < 10 {
		t.Fatalf("modules %v: the test does not see them", all)
	}
	return all
}

// licenceFile tells which files at the root of a module are to go with what is made of it: MIT
// and BSD ask for their text and copyright lines, Apache 2.0 (section 4) for its text and NOTICE.
var licenceFile = regexp.MustCompile(`(?i)^((un)?licen[cs]e|copying|notice|patents)`)

// gather writes the texts of all modules, each text once, under the modules that have it.
func gather(t *testing.T, modules map[string]string) string {
	t.Helper()
	of := map[string][]string{}
	take := func(module, dir string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, e := range entries {
			if e.IsDir() || !licenceFile.MatchString(e.Name()) {
				continue
			}
			b, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			text := strings.TrimSpace(strings.ReplaceAll(string(b), "\r\n", "\n"))
			of[text] = append(of[text], module+" "+e.Name())
			found = true
		}
		if !found {
			t.Errorf("module %s has no licence in %s", module, dir)
		}
	}
	for module, dir := range modules {
		take(module, dir)
	}
	texts := make([]string, 0, len(of))
	for text, files := range of {
		slices.Sort(files)
		texts = append(texts, strings.Join(files, "\n")+"\n\n"+text+"\n")
	}
	slices.Sort(texts)
	rule := "\n" + strings.Repeat("=", 80) + "\n\n"
	return "The licences of the work of others that is linked into the program. NOTICE names it; both go\n" +
		"with every copy of the binary. The Go standard library has the licence of golang.org/x/sys.\n" +
		"Written by `go test ./cmd/quire -run TestNotice -update`.\n" + rule + strings.Join(texts, rule)
}

// NOTICE names every module that is linked and no other, and the texts that their licences
// demand are there.
func TestNotice(t *testing.T) {
	modules := linked(t)
	_, section, ok := strings.Cut(page(t, "NOTICE"), "\nGo modules linked into the binary\n")
	if !ok {
		t.Fatal("NOTICE has no modules")
	}
	section, _, _ = strings.Cut(section, "\n\n")
	named := map[string]bool{}
	for line := range strings.Lines(section) {
		name, about, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if strings.HasPrefix(name, "The Go ") {
			continue
		}
		named[name] = true
		if modules[name] == "" {
			t.Errorf("NOTICE names %s, which is not linked", name)
		}
		if len(strings.Fields(about)) < 2 {
			t.Errorf("NOTICE does not say whose %s is, by which licence", name)
		}
	}
	for module := range modules {
		if !named[module] {
			t.Errorf("NOTICE lacks %s", module)
		}
	}

	want := gather(t, modules)
	for module := range modules {
		if !strings.Contains(want, "\n"+module+" ") {
			t.Errorf("no text of %s", module)
		}
	}
	if *update {
		if err := os.WriteFile(filepath.Join(root, licenceTexts), []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if page(t, licenceTexts) != want {
		t.Errorf("%s is not what the linked modules have; `go test ./cmd/quire -run TestNotice -update` writes it", licenceTexts)
	}
	// What is embedded and is no module keeps its licence beside it.
	for _, m := range regexp.MustCompile(`\((internal/\S+)\)`).FindAllStringSubmatch(page(t, "NOTICE"), -1) {
		if found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(m[1]))); err != nil || len(found) == 0 {
			t.Errorf("NOTICE names %s, which is not there: %v", m[1], err)
		}
	}
}
