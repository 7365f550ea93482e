package httpcache

import (
	"testing"
	"testing/synctest"

	"example.com/quire/fetch/fetchtest"
)

func TestRanges(t *testing.T) {
	const tag = `Etag: "a"`
	whole := answer(200, "0123456789", fresh60, tag, "Last-Modified: Mon, 01 Jan 1990 00:00:00 GMT")
	for _, c := range []struct {
		name   string
		fields []string
		status int
		body   string
		place  string
	}{
		{"first and last", []string{"Range: bytes=2-4"}, 206, "234", "bytes 2-4/10"},
		{"open", []string{"Range: bytes=7-"}, 206, "789", "bytes 7-9/10"},
		{"suffix", []string{"Range: bytes=-3"}, 206, "789", "bytes 7-9/10"},
		{"beyond the end", []string{"Range: bytes=8-99"}, 206, "89", "bytes 8-9/10"},
		{"out of range", []string{"Range: bytes=10-"}, 416, "", "bytes */10"},
		{"several", []string{"Range: bytes=0-1,4-5"}, 200, "0123456789", ""},
		{"another unit", []string{"Range: lines=0-1"}, 200, "0123456789", ""},
		{
			"If-Range with the tag",
			[]string{"Range: bytes=2-4", `If-Range: "a"`},
			206, "234",
			"bytes 2-4/10",
		},
		{
			"If-Range with a weak tag",
			[]string{"Range: bytes=2-4", `If-Range: W/"a"`},
			200, "0123456789",
			"",
		},
		{
			"If-Range with another tag",
			[]string{"Range: bytes=2-4", `If-Range: "b"`},
			200, "0123456789",
			"",
		},
		{
			"If-Range with the date",
			[]string{"Range: bytes=2-4", "If-Range: Mon, 01 Jan 1990 00:00:00 GMT"},
			206, "234",
			"bytes 2-4/10",
		},
		{"a condition comes first", []string{"Range: bytes=2-4", `If-None-Match: "a"`}, 304, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{}, whole)
				r.do("GET", "/")
				g := r.do("GET", "/", c.fields...)
				if g.status != c.status || g.body != c.body || g.header.Get("Content-Range") != c.place ||
					r.asked() != 1 {
					t.Errorf("%+v", g)
				}
			})
		})
	}
	part := func(from, to string, body, tag string) fetchtest.Step {
		return answer(206, body, fresh60, tag, "Content-Range: bytes "+from+"-"+to+"/10")
	}
	t.Run("parts are served within, joined, and make a whole", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, part("0", "3", "0123", tag), part("4", "9", "456789", tag))
			r.do("GET", "/", "Range: bytes=0-3")
			if g := r.do("GET", "/", "Range: bytes=1-2"); g.body != "12" || g.result != ResultHit ||
				g.header.Get("Content-Range") != "bytes 1-2/10" {
				t.Errorf("within: %+v", g)
			}
			r.do("GET", "/", "Range: bytes=4-")
			if g := r.do("GET", "/"); g.body != "0123456789" || g.status != 200 || g.result != ResultHit ||
				g.header.Get("Content-Range") != "" {
				t.Errorf("joined: %+v", g)
			}
		})
	})
	for name, second := range map[string]fetchtest.Step{
		"of another tag":  part("4", "9", "456789", `Etag: "b"`),
		"of a weak tag":   part("4", "9", "456789", `Etag: W/"a"`),
		"of no tag":       part("4", "9", "456789", "X: y"),
		"with a gap":      part("5", "9", "56789", tag),
		"of wrong length": part("4", "9", "4567", tag),
	} {
		t.Run("parts "+name+" are not joined", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{}, part("0", "3", "0123", tag), second, whole)
				r.do("GET", "/", "Range: bytes=0-3")
				r.do("GET", "/", "Range: bytes=4-9")
				if g := r.do("GET", "/"); g.result == ResultHit || g.body != "0123456789" {
					t.Errorf("%+v", g)
				}
			})
		})
	}
	for name, c := range map[string]struct {
		step    fetchtest.Step
		request string
		want    string // "" = asked for again
	}{
		"without a tag":              {part("4", "9", "456789", "X: y"), "bytes=6-", "6789"},
		"beyond what is stored":      {part("4", "7", "4567", "X: y"), "bytes=6-", ""},
		"of a part that is cut":      {part("4", "9", "4567", "X: y"), "bytes=5-6", "56"},
		"beyond where a part is cut": {part("4", "9", "4567", "X: y"), "bytes=6-9", ""},
		"of more than there is room": {part("4", "5", "4567", tag), "bytes=4-5", ""},
		"of an undeclared excess":    {part("4", "5", "4567", tag).Drip(1, 0), "bytes=4-5", ""},
		"of a part that counts in rows": {
			answer(206, "45", fresh60, tag, "Content-Range: rows 4-5/10"), "bytes=4-5", "",
		},
	} {
		t.Run("a part: "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{}, c.step, answer(206, "again", tag))
				r.do("GET", "/", "Range: bytes=4-9")
				g := r.do("GET", "/", "Range: "+c.request)
				if hit := g.result == ResultHit; hit != (c.want != "") || hit &&
					(g.body != c.want || g.status != 206) {
					t.Errorf("%+v", g)
				}
			})
		})
	}
	t.Run("multipart/byteranges passes through", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{},
				answer(206, "--x", fresh60, tag, "Content-Type: multipart/byteranges; boundary=x"))
			if g := r.do("GET", "/", "Range: bytes=0-1,3-4"); g.body != "--x" || g.stored {
				t.Errorf("%+v", g)
			}
		})
	})
}
