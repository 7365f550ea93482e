package openapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"example.com/quire/internal/strictjson"
)

// Change is a difference between two descriptions that breaks clients written to the old one.
type Change struct {
	Operation string // method and path, as "GET /orders/{id}"
	Place     string // in the operation: "query limit", "request application/json /lines/-/price"
	Reason    string
}

func (c Change) String() string {
	if c.Place == "" {
		return c.Operation + ": " + c.Reason
	}
	return c.Operation + ": " + c.Place + ": " + c.Reason
}

// Breaking compares two descriptions in JSON and lists what of the new one breaks clients of the
// old: operations, parameters, media types and statuses of success that are gone, requests that
// are no longer accepted, answers that are no longer what was promised, and credentials that are
// newly needed. It is made for go test, with the description that was committed last:
//
//	changes, err := openapi.Breaking(committed, doc.JSON())
//
// What is new beside the old breaks nobody: operations, parameters that may be absent, members of
// answers. Schemas are compared keyword by keyword, so a change to another schema for the same
// values may be listed; a format counts as a rule. The error is that of a text which is no OpenAPI
// 3 in JSON.
func Breaking(old, current []byte) ([]Change, error) {
	before, err := parse(old)
	if err != nil {
		return nil, fmt.Errorf("openapi: the old description: %w", err)
	}
	after, err := parse(current)
	if err != nil {
		return nil, fmt.Errorf("openapi: the new description: %w", err)
	}
	d := &differ{old: before, new: after, steps: maxSteps}
	theirs := after.operations()
	operations := before.operations()
	for _, key := range slices.Sorted(maps.Keys(operations)) {
		was := operations[key]
		d.operation = was.label
		if is, ok := theirs[key]; ok {
			d.compare(was, is)
		} else {
			d.say("", "is gone")
		}
	}
	if d.steps <= 0 {
		return nil, errors.New("openapi: the schemas are too intricate to compare")
	}
	return d.changes, nil
}

// What bounds the comparison of schemas whose alternatives are nested.
const (
	maxSteps = 1_000_000
	maxDepth = 200
)

// tree is a JSON object of a description.
type tree map[string]any

// parsed is a description as it was read.
type parsed struct{ root tree }

func parse(text []byte) (*parsed, error) {
	if _, err := strictjson.Check(text, strictjson.Limits{Depth: 256, Nodes: 10_000_000}); err != nil {
		return nil, err
	}
	p := &parsed{}
	if err := json.Unmarshal(text, &p.root); err != nil {
		return nil, err
	}
	if version, _ := p.root["openapi"].(string); !strings.HasPrefix(version, "3.") {
		return nil, fmt.Errorf("openapi is %q, want 3.x", version)
	}
	return p, nil
}

func (t tree) object(name string) tree { o, _ := t[name].(map[string]any); return o }

func (t tree) list(name string) []any { l, _ := t[name].([]any); return l }

func (t tree) text(name string) string { s, _ := t[name].(string); return s }

// resolve follows references within the description. What leads nowhere or in a circle is nil.
func (p *parsed) resolve(v any) tree {
	for range 32 {
		o, _ := v.(map[string]any)
		ref, isRef := o["$ref"].(string)
		if !isRef {
			return o
		}
		path, local := strings.CutPrefix(ref, "#/")
		if !local {
			return nil
		}
		var at any = map[string]any(p.root)
		for token := range strings.SplitSeq(path, "/") {
			in, _ := at.(map[string]any)
			at = in[strictjson.Name(token)]
		}
		v = at
	}
	return nil
}

type parsedOperation struct {
	label      string
	tree       tree
	parameters map[string]tree // by place and name; of path by position
	security   []any
}

// operations returns the operations by method and path with its names blanked out.
func (p *parsed) operations() map[string]parsedOperation {
	all := map[string]parsedOperation{}
	for path := range p.root.object("paths") {
		item := p.resolve(p.root.object("paths")[path])
		template, names := pathTemplate(path)
		blank := blanked(template, names)
		for _, method := range methods {
			key := strings.ToLower(method)
			if method == "QUERY" {
				key = "x-query"
			}
			o := item.object(key)
			if o == nil {
				continue
			}
			op := parsedOperation{label: method + " " + path, tree: o, parameters: map[string]tree{}, security: p.root.list("security")}
			if own, ok := o["security"].([]any); ok {
				op.security = own
			}
			for _, v := range slices.Concat(item.list("parameters"), o.list("parameters")) {
				param := p.resolve(v)
				name := param.text("name")
				switch param.text("in") {
				case "path":
					name = strconv.Itoa(slices.Index(names, name))
				case "header":
					name = http.CanonicalHeaderKey(name)
				}
				op.parameters[param.text("in")+" "+name] = param
			}
			all[method+" "+blank] = op
		}
	}
	return all
}

type differ struct {
	old, new  *parsed
	operation string
	changes   []Change
	steps     int
}

func (d *differ) say(place, format string, args ...any) {
	d.changes = append(d.changes, Change{d.operation, place, fmt.Sprintf(format, args...)})
}

func (d *differ) compare(was, is parsedOperation) {
	for _, key := range slices.Sorted(maps.Keys(was.parameters)) {
		before := was.parameters[key]
		place := before.text("in") + " " + before.text("name")
		after, ok := is.parameters[key]
		if !ok {
			d.say(place, "is gone")
			continue
		}
		if after["required"] == true && before["required"] != true {
			d.say(place, "is needed now")
		}
		d.accepts(place, before["schema"], after["schema"])
	}
	for _, key := range slices.Sorted(maps.Keys(is.parameters)) {
		if after := is.parameters[key]; was.parameters[key] == nil && after["required"] == true {
			d.say(after.text("in")+" "+after.text("name"), "is new and needed")
		}
	}
	before, after := d.old.resolve(was.tree["requestBody"]), d.new.resolve(is.tree["requestBody"])
	if after["required"] == true && before["required"] != true {
		d.say("request", "a body is needed now")
	}
	for _, kind := range slices.Sorted(maps.Keys(before.object("content"))) {
		to, ok := after.object("content")[kind].(map[string]any)
		if !ok {
			d.say("request "+kind, "is no longer taken")
			continue
		}
		d.accepts("request "+kind, before.object("content").object(kind)["schema"], to["schema"])
	}
	d.answers(was.tree.object("responses"), is.tree.object("responses"))
	d.credentials(was.security, is.security)
}

// answers compares those of success: an error that a client must expect anyway may come and go.
func (d *differ) answers(was, is tree) {
	for _, code := range slices.Sorted(maps.Keys(was)) {
		if !strings.HasPrefix(code, "2") && !strings.HasPrefix(code, "3") {
			continue
		}
		before, after := d.old.resolve(was[code]), d.new.resolve(is[code])
		if is[code] == nil {
			d.say(code, "is no longer answered")
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(before.object("headers"))) {
			from, to := d.old.resolve(before.object("headers")[name]), d.new.resolve(after.object("headers")[name])
			if to == nil {
				d.say(code+" header "+name, "is gone")
			} else {
				d.promises(code+" header "+name, from["schema"], to["schema"])
			}
		}
		for _, kind := range slices.Sorted(maps.Keys(before.object("content"))) {
			to, ok := after.object("content")[kind].(map[string]any)
			if !ok {
				d.say(code+" "+kind, "is no longer sent")
				continue
			}
			d.promises(code+" "+kind, before.object("content").object(kind)["schema"], to["schema"])
		}
	}
}

// credentials: each alternative of old must still be enough.
func (d *differ) credentials(was, is []any) {
	if len(is) == 0 {
		return
	}
	if len(was) == 0 {
		was = []any{map[string]any{}} // none at all
	}
	for _, v := range was {
		had, _ := v.(map[string]any)
		enough := slices.ContainsFunc(is, func(v any) bool {
			needs, _ := v.(map[string]any)
			for scheme, scopes := range needs {
				given, ok := had[scheme]
				if !ok {
					return false
				}
				want, _ := scopes.([]any)
				have, _ := given.([]any)
				if slices.ContainsFunc(want, func(s any) bool { return !slices.Contains(have, s) }) {
					return false
				}
			}
			return true
		})
		if !enough {
			names := cmp.Or(strings.Join(slices.Sorted(maps.Keys(had)), " and "), "no credentials")
			d.say("security", "%s is no longer enough", names)
		}
	}
}

// accepts: whatever the old schema of a request allowed must still be taken.
func (d *differ) accepts(place string, was, is any) {
	s := subset{d: d, a: d.old, b: d.new, seen: map[[2]string]bool{}}
	for _, f := range s.outside(was, is, "") {
		d.say(strings.TrimSuffix(place+" "+f.at, " "), "the new description refuses %s", f.what)
	}
}

// promises: whatever is answered now must be what the old schema promised, save members that it
// does not name.
func (d *differ) promises(place string, was, is any) {
	s := subset{d: d, a: d.new, b: d.old, open: true, seen: map[[2]string]bool{}}
	for _, f := range s.outside(is, was, "") {
		d.say(strings.TrimSuffix(place+" "+f.at, " "), "the old description does not have %s", f.what)
	}
}

// subset finds what a schema of a allows and one of b does not.
type subset struct {
	d    *differ
	a, b *parsed
	open bool               // members that b does not name are no matter
	seen map[[2]string]bool // pairs of references that are being compared

	depth int
}

type outlier struct{ at, what string }

func (s *subset) outside(a, b any, at string) []outlier {
	if s.d.steps--; s.d.steps <= 0 || s.depth > maxDepth {
		s.d.steps = 0
		return nil
	}
	s.depth++
	defer func() { s.depth-- }()
	if b == nil || b == true || a == false {
		return nil
	}
	if b == false {
		return []outlier{{at, "any value"}}
	}
	pair := [2]string{refOf(a), refOf(b)}
	if pair[0] != "" && pair[1] != "" {
		if s.seen[pair] {
			return nil // what differs there is told where it was met first
		}
		s.seen[pair] = true
		defer delete(s.seen, pair)
	}
	x, y := s.a.flat(a), s.b.flat(b)
	if alternatives := either(x); alternatives != nil {
		var all []outlier
		for _, one := range alternatives {
			all = append(all, s.outside(with(x, one), b, at)...)
		}
		return all
	}
	if alternatives := either(y); alternatives != nil {
		var nearest []outlier
		for i, one := range alternatives {
			found := s.outside(map[string]any(x), with(y, one), at)
			if len(found) == 0 {
				return nil
			}
			if i == 0 || len(found) < len(nearest) {
				nearest = found
			}
		}
		return nearest
	}
	all := s.values(x, y, at)
	return append(all, s.members(x, y, at)...)
}

func refOf(v any) string {
	o, _ := v.(map[string]any)
	ref, _ := o["$ref"].(string)
	return ref
}

// flat resolves a schema and takes what it refers to, and the parts of its allOf, into it.
func (p *parsed) flat(v any) tree { return p.flatten(v, 16) }

func (p *parsed) flatten(v any, depth int) tree {
	o, _ := v.(map[string]any)
	ref, isRef := o["$ref"]
	parts, hasParts := o["allOf"].([]any)
	switch {
	case !isRef && !hasParts:
		return o
	case depth == 0:
		return tree{}
	case isRef:
		parts = append([]any{map[string]any(p.resolve(map[string]any{"$ref": ref}))}, parts...)
	}
	all := tree{}
	for _, part := range append(slices.Clone(parts), map[string]any(without(o, "allOf", "$ref"))) {
		for name, value := range p.flatten(part, depth-1) {
			inner, isObject := value.(map[string]any)
			list, isList := value.([]any)
			switch had := all[name].(type) {
			case map[string]any:
				if isObject {
					value = map[string]any(with(had, inner))
				}
			case []any:
				if isList && name == "required" {
					value = slices.Concat(had, list)
				}
			}
			all[name] = value
		}
	}
	return all
}

func without(o tree, names ...string) tree {
	o = maps.Clone(o)
	for _, n := range names {
		delete(o, n)
	}
	return o
}

// with is a schema with the keywords of another beside its own.
func with(o tree, more any) tree {
	all := without(o, "anyOf", "oneOf")
	inner, _ := more.(map[string]any)
	if all == nil {
		all = tree{}
	}
	maps.Copy(all, inner)
	return all
}

func either(o tree) []any {
	for _, name := range []string{"anyOf", "oneOf"} {
		if list, ok := o[name].([]any); ok {
			return list
		}
	}
	return nil
}

var allTypes = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

func typesOf(o tree) []string {
	switch t := o["type"].(type) {
	case string:
		return []string{t}
	case []any:
		var all []string
		for _, v := range t {
			one, _ := v.(string)
			all = append(all, one)
		}
		slices.Sort(all)
		return all
	}
	return allTypes
}

// values compares what is said of a value itself.
func (s *subset) values(a, b tree, at string) []outlier {
	var all []outlier
	allowed := typesOf(b)
	if len(allOf(a["enum"])) == 0 { // else each value is looked at
		for _, t := range typesOf(a) {
			if !slices.Contains(allowed, t) && (t != "integer" || !slices.Contains(allowed, "number")) {
				all = append(all, outlier{at, "the type " + t})
			}
		}
	}
	if taken := allOf(b["enum"]); taken != nil {
		if given := allOf(a["enum"]); given == nil {
			all = append(all, outlier{at, "values beyond " + jsonText(taken)})
		} else {
			for _, v := range given {
				if !slices.ContainsFunc(taken, func(o any) bool { return reflect.DeepEqual(o, v) }) {
					all = append(all, outlier{at, "the value " + jsonText(v)})
				}
			}
		}
	}
	for _, k := range []string{"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"} {
		if bound, ok := b[k].(float64); ok {
			if own, ok := a[k].(float64); !ok && (bound > 0 || !strings.HasPrefix(k, "min") || k == "minimum") || ok && own < bound {
				all = append(all, outlier{at, "values below " + k + " " + jsonText(bound)})
			}
		}
	}
	for _, k := range []string{"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"} {
		if bound, ok := b[k].(float64); ok {
			if own, ok := a[k].(float64); !ok || own > bound {
				all = append(all, outlier{at, "values above " + k + " " + jsonText(bound)})
			}
		}
	}
	for _, k := range []string{"pattern", "format", "multipleOf", "const", "uniqueItems", "contentEncoding", "not", "propertyNames", "contains"} {
		rule, ok := b[k]
		if !ok || reflect.DeepEqual(rule, a[k]) || rule == false || k == "format" && (rule == "int64" && a[k] == "int32" || rule == "double" && a[k] == "float") {
			continue
		}
		if given := allOf(a["enum"]); k == "const" && len(given) == 1 && reflect.DeepEqual(given[0], rule) {
			continue
		}
		all = append(all, outlier{at, "values without " + k + " " + jsonText(rule)})
	}
	return all
}

// members compares what is said of members and items.
func (s *subset) members(a, b tree, at string) []outlier {
	var all []outlier
	if slices.Contains(typesOf(a), "object") {
		for _, name := range b.list("required") {
			if !slices.Contains(a.list("required"), name) {
				all = append(all, outlier{at, fmt.Sprintf("objects without %v", name)})
			}
		}
		taken, rest := b.object("properties"), b["additionalProperties"]
		for _, name := range slices.Sorted(maps.Keys(a.object("properties"))) {
			below := at + "/" + strictjson.Token(name)
			own := a.object("properties")[name]
			switch inner, known := taken[name]; {
			case known:
				all = append(all, s.outside(own, inner, below)...)
			case s.open && rest == false:
			case rest == false:
				all = append(all, outlier{below, "the member"})
			default:
				all = append(all, s.outside(own, rest, below)...)
			}
		}
		if own := a["additionalProperties"]; own != false && (!s.open || rest != false) {
			if own == nil {
				own = true
			}
			if rest == false {
				all = append(all, outlier{at, "members of any name"})
			} else if rest != nil {
				all = append(all, s.outside(own, rest, at+"/*")...)
			}
		}
	}
	if items, ok := b["items"]; ok && slices.Contains(typesOf(a), "array") {
		own := a["items"]
		if own == nil {
			own = true
		}
		all = append(all, s.outside(own, items, at+"/-")...)
	}
	return all
}

func allOf(v any) []any { l, _ := v.([]any); return l }

func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil || len(text) > 80 {
		return fmt.Sprintf("%.80v", v)
	}
	return string(text)
}
