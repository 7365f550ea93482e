package webtest_test

import (
	"net/http"
	"testing"

	"example.com/quire/web"
	"example.com/quire/web/webtest"
)

// The test of an App: a client that fails the test by itself, and what every App keeps.
func Example() {
	_ = func(t *testing.T) { //nolint:thelper // it stands for a test of its own
		app, err := web.New(web.Options{})
		if err != nil {
			t.Fatal(err)
		}
		app.GET("/orders/{id}", func(c *web.Context) error {
			return c.JSON(http.StatusOK, map[string]string{"id": c.Param("id")})
		})
		var order struct{ ID string }
		webtest.New(t, app).With("Accept", "application/json").Get("/orders/7").Want(http.StatusOK).JSON(&order)
		if order.ID != "7" {
			t.Errorf("order %q", order.ID)
		}
		webtest.Conform(t, app)
	}
	// Output:
}
