// Package stat holds the statistics of the harness: medians with an
// order-statistic interval, ratios of paired rounds, and the verdict over them.
//
// No distribution is assumed anywhere. Timings on a shared machine have a long
// right tail, so means and Student intervals mislead; the median of the paired
// ratios and its sign-test interval do not.
package stat

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Confidence is the coverage of every interval that the harness prints.
const Confidence = 0.99

// Band is the half width of the zone around 1 inside which two contestants
// count as equal: a verdict needs the whole interval beyond it.
const Band = 0.03

// Median returns the middle of xs, or NaN of none. It does not change xs.
func Median(xs []float64) float64 { return Quantile(xs, 0.5) }

// Quantile returns the q-quantile of xs by linear interpolation between order
// statistics, or NaN of none. It does not change xs.
func Quantile(xs []float64, q float64) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(xs))
	at := q * float64(len(s)-1)
	lo := int(math.Floor(at))
	hi := min(lo+1, len(s)-1)
	return s[lo] + (at-float64(lo))*(s[hi]-s[lo])
}

// Spread returns half the distance between the quartiles as a share of the
// median: the ± that stands beside a median in a table.
func Spread(xs []float64) float64 {
	m := Median(xs)
	if len(xs) == 0 || m == 0 {
		return 0
	}
	return (Quantile(xs, 0.75) - Quantile(xs, 0.25)) / 2 / m
}

// MedianInterval returns the interval of order statistics that holds the true
// median with at least the given confidence (the sign test turned round). With
// too few values for that confidence it is the whole range and enough is false.
func MedianInterval(xs []float64, confidence float64) (lo, hi float64, enough bool) {
	n := len(xs)
	if n == 0 {
		return math.NaN(), math.NaN(), false
	}
	s := slices.Sorted(slices.Values(xs))
	// The rank k is the largest for which the two tails, P(B < k) each with
	// B binomial(n, 1/2), stay within what the confidence leaves over.
	k, tail := 0, 0.0
	for k < n/2 {
		next := tail + binomialHalf(n, k)
		if 2*next > 1-confidence {
			break
		}
		tail = next
		k++
	}
	if k == 0 {
		return s[0], s[n-1], false
	}
	return s[k-1], s[n-k], true
}

// binomialHalf is the chance of k heads in n tosses.
func binomialHalf(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return math.Exp(a - b - c - float64(n)*math.Ln2)
}

// Ratio is one cost as a share of another, with its interval.
type Ratio struct {
	Median float64 `json:"median"`
	Lo     float64 `json:"lo"`
	Hi     float64 `json:"hi"`
	Rounds int     `json:"rounds"`
	// Enough is false when there were too few rounds for the confidence: no
	// verdict is given then.
	Enough bool `json:"enough"`
}

// Paired returns the ratio of a to b from rounds in which both were measured
// side by side: the median of the rounds' own ratios. Whatever slows a whole
// round falls out of it. Rounds in which either is not positive do not count.
func Paired(a, b []float64) Ratio {
	rs := make([]float64, 0, len(a))
	for i := range min(len(a), len(b)) {
		if a[i] > 0 && b[i] > 0 {
			rs = append(rs, a[i]/b[i])
		}
	}
	lo, hi, enough := MedianInterval(rs, Confidence)
	return Ratio{Median: Median(rs), Lo: lo, Hi: hi, Rounds: len(rs), Enough: enough}
}

// Unpaired returns the ratio of the median of a to the median of b from runs
// made at different times, with a bootstrap interval (2,000 resamplings from a
// fixed seed, so that the same two runs always compare alike).
func Unpaired(a, b []float64) Ratio {
	if len(a) == 0 || len(b) == 0 {
		return Ratio{Median: math.NaN(), Lo: math.NaN(), Hi: math.NaN()}
	}
	const resamplings = 2000
	rng := rand.New(rand.NewPCG(uint64(len(a)), uint64(len(b)))) //nolint:gosec // a reproducible stream is wanted, nothing secret depends on it
	draw := func(xs, into []float64) float64 {
		for i := range into {
			into[i] = xs[rng.IntN(len(xs))]
		}
		return Median(into)
	}
	sa, sb := make([]float64, len(a)), make([]float64, len(b))
	rs := make([]float64, resamplings)
	for i := range rs {
		rs[i] = draw(a, sa) / draw(b, sb)
	}
	tail := (1 - Confidence) / 2
	return Ratio{
		Median: Median(a) / Median(b),
		Lo:     Quantile(rs, tail),
		Hi:     Quantile(rs, 1-tail),
		Rounds: min(len(a), len(b)),
		Enough: min(len(a), len(b)) >= 8,
	}
}

// Verdict is what a ratio lets one say.
type Verdict string

// The verdicts; they speak of the first of the two contestants.
const (
	Faster       Verdict = "faster"
	Slower       Verdict = "slower"
	NoDifference Verdict = "no difference"
	TooFew       Verdict = "too few rounds"
)

// Verdict judges the ratio: faster or slower only when the whole interval lies
// beyond the band.
func (r Ratio) Verdict() Verdict {
	switch {
	case !r.Enough:
		return TooFew
	case r.Hi < 1-Band:
		return Faster
	case r.Lo > 1+Band:
		return Slower
	default:
		return NoDifference
	}
}

// Settled reports whether more rounds could still change the verdict in a way
// that matters: the interval lies wholly beyond the band, or wholly inside it.
func (r Ratio) Settled() bool {
	if !r.Enough {
		return false
	}
	return r.Hi < 1-Band || r.Lo > 1+Band || (r.Lo > 1-Band && r.Hi < 1+Band)
}

// Floor is the largest distance of the interval from 1: for two runs of one and
// the same thing, the noise floor.
func (r Ratio) Floor() float64 { return max(math.Abs(r.Lo-1), math.Abs(r.Hi-1)) }
