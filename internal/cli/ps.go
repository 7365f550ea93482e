package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"example.com/quire/psrp"
	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/host"
	"example.com/quire/psrp/proto"
)

type psOptions struct {
	remote      psRemote
	command     bool
	file        string
	params      []string
	input       bool
	timeout     time.Duration
	connectTime time.Duration
}

func (p *program) ps() *cobra.Command {
	var o psOptions
	c := &cobra.Command{
		Use:   "ps HOST [flags] -- SCRIPT",
		Short: "Run PowerShell on another host, over SSH, WSMan, a child process or a Unix socket",
		Long: "Run a script on a host by PowerShell remoting and show its seven streams as they arrive: output\n" +
			"on standard output; error, warning, verbose, debug, information and progress on standard error.\n" +
			"On a terminal, progress is one line that is updated, and the script may ask questions.\n\n" +
			"HOST is one of\n" +
			"  [USER@]NAME[:PORT], ssh://[USER@]NAME[:PORT]   SSH, subsystem powershell\n" +
			"  https://[USER@]NAME[:PORT], http://...         WSMan, with NTLM; over HTTP its messages are encrypted\n" +
			"  stdio:PROGRAM [ARGUMENT...]                    a child process, such as stdio:pwsh -s\n" +
			"  unix:PATH                                      a Unix socket\n\n" +
			"The words after -- are joined by spaces to form the script. Pass values by --param: a value is\n" +
			"text that is never part of the script. With --command the words are the name of one command\n" +
			"and its arguments, for hosts that accept no scripts.\n\n" +
			"Exit status: 0 the pipeline completed; 1 it failed or was stopped, or the connection was lost;\n" +
			"2 the call was wrong; 3 the host could not be reached or refused access; N the script ran\n" +
			"`exit N`.",
		Example: "  quire ps ops@win1 -- 'Get-Service | Where-Object Status -eq Stopped'\n" +
			"  quire ps win1 --param Name=spooler --file restart.ps1\n" +
			"  quire ps unix:/run/quire.sock --command -- Get-QuireHost",
		Args: counted(1, math.MaxInt, "host"),
		RunE: func(c *cobra.Command, a []string) error { return p.remote(c.Context(), a[0], a[1:], o) },
	}
	f := c.Flags()
	f.BoolVar(&o.command, "command", false, "the words are a command and its arguments, not a script")
	f.StringVar(&o.file, "file", "", "read the script from `FILE`; - is standard input")
	f.StringArrayVar(&o.params, "param", nil, "pass the parameter `NAME=VALUE`; may be repeated")
	f.BoolVar(&o.input, "input", false, "pipe the lines of standard input to the script")
	f.DurationVar(&o.timeout, "timeout", 0, "stop the pipeline after this `TIME`")
	f.DurationVar(&o.connectTime, "connect-timeout", 30*time.Second, "give up connecting after this `TIME`")
	o.remote.flags(c)
	c.AddCommand(p.psServe())
	return c
}

// pipeline makes what is run.
func (o *psOptions) pipeline(words []string, stdin io.Reader) (psrp.Pipeline, error) {
	var none psrp.Pipeline
	wrong := func(format string, a ...any) (psrp.Pipeline, error) {
		return none, usageError{fmt.Errorf(format, a...)}
	}
	switch {
	case o.file != "" && (o.command || len(words) > 0):
		return wrong("--file replaces the words after --; give one of them")
	case o.file == "-" && o.input:
		return wrong("standard input cannot be both the script and its input")
	case o.file == "" && len(words) == 0:
		return wrong("nothing to run: want HOST -- SCRIPT, or --file FILE")
	}
	var run psrp.Pipeline
	switch {
	case o.command:
		run = psrp.Cmd(words[0])
		c := &run.Statements[0][0]
		for _, w := range words[1:] {
			c.Args = append(c.Args, commandArgument(w)...)
		}
	case o.file == "":
		run = psrp.Script(strings.Join(words, " "))
	default:
		read := os.ReadFile
		if o.file == "-" {
			read = func(string) ([]byte, error) { return io.ReadAll(stdin) }
		}
		text, err := read(o.file)
		if err != nil {
			return none, err
		}
		run = psrp.Script(strings.TrimPrefix(string(text), "\ufeff"))
	}
	for _, nv := range o.params {
		name, value, ok := strings.Cut(nv, "=")
		if !ok || name == "" {
			return wrong("--param %q: want NAME=VALUE", nv)
		}
		run = run.Param(strings.TrimPrefix(name, "-"), value)
	}
	run.Input = o.input
	return run, nil
}

// commandArgument is a word of a command line as PowerShell passes it on: a name has its dash, and
// its value with it only after a colon.
func commandArgument(w string) []psrp.Arg {
	name, value, hasValue := strings.Cut(w, ":")
	switch {
	case len(w) < 2 || w[0] != '-' || w[1] >= '0' && w[1] <= '9' || w[1] == '.':
		return []psrp.Arg{{Value: clixml.String(w)}}
	case hasValue && value != "":
		return []psrp.Arg{{Name: name + ":", Value: clixml.String(value)}}
	}
	return []psrp.Arg{{Name: w, Value: clixml.Nil()}}
}

func (p *program) remote(ctx context.Context, address string, words []string, o psOptions) error {
	run, err := o.pipeline(words, p.Stdin)
	if err != nil {
		return err
	}
	show := newPSView(p)
	dialling, stop := context.WithTimeout(ctx, o.connectTime)
	defer stop()
	transport, err := o.remote.dial(dialling, address, p, show)
	if err != nil {
		return err
	}
	session, err := psrp.Open(dialling, transport, psrp.Options{Host: show.host()})
	if err != nil {
		return err
	}
	stop()
	defer func() {
		closing, stop := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer stop()
		_ = session.Close(closing) // what it did has been told
	}()
	if o.timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("stopped after %v, as --timeout says: %w", o.timeout, context.DeadlineExceeded))
		defer stop()
	}
	running, err := session.Start(ctx, run)
	if err != nil {
		return err
	}
	if o.input {
		go pipeLines(ctx, p.Stdin, running)
	}
	for rec, err := range running.Records() {
		if err == nil {
			err = show.record(ctx, rec)
		}
		if err != nil {
			show.end(ctx)
			return err
		}
	}
	show.end(ctx)
	p.code = show.exit()
	return nil
}

// pipeLines gives each line of r to the pipeline.
func pipeLines(ctx context.Context, r io.Reader, to *psrp.Running) {
	for line := range lines(r) {
		if to.Send(ctx, line) != nil {
			return // it has ended, which Records tells
		}
	}
	_ = to.CloseInput()
}

// terminalSize is the size of the terminal behind w.
func terminalSize(w io.Writer) func() (int, int) {
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}
	return func() (int, int) {
		width, height, err := term.GetSize(int(f.Fd()))
		if err != nil || width <= 0 {
			return 80, 24
		}
		return width, height
	}
}

// readSecret asks on the terminal, without showing what is typed.
func (p *program) readSecret(question string) (*clixml.SecureString, error) {
	f, ok := p.Stdin.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil, errors.New("there is no terminal to ask on")
	}
	_, _ = io.WriteString(p.Stderr, question)
	b, err := term.ReadPassword(int(f.Fd()))
	_, _ = io.WriteString(p.Stderr, "\n")
	if err != nil {
		return nil, err
	}
	defer clear(b)
	return clixml.NewSecureString(string(b)), nil
}

// psRecord is a record as JSON.
type psRecord struct {
	Stream   string          `json:"stream"`
	Value    json.RawMessage `json:"value,omitempty"`
	Message  string          `json:"message,omitempty"`
	ID       string          `json:"id,omitempty"`
	Category string          `json:"category,omitempty"`
	Position string          `json:"position,omitempty"`
	Activity string          `json:"activity,omitempty"`
	Percent  *int32          `json:"percent,omitempty"`
	Tags     []string        `json:"tags,omitempty"`
}

func asJSON(r proto.Record) (psRecord, error) {
	out := psRecord{Stream: r.Kind.String()}
	var err error
	switch r.Kind {
	case proto.RecordOutput:
		out.Value, err = r.Output.MarshalJSON()
	case proto.RecordError:
		out.Message, out.ID, out.Category, out.Position = r.Error.Message, r.Error.FullyQualifiedErrorID, r.Error.Category.String(), r.Error.Position()
	case proto.RecordProgress:
		out.Activity, out.Message = r.Progress.Activity, r.Progress.StatusDescription
		if n := r.Progress.PercentComplete; n >= 0 {
			out.Percent = &n
		}
	case proto.RecordInformation:
		out.Message, out.Tags = r.Information.MessageData.String(), r.Information.Tags
	default:
		out.Message = r.Message.Message
	}
	return out, err
}

var _ host.Shell = (*psShell)(nil)
