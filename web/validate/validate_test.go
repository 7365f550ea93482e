package validate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/quire/web"
	"example.com/quire/web/validate"
	"example.com/quire/web/webtest"
)

func newApp(t *testing.T, o ...validate.Option) *web.App {
	t.Helper()
	v, err := validate.New(o...)
	if err != nil {
		t.Fatal(err)
	}
	app, err := web.New(web.Options{Logger: slog.New(slog.DiscardHandler), Validator: v})
	if err != nil {
		t.Fatal(err)
	}
	return app
}

type line struct {
	SKU string `json:"sku" validate:"required,alphanum"`
	Qty int    `json:"qty" validate:"min=1,max=99"`
}

type address struct {
	City string `json:"city" validate:"required"`
	Next *address
}

type order struct {
	ID     int               `path:"id" validate:"min=10"`
	Pages  []int             `query:"page" validate:"max=3,dive,min=1"`
	Key    string            `header:"X-Key" validate:"omitempty,uuid"`
	Email  string            `json:"email" validate:"required,email"`
	Code   string            `json:"code" validate:"omitempty,min=4,alpha"`
	Lines  []line            `json:"lines" validate:"required,min=1"`
	ByName map[string]line   `json:"by/name"`
	Tags   map[string]string `json:"tags" validate:"dive,keys,max=3,endkeys,min=2"`
	Home   *address          `json:"home"`
	Until  *time.Time        `json:"until" validate:"omitempty"`
	Again  string            `json:"again" validate:"eqfield=Email"`
	Grid   [][]line          `json:"grid"`
}

func places(fields []web.FieldError) []string {
	var all []string
	for _, f := range fields {
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s%s %s %s", f.Source, f.Name, f.Pointer, f.Rule, f.Limit)))
	}
	return all
}

func TestEveryBrokenRuleIsToldWithItsPlace(t *testing.T) {
	app := newApp(t)
	app.POST("/orders/{id}", func(c *web.Context) error {
		var in order
		if err := c.Bind(&in); err != nil {
			return err
		}
		return c.NoContent(http.StatusNoContent)
	})
	c := webtest.New(t, app)
	good := `{"email":"a@example.org","again":"a@example.org","lines":[{"sku":"A1","qty":1}],"tags":{"a":"bb"}}`
	c.Post("/orders/10?page=1&page=2", "application/json", good).Want(http.StatusNoContent)

	r := c.With("X-Key", "no uuid").Post("/orders/7?page=1&page=0&page=3&page=4", "application/json", `{
		"email": "nobody", "code": "1", "again": "other", "lines": [{"sku":"A1","qty":1},{"sku":"","qty":100}],
		"by/name": {"x": {"sku":"?","qty":0}, "y].Qty[": {"sku":"Y","qty":0}},
		"tags": {"long": "x", "a": "bb"}, "home": {"city":"B","Next":{"city":""}}, "grid": [[],[{"sku":"G","qty":-1}]]}`)
	var p struct {
		Status int
		Detail string
		Fields []web.FieldError
	}
	r.Want(http.StatusUnprocessableEntity).JSON(&p)
	want := []string{
		"path id min 10",
		"query page max 3",
		"header X-Key uuid",
		"body /email email",
		"body /code min 4",
		"body /code alpha",
		"body /lines/1/sku required",
		"body /lines/1/qty max 99",
		"body /by~1name/x/sku alphanum",
		"body /by~1name/x/qty min 1",
		"body /by~1name/y].Qty[/qty min 1",
		"body /tags/long max 3",
		"body /tags/long min 2",
		"body /home/Next/city required",
		"body /again eqfield Email",
		"body /grid/1/0/qty min 1",
	}
	if diff := cmp.Diff(want, places(p.Fields)); diff != "" {
		t.Errorf("broken rules (-want +got):\n%s", diff)
	}
	if p.Detail != "16 values are not valid" || p.Fields[4].Detail != "must be at least 4 characters" {
		t.Errorf("detail %q, %q", p.Detail, p.Fields[4].Detail)
	}
	c.Post("/orders/10?page=0", "application/json", good).Want(422).JSON(&p)
	if len(p.Fields) != 1 || p.Fields[0].Name != "page" || p.Fields[0].Detail != "value 0: must be at least 1" {
		t.Errorf("one of several values: %+v", p.Fields)
	}
}

// TestEachBindChecksItsOwnPlace: what a place does not fill is not judged with it.
func TestEachBindChecksItsOwnPlace(t *testing.T) {
	type in struct {
		Page int    `query:"page" validate:"min=1"`
		Name string `json:"name" form:"name" validate:"required"`
	}
	app := newApp(t)
	bind := func(f func(*web.Context, *in) error) web.Handler {
		return func(c *web.Context) error {
			if err := f(c, new(in)); err != nil {
				return err
			}
			return c.NoContent(http.StatusNoContent)
		}
	}
	app.POST("/query", bind(func(c *web.Context, v *in) error { return c.BindQuery(v) }))
	app.POST("/json", bind(func(c *web.Context, v *in) error { return c.BindJSON(v) }))
	app.POST("/form", bind(func(c *web.Context, v *in) error { return c.BindForm(v) }))
	app.POST("/body", bind(func(c *web.Context, v *in) error { return c.BindBody(v) }))
	app.POST("/all", bind(func(c *web.Context, v *in) error { return c.Bind(v) }))
	app.POST("/slice", func(c *web.Context) error {
		var list []*line
		return c.BindJSON(&list)
	})
	app.POST("/whole", func(c *web.Context) error {
		var v struct {
			Body []line `validate:"min=2"`
		}
		return c.Bind(&v)
	})
	app.POST("/mail", func(c *web.Context) error {
		var v struct {
			Body string `json:"body" validate:"required"`
		}
		return c.Bind(&v)
	})
	c := webtest.New(t, app)
	for _, tt := range []struct{ target, kind, body, want string }{
		{"/query?page=1", "application/json", `{}`, ""},
		{"/query", "application/json", `{}`, "query page min 1"},
		{"/json", "application/json", `{"name":"x"}`, ""},
		{"/json", "application/json", `{"name":""}`, "body /name required"},
		{"/form", "application/x-www-form-urlencoded", `name=`, "form name required"},
		{"/body", "application/x-www-form-urlencoded", `name=`, "form name required"},
		{"/body", "application/json", `{}`, "body /name required"},
		{"/all?page=1", "application/x-www-form-urlencoded", `name=`, "form name required"},
		{"/all?page=0", "application/json", `{"name":"x"}`, "query page min 1"},
		{"/slice", "application/json", `[{"sku":"A","qty":1},null,{"sku":"A","qty":0}]`, "body /2/qty min 1"},
		{"/whole", "application/json", `[{"sku":"A","qty":0}]`, "body  min 2"},
		{"/whole", "application/json", `[{"sku":"A","qty":1},{"sku":"A","qty":0}]`, "body /1/qty min 1"},
		{"/mail", "application/json", `{"body":""}`, "body /body required"},
	} {
		r := c.Post(tt.target, tt.kind, tt.body)
		var p struct{ Fields []web.FieldError }
		if r.Status != 204 && r.Status != 200 {
			r.Want(422).JSON(&p)
		}
		if got := strings.Join(places(p.Fields), "; "); got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.target, tt.body, got, tt.want)
		}
	}
}

// TestWrongRulesAreFoundBeforeTheyAreNeeded: CheckBind names them all; Bind answers 500.
func TestWrongRulesAreFoundBeforeTheyAreNeeded(t *testing.T) {
	type inner struct {
		A string `validate:"requierd"`
	}
	app := newApp(t)
	for want, v := range map[string]any{
		`rule "requierd": no rule of this name`: struct{ List []map[string]*inner }{},
		`rule "min=x": strconv`: struct {
			A string `validate:"min=x"`
		}{},
		`rule "min=": strconv`: struct {
			A []int `validate:"min="`
		}{},
		`rule "max=3": Bad field type bool`: struct {
			A bool `validate:"max=3"`
		}{},
		`rule "min=1;max=2": strconv`: struct {
			A *int `validate:"min=1;max=2"`
		}{},
		`rule "dive": it is for slices`: struct {
			A int `validate:"dive"`
		}{},
		`rule "email": it is for texts, not for int`: struct {
			A int `validate:"email"`
		}{},
		`there is no field "B"`: struct {
			A int `validate:"eqfield=B"`
		}{},
		`there is no field "Kind"`: struct {
			A int `validate:"required_if=Kind card"`
		}{},
		`"required,,min=1": an empty rule`: struct {
			A int `validate:"required,,min=1"`
		}{},
		`keys without endkeys`: struct {
			A map[string]int `validate:"dive,keys,min=1"`
		}{},
		`"required": the field is not exported`: struct {
			a int `validate:"required"`
		}{},
		`binding:"required", and the rules are in`: struct {
			A int `binding:"required"`
		}{},
		`"bogus": no rule of this name`: struct {
			A int `validate:"min=1|bogus"`
		}{},
		`"nope": no rule of this name`: struct {
			A struct{ B int } `validate:"nope"`
		}{},
		`"ghost": no rule of this name`: struct {
			A any `validate:"ghost"`
		}{},
	} {
		err := app.CheckBind(reflect.TypeOf(v))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%T: %v, want %q", v, err, want)
		}
	}
	app.POST("/", func(c *web.Context) error { return c.BindJSON(new(inner)) })
	webtest.New(t, app).Post("/", "application/json", `{"A":"x"}`).Want(http.StatusInternalServerError)

	bare, err := web.New(web.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := bare.CheckBind(reflect.TypeFor[[]order]()); err == nil || !strings.Contains(err.Error(), "Options.Validator is not set") {
		t.Errorf("tags without a validator: %v", err)
	}
	bare.POST("/", func(c *web.Context) error { return c.BindJSON(new(order)) })
	webtest.New(t, bare).Post("/", "application/json", good422).Want(http.StatusInternalServerError)
}

const good422 = `{"email":"a@example.org","again":"a@example.org","lines":[{"sku":"A1","qty":1}]}`

type cents struct{ n int64 }

func (c *cents) UnmarshalText(b []byte) error {
	_, err := fmt.Sscan(string(b), &c.n)
	return err
}

func TestRulesAndTypesOfTheProgram(t *testing.T) {
	sku := validate.Rule("sku", func(v reflect.Value, param string) bool {
		return strings.HasPrefix(v.String(), param+"-")
	}, map[string]any{"pattern": "^[A-Z]+-"})
	money := validate.Type(func(c cents) any { return c.n }, map[string]any{"type": "string", "pattern": "^[0-9]+$"})
	type item struct {
		SKU   string  `json:"sku" validate:"sku=DE"`
		Price cents   `json:"price" validate:"min=100"`
		Old   *cents  `json:"old" validate:"omitempty,max=5"`
		All   []cents `json:"all" validate:"dive,max=9"`
	}
	app := newApp(t, sku, money)
	app.POST("/", func(c *web.Context) error { return c.BindJSON(new(item)) })
	c := webtest.New(t, app)
	c.Post("/", "application/json", `{"sku":"DE-1","price":"100"}`).Want(200)
	var p struct{ Fields []web.FieldError }
	c.Post("/", "application/json", `{"sku":"FR-1","price":"99","old":"6","all":["9","10"]}`).Want(422).JSON(&p)
	want := []string{"body /sku sku DE", "body /price min 100", "body /old max 5", "body /all/1 max 9"}
	if diff := cmp.Diff(want, places(p.Fields)); diff != "" {
		t.Error(diff)
	}
	for _, wrong := range [][]validate.Option{
		{validate.Rule("min", func(reflect.Value, string) bool { return true }, nil)},
		{validate.Rule("a b", func(reflect.Value, string) bool { return true }, nil)},
		{validate.Rule("dive", func(reflect.Value, string) bool { return true }, nil)},
		{validate.Rule("x", nil, nil)},
		{sku, sku},
		{money, money},
		{validate.Type[cents](nil, nil)},
	} {
		var ce *web.ConfigError
		if _, err := validate.New(wrong...); !errors.As(err, &ce) {
			t.Errorf("%v accepted", wrong)
		}
	}
}

func TestSchemaSaysWhatTheRulesSay(t *testing.T) {
	v, err := validate.New(validate.Rule("sku", func(reflect.Value, string) bool { return true }, map[string]any{"pattern": "^S"}))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		of       any
		tag      string
		want     string
		required bool
	}{
		{"", "required", `{"minLength":1}`, true},
		{"", "required,min=3,max=9,email", `{"format":"email","maxLength":9,"minLength":3}`, true},
		{"", "omitempty,min=3", `{"anyOf":[{"const":""},{"minLength":3}]}`, false},
		{"", "oneof=a 'b c'", `{"enum":["a","b c"]}`, false},
		{"", "gt=2,lt=5", `{"maxLength":4,"minLength":3}`, false},
		{"", "alpha,startswith=x.", `{"allOf":[{"pattern":"^x\\."}],"pattern":"^[a-zA-Z]+$"}`, false},
		{"", "ipv4|ipv6", `{"anyOf":[{"format":"ipv4"},{"format":"ipv6"}]}`, false},
		{"", "eqfield=Other", `{"x-validate":["eqfield=Other"]}`, false},
		{"", "uuid|eqfield=A", `{"x-validate":["uuid|eqfield=A"]}`, false},
		{"", "datetime=2006-01-02", `{"format":"date"}`, false},
		{"", "datetime=02.01.2006", `{"x-validate":["datetime=02.01.2006"]}`, false},
		{"", "sku", `{"pattern":"^S"}`, false},
		{0, "required", `{"not":{"const":0}}`, true},
		{0, "gte=0x10,lt=20", `{"exclusiveMaximum":20,"minimum":16}`, false},
		{new(int), "required,min=0", `{"minimum":0}`, true},
		{new(int), "min=1", `{"minimum":1}`, true},
		{new(int), "omitempty,min=1", `{"minimum":1}`, false},
		{new(string), "required", `{}`, true},
		{1.5, "max=2.5", `{"maximum":2.5}`, false},
		{true, "required", `{"const":true}`, true},
		{[]string{}, "min=1,unique,dive,max=5", `{"items":{"maxLength":5},"minItems":1,"uniqueItems":true}`, false},
		{map[string]int{}, "max=2,dive,keys,max=3,endkeys,min=1", `{"additionalProperties":{"minimum":1},"maxProperties":2,"propertyNames":{"maxLength":3}}`, false},
		{time.Second, "min=1s", `{"x-validate":["min=1s"]}`, false},
		{"", "required_if=A b", `{"x-validate":["required_if=A b"]}`, false},
	} {
		got, required := v.Schema(reflect.TypeOf(tt.of), tt.tag)
		text, err := json.Marshal(got)
		if err != nil || string(text) != tt.want || required != tt.required {
			t.Errorf("%T %q: %s %v, want %s %v", tt.of, tt.tag, text, required, tt.want, tt.required)
		}
	}
}

// TestConcurrentFirstUse: types that need tags of ours are met by many requests at once.
func TestConcurrentFirstUse(t *testing.T) {
	type a struct{ Lines []line }
	type b struct{ Lines map[string]a }
	type c struct{ Lines []b }
	v, err := validate.New()
	if err != nil {
		t.Fatal(err)
	}
	bad := c{[]b{{map[string]a{"k": {[]line{{"A", 0}}}}}}}
	var wg sync.WaitGroup
	for i := range 24 {
		wg.Go(func() {
			var of any
			switch i % 3 {
			case 0:
				of = &bad
			case 1:
				of = &bad.Lines[0]
			case 2:
				x := bad.Lines[0].Lines["k"]
				of = &x
			}
			if got := v.Validate(t.Context(), of); len(got) != 1 || got[0].Rule != "min" || !strings.HasSuffix(got[0].Pointer, "/Lines/0/qty") {
				t.Errorf("%T: %+v", of, got)
			}
		})
	}
	wg.Wait()
}

func Example() {
	v, err := validate.New()
	if err != nil {
		log.Fatal(err)
	}
	app, err := web.New(web.Options{Validator: v})
	if err != nil {
		log.Fatal(err)
	}
	app.POST("/users", func(c *web.Context) error {
		var user struct {
			Email string `json:"email" validate:"required,email"`
			Age   int    `json:"age" validate:"min=18"`
		}
		err := c.BindJSON(&user)
		if invalid, ok := errors.AsType[*web.ValidationError](err); ok {
			for _, f := range invalid.Fields {
				fmt.Println(f)
			}
		}
		return err
	})
	r := httptest.NewRequest("POST", "/users", strings.NewReader(`{"email":"x","age":7}`)) //nolint:noctx // an example of one line
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	app.ServeHTTP(w, r)
	fmt.Println(w.Code)
	// Output:
	// body /email: must be an e-mail address
	// body /age: must be at least 18
	// 422
}
