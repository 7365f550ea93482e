package harness

import (
	"compress/flate"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// The control kernel is a fixed piece of standard-library work that runs in
// every round of every row. It says nothing about the contestants; it is the
// scale by which runs of different days are compared.

const (
	controlRow  = "kernel"
	controlName = "standard library"
)

// controlSuite is not part of any selection; workers know it all the same.
func controlSuite() Suite {
	return Suite{
		Name: "control", Title: "Control kernel",
		About:    "SHA-256, deflate and a map of the standard library over fixed text.",
		NotShown: []string{"Anything about the contestants."},
		Rows: []Row{{
			Name: controlRow, Title: "control kernel",
			Workload: Workload{Name: "control", Version: 1, Seed: 1, Text: "SHA-256 and deflate of 4 KiB of text, and 64 map entries."},
			Contestants: []Contestant{{
				Name: controlName,
				Open: func(context.Context, Env) (Subject, error) { return newControl() },
			}},
		}},
	}
}

type controlInput struct {
	text []byte
	sum  [sha256.Size]byte
	keys int
}

func newControl() (*Ops[controlInput], error) {
	z, err := flate.NewWriter(io.Discard, flate.BestSpeed)
	if err != nil {
		return nil, fmt.Errorf("control kernel: %w", err)
	}
	return &Ops[controlInput]{
		Size: 64,
		Fill: func(i int, in *controlInput) error {
			in.text = in.text[:0]
			for k := 0; len(in.text) < 4<<10; k++ {
				in.text = strconv.AppendInt(append(in.text, "line "...), int64((i+k)*7919%10007), 10)
				in.text = append(in.text, " of the control text\n"...)
			}
			return nil
		},
		Do: func(in *controlInput) error {
			in.sum = sha256.Sum256(in.text)
			m := make(map[string]int, 16)
			for k := range 64 {
				m[string(in.text[k*32:k*32+24])]++
			}
			in.keys = len(m)
			z.Reset(io.Discard)
			if _, err := z.Write(in.text); err != nil {
				return fmt.Errorf("deflate: %w", err)
			}
			return z.Close()
		},
		Verify: func(_ int, in *controlInput) (Facts, error) {
			if in.sum != sha256.Sum256(in.text) || in.keys == 0 {
				return Facts{}, errors.New("wrong sum")
			}
			return Facts{}, nil
		},
	}, nil
}
