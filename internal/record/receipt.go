package record

import (
	"fmt"
	"time"

	"example.com/quire/internal/strictjson"
)

// Receipt says from what a document was made, by what, and what came out:
// enough to make it again and to judge any file that claims to be it. Its
// stored form is canonical JSON, and its hash is chained into the audit log.
type Receipt struct {
	Version  int            `json:"receipt"` // 1
	Space    Space          `json:"space"`
	Document Hash           `json:"document"` // Identity.ID of the fields below
	Template TemplateRef    `json:"template"`
	Snapshot Hash           `json:"snapshot"`
	Options  Options        `json:"options"`
	Signer   string         `json:"signer,omitempty"`
	Engine   string         `json:"engine"`
	Content  Hash           `json:"content"` // SHA-256 of the file
	Size     int64          `json:"size"`
	Pages    int            `json:"pages"`
	Title    string         `json:"title,omitempty"`     // the file's own, at most 256 characters of it
	Time     *time.Time     `json:"time,omitempty"`      // the snapshot's
	TimeFrom TimeOrigin     `json:"time_from,omitempty"` // who set Time
	Made     time.Time      `json:"made"`                // by the clock, always
	Sources  []SourceRecord `json:"sources,omitempty"`
	Stages   []Stage        `json:"stages"` // those before the receipt was sealed: collect, freeze, render, commit
}

// SourceRecord says how collecting one source went.
type SourceRecord struct {
	Key        string          `json:"key"`
	Source     string          `json:"source"`
	Kind       string          `json:"kind"`
	Parameters Parameters      `json:"parameters,omitempty"`
	Outcome    Outcome         `json:"outcome"`
	Reason     string          `json:"reason,omitempty"`
	Attempts   []AttemptRecord `json:"attempts"`
	Micros     int64           `json:"us"`
}

// AttemptRecord is an [Attempt] in a receipt.
type AttemptRecord struct {
	Number      int    `json:"n"`
	Micros      int64  `json:"us"`
	DelayMicros int64  `json:"delay_us,omitempty"`
	Status      int    `json:"status,omitempty"`
	Reason      string `json:"reason,omitempty"`
}

// Stage is how long one stage of the pipeline took, in microseconds.
type Stage struct {
	Name   string `json:"name"`
	Micros int64  `json:"us"`
}

// The stages, in their order. Save comes after the receipt is sealed, so only
// [Made] has it.
const (
	StageCollect = "collect"
	StageFreeze  = "freeze"
	StageRender  = "render"
	StageCommit  = "commit"
	StageSave    = "save"
)

// Bytes returns the stored form.
func (r *Receipt) Bytes() ([]byte, error) { return marshal(r) }

// ParseReceipt reads a receipt in any JSON spelling. It checks that the
// document id is that of the receipt's own fields; a receipt that contradicts
// itself is a *DataError.
func ParseReceipt(b []byte) (*Receipt, error) {
	r, _, err := parseReceipt(b)
	return r, err
}

// receiptBytes bounds a receipt that is given.
const receiptBytes = 1 << 20

// parseReceipt is ParseReceipt that also returns the canonical text, whose hash
// names the receipt however it was spelled.
func parseReceipt(b []byte) (*Receipt, []byte, error) {
	r, text, err := readReceipt(b)
	if err != nil {
		return nil, nil, fmt.Errorf("receipt: %w", Origin{}.fault(b, err))
	}
	return r, text, nil
}

func readReceipt(b []byte) (*Receipt, []byte, error) {
	text, _, err := strictjson.Canonical(b, strictjson.Limits{Bytes: receiptBytes, Depth: DataDepth, Nodes: DataNodes})
	if err != nil {
		return nil, nil, err
	}
	var r Receipt
	// What a later version writes besides is in the text that is hashed and compared.
	if err := strictjson.Decode(b, &r, strictjson.DecodeOptions{UnknownNames: true}); err != nil {
		return nil, nil, err
	}
	if r.Version != 1 {
		return nil, nil, &DataError{Problem: Problem{Path: "receipt", Got: fmt.Sprint(r.Version), Want: "1"}}
	}
	id, err := r.identity().ID()
	if err != nil {
		return nil, nil, err
	}
	if id != r.Document {
		return nil, nil, &DataError{Problem: Problem{
			Path: "document", Got: r.Document.String(), Want: id.String() + ", which its other fields give",
		}}
	}
	return &r, text, nil
}

func (r *Receipt) identity() Identity {
	return Identity{Space: r.Space, Template: r.Template, Snapshot: r.Snapshot, Options: r.Options, Signer: r.Signer}
}

// sourceRecords turns what was collected into its part of the receipt.
func sourceRecords(collected []Collected) []SourceRecord {
	var out []SourceRecord
	for _, c := range collected {
		s := SourceRecord{
			Key: c.Key, Source: c.Source, Kind: c.Kind, Parameters: c.Parameters,
			Outcome: c.Outcome, Reason: c.Reason, Attempts: []AttemptRecord{}, Micros: c.Took.Microseconds(),
		}
		for _, a := range c.Attempts {
			s.Attempts = append(s.Attempts, AttemptRecord{
				Number: a.Number, Micros: a.Took.Microseconds(), DelayMicros: a.Delay.Microseconds(), Status: a.Status, Reason: a.Reason,
			})
		}
		out = append(out, s)
	}
	return out
}
