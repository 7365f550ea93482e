package httpfield

import "strings"

// Directive is one member of Cache-Control (RFC 9111, section 5.2).
type Directive struct {
	Name  string // lower case
	Value string // without quotes; "" also if there is none
}

// CacheControl is the list of directives in their order.
type CacheControl []Directive

// ParseCacheControl reads the lines of Cache-Control, or of a field with its syntax. Names are
// case-insensitive, a quoted value equals a token, and text within quotes is never a directive.
// Anything else that is not a directive is skipped.
func ParseCacheControl(lines []string) CacheControl {
	var out CacheControl
	for member := range Members(lines) {
		name, value, _ := strings.Cut(member, "=")
		value, ok := Unquote(value)
		if !IsToken(name) || !ok {
			continue
		}
		out = append(out, Directive{strings.ToLower(name), value})
	}
	return out
}

// Get returns the value of a directive, of the first where it is repeated (RFC
// 9111, section 4.2.1). name is lower case.
func (c CacheControl) Get(name string) (value string, ok bool) {
	for _, d := range c {
		if d.Name == name {
			return d.Value, true
		}
	}
	return "", false
}

// Has reports whether a directive is there. name is lower case.
func (c CacheControl) Has(name string) bool {
	_, ok := c.Get(name)
	return ok
}
