package codec

import (
	"bytes"
	"errors"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"
)

type post struct {
	ID    int               `json:"id"`
	Title string            `json:"title,omitempty"`
	Tags  []string          `json:"tags,omitempty"`
	Meta  map[string]*int64 `json:"meta,omitempty"`
}

// codec is what the cache asks of one.
type codec[V any] interface {
	ID() byte
	Append(dst []byte, v V) ([]byte, error)
	Decode(src []byte) (V, int, error)
}

// mapped has its methods on a type that is no pointer.
type mapped map[string]string

func (m mapped) AppendBinary(b []byte) ([]byte, error) { return append(b, m["k"]...), nil }
func (m mapped) UnmarshalBinary(b []byte) error        { m["k"] = string(b); return nil }

var (
	_ codec[[]byte]     = Raw{}
	_ codec[post]       = JSON[post]{}
	_ codec[*time.Time] = Binary[*time.Time]{}
)

// roundTrip encodes v behind a prefix and decodes it again.
func roundTrip[V any](t *testing.T, c codec[V], v V, encoded string, size int) {
	t.Helper()
	b, err := c.Append([]byte("before"), v)
	if err != nil || string(b) != "before"+encoded {
		t.Fatalf("encode %v: %q, %v; want %q", v, b, err, encoded)
	}
	got, n, err := c.Decode(bytes.Clone(b[len("before"):]))
	if err != nil || !reflect.DeepEqual(got, v) || n < size {
		t.Errorf("decode %q: %v, %d, %v; want %v and at least %d", encoded, got, n, err, v, size)
	}
}

func TestRoundTrip(t *testing.T) {
	roundTrip(t, Raw{}, []byte("\x00 as it is"), "\x00 as it is", 11)
	roundTrip(t, Raw{}, []byte{}, "", 0)
	roundTrip(t, JSON[post]{}, post{ID: 7, Title: "<a>", Tags: []string{"x"}}, `{"id":7,"title":"<a>","tags":["x"]}`, 35)
	roundTrip(t, JSON[*post]{}, nil, "null", 4)
	u := &url.URL{Scheme: "https", Host: "example.org", Path: "/p"}
	roundTrip(t, Binary[*url.URL]{}, u, "https://example.org/p", 21)
	if got := []byte{Raw{}.ID(), JSON[int]{}.ID(), Binary[*url.URL]{}.ID()}; !bytes.Equal(got, []byte{0, 1, 4}) {
		t.Errorf("ids %v", got)
	}
	if v, _, err := (Raw{}).Decode(nil); v == nil || err != nil {
		t.Errorf("nil decodes to %v, %v", v, err)
	}
}

// refuses checks that v and src are refused with target, and that the buffer stays.
func refuses[V any](t *testing.T, c codec[V], v V, src string, target error, text string) {
	t.Helper()
	dst, err := c.Append([]byte("before"), v)
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Op != "encode" || string(dst) != "before" || target != nil && !errors.Is(err, target) {
		t.Errorf("encode: %q, %v", dst, err)
	}
	got, n, err := c.Decode([]byte(src))
	e, ok = errors.AsType[*Error](err)
	if !ok || e.Op != "decode" || target != nil && !errors.Is(err, target) || !strings.Contains(err.Error(), text) {
		t.Errorf("decode: %v", err)
	}
	if n != 0 || !reflect.ValueOf(&got).Elem().IsZero() {
		t.Errorf("decode left %v, %d", got, n)
	}
}

func TestLimits(t *testing.T) {
	refuses(t, Raw{Limit: 3}, []byte("four"), "four", ErrTooLarge, "decode raw: 4 bytes: longer than the limit of 3: raise Limit")
	refuses(t, JSON[string]{Limit: 5}, "four", `"four"`, ErrTooLarge, "decode json: 6 bytes")
	refuses(t, Binary[*url.URL]{Limit: 3}, &url.URL{Path: "four"}, "four", ErrTooLarge, "decode binary: 4 bytes")
	long := strings.Repeat("v", DefaultLimit+1)
	refuses(t, Raw{}, []byte(long), long, ErrTooLarge, "of 16777216")
}

func TestRefusals(t *testing.T) {
	refuses(t, JSON[func()]{}, func() {}, `1`, nil, "decode json: ")
	refuses(t, Binary[*url.URL]{}, nil, "%zz", nil, "decode binary: ")
	for _, src := range []string{"", "{", `{"id":1} 2`, `{"id":"1"}`, `{"title":"kept?","id":[]}`, strings.Repeat("[", 20_000)} {
		if v, n, err := (JSON[post]{}).Decode([]byte(src)); err == nil || !reflect.DeepEqual(v, post{}) || n != 0 {
			t.Errorf("decode %.20q: %v, %d, %v", src, v, n, err)
		}
	}
	if _, _, err := (Binary[mapped]{}).Decode([]byte("v")); err == nil || !strings.Contains(err.Error(), "codec.mapped is not a pointer type") {
		t.Errorf("no pointer: %v", err)
	}
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"id":1,"title":"a","tags":["b"],"meta":{"c":2,"d":null}}`, `null`, `[]`, `{"id":1}{`, "\"\xff\""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		c := JSON[post]{Limit: 1 << 16}
		v, n, err := c.Decode(src)
		if err != nil {
			if !reflect.DeepEqual(v, post{}) {
				t.Fatalf("a part of a value: %v", v)
			}
			return
		}
		if n < len(src) {
			t.Fatalf("size %d of %d bytes", n, len(src))
		}
		once, err := (JSON[post]{}).Append(nil, v)
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := (JSON[post]{}).Decode(once)
		if err != nil {
			t.Fatalf("decode %q: %v", once, err)
		}
		if twice, err := (JSON[post]{}).Append(nil, again); err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%q, then %q: %v", once, twice, err)
		}
	})
}

func FuzzBinary(f *testing.F) {
	now, err := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC).MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(now)
	f.Add(now[:7])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, src []byte) {
		c := Binary[*time.Time]{Limit: 1 << 10}
		v, _, err := c.Decode(src)
		if err != nil {
			if v != nil {
				t.Fatalf("a part of a value: %v", v)
			}
			return
		}
		b, err := c.Append(nil, v)
		if err != nil {
			return // a zone that this type reads but does not write
		}
		if again, _, err := c.Decode(b); err != nil || !again.Equal(*v) {
			t.Fatalf("%v, then %v: %v", v, again, err)
		}
	})
}

func FuzzRaw(f *testing.F) {
	f.Add([]byte("v"))
	f.Fuzz(func(t *testing.T, src []byte) {
		c := Raw{Limit: 16}
		v, n, err := c.Decode(src)
		if (err == nil) != (len(src) <= 16) || err == nil && (!bytes.Equal(v, src) || n < len(src)) {
			t.Fatalf("%q: %q, %d, %v", src, v, n, err)
		}
	})
}
