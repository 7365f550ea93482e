package retry

import (
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"example.com/quire/fetch/fetchtest"
)

func TestFullJitterIsUniform(t *testing.T) {
	// The backoff is pure, so the draws are the layer's: they are taken through a policy that
	// records them.
	rec := &recorder{}
	p := Policy{MaxAttempts: 10_001, Backoff: rec}
	send := layer(t, p, fetchtest.Script(fetchtest.Step{}.Status(503)))
	resp, _, err := send.do(request(t, "GET", nil))
	if err != nil {
		t.Fatal(err)
	}
	closeResp(t, resp)
	slices.Sort(rec.draws)
	n := len(rec.draws)
	if n < 10_000 {
		t.Fatalf("%d draws", n)
	}
	var d float64 // Kolmogorov-Smirnov distance to the uniform distribution
	for i, x := range rec.draws {
		w := float64(Exponential{Base: time.Second, Max: time.Second}.Next(0, 1, x)) / float64(time.Second)
		d = max(d, math.Abs(w-float64(i)/float64(n)), math.Abs(w-float64(i+1)/float64(n)))
	}
	if limit := 3 / math.Sqrt(float64(n)); d > limit { // a right one exceeds it once in 30 million runs
		t.Errorf("distance %v, want at most %v", d, limit)
	}
}

type recorder struct{ draws []float64 }

func (r *recorder) Next(_ time.Duration, _ int, u float64) time.Duration {
	r.draws = append(r.draws, u)
	return 0
}

func TestBackoffFormulas(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		name    string
		b       Backoff
		prev    time.Duration
		attempt int
		u       float64
		want    time.Duration
	}{
		{"first", Exponential{Jitter: None}, 0, 1, 0, 100 * time.Millisecond},
		{"third", Exponential{Jitter: None}, 0, 3, 0, 400 * time.Millisecond},
		{"bounded", Exponential{Jitter: None}, 0, 20, 0, 10 * s},
		{"attempt 1000", Exponential{Jitter: None, Factor: 10}, 0, 1000, 0, 10 * s},
		{"attempt 0", Exponential{Jitter: None}, 0, 0, 0, 100 * time.Millisecond},
		{"full", Exponential{Base: s}, 0, 1, 0.25, s / 4},
		{"equal", Exponential{Base: s, Jitter: Equal}, 0, 1, 0.5, 750 * time.Millisecond},
		{"fraction", Exponential{Base: s, Jitter: Fraction(0.2)}, 0, 1, 0.5, 900 * time.Millisecond},
		{"fraction of nothing", Exponential{Base: s, Jitter: Fraction(0)}, 0, 1, 0.5, s},
		{"base above the default bound", Exponential{Base: 20 * s, Jitter: None}, 0, 1, 0, 20 * s},
		{"bound below the default base", Exponential{Max: time.Millisecond, Jitter: None}, 0, 1, 0, time.Millisecond},
		{"the largest bound", Exponential{Max: math.MaxInt64, Jitter: None}, 0, 1000, 0, longest},
		{"decorrelated, the largest bound", Decorrelated{Max: math.MaxInt64}, math.MaxInt64, 1000, 0.99, longest},
		{"decorrelated, first", Decorrelated{Base: s}, 0, 1, 0.5, 2 * s},
		{"decorrelated, after 2 s", Decorrelated{Base: s}, 2 * s, 2, 0.5, 3500 * time.Millisecond},
		{"decorrelated, bounded", Decorrelated{Base: s}, 10 * s, 1000, 0.99, 10 * s},
	} {
		if got := c.b.Next(c.prev, c.attempt, c.u); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestDecorrelatedDependsOnThisCallsDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var prevs []time.Duration
		send := layer(t, Policy{MaxAttempts: 4, Backoff: backoffFunc(func(prev time.Duration) time.Duration {
			prevs = append(prevs, prev)
			return prev + time.Second
		})}, fetchtest.Script(fetchtest.Step{}.Status(503)))
		for range 2 {
			resp, _, err := send.do(request(t, "GET", nil))
			if err != nil {
				t.Fatal(err)
			}
			closeResp(t, resp)
		}
		// Asked after the fourth attempt too, in vain; the second call starts anew.
		want := []time.Duration{0, 1e9, 2e9, 3e9, 0, 1e9, 2e9, 3e9}
		if !slices.Equal(prevs, want) {
			t.Errorf("previous delays %v, want %v", prevs, want)
		}
	})
}

type backoffFunc func(time.Duration) time.Duration

func (f backoffFunc) Next(prev time.Duration, _ int, _ float64) time.Duration { return f(prev) }
