package codec_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"log"
	"strings"

	"example.com/quire/cache"
	"example.com/quire/cache/codec"
)

// gzipped compresses what another codec writes. codec/zstd is faster and smaller; this one is for
// peers that speak gzip.
type gzipped[V any] struct {
	plain cache.Codec[V]
	limit int64 // of the decompressed bytes
}

var _ cache.Codec[string] = gzipped[string]{}

func (c gzipped[V]) ID() byte { return 34 }

func (c gzipped[V]) Append(dst []byte, v V) ([]byte, error) {
	b, err := c.plain.Append(nil, v)
	if err != nil {
		return dst, err
	}
	out := bytes.NewBuffer(dst)
	w := gzip.NewWriter(out)
	if _, err := w.Write(b); err != nil {
		return dst, err
	}
	if err := w.Close(); err != nil {
		return dst, err
	}
	return out.Bytes(), nil
}

// Decode reads no more than limit: a few bytes can become gigabytes.
func (c gzipped[V]) Decode(src []byte) (v V, size int, err error) {
	r, err := gzip.NewReader(bytes.NewReader(src))
	if err != nil {
		return v, 0, err
	}
	b, err := io.ReadAll(io.LimitReader(r, c.limit+1))
	switch {
	case err != nil:
		return v, 0, err
	case int64(len(b)) > c.limit:
		return v, 0, codec.ErrTooLarge
	}
	return c.plain.Decode(b)
}

// A codec that compresses JSON with gzip.
func Example_gzip() {
	c := gzipped[string]{codec.JSON[string]{}, 1 << 20}
	b, err := c.Append(nil, strings.Repeat("rain ", 1000))
	if err != nil {
		log.Fatal(err)
	}
	v, _, err := c.Decode(b)
	fmt.Println(len(b) < 100, len(v), err)
	b, err = gzipped[string]{codec.JSON[string]{}, 0}.Append(nil, strings.Repeat("x", 2<<20))
	if err != nil {
		log.Fatal(err)
	}
	_, _, err = c.Decode(b)
	fmt.Println(errors.Is(err, codec.ErrTooLarge))
	// Output:
	// true 5000 <nil>
	// true
}
