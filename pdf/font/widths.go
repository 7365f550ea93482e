package font

import "strconv"

// widths makes the W array (ISO 32000-2, 9.7.4.3) for ids in ascending order,
// and the default width. Widths are printed with two decimals: what remains is
// 1/200,000 em for a glyph, too little to be seen over a line of text.
func (f *Face) widths(ids []GID) (w []byte, dw int) {
	w = append(w, '[')
	same, all := true, f.hundredths(ids[0])
	for _, g := range ids {
		same = same && f.hundredths(g) == all
	}
	if same && all%100 == 0 {
		return append(w, ']'), all / 100
	}
	for i := 0; i < len(ids); {
		// The longest run of neighbouring ids, and of equal widths in it.
		equal := f.run(ids[i:], true)
		if equal >= 4 {
			w = f.appendSpan(w, ids[i:i+equal])
			i += equal
			continue
		}
		n := f.run(ids[i:], false)
		// A list ends where a span of four equal ones would begin.
		for k := 1; k < n; k++ {
			if f.run(ids[i+k:i+n], true) >= 4 {
				n = k
			}
		}
		w = f.appendList(w, ids[i:i+n])
		i += n
	}
	return append(w, ']'), 1000
}

// run returns how many of the first ids follow each other without a gap, and
// where asked have one width.
func (f *Face) run(ids []GID, equal bool) int {
	n := 1
	for n < len(ids) && ids[n] == ids[n-1]+1 && (!equal || f.Advance(ids[n]) == f.Advance(ids[0])) {
		n++
	}
	return n
}

// appendSpan appends "first last width".
func (f *Face) appendSpan(w []byte, ids []GID) []byte {
	w = f.appendID(w, ids[0])
	w = append(w, ' ')
	w = strconv.AppendUint(w, uint64(ids[len(ids)-1]), 10)
	w = append(w, ' ')
	return appendHundredths(w, f.hundredths(ids[0]))
}

// appendList appends "first [width width ...]".
func (f *Face) appendList(w []byte, ids []GID) []byte {
	w = f.appendID(w, ids[0])
	w = append(w, '[')
	for i, g := range ids {
		if i > 0 {
			w = append(w, ' ')
		}
		w = appendHundredths(w, f.hundredths(g))
	}
	return append(w, ']')
}

func (f *Face) appendID(w []byte, g GID) []byte {
	if last := w[len(w)-1]; last != '[' && last != ']' {
		w = append(w, ' ')
	}
	return strconv.AppendUint(w, uint64(g), 10)
}

// hundredths returns the width of g in 1/100,000 em, rounded.
func (f *Face) hundredths(g GID) int {
	em := f.metrics.UnitsPerEm
	return (f.Advance(g)*100_000 + em/2) / em
}

func appendHundredths(w []byte, v int) []byte {
	whole, frac := v/100, v%100
	if whole != 0 || frac == 0 {
		w = strconv.AppendInt(w, int64(whole), 10)
	}
	if frac == 0 {
		return w
	}
	w = append(w, '.', byte('0'+frac/10))
	if frac%10 != 0 {
		w = append(w, byte('0'+frac%10))
	}
	return w
}
