package notes

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"example.com/quire/bench/harness"
	"example.com/quire/bench/workload"
)

// The judges of every output.
var (
	pdftotext = harness.Tool{Name: "pdftotext", Install: "apt-get install poppler-utils", Version: []string{"-v"}}
	pdfsig    = harness.Tool{Name: "pdfsig", Install: "apt-get install poppler-utils", Version: []string{"-v"}}
)

// input is one document: its data, and what was made of them.
type input struct {
	kind workload.NoteKind
	data []byte
	out  bytes.Buffer
	// pages is what the maker says; 0: it says nothing.
	pages int
}

func (in *input) fill(k workload.NoteKind, i int) {
	if in.kind = k; k == workload.NoteKinds {
		in.kind = workload.MixKind(i)
	}
	in.out.Reset()
	in.pages = 0
	in.data = workload.AppendNote(in.data[:0], in.kind, i)
}

// opener makes a contestant ready.
type opener = func(context.Context, harness.Env) (harness.Subject, error)

// maker makes a document.
type maker func(context.Context, *input) error

// batch is how many documents a turn makes: of the mix enough to have its shares.
func batch(k workload.NoteKind) int {
	switch k {
	case workload.Active:
		return 5
	case workload.HFT:
		return 1
	default:
		return workload.MixLength
	}
}

// documents is a contestant that makes notes of a kind, or of the mix.
func documents(ctx context.Context, k workload.NoteKind, produce maker) *harness.Ops[input] {
	checks := 3
	switch k {
	case workload.HFT:
		checks = 1
	case workload.NoteKinds:
		checks = workload.MixLength // all kinds are among them
	}
	var last struct {
		operation int
		sum       [sha256.Size]byte
	}
	return &harness.Ops[input]{
		Size: batch(k),
		Fill: func(i int, in *input) error {
			in.fill(k, i)
			return nil
		},
		Do: func(in *input) error { return produce(ctx, in) },
		Verify: func(i int, in *input) (harness.Facts, error) {
			sum := sha256.Sum256(in.out.Bytes())
			if sum == last.sum && i != last.operation {
				return harness.Facts{}, errors.New("the same bytes for other data")
			}
			last.operation, last.sum = i, sum
			return harness.Facts{OutputBytes: int64(in.out.Len())}, check(ctx, in)
		},
		Checks: checks,
		Cheap:  func(_ int, in *input) error { return glance(in) },
	}
}

// glance looks at length, head, end and the number of pages.
func glance(in *input) error {
	b := in.out.Bytes()
	if len(b) < 1000 || !bytes.HasPrefix(b, []byte("%PDF-")) || !bytes.HasSuffix(bytes.TrimRight(b, "\r\n"), []byte("%%EOF")) {
		return fmt.Errorf("no whole PDF but %d bytes", len(b))
	}
	if want := in.kind.Pages(); in.pages != 0 && in.pages != want {
		return fmt.Errorf("a note of kind %s with %d pages, want %d", in.kind, in.pages, want)
	}
	return nil
}

// check has pdftotext read the document: its pages are counted, and every text of the data must
// stand there as often as it should.
func check(ctx context.Context, in *input) error {
	pages, err := checkWords(ctx, in)
	if want := in.kind.Pages(); err == nil && pages != want {
		return fmt.Errorf("a note of kind %s has %d pages, want %d", in.kind, pages, want)
	}
	return err
}

// checkWords is check for makers that cut pages elsewhere.
func checkWords(ctx context.Context, in *input) (pages int, err error) {
	if err := glance(in); err != nil {
		return 0, err
	}
	v, err := read(in.kind, in.data)
	if err != nil {
		return 0, err
	}
	pages, found, err := wordsOf(ctx, in.out.Bytes())
	if err != nil {
		return 0, err
	}
	for word, n := range v.words() {
		if found[word] < n {
			return pages, fmt.Errorf("note %s shows %q %d times, want %d", v.Number, word, found[word], n)
		}
	}
	return pages, nil
}

// wordsOf has pdftotext count the pages of a file and its words.
func wordsOf(ctx context.Context, file []byte) (pages int, count map[string]int, err error) {
	cmd := exec.CommandContext(ctx, pdftotext.Name, "-", "-") //nolint:gosec // fixed arguments
	cmd.Stdin = bytes.NewReader(file)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		return 0, nil, fmt.Errorf("pdftotext: %w: %s", err, stderr.String())
	}
	if stderr.Len() > 0 {
		return 0, nil, fmt.Errorf("pdftotext complains: %s", strings.TrimSpace(stderr.String()))
	}
	count = map[string]int{}
	for w := range strings.FieldsSeq(string(text)) {
		count[w]++
	}
	return bytes.Count(text, []byte("\f")), count, nil
}

// checkSignature has pdfsig judge the one signature of a file.
func checkSignature(ctx context.Context, file []byte) error {
	dir, err := os.MkdirTemp("", "quire-bench-")
	if err != nil {
		return fmt.Errorf("signature: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "signed.pdf")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		return fmt.Errorf("signature: %w", err)
	}
	// pdfsig exits by what it thinks of the issuer, who is nobody: its text is judged.
	out, _ := exec.CommandContext(ctx, pdfsig.Name, path).CombinedOutput() //nolint:gosec // fixed arguments
	if bytes.Count(out, []byte("Signature is Valid.")) != 1 || !bytes.Contains(out, []byte("Total document signed")) {
		return fmt.Errorf("pdfsig: %s", bytes.TrimSpace(out))
	}
	return nil
}
