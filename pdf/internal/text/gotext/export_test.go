package gotext

import (
	"example.com/quire/pdf/font"
	"example.com/quire/pdf/internal/text"
)

// Fast reports whether runs without marks go to text.Latin.
func (s *Shaper) Fast(f *font.Face) bool { return s.face(f).plain }

// Slow is Shape without the fast path.
func (s *Shaper) Slow(dst []text.Glyph, f *font.Face, run text.Run) []text.Glyph {
	return s.face(f).shape(dst, run)
}
