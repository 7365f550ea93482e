package content

import (
	"math"

	"example.com/quire/pdf/cos"
)

func dict(src Source, o cos.Object) cos.Dict { return src.Dict(o) }

func array(src Source, o cos.Object) cos.Array {
	a, _ := src.Resolve(o).(cos.Array)
	return a
}

func name(src Source, o cos.Object) cos.Name {
	n, _ := src.Resolve(o).(cos.Name)
	return n
}

func number(src Source, o cos.Object, def float64) float64 { return plain(src.Resolve(o), def) }

// plain returns a number, def for anything else and for what no page can have.
func plain(o cos.Object, def float64) float64 {
	f, ok := cos.Float(o)
	if !ok || f > 1e9 || f < -1e9 {
		return def
	}
	return f
}

func length(x, y float64) float64 { return math.Hypot(x, y) }
