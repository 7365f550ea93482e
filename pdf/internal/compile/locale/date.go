package locale

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Style is a length of a date or time format.
type Style uint8

// The styles. Times have Short and Medium only.
const (
	Short Style = iota
	Medium
	Long
	Full
)

// Styles holds the names in the order of the constants.
var Styles = [...]string{"short", "medium", "long", "full"}

// Pattern is a date and time pattern of UTS 35, part 4, that has been checked.
type Pattern struct {
	fields []field
}

// field is a run of one pattern letter, or literal text.
type field struct {
	letter byte // 0: literal
	count  int
	text   string
}

// ParsePattern checks a pattern of the letters y M L d E c a H h m s; text between
// apostrophes is literal. An error names the letter that is not one of them.
func ParsePattern(s string) (Pattern, error) {
	var p Pattern
	literal := func(text string) {
		if n := len(p.fields); n > 0 && p.fields[n-1].letter == 0 {
			p.fields[n-1].text += text
			return
		}
		p.fields = append(p.fields, field{text: text})
	}
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '\'':
			text, n, ok := quoted(s[i:])
			if !ok {
				return Pattern{}, fmt.Errorf("date pattern %q: apostrophe is not closed", s)
			}
			literal(text)
			i += n
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			n := 1
			for i+n < len(s) && s[i+n] == c {
				n++
			}
			limit := map[byte]int{'y': 4, 'M': 4, 'L': 4, 'd': 2, 'E': 4, 'c': 4, 'a': 1, 'H': 2, 'h': 2, 'm': 2, 's': 2}[c]
			if n > limit {
				return Pattern{}, fmt.Errorf("date pattern %q: no field %q", s, s[i:i+n])
			}
			p.fields = append(p.fields, field{letter: c, count: n})
			i += n
		default:
			literal(s[i : i+1])
			i++
		}
	}
	return p, nil
}

// quoted reads the literal that s starts with: an apostrophe inside or outside
// of one is written twice.
func quoted(s string) (text string, n int, ok bool) {
	if strings.HasPrefix(s, "''") {
		return "'", 2, true
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != '\'' {
			b.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == '\'' {
			b.WriteByte('\'')
			i++
			continue
		}
		return b.String(), i + 1, true
	}
	return "", 0, false
}

// HasTime reports whether p prints parts of a time.
func (p Pattern) HasTime() bool { return p.has("aHhms") }

// HasDate reports whether p prints parts of a date.
func (p Pattern) HasDate() bool { return p.has("yMLdEc") }

func (p Pattern) has(letters string) bool {
	for _, f := range p.fields {
		if f.letter != 0 && strings.IndexByte(letters, f.letter) >= 0 {
			return true
		}
	}
	return false
}

// DatePattern returns the pattern of a date style.
func (l *Locale) DatePattern(s Style) Pattern { return known(l.dates[s]) }

// TimePattern returns the pattern of a time style, Short or Medium.
func (l *Locale) TimePattern(s Style) Pattern { return known(l.times[s]) }

// DateTimePattern returns the pattern of a date with a time.
func (l *Locale) DateTimePattern(date, tim Style) Pattern {
	return known(strings.NewReplacer("{1}", l.dates[date], "{0}", l.times[tim]).Replace(l.glue[date]))
}

// known parses a pattern of the tables, all of which a test parses.
func known(s string) Pattern {
	p, err := ParsePattern(s)
	if err != nil {
		return Pattern{fields: []field{{text: s}}}
	}
	return p
}

// Time appends t, in t's own zone, by the pattern.
func (l *Locale) Time(dst []byte, t time.Time, p Pattern) []byte {
	for _, f := range p.fields {
		switch f.letter {
		case 0:
			dst = append(dst, f.text...)
		case 'y':
			if f.count == 2 {
				dst = l.padded(dst, t.Year()%100, 2)
			} else {
				dst = l.padded(dst, t.Year(), f.count)
			}
		case 'M', 'L':
			switch m := int(t.Month()); {
			case f.count < 3:
				dst = l.padded(dst, m, f.count)
			case f.count == 3:
				dst = append(dst, l.monthsShort[m-1]...)
			case f.letter == 'L':
				dst = append(dst, l.monthsAlone[m-1]...)
			default:
				dst = append(dst, l.months[m-1]...)
			}
		case 'd':
			dst = l.padded(dst, t.Day(), f.count)
		case 'E', 'c':
			switch {
			case f.count < 4:
				dst = append(dst, l.daysShort[t.Weekday()]...)
			case f.letter == 'c':
				dst = append(dst, l.daysAlone[t.Weekday()]...)
			default:
				dst = append(dst, l.days[t.Weekday()]...)
			}
		case 'a':
			if t.Hour() < 12 {
				dst = append(dst, l.am...)
			} else {
				dst = append(dst, l.pm...)
			}
		case 'H':
			dst = l.padded(dst, t.Hour(), f.count)
		case 'h':
			dst = l.padded(dst, (t.Hour()+11)%12+1, f.count)
		case 'm':
			dst = l.padded(dst, t.Minute(), f.count)
		case 's':
			dst = l.padded(dst, t.Second(), f.count)
		}
	}
	return dst
}

// padded appends n with at least width digits.
func (l *Locale) padded(dst []byte, n, width int) []byte {
	var buf [20]byte
	digits := strconv.AppendInt(buf[:0], int64(n), 10)
	for range width - len(digits) {
		dst = l.digit(dst, '0')
	}
	for _, c := range digits {
		dst = l.digit(dst, c)
	}
	return dst
}
