package clixml

import (
	"encoding"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Unmarshaler is a type that reads its own value.
type Unmarshaler interface{ UnmarshalCLIXML(v Value) error }

// Unmarshal stores a value in what into points at, by the tags of [Marshal]. A struct takes the
// properties of an object, extended before adapted, or the entries of a dictionary with text keys:
// names are looked up exactly, then without regard to case; what has no field is ignored, and a
// field without a property keeps what it has. Null stores the zero value.
//
// Nothing is cut or rounded: a number that does not fit is a *FieldError with the path to it. An
// enum is stored as its number, or as its text in a string. Into an any goes the Go type of the
// value; a list as []any, a dictionary or an object with properties as map[string]any.
func Unmarshal(v Value, into any) error {
	rv := reflect.ValueOf(into)
	if rv.Kind() != reflect.Pointer || rv.IsNil() {
		return fmt.Errorf("clixml: unmarshal into %T: not a pointer", into)
	}
	u := unmarshaler{}
	if err := u.store(v, rv.Elem(), nil); err != nil {
		err.Path = typeLabel(rv.Type()) + err.Path
		return err
	}
	return nil
}

type unmarshaler struct{ depth int }

// mismatch is the error of a value that is of another kind than into wants.
func mismatch(v Value, t reflect.Type) *FieldError {
	return fieldError(t.String(), v.label(), "")
}

// label names a value in an error: its element and, when that says something, its text.
func (v Value) label() string {
	b := v.base()
	switch b.kind {
	case KindNone, KindObject, KindList, KindDict, KindMemberSet, KindProgress:
		return v.kind.String()
	case KindSecureString, KindBytes, KindNil:
		return b.kind.Tag()
	case KindString, KindXML, KindScriptBlock, KindURI:
		return fmt.Sprintf("%s %q", b.kind.Tag(), clip(b.text()))
	}
	return b.kind.Tag() + " " + string(appendPrimitive(nil, b))
}

func (u *unmarshaler) store(v Value, into reflect.Value, f *field) *FieldError {
	if u.depth++; u.depth > 100 {
		return fieldError(into.Type().String(), v.kind.String(), "is nested too deeply for")
	}
	defer func() { u.depth-- }()
	t := into.Type()
	if into.CanAddr() && reflect.PointerTo(t).Implements(typeUnmarshaler) {
		if err := into.Addr().Interface().(Unmarshaler).UnmarshalCLIXML(v); err != nil {
			return fieldError(t.String(), v.label(), err.Error()+":")
		}
		return nil
	}
	if t == typeValue {
		into.Set(reflect.ValueOf(v))
		return nil
	}
	if v.IsNil() {
		into.SetZero()
		return nil
	}
	if t.Kind() == reflect.Pointer {
		return u.pointer(v, into, f)
	}
	if f != nil && f.text {
		return fromText(v, into)
	}
	if done, err := storeOwn(v, into); done {
		return err
	}
	switch into.Kind() {
	case reflect.Interface:
		if into.NumMethod() > 0 {
			return mismatch(v, t)
		}
		x, err := u.natural(v)
		if err != nil {
			return err
		}
		if x != nil {
			into.Set(reflect.ValueOf(x))
		} else {
			into.SetZero()
		}
		return nil
	case reflect.Struct:
		return u.object(v, into)
	case reflect.Map:
		return u.dict(v, into)
	case reflect.Slice, reflect.Array:
		return u.list(v, into)
	case reflect.Bool:
		b, ok := v.base().Bool()
		if !ok {
			return mismatch(v, t)
		}
		into.SetBool(b)
		return nil
	case reflect.String:
		s, ok := textLike(v)
		if !ok {
			return mismatch(v, t)
		}
		into.SetString(s)
		return nil
	}
	return storeNumber(v, into)
}

func (u *unmarshaler) pointer(v Value, into reflect.Value, f *field) *FieldError {
	t := into.Type()
	own := func(x any, ok bool) *FieldError {
		if !ok {
			return mismatch(v, t)
		}
		into.Set(reflect.ValueOf(x))
		return nil
	}
	switch t.Elem() {
	case typeSecure:
		return own(v.SecureString())
	case typeObject:
		return own(v.Object())
	case typeList:
		return own(v.List())
	case typeDict:
		return own(v.Dict())
	case typeProgress:
		return own(v.Progress())
	}
	p := reflect.New(t.Elem())
	if err := u.store(v, p.Elem(), f); err != nil {
		return err
	}
	into.Set(p)
	return nil
}

// storeOwn stores into the types that have a form of their own.
func storeOwn(v Value, into reflect.Value) (done bool, err *FieldError) {
	t, b := into.Type(), v.base()
	set := func(x any, ok bool) (bool, *FieldError) {
		if !ok {
			return true, mismatch(v, t)
		}
		into.Set(reflect.ValueOf(x))
		return true, nil
	}
	switch t {
	case typeGUID:
		return set(b.GUID())
	case typeChar:
		return set(b.Char())
	case typeDecimal:
		return set(b.Decimal())
	case typeDateTime:
		return set(b.DateTime())
	case typeTimeSpan:
		return set(b.TimeSpan())
	case typeVersion:
		return set(b.Version())
	case typeXMLText:
		return set(b.XMLText())
	case typeScriptBlock:
		return set(b.ScriptBlock())
	case typeURI:
		return set(b.URI())
	case typeCredential:
		return set(CredentialOf(v))
	case typeTime:
		d, ok := b.DateTime()
		return set(d.Time(nil), ok)
	case typeDuration:
		ts, ok := b.TimeSpan()
		if !ok {
			return true, mismatch(v, t)
		}
		d, fits := ts.Duration()
		if !fits {
			return true, fieldError(t.String(), v.label(), "overflows")
		}
		return set(d, true)
	case typeBigInt:
		n, ok := bigInt(b)
		if !ok {
			return true, mismatch(v, t)
		}
		into.Set(reflect.ValueOf(n).Elem())
		return true, nil
	}
	return false, nil
}

func bigInt(v Value) (*big.Int, bool) {
	if d, ok := v.Decimal(); ok {
		r := d.Rat()
		return r.Num(), r.IsInt()
	}
	if n, ok := v.Uint64(); ok {
		return new(big.Int).SetUint64(n), true
	}
	n, ok := v.Int()
	return big.NewInt(n), ok
}

// textLike is the text of what is text: strings and their kin, a character, an enum's name, a GUID,
// a version.
func textLike(v Value) (string, bool) {
	b := v.base()
	switch b.kind {
	case KindString, KindXML, KindScriptBlock, KindURI:
		return b.text(), true
	case KindChar:
		c, _ := b.Char()
		return string(appendRune(nil, rune(c))), true
	case KindGUID, KindVersion:
		return string(appendPrimitive(nil, b)), true
	}
	if o, ok := v.Object(); ok && b.kind != KindObject && len(o.TypeNames) > 1 && o.TypeNames[1] == "System.Enum" {
		return o.ToString, true
	}
	return "", false
}

func storeNumber(v Value, into reflect.Value) *FieldError {
	t, b := into.Type(), v.base()
	switch {
	case into.CanInt():
		n, ok := b.Int()
		if !ok {
			if b.kind == KindUint64 {
				return fieldError(t.String(), v.label(), "overflows")
			}
			return mismatch(v, t)
		}
		if into.OverflowInt(n) {
			return fieldError(t.String(), v.label(), "overflows")
		}
		into.SetInt(n)
		return nil
	case into.CanUint():
		n, ok := b.Uint64()
		if !ok {
			signed, isInt := b.Int()
			if !isInt {
				return mismatch(v, t)
			}
			if signed < 0 {
				return fieldError(t.String(), v.label(), "overflows")
			}
			n = uint64(signed)
		}
		if into.OverflowUint(n) {
			return fieldError(t.String(), v.label(), "overflows")
		}
		into.SetUint(n)
		return nil
	case into.CanFloat():
		f, exact, ok := floatOf(b)
		if !ok {
			return mismatch(v, t)
		}
		if !exact || t.Kind() == reflect.Float32 && !math.IsNaN(f) && float64(float32(f)) != f {
			return fieldError(t.String(), v.label(), "is not exact as")
		}
		into.SetFloat(f)
		return nil
	}
	return mismatch(v, t)
}

func floatOf(v Value) (f float64, exact, ok bool) {
	switch v.kind {
	case KindFloat32:
		x, _ := v.Float32()
		return float64(x), true, true
	case KindFloat64:
		x, _ := v.Float64()
		return x, true, true
	case KindDecimal:
		d, _ := v.Decimal()
		f, exact = d.Rat().Float64()
		return f, exact, true
	}
	n, ok := bigInt(v)
	if !ok {
		return 0, false, false
	}
	f, acc := new(big.Float).SetInt(n).Float64()
	return f, acc == big.Exact, true
}

// fromText reads a field with the option string.
func fromText(v Value, into reflect.Value) *FieldError {
	s, ok := textLike(v)
	if !ok {
		return mismatch(v, into.Type())
	}
	if into.CanAddr() && reflect.PointerTo(into.Type()).Implements(typeTextReader) {
		if err := into.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(s)); err != nil {
			return fieldError(into.Type().String(), v.label(), err.Error()+":")
		}
		return nil
	}
	size := 0
	if k := into.Kind(); k >= reflect.Int && k <= reflect.Float64 {
		size = into.Type().Bits()
	}
	var err error
	switch {
	case into.Kind() == reflect.String:
		into.SetString(s)
	case into.Type() == typeDuration:
		var d time.Duration
		d, err = time.ParseDuration(s)
		into.SetInt(int64(d))
	case into.CanInt():
		var n int64
		n, err = strconv.ParseInt(s, 10, size)
		into.SetInt(n)
	case into.CanUint():
		var n uint64
		n, err = strconv.ParseUint(s, 10, size)
		into.SetUint(n)
	case into.CanFloat():
		var f float64
		f, err = strconv.ParseFloat(s, size)
		into.SetFloat(f)
	case into.Kind() == reflect.Bool:
		var b bool
		b, err = strconv.ParseBool(s)
		into.SetBool(b)
	default:
		return mismatch(v, into.Type())
	}
	if err != nil {
		return mismatch(v, into.Type())
	}
	return nil
}

func (u *unmarshaler) object(v Value, into reflect.Value) *FieldError {
	p, planErr := structPlans.of(into.Type())
	if planErr != nil {
		return fieldError(into.Type().String(), v.label(), planErr.Error()+":")
	}
	if v.kind != KindObject && v.kind != KindDict && v.kind != KindMemberSet {
		return mismatch(v, into.Type())
	}
	for i := range p.fields {
		f := &p.fields[i]
		x, ok := v.Get(f.name)
		if !ok {
			continue
		}
		if err := u.store(x, reach(into, f.index), f); err != nil {
			err.Path = "." + f.goName + err.Path
			return err
		}
	}
	return nil
}

// reach returns a field, making the embedded pointers on the way to it.
func reach(v reflect.Value, index []int) reflect.Value {
	for i, x := range index {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(x)
	}
	return v
}

func (u *unmarshaler) list(v Value, into reflect.Value) *FieldError {
	b := v.base()
	if into.Type().Elem().Kind() == reflect.Uint8 && b.kind == KindBytes {
		if into.Kind() == reflect.Slice {
			into.SetBytes(append([]byte{}, b.bytes()...))
			return nil
		}
		if into.Len() != len(b.bytes()) {
			return fieldError(into.Type().String(), fmt.Sprintf("BA of %d bytes", len(b.bytes())), "")
		}
		reflect.Copy(into, reflect.ValueOf(b.bytes()))
		return nil
	}
	l, ok := v.List()
	if !ok {
		return mismatch(v, into.Type())
	}
	if into.Kind() == reflect.Slice {
		into.Set(reflect.MakeSlice(into.Type(), len(l.Items), len(l.Items)))
	} else if into.Len() != len(l.Items) {
		return fieldError(into.Type().String(), fmt.Sprintf("list of %d", len(l.Items)), "")
	}
	for i, item := range l.Items {
		if err := u.store(item, into.Index(i), nil); err != nil {
			err.Path = "[" + strconv.Itoa(i) + "]" + err.Path
			return err
		}
	}
	return nil
}

func (u *unmarshaler) dict(v Value, into reflect.Value) *FieldError {
	t := into.Type()
	out := reflect.MakeMap(t)
	put := func(key, val Value) *FieldError {
		k := reflect.New(t.Key()).Elem()
		if err := u.store(key, k, nil); err != nil {
			err.Path = "[key]" + err.Path
			return err
		}
		if !k.Comparable() {
			return mismatch(key, t.Key())
		}
		x := reflect.New(t.Elem()).Elem()
		if err := u.store(val, x, nil); err != nil {
			err.Path = "[" + clip(key.String()) + "]" + err.Path
			return err
		}
		out.SetMapIndex(k, x)
		return nil
	}
	if d, ok := v.Dict(); ok {
		for _, e := range d.Entries {
			if err := put(e.Key, e.Value); err != nil {
				return err
			}
		}
		into.Set(out)
		return nil
	}
	o, ok := v.Object()
	if !ok {
		return mismatch(v, t)
	}
	for _, p := range append(append(Properties{}, o.Adapted...), o.Extended...) {
		if err := put(String(p.Name), p.Value); err != nil {
			return err
		}
	}
	into.Set(out)
	return nil
}

// natural is the Go value of what goes into an any.
func (u *unmarshaler) natural(v Value) (any, *FieldError) {
	if u.depth++; u.depth > 100 {
		return nil, fieldError("any", v.kind.String(), "is nested too deeply for")
	}
	defer func() { u.depth-- }()
	switch b := v.base(); b.kind {
	case KindNone, KindNil:
		return nil, nil //nolint:nilnil // null is nil
	case KindString, KindXML, KindScriptBlock, KindURI:
		return b.text(), nil
	case KindChar:
		return Char(b.num), nil //nolint:gosec // G115: of this kind it fits
	case KindBool:
		return b.num == 1, nil
	case KindDateTime:
		d, _ := b.DateTime()
		return d, nil
	case KindTimeSpan:
		return TimeSpan(b.signed()), nil
	case KindUint8:
		return uint8(b.num), nil //nolint:gosec // G115: of this kind it fits
	case KindInt8:
		return int8(b.num), nil //nolint:gosec // G115: of this kind it fits
	case KindInt16:
		return int16(b.num), nil //nolint:gosec // G115: of this kind it fits
	case KindUint16:
		return uint16(b.num), nil //nolint:gosec // G115: of this kind it fits
	case KindInt32:
		return int32(b.num), nil //nolint:gosec // G115: of this kind it fits
	case KindUint32:
		return uint32(b.num), nil //nolint:gosec // G115: of this kind it fits
	case KindInt64:
		return b.signed(), nil
	case KindUint64:
		return b.num, nil
	case KindFloat32:
		f, _ := b.Float32()
		return f, nil
	case KindFloat64:
		f, _ := b.Float64()
		return f, nil
	case KindDecimal:
		return *(*Decimal)(b.ptr), nil
	case KindBytes:
		return append([]byte{}, b.bytes()...), nil
	case KindGUID:
		return *(*GUID)(b.ptr), nil
	case KindVersion:
		return *(*Version)(b.ptr), nil
	case KindSecureString:
		return (*SecureString)(b.ptr), nil
	case KindProgress:
		return (*Progress)(b.ptr), nil
	case KindList:
		out := make([]any, 0, len(b.list().Items))
		for i, item := range b.list().Items {
			x, err := u.natural(item)
			if err != nil {
				err.Path = "[" + strconv.Itoa(i) + "]" + err.Path
				return nil, err
			}
			out = append(out, x)
		}
		return out, nil
	default:
		return u.naturalMap(v)
	}
}

func (u *unmarshaler) naturalMap(v Value) (any, *FieldError) {
	out := map[string]any{}
	put := func(name string, x Value) *FieldError {
		n, err := u.natural(x)
		if err != nil {
			err.Path = "." + name + err.Path
			return err
		}
		out[name] = n
		return nil
	}
	if d, ok := v.Dict(); ok {
		for _, e := range d.Entries {
			key, isText := textLike(e.Key)
			if !isText {
				key = strings.ToValidUTF8(e.Key.String(), string(utf8.RuneError))
			}
			if err := put(key, e.Value); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	var all Properties
	if o, ok := v.Object(); ok {
		if len(o.Adapted)+len(o.Extended) == 0 && o.HasToString {
			return o.ToString, nil
		}
		all = append(append(all, o.Adapted...), o.Extended...)
	} else if m, ok := v.MemberSet(); ok {
		all = m.Members
	}
	for _, p := range all {
		if err := put(p.Name, p.Value); err != nil {
			return nil, err
		}
	}
	return out, nil
}
