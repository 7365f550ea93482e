package psrp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/host"
	"example.com/quire/psrp/proto"
)

// moody is a host that answers, refuses and panics by turns.
type moody struct {
	host.Console
	host.Prompter
	mu   sync.Mutex
	seen []string
}

func (m *moody) saw(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen = append(m.seen, what)
}

func (m *moody) WriteLine(_ context.Context, _ host.LineKind, text string, _ host.Style) error {
	m.saw("line " + text)
	if strings.HasSuffix(text, "4") {
		panic("the console is gone")
	}
	return nil
}

func (m *moody) Prompt(_ context.Context, caption, _ string, _ []proto.FieldDescription) (map[string]clixml.Value, error) {
	m.saw("prompt " + caption)
	switch caption[len(caption)-1] {
	case '2', '5', '8':
		return nil, errors.New("no answer")
	case '3', '6', '9':
		panic("the prompter is gone")
	}
	return map[string]clixml.Value{"n": clixml.String(caption)}, nil
}

// counter counts messages by type.
type counter struct {
	mu sync.Mutex
	n  map[proto.MessageType]int
}

func (c *counter) TraceMessage(_ proto.Direction, h proto.MessageHeader, _ []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n[h.Type]++
}

func TestEachHostCallIsAnsweredOnceAndInItsOrder(t *testing.T) {
	const n = 30
	var want []string
	r := &Registry{}
	var got []string
	add(r, "Read-Many", func(ctx context.Context, c *Call) error {
		h := c.Host()
		for i := range n {
			text := fmt.Sprint(i)
			if err := h.Console.WriteLine(ctx, host.LinePlain, text, host.Style{}); err != nil {
				return err
			}
			answer, err := h.Prompter.Prompt(ctx, text, "m", []proto.FieldDescription{{Name: "n"}})
			if e, ok := errors.AsType[*ErrorRecord](err); ok {
				got = append(got, e.FullyQualifiedErrorID)
			} else {
				got = append(got, answer["n"].String())
			}
		}
		return nil
	})
	m, traced := &moody{}, &counter{n: map[proto.MessageType]int{}}
	s := startServer(t, &Server{Registry: r, Tracer: traced}, Options{Host: host.Set{Console: m, Prompter: m}})
	mustRun(t, s, Cmd("Read-Many"))
	for i := range n {
		want = append(want, fmt.Sprint("line ", i), fmt.Sprint("prompt ", i))
		answer := fmt.Sprint(i)
		if strings.ContainsAny(answer[len(answer)-1:], "235689") {
			answer = "HostCallFailed"
		}
		if got[i] != answer {
			t.Errorf("call %d was answered %q, want %q", i, got[i], answer)
		}
	}
	if !slices.Equal(m.seen, want) {
		t.Errorf("the host saw %q", m.seen)
	}
	traced.mu.Lock()
	defer traced.mu.Unlock()
	if calls, answers := traced.n[proto.MessagePipelineHostCall], traced.n[proto.MessagePipelineHostResponse]; calls != 2*n || answers != n {
		t.Errorf("%d calls and %d answers, want %d and %d", calls, answers, 2*n, n)
	}
}

func TestHostCallsBeyondTheLimitAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &Registry{}
		var refused, answered int
		add(r, "Read-Many", func(ctx context.Context, c *Call) error {
			var group sync.WaitGroup
			var mu sync.Mutex
			for range 70 {
				group.Go(func() {
					_, err := c.Host().Console.ReadLine(ctx)
					mu.Lock()
					defer mu.Unlock()
					if _, ok := errors.AsType[*LocalProtocolError](err); ok {
						refused++
					} else if err == nil {
						answered++
					}
				})
			}
			group.Wait()
			return nil
		})
		ready := make(chan bool)
		s := startServer(t, &Server{Registry: r}, Options{Host: host.Set{Console: &asker{before: func(context.Context) error {
			<-ready
			return nil
		}}}})
		run, err := s.Start(t.Context(), Cmd("Read-Many"))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		close(ready)
		for _, err := range run.Records() {
			if err != nil {
				t.Error(err)
			}
		}
		if refused != 6 || answered != 64 {
			t.Errorf("%d calls were refused and %d answered", refused, answered)
		}
	})
}

func TestEventsOfASessionAreLoggedWithoutItsSecrets(t *testing.T) {
	r := &Registry{}
	add(r, "Read-Secret", func(ctx context.Context, c *Call) error {
		secret, err := c.Host().Console.ReadSecure(ctx)
		if err != nil {
			return err
		}
		return c.Output(secret)
	})
	Add(r, CommandInfo{Name: "Get-Shut"}, func(context.Context, struct{ Secret *clixml.SecureString }, *Call) error { return nil })
	var log strings.Builder
	var mu sync.Mutex
	logger := slog.New(slog.NewTextHandler(lockedWriter{&mu, &log}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	srv := &Server{Registry: r, Logger: logger, Authorize: func(_ context.Context, _ Identity, name string) error {
		if name == "Get-Shut" {
			return errors.New("shut")
		}
		return nil
	}}
	const canary = "canary-7f3a"
	script := host.NewScripted(host.Answer{Method: proto.HostReadLineAsSecureString, Value: clixml.NewSecureString(canary)})
	s := startPlain(t, srv, Options{Host: script.Set(), Logger: logger})
	if v := s.Server().Protocol; v != clixml.NewVersion(2, 3) {
		t.Errorf("protocol %v", v)
	}
	mustRun(t, s, Cmd("Read-Secret"))
	for _, p := range []Pipeline{Cmd("Get-Shut").Param("Secret", clixml.NewSecureString(canary)), Script(canary)} {
		if _, err := s.Run(t.Context(), p); err == nil {
			t.Error("it ran")
		}
	}
	mu.Lock()
	defer mu.Unlock()
	text := log.String()
	for _, want := range []string{
		"psrp: client's session opened", "psrp: session opened", "psrp: host call", "method=ReadLineAsSecureString", "psrp: session key exchanged",
		"psrp: command refused", "command=Get-Shut", "psrp: script refused",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the log:\n%s", want, text)
		}
	}
	if n := strings.Count(text, "psrp: session key exchanged"); n != 2 { // once a side
		t.Errorf("the exchange of the key was logged %d times", n)
	}
	if strings.Contains(text, canary) {
		t.Errorf("the log has the secret:\n%s", text)
	}
}

type lockedWriter struct {
	mu *sync.Mutex
	b  *strings.Builder
}

func (w lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}
