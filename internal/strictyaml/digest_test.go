package strictyaml_test

import (
	"crypto/sha256"
	"testing"

	"example.com/quire/internal/strictyaml"
)

// TestDigestTellsNodesApart: other words, another structure and, where they count, other places
// give another digest.
func TestDigestTellsNodesApart(t *testing.T) {
	sum := func(src string, places bool) [sha256.Size]byte {
		n, problems := strictyaml.Parse([]byte(src), strictyaml.Limits{Depth: 10, Nodes: 100})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		h := sha256.New()
		n.Digest(h, places)
		return [sha256.Size]byte(h.Sum(nil))
	}
	const src = "a: [x, \"y\"]\nb: 1"
	if a, b := sum(src, true), sum(src, true); a != b {
		t.Error("one text has two digests")
	}
	if moved := "\n" + src; sum(src, false) != sum(moved, false) || sum(src, true) == sum(moved, true) {
		t.Error("places count where they should not, or do not where they should")
	}
	for _, other := range []string{"a: [x, y]\nb: 1", "a: [x, \"y\"]\nb: \"1\"", "a: [xy]\nb: 1", "a: [x, [\"y\"]]\nb: 1", "b: [x, \"y\"]\na: 1"} {
		if sum(src, false) == sum(other, false) {
			t.Errorf("%q and %q have one digest", src, other)
		}
	}
	if sum(`a: "x\u0079z"`, true) == sum(`a: "xyz     "`, true) {
		t.Error("escapes are not told apart")
	}
}
