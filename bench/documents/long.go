package documents

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"example.com/quire/bench/harness"
	"example.com/quire/bench/workload"
	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/standard"
)

var pdfinfo = harness.Tool{Name: "pdfinfo", Install: "apt-get install poppler-utils", Version: []string{"-v"}}

const (
	manyPages = 100_000
	manyRows  = 1_000_000
	tenths    = 10 // documents of a tenth of the rows each
)

// long are the rows of documents that are streamed.
func long() []harness.Row {
	needs := []harness.Tool{pdfinfo}
	const onePiece, tenPieces = "1,000,000 rows", "ten times 100,000 rows"
	return []harness.Row{
		{
			Name: "pages-100000", Title: "a hundred thousand pages", Once: true,
			Workload:    harness.Workload{Name: "document-pages-100000", Version: 1, Text: "Pages with a sentence and a footer that shows how many pages there are, written to a file."},
			Contestants: []harness.Contestant{{Name: "plain", Own: true, Needs: needs, Open: openPages(manyPages, nil)}},
			Goals:       []harness.Goal{{Of: harness.RSS, AtMost: 64 << 20}},
		},
		{
			Name: "pages-100000-compliant", Title: "a hundred thousand pages as PDF/A-4 and PDF/UA-2", Once: true,
			Workload:    harness.Workload{Name: "document-pages-100000", Version: 1, Text: "Pages with a sentence and a footer that shows how many pages there are, written to a file."},
			Contestants: []harness.Contestant{{Name: "compliant", Own: true, Needs: needs, Open: openPages(manyPages, archival())}},
			Goals:       []harness.Goal{{Of: harness.RSS, AtMost: 64 << 20}},
		},
		{
			Name: "rows-1000000", Title: "a million rows beside ten documents of a hundred thousand", Once: true,
			Workload: harness.Workload{Name: "document-rows", Version: 1, Text: "A table of three columns whose rows are made as they are asked for, without tags; the first bytes of pages must be written before half of the rows were asked for."},
			Contestants: []harness.Contestant{
				{Name: onePiece, Own: true, Needs: needs, Open: openRows(1, manyRows)},
				{Name: tenPieces, Own: true, Needs: needs, Open: openRows(tenths, manyRows/tenths)},
			},
			Goals: []harness.Goal{{Against: tenPieces, AtMost: 1.05}},
		},
	}
}

func archival() []standard.ID { return []standard.ID{standard.PDFA4, standard.PDFUA2} }

// task makes long documents, a file each.
type task struct{ files []*file }

// file is where a document is written.
type file struct {
	*os.File
	pages int
	bytes int64
	early bool // something was written before half of the content was asked for
}

func (f *file) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	f.bytes += int64(n)
	return n, err
}

func opener(documents int, build func(ctx context.Context, eng *pdf.Engine, f *file) (int, error)) func(context.Context, harness.Env) (harness.Subject, error) {
	return func(ctx context.Context, env harness.Env) (harness.Subject, error) {
		eng, err := pdf.New(pdf.Config{Limits: pdf.Limits{Pages: 2 * manyPages, OutputBytes: 16 << 30}})
		if err != nil {
			return nil, fmt.Errorf("engine: %w", err)
		}
		end := func(t *task) error {
			var errs []error
			for _, f := range t.files {
				errs = append(errs, f.Close(), os.Remove(f.Name()))
			}
			t.files = nil
			return errors.Join(errs...)
		}
		judge := func(t *task) error {
			for _, f := range t.files {
				if !f.early {
					return errors.New("nothing was written before half of the content was asked for")
				}
				if err := hasPages(ctx, f.Name(), f.pages); err != nil {
					return err
				}
			}
			return nil
		}
		return &harness.Ops[task]{
			Fill: func(_ int, t *task) error {
				if err := end(t); err != nil {
					return err
				}
				for i := range documents {
					f, err := os.Create(filepath.Join(env.Dir, strconv.Itoa(i)+".pdf"))
					if err != nil {
						return fmt.Errorf("file: %w", err)
					}
					t.files = append(t.files, &file{File: f})
				}
				return nil
			},
			Do: func(t *task) error {
				for _, f := range t.files {
					var err error
					if f.pages, err = build(ctx, eng, f); err != nil {
						return err
					}
				}
				return nil
			},
			Verify: func(_ int, t *task) (harness.Facts, error) {
				facts := harness.Facts{OutputBytes: t.files[0].bytes}
				return facts, errors.Join(judge(t), end(t))
			},
			Cheap: func(_ int, t *task) error { return errors.Join(judge(t), end(t)) },
		}, nil
	}
}

// hasPages has pdfinfo count the pages of a file.
func hasPages(ctx context.Context, path string, want int) error {
	out, err := exec.CommandContext(ctx, pdfinfo.Name, path).Output() //nolint:gosec // a file of our own
	if err != nil {
		return fmt.Errorf("pdfinfo: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		if n, ok := strings.CutPrefix(line, "Pages:"); ok {
			if n = strings.TrimSpace(n); n != strconv.Itoa(want) || want < 2 {
				return fmt.Errorf("the document has %s pages, want %d", n, want)
			}
			return nil
		}
	}
	return fmt.Errorf("pdfinfo counts no pages: %s", out)
}

func footer() doc.Running {
	return doc.Running{All: []doc.Node{&doc.Text{Spans: []doc.Span{{Text: "Page "}, {Kind: doc.SpanPage}, {Text: " of "}, {Kind: doc.SpanPages}}}}}
}

func openPages(n int, ids []standard.ID) func(context.Context, harness.Env) (harness.Subject, error) {
	return opener(1, func(ctx context.Context, eng *pdf.Engine, f *file) (int, error) {
		res, err := eng.Build(ctx, f, pdf.RenderOptions{Standards: ids, Time: workload.Time}, func(b *doc.Builder) error {
			b.Title("Pages").Lang("en").Footer(footer())
			b.Add(&doc.Section{Body: func(yield func(doc.Node, error) bool) {
				for i := range n {
					f.early = f.early || i < n/2 && f.bytes > 10_000
					t := &doc.Text{Spans: []doc.Span{{Text: "This is page " + strconv.Itoa(i+1)}}}
					t.BreakBefore = doc.BreakPage
					if !yield(t, nil) {
						return
					}
				}
			}})
			return nil
		})
		if err != nil {
			return 0, err
		}
		if res.Pages != n {
			return 0, fmt.Errorf("%d pages, want %d", res.Pages, n)
		}
		return n, nil
	})
}

func openRows(documents, n int) func(context.Context, harness.Env) (harness.Subject, error) {
	return opener(documents, func(ctx context.Context, eng *pdf.Engine, f *file) (int, error) {
		res, err := eng.Build(ctx, f, pdf.RenderOptions{Time: workload.Time}, func(b *doc.Builder) error {
			b.Title("Rows").Lang("en").Footer(footer())
			var spans [3][1]doc.Span
			cells := make([]doc.Cell, len(spans))
			for i := range spans {
				cells[i].Spans = spans[i][:]
			}
			head := func(s string) doc.Column { return doc.Column{Head: []doc.Span{{Text: s}}, Width: doc.Fr(1)} }
			b.Add(&doc.Table{Columns: []doc.Column{head("Number"), head("Account"), head("Amount")}, Rows: func(yield func(doc.Row, error) bool) {
				for i := range n {
					f.early = f.early || i < n/2 && f.bytes > 10_000
					spans[0][0].Text, spans[1][0].Text, spans[2][0].Text = strconv.Itoa(i+1), "account "+strconv.Itoa(i*7919%1_000_003), strconv.Itoa(i*31%100_000)+".00"
					if !yield(doc.Row{Cells: cells}, nil) {
						return
					}
				}
			}})
			return nil
		})
		if err != nil {
			return 0, err
		}
		return res.Pages, nil
	})
}
