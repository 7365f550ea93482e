package svg

import (
	"slices"
	"strings"

	"example.com/quire/pdf/internal/diag"
)

// rule is one selector of a style sheet with its declarations.
type rule struct {
	parts  []compound // from left to right
	decls  []declaration
	weight int // specificity: ids, then classes, then types
}

// compound is what one element must be: rect.big#first.
type compound struct {
	tag, id string // empty: any
	classes []string
	child   bool // of the compound to its left, not of any ancestor
}

type declaration struct {
	name, value string
	important   bool
}

// sheet reads a style element (CSS 2.2, 4.1). What it does not understand is told and left out.
func (f *File) sheet(n *node) error {
	var b strings.Builder
	for _, k := range n.kids {
		b.WriteString(k.text)
	}
	s := withoutComments(b.String())
	ref, outside := outsideURL(s)
	if i := strings.Index(s, "@import"); i >= 0 && !outside {
		ref, _, _ = strings.Cut(s[i+len("@import"):], ";")
		ref, outside = strings.Trim(ref, " \t\r\n\"'"), true
	}
	if outside {
		return refuse(n.line, n.col, "put what it names into the file", "the style sheet refers to %s outside of the file", diag.Quote(ref))
	}
	if t := strings.TrimSpace(n.get("type")); t != "" && t != "text/css" {
		f.told(n, "style of type %s is not read", diag.Quote(t))
		return nil
	}
	if m := strings.TrimSpace(n.get("media")); m != "" && m != "all" && m != "print" {
		f.told(n, "style for media %s is not read", diag.Quote(m))
		return nil
	}
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		i := strings.IndexAny(s, "{;")
		if i < 0 {
			f.told(n, "the style %s is not understood", diag.Quote(s))
			return nil
		}
		head := strings.TrimSpace(s[:i])
		if s[i] == ';' || strings.HasPrefix(head, "@") {
			f.told(n, "the style rule %s is not read", diag.Quote(head))
			s = skipRule(s[i:])
			continue
		}
		body, rest, _ := strings.Cut(s[i+1:], "}")
		s = rest
		decls := declarations(body)
		for sel := range strings.SplitSeq(head, ",") {
			r, ok := selector(strings.TrimSpace(sel))
			if !ok {
				f.told(n, "the style selector %s is not read", diag.Quote(strings.TrimSpace(sel)))
				continue
			}
			r.decls = decls
			f.rules = append(f.rules, r)
		}
	}
	return nil
}

// skipRule skips to the end of an at-rule: a semicolon, or a block with all that is in it.
func skipRule(s string) string {
	if s[0] == ';' {
		return s[1:]
	}
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return s[i+1:]
			}
		}
	}
	return ""
}

func withoutComments(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "/*")
		b.WriteString(before)
		if !found {
			break
		}
		b.WriteByte(' ')
		_, s, _ = strings.Cut(after, "*/")
	}
	return strings.NewReplacer("<!--", "", "-->", "").Replace(b.String())
}

// declarations reads what stands between braces, or in the attribute style.
func declarations(s string) []declaration {
	var out []declaration
	for part := range strings.SplitSeq(s, ";") {
		name, value, ok := strings.Cut(part, ":")
		if !ok {
			continue
		}
		d := declaration{name: strings.ToLower(strings.TrimSpace(name)), value: strings.TrimSpace(value)}
		if v, mark, ok := strings.Cut(d.value, "!"); ok && strings.EqualFold(strings.TrimSpace(mark), "important") {
			d.value, d.important = strings.TrimSpace(v), true
		}
		out = append(out, d)
	}
	return out
}

// selector reads a selector of types, classes, ids, * and the combinators for descendants and
// children. Others, such as :hover, are not read.
func selector(s string) (rule, bool) {
	var r rule
	child := false
	for word := range strings.FieldsSeq(strings.ReplaceAll(s, ">", " > ")) {
		if word == ">" {
			if child || len(r.parts) == 0 {
				return r, false
			}
			child = true
			continue
		}
		c, weight, ok := readCompound(word)
		if !ok {
			return r, false
		}
		c.child, child = child, false
		r.parts = append(r.parts, c)
		r.weight += weight
	}
	return r, len(r.parts) > 0 && !child
}

func readCompound(s string) (c compound, weight int, ok bool) {
	for first := true; s != ""; first = false {
		kind := s[0]
		if kind == '.' || kind == '#' {
			s = s[1:]
		} else if !first {
			return c, 0, false
		}
		if kind == '*' {
			s = s[1:]
			continue
		}
		n := 0
		for n < len(s) && nameByte(s[n]) {
			n++
		}
		if n == 0 {
			return c, 0, false
		}
		switch name := s[:n]; kind {
		case '.':
			c.classes = append(c.classes, name)
			weight += 1 << 10
		case '#':
			if c.id != "" && c.id != name {
				return c, 0, false
			}
			c.id = name
			weight += 1 << 20
		default:
			c.tag = name
			weight++
		}
		s = s[n:]
	}
	return c, weight, true
}

func nameByte(c byte) bool {
	return c == '-' || c == '_' || c >= 0x80 || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// indexRules puts the rules into the order in which they win, and finds them by what the last of
// their compounds asks for.
func (f *File) indexRules() {
	slices.SortStableFunc(f.rules, func(a, b rule) int { return a.weight - b.weight })
	f.index = map[string][]int{}
	for i := range f.rules {
		c := &f.rules[i].parts[len(f.rules[i].parts)-1]
		key := "*"
		switch {
		case c.id != "":
			key = "#" + c.id
		case len(c.classes) > 0:
			key = "." + c.classes[0]
		case c.tag != "":
			key = c.tag
		}
		f.index[key] = append(f.index[key], i)
	}
}

// candidates returns the rules that may select n, in the order in which they win.
func (f *File) candidates(n *node) []int {
	if len(f.rules) == 0 {
		return nil
	}
	keys := []string{"*", n.name}
	if id := n.get("id"); id != "" {
		keys = append(keys, "#"+id)
	}
	for c := range strings.FieldsSeq(n.get("class")) {
		if c = "." + c; !slices.Contains(keys, c) {
			keys = append(keys, c)
		}
	}
	var out []int
	for _, k := range keys {
		out = append(out, f.index[k]...)
	}
	slices.Sort(out)
	return out
}

// matches tries the compounds of a rule from right to left, each on every ancestor where the
// selector leaves that open. Each try is a step.
func (d *drawer) matches(parts []compound, n *node) bool {
	d.steps++
	last := &parts[len(parts)-1]
	if d.steps > d.f.limits.SVGSteps || !last.selects(n) {
		return false
	}
	if parts = parts[:len(parts)-1]; len(parts) == 0 {
		return true
	}
	for up := n.parent; up != nil; up = up.parent {
		if d.matches(parts, up) {
			return true
		}
		if last.child {
			return false
		}
	}
	return false
}

func (c *compound) selects(n *node) bool {
	if c.tag != "" && c.tag != n.name || c.id != "" && c.id != n.get("id") {
		return false
	}
	for _, want := range c.classes {
		if !slices.Contains(strings.Fields(n.get("class")), want) {
			return false
		}
	}
	return true
}
