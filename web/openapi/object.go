package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
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
func (o object) MarshalJSON() ([]byte, error) { return marshal(o) }

// marshal is json.Marshal without the escapes for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := write(&b, v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// write writes objects within objects itself: json.Encoder would read again, at each level, all
// that is below it.
func write(b *bytes.Buffer, v any) error {
	o, ok := v.(object)
	if !ok {
		enc := json.NewEncoder(b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			return err
		}
		b.Truncate(b.Len() - 1) // its line end
		return nil
	}
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := write(b, m.name); err != nil {
			return err
		}
		b.WriteByte(':')
		if err := write(b, m.value); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	b.WriteByte('}')
	return nil
}
