// Package exprlang is the expression language of templates: the syntax of expr-lang, type-checked
// against the data contract and computed with exact decimals.
//
// Only the parser of expr-lang is used, not its checker and virtual machine. These have neither
// optional values nor decimals: a list of decimals would be searched by float equality, a
// conditional of an integer and a decimal would have no type, and an integer product would
// overflow silently. The virtual machine also reads maps by reflection, where a field path here is
// an index into a slot. An expression is compiled once to closures, which depend on the slots and
// the render time and nothing else. Every loop in them uses the budget of a Machine.
//
// Functions and operators are listed explicitly. Anything that expr-lang adds later is refused
// until it is listed here.
package exprlang

import (
	"slices"
	"strings"
)

// Kind is the kind of a Type.
type Kind uint8

// The kinds. Invalid stands for an expression that is wrong already, so that one
// mistake is reported once.
const (
	Invalid Kind = iota
	NullKind
	StringKind
	IntegerKind
	DecimalKind // keeps the fraction digits it came with
	NumberKind  // as DecimalKind, without trailing zeros
	BooleanKind
	DateKind
	DateTimeKind
	EnumKind
	ImageKind
	ColorKind // #rrggbb or none
	ListKind
	RecordKind
	MapKind
	PageKind      // page(): known when the page is
	PagesKind     // pages(): known at the end
	ReferenceKind // pageOf(): known when all pages are
	NumberOfKind  // numberOf(): likewise
	TitleKind     // section(): known when the page is
	formsKind     // {one: ..., other: ...} in plural()
)

var kindNames = [...]string{
	"invalid", "null", "string", "integer", "decimal", "number", "boolean", "date", "datetime", "enum",
	"image", "color", "list", "record", "map", "page number", "page count", "page number", "heading number", "section title", "plural forms",
}

// Type is the type of a value. Types are immutable once a contract is read, but
// for the notes of first use in their fields while a template is compiled.
type Type struct {
	Kind     Kind
	Optional bool     // null is a value of it
	Elem     *Type    // of ListKind and MapKind
	Fields   []*Field // of RecordKind, in the order of the contract
	Enum     []string // of EnumKind
	Name     string   // a named type's name
	present  []int    // fields of a record that a filter has shown not to be null
}

// Field is a field of a record.
type Field struct {
	Name string
	Type *Type
	// Declared and Used are places in the template: line and column of the
	// contract and of the first expression that reads the field, 0 when none does.
	Declared, Used [2]int
}

// Note notes an expression that reads the field.
func (f *Field) Note(line, col int) {
	if u := &f.Used; u[0] == 0 || line < u[0] || line == u[0] && col < u[1] {
		*u = [2]int{line, col}
	}
}

// Field finds a field and its index.
func (t *Type) Field(name string) (int, *Field) {
	for i, f := range t.Fields {
		if f.Name == name {
			return i, f
		}
	}
	return -1, nil
}

// String returns the type as contracts write it.
func (t *Type) String() string {
	s := ""
	switch {
	case t.Name != "":
		s = t.Name
	case t.Kind == ListKind:
		s = "[" + t.Elem.String() + "]"
	case t.Kind == MapKind:
		s = "map(" + t.Elem.String() + ")"
	case t.Kind == EnumKind:
		s = "enum(" + strings.Join(t.Enum, ", ") + ")"
	default:
		s = kindNames[t.Kind]
	}
	if t.Optional {
		s += "?"
	}
	return s
}

func (t *Type) numeric() bool {
	return t.Kind == IntegerKind || t.Kind == DecimalKind || t.Kind == NumberKind
}

func (t *Type) textual() bool { return t.Kind == StringKind || t.Kind == EnumKind }

// optional returns t with null allowed.
func (t *Type) optional() *Type {
	if t.Optional || t.Kind == NullKind || t.Kind == Invalid {
		return t
	}
	o := *t
	o.Optional = true
	return &o
}

// required returns t without null.
func (t *Type) required() *Type {
	if !t.Optional {
		return t
	}
	o := *t
	o.Optional = false
	return &o
}

// The types without parts.
var (
	typeInvalid   = &Type{Kind: Invalid}
	typeNull      = &Type{Kind: NullKind, Optional: true}
	typeString    = &Type{Kind: StringKind}
	typeInteger   = &Type{Kind: IntegerKind}
	typeDecimal   = &Type{Kind: DecimalKind}
	typeBoolean   = &Type{Kind: BooleanKind}
	typeColor     = &Type{Kind: ColorKind}
	typeDateTime  = &Type{Kind: DateTimeKind}
	typePage      = &Type{Kind: PageKind}
	typePages     = &Type{Kind: PagesKind}
	typeReference = &Type{Kind: ReferenceKind}
	typeNumberOf  = &Type{Kind: NumberOfKind}
	typeTitle     = &Type{Kind: TitleKind}
	typeNothing   = &Type{Kind: NullKind} // of the items of []
)

// Basic returns the type of a name of the contract language that has no parts,
// such as "decimal".
func Basic(name string) (*Type, bool) {
	i := slices.Index(kindNames[:], name)
	if k := Kind(max(i, 0)); k >= StringKind && k <= DateTimeKind || k == ImageKind || k == ColorKind { //nolint:gosec // an index of a short list
		return &Type{Kind: k}, true
	}
	return nil, false
}

// BasicNames returns the names that Basic knows.
func BasicNames() []string {
	return []string{"string", "integer", "decimal", "number", "boolean", "date", "datetime", "image", "color"}
}

// join returns the type that holds the values of both, or nil.
func join(a, b *Type) *Type {
	opt := a.Optional || b.Optional
	var t *Type
	switch {
	case a.Kind == Invalid || b.Kind == Invalid:
		return typeInvalid
	case a.Kind == NullKind:
		t = b
	case b.Kind == NullKind:
		t = a
	case a.Kind == EnumKind && b.Kind == EnumKind && slices.Equal(a.Enum, b.Enum):
		t = a
	case a.textual() && b.textual():
		t = typeString
	case a.Kind == IntegerKind && b.Kind == IntegerKind:
		t = typeInteger
	case a.numeric() && b.numeric():
		t = typeDecimal
	case a.Kind == ListKind && b.Kind == ListKind:
		e := join(a.Elem, b.Elem)
		if e == nil {
			return nil
		}
		t = &Type{Kind: ListKind, Elem: e}
	case a.Kind == MapKind && b.Kind == MapKind:
		e := join(a.Elem, b.Elem)
		if e == nil {
			return nil
		}
		t = &Type{Kind: MapKind, Elem: e}
	case a.Kind == RecordKind && b.Kind == RecordKind:
		if !slices.Equal(a.Fields, b.Fields) {
			return nil
		}
		if t = a; !slices.Equal(a.present, b.present) {
			either := *a
			either.present = nil
			t = &either
		}
	case a.Kind == b.Kind:
		t = a
	default:
		return nil
	}
	if opt {
		return t.optional()
	}
	return t.required()
}

// Accepts reports whether a value of type v may stand where t is wanted.
func (t *Type) Accepts(v *Type) bool {
	switch {
	case v.Kind == Invalid || t.Kind == Invalid:
		return true
	case v.Optional && !t.Optional:
		return false
	case v.Kind == NullKind:
		return true
	case t.Kind == StringKind:
		return v.textual()
	case t.Kind == DecimalKind || t.Kind == NumberKind:
		return v.numeric()
	case t.Kind == EnumKind:
		return v.Kind == EnumKind && !slices.ContainsFunc(v.Enum, func(s string) bool { return !slices.Contains(t.Enum, s) })
	case t.Kind == ListKind || t.Kind == MapKind:
		return v.Kind == t.Kind && (v.Elem.Kind == NullKind || t.Elem.Accepts(v.Elem))
	case t.Kind == RecordKind:
		if v.Kind != RecordKind || len(v.Fields) != len(t.Fields) {
			return false
		}
		for i, f := range t.Fields { // by position: a value is read by index
			if v.Fields[i].Name != f.Name || !f.Type.Accepts(v.Fields[i].Type) {
				return false
			}
		}
		return true
	}
	return v.Kind == t.Kind
}
