package cachetest_test

import (
	"strconv"
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
	replace := func(old, v string, call, end int64) cachetest.Op {
		return cachetest.Op{Key: "k", Write: true, Value: v, Compare: true, Old: old, Call: ns(call), Return: ns(end)}
	}
	one, two := write("one", 10, 20, 1), write("two", 30, 40, 2)
	for name, tc := range map[string]struct {
		ops  []cachetest.Op
		want string
	}{
		"in order":                          {[]cachetest.Op{one, read(1, "one", 21, 22, 0), two, read(1, "two", 41, 42, 0)}, ""},
		"old within the bound":              {[]cachetest.Op{one, two, read(1, "one", 50, 51, 10)}, ""},
		"older than the bound":              {[]cachetest.Op{one, two, read(1, "one", 50, 51, 9)}, "3 calls, of 3, are not"},
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
		"replaced":                          {[]cachetest.Op{one, replace("one", "two", 30, 40), read(1, "two", 41, 42, 0)}, ""},
		"replaced what was not there":       {[]cachetest.Op{one, two, replace("one", "three", 50, 60), read(1, "three", 70, 71, 0)}, "not those of a register"},
		"two replaced the same":             {[]cachetest.Op{one, replace("one", "two", 30, 40), replace("one", "three", 35, 45)}, "not those of a register"},
		"replaced what nobody wrote":        {[]cachetest.Op{one, replace("three", "two", 30, 40)}, "never written"},
	} {
		got := strings.Join(cachetest.Violations(tc.ops), "\n")
		if (tc.want == "") != (got == "") || !strings.Contains(got, tc.want) {
			t.Errorf("%s: found %q, want %q", name, got, tc.want)
		}
	}
}

func ns(n int64) time.Duration { return time.Duration(n) }

// TestSmallestHistoryIsTold: calls that have no part in it are left out.
func TestSmallestHistoryIsTold(t *testing.T) {
	var ops []cachetest.Op
	for i := range int64(100) {
		v := strings.Repeat("v", int(i)+1)
		ops = append(ops,
			cachetest.Op{Key: "k", Write: true, Value: v, Call: ns(10 * i), Return: ns(10*i + 2), Version: cache.Version{Epoch: 1, Counter: uint64(i + 1)}},
			cachetest.Op{Key: "k", Node: 1, Value: v, Call: ns(10*i + 3), Return: ns(10*i + 4)})
	}
	if _, _, _, wrong := cachetest.Stale(ops); wrong != nil {
		t.Errorf("%v", wrong)
	}
	ops = append(ops, cachetest.Op{Key: "k", Node: 2, Value: "vvvv", Call: ns(505), Return: ns(506), Bound: ns(464)})
	reads, stale, oldest, wrong := cachetest.Stale(ops)
	if reads != 101 || stale != 1 || oldest != ns(463) || wrong != nil {
		t.Errorf("%d reads, %d stale, %v, %v", reads, stale, oldest, wrong)
	}
	if got := cachetest.Violations(ops); len(got) > 0 {
		t.Errorf("%q", got)
	}
	ops[len(ops)-1].Bound = ns(462)
	if _, _, _, wrong = cachetest.Stale(ops); wrong == nil || wrong.Node != 2 {
		t.Errorf("%v", wrong)
	}
	if got := cachetest.Violations(ops); len(got) != 1 || !strings.Contains(got[0], "3 calls, of ") || strings.Count(got[0], "\n") != 3 {
		t.Errorf("%q", got)
	}
}

// TestManyRemovalsOfUnknownOutcomeAreJudged: one was done each time that nothing was read,
// whichever it was, and in the end there is one too few. To try which is done when would take too
// long.
func TestManyRemovalsOfUnknownOutcomeAreJudged(t *testing.T) {
	const removals = 30
	var ops []cachetest.Op
	for i := range int64(removals) {
		ops = append(ops, cachetest.Op{Node: 1 + int(i), Key: "k", Write: true, Unsure: true, Call: ns(i), Return: ns(i + 1)})
	}
	at := int64(100)
	next := func(o cachetest.Op) {
		o.Key, o.Call, o.Return = "k", ns(at), ns(at+1)
		ops, at = append(ops, o), at+2
	}
	for i := range removals {
		v := strings.Repeat("v", i+1)
		next(cachetest.Op{Write: true, Value: v})
		next(cachetest.Op{Value: v})
		next(cachetest.Op{})
	}
	if got := cachetest.Violations(ops); len(got) > 0 {
		t.Errorf("as many as are needed: %q", got)
	}
	next(cachetest.Op{Write: true, Value: "last"})
	next(cachetest.Op{})
	if got := cachetest.Violations(ops); len(got) != 1 || !strings.Contains(got[0], "not those of a register") {
		t.Errorf("one too few: %q", got)
	}
}

// TestVersionsSayInWhichOrderToTry: of many writes at once, all orders cannot be tried. Where their
// versions say one in which they are right, it is found at once; where it is wrong, others are
// tried.
func TestVersionsSayInWhichOrderToTry(t *testing.T) {
	t.Parallel()
	const writes = 40
	var ops []cachetest.Op
	for i := range writes {
		ops = append(ops, cachetest.Op{
			Node: i, Key: "k", Write: true, Value: strconv.Itoa(i), Call: time.Duration(i), Return: 1000,
			Version: cache.Version{Epoch: 1, Counter: uint64(writes - i)},
		})
	}
	last := cachetest.Op{Node: writes, Key: "k", Value: "0", Call: 2000, Return: 2001}
	if wrong := cachetest.Violations(append(ops, last)); wrong != nil {
		t.Errorf("the write with the last version was the last one, but %v", wrong)
	}
	few := append(ops[:2:2], cachetest.Op{Node: writes, Key: "k", Value: "1", Call: 2000, Return: 2001})
	if wrong := cachetest.Violations(few); wrong != nil {
		t.Errorf("two writes at once may be done in any order, but %v", wrong)
	}
}
