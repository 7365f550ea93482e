package pdfops

import (
	"bufio"
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
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
	"example.com/quire/pdf/form"
)

// The large file: pages with an image each, whose bytes no filter makes fewer.
const (
	largePages = 100
	imageSide  = 1024 // pixels of one byte: 1 MiB, two of them on a page
	seed       = 53
)

// onFile does an operation from files to files in a folder and returns how many pages each has.
type onFile func(ctx context.Context, from []*os.File, dir string) (made map[string]int, err error)

type large struct {
	name, title, text  string
	pages              int // of each file
	files              int // 0: one
	procs              int // 0: one
	own, pdfcpu, other onFile
	cipher             bool   // streams are encrypted
	value              string // that the first page shows in the end
}

func (l large) row() harness.Row {
	r := harness.Row{
		Name: l.name, Title: l.title, Once: true, Times: 5, Primary: harness.Time, Procs: l.procs,
		Workload: harness.Workload{Name: "pdfops-" + l.name, Version: 2, Seed: seed, Text: l.text},
		Contestants: []harness.Contestant{
			{Name: quireName, Own: true, Needs: []harness.Tool{pdfinfo}, Open: l.open(l.own)},
			{Name: pdfcpuName, Module: pdfcpuModule, Needs: []harness.Tool{pdfinfo}, Open: l.open(l.pdfcpu)},
			{Name: l.least(), Note: "nothing but that, by one processor", Open: l.open(copied(l.cipher))},
		},
		Goals: []harness.Goal{{Against: pdfcpuName, AtMost: 1.0 / 3}, {Against: pdfcpuName, Of: harness.RSS, AtMost: 1.0 / 5}},
	}
	if l.other != nil {
		r.Contestants = append(r.Contestants, harness.Contestant{
			Name: qpdfName, Note: "a process, whose memory is not in the figure", Needs: []harness.Tool{pdfinfo, qpdf}, Open: l.open(l.other),
		})
	}
	return r
}

// least names what takes no more than the operation has to.
func (l large) least() string {
	if l.cipher {
		return copyName + " with AES-256-CBC"
	}
	return copyName
}

// copied has the bytes of the files copied, a MiB at a time, and encrypted if they are to be.
func copied(encrypted bool) onFile {
	return func(_ context.Context, from []*os.File, dir string) (map[string]int, error) {
		block, err := aes.NewCipher(make([]byte, 32))
		if err != nil {
			return nil, fmt.Errorf("copy: %w", err)
		}
		mode, buf := cipher.NewCBCEncrypter(block, make([]byte, aes.BlockSize)), make([]byte, 1<<20) //nolint:gosec // G407: the result is thrown away
		made := map[string]int{}
		for i, f := range from {
			to, err := os.Create(filepath.Join(dir, "copy-"+strconv.Itoa(i)))
			if err != nil {
				return nil, err
			}
			made[to.Name()] = 0
			for err == nil {
				var n int
				if n, err = f.Read(buf); err == nil {
					if encrypted {
						mode.CryptBlocks(buf[:n&^15], buf[:n&^15])
					}
					_, err = to.Write(buf[:n])
				}
			}
			if errors.Is(err, io.EOF) {
				err = nil
			}
			if err := errors.Join(err, to.Close()); err != nil {
				return nil, err
			}
		}
		return made, nil
	}
}

const largeText = "A hundred pages with two images of 1 MiB each, 200 MiB in all, which no filter makes smaller, and a form on the first; from a file to a file."

func largeOperations(pages int) []large {
	return []large{
		{
			name: "large-merge", title: "two files of 100 MB into one", pages: pages / 2, files: 2,
			text: "Two files of fifty pages with two images of 1 MiB each, 200 MiB in all, no two of them equal, which no filter makes smaller; from files to a file.",
			own: largeQuire(func(ctx context.Context, e *pdf.Engine, d []*pdf.Document, create func(int) (io.WriteCloser, error)) error {
				w, err := create(pages / 2 * 2)
				if err != nil {
					return err
				}
				_, err = e.Merge(ctx, w, []pdf.MergeInput{{Doc: d[0]}, {Doc: d[1]}}, pdf.EditOptions{})
				return errors.Join(err, w.Close())
			}),
			pdfcpu: func(_ context.Context, from []*os.File, dir string) (map[string]int, error) {
				return toFile(dir, pages/2*2, func(w io.Writer) error {
					return api.MergeRaw([]io.ReadSeeker{from[0], from[1]}, w, false, pdfcpuConfig())
				})
			},
			other: largeProgram(pages/2*2, func(in []string, out string) []string {
				return []string{"--empty", "--pages", in[0], in[1], "--", out}
			}),
		},
		{
			name: "large-split", title: "a file of 200 MB into ten", text: largeText, pages: pages,
			own: largeQuire(func(ctx context.Context, e *pdf.Engine, d []*pdf.Document, create func(int) (io.WriteCloser, error)) error {
				_, err := e.Split(ctx, d[0], pdf.SplitOptions{Every: tenth(pages)}, func(int) (io.WriteCloser, error) { return create(tenth(pages)) })
				return err
			}),
			pdfcpu: func(_ context.Context, from []*os.File, dir string) (map[string]int, error) {
				spans, err := api.SplitRaw(from[0], tenth(pages), pdfcpuConfig())
				if err != nil {
					return nil, err
				}
				made := map[string]int{}
				for i, s := range spans {
					one, err := toFile(dir, tenth(pages), func(w io.Writer) error {
						_, err := io.Copy(w, s.Reader)
						return err
					})
					if err != nil {
						return nil, err
					}
					for path := range one {
						to := filepath.Join(dir, "part-"+strconv.Itoa(i)+".pdf")
						if err := os.Rename(path, to); err != nil {
							return nil, err
						}
						made[to] = tenth(pages)
					}
				}
				return made, nil
			},
			other: func(ctx context.Context, from []*os.File, dir string) (map[string]int, error) {
				if err := run(ctx, "--split-pages="+strconv.Itoa(tenth(pages)), from[0].Name(), filepath.Join(dir, "part-%d.pdf")); err != nil {
					return nil, err
				}
				parts, err := filepath.Glob(filepath.Join(dir, "part-*.pdf"))
				made := map[string]int{}
				for _, p := range parts {
					made[p] = tenth(pages)
				}
				return made, err
			},
		},
		{
			name: "large-fill", title: "a form on a file of 200 MB filled in", text: largeText, pages: pages, value: "filled in",
			own: largeQuire(func(ctx context.Context, e *pdf.Engine, d []*pdf.Document, create func(int) (io.WriteCloser, error)) error {
				w, err := create(pages)
				if err != nil {
					return err
				}
				_, err = e.Edit(ctx, w, d[0], pdf.EditOptions{}, pdf.Fill([]form.Value{{Name: fieldName, Is: []string{"filled in"}}}, nil))
				return errors.Join(err, w.Close())
			}),
			pdfcpu: func(_ context.Context, from []*os.File, dir string) (map[string]int, error) {
				data, err := formData("filled in")
				if err != nil {
					return nil, err
				}
				return toFile(dir, pages, func(w io.Writer) error { return api.FillForm(from[0], bytes.NewReader(data), w, pdfcpuConfig()) })
			},
		},
		{
			name: "large-encrypt", title: "a file of 200 MB encrypted by AES-256, two processors", text: largeText, pages: pages, procs: 2, cipher: true,
			own: largeQuire(func(ctx context.Context, e *pdf.Engine, d []*pdf.Document, create func(int) (io.WriteCloser, error)) error {
				w, err := create(pages)
				if err != nil {
					return err
				}
				_, err = e.Edit(ctx, w, d[0], pdf.EditOptions{}, pdf.Encrypt(crypt.Options{Owner: ownerPassword, User: userPassword, Permissions: crypt.All}))
				return errors.Join(err, w.Close())
			}),
			pdfcpu: func(_ context.Context, from []*os.File, dir string) (map[string]int, error) {
				return toFile(dir, pages, func(w io.Writer) error { return api.Encrypt(from[0], w, pdfcpuEncryption()) })
			},
			other: largeProgram(pages, func(in []string, out string) []string {
				return []string{"--encrypt", userPassword, ownerPassword, "256", "--", in[0], out}
			}),
		},
		{
			name: "large-optimise", title: "a file of 200 MB written anew", text: largeText, pages: pages,
			own: largeQuire(func(ctx context.Context, e *pdf.Engine, d []*pdf.Document, create func(int) (io.WriteCloser, error)) error {
				w, err := create(pages)
				if err != nil {
					return err
				}
				_, err = e.Optimise(ctx, w, d[0])
				return errors.Join(err, w.Close())
			}),
			pdfcpu: func(_ context.Context, from []*os.File, dir string) (map[string]int, error) {
				return toFile(dir, pages, func(w io.Writer) error { return api.Optimize(from[0], w, pdfcpuConfig()) })
			},
			other: largeProgram(pages, func(in []string, out string) []string { return []string{"--object-streams=generate", in[0], out} }),
		},
	}
}

// tenth is how many pages a tenth of so many has.
func tenth(pages int) int { return max(1, pages/10) }

// largeQuire opens the files with raised limits.
func largeQuire(do func(context.Context, *pdf.Engine, []*pdf.Document, func(pages int) (io.WriteCloser, error)) error) onFile {
	return func(ctx context.Context, from []*os.File, dir string) (map[string]int, error) {
		e, err := pdf.New(pdf.Config{Limits: pdf.Limits{OutputBytes: 4 << 30}})
		if err != nil {
			return nil, fmt.Errorf("engine: %w", err)
		}
		var docs []*pdf.Document
		for _, f := range from {
			info, err := f.Stat()
			if err != nil {
				return nil, err
			}
			d, err := e.Open(ctx, f, info.Size(), pdf.OpenOptions{Limits: pdf.ReadLimits{FileBytes: 4 << 30}})
			if err != nil {
				return nil, err
			}
			docs = append(docs, d)
		}
		made := map[string]int{}
		err = do(ctx, e, docs, func(pages int) (io.WriteCloser, error) {
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

func largeProgram(pages int, args func(in []string, out string) []string) onFile {
	return func(ctx context.Context, from []*os.File, dir string) (map[string]int, error) {
		out := filepath.Join(dir, "out.pdf")
		var in []string
		for _, f := range from {
			in = append(in, f.Name())
		}
		return map[string]int{out: pages}, run(ctx, args(in, out)...)
	}
}

// task is one operation on large files.
type task struct {
	files []*os.File
	made  map[string]int
}

func (l large) open(do onFile) func(context.Context, harness.Env) (harness.Subject, error) {
	return func(ctx context.Context, env harness.Env) (harness.Subject, error) {
		judge := func(t *task) error {
			if len(t.made) == 0 {
				return errors.New("nothing was written")
			}
			sum := 0
			for path, pages := range t.made {
				if sum += pages; pages > 0 { // else it is a copy
					if err := hasPages(ctx, path, pages); err != nil {
						return err
					}
					if err := l.shows(ctx, path); err != nil {
						return err
					}
				}
				if err := os.Remove(path); err != nil {
					return err
				}
			}
			if want := l.pages * max(1, l.files); sum != 0 && sum != want {
				return fmt.Errorf("%d pages were written, want %d", sum, want)
			}
			for _, f := range t.files {
				if err := f.Close(); err != nil {
					return err
				}
			}
			return nil
		}
		return &harness.Ops[task]{
			Fill: func(_ int, t *task) error {
				t.files = t.files[:0]
				for i := range max(1, l.files) {
					f, err := os.Create(filepath.Join(env.Dir, fmt.Sprintf("in-%d.pdf", i)))
					if err != nil {
						return fmt.Errorf("input: %w", err)
					}
					if err := writeLarge(f, l.pages, byte(seed+i)); err != nil {
						return fmt.Errorf("input: %w", err)
					}
					// It is on the disk before the operation begins, and not written meanwhile.
					if err := f.Sync(); err != nil {
						return fmt.Errorf("input: %w", err)
					}
					if _, err := f.Seek(0, io.SeekStart); err != nil {
						return fmt.Errorf("input: %w", err)
					}
					t.files = append(t.files, f)
				}
				return nil
			},
			Do: func(t *task) (err error) {
				t.made, err = do(ctx, t.files, env.Dir)
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

// shows has pdftotext look for the value of the field on the first page.
func (l large) shows(ctx context.Context, path string) error {
	if l.value == "" {
		return nil
	}
	out, err := exec.CommandContext(ctx, pdftotext.Name, "-l", "1", path, "-").Output() //nolint:gosec // a file of our own
	if err != nil || !strings.Contains(string(out), l.value) {
		return fmt.Errorf("the form shows %q, not %q: %w", out, l.value, err)
	}
	return nil
}

// writeLarge writes a large file, of so many pages; first says which bytes its images have.
func writeLarge(f *os.File, pages int, first byte) error {
	buffered := bufio.NewWriterSize(f, 1<<20)
	w := cos.NewWriter(buffered, cos.Options{Version: cos.V17, Limits: cos.Limits{OutputBytes: 4 << 30}})
	root, tree := w.Reserve(), w.Reserve()
	rng := rand.NewChaCha8([32]byte{first})
	data := make([]byte, imageSide*imageSide)
	var kids cos.Array
	var widgets widgets
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
				return err
			}
			names = append(names, cos.E(name, ref))
		}
		content, page := w.Reserve(), w.Reserve()
		if err := w.Stream(content, nil, []byte("q 200 0 0 200 50 50 cm /A Do Q q 200 0 0 200 300 50 cm /B Do Q")); err != nil {
			return err
		}
		kids = append(kids, page)
		dict := cos.Dict{
			cos.E("Type", cos.Name("Page")), cos.E("Parent", tree), cos.E("Contents", content), cos.E("Resources", cos.Dict{cos.E("XObject", names)}),
			cos.E("MediaBox", cos.Array{cos.Int(0), cos.Int(0), cos.Int(595), cos.Int(842)}),
		}
		if len(kids) == 1 {
			var err error
			if widgets, err = writeWidgets(w, page); err != nil {
				return err
			}
			dict = append(dict, cos.E("Annots", widgets.fields))
		}
		if err := w.Put(page, dict); err != nil {
			return err
		}
	}
	if err := w.Put(tree, cos.Dict{cos.E("Type", cos.Name("Pages")), cos.E("Kids", kids), cos.E("Count", cos.Int(len(kids)))}); err != nil {
		return err
	}
	if err := w.Put(root, cos.Dict{cos.E("Type", cos.Name("Catalog")), cos.E("Pages", tree), cos.E("AcroForm", widgets.form())}); err != nil {
		return err
	}
	_, err := w.Close(cos.Trailer{Root: root})
	return errors.Join(err, buffered.Flush())
}
