package httpfield

import (
	"net/http"
	"testing"
	"time"
)

func TestRFC9110_5_6_7_Date(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	want := time.Date(1994, 11, 6, 8, 49, 37, 0, time.UTC)
	for _, s := range []string{"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", " Sun, 06 Nov 1994 08:49:37 GMT ", "sun, 06 nOV 1994 08:49:37 gmt", "SUNDAY, 06-nov-94 08:49:37 Gmt", "SUN NOV 06 08:49:37 1994"} {
		if got, ok := ParseDate(s, now); !ok || !got.Equal(want) {
			t.Errorf("ParseDate(%q) = %v, %t", s, got, ok)
		}
	}
	// RFC 9110, section 5.6.7: the year is the one that is not more than 50 years ahead.
	for s, year := range map[string]int{"Friday, 06-Nov-76 08:49:37 GMT": 2076, "Sunday, 06-Nov-77 08:49:37 GMT": 1977} {
		if got, ok := ParseDate(s, now); !ok || got.Year() != year {
			t.Errorf("ParseDate(%q) = %v, %t", s, got, ok)
		}
	}
	for _, s := range []string{
		"", "now", "Sun, 06 Nov 1994 08:49:37 CET", "1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 08:49:37",
		"Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
		"Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 1994 08:49:37 GMT x", "Sun 06 Nov 1994 08:49:37 GMT", "Sunday, 06 Nov 1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT", "Sun Nov 6 08:49:37 1994", ",",
	} {
		if got, ok := ParseDate(s, now); ok {
			t.Errorf("ParseDate(%q) = %v", s, got)
		}
	}
}

func TestRFC9111_1_2_2_DeltaSeconds(t *testing.T) {
	for s, want := range map[string]time.Duration{"0": 0, "007": 7 * time.Second, "2147483649": 1 << 31 * time.Second, "99999999999999999999999": 1 << 31 * time.Second} {
		if got, ok := DeltaSeconds(s); !ok || got != want {
			t.Errorf("DeltaSeconds(%q) = %v, %t", s, got, ok)
		}
	}
	for _, s := range []string{"", "-1", "+1", "1.5", " 1", "1 ", "1s", "x"} {
		if _, ok := DeltaSeconds(s); ok {
			t.Errorf("DeltaSeconds(%q) was taken", s)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"1", "-1", "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "9999999999999999999", ""} {
		f.Add(s, "Sun, 06 Nov 1994 08:49:37 GMT")
	}
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, after, date string) {
		got, ok := RetryAfter(http.Header{"Retry-After": {after}, "Date": {date}}, now)
		if got < 0 || !ok && got != 0 {
			t.Errorf("RetryAfter(%q, %q) = %v, %t", after, date, got, ok)
		}
	})
}

// FuzzParseDate holds the reader against the standard library's, which is looser, and against
// itself.
func FuzzParseDate(f *testing.F) {
	for _, s := range []string{"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sat, 29 Feb 2024 23:59:60 GMT"} {
		f.Add(s)
	}
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := ParseDate(s, now)
		if !ok {
			if std, err := time.Parse(http.TimeFormat, s); err == nil && std.Format(http.TimeFormat) == s {
				t.Fatalf("%q is refused", s)
			}
			return
		}
		if again, ok := ParseDate(FormatDate(got), now); !ok || !again.Equal(got) {
			t.Fatalf("%q: %v, written and read again %v", s, got, again)
		}
		if std, err := time.Parse(http.TimeFormat, s); err == nil && !std.Equal(got) {
			t.Fatalf("%q: %v, time.Parse says %v", s, got, std)
		}
	})
}
