package frozen_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"example.com/quire/web/frozen"
)

func ExampleLane() {
	table := frozen.NewTable(frozen.Limits{})
	entry, err := frozen.Build(frozen.EntrySpec{Header: http.Header{"Content-Type": {"text/plain"}}, Body: []byte("hello\n"), Public: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := table.Put("/hello", entry); err != nil {
		fmt.Println(err)
		return
	}
	lane := frozen.NewLane(frozen.LaneOptions{}, table)
	ln, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // an example
	if err != nil {
		fmt.Println(err)
		return
	}
	server := &http.Server{Handler: frozen.Handler(http.NotFoundHandler(), table), ConnState: lane.ConnState, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(lane.Listener(ln)) }()              // ends by Close
	resp, err := http.Get("http://" + ln.Addr().String() + "/hello") //nolint:noctx // an example
	if err != nil {
		fmt.Println(err)
		return
	}
	body, err := io.ReadAll(resp.Body)
	fmt.Printf("%s%v\n", body, errors.Join(err, resp.Body.Close(), server.Close()))
	// Output:
	// hello
	// <nil>
}
