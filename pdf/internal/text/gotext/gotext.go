// Package gotext shapes text, and finds line breaks and grapheme clusters, with
// github.com/go-text/typesetting, behind the interfaces of package text.
package gotext

import (
	"cmp"
	"slices"
	"sync"

	"github.com/go-text/typesetting/segmenter"

	"example.com/quire/pdf/internal/text"
	"example.com/quire/pdf/internal/text/dictionary"
)

// Segmenter implements text.Segmenter by UAX #14 and UAX #29 of Unicode 17.0, and finds the words
// of scripts without spaces by package dictionary. The zero value is ready; it is safe for
// concurrent use.
type Segmenter struct {
	pool  sync.Pool
	words dictionary.Library
}

var _ text.Segmenter = (*Segmenter)(nil)

func (g *Segmenter) take(s string) *segmenter.Segmenter {
	seg, _ := g.pool.Get().(*segmenter.Segmenter)
	if seg == nil {
		seg = new(segmenter.Segmenter)
	}
	if err := seg.InitWithString(s); err != nil {
		// Only invalid UTF-8 is an error, and callers hand in cleaned text. Runes
		// keep the byte offsets that the caller sees only when every one is valid.
		seg.Init([]rune(text.Clean(s)))
	}
	return seg
}

// give keeps a segmenter that was used for s, unless that made it large.
func (g *Segmenter) give(seg *segmenter.Segmenter, s string) {
	if len(s) <= mostKept {
		g.pool.Put(seg)
	}
}

// Breaks implements text.Segmenter.
func (g *Segmenter) Breaks(dst []text.Break, s string) []text.Break {
	if s == "" {
		return dst
	}
	seg, from := g.take(s), len(dst)
	for it := seg.LineIterator(); it.Next(); {
		l := it.Line()
		if end := l.OffsetInBytes + l.LengthInBytes; end < len(s) {
			dst = append(dst, text.Break{Pos: end, Mandatory: l.IsMandatoryBreak})
		}
	}
	g.give(seg, s)
	if words := g.words.Breaks(nil, s); words != nil {
		for _, at := range words {
			dst = append(dst, text.Break{Pos: at})
		}
		slices.SortFunc(dst[from:], func(a, b text.Break) int { return cmp.Compare(a.Pos, b.Pos) })
	}
	return dst
}

// Graphemes implements text.Segmenter.
func (g *Segmenter) Graphemes(dst []int, s string) []int {
	if s == "" {
		return dst
	}
	seg := g.take(s)
	for it := seg.GraphemeIterator(); it.Next(); {
		c := it.Grapheme()
		dst = append(dst, min(c.OffsetInBytes+c.LengthInBytes, len(s)))
	}
	g.give(seg, s)
	return dst
}
