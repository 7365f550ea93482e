// Package template is the public part of the template language: a compiled template, the sources
// of its data and the JSON Schema of the data. docs/templates.md describes the language.
//
// A template is YAML 1.2 or JSON. Compile reads it once: it resolves styles, parses markup,
// type-checks and compiles expressions against the declared data, and reads files. Build then
// decodes data directly into typed values and fills in the texts; it parses nothing of the
// template.
package template

import (
	"context"
	"io"
	"io/fs"
	"time"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/compile"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/standard"
)

// Options says how a template is compiled.
type Options struct {
	// File is the name that diagnostics use.
	File string
	// Files holds what the template names; nil: nothing, so naming a file is a
	// problem. The operating system's files are never read.
	Files fs.FS
	// Limits bounds the template; zero fields mean the defaults.
	Limits diag.Limits
	// Families are the font families that there are beside those of the template; nil: not known,
	// and the names that styles have are not checked.
	Families []string
	// Components keeps compiled components, so that after a change those that did not change are
	// not compiled again; nil: all are compiled.
	Components *Components
}

// Components keeps what Options says. It is safe for concurrent use.
type Components = compile.Components

// NewComponents returns one that keeps the components of at most maxBytes of templates, nil for 0.
func NewComponents(maxBytes int64) *Components { return compile.NewComponents(maxBytes) }

// Plan is a compiled template. It is immutable and safe for concurrent use.
type Plan compile.Plan

// Compile reads a template. The error is a *pdf.DiagnosticError with every
// problem found, or that of ctx.
func Compile(ctx context.Context, src []byte, o Options) (*Plan, error) {
	p, err := compile.Compile(ctx, src, compile.Options(o))
	if err != nil {
		return nil, err
	}
	return (*Plan)(p), nil
}

// LanguageSchema returns the JSON Schema (draft 2020-12) of templates themselves, for editors:
// keys, kinds of blocks and the words that they take.
func LanguageSchema() ([]byte, error) { return compile.LanguageSchema() }

func (p *Plan) plan() *compile.Plan { return (*compile.Plan)(p) }

// Standards returns the standards that the template asks for.
func (p *Plan) Standards() []standard.ID { return p.plan().Standards() }

// Files returns the names of the files that the template reads, sorted, each
// once. They were read when the template was compiled; whoever keeps the template
// keeps them with it.
func (p *Plan) Files() []string { return p.plan().Files() }

// Warnings returns what is likely a mistake of the template, though documents can be made of it, in
// the order of the places; every document made of it tells it again.
func (p *Plan) Warnings() []diag.Diagnostic { return p.plan().Warnings() }

// Schema returns the JSON Schema (draft 2020-12) of the data: what the data of
// this template must look like, for editors and for clients.
func (p *Plan) Schema() ([]byte, error) { return p.plan().Schema() }

// Static returns a document without data: layout of it tells what is wrong whatever the data are,
// as pdf.Engine.CheckTemplate does. It has what every document of the plan has, or, with all, what
// any of them may have.
func (p *Plan) Static(ctx context.Context, limits diag.Limits, all bool) (*doc.Document, error) {
	return p.plan().Static(ctx, limits, all)
}

// Data is where the values of one document come from; the zero value has none.
type Data struct{ from compile.Data }

// JSON returns data that is a JSON text (RFC 8259, UTF-8 without a byte-order
// mark). Diagnostics call it data.json. body is not changed and must not change
// while a document is made of it.
func JSON(body []byte) Data { return Data{compile.JSON(body)} }

// NamedJSON is JSON with the name that diagnostics use, such as "note.json".
func NamedJSON(name string, body []byte) Data { return Data{compile.NamedJSON(name, body)} }

// Struct returns data that are a Go value: a struct, a map with strings as keys, or a pointer to
// one. They are judged by the template's contract as JSON is, and problems name the path of the
// value. v must not change while a document is made of it.
//
// A record is a struct or a map. A field of a struct has the name that encoding/json gives it;
// without a tag it also stands for a name that differs in case alone. Fields that the template does
// not take are left out; keys of a map that it does not take are problems. Texts are strings,
// numbers are integers, floats (by their shortest digits) and json.Number; both may be an
// encoding.TextMarshaler, such as *big.Int or a decimal type. Dates are time.Time or text, images
// []byte or base64. A pointer or interface that is nil is a missing value, a nil slice or map an
// empty one.
//
// A list is a slice, an array, or an iter.Seq[T] or iter.Seq2[T, error], whose items are read while
// the document is laid out, as those of [Stream], and may be any number.
func Struct(v any) Data { return Data{compile.Struct(v)} }

// Stream returns data that are a JSON text in which the items of the array at path, such as
// "trades" or "account.trades", are decoded one by one while the document is laid out: a table of a
// million rows takes no more memory than one of a hundred. r is read by one document.
//
// The array is read by one loop of the template and by nothing else, in a document whose body asks
// for no numbers of pages; else Build fails, with the place. What the template reads besides must
// stand before the array in the text. What is wrong with a row, or behind the rows, ends the
// document with a
// *pdf.DiagnosticError while it is written. Limits of data hold for each row, and for all the rest.
func Stream(r io.Reader, path string) Data { return Data{compile.Stream(r, path)} }

// BuildOptions are those of one document.
type BuildOptions struct {
	// Time is what now() returns. Zero: now() is an error.
	Time time.Time
	// Limits bounds the data and the expressions; zero fields mean the defaults.
	Limits diag.Limits
	// Memory is what the document is made in. Its Reset ends the document, and makes it fit for
	// another one; nil: memory of its own.
	Memory *Memory
}

// Memory is what documents are made in, one after the other. The zero value is ready.
type Memory = compile.Memory

// Build decodes the data and returns the document. All problems of the data are in
// one *pdf.DiagnosticError. Body and table rows of the document are made as layout
// asks for them; what is wrong there ends them with a *pdf.DiagnosticError or the
// error of ctx. A document is laid out once, by one goroutine; any number of
// documents of one plan are made at a time.
func (p *Plan) Build(ctx context.Context, data Data, o BuildOptions) (*doc.Document, error) {
	return p.plan().Build(ctx, data.from, compile.BuildOptions(o))
}
