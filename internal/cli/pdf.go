package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/quire/fetch"
	"example.com/quire/pdf"
	"example.com/quire/pdf/operation"
	"example.com/quire/pdf/sign"
)

// pdf has a command for each operation of package operation, and no list of its own.
func (p *program) pdf() *cobra.Command {
	c := &cobra.Command{
		Use:   "pdf",
		Short: "Read, judge and change PDF files",
		Long:  "Read, judge and change PDF files of any maker. A damaged file is repaired, and what was wrong\nis told on standard error.",
		Args:  subcommand,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	for _, o := range operation.All() {
		c.AddCommand(p.operation(o))
	}
	return c
}

func (p *program) operation(o operation.Operation) *cobra.Command {
	values, switches := map[string]*string{}, map[string]*bool{}
	var out string
	use, check := o.Name+" FILE", cobra.ExactArgs(1)
	switch {
	case o.Least > 1:
		use, check = o.Name+strings.Repeat(" FILE", o.Least), cobra.RangeArgs(o.Least, o.Most)
	case o.Most > 1:
		use, check = o.Name+" FILE...", cobra.RangeArgs(1, o.Most)
	}
	c := &cobra.Command{
		Use: use, Short: o.Summary, Long: o.Summary + ".\n\n" + wrapped(o.Description), Args: args(check),
		Example: "  quire pdf " + o.Example(),
		RunE: func(c *cobra.Command, a []string) error {
			in := operation.Input{Values: map[string]string{}, Uploads: map[string]operation.File{}}
			for name, v := range switches {
				if *v {
					in.Values[name] = "true"
				}
			}
			return p.operate(c, o, a, in, values, out)
		},
	}
	for _, x := range o.Parameters {
		switch x.Kind {
		case operation.Switch:
			switches[x.Name] = c.Flags().Bool(x.Name, false, x.Doc)
		case operation.Secret:
			values[x.Name] = c.Flags().String(x.Name+"-file", "", x.Doc+": the first line of `FILE`; - for standard input")
		case operation.Upload, operation.Key:
			values[x.Name] = c.Flags().String(x.Name, "", "`FILE`: "+x.Doc)
		case operation.Text, operation.Number:
			values[x.Name] = c.Flags().String(x.Name, "", x.Doc)
		}
	}
	switch o.Gives {
	case operation.Document:
		c.Flags().StringVarP(&out, "out", "o", "", "PDF `FILE` to write; - for standard output (default: FILE-"+o.Name+".pdf, here)")
	case operation.Documents:
		c.Flags().StringVarP(&out, "out", "o", ".", "`DIRECTORY` to write the files to")
	case operation.Data:
		c.Flags().StringVarP(&out, "out", "o", "", "`FILE` to write; - for standard output (default: its own name, here)")
	case operation.Report:
	}
	return c
}

// operate runs an operation on files.
func (p *program) operate(c *cobra.Command, o operation.Operation, files []string, in operation.Input, values map[string]*string, out string) error {
	var open []*os.File
	defer func() {
		for _, f := range open {
			_ = f.Close() // only read from
		}
	}()
	file := func(name string) (operation.File, error) {
		f, err := os.Open(name)
		if err != nil {
			return operation.File{}, err
		}
		open = append(open, f)
		info, err := f.Stat()
		if err == nil && info.IsDir() {
			err = usageError{fmt.Errorf("%s is a directory; name a file", name)}
		}
		if err != nil {
			return operation.File{}, err
		}
		return operation.File{Name: name, Data: f, Size: info.Size()}, nil
	}
	for _, name := range files {
		f, err := file(name)
		if err != nil {
			return err
		}
		in.Files = append(in.Files, f)
	}
	for _, x := range o.Parameters {
		v := values[x.Name]
		if v == nil || *v == "" {
			continue
		}
		var err error
		switch x.Kind {
		case operation.Secret:
			in.Values[x.Name], err = p.firstLine(*v)
		case operation.Upload:
			in.Uploads[x.Name], err = file(*v)
		case operation.Key: // a file, which Identity reads
			in.Values[x.Name] = *v
		default:
			in.Values[x.Name] = *v
		}
		if err != nil {
			return err
		}
	}
	e, err := pdf.New(pdf.Config{Cache: pdf.CacheLimits{Off: true}})
	if err != nil {
		return err
	}
	if out == "-" && p.json {
		return usageError{errors.New("--json and -o -: standard output has room for one; name a FILE to write")}
	}
	base := strings.TrimSuffix(filepath.Base(files[0]), filepath.Ext(files[0]))
	in.Create = func(part int) (io.WriteCloser, error) {
		name := out
		switch {
		case o.Gives == operation.Documents:
			name = filepath.Join(out, fmt.Sprintf("%s-%03d.pdf", base, part))
		case name == "" && o.Gives == operation.Data:
			name = plainName(in.Values["name"])
			if o.Type != nil {
				_, suffix := o.Type(in.Values)
				name = base + suffix
			}
		case name == "":
			name = base + "-" + o.Name + ".pdf"
		}
		return p.create(name), nil
	}
	client, err := fetch.New(fetch.Config{UserAgent: "quire"})
	if err != nil {
		return err
	}
	defer func() { _ = client.Close(c.Context()) }() // its connections end with the process
	in.Time, in.HTTP, in.Identity = time.Now(), client, keyFile
	in.OCR = func(ctx context.Context, languages []string) (pdf.OCR, error) {
		return pdf.Tesseract(ctx, pdf.TesseractOptions{Languages: languages})
	}
	done, err := o.Run(c.Context(), e, in)
	if err != nil {
		return err
	}
	if done.Failed {
		p.code = 1
	}
	if out == "-" && o.Gives != operation.Documents {
		return nil // standard output has the file
	}
	return p.print(done.Report, done.Text)
}

// plainName is a name that a file gave, as one of a file here: it leads to no other directory.
func plainName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7F || strings.ContainsRune(`/\:`, r) {
			return '_'
		}
		return r
	}, s)
	if strings.Trim(s, ".") == "" || s == "-" {
		return "attachment"
	}
	return s
}

// keyFile reads a key.
func keyFile(name, password string) (*sign.Identity, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read from
	b, err := io.ReadAll(io.LimitReader(f, sign.MostKeyBytes+1))
	if err != nil {
		return nil, err
	}
	return sign.ParseIdentity(b, []byte(password))
}

// create returns where a file is written, which gets its name when it is closed.
func (p *program) create(name string) io.WriteCloser {
	r, w := io.Pipe()
	c := &created{w: w, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		c.err = p.output(name, func(to io.Writer) error {
			_, err := io.Copy(to, r)
			return err
		})
		_ = r.CloseWithError(cmp.Or(c.err, io.ErrClosedPipe)) // whoever still writes learns it
	}()
	return c
}

// created is a file that is being written.
type created struct {
	w    *io.PipeWriter
	done chan struct{}
	err  error // once done is closed
}

func (c *created) Write(b []byte) (int, error) { return c.w.Write(b) }

// Abort leaves the file that was there as it is.
func (c *created) Abort(err error) {
	_ = c.w.CloseWithError(err) // always nil
	<-c.done
}

func (c *created) Close() error {
	_ = c.w.Close() // always nil
	<-c.done
	return c.err
}

// firstLine reads a password: the first line of a file, or of standard input.
func (p *program) firstLine(name string) (string, error) {
	in := p.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return "", err
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	line, err := bufio.NewReader(io.LimitReader(in, 4<<10)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return strings.TrimRight(line, "\r\n"), nil
}

// wrapped breaks a text into lines for help.
func wrapped(s string) string {
	var b strings.Builder
	n := 0
	for word := range strings.FieldsSeq(s) {
		if n+len(word) > 94 {
			b.WriteByte('\n')
			n = 0
		} else if n > 0 {
			b.WriteByte(' ')
			n++
		}
		b.WriteString(word)
		n += len(word)
	}
	return b.String()
}
