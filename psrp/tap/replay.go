package tap

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/oop"
	"example.com/quire/psrp/proto"
)

// Replay plays one end of a transcript: side is who is played. Reads give that side's lines, each
// when as many messages and control packets have been written as came before it in the recording;
// the end of the recording is io.EOF.
//
// A client has identifiers of its own: they take the place of the recorded ones in what a played
// server sends, the pool's first and pipelines in the order in which they are created. A played
// server acknowledges each Data that it gets, as the cut into packets may be another one.
func Replay(r io.Reader, side Side) (io.ReadWriteCloser, error) {
	p := &player{side: side, ids: map[clixml.GUID]clixml.GUID{}}
	p.changed = sync.NewCond(&p.mu)
	plays, hears := side.directions()
	scan := bufio.NewReader(r)
	for n := 1; ; n++ {
		text, err := scan.ReadBytes('\n')
		whole := err == nil
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("tap: transcript line %d: %w", n, err)
		}
		if len(bytes.TrimSpace(text)) > 0 {
			// A last line without its end is one that a crash has cut short.
			if err := p.load(text, plays, hears); err != nil && whole {
				return nil, fmt.Errorf("tap: transcript line %d: %w", n, err)
			}
		}
		if !whole {
			return p, nil
		}
	}
}

// player is the played end.
type player struct {
	side Side

	mu      sync.Mutex
	changed *sync.Cond
	lines   []playedLine
	created []clixml.GUID // pipelines of the recording that are not matched yet
	pool    clixml.GUID   // of the recording
	ids     map[clixml.GUID]clixml.GUID
	heard   int // messages and control packets
	due     int // the same while loading
	acks    []byte
	pending []byte // being read
	partial []byte // of a line being written
	closed  bool
}

type playedLine struct {
	text  []byte
	after int // how much must have been heard
}

func (p *player) load(text []byte, plays, hears string) error {
	var rec struct {
		Dir  string          `json:"dir"`
		Line json.RawMessage `json:"line"`
	}
	if err := json.Unmarshal(text, &rec); err != nil {
		return err
	}
	if rec.Dir != plays && rec.Dir != hears {
		return nil
	}
	var line string
	if err := json.Unmarshal(rec.Line, &line); err != nil {
		return err
	}
	packet, err := oop.ParsePacket([]byte(line))
	isPacket := err == nil
	if rec.Dir == hears {
		if isPacket {
			p.due += units(packet)
			if packet.Kind == proto.PacketCommand {
				p.created = append(p.created, packet.Target)
			}
			if p.pool.IsZero() {
				p.pool = poolOf(packet.Data)
			}
		}
		return nil
	}
	// A played server acknowledges what it really gets.
	if isPacket && packet.Kind == proto.PacketDataAck {
		return nil
	}
	p.lines = append(p.lines, playedLine{[]byte(line), p.due})
	return nil
}

// units counts the messages that a packet ends, or the control packet that it is.
func units(p proto.Packet) (n int) {
	if p.Kind != proto.PacketData {
		return 1
	}
	for b := p.Data; len(b) > 0; {
		f, rest, err := proto.ParseFragment(b)
		if err != nil {
			return n
		}
		if f.End {
			n++
		}
		b = rest
	}
	return n
}

func poolOf(payload []byte) clixml.GUID {
	f, _, err := proto.ParseFragment(payload)
	if err != nil {
		return clixml.GUID{}
	}
	h, _, err := proto.ParseMessage(f.Blob)
	if err != nil {
		return clixml.GUID{}
	}
	return h.Pool
}

func (p *player) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.pending) == 0 {
		switch {
		case p.closed:
			return 0, os.ErrClosed
		case len(p.acks) > 0:
			p.pending, p.acks = p.acks, nil
		case len(p.lines) == 0:
			return 0, io.EOF
		case p.lines[0].after <= p.heard:
			p.pending = append(p.mapped(p.lines[0].text), '\n')
			p.lines = p.lines[1:]
		default:
			p.changed.Wait()
		}
	}
	n := copy(b, p.pending)
	p.pending = p.pending[n:]
	return n, nil
}

// mapped puts the identifiers of the living client in the place of the recorded ones.
func (p *player) mapped(line []byte) []byte {
	packet, err := oop.ParsePacket(line)
	if err != nil || p.side == Client {
		return append([]byte(nil), line...)
	}
	if id, ok := p.ids[packet.Target]; ok {
		packet.Target = id
	}
	// A server sends one fragment a packet; the first of each message has its header.
	if f, rest, err := proto.ParseFragment(packet.Data); err == nil && len(rest) == 0 && f.Start && len(f.Blob) >= proto.MessageHeaderSize {
		if h, body, err := proto.ParseMessage(f.Blob); err == nil {
			h.Pool, h.Pipeline = p.living(h.Pool), p.living(h.Pipeline)
			f.Blob = proto.AppendMessage(nil, h, body)
			packet.Data = proto.AppendFragment(nil, f)
		}
	}
	return bytes.TrimSuffix(oop.AppendPacket(nil, packet), []byte("\n"))
}

func (p *player) living(id clixml.GUID) clixml.GUID {
	if living, ok := p.ids[id]; ok {
		return living
	}
	return id
}

func (p *player) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return 0, os.ErrClosed
	}
	n := len(b)
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			p.partial = append(p.partial, b...)
			break
		}
		p.hear(append(p.partial, b[:i]...))
		p.partial, b = p.partial[:0], b[i+1:]
	}
	p.changed.Broadcast()
	return n, nil
}

func (p *player) hear(line []byte) {
	packet, err := oop.ParsePacket(line)
	if err != nil {
		return
	}
	p.heard += units(packet)
	if p.side != Server {
		return
	}
	switch packet.Kind {
	case proto.PacketCommand:
		if len(p.created) > 0 {
			p.ids[p.created[0]] = packet.Target
			p.created = p.created[1:]
		}
	case proto.PacketData:
		if _, known := p.ids[p.pool]; !known && !p.pool.IsZero() {
			if pool := poolOf(packet.Data); !pool.IsZero() {
				p.ids[p.pool] = pool
			}
		}
		p.acks = oop.AppendPacket(p.acks, proto.Packet{Kind: proto.PacketDataAck, Target: packet.Target})
	}
}

func (p *player) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.changed.Broadcast()
	return nil
}
