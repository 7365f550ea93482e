package edit

import (
	"context"
	"io"
	"maps"
	"slices"
	"sync"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/diag"
)

// MayUpdate returns the error of appending to a file that an incremental update is not for.
func (d *Document) MayUpdate() error {
	switch {
	case d.Encrypted():
		return &OptionError{Field: "file", Got: "an encrypted file", Want: "a plain one; decrypt it first"}
	case d.Repaired():
		return &OptionError{Field: "file", Got: "a damaged file, which was repaired to be read", Want: "an undamaged one; rewrite it first, with metadata or reorder"}
	}
	return nil
}

// update returns what is appended to the file of a draft: the objects that were changed or added,
// and what they lead to of other documents. Of those that are added first gets its number first.
func (e *Draft) update(ctx context.Context, deflater cos.Deflater, most int64, first cos.Ref) ([]byte, error) {
	if err := e.base.MayUpdate(); err != nil {
		return nil, err
	}
	buf, _ := updates.Get().(*[]byte)
	if buf == nil {
		buf = new(slices.Grow([]byte(nil), updateBytes))
	}
	u, err := cos.NewUpdate(e.base.Reader, deflater, *buf)
	if err != nil {
		return nil, err
	}
	c := copier{e: e, w: u, to: map[uint32]cos.Ref{}, keeps: true}
	changed := slices.AppendSeq(make([]uint32, 0, len(e.over)), maps.Keys(e.over))
	slices.Sort(changed)
	for _, num := range changed {
		if num >= span {
			break
		}
		r := cos.Ref{Num: num}
		c.to[num] = r
		c.queue = append(c.queue, r)
	}
	root, info := c.ref(e.root), cos.Ref{}
	if !e.info.IsZero() {
		info = c.ref(e.info)
	}
	c.ref(first)
	for i := 0; i < len(c.queue); i++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := c.copy(c.queue[i]); err != nil {
			return nil, err
		}
		if err := diag.Check("OutputBytes", e.base.Size+int64(len(u.Bytes())), most, ""); err != nil {
			return nil, err
		}
	}
	if e.err != nil {
		return nil, e.err
	}
	return u.Close(root, info)
}

// updates are memory that updates are gathered in, which Release gives back.
var updates sync.Pool

// The memory that an update begins with, enough for a signature, and how much is kept of one.
const (
	updateBytes     = 4 << 10
	mostUpdateBytes = 64 << 10
)

// appended is a file with bytes behind it.
type appended struct {
	file io.ReaderAt
	size int64
	more []byte
}

// ReadAt implements io.ReaderAt.
func (a *appended) ReadAt(p []byte, at int64) (n int, err error) {
	if at < a.size {
		n, err = a.file.ReadAt(p[:min(int64(len(p)), a.size-at)], at)
		if n == len(p) || at+int64(n) < a.size {
			return n, err
		}
	}
	k := copy(p[n:], a.more[min(at+int64(n)-a.size, int64(len(a.more))):])
	if n += k; n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
