package httpfield

import (
	"encoding/base64"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Structured fields (RFC 9651). A bare value is one of
//
//	int64, float64 (a decimal), string, Token, []byte, bool, time.Time, DisplayString
//
// and []Item where an inner list stands.

// Token is a structured field's token, such as `gzip` or `text/html`.
type Token string

// DisplayString is a structured field's text beyond ASCII.
type DisplayString string

// Item is a value with its parameters: a member of a list or dictionary, or a
// whole field.
type Item struct {
	Value  any
	Params []Param
}

// Param is a parameter of an [Item]; a key stands once.
type Param struct {
	Key   string
	Value any
}

// Param returns the value of a parameter, nil when it is not there.
func (it Item) Param(key string) any {
	for _, p := range it.Params {
		if p.Key == key {
			return p.Value
		}
	}
	return nil
}

// Dictionary is a structured dictionary in its order; a key stands once.
type Dictionary []Member

// Member is a member of a [Dictionary].
type Member struct {
	Key string
	Item
}

// Get returns a member's item.
func (d Dictionary) Get(key string) (Item, bool) {
	for _, m := range d {
		if m.Key == key {
			return m.Item, true
		}
	}
	return Item{}, false
}

var errStructured = errors.New("parse structured field: not as RFC 9651, section 4.2, says")

// ParseItem reads a field that is one item.
func ParseItem(lines []string) (Item, error) {
	p := structuredReader{strings.Join(lines, ",")}
	p.skip(" ")
	v, ok := p.bare()
	if !ok {
		return Item{}, errStructured
	}
	params, ok := p.params()
	if p.skip(" "); !ok || p.s != "" {
		return Item{}, errStructured
	}
	return Item{v, params}, nil
}

// ParseList reads a field that is a list.
func ParseList(lines []string) ([]Item, error) {
	p := structuredReader{strings.Join(lines, ",")}
	var out []Item
	err := p.members(func() bool {
		it, ok := p.item()
		out = append(out, it)
		return ok
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ParseDictionary reads a field that is a dictionary. The last of several
// members of one key counts, in the place of the first.
func ParseDictionary(lines []string) (Dictionary, error) {
	p := structuredReader{strings.Join(lines, ",")}
	var out Dictionary
	err := p.members(func() bool {
		m := Member{}
		ok := false
		if m.Key, ok = p.key(); !ok {
			return false
		}
		if p.take('=') {
			m.Item, ok = p.item()
		} else {
			m.Value = true
			m.Params, ok = p.params()
		}
		for i := range out {
			if out[i].Key == m.Key {
				out[i] = m
				return ok
			}
		}
		out = append(out, m)
		return ok
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// structuredReader takes a field apart from the left.
type structuredReader struct{ s string }

func (p *structuredReader) skip(set string) { p.s = strings.TrimLeft(p.s, set) }

func (p *structuredReader) take(c byte) bool {
	if p.s == "" || p.s[0] != c {
		return false
	}
	p.s = p.s[1:]
	return true
}

// members reads a list: one takes a member.
func (p *structuredReader) members(one func() bool) error {
	p.skip(" ")
	for p.s != "" {
		if !one() {
			return errStructured
		}
		p.skip(" \t")
		if p.s == "" {
			return nil
		}
		if !p.take(',') {
			return errStructured
		}
		if p.skip(" \t"); p.s == "" {
			return errStructured // a comma at the end
		}
	}
	return nil
}

// item reads an item or an inner list.
func (p *structuredReader) item() (Item, bool) {
	if !p.take('(') {
		v, ok := p.bare()
		if !ok {
			return Item{}, false
		}
		params, ok := p.params()
		return Item{v, params}, ok
	}
	inner := []Item{}
	for {
		p.skip(" ")
		if p.take(')') {
			params, ok := p.params()
			return Item{inner, params}, ok
		}
		v, ok := p.bare()
		if !ok {
			return Item{}, false
		}
		params, ok := p.params()
		if !ok || p.s == "" || p.s[0] != ' ' && p.s[0] != ')' {
			return Item{}, false
		}
		inner = append(inner, Item{v, params})
	}
}

func (p *structuredReader) params() ([]Param, bool) {
	var out []Param
next:
	for p.take(';') {
		p.skip(" ")
		key, ok := p.key()
		if !ok {
			return nil, false
		}
		one := Param{key, true}
		if p.take('=') {
			if one.Value, ok = p.bare(); !ok {
				return nil, false
			}
		}
		for i := range out {
			if out[i].Key == key {
				out[i] = one
				continue next
			}
		}
		out = append(out, one)
	}
	return out, true
}

func (p *structuredReader) key() (string, bool) {
	n := keyLen(p.s)
	key := p.s[:n]
	p.s = p.s[n:]
	return key, n > 0
}

// keyLen is the length of the key at the start of s.
func keyLen(s string) int {
	i := 0
	for ; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z' || c == '*':
			continue
		case i > 0 && (c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'):
			continue
		}
		break
	}
	return i
}

// bare reads a bare item (RFC 9651, section 4.2.3.1).
func (p *structuredReader) bare() (any, bool) {
	if p.s == "" {
		return nil, false
	}
	switch c := p.s[0]; {
	case c == '-' || digit(c):
		return p.number()
	case c == '"':
		return p.text()
	case c == '*' || letter(c):
		n := 1
		for n < len(p.s) && (tchar(p.s[n]) || p.s[n] == ':' || p.s[n] == '/') {
			n++
		}
		t := Token(p.s[:n])
		p.s = p.s[n:]
		return t, true
	case c == ':':
		return p.binary()
	case c == '?':
		if len(p.s) < 2 || p.s[1] != '0' && p.s[1] != '1' {
			return nil, false
		}
		is := p.s[1] == '1'
		p.s = p.s[2:]
		return is, true
	case c == '@':
		p.s = p.s[1:]
		v, ok := p.number()
		n, whole := v.(int64)
		return time.Unix(n, 0).UTC(), ok && whole
	case c == '%':
		return p.display()
	}
	return nil, false
}

func digit(c byte) bool  { return c >= '0' && c <= '9' }
func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// number reads an integer of at most 15 digits or a decimal of at most 12 and 3.
func (p *structuredReader) number() (any, bool) {
	n, dot := 0, -1
	sign := 0
	if p.s != "" && p.s[0] == '-' {
		sign = 1
	}
	for n = sign; n < len(p.s); n++ {
		if p.s[n] == '.' && dot < 0 {
			dot = n
		} else if !digit(p.s[n]) {
			break
		}
	}
	text := p.s[:n]
	p.s = p.s[n:]
	if dot < 0 {
		v, err := strconv.ParseInt(text, 10, 64)
		return v, err == nil && n-sign <= 15
	}
	v, err := strconv.ParseFloat(text, 64)
	after := n - dot - 1
	return v, err == nil && dot > sign && dot-sign <= 12 && after >= 1 && after <= 3
}

func (p *structuredReader) text() (any, bool) {
	var b strings.Builder
	for i := 1; i < len(p.s); i++ {
		switch c := p.s[i]; {
		case c == '"':
			p.s = p.s[i+1:]
			return b.String(), true
		case c == '\\':
			if i++; i == len(p.s) || p.s[i] != '"' && p.s[i] != '\\' {
				return nil, false
			}
			b.WriteByte(p.s[i])
		case c < 0x20 || c >= 0x7f:
			return nil, false
		default:
			b.WriteByte(c)
		}
	}
	return nil, false
}

// binary reads a byte sequence. Padding may be left out, as section 4.2.7 advises.
func (p *structuredReader) binary() (any, bool) {
	text, rest, ok := strings.Cut(p.s[1:], ":")
	if !ok || strings.ContainsAny(text, "\r\n") { // which the decoder passes over
		return nil, false
	}
	p.s = rest
	if len(text)%4 == 0 {
		text = strings.TrimSuffix(strings.TrimSuffix(text, "="), "=")
	}
	b, err := base64.RawStdEncoding.DecodeString(text)
	return b, err == nil
}

func (p *structuredReader) display() (any, bool) {
	if !strings.HasPrefix(p.s, `%"`) {
		return nil, false
	}
	var b []byte
	for i := 2; i < len(p.s); i++ {
		switch c := p.s[i]; {
		case c < 0x20 || c >= 0x7f:
			return nil, false
		case c == '"':
			p.s = p.s[i+1:]
			return DisplayString(b), utf8.Valid(b)
		case c == '%':
			if len(p.s) < i+3 {
				return nil, false
			}
			hex := p.s[i+1 : i+3]
			one, err := strconv.ParseUint(hex, 16, 8)
			if err != nil || hex != strings.ToLower(hex) {
				return nil, false
			}
			b = append(b, byte(one))
			i += 2
		default:
			b = append(b, c)
		}
	}
	return nil, false
}

// AppendItem writes an item, or an inner list, as RFC 9651, section 4.1, says.
// The error names what no structured field can say, such as text beyond ASCII in
// a string.
func AppendItem(b []byte, it Item) ([]byte, error) {
	var err error
	if inner, ok := it.Value.([]Item); ok {
		b = append(b, '(')
		for i, one := range inner {
			if i > 0 {
				b = append(b, ' ')
			}
			if _, nested := one.Value.([]Item); nested {
				return nil, errors.New("write structured field: an inner list within an inner list")
			}
			if b, err = AppendItem(b, one); err != nil {
				return nil, err
			}
		}
		b = append(b, ')')
	} else if b, err = appendBare(b, it.Value); err != nil {
		return nil, err
	}
	return appendParams(b, it.Params)
}

func appendParams(b []byte, params []Param) ([]byte, error) {
	for _, p := range params {
		if p.Key == "" || keyLen(p.Key) != len(p.Key) {
			return nil, errors.New("write structured field: " + strconv.Quote(p.Key) + " is no key")
		}
		b = append(append(b, ';'), p.Key...)
		if p.Value == true {
			continue
		}
		var err error
		if b, err = appendBare(append(b, '='), p.Value); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// AppendList writes a list.
func AppendList(b []byte, list []Item) ([]byte, error) {
	var err error
	for i, it := range list {
		if i > 0 {
			b = append(b, ", "...)
		}
		if b, err = AppendItem(b, it); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// AppendDictionary writes a dictionary.
func AppendDictionary(b []byte, d Dictionary) ([]byte, error) {
	var err error
	for i, m := range d {
		if i > 0 {
			b = append(b, ", "...)
		}
		if m.Key == "" || keyLen(m.Key) != len(m.Key) {
			return nil, errors.New("write structured field: " + strconv.Quote(m.Key) + " is no key")
		}
		b = append(b, m.Key...)
		if m.Value == true {
			b, err = appendParams(b, m.Params)
		} else {
			b, err = AppendItem(append(b, '='), m.Item)
		}
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}

const maxInteger = 999_999_999_999_999

// appendBare writes a bare item (RFC 9651, section 4.1.3.1).
func appendBare(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case int64:
		if v >= -maxInteger && v <= maxInteger {
			return strconv.AppendInt(b, v, 10), nil
		}
	case float64:
		if r := math.RoundToEven(v * 1000); math.Abs(r) <= maxInteger {
			whole := strconv.FormatFloat(r/1000, 'f', 3, 64)
			whole = strings.TrimRight(whole, "0")
			if strings.HasSuffix(whole, ".") {
				whole += "0"
			}
			return append(b, whole...), nil
		}
	case string:
		b = append(b, '"')
		for i := range len(v) {
			switch c := v[i]; {
			case c < 0x20 || c >= 0x7f:
				return nil, errors.New("write structured field: a string takes printable ASCII only: " + strconv.Quote(v))
			case c == '"' || c == '\\':
				b = append(b, '\\', c)
			default:
				b = append(b, c)
			}
		}
		return append(b, '"'), nil
	case Token:
		p := structuredReader{string(v)}
		if t, ok := p.bare(); ok && t == v && p.s == "" {
			return append(b, v...), nil
		}
	case []byte:
		return append(base64.StdEncoding.AppendEncode(append(b, ':'), v), ':'), nil
	case bool:
		if v {
			return append(b, "?1"...), nil
		}
		return append(b, "?0"...), nil
	case time.Time:
		if n := v.Unix(); n >= -maxInteger && n <= maxInteger {
			return strconv.AppendInt(append(b, '@'), n, 10), nil
		}
	case DisplayString:
		if !utf8.ValidString(string(v)) {
			break
		}
		b = append(b, `%"`...)
		for i := range len(v) {
			if c := v[i]; c == '%' || c == '"' || c < 0x20 || c >= 0x7f {
				b = append(b, '%', "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
			} else {
				b = append(b, c)
			}
		}
		return append(b, '"'), nil
	}
	return nil, errors.New("write structured field: a value that RFC 9651, section 3.3, does not have")
}
