package saved

import (
	"fmt"
	"math"
	"slices"

	"example.com/quire/bench/internal/stat"
)

// Change is one contestant's figure in two runs.
type Change struct {
	Row        string       `json:"row"`
	Contestant string       `json:"contestant"`
	Measure    string       `json:"measure"`
	Old        float64      `json:"old"`
	New        float64      `json:"new"`
	Ratio      stat.Ratio   `json:"ratio"` // new to old, each first divided by its run's scale; exact for counts
	Verdict    stat.Verdict `json:"verdict"`
	Note       string       `json:"note,omitempty"`
}

// Comparing is the outcome of comparing two runs.
type Comparing struct {
	A        string   `json:"a"`
	B        string   `json:"b"`
	Warnings []string `json:"warnings,omitempty"`
	Changes  []Change `json:"changes"`
	OnlyA    []string `json:"only_a,omitempty"`
	OnlyB    []string `json:"only_b,omitempty"`
}

// Compare sets run b beside the older run a. Times are first divided by a scale
// that was measured in the same rounds, so that a machine that was slower as a
// whole on one of the days does not look like a change of the code. The scale of
// this project's contestants is the geometric mean of the row's peers whose
// version did not change, which did like work beside them; of the peers
// themselves, and where there is none, it is the control kernel.
func Compare(a, b *Run) Comparing {
	out := Comparing{A: a.Name, B: b.Name}
	if a.Machine.CPU != b.Machine.CPU || a.Machine.Cores != b.Machine.Cores {
		out.Warnings = append(out.Warnings, "the runs are from different machines: "+a.Machine.CPU+" and "+b.Machine.CPU)
	}
	if a.Machine.Go != b.Machine.Go {
		out.Warnings = append(out.Warnings, "the runs are from different Go versions: "+a.Machine.Go+" and "+b.Machine.Go)
	}
	for _, ra := range a.Rows {
		rb, ok := b.Row(ra.FullName())
		if !ok {
			out.OnlyA = append(out.OnlyA, ra.FullName())
			continue
		}
		if ra.Workload.Name != rb.Workload.Name || ra.Workload.Version != rb.Workload.Version || ra.Workload.Seed != rb.Workload.Seed {
			out.Warnings = append(out.Warnings, fmt.Sprintf("%s: the workload changed (%s v%d, %s v%d); not compared",
				ra.FullName(), ra.Workload.Name, ra.Workload.Version, rb.Workload.Name, rb.Workload.Version))
			continue
		}
		for _, r := range []Row{ra, rb} {
			if r.Quality.Dirty > 0 {
				out.Warnings = append(out.Warnings, fmt.Sprintf("%s: one of the runs was made on a busy machine", r.FullName()))
				break
			}
		}
		out.Changes = append(out.Changes, compareRow(ra, rb)...)
	}
	for _, rb := range b.Rows {
		if _, ok := a.Row(rb.FullName()); !ok {
			out.OnlyB = append(out.OnlyB, rb.FullName())
		}
	}
	return out
}

func compareRow(a, b Row) []Change {
	var out []Change
	for _, ca := range a.Contestants {
		cb, ok := b.Find(ca.Name)
		if !ok || ca.State != Timed || cb.State != Timed {
			continue
		}
		note := ""
		if ca.Version != cb.Version {
			note = fmt.Sprintf("version %s, then %s", ca.Version, cb.Version)
		}
		xs, ys := ca.Series(a.Primary), cb.Series(a.Primary)
		if len(xs) > 0 && len(ys) > 0 && a.Primary == b.Primary {
			sa, sb := scales(ca, a, b)
			r := stat.Unpaired(scaled(ys, sb), scaled(xs, sa))
			out = append(out, Change{
				Row: a.FullName(), Contestant: ca.Name, Measure: a.Primary,
				Old: stat.Median(xs), New: stat.Median(ys), Ratio: r, Verdict: r.Verdict(), Note: note,
			})
		}
		for _, m := range []string{"allocs", "bytes", "output"} {
			x, okA := ca.Value(m)
			y, okB := cb.Value(m)
			if !okA || !okB || x == y {
				continue
			}
			r := stat.Ratio{Rounds: 1, Enough: true, Median: 1, Lo: 1, Hi: 1}
			if x > 0 {
				r.Median, r.Lo, r.Hi = y/x, y/x, y/x
			}
			v := stat.Verdict("fewer")
			if y > x {
				v = "more"
			}
			out = append(out, Change{Row: a.FullName(), Contestant: ca.Name, Measure: m, Old: x, New: y, Ratio: r, Verdict: v, Note: note})
		}
	}
	return out
}

// scales returns what a contestant's values are divided by in the two runs.
func scales(c Contestant, a, b Row) (sa, sb []float64) {
	if !c.Own {
		return a.Kernel, b.Kernel
	}
	var xs, ys [][]float64
	for _, pa := range a.Contestants {
		pb, ok := b.Find(pa.Name)
		x, y := pa.Series(a.Primary), pb.Series(b.Primary)
		if !ok || pa.Own || pb.Own || pa.Version != pb.Version || pa.State != Timed || pb.State != Timed ||
			len(x) != len(a.Kernel) || len(y) != len(b.Kernel) {
			continue
		}
		xs, ys = append(xs, x), append(ys, y)
	}
	if len(xs) == 0 {
		return a.Kernel, b.Kernel
	}
	return geometricMean(xs), geometricMean(ys)
}

// geometricMean is taken over the series, round by round.
func geometricMean(series [][]float64) []float64 {
	out := make([]float64, len(series[0]))
	for i := range out {
		sum := 0.0
		for _, s := range series {
			sum += math.Log(s[i])
		}
		out[i] = math.Exp(sum / float64(len(series)))
	}
	return out
}

// scaled divides each round's value by that round's scale.
func scaled(xs, scale []float64) []float64 {
	if len(scale) != len(xs) {
		return xs
	}
	out := slices.Clone(xs)
	for i := range out {
		if scale[i] > 0 {
			out[i] /= scale[i]
		}
	}
	return out
}
