package psrp

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

// Registry holds the commands of a Server. The zero value is empty. It must not be changed once a
// server serves it.
type Registry struct {
	commands map[string]*command // by name and alias, in lower case
	order    []*command
}

// CommandInfo describes a command.
type CommandInfo struct {
	Name    string // Verb-Noun by custom; letters, digits, - and _
	Summary string
	Aliases []string
	// OutputTypes are the names of the types that it writes, for clients that complete.
	OutputTypes []string
}

// RegisterError is a command that cannot be registered. Add panics with it, as the mistake is in
// the program.
type RegisterError struct {
	Command string
	Source  string // file and line of the call of Add
	Reason  string
}

func (e *RegisterError) Error() string {
	return fmt.Sprintf("psrp: register command %q at %s: %s", e.Command, e.Source, e.Reason)
}

type command struct {
	info   CommandInfo
	params []param
	// prepare converts bound values into arguments and returns what runs with them.
	prepare func(values map[int]clixml.Value) (func(ctx context.Context, c *Call) error, error)
	hidden  bool // not in descriptions
}

// param is a parameter, a field of the struct of arguments.
type param struct {
	name      string
	aliases   []string
	index     []int
	typ       reflect.Type
	mandatory bool
	position  int // -1: by name only
	fallback  *clixml.Value
	set       []string
	isSwitch  bool
}

// Add registers a Go function as a command. A is a struct; each of its exported fields is a
// parameter, described by a tag:
//
//	Path  string `psrp:"Path,mandatory,position=0,alias=P"`
//	Depth int    `psrp:"Depth,default=1"`
//	Sort  string `psrp:"Sort,set=Name|Size"`
//	Force bool   `psrp:"Force"` // a switch
//	Cache *Cache `psrp:"-"`     // no parameter
//
// Without a tag the field's name is the parameter's. Values are converted as PowerShell does where
// nothing is lost: a number to text and back, one value to a list of one; what a [clixml.Unmarshal]
// stores fits as well. Names are matched without regard to case and may be abbreviated.
//
// fn runs in a goroutine of its own; when its context ends, it is to return. What it returns ends
// its pipeline as Failed: an *ErrorRecord as it is, another error as its text.
func Add[A any](r *Registry, info CommandInfo, fn func(ctx context.Context, args A, c *Call) error) {
	_, file, line, _ := runtime.Caller(1)
	r.add(info, reflect.TypeFor[A](), file+":"+strconv.Itoa(line), func(args any) func(ctx context.Context, c *Call) error {
		return func(ctx context.Context, c *Call) error { return fn(ctx, *args.(*A), c) }
	})
}

func (r *Registry) add(info CommandInfo, t reflect.Type, source string, run func(args any) func(ctx context.Context, c *Call) error) {
	fail := func(format string, a ...any) {
		panic(&RegisterError{Command: info.Name, Source: source, Reason: fmt.Sprintf(format, a...)})
	}
	if t.Kind() != reflect.Struct {
		fail("the arguments are %v, not a struct", t)
	}
	info.Aliases, info.OutputTypes = slices.Clone(info.Aliases), slices.Clone(info.OutputTypes)
	for _, name := range append([]string{info.Name}, info.Aliases...) {
		if !isName(name) {
			fail("%q is not a name of letters, digits, - and _", name)
		}
		if other := r.find(name); other != nil {
			fail("%q is %s already", name, other.info.Name)
		}
	}
	params, err := paramsOf(t)
	if err != nil {
		fail("%v", err)
	}
	cmd := &command{info: info, params: params}
	cmd.prepare = func(values map[int]clixml.Value) (func(ctx context.Context, c *Call) error, error) {
		args := reflect.New(t)
		if err := fill(cmd, args.Elem(), values); err != nil {
			return nil, err
		}
		return run(args.Interface()), nil
	}
	if r.commands == nil {
		r.commands = map[string]*command{}
	}
	for _, name := range append([]string{info.Name}, info.Aliases...) {
		r.commands[strings.ToLower(name)] = cmd
	}
	r.order = append(r.order, cmd)
}

func isName(s string) bool {
	for i, c := range s {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != ""
}

// find returns a command by name or alias. A nil Registry is empty.
func (r *Registry) find(name string) *command {
	if r == nil {
		return nil
	}
	return r.commands[strings.ToLower(name)]
}

// paramsOf reads the tags of a struct.
func paramsOf(t reflect.Type) ([]param, error) {
	var params []param
	taken := map[string]string{}
	positions := map[int]string{}
	for _, c := range commonParameters() {
		taken[strings.ToLower(c.name)] = "a common parameter"
		taken[c.alias] = "a common parameter"
	}
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous || !f.IsExported() {
			continue
		}
		tag := f.Tag.Get("psrp")
		if tag == "-" {
			continue
		}
		p, err := paramOf(f, tag)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
		for _, name := range append([]string{p.name}, p.aliases...) {
			if !isName(name) {
				return nil, fmt.Errorf("field %s: %q is not a name of letters, digits, - and _", f.Name, name)
			}
			if other, ok := taken[strings.ToLower(name)]; ok {
				return nil, fmt.Errorf("field %s: the parameter %s is %s already", f.Name, name, other)
			}
			taken[strings.ToLower(name)] = "of field " + f.Name
		}
		if p.position >= 0 {
			if other, ok := positions[p.position]; ok {
				return nil, fmt.Errorf("field %s: position %d is of field %s already", f.Name, p.position, other)
			}
			positions[p.position] = f.Name
		}
		params = append(params, p)
	}
	return params, nil
}

func paramOf(f reflect.StructField, tag string) (param, error) {
	p := param{name: f.Name, index: f.Index, typ: f.Type, position: -1, isSwitch: f.Type.Kind() == reflect.Bool}
	if netType(f.Type) == "" {
		return p, fmt.Errorf("a %v cannot be a parameter", f.Type)
	}
	name, options, _ := strings.Cut(tag, ",")
	if name != "" {
		p.name = name
	}
	for options != "" {
		var option string
		option, options, _ = strings.Cut(options, ",")
		key, value, has := strings.Cut(option, "=")
		switch {
		case key == "mandatory" && !has:
			p.mandatory = true
		case key == "position" && has:
			n, err := strconv.Atoi(value)
			if err != nil || n < 0 {
				return p, fmt.Errorf("the position %q is not a number from 0", value)
			}
			p.position = n
		case key == "alias" && has:
			p.aliases = strings.Split(value, "|")
		case key == "set" && has:
			p.set = strings.Split(value, "|")
		case key == "default" && has:
			v := clixml.String(value)
			if err := convertInto(v, reflect.New(f.Type).Elem()); err != nil {
				return p, fmt.Errorf("the default %q: %w", value, err)
			}
			p.fallback = &v
		default:
			return p, fmt.Errorf("the tag has the unknown option %q", option)
		}
	}
	if p.mandatory && p.fallback != nil {
		return p, fmt.Errorf("a mandatory parameter has no default")
	}
	return p, nil
}

// describe makes the description of a command as GET_COMMAND_METADATA answers it.
func (cmd *command) describe() proto.CommandMetadata {
	m := proto.CommandMetadata{Name: cmd.info.Name, Type: proto.CommandCmdlet, OutputTypes: cmd.info.OutputTypes}
	for _, p := range cmd.params {
		m.Parameters = append(m.Parameters, proto.ParameterMetadata{Name: p.name, Type: p.netType(), Aliases: p.aliases, Switch: p.isSwitch})
	}
	return m
}

func (p *param) netType() string {
	if p.isSwitch {
		return "System.Management.Automation.SwitchParameter"
	}
	return netType(p.typ)
}
