package web

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// maxParams is the most named parameters a pattern may have. Offsets of their
// values live in a fixed array of the Context, so look-ups never allocate.
const maxParams = 32

type segKind uint8

const (
	segLiteral segKind = iota // text; the empty text in last place is the trailing slash
	segParam                  // {name}, {name:constraint}, {name}.suffix, {name:constraint}.suffix
	segRest                   // {name...} or a final slash
)

// segment is one element between slashes, in canonical form (see canonical).
type segment struct {
	kind   segKind
	text   string // literal text, or the suffix of a parameter
	name   string
	constr *constraint
}

// sameShape reports whether two segments match the same texts whatever their names.
func (s segment) sameShape(o segment) bool {
	return s.kind == o.kind && s.text == o.text && s.constr.key() == o.constr.key()
}

// matches reports whether a whole path segment, in canonical form, fits s.
// A rest matches anything.
func (s segment) matches(seg string) bool {
	switch s.kind {
	case segLiteral:
		return seg == s.text
	case segRest:
		return true
	}
	if isDot(seg) || len(seg) <= len(s.text) || !strings.HasSuffix(seg, s.text) {
		return false
	}
	return s.constr.match(seg[:len(seg)-len(s.text)])
}

// pattern is a parsed path pattern.
type pattern struct {
	text  string
	segs  []segment
	names []string // one per parameter in order; "" for the anonymous rest of a final slash
}

// key identifies the shape: two patterns with one key match exactly the same paths.
func (p *pattern) key() string {
	var b strings.Builder
	for _, s := range p.segs {
		b.WriteByte('/')
		switch s.kind {
		case segLiteral:
			b.WriteString(s.text)
		case segParam:
			b.WriteByte('{')
			b.WriteString(s.constr.key())
			b.WriteByte('}')
			b.WriteString(s.text)
		case segRest:
			b.WriteString("{...}")
		}
	}
	return b.String()
}

// static reports whether the pattern has no parameter, and the one path it matches.
func (p *pattern) static() (string, bool) {
	var b strings.Builder
	for _, s := range p.segs {
		if s.kind != segLiteral {
			return "", false
		}
		b.WriteByte('/')
		b.WriteString(s.text)
	}
	return b.String(), true
}

// endsInRest reports whether the pattern takes the rest of the path.
func (p *pattern) endsInRest() bool {
	return p.segs[len(p.segs)-1].kind == segRest
}

// constrained reports whether a parameter of the pattern has a constraint.
func (p *pattern) constrained() bool {
	for _, s := range p.segs {
		if s.constr != nil {
			return true
		}
	}
	return false
}

// parsePattern reads the grammar of the package comment. Errors are texts
// without position: the caller adds the pattern and its file and line.
func parsePattern(text string, constraint func(string) *constraint) (*pattern, error) {
	if text == "" || text[0] != '/' {
		return nil, fmt.Errorf("a path begins with a slash (a host is set by Group.Host)")
	}
	p := &pattern{text: text}
	parts := strings.Split(text[1:], "/")
	for i, part := range parts {
		last := i == len(parts)-1
		seg, err := parseSegment(part, last, constraint)
		if err != nil {
			return nil, err
		}
		if seg.kind != segLiteral {
			if err := p.addName(seg); err != nil {
				return nil, err
			}
		}
		p.segs = append(p.segs, seg)
	}
	return p, nil
}

func (p *pattern) addName(seg segment) error {
	if seg.name != "" {
		if slices.Contains(p.names, seg.name) {
			return fmt.Errorf("the parameter name %q stands twice", seg.name)
		}
	}
	p.names = append(p.names, seg.name)
	if len(p.names) > maxParams {
		return fmt.Errorf("more than %d parameters", maxParams)
	}
	return nil
}

func parseSegment(part string, last bool, constraint func(string) *constraint) (segment, error) {
	switch {
	case part == "" && last:
		return segment{kind: segRest}, nil
	case part == "":
		return segment{}, fmt.Errorf("an empty segment never matches: paths are cleaned first")
	case part == "{$}" && last:
		return segment{kind: segLiteral}, nil
	case part == "{$}":
		return segment{}, fmt.Errorf("{$} stands only at the end")
	case part[0] == ':' || part[0] == '*':
		name := part[1:]
		if name == "" {
			name = "name"
		}
		if part[0] == '*' {
			return segment{}, fmt.Errorf("segment %q: write {%s...} for the rest of the path", part, name)
		}
		return segment{}, fmt.Errorf("segment %q: write {%s} for a parameter", part, name)
	}
	if !strings.ContainsAny(part, "{}") {
		lit, err := canonicalSegment(part)
		if err != nil {
			return segment{}, err
		}
		if isDot(lit) {
			return segment{}, fmt.Errorf("a dot segment never matches: paths are cleaned first")
		}
		return segment{kind: segLiteral, text: lit}, nil
	}
	end := strings.IndexByte(part, '}')
	if part[0] != '{' || end < 0 {
		return segment{}, fmt.Errorf("segment %q: a parameter is {name} and begins its segment", part)
	}
	return parseParam(part, part[1:end], part[end+1:], last, constraint)
}

func parseParam(part, inner, suffix string, last bool, constraint func(string) *constraint) (segment, error) {
	if strings.ContainsAny(suffix, "{}") {
		return segment{}, fmt.Errorf("segment %q: one parameter per segment", part)
	}
	if name, rest := strings.CutSuffix(inner, "..."); rest {
		switch {
		case !last || suffix != "":
			return segment{}, fmt.Errorf("segment %q: {%s...} stands only at the end", part, name)
		case !validName(name):
			return segment{}, fmt.Errorf("segment %q: a parameter name is a Go identifier", part)
		}
		return segment{kind: segRest, name: name}, nil
	}
	name, con, hasCon := strings.Cut(inner, ":")
	if !validName(name) {
		return segment{}, fmt.Errorf("segment %q: a parameter name is a Go identifier", part)
	}
	seg := segment{kind: segParam, name: name}
	if hasCon {
		if seg.constr = constraint(con); seg.constr == nil {
			return segment{}, fmt.Errorf("segment %q: unknown constraint %q", part, con)
		}
	}
	var err error
	seg.text, err = canonicalSegment(suffix)
	return seg, err
}

func validName(s string) bool {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return s != ""
}

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

// canonical returns the path of u in the one form in which patterns and paths
// are compared: every byte decoded, save that a slash and a percent sign that
// belong to a segment stay %2F and %25. So segmentation cannot be changed by
// an encoded slash, and no text is decoded twice. The second result tells
// whether such an escape is left, hence whether values need decoding.
//
// Almost every request takes the first return and costs nothing.
func canonical(u *url.URL) (path string, escaped bool) {
	if u.RawPath == "" && strings.IndexByte(u.Path, '%') < 0 {
		return u.Path, false
	}
	// EscapedPath, not RawPath: it ignores a RawPath that does not belong to Path.
	return decodeAllButSlash(u.EscapedPath())
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

// decodeValue undoes the two escapes that the canonical form keeps.
func decodeValue(s string) string {
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

// escapeCanonical turns a canonical path into the path of a URL reference.
func escapeCanonical(path string) string {
	segs := strings.Split(path, "/")
	for i, s := range segs {
		segs[i] = url.PathEscape(decodeValue(s))
	}
	return strings.Join(segs, "/")
}

// cleanPath removes empty and dot segments from a canonical path and keeps a
// trailing slash. It returns its argument when there is nothing to clean.
func cleanPath(path string) string {
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
	return emptySegment(rest) || dotSegment(rest)
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
