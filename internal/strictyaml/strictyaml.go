// Package strictyaml reads the one YAML dialect of Quire, used by templates and quire.yaml: YAML
// 1.2 with the core schema, which includes JSON, without features that make a text mean something
// other than it shows. Anchors, aliases, tags, merge keys, complex keys, directives, a second
// document, a byte order mark and duplicate keys are problems, each with its position. Every
// character of a scalar has a position in the source, so an expression inside a folded block
// scalar is reported at its own line and column.
//
// The parser is go.yaml.in/yaml/v4. This package adds the rules and the positions. Depth is
// checked during scanning, and a text that could expand to far too many nodes is refused before,
// so hostile input costs one pass over its bytes. JSON is read by jsontext, because YAML's escapes
// have no surrogate pairs.
package strictyaml

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// Kind is the type of a Node. A plain scalar is resolved by the core schema of YAML 1.2 (section
// 10.3.2).
type Kind uint8

// The kinds.
const (
	Mapping Kind = iota
	Sequence
	String
	Int
	Float
	Bool
	Null
)

var kindNames = [...]string{"mapping", "list", "text", "whole number", "number", "boolean", "null"}

// String returns the kind in the words of diagnostics.
func (k Kind) String() string { return kindNames[k] }

// Node is one value of the source. Nodes are never changed after Parse.
type Node struct {
	Kind   Kind
	Line   int // from 1
	Col    int // from 1, in code points
	Text   string
	Quoted bool    // scalar between quotes or a block scalar
	Keys   []*Node // of a Mapping: scalars, each once
	Values []*Node // of a Mapping: beside Keys
	Items  []*Node // of a Sequence

	marks []mark // in a scalar: where the run of one character per column is broken
	end   int    // in a scalar: source offset behind it
}

// mark says that Text[off:] starts at line and col of the source.
type mark struct{ off, line, col int }

// IsScalar reports whether n is neither a Mapping nor a Sequence.
func (n *Node) IsScalar() bool { return n.Kind != Mapping && n.Kind != Sequence }

// Pos returns the position of the character at byte offset off of n.Text. An offset beyond the text
// gives the position after it.
func (n *Node) Pos(off int) (line, col int) {
	off = min(max(off, 0), len(n.Text))
	i := sort.Search(len(n.marks), func(i int) bool { return n.marks[i].off > off }) - 1
	if i < 0 {
		return n.Line, n.Col
	}
	m := n.marks[i]
	return m.line, m.col + utf8.RuneCountInString(n.Text[m.off:off])
}

// Get returns the value of a key of a Mapping, or nil.
func (n *Node) Get(key string) *Node {
	for i, k := range n.Keys {
		if k.Text == key {
			return n.Values[i]
		}
	}
	return nil
}

// Key returns the node of the key itself, or nil.
func (n *Node) Key(key string) *Node {
	for _, k := range n.Keys {
		if k.Text == key {
			return k
		}
	}
	return nil
}

// Problem is one reason why a source cannot be read.
type Problem struct {
	Line, Col int
	Message   string
	Hint      string // what to do; may be empty
	Limit     bool   // a limit, not the syntax
	Empty     bool   // the text has only blanks and comments
}

// Limits bounds a source.
type Limits struct {
	Depth int // nesting of mappings and lists
	Nodes int // values, keys not counted
}

// resolve applies the core schema to a plain scalar.
func resolve(text string) Kind {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return Null
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return Bool
	}
	return number(text)
}

// number tells numbers from text. It is written out because it is asked about
// every plain scalar: a regular expression takes twenty times as long.
func number(text string) Kind {
	if digits, ok := strings.CutPrefix(text, "0o"); ok && run(digits, isOctal) == len(digits) && digits != "" {
		return Int
	}
	if digits, ok := strings.CutPrefix(text, "0x"); ok && run(digits, isHex) == len(digits) && digits != "" {
		return Int
	}
	switch text {
	case ".nan", ".NaN", ".NAN":
		return Float
	}
	rest := text
	if rest[0] == '+' || rest[0] == '-' {
		rest = rest[1:]
	}
	switch rest {
	case ".inf", ".Inf", ".INF":
		return Float
	}
	whole := run(rest, isDigit)
	if whole > 0 && whole == len(rest) {
		return Int
	}
	rest = rest[whole:]
	fraction := 0
	if strings.HasPrefix(rest, ".") {
		fraction = run(rest[1:], isDigit)
		rest = rest[1+fraction:]
	}
	if whole+fraction == 0 {
		return String
	}
	if rest != "" && rest[0]|0x20 == 'e' {
		rest = rest[1:]
		if rest != "" && (rest[0] == '+' || rest[0] == '-') {
			rest = rest[1:]
		}
		n := run(rest, isDigit)
		if n == 0 {
			return String
		}
		rest = rest[n:]
	}
	if rest != "" {
		return String
	}
	return Float
}

// run counts the bytes at the start of s that is accepts.
func run(s string, is func(byte) bool) int {
	n := 0
	for n < len(s) && is(s[n]) {
		n++
	}
	return n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isOctal(c byte) bool { return c >= '0' && c <= '7' }
func isHex(c byte) bool   { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }
