//go:build !race

package dictionary

import "testing"

// Every word that the lists hold is found at its length, and the nodes lead nowhere else.
func TestEveryWordOfTheListsIsFound(t *testing.T) {
	var l Library
	for i, want := range []int{26_383, 30_550, 41_120, 81_028} {
		words, n := l.words(i), 0
		var walk func(at, match int, word []byte)
		walk = func(at, match int, word []byte) {
			if node := words.nodes[at]; match == 0 && node >= firstValue && len(word) > 0 {
				n++
				if n%97 == 0 { // each costs its length
					if ends := words.ends(nil, word); len(ends) == 0 || ends[len(ends)-1] != len(word) {
						t.Fatalf("%s: %x is found at %v", scripts[i].name, word, ends)
					}
				}
				if node&final != 0 {
					return
				}
			}
			for c := range 0x100 {
				if to, left := words.next(at, match, byte(c)); to >= 0 {
					if c > 0x9F && c < 0xFE {
						t.Fatalf("%s: byte %x", scripts[i].name, c)
					}
					walk(to, left, append(word, byte(c)))
				}
			}
		}
		walk(0, 0, nil)
		if n != want {
			t.Errorf("%s: %d words, want %d", scripts[i].name, n, want)
		}
	}
}
