package cachetest_test

import (
	"strings"
	"testing"
	"time"

	"example.com/quire/cache"
	"example.com/quire/cache/cachetest"
)

// TestViolationsAreFound, and what only looks like one is none.
func TestViolationsAreFound(t *testing.T) {
	write := func(v string, call, end int64, counter uint64) cachetest.Op {
		return cachetest.Op{Key: "k", Write: true, Value: v, Call: ns(call), Return: ns(end), Version: cache.Version{Epoch: 1, Counter: counter}}
	}
	unsure := func(v string, call, end int64) cachetest.Op {
		return cachetest.Op{Key: "k", Write: true, Value: v, Call: ns(call), Return: ns(end), Unsure: true}
	}
	read := func(node int, v string, call, end, bound int64) cachetest.Op {
		return cachetest.Op{Key: "k", Node: node, Value: v, Call: ns(call), Return: ns(end), Bound: ns(bound)}
	}
	one, two := write("one", 10, 20, 1), write("two", 30, 40, 2)
	for name, tc := range map[string]struct {
		ops  []cachetest.Op
		want string
	}{
		"in order":                          {[]cachetest.Op{one, read(1, "one", 21, 22, 0), two, read(1, "two", 41, 42, 0)}, ""},
		"old within the bound":              {[]cachetest.Op{one, two, read(1, "one", 50, 51, 10)}, ""},
		"older than the bound":              {[]cachetest.Op{one, two, read(1, "one", 50, 51, 9)}, "with a bound of"},
		"a node goes back within its bound": {[]cachetest.Op{one, two, read(1, "two", 41, 42, 0), read(1, "one", 43, 44, 20)}, "after \"two\""},
		"two nodes differ":                  {[]cachetest.Op{one, two, read(1, "two", 41, 42, 0), read(2, "one", 43, 44, 20)}, ""},
		"reads that overlap":                {[]cachetest.Op{one, two, read(1, "two", 31, 42, 0), read(1, "one", 35, 44, 20)}, ""},
		"a lost write":                      {[]cachetest.Op{one, two, read(-1, "", 90, 91, 0)}, "not those of a register"},
		"nobody wrote it":                   {[]cachetest.Op{one, read(1, "three", 50, 51, 0)}, "never written"},
		"removed":                           {[]cachetest.Op{one, write("", 30, 40, 0), read(1, "", 41, 42, 0)}, ""},
		"removed and back":                  {[]cachetest.Op{one, write("", 30, 40, 0), read(1, "one", 41, 42, 0)}, "not those of a register"},
		"done late":                         {[]cachetest.Op{unsure("late", 1, 2), one, read(1, "one", 25, 26, 0), read(2, "late", 50, 51, 0)}, ""},
		"done and undone":                   {[]cachetest.Op{unsure("late", 1, 2), one, read(1, "late", 25, 26, 0), read(2, "one", 50, 51, 0)}, "not those of a register"},
		"never done":                        {[]cachetest.Op{one, unsure("late", 1, 2), read(1, "one", 50, 51, 0)}, ""},
	} {
		got := strings.Join(cachetest.Violations(tc.ops), "\n")
		if (tc.want == "") != (got == "") || !strings.Contains(got, tc.want) {
			t.Errorf("%s: found %q, want %q", name, got, tc.want)
		}
	}
}

func ns(n int64) time.Duration { return time.Duration(n) }
