package ws

import "testing"

// TestFramesAreMadeOnceForAllClients: those of equal parameters get the very same bytes.
func TestFramesAreMadeOnceForAllClients(t *testing.T) {
	m := NewCompression(1)
	p := &prepared{kind: Text, data: []byte("aaaaaaaaaaaaaaaaaaaaaaaa"), plain: []byte("plain")}
	frame := func(bits int) *byte {
		t.Helper()
		f, err := p.frame(&Conn{o: Options{Compression: m}, bits: bits})
		if err != nil {
			t.Fatal(err)
		}
		return &f[0]
	}
	first := map[int]*byte{0: frame(0), 9: frame(9), maxBits: frame(maxBits)}
	for bits, made := range first {
		if frame(bits) != made {
			t.Errorf("window of %d bits: the frame was made again", bits)
		}
	}
	if first[maxBits] == first[9] || first[maxBits] == first[0] {
		t.Error("clients of other parameters share a frame")
	}
}
