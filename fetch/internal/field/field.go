// Package field reads the header field values that the layers need: HTTP dates and Retry-After.
package field

import (
	"net/http"
	"strings"
	"time"
)

// Date reads an HTTP-date (RFC 9110, section 5.6.7) in any of its three forms: IMF-fixdate, RFC 850 and asctime.
// A two-digit year that would lie more than 50 years after now means the past century.
func Date(s string, now time.Time) (time.Time, bool) {
	s = strings.TrimSpace(s)
	if t, err := time.Parse(http.TimeFormat, s); err == nil {
		return t, true
	}
	if t, err := time.Parse("Monday, 02-Jan-06 15:04:05 GMT", s); err == nil {
		// time.Parse has a fixed pivot (1969); the RFC's moves with the clock.
		century := now.UTC().Year() / 100 * 100
		y := century + t.Year()%100
		if y > now.UTC().Year()+50 {
			y -= 100
		}
		return time.Date(y, t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC), true
	}
	if t, err := time.Parse(time.ANSIC, s); err == nil {
		return t.UTC(), true
	}
	return time.Time{}, false
}

// maxSeconds is where delta-seconds saturate (RFC 9111, section 1.2.2).
const maxSeconds = 1 << 31

// Seconds reads delta-seconds: digits only, beyond 2^31 counted as 2^31.
func Seconds(s string) (time.Duration, bool) {
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

// RetryAfter reads the field of that name (RFC 9110, section 10.2.3) as the time to wait from now. A date is taken
// against the response's own Date, so that a wrong clock here or there does no harm; a date gone by means no wait.
// ok is false when there is no field that can be read.
func RetryAfter(h http.Header, now time.Time) (wait time.Duration, ok bool) {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if v == "" {
		return 0, false
	}
	if d, ok := Seconds(v); ok {
		return d, true
	}
	at, ok := Date(v, now)
	if !ok {
		return 0, false
	}
	from := now
	if d, ok := Date(h.Get("Date"), now); ok {
		from = d
	}
	return max(at.Sub(from), 0), true
}
