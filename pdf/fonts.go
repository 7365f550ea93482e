package pdf

import (
	"cmp"
	"crypto/sha256"
	"strings"
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
	if !o.Once {
		s.mu.Lock()
		defer s.mu.Unlock()
		if t := s.bySum[f.Sum()]; t != nil {
			return t, nil
		}
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
	if s.off || o.Once {
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

// fontOption is the option that gives a file of a font, in errors.
const fontOption = "font-file"

// textFault is what was found wrong with the text of an option, as an error of that option or of
// the one that gave the font. want is what is wanted where it is neither of fonts nor of glyphs.
func textFault(option string, d Diagnostic, want string) *OptionError {
	switch d.Code {
	case "F403":
		_, message, _ := strings.Cut(d.Message, "family "+fontOption+": ")
		return &OptionError{Field: fontOption, Got: cmp.Or(message, d.Message), Want: "a TrueType or OpenType font that may be embedded"}
	case "F401", "F402", "F404":
		want = "characters that the fonts have, or a font with them by " + fontOption
	}
	return &OptionError{Field: option, Got: d.Message, Want: want}
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
