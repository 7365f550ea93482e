// Package codec converts values to bytes and back, for caches that store them outside the process.
// A codec has three methods: ID, a number that is stored with the bytes so that they are never
// given to another codec; Append, which appends the encoding of a value to a buffer; and Decode.
//
// Decode owns the bytes it is given: the value may keep parts of them, so the caller must not
// change them afterwards. It also tells how much memory the value takes, in bytes, for the budget
// of the cache: exactly for Raw, as an estimate for the others (the size of the type and of the
// encoding).
//
// All codecs have a limit on the encoding, apply it on both ways, and may be used concurrently.
// Their errors are of type *Error.
package codec

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// The IDs of the codecs here. Codecs of a program's own take 32 to 127.
const (
	IDRaw    byte = 0
	IDJSON   byte = 1
	IDBinary byte = 4
)

// DefaultLimit is the limit of a codec that sets none, in bytes of the encoding.
const DefaultLimit = 16 << 20

// ErrTooLarge says that an encoding is longer than the limit of the codec.
var ErrTooLarge = errors.New("longer than the limit")

var errNil = errors.New("nil pointer: store a value, or do not store the key")

// Error is a value that cannot be encoded or bytes that cannot be decoded.
type Error struct {
	Op    string // "encode" or "decode"
	Codec string // "raw", "json" or "binary"
	Err   error
}

// Error implements error.
func (e *Error) Error() string { return e.Op + " " + e.Codec + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// within says whether n bytes are within limit.
func within(n, limit int) error {
	if limit <= 0 {
		limit = DefaultLimit
	}
	if n > limit {
		return fmt.Errorf("%d bytes: %w of %d: raise Limit", n, ErrTooLarge, limit)
	}
	return nil
}

// Raw is the codec of byte slices: their encoding is what they are. A nil slice comes back as an
// empty one.
type Raw struct {
	// Limit bounds the encoding in bytes; 0 is DefaultLimit.
	Limit int
}

// ID returns IDRaw.
func (Raw) ID() byte { return IDRaw }

// Append adds v to dst.
func (c Raw) Append(dst, v []byte) ([]byte, error) {
	if err := within(len(v), c.Limit); err != nil {
		return dst, &Error{"encode", "raw", err}
	}
	return append(dst, v...), nil
}

// Decode returns src itself and its capacity.
func (c Raw) Decode(src []byte) (v []byte, size int, err error) {
	if err := within(len(src), c.Limit); err != nil {
		return nil, 0, &Error{"decode", "raw", err}
	}
	if src == nil {
		src = []byte{}
	}
	return src, cap(src), nil
}

// JSON is the codec of values that encoding/json can write and read back. What follows the value,
// and nesting deeper than that package allows (10 000), is an error. The size that Decode tells is
// too small for values that take far more memory than their JSON, such as slices of large structs
// with few fields set: give the cache a Weigh for these.
type JSON[V any] struct {
	// Limit bounds the encoding in bytes; 0 is DefaultLimit.
	Limit int
}

// ID returns IDJSON.
func (JSON[V]) ID() byte { return IDJSON }

// Append adds the JSON of v to dst, without escapes for HTML.
func (c JSON[V]) Append(dst []byte, v V) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return dst, &Error{"encode", "json", err}
	}
	b.Truncate(b.Len() - 1) // the line feed of Encode
	if err := within(b.Len()-len(dst), c.Limit); err != nil {
		return dst, &Error{"encode", "json", err}
	}
	return b.Bytes(), nil
}

// Decode reads a value from src, all of it.
func (c JSON[V]) Decode(src []byte) (v V, size int, err error) {
	if err = within(len(src), c.Limit); err == nil {
		err = json.Unmarshal(src, &v)
	}
	if err != nil {
		var none V // never a part of a value
		return none, 0, &Error{"decode", "json", err}
	}
	return v, int(reflect.TypeFor[V]().Size()) + len(src), nil
}

// Marshaler is a value that writes and reads its own encoding: a pointer to a type with these
// methods, such as *time.Time.
type Marshaler interface {
	encoding.BinaryAppender
	encoding.BinaryUnmarshaler
}

// Binary is the codec of types that have their own encoding. V is a pointer type; UnmarshalBinary
// is called on a new value and, unlike what package encoding asks of it elsewhere, may keep parts
// of the bytes. Nil is an error.
type Binary[V Marshaler] struct {
	// Limit bounds the encoding in bytes; 0 is DefaultLimit.
	Limit int
}

// ID returns IDBinary.
func (Binary[V]) ID() byte { return IDBinary }

// Append adds the encoding of v to dst.
func (c Binary[V]) Append(dst []byte, v V) ([]byte, error) {
	if p := reflect.ValueOf(v); !p.IsValid() || p.Kind() == reflect.Pointer && p.IsNil() {
		return dst, &Error{"encode", "binary", errNil}
	}
	out, err := v.AppendBinary(dst)
	if err == nil {
		err = within(len(out)-len(dst), c.Limit)
	}
	if err != nil {
		return dst, &Error{"encode", "binary", err}
	}
	return out, nil
}

// Decode reads a new value from src.
func (c Binary[V]) Decode(src []byte) (v V, size int, err error) {
	t := reflect.TypeFor[V]()
	if t.Kind() != reflect.Pointer {
		return v, 0, &Error{"decode", "binary", fmt.Errorf("%v is not a pointer type: use the pointer to the type with UnmarshalBinary", t)}
	}
	if err := within(len(src), c.Limit); err != nil {
		return v, 0, &Error{"decode", "binary", err}
	}
	made, _ := reflect.TypeAssert[V](reflect.New(t.Elem()))
	if err := made.UnmarshalBinary(src); err != nil {
		return v, 0, &Error{"decode", "binary", err}
	}
	return made, int(t.Elem().Size()) + len(src), nil
}
