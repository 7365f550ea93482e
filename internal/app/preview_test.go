package app_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/quire/internal/app"
	"example.com/quire/internal/config"
	"example.com/quire/internal/record"
)

// TestPreviewSignsWithTheConfiguration: a template that asks for a signature is signed by the
// signers of the space local, and is not rendered without them; a draft needs none. The
// configuration is not read for others.
func TestPreviewSignsWithTheConfiguration(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key.pem")
	p := newPair(t, 7)
	if err := os.WriteFile(key, append(p.key, p.cert...), 0o600); err != nil {
		t.Fatal(err)
	}
	signers := map[string]config.Signer{"office": {Space: config.LocalSpace, Key: key}, "seal": {Space: "finance", Key: key}}
	reads := 0
	preview, err := app.NewPreview(func() (*config.Config, error) {
		reads++
		return &config.Config{Signers: signers}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	rendered := func(asked string, draft bool) (string, error) {
		text := strings.Replace(helloTemplate, "title:", asked+"title:", 1)
		tmpl, err := record.NewTemplate("hello", "template.yaml", map[string][]byte{"template.yaml": []byte(text)})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		_, err = preview.Render(t.Context(), &out, record.Request{
			Space: record.Local, Inline: tmpl, Data: []byte(`{"who": "world"}`), Time: time.Now(), Draft: draft,
		})
		return out.String(), err
	}
	if _, err := rendered("", false); err != nil || reads != 0 {
		t.Errorf("without a signature: %v, the configuration was read %d times", err, reads)
	}
	if file, err := rendered("sign: {signer: office}\n", false); err != nil || !strings.Contains(file, "/ByteRange") {
		t.Errorf("signed: %v", err)
	}
	_, err = rendered("sign: {signer: seal}\n", false)
	if wrong, ok := errors.AsType[*record.TemplateError](err); !ok || !strings.Contains(wrong.Message, "it has office") {
		t.Errorf("a signer of another space: %v", err)
	}
	if file, err := rendered("sign: {signer: seal}\n", true); err != nil || strings.Contains(file, "/ByteRange") {
		t.Errorf("a draft: %v", err)
	}
	signers = nil
	if _, err := rendered("sign: {signer: office}\n", false); err == nil || !strings.Contains(err.Error(), "the space local has no signers") {
		t.Errorf("no signers: %v", err)
	}
}
