package psrp

import (
	"fmt"
	"slices"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

// Pipeline is what to run. It is a value: two pipelines derived from one never share arguments.
// What cannot be marshalled fails when it is run.
type Pipeline struct {
	proto.Pipeline
	err error
}

// Cmd returns a pipeline of one command.
func Cmd(name string) Pipeline { return one(proto.Command{Name: name}) }

// Script returns a pipeline of one script. Values belong into Param and Arg, not into its text.
func Script(text string) Pipeline { return one(proto.Command{Name: text, Script: true}) }

func one(c proto.Command) Pipeline {
	return Pipeline{Pipeline: proto.Pipeline{Statements: [][]proto.Command{{c}}, RemoteStreams: 0}}
}

// clone copies what the methods change.
func (p Pipeline) clone() Pipeline {
	statements := make([][]proto.Command, len(p.Statements))
	for i, s := range p.Statements {
		statements[i] = slices.Clone(s)
		for j := range statements[i] {
			statements[i][j].Args = slices.Clone(s[j].Args)
		}
	}
	p.Statements = statements
	return p
}

// last returns the last command of the last statement.
func (p *Pipeline) last() *proto.Command {
	if n := len(p.Statements); n > 0 {
		if m := len(p.Statements[n-1]); m > 0 {
			return &p.Statements[n-1][m-1]
		}
	}
	if p.err == nil {
		p.err = &LocalProtocolError{Op: "Pipeline", State: "there is no command yet: begin with Cmd or Script"}
	}
	return &proto.Command{}
}

func (p Pipeline) arg(name string, v any) Pipeline {
	p = p.clone()
	c := p.last()
	x, err := clixml.Marshal(v)
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("psrp: argument %d %s of %.40q: %w", len(c.Args)+1, name, c.Name, err)
	}
	c.Args = append(c.Args, Arg{Name: name, Value: x})
	return p
}

// Param gives the last command, which may be a script, a parameter by name.
func (p Pipeline) Param(name string, v any) Pipeline { return p.arg(name, v) }

// Arg gives the last command a positional argument.
func (p Pipeline) Arg(v any) Pipeline { return p.arg("", v) }

// Switch sets a switch of the last command.
func (p Pipeline) Switch(name string) Pipeline { return p.arg(name, true) }

// Pipe pipes the output of p's last statement into next: A | B.
func (p Pipeline) Pipe(next Pipeline) Pipeline {
	p, next = p.clone(), next.clone()
	p.last()
	next.last()
	p.merge(next)
	if p.err == nil {
		n := len(p.Statements) - 1
		p.Statements[n] = append(p.Statements[n], next.Statements[0]...)
		p.Statements = append(p.Statements, next.Statements[1:]...)
	}
	return p
}

// Then runs next after p: A; B.
func (p Pipeline) Then(next Pipeline) Pipeline {
	p, next = p.clone(), next.clone()
	p.merge(next)
	p.Statements = append(p.Statements, next.Statements...)
	return p
}

func (p *Pipeline) merge(next Pipeline) {
	if p.err == nil {
		p.err = next.err
	}
	p.Input = p.Input || next.Input
}
