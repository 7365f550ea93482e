package compile

import (
	"errors"
	"slices"
	"strings"

	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/internal/compile/exprlang"
)

// local is a name that a block brings in: a loop variable or a parameter.
type local struct {
	name string
	typ  *exprlang.Type
	slot int
	desc string
}

// slotInfo says where the value of a slot comes from, for data paths.
type slotInfo struct {
	list *exprlang.Path // of a loop variable: the list, when it is a plain path
	name string         // else: what to call the value
	// reads are what a variable, or the list of a loop that is no plain path, is
	// made of.
	reads []*exprlang.Path
}

// slot gives out a slot.
func (c *compiler) slot(info slotInfo) int {
	c.plan.slots = append(c.plan.slots, info)
	at := len(c.plan.slots) - 1
	if c.log != nil {
		c.log.slots = append(c.log.slots, keptSlot{at, info})
	}
	return at
}

// variable is an entry of `vars:`.
type variable struct {
	name string
	node *strictyaml.Node
	busy bool // being compiled: a use now is a circle
	done bool
	prog *exprlang.Program
	slot int
}

// exprScope lets one expression see its names.
type exprScope struct {
	c    *compiler
	n    *strictyaml.Node
	path string
	off  int
}

func (s exprScope) Lookup(name string) (exprlang.Var, bool) {
	c := s.c
	for _, l := range slices.Backward(c.locals) {
		if l.name == name {
			return exprlang.Var{Slot: l.slot, Field: -1, Type: l.typ, Desc: l.desc}, true
		}
	}
	for _, v := range c.vars {
		if v.name == name {
			return c.variable(v, s), true
		}
	}
	if i, f := c.plan.contract.Field(name); f != nil {
		return exprlang.Var{Slot: 0, Field: i, Type: f.Type, Note: f}, true
	}
	return exprlang.Var{}, false
}

func (s exprScope) Names() []string {
	var names []string
	for _, l := range s.c.locals {
		names = append(names, l.name)
	}
	for _, v := range s.c.vars {
		names = append(names, v.name)
	}
	return append(names, fieldNames(s.c.plan.contract)...)
}

func (s exprScope) Used(f *exprlang.Field, off int) {
	if s.c.file != s.c.plan.file {
		return
	}
	line, col := s.n.Pos(s.off + off)
	f.Note(line, col)
	if log := s.c.log; log != nil {
		log.noted = append(log.noted, notedField{f, [2]int{line, col}})
	}
}

// variable compiles a variable when it is used first, so their order is free and
// the plan computes each after those it needs.
func (c *compiler) variable(v *variable, from exprScope) exprlang.Var {
	if v.busy {
		c.bad(from.n, from.path, codeCircle, "", "variable %q needs itself", v.name)
	}
	if !v.done && !v.busy {
		v.busy = true
		locals, known := c.locals, c.exprOptions.Known
		c.locals, c.exprOptions.Known = nil, nil
		v.prog = c.compileExpr(v.node, "vars."+v.name, 0, v.node.Text)
		c.locals, c.exprOptions.Known = locals, known
		v.busy, v.done = false, true
		if v.prog != nil && !v.prog.Type.Storable() {
			c.bad(v.node, "vars."+v.name, exprlang.CodeType, "", "a variable cannot hold a %s", v.prog.Type)
			v.prog = nil
		}
		if v.prog != nil {
			v.slot = c.slot(slotInfo{name: v.name, reads: v.prog.Reads})
			c.plan.vars = append(c.plan.vars, planVar{prog: v.prog, slot: v.slot, at: c.place(v.node, "vars."+v.name, 0, v.prog)})
		}
	}
	if v.prog == nil {
		return exprlang.Var{Field: -1, Type: invalidType}
	}
	return exprlang.Var{Slot: v.slot, Field: -1, Type: v.prog.Type}
}

// compileExpr compiles src, which stands at byte off of n.Text; nil when it has
// problems, which are reported.
func (c *compiler) compileExpr(n *strictyaml.Node, path string, off int, src string) *exprlang.Program {
	prog, problems := exprlang.Compile(src, exprScope{c, n, path, off}, c.exprOptions)
	for _, p := range problems {
		if p.Code == exprlang.CodeLocale {
			if c.toldLocale { // what helps one use helps all
				continue
			}
			c.toldLocale = true
		}
		line, col := n.Pos(off + p.Off)
		c.at(line, col, path, p.Code, p.Hint, "%s", p.Message)
	}
	if prog != nil && prog.Constant {
		var e *exprlang.Error
		if _, err := c.constant(prog); errors.As(err, &e) && e.Code == exprlang.CodeValue {
			line, col := n.Pos(off + e.Off)
			c.at(line, col, path, exprlang.CodeType, "", "%s", e.Message)
			return nil
		}
	}
	if prog != nil && prog.Type.Kind == exprlang.Invalid {
		return nil
	}
	if prog != nil && len(prog.Reads) > 0 {
		c.plan.reads = append(c.plan.reads, reading{prog: prog, at: c.place(n, path, off, prog)})
		if c.log != nil {
			c.log.readAt = append(c.log.readAt, len(c.plan.reads)-1)
		}
	}
	return prog
}

// expr compiles a node that is an expression as a whole; "${...}" around it is
// taken off.
func (c *compiler) expr(n *strictyaml.Node, path string) *programAt {
	if !n.IsScalar() || n.Kind == strictyaml.Null {
		c.bad(n, path, codeWrong, "", "want an expression, got %s", n.Kind)
		return nil
	}
	from, to := 0, len(n.Text)
	if wrapped(n.Text) {
		from, to = 2, to-1
	}
	prog := c.compileExpr(n, path, from, n.Text[from:to])
	if prog == nil {
		return nil
	}
	return &programAt{prog, c.place(n, path, from, prog)}
}

// wrapped reports whether s is one ${...}.
func wrapped(s string) bool {
	return strings.HasPrefix(s, "${") && closingBrace(s, 2) == len(s)-1
}

// programAt is an expression with its place.
type programAt struct {
	prog *exprlang.Program
	at   *place
}

// holds and fails are what a condition proves; nothing when it could not be compiled.
func (p *programAt) holds() []string {
	if p == nil {
		return nil
	}
	return p.prog.Holds
}

func (p *programAt) fails() []string {
	if p == nil {
		return nil
	}
	return p.prog.Fails
}

// given lets what is compiled until end is called rely on facts.
func (c *compiler) given(facts []string) (end func()) {
	around := c.exprOptions.Known
	c.exprOptions.Known = slices.Concat(around, facts)
	return func() { c.exprOptions.Known = around }
}

// condition compiles an `if`.
func (c *compiler) condition(n *strictyaml.Node, path string) *programAt {
	p := c.expr(n, path)
	if p != nil && p.prog.Type.Kind != exprlang.BooleanKind && p.prog.Type.Kind != exprlang.NullKind {
		c.bad(n, path, exprlang.CodeType, "", "want a condition, got %s", p.prog.Type)
		return nil
	}
	if p != nil && p.prog.Constant {
		if v, err := c.constant(p.prog); err == nil {
			c.warn(n.Line, n.Col, path, codeDead, "leave it out, or test a value of the data", "the condition is always %t", v.True())
		}
	}
	return p
}

// constant returns the value of an expression that needs no data.
func (c *compiler) constant(p *exprlang.Program) (exprlang.Value, error) {
	return p.Eval(&exprlang.Machine{Steps: c.limit.PredicateSteps, Memory: c.limit.ExprMemory, Range: c.limit.RangeItems})
}
