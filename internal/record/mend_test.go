package record_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"example.com/quire/internal/record"
)

// harms are what can happen to stored bytes.
var harms = map[string]func(b *bench, h record.Hash){
	"gone":    func(b *bench, h record.Hash) { delete(b.blobs.blobs, h) },
	"damaged": func(b *bench, h record.Hash) { b.blobs.blobs[h] = append([]byte("x"), b.blobs.blobs[h]...) },
}

// parts are the stored bytes of a document.
func parts(d *record.Document) map[string]record.Hash {
	return map[string]record.Hash{
		"snapshot": d.Snapshot, "manifest": d.Template.Hash, "template file": record.Sum([]byte("logo")), "file": d.Content,
	}
}

// What is acknowledged can be served and made again, also when the storage held
// damaged bytes under the names of its inputs.
func TestMakeMendsWhatIsDamaged(t *testing.T) {
	for how, harm := range harms {
		for part := range parts(&record.Document{}) {
			for _, again := range []bool{true, false} {
				b := newBench(t)
				r := record.Request{Template: "note", Time: noon, Data: []byte(`{"a":1}`)}
				first := b.make(t, r)
				file := b.file(t, first.Document)
				harm(b, parts(first.Document)[part])
				if !again { // another document over the same data and template
					r.Options.Standards = []string{"pdf/a-4"}
				}
				made := b.make(t, r)
				if made.Created == again {
					t.Errorf("%s %s: created %v", part, how, made.Created)
				}
				for name, h := range parts(made.Document) {
					if record.Sum(b.blobs.blobs[h]) != h {
						t.Errorf("%s %s, made again %v: the %s is not mended", part, how, again, name)
					}
				}
				if told := slices.Contains(b.blobs.log, "restored "+made.Document.ID.String()); told != (again && part == "file") {
					t.Errorf("%s %s, made again %v: told in the audit log %v", part, how, again, told)
				}
				if again && (!bytes.Equal(b.file(t, made.Document), file) || !bytes.Equal(made.Receipt, first.Receipt)) {
					t.Errorf("%s %s: another document", part, how)
				}
				want(t, part+" "+how, verdict(t, b, record.RemakeRequest{ID: made.Document.ID}), "identical")
			}
		}
	}
}

// A file that this engine cannot make again is not acknowledged.
func TestMakeRefusesWhatItCannotMend(t *testing.T) {
	for how, harm := range harms {
		b := newBench(t)
		r := record.Request{Space: record.Local, Template: "note", Time: noon, Report: "monthly"}
		b.catalog.reports["monthly"] = &record.Report{Name: "monthly", Template: "note"}
		made := b.make(t, record.Request{Template: "note", Time: noon})
		file := b.file(t, made.Document)
		harm(b, made.Document.Content)
		b.press.engine = "2+def"
		log := len(b.blobs.log)
		if _, err := b.Make(t.Context(), r); !errors.Is(err, record.ErrDamaged) {
			t.Errorf("%s: %v, want that the stored bytes are damaged", how, err)
		}
		if len(b.blobs.log) != log || b.blobs.open != 0 {
			t.Errorf("%s: something was kept: %q", how, b.blobs.log[log:])
		}
		if d := b.documents.documents[record.Local][made.Document.ID]; len(d.Reports) > 0 {
			t.Errorf("%s: the report's latest cannot be served", how)
		}
		// An engine that refuses the inputs says nothing about the request.
		refusing := &refuser{press: b.press, err: &record.TemplateError{Problem: record.Problem{Message: "no longer"}}}
		maker, err := record.NewMaker(record.Parts{Engine: refusing, Blobs: b.blobs, Documents: b.documents, Templates: b.catalog, Now: b.clock.Local})
		if err != nil {
			t.Fatal(err)
		}
		var wrong *record.TemplateError
		r.Report = ""
		if _, err := maker.Make(t.Context(), r); !errors.Is(err, record.ErrDamaged) || errors.As(err, &wrong) {
			t.Errorf("%s, refused: %v, want that the stored bytes are damaged", how, err)
		}
		// The engine that made it mends it.
		b.press.engine = "1+abc"
		if made := b.make(t, r); !bytes.Equal(b.file(t, made.Document), file) {
			t.Errorf("%s: another file", how)
		}
	}
}
