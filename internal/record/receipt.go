package record

import (
	"fmt"
	"time"

	"example.com/quire/internal/strictjson"
)

// Receipt records what a document was made from, by which engine, and the result: enough to render
// it again and to check any file that claims to be it. Its stored form is canonical JSON, and its
// hash is chained into the audit log.
type Receipt struct {
	Version  int         `json:"receipt"` // 1
	Space    Space       `json:"space"`
	Document Hash        `json:"document"` // Identity.ID of the fields below
	Template TemplateRef `json:"template"`
	Snapshot Hash        `json:"snapshot"`
	Options  Options     `json:"options"`
	Signer   string      `json:"signer,omitempty"`
	// Signature is the hash of the signature, CMS signed data in DER with the certificates, with
	// which the file is made again without the key; zero: the file is not signed.
	Signature Hash           `json:"signature,omitzero"`
	Engine    string         `json:"engine"`
	Content   Hash           `json:"content"` // SHA-256 of the file
	Size      int64          `json:"size"`
	Pages     int            `json:"pages"`
	Title     string         `json:"title,omitempty"`     // the file's own, at most 256 characters of it
	Time      *time.Time     `json:"time,omitempty"`      // the snapshot's
	TimeFrom  TimeOrigin     `json:"time_from,omitempty"` // origin of Time
	Made      time.Time      `json:"made"`                // by the clock, always
	Sources   []SourceRecord `json:"sources,omitempty"`
	Stages    []Stage        `json:"stages"` // those before the receipt was sealed: collect, freeze, render, commit
}

// Stage is how long one stage of the pipeline took, in microseconds.
type Stage struct {
	Name   string `json:"name"`
	Micros int64  `json:"us"`
}

// The stages, in order. Save comes after the receipt is sealed, so only [Made] has it.
const (
	StageCollect = "collect"
	StageFreeze  = "freeze"
	StageRender  = "render"
	StageCommit  = "commit"
	StageSave    = "save"
)

// Bytes returns the stored form.
func (r *Receipt) Bytes() ([]byte, error) { return marshal(r) }

// receiptBytes bounds a receipt that is given.
const receiptBytes = 1 << 20

// ParseReceipt reads a receipt in any JSON formatting, and also returns its canonical form, whose
// hash identifies it. It checks that the document id matches the receipt's fields; a receipt that
// contradicts itself is a *DataError.
func ParseReceipt(b []byte) (r *Receipt, text []byte, err error) {
	r = &Receipt{}
	text, _, err = strictjson.Canonical(b, strictjson.Limits{Bytes: receiptBytes, Depth: DataDepth, Nodes: DataNodes})
	if err == nil {
		// What a later version writes besides is in the text that is hashed and compared.
		err = strictjson.Decode(b, r, strictjson.DecodeOptions{UnknownNames: true})
	}
	if err == nil {
		err = r.check()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("receipt: %w", Origin{}.fault(b, err))
	}
	return r, text, nil
}

func (r *Receipt) check() error {
	if r.Version != 1 {
		return &DataError{Problem: Problem{Path: "receipt", Got: fmt.Sprint(r.Version), Want: "1"}}
	}
	id, err := Identity{Space: r.Space, Template: r.Template, Snapshot: r.Snapshot, Options: r.Options, Signer: r.Signer}.ID()
	if err == nil && id != r.Document {
		err = &DataError{Problem: Problem{Path: "document", Got: r.Document.String(), Want: id.String() + ", which its other fields give"}}
	}
	return err
}
