// Package demo has the content of `quire demo`: four sample templates with realistic data, and the
// unreliable status API that one of them reads.
//
// The tests and the documentation use the same samples. Each is in samples/NAME: template.yaml,
// the assets it refers to, and data.json, with which it renders without changes.
//
// The demo is set up in three steps: Configure adds the reports and sources to a configuration;
// Templates is served together with, or instead of, the operator's templates; StatusAPI listens on
// a loopback address of its own, which Configure was given.
package demo

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"time"

	"example.com/quire/internal/config"
)

//go:embed samples
var embedded embed.FS

// Sample is a template with data.
type Sample struct {
	Name  string // of the template
	Title string
	About string // one sentence for people
	// Files has template.yaml and the assets that it refers to.
	Files fs.FS
	// Data renders the template as it is: inline data and, where the template
	// shows a source, what that source gave.
	Data []byte
	// Inline is the data in a request for the report of the sample: Data without the collected
	// part.
	Inline []byte
}

// Collected reports whether a request for the sample's report calls a source.
func (s *Sample) Collected() bool { return s.Name == statusTemplate }

// Samples returns the samples in the order in which they are shown. The slices
// are the caller's own.
func Samples() []Sample {
	out := []Sample{
		{Name: "contract-note", Title: "Contract note", About: "A broker's confirmation of the day's trades, with charges and settlement."},
		{Name: "invoice", Title: "Invoice", About: "A printer's invoice in French, with two rates of value added tax."},
		{Name: "price-list", Title: "Price list", About: "Ninety-four teas in seven groups over four pages."},
		{Name: statusTemplate, Title: "Service report", About: "A week of uptime, collected from an HTTP API that fails at times."},
	}
	for i := range out {
		s := &out[i]
		s.Files = must(fs.Sub(Templates(), s.Name))
		s.Data = must(embedded.ReadFile("samples/" + s.Name + "/data.json"))
		s.Inline = must(inline(s.Data))
	}
	return out
}

// must is for what is built into the program: it fails in the first test or never.
func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("demo: built-in samples: %v", err))
	}
	return v
}

// inline takes out of data what a request leaves to its sources.
func inline(data []byte) ([]byte, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	if _, collected := all["sources"]; !collected {
		return data, nil
	}
	delete(all, "sources")
	delete(all, statusKey)
	return json.Marshal(all)
}

// Templates returns the templates of the samples as folders NAME/template.yaml
// with their assets.
func Templates() fs.FS { return must(fs.Sub(embedded, "samples")) }

// The names that the service report uses.
const (
	statusTemplate = "service-report"
	statusKey      = "status"
	statusSource   = "status"
	downSource     = "status-down"
	// DownReport is the service report of a source that never answers.
	DownReport = "service-report-down"
)

// Configure adds the demo's reports and sources to c. api is the base URL of
// StatusAPI on a loopback address, such as http://127.0.0.1:40001.
func Configure(c *config.Config, api string) error {
	if err := checkLoopback(api); err != nil {
		return err
	}
	if c.Sources == nil {
		c.Sources = map[string]config.Source{}
	}
	if c.Reports == nil {
		c.Reports = map[string]config.Report{}
	}
	source := config.Source{
		// The guard denies loopback unless a source is allowed to go there.
		Allow:   []string{loopback.String() + "/32"},
		Timeout: config.Duration(10 * time.Second), Attempts: 3, MaxBytes: 1 << 20,
	}
	source.URL = api + statusPath
	c.Sources[statusSource] = source
	source.URL = api + downPath
	c.Sources[downSource] = source

	for _, s := range Samples() {
		r := config.Report{Space: config.LocalSpace, Template: s.Name, Title: s.Title}
		r.Public = s.Name == "price-list"
		if s.Name == statusTemplate {
			r.Sources = map[string]config.SourceUse{statusKey: {Source: statusSource}}
		}
		c.Reports[s.Name] = r
	}
	c.Reports[DownReport] = config.Report{
		Space: config.LocalSpace, Template: statusTemplate, Title: "Service report, source down",
		Sources: map[string]config.SourceUse{statusKey: {Source: downSource}},
	}
	return nil
}
