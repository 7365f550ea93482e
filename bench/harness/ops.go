package harness

import (
	"context"
	"fmt"
)

// Ops makes a Subject of a few functions: the usual way to write a contestant.
// In holds an operation's input and whatever the check needs of its output.
type Ops[In any] struct {
	Size int // see Subject.Chunk
	// Fill makes input i in place; the same i gives the same input.
	Fill func(i int, in *In) error
	// Do is the timed operation.
	Do func(in *In) error
	// Verify judges the result of operation i in full; Check calls it on the
	// first Checks inputs.
	Verify func(i int, in *In) (Facts, error)
	Checks int
	// Cheap, when set, judges every timed operation afterwards, outside the
	// timer.
	Cheap func(i int, in *In) error
	// End, when set, frees what the contestant holds.
	End func() error

	ins   []In
	first int
}

var _ Subject = (*Ops[int])(nil)

// Check runs Verify on the first inputs.
func (o *Ops[In]) Check(context.Context) (Facts, error) {
	var facts Facts
	for i := range max(1, o.Checks) {
		if err := o.Prepare(i, 1); err != nil {
			return Facts{}, err
		}
		if err := o.Run(); err != nil {
			return Facts{}, fmt.Errorf("operation %d: %w", i, err)
		}
		f, err := o.Verify(i, &o.ins[0])
		if err != nil {
			return Facts{}, fmt.Errorf("output of operation %d: %w", i, err)
		}
		if i == 0 {
			facts = f
		}
	}
	return facts, nil
}

// Chunk returns Size, or 1.
func (o *Ops[In]) Chunk() int { return max(1, o.Size) }

// Prepare fills the inputs; it reuses the memory of the last ones.
func (o *Ops[In]) Prepare(first, n int) error {
	if cap(o.ins) < n {
		o.ins = make([]In, n, max(n, o.Chunk()))
	}
	o.ins, o.first = o.ins[:n], first
	for k := range o.ins {
		if err := o.Fill(first+k, &o.ins[k]); err != nil {
			return fmt.Errorf("input %d: %w", first+k, err)
		}
	}
	return nil
}

// Run does every prepared operation once.
func (o *Ops[In]) Run() error {
	for k := range o.ins {
		if err := o.Do(&o.ins[k]); err != nil {
			return fmt.Errorf("input %d: %w", o.first+k, err)
		}
	}
	return nil
}

// Glance runs Cheap on what Run left.
func (o *Ops[In]) Glance() error {
	if o.Cheap == nil {
		return nil
	}
	for k := range o.ins {
		if err := o.Cheap(o.first+k, &o.ins[k]); err != nil {
			return fmt.Errorf("output of operation %d: %w", o.first+k, err)
		}
	}
	return nil
}

// Close runs End.
func (o *Ops[In]) Close() error {
	if o.End == nil {
		return nil
	}
	return o.End()
}
