package cacheredis

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"example.com/quire/cache"
)

func sample(tb testing.TB) []byte {
	tb.Helper()
	b, err := appendRecord(nil, "ns", "key", &cache.Record{
		Version: cache.Version{WriteID: 3}, State: cache.RecordValue, Codec: 1, Payload: []byte("payload"),
		Tags: []cache.RecordTag{{Name: "", Counter: 1}, {Name: "tag", Counter: 2}}, Fresh: time.Second, Remove: time.Minute,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// TestRecordsThatCannotBe: a cut, a changed bit, another key, another form.
func TestRecordsThatCannotBe(t *testing.T) {
	good := sample(t)
	if _, err := parseRecord(good, "ns", "key", 0); err != nil {
		t.Fatal(err)
	}
	for n := range good {
		if _, err := parseRecord(good[:n], "ns", "key", 0); !errors.Is(err, errWire) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
	for i := recordHeader; i < len(good); i++ {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		if _, err := parseRecord(bad, "ns", "key", 0); !errors.Is(err, errWire) {
			t.Errorf("byte %d changed: %v", i, err)
		}
	}
	for i, v := range map[int]byte{0: 0, 1: 0, 2: 2, 3: 0, 5: 18, 6: 0xff, 24: 0xff, 56: 1, 60: 0} {
		bad := bytes.Clone(good)
		bad[i] = v
		if bad[i] == good[i] {
			bad[i]++
		}
		if _, err := parseRecord(bad, "ns", "key", 0); !errors.Is(err, errWire) {
			t.Errorf("byte %d is %d: %v", i, v, err)
		}
	}
	for _, other := range [][2]string{{"ns", "kez"}, {"n", "skey"}, {"ns", ""}, {"nskey", ""}} {
		if _, err := parseRecord(good, other[0], other[1], 0); !errors.Is(err, errWire) {
			t.Errorf("as %q: %v", other, err)
		}
	}
}

func TestRecordsTooLargeAreRefused(t *testing.T) {
	ok := cache.Record{State: cache.RecordValue, Fresh: 1, Remove: 1}
	for name, change := range map[string]func(*cache.Record) string{
		"key":  func(*cache.Record) string { return string(make([]byte, maxKey+1)) },
		"tags": func(r *cache.Record) string { r.Tags = make([]cache.RecordTag, maxTags+1); return "k" },
		"tag": func(r *cache.Record) string {
			r.Tags = []cache.RecordTag{{Name: string(make([]byte, maxTag+1))}}
			return "k"
		},
		"fresh": func(r *cache.Record) string { r.Fresh = 0; return "k" },
		"state": func(r *cache.Record) string { r.State = cache.RecordNone; return "k" },
	} {
		r := ok
		if key := change(&r); true {
			if b, err := appendRecord(nil, "ns", key, &r); err == nil || len(b) > 0 {
				t.Errorf("%s: %d bytes, %v", name, len(b), err)
			}
		}
	}
}

// TestFrameOfLaterFormIsNewsWithoutRecord.
func TestFrameOfLaterFormIsNewsWithoutRecord(t *testing.T) {
	b := append(appendFrame(nil, cache.FrameKey, 3, "key"), sample(t)...)
	binary.BigEndian.PutUint64(b[12:], 9)
	binary.BigEndian.PutUint64(b[frameHeader+3+16:], 9)
	f, err := parseFrame(b, "ns", 0)
	if err != nil || f.Record == nil || f.Key != "key" || f.Version.Counter != 9 {
		t.Fatalf("%+v, %v", f, err)
	}
	b[2] = 200
	if f, err = parseFrame(b, "ns", 0); err != nil || f.Record != nil || f.Key != "key" || f.Version.Counter != 9 {
		t.Errorf("%+v, %v", f, err)
	}
	b[3] = 77
	if f, err = parseFrame(b, "ns", 0); err != nil || f.Kind != cache.FrameTouched || f.Record != nil || f.Key != "key" {
		t.Errorf("of a later kind: %+v, %v", f, err)
	}
	b[2] = 1
	if f, err = parseFrame(b, "ns", 0); err == nil {
		t.Errorf("of a kind that this form does not have: %+v", f)
	}
	b[3] = byte(cache.FrameKey)
	b[len(b)-1] ^= 1
	if f, err = parseFrame(b, "ns", 0); err != nil || f.Record != nil {
		t.Errorf("with a broken record: %+v, %v", f, err)
	}
}

func FuzzRecord(f *testing.F) {
	f.Add(sample(f), "ns", "key", int64(1))
	f.Add([]byte("QE\x01\x01"), "", "", int64(-1))
	f.Fuzz(func(t *testing.T, b []byte, ns, key string, now int64) {
		r, err := parseRecord(b, ns, key, now)
		if err != nil {
			return
		}
		if r.Age < 0 || r.Fresh < 0 || r.Remove < 0 || len(r.Payload) > len(b) || len(r.Tags) > maxTags {
			t.Fatalf("%+v", r)
		}
		if len(key) > maxKey {
			return
		}
		again, err := appendRecord(nil, ns, key, &r)
		if err != nil {
			t.Fatal(err)
		}
		copy(again[8:32], b[8:32]) // the server's part
		if !bytes.Equal(again, b) {
			t.Fatalf("read %x\nwritten %x", b, again)
		}
	})
}

func FuzzFrame(f *testing.F) {
	f.Add(append(appendFrame(nil, cache.FrameKey, 3, "key"), sample(f)...), "ns")
	f.Add(appendFrame(nil, cache.FrameTag, 0, ""), "ns")
	f.Fuzz(func(t *testing.T, b []byte, ns string) {
		got, err := parseFrame(b, ns, 1)
		if err != nil {
			if !errors.Is(err, errWire) {
				t.Fatal(err)
			}
			return
		}
		if len(got.Key) > maxKey || got.Record != nil && (got.Kind != cache.FrameKey || got.Record.Version != got.Version) {
			t.Fatalf("%+v", got)
		}
	})
}
