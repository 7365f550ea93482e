package route

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// URL writes the path of the pattern with values for its parameters, each checked
// and escaped, so that the pattern matches what URL returns. The error names the
// parameter.
func (p *Pattern) URL(values map[string]string) (string, error) {
	var b strings.Builder
	for _, s := range p.Segs {
		b.WriteByte('/')
		if s.Kind == Literal {
			b.WriteString(url.PathEscape(DecodeValue(s.Text)))
			continue
		}
		v, ok := values[s.Name]
		switch {
		case s.Kind == Rest && unclean(v):
			return "", fmt.Errorf("parameter %q: %q has an empty or dot segment", s.Name, v)
		case s.Kind == Rest:
			for i, seg := range strings.Split(v, "/") {
				if i > 0 {
					b.WriteByte('/')
				}
				b.WriteString(url.PathEscape(seg))
			}
			continue
		case !ok || v == "":
			return "", fmt.Errorf("parameter %q has no value", s.Name)
		case s.Constraint != nil && !s.Constraint.check(v):
			return "", fmt.Errorf("parameter %q: %q is no %s", s.Name, v, s.Constraint.name)
		case s.Text == "" && isDot(v):
			return "", fmt.Errorf("parameter %q: %q would be a dot segment", s.Name, v)
		}
		b.WriteString(url.PathEscape(v + DecodeValue(s.Text)))
	}
	return b.String(), nil
}

// Covers reports whether path lies at or below the prefix that segs are.
func Covers(segs []Segment, path string) bool {
	rest := path
	for _, s := range segs {
		if rest == "" || rest[0] != '/' {
			return false
		}
		seg := rest[1:]
		if i := strings.IndexByte(seg, '/'); i >= 0 {
			seg = seg[:i]
		}
		if !s.matches(seg) {
			return false
		}
		rest = rest[1+len(seg):]
	}
	return true
}

// Compare orders lists of segments that cover one path by what is most specific in the first in
// which they differ: negative where x comes first.
func Compare(x, y []Segment) int {
	return slices.CompareFunc(x, y, func(s, t Segment) int {
		return cmp.Or(cmp.Compare(s.Kind, t.Kind), cmp.Compare(len(t.suffix()), len(s.suffix())), cmp.Compare(s.Constraint.order(), t.Constraint.order()))
	})
}

// PrefixValue returns the decoded value of a parameter of the prefix that segs
// are, in a path that it covers.
func PrefixValue(segs []Segment, path, name string) (string, bool) {
	for _, s := range segs {
		seg, rest, _ := strings.Cut(path[1:], "/")
		if s.Kind == Param && s.Name == name {
			return DecodeValue(strings.TrimSuffix(seg, s.Text)), true
		}
		path = "/" + rest
	}
	return "", false
}
