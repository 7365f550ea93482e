package compile

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/compile/exprlang"
	"example.com/quire/pdf/internal/diag"
)

// Stream returns data that are a JSON text, of which the array at path, such as "trades" or
// "account.trades", is read row by row while the document is laid out. r is read by one document.
//
// The text is taken apart without decoding it: what stands before the first row, each row, and what
// stands behind the last. The first part, with its objects closed, is decoded before layout begins;
// so what the template reads must stand there. At the end the first and the last part are decoded
// as one text, for what is wrong with the rest.
func Stream(r io.Reader, path string) Data {
	return &streamData{source: source{name: "data.json", in: bufio.NewReader(r)}, path: strings.Split(path, ".")}
}

type streamData struct {
	source
	path []string
}

// window is how the text of a decoder lies in what it was cut from; nil: it is all of it.
type window struct {
	path    []string       // of the array whose rows are not in the text
	rows    exprlang.Value // stands for it
	open    int            // where what was read ends: the brackets behind close what is still open; 0: nowhere
	from    int            // where the text goes on from another place
	base    position       // that place
	unknown bool           // nothing has a place: the data are no text
}

// position is a place in a text: line and column from 1.
type position struct{ line, col int }

// place is the position of byte off of a text.
func (w *window) place(src string, off int) position {
	at, start := position{1, 1}, 0
	switch {
	case w == nil:
	case w.unknown:
		return position{}
	case w.base.line > 0 && off >= w.from:
		at, start = w.base, w.from
	}
	text := src[start:off]
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		at.line += strings.Count(text, "\n")
		at.col, text = 1, text[i+1:]
	}
	at.col += utf8.RuneCountInString(text)
	return at
}

// cut reports whether the object that ends before byte at goes on behind the rows.
func (w *window) cut(at int) bool { return w != nil && w.open > 0 && at > w.open }

// here reports whether path is that of the array.
func (w *window) here(path []step) bool {
	return w != nil && w.path != nil && slices.Equal(names(path), w.path)
}

// names are those of a path; nil when it leads through a list.
func names(path []step) []string {
	out := make([]string, len(path))
	for i, s := range path {
		if s.name == "" {
			return nil
		}
		out[i] = s.name
	}
	return out
}

// early looks at the field of the path, which does not stand before the rows: the template must not
// need it.
func (d *decoder) early() {
	at := d.plan.readOf(names(d.path))
	if at == nil {
		return
	}
	line, col := at.node.Pos(at.off)
	d.report(d.window.open, codeDataMissing, "write it before the rows",
		"the field must be before the rows, which are streamed (used at %s:%d:%d)", at.file, line, col)
}

// touches reports whether reading one of two paths reads something of the other.
func touches(a, b []string) bool {
	n := min(len(a), len(b))
	return slices.Equal(a[:n], b[:n])
}

// readOf is where an expression reads data at a path; nil: none does.
func (p *Plan) readOf(path []string) *place {
	for _, r := range p.reads {
		for _, of := range r.prog.Reads {
			if of.Slot == 0 && touches(of.Names, path) {
				return r.at
			}
		}
	}
	return nil
}

// streamable checks that the list at a path is read by one loop and by nothing else, in a document
// that is laid out once.
func (p *Plan) streamable(path []string) error {
	var found diag.List
	bad := func(at *place, format string, args ...any) {
		line, col := at.node.Pos(at.off)
		found.Add(diag.Diagnostic{Code: codeStream, File: at.file, Line: line, Col: col, Path: at.path, Message: fmt.Sprintf(format, args...)})
	}
	name := strings.Join(path, ".")
	var loop *place
	for _, r := range p.reads {
		for _, of := range r.prog.Reads {
			switch {
			case of.Slot != 0 || !touches(of.Names, path):
			case !r.loop || !slices.Equal(of.Names, path):
				bad(r.at, "%s is streamed: one loop reads it, and nothing else", name)
			case loop != nil:
				bad(r.at, "%s is streamed, and a loop above reads it", name)
			default:
				loop = r.at
			}
		}
	}
	if loop != nil && (p.references || p.footnotes.Restart == doc.RestartPage) {
		bad(loop, "%s is streamed, and the numbers of pages that the body asks for take several readings", name)
	}
	return found.Err()
}

// listAt is the type of the items of the list at a path of the contract.
func (p *Plan) listAt(path []string) (*exprlang.Type, error) {
	t := p.contract
	for _, name := range path {
		var f *exprlang.Field
		if t.Kind == exprlang.RecordKind {
			_, f = t.Field(name)
		}
		if f == nil {
			return nil, fmt.Errorf("template: stream %q: the data of the template have no such field", strings.Join(path, "."))
		}
		t = f.Type
	}
	if t.Kind != exprlang.ListKind {
		return nil, fmt.Errorf("template: stream %q: the template takes %s there, no list", strings.Join(path, "."), t)
	}
	return t.Elem, nil
}

func (s *streamData) read(p *Plan, limits diag.Limits, _ *Memory) (exprlang.Value, [][]string, error) {
	elem, err := p.listAt(s.path)
	if err != nil {
		return exprlang.Null, nil, err
	}
	head, depth, err := s.head(s.path, limits.DataBytes)
	if err != nil {
		return exprlang.Null, nil, err
	}
	d := &decoder{name: s.name, plan: p, limits: limits}
	if depth == 0 { // there is no such array: the text says what it has instead
		v := d.text(head, p.contract)
		return v, nil, d.list.ErrAnd(d.omitted)
	}
	items := func(yield func(exprlang.Value, error) bool) {
		rows := rowsOf{yield: yield}
		for i := 0; ; i++ {
			at, more, text, err := s.item(limits.DataBytes)
			if err != nil {
				rows.fail(err)
				return
			}
			if !more {
				break
			}
			own := &decoder{name: s.name, plan: p, limits: limits, window: &window{base: at}, path: pathTo(s.path, i)}
			if v := own.text(text, elem); !rows.give(v, own.list) {
				return
			}
		}
		at := s.at
		tail, err := s.rest(limits.DataBytes)
		if err != nil {
			rows.fail(err)
			return
		}
		whole := &decoder{name: s.name, plan: p, limits: limits, window: &window{from: len(head) + 1, base: at}}
		whole.text(head+"]"+tail, p.contract)
		rows.end(whole.list)
	}
	d.window = &window{path: s.path, rows: exprlang.Streamed(&exprlang.Stream{Items: items}), open: len(head) + 1}
	v := d.text(head+"]"+strings.Repeat("}", depth), p.contract)
	return v, [][]string{s.path}, d.list.ErrAnd(d.omitted)
}

func pathTo(names []string, i int) []step {
	path := make([]step, 0, len(names)+4)
	for _, n := range names {
		path = append(path, step{name: n})
	}
	return append(path, step{i: i})
}

// rowsOf hands rows on until one is wrong; of those that follow it tells what else is.
type rowsOf struct {
	yield func(exprlang.Value, error) bool
	wrong diag.List
}

// give takes a row and what is wrong with it, and reports whether it wants more.
func (r *rowsOf) give(v exprlang.Value, wrong diag.List) bool {
	r.wrong = append(r.wrong, wrong...)
	switch {
	case len(r.wrong) >= mostWrong:
		r.fail(r.wrong.Err())
		return false
	case len(r.wrong) > 0:
		return true
	}
	return r.yield(v, nil)
}

// end takes what is wrong beside the rows.
func (r *rowsOf) end(wrong diag.List) {
	if err := append(r.wrong, wrong...).Err(); err != nil {
		r.fail(err)
	}
}

func (r *rowsOf) fail(err error) { r.yield(exprlang.Null, err) }

// source is a JSON text that is taken apart while it is read.
type source struct {
	name string
	in   *bufio.Reader
	at   position // of the next byte
	buf  []byte
	// behind is the byte that the last item ended with: a comma or a bracket; 0: there was none
	// yet.
	behind byte
}

// next reads a byte.
func (s *source) next() (byte, error) {
	if s.at.line == 0 {
		s.at = position{1, 1}
	}
	c, err := s.in.ReadByte()
	switch {
	case err != nil:
	case c == '\n':
		s.at = position{s.at.line + 1, 1}
	case utf8.RuneStart(c):
		s.at.col++
	}
	return c, err
}

// keep adds a byte to the part that is being read.
func (s *source) keep(c byte, most int64) error {
	if s.buf = append(s.buf, c); int64(len(s.buf)) > most {
		return s.fail(codeDataBytes, "the data without the rows, or one row, has more than %d bytes", most)
	}
	return nil
}

func (s *source) fail(code, format string, args ...any) error {
	return diag.Fail(diag.Diagnostic{Code: code, File: s.name, Line: s.at.line, Col: s.at.col, Message: fmt.Sprintf(format, args...)})
}

// str keeps what a string has behind its first quote.
func (s *source) str(most int64) error {
	for escaped := false; ; {
		c, err := s.next()
		if err == nil {
			err = s.keep(c, most)
		}
		switch {
		case err != nil:
			return err
		case escaped:
			escaped = false
		case c == '\\':
			escaped = true
		case c == '"':
			return nil
		}
	}
}

// head reads up to the bracket that opens the array at path, and says how many objects are open
// there; 0: there is no such array, and all of the text was read. It reads the text as JSON but
// judges nothing: the decoder does.
func (s *source) head(path []string, most int64) (text string, depth int, err error) {
	var open []byte   // the brackets
	var keys []string // the last key of each
	last := ""        // the string that was read last
	s.buf = nil
	for {
		c, err := s.next()
		if err == nil {
			err = s.keep(c, most)
		}
		top := len(open) - 1
		switch {
		case err != nil:
		case c == '"':
			start := len(s.buf) - 1
			if err = s.str(most); err == nil && json.Unmarshal(s.buf[start:], &last) != nil {
				last = ""
			}
		case c == ':' && top >= 0:
			keys[top] = last
		case c == '[' && slices.Equal(keys, path) && !slices.Contains(open, '['):
			return string(s.buf), len(open), nil
		case c == '{' || c == '[':
			open, keys = append(open, c), append(keys, "")
		case (c == '}' || c == ']') && top >= 0:
			open, keys = open[:top], keys[:top]
		case c == ',' && top >= 0:
			keys[top] = ""
		}
		if errors.Is(err, io.EOF) {
			return string(s.buf), 0, nil
		}
		if err != nil {
			return "", 0, err
		}
	}
}

// item reads the next item of the array, up to the comma or the bracket behind it. more is false
// when the array has ended.
func (s *source) item(most int64) (at position, more bool, text string, err error) {
	if s.behind == ']' {
		return s.at, false, "", nil
	}
	first := s.behind == 0
	s.buf = s.buf[:0]
	for depth := 0; ; {
		if len(s.buf) == 0 {
			at = s.at
		}
		c, err := s.next()
		blank := len(s.buf) == 0
		switch {
		case errors.Is(err, io.EOF):
			return at, false, "", s.fail(codeDataSyntax, "the data ends too early")
		case err != nil:
			return at, false, "", err
		case blank && strings.IndexByte(" \t\r\n", c) >= 0:
			continue
		case blank && first && c == ']':
			s.behind = c
			return at, false, "", nil
		case depth == 0 && (c == ',' || c == ']' || c == '}'):
			if s.behind = c; blank || c == '}' {
				return at, false, "", s.fail(codeDataSyntax, "want a JSON value before %c", c)
			}
			return at, true, string(s.buf), nil
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		if err = s.keep(c, most); err == nil && c == '"' {
			err = s.str(most)
		}
		if err != nil && !errors.Is(err, io.EOF) { // which is met again
			return at, false, "", err
		}
	}
}

// rest reads to the end.
func (s *source) rest(most int64) (string, error) {
	b, err := io.ReadAll(io.LimitReader(s.in, most+1))
	if err == nil && int64(len(b)) > most {
		err = s.fail(codeDataBytes, "the data behind the rows have more than %d bytes", most)
	}
	return string(b), err
}
