package deflate

import (
	"math/bits"
)

const (
	symbols   = 286 // of literals and lengths (RFC 1951, 3.2.5)
	distances = 30  // symbols of distances
	endMark   = 256 // the symbol that ends a block

	// mostBits is the longest codeword of a literal or length: four of them fit the bit writer. The
	// format has one bit more.
	mostBits         = 14
	mostDistanceBits = 15
	mostLengthBits   = 7 // of a codeword of the lengths of codewords (3.2.7)
)

// codeword is a word of a Huffman code: its bits in the order in which they are written, above
// their number in the low five bits. 0 is none.
type codeword uint32

func (w codeword) length() uint { return uint(w & 31) }
func (w codeword) bits() uint64 { return uint64(w >> 5) }

// tree makes Huffman codes.
type tree struct {
	leaves  [symbols]uint32 // frequency<<9 | symbol, ascending
	weights [symbols]uint32 // of inner nodes, in the order in which they are made
	parents [symbols]uint16 // of inner nodes
	counts  [counted + 1]uint16
}

// counted is the frequency from which symbols are sorted by comparison; those below are counted.
const counted = 255

// build makes the code of least size for symbols that occur as often as freq says, but that no
// codeword is longer than most.
func (t *tree) build(codes []codeword, freq []uint32, most int) {
	codes = codes[:len(freq)]
	clear(codes)
	n := t.sort(freq)
	switch n {
	case 0:
		return
	case 1:
		codes[t.leaves[0]&511] = 1 // one bit, 0 (3.2.7)
		return
	}
	t.join(n)
	count := t.lengths(n, most)
	i := 0
	for length := most; length > 0; length-- {
		for range count[length] { // the rarest symbols have the longest codewords
			codes[t.leaves[i]&511] = codeword(length) //nolint:gosec // G115: at most 15
			i++
		}
	}
	assign(codes, &count)
}

// sort fills leaves with the symbols that occur and returns how many there are.
func (t *tree) sort(freq []uint32) int {
	clear(t.counts[:])
	for _, f := range freq {
		t.counts[min(f, counted)]++
	}
	t.counts[0] = 0
	n := uint16(0)
	for i, k := range t.counts {
		t.counts[i] = n
		n += k
	}
	often := int(t.counts[counted])
	for s, f := range freq {
		if f != 0 {
			k := &t.counts[min(f, counted)]
			t.leaves[*k] = f<<9 | uint32(s)
			*k++
		}
	}
	for i := often + 1; i < int(n); i++ {
		x, j := t.leaves[i], i
		for ; j > often && t.leaves[j-1] > x; j-- {
			t.leaves[j] = t.leaves[j-1]
		}
		t.leaves[j] = x
	}
	return int(n)
}

// join joins the two least of n leaves and of the nodes made of them, again and again. Nodes become
// heavier as they are made, so that the least is always the next leaf or the next node.
func (t *tree) join(n int) {
	leaf, node := 0, 0
	for k := range n - 1 {
		sum := uint32(0)
		for range 2 {
			if leaf < n && (node == k || t.leaves[leaf]>>9 <= t.weights[node]) {
				sum += t.leaves[leaf] >> 9
				leaf++
			} else {
				sum += t.weights[node]
				t.parents[node] = uint16(k)
				node++
			}
		}
		t.weights[k] = sum
	}
}

// lengths returns how many codewords of each length the tree of n leaves has. From the root down,
// each node makes two of a leaf, a level deeper; where that is too deep, the deepest leaf that may
// be split is taken instead, so that the code stays complete.
func (t *tree) lengths(n, most int) (count [16]uint16) {
	count[1] = 2
	depths := &t.weights
	depths[n-2] = 0
	for k := n - 3; k >= 0; k-- {
		depths[k] = depths[t.parents[k]] + 1
		at := min(int(depths[k]), most-1)
		for count[at] == 0 {
			at--
		}
		count[at]--
		count[at+1] += 2
	}
	return count
}

// assign gives codes, which have their lengths, their bits (3.2.2): in order of their symbols,
// written from the highest bit on.
func assign(codes []codeword, count *[16]uint16) {
	var next [16]uint16
	code := uint16(0)
	for length := 1; length < len(next); length++ {
		code = (code + count[length-1]) << 1
		next[length] = code
	}
	for s, w := range codes {
		if w != 0 {
			codes[s] = codeword(bits.Reverse16(next[w])>>(16-w))<<5 | w
			next[w]++
		}
	}
}
