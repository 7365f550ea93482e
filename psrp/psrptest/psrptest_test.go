package psrptest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"example.com/quire/psrp"
	"example.com/quire/psrp/psrptest"
)

type diskArgs struct {
	Number int `psrp:"Number,mandatory,position=0"`
}

type disk struct {
	_    struct{} `clixml:",type=Sample.Disk"`
	Name string
	Size uint64
}

func disks() *psrp.Registry {
	r := &psrp.Registry{}
	psrp.Add(r, psrp.CommandInfo{Name: "Get-Disk"}, func(_ context.Context, a diskArgs, c *psrp.Call) error {
		return c.Output(disk{Name: fmt.Sprint("disk", a.Number), Size: 1 << 40})
	})
	return r
}

func TestSessionInMemory(t *testing.T) {
	s := psrptest.Open(t, &psrp.Server{Registry: disks()}, psrp.Options{})
	for d, err := range psrp.Invoke[disk](t.Context(), s, psrp.Cmd("Get-Disk").Arg(3)) {
		if err != nil || d.Name != "disk3" || d.Size != 1<<40 {
			t.Errorf("%+v, %v", d, err)
		}
	}
}

// The packets of these sessions: the client sends Data of the opening, Command and Data; the server
// three Data, DataAck, CommandAck, DataAck and the pipeline's Data.
func TestFaults(t *testing.T) {
	remote := func(err error) bool { _, ok := errors.AsType[*psrp.RemoteProtocolError](err); return ok }
	lost := func(err error) bool { _, ok := errors.AsType[*psrp.TransportError](err); return ok }
	timeout := func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }
	for name, tt := range map[string]struct {
		fault psrptest.Fault
		wrong func(error) bool // nil: nothing is
	}{
		"a delayed packet is late":         {psrptest.Fault{Packet: 5, Do: psrptest.Delay, Wait: 3 * time.Second}, nil},
		"a split packet is put together":   {psrptest.Fault{Do: psrptest.Split}, nil},
		"a duplicated record is a fault":   {psrptest.Fault{Packet: 7, Do: psrptest.Duplicate}, nil},
		"a dropped answer is waited for":   {psrptest.Fault{Packet: 7, Do: psrptest.Drop}, nil},
		"a dropped Command is waited for":  {psrptest.Fault{From: psrptest.FromClient, Packet: 2, Do: psrptest.Drop}, timeout},
		"a corrupt packet is a fault":      {psrptest.Fault{Packet: 5, Do: psrptest.Corrupt}, remote},
		"the server's end is a loss":       {psrptest.Fault{Packet: 5, Do: psrptest.Close}, lost},
		"the client's half packet is lost": {psrptest.Fault{From: psrptest.FromClient, Packet: 3, Do: psrptest.Close}, lost},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				s := psrptest.Open(t, &psrp.Server{Registry: disks()}, psrp.Options{Limits: psrp.Limits{Stopping: time.Second, Closing: time.Second}}, tt.fault)
				ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
				defer stop()
				res, err := s.Run(ctx, psrp.Cmd("Get-Disk").Arg(1))
				if tt.wrong != nil {
					if !tt.wrong(err) {
						t.Errorf("error %v (%T)", err, err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				want := 1
				switch tt.fault.Do {
				case psrptest.Drop:
					want = 0
				case psrptest.Duplicate:
					want = 2
				case psrptest.Delay:
					if took := time.Since(begin); took != 3*time.Second {
						t.Errorf("it took %v", took)
					}
				}
				if len(res.Output) != want {
					t.Errorf("%d objects, want %d", len(res.Output), want)
				}
			})
		})
	}
}

func TestDialerForAFanOut(t *testing.T) {
	var targets []psrp.Target
	for _, name := range []string{"a", "b", "c"} {
		d := psrptest.Dialer(t, &psrp.Server{Registry: disks()}, psrp.Identity{User: name})
		if name == "b" {
			d = psrptest.Dialer(t, &psrp.Server{Registry: disks()}, psrp.Identity{}, psrptest.Fault{Packet: 1, Do: psrptest.Close})
		}
		targets = append(targets, psrp.Target{Name: name, Dial: d})
	}
	for _, r := range psrp.FanOut(t.Context(), targets, psrp.FanOutOptions{DialRetries: -1}, func(ctx context.Context, s *psrp.Session) (string, error) {
		res, err := s.Run(ctx, psrp.Cmd("Get-Disk").Arg(7))
		if err != nil {
			return "", err
		}
		v, _ := res.Output[0].Get("Name")
		return v.String(), nil
	}) {
		if down := r.Target == "b"; down != (r.Err != nil) || !down && r.Value != "disk7" {
			t.Errorf("%s: %q, %v", r.Target, r.Value, r.Err)
		}
	}
}

func ExamplePipe() {
	client, server := psrptest.Pipe()
	srv := &psrp.Server{Registry: disks()}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(context.Background(), server, psrp.Identity{User: "tester"}) }()
	ctx := context.Background()
	s, err := psrp.Open(ctx, client, psrp.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for d, err := range psrp.Invoke[disk](ctx, s, psrp.Cmd("Get-Disk").Param("Number", 1)) {
		fmt.Println(d.Name, d.Size, err)
	}
	fmt.Println(s.Close(ctx), <-served)
	// Output:
	// disk1 1099511627776 <nil>
	// <nil> <nil>
}
