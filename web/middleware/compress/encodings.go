package compress

import (
	"bytes"
	"fmt"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"example.com/quire/web/frozen"
)

// Encodings returns a body in the codings that a frozen.EntrySpec takes: zstd and gzip at their
// strongest levels, for it is done once. The same body gives the same bytes each time. Codings that
// save too little are left out by frozen.Build.
func Encodings(body []byte) ([]frozen.Encoding, error) {
	// A client need not accept a window above 8 MiB (RFC 9659). Several goroutines would cut the
	// input where their number has them.
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(8<<20), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("make zstd encoder: %w", err)
	}
	var b bytes.Buffer
	g, err := gzip.NewWriterLevel(&b, gzip.BestCompression) // its head has no time
	if err != nil {
		return nil, fmt.Errorf("make gzip encoder: %w", err)
	}
	if _, err := g.Write(body); err != nil {
		return nil, fmt.Errorf("compress with gzip: %w", err)
	}
	if err := g.Close(); err != nil {
		return nil, fmt.Errorf("compress with gzip: %w", err)
	}
	return []frozen.Encoding{{Name: "zstd", Body: z.EncodeAll(body, nil)}, {Name: "gzip", Body: b.Bytes()}}, nil
}
