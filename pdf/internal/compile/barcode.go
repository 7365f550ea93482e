package compile

import (
	"strings"

	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/compile/decimal"
	"example.com/quire/pdf/internal/compile/exprlang"
	"example.com/quire/pdf/internal/diag"
)

// epcQR is the kind of a QR code whose value is an EPC payment: a word of the language, not a
// symbology of its own.
const epcQR = "epc-qr"

func barcodeKinds() []string {
	names := make([]string, 0, 16)
	for _, s := range doc.Symbologies() {
		names = append(names, string(s))
	}
	return append(names, epcQR)
}

type barcodeNode struct {
	common
	out     doc.Barcode
	value   *plainText
	id      int32      // of the value's parts in Plan.spans
	payment *payment   // nil: value
	alt     *plainText // nil: out.Alt
}

func (c *compiler) barcodeBlock(b *blockSource) block {
	o := b.common
	n := &barcodeNode{}
	kinds := barcodeKinds()
	i, ok := c.choice(b.value, b.path, kinds...)
	kind := kinds[i]
	n.out.Symbology = doc.Symbology(kind)
	if kind == epcQR {
		n.out.Symbology = doc.QR
	}
	if v := o.need("value"); v != nil && ok {
		switch {
		case v.Kind == strictyaml.Mapping && n.out.Symbology == doc.SwissQR:
			n.payment = c.payment(v, o.at("value"), swissBill{})
		case kind == epcQR:
			n.payment = c.payment(v, o.at("value"), epcPayment{})
		default:
			n.value = c.plain(v, o.at("value"))
			n.id = c.spanID(n.value.parts)
		}
	}
	n.alt, n.out.Alt, n.out.Decorative = c.alternative(b, b.common)
	for _, l := range []struct {
		key string
		to  *doc.Length
	}{{"module", &n.out.Module}, {"size", &n.out.Size}, {"height", &n.out.Height}} {
		if v := o.get(l.key); v != nil {
			*l.to = c.length(v, o.at(l.key), 1)
		}
	}
	c.barcodeWords(o, n, ok)
	n.common = b.done()
	return n
}

// barcodeWords reads the keys that some symbologies have.
func (c *compiler) barcodeWords(o *object, n *barcodeNode, known bool) {
	linear := n.out.Symbology.Linear()
	if v := o.get("ecc"); v != nil {
		levels := []string{"L", "M", "Q", "H"}
		i, _ := c.choice(v, o.at("ecc"), levels...)
		n.out.Correction = levels[i]
		if known && n.out.Symbology != doc.QR {
			c.bad(v, o.at("ecc"), codeWrong, "", "only QR codes have a choice of error correction")
		}
	}
	if v := o.get("hri"); v != nil {
		words := []string{"on", "off"}
		i, _ := c.choice(v, o.at("hri"), words...)
		n.out.Readable = [2]doc.Switch{doc.SwitchOn, doc.SwitchOff}[i]
		if known && !linear {
			c.bad(v, o.at("hri"), codeWrong, "", "only linear barcodes have a readable text")
		}
	}
	switch size, module, height := o.n.Get("size"), o.n.Get("module"), o.n.Get("height"); {
	case size != nil && module != nil:
		c.bad(o.n.Key("module"), o.at("module"), codeWrong, "", "the size gives the module; give one of them")
	case known && !linear && height != nil:
		c.bad(o.n.Key("height"), o.at("height"), codeWrong, "", "only linear barcodes have bars with a height")
	}
}

func (n *barcodeNode) emit(r *render, out sink) error {
	if r.static != withData && !n.known() {
		return nil
	}
	code := n.out
	var err error
	if code.Block, err = n.fill(r); err != nil {
		return err
	}
	if n.payment != nil {
		if code.Value, err = r.payment(n.payment); err != nil {
			return err
		}
	} else {
		if code.Value, err = r.plain(n.value); err != nil {
			return err
		}
		code.From = doc.Origin{Frame: r.at, Part: n.id}
	}
	if n.alt != nil {
		if code.Alt, err = r.plain(n.alt); err != nil {
			return err
		}
	}
	return out(&code)
}

// known reports whether the code needs no data.
func (n *barcodeNode) known() bool {
	_, fixed := n.value.known()
	return fixed && n.payment == nil
}

// payment is the value of a code that pays: texts for the fields of a payload.
type payment struct {
	form   paymentForm
	fields []paymentField
	file   string
	node   *strictyaml.Node
	path   string
}

type paymentField struct {
	name   string // with that of its mapping before it: creditor.name
	text   *plainText
	amount *programAt // of a field that is an amount and comes from the data
}

// paymentForm is a kind of payload.
type paymentForm interface {
	// names are the fields, those of mappings with a full stop, in the order in which they are
	// told.
	names() []string
	payload(values map[string]string) (string, error)
}

type swissBill struct{}

func (swissBill) names() []string {
	names := []string{"iban"}
	for _, p := range []string{"creditor", "debtor"} {
		for _, f := range []string{"name", "street", "building", "postcode", "town", "country"} {
			names = append(names, p+"."+f)
		}
	}
	return append(names, "amount", "currency", "reference", "message", "details")
}

func (swissBill) payload(v map[string]string) (string, error) {
	party := func(p string) doc.Party {
		return doc.Party{
			Name: v[p+".name"], Street: v[p+".street"], Building: v[p+".building"],
			Postcode: v[p+".postcode"], Town: v[p+".town"], Country: v[p+".country"],
		}
	}
	bill := doc.SwissBill{
		IBAN: v["iban"], Creditor: party("creditor"), Amount: v["amount"], Currency: v["currency"],
		Reference: v["reference"], Message: v["message"], Details: v["details"],
	}
	if debtor := party("debtor"); debtor != (doc.Party{}) {
		bill.Debtor = &debtor
	}
	return bill.Payload()
}

type epcPayment struct{}

func (epcPayment) names() []string {
	return []string{"name", "iban", "bic", "amount", "purpose", "reference", "text", "details"}
}

func (epcPayment) payload(v map[string]string) (string, error) {
	p := doc.EPCPayment{
		Name: v["name"], IBAN: v["iban"], BIC: v["bic"], Amount: v["amount"], Purpose: v["purpose"],
		Reference: v["reference"], Text: v["text"], Details: v["details"],
	}
	return p.Payload()
}

func (c *compiler) payment(n *strictyaml.Node, path string, form paymentForm) *payment {
	o, ok := c.object(n, path, "the value of a payment")
	if !ok {
		return nil
	}
	p := &payment{form: form, file: c.file, node: n, path: path}
	inner := map[string]*object{}
	for _, name := range form.names() {
		in, key := o, name
		if group, field, nested := strings.Cut(name, "."); nested {
			if _, seen := inner[group]; !seen {
				inner[group] = nil
				if v := o.get(group); v != nil {
					if in, ok := c.object(v, o.at(group), "the "+group); ok {
						inner[group] = in
					}
				}
			}
			if in, key = inner[group], field; in == nil {
				continue
			}
		}
		v := in.get(key)
		if v == nil {
			continue
		}
		f := paymentField{name: name}
		if name == "amount" && v.IsScalar() && wrapped(v.Text) {
			if f.amount = c.expr(v, in.at(key)); f.amount != nil {
				if k := f.amount.prog.Type.Kind; k != exprlang.DecimalKind && k != exprlang.IntegerKind && k != exprlang.NumberKind {
					c.bad(v, in.at(key), exprlang.CodeType, "", "want a decimal, got %s", f.amount.prog.Type)
				}
			}
		} else {
			f.text = c.plain(v, in.at(key))
		}
		p.fields = append(p.fields, f)
	}
	for _, in := range inner {
		if in != nil {
			in.done()
		}
	}
	o.done()
	return p
}

// payment makes the payload of the values that the data give.
func (r *render) payment(p *payment) (string, error) {
	values := make(map[string]string, len(p.fields))
	for _, f := range p.fields {
		var err error
		if f.amount == nil {
			values[f.name], err = r.plain(f.text)
		} else {
			var v exprlang.Value
			if v, err = r.eval(f.amount); err == nil && !v.IsNull() {
				values[f.name] = cents(v.Dec())
			}
		}
		if err != nil {
			return "", err
		}
	}
	text, err := p.form.payload(values)
	if err == nil {
		return text, nil
	}
	d := diag.Diagnostic{Code: "L313", File: p.file, Line: p.node.Line, Col: p.node.Col, Path: p.path, Message: err.Error()}
	for _, f := range p.fields {
		reason, ok := strings.CutPrefix(err.Error(), f.name+": ")
		if !ok {
			continue
		}
		d.Path, d.Message = p.path+"."+f.name, reason
		if f.amount != nil {
			d.DataPath = r.at.source(f.amount.prog.Reads)
			continue
		}
		for _, part := range f.text.parts {
			if part.prog != nil {
				d.DataPath = r.at.source(part.prog.Reads)
			}
		}
	}
	return "", diag.Fail(d)
}

// cents writes an amount with two decimals, and one that has more as it is: it is refused then.
func cents(d decimal.Decimal) string {
	if two := d.Round(2); two.Cmp(d) == 0 {
		d = two
	}
	s := d.String()
	whole, fraction, _ := strings.Cut(s, ".")
	for len(fraction) < 2 {
		fraction += "0"
	}
	return whole + "." + fraction
}
