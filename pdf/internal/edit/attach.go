package edit

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/quire/internal/nearest"
	"example.com/quire/pdf/cos"
)

// Attachments lists the embedded files by their names.
func (d *Document) Attachments() ([]Attachment, error) {
	e := NewDraft(d)
	return e.attachments(), e.err
}

// Extract writes an embedded file to w.
func (d *Document) Extract(w io.Writer, name string) error {
	e := NewDraft(d)
	x, err := e.attached(name)
	if err != nil {
		return err
	}
	o := e.embedded(e.dict(x.value))
	if _, ok := e.resolve(o).(*stream); !ok && e.err == nil {
		return &OptionError{Field: "name", Got: strconv.Quote(name) + ", which is not in the file but elsewhere", Want: "a file that is embedded"}
	}
	data := e.data(o)
	if e.err != nil {
		return e.err
	}
	_, err = w.Write(data)
	return err
}

// attached returns the embedded file of a name.
func (e *Draft) attached(name string) (named, error) {
	var names []string
	for _, x := range e.embeddedFiles() {
		a := e.attachment(x)
		if a.Name == name {
			return x, nil
		}
		names = append(names, a.Name)
	}
	if e.err != nil {
		return named{}, e.err
	}
	if len(names) == 0 {
		return named{}, &OptionError{Field: "name", Got: strconv.Quote(name), Want: "a PDF that carries files; this one carries none"}
	}
	shown := names[:min(len(names), 20)]
	return named{}, &OptionError{Field: "name", Got: strconv.Quote(name), Want: strings.Join(shown, ", "), Nearest: nearest.Name(name, names)}
}

func (e *Draft) embeddedFiles() []named {
	return e.names(e.dict(e.catalog().Get("Names")).Get("EmbeddedFiles"))
}

// Relationships are what an embedded file can be to a document (ISO 32000-2, table 43).
func Relationships() []string {
	return []string{"Source", "Data", "Alternative", "Supplement", "EncryptedPayload", "FormData", "Schema", "Unspecified"}
}

// Attach embeds a file (7.11.4), as one that is associated with the document (14.13.3). Modified is
// when it was changed; zero: it is not said.
func (e *Draft) Attach(a Attachment, data []byte, modified time.Time) error {
	if a.Name == "" || len(a.Name) > 1000 || strings.ContainsFunc(a.Name, func(r rune) bool { return r < ' ' || r == 0x7F || r == 0xFFFD }) {
		return &OptionError{Field: "name", Got: strconv.Quote(a.Name[:min(len(a.Name), 100)]), Want: "a name of a file, up to 1,000 bytes"}
	}
	a.Relationship = cmp.Or(a.Relationship, "Unspecified")
	if known := Relationships(); !slices.Contains(known, a.Relationship) {
		return &OptionError{Field: "relationship", Got: strconv.Quote(a.Relationship), Want: strings.Join(known, ", "), Nearest: nearest.Name(a.Relationship, known)}
	}
	if len(a.Type) > 127 {
		return &OptionError{Field: "type", Got: "more than 127 bytes", Want: "a media type such as text/csv"}
	}
	all := e.embeddedFiles()
	for _, x := range all {
		if e.attachment(x).Name == a.Name {
			return &OptionError{Field: "name", Got: strconv.Quote(a.Name) + ", which the document carries already", Want: "another name, or the old file taken away by detach"}
		}
	}
	params := cos.Dict{cos.E("Size", cos.Int(len(data)))}
	if !modified.IsZero() {
		params = append(params, cos.E("ModDate", cos.Date(modified)))
	}
	file := e.add(&stream{dict: cos.Dict{
		cos.E("Type", cos.Name("EmbeddedFile")), cos.E("Subtype", cos.Name(cmp.Or(a.Type, "application/octet-stream"))), cos.E("Params", params),
	}, data: data})
	spec := e.add(cos.Dict{
		cos.E("Type", cos.Name("Filespec")), cos.E("F", cos.Text(a.Name)), cos.E("UF", cos.Text(a.Name)),
		cos.E("EF", cos.Dict{cos.E("F", file), cos.E("UF", file)}), cos.E("AFRelationship", cos.Name(a.Relationship)),
		cos.E("Desc", cos.Text(cmp.Or(a.Description, a.Name))),
	})
	key := string(cos.TextKey(a.Name))
	for slices.ContainsFunc(all, func(x named) bool { return x.name == key }) { // by a file that is called otherwise
		key += "+"
	}
	e.setNames("EmbeddedFiles", append(all, named{key, spec}))
	e.change("AF", append(slices.Clone(e.array(e.catalog().Get("AF"))), spec))
	return nil
}

// Detach takes the embedded file of a name away, wherever it is associated.
func (e *Draft) Detach(name string) error {
	x, err := e.attached(name)
	if err != nil {
		return err
	}
	e.setNames("EmbeddedFiles", slices.DeleteFunc(e.embeddedFiles(), func(o named) bool { return o.name == x.name }))
	gone := refOf(x.value)
	var left cos.Array
	for _, o := range e.array(e.catalog().Get("AF")) {
		if r := refOf(o); r.IsZero() || r != gone {
			left = append(left, o)
		}
	}
	e.change("AF", nil)
	if left != nil {
		e.change("AF", left)
	}
	if !gone.IsZero() { // pages, elements and annotations may name it too
		e.set(gone, cos.Null{})
	}
	return nil
}

// attachments lists the embedded files by their names.
func (e *Draft) attachments() []Attachment {
	out := []Attachment{}
	for _, x := range e.embeddedFiles() {
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
