package body

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// stream hands out its text and then blocks until it is closed.
type stream struct {
	mu     sync.Mutex
	rest   string
	end    bool // EOF after rest, rather than silence
	reads  int
	closed chan struct{}
	closes int
}

func newStream(text string, end bool) *stream {
	return &stream{rest: text, end: end, closed: make(chan struct{})}
}

func (s *stream) Read(p []byte) (int, error) {
	s.mu.Lock()
	s.reads++
	if s.rest != "" {
		n := copy(p, s.rest)
		s.rest = s.rest[n:]
		s.mu.Unlock()
		return n, nil
	}
	end := s.end
	s.mu.Unlock()
	if end {
		return 0, io.EOF
	}
	<-s.closed
	return 0, errors.New("closed")
}

func (s *stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closes++; s.closes == 1 {
		close(s.closed)
	}
	return nil
}

func TestDiscard(t *testing.T) {
	for _, c := range []struct {
		name string
		s    *stream
		took time.Duration
		left int
	}{
		{"to its end", newStream("small", true), 0, 0},
		{"too long", newStream(strings.Repeat("x", DiscardBytes*2), true), 0, DiscardBytes - 1},
		{"silent", newStream("small", false), DiscardWait, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.s.closed = make(chan struct{}) // in the bubble
				start := time.Now()
				Discard(c.s)
				if time.Since(start) != c.took || len(c.s.rest) != c.left || c.s.closes != 1 {
					t.Errorf("took %v, %d left, closed %d times", time.Since(start), len(c.s.rest), c.s.closes)
				}
			})
		})
	}
}

func TestDrained(t *testing.T) {
	const limit = 100
	for _, c := range []struct {
		name   string
		text   string
		length int64
		end    bool
		read   int
		took   time.Duration
		left   int
	}{
		{"drained", strings.Repeat("x", 50), -1, true, 0, 0, 0},
		{"declared too long", strings.Repeat("x", 500), 500, true, 0, 0, 500},
		{"the rest is short", strings.Repeat("x", 150), 150, true, 50, 0, 0},
		{"turns out too long", strings.Repeat("x", 500), -1, true, 0, 0, 500 - limit - 1},
		{"silent", "x", -1, false, 1, time.Millisecond, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStream(c.text, c.end)
				d := new(Drained)
				d.Wrap(s, c.length, &Bounds{Bytes: limit, Wait: time.Millisecond})
				if _, err := io.ReadFull(d, make([]byte, c.read)); err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				for range 2 {
					if err := d.Close(); err != nil {
						t.Error(err)
					}
				}
				if time.Since(start) != c.took || len(s.rest) != c.left || s.closes != 1 {
					t.Errorf("took %v, %d left, closed %d times", time.Since(start), len(s.rest), s.closes)
				}
			})
		})
	}
}

func TestDrainedCloseEndsARead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStream("", false)
		d := new(Drained)
		d.Wrap(s, -1, &Bounds{Bytes: 100, Wait: time.Hour})
		var err error
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, err = d.Read(make([]byte, 1))
		}()
		synctest.Wait()
		start := time.Now()
		if cerr := d.Close(); cerr != nil {
			t.Error(cerr)
		}
		<-done
		if err == nil || time.Since(start) != 0 || s.reads != 1 {
			t.Errorf("%v after %v, %d reads", err, time.Since(start), s.reads)
		}
	})
}

// Two that read at once would each miss what the other got, and a body may hold a lock as it waits.
func TestDrainedIsNotReadBesideItsClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStream("", false)
		d := new(Drained)
		d.Wrap(s, -1, &Bounds{Bytes: 100, Wait: time.Minute})
		done := make(chan error)
		go func() { done <- d.Close() }()
		synctest.Wait() // Close reads, and waits
		start := time.Now()
		n, err := d.Read(make([]byte, 1))
		if n != 0 || !errors.Is(err, http.ErrBodyReadAfterClose) || time.Since(start) != 0 || s.reads != 1 {
			t.Errorf("%d bytes, %v after %v, %d reads", n, err, time.Since(start), s.reads)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestDrainedAfterTheEnd(t *testing.T) {
	s := newStream("x", true)
	d := new(Drained)
	d.Wrap(s, 1, &Bounds{Bytes: 100, Wait: time.Hour})
	if _, err := io.ReadAll(d); err != nil {
		t.Fatal(err)
	}
	reads := s.reads
	if err := d.Close(); err != nil || s.reads != reads || s.closes != 1 {
		t.Errorf("%v, %d reads more", err, s.reads-reads)
	}
}
