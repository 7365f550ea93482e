// Package locale formats numbers, money, dates and lists by CLDR 48. Every format is a pure
// function of the value and the locale: it uses no clock, no process setting and no table that is
// read at run time.
//
// A language tag selects its tables exactly ("en-IN") or as the plain language with its default
// region ("de-DE" is "de"). No other fallback is used: a region with other conventions (en-AU
// writes the day first) would silently print wrong dates.
package locale

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/quire/pdf/internal/compile/decimal"
)

// Locale is one set of conventions. It is immutable and safe for concurrent use.
type Locale struct {
	tag                              string
	decimal, group, moneyGroup       string
	minus, before, percent           string // of a percentage: before and behind its digits
	zero                             rune   // the first of the ten digits
	minGroup                         int    // digits left of the first separator from which on grouping starts
	lakh                             bool   // 12,34,567: two digits per group after the first three
	money                            string
	dates                            [4]string // short, medium, long, full
	times                            [2]string // short, medium
	glue                             [4]string // {1} the date, {0} the time
	months, monthsShort, monthsAlone [12]string
	days, daysShort, daysAlone       [7]string // from Sunday
	am, pm                           string
	and, or                          [3]string // between two; between more; before the last of more
	cardinal                         func(operands) Category
	ordinal                          func(dst []byte, n int64) []byte
	symbols                          string // CODE=symbol, by code
	rounding                         decimal.Mode
}

// defaults maps a language with a region to the tables it shares.
var defaults = [...][2]string{
	{"cs-CZ", "cs"},
	{"da-DK", "da"},
	{"de-DE", "de"},
	{"en-US", "en"},
	{"es-ES", "es"},
	{"fi-FI", "fi"},
	{"fr-FR", "fr"},
	{"hi-IN", "hi"},
	{"it-IT", "it"},
	{"ja-JP", "ja"},
	{"nb-NO", "nb"},
	{"nl-NL", "nl"},
	{"no", "nb"},
	{"no-NO", "nb"},
	{"pl-PL", "pl"},
	{"pt-BR", "pt"},
	{"sv-SE", "sv"},
	{"tr-TR", "tr"},
	{"zh-CN", "zh"},
	{"zh-Hans", "zh"},
	{"zh-Hans-CN", "zh"},
}

// Lookup finds the locale of a BCP 47 tag, letter case ignored.
func Lookup(tag string) (*Locale, bool) {
	for _, d := range defaults {
		if strings.EqualFold(tag, d[0]) {
			tag = d[1]
		}
	}
	for i := range tables {
		if strings.EqualFold(tables[i].tag, tag) {
			return &tables[i], true
		}
	}
	return nil, false
}

// Tags returns the tags of the tables, sorted; Lookup knows a few more names for
// them.
func Tags() []string {
	out := make([]string, len(tables))
	for i := range tables {
		out[i] = tables[i].tag
	}
	return out
}

// Tag returns the tag of the tables.
func (l *Locale) Tag() string { return l.tag }

// Rounding returns the locale with formats that round by mode; those of the tables round half to
// even, as CLDR does.
func (l *Locale) Rounding(mode decimal.Mode) *Locale {
	if mode == l.rounding {
		return l
	}
	other := *l
	other.rounding = mode
	return &other
}

// DecimalSign returns what stands before the digits of a fraction.
func (l *Locale) DecimalSign() string { return l.decimal }

// Number appends d with separators. places is the count of fraction digits to
// round to; a negative one keeps the digits that d has.
func (l *Locale) Number(dst []byte, d decimal.Decimal, places int) []byte {
	return l.number(dst, d, places, "")
}

// number is Number with a text behind the sign.
func (l *Locale) number(dst []byte, d decimal.Decimal, places int, before string) []byte {
	if places >= 0 && places != d.Scale() {
		d = d.RoundBy(places, l.rounding)
	}
	if d.Sign() < 0 {
		dst = append(dst, l.minus...)
		d = d.Neg()
	}
	return l.unsigned(append(dst, before...), d, l.group)
}

// unsigned appends d, which is not negative.
func (l *Locale) unsigned(dst []byte, d decimal.Decimal, group string) []byte {
	if m, scale, wide := d.Parts(); wide == nil && scale < 18 && l.zero == '0' && !l.lakh && len(group) <= 3 && len(l.decimal) <= 3 {
		return l.short(dst, uint64(m), int(scale), group) //nolint:gosec // G115: not negative
	}
	return l.long(dst, d, group)
}

// long is unsigned for any number and any separators.
func (l *Locale) long(dst []byte, d decimal.Decimal, group string) []byte {
	var buf [40]byte
	digits := d.Append(buf[:0])
	whole := len(digits)
	if s := d.Scale(); s > 0 {
		whole -= s + 1
	}
	left := digits[:whole]
	if whole >= 3+l.minGroup {
		for len(left) > 3 {
			n := l.leading(len(left))
			dst = append(l.digits(dst, left[:n]), group...)
			left = left[n:]
		}
	}
	if dst = l.digits(dst, left); whole < len(digits) {
		dst = l.digits(append(dst, l.decimal...), digits[whole+1:])
	}
	return dst
}

// short is unsigned for m / 10^scale, in digits of ASCII by threes. A separator has three
// bytes at most. It works from the last digit on.
func (l *Locale) short(dst []byte, m uint64, scale int, group string) []byte {
	var buf [64]byte // 19 digits, or 18 and a zero, and seven separators
	at := len(buf)
	if scale > 0 {
		for range scale {
			at--
			buf[at] = '0' + byte(m%10)
			m /= 10
		}
		at -= len(l.decimal)
		if len(l.decimal) == 1 {
			buf[at] = l.decimal[0]
		} else {
			copy(buf[at:], l.decimal)
		}
	}
	if m >= 1000 && (l.minGroup < 2 || m >= 10_000) {
		for m >= 1000 {
			three := uint32(m % 1000)
			m /= 1000
			at -= 3 + len(group)
			s := buf[at : at+3+len(group)]
			if len(group) == 1 {
				s[0] = group[0]
			} else {
				copy(s, group)
			}
			s = s[len(group):]
			s[0], s[1], s[2] = '0'+byte(three/100), '0'+byte(three/10%10), '0'+byte(three%10)
		}
	}
	for first := true; m > 0 || first; first = false {
		at--
		buf[at] = '0' + byte(m%10)
		m /= 10
	}
	return append(dst, buf[at:]...)
}

// digits appends the locale's digits for those of ASCII.
func (l *Locale) digits(dst, digits []byte) []byte {
	if l.zero == '0' {
		return append(dst, digits...)
	}
	for _, c := range digits {
		dst = l.digit(dst, c)
	}
	return dst
}

// digit appends the locale's digit for that of ASCII.
func (l *Locale) digit(dst []byte, c byte) []byte {
	if l.zero == '0' {
		return append(dst, c)
	}
	return utf8.AppendRune(dst, l.zero+rune(c-'0'))
}

// leading is how many of so many digits, more than three, stand before the first separator.
func (l *Locale) leading(left int) int {
	if l.lakh {
		return left%2 + 1
	}
	return (left-1)%3 + 1
}

var hundred = decimal.New(100, 0)

// Percent appends 100 x d and the percent sign.
func (l *Locale) Percent(dst []byte, d decimal.Decimal, places int) []byte {
	d = d.Mul(hundred)
	if places < 0 {
		d = d.Trim()
	}
	return append(l.number(dst, d, places, l.before), l.percent...)
}

// Fraction returns the count of fraction digits of a currency.
func Fraction(code string) int {
	for _, f := range fractions {
		if inList(f.codes, code) {
			return f.digits
		}
	}
	return 2
}

// Symbol returns the symbol of a currency: the code itself when the locale has
// none for it.
func (l *Locale) Symbol(code string) string {
	i := strings.Index(l.symbols, code+"=")
	if i < 0 {
		return code
	}
	s := l.symbols[i+len(code)+1:]
	if end := strings.IndexByte(s, ' '); end >= 0 {
		s = s[:end]
	}
	return s
}

// Money appends d as an amount of the currency with its symbol, rounded to the
// currency's fraction digits. code must be valid.
func (l *Locale) Money(dst []byte, d decimal.Decimal, code string) []byte {
	const sign, space = "¤", "\u00a0"
	d = d.RoundBy(Fraction(code), l.rounding)
	pattern, negative, own := strings.Cut(l.money, ";")
	if d.Sign() < 0 {
		d = d.Neg()
		if own {
			pattern = negative
		} else {
			dst = append(dst, l.minus...)
		}
	}
	symbol := l.Symbol(code)
	for pattern != "" {
		switch c := pattern[0]; {
		case strings.HasPrefix(pattern, sign):
			pattern = pattern[len(sign):]
			dst = append(dst, symbol...)
			// Currency spacing: what is no sign, such as a letter, does not touch digits.
			last, _ := utf8.DecodeLastRuneInString(symbol)
			if !unicode.In(last, unicode.S, unicode.Z) && strings.HasPrefix(pattern, "#") {
				dst = append(dst, space...)
			}
		case c == '#':
			pattern = pattern[strings.LastIndexByte(pattern, '0')+1:]
			dst = l.unsigned(dst, d, l.moneyGroup)
		case c == '-':
			pattern = pattern[1:]
			dst = append(dst, l.minus...)
		default:
			dst = append(dst, c)
			pattern = pattern[1:]
		}
	}
	return dst
}

// Join appends the items as a list of the language; or selects "a, b or c".
func (l *Locale) Join(dst []byte, items []string, or bool) []byte {
	words := &l.and
	if or {
		words = &l.or
	}
	for i, s := range items {
		switch {
		case i == 0:
		case len(items) == 2:
			dst = append(dst, words[0]...)
		case i < len(items)-1:
			dst = append(dst, words[1]...)
		default:
			dst = append(dst, words[2]...)
		}
		dst = append(dst, s...)
	}
	return dst
}
