package psrp

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
)

func TestLimitsAndLossesAreLoggedOnce(t *testing.T) {
	var log strings.Builder
	var mu sync.Mutex
	logger := slog.New(slog.NewTextHandler(lockedWriter{&mu, &log}, nil))
	conn, p := startPeer(t, behaviours(), true)
	s, err := Open(t.Context(), conn, Options{Logger: logger, Limits: Limits{Result: 10_000}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), Cmd("many").Arg(1000)); !errors.Is(err, ErrResultTooLarge) {
		t.Errorf("error %v", err)
	}
	_ = p.conn.Close()
	<-s.Done()
	_ = s.Close(context.Background())
	mu.Lock()
	defer mu.Unlock()
	for _, want := range []string{`msg="psrp: pipeline stopped at a limit" error="` + ErrResultTooLarge.Error(), `msg="psrp: session lost" error="psrp: `} {
		if strings.Count(log.String(), want) != 1 {
			t.Errorf("%s is not once in the log:\n%s", want, log.String())
		}
	}
}
