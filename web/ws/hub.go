package ws

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"example.com/quire/web/internal/wsframe"
)

// SlowPolicy is what a Hub does with a message for a client whose queue is full.
type SlowPolicy byte

// The policies. Whatever the choice, no other client waits.
const (
	// CloseSlow closes the client with TryAgainLater: it connects again and begins afresh. For
	// feeds of which no message may be missing.
	CloseSlow SlowPolicy = iota
	// DropOldest drops the message that has waited longest. For states, of which the last counts.
	DropOldest
	// DropNewest drops the new message.
	DropNewest
)

// HubOptions configure a Hub.
type HubOptions struct {
	// Queue is how many messages wait for one client. Default: 64.
	Queue int
	// Slow is what happens when they are more. Default: CloseSlow.
	Slow SlowPolicy
	// Receive is called with each message of a client, in the order they came, while Broadcast
	// goes on. An error closes the client with PolicyViolation. Default: messages are dropped.
	Receive func(ctx context.Context, from *Conn, kind Kind, data []byte) error
}

// Errors of Join. To errors.Is they are net.ErrClosed: no fault of the server, which the App would
// log as one.
var (
	ErrHubClosed  = fmt.Errorf("websocket: the hub is closed: %w", net.ErrClosed)
	ErrSlowClient = fmt.Errorf("websocket: the client is too slow: %w", net.ErrClosed)
)

// Hub sends messages to all clients of a topic. It is safe for concurrent use. Each client has a
// queue, and only its own goroutine, that of Join, waits for it.
type Hub struct {
	o HubOptions

	mu     sync.RWMutex
	topics map[string]map[*member]struct{}
	all    map[*member]struct{}
	closed chan struct{}
	wg     sync.WaitGroup

	sent, dropped, slow atomic.Uint64
}

// HubStats counts since NewHub.
type HubStats struct {
	Clients int
	Sent    uint64 // messages taken into a queue, once for each client
	Dropped uint64 // messages that DropOldest and DropNewest have dropped
	Slow    uint64 // clients that CloseSlow has closed
}

// member is a client that has joined.
type member struct {
	conn   *Conn
	topics []string

	mu    sync.Mutex
	queue []*prepared // a ring: n from first
	first int
	n     int
	slow  bool
	wake  chan struct{} // has one element when there may be something to do
}

// prepared is a message whose frames are made once for all clients.
type prepared struct {
	kind  Kind
	data  []byte
	plain []byte // the frame

	mu     sync.Mutex
	packed map[packing][]byte
}

// packing is what frames of compressed messages differ by.
type packing struct {
	m    *Compression
	bits int
}

// NewHub makes a hub.
func NewHub(o HubOptions) *Hub {
	if o.Queue <= 0 {
		o.Queue = 64
	}
	return &Hub{o: o, topics: map[string]map[*member]struct{}{}, all: map[*member]struct{}{}, closed: make(chan struct{})}
}

// Join has the connection get what is sent to the topics, and blocks until it has ended, which
// is no error, ctx has, or the hub is closed. The connection is closed when Join returns. It is
// the hub that reads from it.
func (h *Hub) Join(ctx context.Context, conn *Conn, topics ...string) error {
	m := &member{conn: conn, topics: slices.Compact(slices.Sorted(slices.Values(topics))), queue: make([]*prepared, h.o.Queue), wake: make(chan struct{}, 1)}
	if !h.add(m) {
		_ = conn.Close(GoingAway, "") // it has ended either way
		return ErrHubClosed
	}
	defer h.wg.Done()
	received := make(chan error, 1)
	go func() { received <- h.receive(conn) }()
	err := h.serve(ctx, m)
	h.remove(m)
	code, reason := Normal, ""
	switch {
	case errors.Is(err, ErrSlowClient):
		code, reason = TryAgainLater, "too slow"
	case errors.Is(err, ErrHubClosed):
		code = GoingAway
	}
	_ = conn.Close(code, reason) // it has ended either way
	if r := <-received; r != nil {
		err = r
	}
	if _, ok := errors.AsType[*CloseError](err); ok {
		return nil
	}
	return err
}

// receive reads until the connection ends. Its error is that of HubOptions.Receive.
func (h *Hub) receive(conn *Conn) error {
	for {
		kind, data, err := conn.Read(conn.ctx)
		if err != nil {
			return nil //nolint:nilerr // the connection has ended, as serve sees
		}
		if h.o.Receive == nil {
			continue
		}
		if err := h.o.Receive(conn.ctx, conn, kind, data); err != nil {
			_ = conn.Close(PolicyViolation, "") // it has ended either way
			return err
		}
	}
}

// serve writes what is sent to a client.
func (h *Hub) serve(ctx context.Context, m *member) error {
	for {
		p, slow := m.next()
		if slow {
			m.conn.aborted.Store(false) // no frame was cut, so a close frame can follow
			return ErrSlowClient
		}
		if p != nil {
			if err := m.conn.writePrepared(ctx, p); err != nil {
				if m.isSlow() {
					return ErrSlowClient
				}
				return err
			}
			continue
		}
		select {
		case <-m.wake:
		case <-m.conn.done:
			return m.conn.err
		case <-h.closed:
			return ErrHubClosed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (h *Hub) add(m *member) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-h.closed:
		return false
	default:
	}
	h.wg.Add(1)
	h.all[m] = struct{}{}
	for _, t := range m.topics {
		if h.topics[t] == nil {
			h.topics[t] = map[*member]struct{}{}
		}
		h.topics[t][m] = struct{}{}
	}
	return true
}

func (h *Hub) remove(m *member) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.all, m)
	for _, t := range m.topics {
		if delete(h.topics[t], m); len(h.topics[t]) == 0 {
			delete(h.topics, t)
		}
	}
}

// Broadcast queues a message for all clients of the topic and returns how many they are. It waits
// for none of them. The hub keeps data: it must not be changed any more.
func (h *Hub) Broadcast(topic string, kind Kind, data []byte) (int, error) {
	if kind != Text && kind != Binary {
		return 0, fmt.Errorf("websocket: broadcast: no kind of message: %d", kind)
	}
	if kind == Text && !utf8.Valid(data) {
		return 0, errors.New("websocket: broadcast: text is not UTF-8")
	}
	p := &prepared{kind: kind, data: data}
	head := wsframe.Header{Fin: true, Opcode: wsframe.Opcode(kind), Length: int64(len(data))}
	p.plain = append(head.Append(make([]byte, 0, wsframe.MaxHeader+len(data))), data...)
	h.mu.RLock()
	defer h.mu.RUnlock()
	for m := range h.topics[topic] {
		h.push(m, p)
	}
	return len(h.topics[topic]), nil
}

// BroadcastJSON is Broadcast of v as text.
func (h *Hub) BroadcastJSON(topic string, v any) (int, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return 0, fmt.Errorf("websocket: broadcast JSON: %w", err)
	}
	return h.Broadcast(topic, Text, b)
}

// push queues a message by the hub's policy. It never waits.
func (h *Hub) push(m *member, p *prepared) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.slow:
		return
	case m.n < len(m.queue):
		m.queue[(m.first+m.n)%len(m.queue)] = p
		m.n++
		h.sent.Add(1)
	case h.o.Slow == DropNewest:
		h.dropped.Add(1)
		return
	case h.o.Slow == DropOldest:
		m.queue[m.first] = p
		m.first = (m.first + 1) % len(m.queue)
		h.dropped.Add(1)
		h.sent.Add(1)
	default:
		m.slow = true
		h.slow.Add(1)
		m.conn.abort() // its goroutine may be waiting in a write
	}
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

func (m *member) next() (p *prepared, slow bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.slow || m.n == 0 {
		return nil, m.slow
	}
	p, m.queue[m.first] = m.queue[m.first], nil
	m.first = (m.first + 1) % len(m.queue)
	m.n--
	return p, false
}

func (m *member) isSlow() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.slow
}

// Count returns how many clients the topic has.
func (h *Hub) Count(topic string) int {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return len(h.topics[topic])
}

// Clients returns the connections of the topic, in no order.
func (h *Hub) Clients(topic string) []*Conn {
	h.mu.RLock()
	defer h.mu.RUnlock()
	out := make([]*Conn, 0, len(h.topics[topic]))
	for m := range h.topics[topic] {
		out = append(out, m.conn)
	}
	return out
}

// Stats returns the counts.
func (h *Hub) Stats() HubStats {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return HubStats{Clients: len(h.all), Sent: h.sent.Load(), Dropped: h.dropped.Load(), Slow: h.slow.Load()}
}

// Close closes every client with GoingAway and waits until all Joins have returned. When ctx ends
// first, what is left is cut. A Join after it returns ErrHubClosed.
func (h *Hub) Close(ctx context.Context) error {
	h.mu.Lock()
	select {
	case <-h.closed:
	default:
		close(h.closed)
	}
	h.mu.Unlock()
	all := make(chan struct{})
	go func() { h.wg.Wait(); close(all) }()
	select {
	case <-all:
		return nil
	case <-ctx.Done():
	}
	h.mu.RLock()
	for m := range h.all {
		m.conn.finish(&CloseError{Code: Abnormal, Local: true, Err: ErrHubClosed})
	}
	h.mu.RUnlock()
	<-all
	return fmt.Errorf("websocket: close hub: clients were cut: %w", ctx.Err())
}

// writePrepared writes a message whose frame is made once for all.
func (n *Conn) writePrepared(ctx context.Context, p *prepared) error {
	frame, err := p.frame(n)
	if err != nil {
		return err
	}
	if err := n.acquire(ctx); err != nil {
		return err
	}
	defer n.unlock()
	return n.write(ctx, frame)
}

// frame returns the frame for a connection.
func (p *prepared) frame(n *Conn) ([]byte, error) {
	if n.bits == 0 || len(p.data) < n.o.Compression.least {
		return p.plain, nil
	}
	k := packing{n.o.Compression, n.bits}
	p.mu.Lock()
	defer p.mu.Unlock()
	if f, ok := p.packed[k]; ok {
		return f, nil
	}
	body, err := k.m.deflate(nil, p.data, k.bits)
	if err != nil {
		return nil, err
	}
	head := wsframe.Header{Fin: true, Compressed: true, Opcode: wsframe.Opcode(p.kind), Length: int64(len(body))}
	f := append(head.Append(make([]byte, 0, wsframe.MaxHeader+len(body))), body...)
	if p.packed == nil {
		p.packed = map[packing][]byte{}
	}
	p.packed[k] = f
	return f, nil
}
