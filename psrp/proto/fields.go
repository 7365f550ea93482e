package proto

import (
	"fmt"
	"math"

	"example.com/quire/psrp/clixml"
)

// fields reads the properties of a message. The first error sticks; names are found without
// regard to case, and properties that are not asked for are ignored (MS-PSRP 2.2.2).
type fields struct {
	v   clixml.Value
	err error
}

func (f *fields) fail(name, format string, a ...any) {
	if f.err == nil {
		f.err = fmt.Errorf("field %s: %s", name, fmt.Sprintf(format, a...))
	}
}

// get returns a property that must be there, perhaps null.
func (f *fields) get(name string) clixml.Value {
	v, ok := f.v.Get(name)
	if !ok {
		f.fail(name, "missing")
	}
	return v
}

// opt returns a property that may be absent or null: both are the absent value.
func (f *fields) opt(name string) clixml.Value {
	v, _ := f.v.Get(name)
	if v.IsNil() {
		return clixml.Value{}
	}
	return v
}

func (f *fields) text(name string) string {
	v := f.get(name)
	s, ok := v.Base().Text()
	if !ok && f.err == nil {
		f.fail(name, "%v, not a string", v.Kind())
	}
	return s
}

// optText reads a string that may be absent or null.
func (f *fields) optText(name string) string {
	v := f.opt(name)
	if v.IsNil() {
		return ""
	}
	s, ok := v.Base().Text()
	if !ok {
		f.fail(name, "%v, not a string", v.Kind())
	}
	return s
}

func (f *fields) int32(name string) int32 {
	n := f.int64(name)
	if n < math.MinInt32 || n > math.MaxInt32 {
		f.fail(name, "%d is not a 32-bit number", n)
		return 0
	}
	return int32(n)
}

func (f *fields) int64(name string) int64 {
	v := f.get(name)
	n, ok := v.Int()
	if !ok && f.err == nil {
		f.fail(name, "%v, not a number", v.Kind())
	}
	return n
}

func (f *fields) uint32(name string) uint32 {
	n := f.int64(name)
	if n < 0 || n > math.MaxUint32 {
		f.fail(name, "%d is not an unsigned 32-bit number", n)
		return 0
	}
	return uint32(n)
}

func (f *fields) bool(name string) bool {
	v := f.get(name)
	b, ok := v.Base().Bool()
	if !ok && f.err == nil {
		f.fail(name, "%v, not a truth value", v.Kind())
	}
	return b
}

func (f *fields) optBool(name string) bool {
	if f.opt(name).IsNil() {
		return false
	}
	return f.bool(name)
}

func (f *fields) version(name string) clixml.Version {
	v := f.get(name)
	x, ok := v.Base().Version()
	if !ok && f.err == nil {
		f.fail(name, "%v, not a version", v.Kind())
	}
	return x
}

// enum reads a number, an enum's object or the name of one of its values.
func (f *fields) enum(name string, t *enumTable) int32 {
	v := f.get(name)
	if f.err != nil {
		return 0
	}
	if n, ok := v.Int(); ok && n == int64(int32(n)) { //nolint:gosec // G115: the comparison is the check
		return int32(n) //nolint:gosec // G115: checked
	}
	if s, ok := v.Base().Text(); ok {
		if n, ok := t.parse(s); ok {
			return n
		}
		f.fail(name, "%q is not a value of %s", s, t.typeName())
		return 0
	}
	f.fail(name, "%v, not a value of %s", v.Kind(), t.typeName())
	return 0
}

// texts reads a list of strings; absent and null are none.
func (f *fields) texts(name string) []string {
	v := f.opt(name)
	if v.IsNil() {
		return nil
	}
	l, ok := v.List()
	if !ok {
		if s, ok := v.Base().Text(); ok {
			return []string{s}
		}
		f.fail(name, "%v, not a list", v.Kind())
		return nil
	}
	out := make([]string, 0, len(l.Items))
	for _, item := range l.Items {
		s, ok := item.Base().Text()
		if !ok {
			f.fail(name, "%v in a list of strings", item.Kind())
			return nil
		}
		out = append(out, s)
	}
	return out
}

// object makes the body of a message: an object without type names.
func object(p ...clixml.Property) clixml.Value {
	return (&clixml.Object{Extended: p}).Value()
}

func prop(name string, v clixml.Value) clixml.Property { return clixml.Property{Name: name, Value: v} }

// textOrNil is a string, null when it is empty.
func textOrNil(s string) clixml.Value {
	if s == "" {
		return clixml.Nil()
	}
	return clixml.String(s)
}

// orNil is v, null when it is absent.
func orNil(v clixml.Value) clixml.Value {
	if v.Kind() == clixml.KindNone {
		return clixml.Nil()
	}
	return v
}

func stringArray(s []string) clixml.Value {
	l := &clixml.List{}
	for _, x := range s {
		l.Items = append(l.Items, clixml.String(x))
	}
	return (&clixml.Object{TypeNames: []string{"System.String[]", "System.Array", "System.Object"}, Base: l.Value()}).Value()
}
