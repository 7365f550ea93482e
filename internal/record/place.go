package record

import (
	"errors"

	"example.com/quire/internal/strictjson"
)

// The limits of a document's data: of JSON text as sent, and of frozen data. They equal those of
// the document engine, which would refuse more. Every other limit of data is derived from them.
const (
	DataBytes = 8 << 20
	DataDepth = 64 // of nested objects and arrays
	DataNodes = 1_000_000
)

var dataLimits = strictjson.Limits{Bytes: DataBytes, Depth: DataDepth, Nodes: DataNodes}

// Origin says in which text the data of a request were sent, so that an error can name their place
// there. The zero value: the data are all of it, and it has no name.
type Origin struct {
	File    string // name of the text in messages
	Text    []byte // a JSON text; nil: the data themselves
	Pointer string // of the data in Text (RFC 6901)
}

// locate gives problems whose Pointer is into the data their line and column in the text as sent.
func (o Origin) locate(data []byte, problems ...*Problem) {
	if o.Text == nil {
		o.Text, o.Pointer = data, ""
	}
	pointers := make([]string, len(problems))
	for i, p := range problems {
		pointers[i] = o.Pointer + p.Pointer
	}
	places := strictjson.Locate(o.Text, pointers...)
	for i, p := range problems {
		p.File, p.Line, p.Column = o.File, places[i].Line, places[i].Column
	}
}

// wrong is the error of a problem in data, which were sent so.
func (o Origin) wrong(data []byte, p Problem) error {
	o.locate(data, &p)
	return &DataError{Problem: p}
}

// The codes of data that cannot be read, which are the document engine's: it would find the same.
const (
	codeSyntax    = "D201"
	codeDuplicate = "D202"
	codeType      = "D203"
)

// fault turns what is wrong with data, which were sent so, into the error of this package.
func (o Origin) fault(data []byte, err error) error {
	f, ok := errors.AsType[*strictjson.Fault](err)
	if !ok {
		return err
	}
	offset := f.Offset
	if o.Text == nil {
		o.Text = data
	} else {
		offset += strictjson.Locate(o.Text, o.Pointer)[0].Offset
	}
	p := Problem{File: o.File, Path: strictjson.Path(f.Pointer), Pointer: f.Pointer}
	p.Line, p.Column = strictjson.Position(o.Text, offset)
	switch f.Kind {
	case strictjson.Bytes:
		return &LimitError{Name: "data bytes", Limit: int64(f.Limit), Got: int64(len(data))}
	case strictjson.Depth, strictjson.Nodes:
		return &LimitError{Name: "data " + string(f.Kind), Limit: int64(f.Limit), At: p}
	case strictjson.Duplicate:
		p.Code, p.Message = codeDuplicate, f.Msg
	case strictjson.Unknown:
		p.Message = f.Msg
	default:
		p.Code, p.Message, p.Got, p.Want = codeSyntax, f.Msg, f.Got, f.Want
	}
	return &DataError{Problem: p}
}
