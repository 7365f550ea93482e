package bind

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"example.com/quire/internal/nearest"
	"example.com/quire/internal/strictjson"
)

// JSON reads one JSON value into v, which can be set. What is wrong with the text
// itself is one fault; of a text in order every name that is unknown and every
// value that does not fit is told. lax skips unknown names, save those that
// differ from a known one in case only.
//
// Tags and embedding are those of encoding/json; names are compared exactly, null
// fits only what can be nil, and an integer that a float64 would change goes into
// an interface as a json.Number.
func (p *Plans) JSON(text []byte, v reflect.Value, l strictjson.Limits, lax bool) []Fault {
	var faults []Fault
	err := strictjson.Read(text, l, func(in *strictjson.Reader) {
		r := jsonReader{Reader: in, plans: p, lax: lax}
		r.value(v)
		faults = r.faults
	})
	if err == nil {
		return faults
	}
	wrong, ok := err.(*strictjson.Fault) //nolint:errorlint // what Read returns is not wrapped
	if !ok {
		return []Fault{{Kind: strictjson.Syntax, Want: "JSON", Err: err}}
	}
	f := Fault{Kind: wrong.Kind, Pointer: wrong.Pointer, Offset: wrong.Offset, Got: shorten(wrong.Got), Want: wrong.Want, Err: wrong.Err}
	switch wrong.Kind {
	case strictjson.Missing:
		f.Want = "a JSON value"
	case strictjson.Duplicate:
		f.Want = "each name once"
	case strictjson.Depth, strictjson.Nodes, strictjson.UTF8:
		f.Want = wrong.Msg
	case strictjson.Syntax:
		if f.Want == "" {
			f.Got, f.Want = "", wrong.Msg
		}
	}
	return []Fault{f}
}

// jsonReader reads a text into Go values.
type jsonReader struct {
	*strictjson.Reader
	plans  *Plans
	lax    bool
	faults []Fault
}

func (r *jsonReader) full() bool { return len(r.faults) == maxFaults }

// fail reports what was read last.
func (r *jsonReader) fail(f Fault) {
	if r.full() {
		return
	}
	f.Pointer, f.Offset = r.Pointer(), r.Start()
	r.faults = append(r.faults, f)
}

// misfit reports a value, which was read last.
func (r *jsonReader) misfit(value []byte, kind strictjson.Kind, want string, err error) {
	r.fail(Fault{Kind: kind, Got: gotJSON(value), Want: want, Err: err})
}

// gotJSON names a value: a number and a boolean in full, of others the kind.
func gotJSON(value []byte) string {
	if strings.IndexByte(`{["n`, value[0]) >= 0 {
		return strictjson.KindName(value[0])
	}
	return shorten(string(value))
}

func wantJSON(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return wantJSON(t.Elem())
	case reflect.String:
		return "a string"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "a string in base64"
		}
		return "an array"
	case reflect.Array:
		return "an array of " + strconv.Itoa(t.Len())
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return want(t)
}

// value reads the next value into v.
func (r *jsonReader) value(v reflect.Value) {
	t, k, c := v.Type(), v.Kind(), r.Kind()
	if c == 'n' {
		null := r.Value()
		switch {
		case k == reflect.Pointer || k == reflect.Interface:
			v.SetZero()
		case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) && t != reflect.TypeFor[time.Time](): // which passes over null
			r.own(v, null)
		case k == reflect.Map || k == reflect.Slice:
			v.SetZero()
		default:
			r.misfit(null, strictjson.Type, wantJSON(t), nil)
		}
		return
	}
	if k == reflect.Pointer {
		if v.IsNil() {
			v.Set(reflect.New(t.Elem()))
		}
		r.value(v.Elem())
		return
	}
	if r.plans.ownJSON(t) {
		r.own(v, r.Value())
		return
	}
	switch {
	case k == reflect.Interface && t.NumMethod() == 0:
		v.Set(reflect.ValueOf(r.free()))
	case k == reflect.Struct && c == '{':
		r.structure(v)
	case k == reflect.Map && c == '{' && mapKey(t.Key()):
		r.mapping(v)
	case k == reflect.Slice && c == '[':
		r.slice(v)
	case k == reflect.Array && c == '[':
		r.array(v)
	case k == reflect.Slice && c == '"' && t.Elem().Kind() == reflect.Uint8:
		b, err := base64.StdEncoding.AppendDecode(nil, r.Text())
		if err != nil {
			r.misfit([]byte(`"`), strictjson.Type, wantJSON(t), err)
			return
		}
		v.SetBytes(b)
	case k == reflect.String && t == reflect.TypeFor[json.Number]() && c == '0':
		v.SetString(string(r.Value()))
	case k == reflect.String && c == '"' && t != reflect.TypeFor[json.Number]():
		v.SetString(string(r.Text()))
	case k == reflect.Bool && (c == 't' || c == 'f'):
		r.Value()
		v.SetBool(c == 't')
	case c == '0':
		r.number(v)
	default:
		r.misfit(r.Value(), strictjson.Type, wantJSON(t), nil)
	}
}

// ownJSON reports whether a type reads JSON or text by a method of its own.
func (p *Plans) ownJSON(t reflect.Type) bool {
	if t.PkgPath() == "" && t.Kind() != reflect.Struct {
		return false // without a name of its own a type has no methods, unless it embeds one that has
	}
	if known, ok := p.owns.Load(t); ok {
		return known.(bool) // only this function stores here
	}
	to := reflect.PointerTo(t)
	own := to.Implements(reflect.TypeFor[json.Unmarshaler]()) || to.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
	p.owns.Store(t, own)
	return own
}

// own lets the type read a value.
func (r *jsonReader) own(v reflect.Value, value []byte) {
	if err := json.Unmarshal(value, v.Addr().Interface()); err != nil {
		r.misfit(value, strictjson.Type, want(v.Type()), err)
	}
}

func (r *jsonReader) number(v reflect.Value) {
	value, t := r.Value(), v.Type()
	text := string(value)
	var err error
	switch k := t.Kind(); {
	case k >= reflect.Int && k <= reflect.Int64:
		var n int64
		if n, err = strconv.ParseInt(text, 10, t.Bits()); err == nil {
			v.SetInt(n)
		}
	case k >= reflect.Uint && k <= reflect.Uintptr:
		var n uint64
		if n, err = strconv.ParseUint(text, 10, t.Bits()); err == nil {
			v.SetUint(n)
		}
	case k == reflect.Float32 || k == reflect.Float64:
		var n float64
		if n, err = strconv.ParseFloat(text, t.Bits()); err == nil {
			v.SetFloat(n)
		}
	default:
		r.misfit(value, strictjson.Type, wantJSON(t), nil)
		return
	}
	if err != nil {
		r.misfit(value, strictjson.Range, wantJSON(t), nil)
	}
}

func (r *jsonReader) structure(v reflect.Value) {
	plan := r.plans.jsonFields(v.Type())
	r.Each(func(int) {
		name := r.Text()
		f := plan.find(name)
		if f == nil {
			r.unknown(plan, string(name))
			return
		}
		field := fieldAt(v, f.index)
		switch {
		case !field.IsValid():
			r.unknown(plan, f.name)
		case f.quoted && r.Kind() == '"' && scalar(f.typ):
			r.quoted(field)
		default:
			r.value(field)
		}
	})
}

func scalar(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() >= reflect.Bool && t.Kind() <= reflect.Float64
}

// quoted reads a number or boolean that stands in a string.
func (r *jsonReader) quoted(v reflect.Value) {
	if err := setter(v.Type())(v, string(r.Text())); err != nil {
		r.misfit([]byte(`"`), strictjson.Type, wantJSON(v.Type())+" in a string", nil)
	}
}

// unknown reports a name, which was read last, and passes over its value.
func (r *jsonReader) unknown(plan *jsonPlan, name string) {
	near := nearest.Name(name, plan.names)
	if !r.lax || strings.EqualFold(near, name) {
		r.fail(Fault{Kind: strictjson.Unknown, Got: shorten(name), Want: "a known field", Near: near})
	}
	r.Value()
}

// mapKey reports whether a type can be the key of a map: text, an integer, or one
// that reads text.
func mapKey(t reflect.Type) bool {
	k := t.Kind()
	return k == reflect.String || k >= reflect.Int && k <= reflect.Uint64 || readsText(t)
}

func (r *jsonReader) mapping(v reflect.Value) {
	t := v.Type()
	if v.IsNil() {
		v.Set(reflect.MakeMap(t))
	}
	set := setter(t.Key())
	r.Each(func(int) {
		name := string(r.Text())
		key, elem := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		if err := set(key, name); err != nil {
			r.fail(Fault{Kind: strictjson.Type, Got: shorten(name), Want: "a name that is " + want(t.Key())})
			r.Value()
			return
		}
		r.value(elem)
		v.SetMapIndex(key, elem)
	})
}

func (r *jsonReader) slice(v reflect.Value) {
	v.SetLen(0)
	if v.IsNil() {
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	}
	r.Each(func(i int) {
		if r.full() { // what follows would be read for nothing
			r.Value()
			return
		}
		v.Grow(1)
		v.SetLen(i + 1)
		v.Index(i).SetZero()
		r.value(v.Index(i))
	})
}

func (r *jsonReader) array(v reflect.Value) {
	n := 0
	r.Each(func(i int) {
		if n = i + 1; i < v.Len() {
			r.value(v.Index(i))
		} else {
			r.Value()
		}
	})
	if n != v.Len() {
		r.misfit([]byte("["), strictjson.Range, wantJSON(v.Type()), nil)
	}
}

// free reads the next value as encoding/json does into an interface.
func (r *jsonReader) free() any {
	switch r.Kind() {
	case '{':
		m := map[string]any{}
		r.Each(func(int) {
			name := string(r.Text())
			m[name] = r.free()
		})
		return m
	case '[':
		list := []any{}
		r.Each(func(int) { list = append(list, r.free()) })
		return list
	case '"':
		return string(r.Text())
	}
	switch text := string(r.Value()); text {
	case "null":
		return nil
	case "true":
		return true
	case "false":
		return false
	default:
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || math.Abs(n) >= 1<<53 && !strings.ContainsAny(text, ".eE") {
			return json.Number(text)
		}
		return n
	}
}
