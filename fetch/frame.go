package fetch

import (
	"net/http"
	"sync/atomic"

	"example.com/quire/fetch/internal/body"
	"example.com/quire/fetch/internal/call"
)

// frame is what an ordinary call needs, in one allocation: its state, and one of each of the things
// that the layers of this package make for a request. The first to come takes one. Who comes later
// (the next hop, another attempt, a second leg beside the first) allocates its own: nothing in a
// frame is used twice, since a transport may look at a request for longer than its round trip.
type frame struct {
	state call.State
	taken atomic.Uint32

	own    http.Request // the caller's, with the state as its context
	accept [1]string    // the Accept-Encoding of a request that decode has made
	body   bounded
	wire   *wire // nil in a client with a cache, whose calls seldom need it
}

// wire is the part of a frame that a call needs to go to the origin, which one that the cache
// answers does not.
type wire struct {
	attempt attempt
	drained body.Drained
	log     [1]call.Attempt
}

// newFrame returns a frame: with its wire when nothing can answer in the origin's place.
func newFrame(cached bool) *frame {
	if cached {
		return new(frame)
	}
	f := new(struct {
		frame
		wire wire
	})
	f.frame.wire = &f.wire
	return &f.frame
}

// log is where the call's log of attempts grows from.
func (f *frame) log() []call.Attempt {
	if f.wire == nil {
		return nil
	}
	return f.wire.log[:0]
}

// The parts of a frame that are taken.
const (
	takenBody uint32 = 1 << iota
	takenAttempt
	takenDrained
	takenAccept
)

// isOwn tells whether req is the one in the call's frame, and not one that a layer has made of it.
func isOwn(st *call.State, req *http.Request) bool {
	if st == nil {
		return false
	}
	f, ok := st.Client.(*frame)
	return ok && req == &f.own
}

// take returns a part of the call's frame, or a new one when it is taken, or when the call has no
// frame or one without that part.
func take[T any](st *call.State, bit uint32, part func(*frame) *T) *T {
	if st != nil {
		if f, ok := st.Client.(*frame); ok && (bit&(takenBody|takenAccept) != 0 || f.wire != nil) && f.taken.Or(bit)&bit == 0 {
			return part(f)
		}
	}
	return new(T)
}
