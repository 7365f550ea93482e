package image

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"example.com/quire/pdf/internal/diag"
)

func TestBudgetServesInOrderAndForgetsWhoLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(10)
		if err := b.take(t.Context(), 8); err != nil {
			t.Fatal(err)
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		late := make(chan error, 1)
		go func() { late <- b.take(short, 5) }()
		synctest.Wait()
		small := make(chan error, 1)
		go func() { small <- b.take(t.Context(), 2) }()
		synctest.Wait()
		select {
		case err := <-small:
			t.Fatalf("a later claim overtakes: %v", err)
		default:
		}
		err := <-late
		if !errors.Is(err, diag.ErrLimit) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after its time: %v", err)
		}
		if err := <-small; err != nil {
			t.Error(err)
		}
		b.give(8)
		b.give(2)
		if b.free != 10 || len(b.queue) != 0 {
			t.Errorf("%d free, %d wait", b.free, len(b.queue))
		}
	})
}
