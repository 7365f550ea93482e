package proto

import (
	"fmt"

	"example.com/quire/psrp/clixml"
)

// Pipeline is what CREATE_PIPELINE asks for: statements that run one after the other, each of
// commands that pipe into the next.
type Pipeline struct {
	Statements     [][]Command
	Input          bool // PIPELINE_INPUT and its end will follow
	AddToHistory   bool
	Nested         bool   // to be run inside a pipeline that waits
	History        string // the text for the history; "" is sent as null
	ApartmentState ApartmentState
	RemoteStreams  RemoteStreamOptions
	Host           *HostInfo // nil uses the pool's
	// KeepNativeErrors leaves what native commands write to standard error apart from the error
	// stream: RedirectShellErrorOutputPipe is false then.
	KeepNativeErrors bool
}

// Command is one command of a statement.
type Command struct {
	Name       string // or the text of a script
	Script     bool
	LocalScope *bool // nil lets the server choose
	Args       []Arg
	Merge      Merge
}

// Arg is an argument. Without a name it is positional. On its own, a name with a null value is a
// switch, or takes the next positional argument, as the parameter's type says.
type Arg struct {
	Name  string
	Value clixml.Value
}

// Merge says where the streams of a command go. MyResult, ToResult and PreviousResults are of all
// versions, the others of protocol 2.2 and Information of 2.3; what the peer does not know is not
// sent.
type Merge struct {
	MyResult, ToResult, PreviousResults ResultStream
	Error, Warning, Verbose, Debug      ResultStream
	Information                         ResultStream
}

// CreatePipeline starts a pipeline.
type CreatePipeline struct{ Pipeline Pipeline }

// Type returns CREATE_PIPELINE.
func (*CreatePipeline) Type() MessageType { return MessageCreatePipeline }

// psObjectList is the list type of commands and arguments. Readers do not check its version.
func psObjectListTypes() []string {
	return []string{"System.Collections.Generic.List`1[[System.Management.Automation.PSObject, System.Management.Automation, " +
		"Version=3.0.0.0, Culture=neutral, PublicKeyToken=31bf3856ad364e35]]", "System.Object"}
}

func (m *CreatePipeline) body(v clixml.Version) clixml.Value {
	p := &m.Pipeline
	types := psObjectListTypes()
	list := func(items []clixml.Value) clixml.Value {
		return (&clixml.Object{TypeNames: types, Base: (&clixml.List{Items: items}).Value()}).Value()
	}
	statements := make([]clixml.Value, len(p.Statements))
	for i, s := range p.Statements {
		commands := make([]clixml.Value, len(s))
		for j := range s {
			commands[j] = s[j].value(v, list)
		}
		statements[i] = list(commands)
	}
	ps := make([]clixml.Property, 0, 5)
	if len(statements) > 1 {
		extra := make([]clixml.Value, len(statements))
		for i, s := range statements {
			extra[i] = object(prop("Cmds", s))
		}
		ps = append(ps, prop("ExtraCmds", list(extra)))
	}
	first := list(nil)
	if len(statements) == 1 {
		first = statements[0]
	} else if len(statements) > 1 {
		// The same commands again: their values become references into ExtraCmds.
		l, _ := statements[0].List()
		first = list(l.Items)
	}
	ps = append(ps, prop("Cmds", first), prop("IsNested", clixml.Bool(p.Nested)), prop("History", textOrNil(p.History)),
		prop("RedirectShellErrorOutputPipe", clixml.Bool(!p.KeepNativeErrors)))
	host := HostInfo{Null: true, UINull: true, RawUINull: true, UseRunspaceHost: true}
	if p.Host != nil {
		host = *p.Host
	}
	return object(
		prop("PowerShell", object(ps...)), prop("NoInput", clixml.Bool(!p.Input)),
		prop("ApartmentState", apartmentStates.value(p.ApartmentState.wire())),
		prop("RemoteStreamOptions", remoteStreamOptions.value(int32(p.RemoteStreams))),
		prop("AddToHistory", clixml.Bool(p.AddToHistory)), prop("HostInfo", host.value()), prop("IsNested", clixml.Bool(p.Nested)),
	)
}

func (c *Command) value(v clixml.Version, list func([]clixml.Value) clixml.Value) clixml.Value {
	_, v22, v23, _ := versions()
	scope := clixml.Nil()
	if c.LocalScope != nil {
		scope = clixml.Bool(*c.LocalScope)
	}
	p := make([]clixml.Property, 0, 12)
	p = append(p, prop("Cmd", clixml.String(c.Name)), prop("IsScript", clixml.Bool(c.Script)), prop("UseLocalScope", scope))
	merge := func(name string, r ResultStream) { p = append(p, prop(name, mergeValue(r))) }
	merge("MergeMyResult", c.Merge.MyResult)
	merge("MergeToResult", c.Merge.ToResult)
	merge("MergePreviousResults", c.Merge.PreviousResults)
	if v.Compare(v22) >= 0 {
		merge("MergeError", c.Merge.Error)
		merge("MergeWarning", c.Merge.Warning)
		merge("MergeVerbose", c.Merge.Verbose)
		merge("MergeDebug", c.Merge.Debug)
	}
	if v.Compare(v23) >= 0 {
		merge("MergeInformation", c.Merge.Information)
	}
	args := make([]clixml.Value, len(c.Args))
	for i, a := range c.Args {
		args[i] = object(prop("N", textOrNil(a.Name)), prop("V", orNil(a.Value)))
	}
	return object(append(p, prop("Args", list(args)))...)
}

// mergeValue writes a ResultStream. PreviousResults may be Output and Error together, whose sum has
// the name Warning: that is what .NET writes too.
func mergeValue(r ResultStream) clixml.Value { return resultStreams.value(int32(r)) }

func decodeCreatePipeline(f *fields) Message {
	ps := fields{v: f.get("PowerShell")}
	m := &CreatePipeline{}
	p := &m.Pipeline
	extra := ps.opt("ExtraCmds")
	if !extra.IsNil() {
		for _, s := range ps.list("ExtraCmds") {
			sf := fields{v: s}
			p.Statements = append(p.Statements, commandsOf(&sf))
			ps.take(&sf)
		}
	}
	if len(p.Statements) == 0 {
		p.Statements = [][]Command{commandsOf(&ps)}
	}
	p.History = ps.optText("History")
	p.KeepNativeErrors = !ps.opt("RedirectShellErrorOutputPipe").IsNil() && !ps.bool("RedirectShellErrorOutputPipe")
	p.Nested = ps.optBool("IsNested") || f.optBool("IsNested")
	f.take(&ps)
	p.Input = !f.bool("NoInput")
	p.ApartmentState = ApartmentState(f.enum("ApartmentState", apartmentStates) + 1)
	p.RemoteStreams = RemoteStreamOptions(f.enum("RemoteStreamOptions", remoteStreamOptions))
	p.AddToHistory = f.bool("AddToHistory")
	if h := hostInfoOf(f, f.get("HostInfo")); !h.UseRunspaceHost {
		p.Host = &h
	}
	for _, s := range p.Statements {
		if len(s) == 0 && f.err == nil {
			f.fail("Cmds", "no command")
		}
	}
	return m
}

// take keeps the error of a part.
func (f *fields) take(part *fields) {
	if f.err == nil {
		f.err = part.err
	}
}

func (f *fields) list(name string) []clixml.Value {
	v := f.get(name)
	l, ok := v.List()
	if !ok {
		if f.err == nil && !v.IsNil() {
			f.fail(name, "%v, not a list", v.Kind())
		}
		return nil
	}
	return l.Items
}

func commandsOf(f *fields) []Command {
	items := f.list("Cmds")
	out := make([]Command, 0, len(items))
	for _, item := range items {
		cf := fields{v: item}
		out = append(out, commandOf(&cf))
		f.take(&cf)
	}
	return out
}

func commandOf(f *fields) Command {
	c := Command{Name: f.text("Cmd"), Script: f.bool("IsScript")}
	if !f.opt("UseLocalScope").IsNil() {
		b := f.bool("UseLocalScope")
		c.LocalScope = &b
	}
	merge := func(name string) ResultStream {
		if f.opt(name).IsNil() {
			return ResultNone
		}
		return ResultStream(f.enum(name, resultStreams))
	}
	c.Merge = Merge{
		MyResult: merge("MergeMyResult"), ToResult: merge("MergeToResult"), PreviousResults: merge("MergePreviousResults"),
		Error: merge("MergeError"), Warning: merge("MergeWarning"), Verbose: merge("MergeVerbose"), Debug: merge("MergeDebug"),
		Information: merge("MergeInformation"),
	}
	if f.opt("Args").IsNil() {
		return c
	}
	for i, item := range f.list("Args") {
		af := fields{v: item}
		a := Arg{Name: af.optText("N"), Value: af.get("V")}
		if af.err != nil && f.err == nil {
			f.err = fmt.Errorf("argument %d: %w", i, af.err)
		}
		c.Args = append(c.Args, a)
	}
	return c
}

// PipelineInput is one object of a pipeline's input.
type PipelineInput struct{ Value clixml.Value }

// Type returns PIPELINE_INPUT.
func (*PipelineInput) Type() MessageType { return MessagePipelineInput }

func (m *PipelineInput) body(clixml.Version) clixml.Value { return m.Value }

// EndOfPipelineInput ends a pipeline's input.
type EndOfPipelineInput struct{}

// Type returns END_OF_PIPELINE_INPUT.
func (*EndOfPipelineInput) Type() MessageType { return MessageEndOfPipelineInput }

func (*EndOfPipelineInput) body(clixml.Version) clixml.Value { return clixml.Value{} }

// PipelineOutput is one object of a pipeline's output.
type PipelineOutput struct{ Value clixml.Value }

// Type returns PIPELINE_OUTPUT.
func (*PipelineOutput) Type() MessageType { return MessagePipelineOutput }

func (m *PipelineOutput) body(clixml.Version) clixml.Value { return m.Value }

// GetCommandMetadata asks for commands, in the place of CREATE_PIPELINE.
type GetCommandMetadata struct {
	Names        []string // patterns; empty is sent as null: all
	Types        CommandTypes
	Modules      []string // Namespace
	ArgumentList []clixml.Value
}

// Type returns GET_COMMAND_METADATA.
func (*GetCommandMetadata) Type() MessageType { return MessageGetCommandMetadata }

func (m *GetCommandMetadata) body(clixml.Version) clixml.Value {
	names, types, args := clixml.Nil(), clixml.Nil(), clixml.Nil()
	if m.Names != nil {
		names = stringArray(m.Names)
	}
	if m.Types != 0 {
		types = commandTypes.value(int32(m.Types))
	}
	if m.ArgumentList != nil {
		args = (&clixml.Object{TypeNames: clixml.ObjectArrayTypes(), Base: (&clixml.List{Items: m.ArgumentList}).Value()}).Value()
	}
	return object(prop("Name", names), prop("CommandType", types), prop("Namespace", stringArray(m.Modules)),
		prop("FullyQualifiedModule", clixml.Nil()), prop("ArgumentList", args))
}

func decodeGetCommandMetadata(f *fields) Message {
	m := &GetCommandMetadata{Names: f.texts("Name"), Modules: f.texts("Namespace")}
	if !f.opt("CommandType").IsNil() {
		m.Types = CommandTypes(f.enum("CommandType", commandTypes))
	}
	if l, ok := f.opt("ArgumentList").List(); ok {
		m.ArgumentList = l.Items
	}
	return m
}
