// Package route finds the route of a path. It has patterns with parameters and constraints, the
// table of a set of patterns, the conflicts between them, and the reason why a route was chosen.
// It does not know requests.
//
// A pattern consists of segments: text, {name} for one segment that is not empty,
// {name:constraint}, either with a suffix as in {name}.json, and at the end {name...} for the
// rest, a slash for the subtree or {$} for exactly the slash.
package route

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// MaxParams is the most named parameters a pattern may have. Offsets of their
// values live in a fixed array of the Context, so look-ups never allocate.
const MaxParams = 32

// Kind is the kind of a [Segment].
type Kind uint8

// The kinds of segments.
const (
	Literal Kind = iota // text; the empty text in last place is the trailing slash
	Param               // {name}, {name:constraint}, {name}.suffix, {name:constraint}.suffix
	Rest                // {name...} or a final slash
)

// Segment is one element between slashes, in canonical form (see canonical).
type Segment struct {
	Kind       Kind
	Text       string // literal text, or the suffix of a parameter
	Name       string
	Constraint *Constraint // nil: any text
}

// sameShape reports whether two segments match the same texts whatever their names.
func (s Segment) sameShape(o Segment) bool {
	return s.Kind == o.Kind && s.Text == o.Text && s.Constraint.key() == o.Constraint.key()
}

// suffix is that of a parameter.
func (s Segment) suffix() string {
	if s.Kind != Param {
		return ""
	}
	return s.Text
}

// matches reports whether a whole path segment, in canonical form, fits s.
// A rest matches anything.
func (s Segment) matches(seg string) bool {
	switch s.Kind {
	case Literal:
		return seg == s.Text
	case Rest:
		return true
	}
	if isDot(seg) || len(seg) <= len(s.Text) || !strings.HasSuffix(seg, s.Text) {
		return false
	}
	return s.Constraint.match(seg[:len(seg)-len(s.Text)])
}

// Pattern is a parsed path pattern.
type Pattern struct {
	Text  string
	Segs  []Segment
	Names []string // one per parameter in order; "" for the anonymous rest of a final slash
}

// Key identifies the shape: two patterns with one key match exactly the same paths.
func (p *Pattern) Key() string {
	var b strings.Builder
	for _, s := range p.Segs {
		b.WriteByte('/')
		switch s.Kind {
		case Literal:
			b.WriteString(s.Text)
		case Param:
			b.WriteByte('{')
			b.WriteString(s.Constraint.key())
			b.WriteByte('}')
			b.WriteString(s.Text)
		case Rest:
			b.WriteString("{...}")
		}
	}
	return b.String()
}

// static reports whether the pattern has no parameter, and the one path it matches.
func (p *Pattern) static() (string, bool) {
	var b strings.Builder
	for _, s := range p.Segs {
		if s.Kind != Literal {
			return "", false
		}
		b.WriteByte('/')
		b.WriteString(s.Text)
	}
	return b.String(), true
}

// EndsInRest reports whether the pattern takes the rest of the path.
func (p *Pattern) EndsInRest() bool {
	return p.Segs[len(p.Segs)-1].Kind == Rest
}

// Constrained reports whether a parameter of the pattern has a constraint.
func (p *Pattern) Constrained() bool {
	for _, s := range p.Segs {
		if s.Constraint != nil {
			return true
		}
	}
	return false
}

// Parse reads the grammar of the package comment. Errors are texts
// without position: the caller adds the pattern and its file and line.
func Parse(text string, constraint func(string) *Constraint) (*Pattern, error) {
	if text == "" || text[0] != '/' {
		return nil, fmt.Errorf("a path begins with a slash (a host is set by Group.Host)")
	}
	if strings.ContainsAny(text, "?#") {
		return nil, fmt.Errorf("a path has no query and no fragment (a question mark in it is %%3F)")
	}
	p := &Pattern{Text: text}
	parts := strings.Split(text[1:], "/")
	for i, part := range parts {
		last := i == len(parts)-1
		seg, err := parseSegment(part, last, constraint)
		if err != nil {
			return nil, err
		}
		if seg.Kind != Literal {
			if err := p.addName(seg); err != nil {
				return nil, err
			}
		}
		p.Segs = append(p.Segs, seg)
	}
	return p, nil
}

func (p *Pattern) addName(seg Segment) error {
	if seg.Name != "" {
		if slices.Contains(p.Names, seg.Name) {
			return fmt.Errorf("the parameter name %q is used twice", seg.Name)
		}
	}
	p.Names = append(p.Names, seg.Name)
	if len(p.Names) > MaxParams {
		return fmt.Errorf("more than %d parameters", MaxParams)
	}
	return nil
}

func parseSegment(part string, last bool, constraint func(string) *Constraint) (Segment, error) {
	switch {
	case part == "" && last:
		return Segment{Kind: Rest}, nil
	case part == "":
		return Segment{}, fmt.Errorf("an empty segment never matches: paths are cleaned first")
	case part == "{$}" && last:
		return Segment{Kind: Literal}, nil
	case part == "{$}":
		return Segment{}, fmt.Errorf("{$} is allowed only at the end")
	case part[0] == ':' || part[0] == '*':
		name := cmp.Or(part[1:], "name")
		if part[0] == '*' {
			return Segment{}, fmt.Errorf("segment %q: write {%s...} for the rest of the path", part, name)
		}
		return Segment{}, fmt.Errorf("segment %q: write {%s} for a parameter", part, name)
	}
	if !strings.ContainsAny(part, "{}") {
		lit, err := canonicalSegment(part)
		if err != nil {
			return Segment{}, err
		}
		if isDot(lit) {
			return Segment{}, fmt.Errorf("a dot segment never matches: paths are cleaned first")
		}
		return Segment{Kind: Literal, Text: lit}, nil
	}
	end := strings.IndexByte(part, '}')
	if part[0] != '{' || end < 0 {
		return Segment{}, fmt.Errorf("segment %q: a parameter is {name} and begins its segment", part)
	}
	return parseParam(part, part[1:end], part[end+1:], last, constraint)
}

func parseParam(part, inner, suffix string, last bool, constraint func(string) *Constraint) (Segment, error) {
	if strings.ContainsAny(suffix, "{}") {
		return Segment{}, fmt.Errorf("segment %q: one parameter per segment", part)
	}
	if name, rest := strings.CutSuffix(inner, "..."); rest {
		switch {
		case !last || suffix != "":
			return Segment{}, fmt.Errorf("segment %q: {%s...} is allowed only at the end", part, name)
		case !ValidName(name):
			return Segment{}, fmt.Errorf("segment %q: a parameter name is a Go identifier", part)
		}
		return Segment{Kind: Rest, Name: name}, nil
	}
	name, con, hasCon := strings.Cut(inner, ":")
	if !ValidName(name) {
		return Segment{}, fmt.Errorf("segment %q: a parameter name is a Go identifier", part)
	}
	seg := Segment{Kind: Param, Name: name}
	if hasCon {
		if seg.Constraint = constraint(con); seg.Constraint == nil {
			return Segment{}, fmt.Errorf("segment %q: unknown constraint %q", part, con)
		}
	}
	var err error
	seg.Text, err = canonicalSegment(suffix)
	return seg, err
}

// ValidName reports whether s can name a parameter or a constraint: a Go identifier.
func ValidName(s string) bool {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return s != ""
}

// isDot reports whether a segment is . or ..
func isDot(seg string) bool { return seg == "." || seg == ".." }

// canonicalSegment decodes a segment of a pattern except for %2F and %25.
func canonicalSegment(s string) (string, error) {
	if strings.IndexByte(s, '%') < 0 {
		return s, nil
	}
	if _, err := url.PathUnescape(s); err != nil {
		return "", fmt.Errorf("segment %q: %w", s, err)
	}
	out, _ := decodeAllButSlash(s)
	return out, nil
}

// Canonical returns the path of u in the one form in which patterns and paths
// are compared: every byte decoded, save that a slash and a percent sign that
// belong to a segment stay %2F and %25. So segmentation cannot be changed by
// an encoded slash, and no text is decoded twice. The second result tells
// whether such an escape is left, hence whether values need decoding.
//
// Almost every request takes the first return and costs nothing.
func Canonical(u *url.URL) (path string, escaped bool) {
	if u.RawPath == "" && strings.IndexByte(u.Path, '%') < 0 {
		return u.Path, false
	}
	return decodeAllButSlash(EscapedPath(u))
}

// EscapedPath is u.EscapedPath, but it keeps a RawPath that belongs to Path even
// where a character in it should have been escaped, such as ^ or a letter beyond
// ASCII: escaped anew, a slash in a segment would become one between segments.
func EscapedPath(u *url.URL) string {
	if u.RawPath != "" {
		if path, err := url.PathUnescape(u.RawPath); err == nil && path == u.Path {
			return u.RawPath
		}
	}
	return u.EscapedPath()
}

func decodeAllButSlash(s string) (out string, escaped bool) {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' || i+2 >= len(s) {
			b = append(b, s[i])
			continue
		}
		switch v := unhex(s[i+1])<<4 | unhex(s[i+2]); v {
		case '/':
			b, escaped = append(b, "%2F"...), true
		case '%':
			b, escaped = append(b, "%25"...), true
		default:
			b = append(b, v)
		}
		i += 2
	}
	return string(b), escaped
}

// DecodeValue undoes the two escapes that the canonical form keeps.
func DecodeValue(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	return canonicalEscapes.Replace(s)
}

var canonicalEscapes = strings.NewReplacer("%2F", "/", "%25", "%")

func unhex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 0
}

// Escape turns a canonical path into the path of a URL reference.
func Escape(path string) string {
	segs := strings.Split(path, "/")
	for i, s := range segs {
		segs[i] = url.PathEscape(DecodeValue(s))
	}
	return strings.Join(segs, "/")
}

// Clean removes empty and dot segments from a canonical path and keeps a
// trailing slash. It returns its argument when there is nothing to clean.
func Clean(path string) string {
	if path == "" {
		return "/"
	}
	if path[0] == '/' && !unclean(path[1:]) {
		return path
	}
	var out []string
	segs := strings.Split(path, "/")
	for _, s := range segs {
		switch s {
		case "", ".":
		case "..":
			if len(out) > 0 {
				out = out[:len(out)-1]
			}
		default:
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return "/"
	}
	clean := "/" + strings.Join(out, "/")
	if last := segs[len(segs)-1]; last == "" || isDot(last) {
		clean += "/"
	}
	return clean
}

// unclean reports whether the rest of a path (what follows a slash) has an
// empty segment before its end or a dot segment anywhere.
func unclean(rest string) bool {
	before := byte('/')
	for i := range len(rest) {
		c := rest[i]
		if before == '/' && (c == '/' || c == '.') { // nearly no path has one of both
			return emptySegment(rest) || dotSegment(rest)
		}
		before = c
	}
	return false
}

func emptySegment(rest string) bool {
	return (rest != "" && rest[0] == '/') || strings.Contains(rest, "//")
}

func dotSegment(rest string) bool {
	for i := 0; i < len(rest); {
		if rest[i] != '.' {
			j := strings.Index(rest[i:], "/.")
			if j < 0 {
				return false
			}
			i += j + 1
		}
		end := strings.IndexByte(rest[i:], '/')
		if end < 0 {
			return isDot(rest[i:])
		}
		if isDot(rest[i : i+end]) {
			return true
		}
		i += end + 1
	}
	return false
}
