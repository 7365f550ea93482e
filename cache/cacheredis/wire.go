package cacheredis

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"time"

	"example.com/quire/cache"
)

// Wire form 1. All integers are big-endian.
//
// A record is a header of 64 bytes, the tags (1 byte length, name, 8 bytes counter each), the
// namespace and key the record belongs to, and the payload:
//
//	 0  2  51 45            24  8  stored at, microseconds of the server's clock
//	 2  1  wire form        32  8  write id
//	 3  1  state            40  6  fresh for, milliseconds
//	 4  1  codec            46  6  removed after, milliseconds
//	 5  1  number of tags   52  4  load time, microseconds, saturating
//	 6  2  where the payload begins
//	 8  8  epoch            56  4  length of the payload
//	16  8  counter          60  4  CRC-32C of all that follows the header
//
// The server fills in epoch, counter and time of storage. The key stands in the record so that a
// record is never given out under another key, whatever puts it there.
//
// A frame is a header of 32 bytes and the key or tag, and, for a write, the record if it is pushed,
// or else the time of storage alone, as in the record:
//
//	 0  2  51 42            12  8  counter
//	 2  1  wire form        20  8  write id
//	 3  1  kind             28  2  length of the key
//	 4  8  epoch            30  2  zero
//
// A frame of a later wire form is read as one without a record, and one of a kind that is not known
// as a notice that its key may have changed: what stands here keeps its place.

const (
	wireForm     = 1
	recordHeader = 64
	frameHeader  = 32
	maxKey       = 1 << 10
	maxTags      = 17 // 16, and the tag "" that stands for the namespace
	maxTag       = 128
	maxPayload   = 512 << 20
	maxMillis    = math.MaxInt64 / 1_000_000 // what a time.Duration holds; less than 2^44
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errWire = errors.New("not a record or frame of this package")

func malformed(what string, got any) error { return fmt.Errorf("%w: %s %v", errWire, what, got) }

// ofKey says whether owner, which is what a record says about whose it is, is that of key in ns.
func ofKey(owner []byte, ns, key string) bool {
	n := len(ns)
	return len(owner) == n+1+len(key) && string(owner[:n]) == ns && owner[n] == 0 && string(owner[n+1:]) == key
}

func putUint48(b []byte, v uint64) {
	binary.BigEndian.PutUint16(b, uint16(v>>32)) //nolint:gosec // G115: 48 bits, checked by the caller
	binary.BigEndian.PutUint32(b[2:], uint32(v&math.MaxUint32))
}

func uint48(b []byte) uint64 {
	return uint64(binary.BigEndian.Uint16(b))<<32 | uint64(binary.BigEndian.Uint32(b[2:]))
}

// millis is d in whole milliseconds, at least one.
func millis(d time.Duration) (uint64, error) {
	ms := d.Milliseconds()
	if d <= 0 {
		return 0, fmt.Errorf("life of %v: want more than 0", d)
	}
	return uint64(max(ms, 1)), nil
}

// appendRecord writes r without what the server fills in.
func appendRecord(dst []byte, ns, key string, r *cache.Record) ([]byte, error) {
	fresh, err := millis(r.Fresh)
	if err != nil {
		return dst, err
	}
	remove, err := millis(r.Remove)
	if err != nil {
		return dst, err
	}
	if len(key) > maxKey || len(r.Payload) > maxPayload || len(r.Tags) > maxTags {
		return dst, fmt.Errorf("key of %d bytes, payload of %d, %d tags: %w", len(key), len(r.Payload), len(r.Tags), cache.ErrTooLarge)
	}
	if r.State == cache.RecordNone || r.State > cache.RecordFailed {
		return dst, malformed("state", r.State)
	}
	start := len(dst)
	dst = append(dst, make([]byte, recordHeader)...)
	for _, t := range r.Tags {
		if len(t.Name) > maxTag {
			return dst[:start], fmt.Errorf("tag of %d bytes: %w", len(t.Name), cache.ErrTooLarge)
		}
		dst = append(dst, byte(len(t.Name))) //nolint:gosec // G115: at most maxTag
		dst = append(dst, t.Name...)
		dst = binary.BigEndian.AppendUint64(dst, t.Counter)
	}
	dst = append(append(append(dst, ns...), 0), key...)
	body := len(dst) - start
	dst = append(dst, r.Payload...)
	h := dst[start:]
	h[0], h[1], h[2], h[3], h[4], h[5] = 'Q', 'E', wireForm, byte(r.State), r.Codec, byte(len(r.Tags)) //nolint:gosec // G115: at most maxTags
	binary.BigEndian.PutUint16(h[6:], uint16(body))                                                    //nolint:gosec // G115: at most 64 + 17*137 + 1089
	binary.BigEndian.PutUint64(h[32:], r.Version.WriteID)
	putUint48(h[40:], fresh)
	putUint48(h[46:], remove)
	took := min(max(r.LoadTime.Microseconds(), 0), math.MaxUint32)
	binary.BigEndian.PutUint32(h[52:], uint32(took))
	binary.BigEndian.PutUint32(h[56:], uint32(len(r.Payload))) //nolint:gosec // G115: at most maxPayload
	binary.BigEndian.PutUint32(h[60:], crc32.Checksum(h[recordHeader:], castagnoli))
	return dst, nil
}

// parseHeader reads the first 64 bytes of a record. now is the server's time in microseconds.
func parseHeader(b []byte, now int64) (r cache.Record, err error) {
	if len(b) < recordHeader || b[0] != 'Q' || b[1] != 'E' {
		return r, malformed("record of length", len(b))
	}
	if b[2] != wireForm {
		return r, malformed("wire form", b[2])
	}
	r.State = cache.RecordState(b[3])
	if r.State == cache.RecordNone || r.State > cache.RecordFailed {
		return cache.Record{}, malformed("state", b[3])
	}
	r.Codec = b[4]
	r.Version = version(b)
	if stored := binary.BigEndian.Uint64(b[24:]); stored > math.MaxInt64 {
		return cache.Record{}, malformed("time", stored)
	}
	r.Age = age(b[24:], now)
	fresh, remove := uint48(b[40:]), uint48(b[46:])
	if min(fresh, remove) == 0 || max(fresh, remove) > maxMillis {
		return cache.Record{}, malformed("life", max(fresh, remove))
	}
	r.Fresh = time.Duration(fresh) * time.Millisecond   //nolint:gosec // G115: at most maxMillis
	r.Remove = time.Duration(remove) * time.Millisecond //nolint:gosec // G115: at most maxMillis
	r.LoadTime = time.Duration(binary.BigEndian.Uint32(b[52:])) * time.Microsecond
	return r, nil
}

// age is the time since that in b, of the server's clock; 0 for what it cannot be. Differences
// beyond what a Duration holds are cut: such a record is not fresh in any case.
func age(b []byte, now int64) time.Duration {
	stored := min(binary.BigEndian.Uint64(b), math.MaxInt64)
	return time.Duration(min(max(now-int64(stored), 0), math.MaxInt64/1000)) * time.Microsecond
}

// version reads the version in a header of at least 40 bytes.
func version(b []byte) cache.Version {
	return cache.Version{
		Epoch:   binary.BigEndian.Uint64(b[8:]),
		Counter: binary.BigEndian.Uint64(b[16:]),
		WriteID: binary.BigEndian.Uint64(b[32:]),
	}
}

// parseRecord reads a whole record, which must be that of key in ns. It keeps b.
func parseRecord(b []byte, ns, key string, now int64) (cache.Record, error) {
	r, err := parseHeader(b, now)
	if err != nil {
		return cache.Record{}, err
	}
	body := int(binary.BigEndian.Uint16(b[6:]))
	if body < recordHeader || body > len(b) || int64(len(b)-body) != int64(binary.BigEndian.Uint32(b[56:])) {
		return cache.Record{}, malformed("length", len(b))
	}
	if crc := crc32.Checksum(b[recordHeader:], castagnoli); crc != binary.BigEndian.Uint32(b[60:]) {
		return cache.Record{}, malformed("checksum", crc)
	}
	n := int(b[5])
	if n > maxTags {
		return cache.Record{}, malformed("number of tags", n)
	}
	rest := b[recordHeader:body]
	if n > 0 {
		r.Tags = make([]cache.RecordTag, n)
	}
	for i := range r.Tags {
		if len(rest) == 0 || len(rest) < 1+int(rest[0])+8 {
			return cache.Record{}, malformed("tag", i)
		}
		name := 1 + int(rest[0])
		r.Tags[i] = cache.RecordTag{Name: string(rest[1:name]), Counter: binary.BigEndian.Uint64(rest[name:])}
		rest = rest[name+8:]
	}
	if !ofKey(rest, ns, key) {
		return cache.Record{}, malformed("record of another key,", len(rest))
	}
	r.Payload = b[body:]
	return r, nil
}

// appendFrame writes the frame of a write without what the server fills in.
func appendFrame(dst []byte, kind cache.FrameKind, writeID uint64, key string) []byte {
	dst = append(dst, 'Q', 'B', wireForm, byte(kind))
	dst = append(dst, make([]byte, 16)...)
	dst = binary.BigEndian.AppendUint64(dst, writeID)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(key))) //nolint:gosec // G115: keys have 1 KiB at most
	dst = append(dst, 0, 0)
	return append(dst, key...)
}

// kindEpoch is the frame of a new epoch. It ends the session of a link and is not handed over.
const kindEpoch cache.FrameKind = 6

// parseFrame reads a frame of ns.
func parseFrame(b []byte, ns string, now int64) (f cache.Frame, err error) {
	if len(b) < frameHeader || b[0] != 'Q' || b[1] != 'B' || b[2] == 0 {
		return f, malformed("frame of length", len(b))
	}
	n := int(binary.BigEndian.Uint16(b[28:]))
	if n > maxKey || len(b) < frameHeader+n {
		return f, malformed("key of length", n)
	}
	f = cache.Frame{
		Kind: cache.FrameKind(b[3]),
		Version: cache.Version{
			Epoch:   binary.BigEndian.Uint64(b[4:]),
			Counter: binary.BigEndian.Uint64(b[12:]),
			WriteID: binary.BigEndian.Uint64(b[20:]),
		},
		Key: string(b[frameHeader : frameHeader+n]),
	}
	switch f.Kind {
	case cache.FrameKey, cache.FrameTag, cache.FrameLease, kindEpoch:
	default:
		if b[2] <= wireForm {
			return cache.Frame{}, malformed("kind", b[3])
		}
		f.Kind = cache.FrameTouched // whatever became of the key, it is compared
	}
	record := b[frameHeader+n:]
	if f.Kind != cache.FrameKey || b[2] > wireForm {
		return f, nil
	}
	if len(record) == 8 {
		f.Written = time.Now().Add(-age(record, now))
		return f, nil
	}
	// A record that cannot be read leaves the notice that there is one.
	if r, err := parseRecord(record, ns, f.Key, now); err == nil && r.Version == f.Version {
		f.Record, f.Written = &r, time.Now().Add(-r.Age)
	}
	return f, nil
}
