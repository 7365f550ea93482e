package doc_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/quire/pdf/doc"
)

func bill() *doc.SwissBill {
	return &doc.SwissBill{
		IBAN:     "CH44 3199 9123 0008 8901 2",
		Creditor: doc.Party{Name: "Röhrich & Söhne AG", Street: "Bahnhofstrasse", Building: "7", Postcode: "2501", Town: "Biel", Country: "CH"},
		Amount:   "1949.75", Currency: "CHF",
		Reference: "21 00000 00003 13947 14300 09017", Message: "Rechnung 4711",
	}
}

func ExampleSwissBill() {
	text, err := bill().Payload()
	fmt.Printf("%q, %v\n", text, err)
	// Output: "SPC\n0200\n1\nCH4431999123000889012\nS\nRöhrich & Söhne AG\nBahnhofstrasse\n7\n2501\nBiel\nCH\n\n\n\n\n\n\n\n1949.75\nCHF\n\n\n\n\n\n\n\nQRR\n210000000003139471430009017\nRechnung 4711\nEPD", <nil>
}

func ExampleEPCPayment() {
	p := doc.EPCPayment{Name: "Beispiel GmbH", IBAN: "DE89 3704 0044 0532 0130 00", Amount: "12.30", Text: "Rechnung 4711"}
	text, err := p.Payload()
	fmt.Printf("%q, %v\n", text, err)
	// Output: "BCD\n002\n1\nSCT\n\nBeispiel GmbH\nDE89370400440532013000\nEUR12.30\n\n\nRechnung 4711", <nil>
}

// TestSwissBillNamesTheFieldThatIsWrong: each rule of the guidelines has a bill that breaks it.
func TestSwissBillNamesTheFieldThatIsWrong(t *testing.T) {
	for _, c := range []struct {
		spoil func(b *doc.SwissBill)
		want  string
	}{
		{func(b *doc.SwissBill) { b.IBAN = "CH44 3199 9123 0008 8901 3" }, "iban: "},
		{func(b *doc.SwissBill) { b.IBAN = "DE89 3704 0044 0532 0130 00" }, "iban: a QR-bill wants one of CH or LI"},
		{func(b *doc.SwissBill) { b.Currency = "USD" }, "currency: "},
		{func(b *doc.SwissBill) { b.Amount = "12" }, "amount: "},
		{func(b *doc.SwissBill) { b.Amount = "0.00" }, "amount: "},
		{func(b *doc.SwissBill) { b.Amount = "1000000000.00" }, "amount: "},
		{func(b *doc.SwissBill) { b.Reference = "" }, "reference: a QR-IBAN wants"},
		{func(b *doc.SwissBill) { b.Reference = "210000000003139471430009018" }, "reference: a QR-IBAN wants"},
		{func(b *doc.SwissBill) { b.IBAN = "CH93 0076 2011 6238 5295 7" }, "reference: an IBAN that is not a QR-IBAN"},
		{func(b *doc.SwissBill) {
			b.IBAN, b.Reference = "CH93 0076 2011 6238 5295 7", "RF19 5390 0754 7034"
		}, "reference: "},
		{func(b *doc.SwissBill) { b.Message = strings.Repeat("x", 141) }, "message: "},
		{func(b *doc.SwissBill) { b.Creditor.Name = "" }, "creditor.name: it is missing"},
		{func(b *doc.SwissBill) { b.Creditor.Country = "Schweiz" }, "creditor.country: "},
		{func(b *doc.SwissBill) { b.Debtor = &doc.Party{Name: strings.Repeat("x", 71)} }, "debtor.name: it has 71"},
		{func(b *doc.SwissBill) { b.Procedures = []string{"a", "b", "c"} }, "procedures: "},
		{func(b *doc.SwissBill) { b.Message = "東京" }, "payment: "},
		{func(b *doc.SwissBill) { b.Message = "a\nb" }, "payment: "},
	} {
		b := bill()
		c.spoil(b)
		if text, err := b.Payload(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("want %q, got %v, %q", c.want, err, text)
		}
	}
	b := bill()
	b.IBAN, b.Reference = "CH93 0076 2011 6238 5295 7", "RF18 5390 0754 7034"
	if text, err := b.Payload(); err != nil || !strings.Contains(text, "\nSCOR\nRF18539007547034\n") {
		t.Errorf("%q, %v", text, err)
	}
}

// TestEPCPaymentNamesTheFieldThatIsWrong: each rule of EPC069-12 has a payment that breaks it.
func TestEPCPaymentNamesTheFieldThatIsWrong(t *testing.T) {
	for want, spoil := range map[string]func(p *doc.EPCPayment){
		"iban: ":                      func(p *doc.EPCPayment) { p.IBAN = "DE89370400440532013001" },
		"name: ":                      func(p *doc.EPCPayment) { p.Name = "" },
		"bic: ":                       func(p *doc.EPCPayment) { p.BIC = "X" },
		"amount: ":                    func(p *doc.EPCPayment) { p.Amount = "1,50" },
		"purpose: ":                   func(p *doc.EPCPayment) { p.Purpose = "abc" },
		"text: it cannot be combined": func(p *doc.EPCPayment) { p.Reference = "RF18539007547034" },
		"reference: ":                 func(p *doc.EPCPayment) { p.Reference, p.Text = "RF00539007547034", "" },
		"text: it has more":           func(p *doc.EPCPayment) { p.Text = strings.Repeat("x", 141) },
		"details: ":                   func(p *doc.EPCPayment) { p.Details = strings.Repeat("x", 71) },
		"payment: it has 4":           func(p *doc.EPCPayment) { p.Name, p.Text = strings.Repeat("ü", 70), strings.Repeat("ü", 130) },
	} {
		p := &doc.EPCPayment{Name: "Beispiel GmbH", IBAN: "DE89 3704 0044 0532 0130 00", Amount: "12.30", Text: "Rechnung"}
		spoil(p)
		if text, err := p.Payload(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("want %q, got %v, %q", want, err, text)
		}
	}
}
