// Package cacheredis is the second level of package cache in a Redis server, version 6.2 or later,
// or a compatible server such as Valkey.
//
// A Client is both cache.Remote and cache.Bus. Writes are scripts, so that storing a record,
// numbering it and publishing it are one step. Notices come over a subscription on a connection of
// their own, on which a heartbeat shows that none are outstanding; when it fails, or the server is
// another one than before, the link is reported as down and made anew.
//
// In a Redis Cluster all keys of a namespace are in one slot, by their hash tag: so a write, its
// number, its tags and its frame are one step of one server there too, and cost one round trip, and
// the load of one cache is that of one primary; caches of other names are on others. Frames are
// ordinary messages, which the primary hands on to all nodes of the cluster. Where a namespace is,
// the nodes of the cluster are asked at each new connection; a call that is refused with MOVED is
// sent to where it was moved. While a slot is being moved calls are refused (ASK, TRYAGAIN), and a
// cache serves what it holds and can prove, or loads. A promoted replica begins a new epoch: what
// is held is compared before it is served. A primary that was cut off takes it that long to refuse
// calls as cluster-node-timeout says, and a node that is cut off with it does not see before what
// others write elsewhere.
//
// The user of the server needs the commands EVAL, EVALSHA, GET, GETRANGE, MGET, SET, DEL, HGET,
// HMGET, HSET, HINCRBY, PEXPIRE, PTTL, PUBLISH, SUBSCRIBE, UNSUBSCRIBE, INFO, TIME, ROLE, PING,
// CLIENT, HELLO, AUTH and SELECT, for Purge SCAN and UNLINK, in a cluster CLUSTER, the keys q1:*
// and the channels q1:b:*. Whoever else may write those keys can change what the caches of all
// nodes hold, but not have a record taken for that of another key.
package cacheredis

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"example.com/quire/cache"
)

// Config says where the server is.
type Config struct {
	// Addr is the server's host:port. With SentinelMaster it is that of a Sentinel, with Cluster
	// that of a node, or of several, separated by commas.
	Addr string
	// Cluster says that the server is a Redis Cluster. Its nodes are asked for the primary of a
	// namespace at each new connection; those that they name are asked later too. DB is 0 then.
	Cluster bool
	// SentinelMaster is the name by which the Sentinels know the primary, if they are to be asked
	// for it, at each new connection. User name, password and database are those of the primary;
	// TLS and Dial hold for the Sentinels too. Not with Cluster.
	SentinelMaster string
	// Username and Password authenticate, if set.
	Username, Password string
	// DB is the number of the database.
	DB int
	// TLS, if not nil, encrypts the connections.
	TLS *tls.Config
	// DialTimeout bounds the making of a connection, in which a call may stand even if its context
	// ends. Default 1s.
	DialTimeout time.Duration
	// Dial makes connections in place of a net.Dialer. The Client adds no TLS to them.
	Dial func(ctx context.Context, addr string) (net.Conn, error)
	// Logger gets a warning of a server that may evict any key. Nil is silence.
	Logger *slog.Logger
}

// Client is a connection to a server for any number of caches. Its methods may be called
// concurrently. Errors that match cache.ErrUnavailable are refusals of the server and failures to
// connect.
type Client struct {
	config Config
	addrs  []string // of Config.Addr
	run    scripts
	log    *slog.Logger
	warned sync.Once
	ending sync.WaitGroup // clients that a move has replaced

	mu     sync.Mutex
	homes  map[string]*home // by namespace with Config.Cluster, else one under ""
	nodes  []string         // of the cluster, beside addrs, as it said last
	closed bool
}

// Open makes a client. It does not need the server to be there: connections are made, and made
// again, when they are used. Its error is a *cache.ConfigError.
func Open(c Config) (*Client, error) {
	addrs := []string{c.Addr}
	if c.SentinelMaster != "" || c.Cluster {
		addrs = strings.Split(c.Addr, ",")
	}
	for _, addr := range addrs {
		if _, _, err := net.SplitHostPort(addr); err != nil {
			return nil, &cache.ConfigError{Field: "Addr", Got: strconv.Quote(c.Addr), Want: "host:port"}
		}
	}
	if c.DB < 0 || c.DB > 0 && c.Cluster {
		return nil, &cache.ConfigError{Field: "DB", Got: c.DB, Want: "0 or more, 0 with Cluster"}
	}
	if c.Cluster && c.SentinelMaster != "" {
		return nil, &cache.ConfigError{Field: "SentinelMaster", Got: c.SentinelMaster, Want: "none with Cluster"}
	}
	if c.DialTimeout < 0 {
		return nil, &cache.ConfigError{Field: "DialTimeout", Got: c.DialTimeout, Want: "0 for the default, or more"}
	}
	c.DialTimeout = cmp.Or(c.DialTimeout, time.Second)
	log := cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	client := &Client{config: c, addrs: addrs, run: newScripts(), log: log, homes: make(map[string]*home)}
	if !c.Cluster {
		if _, err := client.home("").client(); err != nil {
			return nil, err
		}
	}
	return client, nil
}

// Close ends the connections. Call it after the caches are closed.
func (c *Client) Close() {
	c.mu.Lock()
	c.closed = true
	homes := maps.Clone(c.homes)
	c.mu.Unlock()
	for _, h := range homes {
		h.close()
	}
	c.ending.Wait()
}

// failure tells what a call came to.
func failure(ctx context.Context, op string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var dial *net.OpError
	if _, refused := rueidis.IsRedisErr(err); refused || errors.As(err, &dial) && dial.Op == "dial" || errors.Is(err, rueidis.ErrClosing) {
		return fmt.Errorf("%w: %s: %w", cache.ErrUnavailable, op, err)
	}
	return fmt.Errorf("cacheredis %s: %w", op, err)
}

// Fetch implements cache.Remote.
func (c *Client) Fetch(ctx context.Context, ns string, keys []string, headersOnly bool) (all []cache.Record, err error) {
	if err := ctx.Err(); err != nil || len(keys) == 0 {
		return nil, err
	}
	h := c.home(ns)
	err = h.do(func(conn rueidis.Client) error {
		if err := h.measureIfOld(ctx, conn); err != nil {
			return err
		}
		if headersOnly {
			all, err = fetchHeaders(ctx, conn, ns, keys, h.now)
		} else {
			all, err = fetchRecords(ctx, conn, ns, keys, h.now)
		}
		return err
	})
	if err != nil {
		return nil, failure(ctx, "fetch", err)
	}
	return all, nil
}

func fetchHeaders(ctx context.Context, conn rueidis.Client, ns string, keys []string, now func() int64) ([]cache.Record, error) {
	all, cmds := make([]cache.Record, len(keys)), make(rueidis.Commands, len(keys))
	for i, k := range keys {
		cmds[i] = conn.B().Getrange().Key(dataKey(ns, k)).Start(0).End(recordHeader - 1).Build()
	}
	for i, answer := range conn.DoMulti(ctx, cmds...) {
		b, err := answer.AsBytes()
		if err != nil {
			return nil, err
		}
		all[i], _ = parseHeader(b, now()) // what cannot be read is not there
	}
	return all, nil
}

func fetchRecords(ctx context.Context, conn rueidis.Client, ns string, keys []string, now func() int64) ([]cache.Record, error) {
	all := make([]cache.Record, len(keys))
	if len(keys) == 1 {
		b, err := conn.Do(ctx, conn.B().Get().Key(dataKey(ns, keys[0])).Build()).AsBytes()
		if refused, is := rueidis.IsRedisErr(err); is && strings.HasPrefix(refused.Error(), "WRONGTYPE") {
			return all, nil // MGET, too, has nothing of another type
		}
		switch {
		case err == nil:
			all[0], _ = parseRecord(b, ns, keys[0], now()) // what cannot be read is not there
		case !rueidis.IsRedisNil(err):
			return nil, err
		}
		return all, nil
	}
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = dataKey(ns, k)
	}
	answers, err := conn.Do(ctx, conn.B().Mget().Key(names...).Build()).ToArray()
	if err != nil {
		return nil, err
	}
	if len(answers) != len(keys) {
		return nil, malformed("answers", len(answers))
	}
	for i := range answers {
		if b, err := answers[i].AsBytes(); err == nil {
			all[i], _ = parseRecord(b, ns, keys[i], now()) // what cannot be read is not there
		}
	}
	return all, nil
}

// head is what all scripts get first.
func head(ns string, more ...string) []string {
	return append([]string{channel(ns), rueidis.BinaryString(binary.BigEndian.AppendUint64(nil, rand.Uint64()))}, more...) //nolint:gosec // G404: a name, not a secret
}

func versionBytes(v cache.Version) string {
	if v == (cache.Version{}) {
		return ""
	}
	b := binary.BigEndian.AppendUint64(nil, v.Epoch)
	b = binary.BigEndian.AppendUint64(b, v.Counter)
	return string(binary.BigEndian.AppendUint64(b, v.WriteID))
}

func tokenBytes(t uint64) string { return strconv.FormatUint(t, 16) }

func keysOf(ns, key string) []string {
	return []string{metaKey(ns), dataKey(ns, key), leaseKey(ns, key)}
}

// outdated is what the script answers for a record that StoreRequest.Current refuses.
const outdated = "outdated"

// texts are strings of one piece of memory. What was cut is not written again.
type texts struct {
	all  []byte
	from int
}

// cut returns what was appended since the last cut.
func (t *texts) cut() string {
	s := rueidis.BinaryString(t.all[t.from:])
	t.from = len(t.all)
	return s
}

// of returns the parts as one text.
func (t *texts) of(parts ...string) string {
	for _, p := range parts {
		t.all = append(t.all, p...)
	}
	return t.cut()
}

// number returns n in decimal.
func (t *texts) number(n uint64) string {
	t.all = strconv.AppendUint(t.all, n, 10)
	return t.cut()
}

// id returns a random name of 8 bytes.
func (t *texts) id() string {
	t.all = binary.BigEndian.AppendUint64(t.all, rand.Uint64()) //nolint:gosec // G404: a name, not a secret
	return t.cut()
}

const (
	fewTags     = 4  // a record has hardly ever more
	digits      = 20 // of a number, at most
	keyOverhead = 16 // of a key or channel beside namespace and name, at least
)

// Store implements cache.Remote.
func (c *Client) Store(ctx context.Context, ns string, r cache.StoreRequest) (cache.StoreResult, error) {
	if err := ctx.Err(); err != nil {
		return cache.StoreResult{}, err
	}
	// All that is sent is written into one piece of memory, of about this size, and once.
	size := recordHeader + len(r.Record.Payload) + frameHeader + 5*(keyOverhead+len(ns)) + 4*len(r.Key) + 2*digits
	for _, tag := range r.Record.Tags {
		size += keyOverhead + len(ns) + 2*len(tag.Name) + 2*digits
	}
	t := texts{all: make([]byte, 0, size)}
	var err error
	if t.all, err = appendRecord(t.all, ns, r.Key, &r.Record); err != nil {
		return cache.StoreResult{}, fmt.Errorf("%w: cacheredis store: %w", cache.ErrUnavailable, err)
	}
	record := t.cut()
	life, err := millis(r.Record.Remove)
	if err != nil {
		return cache.StoreResult{}, fmt.Errorf("%w: cacheredis store: %w", cache.ErrUnavailable, err)
	}
	condition, wants := "a", ""
	switch r.If {
	case cache.StoreIfVersion:
		condition, wants = "v", versionBytes(r.IfVersion)
	case cache.StoreIfLease:
		condition, wants = "l", tokenBytes(r.Token)
	case cache.StoreAlways:
	}
	push := "0"
	if r.Push {
		push = "1"
	}
	id := r.Record.Version.WriteID
	t.all = appendFrame(t.all, cache.FrameKey, id, r.Key)
	frame := t.cut()
	var keysHere [3 + fewTags]string
	var argsHere [10 + fewTags]string
	keys := append(keysHere[:0], t.of(metaStart, ns, tagEnd), t.of(dataStart, ns, keyEnd, r.Key), t.of(leaseStart, ns, keyEnd, r.Key))
	args := append(argsHere[:0], t.of(channelStart, ns, tagEnd), t.id(), condition, wants, t.number(life),
		record[:8], record[32:], frame[:4], frame[20:], push)
	if r.Current {
		for _, tag := range r.Record.Tags {
			keys, args = append(keys, t.of(tagStart, ns, keyEnd, tag.Name)), append(args, t.number(tag.Counter))
		}
	}
	var got string
	err = c.home(ns).do(func(conn rueidis.Client) (err error) {
		got, err = c.run.store.Exec(ctx, conn, keys, args).ToString()
		return err
	})
	switch {
	case rueidis.IsRedisNil(err):
		return cache.StoreResult{}, nil
	case got == outdated:
		return cache.StoreResult{Outdated: true}, nil
	case err != nil:
		return cache.StoreResult{}, failure(ctx, "store", err)
	case len(got) != 16:
		return cache.StoreResult{}, fmt.Errorf("cacheredis store: %w", malformed("version of length", len(got)))
	}
	v := cache.Version{Epoch: binary.BigEndian.Uint64([]byte(got[:8])), Counter: binary.BigEndian.Uint64([]byte(got[8:])), WriteID: id}
	return cache.StoreResult{Stored: true, Version: v}, nil
}

// Lease implements cache.Remote.
func (c *Client) Lease(ctx context.Context, ns string, r cache.LeaseRequest) (cache.LeaseResult, error) {
	if err := ctx.Err(); err != nil {
		return cache.LeaseResult{}, err
	}
	life, err := millis(r.TTL)
	if err != nil && r.Verb != cache.LeaseRelease {
		return cache.LeaseResult{}, fmt.Errorf("%w: cacheredis lease: %w", cache.ErrUnavailable, err)
	}
	verb := map[cache.LeaseVerb]string{cache.LeaseAcquire: "a", cache.LeaseRenew: "r", cache.LeaseRelease: "x"}[r.Verb]
	f := appendFrame(nil, cache.FrameLease, 0, r.Key)
	args := head(ns, verb, tokenBytes(r.Token), strconv.FormatUint(life, 10), versionBytes(r.Known), string(f[:4]), string(f[20:]))
	var got int64
	err = c.home(ns).do(func(conn rueidis.Client) (err error) {
		got, err = c.run.lease.Exec(ctx, conn, keysOf(ns, r.Key), args).AsInt64()
		return err
	})
	if err != nil {
		return cache.LeaseResult{}, failure(ctx, "lease", err)
	}
	return cache.LeaseResult{Granted: got == 1, Newer: got == 2}, nil
}

// tagLife is how long the counter of a tag is kept at least.
const tagLife = 24 * time.Hour

// Tags implements cache.Remote.
func (c *Client) Tags(ctx context.Context, ns string, names []string, life time.Duration, bump bool) ([]uint64, error) {
	if err := ctx.Err(); err != nil || len(names) == 0 {
		return nil, err
	}
	ms, err := millis(max(life, tagLife))
	if err != nil {
		return nil, fmt.Errorf("%w: cacheredis tags: %w", cache.ErrUnavailable, err)
	}
	flag := "0"
	if bump {
		flag = "1"
	}
	keys, args := []string{metaKey(ns)}, head(ns, flag)
	for _, name := range names {
		kept := ms
		if name == "" {
			kept = 0
		}
		f := appendFrame(nil, cache.FrameTag, 0, name)
		keys = append(keys, tagKey(ns, name))
		args = append(args, strconv.FormatUint(kept, 10), string(f[:4]), string(f[20:]))
	}
	var answers []string
	err = c.home(ns).do(func(conn rueidis.Client) (err error) {
		answers, err = c.run.tags.Exec(ctx, conn, keys, args).AsStrSlice()
		return err
	})
	if err != nil {
		return nil, failure(ctx, "tags", err)
	}
	if len(answers) != len(names) {
		return nil, fmt.Errorf("cacheredis tags: %w", malformed("answers", len(answers)))
	}
	all := make([]uint64, len(names))
	for i, a := range answers {
		if all[i], err = strconv.ParseUint(a, 10, 64); err != nil {
			return nil, fmt.Errorf("cacheredis tags: %w", malformed("counter", a))
		}
	}
	return all, nil
}
