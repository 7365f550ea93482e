package record

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Canonical returns the one spelling of the JSON value in text: no white space,
// object members sorted by the UTF-16 code units of their names and strings
// escaped as RFC 8785 sections 3.2.2.2 and 3.2.3 say. Numbers keep the decimal text
// they came with (RFC 8785 would send them through a double, and 0.10 is not
// 0.1 to somebody's ledger), so two spellings of a number are two values.
//
// Refused with a *DataError that names line, column and path: what RFC 8259
// does not allow, a name that occurs twice in an object, text that is not
// UTF-8, a lone surrogate escape (RFC 7493 section 2.1), a byte order mark, anything
// after the value. What passes a limit is refused with a *LimitError.
//
// Canonical(Canonical(x)) is Canonical(x). The result is never longer than text.
func Canonical(text []byte, l Limits) ([]byte, error) {
	out, _, err := canonical(text, l.withDefaults())
	return out, err
}

// canonical is Canonical that also counts the values. Its limits are not
// replaced by defaults: a caller that has used up its nodes passes 0.
func canonical(text []byte, l Limits) (out []byte, nodes int, err error) {
	p := parser{text: text, limits: l, out: make([]byte, 0, len(text))}
	if len(text) > l.Bytes {
		return nil, 0, &LimitError{Name: "data bytes", Limit: int64(l.Bytes), Got: int64(len(text))}
	}
	p.space()
	if err := p.value(); err != nil {
		return nil, 0, err
	}
	p.space()
	if p.at < len(p.text) {
		return nil, 0, p.wrong(p.at, "the end of the text")
	}
	return p.out, p.nodes, nil
}

// parser is a recursive descent over RFC 8259's grammar that writes the
// canonical form as it reads. Recursion is bounded by limits.Depth.
type parser struct {
	text   []byte
	at     int
	out    []byte
	limits Limits
	nodes  int
	path   []step // where we are, for errors
}

func (p *parser) space() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

func (p *parser) value() error {
	p.nodes++
	if p.nodes > p.limits.Nodes {
		return p.limit("data nodes", p.limits.Nodes)
	}
	if p.at == len(p.text) {
		return p.wrong(p.at, "a value")
	}
	switch c := p.text[p.at]; {
	case c == '{':
		return p.object()
	case c == '[':
		return p.array()
	case c == '"':
		start := p.at
		s, err := p.str()
		if err != nil {
			return err
		}
		p.emit(start, s)
		return nil
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if bytes.HasPrefix(p.text[p.at:], []byte(word)) {
			p.at += len(word)
			p.out = append(p.out, word...)
			return nil
		}
	}
	return p.wrong(p.at, "a value")
}

func (p *parser) enter(more step) error {
	p.path = append(p.path, more)
	if len(p.path) > p.limits.Depth {
		return p.limit("data depth", p.limits.Depth)
	}
	return nil
}

func (p *parser) leave() { p.path = p.path[:len(p.path)-1] }

// member is one member of an object: its name and where `"name":value` stands
// in the canonical output.
type member struct {
	name       string
	start, end int
}

func (p *parser) object() error {
	p.at++ // {
	p.out = append(p.out, '{')
	begin := len(p.out)
	var members []member
	sorted := true
	if err := p.enter(step{isNone: true}); err != nil {
		return err
	}
	p.space()
	if p.peek('}') {
		p.at++
		p.out = append(p.out, '}')
		p.leave()
		return nil
	}
	var seen map[string]struct{} // made when the order is not canonical; until then no name can repeat
	for {
		if !p.peek('"') {
			p.path[len(p.path)-1] = step{isNone: true}
			return p.wrong(p.at, "a member name in double quotes")
		}
		nameAt := p.at
		name, err := p.str()
		if err != nil {
			return err
		}
		p.path[len(p.path)-1] = step{name: name}
		if n := len(members); n > 0 {
			p.out = append(p.out, ',')
			if sorted && compareUTF16(members[n-1].name, name) >= 0 {
				sorted = false
				seen = make(map[string]struct{}, n+1)
				for _, m := range members {
					seen[m.name] = struct{}{}
				}
			}
		}
		if !sorted {
			if _, twice := seen[name]; twice {
				return p.problem(nameAt, "the name "+strconv.Quote(name)+" occurs twice in its object", "", "")
			}
			seen[name] = struct{}{}
		}
		m := member{name: name, start: len(p.out)}
		p.emit(nameAt, name)
		p.space()
		if !p.peek(':') {
			return p.wrong(p.at, "':'")
		}
		p.at++
		p.out = append(p.out, ':')
		p.space()
		if err := p.value(); err != nil {
			return err
		}
		m.end = len(p.out)
		members = append(members, m)
		p.space()
		if p.peek(',') {
			p.at++
			p.space()
			continue
		}
		if !p.peek('}') {
			return p.wrong(p.at, "',' or '}'")
		}
		p.at++
		break
	}
	p.leave()
	if !sorted {
		p.sortMembers(begin, members)
	}
	p.out = append(p.out, '}')
	return nil
}

// sortMembers puts the members that stand in out[begin:] in canonical order.
func (p *parser) sortMembers(begin int, members []member) {
	slices.SortFunc(members, func(a, b member) int { return compareUTF16(a.name, b.name) })
	was := bytes.Clone(p.out[begin:])
	p.out = p.out[:begin]
	for i, m := range members {
		if i > 0 {
			p.out = append(p.out, ',')
		}
		p.out = append(p.out, was[m.start-begin:m.end-begin]...)
	}
}

func (p *parser) array() error {
	p.at++ // [
	p.out = append(p.out, '[')
	if err := p.enter(step{isIndex: true}); err != nil {
		return err
	}
	p.space()
	if p.peek(']') {
		p.at++
		p.out = append(p.out, ']')
		p.leave()
		return nil
	}
	for {
		if err := p.value(); err != nil {
			return err
		}
		p.space()
		if p.peek(',') {
			p.at++
			p.space()
			p.out = append(p.out, ',')
			p.path[len(p.path)-1].index++
			continue
		}
		if !p.peek(']') {
			return p.wrong(p.at, "',' or ']'")
		}
		p.at++
		p.out = append(p.out, ']')
		p.leave()
		return nil
	}
}

// number copies a number of RFC 8259 section 6, digit for digit.
func (p *parser) number() error {
	start := p.at
	if p.peek('-') {
		p.at++
	}
	switch {
	case p.peek('0'):
		p.at++
	case !p.digits():
		return p.wrong(p.at, "a digit")
	}
	if p.peek('.') {
		p.at++
		if !p.digits() {
			return p.wrong(p.at, "a digit")
		}
	}
	if p.peek('e') || p.peek('E') {
		p.at++
		if p.peek('+') || p.peek('-') {
			p.at++
		}
		if !p.digits() {
			return p.wrong(p.at, "a digit")
		}
	}
	p.out = append(p.out, p.text[start:p.at]...)
	return nil
}

func (p *parser) digits() bool {
	start := p.at
	for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
		p.at++
	}
	return p.at > start
}

// str reads a string and returns its value.
func (p *parser) str() (string, error) {
	p.at++ // "
	start := p.at
	for {
		p.at += plain(p.text[p.at:])
		if p.at == len(p.text) {
			return "", p.wrong(p.at, "the end of the string")
		}
		switch c := p.text[p.at]; {
		case c == '"':
			s := string(p.text[start:p.at])
			p.at++
			return s, nil
		case c == '\\':
			return p.escaped(start)
		case c < 0x20:
			return "", p.problem(p.at, "a control character in a string must be escaped", fmt.Sprintf("%U", c), "")
		default:
			if err := p.rune(); err != nil {
				return "", err
			}
		}
	}
}

// plain is how many bytes at the beginning of b are ASCII characters that stand in a string as
// they are.
func plain(b []byte) int {
	for i, c := range b {
		if c < 0x20 || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return i
		}
	}
	return len(b)
}

// escaped is str from the first backslash on: the part from start is plain.
func (p *parser) escaped(start int) (string, error) {
	s := bytes.Clone(p.text[start:p.at])
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return string(s), nil
		case c == '\\':
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			s = utf8.AppendRune(s, r)
		case c < 0x20:
			return "", p.problem(p.at, "a control character in a string must be escaped", fmt.Sprintf("%U", c), "")
		case c < utf8.RuneSelf:
			s = append(s, c)
			p.at++
		default:
			from := p.at
			if err := p.rune(); err != nil {
				return "", err
			}
			s = append(s, p.text[from:p.at]...)
		}
	}
	return "", p.wrong(p.at, "the end of the string")
}

func (p *parser) rune() error {
	r, n := utf8.DecodeRune(p.text[p.at:])
	if r == utf8.RuneError && n == 1 {
		return p.problem(p.at, "the text is not UTF-8", fmt.Sprintf("byte 0x%02X", p.text[p.at]), "")
	}
	p.at += n
	return nil
}

func (p *parser) escape() (rune, error) {
	const want = `one of \" \\ \/ \b \f \n \r \t \uXXXX`
	start := p.at
	p.at++ // the backslash
	if p.at == len(p.text) {
		return 0, p.wrong(p.at, want)
	}
	c := p.text[p.at]
	p.at++
	switch c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
		r, err := p.hex4()
		if err != nil {
			return 0, err
		}
		if !utf16.IsSurrogate(r) {
			return r, nil
		}
		if p.at+1 < len(p.text) && p.text[p.at] == '\\' && p.text[p.at+1] == 'u' {
			p.at += 2
			low, err := p.hex4()
			if err != nil {
				return 0, err
			}
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, nil
			}
		}
		return 0, p.problem(start, "a surrogate escape stands alone", fmt.Sprintf(`\u%04x`, r), "")
	}
	return 0, p.wrong(p.at-1, want)
}

func (p *parser) hex4() (rune, error) {
	var r rune
	for range 4 {
		if p.at == len(p.text) {
			return 0, p.wrong(p.at, "a hexadecimal digit")
		}
		c := p.text[p.at]
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, p.wrong(p.at, "a hexadecimal digit")
		}
		p.at++
	}
	return r, nil
}

func (p *parser) peek(c byte) bool { return p.at < len(p.text) && p.text[p.at] == c }

// emit writes the string s, which was read from text[start:p.at], canonically.
func (p *parser) emit(start int, s string) {
	if p.at-start == len(s)+2 { // as long as its value: nothing was escaped
		p.out = append(p.out, p.text[start:p.at]...)
		return
	}
	p.out = appendString(p.out, s)
}

// appendString writes s as a JSON string with the escapes of RFC 8785 section 3.2.2.2:
// the two-character ones where they exist, \u00xx in lower case for other
// control characters, everything else as it is.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\r':
			dst = append(dst, '\\', 'r')
		default:
			if c < 0x20 {
				dst = hex.AppendEncode(append(dst, '\\', 'u', '0', '0'), []byte{c})
				continue
			}
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// compareUTF16 orders two valid UTF-8 strings by their UTF-16 code units, as
// RFC 8785 section 3.2.3 asks. That is the order of their bytes with one surprise:
// U+10000 and above are surrogate pairs (D800 to DFFF), so they come before
// U+E000 to U+FFFF. The first bytes that differ are then lead bytes, 0xF0 to
// 0xF4 against 0xEE or 0xEF: within one lead byte both orders agree.
func compareUTF16(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		if (x >= 0xEE) != (y >= 0xEE) || x < 0xEE {
			return int(x) - int(y)
		}
		if (x >= 0xF0) != (y >= 0xF0) {
			return int(y) - int(x)
		}
		return int(x) - int(y)
	}
	return len(a) - len(b)
}
