package crypt

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"
)

// open is what a reader does (algorithm 2.A): it returns the key of the document when the password
// is the owner's or the user's. It is written from the standard, beside the code that it judges.
func open(h *Handler, password string) ([]byte, bool) {
	p := []byte(password)
	unwrap := func(by, key []byte) []byte {
		block, err := aes.NewCipher(by)
		if err != nil {
			panic(err)
		}
		out := make([]byte, 32)
		cipher.NewCBCDecrypter(block, make([]byte, 16)).CryptBlocks(out, key)
		return out
	}
	if bytes.Equal(hash(p, h.O[32:40], h.U), h.O[:32]) {
		return unwrap(hash(p, h.O[40:48], h.U), h.OE), true
	}
	if bytes.Equal(hash(p, h.U[32:40], nil), h.U[:32]) {
		return unwrap(hash(p, h.U[40:48], nil), h.UE), true
	}
	return nil, false
}

func TestPasswordsUnlockTheKey(t *testing.T) {
	for seed := range byte(50) {
		h, err := New(Options{Owner: "owner", User: "user", Permissions: Print, PlainMetadata: seed%2 == 0}, rand.NewChaCha8([32]byte{seed}))
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := open(h, "other"); ok {
			t.Error("another password opens it")
		}
		for _, password := range []string{"owner", "user"} {
			key, ok := open(h, password)
			if !ok {
				t.Fatalf("seed %d: %s does not open it", seed, password)
			}
			block, err := aes.NewCipher(key)
			if err != nil {
				t.Fatal(err)
			}
			var perms [16]byte
			block.Decrypt(perms[:], h.Perms)
			metadata := byte('T')
			if seed%2 == 0 {
				metadata = 'F'
			}
			if string(perms[9:12]) != "adb" || perms[8] != metadata || int32(binary.LittleEndian.Uint32(perms[:])) != h.P { //nolint:gosec // the bits are meant
				t.Errorf("seed %d: Perms %q, P %d", seed, perms, h.P)
			}
			for _, text := range []string{"", "short", "exactly16 bytes.", "longer than sixteen bytes"} {
				enc, err := h.Encrypt([]byte("before"), []byte(text))
				if err != nil || !bytes.HasPrefix(enc, []byte("before")) {
					t.Fatal(err)
				}
				enc = enc[6:]
				cipher.NewCBCDecrypter(block, enc[:16]).CryptBlocks(enc[16:], enc[16:])
				if got := enc[16 : len(enc)-int(enc[len(enc)-1])]; string(got) != text {
					t.Errorf("%q comes back as %q", text, got)
				}
			}
		}
	}
}

// TestReaderEncryptsAlike: what is read encrypted are the bytes of Encrypt, however much is read at
// once.
func TestReaderEncryptsAlike(t *testing.T) {
	data := make([]byte, 1<<12)
	_, _ = rand.NewChaCha8([32]byte{2}).Read(data)
	rng := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test
	handler := func() *Handler {
		h, err := New(Options{Owner: "owner"}, rand.NewChaCha8([32]byte{1}))
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	one, other := handler(), handler()
	for _, n := range []int{0, 1, 15, 16, 17, 31, 32, 33, 100, 160, 1000, 1 << 12} {
		for _, reader := range []func(io.Reader) io.Reader{
			func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader,
		} {
			want, err := one.Encrypt(nil, data[:n])
			if err != nil {
				t.Fatal(err)
			}
			r, size, err := other.Reader(reader(bytes.NewReader(data[:n])), int64(n))
			if err != nil {
				t.Fatal(err)
			}
			var got []byte
			for p := make([]byte, 100); err == nil; {
				k := 0
				k, err = r.Read(p[:1+rng.IntN(len(p))])
				got = append(got, p[:k]...)
			}
			if !errors.Is(err, io.EOF) || !bytes.Equal(got, want) || size != int64(len(want)) {
				t.Errorf("%d bytes: %d are read, of %d that are told, want %d: %v", n, len(got), size, len(want), err)
			}
		}
	}
	for _, n := range []int{0, 5, 16, 30} {
		r, _, err := one.Reader(bytes.NewReader(data[:n]), 40)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(r); err == nil {
			t.Errorf("%d bytes instead of 40 are enough", n)
		}
	}
}

// TestPasswordsAreNormalised: a password is the same however its letters are composed (RFC 4013).
func TestPasswordsAreNormalised(t *testing.T) {
	h, err := New(Options{Owner: "owner", User: "pa\u0308ss\u00AD"}, rand.NewChaCha8([32]byte{1}))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := open(h, "pä"+"ss"); !ok {
		t.Error("the composed form does not open it")
	}
}
