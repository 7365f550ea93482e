package openapi_test

import (
	"context"
	"strings"
	"testing"

	"example.com/quire/web"
	"example.com/quire/web/openapi"
)

const firstDescription = `{"openapi":"3.1.0","info":{"title":"T","version":"1"},"security":[{"token":[]}],
"paths":{"/orders/{id}":{
 "get":{"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"integer"}},
   {"name":"limit","in":"query","schema":{"type":"integer","minimum":1,"maximum":100}},
   {"name":"X-A","in":"header","schema":{"type":"string","enum":["a","b"]}}],
  "responses":{"200":{"description":"","headers":{"ETag":{"schema":{"type":"string"}}},"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Order"}}}},
   "404":{"description":""}}},
 "put":{"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"integer"}}],
  "requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/OrderInput"}},"application/yaml":{"schema":{}}}},
  "responses":{"204":{"description":""}}},
 "delete":{"responses":{"204":{"description":""}}}}},
"components":{"schemas":{
 "Order":{"type":"object","properties":{"id":{"type":"integer","format":"int32"},"note":{"type":"string"},"state":{"enum":["open","done"]},
   "parent":{"anyOf":[{"$ref":"#/components/schemas/Order"},{"type":"null"}]},"lines":{"type":"array","items":{"type":"number"}}},"required":["id"],"additionalProperties":false},
 "OrderInput":{"type":"object","properties":{"note":{"type":["string","null"],"maxLength":100},"state":{"enum":["open","done"]},"price":{"type":"number"},
   "sub":{"$ref":"#/components/schemas/OrderInput"}},"additionalProperties":false}}}}`

func TestBreakingListsWhatBreaksClients(t *testing.T) {
	for _, tt := range []struct{ name, from, to, want string }{
		{"nothing", "", "", ""},
		{"another name of a parameter", `/orders/{id}`, `/orders/{order}`, ""}, // and of its declarations, below
		{"operation gone", `"delete":{"responses"`, `"trace":{"responses"`, "DELETE /orders/{id}: is gone"},
		{"path gone", `"/orders/{id}":{`, `"/order/{id}":{`, "GET /orders/{id}: is gone"},
		{"parameter gone", `{"name":"limit","in":"query"`, `{"name":"size","in":"query"`, "query limit: is gone"},
		{"header in another case", `"X-A"`, `"x-a"`, ""},
		{"parameter needed", `"in":"query"`, `"in":"query","required":true`, "query limit: is needed now"},
		{"new and needed", `{"name":"X-A"`, `{"name":"n","in":"query","required":true,"schema":{}},{"name":"X-A"`, "query n: is new and needed"},
		{"new parameter", `{"name":"X-A"`, `{"name":"n","in":"query","schema":{}},{"name":"X-A"`, ""},
		{"narrower maximum", `"maximum":100`, `"maximum":99`, "query limit: the new description refuses values above maximum 99"},
		{"wider maximum", `"maximum":100`, `"maximum":101`, ""},
		{"no maximum", `,"maximum":100`, ``, ""},
		{"higher minimum", `"minimum":1`, `"minimum":2`, "values below minimum 2"},
		{"value gone from a request", `["a","b"]`, `["a"]`, `header X-A: the new description refuses the value "b"`},
		{"value more in a request", `["a","b"]`, `["a","b","c"]`, ""},
		{"path parameter of another type", `"in":"path","required":true,"schema":{"type":"integer"}}],`, `"in":"path","required":true,"schema":{"type":"boolean"}}],`, "PUT /orders/{id}: path id: the new description refuses the type integer"},
		{"integer to number", `"query","schema":{"type":"integer"`, `"query","schema":{"type":"number"`, ""},
		{"body needed", `"requestBody":{`, `"requestBody":{"required":true,`, "request: a body is needed now"},
		{"media type gone", `"application/yaml"`, `"text/yaml"`, "request application/yaml: is no longer taken"},
		{"member needed", `"sub":{"$ref":"#/components/schemas/OrderInput"}}`, `"sub":{"$ref":"#/components/schemas/OrderInput"}},"required":["note"]`, "the new description refuses objects without note"},
		{"null refused", `"type":["string","null"]`, `"type":"string"`, "/note: the new description refuses the type null"},
		{"shorter text", `"maxLength":100`, `"maxLength":10`, "/note: the new description refuses values above maxLength 10"},
		{"member of a request gone", `"price":{"type":"number"},`, ``, "/price: the new description refuses the member"},
		{"format asked for", `"price":{"type":"number"`, `"price":{"type":"number","format":"float"`, `/price: the new description refuses values without format "float"`},
		{"answer gone", `"200":{`, `"201":{`, "200: is no longer answered"},
		{"error gone", `,
   "404":{"description":""}`, ``, ""},
		{"header of the answer gone", `"ETag"`, `"Etag2"`, "200 header ETag: is gone"},
		{"another media type of the answer", `"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Order"}}}`, `"content":{"text/plain":{}}`, "200 application/json: is no longer sent"},
		{"member of an answer no longer sure", `"required":["id"],`, ``, "200 application/json: the old description does not have objects without id"},
		{"member of an answer of another type", `"note":{"type":"string"},"state"`, `"note":{"type":"integer"},"state"`, "/note: the old description does not have the type integer"},
		{"member more in an answer", `"note":{"type":"string"},"state"`, `"new":{},"note":{"type":"string"},"state"`, ""},
		{"value more in an answer", `"state":{"enum":["open","done"]},
   "parent"`, `"state":{"enum":["open","done","lost"]},
   "parent"`, `/state: the old description does not have the value "lost"`},
		{"value gone from an answer", `"state":{"enum":["open","done"]},
   "parent"`, `"state":{"enum":["open"]},
   "parent"`, ""},
		{"wider integer in an answer", `"int32"`, `"int64"`, `/id: the old description does not have values without format "int32"`},
		{"items of another type", `"items":{"type":"number"}`, `"items":{"type":["number","null"]}`, "/lines/-: the old description does not have the type null"},
		{"integers as items", `"items":{"type":"number"}`, `"items":{"type":"integer"}`, ""},
		{"credentials of another kind", `"security":[{"token":[]}]`, `"security":[{"token":[],"key":[]}]`, "security: token is no longer enough"},
		{"an alternative", `"security":[{"token":[]}]`, `"security":[{"token":[]},{"key":[]}]`, ""},
		{"no credentials needed", `"security":[{"token":[]}]`, `"security":[]`, ""},
		{"a scope", `"security":[{"token":[]}]`, `"security":[{"token":["write"]}]`, "security: token is no longer enough"},
	} {
		if !strings.Contains(firstDescription, tt.from) {
			t.Errorf("%s: %q is not in the description", tt.name, tt.from)
		}
		next := strings.Replace(firstDescription, tt.from, tt.to, 1)
		if strings.HasPrefix(tt.name, "another name") {
			next = strings.ReplaceAll(next, `"name":"id"`, `"name":"order"`)
		}
		changes, err := openapi.Breaking([]byte(firstDescription), []byte(next))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var all []string
		for _, c := range changes {
			all = append(all, c.String())
		}
		text := strings.Join(all, "\n")
		if tt.want == "" && text != "" || !strings.Contains(text, tt.want) {
			t.Errorf("%s: got\n%s\nwant %q", tt.name, text, tt.want)
		}
	}
	for _, bad := range []string{``, `{`, `[]`, `{"swagger":"2.0"}`, `{"openapi":3}`, `{"openapi":"3.1.0","openapi":"3.1.0"}`} {
		if _, err := openapi.Breaking([]byte(bad), []byte(firstDescription)); err == nil || !strings.Contains(err.Error(), "the old description") {
			t.Errorf("%s: %v", bad, err)
		}
		if _, err := openapi.Breaking([]byte(firstDescription), []byte(bad)); err == nil || !strings.Contains(err.Error(), "the new description") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

type node struct {
	Name string  `json:"name"`
	Next *node   `json:"next,omitempty"`
	Many []node  `json:"many"`
	Any  any     `json:"any,omitempty"`
	N    float64 `json:"n"`
}

func TestBreakingOfTheAppsOwnDescription(t *testing.T) {
	describe := func(more ...string) []byte {
		app, err := web.New(web.Options{})
		if err != nil {
			t.Fatal(err)
		}
		openapi.Handle(app, "POST", "/nodes/{id}", func(context.Context, *struct {
			ID   int `path:"id"`
			Body node
		},
		) (*struct{ Body []node }, error) {
			return nil, nil
		})
		for _, path := range more {
			openapi.Handle(app, "GET", path, func(context.Context, *struct{}) (*struct{ Body node }, error) { return nil, nil })
		}
		doc, err := openapi.Document(app, openapi.Info{Title: "T", Version: "1"})
		if err != nil {
			t.Fatal(err)
		}
		return doc.JSON()
	}
	if c, err := openapi.Breaking(describe(), describe("/more")); err != nil || len(c) != 0 {
		t.Errorf("an operation more: %v, %v", c, err)
	}
	if c, err := openapi.Breaking(describe("/more"), describe()); err != nil || len(c) != 1 || c[0] != (openapi.Change{Operation: "GET /more", Reason: "is gone"}) {
		t.Errorf("one less: %v, %v", c, err)
	}
}

// FuzzBreaking: no text breaks the comparison, and no description breaks clients of itself.
func FuzzBreaking(f *testing.F) {
	f.Add([]byte(firstDescription))
	f.Add([]byte(`{"openapi":"3.1.0","paths":{"/":{"get":{"responses":{"200":{"content":{"a":{"schema":{"$ref":"#/x"}}}}}}}},"x":{"anyOf":[{"$ref":"#/x"},{"allOf":[{"$ref":"#/x"}]}]}}`))
	f.Add([]byte(`{"openapi":"3.1.0","paths":{"/{a}/{a}":{"$ref":"#/paths/~1{a}~1{a}","get":7}},"security":[7,{}]}`))
	f.Fuzz(func(_ *testing.T, text []byte) {
		if _, err := openapi.Breaking([]byte(firstDescription), text); err != nil {
			return
		}
		if _, err := openapi.Breaking(text, []byte(firstDescription)); err != nil {
			return
		}
		_, _ = openapi.Breaking(text, text)
	})
}
