package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// row is one line of a status page: | W1 | Router ... | done | `web.TestA`, `web.TestB` |.
type row struct {
	page, id, state string
	line            int
	tests           []string
}

var quotedTest = regexp.MustCompile("`([^`]+)`")

func parseStatus(page string, src []byte) ([]row, []string) {
	var rows []row
	var faults []string
	n := 0
	for line := range strings.Lines(string(src)) {
		n++
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			continue
		}
		cells := splitCells(line)
		if len(cells) < 4 || cells[0] == "row" || strings.Trim(cells[0], "-: ") == "" {
			continue
		}
		r := row{page: page, id: cells[0], state: cells[len(cells)-2], line: n}
		for _, m := range quotedTest.FindAllStringSubmatch(cells[len(cells)-1], -1) {
			r.tests = append(r.tests, m[1])
		}
		switch {
		case r.state != "done" && r.state != "open" && !strings.HasPrefix(r.state, "part: "):
			faults = append(faults, fmt.Sprintf("%s:%d: row %s: state %q is neither done, open nor `part: what is missing`", page, n, r.id, r.state))
		case r.state != "open" && len(r.tests) == 0:
			faults = append(faults, fmt.Sprintf("%s:%d: row %s is %s and names no test", page, n, r.id, r.state))
		}
		rows = append(rows, r)
	}
	return rows, faults
}

// splitCells cuts a table line at its bars, save escaped ones and those inside code spans.
func splitCells(line string) []string {
	var cells []string
	var cell strings.Builder
	code, escaped := false, false
	for _, c := range strings.TrimPrefix(line, "|") {
		switch {
		case escaped:
			escaped = false
		case c == '\\':
			escaped = true
			continue
		case c == '`':
			code = !code
		case c == '|' && !code:
			cells = append(cells, strings.TrimSpace(cell.String()))
			cell.Reset()
			continue
		}
		cell.WriteRune(c)
	}
	return cells
}

func reportStatus(w io.Writer, dir, docs string) error {
	results, err := readRun(dir)
	if err != nil {
		return err
	}
	pages, err := filepath.Glob(filepath.Join(docs, "*-status.md"))
	if err != nil {
		return err
	}
	if len(pages) == 0 {
		return fmt.Errorf("%s has no *-status.md", docs)
	}
	var faults []string
	for _, page := range pages {
		src, err := os.ReadFile(filepath.Clean(page))
		if err != nil {
			return err
		}
		rows, bad := parseStatus(filepath.ToSlash(page), src)
		faults = append(faults, bad...)
		faults = append(faults, judgeRows(rows, results)...)
		done, part := 0, 0
		for _, r := range rows {
			switch {
			case r.state == "done":
				done++
			case strings.HasPrefix(r.state, "part"):
				part++
			}
		}
		_, _ = fmt.Fprintf(w, "%-24s %3d done, %3d in part, %3d open\n", filepath.Base(page), done, part, len(rows)-done-part)
	}
	for _, f := range faults {
		_, _ = fmt.Fprintln(w, f)
	}
	if len(faults) > 0 {
		return fmt.Errorf("status pages: %d claims are not proved", len(faults))
	}
	return nil
}

// judgeRows lists the rows whose named tests did not pass in the recorded run.
func judgeRows(rows []row, results map[string]string) []string {
	var faults []string
	ids := map[string]int{}
	for _, r := range rows {
		key := r.page + " " + r.id
		if first, ok := ids[key]; ok {
			faults = append(faults, fmt.Sprintf("%s:%d: row %s stands already at line %d", r.page, r.line, r.id, first))
		}
		ids[key] = r.line
		for _, t := range r.tests {
			switch results[t] {
			case "pass":
			case "":
				faults = append(faults, fmt.Sprintf("%s:%d: row %s: test %s did not run%s", r.page, r.line, r.id, t, nearTest(t, results)))
			default:
				faults = append(faults, fmt.Sprintf("%s:%d: row %s: test %s: %s", r.page, r.line, r.id, t, results[t]))
			}
		}
	}
	return faults
}

// nearTest names a test of the same name in another package, the usual mistake.
func nearTest(want string, results map[string]string) string {
	name := want[strings.LastIndexByte(want, '.')+1:]
	var near []string
	for t := range results {
		if strings.HasSuffix(t, "."+name) {
			near = append(near, t)
		}
	}
	if len(near) == 0 {
		return ""
	}
	slices.Sort(near)
	return "; is it " + near[0] + "?"
}
