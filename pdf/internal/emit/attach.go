package emit

import (
	"cmp"
	"fmt"
	"slices"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/diag"
)

var relationships = [...]cos.Name{
	doc.RelationUnspecified: "Unspecified", doc.RelationSource: "Source", doc.RelationData: "Data",
	doc.RelationAlternative: "Alternative", doc.RelationSupplement: "Supplement",
}

// attachments writes the files that the document carries and returns the entries of the catalog
// that list them: by name (7.7.4) and as what is associated with the document (14.13.3).
func (e *Emitter) attachments() (cos.Dict, error) {
	files := e.doc.Attachments
	if len(files) == 0 {
		return nil, nil
	}
	type named struct {
		key cos.String
		ref cos.Ref
		of  *doc.Attachment
	}
	all := make([]named, 0, len(files))
	var associated cos.Array
	for i := range files {
		ref, err := e.attach(&files[i])
		if err != nil {
			return nil, err
		}
		all = append(all, named{cos.TextKey(files[i].Name), ref, &files[i]})
		associated = append(associated, ref)
	}
	slices.SortStableFunc(all, func(a, b named) int { return cmp.Compare(string(a.key), string(b.key)) })
	var tree cos.Array
	for i, n := range all {
		if i > 0 && string(n.key) == string(all[i-1].key) {
			return nil, attachError(n.of, fmt.Sprintf("two attached files have the name %q", n.of.Name))
		}
		tree = append(tree, n.key, n.ref)
	}
	return cos.Dict{
		cos.E("Names", cos.Dict{cos.E("EmbeddedFiles", cos.Dict{cos.E("Names", tree)})}),
		cos.E("AF", associated),
	}, nil
}

func attachError(a *doc.Attachment, message string) error {
	return diag.Fail(a.Src.Place(diag.Diagnostic{Code: "L317", Path: "attach", Message: message}))
}

// attach writes one file with its specification (7.11.3).
func (e *Emitter) attach(a *doc.Attachment) (cos.Ref, error) {
	e.from = a.Src
	defer func() { e.from = nil }()
	if a.Name == "" {
		return cos.Ref{}, attachError(a, "an attached file has no name")
	}
	params := cos.Dict{cos.E("Size", cos.Int(len(a.Data)))}
	if !e.o.Time.IsZero() {
		params = append(params, cos.E("ModDate", cos.Date(e.o.Time)))
	}
	file := e.w.Reserve()
	if err := e.w.Stream(file, cos.Dict{
		cos.E("Type", cos.Name("EmbeddedFile")),
		cos.E("Subtype", cos.Name(cmp.Or(a.Type, "application/octet-stream"))),
		cos.E("Params", params),
	}, a.Data); err != nil {
		return file, err
	}
	ref := e.w.Reserve()
	return ref, e.w.Put(ref, cos.Dict{
		cos.E("Type", cos.Name("Filespec")),
		cos.E("F", cos.Text(a.Name)), cos.E("UF", cos.Text(a.Name)),
		cos.E("EF", cos.Dict{cos.E("F", file), cos.E("UF", file)}),
		cos.E("AFRelationship", relationships[a.Relationship]),
		cos.E("Desc", cos.Text(cmp.Or(a.Description, a.Name))),
	})
}
