package record_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"example.com/quire/internal/record"
)

func verdict(t *testing.T, b *bench, r record.RemakeRequest) *record.Verdict {
	t.Helper()
	if r.Space == "" {
		r.Space = record.Local
	}
	v, err := b.Remake(t.Context(), r)
	if err != nil {
		t.Fatalf("remake: %v", err)
	}
	return v
}

func want(t *testing.T, what string, v *record.Verdict, text string) {
	t.Helper()
	if v.String() != text {
		t.Errorf("%s: %q (%s), want %q", what, v, v.Reason, text)
	}
}

func TestRemake(t *testing.T) {
	b := newBench(t)
	made := b.make(t, record.Request{Template: "note", Data: []byte(`{"a":1,"text":"` + strings.Repeat("x", 200_000) + `"}`), Time: noon})
	file := b.file(t, made.Document)
	id := made.Document.ID
	idAt := bytes.Index(file, []byte(id.String()))
	judge := func(f []byte) *record.Verdict { return verdict(t, b, record.RemakeRequest{File: bytes.NewReader(f)}) }

	want(t, "the file", judge(file), "identical")
	want(t, "the stored file", verdict(t, b, record.RemakeRequest{ID: id}), "identical")
	want(t, "the file and its id", verdict(t, b, record.RemakeRequest{ID: id, File: bytes.NewReader(file)}), "identical")
	v := verdict(t, b, record.RemakeRequest{ID: id, Receipt: made.Receipt, File: bytes.NewReader(file)})
	want(t, "with a receipt", v, "identical")
	if v.Document != id || v.File != made.Document.Content || v.MadeBy != "1+abc" || v.Engine != "1+abc" {
		t.Errorf("verdict %+v", v)
	}
	// A template that has changed since does not matter.
	b.catalog.templates["note"] = template(t, "note", "quire: 2")
	want(t, "after a change of the template", judge(file), "identical")

	for _, at := range []int{0, 1, 99, idAt + 70, len(file) / 2, len(file) - 1} {
		bad := bytes.Clone(file)
		bad[at] ^= 1
		want(t, "one bit flipped", judge(bad), "differs at byte "+itoa(at))
	}
	for _, size := range []int{len(file) - 1, len(file) / 2, idAt + 200} {
		want(t, "cut", judge(file[:size]), "differs at byte "+itoa(size))
	}
	want(t, "one byte more", judge(append(bytes.Clone(file), '\n')), "differs at byte "+itoa(len(file)))
	want(t, "many bytes more", judge(append(bytes.Clone(file), file...)), "differs at byte "+itoa(len(file)))
	want(t, "one byte in front", judge(append([]byte{'x'}, file...)), "differs at byte 0")

	// Nothing tells which document it was.
	for name, f := range map[string][]byte{
		"empty": nil, "cut before the id": file[:idAt-5], "cut in the id": file[:idAt+30], "another file": []byte("%PDF-2.0 hello"),
	} {
		want(t, name, judge(f), "unknown here")
	}
	for _, at := range []int{idAt, idAt + 63, idAt + 10} {
		for _, flip := range []byte{1, 0x20, 0x80} {
			bad := bytes.Clone(file)
			bad[at] ^= flip
			want(t, "a flip in the id", judge(bad), "unknown here")
			// The receipt tells.
			v := verdict(t, b, record.RemakeRequest{File: bytes.NewReader(bad), Receipt: made.Receipt})
			want(t, "a flip in the id, with the receipt", v, "differs at byte "+itoa(at))
		}
	}
	want(t, "an id that is not known", verdict(t, b, record.RemakeRequest{ID: record.Hash{1}}), "unknown here")
}

func itoa(n int) string {
	return (&record.Verdict{Answer: record.Differs, At: int64(n)}).String()[len("differs at byte "):]
}

func TestRemakeByAnotherEngine(t *testing.T) {
	b := newBench(t)
	made := b.make(t, record.Request{Template: "note", Time: noon})
	file := b.file(t, made.Document)
	b.press.engine = "2+def"
	judge := func(f []byte) *record.Verdict { return verdict(t, b, record.RemakeRequest{File: bytes.NewReader(f)}) }
	v := judge(file)
	want(t, "intact", v, "intact, made by engine 1+abc")
	if v.MadeBy != "1+abc" || v.Engine != "2+def" {
		t.Errorf("verdict %+v", v)
	}
	bad := bytes.Clone(file)
	bad[5] ^= 1
	want(t, "flipped", judge(bad), "differs at byte 5")

	// A file that this engine would make, but not the one that was made.
	var now bytes.Buffer
	if _, err := b.Render(t.Context(), &now, record.Request{Space: record.Local, Template: "note", Time: noon}); err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(file, []byte("1+abc"))
	want(t, "the new engine's file", judge(now.Bytes()), "differs at byte "+itoa(at))
	delete(b.blobs.blobs, made.Document.Content)
	want(t, "the same, the kept file gone", judge(now.Bytes()), "differs from its receipt: content; the stored bytes are lost")

	// Another number, the same bytes.
	b.documents.receipts[made.Document.ID] = bytes.Replace(made.Receipt, []byte("1+abc"), []byte("0+old"), 1)
	b.press.engine = "1+abc"
	v = judge(file)
	want(t, "another engine with the same bytes", v, "identical; the stored bytes are lost")
	if v.MadeBy != "0+old" {
		t.Errorf("made by %s", v.MadeBy)
	}
}

// altered is a receipt with one member set to another value, or removed for "".
func altered(t *testing.T, receipt []byte, member, value string) []byte {
	t.Helper()
	var all map[string]json.RawMessage
	if err := json.Unmarshal(receipt, &all); err != nil {
		t.Fatal(err)
	}
	if delete(all, member); value != "" {
		all[member] = json.RawMessage(value)
	}
	b, err := json.MarshalIndent(all, "", "\t") // another spelling, too
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The document id does not cover all of a receipt: what it leaves open is
// compared with the file made again, and with the receipt that the audit log has.
func TestRemakeByAnAlteredReceipt(t *testing.T) {
	b := newBench(t)
	made := b.make(t, record.Request{Template: "note", Time: noon})
	file := b.file(t, made.Document)
	judge := func(receipt []byte) *record.Verdict {
		return verdict(t, b, record.RemakeRequest{File: bytes.NewReader(file), Receipt: receipt})
	}
	genuine := altered(t, made.Receipt, "nothing", "")
	v := judge(genuine)
	want(t, "spelled in another way", v, "identical")
	if !v.InAuditLog || v.Field != "" {
		t.Errorf("the genuine receipt: %+v, want that it is in the audit log", v)
	}
	changes := map[string]string{
		"size": "5", "pages": "4", "title": `"Other"`, "time": `"2026-01-31T06:30:00.124Z"`, "time_from": `"clock"`,
		"made": `"2025-01-31T06:30:00Z"`, "engine": `"2+def"`, "stages": "[]", "sources": "[]", "approved": `"by nobody"`,
	}
	for field, value := range changes {
		v := judge(altered(t, made.Receipt, field, value))
		want(t, field, v, "differs from its receipt: "+field)
		if v.InAuditLog || v.Field != field || v.At != -1 || !strings.Contains(v.Reason, "the receipt has ") {
			t.Errorf("%s: %+v, want the field and that it is not in the audit log", field, v)
		}
	}
	for _, field := range []string{"title", "made", "time"} {
		want(t, "no "+field, judge(altered(t, made.Receipt, field, "")), "differs from its receipt: "+field)
	}
	// What is shown of a receipt that anybody can have written is short and plain.
	v = judge(altered(t, made.Receipt, "a\u009bb", `"x\u009by"`))
	if v.Field != `"a\u009bb"` || v.Reason != `the receipt has "\"x\u009by\"", the one in the audit log has none` {
		t.Errorf("an unknown member: %+v", v)
	}
	v = judge(altered(t, made.Receipt, strings.Repeat("a", 1000), `"`+strings.Repeat("x", 1000)+`"`))
	if len(v.String())+len(v.Reason) > 200 {
		t.Errorf("a long member: %+v", v)
	}
	want(t, "content", judge(altered(t, made.Receipt, "content", `"`+record.Sum(nil).String()+`"`)), "differs from its receipt: content")

	// A file with the receipt that somebody wrote for it, as of another engine.
	bad := bytes.Clone(file)
	bad[5] ^= 1
	forged := altered(t, altered(t, made.Receipt, "engine", `"0+old"`), "content", `"`+record.Sum(bad).String()+`"`)
	v = verdict(t, b, record.RemakeRequest{File: bytes.NewReader(bad), Receipt: forged})
	want(t, "forged for another file", v, "differs from its receipt: content")

	// Where the stored receipt is the altered one, the copy that was kept elsewhere is the judge.
	b.documents.receipts[made.Document.ID] = altered(t, made.Receipt, "made", `"2025-01-31T06:30:00Z"`)
	if v := judge(made.Receipt); v.Answer != record.Identical || !v.InAuditLog {
		t.Errorf("the copy: %+v", v)
	}
	v = verdict(t, b, record.RemakeRequest{ID: made.Document.ID})
	if v.Answer != record.Identical || v.InAuditLog {
		t.Errorf("the stored one: %+v, want that it is not in the audit log", v)
	}
	b.documents.receipts[made.Document.ID] = altered(t, made.Receipt, "size", "5")
	want(t, "the stored one, altered in what the file has", verdict(t, b, record.RemakeRequest{ID: made.Document.ID}), "differs from its receipt: size")
	// Nobody vouches for either: the file decides alone.
	b.documents.chained[made.Document.ID] = record.Hash{1}
	if v := judge(made.Receipt); v.Answer != record.Identical || v.InAuditLog {
		t.Errorf("without a line in the audit log: %+v", v)
	}
}

func TestRemakeWhenTheEngineRefuses(t *testing.T) {
	b := newBench(t)
	made := b.make(t, record.Request{Template: "note", Time: noon})
	file := b.file(t, made.Document)
	refusing := &refuser{press: b.press, err: &record.TemplateError{Problem: record.Problem{Message: "no longer"}}}
	maker, err := record.NewMaker(record.Parts{Engine: refusing, Blobs: b.blobs, Documents: b.documents, Now: b.clock.Local})
	if err != nil {
		t.Fatal(err)
	}
	r := record.RemakeRequest{Space: record.Local, File: bytes.NewReader(file)}
	if _, err := maker.Remake(t.Context(), r); !errors.Is(err, refusing.err) {
		t.Errorf("the same engine: %v, want its error", err)
	}
	b.press.engine = "2+def"
	for _, refusing.err = range []error{refusing.err, &record.DataError{}, &record.LimitError{}} {
		v, err := maker.Remake(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		want(t, "another engine", v, "intact, made by engine 1+abc")
	}
	refusing.err = errors.New("out of memory")
	if _, err := maker.Remake(t.Context(), r); !errors.Is(err, refusing.err) {
		t.Errorf("a passing error: %v, want it", err)
	}
}

type refuser struct {
	*press
	err error
}

func (r *refuser) Render(_ context.Context, _ io.Writer, _ record.Rendering) (*record.Rendered, error) {
	return nil, r.err
}

func TestRemakeInputsGone(t *testing.T) {
	for name, of := range map[string]func(d *record.Document) record.Hash{
		"snapshot":      func(d *record.Document) record.Hash { return d.Snapshot },
		"manifest":      func(d *record.Document) record.Hash { return d.Template.Hash },
		"template file": func(*record.Document) record.Hash { return record.Sum([]byte("logo")) },
	} {
		b := newBench(t)
		made := b.make(t, record.Request{Template: "note", Time: noon})
		file := b.file(t, made.Document)
		h := of(made.Document)
		was := b.blobs.blobs[h]
		delete(b.blobs.blobs, h)
		v := verdict(t, b, record.RemakeRequest{File: bytes.NewReader(file)})
		want(t, name+" gone", v, "unknown here")
		if !strings.Contains(v.Reason, "not found") {
			t.Errorf("%s gone: reason %q", name, v.Reason)
		}
		b.blobs.blobs[h] = append([]byte("x"), was...)
		if _, err := b.Remake(t.Context(), record.RemakeRequest{Space: record.Local, File: bytes.NewReader(file)}); !errors.Is(err, record.ErrDamaged) {
			t.Errorf("%s damaged: %v", name, err)
		}
	}
	b := newBench(t)
	made := b.make(t, record.Request{Template: "note", Time: noon})
	delete(b.blobs.blobs, made.Document.Content)
	want(t, "the stored file gone", verdict(t, b, record.RemakeRequest{ID: made.Document.ID}), "identical; the stored bytes are lost")
	b.press.engine = "2+def"
	want(t, "gone, and another engine", verdict(t, b, record.RemakeRequest{ID: made.Document.ID}), "unknown here; the stored bytes are lost")
	b.blobs.blobs[made.Document.Content] = []byte("x")
	if _, err := b.Remake(t.Context(), record.RemakeRequest{Space: record.Local, ID: made.Document.ID}); !errors.Is(err, record.ErrDamaged) {
		t.Errorf("the stored file damaged, and another engine: %v", err)
	}
	b.press.engine = "1+abc"
	want(t, "the stored file damaged", verdict(t, b, record.RemakeRequest{ID: made.Document.ID}), "identical; the stored bytes are damaged")
	b.documents.receipts[made.Document.ID] = []byte("{}")
	if _, err := b.Remake(t.Context(), record.RemakeRequest{Space: record.Local, ID: made.Document.ID}); !errors.Is(err, record.ErrDamaged) {
		t.Errorf("the stored receipt damaged: %v", err)
	}
}

// G10: another space's documents are unknown, by id, by file and by receipt.
func TestRemakeOfAnotherSpace(t *testing.T) {
	b := newBench(t)
	made := b.make(t, record.Request{Template: "note", Time: noon})
	file := b.file(t, made.Document)
	for name, r := range map[string]record.RemakeRequest{
		"id":      {ID: made.Document.ID},
		"file":    {File: bytes.NewReader(file)},
		"receipt": {File: bytes.NewReader(file), Receipt: made.Receipt},
	} {
		r.Space = "other"
		want(t, name, verdict(t, b, r), "unknown here")
	}
	// A receipt forged to name another's snapshot in an own document opens nothing.
	r, _, err := record.ParseReceipt(made.Receipt)
	if err != nil {
		t.Fatal(err)
	}
	r.Space = "other"
	if r.Document, err = (record.Identity{Space: r.Space, Template: r.Template, Snapshot: r.Snapshot}).ID(); err != nil {
		t.Fatal(err)
	}
	forged, err := r.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	calls := b.press.calls
	want(t, "forged receipt", verdict(t, b, record.RemakeRequest{Space: "other", File: bytes.NewReader(file), Receipt: forged}), "unknown here")
	if b.press.calls != calls {
		t.Error("another's data was rendered")
	}
}

func TestRemakeRefuses(t *testing.T) {
	b := newBench(t)
	made := b.make(t, record.Request{Template: "note", Time: noon})
	broken := errors.New("the disk is gone")
	for name, c := range map[string]struct {
		r    record.RemakeRequest
		want string
	}{
		"nothing":         {record.RemakeRequest{}, "request document: want a document id or a file"},
		"another receipt": {record.RemakeRequest{ID: record.Hash{1}, Receipt: made.Receipt}, "request receipt: want that of 01000"},
		"no receipt":      {record.RemakeRequest{Receipt: []byte("{")}, "receipt: data line 1, column 2"},
		"version":         {record.RemakeRequest{Receipt: []byte(`{"receipt":2}`)}, "receipt: data receipt: want 1, got 2"},
		"types":           {record.RemakeRequest{Receipt: []byte("{\"receipt\":1,\n\"pages\":\"x\"}")}, "receipt: data line 2, column 9: pages: want an integer of 64 bits, got a string"},
		"contradiction":   {record.RemakeRequest{Receipt: bytes.Replace(made.Receipt, []byte(`"space":"local"`), []byte(`"space":"other"`), 1)}, "receipt: data document: want"},
		"file":            {record.RemakeRequest{File: seeker{iotest.ErrReader(broken)}}, "the disk is gone"},
		"file with id":    {record.RemakeRequest{ID: made.Document.ID, File: seeker{iotest.ErrReader(broken)}}, "the disk is gone"},
	} {
		c.r.Space = record.Local
		if _, err := b.Remake(t.Context(), c.r); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

type seeker struct{ io.Reader }

func (seeker) Seek(int64, int) (int64, error) { return 0, nil }

func TestTheFirstIDInAFileThatIsKnownCounts(t *testing.T) {
	packet := func(id record.Hash) string {
		return `<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><xmpMM:DocumentID>uuid:` + id.String() + `</xmpMM:DocumentID><?xpacket end="w"?>`
	}
	strange := packet(record.Sum([]byte("a")))
	bench := newBench(t)
	made := bench.make(t, record.Request{Template: "note", Time: noon})
	file := append([]byte(strange), bench.file(t, made.Document)...)
	want(t, "a strange packet in front", verdict(t, bench, record.RemakeRequest{File: bytes.NewReader(file)}), "differs at byte 0")
	want(t, "only strange packets", verdict(t, bench, record.RemakeRequest{File: strings.NewReader(strange + packet(record.Sum(nil)))}), "unknown here")
}

// Stored bytes that are damaged or lost are named beside whatever the file is, and the file made
// again takes their place when that is asked for: then they are the receipt's again.
func TestRestorePutsTheFileMadeAgainInThePlaceOfWhatIsNotWhole(t *testing.T) {
	for how, harm := range harms {
		state := map[string]string{"gone": "lost", "damaged": "damaged"}[how]
		b := newBench(t)
		made := b.make(t, record.Request{Template: "note", Time: noon})
		file := b.file(t, made.Document)
		bad := bytes.Clone(file)
		bad[70] ^= 1
		harm(b, made.Document.Content)
		commits := len(b.blobs.log)
		for name, c := range map[string]struct {
			file []byte
			want string
		}{"the stored file": {nil, "identical"}, "the file": {file, "identical"}, "another": {bad, "differs at byte 70, on page 2"}} {
			r := record.RemakeRequest{ID: made.Document.ID}
			if c.file != nil {
				r.File = bytes.NewReader(c.file)
			}
			calls := b.press.calls
			want(t, how+": "+name, verdict(t, b, r), c.want+"; the stored bytes are "+state)
			if b.press.calls != calls+1 {
				t.Errorf("%s: %s: rendered %d times, want once", how, name, b.press.calls-calls)
			}
		}
		if len(b.blobs.log) != commits || b.blobs.open != 0 {
			t.Errorf("%s: written without being asked: %q", how, b.blobs.log[commits:])
		}
		// What this engine makes is not the receipt's: nothing is put anywhere.
		b.press.engine = "2+def"
		r := record.RemakeRequest{ID: made.Document.ID, File: bytes.NewReader(file), Restore: true}
		want(t, how+": another engine", verdict(t, b, r), "intact, made by engine 1+abc; the stored bytes are "+state)
		r.File = bytes.NewReader(bad[:60]) // cut before what this engine writes in another way
		want(t, how+": another engine, another file", verdict(t, b, r), "differs at byte 60, on page 2; the stored bytes are "+state)
		b.press.engine = "1+abc"
		// Nor by a receipt that nobody here vouches for.
		r.Receipt, r.File = altered(t, made.Receipt, "engine", `"0+old"`), bytes.NewReader(file)
		if v := verdict(t, b, r); v.Stored == record.Restored || v.Stored == record.Whole {
			t.Errorf("%s, by an altered receipt: %+v", how, v)
		}
		if len(b.blobs.log) != commits || b.blobs.open != 0 {
			t.Errorf("%s: written: %q", how, b.blobs.log[commits:])
		}
		r = record.RemakeRequest{ID: made.Document.ID, File: bytes.NewReader(bad), Restore: true}
		want(t, how+": restored", verdict(t, b, r), "differs at byte 70, on page 2; the stored bytes were damaged or missing and are restored")
		if !bytes.Equal(b.file(t, made.Document), file) || b.blobs.open != 0 {
			t.Errorf("%s: the stored file is not the receipt's", how)
		}
		v := verdict(t, b, record.RemakeRequest{ID: made.Document.ID, Restore: true})
		if want(t, how+": again", v, "identical"); v.Stored != record.Whole || len(b.blobs.log) != commits+2 || b.blobs.log[commits+1] != "restored "+made.Document.ID.String() {
			t.Errorf("%s: %+v, written %q", how, v, b.blobs.log[commits:])
		}
	}
}

// A file that is judged is read once, in pieces, and need not be one that can be sought in.
func TestAFileIsJudgedAsAStream(t *testing.T) {
	b := newBench(t)
	made := b.make(t, record.Request{Template: "note", Data: []byte(`{"text":"` + strings.Repeat("x", 200_000) + `"}`), Time: noon})
	file := b.file(t, made.Document)
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"the file": {file, "identical"}, "cut": {file[:100_000], "differs at byte 100000"},
		"longer": {append(bytes.Clone(file), "more"...), "differs at byte " + itoa(len(file))},
	} {
		v := verdict(t, b, record.RemakeRequest{ID: made.Document.ID, File: iotest.OneByteReader(bytes.NewReader(c.file))})
		if want(t, name, v, c.want); v.File != record.Sum(c.file) {
			t.Errorf("%s: hash %s", name, v.File)
		}
	}
	broken := io.MultiReader(bytes.NewReader(file[:500]), iotest.ErrReader(errors.New("the line went dead")))
	if _, err := b.Remake(t.Context(), record.RemakeRequest{Space: record.Local, ID: made.Document.ID, File: broken}); err == nil || !strings.Contains(err.Error(), "went dead") {
		t.Errorf("an upload that breaks off: %v", err)
	}
}

func TestInspectNamesEveryPartThatIsNotWhole(t *testing.T) {
	for how, harm := range harms {
		for part := range parts(&record.Document{}) {
			b := newBench(t)
			d := b.make(t, record.Request{Template: "note", Time: noon}).Document
			if found, err := b.Inspect(t.Context(), d); err != nil || len(found) > 0 {
				t.Errorf("whole: %v, %v", found, err)
			}
			h := parts(d)[part]
			harm(b, h)
			found, err := b.Inspect(t.Context(), d)
			if err != nil || len(found) != 1 || found[0].Hash != h || (found[0].Stored == record.Lost) != (how == "gone") {
				t.Errorf("%s %s: %v, %v", part, how, found, err)
			}
		}
	}
}
