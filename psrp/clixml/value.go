package clixml

import (
	"math"
	"unsafe"
)

// Value is one CLIXML value. It is small, is passed by value and boxes nothing: numbers are held in
// place, text as pointer and length. The zero Value means absent ([KindNone]); where a value is
// required it is written as Nil.
//
// Values cannot be compared with ==; use [Equal].
type Value struct {
	_   [0]func()
	ptr unsafe.Pointer // first byte of text or bytes, or the object, by kind
	num uint64         // the number, or the length of what ptr points at
	// kind says how to read ptr and num. aux and off complete a DateTime.
	kind Kind
	aux  uint8
	off  int16
}

// Nil returns the null value.
func Nil() Value { return Value{kind: KindNil} }

// String returns an S. Text that PowerShell holds as a lone UTF-16 surrogate is its three-byte
// generalised UTF-8 form (WTF-8).
func String(s string) Value { return textValue(KindString, s) }

// Bool returns a B.
func Bool(b bool) Value {
	v := Value{kind: KindBool}
	if b {
		v.num = 1
	}
	return v
}

// Int8 returns an SB.
func Int8(n int8) Value { return intValue(KindInt8, int64(n)) }

// Int16 returns an I16.
func Int16(n int16) Value { return intValue(KindInt16, int64(n)) }

// Int32 returns an I32.
func Int32(n int32) Value { return intValue(KindInt32, int64(n)) }

// Int64 returns an I64.
func Int64(n int64) Value { return intValue(KindInt64, n) }

// Uint8 returns a By.
func Uint8(n uint8) Value { return Value{kind: KindUint8, num: uint64(n)} }

// Uint16 returns a U16.
func Uint16(n uint16) Value { return Value{kind: KindUint16, num: uint64(n)} }

// Uint32 returns a U32.
func Uint32(n uint32) Value { return Value{kind: KindUint32, num: uint64(n)} }

// Uint64 returns a U64.
func Uint64(n uint64) Value { return Value{kind: KindUint64, num: n} }

// Float32 returns an Sg.
func Float32(f float32) Value {
	return Value{kind: KindFloat32, num: uint64(math.Float32bits(f))}
}

// Float64 returns a Db.
func Float64(f float64) Value { return Value{kind: KindFloat64, num: math.Float64bits(f)} }

// Bytes returns a BA that keeps b; the caller does not change it afterwards.
func Bytes(b []byte) Value {
	return Value{kind: KindBytes, ptr: unsafe.Pointer(unsafe.SliceData(b)), num: uint64(len(b))} //nolint:gosec // G103: read back by Bytes alone
}

// Int returns n as an I32 when it fits and as an I64 otherwise, as PowerShell types a literal.
func Int(n int64) Value {
	if n == int64(int32(n)) { //nolint:gosec // G115: the comparison is the check
		return Int32(int32(n)) //nolint:gosec // G115: checked
	}
	return Int64(n)
}

func textValue(k Kind, s string) Value {
	return Value{kind: k, ptr: unsafe.Pointer(unsafe.StringData(s)), num: uint64(len(s))} //nolint:gosec // G103: read back by text alone
}

func intValue(k Kind, n int64) Value {
	return Value{kind: k, num: uint64(n)} //nolint:gosec // G115: two's complement, read back by signed
}

func (v Value) signed() int64 { return int64(v.num) } //nolint:gosec // G115: what intValue stored

func (v Value) text() string {
	return unsafe.String((*byte)(v.ptr), v.num) //nolint:gosec // G103: what textValue stored
}

func (v Value) bytes() []byte {
	return unsafe.Slice((*byte)(v.ptr), v.num) //nolint:gosec // G103: what Bytes stored
}

func (v Value) object() *Object       { return (*Object)(v.ptr) }
func (v Value) list() *List           { return (*List)(v.ptr) }
func (v Value) dict() *Dict           { return (*Dict)(v.ptr) }
func (v Value) memberSet() *MemberSet { return (*MemberSet)(v.ptr) }

// pointerValue holds p, which is not nil: a nil pointer is the null value.
func pointerValue[T any](k Kind, p *T) Value {
	if p == nil {
		return Nil()
	}
	return Value{kind: k, ptr: unsafe.Pointer(p)} //nolint:gosec // G103: read back by kind
}

// Kind tells what v holds.
func (v Value) Kind() Kind { return v.kind }

// IsNil reports whether v is null or absent.
func (v Value) IsNil() bool { return v.kind <= KindNil }

// textOf returns the text of a value of kind k.
func textOf[T ~string](v Value, k Kind) (T, bool) {
	if v.kind != k {
		return "", false
	}
	return T(v.text()), true
}

// pointed returns what a value of kind k points at.
func pointed[T any](v Value, k Kind) (*T, bool) {
	if v.kind != k {
		return nil, false
	}
	return (*T)(v.ptr), true
}

// copied returns a copy of what a value of kind k points at.
func copied[T any](v Value, k Kind) (t T, ok bool) {
	if v.kind != k {
		return t, false
	}
	return *(*T)(v.ptr), true
}

// Text returns the text of an S.
func (v Value) Text() (string, bool) { return textOf[string](v, KindString) }

// Bool returns a B.
func (v Value) Bool() (b, ok bool) { return v.num == 1, v.kind == KindBool }

// Int8 returns an SB.
func (v Value) Int8() (int8, bool) {
	return int8(v.num), v.kind == KindInt8 //nolint:gosec // G115: of this kind it fits
}

// Int16 returns an I16.
func (v Value) Int16() (int16, bool) {
	return int16(v.num), v.kind == KindInt16 //nolint:gosec // G115: of this kind it fits
}

// Int32 returns an I32.
func (v Value) Int32() (int32, bool) {
	return int32(v.num), v.kind == KindInt32 //nolint:gosec // G115: of this kind it fits
}

// Int64 returns an I64.
func (v Value) Int64() (int64, bool) { return v.signed(), v.kind == KindInt64 }

// Uint8 returns a By.
func (v Value) Uint8() (uint8, bool) {
	return uint8(v.num), v.kind == KindUint8 //nolint:gosec // G115: of this kind it fits
}

// Uint16 returns a U16.
func (v Value) Uint16() (uint16, bool) {
	return uint16(v.num), v.kind == KindUint16 //nolint:gosec // G115: of this kind it fits
}

// Uint32 returns a U32.
func (v Value) Uint32() (uint32, bool) {
	return uint32(v.num), v.kind == KindUint32 //nolint:gosec // G115: of this kind it fits
}

// Uint64 returns a U64.
func (v Value) Uint64() (uint64, bool) { return v.num, v.kind == KindUint64 }

// Float32 returns an Sg.
func (v Value) Float32() (float32, bool) {
	return math.Float32frombits(uint32(v.num)), v.kind == KindFloat32 //nolint:gosec // G115: of this kind it fits
}

// Float64 returns a Db.
func (v Value) Float64() (float64, bool) {
	return math.Float64frombits(v.num), v.kind == KindFloat64
}

// Bytes returns a BA; the caller does not change it.
func (v Value) Bytes() ([]byte, bool) {
	if v.kind != KindBytes {
		return nil, false
	}
	return v.bytes(), true
}

// Char returns a C.
func (v Value) Char() (Char, bool) {
	return Char(v.num), v.kind == KindChar //nolint:gosec // G115: of this kind it fits
}

// GUID returns a G.
func (v Value) GUID() (GUID, bool) { return copied[GUID](v, KindGUID) }

// Version returns a Version.
func (v Value) Version() (Version, bool) { return copied[Version](v, KindVersion) }

// Decimal returns a D.
func (v Value) Decimal() (Decimal, bool) { return copied[Decimal](v, KindDecimal) }

// DateTime returns a DT.
func (v Value) DateTime() (DateTime, bool) {
	return DateTime{Ticks: v.signed(), Kind: DateKind(v.aux), Offset: v.off}, v.kind == KindDateTime
}

// TimeSpan returns a TS.
func (v Value) TimeSpan() (TimeSpan, bool) { return TimeSpan(v.signed()), v.kind == KindTimeSpan }

// XMLText returns an XD.
func (v Value) XMLText() (XMLText, bool) { return textOf[XMLText](v, KindXML) }

// ScriptBlock returns an SBK. Its text is never run by this module.
func (v Value) ScriptBlock() (ScriptBlock, bool) { return textOf[ScriptBlock](v, KindScriptBlock) }

// URI returns a URI.
func (v Value) URI() (URI, bool) { return textOf[URI](v, KindURI) }

// SecureString returns an SS.
func (v Value) SecureString() (*SecureString, bool) {
	return pointed[SecureString](v, KindSecureString)
}

// Progress returns a PR.
func (v Value) Progress() (*Progress, bool) { return pointed[Progress](v, KindProgress) }

// Object returns an Obj.
func (v Value) Object() (*Object, bool) { return pointed[Object](v, KindObject) }

// List returns a list, or the list that an Obj holds.
func (v Value) List() (*List, bool) { return pointed[List](v.base(), KindList) }

// Dict returns a dictionary, or the one that an Obj holds.
func (v Value) Dict() (*Dict, bool) { return pointed[Dict](v.base(), KindDict) }

// MemberSet returns a member set.
func (v Value) MemberSet() (*MemberSet, bool) { return pointed[MemberSet](v, KindMemberSet) }

// base unwraps the objects around a value. An object that wraps itself has no base.
func (v Value) base() Value {
	for range 64 {
		if v.kind != KindObject || v.object().Base.kind == KindNone {
			return v
		}
		v = v.object().Base
	}
	return Value{}
}

// Base returns what v is without the objects that wrap it: the number of an enum, the text of an
// extended string, the list or dictionary of a container; v itself when nothing is wrapped.
func (v Value) Base() Value { return v.base() }

// Int returns the number of any integer, of an enum, or of an extended integer, when it fits.
func (v Value) Int() (int64, bool) {
	v = v.base()
	switch v.kind {
	case KindInt8, KindInt16, KindInt32, KindInt64:
		return v.signed(), true
	case KindUint8, KindUint16, KindUint32:
		return v.signed(), true
	case KindUint64:
		return v.signed(), v.num <= math.MaxInt64
	default:
		return 0, false
	}
}

// Get returns a property of an Obj: of its extended properties, then of its adapted ones, each
// looked up exactly and then without regard to case. Of a dictionary it returns the entry whose
// key is that text.
func (v Value) Get(name string) (Value, bool) {
	switch v.kind {
	case KindObject:
		o := v.object()
		if p, ok := o.Extended.Get(name); ok {
			return p, true
		}
		if p, ok := o.Adapted.Get(name); ok {
			return p, true
		}
		if d, ok := v.Dict(); ok {
			return d.Get(name)
		}
	case KindDict:
		return v.dict().Get(name)
	case KindMemberSet:
		return v.memberSet().Members.Get(name)
	}
	return Value{}, false
}
