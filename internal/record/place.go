package record

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"example.com/quire/internal/strictjson"
)

// step is one step down into a value: a member's name, or an index.
type step struct {
	name    string
	index   int
	isIndex bool
	isNone  bool // an object, before a name is read
}

// wrong is the error for a byte that the grammar does not allow at offset at.
func (p *parser) wrong(at int, want string) error {
	got := "the end of the text"
	if at < len(p.text) {
		if r, n := utf8.DecodeRune(p.text[at:]); r == utf8.RuneError && n == 1 {
			got = fmt.Sprintf("byte 0x%02X", p.text[at])
		} else if r == '\ufeff' {
			got = "a byte order mark"
		} else {
			got = strconv.QuoteRune(r)
		}
	}
	return p.problem(at, "", got, want)
}

func (p *parser) problem(at int, message, got, want string) error {
	line, column := position(p.text, at)
	return &DataError{Problem: Problem{
		Line: line, Column: column, Path: pathString(p.path), Message: message, Got: got, Want: want,
	}}
}

func (p *parser) limit(name string, limit int) error {
	line, column := position(p.text, p.at)
	return &LimitError{Name: name, Limit: int64(limit), At: Problem{Line: line, Column: column, Path: pathString(p.path)}}
}

// position returns the line and column of an offset into text.
func position(text []byte, at int) (line, column int) { return strictjson.Position(text, at) }

// cursor is position for offsets that rise: each byte is looked at once.
type cursor struct {
	text    []byte
	at      int
	lines   int // ended before at
	columns int // before at in its line
}

func (c *cursor) move(at int) (line, column int) {
	start := c.at
	for i := c.at; i < at; i++ {
		switch c.text[i] {
		case '\r':
			if i+1 < len(c.text) && c.text[i+1] == '\n' {
				continue
			}
		case '\n':
		default:
			continue
		}
		c.lines++
		c.columns, start = 0, i+1
	}
	c.columns += utf8.RuneCount(c.text[start:at])
	c.at = at
	return c.lines + 1, c.columns + 1
}

// pathString writes a path as trades[17].price. A name that is not an
// identifier stands in brackets and quotes: ["unit price"].
func pathString(path []step) string {
	var b strings.Builder
	for _, s := range path {
		switch {
		case s.isIndex:
			fmt.Fprintf(&b, "[%d]", s.index)
		case isIdentifier(s.name):
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.name)
		case !s.isNone:
			b.WriteByte('[')
			b.Write(appendString(nil, s.name))
			b.WriteByte(']')
		}
	}
	return b.String()
}

func isIdentifier(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '-') {
			return false
		}
	}
	return s != ""
}
