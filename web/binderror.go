package web

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// BindKind is what a BindError complains of.
type BindKind string

// The kinds of BindError. BindMedia answers 415, all others 400.
const (
	BindSyntax    BindKind = "syntax"    // the text is no such thing at all
	BindType      BindKind = "type"      // a value of another kind than wanted
	BindRange     BindKind = "range"     // a number that does not fit
	BindMissing   BindKind = "missing"   // nothing there
	BindUnknown   BindKind = "unknown"   // a field that does not exist
	BindDuplicate BindKind = "duplicate" // a name that stands twice in one object
	BindDepth     BindKind = "depth"     // nested too deeply
	BindNodes     BindKind = "nodes"     // too many values
	BindUTF8      BindKind = "utf8"      // invalid UTF-8 or a lone surrogate
	BindTrailing  BindKind = "trailing"  // something after the value
	BindMedia     BindKind = "media"     // a media type or coding that is not taken
)

// BindError is a part of a request that could not be read.
type BindError struct {
	Source  string // path, query, header, body
	Name    string // of a parameter or header
	Pointer string // RFC 6901, into a body; "" is the whole
	Kind    BindKind
	Got     string // as sent, shortened
	Want    string
	Near    string // for BindUnknown: the known name nearest to it
	Line    int    // of a body, from 1; 0 elsewhere
	Column  int    // in characters, from 1
	Err     error  // the cause, if another error is; never shown to clients
}

func (e *BindError) Error() string {
	f := e.field()
	text := "web: bind " + f.String()
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *BindError) Unwrap() error { return e.Err }

func (e *BindError) field() FieldError {
	return FieldError{
		Source: e.Source, Pointer: e.Pointer, Name: e.Name, Rule: string(e.Kind), Detail: e.detail(),
		Got: e.Got, Want: e.Want, Line: e.Line, Column: e.Column,
	}
}

func (e *BindError) detail() string {
	switch e.Kind {
	case BindUnknown:
		text := "unknown field " + strconv.Quote(e.Got)
		if e.Near != "" {
			text += ", did you mean " + strconv.Quote(e.Near) + "?"
		}
		return text
	case BindDuplicate:
		return "the name " + strconv.Quote(e.Got) + " is repeated"
	case BindMissing:
		return "missing, want " + e.Want
	case BindDepth, BindNodes, BindUTF8:
		return e.Want
	case BindTrailing:
		return "unexpected text after the value"
	case BindMedia:
		if e.Got == "" {
			return "no media type sent, want " + e.Want
		}
	}
	if e.Got == "" {
		return "want " + e.Want
	}
	if e.Source != "body" || e.Kind == BindMedia { // a value of a body is described, not quoted
		return fmt.Sprintf("got %s, want %s", strconv.Quote(e.Got), e.Want)
	}
	return "got " + e.Got + ", want " + e.Want
}

// BindErrors are all faults of a request that could not be read, in the order of
// their places. errors.As finds each *BindError in it.
type BindErrors []*BindError

func (e BindErrors) Error() string {
	texts := make([]string, len(e))
	for i, one := range e {
		texts[i] = one.Error()
	}
	return strings.Join(texts, "\n")
}

// Unwrap returns the faults.
func (e BindErrors) Unwrap() []error {
	all := make([]error, len(e))
	for i, one := range e {
		all[i] = one
	}
	return all
}

// problem tells every fault: 400, or 415 for a media type.
func (e BindErrors) problem() *Problem {
	p := &Problem{Status: http.StatusBadRequest, Detail: e[0].field().String(), cause: e}
	if len(e) > 1 {
		p.Detail = strconv.Itoa(len(e)) + " parts of the request cannot be read"
	}
	for _, one := range e {
		if one.Kind == BindMedia {
			p.Status = http.StatusUnsupportedMediaType
		}
		p.Fields = append(p.Fields, one.field())
	}
	return p
}
