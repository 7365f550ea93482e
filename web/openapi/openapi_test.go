package openapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"example.com/quire/web"
	"example.com/quire/web/openapi"
	"example.com/quire/web/validate"
	"example.com/quire/web/webtest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

type line struct {
	SKU string `json:"sku" validate:"required,alphanum,max=20" doc:"Article number" example:"A100"`
	Qty int32  `json:"qty" validate:"min=1,max=99" example:"2"`
}

type money struct{ cents int64 }

func (m money) MarshalText() ([]byte, error) { return []byte("1.00"), nil }

func (m *money) UnmarshalText([]byte) error { return nil }

type order struct {
	ID       int               `json:"id"`
	State    string            `json:"state" validate:"omitempty,oneof=open paid 'sent out'"`
	Lines    []line            `json:"lines" validate:"required,min=1"`
	Parent   *order            `json:"parent,omitempty" doc:"The order that this one follows"`
	Notes    map[string]string `json:"notes,omitempty"`
	Total    money             `json:"total"`
	Made     time.Time         `json:"made"`
	From     netip.Addr        `json:"from,omitzero"`
	Priority uint8             `json:"priority" deprecated:"true"`
	Extra    json.RawMessage   `json:"extra,omitempty"`
}

type page[T any] struct {
	Items []T     `json:"items"`
	Next  *string `json:"next"`
}

type listOrders struct {
	After string   `query:"after" doc:"Behind this one"`
	Limit int      `query:"limit" default:"20" validate:"min=1,max=100" example:"50"`
	State []string `query:"state" validate:"omitempty,dive,oneof=open paid"`
	Agent string   `header:"X-Agent" deprecated:"true"`
	Sid   string   `cookie:"sid"`
	Raw   *web.Context
}

type listed struct {
	Total int `header:"X-Total" doc:"How many there are"`
	Body  page[order]
}

type getOrder struct {
	ID int `path:"id" validate:"min=1"`
}

type found struct {
	ETag string `header:"ETag"`
	Body order
}

type putOrder struct {
	ID   int `path:"order"`
	Body order
}

type created struct {
	Status   int
	Location string `header:"Location"`
	Body     *order
}

type upload struct {
	Body []byte
}

type picture struct {
	Type string `header:"Content-Type"`
	Body []byte
}

func newApp(t *testing.T) *web.App {
	t.Helper()
	v, err := validate.New(validate.Type(func(m money) any { return m.cents }, map[string]any{"type": "string", "pattern": `^[0-9]+\.[0-9]{2}$`}))
	if err != nil {
		t.Fatal(err)
	}
	app, err := web.New(web.Options{Logger: slog.New(slog.DiscardHandler), Validator: v})
	if err != nil {
		t.Fatal(err)
	}
	return app
}

// shop is an App with one route of each kind.
func shop(t *testing.T) *web.App {
	t.Helper()
	app := newApp(t)
	openapi.Handle(app, "GET", "/orders", func(_ context.Context, in *listOrders) (*listed, error) {
		if in.Raw == nil {
			return nil, errors.New("no Context")
		}
		return &listed{Total: in.Limit, Body: page[order]{Items: []order{{ID: 1, State: strings.Join(in.State, ","), Lines: []line{{"A1", 1}}}}}}, nil
	}, openapi.Summary("Orders, page by page"), openapi.Tags("orders"), openapi.Public())
	openapi.Handle(app, "GET", "/orders/{id:int}", func(_ context.Context, in *getOrder) (*found, error) {
		if in.ID == 404 {
			return nil, web.ErrNotFound
		}
		return &found{ETag: `"7"`, Body: order{ID: in.ID, State: "open", Lines: []line{{"A1", 1}}}}, nil
	}, web.Name("order"), openapi.Summary("One order"), openapi.Tags("orders"), openapi.Errors(404))
	openapi.Handle(app, "PUT", "/orders/{order}", func(_ context.Context, in *putOrder) (*created, error) {
		if in.ID == 1 {
			return nil, nil
		}
		in.Body.ID = in.ID
		return &created{Location: "/orders/2", Body: &in.Body}, nil
	}, openapi.Status(201, 200, 204), openapi.Tags("orders"), openapi.Security("key", "write"), openapi.Deprecated(),
		openapi.RequestExample("small", map[string]any{"id": 1, "lines": []line{{"A1", 1}}, "total": "1.00", "made": "2026-01-02T03:04:05Z"}),
		web.Budgets{Time: 10 * time.Second, BodyBytes: 4 << 10, Gate: web.NewGate(4, 16)})
	openapi.Handle(app, "POST", "/pictures", func(_ context.Context, in *upload) (*picture, error) {
		return &picture{Type: "image/png", Body: in.Body}, nil
	}, openapi.Consumes("image/png"), openapi.Produces("image/png"), openapi.Description("Sends the picture *back*."))
	app.DELETE("/orders/{id}/lines/{n}", func(c *web.Context) error { return c.NoContent(http.StatusNoContent) },
		openapi.Describe[struct {
			ID int `path:"id"`
		}, struct{}](), openapi.ID("dropLine"))
	openapi.Handle(app, "POST", "/hidden", func(context.Context, *struct{}) (*struct{}, error) { return nil, nil }, openapi.Hidden())
	app.GET("/plain", func(c *web.Context) error { return c.NoContent(http.StatusNoContent) })
	return app
}

func describe(t *testing.T, app *web.App) *openapi.Doc {
	t.Helper()
	doc, err := openapi.Document(app, openapi.Info{
		Title: "Shop", Version: "1.2", Description: "Orders and pictures.", Contact: openapi.Contact{Name: "Shop", URL: "https://shop.example"},
		Security: map[string]openapi.SecurityScheme{
			"token": {Type: "http", Scheme: "bearer", BearerFormat: "JWT"}, "key": {Type: "apiKey", In: "header", Name: "X-Key"},
		},
		Default: []string{"token"}, Tags: []openapi.Tag{{Name: "orders", Description: "What was bought"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestDocumentIsTheSameBytesEachTime(t *testing.T) {
	doc := describe(t, shop(t))
	for range 5 {
		again := describe(t, shop(t))
		if !bytes.Equal(doc.JSON(), again.JSON()) || !bytes.Equal(doc.YAML(), again.YAML()) {
			t.Fatal("the description differs from itself")
		}
	}
	file := filepath.Join("testdata", "shop.yaml")
	if *update {
		if err := os.WriteFile(file, doc.YAML(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(doc.YAML(), want) {
		t.Errorf("description differs from %s (-update writes it):\n%s", file, doc.YAML())
	}
	var fromYAML, fromJSON any
	if err := yaml.Unmarshal(doc.YAML(), &fromYAML); err != nil {
		t.Fatalf("YAML: %v", err)
	}
	if err := json.Unmarshal(doc.JSON(), &fromJSON); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(fromYAML)
	if err != nil {
		t.Fatal(err)
	}
	var again any
	if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(again, fromJSON) {
		t.Errorf("YAML and JSON say different things: %v", err)
	}
}

func TestTypedHandlersBindAndAnswer(t *testing.T) {
	c := webtest.New(t, shop(t))
	r := c.Get("/orders?limit=7&state=open&state=paid").Want(200)
	if r.Header.Get("X-Total") != "7" || !strings.Contains(r.Text(), `"state":"open,paid"`) || !strings.HasSuffix(r.Text(), `"next":null}`) {
		t.Errorf("%v %s", r.Header, r.Body)
	}
	if r := c.Get("/orders").Want(200); r.Header.Get("X-Total") != "20" {
		t.Errorf("default of limit: %v", r.Header)
	}
	c.Get("/orders?limit=0").Want(422)
	c.Get("/orders?limit=x").Want(400)
	if r := c.Get("/orders/3").Want(200); r.Header.Get("Etag") != `"7"` {
		t.Errorf("header field: %v", r.Header)
	}
	c.Get("/orders/404").Want(404)
	c.Get("/orders/x").Want(405) // PUT alone takes it
	body := `{"id":1,"lines":[{"sku":"A1","qty":1}],"total":"1.00","made":"2026-01-02T03:04:05Z"}`
	put := c.With("Content-Type", "application/json")
	if r := put.Do("PUT", "/orders/2", []byte(body)).Want(201); r.Header.Get("Location") != "/orders/2" || !strings.Contains(r.Text(), `"id":2`) {
		t.Errorf("%v %s", r.Header, r.Body)
	}
	put.Do("PUT", "/orders/1", []byte(body)).Want(204)
	var p struct{ Fields []web.FieldError }
	put.Do("PUT", "/orders/1", []byte(`{"lines":[{"sku":"-","qty":0}]}`)).Want(422).JSON(&p)
	if len(p.Fields) != 2 || p.Fields[0].Pointer != "/lines/0/sku" {
		t.Errorf("pointers are into the body: %+v", p.Fields)
	}
	put.Do("PUT", "/orders/1", nil).Want(400)
	put.Do("PUT", "/orders/1", []byte(body+strings.Repeat(" ", 5000))).Want(413)
	if r := c.Post("/pictures", "image/png", "\x89PNG"); r.Status != 200 || r.Text() != "\x89PNG" || r.Header.Get("Content-Type") != "image/png" {
		t.Errorf("bytes: %d %q %v", r.Status, r.Body, r.Header)
	}
}

func TestWrongTypesAreErrorsAtRegistration(t *testing.T) {
	app := newApp(t)
	type none struct{}
	h := func(err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "openapi_test.go:") {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	_, err := openapi.TryHandle(app, "GET", "/a", func(context.Context, *struct {
		ID int `path:"idd"`
	},
	) (*none, error) {
		return nil, nil
	})
	h(err, "the pattern has no {idd}")
	_, err = openapi.TryHandle(app, "GET", "/a", func(context.Context, *struct{ Page int }) (*none, error) { return nil, nil })
	h(err, "field Page of struct { Page int }: nothing fills it")
	_, err = openapi.TryHandle(app, "GET", "/a", func(context.Context, *struct{ Body order }) (*none, error) { return nil, nil })
	h(err, "GET has no body")
	_, err = openapi.TryHandle(app, "GET", "/a", func(context.Context, *none) (*struct{ Extra int }, error) { return nil, nil })
	h(err, "field Extra")
	_, err = openapi.TryHandle(app, "GET", "/a", func(context.Context, *none) (*struct{ Body chan int }, error) { return nil, nil })
	h(err, "a chan has no JSON form")
	_, err = openapi.TryHandle(app, "GET", "/a", func(context.Context, *struct {
		A int `query:"a" validate:"mn=1"`
	},
	) (*none, error) {
		return nil, nil
	})
	h(err, "no rule of this name")
	_, err = openapi.TryHandle(app, "GET", "/a", func(context.Context, *struct {
		A int `query:"a" example:"x"`
	},
	) (*none, error) {
		return nil, nil
	})
	h(err, `example:"x" is no int`)
	_, err = openapi.TryHandle(app, "GET", "/a", func(context.Context, *none) (*none, error) { return nil, nil }, openapi.Errors(200))
	h(err, "errors are 400 to 599")
	_, err = openapi.TryHandle(app, "", "/a", func(context.Context, *none) (*none, error) { return nil, nil })
	h(err, "a method of its own")
	_, err = openapi.TryHandle[none, none](app, "GET", "/a", nil)
	h(err, "no handler")
	if n := len(app.Routes()); n != 0 {
		t.Errorf("%d routes are left", n)
	}
	openapi.Handle(app, "GET", "/n/{id:int}", func(context.Context, *none) (*none, error) { return nil, nil }, openapi.Security("ghost"))
	openapi.Handle(app, "GET", "/n/{name}", func(context.Context, *none) (*none, error) { return nil, nil })
	_, err = openapi.Document(app, openapi.Info{Title: "x", Version: "1"})
	for _, want := range []string{"cannot tell it from another operation of /n/{id}", `no scheme "ghost"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// asking asks for each route as soon as it is there, before Serve knows that it is.
type asking struct {
	web.Registrar
	ask func(path string)
}

func (a asking) TryHandle(method, path string, h web.Handler, o ...web.RouteOption) (*web.Route, error) {
	r, err := a.Registrar.TryHandle(method, path, h, o...)
	a.ask(path)
	return r, err
}

func TestADescriptionThatIsAskedForWhileItRegistersIsNotThereYet(t *testing.T) {
	app := shop(t)
	c := webtest.New(t, app)
	var answers []int
	r := asking{app, func(path string) { answers = append(answers, c.Get(path).Status) }}
	if err := openapi.Serve(r, describe(t, app), openapi.Options{}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(answers, []int{503, 200}) {
		t.Errorf("answers %d", answers)
	}
	c.Get("/openapi.json").Want(200)
}

// TestExamplesAreWrittenWhenTheyAreGiven: what becomes of their values later is not in them.
func TestExamplesAreWrittenWhenTheyAreGiven(t *testing.T) {
	app := newApp(t)
	type (
		message struct{ Body map[string]any }
		none    struct{}
	)
	body := map[string]any{"name": "<a>"}
	openapi.Handle(app, "POST", "/a", func(context.Context, *message) (*message, error) { return new(message), nil },
		openapi.RequestExample("asked", body), openapi.ResponseExample("answered", body))
	body["name"] = make(chan int)
	doc, err := openapi.Document(app, openapi.Info{Title: "x", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(doc.JSON()), `{"value":{"name":"<a>"}}`); n != 2 {
		t.Errorf("%d examples in\n%s", n, doc.JSON())
	}
	openapi.Handle(app, "POST", "/b", func(context.Context, *message) (*none, error) { return new(none), nil }, openapi.RequestExample("asked", body))
	_, err = openapi.Document(app, openapi.Info{Title: "x", Version: "1"})
	if err == nil || !strings.Contains(err.Error(), `POST /b of `) || !strings.Contains(err.Error(), `example "asked": json: unsupported type: chan int`) {
		t.Errorf("an example without a JSON form: %v", err)
	}
}

func TestServeTellsWhereTheAPIIs(t *testing.T) {
	app := shop(t)
	if err := openapi.Serve(app, describe(t, app), openapi.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := openapi.Serve(app.Group("/v1/api"), describe(t, app), openapi.Options{Path: "/spec"}); err != nil {
		t.Fatal(err)
	}
	c := webtest.New(t, app)
	r := c.Get("/openapi.json").Want(200)
	if !strings.Contains(r.Text(), `"servers":[{"url":"."}]`) {
		t.Errorf("no relative server:\n%.300s", r.Body)
	}
	c.With("If-None-Match", r.Header.Get("Etag")).Get("/openapi.json").Want(304)
	if r := c.Get("/v1/api/spec.yaml").Want(200); !strings.Contains(r.Text(), "servers:\n  -\n    \"url\": \"../..\"\n") && !strings.Contains(r.Text(), `url: "../.."`) {
		t.Errorf("no relative server:\n%.300s", r.Body)
	}
}
