package layout

import (
	"cmp"
	"math"
	"slices"

	"example.com/quire/pdf/doc"
)

// Cells that meet have one line between them. So the lines of tables are collected while a page
// fills, and drawn when it is full: one for each stretch of one look, whatever rows and cells asked
// for it, and with whole corners.

// edge is a line asked for along an edge of cells, centred on it.
type edge struct {
	down         bool // from top to bottom, else from left to right
	rank         rank
	at, from, to doc.Length // where it stands across its direction, and along it
	head, tail   doc.Length // what it is longer at its ends, for whole corners
	line         doc.Line
}

// rank says who asked for an edge: the highest one is drawn, then the widest, a solid one before a
// dashed one.
type rank uint8

const (
	rankTable rank = iota
	rankRow
	rankCell
)

func (p *painter) edge(e edge) {
	if e.line.Width <= 0 || e.from >= e.to {
		return
	}
	if e.line.Color.None() {
		e.line.Color = doc.Black
	}
	p.edges = append(p.edges, e)
}

// level asks for a line from left to right.
func (p *painter) level(x, y, w doc.Length, l doc.Line, r rank) {
	p.edge(edge{at: y, from: x, to: x + w, line: l, rank: r})
}

// around asks for a border whose lines stand centred on the rectangle's edge.
func (p *painter) around(x, y, w, h doc.Length, b *doc.Border, r rank) {
	p.level(x, y, w, b.Top, r)
	p.level(x, y+h, w, b.Bottom, r)
	p.edge(edge{down: true, at: x, from: y, to: y + h, line: b.Left, rank: r})
	p.edge(edge{down: true, at: x + w, from: y, to: y + h, line: b.Right, rank: r})
}

// move moves it down.
func (e *edge) move(by doc.Length) {
	if e.down {
		e.from, e.to = e.from+by, e.to+by
		return
	}
	e.at += by
}

// compareLooks orders edges of one place so that what is drawn comes later.
func compareLooks(a, b *edge) int {
	return cmp.Or(
		cmp.Compare(a.rank, b.rank), cmp.Compare(a.line.Width, b.line.Width), cmp.Compare(b.line.Dash[0], a.line.Dash[0]),
		cmp.Compare(b.line.Dash[1], a.line.Dash[1]), cmp.Compare(b.line.Color, a.line.Color),
	)
}

func sameEdge(a, b *edge) bool { return a.down == b.down && a.at == b.at }

// joined returns the lines to draw, the thinner ones first. The edges of the page are used up.
func (p *painter) joined() []edge {
	all := p.edges
	if apart(all) { // as those between the rows of a table are
		p.edges, p.lines = all[:0], byWidth(p.lines[:0], all)
		return p.lines
	}
	return p.crossed()
}

// crossed is joined for edges in any order and direction.
func (p *painter) crossed() []edge {
	all := p.edges
	slices.SortFunc(all, func(a, b edge) int {
		if !sameEdge(&a, &b) {
			return cmp.Or(compareBool(a.down, b.down), cmp.Compare(a.at, b.at))
		}
		return cmp.Or(compareLooks(&a, &b), cmp.Compare(a.from, b.from))
	})
	n := 0 // edges of one look that touch are one
	for i := range all {
		if e := &all[i]; n > 0 && sameEdge(&all[n-1], e) && compareLooks(&all[n-1], e) == 0 && e.from <= all[n-1].to {
			all[n-1].to = max(all[n-1].to, e.to)
			continue
		}
		all[n] = all[i]
		n++
	}
	lines := p.lines[:0]
	for i := 0; i < n; {
		j := i + 1
		for j < n && sameEdge(&all[i], &all[j]) {
			j++
		}
		if j == i+1 { // it is alone, as the lines between rows are
			lines = append(lines, all[i])
		} else {
			lines = overlay(lines, all[i:j])
		}
		i = j
	}
	p.edges, p.lines = all[:0], lines
	corners(lines)
	slices.SortStableFunc(lines, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.line.Width, b.line.Width), -compareBool(a.down, b.down))
	})
	return lines
}

// apart reports whether edges are lines from left to right that stand below each other.
func apart(all []edge) bool {
	for i := range all {
		if all[i].down || i > 0 && all[i].at <= all[i-1].at {
			return false
		}
	}
	return true
}

// byWidth appends lines to what is empty, the thinner ones first and else in their order. Most
// tables have few widths: it takes the lines of one after the other.
func byWidth(to, lines []edge) []edge {
	const few = 4
	last := doc.Length(0)
	for range few {
		next := doc.Length(math.MaxInt64)
		for i := range lines {
			if w := lines[i].line.Width; w > last {
				next = min(next, w)
			}
		}
		for i := range lines {
			if lines[i].line.Width == next {
				to = append(to, lines[i])
			}
		}
		if last = next; len(to) == len(lines) {
			return to
		}
	}
	to = append(to[:0], lines...)
	slices.SortStableFunc(to, func(a, b edge) int { return cmp.Compare(a.line.Width, b.line.Width) })
	return to
}

// compareBool puts false first.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

// overlay appends what is seen of edges of one place, the later of which cover the earlier ones.
func overlay(lines, of []edge) []edge {
	from := len(lines)
	for _, e := range of {
		for i := len(lines) - 1; i >= from; i-- {
			l := &lines[i]
			switch {
			case l.to <= e.from || e.to <= l.from: // apart
			case e.from <= l.from && l.to <= e.to:
				lines = slices.Delete(lines, i, i+1)
			case l.from < e.from && e.to < l.to:
				rest := *l
				l.to, rest.from = e.from, e.to
				lines = append(lines, rest)
			case l.from < e.from:
				l.to = e.from
			default:
				l.from = e.to
			}
		}
		lines = append(lines, e)
	}
	made := lines[from:]
	slices.SortFunc(made, func(a, b edge) int { return cmp.Compare(a.from, b.from) })
	n := from
	for i := range made {
		if n > from && lines[n-1].to == made[i].from && lines[n-1].line == made[i].line {
			lines[n-1].to = made[i].to
			continue
		}
		lines[n] = made[i]
		n++
	}
	return lines[:n]
}

// corners makes the ends of lines as long as fills the corners that they make with others. The
// lines stand in the order of their directions and places.
func corners(lines []edge) {
	downs, _ := slices.BinarySearchFunc(lines, true, func(e edge, down bool) int { return compareBool(e.down, down) })
	for i := range lines {
		e, across := &lines[i], lines[:downs]
		if !e.down {
			across = lines[downs:]
		}
		e.head = widest(across, e.from, e.at) / 2
		width := widest(across, e.to, e.at)
		e.tail = width - width/2
	}
}

// widest is the width of the widest of the lines at a place that reach a point; 0: none does.
func widest(lines []edge, at, point doc.Length) (width doc.Length) {
	i, _ := slices.BinarySearchFunc(lines, at, func(e edge, at doc.Length) int { return cmp.Compare(e.at, at) })
	for ; i < len(lines) && lines[i].at == at; i++ {
		if e := &lines[i]; e.from <= point && point <= e.to {
			width = max(width, e.line.Width)
		}
	}
	return width
}

// rect is where the line is drawn.
func (e *edge) rect() RectItem {
	w, from, long := e.line.Width, e.from-e.head, e.head+e.to-e.from+e.tail
	r := RectItem{X: from, Y: e.at - w/2, W: long, H: w, Color: e.line.Color, Dash: e.line.Dash, Rule: true}
	if e.down {
		r.X, r.Y, r.W, r.H = e.at-w/2, from, w, long
	}
	return r
}
