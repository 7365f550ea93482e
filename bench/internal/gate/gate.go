// Package gate compares what does not depend on the clock with recorded
// baselines: allocations and bytes per operation, instruction counts, the hashes
// of the samples' outputs, and the size of the program.
package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Counts are what a kernel costs, per operation.
type Counts struct {
	Allocs int64 `json:"allocs"`
	Bytes  int64 `json:"bytes"`
	// Instructions is 0 where they were not counted.
	Instructions float64 `json:"instructions,omitempty"`
	// Spread is the relative distance of the largest from the least count in
	// repeated runs of the same program.
	Spread float64 `json:"spread,omitempty"`
}

// Output is a sample's rendered document.
type Output struct {
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
	Engine string `json:"engine"`
}

// Measured is everything that is gated.
type Measured struct {
	// Toolchain is the Go version and the architecture. Other compilers count
	// otherwise, so that counts are compared under the same one only.
	Toolchain string
	Kernels   map[string]Counts
	Outputs   map[string]Output
	Program   int64 // bytes of the built program, 0 when it was not built
	Absent    []Absence
}

// Absence is something that could not be measured here.
type Absence struct{ What, Why string }

// The files of the baseline, one for each kind so that a change is easy to read.
const (
	countsFile  = "counts.json"
	outputsFile = "outputs.json"
	programFile = "program.json"
)

type countsBaseline struct {
	Toolchain string            `json:"toolchain"`
	Kernels   map[string]Counts `json:"kernels"`
}

type programBaseline struct {
	Toolchain string `json:"toolchain"`
	Bytes     int64  `json:"bytes"`
}

// Load reads the baseline in dir; files that are not there leave their part
// empty.
func Load(dir string) (Measured, error) {
	m := Measured{Kernels: map[string]Counts{}, Outputs: map[string]Output{}}
	var c countsBaseline
	var p programBaseline
	for name, into := range map[string]any{countsFile: &c, outputsFile: &m.Outputs, programFile: &p} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return m, fmt.Errorf("read baseline: %w", err)
		}
		if err := json.Unmarshal(b, into); err != nil {
			return m, fmt.Errorf("read baseline %s: %w", name, err)
		}
	}
	m.Toolchain, m.Program = c.Toolchain, p.Bytes
	if m.Toolchain == "" {
		m.Toolchain = p.Toolchain
	}
	if c.Kernels != nil {
		m.Kernels = c.Kernels
	}
	return m, nil
}

// Save writes the baseline.
func (m Measured) Save(dir string) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("write baseline: %w", err)
	}
	for name, v := range map[string]any{
		countsFile:  countsBaseline{m.Toolchain, m.Kernels},
		outputsFile: m.Outputs,
		programFile: programBaseline{m.Toolchain, m.Program},
	} {
		b, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			return fmt.Errorf("write baseline %s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), append(b, '\n'), 0o644); err != nil { //nolint:gosec // a committed file
			return fmt.Errorf("write baseline %s: %w", name, err)
		}
	}
	return nil
}

// Kind says what a difference means.
type Kind int

// A Broken difference fails the gate; an Unmeasured one fails it when nothing may
// be skipped; a Note never does.
const (
	Note Kind = iota
	Unmeasured
	Broken
)

// Difference is one line of the gate's answer.
type Difference struct {
	Subject string `json:"subject"`
	Text    string `json:"text"`
	Kind    Kind   `json:"kind"`
	// Refuse means that the change must not be recorded as it stands.
	Refuse bool `json:"refuse,omitempty"`
}

const (
	// leastSpread is assumed of instruction counts that repeated runs happened to
	// agree on: where memory lies, which is chance, changes them by as much.
	leastSpread = 0.0025
	// ProgramTolerance is by how much the program's size may differ.
	ProgramTolerance = 0.02
	programSize      = "program size"
	record           = "record it by make bench-gate-update"
)

// Compare sets what was measured beside the baseline. Differences come in a
// fixed order.
func Compare(base, now Measured) []Difference {
	var out []Difference
	same := base.Toolchain == now.Toolchain
	if !same && base.Toolchain != "" {
		out = append(out, Difference{
			Subject: "toolchain", Kind: Unmeasured,
			Text: fmt.Sprintf("the baseline is of %s, this is %s: counts and size are not compared", base.Toolchain, now.Toolchain),
		})
	}
	for _, a := range now.Absent {
		out = append(out, Difference{Subject: a.What, Kind: Unmeasured, Text: "not measured: " + a.Why})
	}
	if same || base.Toolchain == "" {
		out = append(out, compareKernels(base.Kernels, now.Kernels)...)
		out = append(out, compareProgram(base.Program, now.Program)...)
	}
	return append(out, compareOutputs(base.Outputs, now.Outputs)...)
}

func compareKernels(base, now map[string]Counts) []Difference {
	var out []Difference
	broken := func(name, format string, args ...any) {
		out = append(out, Difference{Subject: name, Kind: Broken, Text: fmt.Sprintf(format, args...)})
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		was, known := base[name]
		is := now[name]
		if !known {
			broken(name, "no baseline for this kernel; %s", record)
			continue
		}
		if is.Allocs != was.Allocs {
			broken(name, "%s", changed("allocations per operation", was.Allocs, is.Allocs))
		}
		if is.Bytes != was.Bytes {
			broken(name, "%s", changed("bytes per operation", was.Bytes, is.Bytes))
		}
		switch {
		case is.Instructions == 0:
		case was.Instructions == 0:
			broken(name, "no baseline for its instructions; %s", record)
		default:
			change := is.Instructions/was.Instructions - 1
			if allowed := 2 * max(was.Spread, leastSpread); change > allowed || change < -allowed {
				broken(name, "instructions per operation %.0f, were %.0f (%+.2f %%, allowed ±%.2f %%); %s",
					is.Instructions, was.Instructions, 100*change, 100*allowed, record)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(base)) {
		if _, still := now[name]; !still {
			broken(name, "the kernel is gone; %s", record)
		}
	}
	return out
}

func changed(what string, was, is int64) string {
	return fmt.Sprintf("%s %d, were %d (%+d); %s", what, is, was, is-was, record)
}

func compareProgram(base, now int64) []Difference {
	if now == 0 {
		return nil
	}
	if base == 0 {
		return []Difference{{Subject: programSize, Kind: Broken, Text: "no baseline; " + record}}
	}
	change := float64(now)/float64(base) - 1
	if change > ProgramTolerance || change < -ProgramTolerance {
		return []Difference{{
			Subject: programSize, Kind: Broken,
			Text: fmt.Sprintf("%d bytes, were %d (%+.1f %%, allowed ±%.0f %%); %s", now, base, 100*change, 100*ProgramTolerance, record),
		}}
	}
	return nil
}

// compareOutputs holds the rule of the engine's number: under one engine string
// the bytes of a document never change. Changed bytes under an unchanged engine
// are refused, also for recording.
func compareOutputs(base, now map[string]Output) []Difference {
	var out []Difference
	for _, name := range slices.Sorted(maps.Keys(now)) {
		was, known := base[name]
		is := now[name]
		subject := "sample " + name
		switch {
		case !known:
			out = append(out, Difference{Subject: subject, Kind: Broken, Text: "no baseline for this sample; " + record})
		case is.SHA256 == was.SHA256 && is.Engine == was.Engine:
		case is.SHA256 == was.SHA256:
			out = append(out, Difference{
				Subject: subject, Kind: Broken,
				Text: fmt.Sprintf("the same bytes by engine %s, recorded by %s; %s", is.Engine, was.Engine, record),
			})
		case is.Engine == was.Engine:
			out = append(out, Difference{
				Subject: subject, Kind: Broken, Refuse: true,
				Text: fmt.Sprintf("its bytes changed (%s, %d bytes; was %s, %d bytes) but the engine is still %s: raise the engine's number in pdf",
					short(is.SHA256), is.Size, short(was.SHA256), was.Size, is.Engine),
			})
		default:
			out = append(out, Difference{
				Subject: subject, Kind: Broken,
				Text: fmt.Sprintf("its bytes changed with the engine (%s, was %s); %s", is.Engine, was.Engine, record),
			})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(base)) {
		if _, still := now[name]; !still {
			out = append(out, Difference{Subject: "sample " + name, Kind: Broken, Text: "the sample is gone; " + record})
		}
	}
	return out
}

func short(sum string) string { return sum[:min(12, len(sum))] }

// ErrRefused is returned when a baseline must not be recorded.
var ErrRefused = errors.New("gate: not recorded")

// Update records what was measured as the new baseline in dir and returns what
// changed. Output bytes that changed under an unchanged engine are refused, and
// nothing is written then. Parts that could not be measured keep their baseline.
func Update(dir string, now Measured) ([]Difference, error) {
	base, err := Load(dir)
	if err != nil {
		return nil, err
	}
	diffs := Compare(base, now)
	if base.Toolchain != "" && base.Toolchain != now.Toolchain {
		diffs = append(diffs, compareKernels(base.Kernels, now.Kernels)...)
	}
	for _, d := range diffs {
		if d.Refuse {
			return diffs, fmt.Errorf("%w: %s: %s", ErrRefused, d.Subject, d.Text)
		}
	}
	if now.Program == 0 {
		now.Program = base.Program
	}
	// What did not change keeps its record, so that recording one change does not
	// touch the rest.
	differs := map[string]bool{}
	for _, d := range diffs {
		differs[d.Subject] = true
	}
	for name, is := range now.Kernels {
		was, known := base.Kernels[name]
		switch {
		case !known || base.Toolchain != now.Toolchain:
			continue
		case !differs[name]:
			is = was
		case is.Instructions == 0:
			is.Instructions, is.Spread = was.Instructions, was.Spread
		}
		now.Kernels[name] = is
	}
	if base.Toolchain == now.Toolchain && !differs[programSize] && base.Program != 0 {
		now.Program = base.Program
	}
	return diffs, now.Save(dir)
}
