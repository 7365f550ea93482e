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
		r := beside(row, subject, c, out.Primary)
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
		if g.Scale != [2]string{} {
			res.Scale = g.Scale[:]
			if subject, peer, ok = scaled(g.Scale, subject, peer, out); !ok {
				return res
			}
		}
		res.Ratio = beside(row, subject, peer, measure)
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

// beside is the ratio of two contestants by a measure: of their rounds, or of what they have a
// single figure of.
func beside(row Row, a, b saved.Contestant, measure string) stat.Ratio {
	if xs := a.Series(measure); len(xs) > 0 && !row.Once {
		return stat.Paired(xs, b.Series(measure))
	}
	x, _ := a.Value(measure)
	y, _ := b.Value(measure)
	return exact(share(x, y))
}

// scaled multiplies the times of a by those of the second contestant that by names, and the times
// of b by those of the first, round by round: the ratio of the products is the ratio divided by
// theirs.
func scaled(by [2]string, a, b saved.Contestant, out *saved.Row) (x, y saved.Contestant, ok bool) {
	first, one := out.Find(by[0])
	second, two := out.Find(by[1])
	if !one || !two || first.State != saved.Timed || second.State != saved.Timed {
		return a, b, false
	}
	times := func(c, by saved.Contestant) saved.Contestant {
		product := func(xs, ys []float64) []float64 {
			zs := make([]float64, min(len(xs), len(ys)))
			for i := range zs {
				zs[i] = xs[i] * ys[i]
			}
			return zs
		}
		c.CPU, c.Time = product(c.CPU, by.CPU), product(c.Time, by.Time)
		return c
	}
	return times(a, second), times(b, first), true
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
