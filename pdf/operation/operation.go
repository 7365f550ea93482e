// Package operation is the one table of operations on PDF files. Each [Operation] has the function
// of package pdf that does it, and its files and parameters. The command line makes a command of
// each, `quire pdf NAME`, and the HTTP API a route, POST /v1/pdf/NAME. Neither has a list of its
// own.
package operation

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/quire/internal/nearest"
	"example.com/quire/pdf"
	"example.com/quire/pdf/sign"
)

// Kind is the type of a parameter's value.
type Kind uint8

// The kinds of parameters.
const (
	Text   Kind = iota
	Number      // a whole number
	Switch      // true or false
	Secret      // a password: never an argument of a command, nor in an address
	Upload      // a file
	Key         // what Input.Identity takes: a file for the command line, the name of a signer for the HTTP API
)

// Parameter is a parameter of an operation.
type Parameter struct {
	Name     string
	Kind     Kind
	Value    string // what help calls the value, such as PAGES; "": FILE, N or TEXT, by its kind
	Doc      string // a phrase
	Required bool
	Example  string
	Choices  []string // all that the value can be; nil: what Doc says
	// Whole says that the parameter is about the whole file: a step of pipe does not have it.
	Whole bool
	// Empty says that an empty value is one; for others it is an error, not as if none were given.
	Empty bool
}

// AreaValue is what help calls a value that is a rectangle on a page.
const AreaValue = "LEFT,BOTTOM,RIGHT,TOP"

// MostUploadBytes bounds a parameter of the kind Upload.
const MostUploadBytes = sign.MostKeyBytes

// Gives is the type of an operation's result.
type Gives uint8

// What operations make.
const (
	Report    Gives = iota // a value, as JSON or text
	Document               // one PDF
	Documents              // several
	Data                   // one file of any kind
)

// Operation is one thing that can be done with files.
type Operation struct {
	Name, Summary, Description string
	// Go is the function of package pdf that does it.
	Go         any
	Most       int // files: 1, or more
	Least      int // of them; 0: 1
	Gives      Gives
	Parameters []Parameter
	// Tool is the program that a part of it needs, which may be missing; "": none.
	Tool string
	// Type returns the media type and the file extension of a result of type Data.
	Type func(values map[string]string) (media, suffix string)

	// op makes the change that the operation is, which can be a step of pipe; nil: it is none.
	op func(*call) (pdf.Op, error)
	// run does it; nil: the file is written with the change.
	run func(*call) error
}

// File is a file that an operation is given.
type File struct {
	Name string
	Data io.ReaderAt
	Size int64
}

// Input is the input of an operation.
type Input struct {
	Files   []File
	Values  map[string]string // of parameters, by their names
	Uploads map[string]File   // of parameters of the kind Upload
	Limits  pdf.ReadLimits
	Time    time.Time // which the file states; zero: no dates change, and nothing is signed
	// Identity finds the key that a parameter of kind Key names; nil: there are no keys.
	Identity func(key, password string) (*sign.Identity, error)
	// HTTP sends requests to time-stamp authorities; nil: none may be sent.
	HTTP sign.Doer
	// OCR returns what reads text in images, in languages such as eng; nil: nothing does.
	OCR func(ctx context.Context, languages []string) (pdf.OCR, error)
	// Create returns where a file is written, which is named part by part: 1, 2 ...
	Create   func(part int) (io.WriteCloser, error)
	Progress func(done, known int) // may be nil
}

// Outcome is what became of it.
type Outcome struct {
	Report any // to be shown as JSON
	Text   string
	// Failed says that a check found something: the file does not pass.
	Failed bool
}

// Find returns the operation of a name; an unknown one is a *pdf.OptionError with the nearest name.
func Find(name string) (*Operation, error) {
	all := All()
	var names []string
	for i := range all {
		if all[i].Name == name {
			return &all[i], nil
		}
		names = append(names, all[i].Name)
	}
	return nil, &pdf.OptionError{Field: "operation", Got: strconv.Quote(name), Want: strings.Join(names, ", "), Nearest: nearest.Name(name, names)}
}

// Run runs the operation. Errors are *pdf.OptionError for an invalid request, those of Engine.Open,
// each *pdf.DiagnosticError with the name of its file, and those of in.Create. Output written
// before an error is not a complete file.
func (o *Operation) Run(ctx context.Context, e *pdf.Engine, in Input) (*Outcome, error) {
	if err := o.check(in.Values, in.Uploads); err != nil {
		return nil, err
	}
	if n, least := len(in.Files), max(o.Least, 1); n < least || n > o.Most {
		want := strconv.Itoa(least) + " to " + strconv.Itoa(o.Most)
		if least == o.Most {
			want = strconv.Itoa(least)
		}
		return nil, &pdf.OptionError{Field: "file", Got: counted(n, "file", "files"), Want: want}
	}
	c := &call{ctx: ctx, e: e, in: in, out: &Outcome{}}
	run := o.run
	if run == nil {
		run = func(c *call) error {
			op, err := o.op(c)
			if err != nil {
				return err
			}
			return c.edit(op)
		}
	}
	if err := run(c); err != nil {
		return nil, err
	}
	return c.out, nil
}

// check checks that parameters are those of the operation, and all that it needs.
func (o *Operation) check(values map[string]string, uploads map[string]File) error {
	names := make([]string, len(o.Parameters))
	for i, p := range o.Parameters {
		names[i] = p.Name
	}
	var given []string
	for name := range values {
		given = append(given, name)
	}
	for name := range uploads {
		given = append(given, name)
	}
	slices.Sort(given)
	for _, name := range given {
		if !slices.Contains(names, name) {
			return &pdf.OptionError{Field: name, Got: "an unknown parameter", Want: cmp.Or(strings.Join(names, ", "), "none"), Nearest: nearest.Name(name, append(names, "file"))}
		}
	}
	for _, p := range o.Parameters {
		if p.Required && values[p.Name] == "" && uploads[p.Name].Data == nil {
			return &pdf.OptionError{Field: p.Name, Got: "nothing", Want: p.value()}
		}
		if v, given := values[p.Name]; given && v == "" && !p.Empty {
			return &pdf.OptionError{Field: p.Name, Got: "an empty value", Want: p.value() + "; or leave it out"}
		}
	}
	return nil
}

// Placeholder is what help shows in the place of the value: "" for a switch.
func (p *Parameter) Placeholder() string {
	switch p.Kind {
	case Switch:
		return ""
	case Secret, Upload, Key:
		return "FILE"
	case Number:
		return cmp.Or(p.Value, "N")
	case Text:
	}
	return cmp.Or(p.Value, "TEXT")
}

// value says in words what the value of a parameter is.
func (p *Parameter) value() string { return p.Placeholder() + ": " + p.Doc }

// call is one run.
type call struct {
	ctx    context.Context //nolint:containedctx // of one call
	e      *pdf.Engine
	in     Input
	out    *Outcome
	opened []opened
}

// opened is a file that is read, with its name.
type opened struct {
	name string
	doc  *pdf.Document
}

// open opens the i-th file.
func (c *call) open(i int) (*pdf.Document, error) {
	f := c.in.Files[i]
	d, err := c.e.Open(c.ctx, f.Data, f.Size, pdf.OpenOptions{Password: c.in.Values["password"], Limits: c.in.Limits})
	if err == nil {
		c.opened = append(c.opened, opened{base(f.Name), d})
	}
	return d, named(f.Name, err)
}

// mostRepairs bounds what is told of one file that was repaired: a summary stands in a header
// field, too.
const mostRepairs = 5

// repairs tells what was wrong with the files that were read, each with its place.
func (c *call) repairs() (told []string) {
	for _, f := range c.opened {
		all := f.doc.Warnings()
		for _, w := range all[:min(len(all), mostRepairs)] {
			place := f.name
			if w.Object > 0 {
				place += ", object " + strconv.FormatUint(uint64(w.Object), 10)
			}
			if w.Offset > 0 {
				place += ", offset " + strconv.FormatInt(w.Offset, 10)
			}
			told = append(told, "repaired: "+place+": "+w.Message)
		}
		if n := len(all) - mostRepairs; n > 0 {
			told = append(told, "repaired: "+f.name+": "+strconv.Itoa(n)+" more; info lists them")
		}
	}
	return told
}

// named puts the name of the file into the diagnostics of an error, but those of another file.
func named(file string, err error) error {
	if e, ok := err.(*pdf.DiagnosticError); ok { //nolint:errorlint // only those that Open made, which are not wrapped
		for i := range e.Diagnostics {
			if e.Diagnostics[i].File != "with" {
				e.Diagnostics[i].File = file
			}
		}
	}
	return err
}

// list reads a list of words with commas between them.
func (c *call) list(name string) (out []string) {
	for s := range strings.SplitSeq(c.in.Values[name], ",") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// Example is a command line without its program, for help and documentation.
func (o *Operation) Example() string {
	words := []string{o.Name, "in.pdf"}
	if o.Most > 1 {
		words = append(words, "more.pdf")
	}
	for _, p := range o.Parameters {
		if p.Example == "" {
			continue
		}
		switch p.Kind {
		case Switch:
			words = append(words, "--"+p.Name)
		case Secret:
			words = append(words, "--"+p.Name+"-file", p.Example)
		case Text, Number, Upload, Key:
			words = append(words, "--"+p.Name, p.Example)
		}
	}
	switch o.Gives {
	case Document:
		words = append(words, "-o", "out.pdf")
	case Data:
		words = append(words, "-o", "out")
	case Report, Documents:
	}
	return strings.Join(words, " ")
}

// Part is a part of a request in multipart/form-data.
type Part struct {
	Name, Value string // the value of a file is its name
	File        bool
	Key         bool // the value is the name of a signer of the server
}

// Sample is an example of the parts of a request: files, and the parameters that have an example.
func (o *Operation) Sample() []Part {
	parts := []Part{{Name: "file", Value: "in.pdf", File: true}}
	if o.Most > 1 {
		parts = append(parts, Part{Name: "file", Value: "more.pdf", File: true})
	}
	for _, p := range o.Parameters {
		if p.Example == "" {
			continue
		}
		part := Part{Name: p.Name, Value: p.Example, File: p.Kind == Upload, Key: p.Kind == Key}
		switch p.Kind {
		case Secret:
			part.Value = "secret"
		case Key: // of a server keys have names
			part.Value = "office"
		case Text, Number, Switch, Upload:
		}
		parts = append(parts, part)
	}
	return parts
}

// Aborter may be implemented by the io.WriteCloser that Create returns: after an error, Abort is
// called instead of Close.
type Aborter interface{ Abort(err error) }
