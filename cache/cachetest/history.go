package cachetest

import (
	"cmp"
	"fmt"
	"maps"
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
	// Value is what was written or read, "" for no value. No two writes have the same one, but for removals.
	Value        string
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
//   - a key whose calls are not those of one register, where a read may be answered as of any instant
//     from Bound before its call on; so a bound that is below the true staleness is found, as is an
//     acknowledged write that was lost;
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

// register is the model of one key: its state, input and output are numbers of values.
var register = porcupine.Model{
	Init: func() any { return 0 },
	Step: func(state, in, _ any) (bool, any) {
		c, have := in.(call), state.(int) //nolint:forcetypeassert // made below
		return c.write || c.value == have, c.value
	},
	Hash: func(state any) uint64 { return uint64(state.(int)) }, //nolint:forcetypeassert // the model keeps numbers
}

type call struct {
	write bool
	value int
}

// judging is how long porcupine may think about one key. Histories of a few thousand calls take
// milliseconds.
const judging = time.Minute

// notARegister says what is wrong with the calls of one key; "" for nothing.
func notARegister(all []Op) string {
	written := map[string]bool{"": true}
	for _, o := range all {
		written[o.Value] = written[o.Value] || o.Write
	}
	for _, o := range all {
		if !written[o.Value] {
			return fmt.Sprintf("%q was read and never written", o.Value)
		}
	}
	switch judge(all) {
	case porcupine.Ok:
		return ""
	case porcupine.Unknown:
		return fmt.Sprintf("not judged within %v: %d calls", judging, len(all))
	case porcupine.Illegal:
	}
	if why := tooOld(all); why != "" {
		return why
	}
	few := shortest(all)
	lines := make([]string, 0, maxShown)
	for _, o := range few[max(len(few)-maxShown, 0):] {
		lines = append(lines, fmt.Sprintf("\n\t%+v", o))
	}
	return fmt.Sprintf("%d calls are not those of a register, the last of them:%s", len(few), strings.Join(lines, ""))
}

// maxShown is how many calls of a history that is wrong are shown.
const maxShown = 16

// shortest returns the calls up to the first instant, by their ends, at which those of all are wrong. A
// write that goes on then may be done yet.
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
	n := sort.Search(len(all), func(n int) bool { return judge(until(n)) == porcupine.Illegal })
	return until(n)
}

// judge asks porcupine about the calls of one key.
func judge(all []Op) porcupine.CheckResult {
	end, read := time.Duration(0), map[string]bool{}
	for _, o := range all {
		end = max(end, o.Return)
		read[o.Value] = read[o.Value] || !o.Write
	}
	numbers := map[string]int{"": 0}
	history := make([]porcupine.Operation, 0, len(all))
	for _, o := range telling(all) {
		if o.Write && o.Unsure {
			if !read[o.Value] {
				continue // not done for any reader: that it is done after the end is always right
			}
			o.Return = end + 1
		}
		if _, ok := numbers[o.Value]; !ok {
			numbers[o.Value] = len(numbers)
		}
		history = append(history, porcupine.Operation{
			ClientId: o.Node, Input: call{write: o.Write, value: numbers[o.Value]}, Call: int64(o.Call), Return: int64(o.Return),
		})
	}
	return porcupine.CheckOperationsTimeout(register, history, judging)
}

// telling returns the writes, and the reads with their bounds as part of their times. A read that lasted
// while another one of the same value began and ended says nothing that this one does not, and is left out.
func telling(all []Op) (some []Op) {
	reads := map[string][]Op{}
	for _, o := range all {
		if o.Write {
			some = append(some, o)
			continue
		}
		o.Call -= o.Bound
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

// tooOld finds a read of a value that was replaced longer ago than its bound; "" for none.
func tooOld(all []Op) string {
	known := versions(all)
	for _, r := range all {
		had, ok := known[r.Value]
		if r.Write || !ok {
			continue
		}
		for _, w := range all {
			if w.Write && !w.Unsure && w.Version.Epoch == had.Epoch && w.Version.Counter > had.Counter && w.Return < r.Call-r.Bound {
				return fmt.Sprintf("node %d read %q (%d) at %v with a bound of %v, and node %d had written %q (%d) by %v",
					r.Node, r.Value, had.Counter, r.Call, r.Bound, w.Node, w.Value, w.Version.Counter, w.Return)
			}
		}
	}
	return ""
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
