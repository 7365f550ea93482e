package proto

import (
	"errors"
	"slices"
	"strings"

	"example.com/quire/psrp/clixml"
)

// CommandMetadata describes a command that a server has.
type CommandMetadata struct {
	Name            string
	Module          string // Namespace
	HelpURI         string
	Type            CommandTypes
	ResolvedCommand string // of an alias
	OutputTypes     []string
	Parameters      []ParameterMetadata // by name
	Raw             clixml.Value
}

// ParameterMetadata describes a parameter.
type ParameterMetadata struct {
	Name    string
	Type    string // of .NET
	Aliases []string
	Switch  bool
	Dynamic bool
}

// CommandMetadataOf reads the description of a command as GET_COMMAND_METADATA answers it.
func CommandMetadataOf(v clixml.Value) (CommandMetadata, error) {
	f := fields{v: v}
	m := CommandMetadata{
		Name: f.text("Name"), Module: f.optText("Namespace"), HelpURI: f.optText("HelpUri"), ResolvedCommand: f.optText("ResolvedCommandName"), Raw: v,
	}
	if !f.opt("CommandType").IsNil() {
		m.Type = CommandTypes(f.enum("CommandType", commandTypes))
	}
	if l, ok := f.opt("OutputType").List(); ok {
		for _, t := range l.Items {
			m.OutputTypes = append(m.OutputTypes, t.String())
		}
	}
	if d, ok := f.opt("Parameters").Dict(); ok {
		for _, e := range d.Entries {
			pf := fields{v: e.Value}
			p := ParameterMetadata{
				Name: pf.text("Name"), Type: pf.optText("ParameterType"), Aliases: pf.texts("Aliases"), Switch: pf.optBool("SwitchParameter"), Dynamic: pf.optBool("IsDynamic"),
			}
			f.take(&pf)
			m.Parameters = append(m.Parameters, p)
		}
	}
	slices.SortFunc(m.Parameters, func(a, b ParameterMetadata) int { return strings.Compare(a.Name, b.Name) })
	if f.err != nil {
		return m, errors.Join(errors.New("psrp: read command metadata"), f.err)
	}
	return m, nil
}

// MetadataCount reads the first output of GET_COMMAND_METADATA: how many descriptions follow.
func MetadataCount(v clixml.Value) (int, bool) {
	c, ok := v.Get("Count")
	n, isInt := c.Int()
	return int(n), ok && isInt && n >= 0 && n < 1<<31
}

// MetadataCountValue is that first output.
func MetadataCountValue(n int) clixml.Value {
	return (&clixml.Object{
		TypeNames: []string{"Selected.Microsoft.PowerShell.Commands.GenericMeasureInfo", "System.Management.Automation.PSCustomObject", "System.Object"},
		Extended:  clixml.Properties{prop("Count", clixml.Int32(int32(min(n, 1<<31-1))))}, //nolint:gosec // G115: bounded
	}).Value()
}

// Value is the description as a server answers it.
func (m CommandMetadata) Value() clixml.Value {
	strs := func(s []string, types []string) clixml.Value {
		l := &clixml.List{}
		for _, x := range s {
			l.Items = append(l.Items, clixml.String(x))
		}
		return (&clixml.Object{TypeNames: types, Base: l.Value()}).Value()
	}
	stringArrayTypes := []string{"System.String[]", "System.Array", "System.Object"}
	params := &clixml.Dict{}
	for _, p := range m.Parameters {
		params.Entries = append(params.Entries, clixml.Entry{Key: clixml.String(p.Name), Value: (&clixml.Object{
			TypeNames: []string{"System.Management.Automation.ParameterMetadata", "System.Object"}, ToString: "System.Management.Automation.ParameterMetadata", HasToString: true,
			Adapted: clixml.Properties{
				prop("Name", clixml.String(p.Name)), prop("ParameterType", clixml.String(p.Type)), prop("Aliases", strs(p.Aliases, stringArrayTypes)),
				prop("IsDynamic", clixml.Bool(p.Dynamic)), prop("SwitchParameter", clixml.Bool(p.Switch)),
			},
		}).Value()})
	}
	return (&clixml.Object{
		TypeNames: []string{"Selected.System.Management.Automation.CmdletInfo", "System.Management.Automation.PSCustomObject", "System.Object"},
		Extended: clixml.Properties{
			prop("Name", clixml.String(m.Name)), prop("Namespace", clixml.String(m.Module)), prop("HelpUri", clixml.String(m.HelpURI)),
			prop("CommandType", commandTypes.value(int32(m.Type))), prop("ResolvedCommandName", textOrNil(m.ResolvedCommand)),
			prop("OutputType", strs(m.OutputTypes, clixml.ArrayListTypes())),
			prop("Parameters", (&clixml.Object{TypeNames: clixml.HashtableTypes(), Base: params.Value()}).Value()),
		},
	}).Value()
}
