package cache

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"example.com/quire/bench/harness"
	"example.com/quire/cache"
	"example.com/quire/cache/codec"
)

// patience is how long anything may take that is to arrive.
const patience = 20 * time.Second

var errLate = errors.New("it has not arrived")

// tally counts what arrives, for one goroutine that waits.
type tally struct {
	n, want atomic.Int64
	there   chan struct{}
}

func newTally() *tally { return &tally{there: make(chan struct{}, 1)} }

func (t *tally) arrived() {
	if t.n.Add(1) == t.want.Load() {
		t.there <- struct{}{}
	}
}

// expect is called before that many more are sent.
func (t *tally) expect(more int) { t.want.Add(int64(more)) }

// wait waits for what is expected.
func (t *tally) wait() error {
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-t.there:
		return nil
	case <-late.C:
		return fmt.Errorf("%w: %d of %d", errLate, t.n.Load(), t.want.Load())
	}
}

// plainClient is rueidis with what a cache uses of it.
func plainClient(addr string) (rueidis.Client, error) {
	return rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}, ForceSingleClient: true, DisableCache: true, AlwaysPipelining: true})
}

// listen hands the messages of a channel over until end is called.
func listen(ctx context.Context, addr, channel string, got func(string)) (end func(), err error) {
	c, err := plainClient(addr)
	if err != nil {
		return nil, err
	}
	conn, release := c.Dedicate()
	conn.SetPubSubHooks(rueidis.PubSubHooks{OnMessage: func(m rueidis.PubSubMessage) { got(m.Message) }})
	end = func() { release(); c.Close() }
	if err := conn.Do(ctx, conn.B().Subscribe().Channel(channel).Build()).Error(); err != nil {
		end()
		return nil, err
	}
	return end, nil
}

// store is the least that a write with a notice is: a number, the value and the notice in one script. Its keys are a counter, a
// value and a channel.
func store() *rueidis.Lua {
	return rueidis.NewLuaScript(`local n = redis.call('HINCRBY', KEYS[1], 'c', 1)
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
redis.call('PUBLISH', KEYS[3], ARGV[3])
return n`)
}

// page is the value of write i: 4 KiB that begin with the number.
func page(i uint64) []byte {
	b := make([]byte, 4<<10)
	binary.BigEndian.PutUint64(b, i)
	return b
}

// spread is a writer and its readers: write does write i and returns when all readers have it.
type spread struct {
	write func(i uint64) error
	// bound is the greatest bound of how old an answer is that a reader reports now; nil for none.
	bound func() time.Duration
	end   func() error
}

// propagation is of contestants whose operation is a write that all of so many readers have seen. Their checks write at a steady rate and note how
// long that took.
func propagation(readers int) []contestant {
	of := func(name, module string, own bool, open func(context.Context, string, int) (*spread, error)) contestant {
		return onRedis(name, module, own, func(ctx context.Context, addr string) (*subject, error) {
			s, err := open(ctx, addr, readers)
			if err != nil {
				return nil, err
			}
			next := uint64(0)
			write := func() error {
				next++
				return s.write(next)
			}
			subj := &subject{most: atOnce, end: s.end, run: func(_, n int) (right int) {
				for range n {
					if write() == nil {
						right++
					}
				}
				return right
			}}
			subj.check = func() (err error) {
				subj.note, err = s.pace(write)
				return err
			}
			return subj, nil
		})
	}
	return []contestant{
		of("quire", "", true, nodes(cache.Push)),
		of("quire-invalidate", "", true, nodes(cache.Invalidate)),
		of("rueidis", rueidisModule, false, subscribers),
	}
}

// pace writes at a thousand a second, or as fast as can be if that is less, and says how long the values
// took to all readers.
func (s *spread) pace(write func() error) (string, error) {
	const writes, every = 300, time.Millisecond
	took, bound := make([]time.Duration, 0, writes), time.Duration(0)
	tick := time.NewTicker(every)
	defer tick.Stop()
	start := time.Now()
	for range writes {
		<-tick.C
		began := time.Now()
		if err := write(); err != nil {
			return "", err
		}
		took = append(took, time.Since(began))
		if s.bound != nil {
			bound = max(bound, s.bound())
		}
	}
	rate := float64(writes) / time.Since(start).Seconds()
	slices.Sort(took)
	at := func(p int) time.Duration { return took[len(took)*p/100].Round(time.Microsecond) }
	note := fmt.Sprintf("at %.0f writes a second all readers had half of the values within %v, 99 %% within %v, all within %v",
		rate, at(50), at(99), took[len(took)-1].Round(time.Microsecond))
	if s.bound != nil {
		note += fmt.Sprintf("; the bound that they reported was %v at most", bound.Round(time.Millisecond))
	}
	return note, nil
}

// nodes are caches: one that writes, and readers that hold the key.
func nodes(mode cache.SyncMode) func(context.Context, string, int) (*spread, error) {
	return func(ctx context.Context, addr string, readers int) (s *spread, err error) {
		var ends []func() error
		endAll := func() (err error) {
			for _, end := range ends {
				err = errors.Join(err, end())
			}
			return err
		}
		defer func() {
			if err != nil {
				err = errors.Join(err, endAll())
			}
		}()
		open := func(observer func(cache.Event[string])) (*cache.Cache[string, []byte], error) {
			c, end, err := attach(ctx, addr, cache.Options[string, []byte]{Codec: codec.Raw{}, Observer: observer, Policy: cache.Policy{Mode: mode}})
			if err == nil {
				ends = append(ends, end)
			}
			return c, err
		}
		const key = "posts/1"
		writer, err := open(nil)
		if err != nil {
			return nil, err
		}
		if err := writer.Set(ctx, key, page(0)); err != nil {
			return nil, err
		}
		all, seen := make([]*cache.Cache[string, []byte], readers), make([]*tally, readers)
		for i := range all {
			t := newTally()
			seen[i] = t
			if all[i], err = open(func(e cache.Event[string]) {
				if e.Kind == cache.EventRemoteWrite {
					t.arrived()
				}
			}); err != nil {
				return nil, err
			}
			if _, err := all[i].Get(ctx, key); err != nil {
				return nil, err
			}
		}
		return &spread{
			write: func(n uint64) error {
				for _, t := range seen {
					t.expect(1)
				}
				if err := writer.Set(ctx, key, page(n)); err != nil {
					return err
				}
				for i, t := range seen {
					if err := t.wait(); err != nil {
						return err
					}
					v, err := all[i].Get(ctx, key)
					if err != nil {
						return err
					}
					if got := binary.BigEndian.Uint64(v); got != n {
						return fmt.Errorf("%w: reader %d has value %d after write %d", errWrong, i, got, n)
					}
				}
				return nil
			},
			bound: func() (most time.Duration) {
				for _, c := range all {
					most = max(most, c.Staleness())
				}
				return most
			},
			end: endAll,
		}, nil
	}
}

// subscribers keep what the messages of the writer bring.
func subscribers(ctx context.Context, addr string, readers int) (s *spread, err error) {
	writer, err := plainClient(addr)
	if err != nil {
		return nil, err
	}
	ends := []func(){writer.Close}
	endAll := func() error {
		for _, end := range ends {
			end()
		}
		return nil
	}
	held, seen := make([]atomic.Uint64, readers), make([]*tally, readers)
	for i := range readers {
		seen[i] = newTally()
		end, err := listen(ctx, addr, "changes", func(m string) {
			held[i].Store(binary.BigEndian.Uint64([]byte(m[:8])))
			seen[i].arrived()
		})
		if err != nil {
			return nil, errors.Join(err, endAll())
		}
		ends = append(ends, end)
	}
	script := store()
	return &spread{end: endAll, write: func(n uint64) error {
		for _, t := range seen {
			t.expect(1)
		}
		value := rueidis.BinaryString(page(n))
		if err := script.Exec(ctx, writer, []string{"counter", "posts/1", "changes"}, []string{value, "3600000", value}).Error(); err != nil {
			return err
		}
		for i, t := range seen {
			if err := t.wait(); err != nil {
				return err
			}
			if got := held[i].Load(); got != n {
				return fmt.Errorf("%w: reader %d has value %d after write %d", errWrong, i, got, n)
			}
		}
		return nil
	}}, nil
}

// atOnce is how many notices are under way at most, which are of different keys, and how many operations of those that
// take long are done at once.
const atOnce = 256

// notices are contestants whose operation is a notice with a value of 256 bytes that a node takes. Both get the same messages.
func notices() []contestant {
	of := func(name, module string, own bool, open func(ctx context.Context, addr string, t *tally, k *keys) (check, end func() error, err error)) contestant {
		return onRedis(name, module, own, func(ctx context.Context, addr string) (s *subject, err error) {
			k := keysOf(thousand)
			frames, err := framesOf(ctx, addr, k)
			if err != nil {
				return nil, err
			}
			t := newTally()
			check, end, err := open(ctx, addr, t, k)
			if err != nil {
				return nil, err
			}
			from, err := plainClient(addr)
			if err != nil {
				return nil, errors.Join(err, end())
			}
			sent := 0
			send := func(n int) error {
				t.expect(n)
				all := make(rueidis.Commands, n)
				for i := range all {
					f := frames[sent%len(frames)]
					f.next()
					all[i] = from.B().Publish().Channel(frameChannel).Message(string(f.message)).Build()
					sent++
				}
				for _, r := range from.DoMulti(ctx, all...) {
					if err := r.Error(); err != nil {
						return err
					}
				}
				return t.wait()
			}
			return &subject{check: check, end: func() error { from.Close(); return end() }, run: func(_, n int) (right int) {
				for right < n {
					some := min(n-right, atOnce)
					if send(some) != nil {
						return right
					}
					right += some
				}
				return right
			}}, nil
		})
	}
	return []contestant{
		of("quire", "", true, func(ctx context.Context, addr string, t *tally, k *keys) (check, end func() error, err error) {
			c, end, err := attach(ctx, addr, cache.Options[string, []byte]{Codec: codec.Raw{}, Observer: func(e cache.Event[string]) {
				if e.Kind == cache.EventRemoteWrite {
					t.arrived()
				}
			}})
			if err != nil {
				return nil, nil, err
			}
			for _, key := range k.all {
				if _, err := c.Get(ctx, key); err != nil {
					return nil, nil, errors.Join(err, end())
				}
			}
			return func() error {
				for _, key := range k.all {
					if v, ok := c.Peek(key); !ok || string(v) != string(bytes256(key)) {
						return fmt.Errorf("%w: %s", errWrong, key)
					}
				}
				if n := c.Stats().Pushed; n < chunk {
					return fmt.Errorf("%w: %d of %d notices have brought a value", errWrong, n, chunk)
				}
				return nil
			}, end, nil
		}),
		of("rueidis", rueidisModule, false, func(ctx context.Context, addr string, t *tally, _ *keys) (check, end func() error, err error) {
			stop, err := listen(ctx, addr, frameChannel, func(string) { t.arrived() })
			return func() error { return nil }, func() error { stop(); return nil }, err
		}),
	}
}

// frameChannel is where the caches of the namespace bench hear of writes.
const frameChannel = "q1:b:{bench/00}"

// notice is a message of a write, as the cache sends it.
type notice struct {
	message  []byte
	counters [2]int // where: in the message, and in the record that it has
}

// next makes it that of a later write.
func (n *notice) next() {
	for _, at := range n.counters {
		b := n.message[at : at+8]
		binary.BigEndian.PutUint64(b, binary.BigEndian.Uint64(b)+1<<20)
	}
}

// The places of a message: the number of its write, its key, and in the record that follows the number again.
const (
	counterAt       = 12
	keyAt           = 32
	recordCounterAt = 16
)

// framesOf returns the messages of a write of each key.
func framesOf(ctx context.Context, addr string, k *keys) (all []*notice, err error) {
	messages := make(chan string, 2*len(k.all))
	stop, err := listen(ctx, addr, frameChannel, func(m string) { messages <- m })
	if err != nil {
		return nil, err
	}
	defer stop()
	c, end, err := attach(ctx, addr, cache.Options[string, []byte]{Codec: codec.Raw{}, Policy: cache.Policy{Mode: cache.Push}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	for _, key := range k.all {
		if err := c.Set(ctx, key, bytes256(key)); err != nil {
			return nil, err
		}
		m := ""
		for !strings.HasPrefix(m[min(keyAt, len(m)):], key) { // the first is of an epoch
			select {
			case m = <-messages:
			case <-time.After(patience):
				return nil, errLate
			}
		}
		all = append(all, &notice{message: []byte(m), counters: [2]int{counterAt, keyAt + len(key) + recordCounterAt}})
	}
	return all, nil
}

// propagation is of contestants whose operation is an invalidation of one tag.
func invalidations() []contestant {
	of := func(name string, n int) contestant {
		return onRedis(name, "", true, func(ctx context.Context, addr string) (*subject, error) {
			c, end, err := attach(ctx, addr, cache.Options[string, []byte]{Codec: codec.Raw{}})
			if err != nil {
				return nil, err
			}
			set := func() error {
				if right := together(0, n, func(i int) bool {
					_, err := c.SetWith(ctx, fmt.Sprint("posts/", i), []byte("text"), cache.WriteOptions{Tags: []string{"all"}})
					return err == nil
				}); right != n {
					return fmt.Errorf("%w: %d of %d writes", errWrong, right, n)
				}
				return nil
			}
			run := func(_, n int) (right int) {
				for range n {
					if c.InvalidateTags(ctx, "all") == nil {
						right++
					}
				}
				return right
			}
			return &subject{most: atOnce, run: run, end: end, check: func() error {
				if err := set(); err != nil {
					return err
				}
				if _, err := c.Get(ctx, "posts/0"); err != nil {
					return err
				}
				run(0, 1)
				for i := range n {
					if _, err := c.Get(ctx, fmt.Sprint("posts/", i)); !errors.Is(err, cache.ErrNotFound) {
						return fmt.Errorf("%w: an entry of the tag is there: %w", errWrong, err)
					}
				}
				return set()
			}}, nil
		})
	}
	return []contestant{
		of("quire", 2000),
		of("few", 10),
		onRedis("script", rueidisModule, false, func(ctx context.Context, addr string) (*subject, error) {
			c, err := plainClient(addr)
			if err != nil {
				return nil, err
			}
			script := store()
			return &subject{most: atOnce, end: func() error { c.Close(); return nil }, check: func() error { return nil }, run: func(_, n int) (right int) {
				for range n {
					if v, err := script.Exec(ctx, c, []string{"counter", "tag", "changes"}, []string{"1", "3600000", "tag"}).AsInt64(); err == nil && v > 0 {
						right++
					}
				}
				return right
			}}, nil
		}),
	}
}

// inTwo makes the goroutine of each contestant two.
func inTwo(list []contestant) []contestant {
	for i := range list {
		open := list[i].open
		list[i].open = func(ctx context.Context, env harness.Env) (*subject, error) {
			s, err := open(ctx, env)
			if err != nil {
				return nil, err
			}
			one := s.run
			s.run = func(first, n int) int {
				other := make(chan int, 1)
				go func() { other <- one(first, n/2) }()
				return one(first+n/2, n-n/2) + <-other
			}
			return s, nil
		}
	}
	return list
}
