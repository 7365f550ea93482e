package font

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"example.com/quire/pdf/internal/diag"
)

// Source is a face of a family as a file not yet read.
type Source struct {
	Style Style  // the properties by which the face is chosen, whatever the font states
	Data  []byte // must not change
	// Of a font collection, Name is the PostScript name of the face; without one, Index counts,
	// from 0.
	Name  string
	Index int
}

// Family is a named group of faces.
type Family struct {
	Name  string
	Faces []Source
}

// Options describes a [Library].
type Options struct {
	Families []Family
	// Fallback names the families asked, in order, for characters the chosen
	// one lacks.
	Fallback []string
	Limits   diag.Limits // of font files; zero fields: defaults
}

// Library is a set of families. It is immutable and safe for concurrent use;
// each font is read when a face of it is first wanted. Nothing is shared
// between libraries but what [Library.With] passes on.
type Library struct {
	names    []string // as given, in order
	families map[string][]*slot
	fallback []string
	limits   diag.Limits
}

// slot is a face that is parsed at most once.
type slot struct {
	style Style
	face  func() (*Face, error)
}

// NewLibrary makes a library. Names are compared without regard to case. A
// family without faces, a repeated name and a fallback to no family are
// errors.
func NewLibrary(o Options) (*Library, error) {
	l := &Library{families: map[string][]*slot{}, limits: o.Limits.WithDefaults()}
	if err := l.add(o.Families); err != nil {
		return nil, err
	}
	if err := l.setFallback(o.Fallback); err != nil {
		return nil, err
	}
	return l, nil
}

// With returns a library with the families of l and o; families of o replace those with equal
// names. The fallback of o comes before that of l. The limits are those of l. It adds the fonts of
// one document; l is not changed.
func (l *Library) With(o Options) (*Library, error) {
	n := &Library{families: map[string][]*slot{}, limits: l.limits}
	if err := n.add(o.Families); err != nil {
		return nil, err
	}
	for _, name := range l.names {
		key := strings.ToLower(name)
		if n.families[key] == nil {
			n.names = append(n.names, name)
			n.families[key] = l.families[key]
		}
	}
	if err := n.setFallback(append(slices.Clone(o.Fallback), l.fallback...)); err != nil {
		return nil, err
	}
	return n, nil
}

func (l *Library) add(families []Family) error {
	for _, fam := range families {
		key := strings.ToLower(fam.Name)
		if key == "" || len(fam.Faces) == 0 {
			return fmt.Errorf("font: add family %q: no name or no faces: %w", fam.Name, diag.ErrFont)
		}
		if l.families[key] != nil {
			return fmt.Errorf("font: add family %q: name comes twice: %w", fam.Name, diag.ErrFont)
		}
		slots := make([]*slot, 0, len(fam.Faces))
		for _, src := range fam.Faces {
			s := src.Style
			if s.Weight == 0 {
				s.Weight = 400
			}
			limits := l.limits
			slots = append(slots, &slot{style: s, face: sync.OnceValues(func() (*Face, error) {
				f, err := src.parse(limits)
				if err != nil {
					return nil, fmt.Errorf("font: family %s: %w", fam.Name, err)
				}
				return f, nil
			})})
		}
		l.names = append(l.names, fam.Name)
		l.families[key] = slots
	}
	return nil
}

func (s *Source) parse(l diag.Limits) (*Face, error) {
	if s.Name != "" {
		return ParseNamed(s.Data, s.Name, l)
	}
	return ParseFace(s.Data, s.Index, l)
}

func (l *Library) setFallback(names []string) error {
	for _, name := range names {
		if l.families[strings.ToLower(name)] == nil {
			return &FamilyError{Family: name, Known: l.names}
		}
	}
	l.fallback = names
	return nil
}

// Families returns the names of the families.
func (l *Library) Families() []string { return slices.Clone(l.names) }

// Fallback returns the names of the families asked for missing characters.
func (l *Library) Fallback() []string { return slices.Clone(l.fallback) }

// Match is the face found for a request.
type Match struct {
	Face *Face
	// NoBold and NoItalic say that the request was for bold or italic and the
	// family has no such face: Face is the nearest. Whether to set it anyway,
	// to imitate the style or to refuse is the caller's decision.
	NoBold, NoItalic bool
}

// Match finds the face of a family nearest to a style: the slope counts first,
// then the weight, by the rules of CSS Fonts 4, 5.2. An unknown family is a
// [*FamilyError]; a font that cannot be read is an error too.
func (l *Library) Match(family string, s Style) (Match, error) {
	slots := l.families[strings.ToLower(family)]
	if slots == nil {
		return Match{}, &FamilyError{Family: family, Known: l.names}
	}
	best := nearest(slots, s)
	f, err := best.face()
	if err != nil {
		return Match{}, err
	}
	return Match{
		Face:     f,
		NoBold:   s.Bold() && !best.style.Bold(),
		NoItalic: s.Italic && !best.style.Italic,
	}, nil
}

func nearest(slots []*slot, s Style) *slot {
	if s.Weight == 0 {
		s.Weight = 400
	}
	best, bestCost := slots[0], int(^uint(0)>>1)
	for _, c := range slots {
		cost := weightCost(s.Weight, c.style.Weight)
		if c.style.Italic != s.Italic {
			cost += 1 << 20
		}
		if cost < bestCost {
			best, bestCost = c, cost
		}
	}
	return best
}

// weightCost ranks candidates by CSS Fonts 4, 5.2: from 400 to 500 look up to
// 500, then down, then up; below 400 down, then up; above 500 up, then down.
func weightCost(want, have int) int {
	const second, third = 1 << 12, 1 << 13
	switch {
	case have == want:
		return 0
	case want >= 400 && want <= 500:
		switch {
		case have > want && have <= 500:
			return have - want
		case have < want:
			return second + want - have
		}
		return third + have - want
	case want < 400:
		if have < want {
			return want - have
		}
		return second + have - want
	}
	if have > want {
		return have - want
	}
	return second + want - have
}

// Chain is a face with fallback faces for characters that it lacks. It is safe for concurrent use.
type Chain struct {
	first Match
	rest  []*slot
}

// Chain returns the chain of a family in a style.
func (l *Library) Chain(family string, s Style) (*Chain, error) {
	m, err := l.Match(family, s)
	if err != nil {
		return nil, err
	}
	c := &Chain{first: m}
	chosen := nearest(l.families[strings.ToLower(family)], s)
	for _, name := range l.fallback {
		if sl := nearest(l.families[strings.ToLower(name)], s); sl != chosen && !slices.Contains(c.rest, sl) {
			c.rest = append(c.rest, sl)
		}
	}
	return c, nil
}

// Primary returns the face that text is set in where it can be.
func (c *Chain) Primary() Match { return c.first }

// Pick returns the first face of the chain that has every character of cluster, a grapheme cluster:
// base and marks must come from one font to fit each other. Invisible characters need no glyph. If
// there is no such face, the error is a [*MissingError].
func (c *Chain) Pick(cluster string) (*Face, error) {
	return c.PickIf(cluster, func(*Face) bool { return true })
}

// PickIf is Pick among the faces that suit. It returns nil without an error when faces
// have the characters and none of them suits.
func (c *Chain) PickIf(cluster string, suits func(*Face) bool) (*Face, error) {
	lacks, ok := c.first.Face.lacks(cluster)
	if ok && suits(c.first.Face) {
		return c.first.Face, nil
	}
	covered := ok
	tried := []string{c.first.Face.psName}
	for _, s := range c.rest {
		f, err := s.face()
		if err != nil {
			return nil, err
		}
		if lacks, ok = f.lacks(cluster); ok && suits(f) {
			return f, nil
		}
		covered = covered || ok
		tried = append(tried, f.psName)
	}
	if covered {
		return nil, nil //nolint:nilnil // as documented
	}
	return nil, &MissingError{Rune: lacks, Cluster: cluster, Tried: tried}
}

// Covers reports whether the face has a glyph for every character of text that
// draws something.
func (f *Face) Covers(text string) bool {
	_, ok := f.lacks(text)
	return ok
}

func (f *Face) lacks(text string) (rune, bool) {
	for _, r := range text {
		if f.GlyphIndex(r) == 0 && !ignorable(r) {
			return r, false
		}
	}
	return 0, true
}

// ignorable reports the characters with the property
// Default_Ignorable_Code_Point that occur in text, and the line ends and tabs
// that layout consumes.
func ignorable(r rune) bool {
	switch {
	case r == '\t', r == '\n', r == '\r', r == 0x2028, r == 0x2029,
		r == 0xAD, r == 0x34F, r == 0x61C, // soft hyphen, grapheme joiner, Arabic letter mark
		r == 0x115F, r == 0x1160, r == 0x17B4, r == 0x17B5, r == 0x3164, r == 0xFFA0, // fillers
		r >= 0x180B && r <= 0x180F, // Mongolian selectors
		r >= 0x200B && r <= 0x200F, // zero width space and joiners, direction marks
		r >= 0x202A && r <= 0x202E, r >= 0x2060 && r <= 0x206F,
		r >= 0xFE00 && r <= 0xFE0F, r == 0xFEFF,
		r >= 0xE0000 && r <= 0xE0FFF: // tags, variation selectors supplement
		return true
	}
	return false
}
