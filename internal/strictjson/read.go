package strictjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits bound what is read. A field that is zero or less sets no limit; depth is then limited to
// 10,000.
type Limits struct {
	Bytes int // of the text
	Depth int // of nested objects and arrays
	Nodes int // values, those within others included; names do not count
}

// Check checks a text. The error is a *Fault. It returns the number of values in the text, or
// before the fault.
func Check(text []byte, l Limits) (nodes int, err error) {
	p := decoders.Get().(*pooledDecoder) // the pool holds nothing else
	defer p.release()
	return p.check(text, l)
}

func (p *pooledDecoder) check(text []byte, l Limits) (nodes int, err error) {
	if l.Bytes > 0 && len(text) > l.Bytes {
		return 0, &Fault{
			Kind: Bytes, Offset: l.Bytes, Limit: l.Bytes,
			Msg: fmt.Sprintf("the text has %d bytes, more than %d", len(text), l.Bytes),
		}
	}
	// Nearly all texts are in order. They are read at once; one that is not, once more by its
	// tokens, which tell the place.
	if nodes, depth := measure(text); (l.Nodes <= 0 || nodes <= l.Nodes) && (l.Depth <= 0 || depth <= l.Depth) {
		r := p.read(text)
		if _, err := r.d.ReadValue(); err == nil && r.skip(int(r.d.InputOffset()), white) == len(text) {
			return nodes, nil
		}
	}
	return checkTokens(p, text, l)
}

// measure counts the values of a text and how deep they stand in one another. It is right for what
// is JSON.
func measure(text []byte) (nodes, depth int) {
	nodes = 1
	open, last := 0, byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case ',':
			nodes++
		case '{', '[':
			nodes++ // its first member
			open++
			depth = max(depth, open)
		case '}', ']':
			if open--; last == '{' || last == '[' {
				nodes-- // there is none
			}
		}
		last = c
	}
	return nodes, depth
}

// checkTokens is Check by the tokens of the text.
func checkTokens(p *pooledDecoder, text []byte, l Limits) (nodes int, err error) {
	r := p.read(text)
	for {
		name, kind := r.atName(), r.d.PeekKind()
		value := !name && kind != '}' && kind != ']'
		before := r.d.InputOffset()
		if _, err := r.d.ReadToken(); err != nil {
			return nodes, r.fault(err)
		}
		depth := r.d.StackDepth()
		switch {
		case !value:
		case l.Nodes > 0 && nodes == l.Nodes:
			return nodes, r.over(Nodes, before, l.Nodes, "the text has more than %d values")
		case l.Depth > 0 && depth > l.Depth:
			return nodes, r.over(Depth, before, l.Depth, "values are nested more than %d deep")
		default:
			nodes++
		}
		if depth == 0 {
			break
		}
	}
	if rest := r.skip(int(r.d.InputOffset()), white); rest < len(text) {
		f := &Fault{Kind: Trailing, Offset: rest, Want: "the end of the text"}
		return nodes, f.say(text)
	}
	return nodes, nil
}

// reader reads the tokens of a text.
type reader struct {
	d    *jsontext.Decoder
	text []byte
}

func newReader(text []byte, opts ...jsontext.Options) reader {
	// A bytes.Buffer is read in place, without a copy.
	return reader{d: jsontext.NewDecoder(bytes.NewBuffer(text), opts...), text: text}
}

// decoders keep what a decoder needs beside the text, of which nothing stays in them; the decoder
// itself bounds what it keeps.
var decoders = sync.Pool{New: func() any { return new(pooledDecoder) }}

type pooledDecoder struct {
	d    jsontext.Decoder
	text bytes.Buffer
}

func (p *pooledDecoder) read(text []byte, opts ...jsontext.Options) reader {
	p.text = *bytes.NewBuffer(text)
	p.d.Reset(&p.text, opts...)
	return reader{d: &p.d, text: text}
}

func (p *pooledDecoder) release() {
	p.read(nil)
	decoders.Put(p)
}

// White space of RFC 8259, and with it what stands between tokens.
const (
	white     = "\t\n\r "
	separates = white + ",:"
)

// skip returns the first offset from i on at which none of these characters stands.
func (r *reader) skip(i int, these string) int {
	for i < len(r.text) && strings.IndexByte(these, r.text[i]) >= 0 {
		i++
	}
	return i
}

// atName reports whether the next token should be the name of a member.
func (r *reader) atName() bool {
	depth := r.d.StackDepth()
	if depth == 0 {
		return false
	}
	kind, n := r.d.StackIndex(depth)
	return kind == '{' && n%2 == 0
}

// over is the fault of a limit that the token just read has passed; before is where the one before
// it ended.
func (r *reader) over(kind Kind, before int64, limit int, format string) *Fault {
	return &Fault{
		Kind: kind, Pointer: string(r.d.StackPointer()), Offset: r.skip(int(before), separates),
		Msg: fmt.Sprintf(format, limit), Limit: limit,
	}
}

// fault says what is wrong where reading the next token failed with err. The decoder tells the
// offset; what may stand there follows from where reading had come to.
func (r *reader) fault(err error) *Fault {
	syntax, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok { // io.EOF, where a value should begin: there is no other error when reading from memory
		f := &Fault{Kind: Missing, Offset: len(r.text), Want: "a value"}
		return f.say(r.text)
	}
	f := &Fault{Kind: Syntax, Offset: int(syntax.ByteOffset), Pointer: string(syntax.JSONPointer)}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		f.Offset = len(r.text)
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		name := syntax.JSONPointer.LastToken()
		f.Kind, f.Got = Duplicate, name
		f.Msg = "the name " + strconv.Quote(name) + " occurs twice in its object"
	} else {
		r.explain(f)
	}
	return f.say(r.text)
}

// explain walks from the last token that was read to the one that failed and notes in f what should
// have been there.
func (r *reader) explain(f *Fault) {
	i := r.skip(int(r.d.InputOffset()), white)
	want := "a value"
	if depth := r.d.StackDepth(); depth > 0 {
		separator := ""
		switch kind, n := r.d.StackIndex(depth); {
		case kind == '[' && n > 0:
			separator = "',' or ']'"
		case kind == '{' && n%2 == 1:
			separator = "':'"
		case kind == '{':
			want = "a member name in double quotes"
			if n > 0 {
				separator = "',' or '}'"
			}
		}
		if separator != "" {
			if i == len(r.text) || r.text[i] != separator[1] {
				f.Offset, f.Want, f.Pointer = i, separator, string(r.d.StackPointer())
				return
			}
			i = r.skip(i+1, white)
		}
		if want == "a value" {
			f.Pointer = r.below()
		}
	}
	if i == len(r.text) {
		f.Want = want
		return
	}
	switch c := r.text[i]; {
	case c == '"':
		r.inString(f)
	case want != "a value":
		f.Offset, f.Want = i, want
		switch {
		case c >= '0' && c <= '9':
			f.Got = at(r.text, i) + "; numbers have a point, as in 36.5"
		case c == '}':
			f.Got = at(r.text, i) + "; take out the comma before it"
		}
	case c == '-' || c >= '0' && c <= '9':
		f.Want = "a digit"
	case c == 't':
		f.Want = "true"
	case c == 'f':
		f.Want = "false"
	case c == 'n':
		f.Want = "null"
	default:
		f.Offset, f.Want = i, want
	}
}

// below is the pointer of the value that comes next.
func (r *reader) below() string {
	depth := r.d.StackDepth()
	pointer := r.d.StackPointer()
	kind, n := r.d.StackIndex(depth)
	if kind != '[' {
		return string(pointer) // the name has been read
	}
	if n > 0 {
		pointer = pointer.Parent()
	}
	return string(pointer.AppendToken(strconv.FormatInt(n, 10)))
}

// inString explains a fault within a string.
func (r *reader) inString(f *Fault) {
	rest := r.text[f.Offset:]
	switch {
	case len(rest) == 0:
		f.Want = "the end of the string"
	case rest[0] < ' ':
		f.Msg = "a control character in a string must be escaped"
	case rest[0] == '\\' && isSurrogate(rest):
		f.Kind, f.Got, f.Msg = UTF8, string(rest[:6]), "a surrogate escape without its other half"
	case rest[0] == '\\':
		f.escape(rest)
	default:
		f.Kind, f.Msg = UTF8, "the text is not UTF-8"
	}
}

// isSurrogate reports whether s begins with an escape from \uD800 to \uDFFF.
func isSurrogate(s []byte) bool {
	if len(s) < 6 || s[1] != 'u' {
		return false
	}
	n, err := strconv.ParseUint(string(s[2:6]), 16, 16)
	return err == nil && utf16.IsSurrogate(rune(n))
}

// escape finds what is wrong in the escape that s, which stands at f.Offset, begins with.
func (f *Fault) escape(s []byte) {
	n := 1
	f.Want = `one of \" \\ \/ \b \f \n \r \t \uXXXX` // RFC 8259 section 7
	if len(s) > 1 && s[1] == 'u' {
		f.Want = "a hexadecimal digit"
		n = len(s) - len(bytes.TrimLeft(s[2:], "0123456789abcdefABCDEF"))
	}
	f.Offset += n
}

// say notes what stands at the place of a fault.
func (f *Fault) say(text []byte) *Fault {
	if f.Got == "" {
		f.Got = at(text, f.Offset)
	}
	return f
}
