package web

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"example.com/quire/internal/nearest"
)

// scanner reads a JSON text (RFC 8259) once before encoding/json does, for what
// that package lets pass: duplicate names, invalid UTF-8, lone surrogates,
// depth, size, and unknown names with their place. It follows the Go type as
// far as it is known, to judge names.
type scanner struct {
	data     []byte
	i        int
	depth    int
	nodes    int
	maxDepth int // 0 or less: no limit
	maxNodes int
	lax      bool
	plans    *sync.Map
	path     []step

	find    int // offset whose pointer is wanted; -1 none
	found   string
	foundAt int
}

// step is one part of the pointer to the present value.
type step struct {
	name  string
	index int // -1 for a name
}

func (s *scanner) pointer() string {
	var b strings.Builder
	for _, p := range s.path {
		b.WriteByte('/')
		if p.index >= 0 {
			b.WriteString(strconv.Itoa(p.index))
			continue
		}
		b.WriteString(pointerEscapes.Replace(p.name))
	}
	return b.String()
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// position returns line and column of an offset, both from 1, the column in bytes.
func position(data []byte, at int) (line, column int) {
	at = min(at, len(data))
	return 1 + bytes.Count(data[:at], newline), at - bytes.LastIndexByte(data[:at], '\n')
}

func (s *scanner) fail(kind BindKind, at int, got, want string) error {
	line, column := position(s.data, at)
	return &BindError{
		Source: "body", Pointer: s.pointer(), Kind: kind, Got: shorten(got), Want: want,
		Line: line, Column: column,
	}
}

// unexpected complains of the byte at i.
func (s *scanner) unexpected(want string) error {
	if s.i >= len(s.data) {
		return s.fail(BindSyntax, len(s.data), "end of text", want)
	}
	r, n := utf8.DecodeRune(s.data[s.i:])
	if r == utf8.RuneError && n == 1 {
		return s.fail(BindUTF8, s.i, "", "invalid UTF-8")
	}
	return s.fail(BindSyntax, s.i, string(r), want)
}

func (s *scanner) space() {
	for s.i < len(s.data) {
		switch s.data[s.i] {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return
		}
	}
}

// document reads the whole text as one value of type t; nil is any type.
func (s *scanner) document(t reflect.Type) error {
	s.space()
	if s.i == len(s.data) {
		return s.fail(BindMissing, s.i, "", "a JSON value")
	}
	if err := s.value(t); err != nil {
		return err
	}
	s.space()
	if s.i < len(s.data) {
		return s.fail(BindTrailing, s.i, "", "the end of the text")
	}
	return nil
}

func (s *scanner) value(t reflect.Type) error {
	if s.nodes++; s.maxNodes > 0 && s.nodes > s.maxNodes {
		return s.fail(BindNodes, s.i, "", fmt.Sprintf("more than %d values", s.maxNodes))
	}
	start := s.i
	err := s.anyValue(t)
	if s.find >= start && s.find <= s.i && s.found == "" && err == nil && s.foundAt == 0 {
		// Values end inside out, so the first to cover the offset is the innermost.
		s.found, s.foundAt = s.pointer(), start
		s.find = -1
	}
	return err
}

func (s *scanner) anyValue(t reflect.Type) error {
	if s.i >= len(s.data) {
		return s.unexpected("a JSON value")
	}
	switch c := s.data[s.i]; {
	case c == '{':
		return s.object(s.known(t))
	case c == '[':
		return s.array(s.known(t))
	case c == '"':
		_, err := s.text()
		return err
	case c == '-' || isDigit(c):
		return s.number()
	case c == 't':
		return s.word("true")
	case c == 'f':
		return s.word("false")
	case c == 'n':
		return s.word("null")
	}
	return s.unexpected("a JSON value")
}

func (s *scanner) word(w string) error {
	for k := range len(w) {
		if s.i >= len(s.data) || s.data[s.i] != w[k] {
			return s.unexpected(w)
		}
		s.i++
	}
	return nil
}

func (s *scanner) number() error {
	if s.data[s.i] == '-' {
		s.i++
	}
	zero := s.i < len(s.data) && s.data[s.i] == '0'
	if zero {
		s.i++
	} else if !s.digits() {
		return s.unexpected("a digit")
	}
	if zero && s.i < len(s.data) && isDigit(s.data[s.i]) {
		return s.unexpected("no digit after a leading zero")
	}
	if s.i < len(s.data) && s.data[s.i] == '.' {
		s.i++
		if !s.digits() {
			return s.unexpected("a digit")
		}
	}
	if s.i < len(s.data) && s.data[s.i]|0x20 == 'e' {
		s.i++
		if s.i < len(s.data) && (s.data[s.i] == '+' || s.data[s.i] == '-') {
			s.i++
		}
		if !s.digits() {
			return s.unexpected("a digit")
		}
	}
	return nil
}

func (s *scanner) digits() bool {
	start := s.i
	for s.i < len(s.data) && isDigit(s.data[s.i]) {
		s.i++
	}
	return s.i > start
}

// text reads a string and returns it decoded.
func (s *scanner) text() (string, error) {
	s.i++
	start, plain := s.i, true
	for s.i < len(s.data) {
		switch c := s.data[s.i]; {
		case c == '"':
			raw := s.data[start:s.i]
			s.i++
			if plain {
				return string(raw), nil
			}
			var out string
			if err := json.Unmarshal(s.data[start-1:s.i], &out); err != nil {
				return "", s.fail(BindSyntax, start-1, "", "a string")
			}
			return out, nil
		case c == '\\':
			plain = false
			if err := s.escape(); err != nil {
				return "", err
			}
		case c < ' ':
			return "", s.fail(BindSyntax, s.i, string(rune(c)), "control characters escaped in a string")
		case c < utf8.RuneSelf:
			s.i++
		default:
			r, n := utf8.DecodeRune(s.data[s.i:])
			if r == utf8.RuneError && n == 1 {
				return "", s.fail(BindUTF8, s.i, "", "invalid UTF-8")
			}
			s.i += n
		}
	}
	return "", s.unexpected("the end of the string")
}

func (s *scanner) escape() error {
	at := s.i
	s.i++
	if s.i >= len(s.data) {
		return s.unexpected("an escape")
	}
	c := s.data[s.i]
	s.i++
	if c != 'u' {
		if strings.IndexByte(`"\/bfnrt`, c) < 0 {
			s.i--
			return s.unexpected("an escape")
		}
		return nil
	}
	first, err := s.hex4()
	if err != nil || !utf16.IsSurrogate(first) {
		return err
	}
	if s.i+1 < len(s.data) && s.data[s.i] == '\\' && s.data[s.i+1] == 'u' {
		s.i += 2
		second, err := s.hex4()
		if err != nil {
			return err
		}
		if utf16.DecodeRune(first, second) != utf8.RuneError {
			return nil
		}
	}
	return s.fail(BindUTF8, at, "", "a surrogate without its other half")
}

func (s *scanner) hex4() (rune, error) {
	var r rune
	for range 4 {
		if s.i >= len(s.data) || !isHex(string(s.data[s.i:s.i+1])) {
			return 0, s.unexpected("four hexadecimal digits")
		}
		r = r<<4 | rune(strings.IndexByte("0123456789abcdef", s.data[s.i]|0x20)) //nolint:gosec // below 16
		s.i++
	}
	return r, nil
}

func (s *scanner) enter() error {
	s.i++
	if s.depth++; s.maxDepth > 0 && s.depth > s.maxDepth {
		return s.fail(BindDepth, s.i-1, "", fmt.Sprintf("nested deeper than %d", s.maxDepth))
	}
	return nil
}

func (s *scanner) array(t reflect.Type) error {
	if err := s.enter(); err != nil {
		return err
	}
	var elem reflect.Type
	if t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) {
		elem = t.Elem()
	}
	s.space()
	if s.i < len(s.data) && s.data[s.i] == ']' {
		s.i++
		s.depth--
		return nil
	}
	for n := 0; ; n++ {
		s.path = append(s.path, step{index: n})
		s.space()
		if err := s.value(elem); err != nil {
			return err
		}
		s.path = s.path[:len(s.path)-1]
		if more, err := s.next(']'); !more {
			return err
		}
	}
}

// next reads a comma, or the end of an array or object.
func (s *scanner) next(end byte) (more bool, err error) {
	s.space()
	switch {
	case s.i < len(s.data) && s.data[s.i] == ',':
		s.i++
		return true, nil
	case s.i < len(s.data) && s.data[s.i] == end:
		s.i++
		s.depth--
		return false, nil
	}
	return false, s.unexpected("a comma or " + string(rune(end)))
}

func (s *scanner) object(t reflect.Type) error {
	if err := s.enter(); err != nil {
		return err
	}
	var fields map[string]reflect.Type
	var elem reflect.Type
	switch {
	case t == nil:
	case t.Kind() == reflect.Struct:
		fields = s.fieldsOf(t)
	case t.Kind() == reflect.Map:
		elem = t.Elem()
	}
	s.space()
	if s.i < len(s.data) && s.data[s.i] == '}' {
		s.i++
		s.depth--
		return nil
	}
	var seen names
	for {
		s.space()
		at := s.i
		if s.i >= len(s.data) || s.data[s.i] != '"' {
			return s.unexpected("a name")
		}
		name, err := s.text()
		if err != nil {
			return err
		}
		s.path = append(s.path, step{name, -1})
		if !seen.add(name) {
			return s.fail(BindDuplicate, at, name, "each name once")
		}
		inner := elem
		if fields != nil {
			var ok bool
			if inner, ok = fields[name]; !ok {
				if near := nearest.Name(name, slices.Collect(maps.Keys(fields))); !s.lax || strings.EqualFold(near, name) {
					e := s.fail(BindUnknown, at, name, "a known field").(*BindError) //nolint:errorlint // fail makes nothing else
					e.Near = near
					return e
				}
			}
		}
		s.space()
		if s.i >= len(s.data) || s.data[s.i] != ':' {
			return s.unexpected("a colon")
		}
		s.i++
		s.space()
		if err := s.value(inner); err != nil {
			return err
		}
		s.path = s.path[:len(s.path)-1]
		if more, err := s.next('}'); !more {
			return err
		}
	}
}

// names is a set that needs no map while it is small.
type names struct {
	few  []string
	many map[string]struct{}
}

func (n *names) add(name string) bool {
	if n.many == nil {
		if slices.Contains(n.few, name) {
			return false
		}
		if len(n.few) < 16 {
			n.few = append(n.few, name)
			return true
		}
		n.many = make(map[string]struct{}, 64)
		for _, f := range n.few {
			n.many[f] = struct{}{}
		}
	}
	if _, ok := n.many[name]; ok {
		return false
	}
	n.many[name] = struct{}{}
	return true
}

// known strips pointers and gives up types that read JSON in their own way.
func (s *scanner) known(t reflect.Type) reflect.Type {
	for t != nil {
		if p := reflect.PointerTo(t); p.Implements(reflect.TypeFor[json.Unmarshaler]()) ||
			p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
			return nil
		}
		if t.Kind() != reflect.Pointer {
			return t
		}
		t = t.Elem()
	}
	return nil
}

type jsonFieldsKey struct{ t reflect.Type }

// fieldsOf returns the JSON names of a struct with their types, by the rules of
// encoding/json: the shallowest of a name wins, of two equally shallow ones the
// tagged, of two equally good ones none.
func (s *scanner) fieldsOf(t reflect.Type) map[string]reflect.Type {
	key := jsonFieldsKey{t}
	if m, ok := s.plans.Load(key); ok {
		return m.(map[string]reflect.Type) // only this function stores under a jsonFieldsKey
	}
	fields := map[string]reflect.Type{}
	level := []reflect.Type{t}
	visited := map[reflect.Type]bool{}
	taken := map[string]bool{} // by a shallower level, also when its candidates cancelled out
	for len(level) > 0 {
		var below []reflect.Type
		tagged, plain := map[string][]reflect.Type{}, map[string][]reflect.Type{}
		for _, st := range level {
			if visited[st] {
				continue
			}
			visited[st] = true
			below = append(below, jsonLevel(st, tagged, plain)...)
		}
		for _, candidates := range []map[string][]reflect.Type{tagged, plain} {
			for name, types := range candidates {
				if !taken[name] && len(types) == 1 {
					fields[name] = types[0]
				}
			}
			for name := range candidates {
				taken[name] = true
			}
		}
		level = below
	}
	s.plans.Store(key, fields)
	return fields
}

// jsonLevel sorts the fields of one struct and returns the structs it embeds.
func jsonLevel(st reflect.Type, tagged, plain map[string][]reflect.Type) (below []reflect.Type) {
	for sf := range st.Fields() {
		tag := sf.Tag.Get("json")
		if tag == "-" {
			continue
		}
		name, _, _ := strings.Cut(tag, ",")
		ft := sf.Type
		if sf.Anonymous && name == "" {
			if ft.Kind() == reflect.Pointer {
				ft = ft.Elem()
			}
			if ft.Kind() == reflect.Struct {
				below = append(below, ft)
				continue
			}
		}
		if !sf.IsExported() {
			continue
		}
		if name != "" {
			tagged[name] = append(tagged[name], sf.Type)
		} else {
			plain[sf.Name] = append(plain[sf.Name], sf.Type)
		}
	}
	return below
}
