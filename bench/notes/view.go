package notes

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"example.com/quire/bench/workload"
)

// view is a note as it is printed: what peers draw, and what the check looks for.
type view struct {
	workload.Note
	kind workload.NoteKind
	rows [][]string
	net  string
	// What active notes sum up, too.
	bought, sold string
}

// columns are the heads of the table of trades and their widths in mm, 180 in all.
var columns = [workload.NoteKinds]struct {
	heads  []string
	widths []float64
}{
	workload.Retail: {[]string{"Order", "Security", "Side", "Quantity", "Price", "Amount"}, []float64{28, 52, 16, 24, 28, 32}},
	workload.Active: {[]string{"Order", "Security", "Quantity", "Price", "Amount"}, []float64{30, 58, 28, 30, 34}},
	workload.HFT:    {[]string{"Order", "Time", "Security", "Side", "Quantity", "Price", "Amount"}, []float64{26, 24, 40, 14, 22, 26, 28}},
}

// figures is how many columns at the right have figures, which stand at their right edges.
const figures = 3

// read decodes the data of a note.
func read(k workload.NoteKind, data []byte) (*view, error) {
	v := &view{kind: k}
	if err := json.Unmarshal(data, &v.Note); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	var net, bought, sold int64
	for i := range v.Trades {
		t := &v.Trades[i]
		whole, fraction, _ := strings.Cut(string(t.Price), ".")
		price, err := strconv.ParseInt(whole+fraction, 10, 64)
		if err != nil || len(fraction) != 2 {
			return nil, fmt.Errorf("price %q: two decimals are wanted", t.Price)
		}
		amount := price * t.Qty
		if net += amount; t.Side == "BUY" {
			bought += amount
		} else {
			sold += amount
		}
		cells := []string{t.Order, t.Time, t.Symbol, t.Side, thousands(t.Qty), money(price), money(amount)}
		switch k {
		case workload.Retail:
			cells = append(cells[:1], cells[2:]...)
		case workload.Active:
			cells = append(append(cells[:1], cells[2]), cells[4:]...)
		}
		v.rows = append(v.rows, cells)
	}
	v.net, v.bought, v.sold = money(net), money(bought), money(sold)
	return v, nil
}

// money writes an amount of hundredths as English does.
func money(hundredths int64) string {
	return fmt.Sprintf("%s.%02d", thousands(hundredths/100), hundredths%100)
}

func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// sums are the rows at the foot of the table.
func (v *view) sums() [][2]string {
	if v.kind == workload.Active {
		return [][2]string{{"Bought", v.bought}, {"Sold", v.sold}, {"Trades", thousands(int64(len(v.rows)))}, {"Total", v.net}}
	}
	return [][2]string{{"Total", v.net}}
}

// head are the lines above the table, the first in large letters.
func (v *view) head() []string {
	out := []string{"Contract note " + v.Number, v.Date + ", client " + v.Client.Code, v.Client.Name}
	if v.kind != workload.HFT {
		out = append(out, v.Client.Address...)
	}
	return out
}

// words counts the words that the pages must show, at least so often.
func (v *view) words() map[string]int {
	want := map[string]int{v.Number: 1, v.Client.Code: 1}
	add := func(text string) {
		for w := range strings.FieldsSeq(text) {
			want[w]++
		}
	}
	add(v.Client.Name)
	if v.kind != workload.HFT {
		for _, line := range v.Client.Address {
			add(line)
		}
	}
	for _, row := range v.rows {
		for _, cell := range row {
			add(cell)
		}
	}
	for _, sum := range v.sums() {
		add(sum[1])
	}
	return want
}
