package crypt

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"math/rand/v2"
	"testing"
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
