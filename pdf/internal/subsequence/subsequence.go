// Package subsequence finds the longest common subsequence of two lists.
package subsequence

// mostEdits bounds what a common subsequence is searched with: its time is that of the lists times
// the edits.
const mostEdits = 1000

// Common returns the places in a and b of a longest common subsequence, in order (Myers, An O(ND)
// difference algorithm, 1986). Lists with more than mostEdits edits between them have what they
// begin and end with alike.
func Common[T comparable](a, b []T) (pairs [][2]int) {
	from := 0
	for from < len(a) && from < len(b) && a[from] == b[from] {
		pairs = append(pairs, [2]int{from, from})
		from++
	}
	end := 0
	for end < len(a)-from && end < len(b)-from && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	for _, p := range inner(a[from:len(a)-end], b[from:len(b)-end]) {
		pairs = append(pairs, [2]int{from + p[0], from + p[1]})
	}
	for i := end; i > 0; i-- {
		pairs = append(pairs, [2]int{len(a) - i, len(b) - i})
	}
	return pairs
}

func inner[T comparable](a, b []T) [][2]int {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	most := min(len(a)+len(b), mostEdits)
	// reached[k+most] is how far the path with k more deletions than insertions has come in a, and
	// steps what it was before each edit.
	reached := make([]int32, 2*most+2)
	var steps [][]int32
	for d := 0; d <= most; d++ {
		for k := -d; k <= d; k += 2 {
			var x int32
			if d > 0 {
				if k == -d || k != d && reached[k-1+most] < reached[k+1+most] {
					x = reached[k+1+most]
				} else {
					x = reached[k-1+most] + 1
				}
			}
			for int(x) < len(a) && int(x)-k < len(b) && a[x] == b[int(x)-k] {
				x++
			}
			reached[k+most] = x
			if int(x) >= len(a) && int(x)-k >= len(b) {
				return back(steps, len(a), len(b))
			}
		}
		step := make([]int32, 2*d+1)
		copy(step, reached[most-d:most+d+1])
		steps = append(steps, step)
	}
	return nil
}

// back follows the path from its end: steps[d][k+d] is how far diagonal k was after d edits.
func back(steps [][]int32, x, y int) [][2]int {
	var out [][2]int
	for d := len(steps); d >= 0; d-- {
		fromX, fromY := 0, 0
		if d > 0 {
			k := x - y
			at := func(k int) int32 {
				if i := k + d - 1; i >= 0 && i < 2*d-1 {
					return steps[d-1][i]
				}
				return -1
			}
			prev := k - 1
			if k == -d || k != d && at(k-1) < at(k+1) {
				prev = k + 1
			}
			fromX = int(at(prev))
			fromY = fromX - prev
			for x > fromX && y > fromY {
				x, y = x-1, y-1
				out = append(out, [2]int{x, y})
			}
			x, y = fromX, fromY
			continue
		}
		for x > 0 && y > 0 {
			x, y = x-1, y-1
			out = append(out, [2]int{x, y})
		}
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}
