package form

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"example.com/quire/internal/strictjson"
)

// json reads an object of names. The value of one may be an object again, of fields below it.
func (r *reader) json(data []byte) error {
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	if _, err := strictjson.Check(data, strictjson.Limits{Depth: mostDepth, Nodes: 4 * mostFields}); err != nil {
		return r.fail("", strings.TrimPrefix(err.Error(), "json: "))
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	t, err := d.Token()
	if err != nil || t != json.Delim('{') {
		return r.fail("", "no object of names and values")
	}
	if err := r.object(d, ""); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return r.fail("", "something behind the object")
	}
	return nil
}

// object reads the members of an object, to its end.
func (r *reader) object(d *json.Decoder, name string) error {
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return r.fail(name, err.Error())
		}
		part, _ := t.(string)
		if err := r.member(d, below(name, part)); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// member reads the value of a field.
func (r *reader) member(d *json.Decoder, name string) error {
	t, err := d.Token()
	if err != nil {
		return r.fail(name, err.Error())
	}
	switch t {
	case json.Delim('{'):
		return r.object(d, name)
	case json.Delim('['):
		is := []string{}
		for d.More() {
			t, err := d.Token()
			if err != nil {
				return r.fail(name, err.Error())
			}
			s, ok := scalar(t)
			if !ok {
				return r.fail(name, "a list holds texts")
			}
			is = append(is, s)
		}
		if _, err := d.Token(); err != nil {
			return r.fail(name, err.Error())
		}
		return r.add(name, is)
	case nil:
		return r.add(name, nil)
	}
	s, _ := scalar(t)
	return r.add(name, []string{s})
}

// scalar is the text of a value that is none of lists and objects.
func scalar(t json.Token) (string, bool) {
	switch v := t.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

func appendJSON(b []byte, values []Value) []byte {
	b = append(b, '{')
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(strictjson.AppendString(append(b, "\n  "...), v.Name), ": "...)
		switch len(v.Is) {
		case 0:
			b = append(b, `""`...)
		case 1:
			b = strictjson.AppendString(b, v.Is[0])
		default:
			b = append(b, '[')
			for k, s := range v.Is {
				if k > 0 {
					b = append(b, ", "...)
				}
				b = strictjson.AppendString(b, s)
			}
			b = append(b, ']')
		}
	}
	return append(b, "\n}\n"...)
}
