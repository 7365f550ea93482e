package pdf

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"

	"example.com/quire/pdf/template"
)

// sum is a SHA-256.
type sum = [sha256.Size]byte

// summer is a file system that knows the hashes of its files.
type summer interface {
	Sum(name string) (sha256 [sha256.Size]byte, known bool)
}

// planKey hashes name and text of a template.
func planKey(src *Source) sum {
	text, known := sum{}, false
	if s, ok := src.Files.(summer); ok {
		text, known = s.Sum(src.File)
	}
	if !known {
		text = sha256.Sum256(src.Text)
	}
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 128), uint64(len(src.File)))
	b = append(b, src.File...)
	return sha256.Sum256(append(b, text[:]...))
}

// plans keeps compiled templates. Those not used for long go first. The nil cache keeps
// nothing.
type plans struct {
	mu    sync.RWMutex
	max   int64
	bytes int64
	byKey map[sum][]*planEntry // of one text, each with other files
	order []*planEntry         // the next to go in front, unless it was used
}

type planEntry struct {
	key   sum
	plan  *template.Plan
	reads []fileRead
	cost  int64
	used  atomic.Bool // since it was looked at last
}

// fileRead is a file as a compilation read it.
type fileRead struct {
	name string
	sum  sum
	size int64
}

func newPlans(maxBytes int64) *plans {
	if maxBytes <= 0 {
		return nil
	}
	return &plans{max: maxBytes, byKey: map[sum][]*planEntry{}}
}

// get returns a kept plan whose files are as they were.
func (c *plans) get(key sum, files fs.FS) *template.Plan {
	if c == nil {
		return nil
	}
	c.mu.RLock()
	entries := c.byKey[key]
	c.mu.RUnlock()
	for _, e := range entries {
		if !slices.ContainsFunc(e.reads, func(r fileRead) bool { return !r.unchanged(files) }) {
			e.used.Store(true)
			return e.plan
		}
	}
	return nil
}

// unchanged asks for the file's hash, or reads it again: no time stamp proves what a file
// holds.
func (r *fileRead) unchanged(files fs.FS) bool {
	if s, ok := files.(summer); ok {
		if have, known := s.Sum(r.name); known {
			return have == r.sum
		}
	}
	if files == nil {
		return false
	}
	f, err := files.Open(r.name)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, r.size+1))
	return err == nil && n == r.size && sum(h.Sum(nil)) == r.sum
}

// planFactor is what a plan takes up for each byte of its source, about.
const planFactor = 16

func (c *plans) put(key sum, p *template.Plan, reads []fileRead, src int64) {
	if c == nil {
		return
	}
	e := &planEntry{key: key, plan: p, reads: reads, cost: src * planFactor}
	for i := range reads {
		e.cost += reads[i].size
	}
	if e.cost > c.max {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.ContainsFunc(c.byKey[key], func(have *planEntry) bool { return slices.Equal(have.reads, reads) }) {
		return // compiled by somebody else meanwhile: the same plan
	}
	c.byKey[key] = append(slices.Clip(c.byKey[key]), e)
	c.order = append(c.order, e)
	for c.bytes += e.cost; c.bytes > c.max; {
		first := c.order[0]
		c.order = c.order[1:]
		if first.used.Swap(false) {
			c.order = append(c.order, first)
			continue
		}
		c.drop(first)
	}
}

// drop lets a plan go.
func (c *plans) drop(e *planEntry) {
	c.bytes -= e.cost
	left := slices.DeleteFunc(slices.Clone(c.byKey[e.key]), func(x *planEntry) bool { return x == e })
	if len(left) == 0 {
		delete(c.byKey, e.key)
		return
	}
	c.byKey[e.key] = left
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

// ReadDir implements fs.ReadDirFS: a file that is missing has names near to its own.
func (r *recorder) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(r.files, name) }

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
		f.rec.reads = append(f.rec.reads, fileRead{name: f.name, sum: sum(f.sum.Sum(nil)), size: f.size})
	}
	return n, err
}
