package record

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
)

// Locate returns the line and column (both 1-based, columns in code points) of
// the value at path in a JSON text, as the text was sent. Rendering reads the
// frozen bytes, so its errors name a path; this is how they find their place in
// what the caller wrote.
//
// Paths are written trades[17].price, with ["unit price"] for names that are
// not identifiers; names that stand there bare are understood too, because
// names are matched against those that the object has. When the path
// leads beyond what is there (a missing field), the place is the object or
// array where it should have been, and exact is false. A text that is not JSON
// has no places: line and column are 0.
func Locate(text []byte, path string) (line, column int, exact bool) {
	if _, err := Canonical(text, Limits{Bytes: len(text) + 1}); err != nil {
		return 0, 0, false
	}
	found, err := places(context.Background(), text, []string{path})
	if err != nil {
		return 0, 0, false
	}
	return found[0].line, found[0].column, found[0].exact
}

// place is where a path leads.
type place struct {
	at           int // offset
	line, column int
	exact        bool // the value itself, not what should have held it
}

// places finds where the paths lead in text, which is known to be JSON. One
// pass does it: what no path leads into is skipped as a whole, and nothing is
// read twice, so the time is that of the text however many paths there are.
func places(ctx context.Context, text []byte, paths []string) ([]place, error) {
	w := newWalk(ctx, text, paths)
	if err := w.run(); err != nil {
		return nil, err
	}
	slices.SortFunc(w.paths, func(a, b wanted) int { return cmp.Compare(a.place.at, b.place.at) })
	found := make([]place, len(paths))
	c := cursor{text: text}
	for _, p := range w.paths {
		p.place.line, p.place.column = c.move(p.place.at)
		found[p.asked] = p.place
	}
	return found, nil
}

// wanted is a path that was asked for, and what is known of its place.
type wanted struct {
	path  string
	asked int // index in what was asked
	place place
}

// goal is what is left to find below a value: the paths from lo to hi, whose
// first done bytes led here.
type goal struct {
	lo, hi, done int
	dot          bool // they go on with a dot, which may stand before a name
}

// walk is one pass through a text.
type walk struct {
	locator
	ctx   context.Context // of this one pass
	paths []wanted        // sorted, so that paths that go on alike are neighbours
	read  int             // bytes skipped and values met
	check int             // the read at which to look at ctx again
}

func newWalk(ctx context.Context, text []byte, paths []string) *walk {
	w := &walk{locator: locator{text}, ctx: ctx, paths: make([]wanted, len(paths))}
	for i, path := range paths {
		w.paths[i] = wanted{path: path, asked: i}
	}
	slices.SortFunc(w.paths, func(a, b wanted) int { return cmp.Compare(a.path, b.path) })
	return w
}

func (w *walk) run() error {
	start := w.skip(0)
	_, err := w.value(start, w.reach(nil, start, goal{hi: len(w.paths)}, false))
	return err
}

// checkEvery is how much is read between two looks at the context.
const checkEvery = 1 << 16

func (w *walk) tick(n int) error {
	w.read += n
	if w.read < w.check {
		return nil
	}
	w.check = w.read + checkEvery
	return w.ctx.Err()
}

// reach notes that the paths of g lead to the value at at and appends to goals
// those that go on. Behind a bare name a path ends, or goes on with '.' or '[':
// without that it has another name.
func (w *walk) reach(goals []goal, at int, g goal, bare bool) []goal {
	var last byte // how the paths of the last goal go on
	for i := g.lo; i < g.hi; i++ {
		p := &w.paths[i]
		var next byte
		if len(p.path) > g.done {
			next = p.path[g.done]
			if bare && next != '.' && next != '[' {
				last = 0
				continue
			}
		}
		// Two names may fit ("a" and "a.b" in a.b): the one that leads to the end
		// wins, the first of them; else the one that leads furthest into the text.
		switch {
		case p.place.exact:
		case len(p.path) == g.done:
			p.place.at, p.place.exact = at, true
		default:
			p.place.at = max(p.place.at, at)
		}
		if len(p.path) == g.done {
			continue
		}
		if dot := next == '.'; last == 0 || dot != (last == '.') {
			goals = append(goals, goal{lo: i, done: g.done, dot: dot})
		}
		goals[len(goals)-1].hi = i + 1
		last = next
	}
	return goals
}

// value looks for the goals below the value at at and returns the offset
// behind it.
func (w *walk) value(at int, goals []goal) (end int, err error) {
	switch {
	case len(goals) == 0:
	case w.text[at] == '{':
		return w.object(at, goals)
	case w.text[at] == '[':
		return w.array(at, goals)
	}
	end = w.end(at)
	return end, w.tick(end - at)
}

func (w *walk) object(at int, goals []goal) (end int, err error) {
	quoted := w.quoted(goals)
	return w.members(at, func(name string, value int) (int, error) {
		if err := w.tick(1); err != nil {
			return 0, err
		}
		var below []goal
		for _, g := range goals {
			below = w.bare(below, value, g, name)
		}
		for _, g := range quoted[name] {
			below = w.reach(below, value, g, false)
		}
		return w.value(value, below)
	})
}

// bare is reach for those paths of g that go on with name as it is.
func (w *walk) bare(goals []goal, at int, g goal, name string) []goal {
	if name == "" {
		return goals
	}
	if g.dot {
		g.done++
	}
	among := w.paths[g.lo:g.hi]
	from, _ := slices.BinarySearchFunc(among, name, func(p wanted, name string) int {
		return strings.Compare(p.path[g.done:], name)
	})
	n, _ := slices.BinarySearchFunc(among[from:], name, func(p wanted, name string) int {
		if strings.HasPrefix(p.path[g.done:], name) {
			return -1
		}
		return 1
	})
	g.lo += from
	g.hi = g.lo + n
	g.done += len(name)
	return w.reach(goals, at, g, true)
}

// quoted returns the paths of goals that go on with a name in brackets and
// quotes, by that name.
func (w *walk) quoted(goals []goal) map[string][]goal {
	var names map[string][]goal
	for _, g := range goals {
		if g.dot {
			g.done++
		}
		for i := g.lo; i < g.hi; {
			segment, name, ok := cutQuoted(w.paths[i].path[g.done:])
			if !ok {
				i++
				continue
			}
			same := w.alike(i, g, segment)
			if names == nil {
				names = make(map[string][]goal)
			}
			names[name] = append(names[name], same)
			i = same.hi
		}
	}
	return names
}

// alike returns those paths of g from i on that go on with segment, behind it.
func (w *walk) alike(i int, g goal, segment string) goal {
	same := goal{lo: i, hi: i, done: g.done + len(segment)}
	for same.hi < g.hi && strings.HasPrefix(w.paths[same.hi].path[g.done:], segment) {
		same.hi++
	}
	return same
}

func (w *walk) array(at int, goals []goal) (end int, err error) {
	type indexed struct {
		index int
		goal  goal
	}
	var wants []indexed
	for _, g := range goals {
		for i := g.lo; i < g.hi && !g.dot; {
			path := w.paths[i].path[g.done:]
			index, rest, ok := cutIndex(path)
			if !ok {
				i++
				continue
			}
			same := w.alike(i, g, path[:len(path)-len(rest)])
			wants = append(wants, indexed{index, same})
			i = same.hi
		}
	}
	slices.SortStableFunc(wants, func(a, b indexed) int { return cmp.Compare(a.index, b.index) })
	i := 0
	return w.elements(at, func(value int) (int, error) {
		if err := w.tick(1); err != nil {
			return 0, err
		}
		var below []goal
		for ; len(wants) > 0 && wants[0].index == i; wants = wants[1:] {
			below = w.reach(below, value, wants[0].goal, false)
		}
		i++
		return w.value(value, below)
	})
}

// cutName removes name from the beginning of path when it stands there whole.
func cutName(path, name string) (rest string, ok bool) {
	path = strings.TrimPrefix(path, ".")
	if segment, quoted, ok := cutQuoted(path); ok && quoted == name {
		return path[len(segment):], true
	}
	rest, ok = strings.CutPrefix(path, name)
	if !ok || name == "" {
		return "", false
	}
	return rest, rest == "" || rest[0] == '.' || rest[0] == '['
}

// cutQuoted returns the ["name"] at the beginning of path, in the spelling of
// pathString, and the name.
func cutQuoted(path string) (segment, name string, ok bool) {
	if !strings.HasPrefix(path, `["`) {
		return "", "", false
	}
	end := 2
	for end < len(path) && path[end] != '"' {
		if path[end] == '\\' {
			end++
		}
		end++
	}
	if end+1 >= len(path) || path[end+1] != ']' {
		return "", "", false
	}
	p := parser{text: []byte(path[1 : end+1])}
	name, err := p.str()
	if err != nil || string(appendString(nil, name)) != path[1:end+1] {
		return "", "", false
	}
	return path[:end+2], name, true
}

func cutIndex(path string) (index int, rest string, ok bool) {
	path, ok = strings.CutPrefix(path, "[")
	if !ok {
		return 0, "", false
	}
	digits, rest, ok := strings.Cut(path, "]")
	if !ok {
		return 0, "", false
	}
	index, err := strconv.Atoi(digits)
	return index, rest, err == nil && index >= 0
}

// locator reads text that is known to be JSON.
type locator struct{ text []byte }

// members calls visit for each member of the object at at, with its name and
// the offset of its value; visit returns the offset behind the value. It
// returns the offset behind the object, or the error of visit.
func (l locator) members(at int, visit func(name string, value int) (end int, err error)) (int, error) {
	at = l.skip(at + 1)
	for l.text[at] == '"' {
		p := parser{text: l.text, at: at}
		name, err := p.str()
		if err != nil {
			return 0, err
		}
		end, err := visit(name, l.skip(l.skip(p.at)+1))
		if err != nil {
			return 0, err
		}
		if at = l.skip(end); l.text[at] == ',' {
			at = l.skip(at + 1)
		}
	}
	return at + 1, nil
}

// elements is members for the array at at.
func (l locator) elements(at int, visit func(value int) (end int, err error)) (int, error) {
	at = l.skip(at + 1)
	for l.text[at] != ']' {
		end, err := visit(at)
		if err != nil {
			return 0, err
		}
		if at = l.skip(end); l.text[at] == ',' {
			at = l.skip(at + 1)
		}
	}
	return at + 1, nil
}

func (l locator) skip(at int) int {
	for at < len(l.text) && strings.IndexByte(" \t\r\n", l.text[at]) >= 0 {
		at++
	}
	return at
}

// end returns the offset behind the value at at.
func (l locator) end(at int) int {
	depth := 0
	for at < len(l.text) {
		switch l.text[at] {
		case '"':
			at++
			for l.text[at] != '"' {
				if l.text[at] == '\\' {
					at++
				}
				at++
			}
			at++
		case '{', '[':
			depth++
			at++
			continue
		case '}', ']':
			depth--
			at++
		case ',', ':', ' ', '\t', '\r', '\n':
			at++
			continue
		default:
			n := bytes.IndexAny(l.text[at:], ",]}: \t\r\n")
			if n < 0 {
				n = len(l.text) - at
			}
			at += n
		}
		if depth == 0 {
			return at
		}
	}
	return at
}
