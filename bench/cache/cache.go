// Package cache is the suite of the cache: look-ups, writes and values beside other caches, and the
// path to Redis beside the clients alone. What a look-up finds is counted in every operation and
// compared in full before.
package cache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"

	"example.com/quire/bench/harness"
)

const seed = 14

// What stands in the way of goals that are missed.
const (
	ownLookUp = "A look-up is otter's own, with its expiry, policy and buffer of reads, and beside it the instant until which a hit is plain, the generation, the tags and the count of hits. " +
		"sturdyc has a lock and a map of each shard."
	ownWrite = "A write goes into otter's table, expiry and policy, with the weight of key and value; naive and golang-lru have a lock, a map and a list, and no policy of admission."
	ownRead  = "A read that the process does not hold becomes a flight that other readers join; the answer's version and tags are compared and it is stored in the process, where another entry goes for it. The client alone does none of that."
	ownStore = "Beside what the script does, a record has a header with version, lives and tags, is published with its frame, and replaces what the process holds."
	ownTake  = "A notice is parsed, its version compared with what is held, and a new entry takes the old one's place under its life and weight; the subscriber keeps the last message."
)

// Suite returns the rows.
func Suite() harness.Suite { return suite(1_000_000) }

// suite returns the rows, those of a million keys or entries with so many.
func suite(many int) harness.Suite {
	allocs := func(n float64) harness.Goal { return harness.Goal{Of: harness.Allocs, AtMost: n} }
	against := func(name string, atMost float64, obstacle ...string) harness.Goal {
		return harness.Goal{Against: name, AtMost: atMost, Obstacle: strings.Join(obstacle, " ")}
	}
	return harness.Suite{
		Name:  "cache",
		Title: "Cache",
		About: "Values of one type by string keys, all entries with a life of an hour. otter is that module with the options and the " +
			"clock that quire gives it, otter-plain as its documentation sets it up. naive is the plain way to write such a map: 16 shards by hash/fnv, a lock, time.Now for each call, " +
			"no bound. assembled is ristretto with two shared counters and a type assertion behind it. " +
			"The rows of Redis run a server of their own. script is the least that a write with a notice is, one script that counts, stores and " +
			"publishes; rueidis in the rows of notices is a subscriber that keeps the last message. Each reader of those rows is a process; with the writer and Redis they share one core, and one clock.",
		NotShown: []string{
			"Storms of inserts alone, where ristretto drops what others keep, and the garbage collector's part, where bigcache, freecache and fastcache keep their bytes out of its sight.",
			"Hit ratios: they are tests (`cd bench && go test ./cache -run Ratio -v`).",
		},
		Rows: []harness.Row{
			row("hit", "a hit", "a look-up of one of 1,000 keys with a short text", hits(locals(thousand, small)...),
				against("otter", 1.6), against("otter-plain", 1, ownLookUp), against("naive", 0.9), against("assembled", 0.8), against("ristretto", 1), against("sturdyc", 0.6, ownLookUp), against("theine", 1.4), allocs(0)),
			row("hit-bytes", "a hit by a key of bytes", "PeekBytes of one of 1,000 keys", hits(peekBytes(), named(quire(thousand, small), "get")), against("get", 1.2), allocs(0)),
			eight(second(row("hit-zipf", "a hit in cold memory", "a look-up of one of a million keys, zipf 0.99, with a short text", hits(quire(many, small), otterCache(many, small), plainLRU(many, small)),
				against("otter", 1.4), against("golang-lru", 0.5), allocs(0)))),
			eight(second(two(row("hit-zipf-2", "a hit in cold memory, by two", "a look-up of one of a million keys, zipf 0.99, by two goroutines", inTwo(hits(quire(many, small), otterCache(many, small), plainLRU(many, small))),
				against("otter", 1.4), against("golang-lru", 0.5))))),
			row("hit-256", "a hit of 256 bytes", "a look-up of one of 1,000 keys with 256 bytes, all of which are read", hits(quire(thousand, bytes256), bigCache(), freeCache(), fastCache()),
				against("bigcache", 0.6), against("freecache", 0.6), against("fastcache", 1), allocs(0)),
			row("set-in-place", "a write in place", "a write of one of 1,000 keys that are held", writes(setters(thousand, small)...), against("otter", 1.4, ownWrite), allocs(1)),
			row("set-unique", "a write of a new key", "a write of a key that was made by fmt.Sprintf, when the cache is full", writes(inserters()...), against("naive", 0.85, ownWrite), against("golang-lru-expirable", 0.8, ownWrite), allocs(5)),
			two(row("set-unique-2", "a write of a new key, by two", "a write of a key that was made by fmt.Sprintf, when the cache is full, by two goroutines", inTwo(writes(inserters()...)), against("golang-lru-expirable", 0.6, ownWrite))),
			eight(row("memory", "a million entries", "a collection of the runtime while a cache holds what it keeps of a million entries with 16 to 255 bytes; the output is the resident memory for 1,000 bytes of its bound", memory(many),
				harness.Goal{Of: harness.Output, AtMost: 1100, Obstacle: "Most of what is beyond the bound is pages of the heap that evicted entries of other sizes left half empty, and the runtime's own; the live heap is near the bound."})),
			row("redis-local", "a hit with Redis attached", "a look-up of one of 1,000 keys that the process holds", hits(attached(), named(quire(thousand, small), "alone"), rueidisCached(), goRedis()),
				against("alone", 1.05), against("rueidis-docache", 0.25, ownLookUp), against("go-redis", 0.25), allocs(0)),
			row("redis-hit", "a read of Redis", "64 goroutines read 256 bytes of a key each that the process does not hold", hits(remoteReads()...), against("rueidis", 1.25, ownRead), against("go-redis", 0.77, ownRead)),
			row("redis-set", "a write to Redis", "64 goroutines write 256 bytes to a key each", writes(remoteWrites()...), against("script", 2, ownStore)),
			second(row("redis-propagation-1", "a write until a reader has it", "a write of 4 KiB to a key, and a read of it by a process that held the value before", propagation(1), against("rueidis", 1.5, ownTake))),
			second(row("redis-propagation-2", "a write until two readers have it", "a write of 4 KiB to a key, and a read of it by each of two processes that held the value before", propagation(2), against("rueidis", 1.5, ownTake))),
			second(row("redis-propagation-4", "a write until four readers have it", "a write of 4 KiB to a key, and a read of it by each of four processes that held the value before", propagation(4), against("rueidis", 1.5, ownTake))),
			row("redis-notice-1", "a notice taken by a reader", "a message of Redis with a value of 256 bytes for one of 1,000 keys that a process holds, 256 under way at once", notices(1), against("rueidis", 1.25, ownTake)),
			row("redis-notice-2", "a notice taken by two readers", "a message of Redis with a value of 256 bytes for one of 1,000 keys that two processes hold, 256 under way at once", notices(2), against("rueidis", 1.25, ownTake)),
			row("redis-notice-4", "a notice taken by four readers", "a message of Redis with a value of 256 bytes for one of 1,000 keys that four processes hold, 256 under way at once", notices(4), against("rueidis", 1.25, ownTake)),
			row("redis-tag", "an invalidation of a tag", "InvalidateTags of a tag that 2,000 entries have", invalidations(), against("script", 2), against("few", 1.1)),
		},
	}
}

// contestant is one implementation of a row. open makes it ready; the function that it returns does
// operations first ... first+n-1 and returns how many came out right.
type contestant struct {
	name, module, note string
	own                bool
	open               func(context.Context, harness.Env) (*subject, error)
}

func named(c contestant, name string) contestant {
	c.name = name
	return c
}

func row(name, title, text string, list []contestant, goals ...harness.Goal) harness.Row {
	r := harness.Row{Name: name, Title: title, Workload: harness.Workload{Name: "cache-" + name, Version: 1, Seed: seed, Text: text}, Goals: goals}
	if strings.HasPrefix(name, "redis-") && name != "redis-local" {
		r.Primary = harness.Time // much of the work is the server's
	}
	for _, c := range list {
		r.Contestants = append(r.Contestants, harness.Contestant{
			Name: c.name, Module: c.module, Note: c.note, Own: c.own,
			Open: func(ctx context.Context, env harness.Env) (harness.Subject, error) {
				s, err := c.open(ctx, env)
				if err != nil {
					return nil, err // not a nil *subject
				}
				return s, nil
			},
		})
	}
	return r
}

// two lets a row have two processors.
func two(r harness.Row) harness.Row {
	r.Procs, r.Primary = 2, harness.Time
	return r
}

// second is a row whose workload was another before.
func second(r harness.Row) harness.Row {
	r.Workload.Version = 2
	return r
}

// eight bounds the rounds of a row whose contestants take seconds to open.
func eight(r harness.Row) harness.Row {
	r.Rounds = 8
	return r
}

// hits and writes say in a row what its contestants do.
func hits(list ...contestant) []contestant   { return list }
func writes(list ...contestant) []contestant { return list }

// subject is a contestant made ready. It does operations in a loop of its own: a call through a
// function value for each would cost a tenth of a hit.
type subject struct {
	run   func(first, n int) (right int)
	check func() error
	note  string // what check has found
	// output is the size of what an operation makes, where that means something.
	output int64
	most   int // operations at once; 0 is chunk
	end    func() error

	first, n, right int
}

var errWrong = errors.New("the cache does not give what was put in")

// Check implements harness.Subject.
func (s *subject) Check(context.Context) (harness.Facts, error) {
	if right := s.run(0, s.Chunk()); right != s.Chunk() {
		return harness.Facts{}, fmt.Errorf("%w: %d of %d operations", errWrong, right, s.Chunk())
	}
	err := s.check()
	return harness.Facts{Note: s.note, OutputBytes: s.output}, err
}

// chunk is how many operations are prepared at most.
const chunk = 4096

// Chunk implements harness.Subject.
func (s *subject) Chunk() int { return cmp.Or(s.most, chunk) }

// Prepare implements harness.Subject.
func (s *subject) Prepare(first, n int) error {
	s.first, s.n = first, n
	return nil
}

// Run implements harness.Subject.
func (s *subject) Run() error {
	s.right = s.run(s.first, s.n)
	return nil
}

// Glance implements harness.Subject.
func (s *subject) Glance() error {
	if s.right != s.n {
		return fmt.Errorf("%w: %d of %d operations", errWrong, s.right, s.n)
	}
	return nil
}

// Close implements harness.Subject.
func (s *subject) Close() error {
	if s.end == nil {
		return nil
	}
	return s.end()
}

// keys of a workload, and the value of each.
type keys struct {
	all   []string
	picks []int32 // a power of two; they repeat after it
}

const thousand = 1000

// keysOf makes n keys, asked for evenly if they are few, by zipf 0.99 if many.
func keysOf(n int) *keys {
	k := &keys{all: make([]string, n), picks: make([]int32, chunk)}
	for i := range k.all {
		k.all[i] = fmt.Sprint("posts/", i)
	}
	rng := rand.New(rand.NewPCG(seed, uint64(n))) //nolint:gosec // a fixed stream of inputs
	pick := func() int { return rng.IntN(n) }
	if n > thousand {
		pick = zipf(rng, n, 0.99)
		k.picks = make([]int32, 1<<bits.Len(uint(n-1))) // not of those alone that the processor's caches hold
	}
	for i := range k.picks {
		k.picks[i] = int32(pick()) //nolint:gosec // at most a million
	}
	return k
}

// at is the key of operation i.
func (k *keys) at(i int) string { return k.all[k.pick(i)] }

func (k *keys) pick(i int) int32 { return k.picks[i&(len(k.picks)-1)] }

func small(key string) string { return "the value of " + key }

// bytes256 is 256 bytes that end in the key.
func bytes256(key string) []byte {
	b := make([]byte, 256)
	copy(b[256-len(key):], key)
	return b
}
