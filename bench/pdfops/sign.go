package pdfops

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"example.com/quire/bench/harness"
	"example.com/quire/bench/workload"
	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/sign"
)

// signed is a document with a signature, or what the control kernel makes of it.
type signed struct {
	file []byte
	doc  *pdf.Document
	out  bytes.Buffer
	sum  [sha256.Size]byte
	sig  []byte
}

// signing is the row of what a signature adds to a file that is there.
func signing() harness.Row {
	return harness.Row{
		Name: "sign", Title: "a signature on a file of a hundred pages", Primary: harness.Time,
		Workload: harness.Workload{
			Name: "pdfops-sign", Version: 1, Seed: seed,
			Text: "A file of a hundred pages with an image gets an invisible signature, PAdES B-B by ECDSA on P-256. It is opened before the timer; what comes out is the whole file.",
		},
		Contestants: []harness.Contestant{
			{Name: quireName, Own: true, Needs: []harness.Tool{pdfsig}, Open: openSigning(false)},
			{Name: controlName, Note: "the same bytes copied and hashed, and one hash signed", Open: openSigning(true)},
		},
		Goals: []harness.Goal{{Against: controlName, AtMost: 1.3}},
	}
}

func openSigning(control bool) func(context.Context, harness.Env) (harness.Subject, error) {
	return func(ctx context.Context, env harness.Env) (harness.Subject, error) {
		e, err := pdf.New(pdf.Config{})
		if err != nil {
			return nil, fmt.Errorf("engine: %w", err)
		}
		id, err := newIdentity()
		if err != nil {
			return nil, err
		}
		key, _ := id.Key.(*ecdsa.PrivateKey)
		file, err := toSign(ctx, e)
		if err != nil {
			return nil, err
		}
		do := func(in *signed) error {
			_, err := e.Sign(ctx, &in.out, in.doc, pdf.SignRequest{Identity: id, Time: workload.Time, Reason: "Issued"})
			return err
		}
		verify := func(in *signed) error { return hasSignature(ctx, env.Dir, in.out.Bytes()) }
		if control {
			do = func(in *signed) (err error) {
				in.out.Write(in.file)
				in.sum = sha256.Sum256(in.out.Bytes())
				in.sig, err = ecdsa.SignASN1(rand.Reader, key, in.sum[:])
				return err
			}
			verify = func(in *signed) error {
				if !ecdsa.VerifyASN1(&key.PublicKey, in.sum[:], in.sig) {
					return errors.New("the signature does not hold")
				}
				return nil
			}
		}
		return &harness.Ops[signed]{
			Size: 16,
			Fill: func(i int, in *signed) error {
				// A comment behind the end makes each file another one.
				in.file = fmt.Appendf(append(in.file[:0], file...), "%% %d\n", i)
				in.out.Reset()
				in.out.Grow(len(in.file) + 64<<10)
				var err error
				in.doc, err = e.Open(ctx, bytes.NewReader(in.file), int64(len(in.file)), pdf.OpenOptions{})
				return err
			},
			Do: do,
			Verify: func(_ int, in *signed) (harness.Facts, error) {
				return harness.Facts{OutputBytes: int64(in.out.Len())}, verify(in)
			},
			Checks: 2,
			Cheap: func(_ int, in *signed) error {
				if in.out.Len() < len(in.file) {
					return fmt.Errorf("%d bytes of %d", in.out.Len(), len(in.file))
				}
				return nil
			},
		}, nil
	}
}

// hasSignature has pdfsig judge a file.
func hasSignature(ctx context.Context, dir string, file []byte) error {
	path := filepath.Join(dir, "signed.pdf")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		return fmt.Errorf("signature: %w", err)
	}
	out, err := exec.CommandContext(ctx, pdfsig.Name, "-nocert", path).CombinedOutput() //nolint:gosec // a file of our own
	if s := string(out); !strings.Contains(s, "Signature is Valid") || !strings.Contains(s, "Total document signed") {
		return fmt.Errorf("pdfsig: %w: %s", err, s)
	}
	return os.Remove(path)
}

// toSign is a file of a hundred pages.
func toSign(ctx context.Context, e *pdf.Engine) ([]byte, error) {
	var out bytes.Buffer
	_, err := e.Build(ctx, &out, pdf.RenderOptions{Time: workload.Time}, func(b *doc.Builder) error {
		b.Title("To be signed").Lang("en")
		for i := range 100 {
			if i > 0 {
				b.PageBreak()
			}
			b.Heading(1, fmt.Sprintf("Page %d", i+1))
			for k := range 20 {
				b.Text(fmt.Sprintf("Sentence %d of page %d says what was agreed on and when it is due, %d.", k, i, i*7919+k*31))
			}
		}
		return nil
	})
	return out.Bytes(), err
}

// newIdentity makes a key on P-256 with a certificate of its own making.
func newIdentity() (*sign.Identity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Benchmark"}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageContentCommitment,
		NotBefore: workload.Time.AddDate(-1, 0, 0), NotAfter: workload.Time.AddDate(10, 0, 0),
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	return &sign.Identity{Key: key, Chain: []*x509.Certificate{cert}}, nil
}
