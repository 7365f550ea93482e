package clixml

import "strings"

// Object is an Obj. Its pointer is its identity: one Object that occurs twice in a value is written
// once and then by reference, and cycles are such references.
type Object struct {
	// TypeNames is the list of .NET type names, most derived first; empty means none are written.
	// Decoded objects of one type share the list, so its elements are not changed in place.
	TypeNames []string
	// ToString is the text form; it is written when it is not empty or HasToString is true.
	ToString    string
	HasToString bool
	// Base is what the object wraps: a primitive (an enum's number, an extended string), a *List,
	// a *Dict or another *Object; absent for a plain property bag.
	Base Value
	// Adapted are the .NET properties (Props), Extended the note properties (MS). Both keep order.
	Adapted, Extended Properties
}

// Value returns the object as a value; a nil Object is null.
func (o *Object) Value() Value { return pointerValue(KindObject, o) }

// TypeName returns the most derived type name without the "Deserialized." that PowerShell puts
// before it, or "".
func (o *Object) TypeName() string {
	if len(o.TypeNames) == 0 {
		return ""
	}
	return strings.TrimPrefix(o.TypeNames[0], "Deserialized.")
}

// Property is a named value.
type Property struct {
	Name  string
	Value Value
}

// Properties are properties in order.
type Properties []Property

// Get returns the property of that name: exactly first, then without regard to case.
func (p Properties) Get(name string) (Value, bool) {
	for i := range p {
		if p[i].Name == name {
			return p[i].Value, true
		}
	}
	for i := range p {
		if len(p[i].Name) == len(name) && strings.EqualFold(p[i].Name, name) {
			return p[i].Value, true
		}
	}
	return Value{}, false
}

// Set gives the property of exactly that name a new value where it stands, or appends it.
func (p *Properties) Set(name string, v Value) {
	for i := range *p {
		if (*p)[i].Name == name {
			(*p)[i].Value = v
			return
		}
	}
	*p = append(*p, Property{name, v})
}

// ListKind tells the four lists apart.
type ListKind uint8

// The lists, with their element.
const (
	ListArray      ListKind = iota // LST: a list or an array
	ListEnumerable                 // IE
	ListQueue                      // QUE: head first
	ListStack                      // STK: top first
)

// listTags is the one table of list elements.
var listTags = [...]string{ListArray: "LST", ListEnumerable: "IE", ListQueue: "QUE", ListStack: "STK"}

// String returns the element's name.
func (k ListKind) String() string {
	if int(k) < len(listTags) {
		return listTags[k]
	}
	return "ListKind(?)"
}

// List is a list of values. A stack is held top first, as it is on the wire.
type List struct {
	Kind  ListKind
	Items []Value
}

// Value returns the list as a value. Outside an Object it is written as one with the usual type
// names of its kind.
func (l *List) Value() Value { return pointerValue(KindList, l) }

// NewList returns a list of vs as PowerShell's ArrayList.
func NewList(vs ...Value) *List { return &List{Items: vs} }

// Entry is one entry of a dictionary. A key is any value but Nil.
type Entry struct{ Key, Value Value }

// Dict is a dictionary, in the order it was read or made.
type Dict struct{ Entries []Entry }

// Value returns the dictionary as a value. Outside an Object it is written as a Hashtable.
func (d *Dict) Value() Value { return pointerValue(KindDict, d) }

// Get returns the value whose key is that text: exactly first, then without regard to case.
func (d *Dict) Get(key string) (Value, bool) {
	for i := range d.Entries {
		if s, ok := d.Entries[i].Key.Text(); ok && s == key {
			return d.Entries[i].Value, true
		}
	}
	for i := range d.Entries {
		if s, ok := d.Entries[i].Key.Text(); ok && strings.EqualFold(s, key) {
			return d.Entries[i].Value, true
		}
	}
	return Value{}, false
}

// Set gives the entry of that text key a new value where it stands, or appends it.
func (d *Dict) Set(key string, v Value) {
	for i := range d.Entries {
		if s, ok := d.Entries[i].Key.Text(); ok && s == key {
			d.Entries[i].Value = v
			return
		}
	}
	d.Entries = append(d.Entries, Entry{String(key), v})
}

// MemberSet is a named MS among extended properties: an object that has members only.
type MemberSet struct{ Members Properties }

// Value returns the member set as a value, which only an extended property may hold.
func (m *MemberSet) Value() Value { return pointerValue(KindMemberSet, m) }

// Type-name lists of common values (MS-PSRP 2.2.5.2.6). They are shared: callers read them only.

// ArrayListTypes are the type names of a list.
func ArrayListTypes() []string { return arrayListTypes[:] }

// ObjectArrayTypes are the type names of an array of objects.
func ObjectArrayTypes() []string { return objectArrayTypes[:] }

// HashtableTypes are the type names of a dictionary.
func HashtableTypes() []string { return hashtableTypes[:] }

// PrimitiveDictionaryTypes are the type names of application arguments and private data.
func PrimitiveDictionaryTypes() []string { return primitiveDictionaryTypes[:] }

// EnumTypes returns the type names of an enum: its name and those of its bases.
func EnumTypes(name string) []string {
	return []string{name, "System.Enum", "System.ValueType", "System.Object"}
}

var (
	arrayListTypes           = [...]string{"System.Collections.ArrayList", "System.Object"}
	objectArrayTypes         = [...]string{"System.Object[]", "System.Array", "System.Object"}
	queueTypes               = [...]string{"System.Collections.Queue", "System.Object"}
	stackTypes               = [...]string{"System.Collections.Stack", "System.Object"}
	hashtableTypes           = [...]string{"System.Collections.Hashtable", "System.Object"}
	customObjectTypes        = [...]string{"System.Management.Automation.PSCustomObject", "System.Object"}
	primitiveDictionaryTypes = [...]string{
		"System.Management.Automation.PSPrimitiveDictionary", "System.Collections.Hashtable", "System.Object",
	}
)

// usualTypes are the type names of a bare list.
func (k ListKind) usualTypes() []string {
	switch k {
	case ListQueue:
		return queueTypes[:]
	case ListStack:
		return stackTypes[:]
	default:
		return arrayListTypes[:]
	}
}

// NewCustomObject returns a PSCustomObject with these note properties.
func NewCustomObject(p ...Property) *Object {
	return &Object{TypeNames: customObjectTypes[:], Extended: p}
}

// NewEnum returns the object form of an enum: type names, the name as text and the number.
func NewEnum(typeName, name string, n int32) *Object {
	return &Object{TypeNames: EnumTypes(typeName), ToString: name, HasToString: true, Base: Int32(n)}
}
