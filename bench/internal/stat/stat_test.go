package stat_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"example.com/quire/bench/internal/stat"
)

func TestQuantile(t *testing.T) {
	xs := []float64{4, 1, 3, 2}
	for _, c := range []struct{ q, want float64 }{{0, 1}, {0.5, 2.5}, {1, 4}, {0.25, 1.75}} {
		if got := stat.Quantile(xs, c.q); got != c.want {
			t.Errorf("Quantile(%v, %v) = %v, want %v", xs, c.q, got, c.want)
		}
	}
	if xs[0] != 4 {
		t.Error("Quantile changed its argument")
	}
	if !math.IsNaN(stat.Median(nil)) {
		t.Error("the median of nothing is not NaN")
	}
}

func TestSpread(t *testing.T) {
	if got := stat.Spread([]float64{8, 9, 10, 11, 12}); math.Abs(got-0.1) > 1e-12 {
		t.Errorf("Spread = %v, want 0.1", got)
	}
	if got := stat.Spread(nil); got != 0 {
		t.Errorf("Spread of nothing = %v, want 0", got)
	}
}

func TestMedianIntervalRanks(t *testing.T) {
	// Ranks from the table of the sign test at 99 %.
	for _, c := range []struct {
		n, lo, hi int
		enough    bool
	}{{7, 1, 7, false}, {8, 1, 8, true}, {15, 3, 13, true}, {20, 4, 17, true}, {50, 16, 35, true}} {
		xs := make([]float64, c.n)
		for i := range xs {
			xs[i] = float64(c.n - i) // 1..n, backwards
		}
		lo, hi, enough := stat.MedianInterval(xs, 0.99)
		if lo != float64(c.lo) || hi != float64(c.hi) || enough != c.enough {
			t.Errorf("n=%d: ranks %v..%v enough=%v, want %d..%d %v", c.n, lo, hi, enough, c.lo, c.hi, c.enough)
		}
	}
}

func TestMedianIntervalCovers(t *testing.T) {
	// A skewed distribution with median ln 2: the interval must hold it in
	// about 99 % of the trials.
	rng := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a fixed stream keeps the test repeatable
	const trials = 4000
	missed := 0
	for range trials {
		xs := make([]float64, 21)
		for i := range xs {
			xs[i] = rng.ExpFloat64()
		}
		if lo, hi, _ := stat.MedianInterval(xs, 0.99); lo > math.Ln2 || hi < math.Ln2 {
			missed++
		}
	}
	if missed > trials*15/1000 {
		t.Errorf("the interval missed the median in %d of %d trials", missed, trials)
	}
}

func TestPairedIgnoresWhatSlowsWholeRounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // a fixed stream keeps the test repeatable
	var a, b []float64
	for range 31 {
		weather := 1 + 4*rng.Float64() // a machine that is up to five times slower in some rounds
		a = append(a, 110*weather*(1+0.01*rng.NormFloat64()))
		b = append(b, 100*weather*(1+0.01*rng.NormFloat64()))
	}
	r := stat.Paired(a, b)
	if r.Verdict() != stat.Slower || math.Abs(r.Median-1.1) > 0.01 {
		t.Errorf("ratio %+v, verdict %s: want about 1.10, slower", r, r.Verdict())
	}
	if !r.Settled() {
		t.Error("an interval wholly beyond the band is not settled")
	}
}

func TestPairedSkipsHoles(t *testing.T) {
	r := stat.Paired([]float64{1, 0, 3, 4}, []float64{1, 2, 0, 2})
	if r.Rounds != 2 || r.Median != 1.5 {
		t.Errorf("got %+v, want 2 rounds with median 1.5", r)
	}
}

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		name    string
		r       stat.Ratio
		want    stat.Verdict
		settled bool
	}{
		{"wholly below", stat.Ratio{Lo: 0.90, Hi: 0.969, Enough: true}, stat.Faster, true},
		{"touches the band", stat.Ratio{Lo: 0.90, Hi: 0.971, Enough: true}, stat.NoDifference, false},
		{"inside the band", stat.Ratio{Lo: 0.98, Hi: 1.02, Enough: true}, stat.NoDifference, true},
		{"wide", stat.Ratio{Lo: 0.5, Hi: 2, Enough: true}, stat.NoDifference, false},
		{"wholly above", stat.Ratio{Lo: 1.031, Hi: 1.2, Enough: true}, stat.Slower, true},
		{"too few", stat.Ratio{Lo: 2, Hi: 3}, stat.TooFew, false},
	} {
		if got := c.r.Verdict(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if got := c.r.Settled(); got != c.settled {
			t.Errorf("%s: settled = %v, want %v", c.name, got, c.settled)
		}
	}
}

func TestUnpaired(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6)) //nolint:gosec // a fixed stream keeps the test repeatable
	sample := func(mid float64) []float64 {
		xs := make([]float64, 25)
		for i := range xs {
			xs[i] = mid * (1 + 0.02*rng.NormFloat64())
		}
		return xs
	}
	old, same, slow := sample(100), sample(100), sample(120)
	if r := stat.Unpaired(same, old); r.Verdict() != stat.NoDifference {
		t.Errorf("equal runs: %+v", r)
	}
	r := stat.Unpaired(slow, old)
	if r.Verdict() != stat.Slower {
		t.Errorf("20 %% slower run: %+v", r)
	}
	if r != stat.Unpaired(slow, old) {
		t.Error("the same two runs compared differently")
	}
	if r := stat.Unpaired(nil, old); r.Enough {
		t.Error("a comparison with nothing counts as enough")
	}
}

func TestFloor(t *testing.T) {
	if got := (stat.Ratio{Lo: 0.98, Hi: 1.01}).Floor(); math.Abs(got-0.02) > 1e-12 {
		t.Errorf("Floor = %v, want 0.02", got)
	}
}
