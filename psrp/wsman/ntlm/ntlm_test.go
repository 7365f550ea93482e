package ntlm

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func same(t *testing.T, what string, got []byte, want string) {
	t.Helper()
	if !bytes.Equal(got, unhex(t, want)) {
		t.Errorf("%s: %x, want %s", what, got, want)
	}
}

// TestWorkedExamplesOfNTLMv2 has the values of MS-NLMP 4.2.1 and 4.2.4.
func TestWorkedExamplesOfNTLMv2(t *testing.T) {
	h, err := New(`Domain\User`, "Password").Begin()
	if err != nil {
		t.Fatal(err)
	}
	key := h.responseKey()
	same(t, "NTOWFv2", key, "0c868a403bfd7a93a3001ef22ef02e3f")
	server, client := [8]byte(unhex(t, "0123456789abcdef")), [8]byte(unhex(t, "aaaaaaaaaaaaaaaa"))
	same(t, "LMv2 response", append(mac(key, server[:], client[:]), client[:]...), "86c35097ac9cec102554764a57cccc19aaaaaaaaaaaaaaaa")
	info := unhex(t, "02000c0044006f006d00610069006e0001000c005300650072007600650072000000 0000")
	response, base := ntResponse(key, server, client, make([]byte, 8), info)
	same(t, "NTProofStr", response[:16], "68cd0ab851e51c96aabc927bebef6a1c")
	same(t, "session base key", base, "8de40ccadbc14a82f15cb0ad0de95ca3")
	random := [16]byte(bytes.Repeat([]byte{0x55}, 16))
	encrypted := make([]byte, 16)
	stream(base).XORKeyStream(encrypted, random[:])
	same(t, "encrypted session key", encrypted, "c5dad2544fc9799094ce1ce90bc9d03e")
	sealed, sig := newSession(random).Seal(nil, utf16le("Plaintext"))
	same(t, "sealed", sealed, "54e50165bf1936dc996020c1811b0f06fb5f")
	same(t, "signature", sig[:], "010000007fb38ec5c55d497600000000")
}

// sampleChallenge is the CHALLENGE_MESSAGE of MS-NLMP 4.2.4.3 with the flags that are needed.
func sampleChallenge(flags uint32, timestamp bool) []byte {
	info := binary.LittleEndian.AppendUint16(nil, 2)
	domain := utf16le("Domain")
	info = append(binary.LittleEndian.AppendUint16(info, uint16(len(domain))), domain...) //nolint:gosec // G115: 12
	if timestamp {
		info = append(info, avTimestamp, 0, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8)
	}
	info = append(info, 0, 0, 0, 0)
	b := make([]byte, 56)
	copy(b, signature)
	b[8] = 2
	binary.LittleEndian.PutUint32(b[20:], flags)
	copy(b[24:], "\x01\x23\x45\x67\x89\xab\xcd\xef")
	b[40], b[42] = byte(len(info)&0xff), byte(len(info)&0xff)
	binary.LittleEndian.PutUint32(b[44:], 56)
	return append(b, info...)
}

func TestChallengesThatWeakenTheSessionAreRefused(t *testing.T) {
	good := sampleChallenge(flagsOffered, true)
	for bit := range 32 {
		flag := uint32(1) << bit
		_, err := parseChallenge(sampleChallenge(flagsOffered&^flag, true))
		if needed := flagsNeeded&flag != 0; errors.Is(err, ErrChallenge) != needed {
			t.Errorf("without flag %#x: %v", flag, err)
		}
	}
	altered := func(change func(b []byte) []byte) []byte { return change(bytes.Clone(good)) }
	for name, b := range map[string][]byte{
		"empty":             nil,
		"another signature": altered(func(b []byte) []byte { b[0] = 'X'; return b }),
		"another type":      altered(func(b []byte) []byte { b[8] = 3; return b }),
		"info outside":      altered(func(b []byte) []byte { b[44] = 200; return b }),
		"info in header":    altered(func(b []byte) []byte { b[44] = 8; return b }),
		"value outside":     altered(func(b []byte) []byte { b[58] = 255; return b }),
		"no end":            altered(func(b []byte) []byte { b[40] -= 4; return b }),
		"short timestamp":   altered(func(b []byte) []byte { b[74] = 7; return b }),
		"too long":          make([]byte, maxChallenge+1),
	} {
		h, err := New("u", "p").Begin()
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := h.Authenticate(b, "HTTP/h", nil); !errors.Is(err, ErrChallenge) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAuthenticateHasIntegrityCodeAndBinding(t *testing.T) {
	h, err := New("User@domain.test", "Password").Begin()
	if err != nil {
		t.Fatal(err)
	}
	binding := ChannelBinding([]byte("tls-server-end-point:hash"))
	challenge := sampleChallenge(flagsOffered, true)
	message, _, err := h.Authenticate(challenge, "HTTP/host", binding)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(message, append([]byte{avChannelBindings, 0, 16, 0}, binding...)) || !bytes.Contains(message, utf16le("HTTP/host")) {
		t.Errorf("message %x has no binding or no service", message)
	}
	code := bytes.Clone(message[micOffset : micOffset+16])
	clear(message[micOffset : micOffset+16])
	if want := mac(h.sessionKey[:], h.Negotiate(), challenge, message); !bytes.Equal(code, want) {
		t.Errorf("integrity code %x, want %x", code, want)
	}
}

// pair returns the two ends of a session.
func pair(t *testing.T) (client, server *Session) {
	t.Helper()
	key := [16]byte{1, 2, 3}
	client, server = newSession(key), newSession(key)
	server.in, server.out = server.out, server.in
	return client, server
}

func TestTamperingIsNoticed(t *testing.T) {
	type message struct {
		sig  [SignatureSize]byte
		body []byte
	}
	for name, spoil := range map[string]func(m []message) []message{
		"nothing":          func(m []message) []message { return m },
		"a bit of a body":  func(m []message) []message { m[1].body[3] ^= 1; return m },
		"a bit of the sig": func(m []message) []message { m[1].sig[5] ^= 128; return m },
		"the number":       func(m []message) []message { m[1].sig[12]++; return m },
		"repeated":         func(m []message) []message { return []message{m[0], m[0], m[1]} },
		"swapped":          func(m []message) []message { m[0], m[1] = m[1], m[0]; return m },
		"left out":         func(m []message) []message { return m[1:] },
		"cut":              func(m []message) []message { m[1].body = m[1].body[:4]; return m },
	} {
		client, server := pair(t)
		var sent []message
		for i := range 3 {
			var m message
			m.body, m.sig = server.Seal(nil, fmt.Appendf(nil, "message %d", i))
			sent = append(sent, m)
		}
		var failed error
		for i, m := range spoil(sent) {
			got, err := client.Open(m.sig[:], bytes.Clone(m.body))
			if failed != nil && err == nil {
				t.Errorf("%s: message %d is accepted after an altered one", name, i)
			}
			if err == nil && string(got) != fmt.Sprintf("message %d", i) {
				t.Errorf("%s: %q", name, got)
			}
			failed = errors.Join(failed, err)
		}
		if errors.Is(failed, ErrTampered) == (name == "nothing") {
			t.Errorf("%s: %v", name, failed)
		}
	}
}

func TestCredentialsShowNoPassword(t *testing.T) {
	const canary = "c4nary"
	c := New(`D\u`, canary)
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "c", c)
	hash := hex.EncodeToString(c.hash[:4])
	for _, s := range []string{fmt.Sprint(c), fmt.Sprintf("%+v %#v %x %d", c, c, c, c), log.String()} {
		if strings.Contains(s, canary) || strings.Contains(s, hash) || strings.Contains(s, string(fmt.Append(nil, c.hash[:4]))) {
			t.Errorf("%q", s)
		}
	}
	if _, err := New(strings.Repeat("u", maxName+1), "").Begin(); err == nil {
		t.Error("a name of 1025 code units is accepted")
	}
}

func FuzzChallenge(f *testing.F) {
	f.Add(sampleChallenge(flagsOffered, true))
	f.Add(sampleChallenge(flagsOffered, false))
	f.Add([]byte("NTLMSSP\x00\x02\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := New("u", "p").Begin()
		if err != nil {
			t.Fatal(err)
		}
		message, s, err := h.Authenticate(b, "HTTP/h", nil)
		if (err == nil) != (s != nil) || len(message) > 2*maxChallenge {
			t.Errorf("%d bytes, %v", len(message), err)
		}
		if err != nil && !errors.Is(err, ErrChallenge) {
			t.Errorf("error %v", err)
		}
	})
}
