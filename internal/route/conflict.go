package route

import "strings"

// Ambiguous reports whether a path matches both patterns and the first segment
// in which they differ does not say which is the narrower.
func Ambiguous(x, y *Pattern) bool {
	for i := range min(len(x.Segs), len(y.Segs)) {
		s, t := x.Segs[i], y.Segs[i]
		if s.sameShape(t) {
			continue
		}
		return s.Kind == Param && t.Kind == Param && s.Text == t.Text &&
			relate(s.Constraint, t.Constraint) == relOverlap && tailsMeet(x.Segs[i+1:], y.Segs[i+1:])
	}
	return false
}

// tailsMeet reports whether some path matches both lists of segments. Where it
// cannot tell it says yes.
func tailsMeet(x, y []Segment) bool {
	for i := 0; ; i++ {
		switch {
		case i == len(x) || i == len(y):
			return len(x) == len(y)
		case x[i].Kind == Rest || y[i].Kind == Rest:
			return true
		case !meet(x[i], y[i]):
			return false
		}
	}
}

func meet(s, t Segment) bool {
	switch {
	case s.Kind == Literal:
		return t.matches(s.Text) && (s.Text != "" || t.Kind == Literal)
	case t.Kind == Literal:
		return meet(t, s)
	case !strings.HasSuffix(s.Text, t.Text) && !strings.HasSuffix(t.Text, s.Text):
		return false
	}
	return s.Text != t.Text || relate(s.Constraint, t.Constraint) != relDisjoint
}

// Example returns a path that both patterns match.
func Example(x, y *Pattern) string {
	var b strings.Builder
	for i := range max(len(x.Segs), len(y.Segs)) {
		s, t := x.Segs[min(i, len(x.Segs)-1)], y.Segs[min(i, len(y.Segs)-1)]
		b.WriteByte('/')
		switch {
		case s.Kind == Rest && t.Kind == Rest:
			return b.String()
		case s.Kind == Literal || t.Kind == Rest:
			b.WriteString(exampleText(s))
		case t.Kind == Literal || s.Kind == Rest:
			b.WriteString(exampleText(t))
		default:
			b.WriteString(exampleParam(s, t))
		}
	}
	return b.String()
}

func exampleText(s Segment) string {
	if s.Kind == Literal {
		return s.Text
	}
	return exampleParam(s, s)
}

func exampleParam(s, t Segment) string {
	suffix := s.Text
	if len(t.Text) > len(suffix) {
		suffix = t.Text
	}
	if text, ok := sampleBoth(s.Constraint, t.Constraint); ok {
		return text + suffix
	}
	return "{" + s.Name + "}" + suffix
}
