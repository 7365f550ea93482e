package layout

import (
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/tag"
)

// word is a paragraph of one plain word or number, as most cells of long tables are. It is its text
// until it is written, a fraction of what its glyphs and its line would take.
type word struct {
	face   *face
	text   string
	x      doc.Length // where it begins, as it is aligned
	elem   *tag.Elem
	art    Artifact
	kerned bool
}

// word finds where a word in a cell begins, and whether it is kerned; ok is false when s is none: it
// is set as a paragraph then, which looks the same.
func (f *face) word(s string, width doc.Length) (x doc.Length, kerned, ok bool) {
	w, kerned, ok := f.words.Chain.WordWidth(s, f.size)
	if !ok || w > width {
		return 0, false, false
	}
	switch f.align {
	case doc.AlignRight:
		x = width - w
	case doc.AlignCenter:
		x = (width - w) / 2
	}
	return x, kerned, true
}

// plainText reports whether a span is text in the style around it, and nothing else.
func plainText(s *doc.Span) bool {
	return s.Kind == doc.SpanText && !s.Bold && !s.Italic && !s.Code && s.Style == nil && s.Link == "" && s.Lang == ""
}

// simple reports whether the words of a style, from left to right, need what word does alone.
func simple(s *doc.Style) bool {
	return s.MarginLeft == 0 && s.MarginRight == 0 && s.Indent == 0 && s.Align != doc.AlignDecimal && s.Breaking != doc.BreakingTotal
}

func (b *word) size() doc.Length { return b.face.lead }

func (b *word) baseline() (doc.Length, bool) { return b.face.base, true }

func (b *word) split(avail doc.Length, _ bool) (block, block) { return whole(b, avail) }

func (b *word) draw(p *painter, x, y doc.Length) {
	w := p.words.Take(1)
	w[0] = Word{Text: b.text, Style: &b.face.words, Elem: b.elem, Kerned: b.kerned}
	p.wordsAt(x+b.x, y+b.face.base, w, b.art)
}

// wordsAt draws words, whose memory is that of the page.
func (p *painter) wordsAt(x, y doc.Length, words []Word, art Artifact) {
	it := p.lists.One()
	it.X, it.Y, it.Words, it.Artifact = x, y, words, art
	p.page.Items = append(p.page.Items, Item{Words: it})
}

// wordColumn is what the words in a column of a table have alike.
type wordColumn struct {
	x, width doc.Length // where they may stand
	own      *doc.Style // of the last cell; nil: it had none of its own
	face     *face      // of that; nil: it is not known
}

// words lays out a row whose cells are words, one in each column: most rows of long tables are
// such, and take a fraction of what their cells would one by one. It returns false when something
// about the row asks for cells, which look the same.
func (t *table) words(g *group, r *doc.Row) bool {
	n := len(t.columns)
	if len(r.Cells) != n || r.Border != nil {
		return false
	}
	if cap(g.words) < n {
		g.words = t.wordList(n)[:0]
	}
	words, again := g.words[:n], r.Again && t.alike
	t.alike = false
	if i := t.odd; i > 0 && !(t.mayHaveWord(&r.Cells[i], i) && t.columns[i].word(&words[i], r.Cells[i].Spans[0].Text)) {
		return false // as in the row before
	}
	var base, below doc.Length
	for i := range words {
		c, col := &r.Cells[i], &t.columns[i]
		if !again && !t.mayHaveWord(c, i) || len(c.Spans) != 1 || !col.word(&words[i], c.Spans[0].Text) {
			t.odd = i
			return false
		}
		base, below = max(base, col.face.base), max(below, col.face.lead-col.face.base)
	}
	t.odd, t.alike = 0, true
	row := &g.rows[0]
	row.base = base
	g.least = t.pad.Top + base + below + t.pad.Bottom
	row.h = max(row.least, g.least)
	g.words, g.art = words, t.m.art
	return true
}

// mayHaveWord reports whether nothing but the text of a cell of a column can keep it from being a
// word, and finds the face of the column.
func (t *table) mayHaveWord(c *doc.Cell, column int) bool {
	if c.Colspan > 1 || c.Rowspan > 1 || len(c.Spans) != 1 || len(c.Nodes) > 0 || c.Turn != 0 || c.Link != "" ||
		c.VAlign != doc.VAlignTop || c.Border != nil || !c.Background.None() || !plainText(&c.Spans[0]) {
		return false
	}
	col := &t.columns[column]
	if col.face == nil || c.Style != col.own {
		f, err := t.m.face(t.cellStyle(c, column, sectionBody), c.Src)
		if err != nil {
			return false // the cell says what is wrong
		}
		col.own, col.face = c.Style, f
	}
	return col.face.simple
}

// word makes w the word s in a column; false: it is none.
func (c *wordColumn) word(w *Word, s string) bool {
	x, kerned, ok := c.face.word(s, c.width)
	if !ok {
		return false
	}
	w.X, w.Text, w.Style, w.Kerned = c.x+x, s, &c.face.words, kerned
	return true
}

// wordElems makes the elements of a row of words.
func (t *table) wordElems(words []Word, r *doc.Row, parent *tag.Elem, src *doc.Source) {
	elems := t.rowElems(1 + len(words))
	t.m.begin(&elems[0], parent, tag.TR, src, "")
	for i := range words {
		c, el := &r.Cells[i], &elems[1+i]
		of := src
		if c.Src != nil {
			of = c.Src
		}
		t.begin(el, c, i, 1, 1, sectionBody, &elems[0], of)
		words[i].Elem = el
	}
}

// wordList returns memory for the words of a row.
func (t *table) wordList(n int) []Word {
	if t.once {
		return t.m.mem.again.lists.Take(n)
	}
	return t.m.mem.rowWords.Take(n)
}

// rowElems returns n elements for words of the open body.
func (t *table) rowElems(n int) []tag.Elem {
	if !t.once {
		return t.m.mem.elems.Take(n)
	}
	elems := t.m.mem.again.row(n)
	if t.listed == nil {
		t.listed = t.m.mem.again.list()
	}
	t.listed = append(t.listed, elems)
	return elems
}

// cutWords is cutAt for a row of words, which cannot be cut: when it is high by what was asked for
// alone, it takes what a page has.
func (g *group) cutWords(h doc.Length, force bool) (block, block) {
	if !force || g.least > h {
		return nil, g
	}
	head := *g
	head.ends = false
	head.rows = []groupRow{g.rows[0]}
	head.rows[0].least, head.rows[0].h = h, h
	return &head, nil
}
