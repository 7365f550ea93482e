package layout

import (
	"slices"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/tag"
)

// word is a paragraph of one plain word or number, as most cells of long tables are. It is its text
// until it is written, a fraction of what its glyphs and its line would take.
type word struct {
	Word
	face *face
	art  Artifact
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
	w[0] = b.Word
	p.wordsAt(x, y+b.face.base, w, b.art)
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
	words := g.words[:n]
	if !t.mayHaveWords(r) {
		return false
	}
	if i := t.odd; i > 0 && !t.columns[i].word(&words[i], r.Cells[i].Spans[0].Text) {
		return false // as in the row before
	}
	for i := range words {
		if !t.columns[i].word(&words[i], r.Cells[i].Spans[0].Text) {
			t.odd = i
			return false
		}
	}
	t.odd = 0
	row := &g.rows[0]
	row.base = t.base
	g.least = t.pad.Top + t.base + t.below + t.pad.Bottom
	row.h = max(row.least, g.least)
	g.words, g.art = words, t.m.art
	return true
}

// mayHaveWords reports whether nothing but the texts of a row can keep its cells from being words,
// and finds the faces of the columns and what they take above and below the baseline.
func (t *table) mayHaveWords(r *doc.Row) bool {
	t.base, t.below = 0, 0
	for i := range t.columns {
		if !t.mayHaveWord(&r.Cells[i], i) {
			return false
		}
		f := t.columns[i].face
		t.base, t.below = max(t.base, f.base), max(t.below, f.lead-f.base)
	}
	return true
}

// mayHaveWord reports whether nothing but the text of a cell of a column can keep it from being a
// word, and finds the face of the column.
func (t *table) mayHaveWord(c *doc.Cell, column int) bool {
	if c.Colspan > 1 || c.Rowspan > 1 || len(c.Spans) != 1 || len(c.Nodes) > 0 || c.Turn != 0 || c.Link != "" ||
		c.VAlign != doc.VAlignTop || c.Border != nil || !c.Background.None() || c.Padding != nil || c.Names != nil || !plainText(&c.Spans[0]) {
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

// word makes w the word s in a column, aligned; false: s is none, and is set as a paragraph, which
// looks the same.
func (c *wordColumn) word(w *Word, s string) bool {
	f := c.face
	wide, kerned, ok := f.words.Chain.WordWidth(s, f.size)
	if !ok || wide > c.width {
		return false
	}
	x := c.x
	switch f.align {
	case doc.AlignRight:
		x += c.width - wide
	case doc.AlignCenter:
		x += (c.width - wide) / 2
	}
	w.X, w.Text, w.Style, w.Kerned = x, s, &f.words, kerned
	return true
}

// wordElems makes the elements of a row of words.
func (t *table) wordElems(g *group, r *doc.Row, parent *tag.Elem, src *doc.Source) {
	words := g.words
	var elems []tag.Elem
	if t.once {
		elems = t.m.mem.again.row(1 + len(words))
		g.elems = elems
	} else {
		elems = t.m.mem.elems.Take(1 + len(words))
	}
	begun := slices.Grow(t.m.begun, len(elems))
	tr := &elems[0]
	tr.Type, tr.Parent, tr.Src = tag.TR, parent, src
	g.elem = tr
	begun = append(begun, tr)
	for i := range words {
		c, el := &r.Cells[i], &elems[1+i]
		el.Parent, el.Src, el.Colspan, el.Rowspan = tr, src, 1, 1
		if c.Src != nil {
			el.Src = c.Src
		}
		el.Type, el.Scope = t.role(c, i, 1, sectionBody)
		words[i].Elem = el
		begun = append(begun, el)
	}
	t.m.begun = begun
}

// wordList returns memory for the words of a row.
func (t *table) wordList(n int) []Word {
	if t.once {
		return t.m.mem.again.lists.Take(n)
	}
	return t.m.mem.rowWords.Take(n)
}

// rowElems returns n elements for words of the open body of a table that is drawn once.
func (t *table) rowElems(n int) []tag.Elem {
	elems := t.m.mem.again.row(n)
	t.listed = t.m.mem.again.listed.Add(t.listed, elems)
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
