package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"example.com/quire/internal/app"
	"example.com/quire/internal/record"
)

func (p *program) verify() *cobra.Command {
	var receipt, space string
	c := &cobra.Command{
		Use:   "verify FILE",
		Short: "Make a stored document again and compare it with a file",
		Long: "Read the document's id from the file, make the document again from its stored template\n" +
			"and snapshot, and compare byte for byte. The answer is one of:\n\n" +
			"  identical                    exit status 0\n" +
			"  differs at byte N            exit status 1\n" +
			"  differs from its receipt     exit status 1: a field of the receipt is not so\n" +
			"  intact, made by engine X     exit status 3: as the receipt says; this engine writes other bytes\n" +
			"  unknown here                 exit status 4\n\n" +
			"Exit status 2 says that nothing was judged: wrong usage, or something could not be read.",
		Example: "  quire verify note.pdf --data-dir /var/lib/quire\n  quire verify note.pdf --receipt note.receipt.json",
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, a []string) error {
			if err := p.judge(c.Context(), a[0], receipt, record.Space(space)); err != nil {
				return unjudged{err}
			}
			return nil
		},
	}
	c.Flags().StringVar(&receipt, "receipt", "", "judge by the receipt in `FILE` instead of the stored one")
	c.Flags().StringVar(&space, "space", string(record.Local), "the `SPACE` that the document belongs to")
	return c
}

// unjudged is whatever kept verify from its answer. It has the exit status of trouble, as with
// cmp and diff: a script must not take it for a file that differs.
type unjudged struct{ error }

func (e unjudged) Unwrap() error { return e.error }

// judge tells whether a file is the document that it claims to be.
func (p *program) judge(ctx context.Context, file, receipt string, space record.Space) error {
	cfg, err := p.load()
	if err != nil {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	r := record.RemakeRequest{Space: space, File: f}
	if receipt != "" {
		if r.Receipt, err = readReceipt(receipt); err != nil {
			return err
		}
	}
	archive, err := app.OpenArchive(ctx, cfg.Data, time.Now)
	if err != nil {
		return err
	}
	v, err := archive.Maker.Remake(ctx, r)
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
	p.code = v.ExitCode()
	return nil
}

// readReceipt reads a receipt whose faults are placed in its file.
func readReceipt(name string) ([]byte, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	_, err = record.ParseReceipt(b)
	if wrong, ok := errors.AsType[*record.DataError](err); ok {
		wrong.File = name
	}
	return b, err
}
