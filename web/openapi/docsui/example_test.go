package docsui_test

import (
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"example.com/quire/web"
	"example.com/quire/web/openapi"
	"example.com/quire/web/openapi/docsui"
)

// The description and a page that shows it, whoever may read them.
func ExampleServe() {
	app, err := web.New(web.Options{})
	if err != nil {
		log.Fatal(err)
	}
	doc, err := openapi.Document(app, openapi.Info{Title: "Shop", Version: "1"})
	if err != nil {
		log.Fatal(err)
	}
	if err := errors.Join(openapi.Serve(app, doc, openapi.Options{}), docsui.Serve(app, docsui.Options{Title: "Shop"})); err != nil {
		log.Fatal(err)
	}
	for _, path := range []string{"/openapi.json", "/docs/"} {
		w := httptest.NewRecorder()
		app.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil)) //nolint:noctx // an example
		fmt.Println(path, w.Code, w.Header().Get("Content-Type"))
	}
	// Output:
	// /openapi.json 200 application/json
	// /docs/ 200 text/html; charset=utf-8
}
