package cache

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"sync/atomic"
	"time"

	"example.com/quire/cache"
	"example.com/quire/cache/codec"
)

// readerVariable is set in a process that is to be a reader: to its readerSpec.
const readerVariable = "QUIRE_BENCH_CACHE_READER"

// readerSpec says what a reader is.
type readerSpec struct {
	Kind string `json:"kind"` // pages, page-messages, notices or notice-messages
	Addr string `json:"addr"` // of Redis
}

// The kinds of readers: a cache that holds the page and one that holds the thousand keys, and
// beside each a plain subscriber of the same messages.
const (
	pageCache      = "pages"
	pageMessages   = "page-messages"
	noticeCache    = "notices"
	noticeMessages = "notice-messages"
)

// readerOrder and readerReply are the lines between a writer and a reader, one JSON object each.
type readerOrder struct {
	Do string `json:"do"` // value, notices, delays, watch, watched, check
	N  uint64 `json:"n,omitempty"`
}

type readerReply struct {
	Error   string          `json:"error,omitempty"`
	Value   uint64          `json:"value,omitempty"`
	Delays  []time.Duration `json:"delays,omitempty"`
	Samples []sample        `json:"samples,omitempty"`
}

// sample is one read of the page: when it began, the number of the write that it found, and how old
// the cache said that this may be; -1 for a reader that says nothing.
type sample struct {
	At    int64         `json:"at"`
	Value uint64        `json:"value"`
	Bound time.Duration `json:"bound"`
}

// ServeReader makes this process a reader of the rows of propagation, if it was started as that; it
// does not return then. It ends with its standard input.
func ServeReader() {
	spec := os.Getenv(readerVariable)
	if spec == "" {
		return
	}
	signal.Ignore(os.Interrupt) // its parent ends it
	if err := serveReader(context.Background(), spec); err != nil {
		fmt.Fprintln(os.Stderr, "reader:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// patience is how long anything may take that is to arrive.
const patience = 20 * time.Second

var errLate = errors.New("it has not arrived")

// progress is a number that grows, for one goroutine that waits for it.
type progress struct {
	mu      sync.Mutex
	n, want uint64
	there   chan struct{}
}

func newProgress() *progress { return &progress{there: make(chan struct{}, 1)} }

func (p *progress) add(more uint64) {
	p.mu.Lock()
	p.reached(p.n + more)
	p.mu.Unlock()
}

// reach raises the number to n, and says whether it was less.
func (p *progress) reach(n uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n <= p.n {
		return false
	}
	p.reached(n)
	return true
}

func (p *progress) reached(n uint64) {
	if p.n = n; p.want > 0 && n >= p.want {
		p.want = 0
		p.there <- struct{}{}
	}
}

// wait waits until the number is at least n.
func (p *progress) wait(n uint64) error {
	p.mu.Lock()
	if p.n >= n {
		p.mu.Unlock()
		return nil
	}
	p.want = n
	p.mu.Unlock()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-p.there:
		return nil
	case <-late.C:
		p.mu.Lock()
		defer p.mu.Unlock()
		return fmt.Errorf("%w: %d of %d", errLate, p.n, n)
	}
}

// reader is the inside of a reader's process.
type reader struct {
	notices *progress // how many have come
	values  *progress // the latest that was read
	fresh   chan struct{}
	// read returns the page that is held, and how old it may be.
	read  func() ([]byte, time.Duration, error)
	check func() error
	end   func() error

	mu      sync.Mutex
	delays  []time.Duration
	samples []sample
	failed  error

	watching chan struct{} // closed to end the watch
	watch    sync.WaitGroup
}

func serveReader(ctx context.Context, text string) (err error) {
	var spec readerSpec
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		return err
	}
	r := &reader{notices: newProgress(), values: newProgress(), fresh: make(chan struct{}, 1), check: func() error { return nil }}
	open := map[string]func(context.Context, string) error{
		pageCache: r.openPageCache, pageMessages: r.openPageMessages, noticeCache: r.openNoticeCache, noticeMessages: r.openNoticeMessages,
	}[spec.Kind]
	if open == nil {
		return fmt.Errorf("no kind of reader is called %q", spec.Kind)
	}
	if err := open(ctx, spec.Addr); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.end()) }()
	stop := make(chan struct{})
	var following sync.WaitGroup
	if r.read != nil {
		following.Go(func() { r.follow(stop) })
	}
	defer following.Wait()
	defer close(stop)
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(readerReply{}); err != nil { // it is ready
		return err
	}
	for in := json.NewDecoder(os.Stdin); ; {
		var o readerOrder
		if err := in.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		reply, err := r.obey(o)
		if err != nil {
			reply.Error = err.Error()
		}
		if err := out.Encode(reply); err != nil {
			return err
		}
	}
}

func (r *reader) obey(o readerOrder) (reply readerReply, err error) {
	switch o.Do {
	case "value":
		err = r.values.wait(o.N)
		r.values.mu.Lock()
		reply.Value = r.values.n
		r.values.mu.Unlock()
	case "notices":
		err = r.notices.wait(o.N)
	case "delays":
		r.mu.Lock()
		reply.Delays, r.delays = r.delays, nil
		r.mu.Unlock()
	case "watch":
		r.watching = make(chan struct{})
		r.watch.Go(r.sampleAll)
	case "watched":
		close(r.watching)
		r.watch.Wait()
		reply.Samples, r.samples = r.samples, nil
	case "check":
		err = r.check()
	default:
		err = fmt.Errorf("no order is called %q", o.Do)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return reply, errors.Join(err, r.failed)
}

// arrived is called for each notice.
func (r *reader) arrived() {
	r.notices.add(1)
	select {
	case r.fresh <- struct{}{}:
	default: // it will look anyway
	}
}

// follow reads the page after each notice, and notes how long after its write it was there.
func (r *reader) follow(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-r.fresh:
		}
		b, _, err := r.read()
		now := time.Now().UnixNano()
		r.mu.Lock()
		if err != nil {
			r.failed = cmp.Or(r.failed, err)
		}
		r.mu.Unlock()
		if err != nil || len(b) != pageBytes {
			continue
		}
		n, written := pageOf(b)
		r.mu.Lock() // who waits for the value finds its delay
		if r.values.reach(n) {
			r.delays = append(r.delays, time.Duration(now-written))
		}
		r.mu.Unlock()
	}
}

// sampleAll reads the page all the time.
func (r *reader) sampleAll() {
	const every, most = 200 * time.Microsecond, 50_000
	tick := time.NewTicker(every)
	defer tick.Stop()
	for len(r.samples) < most {
		select {
		case <-r.watching:
			return
		case <-tick.C:
		}
		at := time.Now().UnixNano()
		b, bound, err := r.read()
		if err != nil || len(b) != pageBytes {
			continue // follow reports it
		}
		n, _ := pageOf(b)
		r.samples = append(r.samples, sample{At: at, Value: n, Bound: bound})
	}
}

const (
	pageKey   = "posts/1"
	pageBytes = 4 << 10
)

// page is the value of write i: 4 KiB that begin with the number and the time.
func page(i uint64) []byte {
	b := make([]byte, pageBytes)
	binary.BigEndian.PutUint64(b, i)
	binary.BigEndian.PutUint64(b[8:], uint64(time.Now().UnixNano()))
	return b
}

func pageOf(b []byte) (i uint64, written int64) {
	return binary.BigEndian.Uint64(b), int64(binary.BigEndian.Uint64(b[8:])) //nolint:gosec // of page
}

// listening makes a cache that tells r of each write of others.
func (r *reader) listening(ctx context.Context, addr string) (*cache.Cache[string, []byte], error) {
	c, end, err := attach(ctx, addr, cache.Options[string, []byte]{Codec: codec.Raw{}, Observer: func(e cache.Event[string]) {
		if e.Kind == cache.EventRemoteWrite {
			r.arrived()
		}
	}})
	r.end = end
	return c, err
}

func (r *reader) openPageCache(ctx context.Context, addr string) error {
	c, err := r.listening(ctx, addr)
	if err != nil {
		return err
	}
	r.read = func() ([]byte, time.Duration, error) {
		e, err := c.GetEntry(ctx, pageKey, cache.ReadOptions{})
		return e.Value, e.Bound, err
	}
	if _, _, err := r.read(); err != nil {
		return errors.Join(err, r.end())
	}
	return nil
}

func (r *reader) openPageMessages(ctx context.Context, addr string) error {
	var held atomic.Pointer[string]
	stop, err := listen(ctx, addr, pageChannel, func(m string) {
		held.Store(&m)
		r.arrived()
	})
	if err != nil {
		return err
	}
	r.end = func() error { stop(); return nil }
	r.read = func() ([]byte, time.Duration, error) {
		if m := held.Load(); m != nil {
			return []byte(*m), -1, nil
		}
		return nil, -1, nil
	}
	return nil
}

func (r *reader) openNoticeCache(ctx context.Context, addr string) error {
	c, err := r.listening(ctx, addr)
	if err != nil {
		return err
	}
	k := keysOf(thousand)
	for _, key := range k.all {
		if _, err := c.Get(ctx, key); err != nil {
			return errors.Join(err, r.end())
		}
	}
	r.check = func() error {
		for _, key := range k.all {
			if v, ok := c.Peek(key); !ok || string(v) != string(bytes256(key)) {
				return fmt.Errorf("%w: %s", errWrong, key)
			}
		}
		if n := c.Stats().Pushed; n < chunk {
			return fmt.Errorf("%w: %d of %d notices have brought a value", errWrong, n, chunk)
		}
		return nil
	}
	return nil
}

func (r *reader) openNoticeMessages(ctx context.Context, addr string) error {
	var bytes atomic.Uint64
	stop, err := listen(ctx, addr, frameChannel, func(m string) {
		bytes.Add(uint64(len(m)))
		r.arrived()
	})
	if err != nil {
		return err
	}
	r.end = func() error { stop(); return nil }
	r.check = func() error {
		r.notices.mu.Lock()
		defer r.notices.mu.Unlock()
		if n := r.notices.n; n < chunk || bytes.Load() < 256*n {
			return fmt.Errorf("%w: %d notices of %d bytes", errWrong, n, bytes.Load())
		}
		return nil
	}
	return nil
}

// readerProcess is a reader as its writer sees it.
type readerProcess struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder
}

// startReader starts this program again as a reader, and returns when it is ready.
func startReader(ctx context.Context, spec readerSpec) (*readerProcess, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	// The end of its input ends it, not the context.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), exe) //nolint:gosec // the program runs itself
	cmd.Env = append(os.Environ(), readerVariable+"="+string(text))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &readerProcess{cmd: cmd, in: in, out: json.NewDecoder(bufio.NewReader(out))}
	if _, err := p.reply(); err != nil {
		return nil, errors.Join(err, p.end())
	}
	return p, nil
}

func (p *readerProcess) send(o readerOrder) error { return json.NewEncoder(p.in).Encode(o) }

func (p *readerProcess) reply() (r readerReply, err error) {
	if err := p.out.Decode(&r); err != nil {
		return r, fmt.Errorf("a reader: %w", err)
	}
	if r.Error != "" {
		return r, fmt.Errorf("a reader: %s", r.Error)
	}
	return r, nil
}

func (p *readerProcess) end() error {
	err := p.in.Close()
	late := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() }) // it may have ended
	defer late.Stop()
	return errors.Join(err, p.cmd.Wait())
}

// readers are several.
type readers []*readerProcess

func startReaders(ctx context.Context, n int, spec readerSpec) (all readers, err error) {
	for range n {
		p, err := startReader(ctx, spec)
		if err != nil {
			return nil, errors.Join(err, all.end())
		}
		all = append(all, p)
	}
	return all, nil
}

// ask gives all the same order, and returns what each says.
func (all readers) ask(o readerOrder) (said []readerReply, err error) {
	for _, p := range all {
		if err := p.send(o); err != nil {
			return nil, err
		}
	}
	for _, p := range all {
		r, e := p.reply()
		said, err = append(said, r), errors.Join(err, e)
	}
	return said, err
}

func (all readers) end() (err error) {
	for _, p := range all {
		err = errors.Join(err, p.end())
	}
	return err
}
