package wsframe_test

import (
	"bytes"
	"errors"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"example.com/quire/web/internal/wsframe"
)

// TestRFC6455_5_7_Examples are the frames that the standard shows.
func TestRFC6455_5_7_Examples(t *testing.T) {
	for name, tc := range map[string]struct {
		frame   []byte
		opcode  wsframe.Opcode
		fin     bool
		payload string
	}{
		"unmasked text":    {[]byte{0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f}, wsframe.Text, true, "Hello"},
		"masked text":      {[]byte{0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58}, wsframe.Text, true, "Hello"},
		"first fragment":   {[]byte{0x01, 0x03, 0x48, 0x65, 0x6c}, wsframe.Text, false, "Hel"},
		"last fragment":    {[]byte{0x80, 0x02, 0x6c, 0x6f}, wsframe.Continuation, true, "lo"},
		"ping":             {[]byte{0x89, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f}, wsframe.Ping, true, "Hello"},
		"masked pong":      {[]byte{0x8a, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58}, wsframe.Pong, true, "Hello"},
		"256 bytes binary": {append([]byte{0x82, 0x7e, 0x01, 0x00}, make([]byte, 256)...), wsframe.Binary, true, string(make([]byte, 256))},
		"64 KiB binary":    {append([]byte{0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0}, make([]byte, 65536)...), wsframe.Binary, true, string(make([]byte, 65536))},
	} {
		h, n, err := wsframe.Parse(tc.frame)
		if err != nil || n == 0 || h.Opcode != tc.opcode || h.Fin != tc.fin || h.Length != int64(len(tc.payload)) {
			t.Errorf("%s: %+v, %d bytes, %v", name, h, n, err)
			continue
		}
		payload := bytes.Clone(tc.frame[n:])
		if h.Masked {
			wsframe.Mask(h.Mask, 0, payload)
		}
		if string(payload) != tc.payload {
			t.Errorf("%s: payload %q, want %q", name, payload, tc.payload)
		}
		if again := append(h.Append(nil), tc.frame[n:]...); !bytes.Equal(again, tc.frame) {
			t.Errorf("%s: written as % x", name, again[:min(len(again), 16)])
		}
		for cut := range n {
			if _, m, err := wsframe.Parse(tc.frame[:cut]); m != 0 || err != nil {
				t.Errorf("%s cut at %d: %d, %v, want to be asked for more", name, cut, m, err)
			}
		}
	}
}

func TestHeadersThatAreRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		frame []byte
		want  error
	}{
		"RSV2":               {[]byte{0xa1, 0x00}, wsframe.ErrReserved},
		"RSV3":               {[]byte{0x91, 0x00}, wsframe.ErrReserved},
		"opcode 3":           {[]byte{0x83, 0x00}, wsframe.ErrReserved},
		"opcode 11":          {[]byte{0x8b, 0x00}, wsframe.ErrReserved},
		"fragmented ping":    {[]byte{0x09, 0x00}, wsframe.ErrControl},
		"compressed ping":    {[]byte{0xc9, 0x00}, wsframe.ErrControl},
		"ping of 126 bytes":  {[]byte{0x89, 0x7e, 0x00, 0x7e}, wsframe.ErrControl},
		"125 in two bytes":   {[]byte{0x82, 0x7e, 0x00, 0x7d}, wsframe.ErrLength},
		"65535 in eight":     {[]byte{0x82, 0x7f, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, wsframe.ErrLength},
		"length of 2^63":     {[]byte{0x82, 0x7f, 0x80, 0, 0, 0, 0, 0, 0, 0}, wsframe.ErrLength},
		"all bits of length": {[]byte{0x82, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, wsframe.ErrLength},
	} {
		if _, _, err := wsframe.Parse(tc.frame); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
	}
}

func TestMaskOfAPieceContinuesTheMask(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "payload")
		key := [4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "key"))
		cut := rapid.IntRange(0, len(whole)).Draw(t, "cut")
		want := bytes.Clone(whole)
		for i := range want {
			want[i] ^= key[i&3]
		}
		got := bytes.Clone(whole)
		wsframe.Mask(key, 0, got[:cut])
		wsframe.Mask(key, int64(cut), got[cut:])
		if !bytes.Equal(got, want) {
			t.Fatalf("cut at %d: % x, want % x", cut, got, want)
		}
	})
}

func TestCloseCodes(t *testing.T) {
	for code, want := range map[uint16]bool{
		0: false, 999: false, 1000: true, 1003: true, 1004: false, 1005: false, 1006: false, 1007: true,
		1011: true, 1014: true, 1015: false, 1016: false, 2999: false, 3000: true, 4999: true, 5000: false, 65535: false,
	} {
		if got := wsframe.ValidCloseCode(code); got != want {
			t.Errorf("%d: %t, want %t", code, got, want)
		}
	}
}

// FuzzUTF8 compares the check in pieces with that of the whole, for any cut, and demands that
// the first impossible byte is told at once.
func FuzzUTF8(f *testing.F) {
	for _, s := range []string{"", "Hello-µ@ßöäüàá-UTF-8!!", "κόσμε", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf0\x9f\x98\x80", "\xc0\xaf", "\xff", "a\xf0\x9f"} {
		f.Add([]byte(s), 1)
		f.Add([]byte(s), 3)
	}
	f.Fuzz(func(t *testing.T, b []byte, size int) {
		if size < 1 {
			size = 1
		}
		var u wsframe.UTF8
		ok := true
		for i := 0; i < len(b) && ok; i += size {
			end := min(i+size, len(b))
			ok = u.Add(b[i:end])
			if possible := prefixOfText(b[:end]); ok != possible {
				t.Fatalf("% x after %d bytes: %t, want %t", b, end, ok, possible)
			}
		}
		if whole := ok && u.Done(); whole != utf8.Valid(b) {
			t.Fatalf("% x: %t, want %t", b, whole, utf8.Valid(b))
		}
	})
}

// prefixOfText reports whether some continuation makes b valid.
func prefixOfText(b []byte) bool {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size <= 1 {
			return !utf8.FullRune(b)
		}
		b = b[size:]
	}
	return true
}

// FuzzParse demands that what is read is written as it came, and that nothing panics.
func FuzzParse(f *testing.F) {
	f.Add([]byte{0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d})
	f.Add([]byte{0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0})
	f.Add([]byte{0x88, 0x02, 0x03, 0xe8})
	f.Fuzz(func(t *testing.T, b []byte) {
		h, n, err := wsframe.Parse(b)
		if err != nil || n == 0 {
			return
		}
		if n > wsframe.MaxHeader || h.Length < 0 {
			t.Fatalf("% x: %+v in %d bytes", b, h, n)
		}
		if again := h.Append(nil); !bytes.Equal(again, b[:n]) {
			t.Fatalf("% x was written as % x", b[:n], again)
		}
	})
}
