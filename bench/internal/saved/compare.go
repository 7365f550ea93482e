package saved

import (
	"fmt"
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
	Ratio      stat.Ratio   `json:"ratio"` // new to old, each first divided by its run's control kernel; exact for counts
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

// Compare sets run b beside the older run a. Times are first divided by the
// control kernel of their own rounds, so that a machine that was slower as a
// whole on one of the days does not look like a change of the code.
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
			r := stat.Unpaired(scaled(ys, b.Kernel), scaled(xs, a.Kernel))
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

// scaled divides each round's value by that round's control kernel.
func scaled(xs, kernel []float64) []float64 {
	if len(kernel) != len(xs) {
		return xs
	}
	out := slices.Clone(xs)
	for i := range out {
		if kernel[i] > 0 {
			out[i] /= kernel[i]
		}
	}
	return out
}
