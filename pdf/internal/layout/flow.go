package layout

import (
	"context"
	"errors"
	"iter"
	"slices"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/image"
	"example.com/quire/pdf/internal/svg"
	"example.com/quire/pdf/internal/text"
)

// Options says how a document is laid out.
type Options struct {
	Typesetter *text.Typesetter
	// Tagged makes the semantic tree.
	Tagged bool
	Limits diag.Limits
	Mono   string // family of code spans; empty: that of the text around
	// Signed is the full name of the signature field that shows Signatory; empty: none does.
	Signed    string
	Signatory *doc.SignatureLines
	// Trace has the pages say what of the document stands where.
	Trace bool
	// Images reads image data. It may wait for memory until the context ends.
	Images *image.Session
	// Drawings reads SVG files.
	Drawings *svg.Store
	// Memory is what the document is laid out in, which the caller resets when the sink is done
	// with the pages; nil: new one.
	Memory *Memory
}

// Summary tells what a layout came to.
type Summary struct {
	Pages    int
	Warnings []diag.Diagnostic
}

// Run lays doc out and hands the pages to sink as they close. Errors are
// *diag.DiagnosticError with the place in the template, *diag.LimitError, the
// error of ctx, of the body's or a table's iterator, or of sink. After diagnostics layout goes on,
// without pages for sink, to find up to 20 of them; after any other error no further block or row
// is asked for.
func Run(ctx context.Context, d *doc.Document, o Options, sink Sink) (*Summary, error) {
	if o.Memory == nil {
		o.Memory = &Memory{}
	}
	clear(o.Memory.images)
	if !d.References && d.Footnotes.Restart != doc.RestartPage {
		return pass(ctx, d, o, sink, nil, nil)
	}
	known, err := dryPasses(ctx, d, o)
	if err != nil {
		return nil, err
	}
	found := newFindings()
	sum, err := pass(ctx, d, o, sink, known, found)
	if err == nil && !found.equal(known) {
		sum.Warnings = append(sum.Warnings, warning(at(nil, "L316", "the numbers of pages that the document refers to did not settle")))
	}
	return sum, err
}

// pass lays the document out once.
func pass(ctx context.Context, d *doc.Document, o Options, sink Sink, known, found *findings) (*Summary, error) {
	mem := o.Memory
	mem.begin()
	if mem.heights == nil {
		mem.heights = map[runningKey]heights{}
	}
	m := &mem.maker
	*m = maker{
		ctx: ctx, opt: o, limits: o.Limits.WithDefaults(), set: text.NewSetter(ctx, o.Typesetter),
		faces: mem.faces, derivedStyles: mem.derived, mem: &mem.blocks, pieces: mem.pieces, begun: mem.begun,
		images: mem.images, anchors: mem.anchors, ids: mem.ids, heights: mem.heights, known: known, found: found,
	}
	defer m.set.Close()
	f := &mem.flow
	*f = flow{m: m, doc: d, sink: sink, base: d.BaseStyle, page: mem.page, painter: mem.painter, waits: mem.waits}
	f.pending, f.taker = mem.blocks.entries.Take(leastPending)[:0], f.take
	defer func() {
		mem.page, mem.painter, mem.pieces, mem.begun, mem.waits = f.page, f.painter, m.pieces, m.begun, f.waits
	}()
	f.painter.trace = o.Trace
	if f.base == nil {
		f.base = &doc.Style{}
	}
	f.region = &mem.region
	*f.region = region{master: sized(d.Page), header: &d.Header, footer: &d.Footer, background: &d.Background, watermark: d.Watermark}
	f.within = env{style: f.base, lang: d.Lang}
	m.footnotes, m.around = &d.Footnotes, f.env
	m.outline, m.numbered = d.OutlineLevels, d.NumberHeadings
	m.themed(d.Theme, f.base)
	if m.decimal = d.DecimalSign; m.decimal == "" {
		m.decimal = "."
	}
	if err := m.outcome(f.run()); err != nil {
		return nil, err
	}
	if found != nil {
		found.total = f.number
	}
	return &Summary{Pages: f.number, Warnings: m.warnings}, nil
}

func (f *flow) run() error {
	if err := f.measureRunning(nil); err != nil {
		return err
	}
	if err := f.makeWatermark(); err != nil {
		return err
	}
	f.open()
	if err := f.nodes(f.doc.Body); err != nil {
		return err
	}
	if err := f.flush(); err != nil {
		return err
	}
	f.drop()
	if err := f.close(); err != nil {
		return err
	}
	for len(f.queue) > 0 { // notes that no page had room for
		if err := f.turn(); err != nil {
			return err
		}
		if err := f.close(); err != nil {
			return err
		}
	}
	if err := f.m.ended(); err != nil {
		return err
	}
	return f.late()
}

// flow fills pages from top to bottom.
type flow struct {
	m    *maker
	doc  *doc.Document
	sink Sink
	base *doc.Style

	*region         // of what is laid out
	within  env     // of the blocks of the region, but for the width
	sheet   *region // of the open page

	body     // of the open page
	page     Page
	painter  painter
	number   int
	label    int // the number that the open page shows
	counted  int // that of the page before
	y        doc.Length
	after    doc.Length // space below the entry drawn last
	fresh    bool       // nothing but a repeated head stands on the page
	blank    bool       // nothing on the page can be seen
	broken   bool       // what can be seen next starts a page
	odd      bool       // one with an odd number
	held     []entry    // space after such a break: it goes along to the page
	pending  []entry
	gathered gathered                   // of pages with columns
	taker    func(doc.Node, error) bool // take
	err      error                      // what ended the blocks that are laid out
	// again is the table head that a new page repeats.
	again *stack
	carry *carried // of the row drawn last
	in    *group   // carried in to the open page
	waits []late
	heads titles // of the page before

	queue     []*note    // footnotes that are not yet drawn
	foot      doc.Length // where the body would end without notes
	kept      doc.Length // for notes of the pages before
	onPage    int        // notes whose numbers stand on the page
	blankBody bool       // nothing but notes was drawn
}

// leastPending is how many entries may wait before memory for more is taken.
const leastPending = 8

// late is a page whose running content asks for the number of pages, and the pages behind it that
// are counted on from it and alike.
type late struct {
	number, label int
	pages         int
	region        *region
	titles        *titles
}

func (f *flow) env() env {
	en := f.within
	en.width = f.width
	return en
}

func (f *flow) nodes(all iter.Seq2[doc.Node, error]) error {
	if all == nil {
		return nil
	}
	around := f.err // of the blocks that these are within
	f.err = nil
	all(f.taker)
	err := f.err
	f.err = around
	return err
}

// take lays out a node. What it returns, and false, ends the source.
func (f *flow) take(n doc.Node, err error) bool {
	if f.err != nil {
		return false // the source goes on all the same
	}
	if f.err = f.m.ended(); f.err != nil {
		return false
	}
	if err == nil {
		err = placed(f.node(n), n)
	}
	f.err = f.m.survive(err)
	return f.err == nil
}

// placed says at which block a limit was met that has no place of its own.
func placed(err error, n doc.Node) error {
	if limit, ok := errors.AsType[*diag.LimitError](err); ok && limit.Place == "" {
		if src := n.Common().Src; src != nil {
			at := *limit
			at.Place = position(src)
			return &at
		}
	}
	return err
}

func (f *flow) node(n doc.Node) error {
	switch n := n.(type) {
	case *doc.PageBreak:
		return f.breakAt(n.To)
	case *doc.Spacer:
		if n.Fill && f.columned() {
			return failed(at(n.Src, "L305", "a space that fills the page is not allowed in columns"))
		}
	case *doc.Table:
		return f.table(n)
	case *doc.Section:
		return f.section(n)
	case *doc.Place:
		return f.fixed(n)
	case *doc.Toc:
		if n.Reserve > 0 {
			return f.reserved(n)
		}
	}
	e, err := f.m.entry(n, f.inner())
	if err != nil {
		return err
	}
	return f.add(e)
}

// breakPage lets what follows start a page. A break is weak: several between two blocks
// are one, and none makes a page on which nothing can be seen, but for one that is asked for to
// have the next an odd number.
func (f *flow) breakPage(to doc.Break) error {
	if err := f.flush(); err != nil {
		return err
	}
	odd := to == doc.BreakOdd
	if f.blank && !f.broken {
		f.y, f.after, f.fresh = f.top, 0, true // space above a break is space at the end of a page
		if !odd || f.isOdd() {
			return nil
		}
	}
	f.flatten()
	f.broken, f.odd = true, f.odd || odd
	return nil
}

// flatten takes the height from what a break holds when another one follows: anchors alone go along
// to the page.
func (f *flow) flatten() {
	for i := range f.held {
		e := &f.held[i]
		if _, ok := e.b.(space); ok {
			e.b, e.before, e.after = space{}, 0, 0
		}
		if e.ends {
			f.again, f.in = nil, nil
		}
	}
}

// breakAt is breakPage, or where the pages have columns the end of one of them.
func (f *flow) breakAt(to doc.Break) error {
	if to == doc.BreakColumn && f.columned() {
		f.gathered.ended = true
		return nil
	}
	return f.breakPage(to)
}

// isOdd reports whether the open page is an odd one.
func (f *flow) isOdd() bool {
	if f.sheet.startsAt(f.number) > 0 {
		return f.number%2 == 1
	}
	return f.label%2 == 1
}

// nextIsOdd reports whether the next page is going to be an odd one.
func (f *flow) nextIsOdd() bool {
	if f.startsAt(f.number+1) > 0 {
		return f.number%2 == 0
	}
	return f.label%2 == 0
}

// drop draws what a break holds, when nothing that can be seen follows it: anchors and
// ends stay, height vanishes.
func (f *flow) drop() {
	for i := range f.held {
		f.held[i].draw(&f.painter, f.left, f.y)
		if f.held[i].ends {
			f.again, f.in = nil, nil
		}
	}
	f.held = f.held[:0]
}

// add puts an entry into the flow; one that keeps with the next waits for it.
func (f *flow) add(e entry) error {
	if e.breakBefore != doc.BreakNone {
		if err := f.breakAt(e.breakBefore); err != nil {
			return err
		}
	}
	if f.columned() {
		e.breakBefore = doc.BreakNone
		return f.gather(e)
	}
	f.pending = append(f.pending, e)
	// More headings in a row than this are no heading of what follows.
	const longestChain = 64
	if e.keepNext && len(f.pending) < longestChain {
		return nil
	}
	return f.flush()
}

// flush places what waits.
func (f *flow) flush() error {
	if err := f.pourAll(); err != nil {
		return err
	}
	if len(f.pending) == 0 {
		return nil
	}
	group := f.pending
	f.pending = nil
	err := f.place(group)
	if f.pending == nil {
		f.pending = group[:0]
	}
	return err
}

// place draws a group whose entries but the last keep with their next, going to
// new pages as needed. Each turn draws something or starts a page, and on an
// empty page it draws or fails, so it ends.
func (f *flow) place(group []entry) error {
	if f.broken {
		if !slices.ContainsFunc(group, func(e entry) bool { return e.visible() }) {
			f.held = append(f.held, group...)
			return nil
		}
		if err := f.begun(); err != nil {
			return err
		}
	}
	for len(group) > 0 {
		repeat := f.repeatHeight()
		if rest, ok := f.try(group, repeat); ok {
			if rest == nil {
				return nil
			}
			group = rest
			if err := f.next(); err != nil {
				return err
			}
			continue
		}
		if !f.fresh || f.kept > 0 {
			if err := f.next(); err != nil {
				return err
			}
			continue
		}
		if repeat > 0 {
			// The repeated head takes the place that the row needs: this page goes
			// without it.
			if rest, ok := f.try(group, 0); ok {
				if rest == nil {
					return nil
				}
				group = rest
				if err := f.next(); err != nil {
					return err
				}
				continue
			}
		}
		if f.tallest > f.bottom-f.top && height(group) <= f.tallest {
			if err := f.next(); err != nil { // a page to come has more room
				return err
			}
			continue
		}
		if len(group) == 1 {
			return f.m.survive(f.tooHigh(&group[0]))
		}
		// The chain is higher than a page: as much of it as fits, then the rest.
		n := f.fitting(group[:len(group)-1])
		if err := f.place(group[:n:n]); err != nil {
			return err
		}
		group = group[n:]
	}
	return nil
}

// begun starts the page that a break asked for, with what the break holds.
func (f *flow) begun() error {
	odd := f.odd
	f.broken, f.odd = false, false
	if !odd || !f.blank || !f.isOdd() { // which it has become as that of a section
		if err := f.turnTo(odd); err != nil {
			return err
		}
	}
	held := f.held
	f.held = nil
	for i := range held {
		if err := f.place(held[i : i+1]); err != nil {
			return err
		}
	}
	return nil
}

// turnTo starts the next page, or the next odd one behind a page that belongs to what comes before.
func (f *flow) turnTo(odd bool) error {
	if odd && !f.nextIsOdd() {
		of := f.region
		f.region = f.sheet
		err := f.next()
		if f.region = of; err != nil {
			return err
		}
	}
	return f.next()
}

// height is that of a group on an empty page.
func height(group []entry) (h doc.Length) {
	for i := range group {
		if i > 0 {
			h += gap(group[i-1].after, group[i].before)
		}
		h += group[i].b.size()
	}
	return h
}

// fitting returns how many of the entries an empty page holds, at least 1.
func (f *flow) fitting(group []entry) int {
	for n := len(group); n > 1; n-- {
		if height(group[:n]) <= f.bottom-f.top {
			return n
		}
	}
	return 1
}

func (f *flow) tooHigh(e *entry) error {
	what := "the block"
	e = unsplit(e, f.bottom-f.top)
	switch e.b.(type) {
	case *picture:
		what = "the image"
	case *group:
		what = "the row"
	}
	d := at(e.src, "L301", "%s is %s high and an empty page holds %s", what, mm(e.b.size()), mm(f.bottom-f.top))
	d.Page = f.number
	if e.keep {
		d.Message = "kept together, " + d.Message
	}
	return failed(d)
}

// unsplit returns what of an entry that has no room on a page is not split: the entry, or one
// within it that is higher than the page.
func unsplit(e *entry, page doc.Length) *entry {
	if e.keep {
		return e
	}
	if in := highest(e.b, page); in != nil && in.src != nil {
		return unsplit(in, page)
	}
	return e
}

// highest returns the first entry within a block that is higher than a page; nil: there is none.
func highest(of block, page doc.Length) *entry {
	switch b := of.(type) {
	case *stack:
		for i := range b.entries {
			if b.entries[i].b.size() > page {
				return &b.entries[i]
			}
		}
	case *nested:
		return highest(&b.stack, page)
	case *labelled:
		return highest(b.body, page)
	case *box:
		return highest(b.body, page)
	case *columns:
		if in := highest(b.body, page); in != nil || len(b.body.entries) == 0 {
			return in
		}
		return &b.body.entries[0] // which no column holds
	case *group:
		for i := range b.cells {
			if in := highest(b.cells[i].body, page); in != nil {
				return in
			}
		}
	}
	return nil
}

// repeatHeight is the height of the table head that a fresh page starts with.
func (f *flow) repeatHeight() doc.Length {
	if !f.fresh {
		return 0
	}
	// A head of more than half a page would leave the rows no room.
	if again := f.repeated(); again != nil {
		if h := again.size(); h <= (f.bottom-f.top)/2 {
			return h
		}
	}
	return 0
}

// try draws the group when it fits below a repeated head of the given height, or
// as much of it as may stand on this page. rest is what is left.
func (f *flow) try(group []entry, repeat doc.Length) (rest []entry, ok bool) {
	y, after := f.y+repeat, f.after
	last := len(group) - 1
	start := f.fresh
	for i := range group[:last] {
		y += f.gap(after, group[i].before, start)
		y += group[i].b.size()
		after, start = group[i].after, false
	}
	y += f.gap(after, group[last].before, start)
	// On an empty page, and no page to come has more room for it.
	alone := f.fresh && f.kept == 0 && last == 0 && (f.tallest <= f.bottom-f.top || group[0].b.size() > f.tallest)
	bottom := f.limit(f.cites(group))
	if end := y + group[last].b.size(); end <= bottom && (alone || end+group[last].reserve(bottom-end) <= bottom) {
		f.draw(group, repeat)
		return nil, true
	}
	above := f.cites(group[:last])
	if y > f.limit(above) || group[last].carry != nil && !alone {
		return nil, false
	}
	head, tail, ok := f.cut(&group[last], y, above, alone)
	if !ok {
		return nil, false
	}
	row := onceRow(group[last].b)
	f.draw(append(group[:last:last], head), repeat)
	if tail.b == nil {
		return nil, true
	}
	if row != nil && row != head.b && row != tail.b { // its cells are theirs
		f.m.mem.again.cut(row)
	}
	return []entry{tail}, true
}

// gap is the space above an entry: none at the top of a page.
func (f *flow) gap(after, before doc.Length, start bool) doc.Length {
	if start {
		return 0
	}
	return gap(after, before)
}

func (f *flow) draw(group []entry, repeat doc.Length) {
	if repeat > 0 {
		f.repeated().draw(&f.painter, f.left, f.y)
		f.y += repeat
	}
	for i := range group {
		e := &group[i]
		f.y += f.gap(f.after, e.before, f.fresh)
		e.draw(&f.painter, f.left, f.y)
		f.y += e.b.size()
		f.after, f.fresh, f.blank, f.carry = e.after, false, f.blank && !e.visible(), e.carry
		f.blankBody = f.blankBody && !e.visible()
		if e.repeat != nil {
			f.again = e.repeat
		}
		if e.ends {
			f.again, f.in = nil, nil
		}
	}
	if ns := f.cites(group); len(ns) > 0 {
		f.cite(ns)
	}
	f.m.mem.again.drawn(group)
}

// table streams a table: of the rows that are laid out, those alone wait that the
// end of the table may have to keep together.
func (f *flow) table(n *doc.Table) error {
	if n.BreakBefore != doc.BreakNone {
		if err := f.breakAt(n.BreakBefore); err != nil {
			return err
		}
	}
	return f.m.isolated(&n.Block, func() error { return f.rowsOf(n) })
}

func (f *flow) rowsOf(n *doc.Table) error {
	if n.KeepTogether || f.columned() {
		es, err := f.m.nestedTable(n, f.inner())
		if err != nil {
			return err
		}
		for _, e := range es {
			if err := f.add(e); err != nil {
				return err
			}
		}
		return nil
	}
	r, err := f.m.rows(n, f.env(), f.add)
	if err != nil {
		return err
	}
	r.t.once = true
	return r.run()
}

// open starts the first page.
func (f *flow) open() {
	f.number = 1
	f.painter.page = &f.page
	f.empty(1)
	f.begin()
}

// empty makes the page that was handed over page n, on which nothing stands.
func (f *flow) empty(n int) {
	f.page.reset(n, &f.master)
	f.painter.turn()
}

// next closes the page and starts another.
func (f *flow) next() error {
	f.carryOut()
	if err := f.close(); err != nil {
		return err
	}
	of := f.region
	for f.region = f.sheet; len(f.queue) > 0 && f.region != of; { // notes stay in their section
		if err := f.turn(); err != nil {
			return err
		}
		if err := f.close(); err != nil {
			return err
		}
	}
	f.region = of
	return f.turn()
}

// turn starts a page.
func (f *flow) turn() error {
	if err := f.m.ctx.Err(); err != nil {
		return err
	}
	if err := diag.Check("Pages", int64(f.number)+1, f.m.limits.Pages, ""); err != nil {
		return err
	}
	f.number++
	f.counted = f.label
	f.empty(f.number)
	f.begin()
	return nil
}

// close hands the page over with its running content.
func (f *flow) close() error {
	of := f.region
	f.region = f.sheet
	f.settle()
	err := f.setNotes()
	f.note()
	if err == nil {
		err = f.dress()
	}
	f.region = of
	if err != nil {
		return err
	}
	f.painter.finish()
	f.page.Begun = append(f.page.Begun, f.m.begun...)
	f.m.begun = slices.Delete(f.m.begun, 0, len(f.m.begun))
	f.m.mem.turn(f.number)
	if len(f.m.problems) > 0 { // there will be no document
		for _, e := range f.page.Begun {
			e.Parent = nil // as of what is written: blocks of memory would lead to all before them
		}
	} else if err := f.sink.Page(&f.page); err != nil {
		return err
	}
	f.m.mem.again.written(f.painter.written)
	f.painter.written = slices.Delete(f.painter.written, 0, len(f.painter.written))
	return nil
}
