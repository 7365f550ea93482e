package yamlsrc

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

// source is the text with its line starts.
type source struct {
	text  string
	lines []int // byte offset of each line

	// The place that was asked for last. Most questions follow each other, so
	// counting goes on from there and a long line costs one pass.
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

// offset returns the byte offset of a place, or -1 when there is no such place.
func (s *source) offset(line, col int) int {
	if line < 1 || line > len(s.lines) || col < 1 {
		return -1
	}
	if s.line != line || col < s.col {
		s.line, s.col, s.off = line, 1, s.lines[line-1]
	}
	for s.col < col {
		if s.off >= len(s.text) || s.text[s.off] == '\n' {
			return -1
		}
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

// forLexer returns the text as the lexer gets it and the number of the line that
// each of its lines is in the source. What is kept from the lexer does not change
// what tokens there are:
//
//   - tabs that lines begin with: it miscounts columns behind them;
//   - blank lines: at the end of a block scalar it copies the scalar once for
//     each, which for a megabyte of line feeds takes hours;
//   - less-than signs that are no merge key: it counts a run of them anew at each
//     sign, and takes the last two of a key such as "a<<" for one;
//   - a minus that a line begins with: it misplaces a text that goes on there.
func (s *source) forLexer() (text string, lineOf []int) {
	b := make([]byte, 0, len(s.text))
	for n := 1; n <= len(s.lines); n++ {
		line := s.lineText(n)
		body := strings.TrimLeft(line, " \t")
		if body == "" {
			continue
		}
		lineOf = append(lineOf, n)
		for range len(line) - len(body) {
			b = append(b, ' ')
		}
		start := len(b)
		b = append(b, body...)
		if len(body) > 1 && body[0] == '-' && strings.IndexByte(" \t-", body[1]) < 0 {
			b[start] = 'x'
		}
		if n < len(s.lines) {
			b = append(b, '\n')
		}
	}
	for i := 0; i < len(b); {
		end := i
		for end < len(b) && b[end] == '<' {
			end++
		}
		merge := end-i == 2 && (i == 0 || strings.IndexByte(" \t\n{,", b[i-1]) >= 0)
		for !merge && i < end {
			b[i] = 'x'
			i++
		}
		i = end + 1
	}
	return string(b), lineOf
}

// lineText returns a line without its line feed.
func (s *source) lineText(line int) string {
	start := s.lines[line-1]
	if line < len(s.lines) {
		return s.text[start : s.lines[line]-1]
	}
	return s.text[start:]
}

// checkCharacters finds what YAML does not allow in a stream (section 5.1), and
// the byte-order mark, which it allows and we do not.
func checkCharacters(s *source) []Problem {
	for i, r := range s.text {
		var what string
		switch {
		case r == utf8.RuneError && strings.HasPrefix(s.text[i:], "\uFFFD"):
			continue
		case r == utf8.RuneError:
			what = "text is not UTF-8"
		case r == '\uFEFF':
			what = "byte-order mark"
		case r < ' ' && r != '\n' && r != '\t', r == 0x7F, r >= 0x80 && r < 0xA0 && r != 0x85:
			what = fmt.Sprintf("control character U+%04X", r)
		default:
			continue
		}
		line, col := s.place(i)
		return []Problem{{Line: line, Col: col, Message: what}}
	}
	return nil
}

// scalar collects decoded text with its marks.
type scalar struct {
	src   *source
	buf   []byte
	marks []mark
	next  int // source offset that the next character has without a new mark
}

// add appends src.text[from:to] as it stands.
func (d *scalar) add(from, to int) {
	if from == to {
		return
	}
	d.mark(from)
	d.buf = append(d.buf, d.src.text[from:to]...)
	d.next = to
}

// put appends text that stands for the source from offset from on.
func (d *scalar) put(from int, text string) {
	d.mark(from)
	d.buf = append(d.buf, text...)
	d.next = -1
}

func (d *scalar) mark(from int) {
	if len(d.marks) > 0 && d.next == from {
		return
	}
	line, col := d.src.place(from)
	d.marks = append(d.marks, mark{len(d.buf), line, col})
}

// fold appends the line break at offset nl: blanks before it are gone already;
// the offset behind it, its empty lines and the indentation is returned (flow
// line folding, section 7.4).
func (d *scalar) fold(nl, end int) int {
	text := d.src.text
	breaks, i := 0, nl
	for i < end && (text[i] == '\n' || text[i] == ' ' || text[i] == '\t') {
		if text[i] == '\n' {
			breaks++
		}
		i++
	}
	if breaks == 1 {
		d.put(nl, " ")
	} else {
		d.put(nl, strings.Repeat("\n", breaks-1))
	}
	return i
}

// plain decodes the plain scalar in text[from:to], which has no blanks at its
// ends.
func (d *scalar) plain(from, to int) {
	start := from
	for i := from; i < to; {
		if d.src.text[i] != '\n' {
			i++
			continue
		}
		cut := trimBlanks(d.src.text, start, i)
		d.add(start, cut)
		i = d.fold(i, to)
		start = i
	}
	d.add(start, to)
}

func trimBlanks(text string, start, end int) int {
	for end > start && (text[end-1] == ' ' || text[end-1] == '\t') {
		end--
	}
	return end
}

// single decodes the scalar between apostrophes that starts at from and returns
// the offset behind it, or -1 when it is not closed.
func (d *scalar) single(from int) int {
	text := d.src.text
	start := from + 1
	for i := start; i < len(text); {
		switch text[i] {
		case '\'':
			if i+1 < len(text) && text[i+1] == '\'' {
				d.add(start, i+1)
				i += 2
				start = i
				continue
			}
			d.add(start, i)
			return i + 1
		case '\n':
			d.add(start, trimBlanks(text, start, i))
			i = d.fold(i, len(text))
			start = i
		default:
			i++
		}
	}
	return -1
}

var escapes = map[byte]string{
	'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r",
	'e': "\x1b", ' ': " ", '"': `"`, '/': "/", '\\': `\`, 'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029",
}

// double decodes the scalar between quotation marks that starts at from and
// returns the offset behind it; bad is the offset of a wrong escape, or -1. A
// scalar that is not closed returns -1.
func (d *scalar) double(from int) (end, bad int) {
	text := d.src.text
	start := from + 1
	for i := start; i < len(text); {
		switch text[i] {
		case '"':
			d.add(start, i)
			return i + 1, -1
		case '\n':
			d.add(start, trimBlanks(text, start, i))
			i = d.fold(i, len(text))
			start = i
		case '\\':
			d.add(start, i)
			n := d.escape(i)
			if n == 0 {
				return -1, i
			}
			i += n
			start = i
		default:
			i++
		}
	}
	return -1, -1
}

// escape decodes the escape at offset i and returns its length, 0 when it is
// none.
func (d *scalar) escape(i int) int {
	rest := d.src.text[i:]
	if len(rest) < 2 {
		return 0
	}
	if s, ok := escapes[rest[1]]; ok {
		d.put(i, s)
		return 2
	}
	switch rest[1] {
	case '\n': // the line goes on without a space; empty ones are line feeds (section 7.3.1)
		n := 2
		for ; n < len(rest) && (rest[n] == ' ' || rest[n] == '\t' || rest[n] == '\n'); n++ {
			if rest[n] == '\n' {
				d.put(i+n, "\n")
			}
		}
		return n
	case 'x':
		return d.hex(i, rest, 2)
	case 'u':
		return d.hex(i, rest, 4)
	case 'U':
		return d.hex(i, rest, 8)
	}
	return 0
}

func (d *scalar) hex(i int, rest string, digits int) int {
	r, ok := hexRune(rest[2:], digits)
	if !ok {
		return 0
	}
	n := 2 + digits
	if r >= 0xD800 && r < 0xDC00 && strings.HasPrefix(rest[n:], `\u`) { // a pair, as JSON writes it
		if low, ok := hexRune(rest[n+2:], 4); ok && low >= 0xDC00 && low < 0xE000 {
			r = (r-0xD800)<<10 | (low - 0xDC00) + 0x10000
			n += 6
		}
	}
	if !utf8.ValidRune(r) {
		return 0
	}
	d.put(i, string(r))
	return n
}

func hexRune(s string, digits int) (rune, bool) {
	if len(s) < digits {
		return 0, false
	}
	var v uint32
	for i := range digits {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		if v >= 1<<24 {
			return 0, false
		}
		v = v<<4 | uint32(c)
	}
	return rune(v), true
}

// block decodes the block scalar whose header stands at line and column col and
// whose parent is indented by parent columns. It returns the first line that
// does not belong to it, and the line of a wrong indentation, or 0.
func (d *scalar) block(line int, header string, parent int) (end, bad int) {
	folded := header[0] == '>'
	chomp, indent := byte(0), -1
	for _, c := range []byte(header[1:]) {
		switch {
		case c == '+' || c == '-':
			chomp = c
		case c >= '1' && c <= '9':
			indent = max(parent, 0) + int(c-'0')
		}
	}
	first, last := line+1, line // last line with content
	end = len(d.src.lines) + 1
	for n := first; n < end; n++ {
		text := d.src.lineText(n)
		body := strings.TrimLeft(text, " ")
		if body == "" {
			continue
		}
		lead := len(text) - len(body)
		if indent < 0 {
			if lead <= parent {
				end = n
				break
			}
			indent = lead
			for m := first; m < n; m++ { // section 8.1.1.1
				if len(d.src.lineText(m)) > indent {
					return n, m
				}
			}
		}
		if lead < indent {
			if lead > parent {
				return n, n
			}
			end = n
			break
		}
		last = n
	}
	d.blockLines(first, last, indent, folded)
	switch {
	case last < first && chomp != '+':
	case chomp == '-':
	case chomp == '+':
		for n := max(last, first); n < end && (n < len(d.src.lines) || d.src.lineText(n) != ""); n++ {
			d.put(d.src.lines[n-1]+len(d.src.lineText(n)), "\n")
		}
	default:
		d.put(d.src.lines[last-1]+len(d.src.lineText(last)), "\n")
	}
	return end, 0
}

// blockLines appends the lines first..last, the last without its line feed.
func (d *scalar) blockLines(first, last, indent int, folded bool) {
	blank, more, begun := 0, false, false // since the line before; that line is more indented; there is one
	for n := first; n <= last; n++ {
		text := d.src.lineText(n)
		start := d.src.lines[n-1]
		if len(text) <= indent && strings.TrimLeft(text, " ") == "" {
			blank++
			continue
		}
		body := text[indent:]
		deeper := body[0] == ' ' || body[0] == '\t'
		switch {
		case !begun:
			if blank > 0 {
				d.put(start, strings.Repeat("\n", blank))
			}
		case !folded || deeper || more:
			d.put(start-1, strings.Repeat("\n", blank+1))
		case blank > 0:
			d.put(start-1, strings.Repeat("\n", blank))
		default:
			d.put(start-1, " ")
		}
		d.add(start+indent, start+len(text))
		blank, more, begun = 0, deeper, true
	}
}
