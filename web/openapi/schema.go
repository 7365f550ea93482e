package openapi

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"time"

	"example.com/quire/web"
	"example.com/quire/web/internal/bind"
)

// builder makes schemas of Go types. A type has two forms: that of requests, where a
// rule says what must be there, and that of answers, where everything is that is not
// left out when empty. Where the two are equal they are one component.
type builder struct {
	app   *web.App
	plans bind.Plans
	errs  []error
	parts map[reflect.Type]*[2]*component
	order []*component
	stack []reflect.Type // of named types that are no structs, against endless ones
}

type component struct {
	of     reflect.Type
	input  bool
	name   string
	schema object
	refs   []*component
	same   *component // of the answers' form, when this one is equal
}

// reference is written as $ref once the components have their names.
type reference struct{ to *component }

// MarshalJSON writes the $ref.
func (r reference) MarshalJSON() ([]byte, error) {
	to := r.to
	if to.same != nil {
		to = to.same
	}
	return marshal(map[string]string{"$ref": "#/components/schemas/" + to.name})
}

func (b *builder) fail(format string, args ...any) any {
	b.errs = append(b.errs, fmt.Errorf(format, args...))
	return object{}
}

// direction is the form that is asked for, and the component that asks.
type direction struct {
	input bool
	text  bool // a parameter or header field: not JSON
	from  *component
}

// of returns the schema of a type.
func (b *builder) of(t reflect.Type, d direction) any {
	if s, ok := b.app.Validator().(Schemer); ok {
		if given, _ := s.Schema(t, ""); given != nil {
			return fromMap(given)
		}
	}
	if t.Kind() == reflect.Pointer {
		return nullable(b.of(t.Elem(), d), d)
	}
	switch t {
	case reflect.TypeFor[time.Time]():
		return object{{"type", "string"}, {"format", "date-time"}}
	case reflect.TypeFor[time.Duration]():
		if d.text {
			return object{{"type", "string"}, {"description", "A duration such as 1m30s"}}
		}
		return object{{"type", "integer"}, {"format", "int64"}, {"description", "A duration in nanoseconds"}}
	case reflect.TypeFor[json.RawMessage](), reflect.TypeFor[any]():
		return object{}
	case reflect.TypeFor[json.Number]():
		return object{{"type", "number"}}
	case reflect.TypeFor[netip.Addr]():
		return object{{"type", "string"}, {"anyOf", []any{object{{"format", "ipv4"}}, object{{"format", "ipv6"}}}}}
	}
	switch pt := reflect.PointerTo(t); {
	case !d.text && implements[json.Marshaler](t, pt) || !d.text && d.input && implements[json.Unmarshaler](t, pt):
		return object{} // its own business; validate.Type tells what it is
	case d.input && implements[encoding.TextUnmarshaler](t, pt), implements[encoding.TextMarshaler](t, pt):
		s := object{{"type", "string"}}
		if t.Name() == "UUID" {
			s.put("format", "uuid")
		}
		return s
	}
	switch k := t.Kind(); k {
	case reflect.String:
		return object{{"type", "string"}}
	case reflect.Bool:
		return object{{"type", "boolean"}}
	case reflect.Int, reflect.Int64:
		return object{{"type", "integer"}, {"format", "int64"}}
	case reflect.Int32:
		return object{{"type", "integer"}, {"format", "int32"}}
	case reflect.Int8, reflect.Int16:
		half := int64(1) << (t.Bits() - 1)
		return object{{"type", "integer"}, {"minimum", -half}, {"maximum", half - 1}}
	case reflect.Uint, reflect.Uint64, reflect.Uintptr:
		return object{{"type", "integer"}, {"minimum", 0}}
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return object{{"type", "integer"}, {"minimum", 0}, {"maximum", int64(math.MaxUint32 >> (32 - t.Bits()))}}
	case reflect.Float32:
		return object{{"type", "number"}, {"format", "float"}}
	case reflect.Float64:
		return object{{"type", "number"}, {"format", "double"}}
	case reflect.Slice, reflect.Array, reflect.Map:
		return b.container(t, d)
	case reflect.Struct:
		return b.structure(t, d)
	case reflect.Interface:
		return object{}
	default:
		return b.fail("type %s: a %s has no JSON form", t, k)
	}
}

func implements[I any](types ...reflect.Type) bool {
	return slices.ContainsFunc(types, func(t reflect.Type) bool { return t.Implements(reflect.TypeFor[I]()) })
}

func (b *builder) container(t reflect.Type, d direction) any {
	if t.Name() != "" {
		if slices.Contains(b.stack, t) {
			return object{}
		}
		b.stack = append(b.stack, t)
		defer func() { b.stack = b.stack[:len(b.stack)-1] }()
	}
	var kind any = []string{"array", "null"}
	if d.text {
		kind = "array"
	}
	switch {
	case isBytes(t):
		return object{{"type", []string{"string", "null"}}, {"contentEncoding", "base64"}}
	case t.Kind() == reflect.Array:
		return object{{"type", "array"}, {"items", b.of(t.Elem(), d)}, {"minItems", t.Len()}, {"maxItems", t.Len()}}
	case t.Kind() == reflect.Slice:
		return object{{"type", kind}, {"items", b.of(t.Elem(), d)}}
	}
	return object{{"type", []string{"object", "null"}}, {"additionalProperties", b.of(t.Elem(), d)}}
}

// structure returns the reference to a named struct's component, the schema of
// another struct.
func (b *builder) structure(t reflect.Type, d direction) any {
	if t.Name() == "" {
		return b.fields(t, d)
	}
	if b.parts == nil {
		b.parts = map[reflect.Type]*[2]*component{}
	}
	pair := b.parts[t]
	if pair == nil {
		pair = new([2]*component)
		b.parts[t] = pair
	}
	side := 0
	if d.input {
		side = 1
	}
	c := pair[side]
	if c == nil {
		c = &component{of: t, input: d.input}
		pair[side] = c
		b.order = append(b.order, c)
		c.schema = b.fields(t, direction{input: d.input, from: c})
	}
	if d.from != nil {
		d.from.refs = append(d.from.refs, c)
	}
	return reference{c}
}

// fields is the schema of a struct as JSON writes it.
func (b *builder) fields(t reflect.Type, d direction) object {
	var properties object
	var required []string
	fields := b.plans.JSONFields(t)
	slices.SortStableFunc(fields, func(x, y bind.JSONField) int { return slices.Compare(x.Field.Index, y.Field.Index) })
	for _, f := range fields {
		_, options, _ := strings.Cut(f.Field.Tag.Get("json"), ",")
		omitted := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
		s := b.of(f.Field.Type, d)
		if f.Quoted && f.Field.Type.Kind() >= reflect.Bool && f.Field.Type.Kind() <= reflect.Float64 {
			s = object{{"type", "string"}}
		}
		s, needed := b.described(s, f.Field, d)
		if !d.input && omitted {
			s = notNull(s) // nothing is written in place of null
		}
		properties.put(f.Name, s)
		if d.input && needed || !d.input && !omitted {
			required = append(required, f.Name)
		}
	}
	s := object{{"type", "object"}, {"properties", properties}}
	if properties == nil {
		s.set("properties", object{})
	}
	if len(required) > 0 {
		s.put("required", required)
	}
	s.put("additionalProperties", false)
	return s
}

// described adds what the tags of a field say to the schema of its type.
func (b *builder) described(s any, sf reflect.StructField, d direction) (any, bool) {
	var more object
	needed := false
	if rules, ok := b.app.Validator().(Schemer); ok && sf.Tag.Get("validate") != "" {
		var keywords map[string]any
		keywords, needed = rules.Schema(sf.Type, sf.Tag.Get("validate"))
		more = fromMap(keywords)
		if needed {
			s = notNull(s)
		}
	}
	if text := sf.Tag.Get("doc"); text != "" {
		more.set("description", text)
	}
	if text, ok := sf.Tag.Lookup("default"); ok && d.text && text != "" {
		more.set("default", b.value(sf, "default", text))
	}
	if text, ok := sf.Tag.Lookup("example"); ok {
		more.set("examples", []any{b.value(sf, "example", text)})
	}
	if sf.Tag.Get("deprecated") == "true" {
		more.set("deprecated", true)
	}
	return merge(s, more), needed
}

// value is a text of a tag as a value of the field's type.
func (b *builder) value(sf reflect.StructField, tag, text string) any {
	t := sf.Type
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var quoted any = text
	for _, candidate := range []any{json.RawMessage(text), quoted} {
		raw, err := marshal(candidate)
		if err == nil && json.Unmarshal(raw, reflect.New(t).Interface()) == nil {
			return candidate
		}
	}
	if t == reflect.TypeFor[time.Duration]() || bind.Settable(t) != "" && tag == "default" {
		return text
	}
	return b.fail("field %s: %s:%q is no %s", sf.Name, tag, text, t)
}

// merge adds keywords to a schema. Both may be false of a number: the narrower bound
// counts, and what cannot be one stands under allOf.
func merge(s any, more object) any {
	if len(more) == 0 {
		return s
	}
	base, ok := s.(object)
	if !ok { // beside a $ref other keywords may stand (JSON Schema 2020-12)
		return append(object{{"allOf", []any{s}}}, more...)
	}
	base = slices.Clone(base)
	for _, m := range more {
		old := base.get(m.name)
		inner, isObject := m.value.(object)
		switch {
		case old == nil || m.name == "description":
			base.set(m.name, m.value)
		case isObject && (m.name == "items" || m.name == "additionalProperties"):
			base.set(m.name, merge(old, inner))
		case m.name == "minimum" || m.name == "maximum":
			if a, b := number(old), number(m.value); (a < b) == (m.name == "minimum") {
				base.set(m.name, m.value)
			}
		default:
			all, _ := base.get("allOf").([]any)
			base.set("allOf", append(slices.Clone(all), object{m}))
		}
	}
	return base
}

func number(v any) float64 {
	x := reflect.ValueOf(v)
	switch {
	case x.CanInt():
		return float64(x.Int())
	case x.CanFloat():
		return x.Float()
	}
	return 0
}

// fromMap orders keywords that came without order.
func fromMap(m map[string]any) object {
	var o object
	for _, name := range slices.Sorted(maps.Keys(m)) {
		v := m[name]
		if inner, ok := v.(map[string]any); ok {
			v = fromMap(inner)
		}
		o.put(name, v)
	}
	return o
}

// nullable lets a schema take null too.
func nullable(s any, d direction) any {
	if d.text {
		return s
	}
	o, ok := s.(object)
	if !ok {
		return object{{"anyOf", []any{s, object{{"type", "null"}}}}}
	}
	if len(o) == 0 {
		return o
	}
	o = slices.Clone(o)
	switch kind := o.get("type").(type) {
	case string:
		o.set("type", []string{kind, "null"})
	case []string:
	default:
		return object{{"anyOf", []any{s, object{{"type", "null"}}}}}
	}
	return o
}

// notNull undoes nullable.
func notNull(s any) any {
	o, ok := s.(object)
	if !ok {
		return s
	}
	if either, isEither := o.get("anyOf").([]any); isEither && len(o) == 1 && len(either) == 2 {
		if null, isNull := either[1].(object); isNull && null.get("type") == "null" {
			return either[0]
		}
	}
	if kinds, several := o.get("type").([]string); several && len(kinds) == 2 && kinds[1] == "null" {
		o = slices.Clone(o)
		o.set("type", kinds[0])
	}
	return o
}
