// Package documents is the suite of documents of single shapes: a greeting, a table, a hundred
// pages, images beside paragraphs, and documents so long that memory and linear time count; and
// what breaking lines costs by itself.
package documents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os/exec"
	"strings"
	"sync"

	"example.com/quire/bench/harness"
)

const seed = 51

var pdftotext = harness.Tool{Name: "pdftotext", Install: "apt-get install poppler-utils", Version: []string{"-v"}}

// Suite returns the rows.
func Suite() harness.Suite {
	return harness.Suite{
		Name:  "documents",
		Title: "Documents of one shape each",
		About: "Small documents are made of Go values by each library's own builder, without tags and claims, each of texts of its own; " +
			"pdftotext must find every word, on as many pages as there should be. fpdf and maroto use core fonts, which are not embedded; " +
			"quire and gopdf embed Liberation Sans, quire as a subset. Long documents are made once, in a process of their own. " +
			"Line breaking is measured from cached words to placed lines, without a document around it.",
		NotShown: []string{
			"Typography: quire kerns, has ligatures and breaks lines where UAX #14 allows; the peers set words left to right.",
			"What templates cost: no contestant has one here.",
			"How evenly justified lines come out.",
		},
		Rows: append(append(small(), long()...), breaking()...),
	}
}

// block is a part of a small document; one field is set.
type block struct {
	heading string
	text    string
	table   [][]string // the first row is the head
	image   []byte     // a PNG of 3 to 2
	page    bool       // a new page begins
}

// shape is a small document.
type shape struct {
	name, title, text string
	pages             int
	blocks            func(rng *rand.Rand, i int) []block
}

var words = strings.Fields("the account of every settlement is kept in order so that who reads it later may see what was agreed when it was " +
	"paid and by whom a copy goes to each party and one remains with the clerk until the term has ended")

func prose(rng *rand.Rand, n int) string {
	var b strings.Builder
	for k := range n {
		if k > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(words[rng.IntN(len(words))])
	}
	return b.String()
}

// picture is an opaque photograph of sorts.
var picture = sync.OnceValues(func() ([]byte, error) {
	img := image.NewNRGBA(image.Rect(0, 0, 300, 200))
	for y := range 200 {
		for x := range 300 {
			img.Set(x, y, color.NRGBA{R: uint8(x * 255 / 300), G: uint8(y * 255 / 200), B: uint8((x*x + y*y) >> 9 & 0xFF), A: 255})
		}
	}
	var b bytes.Buffer
	err := png.Encode(&b, img)
	return b.Bytes(), err
})

func shapes() []shape {
	return []shape{
		{"hello", "a greeting", "One page with a heading and a sentence.", 1, func(rng *rand.Rand, i int) []block {
			return []block{{heading: fmt.Sprintf("Hello %d", i)}, {text: prose(rng, 8)}}
		}},
		{"table", "a small table", "One page with a table of ten rows in four columns.", 1, func(rng *rand.Rand, i int) []block {
			rows := [][]string{{"Item", "Number", "Price", "Amount"}}
			for k := range 10 {
				rows = append(rows, []string{prose(rng, 2), fmt.Sprint(i, "-", k), fmt.Sprintf("%d.%02d", rng.IntN(1000), rng.IntN(100)), fmt.Sprint(rng.IntN(1_000_000))})
			}
			return []block{{heading: fmt.Sprintf("Table %d", i)}, {table: rows}}
		}},
		{"pages", "a hundred pages", "A hundred pages with a heading and two sentences each.", 100, func(rng *rand.Rand, i int) []block {
			var out []block
			for k := range 100 {
				if k > 0 {
					out = append(out, block{page: true})
				}
				out = append(out, block{heading: fmt.Sprintf("Page %d of %d", k+1, i)}, block{text: prose(rng, 9)}, block{text: prose(rng, 9)})
			}
			return out
		}},
		{"images", "images and paragraphs", "One page with two images of 300 by 200 pixels and six paragraphs of sixty words.", 1, func(rng *rand.Rand, i int) []block {
			p, err := picture()
			if err != nil {
				panic(err) // an image in memory encodes
			}
			out := []block{{heading: fmt.Sprintf("Report %d", i)}}
			for k := range 6 {
				if k%3 == 0 {
					out = append(out, block{image: p})
				}
				out = append(out, block{text: prose(rng, 60)})
			}
			return out
		}},
	}
}

// input is one small document.
type input struct {
	blocks []block
	out    bytes.Buffer
}

type drawer func(context.Context, *input) error

// small are the rows of small documents.
func small() []harness.Row {
	rows := make([]harness.Row, 0, len(shapes()))
	for _, s := range shapes() {
		contestant := func(name, module, note string, d func() (drawer, error)) harness.Contestant {
			return harness.Contestant{Name: name, Module: module, Own: module == "", Note: note, Needs: []harness.Tool{pdftotext}, Open: s.open(d)}
		}
		rows = append(rows, harness.Row{
			Name: s.name, Title: s.title, Workload: harness.Workload{Name: "document-" + s.name, Version: 1, Seed: seed, Text: s.text + " Texts are new in every document."},
			Contestants: []harness.Contestant{
				contestant("quire", "", "", newQuire),
				contestant("fpdf", fpdfModule, "core fonts, no shaping", newFpdf),
				contestant("gopdf", gopdfModule, "Liberation Sans, no shaping", newGopdf),
				contestant("maroto", marotoModule, "core fonts, no shaping", newMaroto),
			},
			Goals: []harness.Goal{{Against: "fpdf", AtMost: 1.0 / 5}, {Against: "gopdf", AtMost: 1.0 / 8}, {Against: "maroto", AtMost: 1.0 / 20}},
		})
	}
	return rows
}

func (s shape) open(d func() (drawer, error)) func(context.Context, harness.Env) (harness.Subject, error) {
	return func(ctx context.Context, _ harness.Env) (harness.Subject, error) {
		draw, err := d()
		if err != nil {
			return nil, err
		}
		var last string
		return &harness.Ops[input]{
			Size: 16,
			Fill: func(i int, in *input) error {
				in.out.Reset()
				in.blocks = s.blocks(rand.New(rand.NewPCG(seed, uint64(i))), i) //nolint:gosec // a fixed stream of inputs
				return nil
			},
			Do: func(in *input) error { return draw(ctx, in) },
			Verify: func(_ int, in *input) (harness.Facts, error) {
				if last == in.out.String() {
					return harness.Facts{}, errors.New("the same bytes for other texts")
				}
				last = in.out.String()
				return harness.Facts{OutputBytes: int64(in.out.Len())}, s.check(ctx, in)
			},
			Checks: 2,
			Cheap: func(_ int, in *input) error {
				if b := in.out.Bytes(); len(b) < 500 || !bytes.HasPrefix(b, []byte("%PDF-")) || !bytes.HasSuffix(bytes.TrimRight(b, "\r\n"), []byte("%%EOF")) {
					return fmt.Errorf("no whole PDF but %d bytes", len(b))
				}
				return nil
			},
		}, nil
	}
}

// check has pdftotext find every word as often as it was given, on as many pages as there should
// be.
func (s shape) check(ctx context.Context, in *input) error {
	cmd := exec.CommandContext(ctx, pdftotext.Name, "-", "-") //nolint:gosec // fixed arguments
	cmd.Stdin = &in.out
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("pdftotext: %w: %s", err, stderr.String())
	}
	if stderr.Len() > 0 {
		return fmt.Errorf("pdftotext complains: %s", strings.TrimSpace(stderr.String()))
	}
	if n := bytes.Count(out, []byte("\f")); n != s.pages {
		return fmt.Errorf("the document has %d pages, want %d", n, s.pages)
	}
	found := map[string]int{}
	for w := range strings.FieldsSeq(string(out)) {
		found[w]++
	}
	for _, b := range in.blocks {
		texts := []string{b.heading, b.text}
		for _, r := range b.table {
			texts = append(texts, r...)
		}
		for _, t := range texts {
			for w := range strings.FieldsSeq(t) {
				if found[w]--; found[w] < 0 {
					return fmt.Errorf("the document does not show %q as often as it should", w)
				}
			}
		}
	}
	return nil
}
