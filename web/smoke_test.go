package web_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"example.com/quire/web"
)

func TestHello(t *testing.T) {
	app, err := web.New(web.Options{})
	if err != nil {
		t.Fatal(err)
	}
	app.GET("/hello/{name}", func(c *web.Context) error {
		return c.JSON(http.StatusOK, map[string]string{"hello": c.Param("name")})
	})
	w := httptest.NewRecorder()
	app.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/hello/a%2Fb", nil))
	if w.Code != http.StatusOK || w.Body.String() != `{"hello":"a/b"}` {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}
