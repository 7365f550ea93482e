package cli

import (
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
			"  intact, made by engine X     exit status 3: as the receipt says; this engine writes other bytes\n" +
			"  unknown here                 exit status 4",
		Example: "  quire verify note.pdf --data-dir /var/lib/quire\n  quire verify note.pdf --receipt note.receipt.json",
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, a []string) error {
			cfg, err := p.load()
			if err != nil {
				return err
			}
			f, err := os.Open(a[0])
			if err != nil {
				return err
			}
			defer func() { _ = f.Close() }()
			r := record.RemakeRequest{Space: record.Space(space), File: f}
			if receipt != "" {
				if r.Receipt, err = readReceipt(receipt); err != nil {
					return err
				}
			}
			archive, err := app.OpenArchive(c.Context(), cfg.Data, time.Now)
			if err != nil {
				return err
			}
			v, err := archive.Maker.Remake(c.Context(), r)
			if err := errors.Join(err, archive.Close()); err != nil {
				return err
			}
			p.code = v.ExitCode()
			text := fmt.Sprintf("%s: %s\n", a[0], v)
			if v.Reason != "" {
				text += "  " + v.Reason + "\n"
			}
			if !v.File.IsZero() {
				text += "  sha256 " + v.File.String() + "\n"
			}
			return p.print(v, text)
		},
	}
	c.Flags().StringVar(&receipt, "receipt", "", "judge by this receipt instead of the stored one")
	c.Flags().StringVar(&space, "space", string(record.Local), "the space that the document belongs to")
	return c
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
