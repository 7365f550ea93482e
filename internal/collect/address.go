package collect

import (
	"fmt"
	"net/url"
	"strings"

	"example.com/quire/internal/record"
)

// address is an URL template: literal text with {parameter} in the segments of
// its path and in the values of its query. Scheme, host and the names in the
// query are literal, so no parameter can choose where a request goes.
type address struct {
	base   *url.URL // scheme and host
	path   []piece
	query  []piece
	params []string
}

// piece is literal text (escaped as it stands) or the name of a parameter.
type piece struct{ literal, param string }

func parseAddress(text string) (*address, error) {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || scheme != "http" && scheme != "https" {
		return nil, fmt.Errorf("url %q: want http:// or https://", text)
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	host, rest := rest[:end], rest[end:]
	if host == "" || strings.ContainsAny(host, "{}@") {
		return nil, fmt.Errorf("url %q: want a host without parameters and credentials", text)
	}
	if strings.Contains(rest, "#") {
		return nil, fmt.Errorf("url %q: want no fragment", text)
	}
	base, err := url.Parse(scheme + "://" + host)
	if err != nil {
		return nil, fmt.Errorf("url %q: %w", text, err)
	}
	a := &address{base: base}
	path, query, hasQuery := strings.Cut(rest, "?")
	if a.path, err = a.pieces(path); err != nil {
		return nil, fmt.Errorf("url %q: %w", text, err)
	}
	if hasQuery {
		if a.query, err = a.pieces(query); err != nil {
			return nil, fmt.Errorf("url %q: %w", text, err)
		}
		for pair := range strings.SplitSeq(query, "&") {
			name, _, _ := strings.Cut(pair, "=")
			if strings.ContainsAny(name, "{}") {
				return nil, fmt.Errorf("url %q: want the names in the query without parameters", text)
			}
		}
	}
	// What is literal has to be an address by itself.
	literal := func(pieces []piece) string {
		var b strings.Builder
		for _, p := range pieces {
			b.WriteString(p.literal)
		}
		return b.String()
	}
	if _, err := url.Parse(base.String() + literal(a.path)); err != nil {
		return nil, fmt.Errorf("url %q: %w", text, err)
	}
	if _, err := url.ParseQuery(literal(a.query)); err != nil {
		return nil, fmt.Errorf("url %q: %w", text, err)
	}
	return a, nil
}

func (a *address) pieces(text string) ([]piece, error) {
	var out []piece
	for {
		before, rest, ok := strings.Cut(text, "{")
		if strings.Contains(before, "}") {
			return nil, fmt.Errorf("} without {")
		}
		if before != "" {
			out = append(out, piece{literal: before})
		}
		if !ok {
			return out, nil
		}
		name, after, ok := strings.Cut(rest, "}")
		if !ok {
			return nil, fmt.Errorf("{ without }")
		}
		out = append(out, piece{param: name})
		a.params = append(a.params, name)
		text = after
	}
}

// expand returns the address for the values. In the path a value stays within
// its segment: it is escaped, not empty, and has no segment "." or ".." in it,
// not even for a server that unescapes before it resolves (RFC 3986 section 5.2.4).
func (a *address) expand(field string, values map[string]string) (string, error) {
	var b strings.Builder
	b.WriteString(a.base.String())
	for _, p := range a.path {
		if p.param == "" {
			b.WriteString(p.literal)
			continue
		}
		value := values[p.param]
		for segment := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == '/' || r == '\\' }) {
			if segment == "." || segment == ".." {
				return "", &record.RequestError{Field: field + "." + p.param, Got: fmt.Sprintf("%q", value), Want: "no . or .. in a path"}
			}
		}
		if value == "" {
			return "", &record.RequestError{Field: field + "." + p.param, Got: "an empty string", Want: "a part of a path"}
		}
		b.WriteString(url.PathEscape(value))
	}
	if a.query != nil {
		b.WriteByte('?')
	}
	for _, p := range a.query {
		if p.param == "" {
			b.WriteString(p.literal)
			continue
		}
		b.WriteString(url.QueryEscape(values[p.param]))
	}
	// Literals and values can make a dot segment together, as in "/.{x}".
	full := b.String()
	u, err := url.Parse(full)
	if err != nil {
		return "", err
	}
	for segment := range strings.SplitSeq(u.Path, "/") {
		if segment == "." || segment == ".." {
			return "", &record.RequestError{Field: field, Got: "a path with . or ..", Want: "none"}
		}
	}
	return full, nil
}
