package compile

import (
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/quire/pdf/internal/compile/decimal"
	"example.com/quire/pdf/internal/compile/exprlang"
)

func (d *decoder) mapping(t *exprlang.Type) exprlang.Value {
	if !d.enter() {
		return exprlang.Null
	}
	type entry struct {
		key string
		val exprlang.Value
	}
	var entries []entry
	seen := map[string]bool{}
	for first := true; d.next(first, '}'); first = false {
		keyAt := d.at
		k := d.key()
		if d.failed {
			break
		}
		d.path = append(d.path, step{name: k})
		if seen[k] {
			d.report(keyAt, codeDataDuplicate, "", "the key appears twice")
			d.skip()
		} else {
			seen[k] = true
			entries = append(entries, entry{k, d.value(t.Elem)})
		}
		d.path = d.path[:len(d.path)-1]
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.key, b.key) })
	keys, vals := make([]string, len(entries)), make([]exprlang.Value, len(entries))
	for i, e := range entries {
		keys[i], vals[i] = e.key, e.val
	}
	return exprlang.Map(keys, vals)
}

// skip reads a value that the contract does not want, checks its syntax and
// says what it is.
func (d *decoder) skip() string {
	if d.failed {
		return ""
	}
	if d.at >= len(d.src) {
		d.syntax("the data ends too early")
		return ""
	}
	switch c := d.src[d.at]; {
	case c == '{':
		d.skipAll('}')
		return "an object"
	case c == '[':
		d.skipAll(']')
		return "a list"
	case c == '"':
		return "string " + quoted(d.str())
	case c == '-' || c >= '0' && c <= '9':
		start := d.at
		lit := d.numberText()
		if _, err := decimal.Parse(lit); err == decimal.ErrSyntax { //nolint:errorlint // Parse returns it bare
			d.at = start
			d.syntax("%s is not a JSON number", quoted(lit))
		}
		return "number " + lit
	case d.word("true"):
		return "true"
	case d.word("false"):
		return "false"
	case d.word("null"):
		return "null"
	}
	d.syntax("want a JSON value")
	return ""
}

// skipAll skips a list or an object.
func (d *decoder) skipAll(closing byte) {
	if !d.enter() {
		return
	}
	for first := true; d.next(first, closing); first = false {
		if closing == '}' {
			d.key()
		}
		if !d.count() {
			break
		}
		d.skip()
	}
}

// str reads a string; the opening quote is next. A string without escapes is a
// piece of the text, not a copy.
func (d *decoder) str() string {
	start := d.at + 1
	rest := d.src[start:]
	n := 0
	for n < len(rest) && !endsPlain[rest[n]] {
		n++
	}
	d.at = start + n
	switch {
	case n == len(rest):
		d.syntax("the string is not closed")
	case rest[n] == '"':
		d.at++
		return rest[:n]
	case rest[n] == '\\':
		return d.escaped(start)
	default:
		d.syntax("control character in a string")
	}
	return ""
}

// endsPlain has the bytes that end what a string shows as it is.
var endsPlain = func() (t [256]bool) {
	for c := range ' ' {
		t[c] = true
	}
	t['"'], t['\\'] = true, true
	return t
}()

// escaped reads on from the first escape.
func (d *decoder) escaped(start int) string {
	b := []byte(d.src[start:d.at])
	for d.at < len(d.src) {
		switch c := d.src[d.at]; {
		case c == '"':
			d.at++
			return string(b)
		case c < ' ':
			d.syntax("control character in a string")
			return ""
		case c != '\\':
			b = append(b, c)
			d.at++
			continue
		}
		r, n := unescape(d.src[d.at:])
		if n == 0 {
			d.syntax("wrong escape in a string")
			return ""
		}
		b = utf8.AppendRune(b, r)
		d.at += n
	}
	d.syntax("the string is not closed")
	return ""
}

// unescape reads the escape that s starts with (RFC 8259, section 7) and returns
// its length, 0 when it is wrong. A surrogate alone is wrong: it is no character.
func unescape(s string) (rune, int) {
	if len(s) < 2 {
		return 0, 0
	}
	if i := strings.IndexByte(`"\/bfnrt`, s[1]); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), 2
	}
	r, ok := hex4(s)
	switch {
	case !ok || r >= 0xDC00 && r < 0xE000:
		return 0, 0
	case r < 0xD800 || r > 0xDBFF:
		return r, 6
	}
	low, ok := hex4(s[6:])
	if !ok || low < 0xDC00 || low > 0xDFFF {
		return 0, 0
	}
	return (r-0xD800)<<10 | (low - 0xDC00) + 0x10000, 12
}

func hex4(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	var r rune
	for i := 2; i < 6; i++ {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
