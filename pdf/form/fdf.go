package form

import (
	"bytes"
	"strings"

	"example.com/quire/pdf/cos"
)

// fdf reads the fields of an FDF file: names and values. What else it may have, such as
// appearances, actions and annotations, is passed over.
func (r *reader) fdf(data []byte) error {
	f, err := cos.NewReader(bytes.NewReader(data), int64(len(data)), cos.ReaderOptions{Fields: true, Limits: cos.ReadLimits{FileBytes: MostBytes}})
	if err != nil {
		return r.fail("", strings.TrimPrefix(err.Error(), "cos: read: "))
	}
	root, err := f.Dict(f.Trailer().Get("Root"))
	if err != nil {
		return r.fail("", err.Error())
	}
	d, err := f.Dict(root.Get("FDF"))
	if err != nil || d == nil {
		return r.fail("", "no FDF dictionary")
	}
	x := fdfReader{r: r, f: f}
	return x.fields(d.Get("Fields"), "", 0)
}

type fdfReader struct {
	r *reader
	f *cos.Reader
	n int
}

// fields reads an array of fields.
func (x *fdfReader) fields(o cos.Object, name string, depth int) error {
	o, err := x.f.Resolve(o)
	if err != nil {
		return x.r.fail(name, err.Error())
	}
	list, _ := o.(cos.Array)
	for _, o := range list {
		if x.n++; x.n > mostFields || depth > mostDepth { // a circle ends here too
			return x.r.fail(name, "too many fields, or fields too deep below each other")
		}
		d, err := x.f.Dict(o)
		if err != nil {
			return x.r.fail(name, err.Error())
		}
		if d == nil {
			return x.r.fail(name, "a field that is not a dictionary")
		}
		full := name
		if t := d.Get("T"); t != nil {
			part, err := x.text(t)
			if err != nil {
				return x.r.fail(name, err.Error())
			}
			if full = below(name, part); len(full) > mostName {
				return x.r.fail(full[:40]+"...", "a name that is too long")
			}
		}
		if v := d.Get("V"); v != nil {
			is, err := x.value(v)
			if err != nil {
				return x.r.fail(full, err.Error())
			}
			if err := x.r.add(full, is); err != nil {
				return err
			}
		}
		if kids := d.Get("Kids"); kids != nil {
			if err := x.fields(kids, full, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// valueError is a value of another kind.
type valueError string

func (e valueError) Error() string { return string(e) }

// value reads what a field holds: a text, a name, or an array of texts.
func (x *fdfReader) value(o cos.Object) ([]string, error) {
	o, err := x.f.Resolve(o)
	if err != nil {
		return nil, err
	}
	switch v := o.(type) {
	case nil, cos.Null:
		return nil, nil
	case cos.Array:
		is := []string{}
		for _, o := range v {
			s, err := x.text(o)
			if err != nil {
				return nil, err
			}
			is = append(is, s)
		}
		return is, nil
	}
	s, err := x.text(o)
	return []string{s}, err
}

// text reads a text string, the text of a stream, or a name.
func (x *fdfReader) text(o cos.Object) (string, error) {
	o, err := x.f.Resolve(o)
	if err != nil {
		return "", err
	}
	switch v := o.(type) {
	case cos.Name:
		return string(v), nil
	case *cos.Stream:
		b, rest, err := x.f.Decode(v)
		if err != nil || len(rest) > 0 {
			return "", valueError("a stream that cannot be read")
		}
		o = cos.String(b)
	}
	s, ok := cos.TextOf(o)
	if !ok {
		return "", valueError("a value that is not a text")
	}
	return s, nil
}

func appendFDF(b []byte, file string, values []Value) []byte {
	var fields func(list []*node) cos.Array
	fields = func(list []*node) (out cos.Array) {
		for _, n := range list {
			d := cos.Dict{cos.E("T", cos.Text(n.part))}
			if n.is != nil {
				d = append(d, cos.E("V", fdfValue(n.is)))
			}
			if len(n.kids) > 0 {
				d = append(d, cos.E("Kids", fields(n.kids)))
			}
			out = append(out, d)
		}
		return out
	}
	d := cos.Dict{}
	if file != "" {
		d = append(d, cos.E("F", cos.Text(file)))
	}
	list := fields(hierarchy(values).kids)
	if list == nil {
		list = cos.Array{}
	}
	b = append(b, "%FDF-1.2\n%\xE2\xE3\xCF\xD3\n1 0 obj\n"...)
	b = cos.Dict{cos.E("FDF", append(d, cos.E("Fields", list)))}.AppendPDF(b)
	return append(b, "\nendobj\ntrailer\n<</Root 1 0 R>>\n%%EOF\n"...)
}

func fdfValue(v *Value) cos.Object {
	switch {
	case len(v.Is) == 0:
		return cos.Text("")
	case len(v.Is) == 1 && v.State:
		return cos.Name(strings.ReplaceAll(v.Is[0], "\x00", ""))
	case len(v.Is) == 1:
		return cos.Text(v.Is[0])
	}
	var a cos.Array
	for _, s := range v.Is {
		a = append(a, cos.Text(s))
	}
	return a
}
