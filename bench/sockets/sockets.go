// Package sockets is the suite of whole servers: the frozen lane and ordinary handlers, loaded over
// 64 connections.
package sockets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"example.com/quire/bench/harness"
	"example.com/quire/bench/internal/load"
	"example.com/quire/bench/internal/nginx"
)

const (
	conns     = 64
	documents = 64 // different bodies
	small     = 244
	large     = 40 << 10

	// What the server says of itself, and the plans go by.
	mixed = "mixed"
	apart = "apart"
)

// Suite returns the rows.
func Suite() harness.Suite {
	return harness.Suite{
		Name:  "web-sockets",
		Title: "Servers over sockets",
		About: "One of 64 JSON bodies, made beforehand and found by its path, is asked for over 64 kept connections from the other core. " +
			"The server has GOMAXPROCS=1 and a core of its own; its user and system time is divided by the requests. Each answer's status, length and " +
			"type are checked, and the bytes before and after. bare loop is a goroutine for each connection that looks for the path between two spaces " +
			"and the end of the head, and writes: less than that no server in Go does.",
		NotShown: []string{
			"The most requests that a server answers a second: the load is one core's too, and the cheaper servers wait for it.",
			"TLS and HTTP/2, which the lane leaves to net/http.",
			"Slow clients and lost packets.",
		},
		Rows: []harness.Row{
			row("frozen-244", "prebuilt answers of 244 bytes", plan(small, 0), lanes(small, lane), goal("net/http", 0.65), goal("nginx", 1.25)),
			row("frozen-40k", "prebuilt answers of 40 KB", plan(large, 0), lanes(large, lane)),
			row("pipelined", "sixteen prebuilt answers of 244 bytes at once", plan(small, 16), []harness.Contestant{
				server("quire", "", "the lane", true, lane(small)),
				server("fasthttp", fasthttpModule, "", false, fastHTTP(small)),
			}),
			row("ordinary", "an ordinary handler, 244 bytes", plan(small, 0), []harness.Contestant{
				server("quire", "", "web.Server without a lane. Its requests are read and its answers written by net/http, which is nearly all of the cost and no less than that of the others; "+
					"beyond them it has deadlines for head, body and answer, a list of what a drain waits for, a request id and nosniff", true, ordinary),
				server("net/http", "", "ServeMux", false, mux(small)),
				server("echo", echoModule, "", false, echoServer),
				server("gin", ginModule, "", false, ginServer),
			}, ofNetHTTP("net/http", 0.87), ofNetHTTP("echo", 0.93)),
			blended(),
			crowded(),
		},
	}
}

func goal(against string, ratio float64) harness.Goal {
	return harness.Goal{Against: against, AtMost: ratio}
}

// ofNetHTTP is a goal for an ordinary handler.
func ofNetHTTP(against string, ratio float64) harness.Goal {
	g := goal(against, ratio)
	g.Obstacle = "By profile, of the time that net/http gives to a connection of such requests a tenth lies in ServeMux and its handler, an eighth in the App and its handler; nearly half of all is system calls. " +
		"A handler that costs nothing would save that tenth: the goal asks for more than there is above net/http."
	return g
}

func row(name, title string, p *load.Plan, list []harness.Contestant, goals ...harness.Goal) harness.Row {
	return harness.Row{
		Name: name, Title: title, Load: p, Contestants: list, Goals: goals,
		Workload: harness.Workload{Name: "web-sockets-" + name, Version: 1, Text: "GET requests for " + strconv.Itoa(documents) + " documents in turn, made beforehand."},
	}
}

func server(name, module, note string, own bool, serve func(context.Context, harness.Env) (harness.Served, error)) harness.Contestant {
	return harness.Contestant{Name: name, Module: module, Note: note, Own: own, Serve: serve}
}

func lanes(size int, own func(int) func(context.Context, harness.Env) (harness.Served, error)) []harness.Contestant {
	n := server("nginx", "", "a location for each path with its body in the configuration", false, nginxServer(size))
	if size == large {
		n.Note = "files, opened beforehand, by sendfile"
	}
	n.Needs = []harness.Tool{nginx.Tool}
	return []harness.Contestant{
		server("quire", "", "the lane", true, own(size)),
		server("net/http", "", "ServeMux", false, mux(size)),
		n,
		server("fasthttp", fasthttpModule, "", false, fastHTTP(size)),
		server("bare loop", "", "answers before it has judged what it was asked", false, bareLoop(size)),
	}
}

// document is body k: JSON of a size.
func document(k, size int) []byte {
	b := fmt.Appendf(nil, `{"id":%d,"name":"steel ruler","text":"`, k)
	for i := 0; len(b) < size-2; i++ {
		b = append(b, "abcdefghijklmnopqrstuvwxyz0123456789"[(i*7+k)%36])
	}
	return append(b, `"}`...)
}

func path(k int) string { return "/documents/" + strconv.Itoa(1000+k) }

func bodies(size int) map[string][]byte {
	m := make(map[string][]byte, documents)
	for k := range documents {
		m[path(k)] = document(k, size)
	}
	return m
}

var (
	errWrong = errors.New("the answer is not what was asked for")
	ending   = []byte(" HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n")
)

func get(dst []byte, path string) []byte {
	return append(append(append(dst, "GET "...), path...), ending...)
}

var paths = func() (all [documents]string) {
	for k := range all {
		all[k] = path(k)
	}
	return all
}()

// plan asks for the documents in turn.
func plan(size, pipeline int) *load.Plan {
	text := fmt.Sprintf("GET over %d connections", conns)
	if pipeline > 0 {
		text += fmt.Sprintf(", %d requests at once on each", pipeline)
	}
	return &load.Plan{
		Text: text, Conns: conns, Pipeline: pipeline,
		Request: func(dst []byte, _ string, i int) []byte { return get(dst, paths[i%documents]) },
		Check:   func(_ int, a load.Answer) error { return sized(a, size) },
		Deep: func(i int, a load.Answer) error {
			if err := sized(a, size); err != nil {
				return err
			}
			if !bytes.Equal(a.Body, document(i%documents, size)) || a.Field("Content-Type") != "application/json" {
				return errWrong
			}
			return nil
		},
	}
}

func sized(a load.Answer, size int) error {
	if a.Status != http.StatusOK || len(a.Body) != size {
		return fmt.Errorf("%w: status %d, %d bytes", errWrong, a.Status, len(a.Body))
	}
	return nil
}

// blended is nine frozen answers for an ordinary one on each connection, beside the same answers in
// long runs: what the change from one to the other costs.
func blended() harness.Row {
	const run = 6400 // a hundred of each connection
	r := row("mixed", "nine prebuilt answers for an ordinary one", plan(small, 0), []harness.Contestant{
		server("quire", "", "on each connection in turn; a frozen document that the lane does not answer is a 500", true, blend(mixed)),
		server("apart", "", "the same answers in runs of 5,760 and 640", true, blend(apart)),
	}, goal(apart, 1.1))
	r.Batch = 2 * run
	r.Load.Request = func(dst []byte, target string, i int) []byte {
		plain := i%10 == 9
		if target == apart {
			plain = i%run >= run*9/10
		}
		if plain {
			return get(dst, "/ordinary"+paths[i%documents])
		}
		return get(dst, paths[i%documents])
	}
	return r
}

// crowded is prebuilt answers beside requests that take 20 ms of a processor, one at a time by a
// gate.
func crowded() harness.Row {
	r := row("beside-work", "prebuilt answers beside requests that take 20 ms of a processor", plan(small, 0), []harness.Contestant{
		server("quire", "", "one request in twenty works for 20 ms behind NewGate(1, 64)", true, busy(true)),
		server("unloaded", "", "the same requests without the work", true, busy(false)),
	}, goal("unloaded", 3))
	r.Procs, r.Primary, r.Batch = 2, harness.P99, 400
	work := func(i int) bool { return i%20 == 19 }
	r.Load.Timed = func(i int) bool { return !work(i) }
	r.Load.Request = func(dst []byte, _ string, i int) []byte {
		if work(i) {
			return get(dst, "/work"+paths[i%documents])
		}
		return get(dst, paths[i%documents])
	}
	return r
}
