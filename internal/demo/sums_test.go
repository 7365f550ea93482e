package demo_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"example.com/quire/internal/demo"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/template"
)

// cells is what the body of a sample prints: the cells of each table row and of
// each row of cells.
func (c compiled) cells(t *testing.T, data any) [][]string {
	t.Helper()
	b, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	d, err := c.plan.Build(t.Context(), template.JSON(b), template.BuildOptions{Time: moment})
	if err != nil {
		t.Fatal(err)
	}
	var nodes []doc.Node
	for n, err := range d.Body {
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, n)
	}
	return rowsOf(t, nodes)
}

func rowsOf(t *testing.T, nodes []doc.Node) (out [][]string) {
	t.Helper()
	for _, n := range nodes {
		switch n := n.(type) {
		case *doc.Table:
			for r, err := range n.Rows {
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, cellsOf(r))
			}
			for _, r := range n.Foot {
				out = append(out, cellsOf(r))
			}
		case *doc.Beside:
			var row []string
			for _, c := range n.Cells {
				row = append(row, textOfNodes(c))
			}
			out = append(out, row)
			for _, c := range n.Cells {
				out = append(out, rowsOf(t, c)...)
			}
		case *doc.Box:
			out = append(out, rowsOf(t, n.Nodes)...)
		}
	}
	return out
}

func cellsOf(r doc.Row) (out []string) {
	for _, c := range r.Cells {
		out = append(out, strings.Clone(textOfSpans(c.Spans))+textOfNodes(c.Nodes))
	}
	return out
}

func textOfNodes(nodes []doc.Node) string {
	var b strings.Builder
	for _, n := range nodes {
		if p, ok := n.(*doc.Text); ok {
			b.WriteString(textOfSpans(p.Spans) + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func textOfSpans(spans []doc.Span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

// cents reads an amount with two digits behind its separator.
func cents(t *testing.T, s string) int64 {
	t.Helper()
	digits := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return -1
	}, s)
	v, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || len(strings.TrimLeft(digits, "-")) < 3 {
		t.Fatalf("%q is no amount", s)
	}
	return v
}

// amount is a random number with odd digits behind the cent.
func amount(r *rand.Rand, most int64) json.Number {
	return json.Number(fmt.Sprintf("%d.%0*d", r.Int64N(most), 1+r.IntN(5), r.IntN(10)))
}

func decoded(t *testing.T, s demo.Sample) map[string]any {
	t.Helper()
	var data map[string]any
	if err := json.Unmarshal(s.Data, &data); err != nil {
		t.Fatal(err)
	}
	return data
}

// TestInvoiceAddsUp: whatever the prices and rates are, the printed amounts add
// up to the printed totals, and every line is taxed at its rate.
func TestInvoiceAddsUp(t *testing.T) {
	s := compile(t, sample(t, "invoice"))
	r := rand.New(rand.NewPCG(7, 11)) //nolint:gosec // G404: the same data each time
	for round := range 150 {
		data := decoded(t, s.sample)
		var lines []any
		for i := range 1 + r.IntN(8) {
			lines = append(lines, map[string]any{
				"title": fmt.Sprint("L", i), "unit": "ex.", "qty": amount(r, 900), "price": amount(r, 900),
				"rate": json.Number([]string{"0.2", "0.055", "0.0550", "0.1", "0.021", "0"}[r.IntN(6)]),
			})
		}
		switch round { // those by which it was found
		case 0:
			lines = data["lines"].([]any)
			lines[0].(map[string]any)["price"], lines[1].(map[string]any)["price"] = 7.8535, 2.4049
		case 1:
			lines = data["lines"].([]any)[:2]
			for i, price := range []float64{0.08, 0.02} {
				l := lines[i].(map[string]any)
				l["price"], l["qty"] = price, 1
			}
		}
		data["lines"], data["paid"] = lines, amount(r, 100)
		checkInvoice(t, s.cells(t, data), len(lines))
	}
}

func checkInvoice(t *testing.T, rows [][]string, lines int) {
	t.Helper()
	byRate, sums, bases := map[string]int64{}, map[string]int64{}, map[string]int64{}
	var net, vat int64
	for _, row := range rows {
		switch {
		case len(row) == 5:
			byRate[row[3]] += cents(t, row[4])
			net += cents(t, row[4])
			lines--
		case len(row) != 2:
		case strings.HasPrefix(row[0], "TVA "):
			rate, base, _ := strings.Cut(strings.TrimPrefix(row[0], "TVA "), " sur ")
			if _, twice := bases[rate]; twice {
				t.Errorf("two rows for %s", rate)
			}
			bases[rate] = cents(t, base)
			vat += cents(t, row[1])
		case strings.HasPrefix(row[0], "Total "), row[0] == "Acompte reçu", row[0] == "Net à payer":
			sums[row[0]] = cents(t, row[1])
		}
	}
	for rate, base := range byRate {
		if bases[rate] != base {
			t.Errorf("lines at %s are %d, taxed are %d", rate, base, bases[rate])
		}
	}
	if lines != 0 || len(bases) != len(byRate) || sums["Total hors taxes"] != net || sums["Total TTC"] != net+vat ||
		sums["Net à payer"] != net+vat+sums["Acompte reçu"] {
		t.Errorf("%v: lines %d, taxes %d", sums, net, vat)
	}
	if t.Failed() {
		t.Fatalf("%q", rows)
	}
}

// TestContractNoteAddsUp is the same for trades and charges.
func TestContractNoteAddsUp(t *testing.T) {
	s := compile(t, sample(t, "contract-note"))
	r := rand.New(rand.NewPCG(3, 5)) //nolint:gosec // G404: the same data each time
	for range 150 {
		data := decoded(t, s.sample)
		for _, tr := range data["trades"].([]any) {
			m := tr.(map[string]any)
			m["qty"], m["price"], m["side"] = r.IntN(100_000), amount(r, 30_000), []string{"BUY", "SELL"}[r.IntN(2)]
		}
		for _, c := range data["charges"].([]any) {
			c.(map[string]any)["amount"] = amount(r, 3_000)
		}
		var bought, sold, fees, net int64
		rows := s.cells(t, data)
		for _, row := range rows {
			switch {
			case len(row) == 7 && row[3] == "Buy":
				bought += cents(t, row[6])
			case len(row) == 7:
				sold += cents(t, row[6])
			case len(row) == 3 && row[1] == "Net":
				in, out, _ := strings.Cut(row[0], " · ")
				if cents(t, in) != bought || cents(t, out) != sold || cents(t, row[2]) != bought-sold {
					t.Errorf("trades come to %d and %d: %q", bought, sold, row)
				}
			case len(row) == 2 && row[0] == "Charges in all":
				if net = cents(t, row[1]); net != fees {
					t.Errorf("charges come to %d: %q", fees, row)
				}
			case len(row) == 3 && strings.Contains(row[2], "₹"):
				fees += cents(t, row[2])
			case len(row) == 2 && strings.HasPrefix(row[0], "Net payable"):
				net = cents(t, row[1])
			case len(row) == 2 && strings.HasPrefix(row[0], "Net receivable"):
				net = -cents(t, row[1])
			}
		}
		if want := bought - sold + fees; net != want || bought+sold == 0 || fees == 0 {
			t.Fatalf("net is %d, its parts come to %d: %q", net, want, rows)
		}
	}
}

// TestSamplesTakeLargeAmounts: amounts that come up have room, on one line each.
func TestSamplesTakeLargeAmounts(t *testing.T) {
	for name, c := range map[string]struct {
		change func(data map[string]any)
		want   []string
	}{
		"contract-note": {func(data map[string]any) {
			tr := data["trades"].([]any)[0].(map[string]any)
			tr["qty"], tr["price"] = 12_500_000, json.Number("31245.55")
		}, []string{"1,25,00,000", "₹31,245.55", "₹3,90,56,93,75,000.00", "Net ₹3,90,56,95,30,808.75", "₹3,90,56,95,32,190.08"}},
		"invoice": {func(data map[string]any) {
			l := data["lines"].([]any)[0].(map[string]any)
			l["qty"], l["price"] = 1_250_000, json.Number("98765.43")
		}, []string{"1 250 000 ex.", "98 765,43 €", "123 456 787 500,00 €", "130 246 9"}},
		"price-list": {func(data map[string]any) {
			i := data["groups"].([]any)[0].(map[string]any)["items"].([]any)[0].(map[string]any)
			i["price"], i["case"] = json.Number("12345.6"), 123456
		}, []string{"£12,345.60", "£123,456.00"}},
		"service-report": {func(data map[string]any) {
			for _, s := range data["status"].(map[string]any)["services"].([]any) {
				s.(map[string]any)["requests"], s.(map[string]any)["errors"] = 120_000_000_000, 80_000_000
			}
		}, []string{"960,000.0", "120,000,000,000", "960,000,000,000", "640,000,000"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := sample(t, name)
			data := decoded(t, s)
			c.change(data)
			b, err := json.Marshal(data)
			if err != nil {
				t.Fatal(err)
			}
			file, _ := compile(t, s).make(t, b)
			text := textOf(t, pdftest.Write(t, name+".pdf", file))
			for _, w := range c.want {
				if !strings.Contains(text, w) {
					t.Errorf("%q is not on the page", w)
				}
			}
		})
	}
}
