package machine

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

// Limits bound what a peer can make a session hold; a zero field is its default.
type Limits struct {
	Values     clixml.Limits // of one message's body
	Message    int           // received message; default 32 MiB
	Incomplete int           // incomplete messages per target; default 8
	Reassembly int64         // all incomplete messages of the session; default 96 MiB
	Pipelines  int           // open at once; default 128
	HostCalls  int           // unanswered host calls of the session; default 64
	Held       int64         // bytes of messages that wait for the session key; default 32 MiB
	Input      int64         // bytes received for one pipeline, by a server; default 50 MiB
}

func (l Limits) withDefaults() Limits {
	l.Message = cmp.Or(l.Message, 32<<20)
	l.Incomplete = cmp.Or(l.Incomplete, 8)
	l.Reassembly = cmp.Or(l.Reassembly, 96<<20)
	l.Pipelines = cmp.Or(l.Pipelines, 128)
	l.HostCalls = cmp.Or(l.HostCalls, 64)
	l.Held = cmp.Or(l.Held, 32<<20)
	l.Input = cmp.Or(l.Input, 50<<20)
	return l
}

// core is what both roles have: identifiers, codecs, the key, events.
type core struct {
	to      proto.Direction // of what we send
	pools   *table          // of the states of the pool
	state   int
	payload int // of a packet, as the transport takes it
	pool    clixml.GUID
	version clixml.Version // negotiated; before that, what we offer
	limits  Limits
	budget  int64 // left for incomplete messages
	enc     clixml.Encoder
	dec     clixml.Decoder
	key     sessionKey
	tracer  proto.Tracer
	objects uint64 // the last ObjectId given: one count over the pool and all pipelines
	events  queue[Event]
	scratch []byte
	// Host calls that are not answered, and the requests of the pool that are not, by their ci.
	calls    map[hostCallKey]proto.HostMethod
	requests map[int64]proto.MessageType
}

func (c *core) init(to proto.Direction, pools *table, t proto.TransportProperties, l Limits, tracer proto.Tracer) {
	c.to, c.pools, c.limits, c.tracer = to, pools, l.withDefaults(), tracer
	c.calls, c.requests = map[hostCallKey]proto.HostMethod{}, map[int64]proto.MessageType{}
	c.version, c.payload = offer(t), cmp.Or(t.MaxPayload, proto.DefaultPayload)
	c.budget = c.limits.Reassembly
	c.dec.Limits = c.limits.Values
	c.dec.Limits.Bytes = cmp.Or(c.dec.Limits.Bytes, int64(c.limits.Message))
}

// NextEvent returns the next event; ok is false when there is none.
func (c *core) NextEvent() (Event, bool) { return c.events.pop() }

func (c *core) tell(e Event) { c.events.push(e) }

// Version returns the protocol version: what is offered until the pool is open, then what was
// agreed on.
func (c *core) Version() clixml.Version { return c.version }

// offer is the highest version to speak over a transport.
func offer(t proto.TransportProperties) clixml.Version {
	v := clixml.NewVersion(2, 4)
	if !t.Confidential {
		v = clixml.NewVersion(2, 3)
	}
	if limit := t.MaxVersion; limit != (clixml.Version{}) && limit.Compare(v) < 0 {
		v = limit
	}
	return v
}

func (c *core) local(op string, ev int) error {
	if _, a := c.pools.next(c.state, ev); a == forbidden {
		return &proto.LocalProtocolError{Op: op, State: "the session is " + c.pools.states[c.state]}
	}
	return nil
}

// step takes a transition that was allowed.
func (c *core) step(ev int) act {
	to, a := c.pools.next(c.state, ev)
	if a == move {
		c.state = to
	}
	return a
}

func (c *core) stateError(t proto.MessageType, ev int) error {
	return &proto.RemoteProtocolError{Stage: "state", Type: t, Offset: -1, Err: errors.New(c.pools.refusal(c.state, ev))}
}

// dropCalls forgets the host calls of a pipeline.
func (c *core) dropCalls(id clixml.GUID) {
	maps.DeleteFunc(c.calls, func(k hostCallKey, _ proto.HostMethod) bool { return k.id == id })
}

// release forgets what a session that has ended does not need.
func (c *core) release() {
	c.key.zero()
	c.useCipher(nil)
	clear(c.calls)
	clear(c.requests)
}

// encode makes a whole message. clixml.ErrNoCipher means that it needs the session key.
func (c *core) encode(m proto.Message, pipeline clixml.GUID) (outgoing, error) {
	h := proto.MessageHeader{To: c.to, Type: m.Type(), Pool: c.pool, Pipeline: pipeline}
	if c.to == proto.ToClient && (h.Type == proto.MessageSessionCapability || h.Type == proto.MessageEncryptedSessionKey) {
		h.Pool = clixml.GUID{} // as every server does
	}
	b := proto.AppendMessageHeader(c.scratch[:0], h)
	b, err := proto.AppendBody(b, &c.enc, m, c.version)
	c.scratch = b[:0]
	if err != nil {
		return outgoing{}, err
	}
	if c.tracer != nil {
		c.tracer.TraceMessage(c.to, h, b[proto.MessageHeaderSize:])
	}
	c.objects++
	out := outgoing{object: c.objects, message: bytes.Clone(b)}
	if cap(c.scratch) > 1<<20 {
		c.scratch = nil
	}
	return out, nil
}

// header reads a message and checks whose it is.
func (c *core) header(message []byte, target clixml.GUID) (proto.MessageHeader, []byte, error) {
	h, body, err := proto.ParseMessage(message)
	if err != nil {
		return h, nil, err
	}
	fail := func(offset int64, format string, a ...any) error {
		return &proto.RemoteProtocolError{Stage: "message", Type: h.Type, Target: target, Offset: offset, Err: fmt.Errorf(format, a...)}
	}
	switch {
	case h.To == c.to:
		return h, nil, fail(0, "a message %v, sent to the %s", h.To, map[proto.Direction]string{proto.ToClient: "server", proto.ToServer: "client"}[h.To])
	case h.Pipeline != target:
		return h, nil, fail(24, "a message of pipeline %v, sent for %v", h.Pipeline, target)
	}
	// Servers send no pool identifier in these two.
	anonymous := h.Type == proto.MessageSessionCapability || h.Type == proto.MessageEncryptedSessionKey
	if h.Pool != c.pool && (!anonymous || !h.Pool.IsZero()) {
		return h, nil, fail(8, "a message of pool %v in pool %v", h.Pool, c.pool)
	}
	if c.tracer != nil {
		c.tracer.TraceMessage(h.To, h, body)
	}
	return h, body, nil
}

func (c *core) decode(h proto.MessageHeader, body []byte) (proto.Message, error) {
	m, err := proto.DecodeMessage(h.Type, body, &c.dec)
	return m, withTarget(err, h.Pipeline)
}

func (c *core) assembler() proto.Assembler {
	return proto.Assembler{Limits: proto.AssemblerLimits{
		Message: c.limits.Message + proto.MessageHeaderSize, Incomplete: c.limits.Incomplete, Budget: &c.budget,
	}}
}

// tellDropped tells of continuations whose start was never seen.
func (c *core) tellDropped(a *proto.Assembler, id clixml.GUID) {
	if a.Dropped > 0 {
		c.tell(FragmentsDropped{ID: id, Count: a.Dropped})
		a.Dropped = 0
	}
}

func (c *core) useCipher(cipher clixml.Cipher) { c.enc.Cipher, c.dec.Cipher = cipher, cipher }

// before reports whether the negotiated version is older.
func (c *core) before(major, minor int32) bool {
	return c.version.Compare(clixml.NewVersion(major, minor)) < 0
}

// outgoing is a message on its way.
type outgoing struct {
	object  uint64
	message []byte // with its header
	sent    int    // bytes that are in fragments already
	next    uint64 // the next fragment's number
}

// appendFragments appends whole fragments of messages up to limit bytes, at least one when dst is
// empty, and returns how many messages are done. A fragment has at most PowerShell's size; a larger
// payload holds several.
func appendFragments(dst []byte, q []outgoing, limit int) (out []byte, done int) {
	limit = max(limit, proto.FragmentHeaderSize+1)
	for i := range q {
		m := &q[i]
		for {
			room := limit - len(dst) - proto.FragmentHeaderSize
			rest := len(m.message) - m.sent
			// A fragment is not cut smaller only to fill a payload up.
			n := min(rest, proto.DefaultPayload-proto.FragmentHeaderSize)
			if len(dst) > 0 && room < n {
				return dst, i
			}
			n = min(n, room)
			dst = proto.AppendFragment(dst, proto.Fragment{
				Object: m.object, ID: m.next, Start: m.next == 0, End: n == rest, Blob: m.message[m.sent : m.sent+n],
			})
			m.sent += n
			m.next++
			if n == rest {
				break
			}
		}
	}
	return dst, len(q)
}

// queue is a first-in first-out queue that reuses its memory.
type queue[T any] struct {
	items []T
	head  int
}

func (q *queue[T]) push(v T) { q.items = append(q.items, v) }

func (q *queue[T]) len() int { return len(q.items) - q.head }

func (q *queue[T]) pop() (v T, ok bool) {
	if q.head == len(q.items) {
		return v, false
	}
	v = q.items[q.head]
	q.drop(1)
	return v, true
}

// rest is what is queued, first first.
func (q *queue[T]) rest() []T { return q.items[q.head:] }

// drop removes the first n.
func (q *queue[T]) drop(n int) {
	clear(q.items[q.head : q.head+n])
	q.head += n
	switch {
	case q.head == len(q.items):
		q.items, q.head = q.items[:0], 0
		if cap(q.items) > 4096 {
			q.items = nil
		}
	case q.head > 64 && q.head > len(q.items)/2:
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
}
