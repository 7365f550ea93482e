// Package yaml is the codec of YAML for web.Options.Codecs:
//
//	app, err := web.New(web.Options{Codecs: []web.Codec{yaml.Codec{}}})
//
// Bodies of type application/yaml are then bound, Context.YAML answers, and Context.Negotiate
// offers YAML. Names, embedding and options are those of the json tags, so that a type reads the
// same in both, save json.Number, which is not read.
//
// What is read is YAML 1.2 with the core schema, of which JSON is part, and without what makes a
// text mean something else than it shows or cost more than it looks: anchors, aliases, tags, merge
// keys, several documents and keys that stand twice are refused. What is written is in block style,
// fields in the order of their type, map keys sorted, and every text between quotation marks, so
// that no reader takes "no" or "1.10" for anything else.
package yaml

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"

	"example.com/quire/internal/strictjson"
	"example.com/quire/internal/strictyaml"
)

// Codec reads and writes application/yaml (RFC 9512). Its zero value has the limits of JSON
// bodies. It is safe for concurrent use.
type Codec struct {
	Depth int // nesting; default 64
	Nodes int // values; default 100,000
}

// MediaTypes are application/yaml and the names from before it was registered.
func (Codec) MediaTypes() []string {
	return []string{"application/yaml", "application/x-yaml", "text/yaml"}
}

// Encode writes v as one document.
func (Codec) Encode(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("yaml: encode: %w", err)
	}
	text, err := FromJSON(b.Bytes())
	if err != nil {
		return fmt.Errorf("yaml: encode: %w", err)
	}
	_, err = w.Write(text)
	return err
}

// Error is a text that is no YAML of the dialect, or does not fit what it is read into.
type Error struct {
	Line, Column int // from 1, in characters; 0 where the place is not known
	Pointer      string
	Reason       string
	Err          error
}

func (e *Error) Error() string {
	return fmt.Sprintf("yaml: line %d column %d %s: %s", e.Line, e.Column, e.Pointer, e.Reason)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Place tells web where in a body the fault lies and what it is.
func (e *Error) Place() (line, column int, pointer, reason string) {
	return e.Line, e.Column, e.Pointer, e.Reason
}

// Decode reads one document into v, a pointer: names are compared exactly, and those that v does
// not have are errors. The error is an *Error.
func (c Codec) Decode(r io.Reader, v any) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	limits := strictyaml.Limits{Depth: c.Depth, Nodes: c.Nodes}
	if limits.Depth <= 0 {
		limits.Depth = 64
	}
	if limits.Nodes <= 0 {
		limits.Nodes = 100_000
	}
	root, problems := strictyaml.Parse(text, limits)
	if len(problems) > 0 {
		p := problems[0]
		reason := p.Message
		if p.Hint != "" {
			reason += ": " + p.Hint
		}
		return &Error{Line: p.Line, Column: p.Col, Reason: reason}
	}
	in := &inverse{places: map[string]*strictyaml.Node{}}
	if err := in.write(root, ""); err != nil {
		return err
	}
	err = strictjson.Decode(in.b.Bytes(), v, strictjson.DecodeOptions{})
	fault, ok := errors.AsType[*strictjson.Fault](err)
	if !ok {
		return err
	}
	e := &Error{Pointer: fault.Pointer, Reason: fault.Message(), Err: fault}
	if n := in.places[fault.Pointer]; n != nil {
		e.Line, e.Column = n.Line, n.Col
	}
	return e
}

// inverse writes a tree as JSON and notes where its values stand.
type inverse struct {
	b      bytes.Buffer
	places map[string]*strictyaml.Node // by JSON Pointer
}

func (w *inverse) write(n *strictyaml.Node, at string) error {
	w.places[at] = n
	switch n.Kind {
	case strictyaml.Mapping:
		w.b.WriteByte('{')
		for i, key := range n.Keys {
			if i > 0 {
				w.b.WriteByte(',')
			}
			w.b.Write(strictjson.AppendString(nil, key.Text))
			w.b.WriteByte(':')
			if err := w.write(n.Values[i], at+"/"+strictjson.Token(key.Text)); err != nil {
				return err
			}
		}
		w.b.WriteByte('}')
	case strictyaml.Sequence:
		w.b.WriteByte('[')
		for i, item := range n.Items {
			if i > 0 {
				w.b.WriteByte(',')
			}
			if err := w.write(item, at+"/"+strconv.Itoa(i)); err != nil {
				return err
			}
		}
		w.b.WriteByte(']')
	case strictyaml.String:
		w.b.Write(strictjson.AppendString(nil, n.Text))
	case strictyaml.Null:
		w.b.WriteString("null")
	case strictyaml.Bool:
		w.b.WriteString(strings.ToLower(n.Text))
	default:
		text, ok := number(n)
		if !ok {
			return &Error{Line: n.Line, Column: n.Col, Pointer: at, Reason: "the number " + n.Text + " has no JSON form"}
		}
		w.b.WriteString(text)
	}
	return nil
}

// number writes a number of the core schema (YAML 1.2.2, section 10.3.2) as JSON: a decimal one
// keeps its digits.
func number(n *strictyaml.Node) (string, bool) {
	text := strings.TrimPrefix(n.Text, "+")
	if json.Valid([]byte(text)) {
		return text, true
	}
	if n.Kind == strictyaml.Int {
		base := 10
		switch {
		case strings.HasPrefix(text, "0x"):
			base, text = 16, text[2:]
		case strings.HasPrefix(text, "0o"):
			base, text = 8, text[2:]
		}
		if len(text) > 1000 { // the conversion is not linear
			return "", false
		}
		i, ok := new(big.Int).SetString(text, base)
		return fmt.Sprint(i), ok
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return "", false
	}
	b, err := json.Marshal(f)
	return string(b), err == nil // .inf and .nan are none
}

// FromJSON writes a JSON text as YAML: in block style, members in their order, numbers as they
// are written.
func FromJSON(text []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	w := &writer{d: d}
	if err := w.value(0, false); err != nil {
		return nil, fmt.Errorf("yaml: %w", err)
	}
	return bytes.TrimPrefix(w.b.Bytes(), []byte(" ")), nil
}

type writer struct {
	d *json.Decoder
	b bytes.Buffer
}

// value writes the next value. nested is true behind a name or a dash.
func (w *writer) value(depth int, nested bool) error {
	token, err := w.d.Token()
	if err != nil {
		return err
	}
	switch t := token.(type) {
	case json.Delim:
		return w.container(t == '[', depth, nested)
	case string:
		w.b.WriteByte(' ')
		w.b.Write(quoted(t))
		w.b.WriteByte('\n')
	case json.Number:
		w.b.WriteString(" " + t.String() + "\n")
	case bool:
		w.b.WriteString(" " + strconv.FormatBool(t) + "\n")
	default:
		w.b.WriteString(" null\n")
	}
	return nil
}

func (w *writer) container(list bool, depth int, nested bool) error {
	switch {
	case !w.d.More() && list:
		w.b.WriteString(" []\n")
	case !w.d.More():
		w.b.WriteString(" {}\n")
	case nested:
		w.b.WriteByte('\n')
	}
	for w.d.More() {
		w.b.WriteString(strings.Repeat("  ", depth))
		if list {
			w.b.WriteByte('-')
		} else {
			token, err := w.d.Token()
			if err != nil {
				return err
			}
			name, _ := token.(string) // a name is a string
			w.b.Write(key(name))
			w.b.WriteByte(':')
		}
		if err := w.value(depth+1, true); err != nil {
			return err
		}
	}
	_, err := w.d.Token()
	return err
}

// quoted is a double-quoted scalar: what JSON writes is one, save that YAML's escapes have no
// surrogate pairs, which are never written.
func quoted(s string) []byte { return strictjson.AppendString(nil, s) }

// key leaves plain what cannot be taken for anything but a text, by YAML 1.1 either.
func key(s string) []byte {
	plain := len(s) > 3 && s[0] >= 'a' && s[0] <= 'z'
	for i := range len(s) {
		c := s[i]
		plain = plain && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_')
	}
	switch strings.ToLower(s) {
	case "null", "true", "false":
		plain = false
	case "in", "get", "put", "url": // short, common and safe
		plain = true
	}
	if plain {
		return []byte(s)
	}
	return quoted(s)
}
