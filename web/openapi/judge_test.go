package openapi_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"example.com/quire/internal/judgetest"
)

// TestDescriptionIsValidForOpenAPISpecValidator also gives the judge a description that it has to
// refuse.
func TestDescriptionIsValidForOpenAPISpecValidator(t *testing.T) {
	judge := judgetest.Tool(t, "openapi-spec-validator", "openapi/bin/openapi-spec-validator")
	doc := describe(t, shop(t))
	dir := t.TempDir()
	run := func(texts map[string][]byte) (string, error) {
		args := []string{"--schema", "3.1"}
		for name, text := range texts {
			file := filepath.Join(dir, name)
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
			args = append(args, file)
		}
		out, err := exec.CommandContext(t.Context(), judge, args...).CombinedOutput()
		return string(out), err
	}
	if out, err := run(map[string][]byte{"shop.json": doc.JSON(), "shop.yaml": doc.YAML()}); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	broken := bytes.Replace(doc.JSON(), []byte(`"in":"path"`), []byte(`"in":"body"`), 1)
	if out, err := run(map[string][]byte{"broken.json": broken}); err == nil {
		t.Errorf("the judge takes what is broken:\n%s", out)
	}
}
