package strictjson

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// DecodeOptions are the choices of [Decode].
type DecodeOptions struct {
	Limits
	// UnknownNames lets names pass that the Go type does not have. Danger: a misspelt name is then
	// silently without effect.
	UnknownNames bool
}

// Decode reads text into dst, a pointer, by the rules of json v2: names are compared exactly, and
// tags and embedding are those of encoding/json. The whole text is checked, as by [Check], before
// anything is set. The error is a *Fault; one of kind Unknown, Type or Range may leave dst partly
// set.
func Decode(text []byte, dst any, o DecodeOptions) error {
	if _, err := Check(text, o.Limits); err != nil {
		return err
	}
	err := json.Unmarshal(text, dst, jsontext.AllowDuplicateNames(true), json.RejectUnknownMembers(!o.UnknownNames))
	if err == nil {
		return nil
	}
	wrong, ok := errors.AsType[*json.SemanticError](err)
	if !ok {
		return &Fault{Kind: Type, Msg: "the value cannot be read", Err: err}
	}
	f := &Fault{Kind: Type, Pointer: string(wrong.JSONPointer), GoType: wrong.GoType, Err: wrong.Err}
	r := newReader(text, jsontext.AllowDuplicateNames(true))
	f.Offset = r.skip(int(wrong.ByteOffset), separates)
	if errors.Is(wrong.Err, json.ErrUnknownName) {
		f.Kind, f.Got, f.Err = Unknown, wrong.JSONPointer.LastToken(), nil
		f.Msg = "unknown name " + strconv.Quote(f.Got)
		return f
	}
	f.Got, f.Want = got(wrong), want(wrong.GoType)
	switch {
	case errors.Is(wrong.Err, strconv.ErrRange):
		f.Kind, f.Err = Range, nil
	case errors.Is(wrong.Err, strconv.ErrSyntax): // such as a fraction for an integer
		f.Err = nil
	}
	return f.say(text)
}

// got names a value that a Go type does not take: a number in full, of others the kind.
func got(wrong *json.SemanticError) string {
	if wrong.JSONKind == '0' && len(wrong.JSONValue) > 0 {
		return string(wrong.JSONValue)
	}
	return KindName(byte(wrong.JSONKind))
}

// KindName names the kind of the values that begin with this byte.
func KindName(first byte) string {
	switch first {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return "a number"
	}
	return "null"
}

// want names the values that a Go type takes.
func want(t reflect.Type) string {
	if t == nil {
		return "a value of the documented form"
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch k := t.Kind(); {
	case t == reflect.TypeFor[time.Time]():
		return "a time such as 2024-02-29T12:00:00Z"
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()),
		reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
		return "a value of the documented form"
	case k == reflect.Bool:
		return "true or false"
	case k == reflect.String:
		return "a string"
	case k == reflect.Slice, k == reflect.Array:
		return "an array"
	case k == reflect.Struct, k == reflect.Map:
		return "an object"
	case k >= reflect.Int && k <= reflect.Int64:
		return fmt.Sprintf("an integer of %d bits", t.Bits())
	case k >= reflect.Uint && k <= reflect.Uintptr:
		return fmt.Sprintf("a non-negative integer of %d bits", t.Bits())
	case k == reflect.Float32 || k == reflect.Float64:
		return "a number"
	}
	return "a value of the documented form"
}
