package exprlang

import (
	"fmt"
	"time"
)

// Machine is the state of one render: slots, budgets, the render time. It is for
// one goroutine.
type Machine struct {
	// Slots holds the data, variables, loop variables and parameters; the indexes
	// are those that the Scope gave out.
	Slots []Value
	// Now is the render time; the zero value makes now() an error.
	Now time.Time

	Steps  int64 // predicate steps that are left
	Memory int64 // bytes that are left for lists and texts that expressions make
	Range  int64 // most items of one range

	elem  [maxPredicates]*Value // # of each predicate depth
	index [maxPredicates]int
	lets  []Value
	buf   []byte
}

// Reset makes m a new machine in the memory that it has.
func (m *Machine) Reset() {
	const most = 4096 // values, or bytes
	if len(m.lets) > most || cap(m.buf) > most {
		*m = Machine{}
	}
	clear(m.lets)
	clear(m.buf[:cap(m.buf)])
	*m = Machine{lets: m.lets, buf: m.buf[:0]}
}

// maxPredicates is the deepest nesting that the checker lets through.
const maxPredicates = 8

// Error is why an expression has no value.
type Error struct {
	Code    string // stable code
	Off     int    // byte offset in the source of the expression
	Message string
	Missing *Path // the path whose value is missing, when that is why
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Codes of errors and problems.
const (
	CodeSyntax    = "T106"
	CodeType      = "T107"
	CodeField     = "T104"
	CodeFunction  = "T109"
	CodeLocale    = "T117"
	CodeNow       = "T119"
	CodeMissing   = "D206"
	CodeValue     = "D207"
	CodeExprSize  = "X304"
	CodeExprNodes = "X305"
	CodeNesting   = "X306"
	CodeSteps     = "X310"
	CodeRange     = "X311"
	CodeMemory    = "X312"
)

func fail(off int, code, format string, args ...any) error {
	return &Error{Code: code, Off: off, Message: fmt.Sprintf(format, args...)}
}

// step takes one predicate step.
func (m *Machine) step(off int) error {
	if m.Steps--; m.Steps < 0 {
		return fail(off, CodeSteps, "the expressions take too many steps")
	}
	return nil
}

// take takes n bytes from the memory budget.
func (m *Machine) take(off, n int) error {
	if m.Memory -= int64(n); m.Memory < 0 {
		return fail(off, CodeMemory, "the expressions take too much memory")
	}
	return nil
}

const valueSize = 48

// Path is a plain field path: a slot and the indexes of fields in it.
type Path struct {
	Slot  int
	Steps []int
	Names []string // of the fields, beside Steps
}

// Program is a compiled expression. It is immutable and safe for concurrent use,
// each goroutine with its own Machine.
type Program struct {
	Type *Type
	// Path is set when the expression is a plain field path.
	Path *Path
	// Reads are the paths that the value is made of, in the order of the source.
	Reads []*Path
	// Figure reports whether the text is a number or a date, in a format or as it
	// is.
	Figure bool
	// Constant reports whether every document has the same value.
	Constant bool
	// Leaves are the literals that the value may be, those under ? : and ??. Open is set when it
	// may be another value, too.
	Leaves []Leaf
	Open   bool
	// Holds and Fails are what a condition proves of the values of slots when it holds and when it
	// does not.
	Holds, Fails []string
	// Itself is the fact that the value, as it is read, is not null; empty when it has no name.
	Itself []string
	// Desc names the value in messages: trades[], note.number. It may be empty.
	Desc string
	// Subject is the source of the value that is printed, without what formats it, where a test of
	// it against null proves that it is there; else empty.
	Subject string

	lets  int
	eval  evalFunc
	write func(m *Machine, dst []byte) ([]byte, error)
}

// Leaf is a literal of an expression.
type Leaf struct {
	Off   int // byte of the source
	Value Value
}

type evalFunc func(m *Machine) (Value, error)

// Eval computes the value. Errors are of type *Error.
func (p *Program) Eval(m *Machine) (Value, error) {
	if len(m.lets) < p.lets {
		m.lets = make([]Value, p.lets)
	}
	return p.eval(m)
}

// Append computes the value and appends its text. Null is an error: a missing
// value never prints as a blank.
func (p *Program) Append(m *Machine, dst []byte) ([]byte, error) {
	if len(m.lets) < p.lets {
		m.lets = make([]Value, p.lets)
	}
	if p.write != nil {
		return p.write(m, dst)
	}
	if p.Path != nil {
		if v := p.Path.value(m); v.kind == text {
			return append(dst, v.str...), nil
		}
	}
	v, err := p.eval(m)
	if err != nil {
		return dst, err
	}
	if v.IsNull() {
		return dst, p.missing()
	}
	return v.AppendText(dst), nil
}

func (p *Program) missing() error {
	e := expr{desc: p.Desc, path: p.Path}
	return e.missing()
}

// Printable reports whether values of type t have a text.
func (t *Type) Printable() bool {
	switch t.Kind {
	case ListKind, RecordKind, MapKind, ImageKind, NullKind, formsKind:
		return false
	}
	return true
}

// Storable reports whether variables and parameters may be of type t.
func (t *Type) Storable() bool { return !t.OfLayout() }

// OfLayout reports whether values of type t are known to the layout alone.
func (t *Type) OfLayout() bool { return t.Kind >= PageKind && t.Kind <= TitleKind }
