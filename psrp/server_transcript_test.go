package psrp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/internal/conformance"
	"example.com/quire/psrp/oop"
	"example.com/quire/psrp/proto"
)

// TestServerAnswersARecordedClient gives a Server what a real PowerShell client sent, and compares
// what it answers with what the real server did, message by message. What a script did there our
// handler of scripts does by its Call; all else is the server's own: the opening, acknowledgements,
// binding of arguments, the debugger's set-up, descriptions, chains and merges, the host calls that
// show records, runspaces, keys, stops and the end. testdata/server-differences.txt lists where the
// two differ, and why; a difference that is not there, or one there that is none, is a failure.
func TestServerAnswersARecordedClient(t *testing.T) {
	all, err := conformance.Transcripts(conformance.Folders("tap/testdata/real")...)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 22 {
		t.Errorf("%d transcripts, want at least 22", len(all))
	}
	rules := readRules(t, "testdata/server-differences.txt")
	for _, tr := range all {
		t.Run(tr.Name, func(t *testing.T) {
			steps, err := tr.Steps()
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				r := newServerReplay(steps)
				if err := r.run(t.Context()); err != nil {
					t.Fatal(err)
				}
				for _, d := range r.differences() {
					if !rules.explain(tr.Name, d) {
						t.Errorf("%s %s: %s", d.message, d.path, d.detail)
					}
				}
			})
		})
	}
	for _, r := range rules {
		if !r.used {
			t.Errorf("testdata/server-differences.txt:%d explains no difference", r.line)
		}
	}
}

func TestServerReplayNoticesAnotherAnswer(t *testing.T) {
	all, err := conformance.Transcripts("tap/testdata/real")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(tr conformance.Transcript) bool { return tr.Name == "streams" })
	for name, change := range map[string]func(r *serverReplay){
		"a host call less": func(r *serverReplay) { r.drop(proto.MessagePipelineHostCall) },
		"a record less":    func(r *serverReplay) { r.drop(proto.MessageWarningRecord) },
		"another ack":      func(r *serverReplay) { r.gotAcks["DataAck"]++ },
		"swapped records": func(r *serverReplay) {
			for _, got := range r.got {
				if len(got) > 10 {
					got[1], got[3] = got[3], got[1]
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			steps, err := all[i].Steps()
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				r := newServerReplay(steps)
				if err := r.run(t.Context()); err != nil {
					t.Fatal(err)
				}
				before := len(r.differences())
				if change(r); len(r.differences()) == before {
					t.Error("it was not noticed")
				}
			})
		})
	}
}

func (r *serverReplay) drop(mt proto.MessageType) {
	for id, got := range r.got {
		if i := slices.IndexFunc(got, func(m conformance.Message) bool { return m.Header.Type == mt }); i >= 0 {
			r.got[id] = slices.Delete(got, i, i+1)
		}
	}
}

// rule explains a difference.
type rule struct {
	transcript, message, path string
	line                      int
	used                      bool
}

type rules []*rule

// readRules reads lines of a transcript, a message, a path and a reason; the first three may hold
// the * of path.Match, and a path stands for what is below it, too.
func readRules(t *testing.T, file string) (all rules) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(b)) {
		n++
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(f[0], "#") {
			continue
		}
		if len(f) < 6 {
			t.Fatalf("%s:%d: no transcript, message, path and reason", file, n)
		}
		all = append(all, &rule{transcript: f[0], message: f[1], path: f[2], line: n})
	}
	return all
}

func (all rules) explain(transcript string, d difference) (ok bool) {
	for _, r := range all {
		if !matches(r.transcript, transcript) || !matches(r.message, d.message) {
			continue
		}
		depth := strings.Count(r.path, "/") + 1
		if parts := strings.Split(d.path, "/"); len(parts) >= depth && matches(r.path, strings.Join(parts[:depth], "/")) {
			r.used, ok = true, true
		}
	}
	return ok
}

func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// difference is a place where our server did something else than the real one.
type difference struct {
	message string // its type, or "packet"
	path    string // in the message; "missing" and "extra" for a whole one
	detail  string
}

// serverReplay plays the recorded client against a Server, in the order of the recording: each side
// does its next thing when it has got what came before it there.
type serverReplay struct {
	steps   []conformance.Step
	want    map[clixml.GUID][]recorded // of the real server
	inputs  map[clixml.GUID][]recorded // of the client
	played  map[clixml.GUID]bool       // pipelines whose every message is waited for
	secrets bool                       // under a session key, which is lost with its session
	key     *lostKey
	objects uint64

	mu      sync.Mutex
	changed *sync.Cond
	got     map[clixml.GUID][]conformance.Message // of ours
	gotAcks map[string]int
	sent    map[clixml.GUID]int // messages that our server has made
	reached int                 // every line of the client before it has been sent
	faults  []difference
}

type recorded struct {
	line    int
	after   int // the client's last line before it
	message conformance.Message
	value   proto.Message
}

func newServerReplay(steps []conformance.Step) *serverReplay {
	r := &serverReplay{
		steps: steps, want: map[clixml.GUID][]recorded{}, inputs: map[clixml.GUID][]recorded{}, played: map[clixml.GUID]bool{{}: true},
		got: map[clixml.GUID][]conformance.Message{}, gotAcks: map[string]int{}, sent: map[clixml.GUID]int{},
	}
	r.changed = sync.NewCond(&r.mu)
	return r
}

// run plays the whole recording.
func (r *serverReplay) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Hour) // of the bubble's clock
	defer cancel()
	commands := []string{"Write-Output", "Sort-Object", "Get-Item"}
	confidential, after := true, 0
	for _, s := range r.steps {
		if s.Line.Direction == "c2s" && s.Packet.Kind != 0 {
			after = s.Line.N
		}
		for _, m := range s.Messages {
			v, err := proto.DecodeMessage(m.Header.Type, m.Body, conformance.ClearDecoder())
			if m.Header.Type == proto.MessagePublicKey {
				r.secrets = true
			}
			if r.secrets && m.Header.Type != proto.MessagePublicKey {
				m.Body, err = otherSecrets(m.Body, nil)
				if err == nil {
					v, err = proto.DecodeMessage(m.Header.Type, m.Body, conformance.ClearDecoder())
				}
			}
			if err != nil {
				return fmt.Errorf("line %d: %w", s.Line.N, err)
			}
			id := m.Header.Pipeline
			to := r.inputs
			if s.Line.Direction == "s2c" {
				to = r.want
			}
			switch v := v.(type) {
			case *proto.CreatePipeline:
				c := v.Pipeline.Statements[0][0]
				r.played[id] = c.Script || slices.Contains(commands, c.Name)
				continue
			case *proto.SessionCapability:
				// The lower version of both counts; ours is told by whether others could read
				// along.
				confidential = confidential && v.Protocol == clixml.NewVersion(2, 4)
			case *proto.EndOfPipelineInput:
				continue
			}
			if s.Line.Direction == "s2c" || m.Header.Type == proto.MessagePipelineInput {
				to[id] = append(to[id], recorded{s.Line.N, after, m, v})
			}
		}
	}
	a, b := net.Pipe()
	client := oop.NewConn(a, oop.Client, oop.Options{Confidential: confidential})
	srv := &Server{Registry: r.commands(), Scripts: func(ctx context.Context, _ string, _ []Arg, c *Call) error { return r.play(ctx, c) }, Tracer: r}
	var group sync.WaitGroup
	group.Go(func() {
		// What it has to say of a client that has gone is tested elsewhere.
		_ = srv.Serve(ctx, oop.NewConn(b, oop.Server, oop.Options{Confidential: confidential}), Identity{})
	})
	group.Go(func() { r.receive(ctx, client) })
	err := r.send(ctx, client)
	_ = client.Close()
	group.Wait()
	return err
}

// commands are those of PowerShell's own that recorded clients ran, as far as they can be told from
// what they did.
func (r *serverReplay) commands() *Registry {
	reg := &Registry{}
	each := func(c *Call, v clixml.Value) error {
		if l, ok := v.Base().List(); ok {
			for _, v := range l.Items {
				if err := c.Output(v); err != nil {
					return err
				}
			}
			return nil
		}
		return c.Output(v)
	}
	Add(reg, CommandInfo{Name: "Write-Output"}, func(_ context.Context, a struct {
		InputObject clixml.Value `psrp:"InputObject,position=0"`
	}, c *Call,
	) error {
		return each(c, a.InputObject)
	})
	Add(reg, CommandInfo{Name: "Sort-Object"}, func(_ context.Context, a struct{ Descending bool }, c *Call) error {
		var all []clixml.Value
		for v, err := range Input[clixml.Value](c) {
			if err != nil {
				return err
			}
			all = append(all, v)
		}
		slices.SortFunc(all, func(a, b clixml.Value) int {
			x, _ := a.Int()
			y, _ := b.Int()
			return cmp.Compare(x, y)
		})
		if a.Descending {
			slices.Reverse(all)
		}
		for _, v := range all {
			if err := c.Output(v); err != nil {
				return err
			}
		}
		return nil
	})
	Add(reg, CommandInfo{Name: "Get-Item"}, func(ctx context.Context, _ struct {
		Path string `psrp:"Path,mandatory,position=0"`
	}, c *Call,
	) error {
		return r.play(ctx, c)
	})
	return reg
}

// TraceMessage counts what the server sends.
func (r *serverReplay) TraceMessage(dir proto.Direction, h proto.MessageHeader, _ []byte) {
	if dir == proto.ToClient {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.sent[h.Pipeline]++
	}
}

func (r *serverReplay) await(ctx context.Context, ready func() bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return waitFor(ctx, r.changed, ready)
}

// send sends the lines of the client, each when what it had received before has come.
func (r *serverReplay) send(ctx context.Context, client *oop.Conn) error {
	acks, messages, ended := map[string]int{}, map[clixml.GUID]int{}, map[clixml.GUID]bool{}
	for _, s := range r.steps {
		id := s.Packet.Target
		switch {
		case s.Packet.Kind == 0:
		case s.Line.Direction == "s2c" && s.Packet.Kind == proto.PacketData:
			for _, m := range s.Messages {
				switch {
				case r.played[id]:
					messages[id]++
				case m.Header.Type == proto.MessagePipelineState: // however many come before it
					ended[id] = true
				}
			}
		case s.Line.Direction == "s2c":
			acks[s.Packet.Kind.String()+" "+id.String()]++
		default:
			if err := r.answered(ctx, acks, messages, ended); err != nil {
				return fmt.Errorf("line %d: %w", s.Line.N, err)
			}
			p := s.Packet
			if r.secrets && p.Kind == proto.PacketData {
				var err error
				if p.Data, err = r.rekey(s.Messages); err != nil {
					return fmt.Errorf("line %d: %w", s.Line.N, err)
				}
			}
			if err := client.Send(ctx, p); err != nil {
				return fmt.Errorf("line %d: %w", s.Line.N, err)
			}
			r.mu.Lock()
			r.reached = s.Line.N
			r.changed.Broadcast()
			r.mu.Unlock()
		}
	}
	return r.answered(ctx, acks, messages, ended)
}

// answered waits for acknowledgements, for so many messages of each target, and for the end of
// pipelines.
func (r *serverReplay) answered(ctx context.Context, acks map[string]int, messages map[clixml.GUID]int, ended map[clixml.GUID]bool) error {
	lack := ""
	err := r.await(ctx, func() bool {
		for k, n := range acks {
			if lack = k; r.gotAcks[k] < n {
				return false
			}
		}
		for id, n := range messages {
			if lack = fmt.Sprint(n, " messages of ", id); len(r.got[id]) < n {
				return false
			}
		}
		for id := range ended {
			lack = fmt.Sprint("the end of ", id)
			if !slices.ContainsFunc(r.got[id], func(m conformance.Message) bool { return m.Header.Type == proto.MessagePipelineState }) {
				return false
			}
		}
		return true
	})
	if err != nil {
		return fmt.Errorf("the server has not sent %s: %w", lack, err)
	}
	return nil
}

// receive takes what our server sends.
func (r *serverReplay) receive(ctx context.Context, client *oop.Conn) {
	assemblers := map[clixml.GUID]*proto.Assembler{}
	for {
		p, err := client.Recv(ctx)
		r.mu.Lock()
		switch {
		case err != nil: // the end
		case p.Kind != proto.PacketData:
			r.gotAcks[p.Kind.String()+" "+p.Target.String()]++
		default:
			a := assemblers[p.Target]
			if a == nil {
				a = &proto.Assembler{}
				assemblers[p.Target] = a
			}
			a.Add(p.Data)
			for {
				b, ok, err := a.Next()
				if err != nil || !ok {
					break
				}
				if h, body, err := proto.ParseMessage(b); err == nil {
					r.got[p.Target] = append(r.got[p.Target], conformance.Message{Header: h, Stream: p.Stream, Body: slices.Clone(body)})
				}
			}
		}
		r.changed.Broadcast()
		r.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// play does what the pipeline's script did.
func (r *serverReplay) play(ctx context.Context, c *Call) error {
	id := c.pipeline.id
	r.mu.Lock()
	rest := r.want[id][min(r.sent[id], len(r.want[id])):]
	r.mu.Unlock()
	next, stop := iter.Pull2(Input[clixml.Value](c))
	defer stop()
	taken := 0
	c.prefs.verbose, c.prefs.debug = actionContinue, actionContinue
	for i, s := range rest {
		// The client's lines before this one have been sent, and its input is here.
		if err := r.await(ctx, func() bool { return r.reached >= s.after }); err != nil {
			return context.Cause(ctx)
		}
		for ; taken < len(r.inputs[id]) && r.inputs[id][taken].line < s.line; taken++ {
			v, err, _ := next()
			want := r.inputs[id][taken].value.(*proto.PipelineInput).Value
			if err != nil || !conformance.Alike(want, v) {
				r.fault("PIPELINE_INPUT", fmt.Sprintf("%d is %v, %v", taken, v, err))
			}
		}
		// What follows a record is the server's own.
		shown := i+1 < len(rest) && isShown(rest[i+1].value)
		var err error
		switch m := s.value.(type) {
		case *proto.PipelineOutput:
			if e, bad := proto.ErrorRecordOf(m.Value); bad == nil && isErrorRecord(m.Value) {
				err = c.Error(e)
			} else {
				err = c.Output(m.Value)
			}
		case *proto.ErrorRecord:
			err = c.Error(m)
		case *proto.InformationalRecord:
			switch m.Kind {
			case proto.RecordVerbose:
				err = c.Verbose(m.Message)
			case proto.RecordDebug:
				err = c.Debug(m.Message)
			default:
				err = c.Warning(m.Message)
			}
		case *proto.InformationRecord:
			c.prefs.information = actionSilent
			if shown {
				c.prefs.information = actionContinue
			}
			err = c.Information(m.MessageData, m.Tags...)
		case *proto.ProgressRecord:
			err = c.Progress(m)
		case *proto.HostCall:
			if i > 0 && isRecord(rest[i-1].value) && isShown(m) {
				continue
			}
			// By the interfaces of a host, which are asked what the recorded call asks.
			if answer := c.Host().Serve(ctx, m); answer.Error != nil {
				r.fault("PIPELINE_HOST_CALL", answer.Error.Error())
			}
		case *proto.PipelineStateMessage:
			switch m.State {
			case proto.PipelineFailed:
				return m.Error
			case proto.PipelineStopped:
				<-ctx.Done()
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
	// The recorded server did not live to its end.
	<-ctx.Done()
	return context.Cause(ctx)
}

func isErrorRecord(v clixml.Value) bool {
	o, ok := v.Object()
	return ok && o.TypeName() == "System.Management.Automation.ErrorRecord"
}

// isRecord reports whether a message is one of the records that are shown.
func isRecord(m proto.Message) bool {
	switch m.(type) {
	case *proto.InformationalRecord, *proto.InformationRecord, *proto.ProgressRecord:
		return true
	}
	return false
}

// isShown reports whether a message is a host call that shows a record.
func isShown(m proto.Message) bool {
	c, ok := m.(*proto.HostCall)
	return ok && slices.Contains([]proto.HostMethod{
		proto.HostWrite1, proto.HostWriteLine2, proto.HostWriteDebugLine, proto.HostWriteVerboseLine, proto.HostWriteWarningLine, proto.HostWriteProgress,
	}, c.Method)
}

func (r *serverReplay) fault(message, detail string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults = append(r.faults, difference{message, "played", detail})
}

// differences compares what was sent with the recording, by target.
func (r *serverReplay) differences() []difference {
	all := slices.Clone(r.faults)
	acks := map[string]int{}
	for _, s := range r.steps {
		if s.Line.Direction == "s2c" && s.Packet.Kind != 0 && s.Packet.Kind != proto.PacketData {
			acks[s.Packet.Kind.String()+" "+s.Packet.Target.String()]++
		}
	}
	for k := range r.gotAcks {
		acks[k] += 0
	}
	for k, n := range acks {
		if got := r.gotAcks[k]; got != n {
			kind, id, _ := strings.Cut(k, " ")
			all = append(all, difference{"packet", kind, fmt.Sprintf("%d of %s, recorded %d", got, id, n)})
		}
	}
	for id := range r.want {
		all = append(all, r.compare(r.want[id], r.got[id])...)
	}
	for id, got := range r.got {
		if r.want[id] == nil {
			all = append(all, r.compare(nil, got)...)
		}
	}
	return all
}

func (r *serverReplay) compare(want []recorded, got []conformance.Message) (all []difference) {
	i, j := 0, 0
	for i < len(want) || j < len(got) {
		switch {
		case i == len(want) || j < len(got) && want[i].message.Header.Type != got[j].Header.Type &&
			slices.ContainsFunc(got[j:], func(m conformance.Message) bool { return m.Header.Type == want[i].message.Header.Type }):
			all = append(all, difference{got[j].Header.Type.String(), "extra", string(got[j].Body)})
			j++
			continue
		case j == len(got) || want[i].message.Header.Type != got[j].Header.Type:
			all = append(all, difference{want[i].message.Header.Type.String(), "missing", string(want[i].message.Body)})
			i++
			continue
		}
		all = append(all, r.same(want[i].message, got[j])...)
		i++
		j++
	}
	return all
}

func (r *serverReplay) same(want, got conformance.Message) (all []difference) {
	name := want.Header.Type.String()
	if want.Header != got.Header || want.Stream != got.Stream {
		all = append(all, difference{name, "header", fmt.Sprintf("%+v on %v, recorded %+v on %v", got.Header, got.Stream, want.Header, want.Stream)})
	}
	if want.Header.Type == proto.MessageEncryptedSessionKey {
		return all // new for every session
	}
	v, err := conformance.ClearDecoder().Decode(want.Body)
	w, err2 := r.key.decoder().Decode(got.Body)
	if err := errors.Join(err, err2); err != nil {
		return append(all, difference{name, "body", err.Error()})
	}
	for _, p := range conformance.Differences(v, w) {
		all = append(all, difference{name, p, fmt.Sprintf("%.600s, recorded %.600s", got.Body, want.Body)})
	}
	return all
}
