package content

import (
	"cmp"
	"encoding/hex"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
)

// cmap is a character map (ISO 32000-2, 9.7.5 and 9.10.3): what codes of one to four bytes mean, as
// text or as CIDs.
type cmap struct {
	ordering string // of the character collection of Adobe that a predefined one has CIDs of

	spaces    []codeRange // codespace ranges, in their order
	chars     map[code]string
	texts     []textRange
	cids      []codeRange // to is the CID of from
	undefined []codeRange // of codes without a CID of their own; to is the CID of each of them
	vertical  bool
	mode      bool   // it says of itself that it is vertical
	uses      string // the map that it builds on,
	base      *cmap  // which has what is not here; nil: none, or one that is not known
	partial   bool   // it has entries that are left out
	// miscounted says that a list of texts has another number of entries than stands before it
	// (Adobe Technical Note 5014, 3.4), which readers that go by the number cannot read.
	miscounted bool
}

// code is a character code with the number of its bytes.
type code struct {
	n     int
	value uint32
}

type codeRange struct {
	n         int
	low, high uint32
	to        uint32
}

type textRange struct {
	codeRange
	text []uint16 // of low; the last unit counts up
}

// mostMapped bounds the entries of one map; those behind are left out.
const mostMapped = 1 << 17

// mostSpaces bounds the codespace ranges of one map, of which real ones have a handful.
const mostSpaces = 128

// token of a CMap file, which is PostScript.
type token struct {
	kind byte   // '<' a string, '/' a name, '[', ']', 'w' a word or number, 0 the end
	text string // of a string its bytes
}

// tokens cuts a CMap file; what is no part of one is passed over.
type tokens struct{ rest string }

func (t *tokens) next() token {
	for {
		t.rest = strings.TrimLeft(t.rest, " \t\r\n\f\x00")
		if t.rest == "" {
			return token{}
		}
		switch c := t.rest[0]; c {
		case '%':
			end := strings.IndexAny(t.rest, "\r\n")
			if end < 0 {
				return token{}
			}
			t.rest = t.rest[end:]
		case '[', ']':
			t.rest = t.rest[1:]
			return token{kind: c}
		case '<':
			if strings.HasPrefix(t.rest, "<<") {
				t.rest = t.rest[2:]
				continue
			}
			end := strings.IndexByte(t.rest, '>')
			if end < 0 {
				return token{}
			}
			digits := strings.Map(func(r rune) rune {
				if r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'f' {
					return r
				}
				return -1
			}, t.rest[1:end])
			t.rest = t.rest[end+1:]
			if len(digits)%2 == 1 {
				digits += "0"
			}
			b, _ := hex.DecodeString(digits) // they are digits
			return token{'<', string(b)}
		case '>', '{', '}', ')':
			t.rest = t.rest[1:]
		case '(':
			end := strings.IndexByte(t.rest, ')')
			if end < 0 {
				return token{}
			}
			t.rest = t.rest[end+1:]
		default:
			start := 0
			if c == '/' {
				start = 1
			}
			end := strings.IndexAny(t.rest[start:], " \t\r\n\f\x00%[]<>{}()/")
			if end < 0 {
				end = len(t.rest) - start
			}
			text := t.rest[start : start+end]
			t.rest = t.rest[start+end:]
			if c == '/' {
				return token{'/', text}
			}
			return token{'w', text}
		}
	}
}

// readCMap reads a CMap file. What it cannot read it leaves out.
func readCMap(data []byte) *cmap {
	m := &cmap{chars: map[code]string{}}
	t := tokens{string(data)}
	var name, before token
	for k := t.next(); k.kind != 0; k = t.next() {
		if k.kind != 'w' {
			name, before = before, k
			continue
		}
		count := before.text
		if strings.HasPrefix(k.text, "begin") {
			before = token{}
		}
		switch k.text {
		case "begincodespacerange":
			m.ranges(&t, func(low, high string, _ token) {
				if len(m.spaces) == mostSpaces {
					m.partial = true
					return
				}
				m.spaces = append(m.spaces, codeRange{n: len(low), low: number32(low), high: number32(high)})
			}, false)
		case "beginbfchar":
			n := 0
			for a := t.next(); a.kind == '<'; a = t.next() {
				n++
				b := t.next()
				if len(m.chars) < mostMapped && len(a.text) <= 4 {
					if b.kind == '<' {
						m.chars[codeOf(a.text)] = utf16Text(b.text)
					} else if s, ok := nameText(b.text); b.kind == '/' && ok {
						m.chars[codeOf(a.text)] = s
					}
				}
			}
			m.miscounted = m.miscounted || count != strconv.Itoa(n)
		case "beginbfrange":
			n := m.ranges(&t, func(low, high string, to token) {
				if to.kind == '<' {
					m.texts = append(m.texts, textRange{codeRange{n: len(low), low: number32(low), high: number32(high)}, units(to.text)})
					return
				}
				for at := number32(low); to.kind == '['; at++ {
					x := t.next()
					if x.kind != '<' {
						return
					}
					if len(m.chars) < mostMapped {
						m.chars[code{len(low), at}] = utf16Text(x.text)
					}
				}
			}, true)
			m.miscounted = m.miscounted || count != strconv.Itoa(n)
		case "begincidchar", "begincidrange", "beginnotdefchar", "beginnotdefrange":
			list := &m.cids
			if strings.HasPrefix(k.text, "beginnotdef") {
				list = &m.undefined
			}
			for a := t.next(); a.kind == '<'; a = t.next() {
				b := a
				if strings.HasSuffix(k.text, "range") {
					b = t.next()
				}
				to, err := strconv.ParseUint(t.next().text, 10, 32)
				if err != nil || len(a.text) > 4 || len(b.text) > 4 || len(*list) == mostMapped {
					m.partial = true
					continue
				}
				*list = append(*list, codeRange{len(a.text), number32(a.text), number32(b.text), uint32(to)})
			}
		case "usecmap":
			m.buildOn(before.text)
			if strings.HasSuffix(before.text, "V") {
				m.vertical = true
			}
		case "def":
			if name.text == "WMode" {
				m.vertical = before.text == "1"
				m.mode = m.vertical
			}
		default:
			name, before = before, k
		}
	}
	slices.SortStableFunc(m.texts, func(a, b textRange) int { return a.compare(b.codeRange) })
	slices.SortStableFunc(m.cids, func(a, b codeRange) int { return a.compare(b) })
	slices.SortStableFunc(m.undefined, func(a, b codeRange) int { return a.compare(b) })
	return m
}

// buildOn notes the map that another one builds on.
func (m *cmap) buildOn(name string) { m.uses, m.base = name, predefined(name) }

// whole reports whether the CIDs of all codes are known.
func (m *cmap) whole() bool {
	for ; m != nil; m = m.base {
		if m.partial || m.uses != "" && m.base == nil {
			return false
		}
	}
	return true
}

func (r codeRange) compare(o codeRange) int {
	return cmp.Or(cmp.Compare(r.n, o.n), cmp.Compare(r.low, o.low))
}

// mostOverlaps is how many ranges that begin before a code are looked at for one that has it.
const mostOverlaps = 8

// last returns the place of the last of n sorted ranges that has a code, -1 for none.
func last(n int, at func(int) codeRange, c code) int {
	i := sort.Search(n, func(i int) bool { return at(i).compare(codeRange{n: c.n, low: c.value}) > 0 }) - 1
	for j := i; j >= 0 && j > i-mostOverlaps; j-- {
		if r := at(j); r.n == c.n && c.value >= r.low && c.value <= r.high {
			return j
		}
	}
	return -1
}

// ranges reads pairs of codes, with what they map to where there is such, to the end of a section.
func (m *cmap) ranges(t *tokens, f func(low, high string, to token), mapped bool) (n int) {
	for a := t.next(); a.kind == '<'; a = t.next() {
		n++
		b, to := t.next(), token{}
		if mapped {
			to = t.next()
		}
		if b.kind == '<' && len(a.text) >= 1 && len(a.text) <= 4 && len(a.text) == len(b.text) && len(m.texts)+len(m.spaces) < mostMapped {
			f(a.text, b.text, to)
		}
	}
	return n
}

func number32(s string) (v uint32) {
	for i := range len(s) {
		v = v<<8 | uint32(s[i])
	}
	return v
}

func codeOf(s string) code { return code{len(s), number32(s)} }

func units(s string) (out []uint16) {
	if len(s) == 1 {
		return []uint16{uint16(s[0])}
	}
	for ; len(s) > 1 && len(out) < 64; s = s[2:] {
		out = append(out, uint16(s[0])<<8|uint16(s[1]))
	}
	return out
}

func utf16Text(s string) string { return string(utf16.Decode(units(s))) }

// next returns the first code of s by the codespace ranges, of one byte at least.
func (m *cmap) next(s []byte) code {
	for n := 1; n <= 4 && n <= len(s); n++ {
		c := codeOf(string(s[:n]))
		for at := m; at != nil; at = at.base {
			for _, r := range at.spaces {
				if r.n == n && within(c.value, r, n) {
					return c
				}
			}
		}
	}
	n := 4 // no code at all: as many bytes as the shortest (9.7.6.3)
	none := true
	for at := m; at != nil; at = at.base {
		for _, r := range at.spaces {
			n, none = min(n, r.n), false
		}
	}
	if none {
		n = 1
	}
	n = min(n, len(s))
	return codeOf(string(s[:n]))
}

// within reports whether each byte of a code is within the bytes of a range.
func within(v uint32, r codeRange, n int) bool {
	for i := range n {
		b, low, high := v>>(8*i)&0xFF, r.low>>(8*i)&0xFF, r.high>>(8*i)&0xFF
		if b < low || b > high {
			return false
		}
	}
	return true
}

// text returns what a code stands for; ok is false where the map does not say.
func (m *cmap) text(c code) (string, bool) {
	if s, ok := m.chars[c]; ok {
		return s, true
	}
	i := last(len(m.texts), func(i int) codeRange { return m.texts[i].codeRange }, c)
	if i < 0 || len(m.texts[i].text) == 0 {
		return "", false
	}
	u := slices.Clone(m.texts[i].text)
	u[len(u)-1] += uint16(c.value - m.texts[i].low) //nolint:gosec // G115: within the range, or it wraps
	return string(utf16.Decode(u)), true
}

// cid returns the CID of a code: its own, or that of undefined characters, 0 where there is none of
// these either (9.7.6.3).
func (m *cmap) cid(c code) uint32 {
	for at := m; at != nil; at = at.base {
		if i := last(len(at.cids), func(i int) codeRange { return at.cids[i] }, c); i >= 0 {
			return at.cids[i].to + c.value - at.cids[i].low
		}
	}
	for at := m; at != nil; at = at.base {
		if i := last(len(at.undefined), func(i int) codeRange { return at.undefined[i] }, c); i >= 0 {
			return at.undefined[i].to
		}
	}
	return 0
}
