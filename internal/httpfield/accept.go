package httpfield

import "strings"

// Weighted is one member of an Accept-like list.
type Weighted struct {
	Value  string // without parameters, lower case
	Params string // media type parameters other than q, as sent
	Q      int    // in thousandths
}

// ParseWeighted reads Accept, Accept-Encoding and their like (RFC 9110, section
// 12.4.2). Members with a malformed weight are left out.
func ParseWeighted(lines []string) []Weighted { return appendWeighted(nil, lines) }

// few is how many members a list has at most, as most have, that is read without taking memory.
const few = 8

func appendWeighted(out []Weighted, lines []string) []Weighted {
	for member := range Members(lines) {
		if w, ok := parseMember(member); ok {
			out = append(out, w)
		}
	}
	return out
}

func parseMember(member string) (Weighted, bool) {
	value, rest := CutUnquoted(member, ';')
	w := Weighted{Value: strings.ToLower(trim(value)), Q: 1000}
	if w.Value == "" {
		return w, false
	}
	for rest != "" {
		var p string
		p, rest = CutUnquoted(rest, ';')
		p = trim(p)
		if k, v, _ := strings.Cut(p, "="); strings.EqualFold(trim(k), "q") {
			q, ok := parseQ(trim(v))
			if !ok {
				return w, false
			}
			w.Q = q
			break // what follows q is no parameter of the type
		}
		if p != "" {
			if w.Params != "" {
				w.Params += ";"
			}
			w.Params += p
		}
	}
	return w, true
}

// parseQ reads a qvalue: 0 or 1 with at most three decimals.
func parseQ(s string) (int, bool) {
	if s == "" || len(s) > 5 || (s[0] != '0' && s[0] != '1') {
		return 0, false
	}
	q := int(s[0]-'0') * 1000
	if len(s) == 1 {
		return q, true
	}
	if s[1] != '.' {
		return 0, false
	}
	unit := 100
	for _, d := range []byte(s[2:]) {
		if d < '0' || d > '9' {
			return 0, false
		}
		q += int(d-'0') * unit
		unit /= 10
	}
	return q, q <= 1000
}

// Prefer returns the media type of offers that the Accept lines prefer: the
// highest weight, then the earlier offer. Without Accept it is the first offer;
// "" means that none is acceptable (RFC 9110, section 12.5.1).
func Prefer(accept []string, offers ...string) string {
	if len(accept) > 0 {
		// The first offer, named first and without a weight, is not surpassed.
		if first, _, _ := strings.Cut(accept[0], ","); first == offers[0] {
			return first
		}
	}
	if len(accept) == 1 { // one range or type alone needs no parsing
		if accept[0] == "*/*" {
			return offers[0]
		}
		for _, o := range offers {
			if kind, _, _ := strings.Cut(o, ";"); kind == accept[0] {
				return o
			}
		}
	}
	var room [few]Weighted
	ranges := appendWeighted(room[:0], accept)
	if len(accept) == 0 || len(ranges) == 0 {
		return offers[0]
	}
	best, bestQ := "", 0
	for _, o := range offers {
		if q := quality(ranges, o); q > bestQ {
			best, bestQ = o, q
		}
	}
	return best
}

// quality is the weight of the most specific range that covers a media type.
func quality(ranges []Weighted, offer string) int {
	kind, params, _ := strings.Cut(offer, ";")
	kind = strings.ToLower(trim(kind))
	main := kind[:strings.IndexByte(kind, '/')+1]
	params = strings.ReplaceAll(strings.ToLower(params), " ", "")
	q, rank := 0, -1
	for _, r := range ranges {
		got := -1
		switch {
		case r.Value == kind && r.Params == "":
			got = 2
		case r.Value == kind && strings.EqualFold(strings.ReplaceAll(r.Params, " ", ""), params):
			got = 3
		case r.Params == "" && main != "" && len(r.Value) == len(main)+1 && r.Value[len(main)] == '*' && r.Value[:len(main)] == main:
			got = 1
		case r.Value == "*/*" && r.Params == "":
			got = 0
		}
		if got > rank {
			q, rank = r.Q, got
		}
	}
	return q
}

// CodingQ returns the weight that Accept-Encoding gives a content coding (RFC 9110, section
// 12.5.3). present reports whether the field was sent.
func CodingQ(ranges []Weighted, present bool, coding string) int {
	if !present {
		if coding == "identity" {
			return 1000
		}
		return 0
	}
	star := -1
	for _, r := range ranges {
		if r.Value == coding || (coding == "gzip" && r.Value == "x-gzip") {
			return r.Q
		}
		if r.Value == "*" {
			star = r.Q
		}
	}
	switch {
	case star >= 0:
		return star
	case coding == "identity":
		return 1 // acceptable, after whatever was named
	}
	return 0
}

// Compressible reports whether contents of a media type, as in Content-Type (RFC 9110, section
// 8.3), shrink by a content coding.
func Compressible(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	if strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") {
		return true
	}
	switch kind {
	case "application/json", "application/xml", "application/javascript", "application/yaml", "application/wasm", "application/x-ndjson",
		"application/vnd.ms-fontobject", "font/ttf", "font/otf", "image/bmp", "image/vnd.microsoft.icon", "image/x-icon":
		return true
	}
	return false
}
