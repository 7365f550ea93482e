package psrp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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

func TestPipelinesBeyondMaxRunspacesWaitInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var begun []int
		release := map[int]chan bool{}
		r := &Registry{}
		Add(r, CommandInfo{Name: "Wait-Turn"}, func(_ context.Context, a struct{ N int }, c *Call) error {
			mu.Lock()
			begun = append(begun, a.N)
			ch := release[a.N]
			mu.Unlock()
			<-ch
			return c.Output(a.N)
		})
		s := startServer(t, &Server{Registry: r}, Options{MaxRunspaces: 2})
		seen := func() []int {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(begun)
		}
		var runs []*Running
		for n := range 5 {
			release[n] = make(chan bool)
			run, err := s.Start(t.Context(), Cmd("Wait-Turn").Param("N", n))
			if err != nil {
				t.Fatal(err)
			}
			runs = append(runs, run)
			synctest.Wait()
		}
		check := func(what string, want ...int) {
			t.Helper()
			if got := seen(); !slices.Equal(got, want) {
				t.Errorf("%s: %v have begun, want %v", what, got, want)
			}
		}
		check("at first", 0, 1)
		if n, err := s.Available(t.Context()); n != 0 || err != nil {
			t.Errorf("%d runspaces are free, %v", n, err)
		}
		close(release[1])
		check("one is done", 0, 1, 2)
		if err := runs[3].Stop(t.Context()); err != nil {
			t.Error(err)
		}
		check("one that waits is stopped", 0, 1, 2)
		if err := s.SetRunspaces(t.Context(), 1, 3); err != nil {
			t.Error(err)
		}
		check("a runspace more", 0, 1, 2, 4)
		for _, n := range []int{0, 2, 4} {
			close(release[n])
		}
		for n, run := range runs {
			for _, err := range run.Records() {
				if err != nil && n != 3 {
					t.Errorf("pipeline %d: %v", n, err)
				}
			}
		}
	})
}

// asker answers the host's questions by running a pipeline first.
type asker struct {
	host.Console
	before func(ctx context.Context) error
}

func (a *asker) ReadLine(ctx context.Context) (string, error) { return "answer", a.before(ctx) }

func TestNestedPipelineRunsInsideOneThatWaitsForItsUser(t *testing.T) {
	r := echoRegistry()
	add(r, "Read-Answer", func(ctx context.Context, c *Call) error {
		text, err := c.Host().Console.ReadLine(ctx)
		if err != nil {
			return err
		}
		return c.Output(text)
	})
	console := &asker{}
	s := startServer(t, &Server{Registry: r}, Options{Host: host.Set{Console: console}})
	nested := Cmd("echo").Arg("nested")
	nested.Nested = true
	inside := make(chan string, 1)
	console.before = func(ctx context.Context) error {
		res, err := s.Run(ctx, nested)
		if err != nil {
			return err
		}
		inside <- res.Output[0].String()
		return nil
	}
	if got := outputs(t, s, Cmd("Read-Answer")); !slices.Equal(got, []string{"answer"}) {
		t.Errorf("output %q", got)
	}
	if got := <-inside; got != "nested" {
		t.Errorf("the nested pipeline said %q", got)
	}
	if got := outputs(t, s, nested); !slices.Equal(got, []string{"nested"}) {
		t.Errorf("with nothing running: %q", got)
	}
}

func TestNestedPipelineWaitsForOneThatIsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := echoRegistry()
		release := make(chan bool)
		add(r, "Wait-Here", func(context.Context, *Call) error {
			<-release
			return nil
		})
		s := startServer(t, &Server{Registry: r}, Options{})
		busy, err := s.Start(t.Context(), Cmd("Wait-Here"))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		p := Cmd("echo").Arg("nested")
		p.Nested = true
		run, err := s.Start(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		s.mu.Lock()
		waiting := !run.ended
		s.mu.Unlock()
		if !waiting {
			t.Error("the nested pipeline ran beside a busy one")
		}
		close(release)
		for _, run := range []*Running{busy, run} {
			for _, err := range run.Records() {
				if err != nil {
					t.Error(err)
				}
			}
		}
	})
}

func TestIdentitySeesAndRunsItsOwnCommandsOnly(t *testing.T) {
	r := &Registry{}
	for _, name := range []string{"Get-Open", "Get-Shut"} {
		add(r, name, func(_ context.Context, c *Call) error { return c.Output(c.Name() + " for " + c.Identity().User) })
	}
	srv := &Server{Registry: r, Authorize: func(_ context.Context, id Identity, command string) error {
		if command == "Get-Shut" && id.User != "root" {
			return errors.New("not for you")
		}
		return nil
	}}
	root, guest := startServerAs(t, srv, Identity{User: "root"}, Options{}), startServerAs(t, srv, Identity{User: "guest"}, Options{})
	names := func(s *Session) (all []string) {
		t.Helper()
		found, err := s.Commands(t.Context(), CommandQuery{Names: []string{"get-*"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range found {
			all = append(all, m.Name)
		}
		var listed []string
		for _, v := range mustRun(t, s, Cmd("Get-Command").Arg("Get-*")) {
			listed = append(listed, v.String())
		}
		if !slices.Equal(listed, all) {
			t.Errorf("Get-Command lists %q, the descriptions are of %q", listed, all)
		}
		return all
	}
	if got := names(root); !slices.Equal(got, []string{"Get-Command", "Get-Open", "Get-Shut"}) {
		t.Errorf("root sees %q", got)
	}
	if got := names(guest); !slices.Equal(got, []string{"Get-Command", "Get-Open"}) {
		t.Errorf("guest sees %q", got)
	}
	if got := outputs(t, root, Cmd("Get-Shut")); !slices.Equal(got, []string{"Get-Shut for root"}) {
		t.Errorf("output %q", got)
	}
	refused := func(name string) string {
		_, err := guest.Run(t.Context(), Cmd(name))
		e, ok := errors.AsType[*PipelineError](err)
		if !ok || e.Record == nil {
			t.Fatalf("error %v", err)
		}
		b, err := (&clixml.Encoder{}).AppendValue(nil, e.Record.Value())
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(b), name, "NAME")
	}
	if shut, none := refused("Get-Shut"), refused("Get-None"); shut != none {
		t.Errorf("a refused command is told\n%s, one that does not exist\n%s", shut, none)
	}
}

func mustRun(t *testing.T, s *Session, p Pipeline, input ...any) []clixml.Value {
	t.Helper()
	res, err := s.Run(t.Context(), p, input...)
	if err != nil {
		t.Fatal(err)
	}
	return res.Output
}

func TestScriptReachesItsHandlerAsTextWithArguments(t *testing.T) {
	type heard struct {
		text  string
		args  []string
		using map[string]string
		input []string
	}
	var got heard
	srv := &Server{Scripts: func(_ context.Context, text string, args []Arg, c *Call) error {
		got = heard{text: text, using: map[string]string{}}
		for _, a := range args {
			got.args = append(got.args, a.Name+"="+a.Value.String())
		}
		for name, v := range c.Using() {
			got.using[name] = v.String()
		}
		for v, err := range Input[string](c) {
			if err != nil {
				return err
			}
			got.input = append(got.input, v)
		}
		return c.Output("done")
	}}
	s := startServer(t, srv, Options{})
	// "$using:min" in UTF-16LE.
	using := &clixml.Dict{Entries: []clixml.Entry{{Key: clixml.String("JAB1AHMAaQBuAGcAOgBtAGkAbgA="), Value: clixml.Int32(2)}}}
	p := Script("rm -rf $x; \n'no parser' {").Param("Path", "a").Arg(1).Param("--%", using)
	if out := outputs(t, s, p, "i", "j"); !slices.Equal(out, []string{"done"}) {
		t.Errorf("output %q", out)
	}
	if got.text != "rm -rf $x; \n'no parser' {" || !slices.Equal(got.args, []string{"Path=a", "=1"}) || got.using["min"] != "2" || !slices.Equal(got.input, []string{"i", "j"}) {
		t.Errorf("the handler was given %+v", got)
	}
	outputs(t, s, Script("param($__using_min)").Param("-__using_min:", 3))
	if got.using["min"] != "3" || !slices.Equal(got.args, []string{"-__using_min:=3"}) {
		t.Errorf("the handler was given %+v", got)
	}
}

func TestHandlerMayRefuseAScript(t *testing.T) {
	s := startServer(t, &Server{Scripts: func(_ context.Context, text string, _ []Arg, _ *Call) error {
		return fmt.Errorf("%q is none that I know: %w", text, ErrScriptsNotAllowed)
	}}, Options{})
	if _, err := s.Run(t.Context(), Script("1")); !errors.Is(err, ErrScriptsNotAllowed) {
		t.Errorf("error %v", err)
	}
}

func TestEventsAndApplicationArgumentsAreOfTheSession(t *testing.T) {
	r := &Registry{}
	add(r, "Send-Event", func(_ context.Context, c *Call) error {
		who, _ := c.ApplicationArguments().Get("who")
		return c.Event(UserEvent{EventIdentifier: 7, SourceIdentifier: "Quire.Tick", MessageData: who})
	})
	events := make(chan UserEvent, 1)
	s := startServer(t, &Server{Registry: r, PrivateData: map[string]any{"Site": "north", "PSVersionTable": map[string]any{"PSVersion": clixml.NewVersion(5, 1), "PSRemotingProtocolVersion": "1"}}}, Options{
		ApplicationArguments: map[string]any{"who": "me"}, OnEvent: func(e UserEvent) { events <- e },
	})
	mustRun(t, s, Cmd("Send-Event"))
	if e := <-events; e.EventIdentifier != 7 || e.SourceIdentifier != "Quire.Tick" || e.MessageData.String() != "me" {
		t.Errorf("event %+v", e)
	}
	info := s.Server()
	site, _ := info.PrivateData.Get("Site")
	table, _ := info.PrivateData.Get("PSVersionTable")
	protocol, _ := table.Get("PSRemotingProtocolVersion")
	if site.String() != "north" || info.PSVersion != clixml.NewVersion(5, 1) || protocol.String() != info.Protocol.String() {
		t.Errorf("the server says %+v", info)
	}
}

func TestMergedStreamsAreOutput(t *testing.T) {
	r := &Registry{}
	add(r, "Write-Both", func(_ context.Context, c *Call) error {
		return errors.Join(c.Output("o"), c.Error(proto.NewErrorRecord("Bad", proto.InvalidData, "e")), c.Warning("w"))
	})
	add(r, "Get-Text", func(_ context.Context, c *Call) error {
		for v, err := range Input[clixml.Value](c) {
			if err != nil {
				return err
			}
			if err := c.Output("<" + textFor(v) + ">"); err != nil {
				return err
			}
		}
		return nil
	})
	s := startServer(t, &Server{Registry: r}, Options{})
	result := func(p Pipeline) string {
		t.Helper()
		res, err := s.Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, r := range res.Records {
			switch r.Kind {
			case proto.RecordOutput:
				all = append(all, "output "+textFor(r.Output))
			case proto.RecordError:
				all = append(all, "error "+r.Error.Message)
			default:
				all = append(all, r.Kind.String()+" "+r.Message.Message)
			}
		}
		return strings.Join(all, ", ")
	}
	merged := func(m proto.Merge) Pipeline {
		p := Cmd("Write-Both")
		p.Statements[0][0].Merge = m
		return p
	}
	for want, p := range map[string]Pipeline{
		"output o, error e, warning w":                               merged(proto.Merge{}),
		"output o, output e, warning w":                              merged(proto.Merge{MyResult: proto.ResultError, ToResult: proto.ResultOutput}),
		"output o, error e, output w":                                merged(proto.Merge{Warning: proto.ResultOutput}),
		"output o, warning w":                                        merged(proto.Merge{Error: proto.ResultNull}),
		"output o, output e, output w":                               merged(proto.Merge{MyResult: proto.ResultAll, ToResult: proto.ResultOutput}),
		"output o, error e, warning w, output o, error e, warning w": Cmd("Write-Both").Then(Cmd("Write-Both")),
	} {
		if got := result(p); got != want {
			t.Errorf("records %q, want %q", got, want)
		}
	}
	p := Cmd("Write-Both").Pipe(Cmd("Get-Text"))
	p.Statements[0][1].Merge.PreviousResults = proto.ResultOutput | proto.ResultError
	if got := result(p); !strings.Contains(got, "output <o>, output <e>") && !strings.Contains(got, "output <o>, warning w, output <e>") {
		t.Errorf("records %q", got)
	}
}

func TestServerThatShutsDownTellsItsClient(t *testing.T) {
	r := &Registry{}
	ended := make(chan error, 1)
	started := make(chan bool, 1)
	add(r, "Wait-Forever", func(ctx context.Context, _ *Call) error {
		started <- true
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return ctx.Err()
	})
	a, b := net.Pipe()
	ctx, cancel := context.WithCancelCause(t.Context())
	served := make(chan error, 1)
	go func() {
		served <- (&Server{Registry: r}).Serve(ctx, oop.NewConn(b, oop.Server, oop.Options{}), Identity{})
	}()
	s, err := Open(t.Context(), oop.NewConn(a, oop.Client, oop.Options{}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.Start(t.Context(), Cmd("Wait-Forever"))
	if err != nil {
		t.Fatal(err)
	}
	<-started
	reason := errors.New("power is out")
	cancel(reason)
	if err := <-ended; !errors.Is(err, reason) {
		t.Errorf("the command's context ended by %v", err)
	}
	if err := <-served; !errors.Is(err, reason) {
		t.Errorf("serve: %v", err)
	}
	<-s.Done()
	if e, ok := errors.AsType[*ErrorRecord](s.Err()); !ok || e.FullyQualifiedErrorID != "ServerShutdown" {
		t.Errorf("the session ended by %v", s.Err())
	}
	for _, err := range run.Records() {
		if err == nil {
			t.Error("a record")
		}
	}
}

func TestClosedSessionCancelsItsCommands(t *testing.T) {
	r := &Registry{}
	ended := make(chan error, 1)
	started := make(chan bool, 1)
	add(r, "Wait-Forever", func(ctx context.Context, _ *Call) error {
		started <- true
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return ctx.Err()
	})
	for name, end := range map[string]func(s *Session){
		"closed": func(s *Session) { _ = s.Close(context.Background()) },
		"lost": func(s *Session) {
			_ = s.transport.Close()
			<-s.Done() // before Close, which would end it well
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := startServer(t, &Server{Registry: r}, Options{})
			if _, err := s.Start(t.Context(), Cmd("Wait-Forever")); err != nil {
				t.Fatal(err)
			}
			<-started
			end(s)
			if err := <-ended; !errors.Is(err, ErrStopped) && !errors.Is(err, errSessionEnded) {
				t.Errorf("the command's context ended by %v", err)
			}
		})
	}
}

func TestSessionsBeyondTheLimitAreRefused(t *testing.T) {
	srv := &Server{Registry: echoRegistry(), Limits: ServerLimits{Sessions: 1}}
	first := startServer(t, srv, Options{})
	a, b := net.Pipe()
	if err := srv.Serve(t.Context(), oop.NewConn(b, oop.Server, oop.Options{}), Identity{}); !errors.Is(err, ErrTooManySessions) {
		t.Errorf("serve: %v", err)
	}
	if _, err := Open(t.Context(), oop.NewConn(a, oop.Client, oop.Options{}), Options{}); err == nil {
		t.Error("a second session was opened")
	}
	if got := outputs(t, first, Cmd("echo").Arg("a")); !slices.Equal(got, []string{"a"}) {
		t.Errorf("output %q", got)
	}
}

func TestClientThatDoesNotReadHoldsTheCommandBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &Registry{}
		written := 0
		add(r, "Get-Endless", func(ctx context.Context, c *Call) error {
			for ctx.Err() == nil {
				if err := c.Output(strings.Repeat("x", 1<<10)); err != nil {
					return err
				}
				written += 1 << 10
			}
			return ctx.Err()
		})
		s := startServer(t, &Server{Registry: r, Limits: ServerLimits{Output: 1 << 20}}, Options{Limits: Limits{QueueBytes: 1 << 20}})
		run, err := s.Start(t.Context(), Cmd("Get-Endless"))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if written < 1<<20 || written > 4<<20 {
			t.Errorf("%d bytes were written, though nobody reads", written)
		}
		if err := run.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestCommandThatDoesNotReadHoldsTheClientBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &Registry{}
		release := make(chan bool)
		add(r, "Measure-Late", func(_ context.Context, c *Call) error {
			<-release
			n := 0
			for _, err := range Input[string](c) {
				if err != nil {
					return err
				}
				n++
			}
			return c.Output(n)
		})
		s := startServer(t, &Server{Registry: r, Limits: ServerLimits{InputBytes: 64 << 10}}, Options{})
		p := Cmd("Measure-Late")
		p.Input = true
		run, err := s.Start(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		sent := 0
		go func() {
			for range 1000 {
				if err := run.Send(t.Context(), strings.Repeat("x", 1<<10)); err != nil {
					t.Error(err)
				}
				sent++
			}
			_ = run.CloseInput()
		}()
		synctest.Wait()
		if sent > 300 {
			t.Errorf("%d objects were sent, though nobody reads", sent)
		}
		close(release)
		for rec, err := range run.Records() {
			if err != nil || rec.Output.String() != "1000" {
				t.Errorf("%v, %v", rec.Output, err)
			}
		}
	})
}

func TestClientThatBreaksTheProtocolIsTold(t *testing.T) {
	a, b := net.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- (&Server{}).Serve(context.Background(), oop.NewConn(b, oop.Server, oop.Options{}), Identity{})
	}()
	s, err := Open(t.Context(), oop.NewConn(a, oop.Client, oop.Options{}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	// Data whose fragment is none.
	if err := s.transport.Send(t.Context(), proto.Packet{Kind: proto.PacketData, Data: make([]byte, 30)}); err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	if e, ok := errors.AsType[*ErrorRecord](s.Err()); !ok || e.FullyQualifiedErrorID != "ProtocolError" {
		t.Errorf("the session ended by %v", s.Err())
	}
	if _, ok := errors.AsType[*RemoteProtocolError](<-served); !ok {
		t.Error("serve did not say that the client broke the protocol")
	}
}

func TestMistakesOfRegistrationAreNamed(t *testing.T) {
	register := func(f func(r *Registry)) (e *RegisterError) {
		defer func() { e, _ = recover().(*RegisterError) }()
		f(&Registry{})
		return nil
	}
	with := func(name string, args func(r *Registry, i CommandInfo)) func(r *Registry) {
		return func(r *Registry) { args(r, CommandInfo{Name: name}) }
	}
	for want, f := range map[string]func(r *Registry){
		"not a name": with("Get Disk", func(r *Registry, i CommandInfo) {
			Add(r, i, func(context.Context, struct{}, *Call) error { return nil })
		}),
		"not a struct": with("Get-A", func(r *Registry, i CommandInfo) { Add(r, i, func(context.Context, int, *Call) error { return nil }) }),
		"is Get-A already": with("Get-A", func(r *Registry, i CommandInfo) {
			Add(r, i, func(context.Context, struct{}, *Call) error { return nil })
			Add(r, CommandInfo{Name: "Get-B", Aliases: []string{"get-a"}}, func(context.Context, struct{}, *Call) error { return nil })
		}),
		"unknown option": with("Get-A", func(r *Registry, i CommandInfo) {
			Add(r, i, func(context.Context, struct {
				A int `psrp:"A,mandatry"`
			}, *Call,
			) error {
				return nil
			})
		}),
		"position 0 is of field A": with("Get-A", func(r *Registry, i CommandInfo) {
			Add(r, i, func(context.Context, struct {
				A int `psrp:"A,position=0"`
				B int `psrp:"B,position=0"`
			}, *Call,
			) error {
				return nil
			})
		}),
		"is a common parameter": with("Get-A", func(r *Registry, i CommandInfo) {
			Add(r, i, func(context.Context, struct{ Verbose bool }, *Call) error { return nil })
		}),
		"the default": with("Get-A", func(r *Registry, i CommandInfo) {
			Add(r, i, func(context.Context, struct {
				A int `psrp:"A,default=many"`
			}, *Call,
			) error {
				return nil
			})
		}),
		"no default": with("Get-A", func(r *Registry, i CommandInfo) {
			Add(r, i, func(context.Context, struct {
				A int `psrp:"A,mandatory,default=1"`
			}, *Call,
			) error {
				return nil
			})
		}),
		"cannot be a parameter": with("Get-A", func(r *Registry, i CommandInfo) {
			Add(r, i, func(context.Context, struct{ A chan int }, *Call) error { return nil })
		}),
	} {
		e := register(f)
		if e == nil || !strings.Contains(e.Error(), want) || !strings.Contains(e.Source, "server_pool_test.go:") {
			t.Errorf("error %v, want %q", e, want)
		}
	}
}

func TestErrorsOfTheSystemAreToldWithoutPaths(t *testing.T) {
	r := &Registry{}
	add(r, "Get-File", func(context.Context, *Call) error {
		return fmt.Errorf("read the settings: %w", &fs.PathError{Op: "open", Path: "/srv/private/settings.yaml", Err: fs.ErrNotExist})
	})
	s := startServer(t, &Server{Registry: r}, Options{})
	_, err := s.Run(t.Context(), Cmd("Get-File"))
	e, ok := errors.AsType[*PipelineError](err)
	if !ok || e.Record.FullyQualifiedErrorID != "CommandFailed,Get-File" || e.Record.Message != "read the settings: open settings.yaml: file does not exist" {
		t.Errorf("error %v", err)
	}
}

func TestStopIsBoundedForASessionThatIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &Registry{}
		release := make(chan bool)
		add(r, "Wait-Deaf", func(context.Context, *Call) error {
			<-release
			return nil
		})
		s := startServer(t, &Server{Registry: r}, Options{})
		if _, err := s.Start(t.Context(), Cmd("Wait-Deaf")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		begin := time.Now()
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took != 5*time.Second {
			t.Errorf("closed after %v", took)
		}
		close(release)
	})
}
