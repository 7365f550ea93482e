package record_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/quire/internal/record"
)

// The parts of a Maker in memory: the shortest that keep the promises of the
// interfaces. Blobs and documents on disk are tested in their own packages.

type memBlobs struct {
	mu    sync.Mutex
	blobs map[record.Hash][]byte
	open  int // writers neither committed nor aborted
	log   []string
	full  bool
}

func (m *memBlobs) Create(ctx context.Context) (record.BlobWriter, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open++
	return &memWriter{m: m}, ctx.Err()
}

func (m *memBlobs) Open(_ context.Context, h record.Hash) (record.Blob, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.blobs[h]
	if !ok {
		return nil, fmt.Errorf("blob %s: %w", h, record.ErrNotFound)
	}
	if record.Sum(b) != h {
		return nil, fmt.Errorf("blob %s: %w", h, record.ErrDamaged)
	}
	return memBlob{bytes.NewReader(b)}, nil
}

func (m *memBlobs) Has(_ context.Context, h record.Hash) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.blobs[h]
	return ok, nil
}

type memBlob struct{ *bytes.Reader }

func (memBlob) Close() error { return nil }

type memWriter struct {
	m    *memBlobs
	b    bytes.Buffer
	done bool
}

func (w *memWriter) Write(p []byte) (int, error) {
	if w.m.full {
		return 0, record.ErrNoSpace
	}
	return w.b.Write(p)
}

func (w *memWriter) Commit(h record.Hash) (int64, error) {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	w.done = true
	w.m.open--
	w.m.blobs[h] = w.b.Bytes()
	w.m.log = append(w.m.log, "commit "+h.String())
	return int64(w.b.Len()), nil
}

func (w *memWriter) Abort() error {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	if !w.done {
		w.done = true
		w.m.open--
	}
	return nil
}

type memDocuments struct {
	mu        sync.Mutex
	documents map[record.Space]map[record.Hash]*record.Document
	receipts  map[record.Hash][]byte
	chained   map[record.Hash]record.Hash // the receipts' hashes as they were saved
	blobs     *memBlobs
	fail      error
}

func (m *memDocuments) Save(_ context.Context, d *record.Document, receipt []byte, report string) (*record.Document, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return nil, false, m.fail
	}
	if m.documents[d.Space] == nil {
		m.documents[d.Space] = map[record.Hash]*record.Document{}
	}
	kept, there := m.documents[d.Space][d.ID]
	if !there {
		c := *d
		kept = &c
		m.documents[d.Space][d.ID] = kept
		m.receipts[d.ID] = receipt
		m.chained[d.ID] = record.Sum(receipt)
		m.blobs.log = append(m.blobs.log, "save "+d.ID.String())
	}
	m.file(kept, report)
	return kept, !there, nil
}

func (m *memDocuments) file(d *record.Document, report string) {
	if report != "" && !slices.Contains(d.Reports, report) {
		d.Reports = append(d.Reports, report)
	}
}

func (m *memDocuments) File(_ context.Context, space record.Space, id record.Hash, report string) (*record.Document, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, ok := m.documents[space][id]
	if !ok {
		return nil, record.ErrNotFound
	}
	m.file(d, report)
	return d, nil
}

func (m *memDocuments) Restored(_ context.Context, space record.Space, id record.Hash) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.documents[space][id]; !ok {
		return record.ErrNotFound
	}
	m.blobs.log = append(m.blobs.log, "restored "+id.String())
	return nil
}

func (m *memDocuments) Document(_ context.Context, space record.Space, id record.Hash) (*record.Document, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if d, ok := m.documents[space][id]; ok {
		return d, nil
	}
	return nil, fmt.Errorf("document %s: %w", id, record.ErrNotFound)
}

func (m *memDocuments) Receipt(_ context.Context, space record.Space, id record.Hash) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.documents[space][id]; !ok {
		return nil, fmt.Errorf("receipt of document %s: %w", id, record.ErrNotFound)
	}
	return m.receipts[id], nil
}

func (m *memDocuments) Chained(_ context.Context, space record.Space, id, receipt record.Hash) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, there := m.documents[space][id]
	return there && m.chained[id] == receipt, nil
}

// press is an engine whose "file" shows its input. A template whose main file
// contains "needs NAME" wants that member in the data; "broken" is a template
// error; "stop" fails in the middle of the file.
type press struct {
	engine string
	title  string
	calls  int
}

func (p *press) Version() string { return p.engine }

// Signer implements record.Engine: a template asks for a signature by "signed by NAME.".
func (p *press) Signer(_ context.Context, _ record.Space, t *record.Template) (string, error) {
	_, after, _ := strings.Cut(string(t.Files[t.Main]), "signed by ")
	name, _, _ := strings.Cut(after, ".")
	return name, nil
}

func (p *press) DocumentIDs(r io.Reader) ([]record.Hash, error) {
	b, err := io.ReadAll(r)
	var ids []record.Hash
	for _, part := range bytes.Split(b, []byte("<xmpMM:DocumentID>uuid:"))[1:] {
		if id, err := record.ParseHash(string(part[:min(64, len(part))])); err == nil {
			ids = append(ids, id)
		}
	}
	return ids, err
}

func (p *press) Render(_ context.Context, w io.Writer, r record.Rendering) (*record.Rendered, error) {
	p.calls++
	main := string(r.Template.Files[r.Template.Main])
	if strings.Contains(main, "broken") {
		return nil, &record.TemplateError{Problem: record.Problem{Code: "T104", File: r.Template.Main, Line: 1, Column: 1, Message: "broken"}}
	}
	if _, path, ok := strings.Cut(main, "needs "); ok {
		var data map[string]any
		if err := json.Unmarshal(r.Data, &data); err != nil {
			return nil, err
		}
		first, _, _ := strings.Cut(path, ".")
		if m, ok := data[first].(map[string]any); !ok || m[path[len(first)+1:]] == nil {
			return nil, fmt.Errorf("render: %w", &record.DataError{
				Problem: record.Problem{Code: "D201", File: "data", Line: 77, Column: 77, Path: path, Pointer: "/" + strings.ReplaceAll(path, ".", "/"), Want: "string", Got: "nothing"},
				More:    []record.Problem{{Code: "D204", Path: "extra", Pointer: "/extra", Message: "unknown"}},
			})
		}
	}
	text := fmt.Sprintf("%%PDF-2.0 %s engine %s, template %s, time %s\n<?xpacket begin=\"\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>"+
		"<xmpMM:DocumentID>uuid:%s</xmpMM:DocumentID><?xpacket end=\"w\"?>\n%s\n%s\n%%%%EOF\n",
		strings.Repeat("-", 100), p.engine, main, r.Time, r.Document, strings.Join(r.Options.Standards, " "), r.Data)
	if name, _ := p.Signer(context.Background(), r.Space, r.Template); name != "" && !r.Draft {
		if r.Signature == nil { // each signature is another one
			r.Signature = fmt.Appendf(nil, "%s %d", name, p.calls)
		}
		text += string(r.Signature)
	}
	for i := 0; i < len(text); i += 50 {
		if strings.Contains(main, "stop") && i > 100 {
			return nil, errors.New("stopped in the middle")
		}
		if _, err := io.WriteString(w, text[i:min(i+50, len(text))]); err != nil {
			return nil, fmt.Errorf("render: %w", err)
		}
	}
	return &record.Rendered{Unique: strings.Contains(main, "encrypted"), Signature: r.Signature, Pages: 3, Title: p.title, Size: int64(len(text)), Hash: record.Sum([]byte(text)), PageBytes: []record.PageBytes{{Page: 1, From: 20, To: 60}, {Page: 2, From: 60, To: 90}}, Warnings: []record.Problem{{Message: "small"}}}, nil
}

// sources is a collector that answers from a table of what each source gives.
type sources map[string]record.Collected

func (s sources) Collect(_ context.Context, _ record.Space, calls []record.SourceCall) ([]record.Collected, error) {
	var out []record.Collected
	for i, c := range calls {
		got, ok := s[c.Source]
		if !ok {
			return nil, &record.RequestError{Field: fmt.Sprintf("sources[%d]", i), Got: c.Source, Want: "a source"}
		}
		got.Key, got.Source, got.Kind, got.Parameters = c.Key, c.Source, "inline", c.Parameters
		out = append(out, got)
	}
	return out, nil
}

// answer is what a source gave, which may be no JSON.
func answer(key, data string) record.Collected {
	return record.Collected{SourceRecord: record.SourceRecord{Key: key, Outcome: record.OK}, Data: []byte(data)}
}

// failure is what a source gave that failed.
func failure(reason string) record.Collected {
	return record.Collected{SourceRecord: record.SourceRecord{Outcome: record.Failed, Reason: reason}}
}

// catalog has templates and reports of the space local.
type catalog struct {
	templates map[string]*record.Template
	reports   map[string]*record.Report
}

func (s catalog) Template(_ context.Context, space record.Space, name string) (*record.Template, error) {
	if t, ok := s.templates[name]; ok && space == record.Local {
		return t, nil
	}
	return nil, fmt.Errorf("template %s: %w", name, record.ErrNotFound)
}

func (s catalog) Report(_ context.Context, space record.Space, name string) (*record.Report, error) {
	if r, ok := s.reports[name]; ok && space == record.Local {
		return r, nil
	}
	return nil, fmt.Errorf("report %s: %w", name, record.ErrNotFound)
}

// bench is a Maker with its parts at hand.
type bench struct {
	*record.Maker
	blobs     *memBlobs
	documents *memDocuments
	press     *press
	sources   sources
	catalog   catalog
	clock     time.Time // moves by 1 ms with every look
}

var noon = time.Date(2026, 1, 31, 12, 0, 0, 123_456_789, time.FixedZone("", 5*3600+1800))

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{
		blobs: &memBlobs{blobs: map[record.Hash][]byte{}},
		press: &press{engine: "1+abc", title: "Note"}, sources: sources{}, clock: noon,
		catalog: catalog{map[string]*record.Template{}, map[string]*record.Report{}},
	}
	b.documents = &memDocuments{
		documents: map[record.Space]map[record.Hash]*record.Document{}, receipts: map[record.Hash][]byte{},
		chained: map[record.Hash]record.Hash{}, blobs: b.blobs,
	}
	b.catalog.templates["note"] = template(t, "note", "quire: 1")
	var err error
	b.Maker, err = record.NewMaker(record.Parts{
		Engine: b.press, Blobs: b.blobs, Documents: b.documents, Collector: b.sources, Templates: b.catalog, Reports: b.catalog,
		Now: func() time.Time { b.clock = b.clock.Add(time.Millisecond); return b.clock },
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func template(t *testing.T, name, main string) *record.Template {
	t.Helper()
	tmpl, err := record.NewTemplate(name, "main.yaml", map[string][]byte{"main.yaml": []byte(main), "assets/logo.png": []byte("logo")})
	if err != nil {
		t.Fatal(err)
	}
	return tmpl
}

func (b *bench) make(t *testing.T, r record.Request) *record.Made {
	t.Helper()
	if r.Space == "" {
		r.Space = record.Local
	}
	made, err := b.Make(t.Context(), r)
	if err != nil {
		t.Fatalf("make: %v", err)
	}
	if b.blobs.open != 0 {
		t.Fatalf("%d blobs are neither committed nor aborted", b.blobs.open)
	}
	return made
}

func (b *bench) file(t *testing.T, d *record.Document) []byte {
	t.Helper()
	b.blobs.mu.Lock()
	defer b.blobs.mu.Unlock()
	file, ok := b.blobs.blobs[d.Content]
	if !ok {
		t.Fatal("the file is not there")
	}
	return bytes.Clone(file)
}
