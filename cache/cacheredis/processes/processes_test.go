//go:build linux

package processes

import (
	"encoding/gob"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.com/quire/cache"
	"example.com/quire/cache/cachetest"
	"example.com/quire/internal/toxitest"
)

// process is a node as its judge sees it.
type process struct {
	config
	proxy  string
	cmd    *exec.Cmd
	in     io.Closer
	orders *gob.Encoder
	told   chan report // all but calls; it ends with the process

	mu     sync.Mutex
	begun  map[int][]cachetest.Op // writes that have not ended
	ops    []cachetest.Op
	killed bool
}

func start(t *testing.T, c config, proxy string) *process {
	t.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{config: c, proxy: proxy, told: make(chan report, 1<<10), begun: make(map[int][]cachetest.Op)}
	p.cmd = exec.Command(os.Args[0]) //nolint:gosec,noctx // G204: this program, ended by end or Kill
	// By default a program with the race detector waits for a second at its end.
	p.cmd.Env = append(os.Environ(), nodeEnv+"="+string(text), "GORACE=exitcode=66 atexit_sleep_ms=20")
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.in, p.orders = in, gob.NewEncoder(in)
	go p.listen(out)
	t.Cleanup(func() { p.end(t) })
	return p
}

func (p *process) listen(out io.Reader) {
	defer close(p.told)
	for d := gob.NewDecoder(out); ; {
		var r report
		if err := d.Decode(&r); err != nil {
			return
		}
		switch r.What {
		case begun:
			p.mu.Lock()
			p.begun[r.Write] = r.Ops
			p.mu.Unlock()
		case done:
			p.mu.Lock()
			delete(p.begun, r.Write)
			p.ops = append(p.ops, r.Ops...)
			p.mu.Unlock()
		default:
			p.told <- r
		}
	}
}

func (p *process) tell(t *testing.T, o order) {
	t.Helper()
	if err := p.orders.Encode(o); err != nil {
		t.Fatalf("node %d: %v", p.Node, err)
	}
}

// await waits for a report.
func (p *process) await(t *testing.T, what reportKind) report {
	t.Helper()
	for {
		select {
		case r, ok := <-p.told:
			switch {
			case !ok:
				t.Fatalf("node %d has ended before %v", p.Node, what)
			case r.Wrong != "":
				t.Error(r.Wrong)
			}
			if r.What == what {
				return r
			}
		case <-time.After(patience):
			t.Fatalf("node %d: no %v within %v", p.Node, what, patience)
		}
	}
}

// take returns the calls that were told. Those of a process that was killed are done perhaps.
func (p *process) take() (ops []cachetest.Op) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ops, p.ops = p.ops, nil
	if p.killed {
		for _, some := range p.begun {
			for _, o := range some {
				o.Unsure, o.Return = true, now()
				ops = append(ops, o)
			}
		}
		clear(p.begun)
	}
	return ops
}

func (p *process) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// kill ends the process in the middle of what it does.
func (p *process) kill(t *testing.T) {
	t.Helper()
	p.signal(t, syscall.SIGKILL)
	for range p.told { // until it has told all
	}
	_ = p.cmd.Wait() // it was killed
	p.mu.Lock()
	p.killed = true
	p.mu.Unlock()
}

// end ends the process in order.
func (p *process) end(t *testing.T) {
	t.Helper()
	if p.killed {
		return
	}
	_ = p.in.Close()   // it ends with its orders
	for range p.told { // until it has told all
	}
	if err := p.cmd.Wait(); err != nil && !t.Failed() {
		t.Errorf("node %d: %v", p.Node, err)
	}
}

func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	if s := os.Getenv(name); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return otherwise
}

// judge is one server with its nodes, between which and the server stands a proxy each.
type judge struct {
	server *cachetest.Redis
	proxy  *toxitest.Server
	nodes  []*process
	rand   *rand.Rand
	seed   uint64
	next   int
	faults map[string]int
	unsure []cachetest.Op // Clears and invalidations that may be done yet

	ops, reads, stale int
	oldest            time.Duration
}

const nodes = 4

func newJudge(t *testing.T, kind string, seed uint64, loaders ...loads) *judge {
	t.Helper()
	j := &judge{
		server: cachetest.StartRedis(t, kind), proxy: toxitest.Start(t),
		rand: rand.New(rand.NewPCG(seed, 0)), seed: seed, faults: make(map[string]int), //nolint:gosec // G404: to be replayed
	}
	for i := range nodes {
		name := fmt.Sprint("p", i)
		j.nodes = append(j.nodes, j.start(t, config{Addr: j.proxy.Proxy(t, name, j.server.Addr), Mode: cache.SyncMode(1 + i%3), Loads: loaders[i%len(loaders)]}, name))
	}
	for _, p := range j.nodes {
		p.await(t, isUp)
	}
	return j
}

func (j *judge) start(t *testing.T, c config, proxy string) *process {
	t.Helper()
	c.Node, c.Seed = j.next, j.seed
	j.next++
	return start(t, c, proxy)
}

// longestDelay is after how long a command that was sent has been done, if it ever will be: the
// faults hold one up for less than a second.
const longestDelay = 10 * time.Second

// carry returns what belongs to the history of round from rounds before: a Clear or an invalidation
// of unknown outcome removes the keys of all rounds, and may be done later than in its own.
func carry(unsure []cachetest.Op, round int) (ops []cachetest.Op) {
	for _, o := range unsure {
		_, key, _ := strings.Cut(o.Key, ".")
		o.Key = keyOf(round, key)
		ops = append(ops, o)
	}
	return ops
}

// mayBeDone returns those of ops, which end at now, that carry is about.
func mayBeDone(ops []cachetest.Op, now time.Duration) (unsure []cachetest.Op) {
	type one struct {
		node int
		call time.Duration
	}
	removals := map[one][]cachetest.Op{}
	for _, o := range ops {
		if o.Write && o.Value == "" && o.Unsure && now-o.Call < longestDelay {
			w := one{o.Node, o.Call}
			removals[w] = append(removals[w], o)
		}
	}
	for _, all := range removals {
		if len(all) > 1 { // not a Delete
			unsure = append(unsure, all...)
		}
	}
	return unsure
}

// round lets all nodes call the keys of a round, with faults meanwhile, and returns the history.
func (j *judge) round(t *testing.T, round, calls int) (ops []cachetest.Op) {
	t.Helper()
	ops = carry(j.unsure, round)
	for _, p := range j.nodes {
		p.tell(t, order{Calls: calls, Round: round})
	}
	over := func(p *process, wait time.Duration) bool {
		select {
		case r, ok := <-p.told:
			if !ok {
				t.Fatalf("node %d has ended", p.Node)
			}
			if r.What == roundDone && r.Heap > maxHeap {
				t.Fatalf("node %d holds %d bytes", p.Node, r.Heap)
			}
			return r.What == roundDone
		case <-time.After(wait):
			return false
		}
	}
	busy := make([]bool, nodes)
	for i := range busy {
		busy[i] = true
	}
	for end := time.Now().Add(patience); ; {
		left := 0
		for i, p := range j.nodes {
			if busy[i] = busy[i] && !over(p, time.Millisecond); busy[i] {
				left++
			}
		}
		if left == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("round %d is not over within %v", round, patience)
		}
		if i := j.rand.IntN(nodes); j.rand.IntN(12) == 0 && busy[i] {
			ops = append(ops, j.replace(t, i)...)
			j.nodes[i].tell(t, order{Calls: calls / 2, Round: round})
		} else {
			j.fault(t, j.nodes[i])
		}
	}
	for _, p := range j.nodes {
		p.tell(t, order{Settle: true, Round: round})
	}
	for _, p := range j.nodes {
		ops = append(ops, p.await(t, settled).Ops...)
		ops = append(ops, p.take()...)
	}
	j.unsure = mayBeDone(ops, now())
	return ops
}

// maxHeap bounds what a node has in use.
const maxHeap = 32 << 20

// replace kills a node, starts another in its place and returns what the first has told.
func (j *judge) replace(t *testing.T, i int) []cachetest.Op {
	t.Helper()
	old := j.nodes[i]
	old.kill(t)
	j.faults["SIGKILL"]++
	j.nodes[i] = j.start(t, old.config, old.proxy)
	j.nodes[i].await(t, isUp)
	return old.take()
}

// fault makes something go wrong for a while.
func (j *judge) fault(t *testing.T, p *process) {
	t.Helper()
	lasts := time.Duration(10+j.rand.Int64N(200)) * time.Millisecond
	toxic := func(kind string, attributes map[string]int) {
		streams := []string{"upstream", "downstream"}
		for _, s := range streams {
			j.proxy.Add(t, p.proxy, toxitest.Toxic{Name: s, Type: kind, Stream: s, Attributes: attributes})
		}
		<-time.After(lasts)
		for _, s := range streams {
			j.proxy.RemoveToxic(t, p.proxy, s)
		}
		j.faults[kind]++
	}
	kill := func(kind string) {
		inline(t, j.server.Addr, "CLIENT KILL TYPE "+kind)
		j.faults["CLIENT KILL"]++
	}
	switch j.rand.IntN(8) {
	case 0, 1:
		toxic("latency", map[string]int{"latency": 1 + j.rand.IntN(20), "jitter": 1 + j.rand.IntN(10)})
	case 2:
		toxic("timeout", map[string]int{"timeout": 0}) // no data pass, the connections stay open
	case 3:
		toxic("reset_peer", map[string]int{"timeout": 0})
	case 4:
		kill("pubsub")
	case 5:
		kill("normal")
	case 6:
		p.signal(t, syscall.SIGSTOP)
		<-time.After(min(2*lasts, maxStop))
		p.signal(t, syscall.SIGCONT)
		j.faults["SIGSTOP"]++
	case 7:
		j.server.Pause(t)
		<-time.After(lasts / 2)
		j.server.Resume(t)
		j.faults["stopped server"]++
	}
}

// inline sends a command to the server.
func inline(t *testing.T, addr, command string) {
	t.Helper()
	c, err := net.Dial("tcp", addr) //nolint:noctx // loopback
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // nothing to lose
	if _, err := fmt.Fprintf(c, "%s\r\n", command); err != nil {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	_, _ = c.Read(make([]byte, 64)) // the connection may be among those that end
}

// check judges a history.
func (j *judge) check(t *testing.T, ops []cachetest.Op) {
	t.Helper()
	if wrong := cachetest.Violations(ops); len(wrong) > 0 {
		t.Fatalf("seed %d: violations %d, smallest history of each:\n%s", j.seed, len(wrong), strings.Join(wrong, "\n"))
	}
	reads, stale, oldest, wrong := cachetest.Stale(ops)
	if wrong != nil {
		t.Fatalf("seed %d: bound below true staleness: %v", j.seed, wrong)
	}
	j.ops, j.reads, j.stale, j.oldest = j.ops+len(ops), j.reads+reads, j.stale+stale, max(j.oldest, oldest)
}

// TestProcessesOverARealServer: the caches of several processes, each with clients of its own, and
// what can go wrong between them. No read goes back, none is older than its bound, and no write
// that was acknowledged is lost. QUIRE_OPS is the number of calls that are judged, QUIRE_SOAK a
// time for which the judge goes on in any case, QUIRE_SEED what the choice of calls and faults
// follows from.
func TestProcessesOverARealServer(t *testing.T) {
	soak, err := time.ParseDuration(os.Getenv("QUIRE_SOAK"))
	if err != nil && os.Getenv("QUIRE_SOAK") != "" {
		t.Fatal(err)
	}
	want, calls := number(t, "QUIRE_OPS", 9_000), number(t, "QUIRE_CALLS", 250)
	kinds := cachetest.RedisKinds()
	ran, ops, reads, stale, oldest, faults := 0, 0, 0, 0, time.Duration(0), map[string]int{}
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			j := newJudge(t, kind, uint64(number(t, "QUIRE_SEED", 1)), loadsNothing, loadsNothing, loadFails) //nolint:gosec // G115: a name
			ran++
			for round, began := 1, time.Now(); ops+j.ops < want*ran/len(kinds) || time.Since(began) < soak/time.Duration(len(kinds)); round++ {
				j.check(t, j.round(t, round, calls))
			}
			ops, reads, stale, oldest = ops+j.ops, reads+j.reads, stale+j.stale, max(oldest, j.oldest)
			for f, n := range j.faults {
				faults[f] += n
			}
		})
	}
	want = want * ran / len(kinds) // without the servers that are missing
	switch {
	case t.Failed() || ops < want:
		t.Fatalf("judged %d ops", ops)
	case ran == 0:
		t.Skip("missing judge: redis: ./tools/install-judges")
	}
	t.Logf("ops %d violations 0", want)
	t.Logf("bound never below true staleness: %d reads, %d of a value that was replaced, by %v at most", reads, stale, oldest)
	t.Logf("judged %d ops, faults: %v", ops, faults)
}

// TestClearIsDoneInALaterRound: the faults hold up a Clear of unknown outcome until a key of the
// next round has a value. To read nothing then is right.
func TestClearIsDoneInALaterRound(t *testing.T) {
	server, proxy := cachetest.StartRedis(t, "redis62"), toxitest.Start(t)
	open := func(n int, addr string) *cachetest.Client {
		c, end, err := openCache(config{Node: n, Addr: addr, Mode: cache.Invalidate, DialTimeout: patience}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = end() }) // its server may not answer
		return &cachetest.Client{Node: n, Cache: c, Now: now}
	}
	fast, slow := open(0, server.Addr), open(1, proxy.Proxy(t, "p", server.Addr))
	call := func(c *cachetest.Client, what cachetest.Call, round int) []cachetest.Op {
		return c.Do(t.Context(), what, keysOf(round), 0, "v")
	}
	call(fast, cachetest.CallClear, 1) // the server knows the script
	for range 64 {
		call(slow, cachetest.CallVerify, 1) // by each of its connections
	}
	proxy.Add(t, "p", toxitest.Toxic{Name: "late", Type: "latency", Stream: "upstream", Attributes: map[string]int{"latency": 3_600_000}})
	before := call(slow, cachetest.CallClear, 1)
	history := call(fast, cachetest.CallSet, 2)
	proxy.RemoveToxic(t, "p", "late")
	for end := time.Now().Add(patience); ; {
		if read := call(fast, cachetest.CallVerify, 2); len(read) > 0 && read[0].Value == "" {
			history = append(history, read...)
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%v was not done", before)
		}
		<-time.After(time.Millisecond)
	}
	if wrong := cachetest.Violations(history); len(wrong) != 1 || !strings.Contains(wrong[0], "not those of a register") {
		t.Errorf("without the Clear: %q", wrong)
	}
	carried := carry(mayBeDone(before, before[0].Return), 2)
	if deleted := mayBeDone(before[:1], before[0].Return); len(deleted) > 0 {
		t.Errorf("a removal of one key is carried over: %v", deleted)
	}
	if wrong := cachetest.Violations(append(carried, history...)); len(wrong) > 0 || len(carried) != len(keysOf(2)) {
		t.Errorf("%d removals carried over: %q", len(carried), wrong)
	}
	if again := mayBeDone(carried, before[0].Call+longestDelay); len(again) > 0 {
		t.Errorf("carried over for longer than %v: %v", longestDelay, again)
	}
}

// TestProcessesLoadAColdKeyOnce, and once more when the one that loads is killed.
func TestProcessesLoadAColdKeyOnce(t *testing.T) {
	j := newJudge(t, "redis", 1, loadWaits)
	const readers = 1000 / nodes
	for _, p := range j.nodes {
		p.tell(t, order{Readers: readers})
	}
	loads := make(chan int, 100)
	var all sync.WaitGroup
	for i, p := range j.nodes {
		all.Go(func() {
			for r := range p.told {
				switch r.What {
				case loading:
					loads <- i
				case readersDone:
					if r.Wrong != "" || r.Reads != readers {
						t.Errorf("%+v", r)
					}
					return
				}
			}
		})
	}
	next := func() int {
		select {
		case i := <-loads:
			return i
		case <-time.After(patience):
			t.Fatal("nobody loads")
			return 0
		}
	}
	first := next()
	if err := j.nodes[first].cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	second := next()
	if second == first {
		t.Errorf("node %d loads again", first)
	}
	for i, p := range j.nodes {
		if i != first {
			p.tell(t, order{Release: true})
		}
	}
	all.Wait()
	_ = j.nodes[first].cmd.Wait() // it was killed
	j.nodes[first].killed = true
	if len(loads) > 0 {
		t.Errorf("%d loads too many", len(loads))
	}
}
