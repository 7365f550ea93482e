package psrp

import (
	"context"
	"fmt"
	"net"

	"example.com/quire/bench/harness"
	"example.com/quire/psrp"
	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/oop"
	"example.com/quire/psrp/proto"
)

// paths are the rows of the whole way.
func paths() []harness.Row {
	one, twenty := shape{properties: 1, nesting: 1, length: 8}, shape{properties: 20, nesting: 1, length: 8}
	session := row("pipeline", "a pipeline over net.Pipe", "Run of a command that writes one object of 1 property, with all acknowledgements", "round-trip", 40, -1, pipeline, wholeWay(one))
	session.Contestants[1].Own, session.Procs = true, 2
	session.Contestants[0].Note = "8 packets, each from one goroutine to another; to write and read CREATE_PIPELINE alone, " +
		"85 elements beside the 6 of a round trip, takes more than half of what the goal allows"
	return []harness.Row{
		row("round-trip-1", "an object of 1 property to a line and back", "object, message, fragment, packet, and all the way back", "json", 1.2, 12, wholeWay(one), jsonThereAndBack(one)),
		row("round-trip-20", "an object of 20 properties to a line and back", "object, message, fragment, packet, and all the way back", "json", 1.2, 16, wholeWay(twenty), jsonThereAndBack(twenty)),
		session,
	}
}

// way is what an object passes on its way.
type way struct {
	e                          clixml.Encoder
	d                          clixml.Decoder
	a                          proto.Assembler
	body, message, frags, line []byte
}

// send makes the line of an object.
func (w *way) send(v clixml.Value, k int) (err error) {
	if w.body, err = w.e.AppendValue(w.body[:0], v); err != nil {
		return err
	}
	w.message = proto.AppendMessage(w.message[:0], header(k), w.body)
	w.frags = proto.AppendFragments(w.frags[:0], uint64(k)+1, w.message, 0) //nolint:gosec // G115: not negative
	w.line = oop.AppendPacket(w.line[:0], proto.Packet{Kind: proto.PacketData, Target: target(k), Data: w.frags})
	return nil
}

// receive reads the payload of the line.
func (w *way) receive(payload []byte) (clixml.Value, error) {
	w.a.Add(payload)
	message, ok, err := w.a.Next()
	if err != nil || !ok {
		return clixml.Nil(), fmt.Errorf("%w: message %t, %w", errWrong, ok, err)
	}
	_, body, err := proto.ParseMessage(message)
	if err != nil {
		return clixml.Nil(), err
	}
	v, err := w.d.Decode(body)
	if err != nil {
		return v, err
	}
	_, ok, err = w.a.Next()
	if ok {
		err = errWrong
	}
	return v, err
}

func wholeWay(s shape) maker {
	return func() (job, error) {
		all, err := per(func(k int) (clixml.Value, error) { v, _ := s.tree(k); return v, nil })
		if err != nil {
			return job{}, err
		}
		var w way
		var got clixml.Value
		return job{
			do: func(i int) error {
				k := i % variants
				if err := w.send(all[k], k); err != nil {
					return err
				}
				p, err := oop.ParsePacket(w.line[:len(w.line)-1])
				if err == nil {
					got, err = w.receive(p.Data)
				}
				return err
			},
			check: gives(&got, all, clixml.Equal),
		}, nil
	}
}

// bulk decodes 10 MB of objects that come in fragments.
func bulk() (job, error) {
	bodies, err := bulkBodies()
	if err != nil {
		return job{}, err
	}
	messages := make([][]byte, len(bodies))
	for k, b := range bodies {
		messages[k] = proto.AppendFragments(nil, uint64(k)+1, proto.AppendMessage(nil, header(k), b), 0)
	}
	var w way
	count := 0
	var last clixml.Value
	return job{
		slow: true,
		do: func(int) error {
			count = 0
			for _, m := range messages {
				var err error
				if last, err = w.receive(m); err != nil {
					return err
				}
				count++
			}
			return nil
		},
		check: func(int) error {
			want, _ := shape{properties: 10, nesting: 1, length: 8}.tree(len(bodies) - 1)
			if count != len(bodies) || !clixml.Equal(last, want) {
				return errWrong
			}
			return nil
		},
	}, nil
}

type echoArgs struct {
	Text string `psrp:"Text,position=0"`
}

// pipeline runs a command of a server in memory.
func pipeline() (job, error) {
	type thing struct{ Property0 string }
	r := &psrp.Registry{}
	psrp.Add(r, psrp.CommandInfo{Name: "Get-Thing"}, func(_ context.Context, a echoArgs, c *psrp.Call) error { return c.Output(thing{a.Text}) })
	ctx, cancel := context.WithCancel(context.Background())
	near, far := net.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- (&psrp.Server{Registry: r}).Serve(ctx, oop.NewConn(far, oop.Server, oop.Options{Confidential: true}), psrp.Identity{})
	}()
	s, err := psrp.Open(ctx, oop.NewConn(near, oop.Client, oop.Options{Confidential: true}), psrp.Options{})
	if err != nil {
		cancel()
		return job{}, err
	}
	var res *psrp.Result
	text := shape{length: 8}.text
	return job{
		do: func(i int) error {
			var err error
			res, err = s.Run(ctx, psrp.Cmd("Get-Thing").Arg(text(i%variants)))
			return err
		},
		check: func(i int) error {
			if len(res.Output) != 1 {
				return errWrong
			}
			v, _ := res.Output[0].Get("Property0")
			got, _ := v.Text()
			return same(got, text(i%variants))
		},
		end: func() error {
			defer cancel()
			err := s.Close(ctx)
			if serveErr := <-served; err == nil {
				err = serveErr
			}
			return err
		},
	}, nil
}
