package collect

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"example.com/quire/internal/nearest"
	"example.com/quire/internal/record"
	"example.com/quire/internal/strictjson"
)

// Parameter declares a value that calls of a source bring.
type Parameter struct {
	Name    string
	Type    ParameterType
	Values  []string // of Enum
	Default *string  // as text; nil: the value must be given
	Max     int      // of String: characters; 0: 256
}

// ParameterType is the type of a parameter.
type ParameterType string

// The types. Strings contain no control characters.
const (
	String  ParameterType = "string"
	Integer ParameterType = "integer" // within int64, given as a JSON number
	Boolean ParameterType = "boolean"
	Date    ParameterType = "date" // a string YYYY-MM-DD
	Enum    ParameterType = "enum" // a string, one of Values
)

// resolve checks the parameters of a call against those that the source declares and returns the
// text of each, defaults filled in. Errors are *record.RequestError, their fields beginning with
// field.
func (s *Source) resolve(field string, given record.Parameters) (map[string]string, error) {
	names := make([]string, len(s.Parameters))
	for i, p := range s.Parameters {
		names[i] = p.Name
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(names, name) {
			return nil, &record.RequestError{
				Field: strictjson.Member(field, name), Got: "an unknown parameter",
				Want: "one of source " + s.Name + ": " + strings.Join(names, ", "), Nearest: nearest.Name(name, names),
			}
		}
	}
	out := make(map[string]string, len(s.Parameters))
	for _, p := range s.Parameters {
		raw, ok := given[p.Name]
		if !ok {
			if p.Default == nil {
				return nil, &record.RequestError{Field: field + "." + p.Name, Got: "nothing", Want: p.want()}
			}
			out[p.Name] = *p.Default
			continue
		}
		text, err := p.text(raw)
		if err != nil {
			err.Field = field + "." + p.Name
			return nil, err
		}
		out[p.Name] = text
	}
	return out, nil
}

// text checks one JSON value against the declaration and returns it as text.
func (p *Parameter) text(raw json.RawMessage) (string, *record.RequestError) {
	wrong := &record.RequestError{Field: p.Name, Got: string(raw), Want: p.want()}
	if len(raw) > 64<<10 {
		wrong.Got = fmt.Sprintf("%d bytes", len(raw))
		return "", wrong
	}
	switch p.Type {
	case Integer:
		if _, err := strconv.ParseInt(string(raw), 10, 64); err != nil || !json.Valid(raw) {
			return "", wrong
		}
		return string(raw), nil
	case Boolean:
		if string(raw) != "true" && string(raw) != "false" {
			return "", wrong
		}
		return string(raw), nil
	}
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", wrong
	}
	var ok bool
	switch p.Type {
	case Date:
		_, err := time.Parse(time.DateOnly, s)
		ok = err == nil
	case Enum:
		ok = slices.Contains(p.Values, s)
		wrong.Nearest = nearest.Name(s, p.Values)
	default:
		ok = utf8.RuneCountInString(s) <= p.max() && !strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 })
	}
	if !ok {
		return "", wrong
	}
	return s, nil
}

func (p *Parameter) max() int {
	return cmp.Or(p.Max, 256)
}

func (p *Parameter) want() string {
	switch p.Type {
	case Integer:
		return "an integer"
	case Boolean:
		return "true or false"
	case Date:
		return "a date as YYYY-MM-DD"
	case Enum:
		return "one of " + strings.Join(p.Values, ", ")
	}
	return fmt.Sprintf("a string of at most %d characters without control characters", p.max())
}

func checkParameters(params []Parameter) error {
	seen := make(map[string]bool)
	for _, p := range params {
		if err := record.CheckKey("parameter", p.Name); err != nil {
			return err
		}
		if seen[p.Name] {
			return fmt.Errorf("parameter %s: there are two of this name", p.Name)
		}
		seen[p.Name] = true
		switch p.Type {
		case String, Integer, Boolean, Date:
		case Enum:
			if len(p.Values) == 0 {
				return fmt.Errorf("parameter %s: an enum without values", p.Name)
			}
		default:
			return fmt.Errorf("parameter %s: type %q: want string, integer, boolean, date or enum", p.Name, p.Type)
		}
	}
	return nil
}
