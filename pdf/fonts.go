package pdf

import (
	"crypto/sha256"
	"sync"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/font"
	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/text"
	"example.com/quire/pdf/internal/text/gotext"
	"example.com/quire/pdf/standard"
)

// maxSetters bounds the sets of fonts that an engine keeps, and setterCache the bytes of shaped
// words of each.
const (
	maxSetters  = 16
	setterCache = 1 << 20
)

// setters keeps the typesetters of documents that bring fonts along, by the SHA-256 of all that the
// fonts are made of. The oldest go first.
type setters struct {
	off   bool // keep none
	mu    sync.Mutex
	bySum map[[sha256.Size]byte]*text.Typesetter
	order [][sha256.Size]byte
}

// typesetter returns the one for documents with fonts of their own; those without share the
// engine's.
func (e *Engine) typesetter(f *doc.Fonts, claims []standard.ID) (*text.Typesetter, error) {
	if f == nil {
		return e.setter, nil
	}
	o := f.Options()
	if o.Boxes && len(claims) > 0 {
		return nil, diag.Fail(Diagnostic{
			Code: "S051", Path: "fonts.missing", Message: "a document that claims " + claims[0].String() + " has no missing glyphs",
			Clause: "ISO 19005-4, 6.2.10.9", Suggestion: "leave out missing: box, or the standard",
		})
	}
	s := &e.setters
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.bySum[f.Sum()]; t != nil {
		return t, nil
	}
	lib, err := e.fonts.With(font.Options{Families: families(o.Families), Fallback: o.Fallback})
	if err != nil {
		return nil, diag.Fail(Diagnostic{Code: "F403", Path: "fonts", Message: err.Error()})
	}
	cache := int64(setterCache)
	if s.off {
		cache = 0
	}
	t := text.NewTypesetter(lib, &gotext.Shaper{Proven: liberation.Embedded}, &gotext.Segmenter{}, cache)
	t.Synthetic, t.Boxes = o.Synthetic, o.Boxes
	if s.off {
		return t, nil
	}
	if s.bySum == nil {
		s.bySum = map[[sha256.Size]byte]*text.Typesetter{}
	}
	if len(s.order) == maxSetters {
		delete(s.bySum, s.order[0])
		s.order = s.order[1:]
	}
	s.bySum[f.Sum()] = t
	s.order = append(s.order, f.Sum())
	return t, nil
}

// families are those of a document, as a library takes them.
func families(list []doc.FontFamily) []font.Family {
	out := make([]font.Family, len(list))
	for i, f := range list {
		out[i].Name = f.Name
		for _, face := range [...]struct {
			data  []byte
			style font.Style
		}{
			{f.Regular, font.Style{Weight: 400}},
			{f.Bold, font.Style{Weight: 700}},
			{f.Italic, font.Style{Weight: 400, Italic: true}},
			{f.BoldItalic, font.Style{Weight: 700, Italic: true}},
		} {
			if face.data != nil {
				out[i].Faces = append(out[i].Faces, font.Source{Style: face.style, Data: face.data})
			}
		}
	}
	return out
}
