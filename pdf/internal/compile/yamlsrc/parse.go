package yamlsrc

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// maxProblems bounds a report; a limit or a syntax error comes on top.
const maxProblems = 20

// tok is a token with the offset of its first character.
type tok struct {
	kind      token.Type
	line, col int
	off       int
	limit     int  // offset of the next token of any kind, comments included
	content   bool // header of a block scalar whose content the lexer has passed
}

// Parse reads one document. It returns either the tree or what is wrong with the
// source: refused features all at once, a syntax error alone, because what
// follows one is guesswork.
func Parse(src []byte, limits Limits) (*Node, []Problem) {
	s := newSource(strings.ReplaceAll(string(src), "\r\n", "\n"))
	if p := checkCharacters(s); p != nil {
		return nil, p
	}
	toks, problems := s.tokens()
	if problems != nil {
		return nil, problems
	}
	b := &builder{src: s, toks: toks, limits: limits}
	root := b.document()
	if len(b.problems) > 0 {
		return nil, b.problems
	}
	return root, nil
}

// refused names the token kinds that are no part of the language.
var refused = map[token.Type]Problem{
	token.AnchorType:     {Message: "anchors are not part of the template language", Hint: "put a text that starts with & in quotes"},
	token.AliasType:      {Message: "aliases are not part of the template language", Hint: "put a text that starts with * in quotes"},
	token.TagType:        {Message: "tags are not part of the template language", Hint: "put a text that starts with ! in quotes"},
	token.MergeKeyType:   {Message: "merge keys are not part of the template language", Hint: "name a style or a component instead"},
	token.MappingKeyType: {Message: "complex keys are not part of the template language", Hint: "put a text that starts with ? in quotes"},
	token.DirectiveType:  {Message: "directives are not part of the template language", Hint: "put a text that starts with % in quotes"},
}

// tokens runs the lexer and refuses what the language does not have.
func (s *source) tokens() ([]tok, []Problem) {
	var out []tok
	var problems []Problem
	report := func(line, col int, p Problem) {
		if len(problems) < maxProblems {
			p.Line, p.Col = line, col
			problems = append(problems, p)
		}
	}
	documents, ended := 0, false
	text, lineOf := s.forLexer()
	for _, t := range lexer.Tokenize(text) {
		line, col := t.Position.Line, t.Position.Column
		if line >= 1 && line <= len(lineOf) {
			line = lineOf[line-1]
		}
		if n := len(out); n > 0 && t.Type == token.StringType && isBlock(out[n-1].kind) && !out[n-1].content {
			// The content of a block scalar, empty ones included: its reported
			// place is not its start.
			out[n-1].content = true
			continue
		}
		if t.Type == token.StringType && dashed(t.Origin) >= 0 {
			// The lexer misplaces such a text and takes comments into it.
			from := 0
			if len(out) > 0 {
				from = out[len(out)-1].off
			}
			line, col := s.place(from + max(dashed(s.text[from:]), 0))
			report(line, col, Problem{Message: "a text goes on in a line that starts with a dash", Hint: "put the text in quotes, or begin the list below its key"})
			continue
		}
		off := s.offset(line, col)
		for off >= 0 && off < len(s.text) && (s.text[off] == ' ' || s.text[off] == '\t' || s.text[off] == '\n') {
			off++
		}
		if off < 0 || off >= len(s.text) && t.Type != token.InvalidType {
			report(max(line, 1), max(col, 1), Problem{Message: "the text cannot be read here"})
			break
		}
		line, col = s.place(off)
		if n := len(out); n > 0 && out[n-1].limit == 0 {
			out[n-1].limit = off
		}
		switch t.Type {
		case token.CommentType:
			continue
		case token.DocumentHeaderType:
			if documents++; documents > 1 || len(out) > 0 {
				report(line, col, Problem{Message: "second document", Hint: "a template is one document"})
			}
			continue
		case token.DocumentEndType:
			ended = true
			continue
		case token.InvalidType:
			msg := "syntax error"
			switch {
			case strings.HasPrefix(t.Error, "invalid header option"): // it quotes its own text, which is not the source
				msg += ": unknown option in the header of a block text"
			case t.Error != "":
				msg += ": " + t.Error
			}
			report(line, col, Problem{Message: msg})
			return nil, problems
		}
		if ended {
			report(line, col, Problem{Message: "text behind the end of the document"})
			break
		}
		if p, ok := refused[t.Type]; ok {
			report(line, col, p)
		}
		out = append(out, tok{kind: t.Type, line: line, col: col, off: off})
	}
	if n := len(out); n > 0 && out[n-1].limit == 0 {
		out[n-1].limit = len(s.text)
	}
	return out, problems
}

// dashed returns the offset of the first dash that a line of text, but the first
// one, starts with, or -1.
func dashed(text string) int {
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			return -1
		}
		at += i + 1
		body := strings.TrimLeft(text[at:], " \t\n")
		at = len(text) - len(body)
		if strings.HasPrefix(body, "-") {
			return at
		}
	}
}

func isBlock(k token.Type) bool { return k == token.LiteralType || k == token.FoldedType }

// builder turns tokens into nodes. After the first syntax error it only unwinds.
type builder struct {
	src      *source
	toks     []tok
	at       int
	depth    int
	nodes    int
	limits   Limits
	problems []Problem
	failed   bool
}

func (b *builder) fail(line, col int, hint, format string, args ...any) {
	if !b.failed {
		b.failed = true
		b.problems = append(b.problems, Problem{Line: line, Col: col, Message: fmt.Sprintf(format, args...), Hint: hint})
	}
}

func (b *builder) peek() (tok, bool) {
	if b.failed || b.at >= len(b.toks) {
		return tok{}, false
	}
	return b.toks[b.at], true
}

// node counts a new node.
func (b *builder) node(k Kind, t tok) *Node {
	if b.nodes++; b.nodes > b.limits.Nodes && !b.failed {
		b.fail(t.line, t.col, "", "more than %d values", b.limits.Nodes)
		b.problems[len(b.problems)-1].Limit = true
	}
	return &Node{Kind: k, Line: t.line, Col: t.col}
}

// enter goes one level down; every enter that returns true is followed by leave.
func (b *builder) enter(t tok) bool {
	if b.depth++; b.depth > b.limits.Depth && !b.failed {
		b.fail(t.line, t.col, "", "nested deeper than %d levels", b.limits.Depth)
		b.problems[len(b.problems)-1].Limit = true
	}
	return !b.failed
}

func (b *builder) leave() { b.depth-- }

func (b *builder) document() *Node {
	t, ok := b.peek()
	if !ok {
		b.fail(1, 1, "", "the document is empty")
		return nil
	}
	root := b.blockNode(t, -1)
	if t, ok = b.peek(); ok {
		b.unexpected(t)
	}
	return root
}

const quoteHint = "put a text that holds `: ` or braces in quotes"

func (b *builder) unexpected(t tok) {
	switch {
	case t.kind == token.MappingValueType:
		b.fail(t.line, t.col, quoteHint, "a mapping value is not allowed here")
	case t.col > 1 && b.at > 0 && b.toks[b.at-1].line < t.line:
		b.fail(t.line, t.col, "", "wrong indentation")
	default:
		b.fail(t.line, t.col, quoteHint, "unexpected %s", b.show(t))
	}
}

// show quotes the first characters of a token.
func (b *builder) show(t tok) string {
	text := strings.TrimSpace(b.src.text[t.off:max(t.limit, t.off+1)])
	text, _, _ = strings.Cut(text, "\n")
	if r := []rune(text); len(r) > 20 {
		text = string(r[:20]) + "..."
	}
	return fmt.Sprintf("%q", text)
}

func isScalar(k token.Type) bool {
	switch k {
	case token.StringType, token.SingleQuoteType, token.DoubleQuoteType, token.NullType, token.BoolType,
		token.IntegerType, token.BinaryIntegerType, token.OctetIntegerType, token.HexIntegerType,
		token.FloatType, token.InfinityType, token.NanType, token.ImplicitNullType:
		return true
	}
	return false
}

// isKey reports whether the next token is a key: a scalar and a colon on the
// same line.
func (b *builder) isKey() bool {
	if b.at+1 >= len(b.toks) {
		return false
	}
	k, c := b.toks[b.at], b.toks[b.at+1]
	return isScalar(k.kind) && c.kind == token.MappingValueType && c.line == k.line
}

// blockNode reads the node at t, the next token, inside a parent that is
// indented by parent columns (-1: none).
func (b *builder) blockNode(t tok, parent int) *Node {
	switch {
	case t.kind == token.SequenceEntryType:
		return b.blockSequence(t)
	case b.isKey():
		return b.blockMapping(t)
	case isBlock(t.kind):
		return b.blockScalar(t, parent)
	}
	return b.flowNode(t)
}

func (b *builder) blockSequence(first tok) *Node {
	n := b.node(Sequence, first)
	if !b.enter(first) {
		return n
	}
	defer b.leave()
	for {
		t, ok := b.peek()
		if !ok || t.kind != token.SequenceEntryType || t.col != first.col {
			return n
		}
		b.noTab(t)
		b.at++
		n.Items = append(n.Items, b.entryValue(t, first.col, true))
	}
}

func (b *builder) blockMapping(first tok) *Node {
	n := b.node(Mapping, first)
	if !b.enter(first) {
		return n
	}
	defer b.leave()
	seen := map[string]bool{}
	for {
		t, ok := b.peek()
		if !ok || t.col != first.col || !b.isKey() {
			return n
		}
		b.noTab(t)
		key := b.scalar(t, false)
		colon := b.toks[b.at]
		b.at++
		b.pair(n, seen, key, b.entryValue(colon, first.col, false))
	}
}

// noTab refuses a tab in the indentation of an entry of a block collection
// (section 6.1).
func (b *builder) noTab(t tok) {
	lead := b.src.text[b.src.lines[t.line-1]:t.off]
	if i := strings.IndexByte(lead, '\t'); i >= 0 && strings.TrimLeft(lead, " \t") == "" {
		b.fail(t.line, i+1, "indent with spaces", "a tab in the indentation")
	}
}

// pair appends a key and its value. The key of a template may not come twice.
func (b *builder) pair(n *Node, seen map[string]bool, key, value *Node) {
	if b.failed {
		return
	}
	if key.Text == "<<" && !key.Quoted {
		p := refused[token.MergeKeyType]
		b.fail(key.Line, key.Col, p.Hint, "%s", p.Message)
		return
	}
	if seen[key.Text] {
		if len(b.problems) < maxProblems {
			b.problems = append(b.problems, Problem{Line: key.Line, Col: key.Col, Message: fmt.Sprintf("key %q stands twice", key.Text)})
		}
		return
	}
	seen[key.Text] = true
	n.Keys = append(n.Keys, key)
	n.Values = append(n.Values, value)
}

// entryValue reads what follows a dash or a colon of a block collection whose
// entries start at column col. After a dash a collection may start on the same
// line.
func (b *builder) entryValue(mark tok, col int, dash bool) *Node {
	t, ok := b.peek()
	none := !ok
	if ok && t.line > mark.line {
		none = t.col < col || t.col == col && (dash || t.kind != token.SequenceEntryType)
	}
	if none {
		return b.node(Null, tok{line: mark.line, col: mark.col + 1})
	}
	if t.line == mark.line && !dash && (t.kind == token.SequenceEntryType || b.isKey()) {
		if b.isKey() {
			t = b.toks[b.at+1]
			b.fail(t.line, t.col, quoteHint, "a mapping value is not allowed here")
		} else {
			b.unexpected(t)
		}
		return b.node(Null, t)
	}
	v := b.blockNode(t, col-1)
	if next, ok := b.peek(); ok && next.col > col {
		b.unexpected(next)
	}
	return v
}

func (b *builder) blockScalar(t tok, parent int) *Node {
	n := b.node(String, t)
	header := b.src.text[t.off:]
	if i := strings.IndexAny(header, " \t\n"); i >= 0 {
		header = header[:i]
	}
	d := scalar{src: b.src}
	end, bad := d.block(t.line, header, parent)
	if bad > 0 {
		b.fail(bad, 1, "", "wrong indentation in a block text")
	}
	n.Text, n.marks, n.Quoted = string(d.buf), d.marks, true
	for b.at++; b.at < len(b.toks) && b.toks[b.at].line < end; b.at++ {
		continue // what the lexer found inside
	}
	return n
}

// flowNode reads a scalar or a flow collection.
func (b *builder) flowNode(t tok) *Node {
	switch {
	case t.kind == token.SequenceStartType:
		return b.flowSequence(t)
	case t.kind == token.MappingStartType:
		return b.flowMapping(t)
	case isScalar(t.kind):
		return b.scalar(t, true)
	}
	b.unexpected(t)
	return b.node(Null, t)
}

func (b *builder) flowSequence(open tok) *Node {
	n := b.node(Sequence, open)
	b.at++
	if !b.enter(open) {
		return n
	}
	defer b.leave()
	for {
		t, ok := b.flowNext(open, "]")
		if !ok {
			return n
		}
		if t.kind == token.SequenceEndType {
			b.at++
			return n
		}
		if b.isKey() { // a mapping of one pair without its braces
			b.at++
			t = b.toks[b.at]
			b.unexpected(t)
			return n
		}
		n.Items = append(n.Items, b.flowNode(t))
		if !b.separator(open, token.SequenceEndType, "]") {
			return n
		}
	}
}

func (b *builder) flowMapping(open tok) *Node {
	n := b.node(Mapping, open)
	b.at++
	if !b.enter(open) {
		return n
	}
	defer b.leave()
	seen := map[string]bool{}
	for {
		t, ok := b.flowNext(open, "}")
		if !ok {
			return n
		}
		if t.kind == token.MappingEndType {
			b.at++
			return n
		}
		if !isScalar(t.kind) {
			b.unexpected(t)
			return n
		}
		key := b.scalar(t, false)
		var value *Node
		if c, ok := b.peek(); ok && c.kind == token.MappingValueType {
			b.at++
			v, ok := b.flowNext(open, "}")
			if !ok {
				return n
			}
			if v.kind == token.CollectEntryType || v.kind == token.MappingEndType {
				value = b.node(Null, tok{line: c.line, col: c.col + 1})
			} else {
				value = b.flowNode(v)
			}
		} else {
			b.fail(key.Line, key.Col, quoteHint, "key %q has no value", key.Text)
			return n
		}
		b.pair(n, seen, key, value)
		if !b.separator(open, token.MappingEndType, "}") {
			return n
		}
	}
}

// flowNext returns the next token inside a flow collection.
func (b *builder) flowNext(open tok, closing string) (tok, bool) {
	t, ok := b.peek()
	if !ok {
		b.fail(open.line, open.col, "", "%s without %s", b.src.text[open.off:open.off+1], closing)
	}
	return t, ok
}

// separator takes the comma, or leaves the closing bracket to the caller.
func (b *builder) separator(open tok, closing token.Type, name string) bool {
	t, ok := b.flowNext(open, name)
	switch {
	case !ok:
		return false
	case t.kind == token.CollectEntryType:
		b.at++
		return true
	case t.kind == closing:
		return true
	}
	b.unexpected(t)
	return false
}

// scalar reads the scalar t. count is false for keys.
func (b *builder) scalar(t tok, count bool) *Node {
	n := &Node{Line: t.line, Col: t.col}
	if count {
		n = b.node(String, t)
	}
	b.at++
	d := scalar{src: b.src}
	text := b.src.text
	switch t.kind {
	case token.SingleQuoteType, token.DoubleQuoteType:
		n.Kind, n.Quoted = String, true
		end, bad := -1, -1
		switch text[t.off] {
		case '\'':
			end = d.single(t.off)
		case '"':
			end, bad = d.double(t.off)
		}
		switch {
		case bad >= 0:
			line, col := b.src.place(bad)
			b.fail(line, col, "", "unknown escape")
		case end < 0 || end > t.limit:
			b.fail(t.line, t.col, "", "the quotes are not closed")
		case strings.TrimSpace(text[end:t.limit]) != "":
			line, col := b.src.place(end)
			b.fail(line, col, "", "text behind the closing quote")
		}
	default:
		d.plain(t.off, t.off+len(strings.TrimRight(text[t.off:t.limit], " \t\n")))
	}
	n.Text, n.marks = string(d.buf), d.marks
	if !n.Quoted {
		n.Kind = resolve(n.Text)
	}
	return n
}
