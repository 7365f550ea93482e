package proto

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
)

// FragmentHeaderSize is the size of a fragment's header (MS-PSRP 2.2.4).
const FragmentHeaderSize = 21

const (
	flagStart = 1
	flagEnd   = 2
)

// Fragment is a slice of a message.
type Fragment struct {
	Object uint64 // the message's number, unique per sender
	ID     uint64 // 0 for the first fragment of a message, then one more each
	Start  bool
	End    bool
	Blob   []byte // a view
}

// AppendFragment appends one fragment.
func AppendFragment(dst []byte, f Fragment) []byte {
	dst = binary.BigEndian.AppendUint64(dst, f.Object)
	dst = binary.BigEndian.AppendUint64(dst, f.ID)
	var flags byte
	if f.Start {
		flags |= flagStart
	}
	if f.End {
		flags |= flagEnd
	}
	dst = append(dst, flags)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(f.Blob))) //nolint:gosec // G115: a blob is at most one payload
	return append(dst, f.Blob...)
}

// AppendFragments cuts message into fragments of at most size bytes with their headers and appends
// them all. size is at least 22; 0 means DefaultPayload.
func AppendFragments(dst []byte, object uint64, message []byte, size int) []byte {
	size = cmp.Or(size, DefaultPayload)
	room := max(size-FragmentHeaderSize, 1)
	for id := uint64(0); ; id++ {
		n := min(room, len(message))
		dst = AppendFragment(dst, Fragment{Object: object, ID: id, Start: id == 0, End: n == len(message), Blob: message[:n]})
		if message = message[n:]; len(message) == 0 {
			return dst
		}
	}
}

// ErrShort is a fragment that is not all there yet.
var ErrShort = errors.New("the fragment is not complete")

// ParseFragment reads the fragment at the start of b. Blob and rest are views of b. ErrShort says
// that b holds less than one fragment; any other error is a *RemoteProtocolError.
func ParseFragment(b []byte) (f Fragment, rest []byte, err error) {
	if len(b) < FragmentHeaderSize {
		return f, b, ErrShort
	}
	flags, size := b[16], int64(binary.BigEndian.Uint32(b[17:]))
	f.Object, f.ID = binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
	f.Start, f.End = flags&flagStart != 0, flags&flagEnd != 0
	if f.Object == 0 || flags > flagStart|flagEnd || f.Start != (f.ID == 0) || size > maxBlob || size > int64(len(b)-FragmentHeaderSize) {
		return f, b, refuseFragment(b, maxBlob)
	}
	end := FragmentHeaderSize + size
	f.Blob = b[FragmentHeaderSize:end:end]
	return f, b[end:], nil
}

// maxBlob is the largest blob accepted, and the most that a header alone can make a reader wait
// for.
const maxBlob = 10 << 20

// refuseFragment says why there is no fragment with a blob of at most limit bytes at the start of
// b.
func refuseFragment(b []byte, limit int) error {
	if len(b) < FragmentHeaderSize {
		return ErrShort
	}
	object, id, flags, size := binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:]), b[16], int64(binary.BigEndian.Uint32(b[17:]))
	start := flags&flagStart != 0
	switch {
	case object == 0:
		return fragmentError(0, "object 0")
	case flags > flagStart|flagEnd:
		return fragmentError(16, fmt.Sprintf("reserved flags %#02x", flags))
	case size > int64(limit):
		return &RemoteProtocolError{Stage: "fragment", Offset: 17, Err: fmt.Errorf("blob of %d bytes, at most %d: %w", size, limit, ErrTooLarge)}
	case start != (id == 0):
		return fragmentError(8, fmt.Sprintf("fragment %d of object %d has start flag %t", id, object, start))
	}
	return ErrShort
}

func fragmentError(offset int64, reason string) error {
	return &RemoteProtocolError{Stage: "fragment", Offset: offset, Err: errors.New(reason)}
}

// AssemblerLimits bound what a peer can make an [Assembler] hold; a zero field is its default.
type AssemblerLimits struct {
	Message    int // one message; default 32 MiB and its header
	Incomplete int // messages begun and not ended; default 8
	// Budget, when not nil, is shared by the assemblers of a session: each takes from it what it
	// holds, and a peer that would make it negative has broken the limit.
	Budget *int64
}

// Assembler puts the messages of one target, stream and direction together again. Payloads may end
// anywhere, inside a fragment's header too. The zero value works; one owner at a time.
type Assembler struct {
	Limits AssemblerLimits
	// Dropped counts continuations whose start was never seen, which are skipped.
	Dropped int

	payload []byte // what Add brought and Next has not read
	carry   []byte // the beginning of a fragment whose end is still to come
	partial []partial
	held    int64  // bytes taken from the budget
	out     []byte // the message of several fragments that Next returned last
	spare   []byte // its memory, once nobody looks at it any more
}

// maxSpare bounds the memory that waits for the next message.
const maxSpare = 128 << 10

type partial struct {
	object, next uint64
	message      []byte
}

// Add brings the next payload. It is read, and views of it are returned, by Next until that
// reports that there is nothing more; only then may payload be reused or Add be called again.
func (a *Assembler) Add(payload []byte) {
	if a.out != nil {
		a.out, a.spare = nil, a.out[:0]
	}
	if len(a.carry) == 0 {
		a.payload = payload
		return
	}
	a.carry = append(a.carry, payload...)
	a.payload, a.carry = a.carry, nil
}

// Next returns the next complete message, a view that is valid until the next Add. ok is false when
// more payload is needed.
func (a *Assembler) Next() (message []byte, ok bool, err error) {
	limit := a.Limits.Message
	if limit == 0 {
		limit = 32<<20 + MessageHeaderSize
	}
	for {
		f, rest, err := ParseFragment(a.payload)
		if err != nil || len(f.Blob) > limit {
			if err = refuseFragment(a.payload, min(limit, maxBlob)); !errors.Is(err, ErrShort) {
				return nil, false, err
			}
			a.carry = append(a.carry[:0], a.payload...)
			a.payload = nil
			if len(a.carry) == 0 {
				a.carry = nil
			}
			return nil, false, a.account()
		}
		a.payload = rest
		if f.Start && f.End {
			return f.Blob, true, nil
		}
		message, ok, err = a.add(f, limit)
		if ok || err != nil {
			return message, ok, err
		}
	}
}

func (a *Assembler) add(f Fragment, limit int) (message []byte, ok bool, err error) {
	i := 0
	for i < len(a.partial) && a.partial[i].object != f.Object {
		i++
	}
	most := a.Limits.Incomplete
	if most == 0 {
		most = 8
	}
	switch {
	case f.Start && i < len(a.partial):
		return nil, false, fragmentError(8, fmt.Sprintf("object %d begins twice", f.Object))
	case f.Start && len(a.partial) == most:
		return nil, false, &RemoteProtocolError{Stage: "fragment", Offset: 0, Err: fmt.Errorf("more than %d incomplete objects: %w", most, ErrTooLarge)}
	case f.Start:
		// Most messages of a few fragments lie in one payload: there is room for what has come of
		// it.
		memory := a.spare
		if room := min(4*len(f.Blob), len(f.Blob)+len(a.payload), limit); cap(memory) < room {
			memory = make([]byte, 0, room)
		}
		a.spare = nil
		a.partial = append(a.partial, partial{object: f.Object, message: memory})
	case i == len(a.partial):
		a.Dropped++
		return nil, false, nil
	}
	p := &a.partial[i]
	if f.ID != p.next {
		return nil, false, fragmentError(8, fmt.Sprintf("fragment %d of object %d where %d is due", f.ID, f.Object, p.next))
	}
	if len(p.message)+len(f.Blob) > limit {
		return nil, false, &RemoteProtocolError{Stage: "fragment", Offset: 17, Err: fmt.Errorf("message of more than %d bytes: %w", limit, ErrTooLarge)}
	}
	p.next++
	p.message = append(p.message, f.Blob...)
	if err := a.account(); err != nil {
		return nil, false, err
	}
	if !f.End {
		return nil, false, nil
	}
	message = p.message
	last := len(a.partial) - 1
	a.partial[i] = a.partial[last]
	a.partial[last] = partial{}
	a.partial = a.partial[:last]
	if cap(message) <= maxSpare {
		a.out = message
	}
	return message, true, nil
}

// account takes from the budget what is held now and gives back what no longer is.
func (a *Assembler) account() error {
	if a.Limits.Budget == nil {
		return nil
	}
	held := int64(cap(a.carry))
	for i := range a.partial {
		held += int64(cap(a.partial[i].message))
	}
	*a.Limits.Budget -= held - a.held
	a.held = held
	if *a.Limits.Budget < 0 {
		return &RemoteProtocolError{Stage: "fragment", Offset: -1, Err: fmt.Errorf("incomplete messages of the session: %w", ErrTooLarge)}
	}
	return nil
}

// Release gives up what is held, when the target has ended.
func (a *Assembler) Release() {
	if a.Limits.Budget != nil {
		*a.Limits.Budget += a.held
	}
	a.payload, a.carry, a.partial, a.held, a.out, a.spare = nil, nil, nil, 0, nil, nil
}
