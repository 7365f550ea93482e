package record_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/quire/internal/record"
	"example.com/quire/internal/strictjson"
)

func TestMakeKeepsADocument(t *testing.T) {
	b := newBench(t)
	made := b.make(t, record.Request{Template: "note", Data: []byte(`{"b": 1.50, "a": "é"}`), Options: record.Options{Standards: []string{"pdf/ua-2", "pdf/a-4", "pdf/a-4"}}})
	d := made.Document
	if !made.Created || d.Space != record.Local || d.Pages != 3 || d.Engine != "1+abc" || d.Template.Name != "note" {
		t.Errorf("document %+v", d)
	}
	if r, _, err := record.ParseReceipt(made.Receipt); err != nil || d.TimeFrom != record.FromClock || r.TimeFrom != record.FromClock || d.Title != "Note" {
		t.Errorf("document %+v, receipt %+v, %v: want the clock's time, and the title", d, r, err)
	}
	// The clock's first look, in UTC and cut to milliseconds.
	if want := time.Date(2026, 1, 31, 6, 30, 0, 124_000_000, time.UTC); !d.Time.Equal(want) || d.Time.Location() != time.UTC {
		t.Errorf("time %s, want %s", d.Time, want)
	}
	file := b.file(t, d)
	if record.Sum(file) != d.Content || int64(len(file)) != d.Size {
		t.Errorf("content %s of %d bytes does not fit the file", d.Content, d.Size)
	}
	if !bytes.Contains(file, []byte(`{"a":"é","b":1.50}`)) || !bytes.Contains(file, []byte("pdf/a-4 pdf/ua-2\n")) {
		t.Errorf("the file does not show the frozen data and the options: %s", file)
	}
	snapshot := b.blobs.blobs[d.Snapshot]
	if want := `{"data":{"a":"é","b":1.50},"snapshot":1,"time":"2026-01-31T06:30:00.124Z"}`; string(snapshot) != want {
		t.Errorf("snapshot %s, want %s", snapshot, want)
	}
	// Bytes are committed before the document is saved.
	if n := len(b.blobs.log); !strings.HasPrefix(b.blobs.log[n-1], "save ") || n != 6 {
		t.Errorf("order %q, want two template files, manifest, snapshot, file, then save", b.blobs.log)
	}
	if len(made.Warnings) != 1 {
		t.Errorf("warnings %v", made.Warnings)
	}
	var names []string
	for _, s := range made.Stages {
		names = append(names, s.Name)
		if s.Micros <= 0 {
			t.Errorf("stage %s took %d µs", s.Name, s.Micros)
		}
	}
	if got := strings.Join(names, " "); got != "freeze render commit save" {
		t.Errorf("stages %s", got)
	}
}

func TestReceiptSaysEverything(t *testing.T) {
	b := newBench(t)
	attempts := []record.AttemptRecord{{Number: 1, Micros: 10_000, Status: 503, Reason: "503"}, {Number: 2, Micros: 5_000, DelayMicros: 15_000, Status: 200}}
	b.sources["api"] = record.Collected{SourceRecord: record.SourceRecord{Outcome: record.OK, Micros: 30_000, Attempts: attempts}, Data: []byte(`{"x": 1}`)}
	b.sources["down"] = failure("connection refused")
	made := b.make(t, record.Request{
		Template: "note", Time: noon, Sources: []record.SourceCall{
			{Key: "status", Source: "api", Parameters: record.Parameters{"n": json.RawMessage("3")}}, {Key: "gone", Source: "down"},
		},
	})
	r, _, err := record.ParseReceipt(made.Receipt)
	if err != nil {
		t.Fatal(err)
	}
	when := noon.UTC().Truncate(time.Millisecond)
	want := &record.Receipt{
		Version: 1, Space: record.Local, Document: made.Document.ID, Template: made.Document.Template, Snapshot: made.Document.Snapshot,
		Engine: "1+abc", Content: made.Document.Content, Size: made.Document.Size, Pages: 3, Title: "Note", Time: &when, TimeFrom: record.FromRequest, Made: made.Document.Made,
		Sources: []record.SourceRecord{
			{
				Key: "status", Source: "api", Kind: "inline", Parameters: record.Parameters{"n": json.RawMessage("3")}, Outcome: record.OK, Micros: 30_000, Attempts: attempts,
			},
			{Key: "gone", Source: "down", Kind: "inline", Outcome: record.Failed, Reason: "connection refused", Attempts: []record.AttemptRecord{}},
		},
		Stages: made.Stages[:4],
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("receipt (- want, + got):\n%s", diff)
	}
	again, err := r.Bytes()
	if err != nil || !bytes.Equal(again, made.Receipt) {
		t.Errorf("the stored form is not a fixed point: %s, %v", again, err)
	}
	if canonical, _, err := strictjson.Canonical(made.Receipt, strictjson.Limits{}); err != nil || !bytes.Equal(canonical, made.Receipt) {
		t.Errorf("the stored form is not canonical: %v", err)
	}
	// The template sees data, and what is missing.
	if want := `{"gone":null,"sources":{"gone":{"outcome":"failed","reason":"connection refused"},"status":{"outcome":"ok","reason":""}},"status":{"x":1}}`; !bytes.Contains(b.file(t, made.Document), []byte(want)) {
		t.Errorf("file %s, want the data %s", b.file(t, made.Document), want)
	}
}

func TestSameInputsAreTheSameDocument(t *testing.T) {
	b := newBench(t)
	one := b.make(t, record.Request{Template: "note", Data: []byte(`{"a":1,"b":2}`), Time: noon})
	rendered, blobs, log := b.press.calls, len(b.blobs.blobs), len(b.blobs.log)
	two := b.make(t, record.Request{Template: "note", Data: []byte(` { "b" : 2, "a" : 1 } `), Time: noon.Add(300 * time.Microsecond).UTC()})
	if two.Created || two.Document.ID != one.Document.ID || !bytes.Equal(two.Receipt, one.Receipt) {
		t.Errorf("second: created %v, id %s, want the first again: %s", two.Created, two.Document.ID, one.Document.ID)
	}
	if b.press.calls != rendered || len(b.blobs.blobs) != blobs || len(b.blobs.log) != log {
		t.Error("the second had an effect")
	}
	// Anything else is another document.
	changed := template(t, "note", "quire: 1 # changed")
	renamed := template(t, "other", "quire: 1")
	ids := map[record.Hash]string{one.Document.ID: "the first"}
	for name, r := range map[string]record.Request{
		"data":      {Template: "note", Data: []byte(`{"a":1,"b":2.0}`), Time: noon},
		"time":      {Template: "note", Data: []byte(`{"a":1,"b":2}`), Time: noon.Add(time.Millisecond)},
		"template":  {Inline: changed, Data: []byte(`{"a":1,"b":2}`), Time: noon},
		"its name":  {Inline: renamed, Data: []byte(`{"a":1,"b":2}`), Time: noon},
		"standards": {Template: "note", Data: []byte(`{"a":1,"b":2}`), Time: noon, Options: record.Options{Standards: []string{"pdf/a-4"}}},
		"space":     {Inline: template(t, "note", "quire: 1"), Data: []byte(`{"a":1,"b":2}`), Time: noon, Space: "other"},
	} {
		made := b.make(t, r)
		if before, ok := ids[made.Document.ID]; ok || !made.Created {
			t.Errorf("another %s is the same document as with %s", name, before)
		}
		ids[made.Document.ID] = name
	}
}

// A time that the requester chose is told from the clock's, in both that are kept.
// It is not part of the identity: who asks again does not make another document.
func TestWhoSetTheTime(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct {
		given time.Time
		want  record.TimeOrigin
	}{{time.Time{}, record.FromClock}, {noon, record.FromRequest}} {
		made := b.make(t, record.Request{Template: "note", Time: c.given})
		r, _, err := record.ParseReceipt(made.Receipt)
		if err != nil || made.Document.TimeFrom != c.want || r.TimeFrom != c.want {
			t.Errorf("document %q, receipt %q, %v, want %q", made.Document.TimeFrom, r.TimeFrom, err, c.want)
		}
		again := b.make(t, record.Request{Template: "note", Time: made.Document.Time})
		if again.Created || again.Document.TimeFrom != c.want {
			t.Errorf("again: created %v, time from %q, want %q", again.Created, again.Document.TimeFrom, c.want)
		}
	}
}

func TestLongTitlesAreCut(t *testing.T) {
	for n, want := range map[int]string{0: "", 256: strings.Repeat("é", 256), 257: strings.Repeat("é", 255) + "…", 100_000: strings.Repeat("é", 255) + "…"} {
		b := newBench(t)
		b.press.title = strings.Repeat("é", n)
		if got := b.make(t, record.Request{Template: "note"}).Document.Title; got != want {
			t.Errorf("%d characters: %d bytes kept, want %d", n, len(got), len(want))
		}
	}
}

// Two that begin at once: the one that saves second gives the first one's document.
func TestMakeLosesARaceWell(t *testing.T) {
	b := newBench(t)
	r := record.Request{Template: "note", Time: noon, Space: record.Local}
	first := b.make(t, r)
	late := &lateDocuments{memDocuments: b.documents}
	maker, err := record.NewMaker(record.Parts{Engine: &press{engine: "2+other"}, Blobs: b.blobs, Documents: late, Templates: b.catalog, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	made, err := maker.Make(t.Context(), r)
	if err != nil || made.Created || made.Document.Content != first.Document.Content || !bytes.Equal(made.Receipt, first.Receipt) {
		t.Errorf("got %+v, %v, want the first document", made, err)
	}
}

// lateDocuments does not know a document when it is first asked for it.
type lateDocuments struct {
	*memDocuments
	asked bool
}

func (l *lateDocuments) Document(ctx context.Context, space record.Space, id record.Hash) (*record.Document, error) {
	if !l.asked {
		l.asked = true
		return nil, record.ErrNotFound
	}
	return l.memDocuments.Document(ctx, space, id)
}

func TestRenderGivesTheBytesOfMake(t *testing.T) {
	b := newBench(t)
	r := record.Request{Space: record.Local, Template: "note", Data: []byte(`{"a":1}`), Time: noon}
	made := b.make(t, r)
	log := len(b.blobs.log)
	var out bytes.Buffer
	rendered, err := b.Render(t.Context(), &out, r)
	if err != nil || rendered.Pages != 3 {
		t.Fatalf("%+v, %v", rendered, err)
	}
	if !bytes.Equal(out.Bytes(), b.file(t, made.Document)) {
		t.Errorf("rendered %s, made %s", &out, b.file(t, made.Document))
	}
	if len(b.blobs.log) != log {
		t.Error("rendering kept something")
	}
	// Without a time there is none: the clock is not looked at.
	out.Reset()
	r.Time = time.Time{}
	if _, err := b.Render(t.Context(), &out, r); err != nil || !strings.Contains(out.String(), "time 0001-01-01 00:00:00 +0000 UTC\n") {
		t.Errorf("without a time: %s, %v", &out, err)
	}
	for field, r := range map[string]record.Request{
		"sources": {Space: record.Local, Template: "note", Sources: []record.SourceCall{{Key: "a", Source: "b"}}},
		"report":  {Space: record.Local, Template: "note", Report: "monthly"},
	} {
		var wrong *record.RequestError
		if _, err := b.Render(t.Context(), &out, r); !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%s: %v, want a request error", field, err)
		}
	}
	// A Renderer keeps nothing and writes the same; what it would need a storage for it refuses.
	renderer := record.NewRenderer(b.press)
	out.Reset()
	if _, err := renderer.Render(t.Context(), &out, record.Request{Space: record.Local, Inline: b.catalog.templates["note"], Data: r.Data, Time: noon}); err != nil {
		t.Error(err)
	}
	if !bytes.Equal(out.Bytes(), b.file(t, made.Document)) {
		t.Error("a Renderer writes other bytes")
	}
	var wrong *record.RequestError
	if _, err := renderer.Render(t.Context(), &out, record.Request{Space: record.Local, Template: "note"}); !errors.As(err, &wrong) || wrong.Field != "template" {
		t.Errorf("a template by name: %v, want a request error", err)
	}
}

func TestFailedMakesLeaveNothing(t *testing.T) {
	b := newBench(t)
	b.catalog.templates["broken"] = template(t, "broken", "broken")
	b.catalog.templates["stop"] = template(t, "stop", "stop")
	b.catalog.reports["fixed"] = &record.Report{Name: "fixed", Template: "note", Sources: []record.SourceCall{{Key: "s", Source: "api"}}}
	vital, babble := failure("no answer within 2s"), answer("", "<html>")
	vital.Required, babble.Required = true, true
	b.sources["api"], b.sources["vital"], b.sources["babble"] = answer("", "1"), vital, babble
	for name, c := range map[string]struct {
		r    record.Request
		want string
	}{
		"space":               {record.Request{Space: "A b", Template: "note"}, "request space: want 1 to 64"},
		"no template":         {record.Request{}, "request template: want a name or a template, got nothing"},
		"two templates":       {record.Request{Template: "note", Inline: template(t, "x", "x")}, "request template: want only one of them"},
		"unknown template":    {record.Request{Template: "nope"}, "template nope: not found"},
		"another's template":  {record.Request{Template: "note", Space: "other"}, "template note: not found"},
		"unknown report":      {record.Request{Template: "note", Report: "nope"}, "report nope: not found"},
		"report's template":   {record.Request{Template: "broken", Report: "fixed"}, "request template: want the report's: note"},
		"report's, inline":    {record.Request{Inline: template(t, "x", "x"), Report: "fixed"}, "request template: want none"},
		"report's source":     {record.Request{Report: "fixed", Sources: []record.SourceCall{{Key: "s", Source: "vital"}}}, "request sources.s: want the report's: api"},
		"broken template":     {record.Request{Template: "broken"}, "template main.yaml:1:1: broken [T104]"},
		"failing in the file": {record.Request{Template: "stop"}, "stopped in the middle"},
		"data":                {record.Request{Template: "note", Data: []byte("{\n x}"), Origin: record.Origin{File: "n.json"}}, "data n.json:2:2: want a member name"},
		"data is no object":   {record.Request{Template: "note", Data: []byte("\n [1]")}, "data line 2, column 2: want an object, got an array"},
		"year":                {record.Request{Template: "note", Time: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)}, "request time: want a year"},
		"unknown source":      {record.Request{Template: "note", Sources: []record.SourceCall{{Key: "a", Source: "nope"}}}, "request sources[0]: want a source"},
		"reserved key":        {record.Request{Template: "note", Sources: []record.SourceCall{{Key: "sources", Source: "api"}}}, "want a key that is not reserved"},
		"key":                 {record.Request{Template: "note", Sources: []record.SourceCall{{Key: "a-b", Source: "api"}}}, "want an identifier"},
		"long key":            {record.Request{Template: "note", Sources: []record.SourceCall{{Key: strings.Repeat("k", 65), Source: "api"}}}, "want an identifier"},
		"key twice":           {record.Request{Template: "note", Sources: []record.SourceCall{{Key: "a", Source: "api"}, {Key: "a", Source: "api"}}}, "key a twice"},
		"many sources":        {record.Request{Template: "note", Sources: make([]record.SourceCall, 65)}, "limit sources: at most 64, got 65"},
		"key taken by data":   {record.Request{Template: "note", Data: []byte("{\n \"a\":1}"), Sources: []record.SourceCall{{Key: "a", Source: "api"}}}, "data line 2, column 6: a: the key is already used"},
		"required source":     {record.Request{Template: "note", Sources: []record.SourceCall{{Key: "a", Source: "vital"}}}, "source vital (a): no answer within 2s"},
		"required, no JSON":   {record.Request{Template: "note", Sources: []record.SourceCall{{Key: "a", Source: "babble"}}}, "source babble (a): the answer cannot be frozen: data line 1, column 1: want a value, got '<'"},
	} {
		if c.r.Space == "" {
			c.r.Space = record.Local
		}
		_, err := b.Make(t.Context(), c.r)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if len(b.blobs.log) > 0 || b.blobs.open != 0 {
		t.Errorf("kept %q, open %d", b.blobs.log, b.blobs.open)
	}
	// A disk that is full, at the file and at the row.
	b.blobs.full = true
	if _, err := b.Make(t.Context(), record.Request{Space: record.Local, Template: "note"}); !errors.Is(err, record.ErrNoSpace) || b.blobs.open != 0 {
		t.Errorf("full: %v, open %d", err, b.blobs.open)
	}
	b.blobs.full = false
	b.documents.fail = record.ErrNoSpace
	if _, err := b.Make(t.Context(), record.Request{Space: record.Local, Template: "note"}); !errors.Is(err, record.ErrNoSpace) || b.blobs.open != 0 {
		t.Errorf("full store: %v, open %d", err, b.blobs.open)
	}
	b.documents.fail = nil
	b.make(t, record.Request{Template: "note"})
}

func TestReports(t *testing.T) {
	b := newBench(t)
	b.sources["api"] = answer("", `"x"`)
	b.catalog.reports["monthly"] = &record.Report{
		Name: "monthly", Template: "note", Options: record.Options{Standards: []string{"pdf/a-4"}},
		Sources: []record.SourceCall{{Key: "s", Source: "api", Parameters: record.Parameters{"a": json.RawMessage("1"), "b": json.RawMessage("2")}}},
	}
	b.catalog.reports["open"] = &record.Report{Name: "open"}
	made := b.make(t, record.Request{Report: "monthly", Time: noon})
	d := made.Document
	if d.Template.Name != "note" || len(d.Options.Standards) != 1 || len(d.Reports) != 1 || d.Reports[0] != "monthly" {
		t.Errorf("document %+v", d)
	}
	// Own parameters replace the report's by name, own sources come besides.
	made = b.make(t, record.Request{
		Report: "monthly", Template: "note", Time: noon, Options: record.Options{Standards: []string{"pdf/ua-2"}},
		Sources: []record.SourceCall{{Key: "s", Parameters: record.Parameters{"b": json.RawMessage("3")}}, {Key: "t", Source: "api"}},
	})
	r, _, err := record.ParseReceipt(made.Receipt)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Sources) != 2 || r.Sources[0].Source != "api" || string(r.Sources[0].Parameters["a"]) != "1" || string(r.Sources[0].Parameters["b"]) != "3" || r.Sources[1].Key != "t" {
		t.Errorf("sources %+v", r.Sources)
	}
	if got := r.Options.Standards; len(got) != 1 || got[0] != "pdf/ua-2" {
		t.Errorf("standards %q, want the request's", got)
	}
	if got := b.catalog.reports["monthly"].Sources[0].Parameters["b"]; string(got) != "2" {
		t.Errorf("the report itself was changed: b is %s", got)
	}
	// The same document under a second report is filed, not made.
	r2 := record.Request{Report: "open", Inline: template(t, "own", "own"), Time: noon}
	first := b.make(t, record.Request{Inline: r2.Inline, Time: noon})
	second := b.make(t, r2)
	if !first.Created || second.Created || len(second.Document.Reports) != 1 || second.Document.Reports[0] != "open" {
		t.Errorf("filed: created %v, reports %q", second.Created, second.Document.Reports)
	}
	// Without reports there are none.
	maker, err := record.NewMaker(record.Parts{Engine: b.press, Blobs: b.blobs, Documents: b.documents, Now: time.Now, Templates: b.catalog})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []record.Request{{Report: "monthly"}, {Template: "note", Sources: []record.SourceCall{{Key: "s", Source: "api"}}}} {
		r.Space = record.Local
		if _, err := maker.Make(t.Context(), r); !errors.Is(err, record.ErrNotFound) {
			t.Errorf("%+v: %v, want not found", r, err)
		}
	}
}

// What rendering finds in the frozen bytes is told at its place in the text as
// sent, whatever order and spelling that had.
func TestDataErrorsHaveThePlaceOfTheTextAsSent(t *testing.T) {
	b := newBench(t)
	b.catalog.templates["strict"] = template(t, "strict", "needs client.name")
	b.sources["api"] = answer("", `{"code":"x"}`)
	_, err := b.Make(t.Context(), record.Request{
		Space: record.Local, Template: "strict", Origin: record.Origin{File: "note.json"}, Data: []byte("{\n  \"z\": 1,\n  \"extra\": 2,\n  \"client\": {\"code\": 7}\n}"),
	})
	var wrong *record.DataError
	if !errors.As(err, &wrong) {
		t.Fatalf("got %v", err)
	}
	if want := "data note.json:4:13: client.name: want string, got nothing [D201]\ndata note.json:3:12: extra: unknown [D204]"; wrong.Error() != want {
		t.Errorf("got\n%s\nwant\n%s", wrong, want)
	}
	if n := len(wrong.All()); n != 2 {
		t.Errorf("%d problems, want 2", n)
	}
	// From a source there is no text that was sent: its key says where.
	_, err = b.Make(t.Context(), record.Request{Space: record.Local, Template: "strict", Sources: []record.SourceCall{{Key: "client", Source: "api"}}})
	if !errors.As(err, &wrong) || wrong.Source != "client" || wrong.Line != 0 {
		t.Errorf("got %v, want it from source client", err)
	}
	// Without data there is no place at all.
	if _, err = b.Make(t.Context(), record.Request{Space: record.Local, Template: "strict"}); !errors.As(err, &wrong) || wrong.Line != 0 {
		t.Errorf("got %v, want no place", err)
	}
}

func TestNewMakerSaysWhatIsMissing(t *testing.T) {
	for _, p := range []record.Parts{
		{Now: time.Now},
		{Engine: &press{}},
		{Engine: &press{}, Now: time.Now, Blobs: &memBlobs{}},
		{Engine: &press{}, Now: time.Now, Documents: &memDocuments{}},
	} {
		if _, err := record.NewMaker(p); err == nil {
			t.Errorf("%+v: no error", p)
		}
	}
}
