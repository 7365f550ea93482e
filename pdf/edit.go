package pdf

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/crypt"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/edit"
	"example.com/quire/pdf/internal/emit"
	"example.com/quire/pdf/standard"
)

// Op is one change of a document, for Engine.Edit. It is not bound to a document and is safe for
// concurrent use.
type Op struct {
	apply func(context.Context, *change) error
	// protect encrypts the file; plain lets an encrypted one be written without.
	protect *crypt.Options
	plain   bool
}

// change is what an Op works on.
type change struct {
	e       *Engine
	d       *edit.Draft
	o       EditOptions
	summary *Summary
}

// EditOptions are the options for writing a changed document.
type EditOptions struct {
	// Incremental keeps the bytes of the file and appends the changes, so that signatures remain
	// valid. A change that a signature does not allow is an error, and so are encrypted and damaged
	// files.
	Incremental bool

	Protect  *crypt.Options        // encrypts the file with AES-256; nil: not encrypted
	Rand     io.Reader             // as in RenderOptions
	Progress func(objects, of int) // called while the file is written; nil: no progress
}

// Summary describes what was written.
type Summary struct {
	Size  int64 `json:"size"`  // bytes, of all parts
	Pages int   `json:"pages"` // of all parts
	Parts int   `json:"parts,omitempty"`
	// Claims are the standards that the new file claims: the Judge found nothing in it.
	Claims []string `json:"claims"`
	// VoidSignatures are the fields whose signatures became invalid. Their values were removed.
	VoidSignatures []string `json:"void_signatures,omitempty"`
	// Warnings list what could not be kept, such as a claim.
	Warnings []string `json:"warnings,omitempty"`
	// Field is the field that was signed. After PrepareSign, Message is what the key has to sign,
	// and Digest its hash in hexadecimal, for keys that sign a hash.
	Field   string `json:"field,omitempty"`
	Message []byte `json:"message,omitempty"`
	Digest  string `json:"digest,omitempty"`
}

// Edit applies changes to a document, in order, and writes it. The file is new, unless the options
// ask for an incremental update: unreferenced objects are dropped, streams are copied in their
// encoding, and signatures become invalid.
//
// A claim of a standard is kept only if the Judge finds nothing in the new file. Otherwise it is
// dropped, and Warnings says why. An encrypted document requires its owner's password, and Decrypt
// or Protect, so that nothing is decrypted by accident. Errors are those of Open, *OptionError,
// whose Field begins with the position of the change if there are several, as in steps[1].degrees,
// and those of ctx and w. After an error, w does not hold a complete document.
func (e *Engine) Edit(ctx context.Context, w io.Writer, d *Document, o EditOptions, ops ...Op) (*Summary, error) {
	plain := false
	for _, op := range ops {
		plain = plain || op.plain
		if op.protect != nil {
			o.Protect = op.protect
		}
	}
	if err := d.mayChange(o, plain); err != nil {
		return nil, err
	}
	if o.Incremental && (o.Protect != nil || plain) {
		return nil, &OptionError{Field: "incremental", Got: "a change of encryption", Want: "none: the bytes of the file stay"}
	}
	c := &change{e, edit.NewDraft(d.d), o, &Summary{}}
	if plain && d.d.Key == nil {
		c.summary.Warnings = append(c.summary.Warnings, "the file was not encrypted")
	}
	for i, op := range ops {
		if op.apply == nil {
			continue
		}
		if err := op.apply(ctx, c); err != nil {
			return nil, ofStep(i, len(ops), told(err))
		}
	}
	if o.Incremental {
		if err := e.editIncremental(ctx, w, d, c.d, c.summary); err != nil {
			return nil, told(err)
		}
		return c.summary, nil
	}
	if err := e.writeDraft(ctx, w, c.d, o, c.summary); err != nil {
		return nil, told(err)
	}
	return c.summary, nil
}

// ofStep names the change among several that an error is of.
func ofStep(i, of int, err error) error {
	if of == 1 {
		return err
	}
	step := fmt.Sprintf("steps[%d]", i)
	if e, ok := errors.AsType[*OptionError](err); ok {
		e.Field = step + "." + e.Field
	}
	if e, ok := errors.AsType[*DiagnosticError](err); ok {
		for i := range e.Diagnostics {
			e.Diagnostics[i].Path = step
		}
	}
	if e, ok := errors.AsType[*LimitError](err); ok {
		e.Place = strings.TrimSuffix(step+", "+e.Place, ", ")
	}
	return err
}

func (d *Document) mayChange(o EditOptions, plain bool) error {
	if err := d.d.MayChange(); err != nil {
		return err
	}
	if d.d.Key != nil && o.Protect == nil && !plain {
		return &OptionError{Field: "protect", Got: "nothing for an encrypted file", Want: "decrypt first; or passwords for the new file, by encrypt in a pipe"}
	}
	return nil
}

// Rotate rotates pages clockwise by a multiple of 90 degrees. Pages are listed as in 1-3,5,r1,odd;
// empty: all.
func Rotate(pages string, degrees int) Op {
	return onPages(pages, func(d *edit.Draft, list []int) error { return d.Rotate(list, degrees) })
}

// Crop sets the visible area of pages: left, bottom, right and top in points from the lower left
// corner of the page's coordinates. Content outside is hidden but stays in the file.
func Crop(pages string, box [4]float64) Op {
	return onPages(pages, func(d *edit.Draft, list []int) error { return d.Crop(list, box) })
}

// Reorder keeps the listed pages, in that order. Other pages are removed, with the bookmarks,
// destinations, links, fields and structure elements that lead only to them. A page that is listed
// twice appears twice.
func Reorder(pages string) Op {
	return onPages(pages, func(d *edit.Draft, list []int) error {
		if len(list) == 0 {
			return &OptionError{Field: "pages", Got: "none", Want: "one page at least"}
		}
		d.Select(list)
		return nil
	})
}

// Delete removes the listed pages, with everything that leads only to them, as Reorder does.
func Delete(pages string) Op {
	return onPages(pages, func(d *edit.Draft, list []int) error {
		if strings.TrimSpace(pages) == "" {
			return &OptionError{Field: "pages", Got: "none", Want: "the pages to delete"}
		}
		var left []int
		for i := range d.Pages() {
			if !slices.Contains(list, i) {
				left = append(left, i)
			}
		}
		if len(left) == 0 {
			return &OptionError{Field: "pages", Got: strconv.Quote(pages) + ", which are all", Want: "a page that stays"}
		}
		d.Select(left)
		return nil
	})
}

func onPages(pages string, f func(*edit.Draft, []int) error) Op {
	return Op{apply: func(_ context.Context, c *change) error {
		list, err := edit.ParsePages(pages, len(c.d.Pages()))
		if err != nil {
			return err
		}
		return f(c.d, list)
	}}
}

// Decrypt allows an encrypted document to be written without encryption.
func Decrypt() Op { return Op{plain: true} }

// Encrypt encrypts the file with AES-256.
func Encrypt(o crypt.Options) Op { return Op{protect: &o} }

// Metadata are the entries that SetMetadata changes; nil keeps an entry, an empty text removes it.
type Metadata = edit.Metadata

// SetMetadata changes title, author, subject and keywords, in the information dictionary and in
// XMP.
func SetMetadata(m Metadata) Op {
	return Op{apply: func(_ context.Context, c *change) error { c.d.SetMetadata(m); return nil }}
}

// SplitOptions say where a document is split. Exactly one field is set.
type SplitOptions struct {
	Ranges   []string // one part for each list of pages, such as 1-3,5
	Every    int      // pages of each part
	Bookmark bool     // a part begins at each bookmark of the first level
	MaxBytes int64    // bytes of a part; one page may be larger, with a warning
	EditOptions
}

// Split writes parts of a document, each as a document. out is called for each part, from 1. A part
// gets the bookmarks, destinations, fields, structure elements and labels of its pages. Resources
// that pages name but do not use are dropped if pages of other parts share them. The document's
// attachments go into the first part. Errors are those of Edit.
func (e *Engine) Split(ctx context.Context, d *Document, o SplitOptions, out func(part int) (io.WriteCloser, error)) (*Summary, error) {
	if err := d.mayChange(o.EditOptions, false); err != nil {
		return nil, err
	}
	parts, err := e.parts(ctx, d, o)
	if err != nil {
		return nil, told(err)
	}
	s := &Summary{Parts: len(parts)}
	over := 0
	for i, pages := range parts {
		before := s.Size
		draft := edit.NewDraft(d.d)
		draft.Select(pages)
		if i > 0 {
			draft.WithoutAttachments()
		}
		if err := draft.Prune(ctx); err != nil {
			return nil, told(err)
		}
		if err := e.writePart(ctx, draft, i+1, o, s, out); err != nil {
			return nil, told(err)
		}
		if o.MaxBytes > 0 && s.Size-before > o.MaxBytes {
			over++
		}
	}
	if over > 0 {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%d of %d parts are larger than %d bytes: one page alone is", over, len(parts), o.MaxBytes))
	}
	return s, nil
}

func (e *Engine) writePart(ctx context.Context, draft *edit.Draft, n int, o SplitOptions, s *Summary, out func(int) (io.WriteCloser, error)) error {
	w, err := out(n)
	if err != nil {
		return err
	}
	if err := e.writeDraft(ctx, w, draft, o.EditOptions, s); err != nil {
		if a, ok := w.(interface{ Abort(err error) }); ok {
			a.Abort(err)
		} else {
			_ = w.Close() // err is what is told
		}
		return err
	}
	return w.Close()
}

// parts returns the pages of each part.
func (e *Engine) parts(ctx context.Context, d *Document, o SplitOptions) (parts [][]int, err error) {
	n, set := d.Pages(), 0
	if n == 0 {
		return nil, &OptionError{Field: "file", Got: "no pages", Want: "a file with pages"}
	}
	starts := []int{0}
	if len(o.Ranges) > 0 {
		set++
		all := 0
		for _, r := range o.Ranges {
			if strings.TrimSpace(r) == "" {
				return nil, &OptionError{Field: "pages", Got: "an empty list", Want: "pages for each part, or all"}
			}
			pages, err := edit.ParsePages(r, n)
			if err != nil {
				return nil, err
			}
			if len(pages) == 0 {
				return nil, &OptionError{Field: "pages", Got: strconv.Quote(r) + ", which are none", Want: "one page at least"}
			}
			if all += len(pages); all > edit.MostChosen {
				return nil, &OptionError{Field: "pages", Got: strconv.Itoa(all) + " pages and more", Want: "at most " + strconv.Itoa(edit.MostChosen) + " in all parts"}
			}
			parts = append(parts, pages)
		}
	}
	if o.Every != 0 {
		set++
		if o.Every < 0 {
			return nil, &OptionError{Field: "every", Got: strconv.Itoa(o.Every), Want: "1 or more"}
		}
		for at := o.Every; at < n; at += o.Every {
			starts = append(starts, at)
		}
	}
	if o.Bookmark {
		set++
		for _, at := range edit.NewDraft(d.d).Chapters() {
			if at > 0 {
				starts = append(starts, at)
			}
		}
	}
	if o.MaxBytes != 0 {
		set++
		if starts, err = e.startsBySize(ctx, d, o.MaxBytes); err != nil {
			return nil, err
		}
	}
	if set != 1 {
		got := "nothing to split by"
		if set > 1 {
			got = "more than one way to split"
		}
		return nil, &OptionError{Field: "every", Got: got, Want: "one of pages, every, bookmark and size"}
	}
	if len(o.Ranges) > 0 {
		return parts, nil
	}
	for i, from := range starts {
		to := n
		if i+1 < len(starts) {
			to = starts[i+1]
		}
		parts = append(parts, pagesFrom(from, to))
	}
	return parts, nil
}

func pagesFrom(from, to int) (pages []int) {
	for p := from; p < to; p++ {
		pages = append(pages, p)
	}
	return pages
}

// startsBySize finds how many pages fit into a part, by writing parts to nowhere: each time twice
// as many until they no longer fit, then halving.
func (e *Engine) startsBySize(ctx context.Context, d *Document, most int64) ([]int, error) {
	if most < 1 {
		return nil, &OptionError{Field: "size", Got: strconv.FormatInt(most, 10), Want: "bytes, 1 or more"}
	}
	var starts []int
	for from, n := 0, d.Pages(); from < n; {
		starts = append(starts, from)
		fits := func(to int) (bool, error) {
			draft := edit.NewDraft(d.d)
			draft.Select(pagesFrom(from, to))
			if from > 0 {
				draft.WithoutAttachments()
			}
			if err := draft.Prune(ctx); err != nil {
				return false, err
			}
			sum, err := draft.Write(ctx, io.Discard, edit.WriteOptions{Deflater: e.deflater})
			return sum.Size <= most, err
		}
		low, high := from+1, n+1 // low fits or is alone, high does not
		for step := 1; low+step < high; step *= 2 {
			ok, err := fits(low + step)
			if err != nil {
				return nil, err
			}
			if !ok {
				high = low + step
				break
			}
			low += step
		}
		for low+1 < high {
			mid := (low + high) / 2
			ok, err := fits(mid)
			if err != nil {
				return nil, err
			}
			if ok {
				low = mid
			} else {
				high = mid
			}
		}
		from = low
	}
	return starts, nil
}

// MergeInput is a document to merge.
type MergeInput struct {
	Doc   *Document
	Name  string // title of the bookmark above the document's own; empty: "Document 1" and so on
	Pages string // as in Rotate; empty: all
}

// Merge writes several documents, in order, as one. It keeps bookmarks (below one bookmark per
// document), named destinations, form fields (renamed if two have one name), structure trees,
// attachments, layers and page labels. Metadata, output intent and viewer preferences come from the
// first document. A claim is kept if all documents make it and the Judge finds nothing. Errors are
// those of Edit.
func (e *Engine) Merge(ctx context.Context, w io.Writer, in []MergeInput, o EditOptions) (*Summary, error) {
	if len(in) == 0 || len(in) > edit.MostInputs {
		return nil, &OptionError{Field: "file", Got: strconv.Itoa(len(in)) + " files", Want: "1 to " + strconv.Itoa(edit.MostInputs)}
	}
	s := &Summary{}
	var drafts []*edit.Draft
	var names []string
	var counts []int
	outlines := edit.Outlines{}
	var claims []string
	total := 0
	for i, x := range in {
		if x.Name == "" {
			x.Name = fmt.Sprintf("Document %d", i+1)
		}
		if err := x.Doc.mayChange(o, false); err != nil {
			return nil, ofInput(x.Name, err)
		}
		pages, err := edit.ParsePages(x.Pages, x.Doc.Pages())
		if err != nil {
			return nil, ofInput(x.Name, err)
		}
		if total += len(pages); int64(total) > e.limits.Pages {
			return nil, diag.Check("Pages", int64(total), e.limits.Pages, "")
		}
		d := edit.NewDraft(x.Doc.d)
		d.Select(pages)
		d.Void() // Merge takes the names along
		drafts, names, counts = append(drafts, d), append(names, x.Name), append(counts, len(d.Pages()))
		if i == 0 {
			claims = d.Claims()
		}
		claims = slices.DeleteFunc(claims, func(c string) bool { return !slices.Contains(d.Claims(), c) })
	}
	if total == 0 {
		return nil, &OptionError{Field: "pages", Got: "none of any file", Want: "one page at least"}
	}
	first := drafts[0]
	for _, claim := range first.Claims() {
		if !slices.Contains(claims, claim) {
			s.drop(first, claim, "not every file makes it")
		}
	}
	for i, d := range drafts {
		if i > 0 {
			for _, what := range d.Lost() {
				s.Warnings = append(s.Warnings, names[i]+": "+what)
			}
			s.notKept(names[i]+": ", first.Merge(d))
		}
		outlines.Add(d, i)
		if err := d.Err(); err != nil {
			return nil, told(err)
		}
	}
	first.Nest(names, counts, outlines)
	if err := e.writeDraft(ctx, w, first, o, s); err != nil {
		return nil, told(err)
	}
	return s, nil
}

// ofInput names the file among those merged that an error is of.
func ofInput(name string, err error) error {
	if e, ok := errors.AsType[*OptionError](err); ok {
		e.Got += " (" + name + ")"
	}
	if e, ok := errors.AsType[*DiagnosticError](err); ok {
		for i := range e.Diagnostics {
			e.Diagnostics[i].File = name
		}
	}
	return err
}

// writeDraft writes a draft and adds to a summary. A file that claims a standard is written to a
// temporary file first, and judged.
func (e *Engine) writeDraft(ctx context.Context, w io.Writer, d *edit.Draft, o EditOptions, s *Summary) error {
	if err := diag.Check("Pages", int64(len(d.Pages())), e.limits.Pages, ""); err != nil {
		return err
	}
	for _, name := range d.Void() { // of a file that is split, in each part
		if !slices.Contains(s.VoidSignatures, name) {
			s.VoidSignatures = append(s.VoidSignatures, name)
		}
	}
	for _, what := range d.Lost() {
		if !slices.Contains(s.Warnings, what) {
			s.Warnings = append(s.Warnings, what)
		}
	}
	write := func(w io.Writer, protect *crypt.Options) (cos.Summary, error) {
		source := o.Rand
		if source == nil {
			source = rand.Reader
		}
		enc, err := emit.Protection(protect, source)
		if e, ok := errors.AsType[*crypt.ConfigError](err); ok {
			return cos.Summary{}, &OptionError{Field: strings.ToLower(e.Field), Got: e.Got, Want: e.Want}
		}
		if err != nil {
			return cos.Summary{}, err
		}
		return d.Write(ctx, w, edit.WriteOptions{Encrypt: enc, Deflater: e.deflater, Bytes: e.limits.OutputBytes, Progress: o.Progress})
	}
	claims := d.Claims()
	if err := d.Err(); err != nil {
		return err
	}
	if len(claims) > 0 {
		unfit, err := e.unfit(ctx, claims, o, func(w io.Writer) error {
			_, err := write(w, nil)
			return err
		})
		if err != nil {
			return err
		}
		for i, why := range unfit {
			if why != "" {
				s.drop(d, claims[i], why)
			}
		}
		claims = d.Claims()
	}
	sum, err := write(w, o.Protect)
	if err != nil {
		return err
	}
	s.Size += sum.Size
	s.Pages += len(d.Pages())
	if s.Claims == nil { // of the first part; those of all are told
		s.Claims = append([]string{}, claims...)
	}
	s.Claims = slices.DeleteFunc(s.Claims, func(c string) bool { return !slices.Contains(claims, c) })
	return nil
}

// notKept adds what of a file could not be kept; of is empty or names the file.
func (s *Summary) notKept(of string, what []string) {
	for _, x := range what {
		s.Warnings = append(s.Warnings, of+"not kept: "+x)
	}
}

// drop takes a claim back, with a warning; of a file that is split, each part may lose it.
func (s *Summary) drop(d *edit.Draft, claim, why string) {
	d.DropClaims(claim)
	if w := "the claim of " + claim + " was dropped: " + why; !slices.Contains(s.Warnings, w) {
		s.Warnings = append(s.Warnings, w)
	}
}

// unfit says of each claim why the file may not make it, empty where it may. One that does not hold
// takes no other with it.
func (e *Engine) unfit(ctx context.Context, claims []string, o EditOptions, write func(io.Writer) error) ([]string, error) {
	why := make([]string, len(claims))
	ids := make([]standard.ID, len(claims))
	var judged []standard.ID
	for i, name := range claims {
		id, err := standard.Parse(name)
		switch {
		case err != nil:
			why[i] = "Quire does not check it"
		case o.Protect != nil && (id.Archival() || standard.Version([]standard.ID{id}) != cos.V20):
			why[i] = "the file is encrypted"
		default:
			ids[i], judged = id, append(judged, id)
		}
	}
	if len(judged) == 0 {
		return why, nil
	}
	if _, err := standard.Set(judged...); err != nil {
		for i := range why {
			why[i] = err.Error()
		}
		return why, nil
	}
	f, done, err := temporary()
	if err != nil {
		return nil, fmt.Errorf("pdf: check the output: %w", err)
	}
	defer done()
	if err := write(f); err != nil {
		return nil, err
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	limits := cos.ReadLimits{FileBytes: max(size, 64<<20)}
	d, err := edit.Open(f, size, edit.Options{Pages: int(e.limits.Pages), Limits: limits})
	if err != nil {
		return nil, err
	}
	found, err := d.Check(ctx, judged)
	if err != nil || len(found) == 0 {
		return why, err
	}
	for i := range claims {
		if why[i] != "" {
			continue
		}
		if len(judged) > 1 { // which of them it is that does not hold
			if found, err = d.Check(ctx, ids[i:i+1]); err != nil {
				return nil, err
			}
		}
		if len(found) > 0 {
			why[i] = found[0].Message + " (" + found[0].Clause + ")"
		}
	}
	return why, nil
}

// temporary is a file for what must be read again before it is given away; done ends it.
func temporary() (f *os.File, done func(), err error) {
	if f, err = os.CreateTemp("", "quire-pdf-*"); err != nil {
		return nil, nil, err
	}
	return f, func() {
		_ = f.Close()           // only read from by now
		_ = os.Remove(f.Name()) // the system clears what cannot be removed
	}, nil
}
