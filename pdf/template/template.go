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
	// Files has the files that the template may refer to; nil: none, so referring to a file is a
	// problem. The operating system's files are never read.
	Files fs.FS
	// Limits bounds the template; zero fields mean the defaults.
	Limits diag.Limits
	// Families are the font families available in addition to those of the template; nil: unknown,
	// and the font names in styles are not checked.
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

// Compile compiles a template. The error is a *pdf.DiagnosticError with every problem found, or the
// error of ctx.
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

// Standards returns the standards that the template claims.
func (p *Plan) Standards() []standard.ID { return p.plan().Standards() }

// Files returns the names of the files that the template reads, sorted, each once. They were read
// when the template was compiled. To keep a template, keep them with it.
func (p *Plan) Files() []string { return p.plan().Files() }

// Warnings returns likely mistakes of the template with which documents can still be made, in order
// of position. Every document made with it reports them again.
func (p *Plan) Warnings() []diag.Diagnostic { return p.plan().Warnings() }

// Signer returns the name of the signer that the template asks for; empty: none.
func (p *Plan) Signer() string { return p.plan().Signer() }

// Schema returns the JSON Schema (draft 2020-12) of the template's data, for editors and clients.
func (p *Plan) Schema() ([]byte, error) { return p.plan().Schema() }

// Static returns a document without data. Laying it out finds the problems that do not depend on
// data, as pdf.Engine.CheckTemplate does. It has the content that every document of the plan has,
// or, with all, that any of them may have.
func (p *Plan) Static(ctx context.Context, limits diag.Limits, all bool) (*doc.Document, error) {
	return p.plan().Static(ctx, limits, all)
}

// Data is the source of the values of one document; the zero value has none.
type Data struct{ from compile.Data }

// JSON returns data that is a JSON text (RFC 8259, UTF-8 without a byte-order
// mark). Diagnostics call it data.json. body is not changed and must not change
// while a document is made of it.
func JSON(body []byte) Data { return Data{compile.JSON(body)} }

// NamedJSON is JSON with the name that diagnostics use, such as "note.json".
func NamedJSON(name string, body []byte) Data { return Data{compile.NamedJSON(name, body)} }

// Struct returns data from a Go value: a struct, a map with string keys, or a pointer to one. It is
// validated by the template's data contract like JSON, and problems give the path of the value. v
// must not change while a document is made from it.
//
// A record is a struct or a map. A struct field has the name that encoding/json gives it; without a
// tag it also matches a name that differs only in case. Struct fields that the template does not
// declare are ignored; undeclared map keys are problems. Texts are strings. Numbers are integers,
// floats (by their shortest digits) and json.Number. Both may be an encoding.TextMarshaler, such as
// *big.Int or a decimal type. Dates are time.Time or text, images []byte or base64. A nil pointer
// or interface is a missing value, a nil slice or map an empty one.
//
// A list is a slice, an array, or an iter.Seq[T] or iter.Seq2[T, error], whose items are read while
// the document is laid out, like those of [Stream], in any number.
func Struct(v any) Data { return Data{compile.Struct(v)} }

// Stream returns data from a JSON text in which the items of the array at path, such as "trades" or
// "account.trades", are decoded one by one while the document is laid out: a table of a million
// rows takes no more memory than one of a hundred. r is read for one document.
//
// The array must be read by exactly one loop of the template, in a document whose body contains no
// page numbers. Otherwise Build fails, with the position. Other data that the template reads must
// precede the array in the text. A problem in a row, or after the rows, ends the document with a
// *pdf.DiagnosticError while it is written. Limits of data apply to each row, and to the rest
// together.
func Stream(r io.Reader, path string) Data { return Data{compile.Stream(r, path)} }

// BuildOptions are the options of one document.
type BuildOptions struct {
	// Time is what now() returns. Zero: now() is an error.
	Time time.Time
	// Limits bounds the data and the expressions; zero fields mean the defaults.
	Limits diag.Limits
	// Memory is the memory of the document. Its Reset ends the document and prepares it for another
	// one; nil: new memory.
	Memory *Memory
}

// Memory is what documents are made in, one after the other. The zero value is ready.
type Memory = compile.Memory

// Build decodes the data and returns the document. All problems of the data are in one
// *pdf.DiagnosticError. Body and table rows of the document are made when layout reads them;
// problems there end them with a *pdf.DiagnosticError or the error of ctx. A document is laid out
// once, by one goroutine. Any number of documents of one plan can be made concurrently.
func (p *Plan) Build(ctx context.Context, data Data, o BuildOptions) (*doc.Document, error) {
	return p.plan().Build(ctx, data.from, compile.BuildOptions(o))
}
