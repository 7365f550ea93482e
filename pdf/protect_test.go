package pdf_test

import (
	"bytes"
	"context"
	"errors"
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
