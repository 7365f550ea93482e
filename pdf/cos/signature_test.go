package cos_test

import (
	"bytes"
	"crypto"
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"example.com/quire/pdf/cos"
)

// signedFile writes objects and a signature of them, which is what f makes of the digest.
func signedFile(out io.Writer, o cos.Options, objects int) (cos.Summary, error) {
	w := cos.NewWriter(out, o)
	first, pages, catalog, signature := w.ReserveN(objects), w.Reserve(), w.Reserve(), w.Reserve()
	for i := range objects {
		if err := w.PutDirect(first.Plus(i), cos.Text(fmt.Sprint("object ", i))); err != nil {
			return cos.Summary{}, err
		}
	}
	if err := w.PutSignature(signature, cos.Dict{cos.E("Type", cos.Name("Sig")), cos.E("Reason", cos.Text("/ByteRange [0 1]/Contents <00>"))}); err != nil {
		return cos.Summary{}, err
	}
	if err := w.Put(pages, cos.Dict{cos.E("Type", cos.Name("Pages")), cos.E("Kids", cos.Array{}), cos.E("Count", cos.Int(0))}); err != nil {
		return cos.Summary{}, err
	}
	if err := w.Put(catalog, cos.Dict{cos.E("Type", cos.Name("Catalog")), cos.E("Pages", pages), cos.E("Signature", signature)}); err != nil {
		return cos.Summary{}, err
	}
	return w.Close(cos.Trailer{Root: catalog})
}

// TestSignatureCoversAllButItself: the byte range is the file without the value of Contents, whose
// digest by each function is what is signed; the hash and the identifier are as those of files that
// are not signed, and the file is read.
func TestSignatureCoversAllButItself(t *testing.T) {
	for _, objects := range []int{0, 10, 20_000} { // the last with cross-reference data of many times the buffer
		for _, hash := range []crypto.Hash{crypto.SHA256, crypto.SHA384, crypto.SHA512} {
			var out bytes.Buffer
			var digest []byte
			sum, err := signedFile(&out, cos.Options{Signature: &cos.Signature{Hash: hash, Room: 100, Sign: func(d []byte) ([]byte, error) {
				digest = bytes.Clone(d)
				return d, nil
			}}}, objects)
			if err != nil {
				t.Fatal(err)
			}
			b := out.Bytes()
			all := regexp.MustCompile(`/ByteRange \[0 (\d+) (\d+) (\d+) *\]/Contents <([0-9a-f]+)>>>`).FindAllSubmatchIndex(b, -1)
			if len(all) != 1 {
				t.Fatalf("%d objects, %v: %d signatures", objects, hash, len(all))
			}
			number := func(i int) int {
				n, _ := strconv.Atoi(string(b[all[0][2*i]:all[0][2*i+1]]))
				return n
			}
			before, after, rest := number(1), number(2), number(3)
			if from, to := all[0][8]-1, all[0][9]+1; before != from || after != to || after+rest != len(b) {
				t.Errorf("%d objects, %v: range %d %d %d, contents from %d to %d of %d", objects, hash, before, after, rest, from, to, len(b))
			}
			h := hash.New()
			h.Write(b[:before])
			h.Write(b[after:])
			if !bytes.Equal(h.Sum(nil), digest) {
				t.Errorf("%d objects, %v: another digest was signed", objects, hash)
			}
			if got := string(b[all[0][8]:all[0][9]]); got != fmt.Sprintf("%x", digest)+strings.Repeat("0", 200-2*len(digest)) {
				t.Errorf("%d objects, %v: contents %s", objects, hash, got)
			}
			at := bytes.LastIndex(b[:before], []byte(" 0 obj"))
			at = bytes.LastIndexByte(b[:at], '\n') + 1
			if id := sha256.Sum256(b[:at]); sum.SHA256 != sha256.Sum256(b) || sum.ID != [16]byte(id[:16]) || sum.Size != int64(len(b)) {
				t.Errorf("%d objects, %v: the summary is not that of the file", objects, hash)
			}
			r, err := cos.NewReader(bytes.NewReader(b), int64(len(b)), cos.ReaderOptions{})
			if err != nil {
				t.Fatalf("%d objects, %v: %v", objects, hash, err)
			}
			if w := r.Warnings(); len(w) > 0 {
				t.Errorf("%d objects, %v: %v", objects, hash, w)
			}
		}
	}
}

// TestBlanks: as many as are asked for, behind what is there, whatever the memory held before.
func TestBlanks(t *testing.T) {
	for n := range 70 {
		room := bytes.Repeat([]byte{'x'}, 40)
		if got, want := string(cos.AppendBlanks(room[:3], '.', n)), "xxx"+strings.Repeat(".", n); got != want {
			t.Errorf("%d blanks: %q", n, got)
		}
	}
}

// TestWriterOfASignedFileIsUsedAgain for one that is not signed, and the other way round.
func TestWriterOfASignedFileIsUsedAgain(t *testing.T) {
	var plain, signed, again bytes.Buffer
	write := func(w *cos.Writer, sign bool) {
		root := w.Reserve()
		if err := w.Put(root, cos.Dict{cos.E("Type", cos.Name("Catalog"))}); err != nil {
			t.Fatal(err)
		}
		if sign {
			if err := w.PutSignature(w.Reserve(), nil); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Close(cos.Trailer{Root: root}); err != nil {
			t.Fatal(err)
		}
	}
	w := cos.NewWriter(&plain, cos.Options{})
	write(w, false)
	w.Reset(&signed, cos.Options{Signature: &cos.Signature{Hash: crypto.SHA512, Room: sha512.Size, Sign: func(d []byte) ([]byte, error) { return d, nil }}})
	write(w, true)
	w.Reset(&again, cos.Options{})
	write(w, false)
	if !bytes.Equal(plain.Bytes(), again.Bytes()) || !bytes.Contains(signed.Bytes(), []byte("/ByteRange [0 ")) {
		t.Errorf("%q\n%q\n%q", plain.Bytes(), signed.Bytes(), again.Bytes())
	}
}

// TestSignaturesThatCannotBe end the writer.
func TestSignaturesThatCannotBe(t *testing.T) {
	broken := errors.New("no key")
	good := func([]byte) ([]byte, error) { return nil, nil }
	sig := func(f func([]byte) ([]byte, error)) *cos.Signature {
		return &cos.Signature{Hash: crypto.SHA256, Room: 4, Sign: f}
	}
	for name, x := range map[string]struct {
		o    cos.Options
		want string
	}{
		"none is asked for": {cos.Options{}, "no signature"},
		"too long":          {cos.Options{Signature: sig(func(d []byte) ([]byte, error) { return d, nil })}, "a signature of 32 bytes, and room for 4"},
		"no key":            {cos.Options{Signature: sig(func([]byte) ([]byte, error) { return nil, broken })}, "no key"},
		"larger than most":  {cos.Options{Signature: sig(good), Limits: cos.Limits{OutputBytes: 700}}, "OutputBytes"},
	} {
		var out bytes.Buffer
		_, err := signedFile(&out, x.o, 10)
		if err == nil || !strings.Contains(err.Error(), x.want) || bytes.Contains(out.Bytes(), []byte("%%EOF")) {
			t.Errorf("%s: %v, %q", name, err, out.Bytes())
		}
	}
	w := cos.NewWriter(io.Discard, cos.Options{Signature: sig(good)})
	root := w.Reserve()
	if err := w.Put(root, cos.Dict{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(cos.Trailer{Root: root}); err == nil || !strings.Contains(err.Error(), "no dictionary of the signature") {
		t.Errorf("no dictionary: %v", err)
	}
}
