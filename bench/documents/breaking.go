package documents

import (
	"context"
	"fmt"
	"math/rand/v2"

	"example.com/quire/bench/harness"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
)

// texts are paragraphs that are set, or words that are shaped, and how many lines or glyphs came of
// them.
type texts struct {
	in   []string
	made int
}

// breaking are the rows of what happens between words and lines.
func breaking() []harness.Row {
	const greedy, cached, slow = "each line as long as it can be", "from the cache", "shaped by OpenType tables"
	const column = 240 * doc.Pt
	prosa := func(rng *rand.Rand) string { return prose(rng, 120) + "." }
	word := func(rng *rand.Rand) string { return words[rng.IntN(len(words))] }
	return []harness.Row{
		{
			Name: "total-fit", Title: "justified paragraphs by total fit",
			Workload: harness.Workload{Name: "justified-paragraphs", Version: 1, Seed: seed, Text: "Eight paragraphs of 120 English words, hyphenated, in a column of 240 points; new in every operation."},
			Contestants: []harness.Contestant{
				{Name: "total fit", Own: true, Open: setting(false, 8, prosa, 8*8, func(s *pdftest.Setting, in []string) (int, error) { return s.Justify(in, column, true) })},
				{Name: greedy, Own: true, Open: setting(false, 8, prosa, 8*8, func(s *pdftest.Setting, in []string) (int, error) { return s.Justify(in, column, false) })},
			},
			Goals: []harness.Goal{{Against: greedy, AtMost: 3}},
		},
		{
			Name: "words", Title: "Latin words from the cache",
			Workload: harness.Workload{Name: "latin-words", Version: 2, Seed: seed, Text: "A hundred English words, from a text to its glyphs each."},
			Contestants: []harness.Contestant{
				{Name: cached, Own: true, Open: setting(false, 100, word, 100, func(s *pdftest.Setting, in []string) (int, error) { return s.Shape(in) })},
				{Name: slow, Own: true, Note: "the port of HarfBuzz in go-text, without a cache", Open: setting(true, 100, word, 100, func(s *pdftest.Setting, in []string) (int, error) { return s.Shape(in) })},
			},
			Goals: []harness.Goal{{Against: slow, AtMost: 1.0 / 50}, {Of: harness.Allocs, AtMost: 0.5}},
		},
	}
}

// setting sets so many texts in each operation and wants so many lines or glyphs at least.
func setting(slow bool, n int, text func(*rand.Rand) string, least int, set func(*pdftest.Setting, []string) (int, error)) func(context.Context, harness.Env) (harness.Subject, error) {
	return func(context.Context, harness.Env) (harness.Subject, error) {
		s, err := pdftest.NewSetting(slow)
		if err != nil {
			return nil, err
		}
		judge := func(in *texts) error {
			if in.made < least || in.made > 30*n {
				return fmt.Errorf("%d texts have %d lines or glyphs", n, in.made)
			}
			return nil
		}
		return &harness.Ops[texts]{
			Size: 64,
			Fill: func(i int, in *texts) error {
				rng := rand.New(rand.NewPCG(seed, uint64(i))) //nolint:gosec // a fixed stream of inputs
				in.in = in.in[:0]
				for range n {
					in.in = append(in.in, text(rng))
				}
				return nil
			},
			Do: func(in *texts) (err error) {
				in.made, err = set(s, in.in)
				return err
			},
			Verify: func(_ int, in *texts) (harness.Facts, error) { return harness.Facts{}, judge(in) },
			Cheap:  func(_ int, in *texts) error { return judge(in) },
		}, nil
	}
}
