package httpcache

import (
	"net/http"
	"strings"
	"time"

	"github.com/dunglas/httpsfv"

	"example.com/quire/internal/httpfield"
)

// seconds is the value of a directive in delta-seconds: absent, or a duration. What is there and is
// no delta-seconds is 0.
type seconds struct {
	d   time.Duration
	set bool
}

// directives are those of a response, from Cache-Control or from a targeted field in its place.
type directives struct {
	noStore, noCache, private, public           bool
	mustRevalidate, proxyRevalidate, understand bool
	immutable, targeted                         bool
	maxAge, sMaxAge, swr, sie                   seconds
}

// responseDirectives reads those of h. Of repeated directives the first counts; of those that
// contradict each other the strictest, since each is looked at by itself (RFC 9111, section 4.2.1).
func (c *Cache) responseDirectives(h http.Header) directives {
	for _, name := range c.cfg.Targeted {
		if lines := h[name]; len(lines) > 0 {
			if d, ok := targeted(lines); ok {
				return d
			}
		}
	}
	var d directives
	lines := h["Cache-Control"]
	if len(lines) == 0 {
		return d
	}
	if tooLong(lines) {
		d.noStore = true // nobody reads that much; what it forbids is not known
		return d
	}
	n := 0
	for member := range httpfield.Members(lines) {
		if n++; n > maxMembers {
			d.noStore = true
			return d
		}
		name, value, _ := strings.Cut(member, "=")
		d.set(strings.ToLower(strings.TrimRight(name, " \t")), value, len(strings.TrimRight(name, " \t")) != len(name))
	}
	return d
}

func tooLong(lines []string) bool {
	n := 0
	for _, l := range lines {
		n += len(l)
	}
	return n > maxField
}

// set enters one directive. no-cache and private with field names count as without (RFC 9111,
// sections 5.2.2.4 and 5.2.2.7, permit that). A name with white space behind it is none, but where
// it names a freshness its value is not to be trusted either.
func (d *directives) set(name, value string, spaced bool) {
	switch name {
	case "no-store":
		d.noStore = true
	case "no-cache":
		d.noCache = true
	case "private":
		d.private = true
	case "public":
		d.public = d.public || !spaced
	case "must-revalidate":
		d.mustRevalidate = true
	case "proxy-revalidate":
		d.proxyRevalidate = true
	case "must-understand":
		d.understand = d.understand || !spaced
	case "immutable":
		d.immutable = d.immutable || !spaced
	default:
		if to := d.duration(name); to != nil {
			to.read(value, spaced)
		}
	}
}

// duration is where the value of a directive in delta-seconds stands; nil for any other name.
func (d *directives) duration(name string) *seconds {
	switch name {
	case "max-age":
		return &d.maxAge
	case "s-maxage":
		return &d.sMaxAge
	case "stale-while-revalidate":
		return &d.swr
	case "stale-if-error":
		return &d.sie
	}
	return nil
}

// read takes the value of the first directive. What is not a number is 0, the strictest.
func (s *seconds) read(value string, bad bool) {
	if s.set {
		return
	}
	s.set = true
	if v, ok := httpfield.Unquote(value); ok && !bad {
		s.d, _ = httpfield.DeltaSeconds(v)
	}
}

// targeted reads a targeted field (RFC 9213, section 2.1): a dictionary whose members have the
// names of directives. false means that the field is as if absent: it is empty or does not parse.
func targeted(lines []string) (directives, bool) {
	var d directives
	if tooLong(lines) {
		return d, false
	}
	dict, err := httpsfv.UnmarshalDictionary(lines)
	if err != nil {
		return d, false
	}
	names := dict.Names()
	if len(names) == 0 || len(names) > maxMembers {
		return d, false
	}
	d.targeted = true
	for _, name := range names {
		var value any // nil for an inner list
		if m, _ := dict.Get(name); m != nil {
			if item, ok := m.(httpsfv.Item); ok {
				value = item.Value
			}
		}
		if value == false {
			continue // ?0 switches off
		}
		if to := d.duration(name); to == nil {
			d.set(name, "", false)
		} else if n, ok := value.(int64); ok && n > 0 {
			*to = seconds{time.Duration(min(n, 1<<31)) * time.Second, true}
		} else {
			*to = seconds{set: true}
		}
	}
	return d, true
}

// demands are the directives of a request (RFC 9111, section 5.2.1).
type demands struct {
	noStore, noCache, onlyIfCached bool
	maxAge, minFresh, maxStale     seconds
	sie                            seconds
}

func requestDemands(h http.Header) demands {
	var d demands
	if len(h) == 0 {
		return d
	}
	lines := h["Cache-Control"]
	if len(lines) == 0 {
		for member := range httpfield.Members(h["Pragma"]) { // section 5.4: only where there is no Cache-Control
			if strings.EqualFold(member, "no-cache") {
				d.noCache = true
			}
		}
		return d
	}
	if tooLong(lines) {
		return demands{noStore: true, noCache: true}
	}
	for _, one := range httpfield.ParseCacheControl(lines) {
		switch one.Name {
		case "no-store":
			d.noStore = true
		case "no-cache":
			d.noCache = true
		case "only-if-cached":
			d.onlyIfCached = true
		case "max-age":
			d.maxAge.read(one.Value, false)
		case "min-fresh":
			d.minFresh.read(one.Value, false)
		case "max-stale":
			if !d.maxStale.set && one.Value == "" {
				d.maxStale = seconds{forever, true}
			}
			d.maxStale.read(one.Value, false)
		case "stale-if-error":
			d.sie.read(one.Value, false)
		}
	}
	return d
}
