package shortid_test

import (
	"encoding/base32"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"example.com/quire/web/internal/shortid"
)

// Each character is the one that base32 has for its five bits.
func TestPut(t *testing.T) {
	digits := strings.ToLower(base32.StdEncoding.EncodeToString([]byte("\x00D2\x14\xc7BT\xb65\xcf\x84e:V\xd7\xc6u\xbew\xdf"))) // all 32 in order
	if digits != "abcdefghijklmnopqrstuvwxyz234567" {
		t.Fatal(digits)
	}
	rapid.Check(t, func(t *rapid.T) {
		left, right := rapid.Uint64().Draw(t, "left"), rapid.Uint64().Draw(t, "right")
		var got [shortid.Len]byte
		shortid.Put(got[:], shortid.HalfOf(left), shortid.HalfOf(right))
		var want []byte
		for _, x := range []uint64{left, right} {
			for _, shift := range []int{0, 5, 10, 15, 20, 24, 29, 34, 39, 44, 49, 54, 59} {
				want = append(want, digits[x>>shift&31])
			}
		}
		if string(got[:]) != string(want) {
			t.Errorf("%x %x: %s, want %s", left, right, got, want)
		}
	})
}
