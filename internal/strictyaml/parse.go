package strictyaml

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// maxProblems bounds a report; a limit or a syntax error comes on top.
const maxProblems = 20

const depthMessage = "nested deeper than %d levels"

// Parse reads one document. It returns either the tree or the problems of the source: all refused
// features together; a syntax error or a limit alone, because the rest would be guesswork.
func Parse(src []byte, limits Limits) (*Node, []Problem) {
	b := &builder{src: newSource(string(src)), limits: limits}
	b.characters()
	b.indicators()
	var root *Node
	if !b.failed {
		var ok bool
		if root, ok = b.readJSON(); !ok {
			root = b.readYAML()
		}
	}
	if len(b.problems) > 0 {
		return nil, b.problems
	}
	return root, nil
}

// builder makes the tree. After a syntax error or a limit it only unwinds.
type builder struct {
	src      *source
	limits   Limits
	depth    int
	nodes    int
	problems []Problem
	failed   bool
}

func (b *builder) report(line, col int, hint, format string, args ...any) {
	if len(b.problems) < maxProblems && !b.failed {
		b.problems = append(b.problems, Problem{Line: line, Col: col, Message: fmt.Sprintf(format, args...), Hint: hint})
	}
}

func (b *builder) fail(line, col int, hint, format string, args ...any) {
	if !b.failed {
		b.problems = append(b.problems, Problem{Line: line, Col: col, Message: fmt.Sprintf(format, args...), Hint: hint})
		b.failed = true
	}
}

// limit ends the reading at a limit.
func (b *builder) limit(line, col int, format string, limit int) {
	if !b.failed {
		b.problems = append(b.problems, Problem{Line: line, Col: col, Message: fmt.Sprintf(format, limit), Limit: true})
		b.failed = true
	}
}

const nodesMessage = "more than %d values"

func (b *builder) node(k Kind, line, col int) *Node {
	if b.nodes++; b.nodes > b.limits.Nodes {
		b.limit(line, col, nodesMessage, b.limits.Nodes)
	}
	return &Node{Kind: k, Line: line, Col: col}
}

func (b *builder) enter(n *Node) {
	if b.depth++; b.depth > b.limits.Depth {
		b.limit(n.Line, n.Col, depthMessage, b.limits.Depth)
	}
}

func (b *builder) leave() { b.depth-- }

// pairs adds keys to a mapping, each once.
func (b *builder) pairs(n *Node) *pairs { return &pairs{b, n, map[string]bool{}} }

type pairs struct {
	b    *builder
	n    *Node
	seen map[string]bool
}

func (p *pairs) add(key, value *Node) {
	if p.seen[key.Text] {
		p.b.report(key.Line, key.Col, "", "key %q is repeated", key.Text)
		return
	}
	p.seen[key.Text] = true
	p.n.Keys = append(p.n.Keys, key)
	p.n.Values = append(p.n.Values, value)
}

// characters refuses what YAML does not allow in a stream (section 5.1), the byte-order mark,
// and the line separators beyond CR and LF, which YAML 1.1 breaks lines at and 1.2 does not.
func (b *builder) characters() {
	text := b.src.text
	for i, r := range text {
		var what, hint string
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			what = "text is not UTF-8"
		case r == '\uFEFF':
			what, hint = "byte-order mark", "save the file as UTF-8 without it"
		case r == '\u0085' || r == '\u2028' || r == '\u2029':
			what, hint = fmt.Sprintf("line separator U+%04X", r), "write it as an escape between quotation marks"
		case r == '\r' && !strings.HasPrefix(text[i+1:], "\n"),
			r < ' ' && r != '\n' && r != '\t' && r != '\r', r == 0x7F, r >= 0x80 && r < 0xA0:
			what = fmt.Sprintf("control character U+%04X", r)
		default:
			continue
		}
		line, col := b.src.place(i)
		b.fail(line, col, hint, "%s", what)
		return
	}
}

// indicators refuses a source that has many more commas, brackets, colons and dashes than it
// may have values, before a parser makes nodes of them. Most of a text's values have one; a
// factor of eight leaves room for those within texts.
func (b *builder) indicators() {
	text, count := b.src.text, 0
	for i := range len(text) {
		switch text[i] {
		case ',', '[', '{', ':', '?':
		case '-':
			if i+1 < len(text) && strings.IndexByte(spaces, text[i+1]) < 0 {
				continue
			}
		default:
			continue
		}
		if count++; count > 8*(b.limits.Nodes+1) {
			line, col := b.src.place(i)
			b.limit(line, col, nodesMessage, b.limits.Nodes)
			return
		}
	}
}

// depthLimit stops the scanner before its input gets dear. The scanner counts block and flow
// nesting apart and this package their sum, so the scanner is given twice the depth: what it lets
// pass is judged exactly, and at its place, by enter.
type depthLimit struct {
	most int
	hit  bool
}

var errDepth = errors.New("nested too deep")

func (d *depthLimit) CheckDepth(depth int, _ *yaml.DepthContext) error {
	if depth > d.most {
		d.hit = true
		return errDepth
	}
	return nil
}

func (d *depthLimit) CheckAlias(int, int) error { return nil }

func (b *builder) readYAML() *Node {
	b.directives()
	if b.failed {
		return nil
	}
	depth := &depthLimit{most: 2 * b.limits.Depth}
	loader, err := yaml.NewLoader(strings.NewReader(b.src.text), yaml.WithPlugin(depth))
	if err != nil {
		b.fail(1, 1, "", "%v", err)
		return nil
	}
	var doc, second yaml.Node
	switch err := loader.Load(&doc); {
	case errors.Is(err, io.EOF), err == nil && empty(&doc):
		b.fail(1, 1, "", "the document is empty")
		b.problems[0].Empty = true
		return nil
	case err != nil:
		b.syntax(err, depth.hit)
		return nil
	}
	root := b.value(doc.Content[0])
	switch err := loader.Load(&second); {
	case errors.Is(err, io.EOF):
	case err != nil && second.Line == 0:
		b.syntax(err, depth.hit)
	case strings.HasPrefix(b.src.text[b.src.offset(second.Line, second.Column):], "---"):
		b.fail(second.Line, second.Column, "", "second document")
	default:
		b.fail(second.Line, second.Column, "", "text behind the end of the document")
	}
	return root
}

func empty(doc *yaml.Node) bool {
	if len(doc.Content) == 0 {
		return true
	}
	n := doc.Content[0]
	return n.Kind == yaml.ScalarNode && n.Style == 0 && n.Value == "" && n.Anchor == ""
}

// directives refuses lines that begin with % before the document begins; the parser takes them
// without a trace in the tree.
func (b *builder) directives() {
	for i, start := range b.src.lines {
		rest := b.src.text[start:]
		if strings.HasPrefix(rest, "%") {
			b.fail(i+1, 1, "put a text that starts with % in quotes", "directives are not part of the language")
			return
		}
		if t := strings.TrimLeft(rest, blanks); t != "" && t[0] != '#' && t[0] != '\n' && t[0] != '\r' {
			return
		}
	}
}

// value turns a node of the parser into one of ours.
func (b *builder) value(y *yaml.Node) *Node {
	if !b.allowed(y) {
		return b.node(Null, max(y.Line, 1), max(y.Column, 1))
	}
	switch y.Kind {
	case yaml.MappingNode:
		n := b.node(Mapping, y.Line, y.Column)
		b.enter(n)
		defer b.leave()
		b.flowPair(y)
		p := b.pairs(n)
		for i := 0; i+1 < len(y.Content) && !b.failed; i += 2 {
			k, v := y.Content[i], y.Content[i+1]
			if key := b.key(y, k, v); key != nil {
				p.add(key, b.value(v))
			} else {
				b.value(v)
			}
		}
		return n
	case yaml.SequenceNode:
		n := b.node(Sequence, y.Line, y.Column)
		b.enter(n)
		defer b.leave()
		for _, v := range y.Content {
			if b.failed {
				break
			}
			n.Items = append(n.Items, b.value(v))
		}
		return n
	}
	n := b.node(String, y.Line, y.Column)
	b.scalar(n, y)
	return n
}

// allowed reports what a node carries that the language does not have.
func (b *builder) allowed(y *yaml.Node) bool {
	switch {
	case y.Kind == yaml.AliasNode:
		b.report(y.Line, y.Column, "put a text that starts with * in quotes", "aliases are not part of the language")
	case y.Anchor != "":
		b.report(y.Line, y.Column, "put a text that starts with & in quotes", "anchors are not part of the language")
	case y.Style&yaml.TaggedStyle != 0 || b.tagged(y):
		b.report(y.Line, y.Column, "put a text that starts with ! in quotes", "tags are not part of the language")
	default:
		return true
	}
	return false
}

// tagged finds the tag ! alone, which leaves no trace in the node but its place.
func (b *builder) tagged(y *yaml.Node) bool {
	return y.Line > 0 && strings.HasPrefix(b.src.text[b.src.offset(y.Line, y.Column):], "!")
}

// key reads the key k of the mapping y, or reports why it is none.
func (b *builder) key(y, k, v *yaml.Node) *Node {
	off := b.src.offset(k.Line, k.Column)
	before := strings.TrimRight(b.src.text[:off], spaces)
	switch {
	case len(before) < off && strings.HasSuffix(before, "?") && (len(before) == 1 || strings.IndexByte(spaces+"{,[-?:", before[len(before)-2]) >= 0):
		line, col := b.src.place(len(before) - 1)
		b.report(line, col, "put a text that starts with ? in quotes", "complex keys are not part of the language")
		return nil
	case !b.allowed(k):
		return nil
	case k.Kind != yaml.ScalarNode:
		b.fail(k.Line, k.Column, quoteHint, "unexpected %s", b.show(off))
		return nil
	case k.Style == 0 && k.Value == "<<":
		b.report(k.Line, k.Column, "", "merge keys are not part of the language")
		return nil
	}
	n := &Node{Kind: String, Line: k.Line, Col: k.Column}
	b.scalar(n, k)
	if v.Kind == yaml.ScalarNode && v.Style == 0 && v.Value == "" {
		if at := reColor.FindStringIndex(b.src.text[n.end:min(n.end+64, len(b.src.text))]); at != nil {
			line, col := b.src.place(n.end + strings.IndexByte(b.src.text[n.end:], '#'))
			b.report(line, col, commentHint, "a comment begins here")
			return nil
		}
	}
	if y.Style&yaml.FlowStyle != 0 && v.Kind == yaml.ScalarNode && v.Style == 0 && v.Value == "" {
		if i := b.src.skip(n.end, spaces); i >= len(b.src.text) || b.src.text[i] != ':' && b.src.text[i] != '#' {
			b.fail(n.Line, n.Col, quoteHint, "key %q has no value", n.Text)
		}
	}
	return n
}

// flowPair refuses a pair in a flow list without braces of its own.
func (b *builder) flowPair(y *yaml.Node) {
	if y.Style&yaml.FlowStyle == 0 || len(y.Content) < 2 {
		return
	}
	off := b.src.offset(y.Line, y.Column)
	if strings.HasPrefix(b.src.text[off:], "{") {
		return
	}
	k := &Node{}
	b.scalar(k, y.Content[0])
	line, col := b.src.place(b.src.skip(k.end, spaces))
	b.fail(line, col, quoteHint, "a mapping value is not allowed here")
}

// scalar fills n from y.
func (b *builder) scalar(n *Node, y *yaml.Node) {
	n.Line, n.Col, n.Text = y.Line, y.Column, y.Value
	off := b.src.offset(y.Line, y.Column)
	written := plain
	switch {
	case y.Style&yaml.SingleQuotedStyle != 0:
		written = single
	case y.Style&yaml.DoubleQuotedStyle != 0:
		written = double
	case y.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		written = block
	}
	if written == plain && n.Text == "" { // it stands behind its colon, not at what follows
		if before := strings.TrimRight(b.src.text[:off], spaces); strings.HasSuffix(before, ":") {
			off = len(before)
			n.Line, n.Col = b.src.place(off)
		}
	}
	n.Quoted = written != plain
	n.Kind = String
	if !n.Quoted {
		n.Kind = resolve(n.Text)
	}
	if dash := b.src.follow(n, off, written); dash >= 0 {
		line, col := b.src.place(dash)
		b.report(line, col, "put the text in quotes, or begin the list below its key", "a text goes on in a line that starts with a dash")
	}
}

const quoteHint = "put a text that holds `: `, braces or brackets in quotes"

// show quotes the first characters of a line of the source.
func (b *builder) show(off int) string {
	text, _, _ := strings.Cut(strings.TrimSpace(b.src.text[off:]), "\n")
	if i := strings.IndexAny(text, " \t,]}"); i > 0 {
		text = text[:i]
	}
	if strings.IndexByte("[]{},", text[0]) >= 0 {
		text = text[:1]
	}
	if r := []rune(text); len(r) > 20 {
		text = string(r[:20]) + "..."
	}
	return fmt.Sprintf("%q", text)
}

// syntax words an error of the parser.
func (b *builder) syntax(err error, depth bool) {
	e, ok := errors.AsType[*yaml.LoadError](err)
	if !ok || e.Mark.Line == 0 {
		b.fail(1, 1, "", "syntax error: %v", err)
		return
	}
	line, col, from := e.Mark.Line, e.Mark.Column, e.ContextMark
	off := b.src.offset(line, col)
	line, col = b.src.place(off) // the parser may mean the line behind the last
	end := b.src.skip(off, spaces) == len(b.src.text)
	switch {
	case depth:
		b.limit(line, col, depthMessage, b.limits.Depth)
	case b.comment(line):
	case e.Stage == yaml.ComposerStage && strings.HasPrefix(e.Message, "unknown anchor"):
		b.report(line, col, "put a text that starts with * in quotes", "aliases are not part of the language")
	case e.Message == "mapping values are not allowed in this context":
		hint := quoteHint
		if b.src.deeper(line) {
			hint = "indent the line as the one above it, or " + quoteHint
		}
		b.fail(line, col, hint, "a mapping value is not allowed here")
	case strings.HasPrefix(e.Message, "found character that cannot start any token"):
		if strings.HasPrefix(b.src.text[off:], "\t") {
			b.fail(line, col, "indent with spaces", "a tab in the indentation")
		} else {
			b.fail(line, col, "put the text in quotes", "syntax error: no text may start with %s", b.show(off))
		}
	case e.Message == "did not find expected comment or line break" && strings.HasPrefix(e.ContextMsg, "while scanning a block scalar"):
		b.fail(from.Line, from.Column, "", "syntax error: unknown option in the header of a block text")
	case strings.HasPrefix(e.ContextMsg, "while scanning a quoted scalar"):
		b.quoted(e, off)
	case e.Stage == yaml.ScannerStage && !strings.Contains(e.Message, "not allowed in this context"):
		b.fail(line, col, "", "syntax error: %s", e.Message)
	case end && strings.HasPrefix(e.ContextMsg, "while parsing a flow"):
		b.unclosed()
	case end:
		b.fail(line, col, "", "syntax error: the text ends too early")
	case strings.TrimLeft(b.src.text[b.src.lines[line-1]:off], blanks) == "" && strings.HasPrefix(e.ContextMsg, "while parsing a block"):
		b.fail(line, col, "begin the line in the column of those that it belongs with", "wrong indentation")
	default:
		hint := quoteHint
		if off > 0 && b.src.text[off-1] == '\'' && b.src.skip(off, spaces) == off {
			hint = "write '' for an apostrophe between single quotes, or put the text in double quotes"
		}
		if off > 0 && b.src.text[off-1] == '"' && b.src.skip(off, spaces) == off {
			hint = `write \" for a quote between double quotes, or put the text in single quotes`
		}
		b.fail(line, col, hint, "unexpected %s", b.show(off))
	}
}

// reColor is a colour without quotes behind a key, which YAML takes for a comment.
var reColor = regexp.MustCompile(`^[ \t]*:[ \t]+#(?:[0-9A-Fa-f]{3}){1,2}\b`)

const commentHint = "put a text that begins with # in quotes"

// reComment is a value that begins with #, which YAML takes for a comment.
var reComment = regexp.MustCompile(`(?:[:,]\s+|\[\s*)#\w`)

// comment reports such a value in the line that goes wrong or one of those right above it, within
// brackets, whose end is not there then.
func (b *builder) comment(line int) bool {
	for l := line; l > max(line-3, 0); l-- {
		text, _, _ := strings.Cut(b.src.text[b.src.lines[l-1]:], "\n")
		at := reComment.FindStringIndex(text)
		if at == nil {
			continue
		}
		before := text[:at[1]]
		if strings.Count(before, "{")+strings.Count(before, "[") <= strings.Count(before, "}")+strings.Count(before, "]") {
			continue
		}
		l, col := b.src.place(b.src.lines[l-1] + at[1] - 2)
		b.fail(l, col, commentHint, "a comment begins here")
		return true
	}
	return false
}

// quoted words an error within a text in quotes; off is where the parser noticed it.
func (b *builder) quoted(e *yaml.LoadError, off int) {
	text := b.src.text
	switch {
	case strings.Contains(e.Message, "escape"):
		line, col := b.src.place(max(strings.LastIndexByte(text[:min(off+1, len(text))], '\\'), 0))
		b.fail(line, col, "", "unknown escape")
	case strings.Contains(e.Message, "end of stream"), strings.Contains(e.Message, "document indicator"):
		b.fail(e.ContextMark.Line, e.ContextMark.Column, "", "syntax error: the quotes are not closed")
	default:
		b.fail(e.Mark.Line, e.Mark.Column, "", "syntax error: %s", e.Message)
	}
}

// unclosed finds the bracket that a text leaves open at its end.
func (b *builder) unclosed() {
	depth, text := 0, b.src.text
	for i := len(text) - 1; i >= 0; i-- {
		switch text[i] {
		case ']', '}':
			depth++
		case '[', '{':
			if depth--; depth < 0 {
				line, col := b.src.place(i)
				closing := map[byte]string{'[': "]", '{': "}"}[text[i]]
				b.fail(line, col, "", "%c without %s", text[i], closing)
				return
			}
		}
	}
	line, col := b.src.place(len(text))
	b.fail(line, col, "", "syntax error: the text ends too early")
}
