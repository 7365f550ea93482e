// Package collect gets the data of configured sources: inline data, and JSON
// over HTTP through package fetch.
//
// A source that fails is data: an outcome with a reason, next to what the others
// gave. Its reason is a short phrase of a fixed set, because it is frozen into
// the snapshot and shown to whoever reads the document: it names no address that
// was resolved and no text that a server sent. The details go to the log.
//
// Requests name a source and bring typed parameters. Where a request goes is
// decided by the configuration alone, and the address that its host resolves to
// is judged again when the connection is made.
package collect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/quire/internal/nearest"
	"example.com/quire/internal/record"
	"example.com/quire/internal/strictjson"
)

// Source is a configured source.
type Source struct {
	Space record.Space
	record.Source
	// Inline is the data of a source of kind inline: one JSON value.
	Inline []byte
	// HTTP configures a source of kind http.
	HTTP *HTTP
}

// The kinds.
const (
	KindInline = "inline"
	KindHTTP   = "http"
)

// Config configures a Collector.
type Config struct {
	Sources []Source
	// Parallel is how many sources are called at the same time for one document:
	// 0 = 8.
	Parallel int
	// UserAgent for the requests: "" = "Quire".
	UserAgent string
	// Log gets a warning with the cause for each source that failed; nil = none.
	Log *slog.Logger
}

// Collector calls sources. It is safe for concurrent use. It fills
// record.Collector.
type Collector struct {
	sources  map[record.Space]map[string]*source
	parallel int
	log      *slog.Logger
}

// source is a configured source that is ready.
type source struct {
	record.Source
	inline []byte
	http   *httpSource
}

// New returns a Collector over the sources. Its error joins everything that is
// wrong with them.
func New(c Config) (*Collector, error) {
	if c.Parallel == 0 {
		c.Parallel = 8
	}
	if c.UserAgent == "" {
		c.UserAgent = "Quire"
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	col := &Collector{sources: make(map[record.Space]map[string]*source), parallel: c.Parallel, log: c.Log}
	var errs []error
	if c.Parallel < 0 {
		errs = append(errs, fmt.Errorf("collect: parallel %d: want at least 1", c.Parallel))
	}
	for _, s := range c.Sources {
		ready, err := newSource(s, c)
		if err == nil && col.sources[s.Space][s.Name] != nil {
			err = errors.New("there are two of this name")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("source %s: %w", s.Name, err))
			continue
		}
		if col.sources[s.Space] == nil {
			col.sources[s.Space] = make(map[string]*source)
		}
		col.sources[s.Space][s.Name] = ready
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
	ready := &source{Source: s.Source}
	switch s.Kind {
	case KindInline:
		if s.HTTP != nil || len(s.Parameters) > 0 {
			return nil, errors.New("inline data takes no parameters and no address")
		}
		b, _, err := strictjson.Canonical(s.Inline, strictjson.Limits{Bytes: record.DataBytes, Depth: record.DataDepth, Nodes: record.DataNodes})
		if err != nil {
			return nil, err
		}
		ready.inline = b
	case KindHTTP:
		if s.HTTP == nil || s.Inline != nil {
			return nil, errors.New("kind http: want an address and no inline data")
		}
		h, err := newHTTP(s, c)
		if err != nil {
			return nil, err
		}
		ready.http = h
	default:
		return nil, fmt.Errorf("kind %q: want %s or %s", s.Kind, KindInline, KindHTTP)
	}
	return ready, nil
}

func checkParameters(params []record.Parameter) error {
	seen := make(map[string]bool)
	for _, p := range params {
		if err := record.CheckKey("parameter", p.Name); err != nil {
			return err
		}
		if seen[p.Name] {
			return fmt.Errorf("parameter %s: there are two of this name", p.Name)
		}
		seen[p.Name] = true
		switch p.Type {
		case record.String, record.Integer, record.Boolean, record.Date:
		case record.Enum:
			if len(p.Values) == 0 {
				return fmt.Errorf("parameter %s: an enum without values", p.Name)
			}
		default:
			return fmt.Errorf("parameter %s: type %q: want string, integer, boolean, date or enum", p.Name, p.Type)
		}
	}
	return nil
}

// Close ends the connections of the sources.
func (c *Collector) Close(ctx context.Context) error {
	var errs []error
	for _, sources := range c.sources {
		for _, s := range sources {
			if s.http != nil {
				errs = append(errs, s.http.client.Close(ctx))
			}
		}
	}
	return errors.Join(errs...)
}

// Sources returns what requests may know of the space's sources, by name.
func (c *Collector) Sources(space record.Space) []record.Source {
	var out []record.Source
	for _, s := range c.sources[space] {
		out = append(out, s.Source)
	}
	slices.SortFunc(out, func(a, b record.Source) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Collect implements record.Collector.
func (c *Collector) Collect(ctx context.Context, space record.Space, calls []record.SourceCall) ([]record.Collected, error) {
	// Everything that is wrong with the calls is said before any is made.
	ready := make([]func(context.Context) record.Collected, len(calls))
	for i, call := range calls {
		var err error
		if ready[i], err = c.prepare(space, call); err != nil {
			return nil, err
		}
	}
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

// prepare checks a call and returns what makes it.
func (c *Collector) prepare(space record.Space, call record.SourceCall) (func(context.Context) record.Collected, error) {
	s := c.sources[space][call.Source]
	if s == nil {
		names := make([]string, 0, len(c.sources[space]))
		for _, known := range c.Sources(space) {
			names = append(names, known.Name)
		}
		return nil, &record.RequestError{
			Field: "sources." + call.Key + ".source", Got: fmt.Sprintf("%q", call.Source), Want: "a configured source",
			Nearest: nearest.Name(call.Source, names),
		}
	}
	field := "sources." + call.Key + ".parameters"
	values, err := s.Resolve(field, call.Parameters)
	if err != nil {
		return nil, err
	}
	got := record.Collected{Key: call.Key, Source: s.Name, Kind: s.Kind, Parameters: call.Parameters, Required: s.Required}
	if s.http == nil {
		got.Outcome, got.Data, got.Attempts = record.OK, s.inline, []record.Attempt{{Number: 1}}
		return func(context.Context) record.Collected { return got }, nil
	}
	target, err := s.http.address.expand(field, values)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) record.Collected {
		start := time.Now()
		data, attempts, err := s.http.get(ctx, target)
		got.Took, got.Attempts = time.Since(start), attempts
		if err != nil {
			got.Outcome, got.Reason = record.Failed, s.http.reason(err, attempts)
			c.log.WarnContext(ctx, "source failed", "source", s.Name, "key", call.Key, "reason", got.Reason, "attempts", len(attempts), "err", err)
			return got
		}
		got.Outcome, got.Data = record.OK, data
		return got
	}, nil
}
