package pdf_test

import (
	"bytes"
	"context"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"example.com/quire/pdf"
	"example.com/quire/pdf/crypt"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/sign"
	"example.com/quire/pdf/standard"
	"example.com/quire/pdf/template"
)

// agreement has a place for a signature on its second page.
func agreement(b *doc.Builder) error {
	b.Title("Agreement").Lang("en").Heading(1, "Agreement").Text("first page").PageBreak().Text("second page")
	place := doc.NewField(doc.FieldSignature, "parties.bank", "Signature of the bank")
	b.Field(place)
	b.Field(doc.NewField(doc.FieldText, "name", "Name"))
	return nil
}

// TestDocumentsAreSignedWhileTheyAreRendered: each kind of key, in a field that shows the signature
// and without one, with each version of PDF. The signature is in the only revision, covers the file
// and is valid; the same input gives the same bytes where the key does; claims hold; and the file
// can be signed again.
func TestDocumentsAreSignedWhileTheyAreRendered(t *testing.T) {
	t.Parallel()
	e, a := newEngine(t, pdf.Config{}), newAuthority(t)
	for name, id := range a.identities(t) {
		for _, ids := range [][]standard.ID{nil, compliant, {standard.PDFA2b, standard.PDFUA1}} {
			for _, field := range []string{"", "parties.bank"} {
				at := fmt.Sprintf("%s %v %q", name, ids, field)
				o := pdf.RenderOptions{Standards: ids, Time: testTime, Sign: &pdf.SignRequest{Identity: id, Field: field, Reason: "Approved: (all) \\ ₹", Location: "Bern"}}
				body, res := render(t, e, o, agreement)
				v := a.verdicts(t, e, body)
				if len(v) != 1 || !v[0].Valid || !v[0].CoversFile || v[0].Revision != 1 || v[0].Level != "B-B" || v[0].Reason != "Approved: (all) \\ ₹" || v[0].Location != "Bern" {
					t.Errorf("%s: %+v", at, v)
				}
				if sum := sha256.Sum256(body); res.SHA256 != sum {
					t.Errorf("%s: another hash", at)
				}
				if again, _ := render(t, e, o, agreement); bytes.Equal(body, again) != res.Deterministic || res.Deterministic != (name != "RSA-PSS") {
					t.Errorf("%s: deterministic %t, the same %t", at, res.Deterministic, bytes.Equal(body, again))
				}
				d := opened(t, e, body)
				if len(d.Warnings()) > 0 || d.Info().Revisions != 1 {
					t.Errorf("%s: %v, %d revisions", at, d.Warnings(), d.Info().Revisions)
				}
				if ids != nil {
					if found, err := e.Check(t.Context(), d); err != nil || len(found) > 0 {
						t.Errorf("%s: %v %v", at, err, found)
					}
				}
				if name != "P-256" {
					continue
				}
				path := pdftest.Write(t, "signed.pdf", body)
				if err := pdftest.QPDF(t, path); err != nil {
					t.Errorf("%s: %v", at, err)
				}
				shown := strings.Count(pdftest.Text(t, path), "Ada P-256")
				if want := map[string]int{"": 0, "parties.bank": 1}[field]; shown != want {
					t.Errorf("%s: the name is shown %d times", at, shown)
				}
				twice := signed(t, e, body, pdf.SignRequest{Identity: id})
				for i, v := range a.verdicts(t, e, twice) {
					if !v.Valid || v.CoversFile != (i == 1) {
						t.Errorf("%s: signed again: %+v", at, v)
					}
				}
			}
		}
	}
}

// TestSignedRenderingsHoldForOtherPrograms: openssl, poppler and veraPDF, of a certification too.
func TestSignedRenderingsHoldForOtherPrograms(t *testing.T) {
	t.Parallel()
	e, a := newEngine(t, pdf.Config{}), newAuthority(t)
	ca, id := a.pemFile(t), a.identity(t, "Ada", ecKey(t, elliptic.P384()))
	files := veraFolders{}
	pictured := func(b *doc.Builder) error {
		place := doc.NewField(doc.FieldSignature, "pictured", "Signature with a picture")
		place.Picture = &doc.Image{Name: "red.png", Data: picture(t, true)}
		b.Field(place)
		return agreement(b)
	}
	for i, ids := range [][]standard.ID{compliant, {standard.PDFA2b, standard.PDFUA1}} {
		for _, field := range []string{"", "parties.bank", "pictured"} {
			body, _ := render(t, e, pdf.RenderOptions{Standards: ids, Time: testTime, Sign: &pdf.SignRequest{Identity: id, Field: field, Certify: pdf.CertifyFormFilling}}, pictured)
			if out, ok := opensslAccepts(t, body, body, ca); !ok {
				t.Errorf("%v %q: openssl:\n%s", ids, field, out)
			}
			out, _ := pdftest.Run(t, "pdfsig", pdftest.Write(t, "signed.pdf", body))
			if strings.Count(out, "Signature is Valid.") != 1 || !strings.Contains(out, "Total document signed") {
				t.Errorf("%v %q: pdfsig:\n%s", ids, field, out)
			}
			if v := a.verdicts(t, e, body); v[0].Certifies != 2 {
				t.Errorf("%v %q: %+v", ids, field, v)
			}
			for _, id := range ids {
				files.put(t, flavours[id], fmt.Sprintf("%d%s", i, field), body)
			}
			flipped := bytes.Clone(body)
			flipped[bytes.Index(flipped, []byte("Agreement"))] ^= 1
			if _, ok := opensslAccepts(t, flipped, body, ca); ok || a.verdicts(t, e, flipped)[0].Valid {
				t.Errorf("%v %q: a changed file is valid", ids, field)
			}
		}
	}
	for flavour, verdicts := range files.verdicts(t) {
		for name, v := range verdicts {
			if !v.Compliant {
				t.Errorf("%s %s: %v %s", flavour, name, v.Clauses, strings.Join(v.Messages, "\n"))
			}
		}
	}
}

// TestTimestampOfARendering makes the signature one of level B-T.
func TestTimestampOfARendering(t *testing.T) {
	t.Parallel()
	e, a := newEngine(t, pdf.Config{}), newAuthority(t)
	id := a.identity(t, "Ada", ecKey(t, elliptic.P256()))
	server := a.stampAuthority(t)
	id.TSA = &sign.TSA{URL: server.URL, HTTP: server.Client()}
	body, res := render(t, e, pdf.RenderOptions{Time: testTime, Sign: &pdf.SignRequest{Identity: id}}, agreement)
	if v := a.verdicts(t, e, body); len(v) != 1 || !v[0].Valid || v[0].Level != "B-T" || res.Deterministic {
		t.Errorf("%+v, deterministic %t", v, res.Deterministic)
	}
}

// TestRenderingIsSignedOrFails: what cannot be is a typed error that names it, and what was written
// is no document.
func TestRenderingIsSignedOrFails(t *testing.T) {
	t.Parallel()
	e, a := newEngine(t, pdf.Config{}), newAuthority(t)
	key := ecKey(t, elliptic.P256())
	good := a.identity(t, "Ada", key)
	other := newAuthority(t)
	for name, x := range map[string]struct {
		o    pdf.RenderOptions
		want string
	}{
		"no time":            {pdf.RenderOptions{Sign: &pdf.SignRequest{Identity: good}}, "time: got none"},
		"no identity":        {pdf.RenderOptions{Time: testTime, Sign: &pdf.SignRequest{}}, "key: got none"},
		"no key":             {pdf.RenderOptions{Time: testTime, Sign: &pdf.SignRequest{Identity: &sign.Identity{Chain: good.Chain}}}, "key: got none"},
		"other key":          {pdf.RenderOptions{Time: testTime, Sign: &pdf.SignRequest{Identity: &sign.Identity{Key: ecKey(t, elliptic.P256()), Chain: good.Chain}}}, "not that of the certificate"},
		"other issuer":       {pdf.RenderOptions{Time: testTime, Sign: &pdf.SignRequest{Identity: &sign.Identity{Key: key, Chain: append(good.Chain[:1:1], other.cert)}}}, "did not issue"},
		"expired":            {pdf.RenderOptions{Time: testTime.AddDate(60, 0, 0), Sign: &pdf.SignRequest{Identity: good}}, "is valid from"},
		"encrypted":          {pdf.RenderOptions{Time: testTime, Protect: &crypt.Options{Owner: "o"}, Sign: &pdf.SignRequest{Identity: good}}, "protect: got"},
		"box":                {pdf.RenderOptions{Time: testTime, Sign: &pdf.SignRequest{Identity: good, Rect: [4]float64{1, 1, 9, 9}}}, "box: got"},
		"unknown field":      {pdf.RenderOptions{Time: testTime, Sign: &pdf.SignRequest{Identity: good, Field: "parties.client"}}, `no signature field "parties.client"`},
		"text field":         {pdf.RenderOptions{Time: testTime, Sign: &pdf.SignRequest{Identity: good, Field: "name"}}, "sign parties.bank"},
		"key that fails":     {pdf.RenderOptions{Time: testTime, Sign: &pdf.SignRequest{Identity: &sign.Identity{Key: failingKey{key}, Chain: good.Chain}}}, "the token is gone"},
		"key of the wrong":   {pdf.RenderOptions{Time: testTime, Sign: &pdf.SignRequest{Identity: &sign.Identity{Key: wrongKey{key}, Chain: good.Chain}}}, "not one of the key"},
		"unknown certifying": {pdf.RenderOptions{Time: testTime, Sign: &pdf.SignRequest{Identity: good, Certify: 9}}, "certify: got"},
	} {
		var out bytes.Buffer
		res, err := e.Build(t.Context(), &out, x.o, agreement)
		option, typed := errors.AsType[*pdf.OptionError](err)
		if err == nil || res != nil || !typed && !errors.Is(err, pdf.ErrSigner) || !strings.Contains(err.Error(), x.want) && !strings.Contains(fmt.Sprint(diagnosticsOf(err)), x.want) {
			t.Errorf("%s: %v, %+v", name, err, option)
		}
		if bytes.Contains(out.Bytes(), []byte("%%EOF")) {
			t.Errorf("%s: a document was written", name)
		}
	}
	if _, err := e.Build(t.Context(), &bytes.Buffer{}, pdf.RenderOptions{Time: testTime, Sign: &pdf.SignRequest{Identity: good}}, agreement); err != nil {
		t.Errorf("the good one: %v", err)
	}
}

// keyring has signers by their names.
type keyring map[string]*sign.Identity

// Identity implements pdf.Signers.
func (k keyring) Identity(_ context.Context, name string) (*sign.Identity, error) {
	if id := k[name]; id != nil {
		return id, nil
	}
	return nil, errors.New("no such signer")
}

// TestSignaturesAreWrittenAgain: with the signature of the first rendering the same file is made
// without a key, whatever kind the key was; a document that differs in a letter is refused, and so
// is a signature of level B-T.
func TestSignaturesAreWrittenAgain(t *testing.T) {
	t.Parallel()
	e, a := newEngine(t, pdf.Config{}), newAuthority(t)
	signing := func(text string) func(*doc.Builder) error {
		return func(b *doc.Builder) error {
			b.Text(text).Sign(doc.Signing{Signer: "ada", Field: "parties.bank", Reason: "Built"})
			return agreement(b)
		}
	}
	for name, id := range a.identities(t) {
		first, res := render(t, e, pdf.RenderOptions{Time: testTime, Signers: keyring{"ada": id}}, signing("one"))
		again, same := render(t, e, pdf.RenderOptions{Time: testTime, Signature: res.Signature}, signing("one"))
		if !bytes.Equal(first, again) || !bytes.Equal(res.Signature, same.Signature) || len(res.Signature) == 0 {
			t.Errorf("%s: another file", name)
		}
		var out bytes.Buffer
		if _, err := e.Build(t.Context(), &out, pdf.RenderOptions{Time: testTime, Signature: res.Signature}, signing("two")); !errors.Is(err, pdf.ErrSigner) || bytes.Contains(out.Bytes(), []byte("%%EOF")) {
			t.Errorf("%s: another text: %v", name, err)
		}
	}
	id := a.identity(t, "Ada", ecKey(t, elliptic.P256()))
	server := a.stampAuthority(t)
	id.TSA = &sign.TSA{URL: server.URL, HTTP: server.Client()}
	_, res := render(t, e, pdf.RenderOptions{Time: testTime, Signers: keyring{"ada": id}}, signing("one"))
	for what, kept := range map[string][]byte{"B-T": res.Signature, "no signature": []byte("x")} {
		if _, err := e.Build(t.Context(), &bytes.Buffer{}, pdf.RenderOptions{Time: testTime, Signature: kept}, signing("one")); !errors.Is(err, pdf.ErrSigner) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestTemplatesAskForTheirSignature: a template says who signs, where it is shown, and what is said
// of it; a document in Go says the same. A request of its own goes before, and a draft has none.
func TestTemplatesAskForTheirSignature(t *testing.T) {
	t.Parallel()
	e, a := newEngine(t, pdf.Config{}), newAuthority(t)
	stamped := a.identity(t, "Bob", ecKey(t, elliptic.P256()))
	server := a.stampAuthority(t)
	stamped.TSA = &sign.TSA{URL: server.URL, HTTP: server.Client()}
	keys := keyring{"ada": a.identity(t, "Ada", ecKey(t, elliptic.P256())), "bob": stamped}
	made := func(asked string, o pdf.RenderOptions) ([]byte, error) {
		plan, err := e.Compile(t.Context(), pdf.Source{File: "t.yaml", Text: []byte("quire: 1\nname: x\nlang: en\ntitle: T\ndata: {no: string}\nsign: {" + asked +
			"}\nbody: [{text: a}, {signature: bank.place, alt: Signature of the bank, width: 70mm, height: 22mm, show: [reason, name]}]\n")})
		if err != nil {
			t.Fatal(err)
		}
		o.Time = testTime
		var out bytes.Buffer
		_, err = e.Render(t.Context(), &out, plan, template.JSON([]byte(`{"no": "17"}`)), o)
		return out.Bytes(), err
	}
	const whole = `signer: ada, field: bank.place, name: Ada L., reason: "Statement ${no}", location: Bern, contact: "bank@example.com", certify: fill`
	body, err := made(whole, pdf.RenderOptions{Signers: keys})
	if err != nil {
		t.Fatal(err)
	}
	v := a.verdicts(t, e, body)
	if len(v) != 1 || !v[0].Valid || !v[0].CoversFile || v[0].Level != "B-B" || v[0].Field != "bank.place" || v[0].Reason != "Statement 17" || v[0].Location != "Bern" || v[0].Certifies != 2 {
		t.Errorf("%+v", v)
	}
	if text := pdftest.Text(t, pdftest.Write(t, "signed.pdf", body)); !regexp.MustCompile(`Statement 17\s+Ada L\.`).MatchString(text) || strings.Contains(text, "Bern") {
		t.Errorf("shown is %q", text)
	}
	for level, want := range map[string]string{"signer: bob": "B-T", "signer: bob, level: B-T": "B-T", "signer: bob, level: B-B": "B-B"} {
		if body, err = made(level, pdf.RenderOptions{Signers: keys}); err != nil || a.verdicts(t, e, body)[0].Level != want {
			t.Errorf("%s: %v", level, err)
		}
	}
	other := pdf.RenderOptions{Signers: keys, Sign: &pdf.SignRequest{Identity: stamped, Reason: "asked for"}}
	if body, err = made(whole, other); err != nil || a.verdicts(t, e, body)[0].Reason != "asked for" {
		t.Errorf("a request of its own: %v", err)
	}
	if body, err = made(whole, pdf.RenderOptions{Draft: true}); err != nil || len(a.verdicts(t, e, body)) != 0 {
		t.Errorf("a draft: %v", err)
	}
	plan, err := e.Compile(t.Context(), pdf.Source{File: "t.yaml", Text: []byte("quire: 1\nname: x\nlang: en\ntitle: T\nsign: {signer: ada}\nbody: [{text: a}]\n")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Render(t.Context(), &bytes.Buffer{}, plan, template.JSON([]byte("{}")), pdf.RenderOptions{Signers: keys}); !errors.Is(err, pdf.ErrSigner) || !strings.Contains(err.Error(), "t.yaml:5:7: sign: ") {
		t.Errorf("without a time: %v", err)
	}
	old := pdf.RenderOptions{Signers: keys, Time: testTime.AddDate(60, 0, 0)}
	if _, err := e.Render(t.Context(), &bytes.Buffer{}, plan, template.JSON([]byte("{}")), old); !errors.Is(err, pdf.ErrSigner) || !strings.Contains(err.Error(), `t.yaml:5:7: sign: the signer "ada" has a certificate of Ada that is valid from`) {
		t.Errorf("an expired certificate: %v", err)
	}
	for asked, want := range map[string]string{
		"signer: eve":                    `"eve": no such signer`,
		"signer: ada, level: B-T":        "has no time-stamp authority",
		"signer: ada, field: bank.other": `no signature field "bank.other"`,
	} {
		body, err := made(asked, pdf.RenderOptions{Signers: keys})
		if !errors.Is(err, pdf.ErrSigner) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "t.yaml:6:7: sign: ") || bytes.Contains(body, []byte("%%EOF")) {
			t.Errorf("%s: %v", asked, err)
		}
	}
	if _, err := made(whole, pdf.RenderOptions{}); !errors.Is(err, pdf.ErrSigner) || !strings.Contains(err.Error(), "t.yaml:6:") {
		t.Errorf("without signers: %v", err)
	}
	body, _ = render(t, e, pdf.RenderOptions{Time: testTime, Signers: keys}, func(b *doc.Builder) error {
		b.Sign(doc.Signing{Signer: "ada", Field: "parties.bank", Reason: "Built"})
		return agreement(b)
	})
	if v := a.verdicts(t, e, body); len(v) != 1 || !v[0].Valid || v[0].Reason != "Built" {
		t.Errorf("%+v", v)
	}
}

// TestSignaturesShowTheirPicture: in the left half beside what they say, or alone in the middle; a
// place that is not signed shows none. A template and Go give the same bytes.
func TestSignaturesShowTheirPicture(t *testing.T) {
	t.Parallel()
	red := picture(t, false)
	a := newAuthority(t)
	files := fstest.MapFS{"red.png": {Data: red}}
	e, err := pdf.New(pdf.Config{Files: files})
	if err != nil {
		t.Fatal(err)
	}
	keys := keyring{"ada": a.identity(t, "Ada", ecKey(t, elliptic.P256()))}
	reddish := func(body []byte) (left, right int) {
		page := pdftest.RasterFirst(t, pdftest.Write(t, "signed.pdf", body))
		middle := page.Bounds().Dx() * 25 / 210 * 2 // of a field of 10 to 90 mm
		for y := page.Bounds().Min.Y; y < page.Bounds().Max.Y; y++ {
			for x := page.Bounds().Min.X; x < page.Bounds().Max.X; x++ {
				if r, g, b, _ := page.At(x, y).RGBA(); r > 0x8000 && g < 0x6000 && b < 0x6000 {
					if x < middle {
						left++
					} else {
						right++
					}
				}
			}
		}
		return left, right
	}
	for _, c := range []struct {
		show  string
		lines []doc.SignatureLine
		sign  string
		left  bool
		right bool
	}{
		{"[name]", []doc.SignatureLine{doc.LineName}, "place", true, false},
		{"[]", []doc.SignatureLine{}, "place", true, true},
		{"[name]", []doc.SignatureLine{doc.LineName}, "", false, false},
	} {
		field := ""
		if c.sign != "" {
			field = ", field: " + c.sign
		}
		for _, source := range []string{"red.png", `"${hand}"`, `"${none}"`} {
			o := pdf.RenderOptions{Time: testTime, Signers: keys, Standards: compliant}
			plan, err := e.Compile(t.Context(), pdf.Source{File: "t.yaml", Files: files, Text: []byte("quire: 1\nname: x\nlang: en\ntitle: T\ntheme: none\ndata: {hand: image, none: \"image?\"}\npage: {margin: 10mm}\nsign: {signer: ada" + field +
				"}\nbody: [{signature: place, alt: Signature, width: 80mm, height: 20mm, show: " + c.show + ", picture: " + source + "}]\n")})
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			data := `{"hand": "` + base64.StdEncoding.EncodeToString(red) + `"}`
			if _, err := e.Render(t.Context(), &out, plan, template.JSON([]byte(data)), o); err != nil {
				t.Fatal(err)
			}
			made, _ := render(t, e, o, func(b *doc.Builder) error {
				page := doc.A4()
				page.Margins = doc.Same(doc.MM(10))
				f := doc.NewField(doc.FieldSignature, "place", "Signature")
				f.Caption, f.Width, f.Height, f.Show = doc.CaptionNone, doc.MM(80), doc.MM(20), c.lines
				if source != `"${none}"` {
					f.Picture = &doc.Image{Name: "red.png", Data: red}
				}
				b.Title("T").Lang("en").Page(page).Sign(doc.Signing{Signer: "ada", Field: c.sign}).Field(f)
				return nil
			})
			if !bytes.Equal(out.Bytes(), made) {
				t.Errorf("%s %s: %d bytes by the template, %d by Go", c.show, source, out.Len(), len(made))
			}
			left, right := reddish(made)
			if none := source == `"${none}"`; left > 0 != (c.left && !none) || right > 0 != (c.right && !none) {
				t.Errorf("%+v %s: %d and %d points are red", c, source, left, right)
			}
		}
	}
}
