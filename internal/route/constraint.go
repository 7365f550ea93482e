package route

import (
	"strings"
	"time"
)

// Constraint is a named test of a parameter's text. nil means any text.
type Constraint struct {
	name   string
	rank   int // lower is tried first; a subset always has the lower rank
	check  func(string) bool
	sample string // a text that passes; "" for a custom constraint
	custom bool
}

func (c *Constraint) key() string {
	if c == nil {
		return ""
	}
	return c.name
}

func (c *Constraint) match(s string) bool {
	if c == nil {
		return true
	}
	if c.custom {
		return c.check(DecodeValue(s))
	}
	return c.check(s)
}

// order is the constraint's place among the edges of one node; plain is last.
func (c *Constraint) order() int {
	if c == nil {
		return 100
	}
	return c.rank
}

var builtin = map[string]*Constraint{
	"uint":  {name: "uint", rank: 1, check: isUint, sample: "1"},
	"int":   {name: "int", rank: 2, check: isInt, sample: "1"},
	"uuid":  {name: "uuid", rank: 3, check: isUUID, sample: "00000000-0000-4000-8000-000000000000"},
	"date":  {name: "date", rank: 4, check: isDate, sample: "2024-02-29"},
	"alpha": {name: "alpha", rank: 5, check: isAlpha, sample: "a"},
	"hex":   {name: "hex", rank: 6, check: isHex, sample: "1"},
	"alnum": {name: "alnum", rank: 7, check: isAlnum, sample: "a"},
}

// Builtin returns the built-in constraint of a name, or nil.
func Builtin(name string) *Constraint { return builtin[name] }

// Custom makes a constraint of the program's. check gets the decoded text.
func Custom(name string, check func(string) bool) *Constraint {
	return &Constraint{name: name, rank: customRank, check: check, custom: true}
}

const customRank = 50

// relation of two constraints as sets of texts.
type relation uint8

const (
	relEqual relation = iota
	relOrdered
	relDisjoint
	relOverlap
)

// relate says how two constraints lie to each other. Only relOverlap leaves the
// choice between two routes open.
func relate(a, b *Constraint) relation {
	switch {
	case a.key() == b.key():
		return relEqual
	case a == nil || b == nil:
		return relOrdered
	case a.custom || b.custom:
		return relOverlap
	}
	switch x, y := a.name, b.name; {
	case subsetOf(x, y) || subsetOf(y, x):
		return relOrdered
	case overlaps(x, y) || overlaps(y, x):
		return relOverlap
	}
	return relDisjoint
}

func subsetOf(x, y string) bool {
	switch x {
	case "uint":
		return y == "int" || y == "hex" || y == "alnum"
	case "hex", "alpha":
		return y == "alnum"
	}
	return false
}

func overlaps(x, y string) bool {
	switch x {
	case "alpha":
		return y == "hex"
	case "int":
		return y == "hex" || y == "alnum"
	}
	return false
}

// sampleBoth returns a text that fits both constraints, if one is easily found.
func sampleBoth(a, b *Constraint) (string, bool) {
	for _, s := range []string{
		"1", "a", "x", "A", "abc", "123", "-1", "a1", "en", "2024-02-29", "a-b", "v1", "v1.0", "a_b",
		"00000000-0000-4000-8000-000000000000",
	} {
		if a.match(s) && b.match(s) {
			return s, true
		}
	}
	return "", false
}

func every(s string, ok func(byte) bool) bool {
	for i := range len(s) {
		if !ok(s[i]) {
			return false
		}
	}
	return s != ""
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isUint(s string) bool  { return every(s, isDigit) }
func isInt(s string) bool   { return isUint(strings.TrimPrefix(s, "-")) }
func isAlpha(s string) bool { return every(s, isLetter) }

func isHex(s string) bool {
	return every(s, func(c byte) bool { return isDigit(c) || ('a' <= c|0x20 && c|0x20 <= 'f') })
}

func isAlnum(s string) bool {
	return every(s, func(c byte) bool { return isDigit(c) || isLetter(c) })
}

// isUUID checks the text form of RFC 9562, section 4: 8-4-4-4-12 hexadecimal digits.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for _, i := range [...]int{8, 13, 18, 23} {
		if s[i] != '-' {
			return false
		}
	}
	return isHex(s[:8]) && isHex(s[9:13]) && isHex(s[14:18]) && isHex(s[19:23]) && isHex(s[24:])
}

func isDate(s string) bool {
	if len(s) != len(time.DateOnly) {
		return false
	}
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}
