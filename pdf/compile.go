package pdf

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"io/fs"
	"slices"
	"sync"

	"example.com/quire/pdf/template"
)

// Compile reads a template; file is its name in diagnostics. A *DiagnosticError
// lists all its problems, not the first. Plans are kept by the SHA-256 of name
// and source, and used again only while every file they read is unchanged.
func (e *Engine) Compile(ctx context.Context, file string, src []byte) (*template.Plan, error) {
	key := planKey(file, src)
	if p := e.plans.get(key, e.files); p != nil {
		return p, nil
	}
	rec := &recorder{files: e.files}
	o := template.Options{File: file, Limits: e.limits}
	if e.files != nil {
		o.Files = rec
	}
	p, err := template.Compile(ctx, src, o)
	if err != nil {
		return nil, err
	}
	e.plans.put(key, p, rec.reads, int64(len(src)))
	return p, nil
}

// Render makes the document of a plan and data and writes it to w. Problems of
// the data, all of them, and problems of the layout are *DiagnosticError; an
// exceeded limit is a *LimitError; an error of w or ctx comes back as it is.
// After an error w holds no document.
func (e *Engine) Render(ctx context.Context, w io.Writer, p *template.Plan, data template.Data, o RenderOptions) (*Result, error) {
	limits, err := e.limits.Lower(o.Limits)
	if err != nil {
		return nil, err
	}
	d, err := p.Build(ctx, data, template.BuildOptions{Time: o.Time, Limits: limits})
	if err != nil {
		return nil, err
	}
	return e.write(ctx, w, d, o, append(slices.Clip(p.Standards()), o.Standards...))
}

func planKey(file string, src []byte) [sha256.Size]byte {
	h := sha256.New()
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(file))))
	h.Write([]byte(file))
	h.Write(src)
	return [sha256.Size]byte(h.Sum(nil))
}

// plans keeps compiled templates, oldest out first. The nil cache keeps nothing.
type plans struct {
	mu    sync.RWMutex
	max   int64
	bytes int64
	byKey map[[sha256.Size]byte]*planEntry
	order [][sha256.Size]byte
}

type planEntry struct {
	plan  *template.Plan
	reads []fileRead
	cost  int64
}

// fileRead is a file as a compilation read it.
type fileRead struct {
	name string
	sum  [sha256.Size]byte
	size int64
}

func newPlans(maxBytes int64) *plans {
	if maxBytes <= 0 {
		return nil
	}
	return &plans{max: maxBytes, byKey: map[[sha256.Size]byte]*planEntry{}}
}

// get returns a kept plan whose files are as they were.
func (c *plans) get(key [sha256.Size]byte, files fs.FS) *template.Plan {
	if c == nil {
		return nil
	}
	c.mu.RLock()
	e := c.byKey[key]
	c.mu.RUnlock()
	if e == nil {
		return nil
	}
	for i := range e.reads {
		if !e.reads[i].unchanged(files) {
			return nil
		}
	}
	return e.plan
}

// unchanged reads the file again: no time stamp proves what a file holds.
func (r *fileRead) unchanged(files fs.FS) bool {
	f, err := files.Open(r.name)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, r.size+1))
	return err == nil && n == r.size && [sha256.Size]byte(h.Sum(nil)) == r.sum
}

// planFactor is what a plan takes up for each byte of its source, about.
const planFactor = 16

func (c *plans) put(key [sha256.Size]byte, p *template.Plan, reads []fileRead, src int64) {
	if c == nil {
		return
	}
	e := &planEntry{plan: p, reads: reads, cost: src * planFactor}
	for i := range reads {
		e.cost += reads[i].size
	}
	if e.cost > c.max {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.byKey[key]; old != nil {
		c.bytes -= old.cost
		c.order = slices.DeleteFunc(c.order, func(k [sha256.Size]byte) bool { return k == key })
	}
	c.byKey[key] = e
	c.order = append(c.order, key)
	c.bytes += e.cost
	for c.bytes > c.max {
		oldest := c.order[0]
		c.order = c.order[1:]
		c.bytes -= c.byKey[oldest].cost
		delete(c.byKey, oldest)
	}
}

// recorder hands files through and notes what was read of them.
type recorder struct {
	files fs.FS
	reads []fileRead
}

// Open implements fs.FS.
func (r *recorder) Open(name string) (fs.File, error) {
	f, err := r.files.Open(name)
	if err != nil {
		return nil, err
	}
	return &recorded{File: f, rec: r, name: name, sum: sha256.New()}, nil
}

type recorded struct {
	fs.File
	rec  *recorder
	name string
	sum  hash.Hash
	size int64
	done bool
}

// Read implements fs.File.
func (f *recorded) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.sum.Write(p[:n])
	f.size += int64(n)
	if errors.Is(err, io.EOF) && !f.done {
		f.done = true
		f.rec.reads = append(f.rec.reads, fileRead{name: f.name, sum: [sha256.Size]byte(f.sum.Sum(nil)), size: f.size})
	}
	return n, err
}
