package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"example.com/quire/internal/app"
	"example.com/quire/internal/record"
	"example.com/quire/pdf/standard"
)

type rendered struct {
	File     string           `json:"file"`
	Pages    int              `json:"pages"`
	Size     int64            `json:"size"`
	SHA256   string           `json:"sha256"`
	Engine   string           `json:"engine"`
	Warnings []record.Problem `json:"warnings,omitempty"`
}

func (p *program) render() *cobra.Command {
	var data, out, at string
	var standards []string
	var draft bool
	c := &cobra.Command{
		Use:   "render TEMPLATE",
		Short: "Render a template with data to a PDF",
		Long: "Render a template file, or a folder with template.yaml, to a PDF. Nothing is stored. The same\n" +
			"template, data and --time give the same bytes, on any machine with the same engine.\n\n" +
			"A template that asks for a signature (sign) is signed by the signer of that name in the\n" +
			"configuration, of the space local.",
		Example: "  quire render invoice.yaml -d invoice.json -o invoice.pdf --time 2026-01-31T18:30:00Z\n" +
			"  jq .order order.json | quire render invoice.yaml -d - -o - > invoice.pdf",
		Args: counted(1, 1, "template"),
		RunE: func(c *cobra.Command, a []string) error {
			when, err := parseTime(at)
			if err != nil {
				return err
			}
			if out == "" {
				if out, err = outName(a[0]); err != nil {
					return err
				}
			}
			return p.renderTo(c.Context(), a[0], data, out, record.Request{Time: when, Options: record.Options{Standards: standards}, Draft: draft})
		},
	}
	c.Flags().StringVarP(&data, "data", "d", "", "JSON `FILE` with the data; - for standard input (default: an empty object)")
	c.Flags().StringVarP(&out, "out", "o", "", "PDF `FILE` to write; - for standard output (default: the template's name with .pdf, in the current directory)")
	c.Flags().StringVar(&at, "time", "", "the document's `TIME`, such as 2026-01-31T18:30:00Z or 2026-01-31 (default: none; no date is written and now() is an error)")
	c.Flags().StringSliceVar(&standards, "standard", nil, "claim a `STANDARD` in addition to the template's: "+strings.Join(standard.Names(), ", "))
	c.Flags().BoolVar(&draft, "draft", false, "leave the document unsigned although its template asks for a signature")
	return c
}

func (p *program) renderTo(ctx context.Context, template, data, out string, r record.Request) error {
	if out == "-" && p.json {
		return usageError{errors.New("--json and -o - both write to standard output; name a FILE for the PDF")}
	}
	preview, err := app.NewPreview(p.load)
	if err != nil {
		return err
	}
	folder := folderOf(template)
	t, err := preview.Load(ctx, template)
	if err != nil {
		return folder.errors(err, data)
	}
	r.Space, r.Inline, r.Origin = record.Local, t, record.Origin{File: data}
	if r.Data, err = p.readData(data); err != nil {
		return err
	}
	var made *record.Rendered
	write := func(w io.Writer) error {
		made, err = preview.Render(ctx, w, r)
		return err
	}
	if err := p.output(out, write); err != nil {
		if e, ok := errors.AsType[*record.RequestError](err); ok && strings.HasPrefix(e.Field, "options.standards") {
			return usageError{errors.New(strings.Replace(e.Error(), "request "+e.Field, "--standard", 1))}
		}
		if e, ok := errors.AsType[*record.DataError](err); ok && data == "" && e.Suggestion == "" {
			e.Suggestion = "name the data by --data"
		}
		return folder.errors(err, data)
	}
	folder.problems(made.Warnings, data)
	if !p.json {
		for _, w := range made.Warnings {
			_, _ = fmt.Fprintln(p.Stderr, w)
		}
	}
	if out == "-" {
		return nil // standard output has the file
	}
	res := rendered{
		File: out, Pages: made.Pages, Size: made.Size, SHA256: made.Hash.String(), Engine: preview.Engine, Warnings: made.Warnings,
	}
	pages := "pages"
	if made.Pages == 1 {
		pages = "page"
	}
	return p.print(res, fmt.Sprintf("%s: %d %s, %d bytes\nsha256 %s\n", out, made.Pages, pages, made.Size, res.SHA256))
}

// outName is the PDF that a template's path gives when none is named: invoice.yaml, the folder
// invoice and invoice/template.yaml all give invoice.pdf.
func outName(template string) (string, error) {
	path, err := filepath.Abs(template)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		file := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		if file != "template" {
			return file + ".pdf", nil
		}
		path = filepath.Dir(path)
	}
	name := filepath.Base(path)
	if name == string(filepath.Separator) || name == filepath.VolumeName(path) {
		name = "template" // of the root folder, which has no name
	}
	return name + ".pdf", nil
}

func (p *program) readData(name string) ([]byte, error) {
	const most = 64 << 20 // beyond every limit of freezing, which says more
	in := p.Stdin
	switch name {
	case "":
		return nil, nil
	case "-":
	default:
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	return io.ReadAll(io.LimitReader(in, most))
}
