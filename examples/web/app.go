package main

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"example.com/quire/web"
	"example.com/quire/web/middleware"
	"example.com/quire/web/middleware/compress"
	"example.com/quire/web/middleware/jwt"
	"example.com/quire/web/openapi"
	"example.com/quire/web/openapi/docsui"
	"example.com/quire/web/validate"
	"example.com/quire/web/ws"
)

// tills are who may sell, with their passwords. A real program keeps hashes.
var tills = map[string]string{"ada": "lovelace", "grace": "hopper"}

// api is the shop and who listens to it.
type api struct {
	app       *web.App
	shop      *shop
	refresher *jwt.Refresher
	board     *ws.Hub // topic "orders"

	mu     sync.Mutex
	log    *web.EventLog
	change int           // number of the last event
	more   chan struct{} // closed at the next one
}

func newAPI() (*api, error) {
	rules, err := validate.New()
	if err != nil {
		return nil, err
	}
	app, err := web.New(web.Options{Validator: rules})
	if err != nil {
		return nil, err
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails; a restart ends all tokens
	issuer, err := jwt.NewIssuer(jwt.IssuerOptions{Key: jwt.SigningKey{Algorithm: "HS256", Key: key}, Issuer: "shop"})
	if err != nil {
		return nil, err
	}
	refresher, err := jwt.NewRefresher(jwt.NewMemoryFamilies(0), jwt.RefreshOptions{Issuer: issuer, Claims: func(context.Context, string) (jwt.Claims, error) {
		return jwt.Claims{Roles: []string{"till"}}, nil
	}})
	if err != nil {
		return nil, err
	}
	verifier, err := jwt.NewVerifier(jwt.Options{Algorithms: []string{"HS256"}, Keys: []jwt.Key{{Algorithm: "HS256", Key: key}}, Issuer: "shop"})
	if err != nil {
		return nil, err
	}
	compression, err := compress.New(compress.Options{})
	if err != nil {
		return nil, err
	}
	guesses, err := middleware.RateLimit(middleware.RateLimitOptions{Name: "login", Rate: middleware.Rate{Requests: 30, Per: time.Minute}})
	if err != nil {
		return nil, err
	}
	a := &api{app: app, shop: newShop(), refresher: refresher, board: ws.NewHub(ws.HubOptions{}), log: web.NewEventLog(100), more: make(chan struct{})}

	app.Use(middleware.AccessLog(middleware.AccessLogOptions{}), compression)
	openapi.Handle(app, http.MethodGet, "/products", a.products, openapi.Summary("The catalogue"), openapi.Tags("catalogue"), openapi.Public())
	openapi.Handle(app, http.MethodGet, "/products/{sku}", a.product, openapi.Summary("An article"), openapi.Tags("catalogue"), openapi.Errors(404), openapi.Public())
	login := app.Group("", guesses)
	openapi.Handle(login, http.MethodPost, "/login", a.login, openapi.Summary("Sign in at a till"), openapi.Tags("access"), openapi.Errors(401, 429), openapi.Public())
	openapi.Handle(login, http.MethodPost, "/refresh", a.refresh, openapi.Summary("New tokens for the refresh token, which is good once"), openapi.Tags("access"), openapi.Errors(401, 429), openapi.Public())
	orders := app.Group("", verifier.Middleware(), jwt.RequireRole("till"))
	openapi.Handle(orders, http.MethodPost, "/orders", a.sell, openapi.Summary("Sell"), openapi.Tags("orders"), openapi.Errors(401, 403, 409), openapi.Status(201))
	openapi.Handle(orders, http.MethodGet, "/orders/{id:uint}", a.order, openapi.Summary("An order"), openapi.Tags("orders"), openapi.Errors(401, 403, 404))
	app.GET("/board", a.watchBoard, openapi.Hidden())
	app.GET("/events", a.events, openapi.Hidden())
	app.GET("/{$}", func(c *web.Context) error { return c.Redirect(http.StatusSeeOther, "/docs/") }, openapi.Hidden())

	doc, err := openapi.Document(app, openapi.Info{
		Title: "Point of sale", Version: "1", Default: []string{"token"},
		Description: "A shop of the examples. `/board` is a WebSocket with each new order, `/events` server-sent events with the stock.",
		Security:    map[string]openapi.SecurityScheme{"token": {Type: "http", Scheme: "bearer", BearerFormat: "JWT"}},
	})
	if err != nil {
		return nil, err
	}
	return a, errors.Join(openapi.Serve(app, doc, openapi.Options{}), docsui.Serve(app, docsui.Options{Title: "Point of sale"}))
}

// Products is a list, in an object so that it can grow fields.
type Products struct {
	Items []Product `json:"items"`
}

// inStock is an answer with what is there now, which no cache can know.
type inStock[T any] struct {
	CacheControl string `header:"Cache-Control"`
	Body         T
}

func (a *api) products(context.Context, *struct{}) (*inStock[Products], error) {
	return &inStock[Products]{"no-store", Products{a.shop.list()}}, nil
}

type bySKU struct {
	SKU string `path:"sku" validate:"max=20" example:"TEA"`
}

func (a *api) product(_ context.Context, in *bySKU) (*inStock[Product], error) {
	p, err := a.shop.product(in.SKU)
	if err != nil {
		return nil, web.NewProblem(http.StatusNotFound, err.Error(), err)
	}
	return &inStock[Product]{"no-store", p}, nil
}

// Credentials are those of a till.
type Credentials struct {
	User     string `json:"user" validate:"required,max=100" example:"ada"`
	Password string `json:"password" validate:"required,max=100" example:"lovelace"`
}

// tokens are an answer that no cache may keep (RFC 6749, section 5.1).
type tokens struct {
	CacheControl string `header:"Cache-Control"`
	Body         jwt.Pair
}

func (a *api) login(ctx context.Context, in *struct{ Body Credentials }) (*tokens, error) {
	want, known := tills[in.Body.User]
	if same := subtle.ConstantTimeCompare([]byte(want), []byte(in.Body.Password)) == 1; !same || !known {
		return nil, web.NewProblem(http.StatusUnauthorized, "user and password do not fit", nil)
	}
	pair, err := a.refresher.Start(ctx, in.Body.User)
	return &tokens{"no-store", pair}, err
}

// Refresh has the token that was given with the last access token.
type Refresh struct {
	Token string `json:"refresh_token" validate:"required,max=200"`
}

func (a *api) refresh(ctx context.Context, in *struct{ Body Refresh }) (*tokens, error) {
	pair, err := a.refresher.Rotate(ctx, in.Body.Token)
	return &tokens{"no-store", pair}, err
}

// Sale is what a till sends.
type Sale struct {
	Lines []Line `json:"lines" validate:"required,min=1,max=100,dive"`
}

type sellIn struct {
	Raw  *web.Context
	Body Sale
}

type sold struct {
	Status   int
	Location string `header:"Location"`
	Body     Order
}

func (a *api) sell(_ context.Context, in *sellIn) (*sold, error) {
	o, now, err := a.shop.sell(in.Raw.User(), in.Body.Lines)
	if err != nil {
		return nil, web.NewProblem(http.StatusConflict, err.Error(), err)
	}
	if err := a.tell(o, now); err != nil {
		return nil, err
	}
	return &sold{http.StatusCreated, "/orders/" + strconv.Itoa(o.ID), o}, nil
}

type byID struct {
	ID int `path:"id" validate:"min=1" example:"1"`
}

func (a *api) order(_ context.Context, in *byID) (*struct{ Body Order }, error) {
	o, ok := a.shop.order(in.ID)
	if !ok {
		return nil, web.NewProblem(http.StatusNotFound, "no such order", nil)
	}
	return &struct{ Body Order }{o}, nil
}

// tell sends an order to the board, its number and no more, and the stock to all who listen.
func (a *api) tell(o Order, now []Product) error {
	if _, err := a.board.BroadcastJSON("orders", map[string]int{"order": o.ID}); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range now {
		b, err := json.Marshal(p)
		if err != nil {
			return err
		}
		a.change++
		if err := a.log.Add(web.Event{ID: strconv.Itoa(a.change), Name: "stock", Data: string(b)}); err != nil {
			return err
		}
	}
	close(a.more)
	a.more = make(chan struct{})
	return nil
}

func (a *api) watchBoard(c *web.Context) error {
	conn, err := ws.Upgrade(c, ws.Options{})
	if err != nil {
		return err
	}
	return a.board.Join(c.Context(), conn, "orders")
}

// events sends what the client has missed since its last event, then what comes.
func (a *api) events(c *web.Context) error {
	a.mu.Lock()
	last, more := strconv.Itoa(a.change), a.more
	a.mu.Unlock()
	s, err := c.SSE(web.SSEOptions{})
	if err != nil {
		return err
	}
	if id := s.LastEventID(); id != "" {
		last, more = id, closed
	}
	for {
		select {
		case <-more:
		case <-s.Context().Done():
			return nil
		}
		a.mu.Lock()
		more = a.more
		missed, _ := a.log.Since(last)
		a.mu.Unlock()
		for _, e := range missed {
			if err := s.Send(e); err != nil {
				return err
			}
			last = e.ID
		}
	}
}

var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()
