package edit

import (
	"example.com/quire/pdf/cos"
)

// attachments lists the embedded files by their names.
func (e *Draft) attachments() []Attachment {
	out := []Attachment{}
	for _, x := range e.names(e.dict(e.catalog().Get("Names")).Get("EmbeddedFiles")) {
		out = append(out, e.attachment(x))
	}
	return out
}

func (e *Draft) attachment(x named) Attachment {
	spec := e.dict(x.value)
	a := Attachment{Description: e.text(spec.Get("Desc")), Relationship: string(e.name(spec.Get("AFRelationship")))}
	for _, key := range [...]cos.Name{"UF", "F"} {
		if a.Name == "" {
			a.Name = e.text(spec.Get(key))
		}
	}
	if a.Name == "" {
		a.Name, _ = cos.TextOf(cos.String(x.name))
	}
	file := e.dict(e.embedded(spec))
	a.Type = string(e.name(file.Get("Subtype")))
	a.Size = max(e.integer(e.dict(file.Get("Params")).Get("Size"), 0), 0)
	return a
}

// embedded returns the stream of a file specification.
func (e *Draft) embedded(spec cos.Dict) cos.Object {
	ef := e.dict(spec.Get("EF"))
	for _, key := range [...]cos.Name{"UF", "F"} {
		if o := ef.Get(key); o != nil {
			return o
		}
	}
	return nil
}
