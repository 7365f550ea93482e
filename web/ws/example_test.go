package ws_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"
	"runtime"

	"github.com/coder/websocket"

	"example.com/quire/web"
	"example.com/quire/web/ws"
)

func ExampleHub() {
	app, err := web.New(web.Options{})
	if err != nil {
		log.Fatal(err)
	}
	hub := ws.NewHub(ws.HubOptions{Slow: ws.DropOldest})
	app.GET("/prices/{currency}", func(c *web.Context) error {
		conn, err := ws.Upgrade(c, ws.Options{Compression: ws.NewCompression(0)})
		if err != nil {
			return err
		}
		return hub.Join(c.Context(), conn, c.Param("currency"))
	})
	srv := httptest.NewServer(app)
	defer srv.Close()

	ctx := context.Background()
	client, _, err := websocket.Dial(ctx, srv.URL+"/prices/EUR", nil) //nolint:bodyclose // there is none
	if err != nil {
		log.Fatal(err)
	}
	for hub.Count("EUR") == 0 { // the client may be connected a moment before it has joined
		runtime.Gosched()
	}
	if _, err := hub.BroadcastJSON("EUR", map[string]string{"rate": "1.0842"}); err != nil {
		log.Fatal(err)
	}
	_, message, err := client.Read(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", message)
	if err := client.Close(websocket.StatusNormalClosure, ""); err != nil {
		log.Fatal(err)
	}
	if err := hub.Close(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: {"rate":"1.0842"}
}
