package hist

import (
	"testing"
	"time"
)

func TestQuantilesAreRightWithinSixPercent(t *testing.T) {
	h, now := new(Hist), time.Now()
	for i := range 10_000 {
		h.Add(time.Duration(i+1)*time.Millisecond, now)
	}
	for i, q := range []float64{0.5, 0.95, 0.99, 1} {
		d, n := h.Quantile(q, now.Add(time.Duration(i)*time.Second))
		want := time.Duration(q*10_000) * time.Millisecond
		if n != 10_000 || d < want*99/100 || d > want*107/100 {
			t.Errorf("%v: %v of %d, want %v", q, d, n, want)
		}
	}
}

func TestBucketsCoverAllDurations(t *testing.T) {
	for d := time.Duration(1); d > 0 && d < 1<<60; d = d*5/4 + 1 {
		b := bucket(d)
		if b < buckets-1 && (value(b) < d || b > 0 && value(b-1) > d) {
			t.Fatalf("%v is in bucket %d, up to %v", d, b, value(b))
		}
	}
	if bucket(-1) != 0 {
		t.Error("a negative duration")
	}
}

func TestOldSamplesAreForgotten(t *testing.T) {
	h, now := new(Hist), time.Now()
	h.Add(time.Second, now)
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{0, 1}, {half, 1}, {half + half/2, 1}, {4 * half, 0}} {
		if _, n := h.Quantile(0.5, now.Add(c.after)); n != c.want {
			t.Errorf("after %v: %d samples, want %d", c.after, n, c.want)
		}
	}
}
