package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	page   = "../../../docs/http-cache-tests.md"
	passed = "yes"
	failed = "no"

	// What stands below depends on the machine and the day: it is written and not compared.
	behaviour = "## Behaviour checks"
)

// render is the page with every outcome.
func render(private, shared []outcome, excused map[string]exception, proxies []proxyScore) string {
	var b strings.Builder
	b.WriteString("# http-cache-tests\n\n" +
		"What the suite [http-cache-tests](https://cache-tests.fyi/) 0.4.5 says of `fetch/httpcache`. " +
		"`go test ./fetch/httpcache/conformance -run Required -update` writes this page, " +
		"and the same test without the flag compares it.\n\n" +
		"| mode | required | optimal |\n|---|---|---|\n")
	for _, run := range []struct {
		mode string
		all  []outcome
	}{{"private", private}, {"shared", shared}} {
		p, n := count(run.all, "required")
		q, m := count(run.all, "optimal")
		fmt.Fprintf(&b, "| %s | %d of %d | %d of %d |\n", run.mode, p, n, q, m)
	}
	b.WriteString("\nProxies of others before the same server, as shared caches, " +
		"with the configuration in `fetch/httpcache/conformance/proxies_test.go`:\n\n" +
		"| proxy | required | optimal |\n|---|---|---|\n")
	for _, s := range proxies {
		fmt.Fprintf(&b, "| %s | %d of %d | %d of %d |\n",
			s.Name, s.Required, requiredShared, s.Optimal, s.OfOptimal)
	}
	b.WriteString("\n## Required tests that are not passed\n\n" +
		"| test | section | why that is right | our own test |\n|---|---|---|---|\n")
	for _, id := range slices.Sorted(maps.Keys(excused)) {
		e := excused[id]
		fmt.Fprintf(&b, "| %s | %s | %s | `%s` |\n", e.ID, e.Section, e.Reason, e.Test)
	}
	cells, kinds := map[string][2]string{}, map[string]string{}
	for i, all := range [][]outcome{private, shared} {
		for _, o := range all {
			cell := cells[o.ID]
			if cell[i] = failed; o.Pass {
				cell[i] = passed
			}
			cells[o.ID], kinds[o.ID] = cell, o.Kind
		}
	}
	table := func(of ...string) {
		b.WriteString("| test | kind | private | shared |\n|---|---|---|---|\n")
		for _, id := range slices.Sorted(maps.Keys(cells)) {
			if slices.Contains(of, kinds[id]) {
				fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", id, kinds[id], cells[id][0], cells[id][1])
			}
		}
	}
	b.WriteString("\n## Every test\n\n")
	table("required", "optimal")
	b.WriteString("\n" + behaviour + "\n\nThey ask what a cache does, and have no right answer. Of " +
		time.Now().UTC().Format(time.DateOnly) + ".\n\n")
	table("check")
	return b.String()
}

// read returns the outcomes in a column of the page.
func read(page string, column int) map[string]string {
	page, _, _ = strings.Cut(page, behaviour)
	m := map[string]string{}
	for line := range strings.Lines(page) {
		if cells := strings.Split(line, " | "); len(cells) == 4 &&
			(cells[1] == "required" || cells[1] == "optimal") {
			m[strings.TrimPrefix(cells[0], "| ")] = strings.TrimSuffix(strings.TrimSpace(cells[2+column]),
				" |")
		}
	}
	return m
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return "has  " + x[i] + "\nwant " + y[i]
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(x), len(y))
}

// proxyScore is what a proxy of others passes in shared mode.
type proxyScore struct {
	Name                         string
	Required, Optimal, OfOptimal int
}

const proxyScores = "testdata/proxies.json"

// others returns the scores that TestOthersPassFewer has written.
func others(t *testing.T) []proxyScore {
	t.Helper()
	b, err := os.ReadFile(proxyScores)
	if err != nil {
		t.Fatal(err)
	}
	var list []proxyScore
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	return list
}
