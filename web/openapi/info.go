package openapi

import (
	"maps"
	"slices"

	"example.com/quire/web"
)

// document puts the parts together.
func (w *writer) document() object {
	info := object{{"title", w.info.Title}}
	addTexts(&info, member{"summary", w.info.Summary}, member{"description", w.info.Description})
	if c := w.info.Contact; c != (Contact{}) {
		var o object
		addTexts(&o, member{"name", c.Name}, member{"url", c.URL}, member{"email", c.Email})
		info.put("contact", o)
	}
	if l := w.info.License; l != (License{}) {
		var o object
		addTexts(&o, member{"name", l.Name}, member{"identifier", l.Identifier}, member{"url", l.URL})
		info.put("license", o)
	}
	info.put("version", w.info.Version)
	doc := object{{"openapi", "3.1.0"}, {"info", info}}
	if len(w.info.Servers) > 0 {
		doc.put("servers", servers(w.info.Servers))
	}
	if w.paths == nil {
		w.paths = object{}
	}
	doc.put("paths", w.paths)
	doc.put("components", w.allComponents())
	if len(w.info.Default) > 0 {
		list := []any{}
		for _, name := range w.info.Default {
			if _, ok := w.info.Security[name]; !ok {
				w.fail("Info.Default names the scheme %q, which Info.Security has not", name)
			}
			list = append(list, object{{name, []string{}}})
		}
		doc.put("security", list)
	}
	if tags := w.allTags(); len(tags) > 0 {
		doc.put("tags", tags)
	}
	return doc
}

func addTexts(o *object, texts ...member) {
	for _, t := range texts {
		if t.value != "" {
			*o = append(*o, t)
		}
	}
}

func servers(urls []string) []any {
	var list []any
	for _, url := range urls {
		list = append(list, object{{"url", url}})
	}
	return list
}

func (w *writer) allComponents() object {
	var components object
	schemas := w.components()
	if w.problem {
		schemas.put(problemName, problemSchema())
	}
	if schemas == nil {
		schemas = object{}
	}
	components.put("schemas", schemas)
	if len(w.info.Security) > 0 {
		var schemes object
		for _, name := range slices.Sorted(maps.Keys(w.info.Security)) {
			s := w.info.Security[name]
			o := object{{"type", s.Type}}
			addTexts(&o, member{"description", s.Description}, member{"scheme", s.Scheme}, member{"bearerFormat", s.BearerFormat},
				member{"in", s.In}, member{"name", s.Name}, member{"openIdConnectUrl", s.URL})
			switch {
			case s.Type == "http" && s.Scheme == "", s.Type == "apiKey" && (s.In == "" || s.Name == ""), s.Type == "openIdConnect" && s.URL == "":
				w.fail("Info.Security %q: a scheme of type %s lacks what it needs", name, s.Type)
			case !slices.Contains([]string{"http", "apiKey", "openIdConnect", "mutualTLS"}, s.Type):
				w.fail("Info.Security %q: type %q is none of http, apiKey, openIdConnect, mutualTLS", name, s.Type)
			}
			schemes.put(name, o)
		}
		components.put("securitySchemes", schemes)
	}
	return components
}

func (w *writer) allTags() []any {
	var all []any
	named := map[string]bool{}
	for _, t := range w.info.Tags {
		o := object{{"name", t.Name}}
		addTexts(&o, member{"description", t.Description})
		all, named[t.Name] = append(all, o), true
	}
	for _, name := range slices.Sorted(slices.Values(w.tags)) {
		if !named[name] {
			all = append(all, object{{"name", name}})
		}
	}
	return all
}

// operationTypes makes the schemas of an operation's types, for what is wrong with them.
func (b *builder) operationTypes(op *operation) {
	w := &writer{builder: b, ids: map[string]string{}}
	r := web.RouteInfo{Method: "POST"}
	w.parameters(op, r, nil, nil)
	if op.body != nil {
		w.requestBody(op, settings{})
	}
	w.responses(op, settings{}, r)
}
