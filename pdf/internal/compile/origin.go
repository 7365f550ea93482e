package compile

import (
	"strconv"
	"strings"
	"unicode"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/compile/exprlang"
)

// frame says with which items of loops and which arguments of components content was made. It is
// what a data path is derived from, when a diagnostic asks for one; frames form a chain outwards
// to that of the document.
type frame struct {
	up    *frame
	depth int // of the chain
	plan  *Plan
	slot  int
	index int       // of a loop variable: its item
	arg   *argument // of a parameter: what it is made of, seen from up
}

// push enters a loop's item or an argument.
func (r *render) push(up *frame, slot, index int, arg *argument) {
	f := r.mem.frame(up.depth + 1)
	f.up, f.plan, f.slot, f.index, f.arg = up, r.plan, slot, index, arg
	r.at = f
}

// from is where the text of a span comes from.
func (r *render) from(s *span) doc.Origin {
	o := doc.Origin{Frame: r.at, Part: s.id}
	if s.link != nil {
		o.Link = s.link.id
	}
	return o
}

// DataPath implements doc.Frame: of the values that span number part prints, the path of the one
// that printed text.
func (f *frame) DataPath(part int32, printed, text string) string {
	parts := f.plan.spans[part]
	var all []*exprlang.Path
	literal := false
	for i := range parts {
		if parts[i].prog == nil {
			literal = literal || strings.Contains(parts[i].lit, text)
			continue
		}
		all = append(all, parts[i].prog.Reads...)
		var own string
		own, printed = between(parts[:i], parts[i+1:], printed)
		// A sign, a unit or a full stop of a figure may be the template's own, its digits are
		// all of one value.
		if strings.Contains(own, text) || own != "" && strings.Contains(text, own) && digits(own) == digits(text) {
			return f.source(parts[i].prog.Reads)
		}
	}
	if literal {
		return "" // the template's own
	}
	return f.source(all)
}

// between cuts what the part behind those before has printed off the text, up to the literal text
// that follows it, and returns it and the rest.
func between(before, behind []part, text string) (own, rest string) {
	if n := len(before); n > 0 && before[n-1].prog == nil {
		text = strings.TrimPrefix(text, before[n-1].lit)
	}
	if len(behind) > 0 && behind[0].prog == nil {
		if i := strings.Index(text, behind[0].lit); i >= 0 {
			return text[:i], text[i:]
		}
	}
	if len(behind) > 0 {
		return text, text // two values without a text between them
	}
	return text, ""
}

func digits(s string) (n int) {
	for _, r := range s {
		if unicode.IsDigit(r) {
			n++
		}
	}
	return n
}

// source names the data that reads lead to: what they have in common, else the
// first of them.
func (f *frame) source(reads []*exprlang.Path) string {
	var common string
	for _, p := range reads {
		path := f.trace(p)
		switch {
		case path == "":
		case common == "":
			common = path
		default:
			if both := commonPath(common, path); both != "" {
				common = both
			}
		}
	}
	return common
}

// find returns the frame of a slot, nil when it is neither of a loop nor of a parameter around.
func (f *frame) find(slot int) *frame {
	for f != nil && (f.slot != slot || f.up == nil) {
		f = f.up
	}
	return f
}

// trace follows loops, variables and parameters to the data.
func (f *frame) trace(p *exprlang.Path) string {
	info := f.plan.slots[p.Slot]
	at, names := "", p.Names
	own := f.find(p.Slot)
	switch {
	case p.Slot == 0:
	case own != nil && own.arg != nil:
		at = own.up.source(own.arg.reads())
	case info.list != nil && own != nil:
		at = f.trace(info.list) + "[" + strconv.Itoa(own.index) + "]"
	case info.reads != nil: // a loop over a list that was made, or a variable
		at, names = f.source(info.reads), nil
	default:
		return ""
	}
	if at == "" && p.Slot != 0 {
		return ""
	}
	for _, n := range names {
		if at != "" {
			at += "."
		}
		at += n
	}
	return at
}

// name names the value of a path in the words of the template, where it leads to no data.
func (f *frame) name(p *exprlang.Path) string {
	info := f.plan.slots[p.Slot]
	own := f.find(p.Slot)
	at := info.name
	switch {
	case own != nil && own.arg != nil:
		if of := f.trace(p); of != "" {
			return of
		}
	case info.list != nil && own != nil:
		at = f.name(info.list) + "[" + strconv.Itoa(own.index) + "]"
	}
	return strings.TrimPrefix(strings.Join(append([]string{at}, p.Names...), "."), ".")
}

// commonPath returns the path that both a and b begin with: a field or an item,
// never a part of a name.
func commonPath(a, b string) string {
	n := 0
	for i := range min(len(a), len(b)) + 1 {
		if end := func(s string) bool { return i == len(s) || s[i] == '.' || s[i] == '[' }; end(a) && end(b) {
			n = i
		}
		if i == min(len(a), len(b)) || a[i] != b[i] {
			break
		}
	}
	return a[:n]
}
