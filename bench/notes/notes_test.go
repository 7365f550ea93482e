package notes

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"example.com/quire/bench/harness"
	"example.com/quire/bench/internal/harnesstest"
	"example.com/quire/bench/workload"
)

// TestSuiteIsValid: what the rows name is there.
func TestSuiteIsValid(t *testing.T) {
	if err := harness.Validate([]harness.Suite{Suite()}); err != nil {
		t.Fatal(err)
	}
}

// TestTheEngineMakesEveryKind: pages, texts and signatures are as they should be, by one goroutine
// and by several.
func TestTheEngineMakesEveryKind(t *testing.T) {
	harnesstest.Need(t, append(tools(), pdfsig), python.Name)
	for _, f := range []form{plain, compliant, signed} {
		e, err := newEngine(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for k := range workload.NoteKinds {
			t.Run(f.String()+"/"+k.String(), func(t *testing.T) {
				pair := newTeam(e.subject(t.Context(), k), 2)
				use(t, pair)
			})
		}
	}
}

// use has a subject checked, makes it do two operations more, and has it checked again, as the
// harness does.
func use(t *testing.T, s harness.Subject) {
	t.Helper()
	check := func() error {
		_, err := s.Check(t.Context())
		return err
	}
	for _, do := range []func() error{check, func() error { return s.Prepare(100, 2) }, s.Run, s.Glance, check, s.Close} {
		if err := do(); err != nil {
			t.Error(err)
		}
	}
}

// TestTheOthersBesideTheEngine: the control kernel, hashing, the notes with a logo and the programs
// of other languages.
func TestTheOthersBesideTheEngine(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(root) // where the programs are looked for
	all := map[string]harness.Contestant{
		"hashing": {Open: hashing(2)}, "logo": {Needs: tools(), Open: quireLogo(true)}, "no logo": {Needs: tools(), Open: quireLogo(false)},
		"control, signed": kernel(workload.Retail, signed), "control, hft": kernel(workload.HFT, plain),
	}
	for _, c := range programRows()[0].Contestants[1:] { // of long notes some take minutes on a busy machine
		all[c.Name] = c
	}
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			harnesstest.Need(t, c.Needs, python.Name)
			s, err := c.Open(t.Context(), harness.Env{Dir: t.TempDir(), Root: root})
			if err != nil {
				t.Fatal(err)
			}
			use(t, s)
		})
	}
}

// TestPeersDrawEveryKind: the documents of the other libraries have the pages and the texts of
// ours.
func TestPeersDrawEveryKind(t *testing.T) {
	harnesstest.Need(t, tools(), python.Name)
	for name, produce := range map[string]maker{fpdfName: newFpdf(false), fpdfFont: newFpdf(true), gopdfName: newGopdf, marotoName: newMaroto()} {
		for k := range workload.NoteKinds {
			if name == marotoName && k == workload.HFT {
				continue // it takes many seconds; the harness checks it before it is timed
			}
			t.Run(name+"/"+k.String(), func(t *testing.T) {
				var in input
				in.fill(k, 3)
				if err := produce(t.Context(), &in); err != nil {
					t.Fatal(err)
				}
				if err := check(t.Context(), &in); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestTheCheckSeesWhatIsWrong: a note of other data, one of another kind and one that is cut off do
// not pass.
func TestTheCheckSeesWhatIsWrong(t *testing.T) {
	harnesstest.Need(t, tools(), python.Name)
	e, err := newEngine(t.Context(), plain)
	if err != nil {
		t.Fatal(err)
	}
	make1 := func() *input {
		in := &input{}
		in.fill(workload.Active, 5)
		if err := e.produce(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		return in
	}
	if err := check(t.Context(), make1()); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*input){
		"shows":    func(in *input) { in.data = workload.AppendNote(nil, workload.Active, 6) },
		"pages":    func(in *input) { in.kind = workload.Retail },
		"no whole": func(in *input) { in.out.Truncate(in.out.Len() / 2) },
	} {
		in := make1()
		spoil(in)
		if err := check(t.Context(), in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error that says %q, got %v", want, err)
		}
	}
}

// TestTheControlKernelKnowsItsStreams: one for each page at least, and none that an engine has from
// a cache.
func TestTheControlKernelKnowsItsStreams(t *testing.T) {
	for _, f := range []form{plain, compliant, signed} {
		s, err := control(workload.Retail, f)(context.Background(), harness.Env{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Prepare(0, 1); err != nil {
			t.Fatal(err)
		}
		ops, _ := s.(*harness.Ops[controlInput])
		var in controlInput
		if err := ops.Fill(0, &in); err != nil {
			t.Fatal(err)
		}
		sum := 0
		for _, b := range in.streams {
			sum += len(b)
			if strings.Contains(string(b[:min(len(b), 64)]), "glyf") {
				t.Errorf("%v: a font is among the streams", f)
			}
		}
		if len(in.streams) < 2 || sum > 100_000 {
			t.Errorf("%v: %d streams of %d bytes", f, len(in.streams), sum)
		}
	}
}
