package psrp

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/host"
	"example.com/quire/psrp/proto"
)

// line is what PowerShell's Enter-PSSession sends for a line that its user has typed: errors become
// output, and Out-Default shows all of it.
func line(statements ...Pipeline) Pipeline {
	scope := true
	var all Pipeline
	for i, p := range statements {
		p = p.clone()
		c := &p.Statements[0][0]
		c.Merge.MyResult, c.Merge.ToResult = proto.ResultError, proto.ResultOutput
		show := proto.Command{Name: "Out-Default", LocalScope: &scope, Merge: proto.Merge{PreviousResults: proto.ResultOutput | proto.ResultError}}
		p.Statements[0] = append(p.Statements[0], show)
		if i == 0 {
			all = p
		} else {
			all = all.Then(p)
		}
	}
	all.AddToHistory = true
	return all
}

// TestSequenceOfEnterPSSession does what PowerShell's client does from Enter-PSSession to exit.
func TestSequenceOfEnterPSSession(t *testing.T) {
	r := echoRegistry()
	add(r, "Get-Table", func(_ context.Context, c *Call) error {
		type row struct {
			Name string
			Size int
		}
		return errors.Join(c.Output(row{"alpha", 1}), c.Output(row{"b", 200}), c.Output("text"), c.Error(proto.NewErrorRecord("Bad", proto.InvalidData, "went wrong")),
			c.Output(map[string]any{"k": 1}), c.Output([]string{"x", "y"}), c.Output(2.5), c.Output(nil), c.Output(true))
	})
	script := host.NewScripted()
	s := startServer(t, &Server{Registry: r}, Options{Host: script.Set()})
	// The debugger's set-up, which a server that has none is not asked for, must not fail.
	p := Cmd("__Set-PSDebugMode").Param("Mode", 6)
	p.RemoteStreams = proto.AddInvocationInfo
	quiet := []Pipeline{p}
	p = Cmd("__Set-PSUnhandledBreakpointMode").Param("UnhandledBreakpointMode", 2)
	p.Nested = true
	for _, p := range append(quiet, p, Cmd("Get-FormatData").Param("TypeName", []string{"*"}).Param("PowerShellVersion", clixml.NewVersion(7, 6))) {
		if res, err := s.Run(t.Context(), p); err != nil || len(res.Records) > 0 {
			t.Errorf("%s: %v, %v", p.Statements[0][0].Name, res, err)
		}
	}
	found, err := s.Commands(t.Context(), CommandQuery{Names: []string{"Out-Default", "Exit-PSSession"}, Types: proto.CommandAll})
	if err != nil || len(found) != 2 {
		t.Fatalf("descriptions %v, %v", found, err)
	}
	if got := outputs(t, s, Cmd("prompt")); !slices.Equal(got, []string{"PS> "}) {
		t.Errorf("prompt %q", got)
	}
	for _, p := range []Pipeline{
		line(Cmd("Get-Echo").Param("-Force", nil).Arg("hello")),
		line(Cmd("Get-Table")),
		line(Cmd("echo").Arg("one"), Cmd(`echo`).Arg("two")),
		Cmd(`Microsoft.PowerShell.Core\Out-Default`),
	} {
		if res, err := s.Run(t.Context(), p); err != nil || len(res.Output) > 0 {
			t.Errorf("a line gave %v, %v", res, err)
		}
	}
	if _, err := s.Run(t.Context(), line(Cmd("Get-Nothing"))); err == nil || !strings.Contains(err.Error(), "CommandNotFoundException") {
		t.Errorf("error %v", err)
	}
	if _, err := s.Run(t.Context(), Cmd("Exit-PSSession")); err != nil {
		t.Error(err)
	}
	want := "hello!\n" +
		"\nName  Size\n----  ----\nalpha 1\nb     200\n\ntext\nERROR: went wrong\n" +
		"\nName Value\n---- -----\nk    1\n\nx\ny\n2.5\nTrue\n" +
		"one\ntwo\n"
	if got := script.Written(); got != want {
		t.Errorf("the user saw\n%s\nwant\n%s", got, want)
	}
	calls := script.Calls()
	if n := slices.Index(calls, "WriteErrorLine"); n < 0 {
		t.Errorf("the error was no line of errors: %q", calls)
	}
	if calls[len(calls)-1] != "PopRunspace" || slices.Index(calls, "PopRunspace") != len(calls)-1 {
		t.Errorf("host calls %q, want PopRunspace last", calls)
	}
}

func TestRegistryMayHaveItsOwnPrompt(t *testing.T) {
	r := &Registry{}
	add(r, "prompt", func(_ context.Context, c *Call) error { return c.Output("quire> ") })
	s := startServer(t, &Server{Registry: r}, Options{})
	if got := outputs(t, s, Cmd("prompt")); !slices.Equal(got, []string{"quire> "}) {
		t.Errorf("prompt %q", got)
	}
}

func TestLongObjectsAreShownAsLists(t *testing.T) {
	o := clixml.NewCustomObject()
	for _, n := range []string{"A", "Bcd", "E", "F", "G", "H", "I"} {
		o.Extended = append(o.Extended, clixml.Property{Name: n, Value: clixml.String(strings.Repeat(n, 30))})
	}
	got := textFor(o.Value())
	if lines := strings.Split(got, "\n"); len(lines) != 7 || !strings.HasPrefix(lines[0], "A") || !strings.HasSuffix(lines[1], "…") {
		t.Errorf("shown as\n%s", got)
	}
}
