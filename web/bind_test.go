package web_test

import (
	"errors"
	"fmt"
	"math"
	"net/http/httptest"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"example.com/quire/web"
	"example.com/quire/web/webtest"
)

type embedded struct {
	Inner string `json:"inner"`
}

type order struct {
	embedded
	ID       int8              `json:"id"`
	Name     string            `json:"name"`
	Tags     []string          `json:"tags"`
	Lines    []line            `json:"lines"`
	Extra    map[string]uint16 `json:"extra"`
	Free     any               `json:"free"`
	When     time.Time         `json:"when"`
	Ptr      *line             `json:"ptr"`
	Plain    bool
	Skipped  int `json:"-"`
	internal int
}

type line struct {
	Amount float32 `json:"amount"`
	Note   string  `json:"a/b~c"`
}

// bindJSON posts text and returns the error of BindJSON.
func bindJSON(t *testing.T, o web.Options, contentType, text string, dst any, ro ...web.RouteOption) error {
	t.Helper()
	app := newApp(t, o)
	var got error
	app.POST("/", func(c *web.Context) error {
		got = c.BindJSON(dst)
		return c.NoContent(204)
	}, ro...)
	webtest.New(t, app).Post("/", contentType, text)
	return got
}

func TestBindJSON(t *testing.T) {
	var o order
	text := `{"inner":"i","id":-128,"name":"\u00e9\ud83d\ude00","tags":["a"],"lines":[{"amount":1.5e0,"a/b~c":"x"}],"extra":{"k":65535},` +
		`"free":{"a":[1,null,true,{"z":{}}]},"when":"2024-02-29T00:00:00Z","ptr":null,"Plain":true}`
	if err := bindJSON(t, web.Options{}, "application/json; charset=UTF-8", text, &o); err != nil {
		t.Fatal(err)
	}
	if o.ID != -128 || o.Name != "é😀" || o.Inner != "i" || o.Lines[0].Note != "x" || o.Extra["k"] != 65535 || !o.Plain || o.internal != 0 {
		t.Errorf("got %+v", o)
	}
	var n int
	if err := bindJSON(t, web.Options{}, "application/merge-patch+json", " 7\n", &n); err != nil || n != 7 {
		t.Errorf("a scalar: %d, %v", n, err)
	}
}

// TestBindJSONErrors is rules 14 and 15 of section 5.2.
func TestBindJSONErrors(t *testing.T) {
	deep := strings.Repeat("[", 65) + strings.Repeat("]", 65)
	for _, tt := range []struct {
		text    string
		kind    web.BindKind
		pointer string
		line    int
		column  int
		detail  string
	}{
		{"{\"id\":300}", web.BindRange, "/id", 1, 7, `got "300", want an integer of 8 bits`},
		{"{\n  \"id\": 1.5}", web.BindRange, "/id", 2, 9, `got "1.5"`},
		{`{"id":"7"}`, web.BindType, "/id", 1, 7, `got "string"`},
		{`{"Plain":1}`, web.BindType, "/Plain", 1, 10, "want true or false"},
		{`{"name":7}`, web.BindType, "/name", 1, 9, "want a string"},
		{`{"tags":{}}`, web.BindType, "/tags", 1, 9, "want an array"},
		{`{"lines":[{"amount":1},{"amount":"x"}]}`, web.BindType, "/lines/1/amount", 1, 34, "want a number"},
		{`{"lines":[{"a/b~c":1}]}`, web.BindType, "/lines/0/a~1b~0c", 1, 20, "want a string"},
		{`{"extra":{"k":65536}}`, web.BindRange, "/extra/k", 1, 15, "non-negative integer of 16 bits"},
		{`{"when":"yesterday"}`, web.BindType, "", 0, 0, "documented form"},
		{"", web.BindMissing, "", 1, 1, "want a JSON value"},
		{" \n ", web.BindMissing, "", 2, 2, "want a JSON value"},
		{`{"id":1} {}`, web.BindTrailing, "", 1, 10, "after the value"},
		{`{"id":1,"id":2}`, web.BindDuplicate, "/id", 1, 9, `"id" stands twice`},
		{`{"free":{"a":1,"\u0061":2}}`, web.BindDuplicate, "/free/a", 1, 16, "stands twice"},
		{`{"nmae":"x"}`, web.BindUnknown, "/nmae", 1, 2, `did you mean "name"`},
		{`{"NAME":"x"}`, web.BindUnknown, "/NAME", 1, 2, `did you mean "name"`},
		{`{"zzzzzzzz":"x"}`, web.BindUnknown, "/zzzzzzzz", 1, 2, `unknown field "zzzzzzzz"`},
		{`{"lines":[{"amuont":1}]}`, web.BindUnknown, "/lines/0/amuont", 1, 12, `did you mean "amount"`},
		{`{"internal":1}`, web.BindUnknown, "/internal", 1, 2, "unknown field"},
		{`{"Skipped":1}`, web.BindUnknown, "/Skipped", 1, 2, "unknown field"},
		{`{"free":` + deep + `}`, web.BindDepth, "/free" + strings.Repeat("/0", 63), 1, 72, "deeper than 64"},
		{"{\"name\":\"\xff\"}", web.BindUTF8, "/name", 1, 10, "invalid UTF-8"},
		{`{"name":"\ud800"}`, web.BindUTF8, "/name", 1, 10, "surrogate"},
		{`{"name":"\ud800\u0041"}`, web.BindUTF8, "/name", 1, 10, "surrogate"},
		{`{"name":"\udc00"}`, web.BindUTF8, "/name", 1, 10, "surrogate"},
		{"\xff", web.BindUTF8, "", 1, 1, "invalid UTF-8"},
		{`{"id":01}`, web.BindSyntax, "/id", 1, 8, "leading zero"},
		{`{"id":-}`, web.BindSyntax, "/id", 1, 8, "a digit"},
		{`{"id":1.}`, web.BindSyntax, "/id", 1, 9, "a digit"},
		{`{"id":1e+}`, web.BindSyntax, "/id", 1, 10, "a digit"},
		{`{"id":1,}`, web.BindSyntax, "", 1, 9, "a name"},
		{`{"id" 1}`, web.BindSyntax, "/id", 1, 7, "a colon"},
		{`{"id":1`, web.BindSyntax, "", 1, 8, "a comma or }"},
		{`{id:1}`, web.BindSyntax, "", 1, 2, "a name"},
		{`[1 2]`, web.BindSyntax, "", 1, 4, "a comma or ]"},
		{`[tru]`, web.BindSyntax, "/0", 1, 5, "true"},
		{`nul`, web.BindSyntax, "", 1, 4, "null"},
		{"{\"name\":\"a\tb\"}", web.BindSyntax, "/name", 1, 11, "control characters"},
		{`{"name":"\x"}`, web.BindSyntax, "/name", 1, 11, "an escape"},
		{`{"name":"\u00g0"}`, web.BindSyntax, "/name", 1, 14, "hexadecimal"},
		{`{"name":"abc`, web.BindSyntax, "/name", 1, 13, "end of the string"},
		{`{"name":'a'}`, web.BindSyntax, "/name", 1, 9, "a JSON value"},
	} {
		err := bindJSON(t, web.Options{}, "application/json", tt.text, new(order))
		be, ok := errors.AsType[*web.BindError](err)
		if !ok {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if be.Kind != tt.kind || be.Pointer != tt.pointer || be.Line != tt.line || be.Column != tt.column || !strings.Contains(be.Error(), tt.detail) {
			t.Errorf("%.60s: kind %s pointer %s %d:%d %v; want %s %s %d:%d %s", tt.text, be.Kind, be.Pointer, be.Line, be.Column, be, tt.kind, tt.pointer, tt.line, tt.column, tt.detail)
		}
	}
}

func TestBindJSONLimits(t *testing.T) {
	err := bindJSON(t, web.Options{Limits: web.Limits{JSONNodes: 5}}, "application/json", "[1,2,3,4,5]", new([]int))
	if be, ok := errors.AsType[*web.BindError](err); !ok || be.Kind != web.BindNodes {
		t.Errorf("nodes: %v", err)
	}
	if err := bindJSON(t, web.Options{Limits: web.Limits{JSONNodes: -1, JSONDepth: -1}}, "application/json", strings.Repeat("[", 500)+strings.Repeat("]", 500), new(any)); err != nil {
		t.Errorf("no limits: %v", err)
	}
	many := make([]string, 40)
	for i := range many {
		many[i] = fmt.Sprintf(`"k%d":1`, i)
	}
	if err := bindJSON(t, web.Options{}, "application/json", "{"+strings.Join(many, ",")+"}", new(map[string]int)); err != nil {
		t.Errorf("forty names: %v", err)
	}
	err = bindJSON(t, web.Options{}, "application/json", "{"+strings.Join(many, ",")+`,"k39":2}`, new(map[string]int))
	if be, ok := errors.AsType[*web.BindError](err); !ok || be.Kind != web.BindDuplicate || be.Got != "k39" {
		t.Errorf("duplicate among many: %v", err)
	}
	if err := bindJSON(t, web.Options{}, "application/json", `{"id":1,"zz":[{}]}`, new(order), web.AllowUnknownFields()); err != nil {
		t.Errorf("AllowUnknownFields: %v", err)
	}
	err = bindJSON(t, web.Options{}, "application/json", `{"ID":1}`, new(order), web.AllowUnknownFields())
	if be, ok := errors.AsType[*web.BindError](err); !ok || be.Kind != web.BindUnknown {
		t.Errorf("a name that differs in case only would reach the field: %v", err)
	}
	if err := bindJSON(t, web.Options{}, "application/json", `{}`, order{}); err == nil {
		t.Error("no pointer was taken")
	}
}

func TestBindJSONEmbeddedRules(t *testing.T) {
	type low struct {
		X int `json:"x"`
		Y int
		Z int `json:"z"`
	}
	type other struct {
		Y int
		Z int `json:"Q"`
	}
	type top struct {
		*low
		other
		X string `json:"x"`
	}
	for text, ok := range map[string]bool{`{"x":"s"}`: true, `{"x":1}`: false, `{"Y":1}`: false, `{"z":1}`: true, `{"Q":1}`: true} {
		var v struct {
			top
			W []top `json:"w"`
		}
		v.low = &low{}
		if err := bindJSON(t, web.Options{}, "application/json", text, &v); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestBodyMedia(t *testing.T) {
	app := newApp(t, web.Options{})
	h := func(c *web.Context) error {
		var v any
		if err := c.BindJSON(&v); err != nil {
			return err
		}
		return c.JSON(200, v)
	}
	app.POST("/", h)
	app.PATCH("/", h)
	app.QUERY("/", h)
	for _, ct := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1", "application/json; broken;;=", "text/json"} {
		for method, field := range map[string]string{"POST": "Accept-Post", "PATCH": "Accept-Patch", "QUERY": "Accept-Query"} {
			cl := webtest.New(t, app)
			if ct != "" {
				cl = cl.With("Content-Type", ct)
			}
			r := cl.Do(method, "/", []byte("{}"))
			if r.Status != 415 || r.Header.Get(field) != "application/json" {
				t.Errorf("%s of %q: %d %v", method, ct, r.Status, r.Header)
			}
		}
	}
	if r := webtest.New(t, app).With("Content-Encoding", "gzip").Post("/", "application/json", "{}"); r.Status != 415 {
		t.Errorf("a compressed body: %d", r.Status)
	}
}

// TestBodyLimit is rule 17.
func TestBodyLimit(t *testing.T) {
	app := newApp(t, web.Options{Limits: web.Limits{Body: 10}})
	read := func(c *web.Context) error {
		first, err := c.Body()
		if err != nil {
			return err
		}
		again, err := c.Body()
		if err != nil || string(again) != string(first) {
			return fmt.Errorf("second reading: %q, %w", again, err)
		}
		return c.Blob(200, "application/octet-stream", first)
	}
	app.POST("/ten", read)
	app.POST("/twenty", read, web.Budgets{BodyBytes: 20})
	app.POST("/any", read, web.Budgets{BodyBytes: -1})
	app.POST("/most", read, web.Budgets{BodyBytes: math.MaxInt64})
	for _, tt := range []struct {
		path string
		n    int
		code int
	}{{"/ten", 10, 200}, {"/ten", 11, 413}, {"/twenty", 20, 200}, {"/twenty", 21, 413}, {"/any", 100_000, 200}, {"/most", 100_000, 200}} {
		for _, announced := range []bool{true, false} {
			r := httptest.NewRequestWithContext(t.Context(), "POST", tt.path, strings.NewReader(strings.Repeat("x", tt.n)))
			if !announced {
				r.ContentLength = -1
			}
			w := httptest.NewRecorder()
			app.ServeHTTP(w, r)
			if w.Code != tt.code || (tt.code == 413) != (w.Header().Get("Connection") == "close") || (tt.code == 200 && w.Body.Len() != tt.n) {
				t.Errorf("%s with %d bytes: %d, %d bytes, %v", tt.path, tt.n, w.Code, w.Body.Len(), w.Header())
			}
		}
	}
}

type fields struct {
	ID    int           `path:"id"`
	Page  int           `query:"page" default:"1"`
	Flag  bool          `query:"flag"`
	IDs   []uint8       `query:"ids"`
	Since *time.Time    `query:"since"`
	Wait  time.Duration `query:"wait"`
	Ratio float64       `query:"ratio"`
	Addr  netip.Addr    `query:"addr"`
	Text  string        `query:"text"`
	Token string        `header:"X-Tok"`
	*deepFields
}

type deepFields struct {
	Sort string `query:"sort"`
}

// DeepFields is embedded by value to show that promoted fields are bound.
type boundFields struct {
	fields
	Max int64 `query:"max"`
}

func TestBindFields(t *testing.T) {
	app := newApp(t, web.Options{})
	var got boundFields
	got.deepFields = &deepFields{}
	app.GET("/x/{id}", func(c *web.Context) error {
		for _, bind := range []func(any) error{c.BindPath, c.BindQuery, c.BindHeader} {
			if err := bind(&got); err != nil {
				return err
			}
		}
		return c.NoContent(204)
	})
	cl := webtest.New(t, app).With("X-Tok", "secret")
	cl.Get("/x/7?flag=true&ids=1&ids=255&since=2024-02-29T12:00:00Z&wait=1m30s&ratio=0.5&addr=::1&text=a;b%2B+c&sort=up&max=-9&unknown=1").Want(204)
	since := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	want := boundFields{fields: fields{7, 1, true, []uint8{1, 255}, &since, 90 * time.Second, 0.5, netip.IPv6Loopback(), "a;b+ c", "secret", &deepFields{"up"}}, Max: -9}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	for target, want := range map[string]web.BindKind{
		"/x/y": web.BindType, "/x/7?page=": web.BindType, "/x/7?ids=256": web.BindRange, "/x/7?ids=-1": web.BindType, "/x/7?flag=yes": web.BindType,
		"/x/7?since=now": web.BindType, "/x/7?wait=5": web.BindType, "/x/7?text=%zz": web.BindSyntax, "/x/99999999999999999999": web.BindRange, "/x/7?ratio=1e999": web.BindRange,
	} {
		var p struct {
			Fields []struct{ Rule, Source, Name string }
		}
		r := cl.Get(target).Want(400)
		if r.JSON(&p); len(p.Fields) != 1 || p.Fields[0].Rule != string(want) || p.Fields[0].Name == "" {
			t.Errorf("%s: %s", target, r.Text())
		}
	}
	app.GET("/bad", func(c *web.Context) error {
		var bad struct {
			C chan int `query:"c"`
		}
		if err := c.BindQuery(bad); err == nil {
			return errors.New("no pointer was taken")
		}
		return c.BindQuery(&bad)
	})
	webtest.New(t, app).Get("/bad").Want(500)
}

// TestQuery is rule 16.
func TestQuery(t *testing.T) {
	app := newApp(t, web.Options{Limits: web.Limits{QueryPairs: 4}})
	app.GET("/", func(c *web.Context) error {
		n, err := c.QueryInt("n", -1)
		if err != nil {
			return err
		}
		return c.String(200, fmt.Sprintf("%s|%v|%d", c.Query("a"), c.QueryAll("a"), n))
	})
	cl := webtest.New(t, app)
	for query, want := range map[string]string{
		"": "|[]|-1", "a=1;b=2": "1;b=2|[1;b=2]|-1", "a=%zz&a=2": "|[2]|-1", "%61=x+y&a": "x y|[x y ]|-1", "n=7&%zz=1": "|[]|7", "a=%zz": "|[]|-1",
	} {
		if got := cl.Get("/?" + query).Want(200).Text(); got != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
	for _, q := range []string{"n=%zz", "n=", "n=x", "n=9223372036854775808", "1&2&3&4&5"} {
		cl.Get("/?" + q).Want(400)
	}
}

func FuzzBindJSON(f *testing.F) {
	for _, s := range []string{`{"id":1}`, `{"lines":[{"amount":1e5}]}`, `"\ud83d\ude00"`, `[`, "\xff", `{"a":{"b":[[[]]]}}`, `{"extra":{"k":1,"k":2}}`} {
		f.Add(s)
	}
	app, err := web.New(web.Options{Logger: discard})
	if err != nil {
		f.Fatal(err)
	}
	var got error
	app.POST("/", func(c *web.Context) error {
		got = c.BindJSON(new(order))
		return c.NoContent(204)
	})
	f.Fuzz(func(t *testing.T, text string) {
		webtest.New(t, app).Post("/", "application/json", text)
		if got == nil {
			return
		}
		be, ok := errors.AsType[*web.BindError](got)
		if !ok {
			t.Fatalf("%q: untyped error %v", text, got)
		}
		if be.Kind != web.BindType && be.Kind != web.BindRange && be.Line < 1 {
			t.Fatalf("%q: no place in %v", text, got)
		}
	})
}
