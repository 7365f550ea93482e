package openapi

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"example.com/quire/web"
	"example.com/quire/web/yaml"
)

// Info is what a description says of the API as a whole.
type Info struct {
	Title, Version       string // both must be there
	Summary, Description string
	Contact              Contact
	License              License
	// Servers are the URLs under which the API is reached. Default: what Serve finds
	// relative to the place of the description, so that a path prefix of a proxy is kept.
	Servers []string
	// Host chooses among routes of several hosts: those of this host, and those of none.
	Host string
	// Security are the schemes by name; Default names those of which an operation needs
	// one unless it says otherwise.
	Security map[string]SecurityScheme
	Default  []string
	Tags     []Tag // with descriptions; tags that only operations name come behind
}

// Contact is whom to ask.
type Contact struct{ Name, URL, Email string }

// License is that of the API. Identifier is one of SPDX.
type License struct{ Name, Identifier, URL string }

// Tag describes a group of operations.
type Tag struct{ Name, Description string }

// SecurityScheme is one way to say who asks.
type SecurityScheme struct {
	Type         string // http, apiKey, openIdConnect, mutualTLS
	Description  string
	Scheme       string // http: bearer, basic
	BearerFormat string // http bearer: JWT
	In, Name     string // apiKey: header, query or cookie, and its name
	URL          string // openIdConnect
}

// Doc is a description, written once. It is safe for concurrent use.
type Doc struct {
	tree    object
	json    []byte
	yaml    func() []byte // of json, once
	servers bool
	parsed  func() (*parsed, error) // of json, once
}

// Document describes the routes of an App that have types: those of Handle, and
// those with Describe. Routes that are added later are not in it. The same program
// gives the same bytes each time. The error tells all that cannot be described.
func Document(app *web.App, info Info) (*Doc, error) {
	if info.Title == "" || info.Version == "" {
		return nil, errors.New("openapi: document: Info has no title or no version")
	}
	w := &writer{builder: &builder{app: app}, info: info, ids: map[string]string{}, templates: map[string]string{}}
	routes := app.Routes()
	slices.SortStableFunc(routes, func(a, b web.RouteInfo) int {
		return cmp.Or(strings.Compare(a.Pattern, b.Pattern), slices.Index(methods, a.Method)-slices.Index(methods, b.Method),
			strings.Compare(b.Host, a.Host)) // the route of the host comes first
	})
	for _, r := range routes {
		if r.Host == "" || r.Host == strings.ToLower(info.Host) {
			w.route(r)
		}
	}
	if err := w.name(); err != nil {
		return nil, err
	}
	d := &Doc{tree: w.document(), servers: len(info.Servers) > 0}
	d.parsed = sync.OnceValues(func() (*parsed, error) { return parse(d.json) })
	if err := errors.Join(w.errs...); err != nil {
		return nil, fmt.Errorf("openapi: document: %w", err)
	}
	var err error
	if d.json, err = marshal(d.tree); err != nil {
		return nil, fmt.Errorf("openapi: document: %w", err)
	}
	d.yaml = sync.OnceValue(func() []byte { return asYAML(d.json) })
	return d, nil
}

// asYAML is for what marshal wrote: FromJSON refuses nothing but what is no JSON.
func asYAML(text []byte) []byte {
	b, err := yaml.FromJSON(text)
	if err != nil {
		panic(fmt.Sprintf("openapi: the description is not JSON: %v", err))
	}
	return b
}

// JSON returns the description. The caller must not change it.
func (d *Doc) JSON() []byte { return d.json }

// YAML returns the description as YAML. The caller must not change it.
func (d *Doc) YAML() []byte { return d.yaml() }

var methods = []string{"GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE", "QUERY"}

// writer makes the description of routes.
type writer struct {
	*builder
	info      Info
	paths     object
	ids       map[string]string // operationId to route
	templates map[string]string // path with its names blanked out to path
	tags      []string
	problem   bool
}

func (w *writer) route(r web.RouteInfo) {
	var op *operation
	for _, m := range r.Meta {
		if found, ok := m.(*operation); ok {
			op = found
		}
	}
	s := gather(r.Meta)
	if op == nil || s.hidden {
		return
	}
	if op.described && op.answer == nil && op.body == nil && op.params == nil {
		copied := *op
		op = &copied
		if _, err := op.compile(w.app, r.Method); err != nil {
			w.fail("%s %s of %s: %w", r.Method, r.Pattern, r.Source, err)
			return
		}
	}
	template, names := pathTemplate(r.Pattern)
	blank := blanked(template, names)
	renamed := map[string]string{}
	if known, ok := w.templates[blank]; ok { // one path, whatever its parameters are called
		_, others := pathTemplate(known)
		for i, n := range names {
			renamed[n] = others[i]
		}
		template = known
	}
	w.templates[blank] = template
	method := strings.ToLower(r.Method)
	item, _ := w.paths.get(template).(object)
	if item.get(method) != nil {
		if r.Host == "" && w.info.Host != "" {
			return // the one of the host stands there
		}
		w.fail("%s %s of %s: OpenAPI cannot tell it from another operation of %s; openapi.Hidden leaves one out", r.Method, r.Pattern, r.Source, template)
		return
	}
	for _, e := range slices.Concat(s.requests, s.responses) {
		if e.err != nil {
			w.fail("%s %s of %s: example %q: %w", r.Method, r.Pattern, r.Source, e.name, e.err)
			return
		}
	}
	done := w.operation(op, s, r, names, renamed)
	if !slices.Contains(methods, r.Method) || r.Method == "QUERY" { // OpenAPI 3.1 has a fixed set of methods
		method = "x-" + method
	}
	item.put(method, done)
	w.paths.set(template, item)
}

// pathTemplate writes a pattern as OpenAPI does, and names its parameters.
func pathTemplate(pattern string) (string, []string) {
	names := paramNames(pattern)
	var b strings.Builder
	for rest := pattern; ; {
		before, after, ok := strings.Cut(rest, "{")
		b.WriteString(before)
		if !ok {
			return b.String(), names
		}
		inside, behind, _ := strings.Cut(after, "}")
		name, _, _ := strings.Cut(strings.TrimSuffix(inside, "..."), ":")
		if name != "$" && name != "" {
			b.WriteString("{" + name + "}")
		}
		rest = behind
	}
}

// blanked is a template whose parameters have no names, by which paths are told apart.
func blanked(template string, names []string) string {
	for _, n := range names {
		template = strings.Replace(template, "{"+n+"}", "{}", 1)
	}
	return template
}

func (w *writer) operation(op *operation, s settings, r web.RouteInfo, names []string, renamed map[string]string) object {
	var o object
	if len(s.tags) > 0 {
		o.put("tags", s.tags)
		for _, tag := range s.tags {
			if !slices.Contains(w.tags, tag) {
				w.tags = append(w.tags, tag)
			}
		}
	}
	for _, text := range []member{{"summary", s.summary}, {"description", s.description}} {
		if text.value != "" {
			o = append(o, text)
		}
	}
	o.put("operationId", w.id(s, r))
	if params := w.parameters(op, r, names, renamed); len(params) > 0 {
		o.put("parameters", params)
	}
	if op.body != nil {
		o.put("requestBody", w.requestBody(op, s))
	}
	responses := w.responses(op, s, r)
	o.put("responses", responses)
	if s.deprecated {
		o.put("deprecated", true)
	}
	switch {
	case s.public && len(w.info.Default) > 0:
		o.put("security", []any{})
	case len(s.security) > 0:
		list := []any{}
		for _, need := range s.security {
			if _, ok := w.info.Security[need.name]; !ok {
				w.fail("%s %s of %s: Info.Security has no scheme %q", r.Method, r.Pattern, r.Source, need.name)
			}
			list = append(list, object{{need.name, append([]string{}, need.scopes...)}})
		}
		o.put("security", list)
	}
	if budget := budgetOf(r.Budgets); len(budget) > 0 {
		o.put("x-budget", budget)
	}
	return o
}

func budgetOf(b web.Budgets) object {
	var o object
	if b.Time > 0 {
		o.put("time", b.Time.String())
	}
	if b.BodyBytes != 0 {
		o.put("bodyBytes", b.BodyBytes)
	}
	if b.ResponseBytes > 0 {
		o.put("responseBytes", b.ResponseBytes)
	}
	if b.Gate != nil {
		running, queued := b.Gate.Limits()
		o.put("gate", object{{"running", running}, {"queued", queued}})
	}
	return o
}

// id is the operationId: given, the route's name, or made of method and path.
func (w *writer) id(s settings, r web.RouteInfo) string {
	id := cmp.Or(s.id, r.Name)
	made := id == ""
	if made {
		var b strings.Builder
		b.WriteString(strings.ToLower(r.Method))
		for word := range strings.FieldsFuncSeq(r.Pattern, func(c rune) bool { return strings.ContainsRune("/{}:.-_$~", c) }) {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
		id = b.String()
	}
	where := r.Method + " " + r.Pattern + " of " + r.Source
	for base, i := id, 2; made && w.ids[id] != ""; i++ {
		id = base + strconv.Itoa(i)
	}
	if other := w.ids[id]; other != "" {
		w.fail("%s: the operationId %q is that of %s", where, id, other)
	}
	w.ids[id] = where
	return id
}

func (w *writer) parameters(op *operation, r web.RouteInfo, names []string, renamed map[string]string) []any {
	var all []any
	add := func(in, name string, required bool, schema any, sf *reflect.StructField) {
		o := object{{"name", name}, {"in", in}}
		if sf != nil && sf.Tag.Get("doc") != "" {
			o.put("description", sf.Tag.Get("doc"))
		}
		if required {
			o.put("required", true)
		}
		if sf != nil && sf.Tag.Get("deprecated") == "true" {
			o.put("deprecated", true)
		}
		if plain, ok := schema.(object); ok {
			if shown, ok := plain.get("examples").([]any); ok {
				o.put("example", shown[0])
			}
			schema = slices.DeleteFunc(slices.Clone(plain), func(m member) bool {
				return m.name == "deprecated" || m.name == "examples" || m.name == "description" && sf != nil && sf.Tag.Get("doc") != ""
			})
		}
		o.put("schema", schema)
		all = append(all, o)
	}
	bound := map[string]bool{}
	for _, p := range op.params {
		schema, needed := w.described(w.of(p.field.Type, direction{input: true, text: true}), p.field, direction{input: true, text: true})
		name := p.name
		if p.in == "path" {
			needed, bound[name] = true, true
			name = cmp.Or(renamed[name], name)
		}
		if _, has := p.field.Tag.Lookup("default"); has && p.in != "path" {
			needed = false
		}
		if p.in == "header" && slices.ContainsFunc([]string{"Accept", "Content-Type", "Authorization"}, func(h string) bool { return strings.EqualFold(h, name) }) {
			continue // OpenAPI tells these by other means
		}
		add(p.in, name, needed, schema, &p.field)
	}
	for _, name := range names {
		if !bound[name] {
			add("path", cmp.Or(renamed[name], name), true, constraintSchema(r.Pattern, name), nil)
		}
	}
	return all
}

// constraintSchema describes a parameter that no field takes by its constraint.
func constraintSchema(pattern, name string) object {
	_, after, _ := strings.Cut(pattern, "{"+name+":")
	constraint, _, _ := strings.Cut(after, "}")
	switch constraint {
	case "int":
		return object{{"type", "integer"}}
	case "uint":
		return object{{"type", "integer"}, {"minimum", 0}}
	case "uuid", "date":
		return object{{"type", "string"}, {"format", constraint}}
	}
	return object{{"type", "string"}}
}

// bodyTypes are the media types that a body is taken in.
func (w *writer) bodyTypes(op *operation, s settings) []string {
	if len(s.consumes) > 0 {
		return s.consumes
	}
	t := pointed(op.body.Type)
	if isBytes(t) {
		return []string{"application/octet-stream"}
	}
	kinds := []string{"application/json"}
	if t.Kind() == reflect.Struct {
		for _, sf := range reflect.VisibleFields(t) {
			switch {
			case sf.Tag.Get("form") == "":
			case isUpload(sf.Type), sf.Type.Kind() == reflect.Slice && isUpload(sf.Type.Elem()):
				return []string{"multipart/form-data"}
			default:
				kinds = []string{"application/x-www-form-urlencoded", "multipart/form-data"}
			}
		}
	}
	return kinds
}

func (w *writer) requestBody(op *operation, s settings) object {
	var content object
	for _, kind := range w.bodyTypes(op, s) {
		media := object{}
		ofParts := s.form != nil && kind == "multipart/form-data"
		switch {
		case ofParts:
			media.put("schema", formOf(s.form))
		case isBytes(pointed(op.body.Type)):
			media.put("schema", object{})
		case strings.HasSuffix(kind, "form-urlencoded"), strings.HasPrefix(kind, "multipart/"):
			media.put("schema", w.form(op.body.Type))
		default:
			schema, _ := w.described(notNull(w.of(op.body.Type, direction{input: true})), *op.body, direction{input: true})
			media.put("schema", schema)
		}
		if shown := examples(s.requests); shown != nil && (ofParts || strings.Contains(kind, "json")) {
			media.put("examples", shown)
		}
		content.put(kind, media)
	}
	o := object{{"content", content}}
	if op.body.Type.Kind() != reflect.Pointer {
		o.put("required", true)
	}
	return o
}

// form describes the fields of a struct that have a form tag.
func (w *writer) form(t reflect.Type) object {
	t = pointed(t)
	var properties object
	var required []string
	if t.Kind() == reflect.Struct {
		for _, sf := range reflect.VisibleFields(t) {
			name := sf.Tag.Get("form")
			if name == "" || name == "-" {
				continue
			}
			d := direction{input: true, text: true}
			var schema any
			file := object{{"type", "string"}, {"format", "binary"}}
			switch {
			case isUpload(sf.Type):
				schema = file
			case sf.Type.Kind() == reflect.Slice && isUpload(sf.Type.Elem()):
				schema = object{{"type", "array"}, {"items", file}}
			default:
				schema = w.of(sf.Type, d)
			}
			schema, needed := w.described(schema, sf, d)
			if needed {
				required = append(required, name)
			}
			properties.put(name, schema)
		}
	}
	return formSchema(properties, required)
}

// formOf describes the parts of Form.
func formOf(parts []Part) object {
	var properties object
	var required []string
	for _, p := range parts {
		schema := object{{"type", cmp.Or(p.Type, "string")}}
		if p.File {
			schema.put("format", "binary")
		}
		if p.Choices != nil {
			schema.put("enum", p.Choices)
		}
		if p.Many {
			schema = object{{"type", "array"}, {"items", schema}}
		}
		if p.Doc != "" {
			schema.put("description", p.Doc)
		}
		if p.Required {
			required = append(required, p.Name)
		}
		properties.put(p.Name, schema)
	}
	return formSchema(properties, required)
}

func formSchema(properties object, required []string) object {
	o := object{{"type", "object"}, {"properties", properties}}
	if properties == nil {
		o.set("properties", object{})
	}
	if required != nil {
		o.put("required", required)
	}
	return o
}

func examples(list []example) any {
	if len(list) == 0 {
		return nil
	}
	var o object
	for _, e := range list {
		o.set(e.name, object{{"value", e.text}})
	}
	return o
}

// responses are those of success, of the problems that the framework brings with
// the operation, and of those it names.
func (w *writer) responses(op *operation, s settings, r web.RouteInfo) object {
	var o object
	codes := s.statuses
	if len(codes) == 0 {
		codes = []int{http.StatusOK}
		if op.answer == nil {
			codes = []int{http.StatusNoContent}
		}
	}
	codes = slices.Sorted(slices.Values(codes))
	for _, code := range codes {
		answer := object{{"description", http.StatusText(code)}}
		var headers object
		for _, sf := range op.headers {
			name := sf.Tag.Get("header")
			if strings.EqualFold(name, "Content-Type") {
				continue
			}
			h := object{}
			if text := sf.Tag.Get("doc"); text != "" {
				h.put("description", text)
			}
			h.put("schema", w.of(sf.Type, direction{text: true}))
			headers.put(name, h)
		}
		if headers != nil {
			answer.put("headers", headers)
		}
		if op.answer != nil && code != http.StatusNoContent && code != http.StatusNotModified {
			answer.put("content", w.content(op, s))
		}
		o.set(strconv.Itoa(code), answer)
	}
	for _, code := range slices.Sorted(slices.Values(s.problems(w.implied(op, s, r)...))) {
		o.set(strconv.Itoa(code), w.problemResponse(http.StatusText(code)))
	}
	o.put("default", w.problemResponse("Error"))
	return o
}

func (w *writer) content(op *operation, s settings) object {
	kinds := s.produces
	if len(kinds) == 0 {
		kinds = []string{"application/json"}
		if isBytes(op.answer.Type) {
			kinds = []string{"application/octet-stream"}
		}
	}
	var content object
	for _, kind := range kinds {
		media := object{}
		if isBytes(op.answer.Type) || isFile(kind) {
			media.put("schema", object{})
		} else {
			schema, _ := w.described(w.of(op.answer.Type, direction{}), *op.answer, direction{})
			media.put("schema", schema)
		}
		if shown := examples(s.responses); shown != nil && strings.Contains(kind, "json") {
			media.put("examples", shown)
		}
		content.put(kind, media)
	}
	return content
}

// isFile reports whether bodies of a media type are bytes to everyone: a schema says nothing of
// them.
func isFile(kind string) bool {
	switch first, second, _ := strings.Cut(kind, "/"); first {
	case "image", "audio", "video", "font":
		return true
	case "application":
		return slices.Contains([]string{"octet-stream", "pdf", "zip", "gzip"}, second)
	}
	return false
}

// implied are the statuses of errors that come with what an operation is made of.
func (w *writer) implied(op *operation, s settings, r web.RouteInfo) []int {
	var codes []int
	if len(op.params) > 0 || op.body != nil {
		codes = append(codes, http.StatusBadRequest)
		if w.app.Validator() != nil {
			codes = append(codes, http.StatusUnprocessableEntity)
		}
	}
	if op.body != nil {
		codes = append(codes, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	if !s.public && (len(s.security) > 0 || len(w.info.Default) > 0) {
		codes = append(codes, http.StatusUnauthorized, http.StatusForbidden)
	}
	if r.Budgets.Time > 0 || r.Budgets.Gate != nil || r.Budgets.Bodies != nil {
		codes = append(codes, http.StatusServiceUnavailable)
	}
	return codes
}

func (w *writer) problemResponse(description string) object {
	w.problem = true
	return object{{"description", description}, {"content", object{
		{"application/problem+json", object{{"schema", object{{"$ref", "#/components/schemas/" + problemName}}}}},
	}}}
}

const problemName = "web.Problem"

// problemSchema is the form of a web.Problem.
func problemSchema() object {
	text := object{{"type", "string"}}
	count := object{{"type", "integer"}, {"minimum", 1}}
	return object{
		{"type", "object"},
		{"description", "Problem details (RFC 9457)"},
		{"properties", object{
			{"type", object{{"type", "string"}, {"format", "uri-reference"}}},
			{"title", text},
			{"status", object{{"type", "integer"}, {"minimum", 400}, {"maximum", 599}}},
			{"detail", text},
			{"instance", object{{"type", "string"}, {"description", "The request id"}}},
			{"fields", object{{"type", "array"}, {"items", object{
				{"type", "object"},
				{"properties", object{
					{"source", text},
					{"pointer", text},
					{"name", text},
					{"rule", text},
					{"limit", text},
					{"detail", text},
					{"got", text},
					{"want", text},
					{"line", count},
					{"column", count},
				}},
				{"required", []string{"detail"}},
			}}}},
		}},
		{"required", []string{"type", "title", "status"}},
	}
}

func isUpload(t reflect.Type) bool { return t == reflect.TypeFor[*web.Upload]() }
