package web

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// BindJSON reads the body as one JSON value into dst, a pointer. It is strict:
// the media type must be JSON; duplicate and unknown names, invalid UTF-8, lone
// surrogates, too deep or too many values and anything after the value are
// refused. Names are compared exactly, unlike in encoding/json. The error is a
// *BindError with pointer, line and column, or ErrBodyTooLarge.
func (c *Context) BindJSON(dst any) error {
	c.live()
	v := reflect.ValueOf(dst)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return errors.New("web: bind body: the target is no pointer")
	}
	if err := c.requireMedia(isJSONType, "application/json"); err != nil {
		return err
	}
	data, err := c.Body()
	if err != nil {
		return err
	}
	lax := c.route != nil && c.route.laxJSON
	return c.app.decodeJSON(data, v, lax)
}

// AllowUnknownFields is a RouteOption: BindJSON skips names that the type does
// not have. Danger: a misspelt field is then silently without effect.
func AllowUnknownFields() RouteOption { return optionFunc(func(r *Route) { r.laxJSON = true }) }

func (a *App) decodeJSON(data []byte, dst reflect.Value, lax bool) error {
	s := scanner{data: data, plans: &a.plans, lax: lax, maxDepth: a.limits.JSONDepth, maxNodes: a.limits.JSONNodes, find: -1}
	if err := s.document(dst.Type().Elem()); err != nil {
		return err
	}
	err := json.Unmarshal(data, dst.Interface())
	if err == nil {
		return nil
	}
	var te *json.UnmarshalTypeError
	if !errors.As(err, &te) {
		// A method UnmarshalJSON or UnmarshalText of some type refused its text.
		return &BindError{Source: "body", Kind: BindType, Want: "values of the documented form", Err: err}
	}
	e := &BindError{Source: "body", Kind: BindType, Got: te.Value, Want: wantedJSON(te.Type), Err: err}
	if number, ok := strings.CutPrefix(te.Value, "number "); ok {
		e.Got, e.Kind = shorten(number), BindRange
		if te.Type.Kind() == reflect.String || te.Type.Kind() == reflect.Bool {
			e.Kind = BindType
		}
	}
	// The pointer is found by scanning once more, up to the offset.
	where := scanner{data: data, plans: &a.plans, lax: true, find: int(te.Offset)}
	_ = where.document(nil) // the document is known to be well-formed; only the place matters
	e.Pointer = where.found
	e.Line, e.Column = position(data, max(where.foundAt, 0))
	return e
}

func wantedJSON(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return wantedText(t)
}

// wantedText names the values that a type takes.
func wantedText(t reflect.Type) string {
	switch k := t.Kind(); {
	case t == reflect.TypeFor[time.Duration]():
		return "a duration such as 1m30s"
	case t == reflect.TypeFor[time.Time]():
		return "a time such as 2024-02-29T12:00:00Z"
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return "a valid " + t.Name()
	case k >= reflect.Int && k <= reflect.Int64:
		return fmt.Sprintf("an integer of %d bits", t.Bits())
	case k >= reflect.Uint && k <= reflect.Uintptr:
		return fmt.Sprintf("a non-negative integer of %d bits", t.Bits())
	case k == reflect.Float32 || k == reflect.Float64:
		return "a number"
	case k == reflect.Bool:
		return "true or false"
	}
	return "a " + t.String()
}

// BindPath fills the fields of a struct that have a path tag with the route's
// parameters. The error is a *BindError.
func (c *Context) BindPath(dst any) error {
	return c.bindFields(dst, "path", func(name string) ([]string, error) {
		if v, ok := c.param(name); ok {
			return []string{v}, nil
		}
		return nil, nil
	})
}

// BindQuery fills the fields that have a query tag. A key that is absent leaves
// its field as it is, or sets the default tag's value; of a repeated key a
// slice takes all values, any other field the first.
func (c *Context) BindQuery(dst any) error {
	return c.bindFields(dst, "query", func(name string) ([]string, error) {
		var all []string
		for rest := c.req.URL.RawQuery; rest != ""; {
			var pair string
			pair, rest, _ = strings.Cut(rest, "&")
			v, ok, err := queryPair(pair, name)
			if err != nil {
				return nil, &BindError{Source: "query", Name: name, Kind: BindSyntax, Want: "valid percent escapes", Err: err}
			}
			if ok {
				all = append(all, v)
			}
		}
		return all, nil
	})
}

// BindHeader fills the fields that have a header tag.
func (c *Context) BindHeader(dst any) error {
	return c.bindFields(dst, "header", func(name string) ([]string, error) {
		return c.req.Header.Values(name), nil
	})
}

// boundField is a field of a struct and how text is set into it.
type boundField struct {
	index []int
	name  string
	def   string
	set   func(reflect.Value, string) error
	elem  bool // set takes one element of a slice
	want  string
}

type planKey struct {
	t   reflect.Type
	tag string
}

func (c *Context) bindFields(dst any, tag string, values func(string) ([]string, error)) error {
	c.live()
	v := reflect.ValueOf(dst)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("web: bind %s: the target is no pointer to a struct", tag)
	}
	v = v.Elem()
	plan, err := c.app.fieldPlan(v.Type(), tag)
	if err != nil {
		return err
	}
	for _, f := range plan {
		texts, err := values(f.name)
		if err != nil {
			return err
		}
		if len(texts) == 0 {
			if f.def == "" {
				continue
			}
			texts = []string{f.def}
		}
		field := fieldAt(v, f.index)
		if f.elem {
			field.Set(reflect.MakeSlice(field.Type(), len(texts), len(texts)))
		}
		for i, text := range texts {
			at := field
			if f.elem {
				at = field.Index(i)
			}
			if err := f.set(at, text); err != nil {
				return numberError(tag, f.name, text, f.want, err)
			}
			if !f.elem {
				break
			}
		}
	}
	return nil
}

// fieldAt is FieldByIndex that makes embedded structs behind nil pointers.
func fieldAt(v reflect.Value, index []int) reflect.Value {
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

// fieldPlan returns, and remembers, what of a struct a tag binds.
func (a *App) fieldPlan(t reflect.Type, tag string) ([]boundField, error) {
	key := planKey{t, tag}
	if p, ok := a.plans.Load(key); ok {
		return p.([]boundField), nil // only this function stores under a planKey
	}
	var plan []boundField
	for _, sf := range reflect.VisibleFields(t) {
		spec, ok := sf.Tag.Lookup(tag)
		if !ok || !sf.IsExported() {
			continue
		}
		f := boundField{index: sf.Index, name: spec, def: sf.Tag.Get("default"), want: wantedText(sf.Type)}
		if f.set = setterOf(sf.Type); f.set == nil && sf.Type.Kind() == reflect.Slice {
			f.set, f.elem, f.want = setterOf(sf.Type.Elem()), true, wantedText(sf.Type.Elem())
		}
		if f.set == nil || f.name == "" {
			return nil, fmt.Errorf("web: bind %s: field %s of %s cannot be bound", tag, sf.Name, t)
		}
		plan = append(plan, f)
	}
	a.plans.Store(key, plan)
	return plan, nil
}

// setterOf returns how a text becomes a value of type t, nil when it cannot.
func setterOf(t reflect.Type) func(reflect.Value, string) error {
	if t == reflect.TypeFor[time.Duration]() {
		return func(v reflect.Value, s string) error {
			d, err := time.ParseDuration(s)
			v.SetInt(int64(d))
			return err
		}
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return func(v reflect.Value, s string) error {
			u, ok := reflect.TypeAssert[encoding.TextUnmarshaler](v.Addr())
			if !ok {
				return fmt.Errorf("%s does not read text", t)
			}
			return u.UnmarshalText([]byte(s))
		}
	}
	switch k := t.Kind(); {
	case k == reflect.String:
		return func(v reflect.Value, s string) error { v.SetString(s); return nil }
	case k == reflect.Bool:
		return setBool
	case k >= reflect.Int && k <= reflect.Int64:
		return func(v reflect.Value, s string) error {
			n, err := strconv.ParseInt(s, 10, t.Bits())
			v.SetInt(n)
			return err
		}
	case k >= reflect.Uint && k <= reflect.Uint64:
		return func(v reflect.Value, s string) error {
			n, err := strconv.ParseUint(s, 10, t.Bits())
			v.SetUint(n)
			return err
		}
	case k == reflect.Float32 || k == reflect.Float64:
		return func(v reflect.Value, s string) error {
			n, err := strconv.ParseFloat(s, t.Bits())
			v.SetFloat(n)
			return err
		}
	case k == reflect.Pointer:
		inner := setterOf(t.Elem())
		if inner == nil {
			return nil
		}
		return func(v reflect.Value, s string) error {
			v.Set(reflect.New(t.Elem()))
			return inner(v.Elem(), s)
		}
	}
	return nil
}

func setBool(v reflect.Value, s string) error {
	switch s {
	case "true", "1":
		v.SetBool(true)
	case "false", "0":
		v.SetBool(false)
	default:
		return strconv.ErrSyntax
	}
	return nil
}
