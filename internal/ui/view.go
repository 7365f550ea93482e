package ui

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/quire/internal/record"
	"example.com/quire/web"
)

type landingView struct {
	Title, Script string
	Report        string // the filter, "" for all
	Filters       []filter
	Makers        []Report
	Documents     []*documentView
	Newest, Older string // addresses, "" for none
	Curl          string
}

type filter struct {
	Title, Href string
	Current     bool
}

type documentPage struct {
	Title, Script string
	Doc           *detailView
}

type failureView struct {
	Title, Script string
	Status        int
	Detail        string
	RequestID     string
}

// copyText is a text with a button that copies it; What names it for people who
// do not see the button.
type copyText struct{ Text, What string }

func newCopyText(text, what string) copyText { return copyText{text, what} }

// documentView is a document in the list.
type documentView struct {
	ID, Title     string
	Of            string // the report or template, "" when the title says it
	PDF           string // address of the file
	Made, MadeISO string
	Pages, Size   string
	PageCount     int
	Bytes         int64
	ContentShort  string
	Stages        []stageView
	Trouble       []troubleView
}

// stageView is one stage of the pipeline. State is done, skipped, stale or without; Told says
// the last two in words.
type stageView struct{ Name, Took, Hint, State, Told string }

// troubleView is a source whose data is old or absent.
type troubleView struct{ Tag, Text string }

// detailView is a document on its own page.
type detailView struct {
	*documentView
	FileName string
	Reports  []filter
	Facts    []fact
	Sources  []sourceView
	Commands []command
}

type fact struct {
	Name, Value string
	Mono        bool
	Copy        string // what the copy button says, "" for none
}

type sourceView struct {
	Key, Name, Kind, State, Told, Reason, Took string
	Attempts                                   []attemptView
}

type attemptView struct {
	Number               int
	Waited, Took, Answer string
}

type command struct{ What, Label, Line string }

// names are what a document is called: the title of its file, and beneath it what
// it is one of.
func (p *pages) names(space record.Space, d *record.Document) (title, of string) {
	of = p.title(space, d)
	if strings.TrimSpace(d.Title) == "" || d.Title == of {
		return of, ""
	}
	return d.Title, of
}

// title is the title of the report that a document was filed under first, or the
// name of its template.
func (p *pages) title(space record.Space, d *record.Document) string {
	for _, name := range d.Reports {
		if r := p.report(space, name); r != nil {
			return r.Title
		}
	}
	return d.Template.Name
}

func (p *pages) report(space record.Space, name string) *Report {
	for i := range p.o.Reports {
		if r := &p.o.Reports[i]; r.Space == space && r.Name == name {
			return r
		}
	}
	return nil
}

func (p *pages) view(space record.Space, d *record.Document, r *record.Receipt) *documentView {
	title, of := p.names(space, d)
	v := &documentView{
		ID: d.ID.String(), Title: title, Of: of, PDF: "/d/" + d.Content.String() + ".pdf",
		Made: d.Made.UTC().Format("2 January 2006, 15:04:05 UTC"), MadeISO: d.Made.UTC().Format(time.RFC3339),
		Pages: plural(d.Pages, "page"), Size: size(d.Size), PageCount: d.Pages, Bytes: d.Size, ContentShort: d.Content.String()[:16],
		Stages: stages(r),
	}
	for _, s := range r.Sources {
		if s.Outcome != record.OK {
			_, told := outcome(s.Outcome)
			v.Trouble = append(v.Trouble, troubleView{Tag: told, Text: "source " + s.Source + ": " + s.Reason})
		}
	}
	return v
}

// outcome names what became of a source: by its style, and for people. A document without a
// source's data is whole and says so itself: it did not fail.
func outcome(o record.Outcome) (style, told string) {
	switch o {
	case record.OK:
		return "done", "ok"
	case record.Failed:
		return "without", "made without"
	}
	return string(o), string(o)
}

// stages is the way of the document, as far as the receipt has measured it.
func stages(r *record.Receipt) []stageView {
	took := map[string]int64{}
	for _, s := range r.Stages {
		took[s.Name] = s.Micros
	}
	var out []stageView
	for _, name := range []string{record.StageCollect, record.StageFreeze, record.StageRender, record.StageCommit} {
		v := stageView{Name: name, State: "done"}
		us, there := took[name]
		switch {
		case there:
			v.Took = duration(us)
		case name == record.StageCollect:
			v.Took, v.Hint, v.State = "inline", "The data came with the request.", "skipped"
		default:
			v.Took, v.State = "–", "skipped"
		}
		if name == record.StageCollect {
			for _, s := range r.Sources {
				if s.Outcome != record.OK && v.State != "without" {
					v.State, v.Told = outcome(s.Outcome)
				}
			}
		}
		out = append(out, v)
	}
	return out
}

func (p *pages) detail(c *web.Context, space record.Space, d *record.Document, r *record.Receipt) *detailView {
	v := &detailView{documentView: p.view(space, d, r), FileName: d.Template.Name + "-" + d.ID.String()[:12] + ".pdf"}
	for _, name := range d.Reports {
		f := filter{Title: name, Href: reportHref(name)}
		if r := p.report(space, name); r != nil {
			f.Title = r.Title
		}
		v.Reports = append(v.Reports, f)
	}
	v.Facts = []fact{
		{"Content, sha256", r.Content.String(), true, "the content hash"},
		{"Document", r.Document.String(), true, "the document id"},
		{"Snapshot", r.Snapshot.String(), true, "the snapshot hash"},
		{"Template", r.Template.Name, false, ""},
		{"Template, sha256", r.Template.Hash.String(), true, "the template hash"},
		{"Engine", r.Engine, true, "the engine"},
	}
	for _, s := range r.Options.Standards {
		v.Facts = append(v.Facts, fact{"Standard", s, false, ""})
	}
	if r.Signer != "" {
		v.Facts = append(v.Facts, fact{"Signer", r.Signer, false, ""})
	}
	if r.Time != nil {
		when := instant(*r.Time)
		if r.TimeFrom == record.FromRequest {
			when += ", given by the request"
		}
		v.Facts = append(v.Facts, fact{"Document time", when, false, ""})
	}
	v.Facts = append(v.Facts,
		fact{"Made at", instant(r.Made), false, ""},
		fact{"File", plural(r.Pages, "page") + ", " + grouped(r.Size) + "\u00a0bytes", false, ""})
	for _, s := range r.Sources {
		sv := sourceView{Key: s.Key, Name: s.Source, Kind: s.Kind, Reason: s.Reason, Took: duration(s.Micros)}
		sv.State, sv.Told = outcome(s.Outcome)
		for _, a := range s.Attempts {
			sv.Attempts = append(sv.Attempts, attempt(a))
		}
		v.Sources = append(v.Sources, sv)
	}
	base := p.base(c)
	auth := p.auth()
	v.Commands = []command{
		{"Fetch the file", "the command that fetches the file", curl + auth + " -o " + v.FileName + " " + base + v.PDF},
		{"Make it again and compare", "the command that makes it again", curl + auth + " -X POST " + base + "/v1/documents/" + v.ID + "/verify"},
	}
	return v
}

func attempt(a record.AttemptRecord) attemptView {
	v := attemptView{Number: a.Number, Waited: "–", Took: duration(a.Micros), Answer: a.Reason}
	if a.DelayMicros > 0 {
		v.Waited = duration(a.DelayMicros)
	}
	switch {
	case a.Status != 0 && a.Reason == "":
		v.Answer = strconv.Itoa(a.Status) + " " + http.StatusText(a.Status)
	case a.Reason == "":
		v.Answer = "data"
	}
	return v
}

// base begins the addresses in commands.
func (p *pages) base(c *web.Context) string {
	if p.o.BaseURL != "" {
		return p.o.BaseURL
	}
	scheme := "http"
	if c.Request().TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + c.Request().Host
}

func (p *pages) auth() string {
	if p.o.Token {
		return ` -H "Authorization: Bearer $QUIRE_TOKEN"`
	}
	return ""
}

// curl begins the commands. A failure ends in a status that is not 0, and tells
// its problem: the commands are for people.
const curl = "curl --fail-with-body -sS"

// helloRequest makes a document of nothing but itself, so that a first one can be made where no
// report has example data. It stands in single quotes of a shell.
const helloRequest = `{"template": {"name": "hello", "source": "quire: 1\nname: hello\nlang: en\ntitle: Hello\nbody: [{heading: Hello, level: 1}]"}, "data": {}}`

// makeCommand makes a first document: of the report that the page is about, or
// of one that needs no more than what is known here, else of a template in the
// request. The answer is asked for as JSON, since the file is not for terminals.
func (p *pages) makeCommand(c *web.Context, space record.Space, report string) string {
	base, auth := p.base(c), p.auth()
	const asJSON = " -H 'Accept: application/json' -H 'Content-Type: application/json'"
	r := p.report(space, report)
	if r == nil || r.Data == nil {
		i := slices.IndexFunc(p.o.Reports, func(r Report) bool { return r.Space == space && r.Data != nil })
		if i < 0 {
			return curl + auth + asJSON + " \\\n  -d '" + helloRequest + "' \\\n  " + base + "/v1/documents"
		}
		r = &p.o.Reports[i]
	}
	return curl + auth + " " + base + "/reports/" + r.Name + "/request.json |\n" +
		"  " + curl + auth + asJSON + " \\\n  -d @- " + base + "/v1/documents"
}

// Between a number and its unit stands a space that does not break.

func plural(n int, what string) string {
	if n == 1 {
		return "1\u00a0" + what
	}
	return strconv.Itoa(n) + "\u00a0" + what + "s"
}

// duration writes microseconds in the unit that suits them.
func duration(us int64) string {
	switch {
	case us < 1000:
		return strconv.FormatInt(us, 10) + "\u00a0µs"
	case us < 10_000:
		return fmt.Sprintf("%.1f\u00a0ms", float64(us)/1000)
	case us < 1_000_000:
		return fmt.Sprintf("%.0f\u00a0ms", float64(us)/1000)
	}
	return fmt.Sprintf("%.2f\u00a0s", float64(us)/1_000_000)
}

func size(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10) + "\u00a0B"
	case n < 1_000_000:
		return fmt.Sprintf("%.0f\u00a0kB", float64(n)/1000)
	}
	return fmt.Sprintf("%.1f\u00a0MB", float64(n)/1_000_000)
}

func instant(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000 UTC") }

// grouped writes a number with thin spaces between thousands.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}
