package httpfield

import (
	"math"
	"strconv"
	"strings"
)

// Range is a part of a representation: Length bytes from Start.
type Range struct{ Start, Length int64 }

// maxRanges is the most ranges one request may ask for; with more, or with
// ranges that overlap so much that they sum to more than the whole, the answer
// is the whole (RFC 9110, section 14.2, leaves that to the server).
const maxRanges = 32

// ParseRange reads a Range field for a representation of size bytes.
// apply is false when the field is to be ignored: no unit of ours, malformed,
// too many. With apply, no ranges mean that none can be satisfied (416).
func ParseRange(s string, size int64) (ranges []Range, apply bool) {
	unit, set, ok := strings.Cut(strings.TrimLeft(s, " \t"), "=")
	if !ok || !strings.EqualFold(unit, "bytes") { // units are case-insensitive (14.1)
		return nil, false
	}
	n, sum := 0, int64(0)
	for spec := range strings.SplitSeq(set, ",") {
		if spec = strings.Trim(spec, " \t"); spec == "" {
			continue
		}
		if n++; n > maxRanges {
			return nil, false
		}
		r, ok := parseSpec(spec, size)
		if !ok {
			return nil, false
		}
		if r.Length > 0 {
			ranges = append(ranges, r)
			sum += r.Length
		}
	}
	if n == 0 || sum > size {
		return nil, false
	}
	return ranges, true
}

// parseSpec reads first-last, first- or -suffix. A range that lies outside has
// no length.
func parseSpec(spec string, size int64) (Range, bool) {
	first, last, ok := strings.Cut(spec, "-")
	if !ok {
		return Range{}, false
	}
	if first == "" {
		n, ok := digits(last)
		n = min(n, size)
		return Range{size - n, n}, ok
	}
	start, ok := digits(first)
	if !ok {
		return Range{}, false
	}
	end := size - 1
	if last != "" {
		n, ok := digits(last)
		if !ok || n < start {
			return Range{}, false
		}
		end = min(end, n)
	}
	if start >= size {
		return Range{}, true
	}
	return Range{start, end - start + 1}, true
}

// digits reads a number without sign; one too large for int64 is the largest.
func digits(s string) (int64, bool) {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	if s == "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return math.MaxInt64, true
	}
	return n, true
}

// ContentRange writes the field of a 206 answer.
func ContentRange(r Range, size int64) string {
	return "bytes " + strconv.FormatInt(r.Start, 10) + "-" + strconv.FormatInt(r.Start+r.Length-1, 10) + "/" + strconv.FormatInt(size, 10)
}

// ParseContentRange reads the Content-Range field of a 206 response with a single part: its
// position, and the size of the whole (RFC 9110, section 14.4). ok is false for units other than
// bytes, an unknown size and malformed values.
func ParseContentRange(lines []string) (r Range, size int64, ok bool) {
	if len(lines) != 1 {
		return Range{}, 0, false
	}
	unit, spec, _ := strings.Cut(strings.Trim(lines[0], " \t"), " ")
	span, all, _ := strings.Cut(spec, "/")
	first, last, _ := strings.Cut(span, "-")
	start, ok1 := digits(first)
	end, ok2 := digits(last)
	size, ok3 := digits(all)
	if !strings.EqualFold(unit, "bytes") || !ok1 || !ok2 || !ok3 || end < start || size <= end || size == math.MaxInt64 {
		return Range{}, 0, false
	}
	return Range{start, end - start + 1}, size, true
}
