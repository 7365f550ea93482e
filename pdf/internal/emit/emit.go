// Package emit writes page frames as a PDF file with a cos.Writer: content streams, structure
// tree, fonts, images, annotations, outline and metadata.
package emit

import (
	"crypto/sha256"
	"io"
	"slices"
	"sync"
	"time"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/crypt"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/font"
	"example.com/quire/pdf/internal/arena"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/layout"
	"example.com/quire/pdf/internal/tag"
	"example.com/quire/pdf/standard"
)

// Options says how a file is written.
type Options struct {
	Standards  []standard.ID // as standard.Set returns them: they choose the version of PDF
	Time       time.Time     // zero: no dates
	DocumentID string
	Producer   string
	Limits     diag.Limits // with their defaults
	Deflater   cos.Deflater
	Fonts      *font.Cache
	Exact      bool // fonts have the glyphs that are drawn alone
	Listed     bool // they list the glyphs that they have (CIDSet), as they do under PDF/A-1 in any case
	// Profile returns standard.SRGBProfile, deflated: it is the same in every file.
	// Nil deflates it anew.
	Profile func() ([]byte, error)
	Buffers *Buffers // nil: new ones
	// Spill and SpillAfter are those of cos.Options.
	Spill      func() (cos.SpillFile, error)
	SpillAfter int64
	// Protect says who may open the document, Rand where its key comes from; nil: it is not
	// encrypted.
	Protect *crypt.Options
	Rand    io.Reader
	// Sign signs the document; nil: it is not signed.
	Sign *Signature
	// Force leaves out the checks of the standards, so that tests can show that a
	// validator finds what the checks refuse.
	Force bool
}

// Signature says how a document is signed while it is written.
type Signature struct {
	// Field is the full name of a signature field of the document; empty: a new one on the first
	// page, which shows nothing.
	Field   string
	Dict    cos.Dict            // of the signature, as cos.Writer.PutSignature takes it
	Certify bool                // it is the author's, which says what may be changed later (ISO 32000-2, 12.8.2.2)
	Shown   *doc.SignatureLines // in Field
	By      *cos.Signature
}

// Buffers keeps the memory of closed emitters for the next ones. It is safe for
// concurrent use; the zero value is ready.
type Buffers struct {
	pool     sync.Pool
	openings cos.Openings
}

// Font is a font of the finished file.
type Font struct {
	Name string // BaseFont, with its subset tag
	Face *font.Face
}

// Emitter writes one document. It is a layout.Sink; Finish ends the file, Close
// must be called last, in any case. It is not safe for concurrent use.
type Emitter struct {
	w     *cos.Writer
	o     Options
	doc   *doc.Document
	check *standard.Checker
	judge *standard.Judge // nil: nothing is claimed
	from  *doc.Source     // what the object being written comes from; nil: not known
	tree  *tag.Tree       // nil: not tagged
	tags  *tag.Tree       // what tree is, or was for a document before

	resources cos.Ref
	fan       int       // kids of a node of the page tree
	pageNodes []cos.Ref // one per fan pages
	pages     pages
	page      pageInfo   // the open one
	waiting   pageReader // of those that have waited
	waited    []bool     // which they are; empty: it is not yet known that any are
	labels    []pageLabel
	ranges    Ranges
	refs      arena.Of[cos.Ref]
	nodes     [2][]node
	outlined  arena.Of[outlineNode]
	kids      arena.Of[*outlineNode]
	written   []Font
	buf       []byte
	repeats   []cos.Repeat // of the stream in buf
	words     words

	fonts  []*fontRes // those between length and capacity are of documents before
	images []*imageRes
	byHash map[[sha256.Size]byte]*imageRes
	// profiles are the ICC profiles by their hashes.
	profiles map[[sha256.Size]byte]cos.Ref
	marks    []*watermark

	anchors  map[string]dest
	internal []internalLink
	outline  []outlineItem

	signature cos.Ref // zero: the document is not signed
	invisible cos.Ref // the widget of a signature that shows nothing
	signs     bool    // it has its place in the document
	fields    []*formField
	formFonts []string // names of those that fields are typed in

	imageRes    arena.Of[imageRes]
	formFields  arena.Of[formField]
	formWidgets arena.Of[formWidget]
	look        []byte       // what a field shows, which is made while a page is
	lookRepeats []cos.Repeat // of the stream in look
}

// pagesPerNode is the number of kids of a node of the page tree.
const pagesPerNode = 64

// keptBytes bounds the buffer that an emitter hands on.
const keptBytes = 1 << 18

// New starts a file on out. Errors of the document as a whole, such as a claim
// without a title, come before the first byte.
func New(out io.Writer, d *doc.Document, o Options) (*Emitter, error) {
	check := standard.NewChecker(o.Standards)
	if !o.Force {
		problems := check.Document(d)
		if o.Protect != nil {
			for _, problem := range check.Encryption() {
				if d.Protection != nil {
					problem = d.Protection.Src.Place(problem)
				}
				problems = append(problems, problem)
			}
		}
		if err := problems.Err(); err != nil {
			return nil, err
		}
	}
	protection, err := Protection(o.Protect, o.Rand)
	if err != nil {
		return nil, err
	}
	if o.Buffers == nil {
		o.Buffers = &Buffers{}
	}
	if o.Profile == nil {
		o.Profile = func() ([]byte, error) { return o.Deflater.Deflate(nil, standard.SRGBProfile(), cos.LevelBest) }
	}
	e, ok := o.Buffers.pool.Get().(*Emitter)
	if !ok {
		e = &Emitter{}
	}
	e.o, e.doc, e.fan, e.check = o, d, pagesPerNode, check
	if e.anchors == nil {
		e.byHash, e.anchors = map[[sha256.Size]byte]*imageRes{}, map[string]dest{}
	}
	file := cos.Options{
		Version: standard.Version(o.Standards), Deflater: o.Deflater,
		Limits: cos.Limits{OutputBytes: o.Limits.OutputBytes}, Encrypt: protection, Spill: o.Spill, SpillAfter: o.SpillAfter,
		Openings: &o.Buffers.openings,
	}
	if o.Sign != nil {
		file.Signature = o.Sign.By
	}
	if len(o.Standards) > 0 {
		e.judge = standard.NewJudge(o.Standards, file.Version)
		file.Watch = e.watch
	}
	if e.w == nil {
		e.w = cos.NewWriter(out, file)
	} else {
		e.w.Reset(out, file)
	}
	e.resources = e.w.Reserve()
	if o.Sign != nil {
		e.signature = e.w.Reserve()
	}
	if e.check.Tagged() {
		if e.tags == nil {
			e.tags = &tag.Tree{}
		}
		e.tags.Reset(e.w)
		e.tree = e.tags
		e.tree.Closed = e.judge.Elem
		e.tree.Old = slices.Contains(o.Standards, standard.PDFA1a)
	}
	return e, nil
}

// watch shows the judge what is written.
func (e *Emitter) watch(r cos.Ref, d cos.Dict) { e.judge.Object(r, d, e.from) }

// Close gives the emitter's buffers back, whatever became of the file.
func (e *Emitter) Close() {
	to := e.o.Buffers
	e.w.Reset(io.Discard, cos.Options{Deflater: e.o.Deflater}) // lets go of the caller's writer
	e.forget()
	if e.tree != nil {
		e.tree.Release()
	}
	kept := Emitter{
		w: e.w, tags: e.tags, buf: reused(e.buf), look: reused(e.look), lookRepeats: emptied(e.lookRepeats), repeats: emptied(e.repeats), words: words{codes: e.words.codes[:0]}, fonts: e.fonts[:0], written: emptied(e.written),
		byHash: e.byHash, anchors: e.anchors, refs: e.refs, outlined: e.outlined, kids: e.kids,
		images: emptied(e.images), imageRes: e.imageRes, fields: emptied(e.fields), formFields: e.formFields, formWidgets: e.formWidgets,
		pages: e.pages, page: pageInfo{annots: emptied(e.page.annots)}, waiting: pageReader{page: pageInfo{annots: emptied(e.waiting.page.annots)}}, waited: emptied(e.waited),
		pageNodes: emptied(e.pageNodes), labels: emptied(e.labels), ranges: e.ranges,
		nodes: [2][]node{emptied(e.nodes[0]), emptied(e.nodes[1])}, internal: emptied(e.internal), outline: emptied(e.outline),
	}
	*e = kept
	to.pool.Put(e)
}

// mostKept bounds, in values, what an emitter hands on to the next document.
const mostKept = 1024

// forget clears what is handed on as it is.
func (e *Emitter) forget() {
	for i, r := range e.fonts {
		if r.use.Reset(nil); i >= mostKeptFonts {
			e.fonts[i] = nil
			continue
		}
		*r = fontRes{use: r.use, name: r.name}
	}
	if len(e.byHash)+len(e.anchors) > mostKept { // a map never becomes smaller
		e.byHash, e.anchors = nil, nil
	}
	clear(e.byHash)
	clear(e.anchors)
	e.pages.reset()
	e.ranges.reset()
	e.refs.Reset()
	e.outlined.Reset()
	e.kids.Reset()
	e.imageRes.Reset()
	e.formFields.Reset()
	e.formWidgets.Reset()
}

// mostKeptFonts is how many fonts an emitter keeps the memory of, a bit for each glyph.
const mostKeptFonts = 16

// reused is the memory of a stream for the next document. That of a long one is not held for ever.
func reused(b []byte) []byte {
	if cap(b) > keptBytes {
		return nil
	}
	return b[:0]
}

// emptied clears a slice for the next document, and drops one that is large.
func emptied[T any](s []T) []T {
	if cap(s) > mostKept {
		return nil
	}
	s = s[:cap(s)]
	clear(s)
	return s[:0]
}

// Tagged reports whether the document needs a semantic tree.
func (e *Emitter) Tagged() bool { return e.tree != nil }

// Page implements layout.Sink.
func (e *Emitter) Page(p *layout.Page) error {
	if e.pages.n%e.fan == 0 {
		e.pageNodes = append(e.pageNodes, e.w.Reserve())
	}
	pi := &e.page
	*pi = pageInfo{ref: e.w.Reserve(), annots: pi.annots[:0], w: p.Width, h: p.Height}
	if e.tree != nil {
		pi.key = e.tree.PageKey()
	}
	if err := e.sheet(p); err != nil {
		return err
	}
	if e.o.Sign != nil && e.o.Sign.Field == "" && e.pages.n == 0 {
		e.invisible = e.w.Reserve()
		pi.annots = append(pi.annots, e.invisible)
	}
	if err := e.begin(p); err != nil {
		return err
	}
	c := e.content(pi)
	if err := c.paper(p); err != nil {
		return err
	}
	if p.Under != nil && !p.Under.Over {
		if err := c.watermark(p.Under); err != nil {
			return err
		}
	}
	ref, err := e.draw(c, p, pi)
	if err != nil {
		return err
	}
	pi.contents = ref
	if err := e.places(p, pi); err != nil {
		return err
	}
	if err := e.links(p, pi); err != nil {
		return err
	}
	e.pages.add(pi)
	// The page before is complete now unless it waits: only the last call tells,
	// so page objects are written when Late or Finish is reached.
	return e.done(p)
}

// Late implements layout.Sink: what waited for the number of pages is a second
// content stream of its page.
func (e *Emitter) Late(p *layout.Page) error {
	if len(e.waited) == 0 {
		e.waiting, e.waited = e.pages.reader(e.waiting.page.annots), append(e.waited, make([]bool, e.pages.n)...)
	}
	e.waited[p.Number-1] = true
	pi := e.waiting.to(p.Number - 1)
	if err := e.begin(p); err != nil {
		return err
	}
	ref, err := e.draw(e.content(pi), p, pi)
	if err != nil {
		return err
	}
	if err := e.links(p, pi); err != nil {
		return err
	}
	if err := e.done(p); err != nil {
		return err
	}
	return e.writePage(pi, p.Number-1, ref)
}

// draw makes the content stream of p.
func (e *Emitter) draw(c *content, p *layout.Page, pi *pageInfo) (cos.Ref, error) {
	c.height = p.Height
	if err := c.items(p.Beneath); err != nil {
		return cos.Ref{}, err
	}
	c.endText()
	if err := c.back(p.Back); err != nil {
		return cos.Ref{}, err
	}
	for _, layer := range [2][]layout.Item{p.Items, p.Above} {
		if err := c.items(layer); err != nil {
			return cos.Ref{}, err
		}
	}
	if p.Under != nil && p.Under.Over {
		c.endText()
		if err := c.watermark(p.Under); err != nil {
			return cos.Ref{}, err
		}
	}
	c.end()
	if err := e.mayHold(c.b, nil); err != nil {
		return cos.Ref{}, err
	}
	pi.mcids = c.mcid
	e.buf, e.repeats = c.b[:0], c.repeats[:0]
	ref, from := e.w.Reserve(), e.w.Offset()
	err := e.w.StreamRepeats(ref, nil, c.b, c.repeats)
	e.ranges.add(Range{Page: p.Number, From: from, To: e.w.Offset()})
	return ref, err
}

// Ranges returns where the contents of pages lie. It is called once.
func (e *Emitter) Ranges() *Ranges { return e.ranges.take() }

// writePage writes the page object; late is its second content stream.
func (e *Emitter) writePage(pi *pageInfo, index int, late cos.Ref) error {
	a := e.w.Arena()
	d := append(
		a.Entries(8),
		cos.E("Type", cos.Name("Page")),
		cos.E("Parent", a.Ref(e.pageNodes[index/e.fan])),
		cos.E("MediaBox", a.List(cos.Int(0), cos.Int(0), a.Fixed(int64(pi.w)), a.Fixed(int64(pi.h)))),
		cos.E("Resources", a.Ref(e.resources)),
	)
	if late.IsZero() {
		d = append(d, cos.E("Contents", a.Ref(pi.contents)))
	} else {
		d = append(d, cos.E("Contents", a.List(a.Ref(pi.contents), a.Ref(late))))
	}
	if e.tree != nil {
		d = append(d, cos.E("StructParents", a.Int(pi.key)))
	}
	if len(pi.annots) > 0 {
		d = append(d, cos.E("Tabs", cos.Name("S")), cos.E("Annots", refArray(a, pi.annots)))
	}
	return e.w.Put(pi.ref, a.Dict(d))
}

func refArray(a *cos.Arena, refs []cos.Ref) cos.Object {
	items := a.Items(len(refs))
	for _, r := range refs {
		items = append(items, a.Ref(r))
	}
	return a.Array(items)
}

// writePages writes the pages that did not wait.
func (e *Emitter) writePages() error {
	pages := e.pages.reader(e.page.annots)
	for i := range e.pages.n {
		if len(e.waited) > 0 && e.waited[i] {
			continue
		}
		if err := e.writePage(pages.to(i), i, cos.Ref{}); err != nil {
			return err
		}
	}
	return nil
}

// Finish writes all that is left and ends the file. standards are those that
// the file claims.
func (e *Emitter) Finish() (cos.Summary, []Font, error) {
	if err := e.writePages(); err != nil {
		return cos.Summary{}, nil, err
	}
	if err := e.internalLinks(); err != nil {
		return cos.Summary{}, nil, err
	}
	a := e.w.Arena()
	catalog := append(a.Entries(16), cos.E("Type", cos.Name("Catalog")))
	pages, err := e.pageTree()
	if err != nil {
		return cos.Summary{}, nil, err
	}
	catalog = append(catalog, cos.E("Pages", a.Ref(pages)))
	if catalog, err = e.catalog(catalog); err != nil {
		return cos.Summary{}, nil, err
	}
	fonts, err := e.writeResources()
	if err != nil {
		return cos.Summary{}, nil, err
	}
	root := e.w.Reserve()
	if err := e.w.Put(root, a.Dict(catalog)); err != nil {
		return cos.Summary{}, nil, err
	}
	if e.o.Sign != nil {
		if err := e.w.PutSignature(e.signature, e.o.Sign.Dict); err != nil {
			return cos.Summary{}, nil, err
		}
	}
	trailer := cos.Trailer{Root: root}
	if err := e.verdict(trailer); err != nil {
		return cos.Summary{}, nil, err
	}
	sum, err := e.w.Close(trailer)
	return sum, fonts, err
}

// catalog adds the entries beyond the page tree (7.7.2).
func (e *Emitter) catalog(d cos.Dict) (cos.Dict, error) {
	a := e.w.Arena()
	if e.doc.Lang != "" {
		d = append(d, cos.E("Lang", a.Text(e.doc.Lang)))
	}
	d = append(d, e.viewerPreferences()...)
	d = append(d, e.pageLabels()...)
	outline, err := e.writeOutline()
	if err != nil {
		return nil, err
	}
	if !outline.IsZero() {
		d = append(d, cos.E("Outlines", a.Ref(outline)))
	}
	d = append(d, e.pageMode(!outline.IsZero())...)
	files, err := e.attachments()
	if err != nil {
		return nil, err
	}
	d = append(d, files...)
	form, err := e.interactiveForm()
	if err != nil {
		return nil, err
	}
	if !form.IsZero() {
		d = append(d, cos.E("AcroForm", a.Ref(form)))
	}
	if e.o.Sign != nil && e.o.Sign.Certify {
		d = append(d, cos.E("Perms", cos.Dict{cos.E("DocMDP", e.signature)}))
	}
	if e.tree != nil {
		root, err := e.tree.Close()
		if err != nil {
			return nil, err
		}
		d = append(d, cos.E("MarkInfo", tagged), cos.E("StructTreeRoot", a.Ref(root)))
	}
	if standard.Archival(e.o.Standards) {
		intent, err := e.outputIntent()
		if err != nil {
			return nil, err
		}
		d = append(d, cos.E("OutputIntents", a.List(a.Ref(intent))))
	}
	meta, err := e.metadata()
	if err != nil {
		return nil, err
	}
	return append(d, cos.E("Metadata", a.Ref(meta))), nil
}

// tagged marks a document that has a structure tree (14.7.1).
var tagged cos.Object = cos.Dict{cos.E("Marked", cos.Bool(true))}

func (e *Emitter) metadata() (cos.Ref, error) {
	ref := e.w.Reserve()
	e.buf = standard.AppendXMP(e.buf[:0], standard.Metadata{
		Title: e.doc.Title, Lang: e.doc.Lang, Author: e.doc.Meta.Author, Subject: e.doc.Meta.Subject,
		Keywords: e.doc.Meta.Keywords, Producer: e.o.Producer, Time: e.o.Time,
		DocumentID: e.o.DocumentID, Standards: e.o.Standards,
	})
	return ref, e.w.EncodedStream(ref, append(
		e.w.Arena().Entries(2), cos.E("Type", cos.Name("Metadata")), cos.E("Subtype", cos.Name("XML")),
	), "", e.buf)
}

// outputIntent names sRGB as the colour space of the device colours (ISO
// 19005-2 and 4, 6.2.3).
func (e *Emitter) outputIntent() (cos.Ref, error) {
	profile, intent := e.w.Reserve(), e.w.Reserve()
	packed, err := e.o.Profile()
	if e.check.Opaque() { // PDF 1.4 knows no later version of ICC
		packed, err = e.o.Deflater.Deflate(nil, standard.SRGBProfile2(), cos.LevelBest)
	}
	if err != nil {
		return intent, err
	}
	a := e.w.Arena()
	if err := e.w.EncodedStream(profile, append(a.Entries(1), cos.E("N", cos.Int(3))), cos.FlateDecode, packed); err != nil {
		return intent, err
	}
	return intent, e.w.Put(intent, a.Dict(append(
		a.Entries(5),
		cos.E("Type", cos.Name("OutputIntent")),
		cos.E("S", cos.Name("GTS_PDFA1")),
		cos.E("OutputConditionIdentifier", cos.Text("sRGB IEC61966-2.1")),
		cos.E("Info", cos.Text("sRGB IEC61966-2.1")),
		cos.E("DestOutputProfile", a.Ref(profile)),
	)))
}

// pageTree writes the nodes above the pages, each with at most fan
// kids, and returns the root (7.7.3).
func (e *Emitter) pageTree() (cos.Ref, error) {
	pages := e.pages.reader(e.page.annots)
	level := e.nodes[0][:0]
	for i, ref := range e.pageNodes {
		level = append(level, node{ref: ref, pages: min(e.fan, e.pages.n-i*e.fan)})
	}
	e.nodes[0] = level
	for turn := 1; len(level) > 1; turn++ {
		up := e.nodes[turn%2][:0]
		for i := 0; i < len(level); i += e.fan {
			n := node{ref: e.w.Reserve(), kids: e.refs.Take(min(e.fan, len(level)-i))[:0]}
			for k := i; k < min(i+e.fan, len(level)); k++ {
				n.kids = append(n.kids, level[k].ref)
				n.pages += level[k].pages
				if err := e.writeNode(&level[k], n.ref, &pages); err != nil {
					return n.ref, err
				}
			}
			up = append(up, n)
		}
		e.nodes[turn%2] = up
		level = up
	}
	return level[0].ref, e.writeNode(&level[0], cos.Ref{}, &pages)
}

type node struct {
	ref   cos.Ref
	kids  []cos.Ref // none: they are the next pages
	pages int
}

func (e *Emitter) writeNode(n *node, parent cos.Ref, pages *pageReader) error {
	a := e.w.Arena()
	d := append(a.Entries(4), cos.E("Type", cos.Name("Pages")))
	if !parent.IsZero() {
		d = append(d, cos.E("Parent", a.Ref(parent)))
	}
	kids := refArray(a, n.kids)
	if len(n.kids) == 0 {
		items := a.Items(n.pages)
		for range n.pages {
			items = append(items, a.Ref(pages.next().ref))
		}
		kids = a.Array(items)
	}
	return e.w.Put(n.ref, a.Dict(append(d, cos.E("Kids", kids), cos.E("Count", a.Int(n.pages)))))
}
