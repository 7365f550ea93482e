package path

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"example.com/quire/bench/internal/load"
	"example.com/quire/bench/workload"
)

// appendRequest appends the body of a render request.
func appendRequest(dst []byte, i int) []byte {
	dst = append(dst, `{"template":"invoice","time":"`+workload.Time.Format(time.RFC3339)+`","data":`...)
	return append(workload.AppendData(dst, i), '}')
}

func appendPost(dst []byte, path string, length int) []byte {
	dst = append(append(append(dst, "POST "...), path...), " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "...)
	return append(strconv.AppendInt(dst, int64(length), 10), "\r\n\r\n"...)
}

// shown is an invoice as its page shows it.
type shown struct {
	date, due       string
	rows            [][4]string // title, quantity, unit price, amount
	net, vat, total string
}

func show(v *workload.Invoice) (shown, error) {
	var s shown
	var err error
	if s.date, err = longDate(v.Invoice.Date); err != nil {
		return s, err
	}
	if s.due, err = longDate(v.Invoice.Due); err != nil {
		return s, err
	}
	net := 0
	for _, l := range v.Lines {
		pence, err := parsePence(l.Price.String())
		if err != nil {
			return s, err
		}
		net += pence * l.Qty
		s.rows = append(s.rows, [4]string{l.Title, thousands(l.Qty), money(pence), money(pence * l.Qty)})
	}
	s.net, s.vat, s.total = money(net), money(net/5), money(net+net/5)
	return s, nil
}

func longDate(s string) (string, error) {
	d, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return "", fmt.Errorf("date: %w", err)
	}
	return d.Format("2 January 2006"), nil
}

func parsePence(s string) (int, error) {
	whole, part, _ := strings.Cut(s, ".")
	n, err := strconv.Atoi(whole + part)
	if err != nil || len(part) != 2 {
		return 0, fmt.Errorf("price %q: two decimals are wanted", s)
	}
	return n, nil
}

func money(pence int) string { return fmt.Sprintf("%s.%02d", thousands(pence/100), pence%100) }

func thousands(n int) string {
	s := strconv.Itoa(n)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// decode is what the contestants without a template do with the data.
func decode(data []byte) (*workload.Invoice, shown, error) {
	var v workload.Invoice
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, shown{}, fmt.Errorf("decode: %w", err)
	}
	s, err := show(&v)
	return &v, s, err
}

const (
	seller  = "Harbour Lane Supplies Ltd, registered in England 01234567"
	account = "to sort code 20-00-00, account 55779911, quoting "
)

// expected lists every text that the page of document i must show.
func expected(i int) ([]string, error) {
	v := workload.NewInvoice(i)
	s, err := show(v)
	if err != nil {
		return nil, err
	}
	out := []string{
		"Invoice " + v.Invoice.Number, "Date: " + s.date, "Due: " + s.due, v.Customer.Name,
		"Description", "Quantity", "Unit price", "Amount", "Net", "VAT 20 %", "Total due", s.net, s.vat, s.total,
		"Please pay by " + s.due + " " + account + v.Invoice.Number + ".", seller, "Page 1 of 1",
	}
	out = append(out, v.Customer.Address...)
	for _, r := range s.rows {
		out = append(out, r[:]...)
	}
	return out, nil
}

// checkPage has pdftotext read the document and looks for every text of it, on
// exactly one page.
func checkPage(i int, pdf []byte) error {
	want, err := expected(i)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(context.Background(), pdftotext.Name, "-layout", "-", "-") //nolint:gosec // fixed arguments
	cmd.Stdin = bytes.NewReader(pdf)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("pdftotext: %w: %s", err, stderr.String())
	}
	if stderr.Len() > 0 {
		return fmt.Errorf("pdftotext complains: %s", strings.TrimSpace(stderr.String()))
	}
	if n := bytes.Count(out, []byte("\f")); n != 1 {
		return fmt.Errorf("the document has %d pages, want 1", n)
	}
	text := strings.Join(strings.Fields(string(out)), " ")
	for _, w := range want {
		if !strings.Contains(text, w) {
			return fmt.Errorf("the page does not show %q", w)
		}
	}
	return nil
}

var (
	errNoPDF   = errors.New("the answer is no PDF")
	pdfHead    = []byte("%PDF-")
	pdfTrailer = []byte("%%EOF")
)

// whole reports cheaply whether b looks like a whole document.
func whole(b []byte) error {
	if len(b) < 1000 || !bytes.HasPrefix(b, pdfHead) || !bytes.HasSuffix(bytes.TrimRight(b, "\r\n"), pdfTrailer) {
		return errNoPDF
	}
	return nil
}

func looksLikePDF(a load.Answer) error {
	if a.Status != 200 || a.Field("Content-Type") != "application/pdf" {
		return fmt.Errorf("status %d, %s: %.300s", a.Status, a.Field("Content-Type"), a.Body)
	}
	return whole(a.Body)
}
