// Package workload holds the inputs that suites and gated kernels share. It
// imports neither the project nor a peer.
package workload

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Seed is the seed of the stream of invoices.
const Seed = 10

// Template is the template of the one-page invoice.
//
//go:embed invoice.yaml
var Template []byte

// Invoice is the data of one document.
type Invoice struct {
	Invoice struct {
		Number string `json:"number"`
		Date   string `json:"date"`
		Due    string `json:"due"`
	} `json:"invoice"`
	Customer struct {
		Name    string   `json:"name"`
		Address []string `json:"address"`
	} `json:"customer"`
	Lines []Line `json:"lines"`
}

// Line is one line of an invoice. Prices are in pounds with two decimals.
type Line struct {
	Title string      `json:"title"`
	Qty   int         `json:"qty"`
	Price json.Number `json:"price"`
}

var (
	given    = strings.Fields("Ada Bela Carl Dora Egon Fanny Georg Hanna Igor Jana Karel Lena Max Nora Oscar Paula Quentin Rosa Sven Tilda")
	family   = strings.Fields("Archer Brewer Carter Draper Fuller Glover Hooper Joiner Mason Naylor Porter Quill Sawyer Tanner Walker Wright")
	material = strings.Fields("steel brass oak linen glass paper cork wool felt copper slate birch")
	article  = strings.Fields("ruler ledger binder folder stamp tray lamp clip hinge bracket spool frame")
	city     = strings.Fields("Leeds Hull York Derby Exeter Truro Bath Ripon Wells Lincoln")
)

// lines is how many lines an invoice has.
const lines = 12

// NewInvoice makes document i: the same i gives the same data, and no two give
// the same.
func NewInvoice(i int) *Invoice {
	rng := rand.New(rand.NewPCG(Seed, uint64(i))) //nolint:gosec // a fixed stream of inputs
	pick := func(words []string) string { return words[rng.IntN(len(words))] }
	v := &Invoice{}
	v.Invoice.Number = fmt.Sprintf("HL-%07d", i)
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, rng.IntN(300))
	v.Invoice.Date, v.Invoice.Due = day.Format(time.DateOnly), day.AddDate(0, 0, 30).Format(time.DateOnly)
	v.Customer.Name = fmt.Sprintf("%s %s and %s %d", pick(given), pick(family), pick(family), rng.IntN(1_000_000))
	v.Customer.Address = []string{
		fmt.Sprintf("%d %s Street", 1+rng.IntN(998), pick(family)),
		fmt.Sprintf("%s %c%c%d %d%c%c", pick(city), 'A'+rng.IntN(26), 'A'+rng.IntN(26), 1+rng.IntN(20), rng.IntN(10), 'A'+rng.IntN(26), 'A'+rng.IntN(26)),
	}
	for k := range lines {
		pence := 5 * (1 + rng.IntN(40_000)) // VAT of a fifth comes out in whole pence
		v.Lines = append(v.Lines, Line{
			Title: fmt.Sprintf("%s %s no. %d-%05d", pick(material), pick(article), k+1, rng.IntN(100_000)),
			Qty:   1 + rng.IntN(2000),
			Price: json.Number(fmt.Sprintf("%d.%02d", pence/100, pence%100)),
		})
	}
	return v
}

// AppendData appends the data of document i as JSON.
func AppendData(dst []byte, i int) []byte {
	b, err := json.Marshal(NewInvoice(i))
	if err != nil {
		panic(fmt.Sprintf("invoice %d: %v", i, err)) // strings and numbers always encode
	}
	return append(dst, b...)
}

// Time is the moment that every document states.
var Time = time.Date(2026, 1, 31, 18, 30, 0, 0, time.UTC)
