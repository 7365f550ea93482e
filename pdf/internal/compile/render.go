package compile

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/compile/exprlang"
	"example.com/quire/pdf/internal/diag"
)

// BuildOptions are those of one document.
type BuildOptions struct {
	// Time is what now() returns. Zero: now() is an error.
	Time time.Time
	// Limits bounds the data and the expressions; zero fields mean the defaults.
	Limits diag.Limits
	// Memory is what the document is made in, which the caller resets when it is done with the
	// document; nil: memory of its own.
	Memory *Memory
}

// Build decodes the data and returns the document. All problems of the data are
// in one *diag.DiagnosticError. Body and table rows of the document are made as
// layout asks for them; what is wrong there ends them with a
// *diag.DiagnosticError or the error of ctx. A document is laid out once, by one
// goroutine; any number of documents of one plan are made at a time.
func (p *Plan) Build(ctx context.Context, data Data, o BuildOptions) (*doc.Document, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	limits := o.Limits.WithDefaults()
	if data == nil {
		data = JSON([]byte("{}"))
	}
	mem := o.Memory
	if mem == nil {
		mem = &Memory{}
	}
	root, streams, err := data.read(p, limits, mem)
	if err != nil {
		return nil, err
	}
	for _, names := range streams {
		if err := p.streamable(names); err != nil {
			return nil, err
		}
	}
	r := p.render(ctx, limits, mem)
	r.m.Now, r.m.Range = o.Time, limits.RangeItems
	r.m.Slots[0] = root
	return r.document()
}

// render begins a document.
func (p *Plan) render(ctx context.Context, limits diag.Limits, mem *Memory) *render {
	r, at, m := mem.renders.One(), mem.frame(0), &mem.machine
	at.plan = p
	m.Slots, m.Steps, m.Memory = mem.values.Take(len(p.slots)), limits.PredicateSteps, limits.ExprMemory
	*r = render{ctx: ctx, plan: p, at: at, most: limits.ExprMemory, m: m, mem: mem, batch: mem.batch()}
	return r
}

// own is a render for what is made between other things: it has the place and the slots of now, and
// no batch yet.
func (r *render) own() *render {
	own := r.mem.renders.One()
	*own = render{ctx: r.ctx, plan: r.plan, m: r.m, mem: r.mem, at: r.at, most: r.most, static: r.static, counts: r.counts, filling: r.filling, around: r.around}
	return own
}

// errStop says that layout asks for no more.
var errStop = errors.New("template: layout has stopped")

// sink takes a node. Its error, errStop among them, ends the work.
type sink func(doc.Node) error

// render is the state of one document.
type render struct {
	ctx   context.Context //nolint:containedctx // one document, one call
	plan  *Plan
	m     *exprlang.Machine
	mem   *Memory
	batch *batch
	keeps bool  // the rows that are made stay valid
	held  int64 // bytes of nodes that wait in memory, about
	most  int64 // of held

	gather   sink       // adds to gathered
	gathered []doc.Node // by those who collect, the innermost last

	around  *doc.Style            // what blocks that name no style change by their keys; nil: the base
	changes map[change]*doc.Style // made by changed
	tints   map[tint]*doc.Style   // made by look

	static  static
	filling *filling  // of the component being made
	carry   *carrying // of the loop whose rows are made; nil: nothing is carried
	counts  []int     // columns of the table being made, by column as written; nil: one of each

	at *frame // of what is being made
}

func (r *render) document() (*doc.Document, error) {
	p := r.plan
	for _, v := range p.vars {
		val, err := r.eval(&programAt{v.prog, v.at})
		if err != nil {
			return nil, err
		}
		r.m.Slots[v.slot] = val
	}
	d := &doc.Document{Lang: p.lang, Page: p.page, BaseStyle: p.base, Theme: p.theme, Fonts: p.fonts, References: p.references, DecimalSign: p.decimalSign, Viewer: p.viewer, OutlineLevels: p.outlineLevels, NumberHeadings: p.numberHeadings, Footnotes: p.footnotes}
	var err error
	text := func(t *plainText) string {
		if t == nil || err != nil {
			return ""
		}
		var s string
		s, err = r.plain(t)
		return s
	}
	d.Title, d.Meta.Author, d.Meta.Subject = text(p.title), text(p.author), text(p.subject)
	if d.FileName = fileName(text(p.filename)); d.FileName == "" {
		d.FileName = fileName(d.Title)
	}
	for _, k := range p.keywords {
		d.Meta.Keywords = append(d.Meta.Keywords, text(k))
	}
	if err != nil {
		return nil, err
	}
	if d.Watermark, err = r.watermark(p.watermark); err != nil {
		return nil, err
	}
	if d.Header, err = r.running(p.header); err != nil {
		return nil, err
	}
	if d.Footer, err = r.running(p.footer); err != nil {
		return nil, err
	}
	if d.Background, err = r.running(p.background); err != nil {
		return nil, err
	}
	if d.Signing, err = r.signing(p.signing); err != nil {
		return nil, err
	}
	if d.Protection, err = r.protection(p.protection); err != nil {
		return nil, err
	}
	if r.static == withData {
		if d.Attachments, err = r.attachments(); err != nil {
			return nil, err
		}
		if d.Outline, err = r.outline(p.outline); err != nil {
			return nil, err
		}
	}
	d.Body = r.again(r.stream(p.body, nil))
	return d, nil
}

func (r *render) watermark(w *watermark) (*doc.Watermark, error) {
	if w == nil {
		return nil, nil //nolint:nilnil // no watermark is no error
	}
	if w.cond != nil {
		if holds, _, err := r.branches(w.cond); err != nil || !holds {
			return nil, err
		}
	}
	out := w.out
	if w.image != nil {
		return &out, w.image.emit(r, func(n doc.Node) error {
			out.Image, _ = n.(*doc.Image)
			return nil
		})
	}
	var err error
	out.Text, err = r.plain(w.text)
	return &out, err
}

func (r *render) running(s running) (out doc.Running, err error) {
	out.Identity = s.identity
	around := r.around
	r.around = nil
	defer func() { r.around = around }()
	for _, e := range [...]struct {
		from []block
		to   *[]doc.Node
	}{{s.first, &out.First}, {s.odd, &out.Odd}, {s.even, &out.Even}, {s.other, &out.Other}, {s.all, &out.All}} {
		if e.from == nil {
			continue
		}
		if *e.to, err = r.collect(e.from, nil); err != nil {
			return out, err
		}
		if *e.to == nil {
			*e.to = []doc.Node{}
		}
	}
	return out, nil
}

// again is a body that may be read several times, each time with the budgets of now.
func (r *render) again(body iter.Seq2[doc.Node, error]) iter.Seq2[doc.Node, error] {
	steps, memory := r.m.Steps, r.m.Memory
	return func(yield func(doc.Node, error) bool) {
		r.m.Steps, r.m.Memory = steps, memory
		body(yield)
	}
}

// stream yields the nodes of blocks in something of a style, nil for that around it, made as they
// are asked for.
func (r *render) stream(blocks []block, style *doc.Style) iter.Seq2[doc.Node, error] {
	style = cmp.Or(style, r.around)
	return func(yield func(doc.Node, error) bool) {
		around := r.around
		r.around = style
		defer func() { r.around = around }()
		slots, given := r.m.Slots, 0
		out := func(n doc.Node) error {
			if !yield(n, nil) {
				return errStop
			}
			r.m.Slots = slots // a table's rows ran in between
			r.held = 0
			if given++; given%parting == 0 {
				r.mem.part()
			}
			return nil
		}
		for i := range blocks {
			err := r.emit(blocks[i:i+1], out)
			if err == nil {
				continue
			}
			if errors.Is(err, errStop) || !yield(nil, err) || !goesOn(err) {
				return
			}
			r.m.Slots, r.held = slots, 0
			r.batch.reset()
		}
	}
}

// parting is how many blocks of the body, or rows of a table, lie between two partings of the
// memory.
const parting = 256

// goesOn reports whether what follows can still be made: err is of wrong data or a wrong template,
// not of a limit or the context.
func goesOn(err error) bool {
	de, ok := errors.AsType[*diag.DiagnosticError](err)
	return ok && !slices.ContainsFunc(de.Diagnostics, func(d diag.Diagnostic) bool { return d.Kind == diag.KindLimit })
}

// emit gives the nodes of blocks to out.
func (r *render) emit(blocks []block, out sink) error {
	for _, b := range blocks {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if err := b.emit(r, out); err != nil {
			return err
		}
	}
	return nil
}

// nodeSize is what a node that waits in memory takes from the budget.
const nodeSize = 256

// collect returns the nodes of blocks in something of a style, nil for that around it.
func (r *render) collect(blocks []block, style *doc.Style) ([]doc.Node, error) {
	around := r.around
	r.around = cmp.Or(style, around)
	defer func() { r.around = around }()
	if r.gather == nil {
		r.gather = func(n doc.Node) error {
			if r.held += nodeSize; r.held > r.most {
				return r.limit(n.Common().Src, exprlang.CodeMemory, "the blocks take too much memory")
			}
			r.gathered = append(r.gathered, n)
			return nil
		}
	}
	from := len(r.gathered)
	err := r.emit(blocks, r.gather)
	var out []doc.Node
	if n := len(r.gathered) - from; n > 0 {
		out = r.mem.nodes.Take(n)
		copy(out, r.gathered[from:])
	}
	r.gathered = r.gathered[:from]
	return out, err
}

// step takes one step from the budget that loops share with expressions.
func (r *render) step(at *place) error {
	if r.m.Steps--; r.m.Steps < 0 {
		return r.fault(&exprlang.Error{Code: exprlang.CodeSteps, Message: "the template takes too many steps"}, at)
	}
	return nil
}

// each runs do for the items of a loop, whose slots it sets, and returns how
// many there were. A list that is missing has none.
func (r *render) each(l *loop, do func() error) (int, error) {
	list, err := r.eval(l.list)
	if err != nil {
		return 0, err
	}
	around := r.at
	defer func() { r.at = around }()
	if r.static == reachable {
		list = exprlang.List(make([]exprlang.Value, 1))
	}
	if s := list.Stream(); s != nil {
		return r.eachOf(s, l, around, do)
	}
	for i := range list.Len() {
		if err := r.ctx.Err(); err != nil {
			return i, err
		}
		if err := r.enter(l, list.At(i), i, list.Len(), around); err != nil {
			return i, err
		}
		if err := do(); err != nil {
			return i, err
		}
	}
	return list.Len(), nil
}

// eachOf is each for a list that is read once. An item waits for the next one, so that it is known
// whether it is the last. Each has the budgets for itself: the number of items has no bound.
func (r *render) eachOf(s *exprlang.Stream, l *loop, around *frame, do func() error) (n int, err error) {
	if s.Begun {
		return 0, r.fault(&exprlang.Error{Code: codeStream, Message: "rows that are streamed are read once, and this loop runs again"}, l.list.at)
	}
	s.Begun = true
	steps, memory := r.m.Steps, r.m.Memory
	var held exprlang.Value
	one := func(count int) error {
		r.m.Steps, r.m.Memory = steps, memory
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if err := r.enter(l, held, n-1, count, around); err != nil {
			return err
		}
		return do()
	}
	for v, err := range s.Items {
		if err == nil && n > 0 {
			err = one(n + 1)
		}
		if err != nil {
			return n, err
		}
		held = v
		n++
	}
	if n > 0 {
		err = one(n)
	}
	return n, err
}

var loopValues = [4]exprlang.Value{
	exprlang.Record([]exprlang.Value{exprlang.Bool(false), exprlang.Bool(false)}),
	exprlang.Record([]exprlang.Value{exprlang.Bool(true), exprlang.Bool(false)}),
	exprlang.Record([]exprlang.Value{exprlang.Bool(false), exprlang.Bool(true)}),
	exprlang.Record([]exprlang.Value{exprlang.Bool(true), exprlang.Bool(true)}),
}

// loopPlace is the value of `loop` for item i of n.
func loopPlace(i, n int) exprlang.Value {
	place := 0
	if i == 0 {
		place |= 1
	}
	if i == n-1 {
		place |= 2
	}
	return loopValues[place]
}

// enter sets the slots of a loop for item i of n.
func (r *render) enter(l *loop, item exprlang.Value, i, n int, around *frame) error {
	if err := r.step(l.list.at); err != nil {
		return err
	}
	r.m.Slots[l.item] = item
	r.m.Slots[l.at] = loopPlace(i, n)
	if l.i >= 0 {
		r.m.Slots[l.i] = exprlang.Int(i)
	}
	r.push(around, l.item, i, nil)
	return nil
}

func (r *render) eval(p *programAt) (exprlang.Value, error) {
	if r.blank(p.prog) {
		return exprlang.Null, nil
	}
	v, err := p.prog.Eval(r.m)
	if err != nil {
		return v, r.fault(err, p.at)
	}
	return v, nil
}

// fault turns the error of an expression into a diagnostic at its place.
func (r *render) fault(err error, at *place) error {
	var e *exprlang.Error
	if !errors.As(err, &e) {
		return err
	}
	line, col := at.node.Pos(at.off + e.Off)
	d := diag.Diagnostic{Code: e.Code, File: at.file, Line: line, Col: col, Path: at.path, Message: e.Message}
	d.DataPath = r.at.source(at.reads)
	if e.Missing != nil {
		d.DataPath = r.at.name(e.Missing)
		d.Suggestion = "test it with if, or write | default(...)"
	}
	return diag.Fail(d)
}

func (r *render) limit(src *doc.Source, code, message string) error {
	d := diag.Diagnostic{Code: code, File: r.plan.file, Message: message}
	if src != nil {
		d = src.Place(d)
	}
	return diag.Fail(d)
}
