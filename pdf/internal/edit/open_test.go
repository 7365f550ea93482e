package edit_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/crypt"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/edit"
	"example.com/quire/pdf/pdftest"
)

// file writes a document of two pages whose page boxes and titles are inherited and encrypted.
func file(tb testing.TB) []byte {
	tb.Helper()
	var out bytes.Buffer
	w := cos.NewWriter(&out, cos.Options{Version: cos.V17})
	root, info, pages, inner, one, two, content := w.Reserve(), w.Reserve(), w.Reserve(), w.Reserve(), w.Reserve(), w.Reserve(), w.Reserve()
	page := cos.Dict{cos.E("Type", cos.Name("Page")), cos.E("Contents", content)}
	box := func(n cos.Int) cos.Array { return cos.Array{cos.Int(0), cos.Int(0), n, n} }
	err := errors.Join(
		w.Put(root, cos.Dict{cos.E("Type", cos.Name("Catalog")), cos.E("Pages", pages)}),
		w.Put(info, cos.Dict{cos.E("Title", cos.Text("Žluť"))}),
		w.Put(pages, cos.Dict{cos.E("Type", cos.Name("Pages")), cos.E("Kids", cos.Array{one, inner}), cos.E("Count", cos.Int(2)), cos.E("MediaBox", box(200)), cos.E("Resources", cos.Dict{})}),
		w.Put(inner, cos.Dict{cos.E("Type", cos.Name("Pages")), cos.E("Parent", pages), cos.E("Kids", cos.Array{two}), cos.E("Count", cos.Int(1)), cos.E("Rotate", cos.Int(90))}),
		w.Put(one, append(page[:2:2], cos.E("Parent", pages), cos.E("MediaBox", box(100)))),
		w.Put(two, append(page[:2:2], cos.E("Parent", inner))),
		w.EncodedStream(content, nil, "", []byte("0 0 m 9 9 l S % the drawing")),
	)
	if _, closed := w.Close(cos.Trailer{Root: root, Info: info}); err != nil || closed != nil {
		tb.Fatal(err, closed)
	}
	return out.Bytes()
}

// describe is what a document says: its pages with what they inherit, title and content.
func describe(tb testing.TB, b []byte, password string) (string, *edit.Document, error) {
	tb.Helper()
	d, err := edit.Open(bytes.NewReader(b), int64(len(b)), edit.Options{Password: password})
	if err != nil {
		return "", nil, err
	}
	var s strings.Builder
	for _, p := range d.Pages {
		rotate, _ := d.Resolve(p.Dict.Get("Rotate"))
		box, _ := d.Resolve(p.Dict.Get("MediaBox"))
		content, err := d.Resolve(p.Dict.Get("Contents"))
		if err != nil {
			tb.Fatal(err)
		}
		stream, _ := content.(*cos.Stream)
		data, _, err := d.Decode(stream)
		if err != nil {
			tb.Fatal(err)
		}
		fmt.Fprintf(&s, "%s %v %s\n", box.AppendPDF(nil), rotate, data)
	}
	info, err := d.Dict(d.Trailer().Get("Info"))
	if err != nil {
		tb.Fatal(err)
	}
	title, _ := cos.TextOf(info.Get("Title"))
	return s.String() + title, d, nil
}

const described = "[0 0 100 100] <nil> 0 0 m 9 9 l S % the drawing\n[0 0 200 200] 90 0 0 m 9 9 l S % the drawing\nŽluť"

// TestPagesInherit what the nodes above them have.
func TestPagesInherit(t *testing.T) {
	if got, _, err := describe(t, file(t), ""); got != described || err != nil {
		t.Errorf("got %s, want %s, %v", got, described, err)
	}
}

// TestEncryptedFilesOpenWithTheirPasswords: files that qpdf encrypted in each revision of the
// standard security handler, with the user's and the owner's password and with no other.
func TestEncryptedFilesOpenWithTheirPasswords(t *testing.T) {
	qpdf := pdftest.Need(t, "qpdf")
	plain := pdftest.Write(t, "plain.pdf", file(t))
	for name, args := range map[string][]string{
		"R2":                {"40", "--"},
		"R3":                {"128", "--use-aes=n", "--"},
		"R4 RC4":            {"128", "--force-V4", "--"},
		"R4 AES":            {"128", "--use-aes=y", "--"},
		"R4 plain metadata": {"128", "--use-aes=y", "--cleartext-metadata", "--"},
		"R5":                {"256", "--force-R5", "--"},
		"R6":                {"256", "--"},
		"R6 plain metadata": {"256", "--cleartext-metadata", "--"},
	} {
		for _, user := range []string{"", "reader"} {
			for _, objects := range []string{"--object-streams=disable", "--object-streams=generate"} {
				out := filepath.Join(t.TempDir(), "secret.pdf")
				all := append([]string{"--allow-weak-crypto", objects, "--encrypt", user, "owner"}, args...)
				cmd := exec.CommandContext(t.Context(), qpdf, append(all, plain, out)...) //nolint:gosec // a judge, over files of the test
				if said, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%s: %v: %s", name, err, said)
				}
				b, err := os.ReadFile(out)
				if err != nil {
					t.Fatal(err)
				}
				for _, password := range []string{user, "owner"} {
					got, d, err := describe(t, b, password)
					if err != nil || got != described {
						t.Errorf("%s, password %q: %s, %v", name, password, got, err)
					} else if !d.Encrypted() || d.Key.Owner != (password == "owner") || len(d.Warnings()) > 0 {
						t.Errorf("%s, password %q: encrypted %t, owner %t, %v", name, password, d.Encrypted(), d.Key.Owner, d.Warnings())
					}
				}
				if _, _, err := describe(t, b, "wrong"); user != "" && !errors.Is(err, crypt.ErrPassword) {
					t.Errorf("%s with a wrong password: %v", name, err)
				}
				b = bytes.Replace(b, []byte("startxref"), []byte("startxxxx"), 1)
				if got, _, err := describe(t, b, "owner"); err != nil || got != described {
					t.Errorf("%s, damaged: %s, %v", name, got, err)
				}
			}
		}
	}
}

// TestPageTreesThatAreNone end: circles, nodes that come twice, endless depth and too many pages.
func TestPageTreesThatAreNone(t *testing.T) {
	tree := func(objects ...string) []byte {
		s := "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
		for i, o := range objects {
			s += fmt.Sprintf("%d 0 obj%s endobj\n", i+2, o)
		}
		return []byte(s + "trailer<</Root 1 0 R>>")
	}
	deep := make([]string, 150)
	for i := range deep {
		deep[i] = fmt.Sprintf("<</Kids[%d 0 R]>>", i+3)
	}
	for name, tt := range map[string]struct {
		b     []byte
		pages int
		limit string
	}{
		"circle":         {tree("<</Kids[3 0 R]>>", "<</Kids[2 0 R 4 0 R]>>", "<</Type/Page>>"), 1, ""},
		"page twice":     {tree("<</Kids[3 0 R 3 0 R]>>", "<</Type/Page>>"), 1, ""},
		"no such kid":    {tree("<</Kids[9 0 R null 3 0 R]>>", "<</Type/Page>>"), 1, ""},
		"empty":          {tree("<</Type/Pages>>"), 0, ""},
		"deep":           {tree(deep...), 0, "Depth"},
		"too many pages": {tree("<</Kids[" + strings.Repeat("<</Type/Page>>", 6) + "]>>"), 0, "Pages"},
	} {
		d, err := edit.Open(bytes.NewReader(tt.b), int64(len(tt.b)), edit.Options{Pages: 5})
		var limit *diag.LimitError
		switch {
		case tt.limit != "":
			if !errors.As(err, &limit) || limit.Name != tt.limit {
				t.Errorf("%s: %v", name, err)
			}
		case err != nil || len(d.Pages) != tt.pages:
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSecurityHandlersThatAreNotRead are named.
func TestSecurityHandlersThatAreNotRead(t *testing.T) {
	for dict, want := range map[string]string{
		"<</Filter/Other>>":                     "Other",
		"<</Filter/Standard/V 9/R 9>>":          "version 9, revision 9",
		"<</Filter/Standard/V 5/R 6>>":          "O, U, OE or UE",
		"<</Filter/Standard/V 1/R 2>>":          "O, U or Length",
		"<</Filter/Standard/V 4/R 4/StmF/Odd>>": "crypt filter Odd",
	} {
		b := []byte("%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<<>>endobj trailer<</Root 1 0 R/Encrypt" + dict + ">>")
		var config *crypt.ConfigError
		if _, err := edit.Open(bytes.NewReader(b), int64(len(b)), edit.Options{}); !errors.As(err, &config) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", dict, err)
		}
	}
}

// FuzzOpen: no encryption dictionary and no data makes decryption panic.
func FuzzOpen(f *testing.F) {
	f.Add(4, 4, 128, []byte(strings.Repeat("o", 48)), []byte(strings.Repeat("u", 48)), "V2", []byte("data"))
	f.Add(5, 6, 256, []byte(strings.Repeat("o", 48)), []byte(strings.Repeat("u", 48)), "AESV3", []byte(strings.Repeat("d", 32)))
	f.Fuzz(func(t *testing.T, v, r, length int, o, u []byte, method string, data []byte) {
		l := crypt.Locked{V: v, R: r, Length: length, O: o, U: u, OE: o, UE: u, Filters: map[string]crypt.Method{"F": crypt.Method(method)}, Strings: "F", Streams: "F"}
		k, err := crypt.Open(l, "password")
		if (k == nil) != (err != nil) {
			t.Fatalf("%v, %v", k, err)
		}
		if k == nil {
			return
		}
		_, _ = k.DecryptString(1, 0, data)
		_, _ = k.DecryptStream(1, 0, method, data)
	})
}
