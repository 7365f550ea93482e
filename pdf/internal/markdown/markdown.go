// Package markdown converts CommonMark with the tables of GitHub Flavored Markdown to nodes of a
// document. github.com/yuin/goldmark parses; this package decides the layout.
//
// No text is dropped: raw HTML appears on the page as it was written. An image appears as its
// description, because a text may not refer to files.
package markdown

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	table "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"example.com/quire/pdf/doc"
)

// The most that one text may have.
const (
	maxBytes = 1 << 20
	maxDepth = 16 // of quotations and lists within each other
)

// Options say how the parts look and where they come from.
type Options struct {
	Src      *doc.Source
	Lang     string
	From     doc.Origin
	Level    int                        // level of the heading that is # in the text
	Headings func(level int) *doc.Style // nil: layout's own
	Text     *doc.Style                 // of everything else, and what columns of tables are derived from
	Link     func(target string) bool   // whether a link may lead there
}

// converter is one conversion.
type converter struct {
	Options
	src       []byte
	paragraph *doc.Style // with space around it
	columns   map[doc.Align]*doc.Style
	depth     int
}

// Nodes converts a text. The error names what of it cannot be set.
func Nodes(src string, o Options) ([]doc.Node, error) {
	if len(src) > maxBytes {
		return nil, fmt.Errorf("the text has %d bytes, at most %d are allowed", len(src), maxBytes)
	}
	c := &converter{Options: o, src: []byte(src), columns: map[doc.Align]*doc.Style{}}
	spaced := *o.Text
	spaced.SpaceBefore, spaced.SpaceAfter = max(spaced.SpaceBefore, half(o.Text)), max(spaced.SpaceAfter, half(o.Text))
	c.paragraph = &spaced
	md := goldmark.New(goldmark.WithExtensions(extension.Table))
	return c.blocks(md.Parser().Parse(text.NewReader(c.src)))
}

func half(s *doc.Style) doc.Length {
	if s.Leading > 0 {
		return s.Leading / 2
	}
	return max(s.Size, 10*doc.Pt) * 5 / 8
}

func (c *converter) block() doc.Block {
	return doc.Block{Src: c.Src, Lang: c.Lang, Style: c.Text}
}

// blocks converts what a block contains.
func (c *converter) blocks(parent ast.Node) ([]doc.Node, error) {
	if c.depth++; c.depth > maxDepth {
		return nil, fmt.Errorf("quotations and lists are nested more than %d deep", maxDepth)
	}
	defer func() { c.depth-- }()
	var out []doc.Node
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		node, err := c.node(n)
		if err != nil {
			return nil, err
		}
		if node != nil {
			out = append(out, node)
		}
	}
	return out, nil
}

func (c *converter) node(n ast.Node) (doc.Node, error) {
	b := c.block()
	switch n := n.(type) {
	case *ast.Heading:
		level := min(c.Level+n.Level-1, 9)
		b.Style = nil
		if c.Headings != nil {
			b.Style = c.Headings(level)
		}
		spans, err := c.spans(n)
		return &doc.Heading{Block: b, Level: level, Spans: spans}, err
	case *ast.Paragraph:
		b.Style = c.paragraph
		spans, err := c.spans(n)
		return &doc.Text{Block: b, Spans: spans}, err
	case *ast.TextBlock: // of a list whose items stand close together
		spans, err := c.spans(n)
		return &doc.Text{Block: b, Spans: spans}, err
	case *ast.List:
		l := &doc.List{Block: b}
		if l.Style = c.paragraph; c.depth > 1 {
			l.Style = nil // within an item or a quotation the space of layout's own
		}
		if n.IsOrdered() {
			l.Marker, l.Start = doc.MarkerDecimal, n.Start
		}
		for item := n.FirstChild(); item != nil; item = item.NextSibling() {
			nodes, err := c.blocks(item)
			if err != nil {
				return nil, err
			}
			l.Items = append(l.Items, doc.ListItem{Src: c.Src, Nodes: nodes})
		}
		return l, nil
	case *ast.Blockquote:
		nodes, err := c.blocks(n)
		if err != nil || len(nodes) == 0 {
			return nil, err
		}
		b.Style = c.paragraph
		return &doc.Box{Block: b, Padding: doc.Edges{Left: doc.MM(5), Right: doc.MM(5)}, Nodes: nodes}, nil
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		return c.code(n.Lines(), true), nil
	case *ast.HTMLBlock:
		lines := n.Lines()
		if n.HasClosure() {
			lines.Append(n.ClosureLine)
		}
		return c.code(lines, false), nil
	case *ast.ThematicBreak:
		b.Style = nil
		return &doc.Rule{Block: b}, nil
	case *table.Table:
		return c.table(n)
	case *ast.LinkReferenceDefinition:
		return nil, nil // it is where links look their target up
	}
	return nil, fmt.Errorf("%s cannot be set", n.Kind())
}

// code is text that stands as it was written, line by line.
func (c *converter) code(lines *text.Segments, framed bool) doc.Node {
	var s strings.Builder
	for i := range lines.Len() {
		line := lines.At(i)
		s.Write(line.Value(c.src))
	}
	b := c.block()
	t := &doc.Text{Block: b, Spans: []doc.Span{{Text: keepSpaces(strings.TrimRight(s.String(), "\n")), Code: true, From: c.From}}}
	if !framed {
		t.Style = c.paragraph
		return t
	}
	b.Style = c.paragraph
	return &doc.Box{Block: b, Padding: doc.Same(doc.MM(2)), Background: doc.RGB(0xF3, 0xF4, 0xF7), Nodes: []doc.Node{t}}
}

var reIndent = regexp.MustCompile(`(?m)^[ \t]+|  +|\t`)

// keepSpaces makes those spaces no-break ones that a line of text would lose: at its beginning,
// and where several follow each other. A tab is four.
func keepSpaces(s string) string {
	return reIndent.ReplaceAllStringFunc(s, func(in string) string {
		return strings.Repeat("\u00A0", len(in)+3*strings.Count(in, "\t"))
	})
}

func (c *converter) table(n *table.Table) (doc.Node, error) {
	t := &doc.Table{Block: c.block()}
	t.Style = c.paragraph
	for _, a := range n.Alignments {
		t.Columns = append(t.Columns, doc.Column{Width: doc.Fr(1), Style: c.aligned(a), Src: c.Src})
	}
	var rows []doc.Row
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		row := doc.Row{Src: c.Src}
		for cell, i := r.FirstChild(), 0; cell != nil && i < len(t.Columns); cell, i = cell.NextSibling(), i+1 {
			spans, err := c.spans(cell)
			if err != nil {
				return nil, err
			}
			if _, head := r.(*table.TableHeader); head {
				t.Columns[i].Head = spans
			} else {
				row.Cells = append(row.Cells, doc.Cell{Src: c.Src, Spans: spans})
			}
		}
		if _, head := r.(*table.TableHeader); head {
			continue
		}
		for len(row.Cells) < len(t.Columns) {
			row.Cells = append(row.Cells, doc.Cell{Src: c.Src})
		}
		rows = append(rows, row)
	}
	t.Rows = doc.Rows(rows...)
	return t, nil
}

func (c *converter) aligned(a table.Alignment) *doc.Style {
	align, ok := map[table.Alignment]doc.Align{table.AlignRight: doc.AlignRight, table.AlignCenter: doc.AlignCenter, table.AlignLeft: doc.AlignLeft}[a]
	if !ok {
		return nil
	}
	if c.columns[align] == nil {
		s := *c.Text
		s.Align = align
		c.columns[align] = &s
	}
	return c.columns[align]
}

// spans converts inline content.
func (c *converter) spans(parent ast.Node) ([]doc.Span, error) {
	var out []doc.Span
	err := c.inline(parent, doc.Span{From: c.From}, &out)
	return out, err
}

func (c *converter) inline(parent ast.Node, look doc.Span, out *[]doc.Span) error {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		in := look
		put := func(s string) {
			in.Text = s
			*out = append(*out, in)
		}
		var err error
		switch n := n.(type) {
		case *ast.Text:
			s := string(n.Value(c.src))
			if !n.IsRaw() {
				s = string(util.UnescapePunctuations(util.ResolveNumericReferences(util.ResolveEntityNames([]byte(s)))))
			}
			switch {
			case n.HardLineBreak():
				s += "\n"
			case n.SoftLineBreak():
				s += " "
			}
			put(s)
		case *ast.String:
			put(string(n.Value))
		case *ast.CodeSpan:
			in.Code = true
			err = c.inline(n, in, out)
		case *ast.Emphasis:
			in.Italic = in.Italic || n.Level == 1
			in.Bold = in.Bold || n.Level == 2
			err = c.inline(n, in, out)
		case *ast.Link:
			if in.Link, err = c.target(string(n.Destination)); err == nil {
				err = c.inline(n, in, out)
			}
		case *ast.AutoLink:
			to := string(n.URL(c.src))
			if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(to), "mailto:") {
				to = "mailto:" + to
			}
			if in.Link, err = c.target(to); err == nil {
				put(string(n.Label(c.src)))
			}
		case *ast.Image: // its description
			err = c.inline(n, look, out)
		case *ast.RawHTML:
			for i := range n.Segments.Len() {
				seg := n.Segments.At(i)
				put(string(seg.Value(c.src)))
			}
		default:
			err = fmt.Errorf("%s cannot be set", n.Kind())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *converter) target(to string) (string, error) {
	if to == "" {
		return "", errors.New("a link leads nowhere")
	}
	if c.Link != nil && !c.Link(to) {
		return "", fmt.Errorf("%q is not a valid link", to)
	}
	return to, nil
}

// punctuation is what may be markup.
const punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

// Escape appends a text that stands for itself within Markdown: what could be markup is escaped,
// and it stays on one line.
func Escape(dst, s []byte) []byte {
	for i, b := range s {
		switch {
		case b == '\n' || b == '\r' || b == '\t':
			dst = append(dst, ' ')
		case b == ' ' && i == 0: // four would begin a block of code
			dst = append(dst, "&#32;"...)
		case strings.IndexByte(punctuation, b) >= 0:
			dst = append(dst, '\\', b)
		default:
			dst = append(dst, b)
		}
	}
	return dst
}
