// Package psrp is the suite of PowerShell remoting: CLIXML, fragments, messages and packets beside
// the kernels of the standard library that do the like, all in the same run. Inputs differ from
// operation to operation, and what comes out is compared.
package psrp

import (
	"context"
	"errors"
	"fmt"

	"example.com/quire/bench/harness"
)

const seed = 15

// variants is how many inputs there are, in turn.
const variants = 64

var errWrong = errors.New("what came out is not what went in")

// Suite returns the rows.
func Suite() harness.Suite {
	return harness.Suite{
		Name:  "psrp",
		Title: "PowerShell remoting",
		About: "Each row is one step of a message's way, or all of it, and its ratio is that to a kernel of the standard library on the same " +
			"data in the same run: json.Marshal and json.Unmarshal, base64, the tokens of encoding/xml. 64 inputs are taken in turn.",
		NotShown: []string{
			"Networks: a round trip to a host costs far more than any of this.",
			"The whole grid of sizes: one axis is varied at a time.",
		},
		Rows: append(append(append(values(), packets()...), paths()...), grid()...),
	}
}

// job is an operation and the judge of what the last one gave.
type job struct {
	do    func(i int) error
	check func(i int) error
	end   func() error
	slow  bool // an operation takes long: fewer are checked
}

// gives judges that an operation gave its variant back.
func gives[T any](got *T, want []T, equal func(a, b T) bool) func(i int) error {
	return func(i int) error {
		if !equal(*got, want[i%variants]) {
			return errWrong
		}
		return nil
	}
}

// maker makes a contestant ready.
type maker func() (job, error)

// times makes one operation of n: what takes a few nanoseconds is not to be measured by itself,
// beside the harness's own steps.
func times(n int, m maker) maker {
	return func() (job, error) {
		one, err := m()
		all := one
		all.do = func(i int) error {
			for k := range n {
				if err := one.do(i*n + k); err != nil {
					return err
				}
			}
			return nil
		}
		all.check = func(i int) error { return one.check(i*n + n - 1) }
		return all, err
	}
}

// row is a row of quire against a kernel. atMost bounds the ratio, allocs the allocations of an
// operation when it is not negative.
func row(name, title, text, kernel string, atMost, allocs float64, own, other maker) harness.Row {
	r := harness.Row{Name: name, Title: title, Workload: harness.Workload{Name: "psrp-" + name, Version: 1, Seed: seed, Text: text}}
	if atMost > 0 {
		r.Goals = append(r.Goals, harness.Goal{Against: kernel, AtMost: atMost})
	}
	if allocs >= 0 {
		r.Goals = append(r.Goals, harness.Goal{Of: harness.Allocs, AtMost: allocs})
	}
	add := func(name string, own bool, m maker) {
		r.Contestants = append(r.Contestants, harness.Contestant{Name: name, Own: own, Open: func(context.Context, harness.Env) (harness.Subject, error) { return subject(m) }})
	}
	add("quire", true, own)
	add(kernel, false, other)
	return r
}

func subject(m maker) (harness.Subject, error) {
	j, err := m()
	if err != nil {
		return nil, err
	}
	checks := 16
	if j.slow {
		checks = 1
	}
	return &harness.Ops[int]{
		Size: 64,
		Fill: func(i int, in *int) error { *in = i; return nil },
		Do:   func(in *int) error { return j.do(*in) },
		Verify: func(i int, _ *int) (harness.Facts, error) {
			if j.check == nil {
				return harness.Facts{}, nil
			}
			return harness.Facts{}, j.check(i)
		},
		Checks: checks,
		End:    j.end,
	}, nil
}

// per makes a job for each variant's data.
func per[T any](data func(k int) (T, error)) ([]T, error) {
	all := make([]T, variants)
	for k := range all {
		var err error
		if all[k], err = data(k); err != nil {
			return nil, fmt.Errorf("variant %d: %w", k, err)
		}
	}
	return all, nil
}
