// Command pdfops shows the operations on PDF files with an application form: it is filled in,
// merged with the terms, stamped and numbered, signed and verified. In a public copy, name and
// account are redacted.
//
//	go run ./examples/pdfops DIRECTORY
package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"time"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/form"
	"example.com/quire/pdf/sign"
)

func main() {
	dir := "."
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	if err := run(context.Background(), dir, os.Stdout, time.Now()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// office does the operations. An engine is made once; it may be used from many goroutines.
type office struct {
	*pdf.Engine
	identity *sign.Identity
	now      time.Time
}

// run writes application.pdf, dossier.pdf and public.pdf to a directory and tells what it does.
func run(ctx context.Context, dir string, told io.Writer, now time.Time) error {
	engine, err := pdf.New(pdf.Config{})
	if err != nil {
		return err
	}
	identity, err := newIdentity(now)
	if err != nil {
		return err
	}
	o := &office{engine, identity, now}
	application, err := o.application(ctx)
	if err != nil {
		return err
	}
	terms, err := o.terms(ctx)
	if err != nil {
		return err
	}
	filled, err := o.filled(ctx, application, `{"name": "Ada Lovelace", "account": "GB33BUKB20201555555555", "agreed": true}`)
	if err != nil {
		return err
	}
	dossier, err := o.dossier(ctx, filled, terms)
	if err != nil {
		return err
	}
	public, removed, err := o.public(ctx, dossier)
	if err != nil {
		return err
	}
	for name, file := range map[string]*[]byte{"dossier.pdf": &dossier, "public.pdf": &public} {
		if *file, err = o.signed(ctx, *file, "Registered"); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, f := range []struct {
		name    string
		content []byte
	}{{"application.pdf", application}, {"dossier.pdf", dossier}, {"public.pdf", public}} {
		if err := os.WriteFile(filepath.Join(dir, f.name), f.content, 0o600); err != nil { //nolint:gosec // G703: the directory is the user's, the names are these
			return err
		}
		verdict, err := o.verdict(ctx, f.content)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		if _, err := fmt.Fprintf(told, "%-16s %6d bytes  %s\n", f.name, len(f.content), verdict); err != nil {
			return err
		}
	}
	damaged := bytes.Clone(dossier)
	damaged[len("%PDF-2.0\n%_")] ^= 1 // in the comment of the second line, which draws nothing
	verdict, err := o.verdict(ctx, damaged)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(told, "one byte changed: %s\ntaken out of public.pdf: %d characters\n", verdict, removed)
	return err
}

// application is a form.
func (o *office) application(ctx context.Context) ([]byte, error) {
	return o.build(ctx, func(b *doc.Builder) error {
		b.Title("Application").Lang("en").Heading(1, "Application")
		name := doc.NewField(doc.FieldText, "name", "Name")
		name.Required = true
		b.Field(name)
		b.Field(doc.NewField(doc.FieldText, "account", "Account"))
		b.Field(doc.NewField(doc.FieldCheckBox, "agreed", "I agree to the terms"))
		return nil
	})
}

func (o *office) terms(ctx context.Context) ([]byte, error) {
	return o.build(ctx, func(b *doc.Builder) error {
		b.Title("Terms").Lang("en").Heading(1, "Terms", doc.Bookmark("Terms"))
		b.Text("What was registered may be read by everyone, without names and accounts.")
		return nil
	})
}

func (o *office) build(ctx context.Context, content func(*doc.Builder) error) ([]byte, error) {
	var out bytes.Buffer
	_, err := o.Build(ctx, &out, pdf.RenderOptions{Time: o.now}, content)
	return out.Bytes(), err
}

// open reads a file. Of one that is not right the error is a *pdf.DiagnosticError with place and
// remedy.
func (o *office) open(ctx context.Context, file []byte) (*pdf.Document, error) {
	return o.Open(ctx, bytes.NewReader(file), int64(len(file)), pdf.OpenOptions{})
}

// filled gives the fields values and then makes them a part of the page: several changes are done
// with one reading and one writing.
func (o *office) filled(ctx context.Context, file []byte, values string) ([]byte, error) {
	v, err := form.Parse([]byte(values))
	if err != nil {
		return nil, err
	}
	return o.edited(ctx, file, pdf.Fill(v, nil), pdf.Flatten(nil))
}

func (o *office) edited(ctx context.Context, file []byte, ops ...pdf.Op) ([]byte, error) {
	d, err := o.open(ctx, file)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	_, err = o.Edit(ctx, &out, d, pdf.EditOptions{}, ops...)
	return out.Bytes(), err
}

// dossier joins the application with the terms, stamps the first page and numbers all.
func (o *office) dossier(ctx context.Context, application, terms []byte) ([]byte, error) {
	first, err := o.open(ctx, application)
	if err != nil {
		return nil, err
	}
	second, err := o.open(ctx, terms)
	if err != nil {
		return nil, err
	}
	var joined bytes.Buffer
	in := []pdf.MergeInput{{Doc: first, Name: "Application"}, {Doc: second, Name: "Terms"}}
	if _, err := o.Merge(ctx, &joined, in, pdf.EditOptions{}); err != nil {
		return nil, err
	}
	stamp := pdf.Stamping{
		Text: "Received " + o.now.Format("2 January 2006"), Pages: "1",
		Look:    pdf.TextLook{Bold: true, Color: doc.RGB(0xb0, 0, 0x20)},
		Placing: pdf.Placing{Position: "top-right", Margin: 30},
	}
	return o.edited(ctx, joined.Bytes(), pdf.Stamp(stamp), pdf.Number(pdf.Numbers{Format: "{page}/{pages}"}))
}

// public takes out the name, and whatever looks like an account. The new file has been read again
// when it comes back: what cannot be proved to be gone is an error.
func (o *office) public(ctx context.Context, file []byte) (out []byte, removed int, err error) {
	for _, what := range []pdf.RedactOptions{{Text: "Ada Lovelace"}, {Regexp: `GB\d\d[A-Z]{4}\d{14}`}} {
		d, err := o.open(ctx, file)
		if err != nil {
			return nil, 0, err
		}
		var b bytes.Buffer
		s, err := o.Redact(ctx, &b, d, what)
		if err != nil {
			return nil, 0, err
		}
		file = b.Bytes()
		removed += s.Removed.Characters
	}
	return file, removed, nil
}

// signed adds a signature, behind the bytes that are there.
func (o *office) signed(ctx context.Context, file []byte, reason string) ([]byte, error) {
	d, err := o.open(ctx, file)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	_, err = o.Sign(ctx, &out, d, pdf.SignRequest{Identity: o.identity, Time: o.now, Reason: reason, Rect: [4]float64{300, 40, 500, 90}})
	return out.Bytes(), err
}

// verdict says in words what can be told of a file's signatures.
func (o *office) verdict(ctx context.Context, file []byte) (string, error) {
	d, err := o.open(ctx, file)
	if err != nil {
		return "", err
	}
	list, err := o.Verify(ctx, d, pdf.VerifyOptions{Roots: o.identity.Chain, At: o.now})
	if err != nil {
		return "", err
	}
	words := []string{}
	for _, v := range list {
		word := "not valid: " + strings.Join(v.Reasons, "; ")
		if v.Valid {
			word = "valid, by " + v.Signer.Name
		}
		words = append(words, word)
	}
	if len(words) == 0 {
		return "not signed", nil
	}
	return strings.Join(words, ", "), nil
}

// newIdentity makes a key and a certificate that names itself, for this example. A real one comes
// from a file, by sign.ParseIdentity, or is a crypto.Signer before a token or a service.
func newIdentity(now time.Time) (*sign.Identity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Registry (example)"}, KeyUsage: x509.KeyUsageDigitalSignature,
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
	}
	raw, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(raw)
	return &sign.Identity{Key: key, Chain: []*x509.Certificate{cert}}, err
}
