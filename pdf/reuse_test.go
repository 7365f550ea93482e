package pdf_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/crypt"
	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/sign"
	"example.com/quire/pdf/standard"
	"example.com/quire/pdf/template"
)

// The tests of this file hold what an engine uses again, memory, buffers and caches, against
// engines that made nothing before: whatever was made, and whatever went wrong, a document, an
// error and what stands in a Result are those of an engine of its own, and stay so.

// reuseTemplates are what documents of these tests are made of. Names have one length, and so have
// the words in the place of BYE, so that a template or a document looks like the one before in all
// but its letters.
var reuseTemplates = []string{`quire: 1
name: rows
lang: en
locale: en
data: {name: string, to: string, photo: image, rows: [{text: string, sum: decimal, tags: [string]}]}
title: "Of ${name}"
filename: "${name}"
meta: {author: "${name}", keywords: ["${name}"]}
watermark: {text: "${name}"}
header: {all: [{text: "${name}, a word of [${name}](https://example.com/${name})"}]}
footer: {all: [{text: "${name} ${page()}/${pages()}"}]}
body:
  - {heading: "To ${name}", level: 1, anchor: "${name}"}
  - {text: "See [${name}](#${to}), **${name}** and *${name}* or [it](https://example.com/${name})"}
  - {image: "${photo}", alt: "${name}", width: 20mm}
  - table:
      caption: "Of ${name}"
      columns: [{head: "${name}", width: 1fr, scope: row}, {head: Sum, width: auto, figures: tabular}, {head: Tags, width: 1fr}]
      head: [["${name}", "head", "again"]]
      rows: {for: r in rows, cells: ["${r.text}", "${r.sum | number(2)}", {do: [{table: {columns: [{width: 1fr}], rows: {for: t in r.tags, cells: ["${t}"]}}}]}]}
      foot: [["Sum", "${name}", ""]]
  - {text: "BYE ${name}", bookmark: "${name}"}
  - {field: text, name: "a.${name}", label: "Text of ${name}", value: "BYE ${name}", multiline: true}
  - {field: radio, name: "a.of", label: "One of ${name}", options: ["${name}", BYE], value: "${name}"}
  - {field: signature, name: seal, label: "Seal of ${name}"}
`, `quire: 1
name: lists
lang: en
locale: en
data: {name: string, to: string, photo: image, rows: [{text: string, sum: decimal, tags: [string]}]}
vars: {sums: "map(rows, .sum)"}
title: "For ${name}"
standard: [pdf/a-4f, pdf/ua-2]
fonts: {subset: exact}
attach: [{name: "${name}.txt", text: "${name}", type: text/plain, relationship: data}]
outline: [{title: "${name}", to: "#of-${name}"}]
header: {all: [{text: "${section()} ${name}"}]}
body:
  - {toc: {levels: 2, title: "Of ${name}"}}
  - {heading: "On ${name}^[note of ${name}]", level: 1, anchor: "of-${name}"}
  - {image: "${photo}", alt: "of ${name}", width: 15mm}
  - {box: {do: [{text: "${name}, page ${pageOf('of-' + to)} BYE"}]}}
  - {for: r in rows, do: [{heading: "${r.text}", level: 2}, {list: {for: t in r.tags, item: "${t} of ${r.text}^[${t}]"}}]}
  - table:
      columns: [{width: 1fr, scope: row}, {width: auto, align: decimal}]
      rows: {for: r in rows, cells: ["${r.text}", "${r.sum | number(2)}"], carry: {sum: r.sum, out: ["${name}", "${carry | number(2)}"]}}
      foot: [["${name}", "${sum(sums) | number(2)}"]]
  - for: r in rows
    do:
      - {field: list, name: "l.${r.text}", label: "${name}", options: ["${name}", BYE], value: "${name}", caption: none}
      - {field: checkbox, name: "c.${r.text}", label: "${r.text}", value: "Yes", border: {width: 1pt}}
`}

// The faults of a job. Where says after how many bytes, rows or calls.
const (
	faultNone      = iota
	faultWriter    // fails
	faultShort     // takes less than it is given
	faultWriterEnd // panics
	faultCancel    // the context ends while w is written to
	faultRowError  // the source of the rows fails
	faultRowPanic
	faultRowExit   // the goroutine ends
	faultRowCancel // the context ends between two rows
	faultRowRender // the source of the rows makes another document, and goes on
	faultGlyph     // in the last row
	faultType      // the last row is of another type
	faultUnknown   // the last row has a field too many
	faultPages     // a limit
	faultBytes     // a limit
	faultRand
	faultSigner
	faultSignerPanic
	numFaults
)

// job is a document that is to be made, and what goes wrong.
type job struct {
	Template  int
	Bye       string
	Name, To  string // whose anchor is linked to: that of another document is none
	Rows      int
	Fault     int
	Where     int
	Streamed  bool // the rows, of the first template alone
	Claims    bool
	Protected bool
	Signed    bool
}

// outcome is all that is seen of a job.
type outcome struct {
	Body  []byte // what the writer took
	Told  string // the error or the panic
	Is    string // the result
	Inner *outcome

	err error       // that of Told
	res *pdf.Result // that of Is
}

// still tells error and result anew: they may be looked at whenever.
func (o *outcome) still() (told, is string) {
	told, is = o.Told, o.Is
	if o.err != nil {
		told = tellError(o.err)
	}
	if o.res != nil {
		is = tellResult(o.res)
	}
	return told, is
}

func tellError(err error) string {
	s := err.Error()
	if de, ok := errors.AsType[*pdf.DiagnosticError](err); ok {
		s += fmt.Sprintf(" %+v", de.Diagnostics)
	}
	return s
}

func tellResult(r *pdf.Result) string {
	s := fmt.Sprintf("%+v %+v", r.Bare(), slices.Collect(r.PageBytes()))
	for _, a := range r.Map.At(1, 200, 200) {
		s += fmt.Sprintf(" %+v", a)
	}
	return s
}

var errFault = errors.New("a planned fault")

// repeated is a source of randomness that is none, and fails after some bytes.
type repeated struct{ left int }

func (r *repeated) Read(p []byte) (int, error) {
	for i := range p {
		if r.left--; r.left < 0 {
			return i, errFault
		}
		p[i] = byte(r.left & 0xFF)
	}
	return len(p), nil
}

// faultyWriter takes what it is given, up to its fault.
type faultyWriter struct {
	bytes.Buffer
	fault, left int
	cancel      func()
}

func (w *faultyWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		switch w.fault {
		case faultWriter:
			return 0, errFault
		case faultShort:
			_, _ = w.Buffer.Write(p[:len(p)/2])
			return len(p) / 2, nil
		case faultWriterEnd:
			panic(errFault)
		case faultCancel:
			w.cancel()
		}
	}
	return w.Buffer.Write(p)
}

// faultySigner signs, but for its fault.
type faultySigner struct {
	crypto.Signer
	fault int
}

func (s faultySigner) Sign(rand io.Reader, digest []byte, o crypto.SignerOpts) ([]byte, error) {
	switch s.fault {
	case faultSigner:
		return nil, errFault
	case faultSignerPanic:
		panic(errFault)
	}
	return s.Signer.Sign(rand, digest, o)
}

// reuse makes jobs.
type reuse struct {
	signer *sign.Identity // whose signatures are the same each time
}

func newReuse(tb testing.TB) *reuse {
	tb.Helper()
	return &reuse{signer: newAuthority(tb).identities(tb)["Ed25519"]}
}

// photo is an image of its own for each name, of one length for all.
func (u *reuse) photo(name string) []byte {
	return interlacedPNG(16, name[0]^name[1]<<3)
}

func (j *job) row(i int) map[string]any {
	r := map[string]any{"text": fmt.Sprintf("%s %d", j.Name, i), "sum": json.Number(strconv.Itoa(i * 7)), "tags": []string{j.Name, "b" + j.Name}}
	if i < j.Rows-1 {
		return r
	}
	switch j.Fault {
	case faultGlyph:
		r["text"] = j.Name + "\u4E00"
	case faultType:
		r["sum"] = j.Name
	case faultUnknown:
		r[j.Name] = 1
	}
	return r
}

// data are those of a job. With each row, before is told.
func (u *reuse) data(j *job, before func(i int) error) template.Data {
	all := map[string]any{"name": j.Name, "to": cmp.Or(j.To, j.Name), "photo": u.photo(j.Name)}
	if j.Streamed && j.Template == 0 {
		all["rows"] = iter.Seq2[map[string]any, error](func(yield func(map[string]any, error) bool) {
			for i := range j.Rows {
				if err := before(i); err != nil {
					yield(nil, err)
					return
				}
				if !yield(j.row(i), nil) {
					return
				}
			}
		})
		return template.Struct(all)
	}
	var rows []map[string]any
	for i := range j.Rows {
		rows = append(rows, j.row(i))
	}
	all["rows"] = rows
	return template.JSON(jsonOf(all))
}

// make makes a document with an engine.
func (u *reuse) make(ctx context.Context, e *pdf.Engine, j job) (o outcome) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := &faultyWriter{fault: j.Fault, left: 1 << 30, cancel: cancel}
	opt := pdf.RenderOptions{Time: frozen, DocumentID: j.Name, SourceMap: true, Limits: &pdf.Limits{}}
	if j.Claims {
		opt.Standards = []standard.ID{standard.PDFUA2}
	}
	random := &repeated{1 << 30}
	if j.Protected && j.Template == 0 && !j.Signed {
		opt.Protect, opt.Rand = &crypt.Options{Owner: j.Name}, random
	}
	if j.Signed {
		id := *u.signer
		id.Key = faultySigner{id.Key, j.Fault}
		opt.Sign = &pdf.SignRequest{Identity: &id, Time: testTime, Reason: j.Name}
		if j.Template == 0 {
			opt.Sign.Field = "seal" // which shows it
		}
	}
	switch j.Fault {
	case faultWriter, faultShort, faultWriterEnd, faultCancel:
		w.left = j.Where
	case faultPages:
		opt.Limits.Pages = 1
	case faultBytes:
		opt.Limits.OutputBytes = int64(j.Where)
	case faultRand:
		random.left = j.Where % 200
	}
	data := u.data(&j, func(i int) error {
		if i != j.Where%max(j.Rows, 1) {
			return nil
		}
		switch j.Fault {
		case faultRowError:
			return fmt.Errorf("row of %s: %w", j.Name, errFault)
		case faultRowPanic:
			panic(errFault)
		case faultRowExit:
			runtime.Goexit()
		case faultRowCancel:
			cancel()
		case faultRowRender:
			inner := job{Template: j.Template, Name: mirrored(j.Name), Rows: j.Rows, Streamed: true, Claims: !j.Claims}
			made := u.make(ctx, e, inner)
			o.Inner = &made
		}
		return nil
	})
	done := make(chan struct{})
	go func() { // Goexit ends it
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				o.Told = fmt.Sprint("panic: ", r)
			}
		}()
		var plan *template.Plan
		if plan, o.err = e.Compile(ctx, pdf.Source{File: "t.yaml", Text: []byte(strings.ReplaceAll(reuseTemplates[j.Template], "BYE", cmp.Or(j.Bye, "Bye")))}); o.err == nil {
			o.res, o.err = e.Render(ctx, w, plan, data, opt)
		}
		if o.err != nil {
			o.Told = tellError(o.err)
		}
		if o.res != nil {
			o.Is = tellResult(o.res)
		}
	}()
	<-done
	o.Body = w.Bytes()
	return o
}

func mirrored(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// same compares with what an engine of its own makes.
func (o *outcome) same(want *outcome) error {
	switch {
	case !bytes.Equal(o.Body, want.Body):
		return fmt.Errorf("%d bytes differ from the %d of an engine of its own", len(o.Body), len(want.Body))
	case o.Told != want.Told:
		return fmt.Errorf("told:\n%s\nwant\n%s", o.Told, want.Told)
	case o.Is != want.Is:
		return fmt.Errorf("result\n%s\nwant\n%s", o.Is, want.Is)
	case (o.Inner == nil) != (want.Inner == nil):
		return errors.New("one has another document within")
	case o.Inner != nil:
		if err := o.Inner.same(want.Inner); err != nil {
			return fmt.Errorf("the document made within: %w", err)
		}
	}
	return nil
}

// TestTenantsOfAnEngineDoNotMeet: two tenants make documents of equal size at the same time, and
// each gets those that an engine of its own makes, whatever becomes of the other's.
func TestTenantsOfAnEngineDoNotMeet(t *testing.T) {
	t.Parallel()
	u := newReuse(t)
	var jobs []job
	for fault := range numFaults {
		template := 0 // whose rows are streamed
		if fault == faultNone || fault == faultWriter || fault == faultType || fault == faultPages {
			template = 1
		}
		for _, name := range []string{"hemnuehm", "muhnemun"} {
			jobs = append(jobs, job{
				Template: template, Name: name, Rows: 40, Fault: fault, Where: []int{3, 20_000}[fault/2%2], Streamed: true, Claims: fault%2 == 0,
				Protected: fault == faultRand, Signed: fault == faultSigner || fault == faultSignerPanic,
			})
		}
	}
	want := make([]outcome, len(jobs))
	own := pdf.Config{Fonts: liberation.New()}
	for i, j := range jobs {
		want[i] = u.make(t.Context(), newEngine(t, own), j)
	}
	e := newEngine(t, own)
	got := make([][]outcome, 3)
	var wg sync.WaitGroup
	for w := range got {
		wg.Go(func() {
			got[w] = make([]outcome, len(jobs))
			for i := range jobs {
				k := (i*[...]int{1, 5, 7}[w] + w*7) % len(jobs) // each goes round in another order
				got[w][k] = u.make(t.Context(), e, jobs[k])
				if err := got[w][k].same(&want[k]); err != nil {
					t.Errorf("%+v: %v", jobs[k], err)
				}
			}
		})
	}
	wg.Wait()
	for w := range got {
		for i := range got[w] {
			if told, is := got[w][i].still(); told != want[i].Told || is != want[i].Is {
				t.Errorf("what was told of %+v changed: %s\n%s", jobs[i], told, is)
			}
		}
	}
}

func jsonOf(v any) []byte {
	b, err := json.Marshal(v) // bytes as base64
	if err != nil {
		panic(err)
	}
	return b
}
