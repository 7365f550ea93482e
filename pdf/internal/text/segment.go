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

// The classes of plain text: what needs no tables to find its breaks.
const (
	plainNone   uint8 = iota
	plainLetter       // AL
	plainDigit        // NU
	plainSpace
	plainStop   // IS: full stop, comma, colon, semicolon
	plainHyphen // HY
	plainEnd    // LF
)

var plainClass = func() (t [128]uint8) {
	for c := 'a'; c <= 'z'; c++ {
		t[c], t[c-'a'+'A'] = plainLetter, plainLetter
	}
	for c := '0'; c <= '9'; c++ {
		t[c] = plainDigit
	}
	for _, c := range ".,:;" {
		t[c] = plainStop
	}
	t[' '], t['-'], t['\n'] = plainSpace, plainHyphen, plainEnd
	return t
}()

// plainBeyond returns the class and the length of the first character of s, which is none of ASCII.
// Plain are the letters up to U+017F, all of which are AL.
func plainBeyond(s string) (class uint8, n int) {
	c := s[0]
	if len(s) > 1 && (c == 0xC3 && s[1] != 0x97 && s[1] != 0xB7 || c == 0xC4 || c == 0xC5) { // not × and ÷
		return plainLetter, 2
	}
	return plainNone, 1
}

// plainWord reports whether s is one word of ASCII letters, digits and stops that plainBreaks finds
// no break in, and whether there are digits.
func plainWord(s string) (figures, ok bool) {
	if s == "" || s[0] >= 0x80 || plainClass[s[0]] == plainStop {
		return false, false
	}
	for i := range len(s) {
		c := s[i]
		if c >= 0x80 {
			return false, false
		}
		switch plainClass[c] {
		case plainDigit:
			figures = true
		case plainLetter, plainStop:
		default:
			return false, false
		}
	}
	return figures, true
}

// plainBreaks appends the breaks of s when s needs no tables: lines end behind
// line feeds, behind spaces, and behind a hyphen between a letter or digit and a
// letter (UAX #14: LB4 to LB7, LB13, LB18, LB21, LB23, LB25, LB28, LB29). Other
// neighbours of stops and hyphens are left to the tables.
func plainBreaks(dst []Break, s string) ([]Break, bool) {
	start := len(dst)
	prev := plainSpace
	for i := 0; i < len(s); {
		var c uint8
		n := 1
		if s[i] < 0x80 {
			c = plainClass[s[i]]
		} else {
			c, n = plainBeyond(s[i:])
		}
		switch {
		case c == plainLetter && prev == plainLetter: // most
		case c == plainNone,
			(c == plainStop || c == plainHyphen) && (prev == plainSpace || prev == plainHyphen || prev == plainEnd),
			c == plainHyphen && prev == plainStop:
			return dst[:start], false
		case c == plainEnd:
			if i+1 < len(s) {
				dst = append(dst, Break{Pos: i + 1, Mandatory: true})
			}
		case i > 0 && (prev == plainSpace && c != plainSpace || prev == plainHyphen && c == plainLetter):
			dst = append(dst, Break{Pos: i})
		}
		prev = c
		i += n
	}
	return dst, true
}

// breaks appends the breaks of s, and reports whether all of s is plain: ASCII and letters up to
// U+017F.
func breaks(seg Segmenter, dst []Break, s string) (all []Break, plain bool) {
	if dst, plain = plainBreaks(dst, s); plain {
		return dst, true
	}
	return seg.Breaks(dst, s), false
}
