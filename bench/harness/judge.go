package harness

import (
	"math"

	"example.com/quire/bench/internal/saved"
	"example.com/quire/bench/internal/stat"
)

// Judge makes comparisons and goals of the figures in out. It may be called again
// and again as rounds come in.
func Judge(row Row, out *saved.Row) {
	out.Comparisons, out.Goals = nil, nil
	if len(out.Contestants) == 0 || out.Contestants[0].State != saved.Timed {
		for _, g := range row.Goals {
			out.Goals = append(out.Goals, saved.Goal{Against: g.Against, Of: string(g.of(row)), AtMost: g.AtMost, Obstacle: g.Obstacle, State: saved.Open})
		}
		return
	}
	subject := out.Contestants[0]
	for _, c := range out.Contestants[1:] {
		if c.State != saved.Timed {
			continue
		}
		r := stat.Paired(subject.Series(out.Primary), c.Series(out.Primary))
		v := r.Verdict()
		if !out.Sound() {
			v = saved.ControlFailed
		}
		out.Comparisons = append(out.Comparisons, saved.Comparison{With: c.Name, Ratio: r, Verdict: v})
	}
	for _, g := range row.Goals {
		out.Goals = append(out.Goals, judgeGoal(row, g, out))
	}
}

func (g Goal) of(row Row) Measure {
	if g.Of == "" {
		return row.primary()
	}
	return g.Of
}

func judgeGoal(row Row, g Goal, out *saved.Row) saved.Goal {
	measure := string(g.of(row))
	res := saved.Goal{Against: g.Against, Of: measure, AtMost: g.AtMost, Obstacle: g.Obstacle, State: saved.Open}
	subject := out.Contestants[0]
	mine, ok := subject.Value(measure)
	if !ok {
		return res
	}
	if g.Against == "" {
		res.Ratio = exact(mine)
	} else {
		peer, ok := opponent(g.Against, measure, out)
		if !ok {
			return res
		}
		res.Peer = peer.Name
		if xs, ys := subject.Series(measure), peer.Series(measure); len(xs) > 0 {
			res.Ratio = stat.Paired(xs, ys)
		} else {
			theirs, _ := peer.Value(measure)
			res.Ratio = exact(share(mine, theirs))
		}
	}
	switch r := res.Ratio; {
	case !r.Enough:
	case r.Hi <= g.AtMost:
		res.State = saved.Met
	case r.Lo > g.AtMost:
		res.State = saved.Missed
	default:
		res.State = saved.Near
	}
	return res
}

// share is a/b for counts, where nothing beside nothing is equal.
func share(a, b float64) float64 {
	if b == 0 {
		if a == 0 {
			return 1
		}
		return math.MaxFloat32 // more than nothing misses every goal; JSON has no infinity
	}
	return a / b
}

// exact is a ratio of counts: it has no spread.
func exact(v float64) stat.Ratio {
	return stat.Ratio{Median: v, Lo: v, Hi: v, Rounds: 1, Enough: true}
}

// opponent finds the contestant that a goal names; the fastest peer is the one
// with the least median.
func opponent(against, measure string, out *saved.Row) (saved.Contestant, bool) {
	if against != Fastest {
		c, ok := out.Find(against)
		return c, ok && c.State == saved.Timed
	}
	var best saved.Contestant
	least, found := math.Inf(1), false
	for _, c := range out.Contestants[1:] {
		if v, ok := c.Value(measure); ok && c.State == saved.Timed && v < least {
			best, least, found = c, v, true
		}
	}
	return best, found
}
