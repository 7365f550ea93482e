package api_test

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"encoding/pem"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"example.com/quire/internal/config"
	"example.com/quire/pdf"
	"example.com/quire/pdf/crypt"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/operation"
	"example.com/quire/pdf/sign"
	"example.com/quire/web/openapi"
	"example.com/quire/web/webtest"
)

// partsForm is a body of parts; those that have a file name are files.
func partsForm(t *testing.T, parts [][3]string) (kind, body string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		var part io.Writer
		var err error
		if p[1] == "" {
			part, err = w.CreateFormField(p[0])
		} else {
			part, err = w.CreateFormFile(p[0], p[1])
		}
		if err == nil {
			_, err = part.Write([]byte(p[2]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), b.String()
}

// aForm is a file of three pages with a field.
func aForm(t *testing.T, protect *crypt.Options) string {
	t.Helper()
	e, err := pdf.New(pdf.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := e.Build(t.Context(), &out, pdf.RenderOptions{Protect: protect}, func(b *doc.Builder) error {
		b.Title("Three pages").Lang("en")
		for _, s := range []string{"One", "Two", "Three"} {
			b.Heading(1, s, doc.Bookmark(s))
			b.PageBreak()
		}
		b.Field(doc.NewField(doc.FieldText, "name", "Name"))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestExamplesOfOperationsWork sends the example that the description shows of each operation, with
// the files that stand in it by their names, and judges the answer by the description.
func TestExamplesOfOperationsWork(t *testing.T) {
	t.Parallel()
	key := keyFile(t)
	h := open(t, func(c *config.Config) { c.Signers = map[string]config.Signer{"office": {Key: key}} })
	described, err := openapi.Document(routesOf(t, h), openapi.Info{Title: "Quire", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	pemKey, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	id, err := sign.ParseIdentity(pemKey, nil)
	if err != nil {
		t.Fatal(err)
	}
	chain := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: id.Chain[0].Raw}))
	files := map[string]string{
		"in.pdf": aForm(t, nil), "more.pdf": aPDF(t, nil), "note.txt": "note", "values.json": `{"name": "Zoë"}`,
		"steps.json": `[{"overlay": {"with": "more.pdf"}}, {"number": {}}]`, "ca.pem": chain, "chain.pem": chain,
	}
	post := func(name string, parts ...[3]string) *webtest.Response {
		t.Helper()
		kind, body := partsForm(t, parts)
		r := h.Post("/v1/pdf/"+name, kind, body)
		if r.Status != http.StatusOK {
			t.Fatalf("%s: %d %.400s", name, r.Status, r.Body)
		}
		return r
	}
	carrier := post("attach", [3]string{"file", "in.pdf", files["in.pdf"]}, [3]string{"attachment", "note.txt", "note"})
	prepared := post("sign-prepare", [3]string{"file", "in.pdf", files["in.pdf"]}, [3]string{"chain", "chain.pem", chain})
	var summary pdf.Summary
	if err := json.Unmarshal([]byte(prepared.Header.Get("Quire-Summary")), &summary); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(summary.Message)
	signature, err := id.Key.Sign(rand.Reader, sum[:], crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	files["signature.bin"] = string(signature)
	special := map[string]string{ // what in.pdf must be for an operation
		"decrypt": aForm(t, &crypt.Options{Owner: "secret", User: "reader"}), "detach": string(carrier.Body), "extract": string(carrier.Body),
		"sign-finish": string(prepared.Body),
	}

	d := decode[description](t, h.Get("/openapi.json"))
	for _, o := range operation.All() {
		path := "/v1/pdf/" + o.Name
		content := d.Paths[path]["post"].RequestBody.Content["multipart/form-data"]
		if len(content.Examples) == 0 {
			t.Errorf("%s has no example", path)
		}
		for name, example := range content.Examples {
			var sample map[string]any
			if err := json.Unmarshal(example.Value, &sample); err != nil {
				t.Fatal(err)
			}
			var parts [][3]string
			for _, member := range slices.Sorted(maps.Keys(sample)) {
				schema, known := content.Schema.Properties[member]
				if !known {
					t.Errorf("%s: the example has %s, of which the schema says nothing", path, member)
				}
				values, many := sample[member].([]any)
				if !many {
					values = []any{sample[member]}
				}
				for _, v := range values {
					text, _ := v.(string)
					if schema.Format != "binary" && schema.Items.Format != "binary" {
						parts = append(parts, [3]string{member, "", text})
						continue
					}
					bytes, has := files[text]
					if text == "in.pdf" && special[o.Name] != "" {
						bytes = special[o.Name]
					}
					if !has {
						t.Errorf("%s: the example has the file %q", path, text)
					}
					parts = append(parts, [3]string{member, text, bytes})
				}
			}
			for _, need := range content.Schema.Required {
				if _, has := sample[need]; !has {
					t.Errorf("%s: the example has no %s", path, need)
				}
			}
			kind, body := partsForm(t, parts)
			r := h.Post(path, kind, body)
			if r.Status != http.StatusOK || len(r.Body) == 0 {
				t.Errorf("%s, example %q: %d %.400s", path, name, r.Status, r.Body)
			}
			if err := described.CheckAnswer(http.MethodPost, path, r.Status, r.Header, r.Body); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestReportsForPeople: a report is text for who prefers it, and a check that found something says
// so.
func TestReportsForPeople(t *testing.T) {
	t.Parallel()
	h := open(t)
	people := h.With("Accept", "application/problem+json, text/plain;q=0.9")
	plain := aPDF(t, nil)
	r := people.Post("/v1/pdf/check?standard=pdf/a-4", "application/pdf", plain).Want(http.StatusOK)
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "text/plain") || r.Header.Get("Quire-Found") != "false" || !strings.Contains(string(r.Body), "document.pdf: conforms to pdf/a-4") {
		t.Errorf("%v %s", r.Header, r.Body)
	}
	if r := people.Post("/v1/pdf/check?standard=pdf/a-2b", "application/pdf", plain); r.Header.Get("Quire-Found") != "true" {
		t.Errorf("%v %s", r.Header, r.Body)
	}
	if r := people.Post("/v1/pdf/info", "application/pdf", "no PDF"); r.Status != http.StatusBadRequest || r.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("%d %v", r.Status, r.Header)
	}
	if r := h.Post("/v1/pdf/info", "application/pdf", plain); r.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%v", r.Header)
	}
}
