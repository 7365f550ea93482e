package strictyaml

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// source is the text with its line starts.
type source struct {
	text  string
	lines []int // byte offset of each line

	// The place that was asked for last. Most questions follow each other, so counting goes on
	// from there and a long line costs one pass.
	line, col, off int
}

func newSource(text string) *source {
	s := &source{text: text, lines: []int{0}, line: 1, col: 1}
	for i := range len(text) {
		if text[i] == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	return s
}

// offset returns the byte offset of a place; the end of the line when the line is shorter.
func (s *source) offset(line, col int) int {
	if line > len(s.lines) {
		return len(s.text)
	}
	if s.line != line || col < s.col {
		s.line, s.col, s.off = line, 1, s.lines[line-1]
	}
	for s.col < col && s.off < len(s.text) && s.text[s.off] != '\n' {
		_, n := utf8.DecodeRuneInString(s.text[s.off:])
		s.off += n
		s.col++
	}
	return s.off
}

// place is the inverse of offset.
func (s *source) place(off int) (line, col int) {
	line = sort.SearchInts(s.lines, off+1)
	if s.line != line || off < s.off {
		s.line, s.col, s.off = line, 1, s.lines[line-1]
	}
	s.col += utf8.RuneCountInString(s.text[s.off:off])
	s.off = off
	return line, s.col
}

// skip returns the first offset from i on that holds none of the given characters.
func (s *source) skip(i int, chars string) int {
	return len(s.text) - len(strings.TrimLeft(s.text[i:], chars))
}

const (
	blanks = " \t"
	spaces = " \t\r\n"
)

// style is how a scalar is written.
type style uint8

const (
	plain style = iota
	single
	double
	block
)

// follow finds the places of the characters of n.Text, which the parser decoded from the scalar
// at offset at: all but blanks are, in this order, characters of the source or escapes of one.
// It returns the offset of a dash that a line of a plain scalar starts with, or -1.
func (s *source) follow(n *Node, at int, written style) (dash int) {
	f := follower{source: s, node: n, written: written, at: at, next: -1, dash: -1}
	switch written {
	case single, double:
		f.at++
	case block: // the header is not content
		f.at = s.skip(at, "|>+-0123456789")
		if end := strings.IndexByte(s.text[f.at:], '\n'); end >= 0 {
			f.at += end
		} else {
			f.at = len(s.text)
		}
	}
	f.run()
	n.end = f.at
	if written == single || written == double {
		for f.at = s.skip(f.at, spaces); f.broken(); f.at = s.skip(f.at, spaces) {
			f.at++
		}
		n.end = min(f.at+1, len(s.text))
	}
	return f.dash
}

type follower struct {
	*source
	node    *Node
	written style
	at      int // in the source
	off     int // in node.Text
	next    int // source offset that the next character has without a new mark
	dash    int
}

func (f *follower) run() {
	for text := f.node.Text; f.off < len(text); {
		if c := text[f.off]; c == ' ' || c == '\t' || c == '\n' {
			f.blank()
			continue
		}
		for f.at = f.skip(f.at, spaces); f.broken(); f.at = f.skip(f.at, spaces) {
			f.at++
		}
		if f.at >= len(f.text) {
			return
		}
		_, size := utf8.DecodeRuneInString(text[f.off:])
		switch c := f.text[f.at]; {
		case f.written == double && c == '\\':
			f.take(size, escapeLen(f.text[f.at:]), false)
		case f.written == single && c == '\'':
			f.take(size, 2, false)
		default:
			f.take(size, size, true)
		}
	}
}

// broken reports whether an escaped line break stands here.
func (f *follower) broken() bool {
	rest := f.text[min(f.at, len(f.text)):]
	return f.written == double && (strings.HasPrefix(rest, "\\\n") || strings.HasPrefix(rest, "\\\r\n"))
}

// take maps the next size bytes of the text to the next width bytes of the source. same: they
// have as many characters.
func (f *follower) take(size, width int, same bool) {
	if !same || f.next != f.at {
		line, col := f.place(f.at)
		f.node.marks = append(f.node.marks, mark{f.off, line, col})
	}
	f.off += size
	f.at = min(f.at+width, len(f.text))
	f.next = -1
	if same {
		f.next = f.at
	}
}

// blank maps the blanks of the text that stand here: one to one within a line; a folded line
// break with its indentation to the end of its line.
func (f *follower) blank() {
	text := f.node.Text
	for f.broken() {
		f.at = f.skip(f.at+1, spaces)
	}
	if f.at >= len(f.text) {
		f.take(1, 0, false)
		return
	}
	if f.written == double && f.text[f.at] == '\\' {
		f.take(1, escapeLen(f.text[f.at:]), false)
		return
	}
	end := f.skip(f.at, spaces)
	breaks := strings.Count(f.text[f.at:end], "\n")
	if breaks == 0 {
		width := 1
		if end == f.at {
			width = 0
		}
		f.take(1, width, width == 1)
		return
	}
	size := max(1, breaks-1) // section 6.5
	if f.written == block {
		size = len(text)
	}
	n := 0
	for n < size && f.off+n < len(text) && strings.IndexByte(" \t\n", text[f.off+n]) >= 0 {
		n++
	}
	from := f.at
	f.take(n, 0, false)
	f.at = end
	if f.written == plain && f.dash < 0 && end > from && strings.HasPrefix(f.text[end:], "-") {
		if rest := f.text[end+1:]; rest == "" || strings.IndexByte(" \t\r\n-", rest[0]) >= 0 {
			f.dash = end
		}
	}
}

// escapeLen returns the length of the escape that s starts with; a surrogate pair of JSON is
// one.
func escapeLen(s string) int {
	n := 2
	if len(s) > 1 {
		switch s[1] {
		case 'x':
			n = 4
		case 'u':
			n = 6
			if len(s) >= 12 && s[2]|0x20 == 'd' && strings.IndexByte("89abAB", s[3]) >= 0 && s[6:8] == `\u` {
				n = 12
			}
		case 'U':
			n = 10
		}
	}
	return min(n, len(s))
}

// deeper reports whether a line is indented more than the one above it.
func (s *source) deeper(line int) bool {
	if line < 2 || line > len(s.lines) {
		return false
	}
	indent := func(line int) int {
		text := s.text[s.lines[line-1]:]
		return len(text) - len(strings.TrimLeft(text, " "))
	}
	return indent(line) > indent(line-1)
}
