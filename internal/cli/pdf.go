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
	"slices"
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
		Short: "Read, check and change PDF files",
		Long:  "Read, check and change PDF files of any origin. A damaged file is repaired, and the repairs\nare reported on standard error.",
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
	use := o.Name + " FILE"
	switch {
	case o.Least > 1:
		use = o.Name + strings.Repeat(" FILE", o.Least)
	case o.Most > 1:
		use = o.Name + " FILE..."
	}
	c := &cobra.Command{
		Use: use, Short: o.Summary, Long: o.Summary + ".\n\n" + wrapped(o.Description+" The FILE - is standard input."),
		Args:    counted(max(o.Least, 1), o.Most, "file"),
		Example: "  quire pdf " + o.Example(),
		RunE: func(c *cobra.Command, a []string) error {
			in := operation.Input{Values: map[string]string{}, Uploads: map[string]operation.File{}}
			for name, v := range switches {
				if *v {
					in.Values[name] = "true"
				}
			}
			return ofCall(o, p.operate(c, o, a, in, values, out))
		},
	}
	for _, x := range o.Parameters {
		switch x.Kind {
		case operation.Switch:
			switches[x.Name] = c.Flags().Bool(x.Name, false, x.Doc)
		case operation.Secret:
			v := &parameterValue{placeholder: x.Placeholder()}
			c.Flags().Var(v, x.Name+"-file", x.Doc+": the first line of FILE, or - for standard input")
			values[x.Name] = &v.text
		default:
			v := &parameterValue{placeholder: x.Placeholder()}
			c.Flags().Var(v, x.Name, x.Doc)
			values[x.Name] = &v.text
		}
	}
	switch o.Gives {
	case operation.Document:
		c.Flags().StringVarP(&out, "out", "o", "", "PDF `FILE` to write; - for standard output (default: FILE-"+o.Name+".pdf, in the current directory)")
	case operation.Documents:
		c.Flags().StringVarP(&out, "out", "o", ".", "`DIRECTORY` to write the files to")
	case operation.Data:
		c.Flags().StringVarP(&out, "out", "o", "", "`FILE` to write; - for standard output (default: its own name, in the current directory)")
	case operation.Report:
	}
	return c
}

// ofCall names the flag of the parameter that an error is of, and standard input as such.
func ofCall(o operation.Operation, err error) error {
	if e, ok := errors.AsType[*pdf.DiagnosticError](err); ok {
		for i, d := range e.Diagnostics {
			if d.File == inputName {
				e.Diagnostics[i].File = "standard input"
			}
		}
	}
	e, ok := errors.AsType[*pdf.OptionError](err)
	if !ok {
		return err
	}
	for _, x := range o.Parameters {
		if x.Name == e.Field {
			return &flagError{flagOf(x), e}
		}
	}
	return err
}

// parameterValue is the value of a flag as it was given, which help shows as a word of its own.
type parameterValue struct{ text, placeholder string }

func (v *parameterValue) String() string     { return v.text }
func (v *parameterValue) Set(s string) error { v.text = s; return nil }
func (v *parameterValue) Type() string       { return v.placeholder }

// flagOf is the flag of a parameter: of a password it names a file.
func flagOf(x operation.Parameter) string {
	if x.Kind == operation.Secret {
		return "--" + x.Name + "-file"
	}
	return "--" + x.Name
}

// flagError is an OptionError with the flag that it is of.
type flagError struct {
	flag string
	*pdf.OptionError
}

func (e *flagError) Error() string {
	return e.flag + strings.TrimPrefix(e.OptionError.Error(), "pdf: "+e.Field)
}

func (e *flagError) Unwrap() error { return e.OptionError }

// operate runs an operation on files.
func (p *program) operate(c *cobra.Command, o operation.Operation, files []string, in operation.Input, values map[string]*string, out string) error {
	var open []*os.File
	defer func() {
		for _, f := range open {
			_ = f.Close() // only read from
		}
	}()
	file := func(name string) (operation.File, error) {
		copied := func(called string, r io.Reader) (operation.File, error) {
			f, err := seekable(r)
			if err != nil {
				return operation.File{}, err
			}
			open = append(open, f)
			size, err := f.Seek(0, io.SeekEnd)
			return operation.File{Name: called, Data: f, Size: size}, err
		}
		if name == "-" {
			return copied(inputName, p.Stdin)
		}
		f, err := os.Open(name)
		if err != nil {
			return operation.File{}, err
		}
		open = append(open, f)
		info, err := f.Stat()
		switch {
		case err != nil:
			return operation.File{}, err
		case info.IsDir():
			return operation.File{}, usageError{fmt.Errorf("%s is a directory; name a file", name)}
		case !info.Mode().IsRegular(): // a pipe, such as one of the shell
			return copied(name, f)
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
	if err := onceInput(o, files, values); err != nil {
		return err
	}
	for _, x := range o.Parameters {
		v := values[x.Name]
		if v == nil || *v == "" && !given(c, x) {
			continue
		}
		if *v == "" && (x.Kind == operation.Secret || x.Kind == operation.Upload) {
			return usageError{fmt.Errorf("%s: name a FILE, or leave it out", flagOf(x))}
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
		return usageError{errors.New("--json and -o - both write to standard output; name a FILE to write")}
	}
	base := strings.TrimSuffix(filepath.Base(in.Files[0].Name), filepath.Ext(in.Files[0].Name))
	var written []*created
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
		written = append(written, p.create(name))
		return written[len(written)-1], nil
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
		for _, f := range written {
			if failed := f.failed(); failed != nil {
				return failed // what could not be written, in the words of the system
			}
		}
		return err
	}
	if done.Failed {
		p.code = 1
	}
	if out == "-" && o.Gives != operation.Documents {
		return nil // standard output has the file
	}
	return p.print(done.Report, wrote(written)+done.Text)
}

// wrote begins the line that tells what was written: with the name of the file, or of the first and
// the last of several.
func wrote(files []*created) string {
	switch n := len(files); n {
	case 0:
		return ""
	case 1:
		return files[0].name + ": "
	default:
		return files[0].name + " to " + files[n-1].name + ": "
	}
}

// inputName is what the file of standard input is called.
const inputName = "document.pdf"

// seekable copies what can be read once, such as standard input, to a file that has no name, for
// files are read in any order.
func seekable(r io.Reader) (*os.File, error) {
	f, err := os.CreateTemp("", "quire-input-*")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name()) // the system clears what cannot be removed while it is open
	if _, err := io.Copy(f, r); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// onceInput checks that standard input is named once: it can be read once.
func onceInput(o operation.Operation, files []string, values map[string]*string) error {
	all := slices.Clone(files)
	for _, x := range o.Parameters {
		if v := values[x.Name]; v != nil && (x.Kind == operation.Secret || x.Kind == operation.Upload) {
			all = append(all, *v)
		}
	}
	if i := slices.Index(all, "-"); i >= 0 && slices.Contains(all[i+1:], "-") {
		return usageError{errors.New("standard input is named twice; name a file for one of them")}
	}
	return nil
}

// given says whether the flag of a parameter stands in the command, with an empty value too.
func given(c *cobra.Command, x operation.Parameter) bool {
	return c.Flags().Changed(strings.TrimPrefix(flagOf(x), "--"))
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
func (p *program) create(name string) *created {
	r, w := io.Pipe()
	c := &created{name: name, w: w, done: make(chan struct{})}
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
	name string
	w    *io.PipeWriter
	done chan struct{}
	err  error // once done is closed
}

func (c *created) Write(b []byte) (int, error) { return c.w.Write(b) }

// failed is why the file could not be written; nil: it was, or is still being written.
func (c *created) failed() error {
	select {
	case <-c.done:
		return c.err
	default:
		return nil
	}
}

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
