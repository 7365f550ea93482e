package clixml

import (
	"cmp"
	"encoding"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"sync"
	"time"
)

// A plan is how a struct type is mapped: made once per type, then shared.
type plan struct {
	name     string // of the Go type, for paths
	types    []string
	fields   []field
	adapted  int // how many of the fields are adapted properties
	toString int // index of the field that is the ToString, -1 = none
}

type field struct {
	name      string // of the property
	goName    string
	index     []int
	adapted   bool
	omitEmpty bool
	text      bool // as a string
	enum      []string
	form      form
	plain     bool // neither option nor type ask for more than its reflect.Kind
}

// A form is how values of a Go type are made.
type form uint8

const (
	formKind      form = iota // by its reflect.Kind
	formMarshaler             // a Marshaler
	formOwn                   // a type of this package that has a method Value
	formValue                 // a Value
	formTime                  // a time.Time
	formDuration              // a time.Duration
	formBig                   // a *big.Int
	formIndirect              // a pointer to something without identity
	formObject                // a pointer to a struct, which has one
)

func formOf(t reflect.Type) form {
	if t.Implements(typeMarshaler) {
		return formMarshaler
	}
	switch t {
	case typeGUID, typeChar, typeTimeSpan, typeVersion, typeXMLText, typeScriptBlock, typeURI, typeDecimal, typeDateTime, typeCredential:
		return formOwn
	case typeValue:
		return formValue
	case typeTime:
		return formTime
	case typeDuration:
		return formDuration
	}
	if t.Kind() != reflect.Pointer {
		return formKind
	}
	switch e := t.Elem(); {
	case e == typeSecure, e == typeObject, e == typeList, e == typeDict, e == typeProgress:
		return formOwn
	case e == typeBigInt:
		return formBig
	case e.Kind() == reflect.Struct && !isLeaf(e):
		return formObject
	}
	return formIndirect
}

// planCache remembers plans and forms, which depend on nothing but the type.
type planCache struct {
	plans sync.Map // reflect.Type to *plan or error
	forms sync.Map // reflect.Type to form
}

// structPlans is shared by all: what is in it, anyone would make anew.
var structPlans = &planCache{}

func (c *planCache) of(t reflect.Type) (*plan, error) {
	got, ok := c.plans.Load(t)
	if !ok {
		p, err := makePlan(t)
		if err != nil {
			got = err
		} else {
			got = p
		}
		got, _ = c.plans.LoadOrStore(t, got)
	}
	if err, isErr := got.(error); isErr {
		return nil, err
	}
	p, _ := got.(*plan)
	return p, nil
}

func (c *planCache) form(t reflect.Type) form {
	got, ok := c.forms.Load(t)
	if !ok {
		got, _ = c.forms.LoadOrStore(t, formOf(t))
	}
	f, _ := got.(form)
	return f
}

func makePlan(t reflect.Type) (*plan, error) {
	p := &plan{name: t.Name(), types: customObjectTypes[:], toString: -1}
	if err := p.add(t, nil, map[reflect.Type]bool{}); err != nil {
		return nil, err
	}
	for i, f := range p.fields {
		if f.adapted {
			p.adapted++
		}
		for _, g := range p.fields[:i] {
			if g.name == f.name && g.adapted == f.adapted {
				return nil, fmt.Errorf("clixml: type %v: fields %s and %s are both property %q", t, g.goName, f.goName, f.name)
			}
		}
	}
	return p, nil
}

func (p *plan) add(t reflect.Type, at []int, in map[reflect.Type]bool) error {
	if in[t] {
		return fmt.Errorf("clixml: type %v: embeds itself", t)
	}
	in[t] = true
	defer delete(in, t)
	for i := range t.NumField() {
		sf := t.Field(i)
		tag, tagged := sf.Tag.Lookup("clixml")
		name, options, _ := strings.Cut(tag, ",")
		index := append(append([]int(nil), at...), i)
		if sf.Name == "_" {
			if typeName, ok := strings.CutPrefix(options, "type="); ok && len(at) == 0 {
				p.types = []string{typeName, "System.Object"}
			}
			continue
		}
		if name == "-" {
			continue
		}
		if sf.Anonymous && name == "" {
			et := sf.Type
			if et.Kind() == reflect.Pointer {
				et = et.Elem()
			}
			if et.Kind() == reflect.Struct && !isLeaf(et) {
				if sf.Type.Kind() == reflect.Pointer && !sf.IsExported() {
					continue // its fields could not be set
				}
				if err := p.add(et, index, in); err != nil {
					return err
				}
				continue
			}
		}
		if !sf.IsExported() {
			if tagged {
				return fmt.Errorf("clixml: type %v: field %s has a tag but is not exported", t, sf.Name)
			}
			continue
		}
		name = cmp.Or(name, sf.Name)
		f := field{name: name, goName: sf.Name, index: index, form: formOf(sf.Type)}
		for option := range strings.SplitSeq(options, ",") {
			switch key, value, _ := strings.Cut(option, "="); key {
			case "":
			case "props":
				f.adapted = true
			case "omitempty":
				f.omitEmpty = true
			case "string":
				f.text = true
			case "enum":
				f.enum = EnumTypes(value)
			default:
				return fmt.Errorf("clixml: type %v: field %s: unknown option %q", t, sf.Name, option)
			}
		}
		f.plain = f.form == formKind && !f.text && f.enum == nil
		p.fields = append(p.fields, f)
	}
	return nil
}

// The types with a form of their own.
var (
	typeValue       = reflect.TypeFor[Value]()
	typeTime        = reflect.TypeFor[time.Time]()
	typeDuration    = reflect.TypeFor[time.Duration]()
	typeGUID        = reflect.TypeFor[GUID]()
	typeChar        = reflect.TypeFor[Char]()
	typeDecimal     = reflect.TypeFor[Decimal]()
	typeDateTime    = reflect.TypeFor[DateTime]()
	typeTimeSpan    = reflect.TypeFor[TimeSpan]()
	typeVersion     = reflect.TypeFor[Version]()
	typeXMLText     = reflect.TypeFor[XMLText]()
	typeScriptBlock = reflect.TypeFor[ScriptBlock]()
	typeURI         = reflect.TypeFor[URI]()
	typeSecure      = reflect.TypeFor[SecureString]()
	typeCredential  = reflect.TypeFor[Credential]()
	typeObject      = reflect.TypeFor[Object]()
	typeList        = reflect.TypeFor[List]()
	typeDict        = reflect.TypeFor[Dict]()
	typeProgress    = reflect.TypeFor[Progress]()
	typeBigInt      = reflect.TypeFor[big.Int]()
	typeMarshaler   = reflect.TypeFor[Marshaler]()
	typeUnmarshaler = reflect.TypeFor[Unmarshaler]()
	typeTextReader  = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// isLeaf reports whether a struct type is one value rather than a set of properties.
func isLeaf(t reflect.Type) bool {
	switch t {
	case typeValue, typeTime, typeDecimal, typeDateTime, typeSecure, typeCredential, typeObject, typeList, typeDict, typeProgress, typeBigInt:
		return true
	}
	return t.Implements(typeMarshaler) || reflect.PointerTo(t).Implements(typeMarshaler) || reflect.PointerTo(t).Implements(typeUnmarshaler)
}
