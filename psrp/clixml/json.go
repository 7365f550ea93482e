package clixml

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unsafe"
)

// String returns v for people: bounded in length and depth, with secrets redacted. It is not a
// format to be read back.
func (v Value) String() string {
	w := printer{left: 4096}
	w.value(v, 0)
	return w.b.String()
}

type printer struct {
	b    strings.Builder
	left int
}

func (w *printer) add(s string) {
	if w.left < 0 {
		return
	}
	if len(s) > w.left {
		s = strings.ToValidUTF8(s[:w.left], "") + "..."
		w.left = -1
	} else {
		w.left -= len(s)
	}
	w.b.WriteString(s)
}

func (w *printer) value(v Value, depth int) {
	if w.left < 0 {
		return
	}
	if depth > 6 {
		w.add("...")
		return
	}
	switch v.kind {
	case KindNone:
	case KindNil:
		w.add("null")
	case KindString, KindXML, KindScriptBlock, KindURI:
		w.add(v.text())
	case KindChar:
		w.add(string(appendRune(nil, rune(v.num)))) //nolint:gosec // G115: of this kind it fits
	case KindBytes:
		w.add(fmt.Sprintf("[%d bytes]", v.num))
	case KindSecureString:
		w.add(redacted)
	case KindProgress:
		p := (*Progress)(v.ptr)
		w.add(p.Activity + ": " + p.StatusDescription)
	case KindList:
		w.add("[")
		for i, item := range v.list().Items {
			if i > 0 {
				w.add(", ")
			}
			w.value(item, depth+1)
		}
		w.add("]")
	case KindDict:
		w.add("{")
		for i, e := range v.dict().Entries {
			if i > 0 {
				w.add("; ")
			}
			w.value(e.Key, depth+1)
			w.add("=")
			w.value(e.Value, depth+1)
		}
		w.add("}")
	case KindMemberSet:
		w.properties(v.memberSet().Members, depth)
	case KindObject:
		o := v.object()
		switch {
		case o.ToString != "":
			w.add(o.ToString)
		case o.Base.kind != KindNone:
			w.value(o.Base, depth+1)
		default:
			w.properties(append(append(Properties{}, o.Adapted...), o.Extended...), depth)
		}
	default:
		w.add(string(appendPrimitive(nil, v)))
	}
}

func (w *printer) properties(p Properties, depth int) {
	w.add("@{")
	for i := range p {
		if i > 0 {
			w.add("; ")
		}
		w.add(p[i].Name + "=")
		w.value(p[i].Value, depth+1)
	}
	w.add("}")
}

// ErrCycle is a value that contains itself, where a tree is needed.
var ErrCycle = errors.New("the value contains itself")

// MarshalJSON returns v as JSON: text and identifiers as strings, numbers as numbers with all their
// digits, NaN and infinities as strings, times as on the wire, bytes as base64, lists as arrays,
// dictionaries and objects with properties as objects, an enum as its number, secrets redacted. A
// cycle is an error that wraps ErrCycle.
func (v Value) MarshalJSON() ([]byte, error) {
	w := jsonWriter{}
	b, err := w.value(nil, v)
	if err != nil {
		return nil, fmt.Errorf("clixml: JSON: %w", err)
	}
	return b, nil
}

type jsonWriter struct{ open []unsafe.Pointer }

func (w *jsonWriter) value(b []byte, v Value) ([]byte, error) {
	switch v.kind {
	case KindNone, KindNil:
		return append(b, "null"...), nil
	case KindString, KindXML, KindScriptBlock, KindURI:
		return jsonText(b, v.text()), nil
	case KindChar:
		return jsonText(b, string(appendRune(nil, rune(v.num)))), nil //nolint:gosec // G115: of this kind it fits
	case KindBytes:
		b = base64.StdEncoding.AppendEncode(append(b, '"'), v.bytes())
		return append(b, '"'), nil
	case KindSecureString:
		return append(b, `"`+redacted+`"`...), nil
	case KindFloat32, KindFloat64:
		if f, _, _ := floatOf(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return jsonText(b, string(appendPrimitive(nil, v))), nil
		}
		return appendPrimitive(b, v), nil
	case KindBool, KindInt8, KindInt16, KindInt32, KindInt64, KindUint8, KindUint16, KindUint32, KindUint64, KindDecimal:
		return appendPrimitive(b, v), nil
	case KindDateTime, KindTimeSpan, KindGUID, KindVersion:
		b = appendPrimitive(append(b, '"'), v)
		return append(b, '"'), nil
	case KindProgress:
		out, err := json.Marshal((*Progress)(v.ptr))
		return append(b, out...), err
	}
	if slices.Contains(w.open, v.ptr) {
		return nil, ErrCycle
	}
	if len(w.open) > 200 {
		return nil, ErrTooDeep
	}
	w.open = append(w.open, v.ptr)
	defer func() { w.open = w.open[:len(w.open)-1] }()
	return w.structure(b, v)
}

func (w *jsonWriter) structure(b []byte, v Value) ([]byte, error) {
	var err error
	switch v.kind {
	case KindList:
		b = append(b, '[')
		for i, item := range v.list().Items {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = w.value(b, item); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	case KindDict:
		b = append(b, '{')
		for i, e := range v.dict().Entries {
			if i > 0 {
				b = append(b, ',')
			}
			key, ok := textLike(e.Key)
			if !ok {
				key = e.Key.String()
			}
			b = append(jsonText(b, key), ':')
			if b, err = w.value(b, e.Value); err != nil {
				return nil, err
			}
		}
		return append(b, '}'), nil
	case KindMemberSet:
		return w.properties(b, v.memberSet().Members)
	}
	o := v.object()
	if o.Base.kind != KindNone {
		return w.value(b, o.Base)
	}
	if len(o.Adapted)+len(o.Extended) == 0 && (o.HasToString || o.ToString != "") {
		return jsonText(b, o.ToString), nil
	}
	all := append(Properties{}, o.Adapted...)
	for _, p := range o.Extended {
		all.Set(p.Name, p.Value)
	}
	return w.properties(b, all)
}

func (w *jsonWriter) properties(b []byte, p Properties) ([]byte, error) {
	var err error
	b = append(b, '{')
	for i := range p {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(jsonText(b, p[i].Name), ':')
		if b, err = w.value(b, p[i].Value); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// jsonText appends a JSON string; half a surrogate pair becomes U+FFFD.
func jsonText(b []byte, s string) []byte {
	out, err := json.Marshal(s)
	if err != nil { // a string always has a form
		return append(b, `""`...)
	}
	return append(b, out...)
}
