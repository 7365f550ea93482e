// Package collect gets the data of configured sources: inline data, and JSON over HTTP with
// package fetch.
//
// A failed source is recorded as data: an outcome with a reason, next to the data of the others.
// The reason is a short phrase from a fixed set, because it is frozen into the snapshot and shown
// to readers of the document. It contains no resolved address and no text from a server. The
// details go to the log.
//
// Requests name a source and give typed parameters. The configuration alone decides where a
// request goes. The address that its host resolves to is checked again when the connection is
// made.
package collect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"example.com/quire/internal/nearest"
	"example.com/quire/internal/record"
	"example.com/quire/internal/strictjson"
)

// Source is a configured source.
type Source struct {
	Space      record.Space
	Name       string
	Kind       Kind
	Parameters []Parameter
	Required   bool // without its data nothing is made
}

// Kind is a way to get data, with its configuration: [Inline], [HTTP].
type Kind interface {
	// Name is what receipts call the kind.
	Name() string
	// Open checks the configuration and gives what calls the source.
	Open(parameters []Parameter) (Origin, error)
}

// Origin is what a source of some kind calls. It is safe for concurrent use.
type Origin interface {
	// Prepare makes a call with the texts of all declared parameters. Nothing is asked yet: the
	// error, a *record.RequestError below field, says that the call is wrong.
	Prepare(field string, values map[string]string) (Call, error)
	Close(ctx context.Context) error
}

// Call requests the data, one JSON value, once. The log has every attempt, also after a failure.
// reason is then a phrase of a fixed set, because it is frozen and shown: it contains no resolved
// address and no text from a server. err has the details.
type Call func(ctx context.Context) (data []byte, log []record.AttemptRecord, reason string, err error)

// Inline is a kind: one JSON value that is configured itself.
type Inline []byte

// Name implements Kind.
func (Inline) Name() string { return "inline" }

// Open implements Kind.
func (i Inline) Open(parameters []Parameter) (Origin, error) {
	if len(parameters) > 0 {
		return nil, errors.New("inline data takes no parameters")
	}
	b, _, err := strictjson.Canonical(i, strictjson.Limits{Bytes: record.DataBytes, Depth: record.DataDepth, Nodes: record.DataNodes})
	return Inline(b), err
}

// Prepare implements Origin.
func (i Inline) Prepare(string, map[string]string) (Call, error) {
	return func(context.Context) ([]byte, []record.AttemptRecord, string, error) {
		return i, []record.AttemptRecord{{Number: 1}}, "", nil
	}, nil
}

// Close implements Origin.
func (Inline) Close(context.Context) error { return nil }

// Config configures a Collector.
type Config struct {
	Sources []Source
	// Parallel is how many sources are called at the same time for one document: 0 = 8.
	Parallel int
	// PerSpace is the number of documents of one space that collect concurrently, and four times as
	// many wait: 0 = 64. PerSource is the number of concurrent calls of one source: 0 = 16. A slow
	// source therefore delays only those who use it.
	PerSpace, PerSource int
	// Log gets a warning with the cause for each source that failed; nil = none.
	Log *slog.Logger
}

// Collector calls sources. It is safe for concurrent use. It fills
// record.Collector.
type Collector struct {
	spaces   map[record.Space]*space
	parallel int
	log      *slog.Logger
}

// space is the sources of a space.
type space struct {
	sources map[string]*source
	running chan struct{} // documents that are collected for
	queue   chan struct{} // those and the ones that wait
}

// source is a configured source that is ready.
type source struct {
	Source
	origin  Origin
	running chan struct{} // calls
}

// New returns a Collector over the sources. Its error joins everything that is
// wrong with them.
func New(c Config) (*Collector, error) {
	c.Parallel = cmp.Or(c.Parallel, 8)
	c.PerSpace = cmp.Or(c.PerSpace, 64)
	c.PerSource = cmp.Or(c.PerSource, 16)
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if min(c.Parallel, c.PerSpace, c.PerSource) < 0 {
		return nil, fmt.Errorf("collect: parallel %d, per space %d, per source %d: want at least 1", c.Parallel, c.PerSpace, c.PerSource)
	}
	col := &Collector{spaces: make(map[record.Space]*space), parallel: c.Parallel, log: c.Log}
	var errs []error
	for _, s := range c.Sources {
		of := col.spaces[s.Space]
		if of == nil {
			of = &space{
				sources: make(map[string]*source),
				running: make(chan struct{}, c.PerSpace), queue: make(chan struct{}, 5*c.PerSpace),
			}
			col.spaces[s.Space] = of
		}
		ready, err := newSource(s, c)
		if err == nil && of.sources[s.Name] != nil {
			err = errors.Join(errors.New("there are two of this name"), ready.origin.Close(context.Background()))
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("source %s: %w", s.Name, err))
			continue
		}
		of.sources[s.Name] = ready
	}
	if err := errors.Join(errs...); err != nil {
		return nil, errors.Join(err, col.Close(context.Background()))
	}
	return col, nil
}

func newSource(s Source, c Config) (*source, error) {
	if err := record.CheckName("space", string(s.Space)); err != nil {
		return nil, err
	}
	if err := record.CheckName("name", s.Name); err != nil {
		return nil, err
	}
	if err := checkParameters(s.Parameters); err != nil {
		return nil, err
	}
	if s.Kind == nil {
		return nil, errors.New("it has no kind")
	}
	origin, err := s.Kind.Open(s.Parameters)
	if err != nil {
		return nil, err
	}
	return &source{Source: s, origin: origin, running: make(chan struct{}, c.PerSource)}, nil
}

// Close ends the connections of the sources.
func (c *Collector) Close(ctx context.Context) error {
	var errs []error
	for _, of := range c.spaces {
		for _, s := range of.sources {
			errs = append(errs, s.origin.Close(ctx))
		}
	}
	return errors.Join(errs...)
}

// Collect implements record.Collector. More documents of the space than may wait are
// record.ErrOverload.
func (c *Collector) Collect(ctx context.Context, name record.Space, calls []record.SourceCall) ([]record.Collected, error) {
	if len(calls) == 0 {
		return nil, nil
	}
	of := c.spaces[name]
	// Everything that is wrong with the calls is said before any is made.
	ready := make([]func(context.Context) record.Collected, len(calls))
	for i, call := range calls {
		var err error
		if ready[i], err = c.prepare(of, call); err != nil {
			return nil, err
		}
	}
	select {
	case of.queue <- struct{}{}:
		defer func() { <-of.queue }()
	default:
		return nil, fmt.Errorf("collect for space %s: %w", name, record.ErrOverload)
	}
	if !enter(ctx, of.running) {
		return nil, fmt.Errorf("collect: %w", ctx.Err())
	}
	defer func() { <-of.running }()
	out := make([]record.Collected, len(calls))
	slots := make(chan struct{}, c.parallel)
	var wg sync.WaitGroup
	for i := range calls {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			out[i] = ready[i](ctx)
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("collect: %w", err)
	}
	return out, nil
}

// enter takes a slot, unless ctx ends first.
func enter(ctx context.Context, slots chan struct{}) bool {
	select {
	case slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// prepare checks a call and returns what makes it. of is nil for a space without sources.
func (c *Collector) prepare(of *space, call record.SourceCall) (func(context.Context) record.Collected, error) {
	var known map[string]*source
	if of != nil {
		known = of.sources
	}
	s := known[call.Source]
	if s == nil {
		return nil, &record.RequestError{
			Field: "sources." + call.Key + ".source", Got: fmt.Sprintf("%q", call.Source), Want: "a configured source",
			Nearest: nearest.Name(call.Source, slices.Sorted(maps.Keys(known))),
		}
	}
	field := "sources." + call.Key + ".parameters"
	values, err := s.resolve(field, call.Parameters)
	if err != nil {
		return nil, err
	}
	ask, err := s.origin.Prepare(field, values)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) record.Collected {
		got := record.Collected{Required: s.Required, SourceRecord: record.SourceRecord{Key: call.Key, Source: s.Name, Kind: s.Kind.Name(), Parameters: call.Parameters}}
		if !enter(ctx, s.running) {
			return got // Collect tells that ctx has ended
		}
		defer func() { <-s.running }()
		start := time.Now()
		data, attempts, reason, err := ask(ctx)
		got.Micros, got.Attempts = time.Since(start).Microseconds(), attempts
		if err != nil {
			got.Outcome, got.Reason = record.Failed, reason
			c.log.WarnContext(ctx, "source failed", "source", s.Name, "key", call.Key, "reason", reason, "attempts", len(attempts), "err", err)
			return got
		}
		got.Outcome, got.Data = record.OK, data
		return got
	}, nil
}
