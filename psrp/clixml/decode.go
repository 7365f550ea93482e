package clixml

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// Decoder reads values. The zero value works. It keeps its tables between calls to save
// allocations and is used by one goroutine at a time.
type Decoder struct {
	// Cipher opens SecureStrings; without one they stay sealed.
	Cipher Cipher
	// Limits bound what is accepted.
	Limits Limits
	// RejectLoneSurrogates makes half a surrogate pair an error. Otherwise it is kept as WTF-8.
	RejectLoneSurrogates bool

	s       string // the text; strings of values are cut from it
	pos     int
	limits  Limits
	element string // the innermost element, for errors
	err     error

	depth   int
	nodes   int
	decoded int64
	objects []*Object           // by RefId, when these count from 0 as PowerShell's do
	sparse  map[uint64]*Object  // by RefId, all others
	types   [][]string          // likewise
	strange map[uint64][]string // likewise
	props   []Property          // stacks of what is being read, copied out at their exact size
	items   []Value             //
	entries []Entry             //
	names   []string            //
	scratch []byte              // text being unescaped
	attrs   [maxAttrs]attribute // of the element just begun
	nattrs  int                 //
}

const maxAttrs = 8

// An attribute is where its name and value stand in the text, which keeps pointers out of the
// table.
type attribute struct {
	name, nameEnd   int
	value, valueEnd int
	spaces          bool // the value has white space to be made spaces
}

// Decode reads the body of a message: exactly one element, after an optional byte order mark. An
// empty body is null. Nothing in the result aliases body.
func (d *Decoder) Decode(body []byte) (Value, error) {
	d.start(Limits{})
	defer d.release()
	if int64(len(body)) > d.limits.Bytes {
		d.failAs(int(d.limits.Bytes), ErrTooLarge, fmt.Sprintf("body of %d bytes is over the limit of %d", len(body), d.limits.Bytes))
		return Value{}, d.err
	}
	bom := 0
	if len(body) >= 3 && body[0] == 0xEF && body[1] == 0xBB && body[2] == 0xBF {
		bom = 3
	}
	if len(body) == bom {
		return Nil(), nil
	}
	d.s, d.pos = string(body), bom
	d.space()
	v := Value{}
	if d.peek() {
		if tag, empty, ok := d.startTag(); ok {
			v, ok = d.value(tag, empty)
			if ok {
				d.space()
				if d.pos < len(d.s) {
					d.fail("more after the one element of a body")
				}
			}
		}
	}
	if d.err != nil {
		return Value{}, d.err
	}
	return v, nil
}

func (d *Decoder) start(l Limits) {
	if l == (Limits{}) {
		l = d.Limits
	}
	d.limits = l.withDefaults()
	d.err, d.element, d.depth, d.nodes, d.decoded = nil, "", 0, 0, 0
}

// release forgets what would keep the decoded values alive.
func (d *Decoder) release() {
	d.s = ""
	clear(d.objects)
	clear(d.types)
	d.objects, d.types, d.sparse, d.strange = d.objects[:0], d.types[:0], nil, nil
	if cap(d.scratch) > 1<<20 {
		d.scratch = nil
	}
	d.props, d.items, d.entries, d.names = shrink(d.props), shrink(d.items), shrink(d.entries), shrink(d.names)
}

// shrink empties a stack that may have been left full by an error, and gives up a large one.
func shrink[T any](s []T) []T {
	if cap(s) > 1<<16 {
		return nil
	}
	clear(s)
	return s[:0]
}

// fail records the first error and returns false.
func (d *Decoder) fail(reason string) bool { return d.failAs(d.pos, nil, reason) }

func (d *Decoder) failAs(at int, sentinel error, reason string) bool {
	if d.err == nil {
		d.err = &SyntaxError{Offset: int64(at), Element: d.element, Reason: reason, Err: sentinel}
	}
	return false
}

// failedIn names the innermost element of the error that has just been recorded.
func (d *Decoder) failedIn(tag string) bool {
	if e, ok := errors.AsType[*SyntaxError](d.err); ok {
		e.Element = tag
	}
	return false
}

// node counts a value against the limits: size is what it takes beside its text.
func (d *Decoder) node(size int64) bool {
	d.nodes++
	if d.nodes > d.limits.Nodes {
		return d.failAs(d.pos, ErrTooLarge, fmt.Sprintf("more than %d values", d.limits.Nodes))
	}
	return d.grow(size)
}

func (d *Decoder) grow(size int64) bool {
	d.decoded += size
	if d.decoded > d.limits.Decoded {
		return d.failAs(d.pos, ErrTooLarge, fmt.Sprintf("more than %d bytes of decoded values", d.limits.Decoded))
	}
	return true
}

const (
	valueSize  = 48  // a Value with its name in a property list
	objectSize = 128 // an Object beside that
)

// value reads the element that startTag began.
func (d *Decoder) value(tag string, empty bool) (Value, bool) {
	if kind, ok := tagKind(tag); ok {
		if !d.node(valueSize) {
			return Value{}, false
		}
		return d.primitive(kind, tag, empty)
	}
	switch tag {
	case "Obj":
		return d.object(empty)
	case "Ref":
		return d.reference(empty)
	case "PR":
		return d.progress(empty)
	case "Objs":
		return Value{}, d.failAs(d.pos, ErrUnknownTag, "Objs, the root of a stand-alone document, in a message")
	}
	return Value{}, d.unknown(tag, "a value")
}

func (d *Decoder) unknown(tag, where string) bool {
	return d.failAs(d.pos, ErrUnknownTag, fmt.Sprintf("unknown tag %q where %s is expected", clip(tag), where))
}

// refID reads the attribute RefId; false without an error when there is none.
func (d *Decoder) refID() (id uint64, ok bool) {
	s, found := d.attr("RefId")
	if !found {
		return 0, false
	}
	id, ok = parseDigits(s, math.MaxUint64)
	if !ok {
		d.fail(fmt.Sprintf("RefId %q is not a number", clip(s)))
	}
	return id, ok
}

func (d *Decoder) reference(empty bool) (Value, bool) {
	id, ok := d.refID()
	if !ok {
		return Value{}, d.fail("Ref without RefId")
	}
	at := d.pos
	if !empty && !d.noContent("Ref") {
		return Value{}, false
	}
	if !d.node(valueSize) {
		return Value{}, false
	}
	if id < uint64(len(d.objects)) {
		return d.objects[id].Value(), true
	}
	if o := d.sparse[id]; o != nil {
		return o.Value(), true
	}
	return Value{}, d.failAs(at, ErrUnknownRef, fmt.Sprintf("Ref to object %d, which is not declared before it", id))
}

// object reads an Obj. It is registered at its start tag, so that its children may refer to it.
func (d *Decoder) object(empty bool) (Value, bool) {
	if d.depth++; d.depth > d.limits.Depth {
		return Value{}, d.failAs(d.pos, ErrTooDeep, fmt.Sprintf("more than %d nested objects", d.limits.Depth))
	}
	if !d.node(valueSize + objectSize) {
		return Value{}, false
	}
	o := &Object{}
	if id, ok := d.refID(); ok {
		// Of a repeated identifier the later counts, as in PowerShell.
		switch n := uint64(len(d.objects)); {
		case id < n:
			d.objects[id] = o
		case id == n:
			d.objects = append(d.objects, o)
		default:
			if d.sparse == nil {
				d.sparse = map[uint64]*Object{}
			}
			d.sparse[id] = o
		}
	} else if d.err != nil {
		return Value{}, false
	}
	if !empty {
		outer := d.element
		if !d.objectChildren(o) {
			return Value{}, false
		}
		d.element = outer
	}
	d.depth--
	return Value{kind: KindObject, ptr: pointerValue(KindObject, o).ptr}, true
}

const (
	sawTypes = 1 << iota
	sawToString
	sawBase
	sawProps
	sawMembers
)

func (d *Decoder) objectChildren(o *Object) bool {
	seen := 0
	once := func(bit int, what string) bool {
		if seen&bit != 0 {
			return d.fail("a second " + what + " in Obj")
		}
		seen |= bit
		return true
	}
	for {
		d.element = "Obj"
		tag, empty, ok := d.child("Obj")
		if !ok {
			return false
		}
		switch tag {
		case "":
			return true
		case "TN":
			if !once(sawTypes, "list of type names") || !d.typeNames(o, empty) {
				return false
			}
		case "TNRef":
			if !once(sawTypes, "list of type names") || !d.typeRef(o, empty) {
				return false
			}
		case "ToString":
			if !once(sawToString, "ToString") {
				return false
			}
			o.HasToString = true
			if !empty {
				if o.ToString, ok = d.textOf("ToString"); !ok {
					return false
				}
			}
		case "Props":
			if !once(sawProps, "Props") {
				return false
			}
			if o.Adapted, ok = d.properties("Props", empty); !ok {
				return false
			}
		case "MS":
			if !once(sawMembers, "MS") {
				return false
			}
			if o.Extended, ok = d.properties("MS", empty); !ok {
				return false
			}
		default:
			if !once(sawBase, "value") {
				return false
			}
			if o.Base, ok = d.baseValue(tag, empty); !ok {
				return false
			}
		}
	}
}

// baseValue reads what an Obj wraps: a container, or any other value.
func (d *Decoder) baseValue(tag string, empty bool) (Value, bool) {
	kind := ListArray
	switch tag {
	case "LST":
	case "IE":
		kind = ListEnumerable
	case "QUE":
		kind = ListQueue
	case "STK":
		kind = ListStack
	case "DCT":
		return d.dict(empty)
	default:
		return d.value(tag, empty)
	}
	l := &List{Kind: kind}
	if empty {
		return l.Value(), true
	}
	base := len(d.items)
	d.element = tag
	for {
		child, childEmpty, ok := d.child(tag)
		if !ok {
			return Value{}, false
		}
		if child == "" {
			break
		}
		v, ok := d.value(child, childEmpty)
		if !ok {
			return Value{}, false
		}
		d.items = append(d.items, v)
	}
	l.Items = pop(&d.items, base)
	return l.Value(), true
}

// pop copies what lies on a stack above base out at its exact size.
func pop[T any](stack *[]T, base int) []T {
	top := (*stack)[base:]
	if len(top) == 0 {
		return nil
	}
	out := make([]T, len(top))
	copy(out, top)
	clear(top)
	*stack = (*stack)[:base]
	return out
}

func (d *Decoder) dict(empty bool) (Value, bool) {
	m := &Dict{}
	if empty {
		return m.Value(), true
	}
	base := len(d.entries)
	for {
		d.element = "DCT"
		tag, entryEmpty, ok := d.child("DCT")
		if !ok {
			return Value{}, false
		}
		if tag == "" {
			break
		}
		if tag != "En" {
			return Value{}, d.unknown(tag, "En")
		}
		if entryEmpty {
			return Value{}, d.fail("En without Key and Value")
		}
		var e Entry
		if e.Key, ok = d.half("Key"); !ok {
			return Value{}, false
		}
		if e.Key.IsNil() {
			return Value{}, d.fail("a dictionary's key is null")
		}
		if e.Value, ok = d.half("Value"); !ok {
			return Value{}, false
		}
		d.element = "En"
		end, _, ok := d.child("En")
		if !ok {
			return Value{}, false
		}
		if end != "" {
			return Value{}, d.unknown(end, "the end of En")
		}
		d.entries = append(d.entries, e)
	}
	m.Entries = pop(&d.entries, base)
	return m.Value(), true
}

// half reads the Key or the Value of a dictionary's entry.
func (d *Decoder) half(name string) (Value, bool) {
	d.element = "En"
	tag, empty, ok := d.child("En")
	if !ok {
		return Value{}, false
	}
	if n, _ := d.attr("N"); tag == "" || n != name {
		return Value{}, d.fail(fmt.Sprintf("N=%q where the entry's %s is expected", clip(n), name))
	}
	return d.value(tag, empty)
}

// properties reads Props or MS, which may hold member sets.
func (d *Decoder) properties(section string, empty bool) (Properties, bool) {
	if empty {
		return nil, true
	}
	base := len(d.props)
	d.element = section
	for {
		if p, ok := d.plainProperty(); ok {
			d.props = append(d.props, p)
			continue
		}
		tag, propEmpty, ok := d.child(section)
		if !ok {
			return nil, false
		}
		if tag == "" {
			break
		}
		raw, ok := d.attr("N")
		switch {
		case !ok:
			return nil, d.fail("a property without N")
		case raw == "": // PowerShell has no such property either
			return nil, d.fail("a property with an empty name")
		}
		name, ok := d.unescape(raw, d.pos)
		if !ok {
			return nil, false
		}
		var v Value
		if tag == "MS" && section == "MS" {
			if d.depth++; d.depth > d.limits.Depth {
				return nil, d.failAs(d.pos, ErrTooDeep, fmt.Sprintf("more than %d nested objects", d.limits.Depth))
			}
			if !d.node(valueSize) {
				return nil, false
			}
			set := &MemberSet{}
			if set.Members, ok = d.properties("MS", propEmpty); !ok {
				return nil, false
			}
			d.depth--
			v = set.Value()
		} else if v, ok = d.value(tag, propEmpty); !ok {
			return nil, false
		}
		d.props = append(d.props, Property{Name: name, Value: v})
	}
	return pop(&d.props, base), true
}

// plainProperty reads a property as most are, <TAG N="name">text</TAG>: a primitive whose name and
// text stand for themselves. Of anything else it reads nothing: that is for child and value.
func (d *Decoder) plainProperty() (p Property, ok bool) {
	s, from := d.s, d.pos+1
	if from >= len(s) || s[d.pos] != '<' {
		return p, false
	}
	at := from
	for at < len(s) && nameBytes[s[at]] {
		at++
	}
	tag := s[from:at]
	kind, ok := tagKind(tag)
	if !ok || !strings.HasPrefix(s[at:], ` N="`) {
		return p, false
	}
	at += len(` N="`)
	nameEnd := plainEnd(s, at, true)
	if nameEnd == at || !strings.HasPrefix(s[nameEnd:], `">`) {
		return p, false
	}
	p.Name = s[at:nameEnd]
	at = nameEnd + len(`">`)
	textEnd := plainEnd(s, at, false)
	end := textEnd + len("</>") + len(tag)
	if end > len(s) || s[textEnd] != '<' || s[textEnd+1] != '/' || s[textEnd+2:end-1] != tag || s[end-1] != '>' {
		return p, false
	}
	text, size := s[at:textEnd], int64(valueSize+len(p.Name))
	switch kind {
	case KindString, KindXML, KindScriptBlock, KindURI:
		p.Value = textValue(kind, text)
		size += int64(len(text))
	case KindNil, KindBytes, KindSecureString:
		return p, false
	default:
		var err error
		if p.Value, err = parsePrimitive(kind, trimSpace(text)); err != nil {
			return p, false
		}
	}
	if !d.node(size) {
		return p, false
	}
	d.pos = end
	return p, true
}

const (
	maxTypeNames = 128
	maxTypeName  = 16 << 10
)

func (d *Decoder) typeNames(o *Object, empty bool) bool {
	id, hasID := d.refID()
	if d.err != nil {
		return false
	}
	base := len(d.names)
	for !empty {
		d.element = "TN"
		tag, nameEmpty, ok := d.child("TN")
		if !ok {
			return false
		}
		if tag == "" {
			break
		}
		if tag != "T" {
			return d.unknown(tag, "T")
		}
		name := ""
		if !nameEmpty {
			if name, ok = d.textOf("T"); !ok {
				return false
			}
		}
		if len(name) > maxTypeName || len(d.names)-base == maxTypeNames {
			return d.failAs(d.pos, ErrTooLarge, fmt.Sprintf("more than %d type names, or one over %d bytes", maxTypeNames, maxTypeName))
		}
		if !d.grow(valueSize) {
			return false
		}
		d.names = append(d.names, name)
	}
	o.TypeNames = pop(&d.names, base)
	if !hasID {
		return true
	}
	switch n := uint64(len(d.types)); {
	case id < n:
		d.types[id] = o.TypeNames
	case id == n:
		d.types = append(d.types, o.TypeNames)
	default:
		if d.strange == nil {
			d.strange = map[uint64][]string{}
		}
		d.strange[id] = o.TypeNames
	}
	return true
}

func (d *Decoder) typeRef(o *Object, empty bool) bool {
	id, ok := d.refID()
	if !ok {
		return d.fail("TNRef without RefId")
	}
	at := d.pos
	if !empty && !d.noContent("TNRef") {
		return false
	}
	if id < uint64(len(d.types)) {
		o.TypeNames = d.types[id]
		return true
	}
	names, ok := d.strange[id]
	if !ok {
		return d.failAs(at, ErrUnknownRef, fmt.Sprintf("TNRef to type names %d, which are not declared before it", id))
	}
	o.TypeNames = names
	return true
}

// textOf reads the text of an element up to its end tag.
func (d *Decoder) textOf(tag string) (string, bool) {
	d.element = tag
	at := d.pos
	raw, ok := d.rawText(tag)
	if !ok {
		return "", false
	}
	return d.unescape(raw, at)
}
