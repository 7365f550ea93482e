package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"example.com/quire/cache"
	"example.com/quire/cache/cacheprom"
	"example.com/quire/cache/cacheredis"
	"example.com/quire/cache/codec"
	"example.com/quire/web/frozen"
)

// node is a writer or a reader.
type node struct {
	client  *cacheredis.Client
	posts   *cache.Cache[string, *Post]
	replies *cache.Cache[string, *frozen.Entry]
	origin  origin
	writer  bool
	log     *slog.Logger
	writing sync.Mutex // what is in the origin and what is in the caches change in one order
}

const (
	postsName   = "posts"
	repliesName = "replies"
)

func newNode(client *cacheredis.Client, dir string, writer bool) (*node, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil { //nolint:gosec // G703: where who starts it wants the posts
		return nil, err
	}
	n := &node{client: client, origin: origin(dir), writer: writer, log: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	var err error
	if n.posts, err = open(n, postsName, func(_ context.Context, id string) (*Post, error) {
		b, err := n.origin.read(id)
		if err != nil {
			return nil, err
		}
		p := new(Post)
		return p, p.UnmarshalBinary(b)
	}); err != nil {
		return nil, err
	}
	if n.replies, err = open(n, repliesName, func(_ context.Context, id string) (*frozen.Entry, error) {
		b, err := n.origin.read(id)
		if err != nil {
			return nil, err
		}
		return reply(b)
	}); err != nil {
		return nil, errors.Join(err, n.close())
	}
	return n, nil
}

// open makes one of the caches. Values are pushed, so that a post is held by all nodes by the time
// it is read.
func open[V codec.Marshaler](n *node, name string, load func(context.Context, string) (V, error)) (*cache.Cache[string, V], error) {
	return cache.New(cache.Options[string, V]{
		Name: name, Remote: n.client, Bus: n.client, Codec: codec.Binary[V]{}, Load: load, ReadOnly: !n.writer,
		Policy: cache.Policy{TTL: time.Hour, Mode: cache.Push, PushAll: true},
		Logger: n.log,
	})
}

// close ends the caches.
func (n *node) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := n.posts.Close(ctx)
	if n.replies != nil {
		err = errors.Join(err, n.replies.Close(ctx))
	}
	return err
}

// held finds replies that the process holds. The lane asks it below net/http, frozen.Handler above;
// it joins the cache and the lane, which do not know each other.
type held struct {
	prefix string // of the request target; the id follows
	c      *cache.Cache[string, *frozen.Entry]
}

// Find implements frozen.Source.
func (h held) Find(target []byte) (*frozen.Entry, bool) {
	if len(target) < len(h.prefix) || string(target[:len(h.prefix)]) != h.prefix {
		return nil, false
	}
	return cache.PeekBytes(h.c, target[len(h.prefix):])
}

// only finds one reply, whatever is asked for.
type only struct{ e *frozen.Entry }

// Find implements frozen.Source.
func (o only) Find([]byte) (*frozen.Entry, bool) { return o.e, true }

func (n *node) handler() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(cacheprom.New(n.posts, n.replies))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /post", n.prepared) // what the lane did not find
	mux.Handle("GET /post-plain", frozen.Handler(http.HandlerFunc(n.prepared), held{"/post-plain?id=", n.replies}))
	mux.HandleFunc("GET /post-redis", n.fromRedis)
	mux.HandleFunc("GET /post-marshal", n.marshalled)
	mux.HandleFunc("GET /healthz", n.health)
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	if n.writer {
		mux.HandleFunc("POST /create", n.create)
	}
	return mux
}

const wantID = "id: want 1 to 64 letters, digits and _.~-, the first a letter, digit or _"

// id takes the id of the request, or answers.
func (n *node) id(w http.ResponseWriter, r *http.Request) (string, bool) {
	id := r.URL.Query().Get("id")
	if !validID.MatchString(id) {
		answer(w, http.StatusBadRequest, problem{wantID})
		return "", false
	}
	return id, true
}

type problem struct {
	Error string `json:"error"`
}

func answer(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{"error":"no answer"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b) // the client may have gone
}

func (n *node) fail(w http.ResponseWriter, err error) {
	if errors.Is(err, cache.ErrNotFound) {
		answer(w, http.StatusNotFound, problem{"no such post"})
		return
	}
	n.log.Error("request failed", slog.Any("err", err))
	answer(w, http.StatusServiceUnavailable, problem{"the post cannot be read now"})
}

// prepared answers with the reply as it was built.
func (n *node) prepared(w http.ResponseWriter, r *http.Request) {
	id, ok := n.id(w, r)
	if !ok {
		return
	}
	e, err := n.replies.Get(r.Context(), id)
	if err != nil {
		n.fail(w, err)
		return
	}
	frozen.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusNotAcceptable, problem{"the post is there without content coding, and that is refused"})
	}), only{e}).ServeHTTP(w, r)
}

func send(w http.ResponseWriter, hash string, body []byte) {
	h := w.Header()
	h["Content-Type"], h["Etag"] = []string{"application/json"}, []string{etag(hash)}
	_, _ = w.Write(body) //nolint:gosec // G705: it is JSON, and said to be; the client may have gone
}

// fromRedis reads the post's record from Redis for each request.
func (n *node) fromRedis(w http.ResponseWriter, r *http.Request) {
	id, ok := n.id(w, r)
	if !ok {
		return
	}
	if got, err := n.client.Fetch(r.Context(), postsName, []string{id}, false); err == nil && got[0].State == cache.RecordValue {
		if hash, err := hashOf(got[0].Payload); err == nil {
			send(w, hash, got[0].Payload)
			return
		}
	}
	n.marshalled(w, r)
}

// marshalled makes the JSON for each request.
func (n *node) marshalled(w http.ResponseWriter, r *http.Request) {
	id, ok := n.id(w, r)
	if !ok {
		return
	}
	p, err := n.posts.Get(r.Context(), id)
	if err != nil {
		n.fail(w, err)
		return
	}
	b, err := json.Marshal(p)
	if err != nil {
		n.fail(w, err)
		return
	}
	send(w, p.Hash, b)
}

type created struct {
	Status          string `json:"status"`
	PostID          string `json:"post_id"`
	Hash            string `json:"hash"`
	PublishTime     int64  `json:"publish_time_ns"` // when it began, nanoseconds since the Unix epoch
	PublishDuration string `json:"publish_duration"`
}

const maxPost = 1 << 20

// create stores a post and tells all nodes. An answer other than 201 means that the request is to
// be repeated, which does no harm.
func (n *node) create(w http.ResponseWriter, r *http.Request) {
	var in struct{ ID, Title, Content, Author string }
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxPost))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		answer(w, http.StatusBadRequest, problem{err.Error()})
		return
	}
	if !validID.MatchString(in.ID) {
		answer(w, http.StatusBadRequest, problem{wantID})
		return
	}
	begin := time.Now()
	p := &Post{ID: in.ID, Title: in.Title, Content: in.Content, Author: in.Author}
	if err := errors.Join(p.stamp(begin.UnixNano()), n.publish(r.Context(), p)); err != nil {
		n.log.Error("create failed", slog.Any("err", err))
		answer(w, http.StatusServiceUnavailable, problem{"not published: repeat the request"})
		return
	}
	answer(w, http.StatusCreated, created{"published", p.ID, p.Hash, begin.UnixNano(), time.Since(begin).String()})
}

func (n *node) publish(ctx context.Context, p *Post) error {
	body, err := p.AppendBinary(nil)
	if err != nil {
		return err
	}
	e, err := reply(bytes.Clone(body))
	if err != nil {
		return err
	}
	n.writing.Lock()
	defer n.writing.Unlock()
	if err := n.origin.write(p.ID, body); err != nil {
		return err
	}
	return errors.Join(n.posts.Set(ctx, p.ID, p), n.replies.Set(ctx, p.ID, e))
}

// health says whether what is served is known to be what the writer wrote last.
func (n *node) health(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	text := "ok\n"
	switch bound := max(n.posts.Staleness(), n.replies.Staleness()); {
	case bound == math.MaxInt64:
		text = "degraded: the link to Redis is down\n"
	case bound > 2*time.Second:
		text = fmt.Sprintf("degraded: the link to Redis has proved nothing for %v\n", bound)
	}
	_, _ = w.Write([]byte(text)) // the client may have gone
}
