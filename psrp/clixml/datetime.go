package clixml

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Ticks of .NET are 100 ns.
const (
	tick           = 100 * time.Nanosecond
	ticksPerSecond = 10_000_000
	ticksPerMinute = 60 * ticksPerSecond
	ticksPerHour   = 60 * ticksPerMinute
	ticksPerDay    = 24 * ticksPerHour
	maxDateTicks   = 3155378975999999999 // 9999-12-31T23:59:59.9999999
	unixEpochTicks = 621355968000000000
)

// DateKind says what a DateTime's clock time refers to.
type DateKind uint8

// The three kinds, with what follows the time on the wire.
const (
	DateUnspecified DateKind = iota // nothing
	DateUTC                         // Z
	DateLocal                       // +hh:mm, which may be +00:00
)

// String returns .NET's name.
func (k DateKind) String() string {
	switch k {
	case DateUTC:
		return "Utc"
	case DateLocal:
		return "Local"
	default:
		return "Unspecified"
	}
}

// DateTime is a .NET DateTime as the wire has it: the clock time that is written, and what it
// refers to. Without a zone, with Z, with +00:00 and with another offset are four different values.
type DateTime struct {
	Ticks  int64 // of 100 ns since 0001-01-01T00:00:00 of that clock
	Kind   DateKind
	Offset int16 // minutes east of UTC, for DateLocal
}

// NewDateTime converts t, cutting it to 100 ns: UTC when its location is UTC, else local with its
// offset. Years outside 1 to 9999 and offsets with seconds are an error.
func NewDateTime(t time.Time) (DateTime, error) {
	_, off := t.Zone()
	d := DateTime{Kind: DateUTC}
	if t.Location() != time.UTC {
		if off%60 != 0 || off < -14*3600 || off > 14*3600 {
			return DateTime{}, fmt.Errorf("clixml: DateTime of %v: offset is not whole minutes up to 14 hours", t)
		}
		d.Kind, d.Offset = DateLocal, int16(off/60)
	}
	sec := t.Unix() + int64(off)
	if sec < -unixEpochTicks/ticksPerSecond || sec > (maxDateTicks-unixEpochTicks)/ticksPerSecond {
		return DateTime{}, fmt.Errorf("clixml: DateTime of %v: year is not 1 to 9999", t)
	}
	d.Ticks = unixEpochTicks + sec*ticksPerSecond + int64(t.Nanosecond())/int64(tick)
	return d, nil
}

// Value returns a DT.
func (d DateTime) Value() Value {
	v := intValue(KindDateTime, d.Ticks)
	v.aux, v.off = uint8(d.Kind), d.Offset
	return v
}

// Time returns the instant. Unspecified times are read in loc, which may be nil for UTC.
func (d DateTime) Time(loc *time.Location) time.Time {
	sec := d.Ticks/ticksPerSecond - unixEpochTicks/ticksPerSecond
	t := time.Unix(sec, d.Ticks%ticksPerSecond*int64(tick)).UTC()
	switch {
	case d.Kind == DateLocal:
		off := int(d.Offset) * 60
		return t.Add(-time.Duration(off) * time.Second).In(time.FixedZone("", off))
	case d.Kind == DateUnspecified && loc != nil:
		return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), loc)
	default:
		return t
	}
}

// String returns the text of the wire.
func (d DateTime) String() string { return string(d.appendText(nil)) }

func (d DateTime) appendText(dst []byte) []byte {
	t := time.Unix(d.Ticks/ticksPerSecond-unixEpochTicks/ticksPerSecond, 0).UTC()
	dst = t.AppendFormat(dst, "2006-01-02T15:04:05")
	dst = appendFraction(dst, d.Ticks%ticksPerSecond)
	switch d.Kind {
	case DateUTC:
		dst = append(dst, 'Z')
	case DateLocal:
		off := int(d.Offset)
		sign := byte('+')
		if off < 0 {
			sign, off = '-', -off
		}
		dst = append(dst, sign)
		dst = append2(dst, off/60)
		dst = append(dst, ':')
		dst = append2(dst, off%60)
	case DateUnspecified:
	}
	return dst
}

func append2(dst []byte, n int) []byte {
	return append(dst, '0'+byte(n/10%10), '0'+byte(n%10)) //nolint:gosec // G115: a digit
}

// appendFraction writes the fraction of a second without trailing zeros, as XmlConvert does.
func appendFraction(dst []byte, ticks int64) []byte {
	if ticks == 0 {
		return dst
	}
	dst = append(dst, '.')
	for unit := int64(ticksPerSecond / 10); ticks > 0; unit /= 10 {
		dst = append(dst, '0'+byte(ticks/unit)) //nolint:gosec // G115: a digit
		ticks %= unit
	}
	return dst
}

// readFraction reads digits after a point: up to 7 count, more must be zeros, as nothing is
// rounded silently.
func readFraction(s string) (ticks int64, rest string, ok bool) {
	unit := int64(ticksPerSecond / 10)
	i := 0
	for ; i < len(s) && s[i]-'0' <= 9; i++ {
		if unit == 0 && s[i] != '0' {
			return 0, s, false
		}
		ticks += int64(s[i]-'0') * unit
		unit /= 10
	}
	return ticks, s[i:], i > 0
}

var errDateTime = errors.New("not YYYY-MM-DDTHH:MM:SS[.fffffff] with Z, an offset or nothing")

// ParseDateTime reads the text of the wire.
func ParseDateTime(s string) (DateTime, error) {
	d, err := parseDateTime(s)
	if err != nil {
		return d, fmt.Errorf("clixml: parse DateTime %q: %w", clip(s), err)
	}
	return d, nil
}

func parseDateTime(s string) (DateTime, error) {
	const shape = "0000-00-00T00:00:00"
	if len(s) < len(shape) {
		return DateTime{}, errDateTime
	}
	var f [6]int
	at := 0
	for i := range len(shape) {
		if shape[i] != '0' {
			if s[i] != shape[i] {
				return DateTime{}, errDateTime
			}
			at++
			continue
		}
		c := s[i] - '0'
		if c > 9 {
			return DateTime{}, errDateTime
		}
		f[at] = f[at]*10 + int(c)
	}
	year, month, day, hour, minute, sec := f[0], f[1], f[2], f[3], f[4], f[5]
	if year < 1 || month < 1 || month > 12 || day < 1 || day > daysIn(month, year) || hour > 23 || minute > 59 || sec > 59 {
		return DateTime{}, errors.New("a field is out of range")
	}
	unix := time.Date(year, time.Month(month), day, hour, minute, sec, 0, time.UTC).Unix()
	d := DateTime{Ticks: unixEpochTicks + unix*ticksPerSecond}
	rest := s[len(shape):]
	if rest != "" && rest[0] == '.' {
		ticks, after, ok := readFraction(rest[1:])
		if !ok {
			return DateTime{}, errors.New("the fraction is not up to 7 digits")
		}
		d.Ticks += ticks
		rest = after
	}
	switch {
	case rest == "":
	case rest == "Z":
		d.Kind = DateUTC
	case len(rest) == 6 && (rest[0] == '+' || rest[0] == '-') && rest[3] == ':':
		h, ok1 := parseDigits(rest[1:3], 14)
		m, ok2 := parseDigits(rest[4:6], 59)
		if !ok1 || !ok2 || h*60+m > 14*60 {
			return DateTime{}, errors.New("the offset is out of range")
		}
		d.Kind, d.Offset = DateLocal, int16(h*60+m) //nolint:gosec // G115: at most 840
		if rest[0] == '-' {
			d.Offset = -d.Offset
		}
	default:
		return DateTime{}, errDateTime
	}
	return d, nil
}

func daysIn(month, year int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// TimeSpan is a .NET TimeSpan: ticks of 100 ns. Its range of 29,000 years exceeds time.Duration.
type TimeSpan int64

// NewTimeSpan converts d, cutting it to 100 ns.
func NewTimeSpan(d time.Duration) TimeSpan { return TimeSpan(d / tick) }

// Value returns a TS.
func (t TimeSpan) Value() Value { return intValue(KindTimeSpan, int64(t)) }

// Duration returns the duration, false when it does not fit.
func (t TimeSpan) Duration() (time.Duration, bool) {
	if t > math.MaxInt64/TimeSpan(tick) || t < math.MinInt64/TimeSpan(tick) {
		return 0, false
	}
	return time.Duration(t) * tick, true
}

// String returns the text of the wire, an xs:duration of days and less.
func (t TimeSpan) String() string { return string(t.appendText(nil)) }

func (t TimeSpan) appendText(dst []byte) []byte {
	if t == 0 {
		return append(dst, "PT0S"...)
	}
	u := uint64(t) //nolint:gosec // G115: the magnitude is taken next, MinInt64 too
	if t < 0 {
		dst = append(dst, '-')
		u = -u
	}
	dst = append(dst, 'P')
	if days := u / ticksPerDay; days > 0 {
		dst = strconv.AppendUint(dst, days, 10)
		dst = append(dst, 'D')
	}
	u %= ticksPerDay
	if u == 0 {
		return dst
	}
	dst = append(dst, 'T')
	if h := u / ticksPerHour; h > 0 {
		dst = strconv.AppendUint(dst, h, 10)
		dst = append(dst, 'H')
	}
	if m := u % ticksPerHour / ticksPerMinute; m > 0 {
		dst = strconv.AppendUint(dst, m, 10)
		dst = append(dst, 'M')
	}
	if s := u % ticksPerMinute; s > 0 {
		dst = strconv.AppendUint(dst, s/ticksPerSecond, 10)
		dst = appendFraction(dst, int64(s%ticksPerSecond))
		dst = append(dst, 'S')
	}
	return dst
}

var errTimeSpan = errors.New("not [-]P[nD][T[nH][nM][n[.f]S]]")

// ParseTimeSpan reads the text of the wire. Years and months, which no PowerShell writes and which
// have no exact length, are refused.
func ParseTimeSpan(s string) (TimeSpan, error) {
	t, err := parseTimeSpan(s)
	if err != nil {
		return 0, fmt.Errorf("clixml: parse TimeSpan %q: %w", clip(s), err)
	}
	return t, nil
}

func parseTimeSpan(s string) (TimeSpan, error) {
	neg := s != "" && s[0] == '-'
	if neg {
		s = s[1:]
	}
	if s == "" || s[0] != 'P' {
		return 0, errTimeSpan
	}
	s = s[1:]
	const maxTicks = uint64(1) << 63 // of a negative span; a positive one has one less
	var total uint64
	units := [...]struct {
		name  byte
		ticks uint64
	}{{'D', ticksPerDay}, {'H', ticksPerHour}, {'M', ticksPerMinute}, {'S', ticksPerSecond}}
	next, found, inTime := 0, false, false
	for s != "" {
		if s[0] == 'T' && !inTime {
			inTime, s = true, s[1:]
			next = max(next, 1)
			if s == "" {
				return 0, errTimeSpan
			}
			continue
		}
		i := 0
		for i < len(s) && s[i]-'0' <= 9 {
			i++
		}
		n, ok := parseDigits(s[:i], math.MaxUint64)
		if !ok {
			return 0, errTimeSpan
		}
		s = s[i:]
		var frac int64
		hasFrac := s != "" && s[0] == '.'
		if hasFrac {
			if frac, s, ok = readFraction(s[1:]); !ok {
				return 0, errTimeSpan
			}
		}
		if s == "" {
			return 0, errTimeSpan
		}
		u := next
		for u < len(units) && units[u].name != s[0] {
			u++
		}
		if u == len(units) || (u == 0) == inTime || hasFrac && u != 3 {
			return 0, errTimeSpan
		}
		next, found, s = u+1, true, s[1:]
		if n > maxTicks/units[u].ticks {
			return 0, errors.New("out of range")
		}
		total += n*units[u].ticks + uint64(frac)
		if total > maxTicks {
			return 0, errors.New("out of range")
		}
	}
	switch {
	case !found:
		return 0, errTimeSpan
	case neg:
		return TimeSpan(-total), nil //nolint:gosec // G115: two's complement of up to 1<<63
	case total == maxTicks:
		return 0, errors.New("out of range")
	default:
		return TimeSpan(total), nil
	}
}
