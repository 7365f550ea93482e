package cachetest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"example.com/quire/cache"
)

// Op is one call of one node in a history. Times count from one instant for all nodes.
type Op struct {
	Node  int // the process, or what stands for one
	Key   string
	Write bool
	// Value is what was written or read, "" for no value. No two writes have the same one, but for
	// removals.
	Value string
	// Compare marks a write that was done because the value was Old.
	Compare      bool
	Old          string
	Call, Return time.Duration
	// Version is that of a write, if the writer learnt it.
	Version cache.Version
	// Unsure marks a write of which it is not known whether it was done, or is to be done yet.
	Unsure bool
	// Bound is what the node reported, when a read was called, of how old its answer may be.
	Bound time.Duration
}

// maxViolations is how many violations of a history are told.
const maxViolations = 20

// Violations judges a history in which no key had a value at first. It returns what is wrong:
//
//   - a key whose calls are not those of one register, where a read may be answered as of any
//     instant from Bound before its call on; so a bound that is below the true staleness is found,
//     as is an acknowledged write that was lost;
//   - a read of a node that is older than what the node has read of the key before.
func Violations(ops []Op) (wrong []string) {
	keys := map[string][]Op{}
	for _, o := range ops {
		keys[o.Key] = append(keys[o.Key], o)
	}
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		all := keys[k]
		if why := notARegister(all); why != "" {
			wrong = append(wrong, fmt.Sprintf("key %s: %s", k, why))
		}
		wrong = append(wrong, goingBack(k, all)...)
		if len(wrong) >= maxViolations {
			return wrong
		}
	}
	return wrong
}

// register is the model of one key. Values are numbers.
//
// A removal of unknown outcome may be done at any instant after its call. Of several that are left,
// it makes no difference which is done: if a later one may be done, so may an earlier one in its
// place. So they are done in the order of their calls; to try all orders takes twice the time for
// each more.
var register = porcupine.Model{
	Init: func() any { return have{} },
	Step: func(state, in, _ any) (bool, any) {
		c, h := in.(call), state.(have) //nolint:forcetypeassert // made below
		switch {
		case c.removal > 0:
			return c.removal == h.removals+1, have{removals: c.removal, writes: h.writes}
		case c.write:
			if c.order > 0 {
				if c.order != h.writes+1 {
					return false, h
				}
				h.writes++
			}
			return !c.compare || c.old == h.value, have{value: c.value, removals: h.removals, writes: h.writes}
		}
		return c.value == h.value, h
	},
	Hash: func(state any) uint64 {
		h := state.(have) //nolint:forcetypeassert // made above
		return uint64(h.value)<<40 | uint64(h.removals)<<20 | uint64(h.writes)
	},
}

// have is what a key has, and how many removals of unknown outcome and how many writes in an order
// have been done.
type have struct{ value, removals, writes int }

type call struct {
	write, compare bool
	value, old     int
	removal        int // of unknown outcome: which, from 1 on
	order          int // among the writes that are tried in one order only, from 1 on
}

// judging is how long porcupine may think about one key. Histories of a few thousand calls take
// milliseconds.
const judging = time.Minute

// notARegister says what is wrong with the calls of one key; "" for nothing.
func notARegister(all []Op) string {
	if v, ok := unwritten(all); ok {
		return fmt.Sprintf("%q was read and never written", v)
	}
	switch judge(all, judging) {
	case porcupine.Ok:
		return ""
	case porcupine.Unknown:
		return fmt.Sprintf("not judged within %v: %d calls", judging, len(all))
	case porcupine.Illegal:
	}
	few := fewest(shortest(all))
	lines := make([]string, 0, maxShown)
	for _, o := range few[max(len(few)-maxShown, 0):] {
		lines = append(lines, "\n\t"+o.String())
	}
	return fmt.Sprintf("%d calls, of %d, are not those of a register:%s", len(few), len(all), strings.Join(lines, ""))
}

// maxShown is how many calls of a history that is wrong are shown.
const maxShown = 16

// String tells what was called, and when.
func (o Op) String() string {
	what := "reads"
	switch {
	case o.Compare:
		what = fmt.Sprintf("replaces %q by", o.Old)
	case o.Write && o.Value == "":
		what = "removes"
	case o.Write:
		what = "writes"
	}
	s := fmt.Sprintf("node %d %s %q from %v to %v", o.Node, what, o.Value, o.Call, o.Return)
	switch {
	case o.Unsure:
		s += ", perhaps"
	case !o.Write:
		s += fmt.Sprintf(" with a bound of %v", o.Bound)
	case o.Version != (cache.Version{}):
		s += fmt.Sprintf(" as %d", o.Version.Counter)
	}
	return s
}

// unwritten returns a value that was read, or replaced, and that nobody wrote.
func unwritten(all []Op) (string, bool) {
	written := map[string]bool{"": true}
	for _, o := range all {
		written[o.Value] = written[o.Value] || o.Write
	}
	for _, o := range all {
		if !written[o.Value] {
			return o.Value, true
		}
		if !written[o.Old] {
			return o.Old, true
		}
	}
	return "", false
}

// shortest returns the calls up to the first instant, by their ends, at which those of all are
// wrong. A write that goes on then may be done yet.
func shortest(all []Op) []Op {
	all = slices.SortedFunc(slices.Values(all), func(a, b Op) int { return cmp.Compare(a.Return, b.Return) })
	until := func(n int) []Op {
		some := slices.Clone(all[:n])
		for _, o := range all[n:] {
			if o.Write && n > 0 && o.Call <= all[n-1].Return {
				o.Unsure = true
				some = append(some, o)
			}
		}
		return some
	}
	n := sort.Search(len(all), func(n int) bool { return judge(until(n), judging) == porcupine.Illegal })
	return until(n)
}

// fewest leaves out calls without which the others are wrong still: the last ones first, as nothing
// may be read that nobody has written. Removals that may be why nothing was read stay.
func fewest(all []Op) []Op {
	removal := func(o Op) bool { return o.Write && o.Value == "" }
	var removals []Op
	for _, o := range all {
		if removal(o) {
			removals = append(removals, o)
		}
	}
	all = slices.DeleteFunc(slices.Clone(all), removal)
	with := func(some []Op) []Op {
		from, to := time.Duration(math.MaxInt64), time.Duration(0)
		for _, o := range some {
			from, to = min(from, o.Call-o.Bound), max(to, o.Return)
		}
		some = slices.Clone(some)
		for _, o := range removals {
			if o.Call <= to && (o.Unsure || o.Return >= from) {
				some = append(some, o)
			}
		}
		return some
	}
	for size := (len(all) + 1) / 2; size > 0; size /= 2 {
		for end := len(all); end > 0; end -= size {
			some := slices.Delete(slices.Clone(all), max(end-size, 0), end)
			if _, missing := unwritten(some); !missing && judge(with(some), judging/60) == porcupine.Illegal {
				all = some
			}
		}
	}
	return with(all)
}

// judge asks porcupine about the calls of one key, each of whose values is written once. Mostly
// they are those of a register whose writes are done in the order of their versions, which is seen
// at once. Only where they are not, all orders are tried, which may take long.
func judge(all []Op, patience time.Duration) porcupine.CheckResult {
	if inOrder(all, patience, orders(all)) == porcupine.Ok {
		return porcupine.Ok
	}
	return inOrder(all, patience, nil)
}

// orders numbers the versions of writes from 1 on, those of one epoch as they are counted.
func orders(all []Op) map[cache.Version]int {
	began := map[uint64]time.Duration{} // epochs
	var list []cache.Version
	for _, o := range all {
		if !o.Write || o.Unsure || o.Version == (cache.Version{}) {
			continue
		}
		list = append(list, o.Version)
		if at, ok := began[o.Version.Epoch]; !ok || o.Call < at {
			began[o.Version.Epoch] = o.Call
		}
	}
	slices.SortFunc(list, func(a, b cache.Version) int {
		return cmp.Or(cmp.Compare(began[a.Epoch], began[b.Epoch]), cmp.Compare(a.Epoch, b.Epoch), cmp.Compare(a.Counter, b.Counter))
	})
	order := map[cache.Version]int{}
	for i, v := range slices.Compact(list) {
		order[v] = i + 1
	}
	return order
}

// inOrder is judge with the writes in an order, as far as it has them.
func inOrder(all []Op, patience time.Duration, order map[cache.Version]int) porcupine.CheckResult {
	end, seen, called := time.Duration(0), map[string]time.Duration{}, map[string]time.Duration{}
	see := func(v string, by time.Duration) {
		if was, ok := seen[v]; !ok || by < was {
			seen[v] = by
		}
	}
	for _, o := range all {
		end = max(end, o.Return)
		if o.Compare && !o.Unsure {
			see(o.Old, o.Return)
		}
		if o.Write {
			called[o.Value] = o.Call
		} else {
			see(o.Value, o.Return)
		}
	}
	numbers := map[string]int{"": 0}
	number := func(v string) int {
		if _, ok := numbers[v]; !ok {
			numbers[v] = len(numbers)
		}
		return numbers[v]
	}
	history := make([]porcupine.Operation, 0, len(all))
	removals := 0
	for _, o := range slices.SortedStableFunc(slices.Values(telling(all, called)), func(a, b Op) int { return cmp.Compare(a.Call, b.Call) }) {
		by, was := seen[o.Value]
		removal := 0
		switch {
		case o.Write && o.Unsure && !was:
			continue // not done for any reader: that it is done after the end is always right
		case o.Write && o.Unsure && o.Value == "":
			removals++
			o.Return, removal = end+1, removals
		case o.Write && o.Unsure, o.Write && was && o.Value != "" && by < o.Return:
			o.Return = max(by, o.Call) // it was done when somebody had seen it
		}
		history = append(history, porcupine.Operation{
			ClientId: o.Node, Call: int64(o.Call), Return: int64(o.Return),
			Input: call{write: o.Write, value: number(o.Value), compare: o.Compare, old: number(o.Old), removal: removal, order: orderOf(o, order)},
		})
	}
	return porcupine.CheckOperationsTimeout(register, history, patience)
}

// orderOf is where a write is in an order; 0: it is not in it.
func orderOf(o Op, order map[cache.Version]int) int {
	if !o.Write || o.Unsure {
		return 0
	}
	return order[o.Version]
}

// telling returns the writes, and the reads with their bounds as part of their times. A read that
// lasted while another one of the same value began and ended says nothing that this one does not,
// and is left out.
//
// called is when the writes of the values began: no read is answered as of an instant before.
func telling(all []Op, called map[string]time.Duration) (some []Op) {
	reads := map[string][]Op{}
	for _, o := range all {
		if o.Write {
			some = append(some, o)
			continue
		}
		if o.Call -= o.Bound; o.Value != "" {
			o.Call = max(o.Call, min(called[o.Value], o.Return))
		}
		reads[o.Value] = append(reads[o.Value], o)
	}
	for _, same := range reads {
		slices.SortFunc(same, func(a, b Op) int { return cmp.Or(cmp.Compare(a.Return, b.Return), cmp.Compare(b.Call, a.Call)) })
		last := same[0]
		some = append(some, last)
		for _, o := range same[1:] {
			if o.Call > last.Call {
				some, last = append(some, o), o
			}
		}
	}
	return some
}

// versions are those of the values of one key that are known.
func versions(all []Op) map[string]cache.Version {
	m := map[string]cache.Version{}
	for _, o := range all {
		if o.Write && o.Value != "" && o.Version != (cache.Version{}) {
			m[o.Value] = o.Version
		}
	}
	return m
}

// Stale says of how many reads it is known for how long, at least, what they returned had been
// replaced when they were called, how many of them were not of the present value, how old the
// oldest was, and what the first one was of which the bound was less than that.
func Stale(ops []Op) (reads, stale int, oldest time.Duration, wrong *Op) {
	keys := map[string][]Op{}
	for _, o := range ops {
		keys[o.Key] = append(keys[o.Key], o)
	}
	for _, all := range keys {
		known := versions(all)
		// The latest writes come first, each with the earliest end of those that are not before it.
		writes := slices.DeleteFunc(slices.Clone(all), func(o Op) bool { return !o.Write || o.Unsure || o.Version == (cache.Version{}) })
		slices.SortFunc(writes, func(a, b Op) int {
			return cmp.Or(cmp.Compare(a.Version.Epoch, b.Version.Epoch), cmp.Compare(b.Version.Counter, a.Version.Counter))
		})
		for i := 1; i < len(writes); i++ {
			if writes[i-1].Version.Epoch == writes[i].Version.Epoch {
				writes[i].Return = min(writes[i].Return, writes[i-1].Return)
			}
		}
		for _, r := range all {
			had, ok := known[r.Value]
			if r.Write || !ok {
				continue
			}
			reads++
			// What stands before had is later.
			i, _ := slices.BinarySearchFunc(writes, had, func(w Op, v cache.Version) int {
				return cmp.Or(cmp.Compare(w.Version.Epoch, v.Epoch), cmp.Compare(v.Counter, w.Version.Counter))
			})
			if i == 0 || writes[i-1].Version.Epoch != had.Epoch || writes[i-1].Return >= r.Call {
				continue
			}
			age := r.Call - writes[i-1].Return
			stale, oldest = stale+1, max(oldest, age)
			if age > r.Bound && wrong == nil {
				wrong = &r
			}
		}
	}
	return reads, stale, oldest, wrong
}

// goingBack finds reads of a node that are older than what it has read of the key before.
func goingBack(k string, all []Op) (wrong []string) {
	known := versions(all)
	nodes := map[int][]Op{}
	for _, o := range all {
		if _, ok := known[o.Value]; ok && !o.Write {
			nodes[o.Node] = append(nodes[o.Node], o)
		}
	}
	for node, reads := range nodes {
		ended := slices.Clone(reads)
		slices.SortFunc(reads, func(a, b Op) int { return cmp.Compare(a.Call, b.Call) })
		slices.SortFunc(ended, func(a, b Op) int { return cmp.Compare(a.Return, b.Return) })
		newest := Op{}
		for _, r := range reads {
			for ; len(ended) > 0 && ended[0].Return < r.Call; ended = ended[1:] {
				if v := known[ended[0].Value]; newest.Key == "" || v.Epoch != known[newest.Value].Epoch || v.Counter > known[newest.Value].Counter {
					newest = ended[0]
				}
			}
			if v, was := known[r.Value], known[newest.Value]; newest.Key != "" && v.Epoch == was.Epoch && v.Counter < was.Counter {
				wrong = append(wrong, fmt.Sprintf("key %s: node %d read %q (%d) at %v, after %q (%d) at %v", k, node, r.Value, v.Counter, r.Call, newest.Value, was.Counter, newest.Call))
				break
			}
		}
	}
	return wrong
}
