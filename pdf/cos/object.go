package cos

import (
	"math"
	"time"
)

// Object is a value that can print itself in PDF syntax. AppendPDF appends the
// value to dst and must depend on nothing but the value. The types of this
// package implement it; so may any other that prints exactly one object.
type Object interface {
	AppendPDF(dst []byte) []byte
}

// The object types of ISO 32000-2, 7.3. Streams are written by [Writer.Stream].
type (
	// Bool is a boolean.
	Bool bool
	// Int is an integer.
	Int int64
	// Fixed is a length in 1/1024 pt, printed in points with at most three
	// decimals.
	Fixed int64
	// Decimal is the real number Mantissa x 10^-Scale.
	Decimal struct {
		Mantissa int64
		Scale    int
	}
	// Name is a name, without its solidus and unescaped.
	Name string
	// String is a byte string, printed by [AppendString].
	String string
	// Hex is a byte string printed in hexadecimal, such as a file identifier.
	Hex string
	// Text is a text string given in UTF-8, printed by [AppendText].
	Text string
	// Date is a date string.
	Date time.Time
	// Array is an array.
	Array []Object
	// Raw is one object already in PDF syntax. Limits are not checked in it.
	Raw []byte
)

// Null is the null object.
type Null struct{}

// Ref is an indirect reference; the zero value refers to nothing.
type Ref struct {
	Num uint32
	Gen uint16 // 0 in every file this package writes
}

// IsZero reports whether r refers to nothing.
func (r Ref) IsZero() bool { return r.Num == 0 }

// Plus is the reference n object numbers after r, for use with [Writer.ReserveN].
func (r Ref) Plus(n int) Ref {
	return Ref{Num: r.Num + uint32(n)} //nolint:gosec // G115: within a reserved block
}

// Entry is one key of a dictionary with its value.
type Entry struct {
	Key   Name
	Value Object
}

// E makes an Entry.
func E(key Name, value Object) Entry { return Entry{Key: key, Value: value} }

// Dict is a dictionary. It is printed in the order of its entries; keys must be unique. Entries
// whose Value is nil are omitted, so that an optional value needs no branch at the caller.
type Dict []Entry

// Get returns the value of key, or nil.
func (d Dict) Get(key Name) Object {
	for i := range d {
		if d[i].Key == key {
			return d[i].Value
		}
	}
	return nil
}

// Float returns the value of a number as the nearest float64; false for other objects.
func Float(o Object) (float64, bool) {
	switch v := o.(type) {
	case Int:
		return float64(v), true
	case *Int:
		return float64(*v), true
	case Fixed:
		return float64(v) / 1024, true
	case *Fixed:
		return float64(*v) / 1024, true
	case Decimal:
		return float64(v.Mantissa) / math.Pow10(v.Scale), true // powers are exact where the reader gives them
	case *Decimal:
		return Float(*v)
	}
	return 0, false
}

// AppendPDF implements [Object].
func (b Bool) AppendPDF(dst []byte) []byte {
	if b {
		return append(dst, "true"...)
	}
	return append(dst, "false"...)
}

// AppendPDF implements [Object].
func (i Int) AppendPDF(dst []byte) []byte { return AppendInt(dst, int64(i)) }

// AppendPDF implements [Object].
func (f Fixed) AppendPDF(dst []byte) []byte { return AppendFixed(dst, int64(f), 3) }

// AppendPDF implements [Object].
func (d Decimal) AppendPDF(dst []byte) []byte { return AppendDecimal(dst, d.Mantissa, d.Scale) }

// AppendPDF implements [Object].
func (n Name) AppendPDF(dst []byte) []byte { return AppendName(dst, string(n)) }

// AppendPDF implements [Object].
func (s String) AppendPDF(dst []byte) []byte { return AppendString(dst, s) }

// AppendPDF implements [Object].
func (s Hex) AppendPDF(dst []byte) []byte { return AppendHex(dst, s) }

// AppendPDF implements [Object].
func (s Text) AppendPDF(dst []byte) []byte { return AppendText(dst, string(s)) }

// AppendPDF implements [Object].
func (d Date) AppendPDF(dst []byte) []byte { return AppendDate(dst, time.Time(d)) }

// AppendPDF implements [Object].
func (r Raw) AppendPDF(dst []byte) []byte { return append(dst, r...) }

// AppendPDF implements [Object].
func (Null) AppendPDF(dst []byte) []byte { return append(dst, "null"...) }

// AppendPDF implements [Object].
func (r Ref) AppendPDF(dst []byte) []byte { return AppendRef(dst, r) }

// AppendRef appends r as an indirect reference (7.3.10), a Ref that refers to
// nothing as null.
func AppendRef(dst []byte, r Ref) []byte {
	if r.IsZero() {
		return append(dst, "null"...)
	}
	dst = appendUint(dst, uint64(r.Num))
	if r.Gen == 0 {
		return append(dst, " 0 R"...)
	}
	dst = append(dst, ' ')
	dst = AppendInt(dst, int64(r.Gen))
	return append(dst, ' ', 'R')
}

// AppendRefs appends references to n consecutive objects, with a space between them.
func AppendRefs(dst []byte, first Ref, n int) []byte {
	const behind = " 0 R"
	from := len(dst)
	dst = AppendRef(dst, first)
	for i := 1; i < n; i++ {
		at := len(dst)
		dst = append(dst, ' ')
		if digit := at - len(behind) - 1; dst[digit] == '9' || first.Gen != 0 {
			dst = AppendRef(dst, first.Plus(i))
		} else { // as the one before, but for the last digit
			dst = append(dst, dst[from:at]...)
			dst[len(dst)-len(behind)-1]++
		}
		from = at + 1
	}
	return dst
}

// AppendPDF implements [Object]. A nil element prints as null, for position
// has meaning in an array.
func (a Array) AppendPDF(dst []byte) []byte {
	dst = append(dst, '[')
	for _, o := range a {
		if o == nil {
			o = Null{}
		}
		dst = appendValue(dst, o)
	}
	return append(dst, ']')
}

// AppendPDF implements [Object].
func (d Dict) AppendPDF(dst []byte) []byte {
	return append(d.appendEntries(append(dst, "<<"...)), ">>"...)
}

// appendEntries appends what is between the brackets.
func (d Dict) appendEntries(dst []byte) []byte {
	for i := range d {
		if d[i].Value == nil {
			continue
		}
		dst = AppendName(dst, string(d[i].Key))
		if len(d[i].Key) == 0 {
			dst = append(dst, ' ') // "/" and "12" must not become "/12"
		}
		dst = appendValue(dst, d[i].Value)
	}
	return dst
}

// appendValue appends o behind the token that ends dst, with a space where two
// regular characters would meet (7.2.3).
func appendValue(dst []byte, o Object) []byte {
	if last := dst[len(dst)-1]; charClass[last] == classRegular || last == '/' {
		if !startsDelimited(o) {
			dst = append(dst, ' ')
		}
	}
	return o.AppendPDF(dst)
}

func startsDelimited(o Object) bool {
	switch o.(type) {
	case Name, String, Hex, Text, Date, Array, Dict, *Name, *String, *Text, *Array, *Dict:
		return true
	}
	return false
}
