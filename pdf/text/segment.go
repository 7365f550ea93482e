package text

// Break is a place where a line may end.
type Break struct {
	Pos       int  // byte offset; the next line starts here, spaces before it included
	Mandatory bool // the line must end
}

// Segmenter finds the boundaries of UAX #14 and UAX #29. It is safe for
// concurrent use and keeps nothing.
type Segmenter interface {
	// Breaks appends the line break opportunities of s in rising order. The end of
	// the text is not among them.
	Breaks(dst []Break, s string) []Break
	// Graphemes appends the ends of the grapheme clusters of s in rising order, the
	// last one len(s).
	Graphemes(dst []int, s string) []int
}

// plainClass holds the bytes that allow no break between each other but after a
// space: class AL letters and NU digits. Breaks of a text made of them alone need
// no tables (UAX #14: LB18, LB23, LB25, LB28).
var plainClass = func() (t [256]uint8) {
	for c := 'a'; c <= 'z'; c++ {
		t[c], t[c-'a'+'A'] = 1, 1
	}
	for c := '0'; c <= '9'; c++ {
		t[c] = 1
	}
	t[' '] = 2
	// IS: full stop and comma allow no break before them, and none after them but
	// at a space (LB13, LB25, LB29). Behind a space they are left to the tables.
	t['.'], t[','] = 3, 3
	return t
}()

// plainBreaks appends the breaks of s when s needs no tables.
func plainBreaks(dst []Break, s string) ([]Break, bool) {
	start := len(dst)
	prev := uint8(1)
	for i := range len(s) {
		c := plainClass[s[i]]
		switch {
		case c == 0, c == 3 && (prev == 2 || i == 0):
			return dst[:start], false
		case prev == 2 && c != 2:
			dst = append(dst, Break{Pos: i})
		}
		prev = c
	}
	return dst, true
}

func breaks(seg Segmenter, dst []Break, s string) []Break {
	if out, ok := plainBreaks(dst, s); ok {
		return out
	}
	return seg.Breaks(dst, s)
}
