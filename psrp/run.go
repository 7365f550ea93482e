package psrp

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

// Result is what a pipeline gave.
type Result struct {
	Output  []clixml.Value
	Errors  []*ErrorRecord
	Records []Record // of all streams, in the order they arrived
}

// Run runs a pipeline to its end, with the values of input piped in, and collects what it gives.
// Records of the error stream do not make it fail: they are in the Result. A pipeline that fails or
// is stopped gives the Result so far and a *PipelineError.
func (s *Session) Run(ctx context.Context, p Pipeline, input ...any) (*Result, error) {
	r, err := s.startWith(ctx, p, input)
	if err != nil {
		return nil, err
	}
	res := &Result{}
	size := 0
	for rec, err := range r.sized() {
		if err != nil {
			return res, err
		}
		if size += rec.size; size > s.limits.Result {
			s.mu.Lock()
			r.overLimit(ErrResultTooLarge)
			s.dispatch()
			s.mu.Unlock()
			continue
		}
		res.Records = append(res.Records, rec.record)
		switch rec.record.Kind {
		case proto.RecordOutput:
			res.Output = append(res.Output, rec.record.Output)
		case proto.RecordError:
			res.Errors = append(res.Errors, rec.record.Error)
		}
	}
	return res, nil
}

// startWith starts a pipeline and sends its input beside it.
func (s *Session) startWith(ctx context.Context, p Pipeline, input []any) (*Running, error) {
	p.Input = p.Input || len(input) > 0
	values := make([]clixml.Value, len(input))
	for i, v := range input {
		var err error
		if values[i], err = clixml.Marshal(v); err != nil {
			return nil, fmt.Errorf("psrp: input %d: %w", i, err)
		}
	}
	r, err := s.Start(ctx, p)
	if err != nil || !p.Input {
		return r, err
	}
	go func() {
		for _, v := range values {
			if r.Send(ctx, v) != nil {
				return // the pipeline has ended, or its context: Records says why
			}
		}
		_ = r.CloseInput()
	}()
	return r, nil
}

// sized is Records with the size of each.
func (r *Running) sized() iter.Seq2[queuedRecord, error] {
	return func(yield func(queuedRecord, error) bool) {
		for rec, err := range r.Records() {
			q := queuedRecord{record: rec, size: recordOverhead}
			if rec.Kind == proto.RecordOutput {
				q.size += sizeOf(rec.Output)
			}
			if !yield(q, err) {
				return
			}
		}
	}
}

// sizeOf is about what a value takes: its text and its properties.
func sizeOf(v clixml.Value) int {
	if s, ok := v.Base().Text(); ok {
		return len(s)
	}
	if b, ok := v.Base().Bytes(); ok {
		return len(b)
	}
	n := 0
	if o, ok := v.Object(); ok {
		for _, p := range o.Adapted {
			n += 48 + sizeOfLeaf(p.Value)
		}
		for _, p := range o.Extended {
			n += 48 + sizeOfLeaf(p.Value)
		}
	}
	if l, ok := v.List(); ok {
		for _, item := range l.Items {
			n += 48 + sizeOfLeaf(item)
		}
	}
	return n
}

func sizeOfLeaf(v clixml.Value) int {
	if s, ok := v.Base().Text(); ok {
		return len(s)
	}
	b, _ := v.Base().Bytes()
	return len(b)
}

// Invoke runs a pipeline and yields its output as values of T, by [clixml.Unmarshal]. It starts
// with the loop. Records of other streams go to Options.OnRecord, or to the Logger when that is
// nil. If error records came, the last pair is a *PipelineError with the state Completed that holds
// the first. An output that is no T ends the pipeline.
func Invoke[T any](ctx context.Context, s *Session, p Pipeline, input ...any) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		r, err := s.startWith(ctx, p, input)
		if err != nil {
			yield(none, err)
			return
		}
		outputOf[T](ctx, s, r)(yield)
	}
}

// outputOf is what Invoke yields of a pipeline that runs.
func outputOf[T any](ctx context.Context, s *Session, r *Running) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		var first *ErrorRecord
		for rec, err := range r.Records() {
			if err != nil {
				yield(none, err)
				return
			}
			if rec.Kind == proto.RecordOutput {
				var t T
				if err := clixml.Unmarshal(rec.Output, &t); err != nil {
					yield(none, err)
					return
				}
				if !yield(t, nil) {
					return
				}
				continue
			}
			if rec.Kind == proto.RecordError && first == nil {
				first = rec.Error
			}
			s.side(ctx, rec)
		}
		if first != nil {
			yield(none, &PipelineError{State: proto.PipelineCompleted, Record: first})
		}
	}
}

// side takes the records that Invoke does not return.
func (s *Session) side(ctx context.Context, r Record) {
	if s.options.OnRecord != nil {
		s.options.OnRecord(r)
		return
	}
	s.log.LogAttrs(ctx, slog.LevelDebug, "psrp: record", slog.String("stream", r.Kind.String()))
}

// request makes a request of the pool and waits for its answer.
func (s *Session) request(ctx context.Context, ask func() (int64, error)) (*proto.RunspaceAvailability, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil, s.endedError()
	}
	ci, err := ask()
	if err != nil {
		return nil, err
	}
	s.wake()
	err = s.wait(ctx, func() bool { return s.answers[ci] != nil || s.ended })
	a := s.answers[ci]
	delete(s.answers, ci)
	switch {
	case a != nil:
		return a, nil
	case err != nil:
		return nil, err
	}
	return nil, s.endedError()
}

var errRefused = errors.New("the server refused")

// SetRunspaces changes the size of the pool: the maximum first when it grows.
func (s *Session) SetRunspaces(ctx context.Context, minimum, maximum int) error {
	if minimum < 1 || maximum < minimum || maximum > 1<<20 {
		return &LocalProtocolError{Op: "SetRunspaces", State: fmt.Sprintf("%d to %d runspaces make no pool", minimum, maximum)}
	}
	set := func(name string, n int, ask func(n int32) (int64, error)) error {
		a, err := s.request(ctx, func() (int64, error) { return ask(int32(n)) }) //nolint:gosec // G115: bounded above
		if err == nil && !a.Accepted {
			err = errRefused
		}
		if err != nil {
			return fmt.Errorf("psrp: set %s of runspaces to %d: %w", name, n, err)
		}
		return nil
	}
	setMax := func() error { return set("maximum", maximum, s.machine.SetMax) }
	setMin := func() error { return set("minimum", minimum, s.machine.SetMin) }
	if maximum < s.maxRunspaces() {
		return errors.Join(setMin(), setMax())
	}
	return errors.Join(setMax(), setMin())
}

func (s *Session) maxRunspaces() int { return max(s.options.MaxRunspaces, s.options.MinRunspaces, 1) }

// Available returns how many runspaces are free. A server may answer only when one is.
func (s *Session) Available(ctx context.Context) (int, error) {
	a, err := s.request(ctx, s.machine.Available)
	if err != nil {
		return 0, fmt.Errorf("psrp: ask for available runspaces: %w", err)
	}
	return int(a.Count), nil
}

// Ping asks the server for an answer.
func (s *Session) Ping(ctx context.Context) error {
	_, err := s.Available(ctx)
	return err
}

// Reset gives a pool of one runspace a fresh one (protocol 2.3).
func (s *Session) Reset(ctx context.Context) error {
	a, err := s.request(ctx, s.machine.Reset)
	if err == nil && !a.Accepted {
		err = errRefused
	}
	if err != nil {
		return fmt.Errorf("psrp: reset runspace: %w", err)
	}
	return nil
}
