package demo

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"time"

	"example.com/quire/psrp"
	"example.com/quire/psrp/proto"
)

// PowerShell returns the sample commands that `quire ps serve` exposes to PowerShell: one that
// writes an object, one that takes input and one that takes its time.
func PowerShell() *psrp.Registry {
	r := &psrp.Registry{}
	psrp.Add(r, psrp.CommandInfo{
		Name: "Get-QuireHost", Aliases: []string{"gqh"}, Summary: "Describes the computer of the server.", OutputTypes: []string{"Quire.Host"},
	}, getHost)
	psrp.Add(r, psrp.CommandInfo{
		Name: "Measure-Number", Summary: "Counts and sums the numbers that are piped in.", OutputTypes: []string{"Quire.Measure"},
	}, measure)
	psrp.Add(r, psrp.CommandInfo{
		Name: "Wait-Countdown", Summary: "Counts down with a progress bar; Ctrl+C stops it.", OutputTypes: []string{"System.Int32"},
	}, countDown)
	return r
}

type hostInfo struct {
	_            struct{} `clixml:",type=Quire.Host"`
	Name         string
	System       string
	Architecture string
	Processors   int
	Time         time.Time
}

func getHost(_ context.Context, _ struct{}, c *psrp.Call) error {
	name, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("ask for the name of the host: %w", err)
	}
	return c.Output(hostInfo{Name: name, System: runtime.GOOS, Architecture: runtime.GOARCH, Processors: runtime.NumCPU(), Time: time.Now().UTC()})
}

type measureArgs struct {
	Property string `psrp:"Property,position=0"` // of objects that are piped in; without it the objects are numbers
}

type measured struct {
	_       struct{} `clixml:",type=Quire.Measure"`
	Count   int
	Sum     float64
	Minimum *float64
	Maximum *float64
}

func measure(_ context.Context, a measureArgs, c *psrp.Call) error {
	m := measured{}
	add := func(n float64) {
		m.Count++
		m.Sum += n
		if m.Minimum == nil || n < *m.Minimum {
			m.Minimum = &n
		}
		if m.Maximum == nil || n > *m.Maximum {
			m.Maximum = &n
		}
	}
	refuse := func(why string) error {
		return c.Error(proto.NewErrorRecord("NotANumber,Measure-Number", proto.InvalidData, "The input object was left out: "+why))
	}
	if a.Property == "" {
		for n, err := range psrp.Input[float64](c) {
			if e, ok := err.(*psrp.ErrorRecord); ok { //nolint:errorlint // only what Input yields for one object
				err = refuse(e.Message)
			} else if err == nil {
				add(n)
			}
			if err != nil {
				return err
			}
		}
		return c.Output(m)
	}
	for o, err := range psrp.Input[map[string]any](c) {
		if e, ok := err.(*psrp.ErrorRecord); ok { //nolint:errorlint // only what Input yields for one object
			err = refuse(e.Message)
		} else if err == nil {
			if n, ok := number(o[a.Property]); ok {
				add(n)
			} else {
				err = refuse("its property " + a.Property + " is not a number")
			}
		}
		if err != nil {
			return err
		}
	}
	return c.Output(m)
}

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case int32:
		return float64(n), true
	case int64:
		return float64(n), math.Abs(float64(n)) < 1<<53
	case float64:
		return n, true
	}
	return 0, false
}

type countDownArgs struct {
	From  int           `psrp:"From,position=0,default=3,alias=Seconds"`
	Pause time.Duration `psrp:"Pause,default=1s"`
}

func countDown(ctx context.Context, a countDownArgs, c *psrp.Call) error {
	if a.From < 0 || a.From > 3600 {
		return proto.NewErrorRecord("OutOfRange,Wait-Countdown", proto.InvalidArgument, "-From is 0 to 3600.")
	}
	tick := time.NewTicker(max(a.Pause, time.Millisecond))
	defer tick.Stop()
	for n := a.From; n > 0; n-- {
		p := proto.NewProgress(1, "Counting down", fmt.Sprintf("%d of %d", n, a.From))
		p.PercentComplete = int32(100 * (a.From - n) / a.From) //nolint:gosec // G115: at most 100
		if err := c.Progress(p); err != nil {
			return err
		}
		if err := c.Verbose(fmt.Sprintf("%d", n)); err != nil {
			return err
		}
		if err := c.Output(n); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	done := proto.NewProgress(1, "Counting down", "done")
	done.Completed = true
	return c.Progress(done)
}
