package httpfield

import (
	"net/http"
	"strings"
	"time"
)

// Lengths of the forms of an HTTP-date that have one.
const (
	imfLen     = len("Sun, 06 Nov 1994 08:49:37 GMT")
	asctimeLen = len("Sun Nov  6 08:49:37 1994")
)

// ParseDate reads an HTTP-date (RFC 9110, section 5.6.7) in any of its three forms: IMF-fixdate,
// RFC 850 and asctime. Names of days, months and the zone may be in either case. Any other
// deviation is not a date, and neither is a day that its month does not have. A two-digit year that
// would be more than 50 years after now is in the century before.
func ParseDate(s string, now time.Time) (t time.Time, ok bool) {
	s = strings.Trim(s, " \t")
	d := dateReader{s: s}
	comma := strings.IndexByte(s, ',')
	switch {
	case comma == 3 && len(s) == imfLen:
		d.name(days, 3)
		d.literal(", ")
		d.number(&d.day, 2)
		d.literal(" ")
		d.month = d.name(months, 3) + 1
		d.literal(" ")
		d.number(&d.year, 4)
		d.literal(" ")
		d.clock()
		d.literal(" gmt")
	case comma > 3:
		d.longDay(comma)
		d.literal(", ")
		d.number(&d.day, 2)
		d.literal("-")
		d.month = d.name(months, 3) + 1
		d.literal("-")
		d.number(&d.year, 2)
		d.literal(" ")
		d.clock()
		d.literal(" gmt")
		if d.year += now.UTC().Year() / 100 * 100; d.year > now.UTC().Year()+50 {
			d.year -= 100
		}
	case len(s) == asctimeLen:
		d.name(days, 3)
		d.literal(" ")
		d.month = d.name(months, 3) + 1
		d.literal(" ")
		if d.s != "" && d.s[0] == ' ' {
			d.literal(" ")
			d.number(&d.day, 1)
		} else {
			d.number(&d.day, 2)
		}
		d.literal(" ")
		d.clock()
		d.literal(" ")
		d.number(&d.year, 4)
	default:
		return time.Time{}, false
	}
	if d.bad || d.s != "" || d.hour > 23 || d.minute > 59 || d.second > 60 {
		return time.Time{}, false
	}
	t = time.Date(d.year, time.Month(d.month), d.day, d.hour, d.minute, min(d.second, 59), 0, time.UTC) // a leap second is the one before
	return t, t.Day() == d.day
}

// FormatDate writes t as an IMF-fixdate.
func FormatDate(t time.Time) string { return t.UTC().Format(http.TimeFormat) }

const (
	days   = "sunmontuewedthufrisat"
	months = "janfebmaraprmayjunjulaugsepoctnovdec"
)

// dateReader takes a date apart from the left; bad stays once it is set.
type dateReader struct {
	s                                      string
	year, month, day, hour, minute, second int
	bad                                    bool
}

// literal takes lower, in either case.
func (d *dateReader) literal(lower string) {
	if len(d.s) < len(lower) || !strings.EqualFold(d.s[:len(lower)], lower) {
		d.bad = true
		return
	}
	d.s = d.s[len(lower):]
}

// number takes exactly n digits.
func (d *dateReader) number(v *int, n int) {
	if len(d.s) < n {
		d.bad = true
		return
	}
	for i := range n {
		c := d.s[i]
		if c < '0' || c > '9' {
			d.bad = true
			return
		}
		*v = *v*10 + int(c-'0')
	}
	d.s = d.s[n:]
}

// name takes one of names, each of n letters, and returns its index.
func (d *dateReader) name(names string, n int) int {
	if len(d.s) >= n {
		for i := 0; i < len(names); i += n {
			if strings.EqualFold(d.s[:n], names[i:i+n]) {
				d.s = d.s[n:]
				return i / n
			}
		}
	}
	d.bad = true
	return 0
}

// longDay takes the whole name of a day, n letters.
func (d *dateReader) longDay(n int) {
	for day := time.Sunday; day <= time.Saturday; day++ {
		if strings.EqualFold(d.s[:n], day.String()) {
			d.s = d.s[n:]
			return
		}
	}
	d.bad = true
}

// clock takes hours, minutes and seconds.
func (d *dateReader) clock() {
	d.number(&d.hour, 2)
	d.literal(":")
	d.number(&d.minute, 2)
	d.literal(":")
	d.number(&d.second, 2)
}

// maxSeconds is where delta-seconds saturate (RFC 9111, section 1.2.2).
const maxSeconds = 1 << 31

// DeltaSeconds reads delta-seconds: digits only, beyond 2^31 counted as 2^31.
func DeltaSeconds(s string) (time.Duration, bool) {
	if s == "" {
		return 0, false
	}
	var n int64
	for i := range len(s) {
		c := s[i]
		if c < '0' || c > '9' {
			return 0, false
		}
		if n = n*10 + int64(c-'0'); n > maxSeconds {
			n = maxSeconds
		}
	}
	return time.Duration(n) * time.Second, true
}

// RetryAfter reads the field of that name (RFC 9110, section 10.2.3) as the time to wait from now.
// A date is compared with the response's own Date, so that a wrong clock on either side does no
// harm; a past date means no wait. ok is false if there is no valid field.
func RetryAfter(h http.Header, now time.Time) (wait time.Duration, ok bool) {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if v == "" {
		return 0, false
	}
	if d, ok := DeltaSeconds(v); ok {
		return d, true
	}
	at, ok := ParseDate(v, now)
	if !ok {
		return 0, false
	}
	from := now
	if d, ok := ParseDate(h.Get("Date"), now); ok {
		from = d
	}
	return max(at.Sub(from), 0), true
}
