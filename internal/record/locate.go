package record

import (
	"bytes"
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
	l := locator{text: text}
	at, exact := l.find(l.skip(0), path)
	line, column = position(text, at)
	return line, column, exact
}

// locator walks text that is known to be JSON.
type locator struct{ text []byte }

// find returns the offset of the value at path below the value at offset at.
func (l locator) find(at int, path string) (int, bool) {
	if path == "" {
		return at, true
	}
	best := at
	switch l.text[at] {
	case '{':
		for name, value := range l.members(at) {
			rest, ok := cutName(path, name)
			if !ok {
				continue
			}
			// Two names may fit ("a" and "a.b" in a.b): the one that leads to the end wins.
			found, exact := l.find(value, rest)
			if exact {
				return found, true
			}
			best = max(best, found)
		}
	case '[':
		if index, rest, ok := cutIndex(path); ok {
			i := 0
			for value := range l.elements(at) {
				if i == index {
					return l.find(value, rest)
				}
				i++
			}
		}
	}
	return best, false
}

// cutName removes name from the beginning of path when it stands there whole.
func cutName(path, name string) (rest string, ok bool) {
	path = strings.TrimPrefix(path, ".")
	quoted := "[" + string(appendString(nil, name)) + "]"
	if rest, ok = strings.CutPrefix(path, quoted); ok {
		return rest, true
	}
	rest, ok = strings.CutPrefix(path, name)
	if !ok || name == "" {
		return "", false
	}
	return rest, rest == "" || rest[0] == '.' || rest[0] == '['
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

// members yields name and offset of the value of each member of the object at at.
func (l locator) members(at int) func(yield func(string, int) bool) {
	return func(yield func(string, int) bool) {
		at = l.skip(at + 1)
		for l.text[at] == '"' {
			p := parser{text: l.text, at: at}
			name, err := p.str()
			if err != nil {
				return
			}
			value := l.skip(l.skip(p.at) + 1)
			if !yield(name, value) {
				return
			}
			at = l.skip(l.end(value))
			if l.text[at] == ',' {
				at = l.skip(at + 1)
			}
		}
	}
}

// elements yields the offset of each element of the array at at.
func (l locator) elements(at int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		at = l.skip(at + 1)
		for l.text[at] != ']' {
			if !yield(at) {
				return
			}
			at = l.skip(l.end(at))
			if l.text[at] == ',' {
				at = l.skip(at + 1)
			}
		}
	}
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
