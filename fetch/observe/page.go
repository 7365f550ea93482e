package observe

import (
	"cmp"
	"encoding/json"
	"html/template"
	"io"
	"net/http"
	"strings"
	"time"

	"example.com/quire/internal/httpfield"
)

// Control is what a page may do. *fetch.Control is one.
type Control interface {
	Isolate(origin string)
	ForceClose(origin string)
	Reset(origin string)
	PurgeCache(prefix string) (int, error)
}

// PageOptions shape the page.
type PageOptions struct {
	// Title of the page: "" = "fetch".
	Title string
	// Control lets the page change the client: nil = it only shows. Whoever may open the page may
	// then use it.
	Control Control
}

// Page shows the state of src: as HTML, without scripts and without anything from elsewhere, or as
// JSON to who prefers that. With a Control it takes POST requests with the fields action (isolate,
// close, reset, purge) and origin or prefix, from pages of its own origin only
// (net/http.CrossOriginProtection).
func Page(src Source, o PageOptions) http.Handler {
	o.Title = cmp.Or(o.Title, "fetch")
	p := &page{src: src, o: o}
	if o.Control == nil {
		return p
	}
	return http.NewCrossOriginProtection().Handler(p)
}

type page struct {
	src Source
	o   PageOptions
}

const maxForm = 4 << 10

// ServeHTTP implements http.Handler.
func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'")
	h.Set("Vary", "Accept")
	switch {
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		p.show(w, r)
	case r.Method == http.MethodPost && p.o.Control != nil:
		p.act(w, r)
	default:
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	}
}

func (p *page) show(w http.ResponseWriter, r *http.Request) {
	s := p.src.State()
	var b strings.Builder
	var err error
	if httpfield.Prefer(r.Header["Accept"], "text/html", "application/json") == "application/json" {
		w.Header().Set("Content-Type", "application/json")
		e := json.NewEncoder(&b)
		e.SetIndent("", "  ")
		err = e.Encode(s)
	} else {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		err = html().Execute(&b, view{p.o.Title, s, p.o.Control != nil})
	}
	if err != nil {
		http.Error(w, "the state cannot be shown", http.StatusInternalServerError)
		return
	}
	_, _ = io.WriteString(w, b.String()) // a client that left needs no answer
}

func (p *page) act(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		http.Error(w, "form does not parse", http.StatusBadRequest)
		return
	}
	origin := r.PostForm.Get("origin")
	switch r.PostForm.Get("action") {
	case "isolate":
		p.o.Control.Isolate(origin)
	case "close":
		p.o.Control.ForceClose(origin)
	case "reset":
		p.o.Control.Reset(origin)
	case "purge":
		if _, err := p.o.Control.PurgeCache(r.PostForm.Get("prefix")); err != nil {
			http.Error(w, "the cache cannot be purged", http.StatusInternalServerError)
			return
		}
	default:
		http.Error(w, "unknown action: want isolate, close, reset or purge", http.StatusBadRequest)
		return
	}
	w.Header().Set("Location", "?") // the page itself
	w.WriteHeader(http.StatusSeeOther)
}

type view struct {
	Title   string
	S       State
	Control bool
}

func html() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"ms":    func(d time.Duration) string { return d.Round(100 * time.Microsecond).String() },
		"clock": func(t time.Time) string { return t.UTC().Format("15:04:05") },
	}).Parse(text))
}

const text = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>{{.Title}}</title>
<style>
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#1b1f24;background:#fff}
h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.35rem .7rem;border-bottom:1px solid #d8dee4;white-space:nowrap}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}.open,.isolated{color:#a40e26;font-weight:600}.half-open{color:#7a4d00;font-weight:600}
form{display:inline}button{font:inherit;min-height:2rem}small{color:#57606a}
@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}th,td{border-color:#30363d}.open,.isolated{color:#ff7b72}.half-open{color:#e3b341}small{color:#8b949e}}
</style></head><body>
<h1>{{.Title}}</h1>
<p>{{.S.InFlight}} in flight <small>at {{clock .S.Time}} UTC</small></p>
<h2>Origins</h2>
<div class="wide"><table><thead><tr><th>origin</th><th>breaker</th><th class="n">requests</th><th class="n">errors</th><th class="n">attempts</th><th class="n">in flight</th><th class="n">budget spent</th><th class="n">collapsed</th><th class="n">p50</th><th class="n">p95</th><th class="n">p99</th>{{if .Control}}<th>control</th>{{end}}</tr></thead><tbody>
{{range .S.Origins}}<tr><td>{{.Origin}}</td><td class="{{.Breaker}}">{{.Breaker}}{{if not .Until.IsZero}} until {{clock .Until}}{{end}}</td><td class="n">{{.Total}}</td><td class="n">{{range .Errors}}{{.Name}} {{.N}} {{else}}0{{end}}</td><td class="n">{{.Attempts}}</td><td class="n">{{.InFlight}}</td><td class="n">{{.BudgetSpent}}</td><td class="n">{{.Collapsed}}</td><td class="n">{{ms .P50}}</td><td class="n">{{ms .P95}}</td><td class="n">{{ms .P99}}</td>{{if $.Control}}<td><form method="post"><input type="hidden" name="origin" value="{{.Origin}}"><button name="action" value="isolate">isolate</button> <button name="action" value="close">force close</button> <button name="action" value="reset">reset</button></form></td>{{end}}</tr>
{{else}}<tr><td colspan="11">no request so far</td></tr>{{end}}</tbody></table></div>
{{with .S.Cache}}<h2>Cache</h2>
<p>{{.Hits}} hits, {{.Stale}} stale, {{.Revalidated}} revalidated, {{.Misses}} misses, {{.Bypassed}} not looked up; {{.Entries}} entries in {{.Bytes}} bytes; {{.StoreErrors}} store errors</p>
{{if $.Control}}<form method="post"><label>Purge what begins with <input name="prefix" size="40"></label> <button name="action" value="purge">purge</button></form>{{end}}{{end}}
<h2>Limits</h2><p>{{.S.Limits.RateLimited}} rate limited, {{.S.Limits.Overloaded}} overloaded, {{ms .S.Limits.Waited}} waited</p>
<h2>Layers</h2><div class="wide"><table><thead><tr><th>layer</th><th>settings</th></tr></thead><tbody>
{{range .S.Layers}}<tr><td>{{.Name}}</td><td>{{.Settings}}</td></tr>
{{end}}</tbody></table></div>
<h2>Last events</h2><div class="wide"><table><thead><tr><th>time</th><th>request</th><th>what</th></tr></thead><tbody>
{{range .S.Events}}<tr><td>{{clock .Time}}</td><td>{{.Method}} {{.URL}}</td><td>{{.What}}</td></tr>
{{else}}<tr><td colspan="3">none</td></tr>{{end}}</tbody></table></div>
</body></html>
`
