// Package zstd compresses the output of another codec of a cache as zstd frames (RFC 8878).
package zstd

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"example.com/quire/cache/codec"
)

var errNoSize = errors.New("frame without the size of its content")

// Inner is the codec that is wrapped. Its ID is at most 127.
type Inner[V any] interface {
	ID() byte
	Append(dst []byte, v V) ([]byte, error)
	Decode(src []byte) (v V, size int, err error)
}

// Codec wraps another codec. Make one with New. It may be used concurrently.
type Codec[V any] struct {
	inner Inner[V]
	limit int
	enc   *zstd.Encoder
	dec   *zstd.Decoder
}

// New wraps inner. limit bounds what is compressed and what comes of decompressing, in bytes; 0 is
// codec.DefaultLimit. Decode takes that much memory at most, before it calls inner.
func New[V any](inner Inner[V], limit int) (*Codec[V], error) {
	if id := inner.ID(); id > 127 {
		return nil, fmt.Errorf("codec zstd: inner codec has ID %d, want at most 127", id)
	}
	if limit < 0 {
		return nil, fmt.Errorf("codec zstd: limit of %d bytes, want 0 or more", limit)
	}
	limit = cmp.Or(limit, codec.DefaultLimit)
	// Single segments always declare the size of the content, zero frames also that of nothing.
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithSingleSegment(true), zstd.WithZeroFrames(true))
	if err != nil {
		return nil, fmt.Errorf("codec zstd: %w", err)
	}
	// The window of a frame has 1 KiB at least; what comes of it is bounded by the capacity that
	// Decode gives.
	memory := uint64(max(limit, 64<<10))
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxMemory(memory))
	if err != nil {
		return nil, fmt.Errorf("codec zstd: %w", err)
	}
	return &Codec[V]{inner: inner, limit: limit, enc: enc, dec: dec}, nil
}

// ID is that of the inner codec and 128.
func (c *Codec[V]) ID() byte { return c.inner.ID() | 128 }

// Append adds the compressed encoding of v to dst.
func (c *Codec[V]) Append(dst []byte, v V) ([]byte, error) {
	plain, err := c.inner.Append(nil, v)
	if err != nil {
		return dst, err
	}
	if len(plain) > c.limit {
		return dst, c.tooLarge("encode", uint64(len(plain)))
	}
	return c.enc.EncodeAll(plain, dst), nil
}

// Decode reads a value from the one frame in src. A frame that does not declare its size, or
// declares more than the limit, is refused before anything is decompressed.
func (c *Codec[V]) Decode(src []byte) (v V, size int, err error) {
	var h zstd.Header
	if err := h.Decode(src); err != nil {
		return v, 0, &codec.Error{Op: "decode", Codec: "zstd", Err: err}
	}
	if !h.HasFCS {
		return v, 0, &codec.Error{Op: "decode", Codec: "zstd", Err: errNoSize}
	}
	if h.FrameContentSize > uint64(c.limit) { //nolint:gosec // G115: positive
		return v, 0, c.tooLarge("decode", h.FrameContentSize)
	}
	plain, err := c.dec.DecodeAll(src, make([]byte, 0, h.FrameContentSize))
	if err != nil {
		return v, 0, &codec.Error{Op: "decode", Codec: "zstd", Err: err}
	}
	return c.inner.Decode(plain)
}

func (c *Codec[V]) tooLarge(op string, n uint64) error {
	return &codec.Error{Op: op, Codec: "zstd", Err: fmt.Errorf("%d bytes: %w of %d: raise the limit of New", n, codec.ErrTooLarge, c.limit)}
}
