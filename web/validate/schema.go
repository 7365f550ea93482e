package validate

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Schema tells the rules of a tag for a field of type t as keywords of JSON
// Schema 2020-12, and whether the field must be there. What JSON Schema cannot
// say stands under x-validate. Without a tag it is the schema that Type gave for t,
// nil when there is none. It tells no more than Validate checks, and no less where
// JSON Schema has a word for it: an omitempty value may also be empty.
func (v *Validator) Schema(t reflect.Type, tag string) (keywords map[string]any, required bool) {
	if tag == "" {
		return maps.Clone(v.types[t].schema), false
	}
	levels, reason := split(tag)
	if tag == "-" || reason != "" {
		return nil, false
	}
	return v.levelSchema(t, levels)
}

func (v *Validator) levelSchema(t reflect.Type, levels []level) (map[string]any, bool) {
	pointer := false
	for t.Kind() == reflect.Pointer {
		t, pointer = t.Elem(), true
	}
	s := schema{}
	required, omitted := false, false
	for _, text := range levels[0].rules {
		if isOmit(text) {
			if !pointer && !omitted && !required && text != "omitnil" {
				rest := slices.DeleteFunc(slices.Clone(levels[0].rules[slices.Index(levels[0].rules, text)+1:]), isOmit)
				s.orEmpty(v, t, rest)
				return v.elements(s, t, levels), false
			}
			omitted = true
			continue
		}
		if pointer && !omitted && !whenNil(text) {
			required = true // a rule cannot hold of what is not there
		}
		if text == "required" {
			required = true
		}
		v.rule(s, t, text, pointer)
	}
	return v.elements(s, t, levels), required
}

// elements adds the rules behind a dive.
func (v *Validator) elements(s schema, t reflect.Type, levels []level) schema {
	if len(levels) == 1 {
		return s
	}
	word := "items"
	if t.Kind() == reflect.Map {
		word = "additionalProperties"
		if len(levels[1].keys) > 0 {
			keys, _ := v.levelSchema(t.Key(), []level{{rules: levels[1].keys}})
			s.put("propertyNames", keys)
		}
	}
	if inner, _ := v.levelSchema(t.Elem(), levels[1:]); len(inner) > 0 {
		s.put(word, map[string]any(inner))
	}
	return s
}

// whenNil reports whether a rule is also asked of what is nil.
func whenNil(text string) bool {
	name, _, _ := strings.Cut(text, "=")
	return strings.HasPrefix(name, "required_") || strings.HasPrefix(name, "excluded_") || name == "skip_unless" || name == "isdefault"
}

type schema map[string]any

// put adds a keyword. Of two bounds the narrower counts; of any other keyword the
// second stands under allOf.
func (s schema) put(word string, value any) {
	old, there := s[word]
	a, isA := old.(int64)
	b, isB := value.(int64)
	switch {
	case !there:
		s[word] = value
	case reflect.DeepEqual(old, value):
	case word == "x-validate":
		s[word] = append(slices.Clone(old.([]string)), value.([]string)...)
	case isA && isB && strings.HasPrefix(word, "min"):
		s[word] = max(a, b)
	case isA && isB && strings.HasPrefix(word, "max"):
		s[word] = min(a, b)
	default:
		all, _ := s["allOf"].([]any)
		s["allOf"] = append(slices.Clone(all), map[string]any{word: value})
	}
}

// orEmpty allows the empty value beside what the rules allow.
func (s schema) orEmpty(v *Validator, t reflect.Type, rules []string) {
	rest := schema{}
	for _, text := range rules {
		v.rule(rest, t, text, false)
	}
	if x, ok := rest["x-validate"]; ok {
		s["x-validate"] = x
		delete(rest, "x-validate")
	}
	if len(rest) == 0 {
		return
	}
	empty := map[string]any{}
	switch k := t.Kind(); {
	case k == reflect.String:
		empty["const"] = ""
	case k == reflect.Bool:
		empty["const"] = false
	case k >= reflect.Int && k <= reflect.Float64 && t != reflect.TypeFor[time.Duration]():
		empty["const"] = int64(0)
	case k == reflect.Slice || k == reflect.Map:
		empty["const"] = nil // hasValue of the engine: an empty one that is not nil has a value
	default:
		maps.Copy(s, rest)
		return
	}
	s["anyOf"] = []any{empty, map[string]any(rest)}
}

// rule adds what one rule says.
func (v *Validator) rule(s schema, t reflect.Type, text string, pointer bool) {
	if strings.Contains(text, "|") {
		var parts []any
		for one := range strings.SplitSeq(text, "|") {
			part := schema{}
			v.rule(part, t, one, pointer)
			if _, unsaid := part["x-validate"]; unsaid || len(part) == 0 {
				s.put("x-validate", []string{text})
				return
			}
			parts = append(parts, map[string]any(part))
		}
		s.put("anyOf", parts)
		return
	}
	name, param, _ := strings.Cut(text, "=")
	param = strings.ReplaceAll(strings.ReplaceAll(param, "0x2C", ","), "0x7C", "|")
	if own, ok := v.rules[name]; ok && own.schema != nil {
		for _, word := range slices.Sorted(maps.Keys(own.schema)) {
			s.put(word, own.schema[word])
		}
		return
	}
	_, custom := v.types[t]
	k := t.Kind()
	said := false
	switch {
	case custom || t == reflect.TypeFor[time.Duration]() || t == reflect.TypeFor[time.Time]():
		said = name == "required"
	case k == reflect.String:
		said = textRule(s, name, param, pointer)
	case k == reflect.Bool:
		if said = name == "required"; said && !pointer {
			s.put("const", true)
		}
	case k >= reflect.Int && k <= reflect.Float64:
		said = numberRule(s, name, param, k, pointer)
	case k == reflect.Slice || k == reflect.Array:
		said = countRule(s, name, param, "Items")
		if name == "unique" && param == "" {
			s.put("uniqueItems", true)
			said = true
		}
	case k == reflect.Map:
		said = countRule(s, name, param, "Properties")
	default:
		said = name == "required"
	}
	if !said {
		s.put("x-validate", []string{text})
	}
}

// countRule is what rules say of a length. The unit is Length, Items or Properties.
func countRule(s schema, name, param, unit string) bool {
	n, err := strconv.ParseInt(param, 0, 64)
	if name == "required" {
		return true
	}
	if err != nil {
		return false
	}
	switch name {
	case "min", "gte":
		s.put("min"+unit, n)
	case "max", "lte":
		s.put("max"+unit, n)
	case "gt":
		s.put("min"+unit, n+1)
	case "lt":
		s.put("max"+unit, max(n-1, 0))
	case "len":
		s.put("min"+unit, n)
		s.put("max"+unit, n)
	default:
		return false
	}
	return true
}

func numberRule(s schema, name, param string, k reflect.Kind, pointer bool) bool {
	if name == "required" {
		if !pointer {
			s.put("not", map[string]any{"const": int64(0)})
		}
		return true
	}
	number := func(text string) (any, bool) {
		if k == reflect.Float32 || k == reflect.Float64 {
			f, err := strconv.ParseFloat(text, 64)
			return f, err == nil
		}
		n, err := strconv.ParseInt(text, 0, 64)
		return n, err == nil
	}
	switch name {
	case "oneof", "noneof":
		var list []any
		for _, word := range words(param) {
			n, ok := number(word)
			if !ok {
				return false
			}
			list = append(list, n)
		}
		if name == "oneof" {
			s.put("enum", list)
		} else {
			s.put("not", map[string]any{"enum": list})
		}
		return true
	case "port":
		s.put("minimum", int64(1))
		s.put("maximum", int64(65535))
		return true
	case "latitude", "longitude":
		limit := map[string]int64{"latitude": 90, "longitude": 180}[name]
		s.put("minimum", -limit)
		s.put("maximum", limit)
		return true
	}
	n, ok := number(param)
	if !ok {
		return false
	}
	switch name {
	case "min", "gte":
		s.put("minimum", n)
	case "max", "lte":
		s.put("maximum", n)
	case "gt":
		s.put("exclusiveMinimum", n)
	case "lt":
		s.put("exclusiveMaximum", n)
	case "len", "eq":
		s.put("const", n)
	case "ne":
		s.put("not", map[string]any{"const": n})
	default:
		return false
	}
	return true
}

func textRule(s schema, name, param string, pointer bool) bool {
	switch name {
	case "required":
		if !pointer {
			s.put("minLength", int64(1))
		}
		return true
	case "eq":
		s.put("const", param)
	case "ne":
		s.put("not", map[string]any{"const": param})
	case "oneof", "noneof":
		list := []any{}
		for _, word := range words(param) {
			list = append(list, word)
		}
		if name == "oneof" {
			s.put("enum", list)
		} else {
			s.put("not", map[string]any{"enum": list})
		}
	case "datetime":
		format := map[string]string{time.RFC3339: "date-time", time.DateOnly: "date"}[param]
		if format == "" {
			return false
		}
		s.put("format", format)
	case "ip":
		s.put("anyOf", []any{map[string]any{"format": "ipv4"}, map[string]any{"format": "ipv6"}})
	case "startswith":
		s.put("pattern", "^"+regexp.QuoteMeta(param))
	case "endswith":
		s.put("pattern", regexp.QuoteMeta(param)+"$")
	case "contains":
		s.put("pattern", regexp.QuoteMeta(param))
	default:
		if format := formats[name]; format != "" {
			s.put("format", format)
			return true
		}
		if pattern := patterns[name]; pattern != "" {
			s.put("pattern", pattern)
			return true
		}
		return countRule(s, name, param, "Length")
	}
	return true
}

// formats are the rules that JSON Schema has a format for.
var formats = map[string]string{
	"email": "email", "url": "uri", "http_url": "uri", "https_url": "uri", "uri": "uri-reference", "ipv4": "ipv4", "ipv6": "ipv6",
	"uuid": "uuid", "uuid3": "uuid", "uuid4": "uuid", "uuid5": "uuid", "uuid7": "uuid",
	"hostname": "hostname", "hostname_rfc1123": "hostname", "fqdn": "hostname",
}

// patterns are the rules that a regular expression of ECMA-262 says wholly.
var patterns = map[string]string{
	"alpha": "^[a-zA-Z]+$", "alphanum": "^[a-zA-Z0-9]+$", "number": "^[0-9]+$", "numeric": `^[-+]?[0-9]+(?:\.[0-9]+)?$`,
	"hexadecimal": "^(0[xX])?[0-9a-fA-F]+$", "ascii": `^[\x00-\x7F]*$`, "printascii": `^[\x20-\x7E]*$`,
	"e164":     `^\+?[1-9][0-9]{7,14}$`,
	"hexcolor": "^#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})$",
}
