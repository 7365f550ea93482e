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
	"unicode/utf16"
	"unicode/utf8"

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
	if _, err := strictjson.Check(text, l); err != nil {
		wrong, ok := err.(*strictjson.Fault) //nolint:errorlint // what Check returns is not wrapped
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
	r := jsonReader{plans: p, text: text, lax: lax}
	r.path = r.room[:0]
	r.space()
	r.value(v)
	return r.faults
}

// jsonReader reads a text that is known to be well-formed.
type jsonReader struct {
	plans  *Plans
	text   []byte
	i      int
	lax    bool
	path   []step // to the value that is read
	room   [8]step
	faults []Fault
}

// step is the name of a member or the index of an element.
type step struct {
	name  string
	index int // -1 beside a name
}

// pointer is the place of the value that is read (RFC 6901).
func (r *jsonReader) pointer() string {
	var b strings.Builder
	for _, s := range r.path {
		b.WriteByte('/')
		if s.index >= 0 {
			b.WriteString(strconv.Itoa(s.index))
		} else {
			b.WriteString(strictjson.Token(s.name))
		}
	}
	return b.String()
}

func (r *jsonReader) full() bool { return len(r.faults) == maxFaults }

func (r *jsonReader) fail(f Fault) {
	if r.full() {
		return
	}
	f.Pointer = r.pointer()
	r.faults = append(r.faults, f)
}

// misfit reports the value at start, which ends at r.i.
func (r *jsonReader) misfit(start int, kind strictjson.Kind, want string, err error) {
	r.fail(Fault{Kind: kind, Offset: start, Got: gotJSON(r.text[start:r.i]), Want: want, Err: err})
}

// gotJSON names a value: a number in full, of others the kind.
func gotJSON(value []byte) string {
	switch value[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 'n':
		return "null"
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

func (r *jsonReader) space() {
	for r.i < len(r.text) && (r.text[r.i] == ' ' || r.text[r.i] == '\n' || r.text[r.i] == '\t' || r.text[r.i] == '\r') {
		r.i++
	}
}

// skip moves behind the value at r.i.
func (r *jsonReader) skip() {
	switch r.text[r.i] {
	case '"':
		r.skipString()
	case '{', '[':
		for depth := 0; ; r.i++ {
			switch r.text[r.i] {
			case '"':
				r.skipString()
				r.i--
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					r.i++
					return
				}
			}
		}
	default:
		for r.i < len(r.text) && strings.IndexByte(" \n\t\r,]}", r.text[r.i]) < 0 {
			r.i++
		}
	}
}

func (r *jsonReader) skipString() {
	for r.i++; r.text[r.i] != '"'; r.i++ {
		if r.text[r.i] == '\\' {
			r.i++
		}
	}
	r.i++
}

// string takes the string at r.i. Without escapes it is a part of the text.
func (r *jsonReader) string() []byte {
	start := r.i
	r.skipString()
	raw := r.text[start+1 : r.i-1]
	for i, c := range raw {
		if c == '\\' {
			return unescape(raw, i)
		}
	}
	return raw
}

// unescape decodes raw, whose first escape is at i.
func unescape(raw []byte, i int) []byte {
	out := append(make([]byte, 0, len(raw)), raw[:i]...)
	for i < len(raw) {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			i++
			continue
		}
		c := raw[i+1]
		i += 2
		if c == 'u' {
			one := hex4(raw[i:])
			i += 4
			if utf16.IsSurrogate(one) { // and the text has been checked: its other half follows
				one = utf16.DecodeRune(one, hex4(raw[i+2:]))
				i += 6
			}
			out = utf8.AppendRune(out, one)
			continue
		}
		if k := strings.IndexByte("bfnrt", c); k >= 0 {
			c = "\b\f\n\r\t"[k]
		}
		out = append(out, c)
	}
	return out
}

func hex4(s []byte) rune {
	n, _ := strconv.ParseUint(string(s[:4]), 16, 16) // checked before
	return rune(n)
}

// value reads the value at r.i into v.
func (r *jsonReader) value(v reflect.Value) {
	start, t := r.i, v.Type()
	if r.text[r.i] == 'n' {
		r.skip()
		switch k := t.Kind(); {
		case k == reflect.Pointer || k == reflect.Interface:
			v.SetZero()
		case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) && t != reflect.TypeFor[time.Time](): // which passes over null
			r.own(v, start)
		case k == reflect.Map || k == reflect.Slice:
			v.SetZero()
		default:
			r.misfit(start, strictjson.Type, wantJSON(t), nil)
		}
		return
	}
	if t.Kind() == reflect.Pointer {
		if v.IsNil() {
			v.Set(reflect.New(t.Elem()))
		}
		r.value(v.Elem())
		return
	}
	if r.plans.ownJSON(t) {
		r.skip()
		r.own(v, start)
		return
	}
	switch k, c := t.Kind(), r.text[r.i]; {
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
		text := r.string()
		b, err := base64.StdEncoding.AppendDecode(nil, text)
		if err != nil {
			r.misfit(start, strictjson.Type, wantJSON(t), err)
			return
		}
		v.SetBytes(b)
	case k == reflect.String && t == reflect.TypeFor[json.Number]() && (c == '-' || c >= '0' && c <= '9'):
		r.skip()
		v.SetString(string(r.text[start:r.i]))
	case k == reflect.String && c == '"' && t != reflect.TypeFor[json.Number]():
		v.SetString(string(r.string()))
	case k == reflect.Bool && (c == 't' || c == 'f'):
		r.skip()
		v.SetBool(c == 't')
	case c == '-' || c >= '0' && c <= '9':
		r.skip()
		r.number(v, start)
	default:
		r.skip()
		r.misfit(start, strictjson.Type, wantJSON(t), nil)
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

// own lets the type read what lies from start to r.i.
func (r *jsonReader) own(v reflect.Value, start int) {
	if err := json.Unmarshal(r.text[start:r.i], v.Addr().Interface()); err != nil {
		r.misfit(start, strictjson.Type, want(v.Type()), err)
	}
}

func (r *jsonReader) number(v reflect.Value, start int) {
	text := string(r.text[start:r.i])
	kind, t := strictjson.Range, v.Type()
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
		r.misfit(start, strictjson.Type, wantJSON(t), nil)
		return
	}
	if err != nil {
		r.misfit(start, kind, wantJSON(t), nil)
	}
}

// each reads the members of the object or array at r.i; one takes a member.
func (r *jsonReader) each(closing byte, one func(i int)) {
	r.i++
	r.space()
	for i := 0; r.text[r.i] != closing; i++ {
		one(i)
		r.space()
		if r.text[r.i] == ',' {
			r.i++
			r.space()
		}
	}
	r.i++
}

// named reads a name and moves to its value.
func (r *jsonReader) named() (name []byte, at int) {
	at = r.i
	name = r.string()
	r.space()
	r.i++ // the colon
	r.space()
	return name, at
}

func (r *jsonReader) push(name string) { r.path = append(r.path, step{name, -1}) }

func (r *jsonReader) pushIndex(i int) { r.path = append(r.path, step{index: i}) }

func (r *jsonReader) pop() { r.path = r.path[:len(r.path)-1] }

func (r *jsonReader) structure(v reflect.Value) {
	plan := r.plans.jsonFields(v.Type())
	r.each('}', func(int) {
		name, at := r.named()
		f := plan.find(name)
		if f == nil {
			r.unknown(plan, string(name), at)
			r.skip()
			return
		}
		r.push(f.name)
		defer r.pop()
		field := fieldAt(v, f.index)
		if !field.IsValid() {
			r.unknown(plan, f.name, at)
			r.skip()
			return
		}
		if f.quoted && r.text[r.i] == '"' && scalar(f.typ) {
			r.quoted(field)
			return
		}
		r.value(field)
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
	start := r.i
	text := string(r.string())
	set := setter(v.Type())
	if err := set(v, text); err != nil {
		r.misfit(start, strictjson.Type, wantJSON(v.Type())+" in a string", nil)
	}
}

func (r *jsonReader) unknown(plan *jsonPlan, name string, at int) {
	near := nearest.Name(name, plan.names)
	if r.lax && !strings.EqualFold(near, name) {
		return
	}
	r.push(name)
	r.fail(Fault{Kind: strictjson.Unknown, Offset: at, Got: shorten(name), Want: "a known field", Near: near})
	r.pop()
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
	r.each('}', func(int) {
		name, at := r.named()
		r.push(string(name))
		defer r.pop()
		key, elem := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		if err := set(key, string(name)); err != nil {
			r.fail(Fault{Kind: strictjson.Type, Offset: at, Got: shorten(string(name)), Want: "a name that is " + want(t.Key())})
			r.skip()
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
	r.each(']', func(i int) {
		r.pushIndex(i)
		defer r.pop()
		if r.full() { // what follows would be read for nothing
			r.skip()
			return
		}
		v.Grow(1)
		v.SetLen(i + 1)
		v.Index(i).SetZero()
		r.value(v.Index(i))
	})
}

func (r *jsonReader) array(v reflect.Value) {
	start, n := r.i, 0
	r.each(']', func(i int) {
		n = i + 1
		if i >= v.Len() {
			r.skip()
			return
		}
		r.pushIndex(i)
		defer r.pop()
		r.value(v.Index(i))
	})
	if n != v.Len() {
		r.misfit(start, strictjson.Range, wantJSON(v.Type()), nil)
	}
}

// free reads the value at r.i as encoding/json does into an interface.
func (r *jsonReader) free() any {
	switch r.text[r.i] {
	case '{':
		m := map[string]any{}
		r.each('}', func(int) {
			name, _ := r.named()
			m[string(name)] = r.free()
		})
		return m
	case '[':
		list := []any{}
		r.each(']', func(int) { list = append(list, r.free()) })
		return list
	case '"':
		return string(r.string())
	}
	start := r.i
	r.skip()
	switch text := string(r.text[start:r.i]); text {
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
