package bind

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"

	"example.com/quire/internal/strictjson"
)

// XML reads one XML document into v, which can be set, by the rules of
// encoding/xml. A document type declaration, depth below zero aside elements
// deeper than depth, and anything after the document are faults.
func XML(text []byte, v reflect.Value, depth int) []Fault {
	if f := checkXML(text, depth); f != nil {
		return []Fault{*f}
	}
	err := xml.Unmarshal(text, v.Addr().Interface())
	if err == nil {
		return nil
	}
	f := Fault{Kind: strictjson.Type, Offset: -1, Want: "a value of the documented form", Err: err}
	if number, ok := errors.AsType[*strconv.NumError](err); ok {
		f.Got = shorten(number.Num)
		if errors.Is(err, strconv.ErrRange) {
			f.Kind = strictjson.Range
		}
	}
	return []Fault{f}
}

func checkXML(text []byte, depth int) *Fault {
	d := xml.NewDecoder(bytes.NewReader(text))
	open, roots := 0, 0
	for {
		at := int(d.InputOffset())
		token, err := d.Token()
		switch {
		case errors.Is(err, io.EOF) && roots == 0:
			return &Fault{Kind: strictjson.Missing, Offset: len(text), Want: "an XML document"}
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return &Fault{Kind: strictjson.Syntax, Offset: int(d.InputOffset()), Want: "well-formed XML in UTF-8", Err: err}
		}
		switch token.(type) {
		case xml.Directive:
			return &Fault{Kind: strictjson.Syntax, Offset: at, Got: "a document type or other declaration", Want: "a document without one"}
		case xml.StartElement:
			if open == 0 {
				roots++
			}
			if open++; depth > 0 && open > depth {
				return &Fault{Kind: strictjson.Depth, Offset: at, Want: fmt.Sprintf("nested deeper than %d", depth)}
			}
		case xml.EndElement:
			open--
		}
		if roots > 1 {
			return &Fault{Kind: strictjson.Trailing, Offset: at}
		}
	}
}
