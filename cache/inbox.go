package cache

import (
	"slices"
	"sync"
	"time"
)

// maxPending is how many keys and tags an inbox keeps frames of.
const maxPending = 1 << 16

// inbox takes the frames of a bus, which must not wait, to a cache, which may be slow: it has
// values to decode. Of the frames of one kind and key that wait only the latest is kept. The place
// it takes is that of the first, before any proof that came between; it is applied the earlier,
// which harms nothing. When frames of too many keys wait they are dropped, and the cache is told
// that frames were lost.
type inbox struct {
	to listener

	mu     sync.Mutex
	queue  []item
	frames map[subject]int // where in queue
	closed bool
	more   chan struct{}
	ended  chan struct{}
}

// listener is a Sink that also learns of lost frames.
type listener interface {
	Sink
	lost()
}

// subject is what a frame is about.
type subject struct {
	kind FrameKind
	key  string
}

// item is one call of the sink.
type item struct {
	what  itemKind
	frame Frame
	epoch uint64
	err   error
	sent  time.Time
}

type itemKind uint8

const (
	itemFrame itemKind = iota
	itemUp
	itemDown
	itemProof
	itemLost
)

func newInbox(to listener) *inbox {
	b := &inbox{to: to, frames: make(map[subject]int), more: make(chan struct{}, 1), ended: make(chan struct{})}
	go b.deliver()
	return b
}

// put changes the queue and wakes the delivery.
func (b *inbox) put(change func()) {
	b.mu.Lock()
	change()
	b.mu.Unlock()
	select {
	case b.more <- struct{}{}:
	default:
	}
}

// drop leaves the first n calls, of which none is a frame.
func (b *inbox) drop(n int) {
	clear(b.frames)
	b.queue = slices.Clone(b.queue[:n])
}

// Frame implements Sink.
func (b *inbox) Frame(f Frame) {
	b.put(func() {
		s := subject{f.Kind, f.Key}
		at, waits := b.frames[s]
		switch {
		case waits && f.Kind == FrameTouched && b.frames[subject{FrameKey, f.Key}] > at:
			// It may be about the record of that frame: its place is behind it.
		case waits:
			// One that comes late, or twice, does not replace a newer one.
			if v := b.queue[at].frame.Version; f.Version.Epoch != v.Epoch || f.Version.Counter >= v.Counter {
				b.queue[at].frame = f
			}
			return
		case len(b.frames) == maxPending:
			// If the link is to come up, what is held will be compared anyway.
			up := slices.IndexFunc(b.queue, func(i item) bool { return i.what == itemUp })
			if b.drop(up + 1); up < 0 {
				b.queue = append(b.queue, item{what: itemLost})
			}
		}
		b.frames[s] = len(b.queue)
		b.queue = append(b.queue, item{frame: f})
	})
}

// Up implements Sink.
func (b *inbox) Up(epoch uint64) {
	b.put(func() { b.queue = append(b.queue, item{what: itemUp, epoch: epoch}) })
}

// Down implements Sink. What waits is of no use any more: all that is held is to be compared.
func (b *inbox) Down(err error) {
	b.put(func() {
		b.drop(0)
		b.queue = append(b.queue, item{what: itemDown, err: err})
	})
}

// Proof implements Sink.
func (b *inbox) Proof(sent time.Time) {
	b.put(func() {
		i := item{what: itemProof, sent: sent}
		if last := len(b.queue) - 1; last >= 0 && b.queue[last].what == itemProof {
			b.queue[last] = i
			return
		}
		b.queue = append(b.queue, i)
	})
}

// close ends the delivery. The bus does not call any more.
func (b *inbox) close() {
	b.put(func() { b.closed = true })
	<-b.ended
}

func (b *inbox) deliver() {
	defer close(b.ended)
	for range b.more {
		b.mu.Lock()
		queue, closed := b.queue, b.closed
		b.queue = nil
		clear(b.frames)
		b.mu.Unlock()
		if closed {
			return
		}
		for _, i := range queue {
			switch i.what {
			case itemFrame:
				b.to.Frame(i.frame)
			case itemUp:
				b.to.Up(i.epoch)
			case itemDown:
				b.to.Down(i.err)
			case itemProof:
				b.to.Proof(i.sent)
			case itemLost:
				b.to.lost()
			}
		}
	}
}
