package fetch

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"example.com/quire/fetch/internal/call"
)

// What an ordinary call takes is one allocation of 1,280 bytes, 8 of which are the allocator's.
func TestFrameFitsIntoItsAllocation(t *testing.T) {
	if size := unsafe.Sizeof(frame{}) + unsafe.Sizeof(wire{}); unsafe.Sizeof(uintptr(0)) == 8 && size > 1272 {
		t.Errorf("a frame with its wire takes %d bytes", size)
	}
}

func TestPartsOfAFrameAreTakenOnce(t *testing.T) {
	f := newFrame(false)
	f.state.Init(t.Context(), time.Now(), f.log())
	f.state.Client = f
	part := func() *attempt {
		return take(&f.state, takenAttempt, func(f *frame) *attempt { return &f.wire.attempt })
	}
	if part() != &f.wire.attempt {
		t.Error("the first attempt is not the frame's")
	}
	if second, third := part(), part(); second == &f.wire.attempt || third == &f.wire.attempt || second == third {
		t.Error("a part was taken twice")
	}
	if take(&f.state, takenBody, func(f *frame) *bounded { return &f.body }) != &f.body {
		t.Error("another part was taken with it")
	}
	without := newFrame(true)
	without.state.Client = without
	for _, st := range []*call.State{nil, &without.state, call.New(t.Context(), time.Now())} {
		if take(st, takenAttempt, func(*frame) *attempt { return &f.wire.attempt }) == &f.wire.attempt {
			t.Error("a part of another call's frame")
		}
	}
}

// Attempts, hops and legs of one call have requests of their own: a transport may keep one.
func TestRequestsOfACallAreItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := make(map[*http.Request]bool)
		base := roundTrip(func(req *http.Request) (*http.Response, error) {
			if seen[req] {
				t.Errorf("request %d is one of those before", len(seen)+1)
			}
			seen[req] = true
			resp := &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{}, Body: http.NoBody, Request: req}
			switch len(seen) {
			case 2:
				resp.StatusCode = http.StatusFound
				resp.Header.Set("Location", "/other")
			case 4:
				resp.StatusCode = http.StatusOK
			}
			return resp, nil
		})
		c, err := New(Config{Base: base})
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.Get(t.Context(), "http://api.example/")
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
		if len(seen) != 4 {
			t.Errorf("%d requests, want 4", len(seen))
		}
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
