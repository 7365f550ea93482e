package compile

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/compile/exprlang"
	"example.com/quire/pdf/internal/diag"
)

// search looks for the value behind a printed text, for a diagnostic of layout.
// Nothing is noted while a document is made, so that documents without faults
// pay nothing: the blocks are gone through once more.
type search struct {
	src  *doc.Source
	text string
	path string // found
	// params holds the data paths of the arguments of components, by slot.
	params map[int]string
}

var errFound = errors.New("template: found")

// origin is layout.Document.DataPath: the data path of the first value that makes
// text at src.
func (r *render) origin(src *doc.Source, text string, limits diag.Limits) string {
	if src == nil {
		return ""
	}
	again := &render{
		ctx: r.ctx, plan: r.plan, index: make([]int, len(r.index)), most: r.most,
		search: &search{src: src, text: text, params: map[int]string{}},
		m: &exprlang.Machine{
			Slots: slices.Clone(r.m.Slots), Now: r.m.Now,
			Steps: limits.PredicateSteps, Memory: limits.ExprMemory, Range: limits.RangeItems,
		},
	}
	p := r.plan
	for _, blocks := range [...][]block{
		p.body, p.header.first, p.header.odd, p.header.even, p.header.other, p.header.all,
		p.footer.first, p.footer.odd, p.footer.even, p.footer.other, p.footer.all,
	} {
		again.held = 0
		// What else may be wrong is not what is asked for.
		if err := again.emit(blocks, func(doc.Node) error { again.held = 0; return nil }); err != nil {
			break
		}
	}
	return again.search.path
}

// found ends the search when printed, the text of p, is what it looks for.
func (r *render) found(p *part, printed []byte) error {
	s := r.search
	if !strings.HasPrefix(p.at.path, s.src.Path) {
		return nil
	}
	// A sign, a unit or a full stop of the figure may be the template's own, its
	// digits are all of one value.
	text := string(printed)
	if !strings.Contains(text, s.text) && (!strings.Contains(s.text, text) || digits(text) != digits(s.text)) {
		return nil
	}
	s.path = r.source(p.prog.Reads)
	return errFound
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
func (r *render) source(reads []*exprlang.Path) string {
	var common string
	for _, p := range reads {
		path := r.trace(p)
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

// trace follows loops, variables and parameters to the data.
func (r *render) trace(p *exprlang.Path) string {
	info := r.plan.slots[p.Slot]
	at, known := r.search.params[p.Slot]
	names := p.Names
	switch {
	case known:
	case p.Slot == 0:
	case info.list != nil:
		at = r.trace(info.list) + "[" + strconv.Itoa(r.index[p.Slot]) + "]"
	case info.reads != nil: // a loop over a list that was made, or a variable
		at, names = r.source(info.reads), nil
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
