package clixml

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// primitive reads a value without elements inside; an error is one of tag.
func (d *Decoder) primitive(kind Kind, tag string, empty bool) (Value, bool) {
	at := d.pos
	raw := ""
	if !empty {
		var ok bool
		if raw, ok = d.rawText(tag); !ok {
			return Value{}, d.failedIn(tag)
		}
	}
	switch kind {
	case KindString, KindXML, KindScriptBlock, KindURI:
		s, ok := d.unescape(raw, at)
		if !ok {
			return Value{}, d.failedIn(tag)
		}
		return textValue(kind, s), true
	case KindNil:
		// PowerShell skips what stands inside a Nil; we take that for damage.
		if trimSpace(raw) != "" {
			d.failAs(at, nil, "text in Nil")
			return Value{}, d.failedIn(tag)
		}
		return Nil(), true
	case KindBytes, KindSecureString:
		v, ok := d.binary(kind, raw, at)
		if !ok {
			return Value{}, d.failedIn(tag)
		}
		return v, true
	}
	raw, ok := d.entities(raw, at)
	if !ok {
		return Value{}, d.failedIn(tag)
	}
	v, err := parsePrimitive(kind, trimSpace(raw))
	if err != nil {
		d.failAs(at, nil, fmt.Sprintf("%q: %v", clip(raw), unwrapText(err)))
		return Value{}, d.failedIn(tag)
	}
	return v, true
}

// unwrapText drops the "clixml: parse X" that the exported parsers begin with.
func unwrapText(err error) error {
	if in := errors.Unwrap(err); in != nil {
		return in
	}
	return err
}

func parsePrimitive(kind Kind, s string) (Value, error) {
	switch kind {
	case KindBool:
		switch s {
		case "true", "1":
			return Bool(true), nil
		case "false", "0":
			return Bool(false), nil
		}
		return Value{}, errors.New("not true or false")
	case KindInt8:
		return parseSigned(kind, s, 8)
	case KindInt16:
		return parseSigned(kind, s, 16)
	case KindInt32:
		return parseSigned(kind, s, 32)
	case KindInt64:
		return parseSigned(kind, s, 64)
	case KindUint8:
		return parseUnsigned(kind, s, math.MaxUint8)
	case KindChar, KindUint16:
		return parseUnsigned(kind, s, math.MaxUint16)
	case KindUint32:
		return parseUnsigned(kind, s, math.MaxUint32)
	case KindUint64:
		return parseUnsigned(kind, s, math.MaxUint64)
	case KindFloat32:
		f, err := parseFloat(s, 32)
		return Float32(float32(f)), err
	case KindFloat64:
		f, err := parseFloat(s, 64)
		return Float64(f), err
	case KindDecimal:
		d, err := parseDecimal(s)
		return d.Value(), err
	case KindDateTime:
		d, err := parseDateTime(s)
		return d.Value(), err
	case KindTimeSpan:
		t, err := parseTimeSpan(s)
		return t.Value(), err
	case KindGUID:
		g, err := ParseGUID(s)
		if err != nil {
			return Value{}, errors.New("not a GUID")
		}
		return g.Value(), nil
	case KindVersion:
		v, err := ParseVersion(s)
		if err != nil {
			return Value{}, errors.New("not 2 to 4 numbers with dots")
		}
		return v.Value(), nil
	}
	return Value{}, errors.New("not a primitive")
}

func parseSigned(kind Kind, s string, size int) (Value, error) {
	n, err := strconv.ParseInt(s, 10, size)
	if err != nil {
		if errors.Is(err, strconv.ErrRange) {
			return Value{}, fmt.Errorf("out of the range of %d bits", size)
		}
		return Value{}, errors.New("not a number")
	}
	return intValue(kind, n), nil
}

func parseUnsigned(kind Kind, s string, limit uint64) (Value, error) {
	n, ok := parseDigits(s, limit)
	if !ok {
		return Value{}, fmt.Errorf("not a number from 0 to %d", limit)
	}
	return Value{kind: kind, num: n}, nil
}

// binary reads base64, in which white space is ignored.
func (d *Decoder) binary(kind Kind, raw string, at int) (Value, bool) {
	raw, ok := d.entities(raw, at)
	if !ok {
		return Value{}, false
	}
	src := append(d.scratch[:0], raw...)
	n := 0
	for _, c := range src {
		if !isSpace(c) {
			src[n] = c
			n++
		}
	}
	d.scratch = src
	src = src[:n]
	if !d.grow(int64(base64.StdEncoding.DecodedLen(n))) {
		return Value{}, false
	}
	out := make([]byte, base64.StdEncoding.DecodedLen(n))
	m, err := base64.StdEncoding.Strict().Decode(out, src)
	if err != nil {
		return Value{}, d.failAs(at, nil, "not base64")
	}
	out = out[:m]
	if kind == KindBytes {
		return Bytes(out), true
	}
	if d.Cipher == nil {
		return (&SecureString{sealed: out}).Value(), true
	}
	text, err := d.Cipher.Decrypt(nil, out)
	clear(out)
	if err != nil {
		return Value{}, d.failAs(at, err, "SecureString cannot be decrypted")
	}
	if len(text)%2 != 0 {
		return Value{}, d.failAs(at, nil, "SecureString is not UTF-16")
	}
	return (&SecureString{utf16: text}).Value(), true
}

// progress reads a PR: its eight elements in the order of PowerShell's writer.
func (d *Decoder) progress(empty bool) (Value, bool) {
	if !d.node(valueSize + objectSize) {
		return Value{}, false
	}
	if empty {
		return Value{}, d.fail("PR without its elements")
	}
	outer := d.element
	p := &Progress{}
	text := func(s *string) func(string) bool {
		return func(raw string) bool { *s = raw; return true }
	}
	number := func(n *int32) func(string) bool {
		return func(raw string) bool {
			x, err := strconv.ParseInt(trimSpace(raw), 10, 32)
			*n = int32(x)
			return err == nil
		}
	}
	for _, f := range [...]struct {
		tag string
		set func(string) bool
	}{
		{"AV", text(&p.Activity)},
		{"AI", number(&p.ActivityID)},
		{"S", text(&p.CurrentOperation)},
		{"PI", number(&p.ParentActivityID)},
		{"PC", number(&p.PercentComplete)},
		{"T", text(&p.Type)},
		{"SR", number(&p.SecondsRemaining)},
		{"SD", text(&p.StatusDescription)},
	} {
		d.element = "PR"
		tag, fieldEmpty, ok := d.child("PR")
		if !ok {
			return Value{}, false
		}
		isNil := f.tag == "S" && tag == "Nil"
		if tag != f.tag && !isNil {
			return Value{}, d.unknown(tag, f.tag)
		}
		s := ""
		if !fieldEmpty {
			if s, ok = d.textOf(tag); !ok {
				return Value{}, false
			}
		}
		if isNil {
			p.NilOperation = true
			continue
		}
		if !f.set(s) {
			return Value{}, d.fail(fmt.Sprintf("%s of a progress record: %q is not a number", tag, clip(s)))
		}
	}
	d.element = "PR"
	tag, _, ok := d.child("PR")
	if !ok {
		return Value{}, false
	}
	if tag != "" {
		return Value{}, d.unknown(tag, "the end of PR")
	}
	d.element = outer
	return p.Value(), true
}
