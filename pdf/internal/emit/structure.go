package emit

import (
	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/layout"
	"example.com/quire/pdf/internal/tag"
	"example.com/quire/pdf/standard"
)

// begin adds the elements that start on the page, in reading order.
func (e *Emitter) begin(p *layout.Page) error {
	if e.tree == nil {
		return nil
	}
	n := 0
	for _, el := range p.Begun {
		if el.Ref().IsZero() {
			n++
		}
	}
	e.tree.Expect(n)
	for _, el := range p.Begun {
		if err := e.add(el); err != nil {
			return err
		}
	}
	return nil
}

// done writes the elements that are complete.
func (e *Emitter) done(p *layout.Page) error {
	if e.tree == nil {
		return nil
	}
	for _, el := range p.Done {
		if err := e.add(el); err != nil {
			return err
		}
		if err := e.tree.Finish(el); err != nil {
			return err
		}
	}
	return nil
}

// add puts el, and those above it, into the structure tree where they are not yet.
func (e *Emitter) add(el *tag.Elem) error {
	if !el.Ref().IsZero() {
		return nil
	}
	if p := el.Parent; p != nil && p.Ref().IsZero() {
		if err := e.add(p); err != nil {
			return err
		}
	}
	if !e.o.Force {
		if l := e.check.Elem(el); len(l) > 0 {
			return l.Err()
		}
	}
	return e.tree.Add(el)
}

// enclosed shows the judge an annotation with its element.
func (e *Emitter) enclosed(r cos.Ref, d cos.Dict, el *tag.Elem) {
	if e.judge != nil {
		e.judge.Enclosed(standard.Enclosure{Annotation: r, Dict: d, In: cos.Name(el.Type.String()), Alt: el.Alt, Src: el.Src})
	}
}

// verdict asks the judge about all that was written: a file that breaks a standard which
// it claims is not ended.
func (e *Emitter) verdict(t cos.Trailer) error {
	if e.judge == nil || e.o.Force {
		return nil
	}
	var l diag.List
	for _, f := range e.judge.Finish(t) {
		l.Add(f.Src.Place(diag.Diagnostic{Code: f.Rule, Message: f.Message, Clause: f.Clause}))
	}
	return l.Err()
}

// figureBox states the place of a figure on its page (14.8.5.4.3), and that it is a block unless it
// stands within a line.
func (e *Emitter) figureBox(el *tag.Elem, inline bool, x, y, w, h doc.Length) error {
	b := []byte("/O/Layout/Placement/Block/BBox[")
	if inline {
		b = []byte("/O/Layout/BBox[")
	}
	for i, v := range [4]doc.Length{x, y, x + w, y + h} {
		if i > 0 {
			b = append(b, ' ')
		}
		b = cos.AppendFixed(b, int64(v), 2)
	}
	return e.tree.AddAttributes(el, string(append(b, ']')))
}
