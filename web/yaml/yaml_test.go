package yaml_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	peer "go.yaml.in/yaml/v4"

	"example.com/quire/web"
	"example.com/quire/web/webtest"
	"example.com/quire/web/yaml"
)

type order struct {
	Zone  string         `json:"zone"`
	ID    int64          `json:"id"`
	Note  string         `json:"note,omitempty"`
	Lines []line         `json:"lines"`
	More  map[string]any `json:"more"`
	Price float64        `json:"price"`
}

type line struct {
	Name string  `json:"name"`
	N    float64 `json:"n"`
}

func newApp(t *testing.T) *web.App {
	t.Helper()
	app, err := web.New(web.Options{Logger: slog.New(slog.DiscardHandler), Codecs: []web.Codec{yaml.Codec{}}})
	if err != nil {
		t.Fatal(err)
	}
	app.POST("/", func(c *web.Context) error {
		var o order
		if err := c.Bind(&o); err != nil {
			return err
		}
		return c.Negotiate(http.StatusOK, o, "application/json", "application/yaml")
	})
	app.GET("/yaml", func(c *web.Context) error { return c.YAML(http.StatusOK, sample) })
	app.GET("/bad", func(c *web.Context) error { return c.YAML(http.StatusOK, map[string]any{"f": func() {}}) })
	return app
}

var sample = order{
	Zone: "no", ID: 1<<53 + 1, Lines: []line{{"a: b # c\n\x01", 1.5}, {"😀", 1e21}}, Price: 1.1,
	More: map[string]any{"b": nil, "a": []any{}, "c": map[string]any{}, "on": true, "12": []any{[]any{1, "x"}, map[string]any{"deep": "1e3"}}},
}

const sampleText = `zone: "no"
"id": 9007199254740993
lines:
  -
    name: "a: b # c\n\u0001"
    "n": 1.5
  -
    name: "😀"
    "n": 1e+21
more:
  "12":
    -
      - 1
      - "x"
    -
      deep: "1e3"
  "a": []
  "b": null
  "c": {}
  "on": true
price: 1.1
`

func TestYAMLIsOrderedAndQuoted(t *testing.T) {
	r := webtest.New(t, newApp(t)).Get("/yaml").Want(200)
	if r.Header.Get("Content-Type") != "application/yaml" || r.Text()+"\n" != sampleText {
		t.Errorf("%q\n%s", r.Header.Get("Content-Type"), r.Text())
	}
	var theirs map[string]any // what another reader makes of it
	if err := peer.Unmarshal(r.Body, &theirs); err != nil || theirs["zone"] != "no" || theirs["id"] != 1<<53+1 {
		t.Errorf("%v, %v", theirs, err)
	}
	for text, want := range map[string]string{`[]`: "[]\n", `{}`: "{}\n", `"x"`: "\"x\"\n", `7`: "7\n", `[1]`: "- 1\n"} {
		if got, err := yaml.FromJSON([]byte(text)); err != nil || string(got) != want {
			t.Errorf("%s: %q %v", text, got, err)
		}
	}
	webtest.New(t, newApp(t)).Get("/bad").Want(500) // what cannot be encoded is never a 200
	if _, err := yaml.FromJSON([]byte(`{"a":`)); err == nil {
		t.Error("a text that is cut short is no error")
	}
}

func TestYAMLBodiesAreBound(t *testing.T) {
	c := webtest.New(t, newApp(t))
	var got, want bytes.Buffer
	if err := (yaml.Codec{}).Encode(&want, sample); err != nil {
		t.Fatal(err)
	}
	got.WriteString(c.With("Accept", "application/yaml").Post("/", "application/yaml", want.String()).Want(200).Text() + "\n")
	if got.String() != want.String() {
		t.Errorf("back comes\n%s\nof\n%s", got.String(), want.String())
	}
	if text := c.Post("/", "text/yaml", "{\"id\": 7}").Want(200).Text(); !strings.Contains(text, `"id":7`) {
		t.Errorf("JSON is YAML: %s", text)
	}
	for text, want := range map[string]string{
		"id: 0x1F":                      `"id":31`,
		"id: 0o17":                      `"id":15`,
		"id: +012":                      `"id":12`,
		"lines: [{n: .5}, {n: 1.}]":     `"n":0.5`,
		"zone: |\n  a\n  b\n":           `"zone":"a\nb\n"`,
		"note: no":                      `"note":"no"`,
		"more: {k: [~, TRUE, 1.10, x]}": `[null,true,1.1`,
	} {
		if got := c.Post("/", "application/yaml", text).Text(); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"id: x":            `"line":1,"column":5`,
		"zone: a\nid: 1.5": `"pointer":"/id"`,
		"zone: a\nnaem: 1": `"line":2`,
		"id: 1\nid: 2":     `is repeated`,
		"more: &a [*a]":    `"line":1`,
		"zone: !!str 1":    `"line":1`,
		"id: .inf":         `"pointer":"/id"`,
		"a: 1\n---\nb: 2":  `"line":2`,
		"more: {k: .nan}":  `has no JSON form`,
		strings.Repeat("[", 70) + strings.Repeat("]", 70): `nested deeper than 64`,
		"id: 99999999999999999999":                        `"pointer":"/id"`,
		"":                                                `"source":"body"`,
	} {
		if got := c.Post("/", "application/yaml", text).Want(400).Text(); !strings.Contains(got, want) {
			t.Errorf("%.40s: %s, want %s", text, got, want)
		}
	}
	err := (yaml.Codec{}).Decode(strings.NewReader("a:\n  b: 1\n"), &struct {
		A struct {
			B string `json:"b"`
		} `json:"a"`
	}{})
	if e, ok := errors.AsType[*yaml.Error](err); !ok || e.Line != 2 || e.Column != 6 || e.Pointer != "/a/b" || e.Unwrap() == nil {
		t.Errorf("%v", err)
	}
}

// FuzzYAML: whatever is read can be written, and is then read as the same.
func FuzzYAML(f *testing.F) {
	f.Add([]byte(sampleText))
	f.Add([]byte("a: [1, 0x1F, .5, ~]\nb: {c: 'd'}"))
	f.Add([]byte("- - - x\n  - 1e400\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var one, two any
		if (yaml.Codec{}).Decode(bytes.NewReader(text), &one) != nil {
			return
		}
		var b bytes.Buffer
		if err := (yaml.Codec{}).Encode(&b, one); err != nil {
			t.Fatal(err)
		}
		if err := (yaml.Codec{}).Decode(&b, &two); err != nil {
			t.Fatalf("%v of\n%s", err, b.Bytes())
		}
		x, _ := json.Marshal(one) //nolint:errchkjson // it was read from JSON
		y, _ := json.Marshal(two) //nolint:errchkjson // as above
		if !bytes.Equal(x, y) {
			t.Errorf("%s is read, %s after writing", x, y)
		}
	})
}
