package emit

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"strconv"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/font"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/layout"
	"example.com/quire/pdf/internal/svg"
)

// What follows is for PDF/A-1 alone, whose files are of PDF 1.4 and have no transparency: what
// would need it is refused at its place.

// opaqueWatermark judges the opacity of a watermark.
func (e *Emitter) opaqueWatermark(u *layout.UnderItem) error {
	if u.Opacity >= 1 || e.o.Force {
		return nil
	}
	at := &doc.Source{Path: "watermark"}
	if u.Image != nil && u.Image.Src != nil {
		at = u.Image.Src
	}
	return e.check.Transparency(
		"a watermark of opacity "+strconv.FormatFloat(u.Opacity, 'g', 3, 64), at, "use opacity: 1 and a pale colour, or claim pdf/a-2b",
	).Err()
}

// opaqueImage judges the alpha channel and the profile of an image.
func (e *Emitter) opaqueImage(it *layout.ImageItem) error {
	x := it.Image.XObject()
	if e.o.Force {
		return nil
	}
	if x.Mask != nil {
		if err := e.check.Transparency("an image with transparent parts", it.Src, "save it on a white ground, or claim pdf/a-2b").Err(); err != nil {
			return err
		}
	}
	if x.Profile != nil {
		return e.check.Profile(x.Profile.Version, it.Src).Err()
	}
	return nil
}

// opaqueDrawing judges a form of a drawing with those that it draws.
func (e *Emitter) opaqueDrawing(f *svg.Form, src *doc.Source) error {
	if e.o.Force || !e.check.Opaque() {
		return nil
	}
	transparent := f.Group
	for i := range f.States {
		s := &f.States[i]
		transparent = transparent || s.Fill < 1 || s.Stroke < 1 || s.Blend != "" || s.Mask != nil
	}
	if transparent {
		return e.check.Transparency("a drawing with transparent parts", src, "draw it without opacity and masks, or claim pdf/a-2b").Err()
	}
	var code []byte
	for i := range f.Ops {
		code = append(append(code, f.Ops[i].Code...), '\n')
	}
	if err := e.mayHold(code, src); err != nil {
		return err
	}
	for _, inner := range f.Forms {
		if err := e.opaqueDrawing(inner, src); err != nil {
			return err
		}
	}
	return nil
}

// mayHold judges content by the limits of PDF 1.4.
func (e *Emitter) mayHold(code []byte, src *doc.Source) error {
	if e.o.Force || !e.check.Opaque() {
		return nil
	}
	return e.check.Content(code, src).Err()
}

// mayList judges the widths of a font by the limits of PDF 1.4.
func (e *Emitter) mayList(s *font.Subset) error {
	if e.w.Version() != cos.V14 {
		return nil
	}
	depth, outer, inner, word := 0, 0, 0, false
	for _, b := range s.W {
		switch b {
		case '[':
			if depth++; depth == 2 {
				outer, inner = outer+1, 0
			}
			word = false
		case ']':
			depth--
			word = false
		case ' ', '\n':
			word = false
		default:
			if !word && depth == 1 {
				outer++
			} else if !word {
				inner++
			}
			word = true
		}
		if most := max(outer, inner); most > mostInArray {
			return &diag.LimitError{Name: "ArrayLen", Value: int64(most), Limit: mostInArray, Place: "the widths of " + s.Name}
		}
	}
	return nil
}

// mostInArray is how many elements an array of PDF 1.4 has at most.
const mostInArray = 8_191

// cidSet writes the CIDSet of a subset: a bit for each CID that the program has (ISO 19005-1,
// 6.3.5). It is zero where the standard asks for none.
func (e *Emitter) cidSet(s *font.Subset) (cos.Ref, error) {
	if !e.o.Listed && !e.check.Opaque() {
		return cos.Ref{}, nil
	}
	r, err := zlib.NewReader(bytes.NewReader(s.Program))
	if err != nil {
		return cos.Ref{}, fmt.Errorf("pdf: list the glyphs of %s: %w", s.Name, err)
	}
	program, err := io.ReadAll(io.LimitReader(r, int64(s.Length1)))
	if err != nil {
		return cos.Ref{}, fmt.Errorf("pdf: list the glyphs of %s: %w", s.Name, err)
	}
	p, err := font.ParseEmbedded(program, e.o.Limits)
	if err != nil {
		return cos.Ref{}, fmt.Errorf("pdf: list the glyphs of %s: %w", s.Name, err)
	}
	ref := e.w.Reserve()
	return ref, e.w.Stream(ref, nil, p.CIDSet())
}
