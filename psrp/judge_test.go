package psrp_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"example.com/quire/internal/remotingtest"
	"example.com/quire/psrp"
	"example.com/quire/psrp/oop"
)

// openJudge opens a session to a psrpcore server in a child process.
func openJudge(t *testing.T, fault string, o psrp.Options) (*psrp.Session, error) {
	t.Helper()
	python, script := remotingtest.Python(t), remotingtest.ServerScript(t)
	conn, err := oop.StartProcess(t.Context(), "env", "FAULT="+fault, python, script)
	if err != nil {
		t.Fatal(err)
	}
	return psrp.Open(t.Context(), conn, o)
}

func closeJudge(t *testing.T, s *psrp.Session) {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	if err := s.Close(ctx); err != nil {
		t.Errorf("Close: %v", err)
	}
	goleak.VerifyNone(t, goleak.IgnoreTopFunction("testing.(*T).Run"), goleak.IgnoreAnyFunction("testing.tRunner"))
}

func TestPSRPCoreServer(t *testing.T) {
	s, err := openJudge(t, "", psrp.Options{Host: remotingtest.Host(), MaxRunspaces: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer closeJudge(t, s)
	remotingtest.ClientScenarios(t, s)
}

func TestPSRPCoreServerThatIsFaulty(t *testing.T) {
	remote := func(err error) bool { _, ok := errors.AsType[*psrp.RemoteProtocolError](err); return ok }
	lost := func(err error) bool { _, ok := errors.AsType[*psrp.TransportError](err); return ok }
	for fault, wrong := range map[string]func(error) bool{
		"cut": nil, "dup-ack": nil, "banner": nil, "oversize": remote, "object0": remote, "badtag": remote, "badline": remote, "die": lost,
	} {
		t.Run(fault, func(t *testing.T) {
			s, err := openJudge(t, fault, psrp.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer closeJudge(t, s)
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			res, err := s.Run(ctx, psrp.Cmd("big").Arg(50_000))
			if wrong == nil {
				if err != nil || len(res.Output) != 1 {
					t.Errorf("%v, %v", res, err)
				}
				return
			}
			if !wrong(err) {
				t.Errorf("error %v (%T)", err, err)
			}
			if e, ok := errors.AsType[*psrp.TransportError](err); ok && (e.ExitCode != 3 || !strings.Contains(e.Stderr, "the judge dies")) {
				t.Errorf("exit code %d, standard error %q", e.ExitCode, e.Stderr)
			}
		})
	}
	t.Run("silent", func(t *testing.T) {
		_, err := openJudge(t, "silent", psrp.Options{Limits: psrp.Limits{Opening: 300 * time.Millisecond}})
		if e, ok := errors.AsType[*psrp.TransportError](err); !ok || !e.Timeout() {
			t.Errorf("error %v", err)
		}
	})
}
