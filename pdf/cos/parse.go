package cos

import (
	"bytes"
	"errors"
	"math"
	"slices"
)

// errMore says that an object goes on behind the bytes at hand.
var errMore = errors.New("cos: the object goes on")

// syntaxError is what makes bytes no object.
type syntaxError string

func (e syntaxError) Error() string { return string(e) }

// keyword is a token that is no object: obj, stream, R, an operator of a content stream.
type keyword string

// AppendPDF implements [Object].
func (k keyword) AppendPDF(dst []byte) []byte { return append(dst, k...) }

// parser reads objects from bytes (ISO 32000-2, 7.2 and 7.3). It is liberal: what it had to
// overlook is told in odd.
type parser struct {
	b     []byte
	pos   int
	whole bool // nothing follows b
	refs  bool // "1 0 R" is a reference; content streams have none
	depth int  // most nesting
	odd   string
	loose string // what archives do not take, though readers do
	m     *memory
}

// end is the error of a token that b does not hold whole.
func (p *parser) end(what string) error {
	if p.whole {
		return syntaxError(what + " that does not end")
	}
	return errMore
}

func (p *parser) oddity(s string) {
	if p.odd == "" {
		p.odd = s
	}
}

// space skips white space and comments; it reports whether something follows.
func (p *parser) space() bool {
	for p.pos < len(p.b) {
		switch c := p.b[p.pos]; {
		case c == '%':
			for p.pos < len(p.b) && p.b[p.pos] != '\n' && p.b[p.pos] != '\r' {
				p.pos++
			}
		case charClass[c] == classSpace:
			p.pos++
		default:
			return true
		}
	}
	return false
}

// regular returns the token of regular characters at the place.
func (p *parser) regular() ([]byte, error) {
	start := p.pos
	for p.pos < len(p.b) && charClass[p.b[p.pos]] == classRegular {
		p.pos++
	}
	if p.pos == len(p.b) && !p.whole {
		return nil, errMore
	}
	return p.b[start:p.pos], nil
}

// object returns the next object or keyword; level is how deep it lies.
func (p *parser) object(level int) (Object, error) {
	if !p.space() {
		return nil, p.end("an object")
	}
	if level > p.depth {
		return nil, limitError("Depth", int64(level), int64(p.depth), "")
	}
	switch c := p.b[p.pos]; c {
	case '/':
		return p.name()
	case '(':
		return p.literal()
	case '[':
		return p.array(level)
	case '<':
		if p.pos+1 == len(p.b) {
			return nil, p.end("a string")
		}
		if p.b[p.pos+1] == '<' {
			return p.dict(level)
		}
		return p.hex()
	case ')', ']', '>', '{', '}':
		p.pos++
		if c == '>' && p.pos < len(p.b) && p.b[p.pos] == '>' {
			p.pos++
			return keyword(">>"), nil
		}
		if c == ']' {
			return keyword("]"), nil
		}
		return keyword(c), nil
	case '+', '-', '.', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return p.number()
	}
	t, err := p.regular()
	if err != nil {
		return nil, err
	}
	switch string(t) {
	case "true":
		return Bool(true), nil
	case "false":
		return Bool(false), nil
	case "null":
		return Null{}, nil
	}
	return p.m.keyword(t), nil
}

// number reads an integer, a real number or, where they may stand, a reference.
func (p *parser) number() (Object, error) {
	t, err := p.regular()
	if err != nil {
		return nil, err
	}
	o, ok := number(t)
	if !ok {
		p.oddity("an invalid number: " + string(t[:min(len(t), 32)]))
	}
	num, isInt := o.(Int)
	if !p.refs || !isInt || num < 0 || num > math.MaxUint32 || t[0] == '+' {
		return o, nil
	}
	back := p.pos
	ref, err := p.reference(uint32(num))
	if err != nil {
		return nil, err
	}
	if ref == nil {
		p.pos = back
		return o, nil
	}
	return ref, nil
}

// reference reads the rest of a reference behind its number; nil when there is none.
func (p *parser) reference(num uint32) (Object, error) {
	if !p.space() {
		if p.whole {
			return nil, nil
		}
		return nil, errMore
	}
	t, err := p.regular()
	if err != nil {
		return nil, err
	}
	gen, ok := digits(t)
	if !ok || gen > math.MaxUint16 {
		return nil, nil
	}
	if !p.space() {
		if p.whole {
			return nil, nil
		}
		return nil, errMore
	}
	if p.b[p.pos] != 'R' {
		return nil, nil
	}
	t, err = p.regular()
	if err != nil || string(t) != "R" {
		return nil, err
	}
	return Ref{Num: num, Gen: uint16(gen)}, nil //nolint:gosec // G115: checked above
}

// digits reads a short number without sign.
func digits(t []byte) (v int64, ok bool) {
	if len(t) == 0 || len(t) > 18 {
		return 0, false
	}
	for _, c := range t {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + int64(c-'0')
	}
	return v, true
}

// number reads t (7.3.3). What is not a number is read as far as it is one; digits that no
// int64 can hold are dropped behind the point and end at its largest value before it.
func number(t []byte) (o Object, ok bool) {
	neg, i := false, 0
	for ; i < len(t) && (t[i] == '+' || t[i] == '-'); i++ {
		neg = neg || t[i] == '-'
	}
	ok = i <= 1
	var v int64
	scale, seen := -1, false
	for ; i < len(t); i++ {
		c := t[i]
		if c == '.' && scale < 0 {
			scale = 0
			continue
		}
		if c < '0' || c > '9' {
			ok = false
			break
		}
		seen = true
		d := int64(c - '0')
		switch {
		case v <= (math.MaxInt64-d)/10 && scale < maxDecimals:
			v = v*10 + d
			if scale >= 0 {
				scale++
			}
		case scale < 0:
			v, ok = math.MaxInt64, false
		}
	}
	if neg {
		v = -v
	}
	if scale > 0 {
		return Decimal{v, scale}, ok && seen
	}
	return Int(v), ok && seen
}

func (p *parser) name() (Object, error) {
	p.pos++
	t, err := p.regular()
	if err != nil {
		return nil, err
	}
	first := bytes.IndexByte(t, '#')
	if first < 0 {
		return p.m.name(t), nil
	}
	out := append(make([]byte, 0, len(t)), t[:first]...)
	for i := first; i < len(t); i++ {
		if t[i] == '#' && i+2 < len(t) {
			if hi, lo := nibble(t[i+1]), nibble(t[i+2]); hi >= 0 && lo >= 0 {
				out = append(out, byte(hi<<4|lo)) //nolint:gosec // G115: two hexadecimal digits
				i += 2
				continue
			}
		}
		out = append(out, t[i])
	}
	return Name(out), nil
}

func nibble(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

func (p *parser) hex() (Object, error) {
	var out []byte
	half := -1
	for i := p.pos + 1; i < len(p.b); i++ {
		c := p.b[i]
		if c == '>' {
			if half >= 0 {
				out = append(out, byte(half<<4)) //nolint:gosec // G115: a hexadecimal digit
				p.loose = "a string of an odd number of hexadecimal digits"
			}
			p.pos = i + 1
			return Hex(out), nil
		}
		n := nibble(c)
		switch {
		case n < 0 && charClass[c] != classSpace:
			p.oddity("a hexadecimal string with other characters")
		case n < 0:
		case half < 0:
			half = n
		default:
			out, half = append(out, byte(half<<4|n)), -1 //nolint:gosec // G115: two hexadecimal digits
		}
	}
	return nil, p.end("a hexadecimal string")
}

// literal reads a string in parentheses (7.3.4.2).
func (p *parser) literal() (Object, error) {
	var out []byte
	open := 0
	b := p.b
	for i := p.pos; i < len(b); i++ {
		switch c := b[i]; c {
		case '(':
			if open++; open == 1 {
				continue
			}
		case ')':
			if open--; open == 0 {
				p.pos = i + 1
				return String(out), nil
			}
		case '\r': // every line end is a line feed
			if i+1 < len(b) && b[i+1] == '\n' {
				i++
			}
			out = append(out, '\n')
			continue
		case '\\':
			n, c, keep := escape(b[i+1:])
			if i += n; keep {
				out = append(out, c)
			}
			continue
		}
		out = append(out, b[i])
	}
	return nil, p.end("a string")
}

// escape reads what follows a backslash: how long it is and what it stands for, if anything.
func escape(b []byte) (n int, c byte, keep bool) {
	if len(b) == 0 {
		return 0, 0, false
	}
	switch b[0] {
	case 'n':
		return 1, '\n', true
	case 'r':
		return 1, '\r', true
	case 't':
		return 1, '\t', true
	case 'b':
		return 1, '\b', true
	case 'f':
		return 1, '\f', true
	case '\n':
		return 1, 0, false
	case '\r':
		if len(b) > 1 && b[1] == '\n' {
			return 2, 0, false
		}
		return 1, 0, false
	}
	for n < 3 && n < len(b) && b[n] >= '0' && b[n] <= '7' {
		c = c<<3 | (b[n] - '0') // an overflow is ignored, as the standard says
		n++
	}
	if n > 0 {
		return n, c, true
	}
	return 1, b[0], true
}

func (p *parser) array(level int) (Object, error) {
	p.pos++
	from := len(p.m.values)
	for {
		o, err := p.object(level + 1)
		if err != nil {
			p.m.dropValues(from)
			return nil, err
		}
		switch k, _ := o.(keyword); k {
		case "":
			p.m.values = append(p.m.values, o)
		case "]":
			return p.m.array(from), nil
		case "endobj", "endstream", "stream", "obj", ">>":
			p.m.dropValues(from)
			return nil, syntaxError("an array that does not end")
		default:
			p.oddity("the word " + string(k[:min(len(k), 32)]) + " in an array")
			p.m.values = append(p.m.values, Null{})
		}
	}
}

// dict reads a dictionary.
func (p *parser) dict(level int) (Object, error) {
	p.pos += 2
	from := len(p.m.entries)
	if err := p.entries(level, from); err != nil {
		p.m.dropEntries(from)
		return nil, err
	}
	isNull := func(e Entry) bool { return e.Value == Object(Null{}) }
	if d := p.m.entries[from:]; slices.ContainsFunc(d, isNull) { // as if they were not there (7.3.9)
		p.m.entries = p.m.entries[:from+len(slices.DeleteFunc(d, isNull))]
	}
	return p.m.dict(from), nil
}

// entries gathers those of a dictionary, from a place in the memory on. Of a key that comes twice
// the last value counts, as it does for other readers.
func (p *parser) entries(level, from int) error {
	var at map[Name]int
	for {
		start := p.pos
		o, err := p.object(level + 1)
		if err != nil {
			return err
		}
		key, ok := o.(Name)
		if !ok {
			switch k, _ := o.(keyword); k {
			case ">>":
				return nil
			case "endobj", "endstream", "stream", "obj":
				p.pos = start
				p.oddity("a dictionary that does not end")
				return nil
			}
			p.oddity("a key that is not a name")
			continue
		}
		start = p.pos
		v, err := p.object(level + 1)
		if err != nil {
			return err
		}
		if k, isWord := v.(keyword); isWord {
			p.oddity("the key " + string(key[:min(len(key), 32)]) + " without a value")
			if k == ">>" || k == "endobj" || k == "stream" {
				p.pos = start
			}
			continue
		}
		d := p.m.entries[from:]
		if len(d) == fewKeys {
			at = make(map[Name]int, 2*fewKeys)
			for i := range d {
				at[d[i].Key] = i
			}
		}
		i, twice := at[key]
		if at == nil {
			for i = range d {
				if twice = d[i].Key == key; twice {
					break
				}
			}
		}
		if twice {
			p.oddity("the key " + string(key[:min(len(key), 32)]) + " comes twice")
			d[i].Value = v
			continue
		}
		if at != nil {
			at[key] = len(d)
		}
		p.m.entries = append(p.m.entries, Entry{key, v})
	}
}
