package cos

import (
	"errors"
	"io"
	"strings"

	"example.com/quire/pdf/internal/diag"
)

// Raw returns the data of a stream as the file has it, decrypted, its filters not undone.
func (r *Reader) Raw(s *Stream) ([]byte, error) { return r.RawInto(nil, s) }

// RawInto is Raw for callers that copy many streams: the result may use the memory of buf, if that
// is large enough.
func (r *Reader) RawInto(buf []byte, s *Stream) ([]byte, error) {
	if most := r.opt.Limits.StreamBytes; s.size > most {
		return nil, limitError("StreamBytes", s.size, most, place(s.Ref, s.at))
	}
	if s.size <= 0 {
		return nil, nil
	}
	b, err := r.bytesInto(buf, s.at, s.size)
	if err != nil || r.cipher == nil {
		return b, err
	}
	if kind, _ := s.Dict.Get("Type").(Name); kind == "XRef" { // never encrypted (7.5.8.2)
		return b, nil
	}
	names, parms, err := r.filters(s)
	if err != nil {
		return nil, err
	}
	own := ""
	for i, n := range names {
		if n == "Crypt" {
			name, _ := parms[i].Get("Name").(Name)
			if own = string(name); own == "" {
				own = "Identity"
			}
		}
	}
	if kind, _ := s.Dict.Get("Type").(Name); kind == "Metadata" && own == "" {
		own = "Metadata" // which may be left plain
	}
	b, err = r.cipher.DecryptStream(s.Ref.Num, s.Ref.Gen, own, b)
	if err != nil {
		return nil, &ReadError{Ref: s.Ref, Offset: s.at, Reason: err.Error()}
	}
	return b, nil
}

// RawReader returns what reads the data of a stream as the file has it, [Stream.Size] bytes, which
// are not decrypted.
func (r *Reader) RawReader(s *Stream) (*io.SectionReader, error) {
	if most := r.opt.Limits.StreamBytes; s.size > most {
		return nil, limitError("StreamBytes", s.size, most, place(s.Ref, s.at))
	}
	return io.NewSectionReader(section{r}, s.at, s.size), nil
}

// section reads the file with errors that name the offset.
type section struct{ r *Reader }

// ReadAt implements io.ReaderAt.
func (s section) ReadAt(p []byte, at int64) (int, error) {
	b, err := s.r.bytesInto(p, at, int64(len(p)))
	if err == nil && len(b) < len(p) {
		err = io.EOF
	}
	return len(b), err
}

// RawStart returns how the data of a stream begins, n bytes at the most where the file is not
// encrypted, else all of it.
func (r *Reader) RawStart(s *Stream, n int64) ([]byte, error) {
	if r.cipher != nil || s.size <= n {
		return r.Raw(s)
	}
	return r.bytes(s.at, n)
}

// filters returns the filters of a stream with the parameters of each.
func (r *Reader) filters(s *Stream) (names []Name, parms []Dict, err error) {
	list := func(key, short Name) Array {
		o := s.Dict.Get(key)
		if o == nil {
			o = s.Dict.Get(short)
		}
		v, fault := r.Resolve(o)
		err = errors.Join(err, fault)
		if a, ok := v.(Array); ok {
			return a
		}
		if v == nil || v == Object(Null{}) {
			return nil
		}
		return Array{v}
	}
	filters, options := list("Filter", "F"), list("DecodeParms", "DP")
	if err != nil {
		return nil, nil, err
	}
	if len(filters) > r.opt.Limits.Filters {
		return nil, nil, limitError("Filters", int64(len(filters)), int64(r.opt.Limits.Filters), place(s.Ref, s.at))
	}
	for i, f := range filters {
		o, err := r.Resolve(f)
		if err != nil {
			return nil, nil, err
		}
		n, _ := o.(Name)
		var d Dict
		if i < len(options) {
			if d, err = r.Dict(options[i]); err != nil {
				return nil, nil, err
			}
			for j := range d {
				if d[j].Value, err = r.Resolve(d[j].Value); err != nil {
					return nil, nil, err
				}
			}
		}
		names, parms = append(names, filterName(n)), append(parms, d)
	}
	return names, parms, nil
}

// Decode returns the data of a stream with its filters undone (7.4), up to the first one of an
// image format, which rest then begins with.
func (r *Reader) Decode(s *Stream) (data []byte, rest []Name, err error) {
	names, parms, err := r.filters(s)
	if err != nil {
		return nil, nil, err
	}
	var buf []byte
	again := len(names) > 0 && names[0] == FlateDecode // what comes of it is no part of the raw data
	if again {
		buf, r.memory.raw = r.memory.raw, nil
	}
	raw, err := r.RawInto(buf, s)
	if err != nil {
		return nil, nil, err
	}
	data, rest, total, err := r.undo(s, names, parms, raw)
	if again && cap(raw) <= keptRaw {
		r.memory.raw = raw
	}
	if err != nil {
		return nil, nil, err
	}
	if !r.counted[s.at] {
		r.counted[s.at] = true
		if err := r.count(total); err != nil {
			return nil, nil, err
		}
	}
	return data, rest, nil
}

// DecodeInline is Decode for an image in a content stream, which counts each time.
func (r *Reader) DecodeInline(i InlineImage) (data []byte, rest []Name, err error) {
	s := &Stream{Dict: i.Dict, at: -1}
	names, parms, err := r.filters(s)
	if err != nil {
		return nil, nil, err
	}
	data, rest, total, err := r.undo(s, names, parms, i.Data)
	if err != nil {
		return nil, nil, err
	}
	return data, rest, r.count(total)
}

// undo undoes filters; total is how many bytes all of them gave.
func (r *Reader) undo(s *Stream, names []Name, parms []Dict, data []byte) (_ []byte, rest []Name, total int64, err error) {
	total = int64(len(data))
	for i, n := range names {
		if imageFilter(n) {
			return data, names[i:], total, nil
		}
		limit := r.opt.Limits.StreamBytes
		if !r.counted[s.at] {
			limit = min(limit, max(r.opt.Limits.DecodedBytes-r.decoded-total, 0))
		}
		var odd string
		data, odd, err = unfilter(n, parms[i], data, limit)
		if bad, ok := errors.AsType[syntaxError](err); ok {
			return nil, nil, 0, &ReadError{Ref: s.Ref, Offset: s.at, Reason: string(bad)}
		}
		if over, ok := errors.AsType[*diag.LimitError](err); ok {
			over.Place = strings.TrimSpace(place(s.Ref, s.at))
		}
		if err != nil {
			return nil, nil, 0, err
		}
		if odd != "" {
			r.warn(s.Ref, s.at, odd)
		}
		total += int64(len(data))
	}
	return data, nil, total, nil
}
