package clixml

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unsafe"
)

// Encoder appends values as PowerShell writes them, byte for byte. The zero value works. It keeps
// its tables between calls to save allocations, resets itself at the start of each, and is used by
// one goroutine at a time.
type Encoder struct {
	// Cipher protects SecureStrings; without one they are an error.
	Cipher Cipher
	// Depth limits nested objects; default 50.
	Depth int

	objects []unsafe.Pointer       // identities by RefId, while they are few
	index   map[unsafe.Pointer]int // the same when they are many
	count   int                    // objects so far
	types   [][]string             // type-name lists by RefId
	byNames map[string]int         // the same when they are many
	depth   int
	indent  int    // -1 = on one line
	stream  string // attribute S of the next element, in a stand-alone document
	scratch []byte
	err     error
}

// fewRefs is up to how many identities a linear search beats a map.
const fewRefs = 16

func (e *Encoder) reset() {
	e.objects = e.objects[:0]
	clear(e.types)
	e.types = e.types[:0]
	// A map never shrinks, and clearing one costs what it has grown to.
	if len(e.index) > 4096 {
		e.index = nil
	}
	clear(e.index)
	clear(e.byNames)
	e.count, e.depth, e.indent, e.stream, e.err = 0, 0, -1, "", nil
}

// AppendValue appends v as the body of a message: one element, no declaration, on one line. An
// absent value is written as Nil. On an error it returns dst as it was.
func (e *Encoder) AppendValue(dst []byte, v Value) ([]byte, error) {
	e.reset()
	out := e.value(dst, v, "")
	if e.err != nil {
		return dst, e.err
	}
	return out, nil
}

func (e *Encoder) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

// newline begins an indented line in a stand-alone document.
func (e *Encoder) newline(dst []byte) []byte {
	if e.indent < 0 {
		return dst
	}
	dst = append(dst, '\n')
	for range e.indent {
		dst = append(dst, ' ', ' ')
	}
	return dst
}

func (e *Encoder) in() {
	if e.indent >= 0 {
		e.indent++
	}
}

// out ends an indented level: the closing tag stands on a line of its own.
func (e *Encoder) out(dst []byte) []byte {
	if e.indent < 0 {
		return dst
	}
	e.indent--
	return e.newline(dst)
}

func open(dst []byte, tag string) []byte { return append(append(dst, '<'), tag...) }

func closeTag(dst []byte, tag string) []byte {
	dst = append(dst, '<', '/')
	dst = append(dst, tag...)
	return append(dst, '>')
}

// named writes a start tag up to its attributes: ` N="name"` when there is a name.
func (e *Encoder) named(dst []byte, tag, name string) []byte {
	dst = append(dst, '<')
	dst = append(dst, tag...)
	if e.stream != "" {
		dst = append(e.text(append(dst, ` S="`...), e.stream, true), '"')
		e.stream = ""
	}
	if name == "" {
		return dst
	}
	return append(e.text(append(dst, ` N="`...), name, true), '"')
}

func (e *Encoder) text(dst []byte, s string, attr bool) []byte {
	dst, ok := appendEscaped(dst, s, attr)
	if !ok {
		e.fail(fmt.Errorf("clixml: encode text %q: %w", clip(s), ErrInvalidText))
	}
	return dst
}

// textElement writes an element of text; an empty one is a pair of tags.
func (e *Encoder) textElement(dst []byte, tag, name, s string) []byte {
	dst = append(e.named(dst, tag, name), '>')
	return closeTag(e.text(dst, s, false), tag)
}

func (e *Encoder) value(dst []byte, v Value, name string) []byte {
	if e.err != nil {
		return dst
	}
	dst = e.newline(dst)
	switch v.kind {
	case KindNone, KindNil:
		return append(e.named(dst, "Nil", name), " />"...)
	case KindString, KindXML, KindScriptBlock, KindURI:
		return e.textElement(dst, kinds[v.kind].tag, name, v.text())
	case KindObject, KindList, KindDict:
		return e.object(dst, v, name)
	case KindMemberSet:
		e.fail(fmt.Errorf("clixml: encode %q: a member set is allowed only among extended properties", name))
		return dst
	case KindProgress:
		return e.progress(dst, (*Progress)(v.ptr), name)
	case KindSecureString:
		return e.secure(dst, (*SecureString)(v.ptr), name)
	case KindBytes:
		b := v.bytes()
		dst = e.named(dst, "BA", name)
		if len(b) == 0 {
			return append(dst, " />"...)
		}
		dst = base64.StdEncoding.AppendEncode(append(dst, '>'), b)
		return closeTag(dst, "BA")
	default:
		tag := kinds[v.kind].tag
		dst = append(e.named(dst, tag, name), '>')
		return closeTag(appendPrimitive(dst, v), tag)
	}
}

// appendPrimitive appends the text of a value that has neither markup nor structure.
func appendPrimitive(dst []byte, v Value) []byte {
	switch v.kind {
	case KindBool:
		return strconv.AppendBool(dst, v.num == 1)
	case KindInt8, KindInt16, KindInt32, KindInt64:
		return strconv.AppendInt(dst, v.signed(), 10)
	case KindChar, KindUint8, KindUint16, KindUint32, KindUint64:
		return strconv.AppendUint(dst, v.num, 10)
	case KindFloat32:
		f, _ := v.Float32()
		return appendFloat(dst, float64(f), 32)
	case KindFloat64:
		return appendFloat(dst, math.Float64frombits(v.num), 64)
	case KindDateTime:
		d, _ := v.DateTime()
		return d.appendText(dst)
	case KindTimeSpan:
		return TimeSpan(v.signed()).appendText(dst)
	case KindDecimal:
		return (*Decimal)(v.ptr).appendText(dst)
	case KindGUID:
		return (*GUID)(v.ptr).AppendText(dst)
	case KindVersion:
		return (*Version)(v.ptr).appendText(dst)
	}
	return dst
}

// ref returns the RefId of an identity that was written before, or gives it the next one.
func (e *Encoder) ref(p unsafe.Pointer) (id int, seen bool) {
	if e.count <= fewRefs {
		if i := slices.Index(e.objects, p); i >= 0 {
			return i, true
		}
		id = e.count
		e.count++
		if e.count <= fewRefs {
			e.objects = append(e.objects, p)
			return id, false
		}
		if e.index == nil {
			e.index = map[unsafe.Pointer]int{}
		}
		for i, q := range e.objects {
			e.index[q] = i
		}
		e.index[p] = id
		return id, false
	}
	if i, ok := e.index[p]; ok {
		return i, true
	}
	id = e.count
	e.count++
	e.index[p] = id
	return id, false
}

func (e *Encoder) object(dst []byte, v Value, name string) []byte {
	id, seen := e.ref(v.ptr)
	if seen {
		dst = append(e.named(dst, "Ref", name), ` RefId="`...)
		return append(strconv.AppendInt(dst, int64(id), 10), `" />`...)
	}
	limit := cmp.Or(e.Depth, 50)
	if e.depth++; e.depth > limit {
		e.fail(fmt.Errorf("clixml: encode object at depth %d: %w", e.depth, ErrTooDeep))
		return dst
	}
	dst = append(e.named(dst, "Obj", name), ` RefId="`...)
	dst = append(strconv.AppendInt(dst, int64(id), 10), '"')
	mark := len(dst)
	dst = append(dst, '>')
	e.in()
	if v.kind == KindObject {
		o := v.object()
		dst = e.typeNames(dst, o.TypeNames)
		if o.ToString != "" {
			dst = e.textElement(e.newline(dst), "ToString", "", o.ToString)
		} else if o.HasToString {
			dst = append(e.newline(dst), "<ToString />"...)
		}
		switch o.Base.kind {
		case KindNone:
		case KindList, KindDict:
			dst = e.container(dst, o.Base)
		default:
			dst = e.value(dst, o.Base, "")
		}
		dst = e.members(dst, "Props", "", o.Adapted)
		dst = e.members(dst, "MS", "", o.Extended)
	} else {
		if v.kind == KindDict {
			dst = e.typeNames(dst, hashtableTypes[:])
		} else {
			dst = e.typeNames(dst, v.list().Kind.usualTypes())
		}
		dst = e.container(dst, v)
	}
	e.depth--
	if len(dst) == mark+1 {
		if e.indent >= 0 {
			e.indent--
		}
		return append(dst[:mark], " />"...)
	}
	return closeTag(e.out(dst), "Obj")
}

// members writes Props or MS, or a member set when it has a name.
func (e *Encoder) members(dst []byte, tag, name string, p Properties) []byte {
	if len(p) == 0 && name == "" {
		return dst
	}
	dst = e.named(e.newline(dst), tag, name)
	if len(p) == 0 {
		return append(dst, " />"...)
	}
	dst = append(dst, '>')
	e.in()
	for i := range p {
		n := p[i].Name
		if n == "" {
			e.fail(fmt.Errorf("clixml: encode %s: property %d has no name", tag, i))
			return dst
		}
		if v := p[i].Value; v.kind == KindMemberSet && tag == "MS" {
			if e.depth++; e.depth > 50 {
				e.fail(fmt.Errorf("clixml: encode member set %q: %w", clip(n), ErrTooDeep))
				return dst
			}
			dst = e.members(dst, "MS", n, v.memberSet().Members)
			e.depth--
			continue
		}
		dst = e.value(dst, p[i].Value, n)
	}
	return closeTag(e.out(dst), tag)
}

// container writes the list or dictionary itself, inside its Obj.
func (e *Encoder) container(dst []byte, v Value) []byte {
	dst = e.newline(dst)
	if v.kind == KindDict {
		d := v.dict()
		if len(d.Entries) == 0 {
			return append(dst, "<DCT />"...)
		}
		dst = append(dst, "<DCT>"...)
		e.in()
		for i := range d.Entries {
			if d.Entries[i].Key.IsNil() {
				e.fail(fmt.Errorf("clixml: encode dictionary: key %d is null", i))
				return dst
			}
			dst = append(e.newline(dst), "<En>"...)
			e.in()
			dst = e.value(dst, d.Entries[i].Key, "Key")
			dst = e.value(dst, d.Entries[i].Value, "Value")
			dst = append(e.out(dst), "</En>"...)
		}
		return append(e.out(dst), "</DCT>"...)
	}
	l := v.list()
	tag := l.Kind.String()
	dst = open(dst, tag)
	if len(l.Items) == 0 {
		return append(dst, " />"...)
	}
	dst = append(dst, '>')
	e.in()
	for _, item := range l.Items {
		dst = e.value(dst, item, "")
	}
	return closeTag(e.out(dst), tag)
}

// typeNames writes TN, or TNRef when the same list was written before in this message.
func (e *Encoder) typeNames(dst []byte, names []string) []byte {
	if len(names) == 0 {
		return dst
	}
	dst = e.newline(dst)
	id, seen := e.typeRef(names)
	if seen {
		dst = append(dst, `<TNRef RefId="`...)
		return append(strconv.AppendInt(dst, int64(id), 10), `" />`...)
	}
	dst = append(dst, `<TN RefId="`...)
	dst = append(strconv.AppendInt(dst, int64(id), 10), `">`...)
	e.in()
	for _, n := range names {
		dst = e.textElement(e.newline(dst), "T", "", n)
	}
	return append(e.out(dst), "</TN>"...)
}

func (e *Encoder) typeRef(names []string) (id int, seen bool) {
	for i, t := range e.types {
		if i == fewRefs {
			break
		}
		if len(t) == len(names) && (&t[0] == &names[0] || slices.Equal(t, names)) {
			return i, true
		}
	}
	id = len(e.types)
	if id >= fewRefs {
		e.scratch = e.scratch[:0]
		for _, n := range names {
			e.scratch = append(append(e.scratch, n...), 0)
		}
		if i, ok := e.byNames[string(e.scratch)]; ok {
			return i, true
		}
		if e.byNames == nil {
			e.byNames = map[string]int{}
		}
		e.byNames[string(e.scratch)] = id
	}
	e.types = append(e.types, names)
	return id, false
}

func (e *Encoder) secure(dst []byte, s *SecureString, name string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	dst = append(e.named(dst, "SS", name), '>')
	switch {
	case s.gone:
		e.fail(fmt.Errorf("clixml: encode SecureString %q: it was destroyed", name))
	case s.sealed != nil && e.Cipher == nil:
		dst = base64.StdEncoding.AppendEncode(dst, s.sealed)
	case s.sealed != nil:
		e.fail(fmt.Errorf("clixml: encode SecureString %q: it is sealed under another session's key", name))
	case e.Cipher == nil:
		e.fail(fmt.Errorf("clixml: encode SecureString %q: %w", name, ErrNoCipher))
	default:
		b, err := e.Cipher.Encrypt(e.scratch[:0], s.utf16)
		if err != nil {
			e.fail(fmt.Errorf("clixml: encode SecureString %q: %w", name, err))
			return dst
		}
		dst = base64.StdEncoding.AppendEncode(dst, b)
		clear(b) // a plain cipher's output is the text
		e.scratch = b[:0]
	}
	return closeTag(dst, "SS")
}

func (e *Encoder) progress(dst []byte, p *Progress, name string) []byte {
	dst = append(e.named(dst, "PR", name), '>')
	e.in()
	number := func(tag string, n int32) {
		dst = append(open(e.newline(dst), tag), '>')
		dst = closeTag(strconv.AppendInt(dst, int64(n), 10), tag)
	}
	dst = e.textElement(e.newline(dst), "AV", "", p.Activity)
	number("AI", p.ActivityID)
	if p.NilOperation {
		dst = append(e.newline(dst), "<Nil />"...)
	} else {
		dst = e.textElement(e.newline(dst), "S", "", p.CurrentOperation)
	}
	number("PI", p.ParentActivityID)
	number("PC", p.PercentComplete)
	dst = e.textElement(e.newline(dst), "T", "", p.Type)
	number("SR", p.SecondsRemaining)
	dst = e.textElement(e.newline(dst), "SD", "", p.StatusDescription)
	return closeTag(e.out(dst), "PR")
}
