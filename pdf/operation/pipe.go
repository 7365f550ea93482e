package operation

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"example.com/quire/internal/nearest"
	"example.com/quire/internal/strictjson"
	"example.com/quire/pdf"
)

// MostSteps bounds the steps of a pipe.
const MostSteps = 100

const stepsWanted = `a JSON array of steps such as [{"rotate": {"degrees": 90}}, {"number": {}}]`

// pipe does several operations with one reading and one writing. Each step is an object with one
// member: the name of an operation, and its parameters. A parameter of the kind Upload is the name
// of one of the further files.
func pipe(c *call) error {
	b, err := c.upload("steps")
	if err != nil {
		return err
	}
	var steps []map[string]map[string]any
	if err := strictjson.Decode(b, &steps, strictjson.DecodeOptions{Limits: strictjson.Limits{Depth: 4, Nodes: 10_000}}); err != nil {
		return &pdf.OptionError{Field: "steps", Got: err.Error(), Want: stepsWanted}
	}
	if len(steps) == 0 || len(steps) > MostSteps {
		return &pdf.OptionError{Field: "steps", Got: strconv.Itoa(len(steps)) + " steps", Want: "1 to " + strconv.Itoa(MostSteps)}
	}
	used := map[string]bool{}
	ops, names := make([]pdf.Op, len(steps)), make([]string, len(steps))
	for i, step := range steps {
		if len(step) != 1 {
			return &pdf.OptionError{Field: fmt.Sprintf("steps[%d]", i), Got: strconv.Itoa(len(step)) + " operations", Want: stepsWanted}
		}
		for name, parameters := range step {
			names[i] = name
			if ops[i], err = c.step(name, parameters, used); err != nil {
				return inStep(fmt.Sprintf("steps[%d].%s", i, name), err)
			}
		}
	}
	for _, f := range c.in.Files[1:] {
		if !used[base(f.Name)] {
			return &pdf.OptionError{Field: "file", Got: strconv.Quote(base(f.Name)) + ", which no step names", Want: "files that steps name, behind the one that is changed"}
		}
	}
	err = c.edit(append(ops, pdf.Op{})...) // which does nothing: of several the wrong one is named, and so is a single step
	if e, ok := errors.AsType[*pdf.OptionError](err); ok {
		for i, name := range names {
			at := fmt.Sprintf("steps[%d].", i)
			if rest, of := strings.CutPrefix(e.Field, at); of {
				e.Field = at + name + "." + rest
			}
		}
	}
	return err
}

// step makes the change of one step.
func (c *call) step(name string, parameters map[string]any, used map[string]bool) (op pdf.Op, err error) {
	var o *Operation
	var known []string
	all := All()
	for i := range all {
		if all[i].op == nil {
			continue
		}
		known = append(known, all[i].Name)
		if all[i].Name == name {
			o = &all[i]
		}
	}
	if o == nil {
		return op, &pdf.OptionError{Field: "", Got: "no step", Want: strings.Join(known, ", "), Nearest: nearest.Name(name, known)}
	}
	kinds := map[string]Kind{}
	for _, p := range o.Parameters {
		if !p.Whole {
			kinds[p.Name] = p.Kind
		}
	}
	s := call{ctx: c.ctx, e: c.e, in: Input{Values: map[string]string{}, Uploads: map[string]File{}, Limits: c.in.Limits, Time: c.in.Time}}
	for _, key := range slices.Sorted(maps.Keys(parameters)) {
		kind, has := kinds[key]
		if !has {
			names := slices.Sorted(maps.Keys(kinds))
			return op, &pdf.OptionError{Field: key, Got: "an unknown parameter", Want: strings.Join(names, ", "), Nearest: nearest.Name(key, names)}
		}
		var v string
		switch x := parameters[key].(type) {
		case string:
			v = x
		case bool:
			v = strconv.FormatBool(x)
		case float64:
			v = strconv.FormatFloat(x, 'f', -1, 64)
		default:
			return op, &pdf.OptionError{Field: key, Got: "null, an array or an object", Want: "a text, a number, true or false"}
		}
		if kind != Upload {
			s.in.Values[key] = v
			continue
		}
		var files []string
		for _, f := range c.in.Files[1:] {
			if files = append(files, base(f.Name)); files[len(files)-1] == v {
				s.in.Uploads[key], used[v] = f, true
			}
		}
		if s.in.Uploads[key].Data == nil {
			return op, &pdf.OptionError{Field: key, Got: strconv.Quote(v), Want: "the name of a further file: " + strings.Join(files, ", "), Nearest: nearest.Name(v, files)}
		}
	}
	if err := o.check(s.in.Values, s.in.Uploads); err != nil {
		return op, err
	}
	return o.op(&s)
}

// inStep names the step that an error is of.
func inStep(step string, err error) error {
	if e, ok := errors.AsType[*pdf.OptionError](err); ok {
		e.Field = strings.TrimSuffix(step+"."+e.Field, ".")
	}
	if e, ok := errors.AsType[*pdf.DiagnosticError](err); ok {
		for i := range e.Diagnostics {
			e.Diagnostics[i].Path = step
		}
	}
	return err
}
