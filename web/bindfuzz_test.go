package web_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"example.com/quire/web"
	"example.com/quire/web/webtest"
)

// formed is what the fuzz targets bind; each kind of value has a field.
type formed struct {
	ID    int8          `xml:"id,attr" form:"id" cookie:"id"`
	Name  string        `xml:"name" form:"name" cookie:"name"`
	Tags  []uint16      `xml:"tags>tag" form:"tag"`
	On    bool          `xml:"on" form:"on" cookie:"on"`
	Rate  *float32      `xml:"rate" form:"rate" cookie:"rate"`
	When  time.Time     `xml:"when" form:"when" cookie:"when"`
	Limit time.Duration `form:"limit" default:"1s" cookie:"limit"`
	Inner []formed      `xml:"inner"`
}

// fuzzBind binds what a client sends: it is taken, or a typed error says what is wrong and the
// answer is a problem of the client's making.
func fuzzBind(f *testing.F, bind func(*web.Context, any) error, send func(*webtest.Client, string) *webtest.Response, seeds ...string) {
	f.Helper()
	for _, s := range seeds {
		f.Add(s)
	}
	app := newApp(f, web.Options{})
	var got error
	app.POST("/", func(c *web.Context) error {
		if got = bind(c, new(formed)); got != nil {
			return got
		}
		return c.NoContent(http.StatusNoContent)
	})
	f.Fuzz(func(t *testing.T, text string) {
		got = nil
		r := send(webtest.New(t, app), text)
		if _, typed := errors.AsType[*web.BindError](got); got != nil && !typed {
			t.Fatalf("%q: untyped error %v", text, got)
		}
		if r.Status != http.StatusNoContent && (r.Status < 400 || r.Status >= 500) {
			t.Fatalf("%q: %d\n%s", text, r.Status, r.Body)
		}
	})
}

func FuzzBindXML(f *testing.F) {
	fuzzBind(f, (*web.Context).BindXML, func(c *webtest.Client, text string) *webtest.Response {
		return c.Post("/", "application/xml", text)
	}, `<a id="7"><name>n</name><tags><tag>1</tag></tags><on>true</on><rate>1.5</rate><when>2026-01-31T18:30:00Z</when><inner id="300"/></a>`,
		`<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>`, `<a><inner><inner><inner/></inner></inner></a>`,
		`<a xmlns:x="y" x:id="1">`, "<a>\xff</a>", `<?xml version="1.0" encoding="utf-16"?><a/>`, `<a/><b/>`, ``)
}

func FuzzBindForm(f *testing.F) {
	fuzzBind(f, (*web.Context).BindForm, func(c *webtest.Client, text string) *webtest.Response {
		return c.Post("/", "application/x-www-form-urlencoded", text)
	}, "id=7&name=n&tag=1&tag=65535&on=true&rate=1.5&when=2026-01-31T18:30:00Z&limit=1m", "id=300", "on=ja", "%zz=1", "name=%", "tag=&tag=",
		"rate=NaN", "a;b=c", "&&&=", "name=\xff")
}

func FuzzBindCookie(f *testing.F) {
	fuzzBind(f, (*web.Context).BindCookie, func(c *webtest.Client, text string) *webtest.Response {
		return c.With("Cookie", text).Post("/", "text/plain", "")
	}, "id=7; name=n; on=true; rate=1.5; limit=1m", `name="quoted value"`, "id=300; id=7", "=; ;;", "name=a\x00b", "when=yesterday", "name=\xff")
}
