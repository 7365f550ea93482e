package cache

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"example.com/quire/bench/harness"
	"example.com/quire/cache"
	"example.com/quire/cache/codec"
)

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

// store is the least that a write with a notice is: a number, the value and the notice in one
// script. Its keys are a counter, a value and a channel.
func store() *rueidis.Lua {
	return rueidis.NewLuaScript(`local n = redis.call('HINCRBY', KEYS[1], 'c', 1)
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
redis.call('PUBLISH', KEYS[3], ARGV[3])
return n`)
}

// pageChannel is where the subscribers of pages listen.
const pageChannel = "changes"

// spread is a writer and its readers, which are processes: write does write i.
type spread struct {
	write func(i uint64) error
	all   readers
	last  uint64
}

// next writes, and returns when all readers have read what was written.
func (s *spread) next() error {
	s.last++
	if err := s.write(s.last); err != nil {
		return err
	}
	return s.reached()
}

// reached waits until all readers have read what was written last.
func (s *spread) reached() error {
	said, err := s.all.ask(readerOrder{Do: "value", N: s.last})
	for i, r := range said {
		if err == nil && r.Value != s.last {
			err = fmt.Errorf("%w: reader %d has value %d after write %d", errWrong, i, r.Value, s.last)
		}
	}
	return err
}

// propagation is of contestants whose operation is a write that all of so many readers have read.
// Their checks write at a steady rate, and note how long the values were under way and how long a
// reader gave out what had been replaced.
func propagation(n int) []contestant {
	of := func(name, module, kind string, own bool, open func(context.Context, string) (write func(uint64) error, end func() error, err error)) contestant {
		return onRedis(name, module, own, func(ctx context.Context, addr string) (*subject, error) {
			write, end, err := open(ctx, addr)
			if err != nil {
				return nil, err
			}
			all, err := startReaders(ctx, n, readerSpec{Kind: kind, Addr: addr})
			if err != nil {
				return nil, errors.Join(err, end())
			}
			s := &spread{write: write, all: all}
			subj := &subject{most: atOnce, end: func() error { return errors.Join(all.end(), end()) }, run: func(_, n int) (right int) {
				for range n {
					if s.next() != nil {
						return right
					}
					right++
				}
				return right
			}}
			subj.check = func() error {
				delays, err := s.pace()
				if err != nil {
					return err
				}
				stale, err := s.staleness()
				subj.note = delays + "; " + stale
				return err
			}
			return subj, nil
		})
	}
	return []contestant{
		of("quire", "", pageCache, true, pageWriter(cache.Push)),
		of("quire-invalidate", "", pageCache, true, pageWriter(cache.Invalidate)),
		of("rueidis", rueidisModule, pageMessages, false, pagePublisher),
	}
}

// paced is how many writes are made at a steady rate, and every is the time between two.
const (
	paced = 300
	every = time.Millisecond
)

// steadily writes at a thousand a second, or as fast as can be if that is less, and does not wait
// for the readers before the end. It returns the rate, and when each write had been made.
func (s *spread) steadily() (rate float64, made []int64, err error) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	start := time.Now()
	for range paced {
		<-tick.C
		s.last++
		if err := s.write(s.last); err != nil {
			return 0, nil, err
		}
		made = append(made, time.Now().UnixNano())
	}
	return paced / time.Since(start).Seconds(), made, s.reached()
}

// pace says how long values are under way to the readers.
func (s *spread) pace() (string, error) {
	if _, err := s.all.ask(readerOrder{Do: "delays"}); err != nil { // of what was before
		return "", err
	}
	rate, _, err := s.steadily()
	if err != nil {
		return "", err
	}
	said, err := s.all.ask(readerOrder{Do: "delays"})
	if err != nil {
		return "", err
	}
	var took []time.Duration
	for i, r := range said {
		if len(r.Delays) == 0 || len(r.Delays) > paced {
			return "", fmt.Errorf("%w: reader %d has read %d values of %d", errWrong, i, len(r.Delays), paced)
		}
		took = append(took, r.Delays...)
	}
	slices.Sort(took)
	at := func(p int) time.Duration { return took[len(took)*p/100].Round(time.Microsecond) }
	return fmt.Sprintf("at %.0f writes a second half of the values that were read were there within %v, 99 %% within %v, all within %v",
		rate, at(50), at(99), took[len(took)-1].Round(time.Microsecond)), nil
}

// staleness says for how long a reader gave out what had been replaced. A reader that names a bound
// keeps it.
func (s *spread) staleness() (string, error) {
	if _, err := s.all.ask(readerOrder{Do: "watch"}); err != nil {
		return "", err
	}
	first := s.last + 1
	_, made, err := s.steadily()
	if err != nil {
		return "", err
	}
	said, err := s.all.ask(readerOrder{Do: "watched"})
	if err != nil {
		return "", err
	}
	reads, worst, bound := 0, time.Duration(0), time.Duration(0)
	for i, r := range said {
		for _, x := range r.Samples {
			reads++
			bound = max(bound, x.Bound)
			next := x.Value + 1 // the write that replaced it
			if next < first || next >= first+uint64(len(made)) {
				continue
			}
			stale := time.Duration(x.At - made[next-first])
			if x.Bound >= 0 && stale > x.Bound {
				return "", fmt.Errorf("%w: reader %d gave out what had been replaced %v ago, and said %v at most", errWrong, i, stale, x.Bound)
			}
			worst = max(worst, stale)
		}
	}
	if reads == 0 {
		return "", fmt.Errorf("%w: no read was sampled", errWrong)
	}
	note := fmt.Sprintf("of %d reads beside as many writes none gave out what had been replaced for longer than %v", reads, worst.Round(time.Microsecond))
	if bound > 0 {
		note += fmt.Sprintf(", and the bound that they named was %v at most", bound.Round(time.Millisecond))
	}
	return note, nil
}

// pageWriter is a cache that writes the page, and has written it once.
func pageWriter(mode cache.SyncMode) func(context.Context, string) (func(uint64) error, func() error, error) {
	return func(ctx context.Context, addr string) (func(uint64) error, func() error, error) {
		c, end, err := attach(ctx, addr, cache.Options[string, []byte]{Codec: codec.Raw{}, Policy: cache.Policy{Mode: mode}})
		if err != nil {
			return nil, nil, err
		}
		write := func(i uint64) error { return c.Set(ctx, pageKey, page(i)) }
		if err := write(0); err != nil {
			return nil, nil, errors.Join(err, end())
		}
		return write, end, nil
	}
}

// pagePublisher stores the page and sends it to the subscribers.
func pagePublisher(ctx context.Context, addr string) (func(uint64) error, func() error, error) {
	c, err := plainClient(addr)
	if err != nil {
		return nil, nil, err
	}
	script := store()
	return func(i uint64) error {
		value := rueidis.BinaryString(page(i))
		return script.Exec(ctx, c, []string{"counter", pageKey, pageChannel}, []string{value, "3600000", value}).Error()
	}, func() error { c.Close(); return nil }, nil
}

// atOnce is how many notices are under way at most, which are of different keys, and how many
// operations of those that take long are done at once.
const atOnce = 256

// notices are contestants whose operation is a notice with a value of 256 bytes that each of so
// many readers takes. All get the same messages.
func notices(n int) []contestant {
	of := func(name, module, kind string, own bool) contestant {
		return onRedis(name, module, own, func(ctx context.Context, addr string) (s *subject, err error) {
			frames, err := framesOf(ctx, addr, keysOf(thousand))
			if err != nil {
				return nil, err
			}
			from, err := plainClient(addr)
			if err != nil {
				return nil, err
			}
			all, err := startReaders(ctx, n, readerSpec{Kind: kind, Addr: addr})
			if err != nil {
				from.Close()
				return nil, err
			}
			sent := 0
			send := func(n int) error {
				messages := make(rueidis.Commands, n)
				for i := range messages {
					f := frames[sent%len(frames)]
					f.next()
					messages[i] = from.B().Publish().Channel(frameChannel).Message(string(f.message)).Build()
					sent++
				}
				for _, r := range from.DoMulti(ctx, messages...) {
					if err := r.Error(); err != nil {
						return err
					}
				}
				_, err := all.ask(readerOrder{Do: "notices", N: uint64(sent)}) //nolint:gosec // a count
				return err
			}
			s = &subject{end: func() error { from.Close(); return all.end() }, run: func(_, n int) (right int) {
				for right < n {
					some := min(n-right, atOnce)
					if send(some) != nil {
						return right
					}
					right += some
				}
				return right
			}}
			s.check = func() error {
				_, err := all.ask(readerOrder{Do: "check"})
				return err
			}
			return s, nil
		})
	}
	return []contestant{
		of("quire", "", noticeCache, true),
		of("rueidis", rueidisModule, noticeMessages, false),
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

// The places of a message: the number of its write, its key, and in the record that follows the
// number again.
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

// invalidations are contestants whose operation is an invalidation of one tag.
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
