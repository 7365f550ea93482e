package web_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync"
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
		{"{\"id\":300}", web.BindRange, "/id", 1, 7, `got 300, want an integer of 8 bits`},
		{"{\n  \"id\": 1.5}", web.BindRange, "/id", 2, 9, `got 1.5`},
		{`{"id":"7"}`, web.BindType, "/id", 1, 7, `got a string`},
		{`{"Plain":1}`, web.BindType, "/Plain", 1, 10, "want true or false"},
		{`{"name":7}`, web.BindType, "/name", 1, 9, "want a string"},
		{`{"tags":{}}`, web.BindType, "/tags", 1, 9, "want an array"},
		{`{"lines":[{"amount":1},{"amount":"x"}]}`, web.BindType, "/lines/1/amount", 1, 34, "want a number"},
		{`{"lines":[{"a/b~c":1}]}`, web.BindType, "/lines/0/a~1b~0c", 1, 20, "want a string"},
		{`{"extra":{"k":65536}}`, web.BindRange, "/extra/k", 1, 15, "non-negative integer of 16 bits"},
		{`{"when":"yesterday"}`, web.BindType, "/when", 1, 9, "a time such as"},
		{"", web.BindMissing, "", 1, 1, "want a JSON value"},
		{" \n ", web.BindMissing, "", 2, 2, "want a JSON value"},
		{`{"id":1} {}`, web.BindTrailing, "", 1, 10, "after the value"},
		{`{"id":1,"id":2}`, web.BindDuplicate, "/id", 1, 9, `"id" is repeated`},
		{`{"free":{"a":1,"\u0061":2}}`, web.BindDuplicate, "/free/a", 1, 16, "is repeated"},
		{`{"nmae":"x"}`, web.BindUnknown, "/nmae", 1, 2, `did you mean "name"`},
		{`{"NAME":"x"}`, web.BindUnknown, "/NAME", 1, 2, `did you mean "name"`},
		{`{"zzzzzzzz":"x"}`, web.BindUnknown, "/zzzzzzzz", 1, 2, `unknown field "zzzzzzzz"`},
		{`{"lines":[{"amuont":1}]}`, web.BindUnknown, "/lines/0/amuont", 1, 12, `did you mean "amount"`},
		{`{"internal":1}`, web.BindUnknown, "/internal", 1, 2, "unknown field"},
		{`{"Skipped":1}`, web.BindUnknown, "/Skipped", 1, 2, "unknown field"},
		{`{"free":` + deep + `}`, web.BindDepth, "/free" + strings.Repeat("/0", 63), 1, 72, "more than 64 deep"},
		{"{\"name\":\"\xff\"}", web.BindUTF8, "/name", 1, 10, "not UTF-8"},
		{`{"name":"\ud800"}`, web.BindUTF8, "/name", 1, 10, "surrogate"},
		{`{"name":"\ud800\u0041"}`, web.BindUTF8, "/name", 1, 10, "surrogate"},
		{`{"name":"\udc00"}`, web.BindUTF8, "/name", 1, 10, "surrogate"},
		{"\xff", web.BindSyntax, "", 1, 1, "byte 0xFF"},
		{`{"id":01}`, web.BindSyntax, "/id", 1, 8, "want ',' or '}'"},
		{`{"id":-}`, web.BindSyntax, "/id", 1, 8, "a digit"},
		{`{"id":1.}`, web.BindSyntax, "/id", 1, 9, "a digit"},
		{`{"id":1e+}`, web.BindSyntax, "/id", 1, 10, "a digit"},
		{`{"id":1,}`, web.BindSyntax, "", 1, 9, "a member name"},
		{`{"id" 1}`, web.BindSyntax, "/id", 1, 7, "want ':'"},
		{`{"id":1`, web.BindSyntax, "/id", 1, 8, "got the end of the text"},
		{`{id:1}`, web.BindSyntax, "", 1, 2, "a member name"},
		{`[1 2]`, web.BindSyntax, "/0", 1, 4, "want ',' or ']'"},
		{`[tru]`, web.BindSyntax, "/0", 1, 5, "true"},
		{`nul`, web.BindSyntax, "", 1, 4, "null"},
		{"{\"name\":\"a\tb\"}", web.BindSyntax, "/name", 1, 11, "control character"},
		{`{"name":"\x"}`, web.BindSyntax, "/name", 1, 11, `\uXXXX`},
		{`{"name":"\u00g0"}`, web.BindSyntax, "/name", 1, 14, "hexadecimal"},
		{`{"name":"abc`, web.BindSyntax, "/name", 1, 13, "end of the string"},
		{`{"name":'a'}`, web.BindSyntax, "/name", 1, 9, "want a value"},
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

// TestBindJSONTellsAllFaults: each with its place, in the order of the text.
func TestBindJSONTellsAllFaults(t *testing.T) {
	text := "{\"id\": 300, \"nmae\": \"x\",\n \"Plain\": null, \"lines\": [{\"amount\": \"x\"}, {\"amuont\": 1, \"amount\": 2}], \"tags\": {}}"
	got := new(order)
	err := bindJSON(t, web.Options{}, "application/json", text, got)
	all, ok := errors.AsType[web.BindErrors](err)
	if !ok {
		t.Fatalf("%v", err)
	}
	var places []string
	for _, e := range all {
		places = append(places, fmt.Sprintf("%s %s %d:%d", e.Kind, e.Pointer, e.Line, e.Column))
	}
	want := []string{"range /id 1:8", "unknown /nmae 1:13", "type /Plain 2:11", "type /lines/0/amount 2:38", "unknown /lines/1/amuont 2:45", "type /tags 2:81"}
	if !slices.Equal(places, want) {
		t.Errorf("got %q\nwant %q", places, want)
	}
	if len(got.Lines) != 2 || got.Lines[1].Amount != 2 {
		t.Errorf("what is right was not read: %+v", got)
	}
	if one, ok := errors.AsType[*web.BindError](err); !ok || one != all[0] {
		t.Errorf("errors.As: %v", one)
	}
	var many struct{ Fields []struct{ Pointer string } }
	app := newApp(t, web.Options{})
	app.POST("/", func(c *web.Context) error { return c.BindJSON(new(map[string]int)) })
	r := webtest.New(t, app).Post("/", "application/json", `{"a": "1", "b": true, "c": 3}`).Want(400)
	if r.JSON(&many); len(many.Fields) != 2 || many.Fields[1].Pointer != "/b" {
		t.Errorf("%s", r.Text())
	}
	if err := bindJSON(t, web.Options{}, "application/json", "["+strings.Repeat(`"x",`, 999)+`1]`, new([]int)); len(err.(web.BindErrors)) != 32 { //nolint:errorlint,forcetypeassert // what it is
		t.Errorf("faults told are bounded: %d", len(err.(web.BindErrors))) //nolint:errorlint,forcetypeassert // as above
	}
}

// TestBindJSONValues: null, large integers, bytes, arrays, numbers in strings and
// types that read for themselves.
func TestBindJSONValues(t *testing.T) {
	type odd struct {
		Any   any            `json:"any"`
		P     *int           `json:"p"`
		M     map[int]string `json:"m"`
		B     []byte         `json:"b"`
		A     [2]int         `json:"a"`
		N     json.Number    `json:"n"`
		Q     int            `json:"q,string"`
		F     float32        `json:"f"`
		T     time.Time      `json:"t"`
		Raw   json.RawMessage
		Deep  ***int
		Path  string `path:"p"`
		Both  string `query:"both" json:"both"`
		Local any    `json:"-"`
	}
	seven := 7
	p := &seven
	pp := &p
	for text, want := range map[string]odd{
		`{"any":[9007199254740993,1.5,null,{"a":"\u00e9\n\ud83d\ude00"},true]}`: {Any: []any{json.Number("9007199254740993"), 1.5, nil, map[string]any{"a": "é\n😀"}, true}},
		`{"any":null,"p":null,"m":null,"b":null,"Raw":null}`:                    {Raw: json.RawMessage("null")},
		`{"p":7,"m":{"1":"x","-2":""},"b":"aGk=","a":[1,2]}`:                    {P: p, M: map[int]string{1: "x", -2: ""}, B: []byte("hi"), A: [2]int{1, 2}},
		`{"n":1e400,"q":"-5","f":1.5,"both":"x","Raw": {"a" : 1} }`:             {N: "1e400", Q: -5, F: 1.5, Both: "x", Raw: json.RawMessage(`{"a" : 1}`)},
		`{"Deep":7,"t":"2024-02-29T12:00:00Z"}`:                                 {Deep: &pp, T: time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)},
	} {
		var got odd
		if err := bindJSON(t, web.Options{}, "application/json", text, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		`{"q":null}`, `{"a":null}`, `{"f":null}`, `{"both":null}`, `{"t":null}`, `{"q":"x"}`, `{"a":[1]}`, `{"a":[1,2,3]}`, `{"b":"?"}`, `{"m":{"x":"y"}}`, `{"n":"1"}`, `{"n":true}`,
		`{"Path":"x"}`, `{"p":"x"}`, `{"path":"x"}`, `{"Local":1}`, `{"f":1e39}`,
	} {
		if err := bindJSON(t, web.Options{}, "application/json", text, new(odd)); err == nil {
			t.Errorf("%s was taken", text)
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

// TestBind fills a struct from every place of a request, and tells the faults of all at once.
func TestBind(t *testing.T) {
	type in struct {
		ID    int    `path:"id"`
		Page  uint8  `query:"page" default:"1"`
		Token string `header:"X-Tok"`
		Sid   string `cookie:"sid"`
		Name  string `json:"name" form:"name" xml:"name"`
		Tags  []int  `json:"tags" form:"tag" xml:"tag"`
	}
	type wrapped struct {
		ID   int `path:"id"`
		Body struct {
			Name string `json:"name"`
		}
	}
	app := newApp(t, web.Options{Codecs: []web.Codec{lines{}}})
	var got in
	var inner wrapped
	app.POST("/x/{id}", func(c *web.Context) error { got = in{}; return c.Bind(&got) })
	app.POST("/w/{id}", func(c *web.Context) error { inner = wrapped{}; return c.Bind(&inner) })
	app.POST("/lines/{id}", func(c *web.Context) error {
		var all []string
		if err := c.BindBody(&all); err != nil {
			return err
		}
		return c.String(200, strings.Join(all, "|"))
	})
	cl := webtest.New(t, app).With("X-Tok", "t").With("Cookie", "sid=s")
	want := in{7, 3, "t", "s", "a b", []int{1, 2}}
	for kind, body := range map[string]string{
		"application/json": `{"name":"a b","tags":[1,2]}`, "application/x-www-form-urlencoded": "name=a+b&tag=1&tag=2",
		"application/xml": "<?xml version=\"1.0\"?><in><name>a b</name><tag>1</tag><tag>2</tag></in>", "text/xml; charset=utf-8": "<in><tag>1</tag><tag>2</tag><name>a b</name></in>",
	} {
		cl.Post("/x/7?page=3", kind, body).Want(200)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", kind, got)
		}
	}
	cl.Do("POST", "/x/7", nil).Want(200)
	if got.Page != 1 || got.ID != 7 {
		t.Errorf("without a body: %+v", got)
	}
	cl.Post("/w/7", "application/json", `{"name":"n"}`).Want(200)
	if inner.ID != 7 || inner.Body.Name != "n" {
		t.Errorf("%+v", inner)
	}
	if text := cl.Post("/lines/1", "text/lines", "a\nb").Want(200).Text(); text != "a|b" {
		t.Errorf("by a codec: %q", text)
	}
	cl.Post("/lines/1", "text/lines", "").Want(400)
	if r := cl.Post("/x/7", "image/png", "x").Want(415); r.Header.Get("Accept-Post") != "application/json, application/xml, application/x-www-form-urlencoded, multipart/form-data, text/lines" {
		t.Errorf("%v", r.Header)
	}
	var p struct {
		Fields []struct{ Source, Name, Pointer string }
	}
	r := cl.Post("/x/y?page=256", "application/json", `{"name":7,"tags":["x"],"ID":1}`).Want(400)
	if r.JSON(&p); len(p.Fields) != 5 || p.Fields[0].Source != "path" || p.Fields[1].Name != "page" || p.Fields[2].Pointer != "/name" || p.Fields[4].Pointer != "/ID" {
		t.Errorf("%s", r.Text())
	}
	cl.Post("/x/7", "application/x-www-form-urlencoded", "tag=x").Want(400)
	cl.Post("/x/7", "application/x-www-form-urlencoded", strings.Repeat("a&", 300)).Want(400)
}

// lines is a codec of a type of its own.
type lines struct{}

func (lines) MediaTypes() []string { return []string{"text/lines"} }

func (lines) Encode(w io.Writer, v any) error {
	_, err := fmt.Fprint(w, v)
	return err
}

func (lines) Decode(r io.Reader, v any) error {
	b, err := io.ReadAll(r)
	if len(b) == 0 {
		return errors.New("no lines")
	}
	*v.(*[]string) = strings.Split(string(b), "\n") //nolint:forcetypeassert // what the test gives
	return err
}

// TestBindXMLRefuses what is dangerous or not well-formed.
func TestBindXMLRefuses(t *testing.T) {
	app := newApp(t, web.Options{Limits: web.Limits{XMLDepth: 3}})
	app.POST("/", func(c *web.Context) error {
		var v struct {
			N int8 `xml:"n"`
		}
		return c.BindXML(&v)
	})
	cl := webtest.New(t, app)
	for text, kind := range map[string]web.BindKind{
		"<!DOCTYPE a><a/>": web.BindSyntax, `<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>`: web.BindSyntax, "<a>&e;</a>": web.BindSyntax,
		"<a><b></a></b>": web.BindSyntax, "<a>": web.BindSyntax, "": web.BindMissing, "<a/><b/>": web.BindTrailing, "<a>\xff</a>": web.BindSyntax,
		"<a><b><c><d/></c></b></a>": web.BindDepth, "<a><n>300</n></a>": web.BindRange, "<a><n>x</n></a>": web.BindType,
		`<?xml version="1.0" encoding="latin1"?><a/>`: web.BindSyntax,
	} {
		var p struct{ Fields []struct{ Rule string } }
		r := cl.Post("/", "application/xml", text).Want(400)
		if r.JSON(&p); len(p.Fields) != 1 || p.Fields[0].Rule != string(kind) {
			t.Errorf("%s: %s, want %s", text, r.Text(), kind)
		}
	}
	cl.Post("/", "application/xml", "<a><b><c/></b><n>5</n></a>").Want(200)
}

// TestCheckBind finds wrong tags before a request comes.
func TestCheckBind(t *testing.T) {
	app := newApp(t, web.Options{})
	for _, bad := range []any{
		struct {
			C chan int `query:"c"`
		}{},
		struct {
			A int `path:""`
		}{},
		struct {
			A int `query:"a" default:"x"`
		}{},
		struct {
			a int `header:"a"`
		}{},
	} {
		if err := app.CheckBind(reflect.TypeOf(bad)); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
	if err := app.CheckBind(reflect.TypeFor[*boundFields]()); err != nil {
		t.Error(err)
	}
}

// TestParamAndQueryOfAnyType reads one value.
func TestParamAndQueryOfAnyType(t *testing.T) {
	app := newApp(t, web.Options{})
	app.GET("/{when}", func(c *web.Context) error {
		when, err := web.Param[time.Time](c, "when")
		if err != nil {
			return err
		}
		wait, err := web.Query[time.Duration](c, "wait")
		if err != nil {
			return err
		}
		return c.String(200, when.Add(wait).Format(time.Kitchen))
	})
	cl := webtest.New(t, app)
	if got := cl.Get("/2024-02-29T12:00:00Z?wait=90m").Want(200).Text(); got != "1:30PM" {
		t.Errorf("%q", got)
	}
	for _, target := range []string{"/now?wait=1s", "/2024-02-29T12:00:00Z", "/2024-02-29T12:00:00Z?wait=5", "/2024-02-29T12:00:00Z?wait=%zz"} {
		cl.Get(target).Want(400)
	}
}

// TestBodyCutOrSlow: a body that does not come whole is the client's fault, whoever reads it, and
// no error in the server's log.
func TestBodyCutOrSlow(t *testing.T) {
	log := &logText{}
	app := newApp(t, web.Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
	app.Use(func(next web.Handler) web.Handler {
		return func(c *web.Context) error {
			if c.Header("X-Slow") != "" { // as http.Server.ReadTimeout does, but never before the head has come
				if err := http.NewResponseController(c.Writer()).SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
					return err
				}
			}
			return next(c)
		}
	})
	kinds := map[string]string{"/json": "application/json", "/xml": "application/xml", "/form": "application/x-www-form-urlencoded", "/parts": multipartType, "/raw": "text/plain", "/whole": "text/plain"}
	app.POST("/json", func(c *web.Context) error { return c.BindJSON(new(any)) })
	app.POST("/xml", func(c *web.Context) error { return c.BindXML(new(struct{})) })
	app.POST("/form", func(c *web.Context) error { return c.BindForm(new(struct{})) })
	app.POST("/parts", func(c *web.Context) error {
		for _, err := range c.Parts() {
			if err != nil {
				return err
			}
		}
		return nil
	})
	app.POST("/whole", func(c *web.Context) error { _, err := c.Body(); return err })
	app.POST("/raw", func(c *web.Context) error {
		_, err := io.Copy(io.Discard, c.Request().Body)
		return err
	})
	s := httptest.NewServer(app)
	defer s.Close()
	var all sync.WaitGroup
	for path, kind := range kinds {
		for name, tt := range map[string]struct {
			head, body string
			close      bool
			status     string
		}{
			"cut":           {"Content-Length: 100\r\n", `{"a":`, true, "HTTP/1.1 400 "},
			"cut in chunks": {"Transfer-Encoding: chunked\r\n", "5\r\n{\"a\":\r\n", true, "HTTP/1.1 400 "},
			"bad chunk":     {"Transfer-Encoding: chunked\r\n", "zz\r\n", false, "HTTP/1.1 400 "},
			"slow":          {"Content-Length: 100\r\nX-Slow: 1\r\n", `{"a":`, false, "HTTP/1.1 408 "},
		} {
			all.Go(func() {
				conn, err := net.Dial("tcp", s.Listener.Addr().String()) //nolint:noctx // loopback
				if err != nil {
					t.Error(err)
					return
				}
				_, err = io.WriteString(conn, "POST "+path+" HTTP/1.1\r\nHost: x\r\nContent-Type: "+kind+"\r\n"+tt.head+"\r\n"+tt.body)
				if err == nil && tt.close {
					err = conn.(*net.TCPConn).CloseWrite() //nolint:forcetypeassert // what Dial of tcp returns
				}
				answer, readErr := io.ReadAll(conn)
				if err = errors.Join(err, conn.Close()); err != nil {
					t.Error(err)
				}
				if !strings.HasPrefix(string(answer), tt.status) || !strings.Contains(string(answer), "Content-Type: application/problem+json\r\n") {
					t.Errorf("%s of %s: %q, %v", name, path, answer, readErr)
				}
			})
		}
	}
	all.Wait()
	if text := log.String(); strings.Contains(text, "ERROR") {
		t.Errorf("the log: %s", text)
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
		if be.Line < 1 || be.Column < 1 {
			t.Fatalf("%q: no place in %v", text, got)
		}
	})
}
