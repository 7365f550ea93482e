package pdftest

import (
	"context"
	"fmt"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/internal/text"
	"example.com/quire/pdf/internal/text/gotext"
)

// Setting lays out English text in 10 pt Liberation Sans as documents do, and draws nothing: for
// benchmarks of steps that a whole document does not show separately. It is not safe for concurrent
// use.
type Setting struct {
	words *text.Typesetter
	piece [1]text.Piece
}

// NewSetting returns a Setting whose words come from the cache once they were shaped; with slow,
// each is shaped again with the OpenType tables.
func NewSetting(slow bool) (*Setting, error) {
	const cache = 16 << 20
	s := &Setting{words: text.NewTypesetter(liberation.New(), &gotext.Shaper{Proven: liberation.Embedded}, &gotext.Segmenter{}, cache)}
	if slow {
		s.words = text.NewTypesetter(liberation.New(), &gotext.Shaper{}, &gotext.Segmenter{}, 0)
	}
	chain, err := s.words.Chain(text.Query{})
	if err != nil {
		return nil, fmt.Errorf("setting: %w", err)
	}
	s.piece[0] = text.Piece{Chain: chain, Size: 10 * doc.Pt, Lang: "en"}
	return s, nil
}

// Justify breaks paragraphs into justified lines of a width, with hyphens: by total fit, or each
// line as long as it can be. It returns how many lines there are.
func (s *Setting) Justify(paragraphs []string, width doc.Length, total bool) (int, error) {
	return s.set(paragraphs, width, text.Options{Align: doc.AlignJustify, Total: total, Hyphenate: true})
}

// Shape shapes words, each by itself. It returns how many glyphs there are.
func (s *Setting) Shape(words []string) (int, error) {
	setter := text.NewSetter(context.Background(), s.words)
	defer setter.Close()
	n := 0
	for _, w := range words {
		parts, err := setter.Word(&s.piece[0], w)
		if err != nil {
			return n, fmt.Errorf("setting: %w", err)
		}
		for i := range parts {
			n += len(parts[i].Glyphs)
		}
	}
	return n, nil
}

func (s *Setting) set(texts []string, width doc.Length, o text.Options) (int, error) {
	setter := text.NewSetter(context.Background(), s.words)
	defer setter.Close()
	n := 0
	for _, t := range texts {
		s.piece[0].Text = t
		lines, err := setter.SetParagraph(s.piece[:], width, o)
		if err != nil {
			return n, fmt.Errorf("setting: %w", err)
		}
		n += len(lines)
	}
	s.piece[0].Text = ""
	return n, nil
}
