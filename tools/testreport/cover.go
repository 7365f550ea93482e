package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// measureCoverage runs the tests of each library once more, the long ones shortened, with
// coverage of the whole library: a facade's tests exercise its other packages. The program has no
// threshold, and is measured only when it is asked for.
func measureCoverage(ctx context.Context, w io.Writer, dir, only string) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	old, err := coverFiles(dir)
	if err != nil {
		return err
	}
	for _, f := range old {
		if err := os.Remove(f); err != nil {
			return err
		}
	}
	groups, err := testGroups(ctx)
	if err != nil {
		return err
	}
	sum := tally{missing: map[string]string{}}
	for _, g := range groups {
		if only != g.name && (only != "" || g.name == program) {
			continue
		}
		args := []string{"test", "-json", "-short", "-vet=off", "-timeout=10m", atOnce(), "-covermode=set", "-coverpkg=" + strings.Join(g.cover, ","), "-coverprofile=" + coverFile(dir, g.name)}
		if err := goTest(ctx, w, io.Discard, nil, append(args, g.packages...), &sum); err != nil {
			return err
		}
	}
	if sum.failed > 0 || len(sum.brokenPackages) > 0 {
		return errors.New("tests failed; what they covered says nothing")
	}
	return nil
}

// counts are statements of one package.
type counts struct{ covered, total int }

func (c counts) percent() float64 {
	if c.total == 0 {
		return 100
	}
	return 100 * float64(c.covered) / float64(c.total)
}

// readProfile adds the blocks of one cover profile, each counted once however many test
// binaries saw it.
func readProfile(file string, blocks map[string]blockCount) error {
	f, err := os.Open(filepath.Clean(file))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	s := bufio.NewScanner(f)
	for s.Scan() {
		line := s.Text()
		if strings.HasPrefix(line, "mode:") {
			continue
		}
		// FILE:LINE.COL,LINE.COL STATEMENTS COUNT
		fields := strings.Fields(line)
		if len(fields) != 3 {
			return fmt.Errorf("%s: not a cover profile: %q", file, line)
		}
		n, err := strconv.Atoi(fields[1])
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		b := blocks[fields[0]]
		b.statements = n
		b.hit = b.hit || fields[2] != "0"
		blocks[fields[0]] = b
	}
	return s.Err()
}

type blockCount struct {
	statements int
	hit        bool
}

// coverage returns statements per package, relative to the module.
func coverage(dir string) (map[string]counts, error) {
	files, err := coverFiles(dir)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no coverage in %s", dir)
	}
	blocks := map[string]blockCount{}
	for _, f := range files {
		if err := readProfile(f, blocks); err != nil {
			return nil, err
		}
	}
	byPackage := map[string]counts{}
	for place, b := range blocks {
		file, _, _ := strings.Cut(place, ":")
		p := strings.TrimPrefix(path.Dir(file), module+"/")
		c := byPackage[p]
		c.total += b.statements
		if b.hit {
			c.covered += b.statements
		}
		byPackage[p] = c
	}
	return byPackage, nil
}

var thresholdLine = regexp.MustCompile(`(?m)^Coverage threshold: (\d+(?:\.\d+)?) %$`)

func reportCoverage(w io.Writer, dir, docs string) error {
	byPackage, err := coverage(dir)
	if err != nil {
		return err
	}
	byLibrary := map[string]counts{}
	for _, p := range slices.Sorted(maps.Keys(byPackage)) {
		c := byPackage[p]
		_, _ = fmt.Fprintf(w, "%6.1f %%  %5d statements  %s\n", c.percent(), c.total, p)
		lib := groupOf(module + "/" + p)
		l := byLibrary[lib]
		l.covered += c.covered
		l.total += c.total
		byLibrary[lib] = l
	}
	_, _ = fmt.Fprintln(w)
	var low []string
	for _, lib := range slices.Sorted(maps.Keys(byLibrary)) {
		want := 0.0
		if lib != program {
			page, err := os.ReadFile(filepath.Clean(filepath.Join(docs, lib+"-status.md")))
			if err != nil {
				return err
			}
			m := thresholdLine.FindSubmatch(page)
			if m == nil {
				return fmt.Errorf("%s-status.md has no line `Coverage threshold: N %%`", lib)
			}
			if want, err = strconv.ParseFloat(string(m[1]), 64); err != nil {
				return err
			}
		}
		got := byLibrary[lib].percent()
		_, _ = fmt.Fprintf(w, "%6.1f %%  of at least %.0f %%  %s\n", got, want, lib)
		if got < want {
			low = append(low, lib)
		}
	}
	if len(low) > 0 {
		return fmt.Errorf("coverage below the threshold: %s", strings.Join(low, ", "))
	}
	return nil
}
