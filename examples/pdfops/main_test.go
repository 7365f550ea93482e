package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/quire/pdf"
)

// TestRun: the files say what they should, the copy for the public has nothing that was taken out,
// and a signature holds only for its bytes.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	var told bytes.Buffer
	if err := run(t.Context(), dir, &told, time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\ndossier.pdf ", "valid, by CN=Registry (example)", "one byte changed: not valid: ", "taken out of public.pdf: 34 characters"} {
		if !strings.Contains("\n"+told.String(), want) {
			t.Errorf("no %q in\n%s", want, told.String())
		}
	}
	engine, err := pdf.New(pdf.Config{})
	if err != nil {
		t.Fatal(err)
	}
	secrets := []string{"Ada Lovelace", "GB33BUKB20201555555555"}
	for name, want := range map[string][]string{
		"application.pdf": {"Application", "Account"},
		"dossier.pdf":     append([]string{"Received 2 March 2026", "1/2", "2/2", "without names and accounts"}, secrets...),
		"public.pdf":      {"Received 2 March 2026", "1/2", "without names and accounts"},
	} {
		file, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		d, err := engine.Open(t.Context(), bytes.NewReader(file), int64(len(file)), pdf.OpenOptions{Strict: true})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		pages, err := d.Text(t.Context(), pdf.TextOptions{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var text strings.Builder
		for _, p := range pages {
			for _, l := range p.Lines {
				text.WriteString(l.Text + "\n")
			}
		}
		for _, w := range want {
			if !strings.Contains(text.String(), w) {
				t.Errorf("%s has no %q:\n%s", name, w, text.String())
			}
		}
		for _, s := range secrets {
			if name == "public.pdf" && (strings.Contains(text.String(), s) || bytes.Contains(file, []byte(s))) {
				t.Errorf("%s still has %q", name, s)
			}
		}
	}
}
