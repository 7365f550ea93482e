// Package pdfops is the suite of operations on PDF files: merge, split, fill, encrypt and optimise
// beside pdfcpu in process and qpdf as a process, the same on a file of 200 MB, and what signing
// adds beside one signature and one hash.
package pdfops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"example.com/quire/bench/harness"
)

// The contestants that goals name.
const (
	quireName   = "quire"
	pdfcpuName  = "pdfcpu"
	qpdfName    = "qpdf"
	controlName = "SHA-256 and one signature"
	copyName    = "copy"
)

const pdfcpuModule = "github.com/pdfcpu/pdfcpu"

var (
	pdftotext = harness.Tool{Name: "pdftotext", Install: "apt-get install poppler-utils", Version: []string{"-v"}}
	pdfinfo   = harness.Tool{Name: "pdfinfo", Install: "apt-get install poppler-utils", Version: []string{"-v"}}
	pdfsig    = harness.Tool{Name: "pdfsig", Install: "apt-get install poppler-utils", Version: []string{"-v"}}
	qpdf      = harness.Tool{Name: "qpdf", Install: "apt-get install qpdf", Version: []string{"--version"}}
	golang    = harness.Tool{Name: "go", Install: "https://go.dev/dl", Version: []string{"version"}}
)

// Suite returns the rows.
func Suite() harness.Suite {
	s := harness.Suite{
		Name:  "pdfops",
		Title: "Operations on PDF files",
		About: "Files of other makers come in, files go out: two merged, one split into pages, a form filled, one encrypted by AES-256, one " +
			"written smaller without loss. The files are samples of the module pdfcpu, twelve of all kinds, the same ones for all, and " +
			"an operation is done on all of them; pdfcpu, whose default for files before PDF 2.0 is a revision of encryption that the " +
			"standard has taken back, is given them as files of PDF 2.0 to encrypt, as the others are. quire and pdfcpu read and write memory in process; qpdf is a process " +
			"for each operation, which reads and writes files. Before anything is timed pdftotext reads what came out: as many pages and " +
			"the same words as went in. Rows of the large file are done once, from a file to a file, and pdfinfo counts its pages; " +
			"quire and pdfcpu have their limits raised for it.",
		NotShown: []string{
			"What claims of PDF/A and PDF/UA are worth: quire judges what it writes before a claim stays, the others do not look.",
			"The memory of qpdf, whose process is another one than that which is measured.",
			"Files that one of the contestants refuses.",
		},
	}
	for _, o := range operations() {
		s.Rows = append(s.Rows, o.row())
	}
	for _, o := range largeOperations(largePages) {
		s.Rows = append(s.Rows, o.row())
	}
	s.Rows = append(s.Rows, signing())
	return s
}

// input is one operation.
type input struct {
	files [][]byte
	paths []string // the same files, for programs; empty: nobody asked
	value string   // of the field that is filled
	out   []*bytes.Buffer
	made  []string // files that a program wrote, which are read into out when they are looked at
}

// add begins another file that is written.
func (in *input) add() *bytes.Buffer {
	b := &bytes.Buffer{}
	in.out = append(in.out, b)
	return b
}

// work does one operation.
type work func(ctx context.Context, in *input) error

// operation is a row: who does what.
type operation struct {
	name, title, text string
	files             int // of one operation
	form              bool
	password          string // that opens what comes out
	own               func() (work, error)
	pdfcpu            work
	qpdf              func(dir string) work // nil: it cannot
}

func (o operation) row() harness.Row {
	r := harness.Row{
		Name: o.name, Title: o.title, Primary: harness.Time, Rounds: 12,
		Workload: harness.Workload{Name: "pdfops-" + o.name, Version: 2, Text: o.text},
		Contestants: []harness.Contestant{
			{Name: quireName, Own: true, Needs: o.needs(), Open: o.open(func(string) (work, error) { return o.own() }, false)},
			{Name: pdfcpuName, Module: pdfcpuModule, Needs: o.needs(), Open: o.open(func(string) (work, error) { return o.pdfcpu, nil }, false)},
		},
		Goals: []harness.Goal{{Against: pdfcpuName, AtMost: 1.0 / 3}},
	}
	if o.qpdf != nil {
		r.Contestants = append(r.Contestants, harness.Contestant{
			Name: qpdfName, Note: "a process for each operation, from files to files", Needs: append(o.needs(), qpdf),
			Open: o.open(func(dir string) (work, error) { return o.qpdf(dir), nil }, true),
		})
	}
	return r
}

func (o operation) needs() []harness.Tool { return []harness.Tool{pdftotext, golang} }

// open makes a contestant ready. onDisk has the files beside their bytes, for programs.
func (o operation) open(prepare func(dir string) (work, error), onDisk bool) func(context.Context, harness.Env) (harness.Subject, error) {
	return func(ctx context.Context, env harness.Env) (harness.Subject, error) {
		files, err := o.inputs(ctx, env)
		if err != nil {
			return nil, err
		}
		var paths []string
		if onDisk {
			for i, b := range files {
				path := filepath.Join(env.Dir, fmt.Sprintf("in-%02d.pdf", i))
				if err := os.WriteFile(path, b, 0o600); err != nil {
					return nil, fmt.Errorf("input: %w", err)
				}
				paths = append(paths, path)
			}
		}
		var do []work // who writes files gets a folder for each
		for i := range files {
			dir := filepath.Join(env.Dir, strconv.Itoa(i))
			if err := os.Mkdir(dir, 0o700); err != nil {
				return nil, fmt.Errorf("output: %w", err)
			}
			w, err := prepare(dir)
			if err != nil {
				return nil, err
			}
			if do = append(do, w); !onDisk {
				break
			}
		}
		return &harness.Ops[[]input]{
			Fill: func(i int, all *[]input) error {
				if len(*all) == 0 {
					*all = make([]input, len(files))
				}
				for at := range *all {
					in := &(*all)[at]
					in.clear()
					in.value = "value " + strconv.Itoa(i)
					for k := range o.files {
						in.files = append(in.files, files[(at+k)%len(files)])
						if onDisk {
							in.paths = append(in.paths, paths[(at+k)%len(files)])
						}
					}
				}
				return nil
			},
			Do: func(all *[]input) error {
				for i := range *all {
					if err := do[i%len(do)](ctx, &(*all)[i]); err != nil {
						return fmt.Errorf("file %d: %w", i, err)
					}
				}
				return nil
			},
			Verify: func(_ int, all *[]input) (facts harness.Facts, err error) {
				for i := range *all {
					in := &(*all)[i]
					if err := o.check(ctx, in); err != nil {
						return facts, fmt.Errorf("file %d: %w", i, err)
					}
					facts.OutputBytes += in.size()
				}
				return facts, nil
			},
			Cheap: func(_ int, all *[]input) error {
				for i := range *all {
					if err := (*all)[i].glance(); err != nil {
						return fmt.Errorf("file %d: %w", i, err)
					}
				}
				return nil
			},
		}, nil
	}
}

func (o operation) inputs(ctx context.Context, env harness.Env) ([][]byte, error) {
	if o.form {
		b, err := aForm()
		return [][]byte{b}, err
	}
	files, err := samples(ctx, env.Root)
	if o.password != "" {
		for i, b := range files {
			if _, rest, ok := bytes.Cut(b, []byte("%PDF-1.")); ok && len(rest) > 0 {
				files[i] = append([]byte("%PDF-2.0"), rest[1:]...)
			}
		}
	}
	return files, err
}

func (in *input) clear() {
	for _, path := range in.made {
		_ = os.Remove(path) // the folder goes in the end
	}
	*in = input{files: in.files[:0], paths: in.paths[:0]}
}

// load reads what a program wrote.
func (in *input) load() error {
	for _, path := range in.made {
		b, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("output: %w", err)
		}
		in.add().Write(b)
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("output: %w", err)
		}
	}
	in.made = nil
	return nil
}

func (in *input) size() (n int64) {
	if in.load() != nil {
		return 0 // which check tells
	}
	for _, b := range in.out {
		n += int64(b.Len())
	}
	return n
}

func (in *input) glance() error {
	if err := in.load(); err != nil {
		return err
	}
	if len(in.out) == 0 {
		return errors.New("nothing was written")
	}
	for _, b := range in.out {
		if b := b.Bytes(); len(b) < 200 || !bytes.HasPrefix(b, []byte("%PDF-")) || !bytes.Contains(b[len(b)-32:], []byte("%%EOF")) {
			return fmt.Errorf("no whole PDF but %d bytes", len(b))
		}
	}
	return nil
}

// check has pdftotext read what came out: as many pages as went in, and the same words in the same
// order.
func (o operation) check(ctx context.Context, in *input) error {
	if err := in.glance(); err != nil {
		return err
	}
	var pages, got int
	var want, have []string
	for _, f := range in.files {
		n, words, err := textOf(ctx, f, "")
		if err != nil {
			return fmt.Errorf("before: %w", err)
		}
		pages, want = pages+n, append(want, words...)
	}
	for _, f := range in.out {
		n, words, err := textOf(ctx, f.Bytes(), o.password)
		if err != nil {
			return err
		}
		got, have = got+n, append(have, words...)
	}
	if got != pages {
		return fmt.Errorf("%d pages, want %d", got, pages)
	}
	if o.form {
		if !strings.Contains(strings.Join(have, " "), in.value) {
			return fmt.Errorf("the form shows %q, not %q", have, in.value)
		}
		return nil
	}
	slices.Sort(want) // a file of one page may be read in another order than all of them
	slices.Sort(have)
	if !slices.Equal(want, have) {
		return fmt.Errorf("%d words went in, %d came out, or others", len(want), len(have))
	}
	return nil
}

// textOf has pdftotext read the words of a file; a page ends with a form feed.
func textOf(ctx context.Context, file []byte, password string) (pages int, words []string, err error) {
	args := []string{"-", "-"}
	if password != "" {
		args = []string{"-upw", password, "-", "-"}
	}
	cmd := exec.CommandContext(ctx, pdftotext.Name, args...) //nolint:gosec // fixed arguments
	cmd.Stdin = bytes.NewReader(file)
	out, err := cmd.Output()
	if err != nil {
		return 0, nil, fmt.Errorf("pdftotext: %w", err)
	}
	return bytes.Count(out, []byte("\f")), strings.Fields(string(out)), nil
}
