package machine

import (
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

func updating() bool { f := flag.Lookup("update"); return f != nil && f.Value.String() == "true" }

var _ = flag.Bool("update", false, "write golden files")

// TestTablesAreTheGoldenFile prints every cell: who changes a table reads what changes.
func TestTablesAreTheGoldenFile(t *testing.T) {
	const name = "testdata/tables.md"
	got := Tables()
	if updating() {
		if err := os.WriteFile(name, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the tables are not %s; run with -update and read the difference:\n%s", name, got)
	}
}

func TestEveryPairOfStateAndEventIsATransitionOrANamedError(t *testing.T) {
	for _, tt := range []struct {
		table *table
		start int
		final map[int]bool // states that nothing leaves but what is listed here
	}{
		{clientPool, cpBeforeOpen, map[int]bool{cpClosed: true, cpBroken: true}},
		{clientPipeline, ciDeferred, map[int]bool{ciClosed: true}},
		{serverPool, spBeforeOpen, map[int]bool{spClosed: true}},
		{serverPipeline, siCommand, map[int]bool{siClosed: true}},
	} {
		reached := map[int]bool{tt.start: true}
		for changed := true; changed; {
			changed = false
			for s := range tt.table.states {
				for e := range tt.table.events {
					to, a := tt.table.next(s, e)
					switch a {
					case forbidden:
						if why := tt.table.refusal(s, e); !strings.Contains(why, tt.table.states[s]) || !strings.Contains(why, tt.table.events[e]) {
							t.Errorf("%s: the refusal %q names neither state nor event", tt.table.name, why)
						}
					case ignored:
						if to != s {
							t.Errorf("%s: %s is ignored in %s and leads to %s", tt.table.name, tt.table.events[e], tt.table.states[s], tt.table.states[to])
						}
					case move:
						if tt.final[s] {
							t.Errorf("%s: %s leaves %s", tt.table.name, tt.table.events[e], tt.table.states[s])
						}
						if reached[s] && !reached[to] {
							reached[to], changed = true, true
						}
					}
				}
			}
		}
		if len(reached) != len(tt.table.states) {
			t.Errorf("%s: only %d of %d states can be reached", tt.table.name, len(reached), len(tt.table.states))
		}
	}
}

// TestCallsInAnyOrderEndEachPipelineOnce does random things on both sides. A call either works or
// is a LocalProtocolError that changes nothing; no packet of the other side is a mistake; every
// pipeline ends once, after its records, and the session ends.
func TestCallsInAnyOrderEndEachPipelineOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := proto.TransportProperties{Confidential: true, MaxPayload: rapid.SampledFrom([]int{0, 60, 200}).Draw(t, "payload")}
		c := NewClient(ClientConfig{Pool: id(99), Transport: tr, Init: proto.InitRunspacePool{MinRunspaces: 1, MaxRunspaces: 2, Host: proto.NoHost()}})
		s := NewServer(ServerConfig{Transport: tr})
		if err := c.Open(); err != nil {
			t.Fatal(err)
		}
		var last byte
		ended, records, sent := map[clixml.GUID]int{}, map[clixml.GUID]int{}, map[clixml.GUID]int{}
		var calls []HostCalled
		created := map[clixml.GUID]bool{}
		stopping := map[clixml.GUID]bool{}
		poolEnds := 0
		local := func(what string, err error) {
			if err == nil {
				return
			}
			if _, ok := errors.AsType[*proto.LocalProtocolError](err); !ok {
				t.Fatalf("%s: %v", what, err)
			}
		}
		deliver := func(steps int) {
			for range steps {
				p, ok := c.NextPacket(0)
				if ok {
					if err := s.Receive(p); err != nil {
						t.Fatalf("server: %v", err)
					}
				}
				q, ok2 := s.NextPacket(0)
				if ok2 {
					if err := c.Receive(q); err != nil {
						t.Fatalf("client: %v", err)
					}
				}
				if !ok && !ok2 {
					break
				}
			}
			for _, e := range drain(c.NextEvent) {
				switch e := e.(type) {
				case Recorded:
					if ended[e.ID] > 0 {
						t.Fatalf("a record of %v after its end", e.ID)
					}
					records[e.ID]++
				case HostCalled:
					if e.Call.WantsAnswer() {
						calls = append(calls, e)
					}
				case PipelineEnded:
					ended[e.ID]++
				case PoolEnded:
					poolEnds++
				}
			}
			for _, e := range drain(s.NextEvent) {
				switch e := e.(type) {
				case Created:
					created[e.ID] = true
				case StopAsked:
					stopping[e.ID] = true
				case RunspacesAsked:
					a := &proto.RunspaceAvailability{Accepted: true}
					switch m := e.Request.(type) {
					case *proto.SetMinRunspaces:
						a.CallID = m.CallID
					case *proto.GetAvailableRunspaces:
						a.CallID, a.IsCount, a.Count = m.CallID, true, 1
					}
					local("answer", s.RunspacesAnswer(a))
				case CloseAsked:
					local("FinishClose", s.FinishClose())
				}
			}
		}
		deliver(50)
		some := func() clixml.GUID { return id(rapid.ByteRange(0, max(last, 1)).Draw(t, "which")) }
		t.Repeat(map[string]func(*rapid.T){
			"create": func(t *rapid.T) {
				last++
				p := script("x")
				p.Input = rapid.Bool().Draw(t, "input")
				local("Create", c.Create(id(last), p))
			},
			"input":    func(*rapid.T) { local("Input", c.Input(some(), clixml.String(strings.Repeat("i", 100)))) },
			"endinput": func(*rapid.T) { local("EndInput", c.EndInput(some())) },
			"stop":     func(*rapid.T) { local("Stop", c.Stop(some())) },
			"close":    func(*rapid.T) { local("ClosePipeline", c.ClosePipeline(some())) },
			"request":  func(*rapid.T) { _, err := c.SetMin(1); local("SetMin", err) },
			"avail":    func(*rapid.T) { _, err := c.Available(); local("Available", err) },
			"record": func(*rapid.T) {
				g := some()
				err := s.Record(g, proto.Record{Output: clixml.String(strings.Repeat("o", 90))})
				local("Record", err)
				if err == nil {
					sent[g]++
				}
			},
			"hostcall": func(*rapid.T) { _, err := s.HostCall(some(), proto.HostReadLine); local("HostCall", err) },
			"voidcall": func(*rapid.T) {
				_, err := s.HostCall(some(), proto.HostWriteLine2, clixml.String("x"))
				local("HostCall", err)
			},
			"answer": func(*rapid.T) {
				if len(calls) > 0 {
					call := calls[0]
					calls = calls[1:]
					local("Answer", c.Answer(call.ID, call.Call.Answer(clixml.String("a"))))
				}
			},
			"hold":    func(t *rapid.T) { s.Hold(some(), rapid.Bool().Draw(t, "hold")) },
			"finish":  func(*rapid.T) { local("Finish", s.Finish(some(), proto.PipelineCompleted, nil)) },
			"deliver": func(t *rapid.T) { deliver(rapid.IntRange(1, 30).Draw(t, "steps")) },
			"":        func(*rapid.T) {},
		})
		for i := range last + 1 {
			s.Hold(id(i), false)
		}
		deliver(10_000)
		for g := range created {
			if ended[g] == 0 {
				local("Finish", s.Finish(g, proto.PipelineCompleted, nil))
			}
		}
		deliver(10_000)
		local("Close", c.Close())
		deliver(10_000)
		deliver(10_000)
		if poolEnds != 1 {
			t.Fatalf("the pool ended %d times", poolEnds)
		}
		for i := byte(1); i <= last; i++ {
			if ended[id(i)] > 1 {
				t.Fatalf("pipeline %d ended %d times", i, ended[id(i)])
			}
		}
		if len(c.pipelines) != 0 || len(s.pipelines) != 0 || len(c.calls) != 0 {
			t.Fatalf("%d and %d pipelines and %d calls are left", len(c.pipelines), len(s.pipelines), len(c.calls))
		}
	})
}
