package gate_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/quire/bench/internal/gate"
)

const toolchain = "go1.26 linux/amd64"

func measured() gate.Measured {
	return gate.Measured{
		Toolchain: toolchain,
		Kernels: map[string]gate.Counts{
			"web/static": {Allocs: 1, Bytes: 52, Instructions: 3000, Spread: 0.004},
			"web/json":   {Allocs: 0, Bytes: 44, Instructions: 5000},
		},
		Outputs: map[string]gate.Output{"invoice": {SHA256: "aaaa", Size: 100, Engine: "quire-pdf/1 go1.26"}},
		Program: 1_000_000,
	}
}

func TestCompare(t *testing.T) {
	kernel := func(name string, f func(*gate.Counts)) func(*gate.Measured) {
		return func(m *gate.Measured) {
			c := m.Kernels[name]
			f(&c)
			m.Kernels[name] = c
		}
	}
	output := func(o gate.Output) func(*gate.Measured) {
		return func(m *gate.Measured) { m.Outputs["invoice"] = o }
	}
	for _, c := range []struct {
		name    string
		change  func(*gate.Measured)
		subject string // "" expects no difference
		text    string
		kind    gate.Kind
		refuse  bool
	}{
		{name: "nothing", change: func(*gate.Measured) {}},
		{name: "one allocation more", change: kernel("web/static", func(c *gate.Counts) { c.Allocs++ }), subject: "web/static", text: "allocations per operation 2, were 1 (+1)", kind: gate.Broken},
		{name: "one allocation less", change: kernel("web/static", func(c *gate.Counts) { c.Allocs-- }), subject: "web/static", text: "(-1)", kind: gate.Broken},
		{name: "one byte more", change: kernel("web/static", func(c *gate.Counts) { c.Bytes++ }), subject: "web/static", text: "bytes per operation 53, were 52", kind: gate.Broken},
		{name: "instructions within twice the spread", change: kernel("web/static", func(c *gate.Counts) { c.Instructions = 3023 })},
		{name: "instructions beyond twice the spread", change: kernel("web/static", func(c *gate.Counts) { c.Instructions = 3025 }), subject: "web/static", text: "instructions per operation 3025, were 3000", kind: gate.Broken},
		{name: "fewer instructions", change: kernel("web/static", func(c *gate.Counts) { c.Instructions = 2900 }), subject: "web/static", text: "-3.33 %", kind: gate.Broken},
		{name: "a spread of nothing is taken for the least", change: kernel("web/json", func(c *gate.Counts) { c.Instructions = 5024 })},
		{name: "instructions not counted", change: kernel("web/static", func(c *gate.Counts) { c.Instructions = 0 })},
		{name: "a new kernel", change: func(m *gate.Measured) { m.Kernels["web/new"] = gate.Counts{} }, subject: "web/new", text: "no baseline", kind: gate.Broken},
		{name: "a kernel is gone", change: func(m *gate.Measured) { delete(m.Kernels, "web/json") }, subject: "web/json", text: "gone", kind: gate.Broken},
		{name: "a larger program", change: func(m *gate.Measured) { m.Program = 1_021_000 }, subject: "program size", text: "+2.1 %", kind: gate.Broken},
		{name: "a slightly larger program", change: func(m *gate.Measured) { m.Program = 1_019_000 }},
		{name: "the program was not built", change: func(m *gate.Measured) { m.Program = 0 }},
		{name: "other bytes by the same engine", change: output(gate.Output{SHA256: "bbbb", Size: 100, Engine: "quire-pdf/1 go1.26"}), subject: "sample invoice", text: "raise the engine's number", kind: gate.Broken, refuse: true},
		{name: "other bytes by another engine", change: output(gate.Output{SHA256: "bbbb", Size: 100, Engine: "quire-pdf/2 go1.26"}), subject: "sample invoice", text: "changed with the engine", kind: gate.Broken},
		{name: "the same bytes by another engine", change: output(gate.Output{SHA256: "aaaa", Size: 100, Engine: "quire-pdf/2 go1.26"}), subject: "sample invoice", text: "the same bytes", kind: gate.Broken},
		{name: "a new sample", change: func(m *gate.Measured) { m.Outputs["note"] = gate.Output{} }, subject: "sample note", text: "no baseline", kind: gate.Broken},
		{name: "a sample is gone", change: func(m *gate.Measured) { delete(m.Outputs, "invoice") }, subject: "sample invoice", text: "gone", kind: gate.Broken},
		{name: "another toolchain", change: func(m *gate.Measured) {
			m.Toolchain = "go1.27 linux/amd64"
			m.Program, m.Kernels["web/static"] = 5, gate.Counts{Allocs: 9}
		}, subject: "toolchain", text: "not compared", kind: gate.Unmeasured},
		{name: "no valgrind", change: func(m *gate.Measured) {
			m.Absent = []gate.Absence{{What: "instruction counts", Why: "valgrind is not installed"}}
		}, subject: "instruction counts", text: "not measured", kind: gate.Unmeasured},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := measured()
			c.change(&now)
			diffs := gate.Compare(measured(), now)
			if c.subject == "" {
				if len(diffs) != 0 {
					t.Errorf("unexpected differences %+v", diffs)
				}
				return
			}
			if len(diffs) != 1 || diffs[0].Subject != c.subject || !strings.Contains(diffs[0].Text, c.text) || diffs[0].Kind != c.kind || diffs[0].Refuse != c.refuse {
				t.Errorf("got %+v", diffs)
			}
		})
	}
}

func TestUpdateRecordsAndSaysWhatChanged(t *testing.T) {
	dir := t.TempDir()
	if diffs, err := gate.Update(dir, measured()); err != nil || len(diffs) != 4 {
		t.Fatalf("first recording: %d differences, %v", len(diffs), err)
	}
	base, err := gate.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diffs := gate.Compare(base, measured()); len(diffs) != 0 {
		t.Errorf("what was recorded differs from itself: %+v", diffs)
	}
	now := measured()
	now.Outputs["invoice"] = gate.Output{SHA256: "bbbb", Size: 101, Engine: "quire-pdf/2 go1.26"}
	if diffs, err := gate.Update(dir, now); err != nil || len(diffs) != 1 {
		t.Fatalf("raised engine: %+v, %v", diffs, err)
	}
	if base, err = gate.Load(dir); err != nil || len(gate.Compare(base, now)) != 0 {
		t.Errorf("after recording the raised engine: %+v, %v", gate.Compare(base, now), err)
	}
}

func TestUpdateRefusesChangedBytesUnderTheSameEngine(t *testing.T) {
	dir := t.TempDir()
	if _, err := gate.Update(dir, measured()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(dir, "outputs.json"))
	if err != nil {
		t.Fatal(err)
	}
	now := measured()
	now.Kernels["web/static"] = gate.Counts{Allocs: 7}
	now.Outputs["invoice"] = gate.Output{SHA256: "bbbb", Size: 100, Engine: "quire-pdf/1 go1.26"}
	if _, err := gate.Update(dir, now); !errors.Is(err, gate.ErrRefused) {
		t.Fatalf("got %v", err)
	}
	after, err := os.ReadFile(filepath.Join(dir, "outputs.json"))
	if err != nil || string(after) != string(before) {
		t.Errorf("a refused recording changed the baseline (%v)", err)
	}
	base, err := gate.Load(dir)
	if err != nil || !maps.Equal(base.Kernels, measured().Kernels) {
		t.Errorf("a refused recording changed the counts: %+v, %v", base.Kernels, err)
	}
}

func TestUpdateKeepsWhatCouldNotBeMeasured(t *testing.T) {
	dir := t.TempDir()
	if _, err := gate.Update(dir, measured()); err != nil {
		t.Fatal(err)
	}
	now := measured()
	now.Program = 0
	now.Kernels["web/static"] = gate.Counts{Allocs: 1, Bytes: 52}
	if _, err := gate.Update(dir, now); err != nil {
		t.Fatal(err)
	}
	base, err := gate.Load(dir)
	if err != nil || base.Program != 1_000_000 || base.Kernels["web/static"].Instructions != 3000 {
		t.Errorf("got %+v, %v", base, err)
	}
}

func TestLoadRefusesNonsense(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "counts.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := gate.Load(dir); err == nil || !strings.Contains(err.Error(), "counts.json") {
		t.Errorf("got %v", err)
	}
}

func TestCountInstructionsLeavesChanceOut(t *testing.T) {
	const file = `desc: I1 cache: none
cmd: ./kernel run x 1
events: Ir
fl=proc.go
fn=main.main
10 700
11 40
fn=runtime.sysmon
20 100
21 50
fn=runtime.typeAssert
7 60
fn=runtime.mallocgc
5 50
summary: 1000
`
	n, err := gate.CountInstructions("x", file)
	if err != nil || n != 790 {
		t.Errorf("counted %d, %v; want 790", n, err)
	}
	if _, err := gate.CountInstructions("x", "fn=main\n"); err == nil {
		t.Error("a file without a summary was counted")
	}
}
