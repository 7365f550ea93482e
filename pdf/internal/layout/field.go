package layout

import (
	"slices"
	"strconv"
	"strings"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/font"
	"example.com/quire/pdf/internal/tag"
	"example.com/quire/pdf/internal/text"
)

// WidgetItem is a place where a form field is shown, and what is shown there.
type WidgetItem struct {
	X, Y, W, H doc.Length
	Field      *doc.Field
	// Option is what the field holds when this button is on; of other kinds it is empty.
	Option string
	Label  string
	Style  *doc.Style
	Face   *font.Face // of letters that are typed
	Size   doc.Length // of them; 0: as large as fits
	Lead   doc.Length // between lines of them
	Look   Look
	Elem   *tag.Elem // the element Form; nil when the document is not tagged
}

// Look is the appearance of a field. Its places count from the top left corner of the widget.
type Look struct {
	Back  []RectItem
	Texts []Item
	Clip  Rect // of Texts
	// Mark is drawn in a button that is on.
	Mark Glyph
	// Frame is a circle around and behind a round button; nil: there is none.
	Frame *Circle
}

// Glyph is the mark of a button.
type Glyph uint8

// The marks.
const (
	MarkNone Glyph = iota
	MarkCheck
	MarkDot
)

// Circle is a circle that fills the widget.
type Circle struct {
	Line       doc.Line
	Background doc.Color
}

const (
	fieldPadding = 2 * doc.Pt
	fieldGap     = 6 * doc.Pt // above and below
	leastLetters = 4 * doc.Pt
	manyLines    = 4 // of text, where no height is asked for
	mostShown    = 6 // options of a list, alike
)

// button is a field without its caption, or one of the buttons of a group.
type button struct {
	doc.Block
	field  *doc.Field
	option string
	label  string
}

// field sets a field with its caption, and radio buttons below each other with theirs.
func (m *maker) field(n *doc.Field, en env) (block, error) {
	if m.inArtifact() {
		return nil, neverArtifact("a form field", n.Src)
	}
	if m.art != ArtifactNone {
		return nil, failed(at(n.Src, codeField, "a form field is allowed in the body, not where it is printed several times"))
	}
	if m.noNotes == inTurned {
		return nil, failed(at(n.Src, codeField, "a form field is not allowed in rotated content"))
	}
	if why := fault(n); why != "" {
		return nil, m.badField(n, why)
	}
	captioned := n.Caption == doc.CaptionAuto
	plain := m.derive(en.style, derivedPlain)
	one := func(option, label string) *button {
		b := m.mem.buttons.One()
		*b = button{Block: doc.Block{Src: n.Src, Lang: n.Lang}, field: n, option: option, label: label}
		return b
	}
	said := func(s string) *doc.Text {
		c := m.mem.captions.One()
		c.spans[0].Text = s
		c.Text = doc.Text{Block: doc.Block{Src: n.Src, Lang: n.Lang, KeepWithNext: true, Style: plain}, Spans: c.spans[:]}
		return &c.Text
	}
	beside := func(b *button, s string) doc.Node {
		if !captioned {
			return b
		}
		f, err := m.face(en.style, n.Src)
		if err != nil {
			return b // which fails alike
		}
		return &doc.Beside{
			Block: doc.Block{Src: n.Src, Style: plain}, Widths: []doc.Width{doc.Fixed(side(n, f)), doc.Fr(1)}, Gap: 2 * fieldPadding,
			Cells: [][]doc.Node{{b}, {said(s)}}, VAlign: doc.VAlignMiddle,
		}
	}
	var room [3]doc.Node
	nodes := room[:0]
	switch n.Kind {
	case doc.FieldRadio:
		if captioned {
			nodes = append(nodes, said(n.Label))
		}
		for _, o := range n.Options {
			nodes = append(nodes, beside(one(o.Value, n.Label+": "+o.Shown()), o.Shown()))
		}
	case doc.FieldCheckBox:
		nodes = append(nodes, beside(one(onValue(n), n.Label), n.Label))
	case doc.FieldButton:
		nodes = append(nodes, one("", n.Label))
	default:
		if captioned {
			nodes = append(nodes, said(n.Label), &underCaption)
		}
		nodes = append(nodes, one("", n.Label))
	}
	return m.stack(nodes, en)
}

// caption is the text that says what a field is for.
type caption struct {
	doc.Text
	spans [1]doc.Span
}

// underCaption lies between a caption and its field.
var underCaption = doc.Spacer{Height: fieldPadding / 2}

// onValue is what a check box holds when it is on.
func onValue(n *doc.Field) string {
	if len(n.Options) > 0 {
		return n.Options[0].Value
	}
	return "Yes"
}

// badField is the error of a field, with the data that its value is of.
func (m *maker) badField(n *doc.Field, why string) error {
	d := at(n.Src, codeField, "the form field %q: %s", n.Name, why)
	switch {
	case len(n.Values) > 0:
		d = fromData(d, n.From, n.Values[0])
	case n.Action != "":
		d = fromData(d, n.From, n.Action)
	}
	return failed(d)
}

// fault says what is wrong with a field; empty: nothing.
func fault(n *doc.Field) string {
	chosen := n.Kind == doc.FieldRadio || n.Kind == doc.FieldList || n.Kind == doc.FieldChoice
	switch {
	case n.Name == "" || n.Name[0] == '.' || n.Name[len(n.Name)-1] == '.' || strings.Contains(n.Name, ".."):
		return "it needs a name, whose parts between full stops are not empty"
	case strings.TrimSpace(n.Label) == "":
		return "it needs a label, which says what is to be entered"
	case len(n.Name) > 500 || strings.ContainsFunc(n.Name, func(r rune) bool { return r < ' ' }):
		return "its name is too long, or has control characters"
	case chosen && len(n.Options) == 0:
		return "it needs options"
	case n.Kind == doc.FieldSignature && len(n.Values) > 0:
		return "a place for a signature has no value"
	case n.Kind == doc.FieldButton && (len(n.Values) > 0 || n.Required):
		return "a button has no value"
	case n.Kind == doc.FieldButton && n.Action == "":
		return "a button has an action: reset, or an address"
	case n.Kind != doc.FieldButton && n.Action != "":
		return "it is no button, and has no action"
	case len(n.Values) > 1 && (n.Kind != doc.FieldList || !n.Multiple):
		return "it has one value"
	case n.Password && (n.Kind != doc.FieldText || len(n.Values) > 0):
		return "a password is a text, and no file holds its value"
	case n.Comb && (n.Max <= 0 || n.Multiline || n.Password || n.Kind != doc.FieldText):
		return "a comb is one line of a text of so many characters at most"
	case n.Max < 0:
		return "it takes a number of characters of 0 or more"
	}
	seen := make(map[string]bool, len(n.Options))
	for _, o := range n.Options {
		if seen[o.Value] {
			return "the option " + strconv.Quote(o.Value) + " is there twice"
		}
		seen[o.Value] = true
		if (n.Kind == doc.FieldRadio || n.Kind == doc.FieldCheckBox) && (o.Value == "" || o.Value == "Off" || len(o.Value) > 120 || strings.Contains(o.Value, "\x00")) {
			return "the option " + strconv.Quote(o.Value) + " is none that a button can stand for"
		}
	}
	for _, v := range n.Values {
		switch {
		case v == "":
		case n.Kind == doc.FieldText && n.Max > 0 && characters(v) > n.Max:
			return strconv.Itoa(characters(v)) + " characters, and at most " + strconv.Itoa(n.Max)
		case n.Kind == doc.FieldText && !n.Multiline && strings.ContainsAny(v, "\r\n"):
			return "a line end in a text of one line"
		case n.Kind == doc.FieldCheckBox && v != onValue(n), chosen && !seen[v] && !n.Editable:
			return "no option " + strconv.Quote(v)
		}
	}
	return ""
}

// characters is how many characters readers count in a text: units of UTF-16.
func characters(s string) (n int) {
	for _, r := range s {
		if n++; r > 0xFFFF {
			n++
		}
	}
	return n
}

// side is how wide and high a button is.
func side(n *doc.Field, f *face) doc.Length {
	if n.Width > 0 {
		return n.Width
	}
	return f.ascent + f.descent
}

// widget is one place of a field.
type widget struct {
	dx   doc.Length
	item WidgetItem
}

func (b *widget) size() doc.Length                              { return b.item.H }
func (b *widget) baseline() (doc.Length, bool)                  { return 0, false }
func (b *widget) split(avail doc.Length, _ bool) (block, block) { return whole(b, avail) }

func (b *widget) draw(p *painter, x, y doc.Length) {
	it := p.widgets.One()
	*it = b.item
	it.X, it.Y = x+b.dx, y
	p.page.Items = append(p.page.Items, Item{Widget: it})
}

// widget finds the size of a field and makes what it shows.
func (m *maker) widget(n *button, en env) (block, *tag.Elem, error) {
	d := n.field
	f, err := m.face(en.style, n.Src)
	if err != nil {
		return nil, nil, err
	}
	l := m.mem.look()
	l.m, l.n, l.en, l.face, l.inset = m, d, en, f, d.Border.Width+fieldPadding
	isButton := d.Kind == doc.FieldRadio || d.Kind == doc.FieldCheckBox
	switch l.w, l.h = d.Width, d.Height; {
	case isButton:
		l.w = side(d, f)
		if l.h <= 0 {
			l.h = l.w
		}
	case d.Kind == doc.FieldButton:
		if l.w <= 0 {
			if l.w, err = l.wide(d.Label); err != nil {
				return nil, nil, err
			}
		}
	case l.w <= 0 && d.Kind == doc.FieldSignature:
		l.w = min(doc.MM(70), en.width)
	case l.w <= 0:
		l.w = en.width
	}
	if l.h <= 0 {
		lines := 1
		switch {
		case d.Kind == doc.FieldSignature:
			l.h = doc.MM(20)
		case d.Kind == doc.FieldList:
			lines = min(len(d.Options), mostShown)
		case d.Multiline:
			lines = manyLines
		}
		if l.h <= 0 {
			l.h = doc.Length(lines)*f.lead + 2*l.inset
		}
	}
	if l.w > en.width {
		return nil, nil, failed(at(n.Src, "L306", "the field %q is %s wide in a place of %s", d.Name, mm(l.w), mm(en.width)))
	}
	c, err := m.chain(f, 0, n.Src)
	if err != nil {
		return nil, nil, err
	}
	b := m.mem.widgets.One()
	b.item = WidgetItem{Face: c.Face(), W: l.w, H: l.h, Field: d, Option: n.option, Label: n.label, Style: en.style, Size: f.size, Lead: f.lead}
	if d.Fit {
		b.item.Size = 0
	}
	switch en.align() {
	case doc.AlignRight:
		b.dx = en.width - l.w
	case doc.AlignCenter:
		b.dx = (en.width - l.w) / 2
	}
	if isButton {
		b.dx = 0
	}
	if b.item.Look, err = l.look(); err != nil {
		return nil, nil, err
	}
	b.item.Elem = m.elem(en.elem, tag.Form, n.Src, n.Lang)
	return b, b.item.Elem, nil
}

// look makes the appearance of a field, which is in its page.
type look struct {
	m     *maker
	n     *doc.Field
	en    env
	face  *face
	w, h  doc.Length
	inset doc.Length // from the edge to the text
	sub   painter
	page  Page
}

func (l *look) look() (Look, error) {
	l.page.Width, l.page.Height = l.w, l.h
	l.sub.page = &l.page
	n := l.n
	out := Look{Clip: Rect{X: n.Border.Width, Y: n.Border.Width, W: max(l.w-2*n.Border.Width, 0), H: max(l.h-2*n.Border.Width, 0)}}
	if n.Round {
		out.Frame = &Circle{Line: n.Border, Background: n.Background}
	} else {
		l.sub.fill(0, 0, l.w, l.h, n.Background)
		l.sub.frame(0, 0, l.w, l.h, doc.Around(n.Border))
	}
	var err error
	switch n.Kind {
	case doc.FieldCheckBox:
		out.Mark = MarkCheck
	case doc.FieldRadio:
		out.Mark = MarkDot
	case doc.FieldList:
		err = l.options()
	case doc.FieldSignature:
		err = l.signature()
	case doc.FieldButton:
		centred := *l.en.style
		centred.Align = doc.AlignCenter
		l.en.style = &centred
		err = l.line(n.Label)
	default:
		switch s := l.shown(); {
		case s == "":
		case n.Comb:
			err = l.comb(s)
		case n.Multiline:
			err = l.lines(s, l.inset, n.Fit)
		default:
			err = l.line(s)
		}
	}
	if n.Comb && n.Border.Width > 0 {
		for i := 1; i < n.Max; i++ {
			l.sub.line(l.cell(i)-n.Border.Width/2, n.Border.Width, n.Border.Width, l.h-2*n.Border.Width, n.Border)
		}
	}
	l.sub.finish()
	out.Back, out.Texts = l.page.Back, l.page.Items
	return out, err
}

// shown is the text of a field with one value.
func (l *look) shown() string {
	if len(l.n.Values) == 0 {
		return ""
	}
	v := l.n.Values[0]
	for _, o := range l.n.Options {
		if o.Value == v {
			return o.Shown()
		}
	}
	return v
}

// set breaks a text into lines at a size.
func (l *look) set(s string, size, width doc.Length) (*para, error) {
	st := l.m.mem.derived.One()
	*st = *l.en.style
	if size > 0 && size != l.face.size {
		st.Size, st.Leading = size, 0
	}
	st.Align, st.Indent, st.MarginLeft, st.MarginRight = doc.AlignLeft, 0, 0, 0
	if width < text.Unlimited {
		st.Align = l.en.align()
		if st.Align == doc.AlignJustify || st.Align == doc.AlignStart {
			st.Align = doc.AlignLeft
		}
	}
	en := l.en
	en.style, en.width, en.sign = st, width, 0
	b, err := l.m.text([]doc.Span{{Text: s, From: l.n.From}}, en, nil, l.n.Src, "")
	if err != nil {
		return nil, err
	}
	return b.(*para), nil //nolint:forcetypeassert // m.text makes no other block
}

// reset forgets the field, and keeps the memory of its look for another.
func (l *look) reset() {
	l.sub.turn()
	*l = look{
		page: Page{Back: emptied(l.page.Back), Items: emptied(l.page.Items)},
		sub:  painter{rules: emptied(l.sub.rules), texts: l.sub.texts},
	}
}

// wide is how wide a button is for its caption.
func (l *look) wide(caption string) (doc.Length, error) {
	b, err := l.set(caption, l.face.size, text.Unlimited)
	if err != nil {
		return 0, err
	}
	return min(longestLine(b)+4*l.inset, l.en.width), nil
}

func longestLine(b *para) (w doc.Length) {
	for i := range b.lines {
		w = max(w, b.lines[i].Width)
	}
	return w
}

// line sets a text of one line, in the middle of the height.
func (l *look) line(s string) error {
	room := l.w - 2*l.inset
	b, err := l.set(s, l.high(), text.Unlimited)
	if err != nil {
		return err
	}
	if w := longestLine(b); l.n.Fit && w > room && room > 0 {
		if b, err = l.set(s, max(b.face.size*room/w, leastLetters), text.Unlimited); err != nil {
			return err
		}
	}
	w := longestLine(b)
	x := l.inset
	if w > room {
		l.m.warnings = append(l.m.warnings, warning(at(l.n.Src, codeCutOff, "the field %q cuts its value off: it is %s wide, there are %s", l.n.Name, mm(w), mm(room))))
	} else {
		switch l.en.align() {
		case doc.AlignRight:
			x = l.w - l.inset - w
		case doc.AlignCenter:
			x = (l.w - w) / 2
		}
	}
	b.draw(&l.sub, x, (l.h-b.size())/2)
	return nil
}

// high is the size of letters of one line: those of the style, or as high as the field.
func (l *look) high() doc.Length {
	if !l.n.Fit {
		return l.face.size
	}
	room := l.h - 2*l.n.Border.Width - fieldPadding
	return max(l.face.size*room/max(l.face.ascent+l.face.descent, 1), leastLetters)
}

// signature shows what the field does when the document is signed in it.
func (l *look) signature() error {
	var picture ImageItem
	if img := l.n.Picture; img != nil {
		var err error
		if picture, picture.W, picture.H, err = l.m.open(img); err != nil {
			return err
		}
	}
	if l.m.opt.Signatory == nil || l.n.Name != l.m.opt.Signed {
		return nil
	}
	lines := l.m.opt.Signatory.Shown(l.n.Show)
	left := l.inset
	if w, h := l.w-2*l.inset, l.h-2*l.inset; l.n.Picture != nil && w > 0 && h > 0 {
		if len(lines) > 0 {
			w = (w - l.inset) / 2
			left += w + l.inset
		}
		picture.X, picture.Y = l.inset, l.inset
		picture.W, picture.H = shown(&doc.Image{Width: w, Height: h}, picture.W, picture.H)
		picture.X += (w - picture.W) / 2
		picture.Y += (h - picture.H) / 2
		picture.Src = l.n.Picture.Src
		l.page.Items = append(l.page.Items, Item{Image: &picture})
	}
	if len(lines) == 0 {
		return nil
	}
	return l.lines(strings.Join(lines, "\n"), left, true)
}

// lines sets a text of several lines from the top, right of left, smaller where it is to fit.
func (l *look) lines(s string, left doc.Length, fit bool) error {
	room := l.w - left - l.inset
	b, err := l.set(s, l.face.size, room)
	if err != nil {
		return err
	}
	for size := l.face.size; fit && b.size() > l.h-2*l.inset && size > leastLetters; {
		size = max(size-doc.Pt/2, leastLetters)
		if b, err = l.set(s, size, room); err != nil {
			return err
		}
	}
	if high := l.h - 2*l.inset; b.size() > high {
		l.m.warnings = append(l.m.warnings, warning(at(l.n.Src, codeCutOff, "the field %q cuts its value off: it is %s high, there are %s", l.n.Name, mm(b.size()), mm(high))))
	}
	b.draw(&l.sub, left, l.inset)
	return nil
}

// cell is where the i-th cell of a comb begins.
func (l *look) cell(i int) doc.Length { return l.w * doc.Length(i) / doc.Length(l.n.Max) }

// comb sets each character in the middle of its cell.
func (l *look) comb(s string) error {
	size := l.high()
	first := 0 // cell
	count := 0
	for rest := s; rest != ""; rest = rest[text.ClusterLen(rest):] {
		count++
	}
	switch l.en.align() {
	case doc.AlignRight:
		first = l.n.Max - count
	case doc.AlignCenter:
		first = (l.n.Max - count) / 2
	}
	for i := max(first, 0); s != ""; i++ {
		n := text.ClusterLen(s)
		b, err := l.set(s[:n], size, text.Unlimited)
		if err != nil {
			return err
		}
		if w := longestLine(b); w > 0 {
			b.draw(&l.sub, (l.cell(i)+l.cell(i+1)-w)/2, (l.h-b.size())/2)
		}
		s = s[n:]
	}
	return nil
}

// selected is behind the options of a list that are chosen.
var selected = doc.RGB(0xB8, 0xD4, 0xEC)

// options sets those of a list, the first one that is chosen among them.
func (l *look) options() error {
	room := l.h - 2*l.inset
	fit := max(int(room/l.face.lead), 1)
	first := max(slices.IndexFunc(l.n.Options, func(o doc.FieldOption) bool { return slices.Contains(l.n.Values, o.Value) }), 0)
	first = max(min(first, len(l.n.Options)-fit), 0)
	y := l.inset
	for _, o := range l.n.Options[first:min(first+fit, len(l.n.Options))] {
		b, err := l.set(o.Shown(), 0, text.Unlimited)
		if err != nil {
			return err
		}
		if slices.Contains(l.n.Values, o.Value) {
			l.sub.fill(l.n.Border.Width, y, l.w-2*l.n.Border.Width, b.face.lead, selected)
		}
		b.draw(&l.sub, l.inset, y)
		y += b.face.lead
	}
	return nil
}
