// Freshness (RFC 9111, section 4.2). The lifetime of a response comes from the first of these that
// is there:
//
//	targeted field   CDN-Cache-Control: max-age=60   shared caches; hides the others, Expires too
//	s-maxage         Cache-Control: s-maxage=60      shared caches
//	max-age          Cache-Control: max-age=60
//	Expires          Expires less Date               a value that is no date is long past
//	TTL              the configuration's, where the origin is silent
//	heuristic        a tenth of Date less Last-Modified
//
// A value that is there and cannot be read makes the response stale rather than letting the next
// source speak: "max-age=60s" was meant to say something about freshness, and only the origin knows
// what.
//
// The age of a response is what it says, or what its Date says, when it arrived, and the time since
// (section 4.2.3). Both are computed once, on storing; at a look-up one addition and one comparison
// are left.

package httpcache

import (
	"net/http"
	"time"

	"example.com/quire/internal/httpfield"
)

// lifetime returns how long the response is fresh, and whether the origin or the configuration said
// so.
func (c *Cache) lifetime(status int, h http.Header, d *directives, date, now time.Time, ttl time.Duration) (life time.Duration, explicit bool) {
	if c.cfg.Mode == TTLOnly {
		if status != http.StatusOK {
			return 0, false
		}
		return ttl, true
	}
	switch {
	case c.cfg.Shared && d.sMaxAge.set:
		return d.sMaxAge.d, true
	case d.maxAge.set:
		return d.maxAge.d, true
	case d.targeted:
		return 0, false
	}
	if lines := h["Expires"]; len(lines) > 0 {
		at, ok := httpfield.ParseDate(lines[0], now)
		if !ok || len(lines) > 1 {
			return 0, true
		}
		return max(at.Sub(date), 0), true
	}
	if !heuristic(status) && !d.public {
		return 0, false
	}
	if ttl > 0 {
		return ttl, false
	}
	if c.cfg.Heuristic.Fraction < 0 {
		return 0, false
	}
	modified, ok := dateField(h, "Last-Modified", now)
	if !ok || !modified.Before(date) {
		return 0, false
	}
	return min(time.Duration(float64(date.Sub(modified))*c.cfg.Heuristic.Fraction), c.cfg.Heuristic.Max), false
}

// heuristic tells whether a status is heuristically cacheable (RFC 9110, section 15.1).
func heuristic(status int) bool {
	switch status {
	case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501:
		return true
	}
	return false
}

// understood tells whether this cache knows what a status asks of it (RFC 9111, section 3), which
// must-understand makes a condition.
func understood(status int) bool {
	if heuristic(status) {
		return true
	}
	switch status {
	case 201, 202, 205, 302, 303, 307, 400, 401, 402, 403, 406, 407, 408, 409, 411, 412, 413, 415, 417, 421, 422, 425, 426, 428, 429, 431, 451,
		500, 502, 503, 504, 505, 511:
		return true
	}
	return false
}

// dateField reads a date; a field that is repeated is none.
func dateField(h http.Header, name string, now time.Time) (time.Time, bool) {
	lines := h[name]
	if len(lines) != 1 {
		return time.Time{}, false
	}
	return httpfield.ParseDate(lines[0], now)
}

// initialAge is the age of a response at its arrival (section 4.2.3), which took from asked to now.
func initialAge(h http.Header, date, asked, now time.Time) time.Duration {
	apparent := max(now.Sub(date), 0)
	var said time.Duration
	for member := range httpfield.Members(h["Age"]) {
		said, _ = httpfield.DeltaSeconds(member) // of a list the first counts; what is invalid is ignored (section 5.1)
		break
	}
	return max(apparent, said+max(now.Sub(asked), 0))
}
