package clixml_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf16"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/internal/conformance"
)

// recorded is a line of the corpora that PowerShell 7.6.5 made: a document in UTF-16LE.
type recorded struct {
	N       int             `json:"n"`
	CLIXML  []byte          `json:"clixml"`
	OK      bool            `json:"ok"`
	Message string          `json:"message"`
	Seen    json.RawMessage `json:"seen"`
}

func (r recorded) document() []byte {
	u := make([]uint16, len(r.CLIXML)/2)
	for i := range u {
		u[i] = uint16(r.CLIXML[2*i]) | uint16(r.CLIXML[2*i+1])<<8
	}
	return []byte(string(utf16.Decode(u)))
}

func corpus(t *testing.T, name string) (all []recorded) {
	t.Helper()
	b, err := conformance.ReadFile("../tap/testdata/real/clixml/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b) {
		var r recorded
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

func readDocument(d *clixml.Decoder, b []byte) (vs []clixml.StreamValue, err error) {
	for v, err := range d.Document(bytes.NewReader(b)) {
		if err != nil {
			return nil, err
		}
		vs = append(vs, v)
	}
	return vs, nil
}

func TestEveryDocumentOfPowerShellReencodesByteForByte(t *testing.T) {
	all := corpus(t, "values.jsonl.gz")
	if len(all) != 1456 {
		t.Fatalf("%d documents, want 1456", len(all))
	}
	var d clixml.Decoder
	var e clixml.Encoder
	for _, r := range all {
		doc := r.document()
		vs, err := readDocument(&d, doc)
		if err != nil {
			t.Errorf("%d: %v\n%s", r.N, err, doc)
			continue
		}
		out, err := e.AppendDocument(nil, vs...)
		if err != nil || !bytes.Equal(out, doc) {
			t.Errorf("%d: %v\nwant %s\ngot  %s", r.N, err, doc, out)
		}
	}
}

// TestDamagedDocumentsAreReadAsPowerShellDoes compares verdicts over 1,200 damaged documents. The
// few that differ are named, each by its rule.
func TestDamagedDocumentsAreReadAsPowerShellDoes(t *testing.T) {
	stricter := map[int]string{
		583:  "text in Nil is damage, which PowerShell skips",
		1069: "RefId is a number, which to PowerShell is any text",
	}
	laxer := map[int]string{
		373: "an empty SecureString may be one tag, as pypsrp writes it",
	}
	all := corpus(t, "mutated.jsonl.gz")
	if len(all) != 1200 {
		t.Fatalf("%d documents, want 1200", len(all))
	}
	var d clixml.Decoder
	for _, r := range all {
		doc := r.document()
		_, err := readDocument(&d, doc)
		if r.OK == (err == nil) {
			continue
		}
		if err != nil && stricter[r.N] == "" {
			t.Errorf("%d: PowerShell accepts, we say %v\n%s", r.N, err, doc)
		}
		if err == nil && laxer[r.N] == "" {
			t.Errorf("%d: PowerShell says %s, we accept\n%s", r.N, r.Message, doc)
		}
		delete(stricter, r.N)
		delete(laxer, r.N)
	}
	for n, why := range stricter {
		t.Errorf("%d is no longer refused: %s", n, why)
	}
	for n, why := range laxer {
		t.Errorf("%d is no longer accepted: %s", n, why)
	}
}
