package openapi_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"example.com/quire/web"
	"example.com/quire/web/openapi"
	"example.com/quire/web/validate"
	"example.com/quire/web/webtest"
)

type article struct {
	ID    int               `json:"id" validate:"min=1"`
	Name  string            `json:"name" validate:"max=5"`
	State string            `json:"state" validate:"oneof=open done"`
	Tags  []string          `json:"tags" validate:"max=2"`
	More  map[string]uint8  `json:"more,omitempty"`
	Up    *article          `json:"up,omitempty"`
	Free  any               `json:"free"`
	Deep  []map[string]bool `json:"deep,omitempty"`
}

func articles(t *testing.T, answer func() *article) (*web.App, *openapi.Doc) {
	t.Helper()
	rules, err := validate.New()
	if err != nil {
		t.Fatal(err)
	}
	app, err := web.New(web.Options{Logger: slog.New(slog.DiscardHandler), Validator: rules})
	if err != nil {
		t.Fatal(err)
	}
	openapi.Handle(app, "GET", "/article", func(context.Context, *struct{}) (*struct{ Body *article }, error) {
		return &struct{ Body *article }{answer()}, nil
	})
	openapi.Handle(app, "GET", "/none", func(context.Context, *struct{}) (*struct{}, error) { return nil, nil })
	openapi.Handle(app, "GET", "/lost", func(context.Context, *struct{}) (*struct{}, error) { return nil, web.ErrNotFound }, openapi.Errors(404))
	openapi.Handle(app, "GET", "/many/{id}", func(context.Context, *struct {
		ID int `path:"id"`
	},
	) (*struct{ Body []article }, error) {
		return nil, nil
	})
	app.GET("/plain", func(c *web.Context) error { return c.Negotiate(http.StatusOK, "x", "text/plain", "application/json") })
	doc, err := openapi.Document(app, openapi.Info{Title: "T", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	return app, doc
}

func TestAnswersKeepToTheirDescription(t *testing.T) {
	app, doc := articles(t, func() *article {
		return &article{ID: 1, Name: "né", State: "open", Tags: []string{"a"}, More: map[string]uint8{"x": 255}, Up: &article{ID: 2, State: "done"}, Free: []any{1.5, nil}}
	})
	webtest.Conform(t, app, doc)

	kind := http.Header{"Content-Type": {"application/json; charset=utf-8"}}
	good := `{"id":1,"name":"n","state":"open","tags":null,"free":{}}`
	for _, tt := range []struct{ path, body, want string }{
		{"/article", good, ""},
		{"/article", `{"id":1.0,"name":"n","state":"open","tags":[],"free":1e999,"up":` + good + `}`, ""},
		{"/article", strings.Replace(good, `"id":1`, `"id":0`, 1), "/id 0 breaks minimum 1"},
		{"/article", strings.Replace(good, `"id":1`, `"id":1.5`, 1), "/id 1.5 is number, want integer"},
		{"/article", strings.Replace(good, `"id":1,`, ``, 1), `lacks "id"`},
		{"/article", strings.Replace(good, `"id"`, `"a/b":1,"id"`, 1), "/a~1b nothing may be here"},
		{"/article", strings.Replace(good, `"n"`, `"éééééé"`, 1), "breaks maxLength 5"},
		{"/article", strings.Replace(good, `"n"`, `"ééééé"`, 1), ""},
		{"/article", strings.Replace(good, `"open"`, `"lost"`, 1), `/state "lost" is none of`},
		{"/article", strings.Replace(good, `null`, `["a","b","c"]`, 1), "/tags"},
		{"/article", strings.Replace(good, `null`, `[7]`, 1), "/tags/0 7 is integer, want string"},
		{"/article", strings.Replace(good, `{}`, `1,"more":{"x":256}`, 1), "/more/x 256 breaks maximum 255"},
		{"/article", strings.Replace(good, `{}`, `1,"up":{"id":1}`, 1), "/up"},
		{"/article", strings.Replace(good, `{}`, `1,"deep":[{"a":1}]`, 1), "/deep/0/a 1 is integer, want boolean"},
		{"/article", `{`, "is not JSON"},
		{"/many/{other}", `[]`, ""},
		{"/many/{id}", `[{}]`, `/0 lacks "id"`},
		{"/none", `x`, "a body of 1 bytes"},
		{"/unknown", `x`, ""},
	} {
		status := 200
		if tt.path == "/none" {
			status = 204
		}
		err := doc.CheckAnswer("GET", tt.path, status, kind, []byte(tt.body))
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %s: %v, want %q", tt.path, tt.body, err, tt.want)
		}
	}
	if err := doc.CheckAnswer("GET", "/article", 200, http.Header{"Content-Type": {"text/html"}}, nil); err == nil || !strings.Contains(err.Error(), "text/html is not described") {
		t.Errorf("another type: %v", err)
	}
	if err := doc.CheckAnswer("GET", "/article", 200, http.Header{}, nil); err == nil {
		t.Error("no type is no error")
	}
}
