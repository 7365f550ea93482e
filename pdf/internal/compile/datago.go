package compile

import (
	"encoding"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/quire/pdf/internal/compile/decimal"
	"example.com/quire/pdf/internal/compile/exprlang"
	"example.com/quire/pdf/internal/diag"
)

// Struct returns data that are a Go value: a struct, a map with strings as keys, or a pointer to
// one. template.Struct says what stands for what.
func Struct(v any) Data { return goData{v} }

type goData struct{ v any }

// goDecoder makes values of a contract from Go values. What is wrong with them is told as by
// decoder, without a place in a text.
type goDecoder struct {
	decoder
	fields  map[recordType][][]int
	streams [][]string
	inList  bool // a value within a list: what is iterated there is gathered
}

// recordType is a struct read as a record.
type recordType struct {
	from reflect.Type
	as   *exprlang.Type
}

func (g goData) read(p *Plan, limits diag.Limits, _ *Memory) (exprlang.Value, [][]string, error) {
	d := newGoDecoder(p, limits)
	v := d.value(p.contract, reflect.ValueOf(g.v))
	return v, d.streams, d.list.ErrAnd(d.omitted)
}

func newGoDecoder(p *Plan, limits diag.Limits) *goDecoder {
	return &goDecoder{
		decoder: decoder{name: "data", plan: p, limits: limits, window: &window{unknown: true}, arena: &exprlang.Arena{}},
		fields:  map[recordType][][]int{},
	}
}

var (
	textType   = reflect.TypeFor[encoding.TextMarshaler]()
	timeType   = reflect.TypeFor[time.Time]()
	numberType = reflect.TypeFor[json.Number]()
	errorType  = reflect.TypeFor[error]()
)

// value makes a value of type t.
func (d *goDecoder) value(t *exprlang.Type, v reflect.Value) exprlang.Value {
	if !d.count() {
		return exprlang.Null
	}
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.Kind() == reflect.Pointer && !v.IsNil() && t.Kind < exprlang.ListKind && v.Type().Implements(textType) && v.Type().Elem() != timeType {
			break
		}
		v = v.Elem()
	}
	switch k := v.Kind(); {
	case !v.IsValid(), (k == reflect.Map || k == reflect.Slice || k == reflect.Func) && v.IsNil() && t.Optional:
		if !t.Optional {
			d.wrong(t, 0, "nil")
		}
		return exprlang.Null
	case t.Kind == exprlang.RecordKind && (k == reflect.Struct || k == reflect.Map):
		return d.record(t, v)
	case t.Kind == exprlang.MapKind && k == reflect.Map && v.Type().Key().Kind() == reflect.String:
		return d.mapping(t, v)
	case t.Kind == exprlang.ListKind && (k == reflect.Slice || k == reflect.Array):
		return d.items(t, v.Len(), v.Index)
	case t.Kind == exprlang.ListKind && k == reflect.Func:
		return d.iterated(t, v)
	case t.Kind == exprlang.BooleanKind && k == reflect.Bool:
		return exprlang.Bool(v.Bool())
	case (t.Kind == exprlang.DateKind || t.Kind == exprlang.DateTimeKind) && v.Type() == timeType:
		at, _ := reflect.TypeAssert[time.Time](v) // of this type
		if t.Kind == exprlang.DateKind {
			return exprlang.Date(at)
		}
		return exprlang.DateTime(at)
	case t.Kind == exprlang.ImageKind && k == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		return exprlang.Text(string(v.Bytes()))
	}
	if text, ok := d.scalar(t, v); ok {
		if numeric(t) {
			return d.goNumber(t, text, v)
		}
		return d.textValue(t, 0, text)
	}
	if !d.failed {
		d.wrong(t, 0, "a Go "+v.Type().String())
	}
	return exprlang.Null
}

// scalar is the text of a number or a string.
func (d *goDecoder) scalar(t *exprlang.Type, v reflect.Value) (string, bool) {
	if t.Kind < exprlang.StringKind || t.Kind > exprlang.ColorKind || t.Kind == exprlang.BooleanKind {
		return "", false
	}
	k := v.Kind()
	switch {
	case v.Type().Implements(textType):
		b, err := v.Interface().(encoding.TextMarshaler).MarshalText() //nolint:forcetypeassert // it implements it
		return string(b), err == nil
	case numeric(t) && v.CanInt():
		return strconv.FormatInt(v.Int(), 10), true
	case numeric(t) && v.CanUint():
		return strconv.FormatUint(v.Uint(), 10), true
	case numeric(t) && v.CanFloat():
		return strconv.FormatFloat(v.Float(), 'f', -1, v.Type().Bits()), true
	case k == reflect.String && numeric(t) == (v.Type() == numberType):
		return v.String(), true
	}
	return "", false
}

func (d *goDecoder) goNumber(t *exprlang.Type, text string, v reflect.Value) exprlang.Value {
	n, err := decimal.Parse(text)
	switch {
	case err == decimal.ErrRange: //nolint:errorlint // Parse returns it bare
		d.report(0, codeDataType, "", "the number has more than %d digits%s", decimal.MaxDigits, d.use(d.field))
	case err != nil:
		d.wrong(t, 0, "a Go "+v.Type().String()+" "+quoted(text))
	default:
		return d.numberOf(t, 0, n)
	}
	return exprlang.Null
}

// within makes what lies deeper.
func (d *goDecoder) within(s step, make1 func() exprlang.Value) exprlang.Value {
	d.path = append(d.path, s)
	if d.depth++; d.depth > d.limits.DataDepth && !d.failed {
		d.report(0, codeDataDepth, "", "the data is nested deeper than %d levels", d.limits.DataDepth)
		d.failed = true
	}
	v := exprlang.Null
	if !d.failed {
		v = make1()
	}
	d.depth--
	d.path = d.path[:len(d.path)-1]
	return v
}

func (d *goDecoder) record(t *exprlang.Type, v reflect.Value) exprlang.Value {
	if v.Kind() == reflect.Map {
		return d.recordOfMap(t, v)
	}
	outer := d.field
	made := d.arena.Record(len(t.Fields))
	for i, at := range d.indexes(t, v.Type()) {
		f := t.Fields[i]
		var of reflect.Value
		if at != nil {
			of, _ = v.FieldByIndexErr(at) // an embedded struct that is nil has none
		}
		d.field = f
		d.arena.SetField(made, i, d.within(step{name: f.Name}, func() exprlang.Value { return d.fieldValue(f, of, goNames(v.Type())) }))
	}
	d.field = outer
	return made
}

// fieldValue makes the value of a field; of is not valid where there is none.
func (d *goDecoder) fieldValue(f *exprlang.Field, of reflect.Value, have func() []string) exprlang.Value {
	switch {
	case of.IsValid():
		return d.value(f.Type, of)
	case !f.Type.Optional:
		d.report(0, codeDataMissing, exprlang.Nearest(f.Name, have()), "the field is missing%s", d.use(f))
	}
	return exprlang.Null
}

// recordOfMap is record for a map, which must have no key beside the fields, as an object of JSON.
func (d *goDecoder) recordOfMap(t *exprlang.Type, v reflect.Value) exprlang.Value {
	if v.Type().Key().Kind() != reflect.String {
		d.wrong(t, 0, "a Go "+v.Type().String())
		return exprlang.Null
	}
	keys := sortedKeys(v)
	outer := d.field
	made := d.arena.Record(len(t.Fields))
	for i, f := range t.Fields {
		d.field = f
		of := reflect.Value{}
		if k, ok := keys[f.Name]; ok {
			of = v.MapIndex(k)
		}
		d.arena.SetField(made, i, d.within(step{name: f.Name}, func() exprlang.Value {
			return d.fieldValue(f, of, func() []string { return slices.Sorted(maps.Keys(keys)) })
		}))
	}
	d.field = outer
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		if _, f := t.Field(k); f == nil {
			d.within(step{name: k}, func() exprlang.Value {
				d.report(0, codeDataUnknown, exprlang.Nearest(k, fieldNames(t)), "unknown field")
				return exprlang.Null
			})
		}
	}
	return made
}

func sortedKeys(v reflect.Value) map[string]reflect.Value {
	keys := make(map[string]reflect.Value, v.Len())
	for _, k := range v.MapKeys() {
		keys[k.String()] = k
	}
	return keys
}

// indexes finds the fields of a struct for those of a record: by their names in JSON, else by their
// own, whatever the case; nil: there is none.
func (d *goDecoder) indexes(t *exprlang.Type, from reflect.Type) [][]int {
	key := recordType{from, t}
	if have, ok := d.fields[key]; ok {
		return have
	}
	out := make([][]int, len(t.Fields))
	exact := make([]bool, len(t.Fields))
	for _, f := range reflect.VisibleFields(from) {
		name, tagged := goName(f)
		for i, want := range t.Fields {
			switch {
			case name == "":
			case name == want.Name && !exact[i]:
				out[i], exact[i] = f.Index, true
			case !tagged && out[i] == nil && strings.EqualFold(name, want.Name):
				out[i] = f.Index
			}
		}
	}
	d.fields[key] = out
	return out
}

// goName is the name of a field in JSON; empty: it has none.
func goName(f reflect.StructField) (name string, tagged bool) {
	if !f.IsExported() || f.Anonymous && f.Tag.Get("json") == "" {
		return "", false
	}
	name, _, _ = strings.Cut(f.Tag.Get("json"), ",")
	switch name {
	case "-":
		return "", false
	case "":
		return f.Name, false
	}
	return name, true
}

// goNames are the names of the fields of a struct.
func goNames(t reflect.Type) func() []string {
	return func() (names []string) {
		for _, f := range reflect.VisibleFields(t) {
			if name, _ := goName(f); name != "" {
				names = append(names, name)
			}
		}
		return names
	}
}

func (d *goDecoder) mapping(t *exprlang.Type, v reflect.Value) exprlang.Value {
	keys := sortedKeys(v)
	names := slices.Sorted(maps.Keys(keys))
	vals := make([]exprlang.Value, len(names))
	for i, name := range names {
		vals[i] = d.within(step{name: name}, func() exprlang.Value { return d.value(t.Elem, v.MapIndex(keys[name])) })
	}
	return exprlang.Map(names, vals)
}

// items makes a list.
func (d *goDecoder) items(t *exprlang.Type, n int, at func(i int) reflect.Value) exprlang.Value {
	inList, base := d.inList, len(d.stack)
	d.inList = true
	for i := 0; i < n && !d.failed; i++ {
		v := d.within(step{i: i}, func() exprlang.Value { return d.value(t.Elem, at(i)) })
		d.stack = append(d.stack, v)
	}
	d.inList = inList
	v := d.arena.List(d.stack[base:])
	d.stack = d.stack[:base]
	return v
}

// iterated makes a list of an iterator: one that is read while the document is laid out, or, within
// another list, one that is gathered.
func (d *goDecoder) iterated(t *exprlang.Type, v reflect.Value) exprlang.Value {
	var all func(yield func(reflect.Value, error) bool)
	switch from := v.Type(); {
	case v.IsNil():
		all = func(func(reflect.Value, error) bool) {}
	case from.CanSeq2() && from.In(0).In(1) == errorType:
		all = func(yield func(reflect.Value, error) bool) {
			for item, e := range v.Seq2() {
				err, _ := reflect.TypeAssert[error](e)
				if !yield(item, err) {
					return
				}
			}
		}
	case from.CanSeq():
		all = func(yield func(reflect.Value, error) bool) {
			for item := range v.Seq() {
				if !yield(item, nil) {
					return
				}
			}
		}
	default:
		d.wrong(t, 0, "a Go "+from.String())
		return exprlang.Null
	}
	if d.inList {
		return d.gathered(t, all)
	}
	path := names(d.path)
	d.streams = append(d.streams, path)
	fields := d.fields
	return exprlang.Streamed(&exprlang.Stream{Items: func(yield func(exprlang.Value, error) bool) {
		rows := rowsOf{yield: yield}
		i := 0
		for item, err := range all {
			if err != nil {
				rows.fail(err)
				return
			}
			own := newGoDecoder(d.plan, d.limits)
			own.fields, own.inList, own.path = fields, true, pathTo(path, i)
			if v := own.value(t.Elem, item); !rows.give(v, own.list) {
				return
			}
			i++
		}
		rows.end(nil)
	}})
}

// gathered makes a list of all that an iterator has.
func (d *goDecoder) gathered(t *exprlang.Type, all func(func(reflect.Value, error) bool)) exprlang.Value {
	var vals []reflect.Value
	for item, err := range all {
		if err != nil {
			d.report(0, codeDataType, "", "%v", err)
			return exprlang.Null
		}
		if vals = append(vals, item); int64(len(vals)) > d.limits.DataNodes {
			break // items says so
		}
	}
	return d.items(t, len(vals), func(i int) reflect.Value { return vals[i] })
}
