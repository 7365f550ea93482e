package pdf_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/template"
)

// swissBill is the payment of the first example of the Implementation Guidelines QR-bill, with
// names of our own.
func swissBill() *doc.SwissBill {
	return &doc.SwissBill{
		IBAN:     "CH44 3199 9123 0008 8901 2",
		Creditor: doc.Party{Name: "Röhrich & Söhne AG", Street: "Bahnhofstrasse", Building: "7", Postcode: "2501", Town: "Biel", Country: "CH"},
		Amount:   "1949.75", Currency: "CHF",
		Debtor:    &doc.Party{Name: "Zoé Perret", Street: "Rue du Lac", Building: "12b", Postcode: "1201", Town: "Genève", Country: "CH"},
		Reference: "21 00000 00003 13947 14300 09017", Message: "Rechnung 4711",
	}
}

func on(all []pdftest.Barcode, page int) []pdftest.Barcode {
	return slices.DeleteFunc(slices.Clone(all), func(b pdftest.Barcode) bool { return b.Page != page })
}

// barcodes is a sample with a symbol of each family, one of them decorative.
func barcodes(b *doc.Builder) error {
	bill, err := swissBill().Payload()
	if err != nil {
		return err
	}
	b.Title("Barcodes").Lang("de-CH")
	b.Barcode(doc.SwissQR, bill, "QR-Code der Rechnung")
	b.Barcode(doc.EAN13, "400638133393", "Artikelnummer 4006381333931")
	b.Add(&doc.Barcode{Symbology: doc.Code128, Value: "A-1", Decorative: true})
	return nil
}

// TestBarcodeProblemsNameTheirData: what is wrong with a value is told at its place in the
// template and in the data, as is a symbol without room.
func TestBarcodeProblemsNameTheirData(t *testing.T) {
	const head = "quire: 1\nname: n\nlang: en\ntitle: T\ndata: {codes: [string], total: decimal, iban: string}\nbody:\n  - "
	const data = `{"codes": ["12", "x1"], "total": 12.345, "iban": "CH93 0076 2011 6238 5295 8"}`
	e := newEngine(t, pdf.Config{})
	for _, c := range []struct{ body, path, dataPath, message string }{
		{"{for: c in codes, do: [{barcode: itf, value: \"${c}\", alt: a}]}", "body[0].do[0].barcode", "codes[1]", `barcode itf: "x" is not a digit`},
		{"{row: {widths: [20mm, 1fr], cells: [[{barcode: ean13, value: \"4006381333931\", alt: a}], x]}}", "body[0].row.cells[0][0].barcode", "", "barcode ean13: with its quiet zone it needs 37.3 mm, there are 20.0 mm"},
		{"{barcode: epc-qr, alt: a, value: {name: N, iban: DE89 3704 0044 0532 0130 00, amount: \"${total}\"}}", "body[0].value.amount", "total", `want one from 0.01 to 999999999.99 with two decimals, got "12.345"`},
		{"{barcode: epc-qr, alt: a, value: {name: N, iban: \"${iban}\"}}", "body[0].value.iban", "iban", `"CH9300762011623852958" is not valid: a letter or digit is wrong`},
	} {
		plan, err := e.Compile(t.Context(), pdf.Source{File: "t.yaml", Text: []byte(head + c.body + "\n")})
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.Render(t.Context(), io.Discard, plan, template.JSON([]byte(data)), pdf.RenderOptions{})
		de, ok := errors.AsType[*pdf.DiagnosticError](err)
		if !ok || len(de.Diagnostics) != 1 {
			t.Fatalf("%s: %v", c.body, err)
		}
		if d := de.Diagnostics[0]; d.Code != "L313" || d.Path != c.path || d.DataPath != c.dataPath || d.Message != c.message || d.Line != 7 {
			t.Errorf("%s: %+v", c.body, d)
		}
	}
}

// TestPaymentCodesOfTemplates: the values of a template become the payload that readers see.
func TestPaymentCodesOfTemplates(t *testing.T) {
	src := `quire: 1
name: n
lang: en
title: T
data: {total: decimal, payer: {name: string, town: string}}
body:
  - barcode: epc-qr
    alt: Code of the transfer
    value: {name: "Beispiel GmbH", iban: DE89 3704 0044 0532 0130 00, amount: "${total}", text: "Rechnung ${4711}"}
  - barcode: swiss-qr
    alt: Code of the bill
    value:
      iban: CH93 0076 2011 6238 5295 7
      creditor: {name: Röhrich AG, postcode: "2501", town: Biel, country: CH}
      debtor: {name: "${payer.name}", postcode: "1201", town: "${payer.town}", country: CH}
      amount: "${total}"
      currency: CHF
`
	e := newEngine(t, pdf.Config{})
	plan, err := e.Compile(t.Context(), pdf.Source{File: "t.yaml", Text: []byte(src)})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := e.Render(t.Context(), &out, plan, template.JSON([]byte(`{"total": 12.5, "payer": {"name": "Zoé Perret", "town": "Genève"}}`)), pdf.RenderOptions{}); err != nil {
		t.Fatal(err)
	}
	zxing, _ := pdftest.ReadBarcodes(t, pdftest.Write(t, "codes.pdf", out.Bytes()), 150)
	for _, want := range []string{
		"BCD\n002\n1\nSCT\n\nBeispiel GmbH\nDE89370400440532013000\nEUR12.50\n\n\nRechnung 4711",
		"SPC\n0200\n1\nCH9300762011623852957\nS\nRöhrich AG\n\n\n2501\nBiel\nCH\n\n\n\n\n\n\n\n12.50\nCHF\nS\nZoé Perret\n\n\n1201\nGenève\nCH\nNON\n\n\nEPD",
	} {
		if !slices.Contains(zxing, pdftest.Barcode{Page: 1, Format: "QRCode", Text: want}) {
			t.Errorf("want %q, read %+v", want, zxing)
		}
	}
}

// TestSizeOfABarcodeIsNotThatOfItsText: the value below the bars was set as high as the code is
// wide.
func TestSizeOfABarcodeIsNotThatOfItsText(t *testing.T) {
	const text = "quire: 1\nname: x\nlang: en\ntitle: T\npage: {size: A6, margin: 7mm}\nbody: [{barcode: code128, value: ABC-4711, size: 60mm, alt: x}]\n"
	body, err := renderText(t, newEngine(t, pdf.Config{}), text, "{}")
	if err != nil {
		t.Fatal(err)
	}
	words := pdftest.Boxes(t, pdftest.Write(t, "f.pdf", body))
	if len(words) != 1 || words[0].Text != "ABC-4711" || words[0].YMax-words[0].YMin > 20 {
		t.Errorf("the text below the bars: %+v", words)
	}
}
