package edit

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/content"
	"example.com/quire/pdf/standard"
)

// Proved holds a file that was written against the redaction: no page shows what was to go, nothing
// stands in the boxes that were asked for, and no string, name or stream has the text. Else it is
// an error.
func (r *Redaction) Proved(ctx context.Context, d *Document) error {
	e := NewDraft(d)
	reader := newReader(e, nil)
	s := newImageReader(r.ocr, e, r.known)
	for i, p := range e.pages {
		drawn := reader.src.drawn(p)
		t, matches, err := r.every(ctx, reader.in, content.Place(i+1), drawn...)
		if err = cmp.Or(err, e.err); err != nil {
			return err
		}
		if len(matches) > 0 {
			return notProvable(content.Place(i+1), "the text is still found")
		}
		if reader.src.broken > 0 || reader.in.Skipped || r.re != nil && t.Unknown > 0 {
			return notProvable(content.Place(i+1), "not all of what was written can be read")
		}
		if err := r.unseen(ctx, s, reader.in.Again(), i, drawn); err != nil {
			return err
		}
		asked := r.boxes[i][:r.asked[i]]
		for _, c := range drawn {
			if err := r.tagged(content.Place(i+1), c.Data); err != nil {
				return err
			}
			if len(asked) == 0 {
				continue
			}
			err := reader.in.Run(ctx, c, content.Place(i+1), func(ev *content.Event) error {
				for _, g := range ev.Glyphs {
					if ev.Kind == content.Show && inAreas(g.Quad, asked) && strings.TrimSpace(g.Text) != "" {
						return notProvable(content.Place(i+1), "a character is still in a box")
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	r.Proof = Proof{Pages: len(e.pages)}
	var fault error
	contents := e.contents()
	e.reach(func(ref cos.Ref, key cos.Name, o cos.Object) {
		if r.Proof.Objects++; fault == nil {
			fault = r.clean(ctx, e, reader, ref, key, o, contents[ref])
		}
		if fault == nil {
			fault = r.unseenAlone(ctx, s, ref, o)
		}
		if fault == nil {
			fault = r.unseenWithin(ctx, s, reader, ref, o)
		}
	})
	r.Proof.Images = s.read
	if fault == nil {
		fault = e.err
	}
	return fault
}

// unseen is an error when OCR finds the text on a page that was written.
func (r *Redaction) unseen(ctx context.Context, s *imageReader, in *content.Interpreter, i int, drawn []content.Content) error {
	if r.ocr == nil {
		return nil
	}
	place := content.Place(i + 1)
	boxes, err := s.find(ctx, in, r.re, place, drawn, func(_ *drawnImage, err error) error { return unreadable(place, err) })
	if err == nil && len(boxes) > 0 {
		err = notProvable(place, "OCR still finds the text in an image")
	}
	return err
}

// unseenAlone is unseen for an image that no page draws, such as one of a pattern.
func (r *Redaction) unseenAlone(ctx context.Context, s *imageReader, ref cos.Ref, o cos.Object) error {
	if r.ocr == nil || s.seen[ref] || s.e.name(s.e.dict(o).Get("Subtype")) != "Image" {
		return nil
	}
	place := fmt.Sprintf("object %d", ref.Num)
	boxes, err := s.alone(ctx, ref, r.re, place, func(_ *drawnImage, err error) error { return unreadable(place, err) })
	if err == nil && len(boxes) > 0 {
		err = notProvable(place, "OCR finds the text in an image that no page draws on its own, or that is too small on the page to be read")
	}
	return err
}

// unseenWithin is unseen for the images that stand in the content of a form or a pattern, such as
// that of an annotation which is hidden.
func (r *Redaction) unseenWithin(ctx context.Context, s *imageReader, reader *textReader, ref cos.Ref, o cos.Object) error {
	of, ok := o.(*stream)
	if r.ocr == nil || !ok || of.dict.Get("Resources") == nil && s.e.name(of.dict.Get("Subtype")) != "Form" {
		return nil
	}
	place := fmt.Sprintf("object %d", ref.Num)
	images, err := s.images(ctx, reader.in, place, []content.Content{{
		Data: reader.src.Data(ref), Resources: s.e.dict(of.dict.Get("Resources")), Matrix: content.Identity,
	}})
	for i := range images {
		if err != nil {
			return err
		}
		if images[i].inline == nil { // each that is an object is read by itself
			continue
		}
		w, h := float64(s.e.integer(images[i].dict.Get("Width"), 1)), float64(s.e.integer(images[i].dict.Get("Height"), 1))
		images[i].m = content.Matrix{w, 0, 0, h, 0, 0}
		var boxes []area
		boxes, err = s.within(ctx, images[i:i+1], r.re, place, func(_ *drawnImage, err error) error { return unreadable(place, err) })
		if err == nil && len(boxes) > 0 {
			err = notProvable(place, "OCR finds the text in an image within its content")
		}
	}
	return err
}

// contents returns the streams that pages draw.
func (e *Draft) contents() map[cos.Ref]bool {
	all := map[cos.Ref]bool{}
	for _, p := range e.pages {
		c := p.Dict.Get("Contents")
		all[refOf(c)] = true
		for _, part := range e.array(c) {
			all[refOf(part)] = true
		}
	}
	return all
}

// clean is an error when an object of a file has what must not be; drawn says that it is content of
// a page, which was read as such.
func (r *Redaction) clean(ctx context.Context, e *Draft, reader *textReader, ref cos.Ref, key cos.Name, o cos.Object, drawn bool) error {
	place := fmt.Sprintf("object %d", ref.Num)
	var look func(o cos.Object, key cos.Name) bool
	look = func(o cos.Object, key cos.Name) bool {
		switch v := o.(type) {
		case cos.String, cos.Hex:
			s, _ := cos.TextOf(v)
			return r.says(s, key)
		case cos.Name:
			return key != "BaseFont" && key != "FontName" && r.named(v, key)
		case cos.Array:
			for i, x := range v {
				if look(x, keyIn(v, i, key)) {
					return true
				}
			}
		case cos.Dict:
			return slices.ContainsFunc(v, func(x cos.Entry) bool {
				return len(x.Key) > 3 && r.in(string(x.Key)) && !definedKeys[x.Key] || look(x.Value, x.Key)
			})
		case *stream:
			return look(v.dict, key)
		}
		return false
	}
	if look(o, key) {
		return notProvable(place, "a string or a name still has the text")
	}
	s, ok := o.(*stream)
	kind := e.name(e.dict(o).Get("Subtype"))
	if !ok || kind == "Image" || slices.Contains(fontPrograms, key) || r.re == nil {
		return nil
	}
	b := reader.src.Data(ref)
	resources := e.dict(s.dict.Get("Resources"))
	if kind == "XML" || e.name(s.dict.Get("Type")) == "Metadata" {
		if left, err := standard.StripXMP(b, r.in); err != nil || len(left) != len(b) {
			return notProvable(place, "metadata still have the text")
		}
		return nil // its elements are names of XMP
	}
	if resources != nil || kind == "Form" {
		_, m, err := r.every(ctx, reader.in, place, content.Content{Data: b, Resources: resources, Matrix: content.Identity})
		if err != nil {
			return err
		}
		if len(m) > 0 {
			return notProvable(place, "a form, a pattern or a glyph still shows the text")
		}
		return r.tagged(place, b)
	}
	// What else holds text in the clear: private data, programs of functions. CMaps and profiles
	// have words of their own, in every file.
	isProfile := len(b) > 40 && string(b[36:40]) == "acsp"
	if !drawn && !isProfile && !bytes.Contains(b, []byte("begincmap")) && (r.in(string(b)) || r.in(utf16Text(b)) || len(b) > 0 && r.in(utf16Text(b[1:]))) {
		return notProvable(place, "a stream still has the text")
	}
	return nil
}

// fontPrograms are the keys of embedded fonts (ISO 32000-2, 9.9), which are no text.
var fontPrograms = []cos.Name{"FontFile", "FontFile2", "FontFile3"}

// utf16Text returns data as a text string of UTF-16BE is read (7.9.2.2).
func utf16Text(b []byte) string {
	s, _ := cos.TextOf(cos.String("\xfe\xff" + string(b)))
	return s
}

// named reports whether a name that the maker of the file gave has what must not be.
func (r *Redaction) named(n, key cos.Name) bool {
	return len(n) > 3 && r.in(string(n)) && !slices.Contains(definedNames[key], n) && !slices.Contains(definedNames[""], n)
}

// tagged is an error when a name in content has what must not be, such as a tag or a resource.
func (r *Redaction) tagged(place string, data []byte) error {
	return cos.OperatorNames(data, func(_ []byte, names []cos.Name) error {
		for _, n := range names {
			if r.named(n, "S") {
				return notProvable(place, "a name in its content still has the text")
			}
		}
		return nil
	})
}
