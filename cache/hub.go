package cache

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Hub is a Remote and a Bus in memory: caches of one process that share a Hub behave as nodes that
// share a server. It keeps what is stored until its life ends, without a bound on memory: it is
// meant for tests and for a handful of caches. Make one with NewHub. All methods may be called
// concurrently.
type Hub struct {
	mu    sync.Mutex
	epoch uint64
	next  uint64
	down  bool
	ns    map[string]*hubSpace
}

// hubSpace is one namespace of a Hub.
type hubSpace struct {
	records map[string]hubRecord
	leases  map[string]hubLease
	tags    map[string]uint64
	links   map[*hubLink]struct{}
}

type hubRecord struct {
	Record
	stored time.Time
}

type hubLease struct {
	token uint64
	until time.Time
}

// hubLink hands frames over in the order of their writes. Its queue has no bound: the sink does not
// block.
type hubLink struct {
	sink   Sink
	mu     sync.Mutex
	queue  []func(Sink)
	more   chan struct{}
	ended  chan struct{}
	closed bool
}

// NewHub makes an empty Hub.
func NewHub() *Hub {
	return &Hub{epoch: randomID(), ns: make(map[string]*hubSpace)}
}

var errHubDown = errors.New("the hub is down")

// SetDown cuts all links and lets every call fail with ErrUnavailable, or ends that. What is stored
// stays.
func (h *Hub) SetDown(down bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.down == down {
		return
	}
	h.down = down
	for _, s := range h.ns {
		for l := range s.links {
			if down {
				l.put(func(s Sink) { s.Down(errHubDown) })
			} else {
				l.up(h.epoch)
			}
		}
	}
}

// Reset forgets everything and begins a new epoch, as a server does that lost its memory.
func (h *Hub) Reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.epoch, h.next = randomID(), 0
	for _, s := range h.ns {
		s.records, s.leases, s.tags = make(map[string]hubRecord), make(map[string]hubLease), make(map[string]uint64)
		for l := range s.links {
			l.put(func(s Sink) { s.Down(errHubDown) })
			if !h.down {
				l.up(h.epoch)
			}
		}
	}
}

// enter locks h for one call in ns.
func (h *Hub) enter(ctx context.Context, ns string) (*hubSpace, func(), error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	h.mu.Lock()
	if h.down {
		h.mu.Unlock()
		return nil, nil, unavailable(errHubDown)
	}
	return h.space(ns), h.mu.Unlock, nil
}

func (h *Hub) space(ns string) *hubSpace {
	s := h.ns[ns]
	if s == nil {
		s = &hubSpace{
			records: make(map[string]hubRecord), leases: make(map[string]hubLease),
			tags: make(map[string]uint64), links: make(map[*hubLink]struct{}),
		}
		h.ns[ns] = s
	}
	return s
}

// record returns what is there for key; zero for nothing.
func (s *hubSpace) record(key string) hubRecord {
	r, ok := s.records[key]
	if ok && time.Since(r.stored) >= r.Remove {
		delete(s.records, key)
		return hubRecord{}
	}
	return r
}

func (s *hubSpace) send(f Frame) {
	for l := range s.links {
		l.put(func(s Sink) { s.Frame(f) })
	}
}

// Fetch implements Remote.
func (h *Hub) Fetch(ctx context.Context, ns string, keys []string, _ bool) ([]Record, error) {
	s, leave, err := h.enter(ctx, ns)
	if err != nil {
		return nil, err
	}
	defer leave()
	all := make([]Record, len(keys))
	for i, k := range keys {
		if r := s.record(k); r.State != RecordNone {
			all[i] = r.Record
			all[i].Age = time.Since(r.stored)
		}
	}
	return all, nil
}

// Store implements Remote.
func (h *Hub) Store(ctx context.Context, ns string, r StoreRequest) (StoreResult, error) {
	s, leave, err := h.enter(ctx, ns)
	if err != nil {
		return StoreResult{}, err
	}
	defer leave()
	switch r.If {
	case StoreIfVersion:
		if s.record(r.Key).Version != r.IfVersion {
			return StoreResult{}, nil
		}
	case StoreIfLease:
		if !s.holds(r.Key, r.Token) {
			return StoreResult{}, nil
		}
	case StoreAlways:
	}
	if r.Current && !matchTags(r.Record.Tags, s.counter) {
		return StoreResult{Outdated: true}, nil
	}
	h.next++
	kept := hubRecord{Record: r.Record, stored: time.Now()}
	kept.Version = Version{Epoch: h.epoch, Counter: h.next, WriteID: r.Record.Version.WriteID}
	s.records[r.Key] = kept
	delete(s.leases, r.Key)
	f := Frame{Kind: FrameKey, Version: kept.Version, Key: r.Key, Written: kept.stored}
	if r.Push {
		f.Record = &kept.Record
	}
	s.send(f)
	return StoreResult{Stored: true, Version: kept.Version}, nil
}

// counter is that of a tag.
func (s *hubSpace) counter(name string) (n uint64, ok bool) {
	n, ok = s.tags[name]
	return n, ok
}

// holds says whether token holds the lease of key.
func (s *hubSpace) holds(key string, token uint64) bool {
	l, ok := s.leases[key]
	return ok && l.token == token && time.Now().Before(l.until)
}

// Lease implements Remote.
func (h *Hub) Lease(ctx context.Context, ns string, r LeaseRequest) (LeaseResult, error) {
	s, leave, err := h.enter(ctx, ns)
	if err != nil {
		return LeaseResult{}, err
	}
	defer leave()
	held, ok := s.leases[r.Key]
	if ok && !time.Now().Before(held.until) {
		ok = false
	}
	mine := ok && held.token == r.Token
	switch r.Verb {
	case LeaseAcquire:
		if there := s.record(r.Key); there.State != RecordNone && there.Version != r.Known {
			return LeaseResult{Newer: true}, nil
		}
		if ok && !mine {
			return LeaseResult{}, nil
		}
		s.leases[r.Key] = hubLease{token: r.Token, until: time.Now().Add(r.TTL)}
		return LeaseResult{Granted: true}, nil
	case LeaseRenew:
		if mine {
			s.leases[r.Key] = hubLease{token: r.Token, until: time.Now().Add(r.TTL)}
		}
	case LeaseRelease:
		if mine {
			delete(s.leases, r.Key)
			s.send(Frame{Kind: FrameLease, Version: Version{Epoch: h.epoch}, Key: r.Key})
		}
	}
	return LeaseResult{Granted: mine}, nil
}

// Tags implements Remote.
func (h *Hub) Tags(ctx context.Context, ns string, names []string, _ time.Duration, bump bool) ([]uint64, error) {
	s, leave, err := h.enter(ctx, ns)
	if err != nil {
		return nil, err
	}
	defer leave()
	all := make([]uint64, len(names))
	for i, name := range names {
		if _, ok := s.tags[name]; !ok || bump {
			h.next++
			s.tags[name] = h.next
		}
		all[i] = s.tags[name]
		if bump {
			s.send(Frame{Kind: FrameTag, Version: Version{Epoch: h.epoch, Counter: all[i]}, Key: name})
		}
	}
	return all, nil
}

// Purge implements Remote. It takes no time.
func (h *Hub) Purge(ctx context.Context, ns string, _ int) (int, error) {
	s, leave, err := h.enter(ctx, ns)
	if err != nil {
		return 0, err
	}
	defer leave()
	n := 0
	for k, r := range s.records {
		if r.State != RecordTombstone && !currentTags(r.Tags, s.counter) {
			delete(s.records, k)
			n++
		}
	}
	return n, nil
}

// Attach implements Bus.
func (h *Hub) Attach(ns string, o LinkOptions, sink Sink) (func(), error) {
	l := &hubLink{sink: sink, more: make(chan struct{}, 1), ended: make(chan struct{})}
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.space(ns)
	s.links[l] = struct{}{}
	if !h.down {
		l.up(h.epoch)
	}
	stop := make(chan struct{})
	beats := make(chan struct{})
	go l.deliver()
	go func() {
		defer close(beats)
		t := time.NewTicker(o.Heartbeat)
		defer t.Stop()
		for {
			select {
			case <-stop:
				return
			case <-t.C:
			}
			h.mu.Lock()
			if !h.down {
				l.proof()
			}
			h.mu.Unlock()
		}
	}()
	return sync.OnceFunc(func() {
		h.mu.Lock()
		delete(s.links, l)
		h.mu.Unlock()
		close(stop)
		<-beats
		l.mu.Lock()
		l.closed = true
		l.mu.Unlock()
		l.wake()
		<-l.ended
	}), nil
}

func (l *hubLink) put(call func(Sink)) {
	l.mu.Lock()
	l.queue = append(l.queue, call)
	l.mu.Unlock()
	l.wake()
}

// up and proof are called with the hub locked, so that no write is half done.
func (l *hubLink) up(epoch uint64) {
	l.put(func(s Sink) { s.Up(epoch) })
	l.proof()
}

func (l *hubLink) proof() {
	now := time.Now()
	l.put(func(s Sink) { s.Proof(now) })
}

func (l *hubLink) wake() {
	select {
	case l.more <- struct{}{}:
	default:
	}
}

func (l *hubLink) deliver() {
	defer close(l.ended)
	for range l.more {
		l.mu.Lock()
		calls, closed := l.queue, l.closed
		l.queue = nil
		l.mu.Unlock()
		if closed {
			return
		}
		for _, call := range calls {
			call(l.sink)
		}
	}
}
