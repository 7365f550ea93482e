package cos_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"example.com/quire/pdf/cos"
)

// shout is a cipher that everybody can read.
type shout struct{}

func (shout) Encrypt(dst, data []byte) ([]byte, error) {
	return append(append(append(dst, '['), bytes.ToUpper(data)...), ']'), nil
}

func (c shout) Reader(data io.Reader, size int64) (io.Reader, int64, error) {
	return io.MultiReader(strings.NewReader("["), upper{data}, strings.NewReader("]")), size + 2, nil
}

// upper reads letters as capitals.
type upper struct{ r io.Reader }

func (u upper) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	copy(p, bytes.ToUpper(p[:n]))
	return n, err //nolint:wrapcheck // a test
}

// TestStringsOfEncryptedFiles: every kind of string of an object outside object streams goes
// through the cipher as the bytes it stands for; the encryption dictionary and the trailer stay.
func TestStringsOfEncryptedFiles(t *testing.T) {
	var out bytes.Buffer
	w := cos.NewWriter(&out, cos.Options{Encrypt: &cos.Encryption{Cipher: shout{}, Dict: cos.Dict{cos.E("Filter", cos.Name("Standard")), cos.E("O", cos.String("plain"))}, PlainMetadata: true}})
	root, data, meta := w.Reserve(), w.Reserve(), w.Reserve()
	_ = w.PutDirect(root, cos.Dict{cos.E("A", cos.Array{
		cos.String("a(\\\r\n)b"), cos.Hex("hex"), cos.Text("text"), cos.Text("ž"), cos.Date(time.Unix(0, 0).UTC()), cos.Int(1),
	})})
	_ = w.EncodedStream(data, cos.Dict{cos.E("S", cos.String("s"))}, "", []byte("stream"))
	_ = w.EncodedStream(meta, cos.Dict{cos.E("Type", cos.Name("Metadata"))}, "", []byte("metadata"))
	if _, err := w.Close(cos.Trailer{Root: root}); err != nil {
		t.Fatal(err)
	}
	hex := func(s string) string { return string(cos.AppendHex(nil, s)) }
	got := out.String()
	for _, want := range []string{
		hex("[A(\\\r\n)B]"), hex("[HEX]"), hex("[TEXT]"), hex("[" + string(bytes.ToUpper([]byte("\xFE\xFF\x01\x7E"))) + "]"), hex("[D:19700101000000Z]"), ">1]",
		"/S<" + hex("[S]")[1:], "[STREAM]", "stream\nmetadata\n", "/O(plain)", "/Encrypt 4 0 R",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the file has no %q:\n%q", want, got)
		}
	}
}

// TestCipherThatFails ends the file.
func TestCipherThatFails(t *testing.T) {
	w := cos.NewWriter(io.Discard, cos.Options{Encrypt: &cos.Encryption{Cipher: broken{}}})
	if err := w.EncodedStream(w.Reserve(), nil, "", []byte("x")); err == nil {
		t.Error("no error")
	}
	if err := w.Err(); err == nil {
		t.Error("the writer goes on")
	}
	w.Reset(io.Discard, cos.Options{Encrypt: &cos.Encryption{Cipher: broken{}}})
	if err := w.CopyStreamFrom(w.Reserve(), nil, strings.NewReader("x"), 1); err == nil || w.Err() == nil {
		t.Errorf("read: %v, then %v", err, w.Err())
	}
}

type broken struct{}

func (broken) Encrypt([]byte, []byte) ([]byte, error) { return nil, io.ErrUnexpectedEOF }

func (broken) Reader(io.Reader, int64) (io.Reader, int64, error) { return nil, 0, io.ErrUnexpectedEOF }
