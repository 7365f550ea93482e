package templates_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"example.com/quire/internal/record"
	"example.com/quire/internal/render"
	"example.com/quire/internal/templates"
)

const plain = "quire: 1\nname: note\nlang: en\ntitle: Note\nbody:\n  - {text: Hello}\n"

// pixel is a PNG of one grey pixel.
const pixel = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00:~\x9bU\x00\x00\x00\nIDATx\x9cc\xf8\x0f\x00\x01\x01\x01\x00\x1b\xb6\xeeV\x00\x00\x00\x00IEND\xaeB`\x82"

const withLogo = plain + "  - {image: assets/logo.png, decorative: true, width: 10mm}\n"

func tree() fstest.MapFS {
	return fstest.MapFS{
		"note.yaml":               {Data: []byte(plain)},
		"invoice/template.yaml":   {Data: []byte(withLogo)},
		"invoice/assets/logo.png": {Data: []byte(pixel)},
		"invoice/data.json":       {Data: []byte("not of the template")},
		"empty/readme.txt":        {Data: []byte("no template")},
		"Upper.yaml":              {Data: []byte("its name is not a template's")},
		"json-one/template.json":  {Data: []byte(`{"quire": 1, "name": "j", "lang": "en", "title": "J", "body": [{"text": "Hello"}]}`)},
		"notes.txt":               {Data: []byte("not a template")},
	}
}

// loader counts how often a template is compiled.
type loader struct {
	*render.Renderer
	compiled int
}

func newLoader(t *testing.T) *loader {
	t.Helper()
	r, err := render.New(render.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return &loader{Renderer: r}
}

func (l *loader) load(ctx context.Context, fsys fs.FS, name, main string) (*record.Template, error) {
	l.compiled++
	return l.Load(ctx, fsys, name, main)
}

func TestTemplate(t *testing.T) {
	f := templates.New(tree(), newLoader(t).load)
	one, err := f.Template(t.Context(), record.Local, "note")
	if err != nil || one.Main != "note.yaml" || len(one.Files) != 1 {
		t.Errorf("a single file: %+v, %v", one, err)
	}
	inv, err := f.Template(t.Context(), record.Local, "invoice")
	if err != nil {
		t.Fatal(err)
	}
	if inv.Main != "template.yaml" || len(inv.Files) != 2 || string(inv.Files["assets/logo.png"]) != pixel {
		t.Errorf("a folder: main %s, %d files; want the template and the logo it names", inv.Main, len(inv.Files))
	}
	if j, err := f.Template(t.Context(), record.Local, "json-one"); err != nil || j.Main != "template.json" {
		t.Errorf("a JSON template: %+v, %v", j, err)
	}
	for _, name := range []string{"nowhere", "empty"} {
		if _, err := f.Template(t.Context(), record.Local, name); !errors.Is(err, record.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", name, err)
		}
	}
	for name, nearest := range map[string]string{"invoce": "invoice", "nite": "note", "jsonone": "json-one", "emptyy": ""} {
		_, err := f.Template(t.Context(), record.Local, name)
		if m, ok := errors.AsType[*record.MissingError](err); !ok || m.Nearest != nearest {
			t.Errorf("%s: %v, want %q as the nearest", name, err, nearest)
		}
	}
	for _, name := range []string{"../note", "", "a/b", "Upper"} {
		if _, err := f.Template(t.Context(), record.Local, name); err == nil || errors.Is(err, record.ErrNotFound) {
			t.Errorf("%q: %v, want a request error", name, err)
		}
	}
}

// TestAnEditIsANewVersion also checks that an unchanged template is compiled once.
func TestAnEditIsANewVersion(t *testing.T) {
	fsys, l := tree(), newLoader(t)
	f := templates.New(fsys, l.load)
	get := func() record.TemplateRef {
		t.Helper()
		got, err := f.Template(t.Context(), record.Local, "invoice")
		if err != nil {
			t.Fatal(err)
		}
		return got.Ref()
	}
	first := get()
	if get() != first || l.compiled != 1 {
		t.Errorf("an unchanged template was compiled %d times", l.compiled)
	}
	fsys["invoice/data.json"] = &fstest.MapFile{Data: []byte("other")}
	if get() != first {
		t.Error("a file that the template does not name changed its version")
	}
	fsys["invoice/assets/logo.png"] = &fstest.MapFile{Data: []byte(pixel + "\n")}
	second := get()
	if second == first {
		t.Error("the logo changed and the version did not")
	}
	fsys["invoice/template.yaml"] = &fstest.MapFile{Data: []byte(plain)}
	if third := get(); third == second || l.compiled != 2 {
		t.Errorf("the text changed: same version %t, compiled %d times", third == second, l.compiled)
	}
}

// TestAnUnchangedTemplateIsHashedOnce: it is the version itself, with its hashes, however often its
// files are written anew with the same bytes; and a version is kept of every template.
func TestAnUnchangedTemplateIsHashedOnce(t *testing.T) {
	fsys := tree()
	f := templates.New(fsys, newLoader(t).load)
	first := map[string]*record.Template{}
	for range 3 {
		for _, name := range []string{"invoice", "note", "json-one"} {
			got, err := f.Template(t.Context(), record.Local, name)
			if err != nil {
				t.Fatal(err)
			}
			if was := first[name]; was != nil && was != got {
				t.Errorf("%s was made anew", name)
			}
			first[name] = got
		}
		fsys["invoice/assets/logo.png"] = &fstest.MapFile{Data: []byte(pixel)}
	}
}

// TestTheTemplatesThatAreKeptAreBounded: what does not fit is made anew, and is right.
func TestTheTemplatesThatAreKeptAreBounded(t *testing.T) {
	fsys := fstest.MapFS{}
	for _, name := range []string{"a", "b", "c"} {
		fsys[name+".yaml"] = &fstest.MapFile{Data: append(bytes.Repeat([]byte("#"), 30<<20), name...)}
	}
	made := 0
	f := templates.New(fsys, func(_ context.Context, fsys fs.FS, name, main string) (*record.Template, error) {
		made++
		b, err := fs.ReadFile(fsys, main)
		if err != nil {
			return nil, err
		}
		return record.NewTemplate(name, main, map[string][]byte{main: b})
	})
	for range 2 {
		for name, file := range fsys {
			got, err := f.Template(t.Context(), record.Local, strings.TrimSuffix(name, ".yaml"))
			if err != nil || !bytes.Equal(got.Files[name], file.Data) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if made < 4 {
		t.Errorf("%d made of three templates of 30 MiB asked for twice: more than 64 MiB are kept", made)
	}
}

func TestAFileThatIsGone(t *testing.T) {
	fsys := tree()
	f := templates.New(fsys, newLoader(t).load)
	if _, err := f.Template(t.Context(), record.Local, "invoice"); err != nil {
		t.Fatal(err)
	}
	delete(fsys, "invoice/assets/logo.png")
	_, err := f.Template(t.Context(), record.Local, "invoice")
	if wrong, ok := errors.AsType[*record.TemplateError](err); !ok || wrong.Line != 7 {
		t.Errorf("error %v, want the line that names the file", err)
	}
}

func TestNames(t *testing.T) {
	got, err := templates.New(tree(), newLoader(t).load).Names(t.Context(), record.Local)
	if want := []string{"invoice", "json-one", "note"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("names %q, %v; want %q", got, err, want)
	}
	none, err := templates.New(os.DirFS(filepath.Join(t.TempDir(), "absent")), newLoader(t).load).Names(t.Context(), record.Local)
	if err != nil || len(none) != 0 {
		t.Errorf("a folder that is absent: %q, %v", none, err)
	}
}

func TestLimit(t *testing.T) {
	fsys := fstest.MapFS{"big.yaml": {Data: bytes.Repeat([]byte("#"), templates.MaxBytes+1)}}
	_, err := templates.New(fsys, newLoader(t).load).Template(t.Context(), record.Local, "big")
	if _, ok := errors.AsType[*record.LimitError](err); !ok {
		t.Errorf("too many bytes: %v", err)
	}
}

// TestSymlinkOutOfTheFolder holds with an os.Root, which is what the program gives.
func TestSymlinkOutOfTheFolder(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.yaml")
	if err := os.WriteFile(outside, []byte(plain), 0o600); err != nil {
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
	if got, err := templates.New(root.FS(), newLoader(t).load).Template(t.Context(), record.Local, "leak"); err == nil {
		t.Errorf("a link out of the folder was followed: %q", got.Files["leak.yaml"])
	}
}

// TestTemplatesBelongToTheirSpace: the space local has what stands in the directory itself, any
// other what stands in its own, and none has or is told of another's.
func TestTemplatesBelongToTheirSpace(t *testing.T) {
	fsys := tree()
	fsys["acme/note.yaml"] = &fstest.MapFile{Data: []byte(withLogo)}
	fsys["acme/assets/logo.png"] = &fstest.MapFile{Data: []byte(pixel)}
	fsys["acme/template.yaml"] = &fstest.MapFile{Data: []byte(plain)}
	fsys["peek.yaml"] = &fstest.MapFile{Data: []byte(plain + "  - {image: acme/assets/logo.png, decorative: true}\n")}
	f := templates.New(fsys, newLoader(t).load, record.Local, "acme", "empty-one")
	for _, tt := range []struct {
		space record.Space
		want  []string
	}{
		{record.Local, []string{"invoice", "json-one", "note", "peek"}},
		{"acme", []string{"note", "template"}},
		{"empty-one", nil},
		{"invoice", nil}, // a directory of that name makes no space
	} {
		got, err := f.Names(t.Context(), tt.space)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("space %s: %q %v, want %q", tt.space, got, err, tt.want)
		}
	}
	local, err := f.Template(t.Context(), record.Local, "note")
	if err != nil {
		t.Fatal(err)
	}
	acme, err := f.Template(t.Context(), "acme", "note")
	if err != nil {
		t.Fatal(err)
	}
	if local.Ref() == acme.Ref() || len(acme.Files) != 2 {
		t.Errorf("both spaces have one template: %s, %s with %d files", local.Ref().Hash, acme.Ref().Hash, len(acme.Files))
	}
	for space, name := range map[record.Space]string{record.Local: "acme", "acme": "invoice", "empty-one": "note", "invoice": "template"} {
		if got, err := f.Template(t.Context(), space, name); !errors.Is(err, record.ErrNotFound) {
			t.Errorf("space %s has %s: %v %v", space, name, got, err)
		}
	}
	if got, err := f.Template(t.Context(), record.Local, "peek"); err == nil {
		t.Errorf("a template of local reads a file of acme: %v", got)
	}
}
