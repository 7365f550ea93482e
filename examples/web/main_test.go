package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/quire/web/webtest"
	"example.com/quire/web/ws"
)

func start(t *testing.T) *api {
	t.Helper()
	a, err := newAPI()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

type pair struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
}

// TestAnOrderReachesAllWhoListen: a till signs in and sells, the board and the stock hear of it.
func TestAnOrderReachesAllWhoListen(t *testing.T) {
	a := start(t)
	c := webtest.New(t, a.app)
	board := c.WebSocket("/board")
	stock := c.Events("/events")
	var p pair
	c.PostJSON("/login", Credentials{"ada", "lovelace"}).Want(http.StatusOK).JSON(&p)
	till := c.With("Authorization", "Bearer "+p.Access)
	tea := Sale{[]Line{{"TEA", 2}, {"CUP", 1}}}

	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for a.board.Count("orders") == 0 {
		<-tick.C
	}
	made := till.PostJSON("/orders", tea).Want(http.StatusCreated)
	var o Order
	till.Get(made.Header.Get("Location")).Want(http.StatusOK).JSON(&o)
	if got := board.ReadText(); got != `{"order":1}` {
		t.Errorf("the board shows %q", got)
	}
	var now Product
	if e := stock.Next(); e.Name != "stock" || json.Unmarshal([]byte(e.Data), &now) != nil || now.SKU != "CUP" || now.Stock != 11 {
		t.Errorf("%+v", e)
	}
	if o.ID != 1 || o.Till != "ada" || o.Total != 2*490+1250 || len(o.Lines) != 2 {
		t.Errorf("%+v", o)
	}
	stock = stock.Reconnect()
	if e := stock.Next(); !strings.Contains(e.Data, "TEA") {
		t.Errorf("after coming back: %+v, want the tea", e)
	}
	stock.Close()
	board.Close(ws.Normal, "")
}

func TestWhatIsRefused(t *testing.T) {
	c := webtest.New(t, start(t).app)
	c.PostJSON("/orders", Sale{[]Line{{"TEA", 1}}}).Want(http.StatusUnauthorized)
	c.PostJSON("/login", Credentials{"ada", "hopper"}).Want(http.StatusUnauthorized)
	c.PostJSON("/login", Credentials{"mallory", ""}).Want(http.StatusUnprocessableEntity)
	var p, again pair
	c.PostJSON("/login", Credentials{"grace", "hopper"}).Want(http.StatusOK).JSON(&p)
	till := c.With("Authorization", "Bearer "+p.Access)
	till.PostJSON("/orders", Sale{}).Want(http.StatusUnprocessableEntity)
	till.PostJSON("/orders", Sale{[]Line{{"TEA", 0}}}).Want(http.StatusUnprocessableEntity)
	till.PostJSON("/orders", Sale{[]Line{{"MUG", 1}}}).Want(http.StatusConflict)
	till.PostJSON("/orders", Sale{[]Line{{"POT", 2}, {"POT", 2}}}).Want(http.StatusConflict)
	till.Post("/orders", "application/json", `{"lines": [{"sku": "TEA", "quantity": 1, "price": 0}]}`).Want(http.StatusBadRequest)
	till.Get("/orders/1").Want(http.StatusNotFound)
	c.Get("/products/MUG").Want(http.StatusNotFound)
	var shown Product
	if c.Get("/products/POT").Want(http.StatusOK).JSON(&shown); shown.Stock != 3 {
		t.Errorf("a refused order has taken something: %+v", shown)
	}

	refresh := map[string]string{"refresh_token": p.Refresh}
	c.PostJSON("/refresh", refresh).Want(http.StatusOK).JSON(&again)
	c.PostJSON("/refresh", refresh).Want(http.StatusUnauthorized)
	c.PostJSON("/refresh", map[string]string{"refresh_token": again.Refresh}).Want(http.StatusUnauthorized)
}

func TestTheDescriptionIsThere(t *testing.T) {
	c := webtest.New(t, start(t).app)
	var doc struct {
		OpenAPI string                    `json:"openapi"`
		Paths   map[string]map[string]any `json:"paths"`
	}
	c.Get("/openapi.json").Want(http.StatusOK).JSON(&doc)
	if !strings.HasPrefix(doc.OpenAPI, "3.1") || len(doc.Paths) != 6 || doc.Paths["/orders"]["post"] == nil {
		t.Errorf("%+v", doc)
	}
	if page := c.Get("/docs/").Want(http.StatusOK).Text(); !strings.Contains(page, "Point of sale") {
		t.Error("the page has another title")
	}
}
