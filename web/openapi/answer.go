package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"mime"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"example.com/quire/internal/strictjson"
)

// CheckAnswer judges an answer of a route by the description: its status, its media type, and a
// body of JSON by its schema, as far as the keywords go that this package writes; a format is no
// rule. A route that is not described passes. The error tells all faults.
// webtest.Conform calls it.
func (d *Doc) CheckAnswer(method, pattern string, status int, header http.Header, body []byte) error {
	p, err := d.parsed()
	if err != nil {
		return err
	}
	template, names := pathTemplate(pattern)
	op, ok := p.operations()[method+" "+blanked(template, names)]
	if !ok {
		return nil
	}
	fail := func(format string, args ...any) error {
		return fmt.Errorf("openapi: %s: answer %d: %s", op.label, status, fmt.Sprintf(format, args...))
	}
	responses := op.tree.object("responses")
	described := responses[strconv.Itoa(status)]
	if described == nil {
		described = responses["default"]
	}
	if described == nil {
		return fail("the status is not described")
	}
	if status == http.StatusPartialContent {
		return nil // bytes of a body, or several parts of it
	}
	content := p.resolve(described).object("content")
	if len(content) == 0 {
		if len(body) > 0 {
			return fail("a body of %d bytes is not described", len(body))
		}
		return nil
	}
	kind, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		return fail("Content-Type %q: %v", header.Get("Content-Type"), err)
	}
	if content[kind] == nil {
		return fail("the type %s is not described, only %s", kind, strings.Join(slices.Sorted(maps.Keys(content)), ", "))
	}
	if kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return fail("the body is not JSON: %v", err)
	}
	if faults := p.faults(value, content.object(kind)["schema"], "", maxDepth); len(faults) > 0 {
		return fail("%s", strings.Join(faults, "; "))
	}
	return nil
}

// faults lists where a value does not keep to a schema.
func (p *parsed) faults(v, schema any, at string, depth int) (all []string) {
	say := func(format string, args ...any) {
		all = append(all, strings.TrimSpace(at+" "+fmt.Sprintf(format, args...)))
	}
	if schema == false || depth == 0 {
		say("nothing may be here")
		return all
	}
	o, ok := schema.(map[string]any)
	if !ok {
		return nil
	}
	s := tree(o)
	if ref := refOf(schema); ref != "" {
		target := p.resolve(map[string]any{"$ref": ref})
		if target == nil {
			say("%s leads nowhere", ref)
		}
		all = append(all, p.faults(v, map[string]any(target), at, depth-1)...)
	}
	for _, part := range s.list("allOf") {
		all = append(all, p.faults(v, part, at, depth-1)...)
	}
	all = append(all, p.nearest(v, either(s), at, depth-1)...)
	if list, ok := s["enum"].([]any); ok && !slices.ContainsFunc(list, func(one any) bool { return equalJSON(one, v) }) {
		say("%s is none of %s", jsonText(v), jsonText(list))
	}
	if one, ok := s["const"]; ok && !equalJSON(one, v) {
		say("%s is not %s", jsonText(v), jsonText(one))
	}
	kind := typeOf(v)
	if types := typesOf(s); !slices.Contains(types, kind) && (kind != "integer" || !slices.Contains(types, "number")) {
		say("%s is %s, want %s", jsonText(v), kind, strings.Join(types, " or "))
		return all
	}
	bound := func(size float64, low, high string) {
		if n, ok := s[low].(float64); ok && size < n {
			say("%s breaks %s %v", jsonText(v), low, n)
		}
		if n, ok := s[high].(float64); ok && size > n {
			say("%s breaks %s %v", jsonText(v), high, n)
		}
	}
	switch v := v.(type) {
	case json.Number:
		n, _ := v.Float64() // of a number of JSON; one too large is infinite
		bound(n, "minimum", "maximum")
		if low, ok := s["exclusiveMinimum"].(float64); ok && n <= low {
			say("%s breaks exclusiveMinimum %v", v, low)
		}
		if high, ok := s["exclusiveMaximum"].(float64); ok && n >= high {
			say("%s breaks exclusiveMaximum %v", v, high)
		}
	case string:
		bound(float64(utf8.RuneCountInString(v)), "minLength", "maxLength")
		if pattern := s.text("pattern"); pattern != "" {
			// A pattern of ECMA-262 that Go does not have is not judged.
			if re, err := regexp.Compile(pattern); err == nil && !re.MatchString(v) {
				say("%s breaks pattern %s", jsonText(v), pattern)
			}
		}
	case []any:
		bound(float64(len(v)), "minItems", "maxItems")
		for i, item := range v {
			all = append(all, p.faults(item, s["items"], at+"/"+strconv.Itoa(i), depth-1)...)
		}
	case map[string]any:
		bound(float64(len(v)), "minProperties", "maxProperties")
		for _, name := range s.list("required") {
			if text, _ := name.(string); !hasKey(v, text) {
				say("lacks %q", text)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			inner, known := s.object("properties")[name]
			if !known {
				inner = s["additionalProperties"]
			}
			all = append(all, p.faults(v[name], inner, at+"/"+strictjson.Token(name), depth-1)...)
		}
	}
	return all
}

// nearest lists the faults of a value by the alternative that it comes nearest to: none when one
// fits, those by an alternative of its own type rather than by another.
func (p *parsed) nearest(v any, alternatives []any, at string, depth int) (nearest []string) {
	kin := false
	for i, one := range alternatives {
		found := p.faults(v, one, at, depth)
		if len(found) == 0 {
			return nil
		}
		same := slices.Contains(typesOf(p.flat(one)), typeOf(v))
		if i == 0 || same && !kin || same == kin && len(found) < len(nearest) {
			nearest, kin = found, same
		}
	}
	return nearest
}

func hasKey(m map[string]any, name string) bool {
	_, ok := m[name]
	return ok
}

// equalJSON compares a value of a schema with one whose numbers are json.Number.
func equalJSON(one, v any) bool {
	if n, ok := v.(json.Number); ok {
		f, err := n.Float64()
		return err == nil && one == f
	}
	return reflect.DeepEqual(one, v)
}

func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case json.Number:
		if f, err := v.Float64(); err == nil && f == math.Trunc(f) {
			return "integer"
		}
		return "number"
	}
	return "object"
}
