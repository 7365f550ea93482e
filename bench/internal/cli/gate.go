package cli

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"example.com/quire/bench/internal/gate"
)

// recordRuns is how often instructions are counted for a baseline: the distance
// between the most and the least is the A/A spread.
const recordRuns = 5

func (a *App) gate(ctx context.Context, args []string) (int, error) {
	f := a.flags("gate")
	asJSON := f.Bool("json", false, "write the differences as JSON")
	m, dir, cleanup, err := a.measurer(ctx, f, args)
	if err != nil {
		return usage, err
	}
	defer cleanup()
	m.Runs = 1
	base, err := gate.Load(dir)
	if err != nil {
		return failed, err
	}
	now, err := m.Measure(ctx)
	if err != nil {
		return failed, err
	}
	if err := settle(ctx, m, base, now); err != nil {
		return failed, err
	}
	if m.Only != nil {
		keepOnly(base, m.Only)
	}
	diffs := gate.Compare(base, now)
	if *asJSON {
		b, err := json.MarshalIndent(diffs, "", " ")
		if err != nil {
			return failed, fmt.Errorf("encode differences: %w", err)
		}
		a.printf("%s\n", b)
	}
	strict := os.Getenv("REQUIRE_JUDGES") == "1"
	code := ok
	for _, d := range diffs {
		bad := d.Kind == gate.Broken || d.Kind == gate.Unmeasured && strict
		if bad {
			code = failed
		}
		if !*asJSON {
			word := "note"
			if bad {
				word = "FAIL"
			}
			a.printf("%s %s: %s\n", word, d.Subject, d.Text)
		}
	}
	if !*asJSON {
		a.printf("gate: %d kernels, %d samples, %d differences\n", len(now.Kernels), len(now.Outputs), len(diffs))
	}
	return code, nil
}

// settle counts a kernel's instructions again when the single count differs from
// the baseline: the median of more counts decides.
func settle(ctx context.Context, m *gate.Measurer, base, now gate.Measured) error {
	for name, is := range now.Kernels {
		one := gate.Measured{Toolchain: now.Toolchain, Kernels: map[string]gate.Counts{name: is}}
		was := gate.Measured{Toolchain: base.Toolchain, Kernels: map[string]gate.Counts{name: base.Kernels[name]}}
		was.Kernels[name] = gate.Counts{
			Allocs: is.Allocs, Bytes: is.Bytes, Instructions: base.Kernels[name].Instructions, Spread: base.Kernels[name].Spread,
		}
		if is.Instructions == 0 || was.Kernels[name].Instructions == 0 || len(gate.Compare(was, one)) == 0 {
			continue
		}
		n, err := m.Recount(ctx, name, 3)
		if err != nil {
			return err
		}
		is.Instructions = n
		now.Kernels[name] = is
	}
	return nil
}

func keepOnly(base gate.Measured, only *regexp.Regexp) {
	for name := range base.Kernels {
		if !only.MatchString(name) {
			delete(base.Kernels, name)
		}
	}
}

func (a *App) gateUpdate(ctx context.Context, args []string) (int, error) {
	f := a.flags("gate-update")
	m, dir, cleanup, err := a.measurer(ctx, f, args)
	if err != nil {
		return usage, err
	}
	defer cleanup()
	m.Runs = recordRuns
	base, err := gate.Load(dir)
	if err != nil {
		return failed, err
	}
	now, err := m.Measure(ctx)
	if err != nil {
		return failed, err
	}
	if m.Only != nil {
		if base.Toolchain != now.Toolchain {
			return usage, fmt.Errorf("%w: the baseline is of %s, and this is %s: it is to be recorded whole", errUsage, base.Toolchain, now.Toolchain)
		}
		for name, counts := range base.Kernels {
			if !m.Only.MatchString(name) {
				now.Kernels[name] = counts
			}
		}
	}
	diffs, err := gate.Update(dir, now)
	for _, d := range diffs {
		a.printf("%s: %s\n", d.Subject, strings.TrimSuffix(d.Text, "; record it by make bench-gate-update"))
	}
	if err != nil {
		return failed, err
	}
	if len(diffs) == 0 {
		a.printf("nothing changed\n")
	} else {
		a.printf("recorded in bench/baseline/: %d changes\n", len(diffs))
	}
	return ok, nil
}

// measurer parses the flags that both gate commands share, builds the kernel
// program and names the folder of the baseline.
func (a *App) measurer(ctx context.Context, f *flag.FlagSet, args []string) (m *gate.Measurer, baseline string, cleanup func(), err error) {
	only := f.String("only", "", "regular expression over kernels")
	program := f.Bool("program", true, "build the program and compare its size")
	instructions := f.Bool("instructions", true, "count instructions under valgrind")
	overlay := f.String("overlay", "", "build overlay for the kernel program: how a planted fault is tried")
	folder := f.String("baseline", filepath.Join(a.root, "bench", "baseline"), "folder of the baseline")
	if err := parse(f, args, 0); err != nil {
		return nil, "", nil, err
	}
	dir, err := os.MkdirTemp("", "quire-gate-")
	if err != nil {
		return nil, "", nil, fmt.Errorf("gate: %w", err)
	}
	cleanup = func() { _ = os.RemoveAll(dir) }
	m = &gate.Measurer{Root: a.root, Kernel: filepath.Join(dir, "kernel"), Instructions: *instructions}
	lines := a.progress()
	m.Say = lines.say
	if *only != "" {
		if m.Only, err = regexp.Compile(*only); err != nil {
			cleanup()
			return nil, "", nil, fmt.Errorf("%w: -only is no regular expression: %w", errUsage, err)
		}
	}
	if *program {
		m.Program = func(ctx context.Context) (string, error) {
			path := filepath.Join(dir, "quire")
			return path, buildProgram(ctx, a.root, path)
		}
	}
	if err := BuildKernel(ctx, filepath.Join(a.root, "bench"), m.Kernel, *overlay); err != nil {
		cleanup()
		return nil, "", nil, err
	}
	return m, *folder, func() {
		lines.clear()
		_ = os.RemoveAll(dir)
	}, nil
}

// BuildKernel builds the program that runs the gated kernels; flags may be an
// overlay file.
func BuildKernel(ctx context.Context, dir, out, overlay string) error {
	args := []string{"build", "-trimpath", "-buildvcs=false", "-o", out}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./cmd/kernel")...) //nolint:gosec // fixed arguments
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if b, err := cmd.CombinedOutput(); err != nil {
		return errors.Join(fmt.Errorf("build the kernels: %w", err), errors.New(strings.TrimSpace(string(b))))
	}
	return nil
}
