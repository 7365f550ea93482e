package layout

import (
	"slices"
	"strconv"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/text"
)

// runningGap is the space between running content and body, runningEdge the
// least between running content and the edge of the sheet.
const (
	runningGap  = 12 * doc.Pt
	runningEdge = 18 * doc.Pt
)

// running holds the heights kept for headers and footers, by the lists of doc.Running.
type running struct {
	head, foot heights
	wrong      bool // a problem of it was told: once, not for each page
}

// heights are those of the lists of a doc.Running.
type heights [numLists]doc.Length

// runningKey is what the heights of content that documents have alike depend on.
type runningKey struct {
	of      *doc.Identity
	base    *doc.Style
	lang    string
	width   doc.Length
	digits  int // of the widest number of a page
	set     *text.Typesetter
	theme   *doc.Theme
	decimal string
}

// mostHeights is for how many keys heights are kept.
const mostHeights = 64

// The lists of doc.Running.
const (
	listFirst = iota
	listOdd
	listEven
	listOther
	listAll
	numLists
)

// pick returns the list for the first page of a section, or for one that shows a number.
func pick(r *doc.Running, first bool, number int) int {
	odd := number%2 == 1
	switch {
	case first && r.First != nil:
		return listFirst
	case odd && r.Odd != nil:
		return listOdd
	case !odd && r.Even != nil:
		return listEven
	case !first && r.Other != nil:
		return listOther
	}
	return listAll
}

func lists(r *doc.Running) [numLists][]doc.Node {
	return [numLists][]doc.Node{r.First, r.Odd, r.Even, r.Other, r.All}
}

// measureRunning finds how high headers and footers are. Page numbers are measured at the most
// digits they may have.
func (f *flow) measureRunning(src *doc.Source) error {
	m := f.master
	begun, warned, above := f.m.begun, len(f.m.warnings), f.m.titles
	f.m.titles = &sampleTitles
	defer func() { f.m.titles = above }()
	told := len(f.m.problems)
	f.running = running{}
	f.width = bodyWidth(&m, m.Margins)
	for _, look := range [...]*doc.PageLook{m.First, m.Odd, m.Even} {
		if look != nil && bodyWidth(&m, look.Margins) != f.width {
			return failed(at(src, "L306", "the bodies of pages are %s and %s wide", mm(f.width), mm(bodyWidth(&m, look.Margins))))
		}
	}
	widest := "8" + strconv.FormatInt(f.m.limits.Pages, 10)[1:]
	for _, side := range []struct {
		r   *doc.Running
		h   *heights
		art Artifact
	}{{f.header, &f.running.head, ArtifactHeader}, {f.footer, &f.running.foot, ArtifactFooter}} {
		key := runningKey{side.r.Identity, f.base, f.doc.Lang, f.width, len(widest), f.m.opt.Typesetter, f.m.theme, f.m.decimal}
		if known, ok := f.m.heights[key]; ok {
			*side.h = known
			continue
		}
		told, warned := len(f.m.problems)+f.m.omitted, len(f.m.warnings)
		for i, nodes := range lists(side.r) {
			if len(nodes) == 0 {
				continue
			}
			f.m.titled = f.m.titled || wants(nodes, doc.SpanTitle)
			told := len(f.m.problems)
			st, err := f.runningStack(nodes, side.art, widest, widest)
			if noRoom(f.m.problems[told:]) {
				// Not for a page number of a document of its own: the pages will tell.
				f.m.problems, f.m.omitted = f.m.problems[:told], 0
				st, err = f.runningStack(nodes, side.art, "8", "8")
			}
			if err != nil {
				return err
			}
			side.h[i] = st.size()
		}
		if side.r.Identity != nil && len(f.m.problems)+f.m.omitted == told && len(f.m.warnings) == warned {
			if len(f.m.heights) >= mostHeights {
				clear(f.m.heights)
			}
			f.m.heights[key] = *side.h
		}
	}
	for _, nodes := range lists(f.background) {
		f.m.titled = f.m.titled || wants(nodes, doc.SpanTitle)
	}
	f.m.begun, f.m.aside, f.m.warnings = begun, nil, f.m.warnings[:warned]
	f.running.wrong = len(f.m.problems) > told
	if c := &m.Columns; f.columned() {
		if err := wideEnough(c.Count, columnWidth(c.Count, c.Gap, f.width), src); err != nil {
			return err
		}
	}
	f.tallest = 0
	for _, first := range [...]bool{true, false} {
		for number := range 2 {
			b := f.bodyOf(first, number)
			if b.bottom-b.top < 20*doc.Pt || f.width < 20*doc.Pt {
				return failed(at(src, "L306", "margins and running content leave a body of %s by %s", mm(f.width), mm(b.bottom-b.top)))
			}
			if !first {
				f.tallest = max(f.tallest, b.bottom-b.top)
			}
		}
	}
	return nil
}

// body is where the content of a page stands, and its running content.
type body struct {
	look                doc.PageLook
	left, top, bottom   doc.Length
	headBottom, footTop doc.Length
}

// bodyOf returns that of a page: between its own header and footer.
func (r *region) bodyOf(first bool, number int) body {
	m := &r.master
	look := r.look(first, number)
	b := body{look: look, left: look.Margins.Left, top: look.Margins.Top, bottom: m.Height - look.Margins.Bottom}
	b.headBottom, b.footTop = b.top-runningGap, b.bottom+runningGap
	edge := runningEdge
	if look.Border != nil {
		edge = max(edge, b.inset()+runningGap/2)
	}
	if h := r.running.head[pick(r.header, first, number)]; h > 0 {
		b.headBottom = max(b.headBottom, edge+h)
		b.top = b.headBottom + runningGap
	}
	if h := r.running.foot[pick(r.footer, first, number)]; h > 0 {
		b.footTop = min(b.footTop, m.Height-edge-h)
		b.bottom = b.footTop - runningGap
	}
	return b
}

// noRoom reports whether problems are of figures that are wider than their place.
func noRoom(problems []diag.Diagnostic) bool {
	return len(problems) > 0 && !slices.ContainsFunc(problems, func(d diag.Diagnostic) bool { return d.Code != codeFigure })
}

// runningStack lays out running content.
func (f *flow) runningStack(nodes []doc.Node, art Artifact, page, total string) (*stack, error) {
	around := f.m.art // of the rows that are being laid out
	f.m.art, f.m.page, f.m.total = art, page, total
	defer func() { f.m.art, f.m.page, f.m.total = around, "", "" }()
	return f.m.stack(nodes, env{style: f.base, width: f.width, lang: f.doc.Lang})
}

// look is how a page looks.
func (r *region) look(first bool, number int) doc.PageLook {
	m := &r.master
	switch odd := number%2 == 1; {
	case first && m.First != nil:
		return *m.First
	case odd && m.Odd != nil:
		return *m.Odd
	case !odd && m.Even != nil:
		return *m.Even
	}
	return doc.PageLook{Margins: m.Margins, Border: m.Border, Background: m.Background}
}

// bodyWidth is how wide the body of pages with some margins is.
func bodyWidth(m *doc.Master, margins doc.Edges) doc.Length {
	return m.Width - margins.Left - margins.Right
}

// inset is how far the border of a page stands from its edge.
func (b *body) inset() doc.Length {
	m := b.look.Margins
	return min(m.Top, m.Right, m.Bottom, m.Left) / 2
}

// dress adds border and running content to the page that closes. What asks for
// the number of pages waits.
func (f *flow) dress() error {
	if b := f.body.look.Border; b != nil {
		inset := f.inset()
		f.painter.frame(inset, inset, f.master.Width-2*inset, f.master.Height-2*inset, b)
	}
	if err := f.drawBackground(); err != nil {
		return err
	}
	waits := false
	for _, art := range [2]Artifact{ArtifactHeader, ArtifactFooter} {
		if wantsTotal(f.picked(art)) {
			waits = true
			continue
		}
		if err := f.drawRunning(art, ""); err != nil {
			return err
		}
	}
	f.endAside()
	if waits {
		f.wait()
	}
	return nil
}

// wait lets the open page wait for the number of pages.
func (f *flow) wait() {
	if n := len(f.waits); n > 0 {
		last := &f.waits[n-1]
		if f.number-last.number == last.pages && f.label-last.label == last.pages && f.sheet == last.region && f.m.titles == last.titles {
			last.pages++
			return
		}
	}
	f.waits = append(f.waits, late{f.number, f.label, 1, f.sheet, f.m.titles})
}

func (f *flow) side(art Artifact) *doc.Running {
	if art == ArtifactHeader {
		return f.header
	}
	return f.footer
}

// picked is the running content of the open page.
func (f *flow) picked(art Artifact) []doc.Node {
	side := f.side(art)
	return lists(side)[pick(side, f.first == f.page.Number, f.label)]
}

// endAside closes the element that holds the links of the running content.
func (f *flow) endAside() {
	if f.m.aside != nil {
		f.page.Done = append(f.page.Done, f.m.aside)
		f.m.aside, f.m.asideP = nil, nil
	}
}

func (f *flow) drawRunning(art Artifact, total string) error {
	nodes := f.picked(art)
	if len(nodes) == 0 || f.running.wrong {
		return nil
	}
	told := len(f.m.problems) + f.m.omitted
	st, err := f.runningStack(nodes, art, numeral(f.label, f.numbering), total)
	if err != nil {
		return err
	}
	h := st.size()
	kept, y := &f.running.head, f.headBottom-h
	if art == ArtifactFooter {
		kept, y = &f.running.foot, f.footTop
	}
	if measured := kept[pick(f.side(art), f.first == f.page.Number, f.label)]; h > measured {
		d := at(nodes[0].Common().Src, "L309", "running content of page %d is %s high, measured were %s", f.page.Number, mm(h), mm(measured))
		if wants(nodes, doc.SpanTitle) {
			d.Suggestion = "the heading that it shows takes more than a line: write max-lines: 1 and overflow: ellipsis"
		}
		if err = f.m.survive(failed(d)); err != nil {
			return err
		}
	}
	f.running.wrong = len(f.m.problems)+f.m.omitted > told
	st.draw(&f.painter, f.left, y)
	return nil
}

// drawBackground lays what covers the sheet beneath all else that is on the page.
func (f *flow) drawBackground() error {
	nodes := lists(f.background)[pick(f.background, f.first == f.page.Number, f.label)]
	if len(nodes) == 0 || f.running.wrong {
		return nil
	}
	src := nodes[0].Common().Src
	if wantsTotal(nodes) {
		f.running.wrong = true
		return f.m.survive(failed(at(src, "L317", "the background has a table, or the number of pages, which is not known when it is drawn")))
	}
	told, around := len(f.m.problems)+f.m.omitted, f.m.art // of the rows that are being laid out
	f.m.art, f.m.page = ArtifactBackground, numeral(f.label, f.numbering)
	st, err := f.m.stack(nodes, env{style: f.base, width: f.master.Width, lang: f.doc.Lang})
	f.m.art, f.m.page = around, ""
	if err != nil {
		return err
	}
	if h := st.size(); h > f.master.Height {
		err = f.m.survive(failed(at(src, "L317", "the background is %s high, the sheet %s", mm(h), mm(f.master.Height))))
	}
	f.running.wrong = len(f.m.problems)+f.m.omitted > told
	above := f.page.Beneath
	f.page.Beneath = append(f.painter.layer(nil, &entry{b: st}, 0, 0), above...)
	return err
}

// late makes what had to wait for the number of pages.
func (f *flow) late() error {
	total := strconv.Itoa(f.number)
	f.m.mem.mark()
	f.m.set.Mark()
	for _, w := range f.waits {
		f.region, f.m.titles = w.region, w.titles
		for i := range w.pages {
			if err := f.latePage(w.number+i, w.label+i, total); err != nil {
				return err
			}
		}
	}
	return nil
}

// latePage makes what had to wait on a page.
func (f *flow) latePage(number, label int, total string) error {
	if err := f.m.ctx.Err(); err != nil {
		return err
	}
	f.label = label
	f.empty(number)
	f.body = f.bodyOf(f.first == number, label)
	for _, art := range [2]Artifact{ArtifactHeader, ArtifactFooter} {
		if !wantsTotal(f.picked(art)) {
			continue
		}
		if err := f.drawRunning(art, total); err != nil {
			return err
		}
	}
	f.endAside()
	f.painter.finish()
	f.page.Begun = append(f.page.Begun, f.m.begun...)
	f.m.begun = slices.Delete(f.m.begun, 0, len(f.m.begun))
	if len(f.m.problems) > 0 {
		return nil
	}
	if err := f.sink.Late(&f.page); err != nil {
		return err
	}
	if number%parting == 0 {
		f.m.mem.part()
	}
	f.m.mem.rewind()
	f.m.set.Rewind()
	return nil
}

// makeWatermark lays out that of the pages. Without a size of its own it is as large as leaves it
// within the sheet, at any angle.
func (f *flow) makeWatermark() error {
	f.under = nil
	w := f.watermark
	switch {
	case w == nil:
		return nil
	case w.Image != nil:
		return f.imageWatermark(w)
	case w.Text == "":
		return nil
	}
	s := doc.Style{Weight: boldWeight, Family: f.base.Family}
	if w.Style != nil {
		s = *w.Style
	}
	s.Align, s.Leading = doc.AlignLeft, 0
	s.Indent, s.MarginLeft, s.MarginRight = 0, 0, 0
	fit := s.Size <= 0
	if fit {
		s.Size = 100 * doc.Pt
	}
	m := f.m
	m.art = ArtifactWatermark
	defer func() { m.art = ArtifactNone }()
	lay := func(s *doc.Style) (*para, error) {
		b, err := m.text([]doc.Span{{Text: w.Text}}, env{style: s, width: text.Unlimited, lang: f.doc.Lang}, nil, nil, "")
		if err != nil {
			return nil, err
		}
		return b.(*para), nil
	}
	b, err := lay(&s)
	if err != nil || len(b.lines) == 0 {
		return err
	}
	if fit {
		reach := min(f.master.Width, f.master.Height) * 9 / 10
		if w.Angle != 0 {
			reach = max(f.master.Width, f.master.Height) * 8 / 10
		}
		sized := s
		sized.Size = min(reach*s.Size/max(b.lines[0].Width, 1), 160*doc.Pt)
		if b, err = lay(&sized); err != nil {
			return err
		}
	}
	met := b.face.chains[0].Face().Metrics()
	rise := text.Scale(int64(met.CapHeight), b.face.size, b.face.chains[0].Face()) / 2
	f.under = &UnderItem{
		X: f.master.Width / 2, Y: f.master.Height / 2, Angle: w.Angle, Opacity: opacity(w), Over: w.Over,
		Text: TextItem{X: -b.lines[0].Width / 2, Y: rise, Line: &b.lines[0], Pieces: b.styles, Artifact: ArtifactWatermark},
	}
	return nil
}

func opacity(w *doc.Watermark) float64 {
	if o := min(max(w.Opacity, 0), 1); o > 0 {
		return o
	}
	return 0.1
}

// imageWatermark lays out a watermark that is an image.
func (f *flow) imageWatermark(w *doc.Watermark) error {
	n := *w.Image
	n.Decorative, n.Link = true, ""
	if n.Width <= 0 && n.Height <= 0 {
		n.Width, n.Height, n.Fit = f.master.Width*8/10, f.master.Height*8/10, doc.FitContain
		if w.Angle != 0 { // at any angle
			n.Width = min(n.Width, n.Height)
			n.Height = n.Width
		}
	}
	f.m.art = ArtifactWatermark
	defer func() { f.m.art = ArtifactNone }()
	b, _, err := f.m.image(&n, env{style: f.base, width: f.master.Width, lang: f.doc.Lang})
	if err != nil {
		return err
	}
	p := b.(*picture) //nolint:forcetypeassert // m.image makes no other block
	it := p.item
	it.X, it.Y, it.W, it.H = -p.w/2, -p.h/2, p.w, p.h
	f.under = &UnderItem{X: f.master.Width / 2, Y: f.master.Height / 2, Angle: w.Angle, Opacity: opacity(w), Over: w.Over, Image: &it}
	return nil
}

// wantsTotal reports whether some span prints the number of pages.
func wantsTotal(nodes []doc.Node) bool { return wants(nodes, doc.SpanPages) }

// wants reports whether some span is of a kind.
func wants(nodes []doc.Node, kind doc.SpanKind) bool {
	spans := func(all []doc.Span) bool {
		return slices.ContainsFunc(all, func(s doc.Span) bool { return s.Kind == kind })
	}
	return slices.ContainsFunc(nodes, func(n doc.Node) bool {
		switch n := n.(type) {
		case *doc.Text:
			return spans(n.Spans)
		case *doc.Heading:
			return spans(n.Spans)
		case *doc.Box:
			return wants(n.Nodes, kind)
		case *doc.Columns:
			return wants(n.Nodes, kind)
		case *doc.Beside:
			return slices.ContainsFunc(n.Cells, func(c []doc.Node) bool { return wants(c, kind) })
		case *doc.List:
			return slices.ContainsFunc(n.Items, func(i doc.ListItem) bool { return wants(i.Nodes, kind) })
		case *doc.Table:
			return true // its rows are read once, so they are not looked through
		}
		return false
	})
}
