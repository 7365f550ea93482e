package pdfops

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pdfcpu/pdfcpu/pkg/api"

	"example.com/quire/bench/harness"
	"example.com/quire/pdf"
	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/crypt"
)

// The large file: pages with an image each, whose bytes no filter makes fewer.
const (
	largePages = 100
	imageSide  = 1024 // pixels of one byte: 1 MiB, two of them on a page
	seed       = 53
)

// onFile does an operation from a file to files in a folder and returns how many pages each has.
type onFile func(ctx context.Context, from *os.File, size int64, dir string) (made map[string]int, err error)

type large struct {
	name, title, text  string
	pages              int // of the file
	own, pdfcpu, other onFile
}

func (l large) row() harness.Row {
	return harness.Row{
		Name: l.name, Title: l.title, Once: true, Primary: harness.Time,
		Workload: harness.Workload{Name: "pdfops-" + l.name, Version: 1, Seed: seed, Text: l.text},
		Contestants: []harness.Contestant{
			{Name: quireName, Own: true, Needs: []harness.Tool{pdfinfo}, Open: l.open(l.own)},
			{Name: pdfcpuName, Module: pdfcpuModule, Needs: []harness.Tool{pdfinfo}, Open: l.open(l.pdfcpu)},
			{Name: qpdfName, Note: "a process, whose memory is not in the figure", Needs: []harness.Tool{pdfinfo, qpdf}, Open: l.open(l.other)},
		},
		Goals: []harness.Goal{{Against: pdfcpuName, AtMost: 1.0 / 3}, {Against: pdfcpuName, Of: harness.RSS, AtMost: 1.0 / 5}},
	}
}

const largeText = "A hundred pages with two images of 1 MiB each, 200 MiB in all, which no filter makes smaller; from a file to a file."

func largeOperations(pages int) []large {
	return []large{
		{
			name: "large-merge", title: "a file of 200 MB merged with itself", text: largeText, pages: pages,
			own: largeQuire(func(ctx context.Context, e *pdf.Engine, d *pdf.Document, create func(int) (io.WriteCloser, error)) error {
				w, err := create(2 * pages)
				if err != nil {
					return err
				}
				_, err = e.Merge(ctx, w, []pdf.MergeInput{{Doc: d}, {Doc: d}}, pdf.EditOptions{})
				return errors.Join(err, w.Close())
			}),
			pdfcpu: func(_ context.Context, from *os.File, _ int64, dir string) (map[string]int, error) {
				again, err := os.Open(from.Name())
				if err != nil {
					return nil, err
				}
				defer func() { _ = again.Close() }() // read only
				return toFile(dir, 2*pages, func(w io.Writer) error {
					return api.MergeRaw([]io.ReadSeeker{from, again}, w, false, pdfcpuConfig())
				})
			},
			other: largeProgram(2*pages, func(in, out string) []string { return []string{"--empty", "--pages", in, in, "--", out} }),
		},
		{
			name: "large-encrypt", title: "a file of 200 MB encrypted by AES-256", text: largeText, pages: pages,
			own: largeQuire(func(ctx context.Context, e *pdf.Engine, d *pdf.Document, create func(int) (io.WriteCloser, error)) error {
				w, err := create(pages)
				if err != nil {
					return err
				}
				_, err = e.Edit(ctx, w, d, pdf.EditOptions{}, pdf.Encrypt(crypt.Options{Owner: ownerPassword, User: userPassword, Permissions: crypt.All}))
				return errors.Join(err, w.Close())
			}),
			pdfcpu: func(_ context.Context, from *os.File, _ int64, dir string) (map[string]int, error) {
				return toFile(dir, pages, func(w io.Writer) error { return api.Encrypt(from, w, pdfcpuEncryption()) })
			},
			other: largeProgram(pages, func(in, out string) []string {
				return []string{"--encrypt", userPassword, ownerPassword, "256", "--", in, out}
			}),
		},
		{
			name: "large-optimise", title: "a file of 200 MB written anew", text: largeText, pages: pages,
			own: largeQuire(func(ctx context.Context, e *pdf.Engine, d *pdf.Document, create func(int) (io.WriteCloser, error)) error {
				w, err := create(pages)
				if err != nil {
					return err
				}
				_, err = e.Optimise(ctx, w, d)
				return errors.Join(err, w.Close())
			}),
			pdfcpu: func(_ context.Context, from *os.File, _ int64, dir string) (map[string]int, error) {
				return toFile(dir, pages, func(w io.Writer) error { return api.Optimize(from, w, pdfcpuConfig()) })
			},
			other: largeProgram(pages, func(in, out string) []string { return []string{"--object-streams=generate", in, out} }),
		},
	}
}

// largeQuire opens the file with raised limits.
func largeQuire(do func(context.Context, *pdf.Engine, *pdf.Document, func(pages int) (io.WriteCloser, error)) error) onFile {
	return func(ctx context.Context, from *os.File, size int64, dir string) (map[string]int, error) {
		e, err := pdf.New(pdf.Config{Limits: pdf.Limits{OutputBytes: 4 << 30}})
		if err != nil {
			return nil, fmt.Errorf("engine: %w", err)
		}
		d, err := e.Open(ctx, from, size, pdf.OpenOptions{Limits: pdf.ReadLimits{FileBytes: 4 << 30}})
		if err != nil {
			return nil, err
		}
		made := map[string]int{}
		err = do(ctx, e, d, func(pages int) (io.WriteCloser, error) {
			f, err := os.Create(filepath.Join(dir, "out-"+strconv.Itoa(len(made))+".pdf"))
			if err == nil {
				made[f.Name()] = pages
			}
			return f, err
		})
		return made, err
	}
}

// toFile has one file written.
func toFile(dir string, pages int, write func(io.Writer) error) (map[string]int, error) {
	f, err := os.Create(filepath.Join(dir, "out.pdf"))
	if err != nil {
		return nil, err
	}
	return map[string]int{f.Name(): pages}, errors.Join(write(f), f.Close())
}

func largeProgram(pages int, args func(in, out string) []string) onFile {
	return func(ctx context.Context, from *os.File, _ int64, dir string) (map[string]int, error) {
		out := filepath.Join(dir, "out.pdf")
		return map[string]int{out: pages}, run(ctx, args(from.Name(), out)...)
	}
}

// task is one operation on the large file.
type task struct {
	file *os.File
	size int64
	made map[string]int
}

func (l large) open(do onFile) func(context.Context, harness.Env) (harness.Subject, error) {
	return func(ctx context.Context, env harness.Env) (harness.Subject, error) {
		judge := func(t *task) error {
			if len(t.made) == 0 {
				return errors.New("nothing was written")
			}
			for path, pages := range t.made {
				if err := hasPages(ctx, path, pages); err != nil {
					return err
				}
				if err := os.Remove(path); err != nil {
					return err
				}
			}
			return t.file.Close()
		}
		return &harness.Ops[task]{
			Fill: func(_ int, t *task) error {
				f, err := os.Create(filepath.Join(env.Dir, "in.pdf"))
				if err != nil {
					return fmt.Errorf("input: %w", err)
				}
				if t.size, err = writeLarge(f, l.pages); err != nil {
					return fmt.Errorf("input: %w", err)
				}
				_, err = f.Seek(0, io.SeekStart)
				t.file = f
				return err
			},
			Do: func(t *task) (err error) {
				t.made, err = do(ctx, t.file, t.size, env.Dir)
				return err
			},
			Verify: func(_ int, t *task) (harness.Facts, error) { return harness.Facts{}, judge(t) },
			Cheap:  func(_ int, t *task) error { return judge(t) },
		}, nil
	}
}

// hasPages has pdfinfo count the pages of a file.
func hasPages(ctx context.Context, path string, want int) error {
	out, err := exec.CommandContext(ctx, pdfinfo.Name, "-upw", userPassword, path).Output() //nolint:gosec // a file of our own
	if err != nil {
		return fmt.Errorf("pdfinfo: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		if n, ok := strings.CutPrefix(line, "Pages:"); ok {
			if n = strings.TrimSpace(n); n != strconv.Itoa(want) {
				return fmt.Errorf("the file has %s pages, want %d", n, want)
			}
			return nil
		}
	}
	return fmt.Errorf("pdfinfo counts no pages: %s", out)
}

// writeLarge writes the large file, of so many pages, and returns its size.
func writeLarge(f *os.File, pages int) (int64, error) {
	buffered := bufio.NewWriterSize(f, 1<<20)
	w := cos.NewWriter(buffered, cos.Options{Version: cos.V17, Limits: cos.Limits{OutputBytes: 4 << 30}})
	root, tree := w.Reserve(), w.Reserve()
	rng := rand.NewChaCha8([32]byte{seed})
	data := make([]byte, imageSide*imageSide)
	var kids cos.Array
	image := cos.Dict{
		cos.E("Type", cos.Name("XObject")), cos.E("Subtype", cos.Name("Image")), cos.E("Width", cos.Int(imageSide)), cos.E("Height", cos.Int(imageSide)),
		cos.E("BitsPerComponent", cos.Int(8)), cos.E("ColorSpace", cos.Name("DeviceGray")),
	}
	for range pages {
		var names cos.Dict
		for _, name := range []cos.Name{"A", "B"} {
			_, _ = rng.Read(data) // it never fails
			ref := w.Reserve()
			if err := w.EncodedStream(ref, image, "", data); err != nil {
				return 0, err
			}
			names = append(names, cos.E(name, ref))
		}
		content, page := w.Reserve(), w.Reserve()
		if err := w.Stream(content, nil, []byte("q 200 0 0 200 50 50 cm /A Do Q q 200 0 0 200 300 50 cm /B Do Q")); err != nil {
			return 0, err
		}
		kids = append(kids, page)
		if err := w.Put(page, cos.Dict{
			cos.E("Type", cos.Name("Page")), cos.E("Parent", tree), cos.E("Contents", content), cos.E("Resources", cos.Dict{cos.E("XObject", names)}),
			cos.E("MediaBox", cos.Array{cos.Int(0), cos.Int(0), cos.Int(595), cos.Int(842)}),
		}); err != nil {
			return 0, err
		}
	}
	if err := w.Put(tree, cos.Dict{cos.E("Type", cos.Name("Pages")), cos.E("Kids", kids), cos.E("Count", cos.Int(len(kids)))}); err != nil {
		return 0, err
	}
	if err := w.Put(root, cos.Dict{cos.E("Type", cos.Name("Catalog")), cos.E("Pages", tree)}); err != nil {
		return 0, err
	}
	s, err := w.Close(cos.Trailer{Root: root})
	return s.Size, errors.Join(err, buffered.Flush())
}
