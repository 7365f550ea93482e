package doc

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Party is a creditor or debtor of a [SwissBill], with a structured address.
type Party struct {
	Name, Street, Building, Postcode, Town string
	Country                                string // ISO 3166-1, two letters
}

// SwissBill is the payment part of a Swiss QR-bill (Swiss Implementation Guidelines QR-bill,
// version 2.3).
type SwissBill struct {
	IBAN       string // of Switzerland or Liechtenstein; spaces are taken out
	Creditor   Party
	Amount     string // "1949.75"; empty: the payer fills it in
	Currency   string // CHF or EUR
	Debtor     *Party // nil: the payer fills it in
	Reference  string // a QR reference of 27 digits with a QR-IBAN, else RF... or nothing
	Message    string // at most 140 characters, together with Details
	Details    string // billing information for programs, as in "//S1/10/..."
	Procedures []string
}

// Payload returns the text of the QR code ([SwissQR], level M). The error names the field.
func (b *SwissBill) Payload() (string, error) {
	iban := compact(b.IBAN)
	if err := checkIBAN(iban); err != nil {
		return "", err
	}
	if !strings.HasPrefix(iban, "CH") && !strings.HasPrefix(iban, "LI") {
		return "", fmt.Errorf("iban: a QR-bill wants one of CH or LI, got %s", iban[:2])
	}
	if b.Currency != "CHF" && b.Currency != "EUR" {
		return "", fmt.Errorf("currency: want CHF or EUR, got %q", b.Currency)
	}
	if b.Amount != "" && (!reAmount.MatchString(b.Amount) || len(b.Amount) > len("999999999.99")) {
		return "", fmt.Errorf("amount: want one from 0.01 to 999999999.99 with two decimals, got %q", b.Amount)
	}
	reference := compact(b.Reference)
	kind := "NON"
	institute := iban[4:9]
	qrIBAN := institute >= "30000" && institute <= "31999"
	switch {
	case qrIBAN:
		kind = "QRR"
		if len(reference) != 27 || strings.Trim(reference, "0123456789") != "" || mod10(reference[:26]) != reference[26] {
			return "", fmt.Errorf("reference: a QR-IBAN wants a QR reference of 27 digits with a right check digit, got %q", b.Reference)
		}
	case reference != "":
		kind = "SCOR"
		if !reReference.MatchString(reference) || mod97(reference) != 1 {
			return "", fmt.Errorf("reference: an IBAN that is not a QR-IBAN needs a reference by ISO 11649, as in RF18 5390 0754 7034, or none, got %q", b.Reference)
		}
	}
	if utf8.RuneCountInString(b.Message)+utf8.RuneCountInString(b.Details) > 140 {
		return "", errors.New("message: it has more than 140 characters together with the details")
	}
	if len(b.Procedures) > 2 {
		return "", errors.New("procedures: there are more than two")
	}
	lines := []string{"SPC", "0200", "1", iban}
	creditor, err := b.Creditor.lines("creditor")
	if err != nil {
		return "", err
	}
	lines = append(lines, creditor...)
	lines = append(lines, "", "", "", "", "", "", "", b.Amount, b.Currency)
	debtor := make([]string, 7)
	if b.Debtor != nil {
		if debtor, err = b.Debtor.lines("debtor"); err != nil {
			return "", err
		}
	}
	lines = append(lines, debtor...)
	lines = append(lines, kind, reference, b.Message, "EPD")
	if b.Details != "" || len(b.Procedures) > 0 {
		lines = append(lines, b.Details)
	}
	for _, p := range b.Procedures {
		if utf8.RuneCountInString(p) > 100 {
			return "", errors.New("procedures: one has more than 100 characters")
		}
		lines = append(lines, p)
	}
	return joinPayment(lines)
}

func (p *Party) lines(field string) ([]string, error) {
	for _, f := range []struct {
		name, value string
		most        int
		required    bool
	}{
		{"name", p.Name, 70, true},
		{"street", p.Street, 70, false},
		{"building", p.Building, 16, false},
		{"postcode", p.Postcode, 16, true},
		{"town", p.Town, 35, true},
	} {
		switch n := utf8.RuneCountInString(f.value); {
		case n == 0 && f.required:
			return nil, fmt.Errorf("%s.%s: it is missing", field, f.name)
		case n > f.most:
			return nil, fmt.Errorf("%s.%s: it has %d characters, at most %d are allowed", field, f.name, n, f.most)
		}
	}
	if !reCountry.MatchString(p.Country) {
		return nil, fmt.Errorf("%s.country: want two letters as in CH, got %q", field, p.Country)
	}
	return []string{"S", p.Name, p.Street, p.Building, p.Postcode, p.Town, p.Country}, nil
}

// EPCPayment is a SEPA credit transfer (EPC069-12, version 002).
type EPCPayment struct {
	Name, IBAN string // of the creditor
	BIC        string // may be empty within the EEA
	Amount     string // "12.30", in euro
	Purpose    string // ISO 20022 code of at most 4 characters
	Reference  string // ISO 11649, as in RF18...; or Text
	Text       string // at most 140 characters
	Details    string // for the debtor; at most 70 characters
}

// Payload returns the text of the QR code ([QR], level M). The error names the field.
func (e *EPCPayment) Payload() (string, error) {
	iban, bic, reference := compact(e.IBAN), compact(e.BIC), compact(e.Reference)
	if err := checkIBAN(iban); err != nil {
		return "", err
	}
	switch n := utf8.RuneCountInString(e.Name); {
	case n == 0 || n > 70:
		return "", fmt.Errorf("name: want 1 to 70 characters, got %d", n)
	case bic != "" && !reBIC.MatchString(bic):
		return "", fmt.Errorf("bic: want 8 or 11 letters and digits, got %q", e.BIC)
	case e.Amount != "" && (!reAmount.MatchString(e.Amount) || len(e.Amount) > len("999999999.99")):
		return "", fmt.Errorf("amount: want one from 0.01 to 999999999.99 with two decimals, got %q", e.Amount)
	case !rePurpose.MatchString(e.Purpose):
		return "", fmt.Errorf("purpose: want at most 4 capitals, got %q", e.Purpose)
	case reference != "" && e.Text != "":
		return "", errors.New("text: it cannot be combined with a reference")
	case reference != "" && (!reReference.MatchString(reference) || mod97(reference) != 1):
		return "", fmt.Errorf("reference: want one by ISO 11649, as in RF18 5390 0754 7034, got %q", e.Reference)
	case utf8.RuneCountInString(e.Text) > 140:
		return "", errors.New("text: it has more than 140 characters")
	case utf8.RuneCountInString(e.Details) > 70:
		return "", errors.New("details: it has more than 70 characters")
	}
	amount := ""
	if e.Amount != "" {
		amount = "EUR" + e.Amount
	}
	lines := []string{"BCD", "002", "1", "SCT", bic, e.Name, iban, amount, e.Purpose, reference, e.Text, e.Details}
	for lines[len(lines)-1] == "" { // what is empty at the end may be left out
		lines = lines[:len(lines)-1]
	}
	s, err := joinPayment(lines)
	if err == nil && len(s) > 331 {
		err = fmt.Errorf("payment: it has %d bytes, at most 331 are allowed", len(s))
	}
	return s, err
}

var (
	reAmount    = regexp.MustCompile(`^(0\.(0[1-9]|[1-9][0-9])|[1-9][0-9]*\.[0-9]{2})$`)
	reReference = regexp.MustCompile(`^RF[0-9]{2}[0-9A-Z]{1,21}$`)
	reCountry   = regexp.MustCompile(`^[A-Z]{2}$`)
	reBIC       = regexp.MustCompile(`^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$`)
	rePurpose   = regexp.MustCompile(`^[A-Z]{0,4}$`)
	reIBAN      = regexp.MustCompile(`^[A-Z]{2}[0-9]{2}[0-9A-Z]{11,30}$`)
)

// compact takes the spaces out that people put into numbers.
func compact(s string) string { return strings.ReplaceAll(s, " ", "") }

func checkIBAN(s string) error {
	if !reIBAN.MatchString(s) || mod97(s) != 1 || s[:2] == "CH" && len(s) != 21 || s[:2] == "LI" && len(s) != 21 || s[:2] == "DE" && len(s) != 22 || s[:2] == "AT" && len(s) != 20 {
		return fmt.Errorf("iban: %q is not valid: a letter or digit is wrong", s)
	}
	return nil
}

// mod97 is the remainder by ISO/IEC 7064, MOD 97-10, with the first four characters moved to
// the end: 1 when the number is right.
func mod97(s string) int64 {
	var b strings.Builder
	for _, r := range s[4:] + s[:4] {
		if r >= 'A' {
			fmt.Fprint(&b, r-'A'+10)
		} else {
			b.WriteRune(r)
		}
	}
	n, _ := new(big.Int).SetString(b.String(), 10)
	return n.Mod(n, big.NewInt(97)).Int64()
}

// mod10 is the recursive check digit of QR references.
func mod10(s string) byte {
	table := [10]int{0, 9, 4, 6, 8, 2, 7, 1, 3, 5}
	carry := 0
	for i := range len(s) {
		carry = table[(carry+int(s[i]-'0'))%10]
	}
	return byte('0' + (10-carry)%10)
}

// joinPayment joins the lines of a payload, which may hold neither line breaks nor control
// characters, nor letters that banks do not take.
func joinPayment(lines []string) (string, error) {
	for _, l := range lines {
		for _, r := range l {
			if r < ' ' || r > 0x17F && r != '€' && r != 'Ș' && r != 'ș' && r != 'Ț' && r != 'ț' || r >= 0x7F && r < 0xA0 {
				return "", fmt.Errorf("payment: %q in %q is not in the character set of payments", r, l)
			}
		}
		if strings.TrimSpace(l) != l {
			return "", fmt.Errorf("payment: %q has spaces at its ends", l)
		}
	}
	return strings.Join(lines, "\n"), nil
}
