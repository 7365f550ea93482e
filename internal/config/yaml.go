package config

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"example.com/quire/internal/nearest"
	"example.com/quire/internal/record"
	"example.com/quire/internal/strictyaml"
)

// What a configuration file may be; nobody writes more by hand.
const (
	maxFile  = 1 << 20
	maxDepth = 16
	maxNodes = 50_000
)

// Duration is written as 250ms, 20s, 1m30s.
type Duration time.Duration

// UnmarshalText parses like time.ParseDuration. Its error says what is expected.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err != nil {
		return errors.New("a duration such as 20s or 1m30s")
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

// UnmarshalText parses a size. Its error says what is expected.
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
	return errors.New("a size such as 10MiB")
}

func (s Size) String() string {
	for _, u := range []int{2, 1, 0} {
		if n := sizeUnits[u]; s != 0 && int64(s)%n.bytes == 0 {
			return strconv.FormatInt(int64(s)/n.bytes, 10) + n.suffix
		}
	}
	return strconv.FormatInt(int64(s), 10) + "B"
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

// fault places what is wrong with the value of a key.
func (s *source) fault(key, want, got, suggestion string) record.Problem {
	p := record.Problem{Path: key, Want: want, Got: got, Suggestion: suggestion}
	if s.file != "" && !s.outside[key] {
		p.File = s.file
		p.Line, p.Column = s.place(key)
	}
	return p
}

// parse reads file's text into c: syntax first, then every key and value against the type that
// it fills. What has a fault keeps its zero value.
func parse(file string, b []byte, c *Config) (*source, []record.Problem) {
	src := &source{file: file, places: map[string][2]int{}, outside: map[string]bool{}}
	if len(b) > maxFile {
		return src, []record.Problem{{File: file, Message: "too large", Want: fmt.Sprintf("at most %d bytes", maxFile), Got: fmt.Sprint(len(b))}}
	}
	r := &reader{src: src}
	root, problems := strictyaml.Parse(b, strictyaml.Limits{Depth: maxDepth, Nodes: maxNodes})
	for _, p := range problems {
		if p.Empty {
			return src, nil
		}
		r.faults = append(r.faults, record.Problem{File: file, Line: p.Line, Column: p.Col, Message: p.Message, Suggestion: p.Hint})
	}
	if root != nil {
		r.value(root, reflect.ValueOf(c).Elem(), "")
	}
	return src, r.faults
}

// reader fills values from nodes.
type reader struct {
	src    *source
	faults []record.Problem
}

// fail notes that the value n of a key is not what is wanted.
func (r *reader) fail(n *strictyaml.Node, key, want string) {
	p := record.Problem{File: r.src.file, Line: n.Line, Column: n.Col, Path: key, Want: want}
	if n.IsScalar() {
		p.Got = strconv.Quote(n.Text)
	}
	r.faults = append(r.faults, p)
}

// value fills v, which may be set, from n. A key without a value leaves v as it is.
func (r *reader) value(n *strictyaml.Node, v reflect.Value, path string) {
	if _, ok := r.src.places[path]; !ok {
		r.src.places[path] = [2]int{n.Line, n.Col}
	}
	if n.Kind == strictyaml.Null {
		return
	}
	if h, ok := reflect.TypeAssert[*Secret](v.Addr()); ok && n.IsScalar() { // a plain text is the value itself
		h.Value = n.Text
		return
	}
	if t, ok := reflect.TypeAssert[encoding.TextUnmarshaler](v.Addr()); ok && n.IsScalar() {
		if err := t.UnmarshalText([]byte(n.Text)); err != nil {
			r.fail(n, path, err.Error())
		}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		r.record(n, v, path)
	case reflect.Map:
		if n.Kind != strictyaml.Mapping {
			r.fail(n, path, "a mapping")
			return
		}
		v.Set(reflect.MakeMapWithSize(v.Type(), len(n.Keys)))
		for i, k := range n.Keys {
			item := reflect.New(v.Type().Elem()).Elem()
			r.member(k, n.Values[i], item, path)
			v.SetMapIndex(reflect.ValueOf(k.Text), item)
		}
	case reflect.Slice:
		if n.Kind != strictyaml.Sequence {
			r.fail(n, path, "a list")
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), len(n.Items), len(n.Items)))
		for i, item := range n.Items {
			r.value(item, v.Index(i), fmt.Sprintf("%s[%d]", path, i))
		}
	default:
		r.scalar(n, v, path)
	}
}

func (r *reader) scalar(n *strictyaml.Node, v reflect.Value, path string) {
	switch {
	case !n.IsScalar():
		r.fail(n, path, "a single value")
	case v.Kind() == reflect.String:
		v.SetString(n.Text)
	case v.Kind() == reflect.Bool:
		if n.Kind != strictyaml.Bool {
			r.fail(n, path, "true or false")
			return
		}
		v.SetBool(strings.EqualFold(n.Text, "true"))
	default: // the only numbers are of type int
		i, err := strconv.Atoi(n.Text)
		if err != nil || n.Kind != strictyaml.Int {
			r.fail(n, path, "a whole number")
			return
		}
		v.SetInt(int64(i))
	}
}

// member fills v, the value under key.
func (r *reader) member(key, n *strictyaml.Node, v reflect.Value, path string) {
	path = join(path, key.Text)
	r.src.places[path] = [2]int{key.Line, key.Col}
	r.value(n, v, path)
}

// record fills a struct, whose fields name their keys by the tag yaml.
func (r *reader) record(n *strictyaml.Node, v reflect.Value, path string) {
	if n.Kind != strictyaml.Mapping {
		r.fail(n, path, "a mapping")
		return
	}
	fields := map[string]int{}
	var names []string
	for i := range v.NumField() {
		if name := v.Type().Field(i).Tag.Get("yaml"); name != "" && name != "-" {
			fields[name] = i
			names = append(names, name)
		}
	}
	for i, key := range n.Keys {
		f, ok := fields[key.Text]
		if !ok {
			r.faults = append(r.faults, record.Problem{
				File: r.src.file, Line: key.Line, Column: key.Col, Path: join(path, key.Text),
				Message: "unknown key", Suggestion: didYouMean(key.Text, names),
			})
			continue
		}
		r.member(key, n.Values[i], v.Field(f), path)
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// didYouMean names the nearest candidate, if one is near.
func didYouMean(got string, candidates []string) string {
	near := nearest.Name(got, candidates)
	if near == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", near)
}
