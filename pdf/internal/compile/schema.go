package compile

import (
	"encoding/json"

	"example.com/quire/pdf/internal/compile/exprlang"
)

// Schema returns the data contract as a JSON Schema (draft 2020-12): what the
// data of this template must look like, for editors and for clients.
func (p *Plan) Schema() ([]byte, error) {
	s := schemaOf(p.contract)
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = p.name
	return json.MarshalIndent(s, "", "  ")
}

func schemaOf(t *exprlang.Type) map[string]any {
	s := map[string]any{}
	kind := ""
	switch t.Kind {
	case exprlang.IntegerKind:
		kind = "integer"
	case exprlang.DecimalKind, exprlang.NumberKind:
		kind = "number"
	case exprlang.BooleanKind:
		kind = "boolean"
	case exprlang.DateKind:
		kind, s["format"] = "string", "date"
	case exprlang.DateTimeKind:
		kind, s["format"] = "string", "date-time"
	case exprlang.EnumKind:
		kind = "string"
		values := make([]any, 0, len(t.Enum)+1)
		for _, v := range t.Enum {
			values = append(values, v)
		}
		if t.Optional {
			values = append(values, nil)
		}
		s["enum"] = values
	case exprlang.ColorKind:
		kind, s["pattern"] = "string", "^(#[0-9A-Fa-f]{3}|#[0-9A-Fa-f]{6}|none)$"
	case exprlang.ImageKind:
		kind, s["contentEncoding"] = "string", "base64"
	case exprlang.ListKind:
		kind, s["items"] = "array", schemaOf(t.Elem)
	case exprlang.MapKind:
		kind, s["additionalProperties"] = "object", schemaOf(t.Elem)
	case exprlang.RecordKind:
		kind, s["additionalProperties"] = "object", false
		fields, required := map[string]any{}, []string{}
		for _, f := range t.Fields {
			fields[f.Name] = schemaOf(f.Type)
			if !f.Type.Optional {
				required = append(required, f.Name)
			}
		}
		s["properties"], s["required"] = fields, required
	default:
		kind = "string"
	}
	s["type"] = kind
	if t.Optional {
		s["type"] = []string{kind, "null"}
	}
	return s
}
