package cache

import (
	"context"
	"time"
)

// RecordState says what a Record knows of its key.
type RecordState uint8

// The states of a Record.
const (
	RecordNone      RecordState = iota // nothing is stored for the key
	RecordValue                        // Payload is a value
	RecordAbsent                       // a loader said that the key does not exist
	RecordTombstone                    // the key was deleted a short while ago
	RecordFailed                       // a load failed, and the next is to wait until the end of Fresh
)

// Record is an entry as a Remote keeps it. Payload and Tags are shared: nobody may change them.
type Record struct {
	Version Version
	State   RecordState
	Codec   byte // Codec.ID of Payload
	Payload []byte
	// Tags are the tags of the entry, each with the counter it had before the value was set or its
	// load began: the record is valid while all of them have it still.
	Tags []RecordTag
	// Age is the time since the record was stored, by the clock of the remote. Store ignores it.
	Age time.Duration
	// Fresh is the life of the value after which it is stale; Remove is when the remote drops the
	// record. Both count from when it was stored, and are whole milliseconds above 0.
	Fresh, Remove time.Duration
	// LoadTime is how long the value took to load.
	LoadTime time.Duration
}

// RecordTag is a tag of a Record.
type RecordTag struct {
	Name    string
	Counter uint64
}

// Condition says when Store stores.
type Condition uint8

// The conditions of a StoreRequest.
const (
	StoreAlways    Condition = iota
	StoreIfVersion           // the record that is there has StoreRequest.IfVersion (zero: none is there)
	StoreIfLease             // the lease of the key is held with StoreRequest.Token
)

// StoreRequest is one write of one key.
type StoreRequest struct {
	Key string
	// Record is what to store. Of its Version only WriteID is used. A removal is a Record with
	// RecordTombstone.
	Record    Record
	If        Condition
	IfVersion Version
	Token     uint64
	// Current refuses a record of which a tag does not have the counter that it says.
	Current bool
	// Push asks that the frame of this write has the whole record. A remote may send the version
	// alone.
	Push bool
}

// StoreResult is what became of a StoreRequest whose condition was checked.
type StoreResult struct {
	Stored   bool
	Outdated bool    // StoreRequest.Current refused it
	Version  Version // of the record that was stored
}

// LeaseVerb is what LeaseRequest asks for.
type LeaseVerb uint8

// The verbs of a LeaseRequest.
const (
	LeaseAcquire LeaseVerb = iota
	LeaseRenew
	LeaseRelease
)

// LeaseRequest asks for the right to load a key, which one node of all has at a time.
type LeaseRequest struct {
	Key   string
	Verb  LeaseVerb
	Token uint64 // random, by which the holder is known
	// TTL is after how long without renewal the lease ends. At least a millisecond.
	TTL time.Duration
	// Known is the version of the record that the caller wants to replace, zero for none. Acquire
	// is refused with Newer if another record is there.
	Known Version
}

// LeaseResult is the answer to a LeaseRequest. At most one of the two is set.
type LeaseResult struct {
	Granted bool // the caller holds the lease (renew, acquire), or held it until now (release)
	Newer   bool // another record than the known one is there: fetch it
}

// Remote is the second level, which several nodes share. All nodes that name one namespace see the
// same records. Methods may be called concurrently; they heed the end of ctx.
//
// An error that matches ErrUnavailable says that nothing was done. After any other error of Store
// or Tags it is not known whether it was done.
//
// What a Remote returns is not trusted: it returns a record under the key that was asked for alone,
// and for one that cannot be read RecordNone.
type Remote interface {
	// Fetch returns a record for each of keys, in their order; RecordNone for those not there. With
	// headersOnly the records may lack Payload and Tags.
	Fetch(ctx context.Context, ns string, keys []string, headersOnly bool) ([]Record, error)
	// Store checks the condition, stores the record with the next version, ends the lease of the
	// key and sends the frame to all that are attached, in one atomic step. Versions of one epoch
	// grow.
	Store(ctx context.Context, ns string, r StoreRequest) (StoreResult, error)
	// Lease acquires, renews or releases the lease of a key. A release sends FrameLease.
	Lease(ctx context.Context, ns string, r LeaseRequest) (LeaseResult, error)
	// Tags returns the counters of tags, in their order. A tag without counter, and with bump each
	// of them, gets one that is greater than all before it; bump also sends FrameTag. A counter is
	// kept for life at least, or for good for the tag "".
	Tags(ctx context.Context, ns string, names []string, life time.Duration, bump bool) ([]uint64, error)
	// Purge removes the records of which a tag has another counter by now, or none, and returns
	// their number. It looks at perSecond keys of the remote in a second, at least 1, until it has
	// seen all or ctx ends. Records of other namespaces stay, as does one that is replaced
	// meanwhile.
	Purge(ctx context.Context, ns string, perSecond int) (int, error)
}

// FrameKind says what happened.
type FrameKind uint8

// The kinds of frames.
const (
	FrameKey     FrameKind = iota + 1 // Key has a new record: Record, or to be fetched if that is nil
	FrameTag                          // the tag Key has the counter Version.Counter
	FrameLease                        // the lease of Key was released without a new record
	FrameTouched                      // Key may have another record, or none, of which no version is known
)

// Frame is a notice of a namespace: of a write, or that a lease is free. Those of one link come one
// after the other.
type Frame struct {
	Kind    FrameKind
	Version Version
	Key     string
	Record  *Record
	// Written is when the record of a FrameKey was stored, by the clock of this process and not
	// later than it really was; zero if that is not known.
	Written time.Time
}

// LinkOptions configures a link.
type LinkOptions struct {
	// Heartbeat is the time between two checks of the link, Timeout that after which a check has
	// failed.
	Heartbeat, Timeout time.Duration
	// Tracked asks for a FrameTouched also for what is done to records by others than Remote's
	// methods, and for records that end. A bus where that cannot be leaves it out.
	Tracked bool
}

// Sink gets the frames of a link, one call at a time. Its methods do not block.
type Sink interface {
	// Frame is called while the link is up.
	Frame(f Frame)
	// Up is called when the subscription is confirmed: every frame of a later write will come, or
	// Down. epoch is the one that the remote's versions have now.
	Up(epoch uint64)
	// Down is called when frames may have been lost. Until Up no frame comes.
	Down(err error)
	// Proof says that all frames of writes before sent have been handed over.
	Proof(sent time.Time)
}

// Bus brings the frames of a namespace.
type Bus interface {
	// Attach begins a link and returns at once. The link comes up, and after each cut comes up
	// again, by itself, until detach is called; when that returns, Sink is not called any more.
	Attach(ns string, o LinkOptions, s Sink) (detach func(), err error)
}

// Codec turns values into the bytes that a Remote keeps. Package codec has some. Codecs must be
// safe for concurrent use.
type Codec[V any] interface {
	// ID is kept with the bytes, and bytes with another ID are not given to Decode.
	ID() byte
	// Append adds the encoding of v to dst.
	Append(dst []byte, v V) ([]byte, error)
	// Decode returns the value and the memory it takes, in bytes. It may keep src. It is called
	// once for each record that comes to a node.
	Decode(src []byte) (v V, bytes int, err error)
}

// KeyCodec turns keys into text for a Remote and back.
type KeyCodec[K comparable] interface {
	Format(k K) string
	Parse(s string) (K, error)
}
