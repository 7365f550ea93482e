package psrp

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/host"
	"example.com/quire/psrp/oop"
	"example.com/quire/psrp/proto"
)

// startServer serves one client in memory and returns its open session, which ends with the test.
func startServer(t *testing.T, srv *Server, o Options) *Session {
	t.Helper()
	return startServerAs(t, srv, Identity{}, o)
}

func startServerAs(t *testing.T, srv *Server, id Identity, o Options) *Session {
	t.Helper()
	return startConn(t, srv, id, o, true)
}

// startPlain is startServer over a connection that others could read: protocol 2.3.
func startPlain(t *testing.T, srv *Server, o Options) *Session {
	t.Helper()
	return startConn(t, srv, Identity{}, o, false)
}

func startConn(t *testing.T, srv *Server, id Identity, o Options, confidential bool) *Session {
	t.Helper()
	a, b := net.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- srv.Serve(context.Background(), oop.NewConn(b, oop.Server, oop.Options{Confidential: confidential}), id)
	}()
	s, err := Open(t.Context(), oop.NewConn(a, oop.Client, oop.Options{Confidential: confidential}), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
		if err := <-served; err != nil && s.Err() == nil {
			t.Errorf("serve: %v", err)
		}
	})
	return s
}

// add registers a command without arguments.
func add(r *Registry, name string, fn func(ctx context.Context, c *Call) error) {
	Add(r, CommandInfo{Name: name}, func(ctx context.Context, _ struct{}, c *Call) error { return fn(ctx, c) })
}

// outputs runs a pipeline and returns the texts of its output.
func outputs(t *testing.T, s *Session, p Pipeline, input ...any) []string {
	t.Helper()
	res, err := s.Run(t.Context(), p, input...)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, v := range res.Output {
		texts = append(texts, v.String())
	}
	return texts
}

type echoArgs struct {
	Text  string        `psrp:"Text,mandatory,position=0,alias=T"`
	Count int           `psrp:"Count,default=1,position=1"`
	Sort  string        `psrp:"Sort,set=Name|Size"`
	Force bool          `psrp:"Force"`
	Names []string      `psrp:"Names"`
	Wait  time.Duration `psrp:"Wait"`
	Other any           `psrp:"-"`
}

func echoRegistry() *Registry {
	r := &Registry{}
	Add(r, CommandInfo{Name: "Get-Echo", Aliases: []string{"echo"}, Summary: "Says it again."}, func(_ context.Context, a echoArgs, c *Call) error {
		for range a.Count {
			text := a.Text
			if a.Sort != "" {
				text += " by " + a.Sort
			}
			if a.Force {
				text += "!"
			}
			if len(a.Names) > 0 {
				text += " " + strings.Join(a.Names, "+")
			}
			if a.Wait > 0 {
				text += " " + a.Wait.String()
			}
			if err := c.Output(text); err != nil {
				return err
			}
		}
		return nil
	})
	return r
}

func TestServedCommandGetsItsArgumentsTyped(t *testing.T) {
	s := startServer(t, &Server{Registry: echoRegistry()}, Options{})
	for _, tt := range []struct {
		name string
		p    Pipeline
		want []string
	}{
		{"by name", Cmd("Get-Echo").Param("Text", "a"), []string{"a"}},
		{"names in any case, command by alias", Cmd("ECHO").Param("tEXT", "a"), []string{"a"}},
		{"by alias", Cmd("Get-Echo").Param("T", "a"), []string{"a"}},
		{"abbreviated", Cmd("Get-Echo").Param("Te", "a").Param("Co", 2), []string{"a", "a"}},
		{"by position", Cmd("Get-Echo").Arg("a").Arg(2), []string{"a", "a"}},
		{"position beside a name", Cmd("Get-Echo").Arg(2).Param("Text", "a"), []string{"a", "a"}},
		{"switch", Cmd("Get-Echo").Arg("a").Switch("Force"), []string{"a!"}},
		{"switch that is off", Cmd("Get-Echo").Arg("a").Param("Force", false), []string{"a"}},
		{"as a command line sends it", Cmd("Get-Echo").Param("-Force", nil).Param("-Count", nil).Arg(2).Param("-Text:", "a"), []string{"a!", "a!"}},
		{"a switch takes no value that follows", Cmd("Get-Echo").Param("-Force", nil).Arg("a"), []string{"a!"}},
		{"text of a number", Cmd("Get-Echo").Arg("a").Arg("2"), []string{"a", "a"}},
		{"number as text", Cmd("Get-Echo").Arg(7), []string{"7"}},
		{"one value for a list", Cmd("Get-Echo").Arg("a").Param("Names", "x"), []string{"a x"}},
		{"list", Cmd("Get-Echo").Arg("a").Param("Names", []any{"x", 1}), []string{"a x+1"}},
		{"of a set, in its spelling", Cmd("Get-Echo").Arg("a").Param("Sort", "size"), []string{"a by Size"}},
		{"time span", Cmd("Get-Echo").Arg("a").Param("Wait", 3*time.Second), []string{"a 3s"}},
		{"text of a time span", Cmd("Get-Echo").Arg("a").Param("Wait", "90s"), []string{"a 1m30s"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := outputs(t, s, tt.p); !slices.Equal(got, tt.want) {
				t.Errorf("output %q, want %q", got, tt.want)
			}
		})
	}
}

func TestArgumentsThatDoNotFitAreErrorsWithStableIdentifiers(t *testing.T) {
	s := startServer(t, &Server{Registry: echoRegistry()}, Options{})
	for id, p := range map[string]Pipeline{
		"CommandNotFoundException":                                Cmd("Get-Nothing"),
		"NamedParameterNotFound,Get-Echo":                         Cmd("Get-Echo").Param("Nope", 1),
		"AmbiguousParameter,Get-Echo":                             Cmd("echo").Param("W", 1),
		"MissingMandatoryParameter,Get-Echo":                      Cmd("Get-Echo"),
		"MissingArgument,Get-Echo":                                Cmd("Get-Echo").Arg("a").Param("-Count", nil),
		"ParameterAlreadyBound,Get-Echo":                          Cmd("Get-Echo").Param("Text", "a").Param("T", "b"),
		"PositionalParameterNotFound,Get-Echo":                    Cmd("Get-Echo").Arg("a").Arg(1).Arg("b"),
		"CannotConvertArgumentNoMessage,Get-Echo":                 Cmd("Get-Echo").Arg("a").Arg("many"),
		"ParameterArgumentValidationError,Get-Echo":               Cmd("Get-Echo").Arg("a").Param("Sort", "Age"),
		"ScriptsNotAllowed":                                       Script("'a'"),
		"ParameterArgumentValidationErrorNullNotAllowed,Get-Echo": Cmd("Get-Echo").Param("-Text:", nil),
	} {
		t.Run(id, func(t *testing.T) {
			_, err := s.Run(t.Context(), p)
			e, ok := errors.AsType[*PipelineError](err)
			if !ok || e.State != proto.PipelineFailed || e.Record == nil || e.Record.FullyQualifiedErrorID != id {
				t.Errorf("error %v, want %s", err, id)
			}
			if errors.Is(err, ErrScriptsNotAllowed) != (id == scriptsNotAllowed) {
				t.Errorf("ErrScriptsNotAllowed: %v", errors.Is(err, ErrScriptsNotAllowed))
			}
		})
	}
}

func TestCommandsPipeIntoEachOther(t *testing.T) {
	r := echoRegistry()
	add(r, "Add-Mark", func(_ context.Context, c *Call) error {
		for text, err := range Input[string](c) {
			if err != nil {
				return err
			}
			if err := c.Output(text + "'"); err != nil {
				return err
			}
		}
		return nil
	})
	add(r, "Select-First", func(_ context.Context, c *Call) error {
		for v, err := range Input[clixml.Value](c) {
			if err != nil {
				return err
			}
			return c.Output(v)
		}
		return nil
	})
	stopped := make(chan error, 1)
	add(r, "Get-Endless", func(ctx context.Context, c *Call) error {
		for i := 0; ; i++ {
			if err := c.Output(i); err != nil {
				<-ctx.Done()
				stopped <- context.Cause(ctx)
				return err
			}
		}
	})
	s := startServer(t, &Server{Registry: r}, Options{})
	if got := outputs(t, s, Cmd("Add-Mark").Pipe(Cmd("Add-Mark")), "a", "b"); !slices.Equal(got, []string{"a''", "b''"}) {
		t.Errorf("output %q", got)
	}
	if got := outputs(t, s, Cmd("echo").Arg("a").Then(Cmd("echo").Arg("b").Pipe(Cmd("Add-Mark")))); !slices.Equal(got, []string{"a", "b'"}) {
		t.Errorf("output %q", got)
	}
	if got := outputs(t, s, Cmd("Get-Endless").Pipe(Cmd("Select-First"))); !slices.Equal(got, []string{"0"}) {
		t.Errorf("output %q", got)
	}
	if err := <-stopped; !errors.Is(err, errDownstreamEnded) {
		t.Errorf("the endless command ended by %v", err)
	}
}

func TestServerSendsTheSevenStreams(t *testing.T) {
	r := &Registry{}
	add(r, "Write-All", func(_ context.Context, c *Call) error {
		return errors.Join(c.Output("o"), c.Error(proto.NewErrorRecord("Bad", proto.InvalidData, "e")), c.Warning("w"), c.Verbose("v"),
			c.Debug("d"), c.Progress(proto.NewProgress(1, "a", "s")), c.Information("i", "tag"), c.Information("h", "PSHOST"))
	})
	script := host.NewScripted()
	s := startServer(t, &Server{Registry: r}, Options{Host: script.Set()})
	kinds := func(p Pipeline) (all []string) {
		t.Helper()
		res, err := s.Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range res.Records {
			all = append(all, r.Kind.String())
		}
		return all
	}
	if got := kinds(Cmd("Write-All").Switch("Verbose").Switch("Debug")); !slices.Equal(got, []string{"output", "error", "warning", "verbose", "debug", "progress", "information", "information"}) {
		t.Errorf("records %q", got)
	}
	if got := kinds(Cmd("Write-All")); !slices.Equal(got, []string{"output", "error", "warning", "progress", "information", "information"}) {
		t.Errorf("records %q", got)
	}
	if got := kinds(Cmd("Write-All").Param("ErrorAction", "SilentlyContinue").Param("wa", 0).Param("infa", "Ignore")); !slices.Equal(got, []string{"output", "progress"}) {
		t.Errorf("records %q", got)
	}
	methods := script.Calls()
	if want := []string{
		"WriteWarningLine", "WriteVerboseLine", "WriteDebugLine", "WriteProgress", "WriteLine2",
		"WriteWarningLine", "WriteProgress", "WriteLine2", "WriteProgress",
	}; !slices.Equal(methods, want) {
		t.Errorf("host calls %q, want %q", methods, want)
	}
	_, err := s.Run(t.Context(), Cmd("Write-All").Param("ErrorAction", "Stop"))
	if e, ok := errors.AsType[*PipelineError](err); !ok || e.State != proto.PipelineFailed || e.Record.FullyQualifiedErrorID != "Bad" {
		t.Errorf("error %v", err)
	}
}

func TestPanicOfACommandFailsItsPipelineAlone(t *testing.T) {
	r := echoRegistry()
	entered, release := make(chan bool), make(chan bool)
	add(r, "Wait-Here", func(_ context.Context, c *Call) error {
		entered <- true
		<-release
		return c.Output("still here")
	})
	add(r, "Stop-Badly", func(context.Context, *Call) error { panic("secret of the server") })
	s := startServer(t, &Server{Registry: r}, Options{MaxRunspaces: 2})
	var wg sync.WaitGroup
	wg.Go(func() {
		if got := outputs(t, s, Cmd("Wait-Here")); !slices.Equal(got, []string{"still here"}) {
			t.Errorf("output %q", got)
		}
	})
	<-entered
	_, err := s.Run(t.Context(), Cmd("Stop-Badly"))
	if e, ok := errors.AsType[*PipelineError](err); !ok || e.State != proto.PipelineFailed || e.Record.FullyQualifiedErrorID != "InternalError,Stop-Badly" || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v", err)
	}
	close(release)
	wg.Wait()
}

func TestStopCancelsTheCommand(t *testing.T) {
	r := &Registry{}
	ended := make(chan error, 1)
	started := make(chan bool, 1)
	add(r, "Wait-Forever", func(ctx context.Context, _ *Call) error {
		started <- true
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return ctx.Err()
	})
	s := startServer(t, &Server{Registry: r}, Options{})
	run, err := s.Start(t.Context(), Cmd("Wait-Forever"))
	if err != nil {
		t.Fatal(err)
	}
	<-started
	if err := run.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, ErrStopped) {
		t.Errorf("the command's context ended by %v", err)
	}
	for _, err := range run.Records() {
		if e, ok := errors.AsType[*PipelineError](err); !ok || e.State != proto.PipelineStopped || e.Record == nil || e.Record.FullyQualifiedErrorID != "PipelineStopped" {
			t.Errorf("error %v", err)
		}
	}
}

func TestCommandThatIgnoresItsContextDoesNotHoldTheStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := echoRegistry()
		release := make(chan bool)
		add(r, "Wait-Deaf", func(_ context.Context, c *Call) error {
			<-release
			if err := c.Output("late"); !errors.Is(err, ErrStopped) {
				t.Errorf("output after the end: %v", err)
			}
			return nil
		})
		s := startServer(t, &Server{Registry: r}, Options{})
		run, err := s.Start(t.Context(), Cmd("Wait-Deaf"))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		begin := time.Now()
		if err := run.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took != 5*time.Second {
			t.Errorf("stopped after %v", took)
		}
		if got := outputs(t, s, Cmd("echo").Arg("a")); !slices.Equal(got, []string{"a"}) {
			t.Errorf("output %q", got)
		}
		close(release)
	})
}
