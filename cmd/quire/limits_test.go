package main

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"example.com/quire/pdf"
)

// TestDocsLimits: what the documentation says of limits is what the code has. The limits of the
// document engine are values of pdf; the others stand behind the text that is given for them in a
// source file.
func TestDocsLimits(t *testing.T) {
	text := page(t, "docs/limits.md")
	engine := reflect.ValueOf((pdf.Limits{}).WithDefaults())
	fields := 0
	for i := range engine.NumField() {
		if !engine.Type().Field(i).IsExported() {
			continue
		}
		fields++
		name, n := engine.Type().Field(i).Name, engine.Field(i).Int()
		value := decimal(n)
		if strings.HasSuffix(name, "Bytes") || strings.HasSuffix(name, "Memory") {
			value = size(n, " ")
		}
		if row := fmt.Sprintf("| `%s` | %s |", name, value); !strings.Contains(text, row) {
			t.Errorf("docs/limits.md: want %s", row)
		}
	}
	if rows := strings.Count(text, "\n| `"); rows != fields {
		t.Errorf("docs/limits.md has %d rows of the engine's limits, want %d", rows, fields)
	}

	body := inSource(t, "internal/config/config.go", "defaultBody = ")
	least := inSource(t, "internal/config/config.go", "leastBody   = ")
	most := inSource(t, "internal/config/config.go", "mostBody    = ")
	if used := inSource(t, "internal/api/request.go", "l.Body = cmp.Or(max(l.Body, 0), "); used != body {
		t.Errorf("bodies are limited to %d by api, to %d by config", used, body)
	}
	file := size(inSource(t, "internal/api/request.go", "l.File = cmp.Or(max(l.File, 0), "), " ")
	bodies := size(inSource(t, "internal/api/request.go", "l.Bodies = cmp.Or(max(l.Bodies, 0), "), " ")
	listed := inSource(t, "internal/record/document.go", "PageDefault = ")
	mostListed := inSource(t, "internal/record/document.go", "PageMost    = ")
	sources := inSource(t, "internal/record/maker.go", "const maxSources = ")
	answer := inSource(t, "internal/collect/http.go", "h.MaxBytes = cmp.Or(h.MaxBytes, ")
	characters := inSource(t, "internal/collect/parameter.go", "of String: characters; 0: ")
	files := size(inSource(t, "internal/templates/templates.go", "const MaxBytes = "), " ")
	title := inSource(t, "internal/record/maker.go", "const maxTitle = ")
	wait := inSource(t, "internal/render/queue.go", "longestWait = ")
	wall := inSource(t, "internal/api/request.go", "l.Render = cmp.Or(max(l.Render, 0), ")
	request := size(inSource(t, "internal/api/convert.go", "convertBody = "), " ")
	html := size(inSource(t, "pdf/htmlpdf/htmlpdf.go", "{&l.HTMLBytes, "), " ")
	asked := inSource(t, "pdf/htmlpdf/htmlpdf.go", "{&l.Resources, ")
	answers := size(inSource(t, "pdf/htmlpdf/htmlpdf.go", "{&l.ResourceBytes, "), " ")
	converted := size(inSource(t, "pdf/htmlpdf/htmlpdf.go", "{&l.OutputBytes, "), " ")
	pixels := decimal(inSource(t, "pdf/htmlpdf/htmlpdf.go", "{&l.ImagePixels, "))
	parallel := inSource(t, "internal/config/config.go", "c.Convert.Parallel = cmp.Or(c.Convert.Parallel, ")
	waiting := inSource(t, "internal/config/config.go", "c.Convert.Waiting = cmp.Or(c.Convert.Waiting, ")
	mostWaiting := inSource(t, "internal/config/check.go", "mostWaiting    = ")
	pages := inSource(t, "internal/config/config.go", "c.Convert.Bodies = cmp.Or(c.Convert.Bodies, ")
	leastPages := inSource(t, "internal/config/check.go", "leastBodies    = ")
	mostPages := inSource(t, "internal/config/check.go", "mostBodies     = ")
	if used := inSource(t, "internal/api/request.go", "l.Pages = cmp.Or(max(l.Pages, 0), "); used != pages {
		t.Errorf("bodies of pages are limited to %d by api, to %d by config", used, pages)
	}
	if used := inSource(t, "internal/api/request.go", "l.Converting = cmp.Or(max(l.Converting, 0), "); used != parallel+waiting {
		t.Errorf("%d conversions at once by api, %d by config", used, parallel+waiting)
	}
	mostParallel := inSource(t, "internal/config/check.go", "mostParallel   = ")
	data, depth, nodes := engine.FieldByName("DataBytes").Int(), engine.FieldByName("DataDepth").Int(), engine.FieldByName("DataNodes").Int()
	for _, said := range []struct{ page, text string }{
		{"docs/limits.md", fmt.Sprintf("| body of a render or document request | %s | `limits.body`, %s to %s |", size(body, " "), size(least, " "), size(most, " "))},
		{"docs/limits.md", fmt.Sprintf("| file to be verified | %s |", file)},
		{"docs/limits.md", fmt.Sprintf("| bodies held at once, of all requests for documents | %s |", bodies)},
		{"docs/limits.md", fmt.Sprintf("| documents in a page of a list | %d | %d when", mostListed, listed)},
		{"docs/limits.md", fmt.Sprintf("| sources of a document | %d |", sources)},
		{"docs/limits.md", fmt.Sprintf("| answer of a source | %s |", size(answer, " "))},
		{"docs/limits.md", fmt.Sprintf("| parameter of a source | %d characters |", characters)},
		{"docs/limits.md", fmt.Sprintf("| files of a template | %s |", files)},
		{"docs/limits.md", fmt.Sprintf("| title kept with a document | %d characters |", title)},
		{"docs/limits.md", fmt.Sprintf("| wait for a rendering slot | %d s |", wait)},
		{"docs/limits.md", fmt.Sprintf("| making a document | %d s |", wall)},
		{"docs/limits.md", fmt.Sprintf("| request to convert a page | %s | the page in it %s |", request, html)},
		{"docs/limits.md", fmt.Sprintf("| requests of a page that is converted | %d | all answers together %s |", asked, answers)},
		{"docs/limits.md", fmt.Sprintf("| file that a page becomes | %s | an image %s pixels |", converted, pixels)},
		{"docs/limits.md", fmt.Sprintf("| pages converted at once | %d | `convert.parallel`, 1 to %d |", parallel, mostParallel)},
		{"docs/limits.md", fmt.Sprintf("| pages that wait to be converted | %d | `convert.waiting`, 1 to %d;", waiting, mostWaiting)},
		{"docs/limits.md", fmt.Sprintf("| bodies held at once, of all requests to convert | %s | `convert.bodies`, %s to %s;", size(pages, " "), size(leastPages, " "), size(mostPages, " "))},
		{"docs/configuration.md", fmt.Sprintf("| `convert.waiting` | `%d` | pages that wait, 1 to %d;", waiting, mostWaiting)},
		{"docs/configuration.md", fmt.Sprintf("| `convert.bodies` | `%s` | memory for the bodies of all these requests together, %s to %s.", size(pages, ""), size(leastPages, ""), size(mostPages, ""))},
		{"docs/http-api.md", fmt.Sprintf("| `html` | the page, at most %s |", html)},
		{"docs/configuration.md", fmt.Sprintf("| `convert.parallel` | `%d` | pages at once, 1 to %d;", parallel, mostParallel)},
		{"docs/configuration.md", fmt.Sprintf("| `limits.body` | `%s` | | size of the body of a render or document request; %s to %s.", size(body, ""), size(least, ""), size(most, ""))},
		{"docs/configuration.md", fmt.Sprintf("`data` in it has at most %s, %d levels and %s values |", size(data, ""), depth, decimal(nodes))},
		{"docs/configuration.md", fmt.Sprintf("| `sources.NAME.max-bytes` | `%s` |", size(answer, ""))},
		{"docs/http-api.md", fmt.Sprintf("| `limit` | documents in the answer; default %d, at most %d |", listed, mostListed)},
		{"docs/http-api.md", fmt.Sprintf("up to %s of any media type", file)},
		{"docs/http-api.md", fmt.Sprintf("at most %d characters of it", title)},
		{"docs/problems.md", fmt.Sprintf("longer than %d seconds", wait)},
	} {
		if !strings.Contains(page(t, said.page), said.text) {
			t.Errorf("%s does not say: %s", said.page, said.text)
		}
	}
}

// inSource evaluates the constant expression behind a text in a source file; a time is in seconds.
func inSource(t *testing.T, file, behind string) int64 {
	t.Helper()
	m := regexp.MustCompile(regexp.QuoteMeta(behind) + `([\w.<*+ ]+)`).FindStringSubmatch(page(t, file))
	if m == nil {
		t.Fatalf("%s has no %q", file, behind)
	}
	expr := strings.NewReplacer("record.DataBytes", fmt.Sprint((pdf.Limits{}).WithDefaults().DataBytes), "* time.Second", "", "*time.Second", "").Replace(m[1])
	v, err := types.Eval(token.NewFileSet(), nil, token.NoPos, strings.TrimSpace(expr))
	if err != nil {
		t.Fatalf("%s: %s: %v", file, m[1], err)
	}
	n, _ := constant.Int64Val(v.Value)
	return n
}

// size writes a size as the documentation does: in prose with a space before the unit.
func size(n int64, space string) string {
	if n%(1<<30) == 0 {
		return fmt.Sprintf("%d%sGiB", n>>30, space)
	}
	if n%(1<<20) == 0 {
		return fmt.Sprintf("%d%sMiB", n>>20, space)
	}
	return fmt.Sprintf("%d%sKiB", n>>10, space)
}

// decimal writes a number with commas between groups of three digits.
func decimal(n int64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return decimal(n/1000) + fmt.Sprintf(",%03d", n%1000)
}
