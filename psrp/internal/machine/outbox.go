package machine

import (
	"slices"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

// outbox is what a client has to send. It keeps the send window of the out-of-process framing: of
// each target at most one Data is unacknowledged, and a pipeline's first waits for CommandAck.
// Control packets are not under the window; targets take turns, answers to host calls first.
type outbox struct {
	controls queue[proto.Packet]
	targets  []*outTarget // in turn: the first is the next
	buffer   []byte
}

type outTarget struct {
	id      clixml.GUID
	open    bool // CommandAck has come
	unacked bool
	queues  [2]queue[outgoing] // by stream
	size    int
}

func (o *outbox) find(id clixml.GUID) *outTarget {
	for _, t := range o.targets {
		if t.id == id {
			return t
		}
	}
	return nil
}

func (o *outbox) add(id clixml.GUID, open bool) {
	o.targets = append(o.targets, &outTarget{id: id, open: open})
}

func (o *outbox) remove(id clixml.GUID) {
	o.targets = slices.DeleteFunc(o.targets, func(t *outTarget) bool { return t.id == id })
}

func (o *outbox) control(k proto.PacketKind, id clixml.GUID) {
	o.controls.push(proto.Packet{Kind: k, Target: id})
}

func (o *outbox) data(id clixml.GUID, s proto.Stream, m outgoing) {
	if t := o.find(id); t != nil {
		t.queues[s].push(m)
		t.size += len(m.message)
	}
}

// dropData forgets what a target has not sent.
func (o *outbox) dropData(id clixml.GUID) {
	if t := o.find(id); t != nil {
		t.queues, t.size = [2]queue[outgoing]{}, 0
	}
}

// clear forgets everything.
func (o *outbox) clear() { o.controls, o.targets = queue[proto.Packet]{}, nil }

func (o *outbox) ready(id clixml.GUID) {
	if t := o.find(id); t != nil {
		t.open = true
	}
}

// acked opens a target's window; false when nothing was unacknowledged.
func (o *outbox) acked(id clixml.GUID) bool {
	t := o.find(id)
	if t == nil || !t.unacked {
		return false
	}
	t.unacked = false
	return true
}

func (o *outbox) queued(id clixml.GUID) int {
	if t := o.find(id); t != nil {
		return t.size
	}
	return 0
}

// waiting reports whether anything is unacknowledged or unsent.
func (o *outbox) waiting() bool {
	if o.controls.len() > 0 {
		return true
	}
	return slices.ContainsFunc(o.targets, func(t *outTarget) bool { return t.unacked || !t.open || t.size > 0 })
}

// pending reports whether anything can be sent now.
func (o *outbox) pending() bool {
	return o.controls.len() > 0 || slices.ContainsFunc(o.targets, func(t *outTarget) bool { return t.open && !t.unacked && t.size > 0 })
}

// next returns the next packet, and how many messages end in it.
func (o *outbox) next(limit int) (p proto.Packet, done int, ok bool) {
	if p, ok = o.controls.pop(); ok {
		return p, 0, true
	}
	for i, t := range o.targets {
		if t.unacked || !t.open {
			continue
		}
		s := proto.StreamPromptResponse
		if t.queues[s].len() == 0 {
			s = proto.StreamDefault
		}
		q := &t.queues[s]
		if q.len() == 0 {
			continue
		}
		o.buffer, done = appendFragments(o.buffer[:0], q.rest(), limit)
		for _, m := range q.rest()[:done] {
			t.size -= len(m.message)
		}
		q.drop(done)
		t.unacked = true
		// Whoever has sent waits until the others have had their turn.
		copy(o.targets[i:], o.targets[i+1:])
		o.targets[len(o.targets)-1] = t
		return proto.Packet{Kind: proto.PacketData, Stream: s, Target: t.id, Data: o.buffer}, done, true
	}
	return proto.Packet{}, 0, false
}

// ring remembers the last identifiers.
type ring struct {
	ids  [128]clixml.GUID
	next int
}

func (r *ring) add(id clixml.GUID) {
	r.ids[r.next] = id
	r.next = (r.next + 1) % len(r.ids)
}

func (r *ring) has(id clixml.GUID) bool { return !id.IsZero() && slices.Contains(r.ids[:], id) }
