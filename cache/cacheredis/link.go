package cacheredis

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/redis/rueidis"

	"example.com/quire/cache"
)

// The proof of a link. A heartbeat is a pipeline on the connection of the subscription. The server
// sends frames of writes that came before the heartbeat before its answer, and the connection's
// reader hands frames over before it hands over the answer. So an answered heartbeat proves that
// all frames of writes before its sending have arrived: the time of sending is the proof, not that
// of the answer.

// A tracked link also gets the server's own invalidations (CLIENT TRACKING in broadcast mode),
// which the server sends at the end of a turn of its event loop. The answer to a heartbeat can so
// come before the invalidation of an earlier write of the same turn:
//
//	turn n    foreign DEL k; heartbeat i is answered; then the invalidation of k is sent
//	turn n+1  heartbeat i+1 is answered
//
// The proof of such a link is therefore the sending of the heartbeat before the last answered one.

// pause is how long a link waits before it tries again: it doubles from the first to the second.
const (
	minPause = 20 * time.Millisecond
	maxPause = time.Second
)

type link struct {
	home *home
	ns   string
	o    cache.LinkOptions

	mu   sync.Mutex // one call of the sink at a time
	sink cache.Sink
	up   bool
}

// Attach implements cache.Bus.
func (c *Client) Attach(ns string, o cache.LinkOptions, s cache.Sink) (func(), error) {
	if o.Heartbeat <= 0 || o.Timeout <= 0 {
		return nil, &cache.ConfigError{Field: "LinkOptions", Got: o, Want: "a Heartbeat and a Timeout above 0"}
	}
	l := &link{home: c.home(ns), ns: ns, o: o, sink: s}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.run(ctx)
	}()
	return func() {
		cancel()
		<-done
	}, nil
}

// run makes one session after the other until ctx ends.
func (l *link) run(ctx context.Context) {
	for pause := minPause; ; {
		lasted, err := l.session(ctx)
		if ctx.Err() != nil {
			return
		}
		l.mu.Lock()
		l.sink.Down(err)
		l.mu.Unlock()
		if lasted {
			pause = minPause
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, maxPause)
	}
}

// session holds one connection until it fails, and says whether the link was up.
func (l *link) session(ctx context.Context) (wasUp bool, err error) {
	client, err := l.home.client()
	if err != nil {
		return false, err
	}
	conn, release := client.Dedicate()
	defer release()
	defer conn.Close()
	wrong := make(chan error, 1)
	ended := make(chan struct{})
	defer func() {
		close(ended)
		l.mu.Lock() // waits for a message that is being handed over
		l.up = false
		l.mu.Unlock()
	}()
	lost := conn.SetPubSubHooks(rueidis.PubSubHooks{OnMessage: func(m rueidis.PubSubMessage) {
		select {
		case <-ended: // a late message of a session that is over
		default:
			if err := l.message(m); err != nil {
				select {
				case wrong <- err:
				default:
				}
			}
		}
	}})
	if l.o.Tracked {
		lost = conn.SetOnInvalidations(func(keys []rueidis.RedisMessage) {
			select {
			case <-ended:
			default:
				if err := l.touched(keys); err != nil {
					select {
					case wrong <- err:
					default:
					}
				}
			}
		})
		if err := l.within(ctx, func(ctx context.Context) error {
			return conn.Do(ctx, conn.B().Arbitrary("CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", dataKey(l.ns, "")).Build()).Error()
		}); err != nil {
			return false, err
		}
	}
	if err := l.within(ctx, func(ctx context.Context) error {
		return conn.Do(ctx, conn.B().Subscribe().Channel(channel(l.ns)).Build()).Error()
	}); err != nil {
		return false, err
	}
	epoch, err := l.open(ctx)
	if err != nil {
		return false, err
	}
	l.judgeEviction(ctx, conn)
	tick := time.NewTicker(l.o.Heartbeat)
	defer tick.Stop()
	var before time.Time
	for first := true; ; first = false {
		sent := time.Now()
		if err := l.within(ctx, func(ctx context.Context) error { return l.beat(ctx, conn, epoch) }); err != nil {
			return !first, err
		}
		l.mu.Lock()
		if first {
			l.up = true
			l.sink.Up(binary.BigEndian.Uint64([]byte(epoch)))
		}
		switch {
		case !l.o.Tracked:
			l.sink.Proof(sent)
		case !first:
			l.sink.Proof(before)
		}
		before = sent
		l.mu.Unlock()
		select {
		case <-ctx.Done():
			return true, ctx.Err()
		case err := <-lost:
			return true, errors.Join(errLost, err)
		case err := <-wrong:
			return true, err
		case <-tick.C:
		}
	}
}

var (
	errLost       = errors.New("cacheredis: the connection of the link has ended")
	errEpoch      = errors.New("cacheredis: the server begins a new epoch")
	errFlushed    = errors.New("cacheredis: the server has dropped all keys")
	errNotPrimary = errors.New("cacheredis: the server is not the primary")
)

// within runs one step of a session in time.
func (l *link) within(ctx context.Context, step func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, l.o.Timeout)
	defer cancel()
	return step(ctx)
}

func (l *link) open(ctx context.Context) (epoch string, err error) {
	err = l.within(ctx, func(ctx context.Context) error {
		err = l.home.do(func(conn rueidis.Client) (err error) {
			epoch, err = l.home.of.run.open.Exec(ctx, conn, []string{metaKey(l.ns)}, head(l.ns)).ToString()
			return err
		})
		if err == nil && len(epoch) != 8 {
			err = malformed("epoch of length", len(epoch))
		}
		return err
	})
	return epoch, err
}

// judgeEviction warns of a server that drops any key for lack of memory: counters of tags go with
// it, and with each all entries that have the tag.
func (l *link) judgeEviction(ctx context.Context, conn rueidis.DedicatedClient) {
	_ = l.within(ctx, func(ctx context.Context) error { // the heartbeat finds what is wrong with the connection
		info, err := conn.Do(ctx, conn.B().Info().Section("memory").Build()).ToString()
		_, policy, _ := strings.Cut(info, "maxmemory_policy:")
		policy, _, _ = strings.Cut(policy, "\r")
		if strings.HasPrefix(policy, "allkeys-") {
			l.home.of.warned.Do(func() {
				l.home.of.log.Warn("the server may evict any key, so that entries with tags end early; set maxmemory-policy to volatile-lfu",
					slog.String("maxmemory_policy", policy))
			})
		}
		return err
	})
}

// beat is one heartbeat.
func (l *link) beat(ctx context.Context, conn rueidis.DedicatedClient, epoch string) error {
	sent := time.Now()
	answers := conn.DoMulti(ctx, conn.B().Time().Build(), conn.B().Hget().Key(metaKey(l.ns)).Field("e").Build(), conn.B().Role().Build())
	if err := l.home.measure(sent, answers[0]); err != nil {
		return err
	}
	if now, err := answers[1].ToString(); rueidis.IsRedisNil(err) || err == nil && now != epoch {
		return errEpoch
	} else if err != nil {
		return err
	}
	role, err := answers[2].ToArray()
	if err != nil {
		return err
	}
	if len(role) == 0 {
		return malformed("answer to ROLE of length", 0)
	}
	if name, err := role[0].ToString(); err != nil || name != "master" {
		return fmt.Errorf("%w: it says %q", errNotPrimary, name)
	}
	return nil
}

// message hands one message over. An error ends the session: it is not known what was said. What
// comes before the link is up is older than all that its user knows; the frame of an epoch that the
// open script has begun is among it.
func (l *link) message(m rueidis.PubSubMessage) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.up {
		return nil
	}
	// The memory is that of this message alone; nobody writes to it.
	f, err := parseFrame(unsafe.Slice(unsafe.StringData(m.Message), len(m.Message)), l.ns, l.home.now()) //nolint:gosec // G103: see above
	if err != nil {
		return err
	}
	if f.Kind == kindEpoch {
		return errEpoch
	}
	l.sink.Frame(f)
	return nil
}

// touched hands over the server's invalidations of keys; nil stands for all.
func (l *link) touched(keys []rueidis.RedisMessage) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.up {
		return nil
	}
	if keys == nil {
		return errFlushed
	}
	for _, k := range keys {
		name, err := k.ToString()
		key, ok := strings.CutPrefix(name, dataKey(l.ns, ""))
		if err != nil || !ok {
			return malformed("invalidation of", name)
		}
		l.sink.Frame(cache.Frame{Kind: cache.FrameTouched, Key: key})
	}
	return nil
}
