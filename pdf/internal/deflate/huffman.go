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

// codeword is a word of a Huffman code: its bits in the order in which they are written, the last
// one highest, and their number in the low six bits. 0 is none.
type codeword uint64

func (w codeword) length() uint { return uint(w & 63) }
func (w codeword) bits() uint64 { return uint64(w) >> (-w & 63) }

// high is its bits where they are, highest.
func (w codeword) high() uint64 { return uint64(w &^ 63) }

// tree makes Huffman codes.
type tree struct {
	used    [512]uint16     // symbols that occur, ascending; there is room for one more than any code has
	leaves  [symbols]uint32 // frequency<<9 | symbol, ascending
	weights [symbols]uint32 // of inner nodes, in the order in which they are made
	parents [symbols]uint16 // of inner nodes
	counts  [counted + 1]uint16
}

// counted is the frequency from which symbols are sorted by comparison; those below are counted.
const counted = 255

// build makes the code of least size for symbols that occur as often as freq says, but that no
// codeword is longer than most. It returns the symbols that occur, in their order, which are good
// until the next code is built, and the sum of the lengths of their codewords, each as often as
// it occurs.
func (t *tree) build(codes []codeword, freq []uint32, most int) (used []uint16, size int) {
	codes = codes[:len(freq)]
	clear(codes)
	used = t.sort(freq)
	n := len(used)
	switch n {
	case 0:
		return used, 0
	case 1:
		codes[used[0]] = 1 // one bit, 0 (3.2.7)
		return used, int(freq[used[0]])
	}
	t.join(n)
	count := t.lengths(n, most)
	i := 0
	for length := most; length > 0; length-- {
		for range count[length] { // the rarest symbols have the longest codewords
			leaf := t.leaves[i]
			codes[leaf&511] = codeword(length)
			size += int(leaf>>9) * length
			i++
		}
	}
	assign(codes, used, &count)
	return used, size
}

// sort fills leaves with the symbols that occur and returns these in their order.
func (t *tree) sort(freq []uint32) []uint16 {
	n, top := 0, uint32(0) // top: no frequency is greater
	for at := 0; at < len(freq); at += 8 {
		group := freq[at:min(at+8, len(freq))]
		some := uint32(0)
		for _, f := range group {
			some |= f
		}
		if top |= some; some == 0 {
			continue
		}
		for i, f := range group {
			t.used[n&511] = uint16(at + i)
			n += int((f | -f) >> 31) // 1 unless f is 0, without a branch that depends on it
		}
	}
	used := t.used[:n]
	top = min(top, counted)
	counts := t.counts[:top+1]
	clear(counts)
	for _, s := range used {
		counts[min(freq[s], top)]++
	}
	sum := uint16(0)
	for i, k := range counts {
		counts[i] = sum
		sum += k
	}
	often := n // where those begin that are sorted by comparison
	if top == counted {
		often = int(counts[top])
	}
	for _, s := range used {
		f := freq[s]
		k := &counts[min(f, top)]
		t.leaves[*k] = f<<9 | uint32(s)
		*k++
	}
	for i := often + 1; i < n; i++ {
		x, j := t.leaves[i], i
		for ; j > often && t.leaves[j-1] > x; j-- {
			t.leaves[j] = t.leaves[j-1]
		}
		t.leaves[j] = x
	}
	return used
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

// assign gives the codewords of the symbols that are used, which have their lengths, their bits
// (3.2.2): in order of the symbols, written from the highest bit on.
func assign(codes []codeword, used []uint16, count *[16]uint16) {
	var next [16]uint16
	code := uint16(0)
	for length := 1; length < len(next); length++ {
		code = (code + count[length-1]) << 1
		next[length] = code
	}
	for _, s := range used {
		w := codes[s]
		codes[s] = codeword(bits.Reverse16(next[w&15]))<<48 | w
		next[w&15]++
	}
}
