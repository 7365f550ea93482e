package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"example.com/quire/internal/app"
	"example.com/quire/internal/record"
)

func (p *program) verify() *cobra.Command {
	var v verification
	c := &cobra.Command{
		Use:   "verify FILE | verify --all",
		Short: "Render a stored document again and compare it with a file",
		Long: "Read the document's id from the file, render the document again from its stored template\n" +
			"and snapshot, and compare the two byte by byte. The answer is one of:\n\n" +
			"  identical                    exit status 0\n" +
			"  differs at byte N            exit status 1, with the page if it is known\n" +
			"  differs from its receipt     exit status 1: a field of the receipt is wrong\n" +
			"  intact, made by engine X     exit status 3: matches the receipt; this engine writes other bytes\n" +
			"  unknown here                 exit status 4\n\n" +
			"Damaged or missing stored files are reported with the answer. With --restore they are replaced\n" +
			"by the file rendered again, if that file matches the receipt and the receipt is in the audit\n" +
			"log. No server may use the data directory at the same time; a running server restores by\n" +
			"POST /v1/documents/ID/verify?restore=true.\n\n" +
			"With --all, every document of all spaces is rendered again and compared with its stored file.\n" +
			"Documents that are not identical or have damaged or missing parts are listed. The exit status\n" +
			"is 1 if a document differs, or is damaged and not restored; otherwise it is 3 if a document is\n" +
			"only intact.\n\n" +
			"Exit status 2 means that nothing was compared: wrong usage, or something could not be read.",
		Example: "  quire verify note.pdf --data-dir /var/lib/quire\n  quire verify note.pdf --receipt note.receipt.json\n  quire verify --all --restore",
		Args: func(c *cobra.Command, a []string) error {
			if v.all {
				return counted(0, 0, "")(c, a)
			}
			return counted(1, 1, "file")(c, a)
		},
		RunE: func(c *cobra.Command, a []string) error {
			var err error
			switch {
			case v.all && (v.receipt != "" || c.Flags().Changed("space")):
				err = usageError{errors.New("--all does not allow --receipt or --space: each document is compared with its own receipt")}
			case v.all:
				err = p.verifyAll(c.Context(), v.restore)
			default:
				err = p.verifyFile(c.Context(), a[0], v)
			}
			if err != nil {
				return unjudged{err}
			}
			return nil
		},
	}
	c.Flags().StringVar(&v.receipt, "receipt", "", "compare with the receipt in `FILE` instead of the stored one")
	c.Flags().StringVar(&v.space, "space", string(record.Local), "the `SPACE` of the document")
	c.Flags().BoolVar(&v.restore, "restore", false, "repair damaged or missing stored files")
	c.Flags().BoolVar(&v.all, "all", false, "verify every stored document")
	return c
}

// verification is what the flags of verify ask.
type verification struct {
	receipt, space string
	restore, all   bool
}

// unjudged is whatever kept verify from its answer. It has the exit status of trouble, as with
// cmp and diff: a script must not take it for a file that differs.
type unjudged struct{ error }

func (e unjudged) Unwrap() error { return e.error }

// The exit statuses of verify.
const (
	exitDiffers = 1
	exitIntact  = 3
	exitUnknown = 4
)

func exitOf(a record.Answer) int {
	switch a {
	case record.Identical:
		return 0
	case record.Differs:
		return exitDiffers
	case record.Intact:
		return exitIntact
	case record.Unknown:
	}
	return exitUnknown
}

// verifyFile tells whether a file is the document that it claims to be.
func (p *program) verifyFile(ctx context.Context, file string, o verification) error {
	cfg, err := p.load()
	if err != nil {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read from
	r := record.RemakeRequest{Space: record.Space(o.space), File: f, Restore: o.restore}
	if o.receipt != "" {
		if r.Receipt, err = readReceipt(o.receipt); err != nil {
			return err
		}
	}
	archive, err := app.OpenArchive(ctx, cfg.Data, o.restore)
	if err != nil {
		return err
	}
	v, err := archive.Remake(ctx, r)
	if err := errors.Join(err, archive.Close()); err != nil {
		return err
	}
	text := fmt.Sprintf("%s: %s\n", file, v)
	if v.Reason != "" {
		text += "  " + v.Reason + "\n"
	}
	if !v.File.IsZero() {
		text += "  sha256 " + v.File.String() + "\n"
		if v.InAuditLog {
			text += "  receipt: in the audit log\n"
		} else {
			text += "  receipt: not in the audit log here\n"
		}
	}
	if err := p.print(v, text); err != nil {
		return err
	}
	p.code = exitOf(v.Answer)
	return nil
}

// verifiedAll is the answer of verify --all.
type verifiedAll struct {
	Documents int        `json:"documents"`
	Identical int        `json:"identical"` // and whole in storage
	Intact    int        `json:"intact"`
	Restored  int        `json:"restored"`
	Wrong     int        `json:"wrong"` // all others
	Listed    []judgedAs `json:"listed"`
}

// judgedAs is a document that is not simply identical.
type judgedAs struct {
	Space    record.Space    `json:"space"`
	Document record.Hash     `json:"document"`
	Verdict  *record.Verdict `json:"verdict,omitempty"`
	Error    string          `json:"error,omitempty"`
}

func (p *program) verifyAll(ctx context.Context, restore bool) error {
	cfg, err := p.load()
	if err != nil {
		return err
	}
	archive, err := app.OpenArchive(ctx, cfg.Data, restore)
	if err != nil {
		return err
	}
	all, err := judgeAll(ctx, archive, restore)
	if err := errors.Join(err, archive.Close()); err != nil {
		return err
	}
	var text strings.Builder
	for _, j := range all.Listed {
		what := j.Error
		if j.Verdict != nil {
			what = j.Verdict.String()
			if j.Verdict.Reason != "" {
				what += " (" + j.Verdict.Reason + ")"
			}
		}
		_, _ = fmt.Fprintf(&text, "%s %s: %s\n", j.Space, j.Document, what)
	}
	documents := "documents"
	if all.Documents == 1 {
		documents = "document"
	}
	_, _ = fmt.Fprintf(&text, "%d %s: %d identical, %d intact, %d restored, %d wrong\n", all.Documents, documents, all.Identical, all.Intact, all.Restored, all.Wrong)
	if err := p.print(all, text.String()); err != nil {
		return err
	}
	switch {
	case all.Wrong > 0:
		p.code = exitDiffers
	case all.Intact > 0:
		p.code = exitIntact
	}
	return nil
}

// judgeAll makes every document again.
func judgeAll(ctx context.Context, archive *app.Archive, restore bool) (*verifiedAll, error) {
	all := &verifiedAll{Listed: []judgedAs{}}
	for d, err := range archive.Library.All(ctx) {
		if err != nil {
			return nil, err
		}
		all.Documents++
		j := judgedAs{Space: d.Space, Document: d.ID}
		v, err := archive.Remake(ctx, record.RemakeRequest{Space: d.Space, ID: d.ID, Restore: restore})
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil: // of this document alone: others may be whole
			all.Wrong++
			j.Error = err.Error()
		case v.Answer == record.Identical && v.Stored == record.Whole:
			all.Identical++
			continue
		case v.Answer == record.Identical && v.Stored == record.Restored:
			all.Restored++
		case v.Answer == record.Intact:
			all.Intact++
		default:
			all.Wrong++
		}
		if err == nil {
			j.Verdict = v
		}
		all.Listed = append(all.Listed, j)
	}
	return all, nil
}

// readReceipt reads a receipt whose faults are placed in its file.
func readReceipt(name string) ([]byte, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	_, _, err = record.ParseReceipt(b)
	if wrong, ok := errors.AsType[*record.DataError](err); ok {
		wrong.File = name
	}
	return b, err
}
