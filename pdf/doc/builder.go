package doc

// Builder makes a Document in Go, with the same nodes as the template language. Methods return the
// builder for chaining and never fail; problems are reported when the document is laid out. A
// Builder is for one goroutine.
type Builder struct {
	doc   Document
	nodes []Node
}

// NewBuilder returns a builder of an empty A4 document.
func NewBuilder() *Builder { return &Builder{doc: Document{Page: A4()}} }

// Document returns the document built so far.
func (b *Builder) Document() *Document {
	d := b.doc
	d.Body = Nodes(b.nodes...)
	return &d
}

// Title sets the title, which PDF/UA requires, and shows it in the title bar.
func (b *Builder) Title(s string) *Builder {
	b.doc.Title = s
	return b
}

// Lang sets the language of the document, a tag as in "en-IN".
func (b *Builder) Lang(tag string) *Builder {
	b.doc.Lang = tag
	return b
}

// DecimalSign sets the character that decimal tab stops and columns align: "," in most of Europe.
func (b *Builder) DecimalSign(sign string) *Builder {
	b.doc.DecimalSign = sign
	return b
}

// Meta sets author, subject and keywords.
func (b *Builder) Meta(m Meta) *Builder {
	b.doc.Meta = m
	return b
}

// Page sets size and margins of all pages.
func (b *Builder) Page(m Master) *Builder {
	b.doc.Page = m
	return b
}

// Style sets the style of everything without a style.
func (b *Builder) Style(s *Style) *Builder {
	b.doc.BaseStyle = s
	return b
}

// Fonts sets the fonts that the document brings along.
func (b *Builder) Fonts(f *Fonts) *Builder {
	b.doc.Fonts = f
	return b
}

// Theme sets how everything is set that names no style, as in
// Theme(DefaultTheme(base)).
func (b *Builder) Theme(t *Theme) *Builder {
	b.doc.Theme = t
	return b
}

// Header sets the running headers. They are in the top margin. If one is higher than the margin,
// the body of its page is smaller.
func (b *Builder) Header(r Running) *Builder {
	b.doc.Header = r
	return b
}

// Footer sets the running footers, which are in the bottom margin.
func (b *Builder) Footer(r Running) *Builder {
	b.doc.Footer = r
	return b
}

// Background sets what covers the sheets, such as a letterhead.
func (b *Builder) Background(r Running) *Builder {
	b.doc.Background = r
	return b
}

// Shape appends a shape. alt is the alternative text; empty: it is an artifact.
func (b *Builder) Shape(s Shape, alt string) *Builder { return b.Add(s.Image(alt)) }

// Sign asks for a signature.
func (b *Builder) Sign(s Signing) *Builder {
	b.doc.Signing = &s
	return b
}

// Protect encrypts the document.
func (b *Builder) Protect(p Protection) *Builder {
	b.doc.Protection = &p
	return b
}

// Watermark sets a text behind the content of every page.
func (b *Builder) Watermark(w Watermark) *Builder {
	b.doc.Watermark = &w
	return b
}

// Viewer says how a viewer opens and prints the document.
func (b *Builder) Viewer(v Viewer) *Builder {
	b.doc.Viewer = v
	return b
}

// Attach adds a file that the document carries.
func (b *Builder) Attach(a Attachment) *Builder {
	b.doc.Attachments = append(b.doc.Attachments, a)
	return b
}

// Outline gives the outline, in the place of the bookmarks of the blocks.
func (b *Builder) Outline(items ...OutlineItem) *Builder {
	b.doc.Outline = items
	return b
}

// OutlineLevels puts all headings down to a level into the outline.
func (b *Builder) OutlineLevels(n int) *Builder {
	b.doc.OutlineLevels = n
	return b
}

// NumberHeadings numbers all headings down to a level.
func (b *Builder) NumberHeadings(n int) *Builder {
	b.doc.NumberHeadings = n
	return b
}

// References says that the body contains numbers of pages or headings; see Document.References.
func (b *Builder) References() *Builder {
	b.doc.References = true
	return b
}

// Add appends nodes.
func (b *Builder) Add(nodes ...Node) *Builder {
	b.nodes = append(b.nodes, nodes...)
	return b
}

// TextOption changes one text or heading.
type TextOption func(*Block, *[]Span, *[]Tab)

// In sets the style of the text.
func In(s *Style) TextOption { return func(b *Block, _ *[]Span, _ *[]Tab) { b.Style = s } }

// Anchor names the text for links to "#name".
func Anchor(name string) TextOption { return func(b *Block, _ *[]Span, _ *[]Tab) { b.Anchor = name } }

// ID names the element of the text in the structure tree.
func ID(name string) TextOption { return func(b *Block, _ *[]Span, _ *[]Tab) { b.ID = name } }

// Bookmark puts the text into the outline under the given title.
func Bookmark(title string) TextOption {
	return func(b *Block, _ *[]Span, _ *[]Tab) { b.Bookmark = title }
}

// LinkTo makes the whole text a link to a URL or to "#anchor".
func LinkTo(target string) TextOption {
	return func(_ *Block, spans *[]Span, _ *[]Tab) {
		for i := range *spans {
			(*spans)[i].Link = target
		}
	}
}

// Tabs sets where the tabs of the text lead to, in the order of their places.
func Tabs(stops ...Tab) TextOption { return func(_ *Block, _ *[]Span, tabs *[]Tab) { *tabs = stops } }

// Heading appends a heading of level 1 to 9. It stays on the page of the block
// after it.
func (b *Builder) Heading(level int, s string, o ...TextOption) *Builder {
	h := &Heading{Level: level, Spans: []Span{{Text: s}}}
	for _, f := range o {
		f(&h.Block, &h.Spans, &h.Tabs)
	}
	return b.Add(h)
}

// Text appends a paragraph. It splits over pages by lines, never leaving a
// single one.
func (b *Builder) Text(s string, o ...TextOption) *Builder {
	return b.Spans([]Span{{Text: s}}, o...)
}

// Spans appends a paragraph of several spans.
func (b *Builder) Spans(spans []Span, o ...TextOption) *Builder {
	t := &Text{Spans: spans}
	for _, f := range o {
		f(&t.Block, &t.Spans, &t.Tabs)
	}
	return b.Add(t)
}

// List appends a list of one-paragraph items. It splits between and inside
// items.
func (b *Builder) List(m Marker, items ...string) *Builder {
	l := &List{Marker: m}
	for _, s := range items {
		l.Items = append(l.Items, ListItem{Nodes: []Node{&Text{Spans: []Span{{Text: s}}}}})
	}
	return b.Add(l)
}

// Table appends a table that f completes, by its Rows above all. It splits
// between and inside rows and repeats its head on every page.
func (b *Builder) Table(cols []Column, f func(*Table)) *Builder {
	t := &Table{Columns: cols}
	f(t)
	return b.Add(t)
}

// Image appends an image. It never splits.
func (b *Builder) Image(img Image) *Builder { return b.Add(&img) }

// Barcode appends a barcode of the default size. alt is the alternative text: what the code is for.
func (b *Builder) Barcode(kind Symbology, value, alt string) *Builder {
	return b.Add(&Barcode{Symbology: kind, Value: value, Alt: alt})
}

// Rule appends a horizontal line.
func (b *Builder) Rule() *Builder { return b.Add(&Rule{}) }

// Space appends empty space, which vanishes at the end of a page.
func (b *Builder) Space(h Length) *Builder { return b.Add(&Spacer{Height: h}) }

// PageBreak ends the page.
func (b *Builder) PageBreak() *Builder { return b.Add(&PageBreak{}) }
