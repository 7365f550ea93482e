package templates_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"example.com/quire/internal/record"
	"example.com/quire/internal/templates"
)

func tree() fstest.MapFS {
	return fstest.MapFS{
		"note.yaml":               {Data: []byte("quire: 1\n")},
		"invoice/template.yaml":   {Data: []byte("quire: 1\nname: invoice\n")},
		"invoice/assets/logo.png": {Data: []byte("png")},
		"invoice/.git/config":     {Data: []byte("hidden")},
		"empty/readme.txt":        {Data: []byte("no template")},
		"Upper.yaml":              {Data: []byte("its name is not a template's")},
		"json-one/template.json":  {Data: []byte("{}")},
		"json-one/.hidden":        {Data: []byte("hidden")},
		"notes.txt":               {Data: []byte("not a template")},
	}
}

func TestTemplate(t *testing.T) {
	f := templates.New(tree())
	one, err := f.Template(t.Context(), record.Local, "note")
	if err != nil || one.Main != "note.yaml" || len(one.Files) != 1 {
		t.Errorf("a single file: %+v, %v", one, err)
	}
	inv, err := f.Template(t.Context(), record.Local, "invoice")
	if err != nil {
		t.Fatal(err)
	}
	if inv.Main != "template.yaml" || len(inv.Files) != 2 || string(inv.Files["assets/logo.png"]) != "png" {
		t.Errorf("a folder: main %s, files %d", inv.Main, len(inv.Files))
	}
	if j, err := f.Template(t.Context(), record.Local, "json-one"); err != nil || j.Main != "template.json" {
		t.Errorf("a JSON template: %+v, %v", j, err)
	}
	for _, name := range []string{"nowhere", "empty"} {
		if _, err := f.Template(t.Context(), record.Local, name); !errors.Is(err, record.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", name, err)
		}
	}
	for _, name := range []string{"../note", "", "a/b", "Upper"} {
		if _, err := f.Template(t.Context(), record.Local, name); err == nil || errors.Is(err, record.ErrNotFound) {
			t.Errorf("%q: %v, want a request error", name, err)
		}
	}
}

func TestAnEditIsANewVersion(t *testing.T) {
	fsys := tree()
	f := templates.New(fsys)
	a, err := f.Template(t.Context(), record.Local, "invoice")
	if err != nil {
		t.Fatal(err)
	}
	fsys["invoice/assets/logo.png"] = &fstest.MapFile{Data: []byte("new")}
	b, err := f.Template(t.Context(), record.Local, "invoice")
	if err != nil {
		t.Fatal(err)
	}
	if a.Ref() == b.Ref() {
		t.Error("an asset changed and the version did not")
	}
}

func TestNames(t *testing.T) {
	got, err := templates.New(tree()).Names(t.Context())
	if want := []string{"invoice", "json-one", "note"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("names %q, %v; want %q", got, err, want)
	}
	none, err := templates.New(os.DirFS(filepath.Join(t.TempDir(), "absent"))).Names(t.Context())
	if err != nil || len(none) != 0 {
		t.Errorf("a folder that is absent: %q, %v", none, err)
	}
}

func TestLimits(t *testing.T) {
	fsys := fstest.MapFS{"big/template.yaml": {Data: []byte("x")}, "big/a.bin": {Data: bytes.Repeat([]byte{0}, templates.MaxBytes)}}
	var limit *record.LimitError
	if _, err := templates.New(fsys).Template(t.Context(), record.Local, "big"); !errors.As(err, &limit) {
		t.Errorf("too many bytes: %v", err)
	}
	many := fstest.MapFS{"many/template.yaml": {Data: []byte("x")}}
	for i := range templates.MaxFiles {
		many["many/"+string(rune('a'+i%26))+string(rune('a'+i/26))] = &fstest.MapFile{}
	}
	if _, err := templates.New(many).Template(t.Context(), record.Local, "many"); !errors.As(err, &limit) {
		t.Errorf("too many files: %v", err)
	}
}

// TestSymlinkOutOfTheFolder holds with an os.Root, which is what the program gives.
func TestSymlinkOutOfTheFolder(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.yaml")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "leak.yaml")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	if got, err := templates.New(root.FS()).Template(t.Context(), record.Local, "leak"); err == nil {
		t.Errorf("a link out of the folder was followed: %q", got.Files["leak.yaml"])
	}
}
