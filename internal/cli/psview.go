package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync/atomic"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/host"
	"example.com/quire/psrp/proto"
)

// psView shows the records of a pipeline: output on standard output, the rest on standard error.
type psView struct {
	p       *program
	console host.Set // on standard error: it cleans what could drive a terminal
	shell   psShell
	shown   bool // the terminal shows progress
}

func newPSView(p *program) *psView {
	_, plain := p.LookupEnv("NO_COLOR")
	o := host.TerminalOptions{
		Out: p.Stderr, Size: terminalSize(p.Stderr), Color: terminal(p.Stderr) && !plain,
		ReadPassword: func(context.Context) (string, error) {
			s, err := p.readSecret("")
			if err != nil {
				return "", err
			}
			text, _ := s.Reveal()
			return text, nil
		},
	}
	if terminal(p.Stdin) {
		o.In = p.Stdin
	}
	return &psView{p: p, console: host.Terminal(o)}
}

// host is what the server may ask and tell. Its records are shown as records, so that it shows them
// on the host as well is of no use.
func (v *psView) host() host.Set {
	s := v.console
	s.Console = quietConsole{s.Console}
	s.Shell, s.Raw = &v.shell, colored{s.Raw}
	if !terminal(v.p.Stdin) {
		s.Prompter, s.Raw = nil, nil
	}
	return s
}

// colored is a screen whose colours are known. A terminal does not tell its own, and there are
// servers that cannot read that a host has none.
type colored struct{ host.RawUI }

func (c colored) State(ctx context.Context) (proto.HostDefaultData, error) {
	d, err := c.RawUI.State(ctx)
	d.Foreground, d.Background = proto.ColorGray, proto.ColorBlack
	return d, err
}

// quietConsole leaves out what comes as records too.
type quietConsole struct{ host.Console }

func (quietConsole) Write(context.Context, string, host.Style) error { return nil }

func (q quietConsole) WriteLine(ctx context.Context, kind host.LineKind, text string, s host.Style) error {
	if kind == host.LineError {
		return q.Console.WriteLine(ctx, kind, text, s) // $Host.UI.WriteErrorLine makes no record
	}
	return nil
}

func (quietConsole) WriteProgress(context.Context, int64, *proto.ProgressRecord) error { return nil }

// psShell remembers the exit code that a script sets.
type psShell struct{ code atomic.Int32 }

func (s *psShell) SetShouldExit(_ context.Context, code int32) error {
	s.code.Store(code)
	return nil
}
func (*psShell) Nested(context.Context, bool) error            { return host.ErrNotImplemented }
func (*psShell) NotifyApplication(context.Context, bool) error { return nil }
func (*psShell) PopRunspace(context.Context) error             { return nil }
func (*psShell) RunspacePushed(context.Context) (bool, error)  { return false, nil }

func (v *psView) exit() int { return int(v.shell.code.Load()) & 0xFF }

// record shows one.
func (v *psView) record(ctx context.Context, r proto.Record) error {
	if v.p.json {
		out, err := asJSON(r)
		if err != nil {
			return err
		}
		p := v.p
		return p.print(out, "")
	}
	line := func(kind host.LineKind, text string) error {
		v.shown = false
		return v.console.Console.WriteLine(ctx, kind, text, host.Style{})
	}
	switch r.Kind {
	case proto.RecordOutput:
		return v.output(ctx, textOf(r.Output))
	case proto.RecordError:
		text := "ERROR: " + r.Error.Error()
		if at := r.Error.Position(); at != "" {
			text += "\n" + at
		}
		return line(host.LineError, text)
	case proto.RecordWarning:
		return line(host.LineWarning, r.Message.Message)
	case proto.RecordVerbose:
		return line(host.LineVerbose, r.Message.Message)
	case proto.RecordDebug:
		return line(host.LineDebug, r.Message.Message)
	case proto.RecordInformation:
		return line(host.LinePlain, "INFORMATION: "+r.Information.MessageData.String())
	case proto.RecordProgress:
		if terminal(v.p.Stderr) {
			v.shown = true
			return v.console.Console.WriteProgress(ctx, 0, r.Progress)
		}
		if r.Progress.Completed {
			return nil
		}
		return line(host.LinePlain, "PROGRESS: "+progressText(r.Progress))
	}
	return nil
}

func progressText(r *proto.ProgressRecord) string {
	s := r.Activity
	if d := strings.TrimSpace(r.StatusDescription); d != "" {
		s += ": " + d
	}
	if r.PercentComplete >= 0 {
		s += fmt.Sprintf(" %d %%", r.PercentComplete)
	}
	return s
}

// output writes what the pipeline gives: as it is, unless a terminal would obey it.
func (v *psView) output(ctx context.Context, text string) error {
	v.clear(ctx)
	if terminal(v.p.Stdout) {
		return host.Terminal(host.TerminalOptions{Out: v.p.Stdout, Color: true}).Console.WriteLine(ctx, host.LinePlain, text, host.Style{})
	}
	_, err := io.WriteString(v.p.Stdout, text+"\n")
	return err
}

// clear takes the line of progress away, which is on the same screen.
func (v *psView) clear(ctx context.Context) {
	if v.shown {
		v.shown = false
		_ = v.console.Console.Write(ctx, "", host.Style{})
	}
}

// banner shows what a host greets with.
func (v *psView) banner(lines []string) {
	for _, l := range lines {
		_ = v.console.Console.WriteLine(context.Background(), host.LinePlain, l, host.Style{})
	}
}

func (v *psView) end(ctx context.Context) { v.clear(ctx) }

// textOf is a value for people: an object is a list of its properties, anything else its text.
func textOf(v clixml.Value) string {
	o, ok := v.Object()
	if !ok || o.Base.Kind() != clixml.KindNone || len(o.Adapted)+len(o.Extended) == 0 {
		return v.String()
	}
	width := 0
	for _, list := range []clixml.Properties{o.Adapted, o.Extended} {
		for _, p := range list {
			width = max(width, len([]rune(p.Name)))
		}
	}
	var b strings.Builder
	for _, list := range []clixml.Properties{o.Adapted, o.Extended} {
		for _, p := range list {
			fmt.Fprintf(&b, "%-*s : %s\n", width, p.Name, strings.ReplaceAll(p.Value.String(), "\n", "\n"+strings.Repeat(" ", width+3)))
		}
	}
	return b.String()
}

// lines yields the lines of r without their ends.
func lines(r io.Reader) iter.Seq[string] {
	return func(yield func(string) bool) {
		b := bufio.NewReader(r)
		for {
			line, err := b.ReadString('\n')
			if line != "" && !yield(strings.TrimRight(line, "\r\n")) {
				return
			}
			if err != nil {
				return
			}
		}
	}
}

// notReached reports whether a host was not reached or did not let in, so that nothing can have
// run.
func notReached(err error) bool {
	e, ok := errors.AsType[*proto.TransportError](err)
	return ok && e.Unreachable()
}
