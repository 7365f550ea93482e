package clixml

import (
	"cmp"
	"encoding"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"time"
	"unsafe"
)

// Marshaler is a type that makes its own value.
type Marshaler interface{ MarshalCLIXML() (Value, error) }

// Marshal returns the value of a Go value.
//
// Structs become objects with a property for each exported field, named by the tag
// `clixml:"Name,options"`: props makes it an adapted property rather than an extended one,
// omitempty leaves out a zero field, string writes it as text, enum=TYPE writes a number as that
// enum with the text of its String method; "-" leaves a field out. A blank field
// `_ struct{} `+"`clixml:\",type=TYPE\"`"+` names the object's type; without it the object is a
// PSCustomObject. Fields of embedded structs are the object's own. The ToString of the object is
// that of its String method when it has one and a type name.
//
// Numbers keep their width; int and uint take 32 bits when they fit and 64 otherwise. Slices become
// arrays, []byte bytes, maps hashtables with sorted keys, time.Time a DateTime, time.Duration a
// TimeSpan, *big.Int a Decimal; nil pointers, interfaces, maps and slices but []byte become null.
// A pointer to a struct that occurs twice is written once and then by reference, cycles too.
func Marshal(v any) (Value, error) {
	m := marshaler{}
	if v == nil {
		return Nil(), nil
	}
	if x, ok := v.(Value); ok {
		return x, nil
	}
	rv := reflect.ValueOf(v)
	out, err := m.value(rv)
	if err != nil {
		err.Path = typeLabel(rv.Type()) + err.Path
		return Value{}, err
	}
	return out, nil
}

func typeLabel(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Name()
}

type marshaler struct {
	few   [4]seenPointer
	n     int
	seen  map[unsafe.Pointer]*Object // when there are many
	depth int
}

type seenPointer struct {
	p unsafe.Pointer
	o *Object
}

func (m *marshaler) known(p unsafe.Pointer) *Object {
	for _, s := range m.few[:m.n] {
		if s.p == p {
			return s.o
		}
	}
	return m.seen[p]
}

func (m *marshaler) remember(p unsafe.Pointer, o *Object) {
	if m.n < len(m.few) {
		m.few[m.n] = seenPointer{p, o}
		m.n++
		return
	}
	if m.seen == nil {
		m.seen = map[unsafe.Pointer]*Object{}
	}
	m.seen[p] = o
}

func fieldError(want, got, reason string) *FieldError {
	return &FieldError{Want: want, Got: got, Reason: reason}
}

// value makes the value of v, whose type is not known beforehand.
func (m *marshaler) value(v reflect.Value) (Value, *FieldError) {
	return m.as(structPlans.form(v.Type()), v)
}

// as makes the value of v in the form of its type.
func (m *marshaler) as(f form, v reflect.Value) (Value, *FieldError) {
	switch f {
	case formMarshaler:
		if k := v.Kind(); (k == reflect.Pointer || k == reflect.Interface) && v.IsNil() {
			return Nil(), nil
		}
		x, err := v.Interface().(Marshaler).MarshalCLIXML()
		if err != nil {
			return Value{}, fieldError("a value", v.Type().String(), err.Error())
		}
		return x, nil
	case formOwn:
		return v.Interface().(interface{ Value() Value }).Value(), nil
	case formValue:
		return v.Interface().(Value), nil
	case formTime:
		d, err := NewDateTime(v.Interface().(time.Time))
		if err != nil {
			return Value{}, fieldError("a DateTime", "time", err.Error())
		}
		return d.Value(), nil
	case formDuration:
		return NewTimeSpan(time.Duration(v.Int())).Value(), nil
	case formBig:
		return bigForm(v)
	case formIndirect:
		return m.indirect(v)
	case formObject:
		return m.shared(v)
	}
	if x := scalar(v); x.kind != KindNone {
		return x, nil
	}
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return Nil(), nil
		}
		return m.value(v.Elem())
	case reflect.Slice, reflect.Array:
		return m.list(v)
	case reflect.Map:
		return m.dict(v)
	case reflect.Struct:
		o := &Object{}
		return o.Value(), m.object(o, v)
	}
	return Value{}, fieldError("a value", v.Type().String(), "has no CLIXML form, is not")
}

// scalar makes the value of a truth value, a number or a string; of all else the absent one.
func scalar(v reflect.Value) Value {
	switch v.Kind() {
	case reflect.Bool:
		return Bool(v.Bool())
	case reflect.Int8:
		return Int8(int8(v.Int())) //nolint:gosec // G115: the kind says that it fits
	case reflect.Int16:
		return Int16(int16(v.Int())) //nolint:gosec // G115: the kind says that it fits
	case reflect.Int32:
		return Int32(int32(v.Int())) //nolint:gosec // G115: the kind says that it fits
	case reflect.Int64:
		return Int64(v.Int())
	case reflect.Int:
		return Int(v.Int())
	case reflect.Uint8:
		return Uint8(uint8(v.Uint())) //nolint:gosec // G115: the kind says that it fits
	case reflect.Uint16:
		return Uint16(uint16(v.Uint())) //nolint:gosec // G115: the kind says that it fits
	case reflect.Uint32:
		return Uint32(uint32(v.Uint())) //nolint:gosec // G115: the kind says that it fits
	case reflect.Uint64:
		return Uint64(v.Uint())
	case reflect.Uint, reflect.Uintptr:
		if n := v.Uint(); n > math.MaxUint32 {
			return Uint64(n)
		}
		return Uint32(uint32(v.Uint())) //nolint:gosec // G115: checked
	case reflect.Float32:
		return Float32(float32(v.Float()))
	case reflect.Float64:
		return Float64(v.Float())
	case reflect.String:
		return String(v.String())
	}
	return Value{}
}

// bigForm writes a *big.Int as a Decimal.
func bigForm(v reflect.Value) (Value, *FieldError) {
	if v.IsNil() {
		return Nil(), nil
	}
	x := v.Interface().(*big.Int).String()
	d, err := ParseDecimal(x)
	if err != nil {
		return Value{}, fieldError("a Decimal", "big.Int "+clip(x), "overflows")
	}
	return d.Value(), nil
}

// indirect writes what a pointer points at, which has no identity in CLIXML.
func (m *marshaler) indirect(v reflect.Value) (Value, *FieldError) {
	if v.IsNil() {
		return Nil(), nil
	}
	if m.depth++; m.depth > 100 {
		return Value{}, fieldError("a value", v.Type().String(), "is nested too deeply for")
	}
	x, err := m.value(v.Elem())
	m.depth--
	return x, err
}

// shared writes the struct that a pointer points at, the first time; later it is the same object.
func (m *marshaler) shared(v reflect.Value) (Value, *FieldError) {
	if v.IsNil() {
		return Nil(), nil
	}
	if o := m.known(v.UnsafePointer()); o != nil {
		return o.Value(), nil
	}
	o := &Object{}
	m.remember(v.UnsafePointer(), o)
	return o.Value(), m.object(o, v.Elem())
}

func (m *marshaler) list(v reflect.Value) (Value, *FieldError) {
	if v.Type().Elem().Kind() == reflect.Uint8 && v.Type().Elem().PkgPath() == "" {
		if v.Kind() == reflect.Slice {
			return Bytes(slices.Clone(v.Bytes())), nil
		}
		b := make([]byte, v.Len())
		reflect.Copy(reflect.ValueOf(b), v)
		return Bytes(b), nil
	}
	if v.Kind() == reflect.Slice && v.IsNil() {
		return Nil(), nil
	}
	if m.depth++; m.depth > 100 {
		return Value{}, fieldError("a value", v.Type().String(), "is nested too deeply for")
	}
	defer func() { m.depth-- }()
	l := &List{Items: make([]Value, v.Len())}
	items := structPlans.form(v.Type().Elem())
	for i := range l.Items {
		x, err := m.as(items, v.Index(i))
		if err != nil {
			err.Path = "[" + strconv.Itoa(i) + "]" + err.Path
			return Value{}, err
		}
		l.Items[i] = x
	}
	return (&Object{TypeNames: objectArrayTypes[:], Base: l.Value()}).Value(), nil
}

func (m *marshaler) dict(v reflect.Value) (Value, *FieldError) {
	if v.IsNil() {
		return Nil(), nil
	}
	if m.depth++; m.depth > 100 {
		return Value{}, fieldError("a value", v.Type().String(), "is nested too deeply for")
	}
	defer func() { m.depth-- }()
	d := &Dict{Entries: make([]Entry, 0, v.Len())}
	keys, values := structPlans.form(v.Type().Key()), structPlans.form(v.Type().Elem())
	for it := v.MapRange(); it.Next(); {
		k, err := m.as(keys, it.Key())
		if err != nil {
			err.Path = "[key]" + err.Path
			return Value{}, err
		}
		x, err := m.as(values, it.Value())
		if err != nil {
			err.Path = "[" + clip(fmt.Sprint(it.Key())) + "]" + err.Path
			return Value{}, err
		}
		d.Entries = append(d.Entries, Entry{k, x})
	}
	// A map has no order; bytes that are the same each time have one.
	slices.SortStableFunc(d.Entries, func(a, b Entry) int { return cmp.Compare(a.Key.sortKey(), b.Key.sortKey()) })
	return d.Value(), nil
}

// sortKey orders the keys of a dictionary.
func (v Value) sortKey() string {
	if v.kind == KindString {
		return v.text()
	}
	n, ok := v.Int()
	if ok {
		return fmt.Sprintf("%020d", uint64(n)+1<<63) //nolint:gosec // G115: moves the sign to the front
	}
	return v.String()
}

func (m *marshaler) object(o *Object, v reflect.Value) *FieldError {
	p, planErr := structPlans.of(v.Type())
	if planErr != nil {
		return fieldError("a value", v.Type().String(), planErr.Error())
	}
	if m.depth++; m.depth > 100 {
		return fieldError("a value", v.Type().String(), "is nested too deeply for")
	}
	o.TypeNames = p.types
	if len(p.types) > 0 && &p.types[0] != &customObjectTypes[0] && v.CanInterface() {
		if s, ok := reflect.TypeAssert[fmt.Stringer](v); ok {
			o.ToString, o.HasToString = s.String(), true
		}
	}
	all := make(Properties, len(p.fields))
	adapted, extended := 0, p.adapted // where the next of either goes
	for i := range p.fields {
		f := &p.fields[i]
		fv := v.Field(f.index[0])
		if len(f.index) > 1 {
			var err error
			if fv, err = v.FieldByIndexErr(f.index); err != nil {
				continue // behind an embedded pointer that is nil
			}
		}
		if f.omitEmpty && fv.IsZero() {
			continue
		}
		next := &extended
		if f.adapted {
			next = &adapted
		}
		made := &all[*next]
		*next++
		made.Name = f.name
		if f.plain {
			made.Value = scalar(fv)
		}
		if made.Value.kind == KindNone {
			var err *FieldError
			if made.Value, err = m.field(f, fv); err != nil {
				err.Path = "." + f.goName + err.Path
				return err
			}
		}
	}
	o.Adapted, o.Extended = all[:adapted:p.adapted], all[p.adapted:extended]
	m.depth--
	return nil
}

// field makes the value of a field, by its options before its type.
func (m *marshaler) field(f *field, v reflect.Value) (Value, *FieldError) {
	switch {
	case f.text:
		s, err := textForm(v)
		if err != nil {
			return Value{}, fieldError("a string", v.Type().String(), err.Error())
		}
		return s, nil
	case f.enum != nil && f.form != formMarshaler:
		return enumForm(v, f.enum)
	}
	return m.as(f.form, v)
}

// enumForm writes a number as an enum, its text by its String method.
func enumForm(v reflect.Value, types []string) (Value, *FieldError) {
	o := &Object{TypeNames: types, HasToString: true}
	switch {
	case v.CanInt():
		o.Base = Int(v.Int())
		o.ToString = strconv.FormatInt(v.Int(), 10)
	case v.CanUint() && v.Uint() <= math.MaxInt64:
		o.Base = Int(int64(v.Uint())) //nolint:gosec // G115: checked
		o.ToString = strconv.FormatUint(v.Uint(), 10)
	default:
		return Value{}, fieldError("an enum's number", v.Type().String(), "is not")
	}
	if s, ok := reflect.TypeAssert[fmt.Stringer](v); ok {
		o.ToString = s.String()
	}
	return o.Value(), nil
}

// textForm writes a field as text.
func textForm(v reflect.Value) (Value, error) {
	switch x := v.Interface().(type) {
	case *SecureString:
		return Value{}, fmt.Errorf("is a secret and is not")
	case encoding.TextMarshaler:
		if v.Kind() == reflect.Pointer && v.IsNil() {
			return Nil(), nil
		}
		b, err := x.MarshalText()
		return String(string(b)), err
	case fmt.Stringer:
		if v.Kind() == reflect.Pointer && v.IsNil() {
			return Nil(), nil
		}
		return String(x.String()), nil
	}
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return Nil(), nil
		}
		v = v.Elem()
	}
	return String(fmt.Sprint(v.Interface())), nil
}
