package compile

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/compile/exprlang"
)

// part is a piece of a text: literal, or an expression.
type part struct {
	lit  string
	prog *exprlang.Program
	at   *place
}

// place is where an expression stands, for errors while rendering.
type place struct {
	file string
	node *strictyaml.Node
	off  int // in node.Text, of the expression's first byte
	path string
	// reads are the values that the expression reads.
	reads []*exprlang.Path
}

// place is where prog stands, at byte off of n; prog may be nil.
func (c *compiler) place(n *strictyaml.Node, path string, off int, prog *exprlang.Program) *place {
	at := &place{file: c.file, node: n, off: off, path: path}
	if prog != nil {
		at.reads = prog.Reads
	}
	return at
}

// plainText is a text without markup: a title, a link, an argument.
type plainText struct {
	parts []part
	id    int32 // of a link: of parts in Plan.spans
}

// known returns the text when it needs no data.
func (t *plainText) known() (string, bool) {
	if t == nil || len(t.parts) == 0 {
		return "", true
	}
	return t.parts[0].lit, len(t.parts) == 1 && t.parts[0].prog == nil
}

// span is a layout.Span whose text and link may have expressions.
type span struct {
	fixed doc.Span
	parts []part
	link  *plainText
	id    int32     // of parts in Plan.spans
	note  *richText // a footnote; nil: it is none
}

// richText is a text with markup.
type richText struct {
	spans []span
	// static holds the finished spans when nothing in them needs data. They are
	// shared by all documents.
	static []doc.Span
}

// maxTexts bounds the expressions of one text.
const maxTexts = 1000

// textParser splits one scalar into literal text, expressions and markup.
type textParser struct {
	c      *compiler
	n      *strictyaml.Node
	path   string
	src    string // n.Text without the line feed that ends a block text
	markup bool
	code   bool // inside `code`
	absent bool // a missing value is no mistake: it means that there is nothing

	lit   []byte
	parts []part
	spans []span
	attr  doc.Span // of the span that is open
	link  *plainText
	note  bool // inside a footnote
	count int
	wrong bool
}

func (p *textParser) bad(off int, code, hint, format string, args ...any) {
	line, col := p.n.Pos(off)
	p.c.at(line, col, p.path, code, hint, format, args...)
	p.wrong = true
}

func (p *textParser) flushLit() {
	if len(p.lit) > 0 {
		p.parts = append(p.parts, part{lit: string(p.lit)})
		p.lit = p.lit[:0]
	}
}

func (p *textParser) flushSpan() {
	p.flushLit()
	if len(p.parts) > 0 {
		s := span{fixed: p.attr, parts: p.parts, link: p.link, id: p.c.spanID(p.parts)}
		p.spans = append(p.spans, s)
		p.parts = nil
	}
}

// spanID numbers the parts of a span, for the data paths of diagnostics.
func (c *compiler) spanID(parts []part) int32 {
	c.plan.spans = append(c.plan.spans, parts)
	if c.log != nil {
		c.log.spans = append(c.log.spans, keptSpan{len(c.plan.spans) - 1, parts})
	}
	return int32(len(c.plan.spans) - 1) //nolint:gosec // as many as the template has nodes and expressions
}

// expression reads ${...} at offset i and returns the offset behind it.
func (p *textParser) expression(i int) int {
	end := closingBrace(p.src, i+2)
	if end < 0 {
		p.bad(i, exprlang.CodeSyntax, `write \${ for the characters themselves`, "${ without }")
		return len(p.src)
	}
	if p.count++; p.count > maxTexts {
		if p.count == maxTexts+1 {
			p.bad(i, codeTexts, "", "more than %d expressions in one text", maxTexts)
		}
		return end + 1
	}
	prog := p.c.compileExpr(p.n, p.path, i+2, p.src[i+2:end])
	if prog == nil {
		p.wrong = true
		return end + 1
	}
	at := p.c.place(p.n, p.path, i+2, prog)
	switch prog.Type.Kind {
	case exprlang.PageKind, exprlang.PagesKind, exprlang.ReferenceKind, exprlang.NumberOfKind, exprlang.TitleKind:
		p.ofLayout(i, prog, at)
	default:
		if !prog.Type.Printable() {
			src, hint := strings.TrimSpace(p.src[i+2:end]), ""
			switch prog.Type.Kind {
			case exprlang.ListKind:
				hint = "print its items by for"
				if e := prog.Type.Elem; e != nil && e.Kind == exprlang.StringKind {
					hint += ", or by ${join(" + src + ")}"
				}
			case exprlang.RecordKind:
				hint = "print one of its fields"
				if len(prog.Type.Fields) > 0 && rePath.MatchString(src) {
					hint += ", as ${" + src + "." + prog.Type.Fields[0].Name + "}"
				}
			}
			p.bad(i+2, exprlang.CodeType, hint, "%s has no text", prog.Type)
			break
		}
		p.bare(i+2, prog, strings.TrimSpace(p.src[i+2:end]))
		if !prog.Figure || !p.markup {
			p.flushLit()
			p.parts = append(p.parts, part{prog: prog, at: at})
			break
		}
		p.flushSpan()
		p.parts = append(p.parts, part{prog: prog, at: at})
		p.attr.Figure = true
		p.flushSpan()
		p.attr.Figure = false
	}
	return end + 1
}

// rePath is a field with those below it.
var rePath = regexp.MustCompile(`^\w+(\.\w+)*$`)

// bare reports values that should not be printed as they are: those that may be missing, and
// decimals, which are written with a point, where the language writes a comma.
func (p *textParser) bare(off int, prog *exprlang.Program, src string) {
	what := cmp.Or(prog.Desc, "the value")
	if prog.Type.Optional && !p.absent {
		hint := "write ${" + src + " | default('...')}"
		if prog.Subject != "" {
			hint += ", or print it where " + prog.Subject + " != null"
		}
		p.bad(off, codeMissing, hint, "%s may be missing", what)
	}
	number := prog.Type.Kind == exprlang.DecimalKind || prog.Type.Kind == exprlang.NumberKind
	if l := p.c.exprOptions.Locale; number && p.markup && l != nil && l.DecimalSign() != "." {
		line, col := p.n.Pos(off)
		p.c.warn(line, col, p.path, codeBare, "write | number(2), or | money('EUR')", "%s is printed with a point, and %s writes %q", what, l.Tag(), l.DecimalSign())
	}
}

// rePlaceholder is a placeholder as other template languages write it, with the name in it.
var rePlaceholder = regexp.MustCompile(
	`^(?:\{\{|<%=?|\$\(|%\{|\$|\{)\s*(\w+(?:\.\w+)*)(?:\s*(?:\}\}|%>|\)|\}))?`)

// foreign warns of placeholders of other languages around a name that there is here: they are
// printed as they are.
func (p *textParser) foreign(from int) {
	for {
		next := strings.IndexAny(p.src[from:], `\${<%`)
		if next < 0 {
			return
		}
		at := from + next
		from = at + 1
		switch rest := p.src[at:]; {
		case rest[0] == '\\':
			from = min(at+2, len(p.src))
		case strings.HasPrefix(rest, "${"):
			if from = closingBrace(p.src, at+2) + 1; from == 0 {
				return // which is an error
			}
		default:
			m := rePlaceholder.FindStringSubmatch(rest)
			if m == nil {
				continue
			}
			from = at + len(m[0])
			first, _, _ := strings.Cut(m[1], ".")
			if p.markup && at > 0 && p.src[at-1] == ']' { // a style, as in [a text]{style}
				continue
			}
			if strings.HasSuffix(m[0], m[1]) && m[0] != "$"+m[1] || !slices.Contains(exprScope{c: p.c}.Names(), first) {
				continue
			}
			line, col := p.n.Pos(at)
			p.c.warn(line, col, p.path, codeForeign, "write ${"+m[1]+"} for the value", "%s is printed as it is", quoted(m[0]))
		}
	}
}

// ofLayout adds a span whose text the layout knows.
func (p *textParser) ofLayout(i int, prog *exprlang.Program, at *place) {
	switch {
	case !p.markup && !p.code:
		p.bad(i, codeWrong, "", "a page number is allowed in the text of blocks only")
		return
	case prog.Type.Kind == exprlang.TitleKind && !p.c.running:
		p.bad(i, codeWrong, "", "section() is allowed in headers and footers only")
		return
	}
	p.flushSpan()
	s := span{fixed: p.attr, link: p.link}
	switch prog.Type.Kind {
	case exprlang.PageKind:
		s.fixed.Kind = doc.SpanPage
	case exprlang.PagesKind:
		s.fixed.Kind = doc.SpanPages
	case exprlang.TitleKind:
		level, _ := prog.Leaves[0].Value.Dec().Int64()
		s.fixed.Kind, s.fixed.Level = doc.SpanTitle, uint8(level) //nolint:gosec // 1 to 9
	default:
		s.fixed.Kind, s.parts = doc.SpanReference, []part{{prog: prog, at: at}}
		if prog.Type.Kind == exprlang.NumberOfKind {
			s.fixed.Kind = doc.SpanNumber
		}
		s.id = p.c.spanID(s.parts)
		if len(prog.Leaves) == 1 && !prog.Open {
			line, col := p.n.Pos(i)
			p.c.leads(jump{prog.Leaves[0].Value.Str(), line, col, p.path})
		}
	}
	if !p.c.running || s.parts != nil {
		p.c.refers()
	}
	p.spans = append(p.spans, s)
}

// closingBrace finds the brace that closes an expression whose text starts at i;
// braces in strings do not count.
func closingBrace(s string, i int) int {
	depth := 0
	var quote byte
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == '\\' && quote != '`' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case c == '{':
			depth++
		case c == '}':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return -1
}

// plain compiles a text without markup: only ${...} and \${ mean something.
func (c *compiler) plain(n *strictyaml.Node, path string) *plainText {
	if !n.IsScalar() || n.Kind == strictyaml.Null {
		c.bad(n, path, codeWrong, "", "want a text, got %s", n.Kind)
		return &plainText{}
	}
	return c.plainPart(n, path, 0, len(strings.TrimSuffix(n.Text, "\n")))
}

// plainPart compiles the bytes from..to of a text.
func (c *compiler) plainPart(n *strictyaml.Node, path string, from, to int) *plainText {
	return c.plainText(&textParser{c: c, n: n, path: path, src: n.Text[:to]}, from)
}

func (c *compiler) plainText(p *textParser, from int) *plainText {
	p.foreign(from)
	p.literal(from)
	p.flushLit()
	return &plainText{parts: p.parts}
}

// literal reads the text from offset i on without markup.
func (p *textParser) literal(i int) {
	for i < len(p.src) {
		switch {
		case strings.HasPrefix(p.src[i:], `\$`):
			p.lit = append(p.lit, '$')
			i += 2
		case strings.HasPrefix(p.src[i:], "${"):
			i = p.expression(i)
		default:
			p.lit = append(p.lit, p.src[i])
			i++
		}
	}
}

// rich compiles a text with markup. Interpolated values are no markup: they are
// put in after the markup is gone.
func (c *compiler) rich(n *strictyaml.Node, path string) *richText {
	return c.richWith(n, path, true)
}

func (c *compiler) richWith(n *strictyaml.Node, path string, markup bool) *richText {
	if !n.IsScalar() || n.Kind == strictyaml.Null {
		c.bad(n, path, codeWrong, "", "want a text, got %s", n.Kind)
		return &richText{}
	}
	p := &textParser{c: c, n: n, path: path, src: strings.TrimSuffix(n.Text, "\n"), markup: true}
	p.foreign(0)
	if markup {
		p.inline(0, len(p.src))
	} else {
		p.literal(0)
	}
	p.flushSpan()
	t := &richText{spans: p.spans}
	t.finish()
	return t
}

// linkTo makes a link of what is not one in the text.
func (t *richText) linkTo(to *plainText) {
	for i := range t.spans {
		if t.spans[i].link == nil && t.spans[i].note == nil {
			t.spans[i].link = to
		}
	}
	t.static = nil
	t.finish()
}

// finish fills static when no span needs data.
func (t *richText) finish() {
	out := make([]doc.Span, len(t.spans))
	for i, s := range t.spans {
		link, ok := s.link.known()
		if !ok {
			return
		}
		out[i] = s.fixed
		out[i].Link = link
		switch {
		case s.note != nil:
			if s.note.static == nil {
				return
			}
			out[i].Note = &doc.Note{Spans: s.note.static}
		case s.fixed.Kind != doc.SpanText && s.fixed.Kind != doc.SpanReference && s.fixed.Kind != doc.SpanNumber:
		case len(s.parts) == 1 && s.parts[0].prog == nil:
			out[i].Text = s.parts[0].lit
		default:
			return
		}
	}
	t.static = out
}

const escapable = "\\`*_{}[]()#+-.!^$|<>~\"'/:;,?@=&%"

// inline parses the bytes from..to.
func (p *textParser) inline(from, to int) {
	type mark struct{ off, bold int }
	var open []mark // emphasis that waits for its end
	for i := from; i < to; {
		rest := p.src[i:to]
		switch c := rest[0]; {
		case c == '\\' && len(rest) > 1 && strings.IndexByte(escapable, rest[1]) >= 0:
			p.lit = append(p.lit, rest[1])
			i += 2
		case strings.HasPrefix(rest, "${"):
			i = p.expression(i)
		case c == '`':
			i = p.codeSpan(i, to)
		case strings.HasPrefix(rest, "^["):
			i = p.noteSpan(i, to)
		case strings.HasPrefix(rest, "!["):
			i = p.imageSpan(i, to)
		case c == '[':
			i = p.linkSpan(i, to)
		case c == '*':
			n := 1
			if strings.HasPrefix(rest, "**") {
				n = 2
			}
			if len(open) > 0 && open[len(open)-1].bold == 1 && strings.HasPrefix(rest, "***") {
				n = 1 // ***both***: the inner one ends first
			}
			before, after := byte(' '), byte(' ')
			if i > from {
				before = p.src[i-1]
			}
			if i+n < to {
				after = p.src[i+n]
			}
			at := slices.IndexFunc(open, func(m mark) bool { return m.bold == n })
			switch {
			case at >= 0 && !blank(before):
				if at != len(open)-1 {
					p.bad(i, codeMarkup, "", "emphasis ends in another order than it starts")
				}
				open = slices.Delete(open, at, at+1)
				p.emphasis(n)
			case !blank(after):
				if at >= 0 {
					p.bad(i, codeMarkup, `write \* for the character itself`, "%s is nested in itself", rest[:n])
				}
				open = append(open, mark{i, n})
				p.emphasis(n)
			default:
				p.lit = append(p.lit, rest[:n]...)
			}
			i += n
		default:
			p.lit = append(p.lit, c)
			i++
		}
	}
	for _, m := range open {
		p.bad(m.off, codeMarkup, `write \* for the character itself`, "%s is not closed", strings.Repeat("*", m.bold))
		p.emphasis(m.bold)
	}
}

func blank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' }

func (p *textParser) emphasis(n int) {
	p.flushSpan()
	if n == 2 {
		p.attr.Bold = !p.attr.Bold
	} else {
		p.attr.Italic = !p.attr.Italic
	}
}

// codeSpan reads `code`: nothing but ${...} means something in it.
func (p *textParser) codeSpan(i, to int) int {
	p.flushSpan()
	p.attr.Code = true
	defer func() { p.attr.Code = false }()
	for j := i + 1; j < to; {
		switch {
		case strings.HasPrefix(p.src[j:to], "${"):
			j = p.expression(j)
		case p.src[j] == '`':
			p.flushSpan()
			return j + 1
		default:
			p.lit = append(p.lit, p.src[j])
			j++
		}
	}
	p.bad(i, codeMarkup, "write \\` for the character itself", "` is not closed")
	p.flushSpan()
	return to
}

// linkSpan reads [label](target) or [label]{style}; a bracket that starts neither is a bracket.
func (p *textParser) linkSpan(i, to int) int {
	label := bracketEnd(p.src[:to], i+1, ']')
	if label >= 0 && label+1 < to && p.src[label+1] == '{' {
		return p.styledSpan(i, label, to)
	}
	if label < 0 || label+1 >= to || p.src[label+1] != '(' {
		p.lit = append(p.lit, '[')
		return i + 1
	}
	end := bracketEnd(p.src[:to], label+2, ')')
	if end < 0 {
		p.bad(i, codeMarkup, `write \[ for the character itself`, "the target of the link is not closed")
		return to
	}
	if p.link != nil {
		p.bad(i, codeMarkup, "", "a link inside a link")
		return end + 1
	}
	p.flushSpan()
	p.link = p.c.linkText(p.n, p.path, label+2, end)
	p.inline(i+1, label)
	p.flushSpan()
	p.link = nil
	return end + 1
}

// bracketEnd finds the closing bracket, past escapes, expressions and pairs of
// square brackets.
func bracketEnd(s string, i int, closing byte) int {
	depth := 0
	for ; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case strings.HasPrefix(s[i:], "${"):
			if i = closingBrace(s, i+2); i < 0 {
				return -1
			}
		case s[i] == '[' && closing == ']':
			depth++
		case s[i] == closing && depth > 0:
			depth--
		case s[i] == closing:
			return i
		}
	}
	return -1
}

// reLink is what links may point at: the schemes that lead to a reader, never to
// a program, and anchors.
var reLink = regexp.MustCompile(`(?i)^(?:https?://|mailto:|tel:|#).`)

// MayLead reports whether a link may lead to a target.
func MayLead(target string) bool { return reLink.MatchString(target) }

const linkHint = "links are https:, http:, mailto:, tel: or #anchor"

// link compiles the value of a link key.
func (c *compiler) link(n *strictyaml.Node, path string) *plainText {
	if _, ok := c.scalar(n, path); !ok {
		return nil
	}
	return c.linkText(n, path, 0, len(n.Text))
}

func (c *compiler) linkText(n *strictyaml.Node, path string, from, to int) *plainText {
	// A link that is a single value is no link when that is missing.
	t := c.plainText(&textParser{c: c, n: n, path: path, src: n.Text[:to], absent: wrapped(n.Text[from:to])}, from)
	t.id = c.spanID(t.parts)
	if len(t.parts) > 0 && t.parts[0].prog == nil {
		if s, known := t.known(); known && !MayLead(s) {
			line, col := n.Pos(from)
			c.at(line, col, path, codeWrong, linkHint, "%s is not a valid link", quoted(s))
		} else if known && s[0] == '#' {
			line, col := n.Pos(from)
			c.leads(jump{s[1:], line, col, path})
		}
	}
	if len(t.parts) == 0 {
		line, col := n.Pos(from)
		c.at(line, col, path, codeWrong, "", "the link is empty")
	}
	return t
}

func (c *compiler) scalar(n *strictyaml.Node, path string) (string, bool) {
	if !n.IsScalar() || n.Kind == strictyaml.Null {
		c.bad(n, path, codeWrong, "", "want a text, got %s", n.Kind)
		return "", false
	}
	return n.Text, true
}
