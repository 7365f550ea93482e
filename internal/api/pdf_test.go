package api_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/quire/internal/cli"
	"example.com/quire/internal/config"
	"example.com/quire/pdf"
	"example.com/quire/pdf/crypt"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/operation"
	"example.com/quire/pdf/standard"
	"example.com/quire/web/openapi"
	"example.com/quire/web/webtest"
)

// aPDF is a tagged file of three pages; protect may be nil.
func aPDF(t *testing.T, protect *crypt.Options) string {
	t.Helper()
	e, err := pdf.New(pdf.Config{})
	if err != nil {
		t.Fatal(err)
	}
	o := pdf.RenderOptions{Standards: []standard.ID{standard.PDFUA2}, Protect: protect}
	if protect == nil {
		o.Standards = append(o.Standards, standard.PDFA4)
	}
	var out bytes.Buffer
	if _, err := e.Build(t.Context(), &out, o, func(b *doc.Builder) error {
		b.Title("Three pages").Lang("en")
		for _, s := range []string{"One", "Two", "Three"} {
			b.Heading(1, s, doc.Bookmark(s))
			b.Text("Text of " + s)
			b.PageBreak()
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// form is a multipart body of parts "file" and of values.
func form(t *testing.T, files []string, values map[string]string) (kind, body string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, f := range files {
		part, err := w.CreateFormFile("file", "some.pdf")
		if err == nil {
			_, err = part.Write([]byte(f))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, v := range values {
		if err := w.WriteField(name, v); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), b.String()
}

// keyFile is a file with a key for tests only and a certificate of its own making.
func keyFile(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "TEST ONLY"}, KeyUsage: x509.KeyUsageDigitalSignature,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	cert, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "key.pem")
	text := append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})...)
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestDocumentsAreSignedAsTheirTemplateSays: by the signer of its space, of whom the document and
// its receipt tell. A server that has no key any more, or another one, proves it and makes it
// again.
func TestDocumentsAreSignedAsTheirTemplateSays(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	signs := func(c *config.Config) { c.Signers = map[string]config.Signer{"office": {Key: keyFile(t)}} }
	h := openAt(t, dir, signs)
	request := func(signer string) string {
		source := "quire: 1\nname: signed\nlang: en\ntitle: T\nsign: {signer: " + signer + ", field: f, reason: Issued}\nbody: [{text: a}, {field: signature, name: f, label: Office}]\n"
		b, err := json.Marshal(map[string]any{"template": map[string]any{"source": source}, "data": map[string]any{}})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for path, kind := range map[string]string{"/v1/documents": "template", "/v1/render": "template"} {
		r := h.Post(path, "application/json", request("other"))
		wantProblem(t, r, http.StatusBadRequest, kind)
		if !strings.Contains(string(r.Body), "no such signer; it has office") {
			t.Errorf("%s: %s", path, r.Body)
		}
	}
	r := h.With("Accept", "application/json").Post("/v1/documents", "application/json", request("office"))
	var d struct{ ID, Signer string }
	if err := json.Unmarshal(r.Body, &d); err != nil || r.Status != http.StatusCreated || d.Signer != "office" {
		t.Fatalf("%d %s: %v", r.Status, r.Body, err)
	}
	if receipt := h.Get("/v1/documents/" + d.ID + "/receipt").Want(http.StatusOK); !bytes.Contains(receipt.Body, []byte(`"signer":"office"`)) || !bytes.Contains(receipt.Body, []byte(`"signature":"`)) {
		t.Errorf("receipt %s", receipt.Body)
	}
	file := h.Get("/v1/documents/" + d.ID + "/pdf").Want(http.StatusOK).Body
	said := h.Post("/v1/pdf/verify", "application/pdf", string(file)).Want(http.StatusOK).Body
	if !bytes.Contains(said, []byte(`"reason":"Issued"`)) && !bytes.Contains(said, []byte(`"reason": "Issued"`)) {
		t.Errorf("verify: %s", said)
	}
	if n, err := h.app.CollectOrphans(t.Context(), 0, time.Now().Add(time.Hour)); n != 0 || err != nil {
		t.Errorf("%d files of the document were taken for orphans: %v", n, err)
	}
	for name, change := range map[string]func(*config.Config){"no key": func(*config.Config) {}, "another key": signs} {
		if err := h.app.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		h = openAt(t, dir, change)
		if r := h.Post("/v1/documents/"+d.ID+"/verify", "", ""); r.Status != http.StatusOK || !bytes.Contains(r.Body, []byte(`"answer":"identical"`)) {
			t.Errorf("%s: %d %s", name, r.Status, r.Body)
		}
	}
}

// TestRequestsNameTheirSigner: a space signs by the names of its own signers; a key in a request is
// refused, and no answer and no log repeats it.
func TestRequestsNameTheirSigner(t *testing.T) {
	t.Parallel()
	h := open(t, func(c *config.Config) {
		key := keyFile(t)
		c.Signers = map[string]config.Signer{"office": {Key: key}, "seal": {Space: "finance", Key: key}}
	})
	file := aPDF(t, nil)
	r := h.Post("/v1/pdf/sign?key=office&reason=Approval", "application/pdf", file)
	if r.Status != http.StatusOK || !bytes.Contains(r.Body, []byte("/ByteRange")) {
		t.Fatalf("%d %.300s", r.Status, r.Body)
	}
	const secret = "c2VjcmV0" //nolint:gosec // G101: looked for in what is answered
	for name, values := range map[string]map[string]string{
		"misspelt":          {"key": "offic"},
		"of another space":  {"key": "seal"},
		"PEM":               {"key": "-----BEGIN PRIVATE KEY-----\n" + secret + "\n-----END PRIVATE KEY-----\n"},
		"base64":            {"key": secret + strings.Repeat("A", 100)},
		"password of a key": {"key": "office", "key-password": secret},
		"nothing":           {},
	} {
		kind, body := form(t, []string{file}, values)
		r := h.Post("/v1/pdf/sign", kind, body)
		if r.Status != http.StatusBadRequest || bytes.Contains(r.Body, []byte(secret)) {
			t.Errorf("%s: %d %.300s", name, r.Status, r.Body)
		}
		if name == "misspelt" && !strings.Contains(strings.ReplaceAll(string(r.Body), `": "`, `":"`), `"nearest":"office"`) {
			t.Errorf("no suggestion: %s", r.Body)
		}
	}
	if strings.Contains(h.log.String(), secret) {
		t.Error("the log holds a key")
	}
}

// TestOperationsAreTheSameThreeWays: each operation of the one table has its function in package
// pdf, its command and its route, and there are no others.
func TestOperationsAreTheSameThreeWays(t *testing.T) {
	t.Parallel()
	var table, commands, routes []string
	for _, o := range operation.All() {
		table = append(table, o.Name)
		var out, errs bytes.Buffer
		env := cli.Env{Args: []string{"pdf", o.Name, "--help"}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, LookupEnv: func(string) (string, bool) { return "", false }}
		if code := cli.Run(t.Context(), env); code != 0 || !strings.Contains(out.String(), o.Summary) {
			t.Errorf("quire pdf %s --help: %d %s%s", o.Name, code, out.String(), errs.String())
		}
		for _, p := range o.Parameters {
			if !strings.Contains(out.String(), "--"+p.Name) {
				t.Errorf("quire pdf %s has no --%s", o.Name, p.Name)
			}
		}
	}
	var out bytes.Buffer
	cli.Run(t.Context(), cli.Env{Args: []string{"pdf"}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, LookupEnv: func(string) (string, bool) { return "", false }})
	_, list, _ := strings.Cut(out.String(), "Available Commands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	for line := range strings.Lines(list) {
		commands = append(commands, strings.Fields(line)[0])
	}
	for _, r := range routesOf(t, open(t)).Routes() {
		if name, ok := strings.CutPrefix(r.Pattern, "/v1/pdf/"); ok {
			routes = append(routes, name)
			if r.Method != http.MethodPost {
				t.Errorf("%s %s", r.Method, r.Pattern)
			}
		}
	}
	for _, l := range [][]string{table, commands, routes} {
		slices.Sort(l)
	}
	if len(table) < 2 || !slices.Equal(table, commands) || !slices.Equal(table, routes) {
		t.Errorf("operations %q, commands %q, routes %q", table, commands, routes)
	}
}

// TestOperationsOverHTTP: a PDF is the body itself or a part of a form, and faults are problems
// that say what to do.
func TestOperationsOverHTTP(t *testing.T) {
	t.Parallel()
	h := open(t)
	doc, err := openapi.Document(routesOf(t, h), openapi.Info{Title: "Quire", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	plain := aPDF(t, nil)
	secret := aPDF(t, &crypt.Options{Owner: "owner", User: "reader"})
	mediaType, body := form(t, []string{plain}, nil)
	secretType, secretBody := form(t, []string{secret}, map[string]string{"password": "reader"})
	wrongType, wrongBody := form(t, []string{secret}, map[string]string{"password": "other"})
	turnType, turnBody := form(t, []string{plain}, map[string]string{"degrees": "180"})
	for name, c := range map[string]struct {
		target, kind, body string
		status             int
		want               string
	}{
		"body":             {"info", "application/pdf", plain, 200, `"title":"Three pages"`},
		"form":             {"info", mediaType, body, 200, `"page":3`},
		"encrypted":        {"info", secretType, secretBody, 200, `"method":"AESV3"`},
		"no password":      {"info", "application/pdf", secret, 400, `"code":"R002"`},
		"wrong password":   {"info", wrongType, wrongBody, 400, `give the password`},
		"password in URL":  {"info?password=x", "application/pdf", secret, 400, `multipart/form-data`},
		"unknown":          {"info?pags=1", "application/pdf", plain, 400, `"field":"pags"`},
		"wrong name":       {"rotate?degree=90", "application/pdf", plain, 400, `"nearest":"degrees"`},
		"twice":            {"rotate?degrees=90&degrees=180", "application/pdf", plain, 400, `"got":"two values"`},
		"part and query":   {"rotate?degrees=90", turnType, turnBody, 400, `"got":"two values"`},
		"not a PDF":        {"info", "application/pdf", "no PDF at all", 400, `"code":"R001"`},
		"nothing":          {"info", "", "", 400, `urn:quire:problem:input`},
		"media type":       {"info", "text/plain", plain, 415, `application/pdf`},
		"conforms":         {"check", "application/pdf", plain, 200, `"conforms":true`},
		"judged":           {"check?standard=pdf/a-2b", "application/pdf", plain, 200, `"conforms":false`},
		"rotate":           {"rotate?degrees=90", "application/pdf", plain, 200, "%PDF-2.0"},
		"split":            {"split?every=1", "application/pdf", plain, 200, "document-003.pdf"},
		"not quarter":      {"rotate?degrees=30", "application/pdf", plain, 400, `a multiple of 90`},
		"no such page":     {"delete?pages=9", "application/pdf", plain, 400, `that has 3`},
		"encrypted change": {"rotate?degrees=90", secretType, secretBody, 400, `"code":"R002"`},
		"unknown standard": {"check?standard=pdf/a-2bb", "application/pdf", plain, 400, `"nearest":"pdf/a-2b"`},
	} {
		r := h.Post("/v1/pdf/"+c.target, c.kind, c.body)
		if r.Status != c.status || !strings.Contains(strings.ReplaceAll(string(r.Body), `": "`, `":"`), c.want) {
			t.Errorf("%s: %d %s", name, r.Status, r.Body)
		}
		path, _, _ := strings.Cut(c.target, "?")
		if err := doc.CheckAnswer(http.MethodPost, "/v1/pdf/"+path, r.Status, r.Header, r.Body); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if c.status >= 400 && !json.Valid(r.Body) {
			t.Errorf("%s: %s", name, r.Body)
		}
	}
}

// TestOCROverHTTPIsConfigured: without a program redact with ocr says how to get one, with one it
// is asked for the images of the file.
func TestOCROverHTTPIsConfigured(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "tesseract")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho eng\n"), 0o700); err != nil { //nolint:gosec // G306: a program
		t.Fatal(err)
	}
	file := aPDF(t, nil)
	for name, c := range map[string]struct {
		program, target string
		status          int
		want            string
	}{
		"not configured":   {"", "redact?text=zanzibar&ocr=eng", 501, "ocr: {program: tesseract}"},
		"configured":       {program, "redact?text=zanzibar&ocr=eng", 200, "%PDF"},
		"another language": {program, "redact?text=zanzibar&ocr=deu", 400, "languages that tesseract has: eng"},
	} {
		h := open(t, func(cfg *config.Config) { cfg.OCR.Program = c.program })
		doc, err := openapi.Document(routesOf(t, h), openapi.Info{Title: "Quire", Version: "1"})
		if err != nil {
			t.Fatal(err)
		}
		r := h.Post("/v1/pdf/"+c.target, "application/pdf", file)
		if r.Status != c.status || !strings.Contains(string(r.Body), c.want) {
			t.Errorf("%s: %d %.300s", name, r.Status, r.Body)
		}
		if err := doc.CheckAnswer(http.MethodPost, "/v1/pdf/redact", r.Status, r.Header, r.Body); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFilesAndStepsAreParts: further files, attachments and steps come as parts of a form; what a
// PDF carries is answered to be kept, never shown.
func TestFilesAndStepsAreParts(t *testing.T) {
	t.Parallel()
	h := open(t)
	plain := aPDF(t, nil)
	post := func(target string, parts ...[3]string) *webtest.Response {
		kind, body := partsForm(t, parts)
		return h.Post("/v1/pdf/"+target, kind, body)
	}
	steps := `[{"overlay":{"with":"more.pdf","under":true}},{"attach":{"attachment":"n.html","relationship":"Data"}},{"number":{}}]`
	r := post("pipe", [3]string{"file", "in.pdf", plain}, [3]string{"file", "more.pdf", plain}, [3]string{"file", "n.html", "<script>"}, [3]string{"steps", "steps.json", steps})
	if r.Status != http.StatusOK || !strings.Contains(r.Header.Get("Quire-Summary"), `"pages":3`) {
		t.Fatalf("%d %v %.300s", r.Status, r.Header, r.Body)
	}
	got := h.Post("/v1/pdf/extract?name=n.html", "application/pdf", string(r.Body))
	if got.Status != http.StatusOK || string(got.Body) != "<script>" || got.Header.Get("Content-Type") != "application/octet-stream" ||
		!strings.HasPrefix(got.Header.Get("Content-Disposition"), "attachment") || got.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%d %v %.300s", got.Status, got.Header, got.Body)
	}
	if r := post("pipe", [3]string{"file", "in.pdf", plain}, [3]string{"steps", "steps.json", `[{"number":{"position":"botom"}}]`}); r.Status != http.StatusBadRequest || !bytes.Contains(r.Body, []byte("steps[0].number.position")) {
		t.Errorf("%d %.300s", r.Status, r.Body)
	}
}

// TestFormsTakeFilesUpToTheLimitOfTheRoute: a file of a form may be as large as a body that is the
// file alone, and what is larger, or of too many parts, is a problem of the type limit.
func TestFormsTakeFilesUpToTheLimitOfTheRoute(t *testing.T) {
	t.Parallel()
	h := open(t)
	plain := aPDF(t, nil)
	attach := func(size int) *webtest.Response {
		kind, body := partsForm(t, [][3]string{{"file", "in.pdf", plain}, {"attachment", "n.bin", strings.Repeat("x", size)}})
		return h.Post("/v1/pdf/attach", kind, body)
	}
	kind, body := partsForm(t, [][3]string{{"file", "in.pdf", strings.Repeat("x", 17<<20)}})
	if r := h.Post("/v1/pdf/info", kind, body); r.Status != http.StatusUnprocessableEntity && r.Status != http.StatusBadRequest || !bytes.Contains(r.Body, []byte("PDF")) {
		t.Errorf("17 MiB that are no PDF are read, and judged so: %d %.300s", r.Status, r.Body)
	}
	if r := attach(64 << 20); r.Status != http.StatusRequestEntityTooLarge || !bytes.Contains(r.Body, []byte("urn:quire:problem:limit")) {
		t.Errorf("64 MiB: %d %.300s", r.Status, r.Body)
	}
	kind, body = form(t, slices.Repeat([]string{"%PDF"}, 129), nil)
	r := h.Post("/v1/pdf/merge", kind, body)
	if r.Status != http.StatusRequestEntityTooLarge || !bytes.Contains(r.Body, []byte("urn:quire:problem:limit")) || !bytes.Contains(r.Body, []byte("more than 128 parts")) {
		t.Errorf("129 parts: %d %.300s", r.Status, r.Body)
	}
}
