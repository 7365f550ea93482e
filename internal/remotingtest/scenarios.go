package remotingtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/quire/psrp"
	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/host"
	"example.com/quire/psrp/proto"
)

// Host answers what ClientScenarios makes the server ask.
func Host() host.Set {
	return host.NewScripted(host.Answer{Method: proto.HostReadLine, Value: "typed"}).Set()
}

// ClientScenarios is what a client must be able to do with a psrpcore server, over any transport.
// The session was opened with Host and at least three runspaces.
func ClientScenarios(t *testing.T, s *psrp.Session) {
	t.Helper()
	ClientScenariosUpTo(t, s, 12<<20)
}

// ClientScenariosUpTo is ClientScenarios with objects of at most largest bytes.
func ClientScenariosUpTo(t *testing.T, s *psrp.Session, largest int) {
	t.Helper()
	run := func(t *testing.T, p psrp.Pipeline, input ...any) *psrp.Result {
		t.Helper()
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		res, err := s.Run(ctx, p, input...)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	if v := s.Server().Protocol; v != clixml.NewVersion(2, 3) {
		t.Errorf("protocol %v", v)
	}
	t.Run("types arrive as they were", func(t *testing.T) {
		var got []string
		for _, v := range run(t, psrp.Cmd("types")).Output {
			got = append(got, v.Base().Kind().String()+" "+v.String())
		}
		want := []string{
			"String text\n_x0041_ \U0001F600 <&>", "Char é", "Bool true", "Uint8 255", "Int8 -128", "Int16 -32768", "Uint16 65535", "Int32 -2147483648", "Uint32 4294967295",
			"Int64 -9223372036854775808", "Uint64 18446744073709551615", "Float64 1.7976931348623157E+308", "Decimal 1.50", "Bytes [3 bytes]",
			"GUID ab000000-0000-0000-0000-000000000001", "Version 1.2.3.4", "URI http://a/?b&c", "XML <a />", "ScriptBlock $_", "DateTime 2026-11-21T15:09:28Z", "TimeSpan PT1M35S",
			"Nil null", "List [1, a, null]", "Dict {k=1}",
		}
		if !slices.Equal(got, want) {
			t.Errorf("got\n%q, want\n%q", got, want)
		}
	})
	t.Run("arguments come back as they went", func(t *testing.T) {
		args := []any{
			"text\n_x0041_ \U0001F600", clixml.Char('x'), true, uint8(1), int8(-1), int16(-2), uint16(3), math.MinInt32, uint32(4), int64(math.MinInt64), uint64(math.MaxUint64), 2.5,
			clixml.GUID{1},
			clixml.NewVersion(1, 2),
			[]byte{1, 2},
			time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), 95 * time.Second,
			[]string{"a", "b"},
			map[string]int{"k": 1},
			nil, clixml.NewSecureString("secret"),
		}
		p := psrp.Cmd("args")
		var sent []clixml.Value
		for _, a := range args {
			p = p.Arg(a)
			v, err := clixml.Marshal(a)
			if err != nil {
				t.Fatal(err)
			}
			sent = append(sent, v)
		}
		got := run(t, p).Output
		if len(got) != len(sent) {
			t.Fatalf("%d of %d came back", len(got), len(sent))
		}
		for i := range got {
			if secret, ok := sent[i].SecureString(); ok {
				back, _ := got[i].SecureString()
				want, _ := secret.Reveal()
				if text, ok := back.Reveal(); !ok || text != want {
					t.Errorf("the secret came back as %q", text)
				}
				continue
			}
			if got[i].Base().Kind() != sent[i].Base().Kind() || got[i].String() != sent[i].String() {
				t.Errorf("%v %v came back as %v %v", sent[i].Kind(), sent[i], got[i].Kind(), got[i])
			}
		}
	})
	t.Run("seven streams in order", func(t *testing.T) {
		var kinds []string
		for _, r := range run(t, psrp.Cmd("streams")).Records {
			kinds = append(kinds, r.Kind.String())
		}
		if !slices.Equal(kinds, []string{"output", "error", "warning", "verbose", "debug", "progress", "information", "output"}) {
			t.Errorf("records %v", kinds)
		}
	})
	t.Run("a pipeline fails with its record", func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		_, err := s.Run(ctx, psrp.Cmd("fail"))
		failed, ok := errors.AsType[*psrp.PipelineError](err)
		if !ok || failed.State != proto.PipelineFailed || failed.Record == nil || failed.Record.FullyQualifiedErrorID != "Failure" {
			t.Errorf("the end is %v", err)
		}
	})
	t.Run("a prompt is answered", func(t *testing.T) {
		if got := run(t, psrp.Cmd("ask")).Output; len(got) != 1 || got[0].String() != "typed" {
			t.Errorf("answer %v", got)
		}
	})
	t.Run("input is echoed", func(t *testing.T) {
		in := make([]any, 1000)
		for i := range in {
			in[i] = i
		}
		got := run(t, psrp.Cmd("echo"), in...).Output
		for i, v := range got {
			if n, _ := v.Int(); int(n) != i {
				t.Fatalf("%v at %d", v, i)
			}
		}
		if len(got) != len(in) {
			t.Errorf("%d of %d came back", len(got), len(in))
		}
	})
	t.Run("large objects", func(t *testing.T) {
		for _, n := range []int{100 << 10, largest} {
			got := run(t, psrp.Cmd("big").Arg(n)).Output
			if text, _ := got[0].Text(); len(text) != n {
				t.Errorf("%d bytes of %d", len(text), n)
			}
		}
	})
	t.Run("files are copied", func(t *testing.T) { copiesFiles(t, s) })
	t.Run("stop", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := s.Start(ctx, psrp.Cmd("sleep"))
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(100*time.Millisecond, cancel)
		for _, err := range r.Records() {
			if e, ok := errors.AsType[*psrp.PipelineError](err); !ok || e.State != proto.PipelineStopped {
				t.Errorf("error %v", err)
			}
		}
	})
	t.Run("pipelines at once", func(t *testing.T) {
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if res, err := s.Run(t.Context(), psrp.Cmd("echo"), 1, 2, 3); err != nil || len(res.Output) != 3 {
					t.Errorf("%v, %v", res, err)
				}
			})
		}
		wg.Wait()
	})
	t.Run("command metadata", func(t *testing.T) {
		got, err := s.Commands(t.Context(), psrp.CommandQuery{Names: []string{"Get-Thing"}})
		if err != nil || len(got) != 1 || got[0].Name != "Get-Thing" || got[0].Module != "M" || got[0].Type != proto.CommandCmdlet {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("runspace calls", func(t *testing.T) {
		if err := errors.Join(s.SetRunspaces(t.Context(), 1, 4), s.Reset(t.Context()), s.Ping(t.Context())); err != nil {
			t.Error(err)
		}
	})
}

// copiesFiles copies a file there and back. The server is on the same machine and does in Python
// what the scripts ask for.
func copiesFiles(t *testing.T, s *psrp.Session) {
	t.Helper()
	dir := t.TempDir()
	path, data := filepath.Join(dir, "a"), make([]byte, 300_000)
	_, _ = rand.NewChaCha8([32]byte{}).Read(data) // never fails
	sum := sha256.Sum256(data)
	up, err := s.Upload(t.Context(), path, bytes.NewReader(data), psrp.CopyOptions{})
	if err != nil || up.SHA256 != sum || up.Path != path {
		t.Errorf("upload: %+v, %v", up, err)
	}
	var back bytes.Buffer
	down, err := s.Download(t.Context(), &back, path, psrp.CopyOptions{})
	if err != nil || down != up || !bytes.Equal(back.Bytes(), data) {
		t.Errorf("download: %+v, %v", down, err)
	}
	if _, err := s.Upload(t.Context(), path, strings.NewReader("other"), psrp.CopyOptions{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second upload: %v", err)
	}
	if _, err := s.Upload(t.Context(), path, strings.NewReader("other"), psrp.CopyOptions{Overwrite: true}); err != nil {
		t.Errorf("a second upload that may: %v", err)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Errorf("the host has %v, %v", names, err)
	}
}
