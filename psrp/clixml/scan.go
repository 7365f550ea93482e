package clixml

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The scanner reads the subset of XML that CLIXML is made of: elements, attributes, text, the five
// entities and numeric references. Declarations, comments, processing instructions, CDATA and
// anything else are errors: no PowerShell writes them, and what is not read cannot be abused.

// space skips white space between elements.
func (d *Decoder) space() {
	for d.pos < len(d.s) && isSpace(d.s[d.pos]) {
		d.pos++
	}
}

// peek reports whether there is more; at the end it fails.
func (d *Decoder) peek() bool {
	if d.pos < len(d.s) {
		return true
	}
	return d.fail("the document ends here, before its last end tag")
}

// nameBytes are the bytes of names.
var nameBytes = func() (set [256]bool) {
	for c := range set {
		set[c] = c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_' || c == ':' || c == '-' || c == '.'
	}
	return set
}()

func isNameStart(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }

func (d *Decoder) name() string {
	rest := d.s[d.pos:]
	n := 0
	for n < len(rest) && nameBytes[rest[n]] {
		n++
	}
	d.pos += n
	return rest[:n]
}

// startTag reads a start tag with its attributes; empty means that it closed itself.
func (d *Decoder) startTag() (tag string, empty, ok bool) {
	if d.s[d.pos] != '<' {
		return "", false, d.fail("text where an element is expected")
	}
	if d.pos+1 < len(d.s) && (d.s[d.pos+1] == '!' || d.s[d.pos+1] == '?') {
		return "", false, d.markup()
	}
	d.pos++
	tag = d.name()
	if tag == "" || !isNameStart(tag[0]) {
		return "", false, d.fail("an element without a name")
	}
	d.nattrs = 0
	for {
		before := d.pos
		d.space()
		if !d.peek() {
			return "", false, false
		}
		switch d.s[d.pos] {
		case '>':
			d.pos++
			return tag, false, true
		case '/':
			if d.pos+1 >= len(d.s) || d.s[d.pos+1] != '>' {
				return "", false, d.fail("a slash inside a start tag")
			}
			d.pos += 2
			return tag, true, true
		}
		if d.pos == before {
			return "", false, d.fail(fmt.Sprintf("%q in the name of an element", d.s[d.pos]))
		}
		if !d.attribute() {
			return "", false, false
		}
	}
}

// markup names what stands where only an element may.
func (d *Decoder) markup() bool {
	rest := d.s[d.pos:]
	switch {
	case strings.HasPrefix(rest, "<!DOCTYPE"):
		return d.failAs(d.pos, ErrDTD, "a document type declaration is never read")
	case strings.HasPrefix(rest, "<!--"):
		return d.fail("a comment")
	case strings.HasPrefix(rest, "<![CDATA["):
		return d.fail("a CDATA section")
	case strings.HasPrefix(rest, "<?"):
		return d.fail("a processing instruction or declaration")
	default:
		return d.fail("markup that CLIXML does not have")
	}
}

// attribute reads name="value" into the table of the current element.
func (d *Decoder) attribute() bool {
	at := d.pos
	name := d.name()
	d.space()
	if name == "" || !isNameStart(name[0]) || d.pos >= len(d.s) || d.s[d.pos] != '=' {
		return d.failAs(at, nil, "an attribute that is not name=\"value\"")
	}
	d.pos++
	d.space()
	if !d.peek() {
		return false
	}
	quote := d.s[d.pos]
	if quote != '"' && quote != '\'' {
		return d.fail("an attribute without quotes")
	}
	d.pos++
	rest, n, seen := d.s[d.pos:], 0, uint8(0)
	if quote == '"' {
		n = plainEnd(rest, 0, true)
	}
	for n < len(rest) && rest[n] != quote {
		seen |= attributeBytes[rest[n]]
		n++
	}
	if n == len(rest) {
		return d.fail("an attribute that does not end")
	}
	value, end := d.pos, d.pos+n
	d.pos = end + 1
	if seen&attributeMarkup != 0 {
		return d.failAs(value, nil, "a < in an attribute")
	}
	if seen&attributeReference != 0 {
		if _, ok := d.entities(d.s[value:end], value); !ok {
			return false
		}
	}
	for _, a := range d.attrs[:d.nattrs] {
		if d.s[a.name:a.nameEnd] == name {
			return d.failAs(at, nil, fmt.Sprintf("attribute %q twice", name))
		}
	}
	if d.nattrs == maxAttrs {
		return d.failAs(at, nil, fmt.Sprintf("more than %d attributes", maxAttrs))
	}
	d.attrs[d.nattrs] = attribute{name: at, nameEnd: at + len(name), value: value, valueEnd: end, spaces: seen&attributeSpace != 0}
	d.nattrs++
	return true
}

const (
	attributeMarkup = 1 << iota
	attributeReference
	attributeSpace
)

// attributeBytes are the bytes of attributes that need a second look.
var attributeBytes = [256]uint8{'<': attributeMarkup, '&': attributeReference, '\t': attributeSpace, '\n': attributeSpace, '\r': attributeSpace}

// attr returns the raw value of an attribute of the element just begun.
func (d *Decoder) attr(name string) (string, bool) {
	for _, a := range d.attrs[:d.nattrs] {
		if d.s[a.name:a.nameEnd] != name {
			continue
		}
		value := d.s[a.value:a.valueEnd]
		if a.spaces {
			// XML 1.0 section 3.3.3: white space in an attribute is a space.
			value = strings.NewReplacer("\r\n", " ", "\t", " ", "\n", " ", "\r", " ").Replace(value)
		}
		return value, true
	}
	return "", false
}

// child reads the next start tag inside parent; tag is "" at parent's end tag.
func (d *Decoder) child(parent string) (tag string, empty, ok bool) {
	d.space()
	if !d.peek() {
		return "", false, false
	}
	if d.s[d.pos] == '<' && d.pos+1 < len(d.s) && d.s[d.pos+1] == '/' {
		return "", false, d.endTag(parent)
	}
	return d.startTag()
}

// endTag reads </tag>.
func (d *Decoder) endTag(tag string) bool {
	d.pos += 2
	at := d.pos
	if rest := d.s[at:]; len(rest) > len(tag) && rest[len(tag)] == '>' && rest[:len(tag)] == tag {
		d.pos += len(tag) + 1
		return true
	}
	if got := d.name(); got != tag {
		return d.failAs(at, nil, fmt.Sprintf("end tag %q where %q is open", clip(got), tag))
	}
	d.space()
	if d.pos >= len(d.s) || d.s[d.pos] != '>' {
		return d.fail("an end tag that does not end")
	}
	d.pos++
	return true
}

// noContent reads the end tag of an element that may hold nothing but white space.
func (d *Decoder) noContent(tag string) bool {
	next, _, ok := d.child(tag)
	if ok && next != "" {
		return d.unknown(next, "the end of "+tag)
	}
	return ok
}

// rawText returns what stands before tag's end tag, unchecked, and reads that end tag.
func (d *Decoder) rawText(tag string) (string, bool) {
	n := strings.IndexByte(d.s[d.pos:], '<')
	if n < 0 {
		d.pos = len(d.s)
		return "", d.peek()
	}
	raw := d.s[d.pos : d.pos+n]
	d.pos += n
	if d.pos+1 < len(d.s) && d.s[d.pos+1] == '/' {
		return raw, d.endTag(tag)
	}
	if d.pos+1 < len(d.s) && (d.s[d.pos+1] == '!' || d.s[d.pos+1] == '?') {
		return "", d.markup()
	}
	return "", d.failAs(d.pos, ErrUnknownTag, "an element inside text")
}

// unescape returns text as the value it stands for: references are resolved first, then the
// _xHHHH_ escapes, as PowerShell does. at is its offset.
func (d *Decoder) unescape(raw string, at int) (string, bool) {
	if !d.grow(int64(len(raw))) {
		return "", false
	}
	// What a writer escapes never occurs raw, so most text is plain to its end.
	n := plainEnd(raw, 0, false)
	if n == len(raw) {
		return raw, true
	}
	out, same, ok := d.xmlText(raw, n, at)
	d.scratch = out
	if !ok {
		return "", false
	}
	if m := indexEscape(out); m >= 0 {
		var lone bool
		if out, lone = unescapeUnits(out, m); lone && d.RejectLoneSurrogates {
			return "", d.failAs(at, nil, "half a surrogate pair in text")
		}
		same = false
	}
	if same {
		return raw, true
	}
	return string(out), true
}

// xmlText appends raw to the scratch buffer as XML text stands for; its first n bytes are clean.
// same is true when nothing changed.
func (d *Decoder) xmlText(raw string, n, at int) (out []byte, same, ok bool) {
	out, same = append(d.scratch[:0], raw[:n]...), true
	for i := n; i < len(raw); {
		switch c := raw[i]; {
		case c == '&':
			r, size, ok := d.entity(raw[i:], at+i)
			if !ok {
				return out, false, false
			}
			out, same = appendRune(out, r), false
			i += size
		case c == '\r':
			// XML 1.0 section 2.11: a line end that was not escaped is LF.
			out, same = append(out, '\n'), false
			if i++; i < len(raw) && raw[i] == '\n' {
				i++
			}
		case c == '>' && i >= 2 && raw[i-1] == ']' && raw[i-2] == ']':
			return out, false, d.failAs(at+i, nil, "]]> in text")
		case c < 0x20 && c != '\t' && c != '\n':
			return out, false, d.failAs(at+i, nil, fmt.Sprintf("control character %#02x in text", c))
		case c < utf8.RuneSelf:
			out = append(out, c)
			i++
		default:
			r, size := utf8.DecodeRuneInString(raw[i:])
			if r == utf8.RuneError && size == 1 {
				return out, false, d.failAs(at+i, nil, "invalid UTF-8")
			}
			out = append(out, raw[i:i+size]...)
			i += size
		}
	}
	return out, same, true
}

// indexEscape returns where the first _xHHHH_ of b begins, or -1.
func indexEscape(b []byte) int {
	for from := 0; ; {
		i := bytes.IndexByte(b[from:], '_')
		if i < 0 {
			return -1
		}
		if _, n := unitAt(b[from+i:]); n > 0 {
			return from + i
		}
		from += i + 1
	}
}

// unescapeUnits resolves escapes in place, from the first one at i on. Two units that are the
// halves of a pair join; lone reports that some half found no partner.
func unescapeUnits(b []byte, i int) (out []byte, lone bool) {
	out = b[:i]
	high := rune(-1) // the unit before, when it is a high surrogate
	for i < len(b) {
		var r rune
		n := 0
		if b[i] == '_' {
			r, n = unitAt(b[i:])
		}
		if n == 0 {
			lone = lone || high >= 0
			high = -1
			out = append(out, b[i])
			i++
			continue
		}
		i += n
		if high >= 0 && r&^0x3FF == 0xDC00 {
			out = utf8.AppendRune(out[:len(out)-3], utf16.DecodeRune(high, r))
			high = -1
			continue
		}
		lone = lone || high >= 0 || r&^0x3FF == 0xDC00
		high = -1
		if r&^0x3FF == 0xD800 {
			high = r
		}
		out = appendRune(out, r)
	}
	return out, lone || high >= 0
}

// entities resolves references in text that has no further escapes, as numbers have.
func (d *Decoder) entities(raw string, at int) (string, bool) {
	if strings.IndexByte(raw, '&') < 0 {
		return raw, true
	}
	out := d.scratch[:0]
	for i := 0; i < len(raw); {
		if raw[i] != '&' {
			out = append(out, raw[i])
			i++
			continue
		}
		r, n, ok := d.entity(raw[i:], at+i)
		if !ok {
			return "", false
		}
		out = appendRune(out, r)
		i += n
	}
	d.scratch = out
	return string(out), true
}

// entity reads a reference at the start of s: one of the five entities or a number.
func (d *Decoder) entity(s string, at int) (r rune, n int, ok bool) {
	end := strings.IndexByte(s[:min(len(s), 16)], ';')
	if end < 0 {
		return 0, 0, d.failAs(at, nil, "an & that begins no reference")
	}
	name := s[1:end]
	switch name {
	case "amp":
		return '&', end + 1, true
	case "lt":
		return '<', end + 1, true
	case "gt":
		return '>', end + 1, true
	case "quot":
		return '"', end + 1, true
	case "apos":
		return '\'', end + 1, true
	}
	if len(name) < 2 || name[0] != '#' {
		return 0, 0, d.failAs(at, nil, fmt.Sprintf("entity %q", clip(name)))
	}
	digits, base := name[1:], uint64(10)
	if digits[0] == 'x' {
		digits, base = digits[1:], 16
	}
	var u uint64
	for i := range len(digits) {
		v, isDigit := hexDigit(digits[i])
		if !isDigit || uint64(v) >= base || u > utf8.MaxRune {
			return 0, 0, d.failAs(at, nil, fmt.Sprintf("reference %q is not a character", clip(name)))
		}
		u = u*base + uint64(v)
	}
	if digits == "" || u > utf8.MaxRune || u&^0x7FF == 0xD800 {
		return 0, 0, d.failAs(at, nil, fmt.Sprintf("reference %q is not a character", clip(name)))
	}
	return rune(u), end + 1, true
}
