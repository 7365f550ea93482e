package strictjson

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestWholeTextsAreJudgedAsTheirTokensAre: the short way of Check and the long one agree on texts
// in order and on ones that a byte more, less or other has spoilt, at each limit.
func TestWholeTextsAreJudgedAsTheirTokensAre(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a fixed stream of texts
	for range 1000 {
		text := []byte(randomJSON(rng, 5))
		if rng.IntN(2) == 0 {
			at := rng.IntN(len(text))
			other := "{}[],:\"\\ \n0e-tn\xff"[rng.IntN(16)]
			switch rng.IntN(3) {
			case 0:
				text[at] = other
			case 1:
				text = append(text[:at], text[at+1:]...)
			default:
				text = append(text[:at], append([]byte{other}, text[at:]...)...)
			}
		}
		nodes, depth := measure(text)
		for _, l := range []Limits{{}, {Nodes: nodes}, {Nodes: max(1, nodes-1)}, {Depth: max(1, depth)}, {Depth: max(1, depth-1)}, {Nodes: 3, Depth: 2}} {
			p := new(pooledDecoder)
			want, wrong := checkTokens(p, text, l)
			got, err := Check(text, l)
			a, _ := errors.AsType[*Fault](wrong)
			b, _ := errors.AsType[*Fault](err)
			if got != want || (a == nil) != (b == nil) || a != nil && a.Error() != b.Error() {
				t.Fatalf("%q by %+v: %d %v, by its tokens %d %v", text, l, got, err, want, wrong)
			}
		}
	}
}

// randomJSON is a value with white space here and there.
func randomJSON(rng *rand.Rand, depth int) string {
	space := func() string { return strings.Repeat(" ", rng.IntN(3)/2) }
	kind := rng.IntN(8)
	if depth == 0 {
		kind %= 5
	}
	switch kind {
	case 0:
		return space() + "null"
	case 1:
		return "true" + space()
	case 2:
		return "-12.5e3"
	case 3:
		return `"a\"\\[{,"` + space()
	case 4:
		return `"\u00e9 \ud83d\ude00"`
	}
	opening, closing := "[", "]"
	if kind > 5 {
		opening, closing = "{", "}"
	}
	members := make([]string, rng.IntN(4))
	for i := range members {
		if kind > 5 {
			members[i] = space() + `"` + strings.Repeat("n", i) + `"` + space() + ":"
		}
		members[i] += randomJSON(rng, depth-1)
	}
	return opening + space() + strings.Join(members, ",") + space() + closing
}
