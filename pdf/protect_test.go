package pdf_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/crypt"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/standard"
	"example.com/quire/pdf/template"
)

const secretText = "Confidential words of Zoë"

func secretDocument(b *doc.Builder) error {
	b.Title("Secret title ž").Lang("en").Meta(doc.Meta{Author: "Secret author"})
	b.Heading(1, "Secret heading", doc.Anchor("there"), doc.Bookmark("Secret bookmark"))
	b.Text(secretText, doc.LinkTo("https://secret.example.com/path"))
	b.Text("to the top", doc.LinkTo("#there"))
	b.Barcode(doc.QR, "secret", "Secret figure")
	return nil
}

// tool runs a program over a file and returns what it printed and its exit status.
func tool(t *testing.T, name string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), pdftest.Need(t, name), args...) //nolint:gosec // judges, over files of the test
	out, err := cmd.CombinedOutput()
	if _, exit := errors.AsType[*exec.ExitError](err); err != nil && !exit {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// TestProtectedDocumentOpensWithItsPasswords: qpdf and poppler open an encrypted document with
// either password and with no other, and find what it says and what is allowed.
func TestProtectedDocumentOpensWithItsPasswords(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	for _, user := range []string{"", "pässwörd", strings.Repeat("long", 31)} {
		body, res := render(t, e, pdf.RenderOptions{
			Standards: []standard.ID{standard.PDFUA2}, Time: frozen,
			Protect: &crypt.Options{Owner: "the owner's", User: user, Permissions: crypt.Print | crypt.Copy},
		}, secretDocument)
		if res.Deterministic {
			t.Error("an encrypted document of crypto/rand is called deterministic")
		}
		file := pdftest.Write(t, "secret.pdf", body)
		for _, password := range []string{user, "the owner's"} {
			if out, code := tool(t, "qpdf", "--password="+password, "--check", file); code != 0 {
				t.Errorf("user %q, password %q: qpdf exit %d: %s", user, password, code, out)
			}
			flag := "-upw"
			if password != user {
				flag = "-opw"
			}
			if len(password) > 32 {
				continue // the command line of pdftotext has no room for it
			}
			if out, code := tool(t, "pdftotext", flag, password, file, "-"); code != 0 || !strings.Contains(out, secretText) {
				t.Errorf("user %q, password %q: pdftotext exit %d: %s", user, password, code, out)
			}
		}
		if out, code := tool(t, "qpdf", "--password=wrong", "--check", file); user != "" && code == 0 {
			t.Errorf("qpdf opens it with a wrong password: %s", out)
		}
		out, code := tool(t, "qpdf", "--password="+user, "--show-encryption", file)
		if code != 0 {
			t.Errorf("qpdf exit %d: %s", code, out)
		}
		for _, want := range []string{
			"R = 6", "extract for accessibility: allowed", "extract for any purpose: allowed", "print low resolution: allowed",
			"print high resolution: not allowed", "modify document assembly: not allowed", "modify forms: not allowed",
			"modify annotations: not allowed", "stream encryption method: AESv3", "string encryption method: AESv3",
		} {
			if !strings.Contains(out, want) {
				t.Errorf("qpdf does not say %q: %s", want, out)
			}
		}
	}
}

// TestProtectedFileHasNoClearText: no text, title, address or name of the document is in the file,
// inflated or not; the metadata are when that was asked.
func TestProtectedFileHasNoClearText(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	words := []string{"ecret", "Confidential", "example.com", "StructTreeRoot", "Quire", "doc-17"}
	for _, plain := range []bool{false, true} {
		body, _ := render(t, e, pdf.RenderOptions{
			Standards: []standard.ID{standard.PDFUA2}, Time: frozen, DocumentID: "doc-17",
			Protect: &crypt.Options{Owner: "o", Permissions: crypt.All, PlainMetadata: plain},
		}, secretDocument)
		text := body
		if plain {
			from, to := bytes.Index(body, []byte("<?xpacket begin")), bytes.Index(body, []byte("<?xpacket end"))
			if from < 0 || to < from {
				t.Fatal("the metadata are not readable")
			}
			text = slices.Concat(body[:from], body[to:])
			ids, err := pdf.DocumentIDs(bytes.NewReader(body))
			if err != nil || !slices.Contains(ids, "doc-17") {
				t.Errorf("document ids: %v, %v", ids, err)
			}
		}
		for _, word := range words {
			if bytes.Contains(text, []byte(word)) {
				t.Errorf("plain metadata %v: the file has %q", plain, word)
			}
		}
		file := pdftest.Write(t, "secret.pdf", body)
		if out, code := tool(t, "qpdf", "--check", file); code != 0 {
			t.Errorf("plain metadata %v: qpdf exit %d: %s", plain, code, out)
		}
	}
}

// TestTemplatesAskForTheirProtection: passwords may come from the data; permissions and metadata
// are as the template says; a draft is not encrypted, and neither signature nor PDF/A go with it.
func TestTemplatesAskForTheirProtection(t *testing.T) {
	t.Parallel()
	e := newEngine(t, pdf.Config{})
	made := func(asked, data string, o pdf.RenderOptions) (*pdf.Document, error) {
		plan, err := e.Compile(t.Context(), pdf.Source{File: "t.yaml", Text: []byte("quire: 1\nname: x\nlang: en\ntitle: T\ndata: {pin: string}\n" + asked + "\nbody: [{text: a}]\n")})
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		res, err := e.Render(t.Context(), &out, plan, template.JSON([]byte(data)), o)
		if err != nil {
			return nil, err
		}
		if res.Deterministic != o.Draft {
			t.Errorf("%s: deterministic %t", asked, res.Deterministic)
		}
		d, err := e.Open(t.Context(), bytes.NewReader(out.Bytes()), int64(out.Len()), pdf.OpenOptions{})
		if !errors.Is(err, pdf.ErrPassword) {
			return d, err
		}
		return e.Open(t.Context(), bytes.NewReader(out.Bytes()), int64(out.Len()), pdf.OpenOptions{Password: "17"})
	}
	const data = `{"pin": "17"}`
	d, err := made(`protect: {owner: "o", user: "${pin}", permissions: [print, fill], metadata: clear}`, data, pdf.RenderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if i := d.Info().Encryption; i == nil || !slices.Equal(i.Allowed, []string{"print", "fill"}) {
		t.Errorf("%+v", i)
	}
	if d, err = made("protect: {owner: o}", data, pdf.RenderOptions{}); err != nil || !slices.Equal(d.Info().Encryption.Allowed, crypt.PermissionNames()) {
		t.Errorf("all permissions: %v", err)
	}
	if d, err = made("protect: {owner: o}", data, pdf.RenderOptions{Draft: true}); err != nil || d.Info().Encryption != nil {
		t.Errorf("a draft: %v", err)
	}
	for asked, want := range map[string]string{
		`protect: {owner: "${pin}", user: "17"}`:               "another one than the user's",
		`protect: {owner: "${pin}${pin}", user: "1717"}`:       "another one than the user's",
		"standard: pdf/a-4\nprotect: {owner: o}":               "a PDF/A document is not encrypted",
		"sign: {signer: a}\nprotect: {owner: o}":               "is not signed",
		"protect: {owner: o, permissions: print}":              "want a list",
		"protect: {owner: o, permissions: [sing]}":             "no permission",
		"protect: {user: o}":                                   `key "owner" is missing`,
		"standard: pdf/ua-1\nprotect: {owner: o, user: \"2\"}": "AES-256 is of PDF 2.0",
	} {
		if _, err := made(asked, data, pdf.RenderOptions{}); err == nil || !strings.Contains(fmt.Sprint(diagnosticsOf(err)), want) || diagnosticsOf(err)[0].Line < 5 {
			t.Errorf("%s: %v", asked, err)
		}
	}
	_, err = made("protect: {owner: o}", data, pdf.RenderOptions{Standards: compliant, Time: frozen})
	if d := diagnosticsOf(err); len(d) != 1 || d[0].Code != "S003" || d[0].Line != 6 {
		t.Errorf("with a claim of the request: %v", err)
	}
}

func TestProtectionThatCannotBe(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	build := func(o pdf.RenderOptions) error {
		_, err := e.Build(context.Background(), io.Discard, o, secretDocument)
		return err
	}
	err := build(pdf.RenderOptions{Standards: compliant, Time: frozen, Protect: &crypt.Options{Owner: "o"}})
	de, ok := errors.AsType[*pdf.DiagnosticError](err)
	if !ok || len(de.Diagnostics) != 1 || de.Diagnostics[0].Code != "S003" || de.Diagnostics[0].Clause != "ISO 19005-4, 6.1.3" {
		t.Errorf("PDF/A: %v", err)
	}
	for field, o := range map[string]*crypt.Options{
		"Owner": {User: "u"}, "User": {Owner: "o", User: "\x00"}, "Permissions": {Owner: "o", Permissions: 1},
	} {
		if ce, ok := errors.AsType[*crypt.ConfigError](build(pdf.RenderOptions{Protect: o})); !ok || ce.Field != field {
			t.Errorf("%s: %v", field, ce)
		}
	}
	if err := build(pdf.RenderOptions{Protect: &crypt.Options{Owner: "same", User: "same"}}); err == nil {
		t.Error("one password for both was accepted")
	}
	broken := errors.New("no entropy")
	if err := build(pdf.RenderOptions{Protect: &crypt.Options{Owner: "o"}, Rand: noRandom{broken}}); !errors.Is(err, broken) {
		t.Errorf("without randomness: %v", err)
	}
}

type noRandom struct{ err error }

func (f noRandom) Read([]byte) (int, error) { return 0, f.err }

// TestProtectionWithOneSourceOfRandomnessIsDeterministic, and with another no block is the same.
func TestProtectionWithOneSourceOfRandomnessIsDeterministic(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	make1 := func(seed byte) []byte {
		body, res := render(t, e, pdf.RenderOptions{Protect: &crypt.Options{Owner: "o"}, Rand: rand.NewChaCha8([32]byte{seed})}, secretDocument)
		if !res.Deterministic {
			t.Error("it is not called deterministic")
		}
		return body
	}
	a, b := make1(1), make1(2)
	if !bytes.Equal(a, make1(1)) {
		t.Error("the same source gives other bytes")
	}
	// With this source the hash of the user's password ends on the very bound of algorithm 2.B.
	if out, code := tool(t, "qpdf", "--check", pdftest.Write(t, "a.pdf", a)); code != 0 {
		t.Errorf("qpdf exit %d: %s", code, out)
	}
	i := bytes.Index(a, []byte("stream\n"))
	if bytes.Equal(a[i:i+64], b[i:i+64]) {
		t.Error("two sources give the same stream")
	}
}
