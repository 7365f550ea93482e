package machine

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/hex"
	"os/exec"
	"strings"
	"testing"

	"example.com/quire/internal/judgetest"
	"example.com/quire/psrp/clixml"
)

func testKey() *sessionKey {
	k := &sessionKey{key: make([]byte, keySize)}
	for i := range k.key {
		k.key[i] = byte(i)
	}
	return k
}

func TestSecureStringVectors(t *testing.T) {
	for text, want := range map[string]string{"secret": "S334a8QlmSodVmrjeFWBOw==", "Pä55wörd€": "CwKhD/tq/Cy8i/TstpEI62TAitIHIsKh54sIIz7pWus=", "": "nzt1BJJvi9NuMRjpA6TNSg=="} { //nolint:gosec // G101: published vectors
		e := clixml.Encoder{Cipher: testKey()}
		got, err := e.AppendValue(nil, clixml.NewSecureString(text).Value())
		if err != nil || string(got) != "<SS>"+want+"</SS>" {
			t.Errorf("%q is written %s, %v", text, got, err)
		}
		d := clixml.Decoder{Cipher: testKey()}
		v, err := d.Decode(got)
		if err != nil {
			t.Fatal(err)
		}
		s, _ := v.SecureString()
		if back, ok := s.Reveal(); !ok || back != text {
			t.Errorf("%q is read back as %q", text, back)
		}
	}
	for text, want := range map[string]string{"pw": "<SS>cAB3AA==</SS>", "": "<SS></SS>"} { //nolint:gosec // G101: published vectors
		e := clixml.Encoder{Cipher: clearCipher{}}
		if got, err := e.AppendValue(nil, clixml.NewSecureString(text).Value()); err != nil || string(got) != want {
			t.Errorf("%q is written %s by 2.4, %v", text, got, err)
		}
	}
	d := clixml.Decoder{Cipher: testKey()}
	for _, bad := range []string{"<SS>AAAA</SS>", "<SS></SS>", "<SS>AAAAAAAAAAAAAAAAAAAAAA==</SS>"} {
		if v, err := d.Decode([]byte(bad)); err == nil {
			t.Errorf("%s is read as %v", bad, v)
		}
	}
}

// TestCipherAgreesWithOpenSSL asks an independent AES.
func TestCipherAgreesWithOpenSSL(t *testing.T) {
	openssl := judgetest.Program(t, "openssl", "apt-get install openssl")
	k := testKey()
	for n := range 100 {
		text := make([]byte, n*3)
		if _, err := rand.Read(text); err != nil {
			t.Fatal(err)
		}
		got, err := k.Encrypt(nil, text)
		if err != nil {
			t.Fatal(err)
		}
		if n%10 != 0 {
			if back, err := k.Decrypt(nil, got); err != nil || !bytes.Equal(back, text) {
				t.Fatalf("%x is read back as %x, %v", text, back, err)
			}
			continue
		}
		cmd := exec.CommandContext(t.Context(), openssl, "enc", "-aes-256-cbc", "-K", hex.EncodeToString(k.key), "-iv", strings.Repeat("0", 32)) //nolint:gosec // G204: a judge
		cmd.Stdin = bytes.NewReader(text)
		want, err := cmd.Output()
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%x is %x, openssl says %x, %v", text, got, want, err)
		}
	}
}

func TestKeyBlobsAreLittleEndian(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	blob, err := publicKeyBlob(&key.PublicKey)
	if err != nil || len(blob) != 276 || !strings.HasPrefix(base64.StdEncoding.EncodeToString(blob), "BgIAAACkAABSU0ExAAgAAAEAAQ") {
		t.Fatalf("%d bytes %x, %v", len(blob), blob[:20], err)
	}
	if n := key.N.Bytes(); blob[275] != n[0] || blob[20] != n[len(n)-1] {
		t.Error("the modulus does not begin with its least significant byte")
	}
	public, err := parsePublicKeyBlob(blob)
	if err != nil || public.N.Cmp(key.N) != 0 || public.E != key.E {
		t.Fatalf("%+v, %v", public, err)
	}
	session := testKey().key
	sealed, err := sealSessionKey(public, session)
	if err != nil || len(sealed) != 268 || !strings.HasPrefix(base64.StdEncoding.EncodeToString(sealed), "AQIAABBmAAAApAAA") {
		t.Fatalf("%d bytes, %v", len(sealed), err)
	}
	if got, err := openSessionKey(key, sealed); err != nil || !bytes.Equal(got, session) {
		t.Errorf("opened %x, %v", got, err)
	}
	for _, bad := range [][]byte{nil, sealed[:267], append([]byte{2}, sealed[1:]...), append(bytes.Clone(sealed[:12]), make([]byte, 256)...)} {
		if got, err := openSessionKey(key, bad); err == nil {
			t.Errorf("%x is opened as %x", bad, got)
		}
	}
	small, err := rsa.GenerateKey(rand.Reader, 1024) //nolint:gosec // G403: it is to be refused
	if err == nil {
		if _, err := publicKeyBlob(&small.PublicKey); err == nil {
			t.Error("a key of 1024 bits is sent")
		}
	}
}

func TestSessionKeyIsZeroedAtTheEnd(t *testing.T) {
	p := openPair(t, false)
	if err := p.client.RequestKey(); err != nil {
		t.Fatal(err)
	}
	p.exchangeKey()
	held := p.client.key.key
	if len(held) != keySize || !bytes.Equal(held, p.server.key.key) {
		t.Fatalf("the client has %x, the server %x", held, p.server.key.key)
	}
	p.client.Lost(nil)
	if !bytes.Equal(held, make([]byte, keySize)) || p.client.enc.Cipher != nil {
		t.Errorf("after the end it is %x", held)
	}
}

// TestWrongSessionKeyIsNoticed decrypts what another key protects: the padding tells, but for one
// time in about 250, so more than one text must fail.
func TestWrongSessionKeyIsNoticed(t *testing.T) {
	e := clixml.Encoder{Cipher: testKey()}
	wrong := testKey()
	wrong.key[0] ^= 1
	d := clixml.Decoder{Cipher: wrong}
	noticed := 0
	for n := range 20 {
		b, err := e.AppendValue(nil, clixml.NewSecureString(strings.Repeat("s", n)).Value())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Decode(b); err != nil {
			noticed++
		}
	}
	if noticed < 15 {
		t.Errorf("%d of 20 texts under another key were refused", noticed)
	}
}
