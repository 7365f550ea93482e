// Package pdf makes tagged, archival, deterministic PDF documents from typed templates and data,
// or from nodes built in Go. It also reads, checks and changes existing files.
//
//	eng, err := pdf.New(pdf.Config{})
//	plan, err := eng.Compile(ctx, pdf.Source{File: "note.yaml", Text: src}) // once
//	res, err := eng.Render(ctx, w, plan, template.JSON(body), pdf.RenderOptions{Time: frozen})
//
// An Engine keeps no document. It caches only pure values, each keyed by its complete input. The
// same plan, data and options give the same bytes in every process with the same Result.Engine.
package pdf

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/crypt"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/font"
	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/emit"
	"example.com/quire/pdf/internal/emit/kflate"
	"example.com/quire/pdf/internal/image"
	"example.com/quire/pdf/internal/layout"
	"example.com/quire/pdf/internal/svg"
	"example.com/quire/pdf/internal/text"
	"example.com/quire/pdf/internal/text/gotext"
	"example.com/quire/pdf/standard"
	"example.com/quire/pdf/template"
)

// Types of package diag that callers need.
type (
	// Severity says whether a diagnostic stops the work.
	Severity = diag.Severity
	// Kind is the subject of a diagnostic.
	Kind = diag.Kind
	// Diagnostic is one finding at one position.
	Diagnostic = diag.Diagnostic
	// DiagnosticError contains all findings.
	DiagnosticError = diag.DiagnosticError
	// Limits bounds input and output; zero fields are defaults.
	Limits = diag.Limits
	// LimitError says which limit was exceeded.
	LimitError = diag.LimitError
)

// The severities. Result.Warnings lists the diagnostics that do not stop the work.
const (
	SeverityError   = diag.SeverityError
	SeverityWarning = diag.SeverityWarning
)

// The kinds of diagnostics.
const (
	KindTemplate = diag.KindTemplate
	KindData     = diag.KindData
	KindLimit    = diag.KindLimit
	KindInput    = diag.KindInput
)

// The sentinel errors, for errors.Is.
var (
	ErrTemplate    = diag.ErrTemplate
	ErrData        = diag.ErrData
	ErrLayout      = diag.ErrLayout
	ErrFont        = diag.ErrFont
	ErrStandard    = diag.ErrStandard
	ErrLimit       = diag.ErrLimit
	ErrUnsupported = diag.ErrUnsupported
	ErrDamaged     = diag.ErrDamaged
	ErrPassword    = diag.ErrPassword
	ErrNotProvable = diag.ErrNotProvable
	ErrTool        = diag.ErrTool
	ErrSigner      = diag.ErrSigner
)

// Config configures an Engine. The zero value is usable.
type Config struct {
	// Fonts is the font library; nil: Liberation Sans, Serif and Mono, with DejaVu Sans for
	// characters that they lack.
	Fonts *font.Library
	// Files has the files that templates refer to; nil: inline data only. The engine never uses the
	// file system of the process unless it is given here. Names cannot leave it. An os.Root also
	// keeps symbolic links inside; os.DirFS follows them.
	Files fs.FS
	Cache CacheLimits
	// Limits bounds every document; zero fields are defaults.
	Limits Limits
	// DecodeBudget bounds the bytes of decoded images that all renders hold at the same time, for
	// images that cannot be read row by row, such as an interlaced PNG. A render waits for its
	// share until its context ends. Then, or if it needs more than the budget on its own, the error
	// is a *LimitError. 0: 256 MiB.
	DecodeBudget int64
	// Spill opens a file for data that a long document does not keep in memory: cross-reference
	// data beyond 8 MiB, which is a million objects. It contains nothing of the document's content,
	// and is closed with the document. nil: a temporary file, which is removed then.
	Spill func() (SpillFile, error)
}

// SpillFile is the file that Config.Spill opens.
type SpillFile = cos.SpillFile

// CacheLimits bounds what an Engine caches between documents: compiled plans, shaped words, font
// subsets, streams of images and drawings.
type CacheLimits struct {
	Bytes int64 // in all; 0: 64 MiB
	Off   bool  // cache nothing; the output is the same, only slower
}

const (
	defaultCacheBytes   = 64 << 20
	defaultDecodeBudget = 256 << 20
)

// Engine renders and changes documents. It is safe for concurrent use and has nothing to close.
type Engine struct {
	files    fs.FS
	limits   Limits
	fonts    *font.Library
	setter   *text.Typesetter
	setters  setters // of documents with fonts of their own
	subsets  *font.Cache
	images   *image.Store
	drawings *svg.Store
	buffers  emit.Buffers
	spill    func() (SpillFile, error)
	after    int64                  // as cos.Options.SpillAfter
	memory   sync.Pool              // of *layout.Memory
	made     sync.Pool              // of *template.Memory
	profile  func() ([]byte, error) // as emit.Options has it
	deflater cos.Deflater
	mono     string
	plans    *plans
	kept     *template.Components
	chains   chains // of signers
	version  string
}

// New returns an engine.
func New(c Config) (*Engine, error) {
	lib := c.Fonts
	if lib == nil {
		lib = liberation.New()
	}
	if len(lib.Families()) == 0 {
		return nil, fmt.Errorf("pdf: new engine: the font library has no family: %w", ErrFont)
	}
	bytes := c.Cache.Bytes
	if bytes == 0 {
		bytes = defaultCacheBytes
	}
	if c.Cache.Off || bytes < 0 {
		bytes = 0
	}
	budget := c.DecodeBudget
	if budget == 0 {
		budget = defaultDecodeBudget
	}
	deflater := kflate.New()
	best := func(dst, src []byte) ([]byte, error) { return deflater.Deflate(dst, src, cos.LevelBest) }
	e := &Engine{
		files: c.Files, limits: c.Limits.WithDefaults(), deflater: deflater, fonts: lib,
		setter: text.NewTypesetter(lib, &gotext.Shaper{Proven: liberation.Embedded}, &gotext.Segmenter{}, bytes/4),
		images: image.NewStore(image.Options{Deflate: deflater.Writer, Best: best, CacheBytes: bytes / 4, DecodeBudget: budget}),
		drawings: svg.NewStore(bytes/16, func(code []byte) ([]byte, error) {
			return cos.Pack(deflater, nil, code, cos.LevelDefault)
		}),
		subsets: font.NewCache(bytes/4, best),
		profile: sync.OnceValues(func() ([]byte, error) { return best(nil, standard.SRGBProfile()) }),
		setters: setters{off: bytes == 0},
		spill:   c.Spill,
		plans:   newPlans(bytes / 4),
		kept:    template.NewComponents(bytes / 4 / planFactor / 4),
		version: version(),
	}
	for _, name := range lib.Families() {
		if name == liberation.Mono {
			e.mono = name
		}
	}
	return e, nil
}

// Version identifies everything except the input that determines the bytes of a document, as in
// every Result.Engine: two engines of one version write the same bytes.
func (e *Engine) Version() string { return e.version }

// RenderOptions are the options of one document.
type RenderOptions struct {
	// Time is the document's time: XMP dates and now(). Zero: no date is written, and now() in a
	// template is an error.
	Time time.Time
	// Standards are claimed in addition to those of the template. They determine the PDF version,
	// which is 2.0 without any. Standards that exclude each other are an error (standard.Set).
	Standards []standard.ID
	// SourceMap requests Result.Map, which takes some hundred bytes for each block and cell.
	SourceMap bool
	// DocumentID is written as xmpMM:DocumentID, where it can be found without a PDF reader.
	DocumentID string
	// Limits can only lower those of the engine; nil uses the engine's.
	Limits *Limits
	// Protect encrypts the document with AES-256; nil: not encrypted, unless the document itself
	// asks for it (doc.Protection). PDF/A does not allow it.
	Protect *crypt.Options
	// Sign signs the document while it is written, as PAdES B-B or B-T, in the signature field that
	// it names, where the signature is shown. Without a name the signature is invisible. If its
	// Time is zero, the Time above is used. An invalid request is an *OptionError, and a failing
	// key or time-stamp authority ErrSigner; w does not hold a complete document then. nil: not
	// signed, unless the document itself asks for it.
	Sign *SignRequest
	// Signers has the keys of documents that ask for a signature (doc.Signing, in a template
	// `sign`), which Sign overrides. A signature that is asked for and cannot be made is an error:
	// ErrSigner.
	Signers Signers
	// Signature is the Result.Signature of an earlier rendering of a document that asks for its
	// signature: if it is valid for the bytes of this one, it is written again, without a key; else
	// the error is ErrSigner. It must be of level B-B. nil: the document is signed anew.
	Signature []byte
	// Draft leaves a document unsigned and unencrypted, whatever the document itself asks for: it
	// is for previews.
	Draft bool
	// Rand is the source of the key and the initialisation vectors of an encrypted document; nil:
	// crypto/rand, and the document is not deterministic. A source that repeats itself gives
	// several documents one key: use it in tests only.
	Rand io.Reader
}

// Result describes what was written.
type Result struct {
	SHA256 [32]byte // of the file
	Size   int64
	Pages  int
	Title  string // as in the metadata
	// FileName is the output of the template's filename, or the title, as a name that every file
	// system accepts. It is empty if nothing is left of it, and for documents made with Build.
	FileName string
	// Deterministic says that the same input gives the same bytes.
	Deterministic bool
	Engine        string // what Engine.Version returns
	Standards     []standard.ID
	Fonts         []FontUse
	Warnings      []Diagnostic
	Map           *SourceMap // nil unless RenderOptions.SourceMap is set
	// Signature is the signature in the file, CMS signed data in DER; nil: the file is not signed.
	// With it the same file can be made again by RenderOptions.Signature.
	Signature []byte

	ranges *emit.Ranges // nil: there are none
}

// PageBytes returns the positions of page contents in the file, in file order. Content that pages
// share, such as fonts, belongs to no page.
func (r *Result) PageBytes() iter.Seq[PageBytes] {
	return func(yield func(PageBytes) bool) {
		if r.ranges == nil {
			return
		}
		for p := range r.ranges.All() {
			if !yield(PageBytes(p)) {
				return
			}
		}
	}
}

// PageBytes is the range of file bytes from From to before To: the content of a page or a part of
// it.
type PageBytes struct {
	Page     int // from 1
	From, To int64
}

// FontUse is a font in the document.
type FontUse struct {
	Name   string   // with its subset tag
	SHA256 [32]byte // of the font file
}

// Build makes a document from nodes: f fills a Builder, which has the blocks of the template
// language. Errors are those of Render.
func (e *Engine) Build(ctx context.Context, w io.Writer, o RenderOptions, f func(*doc.Builder) error) (*Result, error) {
	b := doc.NewBuilder()
	if err := f(b); err != nil {
		return nil, err
	}
	return e.write(ctx, w, b.Document(), o, o.Standards)
}

// write lays out doc and writes the file. Errors are *DiagnosticError with the
// place in the template, *LimitError, the error of ctx or that of w. What w took
// before an error is no document.
func (e *Engine) write(ctx context.Context, w io.Writer, d *doc.Document, o RenderOptions, ids []standard.ID) (*Result, error) {
	limits, err := e.limits.Lower(o.Limits)
	if err != nil {
		return nil, err
	}
	claims, err := standard.Set(ids...)
	if err != nil {
		return nil, diag.Fail(Diagnostic{Code: "S004", Path: "standard", Message: err.Error()})
	}
	if o.Protect == nil && d.Protection != nil && !o.Draft {
		if o.Protect, err = protection(d.Protection); err != nil {
			return nil, err
		}
	}
	to := emit.Options{
		Standards: claims, Time: o.Time, DocumentID: o.DocumentID, Limits: limits,
		Protect: o.Protect, Rand: o.Rand,
	}
	var m *SourceMap
	if o.SourceMap {
		m = &SourceMap{}
	}
	if o.Sign == nil && d.Signing != nil && !o.Draft {
		if o.Sign, err = asked(ctx, d.Signing, &o); err != nil {
			return nil, err
		}
	}
	if o.Sign == nil {
		return e.emitMapped(ctx, w, d, to, m)
	}
	var made []byte
	if to.Sign, err = e.whileRendering(ctx, *o.Sign, &o, &made); err != nil {
		return nil, err
	}
	r, err := e.emitMapped(ctx, w, d, to, m)
	if err != nil {
		return nil, err
	}
	r.Signature = made
	r.Deterministic = r.Deterministic && o.Sign.Identity.Deterministic()
	return r, nil
}

// protection is what a document asks for.
func protection(p *doc.Protection) (*crypt.Options, error) {
	o := &crypt.Options{Owner: p.Owner, User: p.User, PlainMetadata: p.PlainMetadata}
	for _, name := range p.Permissions {
		may, ok := crypt.ParsePermission(name)
		if !ok {
			return nil, &OptionError{Field: "permissions", Got: strconv.Quote(name), Want: strings.Join(crypt.PermissionNames(), ", ")}
		}
		o.Permissions |= may
	}
	if err := o.Check(); err != nil {
		return nil, diag.Fail(p.Src.Place(Diagnostic{Code: "T105", Message: err.Error()}))
	}
	return o, nil
}

const producer = "Quire"

// emit writes doc; o says what is its own.
func (e *Engine) emit(ctx context.Context, w io.Writer, d *doc.Document, o emit.Options) (*Result, error) {
	return e.emitMapped(ctx, w, d, o, nil)
}

// emitMapped is emit that notes what stands where, if m is not nil.
func (e *Engine) emitMapped(ctx context.Context, w io.Writer, d *doc.Document, o emit.Options, m *SourceMap) (*Result, error) {
	o.Producer, o.Deflater, o.Fonts, o.Profile, o.Buffers = producer, e.deflater, e.subsets, e.profile, &e.buffers
	o.Spill, o.SpillAfter = e.spill, e.after
	limits := o.Limits
	deterministic := o.Protect == nil || o.Rand != nil
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	setter, err := e.typesetter(d.Fonts, o.Standards)
	if err != nil {
		return nil, err
	}
	o.Exact = d.Fonts != nil && d.Fonts.Options().Exact
	em, err := emit.New(w, d, o)
	if err != nil {
		return nil, err
	}
	defer em.Close()
	memory, ok := e.memory.Get().(*layout.Memory)
	if !ok {
		memory = &layout.Memory{}
	}
	defer func() {
		memory.Reset()
		e.memory.Put(memory)
	}()
	lay := layout.Options{
		Memory:     memory,
		Typesetter: setter, Tagged: em.Tagged(), Limits: limits, Mono: e.mono, Trace: m != nil,
		Images: e.images.Session(limits), Drawings: e.drawings,
	}
	if o.Sign != nil {
		lay.Signed, lay.Signatory = o.Sign.Field, o.Sign.Shown
	}
	var sink layout.Sink = em
	if m != nil {
		sink = &mapped{em, m}
	}
	laid, err := layout.Run(ctx, d, lay, sink)
	if err != nil {
		return nil, err
	}
	m.finish()
	sum, fonts, err := em.Finish()
	if err != nil {
		return nil, err
	}
	r := &Result{
		SHA256: sum.SHA256, Size: sum.Size, Pages: laid.Pages, Title: d.Title, FileName: d.FileName, Deterministic: deterministic, Engine: e.version,
		Standards: o.Standards, Warnings: laid.Warnings, Map: m, ranges: em.Ranges(),
	}
	r.Fonts = slices.Grow(r.Fonts, len(fonts))
	for _, f := range fonts {
		r.Fonts = append(r.Fonts, FontUse{Name: f.Name, SHA256: f.Face.Hash()})
	}
	return r, nil
}
