package record

import (
	"fmt"
	"regexp"
)

// Space is the name of a tenant. Every question to the store carries one, and
// what belongs to another space is not found.
type Space string

// Local is the space that is there from the start.
const Local Space = "local"

// maxName bounds the names of spaces, templates, sources and reports, in bytes.
const maxName = 64

var (
	nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)
	keyForm  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// CheckName returns a *RequestError unless name is a valid name of a space, template, source or
// report: 1 to 64 of a-z, 0-9, '.', '_' and '-', beginning with a letter or a digit. Names are used
// in paths, URLs and logs, hence the narrow set.
func CheckName(field, name string) error {
	const want = "1 to 64 of a-z, 0-9, '.', '_' and '-', first a letter or digit"
	if name == "" {
		return &RequestError{Field: field, Got: "nothing", Want: want}
	}
	return check(field, name, nameForm, want)
}

// CheckKey returns a *RequestError unless key can be the key of a source in the
// data: an identifier of the template language, so that expressions can reach
// it, and not the reserved key [SourcesKey].
func CheckKey(field, key string) error {
	if key == SourcesKey {
		return &RequestError{Field: field, Got: fmt.Sprintf("%q", key), Want: "a key that is not reserved"}
	}
	return check(field, key, keyForm, "an identifier: 1 to 64 of letters, digits and '_', first not a digit")
}

func check(field, name string, form *regexp.Regexp, want string) error {
	switch {
	case name == "" || len(name) > maxName:
		return &RequestError{Field: field, Got: fmt.Sprintf("%d characters", len(name)), Want: want}
	case !form.MatchString(name):
		return &RequestError{Field: field, Got: fmt.Sprintf("%q", name), Want: want}
	}
	return nil
}
