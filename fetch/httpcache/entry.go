package httpcache

import (
	"cmp"
	"crypto/tls"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"example.com/quire/internal/httpfield"
)

// Entry is what a store keeps under one key: the variants of a response. It is immutable.
type Entry struct {
	variants []*variant // the newest first
}

// variant is one stored response. It is immutable: an update makes another.
type variant struct {
	status int
	proto  string
	fields fields // without those that belong to the connection
	texts  *atomic.Pointer[texts]
	told   bool // fields has a Cache-Status, of caches before this one
	body   []byte
	tls    *tls.ConnectionState // of the exchange; not encoded

	// A part of a body that is not there in full (RFC 9111, section 3.3): its first byte, and the
	// length of the whole.
	start, total int64
	partial      bool

	vary []selector // what the request said in the fields that Vary names

	arrived  time.Time     // when the response was received, or last validated
	date     time.Time     // its Date, or arrived
	modified time.Time     // its Last-Modified; zero = none
	age      time.Duration // its age when it arrived
	life     time.Duration // how long it is fresh, from age 0
	swr, sie time.Duration // how much longer it may be served stale; 0 also where a directive forbids it

	etag        string
	noCache     bool // never without validation
	revalidate  bool // never stale: must-revalidate and, in a shared cache, proxy-revalidate and s-maxage
	immutable   bool
	invalidated bool // by a HEAD that does not fit (section 4.3.5)
}

// fields are a header in the form that is quickest to copy: its values in one list, and its names,
// each with the end of its own values.
type fields struct {
	names  []fieldName
	values []string
}

type fieldName struct {
	text string
	end  int
}

func fieldsOf(h http.Header) fields {
	n := 0
	for _, values := range h {
		n += len(values)
	}
	f := fields{make([]fieldName, 0, len(h)), make([]string, 0, n)}
	for name := range h {
		f.names = append(f.names, fieldName{text: name})
	}
	slices.SortFunc(f.names, func(a, b fieldName) int { return strings.Compare(a.text, b.text) }) // so that an entry has one encoding
	for i := range f.names {
		f.values = append(f.values, h[f.names[i].text]...)
		f.names[i].end = len(f.values)
	}
	return f
}

// all calls yield for each field. The values are not to be modified.
func (f *fields) all(yield func(name string, values []string) bool) {
	from := 0
	for _, n := range f.names {
		if !yield(n.text, f.values[from:n.end:n.end]) {
			return
		}
		from = n.end
	}
}

// get returns the values of a field, which are not to be modified.
func (f *fields) get(name string) []string {
	for n, values := range f.all {
		if n == name {
			return values
		}
	}
	return nil
}

// header returns a header of its own, with room for more fields, and without those that skip, if it
// is not nil, names. Its values are in the caller's room, if they find room there.
func (f *fields) header(room []string, more int, skip func(name string) bool) http.Header {
	h := make(http.Header, len(f.names)+more)
	values, from := append(room[:0], f.values...), 0
	for i := range f.names {
		n := &f.names[i]
		if skip == nil || !skip(n.text) {
			h[n.text] = values[from:n.end:n.end]
		}
		from = n.end
	}
	return h
}

// texts are what a hit adds to the header. They change once a second; what is asked for more often
// finds them here.
type texts struct {
	age, ttl            int64 // in seconds
	by                  string
	ageText, statusText string
}

// setHeader sets the fields, of which v keeps copies.
func (v *variant) setHeader(h http.Header) {
	v.fields, v.texts, v.told = fieldsOf(h), new(atomic.Pointer[texts]), h["Cache-Status"] != nil
}

// selector is one field of a request that selects (RFC 9111, section 4.1), its lines joined and its
// white space normalised.
type selector struct {
	name, value string
	present     bool
}

// ageAt returns the current age.
func (v *variant) ageAt(now time.Time) time.Duration { return v.age + max(now.Sub(v.arrived), 0) }

// size estimates the bytes that an entry takes.
func (e *Entry) size() int64 {
	n := int64(64)
	for _, v := range e.variants {
		n += v.size()
	}
	return n
}

func (v *variant) size() int64 {
	const fixed, field, value = 512, 64, 24
	n := int64(fixed + cap(v.body) + len(v.etag))
	for _, name := range v.fields.names {
		n += int64(field + len(name.text))
	}
	for _, s := range v.fields.values {
		n += int64(value + len(s))
	}
	for _, s := range v.vary {
		n += int64(field + len(s.name) + len(s.value))
	}
	return n
}

// selectors returns what req says in the fields that a response's Vary names; false for a Vary that
// never matches.
func selectors(vary []string, req http.Header) ([]selector, bool) {
	if len(vary) == 0 {
		return nil, true
	}
	if tooLong(vary) {
		return nil, false
	}
	var list []selector
next:
	for name := range httpfield.Members(vary) {
		if strings.Trim(name, "*") == "" || len(list) == maxMembers {
			return nil, false
		}
		name = http.CanonicalHeaderKey(name)
		for _, s := range list {
			if s.name == name {
				continue next
			}
		}
		value, present := normal(name, req[name])
		list = append(list, selector{name, value, present})
	}
	return list, true
}

// normal joins the lines of a field and takes out the white space around its members, which changes
// no list's meaning. Languages and codings are the same in either case (RFC 9110, sections 8.4.1
// and 12.5.4), and what ranks languages is their weight alone.
func normal(name string, lines []string) (string, bool) {
	if len(lines) == 0 {
		return "", false
	}
	switch name {
	case "Accept-Encoding":
		joined, _ := normal("", lines)
		return strings.ToLower(joined), true
	case "Accept-Language":
		joined, _ := normal("", lines)
		return byWeight(strings.ToLower(joined)), true
	}
	if len(lines) == 1 && !strings.ContainsAny(lines[0], ", \t") {
		return lines[0], true
	}
	var b strings.Builder
	for member := range httpfield.Members(lines) {
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(member)
	}
	return b.String(), true
}

// byWeight sorts the members of a list by weight, then by name. One that cannot be read leaves the
// list as it is.
func byWeight(list string) string {
	if !strings.Contains(list, ",") {
		return list
	}
	lines := []string{list}
	members := httpfield.ParseWeighted(lines)
	n := 0
	for range httpfield.Members(lines) {
		n++
	}
	if n != len(members) {
		return list
	}
	slices.SortFunc(members, func(a, b httpfield.Weighted) int {
		return cmp.Or(b.Q-a.Q, strings.Compare(a.Value, b.Value), strings.Compare(a.Params, b.Params))
	})
	b := make([]byte, 0, len(list)+4*n)
	for _, m := range members {
		b = append(append(append(b, m.Value...), ';'), m.Params...)
		b = append(strconv.AppendInt(append(b, ";q="...), int64(m.Q), 10), ',')
	}
	return string(b)
}

// matches tells whether req selects the variant.
func (v *variant) matches(req http.Header) bool {
	for i := range v.vary {
		s := &v.vary[i]
		if value, present := normal(s.name, req[s.name]); present != s.present || value != s.value {
			return false
		}
	}
	return true
}

// pick returns the variant that req selects: of several the one with the latest Date, complete ones
// before parts.
func (e *Entry) pick(req http.Header) *variant {
	if e == nil {
		return nil
	}
	var best *variant
	for _, v := range e.variants {
		if v.matches(req) && (best == nil || best.partial && !v.partial || best.partial == v.partial && v.date.After(best.date)) {
			best = v
		}
	}
	return best
}

// with returns the entry with v as its newest variant. What v replaces is gone: those of the same
// selection, but a part beside a whole, and the oldest beyond limit.
func (e *Entry) with(v *variant, limit int) *Entry {
	list := make([]*variant, 1, 2)
	list[0] = v
	if e != nil {
		for _, old := range e.variants {
			if len(list) < limit && !sameSelection(old.vary, v.vary) {
				list = append(list, old)
			}
		}
	}
	return &Entry{variants: list}
}

func sameSelection(a, b []selector) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// replaced returns the entry with next in the place of old; nil when old is no longer there.
func (e *Entry) replaced(old, next *variant) *Entry {
	if e == nil {
		return nil
	}
	for i, v := range e.variants {
		if v == old || v.arrived.Equal(old.arrived) && sameSelection(v.vary, old.vary) && v.etag == old.etag {
			list := append([]*variant(nil), e.variants...)
			list[i] = next
			return &Entry{variants: list}
		}
	}
	return nil
}
