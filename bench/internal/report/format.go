// Package report words the figures of a run, for the terminal and for the pages
// under docs/benchmarks/, which it generates from kept runs.
package report

import (
	"fmt"
	"math"
	"strings"
	"time"

	"example.com/quire/bench/internal/saved"
	"example.com/quire/bench/internal/stat"
)

// Row cells of a contestant; empty where there is no figure.
type Row struct {
	CPU, Spread, Time, Rate, P50, P99, Allocs, Bytes, Output, RSS string
}

// Cells words a timed contestant's figures in its row. What several processors make says how often
// in a second, too.
func Cells(r saved.Row, c saved.Contestant) Row {
	word := func(measure string) string {
		v, known := c.Value(measure)
		if !known {
			return ""
		}
		return Amount(measure, v)
	}
	spread := ""
	if len(c.CPU) > 0 {
		spread = fmt.Sprintf("%.1f %%", 100*stat.Spread(c.CPU))
	}
	rate := ""
	if wall, known := c.Value("time"); known && wall > 0 {
		rate = fmt.Sprintf("%.0f", float64(time.Second)/wall)
	}
	took := word("time")
	if r.Procs > 1 && r.Server == "" {
		took += " (" + rate + "/s)"
	}
	return Row{
		Rate: rate,
		CPU:  word("cpu"), Spread: spread, Time: took, P50: word("p50"), P99: word("p99"),
		Allocs: word("allocs"), Bytes: word("bytes"), Output: word("output"), RSS: word("rss"),
	}
}

// Label is a contestant's name with its version.
func Label(c saved.Contestant) string {
	if c.Version == "" {
		return c.Name
	}
	return c.Name + " " + c.Version
}

// Amount words one value of a measure.
func Amount(measure string, v float64) string {
	switch measure {
	case "allocs":
		return count(v)
	case "bytes", "output", "rss":
		return size(v)
	default:
		return duration(v)
	}
}

func count(v float64) string {
	if v == math.Trunc(v) || v >= 100 || v < 0.005 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func size(v float64) string {
	switch {
	case v >= 10<<20:
		return fmt.Sprintf("%.0f MiB", v/(1<<20))
	case v >= 10<<10:
		return fmt.Sprintf("%.1f KiB", v/(1<<10))
	default:
		return fmt.Sprintf("%.0f B", v)
	}
}

func duration(ns float64) string {
	for _, u := range []struct {
		unit string
		ns   float64
	}{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}} {
		if ns >= u.ns {
			return three(ns/u.ns) + " " + u.unit
		}
	}
	return three(ns) + " ns"
}

// three writes three significant digits.
func three(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}

// Ratio words a ratio.
func Ratio(v float64) string {
	switch {
	case v >= 1e6:
		return "against 0"
	case v < 0.1:
		return fmt.Sprintf("%.4f", v)
	default:
		return fmt.Sprintf("%.3f", v)
	}
}

// Interval words a ratio's interval.
func Interval(r stat.Ratio) string { return Ratio(r.Lo) + " .. " + Ratio(r.Hi) }

// GoalText words what a goal asks.
func GoalText(g saved.Goal) string {
	if g.Against == "" {
		return fmt.Sprintf("%s <= %s", g.Of, Amount(g.Of, g.AtMost))
	}
	text := fmt.Sprintf("%s <= %.4gx %s", g.Of, g.AtMost, g.Against)
	if g.Peer != "" && g.Peer != g.Against {
		text += " (" + g.Peer + ")"
	}
	if len(g.Scale) == 2 {
		text += ", divided by the ratio of " + g.Scale[0] + " to " + g.Scale[1]
	}
	return text
}

// GoalOutcome words how a goal came out.
func GoalOutcome(g saved.Goal) string {
	switch {
	case g.State == saved.Open:
		return "open: no figure for one of the two"
	case g.Against == "":
		return fmt.Sprintf("%s: %s", g.State, Amount(g.Of, g.Ratio.Median))
	case g.Ratio.Lo == g.Ratio.Hi:
		return fmt.Sprintf("%s: %s", g.State, Ratio(g.Ratio.Median))
	default:
		return fmt.Sprintf("%s: %s [%s]", g.State, Ratio(g.Ratio.Median), Interval(g.Ratio))
	}
}

// Quality words how far a row can be trusted.
func Quality(r saved.Row) string {
	var parts []string
	if r.AA != nil {
		parts = append(parts, fmt.Sprintf("A/A control %s [%s], noise floor %.1f %%", Ratio(r.AA.Median), Interval(*r.AA), 100*r.AA.Floor()))
	}
	q := r.Quality
	parts = append(parts, fmt.Sprintf("%d rounds in %.0f s", q.Rounds, q.Seconds))
	if q.Repeated > 0 {
		parts = append(parts, fmt.Sprintf("%d repeated (%s)", q.Repeated, q.Why))
	}
	if q.Dirty > 0 {
		parts = append(parts, fmt.Sprintf("DIRTY: %d rounds on a busy machine (%s)", q.Dirty, q.Why))
	}
	parts = append(parts, fmt.Sprintf("load %.1f, steal %.1f %%", q.Load, 100*q.Steal))
	if !r.Sound() {
		parts = append(parts, "CONTROL FAILED: no verdict of this row counts")
	}
	return strings.Join(parts, "; ")
}
