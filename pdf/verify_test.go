//go:build !race

package pdf_test

import (
	"bytes"
	"crypto"
	"crypto/elliptic"
	crand "crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/crypt"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/sign"
)

// updated appends a revision to a file, as any program could: f puts objects.
func updated(tb testing.TB, b []byte, f func(*cos.Reader, *cos.Update)) []byte {
	tb.Helper()
	r, err := cos.NewReader(bytes.NewReader(b), int64(len(b)), cos.ReaderOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	u, err := cos.NewUpdate(r, nil, nil)
	if err != nil {
		tb.Fatal(err)
	}
	f(r, u)
	root, _ := r.Trailer().Get("Root").(cos.Ref)
	more, err := u.Close(root, cos.Ref{})
	if err != nil {
		tb.Fatal(err)
	}
	return slices.Concat(b, more)
}

// put writes an object anew with a value under a key.
func put(tb testing.TB, r *cos.Reader, u *cos.Update, o cos.Object, key cos.Name, v cos.Object) {
	tb.Helper()
	ref, _ := o.(cos.Ref)
	d, err := r.Dict(ref)
	if err != nil || ref.IsZero() {
		tb.Fatal(ref, err)
	}
	out := cos.Dict{}
	for _, x := range d {
		if x.Key != key {
			out = append(out, x)
		}
	}
	if err := u.Put(ref, append(out, cos.E(key, v))); err != nil {
		tb.Fatal(err)
	}
}

// firstPage returns the first page of a file with a flat page tree.
func firstPage(tb testing.TB, r *cos.Reader) cos.Ref {
	tb.Helper()
	root, err := r.Dict(r.Trailer().Get("Root"))
	if err != nil {
		tb.Fatal(err)
	}
	node, err := r.Dict(root.Get("Pages"))
	for err == nil {
		kids, _ := node.Get("Kids").(cos.Array)
		page, _ := kids[0].(cos.Ref)
		if node, err = r.Dict(page); node.Get("Type") != cos.Object(cos.Name("Pages")) {
			return page
		}
	}
	tb.Fatal(err)
	return cos.Ref{}
}

// TestAttacksOnSignaturesAreDetected: what was written behind a signature, or into what it leaves
// out, to make a file show something else. None is valid, and each says why.
func TestAttacksOnSignaturesAreDetected(t *testing.T) {
	t.Parallel()
	e, a := newEngine(t, pdf.Config{}), newAuthority(t)
	id := a.identity(t, "Ada", ecKey(t, elliptic.P256()))
	body, _ := render(t, e, pdf.RenderOptions{Standards: compliant, Time: testTime}, note("Attacked", 2))
	whole := signed(t, e, body, pdf.SignRequest{Identity: id})
	certified := signed(t, e, body, pdf.SignRequest{Identity: id, Certify: pdf.CertifyNoChanges})
	filling := signed(t, e, body, pdf.SignRequest{Identity: id, Certify: pdf.CertifyFormFilling})
	page := func(key cos.Name, v cos.Object) func(*cos.Reader, *cos.Update) {
		return func(r *cos.Reader, u *cos.Update) { put(t, r, u, firstPage(t, r), key, v) }
	}
	square := func(r *cos.Reader, u *cos.Update) {
		n := u.Reserve()
		if err := u.Put(n, cos.Dict{cos.E("Type", cos.Name("Annot")), cos.E("Subtype", cos.Name("Square")), cos.E("Rect", cos.Array{cos.Int(0), cos.Int(0), cos.Int(600), cos.Int(800)})}); err != nil {
			t.Fatal(err)
		}
		d, err := r.Dict(firstPage(t, r))
		if err != nil {
			t.Fatal(err)
		}
		old, _ := d.Get("Annots").(cos.Array)
		put(t, r, u, firstPage(t, r), "Annots", append(slices.Clone(old), n))
	}
	ranges := regexp.MustCompile(`/ByteRange \[0 (\d+) (\d+) (\d+) *\]`)
	forged := func(f func(a, b, c int) string) []byte {
		m := ranges.FindSubmatch(whole)
		var n [3]int
		for i := range n {
			n[i], _ = strconv.Atoi(string(m[i+1]))
		}
		to := "/ByteRange " + f(n[0], n[1], n[2])
		if len(to) > len(m[0]) {
			t.Fatal(to)
		}
		return bytes.Replace(whole, m[0], []byte(to+strings.Repeat(" ", len(m[0])-len(to))), 1)
	}
	for name, c := range map[string]struct {
		file []byte
		want string // in what is told
	}{
		"incremental saving: other content":   {updated(t, whole, func(r *cos.Reader, u *cos.Update) { _ = r; page("Contents", cos.Null{})(r, u) }), "page 1: Contents"},
		"shadow: the page is made larger":     {updated(t, whole, page("MediaBox", cos.Array{cos.Int(0), cos.Int(0), cos.Int(5), cos.Int(5)})), "page 1: MediaBox"},
		"shadow: other resources":             {updated(t, whole, page("Resources", cos.Dict{})), "page 1: Resources"},
		"annotation hides, certified":         {updated(t, certified, square), "an annotation Square"},
		"annotation hides, filling":           {updated(t, filling, square), "an annotation Square"},
		"an object is replaced":               {updated(t, whole, func(_ *cos.Reader, u *cos.Update) { _ = u.Put(fontOf(t, whole), cos.Dict{}) }), "changed an object"},
		"universal forgery: no byte range":    {forged(func(int, int, int) string { return "null" }), "byte range is not valid"},
		"universal forgery: negative":         {forged(func(a, b, c int) string { return fmt.Sprintf("[0 -%d %d %d]", a, b, c) }), "byte range is not valid"},
		"universal forgery: short":            {forged(func(a, b, _ int) string { return fmt.Sprintf("[0 %d %d]", a, b) }), "byte range is not valid"},
		"wrapping: a wider gap":               {forged(func(a, b, c int) string { return fmt.Sprintf("[0 %d %d %d]", a-9, b, c) }), "not exactly its contents"},
		"wrapping: the end is moved":          {forged(func(a, b, c int) string { return fmt.Sprintf("[0 %d %d %d]", a, b, c-9) }), "changed"},
		"wrapping: it begins later":           {forged(func(a, b, c int) string { return fmt.Sprintf("[1 %d %d %d]", a, b, c) }), "does not begin with the file"},
		"the field is another":                {updated(t, whole, func(r *cos.Reader, u *cos.Update) { put(t, r, u, signatureOf(t, r), "T", cos.Text("Other")) }), "not a complete revision"},
		"the signature dictionary is another": {updated(t, whole, func(r *cos.Reader, u *cos.Update) { put(t, r, u, valueOf(t, r), "Reason", cos.Text("other")) }), "changed an object of the type Sig"},
	} {
		d, err := e.Open(t.Context(), bytes.NewReader(c.file), int64(len(c.file)), pdf.OpenOptions{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		v, err := e.Verify(t.Context(), d, pdf.VerifyOptions{Roots: []*x509.Certificate{a.cert}, At: testTime})
		if err != nil || len(v) != 1 || v[0].Valid || !strings.Contains(strings.Join(v[0].Reasons, "; "), c.want) {
			t.Errorf("%s: %v %+v", name, err, v)
		}
	}
	// A note is allowed where nothing says otherwise.
	v := a.verdicts(t, e, updated(t, whole, square))
	if !v[0].Valid || v[0].Later != "allowed" || v[0].CoversFile || len(v[0].Changes) != 1 || v[0].Changes[0].Revision != 3 {
		t.Errorf("a note: %+v", v)
	}
}

// signatureOf returns the first field of the form.
func signatureOf(tb testing.TB, r *cos.Reader) cos.Object {
	tb.Helper()
	root, err := r.Dict(r.Trailer().Get("Root"))
	if err != nil {
		tb.Fatal(err)
	}
	form, err := r.Dict(root.Get("AcroForm"))
	if err != nil {
		tb.Fatal(err)
	}
	fields, _ := form.Get("Fields").(cos.Array)
	return fields[0]
}

// valueOf returns the value of the first field.
func valueOf(tb testing.TB, r *cos.Reader) cos.Object {
	tb.Helper()
	f, err := r.Dict(signatureOf(tb, r))
	if err != nil {
		tb.Fatal(err)
	}
	return f.Get("V")
}

// fontOf returns a font of a file.
func fontOf(tb testing.TB, b []byte) cos.Ref {
	tb.Helper()
	r, err := cos.NewReader(bytes.NewReader(b), int64(len(b)), cos.ReaderOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	for ref := range r.Refs() {
		if d, err := r.Dict(ref); err == nil && d.Get("Type") == cos.Object(cos.Name("Font")) {
			return ref
		}
	}
	tb.Fatal("no font")
	return cos.Ref{}
}

// TestEveryFlippedByteBreaksTheSignature: a bit of any byte that is signed.
func TestEveryFlippedByteBreaksTheSignature(t *testing.T) {
	t.Parallel()
	e, a := newEngine(t, pdf.Config{}), newAuthority(t)
	body, _ := render(t, e, pdf.RenderOptions{}, func(b *doc.Builder) error { b.Text("signed"); return nil })
	file := signed(t, e, body, pdf.SignRequest{Identity: a.identity(t, "Ada", ecKey(t, elliptic.P256()))})
	for _, at := range flips(t, file, 100) {
		b := bytes.Clone(file)
		b[at] ^= 1 << (at % 8)
		if why := a.accepts(t, e, b); why != "" {
			t.Errorf("byte %d: %s", at, why)
		}
	}
}

// flips returns places within what the only signature of a file covers.
func flips(tb testing.TB, file []byte, n int) (out []int) {
	tb.Helper()
	m := regexp.MustCompile(`/ByteRange \[0 (\d+) (\d+) `).FindSubmatch(file)
	from, _ := strconv.Atoi(string(m[1]))
	to, _ := strconv.Atoi(string(m[2]))
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // G404: the same places each time
	for len(out) < n {
		if at := r.IntN(len(file)); at < from || at >= to {
			out = append(out, at)
		}
	}
	return out
}

// accepts says what is valid in a file that must not be, empty when nothing is.
func (a *authority) accepts(tb testing.TB, e *pdf.Engine, b []byte) string {
	tb.Helper()
	d, err := e.Open(tb.Context(), bytes.NewReader(b), int64(len(b)), pdf.OpenOptions{})
	if err != nil {
		return ""
	}
	list, err := e.Verify(tb.Context(), d, pdf.VerifyOptions{Roots: []*x509.Certificate{a.cert}, At: testTime})
	if err != nil {
		return ""
	}
	for _, v := range list {
		if v.Valid || v.Integrity == "intact" {
			return fmt.Sprintf("%+v", v)
		}
	}
	return ""
}

// TestVerdictsTellApartWhyASignerIsNotTrusted.
func TestVerdictsTellApartWhyASignerIsNotTrusted(t *testing.T) {
	t.Parallel()
	e, a, other := newEngine(t, pdf.Config{}), newAuthority(t), newAuthority(t)
	body, _ := render(t, e, pdf.RenderOptions{}, func(b *doc.Builder) error { b.Text("signed"); return nil })
	file := signed(t, e, body, pdf.SignRequest{Identity: a.identity(t, "Ada", ecKey(t, elliptic.P256()))})
	for name, c := range map[string]struct {
		o     pdf.VerifyOptions
		trust string
		want  string
	}{
		"trusted":    {pdf.VerifyOptions{Roots: []*x509.Certificate{a.cert}, At: testTime}, "trusted", "revocation is not checked"},
		"no roots":   {pdf.VerifyOptions{At: testTime}, "untrusted", "no trusted roots were given"},
		"other root": {pdf.VerifyOptions{Roots: []*x509.Certificate{other.cert}, At: testTime}, "untrusted", "do not lead to a trusted root"},
		"expired":    {pdf.VerifyOptions{Roots: []*x509.Certificate{a.cert}, At: testTime.AddDate(40, 0, 0)}, "expired", "expired or not yet valid on 2066-03-01"},
	} {
		v, err := e.Verify(t.Context(), opened(t, e, file), c.o)
		if err != nil || len(v) != 1 || v[0].Trust != c.trust || v[0].Integrity != "intact" || v[0].Valid != (c.trust == "trusted") || !strings.Contains(strings.Join(v[0].Reasons, "; "), c.want) {
			t.Errorf("%s: %v %+v", name, err, v)
		}
	}
}

// TestSigningFailsClosed: nothing is written, and what is wrong is named.
func TestSigningFailsClosed(t *testing.T) {
	t.Parallel()
	e, a := newEngine(t, pdf.Config{}), newAuthority(t)
	key := ecKey(t, elliptic.P256())
	id := a.identity(t, "Ada", key)
	body, _ := render(t, e, pdf.RenderOptions{}, func(b *doc.Builder) error { b.Text("signed"); return nil })
	locked, _ := render(t, e, pdf.RenderOptions{Protect: &crypt.Options{Owner: "o"}}, func(b *doc.Builder) error { b.Text("signed"); return nil })
	certified := signed(t, e, body, pdf.SignRequest{Identity: id, Certify: pdf.CertifyNoChanges})
	once := signed(t, e, body, pdf.SignRequest{Identity: id, Field: "One"})
	damaged := bytes.Replace(body, []byte("startxref"), []byte("startxxxx"), 1)
	server := a.issue(t, "server", key.Public(), a.cert, func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageKeyEncipherment })
	small := &x509.Certificate{PublicKey: &rsa.PublicKey{N: id.Chain[0].SerialNumber, E: 65537}}
	for name, c := range map[string]struct {
		file []byte
		r    pdf.SignRequest
		want string
	}{
		"no identity":        {body, pdf.SignRequest{Time: testTime}, "key: got none"},
		"no time":            {body, pdf.SignRequest{Identity: id}, "time: got none"},
		"no certificate":     {body, pdf.SignRequest{Identity: &sign.Identity{Key: key}, Time: testTime}, "no certificate"},
		"other key":          {body, pdf.SignRequest{Identity: &sign.Identity{Key: ecKey(t, elliptic.P256()), Chain: id.Chain}, Time: testTime}, "not that of the certificate"},
		"no key":             {body, pdf.SignRequest{Identity: &sign.Identity{Chain: id.Chain}, Time: testTime}, "got no key"},
		"expired":            {body, pdf.SignRequest{Identity: id, Time: testTime.AddDate(50, 0, 0)}, "valid on 2076"},
		"key usage":          {body, pdf.SignRequest{Identity: &sign.Identity{Key: key, Chain: []*x509.Certificate{server}}, Time: testTime}, "key usage does not allow signatures"},
		"weak key":           {body, pdf.SignRequest{Identity: &sign.Identity{Chain: []*x509.Certificate{small}}, Time: testTime}, "want 2048 bits"},
		"chain out of order": {body, pdf.SignRequest{Identity: &sign.Identity{Key: key, Chain: []*x509.Certificate{id.Chain[0], server}}, Time: testTime}, "did not issue"},
		"encrypted":          {locked, pdf.SignRequest{Identity: id, Time: testTime}, "an encrypted file"},
		"damaged":            {damaged, pdf.SignRequest{Identity: id, Time: testTime}, "a damaged file"},
		"certified":          {certified, pdf.SignRequest{Identity: id, Time: testTime}, "certified to stay as it is"},
		"certified too late": {once, pdf.SignRequest{Identity: id, Time: testTime, Certify: pdf.CertifyAnnotations}, "before every other signature"},
		"field is signed":    {once, pdf.SignRequest{Identity: id, Time: testTime, Field: "One"}, `"One", which is signed`},
		"dotted field":       {body, pdf.SignRequest{Identity: id, Time: testTime, Field: "a.b"}, "without a full stop"},
		"no such page":       {body, pdf.SignRequest{Identity: id, Time: testTime, Page: 2}, "page: got 2, want 1 to 1"},
		"box outside":        {body, pdf.SignRequest{Identity: id, Time: testTime, Rect: [4]float64{0, 0, 9000, 90}}, "within those of page 1"},
		"box too small":      {body, pdf.SignRequest{Identity: id, Time: testTime, Rect: [4]float64{0, 0, 20, 8}}, "too small"},
	} {
		var out bytes.Buffer
		_, err := e.Sign(t.Context(), &out, opened(t, e, c.file), c.r)
		var option *pdf.OptionError
		if !errors.As(err, &option) || !strings.Contains(err.Error(), c.want) || out.Len() > 0 {
			t.Errorf("%s: %v, %d bytes", name, err, out.Len())
		}
	}
}

// TestKeysElsewhereSignInTwoSteps: the file with room goes out, the signature comes in; one that is
// not of the certificate does not.
func TestKeysElsewhereSignInTwoSteps(t *testing.T) {
	t.Parallel()
	e, a := newEngine(t, pdf.Config{}), newAuthority(t)
	body, _ := render(t, e, pdf.RenderOptions{}, func(b *doc.Builder) error { b.Text("signed"); return nil })
	for name, id := range a.identities(t) {
		key := id.Key
		id.Key = nil
		var prepared bytes.Buffer
		s, err := e.PrepareSign(t.Context(), &prepared, opened(t, e, body), pdf.SignRequest{Identity: id, Time: testTime})
		if err != nil {
			t.Fatal(name, err)
		}
		if v := a.verdicts(t, e, prepared.Bytes()); len(v) != 1 || v[0].Valid || v[0].Integrity != "broken" {
			t.Errorf("%s, prepared: %+v", name, v)
		}
		var out bytes.Buffer
		if _, err := e.FinishSign(t.Context(), &out, opened(t, e, prepared.Bytes()), id, make([]byte, 64)); !errors.Is(err, pdf.ErrSigner) || out.Len() > 0 {
			t.Errorf("%s, a wrong signature: %v", name, err)
		}
		signature := signedElsewhere(t, key, id.PSS, id.Hash(), s)
		if _, err := e.FinishSign(t.Context(), &out, opened(t, e, prepared.Bytes()), id, signature); err != nil {
			t.Fatal(name, err)
		}
		if v := a.verdicts(t, e, out.Bytes()); len(v) != 1 || !v[0].Valid {
			t.Errorf("%s: %+v", name, v)
		}
		if _, err := e.FinishSign(t.Context(), &out, opened(t, e, out.Bytes()), id, signature); err == nil {
			t.Errorf("%s was finished twice", name)
		}
	}
}

// signedElsewhere signs what a Summary says.
func signedElsewhere(tb testing.TB, key crypto.Signer, pss bool, h crypto.Hash, s *pdf.Summary) []byte {
	tb.Helper()
	message, opts := s.Message, crypto.SignerOpts(crypto.Hash(0))
	if s.Digest != "" {
		f := h.New()
		f.Write(s.Message)
		message, opts = f.Sum(nil), h
		if got := fmt.Sprintf("%x", message); got != s.Digest {
			tb.Errorf("digest %s, want %s", s.Digest, got)
		}
	}
	if pss {
		opts = &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: h}
	}
	b, err := key.Sign(crand.Reader, message, opts)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}
