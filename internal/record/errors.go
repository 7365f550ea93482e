package record

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/quire/internal/nearest"
)

// Errors that callers test for with errors.Is.
var (
	// ErrNotFound: there is no such object in this space. Objects of another space give the same
	// error.
	ErrNotFound = errors.New("not found")
	// ErrDamaged: stored bytes are not what their name says.
	ErrDamaged = errors.New("stored bytes are damaged")
	// ErrBusy: another process holds the storage at the moment. The request may be repeated.
	ErrBusy = errors.New("storage is busy")
	// ErrOverload: there are so many requests that this one would wait too long.
	ErrOverload = errors.New("too many documents at once")
	// ErrNoSpace: the storage is full. Nothing half-written is left.
	ErrNoSpace = errors.New("no space left in storage")
	// ErrUnavailable: the storage cannot be used: its directory is missing or not writable, or its
	// disk fails. Nothing half-written is left, and the request may be repeated once that is
	// corrected.
	ErrUnavailable = errors.New("storage cannot be used")
)

// MissingError is an ErrNotFound with the name from the request.
type MissingError struct {
	Kind, Name string // such as template, invoice
	Nearest    string // the name that was probably meant, or ""
}

// Missing returns the error for a name that is not in known.
func Missing(kind, name string, known []string) *MissingError {
	return &MissingError{Kind: kind, Name: name, Nearest: nearest.Name(name, known)}
}

func (e *MissingError) Error() string {
	s := e.Kind + " " + e.Name + ": " + ErrNotFound.Error()
	if e.Nearest != "" {
		s += "; did you mean " + e.Nearest + "?"
	}
	return s
}

// Unwrap returns ErrNotFound.
func (e *MissingError) Unwrap() error { return ErrNotFound }

// Problem is one thing that is wrong with a template or with data. Zero fields
// are unknown or do not apply.
type Problem struct {
	Code       string `json:"code,omitempty"`    // the document engine's stable code, such as D203
	File       string `json:"file,omitempty"`    // the template's file, or Origin.File
	Line       int    `json:"line,omitempty"`    // 1-based, in the text as it was sent
	Column     int    `json:"column,omitempty"`  // 1-based, in Unicode code points
	Node       string `json:"node,omitempty"`    // the place in the template's tree
	Path       string `json:"path,omitempty"`    // the place in the data, such as trades[17].price
	Pointer    string `json:"-"`                 // the same as a JSON Pointer (RFC 6901)
	Source     string `json:"source,omitempty"`  // key of the source that the data came from
	Message    string `json:"message,omitempty"` // a sentence for people
	Got        string `json:"got,omitempty"`
	Want       string `json:"want,omitempty"`
	Suggestion string `json:"suggestion,omitempty"` // what to do, as a phrase
	Clause     string `json:"clause,omitempty"`     // clause of the standard that is broken
}

// Place is where the problem is: file, line and column, source, template node
// and data path, as far as they are known.
func (p Problem) Place() string {
	at, source := p.File, ""
	switch {
	case p.Line > 0 && p.File != "":
		at = fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	case p.Line > 0:
		at = fmt.Sprintf("line %d, column %d", p.Line, p.Column)
	}
	if p.Source != "" {
		source = "source " + p.Source
	}
	return join(at, source, p.Node, p.Path)
}

// String is one line: position, problem, what was expected, code.
func (p Problem) String() string {
	s := join(p.Place(), p.Message, wantGot(p.Want, p.Got))
	if p.Suggestion != "" {
		s += "; " + p.Suggestion
	}
	if p.Clause != "" {
		s += " (" + p.Clause + ")"
	}
	if p.Code != "" {
		s += " [" + p.Code + "]"
	}
	return s
}

// join writes the parts that are known.
func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ": ")
}

func wantGot(want, got string) string {
	switch {
	case want == "" && got == "":
		return ""
	case want == "":
		return "got " + got
	case got == "":
		return "want " + want
	}
	return "want " + want + ", got " + got
}

func list(kind string, all []Problem) string {
	lines := make([]string, len(all))
	for i, p := range all {
		lines[i] = kind + " " + p.String()
	}
	return strings.Join(lines, "\n")
}

// DataError describes problems of data: it is not JSON, it breaks a rule of freezing, or it does
// not match what the template declares. Line and Column refer to the text as it was sent. More has
// further problems.
type DataError struct {
	Problem
	More []Problem
}

func (e *DataError) Error() string { return list("data", e.All()) }

// All returns the first problem and those in More.
func (e *DataError) All() []Problem { return append([]Problem{e.Problem}, e.More...) }

// TemplateError lists all problems of a template. File, Line and Column refer to the template's
// files.
type TemplateError struct {
	Problem
	More []Problem
}

func (e *TemplateError) Error() string { return list("template", e.All()) }

// All returns the first problem and those in More.
func (e *TemplateError) All() []Problem { return append([]Problem{e.Problem}, e.More...) }

// RequestError says that a field of a request is not acceptable.
type RequestError struct {
	Field   string // such as sources.status.parameters.host
	Got     string
	Want    string
	Nearest string // the right name that is nearest to Got, or ""
}

func (e *RequestError) Error() string {
	s := "request " + e.Field + ": " + wantGot(e.Want, e.Got)
	if e.Nearest != "" {
		s += fmt.Sprintf("; did you mean %q?", e.Nearest)
	}
	return s
}

// LimitError says that something is larger than it may be.
type LimitError struct {
	Name  string  // what is limited, such as "data bytes"
	Limit int64   // 0: At.Message says it
	Got   int64   // 0: unknown, because reading stopped at the limit
	At    Problem // where it was passed; the zero value when that says nothing
}

func (e *LimitError) Error() string {
	if e.Limit == 0 && e.At.Message != "" {
		return "limit " + e.At.String()
	}
	s := fmt.Sprintf("limit %s: at most %d", e.Name, e.Limit)
	if e.Got > 0 {
		s += fmt.Sprintf(", got %d", e.Got)
	}
	if place := e.At.Place(); place != "" {
		s += " at " + place
	}
	return s
}

// SourceError says that a source which the request cannot do without failed.
type SourceError struct {
	Key    string // where its data would have stood
	Source string
	Reason string
}

func (e *SourceError) Error() string {
	return "source " + e.Source + " (" + e.Key + "): " + e.Reason
}
