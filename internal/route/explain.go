package route

import (
	"cmp"
	"strconv"
	"strings"
)

// Mismatch says why a path does not match, "" when it does.
func (p *Pattern) Mismatch(path string) string {
	if path == "" || path[0] != '/' {
		return "no path"
	}
	segs := strings.Split(path[1:], "/")
	for i, s := range p.Segs {
		if i >= len(segs) {
			return "the path ends before segment " + strconv.Itoa(i+1)
		}
		if s.Kind == Rest {
			if rest := strings.Join(segs[i:], "/"); unclean(rest) {
				return "the path is not clean"
			}
			return ""
		}
		if s.Kind == Param && segs[i] == "" {
			return "segment " + strconv.Itoa(i+1) + " is empty"
		}
		if !s.matches(segs[i]) {
			return "segment " + strconv.Itoa(i+1) + " " + strconv.Quote(segs[i]) + " is not " + s.String()
		}
	}
	if len(segs) > len(p.Segs) {
		return "the path goes on after segment " + strconv.Itoa(len(p.Segs))
	}
	return ""
}

// Weaker says why the pattern comes after another that matches too.
func (p *Pattern) Weaker(won *Pattern) string {
	for i := range min(len(p.Segs), len(won.Segs)) {
		if !p.Segs[i].sameShape(won.Segs[i]) {
			return "segment " + strconv.Itoa(i+1) + ": " + won.Segs[i].String() + " comes before " + p.Segs[i].String()
		}
	}
	return "a route of the method itself comes first"
}

// String writes the segment as in a pattern.
func (s Segment) String() string {
	switch s.Kind {
	case Literal:
		return cmp.Or(s.Text, "{$}")
	case Rest:
		return "{" + s.Name + "...}"
	}
	if s.Constraint != nil {
		return "{" + s.Name + ":" + s.Constraint.name + "}" + s.Text
	}
	return "{" + s.Name + "}" + s.Text
}
