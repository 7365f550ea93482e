package psrp

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

// builtins are the commands that PowerShell's clients ask of every server: to enter a session, to
// show its prompt and output, to leave it, to list commands. A Registry may have its own of these
// names. Commands of the debugger are taken and do nothing.
func builtins(s *serverSession) *Registry {
	r := &Registry{}
	type nothing struct {
		Mode                    any
		UnhandledBreakpointMode any
	}
	Add(r, CommandInfo{Name: "Out-Default"}, outDefault)
	Add(r, CommandInfo{Name: "Exit-PSSession"}, func(ctx context.Context, _ struct{}, c *Call) error {
		shell := c.Host().Shell
		if shell == nil {
			return nil
		}
		return shell.PopRunspace(ctx)
	})
	Add(r, CommandInfo{Name: "Get-Command"}, s.getCommand)
	shown := len(r.order)
	Add(r, CommandInfo{Name: "prompt"}, func(_ context.Context, _ struct{}, c *Call) error { return c.Output("PS> ") })
	Add(r, CommandInfo{Name: "Get-FormatData"}, func(context.Context, struct {
		TypeName []string `psrp:"TypeName,position=0"`
		// PowerShellVersion is what the client can read; there are no formats in any version.
		PowerShellVersion any
	}, *Call,
	) error {
		return nil
	})
	for _, name := range []string{"__Set-PSDebugMode", "__Set-PSUnhandledBreakpointMode"} {
		Add(r, CommandInfo{Name: name}, func(context.Context, nothing, *Call) error { return nil })
	}
	for _, cmd := range r.order[shown:] {
		cmd.hidden = true
	}
	return r
}

// visible returns the commands that a client may run and that match, by name: names are patterns
// with * and ?, none means all.
func (s *serverSession) visible(ctx context.Context, names []string) []*command {
	var all []*command
	if r := s.server.Registry; r != nil {
		for _, cmd := range r.order {
			if s.allowed(ctx, cmd) {
				all = append(all, cmd)
			}
		}
	}
	for _, cmd := range s.builtins.order {
		if !cmd.hidden && s.server.Registry.find(cmd.info.Name) == nil {
			all = append(all, cmd)
		}
	}
	slices.SortFunc(all, func(a, b *command) int {
		return cmp.Compare(strings.ToLower(a.info.Name), strings.ToLower(b.info.Name))
	})
	if len(names) == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(cmd *command) bool {
		return !slices.ContainsFunc(append([]string{cmd.info.Name}, cmd.info.Aliases...), func(name string) bool {
			return slices.ContainsFunc(names, func(pattern string) bool {
				ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(name))
				return ok && err == nil
			})
		})
	})
}

// describe answers GET_COMMAND_METADATA: how many there are, then each.
func (p *servedPipeline) describe() error {
	s := p.session
	types := p.query.Types
	var found []proto.CommandMetadata
	for _, cmd := range s.visible(p.ctx, p.query.Names) {
		m := cmd.describe()
		if (types == 0 || types&m.Type != 0) && len(p.query.Modules) == 0 {
			found = append(found, m)
		}
	}
	values := []clixml.Value{proto.MetadataCountValue(len(found))}
	for _, m := range found {
		values = append(values, m.Value())
	}
	for _, v := range values {
		if err := p.write(p.ctx, func() error { return s.machine.Record(p.id, proto.Record{Kind: proto.RecordOutput, Output: v}) }); err != nil {
			return err
		}
	}
	return nil
}

type getCommandArgs struct {
	Name         []string `psrp:"Name,position=0"`
	CommandType  any
	Module       []string
	ArgumentList []any
}

// getCommand lists the commands that the client may run.
func (s *serverSession) getCommand(ctx context.Context, args getCommandArgs, c *Call) error {
	found := s.visible(ctx, args.Name)
	for _, name := range args.Name {
		if !strings.ContainsAny(name, "*?[") && !slices.ContainsFunc(found, func(cmd *command) bool { return s.find(ctx, name) == cmd }) {
			if err := c.Error(commandNotFound(name)); err != nil {
				return err
			}
		}
	}
	for _, cmd := range found {
		o := &clixml.Object{
			TypeNames: []string{"System.Management.Automation.CmdletInfo", "System.Management.Automation.CommandInfo", "System.Object"},
			ToString:  cmd.info.Name, HasToString: true,
			Adapted: clixml.Properties{
				{Name: "Name", Value: clixml.String(cmd.info.Name)},
				{Name: "CommandType", Value: clixml.NewEnum("System.Management.Automation.CommandTypes", proto.CommandCmdlet.String(), int32(proto.CommandCmdlet)).Value()},
				{Name: "Source", Value: clixml.String("")},
				{Name: "Summary", Value: clixml.String(cmd.info.Summary)},
			},
		}
		if err := c.output(o.Value()); err != nil {
			return err
		}
	}
	return nil
}
