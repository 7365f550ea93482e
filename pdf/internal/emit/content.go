package emit

import (
	"unicode/utf8"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/font"
	"example.com/quire/pdf/internal/layout"
	"example.com/quire/pdf/internal/tag"
	"example.com/quire/pdf/internal/text"
)

// content writes one content stream. Positions are printed in hundredths of a
// point; moves are differences of printed positions, so nothing adds up.
type content struct {
	e      *Emitter
	pi     *pageInfo
	b      []byte
	height doc.Length
	mcid   int

	bare     bool      // of a form: nothing is marked
	open     bool      // a marked-content sequence is open
	elem     *tag.Elem // its element
	artifact layout.Artifact

	inText       bool
	font         *fontRes
	size         doc.Length
	color        doc.Color // of fills; the graphics state begins with black
	lineX, lineY int64     // origin of the text line, in hundredths
	slanted      bool      // so is the text matrix

	// Where the stream repeats itself, and where what is repeated stands: the last operators that
	// began a marked-content sequence of a type, drew a rectangle or moved to a line, and the last
	// ones that moved as far. 0 is none: a stream does not begin with them.
	repeats  []cos.Repeat
	marks    [tag.NumTypes]uint32
	lastRect int
	lastMove int
	moves    [128]moved
	turned   *layout.TurnItem // that what is drawn is in; nil: none
}

// moved is a Td operator that stands in the stream, operands included.
type moved struct {
	x, y         int64
	from, at, to uint32 // where it begins, the first operand ends and it ends
}

// repeat tells that what is appended next stands in the stream already, from position of on.
func (c *content) repeat(of int) {
	if of > 0 {
		c.repeats = append(c.repeats, cos.Repeat{At: uint32(len(c.b)), Of: uint32(of)}) //nolint:gosec // G115: a stream in memory
	}
}

func (e *Emitter) content(pi *pageInfo) *content {
	c := &content{e: e, pi: pi, b: e.buf[:0], repeats: e.repeats[:0], mcid: pi.mcids, color: doc.Black, height: pi.h}
	if !pi.contents.IsZero() {
		// The streams of a page are one (7.8.2): the state is what the first left.
		c.color = 0
	}
	return c
}

// hundredths rounds a length to 1/100 pt.
func hundredths(l doc.Length) int64 {
	v := int64(l) * 100
	if v < 0 {
		return -((-v + 512) / 1024)
	}
	return (v + 512) / 1024
}

func (c *content) num(h int64) {
	c.b = cos.AppendDecimal(c.b, h, 2)
}

// back draws backgrounds and rules, one artifact in all.
func (c *content) back(rects []layout.RectItem) error {
	if len(rects) == 0 {
		return nil
	}
	if err := c.mark(nil, layout.ArtifactLayout); err != nil {
		return err
	}
	c.rects(rects)
	return nil
}

func (c *content) fill(col doc.Color) {
	if col == c.color {
		return
	}
	c.color = col
	r, g, b := col.RGB()
	c.judge(opColor)
	if r == g && g == b {
		c.b = cos.AppendRatio(c.b, int64(r), 255, 3)
		c.b = append(c.b, " g\n"...)
		return
	}
	c.rgb(col, "rg\n")
}

// rgb writes the parts of a colour before the operator that sets it.
func (c *content) rgb(col doc.Color, operator string) {
	r, g, b := col.RGB()
	for _, v := range [3]uint8{r, g, b} {
		c.b = cos.AppendRatio(c.b, int64(v), 255, 3)
		c.b = append(c.b, ' ')
	}
	c.b = append(c.b, operator...)
}

// mark opens the marked-content sequence that what follows belongs to, unless
// it is open already.
func (c *content) mark(el *tag.Elem, art layout.Artifact) error {
	if c.e.tree == nil || c.bare {
		return nil
	}
	if el != nil {
		art = layout.ArtifactNone
	}
	if c.open && c.elem == el && c.artifact == art {
		return nil
	}
	c.unmark()
	c.open, c.elem, c.artifact = true, el, art
	if el == nil {
		if c.b = append(c.b, artifacts[art]...); art == layout.ArtifactBackground { // which needs its box
			c.num(hundredths(c.pi.w))
			c.b = append(c.b, ' ')
			c.num(hundredths(c.pi.h))
			c.b = append(c.b, "]>>BDC\n"...)
		}
		return nil
	}
	if err := c.e.add(el); err != nil {
		return err
	}
	last := &c.marks[el.Type]
	c.repeat(int(*last))
	*last = uint32(len(c.b)) //nolint:gosec // G115: a stream in memory
	if c.b = append(c.b, marked[el.Type]...); el.Type == tag.H {
		c.b = append(el.AppendName(c.b), withContent...)
	}
	c.b = cos.AppendInt(c.b, int64(c.mcid))
	c.b = append(c.b, ">>BDC\n"...)
	el.AddContent(c.pi.ref, c.mcid)
	c.e.tree.SetContent(c.pi.key, c.mcid, el)
	c.mcid++
	return nil
}

// marked opens the content of elements, by type; those of headings have a number (14.6).
var marked = func() (open [tag.NumTypes]string) {
	for t := range open {
		if typ := tag.Type(t); typ != tag.H {
			open[t] = "/" + typ.String() + withContent
		}
	}
	return open
}()

// withContent stands between the type of a sequence and the number of its content.
const withContent = "<</MCID "

// artifacts opens the artifacts, by kind (14.8.2.2.2).
var artifacts = [...]string{
	layout.ArtifactNone:       "/Artifact BMC\n",
	layout.ArtifactLayout:     "/Artifact<</Type/Layout>>BDC\n",
	layout.ArtifactHeader:     "/Artifact<</Type/Pagination/Subtype/Header>>BDC\n",
	layout.ArtifactFooter:     "/Artifact<</Type/Pagination/Subtype/Footer>>BDC\n",
	layout.ArtifactRepeat:     "/Artifact<</Type/Pagination>>BDC\n",
	layout.ArtifactWatermark:  "/Artifact<</Type/Pagination/Subtype/Watermark>>BDC\n",
	layout.ArtifactBackground: "/Artifact<</Type/Background/BBox[0 0 ",
}

// The operators that a standard has a word on.
var (
	opFill        = []byte("f")
	opColor       = []byte("rg")
	opStroke      = []byte("S")
	opStrokeColor = []byte("RG")
	opShow        = []byte("TJ")
	opDraw        = []byte("Do")
)

func (c *content) judge(op []byte) {
	if j := c.e.judge; j != nil && !c.bare {
		j.Content(c.pi.ref, op, nil)
	}
}

// show is judge for an operator that draws. Within a marked-content sequence of ours it breaks no
// rule: the judge is shown what stands outside.
func (c *content) show(op []byte) {
	if !c.open {
		c.judge(op)
	}
}

// unmark closes the open sequence. Text objects and sequences are nested: a
// text object may hold many sequences, never the other way round half-way.
func (c *content) unmark() {
	if !c.open {
		return
	}
	c.b = append(c.b, "EMC\n"...)
	c.open = false
}

// end leaves the text object and the sequence.
func (c *content) end() {
	c.endText()
	c.unmark()
}

func (c *content) beginText() {
	if c.inText {
		return
	}
	c.unmark()
	c.b = append(c.b, "BT\n"...)
	c.inText, c.lineX, c.lineY, c.slanted = true, 0, 0, false
	// Font and size are part of the graphics state and outlive the text object.
}

// endText leaves the text object.
func (c *content) endText() {
	if c.inText {
		c.unmark()
		c.b = append(c.b, "ET\n"...)
		c.inText = false
	}
}

// text draws a line.
func (c *content) text(t *layout.TextItem) error {
	c.beginText()
	items := t.Line.Items
	for i := 0; i < len(items); {
		ps := &t.Pieces[items[i].Piece]
		j := i + 1
		for j < len(items) && sameFace(items[j].Part, items[i].Part) && sameStyle(ps, &t.Pieces[items[j].Piece]) {
			j++
		}
		if err := c.mark(ps.Elem, t.Artifact); err != nil {
			return err
		}
		if err := c.run(t, ps, items[i:j]); err != nil {
			return err
		}
		i = j
	}
	return nil
}

func sameFace(a, b *text.Part) bool {
	return a.Face == b.Face && a.Bold == b.Bold && a.Slanted == b.Slanted
}

func sameStyle(a, b *layout.PieceStyle) bool {
	return a == b || a.Size == b.Size && a.Color == b.Color && a.Elem == b.Elem && a.Inline == b.Inline
}

// run shows items of one face, size, colour and element.
func (c *content) run(t *layout.TextItem, ps *layout.PieceStyle, items []text.Item) error {
	drawn := items[0].Part
	f := c.setFont(drawn.Face, ps.Size)
	c.fill(ps.Color)
	c.show(opShow)
	origin := items[0].X
	var rise, spacing doc.Length
	if in := ps.Inline; in != nil {
		rise, spacing = in.Rise, in.Spacing
	}
	c.moveTo(t.X+origin, t.Y-rise, drawn.Slanted)
	if drawn.Bold {
		c.embolden(ps)
	}

	w := &c.e.words
	w.begin(f, ps.Size, c.b)
	w.space(spacing)
	for i := range items {
		it := &items[i]
		w.moveTo(it.X - origin)
		if err := c.part(w, it.Part, ps); err != nil {
			return err
		}
	}
	c.b = w.end()
	if drawn.Bold {
		c.b = append(c.b, "0 Tr\n"...)
	}
	return nil
}

// wordsOf draws words. The operators are those of lines that have nothing else.
func (c *content) wordsOf(it *layout.WordsItem) error {
	c.beginText()
	var style *layout.WordStyle
	var f *fontRes
	var table *text.ASCII
	for i := range it.Words {
		w := &it.Words[i]
		if c.e.tree != nil {
			if err := c.mark(w.Elem, it.Artifact); err != nil {
				return err
			}
		}
		if w.Style != style {
			style = w.Style
			f, table = c.setFont(style.Chain.Face(), style.Size), style.Chain.ASCII()
			c.fill(style.Color)
		}
		if !c.open {
			c.judge(opShow)
		}
		c.moveTo(it.X+w.X, it.Y, false)
		if w.Kerned {
			c.b = f.kerned(c.b, table, w.Text)
		} else {
			c.b = f.literal(c.b, table, w.Text)
		}
	}
	return nil
}

// setFont sets font and size, which outlive the text object.
func (c *content) setFont(face *font.Face, size doc.Length) *fontRes {
	f := c.font
	if f == nil || f.face != face {
		f = c.e.fontOf(face)
	}
	if f != c.font || size != c.size {
		c.font, c.size = f, size
		c.b = cos.AppendName(c.b, f.name)
		c.b = append(c.b, ' ')
		c.b = cos.AppendFixed(c.b, int64(size), 3)
		c.b = append(c.b, " Tf\n"...)
	}
	return f
}

// moveTo begins a line of text at a place of the page.
func (c *content) moveTo(left, base doc.Length, slanted bool) {
	x, y := hundredths(left), hundredths(c.height-base)
	const td = " Td\n"
	move := td
	dx, dy := x-c.lineX, y-c.lineY
	if slanted || c.slanted { // the matrix is set anew: Td would move along the slant (9.4.2)
		move, dx, dy = " Tm\n", x, y
		if c.slanted = slanted; slanted {
			c.b = append(c.b, "1 0 .2126 1 "...) // 12 degrees
		} else {
			c.b = append(c.b, "1 0 0 1 "...)
		}
	}
	c.lineX, c.lineY = x, y
	//nolint:gosec // G115: a hash, and a stream in memory
	m, is := &c.moves[uint64(dx*31+dy)*0x9E3779B97F4A7C15>>57], moved{x: dx, y: dy, from: uint32(len(c.b))}
	if is.x == m.x && is.y == m.y && m.to > 0 && move == td { // as in most cells of a table
		is.at, is.to = is.from+m.at-m.from, is.from+m.to-m.from
		c.repeats = append(c.repeats, cos.Repeat{At: is.at, Of: m.at})
		c.b = append(c.b, c.b[m.from:m.to]...)
		*m = is
		c.lastMove = int(is.at)
		return
	}
	c.num(dx)
	of := c.lastMove
	c.lastMove = len(c.b)
	c.repeat(of)
	c.b = append(c.b, ' ')
	c.num(dy)
	c.b = append(c.b, move...)
	if move == td {
		is.at, is.to = uint32(c.lastMove), uint32(len(c.b)) //nolint:gosec // G115: as above
		*m = is
	}
}

// embolden has glyphs filled and stroked (9.3.6): that is bold where a family has no such face.
func (c *content) embolden(ps *layout.PieceStyle) {
	c.judge(opStrokeColor)
	c.rgb(ps.Color, "RG\n")
	c.b = cos.AppendFixed(c.b, int64(ps.Size/30), 3)
	c.b = append(c.b, " w 2 Tr\n"...)
}

// part shows the glyphs of a part, and states the text of those that do not say
// it themselves (14.9.4).
func (c *content) part(w *words, p *text.Part, ps *layout.PieceStyle) error {
	if p.Plain && w.spacing == 0 {
		w.plain(p)
		return nil
	}
	// A reader takes letters a tenth of their size apart for words.
	if p.Replaced || w.spacing*10 >= 1000*w.upem {
		for i := range p.Glyphs {
			w.font.use.Add(p.Glyphs[i].ID, p.Text)
		}
		w.actual(p.Glyphs, p.Text)
		return nil
	}
	for i := 0; i < len(p.Glyphs); {
		at := int(p.Glyphs[i].Cluster)
		j := i + 1
		for j < len(p.Glyphs) && int(p.Glyphs[j].Cluster) == at {
			j++
		}
		to := len(p.Text)
		switch {
		case p.RTL && i > 0:
			to = int(p.Glyphs[i-1].Cluster)
		case !p.RTL && j < len(p.Glyphs):
			to = int(p.Glyphs[j].Cluster)
		}
		cluster := p.Text[at:to]
		if ps.Elem != nil && !c.e.o.Force {
			if r, _ := utf8.DecodeRuneInString(cluster); r >= 0xE000 {
				if err := c.e.check.Text(p.Text, ps.Elem.Src).Err(); err != nil {
					return err
				}
			}
		}
		glyphs := upright(p.Glyphs[i:j])
		if len(glyphs) == j-i && w.font.says(glyphs, cluster) {
			for k := range glyphs {
				w.glyph(glyphs[k])
			}
		} else {
			for k := range p.Glyphs[i:j] {
				// Each glyph says something, whatever is stated around it (ISO 14289-2, 8.4.5.8).
				w.font.use.Add(p.Glyphs[i+k].ID, cluster)
			}
			w.actual(glyphs, cluster)
			if i += len(glyphs); i < j {
				w.actual(p.Glyphs[i:j], "")
			}
		}
		w.want += w.spacing
		i = j
	}
	return nil
}

// upright returns the glyphs of a cluster up to the marks at its end that stand beside where
// the advances put them. What precedes them states the text of the whole cluster and they
// state none: a reader would take the place of a mark for the end of the letter.
func upright(glyphs []text.Glyph) []text.Glyph {
	n := len(glyphs)
	for n > 1 && glyphs[n-1].X|glyphs[n-1].Y != 0 {
		n--
	}
	return glyphs[:n]
}

// says reports whether the glyphs extract as the cluster they stand for.
func (f *fontRes) says(glyphs []text.Glyph, cluster string) bool {
	if len(glyphs) == 1 {
		r, n := utf8.DecodeRuneInString(cluster)
		if n == len(cluster) {
			return f.use.AddRune(glyphs[0].ID, r)
		}
		return f.use.Add(glyphs[0].ID, cluster)
	}
	if utf8.RuneCountInString(cluster) != len(glyphs) {
		for i := range glyphs {
			f.use.Add(glyphs[i].ID, "")
		}
		return false
	}
	ok, i := true, 0
	for _, r := range cluster {
		ok = f.use.AddRune(glyphs[i].ID, r) && ok
		i++
	}
	return ok
}

// figure begins a drawing in the rectangle x, y, w, h, counted from the top left corner.
func (c *content) figure(el *tag.Elem, art layout.Artifact, inline bool, x, y, w, h doc.Length) error {
	c.endText()
	if err := c.mark(el, art); err != nil {
		return err
	}
	if el != nil && c.e.tree != nil {
		if c.turned != nil {
			r := c.turned.OnPage(layout.Rect{X: x, Y: y, W: w, H: h})
			x, y, w, h = r.X, r.Y, r.W, r.H
		}
		return c.e.figureBox(el, inline, x, c.pi.h-y-h, w, h)
	}
	return nil
}

// items draws items in their order.
func (c *content) items(items []layout.Item) error {
	for i := range items {
		var err error
		switch it := &items[i]; {
		case it.Text != nil:
			err = c.text(it.Text)
		case it.Words != nil:
			err = c.wordsOf(it.Words)
		case it.Image != nil:
			err = c.image(it.Image)
		case it.Turn != nil:
			err = c.turn(it.Turn)
		case it.Widget != nil:
			err = c.widget(it.Widget)
		default:
			err = c.shape(it.Shape)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// turn draws what is turned, in a coordinate system whose origin is its top left corner.
func (c *content) turn(it *layout.TurnItem) error {
	c.end()
	around := *c
	x, y := hundredths(it.X), hundredths(c.height-it.Y-it.H)
	c.b = append(c.b, "q 0 "...)
	if it.Turn == doc.TurnRight {
		c.b = append(c.b, "-1 1 0 "...)
		x, y = hundredths(it.X+it.W), hundredths(c.height-it.Y)
	} else {
		c.b = append(c.b, "1 -1 0 "...)
	}
	c.num(x)
	c.b = append(c.b, ' ')
	c.num(y)
	c.b = append(c.b, " cm\n"...)
	c.height, c.turned = 0, it
	if err := c.back(it.Back); err != nil {
		return err
	}
	if err := c.items(it.Items); err != nil {
		return err
	}
	c.end()
	c.b = append(c.b, "Q\n"...)
	c.height, c.turned, c.font, c.size, c.color = around.height, nil, around.font, around.size, around.color
	return nil
}

// shape draws rectangles.
func (c *content) shape(it *layout.ShapeItem) error {
	if err := c.figure(it.Elem, it.Artifact, false, it.X, it.Y, it.W, it.H); err != nil {
		return err
	}
	c.rects(it.Rects)
	return nil
}

// image draws an image.
func (c *content) image(it *layout.ImageItem) error {
	if err := c.figure(it.Elem, it.Artifact, it.Inline, it.X, it.Y, it.W, it.H); err != nil {
		return err
	}
	if f := it.Full; f != nil {
		c.b = append(c.b, "q "...)
		for _, v := range [4]int64{hundredths(it.X), hundredths(c.height - it.Y - it.H), hundredths(it.W), hundredths(it.H)} {
			c.num(v)
			c.b = append(c.b, ' ')
		}
		c.b = append(c.b, "re W n "...)
		whole := *it
		whole.X, whole.Y, whole.W, whole.H = it.X+f.X, it.Y+f.Y, f.W, f.H
		if err := c.imageObject(&whole); err != nil {
			return err
		}
		c.b = append(c.b, "Q\n"...)
		return nil
	}
	return c.imageObject(it)
}

// imageObject draws all of an image.
func (c *content) imageObject(it *layout.ImageItem) error {
	if it.Drawing != nil {
		return c.drawing(it)
	}
	if x := it.Image.XObject(); x.Space == "DeviceCMYK" && x.Profile == nil && !c.e.o.Force {
		if err := c.e.check.CMYK(it.Src).Err(); err != nil {
			return err
		}
	}
	if err := c.e.opaqueImage(it); err != nil {
		return err
	}
	res, err := c.e.imageOf(it.Image)
	if err != nil {
		return err
	}
	// The matrix is orientation times placement.
	m := it.Image.Matrix()
	x, y := hundredths(it.X), hundredths(c.height-it.Y-it.H)
	w, h := hundredths(it.W), hundredths(it.H)
	c.b = append(c.b, "q "...)
	for _, v := range [6]int64{
		int64(m[0]) * w, int64(m[1]) * h, int64(m[2]) * w, int64(m[3]) * h, int64(m[4])*w + x, int64(m[5])*h + y,
	} {
		c.num(v)
		c.b = append(c.b, ' ')
	}
	c.b = append(c.b, "cm "...)
	c.show(opDraw)
	c.b = cos.AppendName(c.b, res.name)
	c.b = append(c.b, " Do Q\n"...)
	return nil
}
