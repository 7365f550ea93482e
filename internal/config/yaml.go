package config

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"example.com/quire/internal/nearest"
)

// maxFile bounds a configuration file; nobody writes more by hand.
const maxFile = 1 << 20

// Duration is written as 250ms, 20s, 1m30s.
type Duration time.Duration

// UnmarshalText parses what time.ParseDuration does.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err != nil {
		return fmt.Errorf("want a duration such as 20s or 1m30s, got %q", b)
	}
	*d = Duration(v)
	return nil
}

func (d Duration) String() string { return time.Duration(d).String() }

// Size is a number of bytes, written as 512KiB, 10MiB, 1GiB or a plain number.
type Size int64

var sizeUnits = []struct {
	suffix string
	bytes  int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"B", 1}, {"", 1}}

// UnmarshalText parses a size.
func (s *Size) UnmarshalText(b []byte) error {
	for _, u := range sizeUnits {
		digits, ok := strings.CutSuffix(string(b), u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n < 0 || n > (1<<62)/u.bytes {
			break
		}
		*s = Size(n * u.bytes)
		return nil
	}
	return fmt.Errorf("want a size such as 10MiB, got %q", b)
}

func (s Size) String() string {
	for _, u := range []int{2, 1, 0} {
		if n := sizeUnits[u]; s != 0 && int64(s)%n.bytes == 0 {
			return strconv.FormatInt(int64(s)/n.bytes, 10) + n.suffix
		}
	}
	return strconv.FormatInt(int64(s), 10) + "B"
}

// UnmarshalYAML takes a plain string as the value itself.
func (h *Header) UnmarshalYAML(b []byte) error {
	var s string
	if err := yaml.Unmarshal(b, &s); err == nil {
		h.Value = s
		return nil
	}
	type plain Header
	return yaml.Unmarshal(b, (*plain)(h))
}

// source remembers where each path of the file stands.
type source struct {
	file   string
	places map[string][2]int
	// outside are the keys whose value came from the environment: what the file has there is
	// not at fault.
	outside map[string]bool
}

// place returns line and column of a path, or of the nearest parent that the file has.
func (s *source) place(path string) (line, col int) {
	for {
		if p, ok := s.places[path]; ok {
			return p[0], p[1]
		}
		i := strings.LastIndexAny(path, ".[")
		if i < 0 {
			return 0, 0
		}
		path = path[:i]
	}
}

// parse reads file's text into c: syntax first, then every key against the type it fills,
// then the values.
func parse(file string, b []byte, c *Config) (*source, error) {
	src := &source{file: file, places: map[string][2]int{}, outside: map[string]bool{}}
	one := func(line, col int, message string) error {
		return &Error{Faults: []Fault{{File: file, Line: line, Col: col, Message: message}}}
	}
	if len(b) > maxFile {
		return nil, one(0, 0, fmt.Sprintf("%d bytes; a configuration has at most %d", len(b), maxFile))
	}
	tree, err := parser.ParseBytes(b, 0)
	if err != nil {
		return nil, yamlError(file, err)
	}
	if len(tree.Docs) > 1 {
		return nil, one(0, 0, "holds more than one YAML document")
	}
	if len(tree.Docs) == 0 || tree.Docs[0].Body == nil {
		return src, nil
	}
	w := &walker{src: src}
	w.walk(tree.Docs[0].Body, reflect.TypeFor[Config](), "")
	if len(w.faults) > 0 {
		return nil, &Error{Faults: w.faults}
	}
	if err := yaml.NodeToValue(tree.Docs[0].Body, c); err != nil {
		return nil, yamlError(file, err)
	}
	return src, nil
}

// yamlError turns the parser's error into a Fault with its place.
func yamlError(file string, err error) error {
	f := Fault{File: file, Message: err.Error()}
	if y, ok := errors.AsType[yaml.Error](err); ok {
		f.Message = y.GetMessage()
		if t := y.GetToken(); t != nil && t.Position != nil {
			f.Line, f.Col = t.Position.Line, t.Position.Column
		}
	}
	return &Error{Faults: []Fault{f}}
}

// walker checks each mapping's keys against the type that it fills.
type walker struct {
	src    *source
	faults []Fault
}

func (w *walker) fail(n ast.Node, format string, a ...any) {
	p := n.GetToken().Position
	w.faults = append(w.faults, Fault{File: w.src.file, Line: p.Line, Col: p.Column, Message: fmt.Sprintf(format, a...)})
}

func (w *walker) walk(n ast.Node, t reflect.Type, path string) {
	if n == nil {
		return
	}
	join := func(key string) string {
		if path == "" {
			return key
		}
		return path + "." + key
	}
	if p := n.GetToken().Position; w.src.places[path] == [2]int{} && p != nil {
		w.src.places[path] = [2]int{p.Line, p.Column}
	}
	_, isNull := n.(*ast.NullNode)
	switch {
	case isNull:
	case t == reflect.TypeFor[Header]():
		if _, ok := n.(*ast.StringNode); !ok {
			w.mapping(n, t, path, join)
		}
	case t.Kind() == reflect.Struct:
		w.mapping(n, t, path, join)
	case t.Kind() == reflect.Map:
		pairs, ok := pairsOf(n)
		if !ok {
			w.fail(n, "%s: want a mapping", path)
			return
		}
		for _, kv := range pairs {
			key := kv.Key.GetToken().Value
			w.note(kv, join(key))
			w.walk(kv.Value, t.Elem(), join(key))
		}
	case t.Kind() == reflect.Slice:
		list, ok := n.(*ast.SequenceNode)
		if !ok {
			w.fail(n, "%s: want a list", path)
			return
		}
		for i, v := range list.Values {
			w.walk(v, t.Elem(), fmt.Sprintf("%s[%d]", path, i))
		}
	default:
		switch n.(type) {
		case *ast.MappingNode, *ast.MappingValueNode, *ast.SequenceNode:
			w.fail(n, "%s: want a single value", path)
		default:
			w.single(n, t, path)
		}
	}
}

// single tries a value alone: an error of decoding the whole would stop at the first, and one
// of a type of ours has no place. What an alias stands for was judged at its anchor.
func (w *walker) single(n ast.Node, t reflect.Type, path string) {
	if _, ok := n.(*ast.AliasNode); ok {
		return
	}
	err := yaml.NodeToValue(n, reflect.New(t).Interface())
	if err == nil {
		return
	}
	switch t.Kind() {
	case reflect.Bool:
		w.fail(n, "%s: want true or false, got %q", path, n.GetToken().Value)
	case reflect.Int:
		w.fail(n, "%s: want a whole number, got %q", path, n.GetToken().Value)
	default:
		message := err.Error()
		if y, ok := errors.AsType[yaml.Error](err); ok {
			message = y.GetMessage() // without the lines around it
		}
		w.fail(n, "%s: %s", path, message)
	}
}

func (w *walker) note(kv *ast.MappingValueNode, path string) {
	if p := kv.Key.GetToken().Position; p != nil {
		w.src.places[path] = [2]int{p.Line, p.Column}
	}
}

func (w *walker) mapping(n ast.Node, t reflect.Type, path string, join func(string) string) {
	pairs, ok := pairsOf(n)
	if !ok {
		w.fail(n, "%s: want a mapping", path)
		return
	}
	fields := map[string]reflect.Type{}
	var names []string
	for f := range t.Fields() {
		if name := f.Tag.Get("yaml"); name != "" && name != "-" {
			fields[name] = f.Type
			names = append(names, name)
		}
	}
	for _, kv := range pairs {
		key := kv.Key.GetToken().Value
		ft, ok := fields[key]
		if !ok {
			w.fail(kv.Key, "unknown key %q%s", join(key), didYouMean(key, names))
			continue
		}
		w.note(kv, join(key))
		w.walk(kv.Value, ft, join(key))
	}
}

func pairsOf(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	default:
		return nil, false
	}
}

// didYouMean names the nearest candidate, if one is near.
func didYouMean(got string, candidates []string) string {
	near := nearest.Name(got, candidates)
	if near == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", near)
}
