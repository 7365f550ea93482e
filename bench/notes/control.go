package notes

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"example.com/quire/bench/harness"
	"example.com/quire/bench/workload"
	"example.com/quire/pdf/cos"
)

// controlInput is a finished document that the control kernel works on.
type controlInput struct {
	input
	streams   [][]byte
	packed    bytes.Buffer
	sum       [sha256.Size]byte
	signature []byte
}

// control does with the standard library what no maker of the same documents can leave out: it
// deflates, at the fastest level, the streams that were made for the document alone, hashes the
// file, and signs the hash where documents are signed.
func control(k workload.NoteKind, f form) opener {
	return func(ctx context.Context, _ harness.Env) (harness.Subject, error) {
		e, err := newEngine(ctx, f)
		if err != nil {
			return nil, err
		}
		var key *ecdsa.PrivateKey
		if e.identity != nil {
			key, _ = e.identity.Key.(*ecdsa.PrivateKey)
		}
		w, err := zlib.NewWriterLevel(io.Discard, zlib.BestSpeed)
		if err != nil {
			return nil, fmt.Errorf("deflate: %w", err)
		}
		return &harness.Ops[controlInput]{
			Size: batch(k),
			Fill: func(i int, in *controlInput) error {
				in.fill(k, i)
				if err := e.produce(ctx, &in.input); err != nil {
					return err
				}
				in.streams, err = ownStreams(in.out.Bytes())
				return err
			},
			Do: func(in *controlInput) error {
				in.packed.Reset()
				for _, s := range in.streams {
					w.Reset(&in.packed)
					if _, err := w.Write(s); err != nil {
						return err
					}
					if err := w.Close(); err != nil {
						return err
					}
				}
				in.sum = sha256.Sum256(in.out.Bytes())
				if key == nil || in.kind != workload.Retail {
					return nil
				}
				var err error
				in.signature, err = ecdsa.SignASN1(rand.Reader, key, in.sum[:])
				return err
			},
			Verify: func(_ int, in *controlInput) (harness.Facts, error) {
				if len(in.streams) < in.kind.Pages() || in.packed.Len() == 0 || in.sum != sha256.Sum256(in.out.Bytes()) {
					return harness.Facts{}, fmt.Errorf("%d streams of %d pages, %d bytes", len(in.streams), in.kind.Pages(), in.packed.Len())
				}
				if key != nil && in.kind == workload.Retail && !ecdsa.VerifyASN1(&key.PublicKey, in.sum[:], in.signature) {
					return harness.Facts{}, errors.New("the signature does not hold")
				}
				return harness.Facts{OutputBytes: int64(in.packed.Len())}, nil
			},
			Checks: min(batch(k), 3),
		}, nil
	}
}

// ownStreams returns what was deflated for this document alone: contents of pages and of what is
// drawn on them, object streams and cross-references. Font files, widths of fonts, character maps,
// profiles and images, which come from caches, are not among them.
func ownStreams(file []byte) (out [][]byte, err error) {
	r, err := cos.NewReader(bytes.NewReader(file), int64(len(file)), cos.ReaderOptions{})
	if err != nil {
		return nil, err
	}
	for ref := range r.Refs() {
		o, err := r.Object(ref)
		if err != nil {
			return nil, err
		}
		s, ok := o.(*cos.Stream)
		if !ok || s.Dict.Get("Filter") == nil {
			continue
		}
		kept := false
		for _, key := range []cos.Name{"Length1", "Length2", "N", "Width", "CMapName"} {
			kept = kept || s.Dict.Get(key) != nil && s.Dict.Get("Type") != cos.Name("ObjStm")
		}
		switch s.Dict.Get("Subtype") {
		case cos.Name("CIDFontType0C"), cos.Name("Type1C"), cos.Name("OpenType"):
			kept = true
		}
		if kept {
			continue
		}
		data, _, err := r.Decode(s)
		if err != nil {
			return nil, err
		}
		if s.Dict.Get("Type") == cos.Name("ObjStm") && s.Dict.Get("N") == cos.Int(1) && bytes.Contains(data[:min(len(data), 16)], []byte("[")) {
			continue // the widths of a font, which come from a cache, too
		}
		if !bytes.HasPrefix(data, []byte("/CIDInit")) {
			out = append(out, bytes.Clone(data))
		}
	}
	return out, nil
}

// hashing hashes blocks of 256 KB by several goroutines.
func hashing(workers int) opener {
	type block struct {
		data []byte
		sum  [sha256.Size]byte
	}
	return func(context.Context, harness.Env) (harness.Subject, error) {
		return newTeam(&harness.Ops[block]{
			Size: 400,
			Fill: func(i int, in *block) error {
				if in.data == nil {
					in.data = make([]byte, 256<<10)
				}
				in.data[i%len(in.data)]++
				return nil
			},
			Do: func(in *block) error {
				in.sum = sha256.Sum256(in.data)
				return nil
			},
			Verify: func(_ int, in *block) (harness.Facts, error) {
				if in.sum == [sha256.Size]byte{} {
					return harness.Facts{}, errors.New("no sum")
				}
				return harness.Facts{}, nil
			},
		}, workers), nil
	}
}
