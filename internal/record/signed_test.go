package record_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"example.com/quire/internal/record"
)

// A document that its template has signed keeps its signature, so that the same file is made again
// though each signature is another one: when it is asked for again, when its file is lost, and when
// it is verified.
func TestSignedDocumentsAreMadeAgainByTheirSignature(t *testing.T) {
	b := newBench(t)
	b.catalog.templates["note"] = template(t, "note", "signed by bank.")
	r := record.Request{Template: "note", Time: noon, Data: []byte(`{"a":1}`)}
	made := b.make(t, r)
	receipt, _, err := record.ParseReceipt(made.Receipt)
	if err != nil {
		t.Fatal(err)
	}
	d, file := made.Document, b.file(t, made.Document)
	if d.Signer != "bank" || receipt.Signer != "bank" || !bytes.HasPrefix(b.blobs.blobs[receipt.Signature], []byte("bank ")) || !bytes.HasSuffix(file, b.blobs.blobs[receipt.Signature]) {
		t.Fatalf("signer %q, receipt %+v", d.Signer, receipt)
	}
	unsigned, err := record.Identity{Space: record.Local, Template: d.Template, Snapshot: d.Snapshot, Options: d.Options}.ID()
	if err != nil || unsigned == d.ID {
		t.Errorf("the signer is no part of the document's id: %v", err)
	}
	if again := b.make(t, r); again.Created || again.Document.Content != d.Content || !bytes.Equal(again.Receipt, made.Receipt) {
		t.Error("the same request made another document")
	}
	for how, harm := range harms {
		harm(b, d.Content)
		if again := b.make(t, r); again.Created || !bytes.Equal(b.file(t, again.Document), file) {
			t.Errorf("a file that was %s is not made again", how)
		}
	}
	want(t, "the file", verdict(t, b, record.RemakeRequest{File: bytes.NewReader(file)}), "identical")
	want(t, "the stored file", verdict(t, b, record.RemakeRequest{ID: d.ID}), "identical")
	forged := bytes.Clone(file)
	forged[len(forged)-1]++
	want(t, "another signature", verdict(t, b, record.RemakeRequest{File: bytes.NewReader(forged)}), "differs at byte "+itoa(len(file)-1))

	// A receipt that names another blob gives no access to it, and contradicts the one that is
	// kept.
	other := *receipt
	other.Signature = d.Snapshot
	altered, err := other.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	want(t, "another signature in the receipt", verdict(t, b, record.RemakeRequest{ID: d.ID, Receipt: altered}), "differs from its receipt: signature")

	for how, harm := range harms {
		b.blobs.blobs[receipt.Signature] = []byte("bank 1")
		harm(b, receipt.Signature)
		found, err := b.Inspect(t.Context(), d)
		if err != nil || len(found) != 1 || found[0].What != "the signature" {
			t.Errorf("%s: %v %v", how, found, err)
		}
		if _, err := b.Make(t.Context(), withSpace(r)); err == nil || !strings.Contains(err.Error(), "signature") {
			t.Errorf("%s: a document was acknowledged that cannot be made again: %v", how, err)
		}
	}
}

func withSpace(r record.Request) record.Request {
	r.Space = record.Local
	return r
}

// What can never be made again is not kept.
func TestEncryptedDocumentsAreNotKept(t *testing.T) {
	b := newBench(t)
	r := record.Request{Space: record.Local, Inline: template(t, "note", "encrypted"), Time: noon}
	if _, err := b.Render(t.Context(), &bytes.Buffer{}, r); err != nil {
		t.Error(err)
	}
	_, err := b.Make(t.Context(), r)
	if wrong, ok := errors.AsType[*record.RequestError](err); !ok || wrong.Field != "template" || len(b.documents.documents[record.Local]) > 0 || b.blobs.open != 0 {
		t.Errorf("kept: %v", err)
	}
}

// A draft is rendered unsigned and never kept.
func TestDraftsAreUnsigned(t *testing.T) {
	b := newBench(t)
	r := record.Request{Space: record.Local, Inline: template(t, "note", "signed by bank."), Time: noon}
	var signed, draft bytes.Buffer
	if res, err := b.Render(t.Context(), &signed, r); err != nil || res.Signature == nil {
		t.Fatal(err)
	}
	r.Draft = true
	if res, err := b.Render(t.Context(), &draft, r); err != nil || res.Signature != nil || !strings.HasSuffix(draft.String(), "%%EOF\n") {
		t.Fatal(err)
	}
	wrong, ok := errors.AsType[*record.RequestError](func() error { _, err := b.Make(t.Context(), r); return err }())
	if !ok || wrong.Field != "draft" {
		t.Errorf("a draft was kept: %v", wrong)
	}
}
