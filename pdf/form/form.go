// Package form holds the values of the fields of interactive forms (ISO 32000-2, 12.7), and reads
// and writes them as JSON, FDF (12.7.8) and XFDF (ISO 19444-1). It identifies fields by their full
// names and does not depend on pages: package pdf lists, fills and flattens the fields of files.
package form

import (
	"fmt"
	"strings"

	"example.com/quire/internal/nearest"
)

// Kind is the type of a field.
type Kind string

// The kinds of fields.
const (
	Text      Kind = "text"
	CheckBox  Kind = "checkbox"
	Radio     Kind = "radio"
	Choice    Kind = "choice" // a drop-down list
	List      Kind = "list"   // one or several of a list that is shown
	Button    Kind = "button" // starts an action and has no value
	Signature Kind = "signature"
)

// Field is a field of a file.
type Field struct {
	Name string `json:"name"` // full: its parts with full stops between them
	Kind Kind   `json:"kind"`
	// Value is the value of the field: for check boxes and radio buttons the selected option, or
	// Off; for choices and lists the option's value. Values are those of a list with several.
	Value  string   `json:"value"`
	Values []string `json:"values,omitempty"`
	// Options are what can be chosen.
	Options []Option `json:"options,omitempty"`
	// Flags are those of read-only, required, no-export, multiline, password, comb, rich-text,
	// no-scroll, editable, multiple, no-off and signed that are set.
	Flags   []string `json:"flags"`
	Max     int      `json:"max,omitempty"`   // characters of a text at most, in units of UTF-16; 0: any number
	Label   string   `json:"label,omitempty"` // the description for users (tooltip)
	Widgets []Widget `json:"widgets"`         // where it is shown
}

// Option is one of the possible values of a field.
type Option struct {
	Value string `json:"value"`
	Text  string `json:"text,omitempty"` // the text shown, if it is not the value
}

// Widget is a place where a field is shown.
type Widget struct {
	Page int        `json:"page"` // from 1; 0: of no page
	Rect [4]float64 `json:"rect"` // left, bottom, right, top, in points
	// Option is the value of the field when this button is on.
	Option string `json:"option,omitempty"`
}

// Value is a value of a field: nothing, a text or an option, or several options of a list. A check
// box also accepts "true" and "false".
type Value struct {
	Name  string // full
	Is    []string
	State bool // Is is that of a button, which FDF tells apart from a text
}

// Format is how values are written.
type Format string

// The formats.
const (
	JSON Format = "json" // one object of full names: {"name": "value", "agreed": true, "several": ["a", "b"]}
	FDF  Format = "fdf"
	XFDF Format = "xfdf"
)

// Formats returns the formats.
func Formats() []string { return []string{string(JSON), string(FDF), string(XFDF)} }

// ParseFormat returns the format of a name.
func ParseFormat(name string) (Format, error) {
	for _, f := range Formats() {
		if f == name {
			return Format(f), nil
		}
	}
	return "", &DataError{Format: Format(name), Reason: "no such format; want " + strings.Join(Formats(), ", "), Nearest: nearest.Name(name, Formats())}
}

// MediaType returns the media type of a format, and the end of the names of its files.
func (f Format) MediaType() (kind, suffix string) {
	switch f {
	case FDF:
		return "application/fdf", ".fdf"
	case XFDF:
		return "application/xfdf", ".xfdf"
	default:
		return "application/json", ".json"
	}
}

// Limits of input.
const (
	MostBytes  = 16 << 20
	mostFields = 100_000
	mostDepth  = 64
	mostName   = 4 << 10 // bytes of a full name
)

// DataError is data that cannot be read as values.
type DataError struct {
	Format  Format
	Field   string // full name; empty: it is of none
	Reason  string
	Nearest string // the nearest known name; may be empty
}

// Error implements error.
func (e *DataError) Error() string {
	s := "form: " + string(e.Format) + ": "
	if e.Field != "" {
		s += fmt.Sprintf("field %q: ", e.Field)
	}
	s += e.Reason
	if e.Nearest != "" {
		s += fmt.Sprintf("; did you mean %q?", e.Nearest)
	}
	return s
}

// Parse reads values in the format that the data is in. Errors are *DataError.
func Parse(data []byte) ([]Value, error) {
	f := JSON
	switch s := strings.TrimLeft(strings.TrimPrefix(string(data[:min(len(data), 64)]), "\uFEFF"), " \t\r\n"); {
	case strings.HasPrefix(s, "<"):
		f = XFDF
	case strings.HasPrefix(s, "%"):
		f = FDF
	}
	r := &reader{format: f}
	if len(data) > MostBytes {
		return nil, r.fail("", fmt.Sprintf("%d bytes, and at most %d", len(data), MostBytes))
	}
	var err error
	switch f {
	case XFDF:
		err = r.xfdf(data)
	case FDF:
		err = r.fdf(data)
	default:
		err = r.json(data)
	}
	if err != nil {
		return nil, err
	}
	return r.values, nil
}

// Append appends values in a format. file is the name of the document that they are of; it may be
// empty.
func Append(b []byte, f Format, file string, values []Value) []byte {
	switch f {
	case FDF:
		return appendFDF(b, file, values)
	case XFDF:
		return appendXFDF(b, file, values)
	default:
		return appendJSON(b, values)
	}
}

// reader collects values.
type reader struct {
	format Format
	values []Value
	seen   map[string]bool
}

func (r *reader) fail(field, reason string) error {
	return &DataError{Format: r.format, Field: field, Reason: reason}
}

// add takes the value of a field, which comes once.
func (r *reader) add(name string, is []string) error {
	switch {
	case name == "":
		return r.fail("", "a value of a field without a name")
	case len(name) > mostName:
		return r.fail(name[:40]+"...", fmt.Sprintf("a name of %d bytes, and at most %d", len(name), mostName))
	case r.seen[name]:
		return r.fail(name, "it comes twice")
	case len(r.values) >= mostFields:
		return r.fail("", fmt.Sprintf("more than %d fields", mostFields))
	}
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	r.seen[name] = true
	r.values = append(r.values, Value{Name: name, Is: is})
	return nil
}

// below returns the full name of a field below another.
func below(name, part string) string {
	if name == "" {
		return part
	}
	return name + "." + part
}

// node is a field in the hierarchy of names.
type node struct {
	part string
	is   *Value // nil: it has only fields below
	kids []*node
	at   map[string]*node
}

// hierarchy returns fields by the parts of their names, in the order in which they come.
func hierarchy(values []Value) *node {
	root := &node{}
	for i := range values {
		n := root
		for part := range strings.SplitSeq(values[i].Name, ".") {
			kid := n.at[part]
			if kid == nil {
				kid = &node{part: part}
				if n.at == nil {
					n.at = map[string]*node{}
				}
				n.at[part], n.kids = kid, append(n.kids, kid)
			}
			n = kid
		}
		n.is = &values[i]
	}
	return root
}
