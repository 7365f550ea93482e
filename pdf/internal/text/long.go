package text

import (
	"fmt"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/diag"
)

// NarrowError says that a single character is wider than the line, without its indent.
type NarrowError struct {
	Text        string
	Need, Width doc.Length
}

// Error names the character and both widths.
func (e *NarrowError) Error() string {
	return fmt.Sprintf("%s is %s wide and the line %s", diag.Quote(e.Text), points(e.Need), points(e.Width))
}

// points prints a length for messages.
func points(l doc.Length) string {
	sign := ""
	if l < 0 {
		sign, l = "-", -l
	}
	return fmt.Sprintf("%s%d.%02d pt", sign, l/doc.Pt, l%doc.Pt*100/doc.Pt)
}

// breakLong breaks the open stretch, which starts a line and is wider than it,
// between graphemes and around figures.
func (s *Setter) breakLong() error {
	s.long = append(s.long[:0], s.items[s.segStart:]...)
	s.items = s.items[:s.segStart]
	var err error
	if s.solid(s.long); len(s.figures) > 0 {
		err = s.breakAround(s.long)
	} else {
		err = s.spread(s.long)
	}
	s.segStart = len(s.items)
	return err
}

// spread places items, breaking those between graphemes that do not fit.
func (s *Setter) spread(items []Item) error {
	for i := range items {
		it := items[i]
		if it.Tab {
			s.field = s.openField(&it, len(s.items), s.x)
		}
		if it.Space || s.x+it.W <= s.width {
			s.push(it)
			s.placed(len(s.items)-1, it.W)
			continue
		}
		if err := s.cut(&it); err != nil {
			return err
		}
	}
	return nil
}

// cut places the graphemes of it, closing lines as they fill. The cost is linear
// in the text: graphemes are found once, and no line is tried with much more text
// than it takes.
func (s *Setter) cut(it *Item) error {
	p := &s.pieces[it.Piece]
	word := it.Part.Text
	if p.Object > 0 {
		if len(s.items) > s.lineStart {
			s.closeLine(len(s.items), false)
		}
		if s.x+it.W > s.width {
			return &NarrowError{Text: word, Need: it.W, Width: s.width - s.x}
		}
		s.push(*it)
		s.placed(len(s.items)-1, it.W)
		s.segStart = len(s.items)
		return nil
	}
	s.ends = s.t.seg.Graphemes(s.ends[:0], word)
	count := doc.Length(len(s.ends))
	for ends, from := s.ends, 0; len(ends) > 0; {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		avail := s.width - s.x
		take, parts, err := s.fitting(it, from, ends, avail, int(count*avail/max(it.W, 1)))
		if err != nil {
			return err
		}
		if take == 0 {
			if len(s.items) > s.lineStart {
				s.closeLine(len(s.items), false)
				continue
			}
			one, err := s.shape(p, word[from:ends[0]], true, it.Level)
			if err != nil {
				return err
			}
			return &NarrowError{Text: word[from:ends[0]], Need: p.widths(one), Width: avail}
		}
		for i := range parts {
			w := p.width(&parts[i])
			s.items = append(s.items, Item{Part: &parts[i], W: w, Piece: it.Piece, Level: it.Level})
			s.placed(len(s.items)-1, w)
		}
		s.segStart = len(s.items)
		from, ends = ends[take-1], ends[take:]
		if len(ends) > 0 {
			s.closeLine(len(s.items), false)
		}
	}
	return nil
}

// fitting returns how many of the graphemes of it from byte from on, which end at ends, are no
// wider than avail together, and those shaped. It tries guess, then what the width of each try
// suggests, then halves what is open.
func (s *Setter) fitting(it *Item, from int, ends []int, avail doc.Length, guess int) (int, []Part, error) {
	p, word := &s.pieces[it.Piece], it.Part.Text
	var best []Part
	lo, hi := 0, len(ends)+1 // lo graphemes fit, hi do not
	for try := 0; lo+1 < hi; try++ {
		top := min(hi-1, 2*lo+32)
		n := min(max(guess, lo+1), top)
		parts, err := s.shape(p, word[from:ends[n-1]], true, it.Level)
		if err != nil {
			return 0, nil, err
		}
		w := p.widths(parts)
		if w <= avail {
			lo, best = n, parts
		} else {
			hi = n
		}
		if try < 3 && w > 0 {
			guess = int(doc.Length(n) * avail / w)
		} else {
			guess = (lo + min(hi, 2*lo+32) + 1) / 2
		}
	}
	return lo, best, nil
}
