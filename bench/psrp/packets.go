package psrp

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"

	"example.com/quire/bench/harness"
	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/oop"
	"example.com/quire/psrp/proto"
)

// block is data of n bytes, another for each k.
func block(n, k int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte((i*7 + k) & 0xff)
	}
	return b
}

func header(k int) proto.MessageHeader {
	return proto.MessageHeader{To: proto.ToClient, Type: proto.MessagePipelineOutput, Pool: clixml.GUID{1}, Pipeline: target(k)}
}

func target(k int) clixml.GUID { return clixml.GUID{2, byte(k & 0xff)} }

func packet(n, k int) proto.Packet {
	return proto.Packet{Kind: proto.PacketData, Target: target(k), Data: block(n, k)}
}

// appending writes into one buffer, whose content the last operation's want tells.
func appending(f func(dst []byte, i int) []byte, want func(i int) []byte) maker {
	return func() (job, error) {
		var out []byte
		return job{
			do: func(i int) error { out = f(out[:0], i%variants); return nil },
			check: func(i int) error {
				if !bytes.Equal(out, want(i%variants)) {
					return errWrong
				}
				return nil
			},
		}, nil
	}
}

// reading reads each variant's bytes and judges what was found.
func reading(data, want func(k int) []byte, f func(b []byte) ([]byte, error)) maker {
	return func() (job, error) {
		all, err := per(func(k int) ([]byte, error) { return data(k), nil })
		if err != nil {
			return job{}, err
		}
		var got []byte
		return job{
			do: func(i int) error {
				var err error
				got, err = f(all[i%variants])
				return err
			},
			check: func(i int) error {
				if !bytes.Equal(got, want(i%variants)) {
					return errWrong
				}
				return nil
			},
		}, nil
	}
}

// encode64 and decode64 are the kernels on n bytes.
func encode64(n int) maker {
	return func() (job, error) {
		all, err := per(func(k int) ([]byte, error) { return block(n, k), nil })
		if err != nil {
			return job{}, err
		}
		return appending(func(dst []byte, i int) []byte { return base64.StdEncoding.AppendEncode(dst, all[i]) },
			func(i int) []byte { return []byte(base64.StdEncoding.EncodeToString(all[i])) })()
	}
}

func decode64(n int) maker {
	buf := make([]byte, 0, n+3)
	return reading(func(k int) []byte { return []byte(base64.StdEncoding.EncodeToString(block(n, k))) }, func(k int) []byte { return block(n, k) },
		func(b []byte) ([]byte, error) { return base64.StdEncoding.AppendDecode(buf[:0], b) })
}

func blocks(n int) [][]byte {
	all := make([][]byte, variants)
	for k := range all {
		all[k] = block(n, k)
	}
	return all
}

// packets are the rows of fragments, messages and packets.
func packets() []harness.Row {
	fragment := func(n int) maker {
		all := blocks(n)
		return appending(func(dst []byte, i int) []byte { return proto.AppendFragments(dst, 7, all[i], 0) },
			func(i int) []byte { return proto.AppendFragments(nil, 7, all[i], 0) })
	}
	unfragment := func(n int) maker {
		return reading(func(k int) []byte { return proto.AppendFragments(nil, 7, block(n, k), n+proto.FragmentHeaderSize) }, func(k int) []byte { return block(n, k) },
			func(b []byte) ([]byte, error) { f, _, err := proto.ParseFragment(b); return f.Blob, err })
	}
	var rows []harness.Row
	for _, n := range []int{1, 32} {
		rows = append(rows, row(fmt.Sprintf("fragment-%dk", n), fmt.Sprintf("cut %d KB into fragments", n), "AppendFragments", "base64", 0.10, 0, fragment(n<<10), encode64(n<<10)))
	}
	const views = 16
	flat := row("defragment-32k", "read 16 fragments of 32 KB", "ParseFragment, which copies nothing", "of-1k", 1.2, 0, times(views, unfragment(32<<10)), times(views, unfragment(1<<10)))
	flat.Contestants[1].Own = true
	k4 := blocks(1 << 10)
	var assembler proto.Assembler // one serves all messages of a stream, one after the other
	return append(
		rows, flat,
		row("defragment-1k", "read 16 fragments of 1 KB", "ParseFragment", "base64", 0.02, 0, times(views, unfragment(1<<10)), times(views, decode64(1<<10))),
		row("assemble-4", "put 4 fragments of 1 KB together", "Add and Next of an Assembler", "base64", 0.25, 1,
			reading(func(k int) []byte {
				return proto.AppendFragments(nil, 7, block(4<<10, k), 1<<10+proto.FragmentHeaderSize)
			}, func(k int) []byte { return block(4<<10, k) },
				func(b []byte) ([]byte, error) {
					assembler.Add(b)
					m, _, err := assembler.Next()
					return m, err
				}), decode64(4<<10)),
		row("message-encode", "a message of 1 KB", "AppendMessage", "base64", 0.10, 0,
			appending(func(dst []byte, i int) []byte { return proto.AppendMessage(dst, header(i), k4[i]) }, func(i int) []byte { return proto.AppendMessage(nil, header(i), block(1<<10, i)) }), encode64(1<<10)),
		row("message-decode", "read 16 messages of 1 KB", "ParseMessage", "base64", 0.02, 0,
			times(views, reading(func(k int) []byte { return proto.AppendMessage(nil, header(k), block(1<<10, k)) }, func(k int) []byte { return block(1<<10, k) },
				func(b []byte) ([]byte, error) { _, body, err := proto.ParseMessage(b); return body, err })), times(views, decode64(1<<10))),
		row("send-4k", "send 4 KB", "Send of a connection to nowhere", "base64", 1.08, 0, sending(4<<10), encode64(4<<10)),
		row("send-256", "send 256 bytes", "Send of a connection to nowhere", "base64", 1.5, 0, sending(256), encode64(256)),
		row("send-command", "send a Command", "AppendPacket", "appendf", 1, 0,
			appending(func(dst []byte, i int) []byte {
				return oop.AppendPacket(dst, proto.Packet{Kind: proto.PacketCommand, Target: target(i)})
			}, commandLine),
			appending(func(dst []byte, i int) []byte { return fmt.Appendf(dst, "<Command PSGuid='%s' />\n", target(i)) }, commandLine)),
		row("receive-8", "receive 8 bytes", "Recv of a connection", "xml-tokens", 0.10, 1, receiving(func(k int) proto.Packet { return packet(8, k) }), lineTokens(func(k int) proto.Packet { return packet(8, k) })),
		row("receive-4k", "receive 4 KB", "Recv of a connection", "base64", 1.1, 1, receiving(func(k int) proto.Packet { return packet(4<<10, k) }), decode64(4<<10)),
		row("receive-command", "receive a Command", "Recv of a connection", "xml-tokens", 0.10, 0, receiving(command), lineTokens(command)),
		row("transport-1k", "1 KB there and back", "Send of one connection, Recv of the other", "base64", 1.5, 2, transport(1<<10), base64ThereAndBack(1<<10)),
	)
}

func command(k int) proto.Packet { return proto.Packet{Kind: proto.PacketCommand, Target: target(k)} }

func commandLine(i int) []byte { return fmt.Appendf(nil, "<Command PSGuid='%s' />\n", target(i)) }

// memory is a stream that keeps what is written last, and reads the same lines for ever.
type memory struct {
	wrote []byte
	lines []byte
	at    int
}

func (m *memory) Write(b []byte) (int, error) {
	m.wrote = append(m.wrote[:0], b...)
	return len(b), nil
}

func (m *memory) Read(b []byte) (int, error) {
	n := copy(b, m.lines[m.at:])
	m.at = (m.at + n) % len(m.lines)
	return n, nil
}

func (m *memory) Close() error { return nil }

func sending(n int) maker {
	return func() (job, error) {
		all, err := per(func(k int) (proto.Packet, error) { return packet(n, k), nil })
		if err != nil {
			return job{}, err
		}
		m := &memory{}
		c := oop.NewConn(m, oop.Client, oop.Options{})
		ctx := context.Background()
		return job{
			do: func(i int) error { return c.Send(ctx, all[i%variants]) },
			check: func(i int) error {
				if !bytes.Equal(m.wrote, oop.AppendPacket(nil, all[i%variants])) {
					return errWrong
				}
				return nil
			},
			end: c.Close,
		}, nil
	}
}

// receiving takes the variants' packets in turn.
func receiving(packet func(k int) proto.Packet) maker {
	return func() (job, error) {
		m := &memory{}
		for k := range variants {
			m.lines = oop.AppendPacket(m.lines, packet(k))
		}
		c := oop.NewConn(m, oop.Server, oop.Options{})
		ctx := context.Background()
		var got proto.Packet
		next := 0
		return job{
			do: func(int) error {
				var err error
				got, err = c.Recv(ctx)
				next++
				return err
			},
			check: func(int) error {
				want := packet((next - 1) % variants)
				if got.Kind != want.Kind || got.Target != want.Target || !bytes.Equal(got.Data, want.Data) {
					return errWrong
				}
				return nil
			},
			end: c.Close,
		}, nil
	}
}

func lineTokens(packet func(k int) proto.Packet) maker {
	return func() (job, error) {
		all, err := per(func(k int) ([]byte, error) { return oop.AppendPacket(nil, packet(k)), nil })
		if err != nil {
			return job{}, err
		}
		n := 0
		return job{
			do: func(i int) error {
				var err error
				n, err = tokens(all[i%variants])
				return err
			},
			check: func(int) error { return same(n, 1) },
		}, nil
	}
}

// transport sends by one connection what the other receives.
func transport(n int) maker {
	return func() (job, error) {
		all, err := per(func(k int) (proto.Packet, error) { return packet(n, k), nil })
		if err != nil {
			return job{}, err
		}
		p := &pipe{}
		out, in := oop.NewConn(p, oop.Client, oop.Options{}), oop.NewConn(p, oop.Server, oop.Options{})
		ctx := context.Background()
		var got proto.Packet
		return job{
			do: func(i int) error {
				err := out.Send(ctx, all[i%variants])
				if err == nil {
					got, err = in.Recv(ctx)
				}
				return err
			},
			check: func(i int) error {
				if !bytes.Equal(got.Data, all[i%variants].Data) {
					return errWrong
				}
				return nil
			},
			end: out.Close,
		}, nil
	}
}

// pipe is a stream whose reader takes what its writer gave, one after the other.
type pipe struct{ bytes.Buffer }

func (p *pipe) Close() error { return nil }

func base64ThereAndBack(n int) maker {
	return func() (job, error) {
		all, err := per(func(k int) ([]byte, error) { return block(n, k), nil })
		if err != nil {
			return job{}, err
		}
		var text, got []byte
		return job{
			do: func(i int) error {
				text = base64.StdEncoding.AppendEncode(text[:0], all[i%variants])
				var err error
				got, err = base64.StdEncoding.AppendDecode(got[:0], text)
				return err
			},
			check: gives(&got, all, bytes.Equal),
		}, nil
	}
}
