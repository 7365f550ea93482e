// Command fetch asks an API that fails at times and shows what it took to get an answer. Without
// an address it starts such an API itself.
//
//	go run ./examples/fetch
//	go run ./examples/fetch https://api.example/v1/rates
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"time"

	"example.com/quire/fetch"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	address := ""
	if len(os.Args) > 1 {
		address = os.Args[1]
	} else {
		api := httptest.NewServer(flaky())
		defer api.Close()
		address = api.URL
	}
	if err := show(ctx, os.Stdout, address); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// flaky answers the third of three calls.
func flaky() http.Handler {
	var calls atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1)%3 != 0 {
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"EUR": 1, "INR": 90.25}`) // a client that left has no answer
	})
}

// show prints the answer and the attempts that led to it.
func show(ctx context.Context, w io.Writer, address string) error {
	c, err := fetch.New(fetch.Config{})
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(ctx) }() // the answer was read
	res, err := c.Get(ctx, address)
	if err != nil {
		if e, ok := errors.AsType[*fetch.Error](err); ok {
			return fmt.Errorf("after %d attempts: %w", len(e.Attempts), err)
		}
		return err
	}
	defer func() { _ = res.Body.Close() }() // it was read or is not wanted
	if err := fetch.CheckStatus(res); err != nil {
		return err
	}
	var answer any
	if err := fetch.DecodeJSON(res, &answer, fetch.DecodeOptions{}); err != nil {
		return err
	}
	for _, a := range fetch.InfoOf(res).Attempts {
		if _, err := fmt.Fprintf(w, "attempt %d: %s\n", a.N, a.Reason); err != nil {
			return err
		}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(answer)
}
