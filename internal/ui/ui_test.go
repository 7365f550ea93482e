package ui_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"example.com/quire/internal/demo"
	"example.com/quire/internal/judgetest"
	"example.com/quire/internal/record"
	"example.com/quire/internal/ui"
	"example.com/quire/web"
)

func TestLandingEmpty(t *testing.T) {
	t.Parallel()
	h := open(t)
	res, page := h.page(t, "/")
	if res.Status != http.StatusOK || res.Header.Get("Content-Type") != "text/html; charset=utf-8" || res.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v", res.Status, res.Header)
	}
	hasAll(t, page, "No documents yet", "/reports/contract-note/request.json |", h.url+"/v1/documents", "New document")
	wellFormed(t, page)
	_, page = h.page(t, "/?report=invoice")
	hasAll(t, page, "This report has no documents yet", `aria-current="page">Invoice`, "/reports/invoice/request.json |")
}

func TestLandingLists(t *testing.T) {
	t.Parallel()
	h := open(t)
	down := h.made(t, demo.DownReport)
	note := h.made(t, "contract-note")
	_, page := h.page(t, "/")
	hasAll(t, page,
		"<h3><a href=\"/documents/"+note.ID.String()+"\">"+note.Title+"</a></h3>", `<p class="meta">Contract note<br><time `, "/d/"+note.Content.String()+".pdf",
		"1\u00a0page&nbsp;·", note.Content.String()[:16], "<span class=\"tag\">made without</span> source status-down: status 503", `class="stage without" data-stage="collect"`,
		`class="stage skipped" data-stage="collect"`, "Service report, source down",
	)
	// What no receipt has is no stage of the document, and a document without a source is whole.
	for _, wrong := range []string{`data-stage="serve"`, ">failed<", `"stage failed"`} {
		if strings.Contains(page, wrong) {
			t.Errorf("the page has %q", wrong)
		}
	}
	if strings.Index(page, note.ID.String()) > strings.Index(page, down.ID.String()) {
		t.Error("the newest is not the first")
	}
	wellFormed(t, page)
	_, page = h.page(t, "/?report=contract-note")
	if !strings.Contains(page, note.ID.String()) || strings.Contains(page, down.ID.String()) {
		t.Error("the filter does not filter")
	}
}

// TestLandingPages: the list goes on after twenty, by the mark of the last one.
func TestLandingPages(t *testing.T) {
	t.Parallel()
	h := open(t)
	first := h.made(t, small)
	for range 20 {
		h.made(t, small)
	}
	for _, filter := range []string{"", "report=small&amp;"} {
		_, page := h.page(t, "/?"+strings.ReplaceAll(filter, "&amp;", ""))
		// url.Values are written in the order of their keys.
		m := regexp.MustCompile(`href="(/\?after=[^"]+)" rel="next">Older`).FindStringSubmatch(page)
		if m == nil || strings.Count(page, `class="card"`) != 20 || strings.Contains(page, ">Newest<") {
			t.Fatalf("filter %q: first page: next %q", filter, m)
		}
		_, page = h.page(t, strings.ReplaceAll(m[1], "&amp;", "&"))
		if strings.Count(page, `class="card"`) != 1 || !strings.Contains(page, first.ID.String()) || strings.Contains(page, ">Older") || !strings.Contains(page, ">Newest<") {
			t.Errorf("filter %q: second page is not the last", filter)
		}
	}
	if res, page := h.page(t, "/?after=x"); res.Status != http.StatusBadRequest || !strings.Contains(page, "<h1>Bad Request</h1>") {
		t.Error(res.Status)
	}
}

func TestDocumentPage(t *testing.T) {
	t.Parallel()
	h := open(t)
	d := h.made(t, demo.DownReport)
	res, page := h.page(t, "/documents/"+d.ID.String())
	if res.Status != http.StatusOK {
		t.Fatal(res.Status)
	}
	hasAll(t, page,
		"<h1>"+d.Title+"</h1>", `<p class="meta">Service report, source down&nbsp;· <time `, d.ID.String(), d.Content.String(), d.Snapshot.String(), d.Template.Hash.String(), d.Engine,
		"2026-02-02 06:30:01.000 UTC, given by the request</span>", "<td>status 503</td>", "<dt>Document time</dt>", `<th scope="row">3</th>`, ">Verify<",
		"curl --fail-with-body -sS -o service-report-"+d.ID.String()[:12]+".pdf "+h.url+"/d/"+d.Content.String()+".pdf",
		"curl --fail-with-body -sS -X POST "+h.url+"/v1/documents/"+d.ID.String()+"/verify",
		`href="/v1/documents/`+d.ID.String()+`/receipt"`, `href="/v1/documents/`+d.ID.String()+`/snapshot"`,
	)
	wellFormed(t, page)
	for _, link := range regexp.MustCompile(`(?:href|src)="(/[^"]*)"`).FindAllStringSubmatch(page, -1) {
		if res, _ := h.page(t, link[1]); res.Status != http.StatusOK {
			t.Errorf("%s: %d", link[1], res.Status)
		}
	}
}

// TestDocumentWithABlankTitle is called by its template: a link and a heading have a name.
func TestDocumentWithABlankTitle(t *testing.T) {
	t.Parallel()
	h := open(t)
	body := `{"template": {"name": "untitled", "source": "quire: 1\nname: untitled\nlang: en\ntitle: \" \"\nbody: [{text: x}]"}, "data": {}}`
	made, text := h.send(t, http.MethodPost, "/v1/documents", body)
	if made.Status != http.StatusCreated {
		t.Fatal(made.Status, text)
	}
	_, list := h.page(t, "/")
	_, page := h.page(t, "/documents/"+made.Header.Get("Quire-Document"))
	hasAll(t, list, ">untitled</a></h3>")
	hasAll(t, page, "<h1>untitled</h1>")
}

// TestFailuresArePages: what is not there, or belongs to others, is told in HTML.
func TestFailuresArePages(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, path := range []string{
		"/documents/x", "/documents/" + strings.Repeat("0", 64), "/?report=No%20Name", "/?report=nosuch", "/?report=nosuch&after=1",
		"/nosuch", "/documents/x/y", "/assets/nosuch.js", "/reports/nosuch/request.json",
	} {
		res, page := h.page(t, path)
		if res.Status != http.StatusNotFound || !strings.Contains(page, "<h1>Not Found</h1>") || !strings.Contains(page, res.Header.Get("X-Request-Id")) {
			t.Errorf("%s: %d\n%s", path, res.Status, page)
		}
		hasAll(t, page, `href="/">All documents`)
		hasAll(t, res.Header.Get("Content-Security-Policy"), "default-src 'none'")
		wellFormed(t, page)
		for _, accept := range []string{"", "*/*", "application/json", "application/problem+json", "text/html;q=0.5, application/json", "text/html;q=0, */*", "text/html;q=x"} {
			w := httptest.NewRecorder()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, h.url+path, nil)
			r.Header.Set("Accept", accept)
			h.app.ServeHTTP(w, r)
			if w.Code != http.StatusNotFound || w.Header().Get("Content-Type") != "application/problem+json" {
				t.Errorf("%s for %q: %d %s", path, accept, w.Code, w.Header().Get("Content-Type"))
			}
		}
	}
	if res, _ := h.page(t, "/reports/"+demo.DownReport+"/request.json"); res.Status != http.StatusNotFound {
		t.Errorf("a report without data: %d", res.Status)
	}
}

// TestCommandsRun: the lines that people copy do in a shell what the pages say of them.
func TestCommandsRun(t *testing.T) {
	t.Parallel()
	for _, judge := range []string{"sh", "curl"} {
		judgetest.Program(t, judge, "apt-get install "+judge)
	}
	h := open(t)
	dir := t.TempDir()
	shell := func(line string) (string, error) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "sh", "-c", line) //nolint:gosec // what the page shows is what is tested
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	lines := func(path string) []string {
		t.Helper()
		_, page := h.page(t, path)
		var all []string
		for _, m := range regexp.MustCompile(`(?s)<pre><code>(.*?)</code></pre>`).FindAllStringSubmatch(page, -1) {
			all = append(all, html.UnescapeString(m[1]))
		}
		if len(all) == 0 {
			t.Fatalf("%s has no command", path)
		}
		return all
	}
	// The answer names the document.
	out, err := shell(lines("/?report=price-list")[0])
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var made struct{ ID, Content record.Hash }
	check(t, json.Unmarshal([]byte(out), &made))
	commands := lines("/documents/" + made.ID.String())
	out, err = shell(commands[0])
	files, _ := filepath.Glob(filepath.Join(dir, "price-list-*.pdf"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v\n%s", err, out)
	}
	b, err := os.ReadFile(files[0])
	check(t, err)
	if record.Sum(b) != made.Content {
		t.Error("another file was fetched")
	}
	if out, err = shell(commands[1]); err != nil || !strings.Contains(out, `"answer":"identical"`) {
		t.Errorf("%v\n%s", err, out)
	}
	// Where no report has example data, the command makes a document all the same.
	bare := open(t, func(o *ui.Options) { o.Reports = nil })
	_, page := bare.page(t, "/")
	hasAll(t, page, "No documents yet")
	first := html.UnescapeString(regexp.MustCompile(`(?s)<pre><code>(.*?)</code></pre>`).FindStringSubmatch(page)[1])
	if out, err := shell(first); err != nil || !strings.Contains(out, `"title":"Hello"`) {
		t.Errorf("%v\n%s\n%s", err, first, out)
	}
	// A failure is not silent.
	out, err = shell(strings.ReplaceAll(commands[1], made.ID.String(), strings.Repeat("0", 64)))
	if err == nil || !strings.Contains(out, `"status":404`) {
		t.Errorf("a failure: %v\n%s", err, out)
	}
}

// TestRequestIsTaken: what a "make another" button sends makes a document, and a
// second time another one, because its time is another.
func TestRequestIsTaken(t *testing.T) {
	t.Parallel()
	h := open(t)
	seen := map[string]bool{}
	for range 2 {
		_, body := h.page(t, "/reports/contract-note/request.json")
		res, made := h.send(t, http.MethodPost, "/v1/documents", body)
		if res.Status != http.StatusCreated {
			t.Fatalf("%d %s", res.Status, made)
		}
		seen[made] = true
	}
	_, page := h.page(t, "/")
	if n := strings.Count(page, `class="card"`); n != 2 || len(seen) != 2 {
		t.Errorf("%d documents", n)
	}
}

// broken is a library that fails.
type broken struct{ err error }

func (b broken) List(context.Context, record.Space, record.Query) (*record.Page, error) {
	return nil, b.err
}

func (b broken) Document(context.Context, record.Space, record.Hash) (*record.Document, error) {
	return nil, b.err
}

func (b broken) Receipt(context.Context, record.Space, record.Hash) ([]byte, error) {
	return nil, b.err
}

// TestFaultsStayInside: the cause of a fault goes to the log, not to the page;
// a caller without a space gets the answer of Options.Space.
func TestFaultsStayInside(t *testing.T) {
	var log strings.Builder
	serve := func(space func(*web.Context) (record.Space, error), path string) *httptest.ResponseRecorder {
		t.Helper()
		app, err := web.New(web.Options{Logger: slog.New(slog.DiscardHandler)})
		check(t, err)
		check(t, ui.Register(app.Group(""), ui.Options{
			Library: broken{errors.New("the disk speaks of secrets")}, Space: space, Log: slog.New(slog.NewTextHandler(&log, nil)),
		}))
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.Header.Set("Accept", "text/html")
		app.ServeHTTP(w, r)
		return w
	}
	local := func(*web.Context) (record.Space, error) { return record.Local, nil }
	for _, path := range []string{"/", "/documents/" + strings.Repeat("1", 64)} {
		w := serve(local, path)
		if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "secrets") || !strings.Contains(log.String(), "secrets") {
			t.Errorf("%s: %d, log %q", path, w.Code, log.String())
		}
	}
	nobody := func(c *web.Context) (record.Space, error) {
		c.Writer().Header().Set("WWW-Authenticate", `Basic realm="quire"`)
		return "", web.NewProblem(http.StatusUnauthorized, "A token is needed.", nil)
	}
	for _, path := range []string{"/", "/documents/" + strings.Repeat("1", 64), "/reports/x/request.json"} {
		w := serve(nobody, path)
		if w.Code != http.StatusUnauthorized || w.Header().Get("WWW-Authenticate") == "" {
			t.Errorf("%s: %d", path, w.Code)
		}
		hasAll(t, w.Body.String(), "enter a token as the password")
	}
	// Nor do the files that pages are drawn with need a token: they hold nothing of anybody.
	sheet := regexp.MustCompile(`/assets/[0-9a-f]{16}/quire.css`).FindString(serve(nobody, "/").Body.String())
	if w := serve(nobody, sheet); sheet == "" || w.Code != http.StatusOK {
		t.Errorf("%q: %d", sheet, w.Code)
	}
}

func TestRegisterRefuses(t *testing.T) {
	space := func(*web.Context) (record.Space, error) { return record.Local, nil }
	for name, o := range map[string]ui.Options{
		"no library": {Space: space},
		"no space":   {Library: broken{}},
		"bad data":   {Library: broken{}, Space: space, Reports: []ui.Report{{Name: "x", Data: []byte("{")}}},
	} {
		app, err := web.New(web.Options{})
		check(t, err)
		if ui.Register(app.Group(""), o) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestCommandsWithToken: off loopback the commands send a token and use the
// address that clients know.
func TestCommandsWithToken(t *testing.T) {
	t.Parallel()
	h := open(t)
	d := h.made(t, "invoice")
	app, err := web.New(web.Options{})
	check(t, err)
	check(t, ui.Register(app.Group(""), ui.Options{
		Library: h.store, Token: true, BaseURL: "https://q.example",
		Space: func(*web.Context) (record.Space, error) { return record.Local, nil },
	}))
	srv := httptest.NewServer(app)
	defer srv.Close()
	other := &server{url: srv.URL}
	_, page := other.page(t, "/documents/"+d.ID.String())
	hasAll(t, page, `curl --fail-with-body -sS -H &#34;Authorization: Bearer $QUIRE_TOKEN&#34; -X POST https://q.example/v1/documents/`, "<h1>Facture 2026-0147</h1>", `<p class="meta">invoice&nbsp;· `)
	_, page = other.page(t, "/?report=invoice")
	hasAll(t, page, `aria-current="page">invoice`) // it has documents, though it is configured no more
	bare, err := web.New(web.Options{})
	check(t, err)
	check(t, ui.Register(bare.Group(""), ui.Options{Library: h.store, Space: func(*web.Context) (record.Space, error) { return "empty", nil }}))
	empty := httptest.NewServer(bare)
	defer empty.Close()
	_, page = (&server{url: empty.URL}).page(t, "/")
	hasAll(t, page, `&#34;name&#34;: &#34;hello&#34;`)
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	h := open(t)
	_, landing := h.page(t, "/")
	m := regexp.MustCompile(`href="(/assets/[0-9a-f]{16}/)quire.css"`).FindStringSubmatch(landing)
	if m == nil {
		t.Fatal("the address of the style sheet has no version")
	}
	for _, path := range []string{"/", "/documents/x", m[1] + "landing.js", m[1] + "pdfjs/pdf.worker.min.mjs"} {
		res, _ := h.page(t, path)
		csp := res.Header.Get("Content-Security-Policy")
		hasAll(t, csp, "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "base-uri 'none'", "frame-ancestors 'none'")
		if strings.Contains(csp, "unsafe") || strings.Contains(csp, "*") || res.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %s", path, csp)
		}
	}
	for path, want := range map[string]string{
		"pdfjs/pdf.min.mjs": "text/javascript", "landing.js": "text/javascript", "quire.css": "text/css",
		"mark.svg": "image/svg+xml", "fonts/mono/ibm-plex-mono-latin-400-normal.woff2": "font/woff2",
	} {
		res, _ := h.page(t, m[1]+path)
		if !strings.HasPrefix(res.Header.Get("Content-Type"), want) || res.Header.Get("ETag") == "" || res.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" {
			t.Errorf("%s: %d, %v", path, res.Status, res.Header)
		}
	}
	// An address of another version is no address: its file may be another.
	if res, _ := h.page(t, strings.Replace(m[1], m[1][8:12], "0000", 1)+"quire.css"); res.Status != http.StatusNotFound {
		t.Errorf("another version: %d", res.Status)
	}
}

// TestAssetsAreCompressed: what shrinks is sent as gzip to those who take it, and is the same.
func TestAssetsAreCompressed(t *testing.T) {
	t.Parallel()
	h := open(t)
	_, landing := h.page(t, "/")
	prefix := regexp.MustCompile(`/assets/[0-9a-f]{16}/`).FindString(landing)
	for path, shrinks := range map[string]bool{
		"quire.css": true, "check.js": true, "pdfjs/pdf.worker.min.mjs": true, "mark.svg": true,
		"fonts/sans/ibm-plex-sans-latin-400-normal.woff2": false,
	} {
		_, plain := h.page(t, prefix+path)
		res, body := h.send(t, http.MethodGet, prefix+path, "", "Accept-Encoding: gzip")
		if !shrinks {
			if res.Header.Get("Content-Encoding") != "" || body != plain {
				t.Errorf("%s: %v", path, res.Header)
			}
			continue
		}
		if res.Header.Get("Content-Encoding") != "gzip" || res.Header.Get("Vary") != "Accept-Encoding" || len(body) >= len(plain) {
			t.Fatalf("%s: %d bytes of %d, %v", path, len(body), len(plain), res.Header)
		}
		r, err := gzip.NewReader(strings.NewReader(body))
		check(t, err)
		unpacked, err := io.ReadAll(r)
		check(t, err)
		if string(unpacked) != plain {
			t.Errorf("%s is another file when it is compressed", path)
		}
	}
}

var (
	reID       = regexp.MustCompile(`\sid="([^"]+)"`)
	reRefer    = regexp.MustCompile(`aria-labelledby="([^"]+)"`)
	reInline   = regexp.MustCompile(`(?i)<[^>]*\s(style|on[a-z]+)=|<style|<script(?:\s+type="module")?>|javascript:`)
	reExternal = regexp.MustCompile(`(?:src|href)="(?:https?:)?//`)
	reHeading  = regexp.MustCompile(`<h([1-6])[\s>]`)
)

// wellFormed holds what every page must be: one main heading and no level left
// out, names for what labels refer to, nothing inline and nothing from elsewhere.
func wellFormed(t *testing.T, page string) {
	t.Helper()
	ids := map[string]bool{}
	for _, m := range reID.FindAllStringSubmatch(page, -1) {
		if ids[m[1]] {
			t.Errorf("two elements have the id %s", m[1])
		}
		ids[m[1]] = true
	}
	for _, m := range reRefer.FindAllStringSubmatch(page, -1) {
		if !ids[m[1]] {
			t.Errorf("nothing has the id %s", m[1])
		}
	}
	if bad := reInline.FindString(page); bad != "" {
		t.Errorf("inline: %s", bad)
	}
	if bad := reExternal.FindString(page); bad != "" {
		t.Errorf("from elsewhere: %s", bad)
	}
	last := 0
	for i, m := range reHeading.FindAllStringSubmatch(page, -1) {
		level, err := strconv.Atoi(m[1])
		check(t, err)
		if i == 0 && level != 1 || i > 0 && (level == 1 || level > last+1) {
			t.Errorf("heading %d of level %d after level %d", i+1, level, last)
		}
		last = level
	}
	for _, want := range []string{`<html lang="en">`, "<main ", "<header ", "<footer ", `href="#main"`, `name="viewport"`} {
		if strings.Count(page, want) != 1 {
			t.Errorf("%d times %s", strings.Count(page, want), want)
		}
	}
}

// TestPalette computes the contrast of the pairs of colours that carry text
// (WCAG 2.2, 1.4.3: 4.5:1) and of those that carry meaning without text (1.4.11: 3:1).
func TestPalette(t *testing.T) {
	css, err := os.ReadFile("assets/quire.css")
	check(t, err)
	blocks := regexp.MustCompile(`(?s):root \{(.*?)\}`).FindAllStringSubmatch(string(css), -1)
	if len(blocks) != 2 {
		t.Fatalf("%d palettes", len(blocks))
	}
	text := []string{
		"ink/ground", "ink/sheet", "ink/sunk", "soft/ground", "soft/sheet", "soft/sunk", "accent/sheet", "accent/ground", "on-accent/accent",
		"good/good-ground", "warn/warn-ground", "bad/bad-ground", "bad/ground", "good/sheet",
	}
	shapes := []string{"good/ground", "good/sheet", "warn/ground", "warn/sheet", "bad/ground", "bad/sheet", "soft/ground", "soft/sheet"}
	for i, scheme := range []string{"light", "dark"} {
		colours := map[string]string{}
		for _, m := range regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6});`).FindAllStringSubmatch(blocks[i][1], -1) {
			colours[m[1]] = m[2]
		}
		judge := func(pairs []string, least float64) {
			t.Helper()
			for _, pair := range pairs {
				front, back, _ := strings.Cut(pair, "/")
				if c := contrast(t, colours[front], colours[back]); c < least {
					t.Errorf("%s: %s on %s has %.2f:1, want %.1f:1", scheme, front, back, c, least)
				}
			}
		}
		judge(text, 4.5)
		judge(shapes, 3)
	}
}

// contrast is WCAG's contrast ratio of two colours #rrggbb.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	var r, g, b int
	if _, err := fmt.Sscanf(colour, "#%02x%02x%02x", &r, &g, &b); err != nil {
		t.Fatalf("colour %q: %v", colour, err)
	}
	linear := func(c int) float64 {
		v := float64(c) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}

// TestAssetsCarryLicences: what comes from others stands beside its licence.
func TestAssetsCarryLicences(t *testing.T) {
	for _, dir := range []string{"pdfjs", "fonts/sans", "fonts/mono", "fonts/serif"} {
		if _, err := os.Stat(filepath.Join("assets", dir, "LICENSE")); errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s has no LICENSE", dir)
		}
	}
}
