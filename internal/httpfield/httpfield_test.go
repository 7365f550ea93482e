package httpfield

import (
	"net/http"
	"reflect"
	"slices"
	"testing"
	"time"
)

// TestRFC9110_12_4_2_Weights is the syntax of weights.
func TestRFC9110_12_4_2_Weights(t *testing.T) {
	got := ParseWeighted([]string{`text/HTML;level=1;Q=0.5;ext=x, a/b;p="x,y;q=0" , ;q=1, */*; q=0.1234, c/d;q=2, e/f;q=1.001, g/h;q=.5, i/j;q=0., k/l;q=1.000`, "m/n;q=0"})
	want := []Weighted{{"text/html", "level=1", 500}, {"a/b", `p="x,y;q=0"`, 1000}, {"i/j", "", 0}, {"k/l", "", 1000}, {"m/n", "", 0}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// TestRFC9110_12_5_1_Accept is the choice among offers.
func TestRFC9110_12_5_1_Accept(t *testing.T) {
	offers := []string{"application/json", "text/html", "text/plain;format=flowed"}
	for accept, want := range map[string]string{
		"text/html":                              "text/html",
		"*/*":                                    "application/json",
		"text/*":                                 "text/html",
		"text/*;q=0.5, application/json;q=0.4":   "text/html",
		"text/html;q=0, text/*":                  "text/plain;format=flowed",
		"application/json, text/html, */*;q=0.8": "application/json",
		"application/json;q=0.8, text/html":      "text/html",
		"text/plain; FORMAT=flowed, */*;q=0.1":   "text/plain;format=flowed",
		"text/plain;format=fixed, text/html;q=0": "",
		"image/png":                              "",
		"*/*;q=0":                                "",
		"\"":                                     "",
		"":                                       "application/json",
	} {
		if got := Prefer([]string{accept}, offers...); got != want {
			t.Errorf("%q: %q, want %q", accept, got, want)
		}
	}
	if got := Prefer(nil, offers...); got != offers[0] {
		t.Errorf("without Accept: %q", got)
	}
}

// TestRFC9110_12_5_3_AcceptEncoding is the weight of codings.
func TestRFC9110_12_5_3_AcceptEncoding(t *testing.T) {
	for _, tt := range []struct {
		accept, coding string
		want           int
	}{
		{"gzip", "gzip", 1000},
		{"gzip", "br", 0},
		{"gzip", "identity", 1},
		{"gzip;q=0", "gzip", 0},
		{"*;q=0.5", "br", 500},
		{"*;q=0", "identity", 0},
		{"identity;q=0", "identity", 0},
		{"gzip, *;q=0", "gzip", 1000},
		{"x-gzip", "gzip", 1000},
		{"", "identity", 1},
		{"GZIP", "gzip", 1000},
	} {
		if got := CodingQ(ParseWeighted([]string{tt.accept}), true, tt.coding); got != tt.want {
			t.Errorf("%q %s: %d, want %d", tt.accept, tt.coding, got, tt.want)
		}
	}
	if CodingQ(nil, false, "gzip") != 0 || CodingQ(nil, false, "identity") != 1000 {
		t.Error("without the field only identity is sent")
	}
}

// TestRFC9110_8_8_3_EntityTag is the syntax of entity tags.
func TestRFC9110_8_8_3_EntityTag(t *testing.T) {
	for s, want := range map[string]bool{
		`"a"`: true, `W/"a"`: true, `""`: true, `"é"`: true, `"!#"`: true,
		`a`: false, `"a`: false, `w/"a"`: false, `"a b"`: false, `"a"b`: false, `W/a`: false, "\"\x7f\"": false, "\"\n\"": false, ``: false, `W/`: false,
	} {
		if got := ValidETag(s); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
}

// TestRFC9110_13_2_2_Order covers what web's own tests cannot reach.
func TestRFC9110_13_2_2_Order(t *testing.T) {
	at := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	date := at.Format(http.TimeFormat)
	for _, tt := range []struct {
		header http.Header
		exists bool
		want   Outcome
	}{
		{http.Header{"If-Match": {"*"}}, false, Failed},
		{http.Header{"If-None-Match": {"*"}}, false, Proceed},
		{http.Header{"If-None-Match": {"*"}}, true, NotModified},
		{http.Header{"If-Modified-Since": {date, date}}, true, Proceed}, // repeated: as absent
		{http.Header{"If-Match": {`"a`, `"t"`}}, true, Proceed},
	} {
		etag := ""
		if tt.exists {
			etag = `"t"`
		}
		if got := Evaluate("GET", tt.header, etag, at, tt.exists); got != tt.want {
			t.Errorf("%v exists %v: %v, want %v", tt.header, tt.exists, got, tt.want)
		}
	}
}

func FuzzParseRange(f *testing.F) {
	for _, s := range []string{"bytes=0-1", "bytes=-5,3-", "bytes=9-2", "bytes=,,", "bytes=99999999999999999999-"} {
		f.Add(s, int64(10))
	}
	f.Fuzz(func(t *testing.T, s string, size int64) {
		if size < 0 {
			return
		}
		ranges, apply := ParseRange(s, size)
		if !apply && ranges != nil {
			t.Fatalf("%q: ranges without apply", s)
		}
		sum := int64(0)
		for _, r := range ranges {
			if r.Start < 0 || r.Length <= 0 || r.Start > size-r.Length {
				t.Fatalf("%q of %d: %+v lies outside", s, size, r)
			}
			sum += r.Length
		}
		if sum > size {
			t.Fatalf("%q of %d: %d bytes asked for", s, size, sum)
		}
	})
}

func FuzzParseWeighted(f *testing.F) {
	for _, s := range []string{"a/b;q=0.5", `a;x="\";q=1"`, ";;;", `"`, "*;q=1.0000"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, w := range ParseWeighted([]string{s}) {
			if w.Value == "" || w.Q < 0 || w.Q > 1000 {
				t.Fatalf("%q: %+v", s, w)
			}
		}
	})
}

// TestRFC9110_14_1_RangeUnits: the unit's case does not matter.
func TestRFC9110_14_1_RangeUnits(t *testing.T) {
	for s, want := range map[string]bool{"bytes=0-1": true, "BYTES=0-1": true, "Bytes=-1": true, "lines=0-1": false, "bytes 0-1": false, "=0-1": false} {
		if ranges, apply := ParseRange(s, 10); apply != want || apply && len(ranges) != 1 {
			t.Errorf("%q: %v, %v", s, ranges, apply)
		}
	}
}

// TestRFC9110_14_4_ContentRange is the place of a part.
func TestRFC9110_14_4_ContentRange(t *testing.T) {
	for s, want := range map[string]Range{"bytes 0-4/10": {0, 5}, "Bytes 9-9/10": {9, 1}, " bytes 3-7/10\t": {3, 5}} {
		if r, size, ok := ParseContentRange([]string{s}); !ok || r != want || size != 10 {
			t.Errorf("%q: %+v of %d, %t", s, r, size, ok)
		}
	}
	for _, s := range []string{
		"", "bytes", "bytes 0-4", "bytes 0-4/*", "bytes */10", "rows 0-4/10", "bytes 4-3/10", "bytes 0-10/10", "bytes -4/10", "bytes 0-/10", "bytes=0-4/10",
		"bytes +0-4/10", "bytes 0-+4/10", "bytes 0-4/+10", "bytes -0-4/10", "bytes  0-4/10", "bytes 0-4/10/11", "bytes 0-4/99999999999999999999",
	} {
		if r, size, ok := ParseContentRange([]string{s}); ok || r != (Range{}) || size != 0 {
			t.Errorf("%q: %+v of %d", s, r, size)
		}
	}
	if _, _, ok := ParseContentRange([]string{"bytes 0-4/10", "bytes 0-4/10"}); ok {
		t.Error("two places of one part")
	}
}

func FuzzParseContentRange(f *testing.F) {
	for _, s := range []string{"bytes 0-4/10", "bytes 0-4/*", "bytes 9223372036854775806-9223372036854775806/9223372036854775807"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, size, ok := ParseContentRange([]string{s})
		if !ok {
			return
		}
		if r.Start < 0 || r.Length <= 0 || r.Start > size-r.Length {
			t.Fatalf("%q: %+v of %d lies outside", s, r, size)
		}
		if again, whole, ok := ParseContentRange([]string{ContentRange(r, size)}); !ok || again != r || whole != size {
			t.Fatalf("%q: %+v of %d, written and read %+v of %d", s, r, size, again, whole)
		}
	})
}

// TestRFC9110_5_6_1_Lists is the syntax of lists.
func TestRFC9110_5_6_1_Lists(t *testing.T) {
	got := slices.Collect(Members([]string{` a , "b, c" ,,d;e="\\",f"`, "", "\tg\t", `"h, i`}))
	want := []string{"a", `"b, c"`, `d;e="\\"`, `f"`, "g", `"h, i`}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	for m := range Members([]string{"a, b"}) {
		if m == "b" {
			t.Error("the list went on after its reader had stopped")
		}
		break
	}
	for token, want := range map[string]bool{"close": true, "CLOSE": true, "keep-alive": true, "x": false, "": false} {
		if HasToken([]string{"Keep-Alive", `Close, "x"`}, token) != want {
			t.Errorf("%q: %v", token, !want)
		}
	}
}

// TestRFC9110_5_6_4_QuotedStrings is the syntax of quoted strings and tokens.
func TestRFC9110_5_6_4_QuotedStrings(t *testing.T) {
	for s, want := range map[string]string{`"a\"b"`: `a"b`, `""`: "", "a": "a", "": "", `"a\\"`: `a\`} {
		if got, ok := Unquote(s); !ok || got != want {
			t.Errorf("%s: %q, %v", s, got, ok)
		}
	}
	for _, s := range []string{`"`, `"a`, `"a\`, `"a"b`, `"a\"`} {
		if got, ok := Unquote(s); ok {
			t.Errorf("%s was taken as %q", s, got)
		}
	}
	for s, want := range map[string]bool{"a-B_9!#$%&'*+.^`|~": true, "": false, "a b": false, "a/b": false, "é": false, "\"": false} {
		if IsToken(s) != want {
			t.Errorf("%q: %v", s, !want)
		}
	}
}

// TestRFC9111_5_2_CacheControl is the syntax of directives.
func TestRFC9111_5_2_CacheControl(t *testing.T) {
	c := ParseCacheControl([]string{`Max-Age="60", private="set-cookie, max-age=1", no-store`, `max-age=5, x="\"", bad name=1, y="open`})
	want := CacheControl{{"max-age", "60"}, {"private", "set-cookie, max-age=1"}, {"no-store", ""}, {"max-age", "5"}, {"x", `"`}}
	if !slices.Equal(c, want) {
		t.Errorf("got %q\nwant %q", c, want)
	}
	if v, ok := c.Get("max-age"); !ok || v != "60" {
		t.Errorf("of a repeated directive the first counts: %q", v)
	}
	if c.Has("s-maxage") || !c.Has("no-store") {
		t.Error("Has")
	}
}

func TestCompressibleTypesAreThoseThatShrink(t *testing.T) {
	for kind, want := range map[string]bool{
		"text/html; charset=utf-8": true, "Application/JSON": true, "image/svg+xml": true, "application/problem+json ;x=y": true,
		"application/pdf": false, "image/png": false, "": false, "texts/plain": false,
	} {
		if got := Compressible(kind); got != want {
			t.Errorf("%q: %v, want %v", kind, got, want)
		}
	}
}
