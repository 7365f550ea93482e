package record

import "fmt"

// Space is the name of a tenant. Every question to the store carries one, and
// what belongs to another space is not found.
type Space string

// Local is the space that is there from the start.
const Local Space = "local"

// maxName bounds the names of spaces, templates, sources and reports, in bytes.
const maxName = 64

// CheckName returns a *RequestError unless name can name a space, template,
// source or report: 1 to 64 of a-z, 0-9, '.', '_' and '-', beginning with a
// letter or a digit. Names stand in paths, URLs and logs, hence the narrow set.
func CheckName(field, name string) error {
	const want = "1 to 64 of a-z, 0-9, '.', '_' and '-', first a letter or digit"
	if name == "" {
		return &RequestError{Field: field, Got: "nothing", Want: want}
	}
	if len(name) > maxName {
		return &RequestError{Field: field, Got: fmt.Sprintf("%d characters", len(name)), Want: want}
	}
	for i := range len(name) {
		c := name[i]
		alnum := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		if !alnum && (i == 0 || c != '.' && c != '_' && c != '-') {
			return &RequestError{Field: field, Got: fmt.Sprintf("%q", name), Want: want}
		}
	}
	return nil
}

// CheckKey returns a *RequestError unless key can be the key of a source in the
// data: an identifier of the template language, so that expressions can reach
// it, and not the reserved key [SourcesKey].
func CheckKey(field, key string) error {
	const want = "an identifier: 1 to 64 of letters, digits and '_', first not a digit"
	if key == SourcesKey {
		return &RequestError{Field: field, Got: fmt.Sprintf("%q", key), Want: "a key that is not reserved"}
	}
	if key == "" || len(key) > maxName {
		return &RequestError{Field: field, Got: fmt.Sprintf("%d characters", len(key)), Want: want}
	}
	for i := range len(key) {
		c := key[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return &RequestError{Field: field, Got: fmt.Sprintf("%q", key), Want: want}
		}
	}
	return nil
}
