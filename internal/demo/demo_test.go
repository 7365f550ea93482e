package demo_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/quire/internal/collect"
	"example.com/quire/internal/config"
	"example.com/quire/internal/demo"
	"example.com/quire/internal/record"
	"example.com/quire/internal/render"
	"example.com/quire/internal/templates"
	"example.com/quire/pdf"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/template"
)

var moment = time.Date(2026, 2, 2, 6, 30, 0, 0, time.UTC)

// snapshotOf is how the service report tells moment.
const snapshotOf = "Snapshot of February 2, 2026, 06:30 UTC"

// compiled is a sample ready to be made.
type compiled struct {
	sample demo.Sample
	engine *pdf.Engine
	plan   *template.Plan
}

func compile(t *testing.T, s demo.Sample) compiled {
	t.Helper()
	e, err := pdf.New(pdf.Config{Files: s.Files})
	if err != nil {
		t.Fatal(err)
	}
	src, err := fs.ReadFile(s.Files, "template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := e.Compile(t.Context(), pdf.Source{File: s.Name + "/template.yaml", Text: src})
	if err != nil {
		t.Fatal(err)
	}
	return compiled{s, e, plan}
}

// make makes the sample's document with the data.
func (c compiled) make(t *testing.T, data []byte) ([]byte, *pdf.Result) {
	t.Helper()
	var b bytes.Buffer
	res, err := c.engine.Render(t.Context(), &b, c.plan, template.JSON(data), pdf.RenderOptions{Time: moment})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), res
}

// textOf is what a reader copies out of the document, white space folded.
func textOf(t *testing.T, file string) string {
	t.Helper()
	return strings.Join(strings.Fields(pdftest.Text(t, file)), " ")
}

func sample(t *testing.T, name string) demo.Sample {
	t.Helper()
	all := demo.Samples()
	i := slices.IndexFunc(all, func(s demo.Sample) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("no sample %s", name)
	}
	return all[i]
}

// printed are figures that somebody has worked out by hand, in the way of the document's locale.
func printed(name string) []string {
	return map[string][]string{
		"contract-note": {
			"Anjali Raghunathan", "Bought ₹6,88,773.75 · Sold ₹4,07,985.00 Net ₹2,80,788.75", "₹1,381.33",
			"Net payable by you", "₹2,82,170.08", "Page 1 of 1",
		},
		"invoice": {
			"Musée des Beaux-Arts de Besançon", "7 367,00 €", "TVA 5,5 % sur 4 710,00 €", "259,05 €", "531,40 €",
			"8 157,45 €", "5 657,45 €", "29 janvier 2026",
		},
		"price-list": {
			"94 articles", "Junshan Yinzhen", "£24.30", "Page 1 of 4", "Page 4 of 4",
			"Case B160 Dian Hong, Golden Tips", // a group goes on overleaf with two articles at least
		},
		"service-report": {"99.7 M", "99.965%", "236 min", "99.941%", "35,076", "services below their target", "Jan 27, 06:42", snapshotOf},
	}[name]
}

// Every sample is made once, and judged from all sides: the same input gives the same bytes, the
// file is sound, it prints what it should, and conforms to what it claims.
func TestSamples(t *testing.T) {
	dir := t.TempDir()
	for _, s := range demo.Samples() {
		if s.Title == "" || s.About == "" {
			t.Errorf("%s has no title or no description", s.Name)
		}
		c := compile(t, s)
		b, res := c.make(t, s.Data)
		if len(res.Standards) != 2 || len(res.Warnings) > 0 || !res.Deterministic {
			t.Errorf("%s: %+v", s.Name, res)
		}
		if again, _ := c.make(t, s.Data); !bytes.Equal(b, again) {
			t.Errorf("%s: the same input gives other bytes", s.Name)
		}
		if s.Name == "price-list" && res.Pages < 3 {
			t.Errorf("%s: %d pages", s.Name, res.Pages)
		}
		if err := os.WriteFile(filepath.Join(dir, s.Name+".pdf"), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("sound", func(t *testing.T) {
		for _, s := range demo.Samples() {
			if err := pdftest.QPDF(t, filepath.Join(dir, s.Name+".pdf")); err != nil {
				t.Errorf("%s: %v", s.Name, err)
			}
		}
	})
	t.Run("print", func(t *testing.T) {
		for _, s := range demo.Samples() {
			text, want := textOf(t, filepath.Join(dir, s.Name+".pdf")), printed(s.Name)
			if len(want) == 0 {
				t.Errorf("nobody worked out what %s prints", s.Name)
			}
			for _, w := range want {
				if !strings.Contains(text, w) {
					t.Errorf("%s: %q is not on the page", s.Name, w)
				}
			}
			// One head for each of seven groups, and one for each that goes on overleaf.
			if n := strings.Count(text, "No. Article Origin"); s.Name == "price-list" && n < 9 {
				t.Errorf("%d heads of tables", n)
			}
		}
	})
	t.Run("conform", func(t *testing.T) {
		for flavour, verdicts := range pdftest.VeraPDF(t, map[string]string{"4": dir, "ua2": dir}) {
			if len(verdicts) != len(demo.Samples()) {
				t.Errorf("%s: %d verdicts", flavour, len(verdicts))
			}
			for file, v := range verdicts {
				if !v.Compliant {
					t.Errorf("%s: %s: %v", flavour, file, v)
				}
			}
		}
	})
}

// TestContractNoteCharges recomputes the charges from the trades.
func TestContractNoteCharges(t *testing.T) {
	var data struct {
		Trades []struct {
			Side  string      `json:"side"`
			Qty   int64       `json:"qty"`
			Price json.Number `json:"price"`
		} `json:"trades"`
		Charges []struct {
			Label  string      `json:"label"`
			Amount json.Number `json:"amount"`
		} `json:"charges"`
	}
	if err := json.Unmarshal(sample(t, "contract-note").Data, &data); err != nil {
		t.Fatal(err)
	}
	var turnover, bought int64 // in paise
	for _, tr := range data.Trades {
		v := tr.Qty * paise(t, tr.Price)
		turnover += v
		if tr.Side == "BUY" {
			bought += v
		}
	}
	round := func(v, by int64) int64 { return (v + by/2) / by }
	brokerage := int64(len(data.Trades)) * 2000
	exchange, fee := round(turnover*297, 10_000_000), round(turnover, 1_000_000)
	want := map[string]int64{
		"Brokerage":                   brokerage,
		"Securities transaction tax":  round(turnover, 100_000) * 100,
		"Exchange transaction charge": exchange,
		"SEBI turnover fee":           fee,
		"Stamp duty":                  round(bought*15, 10_000_000) * 100,
		"Goods and services tax":      round((brokerage+exchange+fee)*18, 100),
	}
	for _, c := range data.Charges {
		if got := paise(t, c.Amount); got != want[c.Label] {
			t.Errorf("%s: %d paise, want %d", c.Label, got, want[c.Label])
		}
		delete(want, c.Label)
	}
	if len(want) > 0 {
		t.Errorf("not charged: %v", want)
	}
}

func paise(t *testing.T, n json.Number) int64 {
	t.Helper()
	whole, part, _ := strings.Cut(n.String(), ".")
	v, err := json.Number(whole + (part + "00")[:2]).Int64()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestServiceReportWithoutSource: a source that failed is said on the page.
func TestServiceReportWithoutSource(t *testing.T) {
	s := sample(t, "service-report")
	made := compile(t, s)
	for name, c := range map[string]struct{ data, want string }{
		"failed": {
			`{"report":{"team":"Ops","contact":"ops@x.example"},"sources":{"status":{"outcome":"failed","reason":"status 503"}},"status":null}`,
			"Source status failed The reason on record: status 503.",
		},
		"stale": {
			strings.Replace(string(s.Data), `{"outcome": "ok", "reason": ""}`, `{"outcome": "stale", "reason": "no connection"}`, 1),
			"The status service could not be reached when this report was made: no connection.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := made.make(t, []byte(c.data))
			text := textOf(t, pdftest.Write(t, "report.pdf", b))
			for _, w := range []string{c.want, snapshotOf} {
				if !strings.Contains(text, w) {
					t.Errorf("no %q in\n%s", w, text)
				}
			}
		})
	}
}

func TestTemplatesAreTemplates(t *testing.T) {
	renderer, err := render.New(render.Config{})
	if err != nil {
		t.Fatal(err)
	}
	folder := templates.New(demo.Templates(), renderer.Load)
	names, err := folder.Names(t.Context(), record.Local)
	if err != nil || len(names) != len(demo.Samples()) {
		t.Fatal(names, err)
	}
	for _, name := range names {
		tpl, err := folder.Template(t.Context(), record.Local, name)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := tpl.Files["data.json"]; ok || tpl.Main != "template.yaml" {
			t.Errorf("%s: main %s with %d files", name, tpl.Main, len(tpl.Files))
		}
	}
}

// TestInlineLeavesSourcesOut: what a request brings must not use the keys that
// its sources fill.
func TestInlineLeavesSourcesOut(t *testing.T) {
	for _, s := range demo.Samples() {
		var inline map[string]json.RawMessage
		if err := json.Unmarshal(s.Inline, &inline); err != nil {
			t.Fatal(err)
		}
		if inline["sources"] != nil || inline["status"] != nil || len(inline) == 0 {
			t.Errorf("%s: %v", s.Name, inline)
		}
	}
}

// get calls the API once, without retry, and says how it went.
func get(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return "broken"
	}
	defer func() { _ = res.Body.Close() }()
	if after := res.Header.Get("Retry-After"); after != "" {
		return res.Status + " after " + after
	}
	return res.Status
}

func TestStatusAPITurn(t *testing.T) {
	srv := httptest.NewServer(demo.StatusAPI())
	defer srv.Close()
	want := []string{
		"503 Service Unavailable after 1", "200 OK", "broken", "200 OK", "200 OK",
		"503 Service Unavailable after 1", "broken", "200 OK", "503 Service Unavailable after 1",
	}
	var got []string
	for range want {
		got = append(got, get(t, srv.URL+"/v1/status"))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for range 3 {
		if s := get(t, srv.URL+"/v1/status-down"); s != "503 Service Unavailable" {
			t.Error(s)
		}
	}
}

// TestConfigureCollects: the configured sources reach the API over loopback; the
// flaky one gets its data within its attempts, the other fails with a reason.
func TestConfigureCollects(t *testing.T) {
	srv := httptest.NewServer(demo.StatusAPI())
	defer srv.Close()
	var c config.Config
	if err := demo.Configure(&c, srv.URL); err != nil {
		t.Fatal(err)
	}
	if !c.Reports["price-list"].Public || c.Reports["invoice"].Public || len(c.Reports) != len(demo.Samples())+1 {
		t.Errorf("%+v", c.Reports)
	}
	var sources []collect.Source
	var calls []record.SourceCall
	for name, s := range c.Sources {
		sources = append(sources, collectSource(t, name, s))
		calls = append(calls, record.SourceCall{Key: strings.ReplaceAll(name, "-", "_"), Source: name})
	}
	col, err := collect.New(collect.Config{Sources: sources})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := col.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	got, err := col.Collect(t.Context(), record.Local, calls)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range got {
		switch g.Source {
		case "status":
			if g.Outcome != record.OK || len(g.Attempts) < 2 || !json.Valid(g.Data) {
				t.Errorf("%s: %s %s, %d attempts", g.Source, g.Outcome, g.Reason, len(g.Attempts))
			}
		case "status-down":
			if g.Outcome != record.Failed || !regexp.MustCompile(`503`).MatchString(g.Reason) {
				t.Errorf("%s: %s %q", g.Source, g.Outcome, g.Reason)
			}
		}
	}
}

func TestConfigureWantsLoopback(t *testing.T) {
	for _, api := range []string{"", "127.0.0.1:1", "https://127.0.0.1:1", "http://10.0.0.1:80", "http://127.0.0.1:80/x", "http://127.0.0.1", ":\x7f"} {
		if err := demo.Configure(&config.Config{}, api); err == nil {
			t.Errorf("%q is taken", api)
		}
	}
}

// collectSource is what the configuration of a source means to the collector.
func collectSource(t *testing.T, name string, s config.Source) collect.Source {
	t.Helper()
	h := collect.HTTP{URL: s.URL, Timeout: time.Duration(s.Timeout), Attempts: s.Attempts, MaxBytes: int64(s.MaxBytes)}
	for _, p := range s.Allow {
		prefix, err := netip.ParsePrefix(p)
		if err != nil {
			t.Fatal(err)
		}
		h.Allow = append(h.Allow, prefix)
	}
	return collect.Source{Space: record.Local, Name: name, Kind: h}
}
