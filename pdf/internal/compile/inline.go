package compile

import (
	"slices"
	"strings"

	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/compile/exprlang"
)

// Markup of spans that look otherwise, [text]{style}, and of images within a line,
// ![what it shows](file).

// spanNames are the looks that a text may have without a style of that name.
var spanNames = []string{"u", "s", "sup", "sub", "sc"}

// spanLook returns what one of spanNames means.
func spanLook(name string) *doc.Style {
	switch name {
	case "u":
		return &doc.Style{Underline: &doc.Line{}}
	case "s":
		return &doc.Style{Strike: &doc.Line{}}
	case "sup":
		return &doc.Style{Position: doc.PositionSuper}
	case "sub":
		return &doc.Style{Position: doc.PositionSub}
	case "sc":
		return &doc.Style{SmallCaps: true}
	}
	return nil
}

// nested names the look of a span within one that has a look already.
type nested struct {
	around *doc.Style
	name   string
}

// spanStyle returns the style of a span: what the named one says itself, laid over around; nil
// when there is no such style.
func (c *compiler) spanStyle(name string, around *doc.Style) *doc.Style {
	key := nested{around, name}
	if s := c.spanStyles[key]; s != nil {
		return s
	}
	s := &doc.Style{}
	if around != nil {
		*s = *around
	}
	switch d := c.styles[name]; {
	case d != nil:
		c.style(name)
		s = d.ownKeys(s, c.styles[baseName])
	case slices.Contains(spanNames, name):
		own := spanLook(name)
		if own.Underline != nil {
			s.Underline = own.Underline
		}
		if own.Strike != nil {
			s.Strike = own.Strike
		}
		if own.Position != doc.PositionBase {
			s.Position = own.Position
		}
		s.SmallCaps = s.SmallCaps || own.SmallCaps
		if own.Features != "" {
			s.Features = own.Features
		}
	default:
		return nil
	}
	if c.spanStyles == nil {
		c.spanStyles = map[nested]*doc.Style{}
	}
	c.spanStyles[key] = s
	return s
}

// ownKeys lays the keys of a style, and of those it extends but base, over another style.
func (d *styleDef) ownKeys(s *doc.Style, base *styleDef) *doc.Style {
	if d == nil || d == base {
		return s
	}
	return d.over.on(d.from.ownKeys(s, base), s)
}

// lookAt reads the {style} that begins at byte i; end is behind it, and i when there is none.
func (p *textParser) lookAt(i, to int) (s *doc.Style, end int) {
	if i >= to || p.src[i] != '{' {
		return nil, i
	}
	n := strings.IndexByte(p.src[i:to], '}')
	if n < 0 {
		p.bad(i, codeMarkup, `write \[ for the bracket itself`, "the style is not closed")
		return nil, to
	}
	name := p.src[i+1 : i+n]
	if s = p.c.spanStyle(name, p.attr.Style); s == nil {
		p.bad(i+1, codeName, exprlang.Nearest(name, slices.Concat(p.c.styleNames, spanNames)), "no style %q", name)
	}
	return s, i + n + 1
}

// styledSpan reads [text]{style}, whose closing bracket stands at byte label.
func (p *textParser) styledSpan(i, label, to int) int {
	p.flushSpan()
	around := p.attr.Style
	s, end := p.lookAt(label+1, to)
	if s != nil {
		p.attr.Style = s
	}
	p.inline(i+1, label)
	p.flushSpan()
	p.attr.Style = around
	return end
}

// noteSpan reads ^[the text of a footnote].
func (p *textParser) noteSpan(i, to int) int {
	end := bracketEnd(p.src[:to], i+2, ']')
	switch {
	case end < 0:
		p.bad(i, codeMarkup, `write \^ for the character itself`, "the footnote is not closed")
		return to
	case p.note:
		p.bad(i, codeMarkup, "", "a footnote inside a footnote")
		return end + 1
	case p.link != nil:
		p.bad(i, codeMarkup, "write it behind the link", "a footnote inside a link")
		return end + 1
	case p.c.running:
		p.bad(i, codeMarkup, "", "a footnote is allowed in the body, not in content that is repeated on pages")
		return end + 1
	case strings.TrimSpace(p.src[i+2:end]) == "":
		p.bad(i, codeMarkup, "", "the footnote is empty")
		return end + 1
	}
	p.flushSpan()
	around, attr := p.spans, p.attr
	p.spans, p.attr, p.note = nil, doc.Span{}, true
	p.inline(i+2, end)
	p.flushSpan()
	note := &richText{spans: p.spans}
	note.finish()
	p.spans, p.attr, p.note = append(around, span{fixed: doc.Span{Kind: doc.SpanNote}, note: note}), attr, false
	return end + 1
}

// footnotes reads how footnotes are set.
func (c *compiler) footnotes(n *strictyaml.Node) {
	const path = "footnotes"
	o, ok := c.object(n, path, "footnotes")
	if !ok {
		return
	}
	f := &c.plan.footnotes
	mayHave(o, "restart", &f.Restart, oneOf[doc.Restart](c, "never", "section", "page"))
	mayHave(o, "number-format", &f.Numbering, c.numbering)
	mayHave(o, "style", &f.Style, c.styleRef)
	o.done()
}

// imageSpan reads ![what it shows](file) and the {style} behind it.
func (p *textParser) imageSpan(i, to int) int {
	alt := bracketEnd(p.src[:to], i+2, ']')
	if alt < 0 || alt+1 >= to || p.src[alt+1] != '(' {
		p.lit = append(p.lit, '!')
		return i + 1
	}
	end := bracketEnd(p.src[:to], alt+2, ')')
	if end < 0 {
		p.bad(i, codeMarkup, `write \! for the character itself`, "the file of the image is not closed")
		return to
	}
	text, file := p.src[i+2:alt], p.src[alt+2:end]
	p.flushSpan()
	s := span{fixed: p.attr, link: p.link}
	next := end + 1
	if look, after := p.lookAt(next, to); after > next {
		s.fixed.Style, next = look, after
	}
	switch {
	case strings.Contains(text+file, "${"):
		p.bad(i, codeLater, "", "images within a line that are made of data are not in this version")
	case strings.TrimSpace(text) == "":
		p.bad(i, codeNoAlt, "write what it shows between the brackets", "no alt text")
	default:
		line, col := p.n.Pos(i)
		s.fixed.Kind = doc.SpanImage
		s.fixed.Image = &doc.Image{
			Block: doc.Block{Src: &doc.Source{File: p.c.file, Line: line, Col: col, Path: p.path}},
			Name:  file, Alt: text, Data: p.c.readFile(p.n, p.path, file),
		}
		p.spans = append(p.spans, s)
	}
	return next
}
