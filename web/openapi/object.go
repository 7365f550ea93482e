package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any
}

func (o *object) put(name string, value any) { *o = append(*o, member{name, value}) }

// set replaces a member or adds it.
func (o *object) set(name string, value any) {
	for i := range *o {
		if (*o)[i].name == name {
			(*o)[i].value = value
			return
		}
	}
	o.put(name, value)
}

func (o object) get(name string) any {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := marshal(m.value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// marshal is json.Marshal without the escapes for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// yamlOf writes a JSON text as YAML in block style, its members in their order.
func yamlOf(text []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	w := &yamlWriter{d: d}
	w.value(0, false)
	return w.b.Bytes()
}

type yamlWriter struct {
	d *json.Decoder
	b bytes.Buffer
}

func (w *yamlWriter) next() json.Token {
	t, err := w.d.Token()
	if err != nil {
		panic(fmt.Sprintf("openapi: own JSON is not readable: %v", err))
	}
	return t
}

// value writes the next value. nested is true behind a name or a dash.
func (w *yamlWriter) value(depth int, nested bool) {
	switch t := w.next().(type) {
	case json.Delim:
		closing, list := json.Delim('}'), t == '['
		if list {
			closing = ']'
		}
		if !w.d.More() {
			w.next()
			fmt.Fprintf(&w.b, " %c%c\n", t, closing)
			return
		}
		if nested {
			w.b.WriteByte('\n')
		}
		for w.d.More() {
			w.b.WriteString(strings.Repeat("  ", depth))
			if list {
				w.b.WriteByte('-')
			} else {
				name, _ := w.next().(string)
				w.b.WriteString(yamlName(name))
				w.b.WriteByte(':')
			}
			w.value(depth+1, true)
		}
		w.next()
	case string:
		w.b.WriteByte(' ')
		w.b.Write(yamlText(t))
		w.b.WriteByte('\n')
	case json.Number:
		w.b.WriteString(" " + t.String() + "\n")
	case bool:
		w.b.WriteString(" " + strconv.FormatBool(t) + "\n")
	default:
		w.b.WriteString(" null\n")
	}
}

// yamlText is a double-quoted scalar: what JSON writes is one, save that YAML's
// escapes have no surrogate pairs, which marshal never writes.
func yamlText(s string) []byte {
	text, err := marshal(s)
	if err != nil {
		panic(err) // a text always has a JSON form
	}
	return text
}

// yamlName leaves plain what cannot be taken for anything but a text, by YAML 1.1 either.
func yamlName(s string) string {
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
		return s
	}
	return string(yamlText(s))
}
