package edit

import (
	"strconv"
	"strings"
)

// ParsePages returns the pages that a list of ranges names, from 0, in its order, out of n:
//
//	1-3,5     from 1; a range may run backwards
//	r1        the last page, r2 the one before
//	z, last   the last page
//	odd, even of all pages; behind a range, as in 3-9:odd, of that range by their place in it
//	all       every page; so is an empty list
//
// A page that is not there is an *OptionError.
func ParsePages(list string, n int) ([]int, error) {
	if strings.TrimSpace(list) == "" {
		list = "all"
	}
	var out []int
	for item := range strings.SplitSeq(list, ",") {
		item = strings.TrimSpace(item)
		span, which, filtered := strings.Cut(item, ":")
		if !filtered && (item == "odd" || item == "even") {
			span, which = "all", item
		}
		first, last := 1, n
		if span != "all" {
			from, to, isRange := strings.Cut(span, "-")
			var err error
			if first, err = pageNumber(from, n, item); err != nil {
				return nil, err
			}
			last = first
			if isRange {
				if last, err = pageNumber(to, n, item); err != nil {
					return nil, err
				}
			}
		}
		if n == 0 {
			continue
		}
		step := 1
		if last < first {
			step = -1
		}
		for i, p := 1, first; ; i, p = i+1, p+step {
			switch which {
			case "", "odd", "even":
				if which == "" || i%2 == 1 == (which == "odd") {
					out = append(out, p-1)
				}
			default:
				return nil, pagesError(item, "odd or even behind the colon")
			}
			if p == last {
				break
			}
		}
		if len(out) > MostChosen {
			return nil, pagesError(strconv.Itoa(len(out))+" pages and more", "at most "+strconv.Itoa(MostChosen))
		}
	}
	return out, nil
}

// MostChosen bounds how many pages a list can name: pages may come twice.
const MostChosen = 100_000

func pageNumber(s string, n int, item string) (int, error) {
	digits, fromEnd := strings.CutPrefix(s, "r")
	if s == "z" || s == "last" {
		digits, fromEnd = "1", true
	}
	p, err := strconv.Atoi(digits)
	if err != nil || p < 1 {
		return 0, pagesError(item, "pages such as 1-3,5,r1,odd")
	}
	if p > n {
		return 0, pagesError(item, "pages of a file that has "+strconv.Itoa(n))
	}
	if fromEnd {
		p = n + 1 - p
	}
	return p, nil
}

func pagesError(got, want string) error {
	if len(got) > 40 {
		got = strings.ToValidUTF8(got[:40], "") + "..."
	}
	return &OptionError{Field: "pages", Got: strconv.Quote(got), Want: want}
}
