//go:build !race

package pdf_test

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/sign"
)

const signedVariable = "PDF_TEST_PRINT_SIGNED"

// TestSignedFilesAreTheSameInAnyProcess: with the same keys and the same time other processes, with
// any number of processors, write the same bytes. RSASSA-PSS is the exception: its salt is random.
func TestSignedFilesAreTheSameInAnyProcess(t *testing.T) {
	dir := os.Getenv(signedVariable)
	child := dir != ""
	if !child {
		dir = t.TempDir()
		for name, id := range newAuthority(t).identities(t) {
			key, err := x509.MarshalPKCS8PrivateKey(id.Key)
			if err != nil {
				t.Fatal(err)
			}
			b := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})
			for _, c := range id.Chain {
				b = append(b, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})...)
			}
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	e := newEngine(t, pdf.Config{})
	body, _ := render(t, e, pdf.RenderOptions{Standards: compliant, Time: testTime}, note("Signed", 3))
	var sums strings.Builder
	for _, name := range []string{"P-256", "P-384", "P-521", "RSA", "Ed25519"} {
		b, err := os.ReadFile(filepath.Join(dir, name)) //nolint:gosec // G703: a folder of this test
		if err != nil {
			t.Fatal(err)
		}
		id, err := sign.ParseIdentity(b, nil)
		if err != nil {
			t.Fatal(err)
		}
		file := signed(t, e, body, pdf.SignRequest{Identity: id, Reason: "same", Rect: [4]float64{300, 40, 500, 100}})
		fmt.Fprintf(&sums, "%s %x\n", name, sha256.Sum256(file))
	}
	if child {
		fmt.Fprint(os.Stderr, "\nsums:\n"+sums.String()+"end\n")
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, procs := range []string{"1", "4"} {
		cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestSignedFilesAreTheSameInAnyProcess$") //nolint:gosec // G204: the test runs itself
		cmd.Env = append(os.Environ(), signedVariable+"="+dir, "GOMAXPROCS="+procs)
		var out bytes.Buffer
		cmd.Stderr = &out
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %s", err, out.String())
		}
		_, got, _ := strings.Cut(out.String(), "sums:\n")
		if got, _, _ = strings.Cut(got, "end\n"); got != sums.String() {
			t.Errorf("GOMAXPROCS %s:\n%swant\n%s", procs, got, sums.String())
		}
	}
}
