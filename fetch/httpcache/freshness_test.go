package httpcache

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/quire/internal/httpfield"
)

func TestFreshness(t *testing.T) {
	const s = time.Second
	private, shared := Config{}, Config{Shared: true}
	for _, c := range []struct {
		name   string
		cfg    Config
		after  time.Duration
		fields []string
		want   bool
	}{
		{"max-age", private, 59 * s, []string{"Cache-Control: max-age=60"}, true},
		{"max-age is over", private, 60 * s, []string{"Cache-Control: max-age=60"}, false},
		{"names in any case", private, 59 * s, []string{"Cache-Control: MaX-aGe=60"}, true},
		{"quoted value", private, 59 * s, []string{`Cache-Control: max-age="60"`}, true},
		{
			"within another's quoted string", private, s,
			[]string{`Cache-Control: x="a, max-age=60", max-age=0`},
			false,
		},
		{
			"only within another's quoted string", private, s,
			[]string{`Cache-Control: x=" , max-age=60"`},
			false,
		},
		{
			"s-maxage is not for private caches", private, 30 * s,
			[]string{"Cache-Control: max-age=20, s-maxage=60"},
			false,
		},
		{
			"s-maxage before max-age", shared, 30 * s,
			[]string{"Cache-Control: max-age=20, s-maxage=60"},
			true,
		},
		{
			"shorter s-maxage", shared, 30 * s,
			[]string{"Cache-Control: s-maxage=20", "Cache-Control: max-age=60"},
			false,
		},
		{
			"max-age before Expires", private, 30 * s,
			[]string{"Cache-Control: max-age=60", "Expires: 0"},
			true,
		},
		{
			"the first of two counts", private, 30 * s,
			[]string{"Cache-Control: max-age=60, max-age=20"},
			true,
		},
		{
			"the first of two lines counts", private, 30 * s,
			[]string{"Cache-Control: max-age=20", "Cache-Control: max-age=60"},
			false,
		},
		{"no sign", private, s, []string{"Cache-Control: max-age=+60"}, false},
		{"no fraction", private, s, []string{"Cache-Control: max-age=60.0"}, false},
		{"no letters", private, s, []string{"Cache-Control: max-age=60s"}, false},
		{"not negative", private, s, []string{"Cache-Control: max-age=-60"}, false},
		{"no single quotes", private, s, []string{"Cache-Control: max-age='60'"}, false},
		{"no space before =", private, s, []string{"Cache-Control: max-age =60"}, false},
		{"no space after =", private, s, []string{"Cache-Control: max-age= 60"}, false},
		{"a quoted string that does not end", private, s, []string{`Cache-Control: max-age="60`}, false},
		{"leading zeros", private, 59 * s, []string{"Cache-Control: max-age=0060"}, true},
		{
			"overflow is 2^31", private, 100 * 24 * time.Hour,
			[]string{"Cache-Control: max-age=99999999999999999999"},
			true,
		},
		{
			"what cannot be read outweighs Expires", private, s,
			[]string{"Cache-Control: max-age=x", "Expires: Fri, 01 Jan 2100 00:00:00 GMT"},
			false,
		},
		{
			"unknown directives", private, 59 * s,
			[]string{"Cache-Control: a, b=c, max-age=60, d=\"e\""},
			true,
		},
		{"no-cache", private, s, []string{"Cache-Control: no-cache, max-age=60"}, false},
		{"no-cache with a field", private, s, []string{`Cache-Control: no-cache="a", max-age=60`}, false},
		{"private in a private cache", private, s, []string{"Cache-Control: private, max-age=60"}, true},
		{"private in a shared cache", shared, s, []string{"Cache-Control: private, max-age=60"}, false},
		{
			"private with a field in a shared cache", shared, s,
			[]string{`Cache-Control: private="a", max-age=60`},
			false,
		},
		{"no-store", private, s, []string{"Cache-Control: max-age=60, NO-store"}, false},
		{
			"more than is read", private, s,
			[]string{"Cache-Control: max-age=60, x=" + strings.Repeat("a", 9<<10)},
			false,
		},
		{
			"more members than are read", private, s,
			[]string{"Cache-Control: max-age=60" + strings.Repeat(", a", 200)},
			false,
		},
		{"age on arrival", private, s, []string{"Cache-Control: max-age=60", "Age: 60"}, false},
		{"nothing said", private, s, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if got := reused(t, c.cfg, c.after, step(c.fields...)); got != c.want {
					t.Errorf("reused: %t", got)
				}
			})
		})
	}
}

func TestExpires(t *testing.T) {
	const rfc850 = "Monday, 02-Jan-06 15:04:05 GMT"
	for _, c := range []struct {
		name string
		make func(now time.Time) []string
		want bool
	}{
		{"IMF-fixdate", func(n time.Time) []string {
			return []string{"Expires: " + httpfield.FormatDate(n.Add(time.Hour))}
		}, true},
		{"RFC 850", func(n time.Time) []string {
			return []string{"Expires: " + n.UTC().Add(time.Hour).Format(rfc850)}
		}, true},
		{"asctime", func(n time.Time) []string {
			return []string{"Expires: " + n.UTC().Add(time.Hour).Format(time.ANSIC)}
		}, true},
		{"any case", func(n time.Time) []string {
			return []string{"Expires: " + strings.ToLower(httpfield.FormatDate(n.Add(time.Hour)))}
		}, true},
		{
			"past 2038",
			func(time.Time) []string { return []string{"Expires: Thu, 01 Jan 2099 00:00:00 GMT"} }, true,
		},
		{"past", func(n time.Time) []string {
			return []string{"Expires: " + httpfield.FormatDate(n.Add(-time.Hour))}
		}, false},
		{
			"now", func(n time.Time) []string { return []string{"Expires: " + httpfield.FormatDate(n)} },
			false,
		},
		{"0", func(time.Time) []string { return []string{"Expires: 0"} }, false},
		{
			"another zone",
			func(time.Time) []string { return []string{"Expires: Thu, 01 Jan 2099 00:00:00 UTC"} }, false,
		},
		{
			"an offset",
			func(time.Time) []string { return []string{"Expires: Thu, 01 Jan 2099 00:00:00 +0000"} }, false,
		},
		{
			"no comma",
			func(time.Time) []string { return []string{"Expires: Thu 01 Jan 2099 00:00:00 GMT"} }, false,
		},
		{
			"one digit",
			func(time.Time) []string { return []string{"Expires: Thu, 01 Jan 2099 0:00:00 GMT"} }, false,
		},
		{
			"two spaces",
			func(time.Time) []string { return []string{"Expires: Thu,  01 Jan 2099 00:00:00 GMT"} }, false,
		},
		{"two lines", func(n time.Time) []string {
			v := "Expires: " + httpfield.FormatDate(n.Add(time.Hour))
			return []string{v, v}
		}, false},
		{"against Date, not against the clock here", func(n time.Time) []string {
			return []string{
				"Date: " + httpfield.FormatDate(n.Add(2*time.Hour)),
				"Expires: " + httpfield.FormatDate(n.Add(time.Hour)),
			}
		}, false},
		{"a Date that is none counts as now", func(n time.Time) []string {
			return []string{"Date: yesterday", "Expires: " + httpfield.FormatDate(n.Add(time.Hour))}
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if got := reused(t, Config{}, time.Second, step(c.make(time.Now())...)); got != c.want {
					t.Errorf("reused: %t", got)
				}
			})
		})
	}
}

func TestAge(t *testing.T) {
	for _, c := range []struct {
		name   string
		fields []string
		want   int // after 10 s
	}{
		{"none", nil, 10},
		{"said", []string{"Age: 100"}, 110},
		{"the first of a list", []string{"Age: 100, 7"}, 110},
		{"the first of a list is 0", []string{"Age: 0,7200"}, 10},
		{"the first of two lines", []string{"Age: 0", "Age: 7200"}, 10},
		{"repeated", []string{"Age: 100, 100"}, 110},
		{"letters are ignored", []string{"Age: abc"}, 10},
		{"a sign is ignored", []string{"Age: -7200"}, 10},
		{"a fraction is ignored", []string{"Age: 7200.0"}, 10},
		{"a parameter makes it unreadable", []string{"Age: 7200;foo=bar"}, 10},
		{"an old Date", []string{"Date: -50"}, 60},
		{"a Date of tomorrow", []string{"Date: 86400"}, 10},
		{"the greater of the two", []string{"Date: -50", "Age: 20"}, 60},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fields := []string{"Cache-Control: max-age=100000"}
				for _, f := range c.fields {
					if n, ok := strings.CutPrefix(f, "Date: "); ok {
						s, err := strconv.Atoi(n)
						if err != nil {
							t.Fatal(err)
						}
						f = "Date: " + at(s)
					}
					fields = append(fields, f)
				}
				r := newRig(t, Config{}, step(fields...))
				first := r.do("GET", "/")
				pass(10 * time.Second)
				second := r.do("GET", "/")
				if second.header.Get("Age") != strconv.Itoa(c.want) || second.result != ResultHit {
					t.Errorf("Age %q, %s", second.header.Get("Age"), second.result)
				}
				if d := second.header.Get("Date"); d == "" || d != first.header.Get("Date") {
					t.Errorf("Date %q, then %q", first.header.Get("Date"), d)
				}
			})
		})
	}
	t.Run("the response took its time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, step("Cache-Control: max-age=100", "Age: 5").Delay(7*time.Second))
			r.do("GET", "/")
			if g := r.do("GET", "/"); g.header.Get("Age") != "12" {
				t.Errorf("Age %q", g.header.Get("Age"))
			}
		})
	})
}

func TestHeuristicFreshness(t *testing.T) {
	const hour = time.Hour
	for _, c := range []struct {
		name   string
		cfg    Config
		status int
		after  time.Duration
		fields []string // Last-Modified in seconds from now
		want   bool
	}{
		{"a tenth", Config{}, 200, 59 * time.Minute, []string{"Last-Modified: -36000"}, true},
		{"a tenth is over", Config{}, 200, 61 * time.Minute, []string{"Last-Modified: -36000"}, false},
		{"at most a day", Config{}, 200, 25 * hour, []string{"Last-Modified: -864000000"}, false},
		{
			"a fraction of one's own",
			Config{Heuristic: Heuristic{Fraction: 0.5}},
			200, 4 * hour,
			[]string{"Last-Modified: -36000"},
			true,
		},
		{
			"a bound of one's own",
			Config{Heuristic: Heuristic{Max: time.Minute}},
			200, 2 * time.Minute,
			[]string{"Last-Modified: -36000"},
			false,
		},
		{
			"switched off",
			Config{Heuristic: Heuristic{Fraction: -1}},
			200, time.Second,
			[]string{"Last-Modified: -36000"},
			false,
		},
		{"TTL in its place", Config{TTL: time.Minute}, 200, 59 * time.Second, nil, true},
		{
			"TTL is no match for what is said",
			Config{TTL: time.Minute},
			200, 30 * time.Second,
			[]string{"Cache-Control: max-age=10"},
			false,
		},
		{"404", Config{}, 404, time.Minute, []string{"Last-Modified: -36000"}, true},
		{"201", Config{}, 201, time.Second, []string{"Last-Modified: -36000"}, false},
		{
			"403 with public",
			Config{},
			403, time.Minute,
			[]string{"Last-Modified: -36000", "Cache-Control: public"},
			true,
		},
		{"modified tomorrow", Config{}, 200, time.Second, []string{"Last-Modified: 86400"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pass(40 * 365 * 24 * hour) // dates long past must exist
				var fields []string
				for _, f := range c.fields {
					if n, ok := strings.CutPrefix(f, "Last-Modified: "); ok {
						s, err := strconv.Atoi(n)
						if err != nil {
							t.Fatal(err)
						}
						f = "Last-Modified: " + at(s)
					}
					fields = append(fields, f)
				}
				r := newRig(t, c.cfg, answer(c.status, "x", fields...))
				r.do("GET", "/")
				pass(c.after)
				if got := r.do("GET", "/").result == ResultHit; got != c.want {
					t.Errorf("reused: %t", got)
				}
			})
		})
	}
}
