package notes

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing/fstest"
	"time"

	"example.com/quire/bench/harness"
	"example.com/quire/bench/workload"
	"example.com/quire/pdf"
	"example.com/quire/pdf/sign"
	"example.com/quire/pdf/standard"
	"example.com/quire/pdf/template"
)

// form is what is asked of a document beside its pages.
type form int

const (
	plain     form = iota // no claim, no tags
	compliant             // PDF/A-4 and PDF/UA-2
	signed                // the same, and retail notes signed as PAdES B-B, visibly, ECDSA on P-256
)

func (f form) String() string { return [...]string{"plain", "compliant", "signed"}[f] }

// engine compiles the templates of all kinds.
type engine struct {
	*pdf.Engine
	plans    [workload.NoteKinds]*template.Plan
	opts     pdf.RenderOptions
	identity *sign.Identity // nil: nothing is signed
}

func newEngine(ctx context.Context, f form) (*engine, error) {
	eng, err := pdf.New(pdf.Config{})
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	e := &engine{Engine: eng, opts: pdf.RenderOptions{Time: workload.Time}}
	if f != plain {
		e.opts.Standards = []standard.ID{standard.PDFA4, standard.PDFUA2}
	}
	if f == signed {
		if e.identity, err = newIdentity(); err != nil {
			return nil, err
		}
	}
	for k := range workload.NoteKinds {
		src := k.Template()
		if f == signed && k == workload.Retail {
			src = append(bytes.Clone(src), signatureField...) // body is the last key
		}
		if e.plans[k], err = eng.Compile(ctx, pdf.Source{File: k.String() + ".yaml", Text: src}); err != nil {
			return nil, fmt.Errorf("compile: %w", err)
		}
	}
	return e, nil
}

// newIdentity makes a key on P-256 with a certificate and that of who issued it.
func newIdentity() (*sign.Identity, error) {
	var chain [2]*x509.Certificate
	var issuer, key *ecdsa.PrivateKey
	for i, name := range []string{"Benchmark root", "Benchmark broker"} {
		var err error
		if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			return nil, fmt.Errorf("key: %w", err)
		}
		c := &x509.Certificate{
			SerialNumber: big.NewInt(int64(i + 1)), Subject: pkix.Name{CommonName: name, Organization: []string{"Benchmark"}},
			NotBefore: workload.Time.AddDate(-1, 0, 0), NotAfter: workload.Time.AddDate(10, 0, 0),
			KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageContentCommitment,
		}
		parent := chain[0]
		if i == 0 {
			c.IsCA, c.BasicConstraintsValid, c.KeyUsage = true, true, x509.KeyUsageCertSign
			issuer, parent = key, c
		}
		der, err := x509.CreateCertificate(rand.Reader, c, parent, key.Public(), issuer)
		if err != nil {
			return nil, fmt.Errorf("certificate: %w", err)
		}
		if chain[i], err = x509.ParseCertificate(der); err != nil {
			return nil, fmt.Errorf("certificate: %w", err)
		}
	}
	return &sign.Identity{Key: key, Chain: []*x509.Certificate{chain[1], chain[0]}}, nil
}

// signatureField is where the signature of a signed note is shown.
const signatureField = "  - {field: signature, name: broker, label: Signed by the broker, width: 75mm, height: 20mm}\n"

// produce makes a document, and signs retail notes where that is asked for, while they are written.
func (e *engine) produce(ctx context.Context, in *input) error {
	opts := e.opts
	if e.identity != nil && in.kind == workload.Retail {
		opts.Sign = &pdf.SignRequest{Identity: e.identity, Time: workload.Time, Field: "broker", Reason: "Issued by the broker"}
	}
	res, err := e.Render(ctx, &in.out, e.plans[in.kind], template.JSON(in.data), opts)
	if err != nil {
		return err
	}
	in.pages = res.Pages
	return nil
}

// warmed is where the documents begin that an engine makes before it is timed: they do not come
// again.
const warmed = 1 << 40

func (e *engine) warm(ctx context.Context, k workload.NoteKind) error {
	documents := 200
	if k == workload.HFT {
		documents = 10
	}
	var in input
	for i := range documents {
		in.fill(k, warmed+i)
		if err := e.produce(ctx, &in); err != nil {
			return fmt.Errorf("warm up: %w", err)
		}
	}
	return nil
}

// quire is the engine on one processor.
func quire(k workload.NoteKind, f form) opener {
	return func(ctx context.Context, _ harness.Env) (harness.Subject, error) {
		e, err := newEngine(ctx, f)
		if err != nil {
			return nil, err
		}
		return e.documents(ctx, k)
	}
}

func (e *engine) documents(ctx context.Context, k workload.NoteKind) (*harness.Ops[input], error) {
	if err := e.warm(ctx, k); err != nil {
		return nil, err
	}
	return e.subject(ctx, k), nil
}

// subject makes documents, whose signatures are judged, too.
func (e *engine) subject(ctx context.Context, k workload.NoteKind) *harness.Ops[input] {
	ops := documents(ctx, k, e.produce)
	if e.identity == nil {
		return ops
	}
	verify, seen := ops.Verify, 0
	ops.Verify = func(i int, in *input) (harness.Facts, error) {
		facts, err := verify(i, in)
		const judged = 2 // pdfsig takes its time
		if err == nil && in.kind == workload.Retail && seen < judged {
			seen++
			err = checkSignature(ctx, in.out.Bytes())
		}
		return facts, err
	}
	return ops
}

// quireBy is the engine with as many goroutines as processors.
func quireBy(workers int, k workload.NoteKind, f form) opener {
	return func(ctx context.Context, env harness.Env) (harness.Subject, error) {
		s, err := quire(k, f)(ctx, env)
		if err != nil {
			return nil, err
		}
		ops, _ := s.(*harness.Ops[input])
		// Enough documents that a long one at the end leaves the others little time to wait.
		const turn = 20 * workload.MixLength
		ops.Size = turn
		return newTeam(ops, workers), nil
	}
}

// team does the operations of a turn by several goroutines, on as many processors.
type team[In any] struct {
	*harness.Ops[In]
	workers int
	ins     []In
	before  int // GOMAXPROCS
}

func newTeam[In any](ops *harness.Ops[In], workers int) *team[In] {
	return &team[In]{Ops: ops, workers: workers, before: runtime.GOMAXPROCS(workers)}
}

// Close gives the processors back.
func (t *team[In]) Close() error {
	runtime.GOMAXPROCS(t.before)
	return t.Ops.Close()
}

func (t *team[In]) Prepare(first, n int) error {
	if len(t.ins) < n {
		t.ins = make([]In, n)
	}
	for i := range t.ins[:n] {
		if err := t.Fill(first+i, &t.ins[i]); err != nil {
			return err
		}
	}
	t.ins = t.ins[:n]
	return nil
}

func (t *team[In]) Run() error {
	next := make(chan *In, len(t.ins))
	for i := range t.ins {
		next <- &t.ins[i]
	}
	close(next)
	errs := make(chan error, t.workers)
	for range t.workers {
		go func() {
			for in := range next {
				if err := t.Do(in); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	var first error
	for range t.workers {
		if err := <-errs; err != nil && first == nil {
			first = err
		}
	}
	return first
}

func (t *team[In]) Glance() error {
	if t.Cheap == nil {
		return nil
	}
	for i := range t.ins {
		if err := t.Cheap(i, &t.ins[i]); err != nil {
			return err
		}
	}
	return nil
}

// quireLogo makes retail notes with or without the logo of the sample at their head.
func quireLogo(with bool) opener {
	return func(ctx context.Context, env harness.Env) (harness.Subject, error) {
		file, err := os.ReadFile(filepath.Join(env.Root, "internal", "demo", "samples", "contract-note", "assets", "logo.png"))
		if err != nil {
			return nil, fmt.Errorf("logo: %w", err)
		}
		eng, err := pdf.New(pdf.Config{Files: fstest.MapFS{"logo.png": {Data: file, ModTime: time.Time{}}}})
		if err != nil {
			return nil, fmt.Errorf("engine: %w", err)
		}
		src := string(workload.Retail.Template())
		if with {
			src = strings.Replace(src, "\nbody:\n", "\nbody:\n  - {image: logo.png, decorative: true, width: 40mm}\n", 1)
		}
		e := &engine{Engine: eng, opts: pdf.RenderOptions{Time: workload.Time, Standards: []standard.ID{standard.PDFA4, standard.PDFUA2}}}
		if e.plans[workload.Retail], err = eng.Compile(ctx, pdf.Source{File: "retail.yaml", Text: []byte(src)}); err != nil {
			return nil, fmt.Errorf("compile: %w", err)
		}
		return e.documents(ctx, workload.Retail)
	}
}
