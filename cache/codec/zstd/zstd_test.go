package zstd_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	kzstd "github.com/klauspost/compress/zstd"

	"example.com/quire/cache"
	"example.com/quire/cache/codec"
	"example.com/quire/cache/codec/zstd"
)

func raw(tb testing.TB, limit int) *zstd.Codec[[]byte] {
	tb.Helper()
	c, err := zstd.New[[]byte](codec.Raw{}, limit)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

var _ cache.Codec[[]byte] = (*zstd.Codec[[]byte])(nil)

func ExampleNew() {
	c, err := zstd.New(codec.JSON[[]int]{}, 1<<20)
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := c.Append(nil, make([]int, 10_000))
	if err != nil {
		fmt.Println(err)
		return
	}
	v, _, err := c.Decode(b)
	fmt.Println(c.ID(), len(b) < 100, len(v), err)
	// Output: 129 true 10000 <nil>
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	c := raw(t, 0)
	for _, v := range [][]byte{nil, {}, {0}, bytes.Repeat([]byte("ab"), 100), bytes.Repeat([]byte{7}, 1<<20)} {
		b, err := c.Append([]byte("before"), v)
		if err != nil || !bytes.HasPrefix(b, []byte("before")) {
			t.Fatalf("%d bytes: %q, %v", len(v), b[:min(len(b), 20)], err)
		}
		got, size, err := c.Decode(b[6:])
		if err != nil || !bytes.Equal(got, v) || size < len(v) {
			t.Errorf("%d bytes: got %d, size %d, %v", len(v), len(got), size, err)
		}
	}
}

func TestSizesBeyondTheLimitAreRefused(t *testing.T) {
	large, err := raw(t, 0).Append(nil, make([]byte, 1001))
	if err != nil {
		t.Fatal(err)
	}
	c := raw(t, 1000)
	if _, _, err := c.Decode(large); !errors.Is(err, codec.ErrTooLarge) {
		t.Errorf("decode: %v", err)
	}
	if b, err := c.Append(nil, make([]byte, 1001)); !errors.Is(err, codec.ErrTooLarge) || len(b) > 0 {
		t.Errorf("encode: %v", err)
	}
	fits, err := c.Append(nil, make([]byte, 1000))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Decode(fits); err != nil {
		t.Error(err)
	}
	// A second frame is beyond what the first declares.
	if v, _, err := c.Decode(append(fits, fits...)); err == nil {
		t.Errorf("two frames: %d bytes", len(v))
	}
}

func TestFramesThatCannotBe(t *testing.T) {
	c := raw(t, 0)
	good, err := c.Append(nil, bytes.Repeat([]byte("value "), 50))
	if err != nil {
		t.Fatal(err)
	}
	for n := range good {
		if v, _, err := c.Decode(good[:n]); err == nil {
			t.Errorf("cut to %d bytes: %q", n, v)
		}
	}
	var stream bytes.Buffer
	w, err := kzstd.NewWriter(&stream)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := w.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var wrong *codec.Error
	if _, _, err := c.Decode(stream.Bytes()); !errors.As(err, &wrong) {
		t.Errorf("a frame without size: %v", err)
	}
}

type odd struct{ codec.Raw }

func (odd) ID() byte { return 128 }

func TestWrongArguments(t *testing.T) {
	if _, err := zstd.New[[]byte](odd{}, 0); err == nil {
		t.Error("an inner ID of 128")
	}
	if _, err := zstd.New[[]byte](codec.Raw{}, -1); err == nil {
		t.Error("a negative limit")
	}
	c, err := zstd.New(codec.JSON[chan int]{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Append(nil, nil); err == nil {
		t.Error("a channel was encoded")
	}
}

func FuzzDecode(f *testing.F) {
	c := raw(f, 1<<16)
	good, err := c.Append(nil, []byte("value value value value"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		v, _, err := c.Decode(b)
		if err != nil {
			if _, ok := errors.AsType[*codec.Error](err); !ok {
				t.Fatal(err)
			}
			return
		}
		if len(v) > 1<<16 {
			t.Fatalf("%d bytes", len(v))
		}
	})
}
