// Package storetest is the conformance suite of the document store. Every database implementation
// passes it.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"example.com/quire/internal/record"
	"example.com/quire/internal/store"
)

// Store is what a database has to do.
type Store interface {
	record.Documents
	ByContent(ctx context.Context, space record.Space, content record.Hash) (*record.Document, error)
	Latest(ctx context.Context, space record.Space, report string) (*record.Document, error)
	List(ctx context.Context, space record.Space, q record.Query) (*record.Page, error)
	VerifyAudit(ctx context.Context) (store.AuditHead, error)
}

// Run runs the suite, each test on an empty store.
func Run(t *testing.T, open func(t *testing.T) Store) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, Store){
		"what was saved is read back":           readBack,
		"saving again changes nothing":          again,
		"another space finds nothing":           spaces,
		"the same id in two spaces":             sameID,
		"latest follows filing, not repetition": latest,
		"lists go page by page":                 pages,
		"a wrong cursor is refused":             cursor,
		"every act stands in the audit log":     audit,
		"many at once":                          atOnce,
		"a cancelled context saves nothing":     cancelled,
		"a context that ends at any moment":     endsAnywhere,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // they wait for the disk most of the time
			test(t, open(t))
		})
	}
}

// Document makes a document of the space that number alone decides, with its receipt.
func Document(t *testing.T, space record.Space, number int) (*record.Document, []byte) {
	t.Helper()
	d := &record.Document{
		Space:    space,
		Content:  record.Sum(fmt.Appendf(nil, "content %d", number)),
		Size:     int64(1000 + number),
		Pages:    1 + number%7,
		Title:    []string{"", "Invoice 2026-0147", "Größe \"é\""}[number%3],
		Name:     []string{"", "Invoice 2026-0147.pdf", "Größe -é-.pdf"}[number%3],
		TimeFrom: []record.TimeOrigin{record.FromClock, record.FromRequest}[number%2],
		Template: record.TemplateRef{Name: fmt.Sprintf("template-%d", number%3), Hash: record.Sum(fmt.Appendf(nil, "template %d", number%5))},
		Snapshot: record.Sum(fmt.Appendf(nil, "snapshot %d", number)),
		Options:  record.Options{Standards: []string{"pdf/a-4", "pdf/ua-2"}[:number%3%2+number%2]},
		Engine:   "1+test",
		Time:     time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC).Add(time.Duration(number) * time.Hour),
		Made:     time.Date(2026, 2, 3, 4, 5, 6, 7_000_000, time.UTC).Add(time.Duration(number) * time.Second),
	}
	d.Options = d.Options.Normal()
	var err error
	d.ID, err = record.Identity{Space: space, Template: d.Template, Snapshot: d.Snapshot, Options: d.Options}.ID()
	if err != nil {
		t.Fatal(err)
	}
	r := record.Receipt{
		Version: 1, Space: space, Document: d.ID, Template: d.Template, Snapshot: d.Snapshot, Options: d.Options, Engine: d.Engine,
		Content: d.Content, Size: d.Size, Pages: d.Pages, Title: d.Title, Time: &d.Time, TimeFrom: d.TimeFrom, Made: d.Made, Stages: []record.Stage{{Name: "render", Micros: 42}},
	}
	b, err := r.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return d, b
}

func save(t *testing.T, s Store, space record.Space, number int, report string) *record.Document {
	t.Helper()
	d, receipt := Document(t, space, number)
	kept, created, err := s.Save(t.Context(), d, receipt, report)
	if err != nil || !created {
		t.Fatalf("save document %d: created %v, %v", number, created, err)
	}
	return kept
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(want, got) {
		t.Errorf("%s:\ngot  %+v\nwant %+v", what, got, want)
	}
}

func wantNone(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, record.ErrNotFound) {
		t.Errorf("%s: %v, want not found", what, err)
	}
}

func readBack(t *testing.T, s Store) {
	t.Helper()
	for number := range 7 {
		want, receipt := Document(t, record.Local, number)
		if number == 4 {
			want.Time = time.Time{}
		}
		report := ""
		if number%2 == 1 {
			report = "monthly"
		}
		kept, created, err := s.Save(t.Context(), want, receipt, report)
		if err != nil || !created {
			t.Fatalf("save: created %v, %v", created, err)
		}
		if report != "" {
			want.Reports = []string{report}
		}
		same(t, "saved", kept, want)
		got, err := s.Document(t.Context(), record.Local, want.ID)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "by id", got, want)
		if got, err = s.ByContent(t.Context(), record.Local, want.Content); err != nil {
			t.Fatal(err)
		}
		same(t, "by content", got, want)
		b, err := s.Receipt(t.Context(), record.Local, want.ID)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "receipt", string(b), string(receipt))
		for _, c := range []struct {
			space       record.Space
			id, receipt record.Hash
			want        bool
		}{
			{record.Local, want.ID, record.Sum(receipt), true},
			{record.Local, want.ID, record.Sum([]byte("another")), false},
			{record.Local, record.Hash{}, record.Sum(receipt), false},
			{"other", want.ID, record.Sum(receipt), false},
		} {
			if got, err := s.Chained(t.Context(), c.space, c.id, c.receipt); err != nil || got != c.want {
				t.Errorf("receipt %s of document %s in the audit log for %s: %v, %v", c.receipt, c.id, c.space, got, err)
			}
		}
	}
	_, err := s.Document(t.Context(), record.Local, record.Hash{})
	wantNone(t, "document", err)
	_, err = s.Receipt(t.Context(), record.Local, record.Hash{})
	wantNone(t, "receipt", err)
	_, err = s.ByContent(t.Context(), record.Local, record.Hash{})
	wantNone(t, "content", err)
	_, err = s.Latest(t.Context(), record.Local, "never")
	wantNone(t, "latest", err)
	_, err = s.File(t.Context(), record.Local, record.Hash{}, "monthly")
	wantNone(t, "file", err)
}

func again(t *testing.T, s Store) {
	t.Helper()
	first := save(t, s, record.Local, 1, "")
	other, _ := Document(t, record.Local, 1)
	other.Content, other.Engine = record.Sum([]byte("other bytes")), "2+test"
	head, err := s.VerifyAudit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kept, created, err := s.Save(t.Context(), other, []byte("{}"), "")
	if err != nil || created {
		t.Errorf("save again: created %v, %v", created, err)
	}
	same(t, "kept", kept, first)
	after, err := s.VerifyAudit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	same(t, "audit log", after, head)
	_, err = s.ByContent(t.Context(), record.Local, other.Content)
	wantNone(t, "the other bytes", err)

	// Filing it is a new effect, and only that.
	if kept, created, err = s.Save(t.Context(), other, []byte("{}"), "monthly"); err != nil || created {
		t.Errorf("save under a report: created %v, %v", created, err)
	}
	first.Reports = []string{"monthly"}
	same(t, "kept", kept, first)
}

// G10: another space's ids are not found, on any way in.
func spaces(t *testing.T, s Store) {
	t.Helper()
	mine, theirs := record.Space("mine"), record.Space("theirs")
	for number := range 5 {
		d := save(t, s, mine, number, "monthly")
		_, err := s.Document(t.Context(), theirs, d.ID)
		wantNone(t, "document", err)
		_, err = s.Receipt(t.Context(), theirs, d.ID)
		wantNone(t, "receipt", err)
		_, err = s.ByContent(t.Context(), theirs, d.Content)
		wantNone(t, "content", err)
		_, err = s.Latest(t.Context(), theirs, "monthly")
		wantNone(t, "latest", err)
		_, err = s.File(t.Context(), theirs, d.ID, "stolen")
		wantNone(t, "file", err)
		_, err = s.Latest(t.Context(), theirs, "stolen")
		wantNone(t, "latest of the refused filing", err)
	}
	for _, q := range []record.Query{{}, {Report: "monthly"}, {After: "4"}} {
		page, err := s.List(t.Context(), theirs, q)
		if err != nil || len(page.Documents) > 0 || page.Next != "" {
			t.Errorf("list %+v: %+v, %v", q, page, err)
		}
	}
	// Nor can a space tell from its cursors how much others save.
	for number := range 3 {
		save(t, s, theirs, number, "")
	}
	page, err := s.List(t.Context(), theirs, record.Query{Limit: 1})
	if err != nil || page.Next != "3" {
		t.Errorf("cursor of the first page: %q, %v, want 3", page.Next, err)
	}
}

// An id is a hash over its space, so this does not happen; if it did, each
// space would still see its own.
func sameID(t *testing.T, s Store) {
	t.Helper()
	a, receiptA := Document(t, "a", 1)
	b, receiptB := Document(t, "b", 2)
	b.ID = a.ID
	for _, x := range []struct {
		d       *record.Document
		receipt []byte
	}{{a, receiptA}, {b, receiptB}} {
		if _, created, err := s.Save(t.Context(), x.d, x.receipt, "r"); err != nil || !created {
			t.Fatalf("created %v, %v", created, err)
		}
		x.d.Reports = []string{"r"}
	}
	for _, want := range []*record.Document{a, b} {
		got, err := s.Document(t.Context(), want.Space, a.ID)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "document of "+string(want.Space), got, want)
	}
}

func latest(t *testing.T, s Store) {
	t.Helper()
	wantLatest := func(report string, want *record.Document) {
		t.Helper()
		got, err := s.Latest(t.Context(), record.Local, report)
		if err != nil {
			t.Fatal(err)
		}
		if got.ID != want.ID {
			t.Errorf("latest of %s is %s, want %s", report, got.ID, want.ID)
		}
	}
	one := save(t, s, record.Local, 1, "daily")
	wantLatest("daily", one)
	two := save(t, s, record.Local, 2, "daily")
	wantLatest("daily", two)
	three := save(t, s, record.Local, 3, "")
	wantLatest("daily", two)
	if _, err := s.File(t.Context(), record.Local, three.ID, "daily"); err != nil {
		t.Fatal(err)
	}
	wantLatest("daily", three)
	// A request that is repeated, in either way, does not take the latest back.
	if _, err := s.File(t.Context(), record.Local, one.ID, "daily"); err != nil {
		t.Fatal(err)
	}
	d, receipt := Document(t, record.Local, 2)
	if _, created, err := s.Save(t.Context(), d, receipt, "daily"); err != nil || created {
		t.Fatalf("created %v, %v", created, err)
	}
	wantLatest("daily", three)
	// Reports do not mix.
	filed, err := s.File(t.Context(), record.Local, one.ID, "weekly")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "reports, as filed", filed.Reports, []string{"daily", "weekly"})
	wantLatest("weekly", one)
	wantLatest("daily", three)
	got, err := s.Document(t.Context(), record.Local, one.ID)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "reports", got.Reports, []string{"daily", "weekly"})
}

func pages(t *testing.T, s Store) {
	t.Helper()
	const n = 13
	var all, odd []record.Hash
	for number := range n {
		report := ""
		if number%2 == 1 {
			report = "odd"
		}
		d := save(t, s, record.Local, number, report)
		all = append(all, d.ID)
		if report != "" {
			odd = append(odd, d.ID)
		}
		if number%3 == 0 {
			save(t, s, "busy", number, "odd")
		}
	}
	slices.Reverse(all)
	slices.Reverse(odd)
	for _, limit := range []int{0, 1, 4, n - 1, n, n + 1} {
		for report, want := range map[string][]record.Hash{"": all, "odd": odd} {
			var got []record.Hash
			q := record.Query{Report: report, Limit: limit}
			for range n + 1 {
				page, err := s.List(t.Context(), record.Local, q)
				if err != nil {
					t.Fatal(err)
				}
				if limit > 0 && len(page.Documents) > limit {
					t.Fatalf("page of %d, want at most %d", len(page.Documents), limit)
				}
				for _, d := range page.Documents {
					got = append(got, d.ID)
				}
				if q.After = page.Next; q.After == "" {
					break
				}
			}
			same(t, fmt.Sprintf("report %q by %d", report, limit), got, want)
		}
	}
	// What is saved while somebody turns pages does not move the pages.
	first, err := s.List(t.Context(), record.Local, record.Query{Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	save(t, s, record.Local, n, "")
	second, err := s.List(t.Context(), record.Local, record.Query{Limit: 5, After: first.Next})
	if err != nil {
		t.Fatal(err)
	}
	if got := second.Documents[0].ID; got != all[5] {
		t.Errorf("second page begins with %s, want %s", got, all[5])
	}
}

func cursor(t *testing.T, s Store) {
	t.Helper()
	for _, after := range []string{"x", "-1", "0", "1.5", "99999999999999999999", "1; DROP TABLE documents"} {
		var wrong *record.RequestError
		if _, err := s.List(t.Context(), record.Local, record.Query{After: after}); !errors.As(err, &wrong) || wrong.Field != "after" {
			t.Errorf("after %q: %v, want a request error", after, err)
		}
	}
}

func audit(t *testing.T, s Store) {
	t.Helper()
	head, err := s.VerifyAudit(t.Context())
	if err != nil || head.Lines != 0 || !head.Hash.IsZero() {
		t.Fatalf("empty: %+v, %v", head, err)
	}
	seen := map[record.Hash]bool{}
	for number := range 5 {
		save(t, s, record.Local, number, "")
		next, err := s.VerifyAudit(t.Context())
		if err != nil || next.Lines != head.Lines+1 || seen[next.Hash] {
			t.Fatalf("after document %d: %+v, %v", number, next, err)
		}
		head, seen[next.Hash] = next, true
	}
	save(t, s, "other", 9, "monthly") // made and filed: two lines of the same chain
	if head, err = s.VerifyAudit(t.Context()); err != nil || head.Lines != 7 {
		t.Errorf("at the end: %+v, %v, want 7 lines", head, err)
	}
	d, _ := Document(t, record.Local, 3)
	for range 2 { // as often as it happens
		if err := s.Restored(t.Context(), record.Local, d.ID); err != nil {
			t.Error(err)
		}
	}
	if err := s.Restored(t.Context(), "other", d.ID); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("another space's document: %v, want not found", err)
	}
	if head, err = s.VerifyAudit(t.Context()); err != nil || head.Lines != 9 {
		t.Errorf("after two were restored: %+v, %v, want 9 lines", head, err)
	}
}

func atOnce(t *testing.T, s Store) {
	t.Helper()
	const workers, each = 6, 15
	type saved struct {
		d       *record.Document
		receipt []byte
	}
	todo := make([]saved, each)
	for number := range todo {
		todo[number].d, todo[number].receipt = Document(t, record.Local, number)
	}
	var wg sync.WaitGroup
	problems := make(chan error, workers*each)
	made := make(chan bool, workers*each)
	for range workers {
		wg.Go(func() {
			for _, x := range todo {
				_, created, err := s.Save(t.Context(), x.d, x.receipt, "daily")
				if err == nil {
					_, err = s.Document(t.Context(), record.Local, x.d.ID)
				}
				if err != nil {
					problems <- err
				}
				made <- created
			}
		})
	}
	wg.Wait()
	close(problems)
	close(made)
	for err := range problems {
		t.Error(err)
	}
	count := 0
	for created := range made {
		if created {
			count++
		}
	}
	page, err := s.List(t.Context(), record.Local, record.Query{Limit: 500})
	if err != nil || len(page.Documents) != each || count != each {
		t.Errorf("%d documents listed, %d created, want %d of each, %v", len(page.Documents), count, each, err)
	}
	if head, err := s.VerifyAudit(t.Context()); err != nil || head.Lines != 2*each {
		t.Errorf("audit log: %+v, %v, want %d lines", head, err, 2*each)
	}
}

func cancelled(t *testing.T, s Store) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d, receipt := Document(t, record.Local, 1)
	if _, created, err := s.Save(ctx, d, receipt, ""); err == nil || created {
		t.Errorf("save: created %v, %v", created, err)
	}
	_, err := s.Document(t.Context(), record.Local, d.ID)
	wantNone(t, "document", err)
	save(t, s, record.Local, 1, "") // and the store goes on
}

// A client may leave in every moment of a save: the document is there whole or not at all, and
// the next save goes its way.
func endsAnywhere(t *testing.T, s Store) {
	t.Helper()
	var kept int64
	for number := range 60 {
		d, receipt := Document(t, record.Local, number)
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(number)*20*time.Microsecond)
		_, created, err := s.Save(ctx, d, receipt, "daily")
		cancel()
		if created != (err == nil) {
			t.Fatalf("document %d: created %v, %v", number, created, err)
		}
		_, err = s.Document(t.Context(), record.Local, d.ID)
		if created != (err == nil) {
			t.Fatalf("document %d: created %v, and to be read: %v", number, created, err)
		}
		if created {
			kept++
		}
	}
	save(t, s, record.Local, 1000, "daily")
	if head, err := s.VerifyAudit(t.Context()); err != nil || head.Lines != 2*(kept+1) {
		t.Errorf("audit log: %+v, %v, want %d lines", head, err, 2*(kept+1))
	}
}
