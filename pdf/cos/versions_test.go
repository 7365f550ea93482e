package cos_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/diag"
)

// TestVersionsSayTheirNames: each version has its header, and PDF 1.4 and classic files of others
// have what PDF 1.4 knows alone: a table of all offsets, and no object streams.
func TestVersionsSayTheirNames(t *testing.T) {
	for _, o := range []cos.Options{
		{Version: cos.V14},
		{Version: cos.V15},
		{Version: cos.V16},
		{Version: cos.V17},
		{Version: cos.V20},
		{Version: cos.V15, Classic: true},
		{Version: cos.V20, Classic: true},
	} {
		var b bytes.Buffer
		sum := writeSample(t, &b, o, 30)
		if !bytes.HasPrefix(b.Bytes(), []byte("%PDF-"+o.Version.String()+"\n")) {
			t.Errorf("%s: header %q", o.Version, b.Bytes()[:9])
		}
		streams := bytes.Contains(b.Bytes(), []byte("/ObjStm")) && bytes.Contains(b.Bytes(), []byte("/XRef"))
		classic := o.Classic || o.Version == cos.V14
		if streams == classic || classic != bytes.Contains(b.Bytes(), []byte("\ntrailer\n")) {
			t.Errorf("%s, classic %t: object streams %t", o.Version, classic, streams)
		}
		if !classic {
			continue
		}
		rows := regexp.MustCompile(`(\d{10}) (\d{5}) ([fn]) \n`).FindAllSubmatch(b.Bytes(), -1)
		if len(rows) != sum.Objects+1 || string(rows[0][0]) != "0000000000 65535 f \n" {
			t.Errorf("%s: %d rows of %d objects, first %q", o.Version, len(rows), sum.Objects, rows[0][0])
		}
		for num, row := range rows[1:] {
			at, _ := strconv.Atoi(string(row[1]))
			if want := fmt.Sprintf("%d 0 obj\n", num+1); !bytes.HasPrefix(b.Bytes()[at:], []byte(want)) {
				t.Fatalf("%s: object %d is not at %d", o.Version, num+1, at)
			}
		}
		if _, err := cos.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()), cos.ReaderOptions{Strict: true}); err != nil {
			t.Errorf("%s: %v", o.Version, err)
		}
	}
}

// TestLimitsOfOlderVersions: what PDF 1.4 has no room for is refused where it arises (ISO 19005-1,
// 6.1.12).
func TestLimitsOfOlderVersions(t *testing.T) {
	var wide cos.Dict
	for i := range 4096 {
		wide = append(wide, cos.E(cos.Name(strconv.Itoa(i)), cos.Int(i)))
	}
	for name, o := range map[string]cos.Object{
		"ArrayLen": slices.Repeat(cos.Array{cos.Int(1)}, 8192), "DictLen": wide, "StringBytes": cos.String(make([]byte, 65_536)),
		"Real": cos.Array{cos.Decimal{Mantissa: -3_276_800, Scale: 2}}, "NameBytes": cos.Name(bytes.Repeat([]byte{'a'}, 128)),
	} {
		w := cos.NewWriter(io.Discard, cos.Options{Version: cos.V14})
		err := w.Put(w.Reserve(), o)
		if e, ok := errors.AsType[*diag.LimitError](err); !ok || e.Name != name {
			t.Errorf("%s: %v", name, err)
		}
		if w.Reset(io.Discard, cos.Options{}); name != "NameBytes" && w.Put(w.Reserve(), o) != nil {
			t.Errorf("%s: refused in PDF 2.0: %v", name, w.Err())
		}
	}
	w := cos.NewWriter(io.Discard, cos.Options{Version: cos.V14})
	if err := w.Put(w.Reserve(), w.Arena().Fixed(32_768*cos.FixedUnit)); !errors.Is(err, diag.ErrLimit) {
		t.Errorf("a length of the arena: %v", err)
	}
}

type plainCipher struct{}

func (plainCipher) Encrypt(dst, data []byte) ([]byte, error) { return append(dst, data...), nil }

func (plainCipher) Reader(data io.Reader, size int64) (io.Reader, int64, error) {
	return data, size, nil
}

// TestClassicFilesAreNotEncrypted: strings of PutRaw would stay readable in them.
func TestClassicFilesAreNotEncrypted(t *testing.T) {
	w := cos.NewWriter(io.Discard, cos.Options{Classic: true, Encrypt: &cos.Encryption{Cipher: plainCipher{}}})
	if err := w.PutRaw(w.Reserve(), []byte("(clear)")); err == nil || w.Offset() > 20 {
		t.Errorf("no error, %d bytes", w.Offset())
	}
}
