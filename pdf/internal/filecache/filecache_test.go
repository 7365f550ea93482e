package filecache_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"example.com/quire/pdf/internal/filecache"
)

// upper makes values that tell what they are made of.
func upper(ask int, calls *atomic.Int64) func([]byte) (string, int64, error) {
	return func(data []byte) (string, int64, error) {
		calls.Add(1)
		return fmt.Sprintf("%d %s", ask, bytes.ToUpper(data)), int64(len(data)), nil
	}
}

func TestAValueIsMadeOnce(t *testing.T) {
	c := filecache.New[int, string](1 << 20)
	var calls atomic.Int64
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			data := []byte("file") // each its own memory
			v, err := c.Get(t.Context(), data, i%2, upper(i%2, &calls))
			if want := fmt.Sprint(i%2, " FILE"); v != want || err != nil {
				t.Errorf("%q, %v, want %q", v, err, want)
			}
			copy(data, "lied") // the document is made
		})
	}
	wg.Wait()
	if n := calls.Load(); n != 2 {
		t.Errorf("made %d times, want once for each ask", n)
	}
}

// TestFilesAreKnownByAllOfTheirBytes: by many goroutines, of a cache that is too small for all.
func TestFilesAreKnownByAllOfTheirBytes(t *testing.T) {
	c := filecache.New[int, string](400)
	var calls atomic.Int64
	var wg sync.WaitGroup
	for g := range uint64(4) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(g, 1)) //nolint:gosec // G404: test data
			var data []byte
			for range 5000 {
				data = append(data[:0], strings.Repeat("x", r.IntN(20))...)
				data = append(data, "abcdefghijklmnopqrst"[r.IntN(20)])
				ask := r.IntN(2)
				v, err := c.Get(t.Context(), data, ask, upper(ask, &calls))
				if want := fmt.Sprintf("%d %s", ask, bytes.ToUpper(data)); v != want || err != nil {
					t.Errorf("%q, %v, want %q", v, err, want)
				}
			}
		})
	}
	wg.Wait()
	if n := calls.Load(); n < 800 || n >= 20_000 {
		t.Errorf("%d of 20000 were made", n)
	}
}

// TestFilesThatDifferInOneByteAreEachMadeOnce: wherever the byte lies, of files of any length.
func TestFilesThatDifferInOneByteAreEachMadeOnce(t *testing.T) {
	for _, n := range []int{1, 63, 64, 511, 512, 513, 1000, 5000} {
		c := filecache.New[int, string](64 << 20)
		var calls atomic.Int64
		data := bytes.Repeat([]byte("a"), n)
		step := max(1, n/200)
		for range 2 {
			for i := 0; i < n; i += step {
				data[i] = 'b'
				if v, err := c.Get(t.Context(), data, 0, upper(0, &calls)); v != "0 "+string(bytes.ToUpper(data)) || err != nil {
					t.Fatalf("byte %d of %d: %v, another value", i, n, err)
				}
				data[i] = 'a'
			}
		}
		if want := int64((n + step - 1) / step); calls.Load() != want {
			t.Errorf("%d bytes: made %d times, want %d", n, calls.Load(), want)
		}
	}
}

func TestOnlyWhatFitsIsKept(t *testing.T) {
	for _, tt := range []struct {
		most  int64
		data  string
		calls int64
	}{{8, "file", 1}, {7, "file", 2}, {3, "file", 2}, {0, "f", 2}, {-1, "", 2}} {
		c := filecache.New[int, string](tt.most)
		var calls atomic.Int64
		for range 2 {
			if v, err := c.Get(t.Context(), []byte(tt.data), 0, upper(0, &calls)); v != "0 "+strings.ToUpper(tt.data) || err != nil {
				t.Errorf("%+v: %q, %v", tt, v, err)
			}
		}
		if calls.Load() != tt.calls {
			t.Errorf("%+v: made %d times", tt, calls.Load())
		}
	}
	// What was used last stays.
	c := filecache.New[int, string](24) // three files of four bytes
	var calls atomic.Int64
	for _, name := range []string{"one ", "two ", "thre", "one ", "four", "one "} {
		if _, err := c.Get(t.Context(), []byte(name), 0, upper(0, &calls)); err != nil {
			t.Error(err)
		}
	}
	if n := calls.Load(); n != 4 {
		t.Errorf("made %d times, want 4", n)
	}
}

// TestAnErrorIsItsCallersAlone: who waits for a value that cannot be made makes it; whose context
// ends waits no longer; a panic leaves nobody waiting.
func TestAnErrorIsItsCallersAlone(t *testing.T) {
	c := filecache.New[int, string](1 << 10)
	fault := errors.New("limit")
	begun, go1 := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is lost")
			}
		}()
		_, _ = c.Get(t.Context(), []byte("f"), 0, func([]byte) (string, int64, error) {
			close(begun)
			<-go1
			panic("decoder")
		})
	})
	<-begun
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Get(ended, []byte("f"), 0, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("waits for ever: %v", err)
	}
	wg.Go(func() {
		v, err := c.Get(t.Context(), []byte("f"), 0, func([]byte) (string, int64, error) { return "made", 4, nil })
		if v != "made" || err != nil {
			t.Errorf("who waited: %q, %v", v, err)
		}
	})
	close(go1)
	wg.Wait()
	if _, err := c.Get(t.Context(), []byte("g"), 0, func([]byte) (string, int64, error) { return "", 0, fault }); !errors.Is(err, fault) {
		t.Error(err)
	}
	if v, err := c.Get(t.Context(), []byte("g"), 0, func([]byte) (string, int64, error) { return "made", 4, nil }); v != "made" || err != nil {
		t.Errorf("an error is kept: %q, %v", v, err)
	}
}
