// Package bind converts texts and JSON to Go values and reports every error with its position. It
// does not know requests.
package bind

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"example.com/quire/internal/strictjson"
)

// Fault is one thing that is wrong.
type Fault struct {
	Kind    strictjson.Kind
	Name    string // of a parameter
	Pointer string // into a JSON text (RFC 6901)
	Offset  int    // into a JSON text, in bytes; -1 where there is none
	Got     string // shortened
	Want    string
	Near    string // for Unknown: the name that was probably meant
	Err     error
}

// maxFaults bounds how many faults are told at once.
const maxFaults = 32

// Plans remember what is known of types. The zero value is ready; it is safe for
// concurrent use.
type Plans struct {
	// File is the type of fields that Fields leaves out of a form, which they are no text of, and
	// Files finds; so are slices of it. Set it before the first use.
	File reflect.Type

	m    sync.Map
	owns sync.Map // reflect.Type to what ownJSON says
}

type planKey struct {
	t   reflect.Type
	tag string
}

// Field is a field of a struct that takes text.
type Field struct {
	Name string
	Def  string // of the default tag
	Want string // in words

	index []int
	set   func(reflect.Value, string) error
	elem  bool // set takes one element of a slice
}

// Tags are the tags that name the places of a request beside its body.
func Tags() []string { return []string{"path", "query", "header", "cookie"} }

// Fields returns the fields of a struct type that have the tag. A field that
// takes no text, or a tag that says nothing, is the program's mistake.
func (p *Plans) Fields(t reflect.Type, tag string) ([]Field, error) {
	key := planKey{t, tag}
	if known, ok := p.m.Load(key); ok {
		return known.([]Field), nil // only this function stores under a planKey
	}
	var plan []Field
	for _, sf := range reflect.VisibleFields(t) {
		name, ok := sf.Tag.Lookup(tag)
		if !ok || name == "-" {
			continue
		}
		if p.isFile(sf, tag) && sf.IsExported() {
			continue
		}
		f := Field{Name: name, Def: sf.Tag.Get("default"), Want: want(sf.Type), index: sf.Index}
		if f.set = setter(sf.Type); f.set == nil && sf.Type.Kind() == reflect.Slice {
			f.set, f.elem, f.Want = setter(sf.Type.Elem()), true, want(sf.Type.Elem())
		}
		switch {
		case !sf.IsExported():
			return nil, fmt.Errorf("field %s of %s has a %s tag and is not exported", sf.Name, t, tag)
		case f.set == nil:
			return nil, fmt.Errorf("field %s of %s has a %s tag and takes no text", sf.Name, t, tag)
		case name == "":
			return nil, fmt.Errorf("field %s of %s has an empty %s tag", sf.Name, t, tag)
		}
		if f.Def != "" {
			if err := f.set(reflect.New(setType(sf.Type, f.elem)).Elem(), f.Def); err != nil {
				return nil, fmt.Errorf("field %s of %s: the default %q is no %s", sf.Name, t, f.Def, f.Want)
			}
		}
		plan = append(plan, f)
	}
	p.m.Store(key, plan)
	return plan, nil
}

func (p *Plans) isFile(sf reflect.StructField, tag string) bool {
	return p.File != nil && tag == "form" && (sf.Type == p.File || sf.Type == reflect.SliceOf(p.File))
}

// FileField is a field of a struct that takes a file, or several when it is a slice.
type FileField struct {
	Name  string
	Index []int
}

// Files returns the fields of a struct type, with a form tag, that take files.
func (p *Plans) Files(t reflect.Type) []FileField {
	key := planKey{t, "files"}
	if known, ok := p.m.Load(key); ok {
		return known.([]FileField) // only this function stores under this tag
	}
	var files []FileField
	for _, sf := range reflect.VisibleFields(t) {
		if name := sf.Tag.Get("form"); name != "" && name != "-" && p.isFile(sf, "form") {
			files = append(files, FileField{name, sf.Index})
		}
	}
	p.m.Store(key, files)
	return files
}

func setType(t reflect.Type, elem bool) reflect.Type {
	if elem {
		return t.Elem()
	}
	return t
}

// Source has texts by name. An error means that their escapes are wrong.
type Source interface {
	First(name string) (text string, ok bool, err error)
	All(name string) ([]string, error)
}

// Texts fills fields of v, a struct, by what from has for each name: nothing
// leaves a field as it is or sets its default. A slice takes all texts, any other
// field the first.
func Texts(v reflect.Value, plan []Field, from Source) ([]Fault, error) {
	var faults []Fault
	for i := range plan {
		f := &plan[i]
		text, all, ok, err := f.from(from)
		if err != nil {
			faults = append(faults, Fault{Kind: strictjson.Syntax, Name: f.Name, Offset: -1, Want: "valid percent escapes", Err: err})
			continue
		}
		if !ok {
			continue
		}
		field := fieldAt(v, f.index)
		if !field.IsValid() {
			return nil, fmt.Errorf("field %s of %s is behind a nil pointer that is not exported", f.Name, v.Type())
		}
		if text, err := f.fill(field, text, all); err != nil {
			faults = append(faults, textFault(f.Name, text, f.Want, err))
		}
		if len(faults) == maxFaults {
			break
		}
	}
	return faults, nil
}

// from is what a source or the default has for a field: all texts for a slice, else one.
func (f *Field) from(s Source) (text string, all []string, ok bool, err error) {
	if f.elem {
		all, err = s.All(f.Name)
		ok = len(all) > 0
	} else {
		text, ok, err = s.First(f.Name)
	}
	if !ok && err == nil && f.Def != "" {
		text, ok = f.Def, true
		if f.elem {
			all = []string{f.Def}
		}
	}
	return text, all, ok, err
}

// fill sets a field. Beside an error it returns the text that the type does not take.
func (f *Field) fill(field reflect.Value, text string, all []string) (string, error) {
	if !f.elem {
		return text, f.set(field, text)
	}
	field.Set(reflect.MakeSlice(field.Type(), len(all), len(all)))
	for i, text := range all {
		if err := f.set(field.Index(i), text); err != nil {
			return text, err
		}
	}
	return "", nil
}

// textFault is the fault of a text that is no value of its type.
func textFault(name, got, want string, err error) Fault {
	f := Fault{Kind: strictjson.Type, Name: name, Offset: -1, Got: shorten(got), Want: want, Err: err}
	if errors.Is(err, strconv.ErrRange) {
		f.Kind = strictjson.Range
	}
	return f
}

// shorten keeps what a client sent from filling answers and logs.
func shorten(s string) string {
	if len(s) > 64 {
		return s[:61] + "..."
	}
	return s
}

// fieldAt is FieldByIndex that makes embedded structs behind nil pointers. It is
// invalid where such a pointer is not exported, so that only the program can set it.
func fieldAt(v reflect.Value, index []int) reflect.Value {
	for i, x := range index {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				if !v.CanSet() {
					return reflect.Value{}
				}
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(x)
	}
	return v
}

// want names the values that a type takes, in words.
func want(t reflect.Type) string {
	switch k := t.Kind(); {
	case t == reflect.TypeFor[time.Duration]():
		return "a duration such as 1m30s"
	case t == reflect.TypeFor[time.Time]():
		return "a time such as 2024-02-29T12:00:00Z"
	case k == reflect.Pointer:
		return want(t.Elem())
	case readsText(t):
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
	return "a text"
}

func readsText(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// setter returns how a text becomes a value of type t, nil when it cannot.
func setter(t reflect.Type) func(reflect.Value, string) error {
	if t == reflect.TypeFor[time.Duration]() {
		return func(v reflect.Value, s string) error {
			d, err := time.ParseDuration(s)
			v.SetInt(int64(d))
			return err
		}
	}
	if readsText(t) {
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
		inner := setter(t.Elem())
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

// Value sets *dst from a text, as a field of its type would be.
func Value[T any](dst *T, name, text string) *Fault {
	t := reflect.TypeFor[T]()
	set := setter(t)
	if set == nil {
		return &Fault{Kind: strictjson.Type, Name: name, Offset: -1, Want: "a type that takes text"}
	}
	if err := set(reflect.ValueOf(dst).Elem(), text); err != nil {
		f := textFault(name, text, want(t), err)
		return &f
	}
	return nil
}

// jsonField is a field of a struct as JSON names it.
type jsonField struct {
	name   string
	index  []int
	typ    reflect.Type
	quoted bool // the string option of the tag
}

// jsonPlan is what of a struct JSON can name.
type jsonPlan struct {
	fields []jsonField
	byName map[string]int
	names  []string
}

func (p *jsonPlan) find(name []byte) *jsonField {
	if i, ok := p.byName[string(name)]; ok {
		return &p.fields[i]
	}
	return nil
}

// jsonFields finds the fields by the rules of encoding/json: of one name the one
// that is least deep counts, then the one with a tag, and of two of these none.
// A field of a request's other places is no part of the body unless it has a
// json tag too.
func (p *Plans) jsonFields(t reflect.Type) *jsonPlan {
	if known, ok := p.m.Load(t); ok {
		return known.(*jsonPlan) // only this function stores under a type
	}
	plan := &jsonPlan{byName: map[string]int{}}
	taken, visited := map[string]bool{}, map[reflect.Type]bool{}
	type step struct {
		t     reflect.Type
		index []int
	}
	for level := []step{{t, nil}}; len(level) > 0; {
		var below []step
		tagged, plain := map[string][]jsonField{}, map[string][]jsonField{}
		for _, st := range level {
			if visited[st.t] {
				continue
			}
			visited[st.t] = true
			for sf := range st.t.Fields() {
				tag, isTagged := sf.Tag.Lookup("json")
				if tag == "-" || !isTagged && elsewhere(sf.Tag) {
					continue
				}
				name, options, _ := strings.Cut(tag, ",")
				index := append(slices.Clone(st.index), sf.Index...)
				if ft := sf.Type; sf.Anonymous && name == "" {
					if ft.Kind() == reflect.Pointer {
						ft = ft.Elem()
					}
					if ft.Kind() == reflect.Struct {
						below = append(below, step{ft, index})
						continue
					}
				}
				if !sf.IsExported() {
					continue
				}
				f := jsonField{index: index, typ: sf.Type, quoted: slices.Contains(strings.Split(options, ","), "string")}
				if f.name = name; name != "" {
					tagged[name] = append(tagged[name], f)
				} else {
					f.name = sf.Name
					plain[sf.Name] = append(plain[sf.Name], f)
				}
			}
		}
		for _, candidates := range []map[string][]jsonField{tagged, plain} {
			for name, fields := range candidates {
				if !taken[name] && len(fields) == 1 {
					plan.fields = append(plan.fields, fields[0])
				}
			}
			for name := range candidates {
				taken[name] = true
			}
		}
		level = below
	}
	slices.SortFunc(plan.fields, func(a, b jsonField) int { return strings.Compare(a.name, b.name) })
	for i, f := range plan.fields {
		plan.byName[f.name] = i
		plan.names = append(plan.names, f.name)
	}
	p.m.Store(t, plan)
	return plan
}

func elsewhere(tag reflect.StructTag) bool {
	for _, t := range Tags() {
		if _, ok := tag.Lookup(t); ok {
			return true
		}
	}
	return false
}

// JSONField is a field of a struct as JSON names it.
type JSONField struct {
	Name   string
	Field  reflect.StructField
	Quoted bool // the string option of the tag
}

// JSONFields returns the fields that JSON can name, by name.
func (p *Plans) JSONFields(t reflect.Type) []JSONField {
	plan := p.jsonFields(t)
	all := make([]JSONField, len(plan.fields))
	for i, f := range plan.fields {
		all[i] = JSONField{f.name, t.FieldByIndex(f.index), f.quoted}
	}
	return all
}

// Settable reports how a type takes text, "" when it does not.
func Settable(t reflect.Type) string {
	if setter(t) == nil {
		return ""
	}
	return want(t)
}
