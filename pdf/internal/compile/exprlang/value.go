package exprlang

import (
	"iter"
	"math/big"
	"slices"
	"strings"
	"time"

	"example.com/quire/pdf/internal/compile/decimal"
)

// valueKind tells how a Value is held. All numbers are decimals.
type valueKind uint8

const (
	null valueKind = iota
	boolean
	number
	text // strings, enums, images, colours
	date
	datetime
	list
	record
	mapping
	stream
)

// Value is a value of data or of an expression. Values are immutable; a Value is
// small and passed by copy.
type Value struct {
	kind  valueKind
	scale int32  // number: fraction digits
	num   int64  // number: mantissa; boolean: 0, 1; date: days since 1970; list, record: place<<32 | count
	str   string // text
	box   *box
}

// box holds what does not fit. The boxes of data are shared: one Arena holds the
// parts of all lists and records of a document.
type box struct {
	vals []Value  // parts of lists and records
	keys []string // of a mapping, sorted, beside vals
	wide *big.Int // of a number
	time time.Time
	rows *Stream // a list that is read once
}

// Stream is a list whose items are read one after the other, once. It belongs to one document.
type Stream struct {
	Items iter.Seq2[Value, error]
	// Begun says that somebody reads it already.
	Begun bool
}

// Streamed returns a list that is read once. To everything but a loop over it, it is empty.
func Streamed(s *Stream) Value { return Value{kind: stream, box: &box{rows: s}} }

// Stream returns the items of a list that is read once; nil for every other value.
func (v Value) Stream() *Stream {
	if v.kind != stream {
		return nil
	}
	return v.box.rows
}

// Null is the absent value.
var Null = Value{}

// Bool returns a boolean.
func Bool(b bool) Value {
	if b {
		return Value{kind: boolean, num: 1}
	}
	return Value{kind: boolean}
}

// Number returns a number.
func Number(d decimal.Decimal) Value {
	mant, scale, wide := d.Parts()
	v := Value{kind: number, scale: scale, num: mant}
	if wide != nil {
		v.box = &box{wide: wide}
	}
	return v
}

// Int returns a whole number.
func Int(n int) Value { return Value{kind: number, num: int64(n)} }

// Text returns a string.
func Text(s string) Value { return Value{kind: text, str: s} }

const day = 24 * time.Hour

// Date returns the day of t in t's zone.
func Date(t time.Time) Value {
	y, m, d := t.Date()
	return Value{kind: date, num: time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / int64(day/time.Second)}
}

// DateTime returns a moment with the zone it is told in.
func DateTime(t time.Time) Value { return Value{kind: datetime, box: &box{time: t}} }

// List returns a list; it keeps vals.
func List(vals []Value) Value {
	return Value{kind: list, num: int64(len(vals)), box: &box{vals: vals}}
}

// Record returns a record with its fields in the order of its type; it keeps
// vals.
func Record(vals []Value) Value {
	return Value{kind: record, num: int64(len(vals)), box: &box{vals: vals}}
}

// Map returns a mapping. keys must be sorted; both slices are kept.
func Map(keys []string, vals []Value) Value {
	return Value{kind: mapping, num: int64(len(vals)), box: &box{vals: vals, keys: keys}}
}

// Arena gathers the parts of many lists and records in one piece of memory. The
// zero value is empty. It is for one goroutine until it is filled.
type Arena struct{ b box }

// List returns a list with a copy of vals.
func (a *Arena) List(vals []Value) Value {
	at := len(a.b.vals)
	a.b.vals = append(a.b.vals, vals...)
	return a.of(list, at)
}

// Record returns a record of n fields, which are null until they are set.
func (a *Arena) Record(n int) Value {
	at := len(a.b.vals)
	a.b.vals = append(a.b.vals, make([]Value, n)...)
	return a.of(record, at)
}

// Fields returns the fields of a record of the arena, which nobody else has yet, to be set before
// the arena makes anything else.
func (a *Arena) Fields(r Value) []Value { return r.items() }

// SetField sets field i of a record of the arena, which nobody else has yet.
func (a *Arena) SetField(r Value, i int, v Value) { a.b.vals[int(r.num>>32)+i] = v }

// of returns a value whose parts are all from a place on.
func (a *Arena) of(k valueKind, at int) Value {
	return Value{kind: k, num: int64(at)<<32 | int64(len(a.b.vals)-at), box: &a.b}
}

// Grow makes room for n more parts.
func (a *Arena) Grow(n int) { a.b.vals = slices.Grow(a.b.vals, n) }

// Reset forgets all values, which may not be used any more, and keeps memory for as many as most.
func (a *Arena) Reset(most int) {
	vals := a.b.vals // behind them is nothing
	if clear(vals); cap(vals) > most {
		vals = nil
	}
	a.b = box{vals: vals[:0]}
}

// IsNull reports whether v is absent.
func (v Value) IsNull() bool { return v.kind == null }

// True reports whether v is the boolean true. Null is not.
func (v Value) True() bool { return v.kind == boolean && v.num != 0 }

// Str returns the string of a text, else "".
func (v Value) Str() string { return v.str }

// Dec returns the number, else 0.
func (v Value) Dec() decimal.Decimal {
	if v.box != nil {
		return decimal.FromParts(v.num, v.scale, v.box.wide)
	}
	return decimal.FromParts(v.num, v.scale, nil)
}

// Time returns the moment of a date (midnight UTC) or datetime.
func (v Value) Time() time.Time {
	if v.kind == datetime {
		return v.box.time
	}
	return time.Unix(v.num*int64(day/time.Second), 0).UTC()
}

// Len returns the count of items of a list, record or mapping.
func (v Value) Len() int {
	if v.kind < list || v.kind == stream {
		return 0
	}
	return int(v.num & 0xFFFFFFFF)
}

// At returns item i of a list, record or mapping; i must be below Len.
func (v Value) At(i int) Value { return v.box.vals[int(v.num>>32)+i] }

// items returns the items without copying.
func (v Value) items() []Value {
	if v.Len() == 0 {
		return nil
	}
	at := int(v.num >> 32)
	return v.box.vals[at : at+v.Len()]
}

// key returns the value of a key of a mapping.
func (v Value) key(k string) Value {
	if v.kind != mapping {
		return Null
	}
	if i, ok := slices.BinarySearch(v.box.keys, k); ok {
		return v.box.vals[i]
	}
	return Null
}

// AppendText appends v as it prints without a format: numbers in plain notation,
// dates by ISO 8601. Null, lists and records append nothing; the checker keeps
// them from getting here.
func (v Value) AppendText(dst []byte) []byte {
	switch v.kind {
	case text:
		return append(dst, v.str...)
	case number:
		return v.Dec().Append(dst)
	case boolean:
		if v.num != 0 {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case date:
		return v.Time().AppendFormat(dst, time.DateOnly)
	case datetime:
		return v.Time().AppendFormat(dst, time.RFC3339)
	}
	return dst
}

// Equal reports whether two values of types that join are equal.
func Equal(a, b Value) bool {
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case text:
		return a.str == b.str
	case number:
		return a.Dec().Cmp(b.Dec()) == 0
	case datetime:
		return a.box.time.Equal(b.box.time)
	case list, record, mapping:
		return slices.EqualFunc(a.items(), b.items(), Equal) &&
			(a.kind != mapping || slices.Equal(a.box.keys, b.box.keys))
	}
	return a.num == b.num
}

// compare orders two values of one ordered kind, texts by code point.
func compare(a, b Value) int {
	switch a.kind {
	case text:
		return strings.Compare(a.str, b.str)
	case number:
		return a.Dec().Cmp(b.Dec())
	case datetime:
		return a.box.time.Compare(b.box.time)
	}
	switch {
	case a.num < b.num:
		return -1
	case a.num > b.num:
		return 1
	}
	return 0
}
