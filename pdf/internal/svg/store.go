package svg

import (
	"context"
	"slices"

	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/filecache"
)

// Store draws files and keeps what came of them: a drawing, or where it has text, which depends on
// the fonts of a document, the file that was read. It is safe for concurrent use.
type Store struct {
	kept *filecache.Cache[diag.Limits, kept]
	pack func(code []byte) ([]byte, error)
}

// kept is one of two.
type kept struct {
	file    *File
	drawing *Drawing
}

// NewStore returns an empty Store that keeps at most so many bytes. pack compresses the operators
// of a form for [Form.Packed].
func NewStore(most int64, pack func(code []byte) ([]byte, error)) *Store {
	return &Store{filecache.New[diag.Limits, kept](most), pack}
}

// Draw is [Read] and [File.Draw].
func (s *Store) Draw(ctx context.Context, data []byte, l diag.Limits, fonts Fonts) (*Drawing, error) {
	l = l.WithDefaults()
	k, err := s.kept.Get(ctx, data, l, func(data []byte) (k kept, size int64, err error) {
		if k.file, err = Read(data, l); err != nil {
			return kept{}, 0, err
		}
		d, lettered, err := k.file.draw(fonts)
		if err != nil {
			return kept{}, 0, err
		}
		if lettered {
			return k, k.file.size(), nil
		}
		size, err = s.packForm(d.Form)
		return kept{drawing: d}, size, err
	})
	if err != nil || k.drawing != nil {
		return k.drawing, err
	}
	return k.file.Draw(fonts)
}

// packForm compresses the operators of a form without text and of those that it draws, and returns
// how many bytes they take up, about.
func (s *Store) packForm(f *Form) (size int64, err error) {
	const overhead = 512
	size = overhead + int64(overhead*len(f.Gradients))
	if len(f.Ops) > 0 {
		if f.Packed, err = s.pack(f.Ops[0].Code); err != nil {
			return 0, err
		}
		size += int64(cap(f.Ops[0].Code) + cap(f.Packed))
	}
	inner := f.Forms
	for i := range f.States {
		if m := f.States[i].Mask; m != nil {
			inner = append(slices.Clip(inner), m)
		}
	}
	for _, g := range inner {
		n, err := s.packForm(g)
		if err != nil {
			return 0, err
		}
		size += n
	}
	return size, nil
}
