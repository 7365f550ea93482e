//go:build !race

package pdf_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"example.com/quire/pdf"
	"example.com/quire/pdf/font/liberation"
)

func drawJob(t *rapid.T) job {
	names := []string{"hemnuehm", "muhnemun", "nuhemmeh", "eu\u00FChnen"}
	name := rapid.SampledFrom(names).Draw(t, "name")
	return job{
		Template: rapid.IntRange(0, len(reuseTemplates)-1).Draw(t, "template"),
		Bye:      rapid.SampledFrom([]string{"Bye", "End"}).Draw(t, "bye"),
		Name:     name,
		To:       rapid.SampledFrom(append(slices.Repeat([]string{name}, 6), names...)).Draw(t, "to"),
		Rows:     rapid.SampledFrom([]int{0, 1, 9, 40}).Draw(t, "rows"),
		Fault:    rapid.IntRange(0, numFaults-1).Draw(t, "fault"),
		Where:    rapid.SampledFrom([]int{0, 1, 2, 33, 5_000, 20_000, 33_000, 45_000}).Draw(t, "where"),
		Streamed: rapid.Bool().Draw(t, "streamed"), Claims: rapid.Bool().Draw(t, "claims"),
		Protected: rapid.Bool().Draw(t, "protected"), Signed: rapid.Bool().Draw(t, "signed"),
	}
}

// TestAnEngineMakesWhatANewOneMakes: documents of all kinds, made and given up in any order, are
// those that engines of their own make, to the byte, and so are what was written before an error,
// errors and results, which also stay as they were while others are made.
func TestAnEngineMakesWhatANewOneMakes(t *testing.T) {
	t.Parallel()
	u := newReuse(t)
	own := pdf.Config{Fonts: liberation.New()}
	known := map[job]outcome{}
	rapid.Check(t, func(rt *rapid.T) {
		e := newEngine(t, own)
		var all []outcome
		for range rapid.IntRange(1, 6).Draw(rt, "documents") {
			j := drawJob(rt)
			want, made := known[j]
			if !made {
				want = u.make(t.Context(), newEngine(t, own), j)
				known[j] = want
			}
			got := u.make(t.Context(), e, j)
			if err := got.same(&want); err != nil {
				rt.Fatalf("%+v: %v", j, err)
			}
			all = append(all, got)
		}
		for i := range all {
			if told, is := all[i].still(); told != all[i].Told || is != all[i].Is {
				rt.Fatalf("what was told of document %d changed:\n%s\n%s\nit was\n%s\n%s", i, told, is, all[i].Told, all[i].Is)
			}
		}
	})
}

// TestJobsOfReuseFailAsPlanned: faults that do not happen prove nothing.
func TestJobsOfReuseFailAsPlanned(t *testing.T) {
	u, e := newReuse(t), newEngine(t, pdf.Config{})
	for fault, want := range []string{
		faultNone: "", faultWriter: errFault.Error(), faultShort: io.ErrShortWrite.Error(), faultWriterEnd: "panic: ", faultCancel: context.Canceled.Error(),
		faultRowError: "row of hemnuehm: ", faultRowPanic: "panic: ", faultRowExit: "", faultRowCancel: context.Canceled.Error(), faultRowRender: "",
		faultGlyph: "[F401]", faultType: "[D203]", faultUnknown: "[D205]", faultPages: "limit", faultBytes: "limit", faultRand: errFault.Error(),
		faultSigner: errFault.Error(), faultSignerPanic: "panic: ",
	} {
		o := u.make(t.Context(), e, job{Name: "hemnuehm", Rows: 1200, Fault: fault, Where: 20, Streamed: true, Protected: fault == faultRand, Signed: fault >= faultSigner})
		made := fault == faultNone || fault == faultRowRender
		if (o.res != nil) != made || !strings.Contains(o.Told, want) || (o.Inner != nil && o.Inner.res != nil) != (fault == faultRowRender) {
			t.Errorf("fault %d: %q, result %v", fault, o.Told, o.Is)
		}
	}
	if o := u.make(t.Context(), e, job{Template: 1, Name: "hemnuehm", Rows: 9}); o.res == nil {
		t.Error(o.Told)
	}
}
