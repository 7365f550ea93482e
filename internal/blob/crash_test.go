package blob_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/quire/internal/blob"
	"example.com/quire/internal/record"
	"example.com/quire/internal/store"
)

// The crash proof. Documents are made by the real Maker into the real stores;
// the blob store's calls are recorded with the store's commits and with the
// moments at which the caller was told. Then every prefix of that record is
// turned into what a loss of power may leave (see remains), and on each a new
// store must find every byte of every document that was acknowledged, and of
// every document that is listed.

// noting records when documents are saved, around the real store.
type noting struct {
	*store.Store
	layer *memory
	files []record.Hash // of the template
}

func (n *noting) Save(ctx context.Context, d *record.Document, receipt []byte, report string) (*record.Document, bool, error) {
	n.layer.note(op{kind: opSave, blobs: n.needs(d)})
	kept, created, err := n.Store.Save(ctx, d, receipt, report)
	if err == nil {
		n.layer.note(op{kind: opCommit, blobs: n.needs(kept)})
	}
	return kept, created, err
}

func (n *noting) needs(d *record.Document) []record.Hash {
	return append([]record.Hash{d.Content, d.Snapshot, d.Template.Hash}, n.files...)
}

// echo is a renderer whose file is its input, in several writes.
type echo struct{}

func (echo) Version() string { return "echo" }

func (echo) Signer(context.Context, record.Space, *record.Template) (string, error) { return "", nil }

func (echo) DocumentIDs(io.Reader) ([]record.Hash, error) { return nil, nil }

func (echo) Render(_ context.Context, w io.Writer, r record.Rendering) (*record.Rendered, error) {
	text := fmt.Sprintf("%s %s %s", r.Document, r.Time, r.Data)
	for i := 0; i < len(text); i += 40 {
		if _, err := io.WriteString(w, text[i:min(i+40, len(text))]); err != nil {
			return nil, err
		}
		if strings.Contains(text, "refuse") && i > 40 {
			return nil, errors.New("refused in the middle")
		}
	}
	return &record.Rendered{Pages: 1, Hash: record.Sum([]byte(text))}, nil
}

// recordMaking makes documents on a new layer and returns the calls. Two of
// them are the same document, one fails in the middle of its file, and half way
// the process starts again without a crash.
func recordMaking(t *testing.T, atOnce bool) []op {
	t.Helper()
	layer := newMemory()
	documents, err := store.Open(t.Context(), store.Config{File: filepath.Join(t.TempDir(), "quire.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := documents.Close(); err != nil {
			t.Error(err)
		}
	})
	files := map[string][]byte{"main.yaml": []byte("quire: 1"), "assets/logo.png": []byte("logo")}
	template, err := record.NewTemplate("note", "main.yaml", files)
	if err != nil {
		t.Fatal(err)
	}
	n := &noting{Store: documents, layer: layer}
	for _, b := range files {
		n.files = append(n.files, record.Sum(b))
	}
	made := 0
	for start := range 2 {
		blobs, err := blob.Open(blob.Config{Layer: layer})
		if err != nil {
			t.Fatal(err)
		}
		maker, err := record.NewMaker(record.Parts{Engine: echo{}, Blobs: blobs, Documents: n, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		var mu sync.Mutex
		for i, data := range []string{`{"n":1}`, `{"n":2}`, `{"n":1}`, `{"n":"refuse"}`, `{"n":3}`} {
			one := func() {
				if start == 1 {
					data = strings.Replace(data, "n", "m", 1)
				}
				m, err := maker.Make(t.Context(), record.Request{
					Space: record.Local, Inline: template, Data: []byte(data), Time: time.Unix(1_800_000_000, 0),
				})
				switch {
				case strings.Contains(data, "refuse"):
					if err == nil {
						t.Error("the refused document was made")
					}
				case err != nil:
					t.Errorf("document %d: %v", i, err)
				default:
					layer.note(op{kind: opAck, blobs: n.needs(m.Document)})
					mu.Lock()
					made++
					mu.Unlock()
				}
			}
			if atOnce {
				wg.Go(one)
			} else {
				one()
			}
		}
		wg.Wait()
		if err := blobs.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if made != 8 {
		t.Fatalf("%d documents made, want 8", made)
	}
	return layer.ops
}

// What was not synced may be lost or kept, each by itself: these are the
// extremes, which include what common file systems do.
type loss struct {
	data    string // of bytes that were not synced: "dropped", "torn", "zeroed"
	entries string // of names in directories that were not synced: "dropped", "kept", "only removals kept", "only additions kept"
}

func losses() []loss {
	var all []loss
	for _, data := range []string{"dropped", "torn", "zeroed"} {
		for _, entries := range []string{"dropped", "kept", "only removals kept", "only additions kept"} {
			all = append(all, loss{data, entries})
		}
	}
	return all
}

// remains builds what is left of ops after a loss of power.
func remains(ops []op, l loss) *memory {
	type file struct{ synced, all []byte }
	files := map[int]*file{}
	durable := map[string]int{} // name -> file number; 0: a directory
	now := map[string]int{}
	for _, o := range ops {
		switch o.kind {
		case opCreate:
			files[o.file] = &file{}
			now[o.name] = o.file
		case opWrite:
			files[o.file].all = append(files[o.file].all, o.data...)
		case opSync:
			files[o.file].synced = slices.Clone(files[o.file].all)
		case opRename:
			now[o.to] = now[o.name]
			delete(now, o.name)
		case opRemove:
			delete(now, o.name)
		case opMkdir:
			now[o.name] = 0
		case opSyncDir:
			maps.DeleteFunc(durable, func(name string, _ int) bool { return path.Dir(name) == o.name })
			for name, number := range now {
				if path.Dir(name) == o.name {
					durable[name] = number
				}
			}
		}
	}
	left := map[string]int{}
	for name, number := range durable {
		if _, there := now[name]; there || l.entries == "dropped" || l.entries == "only additions kept" {
			left[name] = number
		}
	}
	for name, number := range now {
		// A name that was there and means another file now: the old or the new one.
		if l.entries == "kept" || l.entries == "only additions kept" {
			left[name] = number
		}
	}
	m := newMemory()
	for _, name := range slices.Sorted(maps.Keys(left)) { // directories before what is in them
		if dir, there := m.entries[path.Dir(name)]; !there || dir != nil {
			continue // its directory is lost, and so is it
		}
		number := left[name]
		if number == 0 {
			m.entries[name] = nil
			continue
		}
		f := files[number]
		data := slices.Clone(f.synced)
		switch unsynced := f.all[len(f.synced):]; l.data {
		case "torn":
			data = append(data, unsynced[:len(unsynced)/2]...)
		case "zeroed":
			data = append(data, make([]byte, len(unsynced))...)
		}
		m.entries[name] = &memoryFile{layer: m, number: number, data: data}
	}
	return m
}

// judge returns what is wrong after a crash behind any prefix of ops (it stops
// when that is enough), and how many crashes it looked at.
func judge(t *testing.T, ops []op, enough int) (wrong []string, crashes int) {
	t.Helper()
	for end := range len(ops) + 1 {
		if len(wrong) >= enough {
			break
		}
		// A save that had begun may or may not have reached the disk: its document
		// must be whole if it did.
		listed, acknowledged := map[record.Hash]bool{}, map[record.Hash]bool{}
		for _, o := range ops[:end] {
			for _, h := range o.blobs {
				listed[h] = listed[h] || o.kind == opSave || o.kind == opCommit
				acknowledged[h] = acknowledged[h] || o.kind == opAck
			}
		}
		for _, l := range losses() {
			crashes++
			s, err := blob.Open(blob.Config{Layer: remains(ops[:end], l)})
			if err != nil {
				t.Fatalf("after %d calls, %+v: %v", end, l, err)
			}
			for h := range listed {
				b, err := s.Open(t.Context(), h)
				if err != nil {
					wrong = append(wrong, fmt.Sprintf("after %d calls (last %s), %+v, acknowledged %v: %v", end, ops[end-1], l, acknowledged[h], err))
					continue
				}
				if err := b.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return wrong, crashes
}

func TestNoCrashLosesAnAcknowledgedDocument(t *testing.T) {
	for _, atOnce := range []bool{false, true} {
		ops := recordMaking(t, atOnce)
		wrong, crashes := judge(t, ops, 100)
		for _, w := range wrong[:min(len(wrong), 5)] {
			t.Error(w)
		}
		t.Logf("at once %v: %d calls, %d crashes, %d wrong", atOnce, len(ops), crashes, len(wrong))
		if crashes < 500 {
			t.Errorf("only %d crashes were looked at", crashes)
		}
	}
}

// The judge can fail: each mutation of the record is a store that does one thing
// wrong, and is caught.
func TestCrashJudgeCatchesMutants(t *testing.T) {
	ops := recordMaking(t, false)
	without := func(drop func(op) bool) []op { return slices.DeleteFunc(slices.Clone(ops), drop) }
	// earlier moves every op of a kind before the run of the calls that its document made.
	earlier := func(k kind, before kind) []op {
		out := slices.Clone(ops)
		for i := 1; i < len(out); i++ {
			if out[i].kind != k {
				continue
			}
			for j := i; j > 0 && out[j].kind != before; j-- {
				out[j], out[j-1] = out[j-1], out[j]
			}
		}
		return out
	}
	for name, mutant := range map[string][]op{
		"files are not synced":             without(func(o op) bool { return o.kind == opSync }),
		"directories are not synced":       without(func(o op) bool { return o.kind == opSyncDir }),
		"the root is not synced":           without(func(o op) bool { return o.kind == opSyncDir && o.name == "." }),
		"fan-out directories not synced":   without(func(o op) bool { return o.kind == opSyncDir && o.name != "." }),
		"files are not renamed":            without(func(o op) bool { return o.kind == opRename }),
		"saved before the directory sync":  earlier(opSave, opSyncDir),
		"directory synced before a rename": earlier(opSyncDir, opSync),
	} {
		if wrong, _ := judge(t, mutant, 1); len(wrong) == 0 {
			t.Errorf("%s: not caught", name)
		}
	}
}
